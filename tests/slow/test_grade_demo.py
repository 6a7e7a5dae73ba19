"""The made-up class: stock nbgrader and otter-grader, given the same checks, come to the same marks."""

import subprocess
import sys

import nbformat
import pytest
from classes import CHAPTER, EXERCISES

from autograder.demo import honest_class, make_class
from autograder.plain_checks import points
from autograder.stock import stock_notebook, write_otter_tests

RELEASED = nbformat.read(CHAPTER.student, as_version=4)


def test_stock_nbgrader_gives_the_same_marks():
    command = [sys.executable, "-m", "autograder.cli", "grade-demo", "--students", "3", "--against-nbgrader"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 submissions, 21 marks, 0 differ from what was expected." in done.stdout
    assert "21 marks, 0 differ from stock nbgrader's." in done.stdout


def test_plain_test_cells_give_what_is_expected_of_every_known_mistake():
    mistakes = {f"{exercise.id}.{known.id}" for exercise in EXERCISES for known in exercise.misconceptions}
    tried = 0
    for submission in make_class(RELEASED, CHAPTER.name):
        if submission.student in mistakes:
            namespace: dict = {"__name__": "__main__"}
            for cell in stock_notebook(submission.content, CHAPTER.name).cells:
                if not cell.metadata.nbgrader.grade_id.startswith("check-"):
                    exec(cell.source, namespace)
            given = {exercise.id: points(exercise, namespace) for exercise in EXERCISES}
            assert given == pytest.approx({name: most for name, (most, _) in submission.expected.items()}, abs=0.006)
            tried += 1
    assert tried == len(mistakes)


def test_a_stock_assignment_holds_code_and_no_answer():
    (submission,) = honest_class(RELEASED, CHAPTER.name, 1)
    notebook = stock_notebook(submission.content, CHAPTER.name)
    assert {cell.cell_type for cell in notebook.cells} == {"code"}
    assert sum("points(" in cell.source for cell in notebook.cells) == len(EXERCISES)
    assert not any("unrolled.losses import" in cell.source for cell in notebook.cells)


def test_otter_gets_one_case_per_property_and_all_points(tmp_path):
    write_otter_tests(tmp_path, EXERCISES, CHAPTER.name)
    for exercise in EXERCISES:
        text = (tmp_path / f"{exercise.id}.py").read_text("utf8")
        given = [float(line.split("points=")[1].split(",")[0]) for line in text.splitlines() if "@test_case" in line]
        assert len(given) == len(exercise.credited) and sum(given) == pytest.approx(exercise.points)
