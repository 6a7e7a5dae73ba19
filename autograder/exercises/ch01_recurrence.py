"""The exercises of chapter 1 and the mistakes that the judge knows by name."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F

from autograder.exercise import Exercise
from autograder.probes import ch01_recurrence as probes
from unrolled import convolution, losses, recurrent, text
from unrolled.losses import softmax
from unrolled.recurrent import RNNParams, rnn_step

SETUP_NAMES = frozenset({"RNNParams"})


# ---- 1.1 pad_batch ----

PAD_BATCH = Exercise(
    number="1.1",
    references=(text.pad_batch,),
    probe_module=probes,
    points=2,
    minutes=10,
    difficulty=1,
    not_applicable={
        "cuts long sequences at a fixed length": "there is no longest allowed length among the arguments.",
        "sorts the rows by length": "the task names row b after sequence b; a sorted batch is simply wrong there.",
    },
)


@PAD_BATCH.misconception(
    "The mask is inverted",
    fails=("pad_batch_mask", "pad_batch_pad_as_token", "pad_batch_one_sequence", "pad_batch_untouched"),
    hints=(
        "ids and lengths are right, but your mask is True at the pads and False at the tokens.",
        "A mask can mean 'look here' or 'hide this'. In this course it always means 'look here': True is a real token.",
        "Read what the task says about the mask, and the section on one rectangle for many lengths.",
    ),
)
def pad_batch__mask_inverted(seqs, pad):
    lengths = torch.tensor([len(seq) for seq in seqs])
    T = int(lengths.max())
    ids = torch.tensor([list(seq) + [pad] * (T - len(seq)) for seq in seqs])
    return ids, lengths, torch.arange(T) >= lengths[:, None]


@PAD_BATCH.misconception(
    "The mask is inverted, and read off the ids",
    fails=("pad_batch_mask", "pad_batch_pad_as_token", "pad_batch_one_sequence", "pad_batch_untouched"),
    hints=(
        "Your mask is True at the pads and False at the tokens, except for a real token with the id of the pad.",
        "Two things: in this course True always means a real token; and from the padded ids nobody can tell such a "
        "token "
        "from a pad. The lengths can.",
        "Read what the task says about the mask, to its last sentence.",
    ),
)
def pad_batch__mask_inverted_from_ids(seqs, pad):
    lengths = torch.tensor([len(seq) for seq in seqs])
    T = int(lengths.max())
    ids = torch.tensor([list(seq) + [pad] * (T - len(seq)) for seq in seqs])
    return ids, lengths, ids == pad


@PAD_BATCH.misconception(
    "The pads stand on the left",
    fails=("pad_batch_ids", "pad_batch_mask", "pad_batch_pad_as_token", "pad_batch_untouched"),
    hints=(
        "Your rows end with the last token; the pads come before the first one.",
        "Each row is filled up at the wrong end. With pads on the left a network would read them before the sentence.",
        "Read what the task says about row b: the sequence from the left, then the pads.",
    ),
)
def pad_batch__pads_left(seqs, pad):
    lengths = torch.tensor([len(seq) for seq in seqs])
    T = int(lengths.max())
    ids = torch.tensor([[pad] * (T - len(seq)) + list(seq) for seq in seqs])
    return ids, lengths, torch.arange(T) >= T - lengths[:, None]


@PAD_BATCH.misconception(
    "The pads stand on the left, while the mask expects them on the right",
    fails=("pad_batch_ids", "pad_batch_untouched"),
    hints=(
        "Your mask is right, but it does not fit your ids: where it says True there are pads.",
        "The row is filled up at the left end, and the mask is made as if it had been filled up at the right end.",
        "Read what the task says about row b: the sequence from the left, then the pads.",
    ),
)
def pad_batch__pads_left_mask_right(seqs, pad):
    lengths = torch.tensor([len(seq) for seq in seqs])
    T = int(lengths.max())
    ids = torch.tensor([[pad] * (T - len(seq)) + list(seq) for seq in seqs])
    return ids, lengths, torch.arange(T) < lengths[:, None]


@PAD_BATCH.misconception(
    "All sequences are cut to the shortest one",
    fails=("pad_batch_ids", "pad_batch_mask", "pad_batch_pad_as_token", "pad_batch_untouched"),
    hints=(
        "Your rectangle is only as wide as the shortest sequence; tokens are lost.",
        "The width is taken from the wrong end of the lengths. Padding adds, it never takes away.",
        "Read what the task says about T: the longest length.",
    ),
)
def pad_batch__cut_to_the_shortest(seqs, pad):
    lengths = torch.tensor([len(seq) for seq in seqs])
    T = int(lengths.min())
    ids = torch.tensor([list(seq)[:T] for seq in seqs])
    return ids, lengths, torch.arange(T) < lengths[:, None]


@PAD_BATCH.misconception(
    "All sequences are cut to the shortest one, and the lengths with them",
    fails=("pad_batch_ids", "pad_batch_lengths", "pad_batch_mask", "pad_batch_pad_as_token", "pad_batch_untouched"),
    hints=(
        "Your rectangle is only as wide as the shortest sequence, and your lengths hide that tokens are lost.",
        "The width is taken from the wrong end of the lengths. Padding adds, it never takes away.",
        "Read what the task says about T: the longest length.",
    ),
)
def pad_batch__lengths_cut_too(seqs, pad):
    T = min(len(seq) for seq in seqs)
    ids = torch.tensor([list(seq)[:T] for seq in seqs])
    return ids, torch.full((len(seqs),), T), torch.ones(ids.shape, dtype=torch.bool)


@PAD_BATCH.misconception(
    "The lengths count the pads",
    fails=("pad_batch_lengths", "pad_batch_pad_as_token", "pad_batch_untouched"),
    hints=(
        "All your lengths are the same: the width of the rectangle.",
        "The lengths are measured after the rows have been filled up. Measure them before.",
        "Read what the task says about lengths: real tokens only.",
    ),
)
def pad_batch__lengths_count_pads(seqs, pad):
    T = max(len(seq) for seq in seqs)
    rows = [list(seq) + [pad] * (T - len(seq)) for seq in seqs]
    mask = torch.tensor([[t < len(seq) for t in range(T)] for seq in seqs])
    return torch.tensor(rows), torch.tensor([len(row) for row in rows]), mask


@PAD_BATCH.misconception(
    "The lengths count the pads, and so the mask calls every position real",
    fails=("pad_batch_lengths", "pad_batch_mask", "pad_batch_pad_as_token", "pad_batch_untouched"),
    hints=(
        "All your lengths are the width of the rectangle, and your mask is True everywhere.",
        "The lengths are measured after the rows have been filled up, and the mask is made from these lengths.",
        "Read what the task says about lengths and mask: both speak of real tokens only.",
    ),
)
def pad_batch__pads_called_real(seqs, pad):
    T = max(len(seq) for seq in seqs)
    ids = torch.tensor([list(seq) + [pad] * (T - len(seq)) for seq in seqs])
    lengths = torch.tensor([T] * len(seqs))
    return ids, lengths, torch.arange(T) < lengths[:, None]


@PAD_BATCH.misconception(
    "The mask is read off the ids",
    fails=("pad_batch_pad_as_token",),
    hints=(
        "All is right until a sentence holds a real token with the id of the pad: there your mask says False.",
        "From the padded ids nobody can tell such a token from a pad. The lengths can.",
        "Read the last sentence of what the task says about the mask.",
    ),
)
def pad_batch__mask_from_ids(seqs, pad):
    lengths = torch.tensor([len(seq) for seq in seqs])
    T = int(lengths.max())
    ids = torch.tensor([list(seq) + [pad] * (T - len(seq)) for seq in seqs])
    return ids, lengths, ids != pad


@PAD_BATCH.misconception(
    "Mask and lengths are both read off the ids",
    fails=("pad_batch_pad_as_token",),
    hints=(
        "A real token with the id of the pad is lost from your mask, and it is missing in your lengths too.",
        "From the padded ids nobody can tell such a token from a pad. Measure the sequences before they are padded.",
        "Read the last sentence of what the task says about the mask.",
    ),
)
def pad_batch__all_from_ids(seqs, pad):
    T = max(len(seq) for seq in seqs)
    ids = torch.tensor([list(seq) + [pad] * (T - len(seq)) for seq in seqs])
    mask = ids != pad
    return ids, mask.sum(dim=1), mask


@PAD_BATCH.misconception(
    "The lengths are floating-point numbers",
    fails=("pad_batch_lengths", "pad_batch_pad_as_token", "pad_batch_one_sequence", "pad_batch_untouched"),
    hints=(
        "Your lengths have the right values but the wrong type: 5.0 where 5 is asked for.",
        "A tensor made without a type, or from a float, holds floats. Lengths count, and they will be used as indices.",
        "Read what the task says about the type of lengths.",
    ),
)
def pad_batch__float_lengths(seqs, pad):
    lengths = torch.tensor([float(len(seq)) for seq in seqs])
    T = int(lengths.max())
    ids = torch.tensor([list(seq) + [pad] * (T - len(seq)) for seq in seqs])
    return ids, lengths, torch.arange(T) < lengths[:, None]


@PAD_BATCH.misconception(
    "The ids are floating-point numbers",
    fails=("pad_batch_ids", "pad_batch_one_sequence", "pad_batch_untouched"),
    hints=(
        "Your ids have the right values but the wrong type: 7.0 where 7 is asked for.",
        "torch.zeros, torch.ones and torch.full with a float make floats unless they are told a type. An id is an "
        "index.",
        "Read what the task says about the type of ids.",
    ),
)
def pad_batch__float_ids(seqs, pad):
    lengths = torch.tensor([len(seq) for seq in seqs])
    T = int(lengths.max())
    ids = torch.zeros(len(seqs), T) + pad
    for b, seq in enumerate(seqs):
        ids[b, : len(seq)] = torch.tensor(seq)
    return ids, lengths, torch.arange(T) < lengths[:, None]


@PAD_BATCH.misconception(
    "The mask holds 0 and 1 instead of False and True",
    fails=("pad_batch_mask", "pad_batch_pad_as_token", "pad_batch_one_sequence", "pad_batch_untouched"),
    hints=(
        "Your mask has the right pattern but the wrong type: integers instead of truth values.",
        "An integer mask picks rows 0 and 1 when it is used as an index; only a boolean mask selects positions.",
        "Read what the task says about the type of the mask.",
    ),
)
def pad_batch__integer_mask(seqs, pad):
    lengths = torch.tensor([len(seq) for seq in seqs])
    T = int(lengths.max())
    ids = torch.tensor([list(seq) + [pad] * (T - len(seq)) for seq in seqs])
    return ids, lengths, (torch.arange(T) < lengths[:, None]).long()


@PAD_BATCH.misconception(
    "The rectangle is as wide as all sequences together",
    fails=("pad_batch_ids", "pad_batch_mask", "pad_batch_pad_as_token", "pad_batch_untouched"),
    hints=(
        "Your rectangle is far too wide: every row ends in pads, the longest one too.",
        "The width is the sum of the lengths instead of the largest one.",
        "Read what the task says about T: the longest length.",
    ),
)
def pad_batch__width_is_the_total(seqs, pad):
    lengths = torch.tensor([len(seq) for seq in seqs])
    T = int(lengths.sum())
    ids = torch.tensor([list(seq) + [pad] * (T - len(seq)) for seq in seqs])
    return ids, lengths, torch.arange(T) < lengths[:, None]


@PAD_BATCH.misconception(
    "The rows are filled with 0, not with pad",
    fails=("pad_batch_ids",),
    hints=(
        "With pad = 0 all is right; with another pad your rows still end in zeros.",
        "The argument pad is not used: the rectangle was made of zeros and only the tokens were written into it.",
        "Read what the task says about pad: the id that fills the rest of a row.",
    ),
)
def pad_batch__filled_with_zero(seqs, pad):
    lengths = torch.tensor([len(seq) for seq in seqs])
    T = int(lengths.max())
    ids = torch.tensor([list(seq) + [0] * (T - len(seq)) for seq in seqs])
    return ids, lengths, torch.arange(T) < lengths[:, None]


@PAD_BATCH.misconception(
    "The caller's lists are padded too",
    fails=("pad_batch_untouched",),
    hints=(
        "Your result is right, but after the call the lists that were passed in have grown.",
        "append, extend and += change the list itself, and it belongs to the caller. Build new lists.",
        "Read what the task says about seqs: they are not changed.",
    ),
)
def pad_batch__extends_the_lists(seqs, pad):
    lengths = torch.tensor([len(seq) for seq in seqs])
    T = int(lengths.max())
    for seq in seqs:
        seq += [pad] * (T - len(seq))
    return torch.tensor(seqs), lengths, torch.arange(T) < lengths[:, None]


@PAD_BATCH.misconception(
    "The mask is one position too long",
    fails=("pad_batch_mask", "pad_batch_pad_as_token", "pad_batch_untouched"),
    hints=(
        "In every row that has pads, your mask calls the first of them real.",
        "Positions count from 0. The last real token of a row of n tokens stands at n - 1, so n itself is outside.",
        "Read the example of the task: a row with one token has one True.",
    ),
)
def pad_batch__mask_one_too_long(seqs, pad):
    lengths = torch.tensor([len(seq) for seq in seqs])
    T = int(lengths.max())
    ids = torch.tensor([list(seq) + [pad] * (T - len(seq)) for seq in seqs])
    return ids, lengths, torch.arange(T) <= lengths[:, None]


@PAD_BATCH.misconception(
    "Time comes first: ids and mask are (T, B)",
    fails=PAD_BATCH.all_but("lengths"),
    hints=(
        "Your ids and your mask are those asked for, with rows and columns exchanged.",
        "torch's own padding puts time first unless it is told otherwise; in this course the batch comes first.",
        "Read what the task says about the shapes: (B, T).",
    ),
)
def pad_batch__time_first(seqs, pad):
    lengths = torch.tensor([len(seq) for seq in seqs])
    T = int(lengths.max())
    ids = torch.tensor([list(seq) + [pad] * (T - len(seq)) for seq in seqs])
    return ids.T, lengths, torch.arange(T)[:, None] < lengths


# ---- 1.2 causal_conv1d ----

CAUSAL_CONV1D = Exercise(
    number="1.2",
    references=(convolution.causal_conv1d,),
    probe_module=probes,
    points=2,
    minutes=15,
    difficulty=2,
    not_applicable={
        "another filter at every step": "there is one W for all steps; a filter per step would need a time axis in W.",
        "dilation or stride forgotten": "the function has neither.",
    },
    equivalent={"past = F.pad(x, (0, 0, k - 1, 1))": "a row of zeros after the last step, which no output reads."},
)


@CAUSAL_CONV1D.misconception(
    "The padding is centred, so an output sees the future",
    fails=CAUSAL_CONV1D.all_but("width_one"),
    hints=(
        "When the inputs from some step on were changed, your outputs before that step changed too.",
        "The zeros are split between both ends, so the filter looks as far ahead as it looks back. That is the usual "
        "choice for images; here the present must be the last thing that an output sees.",
        "Read the equation of the causal convolution: no index on the right is larger than t.",
    ),
)
def causal_conv1d__centred_padding(x, W, b):
    T, k = x.shape[1], W.shape[0]
    padded = F.pad(x, (0, 0, (k - 1) // 2, k // 2))
    return b + sum(padded[:, j : j + T] @ W[j] for j in range(k))


@CAUSAL_CONV1D.misconception(
    "The filter is flipped in time",
    fails=CAUSAL_CONV1D.all_but("width_one"),
    hints=(
        "Your outputs see the right inputs, but the newest one meets the slice that belongs to the oldest.",
        "The filter runs backwards. As it is stored, its last slice belongs to the present.",
        "Read the equation of the causal convolution at j = 0: which slice of W meets x at t?",
    ),
)
def causal_conv1d__filter_flipped(x, W, b):
    T, k = x.shape[1], W.shape[0]
    past = F.pad(x, (0, 0, k - 1, 0))
    return b + sum(past[:, j : j + T] @ W[k - 1 - j] for j in range(k))


@CAUSAL_CONV1D.misconception(
    "The bias runs along time instead of along the channels",
    fails=CAUSAL_CONV1D.all_but(),
    hints=(
        "Unless there are as many steps as output channels, adding your bias fails; where it works, step t gets the "
        "t-th bias.",
        "The bias was given a second axis, and then it meets the time axis. It has one number per output channel, and "
        "the channels are the last axis of y already.",
        "Read the equation of the causal convolution: b has no index t.",
    ),
)
def causal_conv1d__bias_per_time(x, W, b):
    T, k = x.shape[1], W.shape[0]
    past = F.pad(x, (0, 0, k - 1, 0))
    return sum(past[:, j : j + T] @ W[j] for j in range(k)) + b[:, None]


@CAUSAL_CONV1D.misconception(
    "The input channels are summed before the filter sees them",
    fails=CAUSAL_CONV1D.all_but(),
    hints=(
        "Your outputs have the right shape, but exchanging two input channels does not change them.",
        "The sum over channels must run over products: each input channel has its own weights. Summed first, all "
        "channels share one weight.",
        "Read the equation of the causal convolution: x at one step is a vector, a slice of W a matrix.",
    ),
)
def causal_conv1d__input_channels_summed(x, W, b):
    T, k = x.shape[1], W.shape[0]
    past = F.pad(x, (0, 0, k - 1, 0)).sum(dim=-1, keepdim=True)
    return b + sum(past[:, j : j + T] * W[j].sum(dim=0) for j in range(k))


@CAUSAL_CONV1D.misconception(
    "The output channels are summed away",
    fails=CAUSAL_CONV1D.all_but(),
    hints=(
        "Your output has no channel axis left: (B, T) where (B, T, H) is asked for.",
        "One sum too many: over time offsets and input channels it is right, the H output channels stay apart.",
        "Read what the task says about the shape of y.",
    ),
)
def causal_conv1d__output_channels_summed(x, W, b):
    T, k = x.shape[1], W.shape[0]
    past = F.pad(x, (0, 0, k - 1, 0))
    return (b + sum(past[:, j : j + T] @ W[j] for j in range(k))).sum(dim=-1)


@CAUSAL_CONV1D.misconception(
    "Without padding the output is k - 1 steps short",
    fails=CAUSAL_CONV1D.all_but("width_one"),
    hints=(
        "Your output has fewer steps than x: those of the last steps. A sequence shorter than the filter fails.",
        "Only places where the whole filter fits are computed. The first steps exist too: before the beginning there "
        "are zeros.",
        "Read the equation of the causal convolution: what is x at a step before the first one?",
    ),
)
def causal_conv1d__no_padding(x, W, b):
    return F.conv1d(x.transpose(1, 2), W.permute(2, 1, 0), b).transpose(1, 2)


@CAUSAL_CONV1D.misconception(
    "The zeros are appended at the end, so outputs see only the present and the future",
    fails=CAUSAL_CONV1D.all_but("width_one"),
    hints=(
        "Your first output holds the first k inputs, and the past has no effect on later outputs.",
        "Padding at the end shifts every window to the right. The zeros belong before the first step.",
        "Read the equation of the causal convolution: no index on the right is larger than t.",
    ),
)
def causal_conv1d__padded_at_the_end(x, W, b):
    T, k = x.shape[1], W.shape[0]
    padded = F.pad(x, (0, 0, 0, k - 1))
    return b + sum(padded[:, j : j + T] @ W[j] for j in range(k))


@CAUSAL_CONV1D.misconception(
    "The output at t does not see the input at t",
    fails=CAUSAL_CONV1D.all_but(),
    hints=(
        "Your outputs are the right ones, one step late; the first is the bare bias.",
        "There is one zero too many in front, so each window ends at the step before.",
        "Read the equation of the causal convolution at j = 0: the present input is in the sum.",
    ),
)
def causal_conv1d__one_step_late(x, W, b):
    T, k = x.shape[1], W.shape[0]
    past = F.pad(x, (0, 0, k, 0))
    return b + sum(past[:, j : j + T] @ W[j] for j in range(k))


@CAUSAL_CONV1D.misconception(
    "The padding is not cut off: T + k - 1 steps come out",
    fails=CAUSAL_CONV1D.all_but("width_one"),
    hints=(
        "Your output has k - 1 steps too many; the first T are right.",
        "torch's padding argument puts zeros at both ends. The outputs that it adds at the end belong to no input.",
        "Read what the task says about y: as many steps as x.",
    ),
)
def causal_conv1d__not_cut_off(x, W, b):
    T, k = x.shape[1], W.shape[0]
    padded = F.pad(x, (0, 0, k - 1, k - 1))
    return b + sum(padded[:, j : j + T + k - 1] @ W[j] for j in range(k))


@CAUSAL_CONV1D.misconception(
    "The bias is left out",
    fails=CAUSAL_CONV1D.all_but("filter_alone", "future"),
    hints=(
        "With b = 0 your output is right; with any other bias it is off by the same vector at every step.",
        "The argument b is not used.",
        "Read the equation of the causal convolution: the first term on the right.",
    ),
)
def causal_conv1d__bias_dropped(x, W, b):
    T, k = x.shape[1], W.shape[0]
    past = F.pad(x, (0, 0, k - 1, 0))
    return sum(past[:, j : j + T] @ W[j] for j in range(k))


@CAUSAL_CONV1D.misconception(
    "The bias is added once for every slice of the filter",
    fails=("causal_conv1d_values", "causal_conv1d_short", "causal_conv1d_gradients", "causal_conv1d_untouched"),
    hints=(
        "With b = 0 or a filter of width 1 your output is right; otherwise the bias is in it k times.",
        "The bias stands inside the sum over the filter. It belongs outside.",
        "Read the equation of the causal convolution: where does the sum begin?",
    ),
)
def causal_conv1d__bias_per_slice(x, W, b):
    T, k = x.shape[1], W.shape[0]
    past = F.pad(x, (0, 0, k - 1, 0))
    return sum(past[:, j : j + T] @ W[j] + b for j in range(k))


@CAUSAL_CONV1D.misconception(
    "The sequence is closed to a ring: the first steps see the last inputs",
    fails=CAUSAL_CONV1D.all_but("width_one"),
    hints=(
        "When the last inputs were changed, your first outputs changed too; from step k on you are right.",
        "torch.roll and negative indices bring the end of the sequence back in at the beginning. There is nothing "
        "before "
        "the first step but zeros.",
        "Read the equation of the causal convolution: what is x at a step before the first one?",
    ),
)
def causal_conv1d__wraps_around(x, W, b):
    k = W.shape[0]
    return b + sum(torch.roll(x, k - 1 - j, dims=1) @ W[j] for j in range(k))


@CAUSAL_CONV1D.misconception(
    "The first input is repeated into the past",
    fails=CAUSAL_CONV1D.all_but("width_one"),
    hints=(
        "From step k on your outputs are right; the first ones act as if the first input had been there for ever.",
        "The padding copies the edge instead of being zero.",
        "Read the equation of the causal convolution: what is x at a step before the first one?",
    ),
)
def causal_conv1d__first_input_repeated(x, W, b):
    T, k = x.shape[1], W.shape[0]
    past = torch.cat([x[:, :1]] * (k - 1) + [x], dim=1)
    return b + sum(past[:, j : j + T] @ W[j] for j in range(k))


@CAUSAL_CONV1D.misconception(
    "Each slice of the filter is transposed",
    fails=CAUSAL_CONV1D.all_but(),
    hints=(
        "Unless there are as many input as output channels, your product fails; where it works, its values are wrong.",
        "A slice W[j] has the input channels first and the output channels second, and x stands on its left.",
        "Read what the task says about the shape of W, and the equation: x times W, in this order.",
    ),
)
def causal_conv1d__slices_transposed(x, W, b):
    T, k = x.shape[1], W.shape[0]
    past = F.pad(x, (0, 0, k - 1, 0))
    return b + sum(past[:, j : j + T] @ W[j].T for j in range(k))


@CAUSAL_CONV1D.misconception(
    "Only the last slice of the filter counts",
    fails=CAUSAL_CONV1D.all_but("width_one", "short"),
    hints=(
        "Your output at t depends on the input at t alone, for a filter of any width.",
        "In the loop over the filter each round overwrites the result of the round before, instead of adding to it.",
        "Read the equation of the causal convolution: it is a sum of k products.",
    ),
)
def causal_conv1d__last_slice_only(x, W, b):
    return b + x @ W[-1]


# ---- 1.3 rnn_step ----

_WHOLE_CELL = "This exercise is to write the step yourself: multiply, add, apply phi."

RNN_STEP = Exercise(
    number="1.3",
    references=(recurrent.rnn_step,),
    probe_module=probes,
    points=2,
    minutes=10,
    difficulty=2,
    forbidden={"RNNCell": _WHOLE_CELL, "RNN": _WHOLE_CELL, "rnn_tanh_cell": _WHOLE_CELL, "rnn_relu_cell": _WHOLE_CELL},
    not_applicable={
        "x and h joined in the wrong order": "params holds two matrices, not one for [x, h], so there is no order.",
        "two biases": "params has one.",
    },
)


@RNN_STEP.misconception(
    "W_xh and W_hh are swapped",
    fails=RNN_STEP.all_but(),
    hints=(
        "Unless input and state have the same width, your product fails; where they have, the values are wrong.",
        "The matrices are named after source and target: xh leads from the input to the state, hh from state to state. "
        "The lecture decks call them U and W, and not all in the same order.",
        "Read the equation of one step, and the table of letters before exercise 1.3.",
    ),
)
def rnn_step__swapped_weights(x, h, params):
    return params.phi(h @ params.W_xh.T + x @ params.W_hh.T + params.b)


@RNN_STEP.misconception(
    "The nonlinearity is missing",
    fails=RNN_STEP.all_but(),
    hints=(
        "Some of your states lie outside -1 and 1, where tanh never goes.",
        "You return the sum itself. Without a nonlinearity all steps together are one linear map.",
        "Read the equation of one step: what stands around the sum?",
    ),
)
def rnn_step__no_nonlinearity(x, h, params):
    return x @ params.W_xh.T + h @ params.W_hh.T + params.b


@RNN_STEP.misconception(
    "The nonlinearity sees the state only; input and bias are added after it",
    fails=("rnn_step_values", "rnn_step_input_alone", "rnn_step_other_phi", "rnn_step_gradients", "rnn_step_untouched"),
    hints=(
        "With a zero input and no bias you are right; the input makes your states leave the range of tanh.",
        "A bracket closes too early. Input, state and bias are added first, then the nonlinearity is applied once.",
        "Read the equation of one step: how far does the bracket reach?",
    ),
)
def rnn_step__phi_on_state_only(x, h, params):
    return params.phi(h @ params.W_hh.T) + x @ params.W_xh.T + params.b


@RNN_STEP.misconception(
    "tanh, whatever params.phi says, sees the state only; input and bias are added after it",
    fails=("rnn_step_values", "rnn_step_input_alone", "rnn_step_other_phi", "rnn_step_gradients", "rnn_step_untouched"),
    hints=(
        "With tanh, a zero input and no bias you are right; the input makes your states leave the range of tanh.",
        "Two things: a bracket closes too early, for input, state and bias are added first; and the nonlinearity is to "
        "be taken from params.",
        "Read the equation of one step: how far does the bracket reach, and what stands before it?",
    ),
)
def rnn_step__tanh_on_state_only(x, h, params):
    return torch.tanh(h @ params.W_hh.T) + x @ params.W_xh.T + params.b


@RNN_STEP.misconception(
    "The input is added after the nonlinearity",
    fails=("rnn_step_values", "rnn_step_input_alone", "rnn_step_other_phi", "rnn_step_gradients", "rnn_step_untouched"),
    hints=(
        "With a zero input you are right; the input makes your states leave the range of tanh.",
        "The nonlinearity is applied to state and bias before the input has been added.",
        "Read the equation of one step: how far does the bracket reach?",
    ),
)
def rnn_step__input_added_after_phi(x, h, params):
    return params.phi(h @ params.W_hh.T + params.b) + x @ params.W_xh.T


@RNN_STEP.misconception(
    "The bias is added after the nonlinearity",
    fails=("rnn_step_values", "rnn_step_other_phi", "rnn_step_gradients", "rnn_step_untouched"),
    hints=(
        "With b = 0 you are right; otherwise every row is off by the same vector.",
        "The bias shifts the point at which a unit switches, so it belongs inside the nonlinearity.",
        "Read the equation of one step: how far does the bracket reach?",
    ),
)
def rnn_step__bias_after_phi(x, h, params):
    return params.phi(x @ params.W_xh.T + h @ params.W_hh.T) + params.b


@RNN_STEP.misconception(
    "The bias is left out",
    fails=("rnn_step_values", "rnn_step_other_phi", "rnn_step_gradients", "rnn_step_untouched"),
    hints=(
        "With b = 0 you are right, with any other bias you are not.",
        "The bias of params is not used.",
        "Read the equation of one step: the sum has three terms.",
    ),
)
def rnn_step__bias_dropped(x, h, params):
    return params.phi(x @ params.W_xh.T + h @ params.W_hh.T)


@RNN_STEP.misconception(
    "The bias is left out, and tanh is used whatever params.phi says",
    fails=("rnn_step_values", "rnn_step_other_phi", "rnn_step_gradients", "rnn_step_untouched"),
    hints=(
        "With b = 0 and tanh you are right; with another bias or another nonlinearity you are not.",
        "Two things: neither the bias nor the nonlinearity of params is used.",
        "Read the equation of one step: the sum has three terms, and what stands around it is a part of params.",
    ),
)
def rnn_step__bias_dropped_always_tanh(x, h, params):
    return torch.tanh(x @ params.W_xh.T + h @ params.W_hh.T)


@RNN_STEP.misconception(
    "W_hh is transposed",
    fails=("rnn_step_values", "rnn_step_state_alone", "rnn_step_other_phi", "rnn_step_gradients", "rnn_step_untouched"),
    hints=(
        "From a zero state you are right; with an old state the values are wrong, although all shapes fit.",
        "In W_hh the rows belong to the new state. The states stand in rows on the left of the product, so the matrix "
        "has to be turned. As it is square, forgetting this raises no error.",
        "Read the equation of one step, which is written for column vectors, and the shapes that the task gives.",
    ),
)
def rnn_step__W_hh_transposed(x, h, params):
    return params.phi(x @ params.W_xh.T + h @ params.W_hh + params.b)


@RNN_STEP.misconception(
    "W_hh is transposed, and tanh is used whatever params.phi says",
    fails=("rnn_step_values", "rnn_step_state_alone", "rnn_step_other_phi", "rnn_step_gradients", "rnn_step_untouched"),
    hints=(
        "From a zero state and with tanh you are right; with an old state the values are wrong, although all shapes "
        "fit.",
        "Two things: in W_hh the rows belong to the new state, so the matrix has to be turned when the states stand in "
        "rows on its left; and the nonlinearity is to be taken from params.",
        "Read the equation of one step, which is written for column vectors, and what the task says about params.",
    ),
)
def rnn_step__W_hh_transposed_always_tanh(x, h, params):
    return torch.tanh(x @ params.W_xh.T + h @ params.W_hh + params.b)


@RNN_STEP.misconception(
    "W_xh is transposed",
    fails=RNN_STEP.all_but(),
    hints=(
        "Unless input and state have the same width, your product fails; where they have, the values are wrong.",
        "In W_xh the rows belong to the state, the columns to the input. The inputs stand in rows on the left of the "
        "product, so the matrix has to be turned.",
        "Read the equation of one step, which is written for column vectors, and the shapes that the task gives.",
    ),
)
def rnn_step__W_xh_transposed(x, h, params):
    return params.phi(x @ params.W_xh + h @ params.W_hh.T + params.b)


@RNN_STEP.misconception(
    "Both weight matrices are transposed",
    fails=RNN_STEP.all_but(),
    hints=(
        "Unless input and state have the same width, your product fails; where they have, the values are wrong.",
        "Rows of a weight matrix belong to its target, columns to its source. Your vectors are rows on the left of the "
        "product, so both matrices have to be turned.",
        "Read the equation of one step, which is written for column vectors, and the shapes that the task gives.",
    ),
)
def rnn_step__both_transposed(x, h, params):
    return params.phi(x @ params.W_xh + h @ params.W_hh + params.b)


@RNN_STEP.misconception(
    "tanh is used whatever params.phi says",
    fails=("rnn_step_other_phi",),
    hints=(
        "With tanh you are right; with another nonlinearity you still compute tanh.",
        "The nonlinearity is a part of params, as the weights are. Take it from there.",
        "Read what the task says about params: phi is tanh unless said otherwise.",
    ),
)
def rnn_step__always_tanh(x, h, params):
    return torch.tanh(x @ params.W_xh.T + h @ params.W_hh.T + params.b)


@RNN_STEP.misconception(
    "The nonlinearity is applied to each term by itself",
    fails=("rnn_step_values", "rnn_step_other_phi", "rnn_step_gradients", "rnn_step_untouched"),
    hints=(
        "With only one of input and state you are right; with both your values exceed what one tanh can give.",
        "A sum of several tanh is not the tanh of the sum. There is one nonlinearity, around everything.",
        "Read the equation of one step: how many nonlinearities are there?",
    ),
)
def rnn_step__phi_on_each_term(x, h, params):
    return params.phi(x @ params.W_xh.T) + params.phi(h @ params.W_hh.T) + params.phi(params.b)


@RNN_STEP.misconception(
    "The old state is not used",
    fails=("rnn_step_values", "rnn_step_state_alone", "rnn_step_other_phi", "rnn_step_gradients", "rnn_step_untouched"),
    hints=(
        "From a zero state you are right; from any other state you give the same answer as from zero.",
        "Without the old state this is an ordinary layer: what came before cannot matter.",
        "Read the equation of one step: the term with the index t - 1 is the memory.",
    ),
)
def rnn_step__state_ignored(x, h, params):
    return params.phi(x @ params.W_xh.T + params.b)


@RNN_STEP.misconception(
    "The new state is written over h",
    fails=("rnn_step_gradients", "rnn_step_untouched"),
    hints=(
        "Your result is right, but after the call the caller's h holds the new state.",
        "Assigning to h[...] or using copy_ changes the caller's tensor. Old states are needed later, for the "
        "gradient.",
        "Read what the task says about x, h and the parameters: none of them is changed.",
    ),
)
def rnn_step__overwrites_h(x, h, params):
    h[:] = params.phi(x @ params.W_xh.T + h @ params.W_hh.T + params.b)
    return h


@RNN_STEP.misconception(
    "Later units read the new values of earlier units",
    fails=RNN_STEP.all_but(),
    hints=(
        "The first unit of your state is right, the others are not.",
        "The loop over units writes into the state that it still reads from. All units must read the same old state.",
        "Read the equation of one step: on the right every h has the index t - 1.",
    ),
)
def rnn_step__reads_half_new_state(x, h, params):
    h = h.clone()
    for i in range(h.shape[1]):
        h[:, i] = params.phi(x @ params.W_xh[i] + h @ params.W_hh[i] + params.b[i])
    return h


# ---- 1.4 rnn_forward ----


@RNN_STEP.misconception(
    "The weights stand on the left, as in the equation for one column",
    fails=RNN_STEP.all_but(),
    hints=(
        "The shapes do not fit, unless batch, input and state happen to have the same size.",
        "The equation is written for one sequence, as a column. Here x and h hold one sequence per row, so the product "
        "must leave the rows in place.",
        "Read what the task says about the shape of x, and the table of the letters' shapes in chapter 0.",
    ),
)
def rnn_step__columns(x, h, params):
    return params.phi(params.W_xh @ x + params.W_hh @ h + params.b)


_WHOLE_LAYER = "This exercise is to write the loop over time yourself, with your rnn_step."

RNN_FORWARD = Exercise(
    number="1.4",
    references=(recurrent.rnn_forward,),
    probe_module=probes,
    points=2,
    minutes=15,
    difficulty=2,
    uses=("rnn_step",),
    forbidden={"RNN": _WHOLE_LAYER, "RNNCell": _WHOLE_LAYER, "rnn_tanh": _WHOLE_LAYER, "rnn_relu": _WHOLE_LAYER},
    not_applicable={
        "other weights at every step": "params is one set of parameters, made outside the function.",
        "pads are read as inputs": "the function gets no lengths; that comes in chapter 5.",
    },
)


@RNN_FORWARD.misconception(
    "The state is not carried: every step starts from h0",
    fails=RNN_FORWARD.all_but("one_step"),
    hints=(
        "When the first input was changed, only your first state changed.",
        "Each step gets the same old state, because the name that holds it is never assigned again in the loop.",
        "Read the equation of the whole pass: the state that goes into step t is the one that came out of step t - 1.",
    ),
)
def rnn_forward__state_not_carried(x, h0, params):
    return torch.stack([rnn_step(x[:, t], h0, params) for t in range(x.shape[1])], dim=1)


@RNN_FORWARD.misconception(
    "Only the last state is returned",
    fails=RNN_FORWARD.all_but(),
    hints=(
        "You return (B, H) where (B, T, H) is asked for; it is the last of the states.",
        "The loop is right, but the states on the way are thrown away. A tagger needs all of them.",
        "Read what the task says about the result: the states after steps 1 to T.",
    ),
)
def rnn_forward__last_state_only(x, h0, params):
    h = h0
    for t in range(x.shape[1]):
        h = rnn_step(x[:, t], h, params)
    return h


@RNN_FORWARD.misconception(
    "The states come out as (T, B, H)",
    fails=RNN_FORWARD.all_but(),
    hints=(
        "All your states are right, but batch and time have changed places in the result.",
        "Stacking makes a new axis, and unless it is told where, it puts it in front.",
        "Read what the task says about the shape of the result: batch first, time second.",
    ),
)
def rnn_forward__time_first(x, h0, params):
    h, hs = h0, []
    for t in range(x.shape[1]):
        h = rnn_step(x[:, t], h, params)
        hs.append(h)
    return torch.stack(hs)


@RNN_FORWARD.misconception(
    "The loop runs over the batch instead of over time",
    fails=RNN_FORWARD.all_but(),
    hints=(
        "Unless there are as many steps as sequences, your loop fails; where it works, sequences feed each other.",
        "The first axis of x is the batch. Stepping along it treats sentence 2 as what follows sentence 1.",
        "Read what the task says about the shape of x: (B, T, E).",
    ),
)
def rnn_forward__loops_over_batch(x, h0, params):
    h, hs = h0, []
    for x_t in x:
        h = rnn_step(x_t, h, params)
        hs.append(h)
    return torch.stack(hs)


@RNN_FORWARD.misconception(
    "The axes are put right by reshape instead of transpose",
    fails=RNN_FORWARD.all_but("one_step"),
    hints=(
        "Your result has the right shape and holds the right numbers, but states of different sentences are mixed up.",
        "Stacked states have time in front. Reshaping keeps the numbers in their order and only cuts them anew; "
        "moving an "
        "axis needs a transpose, or stacking along the right axis at once.",
        "Read what the task says about the shape of the result: batch first, time second.",
    ),
)
def rnn_forward__reshaped(x, h0, params):
    B, T = x.shape[:2]
    h, hs = h0, []
    for t in range(T):
        h = rnn_step(x[:, t], h, params)
        hs.append(h)
    return torch.stack(hs).reshape(B, T, -1)


@RNN_FORWARD.misconception(
    "h0 is returned as the first state, and the last state is missing",
    fails=RNN_FORWARD.all_but(),
    hints=(
        "Your states are the right ones, one step late; the first is h0.",
        "The state is stored before the step is taken instead of after it.",
        "Read what the task says about the result: h0 is not among the states.",
    ),
)
def rnn_forward__h0_first(x, h0, params):
    h, hs = h0, []
    for t in range(x.shape[1]):
        hs.append(h)
        h = rnn_step(x[:, t], h, params)
    return torch.stack(hs, dim=1)


@RNN_FORWARD.misconception(
    "h0 is returned in front of the states",
    fails=RNN_FORWARD.all_but(),
    hints=(
        "You return T + 1 states; the first is h0, the others are right.",
        "The list of states begins with h0. It is where the recurrence starts, not something it computed.",
        "Read what the task says about the result: h0 is not among the states.",
    ),
)
def rnn_forward__h0_in_front(x, h0, params):
    hs = [h0]
    for t in range(x.shape[1]):
        hs.append(rnn_step(x[:, t], hs[-1], params))
    return torch.stack(hs, dim=1)


@RNN_FORWARD.misconception(
    "All returned states are the last one",
    fails=RNN_FORWARD.all_but("one_step"),
    hints=(
        "Your T states are all the same: the last.",
        "The list holds the same tensor T times, and each step writes into it. Let each step make a tensor of its own.",
        "Read the equation of the whole pass: there are T different states, each with its own index.",
    ),
)
def rnn_forward__same_tensor(x, h0, params):
    h, hs = h0.clone(), []
    for t in range(x.shape[1]):
        h[:] = rnn_step(x[:, t], h, params)
        hs.append(h)
    return torch.stack(hs, dim=1)


@RNN_FORWARD.misconception(
    "All returned states are the last one, and h0 is overwritten with it",
    fails=RNN_FORWARD.all_but("one_step"),
    hints=(
        "Your T states are all the same: the last. And after the call the caller's h0 is that state too.",
        "h and h0 are two names of one tensor, and each step writes into it. Let each step make a tensor of its own.",
        "Read the equation of the whole pass: h0 and the T states are different things.",
    ),
)
def rnn_forward__same_tensor_as_h0(x, h0, params):
    h, hs = h0, []
    for t in range(x.shape[1]):
        h[:] = rnn_step(x[:, t], h, params)
        hs.append(h)
    return torch.stack(hs, dim=1)


@RNN_FORWARD.misconception(
    "h0 is overwritten",
    fails=("rnn_forward_past_and_future", "rnn_forward_gradients", "rnn_forward_untouched"),
    hints=(
        "Your states are right, but after the call the caller's h0 holds the last of them.",
        "h and h0 are two names of one tensor, and each step writes into it.",
        "Read what the task says about x, h0 and the parameters: none of them is changed.",
    ),
)
def rnn_forward__overwrites_h0(x, h0, params):
    h, hs = h0, []
    for t in range(x.shape[1]):
        h[:] = rnn_step(x[:, t], h, params)
        hs.append(h.clone())
    return torch.stack(hs, dim=1)


@RNN_FORWARD.misconception(
    "Time runs backwards",
    fails=RNN_FORWARD.all_but("one_step"),
    hints=(
        "When the last inputs were changed, your first states changed; a change of the first input is not felt later.",
        "The loop begins with the last input. State t may only know the inputs up to t.",
        "Read the equation of the whole pass: t runs from 1 to T.",
    ),
)
def rnn_forward__backwards(x, h0, params):
    h, hs = h0, []
    for t in reversed(range(x.shape[1])):
        h = rnn_step(x[:, t], h, params)
        hs.insert(0, h)
    return torch.stack(hs, dim=1)


@RNN_FORWARD.misconception(
    "The inputs are read backwards, the states are listed in the order of reading",
    fails=RNN_FORWARD.all_but("one_step"),
    hints=(
        "Your first state knows the last input, and your last state ends with the first input.",
        "The loop begins with the last input and stores the states as they come.",
        "Read the equation of the whole pass: t runs from 1 to T.",
    ),
)
def rnn_forward__reads_backwards(x, h0, params):
    h, hs = h0, []
    for t in reversed(range(x.shape[1])):
        h = rnn_step(x[:, t], h, params)
        hs.append(h)
    return torch.stack(hs, dim=1)


@RNN_FORWARD.misconception(
    "h0 is not used: the recurrence starts from zero",
    fails=("rnn_forward_values", "rnn_forward_one_step", "rnn_forward_gradients", "rnn_forward_untouched"),
    hints=(
        "From a zero state you are right; from any other h0 you still start at zero.",
        "The argument h0 is replaced by zeros. The caller decides where the recurrence starts.",
        "Read what the task says about h0: the states before the first step.",
    ),
)
def rnn_forward__h0_ignored(x, h0, params):
    h, hs = torch.zeros_like(h0), []
    for t in range(x.shape[1]):
        h = rnn_step(x[:, t], h, params)
        hs.append(h)
    return torch.stack(hs, dim=1)


@RNN_FORWARD.misconception(
    "The first step reads the empty last row of the result instead of h0",
    fails=("rnn_forward_values", "rnn_forward_one_step", "rnn_forward_gradients", "rnn_forward_untouched"),
    hints=(
        "From a zero state your values are right; from any other h0 you still start at zero, and no gradient comes "
        "back.",
        "At the first step the index t - 1 is -1, and that is the last row of the result, still zero. Besides, reading "
        "from a tensor that is written into at every step cuts the gradient off.",
        "Read the equation of the whole pass at t = 1: which state goes in?",
    ),
)
def rnn_forward__reads_the_last_row(x, h0, params):
    B, T = x.shape[:2]
    hs = torch.zeros(B, T, h0.shape[1])
    for t in range(T):
        hs[:, t] = rnn_step(x[:, t], hs[:, t - 1], params)
    return hs


@RNN_FORWARD.misconception(
    "The loop stops one step short",
    fails=RNN_FORWARD.all_but(),
    hints=(
        "Your states are right, but the last one is missing.",
        "range(n) already ends at n - 1, so range(T - 1) leaves out the last input.",
        "Read what the task says about the result: the states after steps 1 to T.",
    ),
)
def rnn_forward__one_step_short(x, h0, params):
    h, hs = h0, []
    for t in range(x.shape[1] - 1):
        h = rnn_step(x[:, t], h, params)
        hs.append(h)
    return torch.stack(hs, dim=1)


@RNN_FORWARD.misconception(
    "Each step reads the input of the step before",
    fails=RNN_FORWARD.all_but("one_step"),
    hints=(
        "When the inputs from some step on were changed, the state at that step did not change, but your first one "
        "did.",
        "The state comes from the step before, the input does not. At the first step the index t - 1 even fetches the "
        "last input.",
        "Read the equation of the whole pass: x has the index t, h the index t - 1.",
    ),
)
def rnn_forward__previous_input(x, h0, params):
    h, hs = h0, []
    for t in range(x.shape[1]):
        h = rnn_step(x[:, t - 1], h, params)
        hs.append(h)
    return torch.stack(hs, dim=1)


@RNN_FORWARD.misconception(
    "Every step reads the first input",
    fails=RNN_FORWARD.all_but("one_step"),
    hints=(
        "Your first state is right; when later inputs were changed, nothing changed.",
        "The index of the input does not move with the loop.",
        "Read the equation of the whole pass: x has the index t.",
    ),
)
def rnn_forward__first_input_only(x, h0, params):
    h, hs = h0, []
    for _ in range(x.shape[1]):
        h = rnn_step(x[:, 0], h, params)
        hs.append(h)
    return torch.stack(hs, dim=1)


@RNN_FORWARD.misconception(
    "The state is detached between the steps",
    fails=("rnn_forward_gradients",),
    hints=(
        "All values are right, but the gradient goes back only one step.",
        "detach, .data, .item or torch.no_grad cut the computation graph. What a later state owes to an earlier input "
        "can then not be learned.",
        "Read the section Unrolled: the network is as deep as the sequence is long, and gradients take the same way "
        "back.",
    ),
)
def rnn_forward__detached(x, h0, params):
    h, hs = h0, []
    for t in range(x.shape[1]):
        h = rnn_step(x[:, t], h.detach(), params)
        hs.append(h)
    return torch.stack(hs, dim=1)


@RNN_FORWARD.misconception(
    "The loop runs over the batch, and its results are stacked as if they were steps",
    fails=RNN_FORWARD.all_but(),
    hints=(
        "You take as many steps as there are sequences, and each step reads one whole sequence.",
        "Going through x itself goes through its first axis, the batch. The time steps are the second axis.",
        "Read what the task says about the shape of x: (B, T, E).",
    ),
)
def rnn_forward__steps_along_the_batch(x, h0, params):
    h, hs = h0, []
    for x_t in x:
        h = rnn_step(x_t, h, params)
        hs.append(h)
    return torch.stack(hs, dim=1)


# ---- 1.5 softmax ----

_BY_HAND = "This exercise is to write softmax yourself, with exp and a sum."

SOFTMAX = Exercise(
    number="1.5",
    references=(losses.softmax,),
    probe_module=probes,
    points=2,
    minutes=10,
    difficulty=1,
    forbidden=dict.fromkeys(
        ("softmax", "Softmax", "Softmax2d", "log_softmax", "LogSoftmax", "softmin", "Softmin", "gumbel_softmax"),
        _BY_HAND,
    ),
    not_applicable={
        "a temperature that multiplies": "there is no temperature among the arguments; it comes in chapter 3.",
    },
)


@SOFTMAX.misconception(
    "The probabilities sum to 1 over time",
    fails=("softmax_values", "softmax_vector", "softmax_large_scores", "softmax_gradients", "softmax_untouched"),
    hints=(
        "In a batch of sequences each of your columns over time sums to 1, not each row over the vocabulary.",
        "Axis 1 of (B, T, V) is time. Words compete with the other words of the same place, not with themselves at "
        "other "
        "times.",
        "Read the equation of the softmax: the sum runs over the scores of one place; the task says which axis that "
        "is.",
    ),
)
def softmax__over_time(o):
    e = torch.exp(o - o.amax(dim=1, keepdim=True))
    return e / e.sum(dim=1, keepdim=True)


@SOFTMAX.misconception(
    "The probabilities sum to 1 over time, and exp overflows",
    fails=SOFTMAX.all_but("batch"),
    hints=(
        "In a batch of sequences each of your columns over time sums to 1; and large scores give nan.",
        "Two things: axis 1 of (B, T, V) is time, not the vocabulary; and exp of a number above 709 is infinite.",
        "Read the equation of the softmax, then the warning below it: what may be subtracted from all scores?",
    ),
)
def softmax__over_time_overflow(o):
    e = torch.exp(o)
    return e / e.sum(dim=1, keepdim=True)


@SOFTMAX.misconception(
    "The probabilities sum to 1 over the last axis but one",
    fails=SOFTMAX.all_but(),
    hints=(
        "Your columns sum to 1 instead of your rows.",
        "dim=-2 counts from the end: it is the axis before the last. For a single vector there is none.",
        "Read what the task says: over the last axis, however many there are before it.",
    ),
)
def softmax__over_the_axis_before(o):
    e = torch.exp(o - o.amax(dim=-2, keepdim=True))
    return e / e.sum(dim=-2, keepdim=True)


@SOFTMAX.misconception(
    "The probabilities sum to 1 over the batch",
    fails=SOFTMAX.all_but("vector"),
    hints=(
        "For one vector you are right; in a batch the sentences share one unit of probability.",
        "Axis 0 is the batch. One sentence must not change the probabilities of another.",
        "Read what the task says: over the last axis, however many there are before it.",
    ),
)
def softmax__over_batch(o):
    e = torch.exp(o - o.amax(dim=0, keepdim=True))
    return e / e.sum(dim=0, keepdim=True)


@SOFTMAX.misconception(
    "The probabilities sum to 1 over the batch, and exp overflows",
    fails=SOFTMAX.all_but("vector"),
    hints=(
        "For one vector of small scores you are right; in a batch the sentences share one unit of probability, and "
        "large "
        "scores give nan.",
        "Two things: axis 0 is the batch, not the vocabulary; and exp of a number above 709 is infinite.",
        "Read the equation of the softmax, then the warning below it: what may be subtracted from all scores?",
    ),
)
def softmax__over_batch_overflow(o):
    e = torch.exp(o)
    return e / e.sum(dim=0, keepdim=True)


@SOFTMAX.misconception(
    "One sum is taken over everything",
    fails=SOFTMAX.all_but("vector"),
    hints=(
        "For one vector you are right; in a batch all your numbers together sum to 1.",
        "A sum without an axis runs over the whole tensor. Each place has a distribution of its own.",
        "Read what the task says: the numbers sum to 1 over the last axis.",
    ),
)
def softmax__over_everything(o):
    e = torch.exp(o - o.max())
    return e / e.sum()


@SOFTMAX.misconception(
    "One sum is taken over everything, and exp overflows",
    fails=SOFTMAX.all_but("vector"),
    hints=(
        "For one vector of small scores you are right; in a batch all your numbers together sum to 1, and large scores "
        "give nan.",
        "Two things: a sum without an axis runs over the whole tensor; and exp of a number above 709 is infinite.",
        "Read the equation of the softmax, then the warning below it: what may be subtracted from all scores?",
    ),
)
def softmax__over_everything_overflow(o):
    e = torch.exp(o)
    return e / e.sum()


@SOFTMAX.misconception(
    "exp overflows",
    fails=("softmax_large_scores", "softmax_uneven_rows"),
    hints=(
        "Scores of a usual size are right; scores above 709 give nan, and rows far below zero give 0/0.",
        "exp of a large number is infinite, and infinity over infinity is no number. But a constant may be taken from "
        "all "
        "scores of a place before exp: the fraction stays the same.",
        "Read the warning below the equation of the softmax: what may be subtracted from all scores?",
    ),
)
def softmax__overflow(o):
    e = torch.exp(o)
    return e / e.sum(dim=-1, keepdim=True)


@SOFTMAX.misconception(
    "The log-probabilities are returned",
    fails=SOFTMAX.all_but(),
    hints=(
        "All your numbers are negative: they are the logarithms of the right ones.",
        "The logarithm belongs to the loss, which comes in exercise 1.7.",
        "Read what the task says about the result: numbers between 0 and 1.",
    ),
)
def softmax__log_probabilities(o):
    shifted = o - o.amax(dim=-1, keepdim=True)
    return shifted - torch.log(torch.exp(shifted).sum(dim=-1, keepdim=True))


@SOFTMAX.misconception(
    "The sum loses its axis and meets the wrong one",
    fails=SOFTMAX.all_but("vector"),
    hints=(
        "One vector is right; a batch fails, or, where the sizes happen to be the same, the sums divide the wrong "
        "rows.",
        "A sum over an axis removes it, and broadcasting then lines up the axes from the end. Keep the axis, with "
        "size 1.",
        "Read the equation of the softmax, and write down the shapes of its numerator and of its denominator.",
    ),
)
def softmax__axis_lost(o):
    e = torch.exp(o - o.amax(dim=-1, keepdim=True))
    return e / e.sum(dim=-1)


@SOFTMAX.misconception(
    "The sum loses its axis and meets the wrong one, and exp is not kept from overflowing",
    fails=SOFTMAX.all_but("vector"),
    hints=(
        "One vector of small scores is right; a batch fails, or, where the sizes happen to be the same, the sums "
        "divide "
        "the wrong rows.",
        "A sum over an axis removes it, and broadcasting then lines up the axes from the end. Keep the axis, with "
        "size 1. "
        "And when that is mended: exp of a number above 709 is infinite.",
        "Read the equation of the softmax, and write down the shapes of its numerator and of its denominator.",
    ),
)
def softmax__axis_lost_overflow(o):
    e = torch.exp(o)
    return e / e.sum(dim=-1)


@SOFTMAX.misconception(
    "The largest score of the whole batch is subtracted everywhere",
    fails=("softmax_large_scores", "softmax_uneven_rows"),
    hints=(
        "Large scores are right, but when one row lies far below another it comes out as nan.",
        "One shift for all keeps exp from overflowing, but it pushes low rows so far down that each exp is 0, and 0/0 "
        "is "
        "no number. Each place needs its own shift.",
        "Read the warning below the equation of the softmax: the sum runs over the scores of one place.",
    ),
)
def softmax__one_shift_for_all(o):
    e = torch.exp(o - o.max())
    return e / e.sum(dim=-1, keepdim=True)


@SOFTMAX.misconception(
    "The mean is subtracted instead of the largest score",
    fails=("softmax_large_scores",),
    hints=(
        "Scores that lie close together are right at any height; a single score far above the rest gives nan.",
        "After taking off the mean the largest score can still be too large for exp. After taking off the largest it "
        "is 0.",
        "Read the warning below the equation of the softmax: of all that may be subtracted, what is safe?",
    ),
)
def softmax__shifted_by_mean(o):
    e = torch.exp(o - o.mean(dim=-1, keepdim=True))
    return e / e.sum(dim=-1, keepdim=True)


@SOFTMAX.misconception(
    "Large scores are clipped",
    fails=("softmax_large_scores", "softmax_uneven_rows"),
    hints=(
        "There is no nan, but large scores all get the same probability.",
        "Clipping keeps exp from overflowing by changing the scores. A shift keeps their differences, and only these "
        "count.",
        "Read the warning below the equation of the softmax: what may be subtracted from all scores?",
    ),
)
def softmax__clipped(o):
    e = torch.exp(o.clamp(-700, 700))
    return e / e.sum(dim=-1, keepdim=True)


@SOFTMAX.misconception(
    "The exponentials are not divided by their sum",
    fails=SOFTMAX.all_but(),
    hints=(
        "Your numbers are positive but do not sum to 1; large scores give infinity.",
        "exp makes scores positive. To make them probabilities they are to be divided by their sum.",
        "Read the equation of the softmax: the denominator.",
    ),
)
def softmax__not_normalised(o):
    return torch.exp(o)


@SOFTMAX.misconception(
    "The exponentials are divided by the largest one",
    fails=SOFTMAX.all_but(),
    hints=(
        "In each row your largest number is 1, so the row sums to more than 1.",
        "Taking off the largest score before exp makes the largest exp equal to 1. That is the shift; the division by "
        "the "
        "sum is still to come.",
        "Read the equation of the softmax: the denominator is a sum.",
    ),
)
def softmax__divided_by_largest(o):
    return torch.exp(o - o.amax(dim=-1, keepdim=True))


@SOFTMAX.misconception(
    "exp is missing: scores are divided by their sum",
    fails=SOFTMAX.all_but(),
    hints=(
        "Your rows sum to 1, but some of your numbers are negative or above 1.",
        "Scores may be negative, and so may their sum. exp makes them positive first.",
        "Read the equation of the softmax: what is done to a score before the sum?",
    ),
)
def softmax__no_exp(o):
    return o / o.sum(dim=-1, keepdim=True)


@SOFTMAX.misconception(
    "The sign of the scores is flipped",
    fails=SOFTMAX.all_but(),
    hints=(
        "Your rows sum to 1, but the lowest score gets the largest probability.",
        "The difference is taken the wrong way round: the largest score is taken from each score, not the other way.",
        "Read the equation of the softmax: a larger score gives a larger probability.",
    ),
)
def softmax__sign_flipped(o):
    e = torch.exp(o.amin(dim=-1, keepdim=True) - o)
    return e / e.sum(dim=-1, keepdim=True)


@SOFTMAX.misconception(
    "Powers of 2 are taken instead of powers of e",
    fails=SOFTMAX.all_but(),
    hints=(
        "Your rows sum to 1 and have the right order, but they are flatter than they should be.",
        "The base matters: powers of 2 act as if all scores were smaller.",
        "Read the equation of the softmax: exp.",
    ),
)
def softmax__base_two(o):
    e = 2 ** (o - o.amax(dim=-1, keepdim=True))
    return e / e.sum(dim=-1, keepdim=True)


@SOFTMAX.misconception(
    "Each score goes through a sigmoid of its own",
    fails=SOFTMAX.all_but(),
    hints=(
        "Each of your numbers lies between 0 and 1, but they do not sum to 1.",
        "A sigmoid answers one yes-or-no question per word. A softmax chooses one word among all: they must compete.",
        "Read the equation of the softmax: each probability depends on all scores of its place.",
    ),
)
def softmax__sigmoid(o):
    return torch.sigmoid(o)


@SOFTMAX.misconception(
    "The scores are changed by the call",
    fails=("softmax_gradients", "softmax_untouched"),
    hints=(
        "Your probabilities are right, but after the call the caller's scores have been shifted.",
        "-= and functions whose name ends in _ work in place, on the caller's tensor; and for scores that need a "
        "gradient "
        "torch refuses it.",
        "Read what the task says about o: it is not changed.",
    ),
)
def softmax__in_place(o):
    o -= o.amax(dim=-1, keepdim=True)
    e = torch.exp(o)
    return e / e.sum(dim=-1, keepdim=True)


# ---- 1.6 from_torch_rnn ----

FROM_TORCH_RNN = Exercise(
    number="1.6",
    references=(recurrent.from_torch_rnn,),
    probe_module=probes,
    points=1,
    minutes=10,
    difficulty=1,
    not_applicable={
        "only the first of several layers": "the task allows one layer only; deep networks come in chapter 5.",
        "reads a module without biases": "the task names both biases, so such a module is never passed.",
        "gate blocks in another order": "a plain RNN has no gates; this comes in chapter 4.",
    },
)


@FROM_TORCH_RNN.misconception(
    "Only the input's bias is taken",
    fails=("from_torch_rnn_bias", "from_torch_rnn_tanh", "from_torch_rnn_relu", "from_torch_rnn_untouched"),
    hints=(
        "The matrices are right, but your bias is one of torch's two.",
        "torch keeps two biases. Both are added inside the nonlinearity, so together they act as one.",
        "Read the equation of torch's step: which terms do not depend on x and h?",
    ),
)
def from_torch_rnn__input_bias_only(module):
    phi = getattr(torch, module.nonlinearity)
    return RNNParams(module.weight_ih_l0, module.weight_hh_l0, module.bias_ih_l0, phi)


@FROM_TORCH_RNN.misconception(
    "Only the input's bias is taken, and the module's nonlinearity is ignored",
    fails=("from_torch_rnn_bias", "from_torch_rnn_tanh", "from_torch_rnn_relu", "from_torch_rnn_untouched"),
    hints=(
        "The matrices are right, but your bias is one of torch's two, and of a relu module you make tanh.",
        "Two things: both of torch's biases are added inside the nonlinearity, so together they act as one; and "
        "without a "
        "fourth entry RNNParams takes tanh.",
        "Read the equation of torch's step, and what the task says about phi.",
    ),
)
def from_torch_rnn__input_bias_only_always_tanh(module):
    return RNNParams(module.weight_ih_l0, module.weight_hh_l0, module.bias_ih_l0)


@FROM_TORCH_RNN.misconception(
    "Only the state's bias is taken",
    fails=("from_torch_rnn_bias", "from_torch_rnn_tanh", "from_torch_rnn_relu", "from_torch_rnn_untouched"),
    hints=(
        "The matrices are right, but your bias is one of torch's two: the one named hh.",
        "torch keeps two biases. Both are added inside the nonlinearity, so together they act as one.",
        "Read the equation of torch's step: which terms do not depend on x and h?",
    ),
)
def from_torch_rnn__state_bias_only(module):
    phi = getattr(torch, module.nonlinearity)
    return RNNParams(module.weight_ih_l0, module.weight_hh_l0, module.bias_hh_l0, phi)


@FROM_TORCH_RNN.misconception(
    "The two matrices are swapped",
    fails=("from_torch_rnn_matrices", "from_torch_rnn_tanh", "from_torch_rnn_relu", "from_torch_rnn_untouched"),
    hints=(
        "Your W_xh is (H, H) and your W_hh is (H, E): each is the other.",
        "torch writes i for the input where we write x, and h for the state: ih leads from the input to the state.",
        "Read the equation of torch's step beside the equation of one step, and match the terms.",
    ),
)
def from_torch_rnn__swapped_matrices(module):
    b = module.bias_ih_l0 + module.bias_hh_l0
    return RNNParams(module.weight_hh_l0, module.weight_ih_l0, b, getattr(torch, module.nonlinearity))


@FROM_TORCH_RNN.misconception(
    "The module's nonlinearity is ignored",
    fails=("from_torch_rnn_relu",),
    hints=(
        "A tanh module is right; of a relu module you still make tanh.",
        "Without a fourth entry RNNParams takes tanh. The module says in its attribute nonlinearity what it uses.",
        "Read what the task says about phi: as the module says.",
    ),
)
def from_torch_rnn__always_tanh(module):
    b = module.bias_ih_l0 + module.bias_hh_l0
    return RNNParams(module.weight_ih_l0, module.weight_hh_l0, b)


@FROM_TORCH_RNN.misconception(
    "Both matrices are transposed",
    fails=("from_torch_rnn_matrices", "from_torch_rnn_tanh", "from_torch_rnn_relu", "from_torch_rnn_untouched"),
    hints=(
        "Your matrices are torch's with rows and columns exchanged.",
        "torch stores its matrices as we do: rows belong to the target. Nothing has to be turned.",
        "Read the shapes that the task gives for torch's tensors, and those of RNNParams.",
    ),
)
def from_torch_rnn__both_transposed(module):
    b = module.bias_ih_l0 + module.bias_hh_l0
    return RNNParams(module.weight_ih_l0.T, module.weight_hh_l0.T, b, getattr(torch, module.nonlinearity))


@FROM_TORCH_RNN.misconception(
    "W_hh is transposed",
    fails=("from_torch_rnn_matrices", "from_torch_rnn_tanh", "from_torch_rnn_relu", "from_torch_rnn_untouched"),
    hints=(
        "W_xh is right, W_hh is torch's with rows and columns exchanged. As it is square, its shape tells nothing.",
        "torch stores its matrices as we do: rows belong to the target. Nothing has to be turned.",
        "Read the shapes that the task gives for torch's tensors, and those of RNNParams.",
    ),
)
def from_torch_rnn__W_hh_transposed(module):
    b = module.bias_ih_l0 + module.bias_hh_l0
    return RNNParams(module.weight_ih_l0, module.weight_hh_l0.T, b, getattr(torch, module.nonlinearity))


@FROM_TORCH_RNN.misconception(
    "W_xh is transposed",
    fails=("from_torch_rnn_matrices", "from_torch_rnn_tanh", "from_torch_rnn_relu", "from_torch_rnn_untouched"),
    hints=(
        "W_hh is right, W_xh is torch's with rows and columns exchanged: (E, H) instead of (H, E).",
        "torch stores its matrices as we do: rows belong to the target. Nothing has to be turned.",
        "Read the shapes that the task gives for torch's tensors, and those of RNNParams.",
    ),
)
def from_torch_rnn__W_xh_transposed(module):
    b = module.bias_ih_l0 + module.bias_hh_l0
    return RNNParams(module.weight_ih_l0.T, module.weight_hh_l0, b, getattr(torch, module.nonlinearity))


@FROM_TORCH_RNN.misconception(
    "One bias is taken twice",
    fails=("from_torch_rnn_bias", "from_torch_rnn_tanh", "from_torch_rnn_relu", "from_torch_rnn_untouched"),
    hints=(
        "Your bias is twice one of torch's, instead of the sum of both.",
        "The two biases have names that differ in one letter, and one of them was added to itself.",
        "Read the equation of torch's step: the indices of the two biases.",
    ),
)
def from_torch_rnn__bias_doubled(module):
    b = module.bias_ih_l0 + module.bias_ih_l0
    return RNNParams(module.weight_ih_l0, module.weight_hh_l0, b, getattr(torch, module.nonlinearity))


@FROM_TORCH_RNN.misconception(
    "The biases are averaged",
    fails=("from_torch_rnn_bias", "from_torch_rnn_tanh", "from_torch_rnn_relu", "from_torch_rnn_untouched"),
    hints=(
        "Your bias is half of what it should be.",
        "Two terms of a sum act as their sum. The mean would halve the effect of both.",
        "Read the equation of torch's step: both biases are added.",
    ),
)
def from_torch_rnn__biases_averaged(module):
    b = (module.bias_ih_l0 + module.bias_hh_l0) / 2
    return RNNParams(module.weight_ih_l0, module.weight_hh_l0, b, getattr(torch, module.nonlinearity))


@FROM_TORCH_RNN.misconception(
    "The biases are joined end to end",
    fails=("from_torch_rnn_bias", "from_torch_rnn_tanh", "from_torch_rnn_relu", "from_torch_rnn_untouched"),
    hints=(
        "Your bias has 2H entries where H are asked for.",
        "Joining keeps both biases apart. In the step they are added to the same sum, entry by entry.",
        "Read the equation of torch's step, and the shape of b in RNNParams.",
    ),
)
def from_torch_rnn__biases_joined(module):
    b = torch.cat([module.bias_ih_l0, module.bias_hh_l0])
    return RNNParams(module.weight_ih_l0, module.weight_hh_l0, b, getattr(torch, module.nonlinearity))


@FROM_TORCH_RNN.misconception(
    "phi is the name of the nonlinearity, not the function",
    fails=("from_torch_rnn_tanh", "from_torch_rnn_relu"),
    hints=(
        "The tensors are right, but your phi is a text, and a text cannot be called.",
        "module.nonlinearity holds the word 'tanh' or 'relu'. RNNParams needs the function of this name.",
        "Read what the task says about phi: torch.tanh or torch.relu.",
    ),
)
def from_torch_rnn__phi_is_a_name(module):
    b = module.bias_ih_l0 + module.bias_hh_l0
    return RNNParams(module.weight_ih_l0, module.weight_hh_l0, b, module.nonlinearity)


@FROM_TORCH_RNN.misconception(
    "The module's own bias is changed",
    fails=("from_torch_rnn_untouched",),
    hints=(
        "Your parameters are right, but after the call the module has another bias, and it computes something else.",
        "+= on the module's tensor adds in place. Add the two biases into a new tensor.",
        "Read what the task says: the module is not changed.",
    ),
)
def from_torch_rnn__adds_in_place(module):
    b = module.bias_ih_l0.data
    b += module.bias_hh_l0.data
    return RNNParams(module.weight_ih_l0, module.weight_hh_l0, b, getattr(torch, module.nonlinearity))


# ---- 1.7 cross_entropy ----

_OWN_LOSS = "This exercise is to write the loss yourself: the log-probability of the right word, masked and averaged."

CROSS_ENTROPY = Exercise(
    number="1.7",
    references=(losses.cross_entropy,),
    probe_module=probes,
    points=3,
    minutes=20,
    difficulty=3,
    uses=("softmax",),
    forbidden=dict.fromkeys(("cross_entropy", "CrossEntropyLoss", "nll_loss", "NLLLoss", "NLLLoss2d"), _OWN_LOSS),
    not_applicable={
        "reads the padding from the lengths": "the function gets no lengths: pad marks the positions.",
        "label smoothing or class weights": "the function has no argument for either.",
    },
    equivalent={
        "log_p = logits.gather(-1, y[..., None])[..., -1] - log_z": "the axis has one entry: the last is the first.",
    },
)


@CROSS_ENTROPY.misconception(
    "The softmax is applied twice",
    fails=CROSS_ENTROPY.all_but(),
    hints=(
        "Your loss barely depends on the logits; it stays near the logarithm of the vocabulary's size.",
        "Probabilities are treated as scores once more. All lie between 0 and 1, so a second softmax makes them nearly "
        "equal. In practice this happens when a model ends with a softmax and the loss brings its own.",
        "Read the equation of the cross-entropy: one softmax of the scores o, then one logarithm.",
    ),
)
def cross_entropy__softmax_twice(logits, y, pad):
    log_p = torch.log(softmax(softmax(logits))).gather(-1, y[..., None])[..., 0]
    real = y != pad
    return -log_p[real].sum() / real.sum()


@CROSS_ENTROPY.misconception(
    "The pads are counted",
    fails=CROSS_ENTROPY.all_but("no_pads", "large_logits", "hopeless_word"),
    hints=(
        "Without pads you are right; with pads your loss depends on what the network says at padded positions.",
        "The mean is taken over all positions. A network would be praised for predicting pads, the easiest word of "
        "all.",
        "Read the equation of the cross-entropy: under the sum it says which positions count.",
    ),
)
def cross_entropy__pads_counted(logits, y, pad):
    log_p = logits.gather(-1, y[..., None])[..., 0] - torch.logsumexp(logits, dim=-1)
    return -log_p.mean()


@CROSS_ENTROPY.misconception(
    "The pads are counted, and the logarithm of 0 is taken",
    fails=CROSS_ENTROPY.all_but("no_pads", "large_logits"),
    hints=(
        "Your loss depends on what the network says at padded positions, and a very improbable word makes it infinite.",
        "Two things: the mean is taken over all positions; and the probability is rounded to 0 before its logarithm is "
        "taken.",
        "Read the equation of the cross-entropy, then what the task says about logits that are far apart.",
    ),
)
def cross_entropy__pads_counted_log_of_zero(logits, y, pad):
    return -torch.log(softmax(logits)).gather(-1, y[..., None]).mean()


@CROSS_ENTROPY.misconception(
    "The mean of the sentences' means is taken",
    fails=("cross_entropy_values", "cross_entropy_pad_logits", "cross_entropy_gradients", "cross_entropy_untouched"),
    hints=(
        "Sentences of the same length are right; with different lengths the words of short sentences count too much.",
        "Each sentence is averaged by itself first. Then a word in a sentence of one counts as much as nine words in a "
        "sentence of nine. The task is the mean over all real tokens of the batch.",
        "Read the equation of the cross-entropy: there is one n for the whole batch.",
    ),
)
def cross_entropy__mean_of_means(logits, y, pad):
    log_p = logits.gather(-1, y[..., None])[..., 0] - torch.logsumexp(logits, dim=-1)
    real = y != pad
    return -((log_p * real).sum(dim=1) / real.sum(dim=1)).mean()


@CROSS_ENTROPY.misconception(
    "The mean of the sentences' means is taken, and the logarithm of 0",
    fails=CROSS_ENTROPY.all_but("no_pads", "one_sentence", "large_logits"),
    hints=(
        "With different lengths the words of short sentences count too much, and a very improbable word makes your "
        "loss "
        "infinite.",
        "Two things: each sentence is averaged by itself first; and a probability is rounded to 0 before its "
        "logarithm is "
        "taken.",
        "Read the equation of the cross-entropy, then what the task says about logits that are far apart.",
    ),
)
def cross_entropy__mean_of_means_log_of_zero(logits, y, pad):
    log_p = torch.log(softmax(logits)).gather(-1, y[..., None])[..., 0]
    real = y != pad
    return -((log_p * real).sum(dim=1) / real.sum(dim=1)).mean()


@CROSS_ENTROPY.misconception(
    "exp overflows",
    fails=("cross_entropy_large_logits",),
    hints=(
        "Logits of a usual size are right; logits above 709 give an infinite loss.",
        "exp of a large number is infinite. The logarithm of the sum of exps can be had without computing large exps.",
        "Read the warning below the equation of the softmax, and what the task says about the size of the logits.",
    ),
)
def cross_entropy__overflow(logits, y, pad):
    log_z = torch.log(torch.exp(logits).sum(dim=-1))
    log_p = logits.gather(-1, y[..., None])[..., 0] - log_z
    real = y != pad
    return -log_p[real].sum() / real.sum()


@CROSS_ENTROPY.misconception(
    "exp overflows, and the logarithm of 0 is taken",
    fails=("cross_entropy_large_logits", "cross_entropy_hopeless_word"),
    hints=(
        "Logits of a usual size are right; logits above 709 give nan, and a very improbable word an infinite loss.",
        "exp of a large number is infinite, and exp of a very small one is rounded to 0. Neither has to be computed if "
        "the logarithm of the fraction is taken on paper first.",
        "Read the warning below the equation of the softmax, and what the task says about the size of the logits.",
    ),
)
def cross_entropy__overflow_and_log_of_zero(logits, y, pad):
    e = torch.exp(logits)
    log_p = torch.log(e / e.sum(dim=-1, keepdim=True)).gather(-1, y[..., None])[..., 0]
    real = y != pad
    return -log_p[real].sum() / real.sum()


@CROSS_ENTROPY.misconception(
    "The logarithm of 0 is taken",
    fails=("cross_entropy_hopeless_word",),
    hints=(
        "All is right until the right word is so improbable that its probability is rounded to 0: then your loss is "
        "infinite.",
        "A number smaller than about 1e-308 cannot be stored, but its logarithm is an ordinary number. Do not go "
        "through "
        "the probability: take the logarithm of the fraction on paper first.",
        "Read what the task says about logits that are far apart, and write the logarithm of the softmax's fraction "
        "on paper.",
    ),
)
def cross_entropy__log_of_zero(logits, y, pad):
    log_p = torch.log(softmax(logits)).gather(-1, y[..., None])[..., 0]
    real = y != pad
    return -log_p[real].sum() / real.sum()


@CROSS_ENTROPY.misconception(
    "A small number is added inside the logarithm",
    fails=("cross_entropy_hopeless_word",),
    hints=(
        "Your loss is finite, but for very improbable words it stops growing, and no gradient pushes them up.",
        "The added number hides the logarithm of 0 instead of avoiding it: below it all words look equally bad.",
        "Read what the task says about logits that are far apart, and write the logarithm of the softmax's fraction "
        "on paper.",
    ),
)
def cross_entropy__small_number_in_log(logits, y, pad):
    log_p = torch.log(softmax(logits) + 1e-9).gather(-1, y[..., None])[..., 0]
    real = y != pad
    return -log_p[real].sum() / real.sum()


@CROSS_ENTROPY.misconception(
    "A tiny number (1e-12) is added inside the logarithm",
    fails=("cross_entropy_hopeless_word",),
    hints=(
        "Your loss is finite, but for very improbable words it stops growing, and no gradient pushes them up.",
        "The added number hides the logarithm of 0 instead of avoiding it: below it all words look equally bad.",
        "Read what the task says about logits that are far apart, and write the logarithm of the softmax's fraction "
        "on paper.",
    ),
)
def cross_entropy__tiny_number_in_log(logits, y, pad):
    log_p = torch.log(softmax(logits) + 1e-12).gather(-1, y[..., None])[..., 0]
    real = y != pad
    return -log_p[real].sum() / real.sum()


@CROSS_ENTROPY.misconception(
    "The sum is divided by all positions, pads included",
    fails=CROSS_ENTROPY.all_but("no_pads", "large_logits", "hopeless_word"),
    hints=(
        "Without pads you are right; with pads your loss is too small, the more so the more pads there are.",
        "The pads are masked out of the sum, but still counted below the line.",
        "Read the equation of the cross-entropy: n is the number of positions in the sum.",
    ),
)
def cross_entropy__divided_by_all(logits, y, pad):
    log_p = logits.gather(-1, y[..., None])[..., 0] - torch.logsumexp(logits, dim=-1)
    return -(log_p * (y != pad)).mean()


@CROSS_ENTROPY.misconception(
    "The sum is divided by all positions, and the logarithm of 0 is taken",
    fails=CROSS_ENTROPY.all_but("no_pads", "large_logits"),
    hints=(
        "With pads your loss is too small, and a very improbable word makes it infinite.",
        "Two things: the pads are masked out of the sum, but still counted below the line; and a probability is "
        "rounded "
        "to 0 before its logarithm is taken.",
        "Read the equation of the cross-entropy, then what the task says about logits that are far apart.",
    ),
)
def cross_entropy__divided_by_all_log_of_zero(logits, y, pad):
    log_p = torch.log(softmax(logits)).gather(-1, y[..., None])[..., 0]
    return -(log_p * (y != pad)).mean()


@CROSS_ENTROPY.misconception(
    "The sum is divided by the number of sentences",
    fails=CROSS_ENTROPY.all_but(),
    hints=(
        "Your loss is several times too large: it is the loss of a sentence, not of a word.",
        "The sum over all words is divided by B. A long sentence then has a larger loss only because it is long.",
        "Read the equation of the cross-entropy: n counts tokens.",
    ),
)
def cross_entropy__divided_by_sentences(logits, y, pad):
    log_p = logits.gather(-1, y[..., None])[..., 0] - torch.logsumexp(logits, dim=-1)
    return -log_p[y != pad].sum() / len(y)


@CROSS_ENTROPY.misconception(
    "The sum is not divided at all",
    fails=CROSS_ENTROPY.all_but(),
    hints=(
        "Your loss grows with the number of words: it is the sum, not the mean.",
        "With a sum a larger batch takes larger steps, and losses of different batches cannot be compared.",
        "Read the equation of the cross-entropy: the factor before the sum.",
    ),
)
def cross_entropy__summed(logits, y, pad):
    log_p = logits.gather(-1, y[..., None])[..., 0] - torch.logsumexp(logits, dim=-1)
    return -log_p[y != pad].sum()


@CROSS_ENTROPY.misconception(
    "The minus sign is missing",
    fails=CROSS_ENTROPY.all_but(),
    hints=(
        "Your loss is negative: the right value with the wrong sign.",
        "Logarithms of probabilities are negative. Minimising them would make the right words as improbable as "
        "possible.",
        "Read the equation of the cross-entropy: the sign before the sum.",
    ),
)
def cross_entropy__sign_missing(logits, y, pad):
    log_p = logits.gather(-1, y[..., None])[..., 0] - torch.logsumexp(logits, dim=-1)
    real = y != pad
    return log_p[real].sum() / real.sum()


@CROSS_ENTROPY.misconception(
    "The loss is in bits",
    fails=CROSS_ENTROPY.all_but(),
    hints=(
        "Your loss is larger than it should be by a factor of 1.44.",
        "That is 1 / log 2: the logarithm has base 2. Both are used, but exp(loss) needs the natural logarithm.",
        "Read the first line of the task: in nats.",
    ),
)
def cross_entropy__in_bits(logits, y, pad):
    log_p = logits.gather(-1, y[..., None])[..., 0] - torch.logsumexp(logits, dim=-1)
    real = y != pad
    return -log_p[real].sum() / real.sum() / math.log(2)


@CROSS_ENTROPY.misconception(
    "The logarithm is missing",
    fails=CROSS_ENTROPY.all_but(),
    hints=(
        "Your loss lies between -1 and 0: it is the mean probability of the right words.",
        "Surprise is the logarithm of a probability. Without it a word that was thought impossible costs no more than "
        "an "
        "improbable one.",
        "Read the equation of the cross-entropy: what is summed?",
    ),
)
def cross_entropy__no_log(logits, y, pad):
    p = softmax(logits).gather(-1, y[..., None])[..., 0]
    real = y != pad
    return -p[real].sum() / real.sum()


@CROSS_ENTROPY.misconception(
    "The surprise is taken at the predicted word instead of the right one",
    fails=CROSS_ENTROPY.all_but(),
    hints=(
        "Your loss is too small, and apart from the pads it does not depend on y.",
        "The largest probability tells how sure the network is, not whether it is right. y says which one to look up.",
        "Read the equation of the cross-entropy: the index in the square brackets.",
    ),
)
def cross_entropy__at_the_predicted_word(logits, y, pad):
    log_p = logits.amax(dim=-1) - torch.logsumexp(logits, dim=-1)
    real = y != pad
    return -log_p[real].sum() / real.sum()


@CROSS_ENTROPY.misconception(
    "A position is left out when the network predicts a pad there",
    fails=CROSS_ENTROPY.all_but(),
    hints=(
        "Pads are counted, and some real words are not: those where the pad has the highest score.",
        "The mask is made from the predictions instead of from y. A network could escape the loss by predicting pads.",
        "Read the equation of the cross-entropy: under the sum it is y that is compared with the pad.",
    ),
)
def cross_entropy__masked_by_prediction(logits, y, pad):
    log_p = logits.gather(-1, y[..., None])[..., 0] - torch.logsumexp(logits, dim=-1)
    real = logits.argmax(dim=-1) != pad
    return -log_p[real].sum() / real.sum()


@CROSS_ENTROPY.misconception(
    "The id 0 is taken for the pad, whatever pad says",
    fails=("cross_entropy_values", "cross_entropy_no_pads"),
    hints=(
        "With pad = 0 you are right; with another pad you leave out the word with id 0 and count the pads.",
        "The argument pad is not used. A reshaped vocabulary would silently break the loss.",
        "Read what the task says about pad: the id that marks padding.",
    ),
)
def cross_entropy__pad_is_zero(logits, y, pad):
    log_p = logits.gather(-1, y[..., None])[..., 0] - torch.logsumexp(logits, dim=-1)
    real = y != 0
    return -log_p[real].sum() / real.sum()


@CROSS_ENTROPY.misconception(
    "The softmax runs over time instead of over the vocabulary",
    fails=CROSS_ENTROPY.all_but(),
    hints=(
        "Your loss is finite and looks harmless, but a change of the scores at one step changes the loss of the "
        "others.",
        "Axis 1 of (B, T, V) is time. The probabilities of one place must sum to 1 over the words.",
        "Read the equation of the softmax and what it says about the axis.",
    ),
)
def cross_entropy__over_time(logits, y, pad):
    log_p = (logits - torch.logsumexp(logits, dim=1, keepdim=True)).gather(-1, y[..., None])[..., 0]
    real = y != pad
    return -log_p[real].sum() / real.sum()


@CROSS_ENTROPY.misconception(
    "The targets are shifted by one",
    fails=CROSS_ENTROPY.all_but(),
    hints=(
        "Your loss compares the scores at each step with the word of the next step.",
        "Shifting is right where a language model predicts the next word of its own input. Here y already holds, at "
        "each "
        "position, the word that belongs to the scores at that position.",
        "Read the equation of the cross-entropy: scores and y have the same indices b, t.",
    ),
)
def cross_entropy__shifted(logits, y, pad):
    logits, y = logits[:, :-1], y[:, 1:]
    log_p = logits.gather(-1, y[..., None])[..., 0] - torch.logsumexp(logits, dim=-1)
    real = y != pad
    return -log_p[real].sum() / real.sum()


@CROSS_ENTROPY.misconception(
    "The logits are changed by the call",
    fails=("cross_entropy_gradients", "cross_entropy_untouched"),
    hints=(
        "Your loss is right, but after the call the caller's logits have been shifted.",
        "-= and functions whose name ends in _ work in place, on the caller's tensor; and for logits that need a "
        "gradient "
        "torch refuses it.",
        "Read what the task says: neither logits nor y is changed.",
    ),
)
def cross_entropy__in_place(logits, y, pad):
    logits -= logits.amax(dim=-1, keepdim=True)
    log_p = logits.gather(-1, y[..., None])[..., 0] - torch.log(torch.exp(logits).sum(dim=-1))
    real = y != pad
    return -log_p[real].sum() / real.sum()


EXERCISES = (PAD_BATCH, CAUSAL_CONV1D, RNN_STEP, RNN_FORWARD, SOFTMAX, FROM_TORCH_RNN, CROSS_ENTROPY)
