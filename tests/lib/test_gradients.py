"""Gradients by hand against autograd, finite differences and torch's own functions, and what must always hold."""

import sys

import numpy as np
import pytest
import torch
from agreement import assert_close
from torch import nn

from unrolled.gradients import (
    bptt,
    clip_global_norm,
    gradient_map,
    jacobian_product,
    numerical_grad,
    rnn_step_backward,
    spectral_radius,
    truncated_bptt,
)
from unrolled.losses import cross_entropy
from unrolled.measurements import FOLDER, stored
from unrolled.recurrent import RNNParams, rnn_forward, rnn_step

B, T, E, H, V = 3, 9, 5, 11, 7

pytestmark = pytest.mark.usefixtures("double")


def weights(requires_grad: bool = False) -> list[torch.Tensor]:
    """W_xh, W_hh, b, W_hy, c."""
    shapes = (H, E), (H, H), (H,), (V, H), (V,)
    return [(torch.randn(*shape) * 0.4).requires_grad_(requires_grad) for shape in shapes]


def test_numerical_grad_of_a_quadratic_is_exact_and_leaves_x_alone():
    A, x = torch.randn(E, E), torch.randn(E)
    before = x.clone()
    assert_close(numerical_grad(lambda x: x @ A @ x, x, eps=0.5), (A + A.T) @ x)
    assert torch.equal(x, before)


def test_numerical_grad_error_falls_with_the_square_of_eps():
    x = torch.randn(E)
    errors = [(numerical_grad(lambda x: torch.exp(x).sum(), x, eps) - torch.exp(x)).abs().max() for eps in (0.1, 0.01)]
    assert 90 < errors[0] / errors[1] < 110


def test_step_backward_equals_autograd():
    x, h_prev, dh = torch.randn(B, E), torch.randn(B, H), torch.randn(B, H)
    leaves = [t.clone().requires_grad_() for t in (x, h_prev, *weights()[:3])]
    params = RNNParams(*leaves[2:])
    h = rnn_step(leaves[0], leaves[1], params)
    theirs = torch.autograd.grad((dh * h).sum(), leaves)
    ours = rnn_step_backward(dh, h.detach(), h_prev, x, RNNParams(*(w.detach() for w in leaves[2:])))
    for left, right in zip(ours, theirs, strict=True):
        assert_close(left, right)


def test_bptt_equals_autograd_and_torch():
    leaves = weights(requires_grad=True)
    x, y = torch.randn(B, T, E), torch.randint(V, (B, T))
    logits = leaves[4] + rnn_forward(x, torch.zeros(B, H), RNNParams(*leaves[:3])) @ leaves[3].T
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), y.flatten())
    theirs = torch.autograd.grad(loss, leaves)
    with torch.no_grad():
        ours_loss, ours = bptt(x, y, RNNParams(*leaves[:3]), *leaves[3:])
    assert_close(ours_loss, loss.detach())
    for left, right in zip(ours, theirs, strict=True):
        assert_close(left, right)


@pytest.mark.parametrize("place", range(5))
def test_bptt_equals_finite_differences(place):
    all_weights = weights()
    x, y = torch.randn(2, 4, E), torch.randint(V, (2, 4))

    def loss(w):
        changed = [*all_weights[:place], w, *all_weights[place + 1 :]]
        return bptt(x, y, RNNParams(*changed[:3]), *changed[3:])[0]

    found = bptt(x, y, RNNParams(*all_weights[:3]), *all_weights[3:])[1][place]
    assert_close(found, numerical_grad(loss, all_weights[place], 1e-5), atol=1e-9)


def test_jacobian_product_equals_autograd():
    W_xh, W_hh, b, _, _ = weights()
    x, h1 = torch.randn(1, T, E), torch.randn(H)
    hs = rnn_forward(x, h1[None], RNNParams(W_xh, W_hh, b))[0]
    theirs = torch.autograd.functional.jacobian(lambda h: rnn_forward(x, h[None], RNNParams(W_xh, W_hh, b))[0, -1], h1)
    assert_close(jacobian_product(W_hh, torch.cat([h1[None], hs])), theirs)


def test_jacobian_product_of_a_linear_network_is_a_power():
    W = torch.randn(H, H)
    assert_close(jacobian_product(W, torch.zeros(T, H)), torch.linalg.matrix_power(W, T - 1), atol=1e-6)
    assert torch.equal(jacobian_product(W, torch.zeros(1, H)), torch.eye(H))


@pytest.mark.parametrize("c", [0.5, 1000.0])
def test_clipping_equals_torch(c):
    parameters = [nn.Parameter(torch.zeros(shape)) for shape in ((H, E), (V,), (2, 3))]
    for p in parameters[:2]:
        p.grad = torch.randn_like(p)
    clipped, norm = clip_global_norm([p.grad for p in parameters], c)
    theirs = nn.utils.clip_grad_norm_(parameters, c)
    assert_close(norm, theirs)
    assert clipped[2] is None
    for left, p in zip(clipped[:2], parameters, strict=False):
        assert_close(left, p.grad, atol=1e-6)  # torch adds 1e-6 to the norm


def test_clipping_keeps_zero_and_never_lengthens():
    (zero,), norm = clip_global_norm([torch.zeros(3)], 1.0)
    assert norm == 0 and torch.equal(zero, torch.zeros(3))
    g = torch.randn(H)
    (same,), _ = clip_global_norm([g], 1000.0)
    assert torch.equal(same, g)


def _split(x, y, n):
    return list(zip(x.split(n, dim=1), y.split(n, dim=1), strict=True))


def test_truncated_bptt_with_one_chunk_is_bptt():
    leaves = weights(requires_grad=True)
    x, y = torch.randn(B, T, E), torch.randint(V, (B, T))
    chunk_loss = lambda hs, y: cross_entropy(leaves[4] + hs @ leaves[3].T, y, pad=-1)  # noqa: E731
    losses, grads, h = truncated_bptt(_split(x, y, T), torch.zeros(B, H), RNNParams(*leaves[:3]), chunk_loss)
    with torch.no_grad():
        loss, full = bptt(x, y, RNNParams(*leaves[:3]), *leaves[3:])
    assert_close(losses[0], loss)
    for left, right in zip(grads, full[:3], strict=True):
        assert_close(left, right)
    assert not h.requires_grad


def test_truncated_bptt_stops_at_the_boundary():
    """Only the second chunk has a loss: the gradient is that of the second chunk alone, from a given state."""
    leaves = weights(requires_grad=True)[:3]
    params, x, h0 = RNNParams(*leaves), torch.randn(B, 6, E), torch.randn(B, H)
    weigh = torch.randn(B, 3, H)
    chunks = [(x[:, :3], torch.zeros_like(weigh)), (x[:, 3:], weigh)]
    losses, grads, h = truncated_bptt(chunks, h0, params, lambda hs, y: (hs * y).sum())
    hs = rnn_forward(x, h0, params)
    assert_close(h, hs[:, -1].detach())
    assert_close(losses[1], (hs[:, 3:] * weigh).sum().detach())
    alone = rnn_forward(x[:, 3:], hs[:, 2].detach(), params)
    for left, right in zip(grads, torch.autograd.grad((alone * weigh).sum(), leaves), strict=True):
        assert_close(left, right)


def test_spectral_radius_of_known_matrices():
    angle = torch.tensor(0.7)
    turn = 3 * torch.stack([torch.stack([angle.cos(), -angle.sin()]), torch.stack([angle.sin(), angle.cos()])])
    assert_close(spectral_radius(turn), torch.tensor(3.0))
    assert_close(spectral_radius(torch.diag(torch.tensor([0.5, -2.0, 1.0]))), torch.tensor(2.0))
    W = torch.randn(H, H)
    assert spectral_radius(W) <= torch.linalg.matrix_norm(W, ord=2)


def test_powers_grow_by_the_spectral_radius_in_the_long_run():
    W = torch.randn(H, H)
    W = 1.1 * W / spectral_radius(W)
    norms = [torch.linalg.matrix_norm(torch.linalg.matrix_power(W, n), ord=2) for n in (400, 600)]
    assert abs((norms[1] / norms[0]) ** (1 / 200) - 1.1) < 0.005


def test_gradient_map_equals_the_jacobian_and_has_no_future():
    W_xh, W_hh, b, _, _ = weights()
    params, h, states = RNNParams(W_xh, W_hh.requires_grad_(), b), torch.zeros(1, H), []
    for _ in range(4):
        h = rnn_step(torch.randn(1, E), h, params)
        states.append(h)
    v = torch.randn(H)
    found = gradient_map([(s * v).sum() for s in states], states)
    assert torch.equal(found.triu(diagonal=1), torch.zeros(4, 4))
    J = jacobian_product(W_hh.detach(), torch.cat(states).detach())
    assert_close(found[3, 0], (v @ J).norm())


def test_letter_experiment_repeats(monkeypatch):
    """One network of the shortest experiment; another machine may round otherwise, hence the tolerance."""
    monkeypatch.setattr(sys, "path", [str(FOLDER), *sys.path])
    torch.set_default_dtype(torch.float32)
    import ch02_letter

    again = np.array(ch02_letter.measure(0.9, seed=0))
    np.testing.assert_allclose(again[:26], stored("ch02_letter")["0.9"][0][:26], rtol=0.05)
