"""How much a recipe learns in a processor second, and what each of its parts is worth: shared by learning_*.py.

Each of these scripts has a ``Recipe`` whose defaults are ours, ``learner(recipe, seed)``, and ``CHANGES``: what to set
differently to leave one idea out, and why it is there. Run as a script, it trains the whole recipe and each of the
others over three seeds and keeps the curves; the page on speed (docs/bench.md) shows them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

import torch

from unrolled.measurements import record

SEEDS = [0, 1, 2]
WHOLE = "the whole recipe"


class Learner(NamedTuple):
    """A network in training."""

    updates: Iterator[None]  # every next() is one update of its weights
    error: Callable[[], float]  # on the held-out part, the less the better
    every: int  # updates between two looks at it


class Change(NamedTuple):
    """One idea of a recipe: how it is left out, and why it is there."""

    without: dict[str, object]  # fields of the recipe
    why: str


def run(learner: Learner) -> dict[str, list[float]]:
    """Train to the end; the processor seconds of training, without the looks, and the error at each look."""
    seconds, errors, spent, done, last = [], [], 0.0, 0, -1
    while True:
        start = time.process_time()
        more = next(learner.updates, StopIteration) is not StopIteration
        spent += time.process_time() - start
        done += more
        if done != last and (not more or done % learner.every == 0):
            seconds.append(round(spent, 2))
            errors.append(float(f"{learner.error():.5g}"))
            last = done
        if not more:
            return {"seconds": seconds, "error": errors}


def leave_one_out(
    name: str, unit: str, learner: Callable[[object, int], Learner], recipe, changes: dict[str, Change]
) -> None:
    """Measure the whole recipe and the recipe without each of its ideas; keep the curves in ``<name>.json``."""
    torch.set_num_threads(1)
    since, runs = time.time(), {}
    for what, fields in [(WHOLE, {}), *((what, change.without) for what, change in changes.items())]:
        runs[what] = []
        for seed in SEEDS:
            torch.manual_seed(seed)
            runs[what].append(run(learner(replace(recipe, **fields), seed)))
            print(what, seed, {key: values[-1] for key, values in runs[what][-1].items()}, flush=True)
    print(record(name, SEEDS, {"unit": unit, "runs": runs}, since).name)
