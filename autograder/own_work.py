"""A student's own notebook: which chapter it is of, whether it is of this release, what the judge says of it."""

from __future__ import annotations

from pathlib import Path

import nbformat
from nbformat import NotebookNode

from autograder.course import chapters
from autograder.exercise import CourseError, Verdict
from autograder.exercises import chapter_exercises
from autograder.intake import own_sources, rebuild
from autograder.update import released_shape


class NotOfTheCourse(CourseError):
    """A notebook without any graded cell of this course."""


def chapter_and_sources(path: Path) -> tuple[str, NotebookNode, list[tuple[str, str]]]:
    """The chapter of a notebook, its released edition, and (id, source) of the cells; CourseError if there is none."""
    if not path.exists():
        raise CourseError(f"{path} does not exist; give the path of a chapter's notebook.")
    sources = own_sources(path)
    chapter, released = released_edition(path, {name for name, _ in sources})
    return chapter, released, sources


def released_edition(path: Path, grade_ids: set[str]) -> tuple[str, NotebookNode]:
    """The chapter that a notebook belongs to, by the ids of its cells, and the released edition of it."""
    graded = {one: {exercise.id for exercise in chapter_exercises(one.name) if exercise.points} for one in chapters()}
    own = [one for one in graded if graded[one] & grade_ids and one.student.exists()]
    if not own:
        raise NotOfTheCourse(f"{path.name} holds no graded cell of this course; give a chapter's notebook.")
    # of a chapter and one that revisits it, the one that has least beside
    one = max(own, key=lambda one: (len(graded[one] & grade_ids), -len(graded[one])))
    return one.name, nbformat.read(one.student, as_version=4)


def judged(chapter: str, released: NotebookNode, sources: list[tuple[str, str]]) -> list[Verdict]:
    """What the judge says of each exercise, with the questions that ``check`` asks; no walls: it is your own code."""
    try:
        from autograder.grading import grade_notebook, open_seeds
        from autograder.respond import ForkServer
    except ModuleNotFoundError as error:
        advice = "run the checks in the notebook instead, they work everywhere."
        raise CourseError(
            f"Whole notebooks cannot be judged on this system, it has no {error.name}; {advice}"
        ) from None
    with ForkServer(chapter, sandbox=False) as server:
        return grade_notebook(rebuild(released, sources, chapter), chapter, open_seeds, server)


def is_of_release(path: Path, released: NotebookNode) -> bool:
    """True if what a student does not write is as in this release; ``autograder update`` makes it so."""
    try:
        return released_shape(nbformat.read(path, as_version=4)) == released_shape(released)
    except (ValueError, AttributeError, KeyError):
        raise CourseError(f"{path} cannot be read as a notebook; open it in JupyterLab, save it, try again.") from None
