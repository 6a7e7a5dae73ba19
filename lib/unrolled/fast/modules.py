"""The networks of the book on the fast path: the same parameters under the same names, another forward.

``speed_up`` turns a network of the book into its fast twin in place, ``lesson`` turns it back.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from unrolled.attention import AdditiveScore, attention_weights, context
from unrolled.bert import EPS
from unrolled.bert_model import BertEmbedding, BertLayer, BertNorm
from unrolled.dropout import Dropout
from unrolled.fast import layers
from unrolled.fast.deep import states
from unrolled.fast.recurrent import rnn_forward
from unrolled.gated import GRU, LSTM, GRUParams, LSTMParams
from unrolled.gpt_model import GPT, Block
from unrolled.recurrent import RNN, RNNParams
from unrolled.transformer_model import (
    DecoderLayer,
    EncoderLayer,
    Norm,
    Transformer,
    TransformerDecoder,
    TransformerEncoder,
)
from unrolled.translators import AttentionSeq2Seq, Memory


class FastRNN(RNN):
    def forward(self, x: Tensor, h0: Tensor | None = None) -> Tensor:
        h0 = x.new_zeros(len(x), len(self.b)) if h0 is None else h0
        return rnn_forward(x, h0, RNNParams(self.W_xh, self.W_hh, self.b))


class FastLSTM(LSTM):
    def forward(self, x: Tensor) -> Tensor:
        return states(x, LSTMParams(self.W_x, self.W_h, self.b))


class FastGRU(GRU):
    def forward(self, x: Tensor) -> Tensor:
        return states(x, GRUParams(self.W_x, self.W_h, self.b, self.b_h), reset=self.reset)


class FastDropout(Dropout):
    def forward(self, x: Tensor) -> Tensor:
        return F.dropout(x, self.p, self.training)


class FastNorm(Norm):
    def forward(self, x: Tensor) -> Tensor:
        return layers.layer_norm(x, self.g, self.b)


class FastEncoderLayer(EncoderLayer):
    def forward(self, x: Tensor, mask: Tensor | None = None) -> tuple[Tensor, None]:
        return layers.encoder_layer(x, self.params, self.n_heads, mask, self.norm, self.drop)


class FastDecoderLayer(DecoderLayer):
    def forward(
        self, y: Tensor, memory: Tensor, tgt_mask: Tensor | None = None, src_mask: Tensor | None = None
    ) -> tuple[Tensor, None, None]:
        return layers.decoder_layer(y, memory, self.params, self.n_heads, tgt_mask, src_mask, self.norm, self.drop)


class FastTransformerEncoder(TransformerEncoder):
    def embed(self, ids: Tensor) -> Tensor:
        return _embed(self, ids)


class FastTransformerDecoder(TransformerDecoder):
    def embed(self, ids: Tensor) -> Tensor:
        return _embed(self, ids)


def _embed(stack: FastTransformerEncoder | FastTransformerDecoder, ids: Tensor) -> Tensor:
    """ids (B, T) -> (B, T, D); the gradient of a look-up by F.embedding is cheaper than that of E[ids]."""
    _fits(ids, stack.positions)
    D = stack.tokens.shape[1]
    return stack.drop(math.sqrt(D) * F.embedding(ids, stack.tokens) + stack.positions[: ids.shape[1]])


def _fits(ids: Tensor, positions: Tensor) -> None:
    if ids.shape[1] > len(positions):
        raise ValueError(f"{ids.shape[1]} steps, but there are positions for only {len(positions)}.")


class FastTransformer(Transformer):
    def look(self, src: Tensor, lengths: Tensor, y_in: Tensor) -> dict[str, list[Tensor]]:
        return _look(self, src, lengths, y_in)


class FastBlock(Block):
    def forward(self, x: Tensor) -> tuple[Tensor, None]:
        return layers.gpt_block(x, self.params, self.n_heads, self.drop)


class FastGPT(GPT):
    def embed(self, ids: Tensor, positions: Tensor) -> Tensor:
        if positions[-1] >= self.cfg.context:
            raise ValueError(f"There is no position {int(positions[-1])}: the context is {self.cfg.context} tokens.")
        return F.embedding(ids, self.tokens) + F.embedding(positions, self.positions)

    def look(self, ids: Tensor) -> list[Tensor]:
        return _look(self, ids)


def _look(model: nn.Module, *inputs: Tensor):
    """The attention weights, which only the lesson's layers keep."""
    lesson(model)
    try:
        return model.look(*inputs)
    finally:
        speed_up(model)


class FastBertNorm(BertNorm):
    def forward(self, x: Tensor) -> Tensor:
        return layers.layer_norm(x, self.g, self.b, EPS)


class FastBertEmbedding(BertEmbedding):
    def forward(self, ids: Tensor, segments: Tensor) -> Tensor:
        _fits(ids, self.positions)
        x = F.embedding(ids, self.tokens) + F.embedding(segments, self.segments) + self.positions[: ids.shape[1]]
        return self.drop(self.norm(x))


class FastBertLayer(BertLayer):
    def attend(self, x: Tensor, mask: Tensor | None, look: bool) -> tuple[Tensor, Tensor | None]:
        if look:
            return super().attend(x, mask, look)
        p, at = self.drop.p if self.training else 0.0, self.attention
        return layers.multi_head_attention(x, x, at.params, at.n_heads, mask, dropout=p), None


class FastAttentionSeq2Seq(AttentionSeq2Seq):
    def write(self, y_in: Tensor, s: Tensor, memory: Memory) -> tuple[Tensor, Tensor, Tensor]:
        if not isinstance(self.score, AdditiveScore):
            return super().write(y_in, s, memory)
        W, v = self.score.W.weight, self.score.v.weight[0]
        from_h, mask = self.score.U(memory.h), memory.mask[:, None]  # (B, S, A): the same at every step
        joined, looked = [], []
        for e in self.embedding(y_in).unbind(dim=1):  # (B, E)
            scores = torch.tanh(from_h + F.linear(s, W)[:, None]) @ v  # eq-score-additive: (B, S)
            alpha = attention_weights(scores[:, None], mask)  # (B, 1, S)
            c = context(alpha, memory.h)[:, 0]  # (B, C)
            s = self.gru(torch.cat([e, c], dim=1), s)
            joined.append(torch.cat([s, c], dim=1))
            looked.append(alpha)
        readout = torch.tanh(self.readout(torch.stack(joined, dim=1)))  # (B, T, H)
        return self.output(readout), s, torch.cat(looked, dim=1)


FAST = {
    RNN: FastRNN,
    LSTM: FastLSTM,
    GRU: FastGRU,
    Dropout: FastDropout,
    Norm: FastNorm,
    EncoderLayer: FastEncoderLayer,
    DecoderLayer: FastDecoderLayer,
    TransformerEncoder: FastTransformerEncoder,
    TransformerDecoder: FastTransformerDecoder,
    Transformer: FastTransformer,
    Block: FastBlock,
    GPT: FastGPT,
    BertNorm: FastBertNorm,
    BertEmbedding: FastBertEmbedding,
    BertLayer: FastBertLayer,
    AttentionSeq2Seq: FastAttentionSeq2Seq,
}
LESSON = {fast: slow for slow, fast in FAST.items()}


def speed_up(model: nn.Module) -> nn.Module:
    """Put a network and all layers in it on the fast path; parameters, their names and the results stay.

    Attention layers give None in the place of their weights; ``look`` still shows them. The gradient of a recurrent
    layer cannot be differentiated once more. What has no fast path stays as it is.

    >>> from unrolled.gpt import GPTConfig
    >>> model, ids = GPT(GPTConfig(V=7, context=5, D=6, n_heads=3, layers=2, d_ff=24)), torch.tensor([[1, 2, 4, 5]])
    >>> slow = model(ids)
    >>> torch.allclose(speed_up(model)(ids), slow, atol=1e-6), model.look(ids)[0].shape
    (True, torch.Size([1, 3, 4, 4]))
    """
    return _swap(model, FAST)


def lesson(model: nn.Module) -> nn.Module:
    """Undo ``speed_up``: every layer computes as its chapter says."""
    return _swap(model, LESSON)


def _swap(model: nn.Module, classes: dict[type, type]) -> nn.Module:
    for module in model.modules():
        module.__class__ = classes.get(type(module), type(module))
    return model
