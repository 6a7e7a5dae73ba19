"""Chapter 1: which words move an RNN's verdict on real review sentences, before and after training."""

import time

import torch
from ch01_reviews import BATCHES, SPREAD, E, H, V

from unrolled.classifiers import RNNClassifier, accuracy, fit
from unrolled.measurements import record

SEEDS = [0, 1, 2]
LENGTH, EPOCHS = 15, 3
STARTS = {  # how W_hh begins
    "small": lambda W: torch.nn.init.uniform_(W, -(H**-0.5), H**-0.5),  # torch's default
    "orthogonal": torch.nn.init.orthogonal_,
}


def influence(model: RNNClassifier) -> list[float]:
    """The share of each of the last 15 words in the gradient of the verdict, last word first; mean over the test."""
    (ids, lengths, _), _ = BATCHES["test"]
    rows = torch.nonzero(lengths >= LENGTH)[:, 0]
    e = model.embedding(ids[rows]).detach().requires_grad_()
    last = model.states(e)[torch.arange(len(rows)), lengths[rows] - 1]
    (model.output(last) @ torch.tensor([-1.0, 1.0])).sum().backward()
    place = lengths[rows, None] - 1 - torch.arange(LENGTH)  # (B, 15)
    norms = e.grad.norm(dim=-1).gather(1, place)
    return (norms / norms.sum(1, keepdim=True)).mean(0).tolist()


def measure(start: str, seed: int) -> dict:
    torch.manual_seed(seed)
    model = RNNClassifier(V, E, H)
    model.embedding.weight.data.mul_(SPREAD)
    STARTS[start](model.W_hh.data)
    before = influence(model)
    fit(model, *BATCHES["train"], epochs=EPOCHS, seed=seed, lr=1e-3)
    return {"before": before, "after": influence(model), "accuracy": accuracy(model, *BATCHES["test"])}


def main():
    torch.set_num_threads(1)
    since = time.time()
    values = {}
    for start in STARTS:
        runs = [measure(start, seed) for seed in SEEDS]
        values[start] = {key: [run[key] for run in runs] for key in ("before", "after", "accuracy")}
        print(start, values[start]["accuracy"], round(time.time() - since), flush=True)
    print(record("ch01_influence", SEEDS, values, since).name)


if __name__ == "__main__":
    main()
