"""Chapter 8: from which length on is attention dearer than an LSTM? In operations, and in processor milliseconds."""

import math
import time

import torch
from torch import nn

from unrolled.flops import flops
from unrolled.measurements import record
from unrolled.self_attention import MultiHeadAttention

SEEDS = [0, 1, 2]  # three rounds; each takes the fastest of five passes
CASES = {"one sequence, width 64": (1, 64), "one sequence, width 256": (1, 256), "16 sequences, width 64": (16, 64)}
LENGTHS = {1: [32, 64, 128, 256, 512, 1024, 2048, 4096], 16: [32, 64, 128, 256, 512, 1024]}


@torch.no_grad()
def milliseconds(layer: nn.Module, inputs: tuple[torch.Tensor, ...]) -> float:
    """The least processor time of five passes forward."""
    times = []
    for _ in range(6):  # the first one warms up
        start = time.process_time()
        layer(*inputs)
        times.append(time.process_time() - start)
    return 1000 * min(times[1:])


def crossing(lengths: list[int], dearer: list[float], cheaper: list[float]) -> float | None:
    """Where the first curve overtakes the second, on a straight line between two measured lengths in logarithms."""
    gaps = [math.log(a / b) for a, b in zip(dearer, cheaper, strict=True)]
    for k in range(1, len(gaps)):
        if gaps[k - 1] < 0 <= gaps[k]:
            share = gaps[k - 1] / (gaps[k - 1] - gaps[k])
            return lengths[k - 1] * (lengths[k] / lengths[k - 1]) ** share
    return None


def measure(B: int, D: int) -> dict:
    """Both layers at every length, one right after the other, in three rounds."""
    lengths, layers = LENGTHS[B], {"attention": MultiHeadAttention(D, 1), "lstm": nn.LSTM(D, D, batch_first=True)}
    found = {"lengths": lengths, "attention": [], "lstm": []}
    for seed in SEEDS:
        torch.manual_seed(seed)
        rows = {name: [] for name in layers}
        for L in lengths:
            x = torch.randn(B, L, D)
            for name, layer in layers.items():
                rows[name].append(milliseconds(layer, (x, x) if name == "attention" else (x,)))
        for name, row in rows.items():
            found[name].append([round(value, 3) for value in row])
    found["crossing, ms"] = [crossing(lengths, a, b) for a, b in zip(found["attention"], found["lstm"], strict=True)]
    counted = [[B * flops(kind, L, D, 3) for L in lengths] for kind in ("attention+projections", "lstm")]
    found["crossing, operations"] = crossing(lengths, *counted)
    return found


def main():
    torch.set_num_threads(1)
    since, values = time.time(), {}
    for name, (B, D) in CASES.items():
        values[name] = measure(B, D)
        print(name, values[name], round(time.time() - since), flush=True)
    print(record("ch08_crossover", SEEDS, values, since).name)


if __name__ == "__main__":
    main()
