"""The page "Past one machine"."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "scale.md").read_text("utf8")


def test_files_of_the_page_exist():
    named = re.findall(r"(?:scripts|experiments)/[\w/.]+\w", PAGE)
    assert len(set(named)) >= 5
    for name in named:
        assert (ROOT / name).exists(), name
