"""The eight names: each case that the probes make is called by the name it was made with, and clearly so."""

import pytest
import torch

from autograder.probes.ch15_capstone import LEAKS, _case
from unrolled.which_bug import BUGS, name_the_bug


@pytest.mark.parametrize("bug", BUGS)
@pytest.mark.parametrize(("T", "N", "K", "spread"), [(7, 3, 5, 1.0), (9, 2, 7, 1.0), (11, 2, 7, 0.3), (9, 3, 5, 2.0)])
def test_every_case_gets_its_name(bug, T, N, K, spread):
    for seed in range(40):
        case = _case(torch.Generator().manual_seed(seed), bug, T, N, K, spread, below=seed % 2 == 0)
        assert name_the_bug(case) == bug


@pytest.mark.parametrize("bug", BUGS)
def test_what_a_mistake_changes_it_changes_by_more_than_a_hundredth(bug):
    """The margins that the task promises, so that every sensible tolerance gives the same name."""
    for seed in range(200):
        for T, N, K, spread in ((7, 3, 5, 1.0), (11, 2, 7, 0.3), (9, 3, 5, 2.0)):
            case = _case(torch.Generator().manual_seed(seed), bug, T, N, K, spread)
            rows = (case.weights.sum(dim=1) - 1).abs().max()
            closed = torch.ones(T, T).triu(1).bool()
            right = (case.scores / K**0.5).masked_fill(closed, -torch.inf).softmax(dim=-1)
            margin = {
                "no mask": case.weights.triu(2).max(),
                "mask off by one": case.weights.diagonal(1).max(),
                "mask after softmax": rows,
                "softmax over queries": rows,
                "not scaled": (case.weights - right).abs().max(),
                "heads by view": 1.0 - (case.reach[~closed] != 0).float().mean(),
            }.get(bug, 1.0)
            assert margin > 0.01
            assert (case.losses.min() < case.floor / 2) == (bug == "targets not shifted")
            assert case.reach[~closed].ne(0).all() == (bug != "heads by view")
            assert bug in (*LEAKS, "targets not shifted") or case.losses.min() > case.floor * 1.01
