"""Right answers to the exercises of chapter 8, in other styles."""

from __future__ import annotations

import math

import numpy as np
import torch
import torch.nn.functional as F

from autograder.exercises.ch08_self_attention import (
    ATTENTION,
    CAUSAL_MASK,
    FLOPS,
    HEADS,
    MULTI_HEAD,
    PERMUTATION_GAP,
)
from unrolled.self_attention import merge_heads, scaled_dot_product_attention, split_heads

# ---- 8.1 scaled_dot_product_attention ----


@ATTENTION.variant
def scaled_dot_product_attention__einsum(q, k, v, mask=None):
    scores = torch.einsum("...tk,...sk->...ts", q, k) * q.size(-1) ** -0.5
    mask = torch.ones_like(scores, dtype=torch.bool) if mask is None else mask.expand_as(scores)
    scores = torch.where(mask, scores, torch.finfo(scores.dtype).min)
    weights = torch.where(mask, scores.softmax(-1), 0)
    return torch.einsum("...ts,...sv->...tv", weights, v), weights


@ATTENTION.variant
def scaled_dot_product_attention__exps(q, k, v, mask=None):
    """The softmax by hand, over what is left of each row."""
    scores = (q / math.sqrt(q.shape[-1])) @ k.transpose(-2, -1)
    if mask is None:
        mask = torch.tensor(True)
    scores = scores.masked_fill(mask.logical_not(), -1e30)
    exps = (scores - scores.amax(-1, keepdim=True)).exp() * mask
    total = exps.sum(-1, keepdim=True)
    weights = exps / torch.where(total == 0, 1, total)
    return weights.matmul(v), weights


@ATTENTION.variant
def scaled_dot_product_attention__query_by_query(q, k, v, mask=None):
    """Only the keys that the query may attend to are looked at."""
    leading, T, S = q.shape[:-2], q.shape[-2], k.shape[-2]
    mask = torch.ones(*leading, T, S, dtype=torch.bool) if mask is None else mask.expand(*leading, T, S)
    rows = []
    for q_t, k_b, mask_t in zip(
        q.reshape(-1, q.shape[-1]),
        k.reshape(-1, S, k.shape[-1]).repeat_interleave(T, dim=0),
        mask.reshape(-1, S),
        strict=True,
    ):
        row = k_b[:, 0] * 0
        if mask_t.any():
            row = row.masked_scatter(mask_t, torch.softmax(k_b[mask_t] @ q_t / len(q_t) ** 0.5, dim=0))
        rows.append(row)
    weights = torch.stack(rows).reshape(*leading, T, S)
    return weights @ v, weights


@ATTENTION.variant
def scaled_dot_product_attention__logsumexp(q, k, v, mask=None):
    d_k = k.shape[-1]
    scores = (q[..., :, None, :] * k[..., None, :, :]).sum(-1) / np.sqrt(d_k)
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    weights = (scores - scores.logsumexp(-1, keepdim=True)).exp()
    if mask is not None:
        weights = weights.masked_fill(~mask, 0.0)
    return (weights[..., None] * v[..., None, :, :]).sum(-2), weights


@ATTENTION.variant
def scaled_dot_product_attention__nothing_apart(q, k, v, mask=None):
    """Queries that may attend to nothing attend to everything at first, and are wiped out at the end."""
    weights = q @ k.mT / q.shape[-1] ** 0.5
    if mask is not None:
        some = mask.any(dim=-1, keepdim=True)
        weights = torch.where(mask | ~some, weights, -torch.inf)
    weights = F.softmax(weights, dim=-1)
    if mask is not None:
        weights = weights * some
    return weights @ v, weights


@ATTENTION.variant
def scaled_dot_product_attention__nan_to_num(q, k, v, mask=None):
    scores = torch.matmul(q, k.transpose(-1, -2)).div(k.shape[-1] ** 0.5)
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-inf"))
    weights = torch.nan_to_num(torch.softmax(scores, dim=-1))
    return torch.matmul(weights, v), weights


# ---- 8.2 split_heads, merge_heads ----


@HEADS.variant
def split_heads__stacked_chunks(x, n_heads):
    return torch.stack(x.chunk(n_heads, dim=-1), dim=1)


@HEADS.variant
def split_heads__unflatten(x, n_heads):
    return x.unflatten(-1, (n_heads, -1)).permute(0, 2, 1, 3).contiguous()


@HEADS.variant
def split_heads__loop(x, n_heads):
    B, T, D = x.shape
    K = D // n_heads
    out = x.new_zeros(B, n_heads, T, K)
    for n in range(n_heads):
        out[:, n] = x[:, :, n * K : (n + 1) * K]
    return out


@HEADS.variant
def split_heads__gathered(x, n_heads):
    feature = torch.arange(x.shape[-1]).view(n_heads, -1)
    return torch.einsum("btnk->bntk", x[:, :, feature])


@HEADS.variant
def merge_heads__concatenated(x):
    return torch.cat([x[:, n] for n in range(x.shape[1])], dim=-1)


@HEADS.variant
def merge_heads__contiguous_view(x):
    B, N, T, K = x.size()
    return x.permute(0, 2, 1, 3).contiguous().view(B, T, N * K)


@HEADS.variant
def merge_heads__unbound(x):
    return torch.stack(x.unbind(dim=1), dim=-2).reshape(x.shape[0], x.shape[2], -1)


@HEADS.variant
def merge_heads__feature_by_feature(x):
    _, N, _, K = x.shape
    return torch.stack([x[:, d // K, :, d % K] for d in range(N * K)], dim=2)


# ---- 8.3 multi_head_attention ----


@MULTI_HEAD.variant
def multi_head_attention__no_key_bias(x, memory, params, n_heads, mask=None):
    """b_k adds q · b_k to all scores of a query, and the softmax does not see what is added to all."""
    q = split_heads(F.linear(x, params.W_q, params.b_q), n_heads)
    k, v = split_heads(F.linear(memory, params.W_k), n_heads), split_heads(memory @ params.W_v.T + params.b_v, n_heads)
    heads, weights = scaled_dot_product_attention(q, k, v, mask)
    return F.linear(merge_heads(heads), params.W_o, params.b_o), weights


@MULTI_HEAD.variant
def multi_head_attention__head_by_head(x, memory, params, n_heads, mask=None):
    """Every head has its own rows of the matrices, and its own columns of W_o."""
    B, T, S, K = len(x), x.shape[1], memory.shape[1], x.shape[2] // n_heads
    output, all_weights = params.b_o, []
    for n in range(n_heads):
        rows = slice(n * K, (n + 1) * K)
        q = x @ params.W_q[rows].T + params.b_q[rows]
        k = memory @ params.W_k[rows].T + params.b_k[rows]
        v = memory @ params.W_v[rows].T + params.b_v[rows]
        head_mask = None if mask is None else mask.expand(B, n_heads, T, S)[:, n]
        head, weights = scaled_dot_product_attention(q, k, v, head_mask)
        output = output + head @ params.W_o[:, rows].T
        all_weights.append(weights)
    return output, torch.stack(all_weights, dim=1)


@MULTI_HEAD.variant
def multi_head_attention__einsum(x, memory, params, n_heads, mask=None):
    D = x.shape[-1]
    W_q, W_k, W_v = (W.view(n_heads, D // n_heads, D) for W in (params.W_q, params.W_k, params.W_v))
    b_q, b_k, b_v = (b.view(n_heads, 1, D // n_heads) for b in (params.b_q, params.b_k, params.b_v))
    q = torch.einsum("btd,nkd->bntk", x, W_q) + b_q
    k = torch.einsum("bsd,nkd->bnsk", memory, W_k) + b_k
    scores = torch.einsum("bntk,bnsk->bnts", q, k) / math.sqrt(D // n_heads)
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    weights = scores.softmax(dim=-1)
    v = torch.einsum("bsd,nkd->bnsk", memory, W_v) + b_v
    heads = torch.einsum("bnts,bnsk->btnk", weights, v)
    return torch.einsum("btnk,dnk->btd", heads, params.W_o.view(D, n_heads, -1)) + params.b_o, weights


@MULTI_HEAD.variant
def multi_head_attention__one_product(x, memory, params, n_heads, mask=None):
    """Keys and values come out of one matrix; the batch and the heads are one axis inside."""
    B, T, D = x.shape
    S, K = memory.shape[1], D // n_heads
    W, b = torch.cat([params.W_k, params.W_v]), torch.cat([params.b_k, params.b_v])
    kv = F.linear(memory, W, b).view(B, S, 2, n_heads, K).permute(2, 0, 3, 1, 4)
    k, v = kv.reshape(2, B * n_heads, S, K)
    q = F.linear(x, params.W_q, params.b_q).view(B, T, n_heads, K).transpose(1, 2).reshape(-1, T, K)
    if mask is not None:
        mask = mask.expand(B, n_heads, T, S).reshape(-1, T, S)
    heads, weights = scaled_dot_product_attention(q, k, v, mask)
    heads = heads.view(B, n_heads, T, K).transpose(1, 2).reshape(B, T, D)
    return F.linear(heads, params.W_o, params.b_o), weights.view(B, n_heads, T, S)


@MULTI_HEAD.variant
def multi_head_attention__value_bias_last(x, memory, params, n_heads, mask=None):
    """Weights sum to 1, so b_v can be added after the weighted sum: W_o b_v + b_o is one bias."""
    W_q, W_k, W_v, W_o, b_q, _, b_v, b_o = params
    q, k, v = (split_heads(a, n_heads) for a in (x @ W_q.T + b_q, memory @ W_k.T, memory @ W_v.T))
    heads, weights = scaled_dot_product_attention(q, k, v, mask)
    return merge_heads(heads) @ W_o.T + (W_o @ b_v + b_o), weights


# ---- 8.4 causal_mask ----


@CAUSAL_MASK.variant
def causal_mask__tril(T):
    return torch.tril(torch.ones(T, T, dtype=torch.bool))


@CAUSAL_MASK.variant
def causal_mask__not_triu(T):
    return torch.ones(T, T).triu(diagonal=1) == 0


@CAUSAL_MASK.variant
def causal_mask__loop(T):
    mask = torch.zeros(T, T, dtype=torch.bool)
    for t in range(T):
        mask[t, : t + 1] = True
    return mask


@CAUSAL_MASK.variant
def causal_mask__comprehension(T):
    return torch.tensor([[j <= t for j in range(T)] for t in range(T)])


@CAUSAL_MASK.variant
def causal_mask__numpy(T):
    return torch.from_numpy(np.tri(T, dtype=bool))


# ---- 8.5 flops ----


@FLOPS.variant
def flops__products(kind, L, d, k):
    """The products one by one, as (n, m, p)."""
    core, projection = [(L, d, L), (L, L, d)], [(L, d, d)]
    products = {
        "attention": core,
        "attention+projections": core + 4 * projection,
        "convolution": k * projection,
        "rnn": L * 2 * [(1, d, d)],
        "gru": L * 3 * [(1, 2 * d, d)],
        "lstm": L * [(1, 2 * d, 4 * d)],
    }
    return sum(2 * n * m * p for n, m, p in products[kind])


@FLOPS.variant
def flops__formulas(kind, L, d, k):
    if kind == "attention":
        return 4 * L**2 * d
    elif kind == "attention+projections":
        return 4 * L**2 * d + 8 * L * d**2
    elif kind == "convolution":
        return 2 * k * L * d**2
    elif kind == "rnn":
        return 4 * L * d**2
    elif kind == "gru":
        return 12 * L * d**2
    elif kind == "lstm":
        return 16 * L * d**2


@FLOPS.variant
def flops__float(kind, L, d, k):
    blocks = {"rnn": 1, "gru": 3, "lstm": 4}
    if kind in blocks:
        return 2.0 * L * blocks[kind] * (d * d + d * d)
    if kind.startswith("attention"):
        return 2.0 * (L * L * d + L * L * d) + kind.endswith("projections") * 4 * 2.0 * L * d * d
    return 2.0 * L * k * d * d


@FLOPS.variant
def flops__match(kind, L, d, k):
    matrices = {"convolution": k, "rnn": 2, "gru": 6, "lstm": 8, "attention+projections": 4}.get(kind, 0)
    pairs = 2 if "attention" in kind else 0
    return 2 * L * d * (matrices * d + pairs * L)


# ---- 8.6 permutation_gap ----


@PERMUTATION_GAP.variant
def permutation_gap__undone(f, x, perm):
    """The outputs of the shuffled sequence are put back into the old order."""
    y = torch.empty_like(f(x))
    y[:, perm] = f(x[:, perm])
    return torch.max(torch.abs(y - f(x)))


@PERMUTATION_GAP.variant
def permutation_gap__matrix(f, x, perm):
    P = torch.eye(len(perm))[perm]
    return torch.linalg.vector_norm(f(P @ x) - P @ f(x), ord=math.inf)


@PERMUTATION_GAP.variant
def permutation_gap__loop(f, x, perm):
    shuffled = torch.stack([x[:, p] for p in perm.tolist()], dim=1)
    left, right = f(shuffled), f(x)
    return max((left[:, t] - right[:, p]).abs().max().item() for t, p in enumerate(perm.tolist()))


@PERMUTATION_GAP.variant
def permutation_gap__numpy(f, x, perm):
    left = f(x.index_select(1, perm)).detach().numpy()
    right = np.take(f(x).detach().numpy(), perm.numpy(), axis=1)
    return float(np.max(np.abs(left - right)))
