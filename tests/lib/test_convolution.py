"""Causal convolution against nn.Conv1d, and its reach against the formula."""

import pytest
import torch
from torch import nn

from unrolled.convolution import CausalConv, causal_conv1d, receptive_field

B, T, E, H = 3, 9, 5, 7


@pytest.mark.parametrize("k", [1, 2, 4])
def test_forward_and_gradients_equal_torch(k):
    torch.manual_seed(0)
    module = nn.Conv1d(E, H, k, padding=k - 1).double()
    x = torch.randn(B, T, E, dtype=torch.float64, requires_grad=True)
    target = torch.randn(B, T, H, dtype=torch.float64)
    theirs = module(x.transpose(1, 2))[..., :T].transpose(1, 2)
    ours = causal_conv1d(x, module.weight.permute(2, 1, 0), module.bias)  # (H, E, k) -> (k, E, H)
    torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-9)
    wanted = [x, *module.parameters()]
    for left, right in zip(*(torch.autograd.grad((y * target).sum(), wanted) for y in (ours, theirs)), strict=True):
        torch.testing.assert_close(left, right, rtol=0, atol=1e-9)


def test_gradcheck():
    torch.manual_seed(0)
    inputs = [torch.randn(*shape, dtype=torch.float64, requires_grad=True) for shape in ((2, 4, 3), (2, 3, 5), (5,))]
    assert torch.autograd.gradcheck(causal_conv1d, inputs)


@pytest.mark.parametrize("k, layers", [(2, 1), (3, 1), (3, 4), (5, 3)])
def test_reach_is_the_receptive_field(k, layers):
    torch.manual_seed(0)
    convs = nn.Sequential(*(CausalConv(1, 1, k) for _ in range(layers))).double()
    x = torch.randn(1, 30, 1, dtype=torch.float64, requires_grad=True)
    convs(x)[0, -1, 0].backward()
    assert (x.grad != 0).sum().item() == receptive_field(k, layers)


def test_moves_along_with_its_input():
    torch.manual_seed(0)
    x, W, b = torch.zeros(1, 20, E), torch.randn(3, E, H), torch.randn(H)
    x[:, 5:8] = torch.randn(3, E)
    y, moved = causal_conv1d(x, W, b), causal_conv1d(x.roll(4, dims=1), W, b)
    torch.testing.assert_close(y.roll(4, dims=1)[:, 6:], moved[:, 6:], rtol=0, atol=1e-6)
    torch.testing.assert_close(y.amax(1), moved.amax(1), rtol=0, atol=1e-6)
    assert not torch.allclose(y, moved)
