"""Chapter 6: digits backwards through one vector. Accuracy over the length, with the context once or at every step."""

import random
import time

import torch

from unrolled.measurements import record
from unrolled.pairs import Pair, reversed_digits
from unrolled.seq2seq import shift_right
from unrolled.translation import Languages, learn_pairs, translate
from unrolled.translators import BOS, RecurrentReader, Seq2Seq

SEEDS = [0, 1, 2]
E, H, UPDATES = 16, 64, 2000
SEEN = (3, 20)  # shortest and longest string in training
LENGTHS = list(range(4, 31, 2))
DEEP = 16  # the length at which every output step is looked at
LEARN = reversed_digits(60_000, *SEEN, random.Random(0))
LANGUAGES = Languages(LEARN)
TEST = {n: reversed_digits(500, n, n, random.Random(n)) for n in LENGTHS}


def build(every_step: bool, state: int = H) -> Seq2Seq:
    reader = RecurrentReader(len(LANGUAGES.source), E, H // 2)
    return Seq2Seq(reader, len(LANGUAGES.target), E, state, every_step)


def right(pairs: list[Pair], said: list[list[str]]) -> tuple[float, float]:
    """The share of digits in their right place, and the share of strings that are right from end to end."""
    answers = [targets[0] for _, targets in pairs]
    digits = sum(a == b for ref, hyp in zip(answers, said, strict=True) for a, b in zip(ref, hyp, strict=False))
    return digits / sum(map(len, answers)), sum(a == b for a, b in zip(answers, said, strict=True)) / len(pairs)


@torch.no_grad()
def steps(model: Seq2Seq, pairs: list[Pair]) -> tuple[list[float], list[float]]:
    """At each output step, with the right history: the accuracy, and how much of the prediction hangs on the context.

    For the second we give the decoder the context of another string and see how far its probabilities move (half the
    sum of the absolute differences: 0 = not at all, 1 = something else altogether).
    """
    src, lengths, y = LANGUAGES.batch(pairs)
    y_in, targets = shift_right(y, BOS)
    h0, c = model.start(src, lengths)
    own = model.write(y_in, h0, c)[0].softmax(-1)  # (B, T, V)
    other = model.write(y_in, h0.roll(1, 0), c.roll(1, 0))[0].softmax(-1)
    moved = (own - other).abs().sum(-1).mean(0) / 2  # (T,)
    return (own.argmax(-1) == targets).double().mean(0).tolist(), moved.tolist()


def measure(every_step: bool, seed: int, state: int = H) -> dict:
    torch.manual_seed(seed)
    model = build(every_step, state)
    begin = time.process_time()
    learn_pairs(model, LEARN, LANGUAGES, updates=UPDATES, seed=seed, lr=4e-3)
    seconds = time.process_time() - begin
    found = [right(pairs, translate(model, pairs, LANGUAGES)) for pairs in TEST.values()]
    accuracy, moved = steps(model, TEST[DEEP])
    return {
        "digits": [digits for digits, _ in found],
        "strings": [strings for _, strings in found],
        "accuracy by step": accuracy,
        "hangs on the context": moved,
        "weights": sum(p.numel() for p in model.parameters()),
        "cpu seconds": round(seconds, 1),
    }


def main():
    torch.set_num_threads(1)
    since, values = time.time(), {"lengths": LENGTHS, "seen": SEEN, "deep": DEEP}
    for name, every_step in (("every step", True), ("once", False)):
        values[name] = [measure(every_step, seed) for seed in SEEDS]
        for run in values[name]:
            print(name, run, flush=True)
    print(record("ch06_reversal", SEEDS, values, since).name)


if __name__ == "__main__":
    main()
