"""Chapter 13: 200 sentences of the agreement grammar, half of them with the wrong verb: frozen, tuned, from scratch.

The tiny BERT is that of chapter 12, which has seen only right sentences, with words hidden, and no labels. The real
weights have never seen this grammar, but a great deal of English.
"""

import copy
import time

import torch
import torch.nn.functional as F
from ch12_agreement import LONGEST, MOST, SIZES, SPREAD, V, learn, tests
from torch import Tensor

from unrolled.bert_data import Rows, agreement_rows
from unrolled.bert_model import Bert
from unrolled.frozen_layers import HalfFrozen, fine_tune, scores_of, text_rows
from unrolled.measurements import record
from unrolled.minilm import load_minilm
from unrolled.task_heads import SentenceHead

SEEDS = [0, 1, 2]
LABELS = 200
FROZEN = {"epochs": 60, "lr_head": 1e-2}
TINY = {"epochs": 60, "lr": 1e-3, "lr_head": 1e-3}
REAL = {"epochs": 15, "lr": 2e-4, "lr_head": 1e-3}
ENCODER = load_minilm()


def spoiled(rows: Rows, verbs: Tensor) -> Rows:
    """Every second sentence gets the other verb; the label is 1 where the sentence is right."""
    each, right = torch.arange(len(verbs)), torch.arange(len(verbs)) % 2 == 0
    was, were, ids = V.ids["was"], V.ids["were"], rows.ids.clone()
    other = torch.where(ids[each, verbs] == was, were, was)
    ids[each, verbs] = torch.where(right, ids[each, verbs], other)
    return rows._replace(ids=ids, follows=right.long())


def labelled(seed: int, asked: Rows) -> Rows:
    """Sentences to learn from, with 0 to 3 nouns between subject and verb, none of which is asked."""
    rows, verbs = agreement_rows(2 * LABELS, MOST, seed)
    known = {tuple(ids[real].tolist()) for ids, real in zip(asked.ids, asked.mask, strict=True)}
    new = [tuple(ids[real].tolist()) not in known for ids, real in zip(rows.ids, rows.mask, strict=True)]
    places = torch.tensor(new).nonzero()[:LABELS, 0]
    return spoiled(rows.take(places), verbs[places])


def as_text(rows: Rows) -> Rows:
    """The same sentences in the word pieces of the real model."""
    sentences = [" ".join(V.decode(ids[real][1:-1])) for ids, real in zip(rows.ids, rows.mask, strict=True)]
    return text_rows(sentences, rows.follows.tolist(), 32, ENCODER.tokenizer)


def judged(bert: Bert, policy: str | int, pool: str, learned: Rows, asked: Rows, seed: int, **options) -> float:
    """Train on the labelled sentences; how many of the others are judged rightly?"""
    torch.manual_seed(seed)
    model = HalfFrozen(copy.deepcopy(bert), SentenceHead(bert.pooler.in_features, 2, pool), policy)
    fine_tune(model, learned, lambda scores, places: F.cross_entropy(scores, learned.follows[places]),
              seed=seed, **options)  # fmt: skip
    right = torch.stack(scores_of(model, asked)).argmax(-1) == asked.follows
    return right.double().mean().item()


def measure(seed: int) -> dict[str, float]:
    rows, verbs = tests()[1]
    learned, asked = labelled(2000 + seed, rows), spoiled(rows, verbs)
    tiny = learn("both", seed).bert
    torch.manual_seed(10 + seed)
    new = Bert(len(V), **SIZES, longest=LONGEST, dropout=0.0, spread=SPREAD)
    run = {
        "tiny, from scratch": judged(new, "full", "cls", learned, asked, seed, **TINY),
        "tiny, frozen, [CLS]": judged(tiny, "frozen", "cls", learned, asked, seed, **FROZEN),
        "tiny, frozen, mean": judged(tiny, "frozen", "mean", learned, asked, seed, **FROZEN),
        "tiny, last layer": judged(tiny, 1, "cls", learned, asked, seed, **TINY),
        "tiny, full": judged(tiny, "full", "cls", learned, asked, seed, **TINY),
    }
    learned, asked = as_text(learned), as_text(asked)
    run["real, frozen, [CLS]"] = judged(ENCODER.model, "frozen", "cls", learned, asked, seed, **FROZEN)
    run["real, frozen, mean"] = judged(ENCODER.model, "frozen", "mean", learned, asked, seed, **FROZEN)
    run["real, full"] = judged(ENCODER.model, "full", "mean", learned, asked, seed, **REAL)
    return run


def main():
    torch.set_num_threads(1)
    since, runs = time.time(), []
    for seed in SEEDS:
        runs.append(measure(seed))
        print(seed, {name: round(value, 3) for name, value in runs[-1].items()}, round(time.time() - since), flush=True)
    values = {name: [round(run[name], 4) for run in runs] for name in runs[0]}
    print(record("ch13_acceptability", SEEDS, {"labels": LABELS, **values}, since).name)


if __name__ == "__main__":
    main()
