"""The tiny GPT of the page play/sampling: learns the New Testament letter by letter, and is rounded to bytes."""

import math
import re
from collections.abc import Callable

import torch
import torch.nn.functional as F
from ch04_verse import IDS, TEXT, VOCABULARY
from torch import Tensor, nn

from unrolled.gpt import GPTConfig, generate, windows
from unrolled.gpt_model import GPT
from unrolled.sampling import next_token_probs

LETTERS = VOCABULARY.words[2:]  # neither pad nor unknown letter: they could be drawn
CONFIG = GPTConfig(V=len(LETTERS), context=64, D=64, n_heads=4, layers=2, d_ff=256)
SPLIT = len(IDS) - 60_000  # the rest is the test text of ch04_verse.py
STEPS, B, LR = 2000, 32, 3e-3
WORDS = set(re.findall(r"[a-z']+", TEXT.lower()))


def learned(seed: int = 0, steps: int = STEPS) -> GPT:
    """Adam, gradients clipped at 1, the step size rising for 100 steps and falling to zero as half a cosine wave."""
    torch.manual_seed(seed)
    model, T = GPT(CONFIG), CONFIG.context
    train, _ = windows(IDS - 2, T, stride=1, split=SPLIT)
    optimizer = torch.optim.AdamW(model.parameters(), lr=LR, betas=(0.9, 0.98), weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1, (step + 1) / 100) * (1 + math.cos(math.pi * step / steps)) / 2
    )
    for step in range(steps):
        rows = torch.randint(0, len(train.x), (B,))
        loss = F.cross_entropy(model(train.x[rows]).flatten(0, 1), train.y[rows].flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if step % 200 == 199:
            print(step + 1, round(loss.item(), 3), flush=True)
    return model


@torch.no_grad()
def nats(model: GPT) -> float:
    """Mean surprise per letter on the test text, in windows of the whole context."""
    _, test = windows(IDS - 2, CONFIG.context, stride=CONFIG.context, split=SPLIT)
    return F.cross_entropy(model(test.x).flatten(0, 1), test.y.flatten()).item()


@torch.no_grad()
def bytes_of_rows(weight: Tensor) -> tuple[Tensor, Tensor]:
    """Round a matrix, in place, to whole numbers from -127 to 127 of a unit of each row; the numbers, the units."""
    units = (weight.abs().amax(dim=1) / 127).clamp(min=1e-6)  # (rows,)
    units = torch.tensor([float(f"{unit:.5g}") for unit in units], dtype=weight.dtype)
    whole = (weight / units[:, None]).round().clamp(-127, 127)  # (rows, columns)
    weight.copy_(whole * units[:, None])
    return whole.to(torch.int8), units


def drawing(u: Tensor, settings: dict) -> Callable[[Tensor], Tensor]:
    """The ``pick`` of ``generate`` that draws with the random numbers u (n, B), one row for each letter."""
    numbers = iter(u)

    def pick(logits: Tensor) -> Tensor:
        sums = torch.stack([next_token_probs(row, **settings) for row in logits]).cumsum(dim=1)  # (B, V)
        return (sums[:, :-1] <= next(numbers)[:, None]).sum(dim=1)  # eq-inverse-cdf: (B,)

    return pick


def write(model: GPT, text: str, u: Tensor, settings: dict) -> list[str]:
    """B texts that go on after the same beginning; u (n, B)."""
    ids = torch.tensor([[LETTERS.index(letter) for letter in text]]).repeat(u.shape[1], 1)  # (B, T)
    found = generate(model.read, ids, len(u), CONFIG.context, pick=drawing(u, settings))
    return ["".join(LETTERS[i] for i in row[len(text) :]) for row in found]


def share_of_words(texts: list[str]) -> float:
    """How many of the words that were written stand somewhere in the New Testament; the last may be cut off."""
    found = [word for text in texts for word in re.findall(r"[a-z']+", text.lower())[:-1]]
    return sum(word in WORDS for word in found) / len(found)
