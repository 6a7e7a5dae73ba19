"""The layers of the Transformer against torch's own, forward and backward, with both norms, pads and causal masks."""

import math

import pytest
import torch
import torch.nn.functional as F
from agreement import assert_close, assert_same_gradients
from torch import nn

from unrolled.masks import causal_mask, make_masks
from unrolled.self_attention import AttentionParams
from unrolled.transformer import (
    DecoderLayerParams,
    EncoderLayerParams,
    FeedForwardParams,
    NormParams,
    decoder_layer,
    encoder_layer,
    feed_forward,
)

B, T, S, D, D_FF, HEADS = 3, 7, 11, 15, 22, 3
NORMS = pytest.mark.parametrize("norm", ["pre", "post"])

pytestmark = pytest.mark.usefixtures("double")


def real_steps(steps: int) -> torch.Tensor:
    """(B, steps) True at the real ones: each row has some, one row has all."""
    lengths = torch.tensor([steps, 1, steps // 2])
    return torch.arange(steps) < lengths[:, None]


def of_attention(module: nn.MultiheadAttention) -> AttentionParams:
    W_q, W_k, W_v = module.in_proj_weight.chunk(3)
    b_q, b_k, b_v = module.in_proj_bias.chunk(3)
    return AttentionParams(W_q, W_k, W_v, module.out_proj.weight, b_q, b_k, b_v, module.out_proj.bias)


def of_network(module: nn.Module) -> FeedForwardParams:
    return FeedForwardParams(module.linear1.weight, module.linear1.bias, module.linear2.weight, module.linear2.bias)


def of_norms(module: nn.Module, n: int) -> list[NormParams]:
    norms = (getattr(module, f"norm{k + 1}") for k in range(n))
    return [NormParams(norm.weight, norm.bias) for norm in norms]


def of_encoder(module: nn.TransformerEncoderLayer) -> EncoderLayerParams:
    return EncoderLayerParams(of_attention(module.self_attn), of_network(module), *of_norms(module, 2))


def of_decoder(module: nn.TransformerDecoderLayer) -> DecoderLayerParams:
    attentions = of_attention(module.self_attn), of_attention(module.multihead_attn)
    return DecoderLayerParams(*attentions, of_network(module), *of_norms(module, 3))


def torch_layer(kind: type[nn.Module], norm: str, **options) -> nn.Module:
    """One of torch's layers, with random numbers where it starts with zeros and ones."""
    module = kind(D, HEADS, D_FF, dropout=0.0, batch_first=True, norm_first=norm == "pre", **options)
    for parameter in module.parameters():
        nn.init.normal_(parameter, std=1 / math.sqrt(parameter.shape[-1]))
    return module


def test_feed_forward_equals_torchs_layers():
    module = nn.Sequential(nn.Linear(D, D_FF), nn.ReLU(), nn.Linear(D_FF, D))
    params, x = FeedForwardParams(*module.parameters()), torch.randn(B, T, D, requires_grad=True)
    assert_close(feed_forward(x, params), module(x))
    assert_same_gradients(feed_forward(x, params), module(x), [x, *params])


def test_feed_forward_treats_each_step_alone():
    params = FeedForwardParams(torch.randn(D_FF, D), torch.randn(D_FF), torch.randn(D, D_FF), torch.randn(D))
    x, order = torch.randn(B, T, D), torch.randperm(T)
    assert_close(feed_forward(x[:, order], params), feed_forward(x, params)[:, order])
    assert_close(feed_forward(x[1, 2], params), feed_forward(x, params)[1, 2])


@NORMS
@pytest.mark.parametrize("masked", ["not", "causal", "pads"])
def test_encoder_layer_equals_torch(norm, masked):
    module, x = torch_layer(nn.TransformerEncoderLayer, norm), torch.randn(B, S, D, requires_grad=True)
    mask, options = None, {}
    if masked == "causal":
        mask, options = causal_mask(S), {"src_mask": ~causal_mask(S)}  # True means may not, there
    if masked == "pads":
        real = real_steps(S)
        mask, options = real[:, None, None, :], {"src_key_padding_mask": ~real}
    ours, weights = encoder_layer(x, of_encoder(module), HEADS, mask, norm)
    theirs = module(x, **options)
    assert_close(ours, theirs)
    assert_close(weights.sum(dim=-1), torch.ones(B, HEADS, S))
    assert_same_gradients(ours, theirs, [x, *module.parameters()])


@NORMS
@pytest.mark.parametrize("masked", [False, True])
def test_decoder_layer_equals_torch(norm, masked):
    module = torch_layer(nn.TransformerDecoderLayer, norm)
    y, memory = torch.randn(B, T, D, requires_grad=True), torch.randn(B, S, D, requires_grad=True)
    masks, options = (None, None), {}
    if masked:
        src, tgt = real_steps(S).long(), real_steps(T).long()
        src_mask, tgt_mask = make_masks(src, tgt, pad=0)
        masks = tgt_mask, src_mask
        options = {
            "tgt_mask": ~causal_mask(T),
            "tgt_key_padding_mask": tgt == 0,
            "memory_key_padding_mask": src == 0,
        }
    ours, self_weights, cross_weights = decoder_layer(y, memory, of_decoder(module), HEADS, *masks, norm)
    theirs = module(y, memory, **options)
    assert_close(ours, theirs)
    assert self_weights.shape == (B, HEADS, T, T) and cross_weights.shape == (B, HEADS, T, S)
    assert_same_gradients(ours, theirs, [y, memory, *module.parameters()])


@NORMS
def test_a_query_that_may_attend_to_nothing_keeps_its_own_vector(norm):
    """torch gives NaN here. Ours adds only the output's bias, in every layer, and gradients stay finite."""
    module, x = torch_layer(nn.TransformerEncoderLayer, norm), torch.randn(B, S, D, requires_grad=True)
    params, nothing = of_encoder(module), torch.zeros(S, S, dtype=torch.bool)
    y, weights = encoder_layer(x, params, HEADS, nothing, norm)
    assert (weights == 0).all()
    silent = params._replace(attention=params.attention._replace(W_o=torch.zeros(D, D)))
    assert_close(y, encoder_layer(x, silent, HEADS, None, norm)[0])
    assert torch.autograd.grad(y.square().sum(), x)[0].isfinite().all()


@NORMS
def test_pads_are_neither_seen_nor_of_any_effect(norm):
    params = of_decoder(torch_layer(nn.TransformerDecoderLayer, norm))
    src, tgt = real_steps(S).long(), real_steps(T).long()
    src_mask, tgt_mask = make_masks(src, tgt, pad=0)
    y, memory = torch.randn(B, T, D), torch.randn(B, S, D)
    other_y = torch.where(tgt[..., None] == 1, y, torch.randn(B, T, D))
    other_memory = torch.where(src[..., None] == 1, memory, torch.randn(B, S, D))
    one = decoder_layer(y, memory, params, HEADS, tgt_mask, src_mask, norm)[0]
    other = decoder_layer(other_y, other_memory, params, HEADS, tgt_mask, src_mask, norm)[0]
    assert_close(one[tgt == 1], other[tgt == 1])


@NORMS
def test_the_decoder_does_not_look_ahead(norm):
    params = of_decoder(torch_layer(nn.TransformerDecoderLayer, norm))
    y, memory = torch.randn(1, T, D, requires_grad=True), torch.randn(1, S, D)
    z = decoder_layer(y, memory, params, HEADS, causal_mask(T), norm=norm)[0]
    for t in range(T):
        (grad,) = torch.autograd.grad(z[0, t].sum() + z[0, t, 0], y, retain_graph=True)
        assert (grad[0, t + 1 :] == 0).all() and (grad[0, t] != 0).any()


@NORMS
def test_drop_is_applied_to_what_is_added(norm):
    """If everything is dropped, x passes through: as it is, or normalised as often as there are sub-layers."""
    encoder = of_encoder(torch_layer(nn.TransformerEncoderLayer, norm))
    decoder = of_decoder(torch_layer(nn.TransformerDecoderLayer, norm))
    x, memory = torch.randn(B, T, D), torch.randn(B, S, D)
    for y, norms in (
        (encoder_layer(x, encoder, HEADS, norm=norm, drop=torch.zeros_like)[0], encoder[2:]),
        (decoder_layer(x, memory, decoder, HEADS, norm=norm, drop=torch.zeros_like)[0], decoder[3:]),
    ):
        expected = x
        for g, b in norms if norm == "post" else ():
            expected = F.layer_norm(expected, (D,), g, b)
        assert_close(y, expected)
