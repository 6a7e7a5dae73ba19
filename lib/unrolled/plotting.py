"""How every figure of the book looks, and the plots that chapters share; drawings of networks: ``unrolled.diagrams``.

Figures have a white background with dark text, on light and on dark pages alike: no single grey reaches the contrast
of 4.5 : 1 against both white and a near-black page, so the figure brings its own ground along.
Every function takes ``ax=None`` and returns the Axes; none shows or saves.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm, to_rgb

# One colour per kind of model, the same in every chapter; told apart in the common forms of colour blindness.
COLOURS = {
    "rnn": "#0072b2",
    "lstm": "#d55e00",
    "gru": "#009e73",
    "conv": "#b8860b",
    "fcnn": "#882255",
    "bag": "#666666",
    "ngram": "#999933",
    "window": "#aa4499",
    "attention": "#44aa99",
    "transformer": "#332288",
    "chance": "#888888",
}
MARKERS = {
    "rnn": "o",
    "lstm": "s",
    "gru": "D",
    "conv": "^",
    "fcnn": "X",
    "bag": "v",
    "ngram": "P",
    "window": "<",
    "attention": "*",
}
NAMES = {
    "rnn": "RNN",
    "lstm": "LSTM",
    "gru": "GRU",
    "conv": "convolution",
    "fcnn": "fully connected",
    "bag": "bag of words",
    "ngram": "n-gram",
    "window": "sliding window",
    "attention": "attention",
    "transformer": "Transformer",
    "chance": "chance",
}
STYLE = {
    "figure.figsize": (6.4, 3.4),
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "figure.constrained_layout.use": True,
    "savefig.pad_inches": 0.12,
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "lines.linewidth": 1.8,
    "lines.markersize": 5,
    "svg.hashsalt": "unrolled",  # the same figure gives the same file
}


def begin(seed: int) -> None:
    """The start of every notebook: the same random numbers, one torch thread, and the book's figures as SVG."""
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    torch.set_printoptions(precision=3, sci_mode=False)
    plt.rcParams.update(STYLE)
    if "IPython" in sys.modules:  # a notebook: elsewhere its import would take longer than all the rest
        from IPython import get_ipython
        from matplotlib_inline.backend_inline import set_matplotlib_formats

        if get_ipython() is not None:
            set_matplotlib_formats("svg", metadata={"Date": None})


def _axes(ax: Axes | None) -> Axes:
    return plt.subplots()[1] if ax is None else ax


def over_seeds(
    x: Sequence[float],
    runs: Sequence[Sequence[float]],
    kind: str,
    label: str | None = None,
    ax: Axes | None = None,
    **style,
) -> Axes:
    """The mean of several runs as a line with markers, and the band from the lowest to the highest run."""
    ax, runs = _axes(ax), np.asarray(runs)
    style = {"color": COLOURS[kind], "marker": MARKERS.get(kind, "o"), **style}
    ax.plot(x, runs.mean(0), label=label or NAMES[kind], **style)
    if len(runs) > 1:
        ax.fill_between(x, runs.min(0), runs.max(0), color=style["color"], alpha=0.18, linewidth=0)
    return ax


def accuracy_against_position(
    curves: Mapping[str, Sequence[Sequence[float]]], seen: int, ax: Axes | None = None
) -> Axes:
    """Accuracy against the place of the phrase, for each model's runs; training saw positions below ``seen``."""
    ax = _axes(ax)
    for kind, runs in curves.items():
        over_seeds(range(len(runs[0])), runs, kind, ax=ax)
    ax.axvspan(-0.5, seen - 0.5, color="#eeeeee", zorder=0)
    ax.axhline(0.5, color=COLOURS["chance"], linestyle=":", linewidth=1.2)
    ax.text(-0.3, 0.515, "chance", color="#555555", fontsize=8.5)
    ax.text(seen / 2 - 0.5, 0.35, "seen in training", ha="center", fontsize=8.5)
    ax.text(seen + 3, 0.35, "never seen", ha="center", fontsize=8.5)
    ax.set(xlabel="position of the phrase's first word", ylabel="accuracy on new sentences", ylim=(0.32, 1.03))
    ax.set_xlim(-0.5, max(len(runs[0]) for runs in curves.values()) - 0.5)
    ax.legend(loc="center left", bbox_to_anchor=(0.02, 0.45))
    return ax


def rows(values: np.ndarray, row_labels: Sequence[str], column_labels: Sequence[str], ax: Axes | None = None) -> Axes:
    """A small table of signed numbers as coloured squares, centred on zero."""
    ax, values = _axes(ax), np.asarray(values)
    bound = np.abs(values).max()
    image = ax.imshow(values, cmap="PuOr", vmin=-bound, vmax=bound, aspect="auto")
    ax.set_xticks(range(values.shape[1]), column_labels)
    ax.set_yticks(range(values.shape[0]), row_labels)
    ax.grid(False)
    ax.figure.colorbar(image, ax=ax)
    return ax


def gradient_heatmap(lengths: np.ndarray, low: float, high: float, ax: Axes | None = None) -> Axes:
    """Lengths of gradients, row t by column k, as colours on a logarithmic scale; zeros stay white."""
    ax, lengths = _axes(ax), np.asarray(lengths, dtype=float)
    shown = np.ma.masked_less_equal(lengths, 0)
    image = ax.imshow(shown, cmap="viridis", norm=LogNorm(low, high, clip=True), interpolation="nearest")
    ax.set(xlabel="state $h_k$", ylabel="loss $L_t$")
    ax.grid(False)
    ax.figure.colorbar(image, ax=ax, shrink=0.8, label="length of the gradient")
    return ax


def shares(values: np.ndarray, row_labels: Sequence[str], column_labels: Sequence[str], ax: Axes | None = None) -> Axes:
    """Numbers between 0 and 1, such as gates, as squares from white to dark; always on the same scale."""
    ax, values = _axes(ax), np.asarray(values)
    image = ax.imshow(values, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    ax.set_xticks(range(values.shape[1]), column_labels)
    ax.set_yticks(range(values.shape[0]), row_labels)
    ax.grid(False)
    ax.figure.colorbar(image, ax=ax, ticks=[0, 0.5, 1])
    return ax


def dots(runs: Mapping[str, Sequence[float]], colours: Mapping[str, str] | None = None, ax: Axes | None = None) -> Axes:
    """One row for each name: a dot for every run and a bar at their mean; the first name stands on top."""
    ax = _axes(ax)
    for place, (name, values) in enumerate(runs.items()):
        colour = (colours or {}).get(name, COLOURS["rnn"])
        ax.plot(values, [place] * len(values), "o", color=colour, alpha=0.6)
        ax.plot([np.mean(values)] * 2, [place - 0.3, place + 0.3], color=colour, linewidth=2.4)
    ax.set_yticks(range(len(runs)), list(runs))
    ax.set_ylim(len(runs) - 0.5, -0.5)
    ax.grid(axis="y", visible=False)
    return ax


def word_bars(words: Sequence[str], shares: Sequence[float], marked: Sequence[bool], ax: Axes | None = None) -> Axes:
    """A bar from 0 to 1 for each word of a text; the marked words are printed bold on a grey ground."""
    ax = _axes(ax)
    for place, (share, mark) in enumerate(zip(shares, marked, strict=True)):
        if mark:
            ax.axvspan(place - 0.5, place + 0.5, color="#e4e4e4", zorder=0)
        ax.bar(place, share, color=COLOURS["lstm"] if mark else COLOURS["rnn"], width=0.7)
    ax.set_xticks(range(len(words)), words, rotation=45, ha="right", rotation_mode="anchor")
    for label, mark in zip(ax.get_xticklabels(), marked, strict=True):
        label.set_fontweight("bold" if mark else "normal")
    ax.set(ylim=(0, 1), xlim=(-0.6, len(words) - 0.4))
    ax.grid(axis="x", visible=False)
    return ax


def surprise_over_letters(
    letters: Sequence[str], surprise: Sequence[float], starts: Sequence[bool], ax: Axes | None = None
) -> Axes:
    """One bar per letter, as high as the surprise; where a word starts, the bar is filled, elsewhere it is outlined."""
    ax, full, edge = _axes(ax), COLOURS["lstm"], "#777777"
    colours = [full if start else "white" for start in starts]
    edges = [full if start else edge for start in starts]
    ax.bar(range(len(letters)), surprise, color=colours, edgecolor=edges, width=0.8)
    ax.set_xticks(range(len(letters)), letters)
    ax.tick_params(axis="x", length=0)
    ax.grid(axis="x", visible=False)
    ax.set(ylabel="surprise (nats)", xlim=(-0.8, len(letters) - 0.2))
    return ax


def attention_map(
    weights: np.ndarray, queries: Sequence[str], keys: Sequence[str], title: str = "", ax: Axes | None = None
) -> Axes:
    """Attention weights as squares from white (0) to dark (1), one row per query; always on the same scale.

    A scale beside several maps: ``figure.colorbar(axes[0].images[0], ax=axes)``.
    """
    ax = _axes(ax)
    ax.imshow(np.asarray(weights), cmap="Blues", vmin=0, vmax=1, interpolation="nearest")
    ax.set_xticks(range(len(keys)), keys, rotation=45, ha="right", rotation_mode="anchor")
    ax.set_yticks(range(len(queries)), queries)
    ax.set(xlabel="key (looked at)", ylabel="query (looks)", title=title)
    ax.grid(False)
    return ax


def pairs_of_dots(
    runs: Mapping[str, tuple[Sequence[float], Sequence[float]]], labels: tuple[str, str], ax: Axes | None = None
) -> Axes:
    """One row for each name: filled dots for the first measurement, hollow ones for the second, joined by a line."""
    ax = _axes(ax)
    for place, (first, second) in enumerate(runs.values()):
        ax.plot([np.mean(first), np.mean(second)], [place, place], color="#bbbbbb", linewidth=1.4, zorder=1)
        for values, label, face in ((first, labels[0], COLOURS["attention"]), (second, labels[1], "white")):
            ax.plot(
                values, [place] * len(values), "o", markerfacecolor=face, markeredgecolor=COLOURS["attention"],
                label=label if place == 0 else None,
            )  # fmt: skip
    ax.set_yticks(range(len(runs)), list(runs))
    ax.set_ylim(len(runs) - 0.5, -0.5)
    ax.grid(axis="y", visible=False)
    ax.legend()
    return ax


def gaze(image: np.ndarray, weights: np.ndarray, word: str, ax: Axes | None = None) -> Axes:
    """A picture, darkest where there is ink, and over it where a writer looks (rows, columns) while it says a word."""
    ax, (H, W) = _axes(ax), np.shape(image)
    ax.imshow(image, cmap="Greys", vmin=0, vmax=1.4, extent=(0, W, H, 0))
    shade = np.zeros((*np.shape(weights), 4))
    shade[..., :3] = to_rgb(COLOURS["lstm"])
    shade[..., 3] = 0.75 * np.asarray(weights)
    ax.imshow(shade, extent=(0, W, H, 0), interpolation="nearest")
    ax.set(xticks=[], yticks=[], title=word)
    ax.spines[:].set_visible(True)
    ax.grid(False)
    return ax


def written(moves: np.ndarray, ax: Axes | None = None) -> Axes:
    """The way of a pen: moves (T, 3) to the right, upwards, and 1 where the pen is on the paper."""
    ax, moves = _axes(ax), np.asarray(moves)
    points = np.cumsum(moves[:, :2], axis=0)
    for k in range(1, len(points)):
        if moves[k, 2] > 0.5:
            ax.plot(*points[k - 1 : k + 1].T, color="#222222", linewidth=2, solid_capstyle="round")
    ax.set_aspect("equal")
    ax.axis("off")
    return ax
