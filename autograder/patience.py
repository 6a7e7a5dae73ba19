"""How long the judge waits for an answer: the time that the process had, not the time it stood in line for a processor.

On a machine with much else to do an honest answer may take ten times as long. Linux counts for each process how long it
was ready to run and could not; that much is added to its limit, up to a wall limit that no crowd can move.
"""

from __future__ import annotations

import select
import socket
import time
from contextlib import suppress
from pathlib import Path

LONGEST = 6  # times the limit: the most that anyone is waited for


class Patience:
    """Called before each read of a channel: returns when there is something to read, TimeoutError when time is up."""

    def __init__(self, channel: socket.socket, pid: int, seconds: float):
        self.pid, self.seconds = pid, seconds
        self.readable = select.poll()
        self.readable.register(channel, select.POLLIN)
        self.begin, self.queued = time.monotonic(), None

    def __call__(self) -> None:
        if self.readable.poll(20):  # nearly always, and then nothing has to be counted
            return
        if self.queued is None:
            self.queued = queued(self.pid)
        while (left := self._left()) > 0:
            if self.readable.poll(1000 * left + 1):
                return
        raise TimeoutError

    def in_line(self) -> float:
        """Seconds of this wait that were no fault of the process."""
        return 0.0 if self.queued is None else queued(self.pid) - self.queued

    def _left(self) -> float:
        elapsed = time.monotonic() - self.begin
        return min(self.seconds - (elapsed - self.in_line()), LONGEST * self.seconds - elapsed)


def queued(pid: int) -> float:
    """Seconds for which a process or its children were ready to run without a processor; 0 where nobody counts."""
    task = Path(f"/proc/{pid}")
    nanoseconds = 0
    with suppress(OSError, ValueError, IndexError):
        nanoseconds = int((task / "schedstat").read_text().split()[1])
        children = (task / f"task/{pid}/children").read_text().split()
        return nanoseconds / 1e9 + sum(queued(int(child)) for child in children)
    return nanoseconds / 1e9
