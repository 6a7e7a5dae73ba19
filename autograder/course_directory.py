"""An instructor's course directory: nbgrader's own folders, with the judge as its grader."""

from __future__ import annotations

import errno
import fcntl
import logging
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from nbgrader.api import (
    Assignment,
    Comment,
    Grade,
    Gradebook,
    GradeCell,
    SolutionCell,
    SubmittedAssignment,
    SubmittedNotebook,
)
from nbgrader.converters import GenerateAssignment
from nbgrader.converters.base import NbGraderException
from nbgrader.coursedir import CourseDirectory
from nbgrader.utils import parse_utc
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from traitlets.config import Config, PyFileConfigLoader

from autograder.course import Chapter, chapters
from autograder.exercise import CourseError
from autograder.exercises import chapter_exercises
from autograder.intake import Refused, Unreadable, read_file
from autograder.nbgrader_plugins import SECRET
from autograder.record import TIMESTAMP
from autograder.show import CLAIM

LOCK = ".judge-lock"
MAX_ID = 128  # characters of a student's name in nbgrader's gradebook
CONFIG = """\
# The configuration of this course directory. The judge of Unrolled grades; everything else is nbgrader's own.
from pathlib import Path

from autograder.nbgrader_plugins import configure

c = get_config()  # noqa: F821
configure(c, Path(__file__).resolve().parent)
"""


def init_course(folder: Path, which: list[Chapter] | None = None, db_url: str | None = None) -> list[str]:
    """Make a course directory: sources, releases, gradebook, configuration, secret. The names of its chapters.

    The gradebook is a file in it, or the database at ``db_url``, for instance postgresql://user@host/name.
    """
    if folder.exists() and any(folder.iterdir()):
        raise CourseError(f"{folder} is not empty; give the name of a new folder.")
    which = which or chapters()
    missing = [chapter for chapter in which if not chapter.solution.exists()]
    if missing:
        raise CourseError(f"{missing[0].shown(missing[0].solution)} is missing; run `make chapters` first.")
    for name in ("source", "release", "submitted"):
        (folder / name).mkdir(parents=True)
    where = f"c.CourseDirectory.db_url = {db_url!r}\n" if db_url else ""
    (folder / "nbgrader_config.py").write_text(CONFIG + where, "utf8")
    with os.fdopen(os.open(folder / SECRET, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(secrets.token_bytes(32))
    for chapter in which:
        (folder / "source" / chapter.name).mkdir()
        shutil.copy(chapter.solution, folder / "source" / chapter.name)
        with room(folder):
            release(folder, chapter.name)
    return [chapter.name for chapter in which]


def release(folder: Path, chapter: str) -> None:
    """nbgrader's generate_assignment for one chapter, as its command line would run it."""
    _run(GenerateAssignment, folder, chapter)


@dataclass(frozen=True)
class Mark:
    """What one student got for one exercise, as the gradebook has it."""

    student: str
    exercise: str
    points: float
    max_points: float
    comment: str


class Ungraded(CourseError):
    """Some submissions got no marks, and why; all others are graded, and their marks are here."""

    def __init__(self, reasons: dict[str, str], marks: list[Mark]):
        count = f"{len(reasons)} submissions were" if len(reasons) > 1 else "One submission was"
        lines = [f"{quoted(student)}: {reason}" for student, reason in reasons.items()]
        super().__init__("\n  ".join([f"{count} not graded, all others are:", *lines]))
        self.marks = marks


def students(folder: Path, chapter: str) -> list[str]:
    """Who handed in a chapter, whatever it is that was handed in."""
    submitted = folder / "submitted"
    names = os.listdir(submitted) if submitted.is_dir() else []
    return sorted(name for name in names if _is_there(submitted / name / chapter))


def _is_there(path: Path) -> bool:
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:  # it cannot be looked at, which its verdict will say
        return True
    return True


FULL = "The disk that holds {} or the temporary files is full; make room and grade again: what was recorded is kept."


@contextmanager
def room(folder: Path) -> Iterator[None]:
    """A full disk, and a database that does not answer, end in one sentence."""
    try:
        yield
    except (OSError, SQLAlchemyError) as error:
        if _is_full(folder, error):
            raise CourseError(FULL.format(folder)) from None
        if not isinstance(error, DBAPIError):
            raise
        reason = str(error.orig or error).strip().splitlines()[0]
        message = f"The gradebook does not answer ({reason}); what was recorded is kept, so grade again when it does."
        raise CourseError(message) from None


def handed_in_at(folder: Path, student: str, chapter: str) -> Path:
    """Where a submission lies."""
    return folder / "submitted" / student / chapter


def released_notebook(folder: Path, chapter: str) -> Path:
    """The released notebook of a chapter; CourseError if this course directory has no such chapter."""
    known = sorted(path.name for path in (folder / "release").glob("*_*") if path.is_dir())
    if chapter not in known:
        raise CourseError(f"There is no chapter {quoted(chapter)} in {folder}; there are {', '.join(known)}.")
    return folder / "release" / chapter / f"{Chapter(chapter).slug}.ipynb"


def no_student(name: str) -> str | None:
    """Why a folder cannot be a student in nbgrader and in a gradebook; None if it can."""
    advice = "rename the folder and grade again."
    if not name.isprintable():
        return f"the name holds characters that cannot be shown; {advice}"
    if name.startswith(".") or name != name.strip():
        return f"the name begins with a dot, or begins or ends with a space; {advice}"
    return f"the name is longer than {MAX_ID} characters; {advice}" if len(name) > MAX_ID else None


def quoted(name: str) -> str:
    """A name as it is, or with escapes where it holds what cannot be shown; long ones are cut."""
    name = name if name.isprintable() and name == name.strip() else ascii(name)
    return name if len(name) < 60 else f"{name[:57]}..."


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """One grading run at a time in a course directory; the lock ends with the process, however it ends."""
    with open(folder / LOCK, "w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CourseError(f"Another grading run is at work in {folder}; grade again when it has ended.") from None
        yield


def timestamp_of(handed_in: Path) -> str | None:
    """When it was handed in, as nbgrader's collection noted it; None where no time can be read."""
    try:
        text = read_file(handed_in / TIMESTAMP).decode().strip()
        parse_utc(text)
    except (Refused, Unreadable, ValueError, TypeError, OverflowError):
        return None
    return text


def marks(folder: Path, chapter: str, names: list[str]) -> list[Mark]:
    """The automatic marks of a chapter, from the gradebook."""
    course = CourseDirectory(config=load_config(folder))
    with Gradebook(course.db_url, course.course_id) as gradebook:
        said = _rows(gradebook, chapter, Comment, Comment.auto_comment)
        comments = {(student, cell): comment or "" for student, cell, comment in said}
        rows = _rows(gradebook, chapter, Grade, Grade.auto_score, GradeCell.max_score)
        found = [
            Mark(student, exercise, score or 0, most, comments.get((student, exercise), ""))
            for student, cell, score, most in rows
            if (exercise := cell.removeprefix("check-")) != cell
        ]
    wanted, order = set(names), [exercise.id for exercise in chapter_exercises(chapter)]
    kept = (mark for mark in found if mark.student in wanted)
    return sorted(kept, key=lambda mark: (mark.student, order.index(mark.exercise)))


def _rows(gradebook: Gradebook, chapter: str, table: type, *columns) -> list[tuple]:
    """(student, cell, the columns) for every row of a table that belongs to submissions of a chapter."""
    cell = GradeCell if table is Grade else SolutionCell
    return (
        gradebook.db.query(SubmittedAssignment.student_id, cell.name, *columns)
        .select_from(table)
        .join(SubmittedNotebook, table.notebook_id == SubmittedNotebook.id)
        .join(SubmittedAssignment, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
        .join(Assignment, SubmittedAssignment.assignment_id == Assignment.id)
        .join(cell, table.cell_id == cell.id)
        .filter(Assignment.name == chapter)
        .all()
    )


def refusals(marks: list[Mark]) -> dict[str, str]:
    """Whose file was refused, and the sentence that says why."""
    said = {mark.student: mark.comment.split("\n\n") for mark in marks}
    return {student: lines[1] for student, lines in said.items() if f": {CLAIM['refused']} " in lines[0]}


def load_config(folder: Path) -> Config:
    """The configuration that nbgrader itself reads in this folder."""
    return PyFileConfigLoader("nbgrader_config.py", path=str(folder)).load_config()


def require_course(folder: Path) -> None:
    """CourseError unless the folder was made by ``init_course``."""
    if not (folder / "nbgrader_config.py").exists():
        raise CourseError(f"{folder} is not a course directory; make one with `autograder init DIR` and work in it.")


def _run(converter_class, folder: Path, chapter: str) -> None:
    config = load_config(folder)
    config.CourseDirectory.assignment_id = chapter
    config[converter_class.__name__].force = True
    log, last = logging.Logger("unrolled.nbgrader", logging.ERROR), _Last()
    log.addHandler(last)
    converter = converter_class(coursedir=CourseDirectory(config=config), config=config)
    converter.log = log
    try:
        converter.start()
    except (NbGraderException, SystemExit):
        reason = (last.said.strip().splitlines() or ["no reason given"])[-1]
        raise CourseError(f"nbgrader could not process {chapter}: {reason}") from None


def _is_full(folder: Path, error: BaseException | None) -> bool:
    """True if an error, or what caused it, says that there is no room left."""
    while error is not None:
        if getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT) or "disk is full" in str(error):
            return True
        if isinstance(error, SQLAlchemyError) and shutil.disk_usage(folder).free < 2**20:
            return True  # SQLite has several names for it
        error = error.__cause__ or error.__context__
    return False


class _Last(logging.Handler):
    """Keeps the last error that nbgrader logged that is not its own summary."""

    said = ""

    def emit(self, record):
        if record.levelno >= logging.ERROR and "There was an error processing" not in record.getMessage():
            self.said = self.said if "Please see the" in record.getMessage() else record.getMessage()
