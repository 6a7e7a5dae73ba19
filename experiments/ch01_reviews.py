"""Chapter 1: real review sentences. Four ways to read them, and four kinds of word vectors."""

import time

import numpy as np
import torch

from unrolled.classifiers import BagClassifier, ConvClassifier, FCNNClassifier, RNNClassifier, accuracy, fit
from unrolled.data import review_sentences, review_texts
from unrolled.embeddings import ppmi_vectors
from unrolled.measurements import record
from unrolled.text import Vocabulary, pad_batch, words

SEEDS = [0, 1, 2]
E, H, EPOCHS, T = 50, 64, 8, 64
SPREAD = 0.1  # of random word vectors; chosen from 1, 0.3 and 0.1 on the validation sentences with seed 0
PARTS = {part: review_sentences(part) for part in ("train", "validation", "test")}
VOCABULARY = Vocabulary([words(sentence) for sentence, _ in PARTS["train"]], min_count=2)
V = len(VOCABULARY)
BATCHES = {
    part: (pad_batch([VOCABULARY.encode(words(s)) for s, _ in pairs], pad=0), torch.tensor([y for _, y in pairs]))
    for part, pairs in PARTS.items()
}
MODELS = {
    "fcnn": lambda: FCNNClassifier(V, E, H, T),
    "bag": lambda: BagClassifier(V, E),
    "conv": lambda: ConvClassifier(V, E, H),
    "rnn": lambda: RNNClassifier(V, E, H),
}


def measure(kind: str, seed: int, vectors=None, frozen=False) -> float:
    """Train one model; its test accuracy after the epoch that was best on the validation data."""
    torch.manual_seed(seed)
    model = MODELS[kind]()
    start = model.embedding.weight * SPREAD if vectors is None else vectors
    model.embedding.weight.data.copy_(start)
    model.embedding.weight.requires_grad_(not frozen)
    seen = []
    look = lambda: seen.append((accuracy(model, *BATCHES["validation"]), accuracy(model, *BATCHES["test"])))  # noqa: E731
    fit(model, *BATCHES["train"], epochs=EPOCHS, seed=seed, lr=1e-3, each_epoch=look)
    return max(seen, key=lambda pair: pair[0])[1]


def main():
    torch.set_num_threads(1)
    since = time.time()
    text = np.array(VOCABULARY.encode([word for review in review_texts() for word in words(review)]))
    counted = ppmi_vectors(text, V, E)
    values = {"accuracy": {}, "embeddings": {}}
    for kind in MODELS:
        values["accuracy"][kind] = [measure(kind, seed) for seed in SEEDS]
        print(kind, values["accuracy"][kind], round(time.time() - since), flush=True)
    for kind in ("bag", "conv", "rnn"):
        values["embeddings"][kind] = {
            "random, frozen": [measure(kind, seed, frozen=True) for seed in SEEDS],
            "random, trained": values["accuracy"][kind],
            "counted, frozen": [measure(kind, seed, counted, frozen=True) for seed in SEEDS],
            "counted, trained": [measure(kind, seed, counted) for seed in SEEDS],
        }
        print(kind, values["embeddings"][kind], round(time.time() - since), flush=True)
    values["vocabulary"] = V
    print(record("ch01_reviews", SEEDS, values, since).name)


if __name__ == "__main__":
    main()
