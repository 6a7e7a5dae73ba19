"""A word as byte-pair encoding puts it together: a tree of joinings, and a drawing of it (chapter 11)."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import NamedTuple

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from unrolled.plotting import COLOURS
from unrolled.tokenization import ByteBPE


class Joining(NamedTuple):
    """Two neighbours become one symbol."""

    rank: int  # of the merge
    first: int  # the symbol covers the characters first, …, end - 1 of the word
    middle: int
    end: int


def joinings(word: str, merges: list[tuple[str, str]]) -> list[Joining]:
    """What ``bpe_encode`` joins, in its order.

    >>> joinings("lowest", [("w", "e"), ("s", "t"), ("we", "st"), ("l", "o")])[-2:]
    [Joining(rank=2, first=2, middle=4, end=6), Joining(rank=3, first=0, middle=1, end=2)]
    """
    rank = {pair: place for place, pair in enumerate(merges)}
    cuts, found = list(range(len(word) + 1)), []
    while len(cuts) > 2:
        parts = [word[a:b] for a, b in pairwise(cuts)]
        ranks = [rank.get(pair, math.inf) for pair in pairwise(parts)]
        best = min(range(len(ranks)), key=ranks.__getitem__)
        if ranks[best] == math.inf:
            break
        found.append(Joining(ranks[best], *cuts[best : best + 3]))
        del cuts[best + 1]
    return found


def draw_merge_tree(word: str, tokenizer: ByteBPE, ax: Axes | None = None) -> Axes:
    """The characters of a word below, above them what they are joined to, each symbol with its id.

    Args:
        word: as ``spelled_words`` gives it: every byte a visible character.
        tokenizer: whose merges and ids are taken.
    """
    steps = joinings(word, tokenizer.merges)
    height: dict[tuple[int, int], int] = {(i, i + 1): 0 for i in range(len(word))}
    for _, first, middle, end in steps:
        height[first, end] = 1 + max(height[first, middle], height[middle, end])
    rows = max(height.values()) + 1
    if ax is None:
        ax = plt.subplots(figsize=(0.48 * len(word) + 0.4, 0.62 * rows))[1]

    def centre(first: int, end: int) -> tuple[float, float]:
        return (first + end - 1) / 2, height[first, end]

    for _, first, middle, end in steps:
        for part in ((first, middle), (middle, end)):
            (x, y), (top_x, top_y) = centre(*part), centre(first, end)
            ax.plot([x, top_x], [y, top_y], color="#999999", linewidth=1.1, zorder=1)
    for (first, end), y in height.items():
        whole = not any(step.first <= first and end <= step.end and (first, end) != (step.first, step.end)
                        for step in steps)  # fmt: skip
        symbol = word[first:end]
        shown = symbol.replace("Ġ", "␣") + (f"\n{tokenizer.ids[symbol]}" if y else "")
        box = {
            "boxstyle": "round,pad=0.22",
            "edgecolor": COLOURS["lstm"] if whole else COLOURS["transformer"],
            "facecolor": "#fbe3d6" if whole else "white",
            "linewidth": 1.8 if whole else 1.0,
        }
        ax.text(*centre(first, end), shown, ha="center", va="center", fontsize=8.5, bbox=box, zorder=2, linespacing=1.1)
    ax.set(xlim=(-0.7, len(word) - 0.3), ylim=(-0.5, rows - 0.4))
    ax.axis("off")
    return ax
