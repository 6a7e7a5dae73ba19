"""The fast path of the RNN and the LSTM: the same numbers as chapters 1 and 4, with little left inside the time loop.

Three things leave the loop. What the inputs say to all gates is one matrix product for all steps. The gradient is
written by hand (chapter 2 derives it), so that all slopes are computed for all steps at once. And the gradient of the
recurrent matrix, a sum over all steps, is one matrix product after the loop. Time comes first in here: (T, B, H).
"""

from __future__ import annotations

from collections.abc import Sequence

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


def steps(x: Tensor, alive: list[int]) -> Sequence[Tensor]:
    """(T, B, ...) -> for every step the rows that are alive, (n, ...)."""
    if alive[-1] == x.shape[1]:
        return x.unbind(0)
    return [x_t[:n] for x_t, n in zip(x.unbind(0), alive, strict=True)]


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
    """x (T, B, E), h0, c0 (B, H), W_x (4H, E), W_h (4H, H), b (4H,), blocks f, g, i, o -> states (T, B, H).

    Since tanh a = 1 - 2 σ(-2a), one σ serves all four gates if the weights of g are taken -2 times; then i g is
    i - 2 i σ(-2a), and o tanh c is written likewise. ``gates`` and ``reads`` hold these σ, for g and for c.
    """

    @staticmethod
    def forward(
        ctx, x: Tensor, h0: Tensor, c0: Tensor, W_x: Tensor, W_h: Tensor, b: Tensor, alive: list[int]
    ) -> Tensor:
        (T, B, E), H = x.shape, h0.shape[1]
        inputs, cells = room(x, T + 1, B, E + H, alive=alive), room(x, T + 1, B, H, alive=alive)  # inputs: x_t, h_{t-1}
        inputs[:-1, :, :E], inputs[0, :, E:], cells[0] = x, h0, c0
        minus_two, scale = x.new_tensor(-2), x.new_tensor([1, -2, 1, 1]).repeat_interleave(H)  # (4H,)
        a = torch.addmm(b * scale, inputs[:-1].flatten(0, 1)[:, :E], (W_x * scale[:, None]).T)  # (T * B, 4H)
        gates, reads, W = a.view(T, B, 4 * H), room(x, T, B, H, alive=alive), (W_h * scale[:, None]).T
        states = inputs[..., E:]
        all_steps = states[:-1], states[1:], cells[:-1], cells[1:], reads, gates, *gates.chunk(4, dim=2)
        for h_prev, h, c_prev, c, read, gate, f, g, i, o in zip(*(steps(z, alive) for z in all_steps), strict=True):
            gate.addmm_(h_prev, W).sigmoid_()  # eq-lstm-gates
            torch.addcmul(i, i, g, value=-2, out=c).addcmul_(f, c_prev)  # eq-lstm-cell
            torch.mul(c, minus_two, out=read).sigmoid_()
            torch.addcmul(o, o, read, value=-2, out=h)  # eq-lstm-state
        ctx.save_for_backward(inputs, cells, gates, reads, W_x, W_h)
        ctx.alive = alive
        return states[1:]

    @staticmethod
    @once_differentiable
    def backward(ctx, d_out: Tensor):
        (inputs, cells, gates, reads, W_x, W_h), alive = ctx.saved_tensors, ctx.alive
        (T, B, H), one = reads.shape, reads.new_ones(())
        f, g, i, o = gates.chunk(4, dim=2)
        d_a = gates.new_empty(T, B, 4, H)  # first the slopes of the gates, then, step by step, their gradients
        d_f, d_g, d_i, d_o = d_a.unbind(2)
        g, tanh_c = torch.add(one, g, alpha=-2, out=d_i), torch.add(one, reads, alpha=-2, out=d_o)  # 1 - 2σ
        cell_to_state = tanh_backward(o, tanh_c)
        sigmoid_backward(cells[:-1], f, grad_input=d_f)  # f, g and i move the cell, o moves the state
        tanh_backward(i, g, grad_input=d_g)
        sigmoid_backward(g, i, grad_input=d_i)
        sigmoid_backward(tanh_c, o, grad_input=d_o)
        if alive[-1] < B:
            d_a[torch.arange(B) >= torch.tensor(alive)[:, None]] = 0  # what a row has no step for
        d_c, d_flat = gates.new_zeros(B, H), d_a.flatten(2)
        d_next = steps(d_flat, alive[:1] + alive[:-1])  # at each step the rows of the step before it
        d_out, d_cell, d_o, d_fgi, slope, f = (
            steps(z, alive) for z in (d_out, d_c.expand(T, B, H), d_o, d_a[:, :, :3], cell_to_state, f)
        )
        for t in reversed(range(T)):
            d_h = d_out[t] if t + 1 == T else torch.addmm(d_out[t], d_next[t + 1], W_h)
            d_cell[t].addcmul_(d_h, slope[t])
            d_o[t].mul_(d_h)
            d_fgi[t].mul_(d_cell[t][:, None])
            d_cell[t].mul_(f[t])  # what is left for the cell before
        rows, needs = d_flat.flatten(0, 1), ctx.needs_input_grad
        d_x, d_h0 = d_flat @ W_x if needs[0] else None, d_flat[0] @ W_h if needs[1] else None
        d_W = rows.T @ inputs[:-1].flatten(0, 1)  # (4H, E + H)
        return d_x, d_h0, d_c, *d_W.split([W_x.shape[1], H], dim=1), rows.sum(0), None


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
    return _LSTM.apply(x.transpose(0, 1), h, c, *params, rows_alive(x, lengths)).transpose(0, 1)
