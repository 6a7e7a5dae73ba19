"""The causal model of chapter 8: what it may see, with the right attention and with each bug."""

import pytest
import torch

from unrolled.attention_bugs import ATTENTIONS
from unrolled.attention_model import AttentionModel
from unrolled.self_attention import merge_heads, scaled_dot_product_attention

LOOK_AHEAD = {"mask after softmax", "softmax over queries", "mask off by one", "mask upside down"}


def model_with(attention, layers: int = 1) -> AttentionModel:
    torch.manual_seed(0)
    return AttentionModel(V=11, T=9, D=6, n_heads=3, layers=layers, attention=attention).double()


def moved_by_the_future(model: AttentionModel) -> bool:
    """Does the output at step 4 change when only later tokens do?"""
    ids = torch.tensor([[1, 7, 3, 9, 2, 5, 8, 4, 6]])
    other = torch.cat([ids[:, :5], torch.tensor([[10, 1, 3, 2]])], dim=1)
    return not torch.allclose(model(ids)[0][:, 4], model(other)[0][:, 4], atol=1e-12)


@pytest.mark.parametrize("name", ATTENTIONS)
def test_four_bugs_look_ahead_and_the_others_do_not(name):
    assert moved_by_the_future(model_with(ATTENTIONS[name])) == (name in LOOK_AHEAD)


def test_heads_split_by_view_and_joined_rightly_look_ahead():
    def attention(x, memory, params, n_heads, mask):
        q, k, v = ((x @ W.T).reshape(len(x), n_heads, x.shape[1], -1) for W in (params.W_q, params.W_k, params.W_v))
        heads, weights = scaled_dot_product_attention(q, k, v, mask)
        return merge_heads(heads) @ params.W_o.T, weights

    assert moved_by_the_future(model_with(attention))


@pytest.mark.parametrize("name", [name for name in ATTENTIONS if name != "correct"])
def test_every_bug_computes_something_else_with_the_same_weights(name):
    ids = torch.tensor([[1, 7, 3, 9, 2, 5, 8, 4, 6]])
    right, wrong = model_with(ATTENTIONS["correct"]), model_with(ATTENTIONS[name])
    assert all(torch.equal(a, b) for a, b in zip(right.parameters(), wrong.parameters(), strict=True))
    assert not torch.allclose(right(ids)[0], wrong(ids)[0], atol=1e-6)


def test_weights_come_from_every_layer_and_gradients_reach_everything():
    model = model_with(ATTENTIONS["correct"], layers=2)
    logits, weights = model(torch.tensor([[1, 7, 3], [2, 2, 5]]))
    assert logits.shape == (2, 3, 11) and [w.shape for w in weights] == [(2, 3, 3, 3)] * 2
    logits.square().sum().backward()
    untouched = {name for name, p in model.named_parameters() if p.grad is None}
    assert untouched == set()
