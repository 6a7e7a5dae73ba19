"""Right answers to the exercises of chapter 13, in other styles."""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from autograder.exercises.ch13_bert_finetuning import ALIGN, CHECKPOINT, EMBEDDING, HEAD, SPANS, TRAINABLE

# ---- 13.1 classification_head ----


@HEAD.variant
def classification_head__weights_of_steps(h, mask, params, pool, p, train, u):
    """Both ways to pool are a weighted sum over the steps."""
    weights = torch.zeros(mask.shape)
    if pool == "cls":
        weights[:, 0] = 1
    else:
        weights = mask / mask.sum(dim=1, keepdim=True)
    s = torch.einsum("bt,btd->bd", weights.to(h.dtype), h)
    if train:
        s = torch.where(u < p, 0.0, s / (1 - p))
    return F.linear(s, params.W, params.b)


@HEAD.variant
def classification_head__row_by_row(h, mask, params, pool, p, train, u):
    rows = []
    for states, real, draws in zip(h, mask, u, strict=True):
        s = states[0] if pool == "cls" else states[real].mean(dim=0)
        kept = (draws >= p) / (1 - p) if train else 1.0
        rows.append(params.W @ (s * kept) + params.b)
    return torch.stack(rows)


@HEAD.variant
def classification_head__masked_weights(h, mask, params, pool, p, train, u):
    """Dropping a feature is dropping a column of W."""
    s = h.select(1, 0)
    if pool == "mean":
        s = h.masked_fill(~mask.unsqueeze(-1), 0).sum(1) / mask.sum(1).unsqueeze(1)
    W = params.W.expand(len(h), -1, -1)
    if train:
        W = W * (1 - (u < p).to(h.dtype)).unsqueeze(1) / (1 - p)
    return torch.bmm(W, s.unsqueeze(2)).squeeze(2) + params.b


@HEAD.variant
def classification_head__scores_first(h, mask, params, pool, p, train, u):
    """A linear layer and a mean may change places: first the scores of every step, then their mean."""
    scale = (~(u < p)).to(h.dtype) / (1 - p) if train else torch.ones_like(u, dtype=h.dtype)
    scores = (h * scale[:, None]) @ params.W.mT
    if pool == "cls":
        return scores[:, 0] + params.b
    return torch.where(mask[..., None], scores, 0).sum(1) / mask.sum(1)[:, None] + params.b


# ---- 13.2 span_loss and best_span ----


@SPANS.variant
def span_loss__cross_entropy(start, end, spans, allowed):
    scores = torch.cat([start, end]).masked_fill(~allowed.repeat(2, 1), float("-inf"))
    return F.cross_entropy(scores, spans.T.reshape(-1))


@SPANS.variant
def span_loss__logsumexp(start, end, spans, allowed):
    rows = torch.arange(len(start))
    losses = []
    for b in rows:
        text = allowed[b]
        losses.append(torch.logsumexp(start[b][text], 0) - start[b, spans[b, 0]])
        losses.append(torch.logsumexp(end[b][text], 0) - end[b, spans[b, 1]])
    return torch.stack(losses).mean()


@SPANS.variant
def span_loss__shifted(start, end, spans, allowed):
    """The softmax by hand, with the largest score taken off first."""
    both = torch.stack([start, end], dim=1)  # (B, 2, T)
    inside = allowed[:, None].expand_as(both)
    low = torch.finfo(both.dtype).min
    top = torch.where(inside, both, low).amax(dim=-1, keepdim=True).detach()
    weights = torch.exp(torch.where(inside, both - top, -torch.inf))
    right = (both - top).gather(2, spans[..., None])[..., 0]
    return (weights.sum(dim=-1).log() - right).sum() / (2 * len(start))


@SPANS.variant
def best_span__all_pairs(start, end, allowed, longest):
    found = []
    for s, e, ok in zip(start.tolist(), end.tolist(), allowed.tolist(), strict=True):
        places = [t for t, yes in enumerate(ok) if yes]
        pairs = [(i, j) for i in places for j in places if i <= j <= i + longest - 1]
        found.append(max(pairs, key=lambda pair: s[pair[0]] + e[pair[1]]))
    return torch.tensor(found)


@SPANS.variant
def best_span__one_pass(start, end, allowed, longest):
    """For every end the best start among the last ones."""
    B, T = start.shape
    answers = torch.zeros(B, 2, dtype=torch.long)
    for b in range(B):
        best = -float("inf")
        for j in range(T):
            for i in range(max(0, j - longest + 1), j + 1):
                score = float(start[b, i] + end[b, j])
                if allowed[b, i] and allowed[b, j] and score > best:
                    best, answers[b] = score, torch.tensor([i, j])
    return answers


@SPANS.variant
def best_span__by_length(start, end, allowed, longest):
    """All answers of one step, then all of two steps, and so on, as shifted rows."""
    start, end = (torch.where(allowed, scores, -torch.inf) for scores in (start, end))
    B, T = start.shape
    tops, firsts, lasts = [], [], []
    for more in range(min(longest, T)):
        top, first = (start[:, : T - more] + end[:, more:]).max(dim=1)
        tops.append(top)
        firsts.append(first)
        lasts.append(first + more)
    which = torch.stack(tops).argmax(dim=0)
    each = torch.arange(B)
    return torch.stack([torch.stack(firsts)[which, each], torch.stack(lasts)[which, each]], dim=1)


@SPANS.variant
def best_span__probabilities_multiplied(start, end, allowed, longest):
    """Log-probabilities differ from the scores by a constant, so the best pair is the same."""
    log_p, log_q = (F.log_softmax(o.masked_fill(~allowed, -1e30), dim=-1) for o in (start, end))
    length = torch.arange(start.shape[1])[None, :] - torch.arange(start.shape[1])[:, None] + 1
    joint = log_p.unsqueeze(2) + log_q.unsqueeze(1)
    joint = torch.where((length >= 1) & (length <= longest), joint, -torch.inf)
    return torch.stack([joint.amax(2).argmax(1), joint.amax(1).argmax(1)], dim=-1)


@SPANS.variant
def best_span__numpy(start, end, allowed, longest):
    s = np.where(allowed.numpy(), start.numpy(), -np.inf)
    e = np.where(allowed.numpy(), end.numpy(), -np.inf)
    T = s.shape[1]
    band = np.tril(np.triu(np.ones((T, T))), longest - 1) > 0
    scores = np.where(band, s[:, :, None] + e[:, None, :], -np.inf)
    return torch.tensor([np.unravel_index(row.argmax(), row.shape) for row in scores])


# ---- 13.3 set_trainable ----


@TRAINABLE.variant
def set_trainable__thawing(model, policy, lr, lr_head):
    """First everything is frozen, then some of it thawed, from the top."""
    bert = model.bert
    for p in bert.parameters():
        p.requires_grad = False
    bert.eval()
    thawed = []
    if policy == "full":
        thawed = [bert]
    elif policy != "frozen":
        thawed = [bert.pooler, *[*reversed(bert.layers)][:policy]]
    for part in thawed:
        part.train()
        for p in part.parameters():
            p.requires_grad = True
    for p in bert.parameters():
        if not p.requires_grad:
            p.grad = None
    own = set(bert.parameters())
    head = [p for p in model.parameters() if p not in own]
    for p in head:
        p.requires_grad = True
    for name, part in model.named_children():
        if name != "bert":
            part.train()
    tuned = [p for p in bert.parameters() if p.requires_grad]
    return [{"params": head, "lr": lr_head}] + ([{"params": tuned, "lr": lr}] if tuned else [])


@TRAINABLE.variant
def set_trainable__by_name(model, policy, lr, lr_head):
    """One group for each parameter, found by its name."""
    n = len(model.bert.layers)
    k = {"frozen": 0, "full": n}.get(policy, policy)
    trained = {f"bert.layers.{i}." for i in range(n - k, n)}
    if policy != "frozen":
        trained.add("bert.pooler.")
    if policy == "full":
        trained.add("bert.")

    def learns(name):
        return not name.startswith("bert.") or any(name.startswith(part) for part in trained)

    groups = []
    for name, p in model.named_parameters():
        p.requires_grad_(learns(name))
        if p.requires_grad:
            groups.append({"params": p, "lr": lr if name.startswith("bert.") else lr_head})
        else:
            p.grad = None
    for name, module in model.named_modules():
        module.training = learns(name + ".")
    return groups


@TRAINABLE.variant
def set_trainable__frozen_set(model, policy, lr, lr_head):
    encoder = model.bert
    parts = [encoder.embedding, *encoder.layers, encoder.pooler]
    how_many = {"frozen": len(parts), "full": 0}
    fixed = parts[: how_many.get(policy, len(parts) - 1 - (policy if isinstance(policy, int) else 0))]
    model.train()
    [part.train(False) for part in fixed]
    still = {p for part in fixed for p in part.parameters()}
    for p in model.parameters():
        p.requires_grad = p not in still
        p.grad = None if p in still else p.grad
    inner = nn.ParameterList(p for p in encoder.parameters() if p not in still)
    every = set(encoder.parameters())
    outer = filter(lambda p: p not in every, model.parameters())
    return ({"params": inner, "lr": lr}, {"params": outer, "lr": lr_head})


@TRAINABLE.variant
def set_trainable__all_gradients_removed(model, policy, lr, lr_head):
    """All gradients go, stale or not; then the parts from the bottom to the top."""
    model.zero_grad(set_to_none=True)
    model.train().requires_grad_()
    depth = len(model.bert.layers)
    learned = depth if policy in ("frozen", "full") else policy
    for part in [model.bert.embedding, *model.bert.layers][: 1 + depth - learned]:
        part.eval().requires_grad_(policy == "full")
        part.train(policy == "full")
    if policy == "frozen":
        model.bert.eval().requires_grad_(False)
    groups = {True: [], False: []}
    for name, p in model.named_parameters():
        if p.requires_grad:
            groups[name.startswith("bert.")] += [p]
    return [{"params": groups[inside], "lr": lr if inside else lr_head} for inside in (True, False)]


# ---- 13.4 map_checkpoint ----


@CHECKPOINT.variant
def map_checkpoint__names_made_ahead(state):
    """All names that there can be, from the numbers of layers that occur."""
    table = {
        f"embeddings.{theirs}_embeddings.weight": f"embedding.{ours}"
        for theirs, ours in (("word", "tokens"), ("token_type", "segments"), ("position", "positions"))
    }
    linear = {"pooler.dense": "pooler"}
    norms = {"embeddings.LayerNorm": "embedding.norm"}
    for i in range(1 + max((int(w) for name in state for w in name.split(".") if w.isdigit()), default=-1)):
        old, new = f"encoder.layer.{i}", f"layers.{i}"
        for long, short in (("query", "q"), ("key", "k"), ("value", "v")):
            linear[f"{old}.attention.self.{long}"] = f"{new}.attention.{short}"
        linear[f"{old}.attention.output.dense"] = f"{new}.attention.o"
        linear[f"{old}.intermediate.dense"] = f"{new}.wide"
        linear[f"{old}.output.dense"] = f"{new}.back"
        norms[f"{old}.attention.output.LayerNorm"] = f"{new}.norm_1"
        norms[f"{old}.output.LayerNorm"] = f"{new}.norm_2"
    for old, new in linear.items():
        table |= {f"{old}.{kind}": f"{new}.{kind}" for kind in ("weight", "bias")}
    for old, new in norms.items():
        table |= {f"{old}.{a}": f"{new}.{b}" for a, b in zip(("weight", "bias", "gamma", "beta"), "gbgb", strict=True)}
    table |= {f"bert.{old}": new for old, new in table.items()}
    return {table[name]: state[name] for name in state if name in table}, sorted(set(state) - set(table))


@CHECKPOINT.variant
def map_checkpoint__replacing(state):
    steps = [
        ("LayerNorm.weight", "LayerNorm.g"), ("LayerNorm.gamma", "LayerNorm.g"), ("LayerNorm.bias", "LayerNorm.b"),
        ("LayerNorm.beta", "LayerNorm.b"), ("embeddings.LayerNorm", "embedding.norm"),
        ("embeddings.word_embeddings.weight", "embedding.tokens"),
        ("embeddings.token_type_embeddings.weight", "embedding.segments"),
        ("embeddings.position_embeddings.weight", "embedding.positions"), ("encoder.layer.", "layers."),
        ("self.query", "q"), ("self.key", "k"), ("self.value", "v"), ("attention.output.dense", "attention.o"),
        ("attention.output.LayerNorm", "norm_1"), ("intermediate.dense", "wide"), ("output.dense", "back"),
        ("output.LayerNorm", "norm_2"), ("pooler.dense", "pooler"),
    ]  # fmt: skip
    ours, unused = {}, set()
    for name, tensor in state.items():
        short = name[5:] if name[:5] == "bert." else name
        new = short
        for old, to in steps:
            new = new.replace(old, to)
        if new.split(".")[0] in ("embedding", "layers", "pooler"):
            ours[new] = tensor
        else:
            unused.add(name)
    return ours, sorted(unused)


@CHECKPOINT.variant
def map_checkpoint__by_words(state):
    """Reads a name word by word."""

    def own(words):
        match words:
            case ["embeddings", "LayerNorm", kind]:
                return "embedding.norm." + {"weight": "g", "gamma": "g"}.get(kind, "b")
            case ["embeddings", table, "weight"]:
                short = {"word": "tokens", "token_type": "segments", "position": "positions"}
                return "embedding." + short[table.removesuffix("_embeddings")]
            case ["encoder", "layer", i, "attention", "self", which, kind]:
                return f"layers.{i}.attention.{which[0]}.{kind}"
            case ["encoder", "layer", i, "attention", "output", "dense", kind]:
                return f"layers.{i}.attention.o.{kind}"
            case ["encoder", "layer", i, "intermediate", "dense", kind]:
                return f"layers.{i}.wide.{kind}"
            case ["encoder", "layer", i, "output", "dense", kind]:
                return f"layers.{i}.back.{kind}"
            case ["encoder", "layer", i, *middle, "LayerNorm", kind]:
                return f"layers.{i}.norm_{1 if len(middle) == 2 else 2}.{'gb'[kind[0] == 'b']}"
            case ["pooler", "dense", kind]:
                return f"pooler.{kind}"
        return None

    ours, unused = {}, []
    for name in sorted(state):
        words = name.split(".")
        found = own(words[1:] if words[0] == "bert" else words)
        if found is None:
            unused.append(name)
        else:
            ours[found] = state[name].clone()
    return ours, unused


# ---- 13.5 align_labels ----


@ALIGN.variant
def align_labels__first_places(word_ids, labels):
    """Where does each word begin? Everything else stays at -100."""
    aligned = [-100] * len(word_ids)
    for word in set(word_ids) - {None}:
        aligned[word_ids.index(word)] = labels[word]
    return aligned


@ALIGN.variant
def align_labels__pairs(word_ids, labels):
    return [
        -100 if word is None or word == before else labels[word]
        for before, word in zip([None, *word_ids], word_ids, strict=False)
    ]


@ALIGN.variant
def align_labels__seen(word_ids, labels):
    seen = set()
    result = []
    for t in range(len(word_ids)):
        if word_ids[t] is None or word_ids[t] in seen:
            result += [-100]
        else:
            result += [labels[word_ids[t]]]
            seen.add(word_ids[t])
    return result


@ALIGN.variant
def align_labels__backwards(word_ids, labels):
    """From the end: the piece that is written last is the first of its word."""
    place = {word: len(word_ids) - 1 - t for t, word in enumerate(reversed(word_ids)) if word is not None}
    row = torch.full((len(word_ids),), -100)
    for word, t in place.items():
        row[t] = labels[word]
    return row.tolist()


# ---- 13.6 sentence_embedding ----


@EMBEDDING.variant
def sentence_embedding__sum(h, mask):
    """What a sum is divided by plays no part in its direction."""
    return F.normalize(torch.einsum("btd,bt->bd", h, mask.to(h.dtype)), dim=1)


@EMBEDDING.variant
def sentence_embedding__row_by_row(h, mask):
    vectors = []
    for states, real in zip(h, mask, strict=True):
        mean = states[real].mean(dim=0)
        vectors.append(mean / torch.sqrt(mean @ mean))
    return torch.stack(vectors)


@EMBEDDING.variant
def sentence_embedding__weights(h, mask):
    weights = mask / mask.sum(dim=1, keepdim=True)  # (B, T)
    mean = torch.bmm(weights.to(h.dtype)[:, None], h)[:, 0]
    return mean * mean.pow(2).sum(dim=1, keepdim=True).rsqrt()


@EMBEDDING.variant
def sentence_embedding__filled(h, mask):
    total = h.masked_fill(~mask.unsqueeze(2), 0.0).sum(1)
    mean = total / mask.sum(1).unsqueeze(1)
    return mean / torch.linalg.vector_norm(mean, dim=1)[:, None]


@EMBEDDING.variant
def sentence_embedding__guarded(h, mask):
    """A small number in the denominator, against a length of 0."""
    total = (h * mask[..., None]).sum(dim=1) / mask.sum(dim=1, keepdim=True)
    return total / (total.norm(dim=1, keepdim=True) + 1e-6)
