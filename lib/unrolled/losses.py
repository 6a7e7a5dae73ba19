"""From scores to probabilities to a loss (chapter 1), also with smoothed labels (chapter 9)."""

from __future__ import annotations

import torch
from torch import Tensor


def softmax(o: Tensor) -> Tensor:
    r"""Turn scores into probabilities over the last axis.

    $$ \hat y_i = \frac{\exp(o_i)}{\sum_j \exp(o_j)} $$ (eq-softmax)

    Args:
        o: (..., V) scores of any size; exp of them may overflow, the result must not.

    Returns:
        (..., V) numbers between 0 and 1 that sum to 1 over the last axis. Gradients reach o;
        o is not changed.

    Built in chapter 1.

    >>> softmax(torch.tensor([[1000.0, 1000.0]])).tolist()
    [[0.5, 0.5]]
    """
    e = torch.exp(o - o.amax(dim=-1, keepdim=True))  # (..., V)
    return e / e.sum(dim=-1, keepdim=True)  # eq-softmax


def cross_entropy(logits: Tensor, y: Tensor, pad: int) -> Tensor:
    r"""The mean surprise over all real tokens of a batch, in nats.

    $$ L = -\frac{1}{n} \sum_{b,t\,:\,y_{bt} \ne \text{pad}} \log \hat y_{bt}[y_{bt}], \qquad
       \hat y_{bt} = \text{softmax}(o_{bt}) $$ (eq-cross-entropy)

    Args:
        logits: (B, T, V) scores o, before any softmax; they may be so large that exp of them
            overflows, and so far apart that a probability is rounded to 0. The loss stays
            finite all the same.
        y: (B, T) the right ids; positions that hold ``pad`` do not count.
        pad: the id that marks padding.

    Returns:
        A scalar: the sum over the n real tokens of the batch, divided by n. Gradients reach the
        logits; neither logits nor y is changed.

    Built in chapter 1.

    >>> logits, y = torch.zeros(2, 3, 5), torch.tensor([[1, 2, 3], [4, 0, 0]])
    >>> round(cross_entropy(logits, y, pad=0).item(), 4)  # all scores equal: log 5
    1.6094
    """
    log_z = torch.logsumexp(logits, dim=-1)  # (B, T)
    log_p = logits.gather(-1, y[..., None])[..., 0] - log_z  # (B, T)
    real = y != pad  # (B, T)
    return -log_p[real].sum() / real.sum()  # eq-cross-entropy


def smoothed_cross_entropy(logits: Tensor, y: Tensor, pad: int, smoothing: float) -> Tensor:
    r"""The cross-entropy against a target that leaves every token of the vocabulary a little.

    $$ L = (1 - \varepsilon)\, \mathrm{CE}
       - \frac{\varepsilon}{n} \sum_{b,t\,:\,y_{bt} \ne \text{pad}} \frac1V \sum_v
       \log \hat y_{bt}[v] $$

    Args:
        logits: (B, T, V) scores.
        y: (B, T) the right ids; positions that hold ``pad`` do not count.
        pad: the id that marks padding.
        smoothing: the share ε of the target that is spread evenly over all V tokens, the right
            one and the pad included; 0 is ``cross_entropy``.

    Returns:
        A scalar, in nats per real token. Gradients reach the logits.

    >>> logits, y = torch.tensor([[[3.0, 0.0, 0.0]]]), torch.tensor([[0]])
    >>> round(smoothed_cross_entropy(logits, y, pad=9, smoothing=0.3).item(), 4)  # 0.0949 + 0.3 · 2
    0.6949
    """
    log_p = torch.log_softmax(logits, dim=-1)[y != pad]  # (n, V)
    return (1 - smoothing) * cross_entropy(logits, y, pad) - smoothing * log_p.mean()
