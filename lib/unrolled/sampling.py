"""From scores to text: shape the distribution, draw from it, read what was drawn (chapter 3)."""

from __future__ import annotations

import torch
from torch import Tensor


def next_token_probs(
    logits: Tensor, temperature: float = 1.0, top_k: int | None = None, top_p: float | None = None
) -> Tensor:
    r"""The distribution to draw the next id from: tempered, then cut to its likeliest ids.

    $$ p = \text{softmax}(o / \tau) $$ (eq-temperature)

    Then top k: only the k likeliest ids stay. Then top p: of what is left, renormalised, the
    likeliest ids stay until their sum reaches p. With ids numbered from the likeliest down,

    $$ \text{id } m \text{ stays} \iff \sum_{i < m} p_i < p_{\text{top}} $$ (eq-top-p)

    so the id that crosses p stays, too, and at least one id always does.

    Args:
        logits: (V,) scores o in the order of the ids, so large perhaps that exp of them overflows.
        temperature: tau > 0; below 1 the likely gets likelier.
        top_k: how many ids to keep, 1 to V; None keeps all.
        top_p: the probability to keep, above 0 and at most 1; None keeps all.

    Returns:
        (V,) probabilities in the order of the ids: 0 for what was cut, and the rest
        renormalised so that the sum is 1. logits is not changed.

    Built in chapter 3.

    >>> logits = torch.tensor([0.1, 0.5, 0.4]).log()
    >>> next_token_probs(logits, top_p=0.6)  # 0.5 does not reach 0.6, with 0.4 it does
    tensor([0.0000, 0.5556, 0.4444])
    >>> next_token_probs(logits, top_k=1)
    tensor([0., 1., 0.])
    """
    p, order = torch.softmax(logits / temperature, dim=0).sort(descending=True)  # eq-temperature
    if top_k is not None:
        p = torch.where(torch.arange(len(p)) < top_k, p, 0)
        p = p / p.sum()
    if top_p is not None:
        p = torch.where(p.cumsum(0) - p < top_p, p, 0)  # eq-top-p
        p = p / p.sum()
    probs = torch.zeros_like(p)
    probs[order] = p  # back in the order of the ids
    return probs


def sample_sequence(step, h, bos: int, n: int, u: Tensor) -> Tensor:
    r"""Draw n ids, one after another; each id that was drawn is the next input.

    $$ w_t = \min \{\, i : P(w \le i) > u_t \,\}, \qquad
       P(w \le i) = \sum_{j \le i} p_t[j] $$ (eq-inverse-cdf)

    Args:
        step: a function of an id (an int) and a state; returns the probabilities (V,) of the
            next id and the new state.
        h: the state before the first step.
        bos: the id of the start symbol, the first input.
        n: how many ids to draw.
        u: (n,) random numbers in [0, 1); u[t] decides draw t. The id drawn is the first whose
            cumulative probability, ids in their order from 0, is greater than u[t]. If rounding
            leaves even the last sum at u[t] or below, it is the last id (this is not checked).

    Returns:
        (n,) int64, the ids that were drawn; bos is not among them.

    Built in chapter 3.

    >>> step = lambda w, h: (torch.tensor([0.25, 0.0, 0.75]), h)
    >>> sample_sequence(step, None, bos=0, n=3, u=torch.tensor([0.0, 0.25, 0.9])).tolist()
    [0, 2, 2]
    """
    w, ids = bos, []
    for t in range(n):
        p, h = step(w, h)
        w = int((p.cumsum(0)[:-1] <= u[t]).sum())  # eq-inverse-cdf; the last sum is 1
        ids.append(w)
    return torch.tensor(ids)
