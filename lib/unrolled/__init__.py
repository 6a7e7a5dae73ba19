"""Unrolled: sequence models from the RNN recurrence to BERT, one idea per module.

The chapters of the book build these functions one by one; what stands here is what the reader ends up with.

Shapes, everywhere: B batch, T time or target steps, S source steps, V vocabulary, E embedding, H hidden state,
D model width, N heads, K head width, F feed-forward. Batch first. Masks are boolean, True = a real token.
"""

__version__ = "0.1.0"
