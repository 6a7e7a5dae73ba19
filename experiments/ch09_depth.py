"""Chapter 9: the side of the norm, with and without warm-up, with two layers and with eight. Digits backwards."""

import time

import torch
from torch import nn

from unrolled.measurements import record
from unrolled.transformer_model import TransformerEncoder

SEEDS = [0, 1, 2]
DIGITS, T, D, HEADS, D_FF = 10, 10, 32, 4, 64
UPDATES, SIZE, LR, WARMUP = 240, 32, 1e-2, 100


class Reverser(nn.Module):
    """Encoder and one linear layer: at step t it must say the digit of step T - 1 - t."""

    def __init__(self, layers: int, norm: str):
        super().__init__()
        self.encoder = TransformerEncoder(DIGITS, D, HEADS, layers, D_FF, norm=norm, longest=T)
        self.output = nn.Linear(D, DIGITS)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.output(self.encoder(ids)[0])  # (B, T, 10)


def measure(layers: int, norm: str, warmup: int, seed: int, lr: float = LR) -> dict:
    torch.manual_seed(seed)
    model, losses = Reverser(layers, norm), []
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    for step in range(1, UPDATES + 1):
        ids = torch.randint(DIGITS, (SIZE, T))
        loss = nn.functional.cross_entropy(model(ids).flatten(0, 1), ids.flip(1).flatten())
        optimizer.param_groups[0]["lr"] = lr * min(1, step / warmup) if warmup else lr
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    with torch.no_grad():
        ids = torch.randint(DIGITS, (1000, T))
        right = (model(ids).argmax(-1) == ids.flip(1)).double().mean().item()
    return {"right": right, "loss": [round(sum(losses[k : k + 20]) / 20, 4) for k in range(0, UPDATES, 20)]}


def main():
    torch.set_num_threads(1)
    since, values = time.time(), {"updates": UPDATES, "warm-up": WARMUP, "lr": LR, "runs": {}}
    for layers in (8, 2):
        for norm in ("post", "pre"):
            for warmup in (0, WARMUP):
                name = f"{layers} layers, {norm}-norm, {'warm-up' if warmup else 'no warm-up'}"
                values["runs"][name] = [measure(layers, norm, warmup, seed) for seed in SEEDS]
                print(name, [run["right"] for run in values["runs"][name]], round(time.process_time()), flush=True)
    name = "8 layers, post-norm, no warm-up, a third of the step size"
    values["runs"][name] = [measure(8, "post", 0, seed, LR / 3) for seed in SEEDS]
    print(name, [run["right"] for run in values["runs"][name]], round(time.process_time()), flush=True)
    print(record("ch09_depth", SEEDS, values, since).name)


if __name__ == "__main__":
    main()
