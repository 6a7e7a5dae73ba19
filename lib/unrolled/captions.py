"""Pictures of one or two handwritten digits and a sentence for each: captions (chapter 6), with attention (7)."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cache

import torch
from torch import Tensor, nn

from unrolled.digits import digits
from unrolled.pairs import Tokens
from unrolled.text import Vocabulary, pad_batch
from unrolled.translation import Languages
from unrolled.translators import EOS, PAD, SPECIAL, MapReader

NAMES = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
Scene = tuple[Tensor, list[Tokens]]  # a picture and its caption, as a source and its answers


@cache
def _by_digit(part: str, collection: str) -> dict[int, list[Tensor]]:
    """The pictures (8, 8) of one part by their digit, ink between 0 and 1.

    Those of MNIST, 28 by 28 pixels, lose a margin of two, and each 3 by 3 pixels become their mean.
    """
    images, labels = digits(part, collection)
    if collection == "mnist":
        images = images[:, 2:-2, 2:-2].reshape(-1, 8, 3, 8, 3).mean(dim=(2, 4))  # (n, 8, 8)
    return {digit: list(images[labels == digit]) for digit in range(10)}


def caption(layout: str, digits: Sequence[int]) -> Tokens:
    """The sentence for a scene.

    >>> " ".join(caption("above", [8, 3]))
    'an eight above a three'
    """
    named = [["an" if digit == 8 else "a", NAMES[digit]] for digit in digits]
    relation = {"above": ["above"], "beside": ["left", "of"]}.get(layout, [])
    return [*named[0], *relation, *(named[1] if relation else [])]


def scenes(n: int, part: str, rng: random.Random, collection: str = "small") -> list[Scene]:
    """Pictures of 16 by 16 pixels: one digit in one of the four quarters, or two, above or beside each other.

    Args:
        n: how many.
        part: of the handwritten digits: "train", "validation" or "test".
        rng: random numbers.
        collection: of digits, "small" (scikit-learn's) or "mnist" (made smaller).

    >>> image, (words,) = scenes(1, "train", random.Random(4))[0]
    >>> image.shape, " ".join(words)
    (torch.Size([16, 16]), 'a six')
    """
    images, found = _by_digit(part, collection), []
    for _ in range(n):
        layout = rng.choice(("alone", "above", "beside"))
        row, column = rng.randrange(2), rng.randrange(2)
        places = {"alone": [(row, column)], "above": [(0, column), (1, column)], "beside": [(row, 0), (row, 1)]}[layout]
        shown = [rng.randrange(10) for _ in places]
        canvas = torch.zeros(16, 16)
        for digit, (i, j) in zip(shown, places, strict=True):
            canvas[8 * i : 8 * i + 8, 8 * j : 8 * j + 8] = rng.choice(images[digit])
        found.append((canvas, [caption(layout, shown)]))
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


class PlacedMapReader(MapReader):
    """As MapReader, and each of the 4 by 4 places has a learned vector that says where it is."""

    def __init__(self, C: int):
        super().__init__(C)
        self.where = nn.Parameter(torch.randn(16, C) / 2)

    def read(self, images: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        features = self.layers[:-1](images[:, None]).flatten(2).mT  # (B, 16, C): the tanh comes last
        places = torch.tanh(features + self.where)
        return places, torch.ones(places.shape[:2], dtype=torch.bool), places.mean(dim=1)
