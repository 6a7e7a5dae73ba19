"""Gates: the LSTM, the peephole LSTM and the GRU, one step and all steps (chapter 4)."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn


class LSTMParams(NamedTuple):
    """The parameters of an LSTM layer: four blocks of H rows each, in the order f, g, i, o of deck 003."""

    W_x: Tensor  # (4H, E) from the input
    W_h: Tensor  # (4H, H) from the old state
    b: Tensor  # (4H,)


class Peepholes(NamedTuple):
    """What the three gates see of the cell: one number per gate and unit."""

    w_cf: Tensor  # (H,)
    w_ci: Tensor  # (H,)
    w_co: Tensor  # (H,)


class TorchLSTM(NamedTuple):
    """The four tensors of a one-layer ``nn.LSTM``, in the order of its ``parameters()``: blocks i, f, g, o."""

    weight_ih: Tensor  # (4H, E)
    weight_hh: Tensor  # (4H, H)
    bias_ih: Tensor  # (4H,) torch adds
    bias_hh: Tensor  # (4H,) its two biases

    def module(self) -> nn.LSTM:
        """An nn.LSTM, batch first, with copies of these tensors."""
        H, E = self.weight_hh.shape[1], self.weight_ih.shape[1]
        lstm = nn.LSTM(E, H, batch_first=True, dtype=self.weight_ih.dtype)
        lstm.load_state_dict(dict(zip(lstm.state_dict(), self, strict=True)))
        return lstm


class GRUParams(NamedTuple):
    """The parameters of a GRU layer: three blocks of H rows each, in the order u, r, candidate of deck 002."""

    W_x: Tensor  # (3H, E) from the input
    W_h: Tensor  # (3H, H) from the old state
    b: Tensor  # (3H,)
    b_h: Tensor  # (H,) second bias of the candidate, inside the reset: used when the reset comes after the matrix


class Gates(NamedTuple):
    """What an LSTM decided at every step: erase (f), new content (g), write (i), read (o)."""

    f: Tensor  # (B, T, H), as are the others
    g: Tensor
    i: Tensor
    o: Tensor


def lstm_step(x: Tensor, h: Tensor, c: Tensor, params: LSTMParams) -> tuple[Tensor, Tensor]:
    r"""One step of the LSTM: erase, write, read.

    $$ a = W_x\, x_t + W_h\, h_{t-1} + b, \quad f, i, o = \sigma(a_f), \sigma(a_i), \sigma(a_o),
       \quad g = \tanh(a_g) $$ (eq-lstm-gates)
    $$ c_t = f \odot c_{t-1} + i \odot g $$ (eq-lstm-cell)
    $$ h_t = o \odot \tanh(c_t) $$ (eq-lstm-state)

    Without torch's own LSTM.

    Args:
        x: (B, E) the inputs of this step.
        h: (B, H) the states after the step before.
        c: (B, H) the cells after the step before.
        params: W_x (4H, E), W_h (4H, H), b (4H,); their rows are four blocks of H in the order
            f, g, i, o.

    Returns:
        h: (B, H) the new states.
        c: (B, H) the new cells. Gradients reach all arguments; none of them is changed.

    Built in chapter 4.

    >>> b = torch.tensor([9.0, 0.0, -9.0, 9.0])  # f open, i shut, o open
    >>> params = LSTMParams(torch.zeros(4, 1), torch.zeros(4, 1), b)
    >>> h, c = lstm_step(torch.ones(1, 1), torch.zeros(1, 1), torch.ones(1, 1), params)
    >>> round(c.item(), 3), round(h.item(), 3)  # nothing erased, nothing written, all of it read
    (1.0, 0.761)
    """
    a = x @ params.W_x.T + h @ params.W_h.T + params.b  # (B,E) @ (E,4H) + (B,H) @ (H,4H) -> (B,4H)
    f, g, i, o = a.chunk(4, dim=-1)  # four times (B, H)
    f, i, o, g = f.sigmoid(), i.sigmoid(), o.sigmoid(), g.tanh()  # eq-lstm-gates
    c = f * c + i * g  # eq-lstm-cell
    return o * torch.tanh(c), c  # eq-lstm-state


def peephole_lstm_step(
    x: Tensor, h: Tensor, c: Tensor, params: LSTMParams, peepholes: Peepholes
) -> tuple[Tensor, Tensor]:
    r"""One step of an LSTM whose gates look at the cell.

    $$ f = \sigma(a_f + w_{cf} \odot c_{t-1}), \quad i = \sigma(a_i + w_{ci} \odot c_{t-1}), \quad
       o = \sigma(a_o + w_{co} \odot c_t) $$ (eq-peephole)

    with a, g, the cell and the state as in the LSTM. The output gate is last: it sees the new cell.

    Args:
        x: (B, E) the inputs of this step.
        h: (B, H) the states after the step before.
        c: (B, H) the cells after the step before.
        params: as in ``lstm_step``, blocks in the order f, g, i, o.
        peepholes: w_cf, w_ci, w_co, each (H,): each unit looks at its own cell only.

    Returns:
        h: (B, H) the new states.
        c: (B, H) the new cells. Gradients reach all arguments; none of them is changed.

    Built in chapter 4.

    >>> params = LSTMParams(torch.zeros(4, 1), torch.zeros(4, 1), torch.zeros(4))
    >>> shut = Peepholes(torch.tensor([-99.0]), torch.tensor([0.0]), torch.tensor([0.0]))
    >>> one, zero = torch.ones(1, 1), torch.zeros(1, 1)
    >>> peephole_lstm_step(one, zero, one, params, shut)[1].item()
    0.0
    """
    f, g, i, o = (x @ params.W_x.T + h @ params.W_h.T + params.b).chunk(4, dim=-1)
    f = torch.sigmoid(f + peepholes.w_cf * c)  # eq-peephole
    i = torch.sigmoid(i + peepholes.w_ci * c)
    c = f * c + i * torch.tanh(g)
    o = torch.sigmoid(o + peepholes.w_co * c)  # the new cell
    return o * torch.tanh(c), c


def gru_step(x: Tensor, h: Tensor, params: GRUParams, reset: str = "before") -> Tensor:
    r"""One step of the GRU, as deck 002 writes it, or with the reset where torch has it.

    $$ u = \sigma(U_u x_t + W_u h_{t-1} + b_u), \quad
       r = \sigma(U_r x_t + W_r h_{t-1} + b_r) $$ (eq-gru-gates)
    $$ \tilde h = \tanh(U_h x_t + W_h (r \odot h_{t-1}) + b_h) $$ (eq-gru-before)
    $$ \tilde h = \tanh(U_h x_t + b_h + r \odot (W_h h_{t-1} + b'_h)) $$ (eq-gru-after)
    $$ h_t = (1 - u) \odot h_{t-1} + u \odot \tilde h $$ (eq-gru-state)

    Without torch's own GRU.

    Args:
        x: (B, E) the inputs of this step.
        h: (B, H) the states after the step before.
        params: W_x (3H, E) holds U, W_h (3H, H) holds W, b (3H,) the biases, in three blocks of H
            rows in the order u, r, candidate. b_h (H,) is b' and is zero if the reset comes before.
        reset: "before" the matrix W_h (the deck) or "after" it (torch).

    Returns:
        (B, H) the new states. Gradients reach all arguments; none of them is changed.

    Built in chapter 4.

    >>> b = torch.tensor([-9.0, 0.0, 0.0])  # u is shut: all is kept
    >>> params = GRUParams(torch.zeros(3, 1), torch.zeros(3, 1), b, torch.zeros(1))
    >>> round(gru_step(torch.ones(1, 1), torch.ones(1, 1), params).item(), 3)
    1.0
    """
    U_x, R_x, N_x = (x @ params.W_x.T + params.b).chunk(3, dim=-1)
    W_u, W_r, W_n = params.W_h.chunk(3)
    u, r = torch.sigmoid(U_x + h @ W_u.T), torch.sigmoid(R_x + h @ W_r.T)  # eq-gru-gates
    from_h = (r * h) @ W_n.T  # eq-gru-before
    if reset == "after":
        from_h = r * (h @ W_n.T + params.b_h)  # eq-gru-after
    return (1 - u) * h + u * torch.tanh(N_x + from_h)  # eq-gru-state


def lstm_forward(x: Tensor, h: Tensor, c: Tensor, params: LSTMParams) -> tuple[Tensor, Tensor, Gates]:
    """All steps of an LSTM: states (B, T, H), cells (B, T, H) and what the gates did."""
    hs, cs, gates = [], [], []
    for t in range(x.shape[1]):
        f, g, i, o = (x[:, t] @ params.W_x.T + h @ params.W_h.T + params.b).chunk(4, dim=-1)
        gates.append((f.sigmoid(), g.tanh(), i.sigmoid(), o.sigmoid()))
        h, c = lstm_step(x[:, t], h, c, params)
        hs.append(h)
        cs.append(c)
    return torch.stack(hs, 1), torch.stack(cs, 1), Gates(*(torch.stack(gate, 1) for gate in zip(*gates, strict=True)))


def gru_forward(x: Tensor, h: Tensor, params: GRUParams, reset: str = "before") -> Tensor:
    """All steps of a GRU: states (B, T, H)."""
    hs = []
    for t in range(x.shape[1]):
        h = gru_step(x[:, t], h, params, reset)
        hs.append(h)
    return torch.stack(hs, dim=1)


class LSTM(nn.Module):
    """The LSTM as a module: (B, T, E) -> states (B, T, H), from zeros, with a forget bias of its own."""

    def __init__(self, E: int, H: int, forget_bias: float = 1.0):
        super().__init__()
        bound = H**-0.5
        self.W_x = nn.Parameter(torch.empty(4 * H, E).uniform_(-bound, bound))
        self.W_h = nn.Parameter(torch.empty(4 * H, H).uniform_(-bound, bound))
        self.b = nn.Parameter(torch.cat([torch.full((H,), forget_bias), torch.zeros(3 * H)]))

    def forward(self, x: Tensor) -> Tensor:
        h = c = x.new_zeros(len(x), self.W_h.shape[1])
        params, hs = LSTMParams(self.W_x, self.W_h, self.b), []
        for x_t in x.unbind(1):
            h, c = lstm_step(x_t, h, c, params)
            hs.append(h)
        return torch.stack(hs, dim=1)


class GRU(nn.Module):
    """The GRU of deck 002 as a module: (B, T, E) -> states (B, T, H), from zeros."""

    def __init__(self, E: int, H: int, reset: str = "before"):
        super().__init__()
        bound, self.reset = H**-0.5, reset
        self.W_x = nn.Parameter(torch.empty(3 * H, E).uniform_(-bound, bound))
        self.W_h = nn.Parameter(torch.empty(3 * H, H).uniform_(-bound, bound))
        self.b, self.b_h = nn.Parameter(torch.zeros(3 * H)), nn.Parameter(torch.zeros(H))

    def forward(self, x: Tensor) -> Tensor:
        params = GRUParams(self.W_x, self.W_h, self.b, self.b_h)
        return gru_forward(x, x.new_zeros(len(x), len(self.b_h)), params, self.reset)
