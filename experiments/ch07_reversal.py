"""Chapter 7: digits backwards with a look at every state. The set-up is that of ch06_reversal, only the model differs.

It has fewer weights than chapter 6's network. And where does it look?
"""

import time

import torch
from ch06_reversal import DEEP, LANGUAGES, LEARN, LENGTHS, SEEDS, SEEN, TEST, UPDATES, E, H, right

from unrolled.attention import BilinearScore
from unrolled.measurements import record
from unrolled.pairs import Pair
from unrolled.seq2seq import shift_right
from unrolled.translation import learn_pairs, translate
from unrolled.translators import BOS, AttentionSeq2Seq, RecurrentReader

STATE = 48  # width of the decoder's state
NEAR = range(-3, 4)  # places around the digit that is to be written


def build() -> AttentionSeq2Seq:
    reader = RecurrentReader(len(LANGUAGES.source), E, H // 2)
    return AttentionSeq2Seq(reader, BilinearScore(STATE, H), len(LANGUAGES.target), E, STATE)


def around_the_digit(model: AttentionSeq2Seq, pairs: list[Pair]) -> list[float]:
    """With the right history: the mean weight on the places around the digit that is written next (NEAR)."""
    src, lengths, y = LANGUAGES.batch(pairs)
    y_in, _ = shift_right(y, BOS)
    alpha = model.look(src, lengths, y_in)  # (B, S + 1, S)
    S = src.shape[1]
    own = [(t, S - 1 - t) for t in range(S)]  # step t writes the digit at place S - 1 - t
    return [torch.stack([alpha[:, t, j + d] for t, j in own if 0 <= j + d < S]).mean().item() for d in NEAR]


def measure(seed: int) -> dict:
    torch.manual_seed(seed)
    model = build()
    begin = time.process_time()
    learn_pairs(model, LEARN, LANGUAGES, updates=UPDATES, seed=seed, lr=4e-3)
    seconds = time.process_time() - begin
    found = [right(pairs, translate(model, pairs, LANGUAGES)) for pairs in TEST.values()]
    return {
        "digits": [digits for digits, _ in found],
        "strings": [strings for _, strings in found],
        "weight by distance": around_the_digit(model, TEST[DEEP]),
        "weights": sum(p.numel() for p in model.parameters()),
        "cpu seconds": round(seconds, 1),
    }


def main():
    torch.set_num_threads(1)
    since, values = time.time(), {"lengths": LENGTHS, "seen": SEEN, "deep": DEEP, "near": list(NEAR)}
    values["bilinear"] = [measure(seed) for seed in SEEDS]
    print(values["bilinear"])
    print(record("ch07_reversal", SEEDS, values, since).name)


if __name__ == "__main__":
    main()
