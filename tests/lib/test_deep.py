"""Deep and bidirectional networks against torch's own, forward and backward, over rows of different lengths."""

import pytest
import torch
from agreement import assert_close, assert_same_gradients
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from unrolled.deep import birnn, deep_birnn, stack
from unrolled.pooling import bi_summary
from unrolled.recurrent import RNNParams, rnn_forward

B, T, E, H = 5, 7, 3, 11
LENGTHS = torch.tensor([4, 7, 1, 6, 2])

pytestmark = pytest.mark.usefixtures("double")


def params_of(module: nn.RNN, layer: int, ending: str = "") -> RNNParams:
    """One layer and direction of an nn.RNN, with torch's two biases added."""
    W_xh, W_hh, b_ih, b_hh = (
        getattr(module, f"{name}_l{layer}{ending}") for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    )
    return RNNParams(W_xh, W_hh, b_ih + b_hh, getattr(torch, module.nonlinearity))


def pairs_of(module: nn.RNN) -> list[tuple[RNNParams, RNNParams]]:
    return [(params_of(module, layer), params_of(module, layer, "_reverse")) for layer in range(module.num_layers)]


def packed(module: nn.RNN, x: torch.Tensor, lengths: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """What torch makes of a padded batch: states (B, T, 2H) and last states (2 * layers, B, H)."""
    out, h_n = module(pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False))
    return pad_packed_sequence(out, batch_first=True, total_length=x.shape[1])[0], h_n


@pytest.mark.parametrize("nonlinearity", ["tanh", "relu"])
@pytest.mark.parametrize("layers", [1, 2, 3])
def test_stack_equals_torch(layers, nonlinearity):
    module = nn.RNN(E, H, layers, nonlinearity=nonlinearity, batch_first=True)
    x = torch.randn(B, T, E, requires_grad=True)
    ours, theirs = stack([params_of(module, layer) for layer in range(layers)], x), module(x)[0]
    assert_close(ours, theirs)
    assert_same_gradients(ours, theirs, [x, *module.parameters()])


@pytest.mark.parametrize(
    "lengths", [LENGTHS, torch.full((B,), T), LENGTHS.clamp(max=T - 2)], ids=["mixed", "full", "short"]
)
@pytest.mark.parametrize("layers", [1, 2, 3])
def test_deep_birnn_equals_torch(layers, lengths):
    module = nn.RNN(E, H, layers, bidirectional=True, batch_first=True)
    x = torch.randn(B, T, E, requires_grad=True)
    ours, (theirs, _) = deep_birnn(x, lengths, pairs_of(module)), packed(module, x, lengths)
    assert_close(ours, theirs)
    assert_same_gradients(ours, theirs, [x, *module.parameters()])


def test_birnn_equals_torch_and_summary_is_its_last_states():
    module, x = nn.RNN(E, H, bidirectional=True, batch_first=True), torch.randn(B, T, E)
    out = birnn(x, LENGTHS, *pairs_of(module)[0])
    theirs, h_n = packed(module, x, LENGTHS)
    assert_close(out, theirs)
    assert_close(bi_summary(out, LENGTHS), torch.cat([h_n[0], h_n[1]], dim=-1))


def test_directions_may_differ_in_width():
    x, wide, narrow = torch.randn(B, T, E), nn.RNN(E, H), nn.RNN(E, 2)
    out = birnn(x, LENGTHS, params_of(wide, 0), params_of(narrow, 0))
    assert out.shape == (B, T, H + 2)
    full = rnn_forward(x, torch.zeros(B, H), params_of(wide, 0))
    assert_close(out[1, :, :H], full[1])


def test_pads_say_nothing_and_hear_nothing():
    module, x = nn.RNN(E, H, 2, bidirectional=True, batch_first=True), torch.randn(B, T, E)
    real = torch.arange(T) < LENGTHS[:, None]
    other = torch.where(real[..., None], x, torch.full_like(x, torch.nan))
    out = deep_birnn(other, LENGTHS, pairs_of(module))
    assert torch.equal(out, deep_birnn(x, LENGTHS, pairs_of(module)))
    assert (out[~real] == 0).all() and (out[real] != 0).all()


def test_a_row_is_the_same_alone_and_in_a_batch():
    module, x = nn.RNN(E, H, 2, bidirectional=True, batch_first=True), torch.randn(B, T, E)
    out = deep_birnn(x, LENGTHS, pairs_of(module))
    for row, n in enumerate(LENGTHS):
        assert_close(out[row : row + 1, :n], deep_birnn(x[row : row + 1, :n], n[None], pairs_of(module)))


def test_what_can_be_seen_from_where():
    """Forward states depend on no later word, backward states on no earlier one; in the second layer both see all."""
    module, x = nn.RNN(E, H, 2, bidirectional=True, batch_first=True), torch.randn(1, T, E)
    changed = x.clone()
    changed[0, 3] += 1
    n, layers = torch.tensor([T]), pairs_of(module)
    moved = [
        (deep_birnn(changed, n, layers[:depth]) - deep_birnn(x, n, layers[:depth]))[0].abs() > 1e-12 for depth in (1, 2)
    ]
    assert moved[0][:, :H].any(dim=1).tolist() == [t >= 3 for t in range(T)]
    assert moved[0][:, H:].any(dim=1).tolist() == [t <= 3 for t in range(T)]
    assert moved[1][:, :H].any(dim=1).all() and moved[1][:, H:].any(dim=1).all()


def test_gradcheck():
    f, b = (RNNParams(torch.randn(2, 3), torch.randn(2, 2), torch.randn(2)) for _ in range(2))
    x = torch.randn(2, 3, 3, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: birnn(x, torch.tensor([3, 1]), f, b), (x,))
