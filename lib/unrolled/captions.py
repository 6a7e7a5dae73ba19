"""Pictures of one or two handwritten digits, and a sentence for each: captions without attention (chapters 6 and 7)."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cache

import torch
from sklearn.datasets import load_digits
from torch import Tensor

from unrolled.data import SPLIT
from unrolled.pairs import Tokens
from unrolled.text import Vocabulary, pad_batch
from unrolled.translation import Languages
from unrolled.translators import EOS, PAD, SPECIAL

NAMES = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
Scene = tuple[Tensor, list[Tokens]]  # a picture (16, 16) and its caption, as a source and its answers


@cache
def _digits(part: str) -> dict[int, list[Tensor]]:
    """The pictures (8, 8) of one part by their digit, ink between 0 and 1; split by the last digit of their number."""
    data, found = load_digits(), {digit: [] for digit in range(10)}
    for n, (image, digit) in enumerate(zip(data.images, data.target, strict=True)):
        if n % 10 in SPLIT[part]:
            found[int(digit)].append(torch.tensor(image / 16, dtype=torch.float32))
    return found


def caption(layout: str, digits: Sequence[int]) -> Tokens:
    """The sentence for a scene.

    >>> " ".join(caption("above", [8, 3]))
    'an eight above a three'
    """
    named = [["an" if digit == 8 else "a", NAMES[digit]] for digit in digits]
    relation = {"above": ["above"], "beside": ["left", "of"]}.get(layout, [])
    return [*named[0], *relation, *(named[1] if relation else [])]


def scenes(n: int, part: str, rng: random.Random) -> list[Scene]:
    """Pictures of 16 by 16 pixels: one digit in one of the four quarters, or two, above or beside each other.

    Args:
        n: how many.
        part: of the handwritten digits: "train", "validation" or "test".
        rng: random numbers.

    >>> image, (words,) = scenes(1, "train", random.Random(4))[0]
    >>> image.shape, " ".join(words)
    (torch.Size([16, 16]), 'a six')
    """
    images, found = _digits(part), []
    for _ in range(n):
        layout = rng.choice(("alone", "above", "beside"))
        row, column = rng.randrange(2), rng.randrange(2)
        places = {"alone": [(row, column)], "above": [(0, column), (1, column)], "beside": [(row, 0), (row, 1)]}[layout]
        digits = [rng.randrange(10) for _ in places]
        canvas = torch.zeros(16, 16)
        for digit, (i, j) in zip(digits, places, strict=True):
            canvas[8 * i : 8 * i + 8, 8 * j : 8 * j + 8] = rng.choice(images[digit])
        found.append((canvas, [caption(layout, digits)]))
    return found


class PictureLanguage(Languages):
    """The words of the captions; the source side is a picture, which needs no vocabulary."""

    def __init__(self, pairs: Sequence[Scene]):
        self.target = Vocabulary([targets[0] for _, targets in pairs], special=SPECIAL)

    def batch(self, pairs: Sequence[Scene]) -> tuple[Tensor, Tensor, Tensor]:
        """Pictures (B, 16, 16), their heights (B,), and the captions with EOS (B, T), padded."""
        images = torch.stack([image for image, _ in pairs])
        heights = torch.tensor([len(image) for image, _ in pairs])
        return images, heights, pad_batch([[*self.target.encode(t[0]), EOS] for _, t in pairs], PAD)[0]
