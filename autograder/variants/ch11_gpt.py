"""Right answers to the exercises of chapter 11 in other styles: the tests prove that they get full marks."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from autograder.exercises.ch11_gpt import (
    BPE_ENCODE,
    BPE_TRAIN,
    COUNT_PARAMETERS,
    GENERATE,
    GPT_BLOCK,
    TRIPLE_EXAMPLE,
    WINDOWS,
)
from unrolled.gpt import Windows
from unrolled.masks import causal_mask
from unrolled.normalisation import layer_norm
from unrolled.self_attention import multi_head_attention

# ---- 11.1 windows ----


@WINDOWS.variant
def windows__loop(ids, T, stride, split):
    """Slices, one window after the other."""
    result = []
    for first, end in [(0, split), (split, len(ids))]:
        x, y, start = [], [], []
        place = first
        while place + T + 1 <= end:
            x.append(ids[place : place + T])
            y.append(ids[place + 1 : place + T + 1])
            start.append(place)
            place += stride
        result.append(Windows(torch.stack(x), torch.stack(y), torch.tensor(start)))
    return result[0], result[1]


@WINDOWS.variant
def windows__unfold(ids, T, stride, split):
    """torch cuts T + 1 tokens; inputs and labels are the two ends of it."""

    def cut(first, part):
        rows = part.unfold(0, T + 1, stride)
        return Windows(rows[:, :-1], rows[:, 1:], first + stride * torch.arange(len(rows)))

    return cut(0, ids[:split]), cut(split, ids[split:])


@WINDOWS.variant
def windows__plain_lists(ids, T, stride, split):
    """Python lists, and plain tuples."""
    text = ids.tolist()
    parts = []
    for first, end in ((0, split), (split, len(text))):
        starts = list(range(first, end - T, stride))
        x = [text[s : s + T] for s in starts]
        y = [text[s + 1 : s + T + 1] for s in starts]
        parts.append((torch.tensor(x), torch.tensor(y), torch.tensor(starts)))
    return tuple(parts)


@WINDOWS.variant
def windows__numpy(ids, T, stride, split):
    """A sliding view of NumPy, every stride-th row."""
    parts = []
    for first, part in ((0, ids[:split]), (split, ids[split:])):
        rows = np.lib.stride_tricks.sliding_window_view(part.numpy(), T + 1)[::stride].copy()
        start = first + np.arange(len(rows)) * stride
        parts.append(Windows(*(torch.from_numpy(a.copy()) for a in (rows[:, :T], rows[:, 1:], start))))
    return parts


@WINDOWS.variant
def windows__counted(ids, T, stride, split):
    """First how many fit, then where they are."""
    parts = []
    for first, n in ((0, split), (split, len(ids) - split)):
        count = (n - T - 1) // stride + 1
        start = first + stride * torch.arange(count)
        x = torch.stack([ids[start + t] for t in range(T)], dim=1)
        y = torch.stack([ids[start + t + 1] for t in range(T)], dim=1)
        parts.append(Windows(x=x, y=y, start=start))
    return parts[0], parts[1]


# ---- 11.2 gpt_block ----


@GPT_BLOCK.variant
def gpt_block__by_hand(x, params, n_heads, drop=None):
    """No function of earlier chapters."""
    B, T, D = x.shape
    K = D // n_heads
    (W_q, W_k, W_v, W_o, b_q, b_k, b_v, b_o), (W_1, b_1, W_2, b_2), (g_1, c_1), (g_2, c_2) = params

    def normed(z, g, b):
        return (z - z.mean(-1, keepdim=True)) / (z.var(-1, correction=0, keepdim=True) + 1e-5).sqrt() * g + b

    z = normed(x, g_1, c_1)
    q = (z @ W_q.T + b_q).view(B, T, n_heads, K)
    k = (z @ W_k.T + b_k).view(B, T, n_heads, K)
    v = (z @ W_v.T + b_v).view(B, T, n_heads, K)
    scores = torch.einsum("btnk,bsnk->bnts", q, k) / K**0.5
    weights = scores.masked_fill(torch.ones(T, T).triu(1).bool(), -math.inf).softmax(-1)
    found = torch.einsum("bnts,bsnk->btnk", weights, v).reshape(B, T, D) @ W_o.T + b_o
    a = x + (drop(found) if drop else found)
    u = normed(a, g_2, c_2) @ W_1.T + b_1
    thought = (u * 0.5 * (1 + torch.erf(u / math.sqrt(2)))) @ W_2.T + b_2
    return a + (drop(thought) if drop else thought), weights


@GPT_BLOCK.variant
def gpt_block__torch_functions(x, params, n_heads, drop=None):
    """torch's linear layers and norms, our attention."""
    attention, network, (g_1, b_1), (g_2, b_2) = params
    D = x.shape[-1]
    z = F.layer_norm(x, (D,), g_1, b_1)
    mask = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).tril()
    found, weights = multi_head_attention(z, z, attention, n_heads, mask)
    if drop is not None:
        found = drop(found)
    x = x + found
    z = F.linear(F.gelu(F.linear(F.layer_norm(x, (D,), g_2, b_2), network.W_1, network.b_1)), network.W_2, network.b_2)
    if drop is not None:
        z = drop(z)
    return x + z, weights


@GPT_BLOCK.variant
def gpt_block__inner_functions(x, params, n_heads, drop=None):
    """The two halves as functions of the same form."""
    drop = drop or (lambda z: z)
    seen = []

    def attend(z):
        found, weights = multi_head_attention(z, z, params.attention, n_heads, causal_mask(z.shape[1]))
        seen.append(weights)
        return found

    def think(z):
        W_1, b_1, W_2, b_2 = params.feed_forward
        return torch.nn.functional.gelu(z @ W_1.T + b_1) @ W_2.T + b_2

    for norm, half in ((params.norm_1, attend), (params.norm_2, think)):
        x = x + drop(half(layer_norm(x, norm.g, norm.b)))
    return x, seen[0]


@GPT_BLOCK.variant
def gpt_block__normal_distribution(x, params, n_heads, drop=None):
    """GELU from its definition; a mask with an axis for the batch."""
    if drop is None:
        drop = torch.clone
    T = x.shape[1]
    z = layer_norm(x, params.norm_1.g, params.norm_1.b)
    mask = (torch.arange(T)[None, :] <= torch.arange(T)[:, None])[None, None].expand(len(x), n_heads, T, T)
    found, weights = multi_head_attention(z, z, params.attention, n_heads, mask)
    a = x + drop(found)
    u = layer_norm(a, params.norm_2.g, params.norm_2.b) @ params.feed_forward.W_1.T + params.feed_forward.b_1
    hidden = u * torch.distributions.Normal(0.0, 1.0).cdf(u)
    return a + drop(hidden @ params.feed_forward.W_2.T + params.feed_forward.b_2), weights


@GPT_BLOCK.variant
def gpt_block__torch_attention(x, params, n_heads, drop=None):
    """The weights of each step by itself, over the steps that it may see."""
    drop = torch.nn.Identity() if drop is None else drop
    B, T, _ = x.shape
    z = layer_norm(x, *params.norm_1)
    rows, found = torch.zeros(B, n_heads, T, T, dtype=x.dtype), []
    for t in range(T):
        step, weights = multi_head_attention(z[:, t : t + 1], z[:, : t + 1], params.attention, n_heads)
        rows[:, :, t, : t + 1] = weights[:, :, 0]
        found.append(step)
    a = x + drop(torch.cat(found, dim=1))
    W_1, b_1, W_2, b_2 = params.feed_forward
    return a + drop(F.gelu(layer_norm(a, *params.norm_2) @ W_1.T + b_1) @ W_2.T + b_2), rows


# ---- 11.3 bpe_train ----


@BPE_TRAIN.variant
def bpe_train__new_lists(words, n):
    """Tuples of symbols, written anew each time."""
    table = [(tuple(word), count) for word, count in words.items()]
    merges = []
    for _ in range(n):
        counts = {}
        for symbols, count in table:
            for i in range(len(symbols) - 1):
                pair = symbols[i], symbols[i + 1]
                counts[pair] = counts.get(pair, 0) + count
        if len(counts) == 0:
            break
        most = max(counts.values())
        best = sorted(pair for pair in counts if counts[pair] == most)[0]
        merges.append(best)
        new_table = []
        for symbols, count in table:
            out, i = [], 0
            while i < len(symbols):
                if i + 1 < len(symbols) and symbols[i] == best[0] and symbols[i + 1] == best[1]:
                    out.append(best[0] + best[1])
                    i += 2
                else:
                    out.append(symbols[i])
                    i += 1
            new_table.append((tuple(out), count))
        table = new_table
    return merges


@BPE_TRAIN.variant
def bpe_train__regular_expressions(words, n):
    """Symbols in a text with spaces around each: only whole symbols match."""
    import re

    table = {" " + " ".join(word) + " ": 0 for word in words}
    for word, count in words.items():
        table[" " + " ".join(word) + " "] += count
    merges = []
    while len(merges) < n:
        counts = Counter()
        for spelled, count in table.items():
            for pair in pairwise(spelled.split()):
                counts[pair] += count
        if not counts:
            return merges
        best = max(counts, key=lambda pair: (counts[pair], [[-ord(c) for c in part] + [1] for part in pair]))
        merges.append(best)
        pattern = re.compile(rf"(?<=\s){re.escape(best[0])} {re.escape(best[1])}(?=\s)")
        table = {pattern.sub("".join(best), spelled): count for spelled, count in table.items()}
    return merges


@BPE_TRAIN.variant
def bpe_train__stack(words, n):
    """Each symbol is laid on a stack, and joined with the one below if they are the pair."""
    pieces = {word: list(word) for word in words}
    merges = []
    for _ in range(n):
        pairs = Counter()
        for word in words:
            for left, right in pairwise(pieces[word]):
                pairs[left, right] += words[word]
        if not pairs:
            break
        (left, right), _ = min(pairs.items(), key=lambda item: (-item[1], item[0]))
        merges.append((left, right))
        for word in words:
            stack = []
            free = False  # may the top still be joined with what comes?
            for symbol in pieces[word]:
                if free and stack[-1] == left and symbol == right:
                    stack[-1] = left + right
                    free = False
                else:
                    stack.append(symbol)
                    free = True
            pieces[word] = stack
    return merges


@BPE_TRAIN.variant
def bpe_train__places(words, n):
    """Borders between symbols instead of symbols."""
    borders = {word: list(range(len(word) + 1)) for word in words}
    merges = []
    while len(merges) < n:
        counts = Counter()
        for word, cuts in borders.items():
            for a, b, c in zip(cuts, cuts[1:], cuts[2:], strict=False):
                counts[word[a:b], word[b:c]] += words[word]
        if not counts:
            break
        best = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[0][0]
        merges.append(best)
        for word, cuts in borders.items():
            i = 1
            while i < len(cuts) - 1:
                if (word[cuts[i - 1] : cuts[i]], word[cuts[i] : cuts[i + 1]]) == best:
                    del cuts[i]
                i += 1
    return merges


@BPE_TRAIN.variant
def bpe_train__changed_words_only(words, n):
    """The counts are kept up to date: only words that hold the pair are counted anew."""
    pieces = {word: list(word) for word in words}
    counts = Counter()
    for word, count in words.items():
        for pair in pairwise(word):
            counts[pair] += count
    merges = []
    while len(merges) < n:
        counts = +counts
        if not counts:
            break
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        merges.append(best)
        for word, symbols in pieces.items():
            if best not in set(pairwise(symbols)):
                continue
            for pair in pairwise(symbols):
                counts[pair] -= words[word]
            joined = []
            rest = list(symbols)
            while rest:
                if tuple(rest[:2]) == best:
                    joined.append("".join(best))
                    rest = rest[2:]
                else:
                    joined.append(rest.pop(0))
            pieces[word] = joined
            for pair in pairwise(joined):
                counts[pair] += words[word]
    return merges


# ---- 11.4 bpe_encode ----


@BPE_ENCODE.variant
def bpe_encode__merge_by_merge(word, merges):
    """Every merge in its order, once: no later one makes an earlier one possible."""
    symbols = list(word)
    for left, right in merges:
        out, i = [], 0
        while i < len(symbols):
            if i < len(symbols) - 1 and symbols[i] == left and symbols[i + 1] == right:
                out.append(left + right)
                i += 2
            else:
                out.append(symbols[i])
                i += 1
        symbols = out
    return symbols


@BPE_ENCODE.variant
def bpe_encode__all_places_of_the_best(word, merges):
    """The best pair of the word, at all its places at once."""
    rank = dict(zip(merges, range(len(merges)), strict=True))
    symbols = tuple(word)
    while True:
        pairs = [pair for pair in pairwise(symbols) if pair in rank]
        if not pairs:
            return list(symbols)
        best = min(pairs, key=rank.__getitem__)
        joined = []
        for symbol in symbols:
            if joined and joined[-1] == best[0] and symbol == best[1]:
                joined[-1] = "".join(best) + "\n"  # marked, so that it is not joined again in this round
            else:
                joined.append(symbol)
        symbols = tuple(symbol.rstrip("\n") for symbol in joined)


@BPE_ENCODE.variant
def bpe_encode__recursive(word, merges):
    """One joining, then the same question again."""

    def encode(symbols):
        ranks = [merges.index(pair) if pair in merges else math.inf for pair in pairwise(symbols)]
        if not ranks or min(ranks) == math.inf:
            return symbols
        i = ranks.index(min(ranks))
        return encode([*symbols[:i], symbols[i] + symbols[i + 1], *symbols[i + 2 :]])

    return encode(list(word))


@BPE_ENCODE.variant
def bpe_encode__queue(word, merges):
    """A heap of places, sorted by rank and then from left to right."""
    import heapq

    rank = {pair: place for place, pair in enumerate(merges)}
    symbols, after = dict(enumerate(word)), {i: i + 1 for i in range(len(word))}
    heap = [(rank[pair], i, pair) for i, pair in enumerate(pairwise(word)) if pair in rank]
    heapq.heapify(heap)
    while heap:
        _, i, pair = heapq.heappop(heap)
        j = after.get(i)
        if (symbols.get(i), symbols.get(j)) != pair:
            continue
        symbols[i] = "".join(pair)
        del symbols[j]
        after[i] = after.pop(j)
        places = sorted(symbols)
        for left, right in pairwise(places):
            if i in (left, right) and (symbols[left], symbols[right]) in rank:
                found = symbols[left], symbols[right]
                heapq.heappush(heap, (rank[found], left, found))
    return [symbols[i] for i in sorted(symbols)]


# ---- 11.5 generate ----


@GENERATE.variant
def generate__two_loops(model, ids, n, context, cache=True, pick=None):
    """The two ways apart from each other."""
    if pick is None:
        pick = lambda scores: scores.argmax(-1)  # noqa: E731
    written = ids.clone()
    if not cache:
        for _ in range(n):
            window = written[:, -context:]
            logits, _ = model(window, torch.arange(window.shape[1]), None)
            written = torch.cat((written, pick(logits[:, -1]).unsqueeze(1)), dim=1)
        return written
    keys = None
    for _ in range(n):
        if keys is not None and written.shape[1] <= context:
            logits, new = model(written[:, -1:], torch.tensor([keys.shape[1]]), keys)
            keys = torch.cat((keys, new), dim=1)
        else:
            window = written[:, -context:]
            logits, keys = model(window, torch.arange(window.shape[1]), None)
        written = torch.cat((written, pick(logits[:, -1]).unsqueeze(1)), dim=1)
    return written


@GENERATE.variant
def generate__list_of_columns(model, ids, n, context, cache=True, pick=None):
    """The text as a list of columns, the cache as a list of parts."""
    columns, parts = list(ids.unbind(1)), []
    for _ in range(n):
        fits = len(columns) <= context
        if parts and fits:
            read, first, past = columns[-1:], len(columns) - 1, torch.cat(parts, dim=1)
        else:
            read, first, past, parts = columns[-context:], 0, None, []
        logits, kv = model(torch.stack(read, dim=1), torch.arange(first, first + len(read)), past)
        if cache and fits:
            parts.append(kv)
        scores = logits[:, logits.shape[1] - 1, :]
        columns.append(torch.max(scores, dim=1).indices if pick is None else pick(scores))
    return torch.stack(columns, dim=1)


@GENERATE.variant
def generate__filled_rectangle(model, ids, n, context, cache=True, pick=None):
    """A rectangle of the final size is filled column by column."""
    B, T = ids.shape
    out = torch.cat([ids, ids.new_zeros(B, n)], dim=1)
    past = None
    for t in range(T, T + n):
        known = 0 if past is None or t > context else past.shape[1]
        begin = max(t - context, 0)
        if known == 0:
            past = None
        logits, kv = model(out[:, begin + known : t], torch.arange(known, t - begin), past)
        if cache:
            past = kv if known == 0 else torch.cat([past, kv], 1)
        out[:, t] = pick(logits[:, -1]) if pick else logits[:, -1].argmax(1)
    return out


@GENERATE.variant
def generate__recursive(model, ids, n, context, cache=True, pick=None):
    """One token, then the same question with one token more."""

    def write(text, left, past):
        if left == 0:
            return text
        if past is None or text.shape[1] > context:
            past, new = None, text[:, -context:]
        else:
            new = text[:, past.shape[1] :]
        before = 0 if past is None else past.shape[1]
        logits, kv = model(new, torch.arange(new.shape[1]) + before, past)
        token = logits[:, -1].topk(1).indices if pick is None else pick(logits[:, -1])[:, None]
        kept = None
        if cache:
            kept = torch.cat([part for part in (past, kv) if part is not None], dim=1)
        return write(torch.cat([text, token], dim=1), left - 1, kept)

    return write(ids, n, None)


# ---- 11.6 count_parameters ----


@COUNT_PARAMETERS.variant
def count_parameters__shapes(cfg):
    """All shapes in a list."""
    D, F = cfg.D, cfg.d_ff
    shapes = [(cfg.V, D), (cfg.context, D), (D,), (D,)]
    for _ in range(cfg.layers):
        shapes += [(D, D), (D,)] * 4 + [(F, D), (F,), (D, F), (D,)] + [(D,)] * 4
    return sum(math.prod(shape) for shape in shapes)


@COUNT_PARAMETERS.variant
def count_parameters__modules(cfg):
    """torch counts."""
    with torch.device("meta"):
        layer = nn.TransformerEncoderLayer(cfg.D, 1, cfg.d_ff)
        tables = [nn.Embedding(cfg.V, cfg.D), nn.Embedding(cfg.context, cfg.D), nn.LayerNorm(cfg.D)]
    of_layer = sum(p.numel() for p in layer.parameters())
    return cfg.layers * of_layer + sum(p.numel() for table in tables for p in table.parameters())


@COUNT_PARAMETERS.variant
def count_parameters__collected(cfg):
    """Collected by powers of D."""
    V, C, D, L, F = cfg.V, cfg.context, cfg.D, cfg.layers, cfg.d_ff
    return 4 * L * D**2 + D * (V + C + 9 * L + 2 * L * F + 2) + L * F


@COUNT_PARAMETERS.variant
def count_parameters__with_bias_column(cfg):
    """A bias is one more column."""

    def linear(inputs, outputs):
        return (inputs + 1) * outputs

    D = cfg.D
    block = linear(D, 3 * D) + linear(D, D) + linear(D, cfg.d_ff) + linear(cfg.d_ff, D) + 2 * (D + D)
    return (cfg.V + cfg.context) * D + sum(block for _ in range(cfg.layers)) + D + D


# ---- 11.7 triple_example ----


@TRIPLE_EXAMPLE.variant
def triple_example__lists(s, r, o, eos):
    """Lists of bools, one entry for each token that is said."""
    ids = s + r + o + [eos]
    mask = [False] * (len(s) + len(r) - 1) + [True] * (len(o) + 1)
    return torch.tensor(ids), torch.tensor(mask)


@TRIPLE_EXAMPLE.variant
def triple_example__shifted(s, r, o, eos):
    """A mask for the tokens; its first entry is dropped."""
    ids = torch.tensor(list(s) + list(r) + list(o) + [eos], dtype=torch.int64)
    belongs = torch.zeros(len(ids), dtype=torch.bool)
    belongs[len(s) + len(r) :] = True
    return ids, belongs[1:]


@TRIPLE_EXAMPLE.variant
def triple_example__kinds(s, r, o, eos):
    """Each token with its kind."""
    tokens = [(token, kind) for part, kind in ((s, 0), (r, 1), (o, 2), ([eos], 3)) for token in part]
    ids = torch.tensor([token for token, _ in tokens])
    return ids, torch.tensor([kind >= 2 for _, kind in tokens[1:]])


@TRIPLE_EXAMPLE.variant
def triple_example__from_the_end(s, r, o, eos):
    """Counted from the end."""
    ids = torch.cat([torch.tensor(part) for part in (s, r, o, [eos])])
    mask = torch.arange(len(ids) - 1, 0, -1) <= len(o) + 1
    return ids, mask


@TRIPLE_EXAMPLE.variant
def triple_example__numpy(s, r, o, eos):
    """NumPy counts how many tokens of the object have been said."""
    ids = np.array([*s, *r, *o, eos])
    begins = np.zeros(len(ids), dtype=int)
    begins[len(s) + len(r)] = 1
    return torch.from_numpy(ids), torch.from_numpy(begins.cumsum()[1:] > 0)
