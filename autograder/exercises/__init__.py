"""The registry of exercises: one module per chapter, found by chapter folder or by function name."""

from __future__ import annotations

import importlib
import pkgutil
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
    """The exercises of one chapter, in order; none for a chapter that has no module."""
    module = chapter_modules().get(chapter)
    return module.EXERCISES if module else ()


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


def find(function_name: str) -> Exercise | None:
    """The exercise in which a function of this name is written."""
    return all_exercises().get(function_name)


def chapter_of(exercise: Exercise) -> str:
    """The chapter folder name of an exercise."""
    return next(chapter for chapter, module in chapter_modules().items() if exercise in module.EXERCISES)


def load_variants() -> None:
    """Import every module of right variants, so that ``exercise.variants`` is filled; the tests need them."""
    package = importlib.import_module("autograder.variants")
    for info in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"autograder.variants.{info.name}")
