"""Chapter 3: how much network does it take to win over counting? Nats per character on unseen verses."""

import time

import numpy as np
import torch

from unrolled.documents import BOS, WindowReader, batches, learn, mean_surprise, surprises, verse_letters
from unrolled.hmm import HMM
from unrolled.language_model import LanguageModel
from unrolled.measurements import record
from unrolled.ngram import KneserNey, NGram
from unrolled.sampling import next_token_probs, sample_sequence

SEEDS = [0, 1, 2]
ORDERS = range(1, 8)
SHARES = [0.1 * k for k in range(11)]
DOCUMENTS, VOCABULARY = verse_letters()
V = len(VOCABULARY)
MODELS = {  # how it is made, epochs, step size
    "HMM, 64 states": (lambda: HMM(V, 64), 1.5, 0.1),
    "window of 8, 256 units": (lambda: WindowReader(V, 16, 256, 8), 4, 5e-3),
    "RNN, 256 units": (lambda: LanguageModel(V, 256, "rnn", 32), 3, 2e-3),
    "LSTM, 128 units": (lambda: LanguageModel(V, 128, "lstm", 32), 4, 1e-2),
    "LSTM, 256 units": (lambda: LanguageModel(V, 256, "lstm", 32), 3, 6e-3),
}


WAYS = {
    "argmax": {"top_k": 1},
    "temperature 0.5": {"temperature": 0.5},
    "temperature 1": {},
    "temperature 1.5": {"temperature": 1.5},
    "top-k 5": {"top_k": 5},
    "top-p 0.9": {"top_p": 0.9},
}
WORDS = set("".join("".join(VOCABULARY.decode(verse)) for verse in DOCUMENTS["train"]).split())


def counted() -> dict:
    """Surprise, processor seconds and stored numbers of Kneser-Ney, and surprise of the mixture of chapter 1."""
    values = {"nats": [], "seconds": [], "stored": [], "Witten-Bell": []}
    for n in ORDERS:
        start = time.process_time()
        model = KneserNey(n, V).fit(DOCUMENTS["train"])
        values["seconds"].append(round(time.process_time() - start, 2))
        values["nats"].append(model.loss(DOCUMENTS["test"]))
        values["stored"].append(len(model))
        values["Witten-Bell"].append(NGram(n, V).fit(DOCUMENTS["train"]).loss(DOCUMENTS["test"]))
    return values


@torch.no_grad()
def misread(model) -> tuple[float, float]:
    """Mean -log y_{i-1}[w_i] and, as the slide has it, mean -log y_i[w_i], over some test verses."""
    batch = batches(DOCUMENTS["test"], 64)[5]
    log_p = model(batch)[0].log_softmax(-1)  # (B, T + 1, V): after each id, the start symbol included
    real, w = batch[:, 1:] != 0, batch[:, 1:, None]
    before, at = (-log_p[:, which].gather(-1, w)[..., 0][real].mean() for which in (slice(0, -1), slice(1, None)))
    return before.item(), at.item()


@torch.no_grad()
def forced_and_free(model, steps: int = 20, prefix: int = 30) -> dict[str, list[float]]:
    """Share of right letters 1 to ``steps`` places after a prefix, if the most probable is taken: forced and free."""
    rows = torch.tensor([[0, *verse[: prefix + steps]] for verse in DOCUMENTS["test"] if len(verse) > prefix + steps])
    forced = model(rows[:, :-1])[0].argmax(-1)[:, prefix:]
    logits, state = model(rows[:, : prefix + 1])
    own = [logits[:, -1:].argmax(-1)]
    for _ in range(steps - 1):
        logits, state = model(own[-1], state)
        own.append(logits.argmax(-1))
    truth = rows[:, prefix + 1 :]
    right = {"forced": forced == truth, "free": torch.cat(own, 1) == truth}
    return {way: hits.double().mean(0).tolist() for way, hits in right.items()}


def mixed(model) -> list[float]:
    """Nats per character of the mixture p = share * network + (1 - share) * 7-gram, for all SHARES."""
    counts = KneserNey(7, V).fit(DOCUMENTS["train"]).surprise(DOCUMENTS["test"])
    network = torch.cat([surprises(model, verse) for verse in DOCUMENTS["test"]]).double().numpy()
    return [float(-np.log(s * np.exp(-network) + (1 - s) * np.exp(-counts)).mean()) for s in SHARES]


@torch.no_grad()
def generated(model, seed: int, n: int = 2000) -> dict[str, dict]:
    """Text drawn in six ways: how much of it repeats itself, how many of its words are words of the training text."""
    u, rows = torch.rand(n, generator=torch.Generator().manual_seed(seed)), {}
    for name, options in WAYS.items():

        def step(w, state, options=options):
            logits, state = model(torch.tensor([[w]]), state)
            return next_token_probs(logits[0, 0], **options), state

        ids = sample_sequence(step, None, BOS, n, u)
        said = "".join(VOCABULARY.decode(ids)).split()[:300]
        four = [tuple(said[i : i + 4]) for i in range(len(said) - 3)]
        rows[name] = {"new": len(set(four)) / len(four), "words": sum(w in WORDS for w in said) / len(said)}
    return rows


def measure(name: str, seed: int) -> dict:
    make, epochs, lr = MODELS[name]
    torch.manual_seed(seed)
    model = make()
    test = lambda: round(mean_surprise(model, DOCUMENTS["test"]), 4)  # noqa: E731
    curve = learn(model, DOCUMENTS["train"], epochs=epochs, seed=seed, size=16, lr=lr, look=test)
    run = {"seconds": [s for s, _ in curve], "nats": [n for _, n in curve]}
    run["parameters"] = sum(p.numel() for p in model.parameters())
    if name.startswith("LSTM"):
        run["misread"], run["places"] = misread(model), forced_and_free(model)
        run["generated"] = generated(model, seed)
    if name == "LSTM, 256 units":
        run["mixed"] = mixed(model)
    return run


def main():
    torch.set_num_threads(1)
    since, values = time.time(), {"characters": {part: sum(map(len, docs)) for part, docs in DOCUMENTS.items()}}
    values["vocabulary"] = V
    values["counted"] = counted()
    print(values, flush=True)
    for name in MODELS:
        values[name] = []
        for seed in SEEDS:
            values[name].append(measure(name, seed))
            print(name, seed, values[name][-1], round(time.time() - since), flush=True)
        record("ch03_ladder", SEEDS, values, since)


if __name__ == "__main__":
    main()
