"""The contrastive loss against torch's cosine similarity and cross-entropy; hiding, drawing, and the small model."""

import pytest
import torch
import torch.nn.functional as F
from agreement import assert_close, assert_same_gradients

from unrolled.contrastive import SpeechEncoder, contrastive, draw_negatives, hide_spans

B, T, D, M = 3, 7, 5, 4


@pytest.fixture
def frames(double):
    z, c = torch.randn(B, T, D, requires_grad=True), torch.randn(B, T, D, requires_grad=True)
    own = torch.arange(B * T).view(B, T, 1)
    neg = (own + torch.randint(1, B * T, (B, T, M))) % (B * T)
    return z, c, neg, torch.rand(B, T) < 0.5


def test_equals_torch_with_its_gradient(frames):
    z, c, neg, mask = frames
    places = torch.cat([torch.arange(B * T).view(B, T, 1), neg], dim=2)
    s = F.cosine_similarity(c[:, :, None], z.flatten(0, 1)[places], dim=-1) / 0.2
    theirs = F.cross_entropy(s[mask], torch.zeros(int(mask.sum()), dtype=torch.long))
    assert_close(contrastive(z, c, neg, mask, 0.2), theirs)
    assert_same_gradients(contrastive(z, c, neg, mask, 0.2), theirs, [z, c])


def test_with_all_others_as_negatives_it_is_info_nce(frames):
    z, c, _, _ = frames
    own = torch.arange(B * T)
    neg = torch.stack([own[own != t] for t in own]).view(B, T, -1)
    s = F.normalize(c.flatten(0, 1)) @ F.normalize(z.flatten(0, 1)).T / 0.3
    assert_close(contrastive(z, c, neg, torch.ones(B, T, dtype=torch.bool), 0.3), F.cross_entropy(s, own))


def test_the_frame_itself_does_not_count(frames):
    z, c, neg, mask = frames
    own = torch.arange(B * T).view(B, T, 1)
    assert_close(contrastive(z, c, torch.cat([neg, own, own], dim=2), mask, 0.2), contrastive(z, c, neg, mask, 0.2))
    assert_close(contrastive(z, c, own, mask, 0.2), torch.tensor(0.0))


def test_the_length_of_a_vector_does_not_count(frames):
    z, c, neg, mask = frames
    longer = 1 + 9 * torch.rand(2, B, T, 1)
    assert_close(contrastive(longer[0] * z, longer[1] * c, neg, mask, 0.2), contrastive(z, c, neg, mask, 0.2))


def test_gradcheck_also_where_a_frame_drew_itself(frames):
    z, c, neg, mask = frames
    neg[..., 2] = torch.arange(B * T).view(B, T)
    assert torch.autograd.gradcheck(lambda z, c: contrastive(z, c, neg, mask, 0.3), [z, c])


def test_hidden_spans_are_real_and_as_many_as_expected():
    real = torch.arange(40) < torch.randint(5, 41, (500, 1), generator=torch.Generator().manual_seed(1))
    hidden = hide_spans(real, 0.1, 3, torch.Generator().manual_seed(0))
    assert hidden.any(dim=1).all() and not (hidden & ~real).any()
    inner = hidden[:, 2:40][real[:, 2:40]].double().mean()
    assert abs(inner - (1 - 0.9**3)) < 0.03  # a frame is hidden unless three frames begin no span


@pytest.mark.parametrize("same", [True, False])
def test_negatives_come_from_where_they_may(same):
    allowed = torch.rand(B, T, generator=torch.Generator().manual_seed(2)) < 0.6
    neg = draw_negatives(allowed, 50, torch.Generator().manual_seed(0), same=same)
    assert neg.shape == (B, T, 50) and allowed.flatten()[neg].all()
    recordings = [set((row // T).flatten().tolist()) for row in neg]
    assert recordings == ([{0}, {1}, {2}] if same else [{0, 1, 2}] * 3)


def _inputs() -> tuple:
    real = torch.arange(T) < torch.tensor([7, 5, 6])[:, None]
    return torch.randn(B, T, 12), real, hide_spans(real, 0.2, 2, torch.Generator().manual_seed(0))


def test_the_encoder_sees_no_hidden_frame_and_no_pad(double):
    model, (frames, real, hidden) = SpeechEncoder(12, 8, 2, 2, 16), _inputs()
    _, c = model(frames, real, hidden)
    unseen = hidden | ~real
    other = torch.where(unseen[..., None], torch.randn_like(frames), frames)
    assert_close(model(other, real, hidden)[1][real], c[real])
    assert (model(other, real)[1] - c)[real].abs().max() > 1e-3


def test_the_loss_falls_and_reaches_all_parameters(double):
    model, (frames, real, hidden) = SpeechEncoder(12, 8, 2, 1, 16), _inputs()
    neg = draw_negatives(real, 5, torch.Generator().manual_seed(0))
    optimiser, losses = torch.optim.Adam(model.parameters(), lr=0.01), []
    for _ in range(60):
        loss = contrastive(*model(frames, real, hidden), neg, hidden, 0.2)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 4
    assert all(parameter.grad is not None for parameter in model.parameters())
