"""Chapter 3: word models of real verses: one matrix or two, trained, frozen, or started from word2vec."""

import math
import time

import torch

from unrolled.data import verses
from unrolled.documents import NEW, learn, mean_surprise, verse_words
from unrolled.language_model import LanguageModel, tie
from unrolled.measurements import record
from unrolled.ngram import KneserNey
from unrolled.text import words
from unrolled.word_vectors import learn_vectors, nearest

SEEDS = [0, 1, 2]
H, EPOCHS = 64, 1.5
DOCUMENTS, VOCABULARY = verse_words()
V = len(VOCABULARY)
OLD = [VOCABULARY.encode(words(verse)) for verse in verses()[:NEW]]  # the Old Testament, for the vectors only
WAYS = ["trained", "tied", "frozen word2vec", "word2vec, then trained", "tied at torch's start"]


def measure(way: str, vectors: torch.Tensor, seed: int) -> dict:
    """Perplexity on the test verses, and how many parameters were trained."""
    torch.manual_seed(seed)
    model = LanguageModel(V, H, "lstm")
    if "word2vec" in way:
        with torch.no_grad():
            model.embedding.weight.copy_(vectors / vectors.std())  # as wide as torch's own start
    model.embedding.weight.requires_grad_(not way.startswith("frozen"))
    if way.startswith("tied"):
        with torch.no_grad():
            model.embedding.weight.mul_(H**-0.5 if way == "tied" else 1)  # as narrow as an output matrix starts
        tie(model)
    learn(model, DOCUMENTS["train"], epochs=EPOCHS, seed=seed, size=16, lr=1e-2)
    loss = mean_surprise(model, DOCUMENTS["test"])
    trained = sum(p.numel() for p in model.parameters() if p.requires_grad)
    return {"perplexity": math.exp(loss), "trained": trained, "all": sum(p.numel() for p in model.parameters())}


def main():
    torch.set_num_threads(1)
    since = time.time()
    values = {"vocabulary": V, "words": {part: sum(map(len, docs)) for part, docs in DOCUMENTS.items()}}
    values["KN"] = [math.exp(KneserNey(n, V).fit(DOCUMENTS["train"]).loss(DOCUMENTS["test"])) for n in range(1, 6)]
    vectors = [learn_vectors(OLD + DOCUMENTS["train"], V, H, seed, steps=700) for seed in SEEDS]
    values["near"] = {w: [nearest(v, VOCABULARY, w) for v in vectors] for w in ("bread", "three", "sea", "gold")}
    print(values, round(time.time() - since), flush=True)
    for way in WAYS:
        values[way] = [measure(way, vectors[seed], seed) for seed in SEEDS]
        print(way, values[way], round(time.time() - since), flush=True)
        record("ch03_words", SEEDS, values, since)


if __name__ == "__main__":
    main()
