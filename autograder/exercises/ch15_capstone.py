"""The exercise of chapter 15, the mistakes that the judge knows by name, and what the chapter asks again."""

from __future__ import annotations

import math

import torch

from autograder.exercise import Exercise
from autograder.probes import ch15_capstone as probes
from unrolled import which_bug

SETUP_NAMES = frozenset({"BUGS", "Case"})
REVISITS = range(1, 14)  # the numbers of the chapters whose exercises are asked again
REVISIT_SHARE = 0.2  # of their points

# ---- 15.1 name_the_bug ----

NAME_THE_BUG = Exercise(
    number="15.1",
    references=(which_bug.name_the_bug,),
    probe_module=probes,
    points=10,
    minutes=45,
    difficulty=3,
    equivalent={
        "return 'targets not shifted' if case.losses.min() <= case.floor else 'right'": "no loss is equal to the floor",
    },
)
_MAP = "Read the equation: which of its three parts speaks of this?"
_LIST = "Read the list in the task: what exactly was done?"


@NAME_THE_BUG.misconception(
    "The loss alone decides",
    fails=NAME_THE_BUG.all_but(),
    hints=(
        "You call every layer right whose loss stays above the floor, and take every other one for a layer "
        "without a mask.",
        "A loss says that something is seen, never what. A missing root costs nothing that a curve shows, and "
        "a short training hides a leak.",
        "Read the last sentence of what the task says about a case, then look at weights, scores and reach.",
    ),
)
def name_the_bug__by_the_loss(case):
    return "no mask" if case.losses.min() < case.floor else "right"


@NAME_THE_BUG.misconception(
    "The loss is asked first, so every leak is taken for targets that are not shifted",
    fails=NAME_THE_BUG.all_but("reach", "scale"),
    hints=(
        'Some layers with a wrong mask or a wrong softmax you call "targets not shifted".',
        "A loss below the floor says that the answer was seen. It may have come through the layer: look there "
        "first, and blame the targets when the layer is clean.",
        _LIST,
    ),
)
def name_the_bug__loss_first(case):
    if case.losses.min() < case.floor:
        return "targets not shifted"
    t, s = case.weights.nonzero().T
    ahead = int((s - t).max())
    if ahead:
        return ("right", "mask off by one", "no mask")[min(ahead, 2)]
    rows, columns = case.weights.sum(dim=1), case.weights.sum(dim=0)
    if not torch.allclose(rows, torch.ones_like(rows), atol=1e-3):
        over_queries = torch.allclose(columns, torch.ones_like(columns), atol=1e-3)
        return "softmax over queries" if over_queries else "mask after softmax"
    if (case.reach == 0).tril().any():
        return "heads by view"
    scores = (case.scores / math.sqrt(case.K)).masked_fill(case.weights == 0, -math.inf)
    if not torch.allclose(case.weights, scores.softmax(dim=-1), atol=1e-3):
        return "not scaled"
    return "right"


@NAME_THE_BUG.misconception(
    "Any weight on the future is called a missing mask",
    fails=NAME_THE_BUG.all_but("sums", "reach", "scale", "loss"),
    hints=(
        'A layer that looks one step ahead, and no further, you call "no mask".',
        "Ask how far the weights reach: without a mask to the last step, with a mask that is off by one to "
        "the next step only.",
        _LIST,
    ),
)
def name_the_bug__future_is_no_mask(case):
    if case.weights.triu(1).any():
        return "no mask"
    rows, columns = case.weights.sum(dim=1), case.weights.sum(dim=0)
    if not torch.allclose(rows, torch.ones_like(rows), atol=1e-3):
        over_queries = torch.allclose(columns, torch.ones_like(columns), atol=1e-3)
        return "softmax over queries" if over_queries else "mask after softmax"
    if (case.reach == 0).tril().any():
        return "heads by view"
    scores = (case.scores / math.sqrt(case.K)).masked_fill(case.weights == 0, -math.inf)
    if not torch.allclose(case.weights, scores.softmax(dim=-1), atol=1e-3):
        return "not scaled"
    return "targets not shifted" if case.losses.min() < case.floor else "right"


@NAME_THE_BUG.misconception(
    "Rows and columns of the map are exchanged: a row is taken for a key",
    fails=NAME_THE_BUG.all_but(),
    hints=(
        "Right layers look to you as if they saw the future.",
        "Row t of the map is the query t. Its future is to the right of the diagonal, where s > t, and its "
        "weights are summed along the row.",
        "Read the comment beside ``weights`` in Case.",
    ),
)
def name_the_bug__map_turned(case):
    case = case._replace(weights=case.weights.T, reach=case.reach.T, scores=case.scores.T)
    t, s = case.weights.nonzero().T
    ahead = int((s - t).max())
    if ahead:
        return ("right", "mask off by one", "no mask")[min(ahead, 2)]
    rows, columns = case.weights.sum(dim=1), case.weights.sum(dim=0)
    if not torch.allclose(rows, torch.ones_like(rows), atol=1e-3):
        over_queries = torch.allclose(columns, torch.ones_like(columns), atol=1e-3)
        return "softmax over queries" if over_queries else "mask after softmax"
    if (case.reach == 0).tril().any():
        return "heads by view"
    scores = (case.scores / math.sqrt(case.K)).masked_fill(case.weights == 0, -math.inf)
    if not torch.allclose(case.weights, scores.softmax(dim=-1), atol=1e-3):
        return "not scaled"
    return "targets not shifted" if case.losses.min() < case.floor else "right"


@NAME_THE_BUG.misconception(
    "The sums run over the wrong axis: columns in the place of rows",
    fails=NAME_THE_BUG.all_but(),
    hints=(
        "Right layers fail your test of the sums, and those with the softmax over queries pass it.",
        "sum(dim=1) adds up along a row, over the keys; sum(dim=0) down a column, over the queries. Those of "
        "a row must be 1.",
        _MAP,
    ),
)
def name_the_bug__columns_for_rows(case):
    t, s = case.weights.nonzero().T
    ahead = int((s - t).max())
    if ahead:
        return ("right", "mask off by one", "no mask")[min(ahead, 2)]
    columns, rows = case.weights.sum(dim=1), case.weights.sum(dim=0)
    if not torch.allclose(rows, torch.ones_like(rows), atol=1e-3):
        over_queries = torch.allclose(columns, torch.ones_like(columns), atol=1e-3)
        return "softmax over queries" if over_queries else "mask after softmax"
    if (case.reach == 0).tril().any():
        return "heads by view"
    scores = (case.scores / math.sqrt(case.K)).masked_fill(case.weights == 0, -math.inf)
    if not torch.allclose(case.weights, scores.softmax(dim=-1), atol=1e-3):
        return "not scaled"
    return "targets not shifted" if case.losses.min() < case.floor else "right"


@NAME_THE_BUG.misconception(
    "Only the last row is summed",
    fails=NAME_THE_BUG.all_but("future", "reach", "scale", "loss"),
    hints=(
        "A mask after the softmax you do not see.",
        "The last step may look at everything, so nothing of its row is lost. Look at the rows above it.",
        _LIST,
    ),
)
def name_the_bug__last_row(case):
    t, s = case.weights.nonzero().T
    ahead = int((s - t).max())
    if ahead:
        return ("right", "mask off by one", "no mask")[min(ahead, 2)]
    rows, columns = case.weights.sum(dim=1)[-1:], case.weights.sum(dim=0)
    over_queries = torch.allclose(columns, torch.ones_like(columns), atol=1e-3)
    if over_queries and not torch.allclose(rows, torch.ones_like(rows), atol=1e-3):
        return "softmax over queries"
    if not torch.allclose(rows, torch.ones_like(rows), atol=1e-3):
        return "mask after softmax"
    if (case.reach == 0).tril().any():
        return "heads by view"
    scores = (case.scores / math.sqrt(case.K)).masked_fill(case.weights == 0, -math.inf)
    if not torch.allclose(case.weights, scores.softmax(dim=-1), atol=1e-3):
        return "not scaled"
    return "targets not shifted" if case.losses.min() < case.floor else "right"


@NAME_THE_BUG.misconception(
    "Sums are compared with 1 exactly",
    fails=NAME_THE_BUG.all_but(),
    hints=(
        'Right layers you call "mask after softmax".',
        "Sums of rounded numbers are 1 only up to the last digits. Allow a small difference, for instance "
        "with torch.allclose.",
        "Read what the task says about the size of what a mistake changes.",
    ),
)
def name_the_bug__exact_sums(case):
    t, s = case.weights.nonzero().T
    ahead = int((s - t).max())
    if ahead:
        return ("right", "mask off by one", "no mask")[min(ahead, 2)]
    rows, columns = case.weights.sum(dim=1), case.weights.sum(dim=0)
    if (rows != 1).any():
        over_queries = torch.allclose(columns, torch.ones_like(columns), atol=1e-3)
        return "softmax over queries" if over_queries else "mask after softmax"
    if (case.reach == 0).tril().any():
        return "heads by view"
    scores = (case.scores / math.sqrt(case.K)).masked_fill(case.weights == 0, -math.inf)
    if not torch.allclose(case.weights, scores.softmax(dim=-1), atol=1e-3):
        return "not scaled"
    return "targets not shifted" if case.losses.min() < case.floor else "right"


@NAME_THE_BUG.misconception(
    "A clean map is trusted: nobody looks at what reaches the output",
    fails=NAME_THE_BUG.all_but("future", "sums", "scale", "loss"),
    hints=(
        "Layers whose heads were cut by a view you do not find.",
        "Inside each head everything is right, so the map is clean. But what such a head calls its steps are "
        "pieces of a few neighbouring steps: the reach shows what is lost.",
        _LIST,
    ),
)
def name_the_bug__map_is_all(case):
    t, s = case.weights.nonzero().T
    ahead = int((s - t).max())
    if ahead:
        return ("right", "mask off by one", "no mask")[min(ahead, 2)]
    rows, columns = case.weights.sum(dim=1), case.weights.sum(dim=0)
    if not torch.allclose(rows, torch.ones_like(rows), atol=1e-3):
        over_queries = torch.allclose(columns, torch.ones_like(columns), atol=1e-3)
        return "softmax over queries" if over_queries else "mask after softmax"
    scores = (case.scores / math.sqrt(case.K)).masked_fill(case.weights == 0, -math.inf)
    if not torch.allclose(case.weights, scores.softmax(dim=-1), atol=1e-3):
        return "not scaled"
    return "targets not shifted" if case.losses.min() < case.floor else "right"


@NAME_THE_BUG.misconception(
    "Heads that were cut by a view are looked for in the future",
    fails=NAME_THE_BUG.all_but("scale"),
    hints=(
        'Layers through which the future gets you call "heads by view", and those with such heads you call right.',
        "Cut by a view, a head holds a few neighbouring steps in pieces, in their order. Its mask then keeps "
        "the order of the steps: nothing comes from the future, but what lies outside the piece is lost.",
        "Write down, for T = 4, N = 2 and K = 1, which steps the first head holds.",
    ),
)
def name_the_bug__view_leaks(case):
    if case.reach.triu(1).any():
        return "heads by view"
    t, s = case.weights.nonzero().T
    ahead = int((s - t).max())
    if ahead:
        return ("right", "mask off by one", "no mask")[min(ahead, 2)]
    rows, columns = case.weights.sum(dim=1), case.weights.sum(dim=0)
    if not torch.allclose(rows, torch.ones_like(rows), atol=1e-3):
        over_queries = torch.allclose(columns, torch.ones_like(columns), atol=1e-3)
        return "softmax over queries" if over_queries else "mask after softmax"
    scores = (case.scores / math.sqrt(case.K)).masked_fill(case.weights == 0, -math.inf)
    if not torch.allclose(case.weights, scores.softmax(dim=-1), atol=1e-3):
        return "not scaled"
    return "targets not shifted" if case.losses.min() < case.floor else "right"


@NAME_THE_BUG.misconception(
    "A sharp map is called not scaled, a flat one scaled",
    fails=NAME_THE_BUG.all_but("future", "sums", "reach", "loss"),
    hints=(
        "You judge by how sharp the map is.",
        "Large scores make a sharp map with the root of K as well. Compute what the softmax of the scores, "
        "divided by the root of K, would give, and compare.",
        _MAP,
    ),
)
def name_the_bug__sharp_is_unscaled(case):
    t, s = case.weights.nonzero().T
    ahead = int((s - t).max())
    if ahead:
        return ("right", "mask off by one", "no mask")[min(ahead, 2)]
    rows, columns = case.weights.sum(dim=1), case.weights.sum(dim=0)
    if not torch.allclose(rows, torch.ones_like(rows), atol=1e-3):
        over_queries = torch.allclose(columns, torch.ones_like(columns), atol=1e-3)
        return "softmax over queries" if over_queries else "mask after softmax"
    if (case.reach == 0).tril().any():
        return "heads by view"
    if case.weights[-1].max() > 0.95:
        return "not scaled"
    return "targets not shifted" if case.losses.min() < case.floor else "right"


@NAME_THE_BUG.misconception(
    "The scores are compared after a division by K, not by its root",
    fails=NAME_THE_BUG.all_but(),
    hints=(
        'Right layers you call "not scaled".',
        "The scores are divided by the root of K.",
        _MAP,
    ),
)
def name_the_bug__divided_by_K(case):
    t, s = case.weights.nonzero().T
    ahead = int((s - t).max())
    if ahead:
        return ("right", "mask off by one", "no mask")[min(ahead, 2)]
    rows, columns = case.weights.sum(dim=1), case.weights.sum(dim=0)
    if not torch.allclose(rows, torch.ones_like(rows), atol=1e-3):
        over_queries = torch.allclose(columns, torch.ones_like(columns), atol=1e-3)
        return "softmax over queries" if over_queries else "mask after softmax"
    if (case.reach == 0).tril().any():
        return "heads by view"
    scores = (case.scores / case.K).masked_fill(case.weights == 0, -math.inf)
    if not torch.allclose(case.weights, scores.softmax(dim=-1), atol=1e-3):
        return "not scaled"
    return "targets not shifted" if case.losses.min() < case.floor else "right"


EXERCISES = (NAME_THE_BUG,)
