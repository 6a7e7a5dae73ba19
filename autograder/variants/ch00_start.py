"""Right answers to the exercise of chapter 0, in other styles."""

from __future__ import annotations

import numpy as np
import torch

from autograder.exercises.ch00_start import LEAKY_AVERAGE


@LEAKY_AVERAGE.variant
def leaky_average__list_of_floats(x, keep):
    states, m = [], 0.0
    for value in x.tolist():
        m += (1 - keep) * (value - m)
        states.append(m)
    return states


@LEAKY_AVERAGE.variant
def leaky_average__weighted_sum(x, keep):
    t = torch.arange(len(x))
    age = t[:, None] - t
    weights = torch.where(age >= 0, (1 - keep) * keep ** age.clamp(min=0), 0.0)
    return weights @ x


@LEAKY_AVERAGE.variant
def leaky_average__numpy(x, keep):
    m = np.zeros(len(x) + 1)
    for t, value in enumerate(np.asarray(x), start=1):
        m[t] = keep * m[t - 1] + (1 - keep) * value
    return m[1:]


@LEAKY_AVERAGE.variant
def leaky_average__recursion(x, keep):
    def state(t):
        return 0 if t < 0 else keep * state(t - 1) + (1 - keep) * x[t]

    return [state(t) for t in range(len(x))]
