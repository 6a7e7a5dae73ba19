"""What BERT is trained with: batches of sentence pairs, and of sentences of the agreement grammar (chapter 12).

Nothing here knows of a training loop: the same generator, in the same state, gives the same batches.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from unrolled.bert_input import Special, build_input, nsp_pairs
from unrolled.masked_words import mlm_mask
from unrolled.memory_tasks import NOUNS, agreement_sentence, agreement_words
from unrolled.text import Vocabulary


class Rows(NamedTuple):
    """Rows of ``build_input``, and whether the second sentence of each follows the first."""

    ids: Tensor  # (B, T)
    segments: Tensor  # (B, T)
    mask: Tensor  # (B, T) True where there is no pad
    follows: Tensor  # (B,) 1 if b follows a, else 0

    def take(self, places: Tensor) -> Rows:
        """These rows only, without steps at the end that are pads in all of them."""
        T = int(self.mask[places].sum(dim=1).max())
        return Rows(self.ids[places, :T], self.segments[places, :T], self.mask[places, :T], self.follows[places])


def pair_rows(docs: list[list[list[int]]], T: int, special: Special, generator: torch.Generator) -> Rows:
    """One row for each sentence that has a next one; about half of them with a drawn second sentence.

    Args:
        docs: documents of sentences of ids.
        T: the length of the rows.
        special: the ids of the special tokens.
        generator: draws.

    >>> docs = [[[11], [12, 13]], [[14], [15], [16]]]
    >>> rows = pair_rows(docs, 7, Special(), torch.Generator().manual_seed(0))
    >>> rows.ids.shape, rows.follows.tolist()
    (torch.Size([3, 7]), [1, 1, 1])
    """
    n = sum(len(doc) - 1 for doc in docs)
    pairs = nsp_pairs(docs, torch.rand(n, 3, generator=generator))
    return _rows([(a, b) for a, b, _ in pairs], [follows for _, _, follows in pairs], T, special)


def single_rows(sentences: list[list[int]], T: int, special: Special) -> Rows:
    """One row for each sentence, alone; none has a next one."""
    return _rows([(sentence, None) for sentence in sentences], [0] * len(sentences), T, special)


def _rows(pairs: list[tuple], follows: list[int], T: int, special: Special) -> Rows:
    ids, segments, mask = zip(*(build_input(a, b, T, special) for a, b in pairs), strict=True)
    return Rows(torch.stack(ids), torch.stack(segments), torch.stack(mask), torch.tensor(follows).long())


def batches(rows: Rows, size: int, generator: torch.Generator) -> Iterator[Rows]:
    """All rows once, in random order, ``size`` at a time; the last batch may be smaller."""
    for places in torch.randperm(len(rows.ids), generator=generator).split(size):
        yield rows.take(places)


def hide(
    ids: Tensor, V: int, special: Special, generator: torch.Generator, rate: float = 0.15
) -> tuple[Tensor, Tensor, Tensor]:
    """``mlm_mask`` with fresh random numbers; exchanged words come from the whole vocabulary of V ids."""
    u = torch.rand(2, *ids.shape, generator=generator)
    return mlm_mask(ids, u, torch.randint(0, V, ids.shape, generator=generator), special, rate)


# ---- the agreement grammar of chapter 4 ----


def agreement_vocabulary() -> Vocabulary:
    """The words of the grammar; the ids of the special tokens are those of ``Special()``."""
    names = ("[CLS]", "[SEP]", "[MASK]")
    return Vocabulary([agreement_words().words[2:]], special=names)


def agreement_rows(n: int, most: int, seed: int) -> tuple[Rows, Tensor]:
    """n sentences of the grammar with 0 to ``most`` nouns between subject and verb, each in a row of its own.

    Returns:
        rows: (n, T).
        verbs: (n,) the place of the main verb in each row.
    """
    rng, V = random.Random(seed), agreement_vocabulary()
    made = [agreement_sentence(rng.randint(0, most), rng) for _ in range(n)]
    T = max(len(sentence) for sentence, _, _ in made) + 2
    rows = single_rows([V.encode(sentence) for sentence, _, _ in made], T, Special())
    return rows, torch.tensor([place + 1 for _, place, _ in made])  # [CLS] stands before the sentence


def distractor_rows(n: int, nouns: int, seed: int) -> tuple[Rows, Tensor]:
    """As ``agreement_rows``, with so many nouns in between, the first of which always has the other number."""
    rng, V, made = random.Random(seed), agreement_vocabulary(), []
    while len(made) < n:
        sentence, place, plural = agreement_sentence(nouns, rng)
        if nouns == 0 or (sentence[3] in NOUNS["pl"]) != plural:
            made.append((sentence, place))
    rows = single_rows([V.encode(s) for s, _ in made], max(len(s) for s, _ in made) + 2, Special())
    return rows, torch.tensor([place + 1 for _, place in made])


@torch.no_grad()
def verb_margins(model: torch.nn.Module, rows: Rows, verbs: Tensor) -> tuple[Tensor, Tensor]:
    """Hide the main verbs, and ask: the score of "were" minus that of "was".

    Args:
        model: a ``BertForPretraining``; it is asked as it is, so call ``eval()`` before.
        rows, verbs: as ``agreement_rows`` returns them.

    Returns:
        margins: (B,).
        plural: (B,) bool, whether the hidden verb is "were".
    """
    V, each = agreement_vocabulary(), torch.arange(len(verbs))
    ids = rows.ids.clone()
    plural = ids[each, verbs] == V.ids["were"]
    ids[each, verbs] = Special().mask
    scores = model(ids, rows.segments, rows.mask)[0][each, verbs]  # (B, V)
    return scores[:, V.ids["were"]] - scores[:, V.ids["was"]], plural
