"""Right answers to the exercises of chapter 1, in other styles."""

from __future__ import annotations

import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from autograder.exercises.ch01_recurrence import (
    CAUSAL_CONV1D,
    CROSS_ENTROPY,
    FROM_TORCH_RNN,
    PAD_BATCH,
    RNN_FORWARD,
    RNN_STEP,
    SOFTMAX,
)
from unrolled.losses import softmax
from unrolled.recurrent import RNNParams, rnn_step

# ---- 1.1 pad_batch ----


@PAD_BATCH.variant
def pad_batch__pad_sequence(seqs, pad):
    rows = [torch.tensor(seq) for seq in seqs]
    ids = nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=pad)
    mask = nn.utils.rnn.pad_sequence([torch.ones(len(row), dtype=torch.bool) for row in rows], batch_first=True)
    return ids, mask.sum(dim=1), mask


@PAD_BATCH.variant
def pad_batch__numpy(seqs, pad):
    T = max(map(len, seqs))
    ids = np.full((len(seqs), T), pad)
    mask = np.zeros((len(seqs), T), dtype=bool)
    for b, seq in enumerate(seqs):
        ids[b, : len(seq)] = seq
        mask[b, : len(seq)] = True
    return ids, mask.sum(axis=1), mask


@PAD_BATCH.variant
def pad_batch__preallocated(seqs, pad):
    lengths = [len(seq) for seq in seqs]
    ids = torch.full((len(seqs), max(lengths)), pad, dtype=torch.int32)
    mask = torch.zeros(ids.shape, dtype=torch.bool)
    for b in range(len(seqs)):
        for t in range(lengths[b]):
            ids[b, t] = seqs[b][t]
            mask[b, t] = True
    return [ids, lengths, mask]  # a list is as good as a tuple


@PAD_BATCH.variant
def pad_batch__scatter(seqs, pad):
    lengths = torch.tensor([len(seq) for seq in seqs])
    mask = torch.ones(len(seqs), int(lengths.max())).cumsum(dim=1) <= lengths.unsqueeze(1)
    ids = torch.full(mask.shape, pad)
    ids[mask] = torch.tensor([token for seq in seqs for token in seq])
    return ids, lengths, mask


# ---- 1.2 causal_conv1d ----


@CAUSAL_CONV1D.variant
def causal_conv1d__torch(x, W, b):
    channels_first = F.pad(x.transpose(1, 2), (W.shape[0] - 1, 0))
    return F.conv1d(channels_first, W.permute(2, 1, 0), b).transpose(1, 2)


@CAUSAL_CONV1D.variant
def causal_conv1d__padding_cut_off(x, W, b):
    k = W.shape[0]
    y = F.conv1d(x.transpose(1, 2), W.permute(2, 1, 0), b, padding=k - 1)
    return y[:, :, : x.shape[1]].transpose(1, 2)


@CAUSAL_CONV1D.variant
def causal_conv1d__windows(x, W, b):
    k = W.shape[0]
    past = torch.cat([x.new_zeros(x.shape[0], k - 1, x.shape[2]), x], dim=1)
    return torch.einsum("btej,jeh->bth", past.unfold(1, k, 1), W) + b


@CAUSAL_CONV1D.variant
def causal_conv1d__shift_and_add(x, W, b):
    (B, T, _), k = x.shape, W.shape[0]
    y = b.expand(B, T, -1)
    for back in range(min(k, T)):
        late = x[:, : T - back] @ W[k - 1 - back]
        y = y + torch.cat([late.new_zeros(B, back, late.shape[2]), late], dim=1)
    return y


@CAUSAL_CONV1D.variant
def causal_conv1d__one_matrix(x, W, b):
    (B, T, E), (k, _, H) = x.shape, W.shape
    rows = []
    for t in range(T):
        window = [x[:, s] if s >= 0 else torch.zeros(B, E) for s in range(t - k + 1, t + 1)]
        rows.append(torch.cat(window, dim=1) @ W.reshape(k * E, H) + b)
    return torch.stack(rows, dim=1)


# ---- 1.3 rnn_step ----


@RNN_STEP.variant
def rnn_step__linear(x, h, params):
    W_xh, W_hh, b, phi = params
    return phi(F.linear(x, W_xh, b) + F.linear(h, W_hh))


@RNN_STEP.variant
def rnn_step__one_matrix(x, h, params):
    W = torch.cat([params.W_xh, params.W_hh], dim=1)
    return params.phi(torch.cat([x, h], dim=1) @ W.T + params.b)


@RNN_STEP.variant
def rnn_step__einsum(x, h, params):
    a = torch.einsum("be,he->bh", x, params.W_xh) + torch.einsum("bg,hg->bh", h, params.W_hh)
    return params.phi(a + params.b[None, :])


@RNN_STEP.variant
def rnn_step__column_vectors(x, h, params):
    rows = [params.phi(params.W_xh @ x[i] + params.W_hh @ h[i] + params.b) for i in range(len(x))]
    return torch.stack(rows)


@RNN_STEP.variant
def rnn_step__unit_by_unit(x, h, params):
    units = []
    for i in range(len(params.b)):
        units.append(params.phi((x * params.W_xh[i]).sum(1) + (h * params.W_hh[i]).sum(1) + params.b[i]))
    return torch.stack(units, dim=1)


# ---- 1.4 rnn_forward ----


@RNN_FORWARD.variant
def rnn_forward__preallocated(x, h0, params):
    B, T, _ = x.shape
    h, hs = h0, torch.empty(B, T, h0.shape[1], dtype=h0.dtype)
    for t in range(T):
        h = rnn_step(x[:, t], h, params)
        hs[:, t] = h
    return hs


@RNN_FORWARD.variant
def rnn_forward__recursion(x, h0, params):
    def rest(x, h):
        if x.shape[1] == 0:
            return []
        h = rnn_step(x[:, 0], h, params)
        return [h[:, None], *rest(x[:, 1:], h)]

    return torch.cat(rest(x, h0), dim=1)


@RNN_FORWARD.variant
def rnn_forward__inputs_first(x, h0, params):
    from_input = x @ params.W_xh.T + params.b
    states = [h0]
    for a in from_input.unbind(dim=1):
        states.append(params.phi(a + states[-1] @ params.W_hh.T))
    return torch.stack(states[1:], dim=1)


@RNN_FORWARD.variant
def rnn_forward__sentence_by_sentence(x, h0, params):
    sentences = []
    for b in range(x.shape[0]):
        h, states = h0[b : b + 1], []
        for t in range(x.shape[1]):
            h = rnn_step(x[b : b + 1, t], h, params)
            states.append(h)
        sentences.append(torch.cat(states))
    return torch.stack(sentences)


@RNN_FORWARD.variant
def rnn_forward__transposed_twice(x, h0, params):
    h, hs = h0.clone(), []
    for x_t in x.transpose(0, 1):
        h = rnn_step(x_t, h, params)
        hs += [h]
    return torch.stack(hs).permute(1, 0, 2)


# ---- 1.5 softmax ----


@SOFTMAX.variant
def softmax__exp_of_log(o):
    return torch.exp(o - torch.logsumexp(o, dim=-1, keepdim=True))


@SOFTMAX.variant
def softmax__detached_shift(o):
    e = (o - o.max(dim=-1, keepdim=True).values.detach()).exp()
    return F.normalize(e, p=1, dim=-1)


@SOFTMAX.variant
def softmax__row_by_row(o):
    rows = []
    for row in o.reshape(-1, o.shape[-1]):
        e = torch.exp(row - max(row.tolist()))
        rows.append(e / e.sum())
    return torch.stack(rows).reshape(o.shape)


@SOFTMAX.variant
def softmax__pairwise_differences(o):
    differences = o[..., None, :] - o[..., :, None]
    return 1 / torch.exp(differences).sum(dim=-1)


@SOFTMAX.variant
def softmax__in_float32(o):
    o = o.float()
    e = torch.exp(o - o.amax(-1, keepdim=True))
    return e / e.sum(-1, keepdim=True)


# ---- 1.6 from_torch_rnn ----


@FROM_TORCH_RNN.variant
def from_torch_rnn__state_dict(module):
    state = {name: tensor.clone() for name, tensor in module.state_dict().items()}
    phi = torch.relu if module.nonlinearity == "relu" else torch.tanh
    b = sum(tensor for name, tensor in state.items() if name.startswith("bias"))
    return RNNParams(W_xh=state["weight_ih_l0"], W_hh=state["weight_hh_l0"], b=b, phi=phi)


@FROM_TORCH_RNN.variant
def from_torch_rnn__by_position(module):
    W_xh, W_hh, b_xh, b_hh = module.parameters()
    return RNNParams(
        W_xh, W_hh, torch.stack([b_xh, b_hh]).sum(dim=0), {"tanh": torch.tanh, "relu": F.relu}[module.nonlinearity]
    )


@FROM_TORCH_RNN.variant
def from_torch_rnn__replaced(module):
    with torch.no_grad():
        b = module.bias_hh_l0.detach().clone()
        b += module.bias_ih_l0
    params = RNNParams(module.weight_ih_l0.detach(), module.weight_hh_l0.detach(), b)
    return params._replace(phi=lambda a: a.clamp(min=0)) if module.nonlinearity == "relu" else params


@FROM_TORCH_RNN.variant
def from_torch_rnn__all_weights(module):
    W_xh, W_hh, *biases = module.all_weights[0]
    return RNNParams(W_xh, W_hh, torch.add(*biases), nn.Tanh() if module.nonlinearity == "tanh" else nn.ReLU())


# ---- 1.7 cross_entropy ----


@CROSS_ENTROPY.variant
def cross_entropy__flattened(logits, y, pad):
    logits, y = logits.reshape(-1, logits.shape[-1]), y.reshape(-1)
    logits, y = logits[y != pad], y[y != pad]
    return (torch.logsumexp(logits, dim=1) - logits[torch.arange(len(y)), y]).mean()


@CROSS_ENTROPY.variant
def cross_entropy__one_hot(logits, y, pad):
    log_p = torch.log_softmax(logits, dim=-1)
    right = F.one_hot(y, logits.shape[-1]).to(log_p.dtype)
    real = (y != pad).to(log_p.dtype)
    return -((log_p * right).sum(dim=-1) * real).sum() / real.sum()


@CROSS_ENTROPY.variant
def cross_entropy__word_by_word(logits, y, pad):
    total, n = 0.0, 0
    for scores, word in zip(logits.flatten(0, 1), y.flatten().tolist(), strict=True):
        if word != pad:
            largest = scores.max()
            total = total + largest + torch.log(torch.exp(scores - largest).sum()) - scores[word]
            n += 1
    return total / n


@CROSS_ENTROPY.variant
def cross_entropy__differences(logits, y, pad):
    right = torch.take_along_dim(logits, y.unsqueeze(-1), dim=-1)
    surprise = torch.logsumexp(logits - right, dim=-1).masked_fill(y == pad, 0)
    return surprise.sum() / torch.count_nonzero(y - pad)


@CROSS_ENTROPY.variant
def cross_entropy__weighted_sentences(logits, y, pad):
    losses, counts = [], []
    for scores, words in zip(logits, y, strict=True):
        real = words.ne(pad)
        log_p = scores[real] - scores[real].logsumexp(-1, keepdim=True)
        losses.append(-log_p[range(len(log_p)), words[real]].sum())
        counts.append(int(real.sum()))
    return sum(losses) / math.fsum(counts)


@CROSS_ENTROPY.variant
def cross_entropy__own_softmax(logits, y, pad):
    """The probability where it is a number, the difference of scores where it is rounded to 0."""
    right = logits.gather(-1, y[..., None])[..., 0]
    p = softmax(logits).gather(-1, y[..., None])[..., 0]
    tiny = p < 1e-200
    log_p = torch.where(tiny, right - torch.logsumexp(logits, dim=-1), torch.log(p.masked_fill(tiny, 1)))
    return -torch.mean(log_p[y != pad])
