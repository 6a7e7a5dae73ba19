"""The recurrence against torch.nn.RNN, forward and backward, and what must hold whatever the weights."""

import pytest
import torch
from torch import nn

from unrolled.recurrent import RNN, RNNParams, from_torch_rnn, leaky_average, rnn_forward, rnn_step

B, T, E, H = 3, 7, 5, 11

pytestmark = pytest.mark.usefixtures("double")


@pytest.mark.parametrize("nonlinearity", ["tanh", "relu"])
def test_forward_and_gradients_equal_torch(nonlinearity):
    module = nn.RNN(E, H, nonlinearity=nonlinearity, batch_first=True)
    x, h0, target = torch.randn(B, T, E), torch.randn(B, H), torch.randn(B, T, H)
    ours_x, ours_h0 = x.clone().requires_grad_(), h0.clone().requires_grad_()
    theirs_x, theirs_h0 = x.clone().requires_grad_(), h0.clone().requires_grad_()
    theirs, _ = module(theirs_x, theirs_h0[None])
    theirs_grads = torch.autograd.grad((theirs * target).sum(), [theirs_x, theirs_h0, *module.parameters()])
    ours = rnn_forward(ours_x, ours_h0, from_torch_rnn(module))
    ours_grads = torch.autograd.grad((ours * target).sum(), [ours_x, ours_h0, *module.parameters()])
    torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-9)
    for left, right in zip(ours_grads, theirs_grads, strict=True):
        torch.testing.assert_close(left, right, rtol=0, atol=1e-9)


def test_step_equals_rnn_cell():
    cell = nn.RNNCell(E, H)
    x, h = torch.randn(B, E), torch.randn(B, H)
    params = RNNParams(cell.weight_ih, cell.weight_hh, cell.bias_ih + cell.bias_hh)
    torch.testing.assert_close(rnn_step(x, h, params), cell(x, h), rtol=0, atol=1e-9)


def test_gradcheck():
    shapes = (2, 3, 2), (2, 4), (4, 2), (4, 4), (4,)
    inputs = [torch.randn(*shape, requires_grad=True) for shape in shapes]
    assert torch.autograd.gradcheck(lambda x, h0, *w: rnn_forward(x, h0, RNNParams(*w)), inputs)


def test_no_state_sees_the_future():
    params = RNNParams(torch.randn(H, E), torch.randn(H, H) / H, torch.randn(H))
    x = torch.randn(B, T, E)
    changed = x.clone()
    changed[:, 4:] = torch.randn(B, T - 4, E)
    before, after = (rnn_forward(sequence, torch.zeros(B, H), params) for sequence in (x, changed))
    assert torch.equal(before[:, :4], after[:, :4])
    assert (before[:, 4:] != after[:, 4:]).any(-1).all()


def test_rows_do_not_mix():
    params = RNNParams(torch.randn(H, E), torch.randn(H, H), torch.randn(H))
    x = torch.randn(B, T, E)
    alone = torch.cat([rnn_forward(row[None], torch.zeros(1, H), params) for row in x])
    torch.testing.assert_close(rnn_forward(x, torch.zeros(B, H), params), alone, rtol=0, atol=1e-9)


def test_module_starts_from_zero_unless_told():
    module, x = RNN(E, H), torch.randn(B, T, E)
    assert torch.equal(module(x), module(x, torch.zeros(B, H)))
    assert not torch.equal(module(x), module(x, torch.ones(B, H)))


def test_leaky_average_of_a_constant_rises_to_it():
    m = leaky_average(torch.ones(50), keep=0.5)
    assert (m[1:] >= m[:-1]).all() and abs(m[-1] - 1) < 1e-9
