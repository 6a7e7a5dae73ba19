"""Chapter 9: layer against batch normalisation in a small encoder whose batches are padded. Digits backwards.

Strings of 3 to 12 digits in one batch; at step t of n the network must say the digit of step n - 1 - t. The batches of
the test hold the same strings, once mixed as in training, once one string at a time; and the statistics of the batch
are those of the batch itself or the running ones, as one chooses with train() and eval().
"""

import time

import torch
from torch import Tensor, nn

from unrolled.measurements import record
from unrolled.positions import sinusoidal_positions

SEEDS = [0, 1, 2]
DIGITS, SHORTEST, LONGEST, D, HEADS, D_FF = 10, 3, 12, 32, 4, 64
UPDATES, SIZE, LR, WARMUP = 1000, 32, 3e-3, 100


class BatchNorm(nn.Module):
    """Batch normalisation of (B, T, D): mean and variance of each feature over all steps of the batch, pads too."""

    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(D)

    def forward(self, x: Tensor) -> Tensor:
        return self.norm(x.flatten(0, 1)).view_as(x)


class Reverser(nn.Module):
    """Two of torch's encoder layers (pre-norm) with one or the other normalisation."""

    def __init__(self, kind: str):
        super().__init__()
        norm = {"layer": lambda: nn.LayerNorm(D), "batch": BatchNorm}[kind]
        self.tokens, self.output = nn.Embedding(DIGITS + 1, D), nn.Linear(D, DIGITS)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(D, HEADS, D_FF, dropout=0, batch_first=True, norm_first=True) for _ in range(2)
        )
        for layer in self.layers:
            layer.norm1, layer.norm2 = norm(), norm()
        self.last = norm()
        self.register_buffer("places", sinusoidal_positions(LONGEST, D))

    def forward(self, ids: Tensor) -> Tensor:
        """ids (B, T), 0 = pad -> scores (B, T, 10)."""
        x = self.tokens(ids) + self.places[: ids.shape[1]]
        for layer in self.layers:
            x = layer(x, src_key_padding_mask=ids == 0)
        return self.output(self.last(x))


def strings(n: int) -> tuple[Tensor, Tensor]:
    """Digits 1 to 10 with pads 0, and the same backwards, with -100 for the pads."""
    lengths = torch.randint(SHORTEST, LONGEST + 1, (n,))
    ids = torch.randint(1, DIGITS + 1, (n, LONGEST)) * (torch.arange(LONGEST) < lengths[:, None])
    back = (lengths[:, None] - 1 - torch.arange(LONGEST)).clamp(min=0)
    return ids, (ids.gather(1, back) - 1).masked_fill(ids == 0, -100)


def accuracy(model: nn.Module, ids: Tensor, targets: Tensor, size: int) -> float:
    """The share of right digits, in batches of one size, each cut at its longest string."""
    right = real = 0
    for x, y in zip(ids.split(size), targets.split(size), strict=True):
        T = int((x != 0).sum(1).max())
        said = model(x[:, :T]).argmax(-1)
        right, real = right + (said == y[:, :T]).sum().item(), real + (x != 0).sum().item()
    return right / real


def measure(kind: str, seed: int) -> dict:
    torch.manual_seed(seed)
    model = Reverser(kind)
    optimizer = torch.optim.Adam(model.parameters(), lr=LR)
    for step in range(1, UPDATES + 1):
        ids, targets = strings(SIZE)
        loss = nn.functional.cross_entropy(model(ids).flatten(0, 1), targets.flatten(), ignore_index=-100)
        optimizer.param_groups[0]["lr"] = LR * min(1, step / WARMUP)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    ids, targets = strings(320)
    found = {}
    with torch.no_grad():
        state = {name: value.clone() for name, value in model.state_dict().items()}
        found["own statistics, one string at a time"] = accuracy(model, ids, targets, 1)
        model.load_state_dict(state)  # running means have moved
        found["own statistics, 32 strings"] = accuracy(model, ids, targets, SIZE)
        model.load_state_dict(state)
        model.eval()
        found["running statistics"] = accuracy(model, ids, targets, SIZE)
    return found


def main():
    torch.set_num_threads(1)
    torch.backends.mha.set_fastpath_enabled(False)
    since, values = time.time(), {}
    for kind in ("layer", "batch"):
        values[kind] = [measure(kind, seed) for seed in SEEDS]
        print(kind, values[kind], round(time.process_time()), flush=True)
    print(record("ch09_norms", SEEDS, values, since).name)


if __name__ == "__main__":
    main()
