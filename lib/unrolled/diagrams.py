"""Drawings of whole architectures (chapter 9); as in ``unrolled.plotting``, every function returns the Axes."""

from __future__ import annotations

from dataclasses import dataclass

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch

from unrolled.plotting import COLOURS

ARROW = {"arrowstyle": "-|>", "color": "#444444", "linewidth": 1.2, "shrinkA": 0, "shrinkB": 0}
EDGES = {
    "attention": COLOURS["attention"],
    "feed": COLOURS["lstm"],
    "norm": COLOURS["bag"],
    "embed": COLOURS["conv"],
    "output": COLOURS["transformer"],
}


@dataclass(frozen=True)
class Part:
    """One box of a column: what it is, its height on the page, and what is written in it."""

    kind: str
    y: float
    text: str
    height: float = 0.62


def _box(ax: Axes, x: float, part: Part, width: float = 2.3) -> None:
    corner = (x - width / 2, part.y - part.height / 2)
    style = {"facecolor": "white", "edgecolor": EDGES[part.kind], "linewidth": 2}
    ax.add_patch(FancyBboxPatch(corner, width, part.height, boxstyle="round,pad=0.02,rounding_size=0.12", **style))
    ax.text(x, part.y, part.text, ha="center", va="center", fontsize=10)


def _up(ax: Axes, x: float, low: float, high: float) -> None:
    ax.annotate("", (x, high), (x, low), arrowprops=ARROW)


def _around(ax: Axes, x: float, side: int, low: float, high: float) -> None:
    """The residual connection: out to one side, up, and back into the box of "add and norm"."""
    out, edge = x + side * 1.62, x + side * 1.19
    ax.plot([x, out, out], [low, low, high], color="#444444", linewidth=1.2)
    ax.annotate("", (edge, high), (out, high), arrowprops=ARROW)


def _stack(ax: Axes, x: float, side: int, parts: list[Part], low: float, label: str) -> None:
    """Sub-layers with their "add and norm", one above the other; a residual around each; all in a frame with N ×."""
    top = parts[-1].y + 0.45
    ax.add_patch(FancyBboxPatch((x - 1.85, low - 0.15), 3.7, top - low + 0.3, boxstyle="round,pad=0,rounding_size=0.2",
                                facecolor="#f2f2f2", edgecolor="#bbbbbb", zorder=0))  # fmt: skip
    ax.text(x - side * 1.78, top + 0.05, "× N", ha="left" if side > 0 else "right", va="top", fontsize=11)
    ax.text(x + side * 0.2, top + 0.3, label, ha="left" if side > 0 else "right", fontsize=10.5, fontweight="bold")
    below = low
    for sub, add in zip(parts[::2], parts[1::2], strict=True):
        _up(ax, x, below, sub.y - sub.height / 2)
        _around(ax, x, side, below + 0.18, add.y)
        _up(ax, x, sub.y + sub.height / 2, add.y - add.height / 2)
        _box(ax, x, sub)
        _box(ax, x, add)
        below = add.y + add.height / 2


def transformer(ax: Axes | None = None) -> Axes:
    """The whole of it: the encoder on the left, the decoder on the right, sub-layers in the order of the paper.

    >>> type(transformer()).__name__
    'Axes'
    """
    ax = plt.subplots(figsize=(6, 6.6))[1] if ax is None else ax
    left, right, low, add = 0.0, 4.6, 2.3, "add & norm"
    encoder = [Part("attention", 3.3, "self-attention (2)"), Part("norm", 4.15, add, 0.45),
               Part("feed", 5.1, "feed-forward"), Part("norm", 5.95, add, 0.45)]  # fmt: skip
    decoder = [Part("attention", 3.3, "causal\nself-attention (3)", 0.8), Part("norm", 4.2, add, 0.45),
               Part("attention", 5.25, "cross-attention (1)"), Part("norm", 6.1, add, 0.45),
               Part("feed", 7.05, "feed-forward"), Part("norm", 7.9, add, 0.45)]  # fmt: skip
    for x, side, parts, label, names in (
        (left, -1, encoder, "encoder", ("source", "the  dog  barks")),
        (right, 1, decoder, "decoder", ("target, moved right", "<s>  le  chien  aboie")),
    ):
        _stack(ax, x, side, parts, low, label)
        _box(ax, x, Part("embed", 1.25, "embed + positions"))
        _up(ax, x, 1.56, low)
        _up(ax, x, 0.68, 0.94)
        ax.text(x, 0.42, names[1], ha="center", fontsize=10, style="italic")
        ax.text(x, 0.05, names[0], ha="center", fontsize=9.5, color="#444444")
    top = encoder[-1].y + 0.23
    middle = (left + right) / 2
    way = [(left, top), (left, top + 0.95), (middle, top + 0.95), (middle, 5.25)]
    ax.plot(*zip(*way, strict=True), color=COLOURS["attention"], linewidth=1.8)
    ax.annotate("", (right - 1.17, 5.25), (middle, 5.25), arrowprops={**ARROW, "color": COLOURS["attention"],
                                                                    "linewidth": 1.8})  # fmt: skip
    ax.text(middle - 0.1, top + 1.08, "memory (keys, values)", ha="right", fontsize=9.5)
    _up(ax, right, 8.13, 9.04)
    _box(ax, right, Part("output", 9.35, "linear, softmax"))
    _up(ax, right, 9.66, 10.05)
    ax.text(right, 10.2, "le  chien  aboie  </s>", ha="center", fontsize=10, style="italic")
    ax.set(xlim=(-2.05, 6.65), ylim=(-0.1, 10.6))
    ax.axis("off")
    return ax
