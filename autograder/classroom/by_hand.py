"""What a person does in formgrader: open it in JupyterLab, give points and a comment to the answers in words.

The requests are those that formgrader's own page sends. The server listens on loopback, on a free port, and ends with
the ``with`` block.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError
from urllib.parse import quote
from urllib.request import ProxyHandler, Request, build_opener

from autograder.exercise import CourseError

PATIENCE = 90.0  # seconds until the server answers
REMARK = "This says what happens, but not why. Come and see me."  # to those who get nothing


class Formgrader:
    """The requests of formgrader's pages."""

    def __init__(self, address: str, token: str):
        self.address, self.token = address.rstrip("/"), token
        self.opener = build_opener(ProxyHandler({}))  # loopback, whatever the environment says about proxies

    def ask(self, path: str, data: dict | None = None):
        """GET, or PUT if there is something to say."""
        request = Request(
            f"{self.address}/formgrader/api/{path}",
            data=None if data is None else json.dumps(data).encode(),
            headers={"Authorization": f"token {self.token}", "Content-Type": "application/json"},
            method="GET" if data is None else "PUT",
        )
        with self.opener.open(request, timeout=60) as answer:
            return json.loads(answer.read() or b"null")

    def grade(self, chapter: str, notebook: str, cell: str, points: dict[str, float]) -> list[str]:
        """Give points for a cell, student by student, a comment where there are none; who had an answer that waited."""
        waited = []
        for found in self.ask(f"submitted_notebooks/{quote(chapter)}/{quote(notebook)}"):
            (grade,) = (one for one in self._parts("grades", found) if one["name"] == cell)
            student = found["student"]
            if grade["needs_manual_grade"]:
                waited.append(student)
                self.ask(f"grade/{grade['id']}", {"manual_score": points[student], "extra_credit": None})
                if not points[student]:
                    (comment,) = (one for one in self._parts("comments", found) if one["name"] == cell)
                    self.ask(f"comment/{comment['id']}", {"manual_comment": REMARK})
        return waited

    def _parts(self, kind: str, submission: dict) -> list[dict]:
        return self.ask(f"{kind}?submission_id={quote(submission['id'])}")


@contextmanager
def formgrader(course: Path, runtime: Path) -> Iterator[Formgrader]:
    """JupyterLab in the course directory, as the instructor starts it."""
    options = ["--no-browser", "--allow-root", "--ip=127.0.0.1", "--ServerApp.port=0"]
    command = [sys.executable, "-m", "autograder.cli", "lab", ".", "--", *options]
    environment = {**os.environ, "JUPYTER_RUNTIME_DIR": str(runtime)}
    said = runtime / "server.log"
    runtime.mkdir(parents=True)
    with said.open("w") as log:
        server = subprocess.Popen(
            command, cwd=course, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT
        )
    try:
        yield _reached(server, runtime, said)
    finally:
        server.terminate()
        try:
            server.wait(20)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def _reached(server: subprocess.Popen, runtime: Path, said: Path) -> Formgrader:
    """The server as soon as it answers."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and server.poll() is None:
        for path in runtime.glob("jpserver-*.json"):
            try:
                found = json.loads(path.read_text("utf8"))
                reached = Formgrader(found["url"], found["token"])
                reached.ask("status")
                return reached
            except (ValueError, KeyError, URLError, OSError):
                pass  # not yet
        time.sleep(0.2)
    last = said.read_text("utf8", "replace").strip().splitlines()[-1:] or ["it said nothing"]
    raise CourseError(f"JupyterLab with formgrader did not start: {last[0]}")
