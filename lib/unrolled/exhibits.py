"""Exhibits for chapter 15: the eight layers that are trained, and what is left of each as a row of three pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from matplotlib.axes import Axes
from torch import Tensor

from unrolled import plotting
from unrolled.attention_bugs import ATTENTIONS
from unrolled.self_attention import AttentionParams, multi_head_attention
from unrolled.which_bug import BUGS, Case


def no_mask(x: Tensor, memory: Tensor, params: AttentionParams, n_heads: int, mask: Tensor | None = None):
    """As ``multi_head_attention``, but everybody may look at everybody."""
    return multi_head_attention(x, memory, params, n_heads, None)


LAYERS = {
    "right": multi_head_attention,
    "no mask": no_mask,
    "mask off by one": ATTENTIONS["mask off by one"],
    "mask after softmax": ATTENTIONS["mask after softmax"],
    "softmax over queries": ATTENTIONS["softmax over queries"],
    "not scaled": ATTENTIONS["without √d_k"],
    "heads by view": ATTENTIONS["heads split by view"],
    "targets not shifted": multi_head_attention,  # the mistake is made elsewhere
}
assert tuple(LAYERS) == BUGS


def case_of(stored: Mapping) -> Case:
    """A case as ``experiments/ch15_cases.py`` has stored it."""
    arrays = {
        name: torch.tensor(stored[name], dtype=torch.float64) for name in ("losses", "scores", "weights", "reach")
    }
    return Case(**arrays, floor=stored["floor"], K=stored["K"])


def exhibit(case: Case, every: int, report: Sequence[tuple[str, bool]], axes: Sequence[Axes]) -> None:
    """One row: the losses over the updates, the report as a list, and the map of one head.

    Args:
        case: what is shown.
        every: updates from one loss to the next.
        report: what was asked of the layer, and whether it holds.
        axes: three of them.
    """
    curve, listed, heat = axes
    places = every * np.arange(1, len(case.losses) + 1)
    curve.plot(places, case.losses, color=plotting.COLOURS["attention"])
    curve.axhline(case.floor, color=plotting.COLOURS["chance"], linestyle="--")
    curve.text(places[-1], case.floor, "floor", ha="right", va="bottom", fontsize=8.5, color="#555555")
    curve.set(xlabel="updates", ylabel="loss (nats)", ylim=(0, 2.6))
    listed.axis("off")
    for place, (title, holds) in enumerate(report):
        y = 1 - (place + 0.5) / len(report)
        colour = plotting.COLOURS["gru" if holds else "lstm"]
        listed.text(0, y, "✓" if holds else "✗", color=colour, fontsize=11, va="center", transform=listed.transAxes)
        listed.text(0.08, y, title, fontsize=8, va="center", transform=listed.transAxes)
    T = len(case.weights)
    steps = [str(t) if t % 3 == 0 else "" for t in range(T)]
    plotting.attention_map(case.weights.numpy(), steps, steps, ax=heat)
