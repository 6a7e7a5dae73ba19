"""Chapter 9: dropout and label smoothing when data are few. Letters to sounds, 4,000 words to learn from."""

import time

import torch
from torch.nn.functional import cross_entropy

from unrolled.measurements import record
from unrolled.pairs import pronunciations
from unrolled.seq2seq import shift_right
from unrolled.transformer_model import Transformer
from unrolled.translation import Languages, learn_pairs, scores, translate
from unrolled.translators import BOS, PAD

SEEDS = [0, 1, 2]
D, HEADS, LAYERS, D_FF, UPDATES, WARMUP = 48, 4, 1, 96, 1000, 100
LEARN, TEST = pronunciations("train")[::23][:4000], pronunciations("test")[::12]
LANGUAGES = Languages(LEARN)
WAYS = {"neither": (0.0, 0.0), "dropout": (0.1, 0.0), "smoothing": (0.0, 0.1), "both": (0.1, 0.1)}


def measure(dropout: float, smoothing: float, seed: int) -> dict:
    torch.manual_seed(seed)
    model = Transformer(len(LANGUAGES.source), len(LANGUAGES.target), D, HEADS, LAYERS, D_FF, dropout=dropout)
    options = {"updates": UPDATES, "seed": seed, "warmup": WARMUP, "smoothing": smoothing}
    learn_pairs(model, LEARN, LANGUAGES, **options)
    said = translate(model, TEST, LANGUAGES)
    with torch.no_grad():
        src, lengths, y = LANGUAGES.batch(TEST)
        y_in, targets = shift_right(y, BOS)
        logits = model(src, lengths, y_in)
        real = targets != PAD
        sure = logits.softmax(-1).amax(-1)[real]
        return {
            **{key: value for key, value in scores(TEST, said).items() if key != "bleu"},
            "nats per token": cross_entropy(logits[real], targets[real]).item(),
            "mean of the largest probability": sure.mean().item(),
            "right, right history": (logits.argmax(-1) == targets)[real].double().mean().item(),
        }


def main():
    torch.set_num_threads(1)
    since, values = time.time(), {"words": [len(LEARN), len(TEST)], "ways": {}}
    for name, way in WAYS.items():
        values["ways"][name] = [measure(*way, seed) for seed in SEEDS]
        print(name, values["ways"][name], round(time.process_time()), flush=True)
    print(record("ch09_smoothing", SEEDS, values, since).name)


if __name__ == "__main__":
    main()
