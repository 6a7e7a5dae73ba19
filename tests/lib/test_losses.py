"""Softmax and cross-entropy against torch.nn.functional."""

import pytest
import torch
import torch.nn.functional as F
from agreement import assert_close, assert_same_gradients

from unrolled.losses import cross_entropy, smoothed_cross_entropy, softmax

B, T, V = 3, 5, 7


def test_softmax_equals_torch_and_survives_large_scores():
    torch.manual_seed(0)
    o = torch.randn(B, T, V, dtype=torch.float64)
    torch.testing.assert_close(softmax(o), F.softmax(o, dim=-1), rtol=0, atol=1e-9)
    torch.testing.assert_close(softmax(o * 1000), F.softmax(o * 1000, dim=-1), rtol=0, atol=1e-9)
    torch.testing.assert_close(softmax(o).sum(-1), torch.ones(B, T, dtype=torch.float64), rtol=0, atol=1e-9)


def test_cross_entropy_equals_torch_with_its_gradient():
    torch.manual_seed(0)
    logits = (torch.randn(B, T, V, dtype=torch.float64) * 900).requires_grad_()
    y = torch.randint(1, V, (B, T))
    y[0, 2:] = y[2, 4:] = 0
    ours, theirs = cross_entropy(logits, y, pad=0), F.cross_entropy(logits.flatten(0, 1), y.flatten(), ignore_index=0)
    torch.testing.assert_close(ours, theirs, rtol=1e-12, atol=1e-9)
    (left,), (right,) = (torch.autograd.grad(loss, logits, retain_graph=True) for loss in (ours, theirs))
    torch.testing.assert_close(left, right, rtol=0, atol=1e-9)


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.7, 1.0])
def test_smoothed_cross_entropy_equals_torch_with_its_gradient(double, smoothing):
    logits, y = (10 * torch.randn(B, T, V)).requires_grad_(), torch.randint(1, V, (B, T))
    y[0, 2:] = y[2, 4:] = 0
    ours = smoothed_cross_entropy(logits, y, 0, smoothing)
    theirs = F.cross_entropy(logits.flatten(0, 1), y.flatten(), ignore_index=0, label_smoothing=smoothing)
    assert_close(ours, theirs)
    assert_same_gradients(ours, theirs, [logits])


def test_gradcheck():
    torch.manual_seed(0)
    o = torch.randn(2, 3, 4, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(softmax, [o])
    assert torch.autograd.gradcheck(lambda o: cross_entropy(o, torch.tensor([[1, 2, 0], [3, 0, 0]]), pad=0), [o])
