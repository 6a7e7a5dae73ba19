"""Chapter 10: text that repeats itself, read by Transformers of one and of two layers: which heads learn to continue?

A row is a random stretch of different tokens, again and again; how long the stretch is differs from row to row, so that
no head can do with counting places. Only what is repeated can be predicted.
"""

import time

import torch
from torch import Tensor, nn

from unrolled.induction import induction_score
from unrolled.masks import causal_mask
from unrolled.measurements import record
from unrolled.pruning import heads_of, heads_removed
from unrolled.transformer_model import TransformerEncoder

SEEDS = [0, 1, 2]
V, T, SHORTEST, LONGEST = 24, 32, 6, 15
D, HEADS, D_FF = 48, 4, 96
UPDATES, WARMUP, LR, SIZE, EVERY = 1500, 50, 2e-3, 32, 75
TESTED = 11  # the period at which heads are looked at


class Reader(nn.Module):
    """A stack of layers that look back only, and a score for each token that may come next."""

    def __init__(self, layers: int):
        super().__init__()
        self.stack = TransformerEncoder(V, D, HEADS, layers, D_FF, longest=T)
        self.output = nn.Linear(D, V)

    def forward(self, ids: Tensor) -> tuple[Tensor, list[Tensor]]:
        states, weights = self.stack(ids, causal_mask(ids.shape[1]))
        return self.output(states), weights


def repeated(n: int, generator: torch.Generator, period: int | None = None) -> tuple[Tensor, Tensor]:
    """Rows (n, T), and True where the next token has been seen after this one before (n, T - 1)."""
    rows, known = [], []
    for _ in range(n):
        P = period or int(torch.randint(SHORTEST, LONGEST + 1, (1,), generator=generator))
        stretch = torch.randperm(V, generator=generator)[:P]
        rows.append(stretch.repeat(T // P + 1)[:T])
        known.append(torch.arange(1, T) > P)
    return torch.stack(rows), torch.stack(known)


@torch.no_grad()
def accuracy(model: Reader, ids: Tensor, known: Tensor) -> float:
    guess = model(ids)[0][:, :-1].argmax(-1)
    return (guess == ids[:, 1:])[known].double().mean().item()


@torch.no_grad()
def scores(model: Reader, ids: Tensor) -> dict[str, list[list[float]]]:
    """Of each head of each layer (layers, heads): weight on what followed the last time, and on the token before."""
    found = {"induction": [], "previous": []}
    for weights in model(ids)[1]:
        A = weights.mean(dim=0)  # (N, T, T): of all rows, which have the same period
        found["induction"].append([round(s, 3) for s in induction_score(A, TESTED).tolist()])
        previous = A.diagonal(-1, dim1=1, dim2=2).mean(dim=1)
        found["previous"].append([round(s, 3) for s in previous.tolist()])
    return found


def measure(layers: int, seed: int) -> dict:
    torch.manual_seed(seed)
    model, generator = Reader(layers), torch.Generator().manual_seed(100 + seed)
    test, known = repeated(64, torch.Generator().manual_seed(seed), TESTED)
    optimizer = torch.optim.Adam(model.parameters(), lr=LR)
    run = {"updates": [], "accuracy": [], "induction": [], "previous": []}
    for done in range(UPDATES + 1):
        if done % EVERY == 0:
            found = scores(model, test)
            run["updates"].append(done)
            run["accuracy"].append(round(accuracy(model, test, known), 4))
            run["induction"].append(found["induction"])
            run["previous"].append(found["previous"])
        ids, learn = repeated(SIZE, generator)
        loss = nn.functional.cross_entropy(model(ids)[0][:, :-1][learn], ids[:, 1:][learn])
        optimizer.param_groups[0]["lr"] = LR * min(1, (done + 1) / WARMUP)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    run["without"] = []
    for head in heads_of(model):
        with heads_removed(model, [head]):
            run["without"].append(round(accuracy(model, test, known), 4))
    return run


def main():
    torch.set_num_threads(1)
    since, values = time.time(), {"vocabulary": V, "length": T, "period": TESTED}
    for layers in (1, 2):
        values[f"{layers} layers" if layers > 1 else "1 layer"] = runs = []
        for seed in SEEDS:
            runs.append(measure(layers, seed))
            last = {key: runs[-1][key][-1] for key in ("accuracy", "induction", "previous")}
            print(layers, seed, last, runs[-1]["accuracy"], runs[-1]["without"], round(time.time() - since), flush=True)
    print(record("ch10_induction", SEEDS, values, since).name)


if __name__ == "__main__":
    main()
