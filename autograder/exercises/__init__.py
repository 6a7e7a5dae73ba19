"""The registry of exercises: one module per chapter, found by chapter folder or by function name."""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import ModuleType

from autograder.exercise import CourseError, Exercise


@cache
def chapter_modules() -> dict[str, ModuleType]:
    """Chapter folder name (``01_recurrence``) -> module (``ch01_recurrence``), in the order of the course."""
    names = sorted(info.name for info in pkgutil.iter_modules([str(Path(__file__).parent)]))
    return {name[2:]: importlib.import_module(f"{__name__}.{name}") for name in names if name.startswith("ch")}


def chapter_exercises(chapter: str) -> tuple[Exercise, ...]:
    """The exercises of one chapter, in order, after those that it revisits; none for a chapter that has no module."""
    module = chapter_modules().get(chapter)
    return revisited(chapter) + module.EXERCISES if module else ()


def chapters_revisited(chapter: str) -> tuple[str, ...]:
    """The chapters whose exercises are asked again in this one: those with a number in its module's ``REVISITS``."""
    numbers = getattr(chapter_modules().get(chapter), "REVISITS", ())
    return tuple(name for name in chapter_modules() if int(name[:2]) in numbers)


@cache
def revisited(chapter: str) -> tuple[Exercise, ...]:
    """The exercises that a chapter asks again, for the share ``REVISIT_SHARE`` of their points.

    In their own chapters they take the functions of earlier ones from the library. Here these are answers too, which
    may be wrong, so they count as used.
    """
    found = []
    for earlier in chapters_revisited(chapter):
        own = chapter_modules()[earlier]
        taken = tuple(name for name in sorted(own.SETUP_NAMES) if name in all_exercises())
        share = chapter_modules()[chapter].REVISIT_SHARE
        for exercise in own.EXERCISES:
            points = round(exercise.points * share, 2)
            found.append(replace(exercise, points=points, uses=exercise.uses + taken))
    return tuple(found)


def setup_names(chapter: str) -> frozenset[str]:
    """What the setup cells of a chapter bind beside the common one: also what revisited exercises need of it."""
    own = chapter_modules().get(chapter)
    names = [chapter_modules()[name].SETUP_NAMES for name in chapters_revisited(chapter)]
    kept = {name for name in frozenset().union(*names) if name not in all_exercises()}
    return (own.SETUP_NAMES if own else frozenset()) | kept


def revisited_setup(chapter: str) -> str:
    """The setup cell for the exercises that a chapter revisits: where the library defines what they need."""
    lines: dict[str, set[str]] = {}
    for exercise in revisited(chapter):
        for reference in exercise.references:
            for name in setup_names(chapter) & set(reference.__globals__):
                module = getattr(reference.__globals__[name], "__module__", reference.__module__)
                lines.setdefault(module, set()).add(name)
    return "\n".join(f"from {module} import {', '.join(sorted(names))}" for module, names in sorted(lines.items()))


@cache
def all_exercises() -> dict[str, Exercise]:
    """Every exercise of the course by its id, checked for duplicates."""
    found: dict[str, Exercise] = {}
    for chapter, module in chapter_modules().items():
        for exercise in module.EXERCISES:
            for name in exercise.functions:
                if name in found:
                    raise CourseError(f"{chapter}: two exercises define {name}; give one of them another name.")
                found[name] = exercise
    return found


def find(function_name: str, chapter: str | None = None) -> Exercise | None:
    """The exercise in which a function of this name is written; as a chapter asks it, if one is named."""
    if chapter is None:
        return all_exercises().get(function_name)
    return next((exercise for exercise in chapter_exercises(chapter) if function_name in exercise.functions), None)


def chapter_of(exercise: Exercise) -> str:
    """The chapter folder name of an exercise: where it is asked for the first time."""
    first = find(exercise.id)
    return next(chapter for chapter, module in chapter_modules().items() if first in module.EXERCISES)


def load_variants() -> None:
    """Import every module of right variants, so that ``exercise.variants`` is filled; the tests need them."""
    package = importlib.import_module("autograder.variants")
    for info in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"autograder.variants.{info.name}")
