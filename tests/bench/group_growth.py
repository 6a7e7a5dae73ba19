"""How time and memory grow with the length of a sequence, the width of a beam and the size of a vocabulary."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
import torch.nn.functional as F
from charts import curves
from harness import Case, in_turns, row
from memory import peak_bytes
from torch import nn

from unrolled.attention import BilinearScore
from unrolled.beam_batch import beam_search_batch
from unrolled.flops import flops
from unrolled.gated import LSTM
from unrolled.gpt import GPTConfig, generate
from unrolled.gpt_model import GPT
from unrolled.graph_depth import graph_depth
from unrolled.recurrent import RNN
from unrolled.self_attention import scaled_dot_product_attention
from unrolled.translators import EOS, AttentionSeq2Seq, RecurrentReader

TITLE = "Growth"
TEXT = """How time and memory grow. Here *ours* is the exponent fitted to what was measured, the slope of a straight
line on two logarithmic axes, and *peer* is the exponent of theory: that of the operations, or of the numbers to be
kept, counted at the same sizes. The goal is that nothing grows more than 1.1 times as steeply as it should. An exponent
below that of theory means that fixed costs still count. RNN, LSTM and attention run forward and backward, as their
lessons build them; memory is the peak of all tensors, counted and not measured. What follows from it is taught in
[chapter 8](../chapters/08_self_attention/self_attention.ipynb) (concepts C70 and C71)."""
GOAL = 1.1
STEPS, PAIRS = [64, 128, 256, 512, 1024], [256, 512, 1024, 2048]
WRITTEN, WIDTHS, WORDS = [48, 96, 192, 384], [8, 16, 32, 64, 128], [2000, 8000, 32000]
D, B = 64, 4
CONFIG = GPTConfig(V=68, context=512, D=64, n_heads=4, layers=2, d_ff=256)
FIXED = "what every call costs besides its operations is not the same at all sizes"
Ways = dict[int, Callable[[], object]]


def cases() -> list[Case]:
    return [
        Case("recurrent layers", lambda: time_and_memory("length", RECURRENT, STEPS)),
        Case("attention", lambda: time_and_memory("length", ATTENTION, PAIRS) + fused_against_plain()),
        Case("sequential operations", sequential),
        Case("writing with and without a cache", writing),
        Case("beam width", beam),
        Case("vocabulary", lambda: time_and_memory("words", VOCABULARY, WORDS)),
    ]


def figures(rows: list[dict]) -> list[tuple]:
    drawn = [one for one in rows if "points" in one]
    made = []
    for axis in dict.fromkeys(one["points"]["axis"] for one in drawn):
        mine = [one for one in drawn if one["points"]["axis"] == axis]
        said = "; ".join(f"{one['name']}: exponent {one['ours']:.2f}, theory {one['peer']:.2f}" for one in mine)
        made.append((axis.split()[0], f"{said}.", curves(mine)))
    return made


def exponent(x: Sequence[float], y: Sequence[float]) -> float:
    """The slope of the straight line through the logarithms.

    >>> round(exponent([1, 2, 4], [5, 20, 80]), 6)
    2.0
    """
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def curve(
    name: str, quantity: str, x: list[int], y: list[float], counted: Sequence[float], axis: str, kind: str
) -> dict:
    """The row of one curve: its exponent, that of theory, and the points for the plot."""
    points = {
        "quantity": quantity,
        "axis": axis,
        "kind": kind,
        "label": name,
        "x": x,
        "y": [float(f"{v:.4g}") for v in y],
    }
    unit = "ms" if quantity == "time" else "MB"
    fitted, theory = exponent(x, points["y"]), exponent(x, counted)
    about = f"{name}: {quantity} against {axis}, {x[0]} to {x[-1]}"
    return row(about, fitted, theory, GOAL, "exponent", why=FIXED, points={**points, "unit": unit})


def time_and_memory(axis: str, layers: dict, sizes: list[int]) -> list[dict]:
    """For each layer two rows; layers: name -> (kind, make a pass at a size, operations, numbers to be kept)."""
    rows = []
    for name, (kind, make, operations, kept) in layers.items():
        ways: Ways = {size: make(size) for size in sizes}
        times = in_turns(ways, seconds=4.0, least=5)
        rows.append(curve(name, "time", sizes, list(times.values()), [operations(n) for n in sizes], axis, kind))
        peaks = [peak_bytes(run) / 1e6 for run in ways.values()]
        rows.append(curve(name, "memory", sizes, peaks, [kept(n) for n in sizes], axis, kind))
    return rows


def through(layer: nn.Module) -> Callable[[int], Callable[[], None]]:
    def make(T: int) -> Callable[[], None]:
        x = torch.randn(B, T, D)
        return lambda: layer(x).sum().backward()

    return make


def looking(attend: Callable) -> Callable[[int], Callable[[], None]]:
    def make(L: int) -> Callable[[], None]:
        q, k, v = (torch.randn(1, 1, L, D, requires_grad=True) for _ in range(3))
        return lambda: torch.autograd.grad(attend(q, k, v).sum(), (q, k, v))

    return make


def plain(q, k, v):
    return scaled_dot_product_attention(q, k, v)[0]


RECURRENT = {
    "RNN": ("rnn", through(RNN(D, D)), lambda T: flops("rnn", T, D, 1), lambda T: T),
    "LSTM": ("lstm", through(LSTM(D, D)), lambda T: flops("lstm", T, D, 1), lambda T: T),
}
ATTENTION = {
    "attention": ("attention", looking(plain), lambda L: flops("attention", L, D, 1), lambda L: L * L),
    "attention, fused kernel": (
        "transformer",
        looking(F.scaled_dot_product_attention),
        lambda L: flops("attention", L, D, 1),
        lambda L: L,
    ),
}


def fused_against_plain() -> list[dict]:
    L = PAIRS[-1]
    ways = {"fused": looking(F.scaled_dot_product_attention)(L), "plain": looking(plain)(L)}
    times, peaks = in_turns(ways, seconds=2.0), {name: peak_bytes(run) / 1e6 for name, run in ways.items()}
    why, about = "the kernel computes the scores once more on the way back instead of keeping them", f"at {L} steps"
    name = "fused kernel against plain attention"
    return [
        row(f"{name}, time {about}", times["fused"], times["plain"], 1.0, "ms", why=why),
        row(f"{name}, memory {about}", peaks["fused"], peaks["plain"], 1.0, "MB", why=why),
    ]


def sequential() -> list[dict]:
    """C71: the operations that must wait for each other; counted in torch's record of the computation."""
    layer, depths = RNN(D, D), {}
    for T in STEPS:
        x, q = torch.randn(1, T, D), torch.randn(1, 1, T, D, requires_grad=True)
        depths[T] = graph_depth(layer(x)), graph_depth(plain(q, q, q))
    rnn, attention = zip(*depths.values(), strict=True)
    why, what, first = "it is counted: there is no such reason", "operations one after the other", STEPS[0]
    return [
        row(f"RNN: {what} against length, {first} to {T}", exponent(STEPS, rnn), 1.0, GOAL, "exponent", why=why),
        row(f"attention against RNN, {what} at {T} steps", attention[-1], rnn[-1], 0.01, "count", why=why),
        row(f"attention, {what}: {T} steps against {first}", attention[-1], attention[0], 1.0, "count", why=why),
    ]


def operations_to_write(n: int, cache: bool) -> int:
    """Matrix products of n tokens: those of each token read, and its pairs with all that stand before it."""
    width, layers = CONFIG.D, CONFIG.layers
    each = layers * 24 * width**2 + 2 * width * CONFIG.V
    return sum(each * (1 if cache else t) + layers * 4 * width * t * (1 if cache else t) for t in range(1, n + 1))


def writing() -> list[dict]:
    model, begin, rows, last = GPT(CONFIG), torch.zeros(1, 1, dtype=torch.int64), [], {}
    for name, cache, kind in (("with a cache", True, "transformer"), ("without", False, "rnn")):
        ways: Ways = {
            n: lambda n=n, cache=cache: generate(model.read, begin, n - 1, CONFIG.context, cache) for n in WRITTEN
        }
        times = in_turns(ways, seconds=4.0, least=3)
        counted = [operations_to_write(n, cache) for n in WRITTEN]
        rows.append(curve(f"writing, {name}", "time", WRITTEN, list(times.values()), counted, "tokens written", kind))
        last[name] = times[WRITTEN[-1]]
    why = "at this length the tokens already read cost less than the calls"
    about = f"writing {WRITTEN[-1]} tokens, key/value cache against none"
    return [*rows, row(about, last["with a cache"], last["without"], 0.5, "ms", why=why)]


def beam() -> list[dict]:
    V, H = 1000, 64
    model = AttentionSeq2Seq(RecurrentReader(V, H, H), BilinearScore(H, 2 * H), V, H, H)
    with torch.no_grad():
        model.output.bias[EOS] = -99  # no sentence ends: all widths write equally long
    src, lengths = torch.randint(4, V, (8, 20)), torch.full((8,), 20)
    ways: Ways = {k: lambda k=k: beam_search_batch(model, src, lengths, k, 12) for k in WIDTHS}
    times = in_turns(ways, seconds=4.0, least=5)
    return [curve("beam search", "time", WIDTHS, list(times.values()), WIDTHS, "width of the beam", "gru")]


def scores(V: int) -> Callable[[], None]:
    layer, x, y = nn.Linear(D, V), torch.randn(128, D), torch.randint(V, (128,))
    return lambda: F.cross_entropy(layer(x), y).backward()


VOCABULARY = {"scores and their loss": ("window", scores, lambda V: V, lambda V: V)}
