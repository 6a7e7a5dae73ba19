"""First names, letter by letter: what a recurrent network learns about 31,033 names in a second.

The names are those of makemore (A. Karpathy, 2022): 32,033 first names, shuffled once, the last 1,000 to measure. The
error is the mean surprise in nats of a predicted character, the end of the name among them. All settings here were
chosen with 1,000 of the names to learn from held out instead; the 1,000 that measure were not looked at.

Counts (unrolled.ngram.KneserNey) of the same names have an error of 1.975 at order 5 and 2.047 at order 4.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from learning import Change, Learner, leave_one_out, step_sizes, train
from torch import Tensor, nn

from unrolled.data import downloaded
from unrolled.fast import speed_up
from unrolled.gated import GRU, LSTM
from unrolled.recurrent import RNN
from unrolled.training import minibatches

TITLE, UNIT = "First names", "nats per character"
V, END, NONE = 27, 0, -1  # a to z after the end, which is the start, too; no target
TEST = 1_000
LAYERS = {"rnn": RNN, "gru": GRU, "lstm": LSTM}


@dataclass(frozen=True)
class Recipe:
    kind: str = "lstm"
    E: int = 32  # width of an embedding
    H: int = 128  # width of the state
    steps: int = 512  # of a batch: letters and ends to predict
    bucketed: bool = True  # the names of a batch are of one length
    epochs: int = 6
    lr: float = 1e-2  # the largest step size of AdamW
    decay: float = 0.01  # of the weights
    warmup: float = 0.05  # share of the updates
    falls: bool = True  # the step size, to zero
    fast: bool = True


def names() -> tuple[list[list[int]], list[list[int]]]:
    """The names to learn from and those to measure, as ids without their end."""
    lines = downloaded("makemore-names").read_text(encoding="utf-8").split()
    order = torch.randperm(len(lines), generator=torch.Generator().manual_seed(0)).tolist()
    ids = [[ord(letter) - ord("a") + 1 for letter in lines[i]] for i in order]
    return ids[:-TEST], ids[-TEST:]


def padded(ids: list[list[int]], longest: int) -> tuple[Tensor, Tensor]:
    """Names as rows, behind their start, and for every step the next letter: (B, T) each, T = longest + 1.

    >>> padded([[5], [1, 2]], longest=2)
    (tensor([[0, 5, 0],
            [0, 1, 2]]), tensor([[ 5,  0, -1],
            [ 1,  2,  0]]))
    """
    x = torch.tensor([[END, *name] + [END] * (longest - len(name)) for name in ids])
    y = torch.tensor([[*name, END] + [NONE] * (longest - len(name)) for name in ids])
    return x, y


@torch.no_grad()
def nats(model: nn.Module, x: Tensor, y: Tensor) -> float:
    """The mean surprise of all targets y (B, T)."""
    model.eval()
    loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten(), ignore_index=NONE).item()
    model.train()
    return loss


class Model(nn.Module):
    """Embedding, one recurrent layer of the book, output: (B, T) -> (B, T, V)."""

    def __init__(self, recipe: Recipe):
        super().__init__()
        self.embedding, self.output = nn.Embedding(V, recipe.E), nn.Linear(recipe.H, V)
        self.rnn = LAYERS[recipe.kind](recipe.E, recipe.H)

    def forward(self, x: Tensor) -> Tensor:
        return self.output(self.rnn(self.embedding(x)))  # (B, T, E) -> (B, T, H) -> (B, T, V)


class Batches:
    """The names to learn from, an epoch at a time, in batches of about as many steps each."""

    def __init__(self, ids: list[list[int]], recipe: Recipe, generator: torch.Generator):
        self.steps, self.generator = recipe.steps, generator
        longest = max(map(len, ids))
        self.tables = [padded(ids, longest)]
        if recipe.bucketed:
            same = [[name for name in ids if len(name) == n] for n in range(1, longest + 1)]
            self.tables = [padded(group, n) for n, group in enumerate(same, start=1) if group]

    def epoch(self) -> list[tuple[Tensor, Tensor]]:
        batches = []
        for x, y in self.tables:
            size = max(1, self.steps // x.shape[1])  # names
            batches += [(x[rows], y[rows]) for rows in minibatches(len(x), size, self.generator)]
        return [batches[i] for i in torch.randperm(len(batches), generator=self.generator)]


def learner(recipe: Recipe, seed: int) -> Learner:
    known, test = names()
    model = Model(recipe)
    if recipe.fast:
        speed_up(model)
    optimizer = torch.optim.AdamW(model.parameters(), betas=(0.9, 0.99), weight_decay=recipe.decay, fused=True)
    batches = Batches(known, recipe, torch.Generator().manual_seed(seed))
    n = recipe.epochs * len(batches.epoch())  # updates

    def losses() -> Iterator[Tensor]:
        while True:
            for x, y in batches.epoch():
                yield F.cross_entropy(model(x).flatten(0, 1), y.flatten(), ignore_index=NONE)

    step_size = step_sizes(recipe.lr, round(recipe.warmup * n), n, recipe.falls)
    updates = train(losses(), [optimizer], n, step_size, clipped=[*model.parameters()])
    held_out = padded(test, max(map(len, test)))
    return Learner(updates, lambda: nats(model, *held_out), every=-(-n // 20))


CHANGES = {
    "without buckets": Change(
        {"bucketed": False},
        "The longest name has 15 letters, the usual one six: in a table padded to the longest, more than half of all "
        "steps are [pads](../chapters/01_recurrence/recurrence.ipynb). Batches of names of one length have none.",
    ),
    "without the falling step size": Change(
        {"falls": False},
        "Large steps learn fast, small ones settle the weights at the end: the step size "
        "[falls to zero along a line](../chapters/12_bert_pretraining/bert_pretraining.ipynb).",
    ),
    "with small steps": Change(
        {"lr": 5e-4},
        "A step size twenty times that of makemore is no danger where gradients are "
        "[clipped](../chapters/02_bptt/bptt.ipynb) and steps get smaller at the end.",
    ),
    "without gates": Change(
        {"kind": "rnn"},
        "The LSTM's [cell](../chapters/04_lstm_gru/lstm_gru.ipynb) keeps what the first letters said until the last.",
    ),
    "without the fast path": Change(
        {"fast": False},
        "The same numbers, with the time loop of [chapter 4](../chapters/04_lstm_gru/lstm_gru.ipynb) left to autograd.",
    ),
}


def main() -> None:
    leave_one_out("learning_names", UNIT, learner, Recipe(), CHANGES)


if __name__ == "__main__":
    main()
