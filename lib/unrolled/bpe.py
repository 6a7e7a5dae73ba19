"""Byte-pair encoding: pieces of words that are learned by joining what often stands together (chapter 11)."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise


def bpe_train(words: dict[str, int], n: int) -> list[tuple[str, str]]:
    r"""Learn which neighbours to join: n times the most frequent pair becomes one symbol.

    $$ (a, b)^* = \arg\max_{(a, b)} \sum_{w} \mathrm{count}(w) \cdot
       \big|\{\, i : w_i = a,\; w_{i+1} = b \,\}\big| $$ (eq-bpe)

    with $w_1, w_2, \dots$ the symbols of the word w, at first its characters. The best pair is
    then joined wherever it stands, from left to right, and the pairs are counted anew. In "aaa"
    the pair (a, a) stands at two places; joined, it gives aa, a.

    Args:
        words: how often each word occurs. Each word has at least one character. Symbols of
            different words are never joined.
        n: how many pairs to join, at least 1.

    Returns:
        The pairs in the order in which they were joined: n of them, or fewer if every word has
        become one symbol. Of equally frequent pairs the alphabetically first is taken, as
        Python compares tuples of strings. words is not changed.

    Built in chapter 11.

    >>> bpe_train({"low": 5, "lower": 2, "newest": 6, "west": 3}, n=4)
    [('w', 'e'), ('s', 't'), ('we', 'st'), ('l', 'o')]
    """
    pieces = {word: list(word) for word in words}
    merges = []
    for _ in range(n):
        counts = Counter()
        for word, symbols in pieces.items():
            for pair in pairwise(symbols):
                counts[pair] += words[word]
        if not counts:
            break
        best = min(counts, key=lambda pair: (-counts[pair], pair))  # eq-bpe
        merges.append(best)
        for symbols in pieces.values():
            for i in range(len(symbols)):  # while the list becomes shorter
                if tuple(symbols[i : i + 2]) == best:
                    symbols[i : i + 2] = ["".join(best)]
    return merges


def bpe_encode(word: str, merges: list[tuple[str, str]]) -> list[str]:
    r"""Cut a word into pieces: join its neighbours in the order in which they were learned.

    At first the symbols are the characters. Of all pairs of neighbours that are among the
    merges, the one that was learned first is joined, wherever it stands, from left to right;
    so on with the new symbols, until no two neighbours are among the merges.

    Args:
        word: at least one character; characters that no merge knows stay alone.
        merges: the pairs in the order in which ``bpe_train`` learned them: the parts of a pair
            are characters or what earlier pairs gave, and no two pairs give the same symbol.

    Returns:
        The pieces in the order of the word; joined, they are the word. merges is not changed.

    Built in chapter 11.

    >>> merges = [("w", "e"), ("s", "t"), ("we", "st"), ("l", "o")]
    >>> bpe_encode("lowest", merges), bpe_encode("sweet", merges)
    (['lo', 'west'], ['s', 'we', 'e', 't'])
    """
    rank = {pair: place for place, pair in enumerate(merges)}
    symbols = list(word)
    for _ in range(len(word) - 1):  # each joining leaves one symbol fewer
        pairs = list(pairwise(symbols))
        best = min(pairs, key=lambda pair: rank.get(pair, math.inf))
        if best not in rank:
            break
        i = pairs.index(best)
        symbols[i : i + 2] = ["".join(best)]
    return symbols
