"""The verdict log: chained, torn lines dropped, changes noticed, unchanged work recognised."""

import json

import nbformat
import pytest

from autograder.course import chapter
from autograder.exercise import CourseError, Verdict
from autograder.fingerprint import regrade_key
from autograder.ledger import NAME, Ledger

CHAPTER = chapter("01_recurrence")


@pytest.fixture
def ledger(tmp_path):
    found = Ledger(tmp_path)
    for student, points in (("ada", 2), ("bob", 0)):
        verdict = Verdict("rnn_step", "correct" if points else "wrong", points, 2)
        found.judged(student, CHAPTER.name, f"key of {student}", [verdict], sandbox=True)
        found.recorded(student, CHAPTER.name, f"key of {student}")
    return found


def test_entries_come_back_in_order(ledger):
    assert [(e["event"], e["student"]) for e in ledger.entries()] == [
        ("judged", "ada"), ("recorded", "ada"), ("judged", "bob"), ("recorded", "bob"),
    ]  # fmt: skip
    assert ledger.recorded_keys() == {("ada", CHAPTER.name): "key of ada", ("bob", CHAPTER.name): "key of bob"}


def test_seeds_are_new_after_a_run_and_after_an_attempt(ledger):
    first = ledger.pools(CHAPTER.name)
    assert first("ada", "key of ada") == first("new", "key") == "run 0, attempt 0"  # a run that was killed goes on
    assert first("ada", "key of something else") == "run 0, attempt 1"
    ledger.finished(CHAPTER.name)
    assert ledger.pools(CHAPTER.name)("ada", "key of ada") == "run 1, attempt 0"
    assert ledger.pools("02_bptt")("ada", "key of ada") == "run 0, attempt 0"


def test_judged_alone_is_not_done(ledger):
    ledger.judged("cyd", CHAPTER.name, "key", [], sandbox=True)
    assert ("cyd", CHAPTER.name) not in ledger.recorded_keys()


@pytest.mark.parametrize("line", [0, 1, 3])
def test_a_changed_line_breaks_the_chain(ledger, line):
    lines = ledger.path.read_text().splitlines()
    entry = json.loads(lines[line])
    entry["student"] = "eve"
    lines[line] = json.dumps(entry, sort_keys=True)
    ledger.path.write_text("\n".join(lines) + "\n")
    with pytest.raises(CourseError, match=f"{NAME}, line {line + 1}: the chain is broken"):
        list(ledger.entries())


def test_a_removed_line_breaks_the_chain(ledger):
    lines = ledger.path.read_text().splitlines()
    ledger.path.write_text("\n".join(lines[:1] + lines[2:]) + "\n")
    with pytest.raises(CourseError, match="line 2"):
        list(ledger.entries())


def test_a_line_that_a_kill_cut_off_is_dropped(ledger):
    whole = ledger.path.read_bytes()
    for cut in (1, 7, 100):
        ledger.path.write_bytes(whole[:-cut])
        assert len(list(ledger.entries())) == 3
    ledger.recorded("bob", CHAPTER.name, "key of bob")
    assert len(list(ledger.entries())) == 4


def test_the_key_follows_the_sources():
    released = nbformat.read(CHAPTER.student, as_version=4)
    before = regrade_key(released, CHAPTER.name)
    assert before == regrade_key(nbformat.read(CHAPTER.student, as_version=4), CHAPTER.name)
    next(c for c in released.cells if c.id == "softmax").source += "\n# changed"
    assert regrade_key(released, CHAPTER.name) != before
