"""Chapter 4: was or were? Agreement over a clause, trained with up to three nouns in between, tested with up to ten."""

import time

import torch

from unrolled.measurements import record
from unrolled.memory_tasks import agreement_accuracy, learn_agreement, verb_margin
from unrolled.text import words

SEEDS = [0, 1, 2, 3, 4]
MOST, NOUNS = 3, [0, 1, 2, 3, 4, 5, 6, 8, 10]
DECK = words("the flights the airline was cancelling")


def main():
    torch.set_num_threads(1)
    since, values = time.time(), {"nouns": NOUNS}
    for kind in ("rnn", "lstm", "gru"):
        models = [learn_agreement(kind, seed, most=MOST) for seed in SEEDS]
        values[kind] = {
            "accuracy": [[agreement_accuracy(model, nouns) for nouns in NOUNS] for model in models],
            "margin of were": [verb_margin(model, DECK, len(DECK)) for model in models],
        }
        print(kind, values[kind], round(time.time() - since), flush=True)
    print(record("ch04_agreement", SEEDS, values, since).name)


if __name__ == "__main__":
    main()
