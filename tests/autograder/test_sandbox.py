"""The walls themselves, entered as root and as an ordinary user."""

import ctypes
import json
import os
import shutil
import socket
import tempfile
from pathlib import Path

import pytest

from autograder.sandbox import NOBODY, PR_SET_DUMPABLE, Walls, enter, visible_paths


def _status(field: str) -> str:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(line.split()[1] for line in lines if line.startswith(field))


PROBES = {
    "the first process": os.getpid,
    "hostname": socket.gethostname,
    "root": lambda: sorted(os.listdir("/")),
    "processes": lambda: [name for name in os.listdir("/proc") if name.isdigit()],
    "interfaces": lambda: Path("/proc/net/dev").read_text().count("eth"),
    "capabilities": lambda: _status("CapEff"),
    "no new privileges": lambda: _status("NoNewPrivs"),
    "seccomp": lambda: _status("Seccomp:"),
    "write to the root": lambda: Path("/x").write_text("x"),
    "write to what is visible": lambda: Path("/usr/lib/x").write_text("x"),
    "write to tmp": lambda: Path("/tmp/x").write_text("fine"),
    "too much for tmp": lambda: Path("/tmp/y").write_bytes(bytes(17 << 20)),
    "socket": socket.socket,
    "the checkout": lambda: os.listdir(str(Path(__file__).parents[2])),
}


def behind_walls(ordinary: bool) -> dict:
    """What each probe finds behind the walls: its value, or the class of its exception."""
    folder = Path(tempfile.mkdtemp(prefix="unrolled-walls-"))
    root = folder / "root"
    root.mkdir()
    for path in (folder, root):
        path.chmod(0o755)
        if os.geteuid() == 0:
            os.chown(path, NOBODY, NOBODY)
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            if ordinary and os.geteuid() == 0:
                os.setgroups([])
                os.setresgid(NOBODY, NOBODY, NOBODY)
                os.setresuid(NOBODY, NOBODY, NOBODY)
                ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)  # as it is for a process that never was root
            enter(Walls(str(root), ("/usr/lib",)), lambda inner: None)
            found = {}
            for name, probe in PROBES.items():
                try:
                    found[name] = probe()
                except Exception as error:
                    found[name] = type(error).__name__
            os.write(writer, json.dumps(found, default=str).encode())
        except BaseException as error:
            os.write(writer, json.dumps({"failed": repr(error)}).encode())
        os._exit(0)
    os.close(writer)
    os.waitpid(pid, 0)
    with os.fdopen(reader, "rb") as pipe:
        found = json.loads(pipe.read())
    shutil.rmtree(folder)
    return found


@pytest.mark.parametrize("ordinary", [False, True], ids=["as we are", "as an ordinary user"])
def test_every_wall_stands(ordinary):
    found = behind_walls(ordinary)
    assert "failed" not in found, found
    assert found["the first process"] == 1 and found["processes"] == ["1"]
    assert found["hostname"] == "judge"
    assert found["root"] == ["dev", "proc", "tmp", "usr"]
    assert found["interfaces"] == 0
    assert int(found["capabilities"], 16) == 0
    assert found["no new privileges"] == "1" and found["seccomp"] == "2"
    assert found["write to the root"] == found["write to what is visible"] == "OSError"
    assert found["write to tmp"] == 4
    assert found["too much for tmp"] == "OSError"
    assert found["socket"] == "PermissionError"
    assert found["the checkout"] == "FileNotFoundError"


def test_only_what_is_needed_is_visible(tmp_path):
    paths = visible_paths(tmp_path)
    assert str(tmp_path) in paths
    assert not any(str(Path(__file__).parents[2]) == path for path in paths)
    assert not any(path in {"/", "/home", "/etc", "/tmp", "/var"} for path in paths)


def test_an_environment_that_is_a_link_is_seen_with_what_it_points_to(tmp_path, monkeypatch):
    """Or else imports fail behind the walls, though not before them, and right answers look wrong."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    monkeypatch.setattr("sys.prefix", str(tmp_path / "link"))
    (tmp_path / "view").mkdir()
    assert {str(tmp_path / name) for name in ("view", "link", "real")} <= set(visible_paths(tmp_path / "view"))
