"""Right answers to the exercises of chapter 2, in other styles."""

from __future__ import annotations

import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from autograder.exercises.ch02_bptt import (
    BPTT,
    CLIP_GLOBAL_NORM,
    JACOBIAN_PRODUCT,
    NUMERICAL_GRAD,
    RNN_STEP_BACKWARD,
    SPECTRAL_RADIUS,
    TRUNCATED_BPTT,
)
from unrolled.gradients import RNNGrads, rnn_step_backward
from unrolled.losses import cross_entropy, softmax
from unrolled.recurrent import rnn_forward, rnn_step

# ---- 2.1 numerical_grad ----


@NUMERICAL_GRAD.variant
def numerical_grad__in_place_and_back(f, x, eps):
    grad = torch.empty(x.shape)
    for index in np.ndindex(*x.shape):
        old = x[index].item()
        x[index] = old + eps
        up = float(f(x))
        x[index] = old - eps
        down = float(f(x))
        x[index] = old
        grad[index] = (up - down) / (2 * eps)
    return grad


@NUMERICAL_GRAD.variant
def numerical_grad__rows_of_the_identity(f, x, eps):
    steps = eps * torch.eye(x.numel()).reshape(-1, *x.shape)
    return torch.tensor([(f(x + step) - f(x - step)) / eps / 2 for step in steps]).reshape(x.shape)


@NUMERICAL_GRAD.variant
def numerical_grad__two_copies(f, x, eps):
    slopes = []
    for i in range(x.numel()):
        up, down = x.flatten().clone(), x.flatten().clone()
        up[i], down[i] = up[i] + eps, down[i] - eps
        slopes.append(0.5 * f(up.view(x.shape)) / eps - 0.5 * f(down.view(x.shape)) / eps)
    return torch.as_tensor(slopes).view(x.shape)


@NUMERICAL_GRAD.variant
def numerical_grad__numpy(f, x, eps):
    grad = np.zeros(x.shape)
    for index in np.ndindex(*x.shape):
        up, down = x.clone(), x.clone()
        up[index] += eps
        down[index] -= eps
        grad[index] = (f(up) - f(down)) / (2 * eps)
    return grad


# ---- 2.2 rnn_step_backward ----


@RNN_STEP_BACKWARD.variant
def rnn_step_backward__einsum(dh, h, h_prev, x, params):
    W_xh, W_hh, _, _ = params
    da = torch.einsum("bh,bh->bh", dh, (1 - h) * (1 + h))
    outer = torch.einsum("bh,be->he", da, x), torch.einsum("bh,bg->hg", da, h_prev)
    return torch.einsum("bh,he->be", da, W_xh), torch.einsum("bh,hg->bg", da, W_hh), *outer, torch.einsum("bh->h", da)


@RNN_STEP_BACKWARD.variant
def rnn_step_backward__row_by_row(dh, h, h_prev, x, params):
    dx, dh_prev = torch.zeros_like(x), torch.zeros_like(h_prev)
    dW_xh, dW_hh, db = (torch.zeros_like(p) for p in params[:3])
    for i in range(len(x)):
        da = dh[i] * (1 - h[i] ** 2)
        dx[i], dh_prev[i] = params.W_xh.T @ da, params.W_hh.T @ da
        dW_xh += torch.outer(da, x[i])
        dW_hh += torch.outer(da, h_prev[i])
        db += da
    return [dx, dh_prev, dW_xh, dW_hh, db]


@RNN_STEP_BACKWARD.variant
def rnn_step_backward__one_matrix(dh, h, h_prev, x, params):
    E = x.shape[1]
    W, z = torch.cat([params.W_xh, params.W_hh], dim=1), torch.cat([x, h_prev], dim=1)
    da = dh - dh * h.square()
    dz, dW = da @ W, da.T @ z
    return dz[:, :E], dz[:, E:], dW[:, :E], dW[:, E:], torch.ones(len(x)) @ da


@RNN_STEP_BACKWARD.variant
def rnn_step_backward__forward_again(dh, h, h_prev, x, params):
    a = F.linear(x, params.W_xh, params.b) + F.linear(h_prev, params.W_hh)
    da = dh / torch.cosh(a) ** 2
    dW_xh, dW_hh = (da[:, :, None] * v[:, None, :] for v in (x, h_prev))
    return F.linear(da, params.W_xh.T), F.linear(da, params.W_hh.T), dW_xh.sum(0), dW_hh.sum(0), da.sum(0)


# ---- 2.3 bptt ----


@BPTT.variant
def bptt__all_in_one(x, y, params, W_hy, c):
    W_xh, W_hh, b, phi = params
    B, T, _ = x.shape
    hs = [torch.zeros(B, len(b))]
    for t in range(T):
        hs.append(phi(x[:, t] @ W_xh.T + hs[-1] @ W_hh.T + b))
    dW_xh, dW_hh, db, dW_hy, dc = (torch.zeros_like(w) for w in (W_xh, W_hh, b, W_hy, c))
    loss, dh = 0.0, torch.zeros(B, len(b))
    for t in range(T - 1, -1, -1):
        logits = hs[t + 1] @ W_hy.T + c
        loss += F.cross_entropy(logits, y[:, t], reduction="sum") / (B * T)
        do = torch.softmax(logits, dim=1)
        do[torch.arange(B), y[:, t]] -= 1
        do /= B * T
        dW_hy += do.T @ hs[t + 1]
        dc += do.sum(0)
        da = (do @ W_hy + dh) * (1 - hs[t + 1] ** 2)
        dW_xh += da.T @ x[:, t]
        dW_hh += da.T @ hs[t]
        db += da.sum(0)
        dh = da @ W_hh
    return loss, (dW_xh, dW_hh, db, dW_hy, dc)


@BPTT.variant
def bptt__deltas_first(x, y, params, W_hy, c):
    B, T, _ = x.shape
    hs = rnn_forward(x, torch.zeros(B, len(params.b)), params)
    before = torch.cat([torch.zeros(B, 1, hs.shape[2]), hs[:, :-1]], dim=1)
    logits = hs @ W_hy.T + c
    do = (softmax(logits) - F.one_hot(y, len(c))) / y.numel()
    das, back = [], 0
    for t in reversed(range(T)):
        das.insert(0, (do[:, t] @ W_hy + back) * (1 - hs[:, t] ** 2))
        back = das[0] @ params.W_hh
    da, flat = torch.cat(das), lambda z: z.transpose(0, 1).flatten(0, 1)
    grads = da.T @ flat(x), da.T @ flat(before), da.sum(0), flat(do).T @ flat(hs), do.flatten(0, 1).sum(0)
    return cross_entropy(logits, y, -100), RNNGrads(*grads)


@BPTT.variant
def bptt__one_loss_at_a_time(x, y, params, W_hy, c):
    B, T, _ = x.shape
    hs = [torch.zeros(B, len(params.b)), *rnn_forward(x, torch.zeros(B, len(params.b)), params).unbind(1)]
    totals, loss = [torch.zeros_like(w) for w in (*params[:3], W_hy, c)], torch.zeros(())
    for t in range(T):
        logits = c + hs[t + 1] @ W_hy.T
        loss = loss + cross_entropy(logits[:, None], y[:, t, None], -1) / T
        do = (softmax(logits) - F.one_hot(y[:, t], len(c))) / (B * T)
        dh, shares = do @ W_hy, [do.T @ hs[t + 1], do.sum(0)]
        totals[3:] = [total + share for total, share in zip(totals[3:], shares, strict=True)]
        for k in range(t, -1, -1):
            _, dh, *step = rnn_step_backward(dh, hs[k + 1], hs[k], x[:, k], params)
            totals[:3] = [total + share for total, share in zip(totals[:3], step, strict=True)]
    return loss, RNNGrads(*totals)


@BPTT.variant
def bptt__recursion(x, y, params, W_hy, c):
    B, T, _ = x.shape

    def rest(t, h_prev):
        if t == T:
            return 0, [0, 0, 0, 0, 0], 0
        h = rnn_step(x[:, t], h_prev, params)
        logits = c + h @ W_hy.T
        do = (softmax(logits) - F.one_hot(y[:, t], len(c))) / (B * T)
        loss, totals, dh = rest(t + 1, h)
        _, dh, *step = rnn_step_backward(dh + do @ W_hy, h, h_prev, x[:, t], params)
        shares = [*step, do.T @ h, do.sum(0)]
        here = (torch.logsumexp(logits, 1) - logits[range(B), y[:, t]]).sum() / (B * T)
        return loss + here, [total + share for total, share in zip(totals, shares, strict=True)], dh

    loss, totals, _ = rest(0, torch.zeros(B, len(params.b)))
    return loss, tuple(totals)


# ---- 2.4 jacobian_product ----


@JACOBIAN_PRODUCT.variant
def jacobian_product__multi_dot(W, hs):
    factors = [torch.diag(1 - h**2) @ W for h in hs[1:].flip(0)]
    return torch.linalg.multi_dot([torch.eye(len(W)), *factors, torch.eye(len(W))])


@JACOBIAN_PRODUCT.variant
def jacobian_product__row_of_gradients(W, hs):
    back = torch.eye(len(W))
    for t in range(len(hs) - 1, 0, -1):
        back = (back * (1 - hs[t] ** 2)) @ W
    return back


@JACOBIAN_PRODUCT.variant
def jacobian_product__batched_factors(W, hs):
    factors = torch.einsum("th,hg->thg", 1 - hs[1:] * hs[1:], W)
    J = torch.eye(len(W))
    for factor in factors:
        J = torch.mm(factor, J)
    return J


@JACOBIAN_PRODUCT.variant
def jacobian_product__columns(W, hs):
    columns = []
    for v in torch.eye(len(W)):
        for h in hs[1:]:
            v = (1 - h**2) * (W @ v)
        columns.append(v)
    return torch.stack(columns, dim=1)


# ---- 2.5 clip_global_norm ----


@CLIP_GLOBAL_NORM.variant
def clip_global_norm__as_torch_does(grads, c):
    norm = torch.linalg.vector_norm(torch.stack([torch.linalg.vector_norm(g) for g in grads if g is not None]))
    factor = torch.clamp(c / (norm + 1e-6), max=1.0)
    return [g if g is None else g * factor for g in grads], norm


@CLIP_GLOBAL_NORM.variant
def clip_global_norm__one_long_vector(grads, c):
    norm = torch.cat([g.flatten() for g in grads if g is not None]).norm()
    if norm <= c:
        return list(grads), norm
    return [None if g is None else c * g / norm for g in grads], norm


@CLIP_GLOBAL_NORM.variant
def clip_global_norm__python_numbers(grads, c):
    norm = math.sqrt(sum(float(v) ** 2 for g in grads if g is not None for v in g.flatten()))
    scale = c / max(norm, c)
    return tuple(g * scale if g is not None else None for g in grads), norm


@CLIP_GLOBAL_NORM.variant
def clip_global_norm__copies_in_place(grads, c):
    copies = [g.clone() if g is not None else None for g in grads]
    there = [g for g in copies if g is not None]
    norm = nn.utils.parameters_to_vector(there).norm()
    if norm > c:
        for g in there:
            g.mul_(c).div_(norm)
    return copies, norm


# ---- 2.6 truncated_bptt ----


@TRUNCATED_BPTT.variant
def truncated_bptt__backward(chunks, h0, params, chunk_loss):
    for p in params[:3]:
        p.grad = None
    h, losses = h0, []
    for x, y in chunks:
        hs = rnn_forward(x, h, params)
        loss = chunk_loss(hs, y)
        loss.backward()
        h = hs[:, -1].detach()
        losses.append(loss.item())
    return losses, [p.grad for p in params[:3]], h


@TRUNCATED_BPTT.variant
def truncated_bptt__one_backward_at_the_end(chunks, h0, params, chunk_loss):
    h, losses = h0, []
    for x, y in chunks:
        hs = rnn_forward(x, h, params)
        losses.append(chunk_loss(hs, y))
        h = hs[:, -1].detach()
    losses = torch.stack(losses)
    return losses.detach(), torch.autograd.grad(losses.sum(), params[:3]), h


@TRUNCATED_BPTT.variant
def truncated_bptt__step_by_step(chunks, h0, params, chunk_loss):
    h, losses, totals = h0.clone(), [], [0, 0, 0]
    for x, y in chunks:
        states = []
        for x_t in x.unbind(dim=1):
            h = rnn_step(x_t, h, params)
            states.append(h)
        losses.append(chunk_loss(torch.stack(states, dim=1), y))
        found = torch.autograd.grad(losses[-1], params[:3])
        totals = [total + g for total, g in zip(totals, found, strict=True)]
        h = h.detach()
    return torch.stack(losses).detach(), totals, h


@TRUNCATED_BPTT.variant
def truncated_bptt__states_first(chunks, h0, params, chunk_loss):
    starts = [h0]
    with torch.no_grad():
        for x, _ in chunks:
            starts.append(rnn_forward(x, starts[-1], params)[:, -1])
    losses = [chunk_loss(rnn_forward(x, start, params), y) for (x, y), start in zip(chunks, starts, strict=False)]
    return torch.tensor([loss.item() for loss in losses]), torch.autograd.grad(sum(losses), params[:3]), starts[-1]


# ---- 2.7 spectral_radius ----


@SPECTRAL_RADIUS.variant
def spectral_radius__absolute_values(W):
    eigenvalues, _ = torch.linalg.eig(W)
    return eigenvalues.abs().max()


@SPECTRAL_RADIUS.variant
def spectral_radius__numpy(W):
    return max(abs(np.linalg.eigvals(W.numpy())))


@SPECTRAL_RADIUS.variant
def spectral_radius__repeated_squaring(W):
    log_size, power = 0.0, W.clone()
    for k in range(40):
        size = torch.linalg.norm(power)
        log_size += math.log(size) / 2**k
        power = power / size
        power = power @ power
    return math.exp(log_size)
