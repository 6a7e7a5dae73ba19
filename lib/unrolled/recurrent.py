"""The recurrence: one step, all steps, and the same in torch's weights (chapter 1)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn


def leaky_average(x: Tensor, keep: float) -> Tensor:
    r"""The smallest recurrence: keep a share of the old state, take the rest from the input.

    $$ m_t = \text{keep} \cdot m_{t-1} + (1 - \text{keep}) \cdot x_t,
       \qquad m_0 = 0 $$ (eq-leaky-average)

    Args:
        x: (T,) inputs.
        keep: the share of the old state that is kept, between 0 and 1.

    Returns:
        m: (T,) the state after each input. x is not changed.

    Built in chapter 0.

    >>> leaky_average(torch.tensor([1.0, 1.0, 0.0]), keep=0.5).tolist()
    [0.5, 0.75, 0.375]
    """
    m, states = torch.zeros(()), []
    for x_t in x:
        m = keep * m + (1 - keep) * x_t  # eq-leaky-average
        states.append(m)
    return torch.stack(states)  # (T,)


class RNNParams(NamedTuple):
    """The parameters of one recurrent layer; the same at every time step."""

    W_xh: Tensor  # (H, E) input to hidden
    W_hh: Tensor  # (H, H) hidden to hidden
    b: Tensor  # (H,)
    phi: Callable[[Tensor], Tensor] = torch.tanh  # the nonlinearity


def rnn_step(x: Tensor, h: Tensor, params: RNNParams) -> Tensor:
    r"""One step of the Elman recurrence: the new state from the input and the old state.

    $$ h_t = \varphi(W_{xh}\, x_t + W_{hh}\, h_{t-1} + b) $$ (eq-rnn-step)

    Args:
        x: (B, E) the inputs of this step, one row per sequence.
        h: (B, H) the states after the step before.
        params: W_xh (H, E), W_hh (H, H), b (H,) and the nonlinearity phi (tanh unless said
            otherwise).

    Returns:
        (B, H) the new states. Gradients reach x, h and the parameters; none of them is changed.

    Built in chapter 1.

    >>> params = RNNParams(W_xh=torch.eye(1), W_hh=torch.tensor([[0.5]]), b=torch.zeros(1))
    >>> x, h = torch.tensor([[1.0]]), torch.tensor([[2.0]])
    >>> round(rnn_step(x, h, params).item(), 4)  # tanh(1 + 0.5 * 2)
    0.964
    """
    # eq-rnn-step
    return params.phi(x @ params.W_xh.T + h @ params.W_hh.T + params.b)  # (B,E) @ (E,H) + (B,H) @ (H,H) -> (B,H)


def rnn_forward(x: Tensor, h0: Tensor, params: RNNParams) -> Tensor:
    r"""Run the recurrence over whole sequences and return every state.

    $$ h_t = \mathrm{rnn\_step}(x_t, h_{t-1}), \qquad t = 1, \dots, T $$ (eq-rnn-forward)

    Args:
        x: (B, T, E) inputs.
        h0: (B, H) the states before the first step.
        params: as in ``rnn_step``.

    Returns:
        hs: (B, T, H) the states after steps 1 to T; h0 is not among them. Gradients reach x, h0
            and the parameters through all steps; none of them is changed.

    Built in chapter 1.

    >>> params = RNNParams(torch.eye(1), torch.eye(1), torch.zeros(1), phi=lambda a: a)
    >>> x = torch.tensor([[[1.0], [2.0], [3.0]]])
    >>> rnn_forward(x, torch.zeros(1, 1), params).flatten().tolist()  # a running sum
    [1.0, 3.0, 6.0]
    """
    h, hs = h0, []
    for t in range(x.shape[1]):
        h = rnn_step(x[:, t], h, params)  # eq-rnn-forward
        hs.append(h)
    return torch.stack(hs, dim=1)  # (B, T, H)


def from_torch_rnn(module: nn.RNN) -> RNNParams:
    r"""Read the parameters of a one-layer ``nn.RNN``, so that ``rnn_forward`` does the same.

    torch writes the step with two biases and names the weights after source and target:

    $$ h_t = \varphi(W_{ih}\, x_t + b_{ih} + W_{hh}\, h_{t-1} + b_{hh}) $$ (eq-torch-rnn)

    Args:
        module: a one-layer, one-directional nn.RNN with ``nonlinearity`` "tanh" or "relu".
            Its tensors are ``weight_ih_l0`` (H, E), ``weight_hh_l0`` (H, H), ``bias_ih_l0`` (H,)
            and ``bias_hh_l0`` (H,).

    Returns:
        RNNParams whose phi is ``torch.tanh`` or ``torch.relu``, as the module says. The module
        is not changed.

    Built in chapter 1.

    >>> module = nn.RNN(3, 5, batch_first=True)
    >>> x, h0 = torch.randn(2, 7, 3), torch.zeros(2, 5)
    >>> torch.allclose(rnn_forward(x, h0, from_torch_rnn(module)), module(x)[0], atol=1e-6)
    True
    """
    b = module.bias_ih_l0 + module.bias_hh_l0  # eq-torch-rnn
    return RNNParams(module.weight_ih_l0, module.weight_hh_l0, b, getattr(torch, module.nonlinearity))


class RNN(nn.Module):
    """The recurrence as a module: (B, T, E) -> states (B, T, H), starting from zero unless h0 is given."""

    def __init__(self, E: int, H: int):
        super().__init__()
        bound = H**-0.5
        self.W_xh = nn.Parameter(torch.empty(H, E).uniform_(-bound, bound))
        self.W_hh = nn.Parameter(torch.empty(H, H).uniform_(-bound, bound))
        self.b = nn.Parameter(torch.zeros(H))

    def forward(self, x: Tensor, h0: Tensor | None = None) -> Tensor:
        h0 = x.new_zeros(len(x), len(self.b)) if h0 is None else h0
        return rnn_forward(x, h0, RNNParams(self.W_xh, self.W_hh, self.b))
