"""Hide some words, and ask for them: the cloze test of BERT and its loss (chapter 12)."""

from __future__ import annotations

import torch
from torch import Tensor

from unrolled.bert_input import Special


def mlm_mask(
    x: Tensor,
    u: Tensor,
    random_ids: Tensor,
    special: Special,
    rate: float = 0.15,
) -> tuple[Tensor, Tensor, Tensor]:
    r"""Choose some tokens to be predicted, and hide most of them.

    $$ c_{bt} = \begin{cases} 1 & \text{if } u_{0bt} < \text{rate and } x_{bt}
       \text{ is none of [CLS], [SEP], [PAD]} \\
       0 & \text{otherwise} \end{cases} $$ (eq-mlm-chosen)
    $$ \tilde x_{bt} = \begin{cases}
       \text{[MASK]} & \text{if } u_{1bt} < 0.8 \\
       r_{bt} & \text{if } 0.8 \le u_{1bt} < 0.9 \\
       x_{bt} & \text{if } 0.9 \le u_{1bt} \end{cases} \quad \text{where } c_{bt} = 1, \qquad
       \tilde x_{bt} = x_{bt} \text{ elsewhere} $$ (eq-mlm-mask)

    Args:
        x: (B, T) int64, rows of ``build_input``. It is not changed.
        u: (2, B, T) random numbers, at least 0 and below 1: u[0] chooses, u[1] decides what
            becomes of a chosen token.
        random_ids: (B, T) ids r drawn from the vocabulary. They are used as they are, even if
            one is a special token or the token itself.
        special: the ids special.cls, special.sep, special.pad and special.mask. An unknown
            word, special.unk, may be chosen. (To spare it is accepted too.)
        rate: the share of tokens to choose.

    Returns:
        masked: (B, T) int64, what the model reads.
        labels: (B, T) int64, the ids of x before anything was hidden, where chosen. What stands
            elsewhere is left open.
        weights: (B, T), c: 1 where a token was chosen, also one that was kept, and 0 elsewhere;
            bool or numbers. (Exactly a share ``rate`` of each row, the tokens with the smallest
            u[0], rounded, at least one, is accepted too.)

    Built in chapter 12.

    >>> x = torch.tensor([[2, 11, 12, 13, 14, 15, 3, 0]])  # [CLS] five words [SEP] [PAD]
    >>> u = torch.tensor([[[0.0, 0.1, 0.1, 0.1, 0.1, 0.9, 0.0, 0.0]],
    ...                   [[0.5, 0.2, 0.7, 0.85, 0.95, 0.2, 0.2, 0.2]]])
    >>> masked, labels, weights = mlm_mask(x, u, torch.full_like(x, 77), Special())
    >>> masked.tolist()
    [[2, 4, 4, 77, 14, 15, 3, 0]]
    >>> (weights > 0).tolist(), labels[weights > 0].tolist()
    ([[False, True, True, True, True, False, False, False]], [11, 12, 13, 14])
    """
    real = (x != special.cls) & (x != special.sep) & (x != special.pad)  # (B, T)
    chosen = real & u[0].lt(rate)  # eq-mlm-chosen
    hidden = torch.where(u[1] < 0.8, special.mask, random_ids)  # (B, T)
    masked = torch.where(chosen & (u[1] < 0.9), hidden, x)  # eq-mlm-mask
    return masked, x, chosen


def mlm_loss(logits: Tensor, labels: Tensor, weights: Tensor) -> Tensor:
    r"""The mean surprise over the chosen tokens, and over no others.

    $$ L = \frac{\sum_{b,t} w_{bt}\, \ell_{bt}}{\sum_{b,t} w_{bt}}, \qquad
       \ell_{bt} = -\log \mathrm{softmax}(o_{bt})[y_{bt}] $$ (eq-mlm-loss)

    Args:
        logits: (B, T, V) scores o, before any softmax; they may be so far apart that a
            probability is rounded to 0. The loss stays finite all the same.
        labels: (B, T) int64, the right ids y, each at least 0 and below V. Every id is a word
            like the others, 0 too.
        weights: (B, T), 1 where a token was chosen and 0 elsewhere.

    Returns:
        A scalar in nats; 0 if nothing was chosen. Gradients reach the logits, then too, and
        are finite; nothing is changed. (A denominator that is larger by 1e-5, as in Google's program, is
        accepted too.)

    Built in chapter 12.

    >>> logits = torch.tensor([[[0.0, 0.0], [9.0, 0.0], [0.0, 0.0]]])
    >>> labels, weights = torch.tensor([[0, 1, 1]]), torch.tensor([[1.0, 0.0, 1.0]])
    >>> round(mlm_loss(logits, labels, weights).item(), 4)  # log 2; the blunder does not count
    0.6931
    """
    log_p = torch.log_softmax(logits, dim=-1)  # (B, T, V)
    surprise = -log_p.gather(-1, labels[..., None])[..., 0]  # (B, T)
    return (weights * surprise).sum() / weights.sum().clamp(min=1)  # eq-mlm-loss
