"""A beam search as a drawing: what was kept at each step, what was dropped (chapter 10)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from unrolled.plotting import COLOURS

Next = Mapping[str, Sequence[tuple[str, float]]]  # a beginning, words with blanks between: its likeliest next tokens


@dataclass(frozen=True)
class Candidate:
    """One beginning at one step of the search."""

    tokens: tuple[str, ...]
    logp: float
    parent: int  # its place among those kept one step before
    kept: bool


def beam_steps(following: Next, end: str, k: int, steps: int, dropped: int = 2) -> list[list[Candidate]]:
    """At each step the k candidates that are kept, the most probable first, and the best ``dropped`` of the others.

    Args:
        following: for each beginning the search may meet, its likeliest next tokens and their log-probabilities; at
            least k of them, so that no candidate is missing.
        end: the token that ends a hypothesis.

    >>> following = {"": [("a", -0.5), ("b", -0.9)], "a": [("</s>", -0.7), ("a", -1.6)], "b": [("</s>", -0.1)]}
    >>> [[(" ".join(c.tokens), c.kept) for c in step] for step in beam_steps(following, "</s>", 2, 2, dropped=1)]
    [[('a', True), ('b', True)], [('b </s>', True), ('a </s>', True), ('a a', False)]]
    """
    beam, found = [Candidate((), 0.0, 0, True)], []
    for _ in range(steps):
        candidates = []
        for place, one in enumerate(beam):
            if one.tokens[-1:] == (end,):
                candidates.append(Candidate(one.tokens, one.logp, place, True))
                continue
            for token, logp in following[" ".join(one.tokens)]:
                candidates.append(Candidate((*one.tokens, token), one.logp + logp, place, True))
        candidates.sort(key=lambda candidate: -candidate.logp)
        others = [Candidate(c.tokens, c.logp, c.parent, False) for c in candidates[k : k + dropped]]
        beam = candidates[:k]
        found.append([*beam, *others])
    return found


def draw_beam(steps: Sequence[Sequence[Candidate]], ax: Axes | None = None) -> Axes:
    """One column for each step: kept candidates dark, with a line from their beginning; dropped ones pale below."""
    rows = max(map(len, steps))
    if ax is None:
        ax = plt.subplots(figsize=(1.02 * len(steps) + 0.8, 0.52 * rows + 0.5))[1]
    for t, step in enumerate(steps):
        for row, one in enumerate(step):
            colour = COLOURS["transformer"] if one.kept else "#777777"
            before = (t - 0.62, one.parent if t else (len(steps[0]) - 1) / 2)
            style = {"color": colour, "linewidth": 1.4 if one.kept else 0.8, "linestyle": "-" if one.kept else ":"}
            ax.plot([before[0], t - 0.42], [before[1], row], zorder=1, **style)
            label = f"{one.tokens[-1]}\n{one.logp:.1f}"
            ax.text(t, row, label, ha="center", va="center", fontsize=8.5, color=colour, linespacing=1.0)
    ax.text(-0.75, (len(steps[0]) - 1) / 2, "<s>", ha="center", va="center", fontsize=8.5)
    ax.set(xlim=(-1, len(steps) - 0.5), ylim=(rows - 0.4, -0.6))
    ax.axis("off")
    return ax
