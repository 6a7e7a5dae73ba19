"""The committed measurements: complete, and the shortest one repeated."""

import json
import sys

import numpy as np
import pytest

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
