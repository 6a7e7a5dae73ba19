"""The fast path of the GRU, with the reset before or after the matrix; the ideas are those of ``fast.recurrent``."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from unrolled.fast.recurrent import from_inputs, room, rows_alive, sigmoid_backward, steps, tanh, tanh_backward
from unrolled.gated import GRUParams


class _GRUAfter(torch.autograd.Function):
    """a (T, B, 3H) in the order r, u, n; h0 (B, H); W_h (3H, H) in the order n, r, u; b_h (H,) -> states (T, B, H)."""

    @staticmethod
    def forward(ctx, a: Tensor, h0: Tensor, W_h: Tensor, b_h: Tensor, alive: list[int]) -> Tensor:
        T, B, H = len(a), *h0.shape
        states, gates = room(a, T + 1, B, H, alive=alive), room(a, T, B, 3 * H, alive=alive)
        states[0] = h0
        from_h, bias, W = room(a, *gates.shape, alive=alive), torch.cat([b_h, b_h.new_zeros(2 * H)]), W_h.T
        a, h_prev, h, told, gate = (steps(z, alive) for z in (a, states[:-1], states[1:], from_h, gates))
        for t, gate_t in enumerate(gate):
            told_n, told_ru = torch.addmm(bias, h_prev[t], W, out=told[t]).split([H, 2 * H], dim=1)
            r, u, n = gate_t.split(H, dim=1)
            torch.add(a[t][:, : 2 * H], told_ru, out=gate_t[:, : 2 * H]).sigmoid_()  # eq-gru-gates
            tanh(torch.addcmul(a[t][:, 2 * H :], r, told_n, out=n), out=n)  # eq-gru-after
            torch.lerp(h_prev[t], n, u, out=h[t])  # eq-gru-state
        ctx.save_for_backward(states, gates, from_h[..., :H], W_h)
        ctx.alive = alive
        return states[1:]

    @staticmethod
    @once_differentiable
    def backward(ctx, d_out: Tensor):
        (states, gates, told_n, W_h), alive = ctx.saved_tensors, ctx.alive
        T, B, H = told_n.shape
        r, u, n = gates.split(H, dim=2)
        d_a = room(gates, T, B, 4, H, alive=alive)  # told_n, r, u, n: first the slopes, then step by step the gradients
        d_a[:, :, 0] = r
        sigmoid_backward(told_n, r, grad_input=d_a[:, :, 1])
        sigmoid_backward(n - states[:-1], u, grad_input=d_a[:, :, 2])
        tanh_backward(u, n, grad_input=d_a[:, :, 3])
        d_h, d_told = gates.new_zeros(B, H), d_a[:, :, :3].flatten(2)  # (T, B, 3H)
        d, told, d_out, u = (steps(z, alive) for z in (d_a, d_told, d_out, u))
        for t in reversed(range(T)):
            dh = d_h[: alive[t]]
            dh += d_out[t]
            d[t][:, 2:].mul_(dh[:, None])  # u and n move the state
            d[t][:, :2].mul_(d[t][:, 3:])  # r, and what it lets through, move n
            dh.addcmul_(dh, u[t], value=-1).addmm_(told[t], W_h)
        rows = d_told.flatten(0, 1)
        return d_a[:, :, 1:].flatten(2), d_h, rows.T @ states[:-1].flatten(0, 1), rows[:, :H].sum(0), None


class _GRUBefore(torch.autograd.Function):
    """a (T, B, 3H), h0 (B, H), W_h (3H, H), both in the deck's order u, r, n -> states (T, B, H)."""

    @staticmethod
    def forward(ctx, a: Tensor, h0: Tensor, W_h: Tensor, alive: list[int]) -> Tensor:
        T, B, H = len(a), *h0.shape
        states, gates = room(a, T + 1, B, H, alive=alive), room(a, T, B, 3 * H, alive=alive)
        states[0] = h0
        reset, W_ur, W_n = room(a, T, B, H, alive=alive), W_h[: 2 * H].T, W_h[2 * H :].T
        a, h_prev, h, gate, r_h = (steps(z, alive) for z in (a, states[:-1], states[1:], gates, reset))
        for t, gate_t in enumerate(gate):
            u, r, n = gate_t.split(H, dim=1)
            torch.addmm(a[t][:, : 2 * H], h_prev[t], W_ur, out=gate_t[:, : 2 * H]).sigmoid_()  # eq-gru-gates
            torch.mul(r, h_prev[t], out=r_h[t])
            tanh(torch.addmm(a[t][:, 2 * H :], r_h[t], W_n, out=n), out=n)  # eq-gru-before
            torch.lerp(h_prev[t], n, u, out=h[t])  # eq-gru-state
        ctx.save_for_backward(states, gates, reset, W_h)
        ctx.alive = alive
        return states[1:]

    @staticmethod
    @once_differentiable
    def backward(ctx, d_out: Tensor):
        (states, gates, reset, W_h), alive = ctx.saved_tensors, ctx.alive
        T, B, H = reset.shape
        u, r, n = gates.split(H, dim=2)
        h_prev, W_ur, W_n = states[:-1], W_h[: 2 * H], W_h[2 * H :]
        d_a, d_h = room(gates, T, B, 3 * H, alive=alive), gates.new_zeros(B, H)  # slopes, then gradients
        sigmoid_backward(n - h_prev, u, grad_input=d_a[..., :H])
        sigmoid_backward(h_prev, r, grad_input=d_a[..., H : 2 * H])
        tanh_backward(u, n, grad_input=d_a[..., 2 * H :])
        d, d_out, u, r = (steps(z, alive) for z in (d_a, d_out, u, r))
        for t in reversed(range(T)):
            dh, (d_u, d_r, d_n) = d_h[: alive[t]], d[t].split(H, dim=1)
            dh += d_out[t]
            d_reset = d_n.mul_(dh) @ W_n
            d_u.mul_(dh)
            d_r.mul_(d_reset)
            dh.addcmul_(dh, u[t], value=-1).addcmul_(d_reset, r[t]).addmm_(d[t][:, : 2 * H], W_ur)
        d_ur, d_n = d_a.flatten(0, 1).split([2 * H, H], dim=1)
        return d_a, d_h, torch.cat([d_ur.T @ h_prev.flatten(0, 1), d_n.T @ reset.flatten(0, 1)]), None


def gru_forward(
    x: Tensor, h: Tensor, params: GRUParams, reset: str = "before", lengths: Tensor | None = None
) -> Tensor:
    """What ``unrolled.gated.gru_forward`` gives, faster; lengths as in ``fast.recurrent.rnn_forward``.

    >>> from unrolled.gated import GRU
    >>> x, zero, layer = torch.randn(2, 5, 3), torch.zeros(2, 4), GRU(3, 4)
    >>> fast = gru_forward(x, zero, GRUParams(layer.W_x, layer.W_h, layer.b, layer.b_h))
    >>> torch.allclose(fast, layer(x), atol=1e-6)
    True
    """
    alive = rows_alive(x, lengths)
    if reset != "after":
        return _GRUBefore.apply(from_inputs(x, params.W_x, params.b), h, params.W_h, alive).transpose(0, 1)
    (U_u, U_r, U_n), (b_u, b_r, b_n), (W_u, W_r, W_n) = (z.chunk(3) for z in (params.W_x, params.b, params.W_h))
    a = from_inputs(x, torch.cat([U_r, U_u, U_n]), torch.cat([b_r, b_u, b_n]))  # (T, B, 3H)
    return _GRUAfter.apply(a, h, torch.cat([W_n, W_r, W_u]), params.b_h, alive).transpose(0, 1)
