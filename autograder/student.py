"""What a student meets: ``@exercise`` above a function to be written, ``check`` below it."""

from __future__ import annotations

import difflib
import functools
import inspect
import linecache
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from autograder import show
from autograder.exercise import Exercise, Verdict
from autograder.exercises import all_exercises, chapter_exercises, chapter_modules, chapter_of, find, setup_names
from autograder.judge import Ask, better, judge, not_attempted, shortcut_verdict
from autograder.probe import Question, observe
from autograder.setup_cell import SETUP
from autograder.source import bound_names, free_names, is_unwritten, shortcut
from autograder.values import Raised, TimedOut


def exercise(function: Callable) -> Callable:
    """Mark a function as an answer. Until it is written, the book's own version stands in, and says so."""
    found = find(function.__name__)
    if found is None:
        print(f"{function.__name__}: no exercise has this name{_did_you_mean(function.__name__)}")
        return function
    if not is_unwritten(_function_source(function), found):
        return function
    print(f"{function.__name__} is not written yet: the book's own version stands in until you write it.")
    reference = found.functions[function.__name__]

    @functools.wraps(function)
    def stand_in(*args, **kwargs):
        return reference(*args, **kwargs)

    stand_in.unwritten = True
    return stand_in


class CheckFailed(AssertionError):
    """Raised instead of showing a table where only exceptions are shown: nbgrader's Validate."""

    def _render_traceback_(self):
        return str(self).splitlines()


class Report:
    """The outcome of ``check``: a table in a notebook, the same as text elsewhere."""

    def __init__(self, verdict: Verdict, hints: int = 1, notes: tuple[str, ...] = ()):
        self.verdict, self.hints, self.notes = verdict, hints, notes

    def __repr__(self) -> str:
        return show.text(self.verdict, self.hints, self.notes)

    def _repr_html_(self) -> str:
        return show.html(self.verdict, self.hints, self.notes)


def check(*functions: Callable, hints: int = 1, chapter: int | None = None) -> Report | None:
    """Judge one answer (all functions of its cell) and say what is right and what exactly is wrong.

    ``hints`` is the number of hints to show when the mistake has a name: 1, 2 or 3. ``chapter`` is the number of a
    chapter that asks for an answer again, which then counts what it counts there.
    """
    name = getattr(functions[0], "__name__", "?") if functions else "?"
    try:
        report = _check(functions, hints, chapter)
    except KeyboardInterrupt:
        message = f"Stopped while {name} was running; does a loop never end?"
        report = Report(Verdict(name, "timeout", 0, 0, message=message))
    except Exception as error:
        message = (
            f"The check itself failed ({type(error).__name__}: {error}). This is not your mistake; please report it."
        )
        report = Report(Verdict(name, "refused", 0, 0, message=message))
    if os.environ.get("NBGRADER_VALIDATING"):  # Validate shows exceptions, and takes any other output for a score
        if report.verdict.full:
            return None
        raise CheckFailed(repr(report))
    return report


def _check(functions: tuple[Callable, ...], hints: int, number: int | None) -> Report:
    names = [getattr(function, "__name__", repr(function)) for function in functions]
    chapter = next((name for name in chapter_modules() if int(name[:2]) == number), None)
    found = find(names[0], chapter) if names else None
    if found is None:
        name = names[0] if names else "check"
        message = f"check takes a function of an exercise, for example check(rnn_step){_did_you_mean(name)}"
        return Report(Verdict(name, "refused", 0, 0, message=message))
    missing = [name for name in found.functions if name not in names]
    if missing:
        message = f"This exercise has several functions: check({', '.join(found.functions)})."
        return Report(Verdict(found.id, "refused", 0, found.points, message=message))
    verdict, notes = _judged(found, dict(zip(names, functions, strict=True)), chapter or chapter_of(found))
    return Report(verdict, hints, notes)


def _judged(found: Exercise, functions: dict[str, Callable], chapter: str) -> tuple[Verdict, tuple[str, ...]]:
    """The verdict, and what to note beside it."""
    if all(getattr(function, "unwritten", False) for function in functions.values()):
        return not_attempted(found), ()
    functions = {name: f.__wrapped__ if getattr(f, "unwritten", False) else f for name, f in functions.items()}
    source = _cell_source(next(iter(functions.values())))
    sentence = shortcut(source, found)
    if sentence:
        return shortcut_verdict(found, sentence), ()
    verdict = judge(found, _patient(functions))
    if not verdict.full and found.uses:
        with references_instead(functions, found.uses):
            verdict = better(verdict, judge(found, _patient(functions)), found.uses)
    return verdict, names_from_elsewhere(chapter, source)


def _patient(functions: dict[str, Callable]) -> Ask:
    """Ask functions of this process, each probe within its time; after a hang nothing more is asked."""
    hung: list[TimedOut] = []

    def ask(questions: list[Question]) -> Iterator:
        for question in questions:
            yield hung[0] if hung else ask_one(question)

    def ask_one(question: Question):
        seconds = question.probe.seconds
        with _alarm(seconds):
            observed = observe(question, functions)
        if isinstance(observed, Raised) and observed.class_name == _TooSlow.__name__:
            observed = TimedOut(f"no answer within {seconds:g} s; does a loop never end?")
            hung.append(observed)
        return observed

    return ask


class _TooSlow(Exception):
    """Raised in the middle of a probe when its time is over."""


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    """Raise _TooSlow after some seconds, where the system has such an alarm."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(*_):
        raise _TooSlow

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


class references_instead:
    """While it lasts, the answer's global names of used exercises are the references."""

    def __init__(self, functions: dict[str, Callable], used: tuple[str, ...]):
        self.globals = next(iter(functions.values())).__globals__
        self.used = used

    def __enter__(self):
        self.before = {name: self.globals[name] for name in self.used if name in self.globals}
        self.globals.update({name: find(name).functions[name] for name in self.used})

    def __exit__(self, *_):
        for name in self.used:
            self.globals.pop(name, None)
        self.globals.update(self.before)


def _function_source(function: Callable) -> str:
    try:
        return inspect.getsource(function)
    except (OSError, TypeError):
        return "written = True"  # no source to look at: take it as an answer


def _cell_source(function: Callable) -> str:
    """The whole cell in a notebook; elsewhere the function alone."""
    code = getattr(function, "__code__", None)
    name = code.co_filename if code else ""
    in_cell = function.__module__ == "__main__" and (name.startswith("<") or "ipykernel" in name)
    lines = linecache.getlines(name) if in_cell else []
    return "".join(lines) or _function_source(function)


def names_from_elsewhere(chapter: str, source: str) -> tuple[str, ...]:
    """Names that the graded cell takes from cells that do not count in grading."""
    known = bound_names(SETUP) | setup_names(chapter)
    known |= {name for other in chapter_exercises(chapter) for name in other.functions}
    try:
        outside = sorted(free_names(source) - known - {"exercise"})
    except SyntaxError:
        return ()
    if not outside:
        return ()
    names = ", ".join(outside)
    return (
        f"Only this cell is graded, and it uses {names} from another cell: move the definition into the graded cell.",
    )


def _did_you_mean(name: str) -> str:
    close = difflib.get_close_matches(name, all_exercises(), 1)
    return f"; did you mean {close[0]}?" if close else "."
