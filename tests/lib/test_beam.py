"""Beam search against trying everything, and against greedy; ranking by length."""

from itertools import product

import pytest
import torch
from agreement import assert_close

from unrolled.beam import beam_search, rank_hypotheses
from unrolled.seq2seq import greedy

V, H, BOS, EOS = 4, 5, 3, 0


@pytest.fixture
def step():
    """A decoder with a state, so that a state that goes to the wrong hypothesis is noticed."""
    generator = torch.Generator().manual_seed(3)
    W = torch.randn(H, H, generator=generator, dtype=torch.float64)
    E = torch.randn(V, H, generator=generator, dtype=torch.float64)
    out = torch.randn(V, H, generator=generator, dtype=torch.float64)

    def one(y, h):
        h = torch.tanh(h @ W + E[y])
        return 2 * h @ out.T, h

    return one


def everything(step, h0, max_len):
    """All sentences of at most max_len tokens with their log-probabilities: ended ones, and those cut off."""
    found = {}
    for tokens in product(range(V), repeat=max_len):
        end = tokens.index(EOS) + 1 if EOS in tokens else max_len
        y, h, total = torch.tensor([BOS]), h0, 0.0
        for token in tokens[:end]:
            logits, h = step(y, h)
            total += torch.log_softmax(logits, 1)[0, token].item()
            y = torch.tensor([token])
        found[tokens[:end]] = total
    return sorted(found.items(), key=lambda item: -item[1])


def test_a_wide_beam_finds_all_there_is(step):
    h0 = torch.zeros(1, H, dtype=torch.float64)
    expected, found = everything(step, h0, 4), beam_search(step, h0, BOS, EOS, k=V**4, max_len=4)
    assert [hyp.tokens for hyp in found] == [tokens for tokens, _ in expected]
    assert_close(torch.tensor([hyp.logp for hyp in found]), torch.tensor([logp for _, logp in expected]))


@pytest.mark.parametrize("seed", range(5))
def test_a_beam_of_one_is_greedy(step, seed):
    h0 = torch.randn(1, H, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    (found,) = beam_search(step, h0, BOS, EOS, k=1, max_len=9)
    said = greedy(lambda y, h, c: step(y, h), h0, torch.zeros(1, 1), BOS, EOS, pad=9, max_len=9)
    assert list(found.tokens) == said[0].tolist()


@pytest.mark.parametrize("k", [1, 2, 3, 7])
def test_what_stays_is_sorted_and_its_probability_is_its_own(step, k):
    h0 = torch.ones(1, H, dtype=torch.float64)
    found = beam_search(step, h0, BOS, EOS, k, max_len=6)
    known = dict(everything(step, h0, 6))
    assert len(found) == k and sorted(found, key=lambda hyp: -hyp.logp) == found
    assert_close(torch.tensor([hyp.logp for hyp in found]), torch.tensor([known[hyp.tokens] for hyp in found]))


def test_length_counts_as_much_as_alpha_says():
    hyps, logps = [(1, 0), (1, 2, 3, 0), (5, 6, 7, 8, 9, 0)], [-1.0, -1.5, -2.0]
    assert rank_hypotheses(hyps, logps, 0) == [0, 1, 2]
    assert rank_hypotheses(hyps, logps, 1) == [2, 1, 0]
    assert rank_hypotheses(hyps, logps, 0.6) == [1, 0, 2]  # -0.653, -0.660, -0.683
    assert rank_hypotheses(hyps[::-1], logps[::-1], 0.3) == [2, 1, 0]
