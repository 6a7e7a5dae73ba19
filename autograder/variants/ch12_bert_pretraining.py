"""Right answers to the exercises of chapter 12, in other styles."""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F

from autograder.exercises.ch12_bert_pretraining import (
    BERT_EMBED,
    BUILD_INPUT,
    MLM_LOSS,
    MLM_MASK,
    NSP_PAIRS,
    WARMUP_DECAY,
    WORDPIECE,
)
from unrolled.normalisation import layer_norm

# ---- 12.1 build_input ----


@BUILD_INPUT.variant
def build_input__popping_copies(a, b, T, special):
    a = list(a)
    rest = None if b is None else list(b)
    while len(a) + (0 if rest is None else len(rest) + 1) > T - 2:
        if rest is None or len(a) > len(rest):
            a.pop()
        else:
            rest.pop()
    ids = [special.cls, *a, special.sep]
    segments = [0] * len(ids)
    if rest is not None:
        ids += [*rest, special.sep]
        segments += [1] * (len(rest) + 1)
    mask = [True] * len(ids)
    while len(ids) < T:
        ids.append(special.pad)
        segments.append(0)
        mask.append(False)
    return torch.tensor(ids), torch.tensor(segments), torch.tensor(mask)


@BUILD_INPUT.variant
def build_input__by_formula(a, b, T, special):
    """How many tokens stay, without a loop: the shorter keeps all it has, or both share the room."""
    if b is None:
        a, tail = a[: T - 2], []
    else:
        room = T - 3
        m = min(len(a), max(room - len(b), (room + 1) // 2))
        n = min(len(b), room - m)
        a, tail = a[:m], [*b[:n], special.sep]
    ids = torch.full((T,), special.pad)
    row = torch.tensor([special.cls, *a, special.sep, *tail])
    ids[: len(row)] = row
    t = torch.arange(T)
    return ids, ((t >= len(a) + 2) & (t < len(row))).long(), t < len(row)


@BUILD_INPUT.variant
def build_input__padded_by_torch(a, b, T, special):
    first, second = list(a), list(b or [])
    extra = len(first) + len(second) + (2 if b is None else 3) - T
    for _ in range(max(0, extra)):
        if len(first) > len(second):
            first = first[:-1]
        else:
            second = second[:-1]
    closing = [] if b is None else [special.sep]
    parts = [[special.cls, *first, special.sep], second + closing]
    ids = torch.tensor(parts[0] + parts[1])
    segments = torch.repeat_interleave(torch.arange(2), torch.tensor([len(parts[0]), len(parts[1])]))
    room = (0, T - len(ids))
    mask = F.pad(torch.ones(len(ids), dtype=torch.bool), room, value=False)
    return F.pad(ids, room, value=special.pad), F.pad(segments, room), mask


@BUILD_INPUT.variant
def build_input__numpy(a, b, T, special):
    if b is None:
        m, n, row = min(len(a), T - 2), -1, [special.cls, *a[: T - 2], special.sep]
    else:
        m, n = len(a), len(b)
        for _ in range(m + n + 3 - T):
            if n >= m:
                n -= 1
            else:
                m -= 1
        row = np.concatenate([[special.cls], a[:m], [special.sep], b[:n], [special.sep]]).astype(int)
    ids, segments, mask = np.full(T, special.pad), np.zeros(T, dtype=np.int64), np.zeros(T, dtype=bool)
    ids[: len(row)], mask[: len(row)] = row, True
    segments[m + 2 : m + n + 3] = 1
    return torch.from_numpy(ids), torch.from_numpy(segments), torch.from_numpy(mask)


# ---- 12.2 mlm_mask ----


@MLM_MASK.variant
def mlm_mask__token_by_token(x, u, random_ids, special, rate=0.15):
    masked, labels, weights = x.clone(), torch.full_like(x, -100), torch.zeros(x.shape)
    for b in range(x.shape[0]):
        for t in range(x.shape[1]):
            if x[b, t] in (special.cls, special.sep, special.pad) or u[0, b, t] >= rate:
                continue
            labels[b, t], weights[b, t] = x[b, t], 1.0
            if u[1, b, t] < 0.8:
                masked[b, t] = special.mask
            elif u[1, b, t] < 0.9:
                masked[b, t] = random_ids[b, t]
    return masked, labels, weights


@MLM_MASK.variant
def mlm_mask__indexed(x, u, random_ids, special, rate=0.15):
    chosen = u[0] < rate
    for never in (special.cls, special.sep, special.pad):
        chosen &= x != never
    labels, out = x.clone(), x.clone()
    random = chosen & (u[1] < 0.9)
    out[random] = random_ids[random]
    out[chosen & (u[1] < 0.8)] = special.mask  # over the random ones
    return out, labels, chosen


@MLM_MASK.variant
def mlm_mask__buckets(x, u, random_ids, special, rate=0.15):
    """Each place has a case, 0 to 2; those that are not chosen have the last."""
    case = torch.bucketize(u[1], torch.tensor([0.8, 0.9]), right=True)
    chosen = (u[0] < rate) & ~torch.isin(x, torch.tensor([special.cls, special.sep, special.pad]))
    options = torch.stack([torch.full_like(x, special.mask), random_ids, x])
    masked = options.gather(0, torch.where(chosen, case, 2)[None])[0]
    return masked, torch.where(chosen, x, -100), chosen.float()


@MLM_MASK.variant
def mlm_mask__masked_fill(x, u, random_ids, special, rate=0.15):
    forbidden = (x == special.cls).logical_or(x == special.sep).logical_or(x == special.pad)
    probability = torch.full(x.shape, rate).masked_fill(forbidden, 0.0)
    weights = (u[0] < probability).long()
    hide = weights.bool() & (u[1] < 0.8)
    swap = weights.bool() & ~hide & (u[1] < 0.9)
    masked = x.masked_fill(hide, special.mask)
    return masked * ~swap + random_ids * swap, x * 1, weights


@MLM_MASK.variant
def mlm_mask__numpy(x, u, random_ids, special, rate=0.15):
    ids, coin, kind = x.numpy(), u[0].numpy(), u[1].numpy()
    chosen = (coin < rate) & ~np.isin(ids, [special.cls, special.sep, special.pad])
    masked = np.select([chosen & (kind < 0.8), chosen & (kind < 0.9)], [special.mask, random_ids.numpy()], ids)
    return torch.from_numpy(masked), torch.from_numpy(ids.copy()), torch.from_numpy(chosen)


# ---- 12.3 mlm_loss ----


@MLM_LOSS.variant
def mlm_loss__unreduced(logits, labels, weights):
    surprise = F.cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="none")
    w = weights.flatten()
    return surprise @ w / torch.clamp(w.sum(), min=1.0)


@MLM_LOSS.variant
def mlm_loss__only_chosen(logits, labels, weights):
    chosen = weights > 0
    if not chosen.any():
        return 0.0 * logits.sum()
    return F.cross_entropy(logits[chosen], labels[chosen])


@MLM_LOSS.variant
def mlm_loss__logsumexp(logits, labels, weights):
    right = torch.take_along_dim(logits, labels.unsqueeze(-1), dim=-1).squeeze(-1)
    total = ((torch.logsumexp(logits, -1) - right) * weights).sum()
    count = weights.sum()
    return total / count if count > 0 else total


@MLM_LOSS.variant
def mlm_loss__one_hot(logits, labels, weights):
    target = F.one_hot(labels, logits.shape[-1]).to(logits.dtype)
    log_p = F.log_softmax(logits, dim=-1)
    return -torch.einsum("btv,btv,bt->", target, log_p, weights) / max(weights.sum().item(), 1)


@MLM_LOSS.variant
def mlm_loss__loop(logits, labels, weights):
    total, n = 0 * logits.sum(), 0
    for row, asked, w in zip(logits, labels, weights, strict=True):
        for t in range(len(asked)):
            if w[t] == 1:
                total = total + row[t].logsumexp(0) - row[t, asked[t]]
                n += 1
    return total / max(n, 1)


@MLM_LOSS.variant
def mlm_loss__ignored_labels(logits, labels, weights):
    """Labels of -100 are what torch leaves out."""
    asked = labels.masked_fill(weights == 0, -100)
    return F.cross_entropy(logits.mT, asked, reduction="sum") / (asked != -100).sum().clamp(min=1)


# ---- 12.4 nsp_pairs ----


@NSP_PAIRS.variant
def nsp_pairs__counted(docs, u):
    pairs, k = [], 0
    for d in range(len(docs)):
        for i in range(len(docs[d]) - 1):
            b, follows = docs[d][i + 1], True
            if u[k][0] >= 0.5:
                e = int(u[k][1] * (len(docs) - 1))
                e += e >= d  # step over the document itself
                b, follows = docs[e][int(u[k][2] * len(docs[e]))], False
            pairs.append((docs[d][i], b, follows))
            k += 1
    return pairs


@NSP_PAIRS.variant
def nsp_pairs__places_first(docs, u):
    """All places that open a pair, then one pair for each."""
    places = [(d, i) for d, doc in enumerate(docs) for i in range(len(doc) - 1)]

    def pair(place, draws):
        d, i = place
        if draws[0] < 0.5:
            return docs[d][i], docs[d][i + 1], 1
        other = [doc for e, doc in enumerate(docs) if e != d][int(draws[1] * (len(docs) - 1))]
        return docs[d][i], other[int(draws[2] * len(other))], 0

    return [pair(place, draws) for place, draws in zip(places, u.tolist(), strict=True)]


@NSP_PAIRS.variant
def nsp_pairs__tensors(docs, u):
    """Whole columns of u at once."""
    owner = torch.tensor([d for d, doc in enumerate(docs) for _ in doc[1:]])
    size = torch.tensor([len(doc) for doc in docs])
    e = (u[:, 1] * (len(docs) - 1)).floor().long()
    e = torch.where(e >= owner, e + 1, e)
    j = (u[:, 2] * size[e]).long()
    opened = [(doc[i], doc[i + 1]) for doc in docs for i in range(len(doc) - 1)]
    follows = u[:, 0] < 0.5
    return [
        (a, b if yes else docs[e[k]][j[k]], bool(yes))
        for k, ((a, b), yes) in enumerate(zip(opened, follows, strict=True))
    ]


@NSP_PAIRS.variant
def nsp_pairs__generator(docs, u):
    def walk():
        for d, doc in enumerate(docs):
            yield from ((d, doc[i], doc[i + 1]) for i in range(len(doc) - 1))

    pairs = []
    for (d, a, b), (coin, which, where) in zip(walk(), u.tolist(), strict=True):
        if coin < 0.5:
            pairs.append([a, b, True])
        else:
            others = list(docs)
            del others[d]
            other = others[int(np.floor(which * len(others)))]
            pairs.append([a, other[int(np.floor(where * len(other)))], False])
    return pairs


# ---- 12.5 bert_embed ----


@BERT_EMBED.variant
def bert_embed__functional(ids, segments, params):
    tokens, kinds, positions, g, b = params
    steps = torch.arange(ids.shape[1]).expand_as(ids)
    x = F.embedding(ids, tokens) + F.embedding(segments, kinds) + F.embedding(steps, positions)
    return F.layer_norm(x, x.shape[-1:], g, b, eps=1e-12)


@BERT_EMBED.variant
def bert_embed__one_hot(ids, segments, params):
    """Looking up is multiplying by a one-hot vector."""
    tokens = F.one_hot(ids, len(params.tokens)).to(params.tokens.dtype) @ params.tokens
    x = tokens + F.one_hot(segments, 2).to(tokens.dtype) @ params.segments
    x = x + params.positions[: ids.size(1)].unsqueeze(0)
    return layer_norm(x, params.g, params.b, eps=1e-12)


@BERT_EMBED.variant
def bert_embed__step_by_step(ids, segments, params):
    steps = []
    for t in range(ids.shape[1]):
        x = params.tokens[ids[:, t]] + params.segments[segments[:, t]] + params.positions[t]
        centred = x - x.mean(1, keepdim=True)
        steps.append(params.g * centred / (centred.pow(2).mean(1, keepdim=True) + 1e-12).sqrt() + params.b)
    return torch.stack(steps, dim=1)


@BERT_EMBED.variant
def bert_embed__difference_of_segments(ids, segments, params):
    first, second = params.segments
    kind = first + segments[..., None] * (second - first)
    x = params.tokens.index_select(0, ids.flatten()).view(*ids.shape, -1) + kind
    x = x + params.positions.narrow(0, 0, ids.shape[1])
    variance, mean = torch.var_mean(x, dim=-1, keepdim=True, correction=0)
    return params.g * (x - mean) * torch.rsqrt(variance + 1e-12) + params.b


# ---- 12.6 wordpiece_encode ----


@WORDPIECE.variant
def wordpiece_encode__shrinking(word, vocab, unk="[UNK]"):
    pieces, start = [], 0
    while start < len(word):
        end = len(word)
        while end > start:
            piece = word[start:end] if start == 0 else "##" + word[start:end]
            if piece in vocab:
                break
            end -= 1
        if end == start:
            return [unk]
        pieces.append(piece)
        start = end
    return pieces


@WORDPIECE.variant
def wordpiece_encode__recursive(word, vocab, unk="[UNK]"):
    def cut(rest, mark):
        if not rest:
            return []
        for size in range(len(rest), 0, -1):
            if mark + rest[:size] in vocab:
                tail = cut(rest[size:], "##")
                return None if tail is None else [mark + rest[:size], *tail]
        return None

    pieces = cut(word, "")
    return [unk] if pieces is None else pieces


@WORDPIECE.variant
def wordpiece_encode__marked_rest(word, vocab, unk="[UNK]"):
    """The marks are put before what is left of the word."""
    pieces, rest = [], word
    while rest and rest != "##":
        first = 1 if not pieces else 3
        piece = next((rest[:n] for n in range(len(rest), first - 1, -1) if rest[:n] in vocab), None)
        if piece is None:
            return [unk]
        pieces.append(piece)
        rest = "##" + rest[len(piece) :]
    return pieces


@WORDPIECE.variant
def wordpiece_encode__candidates(word, vocab, unk="[UNK]"):
    """The longest of all pieces with which the rest begins."""
    pieces, i = [], 0
    inner = {piece[2:] for piece in vocab if piece.startswith("##")}
    outer = {piece for piece in vocab if not piece.startswith("##")}
    while i < len(word):
        fitting = [piece for piece in (inner if i else outer) if piece and word.startswith(piece, i)]
        if not fitting:
            return [unk]
        longest = max(fitting, key=len)
        pieces.append("##" + longest if i else longest)
        i += len(longest)
    return pieces


# ---- 12.7 linear_warmup_decay ----


@WARMUP_DECAY.variant
def linear_warmup_decay__one_line(step, warmup, total, peak):
    if step < warmup:
        return peak * (step / warmup)
    return peak * (max(0, total - step) / max(1, total - warmup))


@WARMUP_DECAY.variant
def linear_warmup_decay__minimum_of_lines(step, warmup, total, peak):
    rising = step / warmup if warmup > 0 else float("inf")
    falling = (total - step) / (total - warmup) if total > warmup else (float("inf") if step < total else 0)
    return peak * max(0.0, min(rising, falling))


@WARMUP_DECAY.variant
def linear_warmup_decay__interpolated(step, warmup, total, peak):
    """Straight lines between the corners; behind the last one its value stays."""
    if step >= total:
        return 0.0
    corners = [(0, 0.0), (warmup, peak), (total, 0.0)] if warmup else [(0, peak), (total, 0.0)]
    return float(np.interp(step, *zip(*corners, strict=True)))


@WARMUP_DECAY.variant
def linear_warmup_decay__from_the_peak(step, warmup, total, peak):
    lr = peak
    if step < warmup:
        lr -= peak * (warmup - step) / warmup
    elif step >= total:
        lr = 0.0
    else:
        lr -= peak * (step - warmup) / (total - warmup)
    return lr
