"""Chapter 5: which words did the translators add? Taggers with equally many weights, and two that only count."""

import time

import torch

from unrolled.data import SPLIT, added_words
from unrolled.measurements import record
from unrolled.spans import bio_spans, span_f1
from unrolled.tagging import Tagger
from unrolled.text import Vocabulary
from unrolled.word_labels import Lexicon, fit_tags, predict, tagged_batch

SEEDS = [0, 1, 2]
LONGEST, E, EPOCHS = 24, 50, 4
NAMES = "OBI"
SHORT = [pair for pair in added_words() if len(pair[0]) <= LONGEST]
PARTS = {part: [pair for n, pair in enumerate(SHORT) if n % 10 in digits] for part, digits in SPLIT.items()}
VOCABULARY = Vocabulary([words for words, _ in PARTS["train"]], min_count=3)
BATCHES = {part: tagged_batch(pairs, VOCABULARY, NAMES) for part, pairs in PARTS.items()}
GOLD = {part: [tags for _, tags in pairs] for part, pairs in PARTS.items()}
MODELS = {  # kind, H, layers, both: about 60,000 recurrent weights each
    "lstm, one": ("lstm", 100, 1, False),
    "lstm, both": ("lstm", 64, 1, True),
    "lstm, both, deep": ("lstm", 28, 3, True),
}


def precision_recall(gold: list[list[str]], found: list[list[str]]) -> tuple[float, float]:
    spans = [(set(bio_spans(a)), set(bio_spans(b))) for a, b in zip(gold, found, strict=True)]
    hits = sum(len(a & b) for a, b in spans)
    return hits / max(1, sum(len(b) for _, b in spans)), hits / sum(len(a) for a, _ in spans)


def f1(model: Tagger, part: str) -> float:
    return span_f1(GOLD[part], [[NAMES[k] for k in row] for row in predict(model, BATCHES[part][0])])


def learn(name: str, seed: int, epochs: int = EPOCHS) -> tuple[Tagger, float]:
    """A tagger and its test F1, both as they were after the epoch that was best on the validation data."""
    torch.manual_seed(seed)
    kind, H, layers, both = MODELS[name]
    model, seen = Tagger(kind, len(VOCABULARY), E, H, len(NAMES), layers, both), []

    def look():
        state = {key: value.clone() for key, value in model.state_dict().items()}
        seen.append((f1(model, "validation"), f1(model, "test"), state))

    fit_tags(model, *BATCHES["train"], epochs=epochs, seed=seed, size=64, lr=5e-3, each_epoch=look)
    _, test, state = max(seen, key=lambda found: found[0])
    model.load_state_dict(state)
    return model, test


def main():
    torch.set_num_threads(1)
    since = time.time()
    values = {"verses": {part: len(pairs) for part, pairs in PARTS.items()}, "parameters": {}}
    values["spans"] = {part: sum(tags.count("B") for tags in rows) for part, rows in GOLD.items()}
    for name, context in (("word", False), ("word and neighbours", True)):
        lexicon = Lexicon(PARTS["train"], context)
        values[name] = span_f1(GOLD["test"], [lexicon.tags(words) for words, _ in PARTS["test"]])
    print(values, flush=True)
    for name in MODELS:
        runs = [learn(name, seed) for seed in SEEDS]
        values[name] = [test for _, test in runs]
        values["parameters"][name] = sum(p.numel() for p in runs[0][0].encoder.layer.parameters())
        values[f"{name}: precision, recall"] = [
            precision_recall(GOLD["test"], [[NAMES[k] for k in row] for row in predict(model, BATCHES["test"][0])])
            for model, _ in runs
        ]
        print(name, values[name], values[f"{name}: precision, recall"], round(time.time() - since), flush=True)
    print(record("ch05_added", SEEDS, values, since).name)


if __name__ == "__main__":
    main()
