"""How far two sequences are apart, and how many errors that makes in a corpus (chapter 6)."""

from __future__ import annotations


def edit_distance(a: str | list, b: str | list) -> int:
    r"""The least number of edits that make b of a: put in, leave out or replace one token.

    With d(i, j) for the first i tokens of a and the first j tokens of b:

    $$ d(i, 0) = i, \quad d(0, j) = j, \qquad
       d(i, j) = \min \begin{cases} d(i-1, j) + 1 \\ d(i, j-1) + 1 \\
       d(i-1, j-1) + [a_i \ne b_j] \end{cases} $$ (eq-edit-distance)

    Args:
        a: tokens that can be compared with ==: a string, or a list of strings or of numbers.
        b: the same; either of them may be empty.

    Returns:
        An int. a and b are not changed.

    Built in chapter 6.

    >>> edit_distance("kitten", "sitting")  # k -> s, e -> i, and a g
    3
    >>> edit_distance(["N", "AY", "T"], [])
    3
    """
    above = list(range(len(b) + 1))  # d(0, j)
    for i in range(1, len(a) + 1):
        row = [i]  # d(i, 0)
        for j in range(1, len(b) + 1):
            replaced = above[j - 1] + (a[i - 1] != b[j - 1])
            row.append(min(above[j] + 1, row[j - 1] + 1, replaced))  # eq-edit-distance
        above = row
    return above[-1]


def error_rate(pairs: list[tuple]) -> float:
    r"""The error rate of a corpus: all edits together, over all true tokens together.

    $$ \text{ER} = \frac{\sum_k \mathrm{edit\_distance}(r_k, h_k)}
       {\sum_k |r_k|} $$ (eq-error-rate)

    Row k should be r_k (the reference), and h_k was said instead (the hypothesis, no state).

    Args:
        pairs: one pair (r, h) for each row: the true tokens and those that were said instead.
            Either may be empty, but not all r are.

    Returns:
        A number, 0 if all is right; it may exceed 1. pairs is not changed.

    Built in chapter 6.

    >>> error_rate([("night", "nite"), ("a", "ab")])  # 3 edits and 1, of 6 letters
    0.6666666666666666
    """
    edits = sum(edit_distance(r, h) for r, h in pairs)
    return edits / sum(len(r) for r, _ in pairs)  # eq-error-rate
