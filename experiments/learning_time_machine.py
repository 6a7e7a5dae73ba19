"""The Time Machine, letter by letter: what a recurrent network learns from its first 10,032 characters in a second.

The task is that of Dive into Deep Learning (Zhang et al., 2nd edition, section 9.2 and chapters 9 and 10): everything
but letters becomes one space, and windows of 32 steps start at every character. The first 10,000 windows are to learn
from, the next 5,000 measure. All settings here were chosen on windows that neither side reads: those that start at
characters 15,064 to 20,063.

Counting does it even better and at once: an n-gram of order 6 (unrolled.ngram.KneserNey) from the same 10,032
characters has a perplexity of 4.91 on the same windows, order 3 has 6.59.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from learning import Change, Learner, leave_one_out, step_sizes, train
from torch import Tensor, nn

from unrolled.data import downloaded
from unrolled.dropout import Dropout
from unrolled.fast import speed_up
from unrolled.gated import GRU, LSTM
from unrolled.recurrent import RNN

TITLE, UNIT = "The Time Machine", "perplexity of a character"
T = 32  # steps of a window
TRAIN, VALIDATION = range(10_000), range(10_000, 15_000)  # where the windows start
LAYERS = {"rnn": RNN, "gru": GRU, "lstm": LSTM}


@dataclass(frozen=True)
class Recipe:
    kind: str = "lstm"
    E: int = 128  # width of an embedding
    H: int = 128  # width of the state
    batch: int = 16  # windows
    updates: int = 600
    lr: float = 1e-2  # the largest step size of Adam
    warmup: float = 0.05  # share of the updates
    falls: bool = True  # the step size, to zero
    drop_in: float = 0.3
    drop_out: float = 0.5
    fast: bool = True


OURS = {  # width and step size suit the kind
    "RNN": Recipe("rnn", H=256, updates=800, lr=2e-3, drop_in=0.4, drop_out=0.2),
    "GRU": Recipe("gru", updates=500, lr=5e-3, drop_out=0.3),
    "LSTM": Recipe("lstm"),
}


def letters() -> tuple[Tensor, int]:
    """The book as ids (N,), and the size of the alphabet; id 0 is the unknown character."""
    text = re.sub("[^A-Za-z]+", " ", downloaded("timemachine").read_text(encoding="utf-8")).lower()
    ids = {character: i for i, character in enumerate(["<unk>", *sorted(set(text))])}
    return torch.tensor([ids[character] for character in text]), len(ids)


def windows(ids: Tensor, starts: Tensor | range) -> tuple[Tensor, Tensor]:
    """The windows (B, T) that start at these characters, and what follows each of their characters, (B, T)."""
    w = ids[torch.as_tensor(starts)[:, None] + torch.arange(T + 1)]  # (B, T + 1)
    return w[:, :-1], w[:, 1:]


@torch.no_grad()
def perplexity(model: nn.Module, x: Tensor, y: Tensor) -> float:
    """Of the characters y (B, T), each predicted from those before it in its window alone."""
    model.eval()
    parts = zip(x.split(200), y.split(200), strict=True)  # so many fit into the processor's cache
    nats = sum(F.cross_entropy(model(x).flatten(0, 1), y.flatten(), reduction="sum").item() for x, y in parts)
    model.train()
    return math.exp(nats / y.numel())


class Model(nn.Module):
    """Embedding, one recurrent layer of the book, output, with dropout between them: (B, T) -> (B, T, V)."""

    def __init__(self, V: int, recipe: Recipe):
        super().__init__()
        self.embedding, self.output = nn.Embedding(V, recipe.E), nn.Linear(recipe.H, V)
        self.rnn = LAYERS[recipe.kind](recipe.E, recipe.H)
        self.drop_in, self.drop_out = Dropout(recipe.drop_in), Dropout(recipe.drop_out)

    def forward(self, x: Tensor) -> Tensor:
        h = self.rnn(self.drop_in(self.embedding(x)))  # (B, T, H)
        return self.output(self.drop_out(h))  # (B, T, V)


def starts(generator: torch.Generator) -> Tensor:
    """Where the windows of one epoch start, in random order: they do not overlap, and are cut elsewhere every time."""
    first = int(torch.randint(T, (), generator=generator))
    return first + T * torch.randperm((len(TRAIN) - 1 - first) // T + 1, generator=generator)


def learner(recipe: Recipe, seed: int) -> Learner:
    ids, V = letters()
    model = Model(V, recipe)
    if recipe.fast:
        speed_up(model)
    optimizer = torch.optim.Adam(model.parameters(), fused=True)
    generator = torch.Generator().manual_seed(seed)

    def losses() -> Iterator[Tensor]:
        while True:
            for rows in starts(generator).split(recipe.batch):
                x, y = windows(ids, rows)
                yield F.cross_entropy(model(x).flatten(0, 1), y.flatten())

    n = recipe.updates
    step_size = step_sizes(recipe.lr, int(recipe.warmup * n), n, recipe.falls)
    updates = train(losses(), [optimizer], n, step_size, clipped=[*model.parameters()])
    held_out = windows(ids, VALIDATION)
    return Learner(updates, lambda: perplexity(model, *held_out), every=-(-n // 12))


CHANGES = {
    "batches of 256 windows": Change(
        {"batch": 256, "updates": 90},
        "The 10,000 windows overlap: they hold only 10,032 characters. A large batch repeats itself, so we take 16 "
        "windows at a time and make many more updates in the same seconds. Here the same seconds go to large batches.",
    ),
    "without dropout": Change(
        {"drop_in": 0.0, "drop_out": 0.0},
        "There is little text and many weights. [Dropout](../chapters/09_transformer/transformer.ipynb) of characters' "
        "features and of states keeps the network from learning the text by heart.",
    ),
    "without the falling step size": Change(
        {"falls": False},
        "Large steps learn fast, small ones settle the weights at the end: the step size "
        "[falls to zero along a line](../chapters/12_bert_pretraining/bert_pretraining.ipynb).",
    ),
    "with 32 units": Change(
        {"H": 32},
        "A state four times as wide as d2l's takes little more than twice the time of an update, and with dropout its "
        "many weights do no harm.",
    ),
    "without the fast path": Change(
        {"fast": False},
        "The same numbers, with the time loop of [chapter 4](../chapters/04_lstm_gru/lstm_gru.ipynb) left to autograd.",
    ),
}


def main() -> None:
    leave_one_out("learning_time_machine", UNIT, learner, Recipe(), CHANGES)


if __name__ == "__main__":
    main()
