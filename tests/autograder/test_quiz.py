"""Questions: one for every section that teaches, three options each, one of them right, and what a mistake says."""

import re
from dataclasses import replace

import nbformat
import pytest

from autograder.course import chapters
from autograder.exercise import CourseError
from autograder.quiz import questions_of, with_questions

NOT_TAUGHT = {"Explain it", "Check yourself", "What was learned", "References"}
NOT_TAUGHT |= {"The map", "Three ways to use the course", "What you have seen, and where to go"}
each_chapter = pytest.mark.parametrize("chapter", chapters(), ids=lambda c: c.name)


def sections(text: str) -> list[str]:
    return re.findall(r"^## (.+)$", text, re.MULTILINE)


@each_chapter
def test_every_section_has_its_question(chapter):
    taught = [title for title in sections(chapter.source.read_text("utf8")) if title not in NOT_TAUGHT]
    assert list(questions_of(chapter)) == taught


@each_chapter
def test_an_arrow_leads_to_a_question_that_exists(chapter):
    text = chapter.source.read_text("utf8").split("## Check yourself")[1]
    there = re.findall(r"^(?:\*\*|<summary>)(\d+)\.", text, re.MULTILINE)
    for shown in questions_of(chapter).values():
        if shown.startswith("*Check:*"):
            assert set(re.findall(r"\d+", shown)) <= set(there), shown


@each_chapter
def test_options_are_plain_html_and_answers_stand_in_different_places(chapter):
    places = []
    for shown in questions_of(chapter).values():
        options = [line for line in shown.splitlines() if line.startswith("<details>")]
        assert not any(re.search(r"`|\*\S|\$\S", line) for line in options)
        places += [place for place, line in enumerate(options) if "</summary>Right" in line]
    assert len(set(places)) > 1 or len(places) < 3


@each_chapter
def test_both_editions_hold_the_questions_in_their_sections(chapter):
    for path in (chapter.student, chapter.solution):
        cells = nbformat.read(path, as_version=4).cells
        text = "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
        parts = dict(zip(sections(text), re.split(r"^## .+$", text, flags=re.MULTILINE)[1:], strict=True))
        assert [title for title, shown in questions_of(chapter).items() if shown not in parts[title]] == []


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("## One\nWhy?\n- a | Right.\n- b | No.\n", "questions/01_recurrence.md: One: a question has three lines"),
        ("## One\nWhy?\n- a | No.\n- b | No.\n- c | No.\n", "One: exactly one reason begins with Right."),
        ("## Nowhere\n→ 1\n", "there is no section 'Nowhere' for its question."),
    ],
)
def test_a_mistake_in_the_file_is_named(tmp_path, written, message):
    chapter = replace(chapters()[1], root=tmp_path)
    file = tmp_path / "autograder" / "questions" / f"{chapter.name}.md"
    file.parent.mkdir(parents=True)
    file.write_text(written, "utf8")
    with pytest.raises(CourseError, match=re.escape(message)):
        with_questions(chapter, [nbformat.v4.new_markdown_cell("## One\n\ntext\n\n## Two")])
