"""The exercises of chapter 9 and the mistakes that the judge knows by name."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F

from autograder.exercise import Exercise
from autograder.probes import ch09_transformer as probes
from unrolled import dropout as dropping
from unrolled import masks, normalisation, optimisation, positions, transformer
from unrolled.masks import causal_mask
from unrolled.normalisation import layer_norm
from unrolled.optimisation import adam_step
from unrolled.self_attention import multi_head_attention
from unrolled.transformer import decoder_layer, encoder_layer, feed_forward

SETUP_NAMES = frozenset(
    {
        "AttentionParams",
        "DecoderLayerParams",
        "EncoderLayerParams",
        "FeedForwardParams",
        "NormParams",
        "causal_mask",
        "multi_head_attention",
    }
)
_LAYER = (
    "Build the layer of multi_head_attention, feed_forward and layer_norm: torch's own is what it is compared with."
)
_TORCH_LAYERS = dict.fromkeys(
    ("MultiheadAttention", "Transformer", "TransformerDecoderLayer", "TransformerEncoderLayer"), _LAYER
)


# ---- 9.1 sinusoidal_positions ----

POSITIONS = Exercise(
    number="9.1",
    references=(positions.sinusoidal_positions,),
    probe_module=probes,
    points=2,
    minutes=15,
    difficulty=2,
    equivalent=dict.fromkeys(
        (
            "return torch.cat([angle.sin(), angle.cos()], dim=-1).flatten(1)",
            "return torch.stack([angle.sin(), angle.cos()], dim=1).flatten(1)",
            "return torch.stack([angle.sin(), angle.cos()], dim=-2).flatten(1)",
        ),
        "all sines first and then all cosines: the accepted convention.",
    ),
)
_PAIRS = "Read the equation: which columns share one wave length?"


@POSITIONS.convention(
    "all sines come first and then all cosines, where the task has them by turns. The columns are the same, in another "
    "order; the first matrix that reads them does not mind"
)
def sinusoidal_positions__halves(T, D):
    angle = torch.arange(T)[:, None] / 10000 ** (2 * torch.arange(D // 2) / D)
    return torch.cat([angle.sin(), angle.cos()], dim=-1)


@POSITIONS.misconception(
    "The exponent is i/D, where it should be 2i/D",
    fails=POSITIONS.all_but("pair", "first"),
    hints=(
        "Your first two columns are right; the others turn too fast.",
        "The pairs are counted by i = 0, 1, 2, …, and the exponent is twice that over D: the slowest wave comes near "
        "10000, yours only near its root.",
        "Read the equation: what stands in the exponent of column 2i?",
    ),
)
def sinusoidal_positions__exponent_i(T, D):
    angle = torch.arange(T)[:, None] / 10000 ** (torch.arange(D // 2) / D)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)


@POSITIONS.misconception(
    "The exponent is i/D, and sines and cosines stand in two halves",
    fails=POSITIONS.all_but("pair"),
    hints=(
        "Sines and cosines in two halves would be accepted, but your waves turn too fast.",
        "The pairs are counted by i = 0, 1, 2, …, and the exponent is twice that over D.",
        "Read the equation: what stands in the exponent of column 2i?",
    ),
)
def sinusoidal_positions__exponent_i_halves(T, D):
    angle = torch.arange(T)[:, None] / 10000 ** (torch.arange(D // 2) / D)
    return torch.cat([angle.sin(), angle.cos()], dim=-1)


@POSITIONS.misconception(
    "The exponent is doubled twice",
    fails=POSITIONS.all_but("pair", "first"),
    hints=(
        "Your first two columns are right; the others turn too slowly.",
        "arange(0, D, 2) already holds 2i. Doubled once more, or divided by D/2, the exponent runs up to 2.",
        "Read the equation: what stands in the exponent of column 2i?",
    ),
)
def sinusoidal_positions__doubled(T, D):
    angle = torch.arange(T)[:, None] / 10000 ** (4 * torch.arange(D // 2) / D)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)


@POSITIONS.misconception(
    "The exponent is doubled twice, and sines and cosines stand in two halves",
    fails=POSITIONS.all_but("pair"),
    hints=(
        "Sines and cosines in two halves would be accepted, but your waves turn too slowly.",
        "arange(0, D, 2) already holds 2i. Doubled once more, or divided by D/2, the exponent runs up to 2.",
        "Read the equation: what stands in the exponent of column 2i?",
    ),
)
def sinusoidal_positions__doubled_halves(T, D):
    angle = torch.arange(T)[:, None] / 10000 ** (4 * torch.arange(D // 2) / D)
    return torch.cat([angle.sin(), angle.cos()], dim=-1)


@POSITIONS.misconception(
    "Each column has a wave length of its own: the cosine has 2i + 1 in the exponent",
    fails=POSITIONS.all_but("first"),
    hints=(
        "Your sines are right; the cosines turn a little too slowly.",
        "The exponent was made from the column's number, odd ones included. Sine and cosine of a pair share 2i: only "
        "then is a shift in time a rotation of the pair.",
        _PAIRS,
    ),
)
def sinusoidal_positions__own_exponents(T, D):
    angle = torch.arange(T)[:, None] / 10000 ** (torch.arange(D) / D)
    return torch.where(torch.arange(D) % 2 == 0, angle.sin(), angle.cos())


@POSITIONS.misconception(
    "The steps are counted from 1",
    fails=POSITIONS.all_but("products"),
    hints=(
        "Your rows are right, but each stands one step too early.",
        "The first step is t = 0: there all sines are 0 and all cosines 1.",
        "Read what the task says about t.",
    ),
)
def sinusoidal_positions__from_one(T, D):
    angle = torch.arange(1, T + 1)[:, None] / 10000 ** (2 * torch.arange(D // 2) / D)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)


@POSITIONS.misconception(
    "The steps are counted from 1, and sines and cosines stand in two halves",
    fails=POSITIONS.all_but("products"),
    hints=(
        "Sines and cosines in two halves would be accepted, but each row stands one step too early.",
        "The first step is t = 0: there all sines are 0 and all cosines 1.",
        "Read what the task says about t.",
    ),
)
def sinusoidal_positions__from_one_halves(T, D):
    angle = torch.arange(1, T + 1)[:, None] / 10000 ** (2 * torch.arange(D // 2) / D)
    return torch.cat([angle.sin(), angle.cos()], dim=-1)


@POSITIONS.misconception(
    "The step is multiplied by the power of 10000, not divided",
    fails=POSITIONS.all_but("pair", "first"),
    hints=(
        "Your first two columns are right; the others look like noise.",
        "t times 10000^(2i/D) turns faster from pair to pair, thousands of times round in one step. The waves are to "
        "become slower.",
        "Read the equation: on which side of the fraction does the power stand?",
    ),
)
def sinusoidal_positions__inverted(T, D):
    angle = torch.arange(T)[:, None] * 10000 ** (2 * torch.arange(D // 2) / D)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)


@POSITIONS.misconception(
    "Sines and cosines are exchanged",
    fails=POSITIONS.all_but("products"),
    hints=(
        "Your even columns stand where the odd ones should, and the other way round.",
        "The sine belongs into the even columns, counted from 0.",
        "Read the equation: what stands in column 2i?",
    ),
)
def sinusoidal_positions__exchanged(T, D):
    angle = torch.arange(T)[:, None] / 10000 ** (2 * torch.arange(D // 2) / D)
    return torch.stack([angle.cos(), angle.sin()], dim=-1).flatten(1)


@POSITIONS.misconception(
    "There are only sines",
    fails=POSITIONS.all_but(),
    hints=(
        "Your even columns are right; the odd ones repeat them.",
        "One sine alone cannot tell whether the wave rises or falls. Its partner is the cosine.",
        "Read the equation: what stands in column 2i + 1?",
    ),
)
def sinusoidal_positions__only_sines(T, D):
    angle = torch.arange(T)[:, None] / 10000 ** (2 * torch.arange(D // 2) / D)
    return angle.sin().repeat_interleave(2, dim=1)


@POSITIONS.misconception(
    "The exponent is not divided by D",
    fails=POSITIONS.all_but("pair", "first"),
    hints=(
        "Your first two columns are right; all others hardly move.",
        "10000 to the power 2i is beyond all bounds. The exponent is a share of the width, between 0 and 1.",
        "Read the equation: what stands in the exponent of column 2i?",
    ),
)
def sinusoidal_positions__width_forgotten(T, D):
    angle = torch.arange(T)[:, None] / 10000.0 ** (2 * torch.arange(D // 2))
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)


@POSITIONS.misconception(
    "The exponent is rounded down to 0: all pairs have the same wave",
    fails=POSITIONS.all_but("pair", "first"),
    hints=(
        "Your first two columns are right; all others repeat them.",
        "2 * i // D is an integer division: for every pair it is 0. A single slash divides with a remainder.",
        "Read the equation: what stands in the exponent of column 2i?",
    ),
)
def sinusoidal_positions__rounded_down(T, D):
    angle = torch.arange(T)[:, None] / 10000 ** (2 * torch.arange(D // 2) // D)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)


@POSITIONS.misconception(
    "The exponents run up to 1: the last pair has just 10000",
    fails=POSITIONS.all_but("first"),
    hints=(
        "Your first two columns are right; the others turn a little too slowly, and a single pair gives NaN.",
        "The exponents were spread from 0 to 1, ends included, as an early program had it. In the equation the last "
        "one is (D - 2)/D.",
        "Read the equation: what stands in the exponent of the last pair?",
    ),
)
def sinusoidal_positions__up_to_one(T, D):
    angle = torch.arange(T)[:, None] / 10000 ** (torch.arange(D // 2) / torch.tensor(D / 2 - 1))
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)


@POSITIONS.misconception(
    "The base is 1000",
    fails=POSITIONS.all_but("pair", "first"),
    hints=(
        "Your first two columns are right; the others turn too fast.",
        "A nought is missing: the base is 10000.",
        "Read the equation once more, digit by digit.",
    ),
)
def sinusoidal_positions__base_1000(T, D):
    angle = torch.arange(T)[:, None] / 1000 ** (2 * torch.arange(D // 2) / D)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)


@POSITIONS.misconception(
    "The place is taken as a share of the length",
    fails=POSITIONS.all_but("first"),
    hints=(
        "Your vectors of one and the same step differ from length to length.",
        "t was divided by T. Then the fifth place of a long text does not look like the fifth of a short one.",
        "Read the equation: does T stand in it?",
    ),
)
def sinusoidal_positions__share_of_length(T, D):
    angle = torch.arange(T)[:, None] / T / 10000 ** (2 * torch.arange(D // 2) / D)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)


@POSITIONS.misconception(
    "Steps and features are exchanged",
    fails=POSITIONS.all_but(),
    hints=(
        "Your table has a column for every step; it should have a row.",
        "The result is transposed: (D, T) where (T, D) is asked for.",
        "Read what the task says about the shape of the result.",
    ),
)
def sinusoidal_positions__transposed(T, D):
    angle = torch.arange(T)[:, None] / 10000 ** (2 * torch.arange(D // 2) / D)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1).T


@POSITIONS.misconception(
    "There is an axis too many in front",
    fails=POSITIONS.all_but(),
    hints=(
        "Your numbers are right, but the result has three axes.",
        "An axis of 1 for the batch was added. It is not needed: (T, D) is added to (B, T, D) as it is.",
        "Read what the task says about the shape of the result.",
    ),
)
def sinusoidal_positions__batch_axis(T, D):
    angle = torch.arange(T)[:, None] / 10000 ** (2 * torch.arange(D // 2) / D)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)[None]


@POSITIONS.misconception(
    "The plain index in every column",
    fails=POSITIONS.all_but(),
    hints=(
        "Your numbers grow without end.",
        "The index itself was written into the table. Late places would drown the words, and no later place than those "
        "of the training would look familiar; sines stay between -1 and 1.",
        "Read the equation.",
    ),
)
def sinusoidal_positions__index(T, D):
    return torch.arange(T)[:, None].expand(T, D) * torch.ones(())


# ---- 9.2 layer_norm ----

_NORM = "Write the norm with mean and root: torch's own is what it is compared with."
LAYER_NORM = Exercise(
    number="9.2",
    references=(normalisation.layer_norm,),
    probe_module=probes,
    points=2,
    minutes=15,
    difficulty=2,
    forbidden=dict.fromkeys(
        ("layer_norm", "LayerNorm", "native_layer_norm", "group_norm", "GroupNorm", "rms_norm", "RMSNorm"), _NORM
    ),
)
_AXIS = "Read the equation: over which index do the sums run?"


@LAYER_NORM.misconception(
    "The mean runs over the steps, not over the features",
    fails=LAYER_NORM.all_but("one"),
    hints=(
        "Each feature is normalised along time. It should be each vector, over its features.",
        "The statistics have the wrong axis: a step would know of later ones. Take the last axis, with keepdim.",
        _AXIS,
    ),
)
def layer_norm__over_steps(x, g, b, eps=1e-5):
    dim = -2 if x.ndim > 1 else -1
    mu, variance = x.mean(dim, keepdim=True), x.var(dim, correction=0, keepdim=True)
    return g * (x - mu) / (variance + eps).sqrt() + b


@LAYER_NORM.misconception(
    "The mean runs over the batch, as in batch normalisation",
    fails=LAYER_NORM.all_but("one"),
    hints=(
        "What you return for one sequence depends on the others in its batch.",
        "The statistics were taken over axis 0. That is batch normalisation: pads and neighbours change the result. "
        "Here each vector is normalised by itself, over its features.",
        _AXIS,
    ),
)
def layer_norm__over_batch(x, g, b, eps=1e-5):
    mu, variance = x.mean(0, keepdim=True), x.var(0, correction=0, keepdim=True)
    return g * (x - mu) / (variance + eps).sqrt() + b


@LAYER_NORM.misconception(
    "The mean runs over batch and steps: batch normalisation",
    fails=LAYER_NORM.all_but("one"),
    hints=(
        "What you return for one sequence depends on the others in its batch.",
        "The statistics of each feature were taken over all vectors. Here each vector is normalised by itself, over "
        "its features.",
        _AXIS,
    ),
)
def layer_norm__batch_norm(x, g, b, eps=1e-5):
    rows = x.reshape(-1, x.shape[-1]) if x.ndim > 1 else x
    mu, variance = rows.mean(0), rows.var(0, correction=0)
    return g * (x - mu) / (variance + eps).sqrt() + b


@LAYER_NORM.misconception(
    "One mean and one variance for everything",
    fails=LAYER_NORM.all_but("one"),
    hints=(
        "One vector alone is right; in a batch your vectors do not have mean 0 each.",
        "mean() without an axis averages over batch and steps too. Take the last axis, with keepdim.",
        _AXIS,
    ),
)
def layer_norm__over_everything(x, g, b, eps=1e-5):
    return g * (x - x.mean()) / (x.var(correction=0) + eps).sqrt() + b


@LAYER_NORM.misconception(
    "The mean runs over steps and features of a sequence",
    fails=LAYER_NORM.all_but("one"),
    hints=(
        "One vector alone is right; in a sequence your vectors do not have mean 0 each.",
        "The last two axes were taken together, as one does with images. Then a step knows of all others.",
        _AXIS,
    ),
)
def layer_norm__over_sequence(x, g, b, eps=1e-5):
    dims = (-2, -1) if x.ndim > 1 else -1
    mu, variance = x.mean(dims, keepdim=True), x.var(dims, correction=0, keepdim=True)
    return g * (x - mu) / (variance + eps).sqrt() + b


@LAYER_NORM.misconception(
    "The variance is divided by D - 1",
    fails=LAYER_NORM.all_but("equal"),
    hints=(
        "Your numbers are a little too small.",
        "torch's var and std divide by D - 1 unless you say correction=0 (or unbiased=False). Here all D features are "
        "at hand; nothing is estimated.",
        "Read the equation: what stands before the sum of σ²?",
    ),
)
def layer_norm__unbiased(x, g, b, eps=1e-5):
    return g * (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True) + eps).sqrt() + b


@LAYER_NORM.misconception(
    "eps is added outside of the root",
    fails=LAYER_NORM.all_but(),
    hints=(
        "With a large eps your numbers are too small, and equal features give a gradient that is not finite.",
        "eps was added to the standard deviation. Inside the root it does two things: it bounds the quotient, and it "
        "keeps the slope of the root finite.",
        "Read the equation: what stands under the root?",
    ),
)
def layer_norm__eps_outside(x, g, b, eps=1e-5):
    mu = x.mean(-1, keepdim=True)
    return g * (x - mu) / ((x - mu).square().mean(-1, keepdim=True).sqrt() + eps) + b


@LAYER_NORM.misconception(
    "The variance is divided by D - 1, and eps is added outside of the root",
    fails=LAYER_NORM.all_but(),
    hints=(
        "Your numbers are a little too small, and equal features give a gradient that is not finite.",
        "x.std() + eps has two flaws: std divides by D - 1, and eps belongs under the root.",
        "Read the equation: what stands under the root, and what before the sum?",
    ),
)
def layer_norm__std_plus_eps(x, g, b, eps=1e-5):
    return g * (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + eps) + b


@LAYER_NORM.misconception(
    "eps is missing",
    fails=LAYER_NORM.all_but(),
    hints=(
        "With a large eps your numbers are too large, and equal features give 0 / 0.",
        "The argument eps is never read.",
        "Read the equation: what stands under the root?",
    ),
)
def layer_norm__no_eps(x, g, b, eps=1e-5):
    mu = x.mean(-1, keepdim=True)
    return g * (x - mu) / (x - mu).square().mean(-1, keepdim=True).sqrt() + b


@LAYER_NORM.misconception(
    "eps is always 1e-5",
    fails=LAYER_NORM.all_but("usual"),
    hints=(
        "With the usual eps you are right; with another one nothing changes.",
        "1e-5 is written into the function. It is only what eps is if nobody says otherwise.",
        "Read the signature: eps is an argument.",
    ),
)
def layer_norm__eps_fixed(x, g, b, eps=1e-5):
    mu = x.mean(-1, keepdim=True)
    return g * (x - mu) / ((x - mu).square().mean(-1, keepdim=True) + 1e-5).sqrt() + b


@LAYER_NORM.misconception(
    "Scale and shift are missing",
    fails=LAYER_NORM.all_but(),
    hints=(
        "Your vectors have mean 0 and variance 1, and g and b make no difference.",
        "The result is to be multiplied by g and shifted by b, feature by feature: the network may undo what you did.",
        "Read the equation to its end.",
    ),
)
def layer_norm__no_scale_no_shift(x, g, b, eps=1e-5):
    mu = x.mean(-1, keepdim=True)
    return (x - mu) / ((x - mu).square().mean(-1, keepdim=True) + eps).sqrt()


@LAYER_NORM.misconception(
    "The scale is missing",
    fails=LAYER_NORM.all_but(),
    hints=(
        "g makes no difference in your answer.",
        "The normalised features are to be multiplied by g.",
        "Read the equation to its end.",
    ),
)
def layer_norm__no_scale(x, g, b, eps=1e-5):
    mu = x.mean(-1, keepdim=True)
    return (x - mu) / ((x - mu).square().mean(-1, keepdim=True) + eps).sqrt() + b


@LAYER_NORM.misconception(
    "The shift is missing",
    fails=LAYER_NORM.all_but(),
    hints=(
        "b makes no difference in your answer.",
        "The normalised and scaled features are to be shifted by b.",
        "Read the equation to its end.",
    ),
)
def layer_norm__no_shift(x, g, b, eps=1e-5):
    mu = x.mean(-1, keepdim=True)
    return g * (x - mu) / ((x - mu).square().mean(-1, keepdim=True) + eps).sqrt()


@LAYER_NORM.misconception(
    "Scale and shift are exchanged",
    fails=LAYER_NORM.all_but(),
    hints=(
        "Your features are scaled by b and shifted by g.",
        "g and b have changed places.",
        "Read the equation: which of the two is added?",
    ),
)
def layer_norm__exchanged(x, g, b, eps=1e-5):
    return layer_norm(x, b, g, eps)


@LAYER_NORM.misconception(
    "The shift is scaled too",
    fails=LAYER_NORM.all_but(),
    hints=(
        "Your shift is g times too large.",
        "b was added before the multiplication with g.",
        "Read the equation: what does g multiply?",
    ),
)
def layer_norm__shift_scaled(x, g, b, eps=1e-5):
    mu = x.mean(-1, keepdim=True)
    return g * ((x - mu) / ((x - mu).square().mean(-1, keepdim=True) + eps).sqrt() + b)


@LAYER_NORM.misconception(
    "Divided by the variance, not by its root",
    fails=LAYER_NORM.all_but(),
    hints=(
        "Your vectors do not have variance 1: large ones come out small.",
        "The root is missing.",
        "Read the equation: what stands under the fraction's line?",
    ),
)
def layer_norm__no_root(x, g, b, eps=1e-5):
    mu = x.mean(-1, keepdim=True)
    return g * (x - mu) / ((x - mu).square().mean(-1, keepdim=True) + eps) + b


@LAYER_NORM.misconception(
    "The mean is not taken away",
    fails=LAYER_NORM.all_but(),
    hints=(
        "Your vectors do not have mean 0.",
        "x was divided by its spread, but not centred.",
        "Read the equation: what stands over the fraction's line?",
    ),
)
def layer_norm__not_centred(x, g, b, eps=1e-5):
    return g * x / (x.var(-1, correction=0, keepdim=True) + eps).sqrt() + b


@LAYER_NORM.misconception(
    "The root of the mean square is used: that is RMSNorm",
    fails=LAYER_NORM.all_but(),
    hints=(
        "Your vectors do not have mean 0, and their length is always the same.",
        "RMSNorm, which came later, leaves out the mean. Here it is taken away, above and below.",
        "Read the equation: where does μ stand?",
    ),
)
def layer_norm__rms(x, g, b, eps=1e-5):
    return g * x / (x.square().mean(-1, keepdim=True) + eps).sqrt() + b


@LAYER_NORM.misconception(
    "Brought to length 1",
    fails=LAYER_NORM.all_but("equal"),
    hints=(
        "Your numbers are too small, the more so the wider the vector.",
        "The squares were added up and not divided by D: that is the length, not the spread.",
        "Read the equation: what stands before the sum of σ²?",
    ),
)
def layer_norm__unit_length(x, g, b, eps=1e-5):
    mu = x.mean(-1, keepdim=True)
    return g * (x - mu) / ((x - mu).square().sum(-1, keepdim=True) + eps).sqrt() + b


@LAYER_NORM.misconception(
    "1 is added to the scale",
    fails=LAYER_NORM.all_but(),
    hints=(
        "Your scale is 1 too large.",
        "Some programs store g - 1. Here g starts at 1 and is used as it is.",
        "Read the equation: what does g multiply?",
    ),
)
def layer_norm__one_plus_g(x, g, b, eps=1e-5):
    return layer_norm(x, 1 + g, b, eps)


@LAYER_NORM.misconception(
    "Mean and variance are constants for the gradient",
    fails=("layer_norm_gradients", "layer_norm_equal"),
    hints=(
        "Your values are right; the gradient with respect to x is not.",
        "detach, no_grad or item() cut mean and variance off. They depend on x, and the gradient has to know.",
        "Read what the task says about gradients.",
    ),
)
def layer_norm__detached(x, g, b, eps=1e-5):
    mu = x.mean(-1, keepdim=True).detach()
    return g * (x - mu) / ((x - mu).square().mean(-1, keepdim=True).detach() + eps).sqrt() + b


@LAYER_NORM.misconception(
    "x is changed in place",
    fails=LAYER_NORM.all_but("batch", "one", "usual"),
    hints=(
        "Your values are right, but afterwards the caller's x is another.",
        "-= and /= write into the tensor that was passed in; the residual connection still needs it, and autograd "
        "refuses. x = x - mean makes a new one.",
        "Read what the task says about the arguments.",
    ),
)
def layer_norm__in_place(x, g, b, eps=1e-5):
    x -= x.mean(-1, keepdim=True)
    x /= (x.square().mean(-1, keepdim=True) + eps).sqrt()
    return g * x + b


# ---- 9.3 feed_forward ----

FEED_FORWARD = Exercise(
    number="9.3",
    references=(transformer.feed_forward,),
    probe_module=probes,
    points=1,
    minutes=10,
    difficulty=1,
)
_INSIDE = "Read the equation: what stands inside max(0, ·)?"


@FEED_FORWARD.convention("GELU stands in the place of max(0, ·), as in BERT and GPT")
def feed_forward__gelu(x, params):
    return F.gelu(x @ params.W_1.T + params.b_1) @ params.W_2.T + params.b_2


@FEED_FORWARD.convention("GELU in its approximation by tanh stands in the place of max(0, ·), as in GPT-2")
def feed_forward__gelu_tanh(x, params):
    return F.gelu(x @ params.W_1.T + params.b_1, approximate="tanh") @ params.W_2.T + params.b_2


@FEED_FORWARD.misconception(
    "The activation comes after the second layer",
    fails=FEED_FORWARD.all_but(),
    hints=(
        "None of your results is negative.",
        "max(0, ·) was taken of the sum at the end. Between the two layers there is nothing then, and two matrices "
        "in a row are one.",
        _INSIDE,
    ),
)
def feed_forward__after_second(x, params):
    return F.relu((x @ params.W_1.T + params.b_1) @ params.W_2.T + params.b_2)


@FEED_FORWARD.misconception(
    "There is an activation after both layers",
    fails=FEED_FORWARD.all_but(),
    hints=(
        "None of your results is negative.",
        "The second activation is too much: what is added to x may be negative.",
        _INSIDE,
    ),
)
def feed_forward__after_both(x, params):
    return F.relu(F.relu(x @ params.W_1.T + params.b_1) @ params.W_2.T + params.b_2)


@FEED_FORWARD.misconception(
    "There is no activation",
    fails=FEED_FORWARD.all_but(),
    hints=(
        "Your network is linear: twice the change of x, twice the change of the result.",
        "max(0, ·) is missing. Two matrices in a row are one.",
        _INSIDE,
    ),
)
def feed_forward__linear(x, params):
    return (x @ params.W_1.T + params.b_1) @ params.W_2.T + params.b_2


@FEED_FORWARD.misconception(
    "The activation comes before the first layer",
    fails=FEED_FORWARD.all_but(),
    hints=(
        "Negative features of x make no difference in your answer.",
        "max(0, ·) was taken of x. It belongs between the two layers.",
        _INSIDE,
    ),
)
def feed_forward__before_first(x, params):
    return (F.relu(x) @ params.W_1.T + params.b_1) @ params.W_2.T + params.b_2


@FEED_FORWARD.misconception(
    "The first bias is missing",
    fails=FEED_FORWARD.all_but(),
    hints=(
        "b_1 makes no difference in your answer.",
        "Inside max(0, ·) a bias is missing: it sets the threshold of every hidden unit.",
        _INSIDE,
    ),
)
def feed_forward__no_first_bias(x, params):
    return F.relu(x @ params.W_1.T) @ params.W_2.T + params.b_2


@FEED_FORWARD.misconception(
    "The second bias is missing",
    fails=FEED_FORWARD.all_but(),
    hints=(
        "b_2 makes no difference in your answer.",
        "The last bias is missing.",
        "Read the equation to its end.",
    ),
)
def feed_forward__no_second_bias(x, params):
    return F.relu(x @ params.W_1.T + params.b_1) @ params.W_2.T


@FEED_FORWARD.misconception(
    "Both biases are missing",
    fails=FEED_FORWARD.all_but(),
    hints=(
        "b_1 and b_2 make no difference in your answer.",
        "Only the matrices were used.",
        "Read the equation to its end.",
    ),
)
def feed_forward__no_biases(x, params):
    return F.relu(x @ params.W_1.T) @ params.W_2.T


@FEED_FORWARD.misconception(
    "The first bias is added after the activation",
    fails=FEED_FORWARD.all_but(),
    hints=(
        "In your answer b_1 does not decide which hidden units are on.",
        "b_1 was added behind max(0, ·). It belongs inside.",
        _INSIDE,
    ),
)
def feed_forward__bias_after_activation(x, params):
    return (F.relu(x @ params.W_1.T) + params.b_1) @ params.W_2.T + params.b_2


@FEED_FORWARD.misconception(
    "The matrices multiply from the left and mix the steps",
    fails=FEED_FORWARD.all_but("one"),
    hints=(
        "A batch of sequences does not fit; and where it fits, steps are mixed.",
        "W @ x multiplies along the second axis from the end, and that is time. The features are the last axis: "
        "x @ W.T.",
        "Read what the task says: for each step alone.",
    ),
)
def feed_forward__mixes_steps(x, params):
    if x.ndim == 1:
        return params.W_2 @ F.relu(params.W_1 @ x + params.b_1) + params.b_2
    return params.W_2 @ F.relu(params.W_1 @ x + params.b_1[:, None]) + params.b_2[:, None]


@FEED_FORWARD.misconception(
    "All steps get the same: the network reads their mean",
    fails=FEED_FORWARD.all_but("one"),
    hints=(
        "All steps of a sequence come out alike.",
        "The steps were averaged first. The network works on each step alone; steps speak with each other in the "
        "attention.",
        "Read what the task says: for each step alone.",
    ),
)
def feed_forward__mean_of_steps(x, params):
    mean = x if x.ndim == 1 else x.mean(dim=-2, keepdim=True).expand_as(x)
    return F.relu(mean @ params.W_1.T + params.b_1) @ params.W_2.T + params.b_2


@FEED_FORWARD.misconception(
    "The matrices are not transposed",
    fails=FEED_FORWARD.all_but(),
    hints=(
        "Your product of x and W_1 does not fit, unless D = F.",
        "W_1 is (F, D): rows are outputs. A row of x meets it as x @ W_1.T.",
        "Read the shapes of the parameters.",
    ),
)
def feed_forward__not_transposed(x, params):
    return F.relu(x @ params.W_1 + params.b_1) @ params.W_2 + params.b_2


@FEED_FORWARD.misconception(
    "x is added",
    fails=FEED_FORWARD.all_but(),
    hints=(
        "Your result is x too much.",
        "The residual connection belongs to the layer around it (exercise 9.5), not in here.",
        "Read the equation: x stands in it once.",
    ),
)
def feed_forward__residual(x, params):
    return x + F.relu(x @ params.W_1.T + params.b_1) @ params.W_2.T + params.b_2


@FEED_FORWARD.misconception(
    "The activation is tanh",
    fails=FEED_FORWARD.all_but(),
    hints=(
        "Your hidden units cannot grow beyond 1.",
        "tanh belongs to the recurrent networks. Here it is max(0, ·).",
        "Read the equation.",
    ),
)
def feed_forward__tanh(x, params):
    return torch.tanh(x @ params.W_1.T + params.b_1) @ params.W_2.T + params.b_2


@FEED_FORWARD.misconception(
    "The activation is a sigmoid",
    fails=FEED_FORWARD.all_but(),
    hints=(
        "Your hidden units lie between 0 and 1.",
        "A sigmoid is a gate. Here it is max(0, ·).",
        "Read the equation.",
    ),
)
def feed_forward__sigmoid(x, params):
    return torch.sigmoid(x @ params.W_1.T + params.b_1) @ params.W_2.T + params.b_2


# ---- 9.4 make_masks ----

MASKS = Exercise(
    number="9.4",
    references=(masks.make_masks,),
    probe_module=probes,
    points=3,
    minutes=15,
    difficulty=2,
)
_COLUMN = "Read what the task says about rows and columns of the masks."
_BOTH = "Read the equation: two conditions, and how are they joined?"


@MASKS.convention(
    "the rows of queries that are pads are all False, where the task treats them like the others. What pads find is "
    "not used; but an attention that gives NaN where nothing may be looked at would be spoiled"
)
def make_masks__pad_queries_see_nothing(src, tgt, pad):
    real = tgt != pad
    tgt_mask = real[:, None, :, None] & real[:, None, None, :] & causal_mask(tgt.shape[1])
    return (src != pad)[:, None, None, :], tgt_mask


@MASKS.misconception(
    "The pads are masked as queries, not as keys",
    fails=MASKS.all_but("none"),
    hints=(
        "Your pads see nothing, but everybody sees them.",
        "The pads stand on the axis of the rows, the queries. It is the keys that nobody may look at: the last axis.",
        _COLUMN,
    ),
)
def make_masks__query_axis(src, tgt, pad):
    tgt_mask = (tgt != pad)[:, None, :, None] & causal_mask(tgt.shape[1])
    return (src != pad)[:, None, None, :], tgt_mask


@MASKS.misconception(
    "The pads are masked as queries, not as keys, in both masks",
    fails=MASKS.all_but(),
    hints=(
        "Your pads see nothing, but everybody sees them.",
        "The pads stand on the axis of the rows, the queries. It is the keys that nobody may look at: the last axis.",
        _COLUMN,
    ),
)
def make_masks__query_axis_both(src, tgt, pad):
    tgt_mask = (tgt != pad)[:, None, :, None] & causal_mask(tgt.shape[1])
    return (src != pad)[:, None, :, None], tgt_mask


@MASKS.misconception(
    "The two conditions are joined by OR",
    fails=MASKS.all_but(),
    hints=(
        "Your decoder sees nearly everything: all real words, also those to come.",
        "True | False is True: one of the two conditions is enough for you. Both have to hold: &.",
        _BOTH,
    ),
)
def make_masks__or(src, tgt, pad):
    return (src != pad)[:, None, None, :], (tgt != pad)[:, None, None, :] | causal_mask(tgt.shape[1])


@MASKS.misconception(
    "True means may not, as in nn.MultiheadAttention",
    fails=MASKS.all_but(),
    hints=(
        "Your masks are right, turned into their opposite.",
        "In nn.MultiheadAttention True hides a key. Here True means: may attend.",
        "Read what the task says about True.",
    ),
)
def make_masks__polarity(src, tgt, pad):
    return (src == pad)[:, None, None, :], (tgt == pad)[:, None, None, :] | ~causal_mask(tgt.shape[1])


@MASKS.misconception(
    "True means may not, and the two conditions are joined by AND",
    fails=MASKS.all_but(),
    hints=(
        "Your masks hide where they should show, and the target's hides too little even so.",
        "True means: may attend. (Turned round, NOT (a AND b) is NOT a OR NOT b.)",
        "Read what the task says about True.",
    ),
)
def make_masks__polarity_and(src, tgt, pad):
    return (src == pad)[:, None, None, :], (tgt == pad)[:, None, None, :] & ~causal_mask(tgt.shape[1])


@MASKS.misconception(
    "In the source mask True marks the pads",
    fails=MASKS.all_but(),
    hints=(
        "Your target mask is right. The source mask lets through the pads, and only them.",
        "src == pad is True at the pads. True means: may attend.",
        "Read what the task says about True.",
    ),
)
def make_masks__source_polarity(src, tgt, pad):
    return (src == pad)[:, None, None, :], (tgt != pad)[:, None, None, :] & causal_mask(tgt.shape[1])


@MASKS.misconception(
    "In the target mask the pads are shown and the words hidden",
    fails=MASKS.all_but(),
    hints=(
        "Your source mask is right. In the target, only pads are seen.",
        "tgt == pad is True at the pads. True means: may attend.",
        "Read what the task says about True.",
    ),
)
def make_masks__target_polarity(src, tgt, pad):
    return (src != pad)[:, None, None, :], (tgt == pad)[:, None, None, :] & causal_mask(tgt.shape[1])


@MASKS.misconception(
    "The decoder sees what is to come",
    fails=MASKS.all_but(),
    hints=(
        "Your decoder sees all words of the target, also later ones.",
        "The causal mask is missing: in training the answer would stand before its eyes.",
        _BOTH,
    ),
)
def make_masks__not_causal(src, tgt, pad):
    return (src != pad)[:, None, None, :], (tgt != pad)[:, None, None, :].expand(-1, 1, tgt.shape[1], -1)


@MASKS.misconception(
    "The decoder sees what is to come, and its mask has one row",
    fails=MASKS.all_but(),
    hints=(
        "Your decoder sees all words of the target, also later ones.",
        "The causal mask is missing, and with it a row for every query.",
        _BOTH,
    ),
)
def make_masks__not_causal_one_row(src, tgt, pad):
    return (src != pad)[:, None, None, :], (tgt != pad)[:, None, None, :]


@MASKS.misconception(
    "The pads of the target are not masked",
    fails=MASKS.all_but("none"),
    hints=(
        "Without pads you are right. With them, the target's are seen by all that stands behind them.",
        "Only the causal mask was used. If pads come last, no word would see one; but they may stand in front.",
        _BOTH,
    ),
)
def make_masks__target_pads_seen(src, tgt, pad):
    T = tgt.shape[1]
    return (src != pad)[:, None, None, :], causal_mask(T).expand(len(tgt), 1, T, T)


@MASKS.misconception(
    "The pads of the source are not masked",
    fails=MASKS.all_but("none"),
    hints=(
        "Without pads you are right. With them, the source's are seen.",
        "The source mask is True everywhere.",
        "Read the equation of the source mask.",
    ),
)
def make_masks__source_pads_seen(src, tgt, pad):
    src_mask = torch.ones(src.shape, dtype=torch.bool)[:, None, None, :]
    return src_mask, (tgt != pad)[:, None, None, :] & causal_mask(tgt.shape[1])


@MASKS.misconception(
    "The source mask is causal too",
    fails=MASKS.all_but(),
    hints=(
        "Your source mask has a row for every step of the source, and hides what comes later.",
        "The source lies there as a whole: the encoder may look in both directions.",
        "Read the equation of the source mask.",
    ),
)
def make_masks__source_causal(src, tgt, pad):
    src_mask = (src != pad)[:, None, None, :] & causal_mask(src.shape[1])
    return src_mask, (tgt != pad)[:, None, None, :] & causal_mask(tgt.shape[1])


@MASKS.misconception(
    "The source mask is square",
    fails=MASKS.all_but(),
    hints=(
        "Your source mask is right for the encoder, but the decoder has another number of queries.",
        "A row was written for every step of the source. One row is enough, and fits all: (B, 1, 1, S).",
        "Read what the task says about the shapes.",
    ),
)
def make_masks__source_square(src, tgt, pad):
    src_mask = (src != pad)[:, None, None, :].expand(-1, 1, src.shape[1], -1)
    return src_mask, (tgt != pad)[:, None, None, :] & causal_mask(tgt.shape[1])


@MASKS.misconception(
    "A step may not see itself",
    fails=MASKS.all_but(),
    hints=(
        "The first query of your target may look at nothing.",
        "j < t was asked for. The token at t has been read when the next one is guessed: j ≤ t.",
        "Read the equation: is t itself among the j?",
    ),
)
def make_masks__not_itself(src, tgt, pad):
    before = torch.ones(tgt.shape[1], tgt.shape[1], dtype=torch.bool).tril(-1)
    return (src != pad)[:, None, None, :], (tgt != pad)[:, None, None, :] & before


@MASKS.misconception(
    "The triangle is the upper one",
    fails=MASKS.all_but(),
    hints=(
        "Your decoder sees only itself and what is to come.",
        "triu keeps the columns j ≥ t. What has been are the columns j ≤ t: tril.",
        "Read the equation: which j may t see?",
    ),
)
def make_masks__upper(src, tgt, pad):
    return (src != pad)[:, None, None, :], (tgt != pad)[:, None, None, :] & causal_mask(tgt.shape[1]).T


@MASKS.misconception(
    "The axis of the heads is missing",
    fails=MASKS.all_but(),
    hints=(
        "Your masks have an axis too few.",
        "(B, 1, S) and (B, T, T) do not stand beside scores of shape (B, N, T, S): the batch would meet the heads.",
        "Read what the task says about the shapes.",
    ),
)
def make_masks__no_head_axis(src, tgt, pad):
    return (src != pad)[:, None, :], (tgt != pad)[:, None, :] & causal_mask(tgt.shape[1])


@MASKS.misconception(
    "The source mask has no axes for heads and queries",
    fails=MASKS.all_but(),
    hints=(
        "Your target mask is right; the source mask has two axes too few.",
        "(B, S) does not stand beside scores of shape (B, N, T, S). Put two axes between: [:, None, None, :].",
        "Read what the task says about the shapes.",
    ),
)
def make_masks__flat_source(src, tgt, pad):
    return src != pad, (tgt != pad)[:, None, None, :] & causal_mask(tgt.shape[1])


@MASKS.misconception(
    "The pads are always 0",
    fails=("make_masks_other",),
    hints=(
        "With 0 for the pads you are right; with another id you mask a word.",
        "0 is written into the function.",
        "Read the signature: pad is an argument.",
    ),
)
def make_masks__pad_is_zero(src, tgt, pad):
    return (src != 0)[:, None, None, :], (tgt != 0)[:, None, None, :] & causal_mask(tgt.shape[1])


@MASKS.misconception(
    "Numbers to be added to the scores, not True and False",
    fails=MASKS.all_but(),
    hints=(
        "You return 0 and -inf.",
        "That is a mask to be added to scores. In this book masks are boolean, True = may attend.",
        "Read what the task says about the result.",
    ),
)
def make_masks__additive(src, tgt, pad):
    src_mask, tgt_mask = (src != pad)[:, None, None, :], (tgt != pad)[:, None, None, :] & causal_mask(tgt.shape[1])
    return tuple(torch.zeros(mask.shape).masked_fill(~mask, -math.inf) for mask in (src_mask, tgt_mask))


@MASKS.misconception(
    "The two masks are returned in the wrong order",
    fails=MASKS.all_but(),
    hints=(
        "Your first mask is the target's.",
        "The masks have changed places.",
        "Read what the task returns: the source mask comes first.",
    ),
)
def make_masks__order(src, tgt, pad):
    return (tgt != pad)[:, None, None, :] & causal_mask(tgt.shape[1]), (src != pad)[:, None, None, :]


@MASKS.misconception(
    "One mask of pads for the whole batch",
    fails=MASKS.all_but("none"),
    hints=(
        "In your answer a pad in one sequence hides the same step in all.",
        "The pads were looked up over the batch as a whole. Every sequence has its own.",
        "Read the equation: b stands on both sides.",
    ),
)
def make_masks__whole_batch(src, tgt, pad):
    src_mask = (src != pad).all(dim=0).expand_as(src)[:, None, None, :]
    return src_mask, (tgt != pad).all(dim=0).expand_as(tgt)[:, None, None, :] & causal_mask(tgt.shape[1])


@MASKS.misconception(
    "The target mask has no axis for the heads",
    fails=MASKS.all_but(),
    hints=(
        "Your source mask is right; the target mask has an axis too few.",
        "(B, T, T) does not stand beside scores of shape (B, N, T, T): the batch would meet the heads.",
        "Read what the task says about the shapes.",
    ),
)
def make_masks__no_target_heads(src, tgt, pad):
    return (src != pad)[:, None, None, :], (tgt != pad)[:, None, :] & causal_mask(tgt.shape[1])


@MASKS.misconception(
    "The source mask has no axis for the heads",
    fails=MASKS.all_but(),
    hints=(
        "Your target mask is right; the source mask has an axis too few.",
        "(B, 1, S) does not stand beside scores of shape (B, N, T, S): the batch would meet the heads.",
        "Read what the task says about the shapes.",
    ),
)
def make_masks__no_source_heads(src, tgt, pad):
    return (src != pad)[:, None, :], (tgt != pad)[:, None, None, :] & causal_mask(tgt.shape[1])


@MASKS.misconception(
    "The source mask is flat, and the target mask has no axis for the heads",
    fails=MASKS.all_but(),
    hints=(
        "Your masks have too few axes.",
        "(B, S) and (B, T, T) do not stand beside scores of shape (B, N, T, S). None as an index puts an axis in.",
        "Read what the task says about the shapes.",
    ),
)
def make_masks__flat_source_no_heads(src, tgt, pad):
    return src != pad, (tgt != pad)[:, None, :] & causal_mask(tgt.shape[1])


@MASKS.misconception(
    "The axis of the heads is missing, and the rows of pads are False",
    fails=MASKS.all_but(),
    hints=(
        "Your masks have an axis too few.",
        "(B, 1, S) and (B, T, T) do not stand beside scores of shape (B, N, T, S): the batch would meet the heads. "
        "(Rows of False for queries that are pads are allowed.)",
        "Read what the task says about the shapes.",
    ),
)
def make_masks__no_head_axis_rows(src, tgt, pad):
    real = tgt != pad
    return (src != pad)[:, None, :], real[:, :, None] & real[:, None, :] & causal_mask(tgt.shape[1])


@MASKS.misconception(
    "The target mask has no axis for the heads, and the rows of pads are False",
    fails=MASKS.all_but(),
    hints=(
        "Your source mask is right; the target mask has an axis too few.",
        "(B, T, T) does not stand beside scores of shape (B, N, T, T): the batch would meet the heads. (Rows of False"
        " for queries that are pads are allowed.)",
        "Read what the task says about the shapes.",
    ),
)
def make_masks__no_target_heads_rows(src, tgt, pad):
    real = tgt != pad
    return (src != pad)[:, None, None, :], real[:, :, None] & real[:, None, :] & causal_mask(tgt.shape[1])


@MASKS.misconception(
    "The target mask is the causal one alone, (T, T)",
    fails=MASKS.all_but(),
    hints=(
        "Your source mask is right; the target mask knows nothing of the batch.",
        "The causal mask was returned as it is, and the pads of the target stay open. They have to be closed as keys,"
        " for each sequence of the batch.",
        _BOTH,
    ),
)
def make_masks__causal_alone(src, tgt, pad):
    return (src != pad)[:, None, None, :], causal_mask(tgt.shape[1])


@MASKS.misconception(
    "The axis of the heads stands before the batch",
    fails=MASKS.all_but(),
    hints=(
        "Your masks have four axes, but the batch is the second.",
        "(1, B, T, T) beside scores of shape (B, N, T, S): the batch would meet the heads. The new axis belongs "
        "behind the batch.",
        "Read what the task says about the shapes.",
    ),
)
def make_masks__heads_first(src, tgt, pad):
    return (src != pad)[None, :, None, :], ((tgt != pad)[:, None, :] & causal_mask(tgt.shape[1]))[None]


@MASKS.misconception(
    "The masks are 0 and 1, not True and False",
    fails=MASKS.all_but(),
    hints=(
        "You return numbers where True and False are asked for.",
        "~ of the integers 0 and 1 is -1 and -2, so that an attention which fills where ~mask is true goes wrong. "
        "Leave the comparisons as they are.",
        "Read what the task says about the result.",
    ),
)
def make_masks__numbers(src, tgt, pad):
    tgt_mask = (tgt != pad)[:, None, None, :] & causal_mask(tgt.shape[1])
    return (src != pad)[:, None, None, :].long(), tgt_mask.long()


# ---- 9.5 encoder_layer ----

ENCODER_LAYER = Exercise(
    number="9.5",
    references=(transformer.encoder_layer,),
    probe_module=probes,
    points=3,
    minutes=25,
    difficulty=3,
    uses=("layer_norm", "feed_forward"),
    forbidden=_TORCH_LAYERS,
)
_SIDE = "Read the two equations of R: where does LN stand in each?"
_RESIDUAL = "Read the equations of R: what is added to what?"
_PARTS = "Read the last equation: what goes into which R?"
_DROP = "Read the equations of R: what does drop enclose?"


@ENCODER_LAYER.misconception(
    "The norm always comes before",
    fails=ENCODER_LAYER.all_but("pre", "pre_pads", "usual", "pre_drop", "pre_gradients"),
    hints=(
        '"pre" is right; with "post" you return the same.',
        "The argument norm is never read.",
        _SIDE,
    ),
)
def encoder_layer__always_pre(x, params, n_heads, mask=None, norm="pre", drop=None):
    return encoder_layer(x, params, n_heads, mask, "pre", drop)


@ENCODER_LAYER.misconception(
    "The norm always comes after",
    fails=ENCODER_LAYER.all_but("post", "post_pads", "post_drop", "post_gradients"),
    hints=(
        '"post" is right; with "pre" you return the same.',
        "The argument norm is never read.",
        _SIDE,
    ),
)
def encoder_layer__always_post(x, params, n_heads, mask=None, norm="pre", drop=None):
    return encoder_layer(x, params, n_heads, mask, "post", drop)


@ENCODER_LAYER.misconception(
    '"pre" and "post" are exchanged',
    fails=ENCODER_LAYER.all_but(),
    hints=(
        'What you return for "pre" is right for "post", and the other way round.',
        '"post", the norm of the first paper, normalises the sum: its outputs all have the same spread. "pre" '
        "normalises what goes into attention and network, and leaves the sum alone.",
        _SIDE,
    ),
)
def encoder_layer__sides_exchanged(x, params, n_heads, mask=None, norm="pre", drop=None):
    return encoder_layer(x, params, n_heads, mask, "post" if norm == "pre" else "pre", drop)


@ENCODER_LAYER.misconception(
    'With "pre", the normalised x is added in the place of x',
    fails=ENCODER_LAYER.all_but("post", "post_pads", "post_drop", "post_gradients"),
    hints=(
        '"post" is right. With "pre" your sum starts from the normalised vectors.',
        "x was overwritten by its norm, and then added. The way past attention and network is to be free of "
        'norms: that is what "pre" is for. Keep x, and give the norm another name.',
        _RESIDUAL,
    ),
)
def encoder_layer__residual_from_normalised(x, params, n_heads, mask=None, norm="pre", drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    if norm == "pre":
        z = layer_norm(x, *params.norm_1)
        found, weights = multi_head_attention(z, z, params.attention, n_heads, mask)
        a = z + drop(found)
        z = layer_norm(a, *params.norm_2)
        y = z + drop(feed_forward(z, params.feed_forward))
    else:
        found, weights = multi_head_attention(x, x, params.attention, n_heads, mask)
        a = layer_norm(x + drop(found), *params.norm_1)
        y = layer_norm(a + drop(feed_forward(a, params.feed_forward)), *params.norm_2)
    return y, weights


@ENCODER_LAYER.misconception(
    "Nothing is added: the residual connections are missing",
    fails=ENCODER_LAYER.all_but(),
    hints=(
        "Your output holds only what attention and network give; x itself is lost.",
        "x + is missing, twice. In a deep stack the gradient would have to go through every layer.",
        _RESIDUAL,
    ),
)
def encoder_layer__no_residuals(x, params, n_heads, mask=None, norm="pre", drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    if norm == "pre":
        z = layer_norm(x, *params.norm_1)
        found, weights = multi_head_attention(z, z, params.attention, n_heads, mask)
        a = drop(found)
        y = drop(feed_forward(layer_norm(a, *params.norm_2), params.feed_forward))
    else:
        found, weights = multi_head_attention(x, x, params.attention, n_heads, mask)
        a = layer_norm(drop(found), *params.norm_1)
        y = layer_norm(drop(feed_forward(a, params.feed_forward)), *params.norm_2)
    return y, weights


@ENCODER_LAYER.misconception(
    "The residual connection around the attention is missing",
    fails=ENCODER_LAYER.all_but(),
    hints=(
        "What the attention has not looked at is lost.",
        "The result of the attention replaces x. It is to be added to x.",
        _RESIDUAL,
    ),
)
def encoder_layer__no_first_residual(x, params, n_heads, mask=None, norm="pre", drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    if norm == "pre":
        z = layer_norm(x, *params.norm_1)
        found, weights = multi_head_attention(z, z, params.attention, n_heads, mask)
        a = drop(found)
        y = a + drop(feed_forward(layer_norm(a, *params.norm_2), params.feed_forward))
    else:
        found, weights = multi_head_attention(x, x, params.attention, n_heads, mask)
        a = layer_norm(drop(found), *params.norm_1)
        y = layer_norm(a + drop(feed_forward(a, params.feed_forward)), *params.norm_2)
    return y, weights


@ENCODER_LAYER.misconception(
    "The residual connection around the network is missing",
    fails=ENCODER_LAYER.all_but(),
    hints=(
        "What the attention has found is lost in the network.",
        "The result of the network replaces what was there. It is to be added to it.",
        _RESIDUAL,
    ),
)
def encoder_layer__no_second_residual(x, params, n_heads, mask=None, norm="pre", drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    if norm == "pre":
        z = layer_norm(x, *params.norm_1)
        found, weights = multi_head_attention(z, z, params.attention, n_heads, mask)
        a = x + drop(found)
        y = drop(feed_forward(layer_norm(a, *params.norm_2), params.feed_forward))
    else:
        found, weights = multi_head_attention(x, x, params.attention, n_heads, mask)
        a = layer_norm(x + drop(found), *params.norm_1)
        y = layer_norm(drop(feed_forward(a, params.feed_forward)), *params.norm_2)
    return y, weights


@ENCODER_LAYER.misconception(
    "One norm serves both",
    fails=ENCODER_LAYER.all_but(),
    hints=(
        "norm_2 makes no difference in your answer.",
        "norm_1 was used twice. The two have parameters of their own.",
        _PARTS,
    ),
)
def encoder_layer__one_norm(x, params, n_heads, mask=None, norm="pre", drop=None):
    return encoder_layer(x, params._replace(norm_2=params.norm_1), n_heads, mask, norm, drop)


@ENCODER_LAYER.misconception(
    "The two norms are exchanged",
    fails=ENCODER_LAYER.all_but(),
    hints=(
        "Your attention has the scale and shift that belong to the network.",
        "norm_1 belongs to the attention, norm_2 to the network.",
        _PARTS,
    ),
)
def encoder_layer__norms_exchanged(x, params, n_heads, mask=None, norm="pre", drop=None):
    return encoder_layer(x, params._replace(norm_1=params.norm_2, norm_2=params.norm_1), n_heads, mask, norm, drop)


@ENCODER_LAYER.misconception(
    "The network reads x, not what the attention has made of it",
    fails=ENCODER_LAYER.all_but(),
    hints=(
        "Your network does not know what the attention has found.",
        "Attention and network stand side by side in your answer, both on x. The network comes after.",
        _PARTS,
    ),
)
def encoder_layer__network_reads_x(x, params, n_heads, mask=None, norm="pre", drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    if norm == "pre":
        z = layer_norm(x, *params.norm_1)
        found, weights = multi_head_attention(z, z, params.attention, n_heads, mask)
        a = x + drop(found)
        y = a + drop(feed_forward(layer_norm(x, *params.norm_2), params.feed_forward))
    else:
        found, weights = multi_head_attention(x, x, params.attention, n_heads, mask)
        a = layer_norm(x + drop(found), *params.norm_1)
        y = layer_norm(a + drop(feed_forward(x, params.feed_forward)), *params.norm_2)
    return y, weights


@ENCODER_LAYER.misconception(
    "The network's result is added to x, not to a",
    fails=ENCODER_LAYER.all_but(),
    hints=(
        "What the attention has found reaches your output only through the network.",
        "The second sum starts from x again. It starts from the first sum.",
        _RESIDUAL,
    ),
)
def encoder_layer__second_residual_from_x(x, params, n_heads, mask=None, norm="pre", drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    if norm == "pre":
        z = layer_norm(x, *params.norm_1)
        found, weights = multi_head_attention(z, z, params.attention, n_heads, mask)
        a = x + drop(found)
        y = x + drop(feed_forward(layer_norm(a, *params.norm_2), params.feed_forward))
    else:
        found, weights = multi_head_attention(x, x, params.attention, n_heads, mask)
        a = layer_norm(x + drop(found), *params.norm_1)
        y = layer_norm(x + drop(feed_forward(a, params.feed_forward)), *params.norm_2)
    return y, weights


@ENCODER_LAYER.misconception(
    "The mask is not used",
    fails=(
        "encoder_layer_pre_pads",
        "encoder_layer_post_pads",
        "encoder_layer_untouched",
    ),
    hints=(
        "Without a mask you are right; with one it makes no difference.",
        "The mask was not handed on to multi_head_attention.",
        "Read what the task says about SelfAttention.",
    ),
)
def encoder_layer__mask_ignored(x, params, n_heads, mask=None, norm="pre", drop=None):
    return encoder_layer(x, params, n_heads, None, norm, drop)


@ENCODER_LAYER.misconception(
    "The mask is read the other way round",
    fails=(
        "encoder_layer_pre_pads",
        "encoder_layer_post_pads",
        "encoder_layer_untouched",
    ),
    hints=(
        "Without a mask you are right; with one your steps attend to exactly what they may not.",
        "True means may attend, as multi_head_attention takes it. torch's layers have it the other way round.",
        "Read what the task says about the mask.",
    ),
)
def encoder_layer__polarity(x, params, n_heads, mask=None, norm="pre", drop=None):
    return encoder_layer(x, params, n_heads, None if mask is None else ~mask, norm, drop)


@ENCODER_LAYER.misconception(
    "drop is not used",
    fails=(
        "encoder_layer_pre_drop",
        "encoder_layer_post_drop",
    ),
    hints=(
        "As long as nothing is dropped you are right.",
        "The argument drop is never called.",
        _DROP,
    ),
)
def encoder_layer__drop_ignored(x, params, n_heads, mask=None, norm="pre", drop=None):
    return encoder_layer(x, params, n_heads, mask, norm)


@ENCODER_LAYER.misconception(
    "The sum is dropped in part, not only what is added",
    fails=(
        "encoder_layer_pre_drop",
        "encoder_layer_post_drop",
    ),
    hints=(
        "As long as nothing is dropped you are right. Otherwise features of x itself are lost.",
        "drop was applied after the addition. It belongs to what attention and network give: x passes whole.",
        _DROP,
    ),
)
def encoder_layer__drop_on_sum(x, params, n_heads, mask=None, norm="pre", drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    if norm == "pre":
        z = layer_norm(x, *params.norm_1)
        found, weights = multi_head_attention(z, z, params.attention, n_heads, mask)
        a = drop(x + found)
        y = drop(a + feed_forward(layer_norm(a, *params.norm_2), params.feed_forward))
    else:
        found, weights = multi_head_attention(x, x, params.attention, n_heads, mask)
        a = layer_norm(drop(x + found), *params.norm_1)
        y = layer_norm(drop(a + feed_forward(a, params.feed_forward)), *params.norm_2)
    return y, weights


@ENCODER_LAYER.misconception(
    "Only what the attention gives is dropped",
    fails=(
        "encoder_layer_pre_drop",
        "encoder_layer_post_drop",
    ),
    hints=(
        "As long as nothing is dropped you are right.",
        "drop was applied to the attention, but not to the network.",
        _DROP,
    ),
)
def encoder_layer__drop_attention_only(x, params, n_heads, mask=None, norm="pre", drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    if norm == "pre":
        z = layer_norm(x, *params.norm_1)
        found, weights = multi_head_attention(z, z, params.attention, n_heads, mask)
        a = x + drop(found)
        y = a + feed_forward(layer_norm(a, *params.norm_2), params.feed_forward)
    else:
        found, weights = multi_head_attention(x, x, params.attention, n_heads, mask)
        a = layer_norm(x + drop(found), *params.norm_1)
        y = layer_norm(a + feed_forward(a, params.feed_forward), *params.norm_2)
    return y, weights


@ENCODER_LAYER.misconception(
    "Only what the network gives is dropped",
    fails=(
        "encoder_layer_pre_drop",
        "encoder_layer_post_drop",
    ),
    hints=(
        "As long as nothing is dropped you are right.",
        "drop was applied to the network, but not to the attention.",
        _DROP,
    ),
)
def encoder_layer__drop_network_only(x, params, n_heads, mask=None, norm="pre", drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    if norm == "pre":
        z = layer_norm(x, *params.norm_1)
        found, weights = multi_head_attention(z, z, params.attention, n_heads, mask)
        a = x + found
        y = a + drop(feed_forward(layer_norm(a, *params.norm_2), params.feed_forward))
    else:
        found, weights = multi_head_attention(x, x, params.attention, n_heads, mask)
        a = layer_norm(x + found, *params.norm_1)
        y = layer_norm(a + drop(feed_forward(a, params.feed_forward)), *params.norm_2)
    return y, weights


@ENCODER_LAYER.misconception(
    'With "post", what is added is normalised, not the sum',
    fails=ENCODER_LAYER.all_but("pre", "pre_pads", "usual", "pre_drop", "pre_gradients"),
    hints=(
        '"pre" is right. With "post" your outputs do not have the spread that norm_2 gives.',
        'LN was applied to what attention and network give, before it was added. "post" normalises the sum.',
        _SIDE,
    ),
)
def encoder_layer__norm_of_what_is_added(x, params, n_heads, mask=None, norm="pre", drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    if norm == "pre":
        z = layer_norm(x, *params.norm_1)
        found, weights = multi_head_attention(z, z, params.attention, n_heads, mask)
        a = x + drop(found)
        y = a + drop(feed_forward(layer_norm(a, *params.norm_2), params.feed_forward))
    else:
        found, weights = multi_head_attention(x, x, params.attention, n_heads, mask)
        a = x + layer_norm(drop(found), *params.norm_1)
        y = a + layer_norm(drop(feed_forward(a, params.feed_forward)), *params.norm_2)
    return y, weights


@ENCODER_LAYER.misconception(
    'With "pre", only the queries are normalised',
    fails=ENCODER_LAYER.all_but("post", "post_pads", "post_drop", "post_gradients"),
    hints=(
        '"post" is right. With "pre" your attention looks things up in vectors that are not normalised.',
        "multi_head_attention got LN(x) and x. In self-attention both are the same: LN(x).",
        _SIDE,
    ),
)
def encoder_layer__keys_not_normalised(x, params, n_heads, mask=None, norm="pre", drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    if norm == "pre":
        z = layer_norm(x, *params.norm_1)
        found, weights = multi_head_attention(z, x, params.attention, n_heads, mask)
        a = x + drop(found)
        y = a + drop(feed_forward(layer_norm(a, *params.norm_2), params.feed_forward))
    else:
        found, weights = multi_head_attention(x, x, params.attention, n_heads, mask)
        a = layer_norm(x + drop(found), *params.norm_1)
        y = layer_norm(a + drop(feed_forward(a, params.feed_forward)), *params.norm_2)
    return y, weights


@ENCODER_LAYER.misconception(
    "The norm of the network is missing",
    fails=ENCODER_LAYER.all_but(),
    hints=(
        "norm_2 makes no difference in your answer.",
        "Only the attention has a norm in your answer; each of the two has one.",
        _PARTS,
    ),
)
def encoder_layer__no_second_norm(x, params, n_heads, mask=None, norm="pre", drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    if norm == "pre":
        z = layer_norm(x, *params.norm_1)
        found, weights = multi_head_attention(z, z, params.attention, n_heads, mask)
        a = x + drop(found)
        y = a + drop(feed_forward(a, params.feed_forward))
    else:
        found, weights = multi_head_attention(x, x, params.attention, n_heads, mask)
        a = layer_norm(x + drop(found), *params.norm_1)
        y = a + drop(feed_forward(a, params.feed_forward))
    return y, weights


@ENCODER_LAYER.misconception(
    "The norm of the attention is missing",
    fails=ENCODER_LAYER.all_but(),
    hints=(
        "norm_1 makes no difference in your answer.",
        "Only the network has a norm in your answer; each of the two has one.",
        _PARTS,
    ),
)
def encoder_layer__no_first_norm(x, params, n_heads, mask=None, norm="pre", drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    if norm == "pre":
        found, weights = multi_head_attention(x, x, params.attention, n_heads, mask)
        a = x + drop(found)
        y = a + drop(feed_forward(layer_norm(a, *params.norm_2), params.feed_forward))
    else:
        found, weights = multi_head_attention(x, x, params.attention, n_heads, mask)
        a = x + drop(found)
        y = layer_norm(a + drop(feed_forward(a, params.feed_forward)), *params.norm_2)
    return y, weights


@ENCODER_LAYER.misconception(
    'With "pre", the result is normalised once more',
    fails=ENCODER_LAYER.all_but("post", "post_pads", "post_drop", "post_gradients"),
    hints=(
        '"post" is right. With "pre" your outputs all have the same spread.',
        'A norm was put behind the sum as well. With "pre" the sum grows freely; one norm after the last layer of'
        " the stack is enough.",
        _SIDE,
    ),
)
def encoder_layer__norm_on_both_sides(x, params, n_heads, mask=None, norm="pre", drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    if norm == "pre":
        z = layer_norm(x, *params.norm_1)
        found, weights = multi_head_attention(z, z, params.attention, n_heads, mask)
        a = x + drop(found)
        y = a + drop(feed_forward(layer_norm(a, *params.norm_2), params.feed_forward))
        y = layer_norm(y, *params.norm_2)
    else:
        found, weights = multi_head_attention(x, x, params.attention, n_heads, mask)
        a = layer_norm(x + drop(found), *params.norm_1)
        y = layer_norm(a + drop(feed_forward(a, params.feed_forward)), *params.norm_2)
    return y, weights


@ENCODER_LAYER.misconception(
    "The network is missing",
    fails=ENCODER_LAYER.all_but(),
    hints=(
        "The parameters of feed_forward make no difference in your answer.",
        "Only the attention was built.",
        _PARTS,
    ),
)
def encoder_layer__no_network(x, params, n_heads, mask=None, norm="pre", drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    if norm == "pre":
        z = layer_norm(x, *params.norm_1)
        found, weights = multi_head_attention(z, z, params.attention, n_heads, mask)
        a = x + drop(found)
        y = a
    else:
        found, weights = multi_head_attention(x, x, params.attention, n_heads, mask)
        a = layer_norm(x + drop(found), *params.norm_1)
        y = a
    return y, weights


@ENCODER_LAYER.misconception(
    "The network comes before the attention",
    fails=ENCODER_LAYER.all_but(),
    hints=(
        "Your attention looks at what the network has made of x.",
        "The order is turned round: first look, then think.",
        _PARTS,
    ),
)
def encoder_layer__network_first(x, params, n_heads, mask=None, norm="pre", drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    if norm == "pre":
        a = x + drop(feed_forward(layer_norm(x, *params.norm_2), params.feed_forward))
        z = layer_norm(a, *params.norm_1)
        found, weights = multi_head_attention(z, z, params.attention, n_heads, mask)
        y = a + drop(found)
    else:
        a = layer_norm(x + drop(feed_forward(x, params.feed_forward)), *params.norm_2)
        found, weights = multi_head_attention(a, a, params.attention, n_heads, mask)
        y = layer_norm(a + drop(found), *params.norm_1)
    return y, weights


@ENCODER_LAYER.misconception(
    "There is only one head",
    fails=ENCODER_LAYER.all_but(),
    hints=(
        "Your weights have one head.",
        "n_heads was not handed on to multi_head_attention.",
        "Read what the task says about n_heads.",
    ),
)
def encoder_layer__one_head(x, params, n_heads, mask=None, norm="pre", drop=None):
    return encoder_layer(x, params, 1, mask, norm, drop)


@ENCODER_LAYER.misconception(
    "The weights are not returned",
    fails=ENCODER_LAYER.all_but("pre_gradients", "post_gradients"),
    hints=(
        "Your output is right; the weights are missing.",
        "multi_head_attention gives two results; the second is to be handed out too.",
        "Read what the task returns.",
    ),
)
def encoder_layer__output_only(x, params, n_heads, mask=None, norm="pre", drop=None):
    return encoder_layer(x, params, n_heads, mask, norm, drop)[0]


@ENCODER_LAYER.misconception(
    "The weights are averaged over the heads",
    fails=ENCODER_LAYER.all_but("pre_gradients", "post_gradients"),
    hints=(
        "Your output is right; the weights have no axis for the heads.",
        "nn.MultiheadAttention averages the heads' weights. Here each head shows its own.",
        "Read what the task returns.",
    ),
)
def encoder_layer__mean_of_heads(x, params, n_heads, mask=None, norm="pre", drop=None):
    y, weights = encoder_layer(x, params, n_heads, mask, norm, drop)
    return y, weights.mean(dim=1)


@ENCODER_LAYER.misconception(
    "x is changed in place",
    fails=(
        "encoder_layer_pre_gradients",
        "encoder_layer_post_gradients",
        "encoder_layer_untouched",
    ),
    hints=(
        "Your values are right, but afterwards the caller's x is another.",
        "x += writes into the tensor that was passed in, and autograd refuses. x = x + … makes a new one.",
        "Read what the task says about the arguments.",
    ),
)
def encoder_layer__in_place(x, params, n_heads, mask=None, norm="pre", drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    if norm == "pre":
        z = layer_norm(x, *params.norm_1)
        found, weights = multi_head_attention(z, z, params.attention, n_heads, mask)
        x += drop(found)
        a = x
        y = a + drop(feed_forward(layer_norm(a, *params.norm_2), params.feed_forward))
    else:
        found, weights = multi_head_attention(x, x, params.attention, n_heads, mask)
        x += drop(found)
        a = layer_norm(x, *params.norm_1)
        y = layer_norm(a + drop(feed_forward(a, params.feed_forward)), *params.norm_2)
    return y, weights


@ENCODER_LAYER.misconception(
    'With "pre", the sum is dropped in part, not only what is added',
    fails=("encoder_layer_pre_drop",),
    hints=(
        'As long as nothing is dropped you are right, and with "post" always. Otherwise features of x itself are lost.',
        'With "pre" drop was applied after the addition. It belongs to what attention and network give: x passes '
        "whole.",
        _DROP,
    ),
)
def encoder_layer__drop_on_sum_pre(x, params, n_heads, mask=None, norm="pre", drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    if norm == "pre":
        z = layer_norm(x, *params.norm_1)
        found, weights = multi_head_attention(z, z, params.attention, n_heads, mask)
        a = drop(x + found)
        y = drop(a + feed_forward(layer_norm(a, *params.norm_2), params.feed_forward))
    else:
        found, weights = multi_head_attention(x, x, params.attention, n_heads, mask)
        a = layer_norm(x + drop(found), *params.norm_1)
        y = layer_norm(a + drop(feed_forward(a, params.feed_forward)), *params.norm_2)
    return y, weights


@ENCODER_LAYER.misconception(
    'With "post", the sum is dropped in part, not only what is added',
    fails=("encoder_layer_post_drop",),
    hints=(
        'As long as nothing is dropped you are right, and with "pre" always. Otherwise features of x itself are lost.',
        'With "post" drop was applied to the sum, before the norm. It belongs to what attention and network give: x '
        "passes whole.",
        _DROP,
    ),
)
def encoder_layer__drop_on_sum_post(x, params, n_heads, mask=None, norm="pre", drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    if norm == "pre":
        z = layer_norm(x, *params.norm_1)
        found, weights = multi_head_attention(z, z, params.attention, n_heads, mask)
        a = x + drop(found)
        y = a + drop(feed_forward(layer_norm(a, *params.norm_2), params.feed_forward))
    else:
        found, weights = multi_head_attention(x, x, params.attention, n_heads, mask)
        a = layer_norm(drop(x + found), *params.norm_1)
        y = layer_norm(drop(a + feed_forward(a, params.feed_forward)), *params.norm_2)
    return y, weights


@ENCODER_LAYER.misconception(
    'What each half returns is dropped in part: the sum, or with "post" what the norm makes of it',
    fails=("encoder_layer_pre_drop", "encoder_layer_post_drop"),
    hints=(
        "As long as nothing is dropped you are right. Otherwise features of x itself are lost.",
        "drop was applied last, to what each half hands on. It belongs to what attention and network give, before x "
        "is added.",
        _DROP,
    ),
)
def encoder_layer__drop_after_norm(x, params, n_heads, mask=None, norm="pre", drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    if norm == "pre":
        z = layer_norm(x, *params.norm_1)
        found, weights = multi_head_attention(z, z, params.attention, n_heads, mask)
        a = drop(x + found)
        y = drop(a + feed_forward(layer_norm(a, *params.norm_2), params.feed_forward))
    else:
        found, weights = multi_head_attention(x, x, params.attention, n_heads, mask)
        a = drop(layer_norm(x + found, *params.norm_1))
        y = drop(layer_norm(a + feed_forward(a, params.feed_forward), *params.norm_2))
    return y, weights


@ENCODER_LAYER.misconception(
    'With "post", what comes out of the norm is dropped in part',
    fails=("encoder_layer_post_drop",),
    hints=(
        'As long as nothing is dropped you are right, and with "pre" always. Otherwise features of x itself are lost.',
        'With "post" drop was applied behind the norm. It belongs to what attention and network give, before x is '
        "added.",
        _DROP,
    ),
)
def encoder_layer__drop_after_norm_post(x, params, n_heads, mask=None, norm="pre", drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    if norm == "pre":
        z = layer_norm(x, *params.norm_1)
        found, weights = multi_head_attention(z, z, params.attention, n_heads, mask)
        a = x + drop(found)
        y = a + drop(feed_forward(layer_norm(a, *params.norm_2), params.feed_forward))
    else:
        found, weights = multi_head_attention(x, x, params.attention, n_heads, mask)
        a = drop(layer_norm(x + found, *params.norm_1))
        y = drop(layer_norm(a + feed_forward(a, params.feed_forward), *params.norm_2))
    return y, weights


@ENCODER_LAYER.misconception(
    "Only the result of the layer is dropped in part",
    fails=("encoder_layer_pre_drop", "encoder_layer_post_drop"),
    hints=(
        "As long as nothing is dropped you are right. Otherwise features of x itself are lost.",
        "drop was applied once, to the result. It belongs to what attention and network give, each before it is added.",
        _DROP,
    ),
)
def encoder_layer__drop_at_the_end(x, params, n_heads, mask=None, norm="pre", drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    if norm == "pre":
        z = layer_norm(x, *params.norm_1)
        found, weights = multi_head_attention(z, z, params.attention, n_heads, mask)
        a = x + found
        y = drop(a + feed_forward(layer_norm(a, *params.norm_2), params.feed_forward))
    else:
        found, weights = multi_head_attention(x, x, params.attention, n_heads, mask)
        a = layer_norm(x + found, *params.norm_1)
        y = drop(layer_norm(a + feed_forward(a, params.feed_forward), *params.norm_2))
    return y, weights


@ENCODER_LAYER.misconception(
    "What goes into attention and network is dropped in part",
    fails=("encoder_layer_pre_drop", "encoder_layer_post_drop"),
    hints=(
        "As long as nothing is dropped you are right.",
        "drop was applied to what the two read. It belongs to what they give.",
        _DROP,
    ),
)
def encoder_layer__drop_on_input(x, params, n_heads, mask=None, norm="pre", drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    if norm == "pre":
        z = drop(layer_norm(x, *params.norm_1))
        found, weights = multi_head_attention(z, z, params.attention, n_heads, mask)
        a = x + found
        y = a + feed_forward(drop(layer_norm(a, *params.norm_2)), params.feed_forward)
    else:
        z = drop(x)
        found, weights = multi_head_attention(z, z, params.attention, n_heads, mask)
        a = layer_norm(x + found, *params.norm_1)
        y = layer_norm(a + feed_forward(drop(a), params.feed_forward), *params.norm_2)
    return y, weights


@ENCODER_LAYER.misconception(
    "The residual is dropped in part, not what is added to it",
    fails=("encoder_layer_pre_drop", "encoder_layer_post_drop"),
    hints=(
        "As long as nothing is dropped you are right. Otherwise features of x itself are lost.",
        "drop was applied to x. It belongs to what attention and network give: x passes whole.",
        _DROP,
    ),
)
def encoder_layer__drop_on_residual(x, params, n_heads, mask=None, norm="pre", drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    if norm == "pre":
        z = layer_norm(x, *params.norm_1)
        found, weights = multi_head_attention(z, z, params.attention, n_heads, mask)
        a = drop(x) + found
        y = drop(a) + feed_forward(layer_norm(a, *params.norm_2), params.feed_forward)
    else:
        found, weights = multi_head_attention(x, x, params.attention, n_heads, mask)
        a = layer_norm(drop(x) + found, *params.norm_1)
        y = layer_norm(drop(a) + feed_forward(a, params.feed_forward), *params.norm_2)
    return y, weights


@ENCODER_LAYER.misconception(
    "Both what is added and the sum are dropped in part",
    fails=("encoder_layer_pre_drop", "encoder_layer_post_drop"),
    hints=(
        "As long as nothing is dropped you are right. Otherwise features of x itself are lost.",
        "drop was applied to what attention and network give, which is right, and once more to the sum.",
        _DROP,
    ),
)
def encoder_layer__drop_twice(x, params, n_heads, mask=None, norm="pre", drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    if norm == "pre":
        z = layer_norm(x, *params.norm_1)
        found, weights = multi_head_attention(z, z, params.attention, n_heads, mask)
        a = drop(x + drop(found))
        y = drop(a + drop(feed_forward(layer_norm(a, *params.norm_2), params.feed_forward)))
    else:
        found, weights = multi_head_attention(x, x, params.attention, n_heads, mask)
        a = layer_norm(drop(x + drop(found)), *params.norm_1)
        y = layer_norm(drop(a + drop(feed_forward(a, params.feed_forward))), *params.norm_2)
    return y, weights


@ENCODER_LAYER.misconception(
    "The second sum is dropped in part, not only what is added",
    fails=("encoder_layer_pre_drop", "encoder_layer_post_drop"),
    hints=(
        "As long as nothing is dropped you are right. Otherwise features of x itself are lost.",
        "For the attention drop stands where it should; for the network it was applied after the addition.",
        _DROP,
    ),
)
def encoder_layer__drop_on_second_sum(x, params, n_heads, mask=None, norm="pre", drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    if norm == "pre":
        z = layer_norm(x, *params.norm_1)
        found, weights = multi_head_attention(z, z, params.attention, n_heads, mask)
        a = x + drop(found)
        y = drop(a + feed_forward(layer_norm(a, *params.norm_2), params.feed_forward))
    else:
        found, weights = multi_head_attention(x, x, params.attention, n_heads, mask)
        a = layer_norm(x + drop(found), *params.norm_1)
        y = layer_norm(drop(a + feed_forward(a, params.feed_forward)), *params.norm_2)
    return y, weights


@ENCODER_LAYER.misconception(
    "The first sum is dropped in part, not only what is added",
    fails=("encoder_layer_pre_drop", "encoder_layer_post_drop"),
    hints=(
        "As long as nothing is dropped you are right. Otherwise features of x itself are lost.",
        "For the network drop stands where it should; for the attention it was applied after the addition.",
        _DROP,
    ),
)
def encoder_layer__drop_on_first_sum(x, params, n_heads, mask=None, norm="pre", drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    if norm == "pre":
        z = layer_norm(x, *params.norm_1)
        found, weights = multi_head_attention(z, z, params.attention, n_heads, mask)
        a = drop(x + found)
        y = a + drop(feed_forward(layer_norm(a, *params.norm_2), params.feed_forward))
    else:
        found, weights = multi_head_attention(x, x, params.attention, n_heads, mask)
        a = layer_norm(drop(x + found), *params.norm_1)
        y = layer_norm(a + drop(feed_forward(a, params.feed_forward)), *params.norm_2)
    return y, weights


# ---- 9.6 decoder_layer ----

DECODER_LAYER = Exercise(
    number="9.6",
    references=(transformer.decoder_layer,),
    probe_module=probes,
    points=3,
    minutes=25,
    difficulty=3,
    uses=("layer_norm", "feed_forward"),
    forbidden=_TORCH_LAYERS,
)
_CROSS = "Read what the task says about CrossAttention."
_MASK = "Read what the task says about the two masks."
_ORDER = "Read the equation: what goes into which R?"


@DECODER_LAYER.misconception(
    "The norm always comes before",
    fails=(
        "decoder_layer_post",
        "decoder_layer_post_masks",
        "decoder_layer_post_drop",
        "decoder_layer_post_gradients",
        "decoder_layer_untouched",
    ),
    hints=(
        '"pre" is right; with "post" you return the same.',
        "The argument norm is never read.",
        _RESIDUAL,
    ),
)
def decoder_layer__always_pre(y, memory, params, n_heads, tgt_mask=None, src_mask=None, norm="pre", drop=None):
    return decoder_layer(y, memory, params, n_heads, tgt_mask, src_mask, "pre", drop)


@DECODER_LAYER.misconception(
    "The norm always comes after",
    fails=DECODER_LAYER.all_but("post", "post_masks", "post_drop", "post_gradients"),
    hints=(
        '"post" is right; with "pre" you return the same.',
        "The argument norm is never read.",
        _RESIDUAL,
    ),
)
def decoder_layer__always_post(y, memory, params, n_heads, tgt_mask=None, src_mask=None, norm="pre", drop=None):
    return decoder_layer(y, memory, params, n_heads, tgt_mask, src_mask, "post", drop)


@DECODER_LAYER.misconception(
    '"pre" and "post" are exchanged',
    fails=DECODER_LAYER.all_but(),
    hints=(
        'What you return for "pre" is right for "post", and the other way round.',
        '"post" normalises the sum, "pre" what goes into attention and network.',
        _RESIDUAL,
    ),
)
def decoder_layer__sides_exchanged(y, memory, params, n_heads, tgt_mask=None, src_mask=None, norm="pre", drop=None):
    side = "post" if norm == "pre" else "pre"
    return decoder_layer(y, memory, params, n_heads, tgt_mask, src_mask, side, drop)


@DECODER_LAYER.misconception(
    "In the cross-attention the source asks and the decoder is asked",
    fails=DECODER_LAYER.all_but(),
    hints=(
        "Your cross-attention gives a vector for every step of the source.",
        "Memory and decoder have changed places in multi_head_attention. The decoder asks: the queries come from it.",
        _CROSS,
    ),
)
def decoder_layer__roles_reversed(y, memory, params, n_heads, tgt_mask=None, src_mask=None, norm="pre", drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    own, other = params.self_attention, params.cross_attention
    if norm == "pre":
        z = layer_norm(y, *params.norm_1)
        found, self_weights = multi_head_attention(z, z, own, n_heads, tgt_mask)
        a = y + drop(found)
        z = layer_norm(a, *params.norm_2)
        found, cross_weights = multi_head_attention(memory, z, other, n_heads, src_mask)
        c = a + drop(found)
        z = c + drop(feed_forward(layer_norm(c, *params.norm_3), params.feed_forward))
    else:
        found, self_weights = multi_head_attention(y, y, own, n_heads, tgt_mask)
        a = layer_norm(y + drop(found), *params.norm_1)
        found, cross_weights = multi_head_attention(memory, a, other, n_heads, src_mask)
        c = layer_norm(a + drop(found), *params.norm_2)
        z = layer_norm(c + drop(feed_forward(c, params.feed_forward)), *params.norm_3)
    return z, self_weights, cross_weights


@DECODER_LAYER.misconception(
    "tgt_mask is not used: the decoder sees what is to come",
    fails=(
        "decoder_layer_pre_target",
        "decoder_layer_post_masks",
        "decoder_layer_untouched",
    ),
    hints=(
        "Without a mask you are right. With one, your decoder sees later steps all the same.",
        "tgt_mask was not handed on to the self-attention.",
        _MASK,
    ),
)
def decoder_layer__looks_ahead(y, memory, params, n_heads, tgt_mask=None, src_mask=None, norm="pre", drop=None):
    return decoder_layer(y, memory, params, n_heads, None, src_mask, norm, drop)


@DECODER_LAYER.misconception(
    "src_mask is not used: the pads of the source are seen",
    fails=(
        "decoder_layer_pre_source",
        "decoder_layer_post_masks",
        "decoder_layer_untouched",
    ),
    hints=(
        "Without a mask you are right. With one, your decoder looks at the pads of the source.",
        "src_mask was not handed on to the cross-attention.",
        _MASK,
    ),
)
def decoder_layer__source_pads_seen(y, memory, params, n_heads, tgt_mask=None, src_mask=None, norm="pre", drop=None):
    return decoder_layer(y, memory, params, n_heads, tgt_mask, None, norm, drop)


@DECODER_LAYER.misconception(
    "Neither mask is used",
    fails=(
        "decoder_layer_pre_target",
        "decoder_layer_pre_source",
        "decoder_layer_post_masks",
        "decoder_layer_untouched",
    ),
    hints=(
        "Without masks you are right; with them nothing changes.",
        "The masks were not handed on to multi_head_attention.",
        _MASK,
    ),
)
def decoder_layer__masks_ignored(y, memory, params, n_heads, tgt_mask=None, src_mask=None, norm="pre", drop=None):
    return decoder_layer(y, memory, params, n_heads, None, None, norm, drop)


@DECODER_LAYER.misconception(
    "The two masks are exchanged",
    fails=(
        "decoder_layer_pre_target",
        "decoder_layer_pre_source",
        "decoder_layer_post_masks",
        "decoder_layer_untouched",
    ),
    hints=(
        "Without masks you are right. With them the shapes do not fit, or the wrong keys are hidden.",
        "tgt_mask belongs to the self-attention, src_mask to the cross-attention.",
        _MASK,
    ),
)
def decoder_layer__masks_exchanged(y, memory, params, n_heads, tgt_mask=None, src_mask=None, norm="pre", drop=None):
    return decoder_layer(y, memory, params, n_heads, src_mask, tgt_mask, norm, drop)


@DECODER_LAYER.misconception(
    "The masks are read the other way round",
    fails=(
        "decoder_layer_pre_target",
        "decoder_layer_pre_source",
        "decoder_layer_post_masks",
        "decoder_layer_untouched",
    ),
    hints=(
        "Without masks you are right; with them your steps attend to exactly what they may not.",
        "True means may attend, as multi_head_attention takes it. torch's layers have it the other way round.",
        _MASK,
    ),
)
def decoder_layer__polarity(y, memory, params, n_heads, tgt_mask=None, src_mask=None, norm="pre", drop=None):
    tgt_mask, src_mask = (None if mask is None else ~mask for mask in (tgt_mask, src_mask))
    return decoder_layer(y, memory, params, n_heads, tgt_mask, src_mask, norm, drop)


@DECODER_LAYER.misconception(
    "The function makes a causal mask of its own",
    fails=DECODER_LAYER.all_but(),
    hints=(
        "Without a mask your steps do not see later ones; and with one, the pads of the target are seen.",
        "tgt_mask was not used, but causal_mask(T). Who may attend to whom is the caller's choice.",
        _MASK,
    ),
)
def decoder_layer__own_causal_mask(y, memory, params, n_heads, tgt_mask=None, src_mask=None, norm="pre", drop=None):
    own = causal_mask(y.shape[1])
    return decoder_layer(y, memory, params, n_heads, own, src_mask, norm, drop)


@DECODER_LAYER.misconception(
    "A causal mask is always added",
    fails=DECODER_LAYER.all_but("pre_target", "post_masks", "untouched"),
    hints=(
        "With a causal mask you are right; without one your steps do not see later ones all the same.",
        "causal_mask(T) was joined with tgt_mask. Who may attend to whom is the caller's choice.",
        _MASK,
    ),
)
def decoder_layer__always_causal(y, memory, params, n_heads, tgt_mask=None, src_mask=None, norm="pre", drop=None):
    causal = causal_mask(y.shape[1])
    tgt_mask = causal if tgt_mask is None else tgt_mask & causal
    return decoder_layer(y, memory, params, n_heads, tgt_mask, src_mask, norm, drop)


@DECODER_LAYER.misconception(
    "The parameters of the two attentions are exchanged",
    fails=DECODER_LAYER.all_but(),
    hints=(
        "Your self-attention has the matrices of the cross-attention.",
        "self_attention and cross_attention have changed places.",
        _ORDER,
    ),
)
def decoder_layer__attentions_exchanged(
    y, memory, params, n_heads, tgt_mask=None, src_mask=None, norm="pre", drop=None
):
    swapped = params._replace(self_attention=params.cross_attention, cross_attention=params.self_attention)
    return decoder_layer(y, memory, swapped, n_heads, tgt_mask, src_mask, norm, drop)


@DECODER_LAYER.misconception(
    "One attention serves both",
    fails=DECODER_LAYER.all_but(),
    hints=(
        "The parameters of the cross-attention make no difference in your answer.",
        "self_attention was used twice. The two have parameters of their own.",
        _ORDER,
    ),
)
def decoder_layer__one_attention(y, memory, params, n_heads, tgt_mask=None, src_mask=None, norm="pre", drop=None):
    return decoder_layer(
        y, memory, params._replace(cross_attention=params.self_attention), n_heads, tgt_mask, src_mask, norm, drop
    )


@DECODER_LAYER.misconception(
    "The cross-attention comes before the self-attention",
    fails=DECODER_LAYER.all_but(),
    hints=(
        "Your decoder looks at the source before it has looked at what is written.",
        "The two attentions stand in the wrong order: first what has been written, then the source.",
        _ORDER,
    ),
)
def decoder_layer__cross_first(y, memory, params, n_heads, tgt_mask=None, src_mask=None, norm="pre", drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    own, other = params.self_attention, params.cross_attention
    if norm == "pre":
        z = layer_norm(y, *params.norm_1)
        found, cross_weights = multi_head_attention(z, memory, other, n_heads, src_mask)
        a = y + drop(found)
        z = layer_norm(a, *params.norm_2)
        found, self_weights = multi_head_attention(z, z, own, n_heads, tgt_mask)
        c = a + drop(found)
        z = c + drop(feed_forward(layer_norm(c, *params.norm_3), params.feed_forward))
    else:
        found, cross_weights = multi_head_attention(y, memory, other, n_heads, src_mask)
        a = layer_norm(y + drop(found), *params.norm_1)
        found, self_weights = multi_head_attention(a, a, own, n_heads, tgt_mask)
        c = layer_norm(a + drop(found), *params.norm_2)
        z = layer_norm(c + drop(feed_forward(c, params.feed_forward)), *params.norm_3)
    return z, self_weights, cross_weights


@DECODER_LAYER.misconception(
    "The cross-attention comes before the self-attention, each with its own norm",
    fails=DECODER_LAYER.all_but(),
    hints=(
        "Your decoder looks at the source before it has looked at what is written.",
        "The two attentions stand in the wrong order: first what has been written, then the source.",
        _ORDER,
    ),
)
def decoder_layer__cross_first_own_norms(
    y, memory, params, n_heads, tgt_mask=None, src_mask=None, norm="pre", drop=None
):
    if drop is None:
        drop = torch.nn.Identity()
    own, other = params.self_attention, params.cross_attention
    if norm == "pre":
        z = layer_norm(y, *params.norm_2)
        found, cross_weights = multi_head_attention(z, memory, other, n_heads, src_mask)
        a = y + drop(found)
        z = layer_norm(a, *params.norm_1)
        found, self_weights = multi_head_attention(z, z, own, n_heads, tgt_mask)
        c = a + drop(found)
        z = c + drop(feed_forward(layer_norm(c, *params.norm_3), params.feed_forward))
    else:
        found, cross_weights = multi_head_attention(y, memory, other, n_heads, src_mask)
        a = layer_norm(y + drop(found), *params.norm_2)
        found, self_weights = multi_head_attention(a, a, own, n_heads, tgt_mask)
        c = layer_norm(a + drop(found), *params.norm_1)
        z = layer_norm(c + drop(feed_forward(c, params.feed_forward)), *params.norm_3)
    return z, self_weights, cross_weights


@DECODER_LAYER.misconception(
    "The second attention looks at the decoder again, not at the source",
    fails=DECODER_LAYER.all_but(),
    hints=(
        "memory makes no difference in your answer.",
        "Keys and values of the second attention came from the decoder. They come from memory.",
        _CROSS,
    ),
)
def decoder_layer__memory_unused(y, memory, params, n_heads, tgt_mask=None, src_mask=None, norm="pre", drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    own, other = params.self_attention, params.cross_attention
    if norm == "pre":
        z = layer_norm(y, *params.norm_1)
        found, self_weights = multi_head_attention(z, z, own, n_heads, tgt_mask)
        a = y + drop(found)
        z = layer_norm(a, *params.norm_2)
        found, cross_weights = multi_head_attention(z, z, other, n_heads, src_mask)
        c = a + drop(found)
        z = c + drop(feed_forward(layer_norm(c, *params.norm_3), params.feed_forward))
    else:
        found, self_weights = multi_head_attention(y, y, own, n_heads, tgt_mask)
        a = layer_norm(y + drop(found), *params.norm_1)
        found, cross_weights = multi_head_attention(a, a, other, n_heads, src_mask)
        c = layer_norm(a + drop(found), *params.norm_2)
        z = layer_norm(c + drop(feed_forward(c, params.feed_forward)), *params.norm_3)
    return z, self_weights, cross_weights


@DECODER_LAYER.misconception(
    "Both attentions look at the source",
    fails=DECODER_LAYER.all_but(),
    hints=(
        "Your decoder never looks at what has been written.",
        "Keys and values of the first attention came from memory. They come from y.",
        _ORDER,
    ),
)
def decoder_layer__both_at_memory(y, memory, params, n_heads, tgt_mask=None, src_mask=None, norm="pre", drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    own, other = params.self_attention, params.cross_attention
    if norm == "pre":
        z = layer_norm(y, *params.norm_1)
        found, self_weights = multi_head_attention(z, memory, own, n_heads, tgt_mask)
        a = y + drop(found)
        z = layer_norm(a, *params.norm_2)
        found, cross_weights = multi_head_attention(z, memory, other, n_heads, src_mask)
        c = a + drop(found)
        z = c + drop(feed_forward(layer_norm(c, *params.norm_3), params.feed_forward))
    else:
        found, self_weights = multi_head_attention(y, memory, own, n_heads, tgt_mask)
        a = layer_norm(y + drop(found), *params.norm_1)
        found, cross_weights = multi_head_attention(a, memory, other, n_heads, src_mask)
        c = layer_norm(a + drop(found), *params.norm_2)
        z = layer_norm(c + drop(feed_forward(c, params.feed_forward)), *params.norm_3)
    return z, self_weights, cross_weights


@DECODER_LAYER.misconception(
    'With "pre", memory is normalised too',
    fails=DECODER_LAYER.all_but("post", "post_masks", "post_drop", "post_gradients"),
    hints=(
        '"post" is right. With "pre" the size of memory makes no difference in your answer.',
        "norm_2 was applied to memory as well. It is used as it is: the encoder has a norm of its own at its end.",
        _CROSS,
    ),
)
def decoder_layer__memory_normalised(y, memory, params, n_heads, tgt_mask=None, src_mask=None, norm="pre", drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    own, other = params.self_attention, params.cross_attention
    if norm == "pre":
        z = layer_norm(y, *params.norm_1)
        found, self_weights = multi_head_attention(z, z, own, n_heads, tgt_mask)
        a = y + drop(found)
        z = layer_norm(a, *params.norm_2)
        found, cross_weights = multi_head_attention(z, layer_norm(memory, *params.norm_2), other, n_heads, src_mask)
        c = a + drop(found)
        z = c + drop(feed_forward(layer_norm(c, *params.norm_3), params.feed_forward))
    else:
        found, self_weights = multi_head_attention(y, y, own, n_heads, tgt_mask)
        a = layer_norm(y + drop(found), *params.norm_1)
        found, cross_weights = multi_head_attention(a, memory, other, n_heads, src_mask)
        c = layer_norm(a + drop(found), *params.norm_2)
        z = layer_norm(c + drop(feed_forward(c, params.feed_forward)), *params.norm_3)
    return z, self_weights, cross_weights


@DECODER_LAYER.misconception(
    'With "pre", the cross-attention is asked without a norm',
    fails=DECODER_LAYER.all_but("post", "post_masks", "post_drop", "post_gradients"),
    hints=(
        '"post" is right. With "pre" norm_2 makes no difference in your answer.',
        "The queries of the cross-attention came from a, not from LN(a).",
        _RESIDUAL,
    ),
)
def decoder_layer__query_not_normalised(
    y, memory, params, n_heads, tgt_mask=None, src_mask=None, norm="pre", drop=None
):
    if drop is None:
        drop = torch.nn.Identity()
    own, other = params.self_attention, params.cross_attention
    if norm == "pre":
        z = layer_norm(y, *params.norm_1)
        found, self_weights = multi_head_attention(z, z, own, n_heads, tgt_mask)
        a = y + drop(found)
        found, cross_weights = multi_head_attention(a, memory, other, n_heads, src_mask)
        c = a + drop(found)
        z = c + drop(feed_forward(layer_norm(c, *params.norm_3), params.feed_forward))
    else:
        found, self_weights = multi_head_attention(y, y, own, n_heads, tgt_mask)
        a = layer_norm(y + drop(found), *params.norm_1)
        found, cross_weights = multi_head_attention(a, memory, other, n_heads, src_mask)
        c = layer_norm(a + drop(found), *params.norm_2)
        z = layer_norm(c + drop(feed_forward(c, params.feed_forward)), *params.norm_3)
    return z, self_weights, cross_weights


@DECODER_LAYER.misconception(
    "The cross-attention is missing",
    fails=DECODER_LAYER.all_but(),
    hints=(
        "memory makes no difference in your answer.",
        "The layer looks at what has been written and thinks; it never looks at the source.",
        _ORDER,
    ),
)
def decoder_layer__no_cross(y, memory, params, n_heads, tgt_mask=None, src_mask=None, norm="pre", drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    own, other = params.self_attention, params.cross_attention
    if norm == "pre":
        z = layer_norm(y, *params.norm_1)
        found, self_weights = multi_head_attention(z, z, own, n_heads, tgt_mask)
        a = y + drop(found)
        z = layer_norm(a, *params.norm_2)
        _, cross_weights = multi_head_attention(z, memory, other, n_heads, src_mask)
        c = a
        z = c + drop(feed_forward(layer_norm(c, *params.norm_3), params.feed_forward))
    else:
        found, self_weights = multi_head_attention(y, y, own, n_heads, tgt_mask)
        a = layer_norm(y + drop(found), *params.norm_1)
        _, cross_weights = multi_head_attention(a, memory, other, n_heads, src_mask)
        c = a
        z = layer_norm(c + drop(feed_forward(c, params.feed_forward)), *params.norm_3)
    return z, self_weights, cross_weights


@DECODER_LAYER.misconception(
    'With "pre", the normalised vectors are added',
    fails=DECODER_LAYER.all_but("post", "post_masks", "post_drop", "post_gradients"),
    hints=(
        '"post" is right. With "pre" your sums start from the normalised vectors.',
        "y was overwritten by its norm, and then added. Keep it, and give the norm another name.",
        _RESIDUAL,
    ),
)
def decoder_layer__residual_from_normalised(
    y, memory, params, n_heads, tgt_mask=None, src_mask=None, norm="pre", drop=None
):
    if drop is None:
        drop = torch.nn.Identity()
    own, other = params.self_attention, params.cross_attention
    if norm == "pre":
        z = layer_norm(y, *params.norm_1)
        found, self_weights = multi_head_attention(z, z, own, n_heads, tgt_mask)
        a = z + drop(found)
        z = layer_norm(a, *params.norm_2)
        found, cross_weights = multi_head_attention(z, memory, other, n_heads, src_mask)
        c = z + drop(found)
        z = layer_norm(c, *params.norm_3)
        z = z + drop(feed_forward(z, params.feed_forward))
    else:
        found, self_weights = multi_head_attention(y, y, own, n_heads, tgt_mask)
        a = layer_norm(y + drop(found), *params.norm_1)
        found, cross_weights = multi_head_attention(a, memory, other, n_heads, src_mask)
        c = layer_norm(a + drop(found), *params.norm_2)
        z = layer_norm(c + drop(feed_forward(c, params.feed_forward)), *params.norm_3)
    return z, self_weights, cross_weights


@DECODER_LAYER.misconception(
    "Nothing is added: the residual connections are missing",
    fails=DECODER_LAYER.all_but(),
    hints=(
        "Your output holds only what the network gives; y itself is lost.",
        "What was there is to be added, three times.",
        _RESIDUAL,
    ),
)
def decoder_layer__no_residuals(y, memory, params, n_heads, tgt_mask=None, src_mask=None, norm="pre", drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    own, other = params.self_attention, params.cross_attention
    if norm == "pre":
        z = layer_norm(y, *params.norm_1)
        found, self_weights = multi_head_attention(z, z, own, n_heads, tgt_mask)
        a = drop(found)
        z = layer_norm(a, *params.norm_2)
        found, cross_weights = multi_head_attention(z, memory, other, n_heads, src_mask)
        c = drop(found)
        z = drop(feed_forward(layer_norm(c, *params.norm_3), params.feed_forward))
    else:
        found, self_weights = multi_head_attention(y, y, own, n_heads, tgt_mask)
        a = layer_norm(drop(found), *params.norm_1)
        found, cross_weights = multi_head_attention(a, memory, other, n_heads, src_mask)
        c = layer_norm(drop(found), *params.norm_2)
        z = layer_norm(drop(feed_forward(c, params.feed_forward)), *params.norm_3)
    return z, self_weights, cross_weights


@DECODER_LAYER.misconception(
    "The residual connection around the cross-attention is missing",
    fails=DECODER_LAYER.all_but(),
    hints=(
        "What your self-attention has found is lost once the source is looked at.",
        "The result of the cross-attention replaces what was there. It is to be added to it.",
        _RESIDUAL,
    ),
)
def decoder_layer__no_cross_residual(y, memory, params, n_heads, tgt_mask=None, src_mask=None, norm="pre", drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    own, other = params.self_attention, params.cross_attention
    if norm == "pre":
        z = layer_norm(y, *params.norm_1)
        found, self_weights = multi_head_attention(z, z, own, n_heads, tgt_mask)
        a = y + drop(found)
        z = layer_norm(a, *params.norm_2)
        found, cross_weights = multi_head_attention(z, memory, other, n_heads, src_mask)
        c = drop(found)
        z = c + drop(feed_forward(layer_norm(c, *params.norm_3), params.feed_forward))
    else:
        found, self_weights = multi_head_attention(y, y, own, n_heads, tgt_mask)
        a = layer_norm(y + drop(found), *params.norm_1)
        found, cross_weights = multi_head_attention(a, memory, other, n_heads, src_mask)
        c = layer_norm(drop(found), *params.norm_2)
        z = layer_norm(c + drop(feed_forward(c, params.feed_forward)), *params.norm_3)
    return z, self_weights, cross_weights


@DECODER_LAYER.misconception(
    "What the cross-attention finds is added to y, not to a",
    fails=DECODER_LAYER.all_but(),
    hints=(
        "What your self-attention has found reaches the output only through the queries.",
        "The second sum starts from y again. It starts from the first sum.",
        _RESIDUAL,
    ),
)
def decoder_layer__cross_added_to_y(y, memory, params, n_heads, tgt_mask=None, src_mask=None, norm="pre", drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    own, other = params.self_attention, params.cross_attention
    if norm == "pre":
        z = layer_norm(y, *params.norm_1)
        found, self_weights = multi_head_attention(z, z, own, n_heads, tgt_mask)
        a = y + drop(found)
        z = layer_norm(a, *params.norm_2)
        found, cross_weights = multi_head_attention(z, memory, other, n_heads, src_mask)
        c = y + drop(found)
        z = c + drop(feed_forward(layer_norm(c, *params.norm_3), params.feed_forward))
    else:
        found, self_weights = multi_head_attention(y, y, own, n_heads, tgt_mask)
        a = layer_norm(y + drop(found), *params.norm_1)
        found, cross_weights = multi_head_attention(a, memory, other, n_heads, src_mask)
        c = layer_norm(y + drop(found), *params.norm_2)
        z = layer_norm(c + drop(feed_forward(c, params.feed_forward)), *params.norm_3)
    return z, self_weights, cross_weights


@DECODER_LAYER.misconception(
    "The cross-attention is asked with y, not with what the self-attention has made of it",
    fails=DECODER_LAYER.all_but(),
    hints=(
        "Your cross-attention does not know what the self-attention has found.",
        "Both attentions stand side by side in your answer, both on y.",
        _ORDER,
    ),
)
def decoder_layer__cross_asks_with_y(y, memory, params, n_heads, tgt_mask=None, src_mask=None, norm="pre", drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    own, other = params.self_attention, params.cross_attention
    if norm == "pre":
        z = layer_norm(y, *params.norm_1)
        found, self_weights = multi_head_attention(z, z, own, n_heads, tgt_mask)
        a = y + drop(found)
        z = layer_norm(y, *params.norm_2)
        found, cross_weights = multi_head_attention(z, memory, other, n_heads, src_mask)
        c = a + drop(found)
        z = c + drop(feed_forward(layer_norm(c, *params.norm_3), params.feed_forward))
    else:
        found, self_weights = multi_head_attention(y, y, own, n_heads, tgt_mask)
        a = layer_norm(y + drop(found), *params.norm_1)
        found, cross_weights = multi_head_attention(y, memory, other, n_heads, src_mask)
        c = layer_norm(a + drop(found), *params.norm_2)
        z = layer_norm(c + drop(feed_forward(c, params.feed_forward)), *params.norm_3)
    return z, self_weights, cross_weights


@DECODER_LAYER.misconception(
    "One norm serves all three",
    fails=DECODER_LAYER.all_but(),
    hints=(
        "norm_2 and norm_3 make no difference in your answer.",
        "norm_1 was used three times. Each has parameters of its own.",
        _ORDER,
    ),
)
def decoder_layer__one_norm(y, memory, params, n_heads, tgt_mask=None, src_mask=None, norm="pre", drop=None):
    alike = params._replace(norm_2=params.norm_1, norm_3=params.norm_1)
    return decoder_layer(y, memory, alike, n_heads, tgt_mask, src_mask, norm, drop)


@DECODER_LAYER.misconception(
    "norm_2 serves the network too",
    fails=DECODER_LAYER.all_but(),
    hints=(
        "norm_3 makes no difference in your answer.",
        "The network has a norm of its own: norm_3.",
        _ORDER,
    ),
)
def decoder_layer__second_norm_twice(y, memory, params, n_heads, tgt_mask=None, src_mask=None, norm="pre", drop=None):
    return decoder_layer(y, memory, params._replace(norm_3=params.norm_2), n_heads, tgt_mask, src_mask, norm, drop)


@DECODER_LAYER.misconception(
    "norm_2 and norm_3 are exchanged",
    fails=DECODER_LAYER.all_but(),
    hints=(
        "Your cross-attention has the scale and shift that belong to the network.",
        "norm_2 belongs to the cross-attention, norm_3 to the network.",
        _ORDER,
    ),
)
def decoder_layer__norms_exchanged(y, memory, params, n_heads, tgt_mask=None, src_mask=None, norm="pre", drop=None):
    swapped = params._replace(norm_2=params.norm_3, norm_3=params.norm_2)
    return decoder_layer(y, memory, swapped, n_heads, tgt_mask, src_mask, norm, drop)


@DECODER_LAYER.misconception(
    'With "post", what is added is normalised, not the sum',
    fails=(
        "decoder_layer_post",
        "decoder_layer_post_masks",
        "decoder_layer_post_drop",
        "decoder_layer_post_gradients",
        "decoder_layer_untouched",
    ),
    hints=(
        '"pre" is right. With "post" your outputs do not have the spread that norm_3 gives.',
        'LN was applied to what is added. "post" normalises the sum.',
        _RESIDUAL,
    ),
)
def decoder_layer__norm_of_what_is_added(
    y, memory, params, n_heads, tgt_mask=None, src_mask=None, norm="pre", drop=None
):
    if drop is None:
        drop = torch.nn.Identity()
    own, other = params.self_attention, params.cross_attention
    if norm == "pre":
        z = layer_norm(y, *params.norm_1)
        found, self_weights = multi_head_attention(z, z, own, n_heads, tgt_mask)
        a = y + drop(found)
        z = layer_norm(a, *params.norm_2)
        found, cross_weights = multi_head_attention(z, memory, other, n_heads, src_mask)
        c = a + drop(found)
        z = c + drop(feed_forward(layer_norm(c, *params.norm_3), params.feed_forward))
    else:
        found, self_weights = multi_head_attention(y, y, own, n_heads, tgt_mask)
        a = y + layer_norm(drop(found), *params.norm_1)
        found, cross_weights = multi_head_attention(a, memory, other, n_heads, src_mask)
        c = a + layer_norm(drop(found), *params.norm_2)
        z = c + layer_norm(drop(feed_forward(c, params.feed_forward)), *params.norm_3)
    return z, self_weights, cross_weights


@DECODER_LAYER.misconception(
    "drop is not used",
    fails=(
        "decoder_layer_pre_drop",
        "decoder_layer_post_drop",
    ),
    hints=(
        "As long as nothing is dropped you are right.",
        "The argument drop is never called.",
        _DROP,
    ),
)
def decoder_layer__drop_ignored(y, memory, params, n_heads, tgt_mask=None, src_mask=None, norm="pre", drop=None):
    return decoder_layer(y, memory, params, n_heads, tgt_mask, src_mask, norm)


@DECODER_LAYER.misconception(
    "The sum is dropped in part, not only what is added",
    fails=(
        "decoder_layer_pre_drop",
        "decoder_layer_post_drop",
    ),
    hints=(
        "As long as nothing is dropped you are right. Otherwise features of y itself are lost.",
        "drop was applied after the addition. What was there passes whole.",
        _DROP,
    ),
)
def decoder_layer__drop_on_sum(y, memory, params, n_heads, tgt_mask=None, src_mask=None, norm="pre", drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    own, other = params.self_attention, params.cross_attention
    if norm == "pre":
        z = layer_norm(y, *params.norm_1)
        found, self_weights = multi_head_attention(z, z, own, n_heads, tgt_mask)
        a = drop(y + found)
        z = layer_norm(a, *params.norm_2)
        found, cross_weights = multi_head_attention(z, memory, other, n_heads, src_mask)
        c = drop(a + found)
        z = drop(c + feed_forward(layer_norm(c, *params.norm_3), params.feed_forward))
    else:
        found, self_weights = multi_head_attention(y, y, own, n_heads, tgt_mask)
        a = layer_norm(drop(y + found), *params.norm_1)
        found, cross_weights = multi_head_attention(a, memory, other, n_heads, src_mask)
        c = layer_norm(drop(a + found), *params.norm_2)
        z = layer_norm(drop(c + feed_forward(c, params.feed_forward)), *params.norm_3)
    return z, self_weights, cross_weights


@DECODER_LAYER.misconception(
    "What the cross-attention gives is not dropped",
    fails=(
        "decoder_layer_pre_drop",
        "decoder_layer_post_drop",
    ),
    hints=(
        "As long as nothing is dropped you are right.",
        "drop was applied to two of three: the cross-attention was left out.",
        _DROP,
    ),
)
def decoder_layer__drop_not_on_cross(y, memory, params, n_heads, tgt_mask=None, src_mask=None, norm="pre", drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    own, other = params.self_attention, params.cross_attention
    if norm == "pre":
        z = layer_norm(y, *params.norm_1)
        found, self_weights = multi_head_attention(z, z, own, n_heads, tgt_mask)
        a = y + drop(found)
        z = layer_norm(a, *params.norm_2)
        found, cross_weights = multi_head_attention(z, memory, other, n_heads, src_mask)
        c = a + found
        z = c + drop(feed_forward(layer_norm(c, *params.norm_3), params.feed_forward))
    else:
        found, self_weights = multi_head_attention(y, y, own, n_heads, tgt_mask)
        a = layer_norm(y + drop(found), *params.norm_1)
        found, cross_weights = multi_head_attention(a, memory, other, n_heads, src_mask)
        c = layer_norm(a + found, *params.norm_2)
        z = layer_norm(c + drop(feed_forward(c, params.feed_forward)), *params.norm_3)
    return z, self_weights, cross_weights


@DECODER_LAYER.misconception(
    "The network is missing",
    fails=DECODER_LAYER.all_but(),
    hints=(
        "The parameters of feed_forward make no difference in your answer.",
        "Only the two attentions were built.",
        _ORDER,
    ),
)
def decoder_layer__no_network(y, memory, params, n_heads, tgt_mask=None, src_mask=None, norm="pre", drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    own, other = params.self_attention, params.cross_attention
    if norm == "pre":
        z = layer_norm(y, *params.norm_1)
        found, self_weights = multi_head_attention(z, z, own, n_heads, tgt_mask)
        a = y + drop(found)
        z = layer_norm(a, *params.norm_2)
        found, cross_weights = multi_head_attention(z, memory, other, n_heads, src_mask)
        c = a + drop(found)
        z = c
    else:
        found, self_weights = multi_head_attention(y, y, own, n_heads, tgt_mask)
        a = layer_norm(y + drop(found), *params.norm_1)
        found, cross_weights = multi_head_attention(a, memory, other, n_heads, src_mask)
        c = layer_norm(a + drop(found), *params.norm_2)
        z = c
    return z, self_weights, cross_weights


@DECODER_LAYER.misconception(
    "The network does not read what the cross-attention has found",
    fails=DECODER_LAYER.all_but(),
    hints=(
        "Your network does not know the source.",
        "The network reads a; it reads c.",
        _ORDER,
    ),
)
def decoder_layer__network_reads_a(y, memory, params, n_heads, tgt_mask=None, src_mask=None, norm="pre", drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    own, other = params.self_attention, params.cross_attention
    if norm == "pre":
        z = layer_norm(y, *params.norm_1)
        found, self_weights = multi_head_attention(z, z, own, n_heads, tgt_mask)
        a = y + drop(found)
        z = layer_norm(a, *params.norm_2)
        found, cross_weights = multi_head_attention(z, memory, other, n_heads, src_mask)
        c = a + drop(found)
        z = c + drop(feed_forward(layer_norm(a, *params.norm_3), params.feed_forward))
    else:
        found, self_weights = multi_head_attention(y, y, own, n_heads, tgt_mask)
        a = layer_norm(y + drop(found), *params.norm_1)
        found, cross_weights = multi_head_attention(a, memory, other, n_heads, src_mask)
        c = layer_norm(a + drop(found), *params.norm_2)
        z = layer_norm(c + drop(feed_forward(a, params.feed_forward)), *params.norm_3)
    return z, self_weights, cross_weights


@DECODER_LAYER.misconception(
    "There is only one head",
    fails=DECODER_LAYER.all_but(),
    hints=(
        "Your weights have one head.",
        "n_heads was not handed on to multi_head_attention.",
        "Read what the task says about n_heads.",
    ),
)
def decoder_layer__one_head(y, memory, params, n_heads, tgt_mask=None, src_mask=None, norm="pre", drop=None):
    return decoder_layer(y, memory, params, 1, tgt_mask, src_mask, norm, drop)


@DECODER_LAYER.misconception(
    "The two kinds of weights are returned in the wrong order",
    fails=DECODER_LAYER.all_but("pre_gradients", "post_gradients"),
    hints=(
        "Your output is right. The second result should be those of the self-attention.",
        "The weights have changed places.",
        "Read what the task returns.",
    ),
)
def decoder_layer__weights_exchanged(y, memory, params, n_heads, tgt_mask=None, src_mask=None, norm="pre", drop=None):
    z, own, cross = decoder_layer(y, memory, params, n_heads, tgt_mask, src_mask, norm, drop)
    return z, cross, own


@DECODER_LAYER.misconception(
    "Only the weights of the cross-attention are returned",
    fails=DECODER_LAYER.all_but("pre_gradients", "post_gradients"),
    hints=(
        "Your output is right; three results are asked for.",
        "The weights of the self-attention are missing.",
        "Read what the task returns.",
    ),
)
def decoder_layer__cross_weights_only(y, memory, params, n_heads, tgt_mask=None, src_mask=None, norm="pre", drop=None):
    z, _, cross = decoder_layer(y, memory, params, n_heads, tgt_mask, src_mask, norm, drop)
    return z, cross


@DECODER_LAYER.misconception(
    "The weights are not returned",
    fails=DECODER_LAYER.all_but("pre_gradients", "post_gradients"),
    hints=(
        "Your output is right; the weights are missing.",
        "multi_head_attention gives two results; the second is to be handed out too.",
        "Read what the task returns.",
    ),
)
def decoder_layer__output_only(y, memory, params, n_heads, tgt_mask=None, src_mask=None, norm="pre", drop=None):
    return decoder_layer(y, memory, params, n_heads, tgt_mask, src_mask, norm, drop)[0]


@DECODER_LAYER.misconception(
    'With "pre", the sum is dropped in part, not only what is added',
    fails=("decoder_layer_pre_drop",),
    hints=(
        'As long as nothing is dropped you are right, and with "post" always. Otherwise features of y itself are lost.',
        'With "pre" drop was applied after the addition. It belongs to what the three give: y passes whole.',
        _DROP,
    ),
)
def decoder_layer__drop_on_sum_pre(y, memory, params, n_heads, tgt_mask=None, src_mask=None, norm="pre", drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    own, other = params.self_attention, params.cross_attention
    if norm == "pre":
        normed = layer_norm(y, *params.norm_1)
        found, self_weights = multi_head_attention(normed, normed, own, n_heads, tgt_mask)
        a = drop(y + found)
        normed = layer_norm(a, *params.norm_2)
        found, cross_weights = multi_head_attention(normed, memory, other, n_heads, src_mask)
        c = drop(a + found)
        normed = layer_norm(c, *params.norm_3)
        found = feed_forward(normed, params.feed_forward)
        z = drop(c + found)
    else:
        found, self_weights = multi_head_attention(y, y, own, n_heads, tgt_mask)
        a = layer_norm(y + drop(found), *params.norm_1)
        found, cross_weights = multi_head_attention(a, memory, other, n_heads, src_mask)
        c = layer_norm(a + drop(found), *params.norm_2)
        found = feed_forward(c, params.feed_forward)
        z = layer_norm(c + drop(found), *params.norm_3)
    return z, self_weights, cross_weights


@DECODER_LAYER.misconception(
    'With "post", the sum is dropped in part, not only what is added',
    fails=("decoder_layer_post_drop",),
    hints=(
        'As long as nothing is dropped you are right, and with "pre" always. Otherwise features of y itself are lost.',
        'With "post" drop was applied to the sum, before the norm. It belongs to what the three give: y passes whole.',
        _DROP,
    ),
)
def decoder_layer__drop_on_sum_post(y, memory, params, n_heads, tgt_mask=None, src_mask=None, norm="pre", drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    own, other = params.self_attention, params.cross_attention
    if norm == "pre":
        normed = layer_norm(y, *params.norm_1)
        found, self_weights = multi_head_attention(normed, normed, own, n_heads, tgt_mask)
        a = y + drop(found)
        normed = layer_norm(a, *params.norm_2)
        found, cross_weights = multi_head_attention(normed, memory, other, n_heads, src_mask)
        c = a + drop(found)
        normed = layer_norm(c, *params.norm_3)
        found = feed_forward(normed, params.feed_forward)
        z = c + drop(found)
    else:
        found, self_weights = multi_head_attention(y, y, own, n_heads, tgt_mask)
        a = layer_norm(drop(y + found), *params.norm_1)
        found, cross_weights = multi_head_attention(a, memory, other, n_heads, src_mask)
        c = layer_norm(drop(a + found), *params.norm_2)
        found = feed_forward(c, params.feed_forward)
        z = layer_norm(drop(c + found), *params.norm_3)
    return z, self_weights, cross_weights


@DECODER_LAYER.misconception(
    'What each third returns is dropped in part: the sum, or with "post" what the norm makes of it',
    fails=("decoder_layer_pre_drop", "decoder_layer_post_drop"),
    hints=(
        "As long as nothing is dropped you are right. Otherwise features of y itself are lost.",
        "drop was applied last, to what each third hands on. It belongs to what the three give, before it is added.",
        _DROP,
    ),
)
def decoder_layer__drop_after_norm(y, memory, params, n_heads, tgt_mask=None, src_mask=None, norm="pre", drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    own, other = params.self_attention, params.cross_attention
    if norm == "pre":
        normed = layer_norm(y, *params.norm_1)
        found, self_weights = multi_head_attention(normed, normed, own, n_heads, tgt_mask)
        a = drop(y + found)
        normed = layer_norm(a, *params.norm_2)
        found, cross_weights = multi_head_attention(normed, memory, other, n_heads, src_mask)
        c = drop(a + found)
        normed = layer_norm(c, *params.norm_3)
        found = feed_forward(normed, params.feed_forward)
        z = drop(c + found)
    else:
        found, self_weights = multi_head_attention(y, y, own, n_heads, tgt_mask)
        a = drop(layer_norm(y + found, *params.norm_1))
        found, cross_weights = multi_head_attention(a, memory, other, n_heads, src_mask)
        c = drop(layer_norm(a + found, *params.norm_2))
        found = feed_forward(c, params.feed_forward)
        z = drop(layer_norm(c + found, *params.norm_3))
    return z, self_weights, cross_weights


@DECODER_LAYER.misconception(
    'With "post", what comes out of the norm is dropped in part',
    fails=("decoder_layer_post_drop",),
    hints=(
        'As long as nothing is dropped you are right, and with "pre" always. Otherwise features of y itself are lost.',
        'With "post" drop was applied behind the norm. It belongs to what the three give, before it is added.',
        _DROP,
    ),
)
def decoder_layer__drop_after_norm_post(
    y, memory, params, n_heads, tgt_mask=None, src_mask=None, norm="pre", drop=None
):
    if drop is None:
        drop = torch.nn.Identity()
    own, other = params.self_attention, params.cross_attention
    if norm == "pre":
        normed = layer_norm(y, *params.norm_1)
        found, self_weights = multi_head_attention(normed, normed, own, n_heads, tgt_mask)
        a = y + drop(found)
        normed = layer_norm(a, *params.norm_2)
        found, cross_weights = multi_head_attention(normed, memory, other, n_heads, src_mask)
        c = a + drop(found)
        normed = layer_norm(c, *params.norm_3)
        found = feed_forward(normed, params.feed_forward)
        z = c + drop(found)
    else:
        found, self_weights = multi_head_attention(y, y, own, n_heads, tgt_mask)
        a = drop(layer_norm(y + found, *params.norm_1))
        found, cross_weights = multi_head_attention(a, memory, other, n_heads, src_mask)
        c = drop(layer_norm(a + found, *params.norm_2))
        found = feed_forward(c, params.feed_forward)
        z = drop(layer_norm(c + found, *params.norm_3))
    return z, self_weights, cross_weights


@DECODER_LAYER.misconception(
    "Only the result of the layer is dropped in part",
    fails=("decoder_layer_pre_drop", "decoder_layer_post_drop"),
    hints=(
        "As long as nothing is dropped you are right. Otherwise features of y itself are lost.",
        "drop was applied once, to the result. It belongs to what each of the three gives, before it is added.",
        _DROP,
    ),
)
def decoder_layer__drop_at_the_end(y, memory, params, n_heads, tgt_mask=None, src_mask=None, norm="pre", drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    own, other = params.self_attention, params.cross_attention
    if norm == "pre":
        normed = layer_norm(y, *params.norm_1)
        found, self_weights = multi_head_attention(normed, normed, own, n_heads, tgt_mask)
        a = y + found
        normed = layer_norm(a, *params.norm_2)
        found, cross_weights = multi_head_attention(normed, memory, other, n_heads, src_mask)
        c = a + found
        normed = layer_norm(c, *params.norm_3)
        found = feed_forward(normed, params.feed_forward)
        z = drop(c + found)
    else:
        found, self_weights = multi_head_attention(y, y, own, n_heads, tgt_mask)
        a = layer_norm(y + found, *params.norm_1)
        found, cross_weights = multi_head_attention(a, memory, other, n_heads, src_mask)
        c = layer_norm(a + found, *params.norm_2)
        found = feed_forward(c, params.feed_forward)
        z = drop(layer_norm(c + found, *params.norm_3))
    return z, self_weights, cross_weights


@DECODER_LAYER.misconception(
    "What goes into attention and network is dropped in part",
    fails=("decoder_layer_pre_drop", "decoder_layer_post_drop"),
    hints=(
        "As long as nothing is dropped you are right.",
        "drop was applied to what the three read. It belongs to what they give.",
        _DROP,
    ),
)
def decoder_layer__drop_on_input(y, memory, params, n_heads, tgt_mask=None, src_mask=None, norm="pre", drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    own, other = params.self_attention, params.cross_attention
    if norm == "pre":
        normed = drop(layer_norm(y, *params.norm_1))
        found, self_weights = multi_head_attention(normed, normed, own, n_heads, tgt_mask)
        a = y + found
        normed = drop(layer_norm(a, *params.norm_2))
        found, cross_weights = multi_head_attention(normed, memory, other, n_heads, src_mask)
        c = a + found
        normed = drop(layer_norm(c, *params.norm_3))
        found = feed_forward(normed, params.feed_forward)
        z = c + found
    else:
        thinned = drop(y)
        found, self_weights = multi_head_attention(thinned, thinned, own, n_heads, tgt_mask)
        a = layer_norm(y + found, *params.norm_1)
        thinned = drop(a)
        found, cross_weights = multi_head_attention(thinned, memory, other, n_heads, src_mask)
        c = layer_norm(a + found, *params.norm_2)
        thinned = drop(c)
        found = feed_forward(thinned, params.feed_forward)
        z = layer_norm(c + found, *params.norm_3)
    return z, self_weights, cross_weights


# ---- 9.7 embed ----

EMBED = Exercise(
    number="9.7",
    references=(positions.embed,),
    probe_module=probes,
    points=2,
    minutes=10,
    difficulty=1,
)
_EMBED = "Read the equation: what does the root multiply?"
_PLACE = "Read the equation: which row of P belongs to step t?"


@EMBED.misconception(
    "The word vectors are not scaled by the root of D",
    fails=EMBED.all_but(),
    hints=(
        "Your positions are right, but the words are too small beside them.",
        "√D is missing. Word vectors start out with a spread of about 1/√D; that of the positions is near 1.",
        _EMBED,
    ),
)
def embed__no_root(ids, E, P):
    return E[ids] + P[: ids.shape[1]]


@EMBED.misconception(
    "The positions are scaled too",
    fails=EMBED.all_but(),
    hints=(
        "Your words are right, but the positions are too large beside them.",
        "The root multiplies the sum. It belongs to the words alone.",
        _EMBED,
    ),
)
def embed__positions_scaled(ids, E, P):
    return math.sqrt(E.shape[1]) * (E[ids] + P[: ids.shape[1]])


@EMBED.misconception(
    "The positions are scaled, not the words",
    fails=EMBED.all_but(),
    hints=(
        "Your positions are too large and your words too small.",
        "The root stands with the wrong one of the two.",
        _EMBED,
    ),
)
def embed__only_positions_scaled(ids, E, P):
    return E[ids] + math.sqrt(E.shape[1]) * P[: ids.shape[1]]


@EMBED.misconception(
    "Word and position are put side by side, not added",
    fails=EMBED.all_but(),
    hints=(
        "Your vectors are twice as wide as they should be.",
        "cat joins the two; + is asked for. (Side by side works too, but needs twice the width.)",
        "Read what the task says about the shape of the result.",
    ),
)
def embed__concatenated(ids, E, P):
    B, T = ids.shape
    return torch.cat([math.sqrt(E.shape[1]) * E[ids], P[:T].expand(B, T, -1)], dim=-1)


@EMBED.misconception(
    "Word and position are put side by side, and there is no root",
    fails=EMBED.all_but(),
    hints=(
        "Your vectors are twice as wide as they should be.",
        "cat joins the two; + is asked for. And the words are to be multiplied by √D.",
        "Read what the task says about the shape of the result.",
    ),
)
def embed__concatenated_no_root(ids, E, P):
    B, T = ids.shape
    return torch.cat([E[ids], P[:T].expand(B, T, -1)], dim=-1)


@EMBED.misconception(
    "The word vectors are divided by the root",
    fails=EMBED.all_but(),
    hints=(
        "Your positions are right, but the words are far too small beside them.",
        "Scores are divided by a root; word vectors are multiplied by one.",
        _EMBED,
    ),
)
def embed__divided(ids, E, P):
    return E[ids] / math.sqrt(E.shape[1]) + P[: ids.shape[1]]


@EMBED.misconception(
    "The word vectors are multiplied by D, not by its root",
    fails=EMBED.all_but(),
    hints=(
        "Your positions are right, but the words are too large beside them.",
        "The root is missing.",
        _EMBED,
    ),
)
def embed__times_D(ids, E, P):
    return E.shape[1] * E[ids] + P[: ids.shape[1]]


@EMBED.misconception(
    "The root is that of the vocabulary's size",
    fails=EMBED.all_but(),
    hints=(
        "In your answer a larger vocabulary makes the word vectors longer.",
        "len(E) is V. The width is E.shape[1].",
        _EMBED,
    ),
)
def embed__root_of_V(ids, E, P):
    return math.sqrt(len(E)) * E[ids] + P[: ids.shape[1]]


@EMBED.misconception(
    "The root is that of the number of steps",
    fails=EMBED.all_but(),
    hints=(
        "In your answer a longer text makes the word vectors longer.",
        "ids.shape[1] is T. The width is E.shape[1].",
        _EMBED,
    ),
)
def embed__root_of_T(ids, E, P):
    return math.sqrt(ids.shape[1]) * E[ids] + P[: ids.shape[1]]


@EMBED.misconception(
    "There are no positions",
    fails=EMBED.all_but(),
    hints=(
        "P makes no difference in your answer.",
        "P_t was not added. Without it the model reads a set of words.",
        "Read the equation to its end.",
    ),
)
def embed__no_positions(ids, E, P):
    return math.sqrt(E.shape[1]) * E[ids]


@EMBED.misconception(
    "The position is looked up by the word, not by the place",
    fails=EMBED.all_but(),
    hints=(
        "In your answer the same word gets the same position at every step.",
        "P was indexed with the ids. Its rows belong to the steps 0, 1, 2, …",
        _PLACE,
    ),
)
def embed__positions_of_words(ids, E, P):
    return math.sqrt(E.shape[1]) * E[ids] + P[ids % len(P)]


@EMBED.misconception(
    "Every step gets the first position",
    fails=EMBED.all_but(),
    hints=(
        "In your answer the same word looks alike at every step.",
        "P[0] was added everywhere.",
        _PLACE,
    ),
)
def embed__first_position(ids, E, P):
    return math.sqrt(E.shape[1]) * E[ids] + P[0]


@EMBED.misconception(
    "The last positions are taken",
    fails=EMBED.all_but("batch"),
    hints=(
        "If there are as many positions as steps you are right. If there are more, your text stands at their end.",
        "P[-T:] was taken. The first step of a text is place 0, however long P is: P[:T].",
        _PLACE,
    ),
)
def embed__last_positions(ids, E, P):
    return math.sqrt(E.shape[1]) * E[ids] + P[-ids.shape[1] :]


@EMBED.misconception(
    "The places are counted from 1",
    fails=EMBED.all_but(),
    hints=(
        "Your positions stand one step too early; and for as many positions as steps, one is missing.",
        "The first step has row 0 of P.",
        _PLACE,
    ),
)
def embed__from_one(ids, E, P):
    return math.sqrt(E.shape[1]) * E[ids] + P[1 : ids.shape[1] + 1]


@EMBED.misconception(
    "The position belongs to the sequence, not to the step",
    fails=EMBED.all_but(),
    hints=(
        "All words of a sequence have the same position in your answer, and the next sequence another.",
        "P was laid along the batch. A row of P belongs to a step: (T, D) is added to (B, T, D) as it is.",
        _PLACE,
    ),
)
def embed__along_batch(ids, E, P):
    return math.sqrt(E.shape[1]) * E[ids] + P[: len(ids), None]


@EMBED.misconception(
    "All of P is added, whatever the length",
    fails=EMBED.all_but("batch"),
    hints=(
        "If there are as many positions as steps you are right. If there are more, the shapes do not fit.",
        "P has a row for every place that may occur; only the first T of them are needed.",
        "Read what the task says about P.",
    ),
)
def embed__all_of_P(ids, E, P):
    return math.sqrt(E.shape[1]) * E[ids] + P


@EMBED.misconception(
    "Word and position are multiplied",
    fails=EMBED.all_but(),
    hints=(
        "Where a position is zero, your words are lost.",
        "* stands where + belongs.",
        "Read the equation.",
    ),
)
def embed__multiplied(ids, E, P):
    return math.sqrt(E.shape[1]) * E[ids] * P[: ids.shape[1]]


@EMBED.misconception(
    "The table E is changed",
    fails=EMBED.all_but("batch", "longer"),
    hints=(
        "Your vectors are right, but after every call the table is √D times larger.",
        "*= or mul_ writes into E itself, and autograd refuses. Multiply what you have looked up.",
        "Read what the task says about the arguments.",
    ),
)
def embed__table_changed(ids, E, P):
    E *= math.sqrt(E.shape[1])
    return E[ids] + P[: ids.shape[1]]


# ---- 9.8 dropout ----

_DROPOUT = "Write it with the random numbers u: torch's own is what it is compared with, and it draws others."
DROPOUT = Exercise(
    number="9.8",
    references=(dropping.dropout,),
    probe_module=probes,
    points=2,
    minutes=10,
    difficulty=1,
    forbidden=dict.fromkeys(("dropout", "Dropout", "alpha_dropout", "native_dropout", "bernoulli"), _DROPOUT),
)
_CASES = "Read the equation: which entries are kept, and what becomes of them?"
_AFTER = "Read the equation: what happens after training?"


@DROPOUT.convention(
    "entries are dropped where u is among the largest, where the task drops those with the smallest; that is as likely"
)
def dropout__largest_dropped(x, p, train, u):
    return torch.where(u < 1 - p, x / (1 - p), 0) if train else x


@DROPOUT.misconception(
    "What is kept is not made larger",
    fails=DROPOUT.all_but(),
    hints=(
        "The right entries are dropped; the others are too small.",
        "The division by 1 - p is missing. Without it the next layer gets less in training than afterwards.",
        _CASES,
    ),
)
def dropout__no_scale(x, p, train, u):
    return x * (u >= p) if train else x


@DROPOUT.misconception(
    "What is kept is not made larger, and the largest u are dropped",
    fails=DROPOUT.all_but(),
    hints=(
        "To drop the largest u would be accepted, but what is kept is too small.",
        "The division by 1 - p is missing. Without it the next layer gets less in training than afterwards.",
        _CASES,
    ),
)
def dropout__largest_no_scale(x, p, train, u):
    return x * (u < 1 - p) if train else x


@DROPOUT.misconception(
    "Something is dropped after training too",
    fails=("dropout_afterwards",),
    hints=(
        "In training you are right. Afterwards entries are missing all the same.",
        "The argument train is never read.",
        _AFTER,
    ),
)
def dropout__always(x, p, train, u):
    return x * (u >= p) / (1 - p)


@DROPOUT.misconception(
    "Something is dropped after training too, without a scale",
    fails=DROPOUT.all_but(),
    hints=(
        "The right entries are dropped; the others are too small, and afterwards entries are missing all the same.",
        "The argument train is never read, and the division by 1 - p is missing.",
        _AFTER,
    ),
)
def dropout__always_no_scale(x, p, train, u):
    return x * (u >= p)


@DROPOUT.misconception(
    "train is read the other way round",
    fails=DROPOUT.all_but(),
    hints=(
        "In training nothing happens; afterwards entries are dropped.",
        "The two cases of train have changed places.",
        _AFTER,
    ),
)
def dropout__train_inverted(x, p, train, u):
    return x if train else x * (u >= p) / (1 - p)


@DROPOUT.misconception(
    "p is taken for the probability of keeping",
    fails=DROPOUT.all_but(),
    hints=(
        "With p = 0.2 you drop four fifths.",
        "p is the share that is dropped, as in torch. The first paper on dropout had it the other way round.",
        "Read what the task says about p.",
    ),
)
def dropout__p_keeps(x, p, train, u):
    if not train:
        return x
    return x * (u < p) / p if p > 0 else x * 0


@DROPOUT.misconception(
    "The wrong entries are dropped: those with u at least p",
    fails=DROPOUT.all_but(),
    hints=(
        "You keep exactly what is to be dropped.",
        "u < p marks what is dropped; you multiplied by it.",
        _CASES,
    ),
)
def dropout__mask_inverted(x, p, train, u):
    return x * (u < p) / (1 - p) if train else x


@DROPOUT.misconception(
    "What is kept is divided by p",
    fails=DROPOUT.all_but(),
    hints=(
        "The right entries are dropped; the others have the wrong size, and with p = 0 they are infinite.",
        "1 - p is the share that is kept. Divide by that.",
        _CASES,
    ),
)
def dropout__divided_by_p(x, p, train, u):
    return x * (u >= p) / torch.tensor(p) if train else x


@DROPOUT.misconception(
    "What is kept is multiplied by 1 - p",
    fails=DROPOUT.all_but(),
    hints=(
        "The right entries are dropped; the others are too small.",
        "Divide by 1 - p: fewer are left, so that each has to count for more.",
        _CASES,
    ),
)
def dropout__multiplied(x, p, train, u):
    return x * (u >= p) * (1 - p) if train else x


@DROPOUT.misconception(
    "The scale comes after training instead of in training",
    fails=DROPOUT.all_but(),
    hints=(
        "In training what is kept is too small; afterwards everything is too small.",
        "The first paper did it so: x (1 - p) at the test. Today what is kept is divided by 1 - p in training, and at "
        "the test nothing needs to be done.",
        _AFTER,
    ),
)
def dropout__scaled_afterwards(x, p, train, u):
    return x * (u >= p) if train else x * (1 - p)


@DROPOUT.misconception(
    "The scale comes twice: in training and afterwards",
    fails=("dropout_afterwards",),
    hints=(
        "In training you are right; afterwards everything is too small.",
        "Once is enough: what was divided by 1 - p in training has the right mean already.",
        _AFTER,
    ),
)
def dropout__scaled_twice(x, p, train, u):
    return x * (u >= p) / (1 - p) if train else x * (1 - p)


@DROPOUT.misconception(
    "Afterwards everything is made larger too",
    fails=("dropout_afterwards",),
    hints=(
        "In training you are right; afterwards everything is too large.",
        "Only the mask depends on train in your answer; the scale has to as well.",
        _AFTER,
    ),
)
def dropout__larger_afterwards(x, p, train, u):
    return x * (u >= p) / (1 - p) if train else x / (1 - p)


@DROPOUT.misconception(
    "A random number equal to p is dropped",
    fails=("dropout_edges",),
    hints=(
        "You are right but for a hair: with p = 0 an entry can be dropped.",
        "u ≤ p where u < p is asked for. u can be 0, and with p = 0 nothing may be dropped.",
        _CASES,
    ),
)
def dropout__equal_dropped(x, p, train, u):
    return x * (u > p) / (1 - p) if train else x


@DROPOUT.misconception(
    "Other random numbers are drawn",
    fails=DROPOUT.all_but(),
    hints=(
        "The share of what is dropped is right, but other entries are dropped than u says.",
        "The function drew numbers of its own. They come as an argument, so that the result can be checked.",
        "Read what the task says about u.",
    ),
)
def dropout__own_numbers(x, p, train, u):
    return x * (torch.rand(x.shape) >= p) / (1 - p) if train else x


@DROPOUT.misconception(
    "Whole vectors are dropped",
    fails=DROPOUT.all_but(),
    hints=(
        "In your answer all features of a step fall together.",
        "One random number was taken for each vector. Each entry has its own.",
        "Read what the task says about u.",
    ),
)
def dropout__whole_vectors(x, p, train, u):
    return x * (u[..., :1] >= p) / (1 - p) if train else x


@DROPOUT.misconception(
    "x is changed in place",
    fails=DROPOUT.all_but("training", "edges"),
    hints=(
        "Your values are right, but afterwards the caller's x is another.",
        "x[…] = 0 writes into the tensor that was passed in, and autograd refuses. Multiply, or use masked_fill.",
        "Read what the task says about the arguments.",
    ),
)
def dropout__in_place(x, p, train, u):
    if train:
        x[u < p] = 0
        return x / (1 - p)
    return x


# ---- 9.9 adam_step ----

_OPTIM = "Write the three lines yourself: torch's Adam is what they are compared with."
ADAM = Exercise(
    number="9.9",
    references=(optimisation.adam_step,),
    probe_module=probes,
    points=3,
    minutes=20,
    difficulty=2,
    forbidden=dict.fromkeys(("optim", "Adam", "AdamW", "adam", "adamw", "NAdam", "RAdam"), _OPTIM),
)
_MOMENTS = "Read the first equation: the two means."
_HATS = "Read the second equation: the hats."
_STEP = "Read the last equation: the step."


@ADAM.convention(
    "eps is added to the root of v before it is divided by the root of 1 - β₂^t, where the task adds it after. The "
    "paper names this order as the faster one; it is an eps of another size"
)
def adam_step__eps_before_correction(p, g, m, v, t, lr=1e-3, beta_1=0.9, beta_2=0.999, eps=1e-8):
    m, v = beta_1 * m + (1 - beta_1) * g, beta_2 * v + (1 - beta_2) * g * g
    rate = lr * math.sqrt(1 - beta_2**t) / (1 - beta_1**t)
    return p - rate * m / (v.sqrt() + eps), m, v


@ADAM.misconception(
    "There is no bias correction",
    fails=ADAM.all_but(),
    hints=(
        "Your means are right, but the first steps have the wrong size.",
        "The hats are missing. m and v start from 0, and are too small at first: divide them by 1 - β^t.",
        _HATS,
    ),
)
def adam_step__no_correction(p, g, m, v, t, lr=1e-3, beta_1=0.9, beta_2=0.999, eps=1e-8):
    m, v = beta_1 * m + (1 - beta_1) * g, beta_2 * v + (1 - beta_2) * g * g
    return p - lr * m / (v.sqrt() + eps), m, v


@ADAM.misconception(
    "Only m is corrected",
    fails=ADAM.all_but(),
    hints=(
        "Your means are right, but the first steps are far too long.",
        "v has no hat in your answer. It is too small at first, and you divide by its root.",
        _HATS,
    ),
)
def adam_step__only_m_corrected(p, g, m, v, t, lr=1e-3, beta_1=0.9, beta_2=0.999, eps=1e-8):
    m, v = beta_1 * m + (1 - beta_1) * g, beta_2 * v + (1 - beta_2) * g * g
    return p - lr * m / (1 - beta_1**t) / (v.sqrt() + eps), m, v


@ADAM.misconception(
    "Only v is corrected",
    fails=ADAM.all_but(),
    hints=(
        "Your means are right, but the first steps are too short.",
        "m has no hat in your answer.",
        _HATS,
    ),
)
def adam_step__only_v_corrected(p, g, m, v, t, lr=1e-3, beta_1=0.9, beta_2=0.999, eps=1e-8):
    m, v = beta_1 * m + (1 - beta_1) * g, beta_2 * v + (1 - beta_2) * g * g
    return p - lr * m / ((v / (1 - beta_2**t)).sqrt() + eps), m, v


@ADAM.misconception(
    "eps stands inside the root",
    fails=ADAM.all_but("first", "later", "untouched"),
    hints=(
        "Where gradients are large you are right; where they are small your steps are too short.",
        "eps was added to v. In Adam it is added to the root of v. (In a layer norm it is the other way round.)",
        _STEP,
    ),
)
def adam_step__eps_inside(p, g, m, v, t, lr=1e-3, beta_1=0.9, beta_2=0.999, eps=1e-8):
    m, v = beta_1 * m + (1 - beta_1) * g, beta_2 * v + (1 - beta_2) * g * g
    return p - lr * m / (1 - beta_1**t) / (v / (1 - beta_2**t) + eps).sqrt(), m, v


@ADAM.misconception(
    "eps is not used",
    fails=ADAM.all_but("first", "later", "untouched"),
    hints=(
        "Where gradients are large you are right; where they are small your steps are too long.",
        "The argument eps is never read. Where all gradients were 0, you divide 0 by 0.",
        _STEP,
    ),
)
def adam_step__no_eps(p, g, m, v, t, lr=1e-3, beta_1=0.9, beta_2=0.999, eps=1e-8):
    m, v = beta_1 * m + (1 - beta_1) * g, beta_2 * v + (1 - beta_2) * g * g
    return p - lr * m / (1 - beta_1**t) / (v / (1 - beta_2**t)).sqrt(), m, v


@ADAM.misconception(
    "The steps are counted from 0: t - 1 stands in the exponents",
    fails=ADAM.all_but(),
    hints=(
        "At the first step you divide by zero; later you are nearly right.",
        "β^0 is 1, and 1 - 1 is 0. t is 1 at the first step, and used as it is.",
        "Read what the task says about t.",
    ),
)
def adam_step__from_zero(p, g, m, v, t, lr=1e-3, beta_1=0.9, beta_2=0.999, eps=1e-8):
    m, v = beta_1 * m + (1 - beta_1) * g, beta_2 * v + (1 - beta_2) * g * g
    one, other = torch.tensor(1 - beta_1 ** (t - 1)), torch.tensor(1 - beta_2 ** (t - 1))
    return p - lr * m / one / ((v / other).sqrt() + eps), m, v


@ADAM.misconception(
    "1 is added to t",
    fails=ADAM.all_but(),
    hints=(
        "Your first steps have the wrong size; later you are nearly right.",
        "t + 1 belongs into the exponents only if t starts from 0. Here it starts from 1.",
        "Read what the task says about t.",
    ),
)
def adam_step__t_plus_one(p, g, m, v, t, lr=1e-3, beta_1=0.9, beta_2=0.999, eps=1e-8):
    return adam_step(p, g, m, v, t + 1, lr, beta_1, beta_2, eps)


@ADAM.misconception(
    "β is multiplied by t, not raised to it",
    fails=ADAM.all_but("first"),
    hints=(
        "Your first step is right; from the second on the correction goes astray.",
        "β * t grows beyond 1. β ** t is asked for.",
        _HATS,
    ),
)
def adam_step__beta_times_t(p, g, m, v, t, lr=1e-3, beta_1=0.9, beta_2=0.999, eps=1e-8):
    m, v = beta_1 * m + (1 - beta_1) * g, beta_2 * v + (1 - beta_2) * g * g
    return p - lr * m / (1 - beta_1 * t) / ((v / (1 - beta_2 * t)).sqrt() + eps), m, v


@ADAM.misconception(
    "The correction does not depend on t",
    fails=ADAM.all_but("first"),
    hints=(
        "Your first step is right; later steps are too long.",
        "1 - β was taken for 1 - β^t. The correction is to fade as the means fill up.",
        _HATS,
    ),
)
def adam_step__t_forgotten(p, g, m, v, t, lr=1e-3, beta_1=0.9, beta_2=0.999, eps=1e-8):
    m, v = beta_1 * m + (1 - beta_1) * g, beta_2 * v + (1 - beta_2) * g * g
    return p - lr * m / (1 - beta_1) / ((v / (1 - beta_2)).sqrt() + eps), m, v


@ADAM.misconception(
    "The corrected means are handed on",
    fails=ADAM.all_but(),
    hints=(
        "Your p is right; m and v are too large for the next step.",
        "m and v were overwritten by their hats. The next step would correct them once more.",
        "Read what the task returns.",
    ),
)
def adam_step__hats_returned(p, g, m, v, t, lr=1e-3, beta_1=0.9, beta_2=0.999, eps=1e-8):
    p, m, v = adam_step(p, g, m, v, t, lr, beta_1, beta_2, eps)
    return p, m / (1 - beta_1**t), v / (1 - beta_2**t)


@ADAM.misconception(
    "v averages the gradient, not its square",
    fails=ADAM.all_but(),
    hints=(
        "Your v can be negative, and then its root is NaN.",
        "g is not squared in your v.",
        _MOMENTS,
    ),
)
def adam_step__not_squared(p, g, m, v, t, lr=1e-3, beta_1=0.9, beta_2=0.999, eps=1e-8):
    m, v = beta_1 * m + (1 - beta_1) * g, beta_2 * v + (1 - beta_2) * g
    return p - lr * m / (1 - beta_1**t) / ((v / (1 - beta_2**t)).sqrt() + eps), m, v


@ADAM.misconception(
    "v averages the square of the mean, not of the gradient",
    fails=ADAM.all_but(),
    hints=(
        "Your m is right; v is too small where gradients change their sign.",
        "The new m was squared. g² is asked for.",
        _MOMENTS,
    ),
)
def adam_step__mean_squared(p, g, m, v, t, lr=1e-3, beta_1=0.9, beta_2=0.999, eps=1e-8):
    m = beta_1 * m + (1 - beta_1) * g
    v = beta_2 * v + (1 - beta_2) * m * m
    return p - lr * m / (1 - beta_1**t) / ((v / (1 - beta_2**t)).sqrt() + eps), m, v


@ADAM.misconception(
    "1 - β is missing in the means",
    fails=ADAM.all_but(),
    hints=(
        "Your m and v grow too large.",
        "The new gradient enters whole, as in momentum. A mean takes the share 1 - β of it.",
        _MOMENTS,
    ),
)
def adam_step__no_shares(p, g, m, v, t, lr=1e-3, beta_1=0.9, beta_2=0.999, eps=1e-8):
    m, v = beta_1 * m + g, beta_2 * v + g * g
    return p - lr * m / (1 - beta_1**t) / ((v / (1 - beta_2**t)).sqrt() + eps), m, v


@ADAM.misconception(
    "β is the share of the new gradient, not of the old mean",
    fails=ADAM.all_but(),
    hints=(
        "Your means forget nearly everything at each step.",
        "β and 1 - β have changed places: β is what is kept.",
        _MOMENTS,
    ),
)
def adam_step__shares_exchanged(p, g, m, v, t, lr=1e-3, beta_1=0.9, beta_2=0.999, eps=1e-8):
    m, v = (1 - beta_1) * m + beta_1 * g, (1 - beta_2) * v + beta_2 * g * g
    return p - lr * m / (1 - beta_1**t) / ((v / (1 - beta_2**t)).sqrt() + eps), m, v


@ADAM.misconception(
    "β₁ and β₂ are exchanged",
    fails=ADAM.all_but(),
    hints=(
        "If both are equal you are right; otherwise both means have the wrong memory.",
        "β₁ belongs to m, β₂ to v.",
        _MOMENTS,
    ),
)
def adam_step__betas_exchanged(p, g, m, v, t, lr=1e-3, beta_1=0.9, beta_2=0.999, eps=1e-8):
    return adam_step(p, g, m, v, t, lr, beta_2, beta_1, eps)


@ADAM.misconception(
    "The step goes uphill",
    fails=ADAM.all_but(),
    hints=(
        "Your p moves in the wrong direction.",
        "The gradient points uphill; the step is taken away from p.",
        _STEP,
    ),
)
def adam_step__uphill(p, g, m, v, t, lr=1e-3, beta_1=0.9, beta_2=0.999, eps=1e-8):
    return adam_step(p, g, m, v, t, -lr, beta_1, beta_2, eps)


@ADAM.misconception(
    "The root of v is missing",
    fails=ADAM.all_but(),
    hints=(
        "In your answer, gradients ten times as large give steps a tenth as long.",
        "m was divided by v. Its root has the unit of a gradient, so that their quotient has none.",
        _STEP,
    ),
)
def adam_step__no_root(p, g, m, v, t, lr=1e-3, beta_1=0.9, beta_2=0.999, eps=1e-8):
    m, v = beta_1 * m + (1 - beta_1) * g, beta_2 * v + (1 - beta_2) * g * g
    return p - lr * m / (1 - beta_1**t) / (v / (1 - beta_2**t) + eps), m, v


@ADAM.misconception(
    "The step uses the gradient, not its mean",
    fails=ADAM.all_but("first"),
    hints=(
        "Your m is right but is not used: each step follows the last gradient alone.",
        "g stands where m̂ belongs. (That is RMSProp.)",
        _STEP,
    ),
)
def adam_step__gradient_used(p, g, m, v, t, lr=1e-3, beta_1=0.9, beta_2=0.999, eps=1e-8):
    m, v = beta_1 * m + (1 - beta_1) * g, beta_2 * v + (1 - beta_2) * g * g
    return p - lr * g / ((v / (1 - beta_2**t)).sqrt() + eps), m, v


@ADAM.misconception(
    "The step is not divided by the root of v",
    fails=ADAM.all_but(),
    hints=(
        "In your answer, large gradients give large steps.",
        "That is momentum. Adam divides by the usual size of the gradient.",
        _STEP,
    ),
)
def adam_step__momentum(p, g, m, v, t, lr=1e-3, beta_1=0.9, beta_2=0.999, eps=1e-8):
    m, v = beta_1 * m + (1 - beta_1) * g, beta_2 * v + (1 - beta_2) * g * g
    return p - lr * m / (1 - beta_1**t), m, v


@ADAM.misconception(
    "The step uses the old means",
    fails=ADAM.all_but(),
    hints=(
        "Your m and v are right; but p moves as if this gradient had not been there.",
        "p was changed before m and v were. First the means, then the step.",
        _STEP,
    ),
)
def adam_step__old_means(p, g, m, v, t, lr=1e-3, beta_1=0.9, beta_2=0.999, eps=1e-8):
    p = p - lr * m / (1 - beta_1**t) / ((v / (1 - beta_2**t)).sqrt() + eps)
    return p, beta_1 * m + (1 - beta_1) * g, beta_2 * v + (1 - beta_2) * g * g


@ADAM.misconception(
    "The step itself is returned, not the new p",
    fails=ADAM.all_but(),
    hints=(
        "Your first result is how far p moves, not where it arrives.",
        "p is missing in the last line.",
        "Read what the task returns.",
    ),
)
def adam_step__step_only(p, g, m, v, t, lr=1e-3, beta_1=0.9, beta_2=0.999, eps=1e-8):
    new, m, v = adam_step(p, g, m, v, t, lr, beta_1, beta_2, eps)
    return new - p, m, v


@ADAM.misconception(
    "Only the new p is returned",
    fails=ADAM.all_but(),
    hints=(
        "One result came back; three are asked for.",
        "m and v have to be handed on to the next step.",
        "Read what the task returns.",
    ),
)
def adam_step__p_only(p, g, m, v, t, lr=1e-3, beta_1=0.9, beta_2=0.999, eps=1e-8):
    return adam_step(p, g, m, v, t, lr, beta_1, beta_2, eps)[0]


@ADAM.misconception(
    "The arguments are changed in place",
    fails=ADAM.all_but("later", "settings", "small"),
    hints=(
        "Your results are right, but afterwards the caller's tensors are others.",
        "+=, *= and functions that end in _ write into what was passed in. Make new tensors.",
        "Read what the task says about the arguments.",
    ),
)
def adam_step__in_place(p, g, m, v, t, lr=1e-3, beta_1=0.9, beta_2=0.999, eps=1e-8):
    m *= beta_1
    m += (1 - beta_1) * g
    v *= beta_2
    v += (1 - beta_2) * g * g
    p -= lr * m / (1 - beta_1**t) / ((v / (1 - beta_2**t)).sqrt() + eps)
    return p, m, v


# ---- 9.10 noam_lr ----

NOAM = Exercise(
    number="9.10",
    references=(optimisation.noam_lr,),
    probe_module=probes,
    points=2,
    minutes=10,
    difficulty=1,
)
_NOAM = "Read the equation: two curves, and which of them counts?"
_POWERS = "Read the exponents of the equation."


@NOAM.convention("step 0 counts as step 1, as in some programs, where the task has 0")
def noam_lr__zero_as_one(step, d, w):
    step = max(step, 1)
    return d**-0.5 * min(step**-0.5, step * w**-1.5)


@NOAM.misconception(
    "The larger of the two counts, not the smaller",
    fails=NOAM.all_but(),
    hints=(
        "Your step size falls first and rises later, without end.",
        "max stands where min belongs.",
        _NOAM,
    ),
)
def noam_lr__max(step, d, w):
    if step == 0:
        return 0.0
    return d**-0.5 * max(step**-0.5, step * w**-1.5)


@NOAM.misconception(
    "Step 0 divides by zero",
    fails=("noam_lr_zero",),
    hints=(
        "You are right from step 1 on. At step 0 there is an error.",
        "0 to the power -½ is 1/0. The other curve is 0 there, and so is their minimum: say so.",
        "Read what the task says about step 0.",
    ),
)
def noam_lr__divides_by_zero(step, d, w):
    return d**-0.5 * min(step**-0.5, step * w**-1.5)


@NOAM.misconception(
    "The larger of the two counts, and step 0 divides by zero",
    fails=NOAM.all_but(),
    hints=(
        "Your step size falls first and rises later, without end.",
        "max stands where min belongs. And 0 to the power -½ is 1/0.",
        _NOAM,
    ),
)
def noam_lr__max_divides(step, d, w):
    return d**-0.5 * max(step**-0.5, step * w**-1.5)


@NOAM.misconception(
    "Step 0 gives infinity",
    fails=("noam_lr_zero",),
    hints=(
        "You are right from step 1 on. At step 0 the step size is infinite.",
        "At step 0 the first curve is infinite, the second 0; the smaller counts.",
        "Read what the task says about step 0.",
    ),
)
def noam_lr__infinite(step, d, w):
    return math.inf if step == 0 else d**-0.5 * min(step**-0.5, step * w**-1.5)


@NOAM.misconception(
    "Multiplied by the root of d, not divided",
    fails=NOAM.all_but(),
    hints=(
        "Your step size has the right shape, but wider models take larger steps.",
        "d has the exponent -½: wider models take smaller steps.",
        _POWERS,
    ),
)
def noam_lr__root_of_d(step, d, w):
    if step == 0:
        return 0.0
    return d**0.5 * min(step**-0.5, step * w**-1.5)


@NOAM.misconception(
    "Multiplied by the root of d, and step 0 divides by zero",
    fails=NOAM.all_but(),
    hints=(
        "Your step size has the right shape, but wider models take larger steps.",
        "d has the exponent -½. And 0 to the power -½ is 1/0.",
        _POWERS,
    ),
)
def noam_lr__root_of_d_divides(step, d, w):
    return d**0.5 * min(step**-0.5, step * w**-1.5)


@NOAM.misconception(
    "d is not used",
    fails=NOAM.all_but(),
    hints=(
        "Your step size has the right shape, but does not depend on the width.",
        "The factor before the minimum is missing.",
        _POWERS,
    ),
)
def noam_lr__no_d(step, d, w):
    if step == 0:
        return 0.0
    return min(step**-0.5, step * w**-1.5)


@NOAM.misconception(
    "Divided by d, not by its root",
    fails=NOAM.all_but(),
    hints=(
        "Your step size has the right shape, but is too small.",
        "d has the exponent -½, not -1.",
        _POWERS,
    ),
)
def noam_lr__divided_by_d(step, d, w):
    if step == 0:
        return 0.0
    return min(step**-0.5, step * w**-1.5) / d


@NOAM.misconception(
    "After the warm-up it falls exponentially, as the slide has it",
    fails=NOAM.all_but("rising", "zero"),
    hints=(
        "While it warms up you are right; afterwards your step size dies away too fast.",
        'The slide says "exponential decay". The paper\'s rule is one over the root of the step: four times the steps, '
        "half the size.",
        _NOAM,
    ),
)
def noam_lr__exponential(step, d, w):
    peak = d**-0.5 * w**-0.5
    return peak * step / w if step < w else peak * math.exp(-(step - w) / w)


@NOAM.misconception(
    "After the warm-up it is halved every w steps",
    fails=NOAM.all_but("rising", "zero"),
    hints=(
        "While it warms up you are right; afterwards your step size dies away too fast.",
        "That is exponential decay. The paper's rule is one over the root of the step: four times the steps, half the "
        "size.",
        _NOAM,
    ),
)
def noam_lr__halved(step, d, w):
    peak = d**-0.5 * w**-0.5
    return peak * step / w if step < w else peak * 0.5 ** ((step - w) / w)


@NOAM.misconception(
    "After the warm-up it stays as it is",
    fails=NOAM.all_but("rising", "zero"),
    hints=(
        "While it warms up you are right; afterwards your step size does not fall.",
        "Behind w the other curve counts: one over the root of the step.",
        _NOAM,
    ),
)
def noam_lr__constant(step, d, w):
    return d**-0.5 * min(w**-0.5, step * w**-1.5)


@NOAM.misconception(
    "After the warm-up it falls as one over the step",
    fails=NOAM.all_but("rising", "zero"),
    hints=(
        "While it warms up you are right; afterwards your step size falls too fast.",
        "One over the step, where one over its root is asked for.",
        _POWERS,
    ),
)
def noam_lr__one_over_step(step, d, w):
    peak = d**-0.5 * w**-0.5
    return peak * step / w if step < w else peak * w / step


@NOAM.misconception(
    "There is no warm-up",
    fails=NOAM.all_but("falling"),
    hints=(
        "After w steps you are right; before, your steps are far too large.",
        "Only the falling curve was used.",
        _NOAM,
    ),
)
def noam_lr__no_warm_up(step, d, w):
    return 0.0 if step == 0 else d**-0.5 * step**-0.5


@NOAM.misconception(
    "It warms up for ever",
    fails=NOAM.all_but("rising", "zero"),
    hints=(
        "While it warms up you are right; afterwards your step size goes on growing.",
        "Only the rising curve was used.",
        _NOAM,
    ),
)
def noam_lr__only_warm_up(step, d, w):
    return d**-0.5 * step * w**-1.5


@NOAM.misconception(
    "The exponent of w is -1",
    fails=NOAM.all_but("falling"),
    hints=(
        "Your two curves do not meet at w.",
        "w has the exponent -3/2: only then is s w^(-3/2) equal to s^(-1/2) at s = w.",
        _POWERS,
    ),
)
def noam_lr__w_to_minus_one(step, d, w):
    return 0.0 if step == 0 else d**-0.5 * min(step**-0.5, step / w)


@NOAM.misconception(
    "The exponent of w is -½",
    fails=NOAM.all_but("falling"),
    hints=(
        "Your two curves do not meet at w.",
        "w has the exponent -3/2: only then is s w^(-3/2) equal to s^(-1/2) at s = w.",
        _POWERS,
    ),
)
def noam_lr__w_to_minus_half(step, d, w):
    return 0.0 if step == 0 else d**-0.5 * min(step**-0.5, step * w**-0.5)


@NOAM.misconception(
    "The factor of d stands in the first curve only",
    fails=NOAM.all_but("falling"),
    hints=(
        "Your two curves do not meet at w: the rising one is too high.",
        "d^(-½) multiplies the minimum, both curves.",
        "Read the equation: what does the factor of d multiply?",
    ),
)
def noam_lr__d_in_one_curve(step, d, w):
    return 0.0 if step == 0 else min(d**-0.5 * step**-0.5, step * w**-1.5)


@NOAM.misconception(
    "The steps are counted one too far",
    fails=NOAM.all_but(),
    hints=(
        "Your curve is right, but one step early; at step 0 it is not 0.",
        "1 was added to the step. The step is used as it is.",
        "Read what the task says about step 0.",
    ),
)
def noam_lr__one_too_far(step, d, w):
    step = step + 1
    return d**-0.5 * min(step**-0.5, step * w**-1.5)


@NOAM.misconception(
    "Step and warm-up are exchanged",
    fails=NOAM.all_but(),
    hints=(
        "Your step size falls where it should rise.",
        "In the second curve step and w have changed places.",
        _NOAM,
    ),
)
def noam_lr__exchanged(step, d, w):
    return 0.0 if step == 0 else d**-0.5 * min(w**-0.5, w * step**-1.5)


EXERCISES = (
    POSITIONS,
    LAYER_NORM,
    FEED_FORWARD,
    MASKS,
    ENCODER_LAYER,
    DECODER_LAYER,
    EMBED,
    DROPOUT,
    ADAM,
    NOAM,
)
