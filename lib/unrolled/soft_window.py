"""A soft window that moves along a text: attention by place, before there was attention (chapter 7)."""

from __future__ import annotations

import torch
from torch import Tensor


def soft_window(
    kappa_hat: Tensor, beta_hat: Tensor, alpha_hat: Tensor, kappa0: Tensor, S: int
) -> tuple[Tensor, Tensor]:
    r"""How strongly each letter of a text is read at every step: a sum of bumps that move on.

    What a network says, three numbers for each bump, passes through exp before it is used:

    $$ \alpha_{tm} = \exp \hat\alpha_{tm}, \qquad \beta_{tm} = \exp \hat\beta_{tm}, \qquad
       \kappa_{tm} = \kappa_{t-1,\,m} + \exp \hat\kappa_{tm} $$ (eq-window-moves)
    $$ \phi_{tu} = \sum_m \alpha_{tm} \exp\!\left(-\beta_{tm} (\kappa_{tm} - u)^2\right), \qquad
       u = 1, \dots, S $$ (eq-soft-window)

    The letters are counted **from 1**. The weights $\phi$ are not normalised: those of a step sum
    to anything, and to almost nothing once all bumps have left the text.

    Args:
        kappa_hat: (B, T, M) how far each of M bumps moves at each of T steps: the logarithm.
        beta_hat: (B, T, M) how narrow it is: the logarithm.
        alpha_hat: (B, T, M) how high it is: the logarithm.
        kappa0: (B, M) the places of the bumps before the first step: zeros at the start of a
            text; what the last call returned as kappa[:, -1] to go on from there.
        S: the number of letters, at least 1.

    Returns:
        phi: (B, T, S) the weights; letter u stands in column u - 1.
        kappa: (B, T, M) the places of the bumps at every step. Gradients of both reach the first
            four arguments as far as they depend on them; nothing is changed.

    Built in chapter 7.

    >>> zero = torch.zeros(1, 2, 1)  # two steps; a bump of height 1 that moves one letter a step
    >>> phi, kappa = soft_window(zero, zero + 3, zero, torch.zeros(1, 1), S=3)
    >>> phi[0].round(decimals=2).tolist(), kappa[0].tolist()
    ([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], [[1.0], [2.0]])
    """
    kappa = kappa0[:, None] + kappa_hat.exp().cumsum(dim=1)  # eq-window-moves: (B, T, M)
    alpha, beta = alpha_hat.exp()[..., None], beta_hat.exp()[..., None]  # (B, T, M, 1)
    u = torch.arange(1, S + 1)
    bumps = alpha * torch.exp(-beta * (kappa[..., None] - u) ** 2)  # eq-soft-window: (B, T, M, S)
    return bumps.sum(dim=2), kappa  # (B, T, S)
