"""Who may look at whom: boolean masks, True = may attend (chapters 8 and 9)."""

from __future__ import annotations

import torch
from torch import Tensor


def causal_mask(T: int) -> Tensor:
    r"""The mask of a reader that has seen nothing of what comes later.

    $$ \mathrm{mask}_{tj} = \text{True} \iff j \le t $$ (eq-causal-mask)

    Args:
        T: number of steps, at least 1.

    Returns:
        (T, T) bool. Row t belongs to the query at step t, column j to the key at step j; True
        means that t may attend to j. A step may attend to itself.

    Built in chapter 8.

    >>> causal_mask(3).int().tolist()
    [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    """
    step = torch.arange(T)
    return step <= step[:, None]  # eq-causal-mask


def make_masks(src: Tensor, tgt: Tensor, pad: int) -> tuple[Tensor, Tensor]:
    r"""The two masks of an encoder–decoder: nobody looks at pads, and the writer not ahead.

    $$ \mathrm{src\_mask}_{bs} = \text{True} \iff x_{bs} \ne \mathrm{pad}, \qquad
       \mathrm{tgt\_mask}_{btj} = \text{True} \iff j \le t \text{ and } y_{bj} \ne \mathrm{pad}
       $$ (eq-masks)

    Args:
        src: (B, S) int64, the source x; pads mostly stand at its end, but may stand anywhere.
        tgt: (B, T) int64, what the decoder reads, y; the same holds for its pads.
        pad: the id of the pads.

    Returns:
        src_mask: (B, 1, 1, S) bool, True = may be attended to: the same for all heads, and for
            all queries, those of the encoder and those of the decoder that look at the source.
        tgt_mask: (B, 1, T, T) bool; row t belongs to the query at step t, column j to the key.
            Queries that are pads themselves are treated like the others: what they find is not
            used. (Rows of False for them are accepted too.) Nothing is changed.

    Built in chapter 9.

    >>> src, tgt = torch.tensor([[7, 5, 0]]), torch.tensor([[2, 8, 0]])
    >>> src_mask, tgt_mask = make_masks(src, tgt, pad=0)
    >>> src_mask.int().tolist()
    [[[[1, 1, 0]]]]
    >>> tgt_mask.int().tolist()
    [[[[1, 0, 0], [1, 1, 0], [1, 1, 0]]]]
    """
    src_mask = (src != pad)[:, None, None, :]  # (B, 1, 1, S)
    real = (tgt != pad)[:, None, None, :]  # (B, 1, 1, T), on the axis of the keys
    return src_mask, real & causal_mask(tgt.shape[1])  # eq-masks: (B, 1, T, T)
