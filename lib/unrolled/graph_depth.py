"""How many operations must wait for each other: the longest chain in torch's record of a computation (chapter 8)."""

from __future__ import annotations

from torch import Tensor


def graph_depth(result: Tensor) -> int:
    """The number of operations on the longest path from the inputs to a result.

    What stands on one path has to be done one after the other, however many machines there are.

    Args:
        result: computed from something that requires a gradient.

    >>> import torch
    >>> x = torch.ones(3, requires_grad=True)
    >>> graph_depth((x * 2).sum()), graph_depth(x.exp() + x.exp().exp())
    (2, 3)
    """
    depth: dict = {}
    open_nodes = [result.grad_fn]
    while open_nodes:
        node = open_nodes[-1]
        before = [child for child, _ in node.next_functions if child is not None]
        missing = [child for child in before if child not in depth]
        if missing:
            open_nodes += missing
            continue
        leaf = not node.next_functions  # where the gradient is put into a tensor: not an operation
        depth[node] = 0 if leaf else 1 + max((depth[child] for child in before), default=0)
        open_nodes.pop()
    return depth[result.grad_fn]
