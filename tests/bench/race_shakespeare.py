"""Learning per minute on tinyshakespeare: our LSTM and our GPT, each against nanoGPT's recipe for a processor.

The peer's settings are those that nanoGPT's README (https://github.com/karpathy/nanoGPT) gives for a machine without a
GPU: 4 blocks of 4 heads, width 128, 12 windows of 64 characters per update, 2000 updates, no dropout; the step size
falls to its lowest over these 2000. The rest are the defaults of its configuration for Shakespeare's characters and of
its training script: step size 1e-3 after 100 updates of warm-up, falling along a cosine to 1e-4; AdamW with betas 0.9
and 0.99, weight decay 0.1 on matrices, gradients clipped at 1; no biases; normal weights of 0.02, smaller by the root
of 8 where a block adds to its input; one matrix for embedding and output. Rewritten here with torch's modules, its
fused attention and its fused AdamW, so that it is not slower than it need be. Its vocabulary has two ids more (pad and
unknown), which are never used.

nanoGPT looks at random windows of 64 characters, the first of which are guessed from almost nothing. Here, windows go
on by 32 and only their second half counts, which is kinder to it: every guess is made from at least 33 characters.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from learning import Learner, train
from learning_shakespeare import UNIT, Recipe, V, gpt_learner, learner, streams, texts, windows_error
from race import Race
from torch import Tensor, nn

LAYERS, N, D, T, B = 4, 4, 128, 64, 12  # blocks, heads, width, context, windows per update
UPDATES, WARMUP, PEAK, FLOOR = 2000, 100, 1e-3, 1e-4


class Block(nn.Module):
    """Attention and feed-forward network, each after a norm and added to its input."""

    def __init__(self):
        super().__init__()
        self.norm_1, self.norm_2 = nn.LayerNorm(D, bias=False), nn.LayerNorm(D, bias=False)
        self.qkv, self.o = nn.Linear(D, 3 * D, bias=False), nn.Linear(D, D, bias=False)
        self.up, self.down = nn.Linear(D, 4 * D, bias=False), nn.Linear(4 * D, D, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.qkv(self.norm_1(x)).unflatten(-1, (3, N, D // N)).permute(2, 0, 3, 1, 4)  # (B, N, T, K) each
        heads = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.o(heads.transpose(1, 2).flatten(2))  # (B, T, D)
        return x + self.down(F.gelu(self.up(self.norm_2(x))))


class NanoGPT(nn.Module):
    """The peer's network: 804 thousand parameters."""

    def __init__(self):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(V, D), nn.Embedding(T, D)
        self.blocks = nn.Sequential(*(Block() for _ in range(LAYERS)))
        self.norm, self.output = nn.LayerNorm(D, bias=False), nn.Linear(D, V, bias=False)
        self.output.weight = self.tokens.weight
        for name, weight in self.named_parameters():
            if weight.dim() == 2:
                added = name.endswith(("o.weight", "down.weight"))
                nn.init.normal_(weight, std=0.02 / math.sqrt(2 * LAYERS) if added else 0.02)

    def forward(self, ids: Tensor) -> Tensor:
        """ids (B, T) -> scores (B, T, V)."""
        x = self.tokens(ids) + self.positions.weight[: ids.shape[1]]  # (B, T, D)
        return self.output(self.norm(self.blocks(x)))


def step_size(done: int) -> float:
    """Up in a straight line, then down along half a cosine."""
    if done < WARMUP:
        return PEAK * (done + 1) / (WARMUP + 1)
    return FLOOR + (PEAK - FLOOR) * (1 + math.cos(math.pi * (done - WARMUP) / (UPDATES - WARMUP))) / 2


def nano_gpt(seed: int) -> Learner:
    model = NanoGPT()
    matrices = [weight for weight in model.parameters() if weight.dim() == 2]
    vectors = [weight for weight in model.parameters() if weight.dim() == 1]
    groups = [{"params": matrices, "weight_decay": 0.1}, {"params": vectors, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, betas=(0.9, 0.99), fused=True)
    batches = streams(texts()[0], B, T, 1, torch.Generator().manual_seed(seed))

    losses = (F.cross_entropy(model(x).flatten(0, 1), y.flatten()) for x, y, _ in batches)
    updates = train(losses, [optimizer], UPDATES, step_size, clipped=[*model.parameters()])
    return Learner(updates, lambda: windows_error(model, T), every=100)


RACES = [
    Race("tinyshakespeare against nanoGPT", UNIT, "nanoGPT", lambda seed: learner(Recipe(), seed), nano_gpt, ""),
    Race("tinyshakespeare, GPT against nanoGPT", UNIT, "nanoGPT", gpt_learner, nano_gpt, ""),
]
