"""Right answers to the exercise of chapter 15, in other styles."""

from __future__ import annotations

import math

import torch

from autograder.exercises.ch15_capstone import NAME_THE_BUG

# ---- 15.1 name_the_bug ----


@NAME_THE_BUG.variant
def name_the_bug__loops(case):
    """Number by number, without a tensor operation."""
    w, T = case.weights.tolist(), len(case.weights)
    ahead = [s - t for t in range(T) for s in range(T) if s > t and w[t][s] > 1e-6]
    if ahead:
        return "mask off by one" if max(ahead) == 1 else "no mask"
    if any(abs(sum(row) - 1) > 0.005 for row in w):
        down = [sum(w[t][s] for t in range(T)) for s in range(T)]
        return "mask after softmax" if any(abs(total - 1) > 0.005 for total in down) else "softmax over queries"
    if any(case.reach[t, s] < 1e-9 for t in range(T) for s in range(t)):
        return "heads by view"
    for t in range(1, T):
        powers = [math.exp(case.scores[t, s] / math.sqrt(case.K) - case.scores[t].max()) for s in range(t + 1)]
        if any(abs(p / sum(powers) - w[t][s]) > 0.005 for s, p in enumerate(powers)):
            return "not scaled"
    return "right" if case.losses[-1] > case.floor else "targets not shifted"


@NAME_THE_BUG.variant
def name_the_bug__each_mistake_repeated(case):
    """Make every mistake again from the scores, and see which one gives these weights."""
    T = len(case.weights)
    open_ = torch.ones(T, T).tril().bool()
    scaled = case.scores / math.sqrt(case.K)
    one_more = torch.ones(T, T).tril(1).bool()
    made = {
        "no mask": scaled.softmax(-1),
        "mask off by one": scaled.masked_fill(~one_more, -1e9).softmax(-1),
        "mask after softmax": scaled.softmax(-1) * open_,
        "softmax over queries": scaled.masked_fill(~open_, -1e9).softmax(0),
        "not scaled": case.scores.masked_fill(~open_, -1e9).softmax(-1),
    }
    for name, weights in made.items():
        if (weights - case.weights).abs().max() < 1e-3:
            return name
    if case.reach[open_].min() == 0:
        return "heads by view"
    return "targets not shifted" if case.losses[-5:].mean() < case.floor else "right"


@NAME_THE_BUG.variant
def name_the_bug__slope(case):
    """The scale from the slope of the log-weights over the scores in the last row."""
    weights, T = case.weights.numpy(), case.weights.shape[0]
    beyond, next_ = case.weights.triu(2).sum(), case.weights.diagonal(1).sum()
    if beyond > 0:
        return "no mask"
    if next_ > 0:
        return "mask off by one"
    if abs(weights.sum(1) - 1).max() > 0.01:
        return "softmax over queries" if abs(weights.sum(0) - 1).max() < 0.01 else "mask after softmax"
    if case.reach.count_nonzero() < T * (T + 1) // 2:
        return "heads by view"
    first, last = case.scores[T - 1].argmax(), case.scores[T - 1].argmin()
    rise = (case.weights[T - 1, first] / case.weights[T - 1, last]).log()
    slope = rise / (case.scores[T - 1, first] - case.scores[T - 1, last])
    if slope > (1 + 1 / math.sqrt(case.K)) / 2:
        return "not scaled"
    return "targets not shifted" if case.losses.min() < 0.9 * case.floor else "right"


@NAME_THE_BUG.variant
def name_the_bug__a_list_of_tests(case):
    """One test for each name, in an order; the first that holds counts."""
    T = case.weights.shape[-1]
    later = torch.arange(T)[None, :] > torch.arange(T)[:, None]
    far = torch.arange(T)[None, :] > torch.arange(T)[:, None] + 1
    powers = torch.exp(case.scores / case.K**0.5 - case.scores.amax(-1, keepdim=True) / case.K**0.5) * ~later
    tests = [
        ("no mask", case.weights[far].max() > 0),
        ("mask off by one", case.weights[later].max() > 0),
        ("softmax over queries", case.weights[-1].sum() > 1.001),
        ("mask after softmax", case.weights[0, 0] < 0.999),
        ("heads by view", not case.reach[~later].all()),
        ("not scaled", (case.weights - powers / powers.sum(-1, keepdim=True)).abs().max() > 0.003),
        ("targets not shifted", case.losses.min() < case.floor),
    ]
    return next((name for name, holds in tests if holds), "right")
