"""The causal mask: what it lets through, and what a model under it can see."""

import pytest
import torch
from agreement import assert_close
from torch import nn

from unrolled.masks import causal_mask
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
