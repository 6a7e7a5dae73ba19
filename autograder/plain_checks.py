"""An exercise's checks as a plain test cell: they run in the student's own kernel, with the reference beside them.

This is how stock nbgrader and otter-grader grade. The judge never does; it is compared with them in
``autograder.stock``.
"""

from __future__ import annotations

from collections.abc import Callable

from autograder.exercise import Exercise
from autograder.judge import CHECK_SEEDS
from autograder.probe import Probe, Question, observe
from autograder.student import references_instead
from autograder.values import RTOL, RTOL32, equal, insists_on_float32


def points(exercise: Exercise, namespace: dict) -> float:
    """What a test cell gives for the functions in a notebook's namespace: by property, as the judge does."""
    passed = held(exercise, namespace)
    share = sum(p.weight for p in passed) / sum(p.weight for p in exercise.credited)
    return round(exercise.points * share, 2)


def held(exercise: Exercise, namespace: dict) -> list[Probe]:
    """The properties that hold; where some do not, with right versions of what the functions use if that is better."""
    functions = {name: namespace[name] for name in exercise.functions}
    passed = _held(exercise, functions)
    if len(passed) < len(exercise.credited) and exercise.uses:
        with references_instead(functions, exercise.uses):
            passed = max(passed, _held(exercise, functions), key=lambda found: sum(p.weight for p in found))
    return passed


def _held(exercise: Exercise, functions: dict[str, Callable]) -> list[Probe]:
    """The properties in which functions agree with the references, or all if they agree with another convention."""
    passed = [probe for probe in exercise.credited if _holds(probe, functions, exercise.functions)]
    if len(passed) < len(exercise.credited):
        for convention in exercise.conventions:
            right = exercise.with_one(convention.implementation)
            if all(_holds(probe, functions, right) for probe in exercise.credited):
                return list(exercise.credited)
    return passed


def _holds(probe: Probe, functions: dict[str, Callable], right: dict[str, Callable]) -> bool:
    return all(_agree(Question(probe, seed), functions, right) for seed in CHECK_SEEDS)


def _agree(question: Question, functions: dict[str, Callable], right: dict[str, Callable]) -> bool:
    expected, got = observe(question, right), observe(question, functions)
    if insists_on_float32(expected, got):
        question = question._replace(dtype="float32")
        return equal(observe(question, right), observe(question, functions), RTOL32) is None
    return equal(expected, got, RTOL) is None
