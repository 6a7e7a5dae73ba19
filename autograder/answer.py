"""The other side of the boundary: this process runs student code and answers questions in bytes.

It is started on a *view* of the course: the library without the graded functions, the probes, and no references.
A server imports torch once and forks for each submission. The judge hands every fork one end of a socket; then
frames go to and fro: the cells to run, one receipt per cell, questions, observations.
"""

from __future__ import annotations

import gc
import importlib
import json
import linecache
import os
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress

from autograder.probe import Probe, Question, observe
from autograder.sandbox import Walls, bubblewrap, close_in, die_with_parent, enter
from autograder.values import MAX_BYTES, Raised, encode

LIBRARY = "unrolled"


def no_limit() -> None:
    """Wait as long as it takes."""


def send(channel: socket.socket, data: bytes) -> None:
    """One frame: length, then bytes."""
    channel.sendall(struct.pack("<I", len(data)) + data)


def receive(channel: socket.socket, wait: Callable[[], None] = no_limit) -> bytes:
    """The next frame; EOFError when the other side is gone, and whatever ``wait`` raises before each part of it."""
    (length,) = struct.unpack("<I", _exactly(channel, 4, wait))
    if length > MAX_BYTES:
        raise EOFError(f"a frame of {length} bytes")
    return _exactly(channel, length, wait)


def _exactly(channel: socket.socket, count: int, wait: Callable[[], None]) -> bytes:
    data = bytearray()
    while len(data) < count:
        wait()
        part = channel.recv(min(count - len(data), 2**20))
        if not part:
            raise EOFError("the other side is gone")
        data += part
    return bytes(data)


def serve(door: socket.socket, lifeline: socket.socket, walls: Walls | None) -> None:
    """Fork once for every caller at the door, and tell it the process id to be killed; end with the lifeline."""
    signal.signal(signal.SIGCHLD, _reap)
    while True:
        ready, _, _ = select.select([door, lifeline], [], [])
        if lifeline in ready:
            return
        caller, _ = door.accept()
        with caller, suppress(OSError):
            caller.settimeout(5)
            _, fds, _, _ = socket.recv_fds(caller, 16, 1)
            if fds:
                caller.sendall(_fork(fds[0], walls))


def _reap(*_) -> None:
    """Take leave of every fork that has ended: no zombies, and their processor time is counted as ours."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _fork(channel: int, walls: Walls | None) -> bytes:
    """Start an answering process on a channel; its process id as four bytes."""
    if walls is not None and walls.bwrap:
        return _start_behind_bubblewrap(channel, walls)
    reader, writer = os.pipe()
    if os.fork() == 0:
        _become_answerer(socket.socket(fileno=channel), walls, writer)
    os.close(writer)
    os.close(channel)
    pid = os.read(reader, 4)
    os.close(reader)
    return pid or bytes(4)


def _start_behind_bubblewrap(channel: int, walls: Walls) -> bytes:
    """As ``_fork``, but bubblewrap starts a program, so torch is imported every time: safe, and slow."""
    program = [sys.executable, "-m", "autograder.answer", "inside", str(channel), sys.argv[3]]
    silent = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
    process = subprocess.Popen(bubblewrap(walls, program), pass_fds=[channel], start_new_session=True, **silent)
    os.close(channel)
    return struct.pack("<I", process.pid)


def _become_answerer(channel: socket.socket, walls: Walls | None, writer: int) -> None:
    """In the fork: go behind the walls, close what is not ours, say hello; then answer until the judge hangs up."""

    def tell(pid: int) -> None:
        os.write(writer, struct.pack("<I", pid))

    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        die_with_parent()
        if walls is None:
            os.setsid()
            tell(os.getpid())
        else:
            enter(walls, tell)
        os.closerange(3, channel.fileno())
        os.closerange(channel.fileno() + 1, 4096)
    except OSError as error:
        send(channel, str(error).encode())
        os._exit(1)
    send(channel, b"ready")
    try:
        answer(channel)
    finally:
        os._exit(0)


def answer(channel: socket.socket) -> None:
    """Run the cells of one submission, then answer probe by probe."""
    task = json.loads(receive(channel))
    namespace, errors = {"__name__": "__main__"}, {}
    for name, source in task["cells"]:
        error = _run_cell(name, source, namespace)
        if error:
            errors[name] = error
        send(channel, json.dumps({"cell": name, "error": error}).encode())
    namespace.update(_given(task["given"], task["cells"]))
    _into_library(task["assembled"], namespace)
    while True:
        try:
            question = json.loads(receive(channel))
        except EOFError:
            return
        probe = getattr(importlib.import_module(question["module"]), question["probe"])
        send(channel, encode(_observe(probe, namespace, errors, question)))


def _run_cell(name: str, source: str, namespace: dict) -> list[str] | None:
    """Run one cell; what it raised, as class name and message."""
    filename = f"<cell {name}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    try:
        exec(compile(source, filename, "exec", dont_inherit=True), namespace)
    except BaseException as error:
        return [type(error).__name__, str(error)[:300]]
    return None


def _given(sources: dict[str, str], cells: list) -> dict[str, object]:
    """References by name, run with the setup cells alone, in a namespace of their own."""
    namespace: dict = {"__name__": "__main__"}
    for cell, text in cells if sources else ():
        if cell.startswith("setup"):
            exec(text, namespace)
    for source in sources.values():
        exec(source, namespace)
    return {name: namespace[name] for name in sources}


def _into_library(homes: dict[str, str], namespace: dict) -> None:
    """Put the functions of an assembled package into the places of the library from which they are missing.

    What the library keeps, for instance a loop over ``gru_step``, then runs with the answers of the submission.
    """
    modules = [module for name, module in sys.modules.items() if name.partition(".")[0] == LIBRARY]
    for name, home in homes.items():
        missing = getattr(importlib.import_module(home), name)
        for module in modules:
            if vars(module).get(name) is missing and callable(namespace.get(name)):
                setattr(module, name, namespace[name])


def _observe(probe: Probe, namespace: dict, errors: dict, question: dict):
    missing = [name for name in probe.functions if not callable(namespace.get(name))]
    if missing:
        class_name, message = errors.get(probe.exercise, ["NameError", f"{missing[0]} is not defined"])
        return Raised(class_name, message)
    return observe(Question(probe, question["seed"], question["dtype"]), namespace)


def _import_ahead(names: list[str]) -> None:
    """Import what every answer will need, once."""
    for name in names:
        importlib.import_module(name)


def _warm_up(names: list[str]) -> None:
    """Put every question once, to a function that knows nothing: what torch does only once is done before the forks."""
    for name in names:
        for probe in vars(sys.modules[name]).values():
            if isinstance(probe, Probe):
                encode(observe(Question(probe, 0), dict.fromkeys(probe.functions, _echo)))
    gc.collect()
    gc.freeze()  # what the forks share is never looked at again, so it is not copied


def _echo(first: object = None, *_, **__) -> object:
    return first


def _forget_the_checkout() -> None:
    """Leave only the view and the installed packages importable, not the checkout they were installed from."""
    sys.meta_path[:] = [finder for finder in sys.meta_path if "editable" not in repr(finder)]
    view = os.getcwd()
    ours = ("autograder", "unrolled")
    elsewhere = [entry for entry in sys.path if entry not in ("", view)]
    kept = [entry for entry in elsewhere if not any(os.path.isdir(os.path.join(entry, name)) for name in ours)]
    sys.path[:] = [view, *kept]


def _ready(names: list[str]) -> None:
    """Import what every answer needs; from here on nothing that is printed goes anywhere."""
    _forget_the_checkout()
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot
    import torch

    torch.set_num_threads(1)
    _import_ahead(names)
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)


def _serve_until_the_end(door: str, lifeline: str, names: str, walls: str) -> None:
    shut = json.loads(walls)
    found = Walls(**shut) if shut else None
    if not (found and found.bwrap):
        _ready(json.loads(names))
        _warm_up(json.loads(names))
    serve(socket.socket(fileno=int(door)), socket.socket(fileno=int(lifeline)), found)
    shutil.rmtree(os.path.dirname(os.getcwd()), ignore_errors=True)  # the owner may have been killed


def _answer_inside(channel: str, names: str) -> None:
    """What bubblewrap starts: give up the rest, say hello, answer."""
    _ready(json.loads(names))
    os.chdir("/tmp")
    close_in()
    judge = socket.socket(fileno=int(channel))
    send(judge, b"ready")
    answer(judge)


if __name__ == "__main__":
    if sys.argv[1] == "inside":
        _answer_inside(*sys.argv[2:])
    else:
        _serve_until_the_end(*sys.argv[1:])
