"""Who computes which row: over an epoch every row comes once, and one process has it."""

from collections import Counter

import pytest

from unrolled.pretrain.config import Config, Data, Model, Training
from unrolled.pretrain.rows import Batch, Stream
from unrolled.pretrain.team import Team
from unrolled.wordpiece import SPECIAL, WordPiece

SENTENCES = [2 + number % 5 for number in range(23)] + [2]  # of each document: 67 rows


def stream(batch: int) -> Stream:
    """Sentences of one word, each another; so the word after [CLS] tells which row it is."""
    words = iter(range(len(SPECIAL), 1000))
    docs = [[[next(words)] for _ in range(n)] for n in SENTENCES]
    pieces = WordPiece([*SPECIAL, *(f"w{number}" for number in range(len(SPECIAL), 1000))])
    return Stream(docs, pieces, Config(Data(length=8), Model(), Training(batch=batch)))


def first_words(batch: Batch) -> list[int]:
    return batch.labels[:, 1].tolist()


@pytest.mark.parametrize("size", [1, 2, 3, 5])
@pytest.mark.parametrize("batch", [5, 7, 16])
def test_every_row_of_an_epoch_is_seen_once_by_one_process(size, batch):
    """Each process makes its own stream, as in a run. Neither 5, 7 nor 16 divides the 67 rows; nor does 2, 3 or 5."""
    streams = [stream(batch) for _ in range(size)]
    rows, epochs = streams[0].epoch_rows, 3
    assert rows % batch and all(rows % n for n in (2, 3, 5))
    all_words = {doc[place][0] for doc in streams[0].docs for place in range(len(doc) - 1)}
    assert len(all_words) == rows
    in_order: list[int] = []  # the rows as one process alone would see them
    for step in range(-(-epochs * rows // batch)):
        owned = [
            [word for part in Team(rank, size).parts(own.batch(step), 3) for word in first_words(part)]
            for rank, own in enumerate(streams)
        ]
        assert max(map(len, owned)) - min(map(len, owned)) <= 1
        assert len({word for mine in owned for word in mine} & all_words) <= batch
        whole = first_words(streams[0].batch(step))
        assert Counter(word for mine in owned for word in mine) == Counter(whole)
        in_order += whole
    for epoch in range(epochs):
        assert Counter(in_order[epoch * rows : (epoch + 1) * rows]) == Counter(all_words)


def test_parts_are_as_large_as_they_may_be():
    batch = stream(16).batch(0)
    sizes = [[len(part.ids) for part in Team(rank, 3).parts(batch, 4)] for rank in range(3)]
    assert sizes == [[4, 2], [4, 1], [4, 1]]
