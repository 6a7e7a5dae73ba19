"""What the judge asks about the exercises of chapter 11: windows, the block, byte pairs, writing, sizes, triples.

All sizes differ; the probes of weight 0 use one size everywhere, or places as tokens, so that a mistake gives values.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from itertools import pairwise

import torch
from torch import Tensor

from autograder.probe import gradients, integers, leaf, normal, probe
from unrolled.gpt import GPTConfig
from unrolled.self_attention import AttentionParams
from unrolled.transformer import EncoderLayerParams, FeedForwardParams, NormParams

B, D, D_FF, HEADS = 3, 15, 7, 5  # heads of width 3
SAME = 4  # the one size of the naming probes


def _int(rng: torch.Generator, low: int, high: int) -> int:
    """A number in [low, high)."""
    return int(integers(rng, low, high, 1))


def _python(rng: torch.Generator) -> random.Random:
    """Python's generator, seeded by the probe's: for words and lists."""
    return random.Random(_int(rng, 0, 2**31))


# ---- 11.1 windows ----


def _text(rng: torch.Generator, N: int) -> Tensor:
    """N tokens, all different, in no order."""
    return 100 + torch.randperm(3 * N, generator=rng)[:N]


# T and stride; the places where the parts end are chosen so that each question is about one thing.
OVERLAP = (5, 3), (5, 4), (6, 3), (7, 4), (7, 5), (8, 3)
JUST = (5, 4), (6, 4), (7, 3), (7, 5)  # no part begins at a multiple of the stride


def _parts(rng: torch.Generator, T: int, stride: int, left: int) -> tuple[Tensor, int, int, int]:
    """The arguments for a text whose parts both have left tokens more than T and some strides."""
    split = T + _int(rng, 3, 6) * stride + left
    return _text(rng, split + T + _int(rng, 1, 4) * stride + left), T, stride, split


@probe("windows", "windows that overlap")
def windows_overlap(windows, rng):
    return {"train, validation": windows(*_parts(rng, *OVERLAP[_int(rng, 0, len(OVERLAP))], left=2))}


@probe("windows", "each window begins where the last one ends")
def windows_touch(windows, rng):
    T = _int(rng, 4, 8)
    return {"train, validation": windows(*_parts(rng, T, T, left=2))}


@probe("windows", "tokens between the windows are left out")
def windows_gaps(windows, rng):
    T = _int(rng, 3, 6)
    return {"train, validation": windows(*_parts(rng, T, T + _int(rng, 3, 6), left=2))}


@probe("windows", "a window at every token")
def windows_every(windows, rng):
    return {"train, validation": windows(*_parts(rng, _int(rng, 4, 8), 1, left=7))}


@probe("windows", "the last window and its labels just fit")
def windows_fits(windows, rng):
    return {"train, validation": windows(*_parts(rng, *JUST[_int(rng, 0, len(JUST))], left=1))}


@probe("windows", "one token is missing for the last label")
def windows_one_missing(windows, rng):
    return {"train, validation": windows(*_parts(rng, *JUST[_int(rng, 0, len(JUST))], left=0))}


@probe("windows", "the windows are right, and ids is as it was after the call")
def windows_untouched(windows, rng):
    ids, *sizes = _parts(rng, *OVERLAP[_int(rng, 0, len(OVERLAP))], left=2)
    return {"train, validation": windows(ids, *sizes), "ids after": ids}


@probe("windows", "a text of places: what is seen where", weight=0)
def windows_places(windows, rng):
    return {"train, validation": windows(torch.arange(_int(rng, 40, 50)), 6, 5, 22)}


# ---- 11.2 gpt_block ----


def _block(rng: torch.Generator, D: int = D, F: int = D_FF) -> EncoderLayerParams:
    """Weights of the usual size, and biases that show."""
    attention = [normal(rng, D, D) / math.sqrt(D) for _ in range(4)] + [normal(rng, D) for _ in range(4)]
    network = normal(rng, F, D) / math.sqrt(D), normal(rng, F), normal(rng, D, F) / math.sqrt(F), normal(rng, D)
    norms = [NormParams(1 + 0.5 * normal(rng, D), normal(rng, D)) for _ in range(2)]
    return EncoderLayerParams(AttentionParams(*attention), FeedForwardParams(*network), *norms)


def _flat(params: EncoderLayerParams) -> tuple[Tensor, ...]:
    return tuple(tensor for part in params for tensor in part)


def _drop(rng: torch.Generator, *shape: int) -> Callable:
    """Some entries are dropped, always the same; those that stay are made larger."""
    kept = (torch.rand(*shape, generator=rng) < 0.6) / 0.6
    return lambda x: x * kept


@probe("gpt_block", "a batch of sequences")
def gpt_block_batch(gpt_block, rng):
    T = _int(rng, 6, 10)
    return {"output and weights": gpt_block(2 * normal(rng, B, T, D) + 1, _block(rng), HEADS)}


@probe("gpt_block", "a single step")
def gpt_block_step(gpt_block, rng):
    return {"output and weights": gpt_block(2 * normal(rng, B, 1, D) + 1, _block(rng), HEADS)}


@probe("gpt_block", "a later step is changed: what becomes of the others")
def gpt_block_later(gpt_block, rng):
    T, x, params = 7, normal(rng, B, 7, D), _block(rng)
    before, _ = gpt_block(x, params, HEADS)
    x = x.clone()
    x[:, _int(rng, 2, T - 2)] = normal(rng, B, D)
    return {"before": before, "after": gpt_block(x, params, HEADS)[0]}


@probe("gpt_block", "what is added is dropped in part")
def gpt_block_drop(gpt_block, rng):
    x, params, drop = normal(rng, B, 8, D), _block(rng), _drop(rng, B, 8, D)
    return {"output and weights": gpt_block(x, params, HEADS, drop)}


@probe("gpt_block", "another number of heads")
def gpt_block_heads(gpt_block, rng):
    return {"output and weights": gpt_block(normal(rng, B, 6, D), _block(rng), 3)}


@probe("gpt_block", "the result is right and gradients reach x and the parameters")
def gpt_block_gradients(gpt_block, rng):
    x, params = leaf(rng, B, 7, D), _block(rng)
    parts = [type(part)(*(tensor.clone().requires_grad_() for tensor in part)) for part in params]
    params = EncoderLayerParams(*parts)
    names = {f"{name} {key}": t for name, part in params._asdict().items() for key, t in part._asdict().items()}
    del names["attention b_k"]  # nothing depends on it
    result = gpt_block(x, params, HEADS)
    return gradients(rng, result[0] if isinstance(result, (tuple, list)) else result, x=x, **names)


@probe("gpt_block", "the result is right, and all arguments are as they were after the call")
def gpt_block_untouched(gpt_block, rng):
    x, params = normal(rng, B, 9, D), _block(rng)
    return {"output and weights": gpt_block(x, params, HEADS), "x after": x, "parameters after": _flat(params)}


@probe("gpt_block", "all sizes the same", weight=0)
def gpt_block_same_sizes(gpt_block, rng):
    return {"output and weights": gpt_block(normal(rng, SAME, SAME, SAME), _block(rng, SAME, SAME), SAME)}


# ---- 11.3 bpe_train ----

# Words and counts in which no two best pairs are equally frequent; the letters are drawn anew each time.
COUNTED = {
    "words": (
        "bcb 18 afeb 21 cfade 33 cfec 40 cad 44 fbad 51 fbe 59",
        "fbebc 12 adbe 18 debd 19 feae 24 eafa 37 ada 53 bfa 58",
        "afbf 4 edea 13 dbcab 19 daf 34 dfd 39 dfa 51 dae 59",
        "efdb 16 cdbae 17 caedc 26 debd 28 adfea 31 edea 37 bdc 39",
        "aecac 10 cad 11 dbdfa 20 bfe 51 abf 57 cfa 58",
    ),
    "twice": (
        "abbc 9 acbbcb 15 acbab 19 acaa 30 aaaabc 32 aacaab 34 cbac 41",
        "cacab 12 bccb 18 baba 24 acac 36 ccacca 37 ccca 38 bcbc 42",
        "acba 5 aabc 11 bcbb 27 bbacc 34 bbcc 37 cbbcbb 52",
        "aacab 14 aaabbc 22 accbab 27 bccaba 31 babbca 38 baccac 45 cacac 53",
        "cbcccb 2 bccbab 11 ccbcbc 13 bababa 19 aacb 23 cbacab 45 caca 51",
    ),
    "rows": (
        "aaaaaaadc 50 aaaaadc 52 caadc 16 baad 19 aad 52",
        "baaaaadc 6 aaadc 42 aaaaa 44 baaab 7 baaaaaab 25",
        "baaaaa 6 baa 39 baaaaaab 21 cbaaaaaaab 16 baaaaaa 27",
        "aaaaaadc 13 baadc 32 baaaaaaa 49 baaaaaa 55 aad 20",
        "caaaaaaadc 28 aaaaaadc 42 cbaadc 45 cbaaaaa 36 caadc 11",
    ),
    "parts": (
        "cab 15 da 88 ab 62 dabe 26 abe 36 ca 68 abd 55 cdb 24 bf 34",
        "da 86 ca 66 ab 56 abe 29 cab 12 eb 73 ce 8",
        "da 83 dabe 24 ab 49 cab 14 abd 37 abe 31 dca 23 fc 38",
        "abe 47 ca 83 cab 29 da 86 abd 69 dabe 33 afcb 38 fe 49",
        "ca 23 ab 46 da 75 abd 44 abe 36 cab 9 fbec 5",
    ),
    "borders": (
        "xby 36 xcy 43 xdbcy 45 xady 51 xdaby 63 xdy 64 xacy 79",
        "xcy 87 xcbay 23 xadby 44 xay 64 xcday 66 xcdby 67",
        "xabcy 18 xacdy 30 xbdy 31 xdy 34 xcaby 48 xdcy 65 xby 66",
        "xby 18 xcy 46 xay 66 xdcay 71 xdy 72 xbcy 76 xdcy 86",
        "xabcy 22 xby 23 xdy 33 xdbcy 37 xcy 51 xacy 64 xaby 87",
    ),
    "exhausted": (
        "fdc 38 dce 2 edc 16 bd 40 fb 11 b 67 gh 1",
        "fdb 16 bcd 19 dbe 32 bce 7 adb 12 c 70 gh 1",
        "fdbe 31 fb 36 dbe 16 dc 29 cbe 30 a 55 gh 1",
        "fde 26 bf 25 ce 31 ad 15 fd 39 c 80 gh 1",
        "fb 30 ea 23 ca 7 fbde 13 deca 5 b 53 gh 1",
    ),
}
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def _word(chance: random.Random, letters: str, low: int, high: int) -> str:
    return "".join(chance.choices(letters, k=chance.randint(low, high)))


def _renamed(chance: random.Random) -> dict[int, str]:
    """Other letters, for str.translate."""
    return str.maketrans(LETTERS, "".join(chance.sample(LETTERS, 26)))


def _counted(rng: torch.Generator, kind: str, scale: bool = True) -> dict[str, int]:
    """One of the lists of a kind, with other letters and all counts larger by a factor."""
    chance = _python(rng)
    *listed, letters = *chance.choice(COUNTED[kind]).split(), _renamed(chance)
    factor = chance.randint(1, 9) if scale else 1
    return {word.translate(letters): factor * int(n) for word, n in zip(listed[::2], listed[1::2], strict=True)}


@probe("bpe_train", "words of a few letters")
def bpe_train_words(bpe_train, rng):
    return {"merges": bpe_train(_counted(rng, "words"), 6)}


@probe("bpe_train", "a pair twice in the same word")
def bpe_train_twice(bpe_train, rng):
    return {"merges": bpe_train(_counted(rng, "twice"), 5)}


@probe("bpe_train", "equally frequent pairs")
def bpe_train_ties(bpe_train, rng):
    chance = _python(rng)
    letters = chance.sample(LETTERS, 16)
    a, b = letters[:2]
    c, d = sorted(letters[2:4])
    pairs = sorted(x + y for x, y in zip(letters[4::2], letters[5::2], strict=True))
    rest = dict.fromkeys([*pairs[1::2], *pairs[-1::-2][::-1]], 2)  # neither in order nor in the opposite order
    return {"merges": bpe_train({a + b + c: 3, b + d: 20, a + b: 8, a + b + d: 3} | rest, 10)}


@probe("bpe_train", "the same letter many times in a row")
def bpe_train_rows(bpe_train, rng):
    return {"merges": bpe_train(_counted(rng, "rows"), 6)}


@probe("bpe_train", "symbols that end or begin with other symbols")
def bpe_train_parts(bpe_train, rng):
    return {"merges": bpe_train(_counted(rng, "parts"), 6)}


@probe("bpe_train", "letters that stand together only where two words meet")
def bpe_train_borders(bpe_train, rng):
    return {"merges": bpe_train(_counted(rng, "borders"), 6)}


@probe("bpe_train", "every word becomes one symbol before n pairs are joined")
def bpe_train_exhausted(bpe_train, rng):
    return {"merges": bpe_train(_counted(rng, "exhausted", scale=False), 50)}


@probe("bpe_train", "the pairs are right, and words is as it was after the call")
def bpe_train_untouched(bpe_train, rng):
    words = _counted(rng, "words")
    return {"merges": bpe_train(words, 6), "words after": [[word, count] for word, count in words.items()]}


@probe("bpe_train", "one long word", weight=0)
def bpe_train_one(bpe_train, rng):
    return {"merges": bpe_train({_word(_python(rng), "ab", 23, 27): 7}, 8)}


# ---- 11.4 bpe_encode ----

LEARNED = [("e", "s"), ("es", "t"), ("l", "o"), ("n", "e"), ("lo", "w"), ("ne", "w"), ("w", "est"), ("new", "est")]
TREE = [("a", "b"), ("c", "d"), ("e", "f"), ("ab", "cd"), ("g", "h"), ("abcd", "ef"), ("abcdef", "gh")]
DOUBLED = [("a", "a"), ("b", "b"), ("aa", "aa"), ("a", "b"), ("bb", "a"), ("aaaa", "ab")]


def _merges(chance: random.Random, letters: str, n: int) -> list[tuple[str, str]]:
    """Pairs of letters and of what earlier pairs gave; no two give the same, and no pair is one symbol twice."""
    shuffled = chance.sample(letters, len(letters))
    merges = list(pairwise(shuffled))  # so that every letter is known
    symbols = [*letters, *("".join(pair) for pair in merges)]
    while len(merges) < n:
        left, right = chance.choice(symbols), chance.choice(symbols)
        if left != right and left + right not in symbols and len(left + right) < 7:
            merges.append((left, right))
            symbols.append(left + right)
    return merges


def _renamed_merges(chance: random.Random, merges: list[tuple[str, str]]) -> tuple[list, dict]:
    letters = _renamed(chance)
    return [(left.translate(letters), right.translate(letters)) for left, right in merges], letters


def _asked(bpe_encode, words: list[str], merges: list[tuple[str, str]]) -> dict:
    return {f"pieces of {word}": bpe_encode(word, merges) for word in words}


@probe("bpe_encode", "words of a few letters")
def bpe_encode_words(bpe_encode, rng):
    chance = _python(rng)
    words = [_word(chance, "abc", 8, 14) for _ in range(60)]
    return _asked(bpe_encode, words, _merges(chance, "abc", 24))


@probe("bpe_encode", "merges learned from words")
def bpe_encode_learned(bpe_encode, rng):
    merges, letters = _renamed_merges(_python(rng), LEARNED)
    words = ["lowest", "newest", "newer", "slowest", "nestle", "lowslowest", "newsnewest", "esnew", "lonest"]
    return _asked(bpe_encode, [word.translate(letters) for word in words], merges)


@probe("bpe_encode", "the same letter many times in a row")
def bpe_encode_rows(bpe_encode, rng):
    merges, letters = _renamed_merges(_python(rng), DOUBLED)
    words = ["aaa", "aaaaa", "aaaaaaa", "bbbbb", *("b" * m + "a" * n + "b" for m in (1, 3, 5) for n in (2, 5, 8))]
    return _asked(bpe_encode, [word.translate(letters) for word in words], merges)


@probe("bpe_encode", "characters that no merge knows")
def bpe_encode_unknown(bpe_encode, rng):
    chance = _python(rng)
    words = [_word(chance, "abc", 3, 7) + chance.choice("é-") + _word(chance, "aabbcc-", 4, 7) for _ in range(60)]
    return _asked(bpe_encode, words, _merges(chance, "abc", 24))


@probe("bpe_encode", "words that are one token, and a single character")
def bpe_encode_whole(bpe_encode, rng):
    merges, letters = _renamed_merges(_python(rng), TREE)
    return _asked(bpe_encode, [word.translate(letters) for word in ("z", "ab", "abcd", "abcdef", "abcdefgh")], merges)


@probe("bpe_encode", "long words")
def bpe_encode_long(bpe_encode, rng):
    chance = _python(rng)
    words = [_word(chance, "abcd", 25, 40) for _ in range(20)]
    return _asked(bpe_encode, words, _merges(chance, "abcd", 40))


@probe("bpe_encode", "the pieces are right, and merges is as it was after the call")
def bpe_encode_untouched(bpe_encode, rng):
    chance = _python(rng)
    merges, words = _merges(chance, "abc", 24), [_word(chance, "abc", 8, 13) for _ in range(60)]
    return _asked(bpe_encode, words, merges) | {"merges after": list(merges)}


@probe("bpe_encode", "two letters", weight=0)
def bpe_encode_two(bpe_encode, rng):
    chance = _python(rng)
    words = [_word(chance, "ab", 9, 14) for _ in range(16)]
    return _asked(bpe_encode, words, [*_merges(chance, "ab", 9)])


# ---- 11.5 generate ----

V = 23


class _Model:
    """One attention over all that it is given, and what it was given: it never complains about a position."""

    def __init__(self, rng: torch.Generator, width: int = 6):
        self.E, self.P, self.W = normal(rng, V, 3, width), normal(rng, 99, 3, width), normal(rng, width, V)
        self.width, self.calls = width, []

    def __call__(self, read: Tensor, positions: Tensor, past: Tensor | None):
        self.calls.append((read, positions, past))
        q, k, v = (self.E[read] + self.P[positions]).unbind(-2)  # (B, t, width) each
        kv = torch.cat([k, v], dim=-1)
        known = kv if past is None else torch.cat([past, kv], dim=1)
        k, v = known.split(self.width, dim=-1)  # (B, P + t, width)
        place = torch.arange(k.shape[1])
        hidden = place > place[-read.shape[1] :, None]  # (t, P + t)
        weights = (q @ k.mT).masked_fill(hidden, -math.inf).softmax(dim=-1)
        return (30 * (weights @ v + q) @ self.W).sin(), kv  # a little change of anything changes every score


def _second(scores: Tensor) -> Tensor:
    """The second best."""
    return scores.topk(2, dim=-1).indices[..., 1]


def _written(rng: torch.Generator, generate, T: int, n: int, context: int, **options) -> dict:
    return {"tokens": generate(_Model(rng), integers(rng, 0, V, 5, T), n, context, **options)}


def _given(rng: torch.Generator, generate, T: int, n: int, context: int, **options) -> dict:
    """The tokens, and what the model was given in each of its first n calls."""
    model = _Model(rng)
    tokens = generate(model, integers(rng, 0, V, 2, T), n, context, **options)
    seen = {"number of calls": len(model.calls), "tokens": tokens}
    for number, (read, positions, past) in enumerate(model.calls[:n]):
        seen |= {f"read in call {number}": read, f"positions in call {number}": positions}
        seen |= {f"past in call {number}": past}
    return seen


@probe("generate", "without the cache: all fits into the context")
def generate_plain(generate, rng):
    return _written(rng, generate, _int(rng, 3, 6), 7, 20, cache=False)


@probe("generate", "with the cache: all fits into the context")
def generate_cached(generate, rng):
    return _written(rng, generate, _int(rng, 3, 6), 7, 20, cache=True)


@probe("generate", "without the cache: more tokens than the context")
def generate_plain_long(generate, rng):
    return _written(rng, generate, _int(rng, 3, 5), 9, 7, cache=False)


@probe("generate", "with the cache: more tokens than the context")
def generate_cached_long(generate, rng):
    return _written(rng, generate, _int(rng, 3, 5), 9, 7)


@probe("generate", "the beginning is longer than the context")
def generate_long_beginning(generate, rng):
    T, context = _int(rng, 8, 11), _int(rng, 5, 7)
    kept = _written(rng, generate, T, 4, context, cache=True)["tokens"]
    return {"with the cache": kept, "without": _written(rng, generate, T, 5, context, cache=False)["tokens"]}


@probe("generate", "another choice than the highest score")
def generate_pick(generate, rng):
    cached = _written(rng, generate, 3, 6, 20, pick=_second)["tokens"]
    return {"with the cache": cached, "without": _written(rng, generate, 4, 6, 20, cache=False, pick=_second)["tokens"]}


@probe("generate", "what the model is given with the cache: each token is read once")
def generate_reads_once(generate, rng):
    return _given(rng, generate, _int(rng, 3, 6), 5, 20)


@probe("generate", "what the model is given when the context is full")
def generate_full(generate, rng):
    return _given(rng, generate, 4, 5, 6)


@probe("generate", "what the model is given without the cache")
def generate_reads_all(generate, rng):
    return _given(rng, generate, _int(rng, 2, 4), 6, 5, cache=False)


@probe("generate", "the tokens are right, and ids is as it was after the call")
def generate_untouched(generate, rng):
    ids = integers(rng, 0, V, 3, 4)
    return {"tokens": generate(_Model(rng), ids, 5, 20), "ids after": ids}


@probe("generate", "one token after one token", weight=0)
def generate_one(generate, rng):
    return _written(rng, generate, 1, 1, 20) | _given(rng, generate, 1, 2, 20)


# ---- 11.6 count_parameters ----


def _sizes(rng: torch.Generator, **given: int) -> GPTConfig:
    heads = _int(rng, 2, 8)
    drawn = {"V": _int(rng, 100, 999), "context": _int(rng, 30, 90), "D": heads * _int(rng, 3, 14), "n_heads": heads}
    drawn |= {"layers": _int(rng, 2, 9), "d_ff": _int(rng, 11, 333)}
    return GPTConfig(**drawn | given)


@probe("count_parameters", "sizes that are all different")
def count_parameters_different(count_parameters, rng):
    return {"parameters": [count_parameters(_sizes(rng)) for _ in range(3)]}


@probe("count_parameters", "a feed-forward network four times as wide")
def count_parameters_four(count_parameters, rng):
    D = 5 * _int(rng, 3, 20)
    return {"parameters": count_parameters(_sizes(rng, D=D, n_heads=5, d_ff=4 * D))}


@probe("count_parameters", "the four sizes of GPT-2")
def count_parameters_gpt2(count_parameters, rng):
    sizes = {768: (12, 12), 1024: (16, 24), 1280: (20, 36), 1600: (25, 48)}
    counts = [count_parameters(GPTConfig(50257, 1024, D, *size, 4 * D)) for D, size in sizes.items()]
    return {"parameters": counts}


@probe("count_parameters", "more heads, and nothing else")
def count_parameters_heads(count_parameters, rng):
    cfg = _sizes(rng, D=24)
    return {f"{n} heads": count_parameters(cfg._replace(n_heads=n)) for n in (1, 3, 8)}


@probe("count_parameters", "what one more layer costs, and one more place")
def count_parameters_more(count_parameters, rng):
    cfg = _sizes(rng)
    taller, longer = cfg._replace(layers=cfg.layers + 1), cfg._replace(context=cfg.context + 1)
    now = count_parameters(cfg)
    return {"layer": count_parameters(taller) - now, "place": count_parameters(longer) - now}


@probe("count_parameters", "all sizes the same", weight=0)
def count_parameters_same(count_parameters, rng):
    n = _int(rng, 3, 30)
    return {"parameters": count_parameters(GPTConfig(n, n, n, n, n, n))}


# ---- 11.7 triple_example ----


def _triple(rng: torch.Generator, s: int, r: int, o: int) -> list[list[int]]:
    return [integers(rng, 10, 500, n).tolist() for n in (s, r, o)]


@probe("triple_example", "several tokens in each part")
def triple_example_several(triple_example, rng):
    parts = _triple(rng, _int(rng, 3, 6), _int(rng, 2, 4), _int(rng, 4, 7))
    return {"ids, loss_mask": triple_example(*parts, _int(rng, 0, 9))}


@probe("triple_example", "one token for the relation")
def triple_example_relation(triple_example, rng):
    return {"ids, loss_mask": triple_example(*_triple(rng, _int(rng, 2, 5), 1, _int(rng, 2, 5)), 7)}


@probe("triple_example", "one token in each part")
def triple_example_one(triple_example, rng):
    return {"ids, loss_mask": triple_example(*_triple(rng, 1, 1, 1), 3)}


@probe("triple_example", "the same tokens in all parts, EOS among them")
def triple_example_repeated(triple_example, rng):
    s, r, o = integers(rng, 0, 3, 5).tolist(), [2, 0, 1], [0, 1, 2, *integers(rng, 0, 3, 3).tolist()]
    return {f"EOS is {eos}": triple_example(s, r, o, eos) for eos in (0, 1, 2)}


@probe("triple_example", "what the model is to say: the tokens that count")
def triple_example_said(triple_example, rng):
    ids, loss_mask = triple_example(*_triple(rng, 4, 2, _int(rng, 3, 6)), 5)
    return {"tokens that count": torch.as_tensor(ids)[1:][torch.as_tensor(loss_mask, dtype=torch.bool)]}


@probe("triple_example", "the example is right, and the lists are as they were after the call")
def triple_example_untouched(triple_example, rng):
    s, r, o = _triple(rng, 3, 2, 4)
    result = triple_example(s, r, o, 1)
    return {"ids, loss_mask": result, "lists after": (tuple(s), tuple(r), tuple(o))}


@probe("triple_example", "parts of the same length", weight=0)
def triple_example_same(triple_example, rng):
    return {"ids, loss_mask": triple_example(*_triple(rng, 3, 3, 3), 9)}
