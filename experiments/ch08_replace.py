"""Chapter 8: replace the RNN by self-attention, at equal weights: added words of the King James Bible, and reviews.

The step size of each network is chosen on the validation data with the first seed. The LSTMs are those of chapter 5.
"""

import math
import time

import torch
from ch01_reviews import BATCHES as REVIEWS
from ch01_reviews import SPREAD
from ch01_reviews import V as REVIEW_WORDS
from ch05_added import BATCHES, LONGEST, NAMES, VOCABULARY, E, f1
from torch import nn

from unrolled.attention_readers import AttentionClassifier, AttentionTagger
from unrolled.classifiers import accuracy, fit
from unrolled.measurements import record
from unrolled.tagging import SequenceClassifier, Tagger
from unrolled.word_labels import fit_tags

SEEDS = [0, 1, 2]
RATES = (1e-2, 5e-3, 2e-3)
V, Y = len(VOCABULARY), len(NAMES)
LONG = REVIEWS["train"][0][0].shape[1]
TAGGERS = {  # about 60,000 weights besides the word vectors and the output
    "rnn, both": lambda: Tagger("rnn", V, E, 150, Y, both=True),
    "attention": lambda: AttentionTagger(V, LONGEST, E, 114, 6, Y),
    "attention, no positions": lambda: AttentionTagger(V, LONGEST, E, 114, 6, Y, positions=False),
    "attention + feed-forward": lambda: AttentionTagger(V, LONGEST, E, 66, 6, Y, think=True),
}
READERS = {  # about 22,000
    "gru, mean": lambda: SequenceClassifier("gru", REVIEW_WORDS, 50, 64, 2, pool="mean"),
    "attention": lambda: AttentionClassifier(REVIEW_WORDS, LONG, 50, 66, 6, 2),
    "attention, no positions": lambda: AttentionClassifier(REVIEW_WORDS, LONG, 50, 66, 6, 2, positions=False),
}


def weights(model: nn.Module) -> int:
    """What stands between the word vectors and the output."""
    return sum(p.numel() for name, p in model.encoder.named_parameters() if not name.startswith("embedding"))


@torch.no_grad()
def look_at_neighbours(model: AttentionTagger) -> float:
    """The weight that a word gives to the word before and the word after it, in the head that does so most."""
    ids, _, mask = BATCHES["validation"][0]
    weights = model.encoder.weights(ids, mask)  # (B, N, T, T)
    both = weights.diagonal(1, 2, 3)[..., 1:] + weights.diagonal(-1, 2, 3)[..., :-1]  # (B, N, T - 2)
    inside = mask[:, None, 2:].expand_as(both)  # queries with a real word on either side
    return max((both * inside).sum((0, 2)) / inside.sum((0, 2))).item()


def tag(name: str, seed: int, rate: float) -> tuple[float, float, float]:
    """Validation and test F1 after the best of four epochs on the validation data; at the end, look_at_neighbours."""
    torch.manual_seed(seed)
    model, seen = TAGGERS[name](), []
    look = lambda: seen.append((f1(model, "validation"), f1(model, "test")))  # noqa: E731
    fit_tags(model, *BATCHES["train"], epochs=4, seed=seed, size=64, lr=rate, each_epoch=look)
    return *max(seen), look_at_neighbours(model) if isinstance(model, AttentionTagger) else math.nan


def read(name: str, seed: int, rate: float) -> tuple[float, float, float]:
    """Validation and test accuracy after the best of three epochs on the validation data."""
    torch.manual_seed(seed)
    model, seen = READERS[name](), []
    model.encoder.embedding.weight.data.mul_(SPREAD)
    if getattr(model.encoder, "positions", None) is not None:
        model.encoder.positions.weight.data.mul_(SPREAD)
    parts = [REVIEWS[part] for part in ("validation", "test")]
    look = lambda: seen.append(tuple(accuracy(model, *part) for part in parts))  # noqa: E731
    fit(model, *REVIEWS["train"], epochs=3, seed=seed, size=128, lr=rate, each_epoch=look)
    return *max(seen), math.nan


def main():
    torch.set_num_threads(1)
    since, values = time.time(), {}
    for task, builders, measure in (("added words", TAGGERS, tag), ("reviews", READERS, read)):
        values[task] = {}
        for name, build in builders.items():
            start = time.process_time()
            tried = {rate: measure(name, SEEDS[0], rate) for rate in RATES}
            rate = max(tried, key=tried.get)
            runs = [tried[rate], *(measure(name, seed, rate) for seed in SEEDS[1:])]
            spent = (time.process_time() - start) / (len(RATES) + len(SEEDS) - 1)
            values[task][name] = {"weights": weights(build()), "rate": rate, "seconds": round(spent, 1)}
            values[task][name]["test"] = [test for _, test, _ in runs]
            if not math.isnan(runs[0][2]):
                values[task][name]["neighbours"] = [share for *_, share in runs]
            print(task, name, values[task][name], tried, round(time.time() - since), flush=True)
    print(record("ch08_replace", SEEDS, values, since).name)


if __name__ == "__main__":
    main()
