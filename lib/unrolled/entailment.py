"""Pairs of sentences: must the second be true if the first is? (chapter 13; credits: docs/data.md)."""

from __future__ import annotations

from typing import NamedTuple

from unrolled.data import downloaded

LABELS = ("entailment", "neutral", "contradiction")  # it must be true, it may be, it cannot be


class Pair(NamedTuple):
    """Two sentences and the number of their label in LABELS."""

    premise: str
    hypothesis: str
    label: int


def entailment_pairs(part: str) -> list[Pair]:
    """Pairs of the Stanford corpus (Bowman et al. 2015), in the order of its files; downloaded.

    The premise describes a photograph; each hypothesis was written for it by a person. Only the two smaller files of
    the corpus are read. Its test file is for the test. Of the other one, premise number n (those that follow each
    other and are alike have one number) is for validation if n ends in 9, else for training: so all hypotheses about
    a picture are in the same part.

    Args:
        part: "train" (8,852 pairs), "validation" (990) or "test" (9,824).
    """
    file = "test" if part == "test" else "dev"
    rows = zip(*(_lines(f"{column}.{file}") for column in ("s1", "s2", "labels")), strict=True)
    found, number, before = [], -1, None
    for premise, hypothesis, label in rows:
        number, before = number + (premise != before), premise
        if part == "test" or (part == "validation") == (number % 10 == 9):
            found.append(Pair(premise, hypothesis, LABELS.index(label)))
    return found


def _lines(file: str) -> list[str]:
    lines = downloaded(f"snli-dev-test/{file}").read_text(encoding="utf-8").split("\n")
    return [line.strip() for line in lines if line.strip()]
