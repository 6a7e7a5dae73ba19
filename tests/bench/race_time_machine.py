"""The Time Machine against the RNN, the GRU and the LSTM of Dive into Deep Learning.

Settings of the second edition (Zhang, Lipton, Li, Smola; sections 9.5, 9.6, 10.1 and 10.2): one-hot characters, one
layer of 32 units, torch's own initialisation, windows of 32 steps that start at every character, the first 10,000 to
learn from in batches of 1,024, the next 5,000 to measure; SGD with a step size of 1 (RNN) or 4 (GRU and LSTM),
gradients clipped to norm 1; 100 epochs for the RNN, 50 for the others. Written anew with torch's layers; the windows
are cut before the clock starts. Ours is a network of the same kind.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import torch
import torch.nn.functional as F
from learning import Learner, train
from learning_time_machine import OURS, TRAIN, UNIT, VALIDATION, learner, letters, perplexity, windows
from race import Race
from torch import Tensor, nn

from unrolled.training import minibatches

HIDDEN, BATCH = 32, 1024
LAYERS = {"RNN": nn.RNN, "GRU": nn.GRU, "LSTM": nn.LSTM}
LR = {"RNN": 1.0, "GRU": 4.0, "LSTM": 4.0}
EPOCHS = {"RNN": 100, "GRU": 50, "LSTM": 50}


class PeerModel(nn.Module):
    """One-hot characters, one recurrent layer, a linear output: (B, T) -> (B, T, V)."""

    def __init__(self, V: int, kind: str):
        super().__init__()
        self.V = V
        self.rnn, self.output = LAYERS[kind](V, HIDDEN, batch_first=True), nn.Linear(HIDDEN, V)

    def forward(self, x: Tensor) -> Tensor:
        return self.output(self.rnn(F.one_hot(x, self.V).float())[0])


def d2l(kind: str, seed: int) -> Learner:
    """The peer of this kind."""
    ids, V = letters()
    x, y = windows(ids, TRAIN)
    model = PeerModel(V, kind)
    optimizer = torch.optim.SGD(model.parameters())
    generator = torch.Generator().manual_seed(seed)

    def losses() -> Iterator[Tensor]:
        while True:
            for rows in minibatches(len(x), BATCH, generator):
                yield F.cross_entropy(model(x[rows]).flatten(0, 1), y[rows].flatten())

    n = EPOCHS[kind] * -(-len(x) // BATCH)
    updates = train(losses(), [optimizer], n, lambda done: LR[kind], clipped=[*model.parameters()])
    held_out = windows(ids, VALIDATION)
    return Learner(updates, lambda: perplexity(model, *held_out), every=EPOCHS[kind] // 2)  # twenty times


RACES = [
    Race(
        f"Time Machine against d2l's {kind}",
        UNIT,
        f"d2l's {kind}",
        partial(learner, OURS[kind]),
        partial(d2l, kind),
        "",
    )
    for kind in LAYERS
]
