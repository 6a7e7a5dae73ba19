"""Chapter 9: the Transformer of pairs_models.py on the verses once more, this time with dropout."""

import time
from functools import partial

import pairs_models
import torch

from unrolled.measurements import record

DROPOUT = 0.2


def main():
    torch.set_num_threads(1)
    since, values = time.time(), {"dropout": DROPOUT, "verses": []}
    pairs_models.MODELS["transformer"] = partial(pairs_models.transformer, dropout=DROPOUT)
    for seed in pairs_models.SEEDS:
        found = pairs_models.measure("transformer", "verses", seed)
        values["verses"].append({key: value for key, value in found.items() if key not in ("said", "copied")})
        print(seed, values["verses"][-1], flush=True)
    print(record("ch09_dropout", pairs_models.SEEDS, values, since).name)


if __name__ == "__main__":
    main()
