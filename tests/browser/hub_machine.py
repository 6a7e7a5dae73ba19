"""A machine of its own for the hub: own users, homes, /etc, /srv, /opt, /tmp and loopback, in Linux namespaces.

So the commands of docs/hub.md run word for word, as root, at their documented places and ports, and leave nothing
behind: everything ends with the first process of the machine, which ends with the tests, or by itself after a while.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil

from book import ROOT

INSTALLED = "/opt/unrolled"
COURSE = f"{INSTALLED}/lib:{INSTALLED}"  # what .venv itself has installed may be another copy
SECONDS_TO_LIVE = 600
SECONDS_PER_COMMAND = 120
SECONDS_TO_END = 10
NEW = {"/home": 0o755, "/srv": 0o755, "/opt": 0o755, "/root": 0o755, "/var/log": 0o755, "/tmp": 0o1777}
READY = "ready"


class Machine:
    """Runs commands as root of the machine whose first process is ``pid``."""

    def __init__(self, pid: int):
        self.pid, self.started = pid, []
        path = f"{INSTALLED}/.venv/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
        self.environment = {"PATH": path, "HOME": "/root", "LANG": "C.UTF-8"}
        self.environment["PYTHONPATH"] = COURSE

    def inside(self, command: str) -> list[str]:
        spaces = ["--mount", "--pid", "--net"]
        return ["nsenter", f"--target={self.pid}", *spaces, "--wd=/", "bash", "-c", f"set -e\n{command}"]

    def run(self, command: str, given: str = "") -> str:
        """What a command of root prints; it must succeed."""
        done = subprocess.run(
            self.inside(command),
            env=self.environment,
            input=given,
            capture_output=True,
            text=True,
            timeout=SECONDS_PER_COMMAND,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def start(self, command: str, log: Path) -> subprocess.Popen:
        """A command that goes on; it ends with the machine."""
        with log.open("wb") as file:
            self.started.append(subprocess.Popen(self.inside(command), env=self.environment, stdout=file, stderr=file))
        return self.started[-1]

    def browser(self, program: str, folder: Path) -> str:
        """A program that starts the browser of this computer on the loopback of the machine."""
        script = folder / "browser-inside"
        script.write_text(f'#!/bin/sh\nexec nsenter --net=/proc/{self.pid}/ns/net -- "{program}" "$@"\n')
        script.chmod(0o755)
        return str(script)


@contextlib.contextmanager
def machine() -> Iterator[Machine]:
    """A new machine with the course at /opt/unrolled; it is gone afterwards."""
    spaces = ["--mount", "--pid", "--net", "--fork", "--kill-child", "--mount-proc", "--propagation=private"]
    command, pipe = ["unshare", *spaces, sys.executable, __file__], subprocess.PIPE
    with subprocess.Popen(command, cwd=Path(__file__).parent, stdin=pipe, stdout=pipe, text=True) as outer:
        inner = None
        try:
            said = outer.stdout.readline().strip()
            assert said == READY, f"no machine could be made: {said or outer.wait()}"
            (first,) = psutil.Process(outer.pid).children()
            inner = Machine(first.pid)
            yield inner
        finally:
            outer.kill()  # its child is killed with it, and everything in the machine with the child
            for process in inner.started if inner else ():
                process.wait(SECONDS_TO_END)


def furnish() -> None:
    """Runs as the first process: what is ours to change is put in the place of what is the computer's."""
    needed = [str(ROOT), os.path.realpath(sys.prefix), os.path.realpath(sys.base_prefix)]
    _mount("-t", "tmpfs", "tmpfs", "/mnt")
    for number, path in enumerate(needed):
        os.mkdir(f"/mnt/{number}")
        _mount("--bind", path, f"/mnt/{number}")
    subprocess.run(["cp", "-a", "/etc", "/mnt/etc"], check=True)
    _mount("--bind", "/mnt/etc", "/etc")
    for path, mode in NEW.items():
        _mount("-t", "tmpfs", "-o", f"mode={mode:o}", "tmpfs", path)
    for number, path in enumerate(needed):
        if path.startswith(tuple(f"{place}/" for place in NEW)):
            os.makedirs(path, exist_ok=True)
            _mount("--bind", f"/mnt/{number}", path)
    os.mkdir(INSTALLED)
    _mount("--bind", "/mnt/0", INSTALLED)
    os.chmod("/mnt", 0o700)
    Path("/etc/profile.d/course.sh").write_text(f"export PYTHONPATH={COURSE}\n")
    _loopback_up()


def _mount(*arguments: str) -> None:
    subprocess.run(["mount", *arguments], check=True)


def _loopback_up() -> None:
    up, set_flags = 0x1, 0x8914
    with socket.socket() as door:
        fcntl.ioctl(door, set_flags, struct.pack("16sh14x", b"lo", up))


if __name__ == "__main__":
    furnish()
    print(READY, flush=True)
    select.select([sys.stdin], [], [], SECONDS_TO_LIVE)  # it closes when the tests end, however they end
