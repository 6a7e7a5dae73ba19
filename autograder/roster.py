"""Who is who: a list of the class that maps what an LMS calls a student to the id in the gradebook, and times."""

from __future__ import annotations

import csv
import re
import unicodedata
from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from dateutil import parser

from autograder.course_directory import no_student, quoted
from autograder.download import Owner
from autograder.exercise import CourseError
from autograder.intake import Refused, shown

MAX_TABLE = 20 * 2**20
COLUMNS = {  # how a column may be called -> what it holds
    "id": "id", "student id": "id", "student": "id",
    "first name": "first", "firstname": "first", "given name": "first",
    "last name": "last", "lastname": "last", "surname": "last", "family name": "last",
    "lms id": "lms", "lms user id": "lms", "canvas id": "lms", "moodle id": "lms", "identifier": "lms",
    "time": "time", "timestamp": "time", "submitted at": "time", "last modified (submission)": "time",
}  # fmt: skip


@dataclass(frozen=True)
class Person:
    id: str
    first: str = ""
    last: str = ""
    lms: str = ""

    @property
    def names(self) -> set[str]:
        """The name in both orders, without what separates its parts."""
        return {squeezed(self.last + self.first), squeezed(self.first + self.last)} - {""}


def squeezed(name: str) -> str:
    """A name as Canvas writes it: letters and digits only, small, accents in one form."""
    return re.sub(r"[\W_]", "", unicodedata.normalize("NFC", name)).lower()


def made_id(name: str) -> str:
    """A valid id that is made of a name: lovelace-ada."""
    made = re.sub(r"[\W_]+", "-", unicodedata.normalize("NFC", name)).strip("-").lower()[:100]
    if not made:
        raise Refused(f"{shown(name)} holds no letter of which an id could be made; give a --roster.")
    return made


def is_id(name: str) -> bool:
    """True if a name can stay as it is: valid for nbgrader, and nothing that a file system or a shell would mind."""
    return no_student(name) is None and bool(re.fullmatch(r"\w[\w.@-]*", name))


class Roster:
    """The people of a class, found by what a download calls them."""

    def __init__(self, people: list[Person]):
        self.by_id = {person.id: person for person in people}
        self.by_number = {person.lms: person for person in people if person.lms}
        self.by_name: dict[str, list[Person]] = defaultdict(list)
        for person in people:
            for name in person.names:
                self.by_name[name].append(person)

    def find(self, owner: Owner, blind: bool = False) -> str:
        """The id of the person whose file it is; Refused, in a sentence, if that is nobody or not certain.

        A number of Canvas is the user's and decides. One of Moodle belongs to one assignment, so it only decides
        between people of one name, or where grading is ``blind`` and there are no names.
        """
        numbered = self.by_number.get(owner.number)
        if owner.lms == "Canvas" and numbered:
            return numbered.id
        if not owner.lms and owner.name in self.by_id:
            return owner.name
        named = self.by_name.get(squeezed(owner.name), [])
        if len(named) == 1:
            return named[0].id
        if numbered and (numbered in named or blind):
            return numbered.id
        if not owner.lms and owner.name in self.by_number:
            return self.by_number[owner.name].id
        if named:
            either = " or ".join(quoted(person.id) for person in named[:3])
            advice = f"write {owner.number} as the lms id of the right one to the roster."
            raise Refused(f"{shown(owner.name)} may be {either}; {advice}")
        number = f" ({owner.number})" if owner.number else ""
        raise Refused(f"{shown(owner.name)}{number} is not in the roster; add a row and collect again.")


def read_roster(path: Path) -> Roster:
    """A CSV with the columns id, first name, last name, lms id, in any order; only id must be there."""
    people: list[Person] = []
    seen: dict[tuple[str, str], int] = {}
    for line, row in _rows(path, {"id"}):
        person = Person(row["id"], row.get("first", ""), row.get("last", ""), _number(row.get("lms", "")))
        if not person.id:
            raise CourseError(f"{path}, line {line}: there is no id; give every student one.")
        if not is_id(person.id):
            raise CourseError(f"{path}, line {line}: {quoted(person.id)} is no valid id; use letters, digits and . _ -")
        for kind, value in (("id", person.id), ("lms id", person.lms)):
            if value and (kind, value) in seen:
                raise CourseError(f"{path}, line {line}: {kind} {value} stands in line {seen[kind, value]} too.")
            seen[kind, value] = line
        people.append(person)
    if not people:
        raise CourseError(f"{path} lists nobody; write one row per student under the heading id.")
    return Roster(people)


def read_times(path: Path) -> dict[str, datetime]:
    """When whom handed in, by id or by the number of the LMS: Moodle's grading worksheet, or a table with a time."""
    times = {}
    for line, row in _rows(path, {"time"}):
        text = row["time"]
        if text.strip("-– ") == "":
            continue  # handed in nothing
        for key in (row.get("id", ""), _number(row.get("lms", ""))):
            if key:
                times[key] = parsed_time(text, f"{path}, line {line}")
    if not times:
        raise CourseError(f"{path} holds no time; give Moodle's grading worksheet, or columns id and time.")
    return times


def parsed_time(text: str, where: str) -> datetime:
    """A moment in UTC; one without a zone is of this machine's zone."""
    try:
        zoned = re.sub(r"\bU(?:TC|CT)$", "+00:00", text.strip())
        moment = parser.parse(zoned)
        return moment.astimezone(UTC).replace(microsecond=0)
    except (ValueError, OverflowError, TypeError):
        message = f"{where}: {shown(text)} is no time that can be read; write it as 2026-11-17 23:12:00 +01:00."
        raise CourseError(message) from None


def _number(text: str) -> str:
    """The number of "Participant 12345", as Moodle's worksheet calls people; else the text."""
    found = re.fullmatch(r"\D+ (\d+)", text)
    return found[1] if found else text


def _rows(path: Path, needed: set[str]) -> list[tuple[int, dict[str, str]]]:
    """(line, cells by what they hold) of a CSV with commas, semicolons or tabs."""
    try:
        if path.stat().st_size > MAX_TABLE:
            raise CourseError(f"{path} is larger than {MAX_TABLE // 2**20} MB; give a table of one class.")
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise CourseError(f"{path} cannot be read ({error.strerror}); give a CSV file.") from None
    except UnicodeDecodeError:
        raise CourseError(f"{path} is not in UTF-8; save it as CSV in UTF-8.") from None
    head = text.split("\n", 1)[0]
    delimiter = max(",;\t", key=head.count)
    try:
        table = csv.reader(text.splitlines(keepends=True), delimiter=delimiter, strict=True)
        found = next(table, [])
        columns = [COLUMNS.get(re.sub(r"[ _]+", " ", cell).strip().lower(), "") for cell in found]
        missing = needed - set(columns)
        if missing:
            raise CourseError(f"{path} has no column {', '.join(sorted(missing))}; its first line names the columns.")
        rows = [(table.line_num, [cell.strip() for cell in row]) for row in table]
    except csv.Error as error:
        raise CourseError(f"{path} is no CSV that can be read ({error}).") from None
    return [
        (line, {"id": "", "time": ""} | {k: v for k, v in zip(columns, row, strict=False) if k})
        for line, row in rows
        if any(row)
    ]
