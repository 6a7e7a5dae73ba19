"""From text to rectangles of numbers: words, vocabularies, padded batches (chapter 1)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

import torch
from torch import Tensor

PAD, UNK = "<pad>", "<unk>"


def words(sentence: str) -> list[str]:
    """Split a sentence into lower-case words and punctuation marks.

    >>> words("A real stinker, isn't it?")
    ['a', 'real', 'stinker', ',', "isn't", 'it', '?']
    """
    return re.findall(r"\w+(?:'\w+)?|[^\w\s]", sentence.lower())


class Vocabulary:
    """A two-way table between words and ids; id 0 is the pad, id 1 is every unknown word, then come special ones.

    >>> vocabulary = Vocabulary([["a", "real", "stinker"], ["a", "gem"]])
    >>> vocabulary.encode(["a", "gem", "!"])
    [2, 3, 1]
    >>> len(vocabulary), vocabulary.words[2]
    (6, 'a')
    >>> Vocabulary([["a"]], special=("<s>", "</s>")).words
    ['<pad>', '<unk>', '<s>', '</s>', 'a']
    """

    def __init__(self, sentences: Iterable[list[str]], min_count: int = 1, special: Sequence[str] = ()):
        counts = Counter(word for sentence in sentences for word in sentence)
        kept = sorted((-n, word) for word, n in counts.items() if n >= min_count)
        self.words = [PAD, UNK, *special] + [word for _, word in kept]
        self.ids = {word: i for i, word in enumerate(self.words)}

    def __len__(self) -> int:
        return len(self.words)

    def encode(self, sentence: list[str]) -> list[int]:
        return [self.ids.get(word, 1) for word in sentence]

    def decode(self, ids: Iterable[int]) -> list[str]:
        return [self.words[int(i)] for i in ids]


def pad_batch(seqs: list[list[int]], pad: int) -> tuple[Tensor, Tensor, Tensor]:
    r"""Make one rectangle of sequences that differ in length.

    Row $b$ holds sequence $b$ from the left, then as many pads as it takes to reach the
    longest length $T$.

    Args:
        seqs: B lists of token ids; none is longer than T, one of them has length T. The lists
            are not changed.
        pad: the id that fills the rest of a row.

    Returns:
        ids: (B, T) int64, padded on the right.
        lengths: (B,) int64, the number of real tokens in each row.
        mask: (B, T) bool, True where ids holds a real token. A real token may have the same id
            as the pad.

    Built in chapter 1.

    >>> ids, lengths, mask = pad_batch([[5, 6, 7], [8]], pad=0)
    >>> ids.tolist(), lengths.tolist()
    ([[5, 6, 7], [8, 0, 0]], [3, 1])
    >>> mask.tolist()
    [[True, True, True], [True, False, False]]
    """
    lengths = torch.tensor([len(seq) for seq in seqs])
    T = int(lengths.max())
    ids = torch.tensor([list(seq) + [pad] * (T - len(seq)) for seq in seqs])  # (B, T)
    mask = torch.arange(T) < lengths[:, None]  # (T) < (B, 1) -> (B, T)
    return ids, lengths, mask
