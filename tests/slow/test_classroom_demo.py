"""The classroom demo where there is no network but loopback: it passes, and leaves nothing behind.

Its own checks compare every mark of every student with the truth; here we look at how it ends, and that its commands
are those of the documents.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.cli import main

ROOT = Path(__file__).parents[2]
DOCUMENTS = "\n".join((ROOT / name).read_text("utf8") for name in ("README.md", "docs/classroom.md"))
INSIDE = """\
import fcntl, os, socket, struct, sys
with socket.socket() as door:  # switch loopback on: SIOCSIFFLAGS with IFF_UP
    fcntl.ioctl(door, 0x8914, struct.pack("16sh", b"lo", 1))
names = sorted(name for _, name in socket.if_nameindex())
assert names == ["lo"], names
os.execv(sys.executable, [sys.executable, "-m", "autograder.cli", "classroom-demo", "--keep", sys.argv[1]])
"""


def alone_with_loopback(*command: str) -> list[str]:
    """The command in an empty network namespace; as an ordinary user in a user namespace of its own."""
    unshare = shutil.which("unshare")
    if unshare is None:
        message = "unshare (of util-linux) is missing; without it nothing shows that the loop needs no network"
        pytest.fail(message) if os.environ.get("CI") else pytest.skip(message)
    return [unshare, *(["--net"] if os.getuid() == 0 else ["--user", "--map-root-user", "--net"]), *command]


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    folder = tmp_path_factory.mktemp("classroom") / "demo"
    before = left_behind()
    done = subprocess.run(
        alone_with_loopback(sys.executable, "-c", INSIDE, str(folder)), stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    print(done.stdout)
    return done, folder, left_behind() - before


def left_behind() -> set[int]:
    """Servers and forks of ours that run."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().decode("utf8", "replace")
        except OSError:
            continue
        if "classroom" in words and ("jupyter" in words or "autograder" in words) and path.parts[2] != str(os.getpid()):
            found.add(int(path.parts[2]))
    return found


def test_everything_holds_without_a_network(demo):
    done, _, _ = demo
    assert done.returncode == 0 and "✗" not in done.stdout
    assert done.stdout.count("✓") >= 25


def test_nothing_runs_on(demo):
    assert demo[2] == set()


def test_its_commands_are_those_of_the_documents(demo):
    shown = set(
        re.findall(r"^  \$ ((?:autograder|nbgrader) [a-z-]+(?: (?:student|assignment) [a-z]+)?)", demo[0].stdout, re.M)
    )
    assert len(shown) >= 10
    assert [command for command in sorted(shown) if command not in DOCUMENTS] == []


def test_it_keeps_what_it_made_and_takes_no_folder_that_holds_something(demo, capsys):
    _, folder, _ = demo
    assert {path.name for path in folder.iterdir()} >= {"course", "inbox"}
    assert main(["classroom-demo", "--keep", str(folder)]) == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "is not an empty folder" in said
