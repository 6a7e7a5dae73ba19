"""Six attention functions with one mistake each, beside the right one (chapter 8).

All take the arguments of ``multi_head_attention`` and return what it returns, so each can be trained in its place.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from unrolled.self_attention import (
    AttentionParams,
    merge_heads,
    multi_head_attention,
    scaled_dot_product_attention,
    split_heads,
)


def _with(attention, x: Tensor, memory: Tensor, params: AttentionParams, n_heads: int, mask: Tensor):
    """``multi_head_attention`` with another function in the place of scaled_dot_product_attention."""
    q = split_heads(x @ params.W_q.T + params.b_q, n_heads)  # (B, N, T, K)
    k, v = (
        split_heads(memory @ W.T + b, n_heads) for W, b in ((params.W_k, params.b_k), (params.W_v, params.b_v))
    )  # (B, N, S, K)
    heads, weights = attention(q, k, v, mask)
    return merge_heads(heads) @ params.W_o.T + params.b_o, weights


def unscaled(x: Tensor, memory: Tensor, params: AttentionParams, n_heads: int, mask: Tensor):
    """The scores are not divided by the root of the head's width."""

    def attention(q, k, v, mask):
        return scaled_dot_product_attention(q * math.sqrt(q.shape[-1]), k, v, mask)

    return _with(attention, x, memory, params, n_heads, mask)


def masked_after_softmax(x: Tensor, memory: Tensor, params: AttentionParams, n_heads: int, mask: Tensor):
    """The mask is applied to the weights: what is left no longer sums to 1."""

    def attention(q, k, v, mask):
        weights = scaled_dot_product_attention(q, k, v)[1] * mask
        return weights @ v, weights

    return _with(attention, x, memory, params, n_heads, mask)


def softmax_over_queries(x: Tensor, memory: Tensor, params: AttentionParams, n_heads: int, mask: Tensor):
    """The weights of each key sum to 1, not those of each query."""

    def attention(q, k, v, mask):
        scores = q @ k.mT / math.sqrt(q.shape[-1])  # (B, N, T, S)
        weights = scores.masked_fill(~mask, -math.inf).softmax(dim=-2)
        return weights @ v, weights

    return _with(attention, x, memory, params, n_heads, mask)


def split_by_view(x: Tensor, memory: Tensor, params: AttentionParams, n_heads: int, mask: Tensor):
    """Heads are cut by ``view`` without a transpose: a head sees pieces of several steps as its steps."""

    def cut(a: Tensor) -> Tensor:
        B, T, D = a.shape
        return a.reshape(B, n_heads, T, D // n_heads)

    q, k, v = (
        cut(a @ W.T + b)
        for a, W, b in (
            (x, params.W_q, params.b_q),
            (memory, params.W_k, params.b_k),
            (memory, params.W_v, params.b_v),
        )
    )
    heads, weights = scaled_dot_product_attention(q, k, v, mask)
    return heads.reshape(x.shape) @ params.W_o.T + params.b_o, weights


def off_by_one(x: Tensor, memory: Tensor, params: AttentionParams, n_heads: int, mask: Tensor):
    """The causal mask reaches one step too far: the answer stands in the input."""
    too_far = torch.ones_like(mask).tril(diagonal=1)
    return multi_head_attention(x, memory, params, n_heads, too_far)


def upside_down(x: Tensor, memory: Tensor, params: AttentionParams, n_heads: int, mask: Tensor):
    """The mask is read the other way round: a step looks at the later ones only.

    The last step may then look at nobody; where closed scores get a large finite number, it finds the mean of all.
    """

    def attention(q, k, v, mask):
        scores = q @ k.mT / math.sqrt(q.shape[-1])  # (B, N, T, S)
        weights = scores.masked_fill(mask, -1e9).softmax(dim=-1)
        return weights @ v, weights

    return _with(attention, x, memory, params, n_heads, mask)


ATTENTIONS = {
    "correct": multi_head_attention,
    "without √d_k": unscaled,
    "heads split by view": split_by_view,
    "mask after softmax": masked_after_softmax,
    "softmax over queries": softmax_over_queries,
    "mask off by one": off_by_one,
    "mask upside down": upside_down,
}
