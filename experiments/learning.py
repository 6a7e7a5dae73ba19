"""How much a recipe learns in a processor second, and what each of its parts is worth: shared by learning_*.py.

Each of these scripts has a ``Recipe`` whose defaults are ours, ``learner(recipe, seed)``, and ``CHANGES``: what to set
differently to leave one idea out, and why it is there. Run as a script, it trains the whole recipe and each of the
others over three seeds and keeps the curves; the page on speed (docs/bench.md) shows them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.optim import Optimizer
from tqdm import tqdm

from unrolled.measurements import record
from unrolled.schedules import linear_warmup_decay

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


def train(
    losses: Iterator[Tensor],
    optimizers: Sequence[Optimizer],
    updates: int,
    step_size: Callable[[int], float],
    clipped: Sequence[Tensor],
) -> Iterator[None]:
    """So many updates, each from the next loss.

    Args:
        losses: of one batch after the other.
        optimizers: who make an update together.
        updates: how many.
        step_size: of all of them, from the number of updates done.
        clipped: the weights whose gradient is cut to the length 1 if it is longer.

    >>> w = nn.Parameter(torch.tensor(5.0))
    >>> sgd = torch.optim.SGD([w])
    >>> for _ in train(iter(lambda: 3 * w, None), [sgd], 2, lambda done: 1 - done / 2, [w]):
    ...     print(round(w.item(), 3))
    4.0
    3.5
    """
    for done, loss in zip(range(updates), losses, strict=False):
        for optimizer in optimizers:
            for group in optimizer.param_groups:
                group["lr"] = step_size(done)
            optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(clipped, 1.0)
        for optimizer in optimizers:
            optimizer.step()
        yield


def step_sizes(peak: float, warmup: int, updates: int, falls: bool = True) -> Callable[[int], float]:
    """From the number of updates done: to the peak and to zero, along two lines, but zero at none; or always the peak.

    >>> [step_sizes(1.0, 2, 4)(done) for done in range(4)]
    [0.5, 1.0, 0.6666666666666666, 0.3333333333333333]
    """
    if not falls:
        return lambda done: peak
    return lambda done: linear_warmup_decay(done + 1, warmup, updates + 1, peak)


def looks(learner: Learner) -> Iterator[tuple[float, float]]:
    """Train to the end; at each look the processor seconds of training so far, without the looks, and the error."""
    spent, done, last = 0.0, 0, -1
    while True:
        start = time.process_time()
        more = next(learner.updates, StopIteration) is not StopIteration
        spent += time.process_time() - start
        done += more
        if done != last and (not more or done % learner.every == 0):
            yield round(spent, 2), float(f"{learner.error():.5g}")
            last = done
        if not more:
            return


def curve(found: Iterable[tuple[float, float]]) -> dict[str, tuple[float, ...]]:
    """All looks of a run.

    >>> curve([(1.0, 2.5), (2.0, 1.5)])
    {'seconds': (1.0, 2.0), 'error': (2.5, 1.5)}
    """
    return dict(zip(("seconds", "error"), zip(*found, strict=True), strict=True))


def leave_one_out(
    name: str, unit: str, learner: Callable[[object, int], Learner], recipe, changes: dict[str, Change]
) -> None:
    """Measure the whole recipe and the recipe without each of its ideas; keep the curves in ``<name>.json``."""
    torch.set_num_threads(1)
    without = {WHOLE: {}} | {what: change.without for what, change in changes.items()}
    since, runs = time.time(), {what: [] for what in without}
    for what, seed in tqdm([(what, seed) for what in without for seed in SEEDS], unit="run", disable=None):
        torch.manual_seed(seed)
        runs[what].append(curve(looks(learner(replace(recipe, **without[what]), seed))))
        tqdm.write(f"{what}, seed {seed}: { ({key: values[-1] for key, values in runs[what][-1].items()}) }")
    print(record(name, SEEDS, {"unit": unit, "runs": runs}, since).name)
