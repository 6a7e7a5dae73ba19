"""Throughput side by side: pretraining with one and two processes, grading with one and two workers.

Runs alternate, medians are compared; ``tests/bench/group_scale.py`` calls the same functions.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median

from tqdm import tqdm

ROUNDS = 3
STEPS, WARM = 6, 2
STUDENTS = 24
CONFIG = """
data = {{ text = ['{text}'], vocabulary = 300, length = 64 }}
model = {{ width = 128, heads = 4, layers = 4, feed_forward = 512, dropout = 0.0 }}
training = {{ steps = 100, batch = 64, micro_batch = 64, evaluate_rows = 8 }}
"""


# ---- pretraining ----


def pretraining_rates() -> dict:
    """Rows a second with one and with two processes, on the same batches; how far their losses are apart."""
    with tempfile.TemporaryDirectory() as folder:
        draw = random.Random(0)
        words = [f"{a}{b}" for a in "bdfgklmn" for b in ("ab", "el", "in", "or", "ut")]
        lines = [" ".join(draw.choices(words, k=24)) + ("\n\n" if n % 5 == 4 else "\n") for n in range(1500)]
        (Path(folder) / "text.txt").write_text("".join(lines))
        (Path(folder) / "run.toml").write_text(CONFIG.format(text=f"{folder}/text.txt"))
        found: dict[int, list[dict]] = {1: [], 2: []}
        for turn in tqdm(range(2 * ROUNDS), desc="pretraining", disable=None):
            processes = 1 + turn % 2
            words = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", str(processes)]
            said = subprocess.run(
                [*words, __file__, f"{folder}/run.toml", f"{folder}/{turn}"],
                env=os.environ | {"OMP_NUM_THREADS": "1"}, capture_output=True, text=True, check=True,
            )  # fmt: skip
            found[processes].append(json.loads(said.stdout.splitlines()[-1]))
    rates = {n: [64 / run["seconds"] for run in runs] for n, runs in found.items()}
    apart = max(abs(b / a - 1) for a, b in zip(found[1][0]["words"], found[2][0]["words"], strict=True))
    return _compared(rates, "rows a second") | {"losses apart": apart} | found[1][0]["about"]


def some_steps(config: Path, out: Path) -> None:
    """What each process of a measured run does: a few steps, timed; the first one says how long a step took."""
    from unrolled.pretrain.config import read_config
    from unrolled.pretrain.loop import Pretraining
    from unrolled.pretrain.store import Store
    from unrolled.pretrain.team import Team

    team, store = Team.gather(), Store(out)
    if team.leads:
        store.open(read_config(config))
    team.wait()
    run, seconds, words = Pretraining(read_config(config), store, team), [], []
    for _ in range(WARM + STEPS):
        begun = time.perf_counter()
        words.append(run.one_step()["words"])
        seconds.append(time.perf_counter() - begun)
    if team.leads:
        about = {"tokens in a row": run.stream.batch(0).ids.shape[1], "pieces": len(run.stream.tokenizer)}
        print(json.dumps({"seconds": median(seconds[WARM:]), "words": words, "about": about}))
    team.close()


# ---- grading ----


def grading_rates() -> dict:
    """Submissions a second on a scheduler with one worker process and on one with two."""
    import nbformat

    from autograder.course import chapter
    from autograder.course_directory import init_course
    from autograder.demo import hand_in, honest_class
    from autograder.grade_run import GradeRun

    one = chapter("01_recurrence")
    rates: dict[int, list[float]] = {1: [], 2: []}
    with tempfile.TemporaryDirectory() as place, ExitStack() as stack:
        folder = Path(place) / "course"
        init_course(folder, [one])
        released = nbformat.read(folder / "release" / one.name / f"{one.slug}.ipynb", as_version=4)
        for submission in honest_class(released, one.name, STUDENTS):
            hand_in(folder, one, submission)
        addresses = {n: stack.enter_context(workers(Path(place) / f"{n}", n)) for n in rates}
        for turn in tqdm(range(2 * (ROUNDS + 1)), desc="grading", disable=None):
            count, begun = 1 + turn % 2, time.perf_counter()
            GradeRun(folder, one.name, everything=True, scheduler=addresses[count]).start()
            if turn > 1:  # the first time, torch is imported and fork servers start
                rates[count].append(STUDENTS / (time.perf_counter() - begun))
    return _compared(rates, "submissions a second")


@contextmanager
def workers(place: Path, count: int):
    """A dask scheduler and so many worker processes, each as on a host of its own; the scheduler's address."""
    place.mkdir()
    file = place / "scheduler.json"
    start = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0"]
    lines = [[*start, "--no-dashboard", "--scheduler-file", str(file)]]
    start = [sys.executable, "-m", "distributed.cli.dask_worker", "--scheduler-file", str(file), "--host", "127.0.0.1"]
    lines += [[*start, "--nthreads", "1", "--no-nanny", "--no-dashboard"]] * count
    running = []
    try:
        for number, words in enumerate(lines):
            (place / f"host{number}").mkdir()
            hosts = os.environ | {"TMPDIR": str(place / f"host{number}"), "OMP_NUM_THREADS": "1"}
            quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
            running.append(subprocess.Popen(words, env=hosts, cwd=place / f"host{number}", **quiet))
        yield _address(file, count)
    finally:
        for process in reversed(running):
            process.terminate()
            process.wait(60)


def _address(file: Path, count: int) -> str:
    """The address of the scheduler, when all its workers are there."""
    from distributed import Client

    for _ in range(600):
        if file.exists() and file.read_text():
            break
        time.sleep(0.1)
    address = json.loads(file.read_text())["address"]
    with Client(address, timeout=60) as client:
        client.wait_for_workers(count, timeout=120)
    return address


def _compared(rates: dict[int, list[float]], unit: str) -> dict:
    middle = {n: median(found) for n, found in rates.items()}
    return {
        "unit": unit, "one": round(middle[1], 2), "two": round(middle[2], 2), "ratio": round(middle[2] / middle[1], 3),
        "runs": {n: [round(rate, 2) for rate in found] for n, found in rates.items()},
    }  # fmt: skip


def main() -> None:
    from unrolled.measurements import record

    since, load = time.time(), os.getloadavg()[0]
    values = {"pretraining": pretraining_rates(), "grading": grading_rates()}
    values["circumstances"] = f"load {load:.1f} on {os.cpu_count()} cores; {ROUNDS} rounds; {STUDENTS} submissions"
    print(values, record("throughput", [0], values, since).name)


if __name__ == "__main__":
    some_steps(*map(Path, sys.argv[1:])) if sys.argv[1:] else main()
