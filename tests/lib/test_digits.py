"""Pictures of digits: complete, in parts that do not meet, ink between 0 and 1."""

import pytest
import torch

from unrolled.digits import digits


@pytest.mark.parametrize(("collection", "n", "side"), [("small", 1797, 8), ("mnist", 5000, 28)])
def test_parts_of_the_digits_are_complete_and_do_not_meet(collection, n, side):
    parts = {part: digits(part, collection) for part in ("train", "validation", "test")}
    assert sum(len(labels) for _, labels in parts.values()) == n
    for images, labels in parts.values():
        assert images.shape == (len(labels), side, side) and labels.dtype == torch.int64
        assert images.min() == 0 and images.max() == 1 and sorted(set(labels.tolist())) == list(range(10))
    seen = [{image.numpy().tobytes() for image in images} for images, _ in parts.values()]
    assert not seen[0] & seen[2] and not seen[1] & seen[2] and not seen[0] & seen[1]
