"""The built book: complete, and without an answer in any text that it ships."""

import json
import re
from pathlib import Path

import pytest

from autograder.course import chapters
from autograder.exercises import all_exercises
from autograder.leaks import leaks_in, secrets, texts_of_book, texts_of_notebook
from autograder.source import function_source

ROOT = Path(__file__).parents[2]
HTML = ROOT / "_build" / "html"


@pytest.fixture(scope="module", autouse=True)
def built():
    assert (HTML / "index.html").exists(), "build the book first: make html"


def test_no_answer_or_known_mistake_shows_in_the_book():
    assert len(secrets()) > 20
    assert leaks_in(texts_of_book(HTML)) == []


def test_no_answer_shows_in_the_student_editions():
    for chapter in chapters():
        assert leaks_in(texts_of_notebook(chapter.student)) == []
        text = chapter.student.read_text("utf8")
        assert "BEGIN SOLUTION" not in text and "Known mistakes" not in text


def test_the_leak_check_can_fail():
    answer = function_source(all_exercises()["rnn_forward"].references[0])
    assert leaks_in([("planted", answer)]) == ["planted: rnn_forward"]
    relaid = answer.replace("    ", "  ").replace("  # eq-rnn-forward", "")
    assert leaks_in([("planted", f"some words before\n{relaid}\nand after")]) == ["planted: rnn_forward"]


@pytest.mark.parametrize(
    "place", ["a.html", "searchindex.js", "_sources/a.md", "_sources/a.ipynb", "touch/data/a.js", "_static/a.js"]
)
def test_the_leak_check_reads_whatever_the_book_ships(tmp_path, place):
    answer = function_source(all_exercises()["rnn_forward"].references[0])
    cell = {"cell_type": "code", "id": "a", "source": answer, "outputs": []}
    path = tmp_path / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"cells": [cell]}) if path.suffix == ".ipynb" else answer)
    assert [found.split(": ")[1] for found in leaks_in(texts_of_book(tmp_path))][:1] == ["rnn_forward"]


@pytest.mark.parametrize("chapter", chapters(), ids=lambda c: c.name)
def test_every_output_of_a_chapter_is_on_its_page(chapter):
    page = (HTML / "chapters" / chapter.name / f"{chapter.slug}.html").read_text("utf8")
    cells = json.loads(chapter.student.read_text("utf8"))["cells"]
    figures = sum("image/svg+xml" in o.get("data", {}) for c in cells for o in c.get("outputs", []))
    assert figures >= 2
    assert page.count("image/svg") + len(re.findall(r'<img[^>]+\.svg"', page)) >= figures
    assert page.count('class="unrolled-check') == sum(
        'class="unrolled-check' in "".join(o.get("data", {}).get("text/html", ""))
        for c in cells
        if "remove-cell" not in c["metadata"].get("tags", [])  # what a chapter revisits is folded away in the book
        for o in c.get("outputs", [])
    )
    assert "Traceback" not in page
