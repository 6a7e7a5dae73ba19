"""The time-delay network: one small filter slid along the sequence (chapter 1)."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn


def causal_conv1d(x: Tensor, W: Tensor, b: Tensor) -> Tensor:
    r"""Slide one filter along time; the output at t sees x up to t and nothing later.

    $$ y_t = b + \sum_{j=0}^{k-1} x_{t-j}\, W_{k-1-j},
       \qquad x_s = 0 \text{ for } s < 1 $$ (eq-causal-conv)

    The last slice of the filter, ``W[-1]``, meets the present input and ``W[0]`` the oldest one.

    Args:
        x: (B, T, E) inputs.
        W: (k, E, H) filter of width k.
        b: (H,) bias.

    Returns:
        y: (B, T, H), as many steps as x. Gradients reach x, W and b; none of them is changed.

    Built in chapter 1.

    >>> x = torch.tensor([[[1.0], [2.0], [3.0]]])
    >>> W = torch.tensor([[[10.0]], [[1.0]]])  # 10 x previous + 1 x present
    >>> causal_conv1d(x, W, torch.zeros(1)).flatten().tolist()
    [1.0, 12.0, 23.0]
    """
    T, k = x.shape[1], W.shape[0]
    past = F.pad(x, (0, 0, k - 1, 0))  # (B, k-1+T, E)
    # eq-causal-conv
    return b + sum(past[:, j : j + T] @ W[j] for j in range(k))  # (B,T,E) @ (E,H) -> (B,T,H)


def receptive_field(k: int, layers: int, dilation: int = 1) -> int:
    r"""How many inputs reach one output of a stack of convolutions.

    $$ R = 1 + (k - 1) \sum_{l=0}^{L-1} d^{\,l} $$ (eq-receptive-field)

    >>> receptive_field(k=3, layers=1), receptive_field(k=3, layers=4), receptive_field(k=3, layers=4, dilation=2)
    (3, 9, 31)
    """
    # eq-receptive-field
    return 1 + (k - 1) * sum(dilation**layer for layer in range(layers))


class CausalConv(nn.Module):
    """One causal convolution as a module: (B, T, E) -> (B, T, H)."""

    def __init__(self, E: int, H: int, k: int):
        super().__init__()
        bound = (k * E) ** -0.5
        self.W = nn.Parameter(torch.empty(k, E, H).uniform_(-bound, bound))
        self.b = nn.Parameter(torch.zeros(H))

    def forward(self, x: Tensor) -> Tensor:
        return causal_conv1d(x, self.W, self.b)
