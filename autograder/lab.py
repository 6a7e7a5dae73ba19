"""JupyterLab as this course wants it: on the chapters without the instructor's panels, or on a course directory with.

Which panels are hidden stands in ``lab_settings``. It is told to one server only, so one environment serves both.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import nbformat
from nbformat.sign import NotebookNotary

from autograder.course import ROOT
from autograder.errors import CourseError

SETTINGS = Path(__file__).parent / "lab_settings"


def lab(folder: Path | None = None, options: list[str] | None = None) -> int:
    """Become JupyterLab on a folder (default: the chapters); in a course directory, formgrader is there."""
    folder = (folder or ROOT / "chapters").resolve()
    if not folder.is_dir():
        raise CourseError(f"{folder} is not a folder; give one with notebooks, or a course directory.")
    instructor = (folder / "nbgrader_config.py").exists() and (folder / "source").is_dir()
    if not instructor:
        trust(folder)
    places = [str(SETTINGS / ("instructor" if instructor else "student")), os.environ.get("JUPYTER_CONFIG_PATH")]
    environment = os.environ | {"JUPYTER_CONFIG_PATH": os.pathsep.join(filter(None, places))}
    command = [sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={folder}", *(options or [])]
    os.chdir(folder)  # nbgrader looks for its configuration here
    if os.name == "posix":
        os.execve(sys.executable, command, environment)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for JupyterLab
    return subprocess.run(command, env=environment).returncode


def trust(folder: Path) -> None:
    """Mark the notebooks as one's own, so that JupyterLab shows the outputs that are stored in them."""
    notary = NotebookNotary()
    for path in sorted(folder.glob("*/*.ipynb")):
        try:
            notary.sign(nbformat.read(path, as_version=4))
        except (ValueError, OSError, AttributeError, KeyError):  # it is shown all the same, without its outputs
            continue
