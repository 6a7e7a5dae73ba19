"""Networks that read with one of torch's recurrent layers: ids in, scores at every step out (chapter 4)."""

from __future__ import annotations

import time

import torch
from torch import Tensor, nn


def recurrent_layer(kind: str, E: int, H: int, keep: float | None = None) -> nn.RNNBase:
    """One of torch's recurrent layers, batch first.

    Args:
        kind: "rnn", "identity" (a ReLU network whose state is copied at first), "lstm" or "gru".
        E: width of the inputs.
        H: width of the state.
        keep: the bias with which the gate that keeps the old content starts: the forget gate of an LSTM, torch's z of
            a GRU (z is 1 - u of deck 002, so in the deck's letters this is a bias of -keep). None: torch's own start.
    """
    if kind == "identity":
        layer = nn.RNN(E, H, nonlinearity="relu", batch_first=True)
        with torch.no_grad():
            layer.weight_hh_l0.copy_(torch.eye(H))
            layer.bias_ih_l0.zero_()
            layer.bias_hh_l0.zero_()
        return layer
    layer = {"rnn": nn.RNN, "lstm": nn.LSTM, "gru": nn.GRU}[kind](E, H, batch_first=True)
    if keep is not None:
        with torch.no_grad():  # second block in both: i, f, g, o and r, z, n
            layer.bias_ih_l0[H : 2 * H] = keep
            layer.bias_hh_l0[H : 2 * H] = 0
    return layer


class Reader(nn.Module):
    """Embedding, recurrent layer, output: ids (B, T) -> scores (B, T, V_out)."""

    def __init__(self, kind: str, V: int, E: int, H: int, V_out: int, keep: float | None = None):
        super().__init__()
        self.embedding, self.layer = nn.Embedding(V, E), recurrent_layer(kind, E, H, keep)
        self.output = nn.Linear(H, V_out)

    def forward(self, ids: Tensor) -> Tensor:
        return self.output(self.layer(self.embedding(ids))[0])


def milliseconds(layer: nn.Module, B: int = 32, T: int = 100, E: int = 64) -> float:
    """The fastest of five forward and backward passes over T steps."""
    x, times = torch.randn(B, T, E), []
    for _ in range(5):
        start = time.perf_counter()
        out = layer(x)
        (out[0] if isinstance(out, tuple) else out).sum().backward()
        times.append(time.perf_counter() - start)
    return 1000 * min(times)
