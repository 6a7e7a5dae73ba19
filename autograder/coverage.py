"""Which concepts of the decks are taught, and where: read from the executed chapters, never from a list of promises.

A concept is taught in a chapter if a section names it, has prose, and a cell in it was executed; where a deck makes
a claim of it, the chapter must also put out a claim check with a value.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import nbformat

from autograder.claims_page import claims_of, problem_of
from autograder.concepts import CONCEPTS, PARTS, Concept
from autograder.course import Chapter
from autograder.exercise import CourseError

LEAST_WORDS = 40
HEADING = re.compile(r"(#+) +(.+)")


@dataclass(frozen=True)
class Section:
    """From one heading to the next of the same or a higher level."""

    title: str
    anchor: str
    concepts: tuple[str, ...]
    words: int
    executed: int

    @property
    def teaches(self) -> bool:
        return self.words >= LEAST_WORDS and self.executed > 0


def sections_of(chapter: Chapter) -> list[Section]:
    """The sections of an executed chapter that name concepts, in reading order."""
    cells = nbformat.read(chapter.student, as_version=4).cells
    found = []
    for position, cell in enumerate(cells):
        if not cell.metadata.get("concepts"):
            continue
        level, title = _heading(cell) or (0, "")
        if not level:
            raise CourseError(f"{chapter.shown(chapter.source)}: a cell names concepts but begins with no heading.")
        end = next((k for k in range(position + 1, len(cells)) if _ends(cells[k], level)), len(cells))
        inside = cells[position:end]
        words = sum(len(c.source.split()) for c in inside if c.cell_type == "markdown")
        executed = sum(c.cell_type == "code" and c.execution_count is not None for c in inside)
        found.append(Section(title, anchor(title), tuple(cell.metadata.concepts), words, executed))
    return found


def _heading(cell) -> tuple[int, str] | None:
    found = HEADING.match(cell.source) if cell.cell_type == "markdown" else None
    return (len(found[1]), found[2].strip()) if found else None


def _ends(cell, level: int) -> bool:
    heading = _heading(cell)
    return heading is not None and heading[0] <= level


def anchor(title: str) -> str:
    """The anchor that the book gives a heading (as GitHub does): words in lower case, joined by hyphens."""
    return re.sub(r"[^\w\- ]", "", re.sub(r"[`*$]", "", title).lower()).replace(" ", "-")


@dataclass(frozen=True)
class Coverage:
    """One concept: where it is taught, and in one sentence what is missing."""

    concept: Concept
    places: tuple[tuple[Chapter, Section], ...]
    missing: tuple[str, ...]


def coverage(chapters: list[Chapter], part: str | None = None) -> list[Coverage]:
    """Every concept of a part of the book (default: of all), with its places."""
    if part is not None and part not in PARTS:
        raise CourseError(f"There is no part {part}; there are {', '.join(PARTS)}.")
    numbers = PARTS[part] if part else range(16)
    written = {int(chapter.name[:2]): chapter for chapter in chapters if chapter.student.exists()}
    sections = {number: sections_of(chapter) for number, chapter in written.items()}
    claims = {number: claims_of(chapter) for number, chapter in written.items()}
    _no_unknown(written, sections)
    found = []
    for concept in CONCEPTS:
        wanted = [number for number in concept.chapters if number in numbers]
        if not wanted and (concept.chapters or part):
            continue
        places = tuple(
            (written[number], section)
            for number in sorted(written)
            for section in sections[number]
            if concept.id in section.concepts
        )
        missing = [sentence for number in wanted for sentence in _missing(concept, number, sections, claims)]
        found.append(Coverage(concept, places, tuple(missing)))
    return found


def _missing(concept: Concept, number: int, sections: dict, claims: dict) -> list[str]:
    if number not in sections:
        return [f"chapter {number} is not written"]
    here = [section for section in sections[number] if concept.id in section.concepts]
    if not here:
        return [f"no section of chapter {number} names it"]
    found = []
    if not any(section.teaches for section in here):
        found.append(f"its section in chapter {number} lacks prose or an executed cell")
    if number in concept.claims:
        checks = [claim for claim in claims[number] if concept.id in claim["concept"].replace(",", " ").split()]
        if not any(problem_of(claim) is None for claim in checks):
            found.append(f"no claim check with a value in chapter {number}")
    return found


def _no_unknown(written: dict[int, Chapter], sections: dict[int, list[Section]]) -> None:
    known = {concept.id for concept in CONCEPTS}
    for number, chapter in written.items():
        for section in sections[number]:
            strange = set(section.concepts) - known
            if strange:
                where = f"{chapter.shown(chapter.source)}, section {section.title}"
                raise CourseError(f"{where}: {min(strange)} is no concept; autograder/concepts.py has the list.")


def concepts_page(chapters: list[Chapter]) -> str:
    """The Markdown of docs/concepts.md: every concept with links to the sections that teach it."""
    lines = [
        "# Where each concept is taught",
        "",
        "The course follows five lecture decks (numbered 000 to 004). Every concept, claim and equation of them stands",
        "in this table, with the sections that teach it. The table is made by `autograder build` from the executed",
        "chapters: a section is listed only if it has prose and a cell that ran. *Checked* leads to the claim checks.",
        "",
        "| | concept | decks | sections |",
        "|---|---|---|---|",
    ]
    for row in coverage(chapters):
        concept = row.concept
        links = [_link(*place) for place in row.places if place[1].teaches]
        if any(int(chapter.name[:2]) in concept.claims for chapter, _ in row.places):
            links.append("*[checked](claims.md)*")
        if not concept.chapters:
            links.append("[References](references.md)")
        coming = [number for number in concept.chapters if f"chapter {number} is not written" in row.missing]
        if coming:
            links.append(f"chapter {' and '.join(map(str, coming))}, not written yet")
        lines.append(f"| {concept.id} | {concept.title} | {concept.decks.replace(' ', ', ')} | {' · '.join(links)} |")
    return "\n".join(lines) + "\n"


def _link(chapter: Chapter, section: Section) -> str:
    title = re.sub(r"([|\[\]])", r"\\\1", section.title)
    return f"[{int(chapter.name[:2])}: {title}](../{chapter.shown(chapter.student)}#{section.anchor})"
