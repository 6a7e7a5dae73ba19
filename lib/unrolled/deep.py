"""Deep and bidirectional networks over padded batches, from chapter 1's recurrence (chapter 5)."""

from __future__ import annotations

import torch
from torch import Tensor

from unrolled.recurrent import RNNParams, rnn_forward


def stack(layers: list[RNNParams], x: Tensor) -> Tensor:
    r"""A deep network: each layer reads the states of the layer below.

    $$ h_t^{(l)} = \mathrm{rnn\_step}^{(l)}(h_t^{(l-1)},\, h_{t-1}^{(l)}), \qquad
       h_t^{(0)} = x_t, \quad h_0^{(l)} = 0 $$ (eq-stack)

    Args:
        layers: the parameters of the layers, from the lowest up, at least one. Their widths H may
            differ; each W_xh fits what the layer reads.
        x: (B, T, E) inputs, all rows of full length.

    Returns:
        (B, T, H) the states of the top layer at every step, of the same dtype as x. Gradients reach
        x and the parameters of all layers; none of them is changed.

    Built in chapter 5.

    >>> running_sum = RNNParams(torch.eye(1), torch.eye(1), torch.zeros(1), phi=lambda a: a)
    >>> x = torch.tensor([[[1.0], [1.0], [1.0]]])
    >>> stack([running_sum, running_sum], x).flatten().tolist()  # the running sum of 1, 2, 3
    [1.0, 3.0, 6.0]
    """
    h = x
    for params in layers:
        h = rnn_forward(h, h.new_zeros(len(h), len(params.b)), params)  # eq-stack
    return h  # (B, T, H)


def birnn(x: Tensor, lengths: Tensor, f: RNNParams, b: RNNParams) -> Tensor:
    r"""Read each row from both ends; at every step put both states side by side.

    Row by row, with n the number of real steps in the row:

    $$ h_t = \overrightarrow h_t \oplus \overleftarrow h_t, \quad
       \overrightarrow h_t = \mathrm{rnn\_step}_f(x_t, \overrightarrow h_{t-1}), \quad
       \overleftarrow h_t = \mathrm{rnn\_step}_b(x_t, \overleftarrow h_{t+1}), \quad
       \overrightarrow h_0 = \overleftarrow h_{n+1} = 0 $$ (eq-birnn)

    Args:
        x: (B, T, E) inputs, padded on the right with anything.
        lengths: (B,) int64, how many steps of each row are real: 1 to T, in any order; perhaps
            none is T.
        f: the parameters of the network that reads forward, of width H_f.
        b: the parameters of the one that reads backward, of width H_b.

    Returns:
        (B, T, H_f + H_b): at every real step what f knows after reading up to it, then what b
        knows after reading back to it; at the pads zeros. Of the same dtype as x. Gradients reach x
        and the parameters; nothing is changed.

    Built in chapter 5.

    >>> running_sum = RNNParams(torch.eye(1), torch.eye(1), torch.zeros(1), phi=lambda a: a)
    >>> x = torch.tensor([[[1.0], [2.0], [3.0]], [[1.0], [2.0], [99.0]]])
    >>> out = birnn(x, torch.tensor([3, 2]), running_sum, running_sum)
    >>> out[0].tolist()
    [[1.0, 6.0], [3.0, 5.0], [6.0, 3.0]]
    >>> out[1].tolist()  # the 99 is a pad
    [[1.0, 3.0], [3.0, 2.0], [0.0, 0.0]]
    """
    B, T, _ = x.shape
    t, n, row = torch.arange(T), lengths[:, None], torch.arange(B)[:, None]
    real = t < n  # (B, T)
    turned = torch.where(real, n - 1 - t, t)  # (B, T): real steps turned round, pads in place
    h_f = rnn_forward(x, x.new_zeros(B, len(f.b)), f)  # (B, T, H_f)
    h_b = rnn_forward(x[row, turned], x.new_zeros(B, len(b.b)), b)[row, turned]  # (B, T, H_b)
    return torch.cat([h_f, h_b], dim=-1).masked_fill(~real[..., None], 0)  # eq-birnn


def deep_birnn(x: Tensor, lengths: Tensor, layers: list[tuple[RNNParams, RNNParams]]) -> Tensor:
    r"""A deep bidirectional network: each layer reads both directions of the layer below.

    $$ h^{(l)} = \mathrm{birnn}^{(l)}(h^{(l-1)}), \qquad
       h^{(0)} = x, \quad l = 1, \dots, L $$ (eq-deep-birnn)

    Args:
        x: (B, T, E) inputs, padded on the right with anything.
        lengths: (B,) int64, how many steps of each row are real: 1 to T, in any order; perhaps
            none is T.
        layers: pairs (f, b) of parameters, from the lowest layer up, at least one. Above the first
            layer W_xh has as many columns as both directions below are wide together.

    Returns:
        (B, T, H_f + H_b) the states of the top layer, forward first; zeros at the pads. Gradients
        reach x and the parameters of all layers; nothing is changed.

    Built in chapter 5.

    >>> wide = RNNParams(torch.eye(1), torch.eye(1), torch.zeros(1), phi=lambda a: a)
    >>> both = wide._replace(W_xh=torch.ones(1, 2))  # adds up what both directions say
    >>> x = torch.tensor([[[1.0], [2.0]], [[1.0], [99.0]]])
    >>> deep_birnn(x, torch.tensor([2, 1]), [(wide, wide), (both, both)]).tolist()
    [[[4.0, 9.0], [9.0, 5.0]], [[2.0, 2.0], [0.0, 0.0]]]
    """
    h = x
    for f, b in layers:
        h = birnn(h, lengths, f, b)  # eq-deep-birnn
    return h  # (B, T, H_f + H_b)
