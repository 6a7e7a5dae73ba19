"""Every command explains itself: what it does, and an example that can be read by itself."""

import argparse
import shlex

import pytest

from autograder.cli import _parser

COMMANDS = next(action for action in _parser()._actions if isinstance(action, argparse._SubParsersAction)).choices


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_an_example_that_is_right(name):
    text = COMMANDS[name].format_help()
    assert COMMANDS[name].description in " ".join(text.split())
    example = COMMANDS[name].epilog.removeprefix(f"Example: autograder {name}")
    assert example != COMMANDS[name].epilog
    assert COMMANDS[name].parse_args(shlex.split(example)).run
