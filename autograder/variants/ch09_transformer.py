"""Right answers to the exercises of chapter 9, in other styles."""

from __future__ import annotations

import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from autograder.exercises.ch09_transformer import (
    ADAM,
    DECODER_LAYER,
    DROPOUT,
    EMBED,
    ENCODER_LAYER,
    FEED_FORWARD,
    LAYER_NORM,
    MASKS,
    NOAM,
    POSITIONS,
)
from unrolled.masks import causal_mask
from unrolled.normalisation import layer_norm
from unrolled.self_attention import multi_head_attention
from unrolled.transformer import feed_forward

# ---- 9.1 sinusoidal_positions ----


@POSITIONS.variant
def sinusoidal_positions__slices(T, D):
    """With the power as exp of a logarithm, written into every second column."""
    P = torch.zeros(T, D)
    t = torch.arange(T).unsqueeze(1)
    rate = torch.exp(torch.arange(0, D, 2) * (-math.log(10000.0) / D))
    P[:, 0::2] = torch.sin(t * rate)
    P[:, 1::2] = torch.cos(t * rate)
    return P


@POSITIONS.variant
def sinusoidal_positions__loop(T, D):
    rows = []
    for t in range(T):
        row = []
        for i in range(D // 2):
            angle = t / 10000 ** (2 * i / D)
            row += [math.sin(angle), math.cos(angle)]
        rows.append(row)
    return torch.tensor(rows)


@POSITIONS.variant
def sinusoidal_positions__shifted_sine(T, D):
    """A cosine is a sine that is a quarter of a turn ahead."""
    column = torch.arange(D)
    angle = torch.outer(torch.arange(T) * 1.0, 10000.0 ** -((column - column % 2) / D))
    return torch.sin(angle + math.pi / 2 * (column % 2))


@POSITIONS.variant
def sinusoidal_positions__single_precision(T, D):
    t, i = torch.arange(T, dtype=torch.float32), torch.arange(0, D, 2, dtype=torch.float32)
    angle = t[:, None] / torch.pow(10000, i / D)
    P = torch.zeros(T, D, dtype=torch.float32)
    P[:, ::2], P[:, 1::2] = angle.sin(), angle.cos()
    return P


@POSITIONS.variant
def sinusoidal_positions__numpy(T, D):
    t, column = np.ogrid[:T, :D]
    angle = t / np.power(10000, 2 * (column // 2) / D)
    return torch.from_numpy(np.where(column % 2 == 0, np.sin(angle), np.cos(angle)))


@POSITIONS.variant
def sinusoidal_positions__complex(T, D):
    """Each pair is a number on the unit circle."""
    angle = torch.arange(T)[:, None] * torch.logspace(0, 4 * (2 / D - 1), D // 2)
    turned = torch.polar(torch.ones_like(angle), math.pi / 2 - angle)  # cos of it is the sine
    return torch.view_as_real(turned).flatten(1)


# ---- 9.2 layer_norm ----


@LAYER_NORM.variant
def layer_norm__var(x, g, b, eps=1e-5):
    variance, mean = torch.var_mean(x, dim=-1, keepdim=True, unbiased=False)
    return torch.addcmul(b, g, (x - mean) * torch.rsqrt(variance + eps))


@LAYER_NORM.variant
def layer_norm__mean_of_squares(x, g, b, eps=1e-5):
    """The variance as the mean of the squares less the square of the mean."""
    mean = x.mean(-1, keepdim=True)
    variance = (x**2).mean(-1, keepdim=True) - mean**2
    return (x - mean) / torch.sqrt(variance + eps) * g + b


@LAYER_NORM.variant
def layer_norm__vector_by_vector(x, g, b, eps=1e-5):
    D, rows = x.shape[-1], []
    for row in x.reshape(-1, D):
        centred = row - row.sum() / D
        rows.append(g * centred / ((centred @ centred) / D + eps) ** 0.5 + b)
    return torch.stack(rows).reshape(x.shape)


@LAYER_NORM.variant
def layer_norm__matrix(x, g, b, eps=1e-5):
    """Centring is a projection."""
    D = x.shape[-1]
    centred = x @ (torch.eye(D) - torch.full((D, D), 1 / D))
    return torch.einsum("...d,...,d->...d", centred, (centred.pow(2).mean(-1) + eps).pow(-0.5), g) + b


@LAYER_NORM.variant
def layer_norm__corrected(x, g, b, eps=1e-5):
    """From the unbiased variance back to the plain one."""
    D = x.size(-1)
    return g * ((x - x.mean(-1, True)) / (x.var(-1, keepdim=True) * (D - 1) / D + eps).sqrt()) + b


# ---- 9.3 feed_forward ----


@FEED_FORWARD.variant
def feed_forward__linear_layers(x, params):
    return F.linear(F.relu(F.linear(x, params.W_1, params.b_1)), params.W_2, params.b_2)


@FEED_FORWARD.variant
def feed_forward__einsum(x, params):
    W_1, b_1, W_2, b_2 = params
    hidden = (torch.einsum("...d,fd->...f", x, W_1) + b_1).clamp(min=0)
    return torch.einsum("...f,df->...d", hidden, W_2) + b_2


@FEED_FORWARD.variant
def feed_forward__step_by_step(x, params):
    rows = []
    for row in x.reshape(-1, x.shape[-1]):
        hidden = torch.maximum(params.W_1 @ row + params.b_1, torch.zeros(()))
        rows.append(params.W_2 @ hidden + params.b_2)
    return torch.stack(rows).reshape(x.shape)


@FEED_FORWARD.variant
def feed_forward__masked(x, params):
    hidden = x.matmul(params.W_1.mT) + params.b_1
    return torch.where(hidden > 0, hidden, 0) @ params.W_2.mT + params.b_2


# ---- 9.4 make_masks ----


@MASKS.variant
def make_masks__unsqueezed(src, tgt, pad):
    src_mask = src.ne(pad).unsqueeze(1).unsqueeze(2)
    tgt_mask = tgt.ne(pad).unsqueeze(1).unsqueeze(2)
    causal = torch.tril(torch.ones(tgt.size(1), tgt.size(1))).bool()
    return src_mask, torch.logical_and(tgt_mask, causal)


@MASKS.variant
def make_masks__loops(src, tgt, pad):
    (B, S), T = src.shape, tgt.shape[1]
    src_mask, tgt_mask = torch.zeros(B, 1, 1, S, dtype=torch.bool), torch.zeros(B, 1, T, T, dtype=torch.bool)
    for b in range(B):
        for s in range(S):
            src_mask[b, 0, 0, s] = src[b, s] != pad
        for t in range(T):
            for j in range(t + 1):
                tgt_mask[b, 0, t, j] = tgt[b, j] != pad
    return src_mask, tgt_mask


@MASKS.variant
def make_masks__forbidden_first(src, tgt, pad):
    """What may not be seen, turned round at the end."""
    T = tgt.shape[1]
    hidden = (tgt == pad).view(len(tgt), 1, 1, T) | torch.ones(T, T, dtype=torch.bool).triu(diagonal=1)
    return ~(src == pad).view(len(src), 1, 1, -1), ~hidden


@MASKS.variant
def make_masks__einsum(src, tgt, pad):
    T = tgt.shape[1]
    together = torch.einsum("bj,tj->btj", (tgt != pad).float(), causal_mask(T).float())
    return (src != pad)[:, None, None], together[:, None] > 0


# ---- 9.5 encoder_layer ----


@ENCODER_LAYER.variant
def encoder_layer__inner_function(x, params, n_heads, mask=None, norm="pre", drop=None):
    """The residual connection as a function of what it goes round."""
    weights = None

    def attend(x):
        nonlocal weights
        found, weights = multi_head_attention(x, x, params.attention, n_heads, mask)
        return found

    def around(x, f, g, b):
        if norm == "pre":
            new = f(layer_norm(x, g, b))
            return x + (new if drop is None else drop(new))
        new = f(x)
        return layer_norm(x + (new if drop is None else drop(new)), g, b)

    x = around(x, attend, *params.norm_1)
    x = around(x, lambda x: feed_forward(x, params.feed_forward), *params.norm_2)
    return x, weights


@ENCODER_LAYER.variant
def encoder_layer__tests_inside(x, params, n_heads, mask=None, norm="pre", drop=None):
    attention, network, (g_1, b_1), (g_2, b_2) = params
    keep = (lambda x: x) if drop is None else drop
    z = layer_norm(x, g_1, b_1) if norm == "pre" else x
    output, weights = multi_head_attention(z, z, attention, n_heads, mask)
    x = x + keep(output)
    if norm == "post":
        x = layer_norm(x, g_1, b_1)
    z = layer_norm(x, g_2, b_2) if norm == "pre" else x
    x = x + keep(feed_forward(z, network))
    if norm == "post":
        x = layer_norm(x, g_2, b_2)
    return x, weights


@ENCODER_LAYER.variant
def encoder_layer__torch_norms(x, params, n_heads, mask=None, norm="pre", drop=None):
    """With torch's norm and linear layers in the place of our own."""
    D, keep, (W_1, b_1, W_2, b_2) = x.shape[-1:], drop or nn.Identity(), params.feed_forward
    first = nn.Identity() if norm == "post" else lambda x: F.layer_norm(x, D, params.norm_1.g, params.norm_1.b)
    second = nn.Identity() if norm == "post" else lambda x: F.layer_norm(x, D, params.norm_2.g, params.norm_2.b)
    out, weights = multi_head_attention(first(x), first(x), params.attention, n_heads, mask)
    x = x + keep(out)
    x = x if norm == "pre" else F.layer_norm(x, D, *params.norm_1)
    x = x + keep(F.linear(F.relu(F.linear(second(x), W_1, b_1)), W_2, b_2))
    return x if norm == "pre" else F.layer_norm(x, D, *params.norm_2), weights


# ---- 9.6 decoder_layer ----


@DECODER_LAYER.variant
def decoder_layer__inner_function(y, memory, params, n_heads, tgt_mask=None, src_mask=None, norm="pre", drop=None):
    seen = []

    def around(x, f, norm_params):
        new = f(layer_norm(x, *norm_params) if norm == "pre" else x)
        x = x + (drop(new) if drop is not None else new)
        return x if norm == "pre" else layer_norm(x, *norm_params)

    def look(x, memory, attention, mask):
        found, weights = multi_head_attention(x, memory, attention, n_heads, mask)
        seen.append(weights)
        return found

    y = around(y, lambda x: look(x, x, params.self_attention, tgt_mask), params.norm_1)
    y = around(y, lambda x: look(x, memory, params.cross_attention, src_mask), params.norm_2)
    y = around(y, lambda x: feed_forward(x, params.feed_forward), params.norm_3)
    return y, *seen


@DECODER_LAYER.variant
def decoder_layer__tests_inside(y, memory, params, n_heads, tgt_mask=None, src_mask=None, norm="pre", drop=None):
    pre = norm == "pre"
    drop = drop or (lambda x: x)
    q = layer_norm(y, params.norm_1.g, params.norm_1.b) if pre else y
    found, self_weights = multi_head_attention(q, q, params.self_attention, n_heads, tgt_mask)
    y = drop(found) + y
    if not pre:
        y = layer_norm(y, params.norm_1.g, params.norm_1.b)
    q = layer_norm(y, params.norm_2.g, params.norm_2.b) if pre else y
    found, cross_weights = multi_head_attention(q, memory, params.cross_attention, n_heads, src_mask)
    y = drop(found) + y
    if not pre:
        y = layer_norm(y, params.norm_2.g, params.norm_2.b)
    q = layer_norm(y, params.norm_3.g, params.norm_3.b) if pre else y
    y = drop(feed_forward(q, params.feed_forward)) + y
    if not pre:
        y = layer_norm(y, params.norm_3.g, params.norm_3.b)
    return y, self_weights, cross_weights


@DECODER_LAYER.variant
def decoder_layer__loop(y, memory, params, n_heads, tgt_mask=None, src_mask=None, norm="pre", drop=None):
    """Three sub-layers in one loop."""
    all_weights = []
    for place, (g, b) in enumerate((params.norm_1, params.norm_2, params.norm_3)):
        x = layer_norm(y, g, b) if norm == "pre" else y
        if place == 2:
            new = feed_forward(x, params.feed_forward)
        else:
            other, mask = ((x, tgt_mask), (memory, src_mask))[place]
            new, weights = multi_head_attention(x, other, params[place], n_heads, mask)
            all_weights.append(weights)
        y = y + (new if drop is None else drop(new))
        y = layer_norm(y, g, b) if norm == "post" else y
    return y, all_weights[0], all_weights[1]


# ---- 9.7 embed ----


@EMBED.variant
def embed__functional(ids, E, P):
    T, D = ids.size(1), E.size(1)
    return F.embedding(ids, E) * D**0.5 + P[:T].unsqueeze(0)


@EMBED.variant
def embed__one_hot(ids, E, P):
    """A look-up is a product with a one-hot vector."""
    words = F.one_hot(ids, len(E)).to(E.dtype) @ E
    return math.sqrt(E.shape[-1]) * words + P.narrow(0, 0, ids.shape[1])


@EMBED.variant
def embed__loop(ids, E, P):
    root = np.sqrt(E.shape[1])
    return torch.stack([torch.stack([root * E[i] + P[t] for t, i in enumerate(row)]) for row in ids.tolist()])


@EMBED.variant
def embed__looked_up_places(ids, E, P):
    places = torch.arange(ids.shape[1]).expand_as(ids)
    return torch.add(P[places], E[ids], alpha=P.shape[1] ** 0.5)


# ---- 9.8 dropout ----


@DROPOUT.variant
def dropout__where(x, p, train, u):
    if train:
        return torch.where(u < p, 0.0, x / (1 - p))
    return x


@DROPOUT.variant
def dropout__multiplied_mask(x, p, train, u):
    keep = (u >= p).to(x.dtype) if train else torch.ones_like(x)
    return x * keep / (1 - p * train)


@DROPOUT.variant
def dropout__clone(x, p, train, u):
    y = x.clone()
    if train:
        y[u < p] = 0
        y = y * (1 / (1 - p))
    return y


@DROPOUT.variant
def dropout__heaviside(x, p, train, u):
    if not train:
        return x + 0
    return x * torch.heaviside(u - p, torch.ones(())).div(1 - p)


# ---- 9.9 adam_step ----


@ADAM.variant
def adam_step__lerp(p, g, m, v, t, lr=1e-3, beta_1=0.9, beta_2=0.999, eps=1e-8):
    m, v = torch.lerp(g, m, beta_1), torch.lerp(g**2, v, beta_2)
    return p - lr * (m / (1 - beta_1**t)) / ((v / (1 - beta_2**t)) ** 0.5 + eps), m, v


@ADAM.variant
def adam_step__as_torch_does(p, g, m, v, t, lr=1e-3, beta_1=0.9, beta_2=0.999, eps=1e-8):
    """The roots apart, the step size corrected first."""
    m = m + (g - m) * (1 - beta_1)
    v = (beta_2 * v).addcmul(g, g, value=1 - beta_2)
    below = v.sqrt() / math.sqrt(1 - beta_2**t) + eps
    return p.addcdiv(m, below, value=-lr / (1 - beta_1**t)), m, v


@ADAM.variant
def adam_step__entry_by_entry(p, g, m, v, t, lr=1e-3, beta_1=0.9, beta_2=0.999, eps=1e-8):
    results = []
    for p_i, g_i, m_i, v_i in zip(*(tensor.flatten().tolist() for tensor in (p, g, m, v)), strict=True):
        m_i = beta_1 * m_i + (1 - beta_1) * g_i
        v_i = beta_2 * v_i + (1 - beta_2) * g_i**2
        step = lr * (m_i / (1 - beta_1**t)) / (math.sqrt(v_i / (1 - beta_2**t)) + eps)
        results.append((p_i - step, m_i, v_i))
    return tuple(torch.tensor(column).reshape(p.shape) for column in zip(*results, strict=True))


@ADAM.variant
def adam_step__clones(p, g, m, v, t, lr=1e-3, beta_1=0.9, beta_2=0.999, eps=1e-8):
    """In place, on copies."""
    p, m, v = p.clone(), m.clone(), v.clone()
    m.mul_(beta_1).add_(g, alpha=1 - beta_1)
    v.mul_(beta_2).addcmul_(g, g, value=1 - beta_2)
    p.sub_(lr * m.div(1 - beta_1**t).div(v.div(1 - beta_2**t).sqrt().add(eps)))
    return p, m, v


# ---- 9.10 noam_lr ----


@NOAM.variant
def noam_lr__cases(step, d, w):
    if step < w:
        return step / (w * math.sqrt(d * w))
    return 1 / math.sqrt(d * step)


@NOAM.variant
def noam_lr__tensors(step, d, w):
    step = torch.tensor(step, dtype=torch.get_default_dtype())
    return (torch.minimum(step.pow(-0.5), step * w**-1.5) * d**-0.5).item()


@NOAM.variant
def noam_lr__numpy(step, d, w):
    with np.errstate(divide="ignore"):
        step = np.float64(step)
        return float(np.minimum(step**-0.5, step * float(w) ** -1.5) / np.sqrt(d))


@NOAM.variant
def noam_lr__infinity_first(step, d, w):
    falling = step**-0.5 if step > 0 else math.inf
    return min(falling, step * w**-1.5) / d**0.5
