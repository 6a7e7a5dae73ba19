"""Gated cells against torch's, forward and backward; the conversions; the generated languages."""

import random

import pytest
import torch
from agreement import assert_close
from torch import nn

from unrolled.gated import (
    GRU,
    LSTM,
    Gates,
    GRUParams,
    LSTMParams,
    Peepholes,
    TorchLSTM,
    gru_forward,
    gru_step,
    lstm_forward,
    lstm_step,
    peephole_lstm_step,
)
from unrolled.gates_and_torch import (
    detach_state,
    direct_cell_gradient,
    from_torch_gru,
    from_torch_lstm,
    init_forget_bias,
    to_torch_lstm,
)
from unrolled.measurements import stored
from unrolled.memory_tasks import agreement_sentence, anbn, learn_recall, recall_batch
from unrolled.readers import Reader, recurrent_layer

B, T, E, H = 3, 7, 5, 11

pytestmark = pytest.mark.usefixtures("double")


def lstm_params() -> LSTMParams:
    return LSTMParams(torch.randn(4 * H, E) * 0.4, torch.randn(4 * H, H) * 0.4, torch.randn(4 * H))


def gru_params() -> GRUParams:
    return GRUParams(torch.randn(3 * H, E) * 0.4, torch.randn(3 * H, H) * 0.4, torch.randn(3 * H), torch.zeros(H))


def test_lstm_forward_and_gradients_equal_torch():
    module, x = nn.LSTM(E, H, batch_first=True), torch.randn(B, T, E, requires_grad=True)
    h, c = (torch.randn(B, H, requires_grad=True) for _ in range(2))
    weights = [x, h, c, *module.parameters()]
    theirs, (h_n, c_n) = module(x, (h[None], c[None]))
    ours, cells, _ = lstm_forward(x, h, c, from_torch_lstm(module))
    target = torch.randn(B, T, H)
    assert_close(ours, theirs)
    assert_close(ours[:, -1], h_n[0])
    assert_close(cells[:, -1], c_n[0])
    pairs = zip(
        torch.autograd.grad((ours * target).sum() + cells[:, -1].sum(), weights),
        torch.autograd.grad((theirs * target).sum() + c_n.sum(), weights),
        strict=True,
    )
    for left, right in pairs:
        assert_close(left, right)


def test_lstm_step_equals_lstm_cell():
    cell, x, h, c = nn.LSTMCell(E, H), torch.randn(B, E), torch.randn(B, H), torch.randn(B, H)
    with torch.no_grad():
        params = LSTMParams(
            *(
                torch.cat([f, g, i, o])
                for i, f, g, o in (w.chunk(4) for w in (cell.weight_ih, cell.weight_hh, cell.bias_ih + cell.bias_hh))
            )
        )
    for ours, theirs in zip(lstm_step(x, h, c, params), cell(x, (h, c)), strict=True):
        assert_close(ours, theirs)


def test_gru_forward_and_gradients_equal_torch():
    module, x = nn.GRU(E, H, batch_first=True), torch.randn(B, T, E, requires_grad=True)
    h = torch.randn(B, H, requires_grad=True)
    theirs, _ = module(x, h[None])
    ours = gru_forward(x, h, from_torch_gru(module), reset="after")
    target, weights = torch.randn(B, T, H), [x, h, *module.parameters()]
    assert_close(ours, theirs)
    pairs = zip(
        torch.autograd.grad((ours * target).sum(), weights),
        torch.autograd.grad((theirs * target).sum(), weights),
        strict=True,
    )
    for left, right in pairs:
        assert_close(left, right)


def test_reset_before_is_another_model_than_after():
    params, x, h = gru_params(), torch.randn(B, E), torch.randn(B, H)
    assert (gru_step(x, h, params, "before") - gru_step(x, h, params, "after")).abs().max() > 0.01
    open_gate = params._replace(b=params.b.index_fill(0, torch.arange(H, 2 * H), 800.0))  # r = 1
    assert_close(gru_step(x, h, open_gate, "before"), gru_step(x, h, open_gate, "after"))


def test_gradcheck():
    shapes = (2, 3), (2, 4), (2, 4), (16, 3), (16, 4), (16,), (4,), (4,), (4,)
    inputs = [torch.randn(*shape, requires_grad=True) for shape in shapes]
    peephole = lambda x, h, c, *w: peephole_lstm_step(x, h, c, LSTMParams(*w[:3]), Peepholes(*w[3:]))  # noqa: E731
    assert torch.autograd.gradcheck(peephole, inputs)
    shapes = (2, 3), (2, 4), (12, 3), (12, 4), (12,), (4,)
    inputs = [torch.randn(*shape, requires_grad=True) for shape in shapes]
    for reset in ("before", "after"):
        assert torch.autograd.gradcheck(lambda x, h, *w, r=reset: gru_step(x, h, GRUParams(*w), r), inputs)


def test_peepholes_of_zero_are_the_plain_lstm():
    params, x, h, c = lstm_params(), torch.randn(B, E), torch.randn(B, H), torch.randn(B, H)
    shut = Peepholes(*torch.zeros(3, H))
    for with_holes, plain in zip(peephole_lstm_step(x, h, c, params, shut), lstm_step(x, h, c, params), strict=True):
        assert_close(with_holes, plain)


def test_there_and_back():
    params = lstm_params()
    for before, after in zip(params, from_torch_lstm(to_torch_lstm(params).module()), strict=True):
        assert torch.equal(before, after)


def test_forget_bias_moves_the_gate_and_nothing_else():
    weights = TorchLSTM(*(p.detach() for p in nn.LSTM(E, H).parameters()))
    new = init_forget_bias(weights, 3.0)
    changed = (new.bias_ih + new.bias_hh) != (weights.bias_ih + weights.bias_hh)
    assert changed.nonzero().flatten().tolist() == list(range(H, 2 * H))
    assert torch.equal(new.weight_ih, weights.weight_ih) and torch.equal(new.weight_hh, weights.weight_hh)


def test_direct_gradient_is_autograds_when_the_gates_see_no_state():
    params = lstm_params()._replace(W_h=torch.zeros(4 * H, H))
    x, c0 = torch.randn(B, T, E), torch.randn(B, H, requires_grad=True)
    _, cs, gates = lstm_forward(x, torch.zeros(B, H), c0, params)
    (whole,) = torch.autograd.grad(cs[:, -1].sum(), c0)
    assert_close(direct_cell_gradient(gates)[:, 0] * gates.f[:, 0], whole)
    assert isinstance(gates, Gates) and (direct_cell_gradient(gates)[:, -1] == 1).all()


def test_detached_state_cuts_the_gradient_and_keeps_the_values():
    h = torch.randn(B, H, requires_grad=True) * 2
    cut = detach_state((h, [h, h]))
    assert torch.equal(cut[0], h) and not cut[0].requires_grad and not cut[1][1].requires_grad and h.requires_grad


def test_modules_start_from_zero():
    x, zero, lstm, gru = torch.randn(B, T, E), torch.zeros(B, H), LSTM(E, H, forget_bias=2.0), GRU(E, H)
    assert_close(lstm(x), lstm_forward(x, zero, zero, LSTMParams(lstm.W_x, lstm.W_h, lstm.b))[0])
    assert_close(gru(x), gru_forward(x, zero, GRUParams(gru.W_x, gru.W_h, gru.b, gru.b_h)))
    assert (lstm.b[:H] == 2).all() and (lstm.b[H:] == 0).all()


@pytest.mark.parametrize("kind", ["lstm", "gru"])
def test_keep_bias_keeps(kind):
    """Two first states that differ a little still differ after 50 steps if the bias is large, and hardly if it is 0."""
    apart, x = [], torch.zeros(1, 50, E)
    for keep in (9.0, 0.0):
        layer = recurrent_layer(kind, E, H, keep)
        states = [torch.full((1, 1, H), value) for value in (0.1, 0.2)]
        last = [layer(x, (s, s) if kind == "lstm" else s)[1] for s in states]
        one, other = (state[1] if kind == "lstm" else state for state in last)
        apart.append((one - other).abs().mean())
    assert apart[0] > 0.03 > 100 * apart[1]


def test_identity_layer_starts_as_a_copy():
    assert torch.equal(recurrent_layer("identity", E, H).weight_hh_l0, torch.eye(H))


def test_languages():
    ids, y = recall_batch(5, 9, torch.Generator().manual_seed(0))
    assert ids.shape == (5, 10) and set(y.tolist()) <= {0, 1} and anbn(3) == [0, 1, 1, 1, 2, 2, 2, 3]
    sentence, place, plural = agreement_sentence(2, random.Random(1))
    assert sentence[place] == ("were" if plural else "was") and len(sentence) == place + 2


def test_recall_is_learned_and_the_measurement_repeats():
    torch.set_default_dtype(torch.float32)
    accuracy, taken = learn_recall("lstm", 1.0, 5, seed=0)
    assert accuracy > 0.95 and taken < 600
    again = stored("ch04_horizon")
    place = again["distances"].index(10)
    assert abs(learn_recall("lstm", 1, 10, seed=0)[0] - again["lstm 1"]["0.003"][0]["accuracy"][place]) <= 0.05
    assert Reader("rnn", 4, 3, 5, 2)(torch.zeros(2, 6, dtype=torch.long)).shape == (2, 6, 2)
