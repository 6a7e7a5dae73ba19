"""A student's overview: what is written in each chapter, what it is worth, how many minutes are left."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from rich.table import Table

from autograder.course import ROOT, chapters
from autograder.exercise import CourseError
from autograder.exercises import chapter_exercises
from autograder.intake import grade_id, is_answer, rebuild
from autograder.own_work import NotOfTheCourse, chapter_and_sources, judged
from autograder.show import number
from autograder.source import is_unwritten
from autograder.update import notebooks_in


@dataclass
class Row:
    """One chapter. ``done`` is what is written, or what the judge calls right if it was asked."""

    chapter: str
    notebook: Path | None = None  # None: there is none in the folder
    done: int = 0
    to_mend: int = 0  # written and judged, but not right
    unwritten: int = 0
    points: float = 0
    most: float = 0
    minutes_left: int = 0
    explained: str = "no"  # the question that a person grades; "" where there is none

    @property
    def exercises(self) -> int:
        return self.done + self.to_mend + self.unwritten


@dataclass
class Progress:
    rows: list[Row]
    judged: bool
    remarks: list[str] = field(default_factory=list)  # notebooks that were left out, and why


def progress(folder: Path | None = None, check: bool = False) -> Progress:
    """Read the notebooks of a folder (default: those of the course) and sum up; judge them only if ``check``."""
    found: dict[str, Row] = {}
    remarks: list[str] = []
    paths = notebooks_in([folder or ROOT / "chapters"])
    for path in sorted(paths, key=lambda path: path.stat().st_mtime, reverse=True):
        try:
            chapter, released, sources = chapter_and_sources(path)
        except NotOfTheCourse:
            continue
        except CourseError as reason:
            remarks.append(f"{path}: {reason}")
            continue
        if chapter in found:
            counted = found[chapter].notebook
            remarks.append(f"{path} is of {chapter} too; {counted} was changed later and is shown.")
            continue
        found[chapter] = _row(chapter, path, released, sources, check)
    if not found:
        raise CourseError(
            remarks[0] if remarks else f"There is no notebook of this course in {folder}; give its folder."
        )
    graded = [one.name for one in chapters() if any(e.points for e in chapter_exercises(one.name))]
    return Progress([found.get(name) or _not_begun(name) for name in graded], check, remarks)


def _row(chapter: str, path: Path, released, sources: list[tuple[str, str]], check: bool) -> Row:
    """What one notebook holds."""
    row = Row(chapter, path, explained="")
    stubs = {grade_id(cell): cell.source for cell in released.cells}
    cells = {grade_id(cell): cell for cell in rebuild(released, sources, chapter).cells if grade_id(cell)}
    verdicts = {verdict.exercise: verdict for verdict in judged(chapter, released, sources)} if check else {}
    for exercise in chapter_exercises(chapter):
        if not exercise.points or exercise.id not in cells:
            continue
        verdict = verdicts.get(exercise.id)
        unwritten = is_unwritten(cells[exercise.id].source, exercise)
        right = verdict.full if verdict else not unwritten
        row.most += exercise.points
        row.points += verdict.points if verdict else exercise.points * right
        row.done += right
        row.unwritten += unwritten
        row.to_mend += not right and not unwritten
        row.minutes_left += 0 if right else exercise.minutes
    for name, cell in cells.items():
        if cell.cell_type == "markdown" and is_answer(cell):
            row.explained = "yes" if cell.source.strip() not in ("", stubs[name].strip()) else "no"
    return row


def _not_begun(chapter: str) -> Row:
    asked = [exercise for exercise in chapter_exercises(chapter) if exercise.points]
    points, minutes = sum(e.points for e in asked), sum(e.minutes for e in asked)
    return Row(chapter, unwritten=len(asked), most=points, minutes_left=minutes)


def table(found: Progress) -> Table:
    """The overview for a terminal."""
    heads = ["right", "to mend"] if found.judged else ["written"]
    heads = ["chapter", *heads, "unwritten", "points so far", "minutes left", "explained"]
    shown = Table(*heads, show_footer=True)
    for row in found.rows:
        name = row.chapter if row.notebook else f"{row.chapter} (not here)"
        shown.add_row(name, *_cells(row, found.judged), row.explained)
    total = Row("all")
    for row in found.rows:
        for what in ("done", "to_mend", "unwritten", "points", "most", "minutes_left"):
            setattr(total, what, getattr(total, what) + getattr(row, what))
    for column, text in zip(shown.columns, ["all", *_cells(total, found.judged), ""], strict=True):
        column.footer = text
    return shown


def _cells(row: Row, judged: bool) -> list[str]:
    mend = [str(row.to_mend)] if judged else []
    points = f"{number(row.points)} of {number(row.most)}"
    return [f"{row.done} of {row.exercises}", *mend, str(row.unwritten), points, str(row.minutes_left)]
