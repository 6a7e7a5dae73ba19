"""Knowledge as text: a triple becomes a sequence whose end is to be written (chapter 11)."""

from __future__ import annotations

import torch
from torch import Tensor

from unrolled.text import pad_batch


def triple_example(
    s: list[int],
    r: list[int],
    o: list[int],
    eos: int,
) -> tuple[Tensor, Tensor]:
    r"""One example for a model that completes triples: subject, relation, then the object.

    $$ w = (s, r, o, \mathrm{EOS}), \qquad
       \mathcal L = -\sum_{t} m_t \log p(w_{t+1} \mid w_0, \dots, w_t) $$ (eq-triple)

    Subject and relation are given; only the object and its end are to be learned. So m_t is
    True if the token that is said at step t, $w_{t+1}$, belongs to the object or is EOS.

    Args:
        s, r, o: the tokens of subject, relation and object; none of them is empty. The same
            token may stand in several of them, EOS too.
        eos: the token that ends the object.

    Returns:
        ids: (n,) int64, the whole sequence w. The model reads ids[:-1] and is to say ids[1:].
        loss_mask: (n - 1,) bool, m: one entry for each step of the model. The lists are not
            changed.

    Built in chapter 11.

    >>> ids, loss_mask = triple_example([5, 6], [9], [7, 8], eos=0)
    >>> ids.tolist()
    [5, 6, 9, 7, 8, 0]
    >>> loss_mask.int().tolist()  # said are 6, 9, 7, 8, 0
    [0, 0, 1, 1, 1]
    """
    ids = torch.tensor([*s, *r, *o, eos])
    said = torch.arange(1, len(ids))  # the places of w_1, w_2, …
    return ids, said >= len(s) + len(r)  # eq-triple


def triple_batch(examples: list[tuple[Tensor, Tensor]], pad: int) -> tuple[Tensor, Tensor]:
    """Examples of any length as rectangles; the pads count for nothing.

    Args:
        examples: B pairs (ids, loss_mask) as ``triple_example`` gives them.
        pad: the id that fills the rest of a row.

    Returns:
        ids: (B, n) int64.
        loss_mask: (B, n - 1) bool, False where a pad would have to be said.

    >>> ids, loss_mask = triple_batch([triple_example([5], [9], [7], 0), triple_example([5], [9], [7, 8], 0)], pad=1)
    >>> ids.tolist(), loss_mask.int().tolist()
    ([[5, 9, 7, 0, 1], [5, 9, 7, 8, 0]], [[0, 1, 1, 0], [0, 1, 1, 1]])
    """
    ids, _, _ = pad_batch([ids.tolist() for ids, _ in examples], pad)
    masks, _, _ = pad_batch([mask.tolist() for _, mask in examples], False)
    return ids, masks
