"""Learning per minute: what a run counts, what a race says of two curves, and that every recipe can make a step."""

import doctest
import importlib
import json
import os
import sys

import bench
import group_learning
import harness
import pytest
import race
import torch
from learning import WHOLE, Learner, looks

from unrolled.measurements import stored

RESULTS = [one for one in json.loads(harness.RESULTS.read_text()) if one["group"] == "learning"]
RACES = group_learning.races()
SECONDS = {"seconds": [1.0, 2.0, 4.0, 8.0], "load": 0.1}


def curve(*errors: float) -> dict:
    return SECONDS | {"error": list(errors)}


def say(peer: dict, *ours: dict) -> list[dict]:
    one = race.Race("letters against theirs", "nats", "theirs", None, None, "it is too small a network")
    return group_learning.rows_of(one, {"peer": [peer], "ours": list(ours)})


def test_a_run_looks_now_and_then_and_once_at_the_end():
    done = []

    def updates():
        for n in range(7):
            done.append(n)
            yield

    assert [error for _, error in looks(Learner(updates(), lambda: float(len(done)), every=3))] == [3.0, 6.0, 7.0]
    assert [error for _, error in looks(Learner(iter([None] * 4), lambda: 1.0, every=2))] == [1.0, 1.0]
    assert list(looks(Learner(iter([]), lambda: 5.0, every=1))) == [(0.0, 5.0)], "a peer that is trained"


def test_looks_cost_no_time():
    def error() -> float:
        return float(torch.randn(2000, 2000).mm(torch.randn(2000, 2000))[0, 0] * 0)

    *_, (seconds, _) = looks(Learner(iter([None] * 3), error, every=1))
    assert seconds < 0.05


def test_the_worst_seed_counts_at_half_the_time_and_to_the_peers_error():
    rows = say(curve(4, 3, 2.5, 2), curve(3, 2, 1.5, 1), curve(3, 2.1, 1.9, 1.2))
    assert [(one["name"], one["ours"], one["peer"], one["holds"]) for one in rows] == [
        ("letters against theirs: error at half the time", 1.9, 2, True),
        ("letters against theirs: seconds to the same error", 4.0, 8.0, True),
    ]


def test_who_never_gets_there_has_no_seconds_and_misses():
    (only,) = say(curve(4, 3, 2.5, 2), curve(3, 2, 1.5, 1), curve(3, 2.5, 2.4, 2.3))
    assert only["holds"] is False and only["ours"] == 2.4 and "too small" in only["why"]


def test_a_peer_that_comes_trained_is_compared_at_the_end():
    (only,) = say({"seconds": [0.0], "error": [8.0], "load": 0.1}, curve(9, 8, 7, 6), curve(9, 8, 7.5, 7))
    assert only["name"].endswith("error at the end") and only["ours"] == 7 and only["holds"] is True


def test_who_first_looks_after_half_the_time_is_taken_at_its_first_look():
    late = {"seconds": [5.0, 9.0], "error": [3.0, 1.0], "load": 0.1}
    assert race.at_half(late, 4.0) == 3.0 and race.until(late, 0.5) is None


def test_a_long_curve_is_thinned_and_keeps_its_ends():
    long = {"seconds": list(range(100)), "error": list(range(100, 0, -1)), "load": 0}
    found = group_learning.thinned(long)
    assert len(found["seconds"]) == 24 and found["seconds"][0] == 0 and found["error"][-1] == 1
    assert group_learning.thinned(curve(4, 3, 2, 1))["error"] == [4, 3, 2, 1]


def test_every_race_that_was_asked_for_is_run():
    names = " ".join(RACES)
    for word in ("tinyshakespeare", "nanoGPT", "Time Machine", "names", "French", "tags", "sounds", "d2l", "makemore"):
        assert word in names, word
    measured = {one["name"].rpartition(": ")[0] for one in RESULTS}
    assert measured == set(RACES)
    for one in RESULTS:
        if "curves" in one:
            assert len(one["curves"]["ours"]) == 3 and len(one["curves"]["peer"]) == 1


def test_a_recipe_that_runs_in_several_races_is_run_once():
    for name, (module, one) in RACES.items():
        others = [n for n, (_, other) in RACES.items() if other.ours is one.ours]
        assert {race.kept(module, n, "ours", 0) for n in others} == {race.kept(module, name, "ours", 0)}
        assert race.kept(module, name, "ours", 0) != race.kept(module, name, "ours", 1)
        assert race.kept(module, name, "ours", 0) != race.kept(module, name, "peer", 0)


def test_what_is_finished_is_forgotten_so_that_the_next_run_measures(tmp_path, monkeypatch):
    monkeypatch.setattr(harness, "RESULTS", tmp_path / "results.json")
    monkeypatch.setattr(bench, "HERE", tmp_path)
    monkeypatch.setattr(race, "CURVES", tmp_path / "curves")
    monkeypatch.setattr(
        group_learning, "cases", lambda: [harness.Case("a", lambda: say(curve(4, 3, 2, 1), curve(3, 2, 1, 1)))]
    )
    (tmp_path / "curves").mkdir()
    bench.run("learning", again=False)
    assert not (tmp_path / "curves").exists() and not list(tmp_path.glob(".partial*"))
    assert len(json.loads((tmp_path / "results.json").read_text())) == 2


@pytest.mark.parametrize("name", group_learning.MODULES)
def test_each_idea_of_a_recipe_has_a_measurement_and_a_reason(name):
    script = importlib.import_module(f"learning_{name}")
    found = stored(f"learning_{name}")["runs"]
    assert set(found) == {WHOLE, *script.CHANGES}
    for runs in found.values():
        assert len(runs) == 3
    for change in script.CHANGES.values():
        assert len(change.why.split()) > 5
        recipe = script.Recipe()
        for field, value in change.without.items():
            assert getattr(recipe, field) != value, f"{name}: {field} is the same with and without"


@pytest.mark.skipif("UNROLLED_MIRROR" not in os.environ, reason="no mirror folder: UNROLLED_MIRROR is not set")
@pytest.mark.parametrize("side", ["ours", "peer"])
@pytest.mark.parametrize("name", RACES)
def test_every_side_can_make_a_step(name, side):
    torch.manual_seed(0)
    learner = getattr(RACES[name][1], side)(0)
    assert learner.every > 0 and callable(learner.error)
    next(learner.updates, None)


def test_data_that_are_missing_end_in_one_sentence(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("UNROLLED_MIRROR", str(tmp_path))
    monkeypatch.setattr(race, "CURVES", tmp_path / "curves")
    monkeypatch.setattr(bench, "HERE", tmp_path)
    tags = next(case for case in group_learning.cases() if case.name.startswith("tags"))
    monkeypatch.setattr(group_learning, "cases", lambda: [tags])
    assert bench.main(["--group", "learning"]) == 1
    said = capsys.readouterr().err.strip().splitlines()
    assert len(said) == 1 and "ud-english-ewt" in said[0] and "copy it there" in said[0]
    assert not list(tmp_path.iterdir())


def test_a_run_that_fails_says_why():
    core = min(os.sched_getaffinity(0))
    with pytest.raises(harness.CannotMeasure, match="no such letter"):
        list(race.alone([sys.executable, "-c", "import sys; print(1, flush=True); sys.exit('no such letter')"], core))
    assert list(race.alone([sys.executable, "-c", "print(1); print(2)"], core)) == ["1", "2"]


def test_an_idea_counts_only_if_no_seed_says_otherwise():
    assert group_learning.against([3.1, 3.2], [3.0, 2.9]) == "larger"
    assert group_learning.against([2.0, 2.8], [3.0, 2.9]) == "smaller"
    assert group_learning.against([2.95, 4.0], [3.0, 2.9]) == "not told apart"


@pytest.mark.parametrize("name", group_learning.MODULES)
def test_the_examples_of_the_recipes_run(name):
    for module in ("learning", f"learning_{name}", f"race_{name}"):
        assert doctest.testmod(importlib.import_module(module)).failed == 0


def test_the_network_of_nanogpt_has_as_many_parameters_as_it_says():
    """0.80 million; two of our 67 ids are never used."""
    peer = importlib.import_module("race_shakespeare")
    assert round(sum(p.numel() for p in peer.NanoGPT().parameters()) / 1e6, 2) == 0.80
