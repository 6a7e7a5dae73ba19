"""Generated languages that need a memory (chapter 4): recall a symbol, count letters, agree with a distant subject."""

from __future__ import annotations

import random

import numpy as np
import torch
from torch import Tensor, nn

from unrolled.readers import Reader
from unrolled.text import Vocabulary, pad_batch, words
from unrolled.training import train

# ---- recall: what was the first symbol? ----

SYMBOLS, NOISE = 2, 8  # ids 0 and 1 are to be remembered, ids 2 to 9 are to be ignored


def recall_batch(n: int, distance: int, rng: torch.Generator) -> tuple[Tensor, Tensor]:
    """n sequences: one symbol to remember, then ``distance`` random symbols that say nothing about it.

    Returns:
        ids: (n, 1 + distance).
        y: (n,) the first symbol, which is asked for after the last step.

    >>> ids, y = recall_batch(4, 7, torch.Generator().manual_seed(0))
    >>> ids.shape, torch.equal(ids[:, 0], y), bool((ids[:, 1:] >= 2).all())
    (torch.Size([4, 8]), True, True)
    """
    y = torch.randint(0, SYMBOLS, (n,), generator=rng)
    noise = torch.randint(SYMBOLS, SYMBOLS + NOISE, (n, distance), generator=rng)
    return torch.cat([y[:, None], noise], dim=1), y


def learn_recall(
    kind: str, keep: float | None, distance: int, seed: int, *, lr: float = 3e-3, steps: int = 600, H: int = 32
) -> tuple[float, int]:
    """Train a reader to recall over ``distance`` steps, on new sequences all the time; stop early when it is solved.

    Returns:
        accuracy: on 1,000 new sequences; a coin toss gives 0.5.
        taken: how many training steps it took.
    """
    torch.manual_seed(seed)
    rng = torch.Generator().manual_seed(seed)
    model = Reader(kind, SYMBOLS + NOISE, 16, H, SYMBOLS, keep)
    optimizer, recent = torch.optim.Adam(model.parameters(), lr=lr), 0.0
    for taken in range(1, steps + 1):  # noqa: B007
        ids, y = recall_batch(32, distance, rng)
        scores = model(ids)[:, -1]
        optimizer.zero_grad()
        nn.functional.cross_entropy(scores, y).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        recent = 0.9 * recent + 0.1 * (scores.argmax(-1) == y).double().mean().item()
        if recent > 0.99:
            break
    ids, y = recall_batch(1000, distance, rng)
    with torch.no_grad():
        return (model(ids)[:, -1].argmax(-1) == y).double().mean().item(), taken


def best_rate(runs: dict[str, list[dict]]) -> np.ndarray:
    """(seeds, distances): the accuracy with the better step size at each distance; 0.5 where it was not tried.

    Args:
        runs: for each step size, for each seed, {"accuracy": one number or None per distance}.

    >>> best_rate({"slow": [{"accuracy": [1.0, 0.5]}], "fast": [{"accuracy": [0.9, None]}]}).tolist()
    [[1.0, 0.5]]
    """
    rates = [[[0.5 if a is None else a for a in run["accuracy"]] for run in seeds] for seeds in runs.values()]
    accuracy = np.array(rates)  # (rates, seeds, distances)
    return accuracy[accuracy.mean(1).argmax(0), :, np.arange(accuracy.shape[2])].T


def horizon_reach(runs: dict[str, list[dict]], distances: list[int]) -> int:
    """The longest distance up to which all seeds are right in 95 % of the cases, with the better step size.

    >>> horizon_reach({"slow": [{"accuracy": [1.0, 0.97, 0.5]}]}, [5, 10, 20])
    10
    """
    solved = (best_rate(runs) >= 0.95).all(0)
    return max((d for i, d in enumerate(distances) if solved[: i + 1].all()), default=0)


# ---- counting: a^n b^n ----

START, A, B, END = range(4)


def anbn(n: int) -> list[int]:
    """The word a^n b^n between its marks.

    >>> anbn(2)
    [0, 1, 1, 2, 2, 3]
    """
    return [START] + [A] * n + [B] * n + [END]


@torch.no_grad()
def counts_right(model: nn.Module, n: int) -> bool:
    """True if, reading a^n b^n, the model expects a b after each b but the last, and the end after the last b."""
    word = torch.tensor([anbn(n)])
    expected = model(word[:, :-1]).argmax(-1)[0]
    return torch.equal(expected[n + 1 :], word[0, n + 2 :])


def learn_counting(kind: str, seed: int, *, longest: int = 12, steps: int = 3000, H: int = 10) -> Reader:
    """Train a reader to expect the next letter in the words a^n b^n, n = 1 to ``longest``."""
    torch.manual_seed(seed)
    model = Reader(kind, 4, 4, H, 4)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    T = 2 * longest + 2
    ids = torch.tensor([anbn(n) + [END] * (T - 2 * n - 2) for n in range(1, longest + 1)])  # (longest, T)
    real = torch.arange(1, T) < torch.tensor([2 * n + 2 for n in range(1, longest + 1)])[:, None]
    for _ in range(steps):
        scores = model(ids[:, :-1])
        loss = nn.functional.cross_entropy(scores[real], ids[:, 1:][real])
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return model


# ---- agreement: the flights the airline was cancelling were full ----

NOUNS = {
    "sg": words("flight airline pilot passenger gate train captain ticket airport guard"),
    "pl": words("flights airlines pilots passengers gates trains captains tickets airports guards"),
}
VERB = {"sg": "was", "pl": "were"}
DOING = words("cancelling watching calling helping ignoring following")
BEING = words("full late cheap empty loud early")
PLACE = words("near behind beside")


def agreement_sentence(nouns: int, rng: random.Random) -> tuple[list[str], int, bool]:
    """A sentence whose subject and verb are kept apart by a clause with so many other nouns.

    Args:
        nouns: how many nouns stand between subject and main verb: 0 gives "the flights were full", 1 "the flights
            the airline was cancelling were full"; each further one adds "near the gate" to the noun of the clause.
        rng: the source of randomness.

    Returns:
        sentence: its words.
        place: the place of the main verb in it.
        plural: whether the subject is.

    >>> " ".join(agreement_sentence(1, random.Random(9))[0])
    'the guards the gates were watching were late'
    """
    subject = rng.choice(("sg", "pl"))
    sentence = ["the", rng.choice(NOUNS[subject])]
    if nouns:
        number = rng.choice(("sg", "pl"))
        sentence += ["the", rng.choice(NOUNS[number])]
        for _ in range(nouns - 1):
            sentence += [rng.choice(PLACE), "the", rng.choice(NOUNS[rng.choice(("sg", "pl"))])]
        sentence += [VERB[number], rng.choice(DOING)]
    return [*sentence, VERB[subject], rng.choice(BEING)], len(sentence), subject == "pl"


def agreement_words() -> Vocabulary:
    """All words of the grammar."""
    return Vocabulary([["the", *VERB.values()], *NOUNS.values(), DOING, BEING, PLACE])


def learn_agreement(kind: str, seed: int, *, most: int, n: int = 4000, epochs: int = 20, H: int = 32) -> Reader:
    """Train a reader to expect the next word of sentences with 0 to ``most`` nouns in between."""
    rng, V = random.Random(seed), agreement_words()
    torch.manual_seed(seed)
    model = Reader(kind, len(V), 16, H, len(V))
    sentences = [agreement_sentence(rng.randint(0, most), rng)[0] for _ in range(n)]
    ids, _, _ = pad_batch([V.encode(sentence) for sentence in sentences], pad=0)

    def loss(rows: Tensor) -> Tensor:
        scores = model(ids[rows, :-1])
        return nn.functional.cross_entropy(scores.flatten(0, 1), ids[rows, 1:].flatten(), ignore_index=0)

    train(model.parameters(), loss, n, epochs=epochs, seed=seed)
    return model


@torch.no_grad()
def verb_margin(model: nn.Module, sentence: list[str], place: int) -> float:
    """The score of "were" minus that of "was" at the place of the main verb."""
    V = agreement_words()
    scores = model(torch.tensor([V.encode(sentence[:place])]))[0, -1]
    return (scores[V.ids["were"]] - scores[V.ids["was"]]).item()


def agreement_accuracy(model: nn.Module, nouns: int, n: int = 300) -> float:
    """How often the right verb has the higher score; the noun of the clause always has the other number."""
    rng, right = random.Random(nouns), 0
    for _ in range(n):
        sentence, place, plural = agreement_sentence(nouns, rng)
        while nouns and (sentence[3] in NOUNS["pl"]) == plural:
            sentence, place, plural = agreement_sentence(nouns, rng)
        right += (verb_margin(model, sentence, place) > 0) == plural
    return right / n
