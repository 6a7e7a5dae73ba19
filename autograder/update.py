"""A student's work in a newer release: answers go to their cells by grade_id, and nothing that was written is lost.

Answers whose exercise is gone and cells that the student added stand at the end of the new notebook; the old one is
kept beside it. Nothing is run.
"""

from __future__ import annotations

import ast
import re
import shutil
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from autograder.build import write
from autograder.exercise import CourseError, Exercise
from autograder.exercises import chapter_exercises
from autograder.intake import grade_id, is_answer, own_sources, rebuild
from autograder.source import functions_in, is_unwritten

KEPT = "## Kept from your earlier notebook\n\nThis has no place in the new release. It is not graded here."
BACKUP = ".before-update-"
OF_THE_BUILD = re.compile(r"\d\d_\w+-\d{3}")  # the ids of cells that came with a release and are not graded


@dataclass
class Update:
    """What was done with one notebook, and what the student should look at."""

    notebook: Path
    answers: list[str] = field(default_factory=list)  # carried over
    homeless: list[str] = field(default_factory=list)  # their exercise is gone: at the end
    added: int = 0  # cells of the student's own: at the end
    remarks: list[str] = field(default_factory=list)
    backup: Path | None = None  # None: the notebook is up to date

    def __str__(self) -> str:
        if self.backup is None:
            return f"{self.notebook}: up to date."
        lines = [f"{self.notebook}: {len(self.answers)} answers carried over; the old notebook is {self.backup.name}."]
        if self.homeless:
            lines.append(f"  No exercise any more, at the end now: {', '.join(self.homeless)}.")
        if self.added:
            lines.append(f"  Cells of your own, at the end now: {self.added}.")
        return "\n".join([*lines, *(f"  {remark}" for remark in self.remarks)])


def notebooks_in(paths: list[Path]) -> list[Path]:
    """The notebooks at these places, folders searched; CourseError if there is none."""
    found: list[Path] = []
    for path in paths:
        if not path.exists():
            raise CourseError(f"{path} does not exist; give your notebook, or the folder it is in.")
        inside = sorted(path.rglob("*.ipynb")) if path.is_dir() else [path]
        found += [one for one in inside if BACKUP not in one.name and ".ipynb_checkpoints" not in one.parts]
    if not found:
        raise CourseError(f"There is no notebook in {paths[0]}; give the folder in which yours are.")
    return found


def update(path: Path, released: NotebookNode, chapter: str) -> Update:
    """Put what a student wrote into a newer release, in place of the old notebook, which is kept under another name.

    Args:
        path: the student's notebook.
        released: the newer release.
        chapter: which chapter both are of.
    """
    sources = own_sources(path)
    try:
        old = nbformat.read(path, as_version=4)
    except (ValueError, AttributeError, KeyError):
        raise CourseError(f"{path} cannot be read as a notebook; open it in JupyterLab, save it, try again.") from None
    done, exercises = Update(path), {exercise.id: exercise for exercise in chapter_exercises(chapter)}
    stubs = {grade_id(cell): cell.source for cell in released.cells if is_answer(cell)}
    for name in dict(sources):
        if name in stubs and _is_written([s for n, s in sources if n == name], stubs[name], exercises.get(name)):
            done.answers.append(name)
    if released_shape(old) == released_shape(released):
        return done
    new = rebuild(released, sources, chapter)
    done.remarks = [r for cell in new.cells if (r := _other_arguments(cell, stubs.get(grade_id(cell), "")))]
    rest = _without_a_place(old, released, done)
    if rest:
        new.cells += [nbformat.v4.new_markdown_cell(KEPT), *rest]
    done.backup = _free_name(path)
    shutil.copy2(path, done.backup)
    write(new, path)
    return done


def _is_written(copies: list[str], stub: str, exercise: Exercise | None) -> bool:
    return any(copy != stub and not (exercise and is_unwritten(copy, exercise)) for copy in copies)


def released_shape(notebook: NotebookNode) -> list[tuple[str, str]]:
    """Which cells a release has, and what stands in those that a student does not write."""
    of_release = [cell for cell in notebook.cells if grade_id(cell) or OF_THE_BUILD.fullmatch(cell.get("id", ""))]
    return [(cell.id, "" if is_answer(cell) else cell.source) for cell in of_release]


def _other_arguments(cell: NotebookNode, stub: str) -> str:
    """A sentence, if a function is to take other arguments than the one that was written."""
    if not is_answer(cell) or cell.cell_type != "code":
        return ""
    written, asked = functions_in(cell.source), functions_in(stub)
    for name in asked.keys() & written.keys():
        now, yours = (", ".join(_arguments(cells[name])) for cells in (asked, written))
        if now != yours:
            return f"{name} is to take ({now}) now; yours takes ({yours})."
    return ""


def _arguments(function: ast.FunctionDef) -> list[str]:
    found = function.args
    return [argument.arg for argument in (*found.posonlyargs, *found.args, *found.kwonlyargs)]


def _without_a_place(old: NotebookNode, released: NotebookNode, done: Update) -> list[NotebookNode]:
    """The cells of the old notebook that hold a student's work and have no cell in the release."""
    known = {cell.id for cell in released.cells} | {grade_id(cell) for cell in released.cells}
    rest = []
    for cell in old.cells:
        name = grade_id(cell) or cell.get("id", "")
        of_release = OF_THE_BUILD.fullmatch(name) or (grade_id(cell) and not is_answer(cell))
        if name in known or of_release or not cell.source.strip() or cell.source == KEPT:
            continue
        if is_answer(cell):
            done.homeless += functions_in(cell.source) or [name]
        else:
            done.added += 1
        make = nbformat.v4.new_code_cell if cell.cell_type == "code" else nbformat.v4.new_markdown_cell
        rest.append(make(cell.source))
    return rest


def _free_name(path: Path) -> Path:
    """A name beside the notebook under which the old one is kept; none is overwritten."""
    count = 1
    while (found := path.with_name(f"{path.stem}{BACKUP}{count}.ipynb")).exists():
        count += 1
    return found
