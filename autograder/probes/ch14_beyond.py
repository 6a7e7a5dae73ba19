"""What the judge asks about the exercises of chapter 14: preferences, policy gradients, patches, hidden frames."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from autograder.probe import gradients, integers, leaf, normal, probe
from unrolled.vision import ViTEmbedParams

SAME = 4  # the one size of the naming probes


def _some(rng: torch.Generator, B: int, P: int) -> Tensor:
    """A mask (B, P): one row is full, the others have from 1 to P - 1 places, no two neighbours the same number."""
    counts = [P] + [1 + (place % (P - 1)) for place in range(B - 1)]
    order = torch.randperm(B, generator=rng).tolist()
    rows = [torch.randperm(P, generator=rng) < counts[place] for place in order]
    return torch.stack(rows)


def _slopes(out, **inputs: Tensor) -> dict:
    """The gradient of a scalar with respect to each input; zeros where none arrives."""
    found = torch.autograd.grad(out, list(inputs.values()), materialize_grads=True)
    return {f"gradient of {name}": g for name, g in zip(inputs, found, strict=True)}


# ---- 14.1 bt_loss ----


def _full(B: int, P: int) -> Tensor:
    return torch.ones(B, P, dtype=torch.bool)


@probe("bt_loss", "prompts with different numbers of pairs")
def bt_loss_some(bt_loss, rng):
    return {"loss": bt_loss(2 * normal(rng, 7, 5), 2 * normal(rng, 7, 5), _some(rng, 7, 5))}


@probe("bt_loss", "all pairs are real")
def bt_loss_all(bt_loss, rng):
    return {"loss": bt_loss(1.5 * normal(rng, 5, 3), 1.5 * normal(rng, 5, 3), _full(5, 3))}


@probe("bt_loss", "one pair for each prompt")
def bt_loss_one_pair(bt_loss, rng):
    return {"loss": bt_loss(normal(rng, 7, 1), normal(rng, 7, 1), _full(7, 1))}


@probe("bt_loss", "one prompt, with places that hold no pair")
def bt_loss_one_prompt(bt_loss, rng):
    mask = (torch.randperm(9, generator=rng) < 5)[None]
    return {"loss": bt_loss(normal(rng, 1, 9), normal(rng, 1, 9), mask)}


@probe("bt_loss", "what stands where there is no pair means nothing, however large it is")
def bt_loss_no_pair(bt_loss, rng):
    mask = _some(rng, 5, 4)
    r_w, r_l = normal(rng, 5, 4), normal(rng, 5, 4)
    return {"loss": bt_loss(torch.where(mask, r_w, -70.0), torch.where(mask, r_l, 30.0), mask)}


@probe("bt_loss", "rewards so far apart that the probability is rounded to 0 or to 1")
def bt_loss_far_apart(bt_loss, rng):
    far = 900 * torch.where(torch.rand(3, 5, generator=rng) < 0.5, -1.0, 1.0)
    far[0, 1], far[2, 3] = -1200, 1300
    r_l = normal(rng, 3, 5)
    r_w = (r_l + far).requires_grad_()
    loss = bt_loss(r_w, r_l, _full(3, 5))
    return {"loss": loss} | _slopes(loss, r_w=r_w)


@probe("bt_loss", "the result is right and gradients reach the rewards")
def bt_loss_gradients(bt_loss, rng):
    r_w, r_l = leaf(rng, 5, 4), leaf(rng, 5, 4)
    return gradients(rng, bt_loss(r_w, r_l, _some(rng, 5, 4)), r_w=r_w, r_l=r_l)


@probe("bt_loss", "the result is right, and the arguments are as they were after the call")
def bt_loss_untouched(bt_loss, rng):
    r_w, r_l, mask = normal(rng, 4, 3), normal(rng, 4, 3), _some(rng, 4, 3)
    return {"loss": bt_loss(r_w, r_l, mask), "r_w after": r_w, "r_l after": r_l, "mask after": mask}


@probe("bt_loss", "as many prompts as places for pairs", weight=0)
def bt_loss_same_sizes(bt_loss, rng):
    return {"loss": bt_loss(normal(rng, SAME, SAME), normal(rng, SAME, SAME), _some(rng, SAME, SAME))}


# ---- 14.2 pg_loss ----


def _answers(rng: torch.Generator, B: int, T: int, shortest: int = 1) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """lp, R, lp_ref and a mask: answers of different lengths, and log-probabilities that mean nothing behind them."""
    lengths = shortest + torch.arange(B) % (T - shortest + 1)
    mask = torch.arange(T) < lengths[torch.randperm(B, generator=rng), None]
    lp, lp_ref = -2 * torch.rand(B, T, generator=rng), -3 * torch.rand(B, T, generator=rng)
    return torch.where(mask, lp, -5.0).requires_grad_(), 2 * normal(rng, B), torch.where(mask, lp_ref, -9.0), mask


def _learned(pg_loss: Callable, beta: float, lp: Tensor, R: Tensor, lp_ref: Tensor, mask: Tensor) -> dict:
    loss = pg_loss(lp, R, beta, lp_ref, mask)
    return {"loss": loss} | _slopes(loss, lp=lp)


@probe("pg_loss", "answers of different lengths: the loss, and what reaches the policy")
def pg_loss_lengths(pg_loss, rng):
    return _learned(pg_loss, 0.3, *_answers(rng, 7, 5))


@probe("pg_loss", "answers of one length")
def pg_loss_one_length(pg_loss, rng):
    return _learned(pg_loss, 0.7, *_answers(rng, 5, 6, shortest=6))


@probe("pg_loss", "answers of one token")
def pg_loss_one_token(pg_loss, rng):
    return _learned(pg_loss, 1.2, *_answers(rng, 5, 1))


@probe("pg_loss", "beta = 0: nothing holds the policy back")
def pg_loss_free(pg_loss, rng):
    return _learned(pg_loss, 0.0, *_answers(rng, 7, 4))


@probe("pg_loss", "the policy is still the reference policy")
def pg_loss_at_the_start(pg_loss, rng):
    lp, R, _, mask = _answers(rng, 5, 4)
    return _learned(pg_loss, 0.5, lp, R, lp.detach().clone(), mask)


@probe("pg_loss", "all rewards are the same: only the distance from the reference policy counts")
def pg_loss_same_reward(pg_loss, rng):
    lp, R, lp_ref, mask = _answers(rng, 7, 5)
    return _learned(pg_loss, 0.9, lp, torch.full_like(R, 1.5), lp_ref, mask)


@probe("pg_loss", "the result is right, and no gradient reaches the reward model or the reference policy", weight=2)
def pg_loss_gradients(pg_loss, rng):
    lp, R, lp_ref, mask = _answers(rng, 5, 7)
    R, lp_ref = R.requires_grad_(), lp_ref.requires_grad_()
    loss = pg_loss(lp, R, 0.4, lp_ref, mask)
    return {"loss": loss} | _slopes(loss, lp=lp, R=R, lp_ref=lp_ref)


@probe("pg_loss", "the result is right, and the arguments are as they were after the call")
def pg_loss_untouched(pg_loss, rng):
    lp, R, lp_ref, mask = _answers(rng, 7, 3)
    lp = lp.detach()
    seen = {"loss": pg_loss(lp, R, 0.6, lp_ref, mask)}
    return seen | {"lp after": lp, "R after": R, "lp_ref after": lp_ref, "mask after": mask}


@probe("pg_loss", "as many answers as tokens in the longest", weight=0)
def pg_loss_same_sizes(pg_loss, rng):
    return _learned(pg_loss, 0.3, *_answers(rng, SAME, SAME))


# ---- 14.3 patchify ----


@probe("patchify", "pictures with three channels, wider than high")
def patchify_wide(patchify, rng):
    return {"patches": patchify(normal(rng, 2, 3, 4, 10), 2)}


@probe("patchify", "pictures with two channels, higher than wide")
def patchify_high(patchify, rng):
    return {"patches": patchify(normal(rng, 5, 2, 12, 6), 3)}


@probe("patchify", "one channel")
def patchify_one_channel(patchify, rng):
    return {"patches": patchify(normal(rng, 3, 1, 6, 8), 2)}


@probe("patchify", "one row of patches, and one column of them")
def patchify_one_row(patchify, rng):
    row, column = normal(rng, 3, 2, 3, 15), normal(rng, 3, 2, 15, 3)
    return {"one row": patchify(row, 3), "one column": patchify(column, 3)}


@probe("patchify", "patches of one pixel")
def patchify_one_pixel(patchify, rng):
    return {"patches": patchify(normal(rng, 2, 3, 4, 5), 1)}


@probe("patchify", "the result is right and gradients reach the picture")
def patchify_gradients(patchify, rng):
    img = leaf(rng, 1, 2, 6, 9)
    return gradients(rng, patchify(img, 3), img=img)


@probe("patchify", "the result is right, and the picture is as it was after the call")
def patchify_untouched(patchify, rng):
    img = normal(rng, 2, 3, 8, 6)
    return {"patches": patchify(img, 2), "img after": img}


@probe("patchify", "a picture that is one patch; all sizes the same", weight=0)
def patchify_same_sizes(patchify, rng):
    one, same = normal(rng, 2, 3, 5, 5), normal(rng, 2, 2, 4, 4)
    return {"one patch": patchify(one, 5), "same sizes": patchify(same, 2)}


# ---- 14.4 vit_embed ----


def _embedding(rng: torch.Generator, numbers: int, T: int, D: int, cls: bool = True) -> ViTEmbedParams:
    W, b, positions = leaf(rng, D, numbers), leaf(rng, D), leaf(rng, T + cls, D)
    return ViTEmbedParams(W, b, positions, leaf(rng, D) if cls else None)


@probe("vit_embed", "pictures with two channels, wider than high")
def vit_embed_wide(vit_embed, rng):
    return {"h": vit_embed(normal(rng, 3, 2, 4, 10), 2, _embedding(rng, 8, 10, 7))}


@probe("vit_embed", "pictures with one channel, higher than wide")
def vit_embed_high(vit_embed, rng):
    return {"h": vit_embed(normal(rng, 4, 1, 9, 6), 3, _embedding(rng, 9, 6, 5))}


@probe("vit_embed", "no [CLS]: the model averages over the patches")
def vit_embed_no_cls(vit_embed, rng):
    return {"h": vit_embed(normal(rng, 3, 2, 6, 4), 2, _embedding(rng, 8, 6, 5, cls=False))}


@probe("vit_embed", "one row of patches")
def vit_embed_one_row(vit_embed, rng):
    return {"h": vit_embed(normal(rng, 2, 3, 2, 10), 2, _embedding(rng, 12, 5, 7))}


@probe("vit_embed", "one picture, one patch")
def vit_embed_one_patch(vit_embed, rng):
    return {"h": vit_embed(normal(rng, 1, 1, 3, 3), 3, _embedding(rng, 9, 1, 5))}


@probe("vit_embed", "the result is right and gradients reach the picture and all parameters")
def vit_embed_gradients(vit_embed, rng):
    img, params = leaf(rng, 3, 2, 4, 6), _embedding(rng, 8, 6, 5)
    return gradients(rng, vit_embed(img, 2, params), img=img, **params._asdict())


@probe("vit_embed", "the result is right, and the arguments are as they were after the call")
def vit_embed_untouched(vit_embed, rng):
    img, params = normal(rng, 2, 1, 6, 4), _embedding(rng, 4, 6, 3)
    params = ViTEmbedParams(*(value.detach() for value in params))
    return {"h": vit_embed(img, 2, params), "img after": img, "params after": tuple(params)}


@probe("vit_embed", "a square picture, as wide a model as a patch", weight=0)
def vit_embed_same_sizes(vit_embed, rng):
    return {"h": vit_embed(normal(rng, 4, 1, 4, 4), 2, _embedding(rng, 4, 4, 4))}


# ---- 14.5 contrastive ----


def _frames(rng: torch.Generator, B: int, T: int, D: int) -> tuple[Tensor, Tensor]:
    """z and c; what the model says of a frame is somewhat like the frame."""
    z, size = normal(rng, B, T, D), 0.5 + 2 * torch.rand(2, B, T, 1, generator=rng)
    return size[0] * z, size[1] * (z + normal(rng, B, T, D))


def _drawn(rng: torch.Generator, B: int, T: int, M: int, same: bool = False) -> Tensor:
    """Negatives (B, T, M) from the same recording or from the batch, none of them the frame itself, some twice."""
    b, t = torch.arange(B)[:, None, None], torch.arange(T)[None, :, None]
    if same:
        return b * T + (t + integers(rng, 1, T, B, T, M)) % T
    return (b * T + t + integers(rng, 1, B * T, B, T, M)) % (B * T)


def _hidden(rng: torch.Generator, B: int, T: int) -> Tensor:
    """A mask (B, T): in each recording another number of frames was hidden, at least one and not all."""
    counts = torch.arange(B) % (T - 1) + 1
    return torch.stack([torch.randperm(T, generator=rng) < count for count in counts])


@probe("contrastive", "others from the same recording")
def contrastive_same(contrastive, rng):
    return {"loss": contrastive(*_frames(rng, 3, 7, 5), _drawn(rng, 3, 7, 4, True), _hidden(rng, 3, 7), 0.3)}


@probe("contrastive", "others from the whole batch")
def contrastive_batch(contrastive, rng):
    return {"loss": contrastive(*_frames(rng, 5, 4, 3), _drawn(rng, 5, 4, 7), _hidden(rng, 5, 4), 0.2)}


@probe("contrastive", "now and then a frame has drawn itself", weight=2)
def contrastive_itself(contrastive, rng):
    neg, mask = _drawn(rng, 3, 7, 5, True), _hidden(rng, 3, 7)
    own = torch.arange(21).view(3, 7, 1)
    neg = torch.where(torch.randperm(105, generator=rng).view(3, 7, 5) < 25, own, neg)
    neg[..., 1] = torch.where(mask, own[..., 0], neg[..., 1])
    return {"loss": contrastive(*_frames(rng, 3, 7, 4), neg, mask, 0.4)}


@probe("contrastive", "one other frame, one recording")
def contrastive_one_other(contrastive, rng):
    mask = (torch.randperm(9, generator=rng) < 4)[None]
    return {"loss": contrastive(*_frames(rng, 1, 9, 5), _drawn(rng, 1, 9, 1, True), mask, 0.5)}


@probe("contrastive", "all frames were hidden; the temperature is 1")
def contrastive_all_hidden(contrastive, rng):
    mask = torch.ones(4, 5, dtype=torch.bool)
    return {"loss": contrastive(*_frames(rng, 4, 5, 7), _drawn(rng, 4, 5, 3), mask, 1.0)}


@probe("contrastive", "a temperature so low that the exponential of a score overflows")
def contrastive_cold(contrastive, rng):
    z = normal(rng, 5, 6, 4)
    c = torch.cat([normal(rng, 4, 6, 4), z[4:]]).requires_grad_()  # one recording is known well, the others not at all
    loss = contrastive(z, c, _drawn(rng, 5, 6, 7), _hidden(rng, 5, 6), 1e-4)
    return {"loss": loss} | _slopes(loss, c=c)


@probe("contrastive", "the result is right and gradients reach z and c")
def contrastive_gradients(contrastive, rng):
    z, c = (value.requires_grad_() for value in _frames(rng, 3, 5, 4))
    loss = contrastive(z, c, _drawn(rng, 3, 5, 2), _hidden(rng, 3, 5), 0.3)
    return {"loss": loss} | _slopes(loss, z=z, c=c)


@probe("contrastive", "the result is right, and the arguments are as they were after the call")
def contrastive_untouched(contrastive, rng):
    (z, c), neg, mask = _frames(rng, 3, 5, 7), _drawn(rng, 3, 5, 2, True), _hidden(rng, 3, 5)
    loss = contrastive(z, c, neg, mask, 0.3)
    return {"loss": loss, "z after": z, "c after": c, "neg after": neg, "mask after": mask}


@probe("contrastive", "all sizes the same", weight=0)
def contrastive_same_sizes(contrastive, rng):
    neg, mask = _drawn(rng, SAME, SAME, SAME), _hidden(rng, SAME, SAME)
    return {"loss": contrastive(*_frames(rng, SAME, SAME, SAME), neg, mask, 0.3)}
