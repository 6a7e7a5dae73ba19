"""A student's own package: the graded cells of the chapters' notebooks, put into the notebook that revisits them.

Nothing is run. A cell of the target that was changed by hand stays as it is, unless ``replace`` is asked for; what
cannot be placed is said, and why.
"""

from __future__ import annotations

import ast
import hashlib
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from autograder.build import write
from autograder.course import ROOT, Chapter
from autograder.exercise import CourseError, Exercise
from autograder.exercises import chapter_modules, chapter_of, chapters_revisited, revisited, setup_names
from autograder.intake import Refused, grade_id, read_sources
from autograder.setup_cell import SETUP
from autograder.source import bound_names, functions_in, is_unwritten, parse, without_magics

MARK = "assembled"  # in a cell's metadata: the hash of what was put there


@dataclass
class Assembly:
    """What was done: names of exercises by outcome, and sentences about what needs a look."""

    into: Path
    placed: list[str] = field(default_factory=list)  # new or newer than what stood there
    same: list[str] = field(default_factory=list)  # stood there already
    missing: list[str] = field(default_factory=list)  # no answer in the chapter's notebook, nor in the target
    remarks: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        total = len(self.placed) + len(self.same)
        lines = [
            f"{self.into}: {total} answers are in it, {len(self.placed)} of them new; {len(self.missing)} missing."
        ]
        return "\n".join([*lines, *(f"  {remark}" for remark in self.remarks)])


def capstone() -> Chapter:
    """The chapter that revisits others."""
    return Chapter(next(name for name in chapter_modules() if chapters_revisited(name)))


def assemble(folder: Path | None = None, into: Path | None = None, replace: bool = False) -> Assembly:
    """Copy the graded cells of a student's chapters into the notebook that revisits them.

    Args:
        folder: where the notebooks are: NN_slug/slug.ipynb or slug.ipynb in it (default: chapters/ of the course).
        into: the notebook to write (default: chapters/15_capstone/capstone.ipynb).
        replace: True: take the chapter's answer also where the target's cell was changed by hand.
    """
    chapter, folder = capstone(), folder or ROOT / "chapters"
    into = into or chapter.student
    notebook = _target(into, chapter)
    if not folder.is_dir():
        raise CourseError(f"{folder} is not a folder; give the one in which the notebooks of the chapters are.")
    done, answers = Assembly(into), {}
    for name in chapters_revisited(chapter.name):
        answers |= _answers(folder, Chapter(name), [e for e in revisited(chapter.name) if chapter_of(e) == name], done)
    cells = {grade_id(cell): cell for cell in notebook.cells}
    for exercise in revisited(chapter.name):
        _place(cells[exercise.id], exercise, answers.get(exercise.id), replace, done)
    done.remarks += _clashes(chapter.name, {e.id: cells[e.id].source for e in revisited(chapter.name)})
    if done.placed:
        write(notebook, into)
    return done


def _target(into: Path, chapter: Chapter) -> NotebookNode:
    """The notebook to write into, with a cell for every exercise."""
    if not into.exists():
        raise CourseError(f"{into} does not exist; give the notebook of {chapter.name}, for instance a copy of it.")
    try:
        notebook = nbformat.read(into, as_version=4)
        ids = {grade_id(cell) for cell in notebook.cells}
    except (ValueError, AttributeError, KeyError, OSError):
        raise CourseError(f"{into} is not a readable notebook; give the one of {chapter.name}.") from None
    lacking = [exercise.id for exercise in revisited(chapter.name) if exercise.id not in ids]
    if lacking:
        raise CourseError(f"{into} has no cell for {lacking[0]}; give the notebook of {chapter.name} as released.")
    return notebook


def _answers(folder: Path, earlier: Chapter, exercises: list[Exercise], done: Assembly) -> dict[str, str]:
    """The written answers in the notebook of one chapter, by the id of the exercise."""
    name = f"{earlier.slug}.ipynb"
    path = next((p for p in (folder / earlier.name / name, folder / name) if p.exists()), None)
    if path is None:
        done.remarks.append(f"{earlier.name}: there is no {name} in {folder}.")
        return {}
    try:
        sources = read_sources(path)
    except Refused as reason:
        done.remarks.append(f"{earlier.name}: {reason}")
        return {}
    found, unwritten = {}, []
    for exercise in exercises:
        written = [s for name, s in sources if name == exercise.id and not is_unwritten(s, exercise)]
        if written:
            found[exercise.id] = without_magics(written[-1])
        else:
            unwritten.append(exercise.id)
    if unwritten:
        done.remarks.append(f"{earlier.name}: not written yet: {', '.join(unwritten)}.")
    return found


def _place(cell: NotebookNode, exercise: Exercise, answer: str | None, replace: bool, done: Assembly) -> None:
    """Put one answer into its cell, unless that would undo what was written there by hand."""
    there = not is_unwritten(cell.source, exercise)
    if answer is None or cell.source == answer:
        (done.same if there else done.missing).append(exercise.id)
        return
    others = set(functions_in(answer)) - set(exercise.functions)
    absent = [name for name in exercise.functions if name not in _bound(answer)]
    if absent:
        instead = f"; it defines {', '.join(sorted(others))}" if others else ""
        done.remarks.append(f"{exercise.id}: its cell does not define {', '.join(absent)}{instead}. Not placed.")
        (done.same if there else done.missing).append(exercise.id)
        return
    by_hand = there and _hash(cell.source) != cell.metadata.get("unrolled", {}).get(MARK)
    if by_hand and not replace:
        done.remarks.append(f"{exercise.id}: changed here by hand, kept; --replace takes the chapter's answer.")
        done.same.append(exercise.id)
        return
    if by_hand:
        done.remarks.append(f"{exercise.id}: what was changed here by hand has been replaced.")
    cell.source, cell.outputs, cell.execution_count = answer, [], None
    cell.metadata["unrolled"] = {MARK: _hash(answer)}
    done.placed.append(exercise.id)


def _hash(source: str) -> str:
    return hashlib.sha256(source.encode("utf8", "surrogatepass")).hexdigest()


def _bound(source: str) -> set[str]:
    """The names that a cell binds; none if it is not Python."""
    return bound_names(source) if parse(source) is not None else set()


def _clashes(chapter: str, sources: dict[str, str]) -> list[str]:
    """One sentence for each name that two cells would fight about, now that all run in one notebook."""
    homes = {name: exercise.id for exercise in revisited(chapter) for name in exercise.functions}
    taken = setup_names(chapter) | bound_names(SETUP)
    seen: dict[str, tuple[str, str]] = {}
    found = []
    for cell, source in sources.items():
        for name, statement in _definitions(source).items():
            if homes.get(name) == cell:
                continue
            imported = statement.startswith("ImportFrom(module='unrolled")
            if name in homes and imported:
                found.append(
                    f"{cell}: imports {name} from the library, where it is missing in grading; delete the line."
                )
            elif name in homes:
                found.append(f"{cell}: defines {name} too, which is the answer of another cell; rename it.")
            elif name in taken and not statement.startswith("Import"):
                found.append(f"{cell}: defines {name}, which a setup cell provides; rename it.")
            elif name in seen and seen[name][1] != statement:
                found.append(f"{cell} and {seen[name][0]}: both define {name}, not alike; rename one of them.")
            seen.setdefault(name, (cell, statement))
    return found


def _definitions(source: str) -> dict[str, str]:
    """Each name that a cell binds at its top level, with the statement that binds it in a form that can be compared."""
    tree, found = parse(source), {}
    for statement in tree.body if tree else ():
        for name in bound_names(ast.unparse(statement)):
            found[name] = ast.dump(statement)
    return found
