"""The masks: what they let through, and what a model under them can see."""

import pytest
import torch
from agreement import assert_close
from torch import nn

from unrolled.masks import causal_mask, make_masks
from unrolled.self_attention import scaled_dot_product_attention

pytestmark = pytest.mark.usefixtures("double")


@pytest.mark.parametrize("T", [1, 2, 7])
def test_every_step_sees_itself_and_all_before(T):
    mask = causal_mask(T)
    assert mask.dtype == torch.bool and mask.shape == (T, T)
    assert mask.tolist() == [[j <= t for j in range(T)] for t in range(T)]


def test_it_is_the_opposite_of_torchs_additive_mask():
    additive = nn.Transformer.generate_square_subsequent_mask(9)
    assert torch.equal(causal_mask(9), additive == 0)


def test_attention_under_it_equals_torchs_causal_attention():
    q, k, v = torch.randn(3, 5, 7, 4), torch.randn(3, 5, 7, 4), torch.randn(3, 5, 7, 2)
    theirs = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    assert_close(scaled_dot_product_attention(q, k, v, causal_mask(7))[0], theirs)


def test_make_masks_says_yes_where_both_conditions_hold():
    src, tgt = torch.tensor([[7, 5, 9, 9], [6, 9, 9, 9]]), torch.tensor([[2, 8, 9], [2, 0, 4]])
    src_mask, tgt_mask = make_masks(src, tgt, pad=9)
    assert src_mask.shape == (2, 1, 1, 4) and tgt_mask.shape == (2, 1, 3, 3)
    assert src_mask.dtype == tgt_mask.dtype == torch.bool
    for b in range(2):
        assert src_mask[b, 0, 0].tolist() == [x != 9 for x in src[b].tolist()]
        assert tgt_mask[b, 0].tolist() == [[j <= t and tgt[b, j].item() != 9 for j in range(3)] for t in range(3)]


def test_make_masks_leaves_every_query_something_unless_the_row_is_empty():
    tgt = torch.tensor([[2, 0, 0], [0, 0, 0]])
    src_mask, tgt_mask = make_masks(tgt, tgt, pad=0)
    assert tgt_mask[0].any(dim=-1).all() and not tgt_mask[1].any() and not src_mask[1].any()


def test_make_masks_says_what_torchs_three_masks_say():
    src, tgt = torch.randint(4, (3, 7)), torch.randint(4, (3, 5))
    tgt[:, 0] = 1
    src[:, 0] = 1
    src_mask, tgt_mask = make_masks(src, tgt, pad=0)
    torch.manual_seed(0)
    layer = nn.TransformerDecoderLayer(6, 2, 8, dropout=0.0, batch_first=True)
    y, memory = torch.randn(3, 5, 6), torch.randn(3, 7, 6)
    one = layer(
        y,
        memory,
        tgt_mask=~causal_mask(5),
        tgt_key_padding_mask=tgt == 0,
        memory_key_padding_mask=src == 0,
    )
    joined = (~tgt_mask).expand(3, 2, 5, 5).flatten(0, 1), (~src_mask).expand(3, 2, 5, 7).flatten(0, 1)
    assert_close(one, layer(y, memory, tgt_mask=joined[0], memory_mask=joined[1]))
