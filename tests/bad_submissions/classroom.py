"""A course directory with a short chapter, honest answers to it, and the grader as an instructor would start it."""

import ctypes
import json
import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat

from autograder.course import chapter
from autograder.demo import fill
from autograder.exercises import find
from autograder.source import stub_cell, written_cell

CHAPTER = chapter("01_recurrence")
FILE = f"{CHAPTER.slug}.ipynb"
PAD, SOFTMAX = written_cell(find("pad_batch")), written_cell(find("softmax"))
STUB = stub_cell(find("softmax"))
FULL = {"pad_batch": 2, "softmax": 2}


def notebook(course: Path, **answers: str) -> dict:
    """The released notebook with right answers, or with these, as plain JSON data."""
    released = nbformat.read(course / "release" / CHAPTER.name / FILE, as_version=4)
    return json.loads(nbformat.writes(fill(released, {"pad_batch": PAD, "softmax": SOFTMAX} | answers)))


def place(course: Path, student: str, content: bytes | dict | None, name: str = FILE) -> Path:
    """Hand in a file; the folder that it is in."""
    folder = course / "submitted" / student / CHAPTER.name
    folder.mkdir(parents=True)
    if content is not None:
        (folder / name).write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return folder


def honest_class(course: Path) -> dict[str, dict[str, float]]:
    """Students that hand in what they should, first, last and in between, and the marks they deserve."""
    forgets_to_shift = "def softmax(o):\n    return o.exp() / o.exp().sum(-1, keepdim=True)"
    deserved = {}
    for student, answers in (
        ("0 first", {}),
        ("m in between", {"softmax": STUB}),
        ("n not shifted", {"softmax": forgets_to_shift}),
        ("zz last", {"explain-position": "Because the order is lost."}),
    ):
        place(course, student, notebook(course, **answers))
        deserved[student] = FULL
    deserved["m in between"] = FULL | {"softmax": 0}
    deserved["n not shifted"] = FULL | {"softmax": 1.43}
    return deserved


def copy_course(course: Path, target: Path) -> Path:
    return Path(shutil.copytree(course, target, symlinks=True))


def run(course: Path, *command: str) -> subprocess.CompletedProcess:
    """A command in a course directory, which may not read what a file's mode forbids, even if root starts it."""
    program = Path(sys.executable).parent / command[0]
    return subprocess.run(
        [sys.executable, __file__, program, *command[1:]],
        cwd=course,
        env={**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "200"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=600,
    )


def respect_modes() -> None:
    """Give up root's right to read and write everything; programs that this process starts have it again."""
    libc = ctypes.CDLL(None, use_errno=True)
    header, sets = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    assert libc.capget(header, sets) == 0
    for i in (0, 1):  # effective, permitted
        sets[i] &= ~0b110  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
    assert libc.capset(header, sets) == 0


if __name__ == "__main__":
    respect_modes()
    sys.path[0] = ""
    sys.argv = sys.argv[1:]
    runpy.run_path(sys.argv[0], run_name="__main__")
