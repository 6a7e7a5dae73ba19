"""An encoder whose lower layers stay as they are: what they make of a text is computed once (chapter 13).

A layer that is frozen and drops nothing gives the same states in every epoch. So they are kept, and training begins
above them: a linear layer on six frozen layers learns in seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from unrolled.bert_data import Rows
from unrolled.bert_input import build_input
from unrolled.bert_model import Bert
from unrolled.finetuning import set_trainable
from unrolled.progress import Progress
from unrolled.schedules import linear_warmup_decay
from unrolled.training import minibatches
from unrolled.wordpiece import WordPiece


def text_rows(texts: Sequence[str | tuple[str, str]], labels: Sequence[int], T: int, tokenizer: WordPiece) -> Rows:
    """Sentences, or pairs of sentences, as rows of at most T word pieces; the labels stand in ``follows``.

    >>> tokenizer = WordPiece(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "good", "film"])
    >>> rows = text_rows(["good film", ("good", "film")], [1, 0], 8, tokenizer)
    >>> rows.ids.tolist(), rows.segments[1].tolist()
    ([[2, 5, 6, 3, 0], [2, 5, 3, 6, 3]], [0, 0, 0, 1, 1])
    """
    pairs = [(text, None) if isinstance(text, str) else text for text in texts]
    built = [
        build_input(tokenizer.encode(a), None if b is None else tokenizer.encode(b), T, tokenizer.special)
        for a, b in pairs
    ]
    ids, segments, mask = (torch.stack(part) for part in zip(*built, strict=True))
    return Rows(ids, segments, mask, torch.tensor(labels)).take(torch.arange(len(pairs)))


@torch.no_grad()
def lower_states(bert: Bert, rows: Rows, n: int, size: int = 64) -> Tensor:
    """The states (B, T, D) after the first n layers, with dropout off; zeros at the pads. n = 0: the embedding."""
    was, found = bert.training, bert.pooler.weight.new_zeros(*rows.ids.shape, bert.pooler.in_features)
    bert.eval()
    for places in rows.mask.sum(dim=1).argsort(stable=True).split(size):  # rows of like length together: fewer pads
        part = rows.take(places)
        x = climb(bert, bert.embedding(part.ids, part.segments), part.mask, 0, n)
        found[places, : x.shape[1]] = x * part.mask[..., None]
    bert.train(was)
    return found


def climb(bert: Bert, x: Tensor, mask: Tensor, first: int, last: int | None = None) -> Tensor:
    """States (B, T, D) below layer ``first`` -> those above the layers first, ..., last - 1 (default: above all)."""
    for layer in bert.layers[first:last]:
        x, _ = layer(x, mask[:, None, None])
    return x  # (B, T, D)


class HalfFrozen(nn.Module):
    """An encoder with a head on top, of which the lowest layers may be frozen.

    Args:
        bert: the encoder.
        head: takes states (B, T, D) and the mask (B, T), returns scores.
        policy: what is trained besides the head, as in ``set_trainable``: "frozen", "full", or the number of layers.
    """

    def __init__(self, bert: Bert, head: nn.Module, policy: str | int):
        super().__init__()
        self.bert, self.head, self.policy = bert, head, policy
        N = len(bert.layers)
        self.frozen = {"frozen": N, "full": None}[policy] if isinstance(policy, str) else N - policy  # how many layers

    def below(self, rows: Rows) -> Tensor | None:
        """What the frozen part makes of the rows, to be computed once; None if nothing is frozen."""
        return None if self.frozen is None else lower_states(self.bert, rows, self.frozen)

    def forward(self, rows: Rows, below: Tensor | None, places: Tensor) -> Tensor:
        """The scores of some of the rows."""
        part = rows.take(places)
        T = part.ids.shape[1]
        x = self.bert.embedding(part.ids, part.segments) if below is None else below[places, :T]  # (B, T, D)
        return self.head(climb(self.bert, x, part.mask, self.frozen or 0), part.mask)


def fine_tune(
    model: HalfFrozen,
    rows: Rows,
    loss: Callable[[Tensor, Tensor], Tensor],
    *,
    epochs: int,
    seed: int,
    size: int = 32,
    lr: float = 1e-4,
    lr_head: float = 1e-3,
    below: Tensor | None = None,
) -> list[float]:
    """Train what is not frozen, with warm-up and linear decay (chapter 12); return the loss at every step.

    Args:
        model: is left in ``eval()``.
        rows: what is read.
        loss: takes the scores of a batch and the numbers of its rows, returns a scalar.
        epochs, seed, size: as in ``train``.
        lr: the largest step size in the encoder.
        lr_head: that of the head.
        below: ``model.below(rows)``, if it has been computed before.
    """
    below = model.below(rows) if below is None else below
    optimizer = torch.optim.Adam(set_trainable(model, model.policy, lr, lr_head), fused=True)  # faster, the same steps
    peaks = [group["lr"] for group in optimizer.param_groups]
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    generator, losses = torch.Generator().manual_seed(seed), []
    steps = epochs * -(-len(rows.ids) // size)
    with Progress(steps) as progress:
        for _ in range(epochs):
            for places in minibatches(len(rows.ids), size, generator):
                for group, peak in zip(optimizer.param_groups, peaks, strict=True):
                    group["lr"] = linear_warmup_decay(len(losses) + 1, steps // 10, steps + 1, peak)
                value = loss(model(rows, below, places), places)
                optimizer.zero_grad()
                value.backward()
                nn.utils.clip_grad_norm_(parameters, 1.0)
                optimizer.step()
                losses.append(value.item())
                progress.step()
    model.eval()
    return losses


@torch.no_grad()
def scores_of(model: HalfFrozen, rows: Rows, below: Tensor | None = None, size: int = 64) -> list[Tensor]:
    """The scores of every row, one tensor each, without gradients; ``fine_tune`` leaves the model ready for it."""
    found: list[Tensor | None] = [None] * len(rows.ids)
    below = model.below(rows) if below is None else below
    for places in rows.mask.sum(dim=1).argsort(stable=True).split(size):
        for place, scores in zip(places.tolist(), model(rows, below, places), strict=True):
            found[place] = scores
    return found
