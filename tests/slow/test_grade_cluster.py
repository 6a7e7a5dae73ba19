"""Grading past one machine: a scheduler and two workers as on two hosts, one of which is lost; the recipes as they are."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import dask
import jsonschema
import psutil
import pytest
import yaml
from classes import CHAPTER, class_of, rows
from runs import BIN, again, command, wait_for_verdicts

from autograder.cluster import judge_there
from autograder.course_directory import init_course
from autograder.exercise import CourseError
from autograder.grade_run import GradeRun
from autograder.grading import Questions
from autograder.ledger import Ledger

SCRIPTS = Path(__file__).parents[2] / "scripts" / "cluster"
KUBERNETES = list(yaml.safe_load_all((SCRIPTS / "grade_kubernetes.yaml").read_text()))
STUDENTS = 12


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """A class, graded on this machine."""
    folder = tmp_path_factory.mktemp("peace") / "course"
    init_course(folder, [CHAPTER])
    class_of(folder, STUDENTS)
    GradeRun(folder, CHAPTER.name, workers=2).start()
    return folder


@pytest.fixture(scope="module")
def certificates(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("tls")
    subprocess.run(["bash", SCRIPTS / "certificates.sh", folder], check=True, capture_output=True)
    return folder


@contextmanager
def started(words: list[str], host: Path, certificates: Path, **more: str):
    """A program of a host: with a folder for temporary files of its own, so with a fork server of its own."""
    host.mkdir(exist_ok=True)
    places = {"TMPDIR": str(host), "DASK_CONFIG": str(certificates), "PATH": f"{BIN}:{os.environ['PATH']}"}
    process = subprocess.Popen(
        words,
        env=os.environ | places | more,
        cwd=host,
        stdout=subprocess.DEVNULL,
        stderr=(host / "log").open("a"),
        start_new_session=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait(timeout=60)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def container(kind: str) -> tuple[list[str], dict[str, str]]:
    """What the Kubernetes file starts: the words, and the environment."""
    found = KUBERNETES[0]["spec"][kind]["spec"]["containers"][0]
    return list(found["args"]), {entry["name"]: entry["value"] for entry in found["env"]}


@contextmanager
def two_hosts(place: Path, certificates: Path):
    """The scheduler and two workers of the Kubernetes file, each started by hand; the address and the workers."""
    port = str(free_port())
    words, _ = container("scheduler")
    words[words.index("8786")] = port
    words[words.index(":8787")] = "127.0.0.1:0"
    with started([*words, "--host", "127.0.0.1"], place / "scheduler", certificates):
        words, environment = container("worker")
        address = environment["DASK_SCHEDULER_ADDRESS"].replace("grading-scheduler:8786", f"127.0.0.1:{port}")
        there = {"DASK_SCHEDULER_ADDRESS": address}
        workers = [[word.replace("$(DASK_WORKER_NAME)", f"w{n}") for word in words] + LOOPBACK for n in (1, 2)]
        with (
            started(workers[0], place / "host1", certificates, **there) as one,
            started(workers[1], place / "host2", certificates, **there) as two,
        ):
            yield address, [one, two]


LOOPBACK = ["--host", "127.0.0.1"]


def grade(folder: Path, address: str, certificates: Path) -> subprocess.Popen:
    words = ["env", f"DASK_CONFIG={certificates}", "autograder", "grade", CHAPTER.name, "--scheduler", address]
    return command(*words, folder=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def lose(host: subprocess.Popen) -> list[psutil.Process]:
    """Everything that a host runs ends at once; its processes."""
    family = [psutil.Process(host.pid), *psutil.Process(host.pid).children(recursive=True)]
    os.kill(host.pid, signal.SIGKILL)
    return family


def assert_every_verdict_came_once(folder: Path, undisturbed: Path) -> None:
    assert rows(folder) == rows(undisturbed)
    entries = list(Ledger(folder).entries())
    for event in ("judged", "recorded"):
        counts = Counter(entry["student"] for entry in entries if entry["event"] == event)
        assert len(counts) == STUDENTS and set(counts.values()) == {1}


def test_one_of_two_hosts_is_lost_and_every_verdict_comes_once(undisturbed, certificates, tmp_path):
    folder = again(undisturbed, tmp_path / "course")
    with two_hosts(tmp_path, certificates) as (address, hosts):
        process = grade(folder, address, certificates)
        wait_for_verdicts(folder, 3)
        family = lose(hosts[0])
        hosts[0].wait()
        assert Ledger(folder).path.read_bytes().count(b'"recorded"') < STUDENTS, "it was lost too late to show anything"
        _, err = process.communicate(timeout=300)
        assert process.returncode == 0, err
        gone, alive = psutil.wait_procs(family, timeout=20)
        assert alive == []  # its fork server and its forks have ended with it
    assert_every_verdict_came_once(folder, undisturbed)
