"""GPT: a stack of blocks that look back only, trained on windows of text and read one token at a time (chapter 11)."""

from __future__ import annotations

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from unrolled.masks import causal_mask
from unrolled.normalisation import layer_norm
from unrolled.self_attention import multi_head_attention
from unrolled.transformer import EncoderLayerParams


class GPTConfig(NamedTuple):
    """The sizes of a GPT."""

    V: int  # tokens of the vocabulary
    context: int  # the most tokens that it reads at once; each place has a vector of its own
    D: int  # width of the model
    n_heads: int  # heads of each attention; they divide D
    layers: int  # blocks
    d_ff: int  # hidden units of each feed-forward network


class Windows(NamedTuple):
    """Windows of a text, their labels, and where they stand."""

    x: Tensor  # (n, T) what is read
    y: Tensor  # (n, T) what is to be said after each token of x
    start: Tensor  # (n,) the place of each window's first token in the text


def windows(ids: Tensor, T: int, stride: int, split: int) -> tuple[Windows, Windows]:
    r"""Cut one long text into windows of T tokens, the training part apart from the validation.

    $$ x_{kt} = \mathrm{ids}[s_k + t], \qquad y_{kt} = \mathrm{ids}[s_k + t + 1], \qquad
       s_k = s_0 + k \cdot \mathrm{stride} $$ (eq-windows)

    for t = 0, …, T - 1. The training part is ids[:split], the validation part ids[split:];
    s_0 is the first place of the part. A window and its labels lie whole in one part: with T
    inputs it takes T + 1 tokens. What is left at the end of a part and fills no further
    window is dropped.

    Args:
        ids: (N,) int64, the tokens of the text.
        T: length of a window.
        stride: how far the next window starts after this one, at least 1. If it is less than
            T, windows of a part overlap; if it is more, tokens between them are left out.
        split: the place of the first token for validation. Each part has at least T + 1 tokens.

    Returns:
        train, validation: each a Windows(x, y, start) of int64, x and y (n, T), start (n,) the
            places s_k, counted from the beginning of ids. All windows that fit are there, in
            the order of the text. ids is not changed.

    Built in chapter 11.

    >>> ids = torch.arange(10, 20)
    >>> train, validation = windows(ids, T=3, stride=2, split=6)
    >>> train.x.tolist(), train.y.tolist(), train.start.tolist()
    ([[10, 11, 12], [12, 13, 14]], [[11, 12, 13], [13, 14, 15]], [0, 2])
    >>> validation.x.tolist(), validation.start.tolist()  # a part of 4 tokens: one window
    ([[16, 17, 18]], [6])
    """
    parts = []
    for first, end in ((0, split), (split, len(ids))):
        start = torch.arange(first, end - T, stride)  # (n,)
        place = start[:, None] + torch.arange(T)  # (n, T)
        parts.append(Windows(ids[place], ids[place + 1], start))  # eq-windows
    return parts[0], parts[1]


def gpt_block(
    x: Tensor,
    params: EncoderLayerParams,
    n_heads: int,
    drop=None,
) -> tuple[Tensor, Tensor]:
    r"""Every step looks at itself and what came before it, then thinks for itself.

    $$ a = x + \mathrm{drop}\big(\mathrm{SelfAttention}(\mathrm{LN}_1(x))\big), \qquad
       y = a + \mathrm{drop}\big(\mathrm{FFN}(\mathrm{LN}_2(a))\big) $$ (eq-gpt-block)
    $$ \mathrm{FFN}(z) = W_2\, \mathrm{GELU}(W_1 z + b_1) + b_2, \qquad
       \mathrm{GELU}(u) = u\, \Phi(u) $$ (eq-gelu)

    with SelfAttention the ``multi_head_attention`` of a sequence with itself in which step t
    attends to the steps 0, …, t, LN_k your ``layer_norm`` with its usual eps and the parameters
    norm_k, and Φ the distribution function of the normal distribution; F.gelu computes GELU.

    Args:
        x: (B, T, D).
        params: attention, feed_forward (W_1, b_1, W_2, b_2), norm_1 (g, b), norm_2 (g, b): the
            same as in a layer of the encoder.
        n_heads: number of heads; it divides D.
        drop: a function (B, T, D) -> (B, T, D), applied to what each of the two gives before it
            is added; None: left out.

    Returns:
        y: (B, T, D).
        weights: (B, N, T, T), those of the attention. Gradients of y reach x and the
            parameters; nothing is changed. (The norms after the sums, as in the first GPT and
            in COMET, and GELU by its formula with tanh, as in GPT-2, are accepted too.)

    Built in chapter 11.

    >>> from unrolled.self_attention import AttentionParams
    >>> from unrolled.transformer import FeedForwardParams, NormParams
    >>> D, one, zero = 2, torch.ones(2), torch.zeros(2)
    >>> attention = AttentionParams(*2 * [torch.zeros(D, D)], *2 * [torch.eye(D)], *4 * [zero])
    >>> network = FeedForwardParams(torch.zeros(3, D), torch.zeros(3), torch.zeros(D, 3), zero)
    >>> params = EncoderLayerParams(attention, network, *2 * [NormParams(one, zero)])
    >>> x = torch.tensor([[[1.0, 5.0], [7.0, 3.0]]])
    >>> y, weights = gpt_block(x, params, n_heads=1)  # adds means: (-1, 1), then (0, 0)
    >>> y.round(decimals=3).tolist(), weights[0, 0].tolist()
    ([[[0.0, 6.0], [7.0, 3.0]]], [[1.0, 0.0], [0.5, 0.5]])
    """
    if drop is None:
        drop = torch.nn.Identity()
    z = layer_norm(x, *params.norm_1)  # (B, T, D)
    mask = causal_mask(x.shape[1])  # (T, T)
    found, weights = multi_head_attention(z, z, params.attention, n_heads, mask)
    a = x + drop(found)
    W_1, b_1, W_2, b_2 = params.feed_forward
    hidden = F.gelu(layer_norm(a, *params.norm_2) @ W_1.T + b_1)  # eq-gelu: (B, T, F)
    return a + drop(hidden @ W_2.T + b_2), weights  # eq-gpt-block


def generate(model, ids: Tensor, n: int, context: int, cache: bool = True, pick=None) -> Tensor:
    r"""Write n more tokens, each after reading what stands there, without reading it all again.

    $$ w_{t+1} = \mathrm{pick}(o_t), \qquad
       o_t = \mathrm{model}(w_{t-c+1}, \dots, w_t), \qquad
       c = \min(t + 1, \mathrm{context}) $$ (eq-generate)

    The model reads at most context tokens: the last ones. They stand at the positions 0, 1, …,
    c - 1. What it says after the last of them is the score of the next token.

    With the cache, a token is read once, as long as all tokens fit into the context: the first
    call reads all of ids, each later call only the token that is new, at its own position,
    together with the keys and values of all tokens before it. When there are more tokens than
    context, all positions shift and no key fits any more: then each call reads the last context
    tokens anew, without past. Without the cache, every call does so from the beginning.

    Args:
        model: called as model(read, positions, past), with read (B, t) int64 the tokens to be
            read, positions (t,) int64 their places, and past (B, P, C) the keys and values of
            the P tokens before them, in their order, or None if there are none. It returns the
            scores (B, t, V) after each token that was read, and the keys and values (B, t, C)
            of these tokens alone.
        ids: (B, T) int64, the beginning, the same length for all; T is at least 1 and may be
            greater than context.
        n: how many tokens are written, at least 1; the model is called n times.
        context: the most tokens that the model can take in, those of past included.
        cache: whether keys and values are kept. The tokens are the same either way.
        pick: a function (B, V) -> (B,) int64 that chooses a token for each row of scores; None:
            the one with the highest score.

    Returns:
        (B, T + n) int64: ids and what was written. ids is not changed.

    Built in chapter 11.

    >>> def count(read, positions, past):  # says the number after the one it reads
    ...     print("read", read.tolist(), "at", positions.tolist())
    ...     return F.one_hot((read + 1) % 10, 10), read[..., None]
    >>> generate(count, torch.tensor([[5, 6]]), n=3, context=3).tolist()
    read [[5, 6]] at [0, 1]
    read [[7]] at [2]
    read [[6, 7, 8]] at [0, 1, 2]
    [[5, 6, 7, 8, 9]]
    """
    past = None
    for _ in range(n):
        length = ids.shape[1]
        if past is None or length > context:
            past, read = None, ids[:, -context:]  # (B, min(length, context))
            positions = torch.arange(read.shape[1])
        else:
            read, positions = ids[:, -1:], torch.tensor([length - 1])
        logits, kv = model(read, positions, past)  # (B, t, V), (B, t, C)
        if cache:
            past = kv if past is None else torch.cat([past, kv], dim=1)  # (B, P + t, C)
        last = logits[:, -1]  # (B, V)
        chosen = last.argmax(dim=-1) if pick is None else pick(last)  # eq-generate: (B,)
        ids = torch.cat([ids, chosen[:, None]], dim=1)  # (B, length + 1)
    return ids


def count_parameters(cfg: GPTConfig) -> int:
    r"""How many numbers a GPT learns.

    $$ \underbrace{V D + C D}_{\text{tokens, positions}} + L \,\Big(
       \underbrace{4 D^2 + 4 D}_{\text{attention}} + \underbrace{2 D F + F + D}_{\text{FFN}} +
       \underbrace{4 D}_{\text{norms}} \Big) + \underbrace{2 D}_{\text{last norm}}
       $$ (eq-gpt-parameters)

    A token's vector and its place's vector are added. L blocks follow, each as ``gpt_block``,
    and one more layer norm. The scores of the next token are products with the table of token
    vectors: it is used twice, and the output has no bias.

    Args:
        cfg: V, context (C in the equation), D, n_heads, layers (L), d_ff (F).

    Returns:
        An int, exact.

    Built in chapter 11.

    >>> gpt2 = GPTConfig(V=50257, context=1024, D=768, n_heads=12, layers=12, d_ff=4 * 768)
    >>> f"{count_parameters(gpt2):,}"
    '124,439,808'
    """
    D, F = cfg.D, cfg.d_ff
    tables = cfg.V * D + cfg.context * D
    attention = 4 * (D * D + D)
    network = D * F + F + F * D + D
    norms = 2 * 2 * D
    return tables + cfg.layers * (attention + network + norms) + 2 * D  # eq-gpt-parameters
