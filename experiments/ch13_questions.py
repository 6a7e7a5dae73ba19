"""Chapter 13: find the answer to a question in a sentence, from 300 examples.

The questions are downloaded (the English part of XQuAD); of each paragraph only the sentence with the answer is read.
"""

import copy
import time

import torch
from ch13_reviews import ENCODER, FROZEN, SCRATCH, TOP, small
from ch13_tags import TRAINED
from torch import Tensor

from unrolled.answer_spans import answer_rows, best_span, span_loss
from unrolled.frozen_layers import HalfFrozen, fine_tune, scores_of
from unrolled.measurements import record
from unrolled.questions import Question, answered_questions
from unrolled.task_heads import TokenHead

SEEDS = [0, 1, 2]
T, QUESTIONS, EPOCHS, LONGEST = 56, 300, 3, 12  # LONGEST: steps of an answer
WAYS = {"frozen": ("frozen", FROZEN), "top": (TOP, TRAINED | {"epochs": EPOCHS, "size": 16}),
        "full": ("full", TRAINED | {"epochs": EPOCHS, "size": 16}), "scratch": ("full", SCRATCH)}  # fmt: skip


def some(part: str) -> list[Question]:
    """Those that fit into a row."""
    cut = ENCODER.tokenizer.encode
    return [q for q in answered_questions(part) if len(cut(q.question)) + len(cut(q.text)) + 3 <= T]


def judged(found: Tensor, spans: Tensor) -> dict[str, float]:
    """The share of answers that are exactly right, and the mean F1 of the steps."""
    first, last = torch.maximum(found[:, 0], spans[:, 0]), torch.minimum(found[:, 1], spans[:, 1])
    common = (last - first + 1).clamp(min=0)
    long = sum(s[:, 1] - s[:, 0] + 1 for s in (found, spans))
    return {"exact": round((found == spans).all(1).double().mean().item(), 4),
            "f1": round((2 * common / long).double().mean().item(), 4)}  # fmt: skip


def measure(way: str, learned: tuple, asked: tuple, seed: int) -> dict[str, float]:
    torch.manual_seed(seed)
    policy, options = WAYS[way]
    bert = small() if way == "scratch" else copy.deepcopy(ENCODER.model)
    rows, allowed, spans = learned
    model = HalfFrozen(bert, TokenHead(bert.pooler.in_features, 2), policy)

    def loss(scores: Tensor, places: Tensor) -> Tensor:
        start, end = scores.unbind(-1)  # (B, T) each
        return span_loss(start, end, spans[places], allowed[places, : scores.shape[1]])

    fine_tune(model, rows, loss, seed=seed, **options)
    rows, allowed, spans = asked
    found = []
    for scores, may in zip(scores_of(model, rows), allowed, strict=True):
        start, end = scores.T[:, None]  # (1, T) each
        found.append(best_span(start, end, may[None, : len(scores)], LONGEST))
    return judged(torch.cat(found), spans)


def guessed(allowed: Tensor, spans: Tensor, seed: int) -> dict[str, float]:
    """Any stretch of the text, as long as the right answer."""
    generator, found = torch.Generator().manual_seed(seed), []
    for may, (start, end) in zip(allowed, spans.tolist(), strict=True):
        places = may.nonzero()[:, 0]
        first = int(torch.randint(len(places) - (end - start), (1,), generator=generator))
        found.append([int(places[first]), int(places[first]) + end - start])
    return judged(torch.tensor(found), spans)


def main():
    torch.set_num_threads(1)
    since, train, test = time.time(), some("train"), some("test")
    asked = answer_rows(test, T, ENCODER.tokenizer)
    values = {
        "questions": [len(train), len(test)],
        "steps of the text": round(asked[1].sum(1).double().mean().item(), 1),
    }
    values |= {way: [] for way in ("guess", *WAYS)}
    for seed in SEEDS:
        order = torch.randperm(len(train), generator=torch.Generator().manual_seed(seed))[:QUESTIONS].tolist()
        learned = answer_rows([train[i] for i in order], T, ENCODER.tokenizer)
        values["guess"].append(guessed(*asked[1:], seed))
        for way in WAYS:
            values[way].append(measure(way, learned, asked, seed))
            print(seed, way, values[way][-1], round(time.time() - since), flush=True)
    print(record("ch13_questions", SEEDS, values, since).name)


if __name__ == "__main__":
    main()
