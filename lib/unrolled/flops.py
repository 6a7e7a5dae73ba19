"""How many operations a layer needs, by counting its matrix products (chapter 8)."""

from __future__ import annotations


def flops(kind: str, L: int, d: int, k: int) -> int:
    r"""The floating-point operations of one layer that reads one sequence.

    Count the matrix products: (n, m) times (m, p) takes n m p multiplications, each with an
    addition.

    $$ F = \sum_{\text{products}} 2\, n\, m\, p $$ (eq-flops)

    Args:
        kind: "attention": the scores of all pairs, and the weighted sums of the values, alone;
            "attention+projections": with the four (d, d) matrices for queries, keys, values and
            output; "convolution": a kernel k steps wide, an output at every step; "rnn", "gru",
            "lstm": at every step, each block that has weights of its own (1, 3 or 4: gates and
            new content) reads the input and the old state.
        L: length of the sequence.
        d: width of everything: inputs, states, queries, keys, values, outputs.
        k: width of the convolution's kernel; the other kinds do not use it.

    Returns:
        The number of operations, an int. Biases, nonlinearities, softmax and the products with
        gates are not counted; the number of heads makes no difference, and no mask saves work.
        (Multiply-adds, without the factor 2 everywhere, are accepted as another way to count.)

    Built in chapter 8.

    >>> flops("attention", L=10, d=100, k=3), flops("lstm", L=10, d=100, k=3)
    (40000, 1600000)
    """
    pairs = 2 * L * L * d  # eq-flops: (L, d) @ (d, L), or (L, L) @ (L, d)
    step = 2 * L * d * d  # (L, d) @ (d, d)
    counts = {
        "attention": 2 * pairs,  # scores, sums
        "attention+projections": 2 * pairs + 4 * step,
        "convolution": k * step,
        "rnn": 2 * step,  # x and h
        "gru": 3 * 2 * step,
        "lstm": 4 * 2 * step,
    }
    return counts[kind]
