"""Chapter 8: why the root? Scores of random queries and keys, raw and scaled, as the width grows."""

import math
import time

import torch

from unrolled.measurements import record
from unrolled.self_attention import scaled_dot_product_attention

SEEDS = [0, 1, 2, 3, 4]
WIDTHS = [4, 16, 64, 256, 1024]
QUERIES, KEYS = 200, 32


def entropy(weights: torch.Tensor) -> float:
    """The mean entropy of the rows, 1 for equal weights and 0 for one weight that has everything."""
    return (-torch.special.xlogy(weights, weights).sum(-1) / math.log(weights.shape[-1])).mean().item()


def measure(width: int, seed: int) -> dict:
    """Variance of the raw scores; entropy, slope and largest weight with raw scores, over √2 and over √d_k."""
    generator = torch.Generator().manual_seed(seed)
    q, k, v = (torch.randn(n, width, generator=generator) for n in (QUERIES, KEYS, KEYS))
    found = {"variance": (q @ k.T).var().item()}
    for name, factor in (("raw", math.sqrt(width)), ("root of two", math.sqrt(width / 2)), ("scaled", 1.0)):
        weights = scaled_dot_product_attention(factor * q, k, v)[1]
        found[name] = entropy(weights)
        found[f"{name}: slope"] = (weights * (1 - weights)).mean().item()  # of a weight along its own score
        found[f"{name}: largest"] = weights.amax(-1).mean().item()
    return found


def main():
    since, values = time.time(), {"widths": WIDTHS, "keys": KEYS}
    runs = [[measure(width, seed) for width in WIDTHS] for seed in SEEDS]
    values |= {key: [[found[key] for found in run] for run in runs] for key in runs[0][0]}
    print(record("ch08_entropy", SEEDS, values, since).name, values)


if __name__ == "__main__":
    main()
