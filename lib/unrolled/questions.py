"""Questions about a text whose answer stands in it, word for word (chapter 13; credits: docs/data.md)."""

from __future__ import annotations

import json
from typing import NamedTuple

from unrolled.data import downloaded
from unrolled.wikipedia import sentences

ARTICLES = {"train": range(0, 6), "validation": range(6, 7), "test": range(7, 10)}  # last digit of the article's number


class Question(NamedTuple):
    """A question, the sentence that holds its answer, and where: text[start:end] is the answer."""

    question: str
    text: str
    start: int
    end: int

    @property
    def answer(self) -> str:
        return self.text[self.start : self.end]


def sentence_around(paragraph: str, start: int, end: int) -> tuple[str, int, int] | None:
    """The sentence that holds the letters from start to end, and where they stand in it; None if it takes two.

    >>> sentence_around("It rained. Ada met Charles in 1833. They talked.", 30, 34)
    ('Ada met Charles in 1833.', 19, 23)
    """
    place = 0
    for sentence in sentences(paragraph):
        place = paragraph.index(sentence, place)
        if place <= start and end <= place + len(sentence):
            return sentence, start - place, end - place
        place += len(sentence)
    return None


def answered_questions(part: str) -> list[Question]:
    """Questions about paragraphs of Wikipedia, with their answers; downloaded (Artetxe et al. 2020, Rajpurkar 2016).

    Of each paragraph only the sentence is kept that holds the answer: a laptop reads it in a third of the time. It is
    an easier task than the published one. The few answers that run over two sentences are left out. Article number n
    of the file is for the test if n ends in 7, 8 or 9, for validation if it ends in 6, else for training.

    Args:
        part: "train" (746 questions), "validation" (122) or "test" (319).
    """
    articles = json.loads(downloaded("xquad-en").read_text(encoding="utf-8"))["data"]
    found = []
    for number, article in enumerate(articles):
        if number % 10 not in ARTICLES[part]:
            continue
        for paragraph in article["paragraphs"]:
            for asked in paragraph["qas"]:
                answer = asked["answers"][0]
                start = answer["answer_start"]
                around = sentence_around(paragraph["context"], start, start + len(answer["text"]))
                if around is not None:
                    found.append(Question(asked["question"], *around))
    return found
