"""A causal language model of attention layers, whose attention function is an argument (chapter 8)."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from unrolled.masks import causal_mask
from unrolled.self_attention import MultiHeadAttention, multi_head_attention

Attention = Callable[..., tuple[Tensor, Tensor]]  # the signature of multi_head_attention


class AttentionLayer(nn.Module):
    """Look things up, then think about each step alone; both are added to what was there."""

    def __init__(self, D: int, n_heads: int, attention: Attention):
        super().__init__()
        self.projections, self.attention = MultiHeadAttention(D, n_heads), attention
        self.feed_forward = nn.Sequential(nn.Linear(D, 4 * D), nn.ReLU(), nn.Linear(4 * D, D))

    def forward(self, x: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """x (B, T, D) -> (B, T, D), and the weights (B, N, T, T)."""
        found, weights = self.attention(x, x, self.projections.params, self.projections.n_heads, mask)
        x = x + found
        return x + self.feed_forward(x), weights


class AttentionModel(nn.Module):
    """Tokens and positions in, scores for the next token at every step out.

    Args:
        V: size of the vocabulary.
        T: longest sequence; each position up to it has a learned vector.
        D: width of the model.
        n_heads: number of heads; it divides D.
        layers: number of layers.
        attention: what the layers call, with the arguments and results of
            ``multi_head_attention``; another function makes another model of the same parameters.

    >>> model = AttentionModel(V=7, T=5, D=6, n_heads=2)
    >>> logits, weights = model(torch.tensor([[1, 2, 4]]))
    >>> logits.shape, [w.shape for w in weights]
    (torch.Size([1, 3, 7]), [torch.Size([1, 2, 3, 3])])
    """

    def __init__(
        self, V: int, T: int, D: int, n_heads: int, layers: int = 1, attention: Attention = multi_head_attention
    ):
        super().__init__()
        self.tokens, self.positions, self.output = nn.Embedding(V, D), nn.Embedding(T, D), nn.Linear(D, V)
        self.layers = nn.ModuleList(AttentionLayer(D, n_heads, attention) for _ in range(layers))

    def forward(self, ids: Tensor) -> tuple[Tensor, list[Tensor]]:
        """ids (B, T) -> logits (B, T, V), and the weights (B, N, T, T) of each layer."""
        T = ids.shape[1]
        x, mask, seen = self.tokens(ids) + self.positions(torch.arange(T)), causal_mask(T), []  # (B, T, D)
        for layer in self.layers:
            x, weights = layer(x, mask)
            seen.append(weights)
        return self.output(x), seen
