"""A training loop of which every part was built in this book: clipping, Adam, the step size that first rises."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from unrolled.gradients import clip_global_norm
from unrolled.optimisation import adam_step, noam_lr
from unrolled.progress import Progress


def learn(
    model: nn.Module, loss: Callable[[], Tensor], *, updates: int, D: int, warmup: int = 100, clip: float = 1.0
) -> list[float]:
    """Minimise a loss; return its value at every update.

    Args:
        model: what is trained.
        loss: draws the next batch, returns a scalar.
        updates: how many.
        D: the width of the model, for ``noam_lr``.
        warmup: over so many updates the step size grows.
        clip: longest gradient allowed.

    >>> _ = torch.manual_seed(0)
    >>> model, x = nn.Linear(3, 1), torch.randn(50, 3)
    >>> losses = learn(model, lambda: (model(x)[:, 0] - x[:, 1]).square().mean(), updates=300, D=16, warmup=20)
    >>> losses[0] > 0.5, losses[-1] < 1e-3
    (True, True)
    """
    parameters, losses = [p for p in model.parameters() if p.requires_grad], []
    means = [(torch.zeros_like(p), torch.zeros_like(p)) for p in parameters]
    with Progress(updates) as progress:
        for t in range(1, updates + 1):
            value = loss()
            gradients = torch.autograd.grad(value, parameters, allow_unused=True)
            clipped, _ = clip_global_norm(list(gradients), clip)
            with torch.no_grad():
                for k, (p, g) in enumerate(zip(parameters, clipped, strict=True)):
                    if g is not None:
                        new, *means[k] = adam_step(p, g, *means[k], t, lr=noam_lr(t, D, warmup))
                        p.copy_(new)
            losses.append(value.item())
            progress.step()
    return losses
