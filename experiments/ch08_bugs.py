"""Chapter 8: seven attention functions, six of them wrong, trained side by side on real verses, letter by letter.

    python experiments/ch08_bugs.py "one layer" "two layers"

measures the named models with every bug and writes experiments/ch08_bugs.json; a bug that has its numbers there keeps
them. Each model is tested twice: with the whole verse in front of it, as in training, and on beginnings of verses,
where what comes later is not there to be seen. Two layers cost twice as much and get two epochs in the place of three.
"""

import sys
import time

import torch

from unrolled.attention_bugs import ATTENTIONS
from unrolled.attention_model import AttentionModel
from unrolled.documents import learn, mean_surprise, verse_letters
from unrolled.future import surprise_beside_future
from unrolled.measurements import FOLDER, record, stored

SEEDS = [0, 1, 2]
LONGEST, D, HEADS, LR = 64, 64, 4, 5e-3
DEPTHS = {"one layer": {"layers": 1, "epochs": 3}, "two layers": {"layers": 2, "epochs": 2}}
DOCUMENTS, VOCABULARY = verse_letters()
SHORT = {part: [verse[:LONGEST] for verse in verses] for part, verses in DOCUMENTS.items()}


def build(name: str, seed: int, layers: int) -> AttentionModel:
    torch.manual_seed(seed)
    return AttentionModel(len(VOCABULARY), LONGEST, D, HEADS, layers, ATTENTIONS[name])


def measure(name: str, seed: int, layers: int, epochs: float) -> dict:
    """Validation surprise in nats per letter: as in training, and at chosen places with and without the future."""
    model = build(name, seed, layers)
    learn(model, SHORT["train"], epochs=epochs, seed=seed, lr=LR)
    there, hidden = surprise_beside_future(model, SHORT["validation"])
    return {"validation": mean_surprise(model, SHORT["validation"]), "future there": there, "future hidden": hidden}


def main():
    torch.set_num_threads(1)
    since, values = time.time(), stored("ch08_bugs") if (FOLDER / "ch08_bugs.json").exists() else {}
    for depth in sys.argv[1:] or DEPTHS:
        found = values.setdefault(depth, {})
        for name in ATTENTIONS:
            if name not in found:
                runs = [measure(name, seed, **DEPTHS[depth]) for seed in SEEDS]
                found[name] = {key: [run[key] for run in runs] for key in runs[0]}
                print(depth, name, found[name], round(time.time() - since), flush=True)
                values["parameters"] = {
                    title: sum(p.numel() for p in build("correct", 0, size["layers"]).parameters())
                    for title, size in DEPTHS.items()
                }
                record("ch08_bugs", SEEDS, values, since)


if __name__ == "__main__":
    main()
