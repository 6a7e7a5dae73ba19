"""A small BERT of the book's own functions alone: bert_embed, encoder layers with the norm after, a tied output."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from unrolled.bert_model import BertEmbedding, start_small
from unrolled.masks import causal_mask
from unrolled.transformer_model import EncoderLayer


class TinyBert(nn.Module):
    """Which word was here? The model of chapter 12 in small, with the encoder layer of chapter 9 in its middle.

    Args:
        V: size of the vocabulary.
        D: width of the model.
        n_heads: number of heads; it divides D.
        layers: number of layers.
        d_ff: width of the hidden layer in the feed-forward networks.
        longest: the most steps.
        causal: True: a step sees itself and those before it only, for comparison.

    >>> model = TinyBert(V=50, D=12, n_heads=3, layers=2, d_ff=24, longest=16)
    >>> scores, weights = model(torch.tensor([[2, 11, 4, 3]]))
    >>> scores.shape, weights[0].shape
    (torch.Size([1, 4, 50]), torch.Size([1, 3, 4, 4]))
    """

    def __init__(self, V: int, D: int, n_heads: int, layers: int, d_ff: int, longest: int, causal: bool = False):
        super().__init__()
        self.causal = causal
        self.embedding = BertEmbedding(V, D, longest, dropout=0.0)
        self.embedding.apply(start_small)
        self.layers = nn.ModuleList(EncoderLayer(D, n_heads, d_ff, norm="post") for _ in range(layers))
        self.bias = nn.Parameter(torch.zeros(V))

    def forward(
        self, ids: Tensor, segments: Tensor | None = None, mask: Tensor | None = None
    ) -> tuple[Tensor, list[Tensor]]:
        """ids (B, T), mask (B, T) True where there is no pad -> scores (B, T, V), the weights (B, N, T, T) by layer."""
        x, seen = self.embedding(ids, torch.zeros_like(ids) if segments is None else segments), []  # (B, T, D)
        may = torch.ones_like(ids, dtype=torch.bool) if mask is None else mask
        may = may[:, None, None, :]  # (B, 1, 1, T)
        if self.causal:
            may = may & causal_mask(ids.shape[1])  # (B, 1, T, T)
        for layer in self.layers:
            x, weights = layer(x, may)
            seen.append(weights)
        return x @ self.embedding.tokens.T + self.bias, seen  # (B, T, V)
