"""Chapter 15: a translator of letters to sounds, trained with a package in which one function has a known mistake.

All of them spend the same: the same words, the same number of updates, the loop of ``unrolled.own_training``.
"""

import random
import time

import torch

from autograder.exercises import find
from autograder.package import Package
from unrolled import own_training
from unrolled.measurements import record
from unrolled.pairs import pronunciations
from unrolled.transformer_model import Transformer
from unrolled.translation import Languages, bucketed, scores, translate
from unrolled.translators import BOS, PAD

SEEDS = [0, 1, 2]
D, HEADS, D_FF, UPDATES, WARMUP, SIZE = 64, 4, 128, 500, 250, 32
TRAIN, TEST = pronunciations("train")[:20000], pronunciations("test")[::40]
MISTAKES = {
    "all right": None,
    "not scaled": ("scaled_dot_product_attention", "no_scale"),
    "no positions": ("embed", "no_positions"),
    "no warm-up": ("noam_lr", "no_warm_up"),
    "no residuals": ("decoder_layer", "no_residuals"),
    "pads counted": ("cross_entropy", "pads_counted"),
    "decoder not masked": ("make_masks", "not_causal"),
    "target not shifted": ("shift_right", "no_shift"),
}


def package(mistake: tuple[str, str] | None) -> Package:
    if mistake is None:
        return Package({})
    name, known = mistake
    wrong = next(m.implementation for m in find(name).misconceptions if m.id == known)
    return Package({name: wrong})


def measure(mistake: tuple[str, str] | None, seed: int) -> dict[str, float]:
    """The loss at the end of the training, and edits per sound in what the model writes for words it has not seen."""
    from unrolled import losses, seq2seq

    torch.manual_seed(seed)
    languages = Languages(TRAIN)
    with package(mistake).in_place():
        model = Transformer(len(languages.source), len(languages.target), D, HEADS, 1, D_FF)
        drawn = bucketed(TRAIN, SIZE, random.Random(seed))

        def loss():
            src, lengths, y = languages.batch(next(drawn))
            y_in, targets = seq2seq.shift_right(y, BOS)
            return losses.cross_entropy(model(src, lengths, y_in), targets, PAD)

        found = own_training.learn(model, loss, updates=UPDATES, D=D, warmup=WARMUP)
        wrong = scores(TEST, translate(model, TEST, languages, longest=20))
    return {"loss": sum(found[-50:]) / 50, "token error": wrong["token error"]}


def main():
    torch.set_num_threads(1)
    since, values = time.time(), {"words": len(TEST)}
    for name, mistake in MISTAKES.items():
        runs = [measure(mistake, seed) for seed in SEEDS]
        values[name] = {key: [run[key] for run in runs] for key in runs[0]}
        print(name, values[name], round(time.time() - since), flush=True)
    record("ch15_package", SEEDS, values, since)


if __name__ == "__main__":
    main()
