"""How far to step, and where: Adam, and a step size that first rises (chapter 9)."""

from __future__ import annotations

import torch
from torch import Tensor


def adam_step(
    p: Tensor,
    g: Tensor,
    m: Tensor,
    v: Tensor,
    t: int,
    lr: float = 1e-3,
    beta_1: float = 0.9,
    beta_2: float = 0.999,
    eps: float = 1e-8,
) -> tuple[Tensor, Tensor, Tensor]:
    r"""One step of Adam: along a mean of the last gradients, measured by their usual size.

    $$ m_t = \beta_1 m_{t-1} + (1 - \beta_1)\, g_t, \qquad
       v_t = \beta_2 v_{t-1} + (1 - \beta_2)\, g_t^2 $$ (eq-adam-moments)
    $$ \hat m = \frac{m_t}{1 - \beta_1^t}, \qquad \hat v = \frac{v_t}{1 - \beta_2^t}, \qquad
       p_t = p_{t-1} - \mathrm{lr}\, \frac{\hat m}{\sqrt{\hat v} + \varepsilon}
       $$ (eq-adam-step)

    All of it entry by entry. Without torch.optim.

    Args:
        p: any shape, the parameters before the step.
        g: their gradient.
        m, v: the two running means after the step before; zeros before the first step.
        t: the number of this step, from 1.
        lr: the step size.
        beta_1, beta_2: the shares of the old means that are kept.
        eps: keeps the quotient finite where all gradients were zero.

    Returns:
        The new p, the new m and the new v (not divided by 1 - β^t), as new tensors. Nothing
        that was passed in is changed.

    Built in chapter 9.

    >>> p, g, zero = torch.tensor([1.0, 1.0]), torch.tensor([0.001, -1000.0]), torch.zeros(2)
    >>> p, m, v = adam_step(p, g, zero, zero, t=1, lr=0.1)
    >>> [round(x, 4) for x in p.tolist()]  # the first step is lr, however large g is
    [0.9, 1.1]
    """
    m = beta_1 * m + (1 - beta_1) * g  # eq-adam-moments
    v = beta_2 * v + (1 - beta_2) * g * g
    m_hat, v_hat = m / (1 - beta_1**t), v / (1 - beta_2**t)
    return p - lr * m_hat / (torch.sqrt(v_hat) + eps), m, v  # eq-adam-step


def noam_lr(step: int, d: int, w: int) -> float:
    r"""The step size of the Transformer: up along a line, then down as one over a root.

    $$ \mathrm{lr}(s) = d^{-1/2} \min\!\left(s^{-1/2},\; s\, w^{-3/2}\right) $$ (eq-noam)

    Args:
        step: number of the step s. It may be 0, as torch's schedulers count: there lr is 0.
        d: width of the model.
        w: how many steps it warms up, at least 1; there lr is largest.

    Returns:
        The step size, a float.

    Built in chapter 9.

    >>> [round(noam_lr(step, d=64, w=100), 6) for step in (0, 50, 100, 400)]
    [0.0, 0.00625, 0.0125, 0.00625]
    """
    if step == 0:
        return 0.0
    return d**-0.5 * min(step**-0.5, step * w**-1.5)  # eq-noam
