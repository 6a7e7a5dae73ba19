"""Training on windows and the surprise of a text: each token counted once, with the context that is due to it."""

import math

import torch
import torch.nn.functional as F

from unrolled.gpt import GPTConfig, windows
from unrolled.gpt_model import GPT
from unrolled.gpt_training import learn_windows, one_text, rows_for_ever, text_surprise


def telling(ids: torch.Tensor) -> torch.Tensor:
    """Not a model: its score of token 0 is the number of tokens that stand before it in the window."""
    scores = torch.zeros(*ids.shape, 5)
    scores[..., 0] = torch.arange(ids.shape[1]) + 1.0
    return scores


def context_of(nats: torch.Tensor) -> list[int]:
    """The numbers of tokens before each, read from the surprise at a text of zeros."""
    p = torch.exp(-nats.double())
    return torch.log(4 * p / (1 - p)).round().int().tolist()


def test_every_token_counts_once_with_context_enough():
    for N, context, stride in ((30, 8, 4), (30, 8, 8), (31, 8, 3), (9, 8, 5), (5, 8, 4)):
        found = context_of(text_surprise(telling, torch.zeros(N, dtype=torch.long), context, stride))
        T = min(context, N - 1)
        assert len(found) == N - 1
        assert found[:T] == list(range(1, T + 1))
        assert all(length > context - stride for length in found[T:])


def test_surprise_does_not_depend_on_the_batches():
    torch.manual_seed(0)
    model = GPT(GPTConfig(V=7, context=6, D=8, n_heads=2, layers=1, d_ff=8))
    ids = torch.randint(7, (500,))
    found = text_surprise(model, ids, 6, 6)
    log_p = model(ids[60:66][None]).log_softmax(-1)[0]
    torch.testing.assert_close(found[60:66], F.nll_loss(log_p, ids[61:67], reduction="none"))


def test_rows_come_once_in_each_pass():
    rows = rows_for_ever(10, 5, seed=3)
    first, second = (torch.cat([next(rows), next(rows)]) for _ in range(2))
    assert sorted(first.tolist()) == sorted(second.tolist()) == list(range(10)) and first.tolist() != second.tolist()
    assert len(next(rows_for_ever(3, 8, seed=0))) == 3


def test_a_small_text_is_learned():
    torch.manual_seed(0)
    text = one_text([[1, 2, 3, 4, 0]] * 30)
    train, _ = windows(torch.cat([text, text[:6]]), T=5, stride=1, split=len(text))
    model, seen = GPT(GPTConfig(V=5, context=5, D=16, n_heads=2, layers=1, d_ff=32)), []
    losses = learn_windows(model, train, 100, seed=0, size=16, warmup=10, look=lambda *told: seen.append(told))
    assert losses[0] > math.log(5) / 2 and losses[-1] < 0.1
    assert [done for done, _ in seen] == [3, 6, 12, 25, 50, 100] and not model.training
    assert text_surprise(model, text, 5, 1).mean() < 0.1
