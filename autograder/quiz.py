"""A question at the end of every section: three options, and for each the reason why it is right or wrong.

They lie in autograder/questions/NN_slug.md, one heading per section of the chapter, and the build puts them in. Where a
question of "Check yourself" is about the section already, an arrow and its number stand in the place of a question.
"""

from __future__ import annotations

import re

import nbformat
from nbformat import NotebookNode

from autograder.course import Chapter
from autograder.exercise import CourseError

HEADING = re.compile(r"^(?=## )", re.MULTILINE)
OPTION = re.compile(r"- (?P<says>.+?) \| (?P<because>.+)")


def questions_of(chapter: Chapter) -> dict[str, str]:
    """Section -> its question as it stands in the notebook; nothing for a chapter without a file of questions."""
    path = chapter.root / "autograder" / "questions" / f"{chapter.name}.md"
    text = path.read_text("utf8") if path.exists() else ""
    found = {}
    for part in HEADING.split(text)[1:]:
        title, *lines = (line for line in part.splitlines() if line.strip())
        try:
            found[title.removeprefix("## ")] = _shown(lines)
        except ValueError as why:
            raise CourseError(f"{chapter.shown(path)}: {title.removeprefix('## ')}: {why}") from None
    return found


def _shown(lines: list[str]) -> str:
    """The lines of one question as Markdown that both editions and the book show."""
    if len(lines) == 1 and lines[0].startswith("→ "):
        numbers = lines[0].removeprefix("→ ")
        several = not numbers.isdigit()
        return (
            f"*Check:* question{'s' * several} {numbers} of *Check yourself* {'are' if several else 'is'} about this."
        )
    options = [OPTION.fullmatch(line) for line in lines[1:]]
    if len(options) != 3 or not all(options):
        raise ValueError("a question has three lines of the form `- option | reason`.")
    if sum(option["because"].startswith("Right") for option in options) != 1:
        raise ValueError("exactly one reason begins with Right.")
    shown = [f"<details><summary>{option['says']}</summary>{option['because']}</details>" for option in options]
    return "\n".join([f"**Check:** {lines[0]}", *shown])


def with_questions(chapter: Chapter, cells: list[NotebookNode]) -> list[NotebookNode]:
    """The cells, with each question at the end of its section, that is before the next heading."""
    questions, section, result = questions_of(chapter), "", []
    for cell in cells:
        if cell.cell_type == "markdown":
            text, *parts = HEADING.split(cell.source)
            for part in parts:
                if question := questions.pop(section, ""):
                    if text.strip():
                        text = f"{text.rstrip()}\n\n{question}\n\n"
                    else:
                        result.append(nbformat.v4.new_markdown_cell(question))
                section = part.splitlines()[0].removeprefix("## ").strip()
                text += part
            cell.source = text
        result.append(cell)
    if questions:
        raise CourseError(f"{chapter.name}: there is no section {next(iter(questions))!r} for its question.")
    return result
