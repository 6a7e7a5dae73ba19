"""Dropout: exact where the random numbers are given, and like torch's where they are not."""

import pytest
import torch
import torch.nn.functional as F
from agreement import assert_close
from torch import nn

from unrolled.dropout import Dropout, dropout

pytestmark = pytest.mark.usefixtures("double")


@pytest.mark.parametrize("p", [0.0, 0.2, 0.5, 0.9])
def test_what_is_kept_is_what_torch_makes_of_it(p):
    """torch draws its own numbers: read off its mask, and give u that drop the same entries."""
    x = torch.randn(40, 50)
    theirs = F.dropout(x, p, training=True)
    u = torch.where(theirs == 0, p * torch.rand(x.shape), p + (1 - p) * torch.rand(x.shape))
    assert_close(dropout(x, p, True, u), theirs)


def test_afterwards_nothing_happens_as_in_torch():
    x, u = torch.randn(7, 5), torch.rand(7, 5)
    assert torch.equal(dropout(x, 0.6, False, u), F.dropout(x, 0.6, training=False))


def test_rates_and_means():
    x, p = torch.ones(200_000), 0.3
    y = dropout(x, p, True, torch.rand(x.shape))
    assert (y == 0).double().mean().item() == pytest.approx(p, abs=0.01)
    assert y.mean().item() == pytest.approx(1, abs=0.01)


def test_the_gradient_goes_where_the_value_went():
    x, u = torch.randn(7, 5, requires_grad=True), torch.rand(7, 5)
    (grad,) = torch.autograd.grad(dropout(x, 0.4, True, u).sum(), x)
    assert_close(grad, (u >= 0.4) / 0.6)


def test_zero_is_not_below_zero():
    assert_close(dropout(torch.ones(3), 0.0, True, torch.zeros(3)), torch.ones(3))


def test_the_layer_draws_anew_each_time_and_stops_in_eval():
    layer, x = Dropout(0.5), torch.ones(1000)
    one, other = layer(x), layer(x)
    assert not torch.equal(one, other) and set(one.tolist()) == {0.0, 2.0}
    layer.eval()
    assert torch.equal(layer(x), nn.Dropout(0.5).eval()(x))


@pytest.mark.parametrize("p", [-0.1, 1.0, 1.5])
def test_impossible_probabilities_are_named(p):
    with pytest.raises(ValueError, match="at least 0 and below 1"):
        Dropout(p)
