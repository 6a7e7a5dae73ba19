"""Real verses by letters or by words, and one way to train and to test every language model of them (chapter 3)."""

from __future__ import annotations

import time
from collections.abc import Callable

import torch
from torch import Tensor, nn

from unrolled.data import SPLIT, verses
from unrolled.losses import cross_entropy
from unrolled.progress import with_progress
from unrolled.text import Vocabulary, pad_batch, words

BOS = 0  # the start symbol has the id of the pad: it is read, never predicted
NEW = 23_145  # the number of the verse with which the New Testament begins


def verse_letters(change: Callable[[str], str] = lambda verse: verse) -> tuple[dict[str, list[list[int]]], Vocabulary]:
    """The verses of the New Testament as lists of character ids, each ended by a line break, and their vocabulary.

    Args:
        change: applied to each verse first, for instance to delete its spaces.

    Returns:
        documents: "train" (6,367 verses), "validation" and "test" (795 each).
        vocabulary: of the characters in the training verses.
    """
    return _parts([list(change(verse) + "\n") for verse in verses()[NEW:]], min_count=1)


def verse_words() -> tuple[dict[str, list[list[int]]], Vocabulary]:
    """The same verses as lists of word ids; words that occur less than three times in training are unknown (id 1)."""
    return _parts([[*words(verse), "\n"] for verse in verses()[NEW:]], min_count=3)


def _parts(book: list[list[str]], min_count: int) -> tuple[dict[str, list[list[int]]], Vocabulary]:
    parts = {part: [verse for i, verse in enumerate(book) if i % 10 in digits] for part, digits in SPLIT.items()}
    vocabulary = Vocabulary(parts["train"], min_count)
    return {part: [vocabulary.encode(verse) for verse in verses] for part, verses in parts.items()}, vocabulary


class WindowReader(nn.Module):
    """The sliding-window network of chapter 1 at every place of a text: (B, T) ids -> scores (B, T, V)."""

    def __init__(self, V: int, E: int, H: int, n: int):
        super().__init__()
        self.n, self.embedding = n, nn.Embedding(V, E)
        self.hidden, self.output = nn.Linear(n * E, H), nn.Linear(H, V)

    def forward(self, ids: Tensor, state: None = None) -> tuple[Tensor, None]:
        padded = nn.functional.pad(ids, (self.n - 1, 0), value=BOS)
        e = self.embedding(padded.unfold(1, self.n, 1)).flatten(2)  # (B, T, n) -> (B, T, n*E)
        return self.output(torch.tanh(self.hidden(e))), None


def batches(documents: list[list[int]], size: int, generator: torch.Generator | None = None) -> list[Tensor]:
    """Documents of similar length side by side, each behind a start symbol, padded: a list of (B, T + 1) ids.

    >>> [batch.tolist() for batch in batches([[5, 6, 7], [8], [9, 4]], size=2)]
    [[[0, 8, 0], [0, 9, 4]], [[0, 5, 6, 7]]]
    """
    noise = torch.rand(len(documents), generator=generator) if generator else torch.zeros(len(documents))
    order = sorted(range(len(documents)), key=lambda i: len(documents[i]) + 20 * float(noise[i]))
    rows = [order[k : k + size] for k in range(0, len(order), size)]
    if generator:
        rows = [rows[k] for k in torch.randperm(len(rows), generator=generator).tolist()]
    return [pad_batch([[BOS, *documents[i]] for i in row], BOS)[0] for row in rows]


def batch_loss(model: nn.Module, batch: Tensor) -> Tensor:
    """The mean surprise of the ids of a batch, given the right ids before them (teacher forcing)."""
    return cross_entropy(model(batch[:, :-1])[0], batch[:, 1:], pad=BOS)


@torch.no_grad()
def surprises(model: nn.Module, document: list[int]) -> Tensor:
    """-log p in nats of every id of one document: (T,)."""
    ids = torch.tensor([[BOS, *document]])
    log_p = model(ids[:, :-1])[0].log_softmax(-1)
    return -log_p.gather(-1, ids[:, 1:, None])[0, :, 0]


@torch.no_grad()
def mean_surprise(model: nn.Module, documents: list[list[int]]) -> float:
    """Nats per id over all documents."""
    total = sum(float(batch_loss(model, batch)) * int((batch != BOS).sum()) for batch in batches(documents, 64))
    return total / sum(map(len, documents))


def learn(
    model: nn.Module,
    documents: list[list[int]],
    *,
    epochs: float,
    seed: int,
    size: int = 32,
    lr: float = 5e-3,
    look: Callable[[], float] | None = None,
    looks: int = 8,
) -> list[tuple[float, float]]:
    """Train a model of documents with Adam, gradients clipped at 1, the step size falling to zero in a straight line.

    Args:
        model: (B, T) ids -> scores (B, T, V), state.
        documents: lists of ids without the start symbol.
        epochs: how often each document is seen; a half is allowed.
        seed: of the order of the documents.
        size: documents per batch.
        lr: the step size at the start.
        look: called now and then (the first time after 1/64 of the steps, then at doubled distances), for instance to
            test the model.
        looks: how many times it is called at most.

    Returns:
        (processor seconds of training so far, without the looks; what ``look`` returned) for each look.
    """
    generator = torch.Generator().manual_seed(seed)
    per_epoch = -(-len(documents) // size)
    steps = round(epochs * per_epoch)
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.02, total_iters=steps)
    wanted, seen, spent, queue = {max(1, steps >> k) for k in range(looks)}, [], 0.0, []
    for step in with_progress(range(1, steps + 1)):
        queue = queue or batches(documents, size, generator)
        start = time.process_time()
        loss = batch_loss(model, queue.pop())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        spent += time.process_time() - start
        if look is not None and step in wanted:
            seen.append((round(spent, 2), look()))
    return seen
