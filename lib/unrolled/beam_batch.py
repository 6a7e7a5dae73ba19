"""The beam search of chapter 10 for many sources at once, for measurements: the same hypotheses, in tensors."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from unrolled.beam import Hypothesis, rank_hypotheses
from unrolled.pairs import Pair
from unrolled.translation import Languages
from unrolled.translators import BOS, EOS, PAD, Memory


@torch.no_grad()
def beam_search_batch(model: nn.Module, src: Tensor, lengths: Tensor, k: int, max_len: int) -> list[list[Hypothesis]]:
    """What ``beam_search`` finds for each source, with a translator that looks at a Memory.

    Args:
        model: a translator with attention (see ``unrolled.translators``).
        src, lengths: (B, S) and (B,) the sources.
        k: how many beginnings stay; at most the size of the target vocabulary.
        max_len: the most tokens of a hypothesis, EOS included.

    Returns:
        For each source k hypotheses, the most probable first.
    """
    B = len(src)
    h, memory = model.start(src, lengths)
    h = h.repeat_interleave(k, dim=0)  # (B * k, ...)
    memory = Memory(memory.h.repeat_interleave(k, dim=0), memory.mask.repeat_interleave(k, dim=0))
    total = torch.full((B, k), -torch.inf)
    total[:, 0] = 0  # there is one beginning only
    tokens, ended = torch.zeros(B, k, 0, dtype=torch.int64), torch.zeros(B, k, dtype=torch.bool)
    y, first = torch.full((B * k,), BOS), k * torch.arange(B)[:, None]
    for _ in range(max_len):
        scores, h = model.step(y, h, memory)
        logp = torch.log_softmax(scores, dim=1).view(B, k, -1)
        V = logp.shape[2]
        logp[ended] = torch.where(torch.arange(V) == PAD, 0.0, -torch.inf)  # no more tokens, no more cost
        total, best = (total[..., None] + logp).flatten(1).topk(k)  # (B, k V) -> (B, k)
        parent, y = best // V, best % V
        y = torch.where(ended.gather(1, parent), PAD, y)
        tokens = torch.cat([tokens.gather(1, parent[..., None].expand_as(tokens)), y[..., None]], dim=2)
        ended = ended.gather(1, parent) | (y == EOS)
        h, y = h[(first + parent).flatten()], y.flatten()
        if ended.all():
            break
    return [[_hypothesis(*one) for one in zip(*rows, strict=True)] for rows in zip(tokens, total, strict=True)]


def _hypothesis(tokens: Tensor, logp: Tensor) -> Hypothesis:
    row = tokens.tolist()
    return Hypothesis(tuple(row[: row.index(EOS) + 1] if EOS in row else row), logp.item())


def search_pairs(
    model: nn.Module, pairs: Sequence[Pair], languages: Languages, k: int, longest: int = 40
) -> list[list[Hypothesis]]:
    """The k hypotheses for the source of each pair; in the order of the pairs."""
    order = sorted(range(len(pairs)), key=lambda n: len(pairs[n][0]))
    found: list[list[Hypothesis]] = [[] for _ in pairs]
    size = max(1, 512 // k)
    for rows in (order[n : n + size] for n in range(0, len(order), size)):
        src, lengths, _ = languages.batch([pairs[n] for n in rows])
        for n, hyps in zip(rows, beam_search_batch(model, src, lengths, k, longest), strict=True):
            found[n] = hyps
    return found


def best_words(found: Sequence[list[Hypothesis]], languages: Languages, alpha: float) -> list[list[str]]:
    """The words of the best hypothesis of each source, if the length counts as alpha says; without EOS."""
    said = []
    for hyps in found:
        best = hyps[rank_hypotheses([hyp.tokens for hyp in hyps], [hyp.logp for hyp in hyps], alpha)[0]]
        said.append(languages.target.decode([y for y in best.tokens if y not in (EOS, PAD)]))
    return said
