"""Seconds that each chapter takes from top to bottom, one torch thread; fails over 120 (``make chapters-time``)."""

from __future__ import annotations

import sys
import time

import nbformat

from autograder.build import run
from autograder.course import chapter, chapters

MOST = 120


def main(names: list[str]) -> int:
    slow = 0
    for one in [chapter(name) for name in names] or chapters():
        notebook = nbformat.read(one.student, as_version=4)
        start = time.monotonic()
        run(notebook, one.student.parent)
        seconds = time.monotonic() - start
        slow += seconds > MOST
        print(f"{one.name:24} {seconds:6.1f} s{'  OVER 120 s' if seconds > MOST else ''}", flush=True)
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
