"""Judging on a dask cluster: one task per submission, on this machine by default, on any scheduler by its address.

Workers are judges: they compare, they never run student code. That runs in the forks of one server per machine, which
all workers of the machine share; whoever finds it gone starts the next one. On this machine the workers are threads of
the grader: most of the work is done in the forks, what the references answer is kept once for all, and torch need not
be imported a third time.
"""

from __future__ import annotations

import signal
import socket
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice

import dask
import torch
from distributed import Client, LocalCluster, WorkerPlugin, as_completed

from autograder.exercise import CourseError, Verdict
from autograder.fingerprint import course_fingerprint
from autograder.grading import Questions
from autograder.machine import judge_one, leave

CONNECT_SECONDS = 10
LOOPBACK = "127.0.0.1:0"  # dask would answer on all interfaces otherwise, the scheduler always at the same port
SETTINGS = {
    "distributed.scheduler.allowed-failures": 30,
    "distributed.admin.low-level-log-length": 0,
    "distributed.logging.distributed": "critical",
}


class Quiet(WorkerPlugin):
    """One thread for torch, Ctrl-C is for the front end, and no server outlives its worker."""

    def setup(self, worker) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        torch.set_num_threads(1)

    def teardown(self, worker) -> None:
        leave()


@contextmanager
def connect(workers: int, scheduler: str | None = None) -> Iterator[Client]:
    """A client of the scheduler at this address, or of a cluster of so many threads in this process."""
    with dask.config.set(SETTINGS):
        if scheduler:
            try:
                client = Client(scheduler, timeout=CONNECT_SECONDS)
            except (OSError, ValueError) as error:
                reason = str(error).splitlines()[0]
                raise CourseError(f"No dask scheduler answers at {scheduler} ({reason}); is it running?") from None
            with client:
                client.register_plugin(Quiet())
                yield client
            return
        local = LocalCluster(
            n_workers=1,
            threads_per_worker=workers,
            processes=False,
            dashboard_address=LOOPBACK,
            worker_dashboard_address=LOOPBACK,
            memory_limit=0,
            silence_logs=50,
        )
        with local, Client(local) as client:
            yield client


def judge_there(questions: Questions, sandbox: bool, version: str) -> list[Verdict]:
    """``judge_one`` on a worker, which may be installed on another host: only if it has the grader's own version."""
    if course_fingerprint(questions.chapter) != version:
        raise CourseError(
            f"The worker on {socket.gethostname()} has another version of the course or of its packages; "
            "install the same there, and grade again."
        )
    return judge_one(questions, sandbox)


def judge_all(
    client: Client, tasks: Iterable[tuple[str, Questions]], sandbox: bool = True
) -> Iterator[tuple[str, list[Verdict]]]:
    """(student, verdicts) as they come; only a few tasks are under way at a time, so memory stays flat.

    The first Ctrl-C lets what is under way finish and takes nothing new; then KeyboardInterrupt is raised.
    """
    stopped = False

    def stop(*_):
        nonlocal stopped
        stopped = True
        signal.signal(signal.SIGINT, signal.default_int_handler)

    tasks, names = iter(tasks), {}
    under_way = as_completed()

    def give(count: int) -> None:
        for name, questions in islice(tasks, count if not stopped else 0):
            version = course_fingerprint(questions.chapter)
            future = client.submit(judge_there, questions, sandbox, version, pure=False)
            names[future.key] = name
            under_way.add(future)

    before = signal.signal(signal.SIGINT, stop)
    try:
        give(2 * max(1, sum(client.nthreads().values())))
        for future in under_way:
            yield names.pop(future.key), future.result()
            future.release()
            give(1)
    finally:
        signal.signal(signal.SIGINT, before)
    if stopped:
        raise KeyboardInterrupt
