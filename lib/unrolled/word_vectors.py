"""word2vec trained on a text: pairs of neighbours, random words against them, and who stands close (chapter 3)."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from unrolled.progress import with_progress
from unrolled.text import Vocabulary
from unrolled.word2vec import sgns_loss


def neighbour_pairs(docs: list[list[int]], window: int) -> tuple[Tensor, Tensor]:
    """All (centre, neighbour) with at most ``window`` places between them; unknown words (id 1) are left out first.

    >>> [side.tolist() for side in neighbour_pairs([[5, 1, 6, 7], [8]], window=1)]
    [[5, 6, 6, 7], [6, 7, 5, 6]]
    """
    gap = [0] * window
    text = torch.tensor([w for doc in docs for w in [*(w for w in doc if w > 1), *gap]])
    left, right = [], []
    for distance in range(1, window + 1):
        a, b = text[:-distance], text[distance:]
        real = (a > 0) & (b > 0)
        left.append(a[real])
        right.append(b[real])
    a, b = torch.cat(left), torch.cat(right)
    return torch.cat([a, b]), torch.cat([b, a])


def learn_vectors(
    docs: list[list[int]],
    V: int,
    E: int,
    seed: int,
    *,
    steps: int = 1500,
    size: int = 2048,
    K: int = 5,
    window: int = 5,
    loss: Callable = sgns_loss,
) -> Tensor:
    """Skip-gram with negative sampling, as Mikolov et al. (2013) set it up; returns E_in (V, E).

    Pairs with frequent words are thinned out: a pair is kept with probability sqrt(t / share) of either word, t = 1e-3.
    Random words are drawn by count to the power of 3/4.
    """
    generator = torch.Generator().manual_seed(seed)
    counts = torch.bincount(torch.tensor([w for doc in docs for w in doc if w > 1]), minlength=V).float()
    keep = torch.sqrt(1e-3 * counts.sum() / counts.clamp(min=1)).clamp(max=1)
    c, o = neighbour_pairs(docs, window)
    kept = torch.rand(len(c), generator=generator) < keep[c] * keep[o]
    c, o = c[kept], o[kept]
    E_in = torch.empty(V, E).uniform_(-0.5 / E, 0.5 / E, generator=generator).requires_grad_()
    E_out = torch.zeros(V, E, requires_grad=True)
    optimizer = torch.optim.Adam([E_in, E_out], lr=1e-2)
    for _ in with_progress(range(steps)):
        rows = torch.randint(0, len(c), (size,), generator=generator)
        neg = torch.multinomial(counts**0.75, size * K, replacement=True, generator=generator).view(size, K)
        value = loss(c[rows], o[rows], neg, E_in, E_out)
        optimizer.zero_grad()
        value.backward()
        optimizer.step()
    return E_in.detach()


def nearest(vectors: Tensor, vocabulary: Vocabulary, word: str, n: int = 5) -> list[str]:
    """The n words whose vectors point most nearly in the direction of the word's vector."""
    unit = torch.nn.functional.normalize(vectors, dim=1)
    order = (unit @ unit[vocabulary.ids[word]]).argsort(descending=True).tolist()
    return vocabulary.decode([i for i in order if i > 1 and i != vocabulary.ids[word]][:n])
