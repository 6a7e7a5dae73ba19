"""The fast path of the RNN and the LSTM: the same numbers as chapters 1 and 4, with little left inside the time loop.

Three things leave the loop. What the inputs say to all gates is one matrix product for all steps. The gradient is
written by hand (chapter 2 derives it), so that all slopes are computed for all steps at once. And the gradient of the
recurrent matrix, a sum over all steps, is one matrix product after the loop. Time comes first in here: (T, B, H).
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable

from unrolled.gated import LSTMParams
from unrolled.recurrent import RNNParams

sigmoid_backward, tanh_backward = (
    torch.ops.aten.sigmoid_backward,
    torch.ops.aten.tanh_backward,
)  # d y (1 - y), d (1 - y²)


def rows_alive(x: Tensor, lengths: Tensor | None) -> list[int]:
    """How many rows are real at each step of x (B, T, E); rows come longest first, so these are the first ones."""
    B, T, _ = x.shape
    return [B] * T if lengths is None else (lengths > torch.arange(T)[:, None]).sum(dim=1).tolist()


def steps(x: Tensor, alive: list[int]) -> list[Tensor]:
    """(T, B, ...) -> for every step the rows that are alive, (n, ...)."""
    return [x_t if n == len(x_t) else x_t[:n] for x_t, n in zip(x.unbind(0), alive, strict=True)]


def room(like: Tensor, *shape: int, alive: list[int]) -> Tensor:
    """Memory for (T, B, ...): zeros if some rows end early, for these are never written."""
    return like.new_empty(shape) if alive[-1] == shape[1] else like.new_zeros(shape)


def tanh(x: Tensor, out: Tensor) -> Tensor:
    """tanh x = 2 σ(2x) - 1: on wide layers these four passes take less than half the time of torch's tanh."""
    return torch.mul(x, 2, out=out).sigmoid_().mul_(2).sub_(1)


def from_inputs(x: Tensor, W_x: Tensor, b: Tensor) -> Tensor:
    """What the inputs (B, T, E) say to all gates at all steps: (T, B, G)."""
    return F.linear(x.transpose(0, 1), W_x, b)


class _Recurrence(torch.autograd.Function):
    """h_t = tanh(a_t + W_h h_{t-1}): a (T, B, H), h0 (B, H), W_h (H, H) -> (T, B, H), zeros where a row has ended."""

    @staticmethod
    def forward(ctx, a: Tensor, h0: Tensor, W_h: Tensor, alive: list[int]) -> Tensor:
        states = room(a, len(a) + 1, *h0.shape, alive=alive)  # h_0 to h_T
        states[0] = h0
        h_prev, h, W = steps(states[:-1], alive), steps(states[1:], alive), W_h.T
        for t, a_t in enumerate(steps(a, alive)):
            tanh(torch.addmm(a_t, h_prev[t], W, out=h[t]), out=h[t])  # eq-rnn-step
        ctx.save_for_backward(states, W_h)
        ctx.alive = alive
        return states[1:]

    @staticmethod
    @once_differentiable
    def backward(ctx, d_out: Tensor):
        (states, W_h), alive = ctx.saved_tensors, ctx.alive
        d_a = room(states, *d_out.shape, alive=alive)
        d, d_out, h = steps(d_a, alive), steps(d_out, alive), steps(states[1:], alive)
        for t in reversed(range(len(d))):
            d_h = d_out[t]
            if t + 1 < len(d):
                d_h = torch.addmm(d_h, d_a[t + 1, : len(d_h)], W_h)
            tanh_backward(d_h, h[t], grad_input=d[t])
        return d_a, d_a[0] @ W_h, d_a.flatten(0, 1).T @ states[:-1].flatten(0, 1), None


def rnn_forward(x: Tensor, h0: Tensor, params: RNNParams, lengths: Tensor | None = None) -> Tensor:
    """What ``unrolled.recurrent.rnn_forward`` gives, faster.

    Args:
        x: (B, T, E) inputs.
        h0: (B, H) the states before the first step.
        params: as in chapter 1, with tanh.
        lengths: (B,) the real steps of each row, longest row first; afterwards states are zeros. None: all steps.

    >>> from unrolled.recurrent import RNN
    >>> x, layer = torch.randn(2, 5, 3), RNN(3, 4)
    >>> params = RNNParams(layer.W_xh, layer.W_hh, layer.b)
    >>> torch.allclose(rnn_forward(x, torch.zeros(2, 4), params), layer(x), atol=1e-6)
    True
    """
    if params.phi is not torch.tanh:
        raise ValueError("The fast path knows the slope of tanh only; take unrolled.recurrent.rnn_forward.")
    a = from_inputs(x, params.W_xh, params.b)  # (T, B, H)
    return _Recurrence.apply(a, h0, params.W_hh, rows_alive(x, lengths)).transpose(0, 1)  # (B, T, H)


class _LSTM(torch.autograd.Function):
    """x (T, B, E), h0, c0 (B, H), W (4H, E + H) and b (4H,) in the order o, f, i, g -> states (T, B, H)."""

    @staticmethod
    def forward(ctx, x: Tensor, h0: Tensor, c0: Tensor, W: Tensor, b: Tensor, alive: list[int]) -> Tensor:
        (T, B, E), H = x.shape, h0.shape[1]
        inputs, cells = room(x, T + 1, B, E + H, alive=alive), room(x, T + 1, B, H, alive=alive)  # inputs: x_t, h_{t-1}
        inputs[:-1, :, :E], inputs[0, :, E:], cells[0] = x, h0, c0
        W_x, W_h = W.split([E, H], dim=1)
        gates, tanh_c = F.linear(inputs[:-1, :, :E], W_x, b), room(x, T, B, H, alive=alive)
        states, W_h = inputs[..., E:], W_h.T
        h_prev, h, c_prev, c, gate, read = (
            steps(z, alive) for z in (states[:-1], states[1:], cells[:-1], cells[1:], gates, tanh_c)
        )
        for t, gate_t in enumerate(gate):
            gate_t.addmm_(h_prev[t], W_h)
            gate_t[:, : 3 * H].sigmoid_()  # eq-lstm-gates
            o, f, i, g = gate_t.split(H, dim=1)
            torch.mul(f, c_prev[t], out=c[t]).addcmul_(i, tanh(g, out=g))  # eq-lstm-cell
            torch.mul(o, tanh(c[t], out=read[t]), out=h[t])  # eq-lstm-state
        ctx.save_for_backward(inputs, cells, gates, tanh_c, W)
        ctx.alive = alive
        return states[1:]

    @staticmethod
    @once_differentiable
    def backward(ctx, d_out: Tensor):
        (inputs, cells, gates, tanh_c, W), alive = ctx.saved_tensors, ctx.alive
        T, B, H = tanh_c.shape
        o, f, i, g = gates.split(H, dim=2)
        d_a = gates.new_empty(T, B, 4, H)  # first the slopes of the gates, then, step by step, their gradients
        sigmoid_backward(tanh_c, o, grad_input=d_a[:, :, 0])  # o moves the state, the others move the cell
        sigmoid_backward(cells[:-1], f, grad_input=d_a[:, :, 1])
        sigmoid_backward(g, i, grad_input=d_a[:, :, 2])
        tanh_backward(i, g, grad_input=d_a[:, :, 3])
        cell_to_state = tanh_backward(o, tanh_c)
        if alive[-1] < B:
            d_a[torch.arange(B) >= torch.tensor(alive)[:, None]] = 0  # what a row has no step for
        d_c, d_flat, (W_x, W_h) = gates.new_zeros(B, H), d_a.flatten(2), W.split([W.shape[1] - H, H], dim=1)
        d, d_out, f, slope = (steps(z, alive) for z in (d_a, d_out, f, cell_to_state))
        for t in reversed(range(T)):
            d_h, dc = d_out[t], d_c[: alive[t]]
            if t + 1 < T:
                d_h = torch.addmm(d_h, d_flat[t + 1, : alive[t]], W_h)
            dc.addcmul_(d_h, slope[t])
            d[t][:, 0].mul_(d_h)
            d[t][:, 1:].mul_(dc[:, None])
            dc.mul_(f[t])  # what is left for the cell before
        rows = d_flat.flatten(0, 1)
        d_x = d_flat @ W_x if ctx.needs_input_grad[0] else None
        return d_x, d_flat[0] @ W_h, d_c, rows.T @ inputs[:-1].flatten(0, 1), rows.sum(0), None


def _o_f_i_g(W: Tensor) -> Tensor:
    """From the deck's order f, g, i, o to one with the sigmoids side by side, and those that move the cell, too."""
    f, g, i, o = W.chunk(4)
    return torch.cat([o, f, i, g])


def lstm_forward(x: Tensor, h: Tensor, c: Tensor, params: LSTMParams, lengths: Tensor | None = None) -> Tensor:
    """The states (B, T, H) that ``unrolled.gated.lstm_forward`` gives, faster; cells and gates are not kept.

    Args:
        x: (B, T, E) inputs.
        h, c: (B, H) states and cells before the first step.
        params: as in chapter 4.
        lengths: as in ``rnn_forward``.

    >>> from unrolled.gated import LSTM
    >>> x, zero, layer = torch.randn(2, 5, 3), torch.zeros(2, 4), LSTM(3, 4)
    >>> fast = lstm_forward(x, zero, zero, LSTMParams(layer.W_x, layer.W_h, layer.b))
    >>> torch.allclose(fast, layer(x), atol=1e-6)
    True
    """
    W = torch.cat([_o_f_i_g(params.W_x), _o_f_i_g(params.W_h)], dim=1)  # (4H, E + H)
    return _LSTM.apply(x.transpose(0, 1), h, c, W, _o_f_i_g(params.b), rows_alive(x, lengths)).transpose(0, 1)
