"""Self-attention in the place of a recurrent layer: a tag for every word, or a label for the whole text (chapter 8).

Both take a padded batch as the networks of ``unrolled.tagging`` do: ids (B, T), lengths (B,), mask (B, T).
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from unrolled.pooling import masked_mean
from unrolled.self_attention import MultiHeadAttention


class AttentionEncoder(nn.Module):
    """Word vectors, learned positions, one attention layer, added to what it read: (B, T) ids -> (B, T, D).

    Args:
        V: size of the vocabulary.
        T: the longest text.
        E: width of the word vectors and of the positions.
        D: width of the layer; a matrix leads from E to D.
        n_heads: number of heads; it divides D.
        positions: whether the vector of its place is added to each word.
        think: whether a feed-forward network of width 4 D works on each step after the attention.
    """

    def __init__(self, V: int, T: int, E: int, D: int, n_heads: int, *, positions: bool = True, think: bool = False):
        super().__init__()
        self.embedding = nn.Embedding(V, E)
        self.positions = nn.Embedding(T, E) if positions else None
        self.widen, self.attention = nn.Linear(E, D), MultiHeadAttention(D, n_heads)
        self.think = nn.Sequential(nn.Linear(D, 4 * D), nn.ReLU(), nn.Linear(4 * D, D)) if think else None

    def inputs(self, ids: Tensor) -> Tensor:
        """What the attention reads: (B, T, D)."""
        e = self.embedding(ids)  # (B, T, E)
        if self.positions is not None:
            e = e + self.positions(torch.arange(ids.shape[1]))
        return self.widen(e)

    def weights(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Who looks at whom: (B, N, T, T)."""
        x = self.inputs(ids)
        return self.attention(x, x, mask[:, None, None, :])[1]

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        x = self.inputs(ids)  # (B, T, D)
        x = x + self.attention(x, x, mask[:, None, None, :])[0]
        return x if self.think is None else x + self.think(x)


class AttentionTagger(nn.Module):
    """A tag for every word: ids (B, T) -> scores (B, T, Y)."""

    def __init__(self, V: int, T: int, E: int, D: int, n_heads: int, Y: int, **options):
        super().__init__()
        self.encoder, self.output = AttentionEncoder(V, T, E, D, n_heads, **options), nn.Linear(D, Y)

    def forward(self, ids: Tensor, lengths: Tensor, mask: Tensor) -> Tensor:
        return self.output(self.encoder(ids, mask))


class AttentionClassifier(AttentionTagger):
    """A label for the whole text, from the mean over its real words: ids (B, T) -> scores (B, Y)."""

    def forward(self, ids: Tensor, lengths: Tensor, mask: Tensor) -> Tensor:
        return self.output(masked_mean(self.encoder(ids, mask), mask))
