"""The fast path of deep and bidirectional networks over padded batches (chapter 5), for RNN, LSTM and GRU alike."""

from __future__ import annotations

import torch
from torch import Tensor

from unrolled.fast.gru import gru_forward
from unrolled.fast.recurrent import lstm_forward, rnn_forward
from unrolled.gated import GRUParams, LSTMParams
from unrolled.recurrent import RNNParams

Params = RNNParams | LSTMParams | GRUParams


def states(x: Tensor, params: Params, lengths: Tensor | None = None, reset: str = "before") -> Tensor:
    """All states (B, T, H) of one layer, from zeros; lengths as in ``fast.recurrent.rnn_forward``."""
    W_h = params.W_hh if isinstance(params, RNNParams) else params.W_h
    h = x.new_zeros(len(x), W_h.shape[1])
    if isinstance(params, RNNParams):
        return rnn_forward(x, h, params, lengths)
    if isinstance(params, LSTMParams):
        return lstm_forward(x, h, h, params, lengths)
    return gru_forward(x, h, params, reset, lengths)


def stack(layers: list[Params], x: Tensor, reset: str = "before") -> Tensor:
    """What ``unrolled.deep.stack`` gives, faster: (B, T, E) -> the states (B, T, H) of the top layer."""
    for params in layers:
        x = states(x, params, reset=reset)
    return x


def birnn(x: Tensor, lengths: Tensor, f: Params, b: Params, reset: str = "before") -> Tensor:
    """What ``unrolled.deep.birnn`` gives, faster: a row that has ended costs no more steps.

    >>> from unrolled import deep
    >>> f, b = (RNNParams(torch.randn(4, 3), torch.randn(4, 4), torch.randn(4)) for _ in range(2))
    >>> x, lengths = torch.randn(2, 5, 3), torch.tensor([3, 5])
    >>> torch.allclose(birnn(x, lengths, f, b), deep.birnn(x, lengths, f, b), atol=1e-6)
    True
    """
    return deep_birnn(x, lengths, [(f, b)], reset)


def deep_birnn(x: Tensor, lengths: Tensor, layers: list[tuple[Params, Params]], reset: str = "before") -> Tensor:
    """What ``unrolled.deep.deep_birnn`` gives, faster: (B, T, E) -> (B, T, H_f + H_b), zeros at the pads."""
    B, T, _ = x.shape
    n, order = lengths.sort(descending=True, stable=True)  # longest first: the rows that are alive are the first ones
    row, t = torch.arange(B)[:, None], torch.arange(T)
    turned = torch.where(t < n[:, None], n[:, None] - 1 - t, t)  # (B, T): real steps turned round, pads in place
    h = x[order]
    for f, b in layers:
        h_f = states(h, f, n, reset)  # (B, T, H_f)
        h_b = states(h[row, turned], b, n, reset)[row, turned]  # (B, T, H_b)
        h = torch.cat([h_f, h_b], dim=-1)
    return h[order.argsort()]
