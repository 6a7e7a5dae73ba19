"""Chapter 5: who speaks? Nine men, two vowels: networks that read from one end or both, with one layer or more."""

import time

import numpy as np
import torch
from sklearn.linear_model import LogisticRegression
from torch import nn

from unrolled.classifiers import accuracy, fit
from unrolled.data import spoken_vowels
from unrolled.measurements import record
from unrolled.speech import frames_batch
from unrolled.tagging import SequenceClassifier

SEEDS = [0, 1, 2, 3, 4]
H, EPOCHS = 32, 40  # H in each direction
MODELS = {  # kind, layers, both
    "rnn": ("rnn", 1, False),
    "lstm": ("lstm", 1, False),
    "deep lstm": ("lstm", 3, False),
    "bidirectional rnn": ("rnn", 1, True),
    "bidirectional lstm": ("lstm", 1, True),
    "deep bidirectional lstm": ("lstm", 3, True),
}
BATCHES = {part: frames_batch(spoken_vowels(part)) for part in ("train", "test")}


def measure(name: str, seed: int) -> float:
    torch.manual_seed(seed)
    kind, layers, both = MODELS[name]
    model = SequenceClassifier(kind, 1, 12, H, 9, layers, both, pool="ends" if both else "last")
    model.encoder.embedding = nn.Identity()  # a frame is a vector already
    fit(model, *BATCHES["train"], epochs=EPOCHS, seed=seed, size=32, lr=3e-3)
    return accuracy(model, *BATCHES["test"])


def mean_frame() -> float:
    """Without any order: logistic regression on the mean frame of each recording."""
    means = {part: [np.mean(frames, axis=0) for frames, _ in spoken_vowels(part)] for part in BATCHES}
    found = LogisticRegression(C=100, max_iter=5000).fit(means["train"], BATCHES["train"][1].numpy())
    return found.score(means["test"], BATCHES["test"][1].numpy())


def main():
    torch.set_num_threads(1)
    since, values = time.time(), {"mean frame": mean_frame()}
    for name in MODELS:
        values[name] = [measure(name, seed) for seed in SEEDS]
        print(name, values[name], round(time.time() - since), flush=True)
    print(record("ch05_vowels", SEEDS, values, since).name)


if __name__ == "__main__":
    main()
