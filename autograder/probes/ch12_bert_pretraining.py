"""What the judge asks about the exercises of chapter 12: rows of two sentences, hidden words, pairs, pieces, steps.

All sizes differ; the probes of weight 0 use one size everywhere, or simple numbers, so that a mixed-up axis or a
mixed-up order gives values.
"""

from __future__ import annotations

import torch
from torch import Tensor

from autograder.probe import gradients, integers, leaf, normal, probe
from unrolled.bert import BertEmbedParams
from unrolled.bert_input import Special

SPECIAL = Special()
OTHERS = Special(pad=7, unk=9, cls=31, sep=32, mask=33)  # ids of the special tokens elsewhere
FIRST, WORDS = 40, 60  # words have ids from 40 on


def _sentence(rng: torch.Generator, length: int) -> list[int]:
    return integers(rng, FIRST, FIRST + WORDS, length).tolist()


def _size(rng: torch.Generator, low: int, high: int) -> int:
    return int(integers(rng, low, high, 1))


# ---- 12.1 build_input ----


@probe("build_input", "two sentences with room to spare")
def build_input_two(build_input, rng):
    a, b = _sentence(rng, _size(rng, 5, 8)), _sentence(rng, _size(rng, 2, 5))
    return {"ids, segments, mask": build_input(a, b, len(a) + len(b) + _size(rng, 6, 10), SPECIAL)}


@probe("build_input", "special tokens with other ids")
def build_input_ids(build_input, rng):
    a, b = _sentence(rng, _size(rng, 2, 5)), _sentence(rng, _size(rng, 5, 8))
    return {"ids, segments, mask": build_input(a, b, len(a) + len(b) + _size(rng, 6, 10), OTHERS)}


@probe("build_input", "two sentences that just fit, and one token less")
def build_input_fits(build_input, rng):
    a, b = _sentence(rng, _size(rng, 5, 7)), _sentence(rng, _size(rng, 2, 4))
    T = len(a) + len(b) + 3
    return {"fits": build_input(a, b, T, SPECIAL), "one less": build_input(a, b, T - 1, SPECIAL)}


@probe("build_input", "the first sentence is too long")
def build_input_long_a(build_input, rng):
    a, b = _sentence(rng, _size(rng, 14, 18)), _sentence(rng, _size(rng, 3, 5))
    return {"ids, segments, mask": build_input(a, b, 13, SPECIAL)}


@probe("build_input", "the second sentence is too long")
def build_input_long_b(build_input, rng):
    a, b = _sentence(rng, _size(rng, 3, 5)), _sentence(rng, _size(rng, 14, 18))
    return {"ids, segments, mask": build_input(a, b, 13, SPECIAL)}


@probe("build_input", "both are too long, for an odd and for an even number of places")
def build_input_both(build_input, rng):
    a, b = _sentence(rng, _size(rng, 13, 15)), _sentence(rng, _size(rng, 16, 18))
    return {f"T {T}": build_input(a, b, T, SPECIAL) for T in (14, 15)}


@probe("build_input", "one sentence alone, short and too long")
def build_input_alone(build_input, rng):
    short, long = _sentence(rng, _size(rng, 3, 6)), _sentence(rng, _size(rng, 14, 18))
    return {"short": build_input(short, None, 11, SPECIAL), "long": build_input(long, None, 11, SPECIAL)}


@probe("build_input", "words that have the ids of special tokens")
def build_input_clash(build_input, rng):
    a = [*_sentence(rng, _size(rng, 2, 4)), SPECIAL.pad, *_sentence(rng, 2), SPECIAL.sep, *_sentence(rng, 1)]
    b = [*_sentence(rng, _size(rng, 1, 3)), SPECIAL.sep, *_sentence(rng, 1), SPECIAL.pad]
    return {"ids, segments, mask": build_input(a, b, 23, SPECIAL)}


@probe("build_input", "the result is right, and both lists are as they were after the call")
def build_input_untouched(build_input, rng):
    a, b = _sentence(rng, _size(rng, 10, 13)), _sentence(rng, _size(rng, 7, 9))
    result = build_input(a, b, 12, SPECIAL)
    return {"ids, segments, mask": result, "a after": a, "b after": b}


@probe("build_input", "no words, only special tokens", weight=0)
def build_input_empty(build_input, rng):
    return {"empty": build_input([], [], 4, SPECIAL), "one": build_input([50], [], 4, SPECIAL)}


# ---- 12.2 mlm_mask ----

B, T = 5, 21


def _rows(rng: torch.Generator, rows: int, steps: int, special: Special, unknown: bool = False) -> Tensor:
    """[CLS] words [SEP] words [SEP] and pads: at least four pads, and ten or more words in each row."""
    x = integers(rng, FIRST, FIRST + WORDS, rows, steps)
    for row in x:
        length = _size(rng, steps - 8, steps - 3)
        middle = _size(rng, 4, length - 3)
        row[0], row[middle], row[length - 1], row[length:] = special.cls, special.sep, special.sep, special.pad
        if unknown:
            row[middle + 1] = special.unk
    return x


def _question(rng: torch.Generator, rows: int, steps: int, special: Special, unknown: bool = False):
    """x, u and random ids, of which some are special tokens.

    u[0] is small at one [CLS], one [SEP], one pad and, if there are any, all unknown words. u[1] is such that all three
    cases occur wherever some words are chosen by u[0].
    """
    x = _rows(rng, rows, steps, special, unknown)
    u = torch.rand(2, rows, steps, generator=rng)
    for which in (special.cls, special.sep, special.pad, special.unk):
        places = (x == which).nonzero().tolist()
        for row, step in places if which == special.unk else places[:1]:
            u[0, row, step] *= 0.1
    order = u[0].flatten().argsort()
    is_word = ~torch.isin(x.flatten()[order], torch.tensor(special))
    low, width = torch.tensor([[0.0, 0.8, 0.9, 0.0], [0.8, 0.1, 0.1, 0.8]])[:, torch.arange(rows * steps) % 4]
    words = order[is_word]
    zones = low[: len(words)] + width[: len(words)] * u[1].flatten()[words]
    u[1].view(-1)[words] = zones
    dull = torch.rand(rows, steps, generator=rng) < 0.2
    return x, u, torch.where(dull, special.sep, integers(rng, 200, 300, rows, steps))


def _answer(result) -> dict:
    """What the model reads, what is asked, and the right words there; what labels hold elsewhere is left open."""
    masked, labels, weights = result
    weights = weights * 1.0
    return {"masked": masked, "weights": weights, "labels where chosen": torch.where(weights != 0, labels, -1)}


@probe("mlm_mask", "rows of two sentences")
def mlm_mask_rows(mlm_mask, rng):
    x, u, random_ids = _question(rng, 3 * B, T, SPECIAL)
    return _answer(mlm_mask(x, u, random_ids, SPECIAL))


@probe("mlm_mask", "a high rate, so that all three cases occur")
def mlm_mask_high(mlm_mask, rng):
    x, u, random_ids = _question(rng, 2 * B, T, SPECIAL)
    return _answer(mlm_mask(x, u, random_ids, SPECIAL, 0.63))


@probe("mlm_mask", "special tokens with other ids")
def mlm_mask_ids(mlm_mask, rng):
    x, u, random_ids = _question(rng, B, T, OTHERS)
    return _answer(mlm_mask(x, u, random_ids, OTHERS, 0.47))


@probe("mlm_mask", "some words are unknown")
def mlm_mask_unknown(mlm_mask, rng):
    x, u, random_ids = _question(rng, 2 * B, T, SPECIAL, unknown=True)
    return _answer(mlm_mask(x, u, random_ids, SPECIAL, 0.53))


@probe("mlm_mask", "one row alone, with many pads")
def mlm_mask_one(mlm_mask, rng):
    x, u, random_ids = _question(rng, 1, T, SPECIAL)
    x = torch.cat([x, torch.full((1, 3 * T), SPECIAL.pad)], dim=1)
    u = torch.cat([u, torch.rand(2, 1, 3 * T, generator=rng)], dim=2)  # many a pad would be chosen
    random_ids = torch.cat([random_ids, integers(rng, 200, 300, 1, 3 * T)], dim=1)
    return _answer(mlm_mask(x, u, random_ids, SPECIAL, 0.37))


@probe("mlm_mask", "every word is chosen: what becomes of the words")
def mlm_mask_all(mlm_mask, rng):
    x, u, random_ids = _question(rng, 2 * B, T, SPECIAL)
    return _answer(mlm_mask(x, u, random_ids, SPECIAL, 1.0))


@probe("mlm_mask", "the result is right, and all arguments are as they were after the call")
def mlm_mask_untouched(mlm_mask, rng):
    x, u, random_ids = _question(rng, B, T, SPECIAL)
    answer = _answer(mlm_mask(x, u, random_ids, SPECIAL, 0.57))
    return answer | {"x after": x, "u after": u, "random_ids after": random_ids}


@probe("mlm_mask", "plain rows: every word with its own number", weight=0)
def mlm_mask_plain(mlm_mask, rng):
    x = torch.tensor([[2, *range(40, 56), 3]])
    u = torch.stack([torch.linspace(0.0, 0.95, 18), torch.linspace(0.99, 0.02, 18)])[:, None]
    return _answer(mlm_mask(x, u, 100 + x, SPECIAL, 0.66))


# ---- 12.3 mlm_loss ----

V = 13


def _cloze(rng: torch.Generator, rows: int, steps: int, V: int) -> tuple[Tensor, Tensor]:
    """Labels of all kinds, 0 among them, and the chosen places: a different number in each row, at least one."""
    labels = integers(rng, 0, V, rows, steps)
    labels[torch.rand(rows, steps, generator=rng) < 0.2] = 0
    weights = (torch.rand(rows, steps, generator=rng) < 0.35) * 1.0
    weights[:, 0], weights[:, 1] = 1.0, 0.0
    weights[0, 2:5], labels[0, 2], labels[1, 0] = 1.0, 0, 0  # more in the first row
    return labels, weights


@probe("mlm_loss", "some tokens were chosen")
def mlm_loss_some(mlm_loss, rng):
    labels, weights = _cloze(rng, 5, 11, V)
    return {"loss": mlm_loss(2 * normal(rng, 5, 11, V), labels, weights)}


@probe("mlm_loss", "a single token was chosen")
def mlm_loss_single(mlm_loss, rng):
    labels = integers(rng, 1, V, 3, 7)
    weights = torch.zeros(3, 7)
    weights[_size(rng, 0, 3), _size(rng, 0, 7)] = 1.0
    return {"loss": mlm_loss(2 * normal(rng, 3, 7, V), labels, weights)}


@probe("mlm_loss", "all tokens were chosen")
def mlm_loss_all(mlm_loss, rng):
    labels, _ = _cloze(rng, 3, 7, V)
    return {"loss": mlm_loss(2 * normal(rng, 3, 7, V), labels, torch.ones(3, 7))}


@probe("mlm_loss", "nothing was chosen, and with something chosen beside it")
def mlm_loss_none(mlm_loss, rng):
    labels, weights = _cloze(rng, 3, 7, V)
    logits = normal(rng, 3, 7, V).requires_grad_()
    nothing = mlm_loss(logits, labels, torch.zeros(3, 7))
    gradient = torch.autograd.grad(nothing, logits, allow_unused=True)[0] if nothing.requires_grad else None
    gradient = "no gradient reaches the scores" if gradient is None else gradient
    return {"nothing": nothing, "its gradient": gradient, "something": mlm_loss(logits, labels, weights)}


@probe("mlm_loss", "the word with id 0 is asked for")
def mlm_loss_zero(mlm_loss, rng):
    _, weights = _cloze(rng, 3, 7, V)
    labels = integers(rng, 0, 2, 3, 7)
    labels[:, 0] = 0
    return {"loss": mlm_loss(2 * normal(rng, 3, 7, V), labels, weights)}


@probe("mlm_loss", "scores so large and so far apart that exp of them overflows or is 0")
def mlm_loss_large(mlm_loss, rng):
    labels, weights = _cloze(rng, 3, 7, V)
    return {"loss": mlm_loss(900 * normal(rng, 3, 7, V), labels, weights)}


@probe("mlm_loss", "the loss is right and gradients reach the scores, those of chosen tokens only")
def mlm_loss_gradients(mlm_loss, rng):
    labels, weights = _cloze(rng, 3, 7, V)
    logits = leaf(rng, 3, 7, V)
    return gradients(rng, mlm_loss(logits, labels, weights) + 0 * logits.sum(), logits=logits)


@probe("mlm_loss", "the loss is right, and all arguments are as they were after the call")
def mlm_loss_untouched(mlm_loss, rng):
    labels, weights = _cloze(rng, 3, 7, V)
    logits = normal(rng, 3, 7, V)
    loss = mlm_loss(logits, labels, weights)
    return {"loss": loss, "logits after": logits, "labels after": labels, "weights after": weights}


@probe("mlm_loss", "all sizes the same", weight=0)
def mlm_loss_same_sizes(mlm_loss, rng):
    labels, weights = _cloze(rng, 6, 6, 6)
    return {"loss": mlm_loss(normal(rng, 6, 6, 6), labels, weights)}


# ---- 12.4 nsp_pairs ----


def _documents(rng: torch.Generator, sizes: tuple[int, ...]) -> list[list[list[int]]]:
    """Documents of so many sentences; every sentence has one to four ids, and its own first one."""
    first, docs = 0, []
    for size in sizes:
        doc = []
        for _ in range(size):
            first += 1
            doc.append([first, *integers(rng, 500, 600, _size(rng, 0, 4)).tolist()])
        docs.append(doc)
    return docs


def _draws(rng: torch.Generator, docs: list) -> Tensor:
    """A row of random numbers for each pair; the first numbers of all rows are spread evenly."""
    n = sum(len(doc) - 1 for doc in docs)
    u = torch.rand(n, 3, generator=rng)
    u[:, 0] = (torch.randperm(n, generator=rng) + u[:, 0]) / n
    return u


def _pairs(result) -> tuple:
    """Triples with the label as a number: True and 1 are the same."""
    return tuple((list(a), list(b), int(follows)) for a, b, follows in result)


def _shuffled(rng: torch.Generator, *sizes: int) -> tuple[int, ...]:
    return tuple(sizes[i] for i in torch.randperm(len(sizes), generator=rng).tolist())


@probe("nsp_pairs", "a few documents")
def nsp_pairs_few(nsp_pairs, rng):
    docs = _documents(rng, _shuffled(rng, 3, 5, 7, 9))
    return {"pairs": _pairs(nsp_pairs(docs, _draws(rng, docs)))}


@probe("nsp_pairs", "two documents: those that do not follow come from the other one")
def nsp_pairs_two(nsp_pairs, rng):
    docs = _documents(rng, _shuffled(rng, 5, 8))
    return {"pairs": _pairs(nsp_pairs(docs, _draws(rng, docs)))}


@probe("nsp_pairs", "documents of a single sentence among others")
def nsp_pairs_single(nsp_pairs, rng):
    docs = _documents(rng, _shuffled(rng, 1, 6, 1, 4, 1))
    return {"pairs": _pairs(nsp_pairs(docs, _draws(rng, docs)))}


@probe("nsp_pairs", "all follow, and none follows")
def nsp_pairs_extremes(nsp_pairs, rng):
    docs = _documents(rng, _shuffled(rng, 4, 5, 6, 7))
    u = _draws(rng, docs)
    low, high = u.clone(), u.clone()
    low[:, 0], high[:, 0] = 0.45 * u[:, 0], 0.55 + 0.45 * u[:, 0]
    return {"all follow": _pairs(nsp_pairs(docs, low)), "none follows": _pairs(nsp_pairs(docs, high))}


@probe("nsp_pairs", "random numbers near 0, near and at a half, and near 1")
def nsp_pairs_borders(nsp_pairs, rng):
    docs = _documents(rng, _shuffled(rng, 4, 5, 6))
    n = sum(len(doc) - 1 for doc in docs)
    near = torch.tensor([0.001, 0.499, 0.5, 0.501, 0.999])
    u = near[integers(rng, 0, 5, n, 3)]
    u[:5, :2] = near[:, None]
    return {"pairs": _pairs(nsp_pairs(docs, u))}


@probe("nsp_pairs", "many documents")
def nsp_pairs_many(nsp_pairs, rng):
    docs = _documents(rng, tuple(integers(rng, 2, 7, 17).tolist()))
    return {"pairs": _pairs(nsp_pairs(docs, _draws(rng, docs)))}


@probe("nsp_pairs", "the result is right, and the documents and u are as they were after the call")
def nsp_pairs_untouched(nsp_pairs, rng):
    docs = _documents(rng, _shuffled(rng, 3, 4, 6, 7))
    u = _draws(rng, docs)
    pairs = _pairs(nsp_pairs(docs, u))
    return {"pairs": pairs, "docs after": docs, "u after": u}


@probe("nsp_pairs", "documents of the same size", weight=0)
def nsp_pairs_same_sizes(nsp_pairs, rng):
    docs = _documents(rng, (4, 4, 4))
    return {"pairs": _pairs(nsp_pairs(docs, _draws(rng, docs)))}


# ---- 12.5 bert_embed ----

LONGEST, D = 17, 9


def _tables(rng: torch.Generator, V: int = V, longest: int = LONGEST, D: int = D) -> BertEmbedParams:
    """Large numbers, beside which eps is nothing."""
    tables = (100 * normal(rng, V, D), 100 * normal(rng, 2, D), 100 * normal(rng, longest, D))
    return BertEmbedParams(*tables, normal(rng, D), normal(rng, D))


def _two_sentences(rng: torch.Generator, rows: int, steps: int, V: int = V) -> tuple[Tensor, Tensor]:
    """Ids, and segments that change from 0 to 1 at another place in each row, and back where pads begin."""
    starts = 1 + torch.randperm(steps - 3, generator=rng)[:rows, None]
    t = torch.arange(steps)
    return integers(rng, 0, V, rows, steps), ((t >= starts) & (t < steps - 1)) * 1


@probe("bert_embed", "a batch of pairs")
def bert_embed_batch(bert_embed, rng):
    return {"embedded": bert_embed(*_two_sentences(rng, 5, 11), _tables(rng))}


@probe("bert_embed", "one token, of the first and of the second sentence")
def bert_embed_one(bert_embed, rng):
    ids, params = integers(rng, 0, V, 1, 1), _tables(rng)
    return {f"segment {s}": bert_embed(ids, torch.full((1, 1), s), params) for s in (0, 1)}


@probe("bert_embed", "as many steps as there are positions")
def bert_embed_longest(bert_embed, rng):
    return {"embedded": bert_embed(*_two_sentences(rng, 3, LONGEST), _tables(rng))}


@probe("bert_embed", "small numbers, as at the start of a training: eps matters")
def bert_embed_small(bert_embed, rng):
    tokens, segments, positions, g, b = _tables(rng)
    params = BertEmbedParams(2e-4 * tokens, 2e-4 * segments, 2e-4 * positions, g, b)
    return {"embedded": bert_embed(*_two_sentences(rng, 3, 7), params)}


@probe("bert_embed", "the result is right and gradients reach all five parameters")
def bert_embed_gradients(bert_embed, rng):
    params = BertEmbedParams(*(table.requires_grad_() for table in _tables(rng)))
    return gradients(rng, bert_embed(*_two_sentences(rng, 3, 11), params), **params._asdict())


@probe("bert_embed", "the result is right, and all arguments are as they were after the call")
def bert_embed_untouched(bert_embed, rng):
    (ids, segments), params = _two_sentences(rng, 3, 7), _tables(rng)
    embedded = bert_embed(ids, segments, params)
    return {"embedded": embedded, "ids after": ids, "segments after": segments, "params after": tuple(params)}


@probe("bert_embed", "all sizes the same", weight=0)
def bert_embed_same_sizes(bert_embed, rng):
    ids, segments = integers(rng, 0, 6, 6, 6), integers(rng, 0, 2, 6, 6)
    return {"embedded": bert_embed(ids, segments, _tables(rng, V=6, longest=7, D=6))}


# ---- 12.6 wordpiece_encode ----


def _letters(rng: torch.Generator, n: int) -> str:
    """n different small letters, in random order."""
    return "".join(chr(ord("a") + i) for i in torch.randperm(26, generator=rng)[:n].tolist())


def _vocabulary(*pieces: str) -> dict[str, int]:
    return {piece: number for number, piece in enumerate(pieces)}


@probe("wordpiece_encode", "a word that is a piece, and one that is cut in two")
def wordpiece_encode_simple(wordpiece_encode, rng):
    a, b, c, d, e, f, g = _letters(rng, 7)
    vocab = _vocabulary("[UNK]", a + b + c, "##" + d + e, "##" + d + e + f, a + b, a, "##" + c, "##" + g, d + e + f)
    words = (a + b + c, a + b + c + d + e, a + b + c + d + e + f, a + b + c + d + e + f + g, a)
    return {"pieces": tuple(tuple(wordpiece_encode(word, vocab)) for word in words)}


@probe("wordpiece_encode", "the longest piece first, again and again")
def wordpiece_encode_long(wordpiece_encode, rng):
    word = _letters(rng, 12)
    vocab = _vocabulary("[UNK]", *(word[:j] for j in (1, 2, 4)), *("##" + c for c in word))
    for i, j in ((4, 6), (4, 7), (7, 9), (7, 12), (5, 12), (2, 12), (9, 12)):
        vocab["##" + word[i:j]] = len(vocab)
    return {"pieces": tuple(tuple(wordpiece_encode(word[:n], vocab)) for n in (12, 11, 9, 7, 5, 3))}


@probe("wordpiece_encode", "the longest from the left ends in a place from which nothing fits")
def wordpiece_encode_trap(wordpiece_encode, rng):
    a, b, c, d, e, f = _letters(rng, 6)
    vocab = _vocabulary("[UNK]", a + b + c, a + b, a, "##" + c + d + e, "##" + b + c, "##" + e, "##" + f, c + d, d)
    words = (a + b + c + d + e, a + b + c + f, a + b + c + d, a + b + c + e)
    return {"pieces": tuple(tuple(wordpiece_encode(word, vocab)) for word in words)}


@probe("wordpiece_encode", "unknown letters at the beginning, in the middle and at the end")
def wordpiece_encode_unknown(wordpiece_encode, rng):
    a, b, c, d, e, f, x, y = _letters(rng, 8)
    pieces = (a, a + b, "##" + b, "##" + c, "##" + c + d, "##" + e + f, "##" + a, b, c)
    vocab = _vocabulary("[UNK]", *pieces)
    words = (x + a + b, a + b + x + c, a + b + c + d + x, x, a + b + x + y + c, a + b + c + d)
    return {"pieces": tuple(tuple(wordpiece_encode(word, vocab)) for word in words)}


@probe("wordpiece_encode", "pieces that only begin a word, and pieces that only continue one")
def wordpiece_encode_marks(wordpiece_encode, rng):
    a, b, c, d, e, f = _letters(rng, 6)
    vocab = _vocabulary("[UNK]", a + b, c + d, "##" + e + f, "##" + c, e, "##" + d, "##" + a + b, a)
    words = (a + b + c + d, a + b + e + f, e + f, e + a + b, c + d + a + b + e + f, a + b + a + b)
    return {"pieces": tuple(tuple(wordpiece_encode(word, vocab)) for word in words)}


@probe("wordpiece_encode", "another name for what is unknown, a set of pieces, and no letters at all")
def wordpiece_encode_names(wordpiece_encode, rng):
    a, b, c, x = _letters(rng, 4)
    vocab = {a, a + b, "##" + c, "##" + b + c}
    words = (a + b + c, a + b + x, x + a, a + b + c + c, "")
    return {"pieces": tuple(tuple(wordpiece_encode(word, vocab, "<?>")) for word in words)}


@probe("wordpiece_encode", "random words and a random vocabulary")
def wordpiece_encode_random(wordpiece_encode, rng):
    letters = _letters(rng, 5)

    def draw(n: int) -> str:
        return "".join(letters[i] for i in integers(rng, 0, 5, n).tolist())

    pieces = [*letters, *("##" + letter for letter in letters[:-1])]  # the last one cannot continue a word alone
    pieces += [mark + draw(_size(rng, 2, 4)) for _ in range(25) for mark in ("", "##")]
    vocab = _vocabulary("[UNK]", *dict.fromkeys(pieces))
    return {"pieces": tuple(tuple(wordpiece_encode(draw(_size(rng, 4, 11)), vocab)) for _ in range(31))}


@probe("wordpiece_encode", "no letters at all, one, and a word that can be cut in two ways", weight=0)
def wordpiece_encode_empty(wordpiece_encode, rng):
    vocab = _vocabulary("[UNK]", "a", "##b", "ab", "##a", "p", "##q", "##rstu", "pqr", "##stu")
    return {word: tuple(wordpiece_encode(word, vocab)) for word in ("", "a", "ab", "aB", "Ab", "pqrstu")}


# ---- 12.7 linear_warmup_decay ----


def _rate(linear_warmup_decay, *arguments):
    """The step size, or in words that it divided by zero."""
    try:
        return linear_warmup_decay(*arguments)
    except ZeroDivisionError:
        return "a division by zero"


def _rates(linear_warmup_decay, steps, warmup: int, total: int, peak: float) -> dict:
    return {
        f"step {step}, warm-up {warmup}, total {total}": _rate(linear_warmup_decay, step, warmup, total, peak)
        for step in dict.fromkeys(steps)
    }


def _plan(rng: torch.Generator) -> tuple[int, int, float]:
    """warm-up, total, peak."""
    warmup = _size(rng, 11, 30)
    return warmup, warmup + _size(rng, 70, 200), float(0.1 + torch.rand(1, generator=rng))


@probe("linear_warmup_decay", "while it warms up")
def linear_warmup_decay_rising(linear_warmup_decay, rng):
    warmup, total, peak = _plan(rng)
    return _rates(linear_warmup_decay, (1, 2, warmup // 2, warmup - 1), warmup, total, peak)


@probe("linear_warmup_decay", "at its peak and afterwards")
def linear_warmup_decay_falling(linear_warmup_decay, rng):
    warmup, total, peak = _plan(rng)
    middle = (warmup + total) // 2
    return _rates(linear_warmup_decay, (warmup, warmup + 1, middle, total - 1), warmup, total, peak)


@probe("linear_warmup_decay", "at the end and behind it, and once before")
def linear_warmup_decay_end(linear_warmup_decay, rng):
    warmup, total, peak = _plan(rng)
    return _rates(linear_warmup_decay, (total - 2, total, total + 1, 2 * total), warmup, total, peak)


@probe("linear_warmup_decay", "without a warm-up")
def linear_warmup_decay_none(linear_warmup_decay, rng):
    _, total, peak = _plan(rng)
    return _rates(linear_warmup_decay, (0, 1, total // 2, total - 1, total), 0, total, peak)


@probe("linear_warmup_decay", "nothing but a warm-up")
def linear_warmup_decay_only(linear_warmup_decay, rng):
    warmup, _, peak = _plan(rng)
    return _rates(linear_warmup_decay, (0, 1, warmup - 1, warmup, warmup + 1), warmup, warmup, peak)


@probe("linear_warmup_decay", "the numbers of the paper")
def linear_warmup_decay_paper(linear_warmup_decay, rng):
    step = _size(rng, 20_000, 900_000)
    return _rates(linear_warmup_decay, (0, 100, 10_000, step, 1_000_000), 10_000, 1_000_000, 1e-4)


@probe("linear_warmup_decay", "a peak of 1, and ten steps", weight=0)
def linear_warmup_decay_ten(linear_warmup_decay, rng):
    return _rates(linear_warmup_decay, range(13), 5, 10, 1)
