"""Heads that look for what came after the same token the last time (chapter 10)."""

from __future__ import annotations

from torch import Tensor


def induction_score(A: Tensor, period: int) -> Tensor:
    r"""How much each head attends to the successor of the token's last occurrence.

    The text repeats itself: token t is token t - P, with P the period. A head that has learned
    to continue what it has read once looks, at position t, at position t - P + 1.

    $$ \mathrm{score}_n = \frac{1}{T - P} \sum_{t=P}^{T-1} A_{n,\,t,\,t-P+1} $$ (eq-induction)

    Args:
        A: (N, T, T) the weights of N heads on a text of T tokens; row = query, counted from 0.
        period: P, after how many tokens the text repeats itself; at least 2, less than T.

    Returns:
        (N,) the mean weight of each head, from the second period on: in the first there is
        nothing to repeat yet. Gradients reach A; nothing is changed.

    Built in chapter 10.

    >>> import torch
    >>> A = torch.zeros(2, 6, 6)  # the text is a b c a b c
    >>> A[0, 3, 1] = A[0, 4, 2] = A[0, 5, 3] = 1.0  # this head looks at what came next
    >>> A[1, 3, 0] = A[1, 4, 1] = A[1, 5, 2] = 1.0  # this one at the same token
    >>> induction_score(A, period=3).tolist()
    [1.0, 0.0]
    """
    return A.diagonal(1 - period, dim1=1, dim2=2)[:, 1:].mean(dim=1)  # eq-induction: without t = P - 1
