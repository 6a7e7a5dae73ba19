"""Layer normalisation: every vector is brought to the same mean and spread (chapter 9)."""

from __future__ import annotations

import torch
from torch import Tensor


def layer_norm(x: Tensor, g: Tensor, b: Tensor, eps: float = 1e-5) -> Tensor:
    r"""Bring each vector to mean 0 and variance 1 over its features; then scale and shift them.

    $$ \mu = \frac1D \sum_{d=1}^{D} x_d, \qquad
       \sigma^2 = \frac1D \sum_{d=1}^{D} (x_d - \mu)^2, \qquad
       \mathrm{LN}(x) = g \odot \frac{x - \mu}{\sqrt{\sigma^2 + \varepsilon}} + b
       $$ (eq-layer-norm)

    Each vector by itself: neither the other steps nor the other sequences play a part.
    Without torch's own normalisation.

    Args:
        x: (..., D) vectors; the leading axes are those of a batch, of steps, or none.
        g: (D,) the scale of each feature.
        b: (D,) its shift.
        eps: keeps the root away from zero, where all features of a vector are equal.

    Returns:
        (..., D). Gradients reach x, g and b; nothing is changed.

    Built in chapter 9.

    >>> g, b = torch.tensor([1.0, 10.0]), torch.tensor([0.0, 100.0])
    >>> layer_norm(torch.tensor([1.0, 3.0]), g, b, eps=3.0).tolist()  # mean 2, variance 1: half of the distance from 2
    [-0.5, 105.0]
    """
    mu = x.mean(dim=-1, keepdim=True)  # (..., 1)
    variance = (x - mu).square().mean(dim=-1, keepdim=True)  # (..., 1)
    return g * (x - mu) / torch.sqrt(variance + eps) + b  # eq-layer-norm
