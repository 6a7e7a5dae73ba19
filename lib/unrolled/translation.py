"""One training and one scoring for every translator of the book (chapters 6, 7 and 9).

What must be equal for a fair comparison stands in BUDGETS: sentences, vocabulary, updates, batch, step size. Models
are built to have about the same number of weights.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor, nn

from unrolled.bleu import bleu
from unrolled.edit_distance import edit_distance, error_rate
from unrolled.pairs import Pair, french_pairs, pronunciations, verse_pairs
from unrolled.progress import Progress
from unrolled.seq2seq import scheduled_inputs, shift_right
from unrolled.text import Vocabulary, pad_batch
from unrolled.translators import BOS, EOS, PAD, SPECIAL, generate


@dataclass(frozen=True)
class Budget:
    """What a model may spend on a task, the same for every model."""

    load: Callable[[str], list[Pair]]
    updates: int
    min_count: int = 1  # rarer words are unknown
    size: int = 64  # pairs in a batch
    lr: float = 2e-3  # falls to 0 along a straight line
    clip: float = 1.0
    longest: int = 40  # tokens that a model may write


BUDGETS = {
    "letters": Budget(pronunciations, updates=8000),  # 5 times through 93,995 words
    "verses": Budget(verse_pairs, updates=3000, size=32, min_count=4),  # 10 times through 9,165 verses
    "french": Budget(french_pairs, updates=2500, min_count=6),  # twice through 74,113 sentences
}


class Languages:
    """The two vocabularies of a task; the target has BOS and EOS besides.

    >>> both = Languages([(["a", "b"], [["X"], ["Y"]])])
    >>> len(both.source), both.target.words  # only the first answer is learned
    (4, ['<pad>', '<unk>', '<s>', '</s>', 'X'])
    """

    def __init__(self, pairs: Sequence[Pair], min_count: int = 1):
        self.source = Vocabulary([source for source, _ in pairs], min_count)
        self.target = Vocabulary([targets[0] for _, targets in pairs], min_count, SPECIAL)

    def batch(self, pairs: Sequence[Pair]) -> tuple[Tensor, Tensor, Tensor]:
        """Sources (B, S), their lengths (B,), and the first answers with EOS (B, T), padded."""
        src, lengths, _ = pad_batch([self.source.encode(source) for source, _ in pairs], PAD)
        return src, lengths, pad_batch([[*self.target.encode(targets[0]), EOS] for _, targets in pairs], PAD)[0]


def bucketed(pairs: Sequence[Pair], size: int, rng: random.Random) -> Iterator[list[Pair]]:
    """Batches without end: shuffled, sources of about the same length together.

    >>> pairs = [([0] * n, [[1]]) for n in range(100)]
    >>> batch = next(bucketed(pairs, 10, random.Random(0)))
    >>> len(batch), max(len(s) for s, _ in batch) - min(len(s) for s, _ in batch)
    (10, 9)
    """
    while True:
        order = rng.sample(range(len(pairs)), len(pairs))
        for chunk in (order[k : k + 50 * size] for k in range(0, len(order), 50 * size)):
            chunk.sort(key=lambda n: len(pairs[n][0]))
            batches = [chunk[k : k + size] for k in range(0, len(chunk), size)]
            for rows in rng.sample(batches, len(batches)):
                yield [pairs[n] for n in rows]


def learn_pairs(
    model: nn.Module,
    pairs: Sequence[Pair],
    languages: Languages,
    *,
    updates: int,
    seed: int,
    size: int = 64,
    lr: float = 2e-3,
    clip: float = 1.0,
    own: float = 0.0,
    warmup: int = 0,
    smoothing: float = 0.0,
) -> list[float]:
    """Train a translator with Adam on the first answer of each pair; return the loss (nats per token) at every update.

    Args:
        model: a translator (see ``unrolled.translators``).
        pairs: sources and answers.
        languages: their vocabularies.
        updates: how many batches.
        seed: of the order.
        size: pairs in a batch.
        lr: the step size at the start; it falls to 0 along a straight line.
        clip: longest gradient allowed.
        own: how likely an input is the model's own guess at the end of the training; it grows from 0 (scheduled
            sampling, exercise 6.5). 0 is teacher forcing.
        warmup: over so many updates the step size first grows from 0 (chapter 9).
        smoothing: share of the probability that the targets give to all tokens alike (label smoothing, chapter 9).
            The losses returned contain it.
    """
    rng, generator, losses = random.Random(seed), torch.Generator().manual_seed(seed), []
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    batches = bucketed(pairs, size, rng)
    model.train()  # dropout on, if the model has any
    with Progress(updates) as progress:
        for done in range(updates):
            src, lengths, y = languages.batch(next(batches))
            y_in, targets = shift_right(y, BOS)
            if own > 0:
                with torch.no_grad():
                    y_hat = model(src, lengths, y_in).argmax(-1)  # (B, T)
                u = torch.rand(y.shape, generator=generator)
                y_in = scheduled_inputs(y_in, y_hat, own * done / updates, u)
            scores = model(src, lengths, y_in)  # (B, T, V)
            loss = nn.functional.cross_entropy(
                scores.flatten(0, 1), targets.flatten(), ignore_index=PAD, label_smoothing=smoothing
            )
            grown = min(1, (done + 1) / warmup) if warmup else 1
            optimizer.param_groups[0]["lr"] = lr * grown * (1 - done / updates)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), clip)
            optimizer.step()
            losses.append(loss.item())
            progress.step()
    model.eval()
    return losses


def translate(model: nn.Module, pairs: Sequence[Pair], languages: Languages, longest: int = 40) -> list[list[str]]:
    """What a translator writes for each source, as tokens; in the order of the pairs."""
    order = sorted(range(len(pairs)), key=lambda n: len(pairs[n][0]))
    said: list[list[str]] = [[] for _ in pairs]
    for rows in (order[k : k + 256] for k in range(0, len(order), 256)):
        src, lengths, _ = languages.batch([pairs[n] for n in rows])
        for n, ids in zip(rows, generate(model, src, lengths, longest), strict=True):
            said[n] = languages.target.decode(ids)
    return said


def scores(pairs: Sequence[Pair], said: Sequence[list[str]]) -> dict[str, float]:
    """How right is what was written?

    Returns:
        token error: edits over true tokens (the phoneme error rate), each time against the nearest of the answers.
        sequence error: share of the sources for which none of the answers was written (the word error rate of
            pronunciation).
        bleu: against the first answer.

    >>> scores([(["a"], [["X", "Y"], ["X"]]), (["b"], [["Z"]])], [["X"], []])
    {'token error': 0.5, 'sequence error': 0.5, 'bleu': 0.0}
    """
    nearest = [
        (min(targets, key=lambda target: edit_distance(target, hyp)), hyp)
        for (_, targets), hyp in zip(pairs, said, strict=True)
    ]
    return {
        "token error": error_rate(nearest),
        "sequence error": sum(ref != hyp for ref, hyp in nearest) / len(nearest),
        "bleu": bleu(said, [targets[0] for _, targets in pairs]),
    }


def scores_by_length(pairs: Sequence[Pair], said: Sequence[list[str]], edges: Sequence[int]) -> list[dict[str, float]]:
    """The scores of the sources with edges[k] <= length < edges[k + 1], and how many these are."""
    found = []
    for low, high in pairwise(edges):
        rows = [n for n, (source, _) in enumerate(pairs) if low <= len(source) < high]
        part = scores([pairs[n] for n in rows], [said[n] for n in rows]) if rows else {}
        found.append({"from": low, "below": high, "pairs": len(rows), **part})
    return found
