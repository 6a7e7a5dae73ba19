"""Patches against torch's unfold and convolution; the small ViT against what it must be."""

import pytest
import torch
import torch.nn.functional as F
from agreement import assert_close, assert_same_gradients

from unrolled.vision import ViT, ViTEmbedParams, patchify, vit_embed

B, C, H, W, p, D = 3, 2, 4, 10, 2, 7
T = (H // p) * (W // p)


@pytest.fixture
def img(double):
    return torch.randn(B, C, H, W, requires_grad=True)


def _params(cls: bool = True) -> ViTEmbedParams:
    tensors = torch.randn(D, C * p * p), torch.randn(D), torch.randn(T + cls, D), torch.randn(D)
    W, b, positions, vector = (tensor.requires_grad_() for tensor in tensors)
    return ViTEmbedParams(W, b, positions, vector if cls else None)


def test_patchify_equals_unfold(img):
    theirs = F.unfold(img, p, stride=p).mT
    assert_close(patchify(img, p), theirs)
    assert_same_gradients(patchify(img, p), theirs, [img])


def test_patchify_can_be_undone(img):
    assert_close(F.fold(patchify(img, p).mT, (H, W), p, stride=p), img)


def test_patchify_of_one_pixel_and_of_the_whole(double):
    img = torch.randn(2, 3, 5, 5)
    assert_close(patchify(img, 1), img.flatten(2).mT)
    assert_close(patchify(img, 5), img.flatten(1)[:, None])


def test_vit_embed_equals_a_convolution(img):
    params = _params()
    maps = F.conv2d(img, params.W.view(D, C, p, p), params.b, stride=p)
    theirs = torch.cat([params.cls.expand(B, 1, D), maps.flatten(2).mT], dim=1) + params.positions
    assert_close(vit_embed(img, p, params), theirs)
    assert_same_gradients(vit_embed(img, p, params), theirs, [img, *params])


def test_vit_embed_is_that_of_transformers(double):
    transformers = pytest.importorskip("transformers")
    config = transformers.ViTConfig(
        image_size=(6, 8), patch_size=2, num_channels=3, hidden_size=12, num_hidden_layers=1, num_attention_heads=2
    )
    theirs = transformers.ViTModel(config, add_pooling_layer=False).double().eval().embeddings
    cls, positions = theirs.cls_token[0, 0], theirs.position_embeddings[0]
    torch.nn.init.normal_(positions.data)
    torch.nn.init.normal_(cls.data)
    patch = theirs.patch_embeddings.projection  # a convolution
    img, params = torch.randn(5, 3, 6, 8), ViTEmbedParams(patch.weight.flatten(1), patch.bias, positions, cls)
    assert_close(vit_embed(img, 2, params), theirs(img))


def test_vit_embed_without_cls_is_the_rest_of_it(img):
    params = _params()
    without = params._replace(cls=None, positions=params.positions[1:])
    assert_close(vit_embed(img, p, without), vit_embed(img, p, params)[:, 1:])


def test_gradcheck(img):
    assert torch.autograd.gradcheck(lambda img: patchify(img, p), [img])
    params = _params()
    assert torch.autograd.gradcheck(lambda img, *values: vit_embed(img, p, ViTEmbedParams(*values)), [img, *params])


def _model(**options) -> ViT:
    return ViT((H, W), p, C, 8, n_heads=2, layers=2, d_ff=12, classes=4, **options)


@pytest.mark.parametrize(("pool", "places"), [("cls", T + 1), ("mean", T)])
def test_vit_shapes_and_weights(img, pool, places):
    model = _model(pool=pool)
    assert model(img).shape == (B, 4)
    weights = model.look(img)
    assert len(weights) == 2 and weights[0].shape == (B, 2, places, places)
    assert_close(weights[1].sum(dim=-1), torch.ones(B, 2, places))


@pytest.mark.parametrize("pool", ["cls", "mean"])
def test_vit_without_positions_does_not_see_where_a_patch_is(img, pool):
    rolled = img.roll(p, dims=3)  # each patch moves on by one
    blind, seeing = _model(positions=False, pool=pool), _model(pool=pool)
    assert_close(blind(rolled), blind(img))
    assert (seeing(rolled) - seeing(img)).abs().max() > 1e-6
    assert "positions" not in dict(blind.named_parameters()) and "positions" in dict(seeing.named_parameters())


def test_vit_learns_four_pictures_by_heart(img):
    model, labels = _model(), torch.arange(4)
    pictures = torch.randn(4, C, H, W)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(40):
        loss = F.cross_entropy(model(pictures), labels)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    assert loss < 0.05
    assert all(parameter.grad is not None for parameter in model.parameters())


def test_vit_refuses_what_does_not_fit():
    with pytest.raises(ValueError, match="3 by 3 pixels do not fill"):
        ViT((H, W), 3, C, 8, 2, 1, 12, 4)
    with pytest.raises(ValueError, match="pool is"):
        _model(pool="max")
