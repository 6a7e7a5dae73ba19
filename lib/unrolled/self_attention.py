"""Self-attention: soft look-up, several heads, what a permutation does to it (chapter 8)."""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor, nn


class AttentionParams(NamedTuple):
    """The four projections of an attention layer, each with a bias; rows are outputs, as torch stores them."""

    W_q: Tensor  # (D, D) makes the queries
    W_k: Tensor  # (D, D) the keys
    W_v: Tensor  # (D, D) the values
    W_o: Tensor  # (D, D) mixes what the heads have found
    b_q: Tensor  # (D,)
    b_k: Tensor  # (D,)
    b_v: Tensor  # (D,)
    b_o: Tensor  # (D,)


def scaled_dot_product_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    r"""Soft look-up: each query gets a mean of the values, weighted by how well their keys fit.

    $$ A = \mathrm{softmax}\!\left(\frac{Q K^\top}{\sqrt{d_k}}\right), \qquad
       \mathrm{Attention}(Q, K, V) = A\, V $$ (eq-attention)

    The softmax runs over the keys that the query may attend to; all others have weight 0.
    Without torch's own attention.

    Args:
        q: (..., T, d_k) the queries; the leading axes are those of a batch, of heads, or none.
        k: (..., S, d_k) the keys. Scores may be so large that exp of them overflows.
        v: (..., S, d_v) the values.
        mask: bool, broadcasts to (..., T, S): True where the query t may attend to the key s.
            Without a mask all may attend to all, each also to itself.

    Returns:
        output: (..., T, d_v).
        weights: (..., T, S); each row sums to 1. But a query that may attend to nothing has
            weights and an output of zero. (A large finite fill in the place of -inf gives it a
            mean of the values; that is accepted too.) Gradients of the output reach q, k and v
            and are always finite; the arguments are not modified.

    Built in chapter 8.

    >>> k, v = torch.tensor([[9.0, 0.0], [0.0, 9.0]]), torch.tensor([[1.0], [5.0]])
    >>> q = torch.tensor([[9.0, 0.0], [0.0, 0.0]])
    >>> output, weights = scaled_dot_product_attention(q, k, v)
    >>> output.tolist()  # the first query finds its key, the second finds both alike
    [[1.0], [3.0]]
    >>> mask = torch.tensor([[False, True], [False, False]])
    >>> scaled_dot_product_attention(q, k, v, mask)[0].tolist()
    [[5.0], [0.0]]
    """
    scores = q @ k.mT / math.sqrt(q.shape[-1])  # (..., T, d_k) @ (..., d_k, S) -> (..., T, S)
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        weights = torch.softmax(scores.masked_fill(~mask, -math.inf), dim=-1)
        weights = weights.masked_fill(~mask, 0)  # NaN where a query may attend to nothing
    return weights @ v, weights  # eq-attention


def split_heads(x: Tensor, n_heads: int) -> Tensor:
    r"""Cut the width into heads: each head gets a block of neighbouring features.

    $$ \mathrm{split}(x)_{bntk} = x_{b\,t\,(nK + k)} $$ (eq-split-heads)

    Args:
        x: (B, T, D).
        n_heads: number of heads N; it divides D, and each head is K = D / N wide.

    Returns:
        (B, N, T, K). Gradients reach x, which is not modified. Whether the result shares memory
        with x is left open.

    Built in chapter 8.

    >>> split_heads(torch.arange(8).view(1, 2, 4), n_heads=2).tolist()  # two steps of width 4
    [[[[0, 1], [4, 5]], [[2, 3], [6, 7]]]]
    """
    B, T, D = x.shape
    x = x.reshape(B, T, n_heads, D // n_heads)
    return x.transpose(1, 2)  # eq-split-heads: (B, N, T, K)


def merge_heads(x: Tensor) -> Tensor:
    r"""Put the heads side by side again: the inverse of ``split_heads``.

    $$ \mathrm{merge}(x)_{b\,t\,(nK + k)} = x_{bntk} $$ (eq-merge-heads)

    Args:
        x: (B, N, T, K).

    Returns:
        (B, T, D) with D = N K. Gradients reach x, which is not modified. Whether the result
        shares memory with x is left open.

    Built in chapter 8.

    >>> merge_heads(torch.tensor([[[[0, 1], [4, 5]], [[2, 3], [6, 7]]]])).tolist()
    [[[0, 1, 2, 3], [4, 5, 6, 7]]]
    """
    return x.transpose(1, 2).flatten(2)  # eq-merge-heads: (B, T, N*K)


def multi_head_attention(
    x: Tensor, memory: Tensor, params: AttentionParams, n_heads: int, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    r"""Several look-ups side by side, each in its own block of features.

    $$ Q = X W_q^\top + b_q, \quad K = M W_k^\top + b_k, \quad V = M W_v^\top + b_v $$ (eq-qkv)
    $$ Z_n = \mathrm{Attention}(Q_n, K_n, V_n), \qquad
       Y = (Z_1 \oplus \dots \oplus Z_N)\, W_o^\top + b_o $$ (eq-multi-head)

    with $Q_n, K_n, V_n$ the n-th blocks of D / N neighbouring features. In self-attention a
    sequence looks things up in itself: M is X. Without torch's own attention.

    Args:
        x: (B, T, D) the sequence that asks.
        memory: (B, S, D) the sequence that is asked; in self-attention the same tensor as x.
        params: W_q, W_k, W_v, W_o, each (D, D), and b_q, b_k, b_v, b_o, each (D,).
        n_heads: number of heads N; it divides D.
        mask: bool, broadcasts to (B, N, T, S): True where step t of x may attend to step s of
            memory. A causal mask is (T, S), one for the pads of memory (B, 1, 1, S).

    Returns:
        output: (B, T, D).
        weights: (B, N, T, S), those of every head. Gradients of the output reach x, memory
            and the parameters; the arguments are not modified.

    Built in chapter 8.

    >>> one, zero = torch.eye(2), torch.zeros(2)
    >>> params = AttentionParams(0 * one, one, one, one, zero, zero, zero, zero)
    >>> x = torch.tensor([[[1.0, 2.0], [3.0, 8.0]]])
    >>> multi_head_attention(x, x, params, n_heads=2)[0].tolist()  # no query, so plain means
    [[[2.0, 5.0], [2.0, 5.0]]]
    """
    q = split_heads(x @ params.W_q.T + params.b_q, n_heads)  # eq-qkv: (B, N, T, K)
    k = split_heads(memory @ params.W_k.T + params.b_k, n_heads)  # (B, N, S, K)
    v = split_heads(memory @ params.W_v.T + params.b_v, n_heads)  # (B, N, S, K)
    heads, weights = scaled_dot_product_attention(q, k, v, mask)  # (B, N, T, K), (B, N, T, S)
    return merge_heads(heads) @ params.W_o.T + params.b_o, weights  # eq-multi-head


def permutation_gap(f, x: Tensor, perm: Tensor) -> Tensor:
    r"""How far a layer is from treating the steps as a set.

    $$ \mathrm{gap} = \max_{b,t,d} \left| f(P x) - P f(x) \right|_{btd}, \qquad
       (P x)_{bt} = x_{b\,\pi(t)} $$ (eq-permutation-gap)

    If it is zero for every permutation, f is equivariant: shuffle the inputs, and the outputs
    are shuffled with them, but otherwise as they were.

    Args:
        f: takes (B, T, D), returns (B, T, D'). It may be asked as often as you like.
        x: (B, T, D).
        perm: (T,) int64, the permutation: step t of the shuffled sequence is step perm[t] of x.

    Returns:
        A scalar tensor: the largest absolute difference. x and perm are not changed.

    Built in chapter 8.

    >>> x, perm = torch.tensor([[[1.0], [2.0], [4.0]]]), torch.tensor([1, 2, 0])
    >>> permutation_gap(lambda x: x - x.mean(dim=1, keepdim=True), x, perm).item()
    0.0
    >>> permutation_gap(lambda x: x.cumsum(dim=1), x, perm).item()  # 2, 6, 7 against 3, 7, 1
    6.0
    """
    return (f(x[:, perm]) - f(x)[:, perm]).abs().max()  # eq-permutation-gap


class MultiHeadAttention(nn.Module):
    """A layer with the parameters of ``multi_head_attention``.

    Args:
        D: width of the model.
        n_heads: number of heads; it divides D.

    >>> layer, x = MultiHeadAttention(D=6, n_heads=3), torch.randn(2, 5, 6)
    >>> output, weights = layer(x, x)
    >>> output.shape, weights.shape
    (torch.Size([2, 5, 6]), torch.Size([2, 3, 5, 5]))
    """

    def __init__(self, D: int, n_heads: int):
        super().__init__()
        if D % n_heads:
            raise ValueError(f"{n_heads} heads do not divide a width of {D}.")
        self.n_heads = n_heads
        self.q, self.k, self.v, self.o = (nn.Linear(D, D) for _ in range(4))

    @property
    def params(self) -> AttentionParams:
        layers = self.q, self.k, self.v, self.o
        return AttentionParams(*(layer.weight for layer in layers), *(layer.bias for layer in layers))

    def forward(self, x: Tensor, memory: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """x (B, T, D), memory (B, S, D) -> output (B, T, D) and weights (B, N, T, S)."""
        return multi_head_attention(x, memory, self.params, self.n_heads, mask)
