"""Chapter 9: two trained networks to be looked into, for the interactive page; nothing is measured here.

"verses": a Transformer of two layers and four heads, old into modern English. For our own sentences: what was read,
what it wrote by itself, and who looked at whom, [layer][head][query][key], in the "encoder", in the "decoder" (its keys
are the tokens that it has read: the start symbol, then what it wrote) and across ("cross").

"stack": a small encoder that says digits backwards, place by place, with all its numbers, so that a page can compute it
anew: x = √D · tokens[id] + positions[t]; then for each layer, with the norm before (eps 1e-5), q, k, v and o as weights
(rows are outputs) and biases, and a feed-forward network with a ReLU; a last norm; the output matrix. "tests" hold
logits and weights under three masks: "pads" (pads are closed as keys, as in training), "none" (everything is open) and
"causal" (pads and the future are closed).
"""

import json
import random
import time

import torch
from ch07_explorer import SENTENCES
from torch import nn

from unrolled.masks import causal_mask
from unrolled.measurements import record
from unrolled.seq2seq import shift_right
from unrolled.transformer_model import Transformer, TransformerEncoder
from unrolled.translation import BUDGETS, Languages, learn_pairs, translate
from unrolled.translators import BOS

SEED = 0
PAD, LONGEST = 0, 8  # the digit d has the id d + 1
STACK = {"D": 24, "n_heads": 2, "layers": 2, "d_ff": 48}
TESTS = ["48151623", "70269"]


def rounded(values: torch.Tensor, digits: int) -> list:
    """A tensor as nested lists of short decimals."""
    if values.dim() == 0:
        return round(values.item(), digits)
    return [rounded(part, digits) for part in values]


def translator() -> list[dict]:
    budget = BUDGETS["verses"]
    pairs = budget.load("train")
    languages = Languages(pairs, budget.min_count)
    torch.manual_seed(SEED)
    sizes = len(languages.source), len(languages.target)
    model = Transformer(*sizes, D=64, n_heads=4, layers=2, d_ff=128, dropout=0.1)
    options = {"updates": budget.updates, "size": budget.size, "lr": budget.lr, "clip": budget.clip, "warmup": 400}
    learn_pairs(model, pairs, languages, seed=SEED, **options)
    found, sources = [], [sentence.split() for sentence in SENTENCES[:4]]
    for source, said in zip(sources, translate(model, [(s, [[]]) for s in sources], languages), strict=True):
        src, lengths, y = languages.batch([(source, [said])])
        seen = model.look(src, lengths, shift_right(y, BOS)[0])
        weights = {name: [rounded(layer[0], 2) for layer in layers] for name, layers in seen.items()}
        found.append({"read": source, "written": [*said, "</s>"], **weights})
    return found


class Backwards(nn.Module):
    """At place t of a string of L digits: the digit at place L - 1 - t."""

    def __init__(self):
        super().__init__()
        self.encoder, self.output = TransformerEncoder(11, **STACK), nn.Linear(STACK["D"], 10)

    def forward(self, ids: torch.Tensor, mask: torch.Tensor | None) -> tuple[torch.Tensor, list[torch.Tensor]]:
        states, weights = self.encoder(ids, mask)
        return self.output(states), weights


def masks(ids: torch.Tensor) -> dict[str, torch.Tensor | None]:
    pads = (ids != PAD)[:, None, None, :]
    return {"pads": pads, "none": None, "causal": pads & causal_mask(ids.shape[1])}


def strings(n: int, rng: random.Random) -> tuple[torch.Tensor, torch.Tensor]:
    """Digits (B, 8) with pads behind them, and the answers: -100 at the pads."""
    ids, answers = torch.zeros(n, LONGEST, dtype=torch.long), torch.full((n, LONGEST), -100)
    for row in range(n):
        digits = torch.tensor([rng.randrange(10) for _ in range(rng.randint(4, LONGEST))])
        ids[row, : len(digits)], answers[row, : len(digits)] = digits + 1, digits.flip(0)
    return ids, answers


def numbers(model: Backwards) -> dict:
    """All parameters, and then the model itself with just these: rounded, in double precision."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.tensor(rounded(parameter, 4)))
    model.double()
    model.encoder.positions = torch.tensor(rounded(model.encoder.positions[:LONGEST], 6), dtype=torch.float64)
    layers = []
    for layer in model.encoder.layers:
        parts = {"q": layer.attention.q, "k": layer.attention.k, "v": layer.attention.v, "o": layer.attention.o}
        matrices = {**parts, "wide": layer.wide, "back": layer.back}
        norms = {
            name: {"g": norm.g, "b": norm.b} for name, norm in (("norm_1", layer.norm_1), ("norm_2", layer.norm_2))
        }
        layers.append({name: {"weight": m.weight, "bias": m.bias} for name, m in matrices.items()} | norms)
    tree = {
        "tokens": model.encoder.tokens,
        "positions": model.encoder.positions,
        "layers": layers,
        "last": model.encoder.last.params._asdict(),
        "output": {"weight": model.output.weight, "bias": model.output.bias},
    }
    return _plain(tree)


def _plain(tree):
    if isinstance(tree, dict):
        return {name: _plain(part) for name, part in tree.items()}
    if isinstance(tree, list):
        return [_plain(part) for part in tree]
    return rounded(tree.detach(), 6)


def stack(updates: int = 1500) -> dict:
    torch.manual_seed(SEED)
    rng, model = random.Random(SEED), Backwards()
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    for done in range(updates):
        ids, answers = strings(64, rng)
        logits = model(ids, masks(ids)["pads"])[0]
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), answers.flatten())
        optimizer.param_groups[0]["lr"] = 4e-3 * min(1, (done + 1) / 100) * (1 - done / updates)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    values = {**STACK, "pad": PAD, "parameters": numbers(model)}
    with torch.no_grad():
        ids, answers = strings(2000, random.Random(SEED + 1))
        real = answers >= 0
        values["right"] = {
            name: round((model(ids, mask)[0].argmax(-1) == answers)[real].double().mean().item(), 3)
            for name, mask in masks(ids).items()
        }
        values["tests"] = []
        for text in TESTS:
            ids = torch.tensor([[*(int(digit) + 1 for digit in text), *[PAD] * (LONGEST - len(text))]])
            for name, mask in masks(ids).items():
                logits, weights = model(ids, mask)
                values["tests"].append({"ids": ids[0].tolist(), "mask": name, "logits": rounded(logits[0], 6),
                                        "weights": [rounded(layer[0], 5) for layer in weights]})  # fmt: skip
    return values


def main():
    torch.set_num_threads(1)
    since, values = time.time(), {}
    values["stack"] = stack()
    print("digits right under each mask", values["stack"]["right"], round(time.time() - since), flush=True)
    values["verses"] = translator()
    for entry in values["verses"]:
        print(" ".join(entry["read"]), "->", " ".join(entry["written"]))
    path = record("ch09_explorer", [SEED], values, since)
    path.write_text(json.dumps(json.loads(path.read_text())) + "\n")  # on one line: a page has to load it
    print(path.name, path.stat().st_size)


if __name__ == "__main__":
    main()
