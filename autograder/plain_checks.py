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
    functions = {name: namespace[name] for name in exercise.functions}
    share = _share(exercise, functions)
    if share < 1 and exercise.uses:
        with references_instead(functions, exercise.uses):
            share = max(share, _share(exercise, functions))
    return round(exercise.points * share, 2)


def _share(exercise: Exercise, functions: dict[str, Callable]) -> float:
    conventions = (exercise.with_one(convention.implementation) for convention in exercise.conventions)
    held = [p for p in exercise.credited if holds(exercise, p, functions)]
    if len(held) < len(exercise.credited):
        for right in conventions:
            if all(holds(exercise, probe, functions, right) for probe in exercise.credited):
                return 1.0
    return sum(p.weight for p in held) / sum(p.weight for p in exercise.credited)


def holds(exercise: Exercise, probe: Probe, functions: dict[str, Callable], right: dict | None = None) -> bool:
    """True if functions answer a probe as the references do, or as other functions that are ``right``."""
    return all(_agree(Question(probe, seed), functions, right or exercise.functions) for seed in CHECK_SEEDS)


def _agree(question: Question, functions: dict[str, Callable], right: dict[str, Callable]) -> bool:
    expected, got = observe(question, right), observe(question, functions)
    if insists_on_float32(expected, got):
        question = question._replace(dtype="float32")
        return equal(observe(question, right), observe(question, functions), RTOL32) is None
    return equal(expected, got, RTOL) is None
