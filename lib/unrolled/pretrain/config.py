"""What a configuration file may say, and what is said about one that is wrong."""

from __future__ import annotations

import tomllib
from dataclasses import asdict, dataclass, fields
from pathlib import Path


class PretrainError(Exception):
    """A sentence for the user: something is wrong with what was given, not with the program."""


@dataclass(frozen=True)
class Data:
    text: str | list = "wikipedia"  # or files: a sentence per line, an empty line between documents
    vocabulary: int = 8000  # word pieces
    length: int = 64  # of a row of two sentences, in word pieces


@dataclass(frozen=True)
class Model:
    width: int = 128
    heads: int = 4
    layers: int = 4
    feed_forward: int = 512
    dropout: float = 0.1
    spread: float = 0.02  # of all weights at the start


@dataclass(frozen=True)
class Training:
    steps: int = 10_000
    batch: int = 64  # rows in a step, over all processes
    micro_batch: int = 64  # rows that a process computes at once; more are accumulated
    precision: str = "float32"  # of the products; "bfloat16" halves their memory, weights and sums stay float32
    peak: float = 5e-4
    warmup: int = 500
    weight_decay: float = 0.01
    clip: float = 1.0
    mask_rate: float = 0.15
    seed: int = 0
    save_every: int = 500
    evaluate_every: int = 1000
    evaluate_rows: int = 1000


@dataclass(frozen=True)
class Config:
    data: Data
    model: Model
    training: Training

    def as_dict(self) -> dict:
        return asdict(self)


SECTIONS = {"data": Data, "model": Model, "training": Training}
PRECISIONS = ("float32", "bfloat16")
MAY_BE_ZERO = {"dropout", "warmup", "weight_decay", "seed"}


def read_config(path: Path) -> Config:
    """The configuration in a TOML file; what it leaves out is as above."""
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise PretrainError(f"{path} cannot be read ({error.strerror}).") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise PretrainError(f"{path} is not TOML: {error}.") from None
    unknown = sorted(set(found) - set(SECTIONS))
    if unknown:
        raise PretrainError(f"{path}: there is no section [{unknown[0]}]; there are {', '.join(SECTIONS)}.")
    config = Config(**{name: _section(path, name, kind, found.get(name, {})) for name, kind in SECTIONS.items()})
    _check_together(path, config)
    return config


def _section(path: Path, name: str, kind: type, found: object):
    known = {field.name: field.default for field in fields(kind)}
    if not isinstance(found, dict):
        raise PretrainError(f"{path}: {name} is a section; write [{name}] on a line of its own.")
    for key, value in found.items():
        if key not in known:
            raise PretrainError(f"{path}: [{name}] knows no {key}; it knows {', '.join(known)}.")
        _check(f"{path}: [{name}] {key}", key, value, known[key])
    return kind(**found)


def _check(where: str, key: str, value: object, default: object) -> None:
    if key == "text":
        files = isinstance(value, list) and value and all(isinstance(item, str) for item in value)
        if value != "wikipedia" and not files:
            raise PretrainError(f'{where} is "wikipedia" or a list of files, not {value!r}.')
        return
    if key == "precision":
        if value not in PRECISIONS:
            raise PretrainError(f"{where} is one of {', '.join(PRECISIONS)}, not {value!r}.")
        return
    kinds = (int, float) if isinstance(default, float) else (int,)
    if not isinstance(value, kinds) or isinstance(value, bool):
        raise PretrainError(f"{where} is {'a number' if float in kinds else 'a whole number'}, not {value!r}.")
    if value < 0 or (value == 0 and key not in MAY_BE_ZERO):
        raise PretrainError(f"{where} is {value}; it must be {'at least' if key in MAY_BE_ZERO else 'above'} 0.")


def _check_together(path: Path, config: Config) -> None:
    model, training = config.model, config.training
    if model.width % model.heads:
        raise PretrainError(f"{path}: {model.heads} heads cannot share a width of {model.width}; it must divide.")
    if model.dropout >= 1 or training.mask_rate >= 1:
        raise PretrainError(f"{path}: dropout and mask_rate are shares below 1.")
    if config.data.length < 8:
        raise PretrainError(f"{path}: [data] length is {config.data.length}; two sentences need at least 8.")
