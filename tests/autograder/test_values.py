"""What crosses the boundary, and what counts as equal."""

import numpy as np
import pytest
import torch

from autograder.values import (
    RTOL32,
    BadAnswer,
    Opaque,
    Raised,
    TimedOut,
    canonical,
    decode,
    difference,
    encode,
    equal,
    insists_on_float32,
)


def same(expected, got, **options) -> bool:
    return difference(canonical(expected), canonical(got), **options) is None


@pytest.mark.parametrize(
    "value",
    [
        torch.arange(6.0).reshape(2, 3),
        torch.tensor(True),
        np.arange(3, dtype=np.int32),
        torch.zeros(0, 5),
        torch.tensor([1 + 2j]),
        3,
        2.5,
        "text",
        None,
        [torch.ones(2), "a", (1, 2, 3)],
        torch.ones(3, dtype=torch.bfloat16),
        object(),
    ],
)
def test_a_value_survives_the_journey(value):
    there = {"seen": canonical(value)}
    assert equal(there, decode(encode(there))) is None


def test_an_exception_travels_as_its_class():
    back = decode(encode(Raised("ValueError", "no")))
    assert back == Raised("ValueError", "no")
    assert equal(Raised("ValueError", "other words"), back) is None
    assert equal(Raised("TypeError"), back) is not None
    assert equal(TimedOut(), back) is not None


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x00\x00\x00\x00",
        b"\xff\xff\xff\xff{}",
        b"\x02\x00\x00\x00{}",
        encode({"a": torch.ones(3)})[:-1],
        encode({"a": torch.ones(3)}).replace(b"float32", b"object_"),
        encode({"a": torch.ones(3)}).replace(b"[3]", b"[-3]"),
    ],
)
def test_bytes_that_are_no_observation_are_refused(data):
    with pytest.raises(BadAnswer):
        decode(data)


def test_manner_does_not_count():
    assert same(torch.tensor([1, 2]), [1, 2])
    assert same([1.0, 2.0], np.array([1.0, 2.0]))
    assert same((torch.ones(2), torch.zeros(3)), [np.ones(2), np.zeros(3)])
    assert same(torch.tensor(2.0, dtype=torch.float64), 2)
    assert same(torch.tensor(3), 3.0)
    assert same(torch.tensor([[True, False], [False, True]]), [[True, False], [False, True]])
    assert same(torch.tensor([float("nan"), float("inf")]), [float("nan"), float("inf")])


def test_matter_does_count():
    assert not same(torch.ones(2, 3), torch.ones(3, 2))
    assert not same(torch.ones(3, dtype=torch.bool), torch.ones(3))
    assert not same(torch.tensor([1, 2]), torch.tensor([1.0, 2.0]))
    assert not same(float("inf"), float("-inf"))
    assert not same(torch.tensor(1.0, dtype=torch.float64), 1.0 + 2e-6)
    assert not same(torch.ones(3), None)
    assert not same((torch.ones(2), torch.ones(3)), (torch.ones(2),))
    assert not same(torch.tensor([[1, 2], [3, 4]]), [[1, 2], [3]])
    assert not same((torch.ones(2), torch.ones(2)), torch.ones(2, 2))
    assert not same("a", Opaque("str"))


def test_a_difference_says_where_and_how_much():
    found = difference(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[1.0, 2.0], [3.5, 4.0]]))
    assert found.expected == "at [1, 0], 3"
    assert found.got == "3.5"
    assert found.note == "1 of 4 entries differ"
    assert difference(np.ones((2, 3)), np.ones((3, 2))).note == "the shape differs"


def test_an_always_equal_object_crosses_as_its_type_only():
    class Agreeable:
        def __eq__(self, other):
            return True

    assert canonical(Agreeable()) == Opaque("Agreeable")
    assert not same(torch.ones(3), Agreeable())


def test_float32_is_noticed_and_compared_with_its_own_tolerance():
    wide, narrow = torch.rand(5, dtype=torch.float64), torch.rand(5)
    assert insists_on_float32({"a": canonical(wide)}, {"a": canonical(narrow)})
    assert not insists_on_float32({"a": canonical(wide)}, {"a": canonical(wide)})
    assert same(narrow, narrow + 1e-6, rtol=RTOL32)
