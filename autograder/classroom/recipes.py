"""Right answers that the course does not know, written step by step, each step in one of several ways.

Whoever writes chooses each way by itself, so 60 people who never met hand in about 60 forms, which share many lines by
chance.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from textwrap import indent


@dataclass(frozen=True)
class Recipe:
    """The head of a function, and for each step of its body the ways to write it."""

    head: str
    steps: tuple[tuple[str, ...], ...]

    def written_by(self, chooser: Random) -> str:
        """One answer: a way for each step, independently of the others."""
        body = "\n".join(chooser.choice(ways) for ways in self.steps)
        return f"@exercise\n{self.head}\n{indent(body, '    ')}"


PAD_BATCH = Recipe(
    "def pad_batch(seqs, pad):",
    (
        (
            "lengths = torch.tensor([len(seq) for seq in seqs])",
            "lengths = torch.zeros(len(seqs), dtype=torch.int64)\nfor b, seq in enumerate(seqs):\n"
            "    lengths[b] = len(seq)",
            "sizes = list(map(len, seqs))\nlengths = torch.as_tensor(sizes, dtype=torch.long)",
            "lengths = torch.LongTensor([len(seqs[b]) for b in range(len(seqs))])",
        ),
        (
            "T = int(lengths.max())",
            "T = max(len(seq) for seq in seqs)",
            "T = lengths.max().item()",
            "T = 0\nfor seq in seqs:\n    if len(seq) > T:\n        T = len(seq)",
            "T = sorted(len(seq) for seq in seqs)[-1]",
        ),
        (
            "ids = torch.full((len(seqs), T), pad)\nfor b, seq in enumerate(seqs):\n"
            "    ids[b, : len(seq)] = torch.tensor(seq)",
            "rows = []\nfor seq in seqs:\n    rows.append(list(seq) + [pad] * (T - len(seq)))\n"
            "ids = torch.tensor(rows)",
            "ids = torch.stack([F.pad(torch.tensor(seq, dtype=torch.int64), (0, T - len(seq)), value=pad)"
            " for seq in seqs])",
            "ids = torch.empty(len(seqs), T, dtype=torch.int64).fill_(pad)\nfor b in range(len(seqs)):\n"
            "    for t in range(len(seqs[b])):\n        ids[b, t] = seqs[b][t]",
            "ids = torch.tensor([[seq[t] if t < len(seq) else pad for t in range(T)] for seq in seqs])",
        ),
        (
            "mask = torch.arange(T) < lengths[:, None]",
            "mask = torch.zeros(len(seqs), T, dtype=torch.bool)\nfor b in range(len(seqs)):\n"
            "    mask[b, : lengths[b]] = True",
            "mask = torch.arange(T).unsqueeze(0).expand(len(seqs), T) < lengths.unsqueeze(1)",
            "mask = torch.tensor([[t < len(seq) for t in range(T)] for seq in seqs])",
            "mask = torch.cat([torch.arange(T)[None] < n for n in lengths])",
        ),
        ("return ids, lengths, mask", "return (ids, lengths, mask)"),
    ),
)

RNN_STEP_BACKWARD = Recipe(
    "def rnn_step_backward(dh, h, h_prev, x, params):",
    (
        (
            "da = dh * (1 - h * h)",
            "da = (1 - h**2) * dh",
            "slope = 1 - h.pow(2)\nda = slope * dh",
            "da = dh - dh * h * h",
            "da = torch.addcmul(dh, dh * h, h, value=-1)",
        ),
        (
            "dx = da @ params.W_xh",
            "dx = torch.matmul(da, params.W_xh)",
            'dx = torch.einsum("bh,he->be", da, params.W_xh)',
            "dx = (params.W_xh.T @ da.T).T",
        ),
        (
            "dh_prev = da @ params.W_hh",
            "dh_prev = torch.matmul(da, params.W_hh)",
            'dh_prev = torch.einsum("bi,ij->bj", da, params.W_hh)',
            "dh_prev = (params.W_hh.T @ da.T).T",
        ),
        (
            "dW_xh = da.T @ x",
            "dW_xh = torch.mm(da.t(), x)",
            'dW_xh = torch.einsum("bh,be->he", da, x)',
            "dW_xh = (da[:, :, None] * x[:, None, :]).sum(dim=0)",
            "dW_xh = torch.zeros_like(params.W_xh)\nfor b in range(len(x)):\n"
            "    dW_xh = dW_xh + torch.outer(da[b], x[b])",
        ),
        (
            "dW_hh = da.T @ h_prev",
            "dW_hh = torch.mm(da.t(), h_prev)",
            'dW_hh = torch.einsum("bi,bj->ij", da, h_prev)',
            "dW_hh = (da[:, :, None] * h_prev[:, None, :]).sum(dim=0)",
            "dW_hh = sum(torch.outer(da[b], h_prev[b]) for b in range(len(h)))",
        ),
        ("db = da.sum(dim=0)", "db = torch.sum(da, 0)", "db = da.mean(dim=0) * len(da)", "db = sum(row for row in da)"),
        (
            "return dx, dh_prev, dW_xh, dW_hh, db",
            "grads = (dx, dh_prev, dW_xh, dW_hh, db)\nreturn grads",
            "return tuple([dx, dh_prev, dW_xh, dW_hh, db])",
        ),
    ),
)


def _squashed(name: str) -> tuple[str, ...]:
    return (
        f"{name} = torch.sigmoid({name})",
        f"{name} = {name}.sigmoid()",
        f"{name} = 1 / (1 + torch.exp(-{name}))",
        f"{name} = F.sigmoid({name})",
    )


LSTM_STEP = Recipe(
    "def lstm_step(x, h, c, params):",
    (
        (
            "a = x @ params.W_x.T + h @ params.W_h.T + params.b",
            "a = F.linear(x, params.W_x) + F.linear(h, params.W_h, params.b)",
            "a = torch.matmul(x, params.W_x.t())\na = a + torch.matmul(h, params.W_h.t())\na = a + params.b",
            "W = torch.cat((params.W_x, params.W_h), dim=1)\nboth = torch.cat((x, h), dim=1)\n"
            "a = both @ W.T + params.b",
            'a = params.b + torch.einsum("be,he->bh", x, params.W_x) + torch.einsum("bj,hj->bh", h, params.W_h)',
        ),
        (
            "f, g, i, o = a.chunk(4, dim=1)",
            "H = h.shape[1]\nf = a[:, :H]\ng = a[:, H : 2 * H]\ni = a[:, 2 * H : 3 * H]\no = a[:, 3 * H :]",
            "H = h.size(-1)\nf, g, i, o = torch.split(a, H, dim=-1)",
            "blocks = a.view(len(x), 4, -1)\nf, g, i, o = blocks[:, 0], blocks[:, 1], blocks[:, 2], blocks[:, 3]",
            "f, g, i, o = a.reshape(len(x), 4, h.shape[1]).unbind(dim=1)",
        ),
        _squashed("f"),
        _squashed("i"),
        _squashed("o"),
        ("g = torch.tanh(g)", "g = g.tanh()", "g = 2 * torch.sigmoid(2 * g) - 1"),
        (
            "new = f * c + i * g",
            "kept = f * c\nwritten = i * g\nnew = kept + written",
            "new = torch.addcmul(i * g, f, c)",
            "new = torch.mul(f, c) + torch.mul(i, g)",
        ),
        (
            "return o * torch.tanh(new), new",
            "out = o * new.tanh()\nreturn out, new",
            "squashed = torch.tanh(new)\nreturn squashed * o, new",
        ),
    ),
)

RECIPES = {"pad_batch": PAD_BATCH, "rnn_step_backward": RNN_STEP_BACKWARD, "lstm_step": LSTM_STEP}
