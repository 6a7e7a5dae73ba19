"""Chapter 9: digits backwards by a Transformer that knows places from sines, from a table, from the index, or not."""

import random
import time

import torch
from ch06_reversal import right

from unrolled.measurements import record
from unrolled.pairs import reversed_digits
from unrolled.transformer_model import Transformer
from unrolled.translation import Languages, learn_pairs, translate

SEEDS = [0, 1, 2]
D, HEADS, LAYERS, D_FF, LONGEST = 32, 4, 2, 64, 24
UPDATES, WARMUP, LR, SIZE = 600, 100, 4e-3, 32
SEEN = (3, 12)  # shortest and longest string in training
LENGTHS = [4, 6, 8, 10, 12, 13, 14, 16, 18]
LEARN = reversed_digits(20_000, *SEEN, random.Random(0))
LANGUAGES = Languages(LEARN)
TEST = {n: reversed_digits(128, n, n, random.Random(n)) for n in LENGTHS}
POSITIONS = {"none": None, "index": None, "index, one feature": None, "sines": "sinusoidal", "learned": "learned"}


def build(name: str) -> Transformer:
    vocabularies = len(LANGUAGES.source), len(LANGUAGES.target)
    model = Transformer(*vocabularies, D, HEADS, LAYERS, D_FF, positions=POSITIONS[name], longest=LONGEST)
    if name.startswith("index"):  # deck 000, to the letter: 0 is added to the first vector, 1 to the second, …
        places = torch.arange(LONGEST, dtype=torch.float32)[:, None].repeat(1, D)
        places[:, 1 if name.endswith("one feature") else D :] = 0
        for stack in (model.encoder, model.decoder):
            stack.positions = places
    return model


def measure(name: str, seed: int) -> dict:
    torch.manual_seed(seed)
    model = build(name)
    learn_pairs(model, LEARN, LANGUAGES, updates=UPDATES, seed=seed, lr=LR, warmup=WARMUP, size=SIZE)
    return {
        "digits": [right(TEST[n], translate(model, TEST[n], LANGUAGES, LONGEST - 1))[0] for n in LENGTHS],
        "weights": sum(p.numel() for p in model.parameters()),
    }


def main():
    torch.set_num_threads(1)
    since, values = time.time(), {"lengths": LENGTHS, "seen": SEEN, "updates": UPDATES}
    for name in POSITIONS:
        values[name] = [measure(name, seed) for seed in SEEDS]
        print(name, [run["digits"] for run in values[name]], round(time.process_time()), flush=True)
    print(record("ch09_positions", SEEDS, values, since).name)


if __name__ == "__main__":
    main()
