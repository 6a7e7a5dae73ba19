"""The exercise of chapter 0 and the mistakes that the judge knows by name."""

from __future__ import annotations

import torch

from autograder.exercise import Exercise
from autograder.probes import ch00_start as probes
from unrolled import recurrent

SETUP_NAMES: frozenset[str] = frozenset()

LEAKY_AVERAGE = Exercise(
    number="0.1",
    references=(recurrent.leaky_average,),
    probe_module=probes,
    points=0,
    minutes=5,
    difficulty=1,
    not_applicable={
        "another state before the first input": "m_0 is no argument: the equation fixes it at 0.",
    },
)


@LEAKY_AVERAGE.misconception(
    "The state is not carried from step to step",
    fails=("leaky_average_values", "leaky_average_fades", "leaky_average_untouched"),
    hints=(
        "Each of your outputs depends on its own input alone; a single push is gone at the next step.",
        "The old state must be the one that the step before has left behind. If the name that holds it is never "
        "assigned again, every step starts from zero.",
        "Read the equation of the leaky average: the right side holds the state with index t − 1.",
    ),
)
def leaky_average__state_not_carried(x, keep):
    m, states = torch.zeros(()), []
    for x_t in x:
        states.append(keep * m + (1 - keep) * x_t)
    return torch.stack(states)


@LEAKY_AVERAGE.misconception(
    "keep and 1 - keep are swapped",
    fails=("leaky_average_values", "leaky_average_one_input", "leaky_average_fades", "leaky_average_untouched"),
    hints=(
        "With keep near 1 your state jumps to each new input and soon forgets the old ones; with keep = 0.5 it is "
        "right.",
        "The two shares stand at the wrong places: keep is the share of the old state, the rest belongs to the input.",
        "Read the equation of the leaky average: which factor stands before the old state, and which before the input?",
    ),
)
def leaky_average__swapped_shares(x, keep):
    m, states = torch.zeros(()), []
    for x_t in x:
        m = (1 - keep) * m + keep * x_t
        states.append(m)
    return torch.stack(states)


@LEAKY_AVERAGE.misconception(
    "The new input is added whole",
    fails=("leaky_average_values", "leaky_average_one_input", "leaky_average_fades", "leaky_average_untouched"),
    hints=(
        "All your states are too large, each by the same factor.",
        "An average needs shares that add up to 1. You keep a share of the old state, but take all of the input.",
        "Read the equation of the leaky average: the input has a factor too.",
    ),
)
def leaky_average__input_added_whole(x, keep):
    m, states = torch.zeros(()), []
    for x_t in x:
        m = keep * m + x_t
        states.append(m)
    return torch.stack(states)


@LEAKY_AVERAGE.misconception(
    "The state starts from the first input instead of 0",
    fails=("leaky_average_values", "leaky_average_one_input", "leaky_average_untouched"),
    hints=(
        "Your first output is the first input itself, and the error fades from there on.",
        "The first input is mixed with a starting state as every other input is; you let it be the starting state.",
        "Read the equation of the leaky average: it says what the state is before the first input.",
    ),
)
def leaky_average__starts_from_first_input(x, keep):
    m, states = x[0], []
    for x_t in x:
        m = keep * m + (1 - keep) * x_t
        states.append(m)
    return torch.stack(states)


@LEAKY_AVERAGE.misconception(
    "Only the last state is returned",
    fails=("leaky_average_values", "leaky_average_one_input", "leaky_average_fades", "leaky_average_untouched"),
    hints=(
        "You return one number where as many are asked for as there are inputs.",
        "The loop is right, but the states on the way are thrown away. Collect each one as it is made.",
        "Read what the task says about the result: (T,), the state after each input.",
    ),
)
def leaky_average__last_state_only(x, keep):
    m = torch.zeros(())
    for x_t in x:
        m = keep * m + (1 - keep) * x_t
    return m


@LEAKY_AVERAGE.misconception(
    "The states overwrite the inputs",
    fails=("leaky_average_untouched",),
    hints=(
        "Your states are right, but after the call the caller's x holds them instead of the inputs.",
        "Writing into an argument changes the tensor of whoever called you. Put the states into a tensor or list of "
        "your own.",
        "Read what the task says about x: it is not changed.",
    ),
)
def leaky_average__overwrites_x(x, keep):
    x[0] = (1 - keep) * x[0]
    for t in range(1, len(x)):
        x[t] = keep * x[t - 1] + (1 - keep) * x[t]
    return x


EXERCISES = (LEAKY_AVERAGE,)
