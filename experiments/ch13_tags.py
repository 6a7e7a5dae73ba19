"""Chapter 13: parts of speech from 200 tagged sentences, with real weights and from scratch.

The sentences are downloaded (Universal Dependencies, English web texts); at most 16 words.
"""

import copy
import time

import torch
import torch.nn.functional as F
from ch13_reviews import ENCODER, FROZEN, SCRATCH, TOP, small
from torch import Tensor

from unrolled.bert_data import Rows
from unrolled.data import tagged_sentences
from unrolled.frozen_layers import HalfFrozen, fine_tune, scores_of
from unrolled.measurements import record
from unrolled.piece_labels import NONE, tagged_row
from unrolled.task_heads import TokenHead
from unrolled.word_labels import Lexicon

SEEDS = [0, 1, 2]
WORDS, T, SENTENCES, TESTED, EPOCHS = 16, 32, 200, 300, 5
TRAINED = {"lr": 2e-4, "lr_head": 1e-2}  # of the head: from 1e-3 and 1e-2, on validation sentences
WAYS = {"frozen": ("frozen", FROZEN), "top": (TOP, TRAINED | {"epochs": EPOCHS}),
        "full": ("full", TRAINED | {"epochs": EPOCHS}), "scratch": ("full", SCRATCH)}  # fmt: skip


def some(part: str) -> list[tuple[list[str], list[str]]]:
    return [pair for pair in tagged_sentences(part) if 4 <= len(pair[0]) <= WORDS]


def rows_of(pairs: list, names: list[str]) -> tuple[Rows, Tensor]:
    """Rows, and the labels (B, T) of the first pieces of all words."""
    made = [tagged_row(words, [names.index(tag) for tag in tags], T, ENCODER.tokenizer) for words, tags in pairs]
    ids, labels, mask = (torch.tensor(part) for part in zip(*made, strict=True))
    return Rows(ids, torch.zeros_like(ids), mask, torch.zeros(len(ids)).long()), labels


def measure(way: str, learned: Rows, labels: Tensor, asked: Rows, right: Tensor, Y: int, seed: int) -> float:
    torch.manual_seed(seed)
    policy, options = WAYS[way]
    bert = small() if way == "scratch" else copy.deepcopy(ENCODER.model)
    model = HalfFrozen(bert, TokenHead(bert.pooler.in_features, Y), policy)

    def loss(scores: Tensor, places: Tensor) -> Tensor:
        return F.cross_entropy(scores.flatten(0, 1), labels[places, : scores.shape[1]].flatten(), ignore_index=NONE)

    fine_tune(model, learned, loss, seed=seed, **options)
    hits = words = 0
    for scores, wanted in zip(scores_of(model, asked), right, strict=True):
        wanted = wanted[: len(scores)]
        hits += int((scores.argmax(-1) == wanted)[wanted != NONE].sum())
        words += int((wanted != NONE).sum())
    return round(hits / words, 4)


def main():
    torch.set_num_threads(1)
    since, train, test = time.time(), some("train"), some("test")[:TESTED]
    names = sorted({tag for _, tags in train for tag in tags})
    asked, right = rows_of(test, names)
    values = {"tags": len(names), "words": int((right != NONE).sum()), "lexicon": [], **{way: [] for way in WAYS}}
    for seed in SEEDS:
        order = torch.randperm(len(train), generator=torch.Generator().manual_seed(seed))[:SENTENCES].tolist()
        chosen = [train[i] for i in order]
        lexicon = Lexicon(chosen, context=False, other="NOUN")
        hits = [a == b for words, tags in test for a, b in zip(lexicon.tags(words), tags, strict=True)]
        values["lexicon"].append(round(sum(hits) / len(hits), 4))
        learned, labels = rows_of(chosen, names)
        for way in WAYS:
            values[way].append(measure(way, learned, labels, asked, right, len(names), seed))
        print(
            seed, {k: v[-1] for k, v in values.items() if isinstance(v, list)}, round(time.time() - since), flush=True
        )
    print(record("ch13_tags", SEEDS, values, since).name)


if __name__ == "__main__":
    main()
