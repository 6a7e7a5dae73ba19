"""What BERT reads: two sentences in one row, and whether the second follows the first (chapter 12)."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor


class Special(NamedTuple):
    """The ids of the tokens that are no words; the defaults are those of our own vocabularies."""

    pad: int = 0  # fills up a row
    unk: int = 1  # an unknown word
    cls: int = 2  # opens a row; its state stands for the whole
    sep: int = 3  # closes a sentence
    mask: int = 4  # hides a word


def build_input(
    a: list[int],
    b: list[int] | None,
    T: int,
    special: Special,
) -> tuple[Tensor, Tensor, Tensor]:
    r"""Put two sentences into one row of length T, and say which is which.

    $$ \text{[CLS]}\; a_1 \dots a_m\; \text{[SEP]}\; b_1 \dots b_n\; \text{[SEP]}\;
       \text{[PAD]} \dots \text{[PAD]} $$ (eq-bert-input)

    If that is longer than T, tokens are taken away one at a time, always the last of the longer
    sentence, and of b where both are as long, until it fits. [CLS] and [SEP] always stay.

    Args:
        a: the ids of the first sentence.
        b: the ids of the second, or None: then the row is [CLS] a [SEP] and pads.
        T: the length of the row, at least 3.
        special: the ids of the special tokens: special.cls, special.sep, special.pad.

    Returns:
        ids: (T,) int64.
        segments: (T,) int64: 0 for [CLS], a and its [SEP]; 1 for b and its [SEP]; 0 for pads.
        mask: (T,) bool, True where there is no pad; a word may have the id of the pad. The
            lists a and b are not changed.

    Built in chapter 12.

    >>> ids, segments, mask = build_input([11, 12, 13, 14], [21, 22], 9, Special())
    >>> ids.tolist(), segments.tolist()
    ([2, 11, 12, 13, 14, 3, 21, 22, 3], [0, 0, 0, 0, 0, 0, 1, 1, 1])
    >>> build_input([11, 12, 13, 14], [21, 22], 7, Special())[0].tolist()
    [2, 11, 12, 3, 21, 22, 3]
    >>> build_input([11], None, 5, Special())[2].tolist()
    [True, True, True, False, False]
    """
    if b is None:
        row = [special.cls, *a[: T - 2], special.sep]
        second = 0
    else:
        m, n = len(a), len(b)
        while m + n > T - 3:
            if m > n:
                m -= 1
            else:
                n -= 1
        row = [special.cls, *a[:m], special.sep, *b[:n], special.sep]  # eq-bert-input
        second = n + 1
    pads = T - len(row)
    ids = torch.tensor(row + pads * [special.pad])  # (T,)
    segments = torch.tensor((len(row) - second) * [0] + second * [1] + pads * [0])  # (T,)
    mask = torch.arange(T) < len(row)  # (T,)
    return ids, segments, mask


def nsp_pairs(
    docs: list[list[list[int]]],
    u: Tensor,
) -> list[tuple[list[int], list[int], bool]]:
    r"""Pairs for the question "does b follow a?": about half do, the others are drawn.

    Sentence $i$ of document $d$ is called $s_{d,i}$. Each sentence but the last of its document
    opens one pair, in the order of the text, over all documents; pair $k$ is

    $$ (a, b) = \begin{cases} (s_{d,i},\; s_{d,i+1}) & \text{if } u_{k0} < \tfrac12
       \quad (b \text{ follows}) \\
       (s_{d,i},\; s_{e,j}) & \text{otherwise} \end{cases} $$ (eq-nsp)

    with e the document number $\lfloor u_{k1} (D - 1) \rfloor$ among the D - 1 *other* ones, in
    their order, and $j = \lfloor u_{k2}\, n_e \rfloor$, of its $n_e$ sentences. Numbers start
    at 0.

    Args:
        docs: D documents, at least two, each a list of at least one sentence; a sentence is a
            list of ids.
        u: (n, 3) random numbers, at least 0 and below 1, a row for each of the n pairs.

    Returns:
        A list of n triples (a, b, follows), with follows True if b is the true next sentence.
        A document of one sentence opens no pair, but may be drawn. Nothing is changed.

    Built in chapter 12.

    >>> docs = [[[1], [2], [3]], [[4], [5]], [[6]]]
    >>> u = torch.tensor([[0.1, 0.0, 0.0], [0.7, 0.9, 0.5], [0.6, 0.2, 0.9]])
    >>> nsp_pairs(docs, u)
    [([1], [2], True), ([2], [6], False), ([4], [3], False)]
    """
    pairs, rows = [], iter(u.tolist())
    for d, doc in enumerate(docs):
        others = docs[:d] + docs[d + 1 :]
        for i in range(len(doc) - 1):
            u_0, u_1, u_2 = next(rows)
            if u_0 < 0.5:
                pairs.append((doc[i], doc[i + 1], True))  # eq-nsp
            else:
                other = others[int(u_1 * len(others))]
                pairs.append((doc[i], other[int(u_2 * len(other))], False))
    return pairs
