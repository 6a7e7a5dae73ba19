"""Layer normalisation against torch's, forward and backward; what it is blind to."""

import pytest
import torch
import torch.nn.functional as F
from agreement import assert_close, assert_same_gradients
from torch import nn

from unrolled.normalisation import layer_norm

B, T, D = 3, 7, 5

pytestmark = pytest.mark.usefixtures("double")


@pytest.mark.parametrize("leading", [(), (B,), (B, T)])
@pytest.mark.parametrize("eps", [1e-5, 0.1])
def test_it_equals_torch(leading, eps):
    x, g, b = (torch.randn(*shape, requires_grad=True) for shape in ((*leading, D), (D,), (D,)))
    ours, theirs = layer_norm(x, g, b, eps), F.layer_norm(x, (D,), g, b, eps)
    assert_close(ours, theirs)
    assert_same_gradients(ours, theirs, [x, g, b])


def test_the_usual_eps_is_that_of_torchs_module():
    x, module = 1e-3 * torch.randn(B, T, D), nn.LayerNorm(D)
    assert_close(layer_norm(x, module.weight, module.bias), module(x))


def test_it_does_not_see_a_shift_nor_a_scale_of_the_whole_vector():
    x, g, b = torch.randn(B, T, D), torch.randn(D), torch.randn(D)
    assert_close(layer_norm(5 * x + 3, g, b, eps=0), layer_norm(x, g, b, eps=0))


def test_each_vector_is_normalised_by_itself():
    x, g, b = torch.randn(B, T, D), torch.randn(D), torch.randn(D)
    assert_close(layer_norm(x, g, b)[1, 2], layer_norm(x[1, 2], g, b))


def test_equal_features_give_the_shift_and_finite_gradients():
    x, g, b = torch.full((B, D), 7.0, requires_grad=True), torch.randn(D), torch.randn(D)
    y = layer_norm(x, g, b)
    assert_close(y, b.expand(B, D))
    assert torch.autograd.grad(y.square().sum(), x)[0].isfinite().all()


def test_gradcheck():
    inputs = tuple(torch.randn(*shape, requires_grad=True) for shape in ((2, D), (D,), (D,)))
    assert torch.autograd.gradcheck(layer_norm, inputs)
