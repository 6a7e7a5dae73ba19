"""A chapter as PDF: all of its text, its equations and figures, and nothing that only a screen can use."""

import re
import subprocess
import sys

import pytest
from pypdf import PdfReader

from book import ROOT
from print_chapters import chapter_pages, print_page

SCRIPT = ROOT / "tests" / "browser" / "print_chapters.py"


@pytest.fixture(scope="module")
def printed(offline, tmp_path_factory):
    file = tmp_path_factory.mktemp("pdf") / "04_lstm_gru.pdf"
    print_page(offline, chapter_pages()["04_lstm_gru"], file)
    return PdfReader(file)


@pytest.fixture(scope="module")
def texts(printed):
    """The words of each page."""
    return [re.sub(r"\s+", " ", page.extract_text()) for page in printed.pages]


def test_the_whole_chapter_is_there(texts):
    text = " ".join(texts)
    assert 12 <= len(texts) <= 60
    headings = re.findall(r"^## (.+)$", (ROOT / "chapters/04_lstm_gru/lstm_gru.md").read_text("utf8"), re.MULTILINE)
    assert [heading for heading in headings if heading not in text] == []
    assert "In spite of its name, an open forget gate keeps." in text, "what is folded on the screen is open on paper"
    assert "Figure 4.1." in text and "torch.cat" in text
    for word in ("Section read", "Click to show", "previous page", "Search", r"\[ ", r"\("):
        assert word not in text, word


def test_pages_are_upright_a4_with_numbers_and_an_outline(printed, texts):
    boxes = {(round(page.mediabox.width), round(page.mediabox.height)) for page in printed.pages}
    assert boxes == {(595, 842)}
    for number, text in enumerate(texts, 1):
        assert f"{number} / {len(texts)}" in text and len(text) > 100, f"page {number} is empty or has no number"
    titles = {entry.title for entry in _flat(printed.outline)}
    assert {"Erase, write, read", "What was learned"} <= titles


def _flat(outline):
    for entry in outline:
        if isinstance(entry, list):
            yield from _flat(entry)
        else:
            yield entry


def test_an_unknown_chapter_ends_in_one_sentence():
    ended = subprocess.run([sys.executable, SCRIPT, "99_none"], capture_output=True, text=True)
    assert ended.returncode == 2
    assert ended.stderr.startswith("pdf: there is no chapter 99_none; the chapters are 00_start, ")
    assert "Traceback" not in ended.stderr
