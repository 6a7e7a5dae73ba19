"""A newer release: what a student wrote is carried over, what has no place is kept and named."""

import copy

import nbformat
import pytest

from autograder.cli import main
from autograder.course import Chapter
from autograder.exercise import CourseError
from autograder.exercises import find
from autograder.source import written_cell
from autograder.update import KEPT, update

CHAPTER = Chapter("01_recurrence")
RELEASED = nbformat.read(CHAPTER.student, as_version=4)
ANSWER = written_cell(find("rnn_step"))


def cell_of(notebook, grade_id):
    return next(c for c in notebook.cells if c.metadata.get("nbgrader", {}).get("grade_id") == grade_id)


@pytest.fixture
def mine(tmp_path):
    """A student's notebook: one function, an explanation, a cell of their own."""
    notebook = copy.deepcopy(RELEASED)
    cell_of(notebook, "rnn_step").source = ANSWER
    explained = next(
        c for c in notebook.cells if c.cell_type == "markdown" and c.metadata.get("nbgrader", {}).get("solution")
    )
    explained.source = "Because it forgets."
    notebook.cells.insert(5, nbformat.v4.new_code_cell("print('my own trial')"))
    nbformat.write(notebook, tmp_path / "recurrence.ipynb")
    return tmp_path / "recurrence.ipynb"


@pytest.fixture
def newer():
    """A release in which a text and a signature have changed and one exercise is gone."""
    notebook = copy.deepcopy(RELEASED)
    notebook.cells[0].source += "\n\nA sentence more."
    stub = cell_of(notebook, "rnn_step")
    stub.source = stub.source.replace("def rnn_step(x", "def rnn_step(x_t", 1)
    notebook.cells = [c for c in notebook.cells if c.metadata.get("nbgrader", {}).get("grade_id") != "softmax"]
    return notebook


def test_answers_explanation_and_own_cells_are_in_the_new_notebook(mine, newer):
    before = mine.read_bytes()
    done = update(mine, newer, CHAPTER.name)
    new = nbformat.read(mine, as_version=4)
    assert new.cells[0].source.endswith("A sentence more.")
    assert cell_of(new, "rnn_step").source == ANSWER
    assert any(c.source == "Because it forgets." for c in new.cells)
    assert "rnn_step" in done.answers and len(done.answers) == 2
    assert [c.source for c in new.cells][-1:] == ["print('my own trial')"] or new.cells[
        -2
    ].source == "print('my own trial')"
    assert done.added == 1 and done.backup.read_bytes() == before


def test_an_answer_without_an_exercise_stands_at_the_end(mine, newer):
    notebook = nbformat.read(mine, as_version=4)
    cell_of(notebook, "softmax").source = written_cell(find("softmax"))
    nbformat.write(notebook, mine)
    done = update(mine, newer, CHAPTER.name)
    sources = [c.source for c in nbformat.read(mine, as_version=4).cells]
    assert done.homeless == ["softmax"] and written_cell(find("softmax")) in sources[sources.index(KEPT) :]


def test_other_arguments_are_named(mine, newer):
    assert any("rnn_step is to take (x_t, " in remark for remark in update(mine, newer, CHAPTER.name).remarks)


def test_twice_changes_nothing_more_and_keeps_every_copy(mine, newer):
    first = update(mine, newer, CHAPTER.name)
    after = mine.read_bytes()
    second = update(mine, newer, CHAPTER.name)
    assert second.backup is None and mine.read_bytes() == after and "up to date" in str(second)
    newer.cells[0].source += " And one more."
    third = update(mine, newer, CHAPTER.name)
    assert third.backup != first.backup and first.backup.exists()
    assert nbformat.read(mine, as_version=4).cells[-1].source != KEPT
    assert sum(c.source == KEPT for c in nbformat.read(mine, as_version=4).cells) == 1


def test_the_command(mine, newer, tmp_path, capsys):
    release = tmp_path / "elsewhere" / "recurrence.ipynb"
    release.parent.mkdir()
    nbformat.write(newer, release)
    assert main(["update", str(mine), "--release", str(release)]) == 0
    assert "2 answers carried over" in capsys.readouterr().out


@pytest.mark.parametrize(
    "make, says",
    [
        (lambda path: path.write_text("{"), "is not a readable notebook"),
        (lambda path: path.unlink(), "does not exist"),
    ],
)
def test_bad_files_are_one_sentence(mine, make, says, capsys):
    make(mine)
    assert main(["update", str(mine)]) == 1
    error = capsys.readouterr().err
    assert says in error and error.count("\n") == 1


def test_the_course_s_own_notebook_is_not_its_own_update(capsys):
    assert main(["update", str(CHAPTER.student)]) == 1
    assert "work in a copy" in capsys.readouterr().err


def test_nothing_is_written_when_the_notebook_cannot_be_read(mine, newer):
    mine.write_text('{"cells": 3}')
    with pytest.raises(CourseError):
        update(mine, newer, CHAPTER.name)
    assert mine.read_text() == '{"cells": 3}' and len(list(mine.parent.glob("*.ipynb"))) == 1
