"""Chapter 5: are the states of a language model of use for tags? Names in verses, parts of speech in web texts."""

import time
from collections.abc import Callable
from typing import NamedTuple

import torch

from unrolled.data import SPLIT, named_words, tagged_sentences
from unrolled.measurements import record
from unrolled.spans import span_f1
from unrolled.tagging import Tagger
from unrolled.text import Vocabulary
from unrolled.word_labels import Lexicon, fit_tags, next_words, predict, tagged_batch

SEEDS = [0, 1, 2]
LABELLED = [100, 1000]  # sentences with labels; the language model reads all of them, without labels
WAYS = ("random, frozen", "from nothing", "language model, frozen", "language model, trained on")
E, H, LONGEST, EPOCHS, STEPS = 50, 100, 24, 3, 200


def accuracy(gold: list[list[str]], found: list[list[str]]) -> float:
    right = [a == b for row, guess in zip(gold, found, strict=True) for a, b in zip(row, guess, strict=True)]
    return sum(right) / len(right)


class Task(NamedTuple):
    """Sentences with tags to learn from and to test on; a score; the tag of unknown words in the baseline."""

    train: list[tuple[list[str], list[str]]]
    test: list[tuple[list[str], list[str]]]
    score: Callable[[list[list[str]], list[list[str]]], float]
    other: str

    def rows(self, n: int) -> torch.Tensor:
        """The numbers of n training sentences, spread evenly."""
        return torch.arange(0, len(self.train), len(self.train) // n)[:n]

    def most_frequent(self, n: int) -> float:
        """The score of the most frequent tag of each word."""
        lexicon = Lexicon([self.train[row] for row in self.rows(n)], context=False, other=self.other)
        return self.score([tags for _, tags in self.test], [lexicon.tags(words) for words, _ in self.test])


def tasks() -> dict[str, Task]:
    short = [pair for pair in named_words() if len(pair[0]) <= LONGEST]
    names = {part: [p for n, p in enumerate(short) if n % 10 in SPLIT[part]] for part in ("train", "test")}
    pos = {part: [p for p in tagged_sentences(part) if len(p[0]) <= LONGEST] for part in ("train", "test")}
    return {
        "names": Task(names["train"], names["test"], span_f1, "O"),
        "pos": Task(pos["train"], pos["test"], accuracy, "NOUN"),
    }


def measure(task: Task, seed: int) -> dict:
    """The score of each way to begin, with 100 and with 1,000 labelled sentences, after 200 steps each."""
    names = sorted({tag for _, tags in task.train for tag in tags})
    vocabulary = Vocabulary([words for words, _ in task.train], min_count=3)
    batch, labels = tagged_batch(task.train, vocabulary, names)
    test, gold = tagged_batch(task.test, vocabulary, names)[0], [tags for _, tags in task.test]
    torch.manual_seed(seed)
    model = Tagger("lstm", len(vocabulary), E, H, len(vocabulary))  # its tag is the next word
    losses = fit_tags(model, batch, next_words(batch), epochs=EPOCHS, seed=seed, size=32, lr=3e-3)
    found = {"surprise": sum(losses[-50:]) / 50}
    for way in WAYS:
        found[way] = []
        for n in LABELLED:
            torch.manual_seed(seed + 1000)
            tagger = Tagger("lstm", len(vocabulary), E, H, len(names))
            if way.startswith("language model"):
                tagger.encoder.load_state_dict(model.encoder.state_dict())
            tagger.encoder.requires_grad_("frozen" not in way)
            rows = task.rows(n)
            few, lr = tuple(part[rows] for part in batch), 1e-2 if "frozen" in way else 3e-3
            fit_tags(tagger, few, labels[rows], epochs=STEPS * 32 // n, seed=seed, size=32, lr=lr)
            found[way].append(task.score(gold, [[names[k] for k in row] for row in predict(tagger, test)]))
    return found


def main():
    torch.set_num_threads(1)
    since, values = time.time(), {"labelled": LABELLED}
    for name, task in tasks().items():
        runs = []
        for seed in SEEDS:
            runs.append(measure(task, seed))
            print(name, seed, runs[-1], round(time.time() - since), flush=True)
        values[name] = {"sentences": len(task.train), "most frequent tag": [task.most_frequent(n) for n in LABELLED]}
        values[name] |= {"surprise": [run["surprise"] for run in runs]}
        values[name] |= {way: [[run[way][k] for run in runs] for k in range(len(LABELLED))] for way in WAYS}
    print(record("ch05_states", SEEDS, values, since).name)


if __name__ == "__main__":
    main()
