"""A zip to hand in: what is in it, what is said of it, and that ``collect`` takes it."""

import zipfile

import nbformat
import pytest

from autograder.cli import main
from autograder.collect import Collection
from autograder.course import chapter
from autograder.course_directory import init_course
from autograder.demo import fill
from autograder.exercises import find
from autograder.source import written_cell

CHAPTER = chapter("01_recurrence")
RELEASED = nbformat.read(CHAPTER.student, as_version=4)
HELPED = "def softmax(o):\n    return helper(o)"


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def mine(here):
    """A notebook with a right answer, one that leans on another cell, one that is not Python, and an explanation."""
    answers = {"rnn_step": written_cell(find("rnn_step")), "softmax": HELPED, "pad_batch": "def pad_batch(:"}
    path = here / "my work (2).ipynb"
    nbformat.write(fill(RELEASED, answers | {"explain-position": "Because of the weights."}), path)
    return path


def test_the_zip_holds_the_notebook_as_it_is_and_the_remarks_say_what_to_look_at(mine, capsys):
    assert main(["submit", mine.name]) == 0
    with zipfile.ZipFile("01_recurrence.zip") as archive:
        assert archive.namelist() == ["01_recurrence/recurrence.ipynb"]
        assert archive.read("01_recurrence/recurrence.ipynb") == mine.read_bytes()
    said = capsys.readouterr().out
    assert "01_recurrence.zip is ready to be handed in" in said and "4 of 8 answers are written" in said
    assert "not written: causal_conv1d, rnn_forward, from_torch_rnn, cross_entropy\n" in said
    assert "softmax: Only this cell is graded, and it uses helper from another cell" in said
    assert "pad_batch: The cell is not Python: invalid syntax (line 1)." in said
    assert "Nothing was judged" in said and "another release" not in said


def test_what_is_handed_in_can_be_collected(mine, here, capsys):
    init_course(here / "course", [CHAPTER])
    assert main(["submit", mine.name, "02_bptt", "--out", "ada.zip"]) == 0
    done = Collection(here / "course", CHAPTER.name).start([here / "ada.zip"])
    assert done.problems == [] and list(done.placed) == ["ada"]
    with zipfile.ZipFile("moodle.zip", "w") as archive:  # as Moodle gives it to the teacher
        archive.write("ada.zip", "Lovelace Ada_77_assignsubmission_file_/ada.zip")
    done = Collection(here / "course", CHAPTER.name).start([here / "moodle.zip"])
    assert done.problems == [] and list(done.placed) == ["lovelace-ada"]
    for student in ("ada", "lovelace-ada"):
        placed = here / "course" / "submitted" / student / CHAPTER.name / "recurrence.ipynb"
        assert placed.read_bytes() == mine.read_bytes()


def test_a_chapter_by_its_name_or_its_folder(here, capsys):
    assert main(["submit", CHAPTER.name]) == 0
    assert "0 of 8 answers are written" in capsys.readouterr().out
    (here / "mine" / CHAPTER.name).mkdir(parents=True)
    nbformat.write(fill(RELEASED, {"softmax": HELPED}), here / "mine" / CHAPTER.name / "recurrence.ipynb")
    assert main(["submit", f"mine/{CHAPTER.name}"]) == 0
    assert "1 of 8 answers are written" in capsys.readouterr().out, "and the older zip is replaced"


def test_a_cell_that_is_gone_and_an_older_release_are_said(here, capsys):
    old = fill(RELEASED, {})
    old.cells = [cell for cell in old.cells if cell.id != "softmax"]
    nbformat.write(old, here / "old.ipynb")
    assert main(["submit", "old.ipynb"]) == 0
    said = capsys.readouterr().out
    assert "Its cell is missing from your notebook: softmax." in said and "of another release of the course" in said


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["none.ipynb"], "none.ipynb does not exist"),
        (["77_nothing"], "There is no chapter 77_nothing"),
        (["a/77_nothing"], "a/77_nothing does not exist"),
        (["01_recurrence", "01_recurrence"], "are both of 01_recurrence"),
        (["01_recurrence", "--out", "x.tar"], "call it x.tar.zip"),
        (["01_recurrence", "--out", "text.zip"], "is there and is no zip"),
        (["01_recurrence", "--out", "no/x.zip"], "cannot be written: No such file or directory"),
        (["text.zip"], "is not a readable notebook"),
    ],
)
def test_a_mistake_ends_in_one_sentence(here, capsys, arguments, sentence):
    (here / "text.zip").write_text("text")
    assert main(["submit", *arguments]) == 1
    said = capsys.readouterr()
    assert sentence in said.err and said.err.count("\n") == 1 and said.out == ""
    assert (here / "text.zip").read_text() == "text"
