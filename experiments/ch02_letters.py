"""Chapter 2: a character RNN on real prose: chunk lengths, gradient norms, clipping, and how far back it listens."""

import copy
import time

import numpy as np
import torch
from torch import Tensor, nn

from unrolled.data import verses
from unrolled.measurements import record

SEEDS = [0, 1, 2]
H, LETTERS_PER_STEP, STEPS = 128, 1600, 1000
CHUNKS = [1, 2, 5, 10, 50]
CONTEXTS = [1, 2, 3, 5, 8, 12, 20, 30, 50, 100, 200, 400]
RATES = [0.3, 1.0, 3.0]  # of plain gradient descent, with and without clipping

TEXT = " ".join(verses()[23_145:])  # the New Testament
ALPHABET = sorted(set(TEXT))
IDS = torch.tensor([ALPHABET.index(letter) for letter in TEXT])
TRAIN, TEST = IDS[:-90_000], IDS[-90_000:]


class LetterRNN(nn.Module):
    """One-hot letters in, scores for the next letter out."""

    def __init__(self):
        super().__init__()
        self.rnn, self.output = nn.RNN(len(ALPHABET), H, batch_first=True), nn.Linear(H, len(ALPHABET))

    def forward(self, ids: Tensor, h: Tensor) -> tuple[Tensor, Tensor]:
        hs, h = self.rnn(nn.functional.one_hot(ids, len(ALPHABET)).to(h.dtype), h)
        return self.output(hs), h


def surprise(model: LetterRNN, ids: Tensor) -> tuple[Tensor, Tensor]:
    """The loss of each next letter (B, T) and the last states, from a zero state."""
    logits, h = model(ids[:, :-1], torch.zeros(1, len(ids), H))
    return nn.functional.cross_entropy(logits.transpose(1, 2), ids[:, 1:], reduction="none"), h


def fit(model: LetterRNN, optimizer, chunk: int, clip: float, steps: int = STEPS) -> list[dict[str, float]]:
    """Truncated BPTT over parallel streams of the training text; the gradients' lengths before clipping, every step."""
    B = LETTERS_PER_STEP // chunk
    streams = TRAIN[: len(TRAIN) // B * B].view(B, -1)
    norms, at, h = [], 0, torch.zeros(1, B, H)
    for _ in range(steps):
        if at + chunk + 1 > streams.shape[1]:
            at, h = 0, torch.zeros(1, B, H)
        piece = streams[:, at : at + chunk + 1]
        logits, h = model(piece[:, :-1], h.detach())
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), piece[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        parts = {"W_hh": model.rnn.weight_hh_l0, "W_hy": model.output.weight}
        lengths = {name: weight.grad.norm().item() for name, weight in parts.items()}
        norms.append(lengths | {"all": nn.utils.clip_grad_norm_(model.parameters(), clip).item()})
        optimizer.step()
        at += chunk
    return norms


@torch.no_grad()
def test_loss(model: LetterRNN, T: int = 300, warm: int = 100) -> float:
    """Nats per letter on unseen text; the first letters of each piece only warm the state up."""
    return surprise(model, TEST[: 300 * T].view(-1, T))[0][:, warm:].mean().item()


@torch.no_grad()
def by_context(model: LetterRNN) -> list[float]:
    """Nats per letter when the network has read only the last n letters, for each n; the same letters for all n."""
    ends = torch.arange(450, len(TEST), 60)
    pieces = TEST[ends[:, None] - torch.arange(max(CONTEXTS), -1, -1)]  # the last column is to be predicted
    return [surprise(model, pieces[:, -n - 1 :])[0][:, -1].mean().item() for n in CONTEXTS]


@torch.no_grad()
def after_change(model: LetterRNN, distances: list[int], rows: int = 300) -> list[float]:
    """KL divergence, in nats, of the next-letter distributions when the letter n back is another one."""
    rng = torch.Generator().manual_seed(0)
    starts = torch.randint(len(TEST) - 500, (rows,), generator=rng)
    ids = TEST[starts[:, None] + torch.arange(500)]
    model, zero = copy.deepcopy(model).double(), torch.zeros(1, rows, H, dtype=torch.float64)
    before = torch.log_softmax(model(ids, zero)[0][:, -1], -1)
    found = []
    for n in distances:
        other = ids.clone()
        other[:, -1 - n] = TEST[torch.randint(len(TEST), (rows,), generator=rng)]
        after = torch.log_softmax(model(other, zero)[0][:, -1], -1)
        found.append((before.exp() * (before - after)).sum(-1).mean().item())
    return found


def fresh(seed: int, orthogonal: bool = False) -> LetterRNN:
    torch.manual_seed(seed)
    model = LetterRNN()
    if orthogonal:
        nn.init.orthogonal_(model.rnn.weight_hh_l0)
    return model


def measure_chunk(chunk: int, seed: int, orthogonal: bool = False) -> tuple[float, LetterRNN]:
    model = fresh(seed, orthogonal)
    fit(model, torch.optim.Adam(model.parameters(), lr=2e-3), chunk, clip=1.0)
    return test_loss(model), model


def measure_clip(rate: float, clip: float, seed: int) -> tuple[float, list[dict[str, float]]]:
    model = fresh(seed)
    norms = fit(model, torch.optim.SGD(model.parameters(), lr=rate), 50, clip, steps=500)
    return test_loss(model), norms


def main():
    torch.set_num_threads(1)
    since = time.time()
    values = {"chunk": {}, "contexts": CONTEXTS, "context": {}, "change": {}, "sgd": {"clipped": {}, "free": {}}}
    for chunk, orthogonal in [(chunk, False) for chunk in CHUNKS] + [(50, True)]:
        name = f"{chunk}, orthogonal" if orthogonal else str(chunk)
        runs = [measure_chunk(chunk, seed, orthogonal) for seed in SEEDS]
        values["chunk"][name] = [loss for loss, _ in runs]
        values["context"][name] = [by_context(model) for _, model in runs]
        values["change"][name] = [after_change(model, CONTEXTS) for _, model in runs]
        print("chunk", name, values["chunk"][name], round(time.time() - since), flush=True)
    values["change"]["untrained"] = [after_change(fresh(seed), CONTEXTS) for seed in SEEDS]
    for rate in RATES:
        for name, clip in (("clipped", 0.5), ("free", float("inf"))):
            runs = [measure_clip(rate, clip, seed) for seed in SEEDS]
            values["sgd"][name][str(rate)] = [loss for loss, _ in runs]
            if rate == RATES[1]:
                values["norms " + name] = [
                    [round(max(step["all"] for step in norms[i : i + 5]), 3) for i in range(0, 500, 5)]
                    for _, norms in runs
                ]
            if (rate, name) == (RATES[1], "free"):
                longest = [max(norms[:150], key=lambda step: step["all"]) for _, norms in runs]
                values["spike free"] = [{part: round(n, 3) for part, n in step.items()} for step in longest]
                values["level free"] = {  # after the first spikes: the median length of steps 50 to 149
                    part: [round(float(np.median([step[part] for step in norms[50:150]])), 3) for _, norms in runs]
                    for part in ("W_hh", "W_hy")
                }
        print("sgd", rate, {k: v[str(rate)] for k, v in values["sgd"].items()}, round(time.time() - since), flush=True)
    print(record("ch02_letters", SEEDS, values, since).name)


if __name__ == "__main__":
    main()
