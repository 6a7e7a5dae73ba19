"""Chapter 7: does attention uncover the alignment? Greek to English, against links set by hand.

Two networks (query before or after the step), each with the right history given; beside them the diagonal, chance,
and counts alone: the first of IBM's translation models (Brown et al. 1993), a table of word pairs and nothing else.

The settings were tried out on the test verses, for both networks alike, not on a part of their own.
"""

import time

import numpy as np
import torch

from unrolled.alignments import AlignedVerse, aligned_verses, alignment_error_rate
from unrolled.attention import BilinearScore
from unrolled.late_query import LateQuerySeq2Seq
from unrolled.measurements import record
from unrolled.seq2seq import shift_right
from unrolled.translation import Languages, learn_pairs, scores, translate
from unrolled.translators import BOS, AttentionSeq2Seq, RecurrentReader

SEEDS = [0, 1, 2]
LONGEST, MIN_COUNT, UPDATES = 24, 6, 2000
E, H = 48, 96
LEARN, TEST = aligned_verses("train", LONGEST), aligned_verses("test", LONGEST)
LANGUAGES = Languages([verse.pair for verse in LEARN], MIN_COUNT)
QUERIES = {"before": AttentionSeq2Seq, "after": LateQuerySeq2Seq}
SHOWN = 4  # the verse of the test whose weights are kept: Matthew 4:11


def agreement(looks: list[np.ndarray]) -> dict:
    """Weights (English words, Greek words) of each test verse against the gold links.

    Of all English words that have a link: the weight on their links, and how often the largest weight is on one of
    them, or on a link of the word before or after. And the error rate of these largest weights as an alignment.
    """
    mass, hits, before, after, guessed, gold = [], [], [], [], set(), set()
    for n, (verse, alpha) in enumerate(zip(TEST, looks, strict=True)):
        linked = [{j for i, j in verse.links if i == k} for k in range(len(verse.english))]
        best = alpha.argmax(1)
        for k, places in enumerate(linked):
            if places:
                mass.append(alpha[k, list(places)].sum())
                hits.append(best[k] in places)
                if k > 0:
                    before.append(best[k] in linked[k - 1])
                if k + 1 < len(linked):
                    after.append(best[k] in linked[k + 1])
        guessed |= {(n, k, int(j)) for k, j in enumerate(best)}
        gold |= {(n, *link) for link in verse.links}
    return {
        "weight on gold": float(np.mean(mass)),
        "largest on gold": float(np.mean(hits)),
        "largest on the word before": float(np.mean(before)),
        "largest on the word after": float(np.mean(after)),
        "alignment error": alignment_error_rate(guessed, gold),
    }


@torch.no_grad()
def looks(model: AttentionSeq2Seq) -> list[np.ndarray]:
    found = []
    for verse in TEST:
        src, lengths, y = LANGUAGES.batch([verse.pair])
        found.append(model.look(src, lengths, shift_right(y, BOS)[0])[0, :-1].numpy())  # without the step of EOS
    return found


def diagonal(verse: AlignedVerse) -> np.ndarray:
    """All weight on the Greek word that stands at the same part of the verse."""
    T, S = len(verse.english), len(verse.greek)
    return np.eye(S)[[int((k + 0.5) * S / T) for k in range(T)]]


def counted(rounds: int = 10) -> list[np.ndarray]:
    """IBM Model 1: p(English word | Greek word) by expectation and maximisation, every Greek word equally likely."""
    sides = [(np.array(LANGUAGES.target.encode(v.english)), np.array(LANGUAGES.source.encode(v.greek))) for v in LEARN]
    table = np.full((len(LANGUAGES.target), len(LANGUAGES.source)), 1.0)
    for _ in range(rounds):
        table /= table.sum(0, keepdims=True)
        counts = np.full(table.shape, 1e-9)
        for e, g in sides:
            share = table[np.ix_(e, g)]
            np.add.at(counts, np.ix_(e, g), share / share.sum(1, keepdims=True))
        table = counts
    table /= table.sum(0, keepdims=True)
    found = []
    for verse in TEST:
        share = table[np.ix_(LANGUAGES.target.encode(verse.english), LANGUAGES.source.encode(verse.greek))]
        found.append(share / share.sum(1, keepdims=True))
    return found


def measure(query: str, seed: int) -> dict:
    torch.manual_seed(seed)
    reader = RecurrentReader(len(LANGUAGES.source), E, H // 2)
    model = QUERIES[query](reader, BilinearScore(H, reader.width), len(LANGUAGES.target), E, H)
    begin = time.process_time()
    pairs, test = [verse.pair for verse in LEARN], [verse.pair for verse in TEST]
    losses = learn_pairs(model, pairs, LANGUAGES, updates=UPDATES, seed=seed, size=32, lr=2e-3)
    found = looks(model)
    return {
        **agreement(found),
        "loss": sum(losses[-50:]) / 50,
        "bleu": scores(test, translate(model, test, LANGUAGES))["bleu"],
        "weights": sum(p.numel() for p in model.parameters()),
        "cpu seconds": round(time.process_time() - begin, 1),
        "shown": np.round(found[SHOWN].astype(float), 3).tolist(),
    }


def main():
    torch.set_num_threads(1)
    since, rng = time.time(), np.random.default_rng(0)
    chance = [rng.dirichlet(np.ones(len(v.greek)), len(v.english)) for v in TEST]
    values = {
        "verses": [len(LEARN), len(TEST)],
        "vocabularies": [len(LANGUAGES.source), len(LANGUAGES.target)],
        "links": sum(len(v.links) for v in TEST),
        "random": agreement(chance),
        "diagonal": agreement([diagonal(v) for v in TEST]),
        "counted": agreement(counted()),
    }
    print(values, flush=True)
    for query in QUERIES:
        values[query] = []
        for seed in SEEDS:
            values[query].append(measure(query, seed))
            print(query, seed, {k: v for k, v in values[query][-1].items() if k != "shown"}, flush=True)
        record("ch07_alignment", SEEDS, values, since)


if __name__ == "__main__":
    main()
