"""Spans and their F1 against seqeval, over thousands of random rows of tags."""

import random
import warnings

import pytest
from seqeval.metrics import f1_score
from seqeval.metrics.sequence_labeling import get_entities

from unrolled.spans import bio_spans, span_f1

TYPED = ("O", "B-PER", "I-PER", "B-LOC", "I-LOC", "B-ORG", "I-ORG")
PLAIN = ("O", "B", "I")


def rows(rng: random.Random, tags: tuple[str, ...], n: int, longest: int = 12) -> list[list[str]]:
    return [rng.choices(tags, k=rng.randint(1, longest)) for _ in range(n)]


def theirs(row: list[str]) -> list[tuple[str, int, int]]:
    """seqeval's spans: the end is the last word there, and a type that is not given is "_"."""
    return [("" if kind == "_" else kind, start, end + 1) for kind, start, end in get_entities(row)]


@pytest.mark.parametrize("tags", [TYPED, TYPED[:5], PLAIN], ids=["three types", "two types", "plain"])
def test_spans_equal_seqeval(tags):
    found = 0
    for row in rows(random.Random(0), tags, 5000):
        assert bio_spans(row) == theirs(row), row
        found += len(bio_spans(row))
    assert found > 5000


def test_spans_cover_exactly_what_is_not_outside():
    for row in rows(random.Random(1), TYPED, 1000):
        covered = [t for _, start, end in bio_spans(row) for t in range(start, end)]
        assert covered == [t for t, tag in enumerate(row) if tag != "O"]


def test_rows_without_spans():
    assert bio_spans([]) == bio_spans(["O", "O"]) == []
    assert span_f1([["O"], []], [["O"], []]) == 0
    assert span_f1([["B-PER"]], [["O"]]) == span_f1([["O"]], [["B-PER"]]) == 0


def test_f1_equals_seqeval():
    rng, between = random.Random(2), 0
    for _ in range(1000):
        gold = rows(rng, TYPED, rng.randint(1, 5))
        predicted = [[tag if rng.random() < 0.8 else rng.choice(TYPED) for tag in row] for row in gold]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # seqeval warns of 0/0
            expected = f1_score(gold, predicted)
        assert span_f1(gold, predicted) == pytest.approx(expected, abs=1e-12)
        between += 0 < expected < 1
    assert between > 700


def test_f1_is_the_same_from_both_sides_and_one_only_if_all_is_right():
    rng = random.Random(3)
    for _ in range(300):
        gold = rows(rng, TYPED, 3)
        predicted = [[tag if rng.random() < 0.9 else "O" for tag in row] for row in gold]
        assert span_f1(gold, predicted) == span_f1(predicted, gold)
        same = [bio_spans(row) for row in gold] == [bio_spans(row) for row in predicted]
        assert (span_f1(gold, predicted) == 1) == (same and any(map(bio_spans, gold)))


def test_rows_must_match():
    with pytest.raises(ValueError):
        span_f1([["O"]], [])
