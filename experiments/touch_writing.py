"""Touchable models of chapters 3, 10 and 11: beam search over three models, and drawing from a tiny GPT."""

import base64

import torch
from torch import Tensor, nn
from touch_form import VERSE, cells, coarse, decimals, rounded

from unrolled.beam import beam_search, rank_hypotheses
from unrolled.beam_tree import beam_steps
from unrolled.measurements import stored
from unrolled.sampling import next_token_probs


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
