"""The soft window against a loop over its equations, forward and backward; how it moves; going on from a place."""

import math

import pytest
import torch
from agreement import assert_close

from unrolled.attention import context
from unrolled.soft_window import soft_window

B, T, M, S = 3, 5, 2, 7

pytestmark = pytest.mark.usefixtures("double")


def said(*shape: int) -> tuple[torch.Tensor, ...]:
    """What a network might say: steps of about half a letter, bumps of about one."""
    kappa, beta, alpha = (0.5 * torch.randn(shape) for _ in range(3))
    return tuple(tensor.requires_grad_() for tensor in (kappa - 0.7, beta, alpha))


def test_window_equals_a_loop():
    kappa_hat, beta_hat, alpha_hat = said(B, T, M)
    kappa0 = torch.rand(B, M).requires_grad_()
    phi, kappa = soft_window(kappa_hat, beta_hat, alpha_hat, kappa0, S)
    assert phi.shape == (B, T, S) and kappa.shape == (B, T, M)
    rows = []
    for b in range(B):
        place = kappa0[b]
        for t in range(T):
            place = place + kappa_hat[b, t].exp()
            assert_close(kappa[b, t], place)
            for u in range(1, S + 1):
                bump = torch.exp(-beta_hat[b, t].exp() * (place - u) ** 2)
                rows.append((alpha_hat[b, t].exp() * bump).sum())
    loop = torch.stack(rows).view(B, T, S)
    assert_close(phi, loop)
    weights, inputs = torch.randn_like(phi), (kappa_hat, beta_hat, alpha_hat, kappa0)
    left, right = (torch.autograd.grad((tensor * weights).sum(), inputs) for tensor in (phi, loop))
    for one, other in zip(left, right, strict=True):
        assert_close(one, other)


def test_one_call_for_all_steps_is_one_call_for_each():
    numbers, place = said(B, T, M), torch.zeros(B, M)
    phi, kappa = soft_window(*numbers, place, S)
    for t in range(T):
        now, places = soft_window(*(tensor[:, t : t + 1] for tensor in numbers), place, S)
        place = places[:, -1]
        assert_close(now[:, 0], phi[:, t])
        assert_close(place, kappa[:, t])


def test_the_window_only_moves_on():
    numbers = tuple(20 * tensor.detach() for tensor in said(B, T, M))
    phi, kappa = soft_window(*numbers, torch.zeros(B, M), S)
    assert (kappa.diff(dim=1) >= 0).all() and (kappa[:, 0] >= 0).all()
    assert (phi >= 0).all() and phi.isfinite().all()


def test_the_first_letter_is_number_one_and_nothing_is_normalised():
    zero = torch.zeros(1, 1, 1)
    phi, _ = soft_window(zero, zero, zero + math.log(3), torch.zeros(1, 1), S)  # at letter 1, three high
    assert_close(phi[0, 0], 3 * torch.exp(-(torch.arange(S).double() ** 2)))
    doubled, _ = soft_window(zero, zero, zero + math.log(6), torch.zeros(1, 1), S)
    assert_close(doubled, 2 * phi)
    gone, _ = soft_window(zero, zero, zero, torch.full((1, 1), 99.0), S)
    assert gone.sum() < 1e-12


def test_longer_texts_have_the_same_weights_in_front():
    numbers, kappa0 = said(B, T, M), torch.zeros(B, M)
    assert_close(soft_window(*numbers, kappa0, S + 4)[0][..., :S], soft_window(*numbers, kappa0, S)[0])


def test_rows_and_the_order_of_the_bumps_do_not_matter_to_each_other():
    numbers, kappa0 = said(B, T, M), torch.rand(B, M)
    phi, kappa = soft_window(*numbers, kappa0, S)
    flipped, places = soft_window(*(tensor.flip(2) for tensor in numbers), kappa0.flip(1), S)
    assert_close(flipped, phi)
    assert_close(places, kappa.flip(2))
    alone, _ = soft_window(*(tensor[1:2] for tensor in numbers), kappa0[1:2], S)
    assert_close(alone, phi[1:2])


def test_a_narrow_window_reads_letter_after_letter():
    zero = torch.zeros(1, S, 1)
    phi, _ = soft_window(zero, zero + 4, zero, torch.zeros(1, 1), S)
    letters = torch.eye(S)[None]
    assert_close(context(phi, letters)[0], torch.eye(S), atol=1e-6)


def test_gradcheck():
    kappa0 = torch.rand(2, M).requires_grad_()
    assert torch.autograd.gradcheck(lambda *numbers: soft_window(*numbers, 3), (*said(2, 3, M), kappa0))
