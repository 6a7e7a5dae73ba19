"""The little picture of a verdict: the right window, the right marks, nothing where there is nothing to see."""

import re

import numpy as np

from autograder.exercises import find
from autograder.judge import judge_functions
from autograder.picture import COLUMNS, ROWS, as_svg, as_text, picture_of
from autograder.show import html, text


def test_only_what_differs_is_marked():
    expected = np.arange(12.0).reshape(3, 4)
    got = expected.copy()
    got[1, 2] = -1
    picture = picture_of({"y": expected}, {"y": got})
    assert as_text(picture) == "····\n··█·\n····"
    assert as_svg(picture).count("<rect") == 24 and as_svg(picture).count("stroke=") == 1


def test_the_window_follows_the_first_difference():
    expected = np.zeros((50, 40))
    got = expected.copy()
    got[45, 30] = 1
    picture = picture_of({"y": expected}, {"y": got})
    assert len(picture.wrong) == ROWS and len(picture.wrong[0]) == COLUMNS
    assert sum(map(sum, picture.wrong)) == 1


def test_many_axes_become_rows_and_tuples_are_searched():
    expected = (np.zeros(5), np.ones((2, 3, 4)))
    got = (np.zeros(5), np.zeros((2, 3, 4)))
    picture = picture_of({"y": expected}, {"y": got})
    assert len(picture.wrong) == 6 and not picture.partly
    assert "stroke=" not in as_svg(picture)


def test_no_picture_without_two_arrays_of_one_shape():
    assert picture_of({"y": np.zeros((2, 3))}, {"y": np.zeros((3, 2))}) is None
    assert picture_of({"y": np.zeros((2, 3))}, {"y": np.zeros((2, 3))}) is None
    assert picture_of({"y": np.float64(1)}, {"y": np.float64(2)}) is None
    assert picture_of({"y": "a"}, {"y": "b"}) is None


def test_numbers_that_are_none_have_a_colour():
    svg = as_svg(picture_of({"y": np.ones(5)}, {"y": np.array([np.nan, np.inf, 1, 1, 1])}))
    assert svg.count("#777") == 2 and re.findall(r'fill="(?!#[0-9a-f]{3,6}"|currentColor)', svg) == []


def test_a_verdict_shows_one_picture():
    exercise = find("softmax")
    known = next(m for m in exercise.misconceptions if m.id == "overflow")
    verdict = judge_functions(exercise, exercise.with_one(known.implementation))
    assert html(verdict).count("<svg") == 1 and text(verdict).count("where it differs") == 1
    right = judge_functions(exercise, exercise.functions)
    assert "<svg" not in html(right)
