"""Right answers to the exercises of chapter 7, in other styles."""

from __future__ import annotations

import math

import numpy as np
import torch
import torch.nn.functional as F

from autograder.exercises.ch07_attention import (
    CONTEXT,
    IMAGE,
    POOL,
    SCORE_ADDITIVE,
    SCORE_BILINEAR,
    SCORE_DOT,
    STEP,
    WEIGHTS,
    WINDOW,
)
from unrolled.attention import attention_weights, context, score_bilinear
from unrolled.gated import gru_step

# ---- 7.1 score_dot ----


@SCORE_DOT.variant
def score_dot__einsum(s, h):
    return torch.einsum("bth,bsh->bts", s, h)


@SCORE_DOT.variant
def score_dot__batched(s, h):
    return torch.bmm(s, h.permute(0, 2, 1))


@SCORE_DOT.variant
def score_dot__all_pairs(s, h):
    return (s.unsqueeze(2) * h.unsqueeze(1)).sum(-1)


@SCORE_DOT.variant
def score_dot__loops(s, h):
    rows = []
    for b in range(len(s)):
        for i in range(s.shape[1]):
            rows.append(torch.stack([s[b, i].dot(h[b, j]) for j in range(h.shape[1])]))
    return torch.stack(rows).view(len(s), s.shape[1], h.shape[1])


@SCORE_DOT.variant
def score_dot__polarised(s, h):
    """From lengths and distances: 2 s · h = |s|² + |h|² - |s - h|²."""
    apart = (s[:, :, None] - h[:, None]).square().sum(-1)
    return (s.square().sum(-1)[:, :, None] + h.square().sum(-1)[:, None] - apart) / 2


# ---- 7.2 score_bilinear ----


@SCORE_BILINEAR.variant
def score_bilinear__einsum(s, h, W):
    return torch.einsum("bth,hc,bsc->bts", s, W, h)


@SCORE_BILINEAR.variant
def score_bilinear__source_first(s, h, W):
    return torch.bmm(s, (h @ W.T).transpose(1, 2))


@SCORE_BILINEAR.variant
def score_bilinear__turned(s, h, W):
    return (h @ W.T @ s.mT).mT


@SCORE_BILINEAR.variant
def score_bilinear__step_by_step(s, h, W):
    projected = F.linear(h, W)  # (B, S, H)
    return torch.stack([(projected * s[:, i, None]).sum(dim=2) for i in range(s.shape[1])], dim=1)


@SCORE_BILINEAR.variant
def score_bilinear__outer_products(s, h, W):
    """A sum over all pairs of features, each weighted by its entry of W."""
    total = 0
    for feature, row in enumerate(W):
        total = total + s[:, :, None, feature] * (h @ row)[:, None]
    return total


# ---- 7.3 score_additive ----


@SCORE_ADDITIVE.variant
def score_additive__concatenated(s, h, W, U, v):
    """One matrix over query and state side by side."""
    T, S = s.shape[1], h.shape[1]
    pairs = torch.cat([s[:, :, None].expand(-1, -1, S, -1), h[:, None].expand(-1, T, -1, -1)], dim=-1)
    return torch.tanh(F.linear(pairs, torch.cat([W, U], dim=1))) @ v


@SCORE_ADDITIVE.variant
def score_additive__query_by_query(s, h, W, U, v):
    from_h = h @ U.T
    return torch.stack([(from_h + (s[:, i] @ W.T)[:, None]).tanh() @ v for i in range(s.shape[1])], dim=1)


@SCORE_ADDITIVE.variant
def score_additive__einsum(s, h, W, U, v):
    a = torch.einsum("ah,bth->bta", W, s).unsqueeze(2) + torch.einsum("ac,bsc->bsa", U, h).unsqueeze(1)
    return torch.einsum("btsa,a->bts", torch.tanh(a), v)


@SCORE_ADDITIVE.variant
def score_additive__by_sigmoids(s, h, W, U, v):
    """tanh x = 2 σ(2x) - 1, and the weighted sum is taken last."""
    a = F.linear(s, W)[:, :, None, :] + F.linear(h, U)[:, None, :, :]
    return ((2 * torch.sigmoid(2 * a) - 1) * v).sum(-1)


@SCORE_ADDITIVE.variant
def score_additive__unit_by_unit(s, h, W, U, v):
    e = s.new_zeros(len(s), s.shape[1], h.shape[1])
    for w_a, u_a, v_a in zip(W, U, v, strict=True):
        e = e + v_a * torch.tanh((s @ w_a)[:, :, None] + (h @ u_a)[:, None, :])
    return e


# ---- 7.4 attention_weights ----


@WEIGHTS.variant
def attention_weights__nan_to_num(e, mask=None):
    if mask is not None:
        e = torch.where(mask, e, -torch.inf)
    return torch.nan_to_num(F.softmax(e, dim=-1), nan=0.0)


@WEIGHTS.variant
def attention_weights__exps(e, mask=None):
    """The softmax by hand, over what is left of each row."""
    mask = torch.ones_like(e, dtype=torch.bool) if mask is None else mask.expand_as(e)
    largest = torch.where(mask, e, -1e30).amax(-1, keepdim=True).detach()
    exps = torch.exp(torch.where(mask, e - largest, 0.0)) * mask
    total = exps.sum(-1, keepdim=True)
    return exps / torch.where(total == 0, 1.0, total)


@WEIGHTS.variant
def attention_weights__finite_and_wiped(e, mask=None):
    if mask is None:
        return torch.softmax(e, -1)
    alpha = torch.softmax(e.masked_fill(mask.logical_not(), torch.finfo(e.dtype).min), -1)
    return alpha * mask


@WEIGHTS.variant
def attention_weights__logsumexp(e, mask=None):
    if mask is None:
        return (e - e.logsumexp(-1, keepdim=True)).exp()
    e = e.masked_fill(~mask, float("-inf"))
    some = mask.any(-1, keepdim=True)
    e = e.masked_fill(~some, 0.0)
    return (e - e.logsumexp(-1, keepdim=True)).exp() * some


@WEIGHTS.variant
def attention_weights__row_by_row(e, mask=None):
    """Only the source steps that may be attended to are looked at."""
    mask = torch.ones_like(e, dtype=torch.bool) if mask is None else mask.expand(e.shape)
    rows = []
    for row, may in zip(e.reshape(-1, e.shape[-1]), mask.reshape(-1, e.shape[-1]), strict=True):
        rows.append((row * 0).masked_scatter(may, row[may].softmax(dim=0)))
    return torch.stack(rows).reshape(e.shape)


# ---- 7.5 context ----


@CONTEXT.variant
def context__einsum(alpha, h):
    return torch.einsum("bts,bsc->btc", alpha, h)


@CONTEXT.variant
def context__broadcast(alpha, h):
    return (alpha.unsqueeze(-1) * h.unsqueeze(1)).sum(dim=2)


@CONTEXT.variant
def context__step_by_step(alpha, h):
    c = 0
    for j in range(h.shape[1]):
        c = c + alpha[:, :, j, None] * h[:, None, j]
    return c


@CONTEXT.variant
def context__row_by_row(alpha, h):
    return torch.stack([weights.mm(states) for weights, states in zip(alpha, h, strict=True)])


# ---- 7.6 attn_decoder_step ----


@STEP.variant
def attn_decoder_step__without_query_axis(y, s, h, mask, params):
    e = torch.einsum("bh,hc,bsc->bs", s, params.W_a, h)
    alpha = attention_weights(e, mask)
    c = torch.einsum("bs,bsc->bc", alpha, h)
    s = gru_step(torch.cat([F.embedding(y, params.W_e), c], dim=-1), s, params.gru)
    readout = F.linear(torch.cat((s, c), dim=-1), params.W_r).tanh()
    return F.linear(readout, params.W_hy, params.b_y), s, alpha


@STEP.variant
def attn_decoder_step__split_matrices(y, s, h, mask, params):
    """W_r in two pieces, one for the state and one for the context."""
    W_e, gru, W_a, W_r, W_hy, b_y = params
    H = s.shape[1]
    alpha = attention_weights(score_bilinear(s.unsqueeze(1), h, W_a), mask.unsqueeze(1))
    c = context(alpha, h).squeeze(1)
    new = gru_step(torch.hstack([W_e[y], c]), s, gru)
    readout = torch.tanh(new @ W_r[:, :H].T + c @ W_r[:, H:].T)
    return readout @ W_hy.T + b_y, new, alpha.squeeze(1)


@STEP.variant
def attn_decoder_step__row_by_row(y, s, h, mask, params):
    """Each row looks at its own real steps only."""
    rows = []
    for b in range(len(y)):
        real = h[b, mask[b]]
        weights = torch.softmax(real @ (s[b] @ params.W_a), dim=0)
        c = weights @ real
        new = gru_step(torch.cat([params.W_e[y[b]], c])[None], s[b : b + 1], params.gru)[0]
        readout = torch.tanh(params.W_r @ torch.cat([new, c]))
        alpha = (h[b, :, 0] * 0).masked_scatter(mask[b], weights)
        rows.append((params.W_hy @ readout + params.b_y, new, alpha))
    logits, states, alphas = zip(*rows, strict=True)
    return torch.stack(logits), torch.stack(states), torch.stack(alphas)


@STEP.variant
def attn_decoder_step__softmax_by_hand(y, s, h, mask, params):
    e = (h @ (s @ params.W_a)[:, :, None])[..., 0]
    alpha = e.masked_fill(~mask, -math.inf).softmax(dim=1).nan_to_num(0.0)
    c = (alpha[:, :, None] * h).sum(dim=1)
    s_new = gru_step(torch.cat([params.W_e.index_select(0, y), c], 1), s, params.gru, reset="before")
    out = torch.addmm(params.b_y, torch.tanh(torch.cat([s_new, c], 1) @ params.W_r.t()), params.W_hy.t())
    return [out, s_new, alpha]


# ---- 7.7 attention_pool ----


@POOL.variant
def attention_pool__einsum(h, w, mask):
    alpha = attention_weights(torch.einsum("bth,h->bt", h, w), mask)
    return torch.einsum("bt,bth->bh", alpha, h), alpha


@POOL.variant
def attention_pool__batched(h, w, mask):
    alpha = attention_weights((h @ w[:, None]).transpose(1, 2), mask[:, None])  # (B, 1, T)
    return torch.bmm(alpha, h).squeeze(1), alpha.squeeze(1)


@POOL.variant
def attention_pool__row_by_row(h, w, mask):
    c, alpha = [], []
    for states, real in zip(h, mask, strict=True):
        weights = torch.softmax(states[real] @ w, dim=0)
        c.append(weights @ states[real])
        alpha.append((states[:, 0] * 0).masked_scatter(real, weights))
    return torch.stack(c), torch.stack(alpha)


@POOL.variant
def attention_pool__softmax_by_hand(h, w, mask):
    scores = (h * w).sum(dim=-1).masked_fill(mask == 0, float("-inf"))
    alpha = torch.softmax(scores, dim=1)
    alpha = torch.where(mask, alpha, 0.0)
    return (h * alpha.unsqueeze(-1)).sum(1), alpha


# ---- 7.8 image_attention ----


@IMAGE.variant
def image_attention__einsum(feat, s, W_a):
    e = torch.einsum("bd,dc,bchw->bhw", s, W_a, feat)
    alpha = e.flatten(1).softmax(dim=-1).unflatten(1, e.shape[1:])
    return torch.einsum("bhw,bchw->bc", alpha, feat), alpha


@IMAGE.variant
def image_attention__channels_last(feat, s, W_a):
    B, C, H, W = feat.shape
    places = feat.permute(0, 2, 3, 1).reshape(B, H * W, C)
    alpha = attention_weights(score_bilinear(s.unsqueeze(1), places, W_a))
    return context(alpha, places).squeeze(1), alpha.reshape(B, H, W)


@IMAGE.variant
def image_attention__as_a_convolution(feat, s, W_a):
    """The projected query as a kernel of width 1, one for each picture."""
    B, C, H, W = feat.shape
    kernels = (s @ W_a)[:, :, None, None]  # (B, C, 1, 1)
    e = F.conv2d(feat.reshape(1, B * C, H, W), kernels, groups=B)[0]
    alpha = torch.exp(e - e.logsumexp(dim=(1, 2), keepdim=True))
    return (alpha[:, None] * feat).sum((-2, -1)), alpha


@IMAGE.variant
def image_attention__column_by_column(feat, s, W_a):
    """The places in another order; the weights are put back where they belong."""
    B, C, H, W = feat.shape
    places = feat.permute(0, 3, 2, 1).reshape(B, W * H, C)
    weights = attention_weights(score_bilinear(s[:, None], places, W_a))
    return (weights @ places)[:, 0], weights.view(B, W, H).transpose(1, 2)


@IMAGE.variant
def image_attention__place_by_place(feat, s, W_a):
    B, _, H, W = feat.shape
    query = s @ W_a
    scores = [(query * feat[:, :, x, y]).sum(1) for x in range(H) for y in range(W)]
    alpha = torch.stack(scores, dim=1).softmax(1).view(B, H, W)
    c = sum(alpha[:, x, y, None] * feat[:, :, x, y] for x in range(H) for y in range(W))
    return c, alpha


# ---- 7.9 soft_window ----


@WINDOW.variant
def soft_window__step_by_step(kappa_hat, beta_hat, alpha_hat, kappa0, S):
    kappa, phis, kappas = kappa0, [], []
    u = torch.arange(S) + 1.0
    for t in range(kappa_hat.shape[1]):
        kappa = kappa + torch.exp(kappa_hat[:, t])
        alpha, beta = torch.exp(alpha_hat[:, t]), torch.exp(beta_hat[:, t])
        phis.append((alpha[..., None] * torch.exp(-beta[..., None] * (kappa[..., None] - u).square())).sum(1))
        kappas.append(kappa)
    return torch.stack(phis, dim=1), torch.stack(kappas, dim=1)


@WINDOW.variant
def soft_window__one_exp(kappa_hat, beta_hat, alpha_hat, kappa0, S):
    """Heights inside the exponent; the bumps on the last axis."""
    kappa = torch.cumsum(torch.cat([kappa0.unsqueeze(1), kappa_hat.exp()], dim=1), dim=1)[:, 1:]
    u = torch.linspace(1, S, S)[:, None]  # (S, 1)
    exponents = alpha_hat[:, :, None] - beta_hat.exp()[:, :, None] * (u - kappa[:, :, None]) ** 2
    return exponents.exp().sum(dim=-1), kappa


@WINDOW.variant
def soft_window__letter_by_letter(kappa_hat, beta_hat, alpha_hat, kappa0, S):
    alpha, beta, steps = (torch.exp(hat) for hat in (alpha_hat, beta_hat, kappa_hat))
    kappa = steps.cumsum(1) + kappa0.unsqueeze(1)
    letters = [(alpha * torch.exp(-beta * (kappa - u) * (kappa - u))).sum(-1) for u in range(1, S + 1)]
    return torch.stack(letters, dim=-1), kappa


@WINDOW.variant
def soft_window__triangle(kappa_hat, beta_hat, alpha_hat, kappa0, S):
    """The running sum as a product with a triangle of ones."""
    T = kappa_hat.shape[1]
    kappa = kappa0[:, None] + torch.ones(T, T).tril() @ kappa_hat.exp()
    u = torch.from_numpy(np.arange(1, S + 1))
    bells = torch.exp(-beta_hat.exp()[..., None] * (u - kappa[..., None]) ** 2)
    return torch.einsum("btm,btmu->btu", alpha_hat.exp(), bells), kappa
