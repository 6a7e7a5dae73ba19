"""Citations, notation card, map, part pages, equations: each is made from one source, and complete."""

import re
from pathlib import Path

import pytest
from docutils import nodes
from unrolled_book import citations, course_map, notation_card, outputs, parts, stacked_tables
from unrolled_book.math_html import math_html

from autograder.course import chapters
from autograder.equation_names import NAMES
from autograder.equations_page import equations_of, equations_page
from autograder.exercises import chapter_exercises

ROOT = Path(__file__).parents[2]
START = (ROOT / "chapters" / "00_start" / "start.md").read_text("utf8")


def test_every_citation_of_a_chapter_has_a_text():
    known = citations.references((ROOT / "docs" / "references.md").read_text("utf8"))
    cited = {
        target
        for chapter in chapters()
        for target in re.findall(r"\(#(ref-[\w-]+)\)", chapter.source.read_text("utf8"))
    }
    assert len(cited) > 100 and cited <= set(known)
    assert known["ref-elman1990"].startswith("Elman 1990. J. L. Elman. Finding structure in time.")
    assert not any(mark in text for text in known.values() for mark in ("*", "`", "]("))


def test_the_notation_card_holds_letters_names_and_masks():
    card = notation_card.card(START)
    shapes = card.split("</table>")[0]
    letters = re.findall(r'<th scope="row"><span class="aid-math"><i>([A-Z])</i></span></th>', shapes)
    assert sorted(letters) == sorted("BTSVEHDNKF")
    assert "<i>W</i><sub>xh</sub></span></th><td>input to hidden</td>" in card
    assert "<code>True</code> means <em>a real token</em>" in card
    assert card.count("<table>") == 5 and "\\" not in card and "$" not in card


@pytest.mark.parametrize(
    ("tex", "html"),
    [
        (r"W_{xh}\, x_t", "<i>W</i><sub>xh</sub><i>x</i><sub>t</sub>"),
        (r"h^{(\ell)}_t", "<i>h</i><sup>(ℓ)</sup><sub>t</sub>"),
        (r"\tilde h", "<i>h\u0303</i>"),
        (r"a < b", "<i>a</i>&lt;<i>b</i>"),
    ],
)
def test_short_formulas_become_html(tex, html):
    assert math_html(tex) == html


def test_a_formula_that_is_not_known_is_no_silent_mistake():
    with pytest.raises(ValueError, match="frac"):
        math_html(r"\frac{1}{2}")


def test_the_map_shows_every_chapter_and_only_earlier_needs():
    stops = course_map.stops(START)
    assert [stop.number for stop in stops] == [int(c.name[:2]) for c in chapters() if not c.name.startswith("00")]
    assert all(needed < stop.number for stop in stops for needed in stop.needs)
    drawn = course_map.svg(stops, lambda number: f"c{number}.html", lambda part: f"p{part}.html")
    links = re.findall(r'href="([cp]\d+)\.html"', drawn)
    assert links == ["p1", "p2", "p3", *(f"c{n}" for n in range(1, 16))]
    assert drawn.count("marker-end") == sum(len(stop.needs) for stop in stops)


def test_the_part_pages_name_each_chapter_once_and_in_its_part():
    pages = [(ROOT / "docs" / f"part{part}.md").read_text("utf8") for part in (1, 2, 3)]
    asked = [[int(number) for number in re.findall(r"^(\d+): .+\?$", page, re.MULTILINE)] for page in pages]
    assert asked == [list(range(1, 6)), list(range(6, 11)), list(range(11, 16))]


@pytest.mark.parametrize("chapter", chapters(), ids=lambda c: c.name)
def test_minutes_of_a_part_page_are_those_of_the_registry(chapter):
    own = f"{int(chapter.name[:2])}."  # the last chapter asks the exercises of the others once more
    exercises = [exercise for exercise in chapter_exercises(chapter.name) if exercise.number.startswith(own)]
    counted = parts.work(chapter.student)
    source = chapter.source.read_text("utf8")
    explained = re.findall(r"^\*\d+ points? · (\d+) minutes, graded by a person", source, re.MULTILINE)
    assert counted.minutes == sum(e.minutes for e in exercises) + sum(map(int, explained))
    assert counted.tasks == len(exercises) + len(explained)


def test_every_labelled_equation_has_a_name_of_its_own():
    labels = [equation.label for chapter in chapters() for equation in equations_of(chapter)]
    written = [
        label
        for chapter in chapters()
        for label in re.findall(r"\$\$\s*\((eq-[a-z0-9-]+)\)", chapter.source.read_text("utf8"))
    ]
    assert labels == written == list(NAMES)
    assert len(set(NAMES.values())) == len(NAMES)


def test_the_page_of_equations_is_complete():
    page = (ROOT / "docs" / "equations.md").read_text("utf8")
    assert page == equations_page(chapters())
    entry = page.split("### LSTM gates: forget gate, input gate, output gate, candidate\n")[1].split("###")[0]
    assert "[(4.1)](#eq-lstm-gates)" in entry and "lstm_gru.ipynb#erase-write-read" in entry


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("rnn_step is not written yet: the book's own version stands in.", False),
        ("program A: 0.04, program B: 0.04\nand more", False),
        ("        mean\nRNN     0.5", True),
        ("mean  0.1", True),
        ("a\tb", True),
    ],
)
def test_printed_columns_are_told_from_sentences(text, columns):
    assert outputs.has_columns(text) == columns


def test_the_cells_of_a_wide_table_say_their_column():
    def row(*cells: str) -> nodes.row:
        return nodes.row("", *(nodes.entry("", nodes.paragraph("", cell)) for cell in cells))

    group = nodes.tgroup("", nodes.thead("", row("a", "b", "c", "")), nodes.tbody("", row("1", "2", "3", "4")))
    table = nodes.table("", group)
    stacked_tables.label_cells(table)
    assert [entry.astext() for entry in table.findall(nodes.entry)][4:] == ["1", "2", "c: 3", "4"]
    assert table["classes"] == ["aid-stack"]
