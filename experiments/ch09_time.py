"""Chapter 9: processor seconds of the three translators, taken by turns, so that all meet the same machine.

Learning: one pass through the training pairs, extrapolated from a few updates. Writing: 20 tokens for each of
200 sources of the test, one token after the other; which ones does not matter. Tasks may be named; those that are not
keep what was measured before. French has to be downloaded.
"""

import sys
import time

import pairs_models
import torch

from unrolled.measurements import FOLDER, record, stored
from unrolled.translation import BUDGETS, Languages, learn_pairs
from unrolled.translators import BOS

SEEDS = [0, 1, 2]  # three rounds
UPDATES, SOURCES, WRITTEN = 40, 200, 20


def seconds_of(work, *args, **options) -> float:
    begin = time.process_time()
    work(*args, **options)
    return time.process_time() - begin


@torch.no_grad()
def write(model, src, lengths):
    h, c = model.start(src, lengths)
    for _ in range(WRITTEN):
        _, h = model.step(torch.full((len(src),), BOS), h, c)


def measure(task: str) -> dict:
    budget = BUDGETS[task]
    pairs, test = budget.load("train"), budget.load("test")[:: len(budget.load("test")) // SOURCES][:SOURCES]
    languages = Languages(pairs, budget.min_count)
    src, lengths, _ = languages.batch(test)
    found = {name: {"learning": [], "writing": []} for name in pairs_models.MODELS}
    for seed in SEEDS:
        for name, build in pairs_models.MODELS.items():
            torch.manual_seed(seed)
            model, options = build(languages), {"seed": seed, "size": budget.size}
            learn_pairs(model, pairs, languages, updates=3, **options)  # warms up
            seconds = seconds_of(learn_pairs, model, pairs, languages, updates=UPDATES, **options)
            found[name]["learning"].append(round(seconds * len(pairs) / (UPDATES * budget.size), 2))
            found[name]["writing"].append(round(seconds_of(write, model, src, lengths), 2))
    return found


def main():
    torch.set_num_threads(1)
    since, values = time.time(), stored("ch09_time") if (FOLDER / "ch09_time.json").exists() else {}
    for task in sys.argv[1:] or BUDGETS:
        values[task] = measure(task)
        print(task, values[task], round(time.process_time()), flush=True)
    print(record("ch09_time", SEEDS, values, since).name)


if __name__ == "__main__":
    main()
