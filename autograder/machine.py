"""One fork server per machine, user and chapter, for all judges there; whoever finds it gone starts the next one."""

from __future__ import annotations

import atexit
import fcntl
import os
import shutil
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

from autograder.builder import builder
from autograder.exercise import CourseError, Verdict
from autograder.fingerprint import course_fingerprint
from autograder.grading import Questions, answer_questions
from autograder.respond import Door, ForkServer, ServerLost

LOCK = "lock"
OURS: dict[Path, ForkServer] = {}  # address -> a server that this process has started
TRIES = 10  # servers that may be lost under one submission


def judge_one(questions: Questions, sandbox: bool) -> list[Verdict]:
    """The verdicts on one submission; if the fork server is lost meanwhile, from the beginning with the next one."""
    for _ in range(TRIES):
        try:
            return answer_questions(questions, machine_server(questions.chapter, sandbox))
        except ServerLost:
            continue
    raise CourseError(f"The process that runs student code was ended {TRIES} times; grade again when that is settled.")


def machine_server(chapter: str, sandbox: bool) -> Door:
    """The fork server of this machine, user, chapter and version of the course; started if there is none."""
    folder = _private_folder()
    walls = ("bubblewrap" if builder() else "walls") if sandbox else "open"
    address = folder / f"{chapter}-{walls}-{course_fingerprint(chapter)[:16]}"
    with (folder / LOCK).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if address.exists():
            door = Door(address.read_text("utf8"), chapter)
            try:
                door.require_open()
                return door
            except ServerLost:
                shutil.rmtree(Path(door.path).parent, ignore_errors=True)
        server = ForkServer(chapter, sandbox)
        address.write_text(server.path, "utf8")
        OURS[address] = server
        return server


@atexit.register
def leave() -> None:
    """End the servers that this process has started, without a trace; somebody may have put another in their place."""
    while OURS:
        address, server = OURS.popitem()
        server.close()
        with suppress(OSError):
            if address.read_text("utf8") == server.path:
                address.unlink()
            if {path.name for path in address.parent.iterdir()} == {LOCK}:
                (address.parent / LOCK).unlink()
                address.parent.rmdir()


def _private_folder() -> Path:
    """A folder that only this user can write to: what stands in it is trusted."""
    folder = Path(tempfile.gettempdir()) / f"unrolled-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or stat.S_IMODE(status.st_mode) & 0o077:
        raise CourseError(f"{folder} is not a private folder of yours; remove it and grade again.")
    return folder
