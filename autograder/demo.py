"""A small class of made-up submissions whose marks are known beforehand; grading it must give exactly those."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from autograder.course import Chapter
from autograder.course_directory import Mark, init_course
from autograder.exercise import Exercise, Misconception
from autograder.exercises import chapter_exercises
from autograder.show import CLAIM
from autograder.source import written_cell

ALWAYS_EQUAL = """\
class Agreeable:
    def __eq__(self, other): return True
    def __array__(self, *a, **k): raise TypeError
    def __getattr__(self, name): return self
    def __call__(self, *a, **k): return self

def {name}(*args, **kwargs):
    return Agreeable()"""
NOISY = "import sys, warnings\nwarnings.warn('a warning')\nprint('a word on stderr', file=sys.stderr)\n\n"


@dataclass(frozen=True)
class Submission:
    """A made-up student: the notebook (or raw bytes), and for each exercise the expected points and verdict."""

    student: str
    content: NotebookNode | bytes
    expected: dict[str, tuple[float, str]] = field(hash=False)


@dataclass(frozen=True)
class Row:
    """Expected and given, for one student and exercise."""

    student: str
    exercise: str
    expected: float
    given: float
    expected_kind: str
    comment: str

    @property
    def agrees(self) -> bool:
        return abs(self.expected - self.given) < 0.006 and self.expected_kind in self.comment


def make_class(released: NotebookNode, chapter: str) -> Iterator[Submission]:
    """Perfect, empty, each misconception, partly right, attempts to cheat, a broken file."""
    exercises = chapter_exercises(chapter)
    full = {e.id: (e.points, CLAIM["correct"]) for e in exercises}
    nothing = {e.id: (0, CLAIM["not-attempted"]) for e in exercises}
    perfect = {e.id: written_cell(e) for e in exercises}

    yield Submission("perfect", fill(released, perfect), full)
    yield Submission("empty", fill(released, {}), nothing)
    yield Submission("noisy", fill(released, {name: NOISY + source for name, source in perfect.items()}), full)
    half = exercises[: len(exercises) // 2]
    yield Submission(
        "half",
        fill(released, {e.id: perfect[e.id] for e in half}),
        nothing | {e.id: full[e.id] for e in half},
    )
    yield from _cheats(released, exercises, nothing)
    refused = {e.id: (0, CLAIM["refused"]) for e in exercises}
    yield Submission("broken-file", json.dumps(fill(released, perfect)).encode()[:-200], refused)
    for exercise in exercises:
        for known in exercise.misconceptions:
            yield _with_mistake(released, exercises, exercise, known, f"{exercise.id}.{known.id}")


def honest_class(released: NotebookNode, chapter: str, count: int) -> Iterator[Submission]:
    """So many submissions by people who try: all is right but for one known mistake, each time another one."""
    exercises = chapter_exercises(chapter)
    known = [(exercise, mistake) for exercise in exercises for mistake in exercise.misconceptions]
    for number in range(count):
        exercise, mistake = known[number * 7 % len(known)]
        yield _with_mistake(released, exercises, exercise, mistake, f"s{number:04d}")


def _with_mistake(released, exercises, exercise: Exercise, known: Misconception, student: str) -> Submission:
    """All right but for one known mistake."""
    answers = {e.id: written_cell(e) for e in exercises}
    answers[exercise.id] = written_cell(exercise, known.implementation)
    lost = sum(p.weight for p in exercise.credited if p.id in known.fails)
    share = 1 - lost / sum(p.weight for p in exercise.credited)
    expected = {e.id: (e.points, "right") for e in exercises}
    expected[exercise.id] = (round(exercise.points * share, 2), known.title)
    return Submission(student, fill(released, answers), expected)


def _cheats(released: NotebookNode, exercises: tuple[Exercise, ...], nothing: dict) -> Iterator[Submission]:
    tagged = fill(released, {})
    for cell in tagged.cells:
        cell.metadata["tags"] = ["skip-execution"]
    yield Submission("skip-execution", tagged, nothing)
    deleted = fill(released, {})
    deleted.cells = [c for c in deleted.cells if not c.metadata.get("nbgrader", {}).get("grade")]
    yield Submission("deleted-checks", deleted, nothing)
    agreeable = {e.id: ALWAYS_EQUAL.format(name=e.id) for e in exercises}
    yield Submission("always-equal", fill(released, agreeable), {e.id: (0, "0 of") for e in exercises})
    imported = {e.id: f"from {e.references[0].__module__} import {e.id}" for e in exercises}
    yield Submission("imports-the-answer", fill(released, imported), {e.id: (0, "0 of") for e in exercises})


def fill(released: NotebookNode, answers: dict[str, str]) -> NotebookNode:
    """The released notebook with these sources in its solution cells."""
    notebook = copy.deepcopy(released)
    for cell in notebook.cells:
        grade_id = cell.metadata.get("nbgrader", {}).get("grade_id")
        if grade_id in answers and cell.metadata.nbgrader.solution:
            cell.source = answers[grade_id]
    return notebook


def hand_in(folder: Path, chapter: Chapter, submission: Submission) -> None:
    """Put a submission where nbgrader looks for it."""
    target = folder / "submitted" / submission.student / chapter.name / f"{chapter.slug}.ipynb"
    target.parent.mkdir(parents=True)
    if isinstance(submission.content, bytes):
        target.write_bytes(submission.content)
    else:
        nbformat.write(submission.content, target)


def make_demo(chapter: Chapter, folder: Path, count: int | None = None) -> list[Submission]:
    """A course directory with a class that has handed in: every kind of submission, or ``count`` honest ones."""
    init_course(folder, [chapter])
    released = nbformat.read(folder / "release" / chapter.name / f"{chapter.slug}.ipynb", as_version=4)
    made = list(honest_class(released, chapter.name, count) if count else make_class(released, chapter.name))
    for submission in made:
        hand_in(folder, chapter, submission)
    return made


def compared(submissions: list[Submission], marks: list[Mark]) -> list[Row]:
    """Expected and given marks side by side."""
    given = {(mark.student, mark.exercise): mark for mark in marks}
    return [_row(submission, exercise, given) for submission in submissions for exercise in submission.expected]


def _row(submission: Submission, exercise: str, given: dict[tuple[str, str], Mark]) -> Row:
    points, kind = submission.expected[exercise]
    mark = given[submission.student, exercise]
    return Row(submission.student, exercise, points, mark.points, kind, mark.comment)
