"""Learning per minute: the next character of Shakespeare (tinyshakespeare), by an LSTM and by a GPT.

Trained on the first nine tenths of the text, as everyone does, and looked at on a fifth of the last tenth: 44 pieces of
512 characters, evenly spread (for a Kneser-Ney 7-gram they are 0.02 nats harder than the whole). The settings were
chosen on the last ninth of the training part, with the rest to train; that long streams learn slowly at first was seen
on the test pieces, too, before it was confirmed there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

import torch
import torch.nn.functional as F
from learning import Change, Learner, leave_one_out, step_sizes, train
from torch import Tensor, nn

from unrolled.data import downloaded
from unrolled.fast import speed_up
from unrolled.gpt import GPTConfig
from unrolled.gpt_model import GPT
from unrolled.language_model import LanguageModel
from unrolled.text import Vocabulary

V = 67  # 65 characters, pad and unknown
LEAD, PIECE, EVERY = 64, 512, 5  # characters that are read before any counts, that count, and one piece out of five
TITLE, UNIT = "The next character of Shakespeare", "nats per character"


@dataclass(frozen=True)
class Recipe:
    H: int = 256  # units of the LSTM
    E: int = 32  # width of the embedding
    B: int = 16  # streams that are read side by side
    T: int = 32  # characters between two updates
    updates: int = 3500
    peak: float = 1e-2  # the largest step size
    warmup: int = 40  # updates until it is reached
    falls: bool = True  # from the peak to zero, in a straight line
    carried: int = 16  # windows that follow one another, each beginning with the state after the one before


@cache
def texts() -> tuple[Tensor, Tensor]:
    """The first nine tenths to learn from and the last tenth to measure, as ids."""
    text = list(downloaded("tinyshakespeare").read_text(encoding="utf-8"))
    ids = torch.tensor(Vocabulary([text]).encode(text))
    cut = 9 * len(ids) // 10
    return ids[:cut], ids[cut:]


def looked_at() -> Tensor:
    """The pieces on which all are measured, each behind the characters before it: (44, 577)."""
    return texts()[1].unfold(0, LEAD + PIECE + 1, PIECE)[::EVERY]


def streams(
    text: Tensor, B: int, T: int, carried: int, generator: torch.Generator
) -> Iterator[tuple[Tensor, Tensor, bool]]:
    """Windows of a text: from B random places, then those that follow them, and so on; after some, from new places.

    Args:
        text: (n,) ids.
        B: windows side by side.
        T: their length.
        carried: how many follow one another; 1 for random windows.
        generator: of the places.

    Yields:
        x, y: (B, T) what is read, and the character after each.
        first: whether these are from new places.

    >>> batches = streams(torch.arange(5), B=1, T=2, carried=2, generator=torch.Generator())
    >>> [(x.tolist(), y.tolist(), first) for (x, y, first), _ in zip(batches, range(2))]
    [([[0, 1]], [[1, 2]], True), ([[2, 3]], [[3, 4]], False)]
    """
    while True:
        start = torch.randint(len(text) - carried * T, (B, 1), generator=generator)
        for k in range(carried):
            place = start + k * T + torch.arange(T)  # (B, T)
            yield text[place], text[place + 1], k == 0


def adam(model: nn.Module, losses: Iterator[Tensor], updates: int, step_size: Callable[[int], float]) -> Iterator[None]:
    """So many updates of all weights of a network."""
    weights = [*model.parameters()]
    optimizer = torch.optim.Adam(weights, betas=(0.9, 0.99), fused=True)
    return train(losses, [optimizer], updates, step_size, clipped=weights)


def recurrent_losses(model: nn.Module, batches: Iterator[tuple[Tensor, Tensor, bool]]) -> Iterator[Tensor]:
    """Of each batch; where the streams go on, so does the state, but no gradient goes back with it."""
    state = None
    for x, y, first in batches:
        scores, state = model(x, None if first else tuple(part.detach() for part in state))
        yield F.cross_entropy(scores.flatten(0, 1), y.flatten())


@torch.no_grad()
def recurrent_error(model: nn.Module) -> float:
    """Nats per character of the pieces; the network reads the 64 characters before them, too."""
    ids = looked_at()
    scores = model(ids[:, :-1])[0][:, LEAD:]  # (44, PIECE, V)
    return F.cross_entropy(scores.flatten(0, 1), ids[:, LEAD + 1 :].flatten()).item()


@torch.no_grad()
def windows_error(model: nn.Module, T: int = 64) -> float:
    """The same characters for a model that reads T at once: every window goes on by T/2, and its second half counts."""
    start = torch.arange(LEAD - T // 2, LEAD + PIECE - T + 1, T // 2)  # of the windows of a piece
    ids = looked_at()[:, start[:, None] + torch.arange(T + 1)].flatten(0, 1)  # (44 windows, T + 1)
    scores = torch.cat([model(rows[:, :-1])[:, T // 2 :] for rows in ids.split(64)])
    return F.cross_entropy(scores.flatten(0, 1), ids[:, T // 2 + 1 :].flatten()).item()


def learner(recipe: Recipe, seed: int) -> Learner:
    r, model = recipe, LanguageModel(V, recipe.H, "lstm", recipe.E)
    generator = torch.Generator().manual_seed(seed)
    batches = streams(texts()[0], r.B, r.T, r.carried, generator)

    def up(done: int) -> float:
        return r.peak * min(1, (done + 1) / r.warmup)

    step_size = step_sizes(r.peak, r.warmup, r.updates) if r.falls else up
    updates = adam(model, recurrent_losses(model, batches), r.updates, step_size)
    return Learner(updates, lambda: recurrent_error(model), every=r.updates // 25)


def gpt_learner(seed: int) -> Learner:
    """A GPT with nanoGPT's width and context, two blocks instead of four, and the schedule of the LSTM."""
    B, T, updates, warmup, peak = 12, 64, 1600, 40, 4e-3
    model = speed_up(GPT(GPTConfig(V, context=T, D=128, n_heads=4, layers=2, d_ff=512)))
    batches = streams(texts()[0], B, T, 1, torch.Generator().manual_seed(seed))

    losses = (F.cross_entropy(model(x).flatten(0, 1), y.flatten()) for x, y, _ in batches)
    steps = adam(model, losses, updates, step_sizes(peak, warmup, updates))
    return Learner(steps, lambda: windows_error(model, T), every=updates // 20)


CHANGES = {
    "without the falling step size": Change(
        {"falls": False},
        "Large steps learn fast, small ones at the end settle what was learned: the step size "
        "[falls to zero along a line](../chapters/12_bert_pretraining/bert_pretraining.ipynb).",
    ),
    "without carrying the state": Change(
        {"carried": 1},
        "Fifteen windows out of sixteen go on where the one before ended, with [its state but without its "
        "history](../chapters/02_bptt/bptt.ipynb). Windows of 32 characters from random places would all begin with "
        "guesses from almost nothing. (Streams that run through the whole text learn more slowly at first: for a "
        "while all that is read comes from the same few plays.)",
    ),
    "with large batches": Change(
        {"B": 64, "updates": 375},
        "512 characters say nearly as well as 2,048 where to go, and on one thread they cost a quarter: four steps "
        "instead of one. (Here as many characters are read, in a quarter of the updates.)",
    ),
    "with small steps": Change(
        {"peak": 1e-3},
        "Ten times nanoGPT's step size is no danger where gradients are [clipped](../chapters/02_bptt/bptt.ipynb) and "
        "steps get smaller in the end.",
    ),
    "with a wide embedding": Change(
        {"E": 256},
        "There are 65 characters: a vector of 32 numbers is enough to tell them apart, and each more is paid for at "
        "[every gate](../chapters/04_lstm_gru/lstm_gru.ipynb).",
    ),
}


def main() -> None:
    leave_one_out("learning_shakespeare", f"{UNIT} after 1,500 updates", learner, Recipe(updates=1500), CHANGES)


if __name__ == "__main__":
    main()
