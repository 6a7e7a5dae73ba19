"""A language model learns from windows of one long text; how much does another text surprise it? (chapter 11)"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import chain

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from unrolled.gpt import Windows
from unrolled.progress import with_progress
from unrolled.schedules import linear_warmup_decay
from unrolled.training import minibatches


def one_text(documents: list[list[int]]) -> Tensor:
    """All documents one after the other, behind one end of a document, so that the first one, too, follows an end.

    >>> one_text([[5, 6, 2], [7, 2]]).tolist()
    [2, 5, 6, 2, 7, 2]
    """
    return torch.tensor([documents[0][-1], *chain.from_iterable(documents)])


def rows_for_ever(n: int, size: int, seed: int) -> Iterator[Tensor]:
    """Numbers of examples, ``size`` at a time, in a new random order whenever all (but a rest) have been taken.

    >>> rows = rows_for_ever(5, 2, seed=0)
    >>> sorted(torch.cat([next(rows), next(rows)]).tolist())
    [0, 1, 3, 4]
    """
    generator = torch.Generator().manual_seed(seed)
    while True:
        yield from (rows for rows in minibatches(n, size, generator) if len(rows) == min(size, n))


def learn_by_steps(
    model: nn.Module,
    loss: Callable[[], Tensor],
    steps: int,
    *,
    lr: float = 3e-3,
    warmup: int = 50,
    clip: float = 1.0,
    look: Callable[[int, float], None] | None = None,
) -> list[float]:
    """Train with Adam for a number of steps; the step size grows and falls as in ``linear_warmup_decay``.

    Args:
        model: its parameters are trained.
        loss: the loss of the next batch.
        steps: how many batches.
        lr: the largest step size.
        warmup: over how many steps it grows.
        clip: longest gradient allowed.
        look: called with the steps done and the processor seconds they took, at doubled distances and at the end.

    Returns:
        The loss at every step.

    >>> layer = nn.Linear(1, 1)
    >>> losses = learn_by_steps(layer, lambda: (layer(torch.ones(1)) - 3).square().sum(), 200, lr=0.1)
    >>> losses[-1] < 0.001
    True
    """
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    wanted, spent, losses = {steps >> k for k in range(6)}, 0.0, []
    model.train()
    for done in with_progress(range(steps)):
        start = time.process_time()
        value = loss()
        optimizer.param_groups[0]["lr"] = linear_warmup_decay(done + 1, warmup, steps + 1, lr)
        optimizer.zero_grad()
        value.backward()
        nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        losses.append(value.item())
        spent += time.process_time() - start
        if look is not None and done + 1 in wanted:
            model.eval()
            look(done + 1, round(spent, 2))
            model.train()
    model.eval()
    return losses


def learn_windows(model: nn.Module, parts: Windows, steps: int, *, seed: int, size: int = 32, **options) -> list[float]:
    """``learn_by_steps`` on windows of a text, ``size`` at a time."""
    rows = rows_for_ever(len(parts.x), size, seed)

    def loss() -> Tensor:
        batch = next(rows)
        return F.cross_entropy(model(parts.x[batch]).flatten(0, 1), parts.y[batch].flatten())

    return learn_by_steps(model, loss, steps, **options)


@torch.no_grad()
def text_surprise(model: nn.Module, ids: Tensor, context: int, stride: int) -> Tensor:
    """-log p in nats of every token of a text but the first, each counted once.

    The text is read in windows. Of each window only the tokens count that no window before it has counted, so that
    all but those of the first have at least context - stride tokens before them.

    Args:
        model: ids (B, T) -> scores (B, T, V).
        ids: (N,) the text.
        context: tokens that are read at once.
        stride: how far apart the windows start, at most context. The last one ends with the text.

    Returns:
        (N - 1,) nats.

    >>> even = lambda ids: torch.zeros(*ids.shape, 4)
    >>> text_surprise(even, torch.tensor([1, 2, 3, 0, 1, 2, 3]), context=4, stride=3)
    tensor([1.3863, 1.3863, 1.3863, 1.3863, 1.3863, 1.3863])
    """
    N, T = len(ids), min(context, len(ids) - 1)
    starts = list(range(0, N - T, stride))
    if starts[-1] + T < N - 1:
        starts.append(N - 1 - T)
    place = torch.tensor(starts)[:, None] + torch.arange(T)  # (n, T)
    found = torch.empty(N - 1)
    for rows in place.flip(0).split(64):  # from the end: earlier windows have the last word about the tokens they share
        log_p = model(ids[rows]).log_softmax(-1)  # (n, T, V)
        nats = -log_p.gather(-1, ids[rows + 1][..., None])[..., 0]  # (n, T)
        for row, values in zip(rows.tolist(), nats, strict=True):
            found[row[0] : row[-1] + 1] = values
    return found
