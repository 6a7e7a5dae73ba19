"""A map of a package: its functions by chapter, coloured by the models in which they were called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch, Patch

from unrolled import plotting

GREY, WIDEST = "#e6e6e6", 102  # characters in a row


def package_map(
    chapters: Mapping[str, Sequence[str]], called: Mapping[str, Mapping[str, int]], ax: Axes | None = None
) -> Axes:
    """One line of boxes for each chapter; a long one goes on in the next line.

    Args:
        chapters: the names of the functions, by the chapter's title.
        called: for two models, how often each function was called; a colour for each, one for both, grey for none.
        ax: where to draw; None: a new figure.
    """
    first, second = called
    colours = {(True, False): plotting.COLOURS["lstm"], (False, True): plotting.COLOURS["rnn"],
               (True, True): plotting.COLOURS["gru"], (False, False): GREY}  # fmt: skip
    boxes, labels, y = [], [], 0.0
    for title, names in chapters.items():
        labels.append((y, title))
        x = 0.0
        for name in names:
            width = len(name) + 2.5
            if x + width > WIDEST:
                x, y = 0.0, y + 1
            kind = (called[first].get(name, 0) > 0, called[second].get(name, 0) > 0)
            boxes.append((x, y, width, name, kind))
            x += width
        y += 1.25
    if ax is None:
        ax = plt.subplots(figsize=(9.4, 0.27 * y + 0.5))[1]
    for x, y_box, width, name, kind in boxes:
        patch = FancyBboxPatch((x, y_box - 0.38), width - 1, 0.76, boxstyle="round,pad=0,rounding_size=0.3",
                               mutation_aspect=0.3, facecolor=colours[kind], edgecolor="none")  # fmt: skip
        ax.add_patch(patch)
        dark = kind != (False, False)
        ax.text(x + (width - 1) / 2, y_box, name, ha="center", va="center", fontsize=6.8,
                color="white" if dark else "#444444")  # fmt: skip
    ax.set_yticks([place for place, _ in labels], [title for _, title in labels], fontsize=8)
    ax.set(xlim=(-0.5, WIDEST), ylim=(y - 0.4, -0.7))
    ax.set_xticks([])
    ax.grid(False)
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    legend = [(f"{first} only", (True, False)), (f"{second} only", (False, True)), ("both", (True, True)),
              ("neither", (False, False))]  # fmt: skip
    ax.legend(handles=[Patch(color=colours[kind], label=name) for name, kind in legend], ncols=4, fontsize=8,
              loc="upper center", bbox_to_anchor=(0.45, 0))  # fmt: skip
    return ax
