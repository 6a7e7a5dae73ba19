"""Networks that read one sequence and write another, all with the same interface (chapter 6; 7 and 9 add theirs).

A translator has three methods. Training needs ``forward(src, lengths, y_in)`` -> scores (B, T, V). Writing needs
``start(src, lengths)`` -> (h0, c), the first state and what stays the same at every step, and ``step(y, h, c)`` ->
(scores (B, V), new state): just what the ``greedy`` of chapter 6 asks for.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from unrolled.attention import attention_weights, context
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

    def read(self, src: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """The states at every step (B, S, 2H), zeros at the pads; where they are real (B, S); the context (B, 2H)."""
        packed = pack_padded_sequence(self.embedding(src), lengths, batch_first=True, enforce_sorted=False)
        out, h = self.gru(packed)  # h: (2, B, H)
        states, _ = pad_packed_sequence(out, batch_first=True, total_length=src.shape[1])  # (B, S, 2H)
        real = torch.arange(src.shape[1]) < lengths[:, None]  # (B, S)
        return states, real, torch.cat([h[0], h[1]], dim=1)

    def forward(self, src: Tensor, lengths: Tensor) -> Tensor:
        return self.read(src, lengths)[2]  # (B, 2H)


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


class MapReader(nn.Module):
    """A picture (B, 16, 16) through two convolutions: C features at each of 4 by 4 places, row after row."""

    def __init__(self, C: int):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(1, C, 4, stride=2, padding=1), nn.ReLU(), nn.Conv2d(C, C, 4, stride=2, padding=1), nn.Tanh()
        )
        self.width = C

    def read(self, images: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """The features of all places (B, 16, C), all of them real (B, 16), and their mean (B, C)."""
        places = self.layers(images[:, None]).flatten(2).mT  # (B, C, 4, 4) -> (B, 16, C)
        return places, torch.ones(places.shape[:2], dtype=torch.bool), places.mean(dim=1)


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


@dataclass(frozen=True)
class Memory:
    """What a decoder with attention may look at: the same at every step."""

    h: Tensor  # (B, S, C) the states of the source
    mask: Tensor  # (B, S) bool, True at the real ones

    def __len__(self) -> int:  # the number of rows, as greedy asks it of a context
        return len(self.h)


class AttentionSeq2Seq(nn.Module):
    """A reader that keeps all its states, and a GRU that looks at them before every step (chapter 7).

    The equations are those of ``attn_decoder_step``, with any score, and with torch's GRU.

    Args:
        reader: a module with ``width``; reader.read(src, lengths) -> states (B, S, width), mask (B, S) bool, and
            c (B, width), from which the first state is made.
        score: a module: score(s (B, 1, H), h (B, S, width)) -> (B, 1, S).
        V: size of the target vocabulary.
        E: width of the target's embedding.
        H: width of the decoder's state, and of the readout.
    """

    def __init__(self, reader: nn.Module, score: nn.Module, V: int, E: int, H: int):
        super().__init__()
        self.reader, self.score = reader, score
        self.first = nn.Linear(reader.width, H)
        self.embedding = nn.Embedding(V, E)
        self.gru = nn.GRUCell(E + reader.width, H)
        self.readout = nn.Linear(H + reader.width, H, bias=False)
        self.output = nn.Linear(H, V)

    def start(self, src: Tensor, lengths: Tensor) -> tuple[Tensor, Memory]:
        h, mask, c = self.reader.read(src, lengths)
        return torch.tanh(self.first(c)), Memory(h, mask)

    def write(self, y_in: Tensor, s: Tensor, memory: Memory) -> tuple[Tensor, Tensor, Tensor]:
        """Scores (B, T, V) for the tokens after those of y_in (B, T), the last state (B, H), the weights (B, T, S)."""
        joined, looked = [], []
        for e in self.embedding(y_in).unbind(dim=1):  # (B, E)
            alpha = attention_weights(self.score(s[:, None], memory.h), memory.mask[:, None])  # (B, 1, S)
            c = context(alpha, memory.h)[:, 0]  # (B, C)
            s = self.gru(torch.cat([e, c], dim=1), s)
            joined.append(torch.cat([s, c], dim=1))
            looked.append(alpha)
        readout = torch.tanh(self.readout(torch.stack(joined, dim=1)))  # (B, T, H)
        return self.output(readout), s, torch.cat(looked, dim=1)

    def step(self, y: Tensor, s: Tensor, memory: Memory) -> tuple[Tensor, Tensor]:
        scores, s, _ = self.write(y[:, None], s, memory)
        return scores[:, 0], s

    def forward(self, src: Tensor, lengths: Tensor, y_in: Tensor) -> Tensor:
        return self.write(y_in, *self.start(src, lengths))[0]

    @torch.no_grad()
    def look(self, src: Tensor, lengths: Tensor, y_in: Tensor) -> Tensor:
        """Where it looks while it reads y_in (B, T): the weights (B, T, S); row t belongs to the token said at t."""
        return self.write(y_in, *self.start(src, lengths))[2]


@torch.no_grad()
def generate(model: nn.Module, src: Tensor, lengths: Tensor, max_len: int) -> list[list[int]]:
    """What a translator writes on its own for each source, without BOS and EOS."""
    rows = greedy(model.step, *model.start(src, lengths), BOS, EOS, PAD, max_len).tolist()
    return [[y for y in row if y not in (EOS, PAD)] for row in rows]
