"""Graded again: who changed and why; extensions, due dates and the late policy, in both ways of grading."""

import io
import os
import shlex
import shutil
import subprocess
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
from classes import CHAPTER, PERFECT, explain_id, rows, submit, wrong
from nbgrader.api import Gradebook

from autograder.cli import main
from autograder.course_directory import init_course
from autograder.exercises import find
from autograder.ledger import Ledger
from autograder.report_marks import read_marks

BIN = Path(sys.executable).parent
DUE = "2026-11-01 12:00:00 UTC"
POLICY = "c.LatePenalty.percent_per_day = 10\nc.LatePenalty.most_percent = 50\n"
POINTS = sum(find(name).points for name in PERFECT)


def run(folder: Path, command: str, status: int = 0) -> str:
    """Type a command; our own in this process, which has torch already and keeps the process that runs answers."""
    program, *words = shlex.split(command)
    if program == "autograder":
        with chdir(folder), redirect_stdout(io.StringIO()) as out, redirect_stderr(out):
            ended = main(words)
        said = out.getvalue()
    else:
        environment = os.environ | {"PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", "OMP_NUM_THREADS": "1"}
        done = subprocess.run([program, *words], cwd=folder, env=environment, capture_output=True, text=True)
        ended, said = done.returncode, done.stdout + done.stderr
    assert ended == status, said
    return said


def penalties(folder: Path) -> dict[str, float]:
    (marks,) = read_marks(folder, [CHAPTER.name])
    return {student: found.penalty for student, found in marks.handed_in.items()}


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """ada is right and in time, bob has a mistake and is a day and a minute late, cyd is right and three days late."""
    folder = tmp_path_factory.mktemp("regrade") / "course"
    init_course(folder, [CHAPTER])
    with (folder / "nbgrader_config.py").open("a") as file:
        file.write(POLICY)
    run(folder, f"nbgrader db assignment add {CHAPTER.name} --duedate='{DUE}'")
    submit(folder, "ada", PERFECT, "2026-11-01 11:59:00 UTC")
    submit(folder, "bob", PERFECT | wrong("softmax"), "2026-11-02 12:01:00 UTC")
    submit(folder, "cyd", PERFECT, "2026-11-04 12:00:00 UTC")
    out = run(folder, f"autograder grade {CHAPTER.name} --workers 8")
    assert "changed" not in out and "again" not in out, "nothing was graded before"
    return folder


@pytest.fixture
def course(graded, tmp_path):
    return Path(shutil.copytree(graded, tmp_path / "course"))


def test_the_policy_counts_days_begun(graded):
    found = penalties(graded)
    assert found["ada"] == 0 and found["cyd"] == pytest.approx(0.3 * POINTS)
    (marks,) = read_marks(graded, [CHAPTER.name])
    assert found["bob"] == pytest.approx(0.2 * marks.handed_in["bob"].raw, abs=0.01)


def test_a_new_answer_is_a_reason_and_only_its_owner_is_listed(course):
    submit(course, "bob", PERFECT, "2026-11-02 12:01:00 UTC")
    out = run(course, f"autograder grade {CHAPTER.name} --workers 8")
    line = next(line for line in out.splitlines() if "bob" in line and "softmax" in line and "why" not in line)
    known = find("softmax").misconceptions[0]
    assert f"misconception:{known.id}" in line and "correct" in line and "the answer changed" in line
    assert "1 verdicts of 1 student changed: 1 because the answer changed." in out
    assert "bob: the late penalty is 2.8 now" in out
    audit = run(course, "autograder audit --changes")
    assert "the answer changed" in audit and "the chain is unbroken" in audit


def test_a_mended_exercise_is_a_reason(course):
    log = Ledger(course)
    lines = [entry for entry in log.entries() if entry["event"] == "judged"]
    assert all(entry["of"]["exercises"] for entry in lines)
    log.path.unlink()
    for entry in lines:  # as if the course had been another one when they were graded
        given = {name: [label, points, most] for name, (label, points, most) in entry["verdicts"].items()}
        given["rnn_step"] = ["wrong", 0, 2]
        kept = {key: entry[key] for key in ("event", "student", "chapter", "key", "sandbox")}
        log._append(**kept, verdicts=given, of=entry["of"] | {"exercises": "older"})
    log.finished(CHAPTER.name)
    out = run(course, f"autograder grade {CHAPTER.name} --workers 8 --all")
    assert "3 verdicts of 3 students changed: 3 because the exercises changed." in out
    out = run(course, f"autograder grade {CHAPTER.name} --workers 8 --all")
    assert "3 submissions were judged again; no verdict changed." in out


def test_an_extension_takes_the_penalty_away_and_is_in_the_audit(course):
    out = run(course, f"autograder extend {CHAPTER.name} bob --days 2")
    assert "bob: 2 days more for 01_recurrence; the late penalty is 0 now, it was 2." in out
    assert penalties(course)["bob"] == 0
    page = (course / "feedback" / "bob" / CHAPTER.name / "recurrence.html").read_text("utf8")
    assert "late:" not in page
    out = run(course, f"autograder extend {CHAPTER.name} cyd --days 1")
    assert penalties(course)["cyd"] == pytest.approx(0.2 * POINTS)
    assert "bob  2 days\ncyd  1 day\n2 extensions" in run(course, f"autograder extend {CHAPTER.name}")
    run(course, f"autograder extend {CHAPTER.name} bob --days 0")
    assert penalties(course)["bob"] > 0
    assert "extended  01_recurrence  bob  by 2 days" in run(course, "autograder audit")
    assert "no name of a student" in run(course, f"autograder extend {CHAPTER.name} '.x' --days 1", 1)
    assert "Say how much later ada may hand in" in run(course, f"autograder extend {CHAPTER.name} ada", 1)


def test_an_extension_before_anything_is_handed_in(course):
    out = run(course, f"autograder extend {CHAPTER.name} dan --days 3")
    assert "nothing is handed in under this name yet" in out
    submit(course, "dan", PERFECT, "2026-11-04 12:00:00 UTC")
    run(course, f"autograder grade {CHAPTER.name} --workers 8")
    assert penalties(course)["dan"] == 0


def test_a_new_due_date_counts_without_judging_again(course):
    size = (course / "verdicts.log").stat().st_size
    run(course, f"nbgrader db assignment add {CHAPTER.name} --duedate='2026-11-10 12:00:00 UTC'")
    out = run(course, f"autograder grade {CHAPTER.name} --workers 8")
    assert set(penalties(course).values()) == {0}
    assert "cyd: the late penalty is 0 now" in out and (course / "verdicts.log").stat().st_size == size


def test_points_by_hand_are_late_too(course):
    with Gradebook(f"sqlite:///{course}/gradebook.db", "unrolled") as gradebook:
        gradebook.find_grade(explain_id(course), CHAPTER.slug, CHAPTER.name, "cyd").manual_score = 3
        gradebook.db.commit()
    run(course, f"autograder feedback {CHAPTER.name}")
    assert penalties(course)["cyd"] == pytest.approx(0.3 * (POINTS + 3))


def test_nbgraders_own_autograde_reckons_the_same(course):
    run(course, f"autograder extend {CHAPTER.name} cyd --days 1")
    before = rows(course)
    run(course, f"nbgrader autograde {CHAPTER.name} --force")
    assert rows(course) == before


def test_nbgraders_own_feedback_is_the_same_page(course):
    page = course / "feedback" / "bob" / CHAPTER.name / "recurrence.html"
    before = page.read_text("utf8")
    assert find("softmax").misconceptions[0].title in before and "late: −" in before
    page.unlink()
    run(course, f"nbgrader generate_feedback {CHAPTER.name} --force")
    assert page.read_text("utf8") == before
