"""The one writer of a grading run: a submission is one transaction in nbgrader's gradebook and one file.

The rows are those that nbgrader's own autograde writes (a test compares them); it opens the gradebook five times per
submission, this opens it once per run.
"""

from __future__ import annotations

import json
import logging
import os
from pathlib import Path
from typing import NamedTuple

from nbformat import NotebookNode
from nbgrader import utils
from nbgrader.api import Assignment, Comment, Grade, Gradebook, Student, SubmittedAssignment, SubmittedNotebook
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import AssignLatePenalties
from sqlalchemy.orm import Session
from traitlets.config import Config

from autograder.exercise import CourseError
from autograder.late import extend
from autograder.ledger import Ledger

LOG = logging.Logger("unrolled.nbgrader", logging.CRITICAL)
TIMESTAMP = "timestamp.txt"
SECRET = "submission_secret.txt"  # with it a student asks nbgrader's exchange for the feedback


class RowOfGrade(NamedTuple):
    """One mark as it stands: by the judge or by hand."""

    score: float
    most: float
    by_hand: bool
    waits: bool  # for a person


def row_of_grade(
    auto: float | None, by_hand: float | None, extra: float | None, needs: bool, most: float
) -> RowOfGrade:
    """What counts of a row of the gradebook: points by hand, else by the judge, and extra credit on top."""
    score = (auto or 0.0) if by_hand is None else by_hand
    return RowOfGrade(score + (extra or 0.0), most, by_hand is not None, by_hand is None and bool(needs))


class Rows(NamedTuple):
    """What the gradebook holds for one submission."""

    grades: dict[str, RowOfGrade]  # by grade_id
    comments: dict[str, str]  # by a person
    penalty: float


class Recorder:
    """Writes marks of one chapter into the gradebook of a course directory."""

    def __init__(self, config: Config, folder: Path, chapter: str):
        self.extensions = Ledger(folder).extensions(chapter)
        course = CourseDirectory(config=config)
        self.folder, self.chapter = folder, chapter
        self.penalties = AssignLatePenalties(config=config)
        self.penalties.init_plugin()
        self.gradebook = Gradebook(course.db_url, course.course_id)
        self.db = Session(self.gradebook.db.get_bind(), expire_on_commit=False)
        self.assignment = self.db.query(Assignment).filter_by(name=chapter).one_or_none()
        if self.assignment is None or len(self.assignment.notebooks) != 1:
            raise CourseError(f"The gradebook has no {chapter}; run `nbgrader generate_assignment {chapter}` first.")
        (self.notebook,) = self.assignment.notebooks
        self.grade_cells = {cell.id: cell for cell in self.notebook.grade_cells}
        self.solution_cells = {cell.id: cell.name for cell in self.notebook.solution_cells}

    def record(self, student: str, graded: NotebookNode, comments: dict[str, str], timestamp: str | None) -> Rows:
        """Marks and comments in one transaction, then the graded notebook by temp and rename; the rows as they are."""
        cells = {
            c.metadata.nbgrader.grade_id: c for c in graded.cells if c.metadata.get("nbgrader", {}).get("grade_id")
        }
        submission, notebook = self._submission(student, timestamp)
        for grade in notebook.grades:
            grade.auto_score, _ = utils.determine_grade(cells[self.grade_cells[grade.cell_id].name], LOG)
            grade.needs_manual_grade = grade.manual_score is not None or grade.auto_score is None
        for comment in notebook.comments:
            cell = cells[self.solution_cells[comment.cell_id]]
            untouched = cell.metadata.nbgrader.get("checksum") == utils.compute_checksum(cell)
            name = self.solution_cells[comment.cell_id]
            comment.auto_comment = comments.get(name, "No response." if untouched else None)
        self._set_penalty(student, submission, notebook)
        self.db.commit()
        self._write(student, graded, timestamp)
        return self._rows(notebook)

    def rows(self, student: str, timestamp: str | None = None) -> Rows:
        """What the gradebook holds for a student, points and comments by hand included; the penalty is of today.

        Points by hand, an extension, the due date, the policy or the time of handing in may be newer than the marks.
        """
        submission, notebook = self._submission(student, timestamp)
        self._set_penalty(student, submission, notebook)
        self.db.commit()
        return self._rows(notebook)

    def penalty(self, student: str) -> float | None:
        """What the gradebook takes off for lateness at present; None if it has no marks of this student."""
        found = self._find(student)
        return (found.notebooks[0].late_submission_penalty or 0.0) if found else None

    def _rows(self, notebook: SubmittedNotebook) -> Rows:
        grades = {}
        for grade in notebook.grades:
            cell = self.grade_cells[grade.cell_id]
            row = grade.auto_score, grade.manual_score, grade.extra_credit, grade.needs_manual_grade
            grades[cell.name] = row_of_grade(*row, cell.max_score)
        comments = {self.solution_cells[c.cell_id]: c.manual_comment for c in notebook.comments if c.manual_comment}
        return Rows(grades, comments, notebook.late_submission_penalty or 0)

    def _submission(self, student: str, timestamp: str | None) -> tuple[SubmittedAssignment, SubmittedNotebook]:
        """The rows of this student's submission, made if they are not there; nothing is committed yet."""
        submission = self._find(student)
        if submission is None:
            owner = self.db.get(Student, student) or Student(id=student)
            submission = SubmittedAssignment(assignment=self.assignment, student=owner)
            notebook = SubmittedNotebook(notebook_id=self.notebook.id, assignment=submission)
            notebook.grades = [Grade(cell_id=cell) for cell in self.grade_cells]
            notebook.comments = [Comment(cell_id=cell) for cell in self.solution_cells]
            self.db.add(submission)
        if timestamp:
            submission.timestamp = utils.parse_utc(timestamp)
        (notebook,) = submission.notebooks
        return submission, notebook

    def _find(self, student: str) -> SubmittedAssignment | None:
        wanted = {"assignment_id": self.assignment.id, "student_id": student}
        return self.db.query(SubmittedAssignment).filter_by(**wanted).one_or_none()

    def _set_penalty(self, student: str, submission: SubmittedAssignment, notebook: SubmittedNotebook) -> None:
        """What nbgrader's late-submission plugin takes off, between 0 and the score; an extension counts."""
        extend(submission, self.extensions.get(student))
        notebook.late_submission_penalty = None
        if submission.total_seconds_late > 0:
            self.db.flush()
            self.db.refresh(notebook)
            plugin, score = self.penalties.plugin_inst, notebook.score
            penalty = plugin.late_submission_penalty(student, score, submission.total_seconds_late)
            notebook.late_submission_penalty = None if penalty is None else min(max(penalty, 0), score)

    def _write(self, student: str, graded: NotebookNode, timestamp: str | None) -> None:
        folder = self.folder / "autograded" / student / self.chapter
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(folder / f"{self.notebook.name}.ipynb", json.dumps(graded, ensure_ascii=False) + "\n")
        if timestamp:
            write_whole(folder / TIMESTAMP, timestamp)

    def close(self) -> None:
        self.db.close()
        self.gradebook.close()

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, *_) -> None:
        self.close()


def write_whole(path: Path, text: str) -> None:
    """Write a file next to its place, then move it there, read-only as nbgrader leaves it."""
    partial = path.with_name(f".{path.name}.partial")
    partial.unlink(missing_ok=True)
    partial.write_text(text, "utf8")
    partial.chmod(0o444)
    os.replace(partial, path)
