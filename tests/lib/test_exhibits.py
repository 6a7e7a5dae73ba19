"""The exhibits of chapter 15: the stored layers are what they are called, and the pictures can be drawn."""

import matplotlib.pyplot as plt
import pytest

from unrolled.exhibits import case_of, exhibit
from unrolled.measurements import stored
from unrolled.package_map import package_map
from unrolled.which_bug import BUGS, name_the_bug


@pytest.mark.parametrize("bug", BUGS)
def test_the_trained_layers_are_called_by_their_names(bug):
    for run in stored("ch15_explorer")[bug]:
        assert name_the_bug(case_of(run)) == bug


def test_an_exhibit_has_three_parts():
    _, axes = plt.subplots(1, 3)
    exhibit(case_of(stored("ch15_explorer")["right"][0]), 10, [("holds", True), ("fails", False)], axes)
    assert len(axes[0].lines) == 2 and [text.get_text() for text in axes[1].texts] == ["✓", "holds", "✗", "fails"]
    assert axes[2].images[0].get_array().shape == (12, 12)
    plt.close("all")


def test_the_map_has_a_box_for_every_function():
    ax = package_map({"1 one": ["f", "g" * 90, "h"]}, {"this": {"f": 2}, "that": {"f": 1, "h": 1}})
    assert [text.get_text() for text in ax.texts] == ["f", "g" * 90, "h"]
    assert len({patch.get_facecolor() for patch in ax.patches}) == 3
    plt.close("all")
