"""Where a token stands: waves for its place, added to the vector of its word (chapter 9)."""

from __future__ import annotations

import math

import torch
from torch import Tensor


def sinusoidal_positions(T: int, D: int) -> Tensor:
    r"""A vector for every place: pairs of a sine and a cosine, from fast waves to slow ones.

    $$ P_{t,\,2i} = \sin\!\left(\frac{t}{10000^{2i/D}}\right), \qquad
       P_{t,\,2i+1} = \cos\!\left(\frac{t}{10000^{2i/D}}\right) $$ (eq-positions)

    for the steps t = 0, …, T - 1 and the pairs i = 0, …, D/2 - 1.

    Args:
        T: number of steps, at least 1.
        D: width of the model, even.

    Returns:
        (T, D) in the default dtype. (All sines first and then all cosines, as some programs
        have it, is the same up to the order of the columns, and accepted too.)

    Built in chapter 9.

    >>> [[round(x, 3) for x in row] for row in sinusoidal_positions(3, 4).tolist()]
    [[0.0, 1.0, 0.0, 1.0], [0.841, 0.54, 0.01, 1.0], [0.909, -0.416, 0.02, 1.0]]
    """
    t, i = torch.arange(T)[:, None], torch.arange(D // 2)  # (T, 1), (D/2,)
    angle = t / 10000 ** (2 * i / D)  # (T, D/2)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)  # eq-positions: (T, D)


def embed(ids: Tensor, E: Tensor, P: Tensor) -> Tensor:
    r"""What the first layer reads: the vector of the word and the vector of its place, added.

    $$ x_{bt} = \sqrt{D}\; E[\mathrm{ids}_{bt}] + P_t $$ (eq-embed)

    Args:
        ids: (B, T) int64, the tokens.
        E: (V, D) the table of word vectors. They start out with a spread of about 1/√D; the
            root makes them as large as the positions.
        P: (at least T, D) the positions, one row for each step; rows beyond T are not used.

    Returns:
        (B, T, D). Gradients reach E and P; nothing is changed.

    Built in chapter 9.

    >>> E = torch.tensor([[0.0, 0.0, 0.0, 0.0], [1.0, 2.0, 3.0, 4.0]])
    >>> P = torch.tensor([[0.5], [0.25], [0.125]]).expand(3, 4)
    >>> embed(torch.tensor([[1, 0]]), E, P).tolist()
    [[[2.5, 4.5, 6.5, 8.5], [0.25, 0.25, 0.25, 0.25]]]
    """
    D = E.shape[1]
    return math.sqrt(D) * E[ids] + P[: ids.shape[1]]  # eq-embed: (B, T, D) + (T, D)
