"""English to French against the three translators of *Dive into Deep Learning* (Zhang, Lipton, Li and Smola, 2023).

Data, split, vocabularies and score are those of ``learning_french``; the peers read and write them as the book does:
sources end with EOS, both sides are padded or cut to 9 steps, and every step is computed, those of the pads too. The
settings are the book's (https://d2l.ai, second edition): batches of 128 in random order, Adam with a constant step
size, gradients clipped to a length of 1, 30 times through the training pairs, dropout 0.2, greedy writing.

- GRU, section 10.7: embedding and state 256 wide, 2 layers, Xavier weights, step size 0.005. The state after the last
  of the 9 steps is the context; the decoder starts from the states of both layers and reads the context at every step.
- Bahdanau, section 11.4: the same sizes and step size; additive attention with dropout on its weights, masked at the
  pads; the query is the upper state of the step before.
- Transformer, section 11.7: width 256, 2 blocks on each side, 4 heads without biases, 64 hidden features, norm after
  the sum, sinusoidal positions, step size 0.0015.

The loss of section 10.7 leaves the pads out. That loss is defined in the section but not kept in the book's package,
whose ``Seq2Seq`` the two later sections train: their loss counts the pads like words, here as there.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

import torch
import torch.nn.functional as F
from learning import Learner, train
from learning_french import ATTENTION, LOOKS, PLAIN, STEPS, UNIT, Recipe, bleu_error, data, learner, padded
from race import Race
from torch import Tensor, nn

from unrolled.positions import sinusoidal_positions
from unrolled.seq2seq import shift_right
from unrolled.translators import BOS, EOS, PAD, Memory

WIDTH, LAYERS, HEADS, HIDDEN, DROPOUT = 256, 2, 4, 64, 0.2
BATCH, EPOCHS = 128, 30


def xavier(model: nn.Module) -> None:
    """Uniform weights after Glorot for linear layers and GRUs, as section 10.7 draws them."""
    for module in model.modules():
        if isinstance(module, (nn.Linear, nn.GRU)):
            for name, weight in module.named_parameters(recurse=False):
                if "weight" in name:
                    nn.init.xavier_uniform_(weight)


class GRUPeer(nn.Module):
    """Section 10.7: an encoder and a decoder of two GRUs each."""

    def __init__(self, V_src: int, V_tgt: int):
        super().__init__()
        self.source, self.target = nn.Embedding(V_src, WIDTH), nn.Embedding(V_tgt, WIDTH)
        self.encoder = nn.GRU(WIDTH, WIDTH, LAYERS, dropout=DROPOUT)
        self.decoder = nn.GRU(2 * WIDTH, WIDTH, LAYERS, dropout=DROPOUT)
        self.output = nn.Linear(WIDTH, V_tgt)
        xavier(self)

    def start(self, src: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        h = self.encoder(self.source(src.T))[1]  # (2, B, H), after the pads
        return h, h[-1]

    def write(self, y_in: Tensor, h: Tensor, c: Tensor) -> tuple[Tensor, Tensor]:
        x = self.target(y_in.T)  # (T, B, E)
        hs, h = self.decoder(torch.cat([x, c.expand(len(x), -1, -1)], dim=2), h)
        return self.output(hs).transpose(0, 1), h  # (B, T, V)

    def step(self, y: Tensor, h: Tensor, c: Tensor) -> tuple[Tensor, Tensor]:
        scores, h = self.write(y[:, None], h, c)
        return scores[:, 0], h

    def forward(self, src: Tensor, lengths: Tensor, y_in: Tensor) -> Tensor:
        return self.write(y_in, *self.start(src, lengths))[0]


class BahdanauPeer(GRUPeer):
    """Section 11.4: the decoder looks at the encoder's upper states before every step."""

    def __init__(self, V_src: int, V_tgt: int):
        super().__init__(V_src, V_tgt)
        self.key, self.query, self.v = (nn.Linear(WIDTH, n, bias=False) for n in (WIDTH, WIDTH, 1))
        self.drop = nn.Dropout(DROPOUT)
        for layer in (self.key, self.query, self.v):
            xavier(layer)

    def start(self, src: Tensor, lengths: Tensor) -> tuple[Tensor, Memory]:
        states, h = self.encoder(self.source(src.T))  # (S, B, H), (2, B, H)
        return h, Memory(states.transpose(0, 1), torch.arange(src.shape[1]) < lengths[:, None])

    def write(self, y_in: Tensor, h: Tensor, memory: Memory) -> tuple[Tensor, Tensor]:
        keys, outputs = self.key(memory.h), []  # (B, S, H): the same at every step
        for x in self.target(y_in.T):  # (B, E)
            scores = self.v(torch.tanh(keys + self.query(h[-1])[:, None]))[..., 0]  # (B, S)
            weights = self.drop(scores.masked_fill(~memory.mask, -1e6).softmax(dim=1))
            c = (weights[:, None] @ memory.h)[:, 0]  # (B, H)
            out, h = self.decoder(torch.cat([c, x], dim=1)[None], h)
            outputs.append(out[0])
        return self.output(torch.stack(outputs, dim=1)), h  # (B, T, V)


class Attention(nn.Module):
    """Four heads without biases, dropout on the weights."""

    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(4))

    def forward(self, x: Tensor, memory: Tensor, mask: Tensor) -> Tensor:
        parts = self.q(x), self.k(memory), self.v(memory)
        q, k, v = (part.unflatten(2, (HEADS, -1)).transpose(1, 2) for part in parts)  # (B, N, T, K)
        p = DROPOUT if self.training else 0.0
        return self.o(F.scaled_dot_product_attention(q, k, v, mask, p).transpose(1, 2).flatten(2))


class Block(nn.Module):
    """Attention to itself, in a decoder then to the source, and a feed-forward network; each is added and normed."""

    def __init__(self, decoder: bool):
        super().__init__()
        self.attentions = nn.ModuleList(Attention() for _ in range(1 + decoder))
        self.norms = nn.ModuleList(nn.LayerNorm(WIDTH) for _ in range(2 + decoder))
        self.wide = nn.Sequential(nn.Linear(WIDTH, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, WIDTH))
        self.drop = nn.Dropout(DROPOUT)

    def forward(self, x: Tensor, mask: Tensor, memory: Tensor | None = None, src_mask: Tensor | None = None) -> Tensor:
        x = self.norms[0](x + self.drop(self.attentions[0](x, x, mask)))
        if memory is not None:
            x = self.norms[1](x + self.drop(self.attentions[1](x, memory, src_mask)))
        return self.norms[-1](x + self.drop(self.wide(x)))


class TransformerPeer(nn.Module):
    """Section 11.7."""

    def __init__(self, V_src: int, V_tgt: int):
        super().__init__()
        self.source, self.target = nn.Embedding(V_src, WIDTH), nn.Embedding(V_tgt, WIDTH)
        self.reading = nn.ModuleList(Block(decoder=False) for _ in range(LAYERS))
        self.writing = nn.ModuleList(Block(decoder=True) for _ in range(LAYERS))
        self.output, self.drop = nn.Linear(WIDTH, V_tgt), nn.Dropout(DROPOUT)
        self.register_buffer("positions", sinusoidal_positions(STEPS, WIDTH))

    def placed(self, x: Tensor) -> Tensor:
        return self.drop(x * math.sqrt(WIDTH) + self.positions[: x.shape[1]])

    def start(self, src: Tensor, lengths: Tensor) -> tuple[Tensor, Memory]:
        real = torch.arange(src.shape[1]) < lengths[:, None]  # (B, S)
        x = self.placed(self.source(src))
        for block in self.reading:
            x = block(x, real[:, None, None])
        return src[:, :0], Memory(x, real)

    def write(self, y_in: Tensor, memory: Memory) -> Tensor:
        T = y_in.shape[1]
        y, causal = self.placed(self.target(y_in)), torch.ones(T, T, dtype=torch.bool).tril()
        for block in self.writing:
            y = block(y, causal, memory.h, memory.mask[:, None, None])
        return y  # (B, T, D)

    def step(self, y: Tensor, written: Tensor, memory: Memory) -> tuple[Tensor, Tensor]:
        written = torch.cat([written, y[:, None]], dim=1)
        return self.output(self.write(written, memory)[:, -1]), written

    def forward(self, src: Tensor, lengths: Tensor, y_in: Tensor) -> Tensor:
        return self.output(self.write(y_in, self.start(src, lengths)[1]))


def peer(model: type[nn.Module], lr: float, pads: bool, seed: int) -> Learner:
    """A learner of the book; with ``pads`` its loss counts the pads too."""
    torch.manual_seed(seed)
    known = data()
    sides = known.sources, known.targets, known.asked
    (src, lengths), (y, _), asked = (padded([[*ids, EOS] for ids in side]) for side in sides)
    net = model(len(known.source), len(known.target))
    optimizer = torch.optim.Adam(net.parameters(), fused=True)

    def losses() -> Iterator[Tensor]:
        while True:
            for rows in torch.randperm(len(src)).split(BATCH):
                y_in, targets = shift_right(y[rows], BOS)
                scores = net(src[rows], lengths[rows], y_in)  # (B, 9, V)
                yield F.cross_entropy(scores.flatten(0, 1), targets.flatten(), ignore_index=-100 if pads else PAD)

    n = EPOCHS * math.ceil(len(src) / BATCH)
    updates = train(losses(), [optimizer], n, lambda done: lr, clipped=[*net.parameters()])
    return Learner(updates, lambda: bleu_error(net, *asked), n // LOOKS)


PLAINLY, ATTENTIVE, TRANSFORMER = (partial(learner, recipe) for recipe in (PLAIN, ATTENTION, Recipe()))
GRU_BOOK = partial(peer, GRUPeer, 0.005, False)
BAHDANAU_BOOK = partial(peer, BahdanauPeer, 0.005, True)
TRANSFORMER_BOOK = partial(peer, TransformerPeer, 0.0015, True)
WHY = "5,000 pairs are few, and BLEU on 500 short sentences moves by a point or two from look to look"
RACES = [
    Race("French against d2l's GRU", UNIT, "d2l's GRU", PLAINLY, GRU_BOOK, WHY),
    Race("French against d2l's Bahdanau", UNIT, "d2l's Bahdanau", ATTENTIVE, BAHDANAU_BOOK, WHY),
    Race("French against d2l's Transformer", UNIT, "d2l's Transformer", TRANSFORMER, TRANSFORMER_BOOK, WHY),
    Race("French, our Transformer against d2l's GRU", UNIT, "d2l's GRU", TRANSFORMER, GRU_BOOK, WHY),
    Race("French, our Transformer against d2l's Bahdanau", UNIT, "d2l's Bahdanau", TRANSFORMER, BAHDANAU_BOOK, WHY),
]
