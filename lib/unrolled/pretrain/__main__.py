"""The command line of pretraining."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import torch

from unrolled.pretrain.config import PretrainError, read_config
from unrolled.pretrain.launch import Launch
from unrolled.pretrain.loop import Pretraining, read_texts
from unrolled.pretrain.store import Store
from unrolled.pretrain.team import Team

EXAMPLE = """examples:
  python -m unrolled.pretrain experiments/pretrain_tiny.toml --out runs/tiny
  torchrun --nproc_per_node 2 -m unrolled.pretrain experiments/pretrain_tiny.toml --out runs/tiny
  python -m unrolled.pretrain experiments/pretrain_bert_base.toml --dry-run --hosts 4 --processes 8 --device cuda

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
    parser.add_argument("--out", type=Path, help="the folder of the run")
    dry = parser.add_argument_group("a launch on paper")
    dry.add_argument(
        "--dry-run", action="store_true", help="train nothing; say what this launch would do, and check it"
    )
    dry.add_argument("--hosts", type=int, help="instead of those that are there: so many hosts")
    dry.add_argument("--processes", type=int, help="so many processes on each")
    dry.add_argument("--device", choices=("cpu", "cuda"), help="on processors or on GPUs")
    dry.add_argument("--memory", type=float, help="GiB for each process")
    options = parser.parse_args(arguments)
    told = {name: getattr(options, name) for name in ("hosts", "processes", "device", "memory")}
    told = {name: value for name, value in told.items() if value is not None}
    if told and not options.dry_run:
        parser.error(f"--{next(iter(told))} goes with --dry-run; torchrun says how many processes there are.")
    if not options.dry_run and options.out is None:
        parser.error("--out is missing: the folder of the run.")
    if any(value <= 0 for value in told.values() if not isinstance(value, str)):
        parser.error("--hosts, --processes and --memory are above 0.")
    team = Team()
    try:
        config = read_config(options.config)
        if told:
            return _say(Launch(config, **told))
        team = Team.gather()
        if options.dry_run:
            return _try(Launch.here(config), team)
        store = Store(options.out)
        if team.leads:
            store.open(config)
        team.wait()
        return _train(Pretraining(config, store, team))
    except PretrainError as error:
        if os.environ.get("LOCAL_RANK", "0") == "0":  # once on each host
            print(f"pretrain: {error}", file=sys.stderr)
        return 2
    finally:
        team.close()


def _say(launch: Launch) -> int:
    launch.check()
    print("\n".join(launch.lines()))
    return 0


def _try(launch: Launch, team: Team) -> int:
    """The launch in words by the first process, once all of them have answered and read the same text."""
    answered = int(team.add_up(torch.ones(())).item())
    read_texts(launch.config, team)
    launch.check()
    if team.leads:
        _say(launch)
        print(f"{answered} of {team.size} processes answered; they have read the same text.")
    return 0


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
