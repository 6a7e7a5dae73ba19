"""The loss of word2vec against torch's own, and words that learn who their neighbours are."""

import pytest
import torch
import torch.nn.functional as F
from agreement import assert_close

from unrolled.word2vec import sgns_loss

B, K, V, E = 11, 3, 13, 7

pytestmark = pytest.mark.usefixtures("double")


def batch() -> list[torch.Tensor]:
    ids = torch.randint(V, (B,)), torch.randint(V, (B,)), torch.randint(V, (B, K))
    return [*ids, torch.randn(V, E, requires_grad=True), torch.randn(V, E, requires_grad=True)]


def test_loss_and_gradients_equal_binary_cross_entropy():
    c, o, neg, E_in, E_out = batch()
    scores = (E_in[c][:, None] * E_out[torch.cat([o[:, None], neg], dim=1)]).sum(dim=2)
    label = torch.eye(K + 1)[0].expand(B, K + 1)
    theirs = F.binary_cross_entropy_with_logits(scores, label, reduction="sum") / B
    ours = sgns_loss(c, o, neg, E_in, E_out)
    assert_close(ours, theirs)
    for left, right in zip(
        torch.autograd.grad(ours, [E_in, E_out]), torch.autograd.grad(theirs, [E_in, E_out]), strict=True
    ):
        assert_close(left, right)


def test_gradcheck():
    c, o, neg, E_in, E_out = batch()
    assert torch.autograd.gradcheck(lambda v, u: sgns_loss(c, o, neg, v, u), [E_in, E_out])


def test_large_scores_stay_finite():
    c, o, neg, E_in, E_out = batch()
    loss = sgns_loss(c, o, neg, 1000 * E_in, 1000 * E_out)
    assert loss.isfinite() and loss > 1e5
    assert all(g.isfinite().all() for g in torch.autograd.grad(loss, [E_in, E_out]))


def test_words_with_the_same_neighbours_come_close():
    """Even words stand beside 0, odd ones beside 1: the vectors of even words part from those of odd ones."""
    rng = torch.Generator().manual_seed(0)
    E_in, E_out = (torch.randn(V, E, generator=rng).mul(0.1).requires_grad_() for _ in range(2))
    optimizer = torch.optim.Adam([E_in, E_out], lr=0.05)
    for _ in range(200):
        c = torch.randint(2, V, (64,), generator=rng)
        optimizer.zero_grad()
        sgns_loss(c, c % 2, torch.randint(V, (64, K), generator=rng), E_in, E_out).backward()
        optimizer.step()
    likeness = F.normalize(E_in[2:].detach(), dim=1) @ F.normalize(E_in[2:].detach(), dim=1).T
    same = torch.arange(2, V)[:, None] % 2 == torch.arange(2, V) % 2
    assert likeness[same].min() > likeness[~same].max()
