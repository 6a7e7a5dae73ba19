"""One training loop for the whole book: shuffle, loss, gradient, Adam, progress."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import torch
from torch import Tensor, nn

from unrolled.progress import Progress


def minibatches(n: int, size: int, generator: torch.Generator) -> list[Tensor]:
    """The numbers 0 to n-1 in a new random order, cut into batches; the last one may be smaller.

    >>> [len(rows) for rows in minibatches(10, 4, torch.Generator().manual_seed(0))]
    [4, 4, 2]
    """
    return list(torch.randperm(n, generator=generator).split(size))


def train(
    parameters: Iterable[nn.Parameter],
    loss: Callable[[Tensor], Tensor],
    n: int,
    *,
    epochs: int,
    seed: int,
    size: int = 64,
    lr: float = 3e-3,
    clip: float = 1.0,
    each_epoch: Callable[[], None] = lambda: None,
) -> list[float]:
    """Minimise a loss over n examples with Adam; return its value at every step.

    Args:
        parameters: what is trained; what is left out stays frozen.
        loss: takes the numbers of the examples in a batch, returns a scalar.
        n: how many examples there are.
        epochs: how often each example is seen.
        seed: of the order of the examples.
        size: examples per batch.
        lr: step size of Adam.
        clip: longest gradient allowed (chapter 2 says why).
        each_epoch: called after every epoch, for instance to look at the validation data.

    >>> w = nn.Parameter(torch.zeros(()))
    >>> losses = train([w], lambda rows: (w - 3) ** 2, n=10, epochs=200, seed=0, lr=0.1)
    >>> losses[0], round(w.item(), 2)
    (9.0, 3.0)
    """
    parameters = list(parameters)
    optimizer = torch.optim.Adam(parameters, lr=lr)
    generator = torch.Generator().manual_seed(seed)
    losses = []
    with Progress(epochs * -(-n // size)) as progress:
        for _ in range(epochs):
            for rows in minibatches(n, size, generator):
                value = loss(rows)
                optimizer.zero_grad()
                value.backward()
                nn.utils.clip_grad_norm_(parameters, clip)
                optimizer.step()
                losses.append(value.item())
                progress.step()
            each_epoch()
    return losses
