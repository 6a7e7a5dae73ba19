"""The fast path gives the numbers of the lesson and of torch, forward and backward."""

import pytest
import torch
from agreement import assert_close, assert_same_gradients
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from unrolled import deep, gated, recurrent
from unrolled.attention import AdditiveScore, BilinearScore
from unrolled.bert_model import BertForPretraining
from unrolled.dropout import Dropout
from unrolled.fast import deep as fast_deep
from unrolled.fast import lesson, speed_up
from unrolled.fast.gru import gru_forward
from unrolled.fast.layers import multi_head_attention
from unrolled.fast.modules import FAST
from unrolled.fast.recurrent import lstm_forward, rnn_forward
from unrolled.gated import GRU, LSTM, GRUParams, LSTMParams
from unrolled.gates_and_torch import from_torch_gru, from_torch_lstm
from unrolled.gpt import GPTConfig
from unrolled.gpt_model import GPT
from unrolled.masks import causal_mask
from unrolled.recurrent import RNN, RNNParams, from_torch_rnn
from unrolled.self_attention import MultiHeadAttention
from unrolled.transformer_model import DecoderLayer, EncoderLayer, Transformer
from unrolled.translators import AttentionSeq2Seq, RecurrentReader

B, T, E, H = 5, 9, 3, 7
LENGTHS = torch.tensor([4, 9, 1, 6, 9])
NETWORKS = (
    "RNN", "LSTM", "GRU", "encoder, pre", "encoder, post", "decoder, pre", "decoder, post", "Transformer",
    "Transformer, learned", "GPT", "BERT", "BERT, next sentence", "Bahdanau", "Luong",
)  # fmt: skip
KINDS = ("rnn", "lstm", "gru before", "gru after")

pytestmark = pytest.mark.usefixtures("double")


def random(*shape: int) -> torch.Tensor:
    return (torch.randn(*shape) * 0.5).requires_grad_()


def params_of(kind: str, E: int = E, H: int = H):
    """Random parameters of a layer, all of them leaves."""
    if kind == "rnn":
        return RNNParams(random(H, E), random(H, H), random(H))
    if kind == "lstm":
        return LSTMParams(random(4 * H, E), random(4 * H, H), random(4 * H))
    return GRUParams(random(3 * H, E), random(3 * H, H), random(3 * H), random(H))


def leaves(kind: str, params) -> list[torch.Tensor]:
    """Those that the layer depends on: before the matrix, the reset needs no second bias."""
    tensors = [p for p in params if isinstance(p, torch.Tensor)]
    return tensors[:-1] if kind == "gru before" else tensors


def both_ways(kind: str, x, h, c, params) -> tuple[torch.Tensor, torch.Tensor]:
    """The states as the lesson and as the fast path compute them."""
    if kind == "rnn":
        return recurrent.rnn_forward(x, h, params), rnn_forward(x, h, params)
    if kind == "lstm":
        return gated.lstm_forward(x, h, c, params)[0], lstm_forward(x, h, c, params)
    reset = kind.split()[1]
    return gated.gru_forward(x, h, params, reset), gru_forward(x, h, params, reset)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("steps", [1, T])
def test_recurrent_layers_equal_the_lesson(kind, steps):
    x, h, c, params = random(B, steps, E), random(B, H), random(B, H), params_of(kind)
    slow, fast = both_ways(kind, x, h, c, params)
    assert_close(fast, slow)
    assert_same_gradients(fast, slow, [x, h, *([c] if kind == "lstm" else []), *leaves(kind, params)])


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_against_differences(kind):
    x, h, c, params = random(2, 4, 3), random(2, 5), random(2, 5), params_of(kind, 3, 5)

    def f(x, h, c, *tensors):
        return both_ways(kind, x, h, c, type(params)(*tensors))[1]

    assert torch.autograd.gradcheck(f, (x, h, c, *(p for p in params if isinstance(p, torch.Tensor))))


@pytest.mark.parametrize("kind", KINDS)
def test_single_precision_stays_close_to_the_lesson(kind):
    x, h, c, params = random(B, 50, E).float(), random(B, H).float(), random(B, H).float(), params_of(kind)
    params = type(params)(*(p.detach().float() if isinstance(p, torch.Tensor) else p for p in params))
    slow, fast = both_ways(kind, x, h, c, params)
    assert fast.dtype == torch.float32
    assert_close(fast, slow, atol=1e-5)


@pytest.mark.parametrize(
    ("kind", "module", "convert"),
    [("rnn", nn.RNN, from_torch_rnn), ("lstm", nn.LSTM, from_torch_lstm), ("gru after", nn.GRU, from_torch_gru)],
)
def test_recurrent_layers_equal_torch(kind, module, convert):
    layer, x, zero = module(E, H, batch_first=True), random(B, T, E), torch.zeros(B, H)
    fast, theirs = both_ways(kind, x, zero, zero, convert(layer))[1], layer(x)[0]
    assert_close(fast, theirs)
    assert_same_gradients(fast, theirs, [x, *layer.parameters()])


@pytest.mark.parametrize("kind", KINDS)
def test_rows_that_have_ended_are_zeros_and_get_no_gradient(kind):
    x, params = random(B, T, E), params_of(kind)
    n, order = LENGTHS.sort(descending=True)
    reset = kind.split()[-1]
    fast = fast_deep.states(x[order], params, n, reset)
    real = (torch.arange(T) < n[:, None])[..., None]
    whole = fast_deep.states(x[order], params, None, reset)
    assert_close(fast, whole * real)
    assert_same_gradients(fast, whole * real, [x, *leaves(kind, params)])


def test_the_backward_pass_can_run_twice():
    for kind in KINDS:
        x, h, params = random(B, T, E), torch.zeros(B, H), params_of(kind)
        out = both_ways(kind, x, h, h, params)[1].square().sum()
        (first,), (second,) = (torch.autograd.grad(out, [x], retain_graph=True) for _ in range(2))
        assert_close(first, second, atol=0)


def test_the_fast_rnn_refuses_what_it_cannot_differentiate():
    with pytest.raises(ValueError, match="tanh only"):
        rnn_forward(random(B, T, E), torch.zeros(B, H), params_of("rnn")._replace(phi=torch.relu))


def test_deep_and_bidirectional_networks_equal_the_lesson():
    x = random(B, T, E)
    layers = [(params_of("rnn"), params_of("rnn", H=4)), (params_of("rnn", H + 4), params_of("rnn", H + 4, 5))]
    inputs = [x, *(p for pair in layers for one in pair for p in one[:3])]
    slow, fast = deep.deep_birnn(x, LENGTHS, layers), fast_deep.deep_birnn(x, LENGTHS, layers)
    assert_close(fast, slow)
    assert_same_gradients(fast, slow, inputs)
    tower = [params_of("rnn"), params_of("rnn", H, 4)]
    assert_close(fast_deep.stack(tower, x), deep.stack(tower, x))
    assert_same_gradients(fast_deep.stack(tower, x), deep.stack(tower, x), [x, *(p for one in tower for p in one[:3])])


@pytest.mark.parametrize("module", [nn.LSTM, nn.GRU])
def test_padded_bidirectional_networks_equal_torch(module):
    layer, x = module(E, H, batch_first=True, bidirectional=True), random(B, T, E)
    packed = pack_padded_sequence(x, LENGTHS, batch_first=True, enforce_sorted=False)
    theirs = pad_packed_sequence(layer(packed)[0], batch_first=True)[0]
    convert = from_torch_lstm if module is nn.LSTM else from_torch_gru
    f, b = module(E, H), module(E, H)
    f.load_state_dict({name: getattr(layer, name) for name in f.state_dict()})
    b.load_state_dict({name: getattr(layer, f"{name}_reverse") for name in b.state_dict()})
    ours = fast_deep.birnn(x, LENGTHS, convert(f), convert(b), "after")
    assert_close(ours, theirs)
    assert_same_gradients(ours, theirs, [x])


@pytest.mark.parametrize("mask", [None, causal_mask(T), torch.arange(T) < LENGTHS[:, None, None, None]])
def test_attention_equals_the_lesson(mask):
    layer, x, memory = MultiHeadAttention(6, 3), random(B, T, 6), random(B, T, 6)
    for asked in (x, memory):
        slow, fast = layer(x, asked, mask)[0], multi_head_attention(x, asked, layer.params, 3, mask)
        assert_close(fast, slow)
        assert_same_gradients(fast, slow, [x, *layer.parameters()])


def test_a_query_that_may_attend_to_nothing_finds_zeros():
    layer, x, mask = MultiHeadAttention(6, 3), random(B, T, 6), causal_mask(T).clone()
    mask[3] = False
    for dtype, atol in ((torch.float64, 1e-9), (torch.float32, 1e-5)):
        layer, x = layer.to(dtype), x.detach().to(dtype).requires_grad_()
        slow, fast = layer(x, x, mask)[0], multi_head_attention(x, x, layer.params, 3, mask)
        assert_close(fast, slow, atol=atol)
        assert torch.autograd.grad(fast.sum(), x)[0].isfinite().all()


def networks() -> dict:
    """Networks of the book with inputs, and the output that is compared."""
    src, y_in = torch.randint(4, 11, (B, T)), torch.randint(4, 11, (B, 6))
    src[torch.arange(T) >= LENGTHS[:, None]] = 0
    e, x, memory, mask = random(B, T, E), random(B, T, 6), random(B, T, 6), (src != 0)[:, None, None, :]
    cfg = GPTConfig(V=11, context=T, D=6, n_heads=3, layers=2, d_ff=12)
    bert = BertForPretraining(11, 6, 3, 2, 12, longest=T, dropout=0.0, spread=0.5)
    sizes = {"D": 6, "n_heads": 3, "layers": 2, "d_ff": 12}
    return {
        "RNN": (RNN(E, H), lambda m: m(e)),
        "LSTM": (LSTM(E, H), lambda m: m(e)),
        "GRU": (GRU(E, H, "after"), lambda m: m(e)),
        "encoder, pre": (EncoderLayer(6, 3, 12), lambda m: m(x, mask)[0]),
        "encoder, post": (EncoderLayer(6, 3, 12, "post"), lambda m: m(x, mask)[0]),
        "decoder, pre": (DecoderLayer(6, 3, 12), lambda m: m(x, memory, causal_mask(T), mask)[0]),
        "decoder, post": (DecoderLayer(6, 3, 12, "post"), lambda m: m(x, memory, causal_mask(T), mask)[0]),
        "Transformer": (Transformer(11, 11, **sizes), lambda m: m(src, LENGTHS, y_in)),
        "Transformer, learned": (Transformer(11, 11, **sizes, positions="learned"), lambda m: m(src, LENGTHS, y_in)),
        "GPT": (GPT(cfg), lambda m: m(src)),
        "BERT": (bert, lambda m: m(src, (src > 7).long(), src != 0)[0]),
        "BERT, next sentence": (bert, lambda m: m(src, None, src != 0)[1]),
        "Bahdanau": (
            AttentionSeq2Seq(RecurrentReader(11, E, H), AdditiveScore(H, 2 * H, 5), 11, E, H),
            lambda m: m(src, LENGTHS, y_in),
        ),
        "Luong": (
            AttentionSeq2Seq(RecurrentReader(11, E, H), BilinearScore(H, 2 * H), 11, E, H),
            lambda m: m(src, LENGTHS, y_in),
        ),
    }


def compared(model: nn.Module, run) -> tuple[torch.Tensor, list[torch.Tensor | None]]:
    out = run(model)
    weights = torch.linspace(-1, 1, out.numel()).view_as(out)
    return out, list(torch.autograd.grad((out * weights).sum(), list(model.parameters()), allow_unused=True))


@pytest.mark.parametrize("name", NETWORKS)
def test_networks_on_the_fast_path_equal_themselves(name):
    model, run = networks()[name]
    names = list(model.state_dict())
    slow, slow_gradients = compared(model, run)
    fast, fast_gradients = compared(speed_up(model), run)
    assert type(model) in (*FAST.values(), BertForPretraining) and list(model.state_dict()) == names
    assert_close(fast, slow)
    for one, other in zip(fast_gradients, slow_gradients, strict=True):
        assert (one is None) == (other is None)
        if one is not None:
            assert_close(one, other)
    again, _ = compared(lesson(model), run)
    assert_close(again, slow, atol=0)


def test_a_fast_network_can_still_be_looked_into():
    for name, inputs in (("GPT", 1), ("Transformer", 3)):
        model, _ = networks()[name]
        arguments = (torch.randint(4, 11, (B, T)), LENGTHS, torch.randint(4, 11, (B, 6)))[:inputs]
        slow = model.look(*arguments)
        fast = speed_up(model).look(*arguments)
        assert type(model) in FAST.values(), "looking has turned it back"
        pairs = [(fast[key], slow[key]) for key in slow] if isinstance(slow, dict) else [(fast, slow)]
        for one, other in (layer for pair in pairs for layer in zip(*pair, strict=True)):
            assert_close(one, other, atol=0)


def test_positions_that_do_not_exist_are_refused_as_in_the_lesson():
    long = torch.ones(1, T + 1, dtype=torch.int64)
    cfg = GPTConfig(V=11, context=T, D=6, n_heads=3, layers=1, d_ff=12)
    bert = BertForPretraining(11, 6, 3, 1, 12, longest=T)
    small = Transformer(11, 11, D=6, n_heads=3, layers=1, d_ff=12, longest=T)
    for model, run in (
        (GPT(cfg), lambda m: m(long)),
        (bert, lambda m: m(long)),
        (small, lambda m: m(long, None, long)),
    ):
        said = []
        for change in (lesson, speed_up):
            with pytest.raises(ValueError) as error:
                run(change(model))
            said.append(str(error.value))
        assert said[0] == said[1]


def test_fast_dropout_drops_the_same_share():
    x, fast = torch.ones(200, 100), speed_up(Dropout(0.2))
    y = fast(x)
    assert set(y.unique().tolist()) == {0.0, 1.25}
    assert abs((y == 0).double().mean().item() - 0.2) < 6 * (0.2 * 0.8 / x.numel()) ** 0.5
    assert_close(fast.eval()(x), x, atol=0)
