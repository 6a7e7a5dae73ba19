"""What the judge asks about the exercises of chapter 4: gates, conversions, biases, the cell's own gradient.

All sizes differ and are odd; the probes of weight 0 use one size everywhere, so that a mixed-up axis gives values.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from autograder.probe import gradients, leaf, normal, probe
from unrolled.gated import Gates, GRUParams, LSTMParams, Peepholes, TorchLSTM

B, E, T, H = 3, 7, 9, 11
SAME = 5  # the one size of the naming probes


def _weights(rng: torch.Generator, blocks: int, E: int, H: int, leaf: bool) -> list[Tensor]:
    """Weights small enough that no gate is shut for good, and a bias."""
    shapes = (0.4, (blocks * H, E)), (0.4, (blocks * H, H)), (0.7, (blocks * H,))
    return [(scale * normal(rng, *shape)).requires_grad_(leaf) for scale, shape in shapes]


def _lstm(rng: torch.Generator, E: int = E, H: int = H, leaf: bool = False) -> LSTMParams:
    return LSTMParams(*_weights(rng, 4, E, H, leaf))


def _without_bias(params):
    return params._replace(b=torch.zeros_like(params.b))


# ---- 4.1 lstm_step ----


@probe("lstm_step", "the new state is right")
def lstm_step_state(lstm_step, rng):
    h, _ = lstm_step(normal(rng, B, E), normal(rng, B, H), normal(rng, B, H), _lstm(rng))
    return {"h": h}


@probe("lstm_step", "the new cell is right")
def lstm_step_cell(lstm_step, rng):
    _, c = lstm_step(normal(rng, B, E), normal(rng, B, H), 2 * normal(rng, B, H), _lstm(rng))
    return {"c": c}


@probe("lstm_step", "from an empty memory the input alone writes")
def lstm_step_empty_memory(lstm_step, rng):
    return {"h, c": lstm_step(normal(rng, B, E), torch.zeros(B, H), torch.zeros(B, H), _without_bias(_lstm(rng)))}


@probe("lstm_step", "three steps in a row")
def lstm_step_three_steps(lstm_step, rng):
    h, c, params = normal(rng, B, H), normal(rng, B, H), _lstm(rng)
    for _ in range(3):
        h, c = lstm_step(normal(rng, B, E), h, c, params)
    return {"h, c": (h, c)}


@probe("lstm_step", "the result is right and gradients reach x, h, c and the parameters")
def lstm_step_gradients(lstm_step, rng):
    x, h, c, params = leaf(rng, B, E), leaf(rng, B, H), leaf(rng, B, H), _lstm(rng, leaf=True)
    out = torch.cat(lstm_step(x, h, c, params), dim=1)
    return gradients(rng, out, x=x, h=h, c=c, **params._asdict())


@probe("lstm_step", "the result is right, and x, h, c and the parameters are as they were after the call")
def lstm_step_untouched(lstm_step, rng):
    x, h, c, params = normal(rng, 1, E), normal(rng, 1, H), normal(rng, 1, H), _lstm(rng)
    out = lstm_step(x, h, c, params)
    return {"h, c": out, "x after": x, "h after": h, "c after": c, "parameters after": tuple(params)}


@probe("lstm_step", "all sizes the same", weight=0)
def lstm_step_same_sizes(lstm_step, rng):
    x, h, c = (normal(rng, SAME, SAME) for _ in range(3))
    return {"h, c": lstm_step(x, h, c, _lstm(rng, SAME, SAME))}


# ---- 4.2 peephole_lstm_step ----


def _peepholes(rng: torch.Generator, H: int = H, leaf: bool = False) -> Peepholes:
    return Peepholes(*(normal(rng, H).requires_grad_(leaf) for _ in range(3)))


@probe("peephole_lstm_step", "the new state is right")
def peephole_lstm_step_state(peephole_lstm_step, rng):
    x, h, c = normal(rng, B, E), normal(rng, B, H), normal(rng, B, H)
    return {"h": peephole_lstm_step(x, h, c, _lstm(rng), _peepholes(rng))[0]}


@probe("peephole_lstm_step", "the new cell is right")
def peephole_lstm_step_cell(peephole_lstm_step, rng):
    x, h, c = normal(rng, B, E), normal(rng, B, H), normal(rng, B, H)
    return {"c": peephole_lstm_step(x, h, c, _lstm(rng), _peepholes(rng))[1]}


@probe("peephole_lstm_step", "from an empty cell only the output gate has something to see")
def peephole_lstm_step_empty_cell(peephole_lstm_step, rng):
    x, h = normal(rng, B, E), normal(rng, B, H)
    return {"h, c": peephole_lstm_step(x, h, torch.zeros(B, H), _lstm(rng), _peepholes(rng))}


@probe("peephole_lstm_step", "with peepholes of zero it is the plain LSTM")
def peephole_lstm_step_no_peepholes(peephole_lstm_step, rng):
    x, h, c, shut = normal(rng, B, E), normal(rng, B, H), normal(rng, B, H), Peepholes(*torch.zeros(3, H))
    return {"h, c": peephole_lstm_step(x, h, c, _lstm(rng), shut)}


@probe("peephole_lstm_step", "the result is right and gradients reach x, h, c, the parameters and the peepholes")
def peephole_lstm_step_gradients(peephole_lstm_step, rng):
    x, h, c = leaf(rng, B, E), leaf(rng, B, H), leaf(rng, B, H)
    params, peepholes = _lstm(rng, leaf=True), _peepholes(rng, leaf=True)
    out = torch.cat(peephole_lstm_step(x, h, c, params, peepholes), dim=1)
    return gradients(rng, out, x=x, h=h, c=c, **params._asdict(), **peepholes._asdict())


@probe("peephole_lstm_step", "the result is right, and all arguments are as they were after the call")
def peephole_lstm_step_untouched(peephole_lstm_step, rng):
    x, h, c = normal(rng, 1, E), normal(rng, 1, H), normal(rng, 1, H)
    params, peepholes = _lstm(rng), _peepholes(rng)
    out = peephole_lstm_step(x, h, c, params, peepholes)
    return {"h, c": out, "x, h, c after": (x, h, c), "parameters after": (tuple(params), tuple(peepholes))}


@probe("peephole_lstm_step", "all sizes the same", weight=0)
def peephole_lstm_step_same_sizes(peephole_lstm_step, rng):
    x, h, c = (normal(rng, SAME, SAME) for _ in range(3))
    return {"h, c": peephole_lstm_step(x, h, c, _lstm(rng, SAME, SAME), _peepholes(rng, SAME))}


# ---- 4.3 gru_step ----


def _gru(rng: torch.Generator, reset: str, E: int = E, H: int = H, leaf: bool = False) -> GRUParams:
    """Parameters of a GRU; the second bias is zero where the reset comes before the matrix."""
    b_h = 0.7 * normal(rng, H) if reset == "after" else torch.zeros(H)
    return GRUParams(*_weights(rng, 3, E, H, leaf), b_h.requires_grad_(leaf))


@probe("gru_step", "reset before: the new state is right")
def gru_step_before(gru_step, rng):
    return {"h": gru_step(normal(rng, B, E), normal(rng, B, H), _gru(rng, "before"))}


@probe("gru_step", "reset after: the new state is right")
def gru_step_after(gru_step, rng):
    return {"h": gru_step(normal(rng, B, E), normal(rng, B, H), _gru(rng, "after"), reset="after")}


@probe("gru_step", "from a zero state the input alone counts")
def gru_step_from_zero(gru_step, rng):
    return {"h": gru_step(normal(rng, B, E), torch.zeros(B, H), _without_bias(_gru(rng, "before")), "before")}


@probe("gru_step", "three steps in a row, both ways")
def gru_step_three_steps(gru_step, rng):
    seen = {}
    for reset in ("before", "after"):
        h, params = normal(rng, B, H), _gru(rng, reset)
        for _ in range(3):
            h = gru_step(normal(rng, B, E), h, params, reset)
        seen[f"h, reset {reset}"] = h
    return seen


@probe("gru_step", "reset before: the result is right and gradients reach x, h and the parameters")
def gru_step_gradients(gru_step, rng):
    x, h, params = leaf(rng, B, E), leaf(rng, B, H), _gru(rng, "before", leaf=True)
    return gradients(rng, gru_step(x, h, params), x=x, h=h, W_x=params.W_x, W_h=params.W_h, b=params.b)


@probe("gru_step", "reset after: the result is right and gradients reach x, h and the parameters")
def gru_step_gradients_after(gru_step, rng):
    x, h, params = leaf(rng, B, E), leaf(rng, B, H), _gru(rng, "after", leaf=True)
    return gradients(rng, gru_step(x, h, params, "after"), x=x, h=h, **params._asdict())


@probe("gru_step", "the result is right, and x, h and the parameters are as they were after the call")
def gru_step_untouched(gru_step, rng):
    x, h, params = normal(rng, 1, E), normal(rng, 1, H), _gru(rng, "before")
    out = gru_step(x, h, params, reset="before")
    return {"h": out, "x after": x, "h after": h, "parameters after": tuple(params)}


@probe("gru_step", "all sizes the same", weight=0)
def gru_step_same_sizes(gru_step, rng):
    x, h = normal(rng, SAME, SAME), normal(rng, SAME, SAME)
    return {reset: gru_step(x, h, _gru(rng, reset, SAME, SAME), reset) for reset in ("before", "after")}


# ---- 4.4 to_torch_lstm, from_torch_gru ----


def _random(rng: torch.Generator, module: nn.Module) -> nn.Module:
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(0.4 * normal(rng, *parameter.shape))
    return module


def _read(rng: torch.Generator, weights, E: int = E, H: int = H) -> Tensor:
    """What nn.LSTM makes of a batch of sequences with these tensors."""
    tensors = {f"{name}_l0": torch.as_tensor(tensor) for name, tensor in zip(TorchLSTM._fields, weights, strict=True)}
    x = normal(rng, B, T, E).to(tensors["weight_ih_l0"].dtype)
    return torch.func.functional_call(nn.LSTM(E, H, batch_first=True), tensors, x)[0]


@probe("to_torch_lstm", "LSTM: torch's weights")
def to_torch_lstm_weights(to_torch_lstm, rng):
    weight_ih, weight_hh, _, _ = to_torch_lstm(_lstm(rng))
    return {"weight_ih": weight_ih, "weight_hh": weight_hh}


@probe("to_torch_lstm", "LSTM: torch's two biases together are ours")
def to_torch_lstm_bias(to_torch_lstm, rng):
    _, _, bias_ih, bias_hh = to_torch_lstm(_lstm(rng))
    return {"bias_ih + bias_hh": bias_ih + bias_hh}


@probe("to_torch_lstm", "LSTM: what nn.LSTM computes with them; the parameters are as they were")
def to_torch_lstm_output(to_torch_lstm, rng):
    params = _lstm(rng)
    return {"output": _read(rng, to_torch_lstm(params)), "parameters after": tuple(params)}


@probe("to_torch_lstm", "GRU: W_x and W_h")
def to_torch_lstm_gru_weights(from_torch_gru, rng):
    params = from_torch_gru(_random(rng, nn.GRU(E, H)))
    return {"W_x": params.W_x, "W_h": params.W_h}


@probe("to_torch_lstm", "GRU: b and b_h")
def to_torch_lstm_gru_biases(from_torch_gru, rng):
    params = from_torch_gru(_random(rng, nn.GRU(E, H)))
    return {"b": params.b, "b_h": params.b_h}


@probe("to_torch_lstm", "GRU: the result is right, and the module is as it was after the call")
def to_torch_lstm_gru_untouched(from_torch_gru, rng):
    module = _random(rng, nn.GRU(E, H))
    return {"parameters": tuple(from_torch_gru(module)), "module after the call": tuple(module.parameters())}


@probe("to_torch_lstm", "inputs as wide as the state", weight=0)
def to_torch_lstm_same_sizes(to_torch_lstm, from_torch_gru, rng):
    weight_ih, weight_hh, bias_ih, bias_hh = to_torch_lstm(_lstm(rng, SAME, SAME))
    params = from_torch_gru(_random(rng, nn.GRU(SAME, SAME)))
    return {"LSTM": (weight_ih, weight_hh, bias_ih + bias_hh), "GRU": tuple(params)}


# ---- 4.5 init_forget_bias ----


def _torch_lstm(rng: torch.Generator, E: int = E, H: int = H) -> TorchLSTM:
    return TorchLSTM(*(0.4 * normal(rng, *shape) for shape in ((4 * H, E), (4 * H, H), (4 * H,), (4 * H,))))


@probe("init_forget_bias", "the forget gate's bias in effect")
def init_forget_bias_forget(init_forget_bias, rng):
    _, _, bias_ih, bias_hh = init_forget_bias(_torch_lstm(rng), 3.0)
    return {"forget bias": (bias_ih + bias_hh)[H : 2 * H]}


@probe("init_forget_bias", "the other gates' biases are as they were")
def init_forget_bias_others(init_forget_bias, rng):
    _, _, bias_ih, bias_hh = init_forget_bias(_torch_lstm(rng), 5.0)
    bias = bias_ih + bias_hh
    return {
        "biases of i, g, o": torch.cat([bias[:H], bias[2 * H :]]),
        "mean forget bias": bias[H : 2 * H].mean().round(),
    }


@probe("init_forget_bias", "what nn.LSTM computes with the new tensors")
def init_forget_bias_output(init_forget_bias, rng):
    return {"output": _read(rng, init_forget_bias(_torch_lstm(rng), 1.0))}


@probe("init_forget_bias", "called twice, the second bias counts")
def init_forget_bias_twice(init_forget_bias, rng):
    first = TorchLSTM(*init_forget_bias(_torch_lstm(rng), 5.0))
    _, _, bias_ih, bias_hh = init_forget_bias(first, -1.5)
    return {"forget bias": (bias_ih + bias_hh)[H : 2 * H]}


@probe("init_forget_bias", "the result is right, and the tensors that were passed in are as they were after the call")
def init_forget_bias_untouched(init_forget_bias, rng):
    weights = _torch_lstm(rng)
    weight_ih, weight_hh, bias_ih, bias_hh = init_forget_bias(weights, 2.0)
    new = (weight_ih, weight_hh, (bias_ih + bias_hh)[H : 2 * H])
    return {"weight_ih, weight_hh, forget bias": new, "weights after the call": tuple(weights)}


@probe("init_forget_bias", "inputs as wide as the state", weight=0)
def init_forget_bias_same_sizes(init_forget_bias, rng):
    weight_ih, weight_hh, bias_ih, bias_hh = init_forget_bias(_torch_lstm(rng, SAME, SAME), 0.7)
    return {"weights": (weight_ih, weight_hh), "biases in effect": bias_ih + bias_hh}


# ---- 4.6 direct_cell_gradient ----


def _gates(rng: torch.Generator, B: int = B, T: int = T, H: int = H) -> Gates:
    f, g, i, o = normal(rng, 4, B, T, H)
    return Gates(torch.sigmoid(f + 1), torch.tanh(g), torch.sigmoid(i), torch.sigmoid(o))


@probe("direct_cell_gradient", "the gradient from every step to the last")
def direct_cell_gradient_values(direct_cell_gradient, rng):
    return {"gradient": direct_cell_gradient(_gates(rng))}


@probe("direct_cell_gradient", "one sequence")
def direct_cell_gradient_one(direct_cell_gradient, rng):
    return {"gradient": direct_cell_gradient(_gates(rng, B=1, T=3))}


@probe("direct_cell_gradient", "a gate that is quite shut cuts off what came before it, and nothing after it")
def direct_cell_gradient_shut(direct_cell_gradient, rng):
    gates = _gates(rng)
    f = gates.f.clone()
    f[:, 4, ::2] = 0
    return {"gradient": direct_cell_gradient(gates._replace(f=f))}


@probe("direct_cell_gradient", "a hundred steps with one and the same gate")
def direct_cell_gradient_hundred(direct_cell_gradient, rng):
    gates = _gates(rng, T=101)
    return {"gradient": direct_cell_gradient(gates._replace(f=torch.full_like(gates.f, 0.993)))}


@probe("direct_cell_gradient", "the result is right, and the gates are as they were after the call")
def direct_cell_gradient_untouched(direct_cell_gradient, rng):
    gates = _gates(rng)
    return {"gradient": direct_cell_gradient(gates), "gates after the call": tuple(gates)}


@probe("direct_cell_gradient", "all sizes the same", weight=0)
def direct_cell_gradient_same_sizes(direct_cell_gradient, rng):
    return {"gradient": direct_cell_gradient(_gates(rng, SAME, SAME, SAME))}


# ---- 4.7 detach_state ----


def _state(rng: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
    """A leaf, and a state (h, c) that was computed from it."""
    w = leaf(rng, B, H)
    return w, torch.tanh(w), 2 * w + w**2


def _flow(rng: torch.Generator, parts: list[Tensor], w: Tensor) -> list[Tensor | None]:
    """What flows back to w from each part; None where nothing can."""
    found = []
    for part in parts:
        total = (part * normal(rng, *part.shape)).sum() + 0 * leaf(rng, 1).sum()
        found.append(torch.autograd.grad(total, w, allow_unused=True, retain_graph=True)[0])
    return found


@probe("detach_state", "an LSTM's (h, c): values kept, nothing flows back")
def detach_state_lstm(detach_state, rng):
    w, h, c = _state(rng)
    cut = detach_state((h, c))
    return {"h, c": cut, "gradient through h, c": _flow(rng, list(cut), w)}


@probe("detach_state", "the h of an RNN or GRU alone")
def detach_state_tensor(detach_state, rng):
    w, h, _ = _state(rng)
    cut = detach_state(h)
    return {"h": cut, "gradient through h": _flow(rng, [cut], w)}


def _layers(detach_state, rng: torch.Generator) -> dict:
    """What becomes of two layers' states; the second layer is narrower than the first."""
    w, h, c = _state(rng)
    (h1, c1), (h2, c2) = detach_state([(h, c), (c[:, 1:] + 1, h[:, 1:] - 1)])
    return {"states": (h1, c1, h2, c2), "gradient through them": _flow(rng, [h1, c1, h2, c2], w)}


@probe("detach_state", "one state per layer, of different widths")
def detach_state_layers(detach_state, rng):
    return _layers(detach_state, rng)


@probe("detach_state", "what becomes of one state per layer", weight=0)
def detach_state_outcome(detach_state, rng):
    try:
        return _layers(detach_state, rng)
    except Exception as error:
        return {"states": type(error).__name__, "gradient through them": None}


@probe("detach_state", "the chunk that has been read can still be differentiated")
def detach_state_loss_before(detach_state, rng):
    w, h, c = _state(rng)
    cut = detach_state((h, c))
    flows = {"gradient through the old h, c": _flow(rng, [h, c], w), "through the new": _flow(rng, list(cut), w)}
    return {"h, c": cut} | flows


@probe("detach_state", "one sequence, one unit", weight=0)
def detach_state_small(detach_state, rng):
    w = leaf(rng, 1, 1)
    cut = detach_state((w * 3, w * 5))
    return {"h, c": cut, "gradient": _flow(rng, list(cut), w)}
