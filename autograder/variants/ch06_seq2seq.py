"""Right answers to the exercises of chapter 6, in other styles."""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from autograder.exercises.ch06_seq2seq import (
    DECODE,
    EDIT_DISTANCE,
    ENCODE,
    ERROR_RATE,
    GREEDY,
    SCHEDULED_INPUTS,
    SHIFT_RIGHT,
)
from unrolled.edit_distance import edit_distance
from unrolled.gated import gru_forward, gru_step

# ---- 6.1 shift_right ----


@SHIFT_RIGHT.variant
def shift_right__full_row(y, bos):
    full = torch.cat([torch.full((y.shape[0], 1), bos), y], dim=-1)
    return full[:, :-1], full[:, 1:]


@SHIFT_RIGHT.variant
def shift_right__rolled_and_overwritten(y, bos):
    inputs = torch.roll(y, 1, dims=1)
    inputs[:, 0] = bos
    return inputs, y.clone()


@SHIFT_RIGHT.variant
def shift_right__padded(y, bos):
    return [F.pad(y, (1, -1), value=bos), y]


@SHIFT_RIGHT.variant
def shift_right__lists(y, bos):
    return torch.tensor([[bos, *row[:-1]] for row in y.tolist()]), y


@SHIFT_RIGHT.variant
def shift_right__where(y, bos):
    t = torch.arange(y.shape[1])
    return torch.where(t == 0, bos, y[:, (t - 1).clamp(min=0)]), y


# ---- 6.2 encode ----


@ENCODE.variant
def encode__row_by_row(x, lengths, f, b):
    S = x.shape[1]
    states, contexts = [], []
    for row, n in zip(x, lengths.tolist(), strict=True):
        words = row[None, :n]
        h_f = gru_forward(words, x.new_zeros(1, f.b_h.numel()), f)[0]
        h_b = gru_forward(words.flip(1), x.new_zeros(1, b.b_h.numel()), b)[0]
        states.append(F.pad(torch.cat([h_f, h_b.flip(0)], dim=1), (0, 0, 0, S - n)))
        contexts.append(torch.cat([h_f[-1], h_b[-1]]))
    return torch.stack(states), torch.stack(contexts)


@ENCODE.variant
def encode__turned(x, lengths, f, b):
    B, S, _ = x.shape
    s, n, row = torch.arange(S), lengths[:, None], torch.arange(B)[:, None]
    turned = torch.where(s < n, n - 1 - s, s)
    h_f = gru_forward(x, x.new_zeros(B, len(f.b_h)), f)
    h_b = gru_forward(x[row, turned], x.new_zeros(B, len(b.b_h)), b)
    last = torch.cat([h_f, h_b], dim=-1)[torch.arange(B), lengths - 1]
    states = torch.cat([h_f, h_b[row, turned]], dim=-1)
    return states.masked_fill((s >= n)[..., None], 0.0), last


@ENCODE.variant
def encode__held_at_zero(x, lengths, f, b):
    """The backward state stays zero until the last real step is reached; the context is gathered afterwards."""
    B, S, _ = x.shape
    h, backward = x.new_zeros(B, b.W_h.shape[1]), [None] * S
    for s in reversed(range(S)):
        h = gru_step(x[:, s], h, b) * (s < lengths)[:, None]
        backward[s] = h
    h, forward = x.new_zeros(B, f.W_h.shape[1]), []
    for x_s in x.unbind(dim=1):
        h = gru_step(x_s, h, f)
        forward.append(h)
    forward, backward = torch.stack(forward, dim=1), torch.stack(backward, dim=1)
    last = F.one_hot(lengths - 1, S).to(x.dtype)
    c = torch.cat([torch.einsum("bs,bsh->bh", last, forward), backward[:, 0]], dim=-1)
    mask = torch.arange(S).expand(B, S) < lengths.unsqueeze(1)
    return torch.cat((forward * mask.unsqueeze(2), backward), dim=2), c


@ENCODE.variant
def encode__packed(x, lengths, f, b):
    """Let torch cut and pad; only the two directions are left to do."""
    B, S, _ = x.shape
    rows = nn.utils.rnn.unpad_sequence(x, lengths, batch_first=True)
    back = nn.utils.rnn.pad_sequence([row.flip(0) for row in rows], batch_first=True)
    h_f = gru_forward(x, x.new_zeros(B, len(f.b_h)), f)
    h_b = gru_forward(back, x.new_zeros(B, len(b.b_h)), b)
    states = x.new_zeros(B, S, h_f.shape[2] + h_b.shape[2])
    c = x.new_zeros(B, states.shape[2])
    for i, n in enumerate(lengths):
        states[i, :n] = torch.cat([h_f[i, :n], h_b[i, :n].flip(0)], dim=1)
        c[i] = torch.cat([h_f[i, n - 1], h_b[i, n - 1]])
    return states, c


# ---- 6.3 decode ----


@DECODE.variant
def decode__all_at_once(y_in, h0, c, params):
    """Join all inputs first, run the GRU over them, score all states together."""
    x = torch.cat([params.W_e[y_in], c[:, None].expand(-1, y_in.shape[1], -1)], dim=-1)
    hs = gru_forward(x, h0, params.gru)
    return hs @ params.W_hy.T + params.b_y, hs[:, -1]


@DECODE.variant
def decode__torch_functions(y_in, h0, c, params):
    W_e, gru, W_hy, b_y = params
    h, out = h0, []
    for y_t in y_in.T:
        h = gru_step(torch.hstack([F.embedding(y_t, W_e), c]), h, gru)
        out.append(F.linear(h, W_hy, b_y).unsqueeze(1))
    return torch.cat(out, dim=1), h


@DECODE.variant
def decode__row_by_row(y_in, h0, c, params):
    logits, last = [], []
    for row, h, context in zip(y_in.tolist(), h0, c, strict=True):
        for token in row:
            h = gru_step(torch.cat([params.W_e[token], context])[None], h[None], params.gru)[0]
            logits.append(params.W_hy @ h + params.b_y)
        last.append(h)
    return torch.stack(logits).view(*y_in.shape, -1), torch.stack(last)


@DECODE.variant
def decode__one_hot_times_embedding(y_in, h0, c, params):
    one_hot = F.one_hot(y_in, params.W_e.shape[0]).to(h0.dtype)
    states = [h0]
    for t in range(y_in.shape[1]):
        e = torch.einsum("bv,ve->be", one_hot[:, t], params.W_e)
        states.append(gru_step(torch.cat((e, c), dim=-1), states[-1], params.gru))
    hs = torch.stack(states[1:], dim=1)
    return torch.einsum("bth,vh->btv", hs, params.W_hy) + params.b_y, states[-1]


@DECODE.variant
def decode__shares_apart(y_in, h0, c, params):
    """The share of the context in the input is computed once, and goes into the bias of each row."""
    E = params.W_e.shape[1]
    W_x, W_h, b, _ = params.gru
    W_u, W_r, W_n = W_h.chunk(3)
    from_c = c @ W_x[:, E:].T + b
    h, logits = h0, []
    for t in range(y_in.shape[1]):
        a_u, a_r, a_n = (params.W_e[y_in[:, t]] @ W_x[:, :E].T + from_c).chunk(3, dim=1)
        u, r = torch.sigmoid(a_u + h @ W_u.T), torch.sigmoid(a_r + h @ W_r.T)
        h = h + u * (torch.tanh(a_n + (r * h) @ W_n.T) - h)
        logits += [h @ params.W_hy.T + params.b_y]
    return torch.stack(logits, 1), h


# ---- 6.4 greedy ----


@GREEDY.variant
def greedy__for_and_break(step, h0, c, bos, eos, pad, max_len):
    B = h0.shape[0]
    y, h = torch.full((B,), bos, dtype=torch.long), h0
    done, rows = torch.zeros(B, dtype=torch.bool), []
    for _ in range(max_len):
        scores, h = step(y, h, c)
        y = torch.where(done, torch.tensor(pad), scores.softmax(dim=-1).argmax(dim=-1))
        rows.append(y)
        done |= y == eos
        if done.all():
            break
    return torch.stack(rows).T


@GREEDY.variant
def greedy__then_padded(step, h0, c, bos, eos, pad, max_len):
    """Let all rows talk up to max_len; then wipe out what stands behind EOS, and cut."""
    y, h, said = torch.full((len(c),), bos), h0, []
    for _ in range(max_len):
        scores, h = step(y, h, c)
        y = scores.max(dim=1).indices
        said.append(y)
    out = torch.stack(said, dim=1)
    is_eos = (out == eos).long()
    out = out.masked_fill(is_eos.cumsum(dim=1) - is_eos > 0, pad)
    return out[:, : int((out != pad).sum(dim=1).max())]


@GREEDY.variant
def greedy__row_by_row(step, h0, c, bos, eos, pad, max_len):
    rows = []
    for i in range(len(c)):
        row, h = [bos], h0[i : i + 1]
        while len(row) <= max_len and (len(row) == 1 or row[-1] != eos):
            scores, h = step(torch.tensor(row[-1:]), h, c[i : i + 1])
            row.append(int(scores[0].argmax()))
        rows.append(torch.tensor(row[1:]))
    return nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=pad)


@GREEDY.variant
def greedy__asks_the_last_token(step, h0, c, bos, eos, pad, max_len):
    """A row whose last token is EOS or the pad has ended: nothing else need be remembered."""
    out, h = torch.full((len(c), 1), bos), h0
    with torch.no_grad():
        while out.shape[1] <= max_len:
            scores, h = step(out[:, -1], h, c)
            over = (out[:, -1] == eos) | (out[:, -1] == pad)
            if over.all():
                break
            out = torch.cat([out, torch.where(over, pad, scores.argmax(1))[:, None]], dim=1)
    return out[:, 1:]


@GREEDY.variant
def greedy__fewer_and_fewer(step, h0, c, bos, eos, pad, max_len):
    """Only the rows that still talk are computed."""
    out = torch.full((len(c), max_len), pad)
    rows, y, h, t = torch.arange(len(c)), torch.full((len(c),), bos), h0, 0
    while t < max_len and len(rows):
        scores, h = step(y, h, c[rows])
        y = scores.argmax(dim=-1)
        out[rows, t] = y
        talk = y != eos
        rows, y, h, t = rows[talk], y[talk], h[talk], t + 1
    return out[:, :t]


# ---- 6.5 scheduled_inputs ----


@SCHEDULED_INPUTS.variant
def scheduled_inputs__copied(y_in, y_hat, p, u):
    out = y_in.clone()
    own = u < p
    own[:, 0] = False
    out[own] = y_hat.roll(1, dims=1)[own]
    return out


@SCHEDULED_INPUTS.variant
def scheduled_inputs__loop(y_in, y_hat, p, u):
    out = [y_in[:, 0]]
    for t in range(1, y_in.shape[1]):
        out.append(torch.where(u[:, t] >= p, y_in[:, t], y_hat[:, t - 1]))
    return torch.stack(out, dim=1)


@SCHEDULED_INPUTS.variant
def scheduled_inputs__arithmetic(y_in, y_hat, p, u):
    own = (u < p).long()
    own = own * (torch.arange(u.shape[1]) > 0)
    before = torch.cat([y_in[:, :1], y_hat[:, :-1]], dim=1)
    return own * before + (1 - own) * y_in


@SCHEDULED_INPUTS.variant
def scheduled_inputs__numpy(y_in, y_hat, p, u):
    out = np.array(y_in)
    own = np.asarray(u)[:, 1:] < p
    out[:, 1:][own] = np.asarray(y_hat)[:, :-1][own]
    return torch.from_numpy(out)


# ---- 6.6 edit_distance ----


@EDIT_DISTANCE.variant
def edit_distance__whole_table(a, b):
    d = np.zeros((len(a) + 1, len(b) + 1), dtype=int)
    d[:, 0], d[0, :] = np.arange(len(a) + 1), np.arange(len(b) + 1)
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            d[i + 1, j + 1] = min(d[i, j + 1] + 1, d[i + 1, j] + 1, d[i, j] + (0 if x == y else 1))
    return d[-1, -1]


@EDIT_DISTANCE.variant
def edit_distance__recursive(a, b):
    def d(i, j):
        if i == 0 or j == 0:
            return i + j
        if a[i - 1] == b[j - 1]:
            return d(i - 1, j - 1)
        return 1 + min(d(i - 1, j), d(i, j - 1), d(i - 1, j - 1))

    return d(len(a), len(b))


@EDIT_DISTANCE.variant
def edit_distance__remembered(a, b):
    known = {}

    def d(i, j):
        if (i, j) not in known:
            ways = [i + j] if not (i and j) else [d(i - 1, j - 1) + (a[i - 1] != b[j - 1])]
            if i and j:
                ways += [d(i - 1, j) + 1, d(i, j - 1) + 1]
            known[i, j] = min(ways)
        return known[i, j]

    return d(len(a), len(b))


@EDIT_DISTANCE.variant
def edit_distance__breadth_first(a, b):
    """How many edits until both ends are reached: equal tokens are passed for nothing."""
    edits, places = 0, {(0, 0)}
    while True:
        reached = set()
        for i, j in places:
            while i < len(a) and j < len(b) and a[i] == b[j]:
                i, j = i + 1, j + 1
            reached.add((i, j))
        if (len(a), len(b)) in reached:
            return edits
        places = {(i + x, j + y) for i, j in reached for x, y in ((1, 0), (0, 1), (1, 1))}
        places = {(i, j) for i, j in places if i <= len(a) and j <= len(b)}
        edits += 1


@EDIT_DISTANCE.variant
def edit_distance__tensor(a, b):
    row = torch.arange(len(b) + 1.0)
    for i, x in enumerate(a):
        new = [torch.tensor(i + 1.0)]
        for j, y in enumerate(b):
            new.append(torch.stack([row[j + 1] + 1, new[-1] + 1, row[j] + float(x != y)]).amin())
        row = torch.stack(new)
    return int(row[-1])


# ---- 6.7 error_rate ----


@ERROR_RATE.variant
def error_rate__loop(pairs):
    edits = total = 0
    for r, h in pairs:
        edits += edit_distance(h, r)
        total += len(r)
    return edits / total


@ERROR_RATE.variant
def error_rate__numpy(pairs):
    counts = np.array([[edit_distance(r, h), len(r)] for r, h in pairs]).sum(axis=0)
    return counts[0] / counts[1]


@ERROR_RATE.variant
def error_rate__weighted_mean(pairs):
    """The mean of the rates, weighted with the lengths; a row without a true token has a rate of its own edits."""
    lengths = torch.tensor([float(len(pair[0])) for pair in pairs])
    edits = torch.tensor([float(edit_distance(*pair)) for pair in pairs])
    weights = lengths / lengths.sum()
    per_row = torch.where(lengths > 0, edits / lengths.clamp(min=1), 0.0)
    return (weights * per_row).sum() + edits[lengths == 0].sum() / lengths.sum()
