"""What the judge asks about the exercises of chapter 2.

All sizes differ and are odd, so that a mixed-up axis cannot pass. The probes of weight 0 use one size everywhere, or
write an exception down as a word: there a mistake gives values, and the values tell which one it was.
"""

from __future__ import annotations

import torch

from autograder.probe import integers, normal, probe
from unrolled.recurrent import RNNParams

B, E, T, H, V = 3, 7, 5, 11, 13
SAME = 5  # the one size of the naming probes


def _rnn(rng: torch.Generator, E: int = E, H: int = H, leaf: bool = False) -> RNNParams:
    """A tanh RNN whose weights are small enough that tanh is not flat."""
    W_xh, W_hh, b = 0.4 * normal(rng, H, E), 0.3 * normal(rng, H, H), 0.5 * normal(rng, H)
    return RNNParams(*(w.requires_grad_(leaf) for w in (W_xh, W_hh, b)))


# ---- 2.1 numerical_grad ----


@probe("numerical_grad", "a smooth function of a matrix")
def numerical_grad_matrix(numerical_grad, rng):
    A, x = normal(rng, T, B), normal(rng, B, E)
    return {"gradient": numerical_grad(lambda x: torch.sin(A @ x).sum(), x, 0.01)}


@probe("numerical_grad", "with a large eps it is the difference quotient, not the derivative")
def numerical_grad_large_eps(numerical_grad, rng):
    w, x = normal(rng, E), normal(rng, E)
    return {"gradient": numerical_grad(lambda x: (w * x**3 + x**2).sum(), x, 0.5)}


@probe("numerical_grad", "entries that act together are moved one at a time")
def numerical_grad_products(numerical_grad, rng):
    x = normal(rng, E)
    return {"gradient": numerical_grad(lambda x: (x[1:] * x[:-1]).sum() + x.prod(), x, 0.1)}


@probe("numerical_grad", "three axes, and a function that returns a Python float")
def numerical_grad_three_axes(numerical_grad, rng):
    A, x = normal(rng, B, 1, T), normal(rng, B, 1, T)
    return {"gradient": numerical_grad(lambda x: torch.exp(A * x).sum().item(), x, 0.05)}


@probe("numerical_grad", "a transposed view: the gradient is right, and x is as it was after the call")
def numerical_grad_untouched(numerical_grad, rng):
    A, x = normal(rng, B, E), normal(rng, E, B).T
    gradient = numerical_grad(lambda x: (A * x**3).sum(), x, 0.1)
    return {"gradient": gradient, "x after the call": x}


@probe("numerical_grad", "a square matrix", weight=0)
def numerical_grad_same_sizes(numerical_grad, rng):
    A, x = normal(rng, SAME, SAME), normal(rng, SAME, SAME)
    return {"gradient": numerical_grad(lambda x: torch.cos(A @ x).sum(), x, 0.2), "x after the call": x}


@probe("numerical_grad", "what becomes of a transposed view", weight=0)
def numerical_grad_outcome(numerical_grad, rng):
    A, x = normal(rng, SAME, SAME), normal(rng, SAME, SAME).T
    try:
        return {"gradient": numerical_grad(lambda x: torch.cos(A @ x).sum(), x, 0.2)}
    except Exception as error:
        return {"gradient": type(error).__name__}


# ---- 2.2 rnn_step_backward ----


def _step(rng: torch.Generator, B: int = B, E: int = E, H: int = H):
    """dh, h, h_prev, x, params of a step that was really taken."""
    params, x, h_prev = _rnn(rng, E, H), normal(rng, B, E), 0.5 * normal(rng, B, H)
    h = torch.tanh(x @ params.W_xh.T + h_prev @ params.W_hh.T + params.b)
    return normal(rng, B, H), h, h_prev, x, params


@probe("rnn_step_backward", "the gradient of the old state")
def rnn_step_backward_old_state(rnn_step_backward, rng):
    return {"dh_prev": rnn_step_backward(*_step(rng))[1]}


@probe("rnn_step_backward", "the gradient of the input")
def rnn_step_backward_input(rnn_step_backward, rng):
    return {"dx": rnn_step_backward(*_step(rng))[0]}


@probe("rnn_step_backward", "the gradients of both weight matrices")
def rnn_step_backward_matrices(rnn_step_backward, rng):
    found = rnn_step_backward(*_step(rng))
    return {"dW_xh": found[2], "dW_hh": found[3]}


@probe("rnn_step_backward", "the gradient of the bias")
def rnn_step_backward_bias(rnn_step_backward, rng):
    return {"db": rnn_step_backward(*_step(rng))[4]}


@probe("rnn_step_backward", "a batch of one: all five gradients")
def rnn_step_backward_batch_of_one(rnn_step_backward, rng):
    return {"dx, dh_prev, dW_xh, dW_hh, db": tuple(rnn_step_backward(*_step(rng, B=1)))}


@probe("rnn_step_backward", "the result is right, and everything that was passed in is as it was after the call")
def rnn_step_backward_untouched(rnn_step_backward, rng):
    dh, h, h_prev, x, params = _step(rng)
    found = rnn_step_backward(dh, h, h_prev, x, params)
    return {"gradients": tuple(found), "dh, h, h_prev, x after the call": (dh, h, h_prev, x, *params[:3])}


@probe("rnn_step_backward", "all sizes the same", weight=0)
def rnn_step_backward_same_sizes(rnn_step_backward, rng):
    return {"dx, dh_prev, dW_xh, dW_hh, db": tuple(rnn_step_backward(*_step(rng, SAME, SAME, SAME)))}


# ---- 2.3 bptt ----


def _task(rng: torch.Generator, B: int = B, T: int = T, E: int = E, H: int = H, V: int = V):
    """x, y, params, W_hy, c; the first right id is 0, which is an id like any other."""
    y = integers(rng, 0, V, B, T)
    y[0, 0] = 0
    return normal(rng, B, T, E), y, _rnn(rng, E, H), normal(rng, V, H), normal(rng, V)


@probe("bptt", "the loss, and the gradients of the output layer")
def bptt_output_layer(bptt, rng):
    loss, grads = bptt(*_task(rng))
    return {"loss": loss, "W_hy": grads[3], "c": grads[4]}


@probe("bptt", "the gradient of W_hh, through all steps")
def bptt_recurrent(bptt, rng):
    return {"W_hh": bptt(*_task(rng))[1][1]}


@probe("bptt", "the gradients of W_xh and b, through all steps")
def bptt_input(bptt, rng):
    grads = bptt(*_task(rng))[1]
    return {"W_xh": grads[0], "b": grads[2]}


@probe("bptt", "a sequence of one step")
def bptt_one_step(bptt, rng):
    loss, grads = bptt(*_task(rng, T=1))
    return {"loss": loss, "gradients": tuple(grads)}


@probe("bptt", "one long sequence")
def bptt_long(bptt, rng):
    loss, grads = bptt(*_task(rng, B=1, T=17))
    return {"loss": loss, "gradients": tuple(grads)}


@probe("bptt", "the result is right, and everything that was passed in is as it was after the call")
def bptt_untouched(bptt, rng):
    x, y, params, W_hy, c = _task(rng)
    loss, grads = bptt(x, y, params, W_hy, c)
    return {"loss": loss, "gradients": tuple(grads), "arguments after the call": (x, y, *params[:3], W_hy, c)}


@probe("bptt", "all sizes the same", weight=0)
def bptt_same_sizes(bptt, rng):
    loss, grads = bptt(*_task(rng, SAME, SAME, SAME, SAME, SAME))
    return {"loss": loss, "gradients": tuple(grads)}


# ---- 2.4 jacobian_product ----


def _states(rng: torch.Generator, T: int, H: int = H) -> torch.Tensor:
    return torch.tanh(normal(rng, T, H))


@probe("jacobian_product", "five states, four factors")
def jacobian_product_values(jacobian_product, rng):
    return {"J": jacobian_product(0.5 * normal(rng, H, H), _states(rng, T))}


@probe("jacobian_product", "two states, one factor")
def jacobian_product_two_states(jacobian_product, rng):
    return {"J": jacobian_product(normal(rng, H, H), _states(rng, 2))}


@probe("jacobian_product", "one state: nothing lies between it and itself")
def jacobian_product_one_state(jacobian_product, rng):
    return {"J": jacobian_product(normal(rng, H, H), _states(rng, 1))}


@probe("jacobian_product", "at zero states tanh is the identity, and a power of W remains")
def jacobian_product_zero_states(jacobian_product, rng):
    return {"J": jacobian_product(0.5 * normal(rng, H, H), torch.zeros(T, H))}


@probe("jacobian_product", "a product of three is the third times the product of two")
def jacobian_product_chained(jacobian_product, rng):
    W, hs = normal(rng, H, H), _states(rng, 3)
    return {"J to step 2": jacobian_product(W, hs[:2]), "J to step 3": jacobian_product(W, hs)}


@probe("jacobian_product", "the result is right, and W and the states are as they were after the call")
def jacobian_product_untouched(jacobian_product, rng):
    W, hs = 0.5 * normal(rng, H, H), _states(rng, T)
    return {"J": jacobian_product(W, hs), "W after the call": W, "hs after the call": hs}


@probe("jacobian_product", "as many states as units", weight=0)
def jacobian_product_same_sizes(jacobian_product, rng):
    return {"J": jacobian_product(normal(rng, SAME, SAME), _states(rng, SAME, SAME))}


# ---- 2.5 clip_global_norm ----


def _grads(rng: torch.Generator, size: float = 3.0) -> list[torch.Tensor]:
    """Three gradients of different sizes; their common length is far from 1 and from the c of the probes."""
    return [size * normal(rng, H, E), 0.3 * size * normal(rng, V), 2 * size * normal(rng, 1, T)]


@probe("clip_global_norm", "long gradients are shortened together")
def clip_global_norm_long(clip_global_norm, rng):
    clipped, norm = clip_global_norm(_grads(rng), 2.5)
    return {"clipped": tuple(clipped), "norm": norm}


@probe("clip_global_norm", "short gradients come back as they are")
def clip_global_norm_short(clip_global_norm, rng):
    clipped, norm = clip_global_norm(_grads(rng), 1000.0)
    return {"clipped": tuple(clipped), "norm": norm}


@probe("clip_global_norm", "c lies between the length of one gradient and that of all together")
def clip_global_norm_between(clip_global_norm, rng):
    grads = [normal(rng, H, E), normal(rng, E, H), normal(rng, H, E)]
    clipped, norm = clip_global_norm(grads, 12.0)
    return {"clipped": tuple(clipped), "norm": norm}


@probe("clip_global_norm", "None stays None, in its place")
def clip_global_norm_none(clip_global_norm, rng):
    first, second, third = _grads(rng)
    try:
        clipped, norm = clip_global_norm([first, None, second, third], 2.5)
    except Exception:
        return {"clipped": "an exception", "norm": "an exception"}
    return {"clipped": tuple(clipped), "norm": norm}


@probe("clip_global_norm", "gradients of zero stay zero")
def clip_global_norm_zero(clip_global_norm, rng):
    zero, _ = clip_global_norm([torch.zeros(B, T), torch.zeros(E)], 2.5)
    one_zero, norm = clip_global_norm([torch.zeros(B, T), 5 * normal(rng, E)], 2.5)
    return {"clipped zeros": tuple(zero), "clipped, one of them zero": tuple(one_zero), "norm": norm}


@probe("clip_global_norm", "the result is right, and the gradients that were passed in are as they were after the call")
def clip_global_norm_untouched(clip_global_norm, rng):
    grads = _grads(rng)
    clipped, norm = clip_global_norm(grads, 2.5)
    return {"clipped": tuple(clipped), "norm": norm, "grads after the call": tuple(grads)}


@probe("clip_global_norm", "gradients of one size", weight=0)
def clip_global_norm_same_sizes(clip_global_norm, rng):
    clipped, norm = clip_global_norm([2 * normal(rng, SAME, SAME) for _ in range(SAME)], 1.5)
    return {"clipped": tuple(clipped), "norm": norm}


# ---- 2.6 truncated_bptt ----


def _chunks(rng: torch.Generator, lengths: tuple[int, ...] = (5, 3, 7), B: int = B, E: int = E, H: int = H):
    """Chunks (x, y), h0, params and a loss that weighs every state by its y."""
    chunks = [(normal(rng, B, n, E), normal(rng, B, n, H)) for n in lengths]
    return chunks, 0.5 * normal(rng, B, H), _rnn(rng, E, H, leaf=True), lambda hs, y: (hs * y).mean()


@probe("truncated_bptt", "the losses and the last state: the state is carried from chunk to chunk")
def truncated_bptt_forward(truncated_bptt, rng):
    losses, _, h = truncated_bptt(*_chunks(rng))
    return {"losses": losses, "h": h}


@probe("truncated_bptt", "the gradients, each loss back to the start of its own chunk")
def truncated_bptt_gradients(truncated_bptt, rng):
    return {"W_xh, W_hh, b": tuple(truncated_bptt(*_chunks(rng))[1])}


@probe("truncated_bptt", "one chunk is ordinary BPTT")
def truncated_bptt_one_chunk(truncated_bptt, rng):
    losses, grads, h = truncated_bptt(*_chunks(rng, (9,)))
    return {"losses": losses, "W_xh, W_hh, b": tuple(grads), "h": h}


@probe("truncated_bptt", "chunks of one step")
def truncated_bptt_single_steps(truncated_bptt, rng):
    losses, grads, _ = truncated_bptt(*_chunks(rng, (1, 1, 1)))
    return {"losses": losses, "W_xh, W_hh, b": tuple(grads)}


@probe("truncated_bptt", "a second call gives the same again, and the last state has no history")
def truncated_bptt_twice(truncated_bptt, rng):
    chunks, h0, params, chunk_loss = _chunks(rng, (3, 5))
    first = tuple(g.clone() for g in truncated_bptt(chunks, h0, params, chunk_loss)[1])
    _, grads, h = truncated_bptt(chunks, h0, params, chunk_loss)
    return {"first call": first, "second call": tuple(grads), "h has a history": getattr(h, "requires_grad", False)}


@probe("truncated_bptt", "the nonlinearity is params.phi, whatever it is")
def truncated_bptt_phi(truncated_bptt, rng):
    chunks, h0, params, chunk_loss = _chunks(rng, (3, 5))
    losses, grads, h = truncated_bptt(chunks, h0, params._replace(phi=torch.sin), chunk_loss)
    return {"losses": losses, "W_xh, W_hh, b": tuple(grads), "h": h}


@probe("truncated_bptt", "what becomes of two chunks", weight=0)
def truncated_bptt_outcome(truncated_bptt, rng):
    try:
        losses, grads, h = truncated_bptt(*_chunks(rng, (SAME, SAME), SAME, SAME, SAME))
    except Exception as error:
        return {"losses": "an exception", "W_xh, W_hh, b": type(error).__name__, "h": None}
    return {"losses": losses, "W_xh, W_hh, b": tuple(grads), "h": h}


# ---- 2.7 spectral_radius ----


@probe("spectral_radius", "twelve matrices of random numbers")
def spectral_radius_random(spectral_radius, rng):
    """So many that, whatever the seed, some have a complex pair at the edge, and some a negative number."""
    return {"radii": [spectral_radius(normal(rng, H, H)) for _ in range(12)]}


@probe("spectral_radius", "the largest eigenvalues are a complex pair")
def spectral_radius_complex(spectral_radius, rng):
    angle, P = 1.2 + 0.1 * normal(rng, 1)[0], normal(rng, T, T)
    D = torch.diag(torch.tensor([0.0, 0.0, 1.0, -0.7, 0.3]))
    D[:2, :2] = 2 * torch.stack([torch.stack([angle.cos(), -angle.sin()]), torch.stack([angle.sin(), angle.cos()])])
    return {"radius": spectral_radius(P @ D @ torch.linalg.inv(P))}


@probe("spectral_radius", "the largest eigenvalue is negative")
def spectral_radius_negative(spectral_radius, rng):
    P = normal(rng, T, T)
    D = torch.diag(torch.tensor([0.5, -3.0, 1.5, -0.7, 0.3]))
    return {"radius": spectral_radius(P @ D @ torch.linalg.inv(P))}


@probe("spectral_radius", "a triangular matrix with large entries beside its diagonal")
def spectral_radius_triangular(spectral_radius, rng):
    W = torch.triu(5 * normal(rng, E, E), diagonal=1) + torch.diag(torch.linspace(-0.9, 0.8, E))
    return {"radius": spectral_radius(W)}


@probe("spectral_radius", "the result is right, and W is as it was after the call", weight=0)
def spectral_radius_untouched(spectral_radius, rng):
    W = normal(rng, SAME, SAME)
    return {"radius": spectral_radius(W), "W after the call": W}
