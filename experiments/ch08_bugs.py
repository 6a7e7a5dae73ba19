"""Chapter 8: six attention functions, five of them wrong, trained side by side on real verses, letter by letter.

The model of each is tested twice: with the whole verse in front of it, as in training, and on beginnings of verses,
where what comes later is not there to be seen.
"""

import time

import torch

from unrolled.attention_bugs import ATTENTIONS
from unrolled.attention_model import AttentionModel
from unrolled.documents import learn, mean_surprise, verse_letters
from unrolled.future import surprise_beside_future
from unrolled.measurements import record

SEEDS = [0, 1, 2]
LONGEST, D, HEADS, EPOCHS, LR = 64, 64, 4, 3, 5e-3
DOCUMENTS, VOCABULARY = verse_letters()
SHORT = {part: [verse[:LONGEST] for verse in verses] for part, verses in DOCUMENTS.items()}


def build(name: str, seed: int) -> AttentionModel:
    torch.manual_seed(seed)
    return AttentionModel(len(VOCABULARY), LONGEST, D, HEADS, attention=ATTENTIONS[name])


def measure(name: str, seed: int, epochs: float = EPOCHS) -> dict:
    """Validation surprise in nats per letter: as in training, and at chosen places with and without the future."""
    model = build(name, seed)
    learn(model, SHORT["train"], epochs=epochs, seed=seed, lr=LR)
    there, hidden = surprise_beside_future(model, SHORT["validation"])
    return {"validation": mean_surprise(model, SHORT["validation"]), "future there": there, "future hidden": hidden}


def main():
    torch.set_num_threads(1)
    since, values = time.time(), {}
    for name in ATTENTIONS:
        runs = [measure(name, seed) for seed in SEEDS]
        values[name] = {key: [run[key] for run in runs] for key in runs[0]}
        print(name, values[name], round(time.time() - since), flush=True)
    values["parameters"] = sum(p.numel() for p in build("correct", 0).parameters())
    print(record("ch08_bugs", SEEDS, values, since).name)


if __name__ == "__main__":
    main()
