"""word2vec on a made-up text: words of the same company come out close."""

import random

import torch

from unrolled.text import Vocabulary
from unrolled.word_vectors import learn_vectors, nearest, neighbour_pairs


def test_pairs_stay_inside_a_document_and_a_window():
    c, o = neighbour_pairs([[5, 6, 7, 8], [9, 1, 4]], window=2)
    assert sorted(zip(c.tolist(), o.tolist(), strict=True)) == sorted(
        [(5, 6), (6, 5), (5, 7), (7, 5), (6, 7), (7, 6), (6, 8), (8, 6), (7, 8), (8, 7), (9, 4), (4, 9)]
    )


def test_words_of_the_same_company_are_nearest():
    rng = random.Random(0)
    kinds = (["cat", "dog", "cow"], ["eats", "sleeps"]), (["oak", "elm", "fir"], ["grows", "rots"])
    sentences = [[rng.choice(nouns), rng.choice(verbs)] for nouns, verbs in rng.choices(kinds, k=2000)]
    vocabulary = Vocabulary(sentences)
    docs = [vocabulary.encode(sentence) for sentence in sentences]
    vectors = learn_vectors(docs, len(vocabulary), E=8, seed=0, steps=150, size=256, window=1)
    assert vectors.shape == (len(vocabulary), 8) and not vectors.requires_grad
    assert set(nearest(vectors, vocabulary, "cat", n=2)) == {"dog", "cow"}
    assert set(nearest(vectors, vocabulary, "oak", n=2)) == {"elm", "fir"}
    again = learn_vectors(docs, len(vocabulary), E=8, seed=0, steps=150, size=256, window=1)
    assert torch.equal(vectors, again)
