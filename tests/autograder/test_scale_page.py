"""The page "Past one machine": its numbers are stored ones, and those that were counted can be counted again."""

import json
import re
import sys
from pathlib import Path

from test_chapters import NUMBER, leaves

from unrolled.measurements import FOLDER, stored

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "scale.md").read_text("utf8")


def test_numbers_of_the_page_are_stored():
    known = {value for name in ("scale", "throughput") for value in leaves(stored(name))}
    prose = re.sub(r"```.*?```|`[^`]*`|\]\([^)]*\)", " ", PAGE, flags=re.DOTALL)
    quoted = NUMBER.findall(prose)
    assert len(quoted) > 20
    for number in quoted:
        digits = len(number.split(".")[1])
        assert float(number) in {round(value, digits) for value in known}, f"{number} is not stored"


def test_files_of_the_page_exist():
    named = re.findall(r"(?:scripts|experiments)/[\w/.]+\w", PAGE)
    assert len(set(named)) >= 6
    for name in named:
        assert (ROOT / name).exists(), name


def test_what_was_counted_is_counted_again(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(FOLDER), *sys.path])
    import scale

    kept = stored("scale")
    assert scale.counts() == kept["counts"]
    assert json.loads(json.dumps(scale.whole())) == kept["whole"]
    assert all(kept["counts"][f"rows of {length}"]["ratio"] == 1 for length in (128, 512))


def test_the_page_says_under_which_circumstances_it_was_timed():
    said = stored("throughput")["circumstances"]
    assert "busy" not in said or "kept busy" in PAGE
