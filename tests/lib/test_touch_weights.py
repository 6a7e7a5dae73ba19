"""The numbers of the touchable models: small files that the scripts can make again."""

import json
import re
import sys

import numpy as np
import pytest
import torch

from unrolled.measurements import FOLDER

DATA = FOLDER.parent / "book" / "touch" / "data"
NAMES = sorted(path.stem for path in DATA.glob("*.js"))


def numbers(name: str) -> dict:
    text = (DATA / f"{name}.js").read_text("utf8")
    assert text.startswith(f'unrolledData("{name}", ') and text.endswith(");\n")
    return json.loads(text[text.index("{") : text.rindex(")")])


@pytest.fixture
def script(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(FOLDER), *sys.path])
    import touch_weights

    yield touch_weights
    torch.set_default_dtype(torch.float32)


def test_every_model_of_the_script_is_there(script):
    assert sorted(script.MODELS) == NAMES
    for name in NAMES:
        assert (DATA / f"{name}.js").stat().st_size <= 200_000
        assert numbers(name).get("tests") or name == "bugs"


def test_the_matrices_of_chapter_2_repeat(script):
    again, kept = script.MODELS["radius"](), numbers("radius")
    for name in ("random", "orthogonal", "leaning", "W_xh", "b", "start"):
        np.testing.assert_allclose(again[name], kept[name], atol=1e-6)
    for new, old in zip(again["tests"], kept["tests"], strict=True):
        np.testing.assert_allclose(new["lengths"], old["lengths"], rtol=1e-3)


def test_the_judge_names_every_bug(script):
    from touch_attention import verdicts

    found = verdicts()
    for name, program in numbers("bugs")["programs"].items():
        assert found[name] == (program["says"], program["caught"])


def test_the_searches_of_chapter_10_repeat(script):
    again, kept = script.MODELS["beam"](), numbers("beam")
    assert again["models"] == kept["models"]
    for new, old in zip(again["tests"], kept["tests"], strict=True):
        assert (new["input"], new["order"]) == (old["input"], old["order"])
        np.testing.assert_allclose(new["logp"], old["logp"], atol=1e-5)


def close(again, kept):
    """Nested lists and dictionaries with the same words, and the same numbers to 1e-5."""
    if isinstance(kept, dict):
        assert again.keys() == kept.keys()
        return all(close(again[name], kept[name]) for name in kept)
    if isinstance(kept, list):
        return len(again) == len(kept) and all(map(close, again, kept))
    return abs(again - kept) <= 1e-5 if isinstance(kept, float) else again == kept


@pytest.mark.parametrize("name", ["blank", "masking"])
def test_the_tiny_bert_repeats(script, name):
    again, kept = script.MODELS[name](), numbers(name)
    assert close(json.loads(json.dumps(again)), kept)


def test_one_head_carries_the_number():
    """What the page says of the heads: without this one the verb is a guess, without any other it stays right."""
    data = numbers("blank")
    layer, head = data["off"]
    carries = layer * data["n_heads"] + head
    assert min(data["right"]) == 1 and data["seen"]["looks"] > 0.95
    for n, shares in enumerate(data["seen"]["without"]):
        assert shares[1] == 1 if n != carries else abs(shares[1] - 0.5) < 0.05


def quoted(data: dict) -> list[float]:
    """What the tiny BERT's file has to be quoted: shares, the likeliest words at gaps, the weights of the one head."""
    layer, head = data["off"]
    found = [*data["seen"]["near"].values(), data["seen"]["looks"], data["seen"]["without"][6][1]]
    for test in data["tests"]:
        found += [max(row) for row in test["probabilities"]]
        found += [max(test["weights"][layer][head][t]) for t in test["places"] if "weights" in test]
    return found


def test_numbers_of_the_tiny_bert_in_the_text():
    """Percentages and weights of the page's first half stand, with as many digits, among the numbers of its file."""
    text = (FOLDER.parent / "play" / "blank.md").read_text("utf8")
    text = text.split("**What was seen.**")[1].split("## What is hidden")[0]
    found, known = re.findall(r"(\d+\.\d+)( %)?", text), quoted(numbers("blank"))
    assert len(found) >= 7
    for number, percent in found:
        unit = 100 if percent else 1
        digits = len(number.split(".")[1])
        assert any(abs(float(number) - unit * n) <= 0.5000001 * 10**-digits for n in known), number


@pytest.mark.parametrize("name", ["beam", "sampling"])
def test_numbers_in_the_text_come_from_the_model(name):
    """Decimal numbers of the page stand, with as many digits, among the numbers of its file."""
    text, data = (FOLDER.parent / "play" / f"{name}.md").read_text("utf8"), numbers(name)
    seen = re.split(r"\*\*What was seen\.\*\*", text)[1]
    found = [n for test in data["tests"] for n in test.get("logp", [])] + list(data.get("words", {}).values())
    found += [row[0] for row in data["models"][0]["logp"] if row[0]] if name == "beam" else [data["nats"]]
    for number in re.findall(r"(?<![\d.=] )−?\d+\.\d+", re.sub(r"(α|τ|p) = \d\.\d+|top-p \d\.\d+", "", seen)):
        value, digits = float(number.replace("−", "-")), len(number.split(".")[1])
        assert any(abs(value - n) <= 0.5000001 * 10**-digits for n in found), number
