"""Run a command and watch it: what it costs with all its descendants, and what it leaves behind. Linux only."""

from __future__ import annotations

import ctypes
import os
import resource
import subprocess
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

PAGE = os.sysconf("SC_PAGE_SIZE")
PR_SET_CHILD_SUBREAPER = 36
FIFTH = 0.2
SETTLE_SECONDS = 10


@dataclass(frozen=True)
class Watched:
    """A command that has ended."""

    status: int
    cpu: float  # seconds, of all processes together
    wall: float  # seconds
    memory: tuple[tuple[float, float], ...]  # (second, megabytes of all processes together)
    left: dict[str, int]  # processes, files and mounts that were not there before
    said: str  # on stderr

    @property
    def growth(self) -> float:
        """Memory in the last fifth of the time, as a multiple of that in the second fifth, when caches are full."""
        end = self.memory[-1][0]
        early = [size for second, size in self.memory if FIFTH * end <= second < 2 * FIFTH * end]
        late = [size for second, size in self.memory if second >= (1 - FIFTH) * end]
        return _median(late) / _median(early)


def watched(command: list[str], folder: Path, every: float = 0.5) -> Watched:
    """Run a command in a folder to its end, and until all that it started has ended or ten seconds have passed."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)  # its orphans become ours, so their time is counted
    before, spent, start, memory = _traces(), _cpu_of_children(), time.monotonic(), []
    with tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=said)
        while process.poll() is None:
            memory.append((time.monotonic() - start, sum(map(_megabytes, _below(os.getpid())))))
            with suppress(subprocess.TimeoutExpired):
                process.wait(every)
        wall = time.monotonic() - start
        left = _settled(before)
        said.seek(0)
        return Watched(process.returncode, _cpu_of_children() - spent, wall, tuple(memory), left, said.read())


def _settled(before: dict[str, set]) -> dict[str, int]:
    """What is left when everything that is about to end has ended."""
    deadline = time.monotonic() + SETTLE_SECONDS
    while True:
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        now = _traces()
        left = {name: len(now[name] - before[name]) for name in now}
        if not any(left.values()) or time.monotonic() > deadline:
            return left
        time.sleep(0.05)


def _traces() -> dict[str, set]:
    """What a machine holds of us at this moment."""
    return {
        "processes": _below(os.getpid()),
        "files": {path.name for path in Path(tempfile.gettempdir()).iterdir() if "unrolled" in path.name},
        "mounts": set(Path("/proc/self/mountinfo").read_text("utf8").splitlines()),
    }


def _cpu_of_children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _below(pid: int) -> set[int]:
    """The processes that descend from one, by their parents' ids."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):  # it may just have ended
                parent = (entry / "stat").read_text("utf8", "replace").rpartition(")")[2].split()[1]
                children.setdefault(int(parent), []).append(int(entry.name))
    found, queue = set(), [pid]
    while queue:
        new = children.get(queue.pop(), [])
        found.update(new)
        queue += new
    return found


def _megabytes(pid: int) -> float:
    """Memory of a process that is backed by no file; what forks share counts in each of them."""
    try:
        _, resident, shared = Path(f"/proc/{pid}/statm").read_text("utf8").split()[:3]
    except OSError:
        return 0
    return (int(resident) - int(shared)) * PAGE / 2**20


def _median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]
