"""The losses of preferences and of rewards: against torch, and against the gradients they estimate."""

import pytest
import torch
import torch.nn.functional as F
from agreement import assert_close, assert_same_gradients

from unrolled.alignment import bt_loss, pg_loss

B, P, T, V = 5, 3, 4, 3


@pytest.fixture
def pairs(double):
    r_w, r_l = (3 * torch.randn(B, P)).requires_grad_(), (3 * torch.randn(B, P)).requires_grad_()
    return r_w, r_l, torch.ones(B, P, dtype=torch.bool)


def test_bradley_terry_is_a_binary_cross_entropy(pairs):
    r_w, r_l, mask = pairs
    theirs = F.binary_cross_entropy_with_logits(r_w - r_l, torch.ones(B, P))
    assert_close(bt_loss(r_w, r_l, mask), theirs)
    assert_same_gradients(bt_loss(r_w, r_l, mask), theirs, [r_w, r_l])


def test_bradley_terry_is_a_softmax_over_two(pairs):
    r_w, r_l, mask = pairs
    both = torch.stack([r_w, r_l], dim=-1).flatten(0, 1)
    theirs = F.cross_entropy(both, torch.zeros(B * P, dtype=torch.long))
    assert_close(bt_loss(r_w, r_l, mask), theirs)
    assert_same_gradients(bt_loss(r_w, r_l, mask), theirs, [r_w, r_l])


def test_each_prompt_counts_the_same(pairs):
    r_w, r_l, mask = pairs
    mask[0, 1:] = mask[3, 2] = False
    alone = [-F.logsigmoid(w[m] - loser[m]).mean() for w, loser, m in zip(r_w, r_l, mask, strict=True)]
    assert_close(bt_loss(r_w, r_l, mask), torch.stack(alone).mean())


def test_only_the_difference_of_rewards_counts(pairs):
    r_w, r_l, mask = pairs
    assert_close(bt_loss(r_w + 7, r_l + 7, mask), bt_loss(r_w, r_l, mask))


def test_rewards_far_apart_stay_finite(double):
    r_w, r_l = torch.tensor([[-800.0, 800.0]], requires_grad=True), torch.tensor([[800.0, -800.0]])
    loss = bt_loss(r_w, r_l, torch.ones(1, 2, dtype=torch.bool))
    assert_close(loss, torch.tensor(800.0))
    assert_close(torch.autograd.grad(loss, r_w)[0], torch.tensor([[-0.5, 0.0]]))


def test_true_strengths_are_where_the_gradient_vanishes(double):
    """Three players: the share of games that one wins against another is σ of the difference of their strengths."""
    strength = torch.tensor([0.3, 0.7, -1.1], requires_grad=True)
    i, j = torch.combinations(torch.arange(3)).T
    share = torch.sigmoid(strength[i] - strength[j]).detach()
    one = torch.ones(1, 1, dtype=torch.bool)
    games = [(i[k], j[k], share[k]) for k in range(3)] + [(j[k], i[k], 1 - share[k]) for k in range(3)]
    each = [w * bt_loss(strength[won].view(1, 1), strength[lost].view(1, 1), one) for won, lost, w in games]
    assert_close(torch.autograd.grad(sum(each), strength)[0], torch.zeros(3))


def _answers() -> tuple:
    lp, lp_ref = -torch.rand(B, T), -torch.rand(B, T)
    mask = torch.arange(T) < torch.tensor([4, 2, 1, 3, 4])[:, None]
    return lp.requires_grad_(), torch.randn(B), lp_ref, mask


def test_policy_gradient_equals_the_advantage_times_the_score(double):
    lp, R, lp_ref, mask = _answers()
    loss = pg_loss(lp, R.requires_grad_(), 0.3, lp_ref.requires_grad_(), mask)
    gradient, *others = torch.autograd.grad(loss, [lp, R, lp_ref], allow_unused=True)
    A = (R - 0.3 * ((lp - lp_ref) * mask).sum(dim=1)).detach()
    assert_close(gradient, -(A - A.mean())[:, None] * mask / B)
    assert others == [None, None]


def test_policy_gradient_is_that_of_the_expected_reward(double):
    """All V² answers of two tokens, each as often as the policy draws it: then nothing is left to chance."""
    scores, beta = torch.randn(2, V, requires_grad=True), 0.4
    ref, reward = torch.log_softmax(torch.randn(2, V), dim=1), torch.randn(V, V)
    first, second = torch.cartesian_prod(torch.arange(V), torch.arange(V)).T
    logp = torch.log_softmax(scores, dim=1)
    lp = torch.stack([logp[0, first], logp[1, second]], dim=1)  # (V², 2)
    lp_ref = torch.stack([ref[0, first], ref[1, second]], dim=1)
    p, R, mask = lp.sum(dim=1).exp(), reward[first, second], torch.ones(1, 2, dtype=torch.bool)
    exact = -(p * (R - beta * (lp - lp_ref).sum(dim=1))).sum()  # minus the expected reward, plus β times the KL
    drawn = torch.multinomial(p.detach(), 400_000, replacement=True, generator=torch.Generator().manual_seed(0))
    ours = pg_loss(lp[drawn], R[drawn], beta, lp_ref[drawn], mask.expand(len(drawn), 2))
    (left,), (right,) = (torch.autograd.grad(loss, scores, retain_graph=True) for loss in (ours, exact))
    assert_close(left, right, atol=0.01)
    assert right.abs().max() > 0.1


def test_gradcheck(double):
    r_w, r_l = torch.randn(B, P, requires_grad=True), torch.randn(B, P, requires_grad=True)
    mask = torch.ones(B, P, dtype=torch.bool)
    mask[1, 1:] = False
    assert torch.autograd.gradcheck(lambda w, x: bt_loss(w, x, mask), [r_w, r_l])
    lp, R, lp_ref, real = _answers()
    assert torch.autograd.gradcheck(lambda lp: pg_loss(lp, R, 0.0, lp_ref, real), [lp])  # β = 0: A holds no lp
