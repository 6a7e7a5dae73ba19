"""Chapter 12: a tiny BERT on the agreement grammar: hidden verbs and hidden subjects, read from both sides or from one.

Five ways to learn from the same sentences, with the same network, seeds and number of steps. "both": some words are
hidden, all others may be looked at. "left": the same, but a step may look only at itself and at what stands before.
"next": the next word at every step, as in chapter 11. "always [MASK]": as "both", but every chosen word becomes [MASK].
"small start": as "both", but with first weights of spread 0.02, as in the published models (768 wide and more).
"""

import time

import torch
from torch import Tensor

from unrolled.bert_data import Rows, agreement_rows, agreement_vocabulary, batches, distractor_rows, single_rows
from unrolled.bert_input import Special
from unrolled.bert_model import BertForPretraining
from unrolled.masked_words import mlm_loss, mlm_mask
from unrolled.masks import causal_mask
from unrolled.measurements import record
from unrolled.memory_tasks import NOUNS
from unrolled.schedules import linear_warmup_decay

SEEDS = [0, 1, 2]
WAYS = ("both", "left", "next", "always [MASK]", "small start")
V, SPECIAL = agreement_vocabulary(), Special()
SIZES = {"D": 32, "n_heads": 4, "layers": 2, "d_ff": 64}
LONGEST, MOST, N = 16, 3, 8000  # steps in a row, nouns between subject and verb, sentences to learn from
SPREAD = 0.1  # of the first weights
STEPS, WARMUP, PEAK, SIZE, EVERY = 1200, 100, 3e-3, 32, 50
TESTED = 400  # sentences of each test
SUBJECT = 2  # its place in a row: [CLS] the flights
DECK = ("the flights the airline was cancelling were full", "the flight the airlines were cancelling was full")


def tests() -> dict[int, tuple[Rows, Tensor]]:
    """Sentences by the number of nouns in between; the first of these always has the other number."""
    return {nouns: distractor_rows(TESTED, nouns, seed=1000 + nouns) for nouns in range(MOST + 1)}


def deck() -> tuple[Rows, Tensor]:
    sentences = [sentence.split() for sentence in DECK]
    return single_rows([V.encode(s) for s in sentences], 10, SPECIAL), torch.full((len(DECK),), 7)


def learned_from(seed: int) -> Rows:
    """Sentences with 0 to 3 nouns in between, none of which is asked in a test."""
    asked = {tuple(ids[real].tolist()) for rows, _ in [*tests().values(), deck()]
             for ids, real in zip(rows.ids, rows.mask, strict=True)}  # fmt: skip
    rows, _ = agreement_rows(N, MOST, seed)
    new = [tuple(ids[real].tolist()) not in asked for ids, real in zip(rows.ids, rows.mask, strict=True)]
    return rows.take(torch.tensor(new).nonzero()[:, 0])


def may_look(way: str, mask: Tensor) -> Tensor:
    return mask[:, None, :] & causal_mask(mask.shape[1]) if way in ("left", "next") else mask


def loss_of(model: BertForPretraining, way: str, rows: Rows, generator: torch.Generator) -> Tensor:
    ids, mask = rows.ids, may_look(way, rows.mask)
    u = torch.rand(2, *ids.shape, generator=generator)
    random_ids = torch.randint(0, len(V), ids.shape, generator=generator)
    if way == "next":
        return mlm_loss(model(ids, None, mask)[0][:, :-1], ids[:, 1:], rows.mask[:, 1:])
    if way == "always [MASK]":
        u[1] = 0
    masked, labels, chosen = mlm_mask(ids, u, random_ids, SPECIAL)
    return mlm_loss(model(masked, None, mask)[0], labels, chosen)


@torch.no_grad()
def asked(model: BertForPretraining, way: str, rows: Rows, places: Tensor, hide: bool = True) -> Tensor:
    """The probabilities of all words at one place of each row (B, V), where the word is hidden or, if not, stands."""
    each, ids = torch.arange(len(places)), rows.ids.clone()
    if hide and way != "next":
        ids[each, places] = SPECIAL.mask
    scores = model(ids, None, may_look(way, rows.mask))[0]
    return scores[each, places - 1 if way == "next" else places].softmax(-1)


def verbs(model: BertForPretraining, way: str, rows: Rows, places: Tensor) -> float:
    """How often the right one of "was" and "were" has the higher probability."""
    p, right = asked(model, way, rows, places), rows.ids[torch.arange(len(places)), places]
    return ((p[:, V.ids["were"]] > p[:, V.ids["was"]]) == (right == V.ids["were"])).double().mean().item()


def subjects(model: BertForPretraining, way: str, rows: Rows) -> float:
    """How often the nouns of the right number together have the higher probability, where the subject is hidden."""
    p = asked(model, way, rows, torch.full((len(rows.ids),), SUBJECT))
    plural = torch.tensor(V.encode(NOUNS["pl"]))
    singular = torch.tensor(V.encode(NOUNS["sg"]))
    guess = p[:, plural].sum(1) > p[:, singular].sum(1)
    return (guess == torch.isin(rows.ids[:, SUBJECT], plural)).double().mean().item()


def proofread(model: BertForPretraining, rows: Rows, places: Tensor) -> dict[str, float]:
    """Nothing is hidden. What does the model say at the verb if it is right, and if it was exchanged?"""
    each, was, were = torch.arange(len(places)), V.ids["was"], V.ids["were"]
    right = rows.ids[each, places]
    wrong = rows.ids.clone()
    wrong[each, places] = torch.where(right == was, were, was)
    kept = asked(model, "both", rows, places, hide=False)[each, right]
    mended = asked(model, "both", rows._replace(ids=wrong), places, hide=False)[each, right]
    with torch.no_grad():
        said = model(rows.ids, None, rows.mask)[0].argmax(-1)
    real = rows.mask & (rows.ids != SPECIAL.cls) & (rows.ids != SPECIAL.sep)
    same = (said == rows.ids)[real].double().mean().item()
    return {"right verb": kept.mean().item(), "mended": mended.mean().item(), "repeats what stands": same}


def learn(way: str, seed: int, each: object = None) -> BertForPretraining:
    """Train; ``each(step, model)`` is called before the first step, every 50 steps, and at the end."""
    torch.manual_seed(seed)
    spread = 0.02 if way == "small start" else SPREAD
    model = BertForPretraining(len(V), **SIZES, longest=LONGEST, dropout=0.0, spread=spread)
    optimizer = torch.optim.Adam(model.parameters())
    generator, rows, queue = torch.Generator().manual_seed(100 + seed), learned_from(seed), iter(())
    for step in range(STEPS):
        if each and step % EVERY == 0:
            each(step, model)
        batch = next(queue, None)
        if batch is None:
            queue = batches(rows, SIZE, generator)
            batch = next(queue)
        loss = loss_of(model, way, batch, generator)
        optimizer.param_groups[0]["lr"] = linear_warmup_decay(step + 1, WARMUP, STEPS + 1, PEAK)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    if each:
        each(STEPS, model)
    return model.eval()


def measure(way: str, seed: int) -> dict:
    tested, run = tests(), {"steps": [], "was": [], "were": [], "verb": [], "subject": []}

    def look(step: int, model: BertForPretraining) -> None:
        p = asked(model, way, *deck())
        run["steps"].append(step)
        run["was"].append([round(x, 4) for x in p[:, V.ids["was"]].tolist()])
        run["were"].append([round(x, 4) for x in p[:, V.ids["were"]].tolist()])
        run["verb"].append(verbs(model, way, *tested[1]))
        run["subject"].append(subjects(model, way, tested[1][0]))

    model = learn(way, seed, look)
    run["verbs by nouns"] = [round(verbs(model, way, *tested[nouns]), 4) for nouns in tested]
    run["subjects by nouns"] = [round(subjects(model, way, tested[nouns][0]), 4) for nouns in tested]
    if way in ("both", "always [MASK]"):
        run["visible"] = {name: round(value, 4) for name, value in proofread(model, *tested[1]).items()}
    return run


def main():
    torch.set_num_threads(1)
    since, values = time.time(), {"deck": DECK, "steps": STEPS, "parameters": 0}
    for way in WAYS:
        values[way] = []
        for seed in SEEDS:
            values[way].append(run := measure(way, seed))
            found = run["verbs by nouns"], run["subjects by nouns"], run.get("visible")
            print(way, seed, run["verb"][::4], run["were"][-1], *found, round(time.time() - since), flush=True)
    model = BertForPretraining(len(V), **SIZES, longest=LONGEST)
    values["parameters"] = sum(p.numel() for p in model.parameters())
    print(record("ch12_agreement", SEEDS, values, since).name)


if __name__ == "__main__":
    main()
