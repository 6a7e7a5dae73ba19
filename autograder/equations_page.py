"""The page of all labelled equations by name, so that a reader, and the search of the book, finds them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import nbformat

from autograder.course import Chapter
from autograder.coverage import anchor
from autograder.equation_names import NAMES
from autograder.exercise import CourseError

LINE = re.compile(r"^(?:#+ +(?P<heading>.+)|\$\$ (?P<tex>.+) \$\$ \((?P<label>eq-[a-z0-9-]+)\))$", re.MULTILINE)


@dataclass(frozen=True)
class Equation:
    """A labelled equation; ``number`` is chapter.place, as its page shows it."""

    label: str
    number: str
    tex: str
    section: str


def equations_of(chapter: Chapter) -> Iterator[Equation]:
    """The labelled equations of an executed chapter, in reading order."""
    section, count = "", 0
    for cell in nbformat.read(chapter.student, as_version=4).cells:
        if cell.cell_type != "markdown":
            continue
        for found in LINE.finditer(cell.source):
            if found["label"]:
                count += 1
                yield Equation(found["label"], f"{int(chapter.name[:2])}.{count}", found["tex"], section)
            elif not found["heading"].startswith("Exercise "):
                section = found["heading"].strip()


def name_of(label: str, chapter: Chapter) -> str:
    if label not in NAMES:
        where = chapter.shown(chapter.source)
        raise CourseError(f"{where}: the equation {label} has no name; give it one in autograder/equation_names.py.")
    return NAMES[label]


def equations_page(all_chapters: list[Chapter]) -> str:
    """The Markdown of docs/equations.md."""
    lines = [
        "---",
        "tocdepth: 2",
        "---",
        "",
        "# Equations by name",
        "",
        "Every equation that the book gives a label, with its number and the section that explains it. The same label",
        "stands in the chapter, in the docstring and above the line of code. The page is made by `autograder build`.",
    ]
    for chapter in all_chapters:
        found = list(equations_of(chapter))
        title = nbformat.read(chapter.student, as_version=4).cells[0].source.splitlines()[0].removeprefix("# ")
        lines += ["", f"## {title}"] if found else []
        for equation in found:
            place = f"../{chapter.shown(chapter.student)}#{anchor(equation.section)}"
            lines += [
                "",
                f"### {name_of(equation.label, chapter)}",
                "",
                f"Equation [({equation.number})](#{equation.label}) · `{equation.label}` · "
                f"in [{equation.section}]({place})",
                "",
                f"$$ {equation.tex} $$",
            ]
    return "\n".join(lines) + "\n"
