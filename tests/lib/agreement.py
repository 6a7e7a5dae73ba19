"""What "equal" means in the tests of the library: absolutely, in double precision."""

import torch


def assert_close(ours: torch.Tensor, theirs: torch.Tensor, atol: float = 1e-9) -> None:
    torch.testing.assert_close(ours, theirs, rtol=0, atol=atol)


def assert_same_gradients(ours: torch.Tensor, theirs: torch.Tensor, inputs: list[torch.Tensor]) -> None:
    """The gradients of a randomly weighted sum, with respect to every input."""
    weights = torch.randn_like(ours)
    left = torch.autograd.grad((ours * weights).sum(), inputs)
    right = torch.autograd.grad((theirs * weights).sum(), inputs)
    for one, other in zip(left, right, strict=True):
        assert_close(one, other)
