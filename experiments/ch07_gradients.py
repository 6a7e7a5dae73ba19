"""Chapter 7: a direct connection. How much of a change in the first source state arrives at the last digit written?

Digits backwards: the last digit of the answer is the first of the source, so this is the way that the network needs.
The reader goes one way only (a second one from the end would begin its way at this very digit), and the context is read
at every step. We take the score of the right digit, not the loss: the loss of a network that is right has no gradient.
"""

import random
import time

import torch
from torch import Tensor, nn

from unrolled.attention import BilinearScore
from unrolled.measurements import record
from unrolled.pairs import reversed_digits
from unrolled.seq2seq import shift_right
from unrolled.translation import Languages, learn_pairs
from unrolled.translators import BOS, AttentionSeq2Seq, Memory, Seq2Seq

SEEDS = [0, 1, 2]
E, H, UPDATES = 16, 64, 600
LENGTHS = [5, 10, 20, 40, 80]
LEARN = reversed_digits(30_000, 3, 20, random.Random(0))
LANGUAGES = Languages(LEARN)


class OneWayReader(nn.Module):
    """One GRU from the first to the last symbol; the context is its last state."""

    def __init__(self, V: int):
        super().__init__()
        self.embedding, self.gru, self.width = nn.Embedding(V, E), nn.GRU(E, H, batch_first=True), H

    def read(self, src: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        states, _ = self.gru(self.embedding(src))
        real = torch.arange(src.shape[1]) < lengths[:, None]
        return states, real, states[torch.arange(len(src)), lengths - 1]

    def forward(self, src: Tensor, lengths: Tensor) -> Tensor:
        return self.read(src, lengths)[2]


def build(name: str) -> nn.Module:
    reader, V = OneWayReader(len(LANGUAGES.source)), len(LANGUAGES.target)
    return Seq2Seq(reader, V, E, H) if name == "plain" else AttentionSeq2Seq(reader, BilinearScore(H, H), V, E, H)


def arrives(model: nn.Module, n: int) -> float:
    """Length of the gradient of the last digit's score at the state after the first symbol, mean of 50 strings."""
    src, _, y = LANGUAGES.batch(reversed_digits(50, n, n, random.Random(n)))
    y_in, targets = shift_right(y, BOS)
    embedded = model.reader.embedding(src)
    first = model.reader.gru(embedded[:, :1])[1].detach().requires_grad_()  # (1, B, H)
    rest, last = model.reader.gru(embedded[:, 1:], first)
    h = torch.cat([first[0][:, None], rest], dim=1)  # (B, n, H)
    s = torch.tanh(model.first(last[0]))
    source = Memory(h, torch.ones(h.shape[:2], dtype=torch.bool)) if isinstance(model, AttentionSeq2Seq) else last[0]
    scores = model.write(y_in, s, source)[0]  # (B, n + 1, V)
    right = scores[:, n - 1].gather(1, targets[:, n - 1 : n]).sum()  # the last digit; EOS follows
    return torch.autograd.grad(right, first)[0][0].norm(dim=1).mean().item()


def measure(name: str, seed: int) -> dict:
    torch.manual_seed(seed)
    model = build(name)
    before = [arrives(model, n) for n in LENGTHS]
    begin = time.process_time()
    losses = learn_pairs(model, LEARN, LANGUAGES, updates=UPDATES, seed=seed, lr=4e-3)
    return {
        "untrained": before,
        "trained": [arrives(model, n) for n in LENGTHS],
        "loss": sum(losses[-50:]) / 50,
        "cpu seconds": round(time.process_time() - begin, 1),
    }


def main():
    torch.set_num_threads(1)
    since, values = time.time(), {"lengths": LENGTHS}
    for name in ("plain", "attention"):
        values[name] = [measure(name, seed) for seed in SEEDS]
        print(name, values[name], flush=True)
    print(record("ch07_gradients", SEEDS, values, since).name)


if __name__ == "__main__":
    main()
