"""BERT: against torch and transformers, its parameters by arithmetic, and that it learns."""

import math

import pytest
import torch
import torch.nn.functional as F
from agreement import assert_close, assert_same_gradients
from torch import nn

from unrolled.bert import BertEmbedParams, bert_embed, bert_parameters
from unrolled.bert_model import Bert, BertForPretraining, BertLayer
from unrolled.checkpoint import map_checkpoint
from unrolled.schedules import linear_warmup_decay

BASE = {"V": 30_522, "D": 768, "layers": 12, "d_ff": 3072}
LARGE = {"V": 30_522, "D": 1024, "layers": 24, "d_ff": 4096}


def test_bert_embed_agrees_with_embeddings_of_torch(double):
    tables = nn.Embedding(13, 6), nn.Embedding(2, 6), nn.Embedding(9, 6)
    norm = nn.LayerNorm(6, eps=1e-12)
    nn.init.normal_(norm.weight), nn.init.normal_(norm.bias)
    params = BertEmbedParams(*(table.weight for table in tables), norm.weight, norm.bias)
    ids, segments = torch.randint(0, 13, (3, 7)), torch.randint(0, 2, (3, 7))
    theirs = norm(tables[0](ids) + tables[1](segments) + tables[2](torch.arange(7)))
    ours = bert_embed(ids, segments, params)
    assert_close(ours, theirs)
    assert_same_gradients(ours, theirs, list(params))


def _torch_layer(layer: BertLayer, D: int, n_heads: int, d_ff: int) -> nn.TransformerEncoderLayer:
    theirs = nn.TransformerEncoderLayer(D, n_heads, d_ff, 0.0, "gelu", 1e-12, batch_first=True, norm_first=False)
    at, own = theirs.self_attn, layer.attention
    with torch.no_grad():
        at.in_proj_weight.copy_(torch.cat([own.q.weight, own.k.weight, own.v.weight]))
        at.in_proj_bias.copy_(torch.cat([own.q.bias, own.k.bias, own.v.bias]))
    at.out_proj.load_state_dict(own.o.state_dict())
    theirs.linear1.load_state_dict(layer.wide.state_dict())
    theirs.linear2.load_state_dict(layer.back.state_dict())
    for norm, one in ((theirs.norm1, layer.norm_1), (theirs.norm2, layer.norm_2)):
        norm.load_state_dict({"weight": one.g, "bias": one.b})
    return theirs


def _shaken(model: nn.Module) -> nn.Module:
    """All parameters random, norms and biases too."""
    with torch.no_grad():
        for p in model.parameters():
            p.add_(0.3 * torch.randn_like(p))
    return model


@pytest.mark.parametrize("look", [False, True])
def test_layer_agrees_with_torch(double, look):
    layer = _shaken(BertLayer(15, 5, 9, dropout=0.0))
    theirs, x = _torch_layer(layer, 15, 5, 9), torch.randn(3, 7, 15, requires_grad=True)
    real = torch.arange(7) < torch.tensor([[7], [4], [1]])
    ours, weights = layer(x, real[:, None, None, :], look)
    assert_close(ours[real], theirs(x, src_key_padding_mask=~real)[real])
    assert (weights is not None) == look
    assert_same_gradients(ours[real], theirs(x, src_key_padding_mask=~real)[real], [x])


def test_hidden_states_are_those_of_transformers(double):
    transformers = pytest.importorskip("transformers")
    config = transformers.BertConfig(
        vocab_size=99, hidden_size=36, num_hidden_layers=3, num_attention_heads=4, intermediate_size=37,
        max_position_embeddings=41, attn_implementation="eager",
    )  # fmt: skip
    theirs = _shaken(transformers.BertModel(config)).double().eval()
    ours = Bert(99, 36, 4, 3, 37, longest=41).eval()
    ours.load_state_dict(map_checkpoint(theirs.state_dict())[0])  # strict: no name is left over on either side
    ids, segments = torch.randint(0, 99, (3, 13)), torch.randint(0, 2, (3, 13))
    real = torch.arange(13) < torch.tensor([[13], [7], [1]])
    with torch.no_grad():
        want = theirs(ids, real.long(), segments, output_hidden_states=True, output_attentions=True)
        got = ours(ids, segments, real, look=True)
    for one, other in zip(got.hidden, want.hidden_states, strict=True):
        assert_close(one[real], other[real])
    for one, other in zip(got.weights, want.attentions, strict=True):
        assert_close(one.mT[real[:, None].expand(-1, 4, -1)], other.mT[real[:, None].expand(-1, 4, -1)])
    assert_close(got.pooled, want.pooler_output)
    with torch.no_grad():
        assert_close(ours(ids, segments, real).states[real], got.states[real])  # torch's faster attention


def test_heads_are_those_of_transformers(double):
    transformers = pytest.importorskip("transformers")
    config = transformers.BertConfig(
        vocab_size=99, hidden_size=36, num_hidden_layers=2, num_attention_heads=4, intermediate_size=37,
        max_position_embeddings=41,
    )  # fmt: skip
    theirs = _shaken(transformers.BertForPreTraining(config)).double().eval()
    ours = BertForPretraining(99, 36, 4, 2, 37, longest=41).eval()
    state = theirs.state_dict()
    ours.bert.load_state_dict(map_checkpoint(state)[0])  # the heads have other names, and are copied below
    head = "cls.predictions."
    with torch.no_grad():
        ours.transform.weight.copy_(state[head + "transform.dense.weight"])
        ours.transform.bias.copy_(state[head + "transform.dense.bias"])
        ours.norm.g.copy_(state[head + "transform.LayerNorm.weight"])
        ours.norm.b.copy_(state[head + "transform.LayerNorm.bias"])
        ours.bias.copy_(state[head + "bias"])
        ours.follows.weight.copy_(state["cls.seq_relationship.weight"].flip(0))  # theirs: 0 = follows
        ours.follows.bias.copy_(state["cls.seq_relationship.bias"].flip(0))
    ids = torch.randint(0, 99, (3, 13))
    with torch.no_grad():
        want, got = theirs(ids), ours(ids)
    assert_close(got[0], want.prediction_logits)
    assert_close(got[1], want.seq_relationship_logits.flip(1))


def test_parameters_of_large_and_base():
    large, base = bert_parameters(**LARGE), bert_parameters(**BASE)
    encoder = large["embeddings"] + large["layers"]
    assert round(encoder / 1e6, 1) == 334.1
    assert round((encoder + large["pooler"]) / 1e6, 1) == 335.1
    assert round(sum(large.values()) / 1e6, 1) == 336.2
    assert round((sum(base.values()) - base["heads"]) / 1e6, 1) == 109.5


@pytest.mark.parametrize("sizes, n_heads", [(BASE, 12), (LARGE, 16), (LARGE, 8)])
def test_parameters_of_the_model_are_as_many_as_the_formula_says(sizes, n_heads):
    with torch.device("meta"):
        model = BertForPretraining(n_heads=n_heads, **sizes)
    count, parts = bert_parameters(**sizes), model.bert
    assert sum(p.numel() for p in model.parameters()) == sum(count.values())
    assert sum(p.numel() for p in parts.embedding.parameters()) == count["embeddings"]
    assert sum(p.numel() for p in parts.layers.parameters()) == count["layers"]


def test_twelve_heads_do_not_divide_1024():
    with pytest.raises(ValueError, match="12 heads"), torch.device("meta"):
        Bert(n_heads=12, **LARGE)


@pytest.mark.parametrize("spread", [0.02, 0.1])
def test_weights_start_small_and_norms_at_one(spread):
    torch.manual_seed(0)
    model = BertForPretraining(V=500, D=64, n_heads=4, layers=2, d_ff=128, spread=spread)
    for name, p in model.named_parameters():
        if p.ndim == 2:
            assert abs(p.std().item() - spread) < 0.2 * spread, name
        else:
            assert p.eq(1.0 if name.endswith(".g") else 0.0).all(), name


def test_pads_change_nothing(double):
    model = _shaken(Bert(V=50, D=12, n_heads=3, layers=2, d_ff=24, longest=16)).eval()
    ids = torch.randint(5, 50, (2, 9))
    padded = F.pad(ids, (0, 5), value=0)
    short, long = model(ids), model(padded, mask=torch.arange(14).expand(2, 14) < 9)
    assert_close(long.states[:, :9], short.states)


def test_a_mask_of_pairs_makes_it_read_from_left_to_right(double):
    model = _shaken(Bert(V=50, D=12, n_heads=3, layers=2, d_ff=24, longest=16)).eval()
    ids, causal = torch.randint(5, 50, (2, 9)), torch.ones(2, 9, 9, dtype=torch.bool).tril()
    other = ids.clone()
    other[:, 6:] = torch.randint(5, 50, (2, 3))
    assert_close(model(ids, mask=causal).states[:, :6], model(other, mask=causal).states[:, :6])
    assert (model(ids).states[:, :6] - model(other).states[:, :6]).abs().max() > 1e-3


def test_dropout_falls_on_both_ways_of_attending():
    torch.manual_seed(0)
    layer, x = BertLayer(12, 3, 24, dropout=0.5), torch.randn(2, 7, 12)
    for look in (False, True):
        assert not torch.equal(layer(x, look=look)[0], layer(x, look=look)[0])
    layer.eval()
    assert_close(layer(x, look=False)[0], layer(x, look=True)[0], atol=1e-5)


def test_too_long_a_row_is_refused():
    with pytest.raises(ValueError, match="only 8"):
        Bert(V=50, D=12, n_heads=3, layers=1, d_ff=24, longest=8)(torch.zeros(1, 9, dtype=torch.long))


def test_warm_up_and_decay_are_those_of_transformers():
    transformers = pytest.importorskip("transformers")
    optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=0.3)
    schedule = transformers.get_linear_schedule_with_warmup(optimizer, 4, 11)
    for step in range(14):
        assert math.isclose(linear_warmup_decay(step, 4, 11, 0.3), schedule.get_last_lr()[0])
        optimizer.step()
        schedule.step()
