"""Networks as boxes and arrows (chapters 1, 6, 7, 9); as in ``unrolled.plotting``, every function returns the Axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np
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


def unrolled(tokens: Sequence[str], ax: Axes | None = None) -> Axes:
    """The recurrence drawn twice: folded into one box with a loop, and unrolled into one box per token."""
    if ax is None:
        ax = plt.subplots(figsize=(0.95 * len(tokens) + 2.9, 2.6))[1]
    box = {"boxstyle": "round,pad=0.35", "facecolor": "white", "edgecolor": COLOURS["rnn"], "linewidth": 1.8}
    arrow = {"arrowstyle": "-|>", "color": "#444444", "linewidth": 1.2, "shrinkA": 11, "shrinkB": 11}
    shared = {**arrow, "color": COLOURS["rnn"], "linewidth": 1.8, "shrinkA": 15, "shrinkB": 15}

    def cell(x: float, token: str, step: str) -> None:
        ax.text(x, 0, token, ha="center", va="center")
        ax.text(x, 1, f"$h_{{{step}}}$", ha="center", va="center", bbox=box)
        ax.text(x, 2, f"$\\hat y_{{{step}}}$", ha="center", va="center")
        ax.annotate("", (x, 1), (x, 0), arrowprops=arrow)
        ax.annotate("", (x, 2), (x, 1), arrowprops=arrow)
        ax.text(x + 0.07, 0.42, "$W_{xh}$", fontsize=8.5, va="center")
        ax.text(x + 0.07, 1.58, "$W_{hy}$", fontsize=8.5, va="center")

    cell(-2.2, "$x_t$", "t")
    loop = {**shared, "connectionstyle": "arc3,rad=2.2", "shrinkA": 0, "shrinkB": 0}
    ax.annotate("", (-2.42, 0.93), (-2.42, 1.13), arrowprops=loop)
    ax.text(-2.78, 1.3, "$W_{hh}$", fontsize=8.5, ha="center", color=COLOURS["rnn"])
    ax.text(-1.25, 1, "=", ha="center", va="center", fontsize=16)
    ax.text(-0.55, 1, "$h_0$", ha="center", va="center")
    for t, token in enumerate(tokens):
        cell(t + 0.4, token, str(t + 1))
        ax.annotate("", (t + 0.4, 1), (t - 0.6 + (0.05 if t == 0 else 0), 1), arrowprops=shared)
        ax.text(t - 0.1, 1.13, "$W_{hh}$", fontsize=8.5, ha="center", color=COLOURS["rnn"])
    ax.set(xlim=(-3.2, len(tokens) + 0.0), ylim=(-0.3, 2.3))
    ax.axis("off")
    return ax


FROM_CELL_TO_CELL = {"arrowstyle": "-|>", "color": "#444444", "linewidth": 1.1, "shrinkA": 10, "shrinkB": 10}


def _cell(ax: Axes, x: float, y: float, name: str, colour: str) -> None:
    """A state in a box."""
    box = {"boxstyle": "round,pad=0.35", "facecolor": "white", "edgecolor": colour, "linewidth": 1.8}
    ax.text(x, y, name, ha="center", va="center", bbox=box, fontsize=9)


def encoder_decoder(source: Sequence[str], target: Sequence[str], ax: Axes | None = None) -> Axes:
    """A reader that ends in one vector c, and a writer that begins with it and reads it again at every step."""
    n, T = len(source), len(target)
    if ax is None:
        ax = plt.subplots(figsize=(0.62 * (n + T) + 1.9, 2.7))[1]
    arrow, middle = FROM_CELL_TO_CELL, n + 0.4
    for s, token in enumerate(source):
        _cell(ax, s, 1, f"$h_{{{s + 1}}}$", COLOURS["gru"])
        ax.text(s, 0, token, ha="center", va="center")
        ax.annotate("", (s, 1), (s, 0), arrowprops=arrow)
        ax.annotate("", (s + 1 if s + 1 < n else middle, 1), (s, 1), arrowprops=arrow)
    _cell(ax, middle, 1, "$c$", "#222222")
    for t, token in enumerate(target):
        x = middle + 1.4 + t
        _cell(ax, x, 1, f"$h^d_{{{t + 1}}}$", COLOURS["gru"])
        ax.text(x, 0, ("<s>", *target)[t], ha="center", va="center", fontsize=9)
        ax.text(x, 2, token, ha="center", va="center", fontweight="bold")
        ax.annotate("", (x, 1), (x, 0), arrowprops=arrow)
        ax.annotate("", (x, 2), (x, 1), arrowprops=arrow)
        ax.annotate("", (x, 1), (middle if t == 0 else x - 1, 1), arrowprops=arrow)
        again = {**arrow, "linestyle": ":", "color": "#222222", "connectionstyle": "arc3,rad=-0.35"}
        ax.annotate("", (x - 0.1, 1.13), (middle, 1.13), arrowprops={**again, "shrinkA": 0, "shrinkB": 0})
    ax.set(xlim=(-0.6, middle + T + 1), ylim=(-0.35, 2.3))
    ax.axis("off")
    return ax


def looking_back(source: Sequence[str], target: Sequence[str], alpha: np.ndarray, ax: Axes | None = None) -> Axes:
    """A reader that keeps all its states, and a writer that mixes them anew for each token; a line is as thick as its
    weight alpha (tokens written, tokens read)."""
    n, T = len(source), len(target)
    if ax is None:
        ax = plt.subplots(figsize=(0.62 * n + 1.6, 3.6))[1]
    arrow, places = FROM_CELL_TO_CELL, np.linspace(0.4, n - 1.4, T) if T > 1 else [(n - 1) / 2]
    for t, x in enumerate(places):
        for j in range(n):
            if alpha[t][j] > 0.02:
                ax.plot([j, x], [1, 2.1], color=COLOURS["attention"], linewidth=6 * alpha[t][j], zorder=1)
        _cell(ax, x, 2.1, f"$c_{{{t + 1}}}$", "#222222")
        _cell(ax, x, 3, f"$s_{{{t + 1}}}$", COLOURS["gru"])
        ax.text(x, 3.75, target[t], ha="center", va="center", fontweight="bold")
        ax.annotate("", (x, 3), (x, 2.1), arrowprops=arrow)
        ax.annotate("", (x, 3.75), (x, 3), arrowprops=arrow)
        if t > 0:
            ax.annotate("", (x, 3), (places[t - 1], 3), arrowprops=arrow)
    for j, token in enumerate(source):
        _cell(ax, j, 1, f"$h_{{{j + 1}}}$", COLOURS["gru"])
        ax.text(j, 0.3, token, ha="center", va="center")
    ax.set(xlim=(-0.6, n - 0.4), ylim=(0.1, 4))
    ax.axis("off")
    return ax


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
