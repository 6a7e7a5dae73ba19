"""Chapter 6: the right history or its own? Letters to phonemes, with teacher forcing and with scheduled sampling."""

import time

import torch
from torch import nn

from unrolled.edit_distance import error_rate
from unrolled.measurements import record
from unrolled.pairs import Pair, pronunciations
from unrolled.seq2seq import shift_right
from unrolled.translation import Languages, learn_pairs, translate
from unrolled.translators import BOS, EOS, PAD, RecurrentReader, Seq2Seq

SEEDS = [0, 1, 2]
E, H, UPDATES = 48, 128, 800
OWN = {"always the right history": 0.0, "own guesses, in the end all": 1.0}
LEARN = pronunciations("train")
LANGUAGES = Languages(LEARN)
TEST = [(source, targets[:1]) for source, targets in pronunciations("test")[::4]]  # one answer: the one it is forced to


@torch.no_grad()
def forced(model: Seq2Seq, pairs: list[Pair]) -> tuple[float, list[list[str]]]:
    """The loss per token, and what the model finds best at each step, when the history is always right."""
    src, lengths, y = LANGUAGES.batch(pairs)
    y_in, targets = shift_right(y, BOS)
    scores = model(src, lengths, y_in)  # (B, T, V)
    loss = nn.functional.cross_entropy(scores.flatten(0, 1), targets.flatten(), ignore_index=PAD)
    best = [row[: (true != PAD).sum()] for row, true in zip(scores.argmax(-1), targets, strict=True)]
    return loss.item(), [LANGUAGES.target.decode(row) for row in best]


def compare(pairs: list[Pair], with_history: list[list[str]], alone: list[list[str]]) -> dict:
    """Errors with the right history and without it, EOS counted; then only what comes after the first error."""
    end = LANGUAGES.target.words[EOS]
    rows = [
        ([*targets[0], end], forced_row, [*said, end])
        for (_, targets), forced_row, said in zip(pairs, with_history, alone, strict=True)
    ]
    after = []
    for true, forced_row, said in rows:
        wrong = [t for t, token in enumerate(true) if forced_row[t] != token]
        if wrong and wrong[0] + 1 < len(true):
            after.append((true[wrong[0] + 1 :], forced_row[wrong[0] + 1 :], said[wrong[0] + 1 :]))
    return {
        "tokens wrong, right history": error_rate([(true, row) for true, row, _ in rows]),
        "tokens wrong, own history": error_rate([(true, said) for true, _, said in rows]),
        "words wrong, right history": sum(true != row for true, row, _ in rows) / len(rows),
        "words wrong, own history": sum(true != said for true, _, said in rows) / len(rows),
        "after the first error, right history": error_rate([(true, row) for true, row, _ in after]),
        "after the first error, own history": error_rate([(true, said) for true, _, said in after]),
    }


def measure(own: float, seed: int, updates: int = UPDATES) -> dict:
    torch.manual_seed(seed)
    model = Seq2Seq(RecurrentReader(len(LANGUAGES.source), E, H // 2), len(LANGUAGES.target), E, H)
    begin = time.process_time()
    learn_pairs(model, LEARN, LANGUAGES, updates=updates, seed=seed, own=own)
    seconds = time.process_time() - begin
    loss, with_history = forced(model, TEST)
    found = compare(TEST, with_history, translate(model, TEST, LANGUAGES))
    return {"loss": loss, **found, "cpu seconds": round(seconds, 1)}


def main():
    torch.set_num_threads(1)
    since, values = time.time(), {"words": len(TEST)}
    for name, own in OWN.items():
        values[name] = [measure(own, seed) for seed in SEEDS]
        print(name, values[name], flush=True)
    print(record("ch06_forcing", SEEDS, values, since).name)


if __name__ == "__main__":
    main()
