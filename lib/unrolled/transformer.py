"""The layers of the Transformer: attention and a small network, each added to what was there (chapter 9)."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from unrolled.normalisation import layer_norm
from unrolled.self_attention import AttentionParams, multi_head_attention


class NormParams(NamedTuple):
    """A layer normalisation."""

    g: Tensor  # (D,) scale
    b: Tensor  # (D,) shift


class FeedForwardParams(NamedTuple):
    """The network that works on each step alone; rows are outputs, as torch stores them."""

    W_1: Tensor  # (F, D)
    b_1: Tensor  # (F,)
    W_2: Tensor  # (D, F)
    b_2: Tensor  # (D,)


class EncoderLayerParams(NamedTuple):
    """One layer of the encoder."""

    attention: AttentionParams
    feed_forward: FeedForwardParams
    norm_1: NormParams  # of the attention
    norm_2: NormParams  # of the feed-forward network


class DecoderLayerParams(NamedTuple):
    """One layer of the decoder."""

    self_attention: AttentionParams  # looks at what has been written
    cross_attention: AttentionParams  # looks at the source
    feed_forward: FeedForwardParams
    norm_1: NormParams  # of the self-attention
    norm_2: NormParams  # of the cross-attention
    norm_3: NormParams  # of the feed-forward network


def feed_forward(x: Tensor, params: FeedForwardParams) -> Tensor:
    r"""A network with one hidden layer, the same for every step, and for each step alone.

    $$ \mathrm{FFN}(x) = W_2 \max(0,\; W_1 x + b_1) + b_2 $$ (eq-feed-forward)

    Args:
        x: (..., D) vectors; the leading axes are those of a batch and of steps.
        params: W_1 (F, D), b_1 (F,), W_2 (D, F), b_2 (D,).

    Returns:
        (..., D). Gradients reach x and the parameters; nothing is changed. (GELU, as in BERT
        and GPT, in the place of max(0, ·) is accepted too.)

    Built in chapter 9.

    >>> W_1, W_2 = torch.tensor([[1.0], [-1.0]]), torch.tensor([[1.0, 1.0]])  # |x| of two ReLUs
    >>> params = FeedForwardParams(W_1, torch.zeros(2), W_2, torch.tensor([0.5]))
    >>> feed_forward(torch.tensor([[[3.0], [-2.0]]]), params).tolist()
    [[[3.5], [2.5]]]
    """
    hidden = torch.relu(x @ params.W_1.T + params.b_1)  # (..., F)
    return hidden @ params.W_2.T + params.b_2  # eq-feed-forward: (..., D)


def encoder_layer(
    x: Tensor,
    params: EncoderLayerParams,
    n_heads: int,
    mask: Tensor | None = None,
    norm: str = "pre",
    drop=None,
) -> tuple[Tensor, Tensor]:
    r"""Every step looks at all steps, then thinks for itself; both results are added.

    $$ R_k(x, f) = \mathrm{LN}_k\big(x + \mathrm{drop}(f(x))\big)
       \quad \text{if norm is "post"} $$ (eq-post-norm)
    $$ R_k(x, f) = x + \mathrm{drop}\big(f(\mathrm{LN}_k(x))\big)
       \quad \text{if norm is "pre"} $$ (eq-pre-norm)
    $$ a = R_1(x, \mathrm{SelfAttention}), \qquad
       y = R_2(a, \mathrm{FFN}) $$ (eq-encoder-layer)

    with SelfAttention(x) the ``multi_head_attention`` of x with itself under the mask, FFN your
    ``feed_forward`` and LN_k your ``layer_norm`` with its usual eps and the parameters norm_k.

    Args:
        x: (B, S, D).
        params: attention, feed_forward, norm_1 (g, b), norm_2 (g, b).
        n_heads: number of heads; it divides D.
        mask: bool, broadcasts to (B, N, S, S), True = may attend; None: all may attend to all.
        norm: "pre" or "post".
        drop: a function (B, S, D) -> (B, S, D), applied to what each of the two gives before it
            is added; None: left out.

    Returns:
        y: (B, S, D).
        weights: (B, N, S, S), those of the attention. Gradients of y reach x and the
            parameters; nothing is changed.

    Built in chapter 9.

    >>> D, one, zero = 4, torch.ones(4), torch.zeros(4)
    >>> attention = AttentionParams(*4 * [torch.zeros(D, D)], *4 * [zero])  # finds only zeros
    >>> network = FeedForwardParams(torch.zeros(8, D), torch.zeros(8), torch.zeros(D, 8), one)
    >>> params = EncoderLayerParams(attention, network, *2 * [NormParams(one, zero)])
    >>> x = torch.tensor([[[1.0, 3.0, 5.0, 7.0]]])
    >>> encoder_layer(x, params, n_heads=2)[0].tolist()  # x, plus 0, plus 1
    [[[2.0, 4.0, 6.0, 8.0]]]
    >>> y, _ = encoder_layer(x, params, n_heads=2, norm="post")
    >>> round(y.mean().abs().item(), 3), round(y.var(correction=0).item(), 3)
    (0.0, 1.0)
    """
    if drop is None:
        drop = torch.nn.Identity()
    if norm == "pre":
        z = layer_norm(x, *params.norm_1)  # (B, S, D)
        found, weights = multi_head_attention(z, z, params.attention, n_heads, mask)
        a = x + drop(found)  # eq-pre-norm
        y = a + drop(feed_forward(layer_norm(a, *params.norm_2), params.feed_forward))
    else:
        found, weights = multi_head_attention(x, x, params.attention, n_heads, mask)
        a = layer_norm(x + drop(found), *params.norm_1)  # eq-post-norm
        y = layer_norm(a + drop(feed_forward(a, params.feed_forward)), *params.norm_2)
    return y, weights  # eq-encoder-layer


def decoder_layer(
    y: Tensor,
    memory: Tensor,
    params: DecoderLayerParams,
    n_heads: int,
    tgt_mask: Tensor | None = None,
    src_mask: Tensor | None = None,
    norm: str = "pre",
    drop=None,
) -> tuple[Tensor, Tensor, Tensor]:
    r"""Look at what has been written, look at the source, think; each time the result is added.

    $$ a = R_1(y, \mathrm{SelfAttention}), \qquad
       c = R_2(a, \mathrm{CrossAttention}), \qquad
       z = R_3(c, \mathrm{FFN}) $$ (eq-decoder-layer)

    with R_k as in ``encoder_layer``: R_k(x, f) is LN_k(x + drop(f(x))) if norm is "post", and
    x + drop(f(LN_k(x))) if it is "pre". SelfAttention is that of y with itself, under tgt_mask.
    In CrossAttention the queries come from the decoder, the keys and values from memory, under
    src_mask; memory is used as it is, it is not normalised here.

    Args:
        y: (B, T, D) what the decoder reads.
        memory: (B, S, D) what the encoder has made of the source.
        params: self_attention, cross_attention, feed_forward, norm_1, norm_2, norm_3.
        n_heads: number of heads; it divides D.
        tgt_mask: bool, broadcasts to (B, N, T, T), True = may attend; None: all to all.
        src_mask: bool, broadcasts to (B, N, T, S), True = may attend; None: all to all.
        norm: "pre" or "post".
        drop: a function (B, T, D) -> (B, T, D), applied to what each of the three gives before
            it is added; None: left out.

    Returns:
        z: (B, T, D).
        self_weights: (B, N, T, T).
        cross_weights: (B, N, T, S). Gradients of z reach y, memory and the parameters; nothing
            is changed.

    Built in chapter 9.

    >>> one, zero, zeros = torch.ones(4), torch.zeros(4), torch.zeros(4, 4)
    >>> nothing = AttentionParams(*4 * [zeros], *4 * [zero])
    >>> mean = AttentionParams(zeros, zeros, torch.eye(4), torch.eye(4), *4 * [zero])
    >>> network = FeedForwardParams(zeros, zero, zeros, zero)
    >>> params = DecoderLayerParams(nothing, mean, network, *3 * [NormParams(one, zero)])
    >>> y = torch.tensor([[[1.0, 2.0, 3.0, 4.0]]])
    >>> memory = torch.tensor([[[2.0] * 4, [4.0] * 4]])
    >>> decoder_layer(y, memory, params, n_heads=2)[0].tolist()  # y and the mean of the memory
    [[[4.0, 5.0, 6.0, 7.0]]]
    """
    if drop is None:
        drop = torch.nn.Identity()
    own, other = params.self_attention, params.cross_attention
    if norm == "pre":
        z = layer_norm(y, *params.norm_1)  # (B, T, D)
        found, self_weights = multi_head_attention(z, z, own, n_heads, tgt_mask)
        a = y + drop(found)
        z = layer_norm(a, *params.norm_2)
        found, cross_weights = multi_head_attention(z, memory, other, n_heads, src_mask)
        c = a + drop(found)
        z = c + drop(feed_forward(layer_norm(c, *params.norm_3), params.feed_forward))
    else:
        found, self_weights = multi_head_attention(y, y, own, n_heads, tgt_mask)
        a = layer_norm(y + drop(found), *params.norm_1)
        found, cross_weights = multi_head_attention(a, memory, other, n_heads, src_mask)
        c = layer_norm(a + drop(found), *params.norm_2)
        z = layer_norm(c + drop(feed_forward(c, params.feed_forward)), *params.norm_3)
    return z, self_weights, cross_weights  # eq-decoder-layer
