"""Chapter 14: RoBERTa's changes to BERT's recipe, one at a time, on a BERT small enough to run.

Static masks hide the same words of a row in every epoch, dynamic ones others each time. Without NSP the second sentence
always follows, and nothing is asked about it. All runs see the same number of rows, except "twice as long".
"""

import sys
import time
from typing import NamedTuple

import numpy as np
import torch
from sklearn.linear_model import LogisticRegression

from unrolled.bert_data import Rows, hide
from unrolled.bert_input import build_input, nsp_pairs
from unrolled.bert_model import BertForPretraining
from unrolled.measurements import record
from unrolled.pretrain.loss import PretrainingLoss
from unrolled.pretrain.rows import Batch, learn_pieces
from unrolled.schedules import linear_warmup_decay
from unrolled.wikipedia import articles, documents, sentences

SEEDS = [0, 1, 2]
PIECES, T = 1000, 32
D, HEADS, LAYERS, D_FF, DROPOUT = 64, 4, 2, 256, 0.1
STEPS, SIZE, PEAK = 600, 32, 2e-3
LABELLED = 500


class Recipe(NamedTuple):
    dynamic: bool = True
    nsp: bool = False
    size: int = SIZE
    steps: int = STEPS
    peak: float = PEAK
    every: int = 8  # of the documents, one in so many


RECIPES = {
    "BERT": Recipe(dynamic=False, nsp=True),
    "dynamic masks": Recipe(nsp=True),
    "and no NSP": Recipe(),
    "and larger batches": Recipe(size=4 * SIZE, steps=STEPS // 4, peak=2 * PEAK),
    "and twice as long": Recipe(steps=2 * STEPS),
    "and eight times the text": Recipe(every=1),
}
TEXT = documents("train")[::2]  # the file is sorted by topic: no slice from its beginning
TOKENIZER = learn_pieces(TEXT, PIECES)
SPECIAL = TOKENIZER.special


def encoded(docs: list[list[str]]) -> list[list[list[int]]]:
    return [[TOKENIZER.encode(sentence) for sentence in doc] for doc in docs]


IDS = encoded(TEXT)


def rows_of(pairs: list[tuple[list[int], list[int] | None, bool]]) -> Rows:
    ids, segments, mask = zip(*(build_input(a, b, T, SPECIAL) for a, b, _ in pairs), strict=True)
    return Rows(torch.stack(ids), torch.stack(segments), torch.stack(mask), torch.tensor([f for *_, f in pairs]).long())


def made(docs: list[list[list[int]]], nsp: bool, generator: torch.Generator) -> Rows:
    """One row for each sentence that has a next one; without NSP that one always follows."""
    u = torch.rand(sum(len(doc) - 1 for doc in docs), 3, generator=generator)
    return rows_of(nsp_pairs(docs, u if nsp else torch.zeros_like(u)))


def hidden(rows: Rows, generator: torch.Generator) -> Batch:
    ids, labels, chosen = hide(rows.ids, len(TOKENIZER), SPECIAL, generator)
    return Batch(ids, rows.segments, rows.mask, labels, chosen, rows.follows)


VALIDATION = encoded(documents("validation")[::2])
VALIDATED = sum(len(doc) - 1 for doc in VALIDATION)
ASKED = {
    nsp: hidden(made(VALIDATION, nsp, torch.Generator().manual_seed(7)), torch.Generator().manual_seed(8))
    for nsp in (False, True)
}


def topics(part: str) -> tuple[Rows, np.ndarray]:
    """The first two sentences of articles, and their topics."""
    found = [article for article in articles(part) if article["topic"] != "Uncategorized"]
    opened = [([s for line in a["extract"].split("\n") for s in sentences(line)], a["topic"]) for a in found]
    opened = [(doc, topic) for doc, topic in opened if len(doc) > 1]
    opened = opened[:: len(opened) // LABELLED]
    pairs = [(TOKENIZER.encode(doc[0]), TOKENIZER.encode(doc[1]), True) for doc, _ in opened]
    return rows_of(pairs), np.array([topic for _, topic in opened])


TOPICS = {part: topics(part) for part in ("train", "test")}


@torch.no_grad()
def mean_states(model: BertForPretraining, rows: Rows) -> np.ndarray:
    """The mean of the last states of each row (n, D)."""
    found = []
    for places in torch.arange(len(rows.ids)).split(200):
        part = rows.take(places)
        states, real = model.bert(part.ids, part.segments, part.mask).states, part.mask[..., None]
        found.append((states * real).sum(dim=1) / real.sum(dim=1))
    return torch.cat(found).numpy()


def bag(rows: Rows) -> np.ndarray:
    """Which pieces occur in each row (n, V)."""
    counts = torch.zeros(len(rows.ids), len(TOKENIZER))
    return (counts.scatter(1, rows.ids, 1.0) * (torch.arange(len(TOKENIZER)) > 4)).numpy()


def topic_accuracy(features, C: float) -> float:
    """A linear classifier on frozen features, learned from the training articles, asked about test articles."""
    (train, names), (test, asked) = TOPICS["train"], TOPICS["test"]
    x, y = features(train), features(test)
    mean, spread = x.mean(0), x.std(0) + 1e-6
    found = LogisticRegression(C=C, max_iter=500).fit((x - mean) / spread, names)
    return round(float(found.score((y - mean) / spread, asked)), 4)


@torch.no_grad()
def validate(model: BertForPretraining) -> dict:
    """Surprise at hidden words in true pairs, the share that is right; the share of second sentences judged rightly."""
    model.eval()
    loss, found = PretrainingLoss(model), {}
    for nsp, batch in ASKED.items():
        parts = [loss(batch.rows(slice(n, n + 200))) for n in range(0, VALIDATED, 200)]
        words, right = sum(part[0] for part in parts), sum(part[2] for part in parts)  # right: words, sentences
        found[nsp] = words / batch.chosen.sum(), right[0] / batch.chosen.sum(), right[1] / VALIDATED
    model.train()
    numbers = {"surprise": found[False][0], "right": found[False][1], "second sentence": found[True][2]}
    return {name: round(float(number), 4) for name, number in numbers.items()}


def pretrain(recipe: Recipe, seed: int) -> BertForPretraining:
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(100 + seed)
    model = BertForPretraining(len(TOKENIZER), D, HEADS, LAYERS, D_FF, longest=T, dropout=DROPOUT)
    rows = made(IDS[:: recipe.every], recipe.nsp, generator)
    static = hidden(rows, generator)
    optimizer = torch.optim.AdamW(model.parameters(), lr=recipe.peak, weight_decay=0.01)
    loss, order = PretrainingLoss(model), torch.empty(0, dtype=torch.long)
    for step in range(recipe.steps):
        if len(order) < recipe.size:
            order = torch.cat([order, torch.randperm(len(rows.ids), generator=generator)])
        places, order = order[: recipe.size], order[recipe.size :]
        batch = hidden(rows.take(places), generator) if recipe.dynamic else static.rows(places)
        words, second, _ = loss(batch)
        value = words / batch.chosen.sum()
        if recipe.nsp:
            value = value + second / recipe.size
        optimizer.param_groups[0]["lr"] = linear_warmup_decay(step, recipe.steps // 10, recipe.steps, recipe.peak)
        optimizer.zero_grad()
        value.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return model


def measure(recipe: Recipe, seed: int) -> dict:
    model = pretrain(recipe, seed)
    found = validate(model)
    model.eval()
    return {**found, "topics": topic_accuracy(lambda rows: mean_states(model, rows), C=0.1)}


def unigram() -> float:
    """The surprise of a model that knows only how often each piece occurs."""
    counts = torch.ones(len(TOKENIZER))
    for doc in IDS[::8]:
        for sentence in doc:
            counts += torch.bincount(torch.tensor(sentence), minlength=len(TOKENIZER))
    batch = ASKED[False]
    return round(float(-(counts / counts.sum()).log()[batch.labels[batch.chosen]].mean()), 4)


def main():
    torch.set_num_threads(1)
    since = time.time()
    torch.manual_seed(0)
    untrained = BertForPretraining(len(TOKENIZER), D, HEADS, LAYERS, D_FF, longest=T, dropout=DROPOUT).eval()
    most = max(np.mean(TOPICS["test"][1] == name) for name in set(TOPICS["train"][1]))
    values = {
        "unigram": unigram(),
        "rows": sum(len(doc) - 1 for doc in IDS[::8]),
        "all rows": sum(len(doc) - 1 for doc in IDS),
        "most frequent topic": round(float(most), 4),
        "bag of pieces": topic_accuracy(bag, C=0.01),
        "untrained": topic_accuracy(lambda rows: mean_states(untrained, rows), C=0.1),
        "recipes": {},
    }
    print(values, round(time.time() - since), flush=True)
    names = sys.argv[1:] or list(RECIPES)
    for name in names:
        values["recipes"][name] = runs = []
        for seed in SEEDS[: 1 if sys.argv[1:] else None]:
            runs.append(measure(RECIPES[name], seed))
            print(name, seed, runs[-1], round(time.time() - since), flush=True)
    if not sys.argv[1:]:
        print(record("ch14_roberta", SEEDS, values, since).name)


if __name__ == "__main__":
    main()
