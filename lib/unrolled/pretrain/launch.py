"""A launch on paper: device, backend, who computes which rows, how much memory; and what is wrong with it."""

from __future__ import annotations

import os
from dataclasses import dataclass

import torch

from unrolled.pretrain.config import Config, PretrainError
from unrolled.pretrain.cost import BYTES, COPIES, kept_bytes, operations, parameters
from unrolled.pretrain.team import BACKENDS, Team

GIB = 2**30


@dataclass(frozen=True)
class Launch:
    """So many hosts with so many processes each."""

    config: Config
    hosts: int = 1
    processes: int = 1  # on each host
    device: str = "cpu"
    memory: float | None = None  # GiB for each process, where known

    @classmethod
    def here(cls, config: Config) -> Launch:
        """What ``torchrun`` has started, or this process alone."""
        size, processes = (int(os.environ.get(name, 1)) for name in ("WORLD_SIZE", "LOCAL_WORLD_SIZE"))
        device = "cuda" if torch.cuda.is_available() else "cpu"
        return cls(config, size // processes, processes, device, _memory_here(device) / (processes * GIB))

    @property
    def size(self) -> int:
        return self.hosts * self.processes

    @property
    def rows(self) -> list[int]:
        """How many rows of a batch each process computes."""
        batch = range(self.config.training.batch)
        return [len(batch[Team(rank, self.size).share(len(batch))]) for rank in range(self.size)]

    @property
    def part(self) -> int:
        """The rows that a process computes at once."""
        return min(self.config.training.micro_batch, max(self.rows))

    def needs(self) -> dict[str, int]:
        """The bytes of a process, at the most: full rows, and as many word pieces as the configuration allows."""
        data, count = self.config.data, parameters(self.config, self.config.data.vocabulary)
        found = {name: copies * BYTES * count for name, copies in COPIES.items()}
        if self.size > 1:
            found["gradients on their way"] = BYTES * count
        return found | {"kept for the backward pass": kept_bytes(self.config, data.vocabulary, self.part, data.length)}

    def check(self) -> None:
        """PretrainError if the launch cannot work."""
        training = self.config.training
        if min(self.rows) == 0:
            raise PretrainError(f"A batch of {training.batch} rows cannot be shared by {self.size} processes.")
        need = sum(self.needs().values()) / GIB
        if self.memory is not None and need > self.memory:
            raise PretrainError(
                f"A process needs {need:.1f} GiB and has {self.memory:.1f}; a micro_batch below {self.part} needs less."
            )

    def lines(self) -> list[str]:
        """The launch in words."""
        data, training = self.config.data, self.config.training
        step = operations(self.config, data.vocabulary, training.batch, data.length)
        rows, needs = self.rows, self.needs()
        each = f"{rows[-1]}" if rows[0] == rows[-1] else f"{rows[-1]} or {rows[0]}"
        said = ", ".join(f"{name} {value / GIB:.2f}" for name, value in needs.items())
        known = "" if self.memory is None else f" of {self.memory:.1f}"
        return [
            f"hosts {self.hosts}, processes on each {self.processes}; device {self.device}, "
            f"backend {BACKENDS[self.device] if self.size > 1 else 'none'}, precision {training.precision}",
            f"rows in a step {training.batch}: {each} in each process, {-(-rows[0] // self.part)} parts of "
            f"at most {self.part}",
            f"parameters {parameters(self.config, data.vocabulary):,}; GiB in a process "
            f"{sum(needs.values()) / GIB:.2f}{known} ({said})",
            f"operations in a step {step:.3g}, in all {training.steps:,} steps {step * training.steps:.3g}",
        ]


def _memory_here(device: str) -> int:
    """Bytes for all processes of this host (a GPU has its own, so there for one, times the processes)."""
    if device == "cuda":
        return torch.cuda.get_device_properties(0).total_memory * int(os.environ.get("LOCAL_WORLD_SIZE", 1))
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
