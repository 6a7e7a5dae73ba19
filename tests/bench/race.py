"""Learning per minute: what a recipe reaches on unseen data, against the processor seconds of its training.

A race has two sides, ours and a peer's, on the same data and the same split. Each run is a process of its own on a core
of its own, one thread; two run at a time: an LSTM's step then took 121.6 ms of the processor, and alone 122.4.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue
from typing import NamedTuple

import torch
from harness import HERE, CannotMeasure, write
from tqdm import tqdm

from unrolled.data import DataMissing
from unrolled.measurements import FOLDER

if str(FOLDER) not in sys.path:
    sys.path.insert(0, str(FOLDER))
from learning import SEEDS, Learner, curve, looks

CURVES = HERE / ".curves"  # runs that are done; `make bench` goes on with what is missing


class Race(NamedTuple):
    """Two recipes, each from a seed to a learner."""

    name: str
    unit: str  # of the error
    peer_name: str
    ours: Callable[[int], Learner]
    peer: Callable[[int], Learner]
    why: str  # where the goal is missed, the reason that is known


def both_sides(module: str, name: str) -> dict[str, list[dict]]:
    """The curves of ours over all seeds and of the peer, two runs at a time; one that is there is not made again."""
    jobs = [("peer", SEEDS[0]), *(("ours", seed) for seed in SEEDS)]
    cores: Queue[int] = Queue()
    for core in sorted(os.sched_getaffinity(0))[:2]:
        cores.put(core)

    def one(job: tuple[str, int]) -> dict:
        core = cores.get()
        try:
            for look in alone([sys.executable, __file__, module, name, job[0], str(job[1])], core):
                running[core] = look
                bar.set_postfix_str("; ".join(running.values()))
            bar.update()
            return json.loads(kept(module, name, *job).read_text())
        finally:
            running.pop(core, None)
            cores.put(core)

    running: dict[int, str] = {}  # what each core has said last
    pool = ThreadPoolExecutor(cores.qsize())
    with tqdm(total=len(jobs), desc=name, unit="run", disable=None, leave=False) as bar:
        try:
            curves = list(pool.map(one, jobs))
        finally:
            pool.shutdown(cancel_futures=True)
    return {side: [c for (s, _), c in zip(jobs, curves, strict=True) if s == side] for side in ("ours", "peer")}


def alone(words: list[str], core: int) -> Iterator[str]:
    """Run a program on one core, one thread, and hand on its lines; if it fails, say what it said last."""
    with tempfile.TemporaryFile("w+") as complaints:
        process = subprocess.Popen(
            words,
            env=os.environ | {"OMP_NUM_THREADS": "1"},
            stdout=subprocess.PIPE,
            stderr=complaints,
            text=True,
            preexec_fn=lambda: os.sched_setaffinity(0, {core}),
        )
        with process:
            yield from map(str.strip, process.stdout)
        if process.returncode:
            complaints.seek(0)
            raise CannotMeasure((complaints.read().strip().splitlines() or [f"{words} failed"])[-1])


def kept(module: str, name: str, side: str, seed: int) -> Path:
    """Where the curve of one run lies: another recipe has another place, one that runs in several races has one."""
    sources = [HERE / f"{module}.py", FOLDER / f"{module.replace('race', 'learning')}.py", FOLDER / "learning.py"]
    about = b"".join(path.read_bytes() for path in sources)
    recipe = getattr(race(module, name), side)
    number = [getattr(one, side) for one in importlib.import_module(module).RACES].index(recipe)
    return CURVES / f"{module}-{side}{number}-{seed}-{hashlib.sha256(about).hexdigest()[:16]}.json"


def forget() -> None:
    """Remove all curves, so that the next run makes them anew."""
    shutil.rmtree(CURVES, ignore_errors=True)


def at_half(curve: dict, seconds: float) -> float:
    """The error at the last look within so many seconds; the first look, if even that came later."""
    within = [e for s, e in zip(curve["seconds"], curve["error"], strict=True) if s <= seconds]
    return (within or curve["error"][:1])[-1]


def until(curve: dict, error: float) -> float | None:
    """The seconds of the first look at which the error was no larger; None if there is none.

    >>> until({"seconds": [1, 2, 4], "error": [3.0, 2.0, 1.5]}, 2.0)
    2
    """
    return next((s for s, e in zip(curve["seconds"], curve["error"], strict=True) if e <= error), None)


def race(module: str, name: str) -> Race:
    return next(one for one in importlib.import_module(module).RACES if one.name == name)


def main(module: str, name: str, side: str, seed: str) -> None:
    """Train one side with one seed, with a line for each look, and keep its curve."""
    path = kept(module, name, side, int(seed))
    if not path.exists():
        torch.set_num_threads(1)
        torch.manual_seed(int(seed))
        load = round(os.getloadavg()[0], 1)
        try:
            learner, found = getattr(race(module, name), side)(int(seed)), []
            for seconds, error in looks(learner):
                found.append((seconds, error))
                print(f"{side} {seconds:.0f} s {error:.4g}", flush=True)
        except DataMissing as missing:
            sys.exit(str(missing))
        CURVES.mkdir(exist_ok=True)
        write(path, curve(found) | {"load": load})


if __name__ == "__main__":
    main(*sys.argv[1:])
