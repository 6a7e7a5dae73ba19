"""How much memory a computation needs at once: the running sum of what torch asks for and gives back, at its highest.

The allocations of one thread are the same in every run, so the number is counted, not measured.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from torch.profiler import ProfilerActivity, profile


@contextmanager
def without_stderr() -> Iterator[None]:
    """The profiler writes a line there whenever it starts and stops, past Python."""
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def peak_bytes(run: Callable[[], object]) -> int:
    """The most bytes that were taken at once beyond those at the start."""
    run()  # what stays after the first call is there already
    with without_stderr(), profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        run()
    events = profiler.profiler.kineto_results.events()
    held = highest = 0
    for event in sorted((e for e in events if e.name() == "[memory]"), key=lambda e: e.start_ns()):
        held += event.nbytes()
        highest = max(highest, held)
    return highest
