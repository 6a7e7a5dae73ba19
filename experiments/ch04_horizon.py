"""Chapter 4: over how many steps can a recurrent network be trained to remember one symbol?"""

import time

import torch

from unrolled.measurements import record
from unrolled.memory_tasks import learn_recall

SEEDS = [0, 1, 2]
DISTANCES = [5, 10, 20, 30, 50, 100, 200]
RATES = [3e-3, 1e-2]
MODELS = {
    "rnn": ("rnn", None),
    "identity": ("identity", None),
    **{f"{kind} {keep}": (kind, keep) for kind in ("lstm", "gru") for keep in (0, 1, 3, 5)},
}


def main():
    torch.set_num_threads(1)
    since, values = time.time(), {}
    for name, (kind, keep) in MODELS.items():
        values[name] = {}
        for distance in DISTANCES:
            runs = {f"{lr:g}": [learn_recall(kind, keep, distance, s, lr=lr) for s in SEEDS] for lr in RATES}
            values[name][str(distance)] = {
                lr: {"accuracy": [a for a, _ in found], "steps": [n for _, n in found]} for lr, found in runs.items()
            }
            best = {lr: [round(a, 2) for a, _ in found] for lr, found in runs.items()}
            print(name, distance, best, round(time.time() - since), flush=True)
    print(record("ch04_horizon", SEEDS, values, since).name)


if __name__ == "__main__":
    main()
