"""Chapter 6: how well do the published weights of g2p-en say the words of the dictionary, by their length?"""

import random
import time
from collections import defaultdict

import torch

from unrolled.edit_distance import edit_distance, error_rate
from unrolled.gated import gru_forward
from unrolled.measurements import record
from unrolled.pairs import pronunciations
from unrolled.pronouncer import BOS, EOS, PAD, PHONEMES, pronouncer
from unrolled.seq2seq import greedy

SEEDS = [0, 1, 2]
EACH = 150  # words of every length
LENGTHS = list(range(3, 17))


def said(words: list[str]) -> list[list[str]]:
    """The phonemes, without stress, of words that are equally long."""
    model = pronouncer()
    e = torch.cat([model.embed(word) for word in words])  # (B, n + 1, E)
    h = gru_forward(e, torch.zeros(len(words), 256), model.reader, reset="after")[:, -1]
    rows = greedy(model.step, h, h, BOS, EOS, PAD, 40).tolist()
    return [[PHONEMES[y].rstrip("012") for y in row if y not in (EOS, PAD)] for row in rows]


def measure(seed: int) -> dict:
    by_length = defaultdict(list)
    for letters, answers in pronunciations("train"):
        by_length[len(letters)].append(("".join(letters), answers))
    rng, tokens, wrong = random.Random(seed), [], []
    for n in LENGTHS:
        chosen = rng.sample(by_length[n], min(EACH, len(by_length[n])))
        pairs = [
            (min(answers, key=lambda answer: edit_distance(answer, hyp)), hyp)
            for (_, answers), hyp in zip(chosen, said([word for word, _ in chosen]), strict=True)
        ]
        tokens.append(error_rate(pairs))
        wrong.append(sum(true != hyp for true, hyp in pairs) / len(pairs))
    return {"token error": tokens, "sequence error": wrong}


def main():
    torch.set_num_threads(1)
    since = time.time()
    values = {"lengths": LENGTHS, "runs": [measure(seed) for seed in SEEDS]}
    print(record("ch06_g2p", SEEDS, values, since).name, values)


if __name__ == "__main__":
    main()
