"""Documents: the split of the verses, batches that lose nothing, a pooled loss, and training that learns."""

import torch

from unrolled.documents import (
    BOS,
    WindowReader,
    batches,
    learn,
    mean_surprise,
    surprises,
    verse_letters,
    verse_words,
)
from unrolled.language_model import LanguageModel


def test_verses_are_split_as_the_data_page_says():
    for load in (verse_letters, verse_words):
        documents, vocabulary = load()
        assert {part: len(docs) for part, docs in documents.items()} == {"train": 6367, "validation": 795, "test": 795}
        assert all(doc[-1] == vocabulary.ids["\n"] and BOS not in doc for docs in documents.values() for doc in docs)


def test_batches_hold_each_document_once_behind_a_start_symbol():
    documents = [list(range(1, n + 1)) for n in (3, 9, 1, 4, 4, 7, 2)]
    for generator in (None, torch.Generator().manual_seed(0)):
        rows = [row.tolist() for batch in batches(documents, 3, generator) for row in batch]
        assert all(row[0] == BOS for row in rows)
        assert sorted([w for w in row if w != BOS] for row in rows) == sorted(documents)


def test_mean_surprise_is_pooled_over_all_ids():
    torch.manual_seed(0)
    documents = [torch.randint(1, 6, (n,)).tolist() for n in (3, 9, 1, 70, 4)]
    for model in (LanguageModel(6, 5, "gru", 3), WindowReader(6, 3, 5, 4)):
        pooled = torch.cat([surprises(model, document) for document in documents]).mean()
        assert abs(mean_surprise(model, documents) - pooled.item()) < 1e-5


def test_a_window_reader_sees_n_ids_and_no_more():
    torch.manual_seed(0)
    model, ids = WindowReader(6, 3, 5, n=4), torch.randint(1, 6, (1, 10))
    changed = ids.clone()
    changed[0, 3] = 1 + changed[0, 3] % 5
    differs = (model(ids)[0] != model(changed)[0]).any(-1)[0]
    assert differs.tolist() == [3 <= t < 7 for t in range(10)]


def test_training_learns_a_simple_language_and_repeats():
    documents = [[1, 2, 3] * 4 for _ in range(40)]
    runs = []
    for _ in range(2):
        torch.manual_seed(0)
        model = LanguageModel(4, 8, "rnn")
        look = lambda model=model: mean_surprise(model, documents)  # noqa: E731
        runs.append([value for _, value in learn(model, documents, epochs=20, seed=0, size=8, lr=1e-2, look=look)])
    assert runs[0] == runs[1] and runs[0][-1] < 0.1 < runs[0][0]
