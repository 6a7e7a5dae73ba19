"""The usual trouble is found, named with what to do, and only what work needs makes the status 1."""

import builtins
import copy
import json
import re
import shutil
import socket
import subprocess
import sys
from collections import namedtuple

import nbformat
import pytest

from autograder import doctor
from autograder.cli import main
from autograder.course import Chapter
from autograder.doctor import MISSING, NOTE, OK, findings, report

CHAPTER = Chapter("01_recurrence")
Disk = namedtuple("Disk", "total used free")


def found(checks, looked_at):
    """The finding about one thing."""
    return next(one for one in checks if one.looked_at.startswith(looked_at))


def test_every_line_says_what_was_looked_at_what_was_found_and_what_to_do():
    lines, _ = report()
    for line, one in zip(lines, findings(), strict=True):
        assert one.looked_at and one.found and line.startswith((OK, NOTE, MISSING)) and "\n" not in line
        assert one.state == OK or one.advice or one.looked_at.endswith(".ipynb")


def test_another_python(monkeypatch):
    version = namedtuple("version_info", "major minor micro releaselevel serial")(3, 12, 1, "final", 0)
    monkeypatch.setattr(sys, "version_info", version)
    one = doctor._python()
    assert one.state == MISSING and "python3.11" in one.advice


@pytest.fixture
def kernel(tmp_path, monkeypatch):
    """A kernel of the course's name that starts a program of our choice."""

    def make(*argv):
        place = tmp_path / "kernels" / doctor.KERNEL
        place.mkdir(parents=True, exist_ok=True)
        (place / "kernel.json").write_text(json.dumps({"argv": list(argv), "display_name": "x", "language": "python"}))
        return place

    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    monkeypatch.setenv("JUPYTER_PREFER_ENV_PATH", "0")
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path))
    return make


def test_the_kernel_of_another_python(kernel, tmp_path):
    place = kernel("/opt/other/bin/python", "-m", "ipykernel_launcher")
    one = found(doctor._kernel(), "kernel python3")
    assert one.state == MISSING and "/opt/other/bin/python" in one.found and str(place) in one.advice


@pytest.mark.parametrize("program", [sys.executable, "python", "python3"])
def test_the_right_kernel(kernel, program):
    kernel(program, "-m", "ipykernel_launcher")
    assert found(doctor._kernel(), "kernel python3").state == OK


def test_no_kernel(monkeypatch):
    from jupyter_client import kernelspec

    def none(*_):
        raise kernelspec.NoSuchKernel("python3")

    monkeypatch.setattr(kernelspec.KernelSpecManager, "get_kernel_spec", none)
    one = found(doctor._kernel(), "kernel python3")
    assert one.state == MISSING and "ipykernel install --sys-prefix" in one.advice


def test_no_jupyter_at_all(monkeypatch):
    monkeypatch.setattr(doctor, "find_spec", lambda name: None)
    assert found(doctor._kernel(), "kernel python3").advice == "`make setup`"


def test_jupyter_of_another_python_on_the_path(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: f"/opt/other/bin/{name}")
    one = found(doctor._kernel(), "jupyter on the PATH")
    assert one.state == NOTE and "/opt/other/bin/jupyter" in one.found


@pytest.mark.parametrize(
    ("name", "version", "state", "says"),
    [
        ("torch", None, MISSING, "not installed; 2.13.0 is pinned"),
        ("torch", "2.4.0", NOTE, "2.4.0 is installed; 2.13.0 is pinned"),
        ("nbval", None, NOTE, "only the tests need it"),
        ("torch", "2.13.0+cu130", NOTE, "CUDA build"),
    ],
)
def test_packages(monkeypatch, name, version, state, says):
    real = doctor._version
    monkeypatch.setattr(doctor, "_version", lambda asked: version if asked == name else real(asked))
    one = found(doctor._packages(), name)
    assert one.state == state and says in one.found and one.advice


def test_the_library_of_another_copy_and_no_data(monkeypatch, tmp_path):
    Spec = namedtuple("Spec", "origin")
    monkeypatch.setattr(doctor, "find_spec", lambda name: Spec(str(tmp_path / "unrolled" / "__init__.py")))
    assert str(tmp_path) in found(doctor._packages(), "unrolled").found
    monkeypatch.setattr(doctor, "find_spec", lambda name: None)
    assert found(doctor._packages(), "unrolled").state == MISSING
    assert {one.state for one in doctor._data()} == {MISSING}


def test_an_old_notebook(tmp_path, monkeypatch):
    released = nbformat.read(CHAPTER.student, as_version=4)
    old = copy.deepcopy(released)
    old.cells[0].source = "An earlier opening."
    nbformat.write(released, tmp_path / "new.ipynb")
    nbformat.write(old, tmp_path / "old.ipynb")
    nbformat.write(nbformat.v4.new_notebook(), tmp_path / "another.ipynb")
    (tmp_path / "broken.ipynb").write_text("{")
    given = list(doctor._notebooks(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert {one.found for one in doctor._notebooks(None)} == {one.found for one in given}
    one = found(given, str(tmp_path / "old.ipynb"))
    assert one.state == NOTE and one.advice == f"`autograder update {tmp_path / 'old.ipynb'}`"
    assert "not a readable notebook" in found(given, str(tmp_path / "broken.ipynb")).found
    assert found(given, "your notebooks").found == "1 are of this release" and len(given) == 3


def test_notebooks_where_packages_are_missing(monkeypatch, tmp_path):
    real = builtins.__import__

    def without(name, *rest, **more):
        if name == "autograder.own_work":
            raise ImportError("No module named 'torch'")
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    assert "No module named 'torch'" in found(doctor._notebooks(tmp_path), "your notebooks").found


@pytest.mark.parametrize(("free", "state"), [(10, OK), (1, NOTE), (0.05, MISSING)])
def test_disk(monkeypatch, free, state):
    monkeypatch.setattr(shutil, "disk_usage", lambda place: Disk(0, 0, free * 2**30))
    checks = list(doctor._disk())
    assert {one.state for one in checks} == {state} and all(one.advice for one in checks if state != OK)


def test_no_place_for_temporary_files_and_a_course_that_cannot_be_written(monkeypatch):
    def nowhere():
        raise FileNotFoundError

    monkeypatch.setattr(doctor.tempfile, "gettempdir", nowhere)
    monkeypatch.setattr(doctor.os, "access", lambda *_: False)
    checks = list(doctor._disk())
    assert found(checks, "temporary files").state == MISSING and found(checks, "folder of the course").state == NOTE


def test_ports(monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        monkeypatch.setattr(doctor, "PORTS", {port: ("JupyterLab", "take another")})
        one = found(doctor._ports(), f"port {port}")
        assert one.state == NOTE and "in use" in one.found and one.advice == "take another"
    assert found(doctor._ports(), f"port {port}").state == OK


@pytest.mark.parametrize(
    ("own", "bubblewrap", "system", "state", "says"),
    [
        (True, "", "Linux", OK, "the sandbox works"),
        (False, "/usr/bin/bwrap", "Linux", OK, "through bubblewrap"),
        (False, "", "Linux", NOTE, "no process may make them"),
        (False, "", "Darwin", NOTE, "Darwin has none"),
    ],
)
def test_namespaces(monkeypatch, own, bubblewrap, system, state, says):
    monkeypatch.setattr(doctor, "own_walls_stand", lambda: own)
    monkeypatch.setattr(doctor, "bubblewrap_path", lambda: bubblewrap)
    monkeypatch.setattr(doctor.platform, "system", lambda: system)
    one = doctor._namespaces()
    assert one.state == state and says in one.found and (state == OK or one.advice)


def test_browser_bubblewrap_and_postgres_are_only_remarks(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setattr(doctor.glob, "glob", lambda pattern: [])
    checks = list(doctor._remarks())
    assert [one.looked_at for one in checks] == ["browser", "bubblewrap", "PostgreSQL"]
    assert {one.state for one in checks} == {NOTE}


@pytest.mark.parametrize(("state", "status"), [(OK, 0), (NOTE, 0), (MISSING, 1)])
def test_the_status_is_1_only_if_something_needed_is_missing(monkeypatch, capsys, state, status):
    monkeypatch.setattr(doctor, "findings", lambda folder: iter([doctor.Finding(state, "this", "is so", "do that")]))
    assert main(["doctor"]) == status
    assert capsys.readouterr().out == f"{state:7}  this: is so -> do that\n"


def test_a_folder_that_is_not_there_and_help(tmp_path, capsys):
    assert main(["doctor", str(tmp_path / "no")]) == 1
    error = capsys.readouterr().err
    assert "does not exist" in error and error.count("\n") == 1
    with pytest.raises(SystemExit):
        main(["doctor", "--help"])
    assert "Example: autograder doctor" in capsys.readouterr().out


WINDOWS = """
import sys
sys.modules["resource"] = sys.modules["fcntl"] = None  # Windows has neither
import platform
platform.system = lambda: "Windows"
from autograder.cli import main
main(["doctor"])
assert main(["progress", sys.argv[1]]) == 0
assert main(["check", sys.argv[1]]) == 1
assert main(["progress", sys.argv[1], "--check"]) == 1
assert main(["submit", sys.argv[1], "--out", sys.argv[2]]) == 0
"""


def test_what_students_need_works_where_there_are_no_walls(tmp_path):
    words = [sys.executable, "-c", WINDOWS, CHAPTER.student, tmp_path / "mine.zip"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (
        "Windows has none -> grade on Linux" in done.stdout and done.stderr.count("run the checks in the notebook") == 2
    )


BARE = """
import sys
from importlib.abc import MetaPathFinder


class Nothing(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in sys.argv[1:]:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


sys.meta_path.insert(0, Nothing())
from autograder.cli import main
status = main(["doctor"])
try:
    from autograder import check
except ImportError as error:
    print(error)
sys.exit(status)
"""


@pytest.mark.parametrize("missing", [["torch"], ["torch", "numpy", "rich", "nbformat", "nbgrader", "sklearn"]])
def test_the_doctor_starts_without_packages(missing):
    done = subprocess.run([sys.executable, "-c", BARE, *missing], capture_output=True, text=True)
    assert "Traceback" not in done.stderr and "your notebooks: they cannot be looked at" in done.stdout
    assert re.search(rf"autograder needs ({'|'.join(missing)}), which is not installed here", done.stdout)
    assert "namespaces (for grading)" in done.stdout
