"""Frozen layers read once give what the whole model gives; only what should move does."""

import pytest
import torch
import torch.nn.functional as F
from agreement import assert_close

from unrolled.bert_model import Bert
from unrolled.frozen_layers import HalfFrozen, fine_tune, lower_states, scores_of, text_rows
from unrolled.task_heads import SentenceHead
from unrolled.wordpiece import SPECIAL, WordPiece

TOKENIZER = WordPiece([*SPECIAL, *["a", "b", "c", "d", "e", "good", "bad", "film", "not"]])
TEXTS = ["good film", "bad", "a b c d e film", ("good", "bad film"), "not good film a b"]


def _model(policy, dropout=0.3, layers=3):
    torch.manual_seed(0)
    bert = Bert(len(TOKENIZER), D=12, n_heads=3, layers=layers, d_ff=24, longest=16, dropout=dropout, spread=0.3)
    return HalfFrozen(bert, SentenceHead(12, 2, "mean"), policy)


@pytest.mark.parametrize("n", [0, 1, 3])
def test_lower_states_are_those_of_the_model(double, n):
    bert, rows = _model("full").bert, text_rows(TEXTS, [0] * 5, 10, TOKENIZER)
    kept = lower_states(bert.train(), rows, n, size=2)
    assert bert.training  # put back as it was
    hidden = bert.eval()(rows.ids, rows.segments, rows.mask, look=True).hidden
    assert_close(kept[rows.mask], hidden[n][rows.mask].detach())
    assert kept[~rows.mask].eq(0).all()


@pytest.mark.parametrize("policy", ["frozen", 1, 2, "full"])
def test_scores_are_those_of_the_whole_model(policy):
    model, rows = _model(policy).eval(), text_rows(TEXTS, [0] * 5, 10, TOKENIZER)
    states = model.bert(rows.ids, rows.segments, rows.mask).states
    assert_close(torch.stack(scores_of(model, rows, size=2)), model.head(states, rows.mask).detach(), atol=1e-5)


@pytest.mark.parametrize("policy, still", [("frozen", 3), (1, 2), (2, 1), ("full", 0)])
def test_only_the_upper_layers_move_and_the_loss_falls(policy, still):
    model, rows = _model(policy, dropout=0.0), text_rows(TEXTS, [1, 0, 1, 0, 1], 10, TOKENIZER)
    before = {name: p.clone() for name, p in model.named_parameters()}
    loss = lambda scores, places: F.cross_entropy(scores, rows.follows[places])  # noqa: E731
    losses = fine_tune(model, rows, loss, epochs=40, seed=0, size=5, lr=3e-3, lr_head=3e-2)
    assert losses[-1] < 0.7 * losses[0] and not model.training
    moved = {name for name, p in model.named_parameters() if not torch.equal(p, before[name])}
    layers = {int(name.split(".")[2]) for name in moved if name.startswith("bert.layers")}
    assert layers == set(range(still, 3))
    assert ("bert.embedding.tokens" in moved) == (policy == "full") and "head.layer.weight" in moved
