"""What the judge asks about the exercises of chapter 7: scores, weights, contexts, a decoder that looks, a soft window.

All sizes differ; the probes of weight 0 use one size in several places, so that a mixed-up axis gives values.
Pads hold random numbers: what reads them shows.
"""

from __future__ import annotations

import torch
from torch import Tensor

from autograder.probe import gradients, integers, leaf, normal, probe
from unrolled.attention import AttentionDecoderParams
from unrolled.gated import GRUParams

B, T, S, H, C, A = 3, 7, 11, 5, 9, 13
SAME = 5  # the one size of the naming probes


def _some(rng: torch.Generator, *shape: int, least: int = 1) -> Tensor:
    """A random mask in which every row has at least ``least`` True and at least one False, at random places."""
    *rows, S = shape
    order = torch.rand(*shape, generator=rng).argsort(dim=-1)  # a permutation in each row
    return order < integers(rng, least, S, *rows, 1)


def _lengths(rng: torch.Generator, S: int, *lengths: int) -> Tensor:
    """The mask of rows that are padded at their ends, in random order."""
    n = torch.tensor(lengths)[torch.randperm(len(lengths), generator=rng)]
    return torch.arange(S) < n[:, None]


def _together(results) -> Tensor:
    """Several results, one row for each row of the batch, for ``gradients``."""
    return torch.cat([result.flatten(1) for result in results], dim=1)


# ---- 7.1 score_dot ----


@probe("score_dot", "several queries, several source steps")
def score_dot_several(score_dot, rng):
    return {"scores": score_dot(normal(rng, B, T, H), normal(rng, B, S, H))}


@probe("score_dot", "one query; one source step")
def score_dot_one(score_dot, rng):
    query = score_dot(normal(rng, B, 1, H), normal(rng, B, S, H))
    return {"one query": query, "one step": score_dot(normal(rng, B, T, H), normal(rng, B, 1, H))}


@probe("score_dot", "the longer a vector, the larger its scores")
def score_dot_longer(score_dot, rng):
    s, h = normal(rng, B, T, H), normal(rng, B, S, H)
    return {"scores": score_dot(s, h), "queries three times as long": score_dot(3 * s, h)}


@probe("score_dot", "the result is right and gradients reach s and h")
def score_dot_gradients(score_dot, rng):
    s, h = leaf(rng, B, T, H), leaf(rng, B, S, H)
    return gradients(rng, score_dot(s, h), s=s, h=h)


@probe("score_dot", "the result is right, and s and h are as they were after the call")
def score_dot_untouched(score_dot, rng):
    s, h = normal(rng, B, T, H), normal(rng, B, S, H)
    return {"scores": score_dot(s, h), "s after": s, "h after": h}


@probe("score_dot", "all sizes the same", weight=0)
def score_dot_same_sizes(score_dot, rng):
    return {"scores": score_dot(normal(rng, SAME, SAME, SAME), normal(rng, SAME, SAME, SAME))}


# ---- 7.2 score_bilinear ----


def _bilinear(rng: torch.Generator, T: int = T, S: int = S, H: int = H, C: int = C, make=normal) -> tuple[Tensor, ...]:
    return make(rng, B, T, H), make(rng, B, S, C), make(rng, H, C)


@probe("score_bilinear", "queries and states of different widths")
def score_bilinear_several(score_bilinear, rng):
    return {"scores": score_bilinear(*_bilinear(rng)), "states narrower": score_bilinear(*_bilinear(rng, H=C, C=H))}


@probe("score_bilinear", "queries and states of one width, and a W that is not symmetric")
def score_bilinear_square(score_bilinear, rng):
    return {"scores": score_bilinear(*_bilinear(rng, C=H))}


@probe("score_bilinear", "one query; one source step")
def score_bilinear_one(score_bilinear, rng):
    return {"one query": score_bilinear(*_bilinear(rng, T=1)), "one step": score_bilinear(*_bilinear(rng, S=1))}


@probe("score_bilinear", "the result is right and gradients reach s, h and W")
def score_bilinear_gradients(score_bilinear, rng):
    s, h, W = _bilinear(rng, make=leaf)
    return gradients(rng, score_bilinear(s, h, W), s=s, h=h, W=W)


@probe("score_bilinear", "the result is right, and s, h and W are as they were after the call")
def score_bilinear_untouched(score_bilinear, rng):
    s, h, W = _bilinear(rng)
    return {"scores": score_bilinear(s, h, W), "s after": s, "h after": h, "W after": W}


@probe("score_bilinear", "all sizes the same", weight=0)
def score_bilinear_same_sizes(score_bilinear, rng):
    s, h, W = normal(rng, SAME, SAME, SAME), normal(rng, SAME, SAME, SAME), normal(rng, SAME, SAME)
    return {"scores": score_bilinear(s, h, W)}


# ---- 7.3 score_additive ----


def _additive(rng: torch.Generator, T=T, S=S, H=H, C=C, A=A, B=B, make=normal) -> dict[str, Tensor]:
    s, h, W, U = make(rng, B, T, H), make(rng, B, S, C), make(rng, A, H), make(rng, A, C)
    return {"s": s, "h": h, "W": W, "U": U, "v": make(rng, A)}


@probe("score_additive", "queries, states and hidden layer of different widths")
def score_additive_several(score_additive, rng):
    return {"scores": score_additive(**_additive(rng)), "wider": score_additive(**_additive(rng, H=C, C=A, A=H))}


@probe("score_additive", "queries, states and hidden layer of one width")
def score_additive_square(score_additive, rng):
    return {"scores": score_additive(**_additive(rng, H=C, A=C))}


@probe("score_additive", "one query; one source step")
def score_additive_one(score_additive, rng):
    return {"one query": score_additive(**_additive(rng, T=1)), "one step": score_additive(**_additive(rng, S=1))}


@probe("score_additive", "the result is right and gradients reach s, h, W, U and v")
def score_additive_gradients(score_additive, rng):
    given = _additive(rng, make=leaf)
    return gradients(rng, score_additive(**given), **given)


@probe("score_additive", "the result is right, and all arguments are as they were after the call")
def score_additive_untouched(score_additive, rng):
    given = _additive(rng)
    return {"scores": score_additive(**given)} | {f"{name} after": tensor for name, tensor in given.items()}


@probe("score_additive", "all sizes the same", weight=0)
def score_additive_same_sizes(score_additive, rng):
    return {"scores": score_additive(**_additive(rng, SAME, SAME, SAME, SAME, SAME, SAME))}


# ---- 7.4 attention_weights ----


def _nothing(rng: torch.Generator) -> tuple[Tensor, Tensor]:
    """Scores and a mask in which two of the queries of each row may attend to nothing."""
    e, mask = normal(rng, B, T, S), _some(rng, B, T, S, least=4)
    for row in mask:
        row[torch.randperm(T, generator=rng)[:2]] = False
    return e, mask


@probe("attention_weights", "no mask")
def attention_weights_plain(attention_weights, rng):
    return {"weights": attention_weights(normal(rng, B, T, S))}


@probe("attention_weights", "a mask for every query and source step")
def attention_weights_mask(attention_weights, rng):
    return {"weights": attention_weights(normal(rng, B, T, S), _some(rng, B, T, S, least=4))}


@probe("attention_weights", "a mask of the source's pads, the same for all queries")
def attention_weights_pads(attention_weights, rng):
    return {"weights": attention_weights(normal(rng, B, T, S), _lengths(rng, S, S, 4, 6)[:, None])}


@probe("attention_weights", "scores without an axis of queries")
def attention_weights_fewer_axes(attention_weights, rng):
    row, alone = normal(rng, B, S), normal(rng, S)
    seen = {"one query a row": attention_weights(row), "one row": attention_weights(alone)}
    return seen | {"masked": attention_weights(row, _some(rng, B, S, least=4))}


@probe("attention_weights", "scores with one more axis")
def attention_weights_more_axes(attention_weights, rng):
    e = normal(rng, B, H, T, S)
    return {"weights": attention_weights(e), "masked": attention_weights(e, _some(rng, B, 1, 1, S, least=4))}


@probe("attention_weights", "scores so large that exp overflows, and the best source steps are masked")
def attention_weights_large(attention_weights, rng):
    e, mask = 900 + normal(rng, B, T, S), _some(rng, B, T, S, least=4)
    lost = torch.randperm(T, generator=rng)[:3]
    e[:, lost] += torch.where(mask[:, lost], -1500, 600)  # these queries may only attend to what fits them badly
    return {"all": attention_weights(e), "masked": attention_weights(e, mask)}


@probe("attention_weights", "a query that may attend to nothing has weights of zero")
def attention_weights_nothing(attention_weights, rng):
    return {"weights": attention_weights(*_nothing(rng))}


@probe("attention_weights", "the result is right and gradients reach e, with a mask and without")
def attention_weights_gradients(attention_weights, rng):
    e, mask = leaf(rng, B, T, S), _some(rng, B, T, S, least=4)
    plain, masked = gradients(rng, attention_weights(e), e=e), gradients(rng, attention_weights(e, mask), e=e)
    return plain | {f"{name}, masked": value for name, value in masked.items()}


@probe("attention_weights", "the result is right and gradients are finite where a query may attend to nothing")
def attention_weights_nothing_gradients(attention_weights, rng):
    e, mask = _nothing(rng)
    return gradients(rng, attention_weights(e.requires_grad_(), mask), e=e)


@probe("attention_weights", "the result is right, and e and mask are as they were after the call")
def attention_weights_untouched(attention_weights, rng):
    e, mask = normal(rng, B, T, S), _some(rng, B, T, S, least=4)
    return {"weights": attention_weights(e, mask), "e after": e, "mask after": mask}


@probe("attention_weights", "as many rows, queries and source steps", weight=0)
def attention_weights_same_sizes(attention_weights, rng):
    e, mask = normal(rng, SAME, SAME, SAME), _some(rng, SAME, SAME, SAME)
    return {"all": attention_weights(e), "masked": attention_weights(e, mask)}


# ---- 7.5 context ----


def _weights(rng: torch.Generator, *shape: int) -> Tensor:
    return (2 * normal(rng, *shape)).softmax(dim=-1)


@probe("context", "several queries")
def context_several(context, rng):
    return {"c": context(_weights(rng, B, T, S), normal(rng, B, S, C))}


@probe("context", "one query; one source step")
def context_one(context, rng):
    query = context(_weights(rng, B, 1, S), normal(rng, B, S, C))
    return {"one query": query, "one step": context(torch.rand(B, T, 1, generator=rng), normal(rng, B, 1, C))}


@probe("context", "weights that do not sum to 1, and rows of zeros")
def context_any_sum(context, rng):
    alpha = 2 * torch.rand(B, T, S, generator=rng)
    alpha[:, integers(rng, 0, T, 1)] = 0
    return {"c": context(alpha, normal(rng, B, S, C))}


@probe("context", "the result is right and gradients reach alpha and h")
def context_gradients(context, rng):
    alpha, h = _weights(rng, B, T, S).requires_grad_(), leaf(rng, B, S, C)
    return gradients(rng, context(alpha, h), alpha=alpha, h=h)


@probe("context", "the result is right, and alpha and h are as they were after the call")
def context_untouched(context, rng):
    alpha, h = _weights(rng, B, T, S), normal(rng, B, S, C)
    return {"c": context(alpha, h), "alpha after": alpha, "h after": h}


@probe("context", "all sizes the same", weight=0)
def context_same_sizes(context, rng):
    return {"c": context(_weights(rng, SAME, SAME, SAME), normal(rng, SAME, SAME, SAME))}


# ---- 7.6 attn_decoder_step ----

E, R, V = 3, 8, 15


def _decoder(rng: torch.Generator, H=H, C=C, E=E, R=R, V=V, leaf: bool = False) -> AttentionDecoderParams:
    """Weights small enough that no gate is shut for good and no tanh is saturated."""

    def weight(scale: float, *shape: int) -> Tensor:
        return (scale * normal(rng, *shape)).requires_grad_(leaf)

    gru = GRUParams(weight(0.5, 3 * H, E + C), weight(0.4, 3 * H, H), weight(0.7, 3 * H), weight(0.7, H))
    W_e, W_a, W_r = weight(1, V, E), weight(0.6, H, C), weight(0.3, R, H + C)
    return AttentionDecoderParams(W_e, gru, W_a, W_r, weight(1, V, R), weight(1, V))


def _asked(rng: torch.Generator, B=B, S=S, H=H, C=C, V=V, make=normal) -> tuple[Tensor, Tensor, Tensor]:
    """The tokens, the states before the step, and the states of the source."""
    return integers(rng, 0, V, B), make(rng, B, H), make(rng, B, S, C)


def _tensors(params: AttentionDecoderParams) -> dict[str, Tensor]:
    """The parameters that a GRU with its reset before the matrix uses, by name."""
    W_e, gru, W_a, W_r, W_hy, b_y = params
    named = {"W_e": W_e, "W_x of gru": gru.W_x, "W_h of gru": gru.W_h, "b of gru": gru.b}
    return named | {"W_a": W_a, "W_r": W_r, "W_hy": W_hy, "b_y": b_y}


@probe("attn_decoder_step", "the scores of the next token")
def attn_decoder_step_logits(attn_decoder_step, rng):
    logits, _, _ = attn_decoder_step(*_asked(rng), _lengths(rng, S, S, 4, 6), _decoder(rng))
    return {"logits": logits}


@probe("attn_decoder_step", "the states after the step")
def attn_decoder_step_state(attn_decoder_step, rng):
    _, s, _ = attn_decoder_step(*_asked(rng), _lengths(rng, S, S, 4, 6), _decoder(rng))
    return {"s": s}


@probe("attn_decoder_step", "the weights of the look")
def attn_decoder_step_weights(attn_decoder_step, rng):
    _, _, alpha = attn_decoder_step(*_asked(rng), _lengths(rng, S, S, 4, 6), _decoder(rng))
    return {"alpha": alpha}


@probe("attn_decoder_step", "no pads")
def attn_decoder_step_full(attn_decoder_step, rng):
    y, s, h = _asked(rng)
    return {"logits, s, alpha": attn_decoder_step(y, s, h, torch.ones(B, S, dtype=torch.bool), _decoder(rng))}


@probe("attn_decoder_step", "one row alone, and pads anywhere")
def attn_decoder_step_alone(attn_decoder_step, rng):
    return {"logits, s, alpha": attn_decoder_step(*_asked(rng, B=1), _some(rng, 1, S), _decoder(rng))}


@probe("attn_decoder_step", "step after step, each from the state of the one before")
def attn_decoder_step_goes_on(attn_decoder_step, rng):
    (y, s, h), mask, params = _asked(rng), _lengths(rng, S, S, 4, 6), _decoder(rng)
    seen = {}
    for step in ("first", "second", "third"):
        logits, s, alpha = attn_decoder_step(y, s, h, mask, params)
        seen[step] = logits, s, alpha
        y = integers(rng, 0, V, B)
    return seen


@probe("attn_decoder_step", "a row without a real source step")
def attn_decoder_step_nothing(attn_decoder_step, rng):
    y, s, h = _asked(rng)
    return {"logits, s, alpha": attn_decoder_step(y, s, h, _lengths(rng, S, 0, 4, 6), _decoder(rng))}


@probe("attn_decoder_step", "the results are right and gradients reach s, h and the parameters")
def attn_decoder_step_gradients(attn_decoder_step, rng):
    (y, s, h), params = _asked(rng, make=leaf), _decoder(rng, leaf=True)
    out = _together(attn_decoder_step(y, s, h, _lengths(rng, S, S, 4, 6), params))
    return gradients(rng, out, s=s, h=h, **_tensors(params))


@probe("attn_decoder_step", "the results are right, and all arguments are as they were after the call")
def attn_decoder_step_untouched(attn_decoder_step, rng):
    (y, s, h), mask, params = _asked(rng), _lengths(rng, S, S, 4, 6), _decoder(rng)
    results = attn_decoder_step(y, s, h, mask, params)
    after = {"y after": y, "s after": s, "h after": h, "mask after": mask}
    return {"logits, s, alpha": results, **after, "parameters after": tuple(_tensors(params).values())}


@probe("attn_decoder_step", "all sizes the same", weight=0)
def attn_decoder_step_same_sizes(attn_decoder_step, rng):
    asked = _asked(rng, SAME, SAME, SAME, SAME, SAME)
    return {"results": attn_decoder_step(*asked, _some(rng, SAME, SAME), _decoder(rng, SAME, SAME, SAME, SAME, SAME))}


@probe("attn_decoder_step", "an embedding of width 1", weight=0)
def attn_decoder_step_narrow(attn_decoder_step, rng):
    return {"results": attn_decoder_step(*_asked(rng), _some(rng, B, S), _decoder(rng, E=1))}


# ---- 7.7 attention_pool ----


@probe("attention_pool", "rows of different lengths")
def attention_pool_lengths(attention_pool, rng):
    return {"c, alpha": attention_pool(normal(rng, B, T, H), normal(rng, H), _lengths(rng, T, T, 2, 4))}


@probe("attention_pool", "the real steps stand anywhere in the row")
def attention_pool_anywhere(attention_pool, rng):
    return {"c, alpha": attention_pool(normal(rng, B, T, H), normal(rng, H), _some(rng, B, T))}


@probe("attention_pool", "no pads; one row alone")
def attention_pool_full(attention_pool, rng):
    real, w = torch.ones(B, T, dtype=torch.bool), normal(rng, H)
    alone = attention_pool(normal(rng, 1, T, H), w, real[:1])
    return {"full": attention_pool(normal(rng, B, T, H), w, real), "alone": alone}


@probe("attention_pool", "large numbers stand at the pads")
def attention_pool_large_pads(attention_pool, rng):
    h, w, mask = normal(rng, B, T, H), normal(rng, H), _lengths(rng, T, 6, 2, 4)
    large = torch.where(mask[..., None], h, 2000 * w / w.square().sum())  # their scores are 2000
    return {"c, alpha": attention_pool(large, w, mask)}


@probe("attention_pool", "a row without a real step is zero")
def attention_pool_empty_row(attention_pool, rng):
    return {"c, alpha": attention_pool(normal(rng, B, T, H), normal(rng, H), _lengths(rng, T, T, 0, 4))}


@probe("attention_pool", "the results are right and gradients are finite: they reach w and h, and none the pads")
def attention_pool_gradients(attention_pool, rng):
    h, w = leaf(rng, B, T, H), leaf(rng, H)
    return gradients(rng, _together(attention_pool(h, w, _lengths(rng, T, 5, 0, 4))), h=h, w=w)


@probe("attention_pool", "the results are right, and h, w and mask are as they were after the call")
def attention_pool_untouched(attention_pool, rng):
    h, w, mask = normal(rng, B, T, H), normal(rng, H), _some(rng, B, T)
    return {"c, alpha": attention_pool(h, w, mask), "h after": h, "w after": w, "mask after": mask}


@probe("attention_pool", "all sizes the same", weight=0)
def attention_pool_same_sizes(attention_pool, rng):
    results = attention_pool(normal(rng, SAME, SAME, SAME), normal(rng, SAME), _some(rng, SAME, SAME))
    return {"c, alpha": results}


# ---- 7.8 image_attention ----

D, ROWS, COLUMNS = 13, 5, 7


def _picture(rng: torch.Generator, rows: int = ROWS, columns: int = COLUMNS, B=B, C=C, D=D, make=normal) -> tuple:
    """Feature maps, queries and a matrix; the scores are neither all alike nor all but one negligible."""
    W_a = (0.3 * normal(rng, D, C)).requires_grad_(make is leaf)
    return make(rng, B, C, rows, columns), make(rng, B, D), W_a


@probe("image_attention", "what is found in a picture that is wider than high, and in one that is higher than wide")
def image_attention_found(image_attention, rng):
    wide, _ = image_attention(*_picture(rng))
    high, _ = image_attention(*_picture(rng, COLUMNS, ROWS))
    return {"wide": wide, "high": high}


@probe("image_attention", "the weights of a picture that is wider than high, and of one that is higher than wide")
def image_attention_weights(image_attention, rng):
    _, wide = image_attention(*_picture(rng))
    _, high = image_attention(*_picture(rng, COLUMNS, ROWS))
    return {"wide": wide, "high": high}


@probe("image_attention", "a square picture: rows are rows and columns are columns")
def image_attention_square(image_attention, rng):
    return {"c, alpha": image_attention(*_picture(rng, ROWS, ROWS))}


@probe("image_attention", "one picture alone")
def image_attention_alone(image_attention, rng):
    return {"c, alpha": image_attention(*_picture(rng, B=1))}


@probe("image_attention", "pictures of one row, of one column, of one place")
def image_attention_thin(image_attention, rng):
    row, column = image_attention(*_picture(rng, 1, COLUMNS)), image_attention(*_picture(rng, ROWS, 1))
    return {"row": row, "column": column, "place": image_attention(*_picture(rng, 1, 1))}


@probe("image_attention", "the results are right and gradients reach feat, s and W_a")
def image_attention_gradients(image_attention, rng):
    feat, s, W_a = _picture(rng, make=leaf)
    return gradients(rng, _together(image_attention(feat, s, W_a)), feat=feat, s=s, W_a=W_a)


@probe("image_attention", "the results are right, and feat, s and W_a are as they were after the call")
def image_attention_untouched(image_attention, rng):
    feat, s, W_a = _picture(rng)
    return {"c, alpha": image_attention(feat, s, W_a), "feat after": feat, "s after": s, "W_a after": W_a}


@probe("image_attention", "all sizes the same", weight=0)
def image_attention_same_sizes(image_attention, rng):
    return {"c, alpha": image_attention(*_picture(rng, SAME, SAME, SAME, SAME, SAME))}


@probe("image_attention", "as many channels as places", weight=0)
def image_attention_channels(image_attention, rng):
    return {"c, alpha": image_attention(*_picture(rng, 2, 3, C=6))}


# ---- 7.9 soft_window ----

M = 5


def _said(rng: torch.Generator, B=B, T=T, M=M, make=normal) -> tuple[Tensor, Tensor, Tensor]:
    """What a network might say: steps of about half a letter, bumps of about one letter."""
    kappa, beta, alpha = (0.5 * make(rng, B, T, M) for _ in range(3))
    return kappa - 0.5, beta - 0.3, alpha


@probe("soft_window", "the weights of the letters")
def soft_window_weights(soft_window, rng):
    phi, _ = soft_window(*_said(rng), torch.zeros(B, M), S)
    return {"phi": phi}


@probe("soft_window", "the places of the bumps")
def soft_window_places(soft_window, rng):
    _, kappa = soft_window(*_said(rng), torch.zeros(B, M), S)
    return {"kappa": kappa}


@probe("soft_window", "one bump; one letter")
def soft_window_one(soft_window, rng):
    bump = soft_window(*_said(rng, M=1), torch.zeros(B, 1), S)
    return {"one bump": bump, "one letter": soft_window(*_said(rng), torch.zeros(B, M), 1)}


@probe("soft_window", "going on from a place: two calls are one")
def soft_window_goes_on(soft_window, rng):
    numbers, kappa0 = _said(rng), 3 * torch.rand(B, M, generator=rng)
    first, kappa = soft_window(*(part[:, :4] for part in numbers), kappa0, S)
    return {"first": first, "rest": soft_window(*(part[:, 4:] for part in numbers), kappa[:, -1], S)}


@probe("soft_window", "large steps: the bumps leave the text")
def soft_window_leaves(soft_window, rng):
    kappa_hat, beta_hat, alpha_hat = _said(rng)
    return {"phi, kappa": soft_window(kappa_hat + 2, beta_hat, alpha_hat, torch.zeros(B, M), S)}


@probe("soft_window", "the results are right and gradients reach the three numbers and kappa0")
def soft_window_gradients(soft_window, rng):
    kappa_hat, beta_hat, alpha_hat = (part.detach().requires_grad_() for part in _said(rng))
    kappa0 = torch.rand(B, M, generator=rng).requires_grad_()
    out = _together(soft_window(kappa_hat, beta_hat, alpha_hat, kappa0, S))
    return gradients(rng, out, kappa_hat=kappa_hat, beta_hat=beta_hat, alpha_hat=alpha_hat, kappa0=kappa0)


@probe("soft_window", "the results are right, and the arguments are as they were after the call")
def soft_window_untouched(soft_window, rng):
    numbers, kappa0 = _said(rng), torch.rand(B, M, generator=rng)
    return {"phi, kappa": soft_window(*numbers, kappa0, S), "numbers after": numbers, "kappa0 after": kappa0}


@probe("soft_window", "all sizes the same", weight=0)
def soft_window_same_sizes(soft_window, rng):
    numbers = _said(rng, SAME, SAME, SAME)
    return {"phi, kappa": soft_window(*numbers, torch.rand(SAME, SAME, generator=rng), SAME)}
