"""The processes that share a run: on this machine or on several, on processors or on GPUs."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import Tensor

from unrolled.pretrain.config import PretrainError
from unrolled.pretrain.rows import Batch

BACKENDS = {"cpu": "gloo", "cuda": "nccl"}  # who carries the gradients
START = {"RANK": 0, "WORLD_SIZE": 1, "LOCAL_RANK": 0}  # what torchrun sets, and what holds without it


@dataclass(frozen=True)
class Team:
    """One process of a team; ``Team()`` is alone."""

    rank: int = 0
    size: int = 1
    device: torch.device = torch.device("cpu")  # noqa: RUF009  (a value that never changes)

    @classmethod
    def gather(cls) -> Team:
        """The processes that ``torchrun`` started, or this one alone; a GPU for each where there are GPUs."""
        rank, size, local = (int(os.environ.get(key, value)) for key, value in START.items())
        device = torch.device("cuda", local) if torch.cuda.is_available() else torch.device("cpu")
        if device.type == "cuda":
            if local >= torch.cuda.device_count():
                raise PretrainError(
                    f"This host has {torch.cuda.device_count()} GPUs and more processes; "
                    f"start it with --nproc_per_node {torch.cuda.device_count()}."
                )
            torch.cuda.set_device(device)
        if size > 1:
            dist.init_process_group(BACKENDS[device.type])
        return cls(rank, size, device)

    @property
    def leads(self) -> bool:
        return self.rank == 0

    def share(self, size: int) -> slice:
        """The rows of a batch that are ours: every row has one owner."""
        return slice(self.rank, size, self.size)

    def parts(self, batch: Batch, most: int) -> list[Batch]:
        """Our rows of a batch, at most so many at a time."""
        ours = batch.rows(self.share(len(batch.ids)))
        return [ours.rows(slice(start, start + most)) for start in range(0, len(ours.ids), most)]

    def add_up(self, numbers: Tensor) -> Tensor:
        """The sum over all processes."""
        numbers = numbers.to(self.device)
        if self.size > 1:
            dist.all_reduce(numbers)
        return numbers

    def tell(self, said: object) -> object:
        """What the first process says, to all of them: hosts need not share a disk."""
        if self.size > 1:
            box = [said]
            dist.broadcast_object_list(box, 0, device=self.device)
            return box[0]
        return said

    def tell_tensor(self, tensor: Tensor) -> None:
        """Overwrite a tensor by that of the first process."""
        if self.size > 1:
            dist.broadcast(tensor, 0)

    def agree(self, *values: object) -> bool:
        """Whether all processes hold the same values."""
        digest = hashlib.blake2b(repr(values).encode(), digest_size=5).digest()
        mine = torch.tensor(float(int.from_bytes(digest)), dtype=torch.float64)  # whole numbers: their sum is exact
        return self.add_up(mine.clone()).item() == self.size * mine.item()

    def wait(self) -> None:
        self.add_up(torch.zeros(()))

    def close(self) -> None:
        if self.size > 1:
            dist.destroy_process_group()
