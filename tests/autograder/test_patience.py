"""How long the judge waits: for time in the queue, not for time wasted."""

import os
import signal
import socket
import struct
import time
from contextlib import contextmanager

import pytest

from autograder.answer import receive, send
from autograder.patience import LONGEST, Patience

WORK = 0.1  # processor seconds of an honest answer
LIMIT = 0.3


@contextmanager
def running(job, *arguments):
    """A process that does the job, on one processor with all others started here."""
    pid = os.fork()
    if pid == 0:
        try:
            os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
            job(*arguments)
        finally:
            os._exit(0)
    try:
        yield pid
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def spin(*_):
    while True:
        pass


def honest(channel):
    end = time.process_time() + WORK
    while time.process_time() < end:
        pass
    send(channel, b"answer")


def asleep(channel):
    time.sleep(60)


def dripping(channel):
    channel.sendall(struct.pack("<I", 600))
    for _ in range(600):
        channel.sendall(b"x")
        time.sleep(0.1)


def asked(job):
    """What a process that does the job answers within the limit, and after how long."""
    ours, theirs = socket.socketpair()
    start = time.monotonic()
    with ours, running(job, theirs) as pid:
        theirs.close()
        try:
            return receive(ours, Patience(ours, pid, LIMIT)), time.monotonic() - start
        except TimeoutError:
            return "late", time.monotonic() - start


def test_an_honest_answer_in_a_crowd_is_not_late():
    with running(spin), running(spin), running(spin):  # so it takes about 0.4 s
        answer, seconds = asked(honest)
    assert answer == b"answer"
    assert seconds > LIMIT, "the crowd was none: this run shows nothing"


@pytest.mark.parametrize("job", [asleep, dripping, spin])
def test_time_of_its_own_is_limited(job):
    answer, seconds = asked(job)
    assert answer == "late"
    assert seconds < LONGEST * LIMIT + 1
