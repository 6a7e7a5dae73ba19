"""Feedback pages ready to upload: one folder per student, one page per chapter in it."""

from __future__ import annotations

import shutil
from pathlib import Path

from autograder.course import Chapter
from autograder.course_directory import room
from autograder.exercise import CourseError
from autograder.grade_run import write_feedback


def export_feedback(folder: Path, chapters: list[str], out: Path) -> int:
    """Make the pages anew, points by hand included, and copy them to out/STUDENT/CHAPTER.html; how many there are."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise CourseError(f"{out} is not an empty folder; give the name of a new one.")
    count = 0
    with room(folder):
        for chapter in dict.fromkeys(chapters):
            for student in write_feedback(folder, chapter):
                count += _copy(folder / "feedback" / student / chapter / f"{Chapter(chapter).slug}.html", out, chapter)
    return count


def _copy(page: Path, out: Path, chapter: str) -> int:
    target = out / page.parts[-3] / f"{chapter}.html"
    try:
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        shutil.copyfile(page, target)
    except OSError as error:
        raise CourseError(f"{target} cannot be written: {error.strerror or error}.") from None
    return 1
