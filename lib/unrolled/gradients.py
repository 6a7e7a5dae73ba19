"""The recurrence run backwards: gradients by hand, their size, and two ways to cut them (chapter 2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from unrolled.losses import cross_entropy, softmax
from unrolled.recurrent import RNNParams, rnn_forward


def numerical_grad(f, x: Tensor, eps: float) -> Tensor:
    r"""The gradient of a scalar function by central differences, one entry at a time.

    $$ \frac{\partial f}{\partial x_i} \approx
       \frac{f(x + \varepsilon e_i) - f(x - \varepsilon e_i)}{2\varepsilon}
       $$ (eq-central-difference)

    Args:
        f: takes a tensor of x's shape; returns one number, a 0-d tensor or a Python float.
        x: any shape, in double precision; it may be a transposed view. After the call it
            is what it was before.
        eps: how far each entry is moved up and down.

    Returns:
        A tensor of x's shape. Without autograd.

    Built in chapter 2.

    >>> x = torch.tensor([1.0, 2.0], dtype=torch.float64)
    >>> [round(g, 4) for g in numerical_grad(lambda x: (x**2).sum(), x, eps=0.1).tolist()]
    [2.0, 4.0]
    """
    grad = torch.zeros_like(x)
    for i in range(x.numel()):
        step = torch.zeros(x.numel(), dtype=x.dtype)
        step[i] = eps
        step = step.reshape(x.shape)
        slope = (f(x + step) - f(x - step)) / (2 * eps)  # eq-central-difference
        grad = grad + slope * step / eps
    return grad


def rnn_step_backward(dh: Tensor, h: Tensor, h_prev: Tensor, x: Tensor, params: RNNParams) -> tuple:
    r"""Go back through one step of a tanh RNN: the gradients of all that made h.

    $$ \begin{aligned} \delta_a &= \delta_h \odot (1 - h \odot h), &
       \delta_x &= W_{xh}^\top \delta_a, &
       \delta_{h_{\text{prev}}} &= W_{hh}^\top \delta_a, \\
       \delta_{W_{xh}} &= \delta_a\, x^\top, &
       \delta_{W_{hh}} &= \delta_a\, h_{\text{prev}}^\top, & \delta_b &= \delta_a
       \end{aligned} $$ (eq-step-backward)

    The equations are for one sequence, with column vectors; the gradients of the three
    parameters are summed over the batch. Without autograd.

    Args:
        dh: (B, H) the gradient of the loss with respect to h.
        h: (B, H) what the forward step returned: tanh(a), a = W_xh x + W_hh h_prev + b.
        h_prev: (B, H) the state that went into the step.
        x: (B, E) the input of the step.
        params: W_xh (H, E), W_hh (H, H), b (H,); phi is tanh.

    Returns:
        dx (B, E), dh_prev (B, H), dW_xh (H, E), dW_hh (H, H), db (H,), in this order.
        Nothing that was passed in is changed.

    Built in chapter 2.

    >>> one = torch.ones(1, 1)
    >>> params = RNNParams(W_xh=2 * one, W_hh=3 * one, b=torch.zeros(1))
    >>> [g.item() for g in rnn_step_backward(one, 0.5 * one, 0.5 * one, 4 * one, params)]
    [1.5, 2.25, 3.0, 0.375, 0.75]
    """
    da = dh * (1 - h * h)  # (B, H)  eq-step-backward
    dx, dh_prev = da @ params.W_xh, da @ params.W_hh  # (B,H) @ (H,E) -> (B,E), (B,H) @ (H,H) -> (B,H)
    return dx, dh_prev, da.T @ x, da.T @ h_prev, da.sum(dim=0)  # (H,B) @ (B,E) -> (H,E)


class RNNGrads(NamedTuple):
    """The gradients of a loss with respect to a recurrent layer and the output layer on top of it."""

    W_xh: Tensor  # (H, E)
    W_hh: Tensor  # (H, H)
    b: Tensor  # (H,)
    W_hy: Tensor  # (V, H)
    c: Tensor  # (V,)


def bptt(x: Tensor, y: Tensor, params: RNNParams, W_hy: Tensor, c: Tensor) -> tuple:
    r"""Backpropagation through time: the loss of an RNN and all its gradients, by hand.

    Forward: h_0 = 0, the states of a tanh RNN, scores $o_t = c + W_{hy} h_t$, and as loss
    the mean surprise over all B·T positions. Backward, from t = T down to 1:

    $$ \delta_{o_t} = \frac{\hat y_t - \mathbb{1}[y_t]}{BT}, \qquad
       \delta_{h_t} = W_{hy}^\top \delta_{o_t} + W_{hh}^\top \delta_{a_{t+1}}, \qquad
       \delta_{a_{T+1}} = 0 $$ (eq-bptt)

    $$ \delta_{W_{hy}} = \sum_t \delta_{o_t} h_t^\top, \qquad
       \delta_c = \sum_t \delta_{o_t} $$

    where $\mathbb{1}[y]$ is one-hot. Each step adds its share to the gradients of the
    other parameters. Without autograd.

    Args:
        x: (B, T, E) inputs.
        y: (B, T) the right ids, one at every position; there are no pads.
        params: W_xh (H, E), W_hh (H, H), b (H,); phi is tanh.
        W_hy: (V, H) hidden to output.
        c: (V,) the bias of the output.

    Returns:
        loss: a scalar, the mean over all B·T positions.
        grads: RNNGrads (W_xh, W_hh, b, W_hy, c), the gradients of that mean.
        Nothing that was passed in is changed.

    Built in chapter 2.

    >>> params = RNNParams(torch.ones(1, 1), torch.ones(1, 1), torch.zeros(1))
    >>> x, y = torch.ones(1, 3, 1), torch.zeros(1, 3, dtype=torch.int64)
    >>> loss, grads = bptt(x, y, params, W_hy=torch.zeros(2, 1), c=torch.zeros(2))
    >>> round(loss.item(), 4), grads.c.tolist()  # two equal scores: log 2, and probabilities 1/2
    (0.6931, [-0.5, 0.5])
    """
    B, T, _ = x.shape
    h0 = x.new_zeros(B, len(params.b))
    hs = rnn_forward(x, h0, params)  # (B, T, H)
    logits = c + hs @ W_hy.T  # (B, T, V)
    loss = cross_entropy(logits, y, pad=-1)  # no id is -1: every position counts
    do = (softmax(logits) - F.one_hot(y, len(c))) / (B * T)  # (B, T, V)
    grads = [torch.zeros_like(p) for p in (params.W_xh, params.W_hh, params.b)]
    dh = torch.zeros_like(h0)  # what comes back from the step after
    for t in reversed(range(T)):
        h_prev = hs[:, t - 1] if t > 0 else h0
        dh = do[:, t] @ W_hy + dh  # eq-bptt
        _, dh, *step = rnn_step_backward(dh, hs[:, t], h_prev, x[:, t], params)
        grads = [total + share for total, share in zip(grads, step, strict=True)]
    dW_hy = torch.einsum("btv,bth->vh", do, hs)
    return loss, RNNGrads(*grads, dW_hy, do.sum(dim=(0, 1)))


def jacobian_product(W: Tensor, hs: Tensor) -> Tensor:
    r"""How the last state of a tanh RNN moves when the first one is moved.

    $$ \frac{\partial h_T}{\partial h_1} = J_T\, J_{T-1} \cdots J_2, \qquad
       J_t = \frac{\partial h_t}{\partial h_{t-1}} =
       \mathrm{diag}(1 - h_t \odot h_t)\, W $$ (eq-jacobian-product)

    Args:
        W: (H, H) the recurrent matrix W_hh; h_t = tanh(W h_{t-1} + ...).
        hs: (T, H) the states h_1 to h_T of one sequence.

    Returns:
        (H, H) with the derivative of h_T[i] by h_1[j] in row i and column j: a product of
        T - 1 factors, the identity if T = 1. W and hs are not changed. Without autograd.

    Built in chapter 2.

    >>> W = torch.tensor([[0.0, 2.0], [0.0, 0.0]])
    >>> jacobian_product(W, torch.tensor([[0.0, 0.0], [0.5, 0.0]])).tolist()
    [[0.0, 1.5], [0.0, 0.0]]
    """
    J = torch.eye(len(W), dtype=W.dtype)
    for h in hs[1:]:
        slope = 1 - h * h  # of tanh at this step, one number per unit
        J = slope[:, None] * W @ J  # eq-jacobian-product: diag(slope) W scales the rows of W
    return J


def clip_global_norm(grads: list[Tensor | None], c: float) -> tuple[tuple, Tensor]:
    r"""Shorten all gradients together if the vector that they form is longer than c.

    $$ n = \sqrt{\textstyle\sum_k \lVert g_k \rVert^2}, \qquad g_k \leftarrow g_k \cdot
       \min\!\left(1, \frac{c}{n}\right) $$ (eq-clip)

    Args:
        grads: gradients of any shapes; None stands for a parameter that got no gradient.
        c: the longest length allowed, above 0.

    Returns:
        clipped: as many entries as grads, in the same order; None stays None.
        norm: a scalar, the length n *before* clipping.
        The tensors in grads are not changed. Up to length c they come back as they are; if
        all are zero, they stay zero.

    Built in chapter 2.

    >>> grads = [torch.tensor([3.0]), torch.tensor([[4.0]])]
    >>> (a, b), norm = clip_global_norm(grads, c=1.0)
    >>> norm.item(), round(a.item(), 4), round(b.item(), 4)
    (5.0, 0.6, 0.8)
    """
    norm = torch.sqrt(sum((g * g).sum() for g in grads if g is not None))
    scale = (c / norm).clamp(max=1)  # eq-clip; c / 0 is inf, which the clamp makes 1
    return tuple(None if g is None else g * scale for g in grads), norm


def truncated_bptt(chunks: list, h0: Tensor, params: RNNParams, chunk_loss) -> tuple:
    r"""BPTT over a long sequence in chunks: the state is carried on, the gradient is not.

    $$ h^{(k+1)}_0 = \mathrm{detach}\big(h^{(k)}_{T_k}\big), \qquad
       g = \sum_k \frac{\partial L_k}{\partial \theta} $$ (eq-truncated)

    Args:
        chunks: consecutive pieces (x, y) of the same B sequences, x (B, T_k, E); the
            lengths T_k may differ.
        h0: (B, H) the states before the first chunk.
        params: the recurrence; W_xh, W_hh and b are leaves that require gradients.
        chunk_loss: takes the states (B, T_k, H) of a chunk and its y; returns the chunk's
            loss L_k.

    Returns:
        losses: (number of chunks,) the loss of each chunk.
        grads: the gradients of W_xh, W_hh and b, summed over the chunks. Each loss is
            differentiated back to the start of its own chunk and no further. What .grad of a
            parameter held before the call plays no part.
        h: (B, H) the states after the last chunk, without a history.

    Built in chapter 2.

    >>> weights = torch.ones(1, 1), torch.ones(1, 1), torch.zeros(1)
    >>> params = RNNParams(*(w.requires_grad_() for w in weights), phi=lambda a: a)
    >>> chunks = [(torch.ones(1, 2, 1), None), (torch.ones(1, 1, 1), None)]  # states 1, 2 | 3
    >>> last = lambda hs, y: hs[:, -1].sum()
    >>> losses, grads, h = truncated_bptt(chunks, torch.zeros(1, 1), params, last)
    >>> losses.tolist(), [g.item() for g in grads], h.requires_grad
    ([2.0, 3.0], [3.0, 3.0, 3.0], False)
    """
    weights = params[:3]
    h, losses, grads = h0, [], [torch.zeros_like(p) for p in weights]
    for x, y in chunks:
        hs = rnn_forward(x, h.detach(), params)  # eq-truncated
        loss = chunk_loss(hs, y)
        grads = list(map(torch.add, grads, torch.autograd.grad(loss, weights)))
        losses.append(loss.detach())
        h = hs[:, -1]
    return torch.stack(losses), tuple(grads), h.detach()


def spectral_radius(W: Tensor) -> Tensor:
    r"""The largest absolute value among the eigenvalues of a matrix.

    $$ \rho(W) = \max_i |\lambda_i(W)| $$ (eq-spectral-radius)

    Args:
        W: (H, H) real, not necessarily symmetric: eigenvalues may be negative or complex.

    Returns:
        A real scalar tensor. W is not changed.

    Built in chapter 2.

    >>> W = torch.tensor([[0.0, -2.0], [2.0, 0.0]])  # eigenvalues 2i and -2i
    >>> round(spectral_radius(W).item(), 4)
    2.0
    """
    eigenvalues = torch.linalg.eigvals(W)  # (H,) complex
    squares = eigenvalues.real**2 + eigenvalues.imag**2
    return squares.max().sqrt()  # eq-spectral-radius


def gradient_map(losses: Sequence[Tensor], states: Sequence[Tensor]) -> Tensor:
    """The length of the gradient of every loss with respect to every state: row t, column k; zero where k > t.

    >>> h1 = torch.ones(1, requires_grad=True)
    >>> h2 = 3 * h1
    >>> gradient_map([h1.sum(), h2.sum()], [h1, h2]).tolist()
    [[1.0, 0.0], [3.0, 1.0]]
    """
    rows = []
    for loss in losses:
        found = torch.autograd.grad(loss, states, retain_graph=True, allow_unused=True)
        rows.append(torch.stack([torch.zeros(()) if g is None else g.norm() for g in found]))
    return torch.stack(rows)  # (T, T)
