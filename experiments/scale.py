"""Past one machine: what docs/scale.md reckons with. Operations, memory and speed of pretraining, speed of grading.

    OMP_NUM_THREADS=1 python experiments/scale.py        (some minutes; both cores must be free)

Counted on shapes alone: operations and memory of BERT-base. Measured here: a step of BERT-base, throughput of one and
of two processes on the same global batch, bytes of a checkpoint, throughput of grading with one and with two workers.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from statistics import median

import torch
from throughput import grading_rates, pretraining_rates

from unrolled.measurements import FOLDER, record
from unrolled.pretrain.config import Config, Training, read_config
from unrolled.pretrain.cost import BYTES, counted_operations, kept_bytes, operations, parameters
from unrolled.pretrain.launch import GIB, Launch
from unrolled.pretrain.loop import network
from unrolled.pretrain.loss import PretrainingLoss
from unrolled.pretrain.rows import Batch

BASE = read_config(FOLDER / "pretrain_bert_base.toml")
V = BASE.data.vocabulary
TRIAL = 4, 128  # rows and their length in the step that is measured here
DAY = 24 * 3600
PUBLISHED = {
    "Devlin 2019": {"words 10^9": 3.3, "steps": 10**6, "rows": 256, "short": 128, "share short": 0.9, "long": 512,
                    "days": 4, "chips": 16},
    "NVIDIA 2020": {"TFLOP/s of an A100, bfloat16": 312},
    "Chowdhery 2022": {"share of the peak, lowest": 0.213, "highest": 0.462},
}  # fmt: skip
SHARE = 0.4  # of the peak, assumed: between these two
WORDS_PER_SENTENCE, BYTES_PER_TOKEN = 25, 17  # assumed; ids, segments and mask of a row, as int64, int64 and bool


def one_step() -> dict:
    """Seconds of a forward and backward pass of BERT-base on one thread, and the most memory that it took."""
    torch.set_num_threads(1)
    rows, length = TRIAL
    config = replace(BASE, data=replace(BASE.data, length=length))
    loss = PretrainingLoss(network(config, V))
    ids = torch.randint(0, V, (rows, length), generator=torch.Generator().manual_seed(0))
    chosen = torch.zeros(rows, length, dtype=torch.bool)
    chosen.view(-1)[: round(0.15 * rows * length)] = True
    ones = torch.ones(rows, length, dtype=torch.bool)
    batch = Batch(ids, torch.zeros_like(ids), ones, ids, chosen, ids[:, 0] % 2)
    adam = torch.optim.AdamW(loss.parameters(), lr=1e-4)
    seconds = []
    for _ in range(3):
        begun = time.perf_counter()
        hidden, follows, _ = loss(batch)
        (hidden + follows).backward()
        seconds.append(time.perf_counter() - begun)
        adam.step()
        adam.zero_grad(set_to_none=True)
    return {"seconds": median(seconds[1:]), "GiB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / GIB}


def measured_step() -> dict:
    """``one_step`` in a process of its own, so that its memory is its own; beside it what an idle process has."""
    call = "import scale, json; print(json.dumps(scale.one_step()))"
    idle = "import scale, resource; print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 2**30)"
    said = [
        subprocess.run([sys.executable, "-c", words], cwd=FOLDER, capture_output=True, text=True, check=True).stdout
        for words in (call, idle)
    ]
    found, (rows, length) = json.loads(said[0]), TRIAL
    config = replace(BASE, data=replace(BASE.data, length=length), training=Training(micro_batch=rows, batch=rows))
    return {
        "rows": rows, "length": length, "seconds": round(found["seconds"], 3),
        "GFLOP/s": round(operations(config, V, rows, length) / found["seconds"] / 1e9, 1),
        "GiB measured": round(found["GiB"] - float(said[1]), 2),
        "GiB reckoned": round(sum(Launch(config).needs().values()) / GIB, 2),
    }  # fmt: skip


def counts() -> dict:
    """Operations by the formula and by torch's own count, and what a row of BERT-base keeps."""
    found = {"parameters": parameters(BASE, V)}
    for length in (128, 512):
        by_formula, by_torch = (count(BASE, V, 32, length) for count in (operations, counted_operations))
        found[f"rows of {length}"] = {
            "formula": by_formula, "counted": by_torch, "ratio": by_torch / by_formula,
            "MFLOP per token": round(by_formula / (32 * length) / 1e6, 1),
            "six per parameter": round(by_formula / (32 * length) / (6 * found["parameters"]), 3),
        }  # fmt: skip
    found["kept GiB of 32 rows"] = {
        f"{length}, {precision}": round(kept_bytes(_with(BASE, precision), V, 32, length) / GIB, 2)
        for length in (128, 512)
        for precision in ("float32", "bfloat16")
    }
    return found


def _with(config: Config, precision: str) -> Config:
    return replace(config, training=replace(config.training, precision=precision))


def checkpoint() -> dict:
    """Bytes of a checkpoint, measured on the book's own small BERT, and per parameter; then reckoned for BERT-base."""
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "short.toml"
        text = (FOLDER / "pretrain_tiny.toml").read_text().replace("steps = 3000", "steps = 2")
        config.write_text(text.replace("warmup = 100", "warmup = 1"))
        words = [sys.executable, "-m", "unrolled.pretrain", str(config), "--out", f"{folder}/run"]
        subprocess.run(words, check=True, capture_output=True, env=os.environ | {"OMP_NUM_THREADS": "1"})
        size = (Path(folder) / "run" / "checkpoint.safetensors").stat().st_size
        pieces = len((Path(folder) / "run" / "vocab.txt").read_text().splitlines())
        count = parameters(read_config(config), pieces)
    base = 3 * BYTES * parameters(BASE, V)
    return {"bytes": size, "per parameter": round(size / count, 2), "GB of BERT-base": round(base / 1e9, 2)}


def whole(step: dict, rates: dict) -> dict:
    """BERT-base as published: tokens, operations, and how long they take."""
    paper, gpu = PUBLISHED["Devlin 2019"], 1e12 * SHARE * PUBLISHED["NVIDIA 2020"]["TFLOP/s of an A100, bfloat16"]
    steps = {paper["short"]: paper["share short"] * paper["steps"]}
    steps[paper["long"]] = paper["steps"] - steps[paper["short"]]
    total = sum(count * operations(BASE, V, paper["rows"], length) for length, count in steps.items())
    lasted, rows = paper["days"] * DAY, paper["words 10^9"] * 1e9 / WORDS_PER_SENTENCE
    return {
        "tokens 10^9": round(sum(count * paper["rows"] * length for length, count in steps.items()) / 1e9, 1),
        "operations 10^19": round(total / 1e19, 2),
        "all rows of 512, operations 10^19": round(paper["steps"] * operations(BASE, V, 256, 512) / 1e19, 2),
        "years on this machine": round(total / (step["GFLOP/s"] * 1e9 * rates["ratio"]) / (365 * DAY), 1),
        "TFLOP/s of the published run": round(total / lasted / 1e12, 1),
        "TFLOP/s per chip": round(total / lasted / paper["chips"] / 1e12, 2),
        "share of the peak": SHARE,
        "hours on A100": {n: round(total / (n * gpu) / 3600, 1) for n in (1, 8, 32)},
        "ms of a step of rows of 128 on A100": {
            n: round(1e3 * operations(BASE, V, 256, 128) / (n * gpu), 1) for n in (8, 32)
        },
        "GB of gradients": round(BYTES * parameters(BASE, V) / 1e9, 2),
        "rows of the text 10^6": round(rows / 1e6),
        "TB of its rows": round(rows * paper["long"] * BYTES_PER_TOKEN / 1e12, 2),
    }


def main() -> None:
    since = time.time()
    values = {
        "load at the start": round(os.getloadavg()[0], 1),
        "published": PUBLISHED,
        "counts": counts(),
        "step": measured_step(),
        "checkpoint": checkpoint(),
    }
    values["pretraining"] = pretraining_rates()
    values["grading"] = grading_rates()
    values["whole"] = whole(values["step"], values["pretraining"])
    for name, value in values.items():
        print(name, value)
    print(record("scale", [0], values, since).name)


if __name__ == "__main__":
    main()
