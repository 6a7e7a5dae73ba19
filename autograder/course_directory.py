"""An instructor's course directory: nbgrader's own folders, with the judge as its grader."""

from __future__ import annotations

import logging
import os
import secrets
import shutil
from dataclasses import dataclass
from pathlib import Path

from nbgrader.api import Gradebook
from nbgrader.converters import Autograde, GenerateAssignment
from nbgrader.converters.base import NbGraderException
from nbgrader.coursedir import CourseDirectory
from tqdm import tqdm
from traitlets.config import Config, PyFileConfigLoader

from autograder.course import Chapter, chapters
from autograder.exercise import CourseError
from autograder.intake import rebuild_file
from autograder.ledger import Ledger, regrade_key
from autograder.nbgrader_plugins import SECRET

CONFIG = """\
# The configuration of this course directory. The judge of Unrolled grades; everything else is nbgrader's own.
from pathlib import Path

from autograder.nbgrader_plugins import configure

c = get_config()  # noqa: F821
configure(c, Path(__file__).resolve().parent)
"""


def init_course(folder: Path, which: list[Chapter] | None = None) -> list[str]:
    """Make a course directory: sources, releases, gradebook, configuration, secret. The names of its chapters."""
    if folder.exists() and any(folder.iterdir()):
        raise CourseError(f"{folder} is not empty; give the name of a new folder.")
    which = which or chapters()
    missing = [chapter for chapter in which if not chapter.solution.exists()]
    if missing:
        raise CourseError(f"{missing[0].shown(missing[0].solution)} is missing; run `make chapters` first.")
    for name in ("source", "release", "submitted"):
        (folder / name).mkdir(parents=True)
    (folder / "nbgrader_config.py").write_text(CONFIG, "utf8")
    with os.fdopen(os.open(folder / SECRET, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(secrets.token_bytes(32))
    for chapter in which:
        (folder / "source" / chapter.name).mkdir()
        shutil.copy(chapter.solution, folder / "source" / chapter.name)
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


def students(folder: Path, chapter: str) -> list[str]:
    """Who handed in a chapter."""
    return sorted(path.parent.name for path in (folder / "submitted").glob(f"*/{chapter}") if path.is_dir())


def grade_course(
    folder: Path, chapter: str, only: str | None = None, everything: bool = False, sandbox: bool = True
) -> list[Mark]:
    """Grade the submissions of a chapter that are new or changed, with progress; the marks of all of them."""
    require_course(folder)
    names = [name for name in students(folder, chapter) if only in (None, name)]
    if not names:
        who = f" by {only}" if only else ""
        raise CourseError(f"No submission of {chapter}{who} in {folder / 'submitted'}; collect some first.")
    recorded = {} if everything else Ledger(folder).recorded_keys()
    waiting = [name for name in names if not _is_done(folder, chapter, name, recorded)]
    for name in tqdm(waiting, desc=f"grading {chapter}", unit="student", disable=None):
        _run(Autograde, folder, chapter, student=name, sandbox=sandbox)
    return marks(folder, chapter, names)


def _is_done(folder: Path, chapter: str, student: str, recorded: dict[tuple[str, str], str]) -> bool:
    """True if gradebook and graded notebook hold the verdicts on what this student handed in."""
    file = f"{Chapter(chapter).slug}.ipynb"
    handed_in, graded = (folder / where / student / chapter / file for where in ("submitted", "autograded"))
    if (student, chapter) not in recorded or not handed_in.exists() or not graded.exists():
        return False
    notebook = rebuild_file(handed_in, folder / "release" / chapter / file, chapter)
    return recorded[student, chapter] == regrade_key(notebook, chapter)


def marks(folder: Path, chapter: str, names: list[str]) -> list[Mark]:
    """The automatic marks of a chapter, from the gradebook."""
    found = []
    course = CourseDirectory(config=load_config(folder))
    with Gradebook(course.db_url, course.course_id) as gradebook:
        for name in names:
            for notebook in gradebook.find_submission(chapter, name).notebooks:
                comments = {comment.name: comment.auto_comment or "" for comment in notebook.comments}
                for grade in notebook.grades:
                    exercise = grade.name.removeprefix("check-")
                    if exercise != grade.name:
                        found.append(
                            Mark(name, exercise, grade.auto_score or 0, grade.max_score, comments.get(exercise, ""))
                        )
    return found


def load_config(folder: Path) -> Config:
    """The configuration that nbgrader itself reads in this folder."""
    return PyFileConfigLoader("nbgrader_config.py", path=str(folder)).load_config()


def require_course(folder: Path) -> None:
    """CourseError unless the folder was made by ``init_course``."""
    if not (folder / "nbgrader_config.py").exists():
        raise CourseError(f"{folder} is not a course directory; make one with `autograder init DIR` and work in it.")


def _run(converter_class, folder: Path, chapter: str, student: str | None = None, sandbox: bool = True) -> None:
    config = load_config(folder)
    config.Judge.sandbox = sandbox
    config.CourseDirectory.assignment_id = chapter
    if student:
        config.CourseDirectory.student_id = student
    config[converter_class.__name__].force = True
    log, last = logging.Logger("unrolled.nbgrader", logging.ERROR), _Last()
    log.addHandler(last)
    converter = converter_class(coursedir=CourseDirectory(config=config), config=config)
    converter.log = log
    try:
        converter.start()
    except (NbGraderException, SystemExit):
        said = last.last.strip().splitlines()
        reason = said[-1] if said else "no reason given"
        raise CourseError(f"nbgrader could not process {chapter}: {reason}") from None


class _Last(logging.Handler):
    """Keeps the last error that nbgrader logged that is not its own summary."""

    last = ""

    def emit(self, record):
        if record.levelno >= logging.ERROR and "There was an error processing" not in record.getMessage():
            self.last = self.last if "Please see the" in record.getMessage() else record.getMessage()
