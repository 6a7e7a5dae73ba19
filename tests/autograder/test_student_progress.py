"""The student's overview: what is written is counted from the file, what is right only if the judge was asked."""

import copy
import os

import nbformat
import pytest

from autograder import progress as module
from autograder.cli import main
from autograder.course import Chapter, chapters
from autograder.exercises import chapter_exercises, find
from autograder.progress import progress, table
from autograder.source import written_cell

CHAPTER, SECOND = Chapter("01_recurrence"), Chapter("02_bptt")
ASKED = [exercise for exercise in chapter_exercises(CHAPTER.name) if exercise.points]
STEP = find("rnn_step")


def work(path, answers=(), explained=None, chapter=CHAPTER):
    """A student's notebook with these answers (id -> source)."""
    notebook = copy.deepcopy(nbformat.read(chapter.student, as_version=4))
    for cell in notebook.cells:
        meta = cell.metadata.get("nbgrader", {})
        cell.source = dict(answers).get(meta.get("grade_id"), cell.source)
        if explained and cell.cell_type == "markdown" and meta.get("solution"):
            cell.source = explained
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, path)
    return path


@pytest.fixture
def wrong():
    return written_cell(STEP, STEP.misconceptions[0].implementation)


def row_of(found, chapter=CHAPTER):
    return next(row for row in found.rows if row.chapter == chapter.name)


def test_nothing_is_judged_unless_asked(tmp_path, wrong, monkeypatch):
    monkeypatch.setattr(module, "judged", None)
    work(tmp_path / "mine.ipynb", {"rnn_step": wrong}, explained="Because it forgets.")
    row = row_of(progress(tmp_path))
    assert (row.done, row.unwritten, row.to_mend) == (1, len(ASKED) - 1, 0)
    assert (row.points, row.most) == (STEP.points, sum(e.points for e in ASKED))
    assert row.minutes_left == sum(e.minutes for e in ASKED) - STEP.minutes and row.explained == "yes"


def test_the_judge_is_asked_with_check(tmp_path, wrong):
    right = written_cell(ASKED[1])
    work(tmp_path / "mine.ipynb", {"rnn_step": wrong, ASKED[1].id: right})
    found = progress(tmp_path, check=True)
    row = row_of(found)
    assert (row.done, row.to_mend, row.unwritten) == (1, 1, len(ASKED) - 2) and row.explained == "no"
    assert ASKED[1].points <= row.points < ASKED[1].points + STEP.points
    assert row.minutes_left == sum(e.minutes for e in ASKED) - ASKED[1].minutes


def test_chapters_without_a_notebook_and_the_sums(tmp_path):
    work(tmp_path / "a" / "x.ipynb", {"rnn_step": written_cell(STEP)})
    found = progress(tmp_path)
    graded = [one.name for one in chapters() if any(e.points for e in chapter_exercises(one.name))]
    assert [row.chapter for row in found.rows] == graded
    assert row_of(found, SECOND).notebook is None and row_of(found, SECOND).minutes_left > 0
    feet = [column.footer for column in table(found).columns]
    assert feet[1] == f"1 of {sum(row.exercises for row in found.rows)}"
    assert feet[-2] == str(sum(row.minutes_left for row in found.rows))


def test_of_two_notebooks_the_one_changed_later_is_shown(tmp_path):
    new, old = work(tmp_path / "new.ipynb", {"rnn_step": written_cell(STEP)}), work(tmp_path / "old.ipynb")
    os.utime(old, (1, 1))
    found = progress(tmp_path)
    assert row_of(found).notebook == new and row_of(found).done == 1
    assert found.remarks == [f"{old} is of {CHAPTER.name} too; {new} was changed later and is shown."]


def test_the_command(tmp_path, capsys):
    work(tmp_path / "x.ipynb", {"rnn_step": written_cell(STEP)})
    work(tmp_path / "y.ipynb", chapter=SECOND)
    nbformat.write(nbformat.v4.new_notebook(), tmp_path / "something else.ipynb")
    (tmp_path / "broken.ipynb").write_text("{")
    assert main(["progress", str(tmp_path)]) == 0
    said = capsys.readouterr()
    assert CHAPTER.name in said.out and "02_bptt (not here)" not in said.out and "Nothing was judged" in said.out
    assert "broken.ipynb is not a readable notebook" in said.err and said.err.count("\n") == 1


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda folder: folder / "missing", "does not exist"),
        (lambda folder: folder, "There is no notebook in"),
        (lambda folder: (folder / "x.ipynb").write_text("{") and folder, "is not a readable notebook"),
        (lambda folder: nbformat.write(nbformat.v4.new_notebook(), folder / "x.ipynb") or folder, "of this course"),
    ],
)
def test_errors_are_one_sentence(tmp_path, capsys, make, says):
    assert main(["progress", str(make(tmp_path))]) == 1
    error = capsys.readouterr().err
    assert says in error and error.count("\n") == 1


def test_help_has_an_example(capsys):
    with pytest.raises(SystemExit):
        main(["progress", "--help"])
    assert "Example: autograder progress" in capsys.readouterr().out
