"""Past one machine: the SLURM script on two hosts without a common disk, GPUs on paper, bfloat16 in practice."""

import os
import random
import signal
import subprocess
import sys
import time
from contextlib import nullcontext
from pathlib import Path

import psutil
import pytest
from launching import ENVIRONMENT, TINY, log, run

from unrolled.pretrain import cost
from unrolled.pretrain.__main__ import main
from unrolled.pretrain.config import Config, Data, Model, Training
from unrolled.pretrain.cost import counted_operations, kept_bytes, operations, parameters
from unrolled.pretrain.launch import GIB, Launch
from unrolled.pretrain.loop import network

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "scripts" / "cluster" / "pretrain.sbatch"
BASE = ROOT / "experiments" / "pretrain_bert_base.toml"
SRUN = """#!/bin/bash
# every host has its own disk: a folder
for host in 0 1; do (cd host$host && SLURM_NODEID=$host exec "$@") & hosts[$host]=$!; done
status=0
for host in 0 1; do wait ${hosts[$host]} || status=$?; done
exit $status
"""


def submit(config: Path, cluster: Path) -> subprocess.Popen:
    """Start the script in a folder with two hosts and the commands of a cluster: what is started runs here."""
    for host in (0, 1):
        (cluster / f"host{host}").mkdir(parents=True, exist_ok=True)
    for name, source in {"srun": SRUN, "scontrol": "#!/bin/bash\nprintf '127.0.0.1\\n127.0.0.1\\n'\n"}.items():
        (cluster / name).write_text(source)
        (cluster / name).chmod(0o755)
    slurm = {"JOB_ID": str(random.randrange(10_000)), "JOB_NUM_NODES": "2", "JOB_NODELIST": "node[0-1]"}
    path = f"{cluster}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = ENVIRONMENT | {f"SLURM_{name}": value for name, value in slurm.items()} | {"PATH": path}
    words = ["bash", str(SCRIPT), str(config), "run"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(words, cwd=cluster, env=environment, **pipes)


def finish(job: subprocess.Popen) -> tuple[int, str, str]:
    out, err = job.communicate(timeout=300)
    return job.returncode, out, err


@pytest.fixture(scope="module")
def whole(text, tmp_path_factory) -> tuple[Path, Path]:
    """A configuration, and the folder in which two hosts have run it undisturbed."""
    place = tmp_path_factory.mktemp("whole")
    (place / "tiny.toml").write_text(TINY.format(text=str(text), dropout=0.0, steps=40, micro=4, precision="float32"))
    status, out, err = finish(submit(place / "tiny.toml", place))
    assert status == 0, err
    assert "hosts 2, processes on each 1; device cpu, backend gloo" in out and "2 of 2 processes answered" in out
    return place / "tiny.toml", place


def test_two_hosts_draw_the_curve_of_one(whole, tmp_path):
    config, place = whole
    assert list((place / "host1").iterdir()) == []  # the first host keeps everything
    for one, other in zip(run(config, tmp_path / "one"), log(place / "host0" / "run"), strict=True):
        assert one == pytest.approx(other, rel=1e-5)


def test_two_hosts_go_on_after_one_was_lost(whole, tmp_path):
    """The second host finds nothing on its own disk; it is told all that the first one has kept."""
    config, place = whole
    job, folder = submit(config, tmp_path), tmp_path / "host0" / "run"
    written = folder / "log.jsonl"
    while job.poll() is None and not (written.exists() and written.read_bytes().count(b"\n") > 7):
        time.sleep(0.005)
    for process in psutil.Process(job.pid).children(recursive=True):
        if process.environ().get("SLURM_NODEID") == "1":
            process.kill()  # the torchrun of the second host, and what it has started
    assert finish(job)[0] != 0 and len(log(folder)) < 40, "it was lost too late to show anything"
    status, out, err = finish(submit(config, tmp_path))
    assert status == 0 and "going on after step" in out, err
    name = "checkpoint.safetensors"
    assert (folder / name).read_bytes() == (place / "host0" / "run" / name).read_bytes()
    assert log(folder) == log(place / "host0" / "run")


def test_hosts_with_different_texts_are_told_so(config, tmp_path, text):
    (tmp_path / "relative.toml").write_text(config().read_text().replace(str(text), "animals.txt"))
    lines = text.read_text().splitlines()
    for host, part in ((0, 1), (1, 2)):
        (tmp_path / f"host{host}").mkdir()
        (tmp_path / f"host{host}" / "animals.txt").write_text("\n".join(lines[: len(lines) // part]))
    status, _, err = finish(submit(tmp_path / "relative.toml", tmp_path))
    assert status != 0 and not (tmp_path / "host0" / "run").exists()  # found by the dry run
    sentence = "pretrain: The processes differ in configuration, text or version of torch; compare the hosts."
    assert err.count(sentence) == 2  # on both


def test_bfloat16_learns_what_float32_learns(config, tmp_path, monkeypatch):
    monkeypatch.setattr(signal, "signal", lambda *_: None)  # Ctrl-C is for pytest
    lines = {}
    for precision in ("float32", "bfloat16"):
        assert main([str(config(steps=40, precision=precision)), "--out", str(tmp_path / precision)]) == 0
        lines[precision] = log(tmp_path / precision)
    exact, rough = ([line["words"] for line in lines[precision]] for precision in lines)
    assert exact != rough  # it was really used
    assert rough == pytest.approx(exact, rel=0.02)
    assert rough[-1] < rough[0] - 0.5


# ---- on paper ----


def said(capsys, *words: str) -> tuple[int, str]:
    status = main([str(BASE), "--dry-run", *words])
    captured = capsys.readouterr()
    return status, captured.out + captured.err


def test_gpus_on_paper(capsys):
    status, words = said(capsys, "--hosts", "4", "--processes", "8", "--device", "cuda", "--memory", "80")
    assert status == 0
    assert "hosts 4, processes on each 8; device cuda, backend nccl, precision bfloat16" in words
    assert "rows in a step 256: 8 in each process, 1 parts of at most 8" in words
    assert "parameters 110,106,428" in words


def test_a_launch_that_cannot_work_gets_one_sentence(capsys):
    status, words = said(capsys, "--hosts", "1", "--device", "cuda", "--memory", "8")
    assert status == 2 and "a micro_batch below 32 needs less" in words and words.count("\n") == 1
    status, words = said(capsys, "--hosts", "100", "--processes", "3")
    assert status == 2 and "A batch of 256 rows cannot be shared by 300 processes." in words


@pytest.mark.parametrize(
    "words", [["--hosts", "2", "--out", "run"], [], ["--dry-run", "--hosts", "0"]], ids=["no dry run", "no out", "none"]
)
def test_options_that_do_not_fit(words, capsys):
    with pytest.raises(SystemExit) as ended:
        main([str(BASE), *words])
    assert ended.value.code == 2 and "error: --" in capsys.readouterr().err


def test_rows_that_do_not_divide():
    launch = Launch(Config(Data(), Model(), Training(batch=17, micro_batch=3)), hosts=2, processes=2)
    assert launch.rows == [5, 4, 4, 4] and "4 or 5 in each process, 2 parts of at most 3" in launch.lines()[1]


SMALL = Config(Data(length=13), Model(12, 3, 2, 20, 0.1), Training())


def test_the_formula_is_what_torch_counts():
    for rows, length in ((3, 13), (7, 8)):
        assert operations(SMALL, 50, rows, length) == counted_operations(SMALL, 50, rows, length)
    assert parameters(SMALL, 50) == sum(p.numel() for p in network(SMALL, 50).parameters())


def test_memory_is_counted_as_it_is_kept(monkeypatch):
    """Twice the rows keep twice as much, but for the little that does not depend on them; bfloat16 keeps less."""
    one, two = (kept_bytes(SMALL, 50, rows, 13) for rows in (20, 40))
    assert two == pytest.approx(2 * one, rel=0.01)
    monkeypatch.setattr(cost, "FakeTensorMode", nullcontext)
    assert kept_bytes(SMALL, 50, 20, 13) == one  # real tensors, a real forward pass
    low = Config(SMALL.data, SMALL.model, Training(precision="bfloat16"))
    assert kept_bytes(low, 50, 40, 13) < two
    needs = Launch(SMALL, processes=2).needs()
    assert needs["Adam"] == 2 * needs["weights"] == 8 * parameters(SMALL, SMALL.data.vocabulary)
    assert sum(needs.values()) < GIB
