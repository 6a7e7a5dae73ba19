"""No machine-made mutant of a reference gets full marks, unless it is listed as computing the same."""

import pytest

from autograder.course import ROOT
from autograder.exercises import all_exercises, load_variants
from autograder.soundness import _judge_in_time, mutants, soundness
from autograder.soundness_page import section

load_variants()
PAGE = (ROOT / "docs" / "soundness.md").read_text("utf8")
EXERCISES = list({id(exercise): exercise for exercise in all_exercises().values()}.values())


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.id)
def test_every_mutant_is_caught_or_listed(exercise):
    found = soundness(exercise)
    assert found.survivors == []
    assert section(found) in PAGE, "docs/soundness.md is not what a trial gives; run `make soundness`"
    assert found.variants_wrong == [] and found.mistakes_unnamed == []
    for known in exercise.misconceptions:
        verdict = found.known[known.implementation.__name__]
        assert {p.probe for p in verdict.properties if not p.passed} == set(known.fails), known.id
    listed = [description for description, _ in mutants(exercise) if description in exercise.equivalent]
    assert set(listed) == set(exercise.equivalent), "an entry of `equivalent` is no mutant any more"
    assert len(listed) <= max(1, found.mutants // 10)


def test_there_are_mutants_enough():
    assert sum(len(list(mutants(exercise))) for exercise in EXERCISES) > 10 * len(EXERCISES)


def test_a_blind_judge_would_be_noticed(monkeypatch):
    exercise = all_exercises()["softmax"]
    monkeypatch.setattr("autograder.soundness.judge_functions", _everything_is_right)
    assert soundness(exercise).survivors != []


def _everything_is_right(exercise, functions):
    from autograder.exercise import Verdict

    return Verdict(exercise.id, "correct", exercise.points, exercise.points)


def test_a_mutant_that_never_ends_is_given_up(monkeypatch):
    def softmax(o):
        while True:
            pass

    monkeypatch.setattr("autograder.soundness.SECONDS", 1)
    assert _judge_in_time(all_exercises()["softmax"], softmax) is None
