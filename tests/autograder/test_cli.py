"""Every command explains itself: what it does, and an example that can be read by itself."""

import argparse
import shlex
import shutil
import subprocess

import pytest

from autograder.cli import main, make_parser

COMMANDS = next(action for action in make_parser()._actions if isinstance(action, argparse._SubParsersAction)).choices


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_an_example_that_is_right(name):
    text = COMMANDS[name].format_help()
    assert COMMANDS[name].description in " ".join(text.split())
    example = COMMANDS[name].epilog.removeprefix(f"Example: autograder {name}")
    assert example != COMMANDS[name].epilog
    assert COMMANDS[name].parse_args(shlex.split(example)).run


TAB = """
source "./$1"
COMP_WORDS=(autograder "${@:2}") COMP_CWORD=$(($# - 1))
"$(complete -p autograder | grep -o -- '-F [^ ]*' | cut -c 4-)"
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        (("gra",), {"grade", "grade-demo"}),
        (("grade", "01"), {"01_recurrence"}),
        (("submit", "03"), {"03_language_models"}),
        (("export", "--form"), {"--format"}),
        (("export", "--format", "m"), {"moodle"}),
        (("check", "rec"), {"recurrence.ipynb"}),
    ],
)
def test_the_tab_key(tmp_path, monkeypatch, capsys, typed, offered):
    assert main(["completion", "bash"]) == 0
    (tmp_path / "script").write_text(capsys.readouterr().out)
    (tmp_path / "recurrence.ipynb").touch()
    words = ["bash", "--norc", "-c", TAB, "bash", "script", *typed]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
    assert {word.strip() for word in done.stdout.splitlines()} == offered, done.stderr


def test_zsh_can_read_its_script(tmp_path, capsys):
    assert main(["completion", "zsh"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("#compdef autograder") and "01_recurrence" in text
    if shutil.which("zsh"):
        (tmp_path / "script").write_text(text)
        assert subprocess.run(["zsh", "-n", "script"], cwd=tmp_path).returncode == 0


def test_jupyterlab_needs_a_folder(tmp_path, capsys):
    assert main(["lab", str(tmp_path / "none")]) == 1
    assert "none is not a folder; give one with notebooks, or a course directory." in capsys.readouterr().err
