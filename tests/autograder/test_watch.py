"""Watching a command: the time of its orphans counts, and what it leaves behind is seen."""

import sys
import tempfile
from pathlib import Path

from autograder.watch import Watched, watched

BURN = "import time\nwhile time.process_time() < 0.5: pass"
ORPHAN = f"import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', {BURN!r}])"
LITTER = "import tempfile\ntempfile.mkdtemp(prefix='unrolled-litter-')"


def test_the_time_of_an_orphan_is_counted(tmp_path):
    seen = watched([sys.executable, "-c", ORPHAN], tmp_path)
    assert seen.status == 0 and seen.cpu >= 0.5
    assert seen.left["processes"] == 0


def test_what_is_left_behind_is_seen(tmp_path, monkeypatch):
    monkeypatch.setattr("autograder.watch.SETTLE_SECONDS", 0.1)
    try:
        seen = watched([sys.executable, "-c", f"{LITTER}; raise SystemExit('no luck')"], tmp_path)
        assert seen.status == 1 and seen.said == "no luck\n"
        assert seen.left == {"processes": 0, "files": 1, "mounts": 0}
    finally:
        for folder in Path(tempfile.gettempdir()).glob("unrolled-litter-*"):
            folder.rmdir()


def test_growth_compares_the_last_fifth_with_the_second():
    flat = [(second, 100.0) for second in range(1, 11)]
    growing = [(second, 100.0 * second) for second in range(1, 11)]
    assert Watched(0, 1, 1, tuple(flat), {}, "").growth == 1
    assert Watched(0, 1, 1, tuple(growing), {}, "").growth > 2
