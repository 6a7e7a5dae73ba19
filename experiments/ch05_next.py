"""Chapter 5: the label of a digit depends on the next digit. One layer or three from the left, or both ends."""

import random
import time

import torch

from unrolled.measurements import record
from unrolled.tagging import Tagger
from unrolled.word_labels import fit_tags, sums_with_next, tag_accuracy

SEEDS = [0, 1, 2, 3, 4]
EPOCHS = 6
MODELS = {"one": (1, False), "one, deep": (3, False), "both": (1, True)}  # layers, both
TEST = sums_with_next(1000, random.Random(1_000_000))


def measure(name: str, seed: int) -> float:
    torch.manual_seed(seed)
    layers, both = MODELS[name]
    model = Tagger("rnn", V=4, E=8, H=16, Y=3, layers=layers, both=both)
    fit_tags(model, *sums_with_next(2000, random.Random(seed)), epochs=EPOCHS, seed=seed, lr=1e-2)
    return tag_accuracy(model, *TEST)


def main():
    torch.set_num_threads(1)
    since = time.time()
    values = {name: [measure(name, seed) for seed in SEEDS] for name in MODELS}
    digits = TEST[0][2].sum().item()
    values["best possible from the left"] = (len(TEST[1]) + (digits - len(TEST[1])) / 3) / digits
    print(record("ch05_next", SEEDS, values, since).name, values)


if __name__ == "__main__":
    main()
