"""Labels for every word: the toy task has the limit it claims, batches keep their rows, counting counts."""

import os
import random

import pytest
import torch

from unrolled.data import added_words, named_words, spoken_vowels, tagged_sentences
from unrolled.speech import frames_batch
from unrolled.tagging import SequenceClassifier, Tagger
from unrolled.text import Vocabulary
from unrolled.word_influence import PLACES, influence_by_place
from unrolled.word_labels import (
    NONE,
    Lexicon,
    fit_tags,
    next_words,
    predict,
    sums_with_next,
    tag_accuracy,
    tagged_batch,
)


def test_sums_with_next_are_sums_with_next():
    (ids, lengths, mask), labels = sums_with_next(50, random.Random(3))
    for row, right, n in zip(ids, labels, lengths, strict=True):
        digits = (row[:n] - 1).tolist()
        assert right[:n].tolist() == [(a + b) % 3 for a, b in zip(digits, [*digits[1:], 0], strict=True)]
        assert set(right[n:].tolist()) <= {NONE}
    assert lengths.min() == 4 and lengths.max() == 10 and (mask.sum(1) == lengths).all()


@pytest.mark.parametrize(("both", "low", "high"), [(False, 0.35, 0.5), (True, 0.99, 1.0)])
def test_only_a_reader_from_both_ends_learns_the_sums(both, low, high):
    torch.manual_seed(0)
    model = Tagger("rnn", V=4, E=8, H=16, Y=3, both=both)
    losses = fit_tags(model, *sums_with_next(1500, random.Random(0)), epochs=5, seed=0, lr=1e-2)
    assert losses[-1] < losses[0]
    assert low <= tag_accuracy(model, *sums_with_next(300, random.Random(1))) <= high


def test_a_language_model_is_a_tagger_of_next_words():
    pairs = [(["a", "b", "c"], ["O", "B", "I"]), (["c"], ["O"])]
    vocabulary = Vocabulary([words for words, _ in pairs])
    batch, labels = tagged_batch(pairs, vocabulary, "OBI")
    assert labels.tolist() == [[0, 1, 2], [0, NONE, NONE]]
    b, c = vocabulary.encode(["b", "c"])
    assert next_words(batch).tolist() == [[b, c, 0], [0, NONE, NONE]]


def test_predictions_have_the_length_of_their_rows_and_do_not_depend_on_the_batch():
    torch.manual_seed(0)
    batch, _ = sums_with_next(7, random.Random(5))
    model = Tagger("lstm", V=4, E=8, H=16, Y=3, both=True)
    assert predict(model, batch) == predict(model, batch, size=2)
    assert [len(row) for row in predict(model, batch)] == batch[1].tolist()


def test_lexicon_prefers_the_longest_context():
    pairs = [(["it", "is", "so"], ["O", "B", "O"])] + 2 * [(["he", "is", "he"], ["O", "O", "O"])]
    assert Lexicon(pairs).tags(["it", "is", "so"]) == ["O", "B", "O"]
    assert Lexicon(pairs, context=False).tags(["it", "is", "so"]) == ["O", "O", "O"]
    assert Lexicon(pairs, other="X").tags(["new"]) == ["X"]


def test_influence_sums_to_one_and_the_mean_treats_all_places_alike_where_states_do_not_interact():
    torch.manual_seed(0)
    lengths = torch.tensor([15, 20, 33, 8])
    ids, mask = torch.randint(1, 9, (4, 33)), torch.arange(33) < lengths[:, None]
    model = SequenceClassifier("rnn", 9, 5, 6, 2, pool="mean")
    with torch.no_grad():
        model.encoder.embedding.weight.zero_()
        model.encoder.layer.weight_hh_l0.zero_()
    shares = influence_by_place(model, (ids, lengths, mask))
    assert len(shares) == PLACES and sum(shares) == pytest.approx(1)
    assert shares == pytest.approx([1 / PLACES] * PLACES)
    model.pool = "last"
    assert influence_by_place(model, (ids, lengths, mask))[-1] == pytest.approx(1)


def test_added_words_are_complete():
    pairs = added_words()
    assert len(pairs) == 31_102 and sum(tags.count("B") for _, tags in pairs) == 21_462
    assert all(len(words) == len(tags) and not {"[", "]"} & set(words) for words, tags in pairs)
    words, tags = pairs[1]
    assert [word for word, tag in zip(words, tags, strict=True) if tag != "O"] == ["was"]


def test_spoken_vowels_are_complete():
    train, test = spoken_vowels("train"), spoken_vowels("test")
    assert [sum(who == speaker for _, who in train) for speaker in range(9)] == [30] * 9
    assert [sum(who == speaker for _, who in test) for speaker in range(9)] == [31, 35, 88, 44, 29, 24, 40, 50, 29]
    lengths = [len(frames) for frames, _ in train + test]
    assert (min(lengths), max(lengths)) == (7, 29)
    (frames, n, mask), speakers = frames_batch(train)
    assert frames.shape == (270, int(n.max()), 12) and len(speakers) == 270
    assert not frames[~mask].any() and frames[mask].abs().sum(-1).min() > 0


def test_names_are_tagged_in_lower_case_text():
    pairs = named_words()
    assert len(pairs) == 7_957 and all(len(words) == len(tags) for words, tags in pairs)
    tagged = {word for words, tags in pairs for word, tag in zip(words, tags, strict=True) if tag != "O"}
    assert {"jesus", "peter", "jerusalem"} <= tagged and not {"i", "o", ","} & tagged


@pytest.mark.skipif("UNROLLED_MIRROR" not in os.environ, reason="no mirror folder: UNROLLED_MIRROR is not set")
def test_parts_of_speech_are_split_without_overlap():
    parts = {part: tagged_sentences(part) for part in ("train", "validation", "test")}
    assert {part: len(pairs) for part, pairs in parts.items()} == {"train": 10_036, "validation": 1_254, "test": 1_254}
    assert len({tag for pairs in parts.values() for _, tags in pairs for tag in tags}) == 17
