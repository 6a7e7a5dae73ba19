"""Fine-tuning: heads, spans, labels of pieces, what is trained, names of a checkpoint; against torch, transformers."""

import itertools

import pytest
import torch
import torch.nn.functional as F
from agreement import assert_close, assert_same_gradients
from torch import nn

from unrolled.answer_spans import answer_rows, best_span, span_loss
from unrolled.bert_model import Bert
from unrolled.checkpoint import map_checkpoint
from unrolled.finetuning import set_trainable
from unrolled.minilm import stand_in
from unrolled.piece_labels import NONE, align_labels, pieces_of_words, tagged_row
from unrolled.sentence_embedding import sentence_embedding
from unrolled.task_heads import HeadParams, SentenceHead, TokenHead, classification_head


def _padded(B: int = 4, T: int = 9, D: int = 6) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.randn(B, T, D, requires_grad=True), torch.arange(T) < torch.tensor([[9], [5], [3], [1]])[:B]


# ---- heads ----


@pytest.mark.parametrize("pool", ["cls", "mean"])
def test_head_agrees_with_layers_of_torch(double, pool):
    (h, mask), linear = _padded(), nn.Linear(6, 3)
    params = HeadParams(linear.weight, linear.bias)
    rows = [row[0] if pool == "cls" else row[real].mean(0) for row, real in zip(h, mask, strict=True)]
    theirs = linear(torch.stack(rows))
    ours = classification_head(h, mask, params, pool, 0.3, False, torch.rand(4, 6))
    assert_close(ours, theirs)
    assert_same_gradients(ours, theirs, [h, *params])


def test_head_drops_the_share_p_and_keeps_the_mean(double):
    h, mask, params = torch.ones(500, 1, 40), torch.ones(500, 1).bool(), HeadParams(torch.eye(40), torch.zeros(40))
    scores = classification_head(h, mask, params, "cls", 0.3, True, torch.rand(500, 40))
    assert abs((scores == 0).double().mean() - 0.3) < 0.02
    assert abs(scores.mean() - 1) < 0.02


def test_heads_as_modules(double):
    h, mask = _padded()
    for head in (SentenceHead(6, 3, "mean", 0.5), TokenHead(6, 3, 0.5)):
        assert not torch.equal(head(h, mask), head(h, mask)), "no dropout in training"
        head.eval()
        assert torch.equal(head(h, mask), head(h, mask))
    assert head(h).shape == (4, 9, 3)


def test_pads_do_not_change_the_scores(double):
    (h, mask), head = _padded(), SentenceHead(6, 3, "mean").eval()
    other = torch.where(mask[..., None], h, torch.randn_like(h))
    assert_close(head(h, mask), head(other, mask))


# ---- spans ----


def test_span_loss_agrees_with_cross_entropy_on_the_text_alone(double):
    start, end = torch.randn(3, 11, requires_grad=True), torch.randn(3, 11, requires_grad=True)
    allowed = (torch.arange(11) >= 4) & (torch.arange(11) < torch.tensor([[11], [9], [7]]))
    spans = torch.tensor([[4, 10], [5, 5], [6, 6]])
    each = [
        F.cross_entropy(o[b, 4:n][None], spans[b, k][None] - 4)
        for k, o in enumerate((start, end))
        for b, n in enumerate((11, 9, 7))
    ]
    ours, theirs = span_loss(start, end, spans, allowed), torch.stack(each).mean()
    assert_close(ours, theirs)
    assert_same_gradients(ours, theirs, [start, end])


@pytest.mark.parametrize("longest", [1, 2, 5, 50])
def test_best_span_is_the_best_of_all(double, longest):
    start, end = torch.randn(20, 9), torch.randn(20, 9)
    allowed = (torch.arange(9) >= torch.randint(0, 4, (20, 1))) & (torch.arange(9) < torch.randint(5, 10, (20, 1)))
    for b, (i, j) in enumerate(best_span(start, end, allowed, longest).tolist()):
        places = allowed[b].nonzero().flatten().tolist()
        pairs = [(p, q) for p, q in itertools.product(places, places) if p <= q < p + longest]
        assert (i, j) == max(pairs, key=lambda pair: start[b, pair[0]] + end[b, pair[1]])


def test_answers_stand_where_the_rows_say():
    tokenizer = stand_in().tokenizer
    text = "Ada met Charles in 1833, at a party."
    asked = [("when?", text, 19, 23), ("who met Charles?", text, 0, 3), ("where?", text, 25, 35)]
    rows, allowed, spans = answer_rows(asked, 60, tokenizer)
    for row, ok, (i, j), answer in zip(rows.ids, allowed, spans.tolist(), ("1833", "ada", "at a party"), strict=True):
        assert tokenizer.decode(row[i : j + 1]) == answer
        assert tokenizer.decode(row[ok]) == "ada met charles in 1833 , at a party ."
    with pytest.raises(ValueError, match="at a party"):
        answer_rows(asked[2:], 20, tokenizer)


# ---- labels of pieces ----


def test_first_pieces_have_the_labels_of_their_words():
    encoder, words = stand_in(), ["We", "saw", "\u200b", "Ada", "in", "1833", "!"]
    ids, owners = pieces_of_words(words, encoder.tokenizer)
    assert len(ids) == len(owners) and 2 not in owners
    aligned = align_labels([None, *owners, None], [1, 2, 3, 4, 5, 6, 7])
    assert [label for label in aligned if label != NONE] == [1, 2, 4, 5, 6, 7]
    assert aligned[0] == aligned[-1] == NONE


def test_a_tagged_row_is_cut_and_filled_up():
    tokenizer = stand_in().tokenizer
    short, long = (tagged_row(["we", "met"], [5, 6], T, tokenizer) for T in (10, 5))
    assert short[1] == [NONE, 5, NONE, 6, NONE, NONE, NONE, NONE, NONE, NONE]
    assert short[2] == [True] * 7 + [False] * 3
    assert long[1] == [NONE, 5, NONE, 6, NONE] and long[2] == [True] * 5
    assert long[0][-1] == tokenizer.special.sep


# ---- what is trained ----


class _Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.bert = Bert(V=20, D=12, n_heads=3, layers=3, d_ff=16, longest=8, dropout=0.5)
        self.head = SentenceHead(12, 2)

    def forward(self, ids):
        return self.head(self.bert(ids).states, torch.ones_like(ids).bool())


@pytest.mark.parametrize("policy, moved", [("frozen", 0), (1, 1), (2, 2), ("full", 3)])
def test_only_what_is_trained_moves(policy, moved):
    torch.manual_seed(0)
    model, ids = _Model(), torch.randint(5, 20, (6, 7))
    model(ids).sum().backward()  # gradients everywhere
    before = {name: p.clone() for name, p in model.named_parameters()}
    groups = set_trainable(model, policy, lr=1e-2, lr_head=1e-1)
    optimizer = torch.optim.AdamW(groups)
    F.cross_entropy(model(ids), torch.randint(0, 2, (6,))).backward()
    optimizer.step()
    changed = {name for name, p in model.named_parameters() if not torch.equal(p, before[name])}
    layers = {int(name.split(".")[2]) for name in changed if name.startswith("bert.layers")}
    assert layers == set(range(3 - moved, 3))
    assert {"head.layer.weight", "head.layer.bias"} <= changed
    assert ("bert.embedding.tokens" in changed) == (policy == "full")


def test_frozen_layers_give_the_same_states_at_every_step():
    torch.manual_seed(0)
    model, ids = _Model(), torch.randint(5, 20, (6, 7))
    set_trainable(model, "frozen", 1e-5, 1e-3)
    assert torch.equal(model.bert(ids).states, model.bert(ids).states)
    assert not torch.equal(model(ids), model(ids)), "the head drops"
    set_trainable(model, 1, 1e-5, 1e-3)
    first, second = (model.bert(ids, look=True).hidden for _ in range(2))
    assert torch.equal(first[2], second[2]) and not torch.equal(first[3], second[3])
    assert first[2].grad_fn is None and first[3].grad_fn is not None


# ---- a published checkpoint ----


@pytest.mark.parametrize("old", [False, True])
def test_a_checkpoint_of_transformers_fits_ours(double, old):
    transformers = pytest.importorskip("transformers")
    config = transformers.BertConfig(
        vocab_size=99, hidden_size=36, num_hidden_layers=11, num_attention_heads=4, intermediate_size=37,
        max_position_embeddings=41,
    )  # fmt: skip
    theirs = transformers.BertForPreTraining(config).double().eval()
    with torch.no_grad():
        for p in theirs.parameters():
            p.add_(0.3 * torch.randn_like(p))
    state = theirs.state_dict()
    if old:
        state = {
            k.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): v
            for k, v in state.items()
        }
    mapped, unused = map_checkpoint(state)
    assert unused and all(name.startswith("cls.") for name in unused)
    assert len(mapped) + len(unused) == len(state)
    ours = Bert(99, 36, 4, 11, 37, longest=41).eval()
    ours.load_state_dict(mapped)
    ids, segments = torch.randint(0, 99, (3, 13)), torch.randint(0, 2, (3, 13))
    with torch.no_grad():
        assert_close(ours(ids, segments).states, theirs.bert(ids, token_type_ids=segments).last_hidden_state)


# ---- sentence vectors ----


def test_products_of_sentence_vectors_are_cosines(double):
    h, mask = _padded()
    vectors = sentence_embedding(h, mask)
    means = torch.stack([row[real].mean(0) for row, real in zip(h, mask, strict=True)])
    assert_close(vectors @ vectors.T, F.cosine_similarity(means[:, None], means[None], dim=-1))
    assert_same_gradients(vectors, F.normalize(means, dim=-1), [h])
