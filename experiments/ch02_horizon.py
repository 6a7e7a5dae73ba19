"""Chapter 2: which of two symbols came first? Accuracy of a trained RNN against the number of steps in between."""

import time

import torch
from torch import nn

from unrolled.measurements import record
from unrolled.memory_tasks import NOISE, SYMBOLS, recall_batch
from unrolled.training import train

SEEDS = [0, 1, 2]
DISTANCES = [5, 10, 20, 40, 80]
STARTS = {"small": lambda W: W, "orthogonal": nn.init.orthogonal_}  # small: as nn.RNN begins
E, H, N, EPOCHS = 16, 32, 3200, 10


def measure(start: str, distance: int, seed: int) -> float:
    """Train on 3,200 sequences, ten times over; accuracy on 1,000 new ones."""
    torch.manual_seed(seed)
    rng = torch.Generator().manual_seed(seed)
    ids, y = recall_batch(N, distance, rng)
    embedding, rnn, output = nn.Embedding(SYMBOLS + NOISE, E), nn.RNN(E, H, batch_first=True), nn.Linear(H, SYMBOLS)
    STARTS[start](rnn.weight_hh_l0.data)

    def scores(ids):
        return output(rnn(embedding(ids))[0][:, -1])

    parameters = [*embedding.parameters(), *rnn.parameters(), *output.parameters()]
    train(
        parameters,
        lambda rows: nn.functional.cross_entropy(scores(ids[rows]), y[rows]),
        N,
        epochs=EPOCHS,
        seed=seed,
        size=32,
        lr=1e-3,
    )
    ids, y = recall_batch(1000, distance, rng)
    with torch.no_grad():
        return (scores(ids).argmax(-1) == y).double().mean().item()


def main():
    torch.set_num_threads(1)
    since = time.time()
    values = {start: {} for start in STARTS}
    for start in STARTS:
        for distance in DISTANCES:
            values[start][str(distance)] = [measure(start, distance, seed) for seed in SEEDS]
            print(start, distance, values[start][str(distance)], round(time.time() - since), flush=True)
    print(record("ch02_horizon", SEEDS, values, since).name)


if __name__ == "__main__":
    main()
