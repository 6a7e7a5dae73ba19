"""Extensions: who may hand in later, noted in the verdict log and, where there are marks already, in the gradebook."""

from __future__ import annotations

from pathlib import Path

from autograder.course_directory import (
    alone,
    load_config,
    no_student,
    quoted,
    released_notebook,
    require_course,
    room,
    students,
)
from autograder.exercise import CourseError
from autograder.grade_run import write_feedback
from autograder.ledger import Ledger
from autograder.record import Recorder
from autograder.show import number


def grant(folder: Path, chapter: str, who: list[str], days: float) -> list[str]:
    """Let students hand in so many days later, 0 for no longer; one sentence for each about what that changes."""
    require_course(folder)
    released_notebook(folder, chapter)
    for student in who:
        if no_student(student):
            raise CourseError(f"{quoted(student)} is no name of a student; give the name of a folder in submitted/.")
    said, handed_in = [], students(folder, chapter)
    with room(folder), alone(folder):
        for student in who:
            Ledger(folder).extended(student, chapter, days)
            given = f"{amount(days)} more" if days else "no extension any more"
            said.append(f"{student}: {given} for {chapter}{_consequence(folder, chapter, student, handed_in)}")
    return said


def granted(folder: Path, chapter: str) -> dict[str, float]:
    """Who has an extension at present, in days."""
    require_course(folder)
    released_notebook(folder, chapter)
    return {student: days for student, days in Ledger(folder).extensions(chapter).items() if days}


def amount(days: float) -> str:
    return f"{number(days)} day{'' if days == 1 else 's'}"


def _consequence(folder: Path, chapter: str, student: str, handed_in: list[str]) -> str:
    """The rest of the sentence: what became of the marks. The page for the student is written again."""
    with Recorder(load_config(folder), folder, chapter) as recorder:
        before = recorder.penalty(student)
        if before is None:
            return "." if student in handed_in else "; nothing is handed in under this name yet."
        after = recorder.rows(student).penalty
    if after == before:
        return "; the marks stay as they are."
    write_feedback(folder, chapter, student)
    return f"; the late penalty is {number(after)} now, it was {number(before)}."
