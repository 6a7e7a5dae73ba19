"""The judge decides what an answer is. It asks, compares with the reference, and looks for a mistake it knows.

Nothing here runs student code: ``ask`` brings observations back from wherever that runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from threading import Lock

from autograder.exercise import Exercise, Property, Verdict
from autograder.picture import picture_of
from autograder.probe import Probe, Question, observe
from autograder.values import RTOL, RTOL32, Difference, Raised, TimedOut, equal, insists_on_float32

Ask = Callable[[list[Question]], Iterable[object]]
CHECK_SEEDS = (1, 2)
ONE_AT_A_TIME = Lock()  # torch's default dtype and generator, which a question sets, belong to the whole process


@dataclass(frozen=True)
class Answer:
    """What came back for one question, and how it differs from what the reference answers."""

    question: Question
    observed: object
    difference: Difference | None

    @property
    def probe(self) -> Probe:
        return self.question.probe

    def matches(self, exercise: Exercise, implementation: Callable) -> bool:
        return equal(_seen(exercise, implementation, self.question), self.observed, _rtol(self.question)) is None


def judge(exercise: Exercise, ask: Ask, seeds: tuple[int, ...] = CHECK_SEEDS) -> Verdict:
    """Ask every probe that counts with every seed, those that only help to find a name where one is needed; decide."""
    answers = _answers(exercise, ask, [Question(probe, seed) for probe in exercise.credited for seed in seeds])
    if any(answer.difference for answer in answers) and not any(isinstance(a.observed, TimedOut) for a in answers):
        naming = [probe for probe in exercise.probes if not probe.weight]
        answers += _answers(exercise, ask, [Question(probe, seed) for probe in naming for seed in seeds])
    properties = tuple(_property(exercise, probe, answers) for probe in exercise.credited)
    stubs = _stubs(exercise, answers)
    if not stubs:
        return _decide(exercise, answers, properties)
    heard = [answer for answer in answers if stubs.isdisjoint(answer.probe.functions)]
    asked = {answer.probe.id for answer in heard}
    verdict = _decide(exercise, heard, tuple(p for p in properties if p.probe in asked))
    kind, detail = ("wrong", "") if verdict.full else (verdict.kind, verdict.detail)
    missing = " and ".join(name for name in exercise.functions if name in stubs)
    message = f"{missing} {'is' if len(stubs) == 1 else 'are'} not written yet. The rest: {verdict.message}"
    return _verdict(exercise, kind, properties, detail, message, verdict.hints)


def _decide(exercise: Exercise, answers: list[Answer], properties: tuple[Property, ...]) -> Verdict:
    """Right, right in another convention, a known mistake, or something else."""
    if all(p.passed for p in properties):
        return _verdict(exercise, "correct", properties, message="Right.")
    for convention in exercise.conventions:
        if all(answer.matches(exercise, convention.implementation) for answer in answers):
            passed = tuple(Property(p.probe, p.title, True, p.weight) for p in properties)
            message = f"Right, in another convention: {convention.title}."
            return _verdict(exercise, "correct-other-convention", passed, convention.id, message)
    for known in exercise.misconceptions:
        if _is(exercise, known.implementation, answers):
            message = known.title.rstrip(".") + "."
            return _verdict(exercise, "misconception", properties, known.id, message, known.hints)
    return _unnamed(exercise, answers, properties)


def judge_functions(
    exercise: Exercise, functions: dict[str, Callable], seeds: tuple[int, ...] = CHECK_SEEDS
) -> Verdict:
    """Judge functions of this very process: for ``check`` and for the tests."""
    return judge(exercise, lambda questions: (observe(question, functions) for question in questions), seeds)


def not_attempted(found: Exercise) -> Verdict:
    """The verdict on a stub; it lists what will be asked."""
    asked = tuple(Property(probe.id, probe.title, False, probe.weight) for probe in found.credited)
    message = "Write the function in the cell above, run it, and run this cell again. These properties are checked:"
    return Verdict(found.id, "not-attempted", 0, found.points, asked, message=message)


def shortcut_verdict(found: Exercise, sentence: str) -> Verdict:
    """The verdict on an answer that calls what it is asked to write."""
    return Verdict(found.id, "shortcut", 0, found.points, message=sentence)


def better(first: Verdict, second: Verdict, given: tuple[str, ...]) -> Verdict:
    """The first verdict, unless the answer does better, or its mistake gets a name, when what it uses is right."""

    def rank(verdict: Verdict) -> tuple:
        return verdict.full, verdict.points, verdict.kind == "misconception"

    if rank(second) <= rank(first):
        return first
    names = " and ".join(given)
    if second.full:
        return replace(second, kind="correct-given", detail="", given=given, message=f"Right, given a right {names}.")
    return replace(second, given=given, message=f"{second.message} (Judged with a right {names}.)")


def _answers(exercise: Exercise, ask: Ask, questions: list[Question]) -> list[Answer]:
    """Ask in float64; an answer that insists on float32 is asked again in float32, with a wider tolerance."""
    answers = [_answer(exercise, *pair) for pair in zip(questions, ask(questions), strict=True)]
    narrow = [place for place, answer in enumerate(answers) if _insists_on_float32(exercise, answer)]
    if narrow:
        again = [questions[place]._replace(dtype="float32") for place in narrow]
        for place, question, observed in zip(narrow, again, ask(again), strict=True):
            answers[place] = _answer(exercise, question, observed)
    return answers


def _answer(exercise: Exercise, question: Question, observed: object) -> Answer:
    expected = _seen(exercise, exercise.references[0], question)
    return Answer(question, observed, equal(expected, observed, _rtol(question)))


def _insists_on_float32(exercise: Exercise, answer: Answer) -> bool:
    return insists_on_float32(_seen(exercise, exercise.references[0], answer.question), answer.observed)


def _seen(exercise: Exercise, implementation: Callable, question: Question):
    functions = tuple(exercise.with_one(implementation).items())
    return _observe_trusted(question, functions)


@lru_cache(maxsize=8192)
def _observe_trusted(question: Question, functions: tuple):
    with ONE_AT_A_TIME:
        return observe(question, dict(functions))


def _rtol(question: Question) -> float:
    return RTOL if question.dtype == "float64" else RTOL32


def _is(exercise: Exercise, implementation: Callable, answers: list[Answer]) -> bool:
    """True if all observations equal the known mistake's, and a value, not only an exception, gives it away."""
    if not all(answer.matches(exercise, implementation) for answer in answers):
        return False
    return any(answer.difference and isinstance(answer.observed, dict) for answer in answers)


def _is_stub(observed) -> bool:
    """True if what came back is the line that every released function holds: the bare NotImplementedError."""
    bare = isinstance(observed, Raised) and observed.class_name == "NotImplementedError"
    return bare and (not observed.message or observed.message.startswith(" (line "))


def _stubs(exercise: Exercise, answers: list[Answer]) -> set[str]:
    """The functions that are still stubs, if others of the same cell have been written."""
    stubs = set()
    for name in exercise.functions:
        alone = [answer.observed for answer in answers if answer.probe.functions == (name,)]
        if alone and all(map(_is_stub, alone)):
            stubs.add(name)
    return stubs if len(stubs) < len(exercise.functions) else set()


def _property(exercise: Exercise, probe: Probe, answers: list[Answer]) -> Property:
    failed = next((a for a in answers if a.probe is probe and a.difference), None)
    if failed is None:
        return Property(probe.id, probe.title, True, probe.weight)
    said = failed.difference
    expected = _seen(exercise, exercise.references[0], failed.question)
    picture = picture_of(expected, failed.observed, _rtol(failed.question))
    return Property(probe.id, probe.title, False, probe.weight, said.expected, said.got, said.note, picture)


def _unnamed(exercise: Exercise, answers: list[Answer], properties: tuple[Property, ...]) -> Verdict:
    credited = [answer for answer in answers if answer.probe.weight > 0]
    if any(isinstance(answer.observed, TimedOut) for answer in credited):
        reason = next(a.observed.reason for a in credited if isinstance(a.observed, TimedOut))
        return _verdict(exercise, "timeout", properties, message=f"{exercise.id} gave {reason}.")
    raised = [answer.observed for answer in credited if isinstance(answer.observed, Raised) and answer.difference]
    if len(raised) == len(credited):
        first = raised[0]
        left = " The line `raise NotImplementedError()` is still in the cell: remove it."
        message = f"{exercise.id} raised {first.class_name}: {first.message}".rstrip(": ") + "."
        if _is_stub(first):
            message += left
        return _verdict(exercise, "error", properties, message=message)
    broken = [p for p in properties if not p.passed]
    message = f"Not right yet: {len(broken)} of {len(properties)} properties fail, and the mistake is not one I know."
    values = [answer.observed for answer in credited if isinstance(answer.observed, dict)]
    if values and all(any(value is None for value in observed.values()) for observed in values):
        message = f"{exercise.id} returns nothing: is a `return` missing, or does it stand in the wrong place?"
    return _verdict(exercise, "wrong", properties, message=message)


def _verdict(exercise: Exercise, kind: str, properties, detail: str = "", message: str = "", hints=()) -> Verdict:
    total = sum(p.weight for p in properties)
    share = sum(p.weight for p in properties if p.passed) / total
    points = round(exercise.points * share, 2)
    return Verdict(exercise.id, kind, points, exercise.points, properties, detail, message, tuple(hints))
