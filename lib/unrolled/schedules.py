"""How large a step may be, over the whole of a training: up along a line, then down along another (chapter 12)."""

from __future__ import annotations


def linear_warmup_decay(step: int, warmup: int, total: int, peak: float) -> float:
    r"""The step size of BERT: it rises to its peak, and then falls to zero at the end.

    $$ \mathrm{lr}(s) = \begin{cases}
       \mathrm{peak} \cdot \dfrac{s}{w} & \text{if } s < w \\[1ex]
       \mathrm{peak} \cdot \dfrac{n - s}{n - w} & \text{if } w \le s < n \\[1ex]
       0 & \text{if } n \le s \end{cases} $$ (eq-warmup-decay)

    Args:
        step: number of the step s, from 0.
        warmup: how many steps w it rises. It may be 0: then lr starts at its peak; and it may
            be n: then lr only rises.
        total: how many steps n there are, the warm-up among them.
        peak: the largest step size, at s = w.

    Returns:
        The step size, a float; never below 0.

    Built in chapter 12.

    >>> [linear_warmup_decay(s, warmup=4, total=10, peak=0.5) for s in (0, 1, 4, 7, 10, 11)]
    [0.0, 0.125, 0.5, 0.25, 0.0, 0.0]
    """
    if step < warmup:
        return peak * step / warmup  # eq-warmup-decay
    if step < total:
        return peak * (total - step) / (total - warmup)
    return 0.0
