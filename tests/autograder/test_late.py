"""What a late submission costs, by nbgrader's own plugin interface."""

import pytest
from traitlets import TraitError
from traitlets.config import Config

from autograder.late import DAY, LatePenalty


def penalty(seconds: float, score: float = 10, **policy) -> float | None:
    return LatePenalty(config=Config(LatePenalty=policy)).late_submission_penalty("ada", score, seconds)


@pytest.mark.parametrize(
    ("seconds", "policy", "cost"),
    [
        (1, {}, None),
        (1, {"penalty_method": "zero"}, 10),
        (1, {"percent_per_day": 10}, 1),
        (DAY, {"percent_per_day": 10}, 1),
        (DAY + 1, {"percent_per_day": 10}, 2),
        (30 * DAY, {"percent_per_day": 10}, 10),
        (30 * DAY, {"percent_per_day": 10, "most_percent": 50}, 5),
        (15 * 60, {"percent_per_day": 10, "grace_minutes": 15}, 0),
        (15 * 60 + 1, {"percent_per_day": 10, "grace_minutes": 15}, 1),
    ],
)
def test_each_day_begun_costs_up_to_a_most(seconds, policy, cost):
    assert penalty(seconds, **policy) == cost


def test_the_penalty_has_two_decimals():
    assert penalty(1, score=7.43, percent_per_day=15) == 1.11


def test_a_percentage_is_at_most_100():
    with pytest.raises(TraitError):
        penalty(1, percent_per_day=120)
