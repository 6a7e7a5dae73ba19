"""Questions to the answer of chapter 15: cases made from the seed, each with one mistake or none.

The layers are real: inputs and matrices are drawn, the mistake is made, and the weights, the scores and the reach are
what then comes out. Only the losses are drawn.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from autograder.probe import normal, probe
from unrolled.which_bug import Case

LEAKS = ("no mask", "mask off by one", "mask after softmax", "softmax over queries")


def _layer(x: Tensor, W: list[Tensor], N: int, bug: str) -> tuple[Tensor, Tensor, Tensor]:
    """Causal self-attention of x (B, T, D) with one mistake: output (B, T, D), scores and weights (B, N, T, T)."""
    B, T, D = x.shape
    cut = (B, N, T, D // N) if bug == "heads by view" else (B, T, N, D // N)
    q, k, v = (x @ M for M in W[:3])
    if bug == "heads by view":
        q, k, v = (a.reshape(cut) for a in (q, k, v))
    else:
        q, k, v = (a.reshape(cut).transpose(1, 2) for a in (q, k, v))
    scores = q @ k.mT  # (B, N, T, T)
    scaled = scores if bug == "not scaled" else scores / math.sqrt(D // N)
    closed = torch.ones(T, T).triu(2 if bug == "mask off by one" else 1).bool()
    if bug == "no mask":
        weights = scaled.softmax(dim=-1)
    elif bug == "mask after softmax":
        weights = scaled.softmax(dim=-1).masked_fill(closed, 0.0)
    else:
        weights = scaled.masked_fill(closed, -math.inf).softmax(dim=-2 if bug == "softmax over queries" else -1)
    heads = weights @ v
    out = heads if bug == "heads by view" else heads.transpose(1, 2)
    return out.reshape(B, T, D) @ W[3], scores, weights


def _losses(rng: torch.Generator, bug: str, floor: float, below: bool) -> Tensor:
    """A falling curve that ends above the floor, or below it where the answer can be seen."""
    u = torch.rand(3, generator=rng)
    if bug == "targets not shifted":
        end = floor * (0.02 + 0.2 * u[0])
    else:
        end = floor * (0.1 + 0.5 * u[0] if bug in LEAKS and below else 1.05 + 0.3 * u[0])
    steps = 31 + int(20 * u[1])
    falling = torch.exp(-torch.arange(steps) / (3 + 3 * u[2]))
    return end + (floor + 1 - end) * falling + 0.02 * torch.rand(steps, generator=rng)


def _case(rng: torch.Generator, bug: str, T: int, N: int, K: int, spread: float, below: bool = False) -> Case:
    """A layer of N heads of width K on T steps; ``spread`` is that of the scores divided by the root of K."""
    D = N * K
    x, exchanged = normal(rng, T, D), normal(rng, T, D)
    W = [normal(rng, D, D) / math.sqrt(D) for _ in range(4)]
    W[0] = W[0] * spread
    many = torch.where(torch.eye(T).bool()[..., None], exchanged, x)  # (T, T, D): in row s, step s is another one
    out, scores, weights = _layer(torch.cat([x[None], many]), W, N, bug)
    reach = (out[1:] - out[0]).abs().amax(dim=-1).T  # (T, T): output t, input s
    reach = torch.where(reach > 1e-9, reach, 0.0)  # what is left below is rounding
    floor = 1 + torch.rand((), generator=rng).item()
    return Case(_losses(rng, bug, floor, below), floor, K, scores[0, 0], weights[0, 0], reach)


def _named(name_the_bug, rng, cases: list[tuple]) -> dict:
    """The names of the cases, which are (bug, T, N, K, spread, below), asked in an order that the seed decides."""
    order = torch.randperm(len(cases), generator=rng).tolist()
    return {"names": [name_the_bug(_case(rng, *cases[place])) for place in order]}


@probe("name_the_bug", "who looks ahead, and how far", weight=2)
def name_the_bug_future(name_the_bug, rng):
    cases = [
        ("right", 9, 3, 5, 1.0),
        ("right", 7, 2, 7, 1.0),
        ("no mask", 7, 3, 5, 1.0, True),
        ("no mask", 9, 2, 7, 1.0),
        ("mask off by one", 9, 3, 5, 1.0),
        ("mask off by one", 11, 2, 5, 1.0, True),
    ]
    return _named(name_the_bug, rng, cases)


@probe("name_the_bug", "whose weights sum to one", weight=2)
def name_the_bug_sums(name_the_bug, rng):
    cases = [
        ("right", 7, 3, 5, 1.0),
        ("mask after softmax", 9, 2, 7, 1.0),
        ("mask after softmax", 7, 3, 5, 1.0, True),
        ("softmax over queries", 9, 3, 5, 1.0, True),
        ("softmax over queries", 7, 2, 7, 1.0),
    ]
    return _named(name_the_bug, rng, cases)


@probe("name_the_bug", "the map is clean, and yet the past does not get through", weight=2)
def name_the_bug_reach(name_the_bug, rng):
    cases = [
        ("right", 11, 3, 5, 1.0),
        ("heads by view", 9, 3, 5, 1.0),
        ("heads by view", 7, 2, 7, 1.0),
        ("heads by view", 11, 3, 7, 1.0),
    ]
    return _named(name_the_bug, rng, cases)


@probe("name_the_bug", "sharp and flat maps, scaled and not", weight=2)
def name_the_bug_scale(name_the_bug, rng):
    cases = [
        ("right", 9, 2, 5, 8.0),
        ("right", 11, 3, 7, 0.3),
        ("not scaled", 11, 2, 7, 0.3),
        ("not scaled", 9, 3, 5, 2.0),
    ]
    return _named(name_the_bug, rng, cases)


@probe("name_the_bug", "a loss below the floor, with and without a leak in the layer", weight=2)
def name_the_bug_loss(name_the_bug, rng):
    cases = [
        ("right", 9, 3, 5, 1.0),
        ("targets not shifted", 7, 3, 5, 1.0),
        ("targets not shifted", 11, 2, 7, 1.0),
        ("no mask", 9, 2, 5, 1.0, True),
        ("softmax over queries", 11, 2, 7, 1.0, True),
    ]
    return _named(name_the_bug, rng, cases)


@probe("name_the_bug", "all eight, on as many steps as the head is wide", weight=0)
def name_the_bug_square(name_the_bug, rng):
    bugs = ("right", *LEAKS, "heads by view", "not scaled", "targets not shifted")
    return _named(name_the_bug, rng, [(bug, 6, 2, 6, 1.5, place % 2 == 0) for place, bug in enumerate(bugs)])
