"""A stage of ``make test`` is skipped only if nothing that it reads has changed since it passed."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "stage.py"
COUNT = [sys.executable, "-c", "open('runs', 'a').write('x')"]


@pytest.fixture
def stage(tmp_path):
    """Runs a stage that reads lib/ in a repository of its own; its process, and how often the command ran so far."""
    (tmp_path / "scripts").mkdir()
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "one.py").write_text("1\n")
    (tmp_path / ".gitignore").write_text(".stamps/\nruns\n*.log\n")
    shutil.copy(SCRIPT, tmp_path / "scripts")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)

    def go(command=COUNT, words=("counting", "--reads", "lib"), **environment):
        done = subprocess.run(
            [sys.executable, "scripts/stage.py", *words, *(["--", *command] if command else [])],
            cwd=tmp_path,
            env={k: v for k, v in os.environ.items() if k not in ("FRESH", "CI")} | environment,
            capture_output=True,
            text=True,
        )
        runs = tmp_path / "runs"
        return done, len(runs.read_text()) if runs.exists() else 0

    go.folder = tmp_path
    return go


def test_what_passed_is_not_run_again_until_something_changes(stage):
    assert stage()[1] == 1
    done, runs = stage()
    assert runs == 1 and done.returncode == 0 and "nothing changed since it passed" in done.stdout
    assert stage(FRESH="1")[1] == 2
    assert stage(CI="true")[1] == 3  # other tests may count there
    assert stage()[1] == 4


@pytest.mark.parametrize("change", ["edited", "new", "gone"])
def test_every_change_of_what_it_reads_counts(stage, change):
    stage()
    if change == "edited":
        (stage.folder / "lib" / "one.py").write_text("2\n")
    elif change == "new":
        (stage.folder / "lib" / "two.py").write_text("")
    else:
        (stage.folder / "lib" / "one.py").unlink()
    assert stage()[1] == 2


def test_what_it_does_not_read_does_not_count(stage):
    stage()
    (stage.folder / "lib" / "some.log").write_text("ignored by git")
    (stage.folder / "README.md").write_text("not below lib")
    assert stage()[1] == 1


def test_what_failed_is_run_again_and_its_exit_code_is_handed_on(stage):
    fail = [sys.executable, "-c", "open('runs', 'a').write('x'); raise SystemExit(3)"]
    done, runs = stage(fail)
    assert (done.returncode, runs) == (3, 1)
    assert stage(fail)[1] == 2


def test_the_table_says_what_ran_and_what_did_not(stage):
    stage()
    stage()
    stage(words=("other", "--reads", "lib"))
    done, _ = stage(command=None, words=("--table",))
    lines = done.stdout.splitlines()
    assert lines[0] == "minutes  stage" and any(line.endswith(" other") for line in lines)
    assert any("counting" in line and "not run" in line for line in lines)
