"""Right answers to the exercises of chapter 14, in other styles."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F

from autograder.exercises.ch14_beyond import BT_LOSS, CONTRASTIVE, PATCHIFY, PG_LOSS, VIT_EMBED
from unrolled.vision import patchify

# ---- 14.1 bt_loss ----


@BT_LOSS.variant
def bt_loss__softplus_loop(r_w, r_l, mask):
    losses = []
    for winners, losers, real in zip(r_w, r_l, mask, strict=True):
        losses.append(F.softplus(losers[real] - winners[real]).mean())
    return sum(losses) / len(losses)


@BT_LOSS.variant
def bt_loss__softmax_of_two(r_w, r_l, mask):
    """A choice between two is a softmax over two rewards."""
    both = torch.stack([r_w, r_l], dim=-1)
    surprise = torch.logsumexp(both, dim=-1) - r_w
    weights = mask / mask.sum(dim=1, keepdim=True)
    return (weights * surprise).sum() / len(r_w)


@BT_LOSS.variant
def bt_loss__cross_entropy(r_w, r_l, mask):
    """The first of two classes is right; every pair weighs as much as its prompt leaves it."""
    rows, places = mask.nonzero(as_tuple=True)
    logits = torch.stack([r_w[rows, places], r_l[rows, places]], dim=1)
    each = F.cross_entropy(logits, torch.zeros_like(rows), reduction="none")
    return each @ (1 / mask.sum(dim=1)[rows]).to(each) / mask.shape[0]


@BT_LOSS.variant
def bt_loss__binary_cross_entropy(r_w, r_l, mask):
    n = mask.sum(dim=1, keepdim=True) * len(mask)
    gap = torch.where(mask, r_w - r_l, 0)
    return F.binary_cross_entropy_with_logits(gap, torch.ones_like(gap), weight=mask / n, reduction="sum")


@BT_LOSS.variant
def bt_loss__by_hand(r_w, r_l, mask):
    """log(1 + exp(-d)) without overflow: the larger of 0 and -d stands outside."""
    d = r_w - r_l
    surprise = torch.clamp(-d, min=0) + torch.log1p(torch.exp(-d.abs()))
    return torch.nanmean(surprise.masked_fill(~mask, math.nan), dim=1).mean()


# ---- 14.2 pg_loss ----


@PG_LOSS.variant
def pg_loss__no_grad(lp, R, beta, lp_ref, mask):
    with torch.no_grad():
        A = R - beta * ((lp - lp_ref) * mask).sum(1)
        A -= A.mean()
    return -(A[:, None] * lp)[mask].sum() / len(R)


@PG_LOSS.variant
def pg_loss__loop(lp, R, beta, lp_ref, mask):
    B = lp.shape[0]
    A, logp = [], []
    for b in range(B):
        real = mask[b]
        logp.append(lp[b, real].sum())
        A.append(R[b].item() - beta * (logp[b] - lp_ref[b, real].sum()).item())
    mean = sum(A) / B
    return -sum((A[b] - mean) * logp[b] for b in range(B)) / B


@PG_LOSS.variant
def pg_loss__covariance(lp, R, beta, lp_ref, mask):
    """The mean may be taken off either factor: what is left is a covariance."""
    logp = torch.einsum("bt,bt->b", lp, mask.to(lp))
    A = R.detach() - beta * logp.detach() + beta * torch.einsum("bt,bt->b", lp_ref.detach(), mask.to(lp))
    return -(A * (logp - logp.mean())).mean()


@PG_LOSS.variant
def pg_loss__zeroed(lp, R, beta, lp_ref, mask):
    lp, lp_ref = lp.masked_fill(~mask, 0), lp_ref.masked_fill(~mask, 0)
    reward = R - beta * torch.sum(lp - lp_ref, dim=-1)
    advantage = (reward - reward.mean()).data
    return torch.dot(advantage, lp.sum(-1)).neg() / advantage.numel()


# ---- 14.3 patchify ----


@PATCHIFY.variant
def patchify__loop(img, p):
    B, _, H, W = img.shape
    patches = []
    for top in range(0, H, p):
        for left in range(0, W, p):
            patches.append(img[:, :, top : top + p, left : left + p].reshape(B, -1))
    return torch.stack(patches, dim=1)


@PATCHIFY.variant
def patchify__torch_unfold(img, p):
    return F.unfold(img, p, stride=p).transpose(1, 2)


@PATCHIFY.variant
def patchify__two_unfolds(img, p):
    windows = img.unfold(2, p, p).unfold(3, p, p)
    B, C, h, w, _, _ = windows.shape
    return windows.movedim(1, 3).reshape(B, h * w, C * p * p)


@PATCHIFY.variant
def patchify__split(img, p):
    rows = [row.split(p, dim=3) for row in img.split(p, dim=2)]
    return torch.cat([patch.flatten(1)[:, None] for row in rows for patch in row], dim=1)


@PATCHIFY.variant
def patchify__index(img, p):
    """The place of every number of every patch, counted in the flat picture."""
    _, C, H, W = img.shape
    corner = (p * W * torch.arange(H // p)[:, None] + p * torch.arange(W // p)).reshape(-1, 1)
    pixel = (W * torch.arange(p)[:, None] + torch.arange(p)).flatten()
    inside = (H * W * torch.arange(C)[:, None] + pixel).reshape(1, -1)
    return img.flatten(1)[:, corner + inside]


@PATCHIFY.variant
def patchify__pixel_unshuffle(img, p):
    """torch's way from space to depth, the other way round: each channel of a pixel in its patch is a map."""
    return F.pixel_unshuffle(img, p).flatten(2).transpose(1, 2)


# ---- 14.4 vit_embed ----


@VIT_EMBED.variant
def vit_embed__convolution(img, p, params):
    """A convolution whose steps are as long as its kernel, as the published model has it."""
    D, C = params.W.shape[0], img.shape[1]
    maps = F.conv2d(img, params.W.view(D, C, p, p), params.b, stride=p)
    x = maps.flatten(2).mT
    if params.cls is None:
        return x + params.positions
    first = params.cls.view(1, 1, D).repeat(len(img), 1, 1)
    return torch.cat((first, x), 1) + params.positions[None]


@VIT_EMBED.variant
def vit_embed__filled_in(img, p, params):
    patches = patchify(img, p)
    B, T, _ = patches.shape
    first = 0 if params.cls is None else 1
    h = patches.new_zeros(B, T + first, len(params.b))
    h[:, first:] = F.linear(patches, params.W, params.b)
    if first:
        h[:, 0] = params.cls
    return h + params.positions


@VIT_EMBED.variant
def vit_embed__positions_apart(img, p, params):
    x = torch.einsum("btn,dn->btd", patchify(img, p), params.W)
    if params.cls is None:
        return x + (params.b + params.positions)
    first = (params.cls + params.positions[0])[None].expand(len(img), -1)
    return torch.cat([first[:, None], x + (params.b + params.positions[1:])], dim=1)


@VIT_EMBED.variant
def vit_embed__picture_by_picture(img, p, params):
    rows = []
    for picture in img:
        tokens = [] if params.cls is None else [params.cls]
        tokens += [params.W @ patch + params.b for patch in patchify(picture[None], p)[0]]
        rows.append(torch.stack([token + place for token, place in zip(tokens, params.positions, strict=True)]))
    return torch.stack(rows)


# ---- 14.5 contrastive ----


@CONTRASTIVE.variant
def contrastive__loop(z, c, neg, mask, tau):
    B, T, D = z.shape
    flat, losses = z.reshape(-1, D), []
    for b in range(B):
        for t in range(T):
            if mask[b, t]:
                places = [b * T + t] + [j for j in neg[b, t].tolist() if j != b * T + t]
                s = F.cosine_similarity(c[b, t][None], flat[places], dim=1) / tau
                losses.append(torch.logsumexp(s, dim=0) - s[0])
    return sum(losses) / len(losses)


@CONTRASTIVE.variant
def contrastive__table(z, c, neg, mask, tau):
    """All frames with all frames; then the wanted scores are picked out."""
    z, c = z.flatten(0, 1), c.flatten(0, 1)
    table = c @ z.T / (c.norm(dim=1)[:, None] * z.norm(dim=1)) / tau
    neg, own = neg.flatten(0, 1), torch.arange(len(z))[:, None]
    others = torch.where(neg == own, -math.inf, table.gather(1, neg))
    loss = torch.logsumexp(torch.cat([table.diagonal()[:, None], others], dim=1), dim=1) - table.diagonal()
    return (loss * mask.flatten()).sum() / mask.sum()


@CONTRASTIVE.variant
def contrastive__hidden_first(z, c, neg, mask, tau):
    """Only the hidden frames are ever looked at; torch's cross-entropy with class 0 does the rest."""
    z = z.flatten(0, 1)
    own = mask.flatten().nonzero()
    asked, others = c[mask], neg[mask]
    s = torch.cosine_similarity(asked[:, None], z[torch.cat([own, others], dim=1)], dim=-1) / tau
    s[:, 1:][others == own] = -math.inf
    return F.cross_entropy(s, torch.zeros(len(s), dtype=torch.long))


@CONTRASTIVE.variant
def contrastive__counts(z, c, neg, mask, tau):
    """How often each frame of the batch was drawn, as a weight in a sum over all of them."""
    B, T, D = z.shape
    z, c = F.normalize(z.reshape(B * T, D)), F.normalize(c.reshape(B * T, D))
    drawn = F.one_hot(neg.reshape(B * T, -1), B * T).sum(dim=1).to(z)
    drawn = drawn.fill_diagonal_(1)
    s = c @ z.T / tau
    loss = torch.logsumexp(s + drawn.log(), dim=1) - s.diagonal()
    return loss[mask.flatten()].mean()


@CONTRASTIVE.variant
def contrastive__differences(z, c, neg, mask, tau):
    """log(1 + the sum of exp(s_j - s_t)), as a log-sum-exp with a 0 in it."""
    z, c = z / z.square().sum(-1, keepdim=True).sqrt(), c / c.square().sum(-1, keepdim=True).sqrt()
    own = torch.arange(mask.numel()).view(*mask.shape, 1)
    positive = torch.einsum("btd,btd->bt", c, z)
    others = torch.einsum("btd,btmd->btm", c, z.flatten(0, 1)[neg])
    gap = ((others - positive[..., None]) / tau).masked_fill(neg == own, -math.inf)
    return torch.logsumexp(F.pad(gap, (0, 1)), dim=-1)[mask].mean()
