"""Beam search: keep the k best beginnings instead of one (chapter 10)."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor


class Hypothesis(NamedTuple):
    """A sentence, or the beginning of one, and the logarithm of its probability."""

    tokens: tuple[int, ...]  # without BOS, with EOS if it has ended
    logp: float


def beam_search(step, h0: Tensor, bos: int, eos: int, k: int, max_len: int) -> list[Hypothesis]:
    r"""Look for the most probable sentence: at every step keep the k best beginnings, of all.

    $$ \log p(y_{1:t}) = \log p(y_{1:t-1}) + \log \mathrm{softmax}(o_t)[y_t] $$ (eq-beam)

    Each beginning that has not ended is extended by every token of the vocabulary; those that
    have ended stand beside the extensions as they are. The k most probable of all of these
    stay. The search is over when all that stay have ended, or after max_len steps.

    Args:
        step: one step of any decoder: step(y, h), with y (n,) int64 the tokens said last and h
            (n, H) the states, returns scores (n, V) and the new states. It treats each row on
            its own, and n may be any number from 1 to k. What it is given for beginnings that
            have ended, if anything, does not matter.
        h0: (1, H) the state before the first step.
        bos, eos: the ids of the two special tokens, different. BOS is read first, never said.
        k: how many beginnings stay, at least 1. With k = 1 the search is greedy.
        max_len: the most tokens that a sentence may have, EOS included; at least 1.

    Returns:
        A list of the hypotheses that stayed, the most probable first: k of them, or fewer if
        there are not so many. Each is a pair of tokens and log-probability, a Hypothesis. The
        tokens are ints, without BOS; one that was cut off at max_len has no EOS. No two
        hypotheses are equally probable. Nothing is changed.

    Built in chapter 10.

    >>> rows = [0.0, 0.0, 0.0], [0.5, 0.3, 0.2], [0.9, 0.1, 0.0], [0.0, 0.6, 0.4]
    >>> table = torch.tensor(rows)  # row = token read, column = token said; 0 is EOS, 3 is BOS
    >>> def step(y, h):  # a bigram model: what may follow a token depends on nothing else
    ...     return table[y].log(), h
    >>> [best, *_] = beam_search(step, torch.zeros(1, 1), bos=3, eos=0, k=1, max_len=5)
    >>> best.tokens, round(best.logp, 3)  # the best first token, then EOS: 0.6 times 0.5
    ((1, 0), -1.204)
    >>> [best, *_] = beam_search(step, torch.zeros(1, 1), bos=3, eos=0, k=2, max_len=5)
    >>> best.tokens, round(best.logp, 3)  # 0.4 times 0.9 is more
    ((2, 0), -1.022)
    """
    beam, h = [Hypothesis((), 0.0)], h0
    for _ in range(max_len):
        alive = [hyp for hyp in beam if hyp.tokens[-1:] != (eos,)]
        if not alive:
            break
        y = torch.tensor([hyp.tokens[-1] if hyp.tokens else bos for hyp in alive])  # (n,)
        logits, h = step(y, h)
        logp = torch.log_softmax(logits, dim=1).tolist()  # n rows of V
        candidates = [(hyp, None) for hyp in beam if hyp.tokens[-1:] == (eos,)]  # no state
        for row, hyp in enumerate(alive):
            for v, more in enumerate(logp[row]):  # eq-beam
                candidates.append((Hypothesis((*hyp.tokens, v), hyp.logp + more), row))
        best = sorted(candidates, key=lambda candidate: -candidate[0].logp)[:k]
        beam = [hyp for hyp, _ in best]
        h = h[[row for hyp, row in best if hyp.tokens[-1] != eos]]  # its beginning's state
    return beam


def rank_hypotheses(hyps: list[tuple], logps: list[float], alpha: float) -> list[int]:
    r"""Which hypothesis is the best if long ones get their length back: the places, best first.

    $$ \mathrm{score}(y) = \frac{\log p(y)}{|y|^{\alpha}} $$ (eq-length)

    with $|y|$ the number of tokens of the hypothesis, EOS included if it has one. With
    $\alpha = 0$ the probability alone counts, with $\alpha = 1$ it is the mean of a token.

    Args:
        hyps: the tokens of each hypothesis as beam_search gives them, without BOS. None is
            empty.
        logps: the logarithm of the probability of each.
        alpha: how much the length counts, at least 0.

    Returns:
        The places of the hypotheses in hyps, the one with the highest score first. All are
        ranked, those without EOS too. No two scores are equal. Nothing is changed.

    Built in chapter 10.

    >>> hyps, logps = [(0,), (7, 8, 9, 0)], [-2.0, -3.0]  # EOS is 0
    >>> rank_hypotheses(hyps, logps, alpha=0.0), rank_hypotheses(hyps, logps, alpha=1.0)
    ([0, 1], [1, 0])
    """
    # eq-length
    scores = [logp / len(hyp) ** alpha for hyp, logp in zip(hyps, logps, strict=True)]
    return sorted(range(len(scores)), key=lambda place: -scores[place])
