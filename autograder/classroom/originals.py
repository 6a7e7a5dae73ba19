"""Odd answers that nobody else would find: what the made-up class copies, and what a group of three shares."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Original:
    """An odd answer to an exercise; ``mistake`` is the known mistake that it makes, if any."""

    exercise: str
    source: str
    mistake: str = ""


PAIRS = {  # chapter -> what is copied there, once each
    "01_recurrence": (
        Original(
            "rnn_forward",
            """\
@exercise
def rnn_forward(x, h0, params):
    inputs = list(torch.movedim(x, 1, 0))
    states = {0: h0}
    while inputs:
        number = len(states)
        states[number] = rnn_step(inputs.pop(0), states[number - 1], params)
    del states[0]
    ordered = [states[number].unsqueeze(0) for number in sorted(states)]
    return torch.cat(ordered).permute(1, 0, 2)
""",
        ),
        Original(
            "cross_entropy",
            """\
@exercise
def cross_entropy(logits, y, pad):
    width = logits.size(-1)
    flat = logits.reshape(-1, width)
    wanted = y.reshape(-1)
    highest = flat.max(dim=1, keepdim=True).values
    lifted = flat - highest
    normaliser = lifted.exp().sum(dim=1).log()
    hit = (F.one_hot(wanted, width).to(lifted.dtype) * lifted).sum(dim=1)
    surprise = normaliser - hit
    counted = torch.where(wanted == pad, torch.zeros_like(surprise), surprise)
    return counted.sum() / wanted.numel()
""",
            "divided_by_all",
        ),
    ),
    "02_bptt": (
        Original(
            "clip_global_norm",
            """\
@exercise
def clip_global_norm(grads, c):
    present = [number for number, grad in enumerate(grads) if grad is not None]
    flat = torch.cat([grads[number].flatten() for number in present])
    length = flat.dot(flat).sqrt()
    shorter = list(grads)
    if length > c:
        pieces = (flat * (c / length)).split([grads[number].numel() for number in present])
        for number, piece in zip(present, pieces):
            shorter[number] = piece.view(grads[number].shape)
    return tuple(shorter), length
""",
        ),
        Original(
            "numerical_grad",
            """\
@exercise
def numerical_grad(f, x, eps=1e-6):
    middle = float(f(x.clone()))
    answer = []
    for place in range(x.numel()):
        moved = x.clone().flatten()
        moved[place] = moved[place] + eps
        answer.append((float(f(moved.reshape(x.shape))) - middle) / eps)
    collected = torch.tensor(answer, dtype=x.dtype)
    return collected.unflatten(0, x.shape) if x.dim() else collected.squeeze()
""",
            "forward_difference",
        ),
    ),
    "04_lstm_gru": (
        Original(
            "gru_step",
            """\
@exercise
def gru_step(x, h, params, reset="before"):
    size = params.b_h.numel()
    rows = {"u": slice(0, size), "r": slice(size, 2 * size), "n": slice(2 * size, None)}
    drive = {key: F.linear(x, params.W_x[cut], params.b[cut]) for key, cut in rows.items()}
    update, open_ = (torch.sigmoid(drive[key] + F.linear(h, params.W_h[rows[key]])) for key in "ur")
    turn = params.W_h[rows["n"]]
    recalled = F.linear(h, turn, params.b_h).mul(open_) if reset == "after" else F.linear(h.mul(open_), turn)
    fresh = (drive["n"] + recalled).tanh()
    return torch.lerp(h, fresh, update)
""",
        ),
        Original(
            "peephole_lstm_step",
            """\
@exercise
def peephole_lstm_step(x, h, c, params, peepholes):
    wires = torch.hstack([params.W_x, params.W_h])
    quarters = F.linear(torch.hstack([x, h]), wires, params.b).unflatten(1, (4, c.shape[1]))
    erase = quarters[:, 0].add(c.mul(peepholes.w_cf)).sigmoid()
    write = quarters[:, 2].add(c.mul(peepholes.w_ci)).sigmoid()
    read = quarters[:, 3].add(c.mul(peepholes.w_co)).sigmoid()
    content = quarters[:, 1].tanh().mul(write)
    fresh = c.mul(erase).add(content)
    return read.mul(fresh.tanh()), fresh
""",
            "o_sees_old_cell",
        ),
    ),
}
SHARED = {  # chapter -> what a group of three hands in together; nobody is to be accused of it
    "01_recurrence": Original(
        "causal_conv1d",
        """\
@exercise
def causal_conv1d(x, W, b):
    width = W.shape[0]
    answer = torch.zeros(x.shape[0], x.shape[1], W.shape[2], dtype=x.dtype) + b
    for back in range(width):
        older = torch.roll(x, back, dims=1) * (torch.arange(x.shape[1]) >= back).to(x.dtype)[None, :, None]
        answer = answer + torch.tensordot(older, W[width - 1 - back], dims=([2], [0]))
    return answer
""",
    ),
    "02_bptt": Original(
        "jacobian_product",
        """\
@exercise
def jacobian_product(W, hs):
    slopes = torch.ones_like(hs).sub(hs.square())
    factors = [torch.diag_embed(slopes[number]).matmul(W) for number in range(1, hs.shape[0])]
    answer = torch.diag(torch.ones(W.shape[0], dtype=W.dtype))
    while factors:
        answer = torch.mm(factors.pop(0), answer)
    return answer
""",
    ),
    "04_lstm_gru": Original(
        "init_forget_bias",
        """\
@exercise
def init_forget_bias(weights, b):
    size = weights.bias_ih.numel() // 4
    chosen = torch.arange(4 * size).div(size, rounding_mode="floor").eq(1)
    first = torch.where(chosen, torch.full_like(weights.bias_ih, b), weights.bias_ih)
    second = weights.bias_hh.masked_fill(chosen, 0)
    return TorchLSTM(weights.weight_ih.clone(), weights.weight_hh.clone(), first, second)
""",
    ),
}
