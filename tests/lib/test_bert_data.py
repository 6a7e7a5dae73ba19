"""Rows, hidden words, pairs and batches: shares over many draws, and that the same seed gives the same."""

import torch
import torch.nn.functional as F
from agreement import assert_close, assert_same_gradients

from unrolled.bert_data import (
    agreement_rows,
    agreement_vocabulary,
    batches,
    distractor_rows,
    hide,
    pair_rows,
    single_rows,
    verb_margins,
)
from unrolled.bert_input import Special, build_input, nsp_pairs
from unrolled.bert_model import BertForPretraining
from unrolled.masked_words import mlm_loss, mlm_mask
from unrolled.wikipedia import articles, documents


def test_rows_always_open_with_cls_and_hold_two_seps():
    rng, special = torch.Generator().manual_seed(0), Special()
    for _ in range(300):
        m, n, T = torch.randint(0, 30, (3,), generator=rng).tolist()
        T += 3
        ids, segments, mask = build_input([50] * m, [60] * n, T, special)
        assert len(ids) == len(segments) == len(mask) == T
        assert ids[0] == special.cls and (ids == special.sep).sum() == 2
        assert mask.sum() == min(T, m + n + 3)
        left = (ids == 50).sum().item(), (ids == 60).sum().item()
        if m + n + 3 > T and left != (m, n):
            longer = max(left)
            assert longer - min(left) <= 1 or min(left) == min(m, n)  # only the longer one gave way
        assert segments[ids == 60].eq(1).all() and segments[ids == 50].eq(0).all()


def test_shares_of_hidden_words():
    generator, special = torch.Generator().manual_seed(0), Special()
    x = torch.randint(1000, 2000, (500, 64), generator=generator)
    x[:, 0], x[:, 30], x[:, 50], x[:, 51:] = special.cls, special.sep, special.sep, special.pad
    masked, labels, chosen = hide(x, 900, special, generator)
    words = x >= 1000
    n = int(chosen.sum())
    assert abs(n / int(words.sum()) - 0.15) < 0.01
    assert not (chosen & ~words).any()
    assert abs(int((masked == special.mask).sum()) / n - 0.8) < 0.02
    assert abs(int((masked == x)[chosen].sum()) / n - 0.1) < 0.02
    assert torch.equal(masked[~chosen], x[~chosen]) and torch.equal(labels[chosen], x[chosen])


def test_one_share_of_each_kind_does_not_depend_on_the_other_numbers():
    x, special = torch.full((4, 50), 77), Special()
    u = torch.rand(2, 4, 50)
    masked, _, chosen = mlm_mask(x, u, torch.full_like(x, 88), special, 1.0)
    assert chosen.all()
    assert torch.equal(masked == special.mask, u[1] < 0.8)
    assert torch.equal(masked == 88, (u[1] >= 0.8) & (u[1] < 0.9))


def test_loss_agrees_with_torch(double):
    logits = torch.randn(3, 7, 11, requires_grad=True)
    labels, chosen = torch.randint(0, 11, (3, 7)), torch.rand(3, 7) < 0.4
    for weights in (chosen, chosen.double()):
        theirs = F.cross_entropy(logits[chosen], labels[chosen])
        ours = mlm_loss(logits, labels, weights)
        assert_close(ours, theirs)
        assert_same_gradients(ours, theirs, [logits])
    nothing = mlm_loss(logits, labels, torch.zeros(3, 7))
    assert nothing.item() == 0
    assert torch.autograd.grad(nothing, logits)[0].eq(0).all()


def test_half_of_the_pairs_follow_and_none_that_does_not_is_of_the_same_document():
    generator = torch.Generator().manual_seed(0)
    docs = [[[d, i] for i in range(n)] for d, n in enumerate(torch.randint(1, 9, (400,), generator=generator).tolist())]
    n = sum(len(doc) - 1 for doc in docs)
    pairs = nsp_pairs(docs, torch.rand(n, 3, generator=generator))
    assert len(pairs) == n
    assert abs(sum(follows for _, _, follows in pairs) / n - 0.5) < 0.04
    assert all((a[0] == b[0]) == follows and (not follows or b[1] == a[1] + 1) for a, b, follows in pairs)


def test_the_same_seed_gives_the_same_batches():
    docs = [[[10 * d + i] * (i + 1) for i in range(5)] for d in range(7)]

    def run(seed):
        generator = torch.Generator().manual_seed(seed)
        rows = pair_rows(docs, 12, Special(), generator)
        return [(batch, hide(batch.ids, 99, Special(), generator)) for batch in batches(rows, 8, generator)]

    first, again, other = run(1), run(1), run(2)
    assert [len(batch.ids) for batch, _ in first] == [8, 8, 8, 4]
    for (one, hidden), (two, hidden_2) in zip(first, again, strict=True):
        assert all(torch.equal(a, b) for a, b in zip((*one, *hidden), (*two, *hidden_2), strict=True))
        assert one.mask.any(dim=0).all()  # no step that is a pad everywhere
    assert not torch.equal(first[0][0].ids[:, :4], other[0][0].ids[:, :4])


def test_agreement_rows_know_where_the_verb_stands():
    V = agreement_vocabulary()
    assert V.words[2:5] == ["[CLS]", "[SEP]", "[MASK]"] and len(V) == 5 + 38
    for rows, verbs in (agreement_rows(200, 3, seed=0), distractor_rows(50, 1, seed=0)):
        found = {V.words[i] for i in rows.ids[torch.arange(len(verbs)), verbs].tolist()}
        assert found == {"was", "were"}
        assert not (rows.ids == Special().unk).any()
    sentence = V.decode(rows.ids[0][rows.mask[0]])
    assert (sentence[2][-1] == "s") != (sentence[4][-1] == "s")  # subject and distractor differ in number


def test_a_tiny_bert_learns_the_verbs_of_short_sentences():
    torch.manual_seed(0)
    V, special = agreement_vocabulary(), Special()
    rows, _ = agreement_rows(400, 0, seed=0)
    model = BertForPretraining(len(V), 24, 2, 1, 48, longest=16, dropout=0.0)
    optimizer, generator = torch.optim.Adam(model.parameters(), lr=5e-3), torch.Generator().manual_seed(0)
    for _ in range(36):
        for batch in batches(rows, 32, generator):
            masked, labels, weights = hide(batch.ids, len(V), special, generator, rate=0.4)
            loss = mlm_loss(model(masked, batch.segments, batch.mask)[0], labels, weights)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    margins, plural = verb_margins(model.eval(), *agreement_rows(100, 0, seed=1))
    assert ((margins > 0) == plural).float().mean() > 0.95


def test_wikipedia_is_split_as_the_data_page_says():
    parts = {part: documents(part) for part in ("train", "validation", "test")}
    assert {part: len(docs) for part, docs in parts.items()} == {"train": 8027, "validation": 1003, "test": 1003}
    assert sum(len(doc) for docs in parts.values() for doc in docs) == 36_369
    assert all(sentence.strip() == sentence != "" for doc in parts["test"] for sentence in doc)
    assert articles("train")[0]["title"] == "20th-century classical music"
    rows = single_rows([[50] * 3], 6, Special())
    assert rows.follows.tolist() == [0]
