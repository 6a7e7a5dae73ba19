"""Which bug is this? The evidence that a trained attention layer leaves behind, and the name of its mistake."""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

BUGS = (
    "right",
    "no mask",
    "mask off by one",
    "mask after softmax",
    "softmax over queries",
    "not scaled",
    "heads by view",
    "targets not shifted",
)


class Case(NamedTuple):
    """What is known of one trained layer of causal self-attention."""

    losses: Tensor  # (steps,) of the training, in nats per token
    floor: float  # the entropy of the text: no model that does not see the answer gets below it
    K: int  # width of a head
    scores: Tensor  # (T, T) the products q_t · k_s of one head, before anything is done with them
    weights: Tensor  # (T, T) what the layer made of them; row t is the query
    reach: Tensor  # (T, T) how much the layer's output at step t changes when its input at step s changes


def name_the_bug(case: Case) -> str:
    r"""Name the one mistake of a layer of causal self-attention, or say that it is right.

    A layer without a mistake, trained on the right targets, has for all steps t and s

    $$ \alpha_{ts} = \frac{e^{q_t \cdot k_s / \sqrt{K}}}
       {\sum_{r \le t} e^{q_t \cdot k_r / \sqrt{K}}} \text{ if } s \le t,
       \qquad \alpha_{ts} = 0 \text{ if } s > t,
       \qquad r_{ts} \neq 0 \iff s \le t,
       \qquad \min_i L_i > H $$ (eq-evidence)

    with the weights α, the reach r, the losses L and the floor H. One of these things was done
    in its place, and nothing else is wrong:

    - "no mask": every step attends to all steps.
    - "mask off by one": step t attends to the steps up to t + 1.
    - "mask after softmax": the softmax runs over all steps; the weights of later ones are set
      to zero afterwards.
    - "softmax over queries": the mask is right, but the softmax runs over t in place of s.
    - "not scaled": the scores are not divided by the root of K.
    - "heads by view": q, k and v (T, D) are cut into heads by reshape(N, T, K), without moving
      an axis, and the heads are put together by reshape(T, D); inside each head all is right.
    - "targets not shifted": the layer is right, but at step t it is trained to say token t,
      which it has just read, in the place of token t + 1.

    Args:
        case: losses (steps,), floor, K, scores (T, T), weights (T, T), reach (T, T), with T > 3.
            What is closed or out of reach is exactly 0. Whatever a mistake changes, it changes
            by more than a hundredth somewhere. The losses of a right layer stay above the floor,
            those with targets that are not shifted fall far below it. A mistake that lets the
            layer see what comes next may have brought it below the floor, or not yet.

    Returns:
        One of the eight names in BUGS, "right" among them. The case is not changed.

    Built in chapter 15.

    >>> even = torch.ones(4, 4).tril()
    >>> even = even / even.sum(dim=1, keepdim=True)
    >>> name_the_bug(Case(torch.tensor([2.0, 1.5]), 1.2, 4, torch.zeros(4, 4), even, even))
    'right'
    >>> name_the_bug(Case(torch.tensor([2.0, 0.1]), 1.2, 4, torch.zeros(4, 4), even, even))
    'targets not shifted'
    """
    t, s = case.weights.nonzero().T
    ahead = int((s - t).max())
    if ahead:
        return ("right", "mask off by one", "no mask")[min(ahead, 2)]
    rows, columns = case.weights.sum(dim=1), case.weights.sum(dim=0)  # (T,), (T,)
    if not torch.allclose(rows, torch.ones_like(rows), atol=1e-3):
        over_queries = torch.allclose(columns, torch.ones_like(columns), atol=1e-3)
        return "softmax over queries" if over_queries else "mask after softmax"
    if (case.reach == 0).tril().any():  # the map is clean, and yet a part of the past is lost
        return "heads by view"
    scores = (case.scores / math.sqrt(case.K)).masked_fill(case.weights == 0, -math.inf)
    if not torch.allclose(case.weights, scores.softmax(dim=1), atol=1e-3):  # eq-evidence
        return "not scaled"
    return "targets not shifted" if case.losses.min() < case.floor else "right"
