"""Gated cells in torch's weights, the bias that keeps, and the gradient along the cell (chapter 4)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from unrolled.gated import Gates, GRUParams, LSTMParams


def to_torch_lstm(params: LSTMParams) -> nn.LSTM:
    r"""A one-layer ``nn.LSTM`` that computes what ``lstm_step`` computes with these parameters.

    torch stacks its blocks in the order i, f, g, o, and has two biases that are added.

    Args:
        params: W_x (4H, E), W_h (4H, H), b (4H,), blocks in the order f, g, i, o. Not changed.

    Returns:
        nn.LSTM with ``batch_first=True``. Its tensors are ``weight_ih_l0`` (4H, E),
        ``weight_hh_l0`` (4H, H), ``bias_ih_l0`` (4H,) and ``bias_hh_l0`` (4H,).

    Built in chapter 4.

    >>> params = LSTMParams(torch.randn(20, 3), torch.randn(20, 5), torch.randn(20))
    >>> module = to_torch_lstm(params)
    >>> module.input_size, module.hidden_size, torch.equal(module.weight_ih_l0[:5], params.W_x[10:15])
    (3, 5, True)
    """
    H, E = params.W_h.shape[1], params.W_x.shape[1]
    module = nn.LSTM(E, H, batch_first=True)
    with torch.no_grad():
        for name, ours in (("weight_ih_l0", params.W_x), ("weight_hh_l0", params.W_h), ("bias_ih_l0", params.b)):
            f, g, i, o = ours.chunk(4)
            getattr(module, name).copy_(torch.cat([i, f, g, o]))
        module.bias_hh_l0.zero_()
    return module


def from_torch_gru(module: nn.GRU) -> GRUParams:
    r"""Read a one-layer ``nn.GRU``, so that ``gru_step(..., reset="after")`` computes what it does.

    torch's blocks come in the order r, z, n, and its z is the other way round:

    $$ h_t = (1 - z) \odot n + z \odot h_{t-1}, \qquad z = 1 - u, \qquad 1 - \sigma(a) = \sigma(-a) $$ (eq-torch-gru)

    Args:
        module: a one-layer, one-directional nn.GRU with ``weight_ih_l0`` (3H, E), ``weight_hh_l0``
            (3H, H), ``bias_ih_l0`` (3H,), ``bias_hh_l0`` (3H,); n = tanh(W_in x + b_in + r * (W_hn h + b_hn)).
            Not changed.

    Returns:
        GRUParams with blocks u, r, candidate, where u is the share of the *new* content; b holds all
        biases but b_hn, which is b_h.

    Built in chapter 4.

    >>> module = nn.GRU(3, 5)
    >>> params = from_torch_gru(module)
    >>> params.W_x.shape, torch.equal(params.W_x[:5], -module.weight_ih_l0[5:10])
    (torch.Size([15, 3]), True)
    """
    (xr, xz, xn), (hr, hz, hn) = module.weight_ih_l0.chunk(3), module.weight_hh_l0.chunk(3)
    (br, bz, bn), (cr, cz, cn) = module.bias_ih_l0.chunk(3), module.bias_hh_l0.chunk(3)
    W_x, W_h = torch.cat([-xz, xr, xn]), torch.cat([-hz, hr, hn])  # eq-torch-gru
    return GRUParams(W_x, W_h, torch.cat([-(bz + cz), br + cr, bn]), cn)


def init_forget_bias(lstm: nn.LSTM, b: float) -> nn.LSTM:
    """Let every forget gate of an LSTM start at the bias b, in place.

    Args:
        lstm: an nn.LSTM of one or more layers. Layer k has ``bias_ih_l{k}`` and ``bias_hh_l{k}``, both (4H,),
            blocks in the order i, f, g, o; torch adds the two.
        b: the bias that each forget gate is to have *in effect*.

    Returns:
        The same lstm. Nothing but the forget biases is changed; every parameter still learns.

    Built in chapter 4.

    >>> lstm = init_forget_bias(nn.LSTM(2, 3), 5.0)
    >>> (lstm.bias_ih_l0 + lstm.bias_hh_l0)[3:6].tolist()
    [5.0, 5.0, 5.0]
    """
    H = lstm.hidden_size
    with torch.no_grad():
        for layer in range(lstm.num_layers):
            getattr(lstm, f"bias_ih_l{layer}")[H : 2 * H] = b
            getattr(lstm, f"bias_hh_l{layer}")[H : 2 * H] = 0
    return lstm


def direct_cell_gradient(gates: Gates) -> Tensor:
    r"""How much of a change of the cell after step k arrives in the last cell, along the cell alone.

    The gates also depend on the cell, through h; this detour is left out: the gates are taken as given.

    $$ \frac{\partial c_T}{\partial c_k} = \prod_{t=k+1}^{T} f_t $$ (eq-carousel)

    Args:
        gates: f, g, i, o of steps 1 to T, each (B, T, H).

    Returns:
        (B, T, H): at place k (counted from 1) the product for step k; at the last place it is 1.

    Built in chapter 4.

    >>> f = torch.tensor([[[0.9], [0.5], [0.8]]])
    >>> [round(value, 3) for value in direct_cell_gradient(Gates(f, f, f, f)).flatten().tolist()]
    [0.4, 0.8, 1.0]
    """
    after = torch.cat([gates.f[:, 1:], torch.ones_like(gates.f[:, :1])], dim=1)  # f of the step after k; then 1
    return after.flip(1).cumprod(1).flip(1)  # eq-carousel


def detach_state(state: Tensor | tuple | list) -> Tensor | tuple:
    """Cut the history off a state between two chunks of a long text; its values go on.

    Args:
        state: a tensor (the h of an RNN or GRU), or a tuple or list of states: (h, c) of an LSTM, or one entry
            per layer, to any depth. It is not changed: the last chunk can still be differentiated.

    Returns:
        The same values in the same arrangement (tuples for lists, too); no gradient flows through them.

    Built in chapter 4.

    >>> h = torch.ones(2, requires_grad=True) * 3
    >>> cut, (also_cut, _) = detach_state((h, (h, h)))
    >>> cut.tolist(), cut.requires_grad, also_cut.requires_grad, h.requires_grad
    ([3.0, 3.0], False, False, True)
    """
    if isinstance(state, Tensor):
        return state.detach()
    return tuple(detach_state(part) for part in state)
