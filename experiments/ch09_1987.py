"""Chapter 9: 1987 against 2021. Handwritten digits, the same deep network, one new idea exchanged at a time."""

import time

import torch
from sklearn.datasets import load_digits
from torch import Tensor, nn

from unrolled.measurements import record

SEEDS = [0, 1, 2, 3, 4]
HIDDEN, EPOCHS, SIZE = 48, 20, 32
RATES = {"sgd": (0.03, 0.1, 0.3), "adam": (3e-4, 1e-3, 3e-3)}
OLD = {"layers": 6, "units": "sigmoid", "loss": "squares", "steps": "sgd", "norm": False, "dropout": 0.0, "data": 1.0}
NEW = {
    "layers": 6,
    "units": "relu",
    "loss": "probabilities",
    "steps": "adam",
    "norm": True,
    "dropout": 0.1,
    "data": 1.0,
}
IDEAS = {
    "ReLU units": {"units": "relu"},
    "outputs are probabilities": {"loss": "probabilities"},
    "Adam": {"steps": "adam"},
    "layer normalisation": {"norm": True},
    "dropout": {"dropout": 0.1},
}
RECIPES = {
    "1987": OLD,
    **{f"1987 + {idea}": {**OLD, **change} for idea, change in IDEAS.items()},
    **{f"2021 − {idea}": {**NEW, **{key: OLD[key] for key in change}} for idea, change in IDEAS.items()},
    "2021": NEW,
    "2021, a tenth of the data": {**NEW, "data": 0.1},
    "1987, one hidden layer": {**OLD, "layers": 1},
    "2021, one hidden layer": {**NEW, "layers": 1},
}


def digits() -> dict[str, tuple[Tensor, Tensor]]:
    """1,797 pictures of 8 by 8 pixels, in the file's order: every tenth for the test, the one before for validation."""
    data = load_digits()
    x, y = torch.tensor(data.data, dtype=torch.float32) / 16, torch.tensor(data.target)
    last = torch.arange(len(x)) % 10
    return {part: (x[rows], y[rows]) for part, rows in
            (("train", last < 8), ("validation", last == 8), ("test", last == 9))}  # fmt: skip


def network(recipe: dict) -> nn.Sequential:
    layers: list[nn.Module] = []
    for n in range(recipe["layers"]):
        layers.append(nn.Linear(64 if n == 0 else HIDDEN, HIDDEN))
        if recipe["norm"]:
            layers.append(nn.LayerNorm(HIDDEN))
        layers += [nn.ReLU() if recipe["units"] == "relu" else nn.Sigmoid(), nn.Dropout(recipe["dropout"])]
    return nn.Sequential(*layers, nn.Linear(HIDDEN, 10))


def error(recipe: dict, outputs: Tensor, y: Tensor) -> Tensor:
    if recipe["loss"] == "probabilities":
        return nn.functional.cross_entropy(outputs, y)
    return ((outputs.sigmoid() - nn.functional.one_hot(y, 10)) ** 2).sum(1).mean()


def learned(recipe: dict, lr: float, seed: int, data: dict) -> dict[str, float]:
    torch.manual_seed(seed)
    net = network(recipe)
    x, y = data["train"]
    few = torch.randperm(len(x))[: round(recipe["data"] * len(x))]
    x, y = x[few], y[few]
    sgd = recipe["steps"] == "sgd"
    optimizer = torch.optim.SGD(net.parameters(), lr, momentum=0.9) if sgd else torch.optim.Adam(net.parameters(), lr)
    for _ in range(round(EPOCHS / recipe["data"])):  # as many updates with few data as with many
        for rows in torch.randperm(len(x)).split(SIZE):
            loss = error(recipe, net(x[rows]), y[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    net.eval()
    with torch.no_grad():
        return {part: (net(data[part][0]).argmax(1) == data[part][1]).double().mean().item()
                for part in ("validation", "test")}  # fmt: skip


def measure(recipe: dict, data: dict) -> dict:
    """The step size with the best validation on the first seed; then all seeds with it."""
    first = {lr: learned(recipe, lr, SEEDS[0], data) for lr in RATES[recipe["steps"]]}
    lr = max(first, key=lambda lr: first[lr]["validation"])
    return {"lr": lr, "accuracy": [first[lr]["test"], *(learned(recipe, lr, s, data)["test"] for s in SEEDS[1:])]}


def main():
    torch.set_num_threads(1)
    since, data = time.time(), digits()
    values = {"layers": OLD["layers"], "epochs": EPOCHS, "pictures": {part: len(y) for part, (_, y) in data.items()}}
    values["recipes"] = {}
    for name, recipe in RECIPES.items():
        values["recipes"][name] = measure(recipe, data)
        print(name, values["recipes"][name], round(time.time() - since), flush=True)
    print(record("ch09_1987", SEEDS, values, since).name)


if __name__ == "__main__":
    main()
