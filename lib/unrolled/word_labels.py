"""Labels for every word: batches of them, training, prediction, and a baseline that only counts (chapter 5)."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from unrolled.classifiers import Batch, rows_of
from unrolled.text import Vocabulary, pad_batch
from unrolled.training import train

NONE = -100  # the label of a pad: cross_entropy leaves it out


def sums_with_next(n: int, rng: random.Random) -> tuple[Batch, Tensor]:
    """Rows of 4 to 10 random digits 0, 1, 2; the label of a step is (its digit + the next digit) mod 3.

    After the last digit comes nothing, so there the label is the digit itself. Digit d has the id d + 1; 0 is the pad.

    >>> (ids, lengths, _), labels = sums_with_next(1, random.Random(1))
    >>> (ids - 1).tolist(), labels.tolist()
    ([[2, 0, 1, 0, 1]], [[2, 1, 1, 1, 1]])
    """
    rows = [[rng.randrange(3) for _ in range(rng.randint(4, 10))] for _ in range(n)]
    sums = [[(a + b) % 3 for a, b in zip(row, [*row[1:], 0], strict=True)] for row in rows]
    return pad_batch([[digit + 1 for digit in row] for row in rows], pad=0), pad_batch(sums, pad=NONE)[0]


def tagged_batch(
    pairs: Sequence[tuple[list[str], list[str]]], vocabulary: Vocabulary, names: Sequence[str]
) -> tuple[Batch, Tensor]:
    """Words with their tags as numbers: a padded batch (ids, lengths, mask) and the labels (B, T).

    Args:
        pairs: words and tags of each sentence.
        vocabulary: of the words.
        names: the tags; label k stands for names[k].
    """
    batch = pad_batch([vocabulary.encode(words) for words, _ in pairs], pad=0)
    return batch, pad_batch([[names.index(tag) for tag in tags] for _, tags in pairs], pad=NONE)[0]


def next_words(batch: Batch) -> Tensor:
    """The labels that make a language model of a tagger: at every word the next one; after the last one the pad, 0."""
    ids, _, mask = batch
    following = torch.cat([ids[:, 1:], ids.new_zeros(len(ids), 1)], dim=1)
    return following.masked_fill(~mask, NONE)


def fit_tags(model: nn.Module, batch: Batch, labels: Tensor, epochs: int, seed: int, **options) -> list[float]:
    """Train what is not frozen in a tagger; return the loss at every step."""

    def loss(rows: Tensor) -> Tensor:
        cut = rows_of(batch, rows)
        scores = model(*cut)  # (B, T, Y)
        return nn.functional.cross_entropy(scores.flatten(0, 1), labels[rows, : scores.shape[1]].flatten())

    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    return train(parameters, loss, len(labels), epochs=epochs, seed=seed, **options)


@torch.no_grad()
def predict(model: nn.Module, batch: Batch, size: int = 256) -> list[list[int]]:
    """The label with the highest score for every real word, row by row."""
    found = []
    for rows in torch.arange(len(batch[0])).split(size):
        cut = rows_of(batch, rows)
        best = model(*cut).argmax(-1)
        found += [row[:n].tolist() for row, n in zip(best, cut[1], strict=True)]
    return found


def tag_accuracy(model: nn.Module, batch: Batch, labels: Tensor) -> float:
    """The share of real words with the right label."""
    guesses = torch.tensor([label for row in predict(model, batch) for label in row])
    return (guesses == labels[batch[2]]).double().mean().item()


class Lexicon:
    """A tagger that only counts: the most frequent tag of a word between its two neighbours.

    If the three words were never seen together in training, it asks for the word and the next one, then for the word
    alone; a word that it does not know gets the tag ``other``. Without context it asks for the word alone at once.

    >>> lexicon = Lexicon([(["it", "is", "so"], ["O", "B", "O"]), (["he", "is"], ["O", "O"])])
    >>> lexicon.tags(["it", "is", "so"]), lexicon.tags(["she", "is", "so", "tall"])
    (['O', 'B', 'O'], ['O', 'B', 'O', 'O'])
    """

    def __init__(self, pairs: Sequence[tuple[list[str], list[str]]], context: bool = True, other: str = "O"):
        self.context, self.other, counts = context, other, defaultdict(Counter)
        for words, tags in pairs:
            for keys, tag in zip(self.keys(words), tags, strict=True):
                for key in keys:
                    counts[key][tag] += 1
        self.best = {key: count.most_common(1)[0][0] for key, count in counts.items()}

    def keys(self, words: list[str]) -> list[list[tuple[str, ...]]]:
        """For every word what to ask for, the most special first."""
        around = ["", *words, ""]
        return [
            [tuple(around[t : t + 3]), tuple(around[t + 1 : t + 3]), (word,)] if self.context else [(word,)]
            for t, word in enumerate(words)
        ]

    def tags(self, words: list[str]) -> list[str]:
        return [next((self.best[key] for key in keys if key in self.best), self.other) for keys in self.keys(words)]
