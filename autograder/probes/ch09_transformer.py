"""What the judge asks about the exercises of chapter 9: positions, norms, masks, layers, dropout, Adam, warm-up.

All sizes differ; the probes of weight 0 use one size everywhere, so that a mixed-up axis gives values.
"""

from __future__ import annotations

import math
from functools import partial

import torch
from torch import Tensor

from autograder.probe import gradients, integers, leaf, normal, probe
from unrolled.self_attention import AttentionParams
from unrolled.transformer import DecoderLayerParams, EncoderLayerParams, FeedForwardParams, NormParams

B, T, S, D, D_FF, HEADS = 3, 7, 11, 15, 9, 5  # heads of width 3
SAME = 4  # the one size of the naming probes


def _output(result) -> Tensor:
    """The first of several results; the result itself if there is only one."""
    return result[0] if isinstance(result, (tuple, list)) else result


# ---- 9.1 sinusoidal_positions ----


@probe("sinusoidal_positions", "a few steps of several widths")
def sinusoidal_positions_several(sinusoidal_positions, rng):
    T = int(integers(rng, 4, 8, 1))
    return {f"{T} steps, {D} wide": sinusoidal_positions(T, D) for D in (4, 10, 18)}


@probe("sinusoidal_positions", "a single pair of columns")
def sinusoidal_positions_pair(sinusoidal_positions, rng):
    return {"positions": sinusoidal_positions(int(integers(rng, 3, 9, 1)), 2)}


@probe("sinusoidal_positions", "the first step: all sines are 0, all cosines 1")
def sinusoidal_positions_first(sinusoidal_positions, rng):
    return {"positions": sinusoidal_positions(1, 2 * int(integers(rng, 2, 6, 1)))}


@probe("sinusoidal_positions", "many steps, and a wide model")
def sinusoidal_positions_many(sinusoidal_positions, rng):
    return {"positions": sinusoidal_positions(int(integers(rng, 40, 60, 1)), 64)}


@probe("sinusoidal_positions", "how alike two places are: the products of their vectors")
def sinusoidal_positions_products(sinusoidal_positions, rng):
    P = sinusoidal_positions(int(integers(rng, 8, 12, 1)), 6)
    return {"products": P @ P.mT}


@probe("sinusoidal_positions", "as many steps as features", weight=0)
def sinusoidal_positions_square(sinusoidal_positions, rng):
    return {"positions": sinusoidal_positions(6, 6)}


# ---- 9.2 layer_norm ----


def _vectors(rng: torch.Generator, *shape: int, make=normal) -> tuple[Tensor, Tensor, Tensor]:
    """x of some mean and spread that differ from vector to vector, g and b."""
    x = make(rng, *shape) * (1 + torch.rand(*shape[:-1], 1, generator=rng)) + 2 * normal(rng, *shape[:-1], 1)
    return x, make(rng, shape[-1]), make(rng, shape[-1])


@probe("layer_norm", "a batch of sequences")
def layer_norm_batch(layer_norm, rng):
    return {"normalised": layer_norm(*_vectors(rng, B, T, D), 0.1)}


@probe("layer_norm", "one vector alone")
def layer_norm_one(layer_norm, rng):
    return {"normalised": layer_norm(*_vectors(rng, D), 0.1)}


@probe("layer_norm", "a large eps, and a small one")
def layer_norm_eps(layer_norm, rng):
    x, g, b = _vectors(rng, B, D)
    return {"eps 2": layer_norm(x, g, b, 2.0), "eps 0.001": layer_norm(0.01 * x, g, b, 1e-3)}


@probe("layer_norm", "without eps: 1e-5")
def layer_norm_usual(layer_norm, rng):
    x, g, b = _vectors(rng, B, T, D)
    return {"normalised": layer_norm(3e-3 * x, g, b)}


@probe("layer_norm", "all features of a vector are equal: the shift is left, and gradients are finite")
def layer_norm_equal(layer_norm, rng):
    x, g, b = normal(rng, B, 1).expand(B, D).clone().requires_grad_(), leaf(rng, D), leaf(rng, D)
    return gradients(rng, layer_norm(x, g, b, 0.1), x=x, b=b)


@probe("layer_norm", "the result is right and gradients reach x, g and b")
def layer_norm_gradients(layer_norm, rng):
    x, g, b = leaf(rng, B, T, D), leaf(rng, D), leaf(rng, D)
    return gradients(rng, layer_norm(x, g, b, 0.1), x=x, g=g, b=b)


@probe("layer_norm", "the result is right, and x, g and b are as they were after the call")
def layer_norm_untouched(layer_norm, rng):
    x, g, b = _vectors(rng, T, D)
    return {"normalised": layer_norm(x, g, b, 0.1), "x after": x, "g after": g, "b after": b}


@probe("layer_norm", "all sizes the same", weight=0)
def layer_norm_same_sizes(layer_norm, rng):
    return {"normalised": layer_norm(*_vectors(rng, SAME, SAME, SAME), 0.1)}


# ---- 9.3 feed_forward ----


def _network(rng: torch.Generator, D: int = D, F: int = D_FF, make=normal) -> FeedForwardParams:
    return FeedForwardParams(make(rng, F, D), make(rng, F), make(rng, D, F), make(rng, D))


@probe("feed_forward", "a batch of sequences")
def feed_forward_batch(feed_forward, rng):
    return {"output": feed_forward(normal(rng, B, T, D), _network(rng))}


@probe("feed_forward", "one vector alone")
def feed_forward_one(feed_forward, rng):
    return {"output": feed_forward(normal(rng, D), _network(rng))}


@probe("feed_forward", "only one step is changed: what becomes of the others")
def feed_forward_alone(feed_forward, rng):
    x, params, t = normal(rng, B, T, D), _network(rng), int(integers(rng, 0, T, 1))
    before = feed_forward(x, params)
    x = x.clone()
    x[:, t] = normal(rng, B, D)
    return {"before": before, "after": feed_forward(x, params)}


@probe("feed_forward", "the result is right and gradients reach x and the parameters")
def feed_forward_gradients(feed_forward, rng):
    x, params = leaf(rng, B, T, D), _network(rng, make=leaf)
    return gradients(rng, feed_forward(x, params), x=x, **params._asdict())


@probe("feed_forward", "the result is right, and all arguments are as they were after the call")
def feed_forward_untouched(feed_forward, rng):
    x, params = normal(rng, B, T, D), _network(rng)
    return {"output": feed_forward(x, params), "x after": x, "parameters after": tuple(params)}


@probe("feed_forward", "all sizes the same", weight=0)
def feed_forward_same_sizes(feed_forward, rng):
    return {"output": feed_forward(normal(rng, SAME, SAME, SAME), _network(rng, SAME, SAME))}


# ---- 9.4 make_masks ----


def _padded(rng: torch.Generator, rows: int, steps: int, pad: int) -> Tensor:
    """Random ids that are not pad, and pads at the end: none in one row, some in the others, never all."""
    ids = integers(rng, 0, 20, rows, steps)
    ids = ids + (ids >= pad)  # anything but pad
    lengths = integers(rng, 1, steps, rows)
    lengths[int(integers(rng, 0, rows, 1))] = steps
    return ids.masked_fill(torch.arange(steps) >= lengths[:, None], pad)


def _weights(rng: torch.Generator, mask: Tensor, T: int, S: int) -> Tensor:
    """What attention makes of a mask: the weights of two heads."""
    return torch.where(mask, normal(rng, B, 2, T, S), -math.inf).softmax(dim=-1)


@probe("make_masks", "pads in both sequences")
def make_masks_pads(make_masks, rng):
    return {"masks": make_masks(_padded(rng, B, S, 0), _padded(rng, B, T, 0), 0)}


@probe("make_masks", "another id for the pads")
def make_masks_other(make_masks, rng):
    pad = int(integers(rng, 1, 9, 1))
    return {"masks": make_masks(_padded(rng, B, S, pad), _padded(rng, B, T, pad), pad)}


@probe("make_masks", "pads in front of the words")
def make_masks_front(make_masks, rng):
    return {"masks": make_masks(_padded(rng, B, S, 0).flip(1), _padded(rng, B, T, 0).flip(1), 0)}


@probe("make_masks", "no pads: all of the source is seen, and of the target what has been")
def make_masks_none(make_masks, rng):
    return {"masks": make_masks(integers(rng, 1, 9, B, S), integers(rng, 1, 9, B, T), 0)}


@probe("make_masks", "one step; more steps in the target than in the source")
def make_masks_short(make_masks, rng):
    one = make_masks(integers(rng, 1, 9, B, 1), integers(rng, 1, 9, B, 1), 0)
    return {"one step": one, "long target": make_masks(_padded(rng, B, T, 0), _padded(rng, B, S, 0), 0)}


@probe("make_masks", "the weights of attention under the masks")
def make_masks_weights(make_masks, rng):
    src_mask, tgt_mask = make_masks(_padded(rng, B, S, 0), _padded(rng, B, T, 0), 0)
    weights = {"encoder": _weights(rng, src_mask, S, S), "decoder to source": _weights(rng, src_mask, T, S)}
    return weights | {"decoder": _weights(rng, tgt_mask, T, T)}


@probe("make_masks", "the result is right, and src and tgt are as they were after the call")
def make_masks_untouched(make_masks, rng):
    src, tgt = _padded(rng, B, S, 0), _padded(rng, B, T, 0)
    return {"masks": make_masks(src, tgt, 0), "src after": src, "tgt after": tgt}


@probe("make_masks", "all sizes the same", weight=0)
def make_masks_same_sizes(make_masks, rng):
    return {"masks": make_masks(_padded(rng, SAME, SAME, 0), _padded(rng, SAME, SAME, 0), 0)}


# ---- 9.5 encoder_layer ----


def _attention(rng: torch.Generator, D: int = D) -> AttentionParams:
    """Weights of the usual size, and biases that show."""
    tensors = [normal(rng, D, D) / math.sqrt(D) for _ in range(4)] + [normal(rng, D) for _ in range(4)]
    return AttentionParams(*tensors)


def _norm(rng: torch.Generator, D: int = D) -> NormParams:
    return NormParams(1 + 0.5 * normal(rng, D), normal(rng, D))


def _small_network(rng: torch.Generator, D: int = D, F: int = D_FF) -> FeedForwardParams:
    W_1, b_1, W_2, b_2 = _network(rng, D, F)
    return FeedForwardParams(W_1 / math.sqrt(D), b_1, W_2 / math.sqrt(F), b_2)


def _encoder(rng: torch.Generator, D: int = D, F: int = D_FF) -> EncoderLayerParams:
    return EncoderLayerParams(_attention(rng, D), _small_network(rng, D, F), _norm(rng, D), _norm(rng, D))


def _real(rng: torch.Generator, rows: int, steps: int) -> Tensor:
    """(rows, 1, 1, steps) True at the real steps."""
    return (_padded(rng, rows, steps, 0) != 0)[:, None, None, :]


def _leaves(params, under: str = "") -> tuple[tuple, dict[str, Tensor]]:
    """The same nested parameters, asking for gradients, and each tensor under its name."""
    named, parts = {}, []
    for name, part in params._asdict().items():
        if isinstance(part, Tensor):
            part = named[f"{under}{name}"] = part.clone().requires_grad_()
        else:
            part, inner = _leaves(part, f"{under}{name}.")
            named |= inner
        parts.append(part)
    return type(params)(*parts), named


def _flat(params) -> tuple:
    """All tensors of nested parameters."""
    return tuple(tensor for part in params for tensor in ([part] if isinstance(part, Tensor) else _flat(part)))


def _drop(rng: torch.Generator, *shape: int):
    """Some entries are dropped, always the same; those that stay are made larger."""
    kept = (torch.rand(*shape, generator=rng) < 0.6) / 0.6
    return lambda x: x * kept


def _with_gradients(rng: torch.Generator, run, params, **inputs: Tensor) -> dict:
    """Gradients of a layer's first result; b_k is left out: nothing depends on it."""
    params, named = _leaves(params)
    named = {name.replace(".", "_"): tensor for name, tensor in named.items() if not name.endswith("b_k")}
    return gradients(rng, _output(run(params)), **inputs, **named)


@probe("encoder_layer", "norm before: no mask")
def encoder_layer_pre(encoder_layer, rng):
    return {"output and weights": encoder_layer(normal(rng, B, S, D), _encoder(rng), HEADS, None, "pre")}


@probe("encoder_layer", "norm after: no mask")
def encoder_layer_post(encoder_layer, rng):
    return {"output and weights": encoder_layer(normal(rng, B, S, D), _encoder(rng), HEADS, None, "post")}


@probe("encoder_layer", "norm before: pads are masked")
def encoder_layer_pre_pads(encoder_layer, rng):
    x, params, mask = normal(rng, B, S, D), _encoder(rng), _real(rng, B, S)
    return {"output and weights": encoder_layer(x, params, HEADS, mask, "pre")}


@probe("encoder_layer", "norm after: pads are masked")
def encoder_layer_post_pads(encoder_layer, rng):
    x, params, mask = normal(rng, B, S, D), _encoder(rng), _real(rng, B, S)
    return {"output and weights": encoder_layer(x, params, HEADS, mask, "post")}


@probe("encoder_layer", "without further arguments: norm before, no mask, nothing dropped")
def encoder_layer_usual(encoder_layer, rng):
    return {"output and weights": encoder_layer(normal(rng, B, S, D), _encoder(rng), HEADS)}


@probe("encoder_layer", "norm before: what is added is dropped in part")
def encoder_layer_pre_drop(encoder_layer, rng):
    x, params, drop = normal(rng, B, S, D), _encoder(rng), _drop(rng, B, S, D)
    return {"output and weights": encoder_layer(x, params, HEADS, None, "pre", drop)}


@probe("encoder_layer", "norm after: what is added is dropped in part")
def encoder_layer_post_drop(encoder_layer, rng):
    x, params, drop = normal(rng, B, S, D), _encoder(rng), _drop(rng, B, S, D)
    return {"output and weights": encoder_layer(x, params, HEADS, None, "post", drop)}


@probe("encoder_layer", "norm before: the result is right and gradients reach x and the parameters")
def encoder_layer_pre_gradients(encoder_layer, rng):
    x, params = leaf(rng, B, S, D), _encoder(rng)
    return _with_gradients(rng, partial(encoder_layer, x, n_heads=HEADS, norm="pre"), params, x=x)


@probe("encoder_layer", "norm after: the result is right and gradients reach x and the parameters")
def encoder_layer_post_gradients(encoder_layer, rng):
    x, params = leaf(rng, B, S, D), _encoder(rng)
    return _with_gradients(rng, partial(encoder_layer, x, n_heads=HEADS, norm="post"), params, x=x)


@probe("encoder_layer", "the result is right, and all arguments are as they were after the call")
def encoder_layer_untouched(encoder_layer, rng):
    x, params, mask = normal(rng, B, S, D), _encoder(rng), _real(rng, B, S)
    results = {norm: encoder_layer(x, params, HEADS, mask, norm) for norm in ("pre", "post")}
    return results | {"x after": x, "parameters after": _flat(params), "mask after": mask}


@probe("encoder_layer", "all sizes the same", weight=0)
def encoder_layer_same_sizes(encoder_layer, rng):
    x, params = normal(rng, SAME, SAME, SAME), _encoder(rng, SAME, SAME)
    mask = torch.ones(SAME, SAME, dtype=torch.bool).tril()
    return {norm: encoder_layer(x, params, SAME, mask, norm) for norm in ("pre", "post")}


# ---- 9.6 decoder_layer ----


def _decoder(rng: torch.Generator, D: int = D, F: int = D_FF) -> DecoderLayerParams:
    norms = [_norm(rng, D) for _ in range(3)]
    return DecoderLayerParams(_attention(rng, D), _attention(rng, D), _small_network(rng, D, F), *norms)


def _pair(rng: torch.Generator, make=normal) -> tuple[Tensor, Tensor]:
    """What the decoder reads, and the memory, which is not as large as if it were normalised."""
    return make(rng, B, T, D), make(rng, B, S, D)


def _masks(rng: torch.Generator, T: int = T, S: int = S) -> tuple[Tensor, Tensor]:
    """tgt_mask, src_mask: causal and without pads, without pads."""
    return _real(rng, B, T) & torch.ones(T, T, dtype=torch.bool).tril(), _real(rng, B, S)


@probe("decoder_layer", "norm before: no masks")
def decoder_layer_pre(decoder_layer, rng):
    return {"output and weights": decoder_layer(*_pair(rng), _decoder(rng), HEADS, None, None, "pre")}


@probe("decoder_layer", "norm after: no masks")
def decoder_layer_post(decoder_layer, rng):
    return {"output and weights": decoder_layer(*_pair(rng), _decoder(rng), HEADS, None, None, "post")}


@probe("decoder_layer", "norm before: the target is masked: later steps and pads")
def decoder_layer_pre_target(decoder_layer, rng):
    pair, params, (tgt_mask, _) = _pair(rng), _decoder(rng), _masks(rng)
    return {"output and weights": decoder_layer(*pair, params, HEADS, tgt_mask, None, "pre")}


@probe("decoder_layer", "norm before: the pads of the source are masked")
def decoder_layer_pre_source(decoder_layer, rng):
    pair, params, (_, src_mask) = _pair(rng), _decoder(rng), _masks(rng)
    return {"output and weights": decoder_layer(*pair, params, HEADS, None, src_mask, "pre")}


@probe("decoder_layer", "norm after: both masks")
def decoder_layer_post_masks(decoder_layer, rng):
    return {"output and weights": decoder_layer(*_pair(rng), _decoder(rng), HEADS, *_masks(rng), "post")}


@probe("decoder_layer", "without further arguments: norm before, no masks, nothing dropped")
def decoder_layer_usual(decoder_layer, rng):
    return {"output and weights": decoder_layer(*_pair(rng), _decoder(rng), HEADS)}


@probe("decoder_layer", "norm before: what is added is dropped in part")
def decoder_layer_pre_drop(decoder_layer, rng):
    pair, params, drop = _pair(rng), _decoder(rng), _drop(rng, B, T, D)
    return {"output and weights": decoder_layer(*pair, params, HEADS, None, None, "pre", drop)}


@probe("decoder_layer", "norm after: what is added is dropped in part")
def decoder_layer_post_drop(decoder_layer, rng):
    pair, params, drop = _pair(rng), _decoder(rng), _drop(rng, B, T, D)
    return {"output and weights": decoder_layer(*pair, params, HEADS, None, None, "post", drop)}


@probe("decoder_layer", "norm before: the result is right and gradients reach y, memory and the parameters")
def decoder_layer_pre_gradients(decoder_layer, rng):
    (y, memory), params = _pair(rng, leaf), _decoder(rng)
    run = partial(decoder_layer, y, memory, n_heads=HEADS, norm="pre")
    return _with_gradients(rng, run, params, y=y, memory=memory)


@probe("decoder_layer", "norm after: the result is right and gradients reach y, memory and the parameters")
def decoder_layer_post_gradients(decoder_layer, rng):
    (y, memory), params = _pair(rng, leaf), _decoder(rng)
    run = partial(decoder_layer, y, memory, n_heads=HEADS, norm="post")
    return _with_gradients(rng, run, params, y=y, memory=memory)


@probe("decoder_layer", "the result is right, and all arguments are as they were after the call")
def decoder_layer_untouched(decoder_layer, rng):
    (y, memory), params, masks = _pair(rng), _decoder(rng), _masks(rng)
    results = {norm: decoder_layer(y, memory, params, HEADS, *masks, norm) for norm in ("pre", "post")}
    return results | {"y after": y, "memory after": memory, "parameters after": _flat(params), "masks after": masks}


def _same(rng: torch.Generator) -> tuple[Tensor, Tensor, DecoderLayerParams, int]:
    return normal(rng, SAME, SAME, SAME), normal(rng, SAME, SAME, SAME), _decoder(rng, SAME, SAME), SAME


@probe("decoder_layer", "all sizes the same, a causal mask", weight=0)
def decoder_layer_same_sizes(decoder_layer, rng):
    arguments, mask = _same(rng), torch.ones(SAME, SAME, dtype=torch.bool).tril()
    real = torch.arange(SAME) < SAME - 1
    return {norm: decoder_layer(*arguments, mask, real, norm) for norm in ("pre", "post")}


@probe("decoder_layer", "all sizes the same, no masks", weight=0)
def decoder_layer_same_sizes_plain(decoder_layer, rng):
    arguments = _same(rng)
    return {norm: decoder_layer(*arguments, None, None, norm) for norm in ("pre", "post")}


# ---- 9.7 embed ----

V = 13


@probe("embed", "as many positions as steps")
def embed_batch(embed, rng):
    return {"vectors": embed(integers(rng, 0, V, B, T), normal(rng, V, D), normal(rng, T, D))}


@probe("embed", "more positions than steps")
def embed_longer(embed, rng):
    return {"vectors": embed(integers(rng, 0, V, B, T), normal(rng, V, D), normal(rng, S, D))}


@probe("embed", "one step; the same word at every step")
def embed_repeated(embed, rng):
    E, P, word = normal(rng, V, D), normal(rng, S, D), int(integers(rng, 0, V, 1))
    one = embed(integers(rng, 0, V, B, 1), E, P)
    return {"one step": one, "one word": embed(torch.full((2, T), word), E, P)}


@probe("embed", "the result is right and gradients reach E and P")
def embed_gradients(embed, rng):
    E, P = leaf(rng, V, D), leaf(rng, S, D)
    return gradients(rng, embed(integers(rng, 0, V, B, T), E, P), E=E, P=P)


@probe("embed", "the result is right, and ids, E and P are as they were after the call")
def embed_untouched(embed, rng):
    ids, E, P = integers(rng, 0, V, B, T), normal(rng, V, D), normal(rng, S, D)
    return {"vectors": embed(ids, E, P), "ids after": ids, "E after": E, "P after": P}


@probe("embed", "one step, and many positions", weight=0)
def embed_one_step(embed, rng):
    return {"vectors": embed(integers(rng, 0, V, B, 1), normal(rng, V, D), normal(rng, S, D))}


@probe("embed", "all sizes the same", weight=0)
def embed_same_sizes(embed, rng):
    return {"vectors": embed(integers(rng, 0, SAME, SAME, SAME), normal(rng, SAME, SAME), normal(rng, 2 * SAME, SAME))}


# ---- 9.8 dropout ----


def _uniform(rng: torch.Generator, *shape: int) -> Tensor:
    return torch.rand(*shape, generator=rng)


@probe("dropout", "in training: a fifth is dropped, and nine tenths are")
def dropout_training(dropout, rng):
    x, u = normal(rng, B, T, D), _uniform(rng, B, T, D)
    return {"p = 0.2": dropout(x, 0.2, True, u), "p = 0.9": dropout(x, 0.9, True, u)}


@probe("dropout", "the same vectors in training and afterwards")
def dropout_afterwards(dropout, rng):
    x, u = normal(rng, T, D), _uniform(rng, T, D)
    return {"in training": dropout(x, 0.3, True, u), "afterwards": dropout(x, 0.3, False, u)}


@probe("dropout", "p is 0, also with a random number of 0; and a random number that is just p")
def dropout_edges(dropout, rng):
    x, u = normal(rng, D), 0.5 + 0.2 * _uniform(rng, D)
    u[[2, 5]], u[7] = 0.25, 0.0
    return {"p = 0": dropout(x, 0.0, True, u), "p = 0.25": dropout(x, 0.25, True, u)}


@probe("dropout", "the result is right and gradients reach x")
def dropout_gradients(dropout, rng):
    x = leaf(rng, B, T, D)
    return gradients(rng, dropout(x, 0.4, True, _uniform(rng, B, T, D)), x=x)


@probe("dropout", "the result is right, and x and u are as they were after the call")
def dropout_untouched(dropout, rng):
    x, u = normal(rng, T, D), _uniform(rng, T, D)
    return {"dropped": dropout(x, 0.6, True, u), "x after": x, "u after": u}


@probe("dropout", "a half is dropped", weight=0)
def dropout_half(dropout, rng):
    return {"dropped": dropout(normal(rng, SAME, SAME), 0.5, True, _uniform(rng, SAME, SAME))}


# ---- 9.9 adam_step ----


def _state(rng: torch.Generator, *shape: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """p, g, m, v as they are in the midst of a training; v is large beside the usual eps."""
    return normal(rng, *shape), normal(rng, *shape), normal(rng, *shape), 0.1 + normal(rng, *shape).square()


def _away_from_zero(rng: torch.Generator, *shape: int) -> Tensor:
    """Numbers of both signs, beside which the usual eps does not count."""
    x = normal(rng, *shape)
    return x + 0.5 * x.sign()


@probe("adam_step", "the first step, from zeros")
def adam_step_first(adam_step, rng):
    p, g, zero = normal(rng, D, T), _away_from_zero(rng, D, T), torch.zeros(D, T)
    return {"p, m, v": adam_step(p, g, zero, zero, 1)}


@probe("adam_step", "a later step, with the usual settings")
def adam_step_later(adam_step, rng):
    return {"p, m, v": adam_step(*_state(rng, D), int(integers(rng, 3, 30, 1)))}


@probe("adam_step", "other settings: step size, both means, eps")
def adam_step_settings(adam_step, rng):
    t = int(integers(rng, 2, 6, 1))
    return {"p, m, v": adam_step(*_state(rng, D), t, lr=0.3, beta_1=0.8, beta_2=0.95, eps=0.1)}


@probe("adam_step", "gradients as small as eps")
def adam_step_small(adam_step, rng):
    p, g, m, v = _state(rng, D)
    return {"p, m, v": adam_step(p, 1e-3 * g, 1e-3 * m, 1e-6 * v, 4, 0.5, 0.9, 0.99, 1e-3)}


@probe("adam_step", "twelve steps down a bowl, with a large eps")
def adam_step_twelve(adam_step, rng):
    p, steep = normal(rng, D), 0.1 + normal(rng, D).square()
    m = v = torch.zeros(D)
    path = []
    for t in range(1, 13):
        p, m, v = adam_step(p, 2 * steep * p, m, v, t, 0.1, eps=0.05)
        path.append(p)
    return {"p after each step": torch.stack(path), "m": m, "v": v}


@probe("adam_step", "the result is right, and p, g, m and v are as they were after the call")
def adam_step_untouched(adam_step, rng):
    p, g, m, v = _state(rng, D)
    result = adam_step(p, g, m, v, 5, 0.1)
    return {"p, m, v": result, "p after": p, "g after": g, "m after": m, "v after": v}


@probe("adam_step", "both means are kept alike", weight=0)
def adam_step_alike(adam_step, rng):
    return {"p, m, v": adam_step(*_state(rng, D), 3, lr=0.3, beta_1=0.5, beta_2=0.5, eps=0.1)}


# ---- 9.10 noam_lr ----


def _rate(noam_lr, step: int, d: int, w: int):
    """The step size, or in words that it divided by zero."""
    try:
        return noam_lr(step, d, w)
    except ZeroDivisionError:
        return "a division by zero"


def _width(rng: torch.Generator) -> int:
    return int(integers(rng, 20, 200, 1))


@probe("noam_lr", "while it warms up")
def noam_lr_rising(noam_lr, rng):
    d, w = _width(rng), int(integers(rng, 100, 400, 1))
    return {f"step {step} of {w}": noam_lr(step, d, w) for step in (1, 2, w // 3, w // 2, w - 1)}


@probe("noam_lr", "afterwards")
def noam_lr_falling(noam_lr, rng):
    d, w = _width(rng), int(integers(rng, 100, 400, 1))
    return {f"step {step} of {w}": noam_lr(step, d, w) for step in (w, w + 1, 2 * w, 4 * w, 30 * w)}


@probe("noam_lr", "step 0, beside step 1 and others")
def noam_lr_zero(noam_lr, rng):
    d, w = _width(rng), int(integers(rng, 3, 40, 1))
    return {f"step {step}": _rate(noam_lr, step, d, w) for step in (0, 1, 2, w)}


@probe("noam_lr", "the widths and the warm-up of the paper")
def noam_lr_paper(noam_lr, rng):
    step = int(integers(rng, 5000, 100_000, 1))
    return {f"width {d}, step {s}": noam_lr(s, d, 4000) for d in (512, 1024) for s in (100, 4000, step)}


@probe("noam_lr", "a width of 1", weight=0)
def noam_lr_one(noam_lr, rng):
    return {f"step {step}": noam_lr(step, 1, 10) for step in (1, 5, 10, 20)}
