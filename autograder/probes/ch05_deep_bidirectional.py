"""What the judge asks about the exercises of chapter 5: layers, directions, padding, pooling, spans.

All sizes differ and are odd; the probes of weight 0 use one size everywhere, so that a mixed-up axis gives values.
Pads hold random numbers: what reads them shows.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from autograder.probe import gradients, integers, leaf, normal, probe
from unrolled.recurrent import RNNParams

B, E, T, H, H_B = 5, 7, 9, 11, 3
SAME = 5  # the one size of the naming probes


def _rnn(rng: torch.Generator, E: int = E, H: int = H, leaf: bool = False, phi=torch.tanh) -> RNNParams:
    """Weights small enough that the past shows and no unit is stuck, and a bias."""
    shapes = (0.5, (H, E)), (0.4, (H, H)), (0.7, (H,))
    return RNNParams(*((scale * normal(rng, *shape)).requires_grad_(leaf) for scale, shape in shapes), phi)


def _lengths(rng: torch.Generator, *lengths: int) -> Tensor:
    """The lengths in random order: (B,) int64."""
    return torch.tensor(lengths)[torch.randperm(len(lengths), generator=rng)]


def _named(**layers: RNNParams) -> dict[str, Tensor]:
    """The tensors of several layers under names of their own, for ``gradients``."""
    return {f"{name} of {layer}": getattr(p, name) for layer, p in layers.items() for name in ("W_xh", "W_hh", "b")}


def _tensors(*layers: RNNParams) -> tuple[Tensor, ...]:
    return tuple(tensor for params in layers for tensor in params[:3])


def _quarters(rng: torch.Generator, *shape: int) -> Tensor:
    """Random quarters in float32: over three steps and two linear layers all sums of products are exact."""
    return (4 * normal(rng, *shape)).round().float() / 4


def _float32_rnn(rng: torch.Generator, E: int, H: int) -> RNNParams:
    """A linear layer in float32, whatever torch's default number type is."""
    return RNNParams(_quarters(rng, H, E), _quarters(rng, H, H), _quarters(rng, H), phi=lambda a: a)


def _with_dtype(network: Callable[..., Tensor], *arguments) -> dict:
    """The output and its number type; a text if number types are mixed."""
    try:
        out = network(*arguments)
    except RuntimeError as error:
        if "dtype" not in str(error):
            raise
        return {"output": "an error: two number types were mixed", "number type": None}
    return {"output": out, "number type": str(getattr(out, "dtype", None))}


# ---- 5.1 stack ----


@probe("stack", "two layers")
def stack_two(stack, rng):
    return {"output": stack([_rnn(rng), _rnn(rng, H, H_B)], normal(rng, B, T, E))}


@probe("stack", "three layers of different widths")
def stack_three(stack, rng):
    return {"output": stack([_rnn(rng), _rnn(rng, H, H_B), _rnn(rng, H_B, 13)], normal(rng, B, T, E))}


@probe("stack", "one layer is chapter 1's network")
def stack_one(stack, rng):
    return {"output": stack([_rnn(rng)], normal(rng, B, T, E))}


@probe("stack", "one sequence, one step")
def stack_one_step(stack, rng):
    return {"output": stack([_rnn(rng), _rnn(rng, H, H_B)], normal(rng, 1, 1, E))}


@probe("stack", "the states have the number type of x, whatever torch's default is")
def stack_dtype(stack, rng):
    return _with_dtype(stack, [_float32_rnn(rng, 7, 5), _float32_rnn(rng, 5, 3)], _quarters(rng, 4, 3, 7))


@probe("stack", "each layer has its own nonlinearity")
def stack_phi(stack, rng):
    layers = [_rnn(rng, phi=torch.relu), _rnn(rng, H, H_B, phi=torch.sin), _rnn(rng, H_B, 13)]
    return {"output": stack(layers, normal(rng, B, T, E))}


@probe("stack", "the result is right and gradients reach x and the parameters of all layers")
def stack_gradients(stack, rng):
    low, top, x = _rnn(rng, leaf=True), _rnn(rng, H, H_B, leaf=True), leaf(rng, B, T, E)
    return gradients(rng, stack([low, top], x), x=x, **_named(low=low, top=top))


@probe("stack", "the result is right, and x, the list and the parameters are as they were after the call")
def stack_untouched(stack, rng):
    layers, x = [_rnn(rng), _rnn(rng, H, H_B)], normal(rng, B, T, E)
    out = stack(layers, x)
    return {"output": out, "x after": x, "layers after": len(layers), "parameters after": _tensors(*layers)}


@probe("stack", "all sizes the same", weight=0)
def stack_same_sizes(stack, rng):
    layers = [_rnn(rng, SAME, SAME) for _ in range(3)]
    return {"output": stack(layers, normal(rng, SAME, SAME, SAME))}


# ---- 5.2 birnn ----


@probe("birnn", "rows of different lengths")
def birnn_lengths(birnn, rng):
    return {"output": birnn(normal(rng, B, T, E), _lengths(rng, 9, 1, 4, 7, 2), _rnn(rng), _rnn(rng, H=H_B))}


@probe("birnn", "rows of full length; one row alone")
def birnn_full(birnn, rng):
    full = birnn(normal(rng, B, T, E), torch.full((B,), T), _rnn(rng), _rnn(rng, H=H_B))
    return {"full": full, "alone": birnn(normal(rng, 1, T, E), torch.tensor([T]), _rnn(rng), _rnn(rng, H=H_B))}


@probe("birnn", "no row is as long as the batch is wide: the width stays")
def birnn_all_short(birnn, rng):
    return {"output": birnn(normal(rng, B, T, E), _lengths(rng, 3, 5, 2, 6, 6), _rnn(rng), _rnn(rng, H=H_B))}


@probe("birnn", "what stands in the pads does not matter")
def birnn_pads(birnn, rng):
    x, lengths, f, b = normal(rng, B, T, E), _lengths(rng, 9, 3, 4, 6, 2), _rnn(rng), _rnn(rng, H=H_B)
    pads = torch.arange(T) >= lengths[:, None]
    other = torch.where(pads[..., None], 3 * normal(rng, B, T, E), x)
    return {"output": birnn(x, lengths, f, b), "with other pads": birnn(other, lengths, f, b)}


@probe("birnn", "the states have the number type of x, whatever torch's default is")
def birnn_dtype(birnn, rng):
    f, b = _float32_rnn(rng, 7, 5), _float32_rnn(rng, 7, 2)
    return _with_dtype(birnn, _quarters(rng, 4, 3, 7), _lengths(rng, 3, 1, 2, 2), f, b)


@probe("birnn", "the result is right and gradients reach x, none its pads, and the parameters of both directions")
def birnn_gradients(birnn, rng):
    f, b, x = _rnn(rng, leaf=True), _rnn(rng, H=H_B, leaf=True), leaf(rng, B, T, E)
    return gradients(rng, birnn(x, _lengths(rng, 9, 1, 4, 7, 2), f, b), x=x, **_named(f=f, b=b))


@probe("birnn", "the result is right, and x, lengths and the parameters are as they were after the call")
def birnn_untouched(birnn, rng):
    x, lengths, f, b = normal(rng, B, T, E), _lengths(rng, 9, 3, 4, 6, 2), _rnn(rng), _rnn(rng, H=H_B)
    out = birnn(x, lengths, f, b)
    return {"output": out, "x after": x, "lengths after": lengths, "parameters after": _tensors(f, b)}


@probe("birnn", "all sizes the same", weight=0)
def birnn_same_sizes(birnn, rng):
    x, f, b = normal(rng, SAME, SAME, SAME), _rnn(rng, SAME, SAME), _rnn(rng, SAME, SAME)
    return {"output": birnn(x, _lengths(rng, 5, 1, 3, 4, 2), f, b)}


@probe("birnn", "all sizes the same, full rows", weight=0)
def birnn_same_sizes_full(birnn, rng):
    x, f, b = normal(rng, SAME, SAME, SAME), _rnn(rng, SAME, SAME), _rnn(rng, SAME, SAME)
    return {"output": birnn(x, torch.full((SAME,), SAME), f, b)}


# ---- 5.3 deep_birnn ----


def _pair(rng: torch.Generator, E: int = E, H: int = H, H_B: int = H_B, leaf: bool = False):
    """A layer: the parameters of both directions, which read the same E."""
    return _rnn(rng, E, H, leaf), _rnn(rng, E, H_B, leaf)


@probe("deep_birnn", "two layers")
def deep_birnn_two(deep_birnn, rng):
    layers = [_pair(rng), _pair(rng, H + H_B, 5, 13)]
    return {"output": deep_birnn(normal(rng, B, T, E), _lengths(rng, 9, 1, 4, 7, 2), layers)}


@probe("deep_birnn", "three layers")
def deep_birnn_three(deep_birnn, rng):
    layers = [_pair(rng), _pair(rng, H + H_B, 5, 13), _pair(rng, 18, 3, 1)]
    return {"output": deep_birnn(normal(rng, B, T, E), _lengths(rng, 9, 1, 4, 7, 2), layers)}


@probe("deep_birnn", "one layer is birnn")
def deep_birnn_one(deep_birnn, rng):
    return {"output": deep_birnn(normal(rng, B, T, E), _lengths(rng, 9, 1, 4, 7, 2), [_pair(rng)])}


@probe("deep_birnn", "what stands in the pads does not matter")
def deep_birnn_pads(deep_birnn, rng):
    x, lengths, layers = normal(rng, B, T, E), _lengths(rng, 8, 3, 4, 6, 2), [_pair(rng), _pair(rng, H + H_B, 5, 13)]
    pads = torch.arange(T) >= lengths[:, None]
    other = torch.where(pads[..., None], 3 * normal(rng, B, T, E), x)
    return {"output": deep_birnn(x, lengths, layers), "with other pads": deep_birnn(other, lengths, layers)}


@probe("deep_birnn", "the result is right and gradients reach x and the parameters of all layers")
def deep_birnn_gradients(deep_birnn, rng):
    (f1, b1), (f2, b2) = layers = [_pair(rng, leaf=True), _pair(rng, H + H_B, 5, 13, leaf=True)]
    x = leaf(rng, B, T, E)
    out = deep_birnn(x, _lengths(rng, 9, 1, 4, 7, 2), layers)
    return gradients(rng, out, x=x, **_named(f1=f1, b1=b1, f2=f2, b2=b2))


@probe("deep_birnn", "the result is right, and x, lengths, the list and the parameters are as they were after the call")
def deep_birnn_untouched(deep_birnn, rng):
    (f1, b1), (f2, b2) = layers = [_pair(rng), _pair(rng, H + H_B, 5, 13)]
    x, lengths = normal(rng, B, T, E), _lengths(rng, 9, 3, 4, 6, 2)
    out = deep_birnn(x, lengths, layers)
    after = {"x after": x, "lengths after": lengths, "parameters after": _tensors(f1, b1, f2, b2)}
    return {"output": out, "layers after": len(layers)} | after


@probe("deep_birnn", "inputs as wide as both directions together", weight=0)
def deep_birnn_same_sizes(deep_birnn, rng):
    layers = [_pair(rng, 6, 3, 3) for _ in range(3)]
    return {"output": deep_birnn(normal(rng, 6, 6, 6), _lengths(rng, 6, 1, 3, 4, 2, 5), layers)}


@probe("deep_birnn", "full rows, and upper layers that fit one direction only", weight=0)
def deep_birnn_one_direction(deep_birnn, rng):
    layers, x = [_pair(rng, SAME, SAME, SAME) for _ in range(2)], normal(rng, SAME, SAME, SAME)
    try:
        return {"output": deep_birnn(x, torch.full((SAME,), SAME), layers)}
    except RuntimeError:
        return {"output": "the widths do not fit"}


# ---- 5.4 bi_summary ----


def _within(bi_summary, out: Tensor, lengths: Tensor) -> Tensor | str:
    """The summary, or a text if it looks for a step behind the last: torch raises one of two errors then."""
    try:
        return bi_summary(out, lengths)
    except (IndexError, RuntimeError) as error:
        if "out of bounds" not in str(error):
            raise
        return "an error: there is no such step"


@probe("bi_summary", "rows of different lengths")
def bi_summary_lengths(bi_summary, rng):
    return {"summary": _within(bi_summary, normal(rng, B, T, 2 * H), _lengths(rng, 9, 1, 4, 7, 2))}


@probe("bi_summary", "rows of full length; one row alone")
def bi_summary_full(bi_summary, rng):
    full = _within(bi_summary, normal(rng, B, T, 2 * H), torch.full((B,), T))
    return {"full": full, "alone": _within(bi_summary, normal(rng, 1, T, 2 * H), torch.tensor([T]))}


@probe("bi_summary", "no row is as long as the batch is wide")
def bi_summary_all_short(bi_summary, rng):
    return {"summary": bi_summary(normal(rng, B, T, 2 * H), _lengths(rng, 3, 5, 2, 6, 6))}


@probe("bi_summary", "rows of one step: both readers have read the same word")
def bi_summary_one_step(bi_summary, rng):
    return {"summary": bi_summary(normal(rng, B, T, 2 * H), torch.ones(B, dtype=torch.int64))}


@probe("bi_summary", "the result is right and gradients reach the two places that count, and no other")
def bi_summary_gradients(bi_summary, rng):
    out = leaf(rng, B, T, 2 * H)
    return gradients(rng, bi_summary(out, _lengths(rng, 8, 1, 4, 7, 2)), states=out)


@probe("bi_summary", "the result is right, and out and lengths are as they were after the call")
def bi_summary_untouched(bi_summary, rng):
    out, lengths = normal(rng, B, T, 2 * H), _lengths(rng, 8, 3, 4, 7, 2)
    return {"summary": bi_summary(out, lengths), "out after": out, "lengths after": lengths}


@probe("bi_summary", "all sizes the same", weight=0)
def bi_summary_same_sizes(bi_summary, rng):
    return {"summary": bi_summary(normal(rng, 6, 6, 6), _lengths(rng, 5, 1, 3, 4, 2, 5))}


# ---- 5.5 masked_mean ----


def _mask(rng: torch.Generator, *lengths: int, T: int = T) -> Tensor:
    return torch.arange(T) < _lengths(rng, *lengths)[:, None]


@probe("masked_mean", "rows of different lengths")
def masked_mean_lengths(masked_mean, rng):
    return {"mean": masked_mean(normal(rng, B, T, H), _mask(rng, 8, 1, 4, 7, 2))}


@probe("masked_mean", "no pads at all")
def masked_mean_full(masked_mean, rng):
    return {"mean": masked_mean(normal(rng, B, T, H), torch.ones(B, T, dtype=torch.bool))}


@probe("masked_mean", "the real steps stand anywhere in the row")
def masked_mean_anywhere(masked_mean, rng):
    mask = _mask(rng, 8, 3, 4, 7, 2)[:, torch.randperm(T, generator=rng)]
    return {"mean": masked_mean(normal(rng, B, T, H), mask)}


@probe("masked_mean", "a row without a real step")
def masked_mean_empty_row(masked_mean, rng):
    return {"mean": masked_mean(normal(rng, B, T, H), _mask(rng, 8, 0, 4, 7, 2))}


@probe(
    "masked_mean",
    "the result is right and gradients reach the real steps, are zero at the pads, and finite in an empty row",
)
def masked_mean_gradients(masked_mean, rng):
    h = leaf(rng, B, T, H)
    return gradients(rng, masked_mean(h, _mask(rng, 8, 0, 4, 7, 2)), h=h)


@probe("masked_mean", "the result is right, and h and mask are as they were after the call")
def masked_mean_untouched(masked_mean, rng):
    h, mask = normal(rng, B, T, H), _mask(rng, 8, 3, 4, 7, 2)
    return {"mean": masked_mean(h, mask), "h after": h, "mask after": mask}


@probe("masked_mean", "all sizes the same", weight=0)
def masked_mean_same_sizes(masked_mean, rng):
    return {"mean": masked_mean(normal(rng, SAME, SAME, SAME), _mask(rng, 4, 1, 3, 4, 2, T=SAME))}


# ---- 5.6 bio_spans ----


def _kinds(rng: torch.Generator) -> list[str]:
    """Three types in random order."""
    return [("PER", "LOC", "ORG")[i] for i in torch.randperm(3, generator=rng).tolist()]


def _some(rng: torch.Generator, low: int, high: int) -> int:
    """A random number from low to high, both included."""
    return int(integers(rng, low, high + 1, 1))


def _span(kind: str, n: int) -> list[str]:
    """A span of n words, well formed."""
    return [f"B-{kind}"] + [f"I-{kind}"] * (n - 1)


def _outside(rng: torch.Generator) -> list[str]:
    return ["O"] * _some(rng, 1, 4)


def _seen(bio_spans, row: list[str]) -> dict:
    """The spans under the row of tags itself, so that a report says which row it was."""
    return {f"spans of {' '.join(row)}": bio_spans(row)}


@probe("bio_spans", "well-formed rows, with gaps between the spans")
def bio_spans_well_formed(bio_spans, rng):
    row = _outside(rng)
    for kind in _kinds(rng):
        row += _span(kind, _some(rng, 1, 4)) + _outside(rng)
    return _seen(bio_spans, row + _span("PER", 3) + _outside(rng))


@probe("bio_spans", "a span that reaches the end of the row")
def bio_spans_at_the_end(bio_spans, rng):
    X, Y, _ = _kinds(rng)
    row = _span(X, _some(rng, 1, 3)) + _outside(rng) + _span(Y, _some(rng, 2, 4))
    return _seen(bio_spans, row) | _seen(bio_spans, _span(X, _some(rng, 2, 5)))


@probe("bio_spans", "spans side by side")
def bio_spans_side_by_side(bio_spans, rng):
    X, Y, _ = _kinds(rng)
    n, m = _some(rng, 1, 3), _some(rng, 2, 4)
    return _seen(bio_spans, _span(X, n) + _span(X, m) + _span(Y, n) + _outside(rng) + _span(Y, m) + ["O"])


@probe("bio_spans", "an I after O, or first of all, begins a span")
def bio_spans_no_begin(bio_spans, rng):
    X, Y, _ = _kinds(rng)
    row = [f"I-{X}"] * _some(rng, 2, 3) + _outside(rng) + [f"I-{X}"] * _some(rng, 1, 3) + ["O"]
    return _seen(bio_spans, row + _span(Y, 2) + _outside(rng) + [f"I-{Y}"] * _some(rng, 2, 3) + ["O"])


@probe("bio_spans", "an I of another type begins a span")
def bio_spans_other_type(bio_spans, rng):
    X, Y, Z = _kinds(rng)
    row = _outside(rng) + _span(X, _some(rng, 1, 3)) + [f"I-{Y}"] * _some(rng, 2, 3) + [f"I-{Z}"] + ["O"]
    return _seen(bio_spans, row)


@probe("bio_spans", "plain B and I")
def bio_spans_plain(bio_spans, rng):
    row = _outside(rng) + ["B"] + ["I"] * _some(rng, 1, 3) + _outside(rng) + ["B"] + ["O"]
    return _seen(bio_spans, row)


@probe("bio_spans", "rows without spans, and an empty one; the tags are as they were after the call")
def bio_spans_nothing(bio_spans, rng):
    tags = ["O", *_span(_kinds(rng)[0], _some(rng, 2, 4)), "O"]
    found = {"spans of no words": bio_spans([])} | _seen(bio_spans, _outside(rng)) | _seen(bio_spans, tags)
    return found | {"tags after": list(tags)}


@probe("bio_spans", "rows of one word", weight=0)
def bio_spans_one_word(bio_spans, rng):
    X = _kinds(rng)[0]
    return _seen(bio_spans, [f"B-{X}"]) | _seen(bio_spans, [f"I-{X}"])


# ---- 5.7 span_f1 ----

Rows = tuple[list[str], list[str]]  # the gold tags and the predicted tags of one row


def _shuffled(rng: torch.Generator, pairs: list[Rows], apart: int = 0) -> tuple[list, list]:
    """Pairs of rows in random order, as (gold, predicted); ``apart``: no two rows have a span in the same place."""
    pairs = [pairs[i] for i in torch.randperm(len(pairs), generator=rng).tolist()]
    return tuple([["O"] * i * apart + pair[side] for i, pair in enumerate(pairs)] for side in (0, 1))


def _right(rng: torch.Generator, spans: int, *kinds: str) -> Rows:
    """A row of several spans of two or three words, all found."""
    row = _outside(rng)
    for _ in range(spans):
        row += _span(kinds[_some(rng, 0, len(kinds) - 1)], _some(rng, 2, 3)) + _outside(rng)
    return row, list(row)


def _moved(rng: torch.Generator, kind: str) -> Rows:
    """A row whose two spans are found in part: one too short, one too long."""
    gap, n = _outside(rng), _some(rng, 2, 4)
    gold = gap + _span(kind, n + 1) + ["O"] + gap + _span(kind, n) + ["O"]
    return gold, gap + _span(kind, n) + ["O", "O"] + gap + _span(kind, n + 1)


def _missed(rng: torch.Generator, kind: str) -> Rows:
    """A row whose only span, of one word, is not found; turned round, one that is invented."""
    row = _outside(rng) + _span(kind, 1) + _outside(rng)
    return row, ["O"] * len(row)


@probe("span_f1", "a bit of everything")
def span_f1_mixed(span_f1, rng):
    X, Y, Z = kinds = _kinds(rng)
    pairs = [_right(rng, _some(rng, 1, 5), *kinds) for _ in range(_some(rng, 3, 5))]
    pairs += [_right(rng, _some(rng, 3, 7), X)] * 2 + [(_span(Y, 2), _span(Z, 2))] * _some(rng, 1, 3)
    for kind in kinds + kinds:
        pairs += [_moved(rng, kind), _missed(rng, kind)] * _some(rng, 1, 3)
        pairs += [_missed(rng, kind)[::-1]] * _some(rng, 0, 1)
    return {"F1": span_f1(*_shuffled(rng, pairs))}


@probe("span_f1", "all found")
def span_f1_perfect(span_f1, rng):
    kinds = _kinds(rng)
    return {"F1": span_f1(*_shuffled(rng, [_right(rng, n, *kinds) for n in (1, 5, 3)], apart=50))}


@probe("span_f1", "a span that is found in part is no hit")
def span_f1_in_part(span_f1, rng):
    kinds = _kinds(rng)
    pairs = [_right(rng, _some(rng, 3, 7), kinds[0])] + [_moved(rng, kind) for kind in kinds]
    return {"F1": span_f1(*_shuffled(rng, pairs, apart=60))}


@probe("span_f1", "a span of another type is no hit")
def span_f1_other_type(span_f1, rng):
    X, Y, Z = _kinds(rng)
    gap = _outside(rng)
    other = gap + _span(X, 1) + gap + _span(Z, 2) + gap, gap + _span(Y, 1) + gap + _span(Z, 2) + gap
    pairs = [_right(rng, _some(rng, 4, 8), Z), other, _right(rng, 1, Z)]
    return {"F1": span_f1(*_shuffled(rng, pairs, apart=70))}


@probe("span_f1", "every span counts the same, in long rows and short ones, missed or invented")
def span_f1_rows(span_f1, rng):
    X, Y, Z = _kinds(rng)
    pairs = [_right(rng, _some(rng, 5, 9), Z), _right(rng, 1, Z), _missed(rng, X), _missed(rng, Y)]
    missed = span_f1(*_shuffled(rng, pairs, apart=80))
    return {"missed": missed, "invented": span_f1(*_shuffled(rng, [pair[::-1] for pair in pairs[:3]], apart=80))}


@probe("span_f1", "a span is found only in its own row; equal spans of several rows count each")
def span_f1_own_row(span_f1, rng):
    X, _, Z = _kinds(rng)
    n, gap = _some(rng, 1, 3), _outside(rng)
    row = gap + _span(X, n) + gap
    hit = gap + _span(Z, n + 1) + gap
    pairs = [(row, ["O"] * len(row)), (["O"] * len(row), row)] + [(hit, list(hit))] * _some(rng, 3, 6)
    return {"F1": span_f1(*_shuffled(rng, pairs))}


@probe("span_f1", "no span on one side, on both; the tags are as they were after the call")
def span_f1_nothing(span_f1, rng):
    (gold, missed), outside = _missed(rng, _kinds(rng)[0]), _outside(rng)
    tags = [list(gold), list(outside)], [list(gold), list(outside)]
    seen = {"predicted none": span_f1([gold], [missed]), "gold none": span_f1([missed], [gold])}
    seen |= {"none on either side": span_f1([outside], [list(outside)]), "one of one": span_f1(*tags)}
    return seen | {"tags after": tags}


@probe("span_f1", "one row, one type", weight=0)
def span_f1_one_row(span_f1, rng):
    kind = _kinds(rng)[0]
    gold, predicted = _moved(rng, kind)
    return {"F1": span_f1([["O", *_span(kind, 1), "O", *gold]], [["O", *_span(kind, 1), "O", *predicted]])}
