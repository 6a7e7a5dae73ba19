"""n-gram language models: count what followed the last n-1 words (chapter 1), and count properly (chapter 3)."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

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


class KneserNey:
    r"""Counts of all orders up to n, mixed as Kneser and Ney (1995) proposed, with the three discounts of Chen and
    Goodman (1999).

    $$ p(w \mid c) = \frac{a(c\,w) - D(a(c\,w))}{a(c)} + \gamma(c)\, p(w \mid c'), \qquad
       a(c) = \sum_w a(c\,w) $$ (eq-kneser-ney)

    c' is the context c without its first id; below the single ids stands 1/V. The count a is the usual one at order
    n. Below, it is the number of *different* ids that stood in front (of an n-gram at the start of a document, where
    nothing can, the usual count). D takes a little off every count: D_1, D_2 or D_3 for counts of 1, 2 and more. What
    it takes off in a context goes to the shorter one: gamma(c) = sum of D(a(c w)) over w, divided by a(c).

    An n-gram is one number in base V, and each order is a sorted table of such numbers, so that a million ids take
    less than a second. V to the power of n must stay below 2 to the power of 63: 7 characters, or 5 words.

    >>> model = KneserNey(3, V=10).fit([[7, 8, 7, 9, 7, 8]])
    >>> p = model.distribution([7])
    >>> round(float(p.sum()), 6), int(p.argmax())
    (1.0, 8)
    """

    def __init__(self, n: int, V: int):
        if V**n >= 2**63:
            raise ValueError(f"{n} ids out of {V} do not fit into one 64-bit number: use a lower order")
        self.n, self.V = n, V

    def keys(self, documents: Iterable[Sequence[int]]) -> np.ndarray:
        """One number for each id of the documents: the n-gram that ends there."""
        keys = []
        for document in documents:
            padded = np.concatenate([np.full(self.n - 1, START), np.asarray(document)]).astype(np.int64)
            key = np.zeros(len(document), dtype=np.int64)
            for place in range(self.n):
                key = key * self.V + padded[place : place + len(document)]
            keys.append(key)
        return np.concatenate(keys)

    def fit(self, documents: Iterable[Sequence[int]]) -> KneserNey:
        text = self.keys(documents)
        grams, counts = np.unique(text, return_counts=True)
        self.tables = [self._table(grams, counts)]
        for k in range(self.n - 1, 0, -1):
            size = self.V**k
            grams, counts = np.unique(grams % size, return_counts=True)  # of each, how many different ids in front
            raw = np.unique(text % size, return_counts=True)[1]  # the same n-grams, in the same order
            counts = np.where(grams // (size // self.V) == START, raw, counts)
            self.tables.insert(0, self._table(grams, counts))
        return self

    def _table(self, grams: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, ...]:
        """Of one order: n-grams, what is left of each after the discount, contexts, gamma of each context."""
        D = discounts(counts)[np.minimum(counts, 3)]
        contexts, first = np.unique(grams // self.V, return_index=True)
        total = np.add.reduceat(counts, first)
        share = (counts - D) / np.repeat(total, np.diff(np.append(first, len(grams))))
        return grams, share, contexts, np.add.reduceat(D, first) / total

    def probability(self, keys: np.ndarray) -> np.ndarray:
        """p(last id | the ids before it) for n-grams as ``keys`` makes them."""
        p = np.full(len(keys), 1 / self.V)
        for k, (grams, share, contexts, gamma) in enumerate(self.tables, start=1):
            key = keys % self.V**k
            p = _look_up(contexts, gamma, key // self.V, 1.0) * p  # eq-kneser-ney: unseen context, all from below
            p = p + _look_up(grams, share, key, 0.0)
        return p

    def surprise(self, documents: Iterable[Sequence[int]]) -> np.ndarray:
        """-log p in nats of every id of the documents, one after the other."""
        return -np.log(self.probability(self.keys(documents)))

    def loss(self, documents: Iterable[Sequence[int]]) -> float:
        """The mean surprise per id in nats."""
        return float(self.surprise(documents).mean())

    def distribution(self, before: Sequence[int]) -> np.ndarray:
        """p(w | the ids before) for every w: (V,). A document that begins is an empty list."""
        context = self.keys([[*before, 0]])[-1]
        return self.probability(context + np.arange(self.V))

    def __len__(self) -> int:
        """How many numbers the model stores: one for each n-gram and one for each context, of all orders."""
        return sum(len(grams) + len(contexts) for grams, _, contexts, _ in self.tables)


def discounts(counts: np.ndarray) -> np.ndarray:
    """What is taken off a count of 0, 1, 2, and 3 or more, estimated from how many counts of 1 to 4 there are.

    Where one of these does not occur, as for the single letters of a long text, it is 1/2, 1 and 3/2.

    >>> discounts(np.array([1, 1, 1, 1, 2, 2, 3, 4])).round(2).tolist()
    [0.0, 0.5, 1.25, 1.0]
    """
    n = [np.count_nonzero(counts == k) for k in range(5)]
    if min(n[1:]) == 0:
        return np.array([0, 0.5, 1, 1.5])
    y = n[1] / (n[1] + 2 * n[2])
    D = np.array([0] + [k - (k + 1) * y * n[k + 1] / n[k] for k in (1, 2, 3)])
    return D if (D >= 0).all() else np.array([0, 0.5, 1, 1.5])


def _look_up(keys: np.ndarray, values: np.ndarray, wanted: np.ndarray, otherwise: float) -> np.ndarray:
    """The value beside each wanted key in a sorted table; a constant where it is not there."""
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[place] == wanted, values[place], otherwise)
