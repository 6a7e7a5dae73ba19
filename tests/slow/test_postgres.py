"""The gradebook on a PostgreSQL server that this test starts and ends: the rows of SQLite, also after kills."""

import glob
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

import psycopg2
import pytest
from classes import CHAPTER, class_of, rows
from test_grade_run import command

from autograder.course_directory import init_course
from autograder.exercise import CourseError
from autograder.grade_run import GradeRun

KILLS = int(os.environ.get("KILLS", "5"))


def program(name: str) -> str:
    found = shutil.which(name) or max(glob.glob(f"/usr/lib/postgresql/*/bin/{name}"), default=None)
    if found is None:
        reason = "PostgreSQL is not installed: run scripts/install_system_packages.sh"
        pytest.fail(reason) if os.environ.get("CI") else pytest.skip(reason)
    return found


class Server:
    """A PostgreSQL server on a free port of this machine, with its files in a folder that goes with it."""

    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="unrolled-postgres-"))
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.user = {}
        if os.geteuid() == 0:  # PostgreSQL refuses to run as root
            account = pwd.getpwnam("postgres")
            os.chown(self.folder, account.pw_uid, account.pw_gid)
            self.user = {"user": account.pw_uid, "group": account.pw_gid}
        words = [program("initdb"), "-D", self.folder / "data", "-U", "judge", "--auth=trust", "--no-sync"]
        subprocess.run(words, check=True, capture_output=True, cwd="/", **self.user)
        self.start()

    def start(self) -> None:
        words = [program("postgres"), "-D", self.folder / "data", "-p", str(self.port), "-k", self.folder]
        options = ["-c", "listen_addresses=127.0.0.1"]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen([*words, *options], stdout=log, stderr=log, cwd="/", **self.user)
        for _ in range(300):
            try:
                psycopg2.connect(self.url("postgres")).close()
                return
            except psycopg2.OperationalError:
                time.sleep(0.1)
        raise AssertionError((self.folder / "log").read_text())

    def url(self, name: str) -> str:
        return f"postgresql://judge@127.0.0.1:{self.port}/{name}"

    def database(self, name: str) -> str:
        connection = psycopg2.connect(self.url("postgres"))
        connection.autocommit = True
        connection.cursor().execute(f"CREATE DATABASE {name}")
        connection.close()
        return self.url(name)

    def kill(self) -> None:
        """As a power cut: no goodbye to anybody."""
        children = subprocess.run(["pgrep", "-P", str(self.process.pid)], capture_output=True, text=True).stdout.split()
        for pid in (self.process.pid, *map(int, children)):
            os.kill(pid, signal.SIGKILL)
        self.process.wait()
        (self.folder / "data" / "postmaster.pid").unlink(missing_ok=True)

    def close(self) -> None:
        self.process.send_signal(signal.SIGINT)
        self.process.wait(timeout=60)
        shutil.rmtree(self.folder)


@pytest.fixture(scope="module")
def server():
    running = Server()
    yield running
    running.close()


@pytest.fixture(scope="module")
def with_sqlite(tmp_path_factory):
    return a_course(tmp_path_factory.mktemp("sqlite") / "course")


def a_course(folder: Path, db_url: str | None = None) -> Path:
    init_course(folder, [CHAPTER], db_url)
    class_of(folder, 8)
    (folder / ".judge-secret").write_bytes(b"s" * 32)
    if db_url is None:
        GradeRun(folder, CHAPTER.name, workers=2).start()
    return folder


def test_the_rows_are_those_of_sqlite(server, with_sqlite, tmp_path):
    folder = a_course(tmp_path / "course", server.database("same"))
    assert not (folder / "gradebook.db").exists()
    GradeRun(folder, CHAPTER.name, workers=2).start()
    assert rows(folder) == rows(with_sqlite)
    GradeRun(folder, CHAPTER.name, workers=2, everything=True).start()
    assert rows(folder) == rows(with_sqlite)


def test_a_server_that_is_not_there_ends_in_one_sentence(tmp_path):
    with pytest.raises(CourseError, match=r"The gradebook does not answer|nbgrader could not process"):
        init_course(tmp_path / "course", [CHAPTER], "postgresql://judge@127.0.0.1:9/none")


def test_a_killed_server_loses_nothing(server, with_sqlite, tmp_path):
    expected = rows(with_sqlite)
    for number in range(KILLS):
        folder = a_course(tmp_path / f"course{number}", server.database(f"kill{number}"))
        grading = command(
            "autograder", "grade", CHAPTER.name, "--workers", "2",
            folder=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        log = folder / "verdicts.log"
        while grading.poll() is None and not (log.exists() and log.read_bytes().count(b'"recorded"') > number):
            time.sleep(0.02)
        server.kill()
        _, err = grading.communicate(timeout=300)
        assert "Traceback" not in err, err
        server.start()
        GradeRun(folder, CHAPTER.name, workers=2).start()
        assert rows(folder) == expected
