"""The glossary: complete entries, links that lead somewhere, and calm, right places in the chapters."""

import re
from itertools import pairwise
from pathlib import Path

import nbformat
import pytest
from docutils import nodes
from unrolled_book.glossary import PER_SECTION, Finder, link_terms, terms

from autograder.coverage import anchor

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "glossary.md").read_text("utf8")
TERMS = terms(PAGE)


def headings(notebook: Path) -> set[str]:
    texts = [cell.source for cell in nbformat.read(notebook, as_version=4).cells if cell.cell_type == "markdown"]
    return {anchor(title) for text in texts for title in re.findall(r"^#+ +(.+)$", text, re.MULTILINE)}


def test_every_heading_of_the_page_is_a_complete_entry():
    assert len(TERMS) >= 70
    assert [term.name for term in TERMS] == re.findall(r"^### (.+)$", PAGE, re.MULTILINE)
    for term in TERMS:
        assert 1 <= len(re.findall(r"[.?](?:\s|$)", term.text)) <= 3, term
        assert 5 <= len(term.text.split()) <= 45, term


def test_entries_are_sorted_and_no_form_belongs_to_two():
    names = [term.name.lower() for term in TERMS]
    assert all(one < other for one, other in pairwise(names))
    forms = [form.lower() for term in TERMS for form in term.forms]
    assert len(set(forms)) == len(forms)


@pytest.mark.parametrize("place", sorted({term.place for term in TERMS}))
def test_an_entry_leads_to_a_section_that_exists(place):
    path, section = place.split("#")
    assert section in headings(ROOT / "docs" / path)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("The softmax of it", "softmax"),
        ("Softmax of it", "softmax"),
        ("two LSTMs and", "LSTM"),
        ("truncated BPTT stops", "truncated BPTT"),
        ("by Douglas Adams, 1984", None),
        ("CNN/LSTM", None),
        ("an attention-based model", None),
        ("self-attention layers", "self-attention"),
        ("an agate stone", None),
    ],
)
def test_a_form_is_found_as_a_whole_word(text, name):
    found = Finder(TERMS).first(text, lambda term: True)
    assert (found[1].name if found else None) == name


def page(*sections: nodes.section) -> nodes.document:
    document = nodes.document(None, None)
    document += nodes.section("", nodes.title("", "7 · Attention"), *sections)
    return document


def section(title: str, *children: nodes.Node, slug: str = "") -> nodes.section:
    return nodes.section("", nodes.title("", title), *children, slug=slug)


def linked(document: nodes.document, here: str = "chapters/07_attention/attention") -> list[str]:
    return link_terms(document, Finder(TERMS), here, lambda anchor: f"glossary#{anchor}")


def test_only_running_text_is_linked_and_each_term_once():
    code = nodes.paragraph("", "", nodes.literal("", "softmax"))
    known = nodes.paragraph("", "", nodes.reference("", "softmax", refuri="x"))
    output = nodes.container("", nodes.paragraph("", "softmax"), classes=["cell_output"])
    first, second = nodes.paragraph("", "The softmax here."), nodes.paragraph("", "The softmax there.")
    document = page(section("The softmax", code, known, output, first), section("Again", second))
    assert linked(document) == ["softmax"]
    (link,) = first.findall(nodes.reference)
    assert link.astext() == "softmax" and link["refuri"] == "glossary#softmax"
    assert link["reftitle"].startswith("Turns scores into probabilities")
    assert document.astext().count("softmax") == 6


def test_a_section_stays_calm():
    many = [nodes.paragraph("", f"The {word}, and BLEU.") for word in ("softmax", "LSTM", "GRU", "Transformer")]
    document = page(section("Much", *many))
    assert linked(document) == ["softmax", "LSTM"] and PER_SECTION == 2


def test_questions_and_the_section_that_teaches_a_term_are_left_alone():
    quiz = section("Check yourself", nodes.paragraph("", "The softmax."))
    words = nodes.paragraph("", "An attention weight.")
    teaching = section("From scores to a mean", words, slug="from-scores-to-a-mean")
    assert linked(page(quiz, teaching)) == []
    assert linked(page(teaching), here="chapters/08_self_attention/self_attention") == ["attention weight"]
