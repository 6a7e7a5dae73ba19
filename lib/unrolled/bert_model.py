"""BERT as a network: embeddings, a stack of encoder layers with the norm after, a pooler, two heads (chapter 12).

The sizes, the order of the operations and the norm's eps are those of the published models, so that their weights can
be put into this one.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from unrolled.bert import EPS, BertEmbedParams, bert_embed
from unrolled.dropout import Dropout
from unrolled.normalisation import layer_norm
from unrolled.self_attention import MultiHeadAttention, merge_heads, scaled_dot_product_attention, split_heads

SPREAD = 0.02  # of all weights at the start; a narrow model needs more (chapter 12)


class BertOutput(NamedTuple):
    """What BERT makes of a batch."""

    states: Tensor  # (B, T, D) of the last layer
    pooled: Tensor  # (B, D) made of the state of [CLS]
    hidden: list[Tensor] | None  # (B, T, D) the embedding, then the states of every layer
    weights: list[Tensor] | None  # (B, N, T, T) who looks at whom, in every layer


class BertNorm(nn.Module):
    """A layer with the parameters of ``layer_norm`` and BERT's eps: at first g = 1 and b = 0."""

    def __init__(self, D: int):
        super().__init__()
        self.g, self.b = nn.Parameter(torch.ones(D)), nn.Parameter(torch.zeros(D))

    def forward(self, x: Tensor) -> Tensor:
        return layer_norm(x, self.g, self.b, EPS)


class BertEmbedding(nn.Module):
    """The tables of ``bert_embed``, with dropout after it."""

    def __init__(self, V: int, D: int, longest: int, dropout: float):
        super().__init__()
        self.tokens, self.segments = nn.Parameter(torch.empty(V, D)), nn.Parameter(torch.empty(2, D))
        self.positions, self.norm = nn.Parameter(torch.empty(longest, D)), BertNorm(D)
        self.drop = Dropout(dropout)

    @property
    def params(self) -> BertEmbedParams:
        return BertEmbedParams(self.tokens, self.segments, self.positions, self.norm.g, self.norm.b)

    def forward(self, ids: Tensor, segments: Tensor) -> Tensor:
        if ids.shape[1] > len(self.positions):
            raise ValueError(f"{ids.shape[1]} steps, but there are positions for only {len(self.positions)}.")
        return self.drop(bert_embed(ids, segments, self.params))


class BertLayer(nn.Module):
    """The encoder layer of chapter 9 with the norm after, GELU, and dropout on the attention's weights too."""

    def __init__(self, D: int, n_heads: int, d_ff: int, dropout: float):
        super().__init__()
        self.attention, self.drop = MultiHeadAttention(D, n_heads), Dropout(dropout)
        self.wide, self.back = nn.Linear(D, d_ff), nn.Linear(d_ff, D)
        self.norm_1, self.norm_2 = BertNorm(D), BertNorm(D)

    def attend(self, x: Tensor, mask: Tensor | None, look: bool) -> tuple[Tensor, Tensor | None]:
        """The attention of x (B, T, D) with itself; its weights only if asked for: without them torch is faster."""
        at = self.attention
        q, k, v = (split_heads(project(x), at.n_heads) for project in (at.q, at.k, at.v))  # (B, N, T, K)
        if look:
            found, weights = scaled_dot_product_attention(q, k, v, mask)
            if self.training and self.drop.p > 0:
                found = self.drop(weights) @ v
        else:
            p = self.drop.p if self.training else 0.0
            found, weights = F.scaled_dot_product_attention(q, k, v, mask, dropout_p=p), None
        return at.o(merge_heads(found)), weights  # (B, T, D)

    def forward(self, x: Tensor, mask: Tensor | None = None, look: bool = False) -> tuple[Tensor, Tensor | None]:
        """x (B, T, D), mask True = may attend -> (B, T, D) and the weights (B, N, T, T), or None."""
        found, weights = self.attend(x, mask, look)
        a = self.norm_1(x + self.drop(found))  # eq-post-norm of chapter 9
        return self.norm_2(a + self.drop(self.back(F.gelu(self.wide(a))))), weights


def start_small(module: nn.Module, spread: float = SPREAD) -> None:
    """Normal numbers of this spread in all tables and matrices, zeros in all biases; the norms stay as they are."""
    if isinstance(module, nn.Linear):
        nn.init.normal_(module.weight, std=spread)
        nn.init.zeros_(module.bias)
    elif isinstance(module, BertEmbedding):
        for table in (module.tokens, module.segments, module.positions):
            nn.init.normal_(table, std=spread)


class Bert(nn.Module):
    """An encoder that reads in both directions.

    Args:
        V: size of the vocabulary.
        D: width of the model.
        n_heads: number of heads; it divides D.
        layers: number of layers.
        d_ff: width of the hidden layer in the feed-forward networks.
        longest: the most steps.
        dropout: the probability that a feature, or a weight of the attention, is dropped in training.
        spread: of all weights at the start.

    >>> model = Bert(V=50, D=12, n_heads=3, layers=2, d_ff=24, longest=16)
    >>> out = model(torch.tensor([[2, 11, 12, 3]]), look=True)
    >>> out.states.shape, out.pooled.shape, len(out.hidden), out.weights[0].shape
    (torch.Size([1, 4, 12]), torch.Size([1, 12]), 3, torch.Size([1, 3, 4, 4]))
    """

    def __init__(
        self,
        V: int,
        D: int,
        n_heads: int,
        layers: int,
        d_ff: int,
        *,
        longest: int = 512,
        dropout: float = 0.1,
        spread: float = SPREAD,
    ):
        super().__init__()
        self.embedding = BertEmbedding(V, D, longest, dropout)
        self.layers = nn.ModuleList(BertLayer(D, n_heads, d_ff, dropout) for _ in range(layers))
        self.pooler = nn.Linear(D, D)
        self.apply(partial(start_small, spread=spread))

    def forward(
        self, ids: Tensor, segments: Tensor | None = None, mask: Tensor | None = None, *, look: bool = False
    ) -> BertOutput:
        """Read a batch.

        Args:
            ids: (B, T) int64.
            segments: (B, T) int64, 0 or 1; None: all 0.
            mask: (B, T) bool, True where there is no pad; or (B, T, T), True where step t may attend to step s, for
                instance only to those before it; None: no pads.
            look: True: also return the states of every layer and the weights of its attention.
        """
        if segments is None:
            segments = torch.zeros_like(ids)
        if mask is not None:
            mask = mask[:, None, None, :] if mask.ndim == 2 else mask[:, None]  # (B, 1, 1 or T, T)
        x = self.embedding(ids, segments)
        hidden, seen = [x], []
        for layer in self.layers:
            x, weights = layer(x, mask, look)
            hidden.append(x)
            seen.append(weights)
        pooled = torch.tanh(self.pooler(x[:, 0]))  # (B, D)
        return BertOutput(x, pooled, hidden if look else None, seen if look else None)


class BertForPretraining(nn.Module):
    """BERT with its two heads: which word was here, and does the second sentence follow the first?

    Args:
        V, D, n_heads, layers, d_ff, spread, options: as in ``Bert``.

    >>> model = BertForPretraining(V=50, D=12, n_heads=3, layers=2, d_ff=24, longest=16)
    >>> words, follows = model(torch.tensor([[2, 11, 4, 3]]))
    >>> words.shape, follows.shape
    (torch.Size([1, 4, 50]), torch.Size([1, 2]))
    """

    def __init__(self, V: int, D: int, n_heads: int, layers: int, d_ff: int, *, spread: float = SPREAD, **options):
        super().__init__()
        self.bert = Bert(V, D, n_heads, layers, d_ff, spread=spread, **options)
        self.transform, self.norm = nn.Linear(D, D), BertNorm(D)
        self.bias = nn.Parameter(torch.zeros(V))
        self.follows = nn.Linear(D, 2)  # column 0: it does not follow, column 1: it does
        start_small(self.transform, spread)
        start_small(self.follows, spread)

    def word_scores(self, states: Tensor) -> Tensor:
        """States (..., D) -> scores (..., V); the matrix is the table of tokens, turned round."""
        x = self.norm(F.gelu(self.transform(states)))
        return x @ self.bert.embedding.tokens.T + self.bias  # (..., D) @ (D, V) -> (..., V)

    def forward(self, ids: Tensor, segments: Tensor | None = None, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """The scores of all words at every step (B, T, V), and of "no" and "yes, b follows a" (B, 2)."""
        out = self.bert(ids, segments, mask)
        return self.word_scores(out.states), self.follows(out.pooled)
