"""A probe asks an implementation one question and returns what it saw, raw.

Probes run beside student code, so this module and everything under ``autograder/probes`` import neither references
nor known mistakes. The same probe is put to the student's function, to the reference and to each known mistake;
what the answers mean is decided elsewhere.
"""

from __future__ import annotations

import inspect
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import torch

from autograder.values import Raised, canonical


@dataclass(frozen=True)
class Probe:
    """One property of one exercise. ``run`` takes the functions by name, and ``rng``; weight 0 serves naming only."""

    id: str
    exercise: str
    title: str
    run: Callable
    weight: float
    seconds: float

    @cached_property
    def functions(self) -> tuple[str, ...]:
        """The names of the functions that the probe calls: its parameters but for ``rng``."""
        return tuple(name for name in inspect.signature(self.run).parameters if name != "rng")


class Question(NamedTuple):
    """One probe with one seed in one precision."""

    probe: Probe
    seed: int
    dtype: str = "float64"


def probe(exercise: str, title: str, *, weight: float = 1, seconds: float = 5) -> Callable[[Callable], Probe]:
    """Declare ``run`` as a probe of ``exercise``; ``title`` is the property as a student reads it."""
    return lambda run: Probe(run.__name__, exercise, title, run, weight, seconds)


def probes_of(module, exercise: str) -> tuple[Probe, ...]:
    """The probes of one exercise, in the order in which the module defines them."""
    return tuple(p for p in vars(module).values() if isinstance(p, Probe) and p.exercise == exercise)


def observe(question: Question, functions: dict[str, Callable]):
    """Put a question: a dict of named values in canonical form, or Raised."""
    probe, seed, dtype = question
    before, state = torch.get_default_dtype(), torch.get_rng_state()
    torch.set_default_dtype(getattr(torch, dtype))
    torch.default_generator.manual_seed(seed)
    rng = torch.Generator().manual_seed(seed)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            seen = probe.run(**{name: functions[name] for name in probe.functions}, rng=rng)
            return {name: canonical(value) for name, value in seen.items()}
    except Exception as error:
        return Raised(type(error).__name__, str(error)[:300] + _line_of_cell(error))
    finally:
        torch.set_default_dtype(before)
        torch.set_rng_state(state)


def _line_of_cell(error: Exception) -> str:
    """Where in a notebook cell an error came from, as words; empty if it came from no cell."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename.startswith("<") or "ipykernel" in frame.filename]
    return f" (line {lines[-1]} of the cell)" if lines else ""


def normal(rng: torch.Generator, *shape: int) -> torch.Tensor:
    """Standard normal numbers from the probe's own generator, in the default dtype."""
    return torch.randn(*shape, generator=rng)


def integers(rng: torch.Generator, low: int, high: int, *shape: int) -> torch.Tensor:
    """Integers in [low, high) from the probe's own generator."""
    return torch.randint(low, high, shape, generator=rng)


def leaf(rng: torch.Generator, *shape: int) -> torch.Tensor:
    """As ``normal``, and asking for a gradient."""
    return normal(rng, *shape).requires_grad_()


def gradients(rng: torch.Generator, out: torch.Tensor, **inputs: torch.Tensor) -> dict:
    """The output, and the gradient of a randomly weighted sum of it with respect to each input, as observations.

    A gradient that does not arrive is None, be it cut on one way or on all.
    """
    total = (out * torch.randn(out.shape, generator=rng)).sum()
    cut = [None] * len(inputs)
    found = torch.autograd.grad(total, list(inputs.values()), allow_unused=True) if total.requires_grad else cut
    return {"output": out} | {f"gradient of {name}": g for name, g in zip(inputs, found, strict=True)}
