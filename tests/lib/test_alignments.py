"""Gold alignments: counts, links inside their verse, parts without a shared verse, error rate, nothing imported."""

import sys

import pytest

from unrolled.alignments import aligned_verses, alignment_error_rate

PARTS = ("train", "validation", "test")


def test_parts_and_links():
    parts = [aligned_verses(part, 24) for part in PARTS]
    assert tuple(map(len, parts)) == (4_208, 526, 525)
    for verse in (verse for part in parts for verse in part):
        assert 0 < len(verse.greek) <= 24 and 0 < len(verse.english) <= 24 and verse.links
        assert all(0 <= i < len(verse.english) and 0 <= j < len(verse.greek) for i, j in verse.links)
        assert all(any(letter.isalnum() for letter in word) for word in verse.english)  # no marks
    everything = aligned_verses("train", 200) + aligned_verses("validation", 200) + aligned_verses("test", 200)
    assert sum(len(verse.links) for verse in everything) == 189_473


def test_a_known_verse_is_linked_word_by_word():
    """John 11:35: ἐδάκρυσεν ὁ Ἰησοῦς, Jesus wept; the Greek has the verb first."""
    verse = next(v for part in PARTS for v in aligned_verses(part, 4) if v.english == ["jesus", "wept"])
    assert verse.greek == ["δακρύω", "ὁ", "Ἰησοῦς"]
    assert {(0, 2), (1, 0)} <= verse.links
    assert verse.pair == (verse.greek, [verse.english])


@pytest.mark.parametrize(
    ("guessed", "gold", "rate"),
    [({(0, 0)}, {(0, 0)}, 0.0), ({(0, 1)}, {(1, 0)}, 1.0), ({(0, 0), (1, 1)}, {(0, 0)}, 1 / 3), (set(), {(0, 0)}, 1.0)],
)
def test_error_rate(guessed, gold, rate):
    assert alignment_error_rate(guessed, gold) == pytest.approx(rate, abs=1e-12)


def test_no_package_was_imported():
    assert "bible_alignments" not in sys.modules
