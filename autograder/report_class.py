"""What a class did in one chapter: marks from the gradebook, verdicts from the log, sources from graded notebooks."""

from __future__ import annotations

import importlib.util
import json
import re
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from docutils.nodes import make_id
from nbformat import NotebookNode

from autograder.course import Chapter
from autograder.course_directory import quoted, released_notebook, students
from autograder.exercise import CourseError, Exercise
from autograder.exercises import chapter_exercises
from autograder.ledger import Ledger
from autograder.report_marks import ChapterMarks, read_marks
from autograder.setup_cell import SETUP
from autograder.source import bound_names, stub_cell, written_cell


@dataclass(frozen=True)
class Place:
    """Where an exercise stands in its chapter: its own heading, and the section that teaches it."""

    title: str
    section: str
    page: str  # of the book, with the anchor of the section


@dataclass
class ClassWork:
    """One chapter of one class."""

    marks: ChapterMarks
    title: str
    places: dict[str, Place]  # by the id of the solution cell
    labels: dict[str, dict[str, str]]  # student -> exercise -> label of the verdict
    sources: dict[str, dict[str, str]] = field(default_factory=dict)  # student -> exercise -> what was handed in
    failed: dict[str, dict[str, list[str]]] = field(default_factory=dict)  # student -> exercise -> failed properties
    ungraded: list[str] = field(default_factory=list)  # handed in, but not graded yet
    names: frozenset[str] = frozenset()  # that no student chose

    @property
    def refused(self) -> list[str]:
        """Whose file could not be read."""
        return [student for student, found in self.labels.items() if found and set(found.values()) == {"refused"}]


def read_class(folder: Path, chapter: str) -> ClassWork:
    """Everything that a report needs; CourseError where nothing is graded yet."""
    (marks,) = read_marks(folder, [chapter])
    if not marks.handed_in:
        raise CourseError(f"Nothing of {chapter} is graded yet; run `autograder grade {chapter}` first.")
    released = nbformat.read(released_notebook(folder, chapter), as_version=4)
    title, places = _places(released, chapter)
    work = ClassWork(marks, title, places, _labels(folder, chapter, marks), names=_names(released, chapter))
    work.ungraded = [quoted(name) for name in students(folder, chapter) if name not in marks.handed_in]
    for student in marks.handed_in:
        path = folder / "autograded" / student / chapter / f"{Chapter(chapter).slug}.ipynb"
        work.sources[student], work.failed[student] = _answers(path)
    return work


def known_forms(exercise: Exercise, chapter: str) -> list[str]:
    """The released stub first, then the right forms that the course knows."""
    variants = f"autograder.variants.ch{chapter}"
    if importlib.util.find_spec(variants):
        importlib.import_module(variants)  # fills exercise.variants
    right = [*exercise.variants, *(other.implementation for other in exercise.conventions)]
    return [stub_cell(exercise), written_cell(exercise), *(written_cell(exercise, form) for form in right)]


def known_mistakes(exercise: Exercise) -> list[str]:
    """The known mistakes as a student would hand them in: forms that people find each for themselves."""
    return [written_cell(exercise, known.implementation) for known in exercise.misconceptions]


def _labels(folder: Path, chapter: str, marks: ChapterMarks) -> dict[str, dict[str, str]]:
    """The last recorded verdicts of everybody; CourseError if the log was changed."""
    judged, labels = {}, {}
    for entry in Ledger(folder).entries():
        if entry["chapter"] == chapter and entry["event"] == "judged":
            judged[entry["student"], entry["key"]] = {name: found[0] for name, found in entry["verdicts"].items()}
        if entry["chapter"] == chapter and entry["event"] == "recorded":
            labels[entry["student"]] = judged.get((entry["student"], entry["key"]), {})
    return {student: labels.get(student, {}) for student in marks.handed_in}


def _answers(path: Path) -> tuple[dict[str, str], dict[str, list[str]]]:
    """Sources and failed properties in a graded notebook, by exercise; nothing where it cannot be read."""
    try:
        notebook = json.loads(path.read_bytes())
        verdicts = notebook["metadata"].get("unrolled", {}).get("verdicts", {})
        sources = {
            cell["metadata"]["nbgrader"]["grade_id"]: "".join(cell["source"])
            for cell in notebook["cells"]
            if cell["metadata"].get("nbgrader", {}).get("solution")
        }
        failed = {
            name: [found["title"] for found in verdict["properties"] if not found["passed"]]
            for name, verdict in verdicts.items()
            if verdict["kind"] in ("wrong", "misconception")
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}, {}
    return sources, failed


def _places(released: NotebookNode, chapter: str) -> tuple[str, dict[str, Place]]:
    """The title of the chapter, and for each solution cell the headings above it."""
    last, places = {1: chapter, 2: "", 3: ""}, {}
    page = f"chapters/{chapter}/{Chapter(chapter).slug}.html"
    for cell in released.cells:
        meta = cell.metadata.get("nbgrader", {})
        if meta.get("solution"):
            section = last[2] or last[1]
            anchor = f"{page}#{make_id(section)}"
            places[meta["grade_id"]] = Place(_plain(last[3] or meta["grade_id"]), _plain(section), anchor)
        elif cell.cell_type == "markdown":
            for marks, heading in re.findall(r"^(#{1,3}) +(.+?)\s*$", _unfenced(cell.source), re.MULTILINE):
                last[len(marks)] = heading
                last |= {level: "" for level in (2, 3) if level > len(marks)}
    return _plain(last[1]), places


def _unfenced(text: str) -> str:
    return re.sub(r"^(```|~~~).*?^\1", "", text, flags=re.MULTILINE | re.DOTALL)


def _plain(heading: str) -> str:
    return re.sub(r"[`*$]", "", heading)


def _names(released: NotebookNode, chapter: str) -> frozenset[str]:
    """The names that the set-up cells and the exercises bring along."""
    sources = [
        cell.source for cell in released.cells if cell.metadata.get("nbgrader", {}).get("grade_id", "")[:5] == "setup"
    ]
    names = {name for source in (SETUP, *sources) for name in bound_names(source)}
    return frozenset(names).union(*(exercise.functions for exercise in chapter_exercises(chapter)))
