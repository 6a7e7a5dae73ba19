"""Right answers to the exercises of chapter 5, in other styles."""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from autograder.exercises.ch05_deep_bidirectional import (
    BI_SUMMARY,
    BIO_SPANS,
    BIRNN,
    DEEP_BIRNN,
    MASKED_MEAN,
    SPAN_F1,
    STACK,
)
from unrolled.deep import birnn
from unrolled.recurrent import rnn_forward
from unrolled.spans import bio_spans

# ---- 5.1 stack ----


@STACK.variant
def stack__step_by_step(layers, x):
    hs = [x.new_zeros(x.shape[0], p.W_hh.shape[0]) for p in layers]
    top = []
    for t in range(x.shape[1]):
        below = x[:, t]
        for i, p in enumerate(layers):
            hs[i] = p.phi(below @ p.W_xh.T + hs[i] @ p.W_hh.T + p.b)
            below = hs[i]
        top.append(below)
    return torch.stack(top, dim=1)


@STACK.variant
def stack__recursive(layers, x):
    def read(n):
        if n == 0:
            return x
        params = layers[n - 1]
        return rnn_forward(read(n - 1), torch.zeros(x.shape[0], params.b.shape[0], dtype=x.dtype), params)

    return read(len(layers))


@STACK.variant
def stack__row_by_row(layers, x):
    rows = []
    for row in x:
        h = row
        for W_xh, W_hh, b, phi in layers:
            state, states = torch.zeros_like(b), []
            for x_t in h:
                state = phi(F.linear(x_t, W_xh, b) + W_hh @ state)
                states.append(state)
            h = torch.stack(states)
        rows.append(h)
    return torch.stack(rows)


# ---- 5.2 birnn ----


@BIRNN.variant
def birnn__row_by_row(x, lengths, f, b):
    out = []
    for row, n in zip(x, lengths.tolist(), strict=True):
        words = row[None, :n]
        h_f = rnn_forward(words, x.new_zeros(1, len(f.b)), f)
        h_b = rnn_forward(words.flip(1), x.new_zeros(1, len(b.b)), b).flip(1)
        both = torch.cat([h_f, h_b], dim=2)[0]
        out.append(F.pad(both, (0, 0, 0, x.shape[1] - n)))
    return torch.stack(out)


@BIRNN.variant
def birnn__held_at_zero(x, lengths, f, b):
    """The backward state stays zero until the last real step is reached."""
    B, T, _ = x.shape
    states = {}
    for name, params, times in (("f", f, range(T)), ("b", b, reversed(range(T)))):
        h = x.new_zeros(B, len(params.b))
        for t in times:
            real = (t < lengths)[:, None]
            h = torch.where(real, params.phi(x[:, t] @ params.W_xh.T + h @ params.W_hh.T + params.b), 0.0)
            states[name, t] = h
    return torch.stack([torch.cat([states["f", t], states["b", t]], dim=1) for t in range(T)], dim=1)


@BIRNN.variant
def birnn__rolled(x, lengths, f, b):
    """Flip the whole row, then roll its pads to the back; the same again on the way back."""
    T = x.shape[1]

    def turn(rows):
        return torch.stack([row.flip(0).roll(int(n) - T, 0) for row, n in zip(rows, lengths, strict=True)])

    h_f = rnn_forward(x, x.new_zeros(len(x), f.b.numel()), f)
    h_b = turn(rnn_forward(turn(x), x.new_zeros(len(x), b.b.numel()), b))
    mask = torch.arange(T).expand(len(x), T) < lengths.unsqueeze(1)
    return torch.cat((h_f, h_b), 2) * mask.unsqueeze(2)


@BIRNN.variant
def birnn__packed(x, lengths, f, b):
    """Let torch cut and pad; only the directions are left to do."""
    rows = nn.utils.rnn.unpad_sequence(x, lengths, batch_first=True)
    back = nn.utils.rnn.pad_sequence([row.flip(0) for row in rows], batch_first=True)
    h_f = rnn_forward(x, x.new_zeros(len(x), len(f.b)), f)
    h_b = rnn_forward(back, x.new_zeros(len(x), len(b.b)), b)
    out = x.new_zeros(len(x), x.shape[1], len(f.b) + len(b.b))
    for i, n in enumerate(lengths):
        out[i, :n] = torch.cat([h_f[i, :n], h_b[i, :n].flip(0)], dim=-1)
    return out


@BIRNN.variant
def birnn__gathered(x, lengths, f, b):
    B, T, E = x.shape
    turned = (lengths[:, None] - 1 - torch.arange(T)) % T
    back = x.gather(1, turned[..., None].expand(B, T, E))
    h_b = rnn_forward(back, x.new_zeros(B, len(b.b)), b)
    h_b = h_b.gather(1, turned[..., None].expand(B, T, len(b.b)))
    out = torch.cat([rnn_forward(x, x.new_zeros(B, len(f.b)), f), h_b], dim=-1)
    return torch.where((torch.arange(T) < lengths[:, None])[..., None], out, torch.zeros_like(out))


# ---- 5.3 deep_birnn ----


@DEEP_BIRNN.variant
def deep_birnn__recursive(x, lengths, layers):
    def read(depth):
        return birnn(read(depth - 1), lengths, *layers[depth - 1]) if depth else x

    return read(len(layers))


@DEEP_BIRNN.variant
def deep_birnn__first_apart(x, lengths, layers):
    (f, b), *upper = layers
    states = [birnn(x, lengths, f, b)]
    for f, b in upper:
        states.append(birnn(states[-1], lengths, f, b))
    return states[-1]


@DEEP_BIRNN.variant
def deep_birnn__without_birnn(x, lengths, layers):
    rows = []
    for row, n in zip(x, lengths.tolist(), strict=True):
        h = row[None, :n]
        for f, b in layers:
            forward = rnn_forward(h, x.new_zeros(1, len(f.b)), f)
            backward = rnn_forward(h.flip(1), x.new_zeros(1, len(b.b)), b)
            h = torch.cat([forward, backward.flip(1)], dim=2)
        rows.append(torch.cat([h[0], x.new_zeros(x.shape[1] - n, h.shape[2])]))
    return torch.stack(rows)


@DEEP_BIRNN.variant
def deep_birnn__directions_apart(x, lengths, layers):
    """The halves are kept apart and joined anew for each layer to read."""
    halves = [x]
    for f, b in layers:
        halves = list(birnn(torch.cat(halves, dim=-1), lengths, f, b).split([len(f.b), len(b.b)], dim=-1))
    return torch.cat(halves, dim=-1)


# ---- 5.4 bi_summary ----


@BI_SUMMARY.variant
def bi_summary__gathered(out, lengths):
    forward, backward = out.chunk(2, dim=-1)
    last = (lengths - 1)[:, None, None].expand(-1, 1, forward.shape[-1])
    return torch.cat([forward.gather(1, last).squeeze(1), backward[:, 0]], dim=-1)


@BI_SUMMARY.variant
def bi_summary__row_by_row(out, lengths):
    H = out.shape[-1] // 2
    return torch.stack([torch.cat((row[n - 1, :H], row[0, H:])) for row, n in zip(out, lengths, strict=True)])


@BI_SUMMARY.variant
def bi_summary__one_hot(out, lengths):
    B, T, H2 = out.shape
    ends = torch.stack([F.one_hot(lengths - 1, T), F.one_hot(torch.zeros_like(lengths), T)], dim=1).to(out.dtype)
    return torch.einsum("bdt,btdh->bdh", ends, out.view(B, T, 2, H2 // 2)).reshape(B, H2)


@BI_SUMMARY.variant
def bi_summary__where(out, lengths):
    H = out.shape[2] // 2
    last = out[range(len(out)), (lengths - 1).tolist()]
    return torch.where(torch.arange(2 * H) < H, last, out[:, 0])


# ---- 5.5 masked_mean ----


@MASKED_MEAN.variant
def masked_mean__row_by_row(h, mask):
    return torch.stack([r[m].mean(dim=0) if m.any() else 0 * r.sum(dim=0) for r, m in zip(h, mask, strict=True)])


@MASKED_MEAN.variant
def masked_mean__weights(h, mask):
    m = mask.to(h.dtype)
    weights = m / torch.maximum(m.sum(dim=1, keepdim=True), torch.ones(()))
    return torch.einsum("bt,bth->bh", weights, h)


@MASKED_MEAN.variant
def masked_mean__filled(h, mask):
    n = mask.sum(dim=1)
    n = torch.where(n == 0, torch.ones_like(n), n)
    return h.masked_fill(~mask.unsqueeze(-1), 0.0).sum(dim=-2) / n.unsqueeze(-1)


@MASKED_MEAN.variant
def masked_mean__matmul(h, mask):
    m = mask[:, None, :].double().to(h.dtype)
    return (m @ h / (m.sum(-1, keepdim=True) + 1e-12)).squeeze(1)


# ---- 5.6 bio_spans ----


@BIO_SPANS.variant
def bio_spans__one_open(tags):
    """Keeps the open span apart and notes it down when it is over; one more O closes the last."""
    found, kind, start = [], None, 0
    for t, tag in enumerate([*tags, "O"]):
        letter, _, this = tag.partition("-")
        if kind is not None and (letter != "I" or this != kind):
            found.append((kind, start, t))
            kind = None
        if letter != "O" and kind is None:
            kind, start = this, t
    return found


@BIO_SPANS.variant
def bio_spans__looks_ahead(tags):
    found, t = [], 0
    while t < len(tags):
        if tags[t] == "O":
            t += 1
            continue
        kind, start = tags[t][2:], t
        t += 1
        while t < len(tags) and tags[t].startswith("I") and tags[t][2:] == kind:
            t += 1
        found.append((kind, start, t))
    return found


@BIO_SPANS.variant
def bio_spans__begins_and_ends(tags):
    """First where spans begin, then how far each reaches."""
    before = ["O", *tags[:-1]]
    begins = [
        tag != "O" and (tag[0] == "B" or old == "O" or old[2:] != tag[2:])
        for old, tag in zip(before, tags, strict=False)
    ]
    out = []
    for start in np.flatnonzero(begins):
        stops = [t for t in range(start + 1, len(tags)) if tags[t] == "O" or begins[t]]
        out.append([tags[start][2:], int(start), min(stops, default=len(tags))])
    return out


# ---- 5.7 span_f1 ----


@SPAN_F1.variant
def span_f1__with_rows(gold, predicted):
    wanted = {(i, span) for i, row in enumerate(gold) for span in bio_spans(row)}
    found = {(i, span) for i, row in enumerate(predicted) for span in bio_spans(row)}
    hits = len(wanted & found)
    return 0.0 if hits == 0 else 2 * hits / (len(wanted) + len(found))


@SPAN_F1.variant
def span_f1__harmonic(gold, predicted):
    hits, n_gold, n_predicted = 0, 0, 0
    for i in range(len(gold)):
        right, guess = bio_spans(gold[i]), bio_spans(predicted[i])
        n_gold += len(right)
        n_predicted += len(guess)
        for span in guess:
            if span in right:
                hits += 1
    if hits == 0:
        return 0
    P, R = hits / n_predicted, hits / n_gold
    return 2 / (1 / P + 1 / R)


@SPAN_F1.variant
def span_f1__errors(gold, predicted):
    counts = torch.zeros(3)
    for row in zip(gold, predicted, strict=True):
        right, guess = map(set, map(bio_spans, row))
        counts += torch.tensor([len(right & guess), len(guess - right), len(right - guess)])
    hits, invented, missed = counts
    return hits / torch.clamp(hits + (invented + missed) / 2, min=0.5)


@SPAN_F1.variant
def span_f1__numpy(gold, predicted):
    sizes = np.array([[len(bio_spans(row)) for row in rows] for rows in (gold, predicted)])
    hits = [len(set(bio_spans(g)).intersection(bio_spans(p))) for g, p in zip(gold, predicted, strict=True)]
    return 2 * np.sum(hits) / max(1, sizes.sum())
