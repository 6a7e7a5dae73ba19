"""A grading run: the same rows as nbgrader's own, late and repeated submissions, interruptions, lost processes."""

import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import nbformat
import psutil
import pytest
from classes import CHAPTER, EXERCISES, PERFECT, class_of, explain_id, rows, submit, wrong
from nbgrader.api import Gradebook
from runs import again, command, wait_for_verdicts

from autograder.course_directory import init_course, marks
from autograder.exercise import CourseError
from autograder.exercises import find
from autograder.grade_run import GradeRun, write_feedback
from autograder.leaks import leaks_in, plain_text
from autograder.ledger import Ledger

LATE = "2026-11-02 12:00:00 UTC"
DUE = "2026-11-01 12:00:00 UTC"


def run(*words: str, folder: Path) -> tuple[int, str, str]:
    process = command(*words, folder=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out, err = process.communicate(timeout=600)
    return process.returncode, out, err


@pytest.fixture
def course(tmp_path):
    folder = tmp_path / "course"
    init_course(folder, [CHAPTER])
    return folder


def points(folder: Path, student: str) -> dict[str, float]:
    return {mark.exercise: mark.points for mark in marks(folder, CHAPTER.name, [student])}


def set_up(folder: Path, line: str) -> None:
    with (folder / "nbgrader_config.py").open("a") as file:
        file.write(f"{line}\n")


def due(folder: Path) -> None:
    with Gradebook(f"sqlite:///{folder}/gradebook.db", "unrolled") as gradebook:
        gradebook.update_or_create_assignment(CHAPTER.name, duedate=DUE)


def test_the_rows_are_those_of_nbgraders_own_autograde(tmp_path):
    folders = [tmp_path / "ours", tmp_path / "theirs"]
    for folder in folders:
        init_course(folder, [CHAPTER])
        due(folder)
        set_up(folder, "c.LateSubmissionPlugin.penalty_method = 'zero'")
        submit(folder, "ada", PERFECT | {explain_id(folder): "Because."}, LATE)
        submit(folder, "bob", PERFECT | wrong("rnn_step"))
        submit(folder, "cyd", {})
        (folder / ".judge-secret").write_bytes(b"s" * 32)
    GradeRun(folders[0], CHAPTER.name, workers=2).start()
    status, _, err = run("nbgrader", "autograde", CHAPTER.name, folder=folders[1])
    assert status == 0, err
    assert rows(folders[0]) == rows(folders[1])
    penalties = [row[-1] for row in rows(folders[0]) if "penalty" in row]
    assert penalties == [sum(e.points for e in EXERCISES), None, None]
    for student in ("ada", "bob", "cyd"):
        ours, theirs = (
            nbformat.read(f / "autograded" / student / CHAPTER.name / "recurrence.ipynb", 4) for f in folders
        )
        assert [c.source for c in ours.cells] == [c.source for c in theirs.cells]
        assert [c.get("outputs") for c in ours.cells] == [c.get("outputs") for c in theirs.cells]


def test_points_by_hand_survive_and_reach_the_page(course):
    explain = explain_id(course)
    submit(course, "ada", PERFECT | {explain: "<script>alert(1)</script> it carries a state"})
    GradeRun(course, CHAPTER.name).start()
    with Gradebook(f"sqlite:///{course}/gradebook.db", "unrolled") as gradebook:
        gradebook.find_grade(explain, CHAPTER.slug, CHAPTER.name, "ada").manual_score = 2.5
        gradebook.find_comment(
            explain, CHAPTER.slug, CHAPTER.name, "ada"
        ).manual_comment = "Nearly: <b>which</b> state?"
        gradebook.db.commit()
    GradeRun(course, CHAPTER.name, everything=True).start()
    row = next(row for row in rows(course) if row[3] == explain and len(row) > 6)
    assert row[4:8] == (None, 2.5, None, True)  # kept, and marked for another look, as nbgrader does
    write_feedback(course, CHAPTER.name)
    page = (course / "feedback" / "ada" / CHAPTER.name / "recurrence.html").read_text("utf8")
    assert "2.5 of 3 points" in page and "Nearly: &lt;b&gt;which&lt;/b&gt; state?" in page
    assert "<script" not in page.lower()


@pytest.mark.parametrize(("policy", "expected"), [("last", False), ("best", True)])
def test_the_last_or_the_best_attempt_counts(course, policy, expected):
    set_up(course, f"c.Judge.attempts = {policy!r}")
    submit(course, "ada", PERFECT)
    GradeRun(course, CHAPTER.name).start()
    submit(course, "ada", PERFECT | wrong("rnn_step"))
    GradeRun(course, CHAPTER.name).start()
    assert (points(course, "ada")["rnn_step"] == 2) is expected
    assert points(course, "ada")["softmax"] == 2


def test_one_exercise_is_judged_again_and_the_others_stay(course):
    submit(course, "ada", PERFECT | wrong("rnn_step"))
    GradeRun(course, CHAPTER.name).start()
    before, log = rows(course), len(list(Ledger(course).entries()))
    GradeRun(course, CHAPTER.name, exercise="rnn_step").start()
    assert rows(course) == before
    assert [entry["event"] for entry in Ledger(course).entries()][log:] == ["judged", "recorded", "finished"]
    with pytest.raises(CourseError, match="There is no exercise nothing in 01_recurrence"):
        GradeRun(course, CHAPTER.name, exercise="nothing").start()


def test_as_many_hints_as_the_instructor_allows(course):
    set_up(course, "c.Judge.hints = 1")
    submit(course, "ada", wrong("rnn_step", 1))
    GradeRun(course, CHAPTER.name).start()
    known = find("rnn_step").misconceptions[1]
    page = plain_text((course / "feedback" / "ada" / CHAPTER.name / "recurrence.html").read_text("utf8"))
    comment = next(m.comment for m in marks(course, CHAPTER.name, ["ada"]) if m.exercise == "rnn_step")
    for text in (page, comment):
        assert known.hints[0] in text and known.hints[1] not in text
    raw = (course / "feedback" / "ada" / CHAPTER.name / "recurrence.html").read_text("utf8")
    assert raw.count("<svg") == 1 and "<script" not in raw
    assert [leak for leak in leaks_in([("page", page)]) if "rnn_step" not in leak] == []  # that one was handed in


def test_json_and_bad_options(course):
    submit(course, "ada", PERFECT)
    status, out, err = run("autograder", "grade", CHAPTER.name, "--json", folder=course)
    assert status == 0, err
    found = json.loads(out)
    assert {mark["exercise"] for mark in found} == {e.id for e in EXERCISES}
    assert all(mark["points"] == mark["max_points"] for mark in found)
    status, _, err = run("autograder", "grade", CHAPTER.name, "--workers", "0", folder=course)
    assert status == 2 and "give 1 or more" in err
    status, _, err = run(
        "autograder", "grade", CHAPTER.name, "--scheduler", "tcp://127.0.0.1:9", "--all", folder=course
    )
    assert status == 1 and "No dask scheduler answers at tcp://127.0.0.1:9" in err and "Traceback" not in err


def test_a_scheduler_elsewhere_gives_the_same_marks(tmp_path):
    from distributed import LocalCluster

    folders = [tmp_path / "here", tmp_path / "there"]
    for folder in folders:
        init_course(folder, [CHAPTER])
        class_of(folder, 4)
        (folder / ".judge-secret").write_bytes(b"s" * 32)
    GradeRun(folders[0], CHAPTER.name, workers=1).start()
    with LocalCluster(n_workers=1, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0") as cluster:
        GradeRun(folders[1], CHAPTER.name, scheduler=cluster.scheduler_address).start()
    assert rows(folders[0]) == rows(folders[1])


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """A class of 12, graded in peace; and the same class to be graded again and again."""
    folder = tmp_path_factory.mktemp("peace") / "course"
    init_course(folder, [CHAPTER])
    class_of(folder, 12)
    GradeRun(folder, CHAPTER.name, workers=2).start()
    return folder


def start(folder: Path, *options: str) -> subprocess.Popen:
    words = ("autograder", "grade", CHAPTER.name, *(options or ("--workers", "2")))
    return command(*words, folder=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def test_ctrl_c_finishes_what_is_under_way_and_stops(undisturbed, tmp_path):
    folder = again(undisturbed, tmp_path / "course")
    process = start(folder)
    wait_for_verdicts(folder, 2)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 130 and "interrupted" in err and "Traceback" not in err
    entries = [entry["event"] for entry in Ledger(folder).entries()]
    assert entries.count("judged") == entries.count("recorded") < 12
    GradeRun(folder, CHAPTER.name).start()
    assert rows(folder) == rows(undisturbed)


VICTIMS = {  # what its command line holds, and which of several such processes
    "grader": ("autograder", 0),
    "fork server": ("autograder.answer", 0),
    "a submission": ("autograder.answer", -1),
}


def kill_at(folder: Path, victim: str, seconds: float) -> None:
    """Start a run, kill one of its processes after a while, and let what is left come to its end."""
    process = start(folder)
    wait_for_verdicts(folder, 1)
    time.sleep(seconds)
    words, which = VICTIMS[victim]
    family = [psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)]
    candidates = [one for one in family if words in _words(one)]
    if candidates:
        candidates[which].kill()
    process.communicate(timeout=300)


def _words(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.NoSuchProcess:
        return ""


KILLS = int(os.environ.get("KILLS", "5"))


@pytest.mark.parametrize("victim", VICTIMS)
def test_whatever_is_killed_nothing_is_lost(undisturbed, tmp_path, victim):
    expected = rows(undisturbed)
    for number in range(KILLS):
        folder = again(undisturbed, tmp_path / f"course{number}")
        kill_at(folder, victim, 0.3 * number)
        GradeRun(folder, CHAPTER.name, workers=2).start()
        assert rows(folder) == expected
        assert len({e["student"] for e in Ledger(folder).entries() if e["event"] == "recorded"}) == 12


def test_a_killed_worker_loses_nothing(undisturbed, tmp_path):
    """Two workers of a scheduler elsewhere, one of them killed at some moment: the other judges what it had begun."""
    from distributed import LocalCluster

    expected = rows(undisturbed)
    for number in range(KILLS):
        folder = again(undisturbed, tmp_path / f"course{number}")
        with LocalCluster(
            n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0"
        ) as cluster:
            process = start(folder, "--scheduler", cluster.scheduler_address)
            wait_for_verdicts(folder, 1)
            time.sleep(0.1 * number)
            cluster.workers[number % 2].process.process._process.kill()
            _, err = process.communicate(timeout=300)
        assert process.returncode == 0, err
        assert rows(folder) == expected


def test_nothing_is_left_behind(undisturbed):
    """Only the server of this very process; those of workers that have just been stopped get ten seconds to end."""
    me, deadline = psutil.Process(), time.monotonic() + 10
    while True:
        mine = [c for c in me.children() if "autograder.answer" in _words(c)]
        servers = [c for c in me.children(recursive=True) if "autograder.answer" in _words(c)]
        if servers == mine[:1] or time.monotonic() > deadline:
            break
        time.sleep(0.2)
    assert servers == mine[:1]
    views = re.findall(r"unrolled-view-\S+", Path("/proc/self/mounts").read_text())
    assert views == []
