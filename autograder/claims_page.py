"""The page of all claim checks, collected from the outputs of the executed chapters."""

from __future__ import annotations

import re

import nbformat

from autograder.course import Chapter
from autograder.exercise import CourseError
from unrolled.claims import MIMETYPE

VERDICT = {"yes": "holds", "no": "does not hold", "partly": "holds in part"}


def claims_of(chapter: Chapter) -> list[dict]:
    """The claims that the cells of a chapter put out, in reading order."""
    if not chapter.student.exists():
        raise CourseError(f"{chapter.shown(chapter.student)} is missing; run `make chapters` first.")
    notebook = nbformat.read(chapter.student, as_version=4)
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    return [output["data"][MIMETYPE] for output in outputs if MIMETYPE in output.get("data", {})]


def problem_of(claim: dict) -> str | None:
    """What a claim check lacks, or None: a measured value, a deck, and either no randomness or three seeds."""
    if not re.search(r"\d|True|False", claim["measured"]):
        return "nothing measured: the check has no value"
    if not re.fullmatch(r"00[0-4](, 00[0-4])*", claim["deck"]):
        return f"no deck: {claim['deck']!r}"
    if 0 < claim["seeds"] < 3:
        return f"only {claim['seeds']} of at least 3 seeds"
    return None


def claims_page(all_chapters: list[Chapter]) -> str:
    """The Markdown of docs/claims.md."""
    lines = [
        "# Claims, checked",
        "",
        "Lectures compress. Every quantitative or comparative claim of the five decks that a chapter covers is put to",
        "a test there; this page collects the outcomes from the executed chapters. It is made by `autograder build`.",
        "",
    ]
    for chapter in all_chapters:
        claims = claims_of(chapter) if chapter.student.exists() else []
        if not claims:
            continue
        lines += [f"## Chapter {int(chapter.name[:2])}: {chapter.slug.replace('_', ' ')}", ""]
        lines += [
            "| concept | deck | the claim | what was measured | seeds | verdict |",
            "|---|---|---|---|---|---|",
            *(_row(claim) for claim in claims),
            "",
        ]
    return "\n".join(lines).rstrip() + "\n"


def _row(claim: dict) -> str:
    cells = [claim["concept"], claim["deck"], claim["says"], claim["measured"], str(claim["seeds"])]
    return (
        "| "
        + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in [*cells, VERDICT[claim["holds"]]])
        + " |"
    )
