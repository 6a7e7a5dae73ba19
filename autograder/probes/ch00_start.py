"""What the judge asks about the exercise of chapter 0."""

from __future__ import annotations

import torch

from autograder.probe import normal, probe

T = 7


def _keep(rng: torch.Generator) -> float:
    """A share between 0.6 and 0.9, so that keep and 1 - keep are far apart."""
    return 0.6 + 0.3 * torch.rand((), generator=rng).item()


@probe("leaky_average", "every state is right for random inputs")
def leaky_average_values(leaky_average, rng):
    return {"m": leaky_average(normal(rng, T), _keep(rng))}


@probe("leaky_average", "one input gives one state, mixed with the starting state 0")
def leaky_average_one_input(leaky_average, rng):
    return {"m": leaky_average(normal(rng, 1), _keep(rng))}


@probe("leaky_average", "a single push fades step by step")
def leaky_average_fades(leaky_average, rng):
    x = torch.zeros(T)
    x[1] = 1 + normal(rng, 1).item() ** 2
    return {"m": leaky_average(x, _keep(rng))}


@probe("leaky_average", "the result is right, and the inputs are as they were after the call")
def leaky_average_untouched(leaky_average, rng):
    x = normal(rng, T)
    m = leaky_average(x, _keep(rng))
    return {"m": m, "x after the call": x}


@probe("leaky_average", "keep = 0.5, where both shares are the same", weight=0)
def leaky_average_even_shares(leaky_average, rng):
    return {"m": leaky_average(normal(rng, T), 0.5)}
