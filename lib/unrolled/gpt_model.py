"""A GPT that can be trained, and that writes with a cache of keys and values (chapter 11).

It is built as GPT-2: tied output matrix, learned positions, norms before, GELU. ``generate`` is given ``GPT.read``.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from unrolled.dropout import Dropout
from unrolled.gpt import GPTConfig, gpt_block
from unrolled.masks import causal_mask
from unrolled.normalisation import layer_norm
from unrolled.self_attention import merge_heads, scaled_dot_product_attention, split_heads
from unrolled.transformer import EncoderLayerParams
from unrolled.transformer_model import EncoderLayer, Norm


def read_block(x: Tensor, params: EncoderLayerParams, n_heads: int, past: Tensor) -> tuple[Tensor, Tensor]:
    """What ``gpt_block`` gives for the new steps alone, if the keys and values of the earlier ones are known.

    Args:
        x: (B, t, D) the new steps.
        params, n_heads: as in ``gpt_block``.
        past: (B, P, 2 D) keys and values of the P earlier steps side by side; P may be 0.

    Returns:
        y: (B, t, D).
        kv: (B, t, 2 D) keys and values of the new steps.
    """
    attention, (W_1, b_1, W_2, b_2), norm_1, norm_2 = params
    z = layer_norm(x, *norm_1)
    kv = torch.cat([z @ attention.W_k.T + attention.b_k, z @ attention.W_v.T + attention.b_v], dim=-1)  # (B, t, 2 D)
    k, v = torch.cat([past, kv], dim=1).chunk(2, dim=-1)  # (B, P + t, D) each
    q = z @ attention.W_q.T + attention.b_q  # (B, t, D)
    mask = causal_mask(k.shape[1])[past.shape[1] :]  # (t, P + t)
    heads, _ = scaled_dot_product_attention(*(split_heads(part, n_heads) for part in (q, k, v)), mask)
    a = x + merge_heads(heads) @ attention.W_o.T + attention.b_o
    hidden = F.gelu(layer_norm(a, *norm_2) @ W_1.T + b_1)  # (B, t, F)
    return a + hidden @ W_2.T + b_2, kv


class Block(EncoderLayer):
    """A layer with the parameters of ``gpt_block``: those of an encoder layer."""

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """x (B, T, D) -> y (B, T, D) and weights (B, N, T, T)."""
        return gpt_block(x, self.params, self.n_heads, self.drop)


class GPT(nn.Module):
    """A language model that reads from left to right.

    All weights start as normal numbers, biases as zeros; what is added to the stream of vectors, 2 L times in L
    blocks, starts smaller by the root of that number. At a width of 768 the spread is 0.02, as in GPT-2; narrower
    models start with larger numbers, by one over the root of the width.

    Args:
        cfg: the sizes.
        dropout: the probability that a feature is dropped, after the embedding and after each half of a block.

    >>> cfg = GPTConfig(V=7, context=5, D=6, n_heads=3, layers=2, d_ff=24)
    >>> model, ids = GPT(cfg), torch.tensor([[1, 2, 4, 5]])
    >>> model(ids).shape, [weights.shape for weights in model.look(ids)]
    (torch.Size([1, 4, 7]), [torch.Size([1, 3, 4, 4]), torch.Size([1, 3, 4, 4])])
    >>> logits, kv = model.read(ids, torch.arange(4), None)  # 2 layers, keys and values, 6 wide
    >>> kv.shape
    torch.Size([1, 4, 24])
    """

    def __init__(self, cfg: GPTConfig, dropout: float = 0.0):
        super().__init__()
        self.cfg = cfg
        self.tokens = nn.Parameter(torch.empty(cfg.V, cfg.D))  # read, and compared with at the end
        self.positions = nn.Parameter(torch.empty(cfg.context, cfg.D))
        self.blocks = nn.ModuleList(Block(cfg.D, cfg.n_heads, cfg.d_ff, "pre", dropout) for _ in range(cfg.layers))
        self.last, self.drop = Norm(cfg.D), Dropout(dropout)
        self.initialise()

    def initialise(self) -> None:
        std = 0.02 * math.sqrt(768 / self.cfg.D)
        nn.init.normal_(self.tokens, std=std)
        nn.init.normal_(self.positions, std=std)
        for block in self.blocks:
            for layer in block.modules():
                if isinstance(layer, nn.Linear):
                    added = layer is block.attention.o or layer is block.back
                    nn.init.normal_(layer.weight, std=std / math.sqrt(2 * self.cfg.layers) if added else std)
                    nn.init.zeros_(layer.bias)

    def embed(self, ids: Tensor, positions: Tensor) -> Tensor:
        """ids (B, T), positions (T,) -> (B, T, D)."""
        if positions[-1] >= self.cfg.context:
            raise ValueError(f"There is no position {int(positions[-1])}: the context is {self.cfg.context} tokens.")
        return self.tokens[ids] + self.positions[positions]

    def run(self, ids: Tensor) -> tuple[Tensor, list[Tensor]]:
        """Scores (B, T, V), and the weights (B, N, T, T) of every layer."""
        x, seen = self.drop(self.embed(ids, torch.arange(ids.shape[1]))), []
        for block in self.blocks:
            x, weights = block(x)
            seen.append(weights)
        return self.last(x) @ self.tokens.T, seen

    def forward(self, ids: Tensor) -> Tensor:
        """ids (B, T) -> scores (B, T, V) of the token after each."""
        return self.run(ids)[0]

    @torch.no_grad()
    def look(self, ids: Tensor) -> list[Tensor]:
        """The weights (B, N, T, T) of every layer."""
        return self.run(ids)[1]

    @torch.no_grad()
    def read(self, ids: Tensor, positions: Tensor, past: Tensor | None) -> tuple[Tensor, Tensor]:
        """New tokens after those whose keys and values are known; nothing is dropped.

        Args:
            ids: (B, t) the new tokens.
            positions: (t,) their places.
            past: (B, P, 2 L D) keys and values of the P tokens before them, layer by layer; None if there are none.

        Returns:
            logits: (B, t, V).
            kv: (B, t, 2 L D) keys and values of the new tokens.
        """
        x, kvs = self.embed(ids, positions), []
        if past is None:
            past = x.new_zeros(len(ids), 0, 2 * self.cfg.layers * self.cfg.D)
        for block, known in zip(self.blocks, past.chunk(self.cfg.layers, dim=-1), strict=True):
            x, kv = read_block(x, block.params, block.n_heads, known)
            kvs.append(kv)
        return self.last(x) @ self.tokens.T, torch.cat(kvs, dim=-1)
