"""What the gradebook holds for a chapter, in a few queries for the whole class."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from nbgrader.api import (
    Assignment,
    Grade,
    Gradebook,
    GradeCell,
    Notebook,
    Student,
    SubmittedAssignment,
    SubmittedNotebook,
)
from nbgrader.coursedir import CourseDirectory

from autograder.course_directory import load_config, released_notebook, require_course, room
from autograder.exercise import CourseError
from autograder.record import row_of_grade


@dataclass(frozen=True)
class Person:
    """A student as nbgrader knows them; all but ``id`` may be empty."""

    id: str
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    lms_user_id: str = ""


@dataclass(frozen=True)
class Score:
    """One mark as it stands: by hand where a person gave one, else by the judge."""

    score: float
    most: float
    waits: bool = False  # for a person


@dataclass
class HandedIn:
    """One submission; ``scores`` by the id of the graded cell."""

    student: str
    time: datetime | None = None  # UTC
    extension: timedelta | None = None
    penalty: float = 0.0
    scores: dict[str, Score] = field(default_factory=dict)

    @property
    def raw(self) -> float:
        return sum(found.score for found in self.scores.values())

    @property
    def points(self) -> float:
        return max(0.0, self.raw - self.penalty)

    @property
    def graded(self) -> float:
        """The most that could be reached in what is graded so far: an answer that waits for a person is left out."""
        return sum(found.most for found in self.scores.values() if not found.waits)

    @property
    def share(self) -> float:
        return self.points / self.graded if self.graded else 0.0


@dataclass
class ChapterMarks:
    """All that the gradebook holds for one chapter."""

    chapter: str
    due: datetime | None  # UTC
    most: float
    cells: list[str]
    people: dict[str, Person]
    handed_in: dict[str, HandedIn]

    def late(self, student: str) -> bool:
        found = self.handed_in[student]
        return bool(self.due and found.time and found.time > self.due + (found.extension or timedelta()))


def read_marks(folder: Path, chapters: list[str]) -> list[ChapterMarks]:
    """The marks of these chapters; CourseError if this is no course directory, or has no such chapter."""
    require_course(folder)
    for chapter in chapters:
        released_notebook(folder, chapter)
    course = CourseDirectory(config=load_config(folder))
    with room(folder), Gradebook(course.db_url, course.course_id) as gradebook:
        return [_chapter_marks(gradebook.db, chapter) for chapter in chapters]


def _chapter_marks(db, chapter: str) -> ChapterMarks:
    assignment = db.query(Assignment.id, Assignment.duedate).filter(Assignment.name == chapter).one_or_none()
    if assignment is None:
        raise CourseError(f"The gradebook has no {chapter}; run `nbgrader generate_assignment {chapter}` first.")
    columns = (Student.id, Student.first_name, Student.last_name, Student.email, Student.lms_user_id)
    people = {row[0]: Person(row[0], *(text or "" for text in row[1:])) for row in db.query(*columns)}
    cells = db.query(GradeCell.name, GradeCell.max_score).join(Notebook, GradeCell.notebook_id == Notebook.id)
    most = dict(cells.filter(Notebook.assignment_id == assignment.id).all())
    handed_in = {}
    rows = (
        db.query(
            SubmittedAssignment.student_id,
            SubmittedAssignment.timestamp,
            SubmittedAssignment.extension,
            SubmittedNotebook.late_submission_penalty,
        )
        .join(SubmittedNotebook, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
        .filter(SubmittedAssignment.assignment_id == assignment.id)
    )
    for student, time, extension, penalty in rows:
        handed_in[student] = HandedIn(student, time, extension, penalty or 0.0)
    for student, cell, *grade in _grades(db, assignment.id):
        row = row_of_grade(*grade)
        handed_in[student].scores[cell] = Score(row.score, row.most, row.waits)
    ordered = dict(sorted(people.items())), dict(sorted(handed_in.items()))
    return ChapterMarks(chapter, assignment.duedate, sum(most.values()), sorted(most), *ordered)


def _grades(db, assignment: str):
    columns = (Grade.auto_score, Grade.manual_score, Grade.extra_credit, Grade.needs_manual_grade, GradeCell.max_score)
    return (
        db.query(SubmittedAssignment.student_id, GradeCell.name, *columns)
        .select_from(Grade)
        .join(SubmittedNotebook, Grade.notebook_id == SubmittedNotebook.id)
        .join(SubmittedAssignment, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
        .join(GradeCell, Grade.cell_id == GradeCell.id)
        .filter(SubmittedAssignment.assignment_id == assignment)
    )
