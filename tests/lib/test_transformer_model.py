"""The whole Transformer: against torch's stacks, as a translator, without positions, and on a task it can learn."""

import pytest
import torch
from agreement import assert_close
from test_transformer import of_decoder, of_encoder
from torch import nn

from unrolled.masks import make_masks
from unrolled.transformer_model import DecoderLayer, EncoderLayer, Transformer, TransformerEncoder
from unrolled.translation import Languages, learn_pairs, scores, translate
from unrolled.translators import PAD, generate

V_SRC, V_TGT, D, HEADS, LAYERS, D_FF = 13, 11, 18, 3, 2, 25
SRC = torch.tensor([[4, 5, 6, 7, 8], [9, 4, 0, 0, 0], [5, 5, 12, 0, 0]])
LENGTHS = torch.tensor([5, 2, 3])
Y_IN = torch.tensor([[2, 4, 5, 6], [2, 10, 0, 0], [2, 7, 8, 0]])
NORMS = pytest.mark.parametrize("norm", ["pre", "post"])


def small(**options) -> Transformer:
    torch.manual_seed(0)
    return Transformer(V_SRC, V_TGT, D, HEADS, LAYERS, D_FF, **options)


def flat(params) -> list[torch.Tensor]:
    """All tensors of nested parameters, in order."""
    return [params] if isinstance(params, torch.Tensor) else [tensor for part in params for tensor in flat(part)]


@NORMS
def test_it_equals_torchs_transformer(double, norm):
    model = small(norm=norm)
    last = nn.LayerNorm(D) if norm == "pre" else None  # torch's layers with our numbers
    options = {"dim_feedforward": D_FF, "dropout": 0.0, "batch_first": True, "norm_first": norm == "pre"}
    encoder = nn.TransformerEncoder(
        nn.TransformerEncoderLayer(D, HEADS, **options), LAYERS, last, enable_nested_tensor=False
    )
    decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(D, HEADS, **options), LAYERS, last)
    with torch.no_grad():
        for theirs, ours, of in (
            *((layer, mine, of_encoder) for layer, mine in zip(encoder.layers, model.encoder.layers, strict=True)),
            *((layer, mine, of_decoder) for layer, mine in zip(decoder.layers, model.decoder.layers, strict=True)),
        ):
            for target, source in zip(flat(of(theirs)), flat(ours.params), strict=True):
                target.copy_(source)
    src_pads, tgt_pads = SRC == PAD, Y_IN == PAD
    memory = encoder(model.encoder.embed(SRC), src_key_padding_mask=src_pads)
    states = decoder(
        model.decoder.embed(Y_IN),
        memory,
        tgt_mask=torch.ones(4, 4, dtype=torch.bool).triu(1),
        tgt_key_padding_mask=tgt_pads,
        memory_key_padding_mask=src_pads,
    )
    assert_close(model(SRC, LENGTHS, Y_IN), model.output(states))


@NORMS
@pytest.mark.parametrize("positions", ["sinusoidal", "learned", None])
def test_writing_step_by_step_gives_the_scores_of_training(double, norm, positions):
    model = small(norm=norm, positions=positions, dropout=0.3).eval()
    all_at_once = model(SRC, LENGTHS, Y_IN)
    h, memory = model.start(SRC, LENGTHS)
    for t in range(Y_IN.shape[1]):
        scores, h = model.step(Y_IN[:, t], h, memory)
        assert_close(scores[Y_IN[:, t] != PAD], all_at_once[:, t][Y_IN[:, t] != PAD])


def test_pads_make_no_difference(double):
    model = small()
    alone = model(SRC[1:2, :2], LENGTHS[1:2], Y_IN[1:2, :2])
    assert_close(model(SRC, LENGTHS, Y_IN)[1:2, :2], alone)


def test_every_parameter_gets_a_gradient():
    model = small(positions="learned", longest=5)
    model(SRC, LENGTHS, Y_IN).square().sum().backward()
    for name, parameter in model.named_parameters():
        assert (parameter.grad is not None and (parameter.grad != 0).any()) or name.endswith("k.bias"), name


def test_who_looks_at_whom():
    looked = small().look(SRC, LENGTHS, Y_IN)
    assert {kind: [tuple(w.shape) for w in weights] for kind, weights in looked.items()} == {
        "encoder": 2 * [(3, HEADS, 5, 5)],
        "decoder": 2 * [(3, HEADS, 4, 4)],
        "cross": 2 * [(3, HEADS, 4, 5)],
    }
    src_mask, tgt_mask = make_masks(SRC, Y_IN, PAD)
    assert (looked["cross"][0][~src_mask.expand(3, HEADS, 4, 5)] == 0).all()
    assert (looked["decoder"][1][~tgt_mask.expand(3, HEADS, 4, 4)] == 0).all()


@pytest.mark.parametrize("positions", ["sinusoidal", "learned", None])
def test_without_positions_the_encoder_reads_a_set(double, positions):
    torch.manual_seed(0)
    encoder = TransformerEncoder(V_SRC, D, HEADS, LAYERS, D_FF, positions=positions)
    ids, order = torch.tensor([[4, 5, 6, 7, 8]]), torch.tensor([2, 0, 1, 4, 3])
    gap = (encoder(ids[:, order])[0] - encoder(ids)[0][:, order]).abs().max()
    assert gap < 1e-9 if positions is None else gap > 1e-3


def test_dropout_is_on_in_training_only():
    model = small(dropout=0.5)
    assert not torch.equal(model(SRC, LENGTHS, Y_IN), model(SRC, LENGTHS, Y_IN))
    model.eval()
    assert torch.equal(model(SRC, LENGTHS, Y_IN), model(SRC, LENGTHS, Y_IN))


def test_words_and_positions_start_out_equally_large():
    encoder = TransformerEncoder(500, 64, 4, 1, 128)
    words = (encoder.tokens * 8).std().item()
    assert words == pytest.approx(1, rel=0.05)
    assert encoder.positions.square().mean().sqrt().item() == pytest.approx(0.5**0.5, rel=1e-3)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: EncoderLayer(D, HEADS, D_FF, norm="both"), '"pre" or "post"'),
        (lambda: DecoderLayer(D, 5, D_FF), "5 heads do not divide"),
        (lambda: small(positions="waves"), '"sinusoidal", "learned" or None'),
        (lambda: small(dropout=1.0), "below 1"),
        (lambda: small(longest=4)(SRC, LENGTHS, Y_IN), "5 steps, but there are positions for only 4"),
    ],
)
def test_bad_arguments_are_named(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_it_learns_to_turn_words_round_and_writes_them():
    generator = torch.Generator().manual_seed(0)
    words = [torch.randint(5, (n,), generator=generator).tolist() for n in (2, 3, 4) for _ in range(30)]
    pairs = [(["abcde"[k] for k in word], [["VWXYZ"[k] for k in reversed(word)]]) for word in words]
    languages = Languages(pairs)
    torch.manual_seed(0)
    model = Transformer(len(languages.source), len(languages.target), 32, 4, 1, 64)
    losses = learn_pairs(model, pairs, languages, updates=150, seed=0, size=32, lr=5e-3)
    assert losses[-1] < 0.1 * losses[0] and not model.training
    assert scores(pairs, translate(model, pairs, languages))["sequence error"] < 0.05


def test_it_writes_no_more_than_it_may():
    written = generate(small().eval(), SRC, LENGTHS, max_len=6)
    assert len(written) == 3 and all(len(row) <= 6 for row in written)
