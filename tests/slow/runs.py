"""Grading runs that are started, watched and repeated."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from nbgrader.api import Gradebook

BIN = Path(sys.executable).parent


def command(*words: str, folder: Path, **options) -> subprocess.Popen:
    environment = os.environ | {"PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(words, cwd=folder, env=environment, text=True, **options)


def again(undisturbed: Path, folder: Path) -> Path:
    """The same course directory with nothing graded."""
    shutil.copytree(undisturbed, folder, ignore=shutil.ignore_patterns("autograded", "feedback", "verdicts.log"))
    with Gradebook(f"sqlite:///{folder}/gradebook.db", "unrolled") as gradebook:
        for student in list(gradebook.students):
            gradebook.remove_student(student.id)
    return folder


def wait_for_verdicts(folder: Path, count: int) -> None:
    for _ in range(6000):
        log = folder / "verdicts.log"
        if log.exists() and log.read_bytes().count(b'"recorded"') >= count:
            return
        time.sleep(0.05)
    raise AssertionError("no verdicts came")
