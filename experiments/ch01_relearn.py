"""Chapter 1: how many training sentences until 95 % are right, if the phrase may stand at 1, 2, 4 or 8 positions."""

import time

import torch
from ch01_position import MODELS

from unrolled.classifiers import accuracy, fit
from unrolled.measurements import record
from unrolled.planted import planted_batch

SEEDS = [0, 1, 2]
PLACES = [1, 2, 4, 8]
SIZES = [16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024]
STEPS = 400  # the same number of updates for every size


def enough(kind: str, places: int, seed: int) -> int:
    """The smallest training set of SIZES whose model reaches 95 % on new sentences with the same positions."""
    test = planted_batch(1000, range(places), seed=1_000_000 + seed)
    for n in SIZES:
        torch.manual_seed(seed)
        model = MODELS[kind]()
        fit(model, *planted_batch(n, range(places), seed), epochs=STEPS // -(-n // 32), seed=seed, size=32)
        if accuracy(model, *test) >= 0.95:
            return n
    raise RuntimeError(f"{kind} with {places} positions needs more than {SIZES[-1]} sentences")


def main():
    torch.set_num_threads(1)
    since = time.time()
    values = {kind: {str(p): [enough(kind, p, seed) for seed in SEEDS] for p in PLACES} for kind in ("fcnn", "conv")}
    print(record("ch01_relearn", SEEDS, values, since).name)


if __name__ == "__main__":
    main()
