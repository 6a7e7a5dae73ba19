"""Counting properly: Kneser-Ney against a slow version by the book, its sums, its edges, and a known figure."""

import math
import os
from collections import Counter, defaultdict

import numpy as np
import pytest

from unrolled.data import downloaded
from unrolled.ngram import START, KneserNey, NGram, discounts, ngrams
from unrolled.text import Vocabulary

V = 7


@pytest.fixture(scope="module")
def documents():
    """Short documents with structure, so that all discounts can be estimated and some contexts are never seen."""
    rng = np.random.default_rng(0)
    steps = rng.dirichlet(np.full(V - 1, 0.3), size=V)
    made = []
    for length in rng.integers(1, 40, size=60):
        w, document = 0, []
        for _ in range(length):
            w = 1 + int(rng.choice(V - 1, p=steps[w]))
            document.append(w)
        made.append(document)
    return made


def by_the_book(documents, n, context, word):
    """Modified, interpolated Kneser-Ney straight from its definition, with dictionaries of tuples."""
    raw = [Counter() for _ in range(n + 1)]
    for document in documents:
        for c, w in ngrams(document, n):
            gram = (*c, w)
            for k in range(1, n + 1):
                raw[k][gram[n - k :]] += 1
    p = 1 / V
    for k in range(1, n + 1):
        counts = dict(raw[k])
        if k < n:
            fronts = defaultdict(set)
            for gram in raw[k + 1]:
                fronts[gram[1:]].add(gram[0])
            counts = {g: raw[k][g] if g[0] == START else len(fronts[g]) for g in raw[k]}
        D = discounts(np.array(list(counts.values())))
        c = tuple(context[len(context) - (k - 1) :]) if k > 1 else ()
        followers = {g[-1]: a for g, a in counts.items() if g[:-1] == c}
        if followers:
            total = sum(followers.values())
            gamma = sum(D[min(a, 3)] for a in followers.values()) / total
            a = followers.get(word, 0)
            p = (a - D[min(a, 3)]) / total + gamma * p
    return p


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_agrees_with_the_definition(documents, n):
    model = KneserNey(n, V).fit(documents)
    for context in ([0, 0, 0], [0, 0, 3], [2, 5, 1], [6, 6, 6], [1, 2, 3]):
        before = [w for w in context if w != START]
        slow = [by_the_book(documents, n, context, w) for w in range(V)]
        np.testing.assert_allclose(model.distribution(before), slow, rtol=1e-12)


@pytest.mark.parametrize("n", range(1, 8))
def test_sums_to_one_and_leaves_nothing_out(documents, n):
    model, rng = KneserNey(n, V).fit(documents), np.random.default_rng(n)
    for length in range(9):
        p = model.distribution(rng.integers(1, V, size=length).tolist())
        assert abs(p.sum() - 1) < 1e-12 and (p > 0).all()


def test_the_loss_is_the_mean_surprise_of_the_distribution(documents):
    model, document = KneserNey(3, V).fit(documents), documents[0]
    slow = [-math.log(model.distribution(document[:t])[w]) for t, w in enumerate(document)]
    np.testing.assert_allclose(model.surprise([document]), slow, rtol=1e-12)
    assert abs(model.loss([document, document]) - np.mean(slow)) < 1e-12


def test_documents_do_not_reach_into_each_other():
    one, two = KneserNey(3, V).fit([[1, 2, 3, 4]]), KneserNey(3, V).fit([[1, 2], [3, 4]])
    assert one.distribution([1, 2])[3] > 0.3 > two.distribution([1, 2])[3]


def test_a_word_that_follows_many_is_the_better_guess():
    """3 occurs more often, but always behind 1; 4 occurs behind everything."""
    documents = [[1, 3]] * 12 + [[w, 4] for w in (1, 2, 5, 6)]
    p = KneserNey(2, V).fit(documents).distribution([3])  # nothing ever followed 3
    assert p[4] > p[3]
    assert NGram(2, V).fit(documents).probability((3,), 3) > NGram(2, V).fit(documents).probability((3,), 4)


def test_discounts_where_counts_are_missing():
    assert discounts(np.array([5, 9, 200])).tolist() == [0, 0.5, 1, 1.5]


def test_too_many_ids_for_one_number_is_said():
    with pytest.raises(ValueError, match="use a lower order"):
        KneserNey(7, V=2735)


@pytest.mark.skipif("UNROLLED_MIRROR" not in os.environ, reason="no mirror folder: UNROLLED_MIRROR is not set")
def test_five_letters_of_shakespeare():
    """The last tenth of tinyshakespeare, from the rest: 1.56 nats per character."""
    text = list(downloaded("tinyshakespeare").read_text(encoding="utf-8"))
    vocabulary, cut = Vocabulary([text]), 9 * len(text) // 10
    model = KneserNey(5, len(vocabulary)).fit([vocabulary.encode(text[:cut])])
    assert round(model.loss([vocabulary.encode(text[cut:])]), 2) == 1.56
