"""Gated cells in torch's weights, the bias that keeps, and the gradient along the cell (chapter 4)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from unrolled.gated import Gates, GRUParams, LSTMParams, TorchLSTM


def to_torch_lstm(params: LSTMParams) -> TorchLSTM:
    r"""The tensors that make ``nn.LSTM`` compute what ``lstm_step`` computes with these parameters.

    torch stacks its blocks in the order i, f, g, o, and has two biases, which it adds.

    Args:
        params: W_x (4H, E), W_h (4H, H), b (4H,), blocks in the order f, g, i, o. Not changed.

    Returns:
        TorchLSTM: weight_ih (4H, E), weight_hh (4H, H), bias_ih (4H,), bias_hh (4H,).

    Built in chapter 4.

    >>> params = LSTMParams(torch.randn(20, 3), torch.randn(20, 5), torch.randn(20))
    >>> weights = to_torch_lstm(params)
    >>> torch.equal(weights.weight_ih[:5], params.W_x[10:15])  # i stands first there, third here
    True
    """
    blocks = (tensor.chunk(4) for tensor in params)
    weight_ih, weight_hh, bias_ih = (torch.cat([i, f, g, o]) for f, g, i, o in blocks)
    return TorchLSTM(weight_ih, weight_hh, bias_ih, torch.zeros_like(bias_ih))


def from_torch_lstm(module: nn.LSTM) -> LSTMParams:
    """The way back: a one-layer ``nn.LSTM`` as parameters for ``lstm_step``, blocks f, g, i, o.

    >>> params = LSTMParams(torch.randn(20, 3), torch.randn(20, 5), torch.randn(20))
    >>> all(map(torch.equal, from_torch_lstm(to_torch_lstm(params).module()), params))
    True
    """
    theirs = module.weight_ih_l0, module.weight_hh_l0, module.bias_ih_l0 + module.bias_hh_l0
    return LSTMParams(*(torch.cat([f, g, i, o]) for i, f, g, o in (tensor.chunk(4) for tensor in theirs)))


def from_torch_gru(module: nn.GRU) -> GRUParams:
    r"""Read a one-layer ``nn.GRU``, so that ``gru_step(..., reset="after")`` computes what it does.

    torch's blocks come in the order r, z, n, and its z is the other way round:

    $$ h_t = (1 - z) \odot n + z \odot h_{t-1}, \quad z = 1 - u, \quad
       1 - \sigma(a) = \sigma(-a) $$ (eq-torch-gru)

    Args:
        module: a one-layer, one-directional nn.GRU with ``weight_ih_l0`` (3H, E), ``weight_hh_l0``
            (3H, H), ``bias_ih_l0`` (3H,), ``bias_hh_l0`` (3H,). Its candidate is
            n = tanh(W_in x + b_in + r * (W_hn h + b_hn)). The module is not changed.

    Returns:
        GRUParams with blocks u, r, candidate, where u is the share of the *new* content. b holds
        all biases but b_hn, which is b_h.

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


def init_forget_bias(weights: TorchLSTM, b: float) -> TorchLSTM:
    """The same weights, but every forget gate starts at the bias b.

    Args:
        weights: weight_ih (4H, E), weight_hh (4H, H), bias_ih (4H,), bias_hh (4H,), blocks in the
            order i, f, g, o. Not changed.
        b: the bias that each forget gate is to have *in effect*: torch adds bias_ih and bias_hh.

    Returns:
        TorchLSTM: new tensors; nothing but the forget biases differs.

    Built in chapter 4.

    >>> weights = init_forget_bias(TorchLSTM(*nn.LSTM(2, 3).parameters()), 5.0)
    >>> (weights.bias_ih + weights.bias_hh)[3:6].tolist()
    [5.0, 5.0, 5.0]
    """
    H = weights.weight_hh.shape[1]
    weight_ih, weight_hh, bias_ih, bias_hh = (tensor.clone() for tensor in weights)
    bias_ih[H : 2 * H], bias_hh[H : 2 * H] = b, 0
    return TorchLSTM(weight_ih, weight_hh, bias_ih, bias_hh)


def direct_cell_gradient(gates: Gates) -> Tensor:
    r"""How much of a change of the cell after step k arrives in the last cell, along the cell.

    The gates also depend on the cell, through h; this detour is left out: the gates are given.

    $$ \left.\frac{\partial c_T}{\partial c_k}\right|_{\text{gates fixed}} =
       \prod_{t=k+1}^{T} f_t $$ (eq-carousel)

    Args:
        gates: f, g, i, o of steps 1 to T, each (B, T, H).

    Returns:
        (B, T, H): at place k (counted from 1) the product for step k; at the last place it is 1.

    Built in chapter 4.

    >>> f = torch.tensor([[[0.9], [0.5], [0.8]]])
    >>> [round(value, 3) for value in direct_cell_gradient(Gates(f, f, f, f)).flatten().tolist()]
    [0.4, 0.8, 1.0]
    """
    after = torch.cat([gates.f[:, 1:], torch.ones_like(gates.f[:, :1])], dim=1)  # f_{k+1}; last 1
    return after.flip(1).cumprod(1).flip(1)  # eq-carousel


def detach_state(state: Tensor | tuple | list) -> Tensor | tuple:
    """Cut the history off a state between two chunks of a long text; its values go on.

    Args:
        state: a tensor (the h of an RNN or GRU), or a tuple or list of states: (h, c) of an LSTM,
            or one entry per layer, to any depth. It is not changed: the last chunk can still be
            differentiated.

    Returns:
        The same values in the same arrangement (a list may come back as a tuple); no gradient
        flows back through them.

    Built in chapter 4.

    >>> h = torch.ones(2, requires_grad=True) * 3
    >>> cut, (also_cut, _) = detach_state((h, (h, h)))
    >>> cut.tolist(), cut.requires_grad, also_cut.requires_grad, h.requires_grad
    ([3.0, 3.0], False, False, True)
    """
    if isinstance(state, Tensor):
        return state.detach()
    return tuple(detach_state(part) for part in state)
