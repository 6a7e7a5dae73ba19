"""Touchable models of chapter 12: fill in the blank with the tiny BERT of ch12_explorer.py, and what MLM hides."""

from itertools import product

import torch
from torch import Tensor
from touch_form import rounded

from unrolled.bert_data import agreement_rows
from unrolled.bert_input import Special
from unrolled.bert_model import BertForPretraining
from unrolled.masked_words import mlm_mask
from unrolled.measurements import stored
from unrolled.memory_tasks import BEING, DOING, NOUNS, PLACE

EXAMPLES = (  # the words in brackets are hidden when the example is chosen
    "the flights the airline was cancelling [were] full",
    "the [flights] the airline was cancelling were full",
    "the [flights] the airline was cancelling [were] full",
    "the guard the gates near the trains behind the pilots were watching [was] late",
    "the pilots were [loud]",
    "the flights the airline was cancelling was full",
    "the flights near the gate [were] full",
    "the zebra [was] full",
)
OFF = (1, 2)  # the head that looks from the verb at its subject: layer 2, head 3


def learned() -> tuple[dict, BertForPretraining]:
    """What ch12_explorer.py stored, and the network with just these numbers, in double precision."""
    kept = stored("ch12_explorer")
    numbers, sizes = kept["parameters"], [kept[name] for name in ("D", "n_heads", "layers", "d_ff")]
    model = BertForPretraining(len(kept["words"]), *sizes, longest=kept["longest"], dropout=0.0).double().eval()
    parts = {f"bert.embedding.{name}": numbers[name] for name in ("tokens", "segments", "positions", "norm")}
    parts |= {"transform": numbers["transform"], "norm": numbers["last"], "bias": numbers["bias"]}
    for n, layer in enumerate(numbers["layers"]):
        parts |= {f"bert.layers.{n}.{'attention.' * (name in 'qkvo')}{name}": part for name, part in layer.items()}
    state = {}
    for name, part in parts.items():
        state |= {f"{name}.{inner}": v for inner, v in part.items()} if isinstance(part, dict) else {name: part}
    state = {name: torch.tensor(values, dtype=torch.float64) for name, values in state.items()}
    missing, unknown = model.load_state_dict(state, strict=False)
    assert not unknown and {name.rsplit(".", 1)[0] for name in missing} == {"bert.pooler", "follows"}
    return kept, model


@torch.no_grad()
def without(model: BertForPretraining, layer: int, head: int) -> None:
    """Switch a head off, for good: nothing that it found is passed on."""
    at = model.bert.layers[layer].attention
    K = at.o.weight.shape[1] // at.n_heads
    at.o.weight[:, head * K : (head + 1) * K] = 0


def answers(model: BertForPretraining, ids: Tensor, special: Special) -> tuple[Tensor, list[Tensor]]:
    """Probabilities of all words at all places (B, T, V), and the weights of each layer (B, N, T, T)."""
    out = model.bert(ids, None, ids != special.pad, look=True)
    return model.word_scores(out.states).softmax(-1), out.weights


def encoded(words: list[str], text: str, special: Special) -> list[int]:
    """[CLS] a text [SEP]; what the model has never seen is [UNK]."""
    return [special.cls, *(words.index(w) if w in words else special.unk for w in text.split()), special.sep]


def bracketed(text: str) -> str:
    return " ".join("[MASK]" if word.startswith("[") else word for word in text.split())


def measured(kept: dict, special: Special) -> dict:
    """Shares that the page quotes: heads switched off, and sentences that the grammar does not have."""
    from ch12_agreement import tests, verbs

    words, asked, heads = kept["words"], tests(), []
    for layer, head in product(range(kept["layers"]), range(kept["n_heads"])):
        model = learned()[1]
        without(model, layer, head)
        heads.append([round(verbs(model, "both", *rows), 3) for rows in asked.values()])
    model, nouns = learned()[1], NOUNS["sg"] + NOUNS["pl"]
    rows, places = asked[1]
    hidden, each = rows.ids.clone(), torch.arange(len(places))
    hidden[each, places] = special.mask
    looks = answers(model, hidden, special)[1][OFF[0]][each, OFF[1], places, 2].mean().item()  # at the subject
    texts = [f"the {a} {near} the {b} [MASK] {how}" for a, near, b, how in product(nouns, PLACE, nouns, BEING)]
    ids = torch.tensor([encoded(words, text, special) for text in texts])
    at_gap = answers(model, ids, special)[0][:, 6]  # (B, V)
    was, were = (at_gap[:, words.index(verb)] for verb in ("was", "were"))
    plural = torch.tensor([text.split()[1] in NOUNS["pl"] for text in texts])
    doing = torch.tensor([word in DOING for word in words])[at_gap.argmax(1)]
    return {
        "without": heads,  # [layer 1 head 1, ...][nouns in between]
        "looks": round(looks, 3),
        "near": {
            "sentences": len(texts),
            "doing": round(doing.double().mean().item(), 3),
            "right": round(((were > was) == plural).double().mean().item(), 3),
        },
    }


@torch.no_grad()
def blank() -> dict:
    """Chapter 12: the tiny BERT of the agreement grammar; the page hides words and asks for them."""
    kept, model = learned()
    special, words, tests = Special(**kept["special"]), kept["words"], []
    for text in EXAMPLES:
        ids = encoded(words, bracketed(text), special)
        p, weights = answers(model, torch.tensor([ids]), special)
        places = [t for t, i in enumerate(ids) if i == special.mask] or list(range(len(ids)))
        found = {"input": {"ids": ids}, "places": places, "probabilities": [rounded(p[0, t], 6) for t in places]}
        tests.append(found | ({"weights": [rounded(w[0], 5) for w in weights]} if len(tests) < 2 else {}))
    without(model, *OFF)
    for text in EXAMPLES[::7]:
        ids = encoded(words, bracketed(text), special)
        p = answers(model, torch.tensor([ids]), special)[0][0, ids.index(special.mask)]
        asked = {"ids": ids, "off": list(OFF)}
        tests.append({"input": asked, "places": [ids.index(special.mask)], "probabilities": [rounded(p, 6)]})
    values = {name: kept[name] for name in ("words", "special", "n_heads", "longest", "parameters", "right")}
    return values | {"examples": EXAMPLES, "off": OFF, "seen": measured(kept, special), "tests": tests}


@torch.no_grad()
def masking() -> dict:
    """Chapter 12: rows of the grammar, and what ``mlm_mask`` makes of them with given random numbers."""
    kept, model = learned()
    special, words, tests = Special(**kept["special"]), kept["words"], []
    rows = agreement_rows(24, most=2, seed=7)[0].ids  # (24, 13)
    generator = torch.Generator().manual_seed(0)
    for row in rows[:6]:
        u = (torch.rand(2, 1, len(row), generator=generator, dtype=torch.float64) * 1e3).round() / 1e3
        u[0] /= 2  # more are chosen than by the rule, so that all cases come up
        u[0, 0, 1], u[1, 0, 2:4] = 0.15, torch.tensor([0.8, 0.9])  # the borders: not chosen, exchanged, kept
        u[0, 0, 2:4] = 0.1
        random_ids = torch.randint(0, len(words), (1, len(row)), generator=generator)
        masked, labels, chosen = mlm_mask(row[None], u, random_ids, special)
        p = answers(model, masked, special)[0][0, chosen[0]].gather(1, labels[0, chosen[0]][:, None])[:, 0]
        asked = {"ids": row.tolist(), "u": u[:, 0].tolist(), "random": random_ids[0].tolist()}
        tests.append(
            {"input": asked, "masked": masked[0].tolist(), "chosen": chosen[0].tolist(), "right": rounded(p, 6)}
        )
    return {"words": words, "special": kept["special"], "rate": 0.15, "rows": rows.tolist(), "tests": tests}
