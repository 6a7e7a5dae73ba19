"""What a run keeps in its folder: configuration, vocabulary, a checkpoint, a log, a picture.

Whatever kills the program, each file is there as a whole, old or new. No pickles: tensors are stored as safetensors.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import save
from torch import Tensor, nn

from unrolled.pretrain.config import Config, PretrainError
from unrolled.wordpiece import WordPiece


class Store:
    """The folder of a run."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.checkpoint, self.log = folder / "checkpoint.safetensors", folder / "log.jsonl"
        self.config, self.pieces = folder / "config.json", folder / "vocab.txt"

    def open(self, config: Config) -> None:
        """Make the folder, or make sure that it holds a run of this very configuration."""
        said = json.dumps(config.as_dict(), indent=1) + "\n"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            if not self.config.exists():
                write(self.config, said.encode())
        except OSError as error:
            raise PretrainError(f"{self.folder} cannot be written ({error.strerror}).") from None
        before = json.loads(self.config.read_text())
        changed = [
            f"[{name}] {key} was {value!r} and is now {config.as_dict()[name][key]!r}"
            for name, section in before.items()
            for key, value in section.items()
            if config.as_dict()[name][key] != value
        ]
        if changed:
            raise PretrainError(f"{self.folder} holds another run: {changed[0]}. Take another folder for --out.")

    def tokenizer(self) -> WordPiece | None:
        return WordPiece.from_file(self.pieces) if self.pieces.exists() else None

    def save_tokenizer(self, tokenizer: WordPiece) -> None:
        write(self.pieces, ("\n".join(tokenizer.pieces) + "\n").encode())

    def save(self, step: int, model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
        """The state after ``step`` steps."""
        tensors = {f"model.{name}": value for name, value in model.state_dict().items()}
        for name, parameter in model.named_parameters():
            for key, value in optimizer.state[parameter].items():
                tensors[f"adam.{name}.{key}"] = value
        write(self.checkpoint, save({k: v.contiguous() for k, v in tensors.items()}, {"step": str(step)}))

    def load(self, model: nn.Module, optimizer: torch.optim.Optimizer) -> int:
        """Take up the state of the checkpoint; how many steps it had made, 0 if there is none."""
        if not self.checkpoint.exists():
            return 0
        with safe_open(self.checkpoint, "pt") as file:
            step = int(file.metadata()["step"])
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  (it is no dict)
        model.load_state_dict({name[6:]: value for name, value in tensors.items() if name.startswith("model.")})
        for name, parameter in model.named_parameters():
            start = f"adam.{name}."
            found: dict[str, Tensor] = {k[len(start) :]: v for k, v in tensors.items() if k.startswith(start)}
            optimizer.state[parameter] = {k: v if k == "step" else v.to(parameter.device) for k, v in found.items()}
        return step

    def lines(self) -> list[dict]:
        """The log so far; a last line that was cut off by a kill is left out."""
        if not self.log.exists():
            return []
        found = self.log.read_text().splitlines(keepends=True)
        return [json.loads(line) for line in found if line.endswith("\n")]

    def cut_log(self, step: int) -> None:
        """Forget what was logged after the checkpoint: it will be logged again."""
        kept = [line for line in self.lines() if line["step"] <= step]
        write(self.log, "".join(json.dumps(line) + "\n" for line in kept).encode())

    def add(self, line: dict) -> None:
        with self.log.open("a") as file:
            file.write(json.dumps(line) + "\n")

    def draw(self) -> None:
        """loss.png: both losses of every step, and the loss on validation rows."""
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt

        lines = self.lines()
        steps = [line for line in lines if "words" in line]
        checks = [line for line in lines if "validation words" in line]
        figure, (words, follows) = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
        for axes, key, title in ((words, "words", "hidden words"), (follows, "follows", "second sentence")):
            axes.plot([s["step"] for s in steps], [s[key] for s in steps], lw=0.8, color="0.6", label="training")
            axes.plot([c["step"] for c in checks], [c[f"validation {key}"] for c in checks], "o-", label="validation")
            axes.set(title=title, xlabel="step", ylabel="nats")
            axes.legend()
        figure.savefig(self.folder / "loss.png", dpi=120)
        plt.close(figure)


def write(path: Path, data: bytes) -> None:
    """Write a file so that it is there whole, or as it was before."""
    new = path.with_name(path.name + ".new")
    with new.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)
