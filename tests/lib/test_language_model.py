"""Counts against hand counts, log probabilities against cross-entropy, the tied model against torch's own layers."""

import math
from collections import Counter

import pytest
import torch
import torch.nn.functional as F
from agreement import assert_close
from torch import nn

from unrolled.language_model import LanguageModel, bigram_logprobs, lm_windows, perplexity, sequence_logprob, tie

B, T, V, H, E = 3, 9, 13, 7, 5

pytestmark = pytest.mark.usefixtures("double")


def test_bigrams_equal_a_count_by_hand():
    docs, k = [torch.randint(V, (length,)) for length in (1, 41, 2, 97)], 0.3
    pairs = Counter((a, b) for doc in docs for a, b in zip(doc.tolist(), doc.tolist()[1:], strict=False))
    first = Counter(a for a, _ in pairs.elements())
    found = bigram_logprobs(docs, V, k)
    for i in range(V):
        for j in range(V):
            assert found[i, j].item() == pytest.approx(math.log((pairs[i, j] + k) / (first[i] + k * V)), abs=1e-12)
    assert_close(found.exp().sum(dim=1), torch.ones(V))


def test_bigram_loss_is_the_cross_entropy_with_the_table_as_scores():
    doc = torch.randint(V, (201,))
    table = bigram_logprobs([doc], V, 1e-12)  # hardly smoothed: the best table there is for this text
    loss = F.cross_entropy(table[doc[:-1]], doc[1:])
    worse = F.cross_entropy((table + 0.1 * torch.randn(V, V))[doc[:-1]], doc[1:])
    assert loss < worse and loss.item() == pytest.approx(-table[doc[:-1], doc[1:]].mean().item(), abs=1e-9)


@pytest.mark.parametrize("window", [1, 2, 7])
def test_windows_predict_every_id_at_most_once(window):
    lengths = (1, 2, 7, 8, 14, 15, 16, 40)
    ids = torch.arange(sum(lengths))  # every id is unlike every other, so places can be read off
    docs = ids.split(lengths)
    inputs, targets = lm_windows(list(docs), window)
    assert torch.equal(targets, inputs + 1)
    assert len(targets.unique()) == targets.numel() == sum((length - 1) // window * window for length in lengths)
    starts = torch.tensor([doc[0] for doc in docs])
    assert not torch.isin(targets, starts).any(), "the first id of a document follows nothing"


def test_sequence_logprob_equals_cross_entropy_and_its_gradient():
    logits, ids = torch.randn(T, V, requires_grad=True), torch.randint(V, (T,))
    ours, theirs = sequence_logprob(logits, ids), -F.cross_entropy(logits[:-1], ids[1:], reduction="sum")
    assert_close(ours, theirs)
    (left,), (right,) = torch.autograd.grad(ours, logits), torch.autograd.grad(theirs, logits)
    assert_close(left, right)
    assert (left[-1] == 0).all()
    assert torch.autograd.gradcheck(lambda o: sequence_logprob(o, ids), [logits])
    assert sequence_logprob(logits[:1], ids[:1]).item() == 0


def test_probabilities_of_all_sequences_sum_to_one():
    """The chain rule: whatever the model is, its sequences of one length share a probability of 1."""
    model = LanguageModel(V=3, H=H, kind="gru")
    rows = torch.cartesian_prod(torch.tensor([0]), *[torch.arange(3)] * 4)
    total = sum(sequence_logprob(logits, ids).exp() for logits, ids in zip(model(rows)[0], rows, strict=True))
    assert total.item() == pytest.approx(1, abs=1e-9)


def test_perplexity_is_exp_of_the_mean_over_all_tokens():
    logits, y = 3 * torch.randn(100, V), torch.randint(V, (100,))
    cuts = (61, 30, 8, 1)
    nll = torch.stack(
        [F.cross_entropy(o, t, reduction="sum") for o, t in zip(logits.split(cuts), y.split(cuts), strict=True)]
    )
    assert_close(perplexity(nll, torch.tensor(cuts)), F.cross_entropy(logits, y).exp())


@pytest.mark.parametrize("kind, layer", [("rnn", nn.RNN), ("lstm", nn.LSTM), ("gru", nn.GRU)])
def test_model_equals_torch_layers(kind, layer):
    model, theirs, ids = LanguageModel(V, H, kind, E), layer(E, H, batch_first=True), torch.randint(V, (B, T))
    theirs.load_state_dict(model.rnn.state_dict())
    logits, _ = model(ids)
    expected = theirs(model.embedding.weight[ids])[0] @ model.output.weight.T + model.output.bias
    assert_close(logits, expected)
    target = torch.randn(B, T, V)
    grads = torch.autograd.grad((logits * target).sum(), list(model.rnn.parameters()))
    for left, right in zip(
        grads, torch.autograd.grad((expected * target).sum(), list(theirs.parameters())), strict=True
    ):
        assert_close(left, right)


@pytest.mark.parametrize("kind", ["rnn", "lstm", "gru"])
def test_state_is_carried_from_piece_to_piece(kind):
    model, ids = LanguageModel(V, H, kind), torch.randint(V, (B, T))
    first, state = model(ids[:, :4])
    second, _ = model(ids[:, 4:], state)
    assert_close(torch.cat([first, second], dim=1), model(ids)[0])


def test_tied_gradient_is_the_sum_of_both():
    model, ids, target = LanguageModel(V, H, "lstm"), torch.randint(V, (B, T)), torch.randn(B, T, V)
    with torch.no_grad():
        model.output.weight.copy_(model.embedding.weight)
    both = torch.autograd.grad((model(ids)[0] * target).sum(), [model.embedding.weight, model.output.weight])
    before = sum(parameter.numel() for parameter in model.parameters())
    parameters = tie(model)
    (shared,) = torch.autograd.grad((model(ids)[0] * target).sum(), model.embedding.weight)
    assert_close(shared, both[0] + both[1])
    assert sum(parameter.numel() for parameter in parameters) == before - V * H
    assert len({id(parameter) for parameter in parameters}) == len(parameters)


def test_a_line_is_learned_by_heart():
    model = LanguageModel(V, H, "gru")
    optimizer = torch.optim.Adam(tie(model), lr=0.05)
    inputs, targets = lm_windows([torch.randperm(V)], V - 1)
    for _ in range(150):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(inputs)[0].flatten(0, 1), targets.flatten())
        loss.backward()
        optimizer.step()
    assert loss < 0.05 and model.output.weight is model.embedding.weight
