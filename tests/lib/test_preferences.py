"""Lines, the policy that writes them, the reader: probabilities, gradients, a reward that is learned."""

from itertools import pairwise

import torch

from unrolled.alignment import bt_loss, pg_loss
from unrolled.preferences import (
    LIKED,
    BigramPolicy,
    T,
    V,
    WordReward,
    ask,
    clauses,
    reference,
    spell,
    taste,
    vocabulary,
)


def test_words_and_clauses_are_those_that_are_promised():
    assert len(vocabulary()) == V and set(vocabulary()) >= LIKED
    assert min(len(clause) for clause in clauses()) >= 5


def test_policy_draws_what_it_says():
    torch.manual_seed(0)
    policy, rng = BigramPolicy(torch.randn(4, 3)), torch.Generator().manual_seed(0)
    lines = policy.draw(20_000, rng)
    first = torch.bincount(lines[:, 0], minlength=3) / len(lines)
    torch.testing.assert_close(first, policy.table[-1].softmax(0).detach(), atol=0.015, rtol=0)
    after = lines[:, 1:][lines[:, :-1] == 2]  # what follows word 2
    torch.testing.assert_close(
        torch.bincount(after, minlength=3) / len(after), policy.table[2].softmax(0).detach(), atol=0.015, rtol=0
    )
    every = torch.cartesian_prod(*[torch.arange(3)] * T)
    torch.testing.assert_close(policy.logp(every).sum(1).exp().sum(), torch.tensor(1.0))


def test_reference_writes_like_its_text_and_does_not_change():
    ref, rng = reference(), torch.Generator().manual_seed(0)
    assert not any(p.requires_grad for p in ref.parameters())
    copy = BigramPolicy(ref.table)
    copy.logp(ref.draw(3, rng)).sum().backward()
    assert copy.table.grad.abs().sum() > 0 and copy.table.data_ptr() != ref.table.data_ptr()
    pairs = {pair for clause in clauses() for pair in pairwise(clause)}
    drawn = [spell(line).split() for line in ref.draw(200, rng)]
    known = [pair in pairs for words in drawn for pair in pairwise(words)]
    assert sum(known) / len(known) > 0.9  # the rest is what is added to every count


def test_reader_prefers_what_he_likes():
    ref, rng = reference(), torch.Generator().manual_seed(0)
    a, b = ref.draw(2000, rng), ref.draw(2000, rng)
    won, lost = ask(a, b, rng)
    assert taste(won).mean() > taste(lost).mean() + 0.3
    assert ((won == a).all(1) & (lost == b).all(1) | (won == b).all(1) & (lost == a).all(1)).all()


def test_reward_is_learned_and_followed():
    ref, rng = reference(), torch.Generator().manual_seed(0)
    won, lost = ask(ref.draw(4000, rng), ref.draw(4000, rng), rng)
    reward, pairs = WordReward(V), torch.ones(4000, 1, dtype=torch.bool)
    optimizer = torch.optim.Adam(reward.parameters(), lr=0.05)
    for _ in range(60):
        loss = bt_loss(reward(won)[:, None], reward(lost)[:, None], pairs)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    liked = torch.tensor([word in LIKED for word in vocabulary()])
    assert reward.values[liked].mean() > reward.values[~liked].mean() + 0.5
    policy, tokens = BigramPolicy(ref.table), torch.ones(128, T, dtype=torch.bool)
    optimizer, before = torch.optim.Adam(policy.parameters(), lr=0.05), reward(ref.draw(500, rng)).mean()
    for _ in range(40):
        lines = policy.draw(128, rng)
        loss = pg_loss(policy.logp(lines), reward(lines), 0.0, ref.logp(lines), tokens)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert reward(policy.draw(500, rng)).mean() > before + 0.5
