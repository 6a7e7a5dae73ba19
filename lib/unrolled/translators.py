"""Networks that read one sequence and write another, all with the same interface (chapter 6; 7 and 9 add theirs).

A translator has three methods. Training needs ``forward(src, lengths, y_in)`` -> scores (B, T, V). Writing needs
``start(src, lengths)`` -> (h0, c), the first state and what stays the same at every step, and ``step(y, h, c)`` ->
(scores (B, V), new state): just what the ``greedy`` of chapter 6 asks for.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence

from unrolled.seq2seq import greedy

PAD, UNK, BOS, EOS = 0, 1, 2, 3  # ids on the target side: Vocabulary(..., special=SPECIAL)
SPECIAL = ("<s>", "</s>")


class RecurrentReader(nn.Module):
    """Two GRUs, from both ends; the context is the state of each when it has read everything (equation of 6.2)."""

    def __init__(self, V: int, E: int, H: int):
        super().__init__()
        self.embedding = nn.Embedding(V, E)
        self.gru = nn.GRU(E, H, bidirectional=True, batch_first=True)
        self.width = 2 * H

    def forward(self, src: Tensor, lengths: Tensor) -> Tensor:
        packed = pack_padded_sequence(self.embedding(src), lengths, batch_first=True, enforce_sorted=False)
        _, h = self.gru(packed)  # (2, B, H)
        return torch.cat([h[0], h[1]], dim=1)  # (B, 2H)


class ConvReader(nn.Module):
    """A convolution of width k over the source; of every filter the largest response over time."""

    def __init__(self, V: int, E: int, C: int, k: int = 5):
        super().__init__()
        self.embedding = nn.Embedding(V, E)
        self.conv = nn.Conv1d(E, C, k, padding=k // 2)
        self.width = C

    def forward(self, src: Tensor, lengths: Tensor) -> Tensor:
        real = torch.arange(src.shape[1]) < lengths[:, None]  # (B, S)
        e = self.embedding(src) * real[..., None]  # (B, S, E), zeros at the pads
        y = torch.relu(self.conv(e.transpose(1, 2)))  # (B, C, S)
        return (y * real[:, None]).amax(dim=2)  # (B, C)


class ImageReader(nn.Module):
    """A picture of P pixels through one hidden layer."""

    def __init__(self, P: int, C: int):
        super().__init__()
        self.layers = nn.Sequential(nn.Flatten(), nn.Linear(P, C), nn.ReLU(), nn.Linear(C, C), nn.Tanh())
        self.width = C

    def forward(self, images: Tensor, lengths: Tensor) -> Tensor:
        return self.layers(images)  # (B, C)


class Seq2Seq(nn.Module):
    """Any reader that gives one context vector, and a GRU that writes.

    Args:
        reader: a module with ``width``; reader(src, lengths) -> c (B, width).
        V: size of the target vocabulary.
        E: width of the target's embedding.
        H: width of the decoder's state.
        every_step: does the decoder read c at every step, or does it only begin with it?
    """

    def __init__(self, reader: nn.Module, V: int, E: int, H: int, every_step: bool = True):
        super().__init__()
        self.reader, self.every_step = reader, every_step
        self.first = nn.Linear(reader.width, H)  # c and h0 may differ in width
        self.embedding = nn.Embedding(V, E)
        self.gru = nn.GRU(E + reader.width * every_step, H, batch_first=True)
        self.output = nn.Linear(H, V)

    def start(self, src: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        c = self.reader(src, lengths)
        return torch.tanh(self.first(c)), c  # (B, H), (B, C)

    def write(self, y_in: Tensor, h: Tensor, c: Tensor) -> tuple[Tensor, Tensor]:
        """Scores (B, T, V) for the tokens after those of y_in (B, T), and the last state (B, H)."""
        x = self.embedding(y_in)  # (B, T, E)
        if self.every_step:
            x = torch.cat([x, c[:, None].expand(-1, x.shape[1], -1)], dim=2)  # (B, T, E + C)
        hs, h = self.gru(x, h[None])
        return self.output(hs), h[0]

    def step(self, y: Tensor, h: Tensor, c: Tensor) -> tuple[Tensor, Tensor]:
        scores, h = self.write(y[:, None], h, c)
        return scores[:, 0], h

    def forward(self, src: Tensor, lengths: Tensor, y_in: Tensor) -> Tensor:
        return self.write(y_in, *self.start(src, lengths))[0]


@torch.no_grad()
def generate(model: nn.Module, src: Tensor, lengths: Tensor, max_len: int) -> list[list[int]]:
    """What a translator writes on its own for each source, without BOS and EOS."""
    rows = greedy(model.step, *model.start(src, lengths), BOS, EOS, PAD, max_len).tolist()
    return [[y for y in row if y not in (EOS, PAD)] for row in rows]
