"""Who changed and why, from the verdict log; what counts as a change of the course."""

import nbformat
import pytest

from autograder import fingerprint
from autograder.changes import changes, changes_since, summary
from autograder.course import chapter
from autograder.exercise import Verdict
from autograder.fingerprint import basis, judging_modules, regrade_key
from autograder.ledger import Ledger

CHAPTER = chapter("01_recurrence")
OF = {"exercises": "e", "library": "l", "judge": "j", "packages": "p", "answers": {"softmax": "1", "rnn_step": "1"}}


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path)


def judged(ledger, points, student="ada", sandbox=True, **other):
    kind = "correct" if points == 2 else "misconception"
    verdict = Verdict("softmax", kind, points, 2, detail="" if points == 2 else "over_time")
    ledger.judged(student, CHAPTER.name, "key", [verdict], sandbox, OF | other)


@pytest.mark.parametrize(
    ("other", "why"),
    [
        ({"answers": {"softmax": "2", "rnn_step": "1"}}, "the answer changed"),
        ({"answers": {"softmax": "1", "rnn_step": "2"}}, "another cell of the submission changed"),
        ({"exercises": "e2"}, "the exercises changed"),
        ({"library": "l2", "packages": "p2"}, "the library changed, the packages changed"),
        ({"judge": "j2"}, "the judge changed"),
        ({"sandbox": False}, "without walls"),
        ({}, "nothing but the questions: look at this answer"),
    ],
)
def test_a_changed_verdict_says_why(ledger, other, why):
    judged(ledger, 0.5)
    judged(ledger, 2, **other)
    (found,) = changes(ledger.entries())
    assert (found.student, found.exercise, found.why) == ("ada", "softmax", why)
    assert found.before == ("misconception:over_time", 0.5) and found.after == ("correct", 2)
    assert summary([found]) == f"1 verdicts of 1 student changed: 1 because {why}."


def test_an_older_log_has_no_reasons(ledger):
    ledger.judged("ada", CHAPTER.name, "key", [Verdict("softmax", "wrong", 0, 2)], True)
    judged(ledger, 2)
    assert [found.why for found in changes(ledger.entries())] == ["not known: the log is from before reasons were kept"]


def test_a_run_that_was_killed_belongs_to_the_next_one(ledger):
    judged(ledger, 0.5), judged(ledger, 0.5, "bob"), judged(ledger, 0.5, "cyd")
    ledger.finished(CHAPTER.name)
    judged(ledger, 2, exercises="new")  # and killed here
    begin = ledger.end_of_last_run(CHAPTER.name)
    judged(ledger, 2, "bob", exercises="new")
    ledger.finished("02_bptt")
    found, again = changes_since(list(ledger.entries()), begin, CHAPTER.name)
    assert [one.student for one in found] == ["ada", "bob"] and again == 2


def test_where_the_best_attempt_counts_points_do_not_fall(ledger):
    judged(ledger, 2)
    judged(ledger, 0.5, answers={})
    (found,) = changes(ledger.entries(), best=True)
    assert found.before[1] == found.after[1] == 2 and found.after[0] == "misconception:over_time"
    (found,) = changes(ledger.entries())
    assert found.after[1] == 0.5


def test_only_what_the_judge_imports_counts():
    counted = set(judging_modules())
    assert {"intake", "grading", "judge", "answer", "values", "probe", "respond", "sandbox", "source"} <= counted
    assert counted.isdisjoint({"report", "report_page", "export", "feedback", "cli", "collect", "doctor", "show"})


def test_the_fingerprint_follows_the_parts_that_count(tmp_path, monkeypatch):
    released = nbformat.read(CHAPTER.student, as_version=4)
    before, parts = regrade_key(released, CHAPTER.name), basis(released, CHAPTER.name)
    assert parts["answers"].keys() >= {"softmax", "explain-position"}
    monkeypatch.setattr(fingerprint, "PACKAGES", ("torch",))
    fingerprint.course_parts.cache_clear()
    assert regrade_key(released, CHAPTER.name) != before
    after = basis(released, CHAPTER.name)
    fingerprint.course_parts.cache_clear()
    assert {part for part in parts if parts[part] != after[part]} == {"packages"}
