"""The instructor editions run, and every check in them is green."""

import nbformat
import pytest

from autograder.build import run
from autograder.course import chapters
from autograder.exercises import chapter_exercises


@pytest.mark.parametrize("chapter", chapters(), ids=lambda c: c.name)
def test_the_solution_passes_its_own_checks(chapter, tmp_path):
    notebook = nbformat.read(chapter.solution, as_version=4)
    notebook.cells = [cell for cell in notebook.cells if "demo" not in cell.metadata.get("tags", [])]
    run(notebook, tmp_path)
    shown = [
        output["data"]["text/plain"]
        for cell in notebook.cells
        if cell.metadata.get("nbgrader", {}).get("grade") and cell.cell_type == "code"
        for output in cell.outputs
    ]
    graded = [exercise for exercise in chapter_exercises(chapter.name) if exercise.points]
    assert len(shown) == len(graded)
    assert all(text.startswith("✓") for text in shown)
