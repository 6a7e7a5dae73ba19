"""What is a head worth? Take it away and measure again (chapter 10)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import torch
from torch import nn

from unrolled.self_attention import MultiHeadAttention

Head = tuple[str, int]  # the name of a layer inside a model, and the number of a head in it


def heads_of(model: nn.Module) -> list[Head]:
    """All heads of a model.

    >>> heads_of(nn.ModuleDict({"reads": MultiHeadAttention(4, 2)}))
    [('reads', 0), ('reads', 1)]
    """
    layers = ((name, m) for name, m in model.named_modules() if isinstance(m, MultiHeadAttention))
    return [(name, n) for name, layer in layers for n in range(layer.n_heads)]


@contextmanager
def heads_removed(model: nn.Module, heads: Iterable[Head]) -> Iterator[None]:
    """Inside the ``with`` these heads say nothing: their columns of W_o are zero. Afterwards all is as it was.

    >>> layer, x = nn.ModuleDict({"reads": MultiHeadAttention(4, 2)}), torch.randn(1, 3, 4)
    >>> with heads_removed(layer, [("reads", 0), ("reads", 1)]):
    ...     silent = layer["reads"](x, x)[0]
    >>> torch.equal(silent[0, 1], layer["reads"].o.bias)
    True
    """
    kept = {}
    with torch.no_grad():
        for name, n in heads:
            layer = model.get_submodule(name)
            kept.setdefault(name, layer.o.weight.clone())
            K = layer.o.weight.shape[1] // layer.n_heads
            layer.o.weight[:, n * K : (n + 1) * K] = 0
    try:
        yield
    finally:
        with torch.no_grad():
            for name, weight in kept.items():
                model.get_submodule(name).o.weight.copy_(weight)
