"""The weights of the book's touchable models, and what PyTorch computes with them; nothing is measured here.

    python experiments/touch_weights.py [NAME ...]

writes book/touch/data/NAME.js, a call of ``unrolledData`` with one JSON object. Every parameter is rounded first, to
1/10000, and the network with just these parameters, in double precision, makes the "tests": the page must agree with
them to 1e-4.
"""

import base64
import json
import re
import sys
import time
from functools import partial
from pathlib import Path

import torch
from torch import Tensor, nn

from unrolled.beam import beam_search, rank_hypotheses
from unrolled.beam_tree import beam_steps
from unrolled.classifiers import RNNClassifier, fit
from unrolled.data import verses
from unrolled.gated import gru_forward, lstm_forward
from unrolled.gates_and_torch import from_torch_gru, from_torch_lstm
from unrolled.gradients import spectral_radius
from unrolled.measurements import stored
from unrolled.planted import accuracy_by_position, planted_batch, vocabulary
from unrolled.recurrent import RNNParams, rnn_forward
from unrolled.sampling import next_token_probs

FOLDER = Path(__file__).parents[1] / "book" / "touch" / "data"
CHAPTERS = Path(__file__).parents[1] / "chapters"
SCALE = 10_000
LIMIT = 200_000  # bytes of one file
VERSE = "In the beginning was the Word, and the Word was with God, and the Word was God."


RADII = ((0.5, 20, False), (0.9, 50, False), (1.0, 50, True), (1.1, 100, False), (2.0, 50, False), (3.0, 30, True))


def rounded(values: Tensor, digits: int) -> list:
    """A tensor as nested lists of short decimals."""
    if values.dim() == 0:
        return round(values.item(), digits)
    return [rounded(part, digits) for part in values]


def coarse(model: nn.Module) -> nn.Module:
    """The same network with parameters that are whole ten-thousandths, in double precision."""
    model.double()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_((parameter * SCALE).round() / SCALE)
    return model


def whole(values: Tensor) -> list[int]:
    """A tensor of ten-thousandths as one flat list of integers."""
    return (values.detach().double() * SCALE).round().long().flatten().tolist()


def decimals(values: Tensor) -> list:
    return rounded(values.detach(), 4)


@torch.no_grad()
def unroll() -> dict:
    """Chapter 1: the RNN that finds "a real stinker", as in the chapter but with 8 units, so that all can be seen."""
    examples = [
        "the film was a real stinker and then it was over",
        "the film was a real treat and then it was over",
        "a real stinker after a long dark night",
        "so they made a new movie from that old story with a real treat",
        "a a a real real real stinker stinker treat",
    ]
    torch.manual_seed(0)
    words = vocabulary()
    with torch.enable_grad():
        model = RNNClassifier(len(words), E=16, H=8)
        fit(model, *planted_batch(3000, positions=range(7), seed=0), epochs=12, seed=0, size=32)
    coarse(model)
    tests = []
    for text in examples:
        ids = torch.tensor([words.encode(sentence := text.split())])
        assert 1 not in ids, text
        states = model.states(model.embedding(ids))  # (1, T, H)
        probabilities = model.output(states).softmax(-1)
        tests.append(
            {"input": sentence, "states": rounded(states[0], 6), "probabilities": rounded(probabilities[0], 6)}
        )
    return {
        "words": words.words[2:], "E": decimals(model.embedding.weight[2:]), "W_xh": decimals(model.W_xh),
        "W_hh": decimals(model.W_hh), "b": decimals(model.b), "W_hy": decimals(model.output.weight),
        "c": decimals(model.output.bias), "examples": examples,
        "accuracy": [round(share, 3) for share in accuracy_by_position(model)], "tests": tests,
    }  # fmt: skip


def gradient_lengths(h0: Tensor, x: Tensor, params: RNNParams, start: Tensor) -> list[float]:
    """The length of the gradient of start · h_T with respect to h_T, h_(T-1), ..., h_1, as a share of the first."""
    states, h = [], h0
    for t in range(x.shape[1]):
        h = rnn_forward(x[:, t : t + 1], h, params)[:, 0]
        states.append(h)
    found = torch.autograd.grad((states[-1] @ start).sum(), states)
    return [(g.norm() / start.norm()).item() for g in reversed(found)]


def radius() -> dict:
    """Chapter 2: three matrices of spectral radius 1, to be scaled; inputs are letters of a verse."""
    torch.set_default_dtype(torch.float64)
    H, rng = 20, torch.Generator().manual_seed(0)
    random = torch.randn(H, H, generator=rng)
    matrices = {
        "random": random / spectral_radius(random),
        "orthogonal": torch.linalg.qr(torch.randn(H, H, generator=rng))[0],
        "leaning": torch.diag(torch.tensor([1.0] + [0.7] * (H - 1))) + 0.5 * torch.diag(torch.ones(H - 1), 1),
    }
    place = next(i for i, verse in enumerate(verses()) if verse.startswith(VERSE))
    text = " ".join(verses()[place : place + 2])[:101]
    letters = sorted(set(text))
    ids = torch.tensor([letters.index(letter) for letter in text])
    W_xh, b, start = ((2 * torch.rand(*s, generator=rng) - 1) * H**-0.5 for s in ((H, len(letters)), (H,), (H,)))
    W_xh, b, start = ((a * SCALE).round() / SCALE for a in (W_xh, b, start))
    matrices = {name: (W * 1e8).round() / 1e8 for name, W in matrices.items()}
    tests = []
    for kind, W in matrices.items():
        for rho, steps, linear in RADII:
            params = RNNParams(W_xh, rho * W, b, (lambda a: a) if linear else torch.tanh)
            x = torch.eye(len(letters))[ids[None, : steps + 1]]
            lengths = gradient_lengths(torch.zeros(1, H, requires_grad=True), x, params, start)
            tests.append({"input": {"kind": kind, "rho": rho, "steps": steps, "linear": linear}, "lengths": lengths})
    values = {"W_xh": decimals(W_xh), "b": decimals(b), "start": decimals(start), "letters": "".join(letters)}
    return values | {name: rounded(W, 8) for name, W in matrices.items()} | {"text": ids.tolist(), "tests": tests}


@torch.no_grad()
def gates(kind: str = "lstm") -> dict:
    """Chapter 4: the LSTM and the GRU that read the New Testament, as in ch04_verse.py (seed 0)."""
    import ch04_verse as verse

    words, H = verse.VOCABULARY, verse.WIDTHS[kind]
    with torch.enable_grad():
        model, loss = verse.learn_text(kind, verse.TRAIN["much"], seed=0)
    coarse(model)
    params = (from_torch_lstm if kind == "lstm" else from_torch_gru)(model.layer)
    tests = []
    for text in (VERSE[:43], "Why? A dog, cats; some zebras!"):
        ids = torch.tensor([words.encode(list(text))])
        assert 1 not in ids, text  # the unknown letter
        e, zero = model.embedding(ids), torch.zeros(1, H, dtype=torch.float64)
        found = states(kind, e, zero, params)
        assert torch.allclose(model.layer(e)[0], found["h"], atol=1e-9)
        last = {name: rounded(part[0, -1], 6) for name, part in found.items()}
        means = {name: rounded(part[0].mean(-1), 6) for name, part in found.items()}
        following = rounded(model(ids)[0, -1].softmax(-1), 6)
        tests.append({"input": {"text": text}, "last": last, "means": means, "next": following})
    values = {"kind": kind, "scale": SCALE, "width": verse.E, "H": H, "letters": ["", "", *words.words[2:]]}
    tensors = {"E": model.embedding.weight, "W_x": params.W_x, "W_h": params.W_h, "b": params.b,
               "W_y": model.output.weight, "c": model.output.bias}  # fmt: skip
    tensors |= {"b_h": params.b_h} if kind == "gru" else {}
    values |= {name: whole(tensor) for name, tensor in tensors.items()}
    return values | {"nats": round(loss, 3), "example": VERSE, "tests": tests}


def states(kind: str, e: Tensor, zero: Tensor, params) -> dict[str, Tensor]:
    """What the page shows, each (1, T, H): the gates and states of an LSTM, the states of a GRU."""
    if kind == "lstm":
        h, c, found = lstm_forward(e, zero, zero, params)
        return {"f": found.f, "i": found.i, "o": found.o, "c": c, "h": h}
    return {"h": gru_forward(e, zero, params, reset="after")}


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


def cells(slug: str) -> list[dict]:
    """The cells of an executed chapter."""
    return json.loads((CHAPTERS / slug / f"{slug[3:]}.ipynb").read_text("utf8"))["cells"]


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


def favourite() -> tuple[list[str], Tensor]:
    """Chapter 10: the tokens of its first model and the table (V, V) of log-probabilities, as its cell makes them."""
    sources = ("".join(cell["source"]) for cell in cells("10_decoding"))
    names = {"torch": torch}
    exec(next(source for source in sources if source.startswith('words = ("when nobody')), names)
    return names["tokens"], (names["table"].double().log() * 1e6).round() / 1e6


def beam() -> dict:
    """Chapter 10: three models to be searched, with what the searches of the library find in them."""
    tokens, table = favourite()
    start, end, longest = tokens.index("<s>"), tokens.index("</s>"), 40
    rows = [[None if n == float("-inf") else n for n in row] for row in rounded(table, 6)]
    models = [{"title": "Each word nearly sure (34 tokens)", "end": "</s>", "longest": longest, "widest": 8}]
    models[0] |= {"tokens": tokens, "start": start, "logp": rows}
    kept = stored("ch10_tree")
    for tree in (kept["trees"][0], kept["trees"][2]):
        sizes = {"longest": kept["longest"], "widest": kept["widest"]}
        models.append({"title": f"French for “{tree['source'].removesuffix(' .')}”"} | tree | sizes)
    tests = []
    for place, model in enumerate(models):
        for k in range(1, model["widest"] + 1):
            if place:
                steps = beam_steps(model["next"], model["end"], k, model["longest"])
                found = [(list(one.tokens), one.logp) for one in steps[-1] if one.kept]
            else:
                found = beam_search(lambda y, h: (table[y], h), torch.zeros(1, 1), start, end, k, longest)
                found = [([tokens[i] for i in hyp.tokens], hyp.logp) for hyp in found]
            for alpha in (0.0, 0.3, 1.0):
                asked = {"model": place, "k": k, "alpha": alpha}
                order = rank_hypotheses(*map(list, zip(*found, strict=True)), alpha)
                texts = {"texts": [" ".join(text) for text, _ in found]} if alpha == 0 else {}
                tests.append({"input": asked, "logp": [round(logp, 6) for _, logp in found], "order": order} | texts)
    return {"models": models, "tests": tests}


SETTINGS = {  # of the page; the numbers of top-k and top-p that cut nothing are None here
    "τ = 1": {},
    "τ = 0.5": {"temperature": 0.5},
    "τ = 1.5": {"temperature": 1.5},
    "τ = 1.5, top-p 0.8": {"temperature": 1.5, "top_p": 0.8},
    "top-p 0.8": {"top_p": 0.8},
    "top-k 5": {"top_k": 5},
    "top-k 1": {"top_k": 1},
}


@torch.no_grad()
def sampling() -> dict:
    """Chapters 3 and 11: a tiny GPT that has read the New Testament; how many of the words it writes are words."""
    import touch_gpt as tiny

    with torch.enable_grad():
        model = tiny.learned(seed=0)
    exact, example = tiny.nats(model), VERSE[:25]

    def matrix(weight: Tensor) -> dict:
        whole, units = tiny.bytes_of_rows(weight)
        return {"units": units.tolist(), "bytes": base64.b64encode(whole.numpy().tobytes()).decode()}

    def parts(layer: nn.Module) -> dict:
        if isinstance(layer, nn.Linear):
            return {"weight": matrix(layer.weight), "bias": decimals(layer.bias)}
        return {"g": decimals(layer.g), "b": decimals(layer.b)}

    coarse(model)
    blocks = [
        {name: parts(getattr(block.attention, name)) for name in "qkvo"}
        | {name: parts(getattr(block, name)) for name in ("wide", "back", "norm_1", "norm_2")}
        for block in model.blocks
    ]
    parameters = {"tokens": matrix(model.tokens), "positions": matrix(model.positions), "blocks": blocks}
    parameters["last"] = parts(model.last)
    loss, V, generator = tiny.nats(model), tiny.CONFIG.V, torch.Generator().manual_seed(0)
    print(f"{exact:.4f} nats, as bytes {loss:.4f}")
    tests, shares = [], {}
    for name, settings in SETTINGS.items():
        u = torch.rand(240, 12, generator=generator, dtype=torch.float64)
        shares[name] = round(tiny.share_of_words(tiny.write(model, example, u, settings)), 3)
        print(name, shares[name], flush=True)
        text = example if len(tests) % 2 else "Zebras? " + VERSE  # the second is longer than the context
        logits = model(torch.tensor([[tiny.LETTERS.index(letter) for letter in text[-tiny.CONFIG.context :]]]))[0, -1]
        numbers = (u[:90, :1] * 1e6).round() / 1e6
        asked = {"text": text, "temperature": 1.0, "top_k": V, "top_p": 1.0} | settings
        asked["u"] = [round(n, 6) for n in numbers[:, 0].tolist()]
        found = {"logits": rounded(logits, 6), "probabilities": rounded(next_token_probs(logits, **settings), 6)}
        tests.append({"input": asked} | found | {"written": tiny.write(model, text, numbers, settings)[0]})
    values = {"letters": tiny.LETTERS, "context": tiny.CONFIG.context, "n_heads": tiny.CONFIG.n_heads}
    return values | {
        "parameters": parameters,
        "example": example,
        "nats": round(loss, 3),
        "words": shares,
        "tests": tests,
    }


MODELS = {
    "unroll": unroll,
    "radius": radius,
    "gates": gates,
    "gates_gru": partial(gates, "gru"),
    "attention": attention,
    "attention_digits": attention_digits,
    "bugs": bugs,
    "beam": beam,
    "sampling": sampling,
}


def main():
    torch.set_num_threads(1)
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[1:] or MODELS:
        since = time.process_time()
        values = json.dumps(MODELS[name](), separators=(",", ":"), ensure_ascii=False)
        torch.set_default_dtype(torch.float32)
        path = FOLDER / f"{name}.js"
        path.write_text(f'unrolledData("{name}", {values});\n', "utf8")
        assert path.stat().st_size <= LIMIT, (name, path.stat().st_size)
        print(name, path.stat().st_size, f"bytes, {time.process_time() - since:.0f} s", flush=True)


if __name__ == "__main__":
    main()
