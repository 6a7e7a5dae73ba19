"""The peers: torch's own modules put together to what ours do, and a decoder with attention as d2l describes it.

They have as many parameters as ours and get the same inputs; nothing is dropped on either side.
"""

from __future__ import annotations

import math
import warnings

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from unrolled.gpt import GPTConfig
from unrolled.positions import sinusoidal_positions


class Padded(nn.Module):
    """A bidirectional layer of torch over a padded batch, packed and unpacked."""

    def __init__(self, layer: nn.RNNBase):
        super().__init__()
        self.layer = layer

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        return pad_packed_sequence(self.layer(packed)[0], batch_first=True, total_length=x.shape[1])[0]


class AdditiveDecoder(nn.Module):
    """A decoder with Bahdanau's attention in the plain way: each step asks a layer that projects query and keys."""

    def __init__(self, V: int, E: int, H: int, C: int, A: int):
        super().__init__()
        self.embedding, self.gru = nn.Embedding(V, E), nn.GRUCell(E + C, H)
        self.W_query, self.W_key, self.w_value = (nn.Linear(n, m, bias=False) for n, m in ((H, A), (C, A), (A, 1)))
        self.readout, self.output = nn.Linear(H + C, H, bias=False), nn.Linear(H, V)

    def attend(self, query: Tensor, states: Tensor, lengths: Tensor) -> Tensor:
        """query (B, 1, H), states (B, S, C) -> (B, C)."""
        features = torch.tanh(self.W_query(query).unsqueeze(2) + self.W_key(states).unsqueeze(1))  # (B, 1, S, A)
        scores = self.w_value(features).squeeze(-1)  # (B, 1, S)
        past_the_end = torch.arange(states.shape[1]) >= lengths[:, None, None]
        weights = torch.softmax(scores.masked_fill(past_the_end, -1e6), dim=-1)
        return torch.bmm(weights, states).squeeze(1)

    def forward(self, y_in: Tensor, s: Tensor, states: Tensor, lengths: Tensor) -> Tensor:
        said = []
        for e in self.embedding(y_in).unbind(1):
            c = self.attend(s.unsqueeze(1), states, lengths)
            s = self.gru(torch.cat([e, c], dim=-1), s)
            said.append(torch.cat([s, c], dim=-1))
        return self.output(torch.tanh(self.readout(torch.stack(said, dim=1))))


class TorchTransformer(nn.Module):
    """``nn.Transformer`` between tables of words and a layer of scores."""

    def __init__(self, V: int, D: int, n_heads: int, layers: int, d_ff: int, longest: int):
        super().__init__()
        self.source, self.target, self.output = nn.Embedding(V, D), nn.Embedding(V, D), nn.Linear(D, V)
        warnings.filterwarnings("ignore", "enable_nested_tensor")  # nn.Transformer has no argument to switch it off
        self.body = nn.Transformer(D, n_heads, layers, layers, d_ff, dropout=0.0, batch_first=True, norm_first=True)
        self.register_buffer("positions", sinusoidal_positions(longest, D))

    def forward(self, src: Tensor, y_in: Tensor) -> Tensor:
        T, root = y_in.shape[1], math.sqrt(self.positions.shape[1])
        pads, later = src == 0, torch.ones(T, T, dtype=torch.bool).triu(1)
        x, y = (
            root * table(z) + self.positions[: z.shape[1]] for table, z in ((self.source, src), (self.target, y_in))
        )
        out = self.body(
            x, y, tgt_mask=later, src_key_padding_mask=pads, memory_key_padding_mask=pads, tgt_is_causal=True
        )
        return self.output(out)


def encoder(D: int, n_heads: int, layers: int, d_ff: int, norm_first: bool) -> nn.TransformerEncoder:
    layer = nn.TransformerEncoderLayer(
        D, n_heads, d_ff, dropout=0.0, activation="gelu", batch_first=True, norm_first=norm_first
    )
    return nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)


class TorchGPT(nn.Module):
    """A stack of ``nn.TransformerEncoderLayer`` under a causal mask, with tied scores."""

    def __init__(self, cfg: GPTConfig):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(cfg.V, cfg.D), nn.Embedding(cfg.context, cfg.D)
        self.body, self.last = encoder(cfg.D, cfg.n_heads, cfg.layers, cfg.d_ff, True), nn.LayerNorm(cfg.D)

    def forward(self, ids: Tensor) -> Tensor:
        T = ids.shape[1]
        mask = nn.Transformer.generate_square_subsequent_mask(T)
        x = self.body(self.tokens(ids) + self.positions(torch.arange(T)), mask, is_causal=True)
        return F.linear(self.last(x), self.tokens.weight)


class TorchBert(nn.Module):
    """The same stack with the norm after, three tables, and BERT's two heads."""

    def __init__(self, V: int, D: int, n_heads: int, layers: int, d_ff: int, longest: int):
        super().__init__()
        self.tokens, self.segments, self.positions = nn.Embedding(V, D), nn.Embedding(2, D), nn.Embedding(longest, D)
        self.norm, self.body = nn.LayerNorm(D), encoder(D, n_heads, layers, d_ff, False)
        self.pooler, self.follows, self.transform = nn.Linear(D, D), nn.Linear(D, 2), nn.Linear(D, D)
        self.head_norm, self.bias = nn.LayerNorm(D), nn.Parameter(torch.zeros(V))

    def forward(self, ids: Tensor, segments: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        places = self.positions(torch.arange(ids.shape[1]))
        x = self.body(self.norm(self.tokens(ids) + self.segments(segments) + places), src_key_padding_mask=~mask)
        words = F.linear(self.head_norm(F.gelu(self.transform(x))), self.tokens.weight, self.bias)
        return words, self.follows(torch.tanh(self.pooler(x[:, 0])))
