"""What the judge asks about the exercises of chapter 13: heads, spans, what is trained, names, labels of pieces.

All sizes differ; the probes of weight 0 use one size everywhere, or plain cases, so that a mixed-up axis gives values.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from autograder.probe import gradients, integers, leaf, normal, probe
from unrolled.task_heads import HeadParams


def _size(rng: torch.Generator, low: int, high: int) -> int:
    return int(integers(rng, low, high, 1))


def _lengths(rng: torch.Generator, rows: int, steps: int, least: int = 3) -> Tensor:
    """How many steps of each row are real: all different, and none has all of them."""
    return least + torch.randperm(steps - least, generator=rng)[:rows]


def _mask(lengths: Tensor, steps: int) -> Tensor:
    return torch.arange(steps) < lengths[:, None]


# ---- 13.1 classification_head ----

B, T, D, Y = 4, 11, 7, 5


def _states(rng: torch.Generator, rows: int = B, steps: int = T, width: int = D) -> tuple[Tensor, Tensor]:
    """States with large numbers at the pads, and the mask."""
    mask = _mask(_lengths(rng, rows, steps), steps)
    h = normal(rng, rows, steps, width)
    return torch.where(mask[..., None], h, 5 + 3 * h), mask


def _head(rng: torch.Generator, classes: int = Y, width: int = D) -> HeadParams:
    return HeadParams(normal(rng, classes, width), normal(rng, classes))


def _spread(rng: torch.Generator, rows: int, width: int) -> Tensor:
    """Random numbers of which, in every row, some are near 0 and some near 1."""
    order = torch.rand(rows, width, generator=rng).argsort(dim=1)
    return (order + torch.rand(rows, width, generator=rng)) / width


@probe("classification_head", "the state of [CLS], after training")
def classification_head_cls(classification_head, rng):
    h, mask = _states(rng)
    return {"scores": classification_head(h, mask, _head(rng), "cls", 0.4, False, _spread(rng, B, D))}


@probe("classification_head", "the mean over the real steps, after training")
def classification_head_mean(classification_head, rng):
    h, mask = _states(rng)
    return {"scores": classification_head(h, mask, _head(rng), "mean", 0.4, False, _spread(rng, B, D))}


@probe("classification_head", "the state of [CLS], in training")
def classification_head_cls_train(classification_head, rng):
    h, mask = _states(rng)
    return {"scores": classification_head(h, mask, _head(rng), "cls", 0.3, True, _spread(rng, B, D))}


@probe("classification_head", "the mean over the real steps, in training")
def classification_head_mean_train(classification_head, rng):
    h, mask = _states(rng)
    return {"scores": classification_head(h, mask, _head(rng), "mean", 0.3, True, _spread(rng, B, D))}


@probe("classification_head", "a single class and a single row without pads")
def classification_head_one(classification_head, rng):
    h, mask, params = normal(rng, 1, T, D), torch.ones(1, T, dtype=torch.bool), _head(rng, 1)
    u = _spread(rng, 1, D)
    return {pool: classification_head(h, mask, params, pool, 0.2, False, u) for pool in ("cls", "mean")}


@probe("classification_head", "the scores are right, and gradients reach states and parameters")
def classification_head_gradients(classification_head, rng):
    h, mask = _states(rng)
    h, params = h.requires_grad_(), HeadParams(leaf(rng, Y, D), leaf(rng, Y))
    scores = classification_head(h, mask, params, "mean", 0.3, True, _spread(rng, B, D))
    return gradients(rng, scores + 0 * (h.sum() + params.W.sum() + params.b.sum()), h=h, W=params.W, b=params.b)


@probe("classification_head", "the scores are right, and all arguments are as they were after the call")
def classification_head_untouched(classification_head, rng):
    (h, mask), params, u = _states(rng), _head(rng), _spread(rng, B, D)
    found = {pool: classification_head(h, mask, params, pool, 0.3, True, u) for pool in ("cls", "mean")}
    return found | {"h after": h, "mask after": mask, "u after": u, "W after": params.W, "b after": params.b}


@probe("classification_head", "all sizes the same", weight=0)
def classification_head_same_sizes(classification_head, rng):
    h, mask = _states(rng, 6, 9, 6)
    params, u = _head(rng, 6, 6), _spread(rng, 6, 6)
    return {pool: classification_head(h, mask, params, pool, 0.3, True, u) for pool in ("cls", "mean")}


# ---- 13.2 span_loss and best_span ----

ROWS, STEPS = 5, 17


def _text(rng: torch.Generator, rows: int = ROWS, steps: int = STEPS) -> Tensor:
    """Where the text stands: behind a question of 3 or 4 steps, at least 9 steps, and then 2 to 4 pads."""
    begin, end = integers(rng, 3, 5, rows, 1), steps - integers(rng, 2, 5, rows, 1)
    return (torch.arange(steps) >= begin) & (torch.arange(steps) < end)


def _inside(rng: torch.Generator, allowed: Tensor, most: int) -> Tensor:
    """A random answer of 2 to ``most`` steps in each row (B, 2)."""
    spans = []
    for row in allowed:
        places = row.nonzero().flatten().tolist()
        length = _size(rng, 2, most + 1)
        first = _size(rng, 0, len(places) - length + 1)
        spans.append([places[first], places[first + length - 1]])
    return torch.tensor(spans)


def _peaks(rng: torch.Generator, rows: int, steps: int, *places: Tensor, height: float = 6.0) -> Tensor:
    """Random scores with peaks at some places of each row, the first the highest."""
    scores = normal(rng, rows, steps)
    for number, place in enumerate(places):
        scores[torch.arange(rows), place] = height - number + 0.1 * scores[torch.arange(rows), place]
    return scores


@probe("span_loss", "the loss of random scores")
def span_loss_random(span_loss, rng):
    allowed = _text(rng)
    start, end = 2 * normal(rng, ROWS, STEPS), 2 * normal(rng, ROWS, STEPS)
    return {"loss": span_loss(start, end, _inside(rng, allowed, 5), allowed)}


@probe("span_loss", "the loss where question and pads have high scores")
def span_loss_outside(span_loss, rng):
    allowed = _text(rng)
    start, end = normal(rng, ROWS, STEPS), normal(rng, ROWS, STEPS)
    return {"loss": span_loss(start + 4 * ~allowed, end + 5 * ~allowed, _inside(rng, allowed, 5), allowed)}


@probe("span_loss", "the loss of scores so large and so far apart that exp of them overflows or is 0")
def span_loss_large(span_loss, rng):
    """All far below 0: a step that is not allowed must lie below them all."""
    allowed = _text(rng)
    start, end = 900 * normal(rng, ROWS, STEPS) - 2e4, 900 * normal(rng, ROWS, STEPS) - 2e4
    return {"loss": span_loss(start, end, _inside(rng, allowed, 5), allowed)}


@probe("span_loss", "the loss is right, and gradients reach the scores, none where no answer may stand")
def span_loss_gradients(span_loss, rng):
    allowed, start, end = _text(rng), leaf(rng, ROWS, STEPS), leaf(rng, ROWS, STEPS)
    loss = span_loss(start, end, _inside(rng, allowed, 4), allowed)
    return gradients(rng, loss + 0 * (start.sum() + end.sum()), start=start, end=end)


@probe("span_loss", "the loss is right, and all arguments are as they were after the call")
def span_loss_untouched(span_loss, rng):
    allowed, start, end = _text(rng), normal(rng, ROWS, STEPS), normal(rng, ROWS, STEPS)
    spans = _inside(rng, allowed, 4)
    loss = span_loss(start, end, spans, allowed)
    return {"loss": loss, "start after": start, "end after": end, "spans after": spans, "allowed after": allowed}


@probe("span_loss", "best answers of random scores, all of them negative")
def span_loss_best(best_span, rng):
    allowed = _text(rng, 3 * ROWS)
    start, end = normal(rng, 3 * ROWS, STEPS) - 9, normal(rng, 3 * ROWS, STEPS) - 9
    return {f"longest {longest}": best_span(start, end, allowed, longest) for longest in (2, 4, 7)}


@probe("span_loss", "the end with the highest score stands before the start with the highest")
def span_loss_reversed(best_span, rng):
    allowed = _text(rng)
    first, last = _inside(rng, allowed, 4).unbind(1)
    start, end = _peaks(rng, ROWS, STEPS, last, first), _peaks(rng, ROWS, STEPS, first, last)
    return {"answer": best_span(start, end, allowed, 6)}


@probe("span_loss", "question and pads have the highest scores")
def span_loss_question_and_pads(best_span, rng):
    allowed = _text(rng, 3 * ROWS)
    outside = 5.0 * ~allowed
    outside[::3, : STEPS // 2] = 0  # in some rows only the pads
    outside[1::3, STEPS // 2 :] = 0  # in others only the question
    start, end = normal(rng, 3 * ROWS, STEPS), normal(rng, 3 * ROWS, STEPS)
    return {"answer": best_span(start + outside, end + outside, allowed, 5)}


@probe("span_loss", "the best answer is exactly as long as allowed, or one step longer")
def span_loss_cap(best_span, rng):
    allowed = _text(rng)
    spans = _inside(rng, allowed, 6)
    lengths = spans[:, 1] - spans[:, 0] + 1
    found = {}
    for more in (0, -1):
        start, end = _peaks(rng, ROWS, STEPS, spans[:, 0]), _peaks(rng, ROWS, STEPS, spans[:, 1])
        found[f"longest {more:+d}"] = torch.cat(
            [
                best_span(start[b : b + 1], end[b : b + 1], allowed[b : b + 1], int(n) + more)
                for b, n in enumerate(lengths)
            ]
        )
    return found


@probe("span_loss", "answers of one step, and answers of any length, all scores negative")
def span_loss_short_and_long(best_span, rng):
    allowed = _text(rng, 2 * ROWS)
    start, end = normal(rng, 2 * ROWS, STEPS) - 9, normal(rng, 2 * ROWS, STEPS) - 9
    return {f"longest {longest}": best_span(start, end, allowed, longest) for longest in (1, STEPS, 5 * STEPS)}


@probe("span_loss", "the answers are right, and all arguments are as they were after the call")
def span_loss_best_untouched(best_span, rng):
    n = 6 * ROWS
    allowed, start, end = _text(rng, n), normal(rng, n, STEPS), normal(rng, n, STEPS)
    answer = best_span(start, end, allowed, 4)
    return {"answer": answer, "start after": start, "end after": end, "allowed after": allowed}


@probe("span_loss", "all sizes the same, an answer everywhere", weight=0)
def span_loss_same_sizes(span_loss, best_span, rng):
    start, end = normal(rng, 9, 9), normal(rng, 9, 9)
    allowed = torch.ones(9, 9, dtype=torch.bool)
    return {
        "loss": span_loss(start, end, _inside(rng, allowed, 5), allowed),
        "answer": best_span(start, end, allowed, 4),
    }


# ---- 13.3 set_trainable ----


class _Part(nn.Module):
    """A layer with dropout of both kinds: a module of its own, and a function that asks for the layer's mode."""

    def __init__(self, width: int):
        super().__init__()
        self.linear, self.norm, self.drop = nn.Linear(width, width), nn.LayerNorm(width), nn.Dropout(0.5)

    def forward(self, x: Tensor) -> Tensor:
        return self.norm(x + self.drop(F.dropout(self.linear(x), 0.5, self.training)))


class _Encoder(nn.Module):
    def __init__(self, layers: int, width: int):
        super().__init__()
        self.embedding = nn.Sequential(nn.Embedding(5, width), nn.Dropout(0.1))
        self.layers = nn.ModuleList(_Part(width) for _ in range(layers))
        self.pooler = nn.Linear(width, width)


class _Model(nn.Module):
    """An encoder and a head of two parts with names of their own."""

    def __init__(self, rng: torch.Generator, layers: int = 5, width: int = 3, head: str = "scores"):
        super().__init__()
        self.temperature = nn.Parameter(torch.ones(2))
        self.bert = _Encoder(layers, width)
        self.head = head
        self.add_module(head, nn.Sequential(nn.Dropout(0.3), nn.Linear(width, 2)))
        with torch.no_grad():
            for p in self.parameters():
                p.copy_(normal(rng, *p.shape))

    def modes(self) -> Tensor:
        """Which parts drop: the embedding, the layers in both ways, the head."""
        pairs = [mode for layer in self.bert.layers for mode in (layer.training, layer.drop.training)]
        return torch.tensor([self.bert.embedding[1].training, *pairs, self.get_submodule(self.head)[0].training])


def _members(group: dict) -> list[Tensor]:
    params = group["params"]
    return [params] if isinstance(params, Tensor) else list(params)


def _groups(groups) -> list[dict]:
    """Groups as a list that can be read several times; those without parameters are left out."""
    made = [{**group, "params": _members(group)} for group in groups]
    return [group for group in made if group["params"]]


def _rates(model: nn.Module, groups: list[dict]) -> Tensor:
    """For every parameter how often it is in the groups, and with which step size (0 if it is not there)."""
    times, rates = {}, {}
    for group in groups:
        for p in group["params"]:
            times[id(p)], rates[id(p)] = times.get(id(p), 0) + 1, group["lr"]
    rows = [(times.get(id(p), 0), 1.0 * rates.get(id(p), 0.0)) for p in model.parameters()]
    return torch.tensor(rows, dtype=torch.get_default_dtype())


def _flags(model: nn.Module) -> Tensor:
    return torch.tensor([p.requires_grad for p in model.parameters()])


def _stale(model: nn.Module) -> Tensor:
    """Which parameters have a gradient though they are frozen."""
    return torch.tensor([p.grad is not None and not p.requires_grad for p in model.parameters()])


def _leave_gradients(rng: torch.Generator, model: nn.Module) -> None:
    for p in model.parameters():
        p.grad = normal(rng, *p.shape)


@probe("set_trainable", "which parameters ask for a gradient and stand in the groups, whatever the head is called")
def set_trainable_flags(set_trainable, rng):
    seen = {}
    for policy in ("frozen", 2, "full"):
        model = _Model(rng, head="bert_scores")
        seen[f"{policy}: step sizes"] = _rates(model, _groups(set_trainable(model, policy, 0.1, 0.7)))
        seen[f"{policy}: requires_grad"] = _flags(model)
    return seen


@probe("set_trainable", "any number of layers")
def set_trainable_layers(set_trainable, rng):
    seen = {}
    for k in (1, 3, 4):
        model = _Model(rng, layers=4)
        seen[f"{k}: step sizes"] = _rates(model, _groups(set_trainable(model, k, 0.2, 0.5)))
        seen[f"{k}: requires_grad"] = _flags(model)
    return seen


@probe("set_trainable", "one policy after another")
def set_trainable_again(set_trainable, rng):
    model, seen = _Model(rng, layers=3), {}
    for policy in ("frozen", "full", 1, 2, "frozen"):
        seen[f"{len(seen)}: {policy}"] = _rates(model, _groups(set_trainable(model, policy, 0.3, 0.9)))
        seen[f"{len(seen)}: {policy}"] = _flags(model)
    return seen


@probe("set_trainable", "gradients of an earlier step")
def set_trainable_gradients(set_trainable, rng):
    seen = {}
    for policy in ("frozen", 2, "full"):
        model = _Model(rng, layers=3)
        _leave_gradients(rng, model)
        seen[f"{policy}: step sizes"] = _rates(model, _groups(set_trainable(model, policy, 0.1, 0.7)))
        seen[f"{policy}: stale"] = _stale(model)
    return seen


@probe("set_trainable", "which parts drop, whatever mode the model was in")
def set_trainable_modes(set_trainable, rng):
    seen = {}
    for policy, before in (("frozen", True), (2, True), (1, False), ("full", False)):
        model = _Model(rng, layers=3).train(before)
        seen[f"{policy}: step sizes"] = _rates(model, _groups(set_trainable(model, policy, 0.1, 0.7)))
        seen[f"{policy}: in training mode"] = model.modes()
    return seen


@torch.no_grad()
def _descend(groups: list[dict]) -> None:
    """One step of gradient descent with weight decay, as torch.optim takes it: whatever has a gradient moves."""
    for group in groups:
        for p in group["params"]:
            if p.grad is not None:
                p -= group["lr"] * (p.grad + 0.1 * p)


@probe("set_trainable", "the values after the call, and after a step of gradient descent with these groups")
def set_trainable_step(set_trainable, rng):
    seen = {}
    for policy in (1, "frozen"):
        model = _Model(rng, layers=3)
        _leave_gradients(rng, model)
        groups = _groups(set_trainable(model, policy, 0.1, 0.7))
        seen[f"{policy}: after the call"] = torch.cat([p.flatten() for p in model.parameters()])
        trained = [p for p in model.parameters() if p.requires_grad]
        for p in trained:
            p.grad = None
        sum((p * normal(rng, *p.shape)).sum() for p in [*trained, leaf(rng, 1)]).backward()
        _descend(groups)
        seen[f"{policy}: after a step"] = torch.cat([p.flatten() for p in model.parameters()])
    return seen


@probe("set_trainable", "one layer, everything at once", weight=0)
def set_trainable_one(set_trainable, rng):
    model = _Model(rng, layers=1).eval()
    _leave_gradients(rng, model)
    seen = {"step sizes": _rates(model, _groups(set_trainable(model, 1, 0.1, 0.7)))}
    return seen | {"requires_grad": _flags(model), "modes": model.modes(), "stale": _stale(model)}


# ---- 13.4 map_checkpoint ----

PER_LAYER = (
    "attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense",
    "attention.output.LayerNorm", "intermediate.dense", "output.dense", "output.LayerNorm",
)  # fmt: skip
OTHERS = (
    "cls.predictions.transform.LayerNorm.weight", "cls.predictions.transform.dense.bias",
    "cls.predictions.bias", "cls.seq_relationship.weight", "classifier.weight",
)  # fmt: skip


def _published(
    rng: torch.Generator, layers: int, *, prefix: str = "", old: bool = False, width: int = 3, wide: int = 4
) -> dict[str, Tensor]:
    """A checkpoint with the published names, in random order, and a few tensors that our encoder has no place for.

    Those come last, from Z to A, so that they are sorted only if somebody sorts them.
    """
    tables = (("word", 7), ("position", 6), ("token_type", 2))
    made = {f"embeddings.{name}_embeddings.weight": normal(rng, n, width) for name, n in tables}
    parts = ["embeddings.LayerNorm", "pooler.dense"]
    parts += [f"encoder.layer.{i}.{part}" for i in range(layers) for part in PER_LAYER]
    for part in parts:
        rows, columns = width, width
        if "intermediate" in part:
            rows = wide
        elif part.endswith(".output.dense") and "attention" not in part:
            columns = wide
        if "LayerNorm" in part:
            scale, shift = ("gamma", "beta") if old else ("weight", "bias")
            made[f"{part}.{scale}"], made[f"{part}.{shift}"] = normal(rng, width), normal(rng, width)
        else:
            made[f"{part}.weight"], made[f"{part}.bias"] = normal(rng, rows, columns), normal(rng, rows)
    made = {prefix + name: tensor for name, tensor in made.items()}
    heads = OTHERS if prefix else OTHERS[2:]  # a file of names that begin with bert. holds all heads of pretraining
    counter = {f"{prefix}embeddings.position_ids": torch.arange(6)[None]}
    more = counter | {name: normal(rng, 2) for name in heads[: _size(rng, 2, 4)]}
    names = list(made)
    mixed = {names[i]: made[names[i]] for i in torch.randperm(len(names), generator=rng).tolist()}
    return mixed | {name: more[name] for name in sorted(more, reverse=True)}


def _mapped(result, ordered: bool = False) -> dict:
    """What came back, in the order of our names; that of the unused ones counts only if ``ordered``."""
    ours, unused = result
    names = sorted(ours)
    return {
        "names": tuple(names),
        "tensors": tuple(ours[name] for name in names),
        "unused": tuple(unused if ordered else sorted(unused)),
    }


@probe("map_checkpoint", "the published names, and the unused ones sorted")
def map_checkpoint_plain(map_checkpoint, rng):
    return _mapped(map_checkpoint(_published(rng, 2)), ordered=True)


@probe("map_checkpoint", "names that begin with bert.")
def map_checkpoint_prefix(map_checkpoint, rng):
    return _mapped(map_checkpoint(_published(rng, 2, prefix="bert.")))


@probe("map_checkpoint", "old names of the norms")
def map_checkpoint_old(map_checkpoint, rng):
    return _mapped(map_checkpoint(_published(rng, 2, old=True)))


@probe("map_checkpoint", "more than ten layers, names that begin with bert., old names of the norms")
def map_checkpoint_deep(map_checkpoint, rng):
    return _mapped(map_checkpoint(_published(rng, 12, prefix="bert.", old=True, width=2, wide=3)))


@probe("map_checkpoint", "only some of the tensors")
def map_checkpoint_some(map_checkpoint, rng):
    state = _published(rng, 3)
    kept = {name: tensor for name, tensor in state.items() if ".1." in name or "embeddings" in name}
    return _mapped(map_checkpoint(kept))


@probe("map_checkpoint", "the result is right, and the state is as it was after the call")
def map_checkpoint_untouched(map_checkpoint, rng):
    state = _published(rng, 1, prefix="bert.")
    found = _mapped(map_checkpoint(state))
    return found | {"names after": tuple(state), "tensors after": tuple(state.values())}


@probe("map_checkpoint", "all matrices square", weight=0)
def map_checkpoint_square(map_checkpoint, rng):
    return _mapped(map_checkpoint(_published(rng, 2, width=3, wide=3)))


# ---- 13.5 align_labels ----


def _row(pieces: list[int], pads: int = 0) -> list[int | None]:
    """[CLS], so many pieces of each word, [SEP], pads."""
    return [None, *(word for word, n in enumerate(pieces) for _ in range(n)), None, *(pads * [None])]


def _labels(rng: torch.Generator, n: int) -> list[int]:
    """Labels of which no two neighbours are alike; the second is 0, as some others may be."""
    labels = [_size(rng, 1, 9), 0]
    while len(labels) < n:
        label = _size(rng, 0, 9)
        if label != labels[-1]:
            labels.append(label)
    return labels


@probe("align_labels", "words of one to four pieces")
def align_labels_pieces(align_labels, rng):
    pieces = [2, 1, *integers(rng, 1, 5, 5).tolist(), 3]
    return {"labels": align_labels(_row(pieces), _labels(rng, 8))}


@probe("align_labels", "every word is one piece")
def align_labels_single(align_labels, rng):
    return {"labels": align_labels(_row(7 * [1]), _labels(rng, 7))}


@probe("align_labels", "pads behind the text")
def align_labels_pads(align_labels, rng):
    pieces = [1, *integers(rng, 1, 4, 4).tolist(), 2]
    return {"labels": align_labels(_row(pieces, _size(rng, 3, 6)), _labels(rng, 6))}


@probe("align_labels", "the last words were cut off")
def align_labels_cut(align_labels, rng):
    row = _row([2, *integers(rng, 1, 4, 6).tolist()])
    kept = _size(rng, 6, 8)
    return {"labels": align_labels([*row[:kept], None], _labels(rng, 7))}


@probe("align_labels", "a word without pieces")
def align_labels_gap(align_labels, rng):
    pieces = [1, 2, 1, 2, 1, 3, 1]
    pieces[_size(rng, 1, 5)] = 0
    return {"labels": align_labels(_row(pieces), (1 + torch.randperm(8, generator=rng))[:7].tolist())}  # all different


@probe("align_labels", "neighbouring words with the same label")
def align_labels_alike(align_labels, rng):
    label, other = _size(rng, 1, 5), _size(rng, 5, 9)
    pieces = integers(rng, 1, 4, 7).tolist()
    return {"labels": align_labels(_row(pieces), [label, label, 0, 0, other, other, label])}


@probe("align_labels", "no special tokens: the row begins with a word")
def align_labels_bare(align_labels, rng):
    pieces = [2, 1, *integers(rng, 1, 4, 3).tolist()]
    return {"labels": align_labels(_row(pieces)[1:-1], _labels(rng, 5))}


@probe("align_labels", "the labels are right, and both lists are as they were after the call")
def align_labels_untouched(align_labels, rng):
    row, labels = _row([2, *integers(rng, 1, 4, 5).tolist()], 2), _labels(rng, 6)
    aligned = align_labels(row, labels)
    return {"labels": aligned, "word_ids after": tuple(map(str, row)), "labels after": labels}


@probe("align_labels", "a text without words, and one of a single word", weight=0)
def align_labels_short(align_labels, rng):
    return {"none": align_labels([None, None, None], []), "one": align_labels([None, 0, 0, None], [6])}


# ---- 13.6 sentence_embedding ----


def _long_states(rng: torch.Generator) -> tuple[Tensor, Tensor]:
    """States so long that a small number added to a length, as a guard against 0, makes no difference."""
    h, mask = _states(rng)
    return 1e3 * h, mask


@probe("sentence_embedding", "sentences of different lengths")
def sentence_embedding_lengths(sentence_embedding, rng):
    return {"vectors": sentence_embedding(*_long_states(rng))}


@probe("sentence_embedding", "no pads")
def sentence_embedding_full(sentence_embedding, rng):
    return {"vectors": sentence_embedding(1e3 * normal(rng, 3, 5, D), torch.ones(3, 5, dtype=torch.bool))}


@probe("sentence_embedding", "states of very different sizes")
def sentence_embedding_sizes(sentence_embedding, rng):
    h, mask = _long_states(rng)
    return {"vectors": sentence_embedding(h * torch.exp(3 * normal(rng, B, T, 1)), mask)}


@probe("sentence_embedding", "large and very large states: the length is 1 all the same")
def sentence_embedding_length(sentence_embedding, rng):
    h, mask = _states(rng)
    return {f"times {scale:g}": sentence_embedding(scale * h, mask) for scale in (1e2, 1e5)}


@probe("sentence_embedding", "the vectors are right and gradients reach the states, zero at the pads")
def sentence_embedding_gradients(sentence_embedding, rng):
    h, mask = _states(rng)
    h = h.requires_grad_()
    return gradients(rng, sentence_embedding(1e3 * h, mask) + 0 * h.sum(), h=h)


@probe("sentence_embedding", "the vectors are right, and both arguments are as they were after the call")
def sentence_embedding_untouched(sentence_embedding, rng):
    h, mask = _long_states(rng)
    return {"vectors": sentence_embedding(h, mask), "h after": h, "mask after": mask}


@probe("sentence_embedding", "one real step, and all sizes the same", weight=0)
def sentence_embedding_one(sentence_embedding, rng):
    first = torch.zeros(5, 5, dtype=torch.bool)
    first[:, 0] = True
    h = 1e3 * normal(rng, 5, 5, 5)
    return {"one": sentence_embedding(h, first), "all": sentence_embedding(h, torch.ones_like(first))}
