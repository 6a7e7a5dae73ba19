"""Which two answers look like copies of each other? A hint for a conversation, never a verdict.

Comments, docstrings, layout and the names that a student chose are removed. What stands in the released stub, in a
known right form, in a known mistake, in a form that three students share, or in the answers of more than a few, does
not count. What is left is cut into runs of ``RUN`` tokens; a table of hashes finds the pairs that share rare runs, so
the work grows with the length of all answers, not with the number of pairs.
"""

from __future__ import annotations

import builtins
import keyword
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

import numpy as np

RUN = 6  # tokens
FEWEST_TOKENS = 40  # a shorter answer says nothing
FEWEST_RUNS = 20  # that are the student's own; fewer say nothing either
ALIKE = 0.6  # of the own runs of both
OF_ALL = 1 / 3  # of all runs of both: people who never met share rare lines by chance, but less than this
MANY = 3  # students who share a form: then it is the form that anybody finds
RARE = 5  # students: runs that more of them use lead to no pair
COMMON = 0.01  # of the class: runs that more of them use are nobody's own

TOKEN = re.compile(
    r"""(?P<space>[ \t\f\r]+|\\\r?\n)
    |(?P<comment>\#[^\n]*)
    |(?P<newline>\n)
    |(?P<string>[rbfuRBFU]{0,2}(?:'''(?:\\.|[^\\])*?'''|\"\"\"(?:\\.|[^\\])*?\"\"\"
                                 |'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"))
    |(?P<number>\.?\d[\w.]*(?:(?<=[eE])[+-]\d+)?)
    |(?P<name>[^\W\d]\w*)
    |(?P<sign>\*\*=?|//=?|>>=?|<<=?|->|:=|[-+*/%@&|^=<>!]=|.)""",
    re.VERBOSE | re.DOTALL,
)
PYTHON = frozenset(keyword.kwlist) | frozenset(dir(builtins))
OPEN, CLOSE = "([{", ")]}"


@dataclass(frozen=True)
class Pair:
    """Two answers to one exercise that are alike; ``lines`` are those, from 0, in which both say the same."""

    first: str
    second: str
    alike: float  # from 0 to 1
    runs: int  # that both share and hardly anybody else has
    first_lines: tuple[int, ...]
    second_lines: tuple[int, ...]


def tokens_of(source: str, kept: frozenset[str] = frozenset()) -> list[tuple[str, int]]:
    """(token, line) of a source: without comments, docstrings and layout, and with ``v`` for every name.

    Python's own names, attributes, the names of arguments in calls and the names in ``kept`` stay as they are.
    """
    found: list[tuple[str, str, int]] = []
    line, depth = 0, 0
    for match in TOKEN.finditer(source):
        kind, text = match.lastgroup, match.group()
        if kind in ("string", "number", "name", "sign") or (kind == "newline" and not depth):
            found.append((kind, text, line))
        if kind == "sign":
            depth = max(0, depth + (text in OPEN) - (text in CLOSE))
        line += text.count("\n")
    return _normal(found, PYTHON | kept)


def _normal(found: list[tuple[str, str, int]], kept: frozenset[str]) -> list[tuple[str, int]]:
    normal, depth, begins = [], 0, True
    nothing = ("newline", "\n", 0)
    for place, (kind, text, line) in enumerate(found):
        before = found[place - 1] if place else nothing
        after = found[place + 1] if place + 1 < len(found) else nothing
        if kind == "newline" or text == ";":
            begins = True
            continue
        depth += (kind == "sign" and text in OPEN) - (kind == "sign" and text in CLOSE)
        is_docstring = kind == "string" and begins and after[0] == "newline"
        is_last_comma = text == "," and after[1] in CLOSE
        begins = text == ":" and depth == 0
        if is_docstring or is_last_comma:
            continue
        if kind == "string":
            text = "'" + text.lstrip("rbfuRBFU").strip("'\"")
        if kind == "name" and text not in kept and before[1] != "." and not (depth and after[1] == "="):
            text = "v"
        normal.append((text, line))
    return normal


class _Runs:
    """Turns answers into arrays of numbers, one for each run of tokens."""

    def __init__(self):
        self.numbers: dict[str, int] = {}
        self.factors = np.random.default_rng(0).integers(1, 2**63, RUN, dtype=np.uint64) | np.uint64(1)

    def __call__(self, words: Iterable[str]) -> np.ndarray:
        """One number per run, in order."""
        codes = np.array([self.numbers.setdefault(word, len(self.numbers) + 1) for word in words], dtype=np.uint64)
        if len(codes) < RUN:
            return np.empty(0, dtype=np.uint64)
        mixed = (codes + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)  # wraps around
        mixed ^= mixed >> np.uint64(29)
        return (np.lib.stride_tricks.sliding_window_view(mixed, RUN) * self.factors).sum(axis=1, dtype=np.uint64)


def similar_pairs(answers: dict[str, str], known: Iterable[str] = (), kept: frozenset[str] = frozenset()) -> list[Pair]:
    """The pairs among the answers to one exercise that are alike beyond what is known, the most alike first.

    Args:
        answers: student -> source.
        known: the released stub, right forms and known mistakes; what stands in them does not count.
        kept: names that are not the student's choice, for instance ``torch``.
    """
    runs_of, cut = _Runs(), {source: tokens_of(source, kept) for source in set(answers.values())}
    words = {source: tuple(word for word, _ in tokens) for source, tokens in cut.items()}
    stub = Counter(word for source in list(known)[:1] for word, _ in tokens_of(source, kept))
    forms = Counter(words[source] for source in answers.values())
    theirs = [s for s, source in answers.items() if _counts(words[source], stub) and forms[words[source]] < MANY]
    if len(theirs) < 2:
        return []
    common = [runs_of(word for word, _ in tokens_of(source, kept)) for source in known]
    common += [runs_of(form) for form, count in forms.items() if count >= MANY]
    known_runs = np.unique(np.concatenate([*common, np.empty(0, dtype=np.uint64)]))
    placed = [runs_of(words[answers[student]]) for student in theirs]
    own = [np.setdiff1d(runs, known_runs) for runs in placed]
    own = _uncommon(own, max(MANY - 1, int(COMMON * len(answers))))
    found = []
    for i, j in _candidates(own):
        shared = np.intersect1d(own[i], own[j], assume_unique=True)
        smaller = min(len(own[i]), len(own[j]))
        alike = 2 * len(shared) / (len(own[i]) + len(own[j])) if smaller >= FEWEST_RUNS else 0
        if alike >= ALIKE and _of_all(shared, placed[i], placed[j]) >= OF_ALL:
            found.append((float(alike), i, j, shared))
    partners = Counter(student for _, i, j, _ in found for student in (i, j))
    pairs = []
    for alike, i, j, shared in found:
        if partners[i] < MANY - 1 and partners[j] < MANY - 1:
            lines = [_lines(cut[answers[theirs[k]]], placed[k], shared) for k in (i, j)]
            pairs.append(Pair(theirs[i], theirs[j], alike, len(shared), *lines))
    return sorted(pairs, key=lambda pair: (-pair.alike, -pair.runs, pair.first, pair.second))


def _of_all(shared: np.ndarray, one: np.ndarray, two: np.ndarray) -> float:
    """How much of two answers it is that they share and hardly anybody else has."""
    return 2 * len(shared) / (len(np.unique(one)) + len(np.unique(two)))


def _counts(words: tuple[str, ...], stub: Counter) -> bool:
    return sum((Counter(words) - stub).values()) >= FEWEST_TOKENS


def _uncommon(own: list[np.ndarray], most: int) -> list[np.ndarray]:
    """What is left when the runs that more than ``most`` answers hold are taken away."""
    runs, counts = np.unique(np.concatenate(own), return_counts=True)
    return [np.setdiff1d(mine, runs[counts > most], assume_unique=True) for mine in own]


def _candidates(own: list[np.ndarray]) -> list[tuple[int, int]]:
    """The pairs that share at least a few rare runs."""
    runs = np.concatenate(own)
    whose = np.repeat(np.arange(len(own)), [len(mine) for mine in own])
    order = np.lexsort((whose, runs))
    runs, whose = runs[order], whose[order]
    starts = np.flatnonzero(np.concatenate([[True], runs[1:] != runs[:-1]])) if len(runs) else np.empty(0, dtype=int)
    sizes = np.diff(np.append(starts, len(runs)))
    codes = [np.empty(0, dtype=np.int64)]
    for size in range(2, RARE + 1):
        groups = starts[sizes == size]
        for a, b in combinations(range(size), 2):
            codes.append(whose[groups + a] * len(own) + whose[groups + b])
    pairs, counts = np.unique(np.concatenate(codes), return_counts=True)
    return [divmod(int(pair), len(own)) for pair in pairs[counts >= FEWEST_RUNS // 4]]


def _lines(tokens: list[tuple[str, int]], runs: np.ndarray, shared: np.ndarray) -> tuple[int, ...]:
    marked: set[int] = set()
    for place in np.flatnonzero(np.isin(runs, shared)):
        marked |= {line for _, line in tokens[place : place + RUN]}
    return tuple(sorted(marked))
