"""Chapter 7: digits backwards with a look at every state. The set-up is that of ch06_reversal, only the model differs.

Three scores; and where does each of them look?

    python experiments/ch07_reversal.py bilinear dot additive

measures the named scores (without names: all of them); the others keep what was measured before.
"""

import sys
import time

import torch
from ch06_reversal import DEEP, LANGUAGES, LEARN, LENGTHS, SEEDS, SEEN, TEST, UPDATES, E, H, right
from torch import Tensor, nn

from unrolled.attention import AdditiveScore, BilinearScore, score_dot
from unrolled.measurements import FOLDER, record, stored
from unrolled.pairs import Pair
from unrolled.seq2seq import shift_right
from unrolled.translation import learn_pairs, translate
from unrolled.translators import BOS, AttentionSeq2Seq, RecurrentReader


class DotScore(nn.Module):
    """No weights: states and queries have the same width here."""

    def forward(self, s: Tensor, h: Tensor) -> Tensor:
        return score_dot(s, h)


SCORES = {  # width of the decoder's state, and the score; the first has no more weights than chapter 6's network
    "bilinear": (48, BilinearScore, (48, H)),
    "dot": (H, DotScore, ()),
    "additive": (48, AdditiveScore, (48, H, 32)),
}
NEAR = range(-3, 4)  # places around the digit that is to be written


def build(name: str) -> AttentionSeq2Seq:
    state, score, widths = SCORES[name]
    reader = RecurrentReader(len(LANGUAGES.source), E, H // 2)
    return AttentionSeq2Seq(reader, score(*widths), len(LANGUAGES.target), E, state)


def around_the_digit(model: AttentionSeq2Seq, pairs: list[Pair]) -> list[float]:
    """With the right history: the mean weight on the places around the digit that is written next (NEAR)."""
    src, lengths, y = LANGUAGES.batch(pairs)
    y_in, _ = shift_right(y, BOS)
    alpha = model.look(src, lengths, y_in)  # (B, S + 1, S)
    S = src.shape[1]
    own = [(t, S - 1 - t) for t in range(S)]  # step t writes the digit at place S - 1 - t
    return [torch.stack([alpha[:, t, j + d] for t, j in own if 0 <= j + d < S]).mean().item() for d in NEAR]


def measure(name: str, seed: int) -> dict:
    torch.manual_seed(seed)
    model = build(name)
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
    since, names = time.time(), sys.argv[1:] or list(SCORES)
    values = stored("ch07_reversal") if (FOLDER / "ch07_reversal.json").exists() else {}
    values |= {"lengths": LENGTHS, "seen": SEEN, "deep": DEEP, "near": list(NEAR)}
    for name in names:
        values[name] = []
        for seed in SEEDS:
            values[name].append(measure(name, seed))
            print(name, seed, values[name][-1], flush=True)
        record("ch07_reversal", SEEDS, values, since)


if __name__ == "__main__":
    main()
