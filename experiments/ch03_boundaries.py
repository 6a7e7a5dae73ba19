"""Chapter 3: Elman's experiment. Delete all spaces; where is a character model surprised?"""

import re
import time

import numpy as np
import torch
from sklearn.metrics import roc_auc_score

from unrolled.data import SPLIT, verses
from unrolled.documents import NEW, learn, mean_surprise, surprises, verse_letters
from unrolled.language_model import LanguageModel
from unrolled.measurements import record
from unrolled.ngram import KneserNey

SEEDS = [0, 1, 2]
PLACES = 6


def letters_only(verse: str) -> str:
    """The letters of a verse in lower case, without spaces and punctuation."""
    return re.sub("[^a-z]", "", verse.lower())


def word_places(verse: str) -> list[int]:
    """For each letter of a verse, its place in its word: 0 for the first."""
    words = [letters_only(word) for word in verse.split()]
    return [place for word in words for place in range(len(word))]


DOCUMENTS, VOCABULARY = verse_letters(letters_only)
PLAIN = [verse for i, verse in enumerate(verses()[NEW:]) if i % 10 in SPLIT["test"]]
PLACE = np.array([place for verse in PLAIN for place in [*word_places(verse), -1]])  # -1: the line break
FIRST = np.cumsum([0, *map(len, DOCUMENTS["test"])])  # where each verse begins
SCORED = PLACE >= 0
SCORED[FIRST[:-1]] = False  # the first letter of a verse is a word start that nobody has to find


def judge(surprise: np.ndarray) -> dict:
    """How well surprise tells word starts from other letters, and how it falls within a word."""
    starts = PLACE[SCORED] == 0
    return {
        "auc": float(roc_auc_score(starts, surprise[SCORED])),
        "start": float(surprise[SCORED][starts].mean()),
        "inside": float(surprise[SCORED][~starts].mean()),
        "by place": [float(surprise[SCORED & (place == PLACE)].mean()) for place in range(PLACES)],
    }


def measure(kind: str, seed: int) -> tuple[dict, np.ndarray]:
    torch.manual_seed(seed)
    model = LanguageModel(len(VOCABULARY), 128, kind, 32)
    rate = {"rnn": 2e-3, "lstm": 8e-3}[kind]
    learn(model, DOCUMENTS["train"], epochs=2, seed=seed, size=16, lr=rate)
    surprise = np.concatenate([surprises(model, verse).numpy() for verse in DOCUMENTS["test"]])
    return {"nats": mean_surprise(model, DOCUMENTS["test"]), **judge(surprise)}, surprise


def main():
    torch.set_num_threads(1)
    since, values = time.time(), {"letters": int(SCORED.sum()), "word starts": int((PLACE[SCORED] == 0).sum())}
    values["KN"] = {}
    for n in (2, 3, 5, 7):
        model = KneserNey(n, len(VOCABULARY)).fit(DOCUMENTS["train"])
        values["KN"][str(n)] = {"nats": model.loss(DOCUMENTS["test"]), **judge(model.surprise(DOCUMENTS["test"]))}
    print(values, flush=True)
    for kind in ("lstm", "rnn"):
        runs = [measure(kind, seed) for seed in SEEDS]
        values[kind] = [run for run, _ in runs]
        if kind == "lstm":
            values["lstm verses"] = [
                [[round(float(s), 2) for s in surprise[FIRST[k] : FIRST[k + 1]]] for k in range(40)]
                for _, surprise in runs
            ]
        print(kind, values[kind], round(time.time() - since), flush=True)
    print(record("ch03_boundaries", SEEDS, values, since).name)


if __name__ == "__main__":
    main()
