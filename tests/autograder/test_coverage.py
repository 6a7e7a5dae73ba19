"""Coverage counts a concept only where it is taught, and a claim only where it was measured."""

import nbformat
import pytest

from autograder.claims_page import problem_of
from autograder.cli import main
from autograder.concepts import CONCEPTS, PARTS
from autograder.course import ROOT, Chapter, chapters
from autograder.coverage import concepts_page, coverage, sections_of
from autograder.exercise import CourseError
from unrolled.claims import MIMETYPE

PROSE = " ".join(["word"] * 50)
GOOD = {"concept": "C12", "deck": "000", "says": "s", "measured": "0.5", "seeds": 3, "holds": "yes"}


def a_chapter(tmp_path, *cells) -> Chapter:
    """An executed chapter 2 in a checkout of its own."""
    chapter = Chapter("02_bptt", tmp_path)
    chapter.student.parent.mkdir(parents=True)
    nbformat.write(nbformat.v4.new_notebook(cells=list(cells)), chapter.student)
    return chapter


def text(source: str, *concepts: str):
    return nbformat.v4.new_markdown_cell(source, metadata={"concepts": list(concepts)} if concepts else {})


def code(executed: bool = True, claim: dict | None = None):
    outputs = [nbformat.v4.new_output("display_data", data={MIMETYPE: claim})] if claim else []
    return nbformat.v4.new_code_cell("1", execution_count=1 if executed else None, outputs=outputs)


def missing(chapter: Chapter, concept: str = "C12") -> tuple[str, ...]:
    return next(row.missing for row in coverage([chapter], "I") if row.concept.id == concept)


def test_a_section_with_prose_a_cell_and_a_claim_counts(tmp_path):
    assert missing(a_chapter(tmp_path, text(f"## Back\n\n{PROSE}", "C12"), code(claim=GOOD))) == ()


@pytest.mark.parametrize(
    ("cells", "sentence"),
    [
        ([text(f"## Back\n\n{PROSE}"), code(claim=GOOD)], "no section of chapter 2 names it"),
        ([text("## Back", "C12"), code(claim=GOOD)], "its section in chapter 2 lacks prose or an executed cell"),
        (
            [text(f"## Back\n\n{PROSE}", "C12"), code(executed=False, claim=GOOD)],
            "its section in chapter 2 lacks prose or an executed cell",
        ),
        (
            [text(f"## Back\n\n{PROSE}", "C12"), text("## Next"), code(claim=GOOD)],
            "its section in chapter 2 lacks prose or an executed cell",
        ),
        ([text(f"## Back\n\n{PROSE}", "C12"), code()], "no claim check with a value in chapter 2"),
        (
            [text(f"## Back\n\n{PROSE}", "C12"), code(claim=GOOD | {"measured": "it does"})],
            "no claim check with a value in chapter 2",
        ),
    ],
)
def test_what_does_not_count(tmp_path, cells, sentence):
    assert missing(a_chapter(tmp_path, *cells)) == (sentence,)


def test_a_subsection_belongs_to_its_section(tmp_path):
    chapter = a_chapter(tmp_path, text(f"## Back\n\n{PROSE}", "C12"), text("### Deeper"), code(claim=GOOD))
    assert missing(chapter) == ()


def test_a_concept_that_is_none_is_named(tmp_path):
    with pytest.raises(CourseError, match="C999 is no concept"):
        coverage([a_chapter(tmp_path, text("## Back", "C999"))])


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({}, None),
        ({"seeds": 0}, None),
        ({"deck": "000, 004"}, None),
        ({"measured": "agree: True"}, None),
        ({"measured": "it holds"}, "no value"),
        ({"deck": ""}, "no deck"),
        ({"seeds": 2}, "only 2 of at least 3 seeds"),
    ],
)
def test_what_a_claim_check_needs(change, problem):
    found = problem_of(GOOD | change)
    assert found is None if problem is None else problem in found


def test_the_list_has_every_concept_once():
    assert [concept.id for concept in CONCEPTS] == [f"C{n:02d}" for n in range(1, 104)]
    assert {n for concept in CONCEPTS for n in concept.chapters} == set(range(15))
    assert all(set(concept.claims) <= set(concept.chapters) for concept in CONCEPTS)
    assert [n for part in PARTS.values() for n in part] == list(range(16))


@pytest.mark.parametrize("chapter", chapters(), ids=lambda chapter: chapter.name)
def test_every_section_that_names_concepts_teaches(chapter):
    assert [section.title for section in sections_of(chapter) if section.words < 40] == []
    if chapter.name != "00_start":  # its notation table needs no cell
        assert [section.title for section in sections_of(chapter) if not section.teaches] == []


def test_the_page_lists_all_and_its_links_lead_to_headings():
    page = concepts_page(chapters())
    assert sum(line.startswith("| C") for line in page.splitlines()) == len(CONCEPTS)
    assert "../chapters/02_bptt/bptt.ipynb#one-step-backwards" in page  # the book's build fails on a dead anchor


@pytest.mark.parametrize("part, concepts", [("I", 50), ("II", 40)])
def test_parts_one_and_two_are_complete(capsys, part, concepts):
    assert main(["coverage", "--part", part]) == 0
    assert capsys.readouterr().out == f"{concepts}/{concepts} concepts\n"
    assert main(["claims", "--check"]) == 0


def test_a_missing_concept_fails(capsys, monkeypatch):
    monkeypatch.setattr("autograder.course.chapters", lambda root=ROOT: [Chapter("01_recurrence")])
    assert main(["coverage", "--part", "I"]) == 1
    assert "C12 Backpropagation through time: chapter 2 is not written." in capsys.readouterr().out
