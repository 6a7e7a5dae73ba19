"""The made-up class: 60 students in three chapters, and what each deserves, known before anything is graded.

The truth comes from the exercises' own tables (points, weights of the properties, which of them a known mistake
fails), never from a verdict.
"""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from random import Random

from autograder.classroom.hands import by_another_hand, copied
from autograder.classroom.originals import PAIRS, SHARED, Original
from autograder.classroom.recipes import RECIPES
from autograder.exercise import Exercise, Misconception
from autograder.exercises import chapter_exercises, find
from autograder.source import function_source, written_cell

CHAPTERS = ("01_recurrence", "02_bptt", "04_lstm_gru")
STUDENTS = 60
TOP = 8  # students make the planted mistake of an exercise; every other known one is made by one student
UNWRITTEN = 2  # students leave an exercise as it is
LATE, AGAIN, AFTER = 6, 5, 4  # students per chapter: late, handed in twice, once more after grading
LATE_PERCENT = 10.0  # of the points reached, for each day begun
DUE = datetime(2026, 3, 6, 20, 0, tzinfo=UTC)
LOST = ("truncated", "empty", "another chapter", "no notebook", "nothing")  # one student each, per chapter
RIGHT, OTHERWISE_RIGHT, NOT_WRITTEN, REFUSED = "right", "another convention", "not-attempted", "refused"
NO_MISTAKES = (RIGHT, OTHERWISE_RIGHT, NOT_WRITTEN)


@dataclass(frozen=True)
class Student:
    """A person who does not exist."""

    number: int

    @property
    def id(self) -> str:
        return f"student-{self.number:02d}"

    @property
    def first(self) -> str:
        return "Student"

    @property
    def last(self) -> str:
        return f"Number{self.number:02d}"

    @property
    def lms(self) -> str:
        """The number by which an LMS knows this person."""
        return str(70000 + self.number)


@dataclass(frozen=True)
class Answer:
    """What stands in one cell, and what it is worth; no source: the cell was left as it is."""

    source: str | None
    points: float
    label: str


@dataclass
class Work:
    """What one student does in one chapter."""

    student: Student
    chapter: str
    file: str = ""  # what is the matter with it; one of LOST, or "cells deleted"
    hours: float = -5.0  # after the due date; below 0 in time
    extension: float = 0.0  # days
    attempts: list[dict[str, Answer]] = field(default_factory=lambda: [{}])
    after_grading: bool = False  # the last attempt came when the others were graded
    explanation: str = ""
    by_hand: float = 0.0  # what a person gives for it

    @property
    def arrives(self) -> bool:
        """False if nothing that could be graded was handed in."""
        return self.file not in ("nothing", "no notebook")

    @property
    def readable(self) -> bool:
        return self.file not in LOST

    @property
    def times(self) -> list[datetime]:
        """When each attempt was handed in."""
        last = DUE + timedelta(hours=self.hours)
        return [last - timedelta(hours=20 * back) for back in reversed(range(len(self.attempts)))]

    def marks(self, attempt: int = -1) -> dict[str, Answer]:
        """What the judge must find in an attempt."""
        if self.readable:
            return self.attempts[attempt]
        return {name: Answer(None, 0, REFUSED) for name in self.attempts[attempt]}

    def raw(self) -> float:
        """All points, before anything is taken off for lateness."""
        if not self.arrives:
            return 0.0
        return sum(answer.points for answer in self.marks().values()) + (self.by_hand if self.readable else 0.0)


@dataclass
class MadeUp:
    """One chapter of the class, and what is planted in it."""

    chapter: str
    works: list[Work]
    top: dict[str, str]  # exercise -> the known mistake that most make
    pairs: set[tuple[str, str]] = field(default_factory=set)  # who copied

    def mistakes(self) -> Counter[tuple[str, str]]:
        """(exercise, known mistake) -> how many make it."""
        found = (item for work in self.works if work.readable for item in work.marks().items())
        return Counter((name, answer.label) for name, answer in found if answer.label not in NO_MISTAKES)

    def known(self) -> set[tuple[str, str]]:
        """(exercise, known mistake) for all that the judge knows by name."""
        return {(e.id, known.id) for e in chapter_exercises(self.chapter) for known in e.misconceptions}

    def otherwise_right(self, exercise: str) -> set[str]:
        """Who answers an exercise by another convention."""
        works = (work for work in self.works if work.readable)
        return {work.student.id for work in works if work.marks()[exercise].label == OTHERWISE_RIGHT}


def make_class(seed: int = 8) -> dict[str, MadeUp]:
    """The class in its three chapters; the same in every run."""
    return {chapter: make_chapter(chapter, seed) for chapter in CHAPTERS}


def make_chapter(chapter: str, seed: int) -> MadeUp:
    """What the class does in one chapter."""
    importlib.import_module(f"autograder.variants.ch{chapter}")  # fills exercise.variants
    chooser = Random(f"{chapter}, {seed}")
    works = [Work(Student(number), chapter) for number in range(1, STUDENTS + 1)]
    shuffled = iter(chooser.sample(works, len(works)))
    for kind in LOST:
        next(shuffled).file = kind
    made = MadeUp(chapter, works, {})
    exercises = {exercise.id: exercise for exercise in chapter_exercises(chapter)}
    for original in PAIRS[chapter]:
        one, two = next(shuffled), next(shuffled)
        made.pairs.add(tuple(sorted((one.student.id, two.student.id))))
        one.attempts[0][original.exercise] = _original(original, exercises, chooser, by_another_hand)
        two.attempts[0][original.exercise] = _original(original, exercises, chooser, copied)
    for _ in range(3):
        original = SHARED[chapter]
        next(shuffled).attempts[0][original.exercise] = _original(original, exercises, chooser, by_another_hand)
    for _ in range(2):
        _delete_cells(next(shuffled), exercises)
    for exercise in exercises.values():
        made.top[exercise.id] = _answer(exercise, works, chooser)
    _explain(works, chooser)
    others = list(shuffled)
    for work in others[:LATE]:
        work.hours = chooser.choice((1.0, 5.0, 30.0, 60.0))
    others[0].hours, others[0].extension = 30.0, 1.0  # too late all the same, but for less
    for work in others[LATE : LATE + AGAIN + AFTER]:
        _begin_before(work)
    for work in others[LATE + AGAIN : LATE + AGAIN + AFTER]:
        work.after_grading, work.hours, work.extension = True, 15.0, 1.0
    for work in works:
        if work.hours < 0:
            work.hours = -float(chooser.randrange(1, 60))
    return made


def _original(original: Original, exercises: dict[str, Exercise], chooser: Random, hand) -> Answer:
    exercise = exercises[original.exercise]
    source = hand(original.source, chooser)
    if not original.mistake:
        return Answer(source, exercise.points, RIGHT)
    (known,) = (known for known in exercise.misconceptions if known.id == original.mistake)
    return Answer(source, deserved(exercise, known), known.id)


def deserved(exercise: Exercise, known: Misconception) -> float:
    """The points for a known mistake: those of the properties that it does not fail."""
    share = sum(p.weight for p in exercise.credited if p.id not in known.fails) / sum(
        p.weight for p in exercise.credited
    )
    return round(exercise.points * share, 2)


def _answer(exercise: Exercise, works: list[Work], chooser: Random) -> str:
    """Give everybody who has none an answer to an exercise; the id of the mistake that most make."""
    ids = Counter(known.id for known in exercise.misconceptions)
    top = chooser.choice([known for known in exercise.misconceptions if ids[known.id] == 1])
    planned = [_mistake(exercise, known, chooser) for known in (*exercise.misconceptions, *[top] * (TOP - 1))]
    planned += [Answer(None, 0, NOT_WRITTEN)] * UNWRITTEN
    free = [work for work in works if work.readable and exercise.id not in work.attempts[0]]
    planned += [_right(exercise, chooser) for _ in range(len(free) - len(planned))]
    chooser.shuffle(planned)
    for work, answer in zip(free, planned, strict=True):
        work.attempts[0][exercise.id] = answer
    for work in works:
        if not work.readable:
            work.attempts[0][exercise.id] = _right(exercise, chooser)
    return top.id


@cache
def _cell(exercise: str, form: Callable | None) -> str:
    """A form of an answer as its author wrote it."""
    return written_cell(find(exercise), form)


def _mistake(exercise: Exercise, known: Misconception, chooser: Random) -> Answer:
    source = by_another_hand(_cell(exercise.id, known.implementation), chooser)
    return Answer(source, deserved(exercise, known), known.id)


def _right(exercise: Exercise, chooser: Random) -> Answer:
    """A right answer: written step by step where there is a recipe, else one of the forms that the course knows."""
    conventions = [one.implementation for one in exercise.conventions]
    if exercise.id in RECIPES:
        form, source = None, RECIPES[exercise.id].written_by(chooser)
    else:
        form = chooser.choice([None, *filter(_in_full_precision, exercise.variants), *conventions])
        source = _cell(exercise.id, form)
    label = OTHERWISE_RIGHT if form in conventions else RIGHT
    return Answer(by_another_hand(source, chooser), exercise.points, label)


@cache
def _in_full_precision(form: Callable) -> bool:
    """False for an answer that insists on float32: right by itself, it can spoil a right one that calls it."""
    return ".float()" not in function_source(form)


def _explain(works: list[Work], chooser: Random) -> None:
    """Most write an explanation, for which a person gives 0 to 3 points."""
    for work in works:
        if work.readable and chooser.random() < 0.9:
            work.explanation = f"My own words, number {work.student.number}: because the state is carried along."
            work.by_hand = chooser.choice((0.0, 1.0, 1.5, 2.0, 2.5, 3.0))


def _begin_before(work: Work) -> None:
    """An earlier attempt in which the second half was not yet written."""
    final = work.attempts[0]
    half = list(final)[: len(final) // 2]
    earlier = {name: final[name] if name in half else Answer(None, 0, NOT_WRITTEN) for name in final}
    work.attempts.insert(0, earlier)


def _delete_cells(work: Work, exercises: dict[str, Exercise]) -> None:
    """Every third answer was thrown away with its cell."""
    work.file = "cells deleted"
    for name in list(exercises)[::3]:
        work.attempts[0][name] = Answer(None, 0, NOT_WRITTEN)
