"""The exercises of chapter 7 and the mistakes that the judge knows by name."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F

from autograder.exercise import Exercise
from autograder.probes import ch07_attention as probes
from unrolled import attention
from unrolled import soft_window as window
from unrolled.attention import attention_weights, context, score_bilinear
from unrolled.gated import gru_step

SETUP_NAMES = frozenset({"AttentionDecoderParams", "GRUParams", "gru_step"})
_TORCH = "Build it of gru_step: torch's own GRU puts the reset elsewhere, and is what it is compared with later."
_LAYERS = dict.fromkeys(("GRU", "GRUCell", "gru_cell"), _TORCH)  # gru itself is a field of AttentionDecoderParams


# ---- 7.1 score_dot ----

SCORE_DOT = Exercise(
    number="7.1",
    references=(attention.score_dot,),
    probe_module=probes,
    points=1,
    minutes=5,
    difficulty=1,
)


@SCORE_DOT.misconception(
    "The scores are divided by the root of the width",
    fails=SCORE_DOT.all_but(),
    hints=(
        "All your scores are too small by one and the same factor.",
        "The root belongs to the attention of chapter 8. Here the dot product is taken as it is.",
        "Read what the task says about dividing.",
    ),
)
def score_dot__scaled(s, h):
    return s @ h.mT / math.sqrt(s.shape[-1])


@SCORE_DOT.misconception(
    "The cosine is taken, not the dot product",
    fails=SCORE_DOT.all_but(),
    hints=(
        "Your scores lie between -1 and 1, however long the vectors are.",
        "Both vectors were brought to length 1 first. Then no score is ever large, and no softmax of them sharp.",
        "Read the equation: what is divided by what?",
    ),
)
def score_dot__cosine(s, h):
    return F.normalize(s, dim=-1) @ F.normalize(h, dim=-1).mT


@SCORE_DOT.misconception(
    "The queries are brought to length 1",
    fails=SCORE_DOT.all_but(),
    hints=(
        "Three times as long a query gets the same scores in your answer.",
        "The query was divided by its length. The dot product counts both lengths.",
        "Read the equation: what is divided by what?",
    ),
)
def score_dot__query_normalised(s, h):
    return F.normalize(s, dim=-1) @ h.mT


@SCORE_DOT.misconception(
    "The states of the source are brought to length 1",
    fails=SCORE_DOT.all_but(),
    hints=(
        "A longer state of the source gets the same scores in your answer.",
        "Each h was divided by its length. The dot product counts both lengths.",
        "Read the equation: what is divided by what?",
    ),
)
def score_dot__source_normalised(s, h):
    return s @ F.normalize(h, dim=-1).mT


@SCORE_DOT.misconception(
    "Rows and columns are exchanged",
    fails=SCORE_DOT.all_but(),
    hints=(
        "All numbers are there, but your result is (B, S, T).",
        "h @ s.mT was taken for s @ h.mT. The rows belong to the queries: each shares its attention out along a row.",
        "Read the shape of the result.",
    ),
)
def score_dot__axes_exchanged(s, h):
    return h @ s.mT


@SCORE_DOT.misconception(
    "Features are compared, not steps",
    fails=SCORE_DOT.all_but(),
    hints=(
        "Your result would be as wide and as high as a state: a number for each pair of features.",
        "s.mT @ h adds up over the steps. A score adds up over the features: transpose h, not s.",
        "Read the equation: over which index does the dot product run?",
    ),
)
def score_dot__features_compared(s, h):
    return s.mT @ h


@SCORE_DOT.misconception(
    "The product is not transposed at all",
    fails=SCORE_DOT.all_but(),
    hints=(
        "Your product only works if a sequence is as long as a state is wide.",
        "s @ h multiplies features of s with steps of h. The last two axes of h have to change places.",
        "Read the equation, and write the shape of each factor beside it.",
    ),
)
def score_dot__not_transposed(s, h):
    return s @ h


@SCORE_DOT.misconception(
    "h.T turns all axes round, not only the last two",
    fails=SCORE_DOT.all_but(),
    hints=(
        "Your product of queries and states does not fit, because the batch has moved.",
        "h.T reverses all axes, and that of the batch has to stay in front. h.mT, or h.transpose(1, 2), exchanges the "
        "last two only.",
        "Read the shapes of the arguments.",
    ),
)
def score_dot__all_axes_turned(s, h):
    return s @ h.permute(2, 1, 0)


@SCORE_DOT.misconception(
    "Step i is compared with step i only",
    fails=SCORE_DOT.all_but(),
    hints=(
        "You return one score for a query. It has one for each step of the source.",
        "The states were multiplied step by step, and the lengths of the two sequences need not even be the same.",
        "Read the equation: e has two indices.",
    ),
)
def score_dot__paired(s, h):
    return (s * h).sum(dim=-1)


@SCORE_DOT.misconception(
    "The products are not added up",
    fails=SCORE_DOT.all_but(),
    hints=(
        "Your result has four axes; a score is one number.",
        "The features were multiplied pair by pair. A dot product also adds them up.",
        "Read the shape of the result.",
    ),
)
def score_dot__not_summed(s, h):
    return s[:, :, None] * h[:, None]


@SCORE_DOT.misconception(
    "The mean of the products",
    fails=SCORE_DOT.all_but(),
    hints=(
        "All your scores are too small by one and the same factor.",
        "The products were averaged over the features. The dot product is their sum.",
        "Read the equation.",
    ),
)
def score_dot__mean(s, h):
    return (s[:, :, None] * h[:, None]).mean(dim=-1)


@SCORE_DOT.misconception(
    "The batch is added up",
    fails=SCORE_DOT.all_but(),
    hints=(
        "Your result has no axis of the batch.",
        "The rows were mixed: an index that stands on both inputs and not on the output is summed over.",
        "Read the shape of the result.",
    ),
)
def score_dot__batch_summed(s, h):
    return torch.einsum("bth,bsh->ts", s, h)


@SCORE_DOT.misconception(
    "Distances are measured",
    fails=SCORE_DOT.all_but(),
    hints=(
        "In your answer what fits worst has the largest score, and no score is negative.",
        "The distance of two vectors was taken. It also grows with their lengths when they point the same way.",
        "Read the equation.",
    ),
)
def score_dot__distance(s, h):
    return torch.cdist(s, h)


@SCORE_DOT.misconception(
    "Minus the squared distance",
    fails=SCORE_DOT.all_but(),
    hints=(
        "None of your scores is positive.",
        "Nearness was taken for fit: -|s - h|² also holds |s|² and |h|². Only the product in the middle is asked for.",
        "Read the equation.",
    ),
)
def score_dot__minus_squared_distance(s, h):
    return -(s[:, :, None] - h[:, None]).square().sum(dim=-1)


@SCORE_DOT.misconception(
    "The softmax is taken already",
    fails=SCORE_DOT.all_but(),
    hints=(
        "Your scores are all positive, and those of a query sum to 1.",
        "You return weights. The scores are what goes into the softmax; it comes in an exercise of its own.",
        "Read the equation.",
    ),
)
def score_dot__softmaxed(s, h):
    return (s @ h.mT).softmax(dim=-1)


@SCORE_DOT.misconception(
    "Only the last query is asked for",
    fails=SCORE_DOT.all_but(),
    hints=(
        "You return the scores of one query; there are T of them.",
        "s[:, -1] is the last one. Every step of the decoder looks anew.",
        "Read the shape of the result.",
    ),
)
def score_dot__last_query(s, h):
    return (h * s[:, -1:]).sum(dim=-1)


# ---- 7.2 score_bilinear ----

SCORE_BILINEAR = Exercise(
    number="7.2",
    references=(attention.score_bilinear,),
    probe_module=probes,
    points=1,
    minutes=5,
    difficulty=1,
)


@SCORE_BILINEAR.misconception(
    "W is transposed",
    fails=SCORE_BILINEAR.all_but(),
    hints=(
        "Where queries and states are equally wide, your scores are wrong; elsewhere the shapes do not fit.",
        "W has a row for each feature of s and a column for each of h, so s comes to stand on its left as it is.",
        "Read what the task says about the rows and the columns of W.",
    ),
)
def score_bilinear__transposed(s, h, W):
    return s @ W.T @ h.mT


@SCORE_BILINEAR.misconception(
    "W is not used",
    fails=SCORE_BILINEAR.all_but(),
    hints=(
        "W makes no difference in your answer, and the widths have to be the same.",
        "That is score_dot. W learns which feature of the query is to meet which feature of the source.",
        "Read the equation: what stands between s and h?",
    ),
)
def score_bilinear__no_matrix(s, h, W):
    return s @ h.mT


@SCORE_BILINEAR.misconception(
    "Only the diagonal of W is used",
    fails=SCORE_BILINEAR.all_but(),
    hints=(
        "Most of the entries of W make no difference in your answer.",
        "Each feature was weighted by itself. A matrix lets every feature of s meet every feature of h.",
        "Read the equation: a product of three matrices.",
    ),
)
def score_bilinear__diagonal(s, h, W):
    return (s * W.diagonal()) @ h.mT


@SCORE_BILINEAR.misconception(
    "W acts on both sides",
    fails=SCORE_BILINEAR.all_but(),
    hints=(
        "W counts twice in your answer, and the widths have to be the same.",
        "Both the queries and the states were multiplied by W. It stands in the equation once.",
        "Read the equation.",
    ),
)
def score_bilinear__on_both_sides(s, h, W):
    return (s @ W) @ (h @ W).mT


@SCORE_BILINEAR.misconception(
    "The states of the source are never used",
    fails=SCORE_BILINEAR.all_but(),
    hints=(
        "Your result is as wide as a state of the source, not as long as the source.",
        "s @ W is a query in the space of the states. It is still to be compared with each of them.",
        "Read the equation: what stands behind W?",
    ),
)
def score_bilinear__half(s, h, W):
    return s @ W


@SCORE_BILINEAR.misconception(
    "Rows and columns are exchanged",
    fails=SCORE_BILINEAR.all_but(),
    hints=(
        "All numbers are there, but your result is (B, S, T).",
        "The states came to stand on the left. The rows belong to the queries.",
        "Read the shape of the result.",
    ),
)
def score_bilinear__axes_exchanged(s, h, W):
    return h @ W.T @ s.mT


@SCORE_BILINEAR.misconception(
    "The states of the source are not transposed",
    fails=SCORE_BILINEAR.all_but(),
    hints=(
        "Your product only works if the source is as long as its states are wide.",
        "(s @ W) @ h multiplies features with steps. The last two axes of h have to change places.",
        "Read the equation, and write the shape of each factor beside it.",
    ),
)
def score_bilinear__not_transposed(s, h, W):
    return s @ W @ h


@SCORE_BILINEAR.misconception(
    "h.T turns all axes round, not only the last two",
    fails=SCORE_BILINEAR.all_but(),
    hints=(
        "Your product of queries and states does not fit, because the batch has moved.",
        "h.T reverses all axes, and that of the batch has to stay in front. h.mT, or h.transpose(1, 2), exchanges the "
        "last two only.",
        "Read the shapes of the arguments.",
    ),
)
def score_bilinear__all_axes_turned(s, h, W):
    return s @ W @ h.permute(2, 1, 0)


@SCORE_BILINEAR.misconception(
    "Step i is compared with step i only",
    fails=SCORE_BILINEAR.all_but(),
    hints=(
        "You return one score for a query. It has one for each step of the source.",
        "The states were multiplied step by step, and the lengths of the two sequences need not even be the same.",
        "Read the equation: e has two indices.",
    ),
)
def score_bilinear__paired(s, h, W):
    return (s @ W * h).sum(dim=-1)


@SCORE_BILINEAR.misconception(
    "The scores are divided by the root of the states' width",
    fails=SCORE_BILINEAR.all_but(),
    hints=(
        "All your scores are too small by one and the same factor.",
        "The root belongs to the attention of chapter 8. Here W itself learns how large the scores are to be.",
        "Read the equation: what is divided by what?",
    ),
)
def score_bilinear__scaled_by_C(s, h, W):
    return s @ W @ h.mT / math.sqrt(h.shape[-1])


@SCORE_BILINEAR.misconception(
    "The scores are divided by the root of the queries' width",
    fails=SCORE_BILINEAR.all_but(),
    hints=(
        "All your scores are too small by one and the same factor.",
        "The root belongs to the attention of chapter 8. Here W itself learns how large the scores are to be.",
        "Read the equation: what is divided by what?",
    ),
)
def score_bilinear__scaled_by_H(s, h, W):
    return s @ W @ h.mT / math.sqrt(s.shape[-1])


@SCORE_BILINEAR.misconception(
    "The cosine is taken, not the product",
    fails=SCORE_BILINEAR.all_but(),
    hints=(
        "Your scores lie between -1 and 1, however long the vectors are.",
        "The two vectors were brought to length 1. Then no score is ever large, and no softmax of them sharp.",
        "Read the equation: what is divided by what?",
    ),
)
def score_bilinear__cosine(s, h, W):
    return F.normalize(s @ W, dim=-1) @ F.normalize(h, dim=-1).mT


@SCORE_BILINEAR.misconception(
    "A tanh is put around the score",
    fails=SCORE_BILINEAR.all_but(),
    hints=(
        "Your scores lie between -1 and 1.",
        "The tanh belongs to the additive score, and there it stands inside. This score may be any number.",
        "Read the equation.",
    ),
)
def score_bilinear__tanh(s, h, W):
    return torch.tanh(s @ W @ h.mT)


@SCORE_BILINEAR.misconception(
    "A tanh is put around the query",
    fails=SCORE_BILINEAR.all_but(),
    hints=(
        "Large queries have no more to say than middling ones in your answer.",
        "s @ W went through a tanh. That belongs to the additive score; here all is linear.",
        "Read the equation.",
    ),
)
def score_bilinear__tanh_query(s, h, W):
    return torch.tanh(s @ W) @ h.mT


@SCORE_BILINEAR.misconception(
    "The softmax is taken already",
    fails=SCORE_BILINEAR.all_but(),
    hints=(
        "Your scores are all positive, and those of a query sum to 1.",
        "You return weights. The scores are what goes into the softmax; it comes in an exercise of its own.",
        "Read the equation.",
    ),
)
def score_bilinear__softmaxed(s, h, W):
    return (s @ W @ h.mT).softmax(dim=-1)


@SCORE_BILINEAR.misconception(
    "The batch is added up",
    fails=SCORE_BILINEAR.all_but(),
    hints=(
        "Your result has no axis of the batch.",
        "The rows were mixed: an index that stands on both inputs and not on the output is summed over.",
        "Read the shape of the result.",
    ),
)
def score_bilinear__batch_summed(s, h, W):
    return torch.einsum("bth,hc,bsc->ts", s, W, h)


# ---- 7.3 score_additive ----

SCORE_ADDITIVE = Exercise(
    number="7.3",
    references=(attention.score_additive,),
    probe_module=probes,
    points=2,
    minutes=15,
    difficulty=2,
    equivalent={
        "from_s, from_h = ((h @ U.T)[:, None], (s @ W.T)[:, :, None])": "the two are added, in either order.",
    },
)


@SCORE_ADDITIVE.misconception(
    "The tanh is missing",
    fails=SCORE_ADDITIVE.all_but(),
    hints=(
        "Your scores are a part from the query plus a part from the source.",
        "Without the tanh all queries rank the source alike: what the query adds is the same for every step, and a "
        "softmax does not see it.",
        "Read the equation: what is done with the sum?",
    ),
)
def score_additive__no_tanh(s, h, W, U, v):
    hidden = (s @ W.T)[:, :, None] + (h @ U.T)[:, None]
    return hidden @ v


@SCORE_ADDITIVE.misconception(
    "The tanh is taken last",
    fails=SCORE_ADDITIVE.all_but(),
    hints=(
        "Your scores lie between -1 and 1.",
        "The tanh came after v. It belongs to the hidden layer, before v adds it up.",
        "Read the equation: what stands inside the tanh?",
    ),
)
def score_additive__tanh_last(s, h, W, U, v):
    hidden = (s @ W.T)[:, :, None] + (h @ U.T)[:, None]
    return torch.tanh(hidden @ v)


@SCORE_ADDITIVE.misconception(
    "Query and source have a tanh each",
    fails=SCORE_ADDITIVE.all_but(),
    hints=(
        "Your scores are a part from the query plus a part from the source.",
        "Each went through a tanh alone, so they never meet. First add, then tanh.",
        "Read the equation: what stands inside the tanh?",
    ),
)
def score_additive__tanh_of_each(s, h, W, U, v):
    hidden = torch.tanh(s @ W.T)[:, :, None] + torch.tanh(h @ U.T)[:, None]
    return hidden @ v


@SCORE_ADDITIVE.misconception(
    "A sigmoid in place of the tanh",
    fails=SCORE_ADDITIVE.all_but(),
    hints=(
        "The shapes are right; your hidden layer is never negative.",
        "A sigmoid was taken. This layer is no gate: it has a tanh.",
        "Read the equation.",
    ),
)
def score_additive__sigmoid(s, h, W, U, v):
    hidden = torch.sigmoid((s @ W.T)[:, :, None] + (h @ U.T)[:, None])
    return hidden @ v


@SCORE_ADDITIVE.misconception(
    "A ReLU in place of the tanh",
    fails=SCORE_ADDITIVE.all_but(),
    hints=(
        "The shapes are right; your hidden layer is never negative.",
        "A ReLU was taken, as is usual today. Bahdanau's score has a tanh.",
        "Read the equation.",
    ),
)
def score_additive__relu(s, h, W, U, v):
    hidden = torch.relu((s @ W.T)[:, :, None] + (h @ U.T)[:, None])
    return hidden @ v


@SCORE_ADDITIVE.misconception(
    "Multiplied, not added",
    fails=SCORE_ADDITIVE.all_but(),
    hints=(
        "Where the query's part is zero, your score is zero whatever the source is.",
        "W s and U h were multiplied. That is why this score is called additive.",
        "Read the equation: which sign stands between W s and U h?",
    ),
)
def score_additive__multiplied(s, h, W, U, v):
    hidden = torch.tanh((s @ W.T)[:, :, None] * (h @ U.T)[:, None])
    return hidden @ v


@SCORE_ADDITIVE.misconception(
    "W and U are exchanged",
    fails=SCORE_ADDITIVE.all_but(),
    hints=(
        "Where queries and states are equally wide, your scores are wrong; elsewhere the shapes do not fit.",
        "U met the query and W the source.",
        "Read the equation: which matrix belongs to s?",
    ),
)
def score_additive__matrices_exchanged(s, h, W, U, v):
    hidden = torch.tanh((s @ U.T)[:, :, None] + (h @ W.T)[:, None])
    return hidden @ v


@SCORE_ADDITIVE.misconception(
    "W and U are not transposed",
    fails=SCORE_ADDITIVE.all_but(),
    hints=(
        "Where all widths are the same, your scores are wrong; elsewhere the shapes do not fit.",
        "The rows of W and U are outputs, as torch stores them. A row of s is multiplied by W.T.",
        "Read what the task says about the shapes of W and U.",
    ),
)
def score_additive__not_transposed(s, h, W, U, v):
    hidden = torch.tanh((s @ W)[:, :, None] + (h @ U)[:, None])
    return hidden @ v


@SCORE_ADDITIVE.misconception(
    "v is not used: the hidden layer is added up",
    fails=SCORE_ADDITIVE.all_but(),
    hints=(
        "v makes no difference in your answer.",
        "The hidden numbers were simply added. v says how much each of them counts, and with which sign.",
        "Read the equation: what stands in front of the tanh?",
    ),
)
def score_additive__no_v(s, h, W, U, v):
    hidden = torch.tanh((s @ W.T)[:, :, None] + (h @ U.T)[:, None])
    return hidden.sum(dim=-1)


@SCORE_ADDITIVE.misconception(
    "The hidden layer is weighted, but not added up",
    fails=SCORE_ADDITIVE.all_but(),
    hints=(
        "Your result has four axes; a score is one number.",
        "v was multiplied entry by entry. A dot product also adds up.",
        "Read the shape of the result.",
    ),
)
def score_additive__not_summed(s, h, W, U, v):
    hidden = torch.tanh((s @ W.T)[:, :, None] + (h @ U.T)[:, None])
    return hidden * v


@SCORE_ADDITIVE.misconception(
    "The mean of the hidden layer, not the sum",
    fails=SCORE_ADDITIVE.all_but(),
    hints=(
        "All your scores are too small by one and the same factor.",
        "The products with v were averaged. A dot product adds them up.",
        "Read the equation.",
    ),
)
def score_additive__mean(s, h, W, U, v):
    hidden = torch.tanh((s @ W.T)[:, :, None] + (h @ U.T)[:, None])
    return (hidden * v).mean(dim=-1)


@SCORE_ADDITIVE.misconception(
    "v stands inside the tanh",
    fails=SCORE_ADDITIVE.all_but(),
    hints=(
        "No hidden number counts more than 1 in your answer, however large v is.",
        "v was multiplied before the tanh. It weighs what comes out of it.",
        "Read the equation: what stands inside the tanh?",
    ),
)
def score_additive__v_inside(s, h, W, U, v):
    hidden = torch.tanh(v * ((s @ W.T)[:, :, None] + (h @ U.T)[:, None]))
    return hidden.sum(dim=-1)


@SCORE_ADDITIVE.misconception(
    "Rows and columns are exchanged",
    fails=SCORE_ADDITIVE.all_but(),
    hints=(
        "All numbers are there, but your result is (B, S, T).",
        "The new axes came to stand in each other's place: queries need theirs behind T, states theirs before S.",
        "Read the shape of the result.",
    ),
)
def score_additive__axes_exchanged(s, h, W, U, v):
    hidden = torch.tanh((s @ W.T)[:, None] + (h @ U.T)[:, :, None])
    return hidden @ v


@SCORE_ADDITIVE.misconception(
    "Step i is compared with step i only",
    fails=SCORE_ADDITIVE.all_but(),
    hints=(
        "You return one score for a query. It has one for each step of the source.",
        "Both parts were added as they are. Each query has to meet each step: give them an axis more, (B, T, 1, A) and "
        "(B, 1, S, A).",
        "Read the equation: e has two indices.",
    ),
)
def score_additive__paired(s, h, W, U, v):
    return torch.tanh(s @ W.T + h @ U.T) @ v


@SCORE_ADDITIVE.misconception(
    "The query has no say",
    fails=SCORE_ADDITIVE.all_but(),
    hints=(
        "All queries have the same scores.",
        "W s was left out, so every step of the decoder looks at the same places.",
        "Read the equation: two terms inside the tanh.",
    ),
)
def score_additive__no_query(s, h, W, U, v):
    e = torch.tanh(h @ U.T) @ v
    return e[:, None].expand(-1, s.shape[1], -1)


@SCORE_ADDITIVE.misconception(
    "The source has no say",
    fails=SCORE_ADDITIVE.all_but(),
    hints=(
        "All source steps have the same score.",
        "U h was left out, so a softmax over the source makes all weights equal.",
        "Read the equation: two terms inside the tanh.",
    ),
)
def score_additive__no_source(s, h, W, U, v):
    e = torch.tanh(s @ W.T) @ v
    return e[:, :, None].expand(-1, -1, h.shape[1])


@SCORE_ADDITIVE.misconception(
    "The difference of query and source",
    fails=SCORE_ADDITIVE.all_but(),
    hints=(
        "What the source adds to your hidden layer has the wrong sign.",
        "U h was taken away from W s. Adding is as good: U can learn a minus if one is needed.",
        "Read the equation: which sign stands between W s and U h?",
    ),
)
def score_additive__difference(s, h, W, U, v):
    hidden = torch.tanh((s @ W.T)[:, :, None] - (h @ U.T)[:, None])
    return hidden @ v


@SCORE_ADDITIVE.misconception(
    "The scores are divided by the root of the hidden layer's width",
    fails=SCORE_ADDITIVE.all_but(),
    hints=(
        "All your scores are too small by one and the same factor.",
        "The root belongs to the attention of chapter 8. Here v itself learns how large the scores are to be.",
        "Read the equation: what is divided by what?",
    ),
)
def score_additive__scaled(s, h, W, U, v):
    hidden = torch.tanh((s @ W.T)[:, :, None] + (h @ U.T)[:, None])
    return hidden @ v / math.sqrt(len(v))


@SCORE_ADDITIVE.misconception(
    "The softmax is taken already",
    fails=SCORE_ADDITIVE.all_but(),
    hints=(
        "Your scores are all positive, and those of a query sum to 1.",
        "You return weights. The scores are what goes into the softmax; it comes in an exercise of its own.",
        "Read the equation.",
    ),
)
def score_additive__softmaxed(s, h, W, U, v):
    hidden = torch.tanh((s @ W.T)[:, :, None] + (h @ U.T)[:, None])
    return (hidden @ v).softmax(dim=-1)


# ---- 7.4 attention_weights ----

WEIGHTS = Exercise(
    number="7.4",
    references=(attention.attention_weights,),
    probe_module=probes,
    points=3,
    minutes=15,
    difficulty=2,
)
_NAN = " Besides, a query that may attend to nothing gets NaN: wipe it out behind the softmax."


@WEIGHTS.misconception(
    "The softmax runs over the queries",
    fails=WEIGHTS.all_but(),
    hints=(
        "The columns of your weights sum to 1, not the rows.",
        "The softmax has the wrong axis: each step of the decoder shares its attention out among the source steps.",
        "Read the equation: over which index does the sum run?",
    ),
)
def attention_weights__over_queries(e, mask=None):
    if mask is None:
        return e.softmax(dim=-2)
    return e.masked_fill(~mask, -math.inf).softmax(dim=-2).masked_fill(~mask, 0)


@WEIGHTS.misconception(
    "The softmax runs over the queries; and NaN where all of a column is masked",
    fails=WEIGHTS.all_but(),
    hints=(
        "The columns of your weights sum to 1, not the rows.",
        "The softmax has the wrong axis: each step of the decoder shares its attention out among the source steps."
        + _NAN,
        "Read the equation: over which index does the sum run?",
    ),
)
def attention_weights__over_queries_nan(e, mask=None):
    if mask is not None:
        e = e.masked_fill(~mask, -math.inf)
    return e.softmax(dim=-2)


@WEIGHTS.misconception(
    "The softmax runs over the queries; masked with a large finite negative",
    fails=WEIGHTS.all_but(),
    hints=(
        "The columns of your weights sum to 1, not the rows.",
        "The softmax has the wrong axis: each step of the decoder shares its attention out among the source steps.",
        "Read the equation: over which index does the sum run?",
    ),
)
def attention_weights__over_queries_finite(e, mask=None):
    if mask is not None:
        e = e.masked_fill(~mask, -1e9)
    return e.softmax(dim=-2)


@WEIGHTS.misconception(
    "The softmax runs over axis 1, whatever that is",
    fails=WEIGHTS.all_but(),
    hints=(
        "Scores (B, S) are right. With an axis of queries you share out over that.",
        "dim=1 is the axis of the source steps only if there is no axis of queries. Count from the end: dim=-1.",
        "Read what the task says about the axes of e.",
    ),
)
def attention_weights__over_axis_1(e, mask=None):
    if mask is None:
        return e.softmax(dim=1)
    return e.masked_fill(~mask, -math.inf).softmax(dim=1).masked_fill(~mask, 0)


@WEIGHTS.misconception(
    "The softmax runs over axis 1, whatever that is; and NaN where all of it is masked",
    fails=WEIGHTS.all_but(),
    hints=(
        "Scores (B, S) are right. With an axis of queries you share out over that.",
        "dim=1 is the axis of the source steps only if there is no axis of queries. Count from the end: dim=-1." + _NAN,
        "Read what the task says about the axes of e.",
    ),
)
def attention_weights__over_axis_1_nan(e, mask=None):
    if mask is not None:
        e = e.masked_fill(~mask, -math.inf)
    return e.softmax(dim=1)


@WEIGHTS.misconception(
    "The softmax runs over axis 2, whatever that is",
    fails=("attention_weights_fewer_axes", "attention_weights_more_axes"),
    hints=(
        "Scores (B, T, S) are right; with more or fewer axes you are not.",
        "dim=2 is the axis of the source steps only if there are two others. Count from the end: dim=-1.",
        "Read what the task says about the axes of e.",
    ),
)
def attention_weights__over_axis_2(e, mask=None):
    if mask is None:
        return e.softmax(dim=2)
    return e.masked_fill(~mask, -math.inf).softmax(dim=2).masked_fill(~mask, 0)


@WEIGHTS.misconception(
    "The softmax runs over the batch",
    fails=WEIGHTS.all_but(),
    hints=(
        "Your weights sum to 1 over the rows of the batch: what one sentence gets, the others lose.",
        "dim=0 is the batch. The source steps are the last axis: dim=-1.",
        "Read the equation: over which index does the sum run?",
    ),
)
def attention_weights__over_batch(e, mask=None):
    if mask is None:
        return e.softmax(dim=0)
    return e.masked_fill(~mask, -math.inf).softmax(dim=0).masked_fill(~mask, 0)


@WEIGHTS.misconception(
    "One softmax runs over all pairs of queries and source steps",
    fails=WEIGHTS.all_but(),
    hints=(
        "All your weights of a row of the batch together sum to 1; those of every query should.",
        "The two last axes were softmaxed as one. Each step of the decoder has attention of its own to share out.",
        "Read the equation: over which index does the sum run?",
    ),
)
def attention_weights__over_all_pairs(e, mask=None):
    if mask is not None:
        e = e.masked_fill(~mask, -math.inf)
    return e.flatten(-2).softmax(dim=-1).view(e.shape)


@WEIGHTS.misconception(
    "The mask is applied after the softmax, and what is left is not renormalised",
    fails=WEIGHTS.all_but("plain"),
    hints=(
        "Without a mask you are right; with one your weights sum to less than 1.",
        "The masked steps took their share in the softmax before they were wiped out. Mask the scores, not the "
        "weights.",
        "Read the equation: the mask stands in the denominator, too.",
    ),
)
def attention_weights__mask_after_softmax(e, mask=None):
    alpha = e.softmax(dim=-1)
    return alpha if mask is None else alpha * mask


@WEIGHTS.misconception(
    "The mask is applied after the softmax, and rounding has eaten what is left",
    fails=("attention_weights_large",),
    hints=(
        "You are right as long as scores are small. If masked steps fit far better than the others, your row is lost.",
        "A share of exp(-2000) is rounded to 0 before you renormalise. Mask the scores: then the softmax never sees "
        "the masked steps.",
        "Read what the task says about how large scores may be.",
    ),
)
def attention_weights__renormalised(e, mask=None):
    alpha = e.softmax(dim=-1)
    if mask is None:
        return alpha
    alpha = alpha * mask
    return alpha / alpha.sum(dim=-1, keepdim=True).clamp(min=1e-300)


@WEIGHTS.misconception(
    "The mask is applied after the softmax, and a row may become 0 / 0",
    fails=("attention_weights_large", "attention_weights_nothing", "attention_weights_nothing_gradients"),
    hints=(
        "You are right as long as every query has a step and scores are small; else a row is NaN.",
        "If the masked steps took all of the softmax, or all are masked, nothing is left to renormalise. Mask the "
        "scores instead, and give zeros to a query that may attend to nothing.",
        "Read what the task says about large scores and about a query that may attend to nothing.",
    ),
)
def attention_weights__renormalised_nan(e, mask=None):
    alpha = e.softmax(dim=-1)
    if mask is None:
        return alpha
    alpha = alpha * mask
    return alpha / alpha.sum(dim=-1, keepdim=True)


@WEIGHTS.misconception(
    "The mask is read the other way round",
    fails=WEIGHTS.all_but("plain"),
    hints=(
        "Without a mask you are right; with one your queries attend to exactly what they may not.",
        "True means may attend, here. masked_fill fills where its argument is True, so it wants ~mask.",
        "Read what the task says about the mask.",
    ),
)
def attention_weights__polarity(e, mask=None):
    if mask is None:
        return e.softmax(dim=-1)
    return e.masked_fill(mask, -math.inf).softmax(dim=-1).masked_fill(mask, 0)


@WEIGHTS.misconception(
    "The mask is read the other way round; and NaN where nothing is left",
    fails=WEIGHTS.all_but("plain"),
    hints=(
        "Without a mask you are right; with one your queries attend to exactly what they may not.",
        "True means may attend, here. masked_fill fills where its argument is True, so it wants ~mask." + _NAN,
        "Read what the task says about the mask.",
    ),
)
def attention_weights__polarity_nan(e, mask=None):
    if mask is not None:
        e = e.masked_fill(mask, -math.inf)
    return e.softmax(dim=-1)


@WEIGHTS.misconception(
    "The mask is read the other way round; masked with a large finite negative",
    fails=WEIGHTS.all_but("plain"),
    hints=(
        "Without a mask you are right; with one your queries attend to exactly what they may not.",
        "True means may attend, here. masked_fill fills where its argument is True, so it wants ~mask.",
        "Read what the task says about the mask.",
    ),
)
def attention_weights__polarity_finite(e, mask=None):
    if mask is not None:
        e = e.masked_fill(mask, -1e9)
    return e.softmax(dim=-1)


@WEIGHTS.misconception(
    "The mask is not used",
    fails=WEIGHTS.all_but("plain"),
    hints=(
        "Without a mask you are right; with one it makes no difference.",
        "The argument mask is never read.",
        "Read what the task says about the mask.",
    ),
)
def attention_weights__mask_ignored(e, mask=None):
    return e.softmax(dim=-1)


@WEIGHTS.misconception(
    "Masked scores become 0",
    fails=WEIGHTS.all_but("plain"),
    hints=(
        "Without a mask you are right; with one, masked steps still have weight.",
        "exp(0) is 1, not 0. What is to vanish in a softmax needs a score of minus infinity.",
        "Read what the task says about the steps where the mask is False.",
    ),
)
def attention_weights__masked_to_zero(e, mask=None):
    if mask is not None:
        e = e * mask
    return e.softmax(dim=-1)


@WEIGHTS.misconception(
    "Masked scores become 0, and their weights are wiped out afterwards",
    fails=WEIGHTS.all_but("plain"),
    hints=(
        "Without a mask you are right; with one your weights sum to less than 1.",
        "exp(0) is 1, not 0: the masked steps took a share, which is now missing. They need a score of minus infinity.",
        "Read the equation: the mask stands in the denominator, too.",
    ),
)
def attention_weights__zero_and_wiped(e, mask=None):
    if mask is None:
        return e.softmax(dim=-1)
    return (e * mask).softmax(dim=-1) * mask


@WEIGHTS.misconception(
    "Masked scores become -100, which is not low enough",
    fails=("attention_weights_large", "attention_weights_nothing", "attention_weights_nothing_gradients"),
    hints=(
        "You are right as long as scores are small. A query whose own steps score below -100 attends to masked ones.",
        "A score may be any number. Take -inf, and wipe out the NaN of a query that may attend to nothing.",
        "Read what the task says about how large scores may be, and about a query that may attend to nothing.",
    ),
)
def attention_weights__minus_hundred(e, mask=None):
    if mask is not None:
        e = e.masked_fill(~mask, -100)
    return e.softmax(dim=-1)


@WEIGHTS.misconception(
    "A query that may attend to nothing gets NaN",
    fails=("attention_weights_nothing", "attention_weights_nothing_gradients"),
    hints=(
        "You are right wherever a query has a step. Where it has none, you return NaN.",
        "A softmax over nothing but -inf is 0 / 0. One NaN is enough to spoil all parameters in the next step.",
        "Read what the task says about a query that may attend to nothing.",
    ),
)
def attention_weights__nan_rows(e, mask=None):
    if mask is not None:
        e = e.masked_fill(~mask, -math.inf)
    return e.softmax(dim=-1)


@WEIGHTS.misconception(
    "-inf is added, and a query that may attend to nothing gives NaN in the weights and in the gradient",
    fails=("attention_weights_nothing", "attention_weights_nothing_gradients"),
    hints=(
        "You are right wherever a query has a step. Where it has none, you return NaN, and so is the gradient.",
        "A softmax over nothing but -inf is 0 / 0. With masked_fill or torch.where the scores get a clean gradient; "
        "the NaN among the weights has to be wiped out as well.",
        "Read what the task says about a query that may attend to nothing.",
    ),
)
def attention_weights__nan_everywhere(e, mask=None):
    if mask is not None:
        e = e + torch.zeros(mask.shape).masked_fill(~mask, -math.inf)
    return e.softmax(dim=-1)


@WEIGHTS.misconception(
    "The NaN is wiped from the weights, but stays in the gradient",
    fails=("attention_weights_nothing_gradients",),
    hints=(
        "Your weights are right. Where a query may attend to nothing, the gradient is NaN.",
        "-inf was added to the scores, and the NaN of the softmax was wiped out afterwards; on its way back the "
        "gradient still passes through that softmax. masked_fill or torch.where on the scores stops it there.",
        "Read what the task says about gradients.",
    ),
)
def attention_weights__nan_gradients(e, mask=None):
    if mask is not None:
        e = e + torch.zeros(mask.shape).masked_fill(~mask, -math.inf)
    return e.softmax(dim=-1).nan_to_num(0)


@WEIGHTS.misconception(
    "A query that may attend to nothing attends to all steps alike",
    fails=("attention_weights_nothing", "attention_weights_nothing_gradients"),
    hints=(
        "You are right wherever a query has a step. Where it has none, you share out over the masked ones.",
        "If all scores are the same large negative number, a softmax makes all weights equal: exactly what was masked "
        "is now read. Set the weights to 0 where the mask is False, after the softmax.",
        "Read what the task says about a query that may attend to nothing.",
    ),
)
def attention_weights__finite_fill(e, mask=None):
    if mask is not None:
        e = e.masked_fill(~mask, -1e9)
    return e.softmax(dim=-1)


@WEIGHTS.misconception(
    "A query that may attend to nothing attends as if there were no mask",
    fails=("attention_weights_nothing", "attention_weights_nothing_gradients"),
    hints=(
        "You are right wherever a query has a step. Where it has none, you share out over the masked ones.",
        "The same large negative number was added to all scores of that query, and a softmax does not see what is "
        "added to all. Set the weights to 0 where the mask is False, after the softmax.",
        "Read what the task says about a query that may attend to nothing.",
    ),
)
def attention_weights__finite_added(e, mask=None):
    if mask is not None:
        e = e + (~mask) * -1e9
    return e.softmax(dim=-1)


@WEIGHTS.misconception(
    "exp overflows",
    fails=("attention_weights_large",),
    hints=(
        "You are right as long as scores are small. Large ones give inf / inf.",
        "exp was taken of the scores as they are. Take away the largest score of each row first, or use torch.softmax.",
        "Read what the task says about how large scores may be.",
    ),
)
def attention_weights__overflow(e, mask=None):
    exps = e.exp()
    if mask is not None:
        exps = exps.masked_fill(~mask, 0)
    return exps / exps.sum(dim=-1, keepdim=True).clamp(min=1e-300)


@WEIGHTS.misconception(
    "exp overflows, and a query that may attend to nothing gets NaN",
    fails=("attention_weights_large", "attention_weights_nothing", "attention_weights_nothing_gradients"),
    hints=(
        "You are right as long as scores are small and every query has a step. Else a row is NaN.",
        "exp was taken of the scores as they are, and large ones give inf / inf. Take away the largest score of each "
        "row first, or use torch.softmax. Besides, a row without a step is 0 / 0.",
        "Read what the task says about large scores and about a query that may attend to nothing.",
    ),
)
def attention_weights__overflow_nan(e, mask=None):
    exps = e.exp()
    if mask is not None:
        exps = exps.masked_fill(~mask, 0)
    return exps / exps.sum(dim=-1, keepdim=True)


@WEIGHTS.misconception(
    "exp overflows, and inf is then multiplied by the mask's 0",
    fails=("attention_weights_large", "attention_weights_nothing", "attention_weights_nothing_gradients"),
    hints=(
        "You are right as long as scores are small and every query has a step. Else a row is NaN.",
        "exp was taken of the scores as they are: large ones give inf, and inf times 0 is NaN even where the step is "
        "masked. Mask the scores first, and use torch.softmax. Besides, a row without a step is 0 / 0.",
        "Read what the task says about large scores and about a query that may attend to nothing.",
    ),
)
def attention_weights__overflow_multiplied(e, mask=None):
    exps = e.exp()
    if mask is not None:
        exps = exps * mask
    return exps / exps.sum(dim=-1, keepdim=True)


@WEIGHTS.misconception(
    "The scores are normalised without exp",
    fails=WEIGHTS.all_but(),
    hints=(
        "Your weights sum to 1, but some are negative or larger than 1.",
        "The scores were divided by their sum. exp comes first: it makes all of them positive.",
        "Read the equation.",
    ),
)
def attention_weights__no_exp(e, mask=None):
    if mask is not None:
        e = e.masked_fill(~mask, 0)
    return e / e.sum(dim=-1, keepdim=True)


@WEIGHTS.misconception(
    "The logarithm of the weights",
    fails=WEIGHTS.all_but(),
    hints=(
        "None of your weights is positive.",
        "log_softmax is for losses. A mean needs the weights themselves.",
        "Read the equation.",
    ),
)
def attention_weights__log(e, mask=None):
    if mask is not None:
        e = e.masked_fill(~mask, -math.inf)
    return e.log_softmax(dim=-1)


@WEIGHTS.misconception(
    "Only the best step counts",
    fails=WEIGHTS.all_but(),
    hints=(
        "Your weights are 0 and 1: the look is hard.",
        "The best step was picked. An argmax has no gradient; the softmax is there so that looking can be learned.",
        "Read the equation.",
    ),
)
def attention_weights__hard(e, mask=None):
    if mask is not None:
        e = e.masked_fill(~mask, -math.inf)
    alpha = F.one_hot(e.argmax(dim=-1), e.shape[-1]).to(e.dtype)
    return alpha if mask is None else alpha * mask


@WEIGHTS.misconception(
    "A sigmoid for each score in place of a softmax for each query",
    fails=WEIGHTS.all_but(),
    hints=(
        "Your weights do not sum to 1.",
        "Each score was judged alone. In a softmax the steps compete: more for one is less for the others.",
        "Read the equation.",
    ),
)
def attention_weights__sigmoid(e, mask=None):
    alpha = e.sigmoid()
    return alpha if mask is None else alpha * mask


@WEIGHTS.misconception(
    "The scores are divided by the root of the source's length",
    fails=WEIGHTS.all_but(),
    hints=(
        "The right steps win, but by too little, and the longer the source the less.",
        "A root was taken of e.shape[-1], which is S. Scores come as they are; nothing is divided here.",
        "Read the equation.",
    ),
)
def attention_weights__scaled(e, mask=None):
    e = e / math.sqrt(e.shape[-1])
    if mask is None:
        return e.softmax(dim=-1)
    return e.masked_fill(~mask, -math.inf).softmax(dim=-1).masked_fill(~mask, 0)


@WEIGHTS.misconception(
    "-inf is written into the caller's scores",
    fails=("attention_weights_gradients", "attention_weights_nothing_gradients", "attention_weights_untouched"),
    hints=(
        "Your weights are right, but e is no longer what it was after the call, and no gradient can be taken.",
        "masked_fill_ and e[~mask] = … write into e itself. masked_fill, without the underscore, makes a new tensor.",
        "Read what the task says about what is changed.",
    ),
)
def attention_weights__in_place(e, mask=None):
    if mask is None:
        return e.softmax(dim=-1)
    e.masked_fill_(~mask, -math.inf)
    return e.softmax(dim=-1).masked_fill(~mask, 0)


@WEIGHTS.misconception(
    "-inf is written into the caller's scores; and NaN where nothing may be attended to",
    fails=WEIGHTS.all_but("plain", "mask", "pads", "fewer_axes", "more_axes", "large"),
    hints=(
        "Your weights are right, but e is no longer what it was after the call, and no gradient can be taken.",
        "masked_fill_ and e[~mask] = … write into e itself. masked_fill, without the underscore, makes a new tensor."
        + _NAN,
        "Read what the task says about what is changed, and about a query that may attend to nothing.",
    ),
)
def attention_weights__in_place_nan(e, mask=None):
    if mask is not None:
        e.masked_fill_(~mask, -math.inf)
    return e.softmax(dim=-1)


@WEIGHTS.misconception(
    "Masked scores are picked with e[~mask], in the caller's tensor",
    fails=WEIGHTS.all_but("plain", "mask", "fewer_axes", "large"),
    hints=(
        "A mask of the shape of e works. One that has to be spread over the queries does not, and e is changed.",
        "Indexing with a mask wants its full shape; masked_fill and torch.where spread it. And e[~mask] = … writes "
        "into the caller's tensor." + _NAN,
        "Read what the task says about the shape of the mask, and about what is changed.",
    ),
)
def attention_weights__indexed_in_place(e, mask=None):
    if mask is not None:
        e[~mask] = -math.inf
    return e.softmax(dim=-1)


@WEIGHTS.misconception(
    "Masked scores are picked with [~mask], and a query that may attend to nothing gets NaN",
    fails=WEIGHTS.all_but("plain", "mask", "fewer_axes", "large", "gradients", "untouched"),
    hints=(
        "A mask of the shape of e works, unless a query has no step. One that has to be spread over the queries fails.",
        "Indexing with a mask wants its full shape; masked_fill and torch.where spread it." + _NAN,
        "Read what the task says about the shape of the mask, and about a query that may attend to nothing.",
    ),
)
def attention_weights__indexed_nan(e, mask=None):
    if mask is not None:
        e = e.clone()
        e[~mask] = -math.inf
    return e.softmax(dim=-1)


@WEIGHTS.misconception(
    "exp overflows, inf is multiplied by the mask's 0; a query that may attend to nothing is taken care of",
    fails=("attention_weights_large",),
    hints=(
        "You are right as long as scores are small. With large ones whole rows are NaN.",
        "exp was taken of the scores as they are: large ones give inf, and inf times 0 is NaN even where the step is "
        "masked. The guard for a sum of 0 does not help there. Mask the scores first, then torch.softmax.",
        "Read what the task says about how large scores may be.",
    ),
)
def attention_weights__overflow_guarded(e, mask=None):
    exps = e.exp()
    if mask is not None:
        exps = exps * mask
    total = exps.sum(dim=-1, keepdim=True)
    return exps / torch.where(total == 0, 1.0, total)


@WEIGHTS.misconception(
    "With a mask, exp overflows and inf is multiplied by 0; a query that may attend to nothing is taken care of",
    fails=("attention_weights_large",),
    hints=(
        "Without a mask you are right, and with one as long as scores are small. With large ones rows are NaN.",
        "exp was taken of the scores as they are: large ones give inf, and inf times 0 is NaN even where the step is "
        "masked. The guard for a sum of 0 does not help there. Mask the scores first, then torch.softmax.",
        "Read what the task says about how large scores may be.",
    ),
)
def attention_weights__overflow_guarded_mask(e, mask=None):
    if mask is None:
        return e.softmax(dim=-1)
    exps = e.exp() * mask
    total = exps.sum(dim=-1, keepdim=True)
    return exps / torch.where(total == 0, 1.0, total)


@WEIGHTS.misconception(
    "exp overflows, and the NaN is wiped out at the end",
    fails=("attention_weights_large", "attention_weights_nothing_gradients"),
    hints=(
        "You are right as long as scores are small. With large ones whole rows are 0, and a query that may attend to "
        "nothing has NaN for a gradient.",
        "exp was taken of the scores as they are, and nan_to_num hides what went wrong: inf / inf, and 0 / 0. Mask the "
        "scores first, then torch.softmax.",
        "Read what the task says about how large scores may be, and about gradients.",
    ),
)
def attention_weights__overflow_wiped(e, mask=None):
    exps = e.exp()
    if mask is not None:
        exps = exps * mask
    return (exps / exps.sum(dim=-1, keepdim=True)).nan_to_num(0)


@WEIGHTS.misconception(
    "A large finite negative is written into the caller's scores",
    fails=WEIGHTS.all_but("plain", "mask", "pads", "fewer_axes", "more_axes", "large"),
    hints=(
        "Your weights are right where a query has a step, but e is no longer what it was after the call, and no "
        "gradient can be taken.",
        "masked_fill_ and e[~mask] = … write into e itself. masked_fill, without the underscore, makes a new tensor. "
        "Besides, a query that may attend to nothing attends to all alike: set its weights to 0 behind the softmax.",
        "Read what the task says about what is changed, and about a query that may attend to nothing.",
    ),
)
def attention_weights__in_place_finite(e, mask=None):
    if mask is not None:
        e.masked_fill_(~mask, -1e9)
    return e.softmax(dim=-1)


@WEIGHTS.misconception(
    "A large finite negative is written into the caller's scores; the weights are wiped afterwards",
    fails=("attention_weights_gradients", "attention_weights_nothing_gradients", "attention_weights_untouched"),
    hints=(
        "Your weights are right, but e is no longer what it was after the call, and no gradient can be taken.",
        "masked_fill_ and e[~mask] = … write into e itself. masked_fill, without the underscore, makes a new tensor.",
        "Read what the task says about what is changed.",
    ),
)
def attention_weights__in_place_finite_wiped(e, mask=None):
    if mask is None:
        return e.softmax(dim=-1)
    e.masked_fill_(~mask, -1e9)
    return e.softmax(dim=-1) * mask


@WEIGHTS.misconception(
    "A large finite negative is put where e[~mask] is, in the caller's tensor",
    fails=WEIGHTS.all_but("plain", "mask", "fewer_axes", "large"),
    hints=(
        "A mask of the shape of e works. One that has to be spread over the queries does not, and e is changed.",
        "Indexing with a mask wants its full shape; masked_fill and torch.where spread it. And e[~mask] = … writes "
        "into the caller's tensor. Besides, a query that may attend to nothing attends to all alike.",
        "Read what the task says about the shape of the mask, and about what is changed.",
    ),
)
def attention_weights__indexed_in_place_finite(e, mask=None):
    if mask is not None:
        e[~mask] = -1e9
    return e.softmax(dim=-1)


@WEIGHTS.misconception(
    "A large finite negative is put where [~mask] is, in a copy",
    fails=WEIGHTS.all_but("plain", "mask", "fewer_axes", "large", "gradients", "untouched"),
    hints=(
        "A mask of the shape of e works, unless a query has no step. One that has to be spread over the queries fails.",
        "Indexing with a mask wants its full shape; masked_fill and torch.where spread it. Besides, a query that may "
        "attend to nothing attends to all alike: set its weights to 0 behind the softmax.",
        "Read what the task says about the shape of the mask, and about a query that may attend to nothing.",
    ),
)
def attention_weights__indexed_finite(e, mask=None):
    if mask is not None:
        e = e.clone()
        e[~mask] = -1e9
    return e.softmax(dim=-1)


# ---- 7.5 context ----

CONTEXT = Exercise(
    number="7.5",
    references=(attention.context,),
    probe_module=probes,
    points=1,
    minutes=5,
    difficulty=1,
    not_applicable={
        "weights times scores": "the function is given weights and states; no scores are at hand to be averaged.",
    },
)


@CONTEXT.misconception(
    "The plain mean of all states",
    fails=CONTEXT.all_but(),
    hints=(
        "All queries find the same, and alpha makes no difference.",
        "The states were averaged without weights. What a query attends to is to count more.",
        "Read the equation.",
    ),
)
def context__plain_mean(alpha, h):
    return h.mean(dim=1, keepdim=True).expand(-1, alpha.shape[1], -1)


@CONTEXT.misconception(
    "Only the state with the largest weight",
    fails=CONTEXT.all_but(),
    hints=(
        "Each of your contexts is one of the states, whole.",
        "The best step was picked. An argmax has no gradient: nobody could learn where to look.",
        "Read the equation: a sum over j.",
    ),
)
def context__hard(alpha, h):
    return h[torch.arange(len(h))[:, None], alpha.argmax(dim=-1)]


@CONTEXT.misconception(
    "The features are added up, not the steps",
    fails=CONTEXT.all_but(),
    hints=(
        "Your result is as wide as the source is long.",
        "The sum ran over the features of each state. It runs over the source steps j; the features stay apart.",
        "Read the shape of the result.",
    ),
)
def context__features_summed(alpha, h):
    return (alpha[..., None] * h[:, None]).sum(dim=-1)


@CONTEXT.misconception(
    "Weighted, but not added up",
    fails=CONTEXT.all_but(),
    hints=(
        "Your result has four axes: it still holds every source step.",
        "The states were multiplied by their weights. They are also to be added up over j.",
        "Read the equation: a sum over j.",
    ),
)
def context__not_summed(alpha, h):
    return alpha[..., None] * h[:, None]


@CONTEXT.misconception(
    "Divided by the number of source steps",
    fails=CONTEXT.all_but(),
    hints=(
        "All your contexts are too small, and the longer the source the more.",
        "The weighted states were averaged. The weights have shared out already: add up.",
        "Read the equation: a sum over j.",
    ),
)
def context__mean_of_weighted(alpha, h):
    return (alpha[..., None] * h[:, None]).mean(dim=2)


@CONTEXT.misconception(
    "The largest of the weighted states, feature by feature",
    fails=CONTEXT.all_but(),
    hints=(
        "Each feature of your contexts comes from one source step.",
        "A maximum was taken over the source steps. It is a sum.",
        "Read the equation: a sum over j.",
    ),
)
def context__largest(alpha, h):
    return (alpha[..., None] * h[:, None]).amax(dim=2)


@CONTEXT.misconception(
    "The weights are brought to a sum of 1",
    fails=("context_one", "context_any_sum", "context_gradients"),
    hints=(
        "Weights that sum to 1 give the right contexts; others do not, and a row of zeros gives NaN.",
        "alpha was divided by its sum. It is used as it is: a query that may attend to nothing is to find nothing.",
        "Read what the task says about alpha.",
    ),
)
def context__renormalised(alpha, h):
    return alpha / alpha.sum(dim=-1, keepdim=True) @ h


@CONTEXT.misconception(
    "A softmax is taken of the weights",
    fails=CONTEXT.all_but(),
    hints=(
        "Your contexts are all close to the plain mean.",
        "alpha has been through a softmax already. A second one makes all weights nearly equal.",
        "Read what the task says about alpha.",
    ),
)
def context__softmax_again(alpha, h):
    return alpha.softmax(dim=-1) @ h


@CONTEXT.misconception(
    "The weights are transposed",
    fails=CONTEXT.all_but(),
    hints=(
        "Your product only works if there are as many queries as source steps.",
        "alpha.mT has a row for each source step. The sum runs over the last axis of alpha, as it is.",
        "Read the equation: on which index do alpha and h meet?",
    ),
)
def context__weights_transposed(alpha, h):
    return alpha.mT @ h


@CONTEXT.misconception(
    "The states are transposed",
    fails=CONTEXT.all_but(),
    hints=(
        "Your product only works if the states are as wide as the source is long.",
        "h.mT is right for scores. Here the sum runs over the source steps, and they are axis 1 of h as it is.",
        "Read the equation: on which index do alpha and h meet?",
    ),
)
def context__states_transposed(alpha, h):
    return alpha @ h.mT


@CONTEXT.misconception(
    "Queries and features are exchanged in the result",
    fails=CONTEXT.all_but(),
    hints=(
        "All numbers are there, but your result is (B, C, T).",
        "The last two axes have changed places. A row of the result belongs to a query.",
        "Read the shape of the result.",
    ),
)
def context__axes_exchanged(alpha, h):
    return h.mT @ alpha.mT


@CONTEXT.misconception(
    "The queries are added up",
    fails=CONTEXT.all_but(),
    hints=(
        "You return one context for a row of the batch; there is one for each query.",
        "The sum ran over the queries as well. Every step of the decoder looks anew.",
        "Read the shape of the result.",
    ),
)
def context__queries_summed(alpha, h):
    return (alpha @ h).sum(dim=1)


@CONTEXT.misconception(
    "The batch is added up",
    fails=CONTEXT.all_but(),
    hints=(
        "Your result has no axis of the batch.",
        "The rows were mixed: an index that stands on both inputs and not on the output is summed over.",
        "Read the shape of the result.",
    ),
)
def context__batch_summed(alpha, h):
    return torch.einsum("bts,bsc->tc", alpha, h)


@CONTEXT.misconception(
    "The weights get no gradient",
    fails=("context_gradients",),
    hints=(
        "Your contexts are right, but no gradient comes back to alpha.",
        "alpha was detached, so nobody could learn where to look.",
        "Read what the task says about gradients.",
    ),
)
def context__weights_detached(alpha, h):
    return alpha.detach() @ h


@CONTEXT.misconception(
    "The states get no gradient",
    fails=("context_gradients",),
    hints=(
        "Your contexts are right, but no gradient comes back to h.",
        "h was detached, so the reader of the source learns nothing from what is found.",
        "Read what the task says about gradients.",
    ),
)
def context__states_detached(alpha, h):
    return alpha @ h.detach()


# ---- 7.6 attn_decoder_step ----

STEP = Exercise(
    number="7.6",
    references=(attention.attn_decoder_step,),
    probe_module=probes,
    points=4,
    minutes=25,
    difficulty=3,
    uses=("score_bilinear", "attention_weights", "context"),
    forbidden=_LAYERS,
    not_applicable={
        "the context of the step before is reused": "the step is not given it; what can be read in its place, a "
        "context that does not depend on the state, is listed.",
    },
    equivalent={
        "c = context(alpha, h)[:, -1]": "there is one query: the last is the first.",
        "return (r @ params.W_hy.T + params.b_y, s, alpha[:, -1])": "there is one query: the last is the first.",
    },
)


@STEP.misconception(
    "The query is the state after the step: the decoder looks twice",
    fails=STEP.all_but("state"),
    hints=(
        "The state is right. Scores and weights come from a second look, with the new state.",
        "The query is declared: the state before the step. What was found with it is read twice, by the GRU and by the "
        "readout.",
        "Read the equation of the look: the index of s.",
    ),
)
def attn_decoder_step__looks_again(y, s, h, mask, params):
    c = context(attention_weights(score_bilinear(s[:, None], h, params.W_a), mask[:, None]), h)[:, 0]
    s = gru_step(torch.cat([params.W_e[y], c], dim=1), s, params.gru)
    alpha = attention_weights(score_bilinear(s[:, None], h, params.W_a), mask[:, None])
    c = context(alpha, h)[:, 0]
    r = torch.tanh(torch.cat([s, c], dim=1) @ params.W_r.T)
    return r @ params.W_hy.T + params.b_y, s, alpha[:, 0]


@STEP.misconception(
    "The decoder steps first, without a context, and looks afterwards",
    fails=STEP.all_but(),
    hints=(
        "What the source holds makes no difference to your new state.",
        "The GRU was given zeros for the context, and the new state asked. That is another model (Luong's). Here the "
        "state before the step asks, and the GRU reads what is found.",
        "Read the equations of the look and of the state: which comes first?",
    ),
)
def attn_decoder_step__steps_first(y, s, h, mask, params):
    nothing = torch.zeros(len(h), h.shape[2])
    s = gru_step(torch.cat([params.W_e[y], nothing], dim=1), s, params.gru)
    alpha = attention_weights(score_bilinear(s[:, None], h, params.W_a), mask[:, None])
    c = context(alpha, h)[:, 0]
    r = torch.tanh(torch.cat([s, c], dim=1) @ params.W_r.T)
    return r @ params.W_hy.T + params.b_y, s, alpha[:, 0]


@STEP.misconception(
    "The GRU does not read the context",
    fails=STEP.all_but("weights"),
    hints=(
        "The weights are right; what was found makes no difference to your new state.",
        "Zeros stand where the context belongs. The GRU reads embedding and context, side by side.",
        "Read the equation of the state: what is joined with the embedding?",
    ),
)
def attn_decoder_step__context_not_in_state(y, s, h, mask, params):
    alpha = attention_weights(score_bilinear(s[:, None], h, params.W_a), mask[:, None])
    c = context(alpha, h)[:, 0]
    s = gru_step(torch.cat([params.W_e[y], torch.zeros_like(c)], dim=1), s, params.gru)
    r = torch.tanh(torch.cat([s, c], dim=1) @ params.W_r.T)
    return r @ params.W_hy.T + params.b_y, s, alpha[:, 0]


@STEP.misconception(
    "The readout does not read the context",
    fails=STEP.all_but("state", "weights"),
    hints=(
        "State and weights are right; the scores are those of the state alone.",
        "The columns of W_r behind the first H belong to the context, and nothing meets them.",
        "Read the equation of the output: what is joined with the state?",
    ),
)
def attn_decoder_step__context_not_in_readout(y, s, h, mask, params):
    alpha = attention_weights(score_bilinear(s[:, None], h, params.W_a), mask[:, None])
    c = context(alpha, h)[:, 0]
    s = gru_step(torch.cat([params.W_e[y], c], dim=1), s, params.gru)
    r = torch.tanh(s @ params.W_r[:, : s.shape[1]].T)
    return r @ params.W_hy.T + params.b_y, s, alpha[:, 0]


@STEP.misconception(
    "The context is the last state of the source",
    fails=STEP.all_but("weights"),
    hints=(
        "The weights are right, and nothing is done with them: states and scores are wrong.",
        "The decoder of chapter 6 reads one vector for the whole source. Here it reads the mean with its own weights.",
        "Read the equation of the look: what is c?",
    ),
)
def attn_decoder_step__last_state_as_context(y, s, h, mask, params):
    alpha = attention_weights(score_bilinear(s[:, None], h, params.W_a), mask[:, None])
    c = h[:, -1]
    s = gru_step(torch.cat([params.W_e[y], c], dim=1), s, params.gru)
    r = torch.tanh(torch.cat([s, c], dim=1) @ params.W_r.T)
    return r @ params.W_hy.T + params.b_y, s, alpha[:, 0]


@STEP.misconception(
    "The context is the plain mean of the source",
    fails=STEP.all_but("weights"),
    hints=(
        "The weights are right, and nothing is done with them: states and scores are wrong.",
        "All real states were averaged alike. The weights say how much each of them counts.",
        "Read the equation of the look: what is c?",
    ),
)
def attn_decoder_step__mean_as_context(y, s, h, mask, params):
    alpha = attention_weights(score_bilinear(s[:, None], h, params.W_a), mask[:, None])
    c = (h * mask[..., None]).sum(dim=1) / mask.sum(dim=1, keepdim=True).clamp(min=1)
    s = gru_step(torch.cat([params.W_e[y], c], dim=1), s, params.gru)
    r = torch.tanh(torch.cat([s, c], dim=1) @ params.W_r.T)
    return r @ params.W_hy.T + params.b_y, s, alpha[:, 0]


@STEP.misconception(
    "The best state of the source is the context",
    fails=STEP.all_but("weights"),
    hints=(
        "The weights are right. What is read is the one state with the largest of them.",
        "An argmax has no gradient: nobody could learn where to look. The context is the mean with all weights.",
        "Read the equation of the look: what is c?",
    ),
)
def attn_decoder_step__hard(y, s, h, mask, params):
    alpha = attention_weights(score_bilinear(s[:, None], h, params.W_a), mask[:, None])
    c = h[torch.arange(len(h)), alpha[:, 0].argmax(dim=1)]
    s = gru_step(torch.cat([params.W_e[y], c], dim=1), s, params.gru)
    r = torch.tanh(torch.cat([s, c], dim=1) @ params.W_r.T)
    return r @ params.W_hy.T + params.b_y, s, alpha[:, 0]


@STEP.misconception(
    "The context is divided by the number of source steps",
    fails=STEP.all_but("weights"),
    hints=(
        "The weights are right; what is found is too small, and the longer the source the more.",
        "The weighted states were averaged. The weights have shared out already: add up.",
        "Read the equation of the look: a sum over j.",
    ),
)
def attn_decoder_step__mean_of_weighted(y, s, h, mask, params):
    alpha = attention_weights(score_bilinear(s[:, None], h, params.W_a), mask[:, None])[:, 0]
    c = (alpha[..., None] * h).mean(dim=1)
    s = gru_step(torch.cat([params.W_e[y], c], dim=1), s, params.gru)
    r = torch.tanh(torch.cat([s, c], dim=1) @ params.W_r.T)
    return r @ params.W_hy.T + params.b_y, s, alpha


@STEP.misconception(
    "The embedding of the token asks, not the state",
    fails=STEP.all_but(),
    hints=(
        "What the decoder has said before makes no difference to where it looks.",
        "W_e[y] was taken for the query. It knows one token; the state knows all tokens so far.",
        "Read the equation of the look: what is multiplied by W_a?",
    ),
)
def attn_decoder_step__embedding_asks(y, s, h, mask, params):
    alpha = attention_weights(score_bilinear(params.W_e[y][:, None], h, params.W_a), mask[:, None])
    c = context(alpha, h)[:, 0]
    s = gru_step(torch.cat([params.W_e[y], c], dim=1), s, params.gru)
    r = torch.tanh(torch.cat([s, c], dim=1) @ params.W_r.T)
    return r @ params.W_hy.T + params.b_y, s, alpha[:, 0]


@STEP.misconception(
    "The decoder looks at the embeddings, not at the states of the source",
    fails=STEP.all_but(),
    hints=(
        "Your weights are shared out over the vocabulary, and the source makes no difference.",
        "W_e holds the tokens that may be said. What is looked at are the states h of the source.",
        "Read the equation of the look: what is multiplied by the weights?",
    ),
)
def attn_decoder_step__looks_at_embeddings(y, s, h, mask, params):
    words = params.W_e.expand(len(y), -1, -1)
    alpha = attention_weights(score_bilinear(s[:, None], words, params.W_a), mask[:, None])
    c = context(alpha, words)[:, 0]
    s = gru_step(torch.cat([params.W_e[y], c], dim=1), s, params.gru)
    r = torch.tanh(torch.cat([s, c], dim=1) @ params.W_r.T)
    return r @ params.W_hy.T + params.b_y, s, alpha[:, 0]


@STEP.misconception(
    "W_a is transposed",
    fails=STEP.all_but(),
    hints=(
        "Your scores only work if decoder and source are equally wide, and then they are wrong.",
        "W_a has a row for each feature of the decoder's state and a column for each of the source's.",
        "Read the equation of the look: on which side of W_a does the query stand?",
    ),
)
def attn_decoder_step__score_transposed(y, s, h, mask, params):
    alpha = attention_weights(score_bilinear(s[:, None], h, params.W_a.T), mask[:, None])
    c = context(alpha, h)[:, 0]
    s = gru_step(torch.cat([params.W_e[y], c], dim=1), s, params.gru)
    r = torch.tanh(torch.cat([s, c], dim=1) @ params.W_r.T)
    return r @ params.W_hy.T + params.b_y, s, alpha[:, 0]


@STEP.misconception(
    "W_a is not used",
    fails=STEP.all_but(),
    hints=(
        "W_a makes no difference, and decoder and source have to be equally wide.",
        "That is the plain dot product. The score of this decoder is bilinear.",
        "Read the equation of the look: what stands between s and h?",
    ),
)
def attn_decoder_step__dot_score(y, s, h, mask, params):
    alpha = attention_weights(s[:, None] @ h.mT, mask[:, None])
    c = context(alpha, h)[:, 0]
    s = gru_step(torch.cat([params.W_e[y], c], dim=1), s, params.gru)
    r = torch.tanh(torch.cat([s, c], dim=1) @ params.W_r.T)
    return r @ params.W_hy.T + params.b_y, s, alpha[:, 0]


@STEP.misconception(
    "The scores are divided by the root of the decoder's width",
    fails=STEP.all_but(),
    hints=(
        "The right source steps win, but by too little: your weights are too even.",
        "The root belongs to the attention of chapter 8. Here W_a learns how large the scores are to be.",
        "Read the equation of the look: what is divided by what?",
    ),
)
def attn_decoder_step__scaled_by_H(y, s, h, mask, params):
    e = score_bilinear(s[:, None], h, params.W_a) / math.sqrt(s.shape[1])
    alpha = attention_weights(e, mask[:, None])
    c = context(alpha, h)[:, 0]
    s = gru_step(torch.cat([params.W_e[y], c], dim=1), s, params.gru)
    r = torch.tanh(torch.cat([s, c], dim=1) @ params.W_r.T)
    return r @ params.W_hy.T + params.b_y, s, alpha[:, 0]


@STEP.misconception(
    "The scores are divided by the root of the source's width",
    fails=STEP.all_but(),
    hints=(
        "The right source steps win, but by too little: your weights are too even.",
        "The root belongs to the attention of chapter 8. Here W_a learns how large the scores are to be.",
        "Read the equation of the look: what is divided by what?",
    ),
)
def attn_decoder_step__scaled_by_C(y, s, h, mask, params):
    e = score_bilinear(s[:, None], h, params.W_a) / math.sqrt(h.shape[2])
    alpha = attention_weights(e, mask[:, None])
    c = context(alpha, h)[:, 0]
    s = gru_step(torch.cat([params.W_e[y], c], dim=1), s, params.gru)
    r = torch.tanh(torch.cat([s, c], dim=1) @ params.W_r.T)
    return r @ params.W_hy.T + params.b_y, s, alpha[:, 0]


@STEP.misconception(
    "The pads are looked at",
    fails=STEP.all_but("full"),
    hints=(
        "Without pads you are right; with pads some of the attention goes to them.",
        "The mask is not used. What stands at the pads is no word.",
        "Read what the task says about mask.",
    ),
)
def attn_decoder_step__mask_ignored(y, s, h, mask, params):
    alpha = attention_weights(score_bilinear(s[:, None], h, params.W_a))
    c = context(alpha, h)[:, 0]
    s = gru_step(torch.cat([params.W_e[y], c], dim=1), s, params.gru)
    r = torch.tanh(torch.cat([s, c], dim=1) @ params.W_r.T)
    return r @ params.W_hy.T + params.b_y, s, alpha[:, 0]


@STEP.misconception(
    "Only the pads are looked at",
    fails=STEP.all_but(),
    hints=(
        "Your decoder looks at exactly what it may not.",
        "The mask was turned round. True stands at the real steps, and attention_weights takes it as it is.",
        "Read what the task says about mask.",
    ),
)
def attn_decoder_step__polarity(y, s, h, mask, params):
    alpha = attention_weights(score_bilinear(s[:, None], h, params.W_a), ~mask[:, None])
    c = context(alpha, h)[:, 0]
    s = gru_step(torch.cat([params.W_e[y], c], dim=1), s, params.gru)
    r = torch.tanh(torch.cat([s, c], dim=1) @ params.W_r.T)
    return r @ params.W_hy.T + params.b_y, s, alpha[:, 0]


@STEP.misconception(
    "The mask is applied after the softmax, and what is left is not renormalised",
    fails=STEP.all_but("full"),
    hints=(
        "Without pads you are right; with pads your weights sum to less than 1.",
        "The pads took their share in the softmax before they were wiped out. Hand the mask to attention_weights.",
        "Read what the task says about alpha.",
    ),
)
def attn_decoder_step__mask_after_softmax(y, s, h, mask, params):
    alpha = attention_weights(score_bilinear(s[:, None], h, params.W_a)) * mask[:, None]
    c = context(alpha, h)[:, 0]
    s = gru_step(torch.cat([params.W_e[y], c], dim=1), s, params.gru)
    r = torch.tanh(torch.cat([s, c], dim=1) @ params.W_r.T)
    return r @ params.W_hy.T + params.b_y, s, alpha[:, 0]


@STEP.misconception(
    "A row without a real source step gets NaN",
    fails=("attn_decoder_step_nothing",),
    hints=(
        "You are right wherever a row has a real source step. Where it has none, all is NaN.",
        "A softmax over nothing but -inf is 0 / 0. attention_weights gives zeros there: use it.",
        "Read what the task says about a row without a real step.",
    ),
)
def attn_decoder_step__nan_rows(y, s, h, mask, params):
    e = (s @ params.W_a)[:, None] @ h.mT
    alpha = e.masked_fill(~mask[:, None], -math.inf).softmax(dim=-1)
    c = (alpha @ h)[:, 0]
    s = gru_step(torch.cat([params.W_e[y], c], dim=1), s, params.gru)
    r = torch.tanh(torch.cat([s, c], dim=1) @ params.W_r.T)
    return r @ params.W_hy.T + params.b_y, s, alpha[:, 0]


@STEP.misconception(
    "A row without a real source step looks at its pads",
    fails=("attn_decoder_step_nothing",),
    hints=(
        "You are right wherever a row has a real source step. Where it has none, the pads are read.",
        "A large finite negative stands for -inf: if all scores are the same, all weights are. attention_weights gives "
        "zeros there: use it.",
        "Read what the task says about a row without a real step.",
    ),
)
def attn_decoder_step__finite_fill(y, s, h, mask, params):
    e = (s @ params.W_a)[:, None] @ h.mT
    alpha = e.masked_fill(~mask[:, None], -1e9).softmax(dim=-1)
    c = (alpha @ h)[:, 0]
    s = gru_step(torch.cat([params.W_e[y], c], dim=1), s, params.gru)
    r = torch.tanh(torch.cat([s, c], dim=1) @ params.W_r.T)
    return r @ params.W_hy.T + params.b_y, s, alpha[:, 0]


@STEP.misconception(
    "The softmax runs over the batch",
    fails=STEP.all_but(),
    hints=(
        "Your weights sum to 1 over the rows of the batch, not over the source.",
        "Without an axis of queries the scores are (B, S), and the softmax took the first axis. It runs over the last.",
        "Read the equation of the look: over which index does the softmax run?",
    ),
)
def attn_decoder_step__softmax_over_batch(y, s, h, mask, params):
    e = score_bilinear(s[:, None], h, params.W_a)[:, 0]
    alpha = e.masked_fill(~mask, -math.inf).softmax(dim=0).masked_fill(~mask, 0)
    c = context(alpha[:, None], h)[:, 0]
    s = gru_step(torch.cat([params.W_e[y], c], dim=1), s, params.gru)
    r = torch.tanh(torch.cat([s, c], dim=1) @ params.W_r.T)
    return r @ params.W_hy.T + params.b_y, s, alpha


@STEP.misconception(
    "The context stands before the embedding",
    fails=STEP.all_but("weights"),
    hints=(
        "All shapes fit, but the columns of the GRU's W_x meet the wrong numbers.",
        "Joining in the other order gives a vector of the same width. The first E columns belong to the embedding.",
        "Read what the task says about the columns of W_x.",
    ),
)
def attn_decoder_step__context_before_embedding(y, s, h, mask, params):
    alpha = attention_weights(score_bilinear(s[:, None], h, params.W_a), mask[:, None])
    c = context(alpha, h)[:, 0]
    s = gru_step(torch.cat([c, params.W_e[y]], dim=1), s, params.gru)
    r = torch.tanh(torch.cat([s, c], dim=1) @ params.W_r.T)
    return r @ params.W_hy.T + params.b_y, s, alpha[:, 0]


@STEP.misconception(
    "The context stands before the state",
    fails=STEP.all_but("state", "weights"),
    hints=(
        "State and weights are right, and all shapes fit, but the columns of W_r meet the wrong numbers.",
        "Joining in the other order gives a vector of the same width. The first H columns belong to the state.",
        "Read what the task says about the columns of W_r.",
    ),
)
def attn_decoder_step__context_before_state(y, s, h, mask, params):
    alpha = attention_weights(score_bilinear(s[:, None], h, params.W_a), mask[:, None])
    c = context(alpha, h)[:, 0]
    s = gru_step(torch.cat([params.W_e[y], c], dim=1), s, params.gru)
    r = torch.tanh(torch.cat([c, s], dim=1) @ params.W_r.T)
    return r @ params.W_hy.T + params.b_y, s, alpha[:, 0]


@STEP.misconception(
    "The readout reads the state before the step",
    fails=STEP.all_but("state", "weights"),
    hints=(
        "State and weights are right; in the scores the token just read has no say.",
        "The old state was joined with the context. The readout comes after the step.",
        "Read the equation of the output: the index of s.",
    ),
)
def attn_decoder_step__old_state_in_readout(y, s, h, mask, params):
    alpha = attention_weights(score_bilinear(s[:, None], h, params.W_a), mask[:, None])
    c = context(alpha, h)[:, 0]
    r = torch.tanh(torch.cat([s, c], dim=1) @ params.W_r.T)
    s = gru_step(torch.cat([params.W_e[y], c], dim=1), s, params.gru)
    return r @ params.W_hy.T + params.b_y, s, alpha[:, 0]


@STEP.misconception(
    "The readout has no tanh",
    fails=STEP.all_but("state", "weights"),
    hints=(
        "State and weights are right; the scores are linear in them.",
        "Two matrices in a row are one matrix. The tanh between them is missing.",
        "Read the equation of the output.",
    ),
)
def attn_decoder_step__no_tanh(y, s, h, mask, params):
    alpha = attention_weights(score_bilinear(s[:, None], h, params.W_a), mask[:, None])
    c = context(alpha, h)[:, 0]
    s = gru_step(torch.cat([params.W_e[y], c], dim=1), s, params.gru)
    r = torch.cat([s, c], dim=1) @ params.W_r.T
    return r @ params.W_hy.T + params.b_y, s, alpha[:, 0]


@STEP.misconception(
    "A sigmoid in the readout",
    fails=STEP.all_but("state", "weights"),
    hints=(
        "State and weights are right; the scores are not.",
        "The readout went through a sigmoid. It is no gate: it has a tanh.",
        "Read the equation of the output.",
    ),
)
def attn_decoder_step__sigmoid(y, s, h, mask, params):
    alpha = attention_weights(score_bilinear(s[:, None], h, params.W_a), mask[:, None])
    c = context(alpha, h)[:, 0]
    s = gru_step(torch.cat([params.W_e[y], c], dim=1), s, params.gru)
    r = torch.sigmoid(torch.cat([s, c], dim=1) @ params.W_r.T)
    return r @ params.W_hy.T + params.b_y, s, alpha[:, 0]


@STEP.misconception(
    "The tanh stands around the scores",
    fails=STEP.all_but("state", "weights"),
    hints=(
        "State and weights are right; your scores lie between -1 and 1.",
        "The tanh came after W_hy. Then no token can ever be sure. It belongs to the readout, before W_hy.",
        "Read the equation of the output: what stands inside the tanh?",
    ),
)
def attn_decoder_step__tanh_last(y, s, h, mask, params):
    alpha = attention_weights(score_bilinear(s[:, None], h, params.W_a), mask[:, None])
    c = context(alpha, h)[:, 0]
    s = gru_step(torch.cat([params.W_e[y], c], dim=1), s, params.gru)
    r = torch.cat([s, c], dim=1) @ params.W_r.T
    return torch.tanh(r @ params.W_hy.T + params.b_y), s, alpha[:, 0]


@STEP.misconception(
    "The bias of the scores is left out",
    fails=STEP.all_but("state", "weights"),
    hints=(
        "State and weights are right; each score is off by the same amount in all rows.",
        "b_y was not added: how common a token is, whatever the source.",
        "Read the equation of the output.",
    ),
)
def attn_decoder_step__no_bias(y, s, h, mask, params):
    alpha = attention_weights(score_bilinear(s[:, None], h, params.W_a), mask[:, None])
    c = context(alpha, h)[:, 0]
    s = gru_step(torch.cat([params.W_e[y], c], dim=1), s, params.gru)
    r = torch.tanh(torch.cat([s, c], dim=1) @ params.W_r.T)
    return r @ params.W_hy.T, s, alpha[:, 0]


@STEP.misconception(
    "Probabilities are returned, not scores",
    fails=STEP.all_but("state", "weights"),
    hints=(
        "State and weights are right; your scores are positive and sum to 1.",
        "A softmax was taken of them. The loss takes it later, from the scores.",
        "Read the equation of the output.",
    ),
)
def attn_decoder_step__probabilities(y, s, h, mask, params):
    alpha = attention_weights(score_bilinear(s[:, None], h, params.W_a), mask[:, None])
    c = context(alpha, h)[:, 0]
    s = gru_step(torch.cat([params.W_e[y], c], dim=1), s, params.gru)
    r = torch.tanh(torch.cat([s, c], dim=1) @ params.W_r.T)
    return (r @ params.W_hy.T + params.b_y).softmax(dim=1), s, alpha[:, 0]


@STEP.misconception(
    "The reset comes after the matrix",
    fails=STEP.all_but("weights"),
    hints=(
        "The weights are right, but the state is that of another GRU.",
        "The reset was put where torch has it. That is a different model, not another name for this one.",
        "Read what the task says about the reset.",
    ),
)
def attn_decoder_step__reset_after(y, s, h, mask, params):
    alpha = attention_weights(score_bilinear(s[:, None], h, params.W_a), mask[:, None])
    c = context(alpha, h)[:, 0]
    s = gru_step(torch.cat([params.W_e[y], c], dim=1), s, params.gru, "after")
    r = torch.tanh(torch.cat([s, c], dim=1) @ params.W_r.T)
    return r @ params.W_hy.T + params.b_y, s, alpha[:, 0]


@STEP.misconception(
    "The step starts from zeros",
    fails=STEP.all_but("weights"),
    hints=(
        "The weights are right, but your new state knows nothing of the old one.",
        "gru_step was given zeros for the old state. It is s.",
        "Read the equation of the state: two arguments.",
    ),
)
def attn_decoder_step__starts_from_zeros(y, s, h, mask, params):
    alpha = attention_weights(score_bilinear(s[:, None], h, params.W_a), mask[:, None])
    c = context(alpha, h)[:, 0]
    s = gru_step(torch.cat([params.W_e[y], c], dim=1), torch.zeros_like(s), params.gru)
    r = torch.tanh(torch.cat([s, c], dim=1) @ params.W_r.T)
    return r @ params.W_hy.T + params.b_y, s, alpha[:, 0]


@STEP.misconception(
    "The tokens are read one-hot, without the embedding",
    fails=STEP.all_but(),
    hints=(
        "W_e makes no difference in your answer, and the step only works if it is as wide as the vocabulary.",
        "One-hot vectors were handed to the GRU. An embedding turns each into E numbers first: row y of W_e.",
        "Read the equation of the state: what is done with y before it is joined with c?",
    ),
)
def attn_decoder_step__one_hot(y, s, h, mask, params):
    alpha = attention_weights(score_bilinear(s[:, None], h, params.W_a), mask[:, None])
    c = context(alpha, h)[:, 0]
    s = gru_step(torch.cat([F.one_hot(y, len(params.W_e)), c], dim=1), s, params.gru)
    r = torch.tanh(torch.cat([s, c], dim=1) @ params.W_r.T)
    return r @ params.W_hy.T + params.b_y, s, alpha[:, 0]


@STEP.misconception(
    "The ids themselves are read, without the embedding",
    fails=STEP.all_but(),
    hints=(
        "W_e makes no difference in your answer, and the step only works if it is one number wide.",
        "An id is a name, not a quantity: token 6 is not twice token 3. Look up row y of W_e.",
        "Read the equation of the state: what is done with y before it is joined with c?",
    ),
)
def attn_decoder_step__raw_ids(y, s, h, mask, params):
    alpha = attention_weights(score_bilinear(s[:, None], h, params.W_a), mask[:, None])
    c = context(alpha, h)[:, 0]
    s = gru_step(torch.cat([y[:, None], c], dim=1), s, params.gru)
    r = torch.tanh(torch.cat([s, c], dim=1) @ params.W_r.T)
    return r @ params.W_hy.T + params.b_y, s, alpha[:, 0]


@STEP.misconception(
    "The old state is returned",
    fails=STEP.all_but("logits", "weights"),
    hints=(
        "Scores and weights are right; the state you return is the one you were given.",
        "The new state was computed under another name, and s was returned. The next step would begin where this did.",
        "Read what the task says about the second result.",
    ),
)
def attn_decoder_step__returns_old_state(y, s, h, mask, params):
    alpha = attention_weights(score_bilinear(s[:, None], h, params.W_a), mask[:, None])
    c = context(alpha, h)[:, 0]
    new = gru_step(torch.cat([params.W_e[y], c], dim=1), s, params.gru)
    r = torch.tanh(torch.cat([new, c], dim=1) @ params.W_r.T)
    return r @ params.W_hy.T + params.b_y, s, alpha[:, 0]


@STEP.misconception(
    "The readout is returned as the state",
    fails=STEP.all_but("logits", "weights"),
    hints=(
        "Scores and weights are right; the state you return is as wide as the readout.",
        "tanh(W_r (s ⊕ c)) serves the scores only. What the next step begins with is s itself.",
        "Read what the task says about the second result.",
    ),
)
def attn_decoder_step__returns_readout(y, s, h, mask, params):
    alpha = attention_weights(score_bilinear(s[:, None], h, params.W_a), mask[:, None])
    c = context(alpha, h)[:, 0]
    s = gru_step(torch.cat([params.W_e[y], c], dim=1), s, params.gru)
    s = torch.tanh(torch.cat([s, c], dim=1) @ params.W_r.T)
    return s @ params.W_hy.T + params.b_y, s, alpha[:, 0]


@STEP.misconception(
    "The context is returned, not the weights",
    fails=STEP.all_but("logits", "state"),
    hints=(
        "Scores and state are right; the third result is as wide as a state of the source.",
        "You return what was found. Asked for is where it was found: the weights.",
        "Read what the task says about the third result.",
    ),
)
def attn_decoder_step__returns_context(y, s, h, mask, params):
    alpha = attention_weights(score_bilinear(s[:, None], h, params.W_a), mask[:, None])
    c = context(alpha, h)[:, 0]
    s = gru_step(torch.cat([params.W_e[y], c], dim=1), s, params.gru)
    r = torch.tanh(torch.cat([s, c], dim=1) @ params.W_r.T)
    return r @ params.W_hy.T + params.b_y, s, c


@STEP.misconception(
    "The scores of the source steps are returned, not their weights",
    fails=STEP.all_but("logits", "state"),
    hints=(
        "Scores and state are right; the third result does not sum to 1.",
        "e was returned. The weights come out of the softmax.",
        "Read what the task says about the third result.",
    ),
)
def attn_decoder_step__returns_scores(y, s, h, mask, params):
    e = score_bilinear(s[:, None], h, params.W_a)
    c = context(attention_weights(e, mask[:, None]), h)[:, 0]
    s = gru_step(torch.cat([params.W_e[y], c], dim=1), s, params.gru)
    r = torch.tanh(torch.cat([s, c], dim=1) @ params.W_r.T)
    return r @ params.W_hy.T + params.b_y, s, e[:, 0]


@STEP.misconception(
    "The weights keep the axis of the query",
    fails=STEP.all_but("logits", "state", "gradients"),
    hints=(
        "Scores and state are right; your weights are (B, 1, S).",
        "There is one query, and its axis was put in for the product. Take it out again: alpha[:, 0].",
        "Read the shape of the third result.",
    ),
)
def attn_decoder_step__query_axis_left(y, s, h, mask, params):
    alpha = attention_weights(score_bilinear(s[:, None], h, params.W_a), mask[:, None])
    c = context(alpha, h)[:, 0]
    s = gru_step(torch.cat([params.W_e[y], c], dim=1), s, params.gru)
    r = torch.tanh(torch.cat([s, c], dim=1) @ params.W_r.T)
    return r @ params.W_hy.T + params.b_y, s, alpha


@STEP.misconception(
    "The weights get no gradient",
    fails=("attn_decoder_step_gradients",),
    hints=(
        "All results are right, but no gradient comes back through the weights.",
        "alpha was detached, so nobody could learn where to look.",
        "Read what the task says about gradients.",
    ),
)
def attn_decoder_step__weights_detached(y, s, h, mask, params):
    alpha = attention_weights(score_bilinear(s[:, None], h, params.W_a), mask[:, None]).detach()
    c = context(alpha, h)[:, 0]
    s = gru_step(torch.cat([params.W_e[y], c], dim=1), s, params.gru)
    r = torch.tanh(torch.cat([s, c], dim=1) @ params.W_r.T)
    return r @ params.W_hy.T + params.b_y, s, alpha[:, 0]


@STEP.misconception(
    "The state is returned first",
    fails=STEP.all_but("weights"),
    hints=(
        "All results are right, but the first two stand in each other's place.",
        "Scores first, then the state, then the weights: as decode in chapter 6 has it.",
        "Read the three results in the task.",
    ),
)
def attn_decoder_step__state_first(y, s, h, mask, params):
    alpha = attention_weights(score_bilinear(s[:, None], h, params.W_a), mask[:, None])
    c = context(alpha, h)[:, 0]
    s = gru_step(torch.cat([params.W_e[y], c], dim=1), s, params.gru)
    r = torch.tanh(torch.cat([s, c], dim=1) @ params.W_r.T)
    return s, r @ params.W_hy.T + params.b_y, alpha[:, 0]


@STEP.misconception(
    "Only scores and state are returned",
    fails=STEP.all_but(),
    hints=(
        "Two results come back; three are asked for.",
        "The weights are missing: they are what is drawn later.",
        "Read the three results in the task.",
    ),
)
def attn_decoder_step__two_results(y, s, h, mask, params):
    alpha = attention_weights(score_bilinear(s[:, None], h, params.W_a), mask[:, None])
    c = context(alpha, h)[:, 0]
    s = gru_step(torch.cat([params.W_e[y], c], dim=1), s, params.gru)
    r = torch.tanh(torch.cat([s, c], dim=1) @ params.W_r.T)
    return r @ params.W_hy.T + params.b_y, s


@STEP.misconception(
    "All rows use the mask of the first row",
    fails=STEP.all_but("full", "alone"),
    hints=(
        "One row alone is right. In a batch all rows look at as many steps as the first one has.",
        "Scores (B, 1, S) and a mask (B, S) are spread to (B, B, S): every row meets every mask, and [:, 0] keeps the "
        "first. The mask needs an axis for the query, too: mask[:, None].",
        "Read the shapes of mask and of the scores, and what attention_weights says about them.",
    ),
)
def attn_decoder_step__mask_of_first_row(y, s, h, mask, params):
    alpha = attention_weights(score_bilinear(s[:, None], h, params.W_a), mask)
    c = context(alpha, h)[:, 0]
    s = gru_step(torch.cat([params.W_e[y], c], dim=1), s, params.gru)
    r = torch.tanh(torch.cat([s, c], dim=1) @ params.W_r.T)
    return r @ params.W_hy.T + params.b_y, s, alpha[:, 0]


# ---- 7.7 attention_pool ----

POOL = Exercise(
    number="7.7",
    references=(attention.attention_pool,),
    probe_module=probes,
    points=2,
    minutes=10,
    difficulty=2,
    uses=("attention_weights",),
)


@POOL.misconception(
    "The softmax runs over the features",
    fails=POOL.all_but(),
    hints=(
        "Your weights have an axis of features, along which they sum to 1.",
        "The products with w were not added up, and each step shared out among its own features. A score is one number "
        "for a step, and the steps compete.",
        "Read the equation: over which index does the softmax run?",
    ),
)
def attention_pool__over_features(h, w, mask):
    alpha = (h * w).softmax(dim=-1) * mask[..., None]
    return (alpha * h).sum(dim=1), alpha


@POOL.misconception(
    "Every feature has weights of its own",
    fails=POOL.all_but(),
    hints=(
        "Your weights have an axis of features: each feature looks elsewhere.",
        "The products with w were not added up before the softmax. One weight holds for a whole state.",
        "Read the equation: what does the dot between w and h mean?",
    ),
)
def attention_pool__weights_per_feature(h, w, mask):
    alpha = attention_weights((h * w).mT, mask[:, None]).mT
    return (alpha * h).sum(dim=1), alpha


@POOL.misconception(
    "The pads are weighted, too",
    fails=POOL.all_but("full"),
    hints=(
        "Without pads you are right; with pads some of the weight goes to them.",
        "The mask is not used.",
        "Read what the task says about mask.",
    ),
)
def attention_pool__mask_ignored(h, w, mask):
    alpha = attention_weights(h @ w)
    return (alpha[..., None] * h).sum(dim=1), alpha


@POOL.misconception(
    "The pads are weighted, and left out of the sum",
    fails=POOL.all_but("full"),
    hints=(
        "Without pads you are right; with pads your weights of the real steps sum to less than 1.",
        "The pads took their share in the softmax before they were wiped out. Hand the mask to attention_weights.",
        "Read what the task says about the softmax: over which steps does it run?",
    ),
)
def attention_pool__mask_after_softmax(h, w, mask):
    alpha = attention_weights(h @ w) * mask
    return (alpha[..., None] * h).sum(dim=1), alpha


@POOL.misconception(
    "The states at the pads are set to zero, and still weighted",
    fails=POOL.all_but("full"),
    hints=(
        "What stands at the pads makes no difference, but their number does.",
        "A state of zero has a score of 0, and exp(0) is 1: a pad weighs as much as a middling step. It needs a "
        "score of minus infinity, as attention_weights gives it.",
        "Read what the task says about the softmax: over which steps does it run?",
    ),
)
def attention_pool__pads_blanked(h, w, mask):
    h = h * mask[..., None]
    alpha = attention_weights(h @ w)
    return (alpha[..., None] * h).sum(dim=1), alpha


@POOL.misconception(
    "Only the pads are weighted",
    fails=POOL.all_but(),
    hints=(
        "Your weights are zero at the real steps.",
        "The mask was turned round. True stands at the real steps, and attention_weights takes it as it is.",
        "Read what the task says about mask.",
    ),
)
def attention_pool__polarity(h, w, mask):
    alpha = attention_weights(h @ w, ~mask)
    return (alpha[..., None] * h).sum(dim=1), alpha


@POOL.misconception(
    "The state in the last column asks",
    fails=POOL.all_but(),
    hints=(
        "w makes no difference in your answer.",
        "h[:, -1] was taken for the query, as a decoder would ask. Here nobody asks: w is learned, and the same for "
        "all rows.",
        "Read the equation: what is multiplied with h?",
    ),
)
def attention_pool__last_column_asks(h, w, mask):
    alpha = attention_weights((h @ h[:, -1, :, None])[..., 0], mask)
    return (alpha[..., None] * h).sum(dim=1), alpha


@POOL.misconception(
    "The last real state asks",
    fails=POOL.all_but(),
    hints=(
        "w makes no difference in your answer.",
        "The state at the end of each row was taken for the query. Here nobody asks: w is learned, and the same for "
        "all rows.",
        "Read the equation: what is multiplied with h?",
    ),
)
def attention_pool__last_state_asks(h, w, mask):
    last = (torch.arange(h.shape[1]) * mask).argmax(dim=1)
    query = h[torch.arange(len(h)), last]
    alpha = attention_weights((h @ query[..., None])[..., 0], mask)
    return (alpha[..., None] * h).sum(dim=1), alpha


@POOL.misconception(
    "The softmax runs over the batch",
    fails=POOL.all_but(),
    hints=(
        "Your weights sum to 1 over the rows, not over the steps.",
        "dim=0 is the batch: what one sequence gets, the others lose. The steps are the last axis.",
        "Read the equation: over which index does the softmax run?",
    ),
)
def attention_pool__over_batch(h, w, mask):
    alpha = (h @ w).masked_fill(~mask, -math.inf).softmax(dim=0).masked_fill(~mask, 0)
    return (alpha[..., None] * h).sum(dim=1), alpha


@POOL.misconception(
    "One softmax runs over all steps of all rows",
    fails=POOL.all_but(),
    hints=(
        "All your weights together sum to 1; those of every row should.",
        "Rows and steps were softmaxed as one axis. Each sequence has weight of its own to share out.",
        "Read what the task says about the softmax: over which steps does it run?",
    ),
)
def attention_pool__over_all(h, w, mask):
    alpha = (h @ w).masked_fill(~mask, -math.inf).flatten().softmax(dim=0).view(mask.shape)
    return (alpha[..., None] * h).sum(dim=1), alpha


@POOL.misconception(
    "A row without a real step gets NaN",
    fails=("attention_pool_empty_row", "attention_pool_gradients"),
    hints=(
        "You are right wherever a row has a real step. Where it has none, you return NaN.",
        "A softmax over nothing but -inf is 0 / 0. attention_weights gives zeros there: use it.",
        "Read what the task says about a row without a real step.",
    ),
)
def attention_pool__nan_rows(h, w, mask):
    alpha = (h @ w).masked_fill(~mask, -math.inf).softmax(dim=1)
    return (alpha[..., None] * h).sum(dim=1), alpha


@POOL.misconception(
    "A row without a real step takes the mean of its pads",
    fails=("attention_pool_empty_row", "attention_pool_gradients"),
    hints=(
        "You are right wherever a row has a real step. Where it has none, the pads are read.",
        "A large finite negative stands for -inf: if all scores are the same, all weights are. attention_weights gives "
        "zeros there: use it.",
        "Read what the task says about a row without a real step.",
    ),
)
def attention_pool__finite_fill(h, w, mask):
    alpha = (h @ w).masked_fill(~mask, -1e9).softmax(dim=1)
    return (alpha[..., None] * h).sum(dim=1), alpha


@POOL.misconception(
    "exp overflows at the pads",
    fails=("attention_pool_large_pads",),
    hints=(
        "You are right unless large numbers stand at the pads.",
        "exp of a large score is inf, and inf times 0 is NaN. Mask the scores, then take torch.softmax.",
        "Read what the task says about what stands at the pads.",
    ),
)
def attention_pool__overflow(h, w, mask):
    exps = (h @ w).exp() * mask
    alpha = exps / exps.sum(dim=1, keepdim=True).clamp(min=1e-300)
    return (alpha[..., None] * h).sum(dim=1), alpha


@POOL.misconception(
    "The mask is applied after the softmax, and rounding has eaten what is left",
    fails=("attention_pool_large_pads",),
    hints=(
        "You are right unless large numbers stand at the pads; then a row is lost.",
        "The pads took all of the softmax, and 0 is left to renormalise. Hand the mask to attention_weights: then the "
        "softmax never sees the pads.",
        "Read what the task says about what stands at the pads.",
    ),
)
def attention_pool__renormalised(h, w, mask):
    alpha = attention_weights(h @ w) * mask
    alpha = alpha / alpha.sum(dim=1, keepdim=True).clamp(min=1e-300)
    return (alpha[..., None] * h).sum(dim=1), alpha


@POOL.misconception(
    "The plain mean of the real steps",
    fails=POOL.all_but(),
    hints=(
        "All real steps weigh the same, and w makes no difference.",
        "That is masked_mean of chapter 5. Here each state says through w how much it matters.",
        "Read the equation of the weights.",
    ),
)
def attention_pool__plain_mean(h, w, mask):
    alpha = mask / mask.sum(dim=1, keepdim=True).clamp(min=1)
    return (alpha[..., None] * h).sum(dim=1), alpha


@POOL.misconception(
    "Only the best step counts",
    fails=POOL.all_but(),
    hints=(
        "Your weights are 0 and 1: each row is one of its states.",
        "The best step was picked. An argmax has no gradient: w could not be learned.",
        "Read the equation of the weights.",
    ),
)
def attention_pool__hard(h, w, mask):
    best = (h @ w).masked_fill(~mask, -math.inf).argmax(dim=1)
    alpha = F.one_hot(best, h.shape[1]) * mask
    return (alpha[..., None] * h).sum(dim=1), alpha


@POOL.misconception(
    "Divided by the number of steps",
    fails=POOL.all_but(),
    hints=(
        "Your weights are right; c is too small, and the longer the rows the more.",
        "The weighted states were averaged. The weights have shared out already: add up.",
        "Read the equation: a sum over t.",
    ),
)
def attention_pool__mean_of_weighted(h, w, mask):
    alpha = attention_weights(h @ w, mask)
    return (alpha[..., None] * h).mean(dim=1), alpha


@POOL.misconception(
    "The features are added up, not the steps",
    fails=POOL.all_but(),
    hints=(
        "Your weights are right; c has a number for each step.",
        "The sum ran over the features. It runs over the steps t; the features stay apart.",
        "Read the shape of the first result.",
    ),
)
def attention_pool__features_summed(h, w, mask):
    alpha = attention_weights(h @ w, mask)
    return (alpha[..., None] * h).sum(dim=-1), alpha


@POOL.misconception(
    "Weighted, but not added up",
    fails=POOL.all_but(),
    hints=(
        "Your weights are right; c still has an axis of time.",
        "The states were multiplied by their weights. They are also to be added up over t.",
        "Read the equation: a sum over t.",
    ),
)
def attention_pool__not_summed(h, w, mask):
    alpha = attention_weights(h @ w, mask)
    return alpha[..., None] * h, alpha


@POOL.misconception(
    "A sigmoid for each step in place of a softmax for each row",
    fails=POOL.all_but(),
    hints=(
        "Your weights do not sum to 1.",
        "Each step was judged alone. In a softmax the steps compete: more for one is less for the others.",
        "Read the equation of the weights.",
    ),
)
def attention_pool__sigmoid(h, w, mask):
    alpha = torch.sigmoid(h @ w) * mask
    return (alpha[..., None] * h).sum(dim=1), alpha


@POOL.misconception(
    "The scores are used as weights",
    fails=POOL.all_but(),
    hints=(
        "Some of your weights are negative.",
        "The softmax is missing: a score may be any number, weights are shares.",
        "Read the equation of the weights.",
    ),
)
def attention_pool__no_softmax(h, w, mask):
    alpha = (h @ w) * mask
    return (alpha[..., None] * h).sum(dim=1), alpha


@POOL.misconception(
    "A tanh is put around the states before they are scored",
    fails=POOL.all_but(),
    hints=(
        "Your weights are not right, where numbers are large least of all.",
        "tanh(h) was multiplied with w, as some papers do. Here the states are scored as they are.",
        "Read the equation of the weights.",
    ),
)
def attention_pool__tanh(h, w, mask):
    alpha = attention_weights(torch.tanh(h) @ w, mask)
    return (alpha[..., None] * h).sum(dim=1), alpha


@POOL.misconception(
    "The scores are divided by the root of the width",
    fails=POOL.all_but(),
    hints=(
        "The right steps win, but by too little: your weights are too even.",
        "The root belongs to the attention of chapter 8. Here w itself learns how large the scores are to be.",
        "Read the equation of the weights.",
    ),
)
def attention_pool__scaled(h, w, mask):
    alpha = attention_weights(h @ w / math.sqrt(len(w)), mask)
    return (alpha[..., None] * h).sum(dim=1), alpha


@POOL.misconception(
    "w is brought to length 1",
    fails=POOL.all_but(),
    hints=(
        "A longer w makes no difference in your answer.",
        "How long w is says how sharp the look is: that is learned, too.",
        "Read the equation of the weights.",
    ),
)
def attention_pool__w_normalised(h, w, mask):
    alpha = attention_weights(h @ F.normalize(w, dim=0), mask)
    return (alpha[..., None] * h).sum(dim=1), alpha


@POOL.misconception(
    "The scores are returned, not the weights",
    fails=POOL.all_but(),
    hints=(
        "c is right. What you return beside it does not sum to 1.",
        "The scores before the softmax were returned.",
        "Read what the task says about the second result.",
    ),
)
def attention_pool__returns_scores(h, w, mask):
    e = h @ w
    return (attention_weights(e, mask)[..., None] * h).sum(dim=1), e


@POOL.misconception(
    "The weights are returned first",
    fails=POOL.all_but(),
    hints=(
        "Both results are right, but they stand in the wrong order.",
        "Return c first, then the weights.",
        "Read the two results in the task.",
    ),
)
def attention_pool__weights_first(h, w, mask):
    alpha = attention_weights(h @ w, mask)
    return alpha, (alpha[..., None] * h).sum(dim=1)


@POOL.misconception(
    "Only c is returned",
    fails=POOL.all_but(),
    hints=(
        "c is right, but it comes alone.",
        "The weights are asked for as well: they are what is drawn later.",
        "Read the two results in the task.",
    ),
)
def attention_pool__c_only(h, w, mask):
    return (attention_weights(h @ w, mask)[..., None] * h).sum(dim=1)


@POOL.misconception(
    "The scores at the pads become 0",
    fails=POOL.all_but("full"),
    hints=(
        "Without pads you are right; with pads some of the weight goes to them.",
        "exp(0) is 1, not 0. What is to vanish in a softmax needs a score of minus infinity: attention_weights gives "
        "it that.",
        "Read what the task says about the softmax: over which steps does it run?",
    ),
)
def attention_pool__masked_to_zero(h, w, mask):
    alpha = ((h @ w) * mask).softmax(dim=1)
    return (alpha[..., None] * h).sum(dim=1), alpha


@POOL.misconception(
    "The mask is applied after the softmax, and a row may become 0 / 0",
    fails=("attention_pool_large_pads", "attention_pool_empty_row", "attention_pool_gradients"),
    hints=(
        "You are right unless a row has no real step or large numbers stand at its pads; then it is NaN.",
        "If the pads took all of the softmax, nothing is left to renormalise. Hand the mask to attention_weights: then "
        "the softmax never sees the pads, and a row without a real step gets zeros.",
        "Read what the task says about what stands at the pads, and about a row without a real step.",
    ),
)
def attention_pool__renormalised_nan(h, w, mask):
    alpha = attention_weights(h @ w) * mask
    alpha = alpha / alpha.sum(dim=1, keepdim=True)
    return (alpha[..., None] * h).sum(dim=1), alpha


@POOL.misconception(
    "-inf is added, and a row without a real step gives NaN in the results and in the gradients",
    fails=("attention_pool_empty_row", "attention_pool_gradients"),
    hints=(
        "You are right wherever a row has a real step. Where it has none, results and gradients are NaN.",
        "A softmax over nothing but -inf is 0 / 0. attention_weights gives zeros there, and clean gradients: use it.",
        "Read what the task says about a row without a real step, and about gradients.",
    ),
)
def attention_pool__nan_everywhere(h, w, mask):
    alpha = (h @ w + torch.zeros(mask.shape).masked_fill(~mask, -math.inf)).softmax(dim=1)
    return (alpha[..., None] * h).sum(dim=1), alpha


@POOL.misconception(
    "The NaN is wiped from the weights, but stays in the gradient",
    fails=("attention_pool_gradients",),
    hints=(
        "Your results are right. Where a row has no real step, the gradients are NaN.",
        "-inf was added to the scores, and the NaN of the softmax was wiped out afterwards; on its way back the "
        "gradient still passes through that softmax. attention_weights stops it: use it.",
        "Read what the task says about gradients.",
    ),
)
def attention_pool__nan_gradients(h, w, mask):
    alpha = (h @ w + torch.zeros(mask.shape).masked_fill(~mask, -math.inf)).softmax(dim=1).nan_to_num(0)
    return (alpha[..., None] * h).sum(dim=1), alpha


@POOL.misconception(
    "Every feature has weights of its own, over pads too",
    fails=POOL.all_but(),
    hints=(
        "Your weights have an axis of features: each feature looks elsewhere, also at pads.",
        "The products with w were not added up before the softmax. One weight holds for a whole state; and the mask is "
        "not used.",
        "Read the equation: what does the dot between w and h mean?",
    ),
)
def attention_pool__per_feature_unmasked(h, w, mask):
    alpha = (h * w).softmax(dim=1)
    return (alpha * h).sum(dim=1), alpha


@POOL.misconception(
    "Every feature has weights of its own; NaN in a row without a real step",
    fails=POOL.all_but(),
    hints=(
        "Your weights have an axis of features: each feature looks elsewhere.",
        "The products with w were not added up before the softmax. One weight holds for a whole state. Besides, a row "
        "without a real step is NaN: attention_weights takes care of it.",
        "Read the equation: what does the dot between w and h mean?",
    ),
)
def attention_pool__per_feature_nan(h, w, mask):
    alpha = (h * w).masked_fill(~mask[..., None], -math.inf).softmax(dim=1)
    return (alpha * h).sum(dim=1), alpha


@POOL.misconception(
    "Every feature has weights of its own; masked with a large finite negative",
    fails=POOL.all_but(),
    hints=(
        "Your weights have an axis of features: each feature looks elsewhere.",
        "The products with w were not added up before the softmax. One weight holds for a whole state. Besides, a row "
        "without a real step reads its pads: attention_weights takes care of it.",
        "Read the equation: what does the dot between w and h mean?",
    ),
)
def attention_pool__per_feature_finite(h, w, mask):
    alpha = (h * w).masked_fill(~mask[..., None], -1e9).softmax(dim=1)
    return (alpha * h).sum(dim=1), alpha


@POOL.misconception(
    "Every feature has weights of its own, and their mean is returned",
    fails=POOL.all_but(),
    hints=(
        "Your alpha has the right shape and sums to 1, but c is not the mean of the states under it.",
        "The products with w were not added up before the softmax, so each feature looked elsewhere; the mean over the "
        "features comes too late. One weight holds for a whole state.",
        "Read the equation: what does the dot between w and h mean?",
    ),
)
def attention_pool__per_feature_mean(h, w, mask):
    alpha = attention_weights((h * w).mT, mask[:, None]).mT
    return (alpha * h).sum(dim=1), alpha.mean(dim=-1)


@POOL.misconception(
    "Every feature has weights of its own, and their sum is returned",
    fails=POOL.all_but(),
    hints=(
        "Your alpha has the right shape, but its rows do not sum to 1.",
        "The products with w were not added up before the softmax, so each feature looked elsewhere; the sum over the "
        "features comes too late. One weight holds for a whole state.",
        "Read the equation: what does the dot between w and h mean?",
    ),
)
def attention_pool__per_feature_sum(h, w, mask):
    alpha = attention_weights((h * w).mT, mask[:, None]).mT
    return (alpha * h).sum(dim=1), alpha.sum(dim=-1)


@POOL.misconception(
    "The softmax runs over the features, pads included",
    fails=POOL.all_but(),
    hints=(
        "Your weights have an axis of features, along which they sum to 1, also at pads.",
        "The products with w were not added up, and each step shared out among its own features. A score is one number "
        "for a step, and the real steps compete.",
        "Read the equation: over which index does the softmax run?",
    ),
)
def attention_pool__over_features_unmasked(h, w, mask):
    alpha = (h * w).softmax(dim=-1)
    return (alpha * h).sum(dim=1), alpha


@POOL.misconception(
    "The softmax runs over the features; NaN at the pads",
    fails=POOL.all_but(),
    hints=(
        "Your weights have an axis of features, along which they sum to 1, and NaN at the pads.",
        "The products with w were not added up, and each step shared out among its own features; at a pad all of them "
        "are masked. A score is one number for a step, and the steps compete.",
        "Read the equation: over which index does the softmax run?",
    ),
)
def attention_pool__over_features_nan(h, w, mask):
    alpha = (h * w).masked_fill(~mask[..., None], -math.inf).softmax(dim=-1)
    return (alpha * h).sum(dim=1), alpha


@POOL.misconception(
    "The softmax runs over the features; masked with a large finite negative",
    fails=POOL.all_but(),
    hints=(
        "Your weights have an axis of features, along which they sum to 1; at pads all of them are equal.",
        "The products with w were not added up, and each step shared out among its own features. A score is one number "
        "for a step, and the steps compete.",
        "Read the equation: over which index does the softmax run?",
    ),
)
def attention_pool__over_features_finite(h, w, mask):
    alpha = (h * w).masked_fill(~mask[..., None], -1e9).softmax(dim=-1)
    return (alpha * h).sum(dim=1), alpha


@POOL.misconception(
    "The softmax runs over an axis of length 1",
    fails=POOL.all_but(),
    hints=(
        "All your weights at real steps are exactly 1: c is the sum of the states.",
        "The scores have got one more axis, of length 1, and the softmax runs along it: each step shares out with "
        "itself alone.",
        "Read the equation: over which index does the softmax run?",
    ),
)
def attention_pool__over_one(h, w, mask):
    alpha = attention_weights((h @ w)[..., None], mask[..., None])[..., 0]
    return (alpha[..., None] * h).sum(dim=1), alpha


# ---- 7.8 image_attention ----

IMAGE = Exercise(
    number="7.8",
    references=(attention.image_attention,),
    probe_module=probes,
    points=3,
    minutes=20,
    difficulty=2,
    uses=("score_bilinear", "attention_weights", "context"),
    equivalent={"c = context(alpha, places)[:, -1]": "there is one query: the last is the first."},
)


@IMAGE.misconception(
    "The weights are laid out with height and width exchanged",
    fails=IMAGE.all_but("found", "square", "gradients"),
    hints=(
        "What you find is right, and so are the weights of a square picture; else they are (B, W, H).",
        "The list of places was cut into W rows of H. A picture has H rows of W places each.",
        "Read the shape of the second result.",
    ),
)
def image_attention__height_and_width(feat, s, W_a):
    B, _, H, W = feat.shape
    places = feat.flatten(2).mT
    alpha = attention_weights(score_bilinear(s[:, None], places, W_a))
    return context(alpha, places)[:, 0], alpha.view(B, W, H)


@IMAGE.misconception(
    "The weights are transposed",
    fails=IMAGE.all_but("found"),
    hints=(
        "What you find is right. Your weights are those of the picture turned over: rows stand for columns.",
        "The weights were laid out as H rows of W and then transposed. Leave them as the places are: row and column as "
        "in feat.",
        "Read what the task says about the second result.",
    ),
)
def image_attention__weights_transposed(feat, s, W_a):
    B, _, H, W = feat.shape
    places = feat.flatten(2).mT
    alpha = attention_weights(score_bilinear(s[:, None], places, W_a))
    return context(alpha, places)[:, 0], alpha.view(B, H, W).mT


@IMAGE.misconception(
    "The places are listed column by column, and the weights are laid out row by row",
    fails=IMAGE.all_but("found", "thin"),
    hints=(
        "What you find is right. Your weights are all there, but at the wrong places.",
        "feat was turned so that columns come before rows. To lay the weights out as (H, W), the places have to be "
        "listed row by row.",
        "Read what the task says about the second result.",
    ),
)
def image_attention__column_by_column(feat, s, W_a):
    B, _, H, W = feat.shape
    places = feat.permute(0, 3, 2, 1).flatten(1, 2)
    alpha = attention_weights(score_bilinear(s[:, None], places, W_a))
    return context(alpha, places)[:, 0], alpha.view(B, H, W)


@IMAGE.misconception(
    "Each row of the picture has a softmax of its own",
    fails=IMAGE.all_but(),
    hints=(
        "Every row of your weights sums to 1, so all of them together sum to H.",
        "The softmax ran over the last axis of (B, H, W). It runs over all places at once: make them one axis first.",
        "Read the equation: over which indices does the softmax run?",
    ),
)
def image_attention__softmax_per_row(feat, s, W_a):
    e = torch.einsum("bd,dc,bchw->bhw", s, W_a, feat)
    alpha = e.softmax(dim=-1)
    return torch.einsum("bhw,bchw->bc", alpha, feat), alpha


@IMAGE.misconception(
    "Each column of the picture has a softmax of its own",
    fails=IMAGE.all_but(),
    hints=(
        "Every column of your weights sums to 1, so all of them together sum to W.",
        "The softmax ran over one axis of (B, H, W). It runs over all places at once: make them one axis first.",
        "Read the equation: over which indices does the softmax run?",
    ),
)
def image_attention__softmax_per_column(feat, s, W_a):
    e = torch.einsum("bd,dc,bchw->bhw", s, W_a, feat)
    alpha = e.softmax(dim=-2)
    return torch.einsum("bhw,bchw->bc", alpha, feat), alpha


@IMAGE.misconception(
    "A softmax over rows and one over columns are multiplied",
    fails=IMAGE.all_but("thin"),
    hints=(
        "Your weights do not sum to 1.",
        "Two softmaxes, one along each axis, are not one over both: flatten rows and columns into one axis.",
        "Read the equation: over which indices does the softmax run?",
    ),
)
def image_attention__two_softmaxes(feat, s, W_a):
    e = torch.einsum("bd,dc,bchw->bhw", s, W_a, feat)
    alpha = e.softmax(dim=-1) * e.softmax(dim=-2)
    return torch.einsum("bhw,bchw->bc", alpha, feat), alpha


@IMAGE.misconception(
    "One softmax runs over all pictures of the batch",
    fails=IMAGE.all_but("alone"),
    hints=(
        "A picture alone is right; in a batch the weights of all pictures together sum to 1.",
        "The batch was flattened with the places. Each picture has attention of its own to share out.",
        "Read the equation: over which indices does the softmax run?",
    ),
)
def image_attention__softmax_over_all(feat, s, W_a):
    e = torch.einsum("bd,dc,bchw->bhw", s, W_a, feat)
    alpha = e.flatten().softmax(dim=0).view(e.shape)
    return torch.einsum("bhw,bchw->bc", alpha, feat), alpha


@IMAGE.misconception(
    "The softmax runs over the batch",
    fails=IMAGE.all_but(),
    hints=(
        "Your weights sum to 1 over the pictures, not over the places.",
        "dim=0 is the batch. The softmax runs over all places of one picture.",
        "Read the equation: over which indices does the softmax run?",
    ),
)
def image_attention__softmax_over_batch(feat, s, W_a):
    e = torch.einsum("bd,dc,bchw->bhw", s, W_a, feat)
    alpha = e.softmax(dim=0)
    return torch.einsum("bhw,bchw->bc", alpha, feat), alpha


@IMAGE.misconception(
    "The channels compete, not the places",
    fails=IMAGE.all_but(),
    hints=(
        "Your weights have an axis of channels, along which they sum to 1.",
        "dim=1 of feat is the channels. A score is one number for a place: add up over the channels first, then let "
        "the places compete.",
        "Read the equation: over which indices does the softmax run?",
    ),
)
def image_attention__softmax_over_channels(feat, s, W_a):
    alpha = ((s @ W_a)[:, :, None, None] * feat).softmax(dim=1)
    return (alpha * feat).sum(dim=(2, 3)), alpha


@IMAGE.misconception(
    "The channels are taken for the places",
    fails=IMAGE.all_but(),
    hints=(
        "Your scores only work if there are as many channels as places.",
        "feat.flatten(2) is (B, C, H·W): its rows are channels. The list of places is (B, H·W, C): exchange the two.",
        "Read the equation: what is f_xy?",
    ),
)
def image_attention__channels_as_places(feat, s, W_a):
    B, _, H, W = feat.shape
    places = feat.flatten(2)
    alpha = attention_weights(score_bilinear(s[:, None], places, W_a))
    return context(alpha, places)[:, 0], alpha.view(B, H, W)


@IMAGE.misconception(
    "The places are made by reshaping, without exchanging axes",
    fails=IMAGE.all_but(),
    hints=(
        "All shapes are right and nothing else: your places hold pieces of one channel.",
        "In memory all places of the first channel come before those of the second. Reshaping keeps that order: "
        "flatten(2) first, then exchange the two axes.",
        "Read the equation: what is f_xy?",
    ),
)
def image_attention__reshaped(feat, s, W_a):
    B, C, H, W = feat.shape
    places = feat.reshape(B, H * W, C)
    alpha = attention_weights(score_bilinear(s[:, None], places, W_a))
    return context(alpha, places)[:, 0], alpha.view(B, H, W)


@IMAGE.misconception(
    "The plain mean of all places is found",
    fails=IMAGE.all_but("weights"),
    hints=(
        "The weights are right, and nothing is done with them: c is the mean of the picture.",
        "All places were averaged alike. The weights say how much each of them counts.",
        "Read the equation: what is c?",
    ),
)
def image_attention__plain_mean(feat, s, W_a):
    B, _, H, W = feat.shape
    alpha = attention_weights(score_bilinear(s[:, None], feat.flatten(2).mT, W_a))
    return feat.mean(dim=(2, 3)), alpha.view(B, H, W)


@IMAGE.misconception(
    "Divided by the number of places",
    fails=IMAGE.all_but("weights"),
    hints=(
        "The weights are right; c is too small, and the larger the picture the more.",
        "The weighted features were averaged. The weights have shared out already: add up.",
        "Read the equation: a sum over x and y.",
    ),
)
def image_attention__mean_of_weighted(feat, s, W_a):
    B, _, H, W = feat.shape
    alpha = attention_weights(score_bilinear(s[:, None], feat.flatten(2).mT, W_a)).view(B, H, W)
    return (alpha[:, None] * feat).mean(dim=(2, 3)), alpha


@IMAGE.misconception(
    "Weighted, but not added up",
    fails=IMAGE.all_but("weights"),
    hints=(
        "The weights are right; your c is still a picture.",
        "The features were multiplied by their weights. They are also to be added up over all places.",
        "Read the equation: a sum over x and y.",
    ),
)
def image_attention__not_summed(feat, s, W_a):
    B, _, H, W = feat.shape
    alpha = attention_weights(score_bilinear(s[:, None], feat.flatten(2).mT, W_a)).view(B, H, W)
    return alpha[:, None] * feat, alpha


@IMAGE.misconception(
    "Only the best place counts",
    fails=IMAGE.all_but("weights"),
    hints=(
        "The weights are right; c is the features of one place.",
        "The best place was picked. An argmax has no gradient: nobody could learn where to look.",
        "Read the equation: a sum over x and y.",
    ),
)
def image_attention__hard(feat, s, W_a):
    B, _, H, W = feat.shape
    places = feat.flatten(2).mT
    alpha = attention_weights(score_bilinear(s[:, None], places, W_a))
    return places[torch.arange(B), alpha[:, 0].argmax(dim=1)], alpha.view(B, H, W)


@IMAGE.misconception(
    "W_a is transposed",
    fails=IMAGE.all_but(),
    hints=(
        "Your scores only work if the query is as wide as there are channels, and then they are wrong.",
        "W_a has a row for each feature of s and a column for each channel.",
        "Read the equation: on which side of W_a does s stand?",
    ),
)
def image_attention__score_transposed(feat, s, W_a):
    B, _, H, W = feat.shape
    places = feat.flatten(2).mT
    alpha = attention_weights(score_bilinear(s[:, None], places, W_a.T))
    return context(alpha, places)[:, 0], alpha.view(B, H, W)


@IMAGE.misconception(
    "W_a is not used",
    fails=IMAGE.all_but(),
    hints=(
        "W_a makes no difference, and the query has to be as wide as there are channels.",
        "That is the plain dot product. The score here is bilinear.",
        "Read the equation: what stands between s and f?",
    ),
)
def image_attention__dot_score(feat, s, W_a):
    B, _, H, W = feat.shape
    places = feat.flatten(2).mT
    alpha = attention_weights(s[:, None] @ places.mT)
    return context(alpha, places)[:, 0], alpha.view(B, H, W)


@IMAGE.misconception(
    "The query has no say",
    fails=IMAGE.all_but(),
    hints=(
        "All queries look at the same places of a picture.",
        "s was left out: the features were added up with the sums of W_a's columns.",
        "Read the equation: three factors.",
    ),
)
def image_attention__no_query(feat, s, W_a):
    B, _, H, W = feat.shape
    places = feat.flatten(2).mT
    alpha = attention_weights(score_bilinear(torch.ones_like(s)[:, None], places, W_a))
    return context(alpha, places)[:, 0], alpha.view(B, H, W)


@IMAGE.misconception(
    "The scores are divided by the root of the number of channels",
    fails=IMAGE.all_but(),
    hints=(
        "The right places win, but by too little: your weights are too even.",
        "The root belongs to the attention of chapter 8. Here W_a learns how large the scores are to be.",
        "Read the equation: what is divided by what?",
    ),
)
def image_attention__scaled_by_C(feat, s, W_a):
    B, C, H, W = feat.shape
    places = feat.flatten(2).mT
    alpha = attention_weights(score_bilinear(s[:, None], places, W_a) / math.sqrt(C))
    return context(alpha, places)[:, 0], alpha.view(B, H, W)


@IMAGE.misconception(
    "The scores are divided by the root of the query's width",
    fails=IMAGE.all_but(),
    hints=(
        "The right places win, but by too little: your weights are too even.",
        "The root belongs to the attention of chapter 8. Here W_a learns how large the scores are to be.",
        "Read the equation: what is divided by what?",
    ),
)
def image_attention__scaled_by_D(feat, s, W_a):
    B, _, H, W = feat.shape
    places = feat.flatten(2).mT
    alpha = attention_weights(score_bilinear(s[:, None], places, W_a) / math.sqrt(s.shape[1]))
    return context(alpha, places)[:, 0], alpha.view(B, H, W)


@IMAGE.misconception(
    "A sigmoid for each place in place of a softmax for each picture",
    fails=IMAGE.all_but(),
    hints=(
        "Your weights do not sum to 1.",
        "Each place was judged alone. In a softmax the places compete: more for one is less for the others.",
        "Read the equation.",
    ),
)
def image_attention__sigmoid(feat, s, W_a):
    B, _, H, W = feat.shape
    places = feat.flatten(2).mT
    alpha = torch.sigmoid(score_bilinear(s[:, None], places, W_a))
    return context(alpha, places)[:, 0], alpha.view(B, H, W)


@IMAGE.misconception(
    "The weights come as a list of places",
    fails=IMAGE.all_but("found", "gradients"),
    hints=(
        "What you find is right; your weights are (B, H·W).",
        "The list of places is still to be laid out as rows and columns.",
        "Read the shape of the second result.",
    ),
)
def image_attention__weights_flat(feat, s, W_a):
    places = feat.flatten(2).mT
    alpha = attention_weights(score_bilinear(s[:, None], places, W_a))
    return context(alpha, places)[:, 0], alpha[:, 0]


@IMAGE.misconception(
    "The weights keep the axis of the query",
    fails=IMAGE.all_but("found", "gradients"),
    hints=(
        "What you find is right; your weights are (B, 1, H, W).",
        "There is one query, and its axis was put in for the product. It stands for no channel: leave it out.",
        "Read the shape of the second result.",
    ),
)
def image_attention__query_axis_left(feat, s, W_a):
    places = feat.flatten(2).mT
    alpha = attention_weights(score_bilinear(s[:, None], places, W_a))
    return context(alpha, places)[:, 0], alpha.unflatten(2, feat.shape[2:])


@IMAGE.misconception(
    "What is found keeps the axis of the query",
    fails=IMAGE.all_but("weights", "gradients"),
    hints=(
        "The weights are right; your c is (B, 1, C).",
        "There is one query, and its axis was put in for the product. Take it out again: context(…)[:, 0].",
        "Read the shape of the first result.",
    ),
)
def image_attention__query_axis_in_c(feat, s, W_a):
    B, _, H, W = feat.shape
    places = feat.flatten(2).mT
    alpha = attention_weights(score_bilinear(s[:, None], places, W_a))
    return context(alpha, places), alpha.view(B, H, W)


@IMAGE.misconception(
    "The scores are returned, not the weights",
    fails=IMAGE.all_but("found"),
    hints=(
        "What you find is right. What you return beside it does not sum to 1.",
        "The scores before the softmax were returned.",
        "Read what the task says about the second result.",
    ),
)
def image_attention__returns_scores(feat, s, W_a):
    B, _, H, W = feat.shape
    places = feat.flatten(2).mT
    e = score_bilinear(s[:, None], places, W_a)
    return context(attention_weights(e), places)[:, 0], e.view(B, H, W)


@IMAGE.misconception(
    "The weights are returned first",
    fails=IMAGE.all_but(),
    hints=(
        "Both results are right, but they stand in the wrong order.",
        "Return what is found first, then the weights.",
        "Read the two results in the task.",
    ),
)
def image_attention__weights_first(feat, s, W_a):
    B, _, H, W = feat.shape
    places = feat.flatten(2).mT
    alpha = attention_weights(score_bilinear(s[:, None], places, W_a))
    return alpha.view(B, H, W), context(alpha, places)[:, 0]


@IMAGE.misconception(
    "Only what is found is returned",
    fails=IMAGE.all_but(),
    hints=(
        "c is right, but it comes alone.",
        "The weights are asked for as well: they are what is drawn over the picture.",
        "Read the two results in the task.",
    ),
)
def image_attention__c_only(feat, s, W_a):
    places = feat.flatten(2).mT
    return context(attention_weights(score_bilinear(s[:, None], places, W_a)), places)[:, 0]


@IMAGE.misconception(
    "The scores are used as weights",
    fails=IMAGE.all_but(),
    hints=(
        "Some of your weights are negative.",
        "The softmax is missing: a score may be any number, weights are shares.",
        "Read the equation.",
    ),
)
def image_attention__no_softmax(feat, s, W_a):
    B, _, H, W = feat.shape
    places = feat.flatten(2).mT
    e = score_bilinear(s[:, None], places, W_a)
    return context(e, places)[:, 0], e.view(B, H, W)


# ---- 7.9 soft_window ----

WINDOW = Exercise(
    number="7.9",
    references=(window.soft_window,),
    probe_module=probes,
    points=3,
    minutes=20,
    difficulty=2,
)


@WINDOW.misconception(
    "The steps are not added up",
    fails=WINDOW.all_but(),
    hints=(
        "Your first step is right; later ones begin again at kappa0, so the window never gets far.",
        "Each step was added to kappa0 alone. It is added to the place of the step before: a running sum over time.",
        "Read the equation of kappa: the index on both sides.",
    ),
)
def soft_window__not_accumulated(kappa_hat, beta_hat, alpha_hat, kappa0, S):
    kappa = kappa0[:, None] + kappa_hat.exp()
    alpha, beta = alpha_hat.exp()[..., None], beta_hat.exp()[..., None]
    u = torch.arange(1, S + 1)
    return (alpha * torch.exp(-beta * (kappa[..., None] - u) ** 2)).sum(dim=2), kappa


@WINDOW.misconception(
    "The places are what the network says, neither added up nor begun at kappa0",
    fails=WINDOW.all_but(),
    hints=(
        "kappa0 makes no difference, and your window stays where it is.",
        "exp of kappa_hat is how far the window moves, not where it stands.",
        "Read the equation of kappa.",
    ),
)
def soft_window__absolute(kappa_hat, beta_hat, alpha_hat, kappa0, S):
    kappa = kappa_hat.exp()
    alpha, beta = alpha_hat.exp()[..., None], beta_hat.exp()[..., None]
    u = torch.arange(1, S + 1)
    return (alpha * torch.exp(-beta * (kappa[..., None] - u) ** 2)).sum(dim=2), kappa


@WINDOW.misconception(
    "The steps may go backwards: exp is missing at kappa",
    fails=WINDOW.all_but(),
    hints=(
        "Your window moves back where kappa_hat is negative.",
        "kappa_hat was added up as it is. Through exp every step is positive: the window only moves on.",
        "Read the equation of kappa.",
    ),
)
def soft_window__kappa_raw(kappa_hat, beta_hat, alpha_hat, kappa0, S):
    kappa = kappa0[:, None] + kappa_hat.cumsum(dim=1)
    alpha, beta = alpha_hat.exp()[..., None], beta_hat.exp()[..., None]
    u = torch.arange(1, S + 1)
    return (alpha * torch.exp(-beta * (kappa[..., None] - u) ** 2)).sum(dim=2), kappa


@WINDOW.misconception(
    "exp is taken after adding up",
    fails=WINDOW.all_but(),
    hints=(
        "Your first step is right; later ones multiply where they should add.",
        "exp of a sum is a product of exps. First exp, then the running sum.",
        "Read the equation of kappa.",
    ),
)
def soft_window__exp_of_sum(kappa_hat, beta_hat, alpha_hat, kappa0, S):
    kappa = kappa0[:, None] + kappa_hat.cumsum(dim=1).exp()
    alpha, beta = alpha_hat.exp()[..., None], beta_hat.exp()[..., None]
    u = torch.arange(1, S + 1)
    return (alpha * torch.exp(-beta * (kappa[..., None] - u) ** 2)).sum(dim=2), kappa


@WINDOW.misconception(
    "beta may be negative: exp is missing",
    fails=WINDOW.all_but("places"),
    hints=(
        "The places are right. Where beta_hat is negative your weights grow with the distance, without end.",
        "beta_hat was used as it is. Through exp it is positive: a bump falls off on both sides.",
        "Read the equation of beta.",
    ),
)
def soft_window__beta_raw(kappa_hat, beta_hat, alpha_hat, kappa0, S):
    kappa = kappa0[:, None] + kappa_hat.exp().cumsum(dim=1)
    u = torch.arange(1, S + 1)
    bumps = alpha_hat.exp()[..., None] * torch.exp(-beta_hat[..., None] * (kappa[..., None] - u) ** 2)
    return bumps.sum(dim=2), kappa


@WINDOW.misconception(
    "Heights may be negative: exp is missing at alpha",
    fails=WINDOW.all_but("places"),
    hints=(
        "The places are right. Some of your weights are negative.",
        "alpha_hat was used as it is. Through exp it is positive.",
        "Read the equation of alpha.",
    ),
)
def soft_window__alpha_raw(kappa_hat, beta_hat, alpha_hat, kappa0, S):
    kappa = kappa0[:, None] + kappa_hat.exp().cumsum(dim=1)
    u = torch.arange(1, S + 1)
    bumps = alpha_hat[..., None] * torch.exp(-beta_hat.exp()[..., None] * (kappa[..., None] - u) ** 2)
    return bumps.sum(dim=2), kappa


@WINDOW.misconception(
    "exp is missing everywhere",
    fails=WINDOW.all_but(),
    hints=(
        "Your window moves back where kappa_hat is negative, and the weights may be negative or grow without end.",
        "The three numbers were used as the network says them. Each passes through exp first.",
        "Read the first line of equations.",
    ),
)
def soft_window__no_exp(kappa_hat, beta_hat, alpha_hat, kappa0, S):
    kappa = kappa0[:, None] + kappa_hat.cumsum(dim=1)
    u = torch.arange(1, S + 1)
    bumps = alpha_hat[..., None] * torch.exp(-beta_hat[..., None] * (kappa[..., None] - u) ** 2)
    return bumps.sum(dim=2), kappa


@WINDOW.misconception(
    "A softplus in place of exp",
    fails=WINDOW.all_but(),
    hints=(
        "Everything is positive as it should be, but not what it should be.",
        "softplus also makes numbers positive. Graves takes exp, and kappa0 and the others are meant for it.",
        "Read the first line of equations.",
    ),
)
def soft_window__softplus(kappa_hat, beta_hat, alpha_hat, kappa0, S):
    kappa = kappa0[:, None] + F.softplus(kappa_hat).cumsum(dim=1)
    alpha, beta = F.softplus(alpha_hat)[..., None], F.softplus(beta_hat)[..., None]
    u = torch.arange(1, S + 1)
    return (alpha * torch.exp(-beta * (kappa[..., None] - u) ** 2)).sum(dim=2), kappa


@WINDOW.misconception(
    "The weights of a step are normalised",
    fails=WINDOW.all_but("places"),
    hints=(
        "The places are right. Your weights sum to 1 at every step, also when the window has left the text.",
        "The weights were divided by their sum. Small weights say something here: the text has been read.",
        "Read what the task says about the sum of the weights.",
    ),
)
def soft_window__normalised(kappa_hat, beta_hat, alpha_hat, kappa0, S):
    kappa = kappa0[:, None] + kappa_hat.exp().cumsum(dim=1)
    alpha, beta = alpha_hat.exp()[..., None], beta_hat.exp()[..., None]
    u = torch.arange(1, S + 1)
    phi = (alpha * torch.exp(-beta * (kappa[..., None] - u) ** 2)).sum(dim=2)
    return phi / phi.sum(dim=-1, keepdim=True), kappa


@WINDOW.misconception(
    "A softmax is taken of the weights",
    fails=WINDOW.all_but("places"),
    hints=(
        "The places are right. Your weights sum to 1 at every step, and hardly differ.",
        "A softmax over the letters was put on top. The bumps are the weights as they are.",
        "Read what the task says about the sum of the weights.",
    ),
)
def soft_window__softmaxed(kappa_hat, beta_hat, alpha_hat, kappa0, S):
    kappa = kappa0[:, None] + kappa_hat.exp().cumsum(dim=1)
    alpha, beta = alpha_hat.exp()[..., None], beta_hat.exp()[..., None]
    u = torch.arange(1, S + 1)
    phi = (alpha * torch.exp(-beta * (kappa[..., None] - u) ** 2)).sum(dim=2)
    return phi.softmax(dim=-1), kappa


@WINDOW.misconception(
    "The heights of the bumps are normalised",
    fails=WINDOW.all_but("places"),
    hints=(
        "The places are right. Your bumps have heights that sum to 1.",
        "A softmax over the bumps was taken, as for a mixture. Here each height passes through exp alone.",
        "Read the equation of alpha.",
    ),
)
def soft_window__heights_softmaxed(kappa_hat, beta_hat, alpha_hat, kappa0, S):
    kappa = kappa0[:, None] + kappa_hat.exp().cumsum(dim=1)
    alpha, beta = alpha_hat.softmax(dim=2)[..., None], beta_hat.exp()[..., None]
    u = torch.arange(1, S + 1)
    return (alpha * torch.exp(-beta * (kappa[..., None] - u) ** 2)).sum(dim=2), kappa


@WINDOW.misconception(
    "The letters are counted from 0",
    fails=WINDOW.all_but("places"),
    hints=(
        "The places are right. Your weights are shifted by one letter.",
        "arange(S) begins at 0. The first letter is number 1, so that a window at 0 stands before the text.",
        "Read the equation of phi: where does u begin?",
    ),
)
def soft_window__from_zero(kappa_hat, beta_hat, alpha_hat, kappa0, S):
    kappa = kappa0[:, None] + kappa_hat.exp().cumsum(dim=1)
    alpha, beta = alpha_hat.exp()[..., None], beta_hat.exp()[..., None]
    u = torch.arange(S)
    return (alpha * torch.exp(-beta * (kappa[..., None] - u) ** 2)).sum(dim=2), kappa


@WINDOW.misconception(
    "A letter 0 is weighted, too",
    fails=WINDOW.all_but("places"),
    hints=(
        "The places are right. You return S + 1 weights for a step.",
        "u runs from 0 to S. The letters are 1 to S.",
        "Read the shape of phi, and where u begins.",
    ),
)
def soft_window__one_letter_more(kappa_hat, beta_hat, alpha_hat, kappa0, S):
    kappa = kappa0[:, None] + kappa_hat.exp().cumsum(dim=1)
    alpha, beta = alpha_hat.exp()[..., None], beta_hat.exp()[..., None]
    u = torch.arange(S + 1)
    return (alpha * torch.exp(-beta * (kappa[..., None] - u) ** 2)).sum(dim=2), kappa


@WINDOW.misconception(
    "The distance is not squared",
    fails=WINDOW.all_but("places"),
    hints=(
        "The places are right. Your bumps have a sharp tip.",
        "The absolute distance was taken. Squared, it gives the bell of a Gaussian.",
        "Read the equation of phi.",
    ),
)
def soft_window__absolute_distance(kappa_hat, beta_hat, alpha_hat, kappa0, S):
    kappa = kappa0[:, None] + kappa_hat.exp().cumsum(dim=1)
    alpha, beta = alpha_hat.exp()[..., None], beta_hat.exp()[..., None]
    u = torch.arange(1, S + 1)
    return (alpha * torch.exp(-beta * (kappa[..., None] - u).abs())).sum(dim=2), kappa


@WINDOW.misconception(
    "The minus is missing",
    fails=WINDOW.all_but("places"),
    hints=(
        "The places are right. Your weights grow with the distance, without end.",
        "exp of a positive number is large. With a minus the weight falls off on both sides of the place.",
        "Read the equation of phi: the sign inside exp.",
    ),
)
def soft_window__no_minus(kappa_hat, beta_hat, alpha_hat, kappa0, S):
    kappa = kappa0[:, None] + kappa_hat.exp().cumsum(dim=1)
    alpha, beta = alpha_hat.exp()[..., None], beta_hat.exp()[..., None]
    u = torch.arange(1, S + 1)
    return (alpha * torch.exp(beta * (kappa[..., None] - u) ** 2)).sum(dim=2), kappa


@WINDOW.misconception(
    "beta divides",
    fails=WINDOW.all_but("places"),
    hints=(
        "The places are right. Where beta is large your bumps are wide.",
        "The squared distance was divided by beta, as by a variance. Here it says how narrow a bump is and multiplies.",
        "Read the equation of phi.",
    ),
)
def soft_window__beta_divides(kappa_hat, beta_hat, alpha_hat, kappa0, S):
    kappa = kappa0[:, None] + kappa_hat.exp().cumsum(dim=1)
    alpha, beta = alpha_hat.exp()[..., None], beta_hat.exp()[..., None]
    u = torch.arange(1, S + 1)
    return (alpha * torch.exp(-((kappa[..., None] - u) ** 2) / beta)).sum(dim=2), kappa


@WINDOW.misconception(
    "beta is taken for a standard deviation",
    fails=WINDOW.all_but("places"),
    hints=(
        "The places are right. Where beta is large your bumps are wide.",
        "That is the Gaussian of a textbook, with 2 σ² below. Here beta stands above, and there is no 2.",
        "Read the equation of phi.",
    ),
)
def soft_window__textbook_gaussian(kappa_hat, beta_hat, alpha_hat, kappa0, S):
    kappa = kappa0[:, None] + kappa_hat.exp().cumsum(dim=1)
    alpha, beta = alpha_hat.exp()[..., None], beta_hat.exp()[..., None]
    u = torch.arange(1, S + 1)
    return (alpha * torch.exp(-((kappa[..., None] - u) ** 2) / (2 * beta**2))).sum(dim=2), kappa


@WINDOW.misconception(
    "Half of beta",
    fails=WINDOW.all_but("places"),
    hints=(
        "The places are right. All your bumps are too wide.",
        "A factor 1/2 was put before beta, as in a textbook's Gaussian. There is none here.",
        "Read the equation of phi.",
    ),
)
def soft_window__half(kappa_hat, beta_hat, alpha_hat, kappa0, S):
    kappa = kappa0[:, None] + kappa_hat.exp().cumsum(dim=1)
    alpha, beta = alpha_hat.exp()[..., None], beta_hat.exp()[..., None]
    u = torch.arange(1, S + 1)
    return (alpha * torch.exp(-beta * (kappa[..., None] - u) ** 2 / 2)).sum(dim=2), kappa


@WINDOW.misconception(
    "alpha and beta are exchanged",
    fails=WINDOW.all_but("places"),
    hints=(
        "The places are right. Heights and widths have changed places.",
        "The arguments come in the order kappa, beta, alpha. alpha stands before exp, beta inside.",
        "Read the equation of phi.",
    ),
)
def soft_window__alpha_and_beta(kappa_hat, beta_hat, alpha_hat, kappa0, S):
    kappa = kappa0[:, None] + kappa_hat.exp().cumsum(dim=1)
    alpha, beta = beta_hat.exp()[..., None], alpha_hat.exp()[..., None]
    u = torch.arange(1, S + 1)
    return (alpha * torch.exp(-beta * (kappa[..., None] - u) ** 2)).sum(dim=2), kappa


@WINDOW.misconception(
    "All bumps have height 1",
    fails=WINDOW.all_but("places"),
    hints=(
        "The places are right. alpha_hat makes no difference in your answer.",
        "The height was left out.",
        "Read the equation of phi: what stands before exp?",
    ),
)
def soft_window__no_height(kappa_hat, beta_hat, alpha_hat, kappa0, S):
    kappa = kappa0[:, None] + kappa_hat.exp().cumsum(dim=1)
    u = torch.arange(1, S + 1)
    return torch.exp(-beta_hat.exp()[..., None] * (kappa[..., None] - u) ** 2).sum(dim=2), kappa


@WINDOW.misconception(
    "kappa0 is not used",
    fails=("soft_window_goes_on", "soft_window_gradients", "soft_window_untouched"),
    hints=(
        "A text read from the start is right. What goes on from a place begins again.",
        "The running sum starts at 0, whatever kappa0 is.",
        "Read the equation of kappa at the first step.",
    ),
)
def soft_window__from_the_start(kappa_hat, beta_hat, alpha_hat, kappa0, S):
    kappa = kappa_hat.exp().cumsum(dim=1)
    alpha, beta = alpha_hat.exp()[..., None], beta_hat.exp()[..., None]
    u = torch.arange(1, S + 1)
    return (alpha * torch.exp(-beta * (kappa[..., None] - u) ** 2)).sum(dim=2), kappa


@WINDOW.misconception(
    "kappa0 is added at every step",
    fails=("soft_window_goes_on", "soft_window_gradients", "soft_window_untouched"),
    hints=(
        "A text read from the start is right. What goes on from a place runs away.",
        "kappa0 stands inside the running sum, so each step adds it once more. It is where the window begins, once.",
        "Read the equation of kappa at the first and at the second step.",
    ),
)
def soft_window__kappa0_every_step(kappa_hat, beta_hat, alpha_hat, kappa0, S):
    kappa = (kappa0[:, None] + kappa_hat.exp()).cumsum(dim=1)
    alpha, beta = alpha_hat.exp()[..., None], beta_hat.exp()[..., None]
    u = torch.arange(1, S + 1)
    return (alpha * torch.exp(-beta * (kappa[..., None] - u) ** 2)).sum(dim=2), kappa


@WINDOW.misconception(
    "The window moves one step late",
    fails=WINDOW.all_but(),
    hints=(
        "Your window stands at kappa0 in the first step; it should have moved once.",
        "The place before the step was used. First move, then read.",
        "Read the equation of phi: the index of kappa.",
    ),
)
def soft_window__one_step_late(kappa_hat, beta_hat, alpha_hat, kappa0, S):
    steps = kappa_hat.exp()
    kappa = kappa0[:, None] + steps.cumsum(dim=1) - steps
    alpha, beta = alpha_hat.exp()[..., None], beta_hat.exp()[..., None]
    u = torch.arange(1, S + 1)
    return (alpha * torch.exp(-beta * (kappa[..., None] - u) ** 2)).sum(dim=2), kappa


@WINDOW.misconception(
    "The steps are added up over the bumps",
    fails=WINDOW.all_but(),
    hints=(
        "Each of your bumps stands behind the one before it, and none moves on in time.",
        "The running sum went along axis 2. Time is axis 1.",
        "Read the equation of kappa: which index is t - 1?",
    ),
)
def soft_window__sum_over_bumps(kappa_hat, beta_hat, alpha_hat, kappa0, S):
    kappa = kappa0[:, None] + kappa_hat.exp().cumsum(dim=2)
    alpha, beta = alpha_hat.exp()[..., None], beta_hat.exp()[..., None]
    u = torch.arange(1, S + 1)
    return (alpha * torch.exp(-beta * (kappa[..., None] - u) ** 2)).sum(dim=2), kappa


@WINDOW.misconception(
    "The window stops at the end of the text",
    fails=("soft_window_one", "soft_window_leaves"),
    hints=(
        "You are right until a bump comes to the end; there yours stays on the last letter.",
        "The places were cut off at S. A bump may leave the text: that is how the network knows that it has read it.",
        "Read the equation of kappa.",
    ),
)
def soft_window__stops_at_the_end(kappa_hat, beta_hat, alpha_hat, kappa0, S):
    kappa = (kappa0[:, None] + kappa_hat.exp().cumsum(dim=1)).clamp(max=S)
    alpha, beta = alpha_hat.exp()[..., None], beta_hat.exp()[..., None]
    u = torch.arange(1, S + 1)
    return (alpha * torch.exp(-beta * (kappa[..., None] - u) ** 2)).sum(dim=2), kappa


@WINDOW.misconception(
    "The bumps are not added up",
    fails=WINDOW.all_but("places"),
    hints=(
        "The places are right. Your weights have an axis of bumps.",
        "A letter is read as strongly as all bumps together say.",
        "Read the equation of phi: a sum over m.",
    ),
)
def soft_window__not_summed(kappa_hat, beta_hat, alpha_hat, kappa0, S):
    kappa = kappa0[:, None] + kappa_hat.exp().cumsum(dim=1)
    alpha, beta = alpha_hat.exp()[..., None], beta_hat.exp()[..., None]
    u = torch.arange(1, S + 1)
    return alpha * torch.exp(-beta * (kappa[..., None] - u) ** 2), kappa


@WINDOW.misconception(
    "The mean of the bumps",
    fails=WINDOW.all_but("places"),
    hints=(
        "The places are right. Your weights are too small by the number of bumps.",
        "The bumps were averaged. They add up.",
        "Read the equation of phi: a sum over m.",
    ),
)
def soft_window__mean_of_bumps(kappa_hat, beta_hat, alpha_hat, kappa0, S):
    kappa = kappa0[:, None] + kappa_hat.exp().cumsum(dim=1)
    alpha, beta = alpha_hat.exp()[..., None], beta_hat.exp()[..., None]
    u = torch.arange(1, S + 1)
    return (alpha * torch.exp(-beta * (kappa[..., None] - u) ** 2)).mean(dim=2), kappa


@WINDOW.misconception(
    "The highest of the bumps",
    fails=WINDOW.all_but("places"),
    hints=(
        "The places are right. Where two bumps overlap your weights are too small.",
        "The maximum was taken over the bumps. They add up.",
        "Read the equation of phi: a sum over m.",
    ),
)
def soft_window__highest_bump(kappa_hat, beta_hat, alpha_hat, kappa0, S):
    kappa = kappa0[:, None] + kappa_hat.exp().cumsum(dim=1)
    alpha, beta = alpha_hat.exp()[..., None], beta_hat.exp()[..., None]
    u = torch.arange(1, S + 1)
    return (alpha * torch.exp(-beta * (kappa[..., None] - u) ** 2)).amax(dim=2), kappa


@WINDOW.misconception(
    "Steps and letters are exchanged in the weights",
    fails=WINDOW.all_but("places"),
    hints=(
        "The places are right, and all weights are there, but phi is (B, S, T).",
        "The last two axes have changed places. A row of phi belongs to a step.",
        "Read the shape of phi.",
    ),
)
def soft_window__axes_exchanged(kappa_hat, beta_hat, alpha_hat, kappa0, S):
    kappa = kappa0[:, None] + kappa_hat.exp().cumsum(dim=1)
    alpha, beta = alpha_hat.exp()[..., None], beta_hat.exp()[..., None]
    u = torch.arange(1, S + 1)
    return (alpha * torch.exp(-beta * (kappa[..., None] - u) ** 2)).sum(dim=2).mT, kappa


@WINDOW.misconception(
    "Only the last places are returned",
    fails=WINDOW.all_but("weights"),
    hints=(
        "The weights are right. You return one place for each bump; there is one for each step, too.",
        "kappa[:, -1] is what the next call begins with. The caller can take it: return all places.",
        "Read the shape of kappa.",
    ),
)
def soft_window__last_places(kappa_hat, beta_hat, alpha_hat, kappa0, S):
    kappa = kappa0[:, None] + kappa_hat.exp().cumsum(dim=1)
    alpha, beta = alpha_hat.exp()[..., None], beta_hat.exp()[..., None]
    u = torch.arange(1, S + 1)
    return (alpha * torch.exp(-beta * (kappa[..., None] - u) ** 2)).sum(dim=2), kappa[:, -1]


@WINDOW.misconception(
    "The steps are returned, not the places",
    fails=WINDOW.all_but("weights"),
    hints=(
        "The weights are right. What you return beside them is how far each bump moved, not where it stands.",
        "exp of kappa_hat is a step. The places are kappa0 and the running sum of the steps.",
        "Read what the task says about the second result.",
    ),
)
def soft_window__returns_steps(kappa_hat, beta_hat, alpha_hat, kappa0, S):
    kappa = kappa0[:, None] + kappa_hat.exp().cumsum(dim=1)
    alpha, beta = alpha_hat.exp()[..., None], beta_hat.exp()[..., None]
    u = torch.arange(1, S + 1)
    return (alpha * torch.exp(-beta * (kappa[..., None] - u) ** 2)).sum(dim=2), kappa_hat.exp()


@WINDOW.misconception(
    "The places are returned first",
    fails=WINDOW.all_but(),
    hints=(
        "Both results are right, but they stand in the wrong order.",
        "Return the weights first, then the places.",
        "Read the two results in the task.",
    ),
)
def soft_window__places_first(kappa_hat, beta_hat, alpha_hat, kappa0, S):
    kappa = kappa0[:, None] + kappa_hat.exp().cumsum(dim=1)
    alpha, beta = alpha_hat.exp()[..., None], beta_hat.exp()[..., None]
    u = torch.arange(1, S + 1)
    return kappa, (alpha * torch.exp(-beta * (kappa[..., None] - u) ** 2)).sum(dim=2)


@WINDOW.misconception(
    "Only the weights are returned",
    fails=WINDOW.all_but(),
    hints=(
        "The weights are right, but they come alone.",
        "The places are asked for as well: the next call begins where this one ends.",
        "Read the two results in the task.",
    ),
)
def soft_window__weights_only(kappa_hat, beta_hat, alpha_hat, kappa0, S):
    kappa = kappa0[:, None] + kappa_hat.exp().cumsum(dim=1)
    alpha, beta = alpha_hat.exp()[..., None], beta_hat.exp()[..., None]
    u = torch.arange(1, S + 1)
    return (alpha * torch.exp(-beta * (kappa[..., None] - u) ** 2)).sum(dim=2)


@WINDOW.misconception(
    "kappa0 is spread over the batch, not over time",
    fails=WINDOW.all_but(),
    hints=(
        "Your sum only works if there are as many steps as rows, and then each step begins at another row's place.",
        "kappa0 is (B, M), the steps are (B, T, M): shapes are matched from the right. It needs an axis of time: "
        "kappa0[:, None].",
        "Read the shapes of kappa0 and of kappa_hat.",
    ),
)
def soft_window__kappa0_along_batch(kappa_hat, beta_hat, alpha_hat, kappa0, S):
    kappa = kappa0 + kappa_hat.exp().cumsum(dim=1)
    alpha, beta = alpha_hat.exp()[..., None], beta_hat.exp()[..., None]
    u = torch.arange(1, S + 1)
    return (alpha * torch.exp(-beta * (kappa[..., None] - u) ** 2)).sum(dim=2), kappa


EXERCISES = (SCORE_DOT, SCORE_BILINEAR, SCORE_ADDITIVE, WEIGHTS, CONTEXT, STEP, POOL, IMAGE, WINDOW)
