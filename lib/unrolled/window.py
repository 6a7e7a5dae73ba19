"""The sliding-window network: predict the next word from the last n, all at once (chapter 1)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from unrolled.ngram import ngrams


def windows_of(sentences: list[list[int]], n: int) -> tuple[Tensor, Tensor]:
    """Cut sentences into (n words, the word after them); the places before the first word are pads (id 0).

    >>> x, y = windows_of([[7, 8, 9]], n=2)
    >>> x.tolist(), y.tolist()
    ([[0, 0], [0, 7], [7, 8]], [7, 8, 9])
    """
    pairs = [pair for sentence in sentences for pair in ngrams(sentence, n + 1)]
    return torch.tensor([context for context, _ in pairs]), torch.tensor([word for _, word in pairs])


class WindowModel(nn.Module):
    """Bengio et al. 2003: the vectors of n words side by side, one hidden layer, scores for the next word."""

    def __init__(self, V: int, E: int, H: int, n: int):
        super().__init__()
        self.embedding, self.hidden, self.output = nn.Embedding(V, E), nn.Linear(n * E, H), nn.Linear(H, V)

    def forward(self, x: Tensor) -> Tensor:
        e = self.embedding(x).flatten(1)  # (B, n) -> (B, n*E)
        return self.output(torch.tanh(self.hidden(e)))  # (B, V)
