"""BLEU equals sacrebleu's on token strings, and its corner cases."""

import random

import pytest
import sacrebleu

from unrolled.bleu import bleu


def theirs(hyps, refs):
    strings = [[" ".join(tokens) for tokens in side] for side in (hyps, refs)]
    score = sacrebleu.corpus_bleu(strings[0], [strings[1]], tokenize="none", smooth_method="none", force=True)
    return score.score / 100


def noisy(ref, rng):
    """A reference with words dropped, doubled, exchanged and replaced."""
    hyp = [word for word in ref for _ in range(rng.choice((0, 1, 1, 1, 1, 1, 1, 2)))]
    return [rng.choice("abcdefg") if rng.random() < 0.1 else word for word in hyp]


@pytest.mark.parametrize("seed", range(20))
def test_equal_to_sacrebleu(seed):
    rng = random.Random(seed)
    refs = [[rng.choice("abcdefg") for _ in range(rng.randint(1, 15))] for _ in range(rng.randint(3, 30))]
    hyps = [noisy(ref, rng) for ref in refs]
    assert bleu(hyps, refs) == pytest.approx(theirs(hyps, refs), abs=1e-9)


def test_too_short_is_punished_and_too_long_is_not_rewarded():
    ref = list("abcdefgh")
    for hyp in (ref[:6], [*ref, "x"]):
        assert bleu([hyp], [ref]) == pytest.approx(theirs([hyp], [ref]), abs=1e-9)
        assert 0 < bleu([hyp], [ref]) < 1


def test_nothing_written_or_no_group_of_four_is_zero():
    ref = list("abcde")
    assert bleu([[]], [ref]) == bleu([["a", "b", "c"]], [ref]) == bleu([], []) == 0
