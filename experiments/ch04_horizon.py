"""Chapter 4: over how many steps can a recurrent network be trained to remember one symbol?"""

import time

import torch

from unrolled.measurements import record
from unrolled.memory_tasks import learn_recall

SEEDS = [0, 1, 2]
DISTANCES = [5, 10, 20, 50, 100, 200]
RATES = [3e-3, 1e-2]
SOLVED = 0.95
MODELS = {
    "rnn": ("rnn", None),
    "identity": ("identity", None),
    **{f"{kind} {keep}": (kind, keep) for kind in ("lstm", "gru") for keep in (0, 1, 3, 5)},
}


def measure(name: str, lr: float, seed: int) -> dict[str, list]:
    """Accuracy and training steps at each distance; after two failures in a row the longer ones are not tried."""
    runs: list[tuple] = []
    for distance in DISTANCES:
        tried = [accuracy for accuracy, _ in runs[-2:]]
        hopeless = len(tried) == 2 and all(accuracy is None or accuracy < SOLVED for accuracy in tried)
        runs.append((None, None) if hopeless else learn_recall(*MODELS[name], distance, seed, lr=lr))
    return {"accuracy": [accuracy for accuracy, _ in runs], "steps": [steps for _, steps in runs]}


def main():
    torch.set_num_threads(1)
    since, values = time.time(), {"distances": DISTANCES}
    for name in MODELS:
        values[name] = {f"{lr:g}": [measure(name, lr, seed) for seed in SEEDS] for lr in RATES}
        print(name, {lr: [run["accuracy"] for run in runs] for lr, runs in values[name].items()}, flush=True)
        print(record("ch04_horizon", SEEDS, values, since).name, round(time.time() - since), flush=True)


if __name__ == "__main__":
    main()
