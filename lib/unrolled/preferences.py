"""Lines of eight words, a policy that writes them, and a reader who likes some better than others (chapter 14).

The policy is the smallest there is, a table of bigrams learned from the verses. The reader's taste is known to us and
hidden from the learner, who only hears which of two lines he prefers.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from unrolled.data import verses
from unrolled.language_model import bigram_logprobs

T, V = 8, 500  # words of a line; words that there are
SHORTEST, K = 5, 0.01  # of the clauses that are learned from; added to every count of a bigram
LIKED = frozenset(
    ("love", "joy", "peace", "light", "life", "good", "glory", "praise", "wisdom", "truth", "faith", "rejoice",
     "salvation", "blessed")
)  # fmt: skip


@cache
def _parts() -> tuple[tuple[str, ...], ...]:
    """What stands between two marks in the World English Bible, in small letters."""
    parts = (part for verse in verses() for part in re.split(r"[^\w\s`]", verse.lower()))
    return tuple(tuple(re.findall(r"[a-z]+(?:`[a-z]+)?", part)) for part in parts)


@cache
def vocabulary() -> tuple[str, ...]:
    """The V most frequent words, in alphabetical order; a word's place is its id."""
    return tuple(sorted(word for word, _ in Counter(word for part in _parts() for word in part).most_common(V)))


def clauses() -> list[tuple[str, ...]]:
    """The parts of the text that have five words or more, all of them in the vocabulary."""
    common = set(vocabulary())
    return [part for part in _parts() if len(part) >= SHORTEST and common.issuperset(part)]


def spell(line: Tensor) -> str:
    """A line (T,) in words."""
    return " ".join(vocabulary()[w] for w in line.tolist())


class BigramPolicy(nn.Module):
    """Writes lines of T words; each word depends on the one before, and has a weight of its own wherever it stands.

    The score of word w after word v is table[v, w] + words[w].

    Args:
        table: (V + 1, V) scores of the next word; the last row is for the first word of a line.

    >>> policy = BigramPolicy(torch.zeros(4, 3))
    >>> lines = policy.draw(5, torch.Generator().manual_seed(0))
    >>> lines.shape, policy.logp(lines).detach()[0].exp()
    (torch.Size([5, 8]), tensor([0.3333, 0.3333, 0.3333, 0.3333, 0.3333, 0.3333, 0.3333, 0.3333]))
    """

    def __init__(self, table: Tensor):
        super().__init__()
        self.table, self.words = nn.Parameter(table.clone()), nn.Parameter(torch.zeros(table.shape[1]))

    @torch.no_grad()
    def draw(self, n: int, generator: torch.Generator) -> Tensor:
        """n lines (n, T)."""
        below = F.softmax(self.table + self.words, dim=1).cumsum(dim=1)[:, :-1].contiguous()  # the last sum is 1
        written = [torch.full((n,), len(below) - 1)]
        for u in torch.rand(T, n, 1, generator=generator):  # eq-inverse-cdf of chapter 3
            written.append(torch.searchsorted(below[written[-1]], u, right=True)[:, 0])
        return torch.stack(written[1:], dim=1)  # (n, T)

    def logp(self, lines: Tensor) -> Tensor:
        """Lines (B, T) -> the log-probability of each word, (B, T)."""
        before = F.pad(lines[:, :-1], (1, 0), value=len(self.table) - 1)  # (B, T)
        return F.log_softmax(self.table + self.words, dim=1)[before, lines]  # (B, T)


@cache
def _table() -> Tensor:
    ids = {word: n for n, word in enumerate(vocabulary())}
    start = len(ids)  # stands before every clause
    text = torch.tensor([w for clause in clauses() for w in (start, *(ids[word] for word in clause))])
    return bigram_logprobs([text], len(ids) + 1, K)[:, :-1]  # a line does not end before its time


def reference() -> BigramPolicy:
    """The policy that has learned from the verses; nothing else is trained from here on but copies of it."""
    policy = BigramPolicy(_table())
    return policy.requires_grad_(False)


def taste(lines: Tensor) -> Tensor:
    """What the reader really thinks of lines (B, T): 2 for each different word he likes, -2 for each word said before.

    >>> ids = {word: n for n, word in enumerate(vocabulary())}
    >>> said = ["the light of life and joy to you", "joy joy joy joy joy joy joy joy"]
    >>> taste(torch.tensor([[ids[word] for word in line.split()] for line in said])).tolist()
    [6.0, -12.0]
    """
    there = F.one_hot(lines, len(vocabulary())).amax(dim=1)  # (B, V) 1 if the word occurs
    liked = torch.tensor([word in LIKED for word in vocabulary()])
    repeated = lines.shape[1] - there.sum(dim=1)
    return 2.0 * (there[:, liked].sum(dim=1) - repeated)  # (B,)


def ask(a: Tensor, b: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Show the reader pairs of lines (B, T); he prefers a with probability sigmoid(taste(a) - taste(b)).

    Returns:
        won, lost: (B, T) the same lines, sorted by his answers.
    """
    prefers = torch.rand(len(a), generator=generator) < torch.sigmoid(taste(a) - taste(b))
    won = torch.where(prefers[:, None], a, b)
    return won, torch.where(prefers[:, None], b, a)


class WordReward(nn.Module):
    """A reward that is learned: every word has a value, and a line the sum of them.

    >>> WordReward(3)(torch.tensor([[0, 2, 2]]))
    tensor([0.], grad_fn=<SumBackward1>)
    """

    def __init__(self, V: int):
        super().__init__()
        self.values = nn.Parameter(torch.zeros(V))

    def forward(self, lines: Tensor) -> Tensor:
        """Lines (B, T) -> rewards (B,)."""
        return self.values[lines].sum(dim=1)
