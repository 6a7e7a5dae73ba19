"""Marks as tables that other programs read: nbgrader's own CSV, Canvas, Moodle, and JSON.

A spreadsheet runs a cell that begins with =, +, -, @ as a formula, and text that students chose stands in these files.
So an apostrophe is put before such text; ``plain`` takes it away again.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path

from autograder.course_directory import room
from autograder.exercise import CourseError
from autograder.report import write_private
from autograder.report_marks import ChapterMarks, HandedIn, read_marks

SEPARATORS = ";,\t\r\n"  # a spreadsheet of another country may cut a cell here
FORMULA = f"(?<![^{SEPARATORS}])(?='*[-=+@\\t\\r\\n\\0＝＋－＠])"
WOULD_RUN = re.compile(FORMULA)
WAS_QUOTED = re.compile(f"(?<![^{SEPARATORS}])'(?='*[-=+@\\t\\r\\n\\0＝＋－＠])")


def safe(text: str) -> str:
    """The text with an apostrophe before whatever a spreadsheet would run as a formula.

    >>> safe("=1+1"), safe("Ada"), safe("a;@b")
    ("'=1+1", 'Ada', "a;'@b")
    """
    return WOULD_RUN.sub("'", text)


def plain(text: str) -> str:
    """The way back from ``safe``."""
    return WAS_QUOTED.sub("", text)


Table = list[list[str | float]]


def nbgrader_table(chapters: list[ChapterMarks]) -> Table:
    """The columns of ``nbgrader export``: one row per chapter and student; who handed in nothing has 0 points."""
    head = "assignment duedate timestamp student_id last_name first_name email raw_score late_submission_penalty score"
    rows: Table = [[*head.split(), "max_score"]]
    for marks in chapters:
        for name, person in marks.people.items():
            found = marks.handed_in.get(name) or HandedIn(name)
            times = [str(time) if time else "" for time in (marks.due, found.time)]
            who = [person.id, person.last_name, person.first_name, person.email]
            rows.append([marks.chapter, *times, *who, found.raw, found.penalty, found.points, float(marks.most)])
    return rows


def canvas_table(chapters: list[ChapterMarks]) -> Table:
    """Canvas's gradebook: five columns about the student, one per chapter; the second row holds the most points.

    Canvas looks for the student by ID, then SIS User ID, then SIS Login ID, then name.
    """
    rows: Table = [["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *(m.chapter for m in chapters)]]
    rows.append(["    Points Possible", "", "", "", "", *(float(m.most) for m in chapters)])
    for name, person in chapters[0].people.items():
        known_as = ", ".join(filter(None, (person.last_name, person.first_name))) or name
        rows.append([known_as, person.lms_user_id, "", name, "", *_points(name, chapters)])
    return rows


def moodle_table(chapters: list[ChapterMarks]) -> Table:
    """Moodle's gradebook: the columns of its own export; map ID number, Username or Email address to the user."""
    rows: Table = [["First name", "Last name", "ID number", "Username", "Email address"]]
    rows[0] += [f"{marks.chapter} (Real)" for marks in chapters]
    for name, person in chapters[0].people.items():
        who = [person.first_name, person.last_name, person.lms_user_id or name, name, person.email]
        rows.append([*who, *_points(name, chapters)])
    return rows


def _points(student: str, chapters: list[ChapterMarks]) -> list[str | float]:
    """The points in each chapter; an empty cell where nothing was handed in."""
    found = [marks.handed_in.get(student) for marks in chapters]
    return [round(one.points, 2) if one else "" for one in found]


def as_csv(table: Table) -> str:
    """A table as CSV: text quoted and safe, numbers bare."""
    file = io.StringIO()
    writer = csv.writer(file, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\r\n")
    for row in table:
        writer.writerow([safe(cell) if isinstance(cell, str) else cell for cell in row])
    return file.getvalue()


def as_json(chapters: list[ChapterMarks]) -> str:
    """Everything, exercise by exercise; text is as it is, since no spreadsheet reads this."""
    data = [
        {
            "chapter": marks.chapter,
            "due": marks.due.isoformat() if marks.due else None,
            "max_score": marks.most,
            "students": [_as_data(marks, name) for name in marks.people],
        }
        for marks in chapters
    ]
    return json.dumps(data, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def _as_data(marks: ChapterMarks, name: str) -> dict:
    found = marks.handed_in.get(name)
    if found is None:
        return vars(marks.people[name]) | {"handed_in": False}
    exercises = {cell.removeprefix("check-"): vars(score) for cell, score in sorted(found.scores.items())}
    return vars(marks.people[name]) | {
        "handed_in": True,
        "time": found.time.isoformat() if found.time else None,
        "late": marks.late(name),
        "raw_score": found.raw,
        "late_submission_penalty": found.penalty,
        "score": found.points,
        "waiting": sum(score.waits for score in found.scores.values()),
        "exercises": exercises,
    }


def _csv_of(table: Callable[[list[ChapterMarks]], Table]) -> Callable[[list[ChapterMarks]], str]:
    return lambda chapters: as_csv(table(chapters))


FORMATS: dict[str, Callable[[list[ChapterMarks]], str]] = {
    "nbgrader": _csv_of(nbgrader_table),
    "canvas": _csv_of(canvas_table),
    "moodle": _csv_of(moodle_table),
    "json": as_json,
}


def write_export(folder: Path, chapters: list[str], form: str, out: Path) -> list[str]:
    """Write the marks of these chapters; what the user should know about it, in sentences."""
    found = read_marks(folder, list(dict.fromkeys(chapters)))
    empty = [marks.chapter for marks in found if not marks.handed_in]
    if empty:
        raise CourseError(f"Nothing of {empty[0]} is graded yet; run `autograder grade {empty[0]}` first.")
    with room(folder):
        try:
            write_private(out, FORMATS[form](found))
        except OSError as error:
            raise CourseError(f"{out} cannot be written: {error.strerror or error}.") from None
    return _remarks(found, form)


def _remarks(chapters: list[ChapterMarks], form: str) -> list[str]:
    said = []
    for marks in chapters:
        waiting = sum(any(s.waits for s in found.scores.values()) for found in marks.handed_in.values())
        if waiting:
            said.append(
                f"{marks.chapter}: {waiting} submissions hold an answer that waits for a person; it counts 0 so far."
            )
    changed = [p.id for p in chapters[0].people.values() if any(safe(text) != text for text in vars(p).values())]
    if changed and form != "json":
        said.append(
            f"An apostrophe was put before text that a spreadsheet would run: {', '.join(map(ascii, changed[:5]))}."
        )
    return said
