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
    assert set(document) == {"seeds", "versions", "seconds", "values"}
    assert len(document["seeds"]) >= 3 or name.endswith("_explorer")  # one network to be looked at, nothing measured
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


@pytest.mark.parametrize("name, limit", [("ch07_explorer", 200_000), ("ch09_explorer", 400_000)])
def test_explorers_are_small_and_their_weights_sum_to_one(name, limit):
    path = FOLDER / f"{name}.json"
    assert path.stat().st_size <= limit
    for entry in stored(name)["verses"]:
        rows = np.array(entry.get("weights", entry.get("cross")))  # (written, read), or with layers and heads before
        assert rows.shape[-2:] == (len(entry["written"]), len(entry["read"]))
        np.testing.assert_allclose(rows.sum(-1), 1, atol=0.1)


def test_numbers_of_the_small_encoder_are_complete():
    """Computed anew from the stored numbers alone, as a page would do it."""
    stack = stored("ch09_explorer")["stack"]
    p, D, N = stack["parameters"], stack["D"], stack["n_heads"]

    def norm(x, g, b):
        return np.array(g) * (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5) + np.array(b)

    def linear(x, weight, bias):
        return x @ np.array(weight).T + np.array(bias)

    for test in stack["tests"]:
        ids = np.array(test["ids"])
        T = len(ids)
        may = np.ones((T, T), dtype=bool) if test["mask"] == "none" else np.tile(ids != stack["pad"], (T, 1))
        may = np.tril(may) if test["mask"] == "causal" else may
        x = D**0.5 * np.array(p["tokens"])[ids] + np.array(p["positions"])[:T]
        for layer, weights in zip(p["layers"], test["weights"], strict=True):
            z = norm(x, **layer["norm_1"])
            q, k, v = (linear(z, **layer[name]).reshape(T, N, D // N).transpose(1, 0, 2) for name in "qkv")
            scores = np.where(may, q @ k.transpose(0, 2, 1) / (D // N) ** 0.5, -np.inf)
            alpha = np.exp(scores - scores.max(-1, keepdims=True))
            alpha /= alpha.sum(-1, keepdims=True)
            np.testing.assert_allclose(alpha, weights, atol=1e-5)
            x = x + linear((alpha @ v).transpose(1, 0, 2).reshape(T, D), **layer["o"])
            hidden = np.maximum(linear(norm(x, **layer["norm_2"]), **layer["wide"]), 0)
            x = x + linear(hidden, **layer["back"])
        np.testing.assert_allclose(linear(norm(x, **p["last"]), **p["output"]), test["logits"], atol=2e-6)
