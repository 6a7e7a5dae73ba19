"""A decoder that steps first and looks then: the other convention for the query (chapter 7)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from unrolled.attention import attention_weights, context
from unrolled.translators import AttentionSeq2Seq, Memory


class LateQuerySeq2Seq(AttentionSeq2Seq):
    r"""The query is the state **after** the step, as in deck 000; so it has read the token before.

    $$ s_i = \mathrm{GRU}(W_e[y_{i-1}],\; s_{i-1}), \qquad \alpha_i = \mathrm{softmax}_j f(s_i, h_j), \qquad
       o_i = W_{hy} \tanh(W_r (s_i \oplus c_i)) + b_y $$

    What was found, c_i, comes too late for s_i: only the readout gets it. All states of the decoder can be computed
    before the first look. Arguments as for AttentionSeq2Seq.
    """

    def __init__(self, reader: nn.Module, score: nn.Module, V: int, E: int, H: int):
        super().__init__(reader, score, V, E, H)
        self.gru = nn.GRU(E, H, batch_first=True)

    def write(self, y_in: Tensor, s: Tensor, memory: Memory) -> tuple[Tensor, Tensor, Tensor]:
        states, last = self.gru(self.embedding(y_in), s[None])  # (B, T, H)
        alpha = attention_weights(self.score(states, memory.h), memory.mask[:, None])  # (B, T, S)
        joined = torch.cat([states, context(alpha, memory.h)], dim=2)  # (B, T, H + C)
        return self.output(torch.tanh(self.readout(joined))), last[0], alpha
