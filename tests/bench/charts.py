"""The figures of the page, in the style of the book: ratios as dots, learning as curves, growth on logarithmic axes."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np

from unrolled.plotting import COLOURS, MARKERS


def ratios(rows: list[dict]) -> plt.Figure:
    """A line for every network; the lesson hollow, the fast path filled; one panel for each size."""
    split = [(*one["name"].rsplit(", ", 2), one["ratio"]) for one in rows]
    names, sizes = list(dict.fromkeys(s[0] for s in split)), list(dict.fromkeys(s[1] for s in split))
    low, high = min(0.5, *(s[3] for s in split)), max(2, *(s[3] for s in split))
    figure, axes = plt.subplots(1, len(sizes), figsize=(9.6, 0.34 * len(names) + 1.1), sharey=True)
    for ax, size in zip(np.atleast_1d(axes), sizes, strict=True):
        for way, face in (("lesson", "white"), ("fast path", COLOURS["transformer"])):
            mine = [(ratio, names.index(name)) for name, at, how, ratio in split if (at, how) == (size, way)]
            ax.plot(
                *zip(*mine, strict=True), "o", markerfacecolor=face, markeredgecolor=COLOURS["transformer"], label=way
            )
        ax.axvline(1, color="#888888", linewidth=1)
        goals = {one["goal"] for one in rows if f", {size}, " in one["name"]} - {None}
        for goal in goals:
            ax.axvline(goal, color=COLOURS["lstm"], linestyle="--", linewidth=1.2, label=f"goal {goal:g}")
        ax.set(title=size, xlabel="time, torch = 1", xscale="log", xlim=(0.85 * low, 1.15 * high))
        ticks = [tick for tick in (0.25, 0.5, 1, 2, 4, 8) if low <= tick <= high]
        ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        ax.minorticks_off()
    first = np.atleast_1d(axes)[0]
    first.set_yticks(range(len(names)), names)
    first.set_ylim(len(names) - 0.5, -0.5)
    figure.legend(*np.atleast_1d(axes)[-1].get_legend_handles_labels(), loc="outside upper right", ncols=3)
    return figure


def curves(rows: list[dict]) -> plt.Figure:
    """Time, and memory where it was counted, on two logarithmic axes; fitted exponents beside those of theory."""
    quantities = list(dict.fromkeys(one["points"]["quantity"] for one in rows))
    figure, axes = plt.subplots(1, len(quantities), figsize=(4.8 * len(quantities), 3.6), squeeze=False)
    for ax, quantity in zip(axes[0], quantities, strict=True):
        for one in (one for one in rows if one["points"]["quantity"] == quantity):
            points = one["points"]
            x, y, colour = np.array(points["x"]), points["y"], COLOURS[points["kind"]]
            ax.plot(x, y, MARKERS.get(points["kind"], "o"), color=colour)
            middle = np.exp(np.log(y).mean() + one["ours"] * (np.log(x) - np.log(x).mean()))
            said = f"{points['label']}: {one['ours']:.2f} (theory {one['peer']:.2f})"
            ax.plot(x, middle, color=colour, linewidth=1.2, label=said)
        ax.set(xscale="log", yscale="log", xlabel=points["axis"], ylabel=f"{quantity} ({points['unit']})")
        ticks = sorted({n for one in rows for n in one["points"]["x"]})
        ax.set_xticks(ticks, [f"{n:,}" for n in ticks])
        ax.minorticks_off()
        ax.legend(fontsize=8, loc="upper left")
        ax.set_ylim(top=ax.get_ylim()[1] * 4)
    return figure


def learning_curves(rows: list[dict]) -> plt.Figure:
    """A panel for each race: ours over all seeds, the peer, its end, and half of its time."""
    columns = 3
    lines = -(-len(rows) // columns)
    figure, axes = plt.subplots(lines, columns, figsize=(9.6, 2.9 * lines), squeeze=False, layout="constrained")
    figure.get_layout_engine().set(h_pad=0.12)
    for ax, one in zip(axes.flat, rows, strict=False):
        (peer,), ours = one["curves"]["peer"], one["curves"]["ours"]
        for number, curve in enumerate(ours):
            ax.plot(
                curve["seconds"], curve["error"], color=COLOURS["transformer"], label="ours" if number == 0 else None
            )
        end, seconds = peer["error"][-1], peer["seconds"][-1]
        if seconds:
            ax.plot(peer["seconds"], peer["error"], color=COLOURS["lstm"], label=one["peer_name"])
            ax.axvline(seconds / 2, color="#888888", linestyle=":", linewidth=1.2)
        ax.axhline(end, color=COLOURS["lstm"], linestyle="--", linewidth=1, label=None if seconds else one["peer_name"])
        shown = [e for curve in [*ours, peer] for e in curve["error"][len(curve["error"]) // 8 :]]
        ax.set_ylim(0.97 * min(shown), 1.02 * max(shown))
        name = one["name"].partition(":")[0].partition(" against")[0]
        ax.set_title(name, fontsize=10)
        ax.set(xlabel="processor seconds", ylabel=one["error_unit"])
        ax.legend(fontsize=8)
    for ax in axes.flat[len(rows) :]:
        ax.set_visible(False)
    return figure
