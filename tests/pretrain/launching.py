"""A tiny configuration, and how its run is started."""

import json
import os
import subprocess
import sys
from pathlib import Path

TINY = """
[data]
text = [{text!r}]
vocabulary = 120
length = 17
[model]
width = 12
heads = 3
layers = 2
feed_forward = 20
dropout = {dropout}
[training]
steps = {steps}
batch = 15
micro_batch = {micro}
precision = "{precision}"
peak = 0.01
warmup = 4
save_every = 5
evaluate_every = 8
evaluate_rows = 40
"""


def command(config: Path, out: Path, processes: int = 1) -> list[str]:
    start = [sys.executable, "-m"]
    if processes > 1:
        start += ["torch.distributed.run", "--standalone", "--nproc_per_node", str(processes), "-m"]
    return [*start, "unrolled.pretrain", str(config), "--out", str(out)]


ENVIRONMENT = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}


def run(*arguments, **options) -> list[dict]:
    done = subprocess.run(command(*arguments, **options), env=ENVIRONMENT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return log(arguments[1])


def log(out: Path) -> list[dict]:
    return [json.loads(line) for line in (out / "log.jsonl").read_text().splitlines()]
