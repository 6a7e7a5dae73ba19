"""Chapter 10: "it" in real English and French. What a small Transformer makes of the two sentences of deck 002, and
what the collection says about "it"; also the tree of a beam search, for a picture that can be touched (ch10_tree.json).

French has to be downloaded.
"""

import time

import numpy as np
import torch
from pairs_models import WARMUP, transformer

from unrolled.beam import beam_search
from unrolled.measurements import record
from unrolled.pairs import french_pairs
from unrolled.transformer_model import Transformer
from unrolled.translation import BUDGETS, Languages, learn_pairs, scores, translate
from unrolled.translators import BOS, EOS, PAD

SEEDS = [0, 1, 2]
BUDGET = BUDGETS["french"]
LEARN, TEST = french_pairs("train"), french_pairs("test")
LANGUAGES = Languages(LEARN, BUDGET.min_count)
DECK = {
    "tired": "l' animal n' a pas traversé la rue parce qu' il était trop fatigué .",
    "wide": "l' animal n' a pas traversé la rue parce qu' elle était trop large .",
}
NOUNS = [  # an animal and a place of different gender, with the French up to the pronoun, and its pronoun for each
    ("dog", "le chien", "street", "la rue", "il", "elle"),
    ("dog", "le chien", "road", "la route", "il", "elle"),
    ("dog", "le chien", "river", "la rivière", "il", "elle"),
    ("cat", "le chat", "street", "la rue", "il", "elle"),
    ("cat", "le chat", "road", "la route", "il", "elle"),
    ("cat", "le chat", "river", "la rivière", "il", "elle"),
    ("horse", "le cheval", "street", "la rue", "il", "elle"),
    ("horse", "le cheval", "road", "la route", "il", "elle"),
    ("horse", "le cheval", "river", "la rivière", "il", "elle"),
    ("cow", "la vache", "bridge", "le pont", "elle", "il"),
    ("mouse", "la souris", "bridge", "le pont", "elle", "il"),
    ("cow", "la vache", "garden", "le jardin", "elle", "il"),
    ("mouse", "la souris", "garden", "le jardin", "elle", "il"),
]
OF_ANIMALS, OF_PLACES = ("tired", "sick", "hungry"), ("wide", "long", "narrow")
TREES = [
    "the animal didn't cross the street because it was too tired .",
    "the animal didn't cross the street because it was too wide .",
    "she was too tired to cross the river .",
]
WIDEST, SHOWN, DEPTH = 6, 8, 16  # of the tree: beams up to this width, so many next tokens of each beginning, steps


def learned(seed: int) -> Transformer:
    torch.manual_seed(seed)
    model = transformer(LANGUAGES)
    options = {"size": BUDGET.size, "lr": BUDGET.lr, "clip": BUDGET.clip, "warmup": WARMUP["transformer"]}
    learn_pairs(model, LEARN, LANGUAGES, updates=BUDGET.updates, seed=seed, **options)
    return model


@torch.no_grad()
def elle(model: Transformer, english: str, french: str) -> float:
    """The probability of elle after this beginning, if it is il or elle."""
    src, lengths, _ = LANGUAGES.batch([(english.split(), [[]])])
    y_in = torch.tensor([[BOS, *LANGUAGES.target.encode(french.split())]])
    il_elle = model(src, lengths, y_in)[0, -1][LANGUAGES.target.encode(["il", "elle"])]
    return torch.softmax(il_elle, dim=0)[1].item()


def deck_sentences(model: Transformer) -> dict:
    found = {}
    for adjective, french in DECK.items():
        english = f"the animal didn't cross the street because it was too {adjective} ."
        [said] = translate(model, [(english.split(), [[]])], LANGUAGES)
        beginning = french[: french.index("qu'") + 3]
        found[adjective] = {"says": " ".join(said), "elle": elle(model, english, beginning)}
    return found


def templates(model: Transformer) -> dict:
    """Of sentences like those of the deck with other nouns and adjectives: how often the right pronoun is preferred."""
    right, by_noun = [], []
    for animal, l_animal, place, l_place, if_animal, if_place in NOUNS:
        beginning = f"{l_animal} n' a pas traversé {l_place} parce qu'"
        p = {a: elle(model, f"the {animal} didn't cross the {place} because it was too {a} .", beginning)
             for a in (*OF_ANIMALS, *OF_PLACES)}  # fmt: skip
        right += [(p[a] > 0.5) == (if_animal == "elle") for a in OF_ANIMALS]
        right += [(p[a] > 0.5) == (if_place == "elle") for a in OF_PLACES]
        turn = np.mean([p[a] for a in OF_PLACES]) - np.mean([p[a] for a in OF_ANIMALS])
        by_noun.append(turn if if_place == "elle" else -turn)  # above 0: the adjective turns it the right way
    return {"right": float(np.mean(right)), "turn": float(np.mean(by_noun)), "sentences": len(right)}


def one_pronoun(pair) -> bool:
    """One "it" in the English, and one il or elle in the French, which is not a he or she."""
    source, [target, *_] = pair
    person = any(word.partition("'")[0] in ("he", "she") for word in source)
    return source.count("it") == 1 and not person and sum(target.count(word) for word in ("il", "elle")) == 1


def counts() -> dict:
    """What there is to learn "it" from."""
    with_it = [pair for pair in LEARN if "it" in pair[0]]
    after = [pair for pair in with_it if "because" in pair[0] and "it" in pair[0][pair[0].index("because") :]]
    one = [pair for pair in LEARN if one_pronoun(pair)]
    return {
        "sentences": len(LEARN),
        "with it": len(with_it),
        "it after because": len(after),
        "one it, one il or elle": len(one),
        "of these elle": sum("elle" in pair[1][0] for pair in one),
    }


@torch.no_grad()
def tree(model: Transformer, english: str) -> dict:
    """For every beginning that a beam up to WIDEST visits: its likeliest next tokens and their log-probabilities."""
    src, lengths, _ = LANGUAGES.batch([(english.split(), [[]])])
    written, memory = model.start(src, lengths)
    nodes = {}

    def step(y, h):
        n = len(y)
        rows = type(memory)(memory.h.expand(n, -1, -1), memory.mask.expand(n, -1))
        logits, h = model.step(y, h, rows)
        logits[:, [PAD, BOS]] = -torch.inf  # never said
        best = torch.log_softmax(logits, dim=1).topk(SHOWN)
        for row, logps, ids in zip(h, *best, strict=True):
            words = LANGUAGES.target.decode(ids)
            beginning = " ".join(LANGUAGES.target.decode(row[1:]))
            nodes[beginning] = [[w, round(p, 3)] for w, p in zip(words, logps.tolist(), strict=True)]
        return logits, h

    for k in range(1, WIDEST + 1):
        beam_search(step, written, BOS, EOS, k, DEPTH)
    return {"source": english, "end": LANGUAGES.target.words[EOS], "next": nodes}


def measure(model: Transformer) -> dict:
    some = TEST[::8]
    return {
        "bleu": scores(some, translate(model, some, LANGUAGES))["bleu"],
        "deck": deck_sentences(model),
        "templates": templates(model),
    }


def main():
    torch.set_num_threads(1)
    since, values = time.time(), {"updates": BUDGET.updates, "counts": counts(), "runs": []}
    for seed in SEEDS:
        model = learned(seed)
        values["runs"].append(measure(model))
        print(seed, values["runs"][-1], round(time.time() - since), flush=True)
        if seed == SEEDS[0]:
            trees = {"widest": WIDEST, "longest": DEPTH, "trees": [tree(model, english) for english in TREES]}
            record("ch10_tree", SEEDS[:1], trees, since)
    print(record("ch10_french", SEEDS, values, since).name)


if __name__ == "__main__":
    main()
