"""Pairs of sentences from the mirror: counts, labels, and no picture in two parts."""

import os

import pytest

from unrolled.entailment import LABELS, entailment_pairs

mirrored = pytest.mark.skipif("UNROLLED_MIRROR" not in os.environ, reason="UNROLLED_MIRROR is not set")


@mirrored
def test_pairs_are_complete_and_split_by_premise():
    parts = {part: entailment_pairs(part) for part in ("train", "validation", "test")}
    assert {part: len(pairs) for part, pairs in parts.items()} == {"train": 8852, "validation": 990, "test": 9824}
    premises = {part: {pair.premise for pair in pairs} for part, pairs in parts.items()}
    assert not premises["train"] & premises["validation"]
    for pairs in parts.values():
        shares = [sum(pair.label == k for pair in pairs) / len(pairs) for k in range(len(LABELS))]
        assert min(shares) > 0.31 and max(shares) < 0.36
    assert parts["train"][2].label == LABELS.index("contradiction")
    assert all(pair.premise and pair.hypothesis for pairs in parts.values() for pair in pairs)
