"""Chapter 15: eight attention layers, seven of them with a mistake, trained on a text whose entropy is known.

The text: each token depends, by a table, on the token two steps before it. So the least surprise that is possible can
be computed; who gets below it has seen the answer. The losses go to ch15_cases.json, the maps to ch15_explorer.json.
"""

import math
import time

import torch
from torch import Tensor, nn

from unrolled.attention_model import AttentionModel
from unrolled.exhibits import LAYERS
from unrolled.measurements import record
from unrolled.which_bug import BUGS, Case, name_the_bug

SEEDS = [0, 1, 2]
V, T, D, HEADS = 12, 12, 32, 2
UPDATES, SIZE, LR, EVERY = 400, 64, 3e-3, 10


def table(seed: int) -> Tensor:
    """(V, V): what follows, two steps later, on each token."""
    return torch.softmax(2 * torch.randn(V, V, generator=torch.Generator().manual_seed(100 + seed)), dim=1)


def text(P: Tensor, n: int, generator: torch.Generator) -> Tensor:
    """(n, T + 1) tokens; the first two are drawn evenly."""
    ids = torch.randint(0, V, (n, T + 1), generator=generator)
    for t in range(2, T + 1):
        ids[:, t] = torch.multinomial(P[ids[:, t - 2]], 1, generator=generator)[:, 0]
    return ids


def floor(P: Tensor) -> float:
    """The mean surprise in nats of tokens 1 to T for somebody who knows the table and all tokens before."""
    entropy, before, total = -(P * P.log()).sum(dim=1), torch.full((V,), 1 / V), math.log(V)
    even, odd = before, before  # the distribution of token t - 2 for even and odd t
    for t in range(2, T + 1):
        now = even if t % 2 == 0 else odd
        total += float(now @ entropy)
        if t % 2 == 0:
            even = even @ P
        else:
            odd = odd @ P
    return total / T


def surprise(logits: Tensor, targets: Tensor) -> Tensor:
    return nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())


@torch.no_grad()
def honest(model: nn.Module, ids: Tensor) -> float:
    """The surprise of each token when nothing that comes later is there to be seen."""
    steps = [surprise(model(ids[:, : t + 1])[0][:, -1:], ids[:, t + 1 : t + 2]) for t in range(T)]
    return torch.stack(steps).mean().item()


def evidence(model: AttentionModel, bug: str, ids: Tensor, losses: list[float], H: float) -> Case:
    """What name_the_bug gets to see of a trained model, on one row of T tokens; in double precision.

    The reach is the length of the gradient: trained layers are so sharp that differences would be rounded away.
    """
    layer, params = model.layers[0], model.layers[0].projections.params
    x, mask = (model.tokens(ids) + model.positions(torch.arange(T))).detach(), torch.ones(T, T).tril().bool()

    def output(x: Tensor) -> Tensor:
        return layer.attention(x[None], x[None], params, HEADS, mask)[0][0]  # (T, D)

    reach = torch.autograd.functional.jacobian(output, x).norm(dim=(1, 3))  # (T, D, T, D) -> (T, T)
    with torch.no_grad():
        q, k = x @ params.W_q.T + params.b_q, x @ params.W_k.T + params.b_k  # (T, D)
        if bug == "heads by view":
            q, k = (a.reshape(HEADS, T, -1)[0] for a in (q, k))  # (T, K)
        else:
            q, k = q[:, : D // HEADS], k[:, : D // HEADS]
        weights = layer(x[None], mask)[1][0, 0]  # (T, T), of the first head
    return Case(torch.tensor(losses), H, D // HEADS, q @ k.T, weights, reach)


@torch.no_grad()
def report(model: AttentionModel, case: Case, ids: Tensor, losses: dict[str, float]) -> list[list]:
    """What a judge would ask of such a layer, and whether it holds; every answer from the trained model."""
    later = torch.ones(T, T).triu(1).bool()
    whole, half = model(ids)[0], model(ids[:, : T // 2])[0]
    alone = torch.cat([model(row[None])[0] for row in ids])
    return [
        ["exchange a later token: earlier outputs stay", not case.reach[later].any().item()],
        ["exchange an early token: later outputs change", bool(case.reach[~later].all())],
        [
            "the weights of a step sum to one",
            torch.allclose(case.weights.sum(dim=1), torch.ones(T).double(), atol=1e-3),
        ],
        ["the beginning alone gives the same outputs", torch.allclose(whole[:, : T // 2], half, atol=1e-4)],
        ["rows of a batch do not touch each other", torch.allclose(whole, alone, atol=1e-4)],
        ["new text, later tokens hidden: no worse", losses["honest"] < 1.1 * losses["trained"]],
    ]


def measure(bug: str, seed: int) -> tuple[dict, Case, list]:
    torch.manual_seed(seed)
    P, generator = table(seed), torch.Generator().manual_seed(seed)
    model = AttentionModel(V, T, D, HEADS, 1, LAYERS[bug])
    optimizer, losses = torch.optim.Adam(model.parameters(), lr=LR), []
    for _ in range(UPDATES):
        ids = text(P, SIZE, generator)
        targets = ids[:, :-1] if bug == "targets not shifted" else ids[:, 1:]
        loss = surprise(model(ids[:, :-1])[0], targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    means = [sum(losses[k : k + EVERY]) / EVERY for k in range(0, UPDATES, EVERY)]
    fresh = text(P, 2000, torch.Generator().manual_seed(1000 + seed))
    spoken = honest(model, fresh)
    case = evidence(model.double(), bug, fresh[0, :-1], means, floor(P))
    found = {"trained": means[-1], "honest": spoken, "floor": case.floor, "named": name_the_bug(case)}
    return found, case, report(model, case, fresh[:8, :-1], found)


def rounded(values: Tensor) -> list:
    return [[float(f"{x:.4g}") for x in row] for row in values.tolist()]


def stored_case(case: Case, asked: list) -> dict:
    """A case for the chapter's exhibits, with four digits."""
    maps = {name: rounded(getattr(case, name)) for name in ("scores", "weights", "reach")}
    return {"losses": rounded(case.losses[None])[0], "floor": case.floor, "K": case.K, **maps, "report": asked}


def main():
    torch.set_num_threads(1)
    since, found, maps = time.time(), {}, {}
    for bug in BUGS:
        runs = [measure(bug, seed) for seed in SEEDS]
        found[bug] = {key: [run[key] for run, *_ in runs] for key in runs[0][0]}
        maps[bug] = [stored_case(case, asked) for _, case, asked in runs]
        print(bug, found[bug], round(time.time() - since), flush=True)
    record("ch15_cases", SEEDS, found, since)
    record("ch15_explorer", SEEDS, maps, since)


if __name__ == "__main__":
    main()
