"""Chapter 1: next-word surprise of n-grams and sliding-window networks on the New Testament (World English Bible)."""

import time

import torch
import torch.nn.functional as F

from unrolled.data import verses
from unrolled.measurements import record
from unrolled.ngram import NGram, unseen_share
from unrolled.text import Vocabulary, words
from unrolled.training import train
from unrolled.window import WindowModel, windows_of

SEEDS = [0, 1, 2]
WINDOWS = [1, 2, 4, 8]
E, H, EPOCHS = 32, 64, 4  # a bit early: for 2 and 4 words, seed 0, the best epoch was 6 or 7 and 0.02 nats lower


def corpus() -> tuple[list[list[int]], list[list[int]], list[list[int]], int]:
    """Train, validation and test verses as ids, and the size of the vocabulary; every tenth verse is for the test."""
    texts = [words(verse) for verse in verses()[23_145:]]  # from Matthew on
    parts = [[t for i, t in enumerate(texts) if i % 10 in digits] for digits in (range(8), {8}, {9})]
    vocabulary = Vocabulary(parts[0], min_count=3)
    return *([vocabulary.encode(t) for t in part] for part in parts), len(vocabulary)


@torch.no_grad()
def surprise(model: WindowModel, x, y) -> float:
    return sum(
        F.cross_entropy(model(a), b, reduction="sum").item() for a, b in zip(x.split(2000), y.split(2000), strict=True)
    ) / len(y)


def window(n: int, seed: int, parts, V: int) -> float:
    """The test surprise after the epoch that was best on the validation verses."""
    torch.manual_seed(seed)
    model = WindowModel(V, E, H, n)
    (x, y), validation, test = (windows_of(part, n) for part in parts)
    seen = []
    look = lambda: seen.append((surprise(model, *validation), surprise(model, *test)))  # noqa: E731
    loss = lambda rows: F.cross_entropy(model(x[rows]), y[rows])  # noqa: E731
    train(model.parameters(), loss, len(y), epochs=EPOCHS, seed=seed, size=256, lr=3e-3, each_epoch=look)
    return min(seen)[1]


def main():
    torch.set_num_threads(1)
    since = time.time()
    *parts, V = corpus()
    values = {"vocabulary": V, "training words": sum(map(len, parts[0])), "test words": sum(map(len, parts[2]))}
    values["ngram"] = {str(n): NGram(n, V).fit(parts[0]).loss(parts[2]) for n in (1, 2, 3, 4)}
    values["unseen"] = {str(n): unseen_share(parts[0], parts[2], n) for n in (1, 2, 3, 4, 5)}
    print(values, round(time.time() - since), flush=True)
    values["window"] = {}
    for n in WINDOWS:
        values["window"][str(n)] = [window(n, seed, parts, V) for seed in SEEDS]
        print(n, values["window"][str(n)], round(time.time() - since), flush=True)
    print(record("ch01_windows", SEEDS, values, since).name)


if __name__ == "__main__":
    main()
