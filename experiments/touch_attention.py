"""Touchable models of chapters 7 to 9: who looks at whom, and the bug bench."""

import re

import torch
from touch_form import VERSE, cells, coarse, decimals, rounded

from unrolled.measurements import stored


@torch.no_grad()
def attention() -> dict:
    """Chapters 7 to 9: the Latin reader of ch08_heads.py (seed 0), and the pairs of the two explorers."""
    import ch08_heads

    from unrolled import roles
    from unrolled.masks import causal_mask

    examples = [" ".join(entry["tokens"]) for entry in stored("ch08_heads")["explorer"]]
    with torch.enable_grad():
        model = coarse(ch08_heads.learned(heads=3, two_parts=True, seed=0))
    parts = {name: getattr(model.attention, name) for name in "qkvo"} | {"output": model.output}
    latin = {
        "forms": roles.FORMS, "stem": roles.STEM.tolist(), "ending": roles.ENDING.tolist(), "verb": roles.VERB,
        "stems": decimals(model.forms.weight[: max(roles.STEM) + 1]), "endings": decimals(model.endings.weight),
        "roles": roles.ROLES, "nouns": [noun[0] for noun in roles.NOUNS], "n_heads": 3, "examples": examples,
    }  # fmt: skip
    latin |= {name: {"weight": decimals(part.weight), "bias": decimals(part.bias)} for name, part in parts.items()}
    tests = []
    for text in examples[:3]:
        ids = torch.tensor([[roles.FORMS.index(word) for word in text.split()]])
        e = model.forms(roles.STEM[ids]) + model.endings(roles.ENDING[ids])
        for causal in (False, True):
            found, weights = model.attention(e, e, causal_mask(ids.shape[1]) if causal else None)
            scores = model.output(found[roles.ENDING[ids] == roles.VERB]).view(3, -1).softmax(-1)
            asked = {"source": "latin", "tokens": text.split(), "causal": causal}
            tests.append({"input": asked, "weights": [rounded(weights[0], 6)], "roles": rounded(scores, 6)})
    pairs = stored("ch07_explorer") | {"transformer": stored("ch09_explorer")["verses"]}
    return pairs | {"latin": latin, "tests": tests}


def attention_digits() -> dict:
    """Chapter 9: the encoder of ch09_explorer.py that says digits backwards, with all its numbers."""
    stack = stored("ch09_explorer")["stack"]
    tests = []
    for test in stack.pop("tests"):
        asked = {"source": "digits", "ids": test["ids"], "causal": test["mask"] == "causal"}
        asked["pads"] = test["mask"] != "none"
        tests.append({"input": asked, "weights": test["weights"], "logits": test["logits"]})
    examples = ["48151623", "70269", "1234", "99900111"]
    return stack | {"longest": len(stack["parameters"]["positions"]), "examples": examples, "tests": tests}


def verdicts() -> dict[str, tuple[str, str]]:
    """What the judge says of each bug in the executed chapter 8, and the property by which it was first caught."""
    titles = {
        "unscaled": "without √d_k", "by_view": "heads split by view", "masked_late": "mask after softmax",
        "over_queries": "softmax over queries", "too_far": "mask off by one", "upside_down": "mask upside down",
    }  # fmt: skip
    outputs = (output for cell in cells("08_self_attention") for output in cell.get("outputs", []))
    printed = "".join(line for output in outputs for line in output.get("text", []))
    found = re.findall(r"^(\w+) +(.+)\n +first caught by: (.+)$", printed, re.MULTILINE)
    return {"correct": ("", "")} | {
        titles[name]: (says.split(" The rest: ")[-1], caught) for name, says, caught in found
    }


def bugs() -> dict:
    """Chapter 8: the seven programs of the bug bench, as in ch08_bugs.py (one layer, seed 0), watched."""
    import ch08_bugs as bench

    from unrolled.attention_bugs import ATTENTIONS
    from unrolled.documents import BOS, learn
    from unrolled.future import surprise_beside_future

    text, changed, programs, said = VERSE[:16], VERSE[:15] + "?", {}, verdicts()
    assert set(said) == set(ATTENTIONS)
    ids, other = (torch.tensor([[BOS, *bench.VOCABULARY.encode(list(t))]]) for t in (text, changed))
    some = bench.SHORT["validation"][:200]
    steps = round(3 * -(-len(bench.SHORT["train"]) // 32))
    for name in ATTENTIONS:
        model = bench.build(name, seed=0, layers=1)
        seen = learn(model, bench.SHORT["train"], epochs=3, seed=0, lr=bench.LR,
                     look=lambda model=model: surprise_beside_future(model, some))  # fmt: skip
        with torch.no_grad():
            (logits, (weights,)), (moved, _) = model(ids), model(other)
        change = (moved.softmax(-1) - logits.softmax(-1)).abs().sum(-1)[0] / 2  # (T,): share of probability that moved
        programs[name] = {
            "there": [round(look[0], 4) for _, look in seen], "hidden": [round(look[1], 4) for _, look in seen],
            "weights": rounded(weights[0], 3), "moved": rounded(change, 5),
            "sums": [round(bound(weights[0].sum(-1)).item(), 4) for bound in (torch.min, torch.max)],
            "says": said[name][0], "caught": said[name][1], "stored": stored("ch08_bugs")["one layer"][name],
        }  # fmt: skip
        print(name, programs[name]["there"][-1], programs[name]["hidden"][-1], flush=True)
    return {"tokens": ["start", *text], "steps": [max(1, steps >> k) for k in range(7, -1, -1)], "programs": programs}
