"""What the judge asks about the exercises of chapter 8: attention, heads, masks, costs, permutations.

All sizes differ; the probes of weight 0 use one size everywhere, so that a mixed-up axis gives values.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from autograder.probe import gradients, integers, leaf, normal, probe
from unrolled.self_attention import AttentionParams

B, N, T, S, K, K_V = 3, 5, 7, 11, 13, 9
SAME = 5  # the one size of the naming probes


def _some(rng: torch.Generator, *shape: int) -> Tensor:
    """A random mask in which every row has at least one True and at least one False, at random places."""
    *rows, S = shape
    order = torch.rand(*shape, generator=rng).argsort(dim=-1)  # a permutation in each row
    return order < integers(rng, 1, S, *rows, 1)


def _output(result) -> Tensor:
    """The first of two results; the result itself if there is only one."""
    return result[0] if isinstance(result, (tuple, list)) else result


# ---- 8.1 scaled_dot_product_attention ----


def _qkv(rng: torch.Generator, *leading: int, make=normal) -> tuple[Tensor, Tensor, Tensor]:
    return make(rng, *leading, T, K), make(rng, *leading, S, K), make(rng, *leading, S, K_V)


def _nothing(rng: torch.Generator) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Two of the queries may attend to nothing, the others to one key each.

    The two are zero, so that all keys fit them alike; and with one key the size of a score makes no difference.
    One of the others has the key of its own number, another the same key, and another the last one.
    """
    (q, k, v), order, key = _qkv(rng, B), torch.randperm(T, generator=rng), integers(rng, 0, S, T)
    lost, (own, same, last) = order[:2], order[2:5].tolist()
    key[own], key[same], key[last] = own, own, S - 1
    mask = torch.arange(S) == key[:, None]
    q[:, lost], mask[lost] = 0, False
    return q, k, v, mask


@probe("scaled_dot_product_attention", "no mask, batch and heads")
def scaled_dot_product_attention_plain(scaled_dot_product_attention, rng):
    return {"output and weights": scaled_dot_product_attention(*_qkv(rng, B, N))}


@probe("scaled_dot_product_attention", "one sequence looks things up in itself, its own step included")
def scaled_dot_product_attention_itself(scaled_dot_product_attention, rng):
    q, k, v = normal(rng, T, K), normal(rng, T, K), normal(rng, T, K_V)
    return {"output and weights": scaled_dot_product_attention(q, k, v)}


@probe("scaled_dot_product_attention", "one query, one key")
def scaled_dot_product_attention_one(scaled_dot_product_attention, rng):
    query = scaled_dot_product_attention(normal(rng, B, 1, K), normal(rng, B, S, K), normal(rng, B, S, K_V))
    key = scaled_dot_product_attention(normal(rng, B, T, K), normal(rng, B, 1, K), normal(rng, B, 1, K_V))
    return {"one query": query, "one key": key}


@probe("scaled_dot_product_attention", "a mask for every query and key")
def scaled_dot_product_attention_mask(scaled_dot_product_attention, rng):
    return {"output and weights": scaled_dot_product_attention(*_qkv(rng, B, N), _some(rng, B, N, T, S))}


@probe("scaled_dot_product_attention", "a mask of pads, the same for all heads and queries")
def scaled_dot_product_attention_pads(scaled_dot_product_attention, rng):
    return {"output and weights": scaled_dot_product_attention(*_qkv(rng, B, N), _some(rng, B, 1, 1, S))}


@probe("scaled_dot_product_attention", "a causal mask, the same for the whole batch")
def scaled_dot_product_attention_causal(scaled_dot_product_attention, rng):
    q, k, v = normal(rng, B, T, K), normal(rng, B, T, K), normal(rng, B, T, K_V)
    mask = torch.ones(T, T, dtype=torch.bool).tril()
    return {"output and weights": scaled_dot_product_attention(q, k, v, mask)}


@probe("scaled_dot_product_attention", "scores so large that exp overflows, and the best keys are masked")
def scaled_dot_product_attention_large(scaled_dot_product_attention, rng):
    q, k, v = _qkv(rng)
    mask, (good, bad) = _some(rng, T, S), torch.randperm(S, generator=rng)[:2].tolist()
    unit = q[0] * math.sqrt(K) / q[0].square().sum()  # a key that scores 1 with the first query
    k[good], k[bad] = 1500 * unit, -600 * unit
    mask[0] = torch.arange(S) == bad
    masked = scaled_dot_product_attention(q, k, v, mask)
    return {"masked": masked, "all": scaled_dot_product_attention(q, k, v)}


@probe("scaled_dot_product_attention", "a query that may attend to nothing: zeros, or what a large finite fill leaves")
def scaled_dot_product_attention_nothing(scaled_dot_product_attention, rng):
    q, k, v, mask = _nothing(rng)
    return {"output and weights": scaled_dot_product_attention(q, k, v, mask)}


@probe("scaled_dot_product_attention", "the result is right and gradients reach q, k and v, with a mask and without")
def scaled_dot_product_attention_gradients(scaled_dot_product_attention, rng):
    q, k, v = _qkv(rng, B, make=leaf)
    plain = gradients(rng, _output(scaled_dot_product_attention(q, k, v)), q=q, k=k, v=v)
    masked = gradients(rng, _output(scaled_dot_product_attention(q, k, v, _some(rng, T, S))), q=q, k=k, v=v)
    return plain | {f"{name}, masked": value for name, value in masked.items()}


@probe("scaled_dot_product_attention", "the result is right and gradients are finite where a query attends to nothing")
def scaled_dot_product_attention_nothing_gradients(scaled_dot_product_attention, rng):
    q, k, v, mask = _nothing(rng)
    inputs = {"q": q.requires_grad_(), "k": k.requires_grad_(), "v": v.requires_grad_()}
    return gradients(rng, _output(scaled_dot_product_attention(q, k, v, mask)), **inputs)


@probe("scaled_dot_product_attention", "the result is right, and q, k, v and mask are as they were after the call")
def scaled_dot_product_attention_untouched(scaled_dot_product_attention, rng):
    (q, k, v), mask = _qkv(rng, B), _some(rng, B, T, S)
    result = scaled_dot_product_attention(q, k, v, mask)
    return {"output and weights": result, "q after": q, "k after": k, "v after": v, "mask after": mask}


@probe("scaled_dot_product_attention", "all sizes the same", weight=0)
def scaled_dot_product_attention_same_sizes(scaled_dot_product_attention, rng):
    q, k, v = (normal(rng, SAME, SAME, SAME) for _ in range(3))
    masked = scaled_dot_product_attention(q, k, v, _some(rng, SAME, SAME))
    return {"all": scaled_dot_product_attention(q, k, v), "masked": masked}


@probe("scaled_dot_product_attention", "all sizes the same, without a mask", weight=0)
def scaled_dot_product_attention_same_sizes_plain(scaled_dot_product_attention, rng):
    q, k, v = (normal(rng, SAME, SAME, SAME) for _ in range(3))
    return {"output and weights": scaled_dot_product_attention(q, k, v)}


# ---- 8.2 split_heads, merge_heads ----


@probe("split_heads", "split_heads: several heads")
def split_heads_several(split_heads, rng):
    return {"three heads": split_heads(normal(rng, B, T, 15), 3), "five heads": split_heads(normal(rng, B, T, 35), 5)}


@probe("split_heads", "split_heads: one head; heads of width 1")
def split_heads_extremes(split_heads, rng):
    return {"one head": split_heads(normal(rng, B, T, 5), 1), "width 1": split_heads(normal(rng, B, T, 5), 5)}


@probe("split_heads", "split_heads: the result is right, x may be a transposed view, and x is as it was after the call")
def split_heads_untouched(split_heads, rng):
    x = normal(rng, T, B, 15).transpose(0, 1)
    return {"heads": split_heads(x, 3), "x after": x}


@probe("split_heads", "split_heads: the result is right and gradients reach x")
def split_heads_gradients(split_heads, rng):
    x = leaf(rng, B, T, 15)
    return gradients(rng, split_heads(x, 3), x=x)


@probe("split_heads", "merge_heads: several heads")
def split_heads_merge_several(merge_heads, rng):
    return {"three heads": merge_heads(normal(rng, B, 3, T, 5)), "five heads": merge_heads(normal(rng, B, 5, T, 9))}


@probe("split_heads", "merge_heads: one head; heads of width 1")
def split_heads_merge_extremes(merge_heads, rng):
    return {"one head": merge_heads(normal(rng, B, 1, T, 5)), "width 1": merge_heads(normal(rng, B, 5, T, 1))}


@probe("split_heads", "merge_heads: the result is right, x may be a transposed view, and x is as it was after the call")
def split_heads_merge_untouched(merge_heads, rng):
    x = normal(rng, B, T, 3, 5).transpose(1, 2)
    return {"merged": merge_heads(x), "x after": x}


@probe("split_heads", "merge_heads: the result is right and gradients reach x")
def split_heads_merge_gradients(merge_heads, rng):
    x = leaf(rng, B, 3, T, 5)
    return gradients(rng, merge_heads(x), x=x)


@probe("split_heads", "split_heads: all sizes the same", weight=0)
def split_heads_same_sizes(split_heads, rng):
    return {"heads": split_heads(normal(rng, SAME, SAME, SAME * SAME), SAME)}


@probe("split_heads", "merge_heads: all sizes the same", weight=0)
def split_heads_merge_same_sizes(merge_heads, rng):
    return {"merged": merge_heads(normal(rng, SAME, SAME, SAME, SAME))}


# ---- 8.3 multi_head_attention ----

D, HEADS = 15, 3  # heads of width 5


def _params(rng: torch.Generator, D: int = D, make=normal) -> AttentionParams:
    """Weights of the usual size, and biases that show."""
    tensors = [make(rng, *shape) for shape in [(D, D)] * 4 + [(D,)] * 4]
    return AttentionParams(*tensors) if make is leaf else AttentionParams(*(t / math.sqrt(D) for t in tensors))


@probe("multi_head_attention", "self-attention")
def multi_head_attention_itself(multi_head_attention, rng):
    x = normal(rng, B, T, D)
    return {"output and weights": multi_head_attention(x, x, _params(rng), HEADS)}


@probe("multi_head_attention", "one sequence asks another of another length")
def multi_head_attention_memory(multi_head_attention, rng):
    x, memory = normal(rng, B, T, D), normal(rng, B, S, D)
    return {"output and weights": multi_head_attention(x, memory, _params(rng), HEADS)}


@probe("multi_head_attention", "one head; as many heads as features")
def multi_head_attention_extremes(multi_head_attention, rng):
    x, params = normal(rng, B, T, D), _params(rng)
    return {"one": multi_head_attention(x, x, params, 1), "many": multi_head_attention(x, x, params, D)}


@probe("multi_head_attention", "a causal mask, the same for the whole batch")
def multi_head_attention_causal(multi_head_attention, rng):
    x, mask = normal(rng, B, T, D), torch.ones(T, T, dtype=torch.bool).tril()
    return {"output and weights": multi_head_attention(x, x, _params(rng), HEADS, mask)}


@probe("multi_head_attention", "a mask of the memory's pads")
def multi_head_attention_pads(multi_head_attention, rng):
    x, memory, mask = normal(rng, B, T, D), normal(rng, B, S, D), _some(rng, B, 1, 1, S)
    return {"output and weights": multi_head_attention(x, memory, _params(rng), HEADS, mask)}


@probe("multi_head_attention", "a mask of its own for every head")
def multi_head_attention_mask(multi_head_attention, rng):
    x, memory, mask = normal(rng, B, T, D), normal(rng, B, S, D), _some(rng, B, HEADS, T, S)
    return {"output and weights": multi_head_attention(x, memory, _params(rng), HEADS, mask)}


@probe("multi_head_attention", "the result is right and gradients reach x, memory and the parameters")
def multi_head_attention_gradients(multi_head_attention, rng):
    x, memory, params = leaf(rng, B, T, D), leaf(rng, B, S, D), _params(rng, make=leaf)
    small = AttentionParams(*(tensor / math.sqrt(D) for tensor in params))
    out = _output(multi_head_attention(x, memory, small, HEADS))
    named = {name: tensor for name, tensor in params._asdict().items() if name != "b_k"}  # nothing depends on b_k
    return gradients(rng, out, x=x, memory=memory, **named)


@probe("multi_head_attention", "the result is right, and all arguments are as they were after the call")
def multi_head_attention_untouched(multi_head_attention, rng):
    x, memory, params, mask = normal(rng, B, T, D), normal(rng, B, S, D), _params(rng), _some(rng, T, S)
    result = multi_head_attention(x, memory, params, HEADS, mask)
    after = {"x after": x, "memory after": memory, "parameters after": tuple(params), "mask after": mask}
    return {"output and weights": result} | after


@probe("multi_head_attention", "as many rows, steps and heads as a head is wide", weight=0)
def multi_head_attention_same_sizes(multi_head_attention, rng):
    x, memory, params = normal(rng, 4, 4, 16), normal(rng, 4, 4, 16), _params(rng, 16)
    masked = multi_head_attention(x, memory, params, 4, _some(rng, 4, 4))
    return {"all": multi_head_attention(x, memory, params, 4), "masked": masked}


@probe("multi_head_attention", "as many steps as features, without a mask", weight=0)
def multi_head_attention_square(multi_head_attention, rng):
    x, memory, params = normal(rng, 4, 4, 4), normal(rng, 4, 4, 4), _params(rng, 4)
    return {"output and weights": multi_head_attention(x, memory, params, 2)}


# ---- 8.4 causal_mask ----


@probe("causal_mask", "several steps")
def causal_mask_several(causal_mask, rng):
    return {f"mask of {T}": causal_mask(T) for T in (3, int(integers(rng, 4, 9, 1)), 11)}


@probe("causal_mask", "one step may attend to itself")
def causal_mask_one(causal_mask, rng):
    return {"mask": causal_mask(1)}


@probe("causal_mask", "weights under the mask: nothing comes from later steps, and no step is left with nothing")
def causal_mask_weights(causal_mask, rng):
    scores = normal(rng, B, T, T)
    return {"weights": torch.where(causal_mask(T), scores, -math.inf).softmax(dim=-1)}


@probe("causal_mask", "two steps", weight=0)
def causal_mask_two(causal_mask, rng):
    return {"mask": causal_mask(2)}


# ---- 8.5 flops ----


def _sizes(rng: torch.Generator) -> list[tuple[int, int, int]]:
    """A short sequence of wide vectors and a long one of narrow vectors, with kernels of two widths."""
    small, large, k = (int(integers(rng, low, high, 1)) for low, high in ((11, 40), (50, 200), (3, 7)))
    return [(small, large, k), (large, small, k + 4)]


def _counted(flops, kind: str, rng: torch.Generator) -> dict:
    return {f"L={L}, d={d}, k={k}": flops(kind, L, d, k) for L, d, k in _sizes(rng)}


@probe("flops", "attention: scores and weighted sums")
def flops_attention(flops, rng):
    return _counted(flops, "attention", rng)


@probe("flops", "attention with its projections")
def flops_projections(flops, rng):
    return _counted(flops, "attention+projections", rng)


@probe("flops", "a convolution")
def flops_convolution(flops, rng):
    return _counted(flops, "convolution", rng)


@probe("flops", "a plain recurrent layer")
def flops_rnn(flops, rng):
    return _counted(flops, "rnn", rng)


@probe("flops", "a GRU")
def flops_gru(flops, rng):
    return _counted(flops, "gru", rng)


@probe("flops", "an LSTM")
def flops_lstm(flops, rng):
    return _counted(flops, "lstm", rng)


@probe("flops", "length, width and kernel are 1", weight=0)
def flops_ones(flops, rng):
    kinds = ("attention", "attention+projections", "convolution", "rnn", "gru", "lstm")
    return {kind: flops(kind, 1, 1, 1) for kind in kinds}


# ---- 8.6 permutation_gap ----


def _three_cycle(rng: torch.Generator, T: int) -> Tensor:
    """Three random steps change places in a ring, all others stay."""
    perm, ring = torch.arange(T), torch.randperm(T, generator=rng)[:3]
    perm[ring] = ring.roll(1)
    return perm


def _whole_cycle(rng: torch.Generator, T: int) -> Tensor:
    """All steps change places in one ring."""
    perm, ring = torch.arange(T), torch.randperm(T, generator=rng)
    perm[ring] = ring.roll(1)
    return perm


def _mixes_time(rng: torch.Generator, T: int):
    """Every step is another random sum of all steps: linear, and far from equivariant."""
    M = normal(rng, T, T)
    return lambda x: M @ x


def _rows(rng: torch.Generator) -> Tensor:
    """Sequences of very different sizes; the last one has the largest numbers."""
    return normal(rng, B, T, K) * torch.tensor([1e-3, 1.0, 1e3])[:, None, None]


def _gaps(permutation_gap, f, x: Tensor, perm: Tensor) -> dict:
    """The gap of f and that of -f: the same number, wherever the signs fall."""
    return {"gap": permutation_gap(f, x, perm), "gap of -f": permutation_gap(lambda x: -f(x), x, perm)}


@probe("permutation_gap", "three steps in a ring, and a layer that knows positions")
def permutation_gap_three(permutation_gap, rng):
    alone = permutation_gap(_mixes_time(rng, 3), _rows(rng)[:, :3], _three_cycle(rng, 3))
    return _gaps(permutation_gap, _mixes_time(rng, T), _rows(rng), _three_cycle(rng, T)) | {"no other steps": alone}


@probe("permutation_gap", "all steps in a ring, and a layer that changes the width")
def permutation_gap_all(permutation_gap, rng):
    mix, W = _mixes_time(rng, T), normal(rng, K, K_V)
    return _gaps(permutation_gap, lambda x: mix(x) @ W, _rows(rng), _whole_cycle(rng, T))


@probe("permutation_gap", "an equivariant layer has no gap; with positions added it has one")
def permutation_gap_equivariant(permutation_gap, rng):
    def attend(x):
        return torch.softmax(x @ x.mT, dim=-1) @ x

    x, perm = normal(rng, B, T, K), _whole_cycle(rng, T)
    positions = normal(rng, T, K) * torch.arange(B)[:, None, None]  # none in the first sequence
    without = permutation_gap(attend, x, perm)
    return {"without positions": without} | _gaps(permutation_gap, lambda x: attend(x + positions), x, perm)


@probe("permutation_gap", "the result is right, and x and perm are as they were after the call")
def permutation_gap_untouched(permutation_gap, rng):
    f, x, perm = _mixes_time(rng, T), _rows(rng), _whole_cycle(rng, T)
    return _gaps(permutation_gap, f, x, perm) | {"x after": x, "perm after": perm}


@probe("permutation_gap", "all sizes the same", weight=0)
def permutation_gap_same_sizes(permutation_gap, rng):
    f, x = _mixes_time(rng, SAME), normal(rng, SAME, SAME, SAME)
    return {"gap": permutation_gap(f, x, _whole_cycle(rng, SAME))}
