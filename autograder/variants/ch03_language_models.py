"""Right answers to the exercises of chapter 3, in other styles."""

from __future__ import annotations

import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from autograder.exercises.ch03_language_models import (
    BIGRAM_LOGPROBS,
    LM_WINDOWS,
    NEXT_TOKEN_PROBS,
    PERPLEXITY,
    SAMPLE_SEQUENCE,
    SEQUENCE_LOGPROB,
    SGNS_LOSS,
    TIE,
)

# ---- 3.1 bigram_logprobs ----


@BIGRAM_LOGPROBS.variant
def bigram_logprobs__loop(docs, V, k):
    table = [[k] * V for _ in range(V)]
    for ids in docs:
        ids = ids.tolist()
        for t in range(1, len(ids)):
            table[ids[t - 1]][ids[t]] += 1
    return torch.tensor([[math.log(count) - math.log(sum(row)) for count in row] for row in table])


@BIGRAM_LOGPROBS.variant
def bigram_logprobs__accumulate(docs, V, k):
    counts = torch.zeros(V, V)
    for ids in docs:
        counts.index_put_((ids[:-1], ids[1:]), torch.ones(len(ids) - 1), accumulate=True)
    return (counts + k).log() - (counts.sum(dim=1, keepdim=True) + k * V).log()


@BIGRAM_LOGPROBS.variant
def bigram_logprobs__one_hot(docs, V, k):
    counts = sum(F.one_hot(ids[:-1], V).T @ F.one_hot(ids[1:], V) for ids in docs)
    return torch.log_softmax(torch.log(counts + k).to(torch.get_default_dtype()), dim=1)


@BIGRAM_LOGPROBS.variant
def bigram_logprobs__numpy(docs, V, k):
    counts = np.full((V, V), k, dtype=float)
    for ids in docs:
        np.add.at(counts, (ids[:-1].numpy(), ids[1:].numpy()), 1)
    return np.log(counts / counts.sum(axis=1, keepdims=True))


# ---- 3.2 lm_windows ----


@LM_WINDOWS.variant
def lm_windows__starts(docs, T):
    inputs, targets = [], []
    for ids in docs:
        for start in range(0, len(ids) - T, T):
            inputs.append(ids[start : start + T])
            targets.append(ids[start + 1 : start + T + 1])
    return torch.stack(inputs), torch.stack(targets)


@LM_WINDOWS.variant
def lm_windows__unfold(docs, T):
    windows = torch.cat([ids.unfold(0, T + 1, T) for ids in docs if len(ids) > T])
    return windows[:, :-1], windows[:, 1:]


@LM_WINDOWS.variant
def lm_windows__split(docs, T):
    full = lambda ids: [piece for piece in ids.split(T) if len(piece) == T]  # noqa: E731
    inputs = torch.stack([piece for ids in docs for piece in full(ids[:-1])])
    return inputs, torch.stack([piece for ids in docs for piece in full(ids[1:])])


@LM_WINDOWS.variant
def lm_windows__indices(docs, T):
    pairs = []
    for ids in docs:
        place = torch.arange(0, max(len(ids) - T, 0), T)[:, None] + torch.arange(T)
        pairs.append(torch.stack([ids[place], ids[place + 1]]))
    return torch.cat(pairs, dim=1).unbind(0)


# ---- 3.3 sequence_logprob ----


@SEQUENCE_LOGPROB.variant
def sequence_logprob__cross_entropy(logits, ids):
    return -F.cross_entropy(logits[:-1], ids[1:], reduction="sum")


@SEQUENCE_LOGPROB.variant
def sequence_logprob__logsumexp(logits, ids):
    right = logits[torch.arange(len(ids) - 1), ids[1:]]
    return right.sum() - torch.logsumexp(logits[:-1], dim=-1).sum()


@SEQUENCE_LOGPROB.variant
def sequence_logprob__step_by_step(logits, ids):
    total = 0
    for t in range(1, len(ids)):
        o = logits[t - 1] - logits[t - 1].max()
        total = total + o[ids[t]] - torch.log(torch.exp(o).sum())
    return total


@SEQUENCE_LOGPROB.variant
def sequence_logprob__one_hot(logits, ids):
    log_p = logits.log_softmax(-1)[:-1]
    return torch.where(F.one_hot(ids, logits.shape[1])[1:].bool(), log_p, 0).sum()


# ---- 3.4 perplexity ----


@PERPLEXITY.variant
def perplexity__bits(nll, n):
    bits = nll.sum() / math.log(2)
    return 2 ** (bits / n.sum())


@PERPLEXITY.variant
def perplexity__weighted(nll, n):
    share = n / n.sum()
    return math.exp((share * (nll / n)).sum().item())


@PERPLEXITY.variant
def perplexity__loop(nll, n):
    total, tokens = 0.0, 0
    for surprise, count in zip(nll.tolist(), n.tolist(), strict=True):
        total, tokens = total + surprise, tokens + count
    return math.e ** (total / tokens)


# ---- 3.5 tie ----


@TIE.variant
def tie__values_moved(model):
    with torch.no_grad():
        model.output.weight.copy_(model.embedding.weight)
    model.embedding.weight = model.output.weight
    return list(model.parameters())


@TIE.variant
def tie__new_parameter(model):
    shared = nn.Parameter(model.embedding.weight.detach().clone())
    model.embedding.weight = shared
    model.output.weight = shared
    return model.parameters()


@TIE.variant
def tie__set(model):
    setattr(model.output, "weight", model.embedding.weight)  # noqa: B010
    return {parameter for layer in model.children() for parameter in layer.parameters()}


@TIE.variant
def tie__by_name(model):
    old = model.output.weight
    model.output.register_parameter("weight", model.embedding.weight)
    return [parameter for _, parameter in model.named_parameters() if parameter is not old]


# ---- 3.6 next_token_probs ----


@NEXT_TOKEN_PROBS.variant
def next_token_probs__scores_masked(logits, temperature=1.0, top_k=None, top_p=None):
    o = logits / temperature
    if top_k is not None:
        o = o.masked_fill(o < o.topk(top_k).values[-1], -math.inf)
    if top_p is not None:
        best, order = o.sort(descending=True)
        drop = best.softmax(0).cumsum(0) > top_p
        drop[1:] = drop[:-1].clone()
        drop[0] = False
        o = o.masked_fill(torch.zeros_like(drop).scatter(0, order, drop), -math.inf)
    return o.softmax(0)


@NEXT_TOKEN_PROBS.variant
def next_token_probs__one_by_one(logits, temperature=1.0, top_k=None, top_p=None):
    weight = torch.exp((logits - logits.max()) / temperature).tolist()
    order = sorted(range(len(weight)), key=lambda i: -weight[i])[:top_k]
    total, kept, reached = sum(weight[i] for i in order), [], 0.0
    for i in order:
        kept.append(i)
        reached += weight[i] / total
        if top_p is not None and reached >= top_p:
            break
    total = sum(weight[i] for i in kept)
    return torch.tensor([weight[i] / total if i in kept else 0.0 for i in range(len(weight))])


@NEXT_TOKEN_PROBS.variant
def next_token_probs__ranks(logits, temperature=1.0, top_k=None, top_p=None):
    p = F.softmax(logits / temperature, dim=-1)
    if top_k is not None:
        rank = (p[None, :] > p[:, None]).sum(dim=1)
        p = p * (rank < top_k)
        p = p / p.sum()
    if top_p is not None:
        likelier = (p[None, :] > p[:, None]).to(p.dtype) @ p
        p = p * (likelier < top_p)
    return p / p.sum()


@NEXT_TOKEN_PROBS.variant
def next_token_probs__searched(logits, temperature=1.0, top_k=None, top_p=None):
    p = torch.softmax(logits.div(temperature), 0)
    best, order = torch.topk(p, len(p) if top_k is None else top_k)
    best = best / best.sum()
    if top_p is not None:
        m = int(torch.searchsorted(best.cumsum(0), top_p)) + 1
        best, order = best[:m], order[:m]
    probs = torch.zeros_like(p)
    probs[order] = best[: len(order)] / best.sum()
    return probs


# ---- 3.7 sample_sequence ----


@SAMPLE_SEQUENCE.variant
def sample_sequence__search(step, h, bos, n, u):
    ids = torch.empty(n, dtype=torch.long)
    for t in range(n):
        p, h = step(bos if t == 0 else ids[t - 1], h)
        ids[t] = torch.searchsorted(p.cumsum(0), u[t], right=True).clamp(max=len(p) - 1)
    return ids


@SAMPLE_SEQUENCE.variant
def sample_sequence__walk(step, h, bos, n, u):
    sequence = [bos]
    for u_t in u.tolist():
        p, h = step(sequence[-1], h)
        reached, w = 0.0, -1
        while reached <= u_t and w < len(p) - 1:
            w += 1
            reached += p[w].item()
        sequence.append(w)
    return sequence[1:]


@SAMPLE_SEQUENCE.variant
def sample_sequence__first_above(step, h, bos, n, u):
    """One step ahead of the draws: the last call of step is one more than needed."""
    ids, (p, h) = [], step(bos, h)
    for t in range(n):
        ids.append((torch.cumsum(p, 0) > u[t]).nonzero()[0, 0])
        p, h = step(ids[-1], h)
    return torch.stack(ids)


@SAMPLE_SEQUENCE.variant
def sample_sequence__recursive(step, h, bos, n, u):
    def rest(w, h, t):
        if t == n:
            return []
        p, h = step(w, h)
        w = int(torch.argmax((p.cumsum(0) > u[t]).int()))
        return [w, *rest(w, h, t + 1)]

    return np.array(rest(bos, h, 0))


# ---- 3.8 sgns_loss ----


@SGNS_LOSS.variant
def sgns_loss__softplus(c, o, neg, E_in, E_out):
    v = E_in[c].unsqueeze(2)
    true, random = (E_out[o].unsqueeze(1) @ v).flatten(), (E_out[neg] @ v).squeeze(2)
    return (F.softplus(-true) + F.softplus(random).sum(1)).mean()


@SGNS_LOSS.variant
def sgns_loss__binary_cross_entropy(c, o, neg, E_in, E_out):
    words = torch.cat([o[:, None], neg], dim=1)
    scores = torch.einsum("be,bke->bk", E_in[c], E_out[words])
    label = torch.zeros_like(scores)
    label[:, 0] = 1
    return F.binary_cross_entropy_with_logits(scores, label, reduction="sum") / len(c)


@SGNS_LOSS.variant
def sgns_loss__pair_by_pair(c, o, neg, E_in, E_out):
    total = 0
    for centre, neighbour, random in zip(c, o, neg, strict=True):
        v = F.embedding(centre, E_in)
        total = total - F.logsigmoid(E_out[neighbour] @ v)
        for word in random:
            total = total - F.logsigmoid(-(E_out[word] @ v))
    return total / len(c)


@SGNS_LOSS.variant
def sgns_loss__signs(c, o, neg, E_in, E_out):
    scores = E_in[c] @ E_out.T
    words = torch.cat([neg, o[:, None]], dim=1)
    sign = torch.cat([-torch.ones_like(neg), torch.ones_like(o)[:, None]], dim=1)
    return -F.logsigmoid(sign * scores.gather(1, words)).sum(dim=1).mean()
