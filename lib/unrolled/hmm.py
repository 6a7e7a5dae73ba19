"""The hidden Markov model as a language model: its forward pass is a recurrence without a nonlinearity (chapter 3)."""

from __future__ import annotations

import torch
from torch import Tensor, nn


def hmm_forward(ids: Tensor, pi: Tensor, A: Tensor, B: Tensor) -> Tensor:
    r"""The forward pass: how probable the symbols so far are, together with each state the model may be in.

    $$ h_1 = \pi \odot B[:, w_1], \qquad h_t = (A^\top h_{t-1}) \odot B[:, w_t], \qquad
       P(w_{1:T}) = \sum_s h_T[s] $$ (eq-hmm-forward)

    Args:
        ids: (T,) the symbols.
        pi: (S,) the probability of each hidden state at the first symbol.
        A: (S, S) from row to column: the probability of the next state.
        B: (S, V) the probability of each symbol in each state.

    Returns:
        (T, S) the vectors h.

    >>> half = torch.full((2, 2), 0.5)
    >>> hmm_forward(torch.tensor([0, 1, 1]), half[0], half, half).sum(1).tolist()
    [0.5, 0.25, 0.125]
    """
    hs = [pi * B[:, ids[0]]]
    for w in ids[1:]:
        hs.append((A.T @ hs[-1]) * B[:, w])  # eq-hmm-forward
    return torch.stack(hs)


class HMM(nn.Module):
    """A hidden Markov model that is trained like a network: (B, T) ids -> log-probabilities of the next id (B, T, V).

    The first id of a row is the start symbol, which says nothing. The state is divided by its sum at each step: a
    belief, which cannot underflow.
    """

    def __init__(self, V: int, S: int):
        super().__init__()
        self.start, self.move, self.emit = (nn.Parameter(torch.randn(*size)) for size in ((S,), (S, S), (S, V)))

    def forward(self, ids: Tensor, state: Tensor | None = None) -> tuple[Tensor, Tensor]:
        A, B = self.move.softmax(-1), self.emit.softmax(-1)
        belief = self.start.softmax(-1).expand(len(ids), -1) if state is None else state  # (B, S)
        beliefs = [belief]
        for w in ids[:, 1:].unbind(1):
            seen = belief * B.T[w]  # (B, S)
            belief = seen / seen.sum(-1, keepdim=True) @ A
            beliefs.append(belief)
        return torch.log(torch.stack(beliefs, 1) @ B), belief  # (B, T, V)
