"""The hidden Markov model: the forward pass against all paths, and the trained module against the forward pass."""

import itertools

import torch

from unrolled.hmm import HMM, hmm_forward

S, V, T = 3, 5, 6


def test_forward_is_the_sum_over_all_paths():
    g = torch.Generator().manual_seed(0)
    pi, A, B = (torch.randn(*size, generator=g).double().softmax(-1) for size in ((S,), (S, S), (S, V)))
    ids = torch.randint(0, V, (T,), generator=g)
    for length in (1, 2, T):
        total = 0.0
        for path in itertools.product(range(S), repeat=length):
            p = pi[path[0]] * B[path[0], ids[0]]
            for t in range(1, length):
                p = p * A[path[t - 1], path[t]] * B[path[t], ids[t]]
            total += p
        torch.testing.assert_close(hmm_forward(ids, pi, A, B)[length - 1].sum(), total, rtol=1e-12, atol=0)


def test_module_predicts_what_the_forward_pass_says():
    torch.manual_seed(0)
    model, ids = HMM(V, S).double(), torch.randint(0, V, (T,))
    log_p, _ = model(torch.cat([torch.zeros(1, dtype=torch.int64), ids])[None])
    assert log_p.shape == (1, T + 1, V)
    torch.testing.assert_close(log_p.exp().sum(-1), torch.ones(1, T + 1).double(), rtol=0, atol=1e-12)
    total = log_p[0, :-1].gather(1, ids[:, None]).sum()
    p = hmm_forward(ids, model.start.softmax(-1), model.move.softmax(-1), model.emit.softmax(-1))[-1].sum()
    torch.testing.assert_close(total, p.log(), rtol=1e-10, atol=0)
