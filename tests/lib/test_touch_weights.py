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
    again, kept = script.radius(), numbers("radius")
    for name in ("random", "orthogonal", "leaning", "W_xh", "b", "start"):
        np.testing.assert_allclose(again[name], kept[name], atol=1e-6)
    for new, old in zip(again["tests"], kept["tests"], strict=True):
        np.testing.assert_allclose(new["lengths"], old["lengths"], rtol=1e-3)


def test_the_judge_names_every_bug(script):
    found = script.verdicts()
    for name, program in numbers("bugs")["programs"].items():
        assert found[name] == (program["says"], program["caught"])


def test_the_searches_of_chapter_10_repeat(script):
    again, kept = script.beam(), numbers("beam")
    assert again["models"] == kept["models"]
    for new, old in zip(again["tests"], kept["tests"], strict=True):
        assert (new["input"], new["order"]) == (old["input"], old["order"])
        np.testing.assert_allclose(new["logp"], old["logp"], atol=1e-5)


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
