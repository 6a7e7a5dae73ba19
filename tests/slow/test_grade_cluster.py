"""Grading past one machine: a scheduler and two workers as on two hosts, one of them lost; the recipes as they are."""

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
LOOPBACK = ["--host", "127.0.0.1"]


SLURM = {  # a cluster whose jobs run here, each in a session and with a folder for temporary files of its own
    "sbatch": """#!/bin/bash
cd "$(dirname "$0")"
exec 9> lock; flock 9
n=$(($(ls -d host* 2> /dev/null | wc -l) + 1))
mkdir host$n && cp "$1" host$n/script
TMPDIR=$PWD/host$n setsid bash host$n/script > host$n/log 2>&1 < /dev/null 9>&- &
echo $! > host$n/job
echo "Submitted batch job $n"
""",
    "scancel": """#!/bin/bash
cd "$(dirname "$0")"
echo $1 >> cancelled
kill -- -$(cat host$1/job) 2> /dev/null || true
""",
}


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
    environment = os.environ | places | more
    with (host / "log").open("a") as said:
        process = subprocess.Popen(words, env=environment, cwd=host, stdout=said, stderr=said, start_new_session=True)
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
    with started([*words, *LOOPBACK], place / "scheduler", certificates):
        words, environment = container("worker")
        address = environment["DASK_SCHEDULER_ADDRESS"].replace("grading-scheduler:8786", f"127.0.0.1:{port}")
        there = {"DASK_SCHEDULER_ADDRESS": address}
        workers = [[word.replace("$(DASK_WORKER_NAME)", f"w{n}") for word in words] + LOOPBACK for n in (1, 2)]
        with (
            started(workers[0], place / "host1", certificates, **there) as one,
            started(workers[1], place / "host2", certificates, **there) as two,
        ):
            yield address, [one, two]


def grade(folder: Path, address: str, certificates: Path, *more: str) -> subprocess.Popen:
    words = ["env", f"DASK_CONFIG={certificates}", "autograder", "grade", CHAPTER.name, "--scheduler", address]
    return command(*words, *more, folder=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def lose(host: subprocess.Popen) -> list[psutil.Process]:
    """Everything that a host runs ends at once; its processes."""
    family = [psutil.Process(host.pid), *psutil.Process(host.pid).children(recursive=True)]
    os.killpg(host.pid, signal.SIGKILL)
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
        _, alive = psutil.wait_procs(family, timeout=20)
        assert alive == []  # its fork server and its forks have ended with it
    assert_every_verdict_came_once(folder, undisturbed)


def test_slurm_jobs_are_judges(undisturbed, certificates, tmp_path):
    """The script as it is, on a cluster whose sbatch starts the job here; again one of two jobs is lost."""
    for name, source in SLURM.items():
        (tmp_path / name).write_text(source)
        (tmp_path / name).chmod(0o755)
    folder = again(undisturbed, tmp_path / "course")
    words = [sys.executable, str(SCRIPTS / "grade_slurm.py"), "--jobs", "2", "--threads", "1", "--interface", "lo"]
    environment = os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}", "DASK_CONFIG": str(certificates)}
    script = subprocess.run([*words, "--dry-run"], env=environment, capture_output=True, text=True, timeout=120)
    assert script.returncode == 0, script.stderr
    for line in ("#SBATCH -J judge", "#SBATCH --cpus-per-task=1", "#SBATCH -t 02:00:00", "--tls-ca-file", "tls://"):
        assert line in script.stdout
    cluster = subprocess.Popen(words, env=environment, cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    try:
        address = cluster.stdout.readline().split()[-1]
        assert address.startswith("tls://127.0.0.1:")
        process = grade(folder, address, certificates)
        wait_for_verdicts(folder, 3)
        os.killpg(int((tmp_path / "host1" / "job").read_text()), signal.SIGKILL)
        _, err = process.communicate(timeout=300)
        assert process.returncode == 0, err
    finally:
        cluster.send_signal(signal.SIGINT)
        cluster.communicate(timeout=60)
    assert cluster.returncode == 0
    assert set((tmp_path / "cancelled").read_text().split()) == {"1", "2"}
    assert_every_verdict_came_once(folder, undisturbed)


# ---- who may take part ----


def test_a_worker_with_another_version_judges_nothing():
    with pytest.raises(CourseError, match=f"The worker on {re.escape(socket.gethostname())} has another version"):
        judge_there(Questions(CHAPTER.name, (), {}), True, "another")


def test_no_walls_and_a_scheduler_do_not_go_together(undisturbed):
    with pytest.raises(CourseError, match="could speak to the scheduler"):
        GradeRun(undisturbed, CHAPTER.name, sandbox=False, scheduler="tls://127.0.0.1:9").start()


def test_without_the_key_nobody_is_heard(undisturbed, certificates, tmp_path):
    """Neither in the clear nor with a key of their own; the grader is told in one sentence."""
    subprocess.run(["bash", SCRIPTS / "certificates.sh", tmp_path / "other"], check=True, capture_output=True)
    words, _ = container("scheduler")
    port = str(free_port())
    words[words.index("8786")], words[words.index(":8787")] = port, "127.0.0.1:0"
    with started([*words, *LOOPBACK], tmp_path / "scheduler", certificates):
        wait_for_port(int(port))
        for address, key in ((f"tcp://127.0.0.1:{port}", "none"), (f"tls://127.0.0.1:{port}", "other")):
            process = grade(undisturbed, address, tmp_path / key, "--all")
            _, err = process.communicate(timeout=120)
            assert process.returncode == 1 and f"No dask scheduler answers at {address}" in err
            assert "Traceback" not in err


def wait_for_port(port: int) -> None:
    for _ in range(600):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise AssertionError(f"nobody listens at {port}")


# ---- the Kubernetes file ----


def schema() -> dict:
    """What the operator of dask-kubernetes says about a DaskCluster; names that it does not know are forbidden."""
    package = Path(find_spec("dask_kubernetes").submodule_search_locations[0])
    chart = package / "operator" / "deployment" / "helm" / "dask-kubernetes-operator"
    said = yaml.safe_load((chart / "crds" / "daskcluster.yaml").read_text())
    return closed(said["spec"]["versions"][0]["schema"]["openAPIV3Schema"])


def closed(tree):
    if isinstance(tree, list):
        return [closed(item) for item in tree]
    if not isinstance(tree, dict):
        return tree
    found = {key: closed(value) for key, value in tree.items()}
    if tree.get("type") == "object" and "properties" in tree and "additionalProperties" not in tree:
        found["additionalProperties"] = False
    return found


def test_the_kubernetes_file_is_what_the_operator_reads():
    cluster, policy = KUBERNETES
    about = schema()
    about["properties"] |= {"apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": {}}
    jsonschema.validate(cluster, about)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(cluster | {"spec": cluster["spec"] | {"wroker": {}}}, about)
    labels = cluster["spec"]["scheduler"]["service"]["selector"]
    assert labels == policy["spec"]["podSelector"]["matchLabels"]
    assert labels["dask.org/cluster-name"] == cluster["metadata"]["name"]
    assert container("worker")[1]["DASK_SCHEDULER_ADDRESS"] == f"tls://{cluster['metadata']['name']}-scheduler:8786"
