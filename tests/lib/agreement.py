"""What "equal" means in the tests of the library: absolutely, in double precision."""

import torch


def assert_close(ours: torch.Tensor, theirs: torch.Tensor, atol: float = 1e-9) -> None:
    torch.testing.assert_close(ours, theirs, rtol=0, atol=atol)
