"""Sinusoidal positions: what they promise; and the vectors that the first layer reads."""

import math

import pytest
import torch
import torch.nn.functional as F
from agreement import assert_close, assert_same_gradients

from unrolled.positions import embed, sinusoidal_positions

pytestmark = pytest.mark.usefixtures("double")


@pytest.mark.parametrize(("T", "D"), [(1, 2), (7, 6), (40, 16)])
def test_each_entry_is_that_of_the_equation(T, D):
    P = sinusoidal_positions(T, D)
    assert P.shape == (T, D) and P.dtype == torch.float64
    for t in range(T):
        for i in range(D // 2):
            angle = t / 10000 ** (2 * i / D)
            assert P[t, 2 * i].item() == pytest.approx(math.sin(angle), abs=1e-9)
            assert P[t, 2 * i + 1].item() == pytest.approx(math.cos(angle), abs=1e-9)


def test_a_shift_is_a_rotation_of_each_pair_whatever_the_place():
    T, D, shift = 30, 8, 5
    P = sinusoidal_positions(T, D)
    R = torch.zeros(D, D)
    for i in range(D // 2):
        a = shift / 10000 ** (2 * i / D)
        R[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = torch.tensor(
            [[math.cos(a), math.sin(a)], [-math.sin(a), math.cos(a)]]
        )
    assert_close(P[:-shift] @ R.T, P[shift:])


def test_products_depend_on_the_distance_only_and_all_vectors_are_equally_long():
    T, D = 50, 12
    P = sinusoidal_positions(T, D)
    products = P @ P.T
    for distance in range(T):
        diagonal = products.diagonal(distance)
        assert_close(diagonal, diagonal[:1].expand_as(diagonal))
    assert_close(products.diagonal(), torch.full((T,), D / 2))


def test_no_two_places_look_alike():
    P = sinusoidal_positions(2000, 16)
    assert torch.pdist(P).min() > 0.1


def test_single_precision_where_that_is_the_default():
    torch.set_default_dtype(torch.float32)
    assert sinusoidal_positions(5, 4).dtype == torch.float32


def test_embed_is_torchs_embedding_times_the_root_plus_positions():
    E, P = torch.randn(13, 6, requires_grad=True), torch.randn(11, 6, requires_grad=True)
    ids = torch.randint(13, (3, 7))
    ours, theirs = embed(ids, E, P), F.embedding(ids, E) * math.sqrt(6) + P[:7]
    assert_close(ours, theirs)
    assert_same_gradients(ours, theirs, [E, P])


def test_without_positions_two_orders_have_the_same_sum():
    E, ids = torch.randn(5, 6), torch.tensor([[1, 2, 3], [3, 2, 1]])  # dog bites man, man bites dog
    one, other = embed(ids, E, torch.zeros(3, 6)).mean(dim=1)
    assert_close(one, other)
    x = embed(ids, E, sinusoidal_positions(3, 6))
    assert_close(x.mean(dim=1)[0], x.mean(dim=1)[1])  # still: a plain mean of sums forgets who stood where
    one, other = x.tanh().mean(dim=1)
    assert (one - other).abs().max() > 1e-3
