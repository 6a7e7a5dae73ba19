"""Chapter 8: do heads specialise? Who gives what to whom, with one to three heads; and weights for a picture."""

import random
import time

import torch

from unrolled.measurements import record
from unrolled.roles import RoleReader, fit_roles, role_report, sentences

SEEDS = [0, 1, 2, 3, 4]
EPOCHS = 6
LEARN, TEST = sentences(3000, random.Random(0))[1], sentences(1000, random.Random(1))[1]
SHOWN = 8  # sentences whose weights are kept


def learned(heads: int, two_parts: bool, seed: int) -> RoleReader:
    torch.manual_seed(seed)
    model = RoleReader(heads, two_parts=two_parts)
    fit_roles(model, LEARN, epochs=EPOCHS, seed=seed)
    return model


def measure(heads: int, two_parts: bool, seed: int) -> dict:
    accuracy, shares = role_report(learned(heads, two_parts, seed), TEST)
    return {"accuracy": accuracy, "shares": [[round(share, 3) for share in head] for head in shares.tolist()]}


def explorer() -> list[dict]:
    """A few sentences with the weights of every head, as one trained reader gives them."""
    text, (ids, mask, _) = sentences(SHOWN, random.Random(2))
    weights = learned(3, True, 0)(ids, mask)[1].detach()  # (B, N, T, T)
    rows = [weights[i, :, : len(words), : len(words)] for i, words in enumerate(text)]
    return [
        {"tokens": words, "weights": [[[round(w, 3) for w in row] for row in head] for head in heads.tolist()]}
        for words, heads in zip(text, rows, strict=True)
    ]


def main():
    torch.set_num_threads(1)
    since, values = time.time(), {}
    for title, two_parts in (("stem and ending", True), ("whole words", False)):
        values[title] = {}
        for heads in (1, 2, 3):
            runs = [measure(heads, two_parts, seed) for seed in SEEDS]
            values[title][str(heads)] = {key: [run[key] for run in runs] for key in runs[0]}
            print(title, heads, values[title][str(heads)], round(time.time() - since), flush=True)
    values["explorer"] = explorer()
    print(record("ch08_heads", SEEDS, values, since).name)


if __name__ == "__main__":
    main()
