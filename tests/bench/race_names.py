"""First names against makemore (A. Karpathy, 2022): its RNN, its GRU and its Transformer, 60 processor seconds each.

The settings are makemore's defaults: width 64; the Transformer has 4 layers with 4 heads, norms before, a feed-forward
layer four times as wide with GELU, learned positions and an output matrix of its own; RNN and GRU are one layer and
learn their first state. AdamW with a step size of 5e-4, weight decay 0.01 and betas 0.9 and 0.99, batches of 32 names
drawn with replacement, all padded to the longest name of the file, pads left out of the loss; 1,000 names are held out.
Written anew with torch's layers (makemore's own RNN and GRU are loops in Python, so these are faster); the names are
made into one table before the clock starts. Ours is one and the same LSTM in all three races.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial

import torch
import torch.nn.functional as F
from learning import Learner
from learning_names import UNIT, Recipe, V, learner, names, nats, padded
from race import Race
from torch import Tensor, nn

WIDTH, LAYERS, HEADS, BATCH, SECONDS = 64, 4, 4, 32, 60


class Recurrent(nn.Module):
    """Embedding, one recurrent layer with a learned first state, output: (B, T) -> (B, T, V)."""

    def __init__(self, layer: type[nn.RNN | nn.GRU]):
        super().__init__()
        self.start = nn.Parameter(torch.zeros(1, 1, WIDTH))
        self.embedding, self.output = nn.Embedding(V, WIDTH), nn.Linear(WIDTH, V)
        self.rnn = layer(WIDTH, WIDTH, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        start = self.start.expand(1, len(x), WIDTH).contiguous()
        return self.output(self.rnn(self.embedding(x), start)[0])


class Block(nn.Module):
    """x + attention(norm(x)), then x + feed-forward(norm(x)): (B, T, D) -> (B, T, D)."""

    def __init__(self):
        super().__init__()
        self.norm_1, self.norm_2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.feed = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(approximate="tanh"), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x: Tensor) -> Tensor:
        B, T, D = x.shape
        qkv = self.qkv(self.norm_1(x)).view(B, T, 3, HEADS, D // HEADS).permute(2, 0, 3, 1, 4)  # (3, B, N, T, K)
        heads = F.scaled_dot_product_attention(*qkv, is_causal=True)  # (B, N, T, K)
        x = x + self.out(heads.transpose(1, 2).reshape(B, T, D))
        return x + self.feed(self.norm_2(x))


class Transformer(nn.Module):
    """Characters and positions, blocks, a last norm, output: (B, T) -> (B, T, V)."""

    def __init__(self, T: int):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(V, WIDTH), nn.Embedding(T, WIDTH)
        self.blocks = nn.Sequential(*(Block() for _ in range(LAYERS)))
        self.last, self.output = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, V, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        h = self.tokens(x) + self.positions.weight[: x.shape[1]]
        return self.output(self.last(self.blocks(h)))


def makemore(model_of: Callable[[int], nn.Module], every: int, seed: int) -> Learner:
    """The peer with this model; ``model_of`` is given the number of steps of the longest name."""
    train, test = names()
    longest = max(map(len, train + test))
    x, y = padded(train, longest)
    model = model_of(x.shape[1])
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-4, weight_decay=0.01, betas=(0.9, 0.99), fused=True)
    generator = torch.Generator().manual_seed(seed)

    def updates() -> Iterator[None]:
        spent = 0.0
        while spent < SECONDS:
            start = time.process_time()
            rows = torch.randint(len(x), (BATCH,), generator=generator)
            loss = F.cross_entropy(model(x[rows]).flatten(0, 1), y[rows].flatten(), ignore_index=-1)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            spent += time.process_time() - start
            yield

    held_out = padded(test, longest)
    return Learner(updates(), lambda: nats(model, *held_out), every)


ours = partial(learner, Recipe())
RACES = [
    Race(f"names against makemore's {kind}", UNIT, f"makemore's {kind}", ours, partial(makemore, model, every), "")
    for kind, model, every in [
        ("RNN", lambda T: Recurrent(nn.RNN), 1000),
        ("GRU", lambda T: Recurrent(nn.GRU), 500),
        ("Transformer", Transformer, 300),
    ]
]
