"""BLEU: how many of the words, and of groups of two to four words, stand in the right answer (chapters 6 and 10)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

ORDERS = (1, 2, 3, 4)


def ngrams(tokens: Sequence[str], n: int) -> Counter:
    """How often each group of n neighbouring tokens occurs.

    >>> ngrams(["to", "be", "or", "not", "to", "be"], 2)[("to", "be")]
    2
    """
    return Counter(zip(*(tokens[k:] for k in range(n)), strict=False))


def bleu(hyps: Sequence[Sequence[str]], refs: Sequence[Sequence[str]]) -> float:
    """Corpus BLEU between 0 and 1, with one right answer for each sentence (Papineni et al. 2002).

    The geometric mean of four precisions, each over the whole corpus, times a penalty if the hypotheses are shorter
    in all than the references. A group counts at most as often as it occurs in its own reference (clipping). If one
    of the precisions is 0, or nothing was written, BLEU is 0.

    Args:
        hyps: what was written, tokens of each sentence.
        refs: what is right, in the same order.

    >>> cat = "the cat is on the mat".split()
    >>> bleu([cat], [cat])
    1.0
    >>> bleu(["the the the the".split()], [cat])  # no two neighbours are right
    0.0
    """
    logs = []
    for n in ORDERS:
        hits = total = 0
        for hyp, ref in zip(hyps, refs, strict=True):
            found = ngrams(hyp, n)
            hits += (found & ngrams(ref, n)).total()  # the smaller count of both: clipped
            total += found.total()
        if hits == 0:
            return 0.0
        logs.append(math.log(hits / total))
    written, right = sum(map(len, hyps)), sum(map(len, refs))
    penalty = min(0.0, 1 - right / written)
    return math.exp(penalty + sum(logs) / len(logs))
