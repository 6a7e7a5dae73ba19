"""Sentences with a planted phrase: the smallest task in which position is everything (chapter 1)."""

from __future__ import annotations

import random
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from unrolled.classifiers import Batch, accuracy
from unrolled.text import Vocabulary, pad_batch, words

PHRASES = (("a", "real", "stinker"), ("a", "real", "treat"))  # label 0, label 1
FILLERS = words("""
    a the this that film movie story plot actor scene music script it he she they we was is had has saw made gave
    long short slow loud dark new old real and but so then with from about after before into over under very quite
    two three first last night day town house road sea war love song voice face hand door window light friend
""")
LONGEST = 16  # words in the longest sentence


def planted(n: int, positions: Sequence[int], rng: random.Random, after: int = 0) -> tuple[list[list[str]], list[int]]:
    """n sentences of at most 16 words; each has one of the two phrases at one of the positions (0 = first word).

    Args:
        n: how many sentences.
        positions: where the phrase may start; at most 13 - after.
        rng: the source of randomness.
        after: at least so many words follow the phrase.

    Returns:
        sentences: lists of words.
        labels: 0 where the phrase is "a real stinker", 1 where it is "a real treat".

    >>> sentences, labels = planted(2, positions=[4], rng=random.Random(0))
    >>> [" ".join(sentence[4:7]) for sentence in sentences], labels
    (['a real treat', 'a real stinker'], [1, 0])
    """
    sentences, labels = [], []
    for _ in range(n):
        label, start = rng.randrange(2), rng.choice(positions)
        length = rng.randint(start + 3 + after, LONGEST)
        sentence = rng.choices(FILLERS, k=length)
        sentence[start : start + 3] = PHRASES[label]
        sentences.append(sentence)
        labels.append(label)
    return sentences, labels


def vocabulary() -> Vocabulary:
    """All words that a planted sentence can have."""
    return Vocabulary([list(FILLERS), *map(list, PHRASES)])


def planted_batch(n: int, positions: Sequence[int], seed: int, after: int = 0) -> tuple[Batch, Tensor]:
    """The same as numbers: a padded batch (ids, lengths, mask) and the labels (n,)."""
    sentences, labels = planted(n, positions, random.Random(seed), after)
    return pad_batch([vocabulary().encode(sentence) for sentence in sentences], pad=0), torch.tensor(labels)


def accuracy_by_position(model: nn.Module, n: int = 400) -> list[float]:
    """The accuracy with the phrase at position 0, 1, ..., 13, each on n sentences of its own (always the same ones)."""
    return [accuracy(model, *planted_batch(n, [start], seed=1_000_000 + start)) for start in range(LONGEST - 2)]


def phrase_tags(sentence: list[str]) -> list[int]:
    """One tag per word: 2 inside the phrase, 1 outside; 0 is left for the pad.

    >>> phrase_tags(["so", "a", "real", "treat", "then"])
    [1, 2, 2, 2, 1]
    """
    start = next(i for i in range(len(sentence)) if tuple(sentence[i : i + 3]) in PHRASES)
    return [2 if start <= i < start + 3 else 1 for i in range(len(sentence))]
