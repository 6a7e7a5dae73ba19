"""The same class and the same checks for stock nbgrader and for otter-grader: what the judge is compared with.

A stock assignment holds the setup cells, the cells to be written and a test cell behind each: no text and no
demonstration, because the judge runs none either.
"""

from __future__ import annotations

import copy
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader.api import Gradebook

from autograder.course import Chapter
from autograder.demo import Submission, hand_in
from autograder.exercise import CourseError, Exercise

CONFIG = """\
c = get_config()  # noqa: F821
c.CourseDirectory.course_id = "stock"
c.ExecutePreprocessor.timeout = 120
"""
TEST = """\
from autograder.exercises.ch{chapter} import EXERCISES
from autograder.plain_checks import points

points(next(exercise for exercise in EXERCISES if exercise.id == "{name}"), globals())"""
OTTER_TEST = """\
from otter.test_files import test_case

from autograder.exercises.ch{chapter} import EXERCISES
from autograder.plain_checks import held

OK_FORMAT = False
name = "{name}"
points = None
exercise = next(exercise for exercise in EXERCISES if exercise.id == name)
passed = []


def ids(env):
    if not passed:
        passed.append([probe.id for probe in held(exercise, env)])
    return passed[0]
"""
OTTER_CASE = """

@test_case(points={points}, name="{probe}")
def test_{probe}(env):
    assert "{probe}" in ids(env)
"""


def stock_notebook(released: NotebookNode, chapter: str) -> NotebookNode:
    """A chapter's notebook as a stock assignment."""
    notebook = copy.deepcopy(released)
    notebook.metadata.pop("unrolled", None)
    notebook.cells = [cell for cell in notebook.cells if cell.cell_type == "code" and "nbgrader" in cell.metadata]
    for cell in notebook.cells:
        name = cell.metadata.nbgrader.grade_id
        if name.startswith("setup"):
            cell.source = cell.source.replace("from autograder import check, exercise", "exercise = lambda f: f")
        elif name.startswith("check-"):
            cell.source = TEST.format(chapter=chapter, name=name.removeprefix("check-"))
    return notebook


def make_stock_course(folder: Path, chapter: Chapter, submissions: list[Submission]) -> None:
    """A course directory of stock nbgrader with the same submissions."""
    (folder / "source" / chapter.name).mkdir(parents=True)
    (folder / "nbgrader_config.py").write_text(CONFIG, "utf8")
    released = stock_notebook(nbformat.read(chapter.student, as_version=4), chapter.name)
    nbformat.write(released, folder / "source" / chapter.name / f"{chapter.slug}.ipynb")
    nbgrader(folder, "generate_assignment", chapter.name)
    for submission in submissions:
        content = stock_notebook(submission.content, chapter.name)
        hand_in(folder, chapter, replace(submission, content=content))


def nbgrader(folder: Path, command: str, chapter: str) -> None:
    """Run one of nbgrader's commands in a course directory; its exit status is that of its worst submission."""
    done = subprocess.run(nbgrader_program(command, chapter), cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise CourseError(f"nbgrader {command} {chapter} failed: {done.stderr.strip().splitlines()[-1]}")


def nbgrader_program(command: str, chapter: str) -> list[str]:
    """How one of nbgrader's commands is called."""
    return [sys.executable, "-m", "nbgrader", command, chapter]


def stock_marks(folder: Path, chapter: Chapter) -> dict[tuple[str, str], float]:
    """(student, exercise) -> points, from the gradebook of stock nbgrader."""
    with Gradebook(f"sqlite:///{folder}/gradebook.db", "stock") as gradebook:
        return {
            (handed_in.student.id, grade.name.removeprefix("check-")): grade.auto_score
            for handed_in in gradebook.assignment_submissions(chapter.name)
            for notebook in handed_in.notebooks
            for grade in notebook.grades
        }


def write_otter_tests(folder: Path, exercises: tuple[Exercise, ...], chapter: str) -> None:
    """The checks as otter-grader's test files: one case per property, with its share of the points."""
    for exercise in exercises:
        total = sum(probe.weight for probe in exercise.credited)
        text = OTTER_TEST.format(chapter=chapter, name=exercise.id)
        for probe in exercise.credited:
            text += OTTER_CASE.format(probe=probe.id, points=exercise.points * probe.weight / total)
        (folder / f"{exercise.id}.py").write_text(text, "utf8")
