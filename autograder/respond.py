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
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from autograder.answer import receive, send
from autograder.builder import builder
from autograder.exercise import CourseError
from autograder.exercises import chapter_exercises, revisited
from autograder.patience import Patience
from autograder.probe import Question
from autograder.sandbox import Walls, visible_paths
from autograder.values import BadAnswer, TimedOut, decode
from autograder.view import make_view

START_SECONDS = 60
CELL_SECONDS = 10
SUBMISSION_SECONDS = 90  # for a notebook, and more where it has more exercises than this allows for
EXERCISE_SECONDS = 4
HANGS = 4  # of the questions of one exercise


class ServerLost(Exception):
    """The fork server ended, and its forks with it: nobody's fault, so what was running must be judged again."""


class Door:
    """Where a fork server takes calls: any judge of this machine and user can have a fork there."""

    def __init__(self, path: str, chapter: str):
        self.path, self.chapter = path, chapter

    def fork(self) -> tuple[socket.socket, int]:
        """A new fork: the judge's end of its channel, and its process id."""
        ours, theirs = socket.socketpair()
        with theirs, self._call() as call:
            try:
                socket.send_fds(call, [b"fork"], [theirs.fileno()])
                (pid,) = struct.unpack("<I", call.recv(4))
            except (OSError, struct.error):
                raise ServerLost from None
        ours.settimeout(START_SECONDS)
        try:
            hello = receive(ours)
        except EOFError:
            self.require_open()
            hello = b"the answering process ended at once"
        if hello != b"ready":
            raise CourseError(
                f"Student code cannot be shut in on this system ({hello.decode()}); `autograder doctor` says more, "
                "and --no-sandbox grades without walls."
            )
        return ours, pid

    def require_open(self) -> None:
        """ServerLost unless the server is there."""
        self._call().close()

    def _call(self) -> socket.socket:
        call = socket.socket(socket.AF_UNIX)
        call.settimeout(START_SECONDS)
        try:
            call.connect(self.path)
        except OSError:
            call.close()
            raise ServerLost from None
        return call


class ForkServer(Door):
    """A process on the view of one chapter, with torch imported, that forks for each submission. It ends with us."""

    def __init__(self, chapter: str, sandbox: bool = True):
        self.folder = Path(tempfile.mkdtemp(prefix="unrolled-view-"))
        self.folder.chmod(0o755)
        super().__init__(str(self.folder / "door"), chapter)
        (self.folder / "root").mkdir()
        view = make_view(chapter, self.folder / "view")
        walls = asdict(Walls(str(self.folder / "root"), visible_paths(view), builder())) if sandbox else None
        arguments = [json.dumps(_needed(chapter)), json.dumps(walls)]
        self.lifeline, theirs = socket.socketpair()
        environment = {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(self.folder),
            "MPLCONFIGDIR": str(self.folder),
            "OMP_NUM_THREADS": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        with theirs, socket.socket(socket.AF_UNIX) as door:
            door.bind(self.path)
            os.chmod(self.path, 0o600)
            door.listen(64)
            fds = [door.fileno(), theirs.fileno()]
            self.process = subprocess.Popen(
                [sys.executable, "-m", "autograder.answer", *map(str, fds), *arguments],
                cwd=view,
                env=environment,
                pass_fds=fds,
                stdin=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C is for the grader, not for the submission that is running
            )

    def close(self) -> None:
        self.lifeline.close()
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> ForkServer:
        return self

    def __exit__(self, *_) -> None:
        self.close()


def _needed(chapter: str) -> list[str]:
    """The modules that the cells and the probes of a chapter import: the plots, and where its functions live."""
    exercises = chapter_exercises(chapter)
    references = {function.__module__ for exercise in exercises for function in exercise.references}
    return sorted({"unrolled.plotting", *references, *(exercise.probe_module.__name__ for exercise in exercises)})


class Respondent:
    """One submission, asked question by question. A hang or a crash costs the question; the next gets a new fork."""

    def __init__(self, server: Door, cells: list[tuple[str, str]], given: dict[str, str] | None = None):
        self.server, self.cells, self.given = server, cells, given or {}
        revised = (function for exercise in revisited(server.chapter) for function in exercise.references)
        self.assembled = {function.__name__: function.__module__ for function in revised}
        self.seconds = max(SUBMISSION_SECONDS, EXERCISE_SECONDS * len(chapter_exercises(server.chapter)))
        self.begin, self.in_line = time.monotonic(), 0.0
        self.channel: socket.socket | None = None
        self.pid = self.unanswered = 0

    def ask(self, questions: list[Question]) -> Iterator:
        """Observations or TimedOut, one by one. All questions go out at once, so nobody waits for the other side.

        After HANGS answers that did not come in time nothing more is asked: the rest of the notebook needs its time.
        """
        hung = []
        try:
            for place in range(len(questions)):
                answer = hung[-1] if len(hung) == HANGS else self._first_answer(questions[place:])
                if isinstance(answer, TimedOut) and len(hung) < HANGS:
                    hung.append(answer)
                yield answer
        finally:
            if self.unanswered:
                self._kill()

    def _first_answer(self, questions: list[Question]):
        """The answer to the first of these. A process that ended is asked again: it may have been killed."""
        for _ in range(2):
            elapsed = time.monotonic() - self.begin
            if elapsed - min(self.in_line, self.seconds) > self.seconds:
                self._kill()
                return TimedOut(f"no answer within {self.seconds} s for the whole notebook")
            answer = self._ask_once(questions)
            if answer is not None:
                return answer
        return TimedOut("no answer, because its process ended")

    def _ask_once(self, questions: list[Question]):
        """An observation, TimedOut, or None if the process ended."""
        seconds = questions[0].probe.seconds
        try:
            if self.channel is None:
                self._start()
            if not self.unanswered:
                for probe, seed, dtype in questions:
                    asked = {"module": probe.run.__module__, "probe": probe.id, "seed": seed, "dtype": dtype}
                    send(self.channel, json.dumps(asked).encode())
                self.unanswered = len(questions)
            observed = self._receive(seconds)
            self.unanswered -= 1
            return decode(observed)
        except TimeoutError:
            self._kill()
            return TimedOut(f"no answer within {seconds:g} s")
        except (EOFError, OSError):
            self._kill()
            self.server.require_open()
            return None
        except BadAnswer as error:
            self._kill()
            return TimedOut(f"bytes that are no answer ({error})")

    def _start(self) -> None:
        """Fork, and run the cells; a cell that hangs, or ends the process twice, is left out of the next try."""
        ended = ""
        while True:
            self.channel, self.pid = self.server.fork()
            task = {"cells": self.cells, "given": self.given, "assembled": self.assembled}
            send(self.channel, json.dumps(task).encode())
            hung, by_ending = self._run_cells()
            if hung is None:
                return
            self._kill()
            if by_ending and hung != ended:
                ended = hung  # once more: it may have been killed
                continue
            self.cells = [
                (name, f"raise TimeoutError('this cell did not end within {CELL_SECONDS} s')")
                if name == hung
                else (name, source)
                for name, source in self.cells
            ]

    def _run_cells(self) -> tuple[str | None, bool]:
        """The cell that did not come to its end, if there is one, and whether the process ended in it."""
        for name, _ in self.cells:
            try:
                self._receive(CELL_SECONDS)
            except TimeoutError:
                return name, False
            except (EOFError, OSError):
                self.server.require_open()
                return name, True
        return None, False

    def _receive(self, seconds: float) -> bytes:
        """The next frame, within its time; what the process stood in line is not held against it."""
        patience = Patience(self.channel, self.pid, seconds)
        try:
            return receive(self.channel, patience)
        finally:
            self.in_line += patience.in_line()

    def _kill(self) -> None:
        if self.channel is not None:
            self.channel.close()
            self.channel, self.unanswered = None, 0
            for kill in (os.killpg, os.kill):
                with suppress(ProcessLookupError, PermissionError):
                    kill(self.pid, signal.SIGKILL)

    def __enter__(self) -> Respondent:
        return self

    def __exit__(self, *_) -> None:
        self._kill()
