"""Take a submission apart without running it: only the source of solution cells is taken, by grade_id.

The notebook that is graded is the released one with those sources put in. Tags, metadata, outputs, extra cells and
files, deleted or moved cells of the submission cannot matter.
"""

from __future__ import annotations

import copy
import json
import os
import re
import stat
import time
from functools import lru_cache
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from autograder.errors import CourseError
from autograder.exercises import chapter_exercises
from autograder.source import is_unwritten, without_magics

MAX_FILE = 20 * 2**20
MAX_CELL = 100_000
READINGS = 4  # of a file that changes while it is read
ARCHIVES = {b"\x1f\x8b": "gzip", b"PK\x03\x04": "zip", b"7z\xbc\xaf": "7z", b"Rar!": "rar"}


class Refused(Exception):
    """The file is not a submission; the message is one sentence that a student can act on."""


class Unreadable(CourseError):
    """The file cannot be read at present, through no fault of the student's."""


def grade_id(cell: NotebookNode) -> str:
    """The id under which a cell is graded; empty if it is not."""
    return cell.metadata.get("nbgrader", {}).get("grade_id", "")


def is_answer(cell: NotebookNode) -> bool:
    """True for a cell that the student writes."""
    return bool(cell.metadata.get("nbgrader", {}).get("solution"))


def find_notebook(folder: Path, name: str) -> Path:
    """The notebook in the folder of a submission: the one of this name, or else the only one there is."""
    try:
        for place in (folder.parent, folder):
            if place.is_symlink():
                raise Refused(f"{shown(place.name)} is a link; hand in the notebook itself, not a link to it.")
        if not folder.is_dir():
            raise Refused(f"{folder.name} is not a folder; hand in a folder of this name with {name} in it.")
        present = os.listdir(folder)
    except PermissionError:
        raise Refused(f"{folder.name} may not be read; allow others to read the folder, hand in again.") from None
    if name in present:
        return folder / name
    notebooks = [path for path in (*folder.glob("*"), *folder.glob("[!._]*/*")) if _may_be_notebook(path)]
    if len(notebooks) == 1:
        return notebooks[0]
    if notebooks:
        raise Refused(f"There are {len(notebooks)} notebooks and none is called {name}; hand in one, under this name.")
    others = [shown(other) for other in sorted(present) if not other.startswith(".")][:3]
    instead = f" (there is {', '.join(others)})" if others else ""
    raise Refused(f"There is no {name} in the submission{instead}; hand in the notebook itself, under this name.")


def _may_be_notebook(path: Path) -> bool:
    """True for x.ipynb, and for what browsers make of it: X.IPYNB, x.ipynb.txt, x.ipynb.json."""
    return ".ipynb" in path.name.lower() and not path.name.startswith(".") and not path.is_dir()


def shown(name: str) -> str:
    """A name that a student chose, so that a message can hold it: short, and nothing that a page could run."""
    return re.sub(r"[^\w .,()+-]", "?", name)[:80]


def own_sources(path: Path) -> list[tuple[str, str]]:
    """As ``read_sources``, of a student's own notebook; what would be refused is a CourseError."""
    try:
        return read_sources(path)
    except Refused as reason:
        raise CourseError(str(reason)) from None


def read_sources(path: Path) -> list[tuple[str, str]]:
    """(grade_id, source) of every cell that has an id, in file order; Refused if the file is no notebook."""
    data = read_file(path)
    try:
        text = data.decode(json.detect_encoding(data), "replace").strip("\0\ufeff")
        notebook = json.loads(text, strict=False, parse_int=float)  # no number in it matters, however long
        cells = _cells(notebook)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise Refused(f"{shown(path.name)} {_what_it_is(data)}") from None
    return [pair for cell in cells if (pair := _solution(cell))]


def read_file(path: Path) -> bytes:
    """The bytes of a regular file, all of one moment; never waits, never follows a link."""

    def opener(name: str, flags: int) -> int:
        return os.open(name, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))

    for _ in range(READINGS):
        try:
            _require_small_file(path, path.lstat())
            with open(path, "rb", opener=opener) as file:
                before = os.fstat(file.fileno())
                _require_small_file(path, before)
                data = file.read(MAX_FILE + 1)
                after = os.fstat(file.fileno())
        except PermissionError:
            raise Refused(f"{shown(path.name)} may not be read; allow others to read it, hand in again.") from None
        except OSError as error:
            raise Unreadable(f"{path} cannot be read ({error.strerror}); grade again when it can.") from None
        if (before.st_mtime_ns, before.st_size) == (after.st_mtime_ns, after.st_size) and len(data) == after.st_size:
            return data
        time.sleep(0.1)
    raise Unreadable(f"{path} changes while it is read; grade again when it is complete.")


def _require_small_file(path: Path, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise Refused(f"{shown(path.name)} is not a regular file; hand in the notebook itself, not a link to it.")
    if status.st_size > MAX_FILE:
        limit = f"{MAX_FILE // 2**20} MB"
        raise Refused(f"{shown(path.name)} is larger than {limit}; clear the outputs, save, hand in again.")


def _cells(notebook: dict) -> list[dict]:
    """The cells, which nbformat 3 keeps in worksheets; what is no cell is left out, unless nothing is left."""
    if "cells" in notebook:
        found = notebook["cells"]
    else:
        found = [cell for sheet in notebook["worksheets"] for cell in sheet["cells"]]
    cells = [cell for cell in found if isinstance(cell, dict)]
    if not isinstance(found, list) or (found and not cells):
        raise TypeError("no cells")
    return cells


def _what_it_is(data: bytes) -> str:
    """The rest of the sentence about a file that is not a notebook."""
    start = data[:1000].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    for magic, kind in ARCHIVES.items():
        if data.startswith(magic):
            return f"is a {kind} archive; unpack it and hand in the notebook itself."
    if start.startswith((b"<!doctype", b"<html", b"<?xml")):
        return "is a web page; in JupyterLab choose File, Download, and hand in what that gives."
    if b"<<<<<<< " in data and b">>>>>>> " in data:
        return "holds the conflict markers of git (<<<<<<<); settle the conflict, save the notebook, hand it in again."
    empty = "" if data.strip(b"\xef\xbb\xbf\xff\xfe\0 \t\r\n") else " (the file is empty)"
    return f"is not a readable notebook; open it in JupyterLab, save it, and hand it in again{empty}."


def _solution(cell: dict) -> tuple[str, str] | None:
    """The id of a cell and its source. The build gives both the same name, so one of them may be lost."""
    name = cell
    for key in ("metadata", "nbgrader", "grade_id"):
        name = name.get(key) if isinstance(name, dict) else None
    name = name if isinstance(name, str) else cell.get("id")
    source = cell.get("source", cell.get("input"))
    return (name, _text(source)) if isinstance(name, str) else None


def _text(source: object) -> str:
    """The source as one string that can be written anywhere; a cell that has none says so when it runs."""
    if source is None:
        return ""
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        source = "".join(source)
    if not isinstance(source, str):
        return "raise ValueError('the source of this cell is not text; write it again in a new notebook')"
    if len(source) > MAX_CELL:
        return f"raise ValueError('this cell is longer than {MAX_CELL:,} characters; shorten it')"
    return source.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def rebuild(released: NotebookNode, sources: list[tuple[str, str]], chapter: str) -> NotebookNode:
    """The released notebook with the submitted sources in its solution cells.

    Where a cell was duplicated, the last copy that is not the untouched stub counts.
    """
    exercises = {exercise.id: exercise for exercise in chapter_exercises(chapter)}
    copies: dict[str, list[str]] = {}
    for name, source in sources:
        copies.setdefault(name, []).append(source)
    notebook = copy.deepcopy(released)
    for cell in notebook.cells:
        name = grade_id(cell)
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
        if is_answer(cell) and name in copies:
            exercise, newest_first = exercises.get(name), copies[name][::-1]
            written = (s for s in newest_first if s != cell.source and not (exercise and is_unwritten(s, exercise)))
            cell.source = next(written, newest_first[0]) if len(newest_first) > 1 else newest_first[0]
            if cell.cell_type == "code":
                cell.source = without_magics(cell.source)
    return notebook


@lru_cache(maxsize=4)
def _released(path: Path, changed: int) -> NotebookNode:
    """A released notebook without outputs, read once as long as it does not change."""
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = []
    return notebook


def rebuild_submission(folder: Path, released_path: Path, chapter: str) -> NotebookNode:
    """As ``rebuild``, from a folder; what is refused becomes the released notebook, with the reason in its metadata."""
    released = _released(released_path, released_path.stat().st_mtime_ns)
    graded = {grade_id(cell) for cell in released.cells if is_answer(cell)}
    try:
        path = find_notebook(folder, released_path.name)
        sources = read_sources(path)
        if not graded & {name for name, _ in sources}:
            raise Refused(f"{shown(path.name)} holds no exercise of {chapter}; hand in the notebook of this chapter.")
        return rebuild(released, sources, chapter)
    except Refused as reason:
        notebook = rebuild(released, [], chapter)
        notebook.metadata["unrolled"] = {"refused": str(reason)}
        return notebook
