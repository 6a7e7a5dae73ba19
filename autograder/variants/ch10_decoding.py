"""Right answers to the exercises of chapter 10, in other styles."""

from __future__ import annotations

import math

import numpy as np
import torch

from autograder.exercises.ch10_decoding import (
    ATTENTION_ROLLOUT,
    BEAM_SEARCH,
    BLEU,
    INDUCTION_SCORE,
    RANK_HYPOTHESES,
)
from unrolled.beam import Hypothesis
from unrolled.bleu import ngrams

# ---- 10.1 beam_search ----


@BEAM_SEARCH.variant
def beam_search__state_beside(step, h0, bos, eos, k, max_len):
    """Each beginning carries its own state along, and step is asked about one at a time."""
    beam = [(0.0, [bos], h0)]
    for _ in range(max_len):
        grown = []
        for logp, tokens, h in beam:
            if tokens[-1] == eos:
                grown.append((logp, tokens, h))
                continue
            scores, new = step(torch.tensor(tokens[-1:]), h)
            for v, more in enumerate(torch.log_softmax(scores[0], dim=0)):
                grown.append((logp + more.item(), [*tokens, v], new))
        beam = sorted(grown, key=lambda entry: entry[0], reverse=True)[:k]
    return [(tokens[1:], logp) for logp, tokens, _ in beam]


@BEAM_SEARCH.variant
def beam_search__topk_of_all(step, h0, bos, eos, k, max_len):
    """One table of all extensions. One that has ended runs on unused: only EOS follows it, and costs nothing."""
    y, h = torch.tensor([bos]), h0
    logp, tokens = h0.new_zeros(1), torch.empty(1, 0, dtype=torch.long)
    for _ in range(max_len):
        scores, h = step(y, h)
        more = scores.log_softmax(dim=-1)
        V, ended = more.shape[1], y == eos
        stay = torch.full((V,), -math.inf, dtype=more.dtype)
        stay[eos] = 0.0
        more = torch.where(ended[:, None], stay, more)
        table = (logp[:, None] + more).flatten()
        logp, place = table.topk(min(k, int((table > -math.inf).sum())))
        row, y = place // V, place % V
        tokens, h = torch.cat([tokens[row], y[:, None]], dim=1), h[row]
        if (y == eos).all():
            break
    rows = [row.tolist() for row in tokens]
    lengths = [row.index(eos) + 1 if eos in row else len(row) for row in rows]
    return [Hypothesis(tuple(row[:n]), p.item()) for row, n, p in zip(rows, lengths, logp, strict=True)]


@BEAM_SEARCH.variant
def beam_search__k_rows_from_the_start(step, h0, bos, eos, k, max_len):
    """k rows at every step; at the first all but one are impossible, so that no beginning comes twice."""
    h = h0.repeat(k, 1)
    logps = [0.0] + [-math.inf] * (k - 1)
    sentences = [[] for _ in range(k)]
    for _ in range(max_len):
        y = torch.tensor([sentence[-1] if sentence else bos for sentence in sentences])
        scores, h = step(y, h)
        more = torch.log_softmax(scores, dim=1)
        choices = []
        for i in range(k):
            if sentences[i] and sentences[i][-1] == eos:
                choices.append((logps[i], i, None))
            else:
                choices += [(logps[i] + more[i, v].item(), i, v) for v in range(more.shape[1])]
        choices = sorted(choices, key=lambda choice: -choice[0])[:k]
        logps = [choice[0] for choice in choices]
        sentences = [sentences[i] + ([] if v is None else [v]) for _, i, v in choices]
        sentences += [[eos]] * (k - len(choices))
        logps += [-math.inf] * (k - len(choices))
        h = h[[i for _, i, _ in choices] + [0] * (k - len(choices))]
        if all(sentence[-1] == eos for sentence in sentences):
            break
    return [Hypothesis(tuple(s), p) for s, p in zip(sentences, logps, strict=True) if p > -math.inf]


@BEAM_SEARCH.variant
def beam_search__k_best_of_each_first(step, h0, bos, eos, k, max_len):
    """Of one beginning more than k extensions cannot stay: take its k best, then the k best of all of these."""
    alive, done = [((), torch.zeros((), dtype=h0.dtype), h0[0])], []
    with torch.no_grad():
        for _ in range(max_len):
            if not alive:
                break
            y = torch.as_tensor([tokens[-1] if tokens else bos for tokens, _, _ in alive])
            scores, states = step(y, torch.stack([state for _, _, state in alive]))
            scores = scores - scores.logsumexp(dim=1, keepdim=True)
            pool = [(tokens, logp, None) for tokens, logp in done]
            for (tokens, logp, _), row, state in zip(alive, scores, states, strict=True):
                best = row.topk(min(k, len(row)))
                for more, v in zip(best.values, best.indices.tolist(), strict=True):
                    pool.append(((*tokens, v), logp + more, state))
            pool.sort(key=lambda entry: entry[1].item(), reverse=True)
            del pool[k:]
            done = [(tokens, logp) for tokens, logp, _ in pool if tokens[-1] == eos]
            alive = [entry for entry in pool if entry[0][-1] != eos]
    left = done + [(tokens, logp) for tokens, logp, _ in alive]
    return sorted(left, key=lambda entry: entry[1].item(), reverse=True)


# ---- 10.2 rank_hypotheses ----


@RANK_HYPOTHESES.variant
def rank_hypotheses__argsort(hyps, logps, alpha):
    lengths = torch.tensor([float(len(hyp)) for hyp in hyps])
    return torch.argsort(torch.tensor(logps) / lengths.pow(alpha), descending=True)


@RANK_HYPOTHESES.variant
def rank_hypotheses__numpy(hyps, logps, alpha):
    cost = -np.asarray(logps) / np.array([len(hyp) for hyp in hyps], dtype=float) ** alpha
    return np.argsort(cost).tolist()


@RANK_HYPOTHESES.variant
def rank_hypotheses__pairs(hyps, logps, alpha):
    pairs = []
    for place in range(len(hyps)):
        pairs.append((logps[place] * len(hyps[place]) ** -alpha, place))
    pairs.sort(reverse=True)
    return [place for _, place in pairs]


@RANK_HYPOTHESES.variant
def rank_hypotheses__of_probabilities(hyps, logps, alpha):
    """The exponential of the score: it grows with the score, so the order is the same."""
    scores = {i: math.exp(logp / math.pow(len(hyps[i]), alpha)) for i, logp in enumerate(logps)}
    return sorted(scores, key=scores.get, reverse=True)


# ---- 10.3 bleu ----


@BLEU.variant
def bleu__counters(hyps, refs):
    """The clipped counts with the & of counters; a logarithm only if all four precisions are positive."""
    hits, totals = [0] * 4, [0] * 4
    for hyp, ref in zip(hyps, refs, strict=True):
        for n in range(4):
            written = ngrams(hyp, n + 1)
            hits[n] += (written & ngrams(ref, n + 1)).total()
            totals[n] += written.total()
    if min(hits) == 0:
        return 0.0
    c, r = sum(len(hyp) for hyp in hyps), sum(len(ref) for ref in refs)
    penalty = 1.0 if c >= r else math.exp(1 - r / c)
    return penalty * math.prod(h / t for h, t in zip(hits, totals, strict=True)) ** 0.25


@BLEU.variant
def bleu__lists(hyps, refs):
    """Without counters: each group of the hypothesis strikes out one of the reference."""
    logs = 0.0
    for n in (4, 3, 2, 1):
        right = written = 0
        for i in range(len(hyps)):
            left = [list(refs[i][j : j + n]) for j in range(len(refs[i]) - n + 1)]
            for j in range(len(hyps[i]) - n + 1):
                written += 1
                group = list(hyps[i][j : j + n])
                if group in left:
                    left.remove(group)
                    right += 1
        if not right:
            return 0
        logs += 0.25 * (math.log(right) - math.log(written))
    ratio = sum(len(r) for r in refs) / sum(len(h) for h in hyps)
    return math.exp(logs + (1 - ratio if ratio > 1 else 0))


@BLEU.variant
def bleu__tensors(hyps, refs):
    """The logarithm of 0 is -inf in torch, and its exponential 0: nothing need be asked but where nothing is."""
    hits, totals = torch.zeros(4), torch.zeros(4)
    for hyp, ref in zip(hyps, refs, strict=True):
        for n in range(1, 5):
            found, right = ngrams(hyp, n), ngrams(ref, n)
            hits[n - 1] += sum(min(found[g], right[g]) for g in found)
            totals[n - 1] += max(0, len(hyp) - n + 1)
    c, r = sum(map(len, hyps)), sum(map(len, refs))
    brevity = min(1.0, math.exp(1 - r / max(c, 1)))
    return brevity * (hits / totals.clamp(min=1)).log().mean().exp()


@BLEU.variant
def bleu__geometric_numpy(hyps, refs):
    p = np.zeros(4)
    for n in range(1, 5):
        both = [(ngrams(h, n), ngrams(r, n)) for h, r in zip(hyps, refs, strict=True)]
        total = sum(found.total() for found, _ in both)
        clipped = sum(min(count, right.get(group, 0)) for found, right in both for group, count in found.items())
        p[n - 1] = clipped / total if total else 0
    if not p.all():
        return 0.0
    c, r = np.sum([len(h) for h in hyps]), np.sum([len(r) for r in refs])
    return np.minimum(1, np.exp(1 - r / c)) * np.prod(p) ** (1 / 4)


# ---- 10.4 attention_rollout ----


@ATTENTION_ROLLOUT.variant
def attention_rollout__all_at_once(A):
    mixed = A.mean(dim=1) + torch.eye(A.shape[-1]).to(A)
    mixed = mixed / mixed.sum(dim=-1, keepdim=True)
    return torch.linalg.multi_dot([*mixed.flip(0)]) if len(mixed) > 1 else mixed[0]


@ATTENTION_ROLLOUT.variant
def attention_rollout__residual_afterwards(A):
    """The residual connection as an addition: what came in, and what the attention makes of it."""
    R = torch.eye(A.shape[2], dtype=A.dtype)
    for layer in A.mean(dim=1):
        R = R + layer @ R
        R = R / R.sum(dim=1, keepdim=True)
    return R


@ATTENTION_ROLLOUT.variant
def attention_rollout__from_the_top(A):
    """From the last layer down: then each new layer stands on the right."""
    L, N, *_ = A.shape
    R = None
    for layer in reversed(range(L)):
        mixed = torch.einsum("nts->ts", A[layer]) / N
        mixed.diagonal().add_(1)
        mixed = torch.nn.functional.normalize(mixed, p=1, dim=1)
        R = mixed if R is None else R @ mixed
    return R


@ATTENTION_ROLLOUT.variant
def attention_rollout__halves(A):
    """Half and half, and then the rows to one: the half drops out."""
    T = A.shape[-1]
    R = [A.new_zeros(T).index_fill(0, torch.tensor([t]), 1) for t in range(T)]
    R = torch.stack(R)
    for heads in A:
        weights = 0.5 * sum(heads) / len(heads) + 0.5 * torch.eye(T, dtype=A.dtype)
        weights = weights / weights.sum(1)[:, None]
        R = torch.einsum("ij,jk->ik", weights, R)
    return R


# ---- 10.5 induction_score ----


@INDUCTION_SCORE.variant
def induction_score__loop(A, period):
    N, T, _ = A.shape
    total = A.new_zeros(N)
    for t in range(period, T):
        total = total + A[:, t, t - period + 1]
    return total / (T - period)


@INDUCTION_SCORE.variant
def induction_score__diagonal(A, period):
    return A[:, period:, 1:].diagonal(dim1=1, dim2=2).mean(dim=-1)


@INDUCTION_SCORE.variant
def induction_score__mask(A, period):
    t = torch.arange(A.shape[1])
    wanted = (t[:, None] - t == period - 1) & (t >= 1)
    return (A * wanted).sum(dim=(1, 2)) / wanted.sum()


@INDUCTION_SCORE.variant
def induction_score__gathered(A, period):
    T = A.shape[2]
    rows = A[:, period:]
    place = torch.arange(1, T - period + 1).view(1, -1, 1).expand(len(A), -1, 1)
    return rows.gather(2, place).squeeze(2).mean(1)


@INDUCTION_SCORE.variant
def induction_score__head_by_head(A, period):
    scores = []
    for head in A:
        weights = [head[t, t + 1 - period] for t in range(period, len(head))]
        scores.append(sum(weights) / len(weights))
    return torch.stack(scores)
