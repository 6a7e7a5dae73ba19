"""Attention against plain loops and torch, forward and backward; masks, pads, order; a decoder that learns with it."""

import random
from functools import partial

import pytest
import torch
import torch.nn.functional as F
from agreement import assert_close, assert_same_gradients

from unrolled.attention import (
    AdditiveScore,
    AttentionDecoderParams,
    BilinearScore,
    attention_pool,
    attention_weights,
    attn_decoder_step,
    context,
    image_attention,
    score_additive,
    score_bilinear,
    score_dot,
)
from unrolled.captions import PictureLanguage, scenes
from unrolled.gated import GRUParams, gru_step
from unrolled.pairs import reversed_digits
from unrolled.pooling import masked_mean
from unrolled.seq2seq import encode, greedy, shift_right
from unrolled.translation import Languages, learn_pairs, translate
from unrolled.translators import BOS, EOS, PAD, AttentionSeq2Seq, MapReader, RecurrentReader, generate

B, T, S, E, H, C, A, R, V = 3, 5, 7, 2, 9, 11, 4, 6, 13

double = pytest.mark.usefixtures("double")


def leaf(*shape: int) -> torch.Tensor:
    return torch.randn(shape).requires_grad_()


def some(*shape: int) -> torch.Tensor:
    """A random mask that leaves every row something."""
    mask = torch.rand(shape) < 0.5
    mask[..., torch.randint(shape[-1], ())] = True
    return mask


def entry_by_entry(score, s, h):
    """Scores of all pairs of one query (H,) and one state (C,)."""
    rows = [torch.stack([torch.stack([score(q, k) for k in h[b]]) for q in s[b]]) for b in range(len(s))]
    return torch.stack(rows)  # (B, T, S)


# ---- scores ----


@double
def test_dot_score_is_a_sum_of_products():
    s, h = leaf(B, T, H), leaf(B, S, H)
    loop = entry_by_entry(lambda q, k: (q * k).sum(), s, h)
    assert_close(score_dot(s, h), loop)
    assert_same_gradients(score_dot(s, h), loop, (s, h))


@double
def test_bilinear_score_equals_loop_and_torch():
    s, h, W = leaf(B, T, H), leaf(B, S, C), leaf(H, C)
    loop = entry_by_entry(lambda q, k: sum(q[a] * W[a, b] * k[b] for a in range(H) for b in range(C)), s, h)
    pairs = s[:, :, None].expand(B, T, S, H).contiguous(), h[:, None].expand(B, T, S, C).contiguous()
    for theirs in (loop, F.bilinear(*pairs, W[None])[..., 0]):
        ours = score_bilinear(s, h, W)
        assert_close(ours, theirs)
        assert_same_gradients(ours, theirs, (s, h, W))
    s, h = leaf(B, T, H), leaf(B, S, H)
    assert_close(score_bilinear(s, h, torch.eye(H)), score_dot(s, h))


@double
def test_additive_score_equals_a_network_on_every_pair():
    s, h, W, U, v = leaf(B, T, H), leaf(B, S, C), leaf(A, H), leaf(A, C), leaf(A)
    ours = score_additive(s, h, W, U, v)
    loop = entry_by_entry(lambda q, k: torch.tanh(torch.cat([W, U], dim=1) @ torch.cat([q, k])) @ v, s, h)
    assert_close(ours, loop)
    assert_same_gradients(ours, loop, (s, h, W, U, v))
    assert (ours.abs() <= v.abs().sum()).all()


@double
def test_modules_call_the_functions():
    s, h = torch.randn(B, T, H), torch.randn(B, S, C)
    bilinear, additive = BilinearScore(H, C), AdditiveScore(H, C, A)
    assert bilinear.W.weight.shape == (H, C)
    assert_close(bilinear(s, h), score_bilinear(s, h, bilinear.W.weight))
    weights = additive.W.weight, additive.U.weight, additive.v.weight[0]
    assert_close(additive(s, h), score_additive(s, h, *weights))
    assert [len(list(module.parameters())) for module in (bilinear, additive)] == [1, 3]


# ---- weights and contexts ----


@double
@pytest.mark.parametrize("shape", [None, (B, 1, S), (T, S), (B, T, S)])
def test_dot_attention_equals_torch(shape):
    s, h = leaf(B, T, H), leaf(B, S, H)
    mask = None if shape is None else some(*shape)
    alpha = attention_weights(score_dot(s, h), mask)
    ours, theirs = context(alpha, h), F.scaled_dot_product_attention(s, h, h, mask, scale=1.0)
    assert_close(ours, theirs)
    assert_close(alpha.sum(dim=-1), torch.ones(B, T))
    assert_same_gradients(ours, theirs, (s, h))


@double
def test_weights_are_a_softmax_of_what_the_mask_leaves():
    e, mask = leaf(B, T, S), some(B, T, S)
    rows = []
    for b in range(B):
        for t in range(T):
            left = mask[b, t].nonzero()[:, 0]
            rows.append(torch.zeros(S).index_put((left,), torch.softmax(e[b, t, left], dim=0)))
    loop, ours = torch.stack(rows).view(B, T, S), attention_weights(e, mask)
    assert_close(ours, loop)
    assert_same_gradients(ours, loop, (e,))
    assert (ours[~mask] == 0).all() and (ours[mask] > 0).all()
    assert_close(attention_weights(e), torch.softmax(e, dim=2))
    assert_close(attention_weights(e + 1e4 * torch.randn(B, T, 1), mask), ours, atol=1e-7)


@double
def test_where_all_is_masked_weights_are_zero_and_gradients_finite():
    e, h, mask = leaf(B, T, S), leaf(B, S, C), some(B, T, S)
    mask[1], mask[2, 3] = False, False
    alpha = attention_weights(e, mask)
    assert (alpha[1] == 0).all() and (alpha[2, 3] == 0).all()
    c = context(alpha, h)
    assert (c[1] == 0).all() and (c[2, 3] == 0).all()
    grads = torch.autograd.grad((c * torch.randn_like(c)).sum(), (e, h))
    assert all(grad.isfinite().all() for grad in grads)
    assert (grads[0][~mask] == 0).all()


@double
def test_context_equals_a_loop():
    alpha, h = leaf(B, T, S), leaf(B, S, C)  # any weights
    rows = [sum(alpha[b, t, j] * h[b, j] for j in range(S)) for b in range(B) for t in range(T)]
    loop = torch.stack(rows).view(B, T, C)
    assert_close(context(alpha, h), loop)
    assert_same_gradients(context(alpha, h), loop, (alpha, h))


# ---- one step of a decoder ----


def random_params() -> AttentionDecoderParams:
    gru = GRUParams(leaf(3 * H, E + C), leaf(3 * H, H), leaf(3 * H), torch.zeros(H))
    return AttentionDecoderParams(leaf(V, E), gru, leaf(H, C), leaf(R, H + C), leaf(V, R), leaf(V))


def leaves(params: AttentionDecoderParams) -> list[torch.Tensor]:
    return [params.W_e, *params.gru[:3], *params[2:]]


@double
def test_decoder_step_equals_a_loop_over_rows():
    params, y, s, h, mask = random_params(), torch.randint(V, (B,)), leaf(B, H), leaf(B, S, C), some(B, S)
    found = attn_decoder_step(y, s, h, mask, params)
    rows = []
    for b in range(B):
        real = mask[b].nonzero()[:, 0]
        weights = torch.softmax(torch.stack([s[b] @ params.W_a @ h[b, j] for j in real]), dim=0)
        c = sum(a * h[b, j] for a, j in zip(weights, real, strict=True))
        new = gru_step(torch.cat([params.W_e[y[b]], c])[None], s[b][None], params.gru)[0]
        readout = torch.tanh(params.W_r[:, :H] @ new + params.W_r[:, H:] @ c)
        rows.append((params.W_hy @ readout + params.b_y, new, torch.zeros(S).index_put((real,), weights)))
    for ours, loop in zip(found, map(torch.stack, zip(*rows, strict=True)), strict=True):
        assert_close(ours, loop)
    whole, of_loop = torch.cat(found, dim=1), torch.cat([torch.cat(row)[None] for row in rows])
    assert_same_gradients(whole, of_loop, [s, h, *leaves(params)])


@double
def test_decoder_step_does_not_see_pads_order_or_neighbours():
    params, y, s, h, mask = random_params(), torch.randint(V, (B,)), torch.randn(B, H), leaf(B, S, C), some(B, S)
    mask[:, 0], mask[:, 1] = False, True
    logits, new, alpha = attn_decoder_step(y, s, h, mask, params)
    other = torch.where(mask[..., None], h, 1e3 * torch.randn_like(h))
    perm = torch.randperm(S)
    for again, weights in (
        (attn_decoder_step(y, s, other, mask, params), alpha),
        (attn_decoder_step(y, s, h[:, perm], mask[:, perm], params), alpha[:, perm]),
    ):
        for ours, wanted in zip(again, (logits, new, weights), strict=True):
            assert_close(ours, wanted)
    for b in range(B):
        alone = attn_decoder_step(y[b : b + 1], s[b : b + 1], h[b : b + 1], mask[b : b + 1], params)
        for ours, wanted in zip(alone, (logits, new, alpha), strict=True):
            assert_close(ours[0], wanted[b])
    grad = torch.autograd.grad(logits.sum() + new.sum(), h)[0]
    assert (grad[~mask] == 0).all() and (grad[mask] != 0).any()


@double
def test_decoder_step_with_nothing_to_look_at():
    params, y, s, h, mask = random_params(), torch.randint(V, (B,)), leaf(B, H), leaf(B, S, C), some(B, S)
    mask[1] = False
    found = attn_decoder_step(y, s, h, mask, params)
    assert (found[2][1] == 0).all()
    blank = attn_decoder_step(y, s, torch.zeros(B, S, C), torch.ones_like(mask), params)
    for ours, wanted in zip(found[:2], blank[:2], strict=True):
        assert_close(ours[1], wanted[1])
    grads = torch.autograd.grad(sum(tensor.square().sum() for tensor in found), [s, h, *leaves(params)])
    assert all(grad.isfinite().all() for grad in grads)


@double
def test_greedy_writes_with_the_states_of_encode():
    params = random_params()
    params = params._replace(b_y=params.b_y.detach().index_fill(0, torch.tensor([PAD]), -1e3))
    f, b = (GRUParams(leaf(3 * w, E), leaf(3 * w, w), leaf(3 * w), torch.zeros(w)) for w in (5, C - 5))
    lengths = torch.tensor([4, S, 1])
    h, c = encode(torch.randn(B, S, E), lengths, f, b)
    mask = torch.arange(S) < lengths[:, None]

    def step(y, s, h):
        return attn_decoder_step(y, s, h, mask, params)[:2]

    said = greedy(step, c[:, :H], h, BOS, EOS, PAD, max_len=8)
    s, inputs = c[:, :H], shift_right(said, BOS)[0]
    for t in range(said.shape[1]):
        logits, s, _ = attn_decoder_step(inputs[:, t], s, h, mask, params)
        going = said[:, t] != PAD
        assert torch.equal(logits.argmax(dim=1)[going], said[:, t][going])


# ---- without a query, and over a picture ----


@double
def test_pool_equals_a_loop_and_a_mean_if_nothing_is_looked_for():
    h, w, mask = leaf(B, S, C), leaf(C), some(B, S)
    c, alpha = attention_pool(h, w, mask)
    rows = [torch.softmax(h[b, mask[b]] @ w, dim=0) @ h[b, mask[b]] for b in range(B)]
    assert_close(c, torch.stack(rows))
    assert_same_gradients(c, torch.stack(rows), (h, w))
    assert_close(alpha.sum(dim=1), torch.ones(B))
    assert_close(attention_pool(h, torch.zeros(C), mask)[0], masked_mean(h, mask))
    perm = torch.randperm(S)
    assert_close(attention_pool(h[:, perm], w, mask[:, perm])[0], c)
    other = torch.where(mask[..., None], h, 1e3 * torch.randn_like(h))
    assert_close(attention_pool(other, w, mask)[0], c)


@double
def test_pool_of_an_empty_row_is_zero_with_finite_gradients():
    h, w, mask = leaf(B, S, C), leaf(C), some(B, S)
    mask[1] = False
    c, alpha = attention_pool(h, w, mask)
    assert (c[1] == 0).all() and (alpha[1] == 0).all()
    grads = torch.autograd.grad((c * torch.randn_like(c)).sum(), (h, w))
    assert all(grad.isfinite().all() for grad in grads)
    assert (grads[0][~mask] == 0).all()


@double
def test_image_attention_equals_a_loop_and_attention_over_a_list_of_places():
    rows, columns = 4, 7
    feat, s, W_a = leaf(B, C, rows, columns), leaf(B, H), leaf(H, C)
    c, alpha = image_attention(feat, s, W_a)
    places = [(i, j) for i in range(rows) for j in range(columns)]
    loop = []
    for b in range(B):
        weights = torch.softmax(torch.stack([s[b] @ W_a @ feat[b, :, i, j] for i, j in places]), dim=0)
        loop.append(sum(a * feat[b, :, i, j] for a, (i, j) in zip(weights, places, strict=True)))
        for a, (i, j) in zip(weights, places, strict=True):
            assert_close(alpha[b, i, j], a)
    assert_close(c, torch.stack(loop))
    assert_same_gradients(c, torch.stack(loop), (feat, s, W_a))
    assert_close(alpha.sum(dim=(1, 2)), torch.ones(B))
    turned, alpha_turned = image_attention(feat.mT, s, W_a)  # rows and columns change places
    assert_close(turned, c)
    assert_close(alpha_turned, alpha.mT)


@double
def test_gradcheck():
    s, h, mask = leaf(2, 3, 2), leaf(2, 4, 5), torch.tensor([[True, False, True, True], [False] * 4])
    check = torch.autograd.gradcheck
    assert check(lambda s, h, W: attention_weights(score_bilinear(s, h, W), mask[:, None]), (s, h, leaf(2, 5)))
    assert check(score_additive, (s, h, leaf(3, 2), leaf(3, 5), leaf(3)))
    assert check(lambda h, w: attention_pool(h, w, mask), (h, leaf(5)))
    assert check(image_attention, (leaf(2, 5, 2, 3), leaf(2, 2), leaf(2, 5)))
    assert check(context, (leaf(2, 3, 4), h))


# ---- the translator ----

PAIRS = reversed_digits(300, 3, 5, random.Random(0))
LANGUAGES = Languages(PAIRS)
SCORES = {"bilinear": BilinearScore, "additive": partial(AdditiveScore, A=10)}


def model_of(score: str, H: int = 24) -> AttentionSeq2Seq:
    torch.manual_seed(0)
    reader = RecurrentReader(len(LANGUAGES.source), 8, 12)
    return AttentionSeq2Seq(reader, SCORES[score](H, reader.width), len(LANGUAGES.target), 8, H)


def test_translator_takes_the_step_of_the_exercise(double):
    """Where the reset stands makes no difference if the candidate's matrix is diagonal: W(r * h) is r * (W h) then."""
    model = model_of("bilinear").double()
    cell, H = model.gru, 24
    with torch.no_grad():
        cell.weight_hh[2 * H :] = torch.diag(cell.weight_hh[2 * H :].diagonal())
        cell.bias_hh[2 * H :] = 0

    def blocks(tensor):  # torch's r, z, n as our u, r, candidate: u is 1 - z
        r, z, n = tensor.chunk(3)
        return torch.cat([-z, r, n])

    b = blocks(cell.bias_ih + cell.bias_hh)
    gru = GRUParams(blocks(cell.weight_ih), blocks(cell.weight_hh), b, torch.zeros(H))
    tables = model.score.W.weight, model.readout.weight, model.output.weight, model.output.bias
    params = AttentionDecoderParams(model.embedding.weight, gru, *tables)
    src, lengths, y = LANGUAGES.batch(PAIRS[:5])
    y_in, _ = shift_right(y, BOS)
    scores, looked = model(src, lengths, y_in), model.look(src, lengths, y_in)
    s, memory = model.start(src, lengths)
    for t in range(y_in.shape[1]):
        logits, s, alpha = attn_decoder_step(y_in[:, t], s, memory.h, memory.mask, params)
        assert_close(logits, scores[:, t])
        assert_close(alpha, looked[:, t])


@pytest.mark.parametrize("score", SCORES)
def test_steps_one_by_one_give_the_scores_of_all_steps(double, score):
    model = model_of(score).double()
    src, lengths, y = LANGUAGES.batch(PAIRS[:5])
    y_in, _ = shift_right(y, BOS)
    at_once, (s, memory) = model(src, lengths, y_in), model.start(src, lengths)
    assert len(memory) == 5
    for t in range(y_in.shape[1]):
        scores, s = model.step(y_in[:, t], s, memory)
        assert_close(scores, at_once[:, t])


def test_reader_returns_the_states_of_torch_and_the_context_as_before(double):
    reader = model_of("bilinear").double().reader
    src, lengths, _ = LANGUAGES.batch(PAIRS[:5])
    states, real, c = reader.read(src, lengths)
    assert real.sum(dim=1).tolist() == lengths.tolist()
    assert torch.equal(c, reader(src, lengths))
    for b, n in enumerate(lengths):
        alone = reader.gru(reader.embedding(src[b : b + 1, :n]))[0][0]
        assert_close(states[b, :n], alone)
        assert (states[b, n:] == 0).all()
        assert_close(c[b], torch.cat([alone[-1, :12], alone[0, 12:]]))


@pytest.mark.parametrize("score", SCORES)
def test_pads_change_nothing(double, score):
    model = model_of(score).double()
    long, short = max(PAIRS, key=lambda p: len(p[0])), min(PAIRS, key=lambda p: len(p[0]))
    src, lengths, y = LANGUAGES.batch([long, short])
    alone_src, alone_lengths, alone_y = LANGUAGES.batch([short])
    y_in = shift_right(alone_y, BOS)[0]
    n, t = alone_src.shape[1], y_in.shape[1]
    together = shift_right(y, BOS)[0]
    assert_close(model(src, lengths, together)[1, :t], model(alone_src, alone_lengths, y_in)[0])
    looked, alone = model.look(src, lengths, together), model.look(alone_src, alone_lengths, y_in)
    assert_close(looked[1, :t, :n], alone[0])
    assert (looked[1, :, n:] == 0).all()
    assert_close(looked.sum(dim=2), torch.ones(looked.shape[:2]))


@pytest.mark.parametrize("score", SCORES)
def test_a_few_reversals_are_learned_by_heart(score):
    few, model = PAIRS[:8], model_of(score, H=32)
    losses = learn_pairs(model, few, LANGUAGES, updates=200, seed=0, size=8, lr=1e-2)
    assert losses[-1] < 0.05 < losses[0]
    assert translate(model, few, LANGUAGES) == [targets[0] for _, targets in few]


def test_captions_are_learned_from_a_map_and_weights_fit_the_picture():
    pictures = scenes(100, "train", random.Random(0))
    language = PictureLanguage(pictures)
    torch.manual_seed(0)
    reader = MapReader(16)
    model = AttentionSeq2Seq(reader, BilinearScore(24, 16), len(language.target), 8, 24)
    losses = learn_pairs(model, pictures, language, updates=40, seed=0, lr=1e-2)
    assert losses[-1] < losses[0] / 2
    images, heights, y = language.batch(pictures[:3])
    looked = model.look(images, heights, shift_right(y, BOS)[0])  # (3, T, 16)
    assert_close(looked.sum(dim=2), torch.ones(looked.shape[:2]), atol=1e-5)
    assert max(map(len, generate(model, images, heights, 3))) <= 3
    s, memory = model.start(images, heights)
    feat = reader.layers(images[:, None])  # (3, C, 4, 4)
    _, alpha = image_attention(feat, s, model.score.W.weight)
    assert_close(alpha.flatten(1), looked[:, 0], atol=1e-5)
    assert memory.mask.all()
