"""A course directory for a chapter of two exercises and one explanation: where the rest of a chapter has no part."""

from pathlib import Path

import nbformat

from autograder.course import Chapter, chapter
from autograder.course_directory import init_course

CHAPTER = chapter("01_recurrence")
KEPT = ("setup-2", "pad_batch", "check-pad_batch", "softmax", "check-softmax", "explain-position")


def make_course(folder: Path) -> Path:
    """A course directory in a folder, with the short chapter and its rubric."""
    solution = nbformat.read(CHAPTER.solution, as_version=4)
    solution.cells = [
        cell
        for cell in solution.cells
        if cell.metadata.get("nbgrader", {}).get("grade_id") in KEPT or cell.source.startswith("**Rubric")
    ]
    short = Chapter(CHAPTER.name, folder / "short")
    short.solution.parent.mkdir(parents=True)
    nbformat.write(solution, short.solution)
    init_course(folder / "course", [short])
    return folder / "course"
