"""Chapter 15: the tiny BERT on the agreement grammar, reading both ways and looking back only, in one budget.

Asked are two hidden words whose number is to be guessed: the subject, whose number only the verb after it tells, and
the verb, whose number the subject before it tells. The nouns between them belong to somebody else.
"""

import time

import torch
from torch import Tensor

from unrolled.bert_data import Rows, agreement_rows, agreement_vocabulary, hide, verb_margins
from unrolled.bert_input import Special
from unrolled.masked_words import mlm_loss
from unrolled.measurements import record
from unrolled.memory_tasks import NOUNS
from unrolled.own_training import learn
from unrolled.tiny_bert import TinyBert

SEEDS = [0, 1, 2]
D, HEADS, LAYERS, D_FF, UPDATES, WARMUP, SIZE, RATE, MOST = 48, 4, 2, 96, 1000, 800, 32, 0.15, 2


def reader(seed: int, sides: str, updates: int = UPDATES) -> tuple[TinyBert, list[float]]:
    """A trained model, and its losses."""
    torch.manual_seed(seed)
    rows, _ = agreement_rows(4000, MOST, seed)
    V, T, generator = len(agreement_vocabulary()), rows.ids.shape[1], torch.Generator().manual_seed(seed)
    model = TinyBert(V, D, HEADS, LAYERS, D_FF, T, causal=sides == "back only")

    def loss() -> Tensor:
        batch = rows.take(torch.randint(0, len(rows.ids), (SIZE,), generator=generator))
        seen, labels, asked = hide(batch.ids, V, Special(), generator, RATE)
        return mlm_loss(model(seen, batch.segments, batch.mask)[0], labels, asked)

    return model, learn(model, loss, updates=updates, D=D, warmup=WARMUP)


@torch.no_grad()
def subjects_right(model: TinyBert, rows: Rows) -> float:
    """Hide the subject (the second word): share of rows in which the nouns of the right number are more probable."""
    V, ids = agreement_vocabulary(), rows.ids.clone()
    number = {kind: torch.tensor([V.ids[noun] for noun in NOUNS[kind]]) for kind in ("sg", "pl")}
    plural = torch.isin(ids[:, 2], number["pl"])  # [CLS], the article, the noun
    ids[:, 2] = Special().mask
    scores = model(ids, rows.segments, rows.mask)[0][:, 2].softmax(dim=-1)
    guess = scores[:, number["pl"]].sum(dim=1) > scores[:, number["sg"]].sum(dim=1)
    return (guess == plural).double().mean().item()


def main():
    torch.set_num_threads(1)
    since, values = time.time(), {}
    for sides in ("both sides", "back only"):
        values[sides] = {"loss": [], "subject": [], "verb": []}
        for seed in SEEDS:
            model, losses = reader(seed, sides)
            rows, verbs = agreement_rows(1000, MOST, 1000 + seed)
            margins, plural = verb_margins(model, rows, verbs)
            values[sides]["loss"].append(sum(losses[-50:]) / 50)
            values[sides]["subject"].append(subjects_right(model, rows))
            values[sides]["verb"].append(((margins > 0) == plural).double().mean().item())
        print(sides, values[sides], round(time.time() - since), flush=True)
    record("ch15_both_sides", SEEDS, values, since)


if __name__ == "__main__":
    main()
