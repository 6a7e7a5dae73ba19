"""Who may look at whom: boolean masks, True = may attend (chapter 8)."""

from __future__ import annotations

import torch
from torch import Tensor


def causal_mask(T: int) -> Tensor:
    r"""The mask of a reader that has seen nothing of what comes later.

    $$ \mathrm{mask}_{tj} = \text{True} \iff j \le t $$ (eq-causal-mask)

    Args:
        T: number of steps, at least 1.

    Returns:
        (T, T) bool. Row t belongs to the query at step t, column j to the key at step j; True
        means that t may attend to j. A step may attend to itself.

    Built in chapter 8.

    >>> causal_mask(3).int().tolist()
    [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    """
    step = torch.arange(T)
    return step <= step[:, None]  # eq-causal-mask
