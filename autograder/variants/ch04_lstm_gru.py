"""Right answers to the exercises of chapter 4, in other styles."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from autograder.exercises.ch04_lstm_gru import (
    DETACH_STATE,
    DIRECT_CELL_GRADIENT,
    GRU_STEP,
    INIT_FORGET_BIAS,
    LSTM_STEP,
    PEEPHOLE_LSTM_STEP,
    TO_TORCH_LSTM,
)
from unrolled.gated import GRUParams, TorchLSTM

# ---- 4.1 lstm_step ----


@LSTM_STEP.variant
def lstm_step__linear(x, h, c, params):
    a = F.linear(x, params.W_x, params.b) + F.linear(h, params.W_h)
    H = h.shape[1]
    f, g, i, o = a[:, :H], a[:, H : 2 * H], a[:, 2 * H : 3 * H], a[:, 3 * H :]
    kept, new = c * f.sigmoid(), g.tanh() * i.sigmoid()
    return o.sigmoid() * (kept + new).tanh(), kept + new


@LSTM_STEP.variant
def lstm_step__gate_by_gate(x, h, c, params):
    a = []
    for W_x, W_h, b in zip(params.W_x.chunk(4), params.W_h.chunk(4), params.b.chunk(4), strict=True):
        a.append(x @ W_x.T + h @ W_h.T + b)
    gate = lambda z: 1 / (1 + torch.exp(-z))  # noqa: E731
    c_new = gate(a[0]) * c + gate(a[2]) * torch.tanh(a[1])
    return [gate(a[3]) * torch.tanh(c_new), c_new]


@LSTM_STEP.variant
def lstm_step__one_matrix(x, h, c, params):
    joined = torch.cat([x, h, x.new_ones(len(x), 1)], dim=1)
    W = torch.cat([params.W_x, params.W_h, params.b[:, None]], dim=1)
    f, g, i, o = torch.einsum("bk,nk->bn", joined, W).reshape(len(x), 4, -1).unbind(1)
    g = 2 * torch.sigmoid(2 * g) - 1  # tanh
    c = torch.addcmul(torch.sigmoid(i) * g, torch.sigmoid(f), c)
    return torch.sigmoid(o) * torch.tanh(c), c


@LSTM_STEP.variant
def lstm_step__row_by_row(x, h, c, params):
    H, states, cells = h.shape[1], [], []
    for b in range(len(x)):
        a = params.W_x @ x[b] + params.W_h @ h[b] + params.b
        cell = torch.sigmoid(a[:H]) * c[b] + torch.sigmoid(a[2 * H : 3 * H]) * torch.tanh(a[H : 2 * H])
        states.append(torch.sigmoid(a[3 * H :]) * torch.tanh(cell))
        cells.append(cell)
    return torch.stack(states), torch.stack(cells)


# ---- 4.2 peephole_lstm_step ----


@PEEPHOLE_LSTM_STEP.variant
def peephole_lstm_step__diagonal(x, h, c, params, peepholes):
    f, g, i, o = (F.linear(x, params.W_x, params.b) + F.linear(h, params.W_h)).chunk(4, dim=1)
    f, i = (f + c @ torch.diag(peepholes.w_cf)).sigmoid(), (i + c @ torch.diag(peepholes.w_ci)).sigmoid()
    c = f * c + i * g.tanh()
    return (o + c @ torch.diag(peepholes.w_co)).sigmoid() * c.tanh(), c


@PEEPHOLE_LSTM_STEP.variant
def peephole_lstm_step__stacked(x, h, c, params, peepholes):
    f, g, i, o = (x @ params.W_x.T + h @ params.W_h.T + params.b).split(h.shape[1], dim=1)
    seen = c[:, None] * torch.stack([peepholes.w_cf, peepholes.w_ci])  # (B, 2, H)
    erase, write = torch.sigmoid(torch.stack([f, i], dim=1) + seen).unbind(dim=1)
    new = erase * c + write * torch.tanh(g)
    return torch.tanh(new) * torch.sigmoid(torch.addcmul(o, new, peepholes.w_co)), new


@PEEPHOLE_LSTM_STEP.variant
def peephole_lstm_step__row_by_row(x, h, c, params, peepholes):
    states, cells = [], []
    for x_b, h_b, c_b in zip(x, h, c, strict=True):
        f, g, i, o = (params.W_x @ x_b + params.W_h @ h_b + params.b).chunk(4)
        kept = torch.sigmoid(f + peepholes[0] * c_b) * c_b
        cells.append(kept + torch.sigmoid(i + peepholes[1] * c_b) * torch.tanh(g))
        states.append(torch.sigmoid(o + peepholes[2] * cells[-1]) * torch.tanh(cells[-1]))
    return torch.stack(states), torch.stack(cells)


# ---- 4.3 gru_step ----


@GRU_STEP.variant
def gru_step__linear(x, h, params, reset="before"):
    (U_u, U_r, U_n), (W_u, W_r, W_n), (b_u, b_r, b_n) = (p.chunk(3) for p in params[:3])
    u = (F.linear(x, U_u, b_u) + F.linear(h, W_u)).sigmoid()
    r = (F.linear(x, U_r, b_r) + F.linear(h, W_r)).sigmoid()
    if reset == "after":
        n = F.linear(x, U_n, b_n) + r * F.linear(h, W_n, params.b_h)
    else:
        n = F.linear(x, U_n, b_n) + F.linear(r * h, W_n)
    return h + u * (n.tanh() - h)


@GRU_STEP.variant
def gru_step__lerp(x, h, params, reset="before"):
    H = h.shape[1]
    gates = torch.sigmoid(x @ params.W_x[: 2 * H].T + h @ params.W_h[: 2 * H].T + params.b[: 2 * H])
    u, r = gates[:, :H], gates[:, H:]
    W_n = params.W_h[2 * H :]
    past = {"before": lambda: (r * h) @ W_n.T, "after": lambda: r * (h @ W_n.T + params.b_h)}[reset]()
    return torch.lerp(h, torch.tanh(x @ params.W_x[2 * H :].T + past + params.b[2 * H :]), u)


@GRU_STEP.variant
def gru_step__row_by_row(x, h, params, reset="before"):
    H, rows = h.shape[1], []
    for x_b, h_b in zip(x, h, strict=True):
        a, w = params.W_x @ x_b + params.b, params.W_h @ h_b
        u, r = torch.sigmoid(a[:H] + w[:H]), torch.sigmoid(a[H : 2 * H] + w[H : 2 * H])
        past = params.W_h[2 * H :] @ (r * h_b) if reset == "before" else r * (w[2 * H :] + params.b_h)
        rows.append((1 - u) * h_b + u * torch.tanh(a[2 * H :] + past))
    return torch.stack(rows)


@GRU_STEP.variant
def gru_step__both_biases(x, h, params, reset="before"):
    """b_h is zero where the reset comes before, so adding it there does no harm."""
    U_u, U_r, U_n = torch.einsum("be,ne->bn", x, params.W_x).add(params.b).chunk(3, dim=1)
    W_u, W_r, W_n = params.W_h.chunk(3)
    u, r = torch.sigmoid(U_u + h @ W_u.T), torch.sigmoid(U_r + h @ W_r.T)
    past = r * (h @ W_n.T + params.b_h) if reset == "after" else (r * h) @ W_n.T + params.b_h
    return u * torch.tanh(U_n + past) + h - u * h


# ---- 4.4 to_torch_lstm, from_torch_gru ----


@TO_TORCH_LSTM.variant
def to_torch_lstm__shared_bias(params):
    order, H = torch.tensor([2, 0, 1, 3]), params.W_h.shape[1]
    weight_ih, weight_hh, b = (p.reshape(4, H, *p.shape[1:])[order].reshape(p.shape) for p in params)
    return TorchLSTM(weight_ih, weight_hh, b / 2, b / 2)


@TO_TORCH_LSTM.variant
def to_torch_lstm__state_bias(params):
    H, moved = params.W_h.shape[1], []
    for ours in params:
        theirs = torch.empty_like(ours)
        theirs[:H], theirs[H : 2 * H] = ours[2 * H : 3 * H], ours[:H]
        theirs[2 * H : 3 * H], theirs[3 * H :] = ours[H : 2 * H], ours[3 * H :]
        moved.append(theirs)
    return (moved[0], moved[1], torch.zeros(4 * H), moved[2])


@TO_TORCH_LSTM.variant
def from_torch_gru__signs(module):
    H = module.hidden_size
    sign = torch.cat([-torch.ones(H), torch.ones(2 * H)])
    order = torch.cat([torch.arange(H, 2 * H), torch.arange(H), torch.arange(2 * H, 3 * H)])
    b = module.bias_ih_l0 + module.bias_hh_l0 * (torch.arange(3 * H) < 2 * H)
    weights = [sign[:, None] * W[order] for W in (module.weight_ih_l0, module.weight_hh_l0)]
    return GRUParams(*weights, sign * b[order], module.bias_hh_l0[2 * H :])


@TO_TORCH_LSTM.variant
def from_torch_gru__state_dict(module):
    H = module.hidden_size
    W_x, W_h, b, b_hh = (tensor.clone() for tensor in module.state_dict().values())
    b[: 2 * H] += b_hh[: 2 * H]
    for tensor in (W_x, W_h, b):
        r, z = tensor[:H].clone(), tensor[H : 2 * H].clone()
        tensor[:H], tensor[H : 2 * H] = z.neg(), r
    return GRUParams(W_x=W_x, W_h=W_h, b=b, b_h=b_hh[2 * H :])


# ---- 4.5 init_forget_bias ----


@INIT_FORGET_BIAS.variant
def init_forget_bias__halves(weights, b):
    H = weights.weight_hh.shape[1]
    forget = (torch.arange(4 * H) // H) == 1
    return weights._replace(
        bias_ih=torch.where(forget, b / 2, weights.bias_ih), bias_hh=weights.bias_hh.masked_fill(forget, b / 2)
    )


@INIT_FORGET_BIAS.variant
def init_forget_bias__blocks(weights, b):
    blocks_ih, blocks_hh = list(weights.bias_ih.chunk(4)), list(weights.bias_hh.chunk(4))
    blocks_ih[1], blocks_hh[1] = torch.zeros_like(blocks_ih[1]), torch.full_like(blocks_hh[1], b)
    return weights.weight_ih, weights.weight_hh, torch.cat(blocks_ih), torch.cat(blocks_hh)


@INIT_FORGET_BIAS.variant
def init_forget_bias__difference(weights, b):
    H = weights.weight_hh.shape[1]
    bias_ih = weights.bias_ih.clone()
    bias_ih[H : 2 * H] = b - weights.bias_hh[H : 2 * H]
    return TorchLSTM(weights.weight_ih, weights.weight_hh, bias_ih, weights.bias_hh)


# ---- 4.6 direct_cell_gradient ----


@DIRECT_CELL_GRADIENT.variant
def direct_cell_gradient__loop(gates):
    T = gates.f.shape[1]
    flow = [torch.ones_like(gates.f[:, 0])]
    for t in range(T - 1, 0, -1):
        flow.insert(0, flow[0] * gates.f[:, t])
    return torch.stack(flow, dim=1)


@DIRECT_CELL_GRADIENT.variant
def direct_cell_gradient__slices(gates):
    T = gates.f.shape[1]
    return torch.stack([gates.f[:, k + 1 :].prod(dim=1) for k in range(T)], dim=1)


@DIRECT_CELL_GRADIENT.variant
def direct_cell_gradient__logarithms(gates):
    log_f = torch.log(gates.f[:, 1:])
    sums = log_f.flip(1).cumsum(1).flip(1)
    return torch.cat([sums.exp(), torch.ones_like(gates.f[:, :1])], dim=1)


@DIRECT_CELL_GRADIENT.variant
def direct_cell_gradient__autograd(gates):
    c = [torch.zeros_like(gates.f[:, 0], requires_grad=True)]
    for f, g, i in zip(gates.f.unbind(1), gates.g.unbind(1), gates.i.unbind(1), strict=True):
        c.append(f.detach() * c[-1] + i.detach() * g.detach())
    return torch.stack(torch.autograd.grad(c[-1].sum(), c[1:]), dim=1)


# ---- 4.7 detach_state ----


@DETACH_STATE.variant
def detach_state__data(state):
    if isinstance(state, Tensor):
        return state.data
    return [part.data if isinstance(part, Tensor) else [inner.data for inner in part] for part in state]


@DETACH_STATE.variant
def detach_state__stack(state):
    def cut(part):
        if torch.is_tensor(part):
            with torch.no_grad():
                return part.clone()
        return [cut(inner) for inner in part]

    return cut(state)


@DETACH_STATE.variant
def detach_state__map(state):
    walk = lambda s: s.detach().clone() if isinstance(s, Tensor) else tuple(map(walk, s))  # noqa: E731
    return walk(state)
