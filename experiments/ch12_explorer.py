"""Chapter 12: the tiny BERT of the agreement grammar with all its numbers, for the interactive page.

Nothing is measured here. A page computes it anew: x = norm(tokens[id] + segments[0] + positions[t]); in each layer,
with q, k, v, o, wide and back as weights (rows are outputs) and biases, a = norm_1(x + attention(x)) and
x = norm_2(a + back(gelu(wide(a)))); then last(gelu(transform(x))) times the table of tokens, plus bias, gives the
scores of all words. Every norm has eps 1e-12, gelu is the exact one (with erf). "tests" hold the probabilities of all
words at the one [MASK] of a row, and the attention of its layers, [layer][head][query][key].
"""

import json
import time

import torch
from ch09_explorer import rounded
from ch12_agreement import LONGEST, SIZES, SPECIAL, STEPS, V, learn, tests, verbs

from unrolled.measurements import record

SEED = 0
TESTS = (
    "the flights the airline was cancelling [MASK] full",
    "the [MASK] the airlines were cancelling was full",
    "the guard the gates near the train were watching [MASK] late",
)


def plain(tree):
    if isinstance(tree, dict):
        return {name: plain(part) for name, part in tree.items()}
    if isinstance(tree, list):
        return [plain(part) for part in tree]
    return rounded(tree.detach(), 4)


def numbers(model) -> dict:
    """All parameters that words pass through, rounded; the model goes on with just these, in double precision."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.tensor(rounded(parameter, 4)))
    model.double()
    embedding = model.bert.embedding
    layers = []
    for layer in model.bert.layers:
        at = layer.attention
        matrices = {"q": at.q, "k": at.k, "v": at.v, "o": at.o, "wide": layer.wide, "back": layer.back}
        norms = {name: {"g": n.g, "b": n.b} for name, n in (("norm_1", layer.norm_1), ("norm_2", layer.norm_2))}
        layers.append({name: {"weight": m.weight, "bias": m.bias} for name, m in matrices.items()} | norms)
    return plain({
        "tokens": embedding.tokens,
        "segments": embedding.segments,
        "positions": embedding.positions,
        "norm": {"g": embedding.norm.g, "b": embedding.norm.b},
        "layers": layers,
        "transform": {"weight": model.transform.weight, "bias": model.transform.bias},
        "last": {"g": model.norm.g, "b": model.norm.b},
        "bias": model.bias,
    })  # fmt: skip


def main():
    torch.set_num_threads(1)
    since = time.time()
    model = learn("both", SEED)
    values = {**SIZES, "longest": LONGEST, "words": ["[PAD]", "[UNK]", *V.words[2:]], "special": SPECIAL._asdict()}
    values |= {"steps": STEPS, "parameters": numbers(model), "tests": []}
    values["right"] = [round(verbs(model, "both", *rows), 4) for rows in tests().values()]
    with torch.no_grad():
        for text in TESTS:
            ids = [SPECIAL.cls, *(SPECIAL.mask if w == "[MASK]" else V.ids[w] for w in text.split()), SPECIAL.sep]
            out = model.bert(torch.tensor([ids]), look=True)
            p = model.word_scores(out.states)[0, ids.index(SPECIAL.mask)].softmax(-1)
            weights = [rounded(layer[0], 5) for layer in out.weights]
            values["tests"].append({"text": text, "ids": ids, "probabilities": rounded(p, 6), "weights": weights})
            best = p.topk(3)
            print(text, [(V.words[i], round(x, 3)) for x, i in zip(*map(torch.Tensor.tolist, best), strict=True)])
    print("verbs right, by nouns in between", values["right"])
    path = record("ch12_explorer", [SEED], values, since)
    path.write_text(json.dumps(json.loads(path.read_text())) + "\n")  # on one line: a page has to load it
    print(path.name, path.stat().st_size)


if __name__ == "__main__":
    main()
