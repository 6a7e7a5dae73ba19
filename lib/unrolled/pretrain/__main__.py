"""The command line of pretraining."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from unrolled.pretrain.config import PretrainError, read_config
from unrolled.pretrain.loop import Pretraining, Team
from unrolled.pretrain.store import Store

EXAMPLE = """examples:
  python -m unrolled.pretrain experiments/pretrain_tiny.toml --out runs/tiny
  torchrun --nproc_per_node 2 -m unrolled.pretrain experiments/pretrain_tiny.toml --out runs/tiny

The same command goes on where it was stopped or killed, with any number of processes. The folder holds config.json,
vocab.txt, checkpoint.safetensors, log.jsonl (one line per step) and loss.png."""


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m unrolled.pretrain",
        description="Pretrain a BERT: hidden words and next sentences.",
        epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("config", type=Path, help="a TOML file; unrolled/pretrain/config.py says what may stand in it")
    parser.add_argument("--out", type=Path, required=True, help="the folder of the run")
    options = parser.parse_args(arguments)
    team = Team()
    try:
        config, store = read_config(options.config), Store(options.out)
        if team.leads:
            store.open(config)
        team.wait()
        return _train(Pretraining(config, store, team))
    except PretrainError as error:
        if team.leads:
            print(f"pretrain: {error}", file=sys.stderr)
        return 2
    finally:
        team.close()


def _train(run: Pretraining) -> int:
    begun = run.step
    if run.team.leads and begun:
        print(f"pretrain: going on after step {begun}.")
    done = run.run()
    if run.team.leads:
        last = next((line for line in reversed(run.store.lines()) if "words right" in line), None)
        if done and last:
            print(
                f"pretrain: {run.step} steps; validation: hidden words {last['validation words']:.3f} nats, "
                f"{last['words right']:.1%} right; next sentence {last['follows right']:.1%} right. "
                f"Curve: {run.store.folder / 'loss.png'}"
            )
        elif not done:
            print(f"pretrain: stopped after step {run.step}; the same command goes on from there.")
    return 0 if done else 130


if __name__ == "__main__":
    sys.exit(main())
