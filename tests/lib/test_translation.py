"""Translators: parity with the functions of chapter 6, pads, a tiny overfit, scores; captions; borrowed weights."""

import random

import pytest
import torch

from unrolled.captions import PictureLanguage, scenes
from unrolled.pairs import reversed_digits
from unrolled.pronouncer import LETTERS, PHONEMES, pronouncer
from unrolled.seq2seq import shift_right
from unrolled.translation import Languages, learn_pairs, scores, scores_by_length, translate
from unrolled.translators import BOS, ConvReader, ImageReader, RecurrentReader, Seq2Seq, generate

PAIRS = reversed_digits(300, 2, 5, random.Random(0))
LANGUAGES = Languages(PAIRS)
READERS = {"recurrent": RecurrentReader, "conv": ConvReader}


def model_of(reader, every_step=True, H=24):
    torch.manual_seed(0)
    return Seq2Seq(READERS[reader](len(LANGUAGES.source), 8, 12), len(LANGUAGES.target), 8, H, every_step)


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("every_step", [True, False])
def test_steps_one_by_one_give_the_scores_of_all_steps(double, reader, every_step):
    model = model_of(reader, every_step).double()
    src, lengths, y = LANGUAGES.batch(PAIRS[:5])
    y_in, _ = shift_right(y, BOS)
    scores_at_once, (h, c) = model(src, lengths, y_in), model.start(src, lengths)
    for t in range(y_in.shape[1]):
        step, h = model.step(y_in[:, t], h, c)
        torch.testing.assert_close(step, scores_at_once[:, t], atol=1e-9, rtol=0)


@pytest.mark.parametrize("reader", READERS)
def test_pads_change_nothing(double, reader):
    model = model_of(reader).double()
    long, short = max(PAIRS, key=lambda p: len(p[0])), min(PAIRS, key=lambda p: len(p[0]))
    together = model.start(*LANGUAGES.batch([long, short])[:2])
    alone = model.start(*LANGUAGES.batch([short])[:2])
    for both, one in zip(together, alone, strict=True):
        torch.testing.assert_close(both[1:], one, atol=1e-9, rtol=0)


def test_every_step_is_the_only_way_from_c_once_the_state_is_given(double):
    for every_step in (True, False):
        model = model_of("recurrent", every_step).double()
        src, lengths, y = LANGUAGES.batch(PAIRS[:5])
        h, c = (tensor.detach() for tensor in model.start(src, lengths))
        c.requires_grad_()
        out, _ = model.write(y, h, c)
        grad = torch.autograd.grad(out.sum(), c, allow_unused=True)[0]
        assert (grad is not None and bool((grad != 0).any())) == every_step


@pytest.mark.parametrize("own", [0.0, 0.5])
def test_a_few_pairs_are_learned_by_heart(own):
    few, model = PAIRS[:8], model_of("recurrent", H=48)
    losses = learn_pairs(model, few, LANGUAGES, updates=250, seed=0, size=8, lr=1e-2, own=own)
    assert losses[-1] < 0.05 < losses[0]
    assert translate(model, few, LANGUAGES) == [targets[0] for _, targets in few]


def test_training_repeats_with_its_seed():
    runs = [learn_pairs(model_of("recurrent"), PAIRS, LANGUAGES, updates=5, seed=3) for _ in range(2)]
    assert runs[0] == runs[1]


def test_warm_up_begins_with_a_small_step():
    """Adam's first step is as long as the step size in every weight that has a gradient."""
    for warmup, longest in ((0, 4e-3), (50, 4e-3 / 50)):
        model, before = model_of("recurrent"), model_of("recurrent")
        learn_pairs(model, PAIRS, LANGUAGES, updates=1, seed=0, lr=4e-3, warmup=warmup)
        moved = max((a - b).abs().max().item() for a, b in zip(model.parameters(), before.parameters(), strict=True))
        assert moved == pytest.approx(longest, rel=0.01)


def test_smoothed_labels_raise_the_loss_of_a_sure_model():
    few, model = PAIRS[:8], model_of("recurrent", H=48)
    learn_pairs(model, few, LANGUAGES, updates=250, seed=0, size=8, lr=1e-2)
    sure, smoothed = (learn_pairs(model, few, LANGUAGES, updates=1, seed=0, lr=0, smoothing=s)[0] for s in (0, 0.1))
    assert sure < 0.05 < 0.3 < smoothed


def test_writing_ends_at_the_given_length():
    src, lengths, _ = LANGUAGES.batch(PAIRS[:5])
    assert max(map(len, generate(model_of("recurrent"), src, lengths, 3))) <= 3


def test_scores_take_the_nearest_answer_and_bleu_the_first():
    pairs = [(list("ab"), [["X", "Y", "Z", "W"], ["X"]]), (list("abc"), [["Y"]])]
    found = scores(pairs, [["X"], ["Y", "Z"]])
    assert found["token error"] == 0.5 and found["sequence error"] == 0.5 and found["bleu"] == 0
    by_length = scores_by_length(pairs, [["X"], ["Y", "Z"]], [1, 3, 4, 5])
    assert [group["pairs"] for group in by_length] == [1, 1, 0]
    assert by_length[0]["token error"] == 0 and by_length[1]["sequence error"] == 1


def test_captions_are_learned_and_parts_of_the_digits_do_not_meet():
    pictures = scenes(200, "train", random.Random(0))
    language = PictureLanguage(pictures)
    torch.manual_seed(0)
    model = Seq2Seq(ImageReader(256, 32), len(language.target), 8, 32)
    losses = learn_pairs(model, pictures, language, updates=60, seed=0, lr=1e-2)
    assert losses[-1] < losses[0] / 2
    quarters = {part: {tuple(q.flatten().tolist()) for image, _ in scenes(300, part, random.Random(1))
                       for half in image.split(8) for q in half.split(8, dim=1) if q.sum() > 0}
                for part in ("train", "test")}  # fmt: skip
    assert not quarters["train"] & quarters["test"]


@pytest.mark.parametrize("word", ["schmidhuber", "a", "knight"])
def test_borrowed_weights_in_our_step_equal_torch(word):
    ours, (theirs, _) = pronouncer().read(word), pronouncer().module("enc")(pronouncer().embed(word))
    torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=0)
    y = torch.tensor([[2, 30, 41, 9]])
    x = pronouncer().weights["dec_emb"][y]
    theirs, _ = pronouncer().module("dec")(x, ours[:, -1][None])
    h = ours[:, -1]
    for t in range(4):
        _, h = pronouncer().step(y[:, t], h, h)
        torch.testing.assert_close(h, theirs[:, t], atol=1e-5, rtol=0)


def test_the_tables_of_the_borrowed_weights_fit():
    weights = pronouncer().weights
    assert (len(LETTERS), len(PHONEMES)) == (len(weights["enc_emb"]), len(weights["dec_emb"])) == (29, 74)
    assert pronouncer().pronounce("knight") == ["N", "AY1", "T"]
