"""What must hold when the loop is through: every check returns what is wrong, in sentences; nothing if all is well."""

from __future__ import annotations

import csv
import json
import math
import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

from autograder.classroom.by_hand import REMARK
from autograder.classroom.handing_in import File
from autograder.classroom.students import LATE_PERCENT, MadeUp, Work
from autograder.export import plain

CENT = 0.006  # points: marks are kept with two digits


def penalty(work: Work) -> float:
    """What the policy of the made-up course takes off: so many percent for each day begun, an extension counts."""
    days = math.ceil(max(0.0, work.hours - 24 * work.extension) / 24)
    return round(work.raw() * min(days * LATE_PERCENT, 100) / 100, 2)


def total(work: Work) -> float:
    """What stands in an export."""
    return work.raw() - penalty(work)


def placed(course: Path, files: list[File]) -> list[str]:
    """What lies in submitted/ is the newest attempt of everybody, byte by byte, and nothing else."""
    newest = {file.work.student.id: file for file in sorted(files, key=lambda file: file.time) if file.work.arrives}
    chapter = files[0].work.chapter
    there = {path.parts[-3]: path for path in (course / "submitted").glob(f"*/{chapter}/*.ipynb")}
    wrong = [f"{student} should have a submission of {chapter}." for student in newest.keys() - there.keys()]
    wrong += [f"{student} should have no submission of {chapter}." for student in there.keys() - newest.keys()]
    for student, path in there.items():
        if student in newest and path.read_bytes() != newest[student].data:
            wrong.append(f"{path} is not the newest attempt of {student}.")
    return wrong


def judged(made: MadeUp, said: str, attempt: int) -> list[str]:
    """The marks that ``grade --json`` printed, exercise by exercise; attempt 0 is that of the first round."""
    given = {(mark["student"], mark["exercise"]): mark["points"] for mark in json.loads(said)}
    expected = {}
    for work in made.works:
        if work.arrives:
            number = attempt if work.after_grading else -1
            expected |= {(work.student.id, name): a.points for name, a in work.marks(number).items()}
    return _differences(expected, given, made.chapter)


def changed(who: set[str], exercise: str, said: str) -> list[str]:
    """The table of ``grade`` names these students for this exercise, with the reason, and no others."""
    rows = [line for line in said.splitlines() if exercise in line and "the exercises changed" in line]
    found = {match[0] for line in rows if (match := re.search(r"student-\d+", line))}
    odd = [f"{student}: the fix {'did not change' if student in who else 'changed'} it." for student in who ^ found]
    return odd if who else ["Nobody is there whom the fix could change."]


def _differences(expected: dict, given: dict, where: str) -> list[str]:
    wrong = []
    for key in sorted(expected.keys() | given.keys()):
        one, two = expected.get(key), given.get(key)
        if one is None or two is None or abs(one - two) > CENT:
            wrong.append(f"{where}, {key}: {two} instead of {one}.")
    return wrong


def exported(classes: dict[str, MadeUp], tables: dict[str, Path]) -> list[str]:
    """Every mark of every student in every table, read back."""
    truth = {(made.chapter, w.student.id): total(w) for made in classes.values() for w in made.works}
    arrived = {(made.chapter, w.student.id) for made in classes.values() for w in made.works if w.arrives}
    wrong = []
    for form, path in tables.items():
        given = READERS[form](path.read_text("utf8"))
        if form in ("canvas", "moodle"):  # an empty cell where nothing was handed in
            wrong += [f"{form}: {key} is not empty." for key in truth.keys() - arrived if given.pop(key) is not None]
            wrong += _differences({key: truth[key] for key in arrived}, given, form)
        else:
            wrong += _differences(truth, given, form)
    return wrong


def _from_nbgrader(text: str) -> dict:
    rows = csv.DictReader(text.splitlines())
    return {(row["assignment"], plain(row["student_id"])): float(row["score"]) for row in rows}


def _from_json(text: str) -> dict:
    return {
        (chapter["chapter"], student["id"]): student.get("score", 0.0)
        for chapter in json.loads(text)
        for student in chapter["students"]
    }


def _from_wide(text: str, who: str, ending: str, skipped: int) -> dict:
    rows = list(csv.DictReader(text.splitlines()))[skipped:]
    chapters = [column for column in rows[0] if re.match(r"\d\d_", column)]
    return {
        (column.removesuffix(ending), plain(row[who])): float(row[column]) if row[column] else None
        for row in rows
        for column in chapters
    }


READERS = {
    "nbgrader": _from_nbgrader,
    "canvas": lambda text: _from_wide(text, "SIS Login ID", "", 1),
    "moodle": lambda text: _from_wide(text, "Username", " (Real)", 0),
    "json": _from_json,
}


def reported(made: MadeUp, folder: Path) -> list[str]:
    """The report names every planted mistake as often as it was made, the planted one first, and who copied."""
    report = json.loads((folder / f"{made.chapter}.json").read_text("utf8"))
    wrong, first = [], {}
    for row in report["misconceptions"]:
        first.setdefault(row["exercise"], row["id"])
    for name, top in made.top.items():
        if first.get(name) != top:
            wrong.append(f"{made.chapter}, {name}: the report names {first.get(name)} first instead of {top}.")
    counts: Counter = Counter()
    for row in report["misconceptions"]:
        counts[row["exercise"], row["id"]] += row["count"]
    wrong += _differences(made.mistakes(), counts, f"{made.chapter}, mistakes")
    return wrong + needless(folder / f"{made.chapter}.html")


def accused(made: MadeUp, folder: Path) -> list[str]:
    """The pairs of the report are those who copied, and nobody else."""
    report = json.loads((folder / f"{made.chapter}.json").read_text("utf8"))
    found = {tuple(row["students"]) for row in report["pairs"]}
    wrong = [f"{made.chapter}: {' and '.join(pair)} copied and are not listed." for pair in made.pairs - found]
    return wrong + [f"{made.chapter}: {' and '.join(pair)} did not copy and are listed." for pair in found - made.pairs]


def returned(classes: dict[str, MadeUp], folder: Path) -> list[str]:
    """One folder per student, one page per chapter, the points of the truth on it, nothing that runs or asks."""
    expected = {(w.student.id, f"{made.chapter}.html"): w for made in classes.values() for w in made.works if w.arrives}
    there = {path.relative_to(folder).parts: path for path in folder.rglob("*") if path.is_file()}
    wrong = [f"feedback for {'/'.join(key)} is missing." for key in expected.keys() - there.keys()]
    wrong += [f"nobody should get {'/'.join(key)}." for key in there.keys() - expected.keys()]
    for key in expected.keys() & there.keys():
        work, page = expected[key], there[key].read_text("utf8")
        found = re.search(r"<strong>([\d.]+) of", page)
        if not found or abs(float(found[1]) - total(work)) > CENT:
            said = found[1] if found else "nothing"
            wrong.append(f"the page {'/'.join(key)} says {said} instead of {total(work):.2f} points.")
        if (REMARK in page) != (bool(work.explanation) and not work.by_hand):
            wrong.append(f"the page {'/'.join(key)} holds a comment by hand that it should not hold, or none.")
        wrong += needless(there[key])
    return wrong


def needless(page: Path) -> list[str]:
    """What a page runs or asks for that it must not."""
    reader = _Page()
    reader.feed(page.read_text("utf8"))
    return [f"{page} holds {what}." for what in sorted(reader.found)]


class _Page(HTMLParser):
    """Scripts, handlers, and everything that a browser would load from somewhere."""

    def __init__(self):
        super().__init__()
        self.found: set[str] = set()

    def handle_starttag(self, tag, attrs):
        if tag in ("script", "iframe", "object", "embed", "link", "base", "form"):
            self.found.add(f"<{tag}>")
        for name, value in attrs:
            loads = name in ("src", "srcset", "poster", "data", "background", "action", "xlink:href")
            if name.startswith("on") or (loads and not (value or "").startswith("data:")):
                self.found.add(f"the attribute {name}")
            if name == "style" and "url(" in (value or ""):
                self.found.add("a style with an address")

    def handle_data(self, data):
        if self.get_starttag_text() == "<style>" and re.search(r"@import|url\((?!['\"]?data:)", data):
            self.found.add("a style with an address")
