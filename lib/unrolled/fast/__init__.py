"""The fast path: what the chapters compute, to the same numbers, written for the processor instead of the reader.

No chapter is built on it and no exercise asks for it; a network of the book is put on it by ``speed_up``::

    from unrolled.fast import speed_up
    model = speed_up(GPT(cfg))

``recurrent`` and ``gru`` are RNN, LSTM and GRU with their gradients written by hand, ``deep`` their stacks over padded
batches, ``layers`` attention and the layers around it, ``modules`` the networks. The tests hold each equal to its
lesson and to torch, forward and backward; ``make bench`` says what it gains.
"""

from unrolled.fast.modules import lesson, speed_up

__all__ = ["lesson", "speed_up"]
