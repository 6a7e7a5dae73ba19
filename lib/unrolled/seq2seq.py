"""From one sequence to another: a GRU that reads, a GRU that writes, and what the writer reads (chapter 6)."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from unrolled.gated import GRUParams, gru_step


class DecoderParams(NamedTuple):
    """The parameters of a decoder: it embeds a token, takes a step with it and the context, and scores all tokens."""

    W_e: Tensor  # (V, E) the embedding: one row for each token
    gru: GRUParams  # its W_x is (3H, E + C): the embedding's columns first, then the context's
    W_hy: Tensor  # (V, H) from the state to the scores
    b_y: Tensor  # (V,)


def shift_right(y: Tensor, bos: int) -> tuple[Tensor, Tensor]:
    r"""What the decoder reads and what it is to say, for rows of tokens that are known.

    $$ \text{input}_t = y_{t-1}, \quad \text{target}_t = y_t, \qquad t = 1, \dots, T, \quad
       y_0 = \text{BOS} $$ (eq-shift-right)

    Args:
        y: (B, T) int64. Each row holds its tokens and EOS, then pads up to T; there is no BOS.
        bos: the id of BOS.

    Returns:
        inputs: (B, T) int64, what the decoder reads at every step. The last token of y is not
            among them; all others are, pads and the EOS of shorter rows included.
        targets: (B, T) int64, what it is to say at the same step. y is not changed.

    Built in chapter 6.

    >>> y = torch.tensor([[5, 6, 2], [7, 2, 0]])  # 2 is EOS, 0 the pad
    >>> inputs, targets = shift_right(y, bos=1)
    >>> inputs.tolist(), targets.tolist()
    ([[1, 5, 6], [1, 7, 2]], [[5, 6, 2], [7, 2, 0]])
    """
    first = torch.full_like(y[:, :1], bos)  # (B, 1)
    return torch.cat([first, y[:, :-1]], dim=1), y  # eq-shift-right


def encode(x: Tensor, lengths: Tensor, f: GRUParams, b: GRUParams) -> tuple[Tensor, Tensor]:
    r"""Read each row with two GRUs, from both ends: a state for each step, and one for the row.

    Row by row, with n the number of real steps in the row:

    $$ h_s = \overrightarrow h_s \oplus \overleftarrow h_s, \quad
       \overrightarrow h_s = \mathrm{gru\_step}_f(x_s, \overrightarrow h_{s-1}), \quad
       \overleftarrow h_s = \mathrm{gru\_step}_b(x_s, \overleftarrow h_{s+1}), \quad
       \overrightarrow h_0 = \overleftarrow h_{n+1} = 0 $$ (eq-encoder)
    $$ c = \overrightarrow h_n \oplus \overleftarrow h_1 $$ (eq-context-vector)

    With chapter 4's gru_step, its reset before the matrix (the default); without torch's GRU.

    Args:
        x: (B, S, E) the embedded source, padded on the right with finite numbers.
        lengths: (B,) int64, how many steps of each row are real: 1 to S, in any order; perhaps
            none is S.
        f: the parameters of the GRU that reads forward, of width H_f.
        b: the parameters of the one that reads backward, of width H_b.

    Returns:
        states: (B, S, H_f + H_b) the states at every step, forward first; zeros at the pads.
        c: (B, H_f + H_b) the context: what each reader knows when it has read the whole row,
            forward first. Both of the dtype of x. Gradients reach x and the parameters; nothing
            is changed.

    Built in chapter 6.

    >>> b = torch.tensor([9.0, 0.0, 0.0])  # u is open: nothing is kept; the candidate is tanh x
    >>> W_x = torch.tensor([[0.0], [0.0], [1.0]])
    >>> now = GRUParams(W_x, torch.zeros(3, 1), b, torch.zeros(1))
    >>> x = torch.tensor([[[0.1], [0.2], [99.0]]])
    >>> states, c = encode(x, torch.tensor([2]), now, now)  # the 99 is a pad
    >>> [[round(h, 2) for h in state] for state in states[0].tolist()]
    [[0.1, 0.1], [0.2, 0.2], [0.0, 0.0]]
    >>> [round(h, 2) for h in c[0].tolist()]  # forward at the last word, backward at the first
    [0.2, 0.1]
    """
    B, S, _ = x.shape
    real = torch.arange(S) < lengths[:, None]  # (B, S)
    h_f, h_b = x.new_zeros(B, len(f.b_h)), x.new_zeros(B, len(b.b_h))
    forward, backward = [], []
    for s in range(S):  # eq-encoder, in both directions: at a pad the state stays as it is
        h_f = torch.where(real[:, s, None], gru_step(x[:, s], h_f, f), h_f)
        h_b = torch.where(real[:, -1 - s, None], gru_step(x[:, -1 - s], h_b, b), h_b)
        forward.append(h_f)
        backward.insert(0, h_b)
    states = torch.cat([torch.stack(forward, 1), torch.stack(backward, 1)], dim=2)
    states = states * real[..., None]  # (B, S, H_f + H_b)
    return states, torch.cat([h_f, h_b], dim=1)  # eq-context-vector


def decode(y_in: Tensor, h0: Tensor, c: Tensor, params: DecoderParams) -> tuple[Tensor, Tensor]:
    r"""Scores for the next token at every step, while the decoder reads the tokens it is given.

    $$ h_t = \mathrm{gru\_step}(W_e[y_{t-1}] \oplus c,\; h_{t-1}) $$ (eq-decoder-state)
    $$ o_t = W_{hy} h_t + b_y $$ (eq-decoder-output)

    With chapter 4's gru_step, its reset before the matrix (the default); without torch's GRU.

    Args:
        y_in: (B, T) int64, the tokens to read: y_0 = BOS, y_1, …, y_{T-1}; those of step t
            stand in column t - 1.
        h0: (B, H) the state before the first step.
        c: (B, C) the context: it is read anew at every step.
        params: W_e (V, E) the embedding, gru the GRU's parameters (W_x has E + C columns: first
            those of the embedding), W_hy (V, H), b_y (V,).

    Returns:
        logits: (B, T, V) the scores o.
        h: (B, H) the state after the last step, to go on from. Both of the dtype of h0.
            Gradients reach h0, c and the parameters; nothing is changed.

    Built in chapter 6.

    >>> gru = GRUParams(torch.zeros(3, 3), torch.zeros(3, 1), torch.zeros(3), torch.zeros(1))
    >>> params = DecoderParams(torch.eye(2), gru, torch.ones(2, 1), torch.tensor([0.0, 5.0]))
    >>> logits, h = decode(torch.tensor([[1, 0]]), torch.ones(1, 1), torch.ones(1, 1), params)
    >>> logits.tolist(), h.tolist()  # u = 1/2, the candidate is 0: each step halves the state
    ([[[0.5, 5.5], [0.25, 5.25]]], [[0.25]])
    """
    e, h, logits = params.W_e[y_in], h0, []  # e: (B, T, E)
    for t in range(y_in.shape[1]):
        h = gru_step(torch.cat([e[:, t], c], dim=1), h, params.gru)  # eq-decoder-state
        logits.append(h @ params.W_hy.T + params.b_y)  # eq-decoder-output
    return torch.stack(logits, dim=1), h


def decoder_step(y: Tensor, h: Tensor, c: Tensor, params: DecoderParams) -> tuple[Tensor, Tensor]:
    """One step of the decoder: tokens (B,) and states (B, H) -> scores (B, V) and the new states."""
    logits, h = decode(y[:, None], h, c, params)
    return logits[:, 0], h


def greedy(step, h0: Tensor, c: Tensor, bos: int, eos: int, pad: int, max_len: int) -> Tensor:
    r"""Let a decoder write on its own: at every step it says the best token, and reads it next.

    $$ \hat y_0 = \text{BOS}, \qquad o_t, h_t = \mathrm{step}(\hat y_{t-1}, h_{t-1}, c), \qquad
       \hat y_t = \operatorname{argmax}_v\, o_t[v] $$ (eq-greedy)

    Each row ends with its first EOS, whatever the others do; all that follows it is pad.

    Args:
        step: one step of any decoder: step(y, h, c), with y (B,) int64 the tokens said last,
            returns scores (B, V) and the new states. It treats each row on its own. What it is
            given for rows that have ended does not matter.
        h0: (B, H) the states before the first step.
        c: (B, C) the contexts, the same at every step.
        bos, eos, pad: the ids of the three special tokens, all different and below V. The
            decoder never finds the pad the best.
        max_len: the most tokens that a row may have, EOS included; at least 1.

    Returns:
        (B, L) int64: the tokens of each row without BOS, with EOS if it has come, then pads. L
        is the length of the longest row: at most max_len, less if all rows have ended before.
        Nothing is changed.

    Built in chapter 6.

    >>> def count_up(y, h, c):  # says the next number, up to the row's c; then EOS, which is 0
    ...     said = torch.where(y < c[:, 0], y + 1, 0)
    ...     return torch.nn.functional.one_hot(said, 10), h
    >>> c = torch.tensor([[5], [3]])
    >>> greedy(count_up, torch.zeros(2, 1), c, bos=2, eos=0, pad=9, max_len=7).tolist()
    [[3, 4, 5, 0], [3, 0, 9, 9]]
    """
    y, h = torch.full((len(c),), bos), h0
    ended, out = torch.zeros(len(c), dtype=torch.bool), []
    while len(out) < max_len and not ended.all():
        logits, h = step(y, h, c)
        y = logits.argmax(dim=1).masked_fill(ended, pad)  # eq-greedy
        ended = ended | (y == eos)
        out.append(y)
    return torch.stack(out, dim=1)  # (B, L)


def scheduled_inputs(y_in: Tensor, y_hat: Tensor, p: float, u: Tensor) -> Tensor:
    r"""Mix what the decoder ought to have said with what it said, for scheduled sampling.

    $$ \text{input}_1 = \text{BOS}, \qquad
       \text{input}_t = \begin{cases} \hat y_{t-1} & \text{if } u_t < p \\
       y_{t-1} & \text{otherwise} \end{cases} \qquad t = 2, \dots, T $$ (eq-scheduled)

    Args:
        y_in: (B, T) int64, the true inputs BOS, y_1, …, y_{T-1}; those of step t: column t - 1.
        y_hat: (B, T) int64, what the decoder says at each step: its guess at y_t in column
            t - 1. So the token that may replace an input stands one column to the left of it.
        p: the probability, 0 to 1, that an input is the decoder's own token.
        u: (B, T) random numbers, at least 0 and below 1, one for each input: that of step t in
            column t - 1. Those of the first column are not used.

    Returns:
        (B, T) int64 the inputs. Nothing is changed.

    Built in chapter 6.

    >>> y_in, y_hat = torch.tensor([[1, 5, 6, 7]]), torch.tensor([[50, 60, 70, 2]])
    >>> scheduled_inputs(y_in, y_hat, 0.5, torch.tensor([[0.0, 0.2, 0.9, 0.4]])).tolist()
    [[1, 50, 6, 70]]
    """
    mixed = torch.where(u[:, 1:] < p, y_hat[:, :-1], y_in[:, 1:])  # (B, T-1), eq-scheduled
    return torch.cat([y_in[:, :1], mixed], dim=1)
