"""The judge's end of the boundary: start the answering side, put questions to it, and outlive whatever it does."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from autograder.answer import receive, send
from autograder.exercise import CourseError
from autograder.probe import Probe
from autograder.sandbox import visible_paths
from autograder.values import BadAnswer, TimedOut, decode
from autograder.view import make_view

START_SECONDS = 60
CELL_SECONDS = 10
SUBMISSION_SECONDS = 90


class ForkServer:
    """A process on the view of one chapter, with torch imported, that forks for each submission."""

    def __init__(self, chapter: str, sandbox: bool = True):
        self.chapter = chapter
        self.folder = Path(tempfile.mkdtemp(prefix="unrolled-view-"))
        self.folder.chmod(0o755)
        (self.folder / "root").mkdir()
        view = make_view(chapter, self.folder / "view")
        walls = {"root": str(self.folder / "root"), "visible": visible_paths(view)} if sandbox else None
        self.control, theirs = socket.socketpair()
        self.control.settimeout(START_SECONDS)
        environment = {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(self.folder),
            "MPLCONFIGDIR": str(self.folder),
            "OMP_NUM_THREADS": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        self.process = subprocess.Popen(
            [sys.executable, "-m", "autograder.answer", str(theirs.fileno()), json.dumps(walls)],
            cwd=view,
            env=environment,
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
        )
        theirs.close()

    def fork(self) -> tuple[socket.socket, int]:
        """A new fork: the judge's end of its channel, and its process id."""
        ours, theirs = socket.socketpair()
        with theirs:
            socket.send_fds(self.control, [b"fork"], [theirs.fileno()])
            (pid,) = struct.unpack("<I", self.control.recv(4))
        ours.settimeout(START_SECONDS)
        try:
            hello = receive(ours)
        except EOFError:
            hello = b"the answering process ended at once"
        if hello != b"ready":
            raise CourseError(
                f"Student code cannot be shut in on this system ({hello.decode()}); `autograder doctor` says more, "
                "and --no-sandbox grades without walls."
            )
        return ours, pid

    def close(self) -> None:
        self.control.close()
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> ForkServer:
        return self

    def __exit__(self, *_) -> None:
        self.close()


class Respondent:
    """One submission, asked question by question. A hang or a crash costs the question; the next gets a new fork."""

    def __init__(self, server: ForkServer, cells: list[tuple[str, str]], given: dict[str, str] | None = None):
        self.server, self.cells, self.given = server, cells, given or {}
        self.deadline = time.monotonic() + SUBMISSION_SECONDS
        self.channel: socket.socket | None = None
        self.pid = 0

    def ask(self, probe: Probe, seed: int, dtype: str):
        """The observation of one probe, or TimedOut."""
        if time.monotonic() > self.deadline:
            return TimedOut(f"no answer within {SUBMISSION_SECONDS} s for the whole notebook")
        question = {"probe": probe.id, "seed": seed, "dtype": dtype}
        try:
            if self.channel is None:
                self._start()
            self.channel.settimeout(probe.seconds)
            send(self.channel, json.dumps(question).encode())
            return decode(receive(self.channel))
        except TimeoutError:
            self._kill()
            return TimedOut(f"no answer within {probe.seconds:g} s")
        except (EOFError, OSError):
            self._kill()
            return TimedOut("no answer, because its process ended")
        except BadAnswer as error:
            self._kill()
            return TimedOut(f"bytes that are no answer ({error})")

    def _start(self) -> None:
        """Fork, and run the cells; a cell that hangs is left out of the next try."""
        while True:
            self.channel, self.pid = self.server.fork()
            task = {"cells": self.cells, "given": self.given, "probes": f"ch{self.server.chapter}"}
            send(self.channel, json.dumps(task).encode())
            hung = self._run_cells()
            if hung is None:
                return
            self._kill()
            self.cells = [
                (name, f"raise TimeoutError('this cell did not end within {CELL_SECONDS} s')")
                if name == hung
                else (name, source)
                for name, source in self.cells
            ]

    def _run_cells(self) -> str | None:
        self.channel.settimeout(CELL_SECONDS)
        for name, _ in self.cells:
            try:
                receive(self.channel)
            except (TimeoutError, EOFError, OSError):
                return name
        return None

    def _kill(self) -> None:
        if self.channel is not None:
            self.channel.close()
            self.channel = None
            for kill in (os.killpg, os.kill):
                with suppress(ProcessLookupError, PermissionError):
                    kill(self.pid, signal.SIGKILL)

    def __enter__(self) -> Respondent:
        return self

    def __exit__(self, *_) -> None:
        self._kill()
