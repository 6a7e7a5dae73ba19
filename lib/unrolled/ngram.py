"""n-gram language models: count what followed the last n-1 words (chapter 1)."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

START = 0  # fills the places before the first word, as the pad does


def ngrams(sentence: Sequence[int], n: int) -> Iterable[tuple[tuple[int, ...], int]]:
    """All (context of n-1 ids, next id) of one sentence.

    >>> list(ngrams([7, 8, 9], n=3))
    [((0, 0), 7), ((0, 7), 8), ((7, 8), 9)]
    """
    padded = [START] * (n - 1) + list(sentence)
    return ((tuple(padded[t : t + n - 1]), padded[t + n - 1]) for t in range(len(sentence)))


def unseen_share(train: Iterable[Sequence[int]], test: Iterable[Sequence[int]], n: int) -> float:
    """The share of the n-grams of the test sentences that never occur in the training sentences.

    >>> unseen_share([[7, 8, 9]], [[7, 8, 7, 8]], n=2)
    0.25
    """
    known = {gram for sentence in train for gram in ngrams(sentence, n)}
    asked = [gram for sentence in test for gram in ngrams(sentence, n)]
    return sum(gram not in known for gram in asked) / len(asked)


class NGram:
    """Counts of all orders up to n, mixed as Witten and Bell (1991) proposed.

    The longer context speaks in proportion to how often it was seen, the shorter one in proportion to how many
    different words followed: p(w | c) = (count(c, w) + kinds(c) p(w | c')) / (count(c) + kinds(c)), where
    c' is c without its first word.

    >>> model = NGram(2, V=10).fit([[7, 8, 7, 9]])
    >>> round(sum(model.probability((7,), w) for w in range(10)), 6)
    1.0
    >>> model.probability((7,), 8) > model.probability((7,), 7)
    True
    """

    def __init__(self, n: int, V: int):
        self.n, self.V = n, V
        self.followers: dict[tuple[int, ...], Counter] = defaultdict(Counter)

    def fit(self, sentences: Iterable[Sequence[int]]) -> NGram:
        for sentence in sentences:
            for context, word in ngrams(sentence, self.n):
                for start in range(self.n):
                    self.followers[context[start:]][word] += 1
        self.followers = dict(self.followers)
        self.totals = {context: counter.total() for context, counter in self.followers.items()}
        return self

    def probability(self, context: tuple[int, ...], word: int) -> float:
        shorter = self.probability(context[1:], word) if context else 1 / self.V
        if context not in self.followers:
            return shorter
        counter = self.followers[context]
        return (counter[word] + len(counter) * shorter) / (self.totals[context] + len(counter))

    def loss(self, sentences: Iterable[Sequence[int]]) -> float:
        """The mean surprise per word in nats."""
        surprises = [-math.log(self.probability(c, w)) for sentence in sentences for c, w in ngrams(sentence, self.n)]
        return sum(surprises) / len(surprises)
