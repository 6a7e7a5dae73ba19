"""Chapter 14: handwritten digits as patches: a small ViT against logistic regression and a small convolutional network.

All networks make the same number of updates, whatever the number of pictures. Width, step size and updates were fixed
beforehand; the test pictures are looked at once.
"""

import sys
import time

import torch
import torch.nn.functional as F
from sklearn.linear_model import LogisticRegression
from torch import Tensor, nn

from unrolled.digits import digits
from unrolled.measurements import record
from unrolled.training import train
from unrolled.vision import ViT

SEEDS = [0, 1, 2]
SIZES = [250, 1000, 4000]
UPDATES, SIZE, LR = 600, 64, 2e-3
P = 7  # side of a patch: 16 of them
PARTS = {part: digits(part, "mnist") for part in ("train", "validation", "test")}


def vit(positions: bool) -> ViT:
    return ViT((28, 28), P, 1, 48, 4, 2, 96, 10, positions=positions, dropout=0.1)


def convolution() -> nn.Module:
    """Two layers of 3 by 3 filters, each followed by the largest of 2 by 2; about as many weights as the ViT."""
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Dropout(0.1), nn.Linear(32 * 49, 24), nn.ReLU(), nn.Linear(24, 10),
    )  # fmt: skip


MODELS = {
    "ViT": lambda: vit(True),
    "ViT without positions": lambda: vit(False),
    "convolution": convolution,
}


def chosen(n: int, seed: int) -> Tensor:
    """The numbers of n training pictures."""
    return torch.randperm(len(PARTS["train"][1]), generator=torch.Generator().manual_seed(seed))[:n]


@torch.no_grad()
def accuracy(model: nn.Module, part: str) -> float:
    model.eval()
    images, labels = PARTS[part]
    right = (model(images[:, None]).argmax(1) == labels).double().mean().item()
    model.train()
    return round(right, 4)


def neighbours(model: ViT) -> dict:
    """The cosine between the learned positions of patches that touch, two apart, and of all others."""
    side = int(len(model.positions[1:]) ** 0.5)
    places = F.normalize(model.positions[1:].detach(), dim=1)
    cosine = places @ places.T
    row, column = torch.arange(side * side) // side, torch.arange(side * side) % side
    apart = (row[:, None] - row).abs() + (column[:, None] - column).abs()
    found = {"touching": apart == 1, "two apart": apart == 2, "farther": apart > 2}
    return {name: round(cosine[where].mean().item(), 3) for name, where in found.items()}


def shuffled(model: nn.Module, seed: int) -> float:
    """The accuracy on test pictures whose 7 by 7 squares stand in another order, the same for all."""
    images, labels = PARTS["test"]
    squares = F.unfold(images[:, None], P, stride=P)  # (n, 49, 16)
    order = torch.randperm(16, generator=torch.Generator().manual_seed(seed))
    mixed = F.fold(squares[..., order], (28, 28), P, stride=P)
    model.eval()
    with torch.no_grad():
        return round((model(mixed).argmax(1) == labels).double().mean().item(), 4)


def measure(name: str, n: int, seed: int) -> dict:
    torch.manual_seed(seed)
    model, rows = MODELS[name](), chosen(n, seed)
    images, labels = PARTS["train"][0][rows, None], PARTS["train"][1][rows]
    epochs = max(1, round(UPDATES / -(-n // SIZE)))
    train(
        model.parameters(),
        lambda b: F.cross_entropy(model(images[b]), labels[b]),
        n, epochs=epochs, seed=seed, size=SIZE, lr=LR,
    )  # fmt: skip
    found = {part: accuracy(model, part) for part in ("validation", "test")}
    found["weights"] = sum(p.numel() for p in model.parameters())
    if name.startswith("ViT") and n == SIZES[-1]:
        found["shuffled"] = shuffled(model, seed)
        if "without" not in name:
            found["positions"] = neighbours(model)
    return found


def logistic(n: int, seed: int) -> dict:
    rows = chosen(n, seed)
    images, labels = PARTS["train"][0][rows].flatten(1).numpy(), PARTS["train"][1][rows].numpy()
    found = LogisticRegression(C=0.1, max_iter=300).fit(images, labels)
    return {part: round(found.score(x.flatten(1).numpy(), y.numpy()), 4) for part, (x, y) in PARTS.items()}


def main():
    torch.set_num_threads(1)
    since, quick = time.time(), len(sys.argv) > 1
    values = {"sizes": SIZES, "logistic regression": [[logistic(n, seed) for n in SIZES] for seed in SEEDS]}
    print(values, round(time.time() - since), flush=True)
    for name in MODELS:
        sizes = SIZES[-1:] if quick or "without" in name else SIZES
        values[name] = []
        for seed in SEEDS[: 1 if quick else None]:
            values[name].append([measure(name, n, seed) for n in sizes])
            print(name, seed, values[name][-1], round(time.time() - since), flush=True)
    if not quick:
        print(record("ch14_vit", SEEDS, values, since).name)


if __name__ == "__main__":
    main()
