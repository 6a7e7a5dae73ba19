"""Who gives what to whom? Latin sentences in any word order, and one attention layer that reads them (chapter 8).

Latin marks the role of a noun by its ending, so the order of the words is free. A word is a stem and an ending; its
vector is either the sum of two vectors, one for each, or one vector of its own.
"""

from __future__ import annotations

import random

import torch
from torch import Tensor, nn

from unrolled.self_attention import MultiHeadAttention
from unrolled.text import pad_batch
from unrolled.training import train

ROLES = ("who", "what", "to whom")
NOUNS = (  # nominative, accusative, dative
    ("puella", "puellam", "puellae"),
    ("puer", "puerum", "puero"),
    ("canis", "canem", "cani"),
    ("femina", "feminam", "feminae"),
    ("magister", "magistrum", "magistro"),
    ("rex", "regem", "regi"),
    ("mater", "matrem", "matri"),
    ("nauta", "nautam", "nautae"),
    ("servus", "servum", "servo"),
    ("amicus", "amicum", "amico"),
    ("pater", "patrem", "patri"),
    ("miles", "militem", "militi"),
)
VERBS = ("dat", "mittit", "monstrat", "commendat")  # gives, sends, shows, entrusts
ADVERBS = ("hodie", "saepe", "semper", "nunc")  # today, often, always, now
FORMS = ("", *(form for noun in NOUNS for form in noun), *VERBS, *ADVERBS)
STEM = torch.tensor([0, *(1 + n for n in range(len(NOUNS)) for _ in ROLES), *range(13, 21)])
ENDING = torch.tensor([0, *([1, 2, 3] * len(NOUNS)), *[4] * len(VERBS), *[5] * len(ADVERBS)])
VERB = 4

Sentences = tuple[Tensor, Tensor, Tensor]  # ids (B, T), mask (B, T), the nouns that are who, what and to whom (B, 3)


def sentences(n: int, rng: random.Random) -> tuple[list[list[str]], Sentences]:
    """Random sentences of three different nouns, a verb and up to three adverbs, in any order; as words and as numbers.

    >>> text, (ids, mask, roles) = sentences(1, random.Random(3))
    >>> text[0], [NOUNS[noun][0] for noun in roles[0]]
    (['mittit', 'servo', 'amicum', 'semper', 'femina', 'nunc'], ['femina', 'amicus', 'servus'])
    """
    text, roles = [], []
    for _ in range(n):
        chosen = rng.sample(range(len(NOUNS)), len(ROLES))
        words = [NOUNS[noun][role] for role, noun in enumerate(chosen)]
        words += [rng.choice(VERBS), *rng.sample(ADVERBS, rng.randint(0, 3))]
        rng.shuffle(words)
        text.append(words)
        roles.append(chosen)
    ids, _, mask = pad_batch([[FORMS.index(word) for word in words] for words in text], pad=0)
    return text, (ids, mask, torch.tensor(roles))


class RoleReader(nn.Module):
    """One attention layer; what the verb has found must tell who, what and to whom.

    Args:
        n_heads: number of heads; it divides D.
        D: width.
        two_parts: whether a word's vector is the sum of a vector for its stem and one for its ending.
    """

    def __init__(self, n_heads: int, D: int = 24, two_parts: bool = True):
        super().__init__()
        self.two_parts = two_parts
        self.forms, self.endings = nn.Embedding(len(FORMS), D), nn.Embedding(6, D)
        self.attention, self.output = MultiHeadAttention(D, n_heads), nn.Linear(D, len(ROLES) * len(NOUNS))

    def forward(self, ids: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """ids, mask (B, T) -> scores (B, 3, 12) and the weights of all heads (B, N, T, T)."""
        e = self.forms(STEM[ids]) + self.endings(ENDING[ids]) if self.two_parts else self.forms(ids)  # (B, T, D)
        found, weights = self.attention(e, e, mask[:, None, None, :])
        at_verb = found[ENDING[ids] == VERB]  # (B, D): each sentence has one verb
        return self.output(at_verb).view(len(ids), len(ROLES), len(NOUNS)), weights


def fit_roles(model: RoleReader, data: Sentences, epochs: int, seed: int) -> list[float]:
    """Train with Adam; return the loss at every step."""
    ids, mask, roles = data

    def loss(rows: Tensor) -> Tensor:
        scores, _ = model(ids[rows], mask[rows])
        return nn.functional.cross_entropy(scores.flatten(0, 1), roles[rows].flatten())

    return train(model.parameters(), loss, len(ids), epochs=epochs, seed=seed, lr=1e-2)


@torch.no_grad()
def role_report(model: RoleReader, data: Sentences) -> tuple[float, Tensor]:
    """The share of right answers, and how the verb's weights are spread.

    Returns:
        accuracy: over all sentences and roles.
        shares: (N, 3) the mean weight of the verb on who, what and to whom, for each head.
    """
    ids, mask, roles = data
    scores, weights = model(ids, mask)
    at_verb = weights.transpose(1, 2)[ENDING[ids] == VERB]  # (B, N, T)
    shares = [(at_verb * (ENDING[ids] == role)[:, None]).sum(-1).mean(0) for role in (1, 2, 3)]
    return (scores.argmax(-1) == roles).double().mean().item(), torch.stack(shares, dim=1)
