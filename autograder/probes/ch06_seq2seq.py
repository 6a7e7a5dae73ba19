"""What the judge asks about the exercises of chapter 6: inputs and targets, reader, writer, writing alone, edits.

All sizes differ and most are odd; the probes of weight 0 use one size in several places, so that a mix-up gives values.
Pads of the source hold random numbers: what reads them shows.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import torch
from torch import Tensor

from autograder.probe import gradients, integers, leaf, normal, probe
from unrolled.gated import GRUParams
from unrolled.seq2seq import DecoderParams

B, S, T, E, H, H_B, C, V = 5, 9, 7, 3, 11, 4, 6, 13
SAME = 5  # the one size of the naming probes


def _order(rng: torch.Generator, *values: int) -> Tensor:
    """The values in random order, int64."""
    return torch.tensor(values)[torch.randperm(len(values), generator=rng)]


def _some(rng: torch.Generator, low: int, high: int) -> int:
    """A random number from low to high, both included."""
    return int(integers(rng, low, high + 1, 1))


# ---- 6.1 shift_right ----

BOS, EOS, PAD = 17, 2, 0  # most ids of the rows below are other than these


def _rows(rng: torch.Generator, T: int, *lengths: int) -> Tensor:
    """Rows of tokens from 20 up that end with EOS, padded to T; ``lengths`` count the EOS."""
    y, n = integers(rng, 20, 99, len(lengths), T), _order(rng, *lengths)[:, None]
    t = torch.arange(T)
    return torch.where(t < n - 1, y, torch.where(t == n - 1, EOS, PAD))


@probe("shift_right", "rows of different lengths")
def shift_right_lengths(shift_right, rng):
    return {"inputs, targets": shift_right(_rows(rng, T, 7, 1, 4, 6, 2), BOS)}


@probe("shift_right", "rows of full length")
def shift_right_full(shift_right, rng):
    return {"inputs, targets": shift_right(_rows(rng, T, 7, 7, 7), BOS)}


@probe("shift_right", "one row alone, and another BOS")
def shift_right_alone(shift_right, rng):
    return {"inputs, targets": shift_right(_rows(rng, T, 5), _some(rng, 100, 120))}


@probe("shift_right", "rows that hold nothing but EOS")
def shift_right_empty(shift_right, rng):
    return {"inputs, targets": shift_right(_rows(rng, 1, 1, 1, 1), _some(rng, 100, 120))}


@probe("shift_right", "the result is right, and y is as it was after the call")
def shift_right_untouched(shift_right, rng):
    y = _rows(rng, T, 7, 3, 4, 6, 2)
    pair = shift_right(y, BOS)
    kept = tuple(part.clone() for part in pair) if isinstance(pair, (tuple, list)) else pair
    return {"inputs, targets": kept, "y after": y}


@probe("shift_right", "as many rows as tokens", weight=0)
def shift_right_same_sizes(shift_right, rng):
    return {"inputs, targets": shift_right(_rows(rng, SAME, 5, 1, 3, 4, 2), BOS)}


# ---- 6.2 encode ----


def _gru(rng: torch.Generator, E: int = E, H: int = H, leaf: bool = False) -> GRUParams:
    """Weights small enough that no gate is shut for good, and biases; the second one of the candidate is not used."""
    shapes = (0.5, (3 * H, E)), (0.4, (3 * H, H)), (0.7, (3 * H,)), (0.7, (H,))
    return GRUParams(*((scale * normal(rng, *shape)).requires_grad_(leaf) for scale, shape in shapes))


def _used(**layers: GRUParams) -> dict[str, Tensor]:
    """The tensors that a GRU with its reset before the matrix uses, under names of their own, for ``gradients``."""
    return {f"{name} of {layer}": getattr(p, name) for layer, p in layers.items() for name in ("W_x", "W_h", "b")}


def _memoryless(rng: torch.Generator, E: int, H: int) -> GRUParams:
    """A float32 GRU whose state is tanh of the input's share, to the last bit, whatever is added up in which order."""
    W_x = torch.cat([torch.zeros(2 * H, E), (4 * normal(rng, H, E)).round() / 4]).float()
    b = torch.cat([torch.full((2 * H,), 99.0), torch.zeros(H)]).float()
    return GRUParams(W_x, torch.zeros(3 * H, H).float(), b, torch.zeros(H).float())


def _dtypes(network: Callable[..., tuple[Tensor, Tensor]], *arguments) -> dict:
    """Both results and their number types; a text if number types are mixed."""
    try:
        pair = network(*arguments)
    except RuntimeError as error:
        if "dtype" not in str(error):
            raise
        return {"results": "an error: two number types were mixed", "number types": None}
    return {"results": pair, "number types": tuple(str(getattr(part, "dtype", None)) for part in pair)}


def _both(pair) -> Tensor:
    """States (or scores) and the one vector of each row in one tensor, for ``gradients``."""
    sequence, vector = pair
    return torch.cat([sequence.flatten(1), vector.flatten(1)], dim=1)


@probe("encode", "the states of rows of different lengths")
def encode_states(encode, rng):
    states, _ = encode(normal(rng, B, S, E), _order(rng, 9, 1, 4, 7, 2), _gru(rng), _gru(rng, H=H_B))
    return {"states": states}


@probe("encode", "the context of rows of different lengths")
def encode_context(encode, rng):
    _, c = encode(normal(rng, B, S, E), _order(rng, 9, 1, 4, 7, 2), _gru(rng), _gru(rng, H=H_B))
    return {"c": c}


@probe("encode", "rows of full length; one row alone")
def encode_full(encode, rng):
    full = encode(normal(rng, B, S, E), torch.full((B,), S), _gru(rng), _gru(rng, H=H_B))
    alone = encode(normal(rng, 1, S, E), torch.tensor([S]), _gru(rng), _gru(rng, H=H_B))
    return {"full": full, "alone": alone}


@probe("encode", "no row is as long as the batch is wide: the width stays")
def encode_all_short(encode, rng):
    lengths = _order(rng, 3, 5, 2, 6, 6)
    return {"states, c": encode(normal(rng, B, S, E), lengths, _gru(rng), _gru(rng, H=H_B))}


@probe("encode", "what stands in the pads does not matter")
def encode_pads(encode, rng):
    x, lengths, f, b = normal(rng, B, S, E), _order(rng, 9, 3, 4, 6, 2), _gru(rng), _gru(rng, H=H_B)
    pads = torch.arange(S) >= lengths[:, None]
    other = torch.where(pads[..., None], 3 * normal(rng, B, S, E), x)
    return {"states, c": encode(x, lengths, f, b), "with other pads": encode(other, lengths, f, b)}


@probe("encode", "states and context have the number type of x, whatever torch's default is")
def encode_dtype(encode, rng):
    f, b, x = _memoryless(rng, 7, 5), _memoryless(rng, 7, 2), (4 * normal(rng, 4, 3, 7)).round().float() / 4
    return _dtypes(encode, x, _order(rng, 3, 1, 2, 2), f, b)


@probe("encode", "the result is right and gradients reach x, none its pads, and the parameters of both directions")
def encode_gradients(encode, rng):
    f, b, x = _gru(rng, leaf=True), _gru(rng, H=H_B, leaf=True), leaf(rng, B, S, E)
    out = _both(encode(x, _order(rng, 9, 1, 4, 7, 2), f, b))
    return gradients(rng, out, x=x, **_used(f=f, b=b))


@probe("encode", "the result is right, and x, lengths and the parameters are as they were after the call")
def encode_untouched(encode, rng):
    x, lengths, f, b = normal(rng, B, S, E), _order(rng, 9, 3, 4, 6, 2), _gru(rng), _gru(rng, H=H_B)
    pair = encode(x, lengths, f, b)
    return {"states, c": pair, "x after": x, "lengths after": lengths, "parameters after": (*f, *b)}


@probe("encode", "all sizes the same", weight=0)
def encode_same_sizes(encode, rng):
    x, f, b = normal(rng, SAME, SAME, SAME), _gru(rng, SAME, SAME), _gru(rng, SAME, SAME)
    return {"states, c": encode(x, _order(rng, 4, 1, 3, 4, 2), f, b)}


# ---- 6.3 decode ----


def _decoder(rng: torch.Generator, V: int = V, E: int = E, C: int = C, H: int = H, leaf: bool = False):
    W_e, W_hy, b_y = normal(rng, V, E), normal(rng, V, H), normal(rng, V)
    leaves = [weight.requires_grad_(leaf) for weight in (W_e, W_hy, b_y)]
    return DecoderParams(leaves[0], _gru(rng, E + C, H, leaf), leaves[1], leaves[2])


@probe("decode", "the scores of several steps")
def decode_scores(decode, rng):
    logits, _ = decode(integers(rng, 0, V, B, T), normal(rng, B, H), normal(rng, B, C), _decoder(rng))
    return {"logits": logits}


@probe("decode", "the state after the last step")
def decode_state(decode, rng):
    _, h = decode(integers(rng, 0, V, B, T), normal(rng, B, H), normal(rng, B, C), _decoder(rng))
    return {"h": h}


@probe("decode", "one step")
def decode_one_step(decode, rng):
    y_in, h0, c = integers(rng, 0, V, B, 1), normal(rng, B, H), normal(rng, B, C)
    return {"logits, h": decode(y_in, h0, c, _decoder(rng))}


@probe("decode", "going on from the state: two calls are one")
def decode_goes_on(decode, rng):
    y_in, h, c, params = integers(rng, 0, V, 1, T), normal(rng, 1, H), normal(rng, 1, C), _decoder(rng)
    first, h = decode(y_in[:, :3], h, c, params)
    second, h = decode(y_in[:, 3:], h, c, params)
    return {"first": first, "second": second, "h": h}


@probe("decode", "scores and state have the number type of h0, whatever torch's default is")
def decode_dtype(decode, rng):
    gru = _memoryless(rng, 5, 4)
    W_e, c = ((4 * normal(rng, n, m)).round().float() / 4 for n, m in ((9, 3), (6, 2)))
    params = DecoderParams(W_e, gru, torch.eye(4).float(), torch.zeros(4).float())
    return _dtypes(decode, integers(rng, 0, 9, 6, 3), torch.zeros(6, 4).float(), c, params)


@probe("decode", "the result is right and gradients reach h0, c and the parameters")
def decode_gradients(decode, rng):
    params, h0, c = _decoder(rng, leaf=True), leaf(rng, B, H), leaf(rng, B, C)
    out = _both(decode(integers(rng, 0, V, B, T), h0, c, params))
    weights = {"W_e": params.W_e, "W_hy": params.W_hy, "b_y": params.b_y}
    return gradients(rng, out, h0=h0, c=c, **weights, **_used(gru=params.gru))


@probe("decode", "the result is right, and y_in, h0, c and the parameters are as they were after the call")
def decode_untouched(decode, rng):
    y_in, h0, c, params = integers(rng, 0, V, B, T), normal(rng, B, H), normal(rng, B, C), _decoder(rng)
    pair = decode(y_in, h0, c, params)
    after = {"y_in after": y_in, "h0 after": h0, "c after": c}
    return {"logits, h": pair, **after, "parameters after": (params.W_e, *params.gru, params.W_hy, params.b_y)}


@probe("decode", "all sizes the same", weight=0)
def decode_same_sizes(decode, rng):
    y_in, h0, c = integers(rng, 0, SAME, SAME, SAME), normal(rng, SAME, SAME), normal(rng, SAME, SAME)
    return {"logits, h": decode(y_in, h0, c, _decoder(rng, SAME, SAME, SAME, SAME))}


@probe("decode", "an embedding of width 1", weight=0)
def decode_narrow(decode, rng):
    y_in, h0, c = integers(rng, 0, V, B, T), normal(rng, B, H), normal(rng, B, C)
    return {"logits, h": decode(y_in, h0, c, _decoder(rng, E=1))}


# ---- 6.4 greedy ----


def _speaker(rng: torch.Generator, *ends: int, V: int = V) -> tuple:
    """The arguments of greedy but for max_len: a decoder that says EOS in row b at step ends[b] (from 0), once.

    Column 0 of its state counts the steps, column 0 of the context holds the end; all else is random, and what it
    says depends on the token read, on the state and on the context. It never says the pad.
    """
    B, W = len(ends), 7
    bos, eos, pad = torch.randperm(V, generator=rng)[:3].tolist()
    said, heard = 2 * normal(rng, V, V), normal(rng, V, W)
    W_hy, W_cy, W_hh, W_ch = normal(rng, W, V), normal(rng, 2, V), normal(rng, W, W), normal(rng, 2, W)

    def step(y, h, c):
        t, end = h[:, 0], c[:, 0]
        scores = (said[y] + h[:, 1:] @ W_hy + c[:, 1:] @ W_cy) / 3  # (B, V)
        place = torch.arange(V)
        scores = torch.where(place == eos, torch.where(t == end, 99.0, -99.0)[:, None], scores)
        state = torch.tanh(h[:, 1:] @ W_hh + heard[y] + c[:, 1:] @ W_ch)
        return torch.where(place == pad, -999.0, scores), torch.cat([t[:, None] + 1, state], dim=1)

    h0 = torch.cat([torch.zeros(B, 1), normal(rng, B, W)], dim=1)
    c = torch.cat([_order(rng, *ends)[:, None].to(h0.dtype), normal(rng, B, 2)], dim=1)
    return step, h0, c, bos, eos, pad


NEVER = 999


@probe("greedy", "each row ends with its own EOS")
def greedy_ends(greedy, rng):
    return {"tokens": greedy(*_speaker(rng, 6, 2, 4, 3, 7), max_len=15)}


@probe("greedy", "some rows end, some come to max_len first")
def greedy_cut(greedy, rng):
    return {"tokens": greedy(*_speaker(rng, 2, 4, NEVER, 12, 5), max_len=9)}


@probe("greedy", "the longest row has max_len tokens, its EOS included")
def greedy_just(greedy, rng):
    return {"tokens": greedy(*_speaker(rng, 8, 5, 3), max_len=9)}


@probe("greedy", "no EOS: the decoder goes on with what it has said")
def greedy_goes_on(greedy, rng):
    return {"tokens": greedy(*_speaker(rng, NEVER, NEVER, NEVER), max_len=17)}


@probe("greedy", "one row alone")
def greedy_alone(greedy, rng):
    return {"tokens": greedy(*_speaker(rng, 12), max_len=19)}


@probe("greedy", "all rows end at the same step")
def greedy_together(greedy, rng):
    return {"tokens": greedy(*_speaker(rng, 5, 5, 5), max_len=11)}


@probe("greedy", "some rows say EOS at once")
def greedy_at_once(greedy, rng):
    return {"tokens": greedy(*_speaker(rng, 0, 5, 6, 0, 7), max_len=11)}


@probe("greedy", "the result is right, and h0 and c are as they were after the call")
def greedy_untouched(greedy, rng):
    step, h0, c, bos, eos, pad = _speaker(rng, 6, 4, 8, 3, NEVER)
    tokens = greedy(step, h0, c, bos, eos, pad, max_len=9)
    return {"tokens": tokens, "h0 after": h0, "c after": c}


@probe("greedy", "as many rows as tokens in the vocabulary", weight=0)
def greedy_same_sizes(greedy, rng):
    return {"tokens": greedy(*_speaker(rng, 1, 4, 6, 2, 3, 5, 4, V=7), max_len=7)}


# ---- 6.5 scheduled_inputs ----


def _guesses(rng: torch.Generator, B: int = B, T: int = T) -> tuple[Tensor, Tensor, Tensor]:
    """True inputs from 20 up with BOS first, the decoder's tokens from 120 up, and the random numbers."""
    y_in = torch.cat([torch.full((B, 1), BOS), integers(rng, 20, 99, B, T - 1)], dim=1)
    return y_in, integers(rng, 120, 199, B, T), torch.rand(B, T, generator=rng)


@probe("scheduled_inputs", "half of each")
def scheduled_inputs_half(scheduled_inputs, rng):
    y_in, y_hat, u = _guesses(rng, 9, 11)
    return {"inputs": scheduled_inputs(y_in, y_hat, 0.5, u)}


@probe("scheduled_inputs", "a few of the decoder's own")
def scheduled_inputs_few(scheduled_inputs, rng):
    y_in, y_hat, u = _guesses(rng, 15, 21)
    return {"inputs": scheduled_inputs(y_in, y_hat, 0.2, u)}


@probe("scheduled_inputs", "none of the decoder's own, and all of them; BOS stays")
def scheduled_inputs_ends(scheduled_inputs, rng):
    y_in, y_hat, u = _guesses(rng)
    return {"p = 0": scheduled_inputs(y_in, y_hat, 0.0, u), "p = 1": scheduled_inputs(y_in, y_hat, 1.0, u)}


@probe("scheduled_inputs", "random numbers that are exactly 0 or exactly p")
def scheduled_inputs_edges(scheduled_inputs, rng):
    y_in, y_hat, _ = _guesses(rng, 9, 11)
    u = integers(rng, 0, 4, 9, 11) / 4  # 0, 1/4, 1/2 or 3/4
    return {f"p = {p}": scheduled_inputs(y_in, y_hat, p, u) for p in (0.0, 0.25, 0.5)}


@probe("scheduled_inputs", "one row alone; rows of one step are BOS")
def scheduled_inputs_alone(scheduled_inputs, rng):
    y_in, y_hat, u = _guesses(rng, 1, 41)
    seen = {"alone": scheduled_inputs(y_in, y_hat, 0.6, u)}
    y_in, y_hat, u = _guesses(rng, 3, 1)
    return seen | {"one step": scheduled_inputs(y_in, y_hat, 0.6, u)}


@probe("scheduled_inputs", "the result is right, and y_in, y_hat and u are as they were after the call")
def scheduled_inputs_untouched(scheduled_inputs, rng):
    y_in, y_hat, u = _guesses(rng, 9, 11)
    out = scheduled_inputs(y_in, y_hat, 0.7, u)
    out = out.clone() if isinstance(out, Tensor) else out
    return {"inputs": out, "y_in after": y_in, "y_hat after": y_hat, "u after": u}


@probe("scheduled_inputs", "as many rows as steps", weight=0)
def scheduled_inputs_same_sizes(scheduled_inputs, rng):
    y_in, y_hat, u = _guesses(rng, 7, 7)
    return {"inputs": scheduled_inputs(y_in, y_hat, 0.4, u)}


# ---- 6.6 edit_distance ----

TOKENS = ("AX", "BY", "CH", "DW", "EZ", "FT", "GN", "IK", "JO", "LM", "PQ", "RS")  # no letter stands in two of them


def _word(rng: torch.Generator, n: int, letters=TOKENS) -> list:
    """n tokens, each of them another one."""
    return [letters[i] for i in torch.randperm(len(letters), generator=rng)[:n].tolist()]


def _named(function: Callable, *pairs: tuple) -> dict:
    """The result under the pair itself, so that a report says which it was."""
    return {f"{a} and {b}": function(a, b) for a, b in pairs}


@probe("edit_distance", "one token replaced, left out, put in")
def edit_distance_one(edit_distance, rng):
    word, place = _word(rng, 6), _some(rng, 1, 2)
    *rest, other = word
    replaced = [*rest[:place], other, *rest[place + 1 :]]
    shorter = rest[:place] + rest[place + 1 :]
    return _named(edit_distance, (rest, replaced), (rest, shorter), (shorter, rest))


@probe("edit_distance", "several edits of all three kinds")
def edit_distance_mixed(edit_distance, rng):
    a, b, c, d, e, f, g, *_ = _word(rng, 9)
    x, y = [a, b, c, d, e], [f, b, d, e, g]
    pairs = ([a, b, c, d], [b, c, d, e, f]), ([c, a, b, f], [a, b, d]), ([a, b], [c, d, e, a, b])
    return _named(edit_distance, (x, y), (y, x), *pairs)


@probe("edit_distance", "equal rows are 0 apart, a row and an empty one as far as the row is long")
def edit_distance_empty(edit_distance, rng):
    word = _word(rng, _some(rng, 3, 6))
    return _named(edit_distance, (word, list(word)), (word, []), ([], word), ([], []))


@probe("edit_distance", "strings, with letters that repeat")
def edit_distance_strings(edit_distance, rng):
    letters = "abc"
    words = ["".join(letters[i] for i in integers(rng, 0, 3, n).tolist()) for n in (6, 4, 5, 6)]
    seen = _named(edit_distance, ("abcabc", "bcabca"), ("night", "nite"), ("aab", "b"), ("ab", "ba"))
    return seen | _named(edit_distance, *pairwise(words))


@probe("edit_distance", "rows of numbers, of very different lengths; a and b are as they were after the call")
def edit_distance_numbers(edit_distance, rng):
    long = _word(rng, 7, range(300, 310))
    short = [long[2], 999]
    return _named(edit_distance, (long, short), (short, long)) | {"a, b after": (list(long), list(short))}


@probe("edit_distance", "random rows over a small alphabet")
def edit_distance_random(edit_distance, rng):
    rows = [["T", "TH"] + [("T", "H", "TH")[i] for i in integers(rng, 0, 3, n).tolist()] for n in (3, 5, 2, 4)]
    exchanged = ["H", "T", "TH"], ["T", "H", "TH"]
    return _named(edit_distance, *pairwise(rows), (rows[1], rows[3][::-1]), exchanged)


@probe("edit_distance", "two letters exchanged are two edits", weight=0)
def edit_distance_exchanged(edit_distance, rng):
    a, b, c, d = _word(rng, 4)
    return _named(edit_distance, ([a, b, c, d], [a, c, b, d]), ([a], [b]), ([a], [a]))


# ---- 6.7 error_rate ----


def _said(rng: torch.Generator, n: int, wrong: int = 0, more: int = 0) -> tuple[list, list]:
    """n true tokens, and what was said: the first ``wrong`` of them replaced, ``more`` put in behind (or left out)."""
    word = _word(rng, n)
    said = ["UH"] * wrong + word[wrong:]
    return word, said + ["ZH"] * more if more >= 0 else said[:more]


@probe("error_rate", "rows of different lengths, some right, some wrong")
def error_rate_mixed(error_rate, rng):
    pairs = [_said(rng, 9, 2), _said(rng, 3, 0, 2), _said(rng, 5), _said(rng, 7, 1, -3), _said(rng, 2, 1)]
    return {"rate": error_rate([pairs[i] for i in torch.randperm(5, generator=rng).tolist()])}


@probe("error_rate", "what was said is longer than what was true")
def error_rate_longer(error_rate, rng):
    return {"rate": error_rate([_said(rng, 4, 0, 5), _said(rng, 5, 1, 2), _said(rng, 6, 2, 1)])}


@probe("error_rate", "what was said is shorter than what was true")
def error_rate_shorter(error_rate, rng):
    return {"rate": error_rate([_said(rng, 9, 1, -4), _said(rng, 5, 1, -1), _said(rng, 7, 2, -3)])}


@probe("error_rate", "one row alone; one with more errors than tokens")
def error_rate_alone(error_rate, rng):
    n = _some(rng, 5, 9)
    return {"alone": error_rate([_said(rng, n, 2, 1)]), "above 1": error_rate([_said(rng, 2, 1, 4)])}


@probe("error_rate", "nothing was said in a row, or nothing was true")
def error_rate_empty(error_rate, rng):
    word, other = _word(rng, 5), _word(rng, 3)
    return {
        "nothing said": error_rate([_said(rng, 7, 2), (word, [])]),
        "nothing true": error_rate([_said(rng, 9, 1), ([], other)]),
    }


@probe("error_rate", "the result is right, and the pairs are as they were after the call; strings are rows, too")
def error_rate_untouched(error_rate, rng):
    pairs = [_said(rng, 5, 1), _said(rng, 8, 3, 1), ("night", "nit")]
    rate = error_rate(pairs)
    return {"rate": rate, "pairs after": tuple((list(r), list(h)) for r, h in pairs)}


@probe("error_rate", "rows of one length", weight=0)
def error_rate_same_sizes(error_rate, rng):
    return {"rate": error_rate([_said(rng, 5, 2), _said(rng, 5), _said(rng, 5, 1), _said(rng, 5)])}
