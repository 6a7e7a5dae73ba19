"""Attention: look at all states of the source, and anew at every step of the answer (chapter 7).

Here h are the states of the source (the deck's h^e), one for each of S steps, and s those of the decoder (h^d).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor, nn

from unrolled.gated import GRUParams, gru_step


class AttentionDecoderParams(NamedTuple):
    """The parameters of a decoder that attends: as in chapter 6, and besides a score and a layer for the readout."""

    W_e: Tensor  # (V, E) the embedding: one row for each token
    gru: GRUParams  # its W_x is (3H, E + C): the embedding's columns first, then the context's
    W_a: Tensor  # (H, C) the bilinear score
    W_r: Tensor  # (R, H + C) from state and context to the readout: the state's columns first
    W_hy: Tensor  # (V, R) from the readout to the scores
    b_y: Tensor  # (V,)


def score_dot(s: Tensor, h: Tensor) -> Tensor:
    r"""How well each state of the source fits each query: their dot product.

    $$ e_{ij} = s_i \cdot h_j $$ (eq-score-dot)

    It is not divided by anything: neither by the lengths of the vectors nor by the root of the
    width.

    Args:
        s: (B, T, H) the queries, states of the decoder.
        h: (B, S, H) the states of the source; they have the width of the queries.

    Returns:
        (B, T, S) the scores: row i belongs to the query i, column j to the source step j.
        Gradients reach s and h; nothing is changed.

    Built in chapter 7.

    >>> s = torch.tensor([[[1.0, 2.0]]])
    >>> h = torch.tensor([[[1.0, 0.0], [0.0, 1.0], [3.0, 1.0]]])
    >>> score_dot(s, h).tolist()
    [[[1.0, 2.0, 5.0]]]
    """
    return s @ h.mT  # eq-score-dot: (B, T, H) @ (B, H, S) -> (B, T, S)


def score_bilinear(s: Tensor, h: Tensor, W: Tensor) -> Tensor:
    r"""A dot product through a learned matrix: the widths may differ.

    $$ e_{ij} = s_i^\top W h_j $$ (eq-score-bilinear)

    Args:
        s: (B, T, H) the queries, states of the decoder.
        h: (B, S, C) the states of the source.
        W: (H, C) the matrix; a row for each feature of s, a column for each of h. H may be C, and
            W need not be symmetric.

    Returns:
        (B, T, S) the scores: row i belongs to the query i, column j to the source step j.
        Gradients reach s, h and W; nothing is changed.

    Built in chapter 7.

    >>> s, h = torch.tensor([[[1.0, 2.0]]]), torch.tensor([[[1.0, 0.0, 5.0], [0.0, 3.0, 5.0]]])
    >>> W = torch.tensor([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    >>> score_bilinear(s, h, W).tolist()
    [[[1.0, 6.0]]]
    """
    return s @ W @ h.mT  # eq-score-bilinear: (B, T, H) @ (H, C) @ (B, C, S) -> (B, T, S)


def score_additive(s: Tensor, h: Tensor, W: Tensor, U: Tensor, v: Tensor) -> Tensor:
    r"""A small network says how well a state of the source fits a query (Bahdanau's score).

    $$ e_{ij} = v^\top \tanh(W s_i + U h_j) $$ (eq-score-additive)

    Args:
        s: (B, T, H) the queries, states of the decoder.
        h: (B, S, C) the states of the source.
        W: (A, H) from a query to the hidden layer; rows are outputs.
        U: (A, C) from a state of the source to the hidden layer. There are no biases.
        v: (A,) from the hidden layer to the score.

    Returns:
        (B, T, S) the scores: row i belongs to the query i, column j to the source step j.
        Gradients reach all arguments; nothing is changed.

    Built in chapter 7.

    >>> s, h = torch.tensor([[[-3.0]]]), torch.tensor([[[3.0, 0.0], [0.0, 99.0]]])
    >>> W, U, v = torch.ones(1, 1), torch.ones(1, 2), torch.tensor([5.0])
    >>> score_additive(s, h, W, U, v).tolist()  # tanh 0 and tanh 96, times 5
    [[[0.0, 5.0]]]
    """
    from_s, from_h = (s @ W.T)[:, :, None], (h @ U.T)[:, None]  # (B, T, 1, A), (B, 1, S, A)
    hidden = torch.tanh(from_s + from_h)  # (B, T, S, A)
    return hidden @ v  # eq-score-additive: (B, T, S)


def attention_weights(e: Tensor, mask: Tensor | None = None) -> Tensor:
    r"""From scores to weights: a softmax over the source steps that may be attended to.

    $$ \alpha_{ij} = \frac{m_j \exp e_{ij}}
       {\sum_{j'} m_{j'} \exp e_{ij'}} $$ (eq-attention-weights)

    with $m_j$ 1 where the mask is True, else 0. If it is nowhere True, the weights are zeros.

    Args:
        e: (..., S) the scores, finite but perhaps so large that exp of them overflows; the
            source steps are the last axis. In a decoder (B, T, S).
        mask: bool, broadcasts to the shape of e: True where a source step may be attended to.
            For scores (B, T, S) and pads of the source it is (B, 1, S). Without a mask all may.

    Returns:
        The weights, of the shape of e. Along the last axis they sum to 1, and are 0 where the mask
        is False; where it is False for all source steps, they are all 0. Gradients reach e, are
        always finite, and 0 where the mask is False; nothing is changed.

    Built in chapter 7.

    >>> e = torch.tensor([[2.0, 2.0, 7.0], [5.0, 5.0, 5.0]])
    >>> mask = torch.tensor([[True, True, False], [False, False, False]])
    >>> attention_weights(e, mask).tolist()
    [[0.5, 0.5, 0.0], [0.0, 0.0, 0.0]]
    """
    if mask is None:
        return torch.softmax(e, dim=-1)
    alpha = torch.softmax(e.masked_fill(~mask, -math.inf), dim=-1)  # eq-attention-weights
    return alpha.masked_fill(~mask, 0)  # NaN where nothing may be attended to


def context(alpha: Tensor, h: Tensor) -> Tensor:
    r"""What each query finds: the mean of the source's states, with the weights of the query.

    $$ c_i = \sum_j \alpha_{ij} h_j $$ (eq-attention-context)

    Args:
        alpha: (B, T, S) the weights; they are used as they are, also if they do not sum to 1.
        h: (B, S, C) the states of the source, finite also at the pads.

    Returns:
        (B, T, C) one context for each query. Gradients reach alpha and h; nothing is changed.

    Built in chapter 7.

    >>> alpha = torch.tensor([[[0.5, 0.5, 0.0], [0.0, 0.25, 0.75]]])
    >>> h = torch.tensor([[[2.0, 0.0], [4.0, 8.0], [4.0, 0.0]]])
    >>> context(alpha, h).tolist()
    [[[3.0, 4.0], [4.0, 2.0]]]
    """
    return alpha @ h  # eq-attention-context: (B, T, S) @ (B, S, C) -> (B, T, C)


def attn_decoder_step(
    y: Tensor, s: Tensor, h: Tensor, mask: Tensor, params: AttentionDecoderParams
) -> tuple[Tensor, Tensor, Tensor]:
    r"""One step of a decoder that looks at the source before it writes.

    $$ c_i = \sum_j \alpha_{ij} h_j, \qquad
       \alpha_i = \mathrm{softmax}_j(s_{i-1}^\top W_a h_j) $$ (eq-attention-look)
    $$ s_i = \mathrm{gru\_step}(W_e[y_{i-1}] \oplus c_i,\; s_{i-1}) $$ (eq-attention-state)
    $$ o_i = W_{hy} \tanh(W_r (s_i \oplus c_i)) + b_y $$ (eq-attention-output)

    The query is the state **before** the step, as in deck 003. The context found with it is read
    twice: by the GRU, and with the new state by the readout. With chapter 4's gru_step, its reset
    before the matrix (the default); without torch's GRU.

    Args:
        y: (B,) int64, the tokens read at this step: y_{i-1}.
        s: (B, H) the states before the step: s_{i-1}.
        h: (B, S, C) the states of the source, finite also at the pads.
        mask: (B, S) bool, True at the real source steps.
        params: W_e (V, E) the embedding, gru the GRU's parameters (W_x has E + C columns: first
            those of the embedding), W_a (H, C) the score, W_r (R, H + C) the readout (first the
            columns of the state), W_hy (V, R), b_y (V,).

    Returns:
        logits: (B, V) the scores o_i of the next token.
        s: (B, H) the states after the step.
        alpha: (B, S) the weights; zeros at the pads, and for a row without a real step. Gradients
            of all three reach s, h and the parameters as far as they depend on them; nothing is
            changed.

    Built in chapter 7.

    >>> gru = GRUParams(torch.zeros(3, 3), torch.zeros(3, 1), torch.zeros(3), torch.zeros(1))
    >>> W_a, W_r, b_y = torch.zeros(1, 1), torch.tensor([[0.0, 99.0]]), torch.tensor([0.0, 5.0])
    >>> params = AttentionDecoderParams(torch.eye(2), gru, W_a, W_r, torch.ones(2, 1), b_y)
    >>> h, mask = torch.tensor([[[1.0], [3.0], [99.0]]]), torch.tensor([[True, True, False]])
    >>> logits, s, alpha = attn_decoder_step(torch.tensor([1]), torch.ones(1, 1), h, mask, params)
    >>> logits.tolist(), s.tolist()  # u = 1/2, the candidate is 0: the step halves the state
    ([[1.0, 6.0]], [[0.5]])
    >>> alpha.tolist()
    [[0.5, 0.5, 0.0]]
    """
    e = score_bilinear(s[:, None], h, params.W_a)  # (B, 1, S)
    alpha = attention_weights(e, mask[:, None])  # (B, 1, S)
    c = context(alpha, h)[:, 0]  # eq-attention-look: (B, C)
    s = gru_step(torch.cat([params.W_e[y], c], dim=1), s, params.gru)  # eq-attention-state
    r = torch.tanh(torch.cat([s, c], dim=1) @ params.W_r.T)  # (B, R)
    return r @ params.W_hy.T + params.b_y, s, alpha[:, 0]  # eq-attention-output


def attention_pool(h: Tensor, w: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    r"""One vector for each sequence, without a query: each state says how much it matters.

    $$ c = \sum_t \alpha_t h_t, \qquad
       \alpha = \mathrm{softmax}_t(w \cdot h_t) $$ (eq-attention-pool)

    The softmax runs over the real steps of a row, with one weight for a whole state.

    Args:
        h: (B, T, H) the states; what stands at the pads is any finite number.
        w: (H,) what to look for, the same in every row: it is learned.
        mask: (B, T) bool, True at the real steps. They need not be the first ones, and a row may
            have none.

    Returns:
        c: (B, H) the weighted mean of each row; zeros for a row without a real step.
        alpha: (B, T) the weights; zeros at the pads. Gradients reach h and w, are always finite,
            and 0 at the pads of h; nothing is changed.

    Built in chapter 7.

    >>> h = torch.tensor([[[1.0, 0.0], [3.0, 0.0], [2.0, 99.0]], [[5.0, 5.0]] * 3])
    >>> mask = torch.tensor([[True, True, False], [False, False, False]])
    >>> c, alpha = attention_pool(h, torch.tensor([0.0, 1.0]), mask)
    >>> c.tolist(), alpha.tolist()
    ([[2.0, 0.0], [0.0, 0.0]], [[0.5, 0.5, 0.0], [0.0, 0.0, 0.0]])
    """
    alpha = attention_weights(h @ w, mask)  # (B, T)
    return (alpha[..., None] * h).sum(dim=1), alpha  # eq-attention-pool: (B, H), (B, T)


def image_attention(feat: Tensor, s: Tensor, W_a: Tensor) -> tuple[Tensor, Tensor]:
    r"""Look at a picture: weights over all its places at once, and the mean feature there.

    $$ c = \sum_{x,y} \alpha_{xy} f_{xy}, \qquad
       \alpha = \mathrm{softmax}_{x,y}(s^\top W_a f_{xy}) $$ (eq-image-attention)

    with $f_{xy}$ the C features at row x and column y. One softmax runs over all places of a
    picture together: its weights sum to 1 over rows and columns.

    Args:
        feat: (B, C, H, W) feature maps as a convolution returns them: channels, then the rows of
            the picture (its height H), then the columns (its width W).
        s: (B, D) the queries, one for each picture.
        W_a: (D, C) the bilinear score.

    Returns:
        c: (B, C) the features where the query looks.
        alpha: (B, H, W) the weights, row and column as in feat. Gradients of both reach feat, s
            and W_a; nothing is changed.

    Built in chapter 7.

    >>> where = torch.tensor([[0.0, 0.0, 999.0], [0.0, 0.0, 0.0]])
    >>> what = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    >>> feat = torch.stack([where, what])[None]  # one picture, two channels, two rows
    >>> c, alpha = image_attention(feat, torch.ones(1, 1), torch.tensor([[1.0, 0.0]]))
    >>> c.tolist(), alpha.tolist()  # it looks at the upper right
    ([[999.0, 3.0]], [[[0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]])
    """
    B, _, H, W = feat.shape
    places = feat.flatten(2).mT  # (B, H*W, C)
    alpha = attention_weights(score_bilinear(s[:, None], places, W_a))  # (B, 1, H*W)
    c = context(alpha, places)[:, 0]  # eq-image-attention: (B, C)
    return c, alpha.view(B, H, W)


class BilinearScore(nn.Module):
    """A layer with the matrix of ``score_bilinear``: queries (B, T, H), states (B, S, C) -> scores (B, T, S)."""

    def __init__(self, H: int, C: int):
        super().__init__()
        self.W = nn.Linear(C, H, bias=False)

    def forward(self, s: Tensor, h: Tensor) -> Tensor:
        return score_bilinear(s, h, self.W.weight)


class AdditiveScore(nn.Module):
    """A layer with the weights of ``score_additive``, its hidden layer A wide."""

    def __init__(self, H: int, C: int, A: int):
        super().__init__()
        self.W, self.U, self.v = nn.Linear(H, A, bias=False), nn.Linear(C, A, bias=False), nn.Linear(A, 1, bias=False)

    def forward(self, s: Tensor, h: Tensor) -> Tensor:
        return score_additive(s, h, self.W.weight, self.U.weight, self.v.weight[0])
