"""A tag for every word, or a label for the whole text, with torch's recurrent layers (chapter 5).

Both read a padded batch as chapter 1's classifiers do: ids (B, T), lengths (B,), mask (B, T).
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from unrolled.pooling import bi_summary, masked_mean

LAYERS = {"rnn": nn.RNN, "lstm": nn.LSTM, "gru": nn.GRU}


class Encoder(nn.Module):
    """Word vectors and a recurrent layer: a state for every real word, zeros at the pads.

    Args:
        kind: "rnn", "lstm" or "gru".
        V: size of the vocabulary.
        E: width of the word vectors.
        H: width of the state, in each direction.
        layers: how many layers lie on top of each other.
        both: whether a second network reads from the end.
    """

    def __init__(self, kind: str, V: int, E: int, H: int, layers: int = 1, both: bool = False):
        super().__init__()
        self.embedding = nn.Embedding(V, E)
        self.layer = LAYERS[kind](E, H, num_layers=layers, bidirectional=both, batch_first=True)
        self.width = 2 * H if both else H

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        packed = pack_padded_sequence(self.embedding(ids), lengths, batch_first=True, enforce_sorted=False)
        out, _ = self.layer(packed)
        return pad_packed_sequence(out, batch_first=True, total_length=ids.shape[1])[0]  # (B, T, width)


class Tagger(nn.Module):
    """A tag for every word: ids (B, T) -> scores (B, T, Y)."""

    def __init__(self, kind: str, V: int, E: int, H: int, Y: int, layers: int = 1, both: bool = False):
        super().__init__()
        self.encoder = Encoder(kind, V, E, H, layers, both)
        self.output = nn.Linear(self.encoder.width, Y)

    def forward(self, ids: Tensor, lengths: Tensor, mask: Tensor) -> Tensor:
        return self.output(self.encoder(ids, lengths))


class SequenceClassifier(nn.Module):
    """A label for the whole text: ids (B, T) -> scores (B, Y), from one vector that sums the states up.

    pool: "last", the state at the last real word (both directions of it); "ends", where each reader has read
        everything (bidirectional only); "mean", the mean over all real words.
    """

    def __init__(
        self, kind: str, V: int, E: int, H: int, Y: int, layers: int = 1, both: bool = False, pool: str = "last"
    ):
        super().__init__()
        if pool not in ("last", "ends", "mean") or (pool == "ends" and not both):
            raise ValueError(f"pool={pool!r}, both={both}: choose last, mean, or ends of a bidirectional network.")
        self.encoder, self.pool = Encoder(kind, V, E, H, layers, both), pool
        self.output = nn.Linear(self.encoder.width, Y)

    def forward(self, ids: Tensor, lengths: Tensor, mask: Tensor) -> Tensor:
        h = self.encoder(ids, lengths)  # (B, T, width)
        if self.pool == "mean":
            return self.output(masked_mean(h, mask))
        if self.pool == "ends":
            return self.output(bi_summary(h, lengths))
        return self.output(h[torch.arange(len(h)), lengths - 1])
