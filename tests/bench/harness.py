"""Side by side: ours and a peer in one run, in turns, on one thread; medians and their ratio.

A group is a module ``group_NAME`` with ``TITLE``, ``TEXT`` and ``cases()``; a case has a name and gives rows. A row is
what results.json holds: name, ours, peer, ratio, goal, holds, and besides group, unit, machine, why and points.
"""

from __future__ import annotations

import gc
import json
import os
import platform
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import torch

HERE = Path(__file__).parent
RESULTS = HERE / "results.json"


class CannotMeasure(Exception):
    """Something that a measurement needs is missing; the message says what."""


class Case(NamedTuple):
    """Something to be measured: one or more rows that belong together."""

    name: str
    run: Callable[[], list[dict]]


def row(name: str, ours: float, peer: float, goal: float | None, unit: str, **more) -> dict:
    """One line of the results; without a goal nothing can hold or fail."""
    ratio = ours / peer
    holds = None if goal is None else ratio <= goal
    return {
        "name": name,
        "ours": ours,
        "peer": peer,
        "ratio": ratio,
        "goal": goal,
        "holds": holds,
        "unit": unit,
        **more,
    }


def in_turns(ways: dict[str, Callable[[], object]], seconds: float = 2.0, least: int = 5) -> dict[str, float]:
    """The median processor milliseconds of each way; round after round, each round begins with another one.

    Processor time of one thread does not count what other programs take, but it does count what they push out of the
    caches; so all ways take turns, and the ratio is what is read.
    """
    names, times = list(ways), {name: [] for name in ways}
    for name in names:
        ways[name]()  # to warm up
    gc.collect()
    gc.disable()
    try:
        end, done = time.monotonic() + seconds, 0
        while done < least or (time.monotonic() < end and done < 200):
            for k in range(len(names)):
                name = names[(k + done) % len(names)]
                start = time.process_time()
                ways[name]()
                times[name].append(1000 * (time.process_time() - start))
            done += 1
    finally:
        gc.enable()
    return {name: statistics.median(values) for name, values in times.items()}


def machine(load: float | None = None, own: int = 1) -> str:
    """What the numbers were measured on, and how busy it was: its load now, or then; own is how much of it is ours."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        processor = next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        processor = platform.processor() or platform.machine()
    kind = torch.backends.cpu.get_cpu_capability()
    about = f"{processor} ({kind}), {os.cpu_count()} cores, {platform.system()}, one thread"
    versions = f"Python {platform.python_version()}, torch {torch.__version__.split('+')[0]}"
    load = os.getloadavg()[0] if load is None else load
    busy = "busy with other work, " * (load > own + 0.5)
    return f"{about}; {versions}; {busy}load {load:.1f} at the start; {time.strftime('%Y-%m-%d')}"


def measure(group: str, cases: list[Case], partial: Path) -> Iterator[tuple[Case, list[dict]]]:
    """Run the cases that ``partial`` does not hold yet; it grows with each, so that a stopped run goes on there."""
    found = json.loads(partial.read_text()) if partial.exists() else {}
    about = machine()
    for case in cases:
        if case.name not in found:
            torch.manual_seed(0)
            found[case.name] = [{"machine": about, **one, "group": group} for one in case.run()]
            write(partial, found)
        yield case, found[case.name]


def write(path: Path, document) -> None:
    """Whole or not at all."""
    other = path.with_suffix(".new")
    other.write_text(json.dumps(document, indent=1) + "\n")
    other.replace(path)


def merge(group: str, rows: list[dict], groups: tuple[str, ...]) -> list[dict]:
    """Put the rows of a group into results.json, in the place of its earlier ones; groups in their order."""
    kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else []
    by_group = {name: [one for one in kept if one["group"] == name] for name in groups}
    by_group[group] = rows
    merged = [rounded(one) for name in groups for one in by_group[name]]
    write(RESULTS, merged)
    return merged


def rounded(one: dict) -> dict:
    """Four significant digits are more than a measurement is worth; ratio and verdict are those of the kept numbers."""
    ours, peer = float(f"{one['ours']:.4g}"), float(f"{one['peer']:.4g}")
    again = row(one["name"], ours, peer, one["goal"], one["unit"])
    return {**one, **again, "ratio": round(again["ratio"], 3)}
