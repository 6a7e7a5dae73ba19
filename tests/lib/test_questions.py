"""Questions from the mirror: counts, parts, and answers that stand where they should; the cutting of sentences."""

import os

import pytest

from unrolled.questions import answered_questions, sentence_around

mirrored = pytest.mark.skipif("UNROLLED_MIRROR" not in os.environ, reason="UNROLLED_MIRROR is not set")


@mirrored
def test_questions_are_complete_and_split_by_article():
    parts = {part: answered_questions(part) for part in ("train", "validation", "test")}
    assert {part: len(found) for part, found in parts.items()} == {"train": 746, "validation": 122, "test": 319}
    texts = {part: {question.text for question in found} for part, found in parts.items()}
    assert not texts["train"] & texts["test"] and not texts["train"] & texts["validation"]
    asked = next(q for q in parts["validation"] if q.question.startswith("When were some of Luther"))
    assert asked.answer == "1520" and asked.text.startswith("Three of his")
    assert all(q.answer == q.answer.strip() != "" for found in parts.values() for q in found)


def test_a_repeated_sentence_is_found_where_it_stands():
    text = "He won. She won. He won. It was 1901."
    assert sentence_around(text, 17, 19) == ("He won.", 0, 2)
    assert text[17:19] == "He"


def test_an_answer_over_two_sentences_has_no_sentence():
    assert sentence_around("He won. She lost.", 3, 11) is None
