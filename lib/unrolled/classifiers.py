"""Four ways to label a sentence: all at once, as a bag, through a filter, word by word (chapter 1).

Each takes a padded batch (ids (B, T), lengths (B,), mask (B, T)) and returns scores (B, 2).
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from unrolled.convolution import causal_conv1d
from unrolled.recurrent import RNNParams, rnn_forward
from unrolled.training import train

Batch = tuple[Tensor, Tensor, Tensor]  # ids (B, T), lengths (B,), mask (B, T)


class FCNNClassifier(nn.Module):
    """Fully connected: every word of every position has its own weights, so the sentence must be exactly T long."""

    def __init__(self, V: int, E: int, H: int, T: int):
        super().__init__()
        self.T, self.embedding = T, nn.Embedding(V, E)
        self.hidden, self.output = nn.Linear(T * E, H), nn.Linear(H, 2)

    def forward(self, ids: Tensor, lengths: Tensor, mask: Tensor) -> Tensor:
        ids = nn.functional.pad(ids * mask, (0, self.T - ids.shape[1]))  # (B, T): cut or filled with id 0, the pad
        e = self.embedding(ids).flatten(1)  # (B, T*E)
        return self.output(torch.relu(self.hidden(e)))  # (B, 2)


class BagClassifier(nn.Module):
    """The mean of the word vectors: no order at all."""

    def __init__(self, V: int, E: int):
        super().__init__()
        self.embedding, self.output = nn.Embedding(V, E), nn.Linear(E, 2)

    def forward(self, ids: Tensor, lengths: Tensor, mask: Tensor) -> Tensor:
        e = self.embedding(ids) * mask[..., None]  # (B, T, E)
        return self.output(e.sum(1) / lengths[:, None])  # (B, 2)


class ConvClassifier(nn.Module):
    """One filter of width k slid along the sentence; the best match anywhere decides (max over time)."""

    def __init__(self, V: int, E: int, H: int, k: int = 3, conv: Callable = causal_conv1d):
        super().__init__()
        self.embedding, self.output, self.conv = nn.Embedding(V, E), nn.Linear(H, 2), conv
        self.W = nn.Parameter(torch.randn(k, E, H) * (k * E) ** -0.5)
        self.b = nn.Parameter(torch.zeros(H))

    def forward(self, ids: Tensor, lengths: Tensor, mask: Tensor) -> Tensor:
        y = torch.relu(self.conv(self.embedding(ids), self.W, self.b))  # (B, T, H)
        return self.output((y * mask[..., None]).amax(1))  # (B, 2)


class RNNClassifier(nn.Module):
    """Word by word; the state after the last real word decides."""

    def __init__(self, V: int, E: int, H: int, forward: Callable = rnn_forward):
        super().__init__()
        self.embedding, self.output, self.run = nn.Embedding(V, E), nn.Linear(H, 2), forward
        self.W_xh = nn.Parameter(torch.randn(H, E) * E**-0.5)
        self.W_hh = nn.Parameter(torch.empty(H, H))
        nn.init.orthogonal_(self.W_hh)
        self.b = nn.Parameter(torch.zeros(H))

    def states(self, e: Tensor) -> Tensor:
        """(B, T, E) word vectors -> (B, T, H) states, from a state of zeros."""
        return self.run(e, e.new_zeros(len(e), len(self.b)), RNNParams(self.W_xh, self.W_hh, self.b))

    def forward(self, ids: Tensor, lengths: Tensor, mask: Tensor) -> Tensor:
        hs = self.states(self.embedding(ids))  # (B, T, H)
        return self.output(hs[torch.arange(len(ids)), lengths - 1])  # (B, 2)


def rows_of(batch: Batch, rows: Tensor) -> Batch:
    """Some rows of a padded batch, cut to the longest of them."""
    ids, lengths, mask = (part[rows] for part in batch)
    T = int(lengths.max())
    return ids[:, :T], lengths, mask[:, :T]


def fit(model: nn.Module, batch: Batch, labels: Tensor, epochs: int, seed: int, **options) -> list[float]:
    """Train what is not frozen in the model; return the loss at every step."""
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    loss = lambda rows: nn.functional.cross_entropy(model(*rows_of(batch, rows)), labels[rows])  # noqa: E731
    return train(parameters, loss, len(labels), epochs=epochs, seed=seed, **options)


@torch.no_grad()
def accuracy(model: nn.Module, batch: Batch, labels: Tensor) -> float:
    """The share of sentences whose higher score is the right one."""
    return (model(*batch).argmax(-1) == labels).double().mean().item()
