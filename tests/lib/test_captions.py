"""Scenes of MNIST digits: parts that do not meet, and places that a reader can tell apart."""

import random

import torch

from unrolled.captions import PlacedMapReader, scenes


def test_parts_of_mnist_do_not_meet():
    quarters = {part: {tuple(q.flatten().tolist()) for image, _ in scenes(300, part, random.Random(1), "mnist")
                       for half in image.split(8) for q in half.split(8, dim=1) if q.sum() > 0}
                for part in ("train", "test")}  # fmt: skip
    assert not quarters["train"] & quarters["test"]
    assert all(min(q) >= 0 and max(q) <= 1 for q in quarters["test"])


def test_equal_ink_at_two_places_has_two_vectors():
    torch.manual_seed(0)
    reader = PlacedMapReader(5)
    places, mask, c = reader.read(torch.zeros(2, 16, 16), torch.tensor([16, 16]))
    assert places.shape == (2, 16, 5) and c.shape == (2, 5) and mask.all()
    inner = places[0, [5, 6, 9, 10]]  # far from the border: without their own vectors they would be the same
    assert torch.pdist(inner).min() > 1e-3
