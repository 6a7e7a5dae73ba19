"""A package in place: the library runs with a student's functions, counts them, and is itself again afterwards."""

import pytest
import torch

from autograder.exercises import find
from autograder.package import Package
from unrolled import losses, translation
from unrolled.transformer_model import EncoderLayer


def test_the_library_runs_with_it_and_is_itself_again():
    own = losses.softmax
    with Package({"softmax": lambda o: o + 1}).in_place() as calls:
        assert losses.softmax(1) == 2 and calls == {"softmax": 1}
    assert losses.softmax is own


def test_functions_of_the_same_name_elsewhere_stay():
    theirs = translation.generate
    with Package({"generate": lambda *a: 3}).in_place():
        assert translation.generate is theirs


def test_an_error_leaves_nothing_behind():
    own = losses.softmax
    with pytest.raises(ValueError), Package({"softmax": abs}).in_place():
        raise ValueError
    assert losses.softmax is own


def test_a_layer_calls_the_answers():
    names = ("encoder_layer", "multi_head_attention", "layer_norm", "feed_forward", "split_heads")
    with Package({name: find(name).functions[name] for name in names}).in_place() as calls:
        EncoderLayer(6, 2, 12)(torch.randn(1, 3, 6))
    assert calls == {
        "encoder_layer": 1,
        "multi_head_attention": 1,
        "layer_norm": 2,
        "feed_forward": 1,
        "split_heads": 3,
    }
