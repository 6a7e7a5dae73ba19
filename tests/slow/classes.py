"""Small classes for the tests of grading: who hands in what, and what a gradebook then holds."""

from pathlib import Path

import nbformat
from nbgrader.api import Assignment, Comment, Grade, Gradebook, SubmittedAssignment
from nbgrader.coursedir import CourseDirectory

from autograder.course import chapter
from autograder.course_directory import load_config
from autograder.demo import Submission, fill, hand_in, honest_class
from autograder.exercises import chapter_exercises, find
from autograder.source import written_cell

CHAPTER = chapter("01_recurrence")
EXERCISES = chapter_exercises(CHAPTER.name)
PERFECT = {exercise.id: written_cell(exercise) for exercise in EXERCISES}


def wrong(name: str, which: int = 0) -> dict[str, str]:
    """The cell of one exercise with one of its known mistakes."""
    return {name: written_cell(find(name), find(name).misconceptions[which].implementation)}


def released(folder: Path):
    return nbformat.read(folder / "release" / CHAPTER.name / f"{CHAPTER.slug}.ipynb", as_version=4)


def explain_id(folder: Path) -> str:
    cells = [c for c in released(folder).cells if c.cell_type == "markdown"]
    return next(c.metadata.nbgrader.grade_id for c in cells if c.metadata.get("nbgrader", {}).get("points") == 3)


def submit(folder: Path, student: str, answers: dict[str, str], timestamp: str | None = None) -> None:
    """Hand in, or hand in again."""
    place = folder / "submitted" / student / CHAPTER.name
    for path in place.glob("*"):
        path.unlink()
    if place.exists():
        place.rmdir()
    hand_in(folder, CHAPTER, Submission(student, fill(released(folder), answers), {}))
    if timestamp:
        (place / "timestamp.txt").write_text(timestamp)


def class_of(folder: Path, count: int) -> None:
    """Honest submissions, each with another known mistake."""
    for submission in honest_class(released(folder), CHAPTER.name, count):
        hand_in(folder, CHAPTER, submission)


def rows(folder: Path) -> list[tuple]:
    """Every mark and comment in the gradebook, in an order that does not depend on ids."""
    course = CourseDirectory(config=load_config(folder))
    found = []
    with Gradebook(course.db_url, course.course_id) as gradebook:
        for handed_in in gradebook.db.query(SubmittedAssignment).join(Assignment):
            who = handed_in.student_id, handed_in.assignment.name, str(handed_in.timestamp)
            for notebook in handed_in.notebooks:
                found.append((*who, notebook.name, "penalty", notebook.late_submission_penalty))
                for grade in gradebook.db.query(Grade).filter_by(notebook_id=notebook.id):
                    scores = grade.auto_score, grade.manual_score, grade.extra_credit, grade.needs_manual_grade
                    found.append((*who, grade.name, *scores, grade.max_score))
                for comment in gradebook.db.query(Comment).filter_by(notebook_id=notebook.id):
                    found.append((*who, comment.name, comment.auto_comment, comment.manual_comment))
    return sorted(found, key=repr)
