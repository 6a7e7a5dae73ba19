"""Chapter 7: what two trained networks look at while they write, for the interactive page; nothing is measured here.

"verses": old into modern English, the recipe of ``pairs_models.py``. "letters": letters to sounds, the short training
of ``ch07_silent.py``. Sources are our own sentences and single words. Each entry has what was read, what the network
wrote by itself (the end symbol last), and the weights, one row for each token written.
"""

import json
import time

import ch07_silent
import torch
from pairs_models import attention

from unrolled.measurements import record
from unrolled.seq2seq import shift_right
from unrolled.translation import BUDGETS, Languages, learn_pairs, translate
from unrolled.translators import BOS

SEED = 0
SENTENCES = [
    "and he said unto his brother , give me thine hand .",
    "behold , the man came unto the city with his servants .",
    "wherefore hast thou taken the bread of my house ?",
    "she knew not that her son was in the field .",
    "fear not , for thy friend is with thee .",
    "then went the king forth from the mountain , and all his people followed him .",
]
WORDS = ["knight", "queue", "thought", "wrinkle", "box", "phone", "island", "attention", "rhythm", "chocolate"]


@torch.no_grad()
def looks(model, languages: Languages, sources: list[list[str]]) -> list[dict]:
    """What the network writes for each source, and where it looked."""
    found = []
    for source, said in zip(sources, translate(model, [(s, [[]]) for s in sources], languages), strict=True):
        src, lengths, y = languages.batch([(source, [said])])
        alpha = model.look(src, lengths, shift_right(y, BOS)[0])[0]  # (T + 1, S)
        weights = [[round(w, 3) for w in row] for row in alpha.tolist()]
        found.append({"read": source, "written": [*said, "</s>"], "weights": weights})
    return found


def learned(languages: Languages, pairs: list, **options):
    torch.manual_seed(SEED)
    model = attention(languages)
    learn_pairs(model, pairs, languages, seed=SEED, **options)
    return model


def main():
    torch.set_num_threads(1)
    since, budget = time.time(), BUDGETS["verses"]
    letters = learned(ch07_silent.LANGUAGES, ch07_silent.LEARN, updates=ch07_silent.UPDATES, lr=4e-3)
    values = {"letters": looks(letters, ch07_silent.LANGUAGES, [list(word) for word in WORDS])}
    pairs = budget.load("train")
    languages = Languages(pairs, budget.min_count)
    verses = learned(languages, pairs, updates=budget.updates, size=budget.size, lr=budget.lr, clip=budget.clip)
    values["verses"] = looks(verses, languages, [sentence.split() for sentence in SENTENCES])
    for part in values.values():
        for entry in part:
            print(" ".join(entry["read"]), "->", " ".join(entry["written"]))
    path = record("ch07_explorer", [SEED], values, since)
    path.write_text(json.dumps(json.loads(path.read_text())) + "\n")  # on one line: a page has to load it
    print(path.name, path.stat().st_size)


if __name__ == "__main__":
    main()
