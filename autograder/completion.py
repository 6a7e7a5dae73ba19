"""What a shell needs to complete ``autograder`` by the Tab key: commands, options, chapters and files."""

from __future__ import annotations

import argparse
from pathlib import Path

import shtab

from autograder.cli import make_parser
from autograder.course import chapters

SHELLS = ("bash", "zsh")
NAMES = {
    "bash": '_autograder_chapters() {{ compgen -W "{names}" -- "$1"; }}\n',
    "zsh": "_autograder_chapters() {{ compadd -- {names} }}\n",
}


def script(shell: str) -> str:
    """The script to be sourced; the names of the chapters are those of today."""
    parser = make_parser()
    (commands,) = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    for command in commands.choices.values():
        for action in command._actions:
            if action.metavar in ("CHAPTER", "CHAPTER|NOTEBOOK"):
                action.complete = dict.fromkeys(SHELLS, "_autograder_chapters")
            elif action.type is Path:
                action.complete = shtab.FILE
    names = " ".join(chapter.name for chapter in chapters())
    return shtab.complete(parser, shell, preamble={shell: NAMES[shell].format(names=names)})
