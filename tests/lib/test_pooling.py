"""One vector per sequence, and the small networks that need one."""

import pytest
import torch
from agreement import assert_close
from torch import nn

from unrolled.classifiers import accuracy, fit
from unrolled.pooling import bi_summary, masked_mean
from unrolled.tagging import Encoder, SequenceClassifier, Tagger
from unrolled.text import pad_batch

B, T, H = 4, 6, 5
LENGTHS = torch.tensor([3, 6, 1, 4])


@pytest.mark.usefixtures("double")
@pytest.mark.parametrize("kind", ["rnn", "lstm", "gru"])
def test_ends_are_torchs_last_states(kind):
    encoder, ids = Encoder(kind, V=9, E=3, H=H, both=True), torch.randint(9, (B, T))
    _, state = encoder.layer(
        nn.utils.rnn.pack_padded_sequence(encoder.embedding(ids), LENGTHS, batch_first=True, enforce_sorted=False)
    )
    forward, backward = state[0] if kind == "lstm" else state
    assert_close(bi_summary(encoder(ids, LENGTHS), LENGTHS), torch.cat([forward, backward], dim=-1))


@pytest.mark.usefixtures("double")
def test_masked_mean_row_by_row_and_its_gradient():
    h, mask = torch.randn(B, T, H, requires_grad=True), torch.rand(B, T) < 0.5
    mask[0], mask[1, 2] = False, True
    mean = masked_mean(h, mask)
    assert_close(mean[0], torch.zeros(H))
    for row in range(1, B):
        if mask[row].any():
            assert_close(mean[row], h[row, mask[row]].mean(dim=0))
    (gradient,) = torch.autograd.grad(mean.sum(), h)
    assert torch.isfinite(gradient).all()
    assert torch.equal(gradient[..., 0] != 0, mask)


@pytest.mark.usefixtures("double")
def test_gradcheck():
    h, mask = torch.randn(3, 4, 2, requires_grad=True), torch.tensor([[1, 1, 0, 0], [0, 0, 0, 0], [0, 1, 1, 1]]) == 1
    assert torch.autograd.gradcheck(lambda h: masked_mean(h, mask), (h,))
    out = torch.randn(3, 4, 2, requires_grad=True)
    assert torch.autograd.gradcheck(lambda out: bi_summary(out, torch.tensor([1, 4, 2])), (out,))


@pytest.mark.parametrize("kind", ["rnn", "lstm", "gru"])
@pytest.mark.parametrize("layers, both", [(1, False), (2, True)])
def test_padding_does_not_change_the_scores(kind, layers, both):
    torch.manual_seed(0)
    rows = [[3, 4, 5], [6, 7, 8, 3, 2, 4], [5]]
    ids, lengths, mask = pad_batch(rows, pad=0)
    tagger = Tagger(kind, V=9, E=3, H=H, Y=2, layers=layers, both=both)
    pools = ["last", "mean", "ends"] if both else ["last", "mean"]
    readers = [SequenceClassifier(kind, V=9, E=3, H=H, Y=2, layers=layers, both=both, pool=pool) for pool in pools]
    scores = tagger(ids, lengths, mask)
    assert scores.shape == (3, 6, 2)
    for i, row in enumerate(rows):
        alone = pad_batch([row], pad=0)
        assert_close(scores[i, : len(row)], tagger(*alone)[0], atol=1e-6)
        for reader in readers:
            assert_close(reader(ids, lengths, mask)[i], reader(*alone)[0], atol=1e-6)


@pytest.mark.parametrize("pool, both", [("ends", False), ("first", True)])
def test_a_pool_that_does_not_fit_is_refused(pool, both):
    with pytest.raises(ValueError, match="choose"):
        SequenceClassifier("gru", V=9, E=3, H=H, Y=2, both=both, pool=pool)


def test_a_classifier_learns_what_stands_first():
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(1)
    rows = [torch.randint(2, 6, (int(n),), generator=generator).tolist() for n in torch.randint(2, 9, (200,))]
    batch, labels = pad_batch(rows, pad=0), torch.tensor([row[0] % 2 for row in rows])
    model = SequenceClassifier("gru", V=6, E=4, H=8, Y=2, both=True, pool="ends")
    losses = fit(model, batch, labels, epochs=15, seed=0, lr=1e-2)
    assert losses[-1] < 0.1 < losses[0]
    assert accuracy(model, batch, labels) == 1
