"""Attention against torch's own, forward and backward, with masks; what permutations and biases do to it."""

import math

import pytest
import torch
import torch.nn.functional as F
from agreement import assert_close, assert_same_gradients
from torch import nn

from unrolled.attention_bugs import ATTENTIONS
from unrolled.attention_model import AttentionModel
from unrolled.masks import causal_mask
from unrolled.self_attention import (
    AttentionParams,
    MultiHeadAttention,
    merge_heads,
    multi_head_attention,
    permutation_gap,
    scaled_dot_product_attention,
    split_heads,
)

B, N, T, S, K, K_V, D = 3, 5, 7, 11, 4, 9, 15
HEADS = 3

pytestmark = pytest.mark.usefixtures("double")


def some(*shape: int) -> torch.Tensor:
    """A random mask that leaves every query something."""
    mask = torch.rand(shape) < 0.5
    mask[..., torch.randint(shape[-1], ())] = True
    return mask


def qkv(*leading: int) -> tuple[torch.Tensor, ...]:
    shapes = (T, K), (S, K), (S, K_V)
    return tuple(torch.randn(*leading, *shape, requires_grad=True) for shape in shapes)


def random_params() -> AttentionParams:
    tensors = [torch.randn(D, D) for _ in range(4)] + [torch.randn(D) for _ in range(4)]
    return AttentionParams(*((tensor / math.sqrt(D)).requires_grad_() for tensor in tensors))


def same_as_torch(params: AttentionParams) -> nn.MultiheadAttention:
    """torch's layer with the same numbers; it keeps W_q, W_k and W_v in one tensor."""
    module = nn.MultiheadAttention(D, HEADS, batch_first=True)
    with torch.no_grad():
        module.in_proj_weight.copy_(torch.cat(params[:3]))
        module.in_proj_bias.copy_(torch.cat(params[4:7]))
        module.out_proj.weight.copy_(params.W_o)
        module.out_proj.bias.copy_(params.b_o)
    return module


@pytest.mark.parametrize("leading", [(), (B,), (B, N)])
@pytest.mark.parametrize("shape", [None, (T, S), (1, S)])
def test_attention_equals_torch(leading, shape):
    q, k, v = qkv(*leading)
    mask = None if shape is None else some(*shape)
    ours, weights = scaled_dot_product_attention(q, k, v, mask)
    theirs = F.scaled_dot_product_attention(q, k, v, mask)
    assert_close(ours, theirs)
    assert_close(weights.sum(dim=-1), torch.ones(*leading, T))
    assert_same_gradients(ours, theirs, (q, k, v))


def test_a_query_that_may_attend_to_nothing_gets_zeros_and_finite_gradients():
    q, k, v = qkv(B)
    mask = some(T, S)
    mask[[1, 4]] = False
    output, weights = scaled_dot_product_attention(q, k, v, mask)
    assert (output[:, [1, 4]] == 0).all() and (weights[:, [1, 4]] == 0).all()
    grads = torch.autograd.grad((output * torch.randn_like(output)).sum(), (q, k, v))
    assert all(grad.isfinite().all() for grad in grads)
    assert (grads[0][:, [1, 4]] == 0).all()
    rest = [t for t in range(T) if t not in (1, 4)]
    assert_close(output[:, rest], F.scaled_dot_product_attention(q[:, rest], k, v, mask[rest]))


def test_what_is_masked_says_nothing_and_hears_nothing():
    q, k, v = qkv(B)
    mask = torch.rand(S) < 0.5
    mask[0], mask[1] = True, False
    other_k, other_v = (torch.where(mask[:, None], a, 1e3 * torch.randn_like(a)) for a in (k, v))
    output = scaled_dot_product_attention(q, k, v, mask)[0]
    assert_close(output, scaled_dot_product_attention(q, other_k, other_v, mask)[0])
    assert (torch.autograd.grad(output.sum(), k)[0][:, ~mask] == 0).all()


def test_gradcheck():
    q, k, v = (torch.randn(2, n, 3, requires_grad=True) for n in (2, 4, 4))
    mask = torch.tensor([[True, False, True, True], [False] * 4])
    assert torch.autograd.gradcheck(lambda *qkv: scaled_dot_product_attention(*qkv, mask)[0], (q, k, v))


def test_scores_have_variance_d_k_before_scaling():
    for d_k in (4, 64, 256):
        scores = torch.randn(400, d_k) @ torch.randn(400, d_k).T
        assert scores.var().item() == pytest.approx(d_k, rel=0.1)


def test_split_and_merge_are_each_others_inverse():
    x = torch.randn(B, T, D)
    heads = split_heads(x, HEADS)
    assert heads.shape == (B, HEADS, T, D // HEADS)
    assert torch.equal(merge_heads(heads), x)
    for n in range(HEADS):
        assert torch.equal(heads[:, n], x[..., 5 * n : 5 * n + 5])


@pytest.mark.parametrize("steps", [T, S], ids=["itself", "memory"])
@pytest.mark.parametrize("masked", ["not", "causal", "pads"])
def test_multi_head_attention_equals_torch(steps, masked):
    params, x = random_params(), torch.randn(B, T, D, requires_grad=True)
    memory = x if steps == T else torch.randn(B, S, D, requires_grad=True)
    module = same_as_torch(params)
    mask, options = None, {}
    if masked == "causal":
        mask = torch.ones(T, steps, dtype=torch.bool).tril()
        options = {"attn_mask": ~mask}  # True means may not, there
    if masked == "pads":
        real = some(B, steps)
        mask, options = real[:, None, None], {"key_padding_mask": ~real}
    ours, weights = multi_head_attention(x, memory, params, HEADS, mask)
    theirs, their_weights = module(x, memory, memory, average_attn_weights=False, **options)
    assert_close(ours, theirs)
    assert_close(weights, their_weights)
    sequences = [x] if memory is x else [x, memory]
    g = torch.randn_like(ours)
    left = torch.autograd.grad((ours * g).sum(), [*sequences, *params])
    right = torch.autograd.grad((theirs * g).sum(), [*sequences, *module.parameters()])
    *ours_of_sequences, W_q, W_k, W_v, W_o, b_q, b_k, b_v, b_o = left
    joined = [*ours_of_sequences, torch.cat([W_q, W_k, W_v]), torch.cat([b_q, b_k, b_v]), W_o, b_o]
    for one, other in zip(joined, right, strict=True):
        assert_close(one, other)


def test_a_row_without_keys_is_nan_in_torch_and_only_the_bias_here():
    params, x = random_params(), torch.randn(B, T, D)
    real = torch.ones(B, T, dtype=torch.bool)
    real[1] = False
    theirs = same_as_torch(params)(x, x, x, key_padding_mask=~real, need_weights=True)[0]
    assert theirs[1].isnan().all() and not theirs[[0, 2]].isnan().any()
    ours, weights = multi_head_attention(x, x, params, HEADS, real[:, None, None])
    assert (weights[1] == 0).all()
    assert_close(ours[1], params.b_o.expand(T, D))
    assert_close(ours[[0, 2]], theirs[[0, 2]])
    grads = torch.autograd.grad(ours.square().sum(), params)
    assert all(grad.isfinite().all() for grad in grads)


@pytest.mark.parametrize("mask", [None, causal_mask(T)], ids=["free", "causal"])
def test_the_key_bias_changes_nothing_and_the_others_do(mask):
    """q · b_k is the same for all keys of a query, and a softmax does not see what is added to all its scores."""
    params, x = random_params(), torch.randn(B, T, D)
    output, weights = multi_head_attention(x, x, params, HEADS, mask)
    without = multi_head_attention(x, x, params._replace(b_k=torch.zeros(D)), HEADS, mask)
    assert_close(output, without[0], atol=1e-12)
    assert_close(weights, without[1], atol=1e-12)
    (gradient,) = torch.autograd.grad(output.square().sum(), params.b_k)
    assert gradient.abs().max() < 1e-12
    for name in ("b_q", "b_v", "b_o"):
        changed = multi_head_attention(x, x, params._replace(**{name: torch.zeros(D)}), HEADS, mask)[0]
        assert (changed - output).abs().max() > 1e-3


def test_module_calls_the_function():
    layer, x, memory = MultiHeadAttention(D, HEADS), torch.randn(B, T, D), torch.randn(B, S, D)
    assert len(list(layer.parameters())) == 8
    output, weights = layer(x, memory, some(T, S))
    assert output.shape == (B, T, D) and weights.shape == (B, HEADS, T, S)
    for ours, theirs in zip(layer(x, x), multi_head_attention(x, x, layer.params, HEADS), strict=True):
        assert torch.equal(ours, theirs)
    with pytest.raises(ValueError, match="4 heads do not divide a width of 15"):
        MultiHeadAttention(D, 4)


def test_permutation_gap_of_attention_with_and_without_order():
    params, x = random_params(), torch.randn(B, T, D)
    perm = torch.tensor([1, 2, 0, 3, 4, 5, 6])  # three steps in a ring
    assert permutation_gap(lambda x: multi_head_attention(x, x, params, HEADS)[0], x, perm) < 1e-12
    masked = permutation_gap(lambda x: multi_head_attention(x, x, params, HEADS, causal_mask(T))[0], x, perm)
    positions = torch.randn(T, D)
    placed = permutation_gap(lambda x: multi_head_attention(x + positions, x + positions, params, HEADS)[0], x, perm)
    assert masked > 1e-2 and placed > 1e-2
    rnn = nn.RNN(D, D, batch_first=True)
    assert permutation_gap(lambda x: rnn(x)[0], x, perm) > 1e-2


# ---- the language model of the bug bench ----

LEAKS = {"mask after softmax", "softmax over queries", "mask off by one", "mask upside down"}


@pytest.mark.parametrize("name", ATTENTIONS)
def test_which_models_see_the_future(name):
    """Change one token; does any earlier step notice? Heads split by view are wrong, but they keep the order."""
    model = AttentionModel(V=13, T=T, D=12, n_heads=3, layers=2, attention=ATTENTIONS[name])
    ids = torch.randint(13, (1, T))
    changed = ids.clone()
    changed[0, 4] = (ids[0, 4] + 1) % 13
    moved = ((model(changed)[0] - model(ids)[0]).abs().amax(dim=-1) > 1e-9)[0, :4].any()
    assert moved.item() == (name in LEAKS)


def test_all_seven_have_the_same_parameters_and_shapes():
    shapes = set()
    for attention in ATTENTIONS.values():
        model = AttentionModel(V=13, T=T, D=12, n_heads=3, layers=2, attention=attention)
        logits, weights = model(torch.randint(13, (B, 5)))
        shapes.add((tuple(p.shape for p in model.parameters()), logits.shape, weights[1].shape))
    assert len(shapes) == 1


def test_one_thing_wrong_in_each():
    params, x, mask = random_params(), torch.randn(B, T, D), causal_mask(T)
    right = multi_head_attention(x, x, params, HEADS, mask)[1]
    rows = {name: f(x, x, params, HEADS, mask)[1] for name, f in ATTENTIONS.items()}
    assert torch.equal(rows["correct"], right)
    past = right.sum(dim=-1)
    assert_close(rows["without √d_k"].sum(dim=-1), past)
    assert_close(rows["heads split by view"].sum(dim=-1), past)
    inverted = rows["mask upside down"]
    assert torch.equal(
        inverted[..., :-1, :].tril(), torch.zeros_like(right[..., :-1, :])
    )  # the future and nothing else
    assert_close(inverted[..., -1, :], torch.full_like(right[..., -1, :], 1 / T))
    assert (rows["mask after softmax"].sum(dim=-1)[..., :-1] < 1).all()
    assert_close(rows["softmax over queries"].sum(dim=-2), past)
    assert (rows["mask off by one"].diagonal(1, -2, -1) > 0).all()


def test_the_model_learns_to_copy_the_token_before_last():
    torch.manual_seed(0)
    model = AttentionModel(V=5, T=9, D=16, n_heads=2)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(300):
        ids = torch.randint(5, (32, 9))
        loss = F.cross_entropy(model(ids)[0][:, 1:].flatten(0, 1), ids[:, :-1].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert loss.item() < 0.1
