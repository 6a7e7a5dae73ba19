"""Chapter 13: real weights on review sentences: frozen, partly frozen, full, and from scratch, by the number of labels.

Sentences of at most 20 words. "scratch" is an encoder of chapter 12's size without any pretraining, trained longer. The
step sizes and the numbers of epochs were fixed before the test sentences were looked at.
"""

import copy
import time

import torch
import torch.nn.functional as F

from unrolled.bert_data import Rows
from unrolled.bert_model import Bert
from unrolled.data import review_sentences
from unrolled.frozen_layers import HalfFrozen, fine_tune, lower_states, scores_of, text_rows
from unrolled.measurements import record
from unrolled.minilm import load_minilm
from unrolled.task_heads import SentenceHead

SEEDS = [0, 1, 2]
WORDS, T, TOP = 20, 32, 2
SIZES = [50, 200, 800]
EPOCHS = {50: 8, 200: 4, 800: 2}
FROZEN = {"epochs": 40, "lr_head": 1e-2}
TRAINED = {"lr": 2e-4, "lr_head": 1e-3}
SCRATCH = {"epochs": 10, "lr": 1e-3, "lr_head": 1e-3}
ENCODER = load_minilm()


def read(part: str) -> Rows:
    short = [pair for pair in review_sentences(part) if len(pair[0].split()) <= WORDS]
    return text_rows([text for text, _ in short], [label for _, label in short], T, ENCODER.tokenizer)


def small() -> Bert:
    """An encoder that knows nothing."""
    return Bert(len(ENCODER.tokenizer), D=96, n_heads=4, layers=2, d_ff=384, longest=64, spread=0.1)


def measure(bert: Bert, policy: str | int, pool: str, learned: Rows, asked: Rows, seed: int, below=(None, None),
            **options) -> float:  # fmt: skip
    torch.manual_seed(seed)
    model = HalfFrozen(copy.deepcopy(bert), SentenceHead(bert.pooler.in_features, 2, pool), policy)
    loss = lambda scores, places: F.cross_entropy(scores, learned.follows[places])  # noqa: E731
    fine_tune(model, learned, loss, seed=seed, below=below[0], **options)
    right = torch.stack(scores_of(model, asked, below[1])).argmax(-1) == asked.follows
    return round(right.double().mean().item(), 4)


def main():
    torch.set_num_threads(1)
    since, train, test = time.time(), read("train"), read("test")
    values = {"sizes": SIZES, "sentences": [len(train.ids), len(test.ids)]}
    features = lower_states(ENCODER.model, train, 6), lower_states(ENCODER.model, test, 6)
    print(values, round(time.time() - since), flush=True)
    ways = ("frozen, [CLS]", "frozen", "top", "full", "full, [CLS]", "scratch")
    values |= {way: [] for way in ways}
    for seed in SEEDS:
        order = torch.randperm(len(train.ids), generator=torch.Generator().manual_seed(seed))
        found = {way: [] for way in ways}
        for n in SIZES:
            chosen = order[:n]
            learned, below = train.take(chosen), (features[0][chosen], features[1])
            for way, pool in (("frozen", "mean"), ("frozen, [CLS]", "cls")):
                found[way].append(measure(ENCODER.model, "frozen", pool, learned, test, seed, below, **FROZEN))
            options = {"epochs": EPOCHS[n], "size": 16 if n == 50 else 32, **TRAINED}
            found["top"].append(measure(ENCODER.model, TOP, "mean", learned, test, seed, **options))
            found["full"].append(measure(ENCODER.model, "full", "mean", learned, test, seed, **options))
            if n == 200:
                found["full, [CLS]"].append(measure(ENCODER.model, "full", "cls", learned, test, seed, **options))
            torch.manual_seed(seed)
            found["scratch"].append(measure(small(), "full", "mean", learned, test, seed, **SCRATCH))
            print(seed, n, {way: runs[-1:] for way, runs in found.items()}, round(time.time() - since), flush=True)
        for way, runs in found.items():
            values[way].append(runs)
    print(record("ch13_reviews", SEEDS, values, since).name)


if __name__ == "__main__":
    main()
