"""The batch of any step, from the seed and the number of the step alone.

So nothing has to be remembered to go on after a stop, and every process can make the same batch and take its share.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import torch
from tokenizers import Tokenizer
from tokenizers.models import WordPiece as FastWordPiece
from tokenizers.trainers import WordPieceTrainer
from torch import Tensor

from unrolled.bert_data import Rows, hide, pair_rows
from unrolled.data import SPLIT
from unrolled.pretrain.config import Config, PretrainError
from unrolled.wikipedia import documents
from unrolled.wordpiece import SPECIAL, WordPiece, basic_tokens


class Batch(NamedTuple):
    """Rows as the model reads them, and what it is asked."""

    ids: Tensor  # (B, T) with words hidden
    segments: Tensor  # (B, T)
    mask: Tensor  # (B, T)
    labels: Tensor  # (B, T) the words
    chosen: Tensor  # (B, T) bool, which of them are asked for
    follows: Tensor  # (B,)

    def rows(self, places: slice) -> Batch:
        return Batch(*(part[places] for part in self))

    def to(self, device: torch.device) -> Batch:
        return Batch(*(part.to(device) for part in self))


def generator(*names: object) -> torch.Generator:
    """Random numbers that depend on these names and on nothing else."""
    digest = hashlib.blake2b(repr(names).encode(), digest_size=7).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest))


def read_documents(config: Config, part: str) -> list[list[str]]:
    """The documents of a part ("train" or "validation"), each a list of sentences."""
    if config.data.text == "wikipedia":
        return documents(part)
    found = [doc for name in config.data.text for doc in _documents_of(Path(name))]
    return [doc for number, doc in enumerate(found) if number % 10 in SPLIT[part]]


def _documents_of(path: Path) -> list[list[str]]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise PretrainError(f"{path} cannot be read as text ({error}).") from None
    docs: list[list[str]] = [[]]
    for line in lines:
        if line.strip():
            docs[-1].append(line.strip())
        elif docs[-1]:
            docs.append([])
    return [doc for doc in docs if doc]


def learn_pieces(docs: list[list[str]], size: int) -> WordPiece:
    """Word pieces learned from documents, with the library ``tokenizers``: it is much faster than our own trainer.

    Ties between pairs are broken in another order than in ``unrolled.wordpiece.train_wordpiece``. The library would
    number single letters in the order of its threads, another one each time; so they are given to it in a fixed order.
    """
    counts = Counter(word for doc in docs for sentence in doc for word in basic_tokens(sentence))
    letters = sorted({letter for word in counts for letter in word})
    later = [f"##{letter}" for letter in sorted({letter for word in counts for letter in word[1:]})]
    fast = Tokenizer(FastWordPiece(unk_token="[UNK]"))
    known = [*SPECIAL, *letters, *later]
    trainer = WordPieceTrainer(vocab_size=size, special_tokens=known, show_progress=False, min_frequency=2)
    words = [word for word, n in sorted(counts.items()) for _ in range(n)]
    fast.train_from_iterator(words, trainer)
    vocab = fast.get_vocab()
    return WordPiece(sorted(vocab, key=vocab.__getitem__))


class Stream:
    """The batches of a run.

    Args:
        docs: documents of sentences of ids.
        tokenizer: its special tokens and its size.
        config: batch size, length, mask rate and seed.
    """

    def __init__(self, docs: list[list[list[int]]], tokenizer: WordPiece, config: Config):
        self.docs, self.tokenizer, self.config = docs, tokenizer, config
        self.epoch_rows = sum(len(doc) - 1 for doc in docs)
        if self.epoch_rows < config.training.batch:
            raise PretrainError(
                f"The text has fewer pairs of sentences than a batch of {config.training.batch}; "
                "give more text or a smaller batch."
            )
        self._epoch = lru_cache(maxsize=1)(self._make_epoch)

    def _make_epoch(self, epoch: int) -> tuple[Rows, Tensor]:
        """All pairs of an epoch, with second sentences drawn anew, and their order."""
        seed = self.config.training.seed
        rows = pair_rows(self.docs, self.config.data.length, self.tokenizer.special, generator(seed, "pairs", epoch))
        return rows, torch.randperm(len(rows.ids), generator=generator(seed, "order", epoch))

    def batch(self, step: int) -> Batch:
        """The batch of a step, from 0. One may end an epoch and begin the next: every row comes once in each epoch."""
        size = self.config.training.batch
        epoch, place = divmod(step * size, self.epoch_rows)
        found = self._rows(epoch, slice(place, place + size))
        missing = size - len(found.ids)
        if missing:
            found = Rows(*map(torch.cat, zip(found, self._rows(epoch + 1, slice(missing)), strict=True)))
        return self.hidden(found.take(torch.arange(size)), "masks", step)

    def _rows(self, epoch: int, places: slice) -> Rows:
        rows, order = self._epoch(epoch)
        return Rows(*(part[order[places]] for part in rows))

    def hidden(self, rows: Rows, *names: object) -> Batch:
        """Rows with words hidden, always the same for the same names."""
        draw = generator(self.config.training.seed, *names)
        V, special = len(self.tokenizer), self.tokenizer.special
        ids, labels, chosen = hide(rows.ids, V, special, draw, self.config.training.mask_rate)
        return Batch(ids, rows.segments, rows.mask, labels, chosen, rows.follows)
