"""Chapter 6: the context only at the start, in a decoder with as many weights as one that reads it at every step."""

import time

import torch
from ch06_reversal import SEEDS, H, build, measure

from unrolled.measurements import record


def weights(model: torch.nn.Module) -> int:
    return sum(p.numel() for p in model.parameters())


def main():
    torch.set_num_threads(1)
    since, many = time.time(), weights(build(True))
    state = min(range(H, 2 * H), key=lambda width: abs(weights(build(False, width)) - many))
    runs = [measure(False, seed, state) for seed in SEEDS]
    print(record("ch06_once", SEEDS, {"state": state, "runs": runs}, since).name, state, runs)


if __name__ == "__main__":
    main()
