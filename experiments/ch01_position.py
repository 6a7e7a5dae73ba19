"""Chapter 1: accuracy against the position of "a real stinker", trained at positions 0 to 6, over five seeds."""

import time

import torch

from unrolled.classifiers import ConvClassifier, FCNNClassifier, RNNClassifier, fit
from unrolled.measurements import record
from unrolled.planted import LONGEST, accuracy_by_position, planted_batch, vocabulary

SEEDS = [0, 1, 2, 3, 4]
SEEN = range(7)  # the positions of the training sentences
V, E, H = len(vocabulary()), 16, 32
MODELS = {
    "fcnn": lambda: FCNNClassifier(V, E, H, LONGEST),
    "conv": lambda: ConvClassifier(V, E, H),
    "rnn": lambda: RNNClassifier(V, E, H),
}


def measure(kind: str, seed: int, after: int = 0) -> list[float]:
    """Train one model on 1,000 sentences; its accuracy with the phrase at positions 0 to 13."""
    torch.manual_seed(seed)
    model = MODELS[kind]()
    fit(model, *planted_batch(1000, SEEN, seed, after), epochs=12, seed=seed, size=32)
    return accuracy_by_position(model)


def main():
    torch.set_num_threads(1)
    since = time.time()
    values = {kind: [measure(kind, seed) for seed in SEEDS] for kind in MODELS}
    values["rnn, always 4 words after"] = [measure("rnn", seed, after=4) for seed in SEEDS]
    print(record("ch01_position", SEEDS, values, since).name)


if __name__ == "__main__":
    main()
