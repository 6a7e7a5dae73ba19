"""Chapter 9: the Transformer of pairs_models.py on the verses once more, this time with dropout."""

import time

import pairs_models
import torch

from unrolled.measurements import record
from unrolled.transformer_model import Transformer
from unrolled.translation import Languages

DROPOUT = 0.2


def dropping(languages: Languages) -> Transformer:
    sizes = len(languages.source), len(languages.target)
    return Transformer(*sizes, D=96, n_heads=4, layers=1, d_ff=160, dropout=DROPOUT)


def main():
    torch.set_num_threads(1)
    since, values = time.time(), {"dropout": DROPOUT, "verses": []}
    pairs_models.MODELS["dropping"], pairs_models.WARMUP["dropping"] = dropping, pairs_models.WARMUP["transformer"]
    for seed in pairs_models.SEEDS:
        found = pairs_models.measure("dropping", "verses", seed)
        values["verses"].append({key: value for key, value in found.items() if key not in ("said", "copied")})
        print(seed, values["verses"][-1], flush=True)
    print(record("ch09_dropout", pairs_models.SEEDS, values, since).name)


if __name__ == "__main__":
    main()
