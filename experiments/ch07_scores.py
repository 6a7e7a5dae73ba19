"""Chapter 7: the three scores on the same task, digits backwards, with everything else equal.

The dot product asks for equal widths, so reader and writer are both 48 wide here. The additive score's hidden layer is
as wide as makes its weights about as many as those of the bilinear one. Half the updates of ch07_reversal: long enough
to learn the task, short enough that a score which learns more slowly shows.
"""

import time

import torch
from ch06_reversal import LANGUAGES, LEARN, SEEDS, SEEN, TEST, UPDATES, E, right

from unrolled.attention import AdditiveScore, BilinearScore, score_dot
from unrolled.measurements import record
from unrolled.translation import learn_pairs, translate
from unrolled.translators import AttentionSeq2Seq, RecurrentReader

WIDTH, HIDDEN = 48, 24
LENGTHS = [8, 12, 16, 20, 26, 30]


class DotScore(torch.nn.Module):
    """``score_dot`` as a layer, without weights."""

    def forward(self, s: torch.Tensor, h: torch.Tensor) -> torch.Tensor:
        return score_dot(s, h)


def build(name: str) -> AttentionSeq2Seq:
    score = {
        "dot": DotScore,
        "bilinear": lambda: BilinearScore(WIDTH, WIDTH),
        "additive": lambda: AdditiveScore(WIDTH, WIDTH, HIDDEN),
    }[name]()
    return AttentionSeq2Seq(
        RecurrentReader(len(LANGUAGES.source), E, WIDTH // 2), score, len(LANGUAGES.target), E, WIDTH
    )


def measure(name: str, seed: int) -> dict:
    torch.manual_seed(seed)
    model = build(name)
    begin = time.process_time()
    losses = learn_pairs(model, LEARN, LANGUAGES, updates=UPDATES // 2, seed=seed, lr=4e-3)
    seconds = time.process_time() - begin
    found = [right(TEST[n], translate(model, TEST[n], LANGUAGES)) for n in LENGTHS]
    half = sum(losses[:20]) / 40  # half of the loss at the beginning
    return {
        "digits": [digits for digits, _ in found],
        "strings": [strings for _, strings in found],
        "loss": sum(losses[-50:]) / 50,
        "updates to half the loss": next(
            (k for k in range(20, len(losses)) if sum(losses[k - 20 : k]) / 20 < half), None
        ),
        "weights": sum(p.numel() for p in model.parameters()),
        "cpu seconds": round(seconds, 1),
    }


def main():
    torch.set_num_threads(1)
    since, values = time.time(), {"lengths": LENGTHS, "seen": SEEN, "updates": UPDATES // 2}
    for name in ("dot", "bilinear", "additive"):
        values[name] = [measure(name, seed) for seed in SEEDS]
        print(name, values[name], round(time.time() - since), flush=True)
    print(record("ch07_scores", SEEDS, values, since).name)


if __name__ == "__main__":
    main()
