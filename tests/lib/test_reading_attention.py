"""Rollout by the sum over all paths; induction scores of heads that are made to be known."""

from itertools import product

import torch
from agreement import assert_close

from unrolled.induction import induction_score
from unrolled.rollout import attention_rollout


def some_weights(*shape):
    return torch.softmax(torch.randn(*shape, generator=torch.Generator().manual_seed(1), dtype=torch.float64), -1)


def test_rollout_is_the_sum_over_all_paths():
    A = some_weights(3, 2, 4, 4)
    mixed = (A.mean(1) + torch.eye(4)) / 2
    paths = torch.zeros(4, 4, dtype=torch.float64)
    for end, b, a, start in product(range(4), repeat=4):
        paths[end, start] += mixed[2, end, b] * mixed[1, b, a] * mixed[0, a, start]
    assert_close(attention_rollout(A), paths)
    assert_close(attention_rollout(A).sum(1), torch.ones(4, dtype=torch.float64))


def test_a_query_that_attends_to_nothing_keeps_itself():
    A = some_weights(1, 2, 3, 3)
    A[:, :, 1] = 0
    assert attention_rollout(A)[1].tolist() == [0, 1, 0]


def test_causal_weights_never_let_the_future_in():
    A = some_weights(2, 1, 5, 5).tril()
    assert (attention_rollout(A / A.sum(-1, keepdim=True)).triu(1) == 0).all()


def test_induction_is_the_mean_over_the_later_periods():
    A = some_weights(3, 11, 11)
    for period in (2, 4, 5):
        expected = [sum(A[n, t, t - period + 1] for t in range(period, 11)) / (11 - period) for n in range(3)]
        assert_close(induction_score(A, period), torch.stack(expected))
