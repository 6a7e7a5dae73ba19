"""How the made-up class hands in: downloads as Moodle and Canvas make them, and plain folders, with the times.

Each chapter comes by another way. The first round is what lies there when grading begins, the second what comes after.
"""

from __future__ import annotations

import csv
import os
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from autograder.classroom.students import CHAPTERS, MadeUp, Student, Work
from autograder.course import Chapter
from autograder.demo import fill

NO_NOTEBOOK = b"%PDF-1.4 a picture of my screen"


@dataclass(frozen=True)
class File:
    """One attempt as it lies on a student's disk."""

    work: Work
    number: int  # of the attempt, from 0
    name: str
    data: bytes
    time: datetime


def write_roster(path: Path, students: list[Student]) -> None:
    """The list of the class, for nbgrader's import and for ``collect --roster``."""
    with path.open("w", encoding="utf8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["id", "first_name", "last_name", "email", "lms_user_id"])
        table.writerows([s.id, s.first, s.last, f"{s.id}@example.org", s.lms] for s in students)


def files_of(made: MadeUp, released: NotebookNode, stranger: NotebookNode, explain: str) -> list[File]:
    """Every attempt as a file; ``stranger`` is the notebook of another chapter, ``explain`` the cell in words."""
    found = []
    for work in made.works:
        for number, answers in enumerate(work.attempts):
            if work.file == "nothing":
                continue
            written = {name: answer.source for name, answer in answers.items() if answer.source is not None}
            if work.explanation:
                written[explain] = work.explanation
            notebook = fill(released, written)
            data = _as_bytes(work, stranger if work.file == "another chapter" else notebook)
            name = "screen.pdf" if work.file == "no notebook" else f"{Chapter(made.chapter).slug}.ipynb"
            found.append(File(work, number, name, data, work.times[number]))
    return found


def _as_bytes(work: Work, notebook: NotebookNode) -> bytes:
    if work.file == "no notebook":
        return NO_NOTEBOOK
    if work.file == "empty":
        return b""
    if work.file == "cells deleted":
        gone = {name for name, answer in work.attempts[-1].items() if answer.source is None}
        notebook.cells = [
            cell
            for cell in notebook.cells
            if (meta := cell.metadata.get("nbgrader", {})).get("grade_id") not in gone and not _is_check(meta)
        ]
    data = nbformat.writes(notebook).encode()
    return data[: len(data) // 2] if work.file == "truncated" else data


def _is_check(meta: dict) -> bool:
    return bool(meta.get("grade")) and not meta.get("solution")


def second_round(files: list[File]) -> list[File]:
    """What comes when the rest is graded: last attempts, and an old one that somebody sends once more."""
    again = [file for file in files if file.work.after_grading and file.number == len(file.work.attempts) - 1]
    old = next(file for file in files if len(file.work.attempts) > 1 and not file.work.after_grading)
    return [*again, old]


def first_round(files: list[File]) -> list[File]:
    """What lies there when grading begins, the older attempts first."""
    return [file for file in files if not (file.work.after_grading and file.number)]


Download = tuple[list[Path], Path | None]  # what to give to collect: the downloads, and a table of times


def from_moodle(folder: Path, files: list[File]) -> list[Download]:
    """One zip per attempt, since Moodle keeps the newest only, each with the grading worksheet of its day."""
    found = []
    for number in sorted({file.number for file in files}):
        own = [file for file in files if file.number == number]
        archive, worksheet = folder / f"moodle-{number + 1}.zip", folder / f"worksheet-{number + 1}.csv"
        with zipfile.ZipFile(archive, "w") as packed:
            for file in own:
                who = file.work.student
                packed.writestr(f"{who.first} {who.last}_{who.lms}_assignsubmission_file_/{file.name}", file.data)
        rows = [(f"Participant {file.work.student.lms}", f"{file.time:%A, %d %B %Y, %I:%M %p} UTC") for file in own]
        _write_table(worksheet, ("Identifier", "Last modified (submission)"), rows)
        found.append(([archive], worksheet))
    return found


def from_canvas(folder: Path, files: list[File]) -> list[Download]:
    """One zip with all attempts: Canvas numbers the files, and calls the second one of a name x-1.ipynb."""
    archive, times = folder / "canvas.zip", folder / "times.csv"
    newest: dict[str, datetime] = {}
    with zipfile.ZipFile(archive, "w") as packed:
        for file in sorted(files, key=lambda file: file.time):
            who, late = file.work.student, "LATE_" if file.work.hours > 0 else ""
            name = Path(file.name)
            called = f"{name.stem}-{file.number}{name.suffix}" if file.number else file.name
            number = 900_000 + int((file.time - datetime(2026, 1, 1, tzinfo=file.time.tzinfo)).total_seconds() // 60)
            packed.writestr(f"{who.last}{who.first}_{late}{who.lms}_{number}_{called}".lower().replace(
                "_late_", "_LATE_"), file.data)  # fmt: skip
            newest[who.id] = file.time
    _write_table(times, ("id", "time"), [(who, moment.isoformat()) for who, moment in newest.items()])
    return [([archive], times)]


def in_folders(folder: Path, files: list[File]) -> list[Download]:
    """A folder per student with nbgrader's time beside the notebook; newer attempts lie in a folder of their own."""
    found = []
    for number in sorted({file.number for file in files}):
        place = folder / f"handed-in-{number + 1}"
        for file in files:
            if file.number == number:
                target = place / file.work.student.id / file.work.chapter / file.name
                target.parent.mkdir(parents=True)
                target.write_bytes(file.data)
                os.utime(target, (file.time.timestamp(), file.time.timestamp()))
                (target.parent / "timestamp.txt").write_text(f"{file.time:%Y-%m-%d %H:%M:%S} UTC\n")
        found.append(([place], None))
    return found


WAYS: dict[str, Callable[[Path, list[File]], list[Download]]] = dict(
    zip(CHAPTERS, (from_moodle, from_canvas, in_folders), strict=True)
)


def _write_table(path: Path, head: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
    with path.open("w", encoding="utf8", newline="") as file:
        csv.writer(file).writerows([head, *rows])


def explain_cell(released: NotebookNode) -> str:
    """The id of the cell that a person grades."""
    cells = [cell for cell in released.cells if cell.cell_type == "markdown"]
    return next(cell.metadata.nbgrader.grade_id for cell in cells if cell.metadata.get("nbgrader", {}).get("solution"))


def read_released(folder: Path, chapter: str) -> NotebookNode:
    return nbformat.read(folder / "release" / chapter / f"{Chapter(chapter).slug}.ipynb", as_version=4)
