"""A zip to hand in: a student's notebooks under the names that ``collect`` reads, and what to look at before.

Nothing is run unless it is asked for; what the sources alone tell is said: what is not written, what is not Python,
which names come from cells that do not count.
"""

from __future__ import annotations

import os
import zipfile
from dataclasses import dataclass, field
from pathlib import Path

from nbformat import NotebookNode

from autograder.course import Chapter, chapter, chapters
from autograder.errors import CourseError
from autograder.exercises import chapter_exercises
from autograder.intake import grade_id, is_answer, read_file, rebuild
from autograder.own_work import chapter_and_sources, is_of_release
from autograder.source import is_unwritten, syntax_error
from autograder.student import names_from_elsewhere


@dataclass
class Packed:
    """One notebook in the zip."""

    path: Path
    chapter: str
    released: NotebookNode = field(repr=False)
    sources: list[tuple[str, str]] = field(repr=False)
    data: bytes = field(repr=False)
    written: list[str] = field(default_factory=list)
    unwritten: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        """Where it stands in the zip."""
        return f"{self.chapter}/{Chapter(self.chapter).slug}.ipynb"

    def __str__(self) -> str:
        count = len(self.written) + len(self.unwritten)
        lines = [f"  {self.name}: {len(self.written)} of {count} answers are written ({self.path})"]
        if self.unwritten:
            lines.append(f"    not written: {', '.join(self.unwritten)}")
        return "\n".join([*lines, *(f"    {remark}" for remark in self.remarks)])


def submit(what: list[str], out: Path | None = None) -> tuple[Path, list[Packed]]:
    """Make a zip of chapters or notebooks; where it is, and what is in it.

    Args:
        what: names of chapters, whose notebooks in chapters/ are taken, or paths of notebooks.
        out: the zip (default: the chapter's name, or submission.zip for several).
    """
    packed = [_packed(_notebook(one)) for one in what]
    for place, one in enumerate(packed):
        same = next((other for other in packed[:place] if other.chapter == one.chapter), None)
        if same:
            raise CourseError(f"{same.path} and {one.path} are both of {one.chapter}; hand in one of them.")
    out = out or Path(f"{packed[0].chapter}.zip" if len(packed) == 1 else "submission.zip")
    if out.suffix.lower() != ".zip":
        raise CourseError(f"{out} is no name of a zip; call it {out.name}.zip.")
    if out.exists() and not zipfile.is_zipfile(out):
        raise CourseError(f"{out} is there and is no zip; give another name by --out.")
    _write(out, packed)
    return out, packed


def _notebook(what: str) -> Path:
    """The notebook that is meant: a path, or the one of a chapter in chapters/."""
    path = Path(what)
    if path.is_file():
        return path
    names = {one.name for one in chapters()}
    if path.name in names and path.is_dir():  # a chapter's folder of one's own
        return path / f"{Chapter(path.name).slug}.ipynb"
    if path.suffix == ".ipynb" or (os.sep in what and path.name not in names):
        raise CourseError(f"{what} does not exist; give a notebook or the name of a chapter.")
    return chapter(what).student


def _packed(path: Path) -> Packed:
    name, released, sources = chapter_and_sources(path)
    found = Packed(path, name, released, sources, read_file(path))
    exercises = {exercise.id: exercise for exercise in chapter_exercises(name)}
    stubs = {grade_id(cell): cell.source for cell in released.cells}
    missing = set(stubs) - {given for given, _ in sources}
    for cell in rebuild(released, sources, name).cells:
        if not is_answer(cell):
            continue
        answer, exercise = grade_id(cell), exercises.get(grade_id(cell))
        unwritten = is_unwritten(cell.source, exercise) if exercise else cell.source.strip() == stubs[answer].strip()
        (found.unwritten if unwritten else found.written).append(answer)
        if exercise and not unwritten:
            wrong = syntax_error(cell.source)
            notes = [wrong] if wrong else names_from_elsewhere(name, cell.source)
            found.remarks += [f"{answer}: {note}" for note in notes]
    gone = [answer for answer in (*exercises, *stubs) if answer in missing and answer in found.unwritten]
    if gone:
        found.remarks.append(f"Its cell is missing from your notebook: {', '.join(dict.fromkeys(gone))}.")
    if not is_of_release(path, released):
        found.remarks.append("It is of another release of the course; `autograder update` brings it up to date.")
    return found


def _write(out: Path, packed: list[Packed]) -> None:
    partial = out.with_name(f".{out.name}.partial")
    try:
        with zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED) as archive:
            for one in packed:
                archive.writestr(one.name, one.data)
        os.replace(partial, out)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise CourseError(f"{out} cannot be written: {error.strerror or error}.") from None
