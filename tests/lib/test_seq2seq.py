"""Reader and writer against torch's GRU, forward and backward; writing alone; mixed inputs.

Where the reset stands makes no difference if the candidate's matrix is diagonal: W(r * h) is r * (W h) then. So with
such matrices torch's GRU, whose reset comes after the matrix, must agree with ours.
"""

from functools import partial

import pytest
import torch
from agreement import assert_close
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from unrolled.gated import GRUParams, gru_forward
from unrolled.seq2seq import DecoderParams, decode, decoder_step, encode, greedy, scheduled_inputs, shift_right

B, S, T, E, H, C, V = 5, 9, 7, 3, 11, 6, 13
LENGTHS = torch.tensor([4, 9, 1, 6, 2])
BOS, EOS, PAD = 1, 2, 0

pytestmark = pytest.mark.usefixtures("double")


def diagonal_gru(inputs: int, width: int, **options) -> nn.GRU:
    """A batch-first GRU of torch whose candidate has a diagonal matrix and no second bias."""
    module = nn.GRU(inputs, width, batch_first=True, **options)
    with torch.no_grad():
        for name, weight in module.named_parameters():
            if name.startswith("weight_hh"):
                weight[2 * width :] = torch.diag(weight[2 * width :].diagonal())
            if name.startswith("bias_hh"):
                weight[2 * width :] = 0
    return module


def params_of(module: nn.GRU, ending: str = "") -> GRUParams:
    """Torch's blocks r, z, n as ours, u, r, candidate: u is 1 - z, so its weights change sign."""

    def blocks(tensor):
        r, z, n = tensor.chunk(3)
        return torch.cat([-z, r, n])

    W_x, W_h, b_x, b_h = (
        getattr(module, f"{name}_l0{ending}") for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    )
    return GRUParams(blocks(W_x), blocks(W_h), blocks(b_x + b_h), torch.zeros(module.hidden_size))


def assert_same_gradients(ours: torch.Tensor, theirs: torch.Tensor, inputs: dict[str, torch.Tensor], width: int):
    """Gradients of a randomly weighted sum; of the candidate's matrix only the diagonal is comparable."""
    weights = torch.randn_like(ours)
    left = torch.autograd.grad((ours * weights).sum(), list(inputs.values()))
    right = torch.autograd.grad((theirs * weights).sum(), list(inputs.values()))
    for name, g, wanted in zip(inputs, left, right, strict=True):
        rows = 2 * width if "hh" in name else len(g)
        assert_close(g[:rows], wanted[:rows])
        if name.startswith("weight_hh"):
            assert_close(g[rows:].diagonal(), wanted[rows:].diagonal())


@pytest.mark.parametrize(
    "lengths", [LENGTHS, torch.full((B,), S), LENGTHS.clamp(max=S - 2)], ids=["mixed", "full", "short"]
)
def test_encode_equals_torch(lengths):
    module, x = diagonal_gru(E, H, bidirectional=True), torch.randn(B, S, E, requires_grad=True)
    out, h_n = module(pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False))
    theirs = pad_packed_sequence(out, batch_first=True, total_length=S)[0]
    states, c = encode(x, lengths, params_of(module), params_of(module, "_reverse"))
    assert_close(states, theirs)
    assert_close(c, torch.cat([h_n[0], h_n[1]], dim=1))
    inputs = {"x": x, **dict(module.named_parameters())}
    both = torch.cat([theirs.flatten(1), h_n[0], h_n[1]], dim=1)
    assert_same_gradients(torch.cat([states.flatten(1), c], dim=1), both, inputs, H)


def random_gru(inputs: int, width: int) -> GRUParams:
    return GRUParams(
        *(0.5 * torch.randn(*n) for n in ((3 * width, inputs), (3 * width, width), (3 * width,), (width,)))
    )


def test_encode_is_two_readings_of_each_row():
    x, f, b = torch.randn(B, S, E), random_gru(E, H), random_gru(E, 4)
    states, c = encode(x, LENGTHS, f, b)
    assert states.shape == (B, S, H + 4)
    for i, n in enumerate(LENGTHS.tolist()):
        row = x[i : i + 1, :n]
        forward, backward = gru_forward(row, torch.zeros(1, H), f)[0], gru_forward(row.flip(1), torch.zeros(1, 4), b)[0]
        assert_close(states[i, :n], torch.cat([forward, backward.flip(0)], dim=1))
        assert not states[i, n:].any()
        assert_close(c[i], torch.cat([forward[-1], backward[-1]]))


def test_pads_do_not_matter_even_if_they_are_no_numbers():
    x, f, b = torch.randn(B, S, E), random_gru(E, H), random_gru(E, 4)
    broken = torch.where((torch.arange(S) < LENGTHS[:, None])[..., None], x, torch.nan)
    for clean, other in zip(encode(x, LENGTHS, f, b), encode(broken, LENGTHS, f, b), strict=True):
        assert_close(clean, other)


def decoder(C: int = C) -> DecoderParams:
    return DecoderParams(torch.randn(V, E), random_gru(E + C, H), torch.randn(V, H), torch.randn(V))


def test_decode_equals_torch():
    module, embedding, output = diagonal_gru(E + C, H), nn.Embedding(V, E), nn.Linear(H, V)
    y_in, h0, c = torch.randint(V, (B, T)), torch.randn(B, H, requires_grad=True), torch.randn(B, C, requires_grad=True)
    ours, h = decode(y_in, h0, c, DecoderParams(embedding.weight, params_of(module), output.weight, output.bias))
    hs, h_n = module(torch.cat([embedding(y_in), c[:, None].expand(B, T, C)], dim=2), h0[None])
    assert_close(ours, output(hs))
    assert_close(h, h_n[0])
    inputs = {"h0": h0, "c": c, "W_e": embedding.weight, "W_hy": output.weight, "b_y": output.bias}
    inputs |= dict(module.named_parameters())
    both = torch.cat([output(hs).flatten(1), h_n[0]], dim=1)
    assert_same_gradients(torch.cat([ours.flatten(1), h], dim=1), both, inputs, H)


def test_one_step_after_the_other_is_decode():
    params, y_in, h, c = decoder(), torch.randint(V, (B, T)), torch.randn(B, H), torch.randn(B, C)
    wanted, last = decode(y_in, h, c, params)
    for t in range(T):
        logits, h = decoder_step(y_in[:, t], h, c, params)
        assert_close(logits, wanted[:, t])
    assert_close(h, last)


def test_inputs_and_targets_go_together():
    y = torch.randint(3, V, (B, T))
    inputs, targets = shift_right(y, BOS)
    assert torch.equal(inputs[:, 1:], targets[:, :-1])
    assert (inputs[:, 0] == BOS).all()
    assert torch.equal(targets, y)


def test_greedy_is_its_own_teacher():
    """Read back with the teacher's help, what was said is what is best at every step."""
    params, h0, c = decoder(), torch.randn(B, H), torch.randn(B, C)
    params = params._replace(b_y=params.b_y.index_fill(0, torch.tensor([PAD]), -99.0))
    said = greedy(partial(decoder_step, params=params), h0, c, BOS, EOS, PAD, max_len=20)
    inputs, targets = shift_right(said, BOS)
    best = decode(inputs, h0, c, params)[0].argmax(dim=2)
    before_end = (targets == EOS).cumsum(dim=1) - (targets == EOS).long() == 0
    assert torch.equal(best[before_end], targets[before_end])
    assert (targets[~before_end] == PAD).all()


def test_a_row_says_the_same_alone_and_in_a_batch():
    params, h0, c = decoder(), torch.randn(B, H), torch.randn(B, C)
    bias = params.b_y.index_fill(0, torch.tensor([PAD]), -99.0)
    step = partial(decoder_step, params=params._replace(b_y=bias.index_add(0, torch.tensor([EOS]), torch.ones(1))))
    together = greedy(step, h0, c, BOS, EOS, PAD, max_len=20)
    for i, row in enumerate(together):
        alone = greedy(step, h0[i : i + 1], c[i : i + 1], BOS, EOS, PAD, max_len=20)[0]
        assert torch.equal(row[: len(alone)], alone)
        assert (row[len(alone) :] == PAD).all()


def test_greedy_asks_no_more_than_it_must():
    asked = []

    def step(y, h, c):  # says EOS at its third step
        asked.append(y)
        return nn.functional.one_hot(torch.where(h == 2, EOS, 5), V), h + 1

    said = greedy(step, torch.zeros(2), torch.zeros(2), BOS, EOS, PAD, max_len=50)
    assert said.tolist() == [[5, 5, EOS]] * 2
    assert len(asked) == 3
    assert asked[0].dtype == torch.int64
    assert asked[0].tolist() == [BOS, BOS]


@pytest.mark.parametrize("p", [0.0, 0.3, 1.0])
def test_scheduled_inputs_have_the_right_share(p):
    y_in, y_hat = torch.zeros(200, 51, dtype=torch.int64), torch.ones(200, 51, dtype=torch.int64)
    mixed = scheduled_inputs(y_in, y_hat, p, torch.rand(200, 51))
    assert not mixed[:, 0].any()
    assert abs(mixed[:, 1:].double().mean() - p) < 0.02  # four standard deviations are 0.018 at most


def test_scheduled_inputs_come_from_the_step_before():
    y_in, y_hat = torch.arange(T).expand(B, T), 100 + torch.arange(T).expand(B, T)
    assert torch.equal(scheduled_inputs(y_in, y_hat, 1.0, torch.rand(B, T))[:, 1:], y_hat[:, :-1])
    assert torch.equal(scheduled_inputs(y_in, y_hat, 0.0, torch.rand(B, T)), y_in)
