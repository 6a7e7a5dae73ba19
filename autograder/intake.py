"""Take a submission apart without running it: only the source of solution cells is taken, by grade_id.

The notebook that is graded is the released one with those sources put in. Tags, metadata, outputs, extra cells,
deleted or moved cells of the submission cannot matter.
"""

from __future__ import annotations

import copy
import json
import stat
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from autograder.exercises import chapter_exercises
from autograder.source import is_unwritten

MAX_FILE = 20 * 2**20
MAX_CELL = 100_000


class Refused(Exception):
    """The file is not a submission; the message is one sentence that a student can act on."""


def read_sources(path: Path) -> list[tuple[str, str]]:
    """(grade_id, source) of every cell that has a grade_id, in file order; Refused if the file is no notebook."""
    if path.is_symlink() or not stat.S_ISREG(path.lstat().st_mode):
        raise Refused(f"{path.name} is not a regular file; hand in the notebook itself, not a link to it.")
    if path.stat().st_size > MAX_FILE:
        raise Refused(f"{path.name} is larger than {MAX_FILE // 2**20} MB; clear the outputs, save, hand in again.")
    try:
        notebook = json.loads(path.read_bytes())
        cells = notebook["cells"]
        return [pair for cell in cells if (pair := _solution(cell))]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise Refused(
            f"{path.name} is not a readable notebook; open it in JupyterLab, save it, and hand it in again."
        ) from None


def _solution(cell: dict) -> tuple[str, str] | None:
    grade_id = cell.get("metadata", {}).get("nbgrader", {}).get("grade_id")
    source = cell.get("source", "")
    source = "".join(source) if isinstance(source, list) else source
    if not isinstance(grade_id, str) or not isinstance(source, str) or len(source) > MAX_CELL:
        return None
    return grade_id, source


def rebuild(released: NotebookNode, sources: list[tuple[str, str]], chapter: str) -> NotebookNode:
    """The released notebook with the submitted sources in its solution cells.

    Where a cell was duplicated, the last copy that is not the untouched stub counts.
    """
    exercises = {exercise.id: exercise for exercise in chapter_exercises(chapter)}
    notebook = copy.deepcopy(released)
    for cell in notebook.cells:
        meta = cell.metadata.get("nbgrader", {})
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
        if meta.get("solution"):
            copies = [source for grade_id, source in sources if grade_id == meta["grade_id"]]
            exercise = exercises.get(meta["grade_id"])
            written = [s for s in copies if s != cell.source and not (exercise and is_unwritten(s, exercise))]
            cell.source = (written or copies or [cell.source])[-1]
    return notebook


def rebuild_file(path: Path, released_path: Path, chapter: str) -> NotebookNode:
    """As ``rebuild``, from files; a refused file becomes the released notebook, with the reason in its metadata."""
    released = nbformat.read(released_path, as_version=4)
    try:
        return rebuild(released, read_sources(path), chapter)
    except Refused as reason:
        notebook = rebuild(released, [], chapter)
        notebook.metadata["unrolled"] = {"refused": str(reason)}
        return notebook
