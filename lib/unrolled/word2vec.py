"""Word vectors learned from raw text: tell a true neighbour from random words (chapter 3)."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor


def sgns_loss(c: Tensor, o: Tensor, neg: Tensor, E_in: Tensor, E_out: Tensor) -> Tensor:
    r"""The loss of skip-gram with negative sampling (word2vec), in the mean over a batch.

    $$ L = -\frac{1}{B} \sum_b \Big[ \log \sigma(u_{o_b}^\top v_{c_b})
       + \sum_{k=1}^{K} \log \sigma(-u_{n_{bk}}^\top v_{c_b}) \Big] $$ (eq-sgns)

    Args:
        c: (B,) ids of the centre words; v is their row of E_in.
        o: (B,) ids of words that stood beside them; u is their row of E_out.
        neg: (B, K) ids n of words drawn at random, for each centre word its own.
        E_in: (V, E) a vector for each word as a centre.
        E_out: (V, E) another one for each word as a neighbour. Scores may be so large that a
            sigmoid is rounded to 0; the loss stays finite.

    Returns:
        A scalar: the sum over one true and K random pairs, in the mean over the batch. Gradients
        reach E_in and E_out; nothing is changed.

    Built in chapter 3.

    >>> c, o, neg = torch.tensor([0]), torch.tensor([1]), torch.tensor([[2, 3]])
    >>> E = torch.zeros(4, 5)
    >>> round(sgns_loss(c, o, neg, E, E).item(), 4)  # three times log 2
    2.0794
    """
    v = E_in[c]  # (B, E)
    true = (E_out[o] * v).sum(dim=1)  # (B,)
    random = torch.einsum("bke,be->bk", E_out[neg], v)  # (B, K)
    return -(F.logsigmoid(true) + F.logsigmoid(-random).sum(dim=1)).mean()  # eq-sgns
