"""Dropout: in training, some features are missing at random (chapter 9)."""

from __future__ import annotations

import torch
from torch import Tensor, nn


def dropout(x: Tensor, p: float, train: bool, u: Tensor) -> Tensor:
    r"""Set each entry to zero with probability p; enlarge the others so that the mean stays.

    $$ \mathrm{dropout}(x) = \begin{cases} \dfrac{x}{1 - p} & \text{if } u \ge p \\
       0 & \text{if } u < p \end{cases} \quad \text{in training}, \qquad
       \mathrm{dropout}(x) = x \quad \text{afterwards} $$ (eq-dropout)

    Args:
        x: any shape.
        p: the probability that an entry is dropped, at least 0 and below 1.
        train: True in training. Otherwise nothing is dropped and nothing is scaled.
        u: random numbers, at least 0 and below 1, one for each entry of x.

    Returns:
        As x. Gradients reach x; neither x nor u is changed. (To drop where u is among the
        largest, u at least 1 - p, is as likely, and accepted too.)

    Built in chapter 9.

    >>> x, u = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([0.9, 0.1, 0.3])
    >>> dropout(x, 0.2, True, u).tolist(), dropout(x, 0.2, False, u).tolist()
    ([1.25, 0.0, 3.75], [1.0, 2.0, 3.0])
    """
    if not train:
        return x
    return x.masked_fill(u < p, 0) / (1 - p)  # eq-dropout


class Dropout(nn.Module):
    """A layer that calls ``dropout`` with fresh random numbers; ``train()`` and ``eval()`` switch it on and off."""

    def __init__(self, p: float):
        super().__init__()
        if not 0 <= p < 1:
            raise ValueError(f"A probability of dropping of {p} leaves nothing; it is at least 0 and below 1.")
        self.p = p

    def forward(self, x: Tensor) -> Tensor:
        return dropout(x, self.p, self.training, torch.rand_like(x)) if self.p > 0 else x
