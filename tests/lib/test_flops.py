"""Operations by formula against those that torch counts in its own layers, and against the numbers of the slides."""

import pytest
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from unrolled.flops import flops
from unrolled.gated import GRUParams, LSTMParams, gru_step, lstm_step
from unrolled.recurrent import RNNParams, rnn_forward
from unrolled.self_attention import MultiHeadAttention, scaled_dot_product_attention

L, d, k = 7, 12, 3

KINDS = "attention", "attention+projections", "convolution", "rnn", "gru", "lstm"


def counted(run) -> int:
    """The operations of all matrix products in a call, as torch counts them: two per multiply-add."""
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        run()
    return counter.get_total_flops()


def steps(step, *states) -> None:
    for x in torch.randn(L, 1, d):
        states = step(x, *states)
        states = states if isinstance(states, tuple) else (states,)


def lstm():
    params = LSTMParams(torch.randn(4 * d, d), torch.randn(4 * d, d), torch.randn(4 * d))
    steps(lambda x, h, c: lstm_step(x, h, c, params), torch.zeros(1, d), torch.zeros(1, d))


def gru():
    params = GRUParams(torch.randn(3 * d, d), torch.randn(3 * d, d), torch.randn(3 * d), torch.randn(d))
    steps(lambda x, h: gru_step(x, h, params), torch.zeros(1, d))


def rnn():
    params = RNNParams(torch.randn(d, d), torch.randn(d, d), torch.randn(d))
    rnn_forward(torch.randn(1, L, d), torch.zeros(1, d), params)


def attention():
    scaled_dot_product_attention(*torch.randn(3, L, d))


def projected():
    x = torch.randn(1, L, d)
    MultiHeadAttention(d, n_heads=4)(x, x)


def convolution():
    nn.Conv1d(d, d, k, bias=False)(torch.randn(1, d, L + k - 1))


RUNS = dict(zip(KINDS, (attention, projected, convolution, rnn, gru, lstm), strict=True))


@pytest.mark.parametrize("kind", KINDS)
def test_formula_equals_what_is_counted_in_our_own_layers(kind):
    assert flops(kind, L, d, k) == counted(RUNS[kind])


def test_the_slide_at_length_and_width_1000():
    found = [flops(kind, 1000, 1000, 3) for kind in KINDS]
    assert found == [4 * 10**9, 12 * 10**9, 6 * 10**9, 4 * 10**9, 12 * 10**9, 16 * 10**9]


@pytest.mark.parametrize(("kind", "ratio"), [("attention", 4), ("attention+projections", 2)])
def test_where_attention_costs_as_much_as_an_lstm(kind, ratio):
    assert flops(kind, ratio * d, d, k) == flops("lstm", ratio * d, d, k)
    assert flops(kind, ratio * d - 1, d, k) < flops("lstm", ratio * d - 1, d, k)
    assert flops(kind, ratio * d + 1, d, k) > flops("lstm", ratio * d + 1, d, k)
