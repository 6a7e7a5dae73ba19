"""What an exercise is: references, probes, known mistakes, other right conventions, and the verdict on an answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from types import ModuleType

from autograder.errors import CourseError
from autograder.picture import Picture
from autograder.probe import Probe, probes_of


@dataclass(frozen=True)
class Misconception:
    """A wrong implementation that has a name. ``fails`` lists the credited probes that it must fail."""

    id: str
    title: str
    implementation: Callable
    fails: tuple[str, ...]
    hints: tuple[str, str, str]  # symptom, cause, where to read


@dataclass(frozen=True)
class Convention:
    """A right implementation that differs from the reference by a choice the field leaves open."""

    id: str
    title: str
    implementation: Callable


@dataclass(frozen=True)
class Property:
    """The outcome of one probe: ``expected``, ``got`` and ``note`` are filled where it failed."""

    probe: str
    title: str
    passed: bool
    weight: float
    expected: str = ""
    got: str = ""
    note: str = ""
    picture: Picture | None = None


FULL_MARKS = {"correct", "correct-other-convention", "correct-given"}
KINDS = FULL_MARKS | {"misconception", "wrong", "error", "timeout", "shortcut", "not-attempted", "refused"}


@dataclass(frozen=True)
class Verdict:
    """What the judge says of one answer. ``label`` is the short form, e.g. ``misconception:swapped_weights``."""

    exercise: str
    kind: str
    points: float
    max_points: float
    properties: tuple[Property, ...] = ()
    detail: str = ""  # the id of the misconception or convention
    message: str = ""  # one sentence
    hints: tuple[str, ...] = ()
    given: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        return f"{self.kind}:{self.detail}" if self.detail else self.kind

    @property
    def full(self) -> bool:
        return self.kind in FULL_MARKS


@dataclass
class Exercise:
    """One or several functions that are written in one cell and judged together."""

    number: str
    references: tuple[Callable, ...]
    probe_module: ModuleType
    points: float
    minutes: int
    difficulty: int  # 1 to 3
    uses: tuple[str, ...] = ()
    forbidden: dict[str, str] = field(default_factory=dict)  # last name of a call -> what to write instead
    not_applicable: dict[str, str] = field(default_factory=dict)  # listed mistake -> why it cannot be made here
    equivalent: dict[str, str] = field(default_factory=dict)  # mutant of the reference -> why it computes the same
    misconceptions: list[Misconception] = field(default_factory=list)
    conventions: list[Convention] = field(default_factory=list)
    variants: list[Callable] = field(default_factory=list)

    def __post_init__(self):
        if not self.credited:
            raise CourseError(
                f"exercise {self.number} ({self.id}): no probe with a weight in {self.probe_module.__name__}; add one."
            )
        if self.points is None or self.points < 0:
            raise CourseError(f"exercise {self.number} ({self.id}): points are missing; give points=0 for ungraded.")

    @property
    def id(self) -> str:
        """The name of the first function; also the grade_id of its cell."""
        return self.references[0].__name__

    @property
    def functions(self) -> dict[str, Callable]:
        return {reference.__name__: reference for reference in self.references}

    @property
    def probes(self) -> tuple[Probe, ...]:
        return probes_of(self.probe_module, self.id)

    @property
    def credited(self) -> tuple[Probe, ...]:
        return tuple(probe for probe in self.probes if probe.weight > 0)

    def with_one(self, implementation: Callable) -> dict[str, Callable]:
        """The references, with the function that ``implementation`` stands for replaced by it.

        Functions are named ``rnn_step__swapped_weights``: what they stand for, two underscores, what they do.
        """
        return {**self.functions, implementation.__name__.split("__")[0]: implementation}

    def all_but(self, *passed: str) -> tuple[str, ...]:
        """The credited probes but for these, which are named without the exercise's name: for ``fails``."""
        names = {f"{self.id}_{name}" for name in passed}
        return tuple(probe.id for probe in self.credited if probe.id not in names)

    def misconception(self, title: str, *, fails: tuple[str, ...], hints: tuple[str, str, str]):
        """Decorator: a known mistake of this exercise."""

        def add(function: Callable) -> Callable:
            self.misconceptions.append(Misconception(_suffix(function), title, function, fails, hints))
            return function

        return add

    def convention(self, title: str):
        """Decorator: another right convention of this exercise."""

        def add(function: Callable) -> Callable:
            self.conventions.append(Convention(_suffix(function), title, function))
            return function

        return add

    def variant(self, function: Callable) -> Callable:
        """Decorator: the same answer in another style; the tests prove that it gets full marks."""
        self.variants.append(function)
        return function


def _suffix(function: Callable) -> str:
    name, separator, suffix = function.__name__.partition("__")
    if not separator or not suffix:
        raise CourseError(f"{function.__module__}.{name}: name it function__what_it_does.")
    return suffix
