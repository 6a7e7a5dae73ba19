"""Words, vocabularies, padded batches, planted phrases, n-grams and windows."""

import random

import pytest
import torch

from unrolled.ngram import NGram, ngrams, unseen_share
from unrolled.planted import LONGEST, PHRASES, phrase_tags, planted, planted_batch, vocabulary
from unrolled.text import Vocabulary, pad_batch, words
from unrolled.window import WindowModel, windows_of


def test_pad_batch_and_its_mask_give_the_sequences_back():
    seqs = [[3, 0, 2], [0], [5, 6, 7, 8, 9], [1, 1]]
    ids, lengths, mask = pad_batch(seqs, pad=0)
    assert ids.shape == mask.shape == (4, 5) and ids.dtype == torch.int64 and mask.dtype == torch.bool
    assert [row[real].tolist() for row, real in zip(ids, mask, strict=True)] == seqs
    assert lengths.tolist() == [len(seq) for seq in seqs]


def test_vocabulary_knows_what_it_kept():
    table = Vocabulary([words("a real stinker , a real treat"), ["a"]], min_count=2)
    assert table.decode(table.encode(["a", "real", "stinker"])) == ["a", "real", "<unk>"]


def test_planted_phrase_stands_where_it_should():
    sentences, labels = planted(200, positions=[2, 5], rng=random.Random(0), after=3)
    assert set(labels) == {0, 1}
    for sentence, label in zip(sentences, labels, strict=True):
        starts = [i for i in range(len(sentence)) if tuple(sentence[i : i + 3]) == PHRASES[label]]
        assert len(starts) == 1 and starts[0] in (2, 5)
        assert starts[0] + 6 <= len(sentence) <= LONGEST
        assert [i for i, tag in enumerate(phrase_tags(sentence)) if tag == 2] == [starts[0] + j for j in range(3)]


def test_planted_batch_has_no_unknown_word_and_is_the_same_every_time():
    (ids, _, mask), labels = planted_batch(50, range(14), seed=3)
    assert (ids[mask] > 1).all() and (ids[~mask] == 0).all() and ids.max() < len(vocabulary())
    assert torch.equal(ids, planted_batch(50, range(14), seed=3)[0][0])
    assert not torch.equal(labels, planted_batch(50, range(14), seed=4)[1])


@pytest.mark.parametrize("n", [1, 2, 3])
def test_ngram_probabilities_sum_to_one_for_seen_and_new_contexts(n):
    rng = random.Random(0)
    model = NGram(n, V=9).fit([[rng.randrange(2, 9) for _ in range(6)] for _ in range(20)])
    for context in ((0,) * (n - 1), (5,) * (n - 1), (8,) * (n - 1)):
        assert sum(model.probability(context, word) for word in range(9)) == pytest.approx(1, abs=1e-9)


def test_longer_contexts_predict_a_cycle_and_are_seen_less():
    cycle, other = [[2, 3, 2, 4] * 5] * 3, [[4, 4, 3, 2]]
    losses = [NGram(n, V=5).fit(cycle).loss(cycle) for n in (1, 2, 3)]
    assert losses[0] > losses[1] > losses[2]
    assert unseen_share(cycle, cycle, 3) == 0 and unseen_share(cycle, other, 3) == 1


def test_windows_are_ngrams_as_tensors():
    sentences = [[7, 8, 9], [5]]
    x, y = windows_of(sentences, n=2)
    assert [(tuple(a), b) for a, b in zip(x.tolist(), y.tolist(), strict=True)] == [
        g for s in sentences for g in ngrams(s, 3)
    ]
    assert WindowModel(V=11, E=3, H=5, n=2)(x).shape == (4, 11)
