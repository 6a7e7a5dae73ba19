"""The exercises of chapter 8 and the mistakes that the judge knows by name."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F

from autograder.exercise import Exercise
from autograder.probes import ch08_self_attention as probes
from unrolled import flops as costs
from unrolled import masks, self_attention
from unrolled.self_attention import merge_heads, scaled_dot_product_attention, split_heads

SETUP_NAMES = frozenset({"AttentionParams"})
_TORCH = "Build it of matrix products and a softmax: torch's own attention is what it is compared with later."
_LAYERS = dict.fromkeys(("MultiheadAttention", "multi_head_attention_forward"), _TORCH)


# ---- 8.1 scaled_dot_product_attention ----

ATTENTION = Exercise(
    number="8.1",
    references=(self_attention.scaled_dot_product_attention,),
    probe_module=probes,
    points=3,
    minutes=20,
    difficulty=2,
    forbidden=_LAYERS | {"scaled_dot_product_attention": _TORCH},
    not_applicable={
        "the root of the model's width": "the function is given heads, not the model; it is listed in 8.3.",
    },
)


@ATTENTION.convention(
    "masked scores are filled with a large finite negative instead of -inf. A query that may attend to nothing then "
    "takes the plain mean of all values, where the task has zeros; both are accepted"
)
def scaled_dot_product_attention__finite_fill(q, k, v, mask=None):
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    weights = scores.softmax(dim=-1)
    return weights @ v, weights


@ATTENTION.convention(
    "a large finite negative is added to masked scores instead of -inf. A query that may attend to nothing then "
    "attends as if there were no mask, where the task has zeros; both are accepted"
)
def scaled_dot_product_attention__finite_added(q, k, v, mask=None):
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores + (~mask) * -1e9
    weights = scores.softmax(dim=-1)
    return weights @ v, weights


@ATTENTION.misconception(
    "The scores are not divided by the root of d_k",
    fails=ATTENTION.all_but("nothing", "nothing_gradients"),
    hints=(
        "The right keys win, but by too much: your weights are too sharp.",
        "A sum of d_k products has a variance of d_k. Without the division the softmax saturates as heads get wider.",
        "Read the equation: what stands under the scores?",
    ),
)
def scaled_dot_product_attention__no_scale(q, k, v, mask=None):
    return scaled_dot_product_attention(q * math.sqrt(q.shape[-1]), k, v, mask)


@ATTENTION.misconception(
    "The scores are divided by d_k, not by its root",
    fails=ATTENTION.all_but("nothing", "nothing_gradients"),
    hints=(
        "The right keys win, but by too little: your weights are too even.",
        "The spread of a sum of d_k products grows as the root of d_k; d_k itself is their variance.",
        "Read the equation: what stands under the scores?",
    ),
)
def scaled_dot_product_attention__divided_by_d_k(q, k, v, mask=None):
    return scaled_dot_product_attention(q / math.sqrt(q.shape[-1]), k, v, mask)


@ATTENTION.misconception(
    "The scores are divided by the root of the number of queries",
    fails=ATTENTION.all_but("nothing", "nothing_gradients"),
    hints=(
        "How sharp your weights are depends on how many queries there are.",
        "q.shape[-2] is T. The terms of a score are as many as a query is wide: q.shape[-1].",
        "Read the shapes of the arguments: which axis is d_k?",
    ),
)
def scaled_dot_product_attention__root_of_T(q, k, v, mask=None):
    return scaled_dot_product_attention(q * math.sqrt(q.shape[-1] / q.shape[-2]), k, v, mask)


@ATTENTION.misconception(
    "The scores are divided by the root of the number of keys",
    fails=ATTENTION.all_but("nothing", "nothing_gradients"),
    hints=(
        "How sharp your weights are depends on how many keys there are.",
        "k.shape[-2] is S. The terms of a score are as many as a key is wide: k.shape[-1].",
        "Read the shapes of the arguments: which axis is d_k?",
    ),
)
def scaled_dot_product_attention__root_of_S(q, k, v, mask=None):
    return scaled_dot_product_attention(q * math.sqrt(q.shape[-1] / k.shape[-2]), k, v, mask)


@ATTENTION.misconception(
    "The scores are divided by the root of the values' width",
    fails=ATTENTION.all_but("nothing", "nothing_gradients"),
    hints=(
        "How sharp your weights are depends on how wide the values are, which take no part in the scores.",
        "d_k is the width of queries and keys. The values may have another, d_v.",
        "Read the shapes of the arguments: which of them are d_k wide?",
    ),
)
def scaled_dot_product_attention__root_of_d_v(q, k, v, mask=None):
    return scaled_dot_product_attention(q * math.sqrt(q.shape[-1] / v.shape[-1]), k, v, mask)


@ATTENTION.misconception(
    "The scores are multiplied by the root of d_k",
    fails=ATTENTION.all_but("nothing", "nothing_gradients"),
    hints=(
        "The right keys win, but by far too much: wider heads make it worse.",
        "The scores were multiplied where they are to be divided.",
        "Read the equation: what stands under the scores?",
    ),
)
def scaled_dot_product_attention__multiplied(q, k, v, mask=None):
    return scaled_dot_product_attention(q * q.shape[-1], k, v, mask)


@ATTENTION.misconception(
    "The weights are divided, not the scores",
    fails=ATTENTION.all_but(),
    hints=(
        "Your weights do not sum to 1.",
        "The division comes after the softmax. It has to come before: it is the scores that are too large.",
        "Read the equation: what stands inside the softmax?",
    ),
)
def scaled_dot_product_attention__divided_after_softmax(q, k, v, mask=None):
    root = math.sqrt(q.shape[-1])
    weights = scaled_dot_product_attention(q * root, k, v, mask)[1] / root
    return weights @ v, weights


@ATTENTION.misconception(
    "The softmax runs over the queries",
    fails=ATTENTION.all_but(),
    hints=(
        "The columns of your weights sum to 1, not the rows.",
        "The softmax has the wrong axis: each query shares its attention out among the keys.",
        "Read what the task says about the weights.",
    ),
)
def scaled_dot_product_attention__over_queries(q, k, v, mask=None):
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    if mask is None:
        weights = scores.softmax(dim=-2)
    else:
        weights = scores.masked_fill(~mask, -math.inf).softmax(dim=-2).masked_fill(~mask, 0)
    return weights @ v, weights


@ATTENTION.misconception(
    "The softmax runs over axis 1, whatever that is",
    fails=ATTENTION.all_but("itself", "large"),
    hints=(
        "A single sequence is right. With a batch you share out over the queries, with heads over the heads.",
        "dim=1 is the axis of the keys only if there are no leading axes. Count from the end: dim=-1.",
        "Read what the task says about the leading axes of q, k and v.",
    ),
)
def scaled_dot_product_attention__over_axis_1(q, k, v, mask=None):
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    if mask is None:
        weights = scores.softmax(dim=1)
    else:
        weights = scores.masked_fill(~mask, -math.inf).softmax(dim=1).masked_fill(~mask, 0)
    return weights @ v, weights


@ATTENTION.misconception(
    "One softmax runs over all pairs of queries and keys",
    fails=ATTENTION.all_but(),
    hints=(
        "All your weights together sum to 1; every row should.",
        "The two last axes were softmaxed as one. Each query has attention of its own to share out.",
        "Read what the task says about the weights.",
    ),
)
def scaled_dot_product_attention__over_all_pairs(q, k, v, mask=None):
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    weights = scores.flatten(-2).softmax(dim=-1).view(scores.shape)
    return weights @ v, weights


@ATTENTION.misconception(
    "The mask is applied after the softmax, and what is left is not renormalised",
    fails=ATTENTION.all_but("plain", "itself", "one"),
    hints=(
        "Without a mask you are right; with one your weights sum to less than 1.",
        "The masked keys took their share in the softmax before they were wiped out. Mask the scores, not the weights.",
        "Read what the task says about the softmax: over which keys does it run?",
    ),
)
def scaled_dot_product_attention__mask_after_softmax(q, k, v, mask=None):
    weights = (q @ k.mT / math.sqrt(q.shape[-1])).softmax(dim=-1)
    if mask is not None:
        weights = weights * mask
    return weights @ v, weights


@ATTENTION.misconception(
    "The mask is applied after the softmax, and rounding has eaten what is left",
    fails=("scaled_dot_product_attention_large",),
    hints=(
        "You are right as long as scores are small. If masked keys fit far better than the others, your row is lost.",
        "A share of exp(-2000) is rounded to 0 before you renormalise, and 0 / 0 remains. Mask the scores: then the "
        "softmax never sees the masked keys.",
        "Read what the task says about the softmax: over which keys does it run?",
    ),
)
def scaled_dot_product_attention__renormalised(q, k, v, mask=None):
    weights = (q @ k.mT / math.sqrt(q.shape[-1])).softmax(dim=-1)
    if mask is not None:
        weights = weights * mask
        weights = weights / weights.sum(dim=-1, keepdim=True).clamp(min=1e-300)
    return weights @ v, weights


@ATTENTION.misconception(
    "The mask is read the other way round",
    fails=ATTENTION.all_but("plain", "itself", "one"),
    hints=(
        "Without a mask you are right; with one your queries attend to exactly what they may not.",
        "True means may attend, here. In nn.MultiheadAttention it means may not.",
        "Read what the task says about the mask.",
    ),
)
def scaled_dot_product_attention__polarity(q, k, v, mask=None):
    return scaled_dot_product_attention(q, k, v, None if mask is None else ~mask)


@ATTENTION.misconception(
    "The mask is not used",
    fails=ATTENTION.all_but("plain", "itself", "one"),
    hints=(
        "Without a mask you are right; with one it makes no difference.",
        "The argument mask is never read.",
        "Read what the task says about the mask.",
    ),
)
def scaled_dot_product_attention__mask_ignored(q, k, v, mask=None):
    return scaled_dot_product_attention(q, k, v)


@ATTENTION.misconception(
    "The mask is transposed",
    fails=ATTENTION.all_but("plain", "itself", "one"),
    hints=(
        "Without a mask you are right. With one, keys choose their queries.",
        "Rows of the mask belong to queries, columns to keys, as in the scores: it needs no transposing.",
        "Read what the task says about the shape of the mask.",
    ),
)
def scaled_dot_product_attention__mask_transposed(q, k, v, mask=None):
    return scaled_dot_product_attention(q, k, v, None if mask is None else mask.mT)


@ATTENTION.misconception(
    "Masked scores become 0",
    fails=ATTENTION.all_but("plain", "itself", "one"),
    hints=(
        "Without a mask you are right; with one, masked keys still have weight.",
        "exp(0) is 1, not 0. What is to vanish in a softmax needs a score of minus infinity.",
        "Read what the task says about the keys that a query may not attend to.",
    ),
)
def scaled_dot_product_attention__masked_to_zero(q, k, v, mask=None):
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores * mask
    weights = scores.softmax(dim=-1)
    return weights @ v, weights


@ATTENTION.misconception(
    "Masked scores become -100, which is not low enough",
    fails=(
        "scaled_dot_product_attention_large",
        "scaled_dot_product_attention_nothing",
        "scaled_dot_product_attention_nothing_gradients",
    ),
    hints=(
        "You are right as long as scores are small. A query whose own keys score below -100 attends to masked ones.",
        "A score is a sum of products and may be anything. Take -inf, or a number that no score comes near.",
        "Read what the task says about how large scores may be.",
    ),
)
def scaled_dot_product_attention__minus_hundred(q, k, v, mask=None):
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, -100)
    weights = scores.softmax(dim=-1)
    return weights @ v, weights


@ATTENTION.misconception(
    "Nobody attends to itself",
    fails=ATTENTION.all_but(),
    hints=(
        "Your weights are zero on the diagonal.",
        "The pairs t = s were masked, as a slide that asks for j ≠ i suggests. Attention as it is used lets a step "
        "attend to itself; and the queries may come from another sequence, where equal numbers mean nothing.",
        "Read what the task says about the case without a mask.",
    ),
)
def scaled_dot_product_attention__not_itself(q, k, v, mask=None):
    other = ~torch.eye(q.shape[-2], k.shape[-2], dtype=torch.bool)
    return scaled_dot_product_attention(q, k, v, other if mask is None else mask & other)


@ATTENTION.misconception(
    "A causal mask is always applied",
    fails=ATTENTION.all_but("causal"),
    hints=(
        "With a causal mask you are right; without one your queries still do not see later keys.",
        "The function made a mask of its own. Who may attend to whom is the caller's choice.",
        "Read what the task says about the case without a mask.",
    ),
)
def scaled_dot_product_attention__always_causal(q, k, v, mask=None):
    causal = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool).tril()
    return scaled_dot_product_attention(q, k, v, causal if mask is None else mask & causal)


@ATTENTION.misconception(
    "A query that may attend to nothing gets NaN",
    fails=("scaled_dot_product_attention_nothing", "scaled_dot_product_attention_nothing_gradients"),
    hints=(
        "You are right wherever a query has a key. Where it has none, you return NaN.",
        "A softmax over nothing but -inf is 0 / 0. One NaN is enough to spoil all parameters in the next step.",
        "Read what the task says about a query that may attend to nothing.",
    ),
)
def scaled_dot_product_attention__nan_rows(q, k, v, mask=None):
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    weights = scores.softmax(dim=-1)
    return weights @ v, weights


@ATTENTION.misconception(
    "-inf is added, and a query that may attend to nothing gives NaN in the output and in all gradients",
    fails=("scaled_dot_product_attention_nothing", "scaled_dot_product_attention_nothing_gradients"),
    hints=(
        "You are right wherever a query has a key. Where it has none, you return NaN, and every gradient is NaN.",
        "A softmax over nothing but -inf is 0 / 0. With masked_fill or torch.where the scores get a clean gradient; "
        "the NaN among the weights has to be wiped out as well.",
        "Read what the task says about a query that may attend to nothing.",
    ),
)
def scaled_dot_product_attention__nan_everywhere(q, k, v, mask=None):
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores + torch.zeros(mask.shape).masked_fill(~mask, -math.inf)
    weights = scores.softmax(dim=-1)
    return weights @ v, weights


@ATTENTION.misconception(
    "The NaN is wiped from the output, but stays in the gradient",
    fails=("scaled_dot_product_attention_nothing_gradients",),
    hints=(
        "Your outputs are right. Where a query may attend to nothing, the gradient is NaN.",
        "-inf was added to the scores, and the NaN of the softmax was wiped out afterwards; on its way back the "
        "gradient still passes through that softmax. masked_fill or torch.where on the scores stops it there.",
        "Read what the task says about gradients.",
    ),
)
def scaled_dot_product_attention__nan_gradients(q, k, v, mask=None):
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores + torch.zeros(mask.shape).masked_fill(~mask, -math.inf)
    weights = scores.softmax(dim=-1).nan_to_num(0)
    return weights @ v, weights


@ATTENTION.misconception(
    "exp overflows",
    fails=("scaled_dot_product_attention_large",),
    hints=(
        "You are right as long as scores are small. Large ones give inf / inf.",
        "exp was taken of the scores as they are. Take away the largest score of each row first, or use torch.softmax.",
        "Read what the task says about how large scores may be.",
    ),
)
def scaled_dot_product_attention__overflow(q, k, v, mask=None):
    exps = (q @ k.mT / math.sqrt(q.shape[-1])).exp()
    if mask is not None:
        exps = exps.masked_fill(~mask, 0)
    weights = exps / exps.sum(dim=-1, keepdim=True).clamp(min=1e-300)
    return weights @ v, weights


@ATTENTION.misconception(
    "exp overflows, and a query that may attend to nothing gets NaN",
    fails=(
        "scaled_dot_product_attention_large",
        "scaled_dot_product_attention_nothing",
        "scaled_dot_product_attention_nothing_gradients",
    ),
    hints=(
        "You are right as long as scores are small and every query has a key. Else a row is NaN.",
        "exp was taken of the scores as they are, and large ones give inf / inf. Take away the largest score of each "
        "row first, or use torch.softmax. Besides, a row without a key is 0 / 0.",
        "Read what the task says about large scores and about a query that may attend to nothing.",
    ),
)
def scaled_dot_product_attention__overflow_nan(q, k, v, mask=None):
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    exps = scores.exp()
    weights = exps / exps.sum(dim=-1, keepdim=True)
    return weights @ v, weights


@ATTENTION.misconception(
    "exp overflows, and inf is then multiplied by the mask's 0",
    fails=(
        "scaled_dot_product_attention_large",
        "scaled_dot_product_attention_nothing",
        "scaled_dot_product_attention_nothing_gradients",
    ),
    hints=(
        "You are right as long as scores are small and every query has a key. Else a row is NaN.",
        "exp was taken of the scores as they are: large ones give inf, and inf times 0 is NaN even where the key is "
        "masked. Mask the scores first and take away the largest of each row, or use torch.softmax. Besides, a row "
        "without a key is 0 / 0.",
        "Read what the task says about large scores and about a query that may attend to nothing.",
    ),
)
def scaled_dot_product_attention__overflow_multiplied(q, k, v, mask=None):
    exps = (q @ k.mT / math.sqrt(q.shape[-1])).exp()
    if mask is not None:
        exps = exps * mask
    weights = exps / exps.sum(dim=-1, keepdim=True)
    return weights @ v, weights


@ATTENTION.misconception(
    "k.T turns all axes round, not only the last two",
    fails=ATTENTION.all_but("itself", "large"),
    hints=(
        "A single sequence is right. With a batch or heads in front, your product of queries and keys does not fit.",
        "k.T reverses all axes, and those of the batch and of the heads have to stay in front. k.mT, or "
        "k.transpose(-2, -1), exchanges the last two only.",
        "Read what the task says about the leading axes of q, k and v.",
    ),
)
def scaled_dot_product_attention__all_axes_turned(q, k, v, mask=None):
    scores = q @ k.permute(*reversed(range(k.ndim))) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = scores.softmax(dim=-1)
    else:
        weights = scores.masked_fill(~mask, -math.inf).softmax(dim=-1).masked_fill(~mask, 0)
    return weights @ v, weights


@ATTENTION.misconception(
    "The keys are averaged in place of the values",
    fails=ATTENTION.all_but(),
    hints=(
        "Your weights are right, but the output is as wide as the keys.",
        "The weights were multiplied with k. Keys say where to look; what is found there are the values.",
        "Read the equation: what do the weights multiply?",
    ),
)
def scaled_dot_product_attention__averages_keys(q, k, v, mask=None):
    weights = scaled_dot_product_attention(q, k, v, mask)[1]
    return weights @ k, weights


@ATTENTION.misconception(
    "Queries and keys are exchanged",
    fails=ATTENTION.all_but(),
    hints=(
        "Your weights have a row for every key. The rows belong to the queries.",
        "k @ q.mT was taken for q @ k.mT: then the keys ask and the queries are asked.",
        "Read the equation: which of the two is transposed?",
    ),
)
def scaled_dot_product_attention__roles_exchanged(q, k, v, mask=None):
    return scaled_dot_product_attention(k, q, v, mask)


@ATTENTION.misconception(
    "Queries and keys are brought to length 1",
    fails=ATTENTION.all_but("nothing", "nothing_gradients"),
    hints=(
        "Your weights do not depend on how long the vectors are: they are too even.",
        "That is cosine similarity. Here the dot product counts, and the length of a vector with it.",
        "Read the equation.",
    ),
)
def scaled_dot_product_attention__cosine(q, k, v, mask=None):
    root = math.sqrt(q.shape[-1])
    return scaled_dot_product_attention(F.normalize(q, dim=-1) * root, F.normalize(k, dim=-1), v, mask)


@ATTENTION.misconception(
    "Only the best key counts",
    fails=ATTENTION.all_but("nothing"),
    hints=(
        "Your weights are 0 and 1: the look-up is hard.",
        "The best key was picked. An argmax has no gradient; the softmax is there so that one can be learnt.",
        "Read the equation.",
    ),
)
def scaled_dot_product_attention__hard(q, k, v, mask=None):
    soft = scaled_dot_product_attention(q, k, v, mask)[1]
    weights = F.one_hot(soft.argmax(dim=-1), k.shape[-2]).to(v.dtype)
    if mask is not None:
        weights = weights * mask
    return weights @ v, weights


@ATTENTION.misconception(
    "A sigmoid for each pair in place of a softmax for each query",
    fails=ATTENTION.all_but(),
    hints=(
        "Your weights do not sum to 1.",
        "Each pair was judged alone. In a softmax the keys compete: more for one is less for the others.",
        "Read the equation.",
    ),
)
def scaled_dot_product_attention__sigmoid(q, k, v, mask=None):
    weights = (q @ k.mT / math.sqrt(q.shape[-1])).sigmoid()
    if mask is not None:
        weights = weights * mask
    return weights @ v, weights


@ATTENTION.misconception(
    "The scores are returned, not the weights",
    fails=ATTENTION.all_but("gradients", "nothing_gradients"),
    hints=(
        "Your output is right. What you return beside it does not sum to 1.",
        "The scores before the softmax were returned.",
        "Read what the task says about the second result.",
    ),
)
def scaled_dot_product_attention__returns_scores(q, k, v, mask=None):
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    return scaled_dot_product_attention(q, k, v, mask)[0], scores


@ATTENTION.misconception(
    "The weights are returned first",
    fails=ATTENTION.all_but(),
    hints=(
        "Both results are right, but they stand in the wrong order.",
        "Return the output first, then the weights.",
        "Read the two results in the task.",
    ),
)
def scaled_dot_product_attention__weights_first(q, k, v, mask=None):
    output, weights = scaled_dot_product_attention(q, k, v, mask)
    return weights, output


@ATTENTION.misconception(
    "Only the output is returned",
    fails=ATTENTION.all_but("gradients", "nothing_gradients"),
    hints=(
        "Your output is right, but it comes alone.",
        "The weights are asked for as well: they are what is drawn later.",
        "Read the two results in the task.",
    ),
)
def scaled_dot_product_attention__output_only(q, k, v, mask=None):
    return scaled_dot_product_attention(q, k, v, mask)[0]


# The same with a mask as most people write it first: NaN where a query may attend to nothing, or no trace of it.

_NAN = " Besides, a query that may attend to nothing gets NaN: wipe it out behind the softmax."


@ATTENTION.misconception(
    "The scores are not divided by the root of d_k; and NaN where nothing may be attended to",
    fails=ATTENTION.all_but(),
    hints=(
        "The right keys win, but by too much: your weights are too sharp.",
        "A sum of d_k products has a variance of d_k: divide it by the root." + _NAN,
        "Read the equation: what stands under the scores?",
    ),
)
def scaled_dot_product_attention__no_scale_nan(q, k, v, mask=None):
    scores = q @ k.mT
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    weights = scores.softmax(dim=-1)
    return weights @ v, weights


@ATTENTION.misconception(
    "The scores are not divided by the root of d_k; masked with a large finite negative",
    fails=ATTENTION.all_but(),
    hints=(
        "The right keys win, but by too much: your weights are too sharp.",
        "A sum of d_k products has a variance of d_k: divide it by the root.",
        "Read the equation: what stands under the scores?",
    ),
)
def scaled_dot_product_attention__no_scale_finite(q, k, v, mask=None):
    scores = q @ k.mT
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    weights = scores.softmax(dim=-1)
    return weights @ v, weights


@ATTENTION.misconception(
    "The scores are divided by d_k, not by its root; and NaN where nothing may be attended to",
    fails=ATTENTION.all_but(),
    hints=(
        "The right keys win, but by too little: your weights are too even.",
        "The spread of a sum of d_k products grows as the root of d_k." + _NAN,
        "Read the equation: what stands under the scores?",
    ),
)
def scaled_dot_product_attention__divided_by_d_k_nan(q, k, v, mask=None):
    scores = q @ k.mT / q.shape[-1]
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    weights = scores.softmax(dim=-1)
    return weights @ v, weights


@ATTENTION.misconception(
    "The scores are divided by d_k, not by its root; masked with a large finite negative",
    fails=ATTENTION.all_but(),
    hints=(
        "The right keys win, but by too little: your weights are too even.",
        "The spread of a sum of d_k products grows as the root of d_k.",
        "Read the equation: what stands under the scores?",
    ),
)
def scaled_dot_product_attention__divided_by_d_k_finite(q, k, v, mask=None):
    scores = q @ k.mT / q.shape[-1]
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    weights = scores.softmax(dim=-1)
    return weights @ v, weights


@ATTENTION.misconception(
    "The softmax runs over the queries; and NaN where nothing may be attended to",
    fails=ATTENTION.all_but(),
    hints=(
        "The columns of your weights sum to 1, not the rows.",
        "The softmax has the wrong axis: each query shares its attention out among the keys." + _NAN,
        "Read what the task says about the weights.",
    ),
)
def scaled_dot_product_attention__over_queries_nan(q, k, v, mask=None):
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    weights = scores.softmax(dim=-2)
    return weights @ v, weights


@ATTENTION.misconception(
    "The softmax runs over the queries; masked with a large finite negative",
    fails=ATTENTION.all_but(),
    hints=(
        "The columns of your weights sum to 1, not the rows.",
        "The softmax has the wrong axis: each query shares its attention out among the keys.",
        "Read what the task says about the weights.",
    ),
)
def scaled_dot_product_attention__over_queries_finite(q, k, v, mask=None):
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    weights = scores.softmax(dim=-2)
    return weights @ v, weights


@ATTENTION.misconception(
    "The mask is read the other way round; and NaN where nothing may be attended to",
    fails=ATTENTION.all_but("plain", "itself", "one"),
    hints=(
        "Without a mask you are right; with one your queries attend to exactly what they may not.",
        "True means may attend, here; masked_fill fills where its argument is True, so it wants ~mask." + _NAN,
        "Read what the task says about the mask.",
    ),
)
def scaled_dot_product_attention__polarity_nan(q, k, v, mask=None):
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(mask, -math.inf)
    weights = scores.softmax(dim=-1)
    return weights @ v, weights


@ATTENTION.misconception(
    "The mask is read the other way round; masked with a large finite negative",
    fails=ATTENTION.all_but("plain", "itself", "one"),
    hints=(
        "Without a mask you are right; with one your queries attend to exactly what they may not.",
        "True means may attend, here; masked_fill fills where its argument is True, so it wants ~mask.",
        "Read what the task says about the mask.",
    ),
)
def scaled_dot_product_attention__polarity_finite(q, k, v, mask=None):
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(mask, -1e9)
    weights = scores.softmax(dim=-1)
    return weights @ v, weights


@ATTENTION.misconception(
    "Nobody attends to itself; and NaN where nothing may be attended to",
    fails=ATTENTION.all_but(),
    hints=(
        "Your weights are zero on the diagonal.",
        "The pairs t = s were masked. Attention as it is used lets a step attend to itself." + _NAN,
        "Read what the task says about the case without a mask.",
    ),
)
def scaled_dot_product_attention__not_itself_nan(q, k, v, mask=None):
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    other = ~torch.eye(q.shape[-2], k.shape[-2], dtype=torch.bool)
    scores = scores.masked_fill(~other if mask is None else ~(mask & other), -math.inf)
    weights = scores.softmax(dim=-1)
    return weights @ v, weights


@ATTENTION.misconception(
    "Nobody attends to itself; masked with a large finite negative",
    fails=ATTENTION.all_but(),
    hints=(
        "Your weights are zero on the diagonal.",
        "The pairs t = s were masked. Attention as it is used lets a step attend to itself.",
        "Read what the task says about the case without a mask.",
    ),
)
def scaled_dot_product_attention__not_itself_finite(q, k, v, mask=None):
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    other = ~torch.eye(q.shape[-2], k.shape[-2], dtype=torch.bool)
    scores = scores.masked_fill(~other if mask is None else ~(mask & other), -1e9)
    weights = scores.softmax(dim=-1)
    return weights @ v, weights


@ATTENTION.misconception(
    "The mask is applied after the softmax, and a row may become 0 / 0",
    fails=(
        "scaled_dot_product_attention_large",
        "scaled_dot_product_attention_nothing",
        "scaled_dot_product_attention_nothing_gradients",
    ),
    hints=(
        "You are right as long as every query has a key and scores are small; else a row is NaN.",
        "If the masked keys took all of the softmax, or all keys are masked, nothing is left to renormalise. Mask the "
        "scores instead, and give zeros to a query that may attend to nothing.",
        "Read what the task says about large scores and about a query that may attend to nothing.",
    ),
)
def scaled_dot_product_attention__renormalised_nan(q, k, v, mask=None):
    weights = (q @ k.mT / math.sqrt(q.shape[-1])).softmax(dim=-1)
    if mask is not None:
        weights = weights * mask
        weights = weights / weights.sum(dim=-1, keepdim=True)
    return weights @ v, weights


# ---- 8.2 split_heads, merge_heads ----

HEADS = Exercise(
    number="8.2",
    references=(self_attention.split_heads, self_attention.merge_heads),
    probe_module=probes,
    points=3,
    minutes=15,
    difficulty=2,
    not_applicable={
        "interleaved in both functions at once": "an entry replaces one of the two functions; each half is listed by "
        "itself, and both together, inside multi_head_attention, in 8.3.",
    },
)


@HEADS.misconception(
    "split_heads: view without transpose",
    fails=HEADS.all_but("merge_several", "merge_extremes", "merge_untouched", "merge_gradients"),
    hints=(
        "The shape is right and the contents are not: your heads hold pieces of several steps.",
        "Reshaping keeps the order in memory, and there the features of a step lie side by side. Cut the width first, "
        "(B, T, N, K), then exchange the axes of time and heads.",
        "Read the equation of split_heads: which t stands on both sides?",
    ),
)
def split_heads__view(x, n_heads):
    B, T, D = x.shape
    return x.reshape(B, n_heads, T, D // n_heads)


@HEADS.misconception(
    "split_heads: the features of a head are interleaved",
    fails=("split_heads_several", "split_heads_untouched", "split_heads_gradients"),
    hints=(
        "Each head has the right steps, but it holds every N-th feature.",
        "The width was cut as (K, N): head 0 got features 0, N, 2N. A head is a block of neighbours: (N, K).",
        "Read the equation of split_heads: which feature is nK + k?",
    ),
)
def split_heads__interleaved(x, n_heads):
    B, T, D = x.shape
    return x.reshape(B, T, D // n_heads, n_heads).permute(0, 3, 1, 2)


@HEADS.misconception(
    "split_heads: the heads are joined with the batch",
    fails=HEADS.all_but("merge_several", "merge_extremes", "merge_untouched", "merge_gradients"),
    hints=(
        "Your result has three axes; heads and batch share one.",
        "(B·N, T, K) holds the right numbers, but nobody can tell a head from a row. Keep the two axes apart.",
        "Read the shape of the result.",
    ),
)
def split_heads__joined_with_batch(x, n_heads):
    return x.unflatten(-1, (n_heads, -1)).transpose(1, 2).flatten(0, 1)


@HEADS.misconception(
    "split_heads: the heads come before the batch",
    fails=HEADS.all_but("merge_several", "merge_extremes", "merge_untouched", "merge_gradients"),
    hints=(
        "Your result has the heads on its first axis.",
        "The blocks are right, but the batch comes first everywhere in this book.",
        "Read the shape of the result.",
    ),
)
def split_heads__heads_first(x, n_heads):
    return torch.stack(x.chunk(n_heads, dim=-1))


@HEADS.misconception(
    "split_heads: the heads stay behind time",
    fails=HEADS.all_but("merge_several", "merge_extremes", "merge_untouched", "merge_gradients"),
    hints=(
        "Your result is (B, T, N, K).",
        "The cut is right; the transpose is missing. Heads stand beside the batch, so that a matrix product acts "
        "on time and features.",
        "Read the shape of the result.",
    ),
)
def split_heads__heads_after_time(x, n_heads):
    B, T, D = x.shape
    return x.reshape(B, T, n_heads, D // n_heads)


@HEADS.misconception(
    "split_heads: n_heads is taken for the width of a head",
    fails=HEADS.all_but("merge_several", "merge_extremes", "merge_untouched", "merge_gradients"),
    hints=(
        "The number of your heads and their width are exchanged.",
        "There are n_heads heads, and each is D / n_heads wide.",
        "Read what the task says about n_heads.",
    ),
)
def split_heads__count_is_width(x, n_heads):
    B, T, D = x.shape
    return x.reshape(B, T, D // n_heads, n_heads).transpose(1, 2)


@HEADS.misconception(
    "split_heads: time and features of a head are exchanged",
    fails=HEADS.all_but("merge_several", "merge_extremes", "merge_untouched", "merge_gradients"),
    hints=(
        "Your result is (B, N, K, T).",
        "The keys are transposed later, inside the attention. Here every head is a sequence: time, then features.",
        "Read the shape of the result.",
    ),
)
def split_heads__features_before_time(x, n_heads):
    B, T, D = x.shape
    return x.reshape(B, T, n_heads, D // n_heads).permute(0, 2, 3, 1)


@HEADS.misconception(
    "split_heads: time is cut, not the width",
    fails=HEADS.all_but("merge_several", "merge_extremes", "merge_untouched", "merge_gradients"),
    hints=(
        "Your heads are as wide as x and shorter in time.",
        "Each head reads all steps and a part of the features: cut the last axis.",
        "Read the equation of split_heads: which index is split in two?",
    ),
)
def split_heads__time_cut(x, n_heads):
    B, T, D = x.shape
    return x.reshape(B, n_heads, T // n_heads, D)


@HEADS.misconception(
    "split_heads: every head gets all features",
    fails=HEADS.all_but("merge_several", "merge_extremes", "merge_untouched", "merge_gradients"),
    hints=(
        "All your heads are alike, and each is D wide.",
        "x was repeated for every head. The heads share the width out among them.",
        "Read what the task says about the width of a head.",
    ),
)
def split_heads__repeated(x, n_heads):
    return x[:, None].expand(-1, n_heads, -1, -1)


@HEADS.misconception(
    "merge_heads: reshape without transpose",
    fails=HEADS.all_but("several", "extremes", "untouched", "gradients"),
    hints=(
        "The shape is right and the contents are not: your steps hold pieces of one head from several steps.",
        "In memory all steps of the first head come before those of the second. Exchange the axes of heads and time "
        "before you join.",
        "Read the equation of merge_heads: which t stands on both sides?",
    ),
)
def merge_heads__view(x):
    B, N, T, K = x.shape
    return x.reshape(B, T, N * K)


@HEADS.misconception(
    "merge_heads: the features of the heads are interleaved",
    fails=("split_heads_merge_several", "split_heads_merge_untouched", "split_heads_merge_gradients"),
    hints=(
        "Each step has the right numbers, but feature by feature instead of head by head.",
        "The axes were joined as (K, N). The heads are to stand side by side: (N, K).",
        "Read the equation of merge_heads: where does feature k of head n go?",
    ),
)
def merge_heads__interleaved(x):
    return x.permute(0, 2, 3, 1).flatten(2)


@HEADS.misconception(
    "merge_heads: the mean of the heads",
    fails=HEADS.all_but("several", "extremes", "untouched", "gradients"),
    hints=(
        "Your result is as wide as one head.",
        "The heads were averaged: what one has found and another has not is blurred. Put them side by side.",
        "Read the shape of the result.",
    ),
)
def merge_heads__averaged(x):
    return x.mean(dim=1)


@HEADS.misconception(
    "merge_heads: the sum of the heads",
    fails=HEADS.all_but("several", "extremes", "untouched", "gradients"),
    hints=(
        "Your result is as wide as one head.",
        "The heads were added: afterwards nobody can tell what came from which. Put them side by side.",
        "Read the shape of the result.",
    ),
)
def merge_heads__summed(x):
    return x.sum(dim=1)


@HEADS.misconception(
    "merge_heads: the heads stand behind each other in time",
    fails=HEADS.all_but("several", "extremes", "untouched", "gradients"),
    hints=(
        "Your result is N·T steps long and as wide as one head.",
        "The heads were joined along time. They belong to the same steps: join them along the features.",
        "Read the shape of the result.",
    ),
)
def merge_heads__along_time(x):
    return x.flatten(1, 2)


@HEADS.misconception(
    "merge_heads: the axes are exchanged, but not joined",
    fails=HEADS.all_but("several", "extremes", "untouched", "gradients"),
    hints=(
        "Your result still has four axes.",
        "The transpose is right; the last two axes, (N, K), are still to become one.",
        "Read the shape of the result.",
    ),
)
def merge_heads__not_joined(x):
    return x.transpose(1, 2)


@HEADS.misconception(
    "merge_heads: the heads are joined with the batch",
    fails=HEADS.all_but("several", "extremes", "untouched", "gradients"),
    hints=(
        "Your result has more rows than the batch, each as wide as one head.",
        "Batch and heads became one axis. The heads belong into the width.",
        "Read the shape of the result.",
    ),
)
def merge_heads__joined_with_batch(x):
    return x.flatten(0, 1)


@HEADS.misconception(
    "merge_heads: the first axis is moved, not the second",
    fails=HEADS.all_but("several", "extremes", "untouched", "gradients"),
    hints=(
        "Your result puts the rows of the batch side by side.",
        "Axis 0 is the batch, axis 1 the heads. Here the batch was joined with the features.",
        "Read the shape of x.",
    ),
)
def merge_heads__batch_for_heads(x):
    return x.permute(1, 2, 0, 3).flatten(2)


# ---- 8.3 multi_head_attention ----

MULTI_HEAD = Exercise(
    number="8.3",
    references=(self_attention.multi_head_attention,),
    probe_module=probes,
    points=3,
    minutes=25,
    difficulty=3,
    uses=("scaled_dot_product_attention", "split_heads", "merge_heads"),
    forbidden=_LAYERS,
    equivalent={
        "k = split_heads(memory @ params.W_k.T, n_heads)": "b_k adds the same number q · b_k to all scores of a query, "
        "and a softmax does not see what is added to all.",
        "k = split_heads(memory @ params.W_k.T - params.b_k, n_heads)": "what b_k adds is the same for all keys, with "
        "either sign.",
    },
)


@MULTI_HEAD.misconception(
    "The output projection is missing",
    fails=MULTI_HEAD.all_but(),
    hints=(
        "Your weights are right. The output is what the heads have found, side by side.",
        "W_o and b_o are not used. Without them no head ever meets another.",
        "Read the second equation: what happens to the heads after they were joined?",
    ),
)
def multi_head_attention__no_output_projection(x, memory, params, n_heads, mask=None):
    q = split_heads(x @ params.W_q.T + params.b_q, n_heads)
    k = split_heads(memory @ params.W_k.T + params.b_k, n_heads)
    v = split_heads(memory @ params.W_v.T + params.b_v, n_heads)
    heads, weights = scaled_dot_product_attention(q, k, v, mask)
    return merge_heads(heads), weights


@MULTI_HEAD.misconception(
    "One matrix makes queries, keys and values",
    fails=MULTI_HEAD.all_but(),
    hints=(
        "W_k and W_v make no difference in your answer.",
        "The projection of the queries serves all three. What a step asks, offers and says are three things.",
        "Read the first equation: which matrix makes what?",
    ),
)
def multi_head_attention__one_projection(x, memory, params, n_heads, mask=None):
    q, k, v = (split_heads(a @ params.W_q.T + params.b_q, n_heads) for a in (x, memory, memory))
    heads, weights = scaled_dot_product_attention(q, k, v, mask)
    return merge_heads(heads) @ params.W_o.T + params.b_o, weights


@MULTI_HEAD.misconception(
    "The scores are divided by the root of the model's width",
    fails=MULTI_HEAD.all_but(),
    hints=(
        "With one head you are right; with more, your weights are too even.",
        "A score is a sum over the K features of one head, not over the D of the model.",
        "Read the equation of attention: d_k is the width of what it is given.",
    ),
)
def multi_head_attention__scaled_by_D(x, memory, params, n_heads, mask=None):
    q = split_heads(x @ params.W_q.T + params.b_q, n_heads) / math.sqrt(n_heads)
    k = split_heads(memory @ params.W_k.T + params.b_k, n_heads)
    v = split_heads(memory @ params.W_v.T + params.b_v, n_heads)
    heads, weights = scaled_dot_product_attention(q, k, v, mask)
    return merge_heads(heads) @ params.W_o.T + params.b_o, weights


@MULTI_HEAD.misconception(
    "The heads are averaged",
    fails=MULTI_HEAD.all_but(),
    hints=(
        "Your weights are right. In the output all heads say the same: their mean.",
        "What the heads have found was averaged. They stand side by side, each in its own features.",
        "Read the second equation: what does the sign between the heads mean?",
    ),
)
def multi_head_attention__heads_averaged(x, memory, params, n_heads, mask=None):
    q = split_heads(x @ params.W_q.T + params.b_q, n_heads)
    k = split_heads(memory @ params.W_k.T + params.b_k, n_heads)
    v = split_heads(memory @ params.W_v.T + params.b_v, n_heads)
    heads, weights = scaled_dot_product_attention(q, k, v, mask)
    return heads.mean(dim=1).repeat(1, 1, n_heads) @ params.W_o.T + params.b_o, weights


@MULTI_HEAD.misconception(
    "The weights are averaged over the heads before they are used",
    fails=MULTI_HEAD.all_but(),
    hints=(
        "With one head you are right; with more, all heads look at the same places.",
        "The weights were averaged over the heads and then applied to all values. Then one head would do.",
        "Read the second equation: whose weights does head n use?",
    ),
)
def multi_head_attention__weights_averaged(x, memory, params, n_heads, mask=None):
    q = split_heads(x @ params.W_q.T + params.b_q, n_heads)
    k = split_heads(memory @ params.W_k.T + params.b_k, n_heads)
    v = split_heads(memory @ params.W_v.T + params.b_v, n_heads)
    weights = scaled_dot_product_attention(q, k, v, mask)[1].mean(dim=1, keepdim=True)
    return merge_heads(weights @ v) @ params.W_o.T + params.b_o, weights.expand(-1, n_heads, -1, -1)


@MULTI_HEAD.misconception(
    "The mean of the heads' weights is returned",
    fails=MULTI_HEAD.all_but("gradients"),
    hints=(
        "Your output is right. The weights you return have no axis of heads.",
        "nn.MultiheadAttention averages them unless told otherwise. Here the weights of every head are asked for.",
        "Read what the task says about the second result.",
    ),
)
def multi_head_attention__returns_mean_weights(x, memory, params, n_heads, mask=None):
    q = split_heads(x @ params.W_q.T + params.b_q, n_heads)
    k = split_heads(memory @ params.W_k.T + params.b_k, n_heads)
    v = split_heads(memory @ params.W_v.T + params.b_v, n_heads)
    heads, weights = scaled_dot_product_attention(q, k, v, mask)
    return merge_heads(heads) @ params.W_o.T + params.b_o, weights.mean(dim=1)


@MULTI_HEAD.misconception(
    "Keys and values are exchanged",
    fails=MULTI_HEAD.all_but(),
    hints=(
        "Your queries are compared with the values, and the keys are what is averaged.",
        "k and v stand in each other's place, perhaps in the call. The order is q, k, v.",
        "Read the first equation: which matrix makes what?",
    ),
)
def multi_head_attention__k_and_v_exchanged(x, memory, params, n_heads, mask=None):
    q = split_heads(x @ params.W_q.T + params.b_q, n_heads)
    k = split_heads(memory @ params.W_k.T + params.b_k, n_heads)
    v = split_heads(memory @ params.W_v.T + params.b_v, n_heads)
    heads, weights = scaled_dot_product_attention(q, v, k, mask)
    return merge_heads(heads) @ params.W_o.T + params.b_o, weights


@MULTI_HEAD.misconception(
    "Queries and keys use each other's matrix",
    fails=MULTI_HEAD.all_but(),
    hints=(
        "Your values are right; the scores are made with the wrong matrices.",
        "W_k makes your queries and W_q your keys. In self-attention that turns every score round: who asks is asked.",
        "Read the first equation: which matrix makes what?",
    ),
)
def multi_head_attention__q_and_k_exchanged(x, memory, params, n_heads, mask=None):
    q = split_heads(x @ params.W_k.T + params.b_k, n_heads)
    k = split_heads(memory @ params.W_q.T + params.b_q, n_heads)
    v = split_heads(memory @ params.W_v.T + params.b_v, n_heads)
    heads, weights = scaled_dot_product_attention(q, k, v, mask)
    return merge_heads(heads) @ params.W_o.T + params.b_o, weights


@MULTI_HEAD.misconception(
    "The bias of the queries is missing",
    fails=MULTI_HEAD.all_but(),
    hints=(
        "Your values are right, your weights are a little off.",
        "b_q is not used. It matters: b_q · k is another number for every key. (Only b_k could be left out: it adds "
        "the same number to all scores of a query, and a softmax does not see that.)",
        "Read the first equation: three biases.",
    ),
)
def multi_head_attention__no_query_bias(x, memory, params, n_heads, mask=None):
    q = split_heads(x @ params.W_q.T, n_heads)
    k = split_heads(memory @ params.W_k.T + params.b_k, n_heads)
    v = split_heads(memory @ params.W_v.T + params.b_v, n_heads)
    heads, weights = scaled_dot_product_attention(q, k, v, mask)
    return merge_heads(heads) @ params.W_o.T + params.b_o, weights


@MULTI_HEAD.misconception(
    "The bias of the values is missing",
    fails=MULTI_HEAD.all_but(),
    hints=(
        "Your weights are right. All outputs are off by the same vector.",
        "b_v is not used. Weights sum to 1, so it reaches every output whole, through W_o.",
        "Read the first equation: three biases.",
    ),
)
def multi_head_attention__no_value_bias(x, memory, params, n_heads, mask=None):
    q = split_heads(x @ params.W_q.T + params.b_q, n_heads)
    k = split_heads(memory @ params.W_k.T + params.b_k, n_heads)
    v = split_heads(memory @ params.W_v.T, n_heads)
    heads, weights = scaled_dot_product_attention(q, k, v, mask)
    return merge_heads(heads) @ params.W_o.T + params.b_o, weights


@MULTI_HEAD.misconception(
    "The bias of the output is missing",
    fails=MULTI_HEAD.all_but(),
    hints=(
        "Your weights are right. All outputs are off by the same vector.",
        "b_o is not used.",
        "Read the second equation: what is added in the end?",
    ),
)
def multi_head_attention__no_output_bias(x, memory, params, n_heads, mask=None):
    q = split_heads(x @ params.W_q.T + params.b_q, n_heads)
    k = split_heads(memory @ params.W_k.T + params.b_k, n_heads)
    v = split_heads(memory @ params.W_v.T + params.b_v, n_heads)
    heads, weights = scaled_dot_product_attention(q, k, v, mask)
    return merge_heads(heads) @ params.W_o.T, weights


@MULTI_HEAD.misconception(
    "No bias is used at all",
    fails=MULTI_HEAD.all_but(),
    hints=(
        "The four biases make no difference in your answer.",
        "The matrices are all there; add b_q, b_v and b_o as well. (b_k alone could be left out.)",
        "Read both equations: what is added where?",
    ),
)
def multi_head_attention__no_biases(x, memory, params, n_heads, mask=None):
    q = split_heads(x @ params.W_q.T, n_heads)
    k, v = split_heads(memory @ params.W_k.T, n_heads), split_heads(memory @ params.W_v.T, n_heads)
    heads, weights = scaled_dot_product_attention(q, k, v, mask)
    return merge_heads(heads) @ params.W_o.T, weights


@MULTI_HEAD.misconception(
    "The matrices are not transposed",
    fails=MULTI_HEAD.all_but(),
    hints=(
        "All shapes fit, because the matrices are square, and nothing is right.",
        "The rows of W belong to the outputs, as torch stores them: a row of x is multiplied by W.T.",
        "Read both equations: which sign do the matrices carry?",
    ),
)
def multi_head_attention__not_transposed(x, memory, params, n_heads, mask=None):
    q = split_heads(x @ params.W_q + params.b_q, n_heads)
    k = split_heads(memory @ params.W_k + params.b_k, n_heads)
    v = split_heads(memory @ params.W_v + params.b_v, n_heads)
    heads, weights = scaled_dot_product_attention(q, k, v, mask)
    return merge_heads(heads) @ params.W_o + params.b_o, weights


@MULTI_HEAD.misconception(
    "The memory is not asked",
    fails=MULTI_HEAD.all_but("itself", "extremes", "causal"),
    hints=(
        "Self-attention is right. What another sequence holds makes no difference.",
        "Keys and values come from x. They are what is asked: they come from memory.",
        "Read the first equation: where does M stand?",
    ),
)
def multi_head_attention__memory_ignored(x, memory, params, n_heads, mask=None):
    q = split_heads(x @ params.W_q.T + params.b_q, n_heads)
    k = split_heads(x @ params.W_k.T + params.b_k, n_heads)
    v = split_heads(x @ params.W_v.T + params.b_v, n_heads)
    heads, weights = scaled_dot_product_attention(q, k, v, mask)
    return merge_heads(heads) @ params.W_o.T + params.b_o, weights


@MULTI_HEAD.misconception(
    "x and memory are exchanged",
    fails=MULTI_HEAD.all_but("itself", "extremes", "causal"),
    hints=(
        "Self-attention is right. With another sequence your output has the length of the memory.",
        "The queries come from memory, keys and values from x. It is x that asks.",
        "Read the first equation: where does M stand?",
    ),
)
def multi_head_attention__memory_asks(x, memory, params, n_heads, mask=None):
    q = split_heads(memory @ params.W_q.T + params.b_q, n_heads)
    k = split_heads(x @ params.W_k.T + params.b_k, n_heads)
    v = split_heads(x @ params.W_v.T + params.b_v, n_heads)
    heads, weights = scaled_dot_product_attention(q, k, v, mask)
    return merge_heads(heads) @ params.W_o.T + params.b_o, weights


@MULTI_HEAD.misconception(
    "The values come from x",
    fails=MULTI_HEAD.all_but("itself", "extremes", "causal"),
    hints=(
        "Self-attention is right. With another sequence the keys are the memory's, but the values are not.",
        "Keys and values belong together: both come from what is asked.",
        "Read the first equation: where does M stand?",
    ),
)
def multi_head_attention__values_from_x(x, memory, params, n_heads, mask=None):
    q = split_heads(x @ params.W_q.T + params.b_q, n_heads)
    k = split_heads(memory @ params.W_k.T + params.b_k, n_heads)
    v = split_heads(x @ params.W_v.T + params.b_v, n_heads)
    heads, weights = scaled_dot_product_attention(q, k, v, mask)
    return merge_heads(heads) @ params.W_o.T + params.b_o, weights


@MULTI_HEAD.misconception(
    "The values are not projected",
    fails=MULTI_HEAD.all_but(),
    hints=(
        "Your weights are right; W_v and b_v make no difference.",
        "The memory itself was split into heads and averaged. What is taken away from a step is its value.",
        "Read the first equation: what makes V?",
    ),
)
def multi_head_attention__values_raw(x, memory, params, n_heads, mask=None):
    q = split_heads(x @ params.W_q.T + params.b_q, n_heads)
    k = split_heads(memory @ params.W_k.T + params.b_k, n_heads)
    heads, weights = scaled_dot_product_attention(q, k, split_heads(memory, n_heads), mask)
    return merge_heads(heads) @ params.W_o.T + params.b_o, weights


@MULTI_HEAD.misconception(
    "The heads are split and joined without a transpose",
    fails=MULTI_HEAD.all_but(),
    hints=(
        "With one head you are right; with more, steps are mixed up inside the heads.",
        "The split was a mere reshape: a head then holds pieces of several steps. Use split_heads and merge_heads.",
        "Read exercise 8.2 again.",
    ),
)
def multi_head_attention__split_by_view(x, memory, params, n_heads, mask=None):
    B, T, D = x.shape
    q = (x @ params.W_q.T + params.b_q).reshape(B, n_heads, T, -1)
    k = (memory @ params.W_k.T + params.b_k).reshape(B, n_heads, memory.shape[1], -1)
    v = (memory @ params.W_v.T + params.b_v).reshape(B, n_heads, memory.shape[1], -1)
    heads, weights = scaled_dot_product_attention(q, k, v, mask)
    return heads.reshape(B, T, D) @ params.W_o.T + params.b_o, weights


@MULTI_HEAD.misconception(
    "The heads are joined without a transpose",
    fails=MULTI_HEAD.all_but(),
    hints=(
        "Your weights are right. The output mixes the steps up.",
        "What the heads have found is (B, N, T, K); a mere reshape puts steps side by side, not heads.",
        "Read exercise 8.2 again: merge_heads.",
    ),
)
def multi_head_attention__joined_by_view(x, memory, params, n_heads, mask=None):
    q = split_heads(x @ params.W_q.T + params.b_q, n_heads)
    k = split_heads(memory @ params.W_k.T + params.b_k, n_heads)
    v = split_heads(memory @ params.W_v.T + params.b_v, n_heads)
    heads, weights = scaled_dot_product_attention(q, k, v, mask)
    return heads.reshape(x.shape) @ params.W_o.T + params.b_o, weights


@MULTI_HEAD.misconception(
    "There is only one head",
    fails=MULTI_HEAD.all_but(),
    hints=(
        "Your weights have no axis of heads: all features look at the same places.",
        "The projections were not split: one head as wide as the model.",
        "Read the second equation: what does head n read?",
    ),
)
def multi_head_attention__one_head(x, memory, params, n_heads, mask=None):
    q, k, v = x @ params.W_q.T + params.b_q, memory @ params.W_k.T + params.b_k, memory @ params.W_v.T + params.b_v
    head, weights = scaled_dot_product_attention(q, k, v, mask)
    return head @ params.W_o.T + params.b_o, weights


@MULTI_HEAD.misconception(
    "n_heads is not used: one head as wide as the model",
    fails=MULTI_HEAD.all_but(),
    hints=(
        "With one head you are right. With more, your weights still have a single head.",
        "The argument n_heads is never read, or a 1 stands in its place: all features look at the same places.",
        "Read what the task says about n_heads and about the shape of the weights.",
    ),
)
def multi_head_attention__n_heads_ignored(x, memory, params, n_heads, mask=None):
    q = split_heads(x @ params.W_q.T + params.b_q, 1)
    k = split_heads(memory @ params.W_k.T + params.b_k, 1)
    v = split_heads(memory @ params.W_v.T + params.b_v, 1)
    heads, weights = scaled_dot_product_attention(q, k, v, mask)
    return merge_heads(heads) @ params.W_o.T + params.b_o, weights


@MULTI_HEAD.misconception(
    "The features of the heads are interleaved, in the split and in the join",
    fails=MULTI_HEAD.all_but("extremes"),
    hints=(
        "With one head you are right; with more, each head holds every N-th feature.",
        "The width was cut as (K, N) and joined so again. That fits together, but not with the matrices: a head is a "
        "block of K neighbouring features, (N, K).",
        "Read what the task says about the n-th blocks.",
    ),
)
def multi_head_attention__interleaved(x, memory, params, n_heads, mask=None):
    q = (x @ params.W_q.T + params.b_q).unflatten(-1, (-1, n_heads)).permute(0, 3, 1, 2)
    k = (memory @ params.W_k.T + params.b_k).unflatten(-1, (-1, n_heads)).permute(0, 3, 1, 2)
    v = (memory @ params.W_v.T + params.b_v).unflatten(-1, (-1, n_heads)).permute(0, 3, 1, 2)
    heads, weights = scaled_dot_product_attention(q, k, v, mask)
    return heads.permute(0, 2, 3, 1).flatten(2) @ params.W_o.T + params.b_o, weights


@MULTI_HEAD.misconception(
    "The inputs are split into heads before they are projected",
    fails=MULTI_HEAD.all_but(),
    hints=(
        "With one head you are right; with more, a head reads only its own block of the inputs.",
        "Each head used its block of x and the block of the matrix that fits it. A head projects the whole of x: "
        "project first, then split.",
        "Read both equations: what is cut into blocks?",
    ),
)
def multi_head_attention__split_first(x, memory, params, n_heads, mask=None):
    K = x.shape[-1] // n_heads
    q, k, v = [], [], []
    for n in range(n_heads):
        block = slice(n * K, (n + 1) * K)
        q.append(x[..., block] @ params.W_q[block, block].T + params.b_q[block])
        k.append(memory[..., block] @ params.W_k[block, block].T + params.b_k[block])
        v.append(memory[..., block] @ params.W_v[block, block].T + params.b_v[block])
    q, k, v = (torch.stack(heads, dim=1) for heads in (q, k, v))
    heads, weights = scaled_dot_product_attention(q, k, v, mask)
    return merge_heads(heads) @ params.W_o.T + params.b_o, weights


@MULTI_HEAD.misconception(
    "The mask is not used",
    fails=MULTI_HEAD.all_but("itself", "memory", "extremes", "gradients"),
    hints=(
        "Without a mask you are right; with one it makes no difference.",
        "The mask is not handed on to the attention.",
        "Read what the task says about the mask.",
    ),
)
def multi_head_attention__mask_ignored(x, memory, params, n_heads, mask=None):
    q = split_heads(x @ params.W_q.T + params.b_q, n_heads)
    k = split_heads(memory @ params.W_k.T + params.b_k, n_heads)
    v = split_heads(memory @ params.W_v.T + params.b_v, n_heads)
    heads, weights = scaled_dot_product_attention(q, k, v)
    return merge_heads(heads) @ params.W_o.T + params.b_o, weights


@MULTI_HEAD.misconception(
    "The mask is turned into its opposite",
    fails=MULTI_HEAD.all_but("itself", "memory", "extremes", "gradients"),
    hints=(
        "Without a mask you are right; with one, steps attend to exactly what they may not.",
        "True means may attend, here and in scaled_dot_product_attention. In nn.MultiheadAttention it means may not.",
        "Read what the task says about the mask.",
    ),
)
def multi_head_attention__polarity(x, memory, params, n_heads, mask=None):
    q = split_heads(x @ params.W_q.T + params.b_q, n_heads)
    k = split_heads(memory @ params.W_k.T + params.b_k, n_heads)
    v = split_heads(memory @ params.W_v.T + params.b_v, n_heads)
    heads, weights = scaled_dot_product_attention(q, k, v, None if mask is None else ~mask)
    return merge_heads(heads) @ params.W_o.T + params.b_o, weights


@MULTI_HEAD.misconception(
    "The input is added to the output",
    fails=MULTI_HEAD.all_but(),
    hints=(
        "Your weights are right. Your output is the attention's plus x.",
        "That is a residual connection, which the layer around it adds. Here the attention stands alone.",
        "Read the second equation.",
    ),
)
def multi_head_attention__residual(x, memory, params, n_heads, mask=None):
    q = split_heads(x @ params.W_q.T + params.b_q, n_heads)
    k = split_heads(memory @ params.W_k.T + params.b_k, n_heads)
    v = split_heads(memory @ params.W_v.T + params.b_v, n_heads)
    heads, weights = scaled_dot_product_attention(q, k, v, mask)
    return x + merge_heads(heads) @ params.W_o.T + params.b_o, weights


@MULTI_HEAD.misconception(
    "Only the output is returned",
    fails=MULTI_HEAD.all_but("gradients"),
    hints=(
        "Your output is right, but it comes alone.",
        "The weights of every head are asked for as well.",
        "Read the two results in the task.",
    ),
)
def multi_head_attention__output_only(x, memory, params, n_heads, mask=None):
    q = split_heads(x @ params.W_q.T + params.b_q, n_heads)
    k = split_heads(memory @ params.W_k.T + params.b_k, n_heads)
    v = split_heads(memory @ params.W_v.T + params.b_v, n_heads)
    return merge_heads(scaled_dot_product_attention(q, k, v, mask)[0]) @ params.W_o.T + params.b_o


# ---- 8.4 causal_mask ----

CAUSAL_MASK = Exercise(
    number="8.4",
    references=(masks.causal_mask,),
    probe_module=probes,
    points=1,
    minutes=5,
    difficulty=1,
)


@CAUSAL_MASK.misconception(
    "The mask reaches one step too far",
    fails=CAUSAL_MASK.all_but("one"),
    hints=(
        "Your mask has one diagonal too many.",
        "Step t may see t + 1: that is the token it is to predict. A model trained with it has nothing to learn.",
        "Read the equation: may j be larger than t?",
    ),
)
def causal_mask__one_too_far(T):
    return torch.ones(T, T, dtype=torch.bool).tril(diagonal=1)


@CAUSAL_MASK.misconception(
    "A step may not attend to itself",
    fails=CAUSAL_MASK.all_but(),
    hints=(
        "Your mask has no diagonal, and its first row is empty.",
        "Step t has read its own token; what it predicts is the next one. Without the diagonal the first step has "
        "nothing to attend to.",
        "Read the equation: may j be t?",
    ),
)
def causal_mask__excludes_itself(T):
    return torch.ones(T, T, dtype=torch.bool).tril(diagonal=-1)


@CAUSAL_MASK.misconception(
    "The upper triangle, with the diagonal",
    fails=CAUSAL_MASK.all_but("one"),
    hints=(
        "Your steps see themselves and everything that comes later.",
        "Rows and columns are exchanged: the row belongs to the one that asks.",
        "Read what the task says about rows and columns.",
    ),
)
def causal_mask__upper(T):
    return torch.ones(T, T, dtype=torch.bool).triu()


@CAUSAL_MASK.misconception(
    "True where a step may not attend",
    fails=CAUSAL_MASK.all_but(),
    hints=(
        "Your mask is the exact opposite.",
        "You mark what is forbidden, as nn.MultiheadAttention does. Here True means may attend.",
        "Read what True means in the task.",
    ),
)
def causal_mask__polarity(T):
    return torch.ones(T, T, dtype=torch.bool).triu(diagonal=1)


@CAUSAL_MASK.misconception(
    "Zeros and ones instead of a boolean mask",
    fails=CAUSAL_MASK.all_but(),
    hints=(
        "The triangle is right, but it holds numbers.",
        "torch.ones makes floats. ~mask, masked_fill and torch.where want True and False.",
        "Read what the task says about the dtype.",
    ),
)
def causal_mask__numbers(T):
    return torch.ones(T, T).tril()


@CAUSAL_MASK.misconception(
    "A mask to be added: 0 and -inf",
    fails=CAUSAL_MASK.all_but(),
    hints=(
        "Your mask holds 0 and -inf, as torch's own helper makes it.",
        "Such a mask is added to the scores. In this book masks are boolean, and True means may attend.",
        "Read what the task says about the dtype.",
    ),
)
def causal_mask__additive(T):
    return torch.full((T, T), -math.inf).triu(diagonal=1)


@CAUSAL_MASK.misconception(
    "Everybody may attend to everybody",
    fails=CAUSAL_MASK.all_but("one"),
    hints=(
        "Your mask is True everywhere.",
        "Nothing was cut off: the first step sees the last.",
        "Read the equation.",
    ),
)
def causal_mask__all(T):
    return torch.ones(T, T, dtype=torch.bool)


@CAUSAL_MASK.misconception(
    "Everybody may attend only to itself",
    fails=CAUSAL_MASK.all_but("one"),
    hints=(
        "Your mask is the diagonal alone.",
        "j ≤ t became j = t: without the past there is no context.",
        "Read the equation.",
    ),
)
def causal_mask__diagonal(T):
    return torch.eye(T, dtype=torch.bool)


@CAUSAL_MASK.misconception(
    "The triangle hangs from the other corner",
    fails=CAUSAL_MASK.all_but("one"),
    hints=(
        "Your first row may attend to one step, and it is the last one.",
        "The mask was flipped from left to right: columns count from the first step on.",
        "Read the example in the task.",
    ),
)
def causal_mask__flipped(T):
    return torch.ones(T, T, dtype=torch.bool).tril().flip(1)


@CAUSAL_MASK.misconception(
    "Only one row: the steps that the last one may see",
    fails=CAUSAL_MASK.all_but(),
    hints=(
        "Your mask has one axis.",
        "Every step asks, so every step has a row of its own.",
        "Read the shape of the result.",
    ),
)
def causal_mask__one_row(T):
    return torch.arange(T) < T


# ---- 8.5 flops ----

FLOPS = Exercise(
    number="8.5",
    references=(costs.flops,),
    probe_module=probes,
    points=2,
    minutes=15,
    difficulty=2,
)


@FLOPS.convention(
    "multiply-adds are counted, as some tables do, which gives half of the FLOPs. The equation of the task counts a "
    "multiplication and an addition as two; both are accepted"
)
def flops__multiply_adds(kind, L, d, k):
    step = L * d * d
    recurrent = {"rnn": 2, "gru": 6, "lstm": 8, "convolution": k}
    if kind in recurrent:
        return recurrent[kind] * step
    return 2 * L * L * d + (4 * step if kind == "attention+projections" else 0)


@FLOPS.misconception(
    "The core of attention includes the projections",
    fails=("flops_attention",),
    hints=(
        '"attention" and "attention+projections" cost the same in your answer.',
        "The four matrices were counted in both. The core is the scores and the weighted sums alone.",
        "Read what the task says about the two kinds of attention.",
    ),
)
def flops__projections_in_core(kind, L, d, k):
    counts = {"convolution": 2 * k * L * d**2, "rnn": 4 * L * d**2, "gru": 12 * L * d**2, "lstm": 16 * L * d**2}
    return counts.get(kind, 4 * L**2 * d + 8 * L * d**2)


@FLOPS.misconception(
    "The projections are left out",
    fails=("flops_projections",),
    hints=(
        '"attention" and "attention+projections" cost the same in your answer.',
        "The four (d, d) matrices were not counted: each multiplies L vectors.",
        "Read what the task says about the two kinds of attention.",
    ),
)
def flops__no_projections(kind, L, d, k):
    counts = {"convolution": 2 * k * L * d**2, "rnn": 4 * L * d**2, "gru": 12 * L * d**2, "lstm": 16 * L * d**2}
    return counts.get(kind, 4 * L**2 * d)


@FLOPS.misconception(
    "The projections alone, without the core",
    fails=("flops_projections",),
    hints=(
        "With projections your attention no longer depends on the square of the length.",
        "The four matrices were counted in place of the core, not beside it.",
        "Read what the task says about the two kinds of attention.",
    ),
)
def flops__projections_alone(kind, L, d, k):
    counts = {"convolution": 2 * k, "rnn": 4, "gru": 12, "lstm": 16, "attention+projections": 8}
    return 4 * L**2 * d if kind == "attention" else counts[kind] * L * d**2


@FLOPS.misconception(
    "Three projections instead of four",
    fails=("flops_projections",),
    hints=(
        "Your attention with projections is a little too cheap.",
        "Queries, keys and values have a matrix each; so has the output.",
        "Read what the task says about the four matrices.",
    ),
)
def flops__three_projections(kind, L, d, k):
    counts = {"convolution": 2 * k, "rnn": 4, "gru": 12, "lstm": 16, "attention": 0, "attention+projections": 6}
    return counts[kind] * L * d**2 + ("attention" in kind) * 4 * L**2 * d


@FLOPS.misconception(
    "The core of attention grows with the square of the width",
    fails=("flops_attention", "flops_projections"),
    hints=(
        "In your answer a sequence twice as long costs attention twice as much.",
        "Every one of L queries meets every one of L keys: the square is on the length. 4·L·d² is what a recurrent "
        "layer costs.",
        "Read the equation: what are n, m and p in the product of queries and keys?",
    ),
)
def flops__square_of_the_width(kind, L, d, k):
    counts = {"convolution": 2 * k, "rnn": 4, "gru": 12, "lstm": 16, "attention": 4, "attention+projections": 12}
    return counts[kind] * L * d**2


@FLOPS.misconception(
    "The core of attention is one product, not two",
    fails=("flops_attention", "flops_projections"),
    hints=(
        "The core of your attention is too cheap by half.",
        "The scores were counted, the weighted sums of the values were not (or the other way round): both cost "
        "the same.",
        'Read what the task says about "attention".',
    ),
)
def flops__scores_only(kind, L, d, k):
    counts = {"convolution": 2 * k, "rnn": 4, "gru": 12, "lstm": 16, "attention": 0, "attention+projections": 8}
    return counts[kind] * L * d**2 + ("attention" in kind) * 2 * L**2 * d


@FLOPS.misconception(
    'The core is counted by half in "attention", and in full in "attention+projections"',
    fails=("flops_attention",),
    hints=(
        'Take the projections away from your "attention+projections": what is left is twice your "attention".',
        "The core is two products, scores and weighted sums, with 2 operations for each term: 4·L²·d in both kinds. "
        "One product or one factor 2 is missing in the first.",
        'Read what the task says about "attention", and the equation.',
    ),
)
def flops__core_halved(kind, L, d, k):
    counts = {"convolution": 2 * k, "rnn": 4, "gru": 12, "lstm": 16, "attention": 0, "attention+projections": 8}
    pairs = {"attention": 2, "attention+projections": 4}
    return counts[kind] * L * d**2 + pairs.get(kind, 0) * L**2 * d


@FLOPS.misconception(
    "The core of attention does not depend on the width",
    fails=("flops_attention", "flops_projections"),
    hints=(
        "In your answer wider vectors cost the core of attention nothing.",
        "L² scores there are, but each is a sum of d products.",
        "Read the equation: what are n, m and p in the product of queries and keys?",
    ),
)
def flops__width_forgotten(kind, L, d, k):
    counts = {"convolution": 2 * k, "rnn": 4, "gru": 12, "lstm": 16, "attention": 0, "attention+projections": 8}
    return counts[kind] * L * d**2 + ("attention" in kind) * 4 * L**2


@FLOPS.misconception(
    "The width of the kernel is forgotten",
    fails=("flops_convolution",),
    hints=(
        "In your answer a wider kernel costs nothing.",
        "At every step the kernel has a (d, d) matrix for each of the k steps it covers.",
        "Read what the task says about k.",
    ),
)
def flops__kernel_forgotten(kind, L, d, k):
    counts = {"convolution": 2, "rnn": 4, "gru": 12, "lstm": 16, "attention": 0, "attention+projections": 8}
    return counts[kind] * L * d**2 + ("attention" in kind) * 4 * L**2 * d


@FLOPS.misconception(
    "The kernel is taken for a square",
    fails=("flops_convolution",),
    hints=(
        "Your convolution costs k times too much.",
        "k² belongs to images. Along time a kernel covers k steps.",
        "Read what the task says about k.",
    ),
)
def flops__kernel_squared(kind, L, d, k):
    counts = {"convolution": 2 * k**2, "rnn": 4, "gru": 12, "lstm": 16, "attention": 0, "attention+projections": 8}
    return counts[kind] * L * d**2 + ("attention" in kind) * 4 * L**2 * d


@FLOPS.misconception(
    "Each feature is convolved alone",
    fails=("flops_convolution",),
    hints=(
        "In your answer the convolution grows with the width, not with its square.",
        "One number per feature and step of the kernel was counted. Every output reads all d features of k steps.",
        "Read the equation: what are n, m and p at one step of the kernel?",
    ),
)
def flops__depthwise(kind, L, d, k):
    counts = {"rnn": 4, "gru": 12, "lstm": 16, "attention": 0, "attention+projections": 8}
    if kind == "convolution":
        return 2 * k * L * d
    return counts[kind] * L * d**2 + ("attention" in kind) * 4 * L**2 * d


@FLOPS.misconception(
    "The convolution is counted only where the kernel fits whole",
    fails=("flops_convolution",),
    hints=(
        "Your convolution is a little too cheap: it has fewer outputs than steps.",
        "L - k + 1 places were counted. Here there is an output at every step, as in chapter 1.",
        "Read what the task says about the convolution.",
    ),
)
def flops__valid_convolution(kind, L, d, k):
    counts = {"rnn": 4, "gru": 12, "lstm": 16, "attention": 0, "attention+projections": 8}
    if kind == "convolution":
        return 2 * k * (L - k + 1) * d**2
    return counts[kind] * L * d**2 + ("attention" in kind) * 4 * L**2 * d


@FLOPS.misconception(
    "The LSTM has one matrix per block instead of two",
    fails=("flops_lstm",),
    hints=(
        "Your LSTM is too cheap by half.",
        "4·d² per step counts four blocks that read either the input or the old state. Each reads both.",
        'Read what the task says about "lstm".',
    ),
)
def flops__lstm_one_matrix(kind, L, d, k):
    counts = {"convolution": 2 * k, "rnn": 4, "gru": 12, "lstm": 8, "attention": 0, "attention+projections": 8}
    return counts[kind] * L * d**2 + ("attention" in kind) * 4 * L**2 * d


@FLOPS.misconception(
    "Recurrent layers read the input or the old state, not both",
    fails=("flops_rnn", "flops_gru", "flops_lstm"),
    hints=(
        "All your recurrent layers are too cheap by half.",
        "Each block has two (d, d) matrices: one for the input, one for the old state.",
        'Read what the task says about "rnn".',
    ),
)
def flops__one_matrix(kind, L, d, k):
    counts = {"convolution": 2 * k, "rnn": 2, "gru": 6, "lstm": 8, "attention": 0, "attention+projections": 8}
    return counts[kind] * L * d**2 + ("attention" in kind) * 4 * L**2 * d


@FLOPS.misconception(
    "The plain recurrent layer reads only one of two",
    fails=("flops_rnn",),
    hints=(
        "Your plain recurrent layer is too cheap by half.",
        "It has two (d, d) matrices: one for the input, one for the old state.",
        'Read what the task says about "rnn".',
    ),
)
def flops__rnn_one_matrix(kind, L, d, k):
    counts = {"convolution": 2 * k, "rnn": 2, "gru": 12, "lstm": 16, "attention": 0, "attention+projections": 8}
    return counts[kind] * L * d**2 + ("attention" in kind) * 4 * L**2 * d


@FLOPS.misconception(
    "The LSTM has three blocks instead of four",
    fails=("flops_lstm",),
    hints=(
        "Your LSTM costs as much as your GRU.",
        "Three gates, and the new content beside them: four blocks.",
        'Read what the task says about "lstm".',
    ),
)
def flops__lstm_three_blocks(kind, L, d, k):
    counts = {"convolution": 2 * k, "rnn": 4, "gru": 12, "lstm": 12, "attention": 0, "attention+projections": 8}
    return counts[kind] * L * d**2 + ("attention" in kind) * 4 * L**2 * d


@FLOPS.misconception(
    "The GRU has two blocks instead of three",
    fails=("flops_gru",),
    hints=(
        "Your GRU is too cheap by a third.",
        "Two gates, and the candidate beside them: three blocks.",
        'Read what the task says about "gru".',
    ),
)
def flops__gru_two_blocks(kind, L, d, k):
    counts = {"convolution": 2 * k, "rnn": 4, "gru": 8, "lstm": 16, "attention": 0, "attention+projections": 8}
    return counts[kind] * L * d**2 + ("attention" in kind) * 4 * L**2 * d


@FLOPS.misconception(
    "Recurrent layers are counted for one step",
    fails=("flops_rnn", "flops_gru", "flops_lstm"),
    hints=(
        "In your answer a longer sequence costs a recurrent layer nothing.",
        "One step was counted; there are L of them.",
        "Read the first line of the task: a layer that reads one sequence.",
    ),
)
def flops__one_step(kind, L, d, k):
    counts = {"rnn": 4, "gru": 12, "lstm": 16}
    if kind in counts:
        return counts[kind] * d**2
    return 2 * k * L * d**2 if kind == "convolution" else 4 * L**2 * d + ("+" in kind) * 8 * L * d**2


@FLOPS.misconception(
    "Length and width are exchanged",
    fails=FLOPS.all_but(),
    hints=(
        "Your numbers are right where length and width are equal, and nowhere else.",
        "L and d have changed places, everywhere.",
        "Read what the task says about L and d.",
    ),
)
def flops__L_and_d_exchanged(kind, L, d, k):
    counts = {"convolution": 2 * k, "rnn": 4, "gru": 12, "lstm": 16, "attention": 0, "attention+projections": 8}
    return counts[kind] * d * L**2 + ("attention" in kind) * 4 * d**2 * L


# ---- 8.6 permutation_gap ----

PERMUTATION_GAP = Exercise(
    number="8.6",
    references=(self_attention.permutation_gap,),
    probe_module=probes,
    points=2,
    minutes=10,
    difficulty=2,
)


@PERMUTATION_GAP.convention(
    "step t is sent to place perm[t], on both sides, where the task takes step perm[t] for place t. That is the "
    "inverse permutation: the gap is another number, but zero for the same layers"
)
def permutation_gap__inverse_on_both_sides(f, x, perm):
    inverse = perm.argsort()
    return (f(x[:, inverse]) - f(x)[:, inverse]).abs().max()


@PERMUTATION_GAP.misconception(
    "The features are permuted, not the steps",
    fails=PERMUTATION_GAP.all_but(),
    hints=(
        "Your permutation moves features: every step keeps its place.",
        "x[..., perm] indexes the last axis. Time is axis 1: x[:, perm].",
        "Read the equation: on which index does the permutation act?",
    ),
)
def permutation_gap__features(f, x, perm):
    return (f(x[..., perm]) - f(x)[..., perm]).abs().max()


@PERMUTATION_GAP.misconception(
    "The rows of the batch are permuted, not the steps",
    fails=PERMUTATION_GAP.all_but(),
    hints=(
        "Your permutation moves whole sequences.",
        "x[perm] indexes the batch. Time is axis 1: x[:, perm].",
        "Read the equation: on which index does the permutation act?",
    ),
)
def permutation_gap__batch(f, x, perm):
    return (f(x[perm]) - f(x)[perm]).abs().max()


@PERMUTATION_GAP.misconception(
    "The output is permuted the other way round",
    fails=PERMUTATION_GAP.all_but(),
    hints=(
        "An equivariant layer should have no gap, and in your answer it has one.",
        "The inputs were permuted, and the outputs by the inverse. (Perhaps perm was applied once more to undo it: "
        "that undoes a swap, but not a ring of three.)",
        "Read the equation: the same P stands on both sides.",
    ),
)
def permutation_gap__inverse_on_the_output(f, x, perm):
    return (f(x[:, perm]) - f(x)[:, perm.argsort()]).abs().max()


@PERMUTATION_GAP.misconception(
    "Invariance is measured, not equivariance",
    fails=PERMUTATION_GAP.all_but(),
    hints=(
        "An equivariant layer should have no gap, and in your answer it has one.",
        "f(Px) was compared with f(x) as it is: that asks whether order makes no difference at all. Here the outputs "
        "are to move with the inputs.",
        "Read the equation: what happens to f(x)?",
    ),
)
def permutation_gap__invariance(f, x, perm):
    return (f(x[:, perm]) - f(x)).abs().max()


@PERMUTATION_GAP.misconception(
    "The shuffled sequence is never given to f",
    fails=PERMUTATION_GAP.all_but(),
    hints=(
        "An equivariant layer should have no gap, and in your answer it has one.",
        "The outputs were compared with the same outputs in another order. f has to read the shuffled sequence once.",
        "Read the equation: f stands there twice, with two arguments.",
    ),
)
def permutation_gap__output_only(f, x, perm):
    y = f(x)
    return (y - y[:, perm]).abs().max()


@PERMUTATION_GAP.misconception(
    "The difference keeps its sign",
    fails=PERMUTATION_GAP.all_but(),
    hints=(
        "Where the largest difference is negative, you miss it.",
        "abs is missing: without it -5 counts less than 1.",
        "Read the equation: what do the bars mean?",
    ),
)
def permutation_gap__signed(f, x, perm):
    return (f(x[:, perm]) - f(x)[:, perm]).max()


@PERMUTATION_GAP.misconception(
    "The mean of the differences",
    fails=PERMUTATION_GAP.all_but(),
    hints=(
        "Your gap is too small.",
        "The differences were averaged. One step that knows its position is enough: the largest counts.",
        "Read the equation.",
    ),
)
def permutation_gap__mean(f, x, perm):
    return (f(x[:, perm]) - f(x)[:, perm]).abs().mean()


@PERMUTATION_GAP.misconception(
    "The sum of the differences",
    fails=PERMUTATION_GAP.all_but(),
    hints=(
        "Your gap is too large.",
        "The differences were added up, so that a longer sequence has a larger gap. The largest one counts.",
        "Read the equation.",
    ),
)
def permutation_gap__sum(f, x, perm):
    return (f(x[:, perm]) - f(x)[:, perm]).abs().sum()


@PERMUTATION_GAP.misconception(
    "The length of the difference as a vector",
    fails=PERMUTATION_GAP.all_but(),
    hints=(
        "Your gap is too large.",
        "The root of the sum of squares was taken. The largest entry counts.",
        "Read the equation.",
    ),
)
def permutation_gap__norm(f, x, perm):
    return (f(x[:, perm]) - f(x)[:, perm]).norm()


@PERMUTATION_GAP.misconception(
    "The largest square",
    fails=PERMUTATION_GAP.all_but(),
    hints=(
        "Your gap is the square of the right one.",
        "The differences were squared to lose their sign. Take abs instead.",
        "Read the equation: what do the bars mean?",
    ),
)
def permutation_gap__squared(f, x, perm):
    return (f(x[:, perm]) - f(x)[:, perm]).square().max()


@PERMUTATION_GAP.misconception(
    "The smallest difference",
    fails=PERMUTATION_GAP.all_but(),
    hints=(
        "Your gap is too small: a single entry that agrees hides all others.",
        "The minimum was taken. The largest difference counts.",
        "Read the equation.",
    ),
)
def permutation_gap__smallest(f, x, perm):
    return (f(x[:, perm]) - f(x)[:, perm]).abs().min()


@PERMUTATION_GAP.misconception(
    "Only the first sequence of the batch is compared",
    fails=PERMUTATION_GAP.all_but(),
    hints=(
        "If the largest difference stands in another sequence than the first, you miss it.",
        "The batch was cut to its first row.",
        "Read the equation: over which indices does the maximum run?",
    ),
)
def permutation_gap__first_row(f, x, perm):
    return (f(x[:, perm]) - f(x)[:, perm])[0].abs().max()


@PERMUTATION_GAP.misconception(
    "One number per sequence",
    fails=PERMUTATION_GAP.all_but(),
    hints=(
        "You return a gap for every sequence; one number is asked for.",
        "The maximum was taken over time and features. It runs over the batch as well.",
        "Read the equation: over which indices does the maximum run?",
    ),
)
def permutation_gap__per_row(f, x, perm):
    return (f(x[:, perm]) - f(x)[:, perm]).abs().amax(dim=(1, 2))


@PERMUTATION_GAP.misconception(
    "Yes or no instead of a number",
    fails=PERMUTATION_GAP.all_but(),
    hints=(
        "You return True or False; a number is asked for.",
        "How large the gap is matters: a rounding error is not a position.",
        "Read what the task says about the result.",
    ),
)
def permutation_gap__yes_or_no(f, x, perm):
    return torch.allclose(f(x[:, perm]), f(x)[:, perm])


@PERMUTATION_GAP.misconception(
    "The difference is divided by the size of the output",
    fails=PERMUTATION_GAP.all_but(),
    hints=(
        "Your gap does not grow when f is multiplied by ten.",
        "That is a relative difference. Here the largest absolute one is asked for.",
        "Read the equation.",
    ),
)
def permutation_gap__relative(f, x, perm):
    y = f(x)
    return (f(x[:, perm]) - y[:, perm]).abs().max() / y.abs().max()


@PERMUTATION_GAP.misconception(
    "perm is not used: the sequence is turned round",
    fails=PERMUTATION_GAP.all_but(),
    hints=(
        "The permutation makes no difference in your answer.",
        "The sequence was read backwards. That is one permutation of many, and a mild one: twice is the identity.",
        "Read what the task says about perm.",
    ),
)
def permutation_gap__turned_round(f, x, perm):
    return (f(x.flip(1)) - f(x).flip(1)).abs().max()


EXERCISES = (ATTENTION, HEADS, MULTI_HEAD, CAUSAL_MASK, FLOPS, PERMUTATION_GAP)
