"""The edit distance is a metric, and agrees with the shortest way through all rows that single edits reach."""

from itertools import product

import pytest
import torch

from unrolled.edit_distance import edit_distance, error_rate

WORDS = ["".join(letters) for n in range(4) for letters in product("ab", repeat=n)]


def neighbours(word: str) -> set[str]:
    """All words over a and b that one edit makes of a word."""
    cuts = [(word[:i], word[i:]) for i in range(len(word) + 1)]
    shorter = {left + right[1:] for left, right in cuts if right}
    replaced = {left + letter + right[1:] for left, right in cuts if right for letter in "ab"}
    longer = {left + letter + right for left, right in cuts for letter in "ab"}
    return shorter | replaced | longer


def distances_from(word: str, longest: int = 6) -> dict[str, int]:
    """The number of edits to every word up to a length, by trying all edits."""
    known, edge, edits = {word: 0}, {word}, 0
    while edge:
        edits += 1
        edge = {new for old in edge for new in neighbours(old) if len(new) <= longest} - known.keys()
        known |= dict.fromkeys(edge, edits)
    return known


@pytest.mark.parametrize("a", ["", "a", "ab", "abba", "babab"])
def test_equals_the_shortest_way_of_edits(a):
    for b, edits in distances_from(a).items():
        assert edit_distance(a, b) == edits, (a, b)


def test_is_a_metric():
    d = {(a, b): edit_distance(a, b) for a in WORDS for b in WORDS}
    for a, b in d:
        assert (d[a, b] == 0) == (a == b)
        assert d[a, b] == d[b, a] == edit_distance(a[::-1], b[::-1])
        assert abs(len(a) - len(b)) <= d[a, b] <= max(len(a), len(b))
        assert all(d[a, b] <= d[a, c] + d[c, b] for c in WORDS)


def test_tokens_are_whole():
    assert edit_distance(["TH", "IH"], ["T", "H", "IH"]) == 2
    assert edit_distance("THIH", "THIH") == 0
    assert edit_distance([300, 7], [7]) == 1


def test_error_rate_adds_up_before_it_divides():
    pairs = [("abcdefgh", "abcdefgh"), ("a", "b")]
    assert error_rate(pairs) == 1 / 9
    assert error_rate(pairs * 5) == error_rate(pairs)
    assert error_rate([("ab", "")]) == 1
    assert error_rate([("a", "bcd"), ("", "e")]) == 4


def test_nothing_is_changed():
    a, b = torch.randint(3, (2, 8), generator=torch.Generator().manual_seed(0)).tolist()
    before = list(a), list(b)
    error_rate([(a, b), (b, a)])
    assert (a, b) == before
