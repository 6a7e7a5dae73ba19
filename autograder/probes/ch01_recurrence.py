"""What the judge asks about the exercises of chapter 1.

All sizes differ and are odd, so that a mixed-up axis cannot pass. The probes of weight 0 use one size everywhere: there
a mixed-up axis gives values instead of an exception, and the values tell which axis it was.
"""

from __future__ import annotations

import torch
from torch import nn

from autograder.probe import gradients, integers, leaf, normal, probe
from unrolled.recurrent import RNNParams

B, k, E, T, H, V = 3, 5, 7, 9, 11, 13
SAME = 5  # the one size of the naming probes


# ---- 1.1 pad_batch ----


def _sentences(
    rng: torch.Generator, lengths: tuple[int, ...] = (5, 9, 1), low: int = 20, high: int = 90
) -> list[list[int]]:
    return [integers(rng, low, high, n).tolist() for n in lengths]


@probe("pad_batch", "ids: each row is its sequence, then pads")
def pad_batch_ids(pad_batch, rng):
    seqs, pad = _sentences(rng), int(integers(rng, 3, 15))
    ids, _, _ = pad_batch(seqs, pad)
    return {"ids": ids}


@probe("pad_batch", "lengths: the number of real tokens in each row")
def pad_batch_lengths(pad_batch, rng):
    _, lengths, _ = pad_batch(_sentences(rng), 0)
    return {"lengths": lengths}


@probe("pad_batch", "mask: True exactly where a real token stands")
def pad_batch_mask(pad_batch, rng):
    _, _, mask = pad_batch(_sentences(rng), 0)
    return {"mask": mask}


@probe("pad_batch", "a real token may have the id of the pad")
def pad_batch_pad_as_token(pad_batch, rng):
    pad = int(integers(rng, 3, 15))
    seqs = _sentences(rng, (3, 7, 5))
    seqs[0][1] = seqs[1][6] = seqs[2][0] = pad
    _, lengths, mask = pad_batch(seqs, pad)
    return {"lengths": lengths, "mask": mask}


@probe("pad_batch", "a batch of one sequence")
def pad_batch_one_sequence(pad_batch, rng):
    return {"ids, lengths, mask": pad_batch(_sentences(rng, (7,)), 3)}


@probe("pad_batch", "the result is right, and the lists that were passed in are as they were after the call")
def pad_batch_untouched(pad_batch, rng):
    seqs = _sentences(rng)
    result = pad_batch(seqs, 0)
    return {"ids, lengths, mask": result, "seqs after the call": seqs}


@probe("pad_batch", "as many sequences as steps", weight=0)
def pad_batch_same_sizes(pad_batch, rng):
    return {"ids, lengths, mask": pad_batch(_sentences(rng, (2, SAME, 3, 1, 4)), 7)}


# ---- 1.2 causal_conv1d ----


@probe("causal_conv1d", "every output is right")
def causal_conv1d_values(causal_conv1d, rng):
    return {"y": causal_conv1d(normal(rng, B, T, E), normal(rng, k, E, H), normal(rng, H))}


@probe("causal_conv1d", "without a bias the filter alone is right")
def causal_conv1d_filter_alone(causal_conv1d, rng):
    return {"y": causal_conv1d(normal(rng, B, T, E), normal(rng, k, E, H), torch.zeros(H))}


@probe("causal_conv1d", "a filter of width 1 acts on each step by itself")
def causal_conv1d_width_one(causal_conv1d, rng):
    return {"y": causal_conv1d(normal(rng, B, T, E), normal(rng, 1, E, H), normal(rng, H))}


@probe("causal_conv1d", "a change of the future leaves the past outputs alone")
def causal_conv1d_future(causal_conv1d, rng):
    W, b, x = normal(rng, k, E, H), torch.zeros(H), normal(rng, B, T, E)
    changed = torch.cat([x[:, :5], normal(rng, B, T - 5, E)], dim=1)
    return {"y": causal_conv1d(x, W, b), "y after x[:, 5:] changed": causal_conv1d(changed, W, b)}


@probe("causal_conv1d", "a sequence shorter than the filter")
def causal_conv1d_short(causal_conv1d, rng):
    return {"y": causal_conv1d(normal(rng, B, 1, E), normal(rng, k, E, H), normal(rng, H))}


@probe("causal_conv1d", "the result is right and gradients reach x, W and b")
def causal_conv1d_gradients(causal_conv1d, rng):
    x, W, b = leaf(rng, B, T, E), leaf(rng, k, E, H), leaf(rng, H)
    return gradients(rng, causal_conv1d(x, W, b), x=x, W=W, b=b)


@probe("causal_conv1d", "a transposed view: the result is right, and x, W and b are as they were after the call")
def causal_conv1d_untouched(causal_conv1d, rng):
    x, W, b = normal(rng, T, B, E).transpose(0, 1), normal(rng, k, E, H), normal(rng, H)
    y = causal_conv1d(x, W, b)
    return {"y": y, "x after the call": x, "W after the call": W, "b after the call": b}


@probe("causal_conv1d", "all sizes the same", weight=0)
def causal_conv1d_same_sizes(causal_conv1d, rng):
    x, W, b = normal(rng, SAME, SAME, SAME), normal(rng, SAME, SAME, SAME), normal(rng, SAME)
    return {"y": causal_conv1d(x, W, b)}


# ---- 1.3 rnn_step ----


def _params(rng: torch.Generator, E: int = E, H: int = H, phi=torch.tanh, leaf: bool = False) -> RNNParams:
    """Weights small enough that tanh is not flat."""
    W_xh, W_hh, b = 0.4 * normal(rng, H, E), 0.4 * normal(rng, H, H), 0.5 * normal(rng, H)
    return RNNParams(*(w.requires_grad_(leaf) for w in (W_xh, W_hh, b)), phi)


@probe("rnn_step", "the new state is right")
def rnn_step_values(rnn_step, rng):
    return {"h": rnn_step(normal(rng, B, E), normal(rng, B, H), _params(rng))}


@probe("rnn_step", "from a zero state and without a bias only the input counts")
def rnn_step_input_alone(rnn_step, rng):
    params = _params(rng)._replace(b=torch.zeros(H))
    return {"h": rnn_step(normal(rng, B, E), torch.zeros(B, H), params)}


@probe("rnn_step", "with a zero input and without a bias only the old state counts")
def rnn_step_state_alone(rnn_step, rng):
    params = _params(rng)._replace(b=torch.zeros(H))
    return {"h": rnn_step(torch.zeros(B, E), normal(rng, B, H), params)}


@probe("rnn_step", "the nonlinearity is params.phi, whatever it is")
def rnn_step_other_phi(rnn_step, rng):
    return {"h": rnn_step(normal(rng, B, E), normal(rng, B, H), _params(rng, phi=torch.sin))}


@probe("rnn_step", "the result is right and gradients reach x, h and the parameters")
def rnn_step_gradients(rnn_step, rng):
    x, h, params = leaf(rng, B, E), leaf(rng, B, H), _params(rng, leaf=True)
    out = rnn_step(x, h, params)
    return gradients(rng, out, x=x, h=h, W_xh=params.W_xh, W_hh=params.W_hh, b=params.b)


@probe("rnn_step", "the result is right, and x, h and the parameters are as they were after the call")
def rnn_step_untouched(rnn_step, rng):
    x, h, params = normal(rng, 1, E), normal(rng, 1, H), _params(rng)
    out = rnn_step(x, h, params)
    return {"h": out, "x after the call": x, "h after the call": h, "parameters after the call": tuple(params[:3])}


@probe("rnn_step", "all sizes the same", weight=0)
def rnn_step_same_sizes(rnn_step, rng):
    return {"h": rnn_step(normal(rng, SAME, SAME), normal(rng, SAME, SAME), _params(rng, SAME, SAME))}


# ---- 1.4 rnn_forward ----


@probe("rnn_forward", "every state is right")
def rnn_forward_values(rnn_forward, rng):
    return {"hs": rnn_forward(normal(rng, B, T, E), normal(rng, B, H), _params(rng))}


@probe("rnn_forward", "every state is right when it starts from zero")
def rnn_forward_from_zero(rnn_forward, rng):
    return {"hs": rnn_forward(normal(rng, B, T, E), torch.zeros(B, H), _params(rng))}


@probe("rnn_forward", "a sequence of one step, started from h0")
def rnn_forward_one_step(rnn_forward, rng):
    return {"hs": rnn_forward(normal(rng, B, 1, E), normal(rng, B, H), _params(rng))}


@probe("rnn_forward", "a change of the past is felt later, a change of the future is not felt before")
def rnn_forward_past_and_future(rnn_forward, rng):
    params, h0, x, new = _params(rng), torch.zeros(B, H), normal(rng, B, T, E), normal(rng, B, T, E)
    future, past = torch.cat([x[:, :5], new[:, 5:]], dim=1), torch.cat([new[:, :1], x[:, 1:]], dim=1)
    return {
        "hs": rnn_forward(x, h0, params),
        "hs after x[:, 5:] changed": rnn_forward(future, h0, params),
        "hs after x[:, 0] changed": rnn_forward(past, h0, params),
    }


@probe("rnn_forward", "the result is right and gradients reach x, h0 and the parameters through all steps")
def rnn_forward_gradients(rnn_forward, rng):
    x, h0, params = leaf(rng, B, T, E), leaf(rng, B, H), _params(rng, leaf=True)
    hs = rnn_forward(x, h0, params)
    return gradients(rng, hs, x=x, h0=h0, W_xh=params.W_xh, W_hh=params.W_hh, b=params.b)


@probe(
    "rnn_forward",
    "a transposed view: the result is right, and x, h0 and the parameters are as they were after the call",
)
def rnn_forward_untouched(rnn_forward, rng):
    x, h0, params = normal(rng, T, B, E).transpose(0, 1), normal(rng, B, H), _params(rng)
    hs = rnn_forward(x, h0, params)
    return {"hs": hs, "x after the call": x, "h0 after the call": h0, "parameters after the call": tuple(params[:3])}


@probe("rnn_forward", "all sizes the same", weight=0)
def rnn_forward_same_sizes(rnn_forward, rng):
    return {"hs": rnn_forward(normal(rng, SAME, SAME, SAME), normal(rng, SAME, SAME), _params(rng, SAME, SAME))}


# ---- 1.5 softmax ----


@probe("softmax", "probabilities for a batch of sequences")
def softmax_values(softmax, rng):
    return {"y": softmax(2 * normal(rng, B, T, V))}


@probe("softmax", "probabilities for one vector of scores")
def softmax_vector(softmax, rng):
    return {"y": softmax(2 * normal(rng, V))}


@probe("softmax", "probabilities for a batch of vectors")
def softmax_batch(softmax, rng):
    return {"y": softmax(2 * normal(rng, B, V))}


@probe("softmax", "scores whose exp overflows")
def softmax_large_scores(softmax, rng):
    o = 800 + 2 * normal(rng, B, T, V)
    o[1, 3, 5] += 2000
    return {"y": softmax(o)}


@probe("softmax", "high and low rows side by side")
def softmax_uneven_rows(softmax, rng):
    heights = torch.tensor([[-900.0], [0.0], [900.0]])
    return {"y": softmax(heights + 2 * normal(rng, 3, V))}


@probe("softmax", "the result is right and gradients reach the scores")
def softmax_gradients(softmax, rng):
    o = leaf(rng, B, T, V)
    return gradients(rng, softmax(o), o=o)


@probe("softmax", "a transposed view: the result is right, and the scores are as they were after the call")
def softmax_untouched(softmax, rng):
    o = normal(rng, T, B, V).transpose(0, 1)
    y = softmax(o)
    return {"y": y, "o after the call": o}


@probe("softmax", "all sizes the same", weight=0)
def softmax_same_sizes(softmax, rng):
    return {"y": softmax(2 * normal(rng, SAME, SAME, SAME)), "y of a matrix": softmax(2 * normal(rng, SAME, SAME))}


# ---- 1.6 from_torch_rnn ----


def _module(rng: torch.Generator, nonlinearity: str = "tanh", E: int = E, H: int = H) -> nn.RNN:
    module = nn.RNN(E, H, nonlinearity=nonlinearity, batch_first=True)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(0.4 * normal(rng, *parameter.shape))
    return module


def _states(rng: torch.Generator, params, E: int = E, H: int = H) -> list[torch.Tensor]:
    """Three steps of the recurrence with these parameters, in their precision."""
    dtype = params.W_xh.dtype
    h, states = normal(rng, B, H).to(dtype), []
    for _ in range(3):
        h = params.phi(normal(rng, B, E).to(dtype) @ params.W_xh.T + h @ params.W_hh.T + params.b)
        states.append(h)
    return states


@probe("from_torch_rnn", "W_xh and W_hh are the module's matrices")
def from_torch_rnn_matrices(from_torch_rnn, rng):
    params = from_torch_rnn(_module(rng))
    return {"W_xh": params.W_xh, "W_hh": params.W_hh}


@probe("from_torch_rnn", "one bias stands for the module's two")
def from_torch_rnn_bias(from_torch_rnn, rng):
    return {"b": from_torch_rnn(_module(rng)).b}


@probe("from_torch_rnn", "the states of a tanh module")
def from_torch_rnn_tanh(from_torch_rnn, rng):
    return {"states": _states(rng, from_torch_rnn(_module(rng)))}


@probe("from_torch_rnn", "the states of a relu module")
def from_torch_rnn_relu(from_torch_rnn, rng):
    return {"states": _states(rng, from_torch_rnn(_module(rng, "relu")))}


@probe("from_torch_rnn", "the result is right, and the module is as it was after the call")
def from_torch_rnn_untouched(from_torch_rnn, rng):
    module = _module(rng)
    params = from_torch_rnn(module)
    return {"W_xh, W_hh, b": tuple(params[:3]), "module after the call": tuple(module.parameters())}


@probe("from_torch_rnn", "inputs as wide as the state", weight=0)
def from_torch_rnn_same_sizes(from_torch_rnn, rng):
    params = from_torch_rnn(_module(rng, "relu", SAME, SAME))
    return {"states": _states(rng, params, SAME, SAME)}


@probe("from_torch_rnn", "what phi is", weight=0)
def from_torch_rnn_phi(from_torch_rnn, rng):
    phi, z = from_torch_rnn(_module(rng)).phi, normal(rng, V)
    return {"phi": phi if isinstance(phi, str) else phi(z)}


# ---- 1.7 cross_entropy ----


def _targets(rng: torch.Generator, pad: int, lengths: tuple[int, ...] = (5, 9, 1), width: int = T, V: int = V):
    """Random ids other than the pad (the second is the lowest that there is), then pads."""
    y = integers(rng, 0, V - 1, len(lengths), width)
    y[0, 1] = 0
    y = y + (y >= pad)
    return y.masked_fill(torch.arange(width) >= torch.tensor(lengths)[:, None], pad)


def _logits(rng: torch.Generator, pad: int, B: int = B, T: int = T, V: int = V) -> torch.Tensor:
    """Random scores; at the first position, which is real, the pad has the highest."""
    logits = 0.5 * normal(rng, B, T, V)
    logits[0, 0, pad] += 4
    return logits


@probe("cross_entropy", "the loss of sentences of different lengths")
def cross_entropy_values(cross_entropy, rng):
    pad = int(integers(rng, 3, V))
    return {"loss": cross_entropy(_logits(rng, pad), _targets(rng, pad), pad)}


@probe("cross_entropy", "the loss when nothing is padded")
def cross_entropy_no_pads(cross_entropy, rng):
    return {"loss": cross_entropy(_logits(rng, 5), _targets(rng, 5, (T, T, T)), 5)}


@probe("cross_entropy", "the loss of one sentence with pads")
def cross_entropy_one_sentence(cross_entropy, rng):
    return {"loss": cross_entropy(_logits(rng, 0, B=1), _targets(rng, 0, (5,)), 0)}


@probe("cross_entropy", "what the network says at padded positions does not matter")
def cross_entropy_pad_logits(cross_entropy, rng):
    logits, y = _logits(rng, 0), _targets(rng, 0)
    changed = torch.where((y == 0)[..., None], _logits(rng, 0), logits)
    return {"loss": cross_entropy(logits, y, 0), "loss after the pads' logits changed": cross_entropy(changed, y, 0)}


@probe("cross_entropy", "scores whose exp overflows")
def cross_entropy_large_logits(cross_entropy, rng):
    return {"loss": cross_entropy(800 + _logits(rng, 0), _targets(rng, 0, (T, T, T)), 0)}


@probe("cross_entropy", "a right word whose probability is too small for a number")
def cross_entropy_hopeless_word(cross_entropy, rng):
    logits, y = _logits(rng, 0), _targets(rng, 0, (T, T, T))
    logits[1, 3, y[1, 3]] -= 900
    return {"loss": cross_entropy(logits, y, 0)}


@probe("cross_entropy", "the result is right and gradients reach the logits")
def cross_entropy_gradients(cross_entropy, rng):
    logits = _logits(rng, 0).requires_grad_()
    return gradients(rng, cross_entropy(logits, _targets(rng, 0), 0), logits=logits)


@probe(
    "cross_entropy",
    "a transposed view: the result is right, and logits and y are as they were after the call",
)
def cross_entropy_untouched(cross_entropy, rng):
    logits, y = _logits(rng, 0, T, B).transpose(0, 1), _targets(rng, 0, (T, 7, T))
    loss = cross_entropy(logits, y, 0)
    return {"loss": loss, "logits after the call": logits, "y after the call": y}


@probe("cross_entropy", "all sizes the same", weight=0)
def cross_entropy_same_sizes(cross_entropy, rng):
    y = _targets(rng, 2, (SAME, 3, 1, 4, 2), SAME, SAME)
    return {"loss": cross_entropy(_logits(rng, 2, SAME, SAME, SAME), y, 2)}
