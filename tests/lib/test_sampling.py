"""Sampling: temperature, the two cuts, and draws whose frequencies are the probabilities."""

import pytest
import torch
from agreement import assert_close

from unrolled.language_model import LanguageModel
from unrolled.sampling import next_token_probs, sample_sequence

V = 13

pytestmark = pytest.mark.usefixtures("double")


def test_temperature_one_is_softmax():
    logits = 3 * torch.randn(V)
    assert_close(next_token_probs(logits), torch.softmax(logits, 0))
    assert_close(next_token_probs(logits, top_k=V, top_p=1.0), torch.softmax(logits, 0))


def test_cold_is_sure_and_hot_is_flat():
    logits = torch.randn(V)
    assert_close(next_token_probs(logits, 1e-4), torch.eye(V)[logits.argmax()])
    assert_close(next_token_probs(logits, 1e9), torch.full((V,), 1 / V))


def test_odds_are_raised_to_the_power_of_one_over_the_temperature():
    logits, tau = torch.randn(V), 0.7
    plain, tempered = next_token_probs(logits), next_token_probs(logits, tau)
    assert_close(tempered[:-1] / tempered[1:], (plain[:-1] / plain[1:]) ** (1 / tau))


@pytest.mark.parametrize("top_k", range(1, V + 1))
def test_top_k_keeps_the_k_largest(top_k):
    logits = torch.randn(V)
    p = next_token_probs(logits, top_k=top_k)
    assert set(p.nonzero().flatten().tolist()) == set(logits.topk(top_k).indices.tolist())
    assert_close(p.sum(), torch.tensor(1.0))
    kept = p > 0
    assert_close(p[kept], torch.softmax(logits[kept], 0))


@pytest.mark.parametrize("top_p", [0.05, 0.3, 0.6, 0.9, 0.99])
@pytest.mark.parametrize("top_k", [None, 7])
def test_top_p_keeps_the_smallest_set_that_reaches_p(top_p, top_k):
    for _ in range(20):
        logits = 2 * torch.randn(V)
        left = next_token_probs(logits, top_k=top_k)
        kept = next_token_probs(logits, top_k=top_k, top_p=top_p) > 0
        assert left[kept].sum() >= top_p > left[kept].sum() - left[kept].min()
        assert left[kept].min() > left[~kept].max()


def test_draws_have_the_frequencies_of_the_distribution():
    p, n = torch.softmax(torch.randn(V), 0), 40_000
    ids = sample_sequence(lambda w, h: (p, h), None, 0, n, torch.rand(n, generator=torch.Generator().manual_seed(1)))
    share = torch.bincount(ids, minlength=V) / n
    assert ((share - p).abs() < 6 * (p * (1 - p) / n).sqrt()).all()


def test_draws_equal_a_search_in_the_cumulative_sums():
    p, u = torch.softmax(torch.randn(V), 0), torch.rand(500)
    ids = sample_sequence(lambda w, h: (p, h), None, 0, 500, u)
    assert torch.equal(ids, torch.searchsorted(p.cumsum(0), u, right=True))


def test_rounding_never_draws_beyond_the_vocabulary():
    p = torch.tensor([0.25, 0.75 - 1e-12])
    assert sample_sequence(lambda w, h: (p, h), None, 0, 1, torch.tensor([1 - 1e-15])).tolist() == [1]


def test_a_model_reads_what_it_writes():
    """Step by step with a carried state, or all at once over what came out: the same probabilities, the same ids."""
    model, u, seen = LanguageModel(V, 7, "lstm"), torch.rand(30), []

    def step(w, state):
        logits, state = model(torch.tensor([[w]]), state)
        seen.append(logits[0, 0].detach())
        return next_token_probs(seen[-1], temperature=0.8, top_p=0.9), state

    ids = sample_sequence(step, None, 0, 30, u)
    again = model(torch.cat([torch.tensor([0]), ids[:-1]])[None])[0][0]
    assert_close(torch.stack(seen), again.detach())
    assert len(ids.unique()) > 3
