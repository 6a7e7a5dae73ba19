"""BLEU: how many of the words, and of groups of two to four words, stand in the right answer (chapters 6 and 10)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence


def ngrams(tokens: Sequence[str], n: int) -> Counter:
    """How often each group of n neighbouring tokens occurs.

    >>> ngrams(["to", "be", "or", "not", "to", "be"], 2)[("to", "be")]
    2
    """
    return Counter(zip(*(tokens[k:] for k in range(n)), strict=False))


def bleu(hyps: list[list[str]], refs: list[list[str]]) -> float:
    r"""Corpus BLEU from 0 to 1, with one right answer for each sentence (Papineni et al. 2002).

    $$ p_n = \frac{\sum_i \sum_g \min(\mathrm{count}_g(\hat y_i), \mathrm{count}_g(y_i))}
                  {\sum_i \sum_g \mathrm{count}_g(\hat y_i)} $$ (eq-precision)

    $$ \mathrm{BLEU} = \exp\Big(\min\big(0,\, 1 - \tfrac{r}{c}\big)
       + \tfrac14 \sum_{n=1}^{4} \log p_n\Big) $$ (eq-bleu)

    with $g$ any group of n neighbouring tokens, $\hat y_i$ what was written as sentence $i$ and
    $y_i$ what is right. All sums run over the whole corpus. A group counts at most as often as
    it occurs in its own reference (clipping). $c$ and $r$ are the numbers of tokens of all
    hypotheses and of all references: who writes less than the references is punished.

    Args:
        hyps: what was written, tokens of each sentence. Some may be empty.
        refs: what is right, in the same order.

    Returns:
        A float. If one of the precisions is 0, or there is no group of four at all, BLEU is 0.
        Nothing is changed.

    Built in chapter 10.

    >>> cat = "the cat is on the mat".split()
    >>> bleu([cat], [cat])
    1.0
    >>> round(bleu([cat[:5]], [cat]), 3)  # all is right, but a word is missing: exp(1 - 6/5)
    0.819
    >>> bleu(["the the the the".split()], [cat])  # no two neighbours are right
    0.0
    """
    logs = []
    for n in range(1, 5):
        hits = total = 0
        for hyp, ref in zip(hyps, refs, strict=True):
            found = ngrams(hyp, n)
            hits += (found & ngrams(ref, n)).total()  # the smaller count of both: clipped
            total += found.total()
        if hits == 0:
            return 0.0
        logs.append(math.log(hits / total))  # eq-precision
    c, r = sum(map(len, hyps)), sum(map(len, refs))
    return math.exp(min(0.0, 1 - r / c) + sum(logs) / 4)  # eq-bleu
