"""Follow attention through all layers: how much of each input reaches each output (chapter 10)."""

from __future__ import annotations

import torch
from torch import Tensor


def attention_rollout(A: Tensor) -> Tensor:
    r"""From which inputs an output is made, if only weights counted (Abnar & Zuidema 2020).

    $$ \hat A_l = \mathrm{rows\ to\ one}\left(I + \frac1N \sum_n A_{ln}\right), \qquad
       R_l = \hat A_l R_{l-1}, \qquad R_0 = I $$ (eq-rollout)

    The identity stands for the residual connection, which carries a position past the
    attention. Afterwards each row is divided by its sum.

    Args:
        A: (L, N, T, T) the weights of L layers with N heads each, the first layer first; row =
            query. Rows sum to 1, or are all 0 where a query could attend to nothing.

    Returns:
        (T, T) the rollout R_L: row = output position of the last layer, column = input
        position. Its rows sum to 1. It has the number type of A. Nothing is changed.

    Built in chapter 10.

    >>> first, second = torch.eye(2).flip(1), torch.tensor([[1.0, 0.0], [1.0, 0.0]])
    >>> attention_rollout(torch.stack([first, second])[:, None]).tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    """
    T = A.shape[-1]
    R = torch.eye(T, dtype=A.dtype)
    for heads in A:
        mixed = torch.eye(T, dtype=A.dtype) + heads.mean(dim=0)  # (T, T)
        R = mixed / mixed.sum(dim=1, keepdim=True) @ R  # eq-rollout
    return R
