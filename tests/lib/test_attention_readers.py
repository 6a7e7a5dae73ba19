"""Attention in the place of a recurrent layer: pads do not matter, order does only with positions."""

import pytest
import torch

from unrolled.attention_readers import AttentionClassifier, AttentionTagger
from unrolled.text import pad_batch


@pytest.mark.parametrize("options", [{}, {"positions": False}, {"think": True}])
@pytest.mark.parametrize("kind", [AttentionTagger, AttentionClassifier])
def test_a_row_is_read_alike_alone_and_beside_a_longer_one(kind, options):
    torch.manual_seed(0)
    model = kind(V=11, T=9, E=5, D=6, n_heads=3, Y=2, **options).double()
    alone, beside = model(*pad_batch([[3, 4, 7]], 0)), model(*pad_batch([[3, 4, 7], [5, 2, 8, 1, 9, 6]], 0))
    shared = beside[:1, :3] if kind is AttentionTagger else beside[:1]
    torch.testing.assert_close(alone, shared, atol=1e-9, rtol=0)


@pytest.mark.parametrize("positions", [True, False])
def test_only_positions_tell_the_order(positions):
    torch.manual_seed(0)
    model = AttentionClassifier(V=11, T=9, E=5, D=6, n_heads=3, Y=2, positions=positions).double()
    one, other = model(*pad_batch([[3, 4, 7]], 0)), model(*pad_batch([[7, 4, 3]], 0))
    assert torch.allclose(one, other, atol=1e-9) is not positions
