"""Twice the processes: what two of them do in the time of one, for pretraining and for grading."""

from __future__ import annotations

import sys

from harness import Case, row

from unrolled.measurements import FOLDER

TITLE = "Two processes against one"
TEXT = """The same work by two processes (*ours*) and by one (*peer*), in turns, in milliseconds of the wall clock: the
waiting for other programs counts here. If two cores are free, half is the best that can be. Pretraining shares every
batch between two processes under `torchrun` and adds up their gradients; grading has a dask scheduler with one or two
worker processes, while one writer records. What else it takes is on the page [Past one machine](scale.md)."""


def cases() -> list[Case]:
    if str(FOLDER) not in sys.path:
        sys.path.insert(0, str(FOLDER))
    import throughput

    return [
        Case("pretraining", lambda: _row("pretraining, a row of the batch", throughput.pretraining_rates())),
        Case("grading", lambda: _row("grading, a submission", throughput.grading_rates())),
    ]


def _row(name: str, rates: dict) -> list[dict]:
    return [row(name, 1000 / rates["two"], 1000 / rates["one"], None, "ms", why="no goal is set")]
