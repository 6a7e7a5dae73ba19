"""The instructor's path, as the README writes it: init, collect, grade, feedback, export."""

import argparse
import csv
import json
import os
import re
import shlex
import shutil
import stat
import subprocess
import sys
import zipfile
from pathlib import Path

import nbformat
import pytest

from autograder.cli import make_parser
from autograder.course import chapter
from autograder.course_directory import init_course, marks
from autograder.demo import Submission, fill, hand_in
from autograder.exercises import chapter_exercises, find
from autograder.grade_run import GradeRun
from autograder.source import written_cell

ROOT = Path(__file__).parents[2]
CHAPTER = chapter("01_recurrence")
PATH = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
COMMANDS = next(a for a in make_parser()._actions if isinstance(a, argparse._SubParsersAction)).choices
README = (ROOT / "README.md").read_text("utf8")


def run(command: str, folder: Path, **variables: str) -> subprocess.CompletedProcess:
    environment = {**os.environ, "PATH": PATH} | variables
    return subprocess.run(
        ["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, timeout=600
    )


def section(text: str, heading: str) -> str:
    return re.search(rf"^## {heading}\n(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)[1]


def blocks(text: str) -> list[str]:
    """The lines to be typed."""
    return re.findall(r"```sh\n(.*?)```", text, re.DOTALL)


def follow(block: str, folder: Path, clone: Path, before: str = "") -> None:
    """Type a block word for word, as somebody would who has the clone and nothing else."""
    python = f"{clone / 'lib'}{os.pathsep}{clone}"  # the environment's own link leads to the tree under test
    done = run(f"set -e\n{before}\n{block}", folder, PYTHONPATH=python, HOME=str(clone / "home"))
    assert done.returncode == 0, f"{block}\n{done.stdout}\n{done.stderr}"


def class_of_three(folder: Path) -> None:
    """ada is perfect, bob has two known mistakes and explains, cyd handed in a broken file."""
    released = nbformat.read(folder / "release" / CHAPTER.name / f"{CHAPTER.slug}.ipynb", as_version=4)
    perfect = {e.id: written_cell(e) for e in chapter_exercises(CHAPTER.name)}
    wrong = {
        name: written_cell(find(name), find(name).misconceptions[0].implementation) for name in ("rnn_step", "softmax")
    }
    explain = next(
        c.metadata.nbgrader.grade_id for c in released.cells if c.metadata.get("nbgrader", {}).get("points") == 3
        and c.cell_type == "markdown"
    )  # fmt: skip
    bob = fill(released, perfect | wrong | {explain: "Because the state is carried."})
    for student, content in (("ada", fill(released, perfect)), ("bob", bob), ("cyd", b"{broken")):
        hand_in(folder, CHAPTER, Submission(student, content, {}))


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """The files of the repository as a fresh clone would have them, with the environment that is there already."""
    folder = tmp_path_factory.mktemp("clone")
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True
    )
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    (folder / ".venv").symlink_to(Path(sys.executable).parent.parent)
    (folder / "home").mkdir()
    return folder


@pytest.fixture(scope="module")
def readme_course(clone):
    """A course directory that was made and graded by the README's own lines."""
    first, rest = re.split(r"^cd mycourse.*\n", blocks(section(README, "As an instructor"))[0], flags=re.MULTILINE)
    follow(first, clone, clone)
    class_of_three(clone / "mycourse")
    follow(rest, clone / "mycourse", clone, "source ../.venv/bin/activate")
    return clone / "mycourse"


def test_the_students_path_word_for_word(clone):
    mine = clone / "chapters" / CHAPTER.name / f"{CHAPTER.slug}.ipynb"
    perfect = {e.id: written_cell(e) for e in chapter_exercises(CHAPTER.name)}
    nbformat.write(fill(nbformat.read(mine, as_version=4), perfect), mine)
    typed = blocks(section(README, "As a student"))
    assert typed[0] == "make lab\n" and len(typed) == 4
    for block in typed[1:]:
        follow(block, clone, clone)
    assert (clone / "01_recurrence.zip").exists()
    capstone = (clone / "chapters" / "15_capstone" / "capstone.ipynb").read_text("utf8")
    assert "h @ params.W_hh.T" in capstone, "assembled from chapter 1"


def test_make_lab_serves_the_chapters(clone):
    settings = clone / "home" / ".jupyter" / "jupyter_server_config.json"
    settings.parent.mkdir()
    settings.write_text(json.dumps({"ServerApp": {"allow_root": True, "open_browser": False, "port": 0}}))
    command = "timeout -s INT -k 5 15 make -o .venv/.installed lab"
    done = run(command, clone, PYTHONPATH=f"{clone / 'lib'}:{clone}", HOME=str(clone / "home"))
    assert f"Serving notebooks from local directory: {clone / 'chapters'}" in done.stderr, done.stderr
    assert "/lab?token=" in done.stderr


@pytest.mark.parametrize("page", ["README.md", "docs/classroom.md", "CONTRIBUTING.md", "docs/judge.md"])
def test_every_command_that_a_page_mentions_exists(page):
    text = (ROOT / page).read_text("utf8")
    for words in re.findall(r"`(?:\.venv/bin/)?autograder ([a-z][^`\n]*)`", text):
        words = shlex.split(words)
        parsed = make_parser().parse_args(words) if len(words) > 1 else COMMANDS.get(words[0])
        assert parsed, words


def test_init_makes_what_nbgrader_expects_and_keeps_the_secret(readme_course):
    assert (readme_course / "gradebook.db").exists()
    secret = readme_course / ".judge-secret"
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600 and len(secret.read_bytes()) == 32
    assert "BEGIN SOLUTION" not in (readme_course / "release" / CHAPTER.name / "recurrence.ipynb").read_text("utf8")


def test_the_exported_marks_are_the_expected_ones(readme_course):
    table = csv.DictReader((readme_course / "grades.csv").read_text().splitlines())
    rows = {row["student_id"]: row for row in table if row["assignment"] == CHAPTER.name}
    graded = sum(e.points for e in chapter_exercises(CHAPTER.name))
    ours = {m.exercise: m.points for m in marks(readme_course, CHAPTER.name, ["bob"])}
    assert float(rows["ada"]["score"]) == graded
    assert float(rows["bob"]["score"]) == pytest.approx(sum(ours.values()))
    assert ours["rnn_step"] < 2 and ours["softmax"] < 2 and ours["rnn_forward"] == find("rnn_forward").points
    assert float(rows["cyd"]["score"]) == 0


def test_feedback_names_the_mistake_and_holds_no_answer(readme_course):
    from autograder.leaks import leaks_in, plain_text

    page = (readme_course / "feedback" / "bob" / CHAPTER.name / "recurrence.html").read_text("utf8")
    for name in ("rnn_step", "softmax"):
        assert find(name).misconceptions[0].title in page
        assert find(name).misconceptions[0].hints[1][:40] in plain_text(page)
    cyd = (readme_course / "feedback" / "cyd" / CHAPTER.name / "recurrence.html").read_text("utf8")
    assert "is not a readable notebook; open it in JupyterLab" in cyd
    assert leaks_in([("feedback", plain_text(cyd))]) == []


def test_plain_nbgrader_and_ours_give_the_same_scores(readme_course, tmp_path):
    folder = tmp_path / "course"
    init_course(folder, [CHAPTER])
    class_of_three(folder)
    done = run("nbgrader autograde 01_recurrence", folder)
    assert done.returncode == 0, done.stderr
    people = ["ada", "bob", "cyd"]
    ours, theirs = marks(readme_course, CHAPTER.name, people), marks(folder, CHAPTER.name, people)
    assert ours == theirs and len(ours) == 3 * len(chapter_exercises(CHAPTER.name))


def test_grading_again_changes_nothing_and_skips_what_is_done(readme_course):
    before, log = marks(readme_course, CHAPTER.name, ["bob"]), readme_course / "verdicts.log"
    size = log.stat().st_size
    assert GradeRun(readme_course, CHAPTER.name, "bob").start() == before
    assert log.stat().st_size == size
    assert GradeRun(readme_course, CHAPTER.name, "bob", everything=True).start() == before
    assert log.stat().st_size > size
    done = run("autograder audit", readme_course)
    assert done.returncode == 0 and "the chain is unbroken" in done.stdout and "misconception:" in done.stdout


def test_what_was_judged_but_not_recorded_is_graded_again(readme_course):
    before, log = marks(readme_course, CHAPTER.name, ["ada", "bob", "cyd"]), readme_course / "verdicts.log"
    log.write_bytes(log.read_bytes()[:-20])  # as a kill would leave it
    (readme_course / "autograded" / "bob" / CHAPTER.name / "recurrence.ipynb").unlink()
    assert GradeRun(readme_course, CHAPTER.name).start() == before
    assert (readme_course / "autograded" / "bob" / CHAPTER.name / "recurrence.ipynb").exists()


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ("autograder grade 01_recurrence", "is not a course directory"),
        ("autograder build 77_nothing", "There is no chapter 77_nothing"),
        ("autograder check missing.ipynb", "does not exist"),
        ("echo '{' > recurrence.ipynb; autograder check recurrence.ipynb", "is not a readable notebook"),
        ("echo '{\"cells\": []}' > other.ipynb; autograder check other.ipynb", "holds no graded cell of this course"),
        ("mkdir full; touch full/x; autograder init full", "is not empty"),
    ],
)
def test_a_users_mistake_ends_in_one_sentence(tmp_path, command, sentence):
    done = run(command, tmp_path)
    assert done.returncode == 1
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1 and "Traceback" not in done.stderr


def test_a_student_can_check_a_notebook_in_the_terminal(tmp_path):
    released = nbformat.read(CHAPTER.student, as_version=4)
    known = find("rnn_step").misconceptions[0]
    mine = fill(released, {"rnn_step": written_cell(find("rnn_step"), known.implementation)})
    nbformat.write(mine, tmp_path / "mine (1).ipynb")
    done = run("autograder check 'mine (1).ipynb'", tmp_path)
    assert done.returncode == 1 and done.stderr == ""
    assert known.title in done.stdout and "not written yet" in done.stdout
    assert "of 14 points" in done.stdout


def test_the_page_on_the_classroom_word_for_word(readme_course, clone):
    """Its blocks, one after the other, in the course that the README made; last, because it adds to that."""
    downloads = clone / "home" / "Downloads"
    downloads.mkdir()
    second = readme_course / "submitted" / "ada" / "02_bptt"
    shutil.copytree(readme_course / "release" / "02_bptt", second)
    with zipfile.ZipFile(downloads / "submissions.zip", "w") as archive:
        placed = readme_course / "submitted" / "ada" / CHAPTER.name / "recurrence.ipynb"
        archive.write(placed, "Lovelace Ada_77_assignsubmission_file_/recurrence.ipynb")
    (readme_course / "class.csv").write_text("id,first_name,last_name,email,lms_user_id\nada2,Ada,Lovelace,,77\n")
    (readme_course / "worksheet.csv").write_text(
        "Identifier,Last modified (submission)\nParticipant 77,2026-11-21 08:00:00 UTC\n"
    )
    grade = "autograder grade 01_recurrence\nautograder grade 02_bptt\n"
    typed = blocks((ROOT / "docs" / "classroom.md").read_text("utf8"))
    assert len(typed) == 3
    for place, block in enumerate(typed):
        before = "source ../.venv/bin/activate\n" + (grade if place == 2 else "")
        follow(block, readme_course, clone, before)
    assert (readme_course / "submitted" / "ada2" / CHAPTER.name / "timestamp.txt").exists()
    assert (readme_course / "upload" / "ada2" / "01_recurrence.html").exists()
    assert "ada2" in (readme_course / "canvas.csv").read_text("utf8")
