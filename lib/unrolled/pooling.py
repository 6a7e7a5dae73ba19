"""From states at every step to one vector per sequence (chapter 5)."""

from __future__ import annotations

import torch
from torch import Tensor


def bi_summary(out: Tensor, lengths: Tensor) -> Tensor:
    r"""One vector for each sequence: where each of two readers stands when it has read everything.

    $$ s = \overrightarrow h_n \oplus \overleftarrow h_1 $$ (eq-bi-summary)

    with n the number of real steps in the row: the forward reader ends there, the backward reader
    ends at the first step.

    Args:
        out: (B, T, 2H) the states of a bidirectional network in reading order, forward half first,
            as ``birnn`` returns them. What stands at the pads is not to be used.
        lengths: (B,) int64, how many steps of each row are real: 1 to T, in any order.

    Returns:
        (B, 2H). Gradients reach out; nothing is changed.

    Built in chapter 5.

    >>> out = torch.tensor([[[1.0, 6.0], [3.0, 5.0], [6.0, 3.0]]])  # running sums of 1, 2, 3
    >>> bi_summary(out, torch.tensor([3])).tolist()
    [[6.0, 6.0]]
    >>> bi_summary(torch.tensor([[[1.0, 3.0], [3.0, 2.0], [0.0, 0.0]]]), torch.tensor([2])).tolist()
    [[3.0, 3.0]]
    """
    B, _, H2 = out.shape
    last = out[torch.arange(B), lengths - 1]  # (B, 2H)
    first = out[:, 0]  # (B, 2H)
    return torch.cat([last[:, : H2 // 2], first[:, H2 // 2 :]], dim=-1)  # eq-bi-summary


def masked_mean(h: Tensor, mask: Tensor) -> Tensor:
    r"""The mean of the states over the real steps of each row.

    $$ \bar h = \frac{\sum_t m_t\, h_t}{\max(1, \sum_t m_t)} $$ (eq-masked-mean)

    Args:
        h: (B, T, H) states; what stands at the pads is any finite number.
        mask: (B, T) bool, True at the real steps. They need not be the first ones, and a row may
            have none.

    Returns:
        (B, H) one mean for each row; zeros for a row without a real step. Gradients reach h, zero
        at the pads and finite everywhere; nothing is changed.

    Built in chapter 5.

    >>> h = torch.tensor([[[1.0], [3.0], [99.0]], [[5.0], [5.0], [5.0]]])
    >>> mask = torch.tensor([[True, True, False], [False, False, False]])
    >>> masked_mean(h, mask).tolist()
    [[2.0], [0.0]]
    """
    total = (h * mask[..., None]).sum(dim=1)  # (B, H)
    n = mask.sum(dim=1, keepdim=True)  # (B, 1)
    return total / n.clamp(min=1)  # eq-masked-mean
