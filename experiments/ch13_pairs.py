"""Chapter 13: does the second sentence follow from the first, contradict it, or neither? 400 labelled pairs.

The pairs are downloaded (the two smaller files of the Stanford corpus); at most 24 words in both. Read in one row, or
as two vectors u and v that are compared (u, v, |u - v|, u v). "second alone": a control that never sees the first one.
"""

import copy
import time

import torch
import torch.nn.functional as F
from ch13_reviews import ENCODER, FROZEN, SCRATCH, TOP, small
from ch13_tags import TRAINED
from torch import nn

from unrolled.entailment import Pair, entailment_pairs
from unrolled.frozen_layers import HalfFrozen, fine_tune, scores_of, text_rows
from unrolled.measurements import record
from unrolled.sentence_embedding import embed_texts
from unrolled.task_heads import SentenceHead
from unrolled.training import train

SEEDS = [0, 1, 2]
WORDS, T, PAIRS, TESTED, EPOCHS = 24, 40, 400, 600, 3
WAYS = {"frozen": ("frozen", FROZEN), "top": (TOP, TRAINED | {"epochs": EPOCHS}),
        "full": ("full", TRAINED | {"epochs": EPOCHS}), "scratch": ("full", SCRATCH)}  # fmt: skip


def some(part: str) -> list[Pair]:
    return [p for p in entailment_pairs(part) if len(p.premise.split()) + len(p.hypothesis.split()) <= WORDS]


def compared(pairs: list[Pair]) -> tuple[torch.Tensor, torch.Tensor]:
    """(n, 4 D) what two vectors say of each other, and (n, D) the second alone."""
    u, v = (embed_texts(ENCODER, [pair[k] for pair in pairs], T) for k in (0, 1))
    return torch.cat([u, v, (u - v).abs(), u * v], dim=1), v


def linear(learned: torch.Tensor, labels: torch.Tensor, asked: torch.Tensor, right: torch.Tensor, seed: int) -> float:
    """One layer on vectors that stay as they are; they are short, so it takes larger steps."""
    torch.manual_seed(seed)
    layer = nn.Linear(learned.shape[1], 3)
    train(layer.parameters(), lambda rows: F.cross_entropy(layer(learned[rows]), labels[rows]), len(labels),
          epochs=40, seed=seed, size=32, lr=1e-2)  # fmt: skip
    return round((layer(asked).argmax(-1) == right).double().mean().item(), 4)


def measure(way: str, learned, asked, seed: int) -> float:
    torch.manual_seed(seed)
    policy, options = WAYS[way]
    bert = small() if way == "scratch" else copy.deepcopy(ENCODER.model)
    model = HalfFrozen(bert, SentenceHead(bert.pooler.in_features, 3, "mean"), policy)
    fine_tune(model, learned, lambda scores, places: F.cross_entropy(scores, learned.follows[places]),
              seed=seed, **options)  # fmt: skip
    right = torch.stack(scores_of(model, asked)).argmax(-1) == asked.follows
    return round(right.double().mean().item(), 4)


def main():
    torch.set_num_threads(1)
    since, pairs, test = time.time(), some("train"), some("test")[:TESTED]
    asked = text_rows([p[:2] for p in test], [p.label for p in test], T, ENCODER.tokenizer)
    both, second = compared(test)
    most = max(asked.follows.bincount().tolist()) / len(test)
    values = {"pairs": [len(pairs), len(test)], "most frequent": round(most, 4), "two vectors": [], "second alone": []}
    values |= {way: [] for way in WAYS}
    for seed in SEEDS:
        order = torch.randperm(len(pairs), generator=torch.Generator().manual_seed(seed))[:PAIRS].tolist()
        chosen = [pairs[i] for i in order]
        labels = torch.tensor([pair.label for pair in chosen])
        learned = text_rows([pair[:2] for pair in chosen], labels.tolist(), T, ENCODER.tokenizer)
        for name, x, y in zip(("two vectors", "second alone"), compared(chosen), (both, second), strict=True):
            values[name].append(linear(x, labels, y, asked.follows, seed))
        for way in WAYS:
            values[way].append(measure(way, learned, asked, seed))
        print(
            seed, {k: v[-1] for k, v in values.items() if isinstance(v, list)}, round(time.time() - since), flush=True
        )
    print(record("ch13_pairs", SEEDS, values, since).name)


if __name__ == "__main__":
    main()
