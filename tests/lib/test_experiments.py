"""The committed measurements: complete, and the shortest one repeated."""

import json
import sys

import numpy as np
import pytest
import torch

from unrolled.measurements import FOLDER, stored

NAMES = sorted(path.stem for path in FOLDER.glob("ch*_*.py"))


@pytest.mark.parametrize("name", NAMES)
def test_every_script_has_its_measurement(name):
    document = json.loads((FOLDER / f"{name}.json").read_text())
    assert set(document) == {"seeds", "versions", "seconds", "values"} and len(document["seeds"]) >= 3
    assert document["values"] == stored(name)


def test_a_missing_measurement_is_named():
    with pytest.raises(FileNotFoundError, match="no_such"):
        stored("no_such")


def test_position_experiment_repeats(monkeypatch):
    """One seed of the shortest experiment, for each model; another machine may round otherwise, hence the tolerance."""
    monkeypatch.setattr(sys, "path", [str(FOLDER), *sys.path])
    import ch01_position

    for kind in ("fcnn", "conv"):
        again = np.array(ch01_position.measure(kind, seed=0))
        np.testing.assert_allclose(again, stored("ch01_position")[kind][0], atol=0.05)


def test_entropy_experiment_repeats(monkeypatch):
    """One seed at the two ends; the random numbers are the same on every machine, sums may round otherwise."""
    monkeypatch.setattr(sys, "path", [str(FOLDER), *sys.path])
    import ch08_entropy

    kept = stored("ch08_entropy")
    for place in (0, -1):
        again = ch08_entropy.measure(kept["widths"][place], seed=0)
        for name, value in again.items():
            assert value == pytest.approx(kept[name][0][place], rel=1e-3), name


def test_gradients_of_transformers_repeat(monkeypatch, double):
    """One seed; without training nothing grows apart."""
    monkeypatch.setattr(sys, "path", [str(FOLDER), *sys.path])
    import ch09_gradients

    for kind, runs in stored("ch09_gradients")["down the stack"].items():
        torch.manual_seed(0)
        np.testing.assert_allclose(ch09_gradients.down_the_stack(kind), runs[0], rtol=1e-3)


def test_translators_have_their_measurement():
    for path in FOLDER.glob("pairs_*.json"):
        document = json.loads(path.read_text())
        assert all(len(runs) == len(document["seeds"]) >= 3 for runs in document["values"].values())


def test_borrowed_weights_experiment_repeats(monkeypatch):
    """The words of three lengths; they are drawn first, so they are the same ones."""
    monkeypatch.setattr(sys, "path", [str(FOLDER), *sys.path])
    import ch06_g2p

    monkeypatch.setattr(ch06_g2p, "LENGTHS", ch06_g2p.LENGTHS[:3])
    again, before = ch06_g2p.measure(seed=0), stored("ch06_g2p")["runs"][0]
    for name, values in again.items():
        np.testing.assert_allclose(values, before[name][:3], atol=0.01)
