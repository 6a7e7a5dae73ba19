"""Chapter 5: review sentences summed up by the last state, by both ends or by the mean; one or more layers."""

import time

import torch
from ch01_reviews import BATCHES, SPREAD, E, V
from torch import nn

from unrolled.classifiers import BagClassifier, accuracy, fit
from unrolled.measurements import record
from unrolled.tagging import SequenceClassifier
from unrolled.word_influence import influence_by_place

SEEDS = [0, 1, 2]
WIDTH, EPOCHS = 64, 3  # numbers in the summary, in both directions together
MODELS = {  # kind, layers, both, pool
    **{f"{kind}, one, last": (kind, 1, False, "last") for kind in ("rnn", "gru", "lstm")},
    **{f"{kind}, one, mean": (kind, 1, False, "mean") for kind in ("rnn", "lstm")},
    **{f"{kind}, both, ends": (kind, 1, True, "ends") for kind in ("rnn", "lstm")},
    "lstm, both, mean": ("lstm", 1, True, "mean"),
    "lstm, both, last": ("lstm", 1, True, "last"),
    "lstm, both, ends, 3 layers": ("lstm", 3, True, "ends"),
}
LOOKED_AT = [f"{kind}, {how}" for kind in ("rnn", "lstm") for how in ("one, last", "one, mean", "both, ends")]


def build(name: str) -> nn.Module:
    if name == "bag":
        return BagClassifier(V, E)
    kind, layers, both, pool = MODELS[name]
    return SequenceClassifier(kind, V, E, WIDTH // 2 if both else WIDTH, 2, layers, both, pool)


def embedding(model: nn.Module) -> nn.Embedding:
    return model.embedding if isinstance(model, BagClassifier) else model.encoder.embedding


def measure(name: str, seed: int) -> dict:
    """Test accuracy after the epoch that was best on the validation data, influence of the words, parameters, time."""
    torch.manual_seed(seed)
    model, seen = build(name), []
    embedding(model).weight.data.mul_(SPREAD)
    found = {"parameters": sum(p.numel() for n, p in model.named_parameters() if "embedding" not in n)}
    test = BATCHES["test"]
    if name in LOOKED_AT:
        found["before"] = influence_by_place(model, test[0])
    look = lambda: seen.append((accuracy(model, *BATCHES["validation"]), accuracy(model, *test)))  # noqa: E731
    start = time.process_time()
    fit(model, *BATCHES["train"], epochs=EPOCHS, seed=seed, size=128, lr=3e-3, each_epoch=look)
    found |= {"seconds": round(time.process_time() - start, 1), "accuracy": max(seen, key=lambda pair: pair[0])[1]}
    if name in LOOKED_AT:
        found["after"] = influence_by_place(model, test[0])
    return found


def main():
    torch.set_num_threads(1)
    since, values = time.time(), {}
    for name in ("bag", *MODELS):
        runs = [measure(name, seed) for seed in SEEDS]
        values[name] = {key: [run[key] for run in runs] for key in runs[0]}
        values[name]["parameters"] = runs[0]["parameters"]
        print(name, values[name]["accuracy"], values[name]["seconds"], round(time.time() - since), flush=True)
    print(record("ch05_reviews", SEEDS, values, since).name)


if __name__ == "__main__":
    main()
