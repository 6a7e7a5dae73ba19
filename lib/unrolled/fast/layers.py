"""The fast path of attention and of the layers around it (chapters 7, 8, 9, 11 and 12).

The same parameters and the same numbers, with one matrix product for queries, keys and values, the bias inside the
product, torch's kernels for attention and layer normalisation, and no attention weights kept: they are None.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from unrolled.self_attention import AttentionParams, split_heads
from unrolled.transformer import DecoderLayerParams, EncoderLayerParams, FeedForwardParams, NormParams


def multi_head_attention(
    x: Tensor,
    memory: Tensor,
    params: AttentionParams,
    n_heads: int,
    mask: Tensor | None = None,
    *,
    causal: bool = False,
    dropout: float = 0.0,
) -> Tensor:
    """The output (B, T, D) of ``unrolled.self_attention.multi_head_attention``, without the weights.

    Args:
        x, memory, params, n_heads, mask: as there.
        causal: step t may attend to the steps up to t; then there is no mask.
        dropout: the share of weights that is dropped.

    >>> from unrolled.masks import causal_mask
    >>> from unrolled.self_attention import MultiHeadAttention
    >>> x, layer = torch.randn(2, 5, 6), MultiHeadAttention(6, 3)
    >>> fast = multi_head_attention(x, x, layer.params, 3, causal=True)
    >>> torch.allclose(fast, layer(x, x, causal_mask(5))[0], atol=1e-6)
    True
    """
    W, b = params[:3], params[4:7]
    if memory is x:
        q, k, v = F.linear(x, torch.cat(W), torch.cat(b)).chunk(3, dim=-1)
    else:
        q = F.linear(x, W[0], b[0])
        k, v = F.linear(memory, torch.cat(W[1:]), torch.cat(b[1:])).chunk(2, dim=-1)
    q, k, v = (split_heads(part, n_heads) for part in (q, k, v))  # (B, N, T, K), (B, N, S, K)
    heads = F.scaled_dot_product_attention(q, k, v, mask, dropout_p=dropout, is_causal=causal)
    return F.linear(heads.transpose(1, 2).flatten(2), params.W_o, params.b_o)


def layer_norm(x: Tensor, g: Tensor, b: Tensor, eps: float = 1e-5) -> Tensor:
    """What ``unrolled.normalisation.layer_norm`` gives, in one pass."""
    return F.layer_norm(x, g.shape, g, b, eps)


def feed_forward(x: Tensor, params: FeedForwardParams, nonlinearity=F.relu) -> Tensor:
    """What ``unrolled.transformer.feed_forward`` gives, with the biases inside the products."""
    return F.linear(nonlinearity(F.linear(x, params.W_1, params.b_1)), params.W_2, params.b_2)


def _add(x: Tensor, f, norm: NormParams, side: str, drop) -> Tensor:
    """R(x, f) of chapter 9, with the norm before f or after the sum."""
    if side == "pre":
        return x + drop(f(layer_norm(x, *norm)))
    return layer_norm(x + drop(f(x)), *norm)


def encoder_layer(
    x: Tensor, params: EncoderLayerParams, n_heads: int, mask: Tensor | None, norm: str, drop
) -> tuple[Tensor, None]:
    """The output of ``unrolled.transformer.encoder_layer``, and no weights."""
    x = _add(x, lambda z: multi_head_attention(z, z, params.attention, n_heads, mask), params.norm_1, norm, drop)
    return _add(x, lambda z: feed_forward(z, params.feed_forward), params.norm_2, norm, drop), None


def decoder_layer(
    y: Tensor,
    memory: Tensor,
    params: DecoderLayerParams,
    n_heads: int,
    tgt_mask: Tensor | None,
    src_mask: Tensor | None,
    norm: str,
    drop,
) -> tuple[Tensor, None, None]:
    """The output of ``unrolled.transformer.decoder_layer``, and no weights."""
    own, other = params.self_attention, params.cross_attention
    y = _add(y, lambda z: multi_head_attention(z, z, own, n_heads, tgt_mask), params.norm_1, norm, drop)
    y = _add(y, lambda z: multi_head_attention(z, memory, other, n_heads, src_mask), params.norm_2, norm, drop)
    return _add(y, lambda z: feed_forward(z, params.feed_forward), params.norm_3, norm, drop), None, None


def gpt_block(x: Tensor, params: EncoderLayerParams, n_heads: int, drop) -> tuple[Tensor, None]:
    """The output of ``unrolled.gpt.gpt_block``, and no weights; what must not be seen is not computed."""
    x = _add(
        x, lambda z: multi_head_attention(z, z, params.attention, n_heads, causal=True), params.norm_1, "pre", drop
    )
    return _add(x, lambda z: feed_forward(z, params.feed_forward, F.gelu), params.norm_2, "pre", drop), None
