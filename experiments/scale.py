"""Past one machine: what docs/scale.md reckons with.

Counted here on shapes alone: operations and memory of BERT-base. Written and weighed: a checkpoint. How fast this
machine is comes from ``experiments/throughput.json``, published figures from the papers named below.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import replace
from pathlib import Path

import throughput
import torch

from unrolled.measurements import FOLDER, record, stored
from unrolled.pretrain.config import Config, read_config
from unrolled.pretrain.cost import BYTES, counted_operations, kept_bytes, operations, parameters
from unrolled.pretrain.launch import GIB
from unrolled.pretrain.loop import network
from unrolled.pretrain.store import Store

BASE = read_config(FOLDER / "pretrain_bert_base.toml")
V = BASE.data.vocabulary
DAY = 24 * 3600
PUBLISHED = {
    "Devlin 2019": {"words 10^9": 3.3, "steps": 10**6, "rows": 256, "short": 128, "share short": 0.9, "long": 512,
                    "days": 4, "chips": 16},
    "NVIDIA 2020": {"TFLOP/s of an A100, bfloat16": 312},
    "Chowdhery 2022": {"share of the peak, lowest": 0.213, "highest": 0.462},
}  # fmt: skip
SHARE = 0.4  # of the peak, assumed: between these two
WORDS_PER_SENTENCE, BYTES_PER_TOKEN = 25, 17  # assumed; ids, segments and mask of a row, as int64, int64 and bool


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


def small() -> tuple[Config, int, int]:
    """The model whose throughput was measured, its word pieces, and the tokens in its rows."""
    rates = stored("throughput")["pretraining"]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.toml"
        path.write_text(throughput.CONFIG.format(text="text.txt"))
        return read_config(path), rates["pieces"], rates["tokens in a row"]


def checkpoint() -> dict:
    """Bytes of a checkpoint of the small model, and per parameter; then reckoned for BERT-base."""
    config, pieces, _ = small()
    model = network(config, pieces)
    adam = torch.optim.AdamW(model.parameters())
    sum(p.sum() for p in model.parameters()).backward()
    adam.step()
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder))
        store.save(1, model, adam)
        size, count = store.checkpoint.stat().st_size, parameters(config, pieces)
    base = 3 * BYTES * parameters(BASE, V)
    return {"bytes": size, "per parameter": round(size / count, 2), "GB of BERT-base": round(base / 1e9, 2)}


def whole() -> dict:
    """BERT-base as published: tokens, operations, and how long they take."""
    config, pieces, tokens = small()
    rates = stored("throughput")["pretraining"]
    achieved = {
        n: rates[n] * operations(config, pieces, 64, tokens) / 64 for n in ("one", "two")
    }  # a batch has 64 rows
    paper, gpu = PUBLISHED["Devlin 2019"], 1e12 * SHARE * PUBLISHED["NVIDIA 2020"]["TFLOP/s of an A100, bfloat16"]
    steps = {paper["short"]: paper["share short"] * paper["steps"]}
    steps[paper["long"]] = paper["steps"] - steps[paper["short"]]
    total = sum(count * operations(BASE, V, paper["rows"], length) for length, count in steps.items())
    lasted, rows = paper["days"] * DAY, paper["words 10^9"] * 1e9 / WORDS_PER_SENTENCE
    return {
        "tokens 10^9": round(sum(count * paper["rows"] * length for length, count in steps.items()) / 1e9, 1),
        "operations 10^19": round(total / 1e19, 2),
        "all rows of 512, operations 10^19": round(paper["steps"] * operations(BASE, V, 256, 512) / 1e19, 2),
        "GFLOP/s here, one process": round(achieved["one"] / 1e9, 1),
        "GFLOP/s here, two processes": round(achieved["two"] / 1e9, 1),
        "years on this machine": round(total / achieved["two"] / (365 * DAY), 1),
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
    values = {"published": PUBLISHED, "counts": counts(), "checkpoint": checkpoint(), "whole": whole()}
    for name, value in values.items():
        print(name, value)
    print(record("scale", [0], values, since).name)


if __name__ == "__main__":
    main()
