"""The four readers of chapter 1: padding, order, and whether they can learn at all."""

import pytest
import torch

from unrolled.classifiers import BagClassifier, ConvClassifier, FCNNClassifier, RNNClassifier, accuracy, fit
from unrolled.planted import planted_batch, vocabulary
from unrolled.training import train

V = len(vocabulary())
MODELS = {
    "fcnn": lambda: FCNNClassifier(V, 8, 16, 16),
    "bag": lambda: BagClassifier(V, 8),
    "conv": lambda: ConvClassifier(V, 8, 16),
    "rnn": lambda: RNNClassifier(V, 8, 16),
}


@pytest.mark.parametrize("kind", MODELS)
def test_more_padding_changes_nothing(kind):
    torch.manual_seed(0)
    model = MODELS[kind]()
    (ids, lengths, mask), _ = planted_batch(9, range(3), seed=0)
    wider = torch.nn.functional.pad(ids, (0, 3), value=1), lengths, torch.nn.functional.pad(mask, (0, 3), value=False)
    torch.testing.assert_close(model(*wider), model(ids, lengths, mask), rtol=0, atol=1e-5)


@pytest.mark.parametrize("kind", MODELS)
def test_overfits_sixteen_sentences(kind):
    torch.manual_seed(0)
    model, (batch, labels) = MODELS[kind](), planted_batch(16, range(5), seed=0)
    losses = fit(model, batch, labels, epochs=150, seed=0, size=16, lr=1e-2)
    assert losses[-1] < 0.05 < losses[0]
    assert accuracy(model, batch, labels) == 1


def test_only_the_bag_ignores_order():
    torch.manual_seed(0)
    (ids, lengths, mask), _ = planted_batch(5, [3], seed=0)
    ids, lengths, mask = ids[:, :6], torch.full((5,), 6), torch.ones(5, 6, dtype=torch.bool)
    changed = {kind: not torch.allclose(m(ids, lengths, mask), m(ids.flip(1), lengths, mask), atol=1e-5)
               for kind, m in ((kind, make()) for kind, make in MODELS.items())}  # fmt: skip
    assert changed == {"fcnn": True, "bag": False, "conv": True, "rnn": True}


def test_frozen_vectors_stay():
    torch.manual_seed(0)
    model, (batch, labels) = MODELS["bag"](), planted_batch(16, range(5), seed=0)
    model.embedding.weight.requires_grad_(False)
    vectors, output = model.embedding.weight.clone(), model.output.weight.clone()
    fit(model, batch, labels, epochs=2, seed=0)
    assert torch.equal(model.embedding.weight, vectors) and not torch.equal(model.output.weight, output)


def test_train_is_repeatable_and_calls_back_each_epoch():
    def run(seed):
        w, calls = torch.nn.Parameter(torch.zeros(4)), []
        losses = train([w], lambda rows: ((w[rows] - rows) ** 2).sum(), n=4, epochs=3, seed=seed, size=2,
                       each_epoch=lambda: calls.append(1))  # fmt: skip
        return losses, len(calls)

    assert run(0) == run(0) and run(0)[0] != run(1)[0]
    assert run(0)[1] == 3 and len(run(0)[0]) == 6
