"""The exercises of chapter 6 and the mistakes that the judge knows by name."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from autograder.exercise import Exercise
from autograder.probes import ch06_seq2seq as probes
from unrolled import edit_distance as edits
from unrolled import seq2seq
from unrolled.edit_distance import edit_distance
from unrolled.gated import gru_forward, gru_step

SETUP_NAMES = frozenset({"DecoderParams", "GRUParams", "gru_forward", "gru_step"})
_TORCH = "Build it of gru_step: torch's own GRU puts the reset elsewhere, and is what it is compared with later."
_LAYERS = dict.fromkeys(("GRU", "GRUCell", "gru_cell"), _TORCH)  # gru itself is a field of DecoderParams


# ---- 6.1 shift_right ----

SHIFT_RIGHT = Exercise(
    number="6.1",
    references=(seq2seq.shift_right,),
    probe_module=probes,
    points=2,
    minutes=5,
    difficulty=1,
)


@SHIFT_RIGHT.misconception(
    "Nothing is shifted: the decoder reads what it is to say",
    fails=SHIFT_RIGHT.all_but(),
    hints=(
        "Your inputs equal the targets.",
        "With these inputs the decoder need only repeat what it reads; on its own it would have nothing to repeat. "
        "It reads the token before.",
        "Read the equation: the index of the input and that of the target.",
    ),
)
def shift_right__no_shift(y, bos):
    return y, y


@SHIFT_RIGHT.misconception(
    "BOS is written over the first token",
    fails=SHIFT_RIGHT.all_but("empty"),
    hints=(
        "The first column of your inputs is right; all others equal the targets.",
        "BOS took the place of the first token instead of pushing all tokens one place to the right.",
        "Read the example in the task: where does the 5 stand?",
    ),
)
def shift_right__bos_over_first(y, bos):
    inputs = y.clone()
    inputs[:, 0] = bos
    return inputs, y


@SHIFT_RIGHT.misconception(
    "EOS is cut from the targets",
    fails=SHIFT_RIGHT.all_but(),
    hints=(
        "Your inputs are right. The targets have lost their last column: in the longest rows that is EOS.",
        "A decoder that is never taught to say EOS will never stop. The last token is cut from the inputs only.",
        "Read the equation: up to which t do the targets go?",
    ),
)
def shift_right__eos_cut(y, bos):
    return torch.cat([torch.full_like(y[:, :1], bos), y[:, :-1]], dim=1), y[:, :-1]


@SHIFT_RIGHT.misconception(
    "EOS is cut from the targets, and the inputs are cut to fit",
    fails=SHIFT_RIGHT.all_but(),
    hints=(
        "Both of your results are one column short.",
        "The last column was cut off before shifting. In the longest rows that is EOS: the decoder is never taught to "
        "stop.",
        "Read what the task says about the shapes of the results.",
    ),
)
def shift_right__both_cut(y, bos):
    y = y[:, :-1]
    return torch.cat([torch.full_like(y[:, :1], bos), y[:, :-1]], dim=1), y


@SHIFT_RIGHT.misconception(
    "BOS stands in the targets, too",
    fails=SHIFT_RIGHT.all_but(),
    hints=(
        "Your inputs are right. The targets begin with BOS and are one column too wide.",
        "BOS is given, not predicted: nobody has to say it.",
        "Read the equation: with which y do the targets begin?",
    ),
)
def shift_right__bos_in_targets(y, bos):
    full = torch.cat([torch.full_like(y[:, :1], bos), y], dim=1)
    return full[:, :-1], full


@SHIFT_RIGHT.misconception(
    "The targets are shifted as well",
    fails=SHIFT_RIGHT.all_but(),
    hints=(
        "Your inputs are right, and your targets equal them.",
        "Both were moved to the right. The decoder would have to say what it has just read.",
        "Read the equation: the index of the input and that of the target.",
    ),
)
def shift_right__both_shifted(y, bos):
    inputs = torch.cat([torch.full_like(y[:, :1], bos), y[:, :-1]], dim=1)
    return inputs, inputs


@SHIFT_RIGHT.misconception(
    "The tokens are rolled: the last one comes first",
    fails=SHIFT_RIGHT.all_but(),
    hints=(
        "Your inputs are right but for the first column: there stands the last token instead of BOS.",
        "roll brings round to the front what it pushes out at the end. Write BOS over it.",
        "Read the equation: what is y_0?",
    ),
)
def shift_right__rolled(y, bos):
    return y.roll(1, dims=1), y


@SHIFT_RIGHT.misconception(
    "Shifted to the left",
    fails=SHIFT_RIGHT.all_but("empty"),
    hints=(
        "Your decoder reads the token after the one it is to say.",
        "BOS was put at the end, and the first token was dropped. It belongs in front.",
        "Read the example in the task.",
    ),
)
def shift_right__left(y, bos):
    return torch.cat([y[:, 1:], torch.full_like(y[:, :1], bos)], dim=1), y


@SHIFT_RIGHT.misconception(
    "BOS is put in front, and nothing is dropped",
    fails=SHIFT_RIGHT.all_but(),
    hints=(
        "Your inputs are one column wider than the targets.",
        "After the last token there is nothing left to say, so nobody reads it.",
        "Read what the task says about the shape of the inputs, and about the last token of y.",
    ),
)
def shift_right__nothing_dropped(y, bos):
    return torch.cat([torch.full_like(y[:, :1], bos), y], dim=1), y


@SHIFT_RIGHT.misconception(
    "Cut as for a language model, without BOS",
    fails=SHIFT_RIGHT.all_but(),
    hints=(
        "Both of your results are one column short, and nobody learns to say the first token.",
        "In chapter 3 the rows came out of the middle of a text. Here a row has a beginning: BOS is read first.",
        "Read the equation: t begins at 1, and y_0 is BOS.",
    ),
)
def shift_right__as_language_model(y, bos):
    return y[:, :-1], y[:, 1:]


@SHIFT_RIGHT.misconception(
    "Pads are read where pads are to be said",
    fails=SHIFT_RIGHT.all_but("full", "empty"),
    hints=(
        "Your targets are right, and so are the inputs but for the EOS of the shorter rows: a pad stands there.",
        "Nothing need be repaired under a pad: the loss leaves these places out. Shift every row as it is, whatever "
        "its length.",
        "Read what the task says about the inputs: the EOS of shorter rows is among them.",
    ),
)
def shift_right__pads_for_eos(y, bos):
    inputs = torch.cat([torch.full_like(y[:, :1], bos), y[:, :-1]], dim=1)
    return inputs.masked_fill(y == 0, 0), y


@SHIFT_RIGHT.misconception(
    "The rows are shifted, not the tokens",
    fails=SHIFT_RIGHT.all_but(),
    hints=(
        "Each of your rows of inputs belongs to the row before it.",
        "The shift runs along axis 0, the batch. Time is axis 1.",
        "Read what the task says about the shape of y.",
    ),
)
def shift_right__rows_shifted(y, bos):
    return torch.cat([torch.full_like(y[:1], bos), y[:-1]], dim=0), y


@SHIFT_RIGHT.misconception(
    "The targets are returned first",
    fails=SHIFT_RIGHT.all_but(),
    hints=(
        "Both results are right, but they have changed places.",
        "Who takes your results apart reads what it should say, and is to say what it should read.",
        "Read what the task says about the results: inputs, then targets.",
    ),
)
def shift_right__targets_first(y, bos):
    return y, torch.cat([torch.full_like(y[:, :1], bos), y[:, :-1]], dim=1)


@SHIFT_RIGHT.misconception(
    "Only the inputs are returned",
    fails=SHIFT_RIGHT.all_but(),
    hints=(
        "You return one tensor; two are asked for.",
        "The inputs are right. The targets are missing.",
        "Read what the task says about the results: inputs, then targets.",
    ),
)
def shift_right__inputs_only(y, bos):
    return torch.cat([torch.full_like(y[:, :1], bos), y[:, :-1]], dim=1)


@SHIFT_RIGHT.misconception(
    "y itself is shifted in place",
    fails=SHIFT_RIGHT.all_but(),
    hints=(
        "Your inputs are right, your targets equal them, and y has changed under the caller's feet.",
        "Inputs and targets are one and the same tensor, and the shift was written into it. Make a new one.",
        "Read what the task says about y: it is not changed.",
    ),
)
def shift_right__in_place(y, bos):
    y[:, 1:] = y[:, :-1].clone()
    y[:, 0] = bos
    return y, y


@SHIFT_RIGHT.misconception(
    "The ids have become floating-point numbers",
    fails=SHIFT_RIGHT.all_but(),
    hints=(
        "All values are right, but the inputs are no integers any more: no embedding will take them.",
        "A column of floats made the whole tensor float. torch.full_like(y[:, :1], bos) keeps the type of y.",
        "Read what the task says about the dtype of the inputs.",
    ),
)
def shift_right__floats(y, bos):
    return torch.cat([torch.ones(len(y), 1) * bos, y[:, :-1]], dim=1), y


# ---- 6.2 encode ----

ENCODE = Exercise(
    number="6.2",
    references=(seq2seq.encode,),
    probe_module=probes,
    points=4,
    minutes=25,
    difficulty=3,
    forbidden=_LAYERS,
    equivalent={"forward, backward = ([], [])": "two empty lists swapped are two empty lists."},
)


@ENCODE.misconception(
    "The forward context is the state after the pads",
    fails=ENCODE.all_but("states", "full"),
    hints=(
        "All states are right, and so are contexts of full rows; in short rows the forward half of c is not.",
        "Your forward GRU went on reading through the pads, and c took what it knew in the end. Take the state after "
        "the last real step.",
        "Read the equation of the context: the index of the forward state is n, not S.",
    ),
)
def encode__context_after_pads(x, lengths, f, b):
    B, S, _ = x.shape
    real = torch.arange(S) < lengths[:, None]
    h_f, h_b = x.new_zeros(B, len(f.b_h)), x.new_zeros(B, len(b.b_h))
    forward, backward = [], []
    for s in range(S):
        h_f = gru_step(x[:, s], h_f, f)
        h_b = torch.where(real[:, -1 - s, None], gru_step(x[:, -1 - s], h_b, b), h_b)
        forward.append(h_f)
        backward.insert(0, h_b)
    states = torch.cat([torch.stack(forward, dim=1), torch.stack(backward, dim=1)], dim=2)
    return states * real[..., None], torch.cat([h_f, h_b], dim=1)


@ENCODE.misconception(
    "The backward reader is left out",
    fails=ENCODE.all_but(),
    hints=(
        "States and context are right as far as they go, but they lack the backward half.",
        "Only f reads. b is to read the same rows from their ends, and its states stand behind those of f.",
        "Read the equation of the states, and what the task says about b.",
    ),
)
def encode__forward_only(x, lengths, f, b):
    B, S, _ = x.shape
    h = gru_forward(x, x.new_zeros(B, len(f.b_h)), f)
    real = torch.arange(S) < lengths[:, None]
    return h * real[..., None], h[torch.arange(B), lengths - 1]


@ENCODE.misconception(
    "The backward reader begins in the pads",
    fails=ENCODE.all_but("full", "dtype"),
    hints=(
        "Rows of full length are right. In shorter ones the backward half depends on what stands in the pads.",
        "Turning the whole row round brings its pads to the front: b has a state from them when the last word comes.",
        "Read the equation of the states: the backward state is zero at n + 1, behind the last *real* step.",
    ),
)
def encode__backward_from_pads(x, lengths, f, b):
    B, S, _ = x.shape
    real = (torch.arange(S) < lengths[:, None])[..., None]
    h_f = gru_forward(x, x.new_zeros(B, len(f.b_h)), f)
    h_b = gru_forward(x.flip(1), x.new_zeros(B, len(b.b_h)), b).flip(1)
    c = torch.cat([h_f[torch.arange(B), lengths - 1], h_b[:, 0]], dim=1)
    return torch.cat([h_f, h_b], dim=2) * real, c


@ENCODE.misconception(
    "The pads are blanked, and then read",
    fails=ENCODE.all_but("full"),
    hints=(
        "The pads no longer matter, but in rows with pads the backward half, and the context, are still not right.",
        "A zero is an input too: it changes the state of both readers. At a pad no step is to be taken at all.",
        "Read the equations: n is the number of *real* steps.",
    ),
)
def encode__pads_blanked(x, lengths, f, b):
    B, S, _ = x.shape
    real = (torch.arange(S) < lengths[:, None])[..., None]
    h_f = gru_forward(x * real, x.new_zeros(B, len(f.b_h)), f)
    h_b = gru_forward((x * real).flip(1), x.new_zeros(B, len(b.b_h)), b).flip(1)
    return torch.cat([h_f, h_b], dim=2) * real, torch.cat([h_f[:, -1], h_b[:, 0]], dim=1)


@ENCODE.misconception(
    "The lengths are not used at all",
    fails=ENCODE.all_but("full"),
    hints=(
        "Rows of full length are right. In shorter ones both readers have read the pads, too.",
        "The pads are no words: f ends with the last real step, b begins with it, and the states at the pads are zero.",
        "Read what the task says about lengths.",
    ),
)
def encode__no_lengths(x, lengths, f, b):
    h_f = gru_forward(x, x.new_zeros(len(x), len(f.b_h)), f)
    h_b = gru_forward(x.flip(1), x.new_zeros(len(x), len(b.b_h)), b).flip(1)
    return torch.cat([h_f, h_b], dim=2), torch.cat([h_f[:, -1], h_b[:, 0]], dim=1)


@ENCODE.misconception(
    "The context takes both halves at the last step",
    fails=ENCODE.all_but("states"),
    hints=(
        "All states are right; the backward half of c is not.",
        "At the last word the backward reader has read one word. It knows the whole row at the first.",
        "Read the equation of the context: the indices of the two states differ.",
    ),
)
def encode__last_of_both(x, lengths, f, b):
    B, S, _ = x.shape
    t, n, row = torch.arange(S), lengths[:, None], torch.arange(B)[:, None]
    real, turned = (t < n)[..., None], torch.where(t < n, n - 1 - t, t)
    h_f = gru_forward(x, x.new_zeros(B, len(f.b_h)), f)
    h_b = gru_forward(x[row, turned], x.new_zeros(B, len(b.b_h)), b)[row, turned]
    states = torch.cat([h_f, h_b], dim=2) * real
    return states, states[row[:, 0], lengths - 1]


@ENCODE.misconception(
    "The context takes both halves at the first step",
    fails=ENCODE.all_but("states"),
    hints=(
        "All states are right; the forward half of c is not.",
        "At the first word the forward reader has read one word. It knows the whole row at the last real step.",
        "Read the equation of the context: the indices of the two states differ.",
    ),
)
def encode__first_of_both(x, lengths, f, b):
    B, S, _ = x.shape
    t, n, row = torch.arange(S), lengths[:, None], torch.arange(B)[:, None]
    real, turned = (t < n)[..., None], torch.where(t < n, n - 1 - t, t)
    h_f = gru_forward(x, x.new_zeros(B, len(f.b_h)), f)
    h_b = gru_forward(x[row, turned], x.new_zeros(B, len(b.b_h)), b)[row, turned]
    states = torch.cat([h_f, h_b], dim=2) * real
    return states, states[:, 0]


@ENCODE.misconception(
    "The context is the last column of the states",
    fails=ENCODE.all_but("states"),
    hints=(
        "All states are right. Your c is zero in short rows, and its backward half has read one word in full ones.",
        "states[:, -1] is the end of the rectangle, not of the row, and the backward reader *begins* there.",
        "Read the equation of the context: which step of each direction is meant?",
    ),
)
def encode__last_column(x, lengths, f, b):
    B, S, _ = x.shape
    t, n, row = torch.arange(S), lengths[:, None], torch.arange(B)[:, None]
    real, turned = (t < n)[..., None], torch.where(t < n, n - 1 - t, t)
    h_f = gru_forward(x, x.new_zeros(B, len(f.b_h)), f)
    h_b = gru_forward(x[row, turned], x.new_zeros(B, len(b.b_h)), b)[row, turned]
    states = torch.cat([h_f, h_b], dim=2) * real
    return states, states[:, -1]


@ENCODE.misconception(
    "The context takes each reader where it begins",
    fails=ENCODE.all_but("states"),
    hints=(
        "All states are right; in c each half comes from the wrong end of the row.",
        "The forward state was taken at the first word and the backward one at the last: each has read one word there.",
        "Read the equation of the context: which index belongs to which arrow?",
    ),
)
def encode__ends_swapped(x, lengths, f, b):
    B, S, _ = x.shape
    t, n, row = torch.arange(S), lengths[:, None], torch.arange(B)[:, None]
    real, turned = (t < n)[..., None], torch.where(t < n, n - 1 - t, t)
    h_f = gru_forward(x, x.new_zeros(B, len(f.b_h)), f)
    h_b = gru_forward(x[row, turned], x.new_zeros(B, len(b.b_h)), b)[row, turned]
    states = torch.cat([h_f, h_b], dim=2) * real
    return states, torch.cat([h_f[:, 0], h_b[row[:, 0], lengths - 1]], dim=1)


@ENCODE.misconception(
    "The state is blanked at the pads, and the context with it",
    fails=ENCODE.all_but("states", "full"),
    hints=(
        "All states are right, and so are contexts of full rows; in short rows the forward half of c is zero.",
        "At a pad the state was set to zero, and c was read off at the end of the rectangle. What the output "
        "shows at the pads is zero; what the reader knows stays.",
        "Read the equation of the context: the index of the forward state is n, not S.",
    ),
)
def encode__context_lost(x, lengths, f, b):
    B, S, _ = x.shape
    t, n, row = torch.arange(S), lengths[:, None], torch.arange(B)[:, None]
    real, turned = (t < n)[..., None], torch.where(t < n, n - 1 - t, t)
    h_f = gru_forward(x, x.new_zeros(B, len(f.b_h)), f)
    h_b = gru_forward(x[row, turned], x.new_zeros(B, len(b.b_h)), b)[row, turned]
    states = torch.cat([h_f, h_b], dim=2) * real
    return states, torch.cat([states[:, -1, : len(f.b_h)], h_b[:, 0]], dim=1)


@ENCODE.misconception(
    "The context is the mean of the states",
    fails=ENCODE.all_but("states"),
    hints=(
        "All states are right; c is their mean over the real steps.",
        "A mean is a summary, too (chapter 5), but here c holds what each reader knows at the end of its way.",
        "Read the equation of the context.",
    ),
)
def encode__mean_context(x, lengths, f, b):
    B, S, _ = x.shape
    t, n, row = torch.arange(S), lengths[:, None], torch.arange(B)[:, None]
    real, turned = (t < n)[..., None], torch.where(t < n, n - 1 - t, t)
    h_f = gru_forward(x, x.new_zeros(B, len(f.b_h)), f)
    h_b = gru_forward(x[row, turned], x.new_zeros(B, len(b.b_h)), b)[row, turned]
    states = torch.cat([h_f, h_b], dim=2) * real
    return states, states.sum(dim=1) / n


@ENCODE.misconception(
    "The context is taken one step too far",
    fails=ENCODE.all_but(),
    hints=(
        "All states are right. The forward half of c is zero in short rows; in full ones there is no such step.",
        "Steps are counted from 0: the last of n stands at n - 1.",
        "Read the equation of the context, and count from 0.",
    ),
)
def encode__one_too_far(x, lengths, f, b):
    B, S, _ = x.shape
    t, n, row = torch.arange(S), lengths[:, None], torch.arange(B)[:, None]
    real, turned = (t < n)[..., None], torch.where(t < n, n - 1 - t, t)
    h_f = gru_forward(x, x.new_zeros(B, len(f.b_h)), f)
    h_b = gru_forward(x[row, turned], x.new_zeros(B, len(b.b_h)), b)[row, turned]
    states = torch.cat([h_f, h_b], dim=2) * real
    return states, torch.cat([states[row[:, 0], lengths, : len(f.b_h)], h_b[:, 0]], dim=1)


@ENCODE.misconception(
    "The backward half of the context comes first",
    fails=ENCODE.all_but("states"),
    hints=(
        "All states are right, and so are both halves of c, but they have changed places.",
        "In the states the forward half comes first, and in c as well.",
        "Read what the task says about c: forward first.",
    ),
)
def encode__context_halves_swapped(x, lengths, f, b):
    B, S, _ = x.shape
    t, n, row = torch.arange(S), lengths[:, None], torch.arange(B)[:, None]
    real, turned = (t < n)[..., None], torch.where(t < n, n - 1 - t, t)
    h_f = gru_forward(x, x.new_zeros(B, len(f.b_h)), f)
    h_b = gru_forward(x[row, turned], x.new_zeros(B, len(b.b_h)), b)[row, turned]
    states = torch.cat([h_f, h_b], dim=2) * real
    return states, torch.cat([h_b[:, 0], h_f[row[:, 0], lengths - 1]], dim=1)


@ENCODE.misconception(
    "The backward half comes first in both results",
    fails=ENCODE.all_but(),
    hints=(
        "All values are right, but in both results the two halves have changed places.",
        "Who reads your output takes the left part for the forward states, as torch has them.",
        "Read what the task says about the results: forward first.",
    ),
)
def encode__backward_first(x, lengths, f, b):
    B, S, _ = x.shape
    t, n, row = torch.arange(S), lengths[:, None], torch.arange(B)[:, None]
    real, turned = (t < n)[..., None], torch.where(t < n, n - 1 - t, t)
    h_f = gru_forward(x, x.new_zeros(B, len(f.b_h)), f)
    h_b = gru_forward(x[row, turned], x.new_zeros(B, len(b.b_h)), b)[row, turned]
    states = torch.cat([h_b, h_f], dim=2) * real
    return states, torch.cat([h_b[:, 0], h_f[row[:, 0], lengths - 1]], dim=1)


@ENCODE.misconception(
    "The backward states are not turned back",
    fails=ENCODE.all_but(),
    hints=(
        "Your forward half is right. The backward states are right, too, but in the order in which b has read.",
        "What b says of the last word stands beside the first. Turn its states round again before you join them.",
        "Read the equation of the states: both halves belong to the same step.",
    ),
)
def encode__not_turned_back(x, lengths, f, b):
    B, S, _ = x.shape
    t, n, row = torch.arange(S), lengths[:, None], torch.arange(B)[:, None]
    real, turned = (t < n)[..., None], torch.where(t < n, n - 1 - t, t)
    h_f = gru_forward(x, x.new_zeros(B, len(f.b_h)), f)
    h_b = gru_forward(x[row, turned], x.new_zeros(B, len(b.b_h)), b)
    states = torch.cat([h_f, h_b], dim=2) * real
    return states, torch.cat([h_f[row[:, 0], lengths - 1], h_b[:, 0]], dim=1)


@ENCODE.misconception(
    "The context is right, but the backward states are not turned back",
    fails=ENCODE.all_but("context"),
    hints=(
        "The context and your forward half are right. The backward states stand in the order in which b has read.",
        "What b says of the last word stands beside the first. Turn the real steps of each row round again before you "
        "join the halves.",
        "Read the equation of the states: both halves belong to the same step.",
    ),
)
def encode__states_not_turned_back(x, lengths, f, b):
    B, S, _ = x.shape
    t, n, row = torch.arange(S), lengths[:, None], torch.arange(B)[:, None]
    real, turned = (t < n)[..., None], torch.where(t < n, n - 1 - t, t)
    h_f = gru_forward(x, x.new_zeros(B, len(f.b_h)), f)
    h_b = gru_forward(x[row, turned], x.new_zeros(B, len(b.b_h)), b)
    states = torch.cat([h_f, h_b], dim=2)
    return states * real, states[row[:, 0], lengths - 1]


@ENCODE.misconception(
    "The loop runs backward, and its states are listed in that order",
    fails=ENCODE.all_but("context"),
    hints=(
        "The context and your forward half are right. The backward states stand in the order of the loop, which began "
        "at the end of the rectangle.",
        "The state that is ready first belongs to the last step: put each new one in front, or turn the list round.",
        "Read the equation of the states: both halves belong to the same step.",
    ),
)
def encode__listed_as_read(x, lengths, f, b):
    B, S, _ = x.shape
    real = torch.arange(S) < lengths[:, None]
    h_f, h_b = x.new_zeros(B, len(f.b_h)), x.new_zeros(B, len(b.b_h))
    forward, backward = [], []
    for s in range(S):
        h_f = torch.where(real[:, s, None], gru_step(x[:, s], h_f, f), h_f)
        h_b = torch.where(real[:, -1 - s, None], gru_step(x[:, -1 - s], h_b, b), h_b)
        forward.append(h_f)
        backward.append(h_b)
    states = torch.cat([torch.stack(forward, dim=1), torch.stack(backward, dim=1)], dim=2)
    return states * real[..., None], torch.cat([h_f, h_b], dim=1)


@ENCODE.misconception(
    "At the pads the last state stands",
    fails=ENCODE.all_but("context", "full"),
    hints=(
        "The context and all real steps are right, but the states at the pads are not zero.",
        "Keeping the state through the pads is a good way to the context. In the states the pads are to be zero.",
        "Read what the task says about the states: zeros at the pads.",
    ),
)
def encode__pads_hold(x, lengths, f, b):
    B, S, _ = x.shape
    real = torch.arange(S) < lengths[:, None]
    h_f, h_b = x.new_zeros(B, len(f.b_h)), x.new_zeros(B, len(b.b_h))
    forward, backward = [], []
    for s in range(S):
        h_f = torch.where(real[:, s, None], gru_step(x[:, s], h_f, f), h_f)
        h_b = torch.where(real[:, -1 - s, None], gru_step(x[:, -1 - s], h_b, b), h_b)
        forward.append(h_f)
        backward.insert(0, h_b)
    return torch.cat([torch.stack(forward, 1), torch.stack(backward, 1)], dim=2), torch.cat([h_f, h_b], dim=1)


@ENCODE.misconception(
    "The readers run on through the pads",
    fails=ENCODE.all_but("context", "full"),
    hints=(
        "The context and all real steps are right, but the states at the pads are not zero.",
        "Both readers went on to the end of the rectangle. What they say there has to be wiped out.",
        "Read what the task says about the states: zeros at the pads.",
    ),
)
def encode__pads_run_on(x, lengths, f, b):
    B, S, _ = x.shape
    t, n, row = torch.arange(S), lengths[:, None], torch.arange(B)[:, None]
    turned = torch.where(t < n, n - 1 - t, t)
    h_f = gru_forward(x, x.new_zeros(B, len(f.b_h)), f)
    h_b = gru_forward(x[row, turned], x.new_zeros(B, len(b.b_h)), b)[row, turned]
    states = torch.cat([h_f, h_b], dim=2)
    return states, torch.cat([h_f[row[:, 0], lengths - 1], h_b[:, 0]], dim=1)


@ENCODE.misconception(
    "The two readers are added up",
    fails=ENCODE.all_but(),
    hints=(
        "Side by side, not added: the two widths may even differ.",
        "Added up, nobody can tell any more what came from the left and what from the right.",
        "Read the equation of the states: what does the sign between them mean?",
    ),
)
def encode__summed(x, lengths, f, b):
    B, S, _ = x.shape
    t, n, row = torch.arange(S), lengths[:, None], torch.arange(B)[:, None]
    real, turned = (t < n)[..., None], torch.where(t < n, n - 1 - t, t)
    h_f = gru_forward(x, x.new_zeros(B, len(f.b_h)), f)
    h_b = gru_forward(x[row, turned], x.new_zeros(B, len(b.b_h)), b)[row, turned]
    states = (h_f + h_b) * real
    return states, h_f[row[:, 0], lengths - 1] + h_b[:, 0]


@ENCODE.misconception(
    "Both readers use the weights of f",
    fails=ENCODE.all_but(),
    hints=(
        "Your forward half is right; the parameters b make no difference.",
        "The two readers are two networks: what is useful on the left is something else than on the right.",
        "Read what the task says about f and b.",
    ),
)
def encode__one_set_of_weights(x, lengths, f, b):
    B, S, _ = x.shape
    t, n, row = torch.arange(S), lengths[:, None], torch.arange(B)[:, None]
    real, turned = (t < n)[..., None], torch.where(t < n, n - 1 - t, t)
    h_f = gru_forward(x, x.new_zeros(B, len(f.b_h)), f)
    h_b = gru_forward(x[row, turned], x.new_zeros(B, len(f.b_h)), f)[row, turned]
    states = torch.cat([h_f, h_b], dim=2) * real
    return states, torch.cat([h_f[row[:, 0], lengths - 1], h_b[:, 0]], dim=1)


@ENCODE.misconception(
    "The backward reader reads the forward states",
    fails=ENCODE.all_but(),
    hints=(
        "Your forward half is right; the backward half has not seen x itself.",
        "b was put on top of f. In one layer both read the same words.",
        "Read the equation of the states: what do both steps take as input?",
    ),
)
def encode__reads_forward_states(x, lengths, f, b):
    B, S, _ = x.shape
    t, n, row = torch.arange(S), lengths[:, None], torch.arange(B)[:, None]
    real, turned = (t < n)[..., None], torch.where(t < n, n - 1 - t, t)
    h_f = gru_forward(x, x.new_zeros(B, len(f.b_h)), f)
    h_b = gru_forward(h_f[row, turned], x.new_zeros(B, len(b.b_h)), b)[row, turned]
    states = torch.cat([h_f, h_b], dim=2) * real
    return states, torch.cat([h_f[row[:, 0], lengths - 1], h_b[:, 0]], dim=1)


@ENCODE.misconception(
    "The backward reader starts from the forward context",
    fails=ENCODE.all_but(),
    hints=(
        "Your forward half is right; the backward reader knows the whole row before its first step.",
        "The last state of f was handed on as the first of b. Each reader has a memory of its own, and it "
        "starts empty.",
        "Read the equation of the states: what is the backward state at n + 1?",
    ),
)
def encode__state_handed_over(x, lengths, f, b):
    B, S, _ = x.shape
    t, n, row = torch.arange(S), lengths[:, None], torch.arange(B)[:, None]
    real, turned = (t < n)[..., None], torch.where(t < n, n - 1 - t, t)
    h_f = gru_forward(x, x.new_zeros(B, len(f.b_h)), f)
    h_b = gru_forward(x[row, turned], h_f[row[:, 0], lengths - 1], b)[row, turned]
    states = torch.cat([h_f, h_b], dim=2) * real
    return states, torch.cat([h_f[row[:, 0], lengths - 1], h_b[:, 0]], dim=1)


@ENCODE.misconception(
    "The reset comes after the matrix",
    fails=ENCODE.all_but("dtype"),
    hints=(
        "Shapes and ends are right, but from the second step on the values are those of another GRU.",
        "The reset was put where torch has it. That is a different model, not another name for this one.",
        "Read what the task says about the reset.",
    ),
)
def encode__reset_after(x, lengths, f, b):
    B, S, _ = x.shape
    t, n, row = torch.arange(S), lengths[:, None], torch.arange(B)[:, None]
    real, turned = (t < n)[..., None], torch.where(t < n, n - 1 - t, t)
    h_f = gru_forward(x, x.new_zeros(B, len(f.b_h)), f, "after")
    h_b = gru_forward(x[row, turned], x.new_zeros(B, len(b.b_h)), b, "after")[row, turned]
    states = torch.cat([h_f, h_b], dim=2) * real
    return states, torch.cat([h_f[row[:, 0], lengths - 1], h_b[:, 0]], dim=1)


@ENCODE.misconception(
    "The first states have torch's default number type",
    fails=("encode_dtype",),
    hints=(
        "Your results are right, but only where x has the number type that torch takes by default.",
        "torch.zeros(B, H) makes float32 unless told otherwise, and x may be float64: the two do not "
        "multiply. x.new_zeros(B, H) takes the number type of x.",
        "Read what the task says about the dtype of the results.",
    ),
)
def encode__default_dtype(x, lengths, f, b):
    B, S, _ = x.shape
    t, n, row = torch.arange(S), lengths[:, None], torch.arange(B)[:, None]
    real, turned = (t < n)[..., None], torch.where(t < n, n - 1 - t, t)
    h_f = gru_forward(x, torch.zeros(B, len(f.b_h)), f)
    h_b = gru_forward(x[row, turned], torch.zeros(B, len(b.b_h)), b)[row, turned]
    states = torch.cat([h_f, h_b], dim=2) * real
    return states, torch.cat([h_f[row[:, 0], lengths - 1], h_b[:, 0]], dim=1)


@ENCODE.misconception(
    "The states are cut to the longest row",
    fails=("encode_all_short",),
    hints=(
        "All is right but for a batch whose longest row is shorter than the rectangle: there states are missing.",
        "The states were padded to the longest length only. There are to be as many steps as in x.",
        "Read what the task says about the shape of the states, and about lengths: perhaps none is S.",
    ),
)
def encode__cut_to_longest(x, lengths, f, b):
    x = x[:, : int(lengths.max())]
    B, S, _ = x.shape
    t, n, row = torch.arange(S), lengths[:, None], torch.arange(B)[:, None]
    real, turned = (t < n)[..., None], torch.where(t < n, n - 1 - t, t)
    h_f = gru_forward(x, x.new_zeros(B, len(f.b_h)), f)
    h_b = gru_forward(x[row, turned], x.new_zeros(B, len(b.b_h)), b)[row, turned]
    states = torch.cat([h_f, h_b], dim=2) * real
    return states, torch.cat([h_f[row[:, 0], lengths - 1], h_b[:, 0]], dim=1)


# ---- 6.3 decode ----

DECODE = Exercise(
    number="6.3",
    references=(seq2seq.decode,),
    probe_module=probes,
    points=3,
    minutes=20,
    difficulty=2,
    forbidden=_LAYERS,
)


@DECODE.misconception(
    "The context is read at the first step only",
    fails=DECODE.all_but("one_step"),
    hints=(
        "Your first step is right; later ones do not see the context.",
        "c was replaced by zeros after the first step. Here it is read anew at every step, so that it need "
        "not be remembered.",
        "Read the equation of the state: c carries no index t.",
    ),
)
def decode__context_once(y_in, h0, c, params):
    e, h, logits = params.W_e[y_in], h0, []
    zero = torch.zeros_like(c)
    for t in range(y_in.shape[1]):
        h = gru_step(torch.cat([e[:, t], c if t == 0 else zero], dim=1), h, params.gru)
        logits.append(h @ params.W_hy.T + params.b_y)
    return torch.stack(logits, dim=1), h


@DECODE.misconception(
    "The decoder starts from c instead of h0",
    fails=DECODE.all_but(),
    hints=(
        "h0 makes no difference in your answer.",
        "In many models h0 is made of c, so the two are easily confused. Here both are given: h0 comes first "
        "in the state, c in the input of every step.",
        "Read what the task says about h0 and c.",
    ),
)
def decode__starts_from_context(y_in, h0, c, params):
    e, h, logits = params.W_e[y_in], c, []
    for t in range(y_in.shape[1]):
        h = gru_step(torch.cat([e[:, t], c], dim=1), h, params.gru)
        logits.append(h @ params.W_hy.T + params.b_y)
    return torch.stack(logits, dim=1), h


@DECODE.misconception(
    "The context takes the place of the state",
    fails=DECODE.all_but(),
    hints=(
        "Your steps know nothing of the steps before them.",
        "c was handed to gru_step as the old state, at every step. It is a part of the input; the state is h.",
        "Read the equation of the state: what are the two arguments of the step?",
    ),
)
def decode__context_as_state(y_in, h0, c, params):
    e, h, logits = params.W_e[y_in], h0, []
    for t in range(y_in.shape[1]):
        h = gru_step(torch.cat([e[:, t], c], dim=1), c, params.gru)
        logits.append(h @ params.W_hy.T + params.b_y)
    return torch.stack(logits, dim=1), h


@DECODE.misconception(
    "Each step reads the token of the next step",
    fails=DECODE.all_but("one_step"),
    hints=(
        "Your decoder reads one token too far: at the second column already in the first step.",
        "y_in is shifted already, BOS stands in its first column: step t reads column t - 1, counted from 0.",
        "Read what the task says about y_in: where does the token of step t stand?",
    ),
)
def decode__reads_next(y_in, h0, c, params):
    e, h, logits = params.W_e[y_in], h0, []
    for t in range(y_in.shape[1]):
        h = gru_step(torch.cat([e[:, min(t + 1, y_in.shape[1] - 1)], c], dim=1), h, params.gru)
        logits.append(h @ params.W_hy.T + params.b_y)
    return torch.stack(logits, dim=1), h


@DECODE.misconception(
    "The inputs are shifted once more",
    fails=DECODE.all_but("one_step"),
    hints=(
        "Your first step is right; each later one reads the token before its own.",
        "y_in is shifted already. Shifting it again makes the decoder read BOS twice, and never the last token.",
        "Read what the task says about y_in: where does the token of step t stand?",
    ),
)
def decode__shifted_again(y_in, h0, c, params):
    e, h, logits = params.W_e[y_in], h0, []
    for t in range(y_in.shape[1]):
        h = gru_step(torch.cat([e[:, max(t - 1, 0)], c], dim=1), h, params.gru)
        logits.append(h @ params.W_hy.T + params.b_y)
    return torch.stack(logits, dim=1), h


@DECODE.misconception(
    "The tokens are read one-hot, without the embedding",
    fails=DECODE.all_but(),
    hints=(
        "W_e makes no difference in your answer.",
        "One-hot vectors were handed to the GRU. An embedding turns each into E numbers first: row y of W_e.",
        "Read the equation of the state: what is done with y before it is joined with c?",
    ),
)
def decode__one_hot(y_in, h0, c, params):
    e, h, logits = F.one_hot(y_in, len(params.W_e)).to(h0.dtype), h0, []
    for t in range(y_in.shape[1]):
        h = gru_step(torch.cat([e[:, t], c], dim=1), h, params.gru)
        logits.append(h @ params.W_hy.T + params.b_y)
    return torch.stack(logits, dim=1), h


@DECODE.misconception(
    "The ids themselves are read, without the embedding",
    fails=DECODE.all_but(),
    hints=(
        "W_e makes no difference in your answer.",
        "An id is a name, not a quantity: token 6 is not twice token 3. Look up row y of W_e.",
        "Read the equation of the state: what is done with y before it is joined with c?",
    ),
)
def decode__raw_ids(y_in, h0, c, params):
    e, h, logits = y_in[..., None].to(h0.dtype), h0, []
    for t in range(y_in.shape[1]):
        h = gru_step(torch.cat([e[:, t], c], dim=1), h, params.gru)
        logits.append(h @ params.W_hy.T + params.b_y)
    return torch.stack(logits, dim=1), h


@DECODE.misconception(
    "The context stands before the embedding",
    fails=DECODE.all_but(),
    hints=(
        "All shapes fit, but the columns of W_x meet the wrong numbers.",
        "Joining in the other order gives a vector of the same width. The first E columns belong to the embedding.",
        "Read what the task says about the columns of W_x.",
    ),
)
def decode__context_before_embedding(y_in, h0, c, params):
    e, h, logits = params.W_e[y_in], h0, []
    for t in range(y_in.shape[1]):
        h = gru_step(torch.cat([c, e[:, t]], dim=1), h, params.gru)
        logits.append(h @ params.W_hy.T + params.b_y)
    return torch.stack(logits, dim=1), h


@DECODE.misconception(
    "The scores are those of the state before the step",
    fails=DECODE.all_but("state"),
    hints=(
        "The state in the end is right; the scores come one step late.",
        "The scores were computed before the step was taken: the token just read has no say in them.",
        "Read the equation of the output: the index of h.",
    ),
)
def decode__scores_of_old_state(y_in, h0, c, params):
    e, h, logits = params.W_e[y_in], h0, []
    for t in range(y_in.shape[1]):
        logits.append(h @ params.W_hy.T + params.b_y)
        h = gru_step(torch.cat([e[:, t], c], dim=1), h, params.gru)
    return torch.stack(logits, dim=1), h


@DECODE.misconception(
    "Every step starts from h0",
    fails=DECODE.all_but("one_step", "dtype"),
    hints=(
        "Your first step is right; later ones know nothing of the steps before them.",
        "gru_step is given h0 each time. What it returns is the old state of the next step.",
        "Read the equation of the state: the index of h on both sides.",
    ),
)
def decode__state_not_carried(y_in, h0, c, params):
    e, h, logits = params.W_e[y_in], h0, []
    for t in range(y_in.shape[1]):
        h = gru_step(torch.cat([e[:, t], c], dim=1), h0, params.gru)
        logits.append(h @ params.W_hy.T + params.b_y)
    return torch.stack(logits, dim=1), h


@DECODE.misconception(
    "The decoder reads what it has said itself",
    fails=DECODE.all_but("one_step"),
    hints=(
        "Your first step is right; after it the tokens of y_in make no difference.",
        "The best token was fed back. That is how a decoder writes alone, in the next exercise; here it reads "
        "the given tokens, whatever it would have said.",
        "Read what the task says about y_in: the tokens to read.",
    ),
)
def decode__free_running(y_in, h0, c, params):
    y, h, logits = y_in[:, 0], h0, []
    for _ in range(y_in.shape[1]):
        h = gru_step(torch.cat([params.W_e[y], c], dim=1), h, params.gru)
        logits.append(h @ params.W_hy.T + params.b_y)
        y = logits[-1].argmax(dim=1)
    return torch.stack(logits, dim=1), h


@DECODE.misconception(
    "The reset comes after the matrix",
    fails=DECODE.all_but("dtype"),
    hints=(
        "All shapes are right, but the values are those of another GRU.",
        "The reset was put where torch has it. That is a different model, not another name for this one.",
        "Read what the task says about the reset.",
    ),
)
def decode__reset_after(y_in, h0, c, params):
    e, h, logits = params.W_e[y_in], h0, []
    for t in range(y_in.shape[1]):
        h = gru_step(torch.cat([e[:, t], c], dim=1), h, params.gru, "after")
        logits.append(h @ params.W_hy.T + params.b_y)
    return torch.stack(logits, dim=1), h


@DECODE.misconception(
    "The bias of the scores is left out",
    fails=DECODE.all_but("state", "dtype"),
    hints=(
        "The state is right; each score is off by the same amount at every step.",
        "b_y was not added: how common a token is, whatever the state.",
        "Read the equation of the output.",
    ),
)
def decode__no_bias(y_in, h0, c, params):
    e, h, logits = params.W_e[y_in], h0, []
    for t in range(y_in.shape[1]):
        h = gru_step(torch.cat([e[:, t], c], dim=1), h, params.gru)
        logits.append(h @ params.W_hy.T)
    return torch.stack(logits, dim=1), h


@DECODE.misconception(
    "Probabilities are returned instead of scores",
    fails=DECODE.all_but("state"),
    hints=(
        "The state is right; what should be scores sums to 1.",
        "softmax was applied. The loss does that itself, more safely: scores are asked for.",
        "Read the equation of the output: there is no softmax in it.",
    ),
)
def decode__probabilities(y_in, h0, c, params):
    e, h, logits = params.W_e[y_in], h0, []
    for t in range(y_in.shape[1]):
        h = gru_step(torch.cat([e[:, t], c], dim=1), h, params.gru)
        logits.append(h @ params.W_hy.T + params.b_y)
    return torch.stack(logits, dim=1).softmax(dim=2), h


@DECODE.misconception(
    "Log probabilities are returned instead of scores",
    fails=DECODE.all_but("state"),
    hints=(
        "The state is right; each row of what should be scores is shifted by one number.",
        "log_softmax was applied. The loss does that itself: scores are asked for.",
        "Read the equation of the output: there is no softmax in it.",
    ),
)
def decode__log_probabilities(y_in, h0, c, params):
    e, h, logits = params.W_e[y_in], h0, []
    for t in range(y_in.shape[1]):
        h = gru_step(torch.cat([e[:, t], c], dim=1), h, params.gru)
        logits.append(h @ params.W_hy.T + params.b_y)
    return torch.stack(logits, dim=1).log_softmax(dim=2), h


@DECODE.misconception(
    "The states are returned instead of the scores",
    fails=DECODE.all_but("state", "dtype"),
    hints=(
        "The state in the end is right; where the scores should be, stand all states.",
        "W_hy and b_y are not used: they turn each state into V scores.",
        "Read the equation of the output.",
    ),
)
def decode__states_for_scores(y_in, h0, c, params):
    e, h, logits = params.W_e[y_in], h0, []
    for t in range(y_in.shape[1]):
        h = gru_step(torch.cat([e[:, t], c], dim=1), h, params.gru)
        logits.append(h)
    return torch.stack(logits, dim=1), h


@DECODE.misconception(
    "Only the scores of the last step are returned",
    fails=DECODE.all_but("state"),
    hints=(
        "The state is right; your scores have no axis of time.",
        "Every step is trained, so the scores of all steps are needed.",
        "Read what the task says about the shape of logits.",
    ),
)
def decode__last_scores_only(y_in, h0, c, params):
    e, h, logits = params.W_e[y_in], h0, []
    for t in range(y_in.shape[1]):
        h = gru_step(torch.cat([e[:, t], c], dim=1), h, params.gru)
        logits.append(h @ params.W_hy.T + params.b_y)
    return logits[-1], h


@DECODE.misconception(
    "All states are returned instead of the last",
    fails=DECODE.all_but("scores"),
    hints=(
        "The scores are right; the second result has an axis too many.",
        "To go on, the decoder needs the state after the last step only.",
        "Read what the task says about h.",
    ),
)
def decode__all_states(y_in, h0, c, params):
    e, h, logits = params.W_e[y_in], h0, []
    states = []
    for t in range(y_in.shape[1]):
        h = gru_step(torch.cat([e[:, t], c], dim=1), h, params.gru)
        states.append(h)
        logits.append(h @ params.W_hy.T + params.b_y)
    return torch.stack(logits, dim=1), torch.stack(states, dim=1)


@DECODE.misconception(
    "h0 is returned as the state",
    fails=DECODE.all_but("scores"),
    hints=(
        "The scores are right; the second result is the state before the first step.",
        "Who goes on from there begins anew. Return the state after the last step.",
        "Read what the task says about h.",
    ),
)
def decode__first_state_returned(y_in, h0, c, params):
    e, h, logits = params.W_e[y_in], h0, []
    for t in range(y_in.shape[1]):
        h = gru_step(torch.cat([e[:, t], c], dim=1), h, params.gru)
        logits.append(h @ params.W_hy.T + params.b_y)
    return torch.stack(logits, dim=1), h0


@DECODE.misconception(
    "The past is cut off from the gradient",
    fails=("decode_gradients",),
    hints=(
        "All values are right; the gradients stop after one step.",
        "The state was detached between the steps. The encoder, and the early steps, then learn from next to nothing.",
        "Read what the task says about gradients.",
    ),
)
def decode__detached(y_in, h0, c, params):
    e, h, logits = params.W_e[y_in], h0, []
    for t in range(y_in.shape[1]):
        h = gru_step(torch.cat([e[:, t], c], dim=1), h.detach() if t else h, params.gru)
        logits.append(h @ params.W_hy.T + params.b_y)
    return torch.stack(logits, dim=1), h


@DECODE.misconception(
    "Columns of W_e are looked up instead of rows",
    fails=DECODE.all_but(),
    hints=(
        "Where E and V differ, ids run out of range.",
        "W_e has a row for each token: W_e[y], not W_e[:, y] nor W_e.T[y].",
        "Read what the task says about the shape of W_e.",
    ),
)
def decode__column_of_embedding(y_in, h0, c, params):
    e, h, logits = params.W_e.T[y_in], h0, []
    for t in range(y_in.shape[1]):
        h = gru_step(torch.cat([e[:, t], c], dim=1), h, params.gru)
        logits.append(h @ params.W_hy.T + params.b_y)
    return torch.stack(logits, dim=1), h


@DECODE.misconception(
    "Batch and time are exchanged",
    fails=DECODE.all_but(),
    hints=(
        "Your loop runs along the rows of the batch instead of along time.",
        "e is batch first: the tokens of one step are e[:, t].",
        "Read what the task says about the shape of y_in.",
    ),
)
def decode__time_first(y_in, h0, c, params):
    e, h, logits = params.W_e[y_in], h0, []
    for t in range(len(y_in)):
        h = gru_step(torch.cat([e[t], c], dim=1), h, params.gru)
        logits.append(h @ params.W_hy.T + params.b_y)
    return torch.stack(logits, dim=1), h


# ---- 6.4 greedy ----

GREEDY = Exercise(
    number="6.4",
    references=(seq2seq.greedy,),
    probe_module=probes,
    points=3,
    minutes=20,
    difficulty=2,
    not_applicable={
        "teacher forcing at test time": "greedy is not given the true tokens; reading BOS for ever is listed instead.",
    },
)


@GREEDY.misconception(
    "EOS does not stop anything",
    fails=GREEDY.all_but("goes_on"),
    hints=(
        "Up to EOS your rows are right; then they go on talking, always up to max_len.",
        "After its EOS a row has nothing more to say: fill it up with pads, and stop when all rows have ended.",
        "Read what the task says about EOS.",
    ),
)
def greedy__no_stop(step, h0, c, bos, eos, pad, max_len):
    y, h, out = torch.full((len(c),), bos), h0, []
    for _ in range(max_len):
        logits, h = step(y, h, c)
        y = logits.argmax(dim=1)
        out.append(y)
    return torch.stack(out, dim=1)


@GREEDY.misconception(
    "Rows that have ended go on talking until the last has ended",
    fails=GREEDY.all_but("goes_on", "alone", "together"),
    hints=(
        "You stop when all rows have ended, and up to EOS they are right; behind it shorter rows hold tokens.",
        "Remember which rows have ended, and write pads into them from then on.",
        "Read what the task says about EOS: all that follows it is pad.",
    ),
)
def greedy__no_pads(step, h0, c, bos, eos, pad, max_len):
    y, h = torch.full((len(c),), bos), h0
    ended, out = torch.zeros(len(c), dtype=torch.bool), []
    while len(out) < max_len and not ended.all():
        logits, h = step(y, h, c)
        y = logits.argmax(dim=1)
        ended = ended | (y == eos)
        out.append(y)
    return torch.stack(out, dim=1)


@GREEDY.misconception(
    "The first EOS stops the whole batch",
    fails=GREEDY.all_but("goes_on", "alone", "together"),
    hints=(
        "A row alone is right. In a batch all rows are cut where the first of them ends.",
        "any() asks whether some row has ended; the batch is done when all have.",
        "Read what the task says about EOS: each row ends with its own.",
    ),
)
def greedy__first_eos_stops_all(step, h0, c, bos, eos, pad, max_len):
    y, h = torch.full((len(c),), bos), h0
    ended, out = torch.zeros(len(c), dtype=torch.bool), []
    while len(out) < max_len and not ended.any():
        logits, h = step(y, h, c)
        y = logits.argmax(dim=1).masked_fill(ended, pad)
        ended = ended | (y == eos)
        out.append(y)
    return torch.stack(out, dim=1)


@GREEDY.misconception(
    "Only an EOS in all rows at once stops the batch",
    fails=GREEDY.all_but("cut", "just", "goes_on", "alone", "together", "untouched"),
    hints=(
        "All tokens are right, but when rows end at different steps columns of nothing but pads follow.",
        "(y == eos).all() asks whether all rows say EOS at this very step. Rows that ended before say pad now: "
        "remember them.",
        "Read what the task says about L.",
    ),
)
def greedy__eos_at_once(step, h0, c, bos, eos, pad, max_len):
    y, h = torch.full((len(c),), bos), h0
    ended, out = torch.zeros(len(c), dtype=torch.bool), []
    for _ in range(max_len):
        logits, h = step(y, h, c)
        y = logits.argmax(dim=1).masked_fill(ended, pad)
        ended = ended | (y == eos)
        out.append(y)
        if (y == eos).all():
            break
    return torch.stack(out, dim=1)


@GREEDY.misconception(
    "No row's end is remembered: only an EOS in all rows at once ends anything",
    fails=GREEDY.all_but("goes_on", "alone", "together"),
    hints=(
        "One row alone is right, and so are rows that end together. All others talk on behind EOS, up to max_len.",
        "(y == eos).all() knows this step only. Keep for each row whether it has ended: then write pads into it, and "
        "stop when all have.",
        "Read what the task says about EOS: each row ends with its first one, whatever the others do.",
    ),
)
def greedy__no_memory(step, h0, c, bos, eos, pad, max_len):
    y, h, out = torch.full((len(c),), bos), h0, []
    for _ in range(max_len):
        logits, h = step(y, h, c)
        y = logits.argmax(dim=1)
        out.append(y)
        if (y == eos).all():
            break
    return torch.stack(out, dim=1)


@GREEDY.misconception(
    "A row's end is remembered for one step",
    fails=GREEDY.all_but("goes_on", "alone", "together"),
    hints=(
        "Behind EOS your rows have one pad; then they talk on.",
        "Only the token just said is asked whether it is EOS. One step later it is a pad, and the row seems to be "
        "alive again: keep for each row whether it has ended.",
        "Read what the task says about EOS: all that follows it is pad.",
    ),
)
def greedy__one_pad(step, h0, c, bos, eos, pad, max_len):
    y, h, out = torch.full((len(c),), bos), h0, []
    for _ in range(max_len):
        logits, h = step(y, h, c)
        y = logits.argmax(dim=1).masked_fill(y == eos, pad)
        out.append(y)
        if ((y == eos) | (y == pad)).all():
            break
    return torch.stack(out, dim=1)


@GREEDY.misconception(
    "The result is always max_len wide",
    fails=GREEDY.all_but("cut", "just", "goes_on", "untouched"),
    hints=(
        "All tokens are right, but behind the longest row columns of nothing but pads follow.",
        "The loop runs on when all rows have ended. Stop there: a long max_len then costs nothing.",
        "Read what the task says about L.",
    ),
)
def greedy__always_max_len(step, h0, c, bos, eos, pad, max_len):
    y, h = torch.full((len(c),), bos), h0
    ended, out = torch.zeros(len(c), dtype=torch.bool), []
    for _ in range(max_len):
        logits, h = step(y, h, c)
        y = logits.argmax(dim=1).masked_fill(ended, pad)
        ended = ended | (y == eos)
        out.append(y)
    return torch.stack(out, dim=1)


@GREEDY.misconception(
    "The decoder reads BOS at every step",
    fails=GREEDY.all_but(),
    hints=(
        "Your first token is right; the later ones do not depend on what was said.",
        "step is given BOS each time. What it said last is what it reads next.",
        "Read the equation: the index of y inside step.",
    ),
)
def greedy__always_bos(step, h0, c, bos, eos, pad, max_len):
    y, h = torch.full((len(c),), bos), h0
    ended, out = torch.zeros(len(c), dtype=torch.bool), []
    while len(out) < max_len and not ended.all():
        logits, h = step(y, h, c)
        said = logits.argmax(dim=1).masked_fill(ended, pad)
        ended = ended | (said == eos)
        out.append(said)
    return torch.stack(out, dim=1)


@GREEDY.misconception(
    "The state is not carried on",
    fails=GREEDY.all_but(),
    hints=(
        "Your first token is right; then the decoder has no memory but the last token.",
        "step is given h0 each time. It returns the state for the next step: use it.",
        "Read the equation: the index of h on both sides.",
    ),
)
def greedy__state_not_carried(step, h0, c, bos, eos, pad, max_len):
    y = torch.full((len(c),), bos)
    ended, out = torch.zeros(len(c), dtype=torch.bool), []
    while len(out) < max_len and not ended.all():
        logits, _ = step(y, h0, c)
        y = logits.argmax(dim=1).masked_fill(ended, pad)
        ended = ended | (y == eos)
        out.append(y)
    return torch.stack(out, dim=1)


@GREEDY.misconception(
    "The best row is sought for each token, not the best token for each row",
    fails=GREEDY.all_but(),
    hints=(
        "What your decoder says are numbers of rows, one for each token of the vocabulary.",
        "argmax ran along axis 0, the batch. The scores of one row lie along the last axis.",
        "Read what the task says about the shape of the scores, and the index under argmax.",
    ),
)
def greedy__argmax_over_batch(step, h0, c, bos, eos, pad, max_len):
    y, h = torch.full((len(c),), bos), h0
    ended, out = torch.zeros(len(c), dtype=torch.bool), []
    while len(out) < max_len and not ended.all():
        logits, h = step(y, h, c)
        y = logits.argmax(dim=0).masked_fill(ended, pad)
        ended = ended | (y == eos)
        out.append(y)
    return torch.stack(out, dim=1)


@GREEDY.misconception(
    "The next token is drawn at random",
    fails=GREEDY.all_but(),
    hints=(
        "Your tokens are likely ones, but not the best, and another call would give others.",
        "They were drawn from the softmax of the scores. Greedy means: always the best, no dice.",
        "Read the equation: argmax.",
    ),
)
def greedy__sampled(step, h0, c, bos, eos, pad, max_len):
    y, h = torch.full((len(c),), bos), h0
    ended, out = torch.zeros(len(c), dtype=torch.bool), []
    while len(out) < max_len and not ended.all():
        logits, h = step(y, h, c)
        y = torch.multinomial(logits.softmax(dim=1), 1).squeeze(1).masked_fill(ended, pad)
        ended = ended | (y == eos)
        out.append(y)
    return torch.stack(out, dim=1)


@GREEDY.misconception(
    "EOS itself is left out",
    fails=GREEDY.all_but("goes_on"),
    hints=(
        "Your rows are right up to the token before EOS; where EOS should stand is a pad.",
        "The row was closed before its EOS was written down. A reader could not tell it from a row that was cut.",
        "Read what the task says about the result: with EOS if it has come.",
    ),
)
def greedy__eos_left_out(step, h0, c, bos, eos, pad, max_len):
    y, h = torch.full((len(c),), bos), h0
    ended, out = torch.zeros(len(c), dtype=torch.bool), []
    while len(out) < max_len and not ended.all():
        logits, h = step(y, h, c)
        y = logits.argmax(dim=1)
        ended = ended | (y == eos)
        y = y.masked_fill(ended, pad)
        out.append(y)
    return torch.stack(out, dim=1)


@GREEDY.misconception(
    "EOS is repeated instead of the pad",
    fails=GREEDY.all_but("goes_on", "alone", "together"),
    hints=(
        "Your rows are right up to EOS; after it come further EOS instead of pads.",
        "Rows that have ended are filled with eos. A loss that leaves out the pads would count these.",
        "Read what the task says about EOS: all that follows it is pad.",
    ),
)
def greedy__eos_repeated(step, h0, c, bos, eos, pad, max_len):
    y, h = torch.full((len(c),), bos), h0
    ended, out = torch.zeros(len(c), dtype=torch.bool), []
    while len(out) < max_len and not ended.all():
        logits, h = step(y, h, c)
        y = logits.argmax(dim=1).masked_fill(ended, eos)
        ended = ended | (y == eos)
        out.append(y)
    return torch.stack(out, dim=1)


@GREEDY.misconception(
    "One more token is kept behind EOS",
    fails=GREEDY.all_but("goes_on", "alone", "together"),
    hints=(
        "Your rows are right up to EOS; then each has one token before its pads begin.",
        "Whether a row has ended was asked of the token before, one step late.",
        "Read the example in the task, second row.",
    ),
)
def greedy__one_token_late(step, h0, c, bos, eos, pad, max_len):
    y, h = torch.full((len(c),), bos), h0
    ended, out = torch.zeros(len(c), dtype=torch.bool), []
    while len(out) < max_len and not (ended | (y == eos)).all():
        logits, h = step(y, h, c)
        said = logits.argmax(dim=1).masked_fill(ended, pad)
        ended = ended | (y == eos)
        y = said
        out.append(y)
    return torch.stack(out, dim=1)


@GREEDY.misconception(
    "BOS is kept in front",
    fails=GREEDY.all_but(),
    hints=(
        "All tokens are right, but a column of BOS stands before them.",
        "BOS is where the decoder starts from; it has not said it.",
        "Read what the task says about the result: without BOS.",
    ),
)
def greedy__bos_kept(step, h0, c, bos, eos, pad, max_len):
    y, h = torch.full((len(c),), bos), h0
    ended, out = torch.zeros(len(c), dtype=torch.bool), [y]
    while len(out) <= max_len and not ended.all():
        logits, h = step(y, h, c)
        y = logits.argmax(dim=1).masked_fill(ended, pad)
        ended = ended | (y == eos)
        out.append(y)
    return torch.stack(out, dim=1)


@GREEDY.misconception(
    "One token more than max_len",
    fails=("greedy_cut", "greedy_goes_on", "greedy_untouched"),
    hints=(
        "Rows that end in time are right; others have max_len + 1 tokens.",
        "The loop makes one turn too many, perhaps to leave room for EOS. max_len counts EOS.",
        "Read what the task says about max_len.",
    ),
)
def greedy__one_too_many(step, h0, c, bos, eos, pad, max_len):
    y, h = torch.full((len(c),), bos), h0
    ended, out = torch.zeros(len(c), dtype=torch.bool), []
    while len(out) <= max_len and not ended.all():
        logits, h = step(y, h, c)
        y = logits.argmax(dim=1).masked_fill(ended, pad)
        ended = ended | (y == eos)
        out.append(y)
    return torch.stack(out, dim=1)


@GREEDY.misconception(
    "One token less than max_len",
    fails=("greedy_cut", "greedy_just", "greedy_goes_on", "greedy_untouched"),
    hints=(
        "Rows that end early are right; others have max_len - 1 tokens.",
        "The loop makes one turn too few, as if BOS counted.",
        "Read what the task says about max_len: the most tokens that a row may have, and BOS is not among them.",
    ),
)
def greedy__one_too_few(step, h0, c, bos, eos, pad, max_len):
    y, h = torch.full((len(c),), bos), h0
    ended, out = torch.zeros(len(c), dtype=torch.bool), []
    while len(out) < max_len - 1 and not ended.all():
        logits, h = step(y, h, c)
        y = logits.argmax(dim=1).masked_fill(ended, pad)
        ended = ended | (y == eos)
        out.append(y)
    return torch.stack(out, dim=1)


@GREEDY.misconception(
    "Rows that come to max_len get an EOS they have not said",
    fails=("greedy_cut", "greedy_goes_on", "greedy_untouched"),
    hints=(
        "Rows that end in time are right; in the others the last token was replaced by EOS.",
        "A row that was cut is to be seen as cut: its last token is what the decoder said.",
        "Read what the task says about the result: with EOS if it has come.",
    ),
)
def greedy__eos_forced(step, h0, c, bos, eos, pad, max_len):
    y, h = torch.full((len(c),), bos), h0
    ended, out = torch.zeros(len(c), dtype=torch.bool), []
    while len(out) < max_len and not ended.all():
        logits, h = step(y, h, c)
        y = logits.argmax(dim=1).masked_fill(ended, pad)
        ended = ended | (y == eos)
        out.append(y)
    out[-1] = torch.where(ended, out[-1], eos)
    return torch.stack(out, dim=1)


@GREEDY.misconception(
    "Time comes first in the result",
    fails=GREEDY.all_but(),
    hints=(
        "All tokens are right, but rows and steps are exchanged.",
        "torch.stack puts the steps along axis 0 unless told otherwise: dim=1.",
        "Read what the task says about the shape of the result.",
    ),
)
def greedy__time_first(step, h0, c, bos, eos, pad, max_len):
    y, h = torch.full((len(c),), bos), h0
    ended, out = torch.zeros(len(c), dtype=torch.bool), []
    while len(out) < max_len and not ended.all():
        logits, h = step(y, h, c)
        y = logits.argmax(dim=1).masked_fill(ended, pad)
        ended = ended | (y == eos)
        out.append(y)
    return torch.stack(out)


# ---- 6.5 scheduled_inputs ----

SCHEDULED_INPUTS = Exercise(
    number="6.5",
    references=(seq2seq.scheduled_inputs,),
    probe_module=probes,
    points=2,
    minutes=10,
    difficulty=2,
)


@SCHEDULED_INPUTS.misconception(
    "p is taken for the share of the true tokens",
    fails=SCHEDULED_INPUTS.all_but(),
    hints=(
        "At p = 0 your inputs are the decoder's own; they ought to be the true ones.",
        "The two branches have changed places. Papers differ here; in this task p belongs to the decoder's own tokens.",
        "Read the equation: which token stands beside u < p?",
    ),
)
def scheduled_inputs__p_inverted(y_in, y_hat, p, u):
    mixed = torch.where(u[:, 1:] < p, y_in[:, 1:], y_hat[:, :-1])
    return torch.cat([y_in[:, :1], mixed], dim=1)


@SCHEDULED_INPUTS.misconception(
    "The share of the true tokens is p, by comparing u with 1 - p",
    fails=SCHEDULED_INPUTS.all_but("half"),
    hints=(
        "At p = 1/2 you are right; otherwise the shares are exchanged.",
        "u < 1 - p chooses with probability 1 - p. In this task p belongs to the decoder's own tokens.",
        "Read the equation: with what is u compared?",
    ),
)
def scheduled_inputs__one_minus_p(y_in, y_hat, p, u):
    mixed = torch.where(u[:, 1:] < 1 - p, y_hat[:, :-1], y_in[:, 1:])
    return torch.cat([y_in[:, :1], mixed], dim=1)


@SCHEDULED_INPUTS.misconception(
    "One draw decides for the whole row",
    fails=SCHEDULED_INPUTS.all_but("ends"),
    hints=(
        "Each of your rows is all true or all the decoder's own.",
        "The first random number of the row was used for all its steps. Each input has one of its own.",
        "Read what the task says about u: one for each input.",
    ),
)
def scheduled_inputs__one_draw_per_row(y_in, y_hat, p, u):
    mixed = torch.where(u[:, :1] < p, y_hat[:, :-1], y_in[:, 1:])
    return torch.cat([y_in[:, :1], mixed], dim=1)


@SCHEDULED_INPUTS.misconception(
    "One draw decides for the whole batch",
    fails=SCHEDULED_INPUTS.all_but("ends"),
    hints=(
        "Your inputs are all true or all the decoder's own.",
        "A single random number was used for everything. Each input has one of its own.",
        "Read what the task says about u: one for each input.",
    ),
)
def scheduled_inputs__one_draw(y_in, y_hat, p, u):
    mixed = y_hat[:, :-1] if u[0, 0] < p else y_in[:, 1:]
    return torch.cat([y_in[:, :1], mixed], dim=1)


@SCHEDULED_INPUTS.misconception(
    "One row of draws decides for all rows",
    fails=SCHEDULED_INPUTS.all_but("ends", "alone"),
    hints=(
        "A row alone is right. In a batch all rows have the decoder's own tokens at the same steps.",
        "The random numbers of the first row were used for all rows.",
        "Read what the task says about the shape of u.",
    ),
)
def scheduled_inputs__one_row_of_draws(y_in, y_hat, p, u):
    mixed = torch.where(u[:1, 1:] < p, y_hat[:, :-1], y_in[:, 1:])
    return torch.cat([y_in[:, :1], mixed], dim=1)


@SCHEDULED_INPUTS.misconception(
    "The decoder's tokens are not shifted",
    fails=SCHEDULED_INPUTS.all_but(),
    hints=(
        "The true tokens are right, and BOS; where the decoder's own stand, they are those of the step itself.",
        "y_hat at a step is what the decoder says *after* reading that step's input. It can be read one step later at "
        "the earliest.",
        "Read what the task says about y_hat, and the index in the equation.",
    ),
)
def scheduled_inputs__not_shifted(y_in, y_hat, p, u):
    mixed = torch.where(u[:, 1:] < p, y_hat[:, 1:], y_in[:, 1:])
    return torch.cat([y_in[:, :1], mixed], dim=1)


@SCHEDULED_INPUTS.misconception(
    "The decoder's tokens are not shifted, and BOS may be replaced",
    fails=SCHEDULED_INPUTS.all_but(),
    hints=(
        "The decoder's own tokens stand one step too early, and some rows do not begin with BOS.",
        "y_hat at a step is what the decoder says *after* reading that step's input. It can be read one step later at "
        "the earliest, and before the first step it has said nothing.",
        "Read what the task says about y_hat, and the equation of the first input.",
    ),
)
def scheduled_inputs__no_shift_at_all(y_in, y_hat, p, u):
    return torch.where(u < p, y_hat, y_in)


@SCHEDULED_INPUTS.misconception(
    "The decoder's last token may take the place of BOS",
    fails=SCHEDULED_INPUTS.all_but(),
    hints=(
        "All is right but for the first column: some rows begin with the decoder's last token.",
        "roll brings round to the front what it pushes out at the end. The first input is BOS, whatever is drawn.",
        "Read the equation of the first input.",
    ),
)
def scheduled_inputs__rolled(y_in, y_hat, p, u):
    return torch.where(u < p, y_hat.roll(1, dims=1), y_in)


@SCHEDULED_INPUTS.misconception(
    "The true tokens are shifted once more",
    fails=SCHEDULED_INPUTS.all_but(),
    hints=(
        "The decoder's own tokens are right; the true ones stand one step too late.",
        "y_in is shifted already, BOS stands in its first column.",
        "Read what the task says about y_in.",
    ),
)
def scheduled_inputs__shifted_again(y_in, y_hat, p, u):
    mixed = torch.where(u[:, 1:] < p, y_hat[:, :-1], y_in[:, :-1])
    return torch.cat([y_in[:, :1], mixed], dim=1)


@SCHEDULED_INPUTS.misconception(
    "Each input is decided by the draw of the step before",
    fails=SCHEDULED_INPUTS.all_but("ends"),
    hints=(
        "The tokens are the right ones to choose from, but each choice was made for the next input.",
        "u was shifted together with y_hat. The random number of an input stands in its own column.",
        "Read what the task says about u: those of the first column are not used.",
    ),
)
def scheduled_inputs__draws_shifted(y_in, y_hat, p, u):
    mixed = torch.where(u[:, :-1] < p, y_hat[:, :-1], y_in[:, 1:])
    return torch.cat([y_in[:, :1], mixed], dim=1)


@SCHEDULED_INPUTS.misconception(
    "A draw that equals p chooses the decoder's token",
    fails=("scheduled_inputs_edges",),
    hints=(
        "All is right but where u equals p: at p = 0 some inputs are the decoder's own.",
        "u may be exactly 0. With <= even p = 0 lets it through.",
        "Read the equation: the sign between u and p.",
    ),
)
def scheduled_inputs__at_most_p(y_in, y_hat, p, u):
    mixed = torch.where(u[:, 1:] <= p, y_hat[:, :-1], y_in[:, 1:])
    return torch.cat([y_in[:, :1], mixed], dim=1)


@SCHEDULED_INPUTS.misconception(
    "p is a switch: the decoder's tokens from 1/2 on",
    fails=SCHEDULED_INPUTS.all_but("ends"),
    hints=(
        "At p = 0 and p = 1 you are right; in between nothing is mixed.",
        "The random numbers are not used.",
        "Read what the task says about u, and the equation.",
    ),
)
def scheduled_inputs__switch(y_in, y_hat, p, u):
    mixed = y_hat[:, :-1] if p >= 0.5 else y_in[:, 1:]
    return torch.cat([y_in[:, :1], mixed], dim=1)


@SCHEDULED_INPUTS.misconception(
    "The random numbers are drawn anew",
    fails=SCHEDULED_INPUTS.all_but("ends"),
    hints=(
        "Your shares are right, but other inputs were chosen than u says, and another call would choose others again.",
        "u is given so that the result can be repeated. Use it instead of torch.rand.",
        "Read what the task says about u.",
    ),
)
def scheduled_inputs__own_draws(y_in, y_hat, p, u):
    mixed = torch.where(torch.rand_like(u)[:, 1:] < p, y_hat[:, :-1], y_in[:, 1:])
    return torch.cat([y_in[:, :1], mixed], dim=1)


@SCHEDULED_INPUTS.misconception(
    "After the first own token all later ones are the decoder's own",
    fails=SCHEDULED_INPUTS.all_but("ends"),
    hints=(
        "Your rows begin with true tokens, and never come back to them.",
        "A draw that was won once counts for the rest of the row. Each input is drawn for itself.",
        "Read the equation: which u decides about input t?",
    ),
)
def scheduled_inputs__never_back(y_in, y_hat, p, u):
    own = (u[:, 1:] < p).cumsum(dim=1) > 0
    return torch.cat([y_in[:, :1], torch.where(own, y_hat[:, :-1], y_in[:, 1:])], dim=1)


@SCHEDULED_INPUTS.misconception(
    "The result is written into y_in",
    fails=("scheduled_inputs_edges", "scheduled_inputs_ends", "scheduled_inputs_untouched"),
    hints=(
        "The inputs are right, but y_in has changed under the caller's feet: a second call mixes it again.",
        "The decoder's tokens were written into the tensor that was given. Make a new one.",
        "Read what the task says about the result: nothing is changed.",
    ),
)
def scheduled_inputs__in_place(y_in, y_hat, p, u):
    own = u[:, 1:] < p
    y_in[:, 1:][own] = y_hat[:, :-1][own]
    return y_in


# ---- 6.6 edit_distance ----

EDIT_DISTANCE = Exercise(
    number="6.6",
    references=(edits.edit_distance,),
    probe_module=probes,
    points=3,
    minutes=15,
    difficulty=2,
)


@EDIT_DISTANCE.misconception(
    "A replaced token costs two",
    fails=EDIT_DISTANCE.all_but("empty"),
    hints=(
        "Tokens put in or left out are counted right; each replaced token counts twice.",
        "Replacing was taken for leaving out and putting in. It is one edit.",
        "Read the equation: what does the third line add?",
    ),
)
def edit_distance__replacing_costs_two(a, b):
    above = list(range(len(b) + 1))
    for i in range(1, len(a) + 1):
        row = [i]
        for j in range(1, len(b) + 1):
            row.append(min(above[j] + 1, row[j - 1] + 1, above[j - 1] + 2 * (a[i - 1] != b[j - 1])))
        above = row
    return above[-1]


@EDIT_DISTANCE.misconception(
    "An empty row is 0 away from any other",
    fails=("edit_distance_empty",),
    hints=(
        "All is right but where one of the two is empty.",
        "To make a row out of nothing, each of its tokens has to be put in.",
        "Read the equation: d(i, 0) and d(0, j).",
    ),
)
def edit_distance__empty_is_zero(a, b):
    if not a or not b:
        return 0
    above = list(range(len(b) + 1))
    for i in range(1, len(a) + 1):
        row = [i]
        for j in range(1, len(b) + 1):
            row.append(min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] != b[j - 1])))
        above = row
    return above[-1]


@EDIT_DISTANCE.misconception(
    "The table begins with zeros",
    fails=EDIT_DISTANCE.all_but("one"),
    hints=(
        "Edits at the beginning of a row cost nothing in your answer.",
        "The first row and the first column of the table are all 0. They count the tokens put in or left out so far.",
        "Read the equation: d(i, 0) and d(0, j).",
    ),
)
def edit_distance__zeros_at_the_edge(a, b):
    d = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            d[i][j] = min(d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1]))
    return d[-1][-1]


@EDIT_DISTANCE.misconception(
    "The first row of the table is zeros",
    fails=EDIT_DISTANCE.all_but("one"),
    hints=(
        "Tokens of b put in at the beginning cost nothing in your answer.",
        "With d(0, j) = 0 the best place in b is sought where a would fit. Here all of b counts.",
        "Read the equation: d(0, j).",
    ),
)
def edit_distance__first_row_zero(a, b):
    above = [0] * (len(b) + 1)
    for i in range(1, len(a) + 1):
        row = [i]
        for j in range(1, len(b) + 1):
            row.append(min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] != b[j - 1])))
        above = row
    return above[-1]


@EDIT_DISTANCE.misconception(
    "The tokens are compared place by place",
    fails=EDIT_DISTANCE.all_but("empty"),
    hints=(
        "One token put in at the beginning makes all that follows count as wrong in your answer.",
        "Places were compared, and the difference of the lengths added. Edits may move what follows.",
        "Read the equation: it takes the least of three ways to come to (i, j).",
    ),
)
def edit_distance__place_by_place(a, b):
    return sum(x != y for x, y in zip(a, b, strict=False)) + abs(len(a) - len(b))


@EDIT_DISTANCE.misconception(
    "The tokens are compared place by place, and the longer row is cut",
    fails=EDIT_DISTANCE.all_but(),
    hints=(
        "What stands behind the end of the shorter row costs nothing in your answer.",
        "zip stops at the shorter row. And edits may move what follows: comparing places is not enough.",
        "Read the equation: d(i, 0), and the least of three ways to come to (i, j).",
    ),
)
def edit_distance__cut_to_shorter(a, b):
    return sum(x != y for x, y in zip(a, b, strict=False))


@EDIT_DISTANCE.misconception(
    "Only the lengths are compared",
    fails=EDIT_DISTANCE.all_but("empty"),
    hints=(
        "Rows of the same length are always 0 apart in your answer.",
        "That many tokens must be put in or left out at least; those that differ must be replaced, too.",
        "Read the equation: where are a and b compared?",
    ),
)
def edit_distance__lengths_only(a, b):
    return abs(len(a) - len(b))


@EDIT_DISTANCE.misconception(
    "Equal tokens cost one, too",
    fails=EDIT_DISTANCE.all_but(),
    hints=(
        "Even equal rows are apart in your answer.",
        "The diagonal step always adds 1. It is free where the two tokens are equal.",
        "Read the equation: what does the bracket in the third line mean?",
    ),
)
def edit_distance__equal_costs_one(a, b):
    above = list(range(len(b) + 1))
    for i in range(1, len(a) + 1):
        row = [i]
        for j in range(1, len(b) + 1):
            row.append(1 + min(above[j], row[j - 1], above[j - 1]))
        above = row
    return above[-1]


@EDIT_DISTANCE.misconception(
    "Two neighbours exchanged cost one",
    fails=("edit_distance_strings", "edit_distance_random"),
    hints=(
        "All is right but where two neighbours are exchanged: you count one edit.",
        "That is another distance, with a fourth kind of edit. Here exchanging takes two edits.",
        "Read the equation: it has three lines.",
    ),
)
def edit_distance__exchange_costs_one(a, b):
    d = [[i + j if i == 0 or j == 0 else 0 for j in range(len(b) + 1)] for i in range(len(a) + 1)]
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            d[i][j] = min(d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1]))
            if i > 1 and j > 1 and a[i - 1] == b[j - 2] and a[i - 2] == b[j - 1]:
                d[i][j] = min(d[i][j], d[i - 2][j - 2] + 1)
    return d[-1][-1]


@EDIT_DISTANCE.misconception(
    "Nothing may be put in",
    fails=EDIT_DISTANCE.all_but("empty"),
    hints=(
        "Where b has tokens that a lacks, you count too many edits.",
        "The way from the left, d(i, j - 1) + 1, is missing.",
        "Read the equation: the least of three.",
    ),
)
def edit_distance__no_insertion(a, b):
    above = list(range(len(b) + 1))
    for i in range(1, len(a) + 1):
        row = [i]
        for j in range(1, len(b) + 1):
            row.append(min(above[j] + 1, above[j - 1] + (a[i - 1] != b[j - 1])))
        above = row
    return above[-1]


@EDIT_DISTANCE.misconception(
    "Nothing may be left out",
    fails=EDIT_DISTANCE.all_but("empty"),
    hints=(
        "Where a has tokens that b lacks, you count too many edits.",
        "The way from above, d(i - 1, j) + 1, is missing.",
        "Read the equation: the least of three.",
    ),
)
def edit_distance__no_deletion(a, b):
    above = list(range(len(b) + 1))
    for i in range(1, len(a) + 1):
        row = [i]
        for j in range(1, len(b) + 1):
            row.append(min(row[j - 1] + 1, above[j - 1] + (a[i - 1] != b[j - 1])))
        above = row
    return above[-1]


@EDIT_DISTANCE.misconception(
    "The letters are compared, not the tokens",
    fails=EDIT_DISTANCE.all_but("strings"),
    hints=(
        "Strings are right. In a list of tokens, one that has two letters counts double.",
        "The tokens were joined to one string. TH is one token, and replacing it is one edit.",
        "Read what the task says about a and b.",
    ),
)
def edit_distance__letters(a, b):
    a, b = "".join(map(str, a)), "".join(map(str, b))
    above = list(range(len(b) + 1))
    for i in range(1, len(a) + 1):
        row = [i]
        for j in range(1, len(b) + 1):
            row.append(min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] != b[j - 1])))
        above = row
    return above[-1]


@EDIT_DISTANCE.misconception(
    "The tokens are counted, whatever their order",
    fails=EDIT_DISTANCE.all_but("one", "empty", "numbers"),
    hints=(
        "Rows with the same tokens in another order are 0 apart in your answer.",
        "The sets of tokens were compared: neither order nor repetition counts in a set.",
        "Read the equation: it compares a_i with b_j.",
    ),
)
def edit_distance__sets(a, b):
    return max(len(set(a) - set(b)), len(set(b) - set(a)))


@EDIT_DISTANCE.misconception(
    "The distance is divided by the length",
    fails=EDIT_DISTANCE.all_but(),
    hints=(
        "Your results are shares, not numbers of edits.",
        "The distance was divided by the length of the longer row. The rate comes in the next exercise, over all rows.",
        "Read what the task says about the result: an int.",
    ),
)
def edit_distance__divided(a, b):
    above = list(range(len(b) + 1))
    for i in range(1, len(a) + 1):
        row = [i]
        for j in range(1, len(b) + 1):
            row.append(min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] != b[j - 1])))
        above = row
    return above[-1] / max(len(a), len(b), 1)


@EDIT_DISTANCE.misconception(
    "The last tokens are not compared",
    fails=EDIT_DISTANCE.all_but("one"),
    hints=(
        "An edit at the very end makes no difference in your answer.",
        "The loops stop one token early. The table has a row for each token of a and one more, and so for b.",
        "Read the equation: d counts the *first* i tokens, and i goes from 0 to the length.",
    ),
)
def edit_distance__last_left_out(a, b):
    above = list(range(len(b)))
    for i in range(1, len(a)):
        row = [i]
        for j in range(1, len(b)):
            row.append(min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] != b[j - 1])))
        above = row
    return above[-1] if above else 0


# ---- 6.7 error_rate ----

ERROR_RATE = Exercise(
    number="6.7",
    references=(edits.error_rate,),
    probe_module=probes,
    points=2,
    minutes=5,
    difficulty=1,
    uses=("edit_distance",),
)


@ERROR_RATE.misconception(
    "Divided by the length of what was said",
    fails=ERROR_RATE.all_but(),
    hints=(
        "The longer the wrong answers, the better your rate.",
        "The edits are right; they were divided by the number of tokens said. A decoder that rambles must not gain.",
        "Read the equation: whose length stands below?",
    ),
)
def error_rate__said_length(pairs):
    return sum(edit_distance(r, h) for r, h in pairs) / sum(len(h) for _, h in pairs)


@ERROR_RATE.misconception(
    "Divided by the length of the longer of the two",
    fails=("error_rate_mixed", "error_rate_longer", "error_rate_alone", "error_rate_empty", "error_rate_untouched"),
    hints=(
        "Where less was said than was true you are right; your rate can never exceed 1.",
        "The longer row of each pair was counted. The number of true tokens does not depend on who guesses.",
        "Read the equation: whose length stands below?",
    ),
)
def error_rate__longer_length(pairs):
    return sum(edit_distance(r, h) for r, h in pairs) / sum(max(len(r), len(h)) for r, h in pairs)


@ERROR_RATE.misconception(
    "Divided by both lengths together",
    fails=ERROR_RATE.all_but(),
    hints=(
        "Your rate is about half of the right one.",
        "True tokens and tokens said were added up below. Only the true ones count.",
        "Read the equation: whose length stands below?",
    ),
)
def error_rate__both_lengths(pairs):
    return sum(edit_distance(r, h) for r, h in pairs) / sum(len(r) + len(h) for r, h in pairs)


@ERROR_RATE.misconception(
    "The rates of the rows are averaged",
    fails=ERROR_RATE.all_but("alone"),
    hints=(
        "With one row you are right; with several, an error in a short row weighs more than one in a long row.",
        "A rate was computed for each row, and the mean taken. First add up, then divide.",
        "Read the equation: where do the two sums stand?",
    ),
)
def error_rate__mean_of_rates(pairs):
    return sum(edit_distance(r, h) / max(len(r), 1) for r, h in pairs) / len(pairs)


@ERROR_RATE.misconception(
    "Divided by the number of rows",
    fails=ERROR_RATE.all_but(),
    hints=(
        "Your result is the number of edits in a row, on average.",
        "The edits were divided by the number of pairs. Long rows then look worse than short ones.",
        "Read the equation: what is added up below?",
    ),
)
def error_rate__per_row(pairs):
    return sum(edit_distance(r, h) for r, h in pairs) / len(pairs)


@ERROR_RATE.misconception(
    "The share of rows that are not quite right",
    fails=ERROR_RATE.all_but(),
    hints=(
        "A row with one error counts as much as a row that is all wrong in your answer.",
        "That is the row error rate, another measure. Here each edit counts.",
        "Read the equation: what is added up above?",
    ),
)
def error_rate__rows_wrong(pairs):
    return sum(list(r) != list(h) for r, h in pairs) / len(pairs)


@ERROR_RATE.misconception(
    "The share that is right is returned",
    fails=ERROR_RATE.all_but(),
    hints=(
        "When all is right your result is 1.",
        "The rate was subtracted from 1. The more errors, the higher it should be.",
        "Read what the task says about the result: 0 if all is right.",
    ),
)
def error_rate__accuracy(pairs):
    return 1 - sum(edit_distance(r, h) for r, h in pairs) / sum(len(r) for r, _ in pairs)


@ERROR_RATE.misconception(
    "In percent",
    fails=ERROR_RATE.all_but(),
    hints=(
        "Your results are a hundred times too high.",
        "The rate was multiplied by 100. A share is asked for.",
        "Read the equation, and the example in the task.",
    ),
)
def error_rate__percent(pairs):
    return 100 * sum(edit_distance(r, h) for r, h in pairs) / sum(len(r) for r, _ in pairs)


@ERROR_RATE.misconception(
    "The rate is capped at 1",
    fails=("error_rate_alone",),
    hints=(
        "All is right but where there are more errors than true tokens.",
        "The rate was cut at 1. Whoever says too much makes more errors than there are true tokens.",
        "Read what the task says about the result: it may exceed 1.",
    ),
)
def error_rate__capped(pairs):
    return min(1.0, sum(edit_distance(r, h) for r, h in pairs) / sum(len(r) for r, _ in pairs))


@ERROR_RATE.misconception(
    "Rows without a true token are skipped",
    fails=("error_rate_empty",),
    hints=(
        "All is right but where nothing was true and something was said.",
        "Such a row adds nothing below, but what was said in it are errors: only the sum must not be 0.",
        "Read what the task says about pairs: either may be empty.",
    ),
)
def error_rate__empty_skipped(pairs):
    pairs = [(r, h) for r, h in pairs if len(r)]
    return sum(edit_distance(r, h) for r, h in pairs) / sum(len(r) for r, _ in pairs)


@ERROR_RATE.misconception(
    "Rows in which nothing was said are skipped",
    fails=("error_rate_empty",),
    hints=(
        "All is right but where nothing was said.",
        "A silent decoder has left out all tokens of the row: these are errors, and true tokens, too.",
        "Read what the task says about pairs: either may be empty.",
    ),
)
def error_rate__silence_skipped(pairs):
    pairs = [(r, h) for r, h in pairs if len(h)]
    return sum(edit_distance(r, h) for r, h in pairs) / sum(len(r) for r, _ in pairs)


@ERROR_RATE.misconception(
    "Places are compared instead of counting edits",
    fails=ERROR_RATE.all_but(),
    hints=(
        "In rows of the same length you are right; tokens left out or put in are not counted.",
        "zip stops at the shorter row, and what is not compared is no error. Use edit_distance.",
        "Read the equation: what is added up above?",
    ),
)
def error_rate__place_by_place(pairs):
    return sum(x != y for r, h in pairs for x, y in zip(r, h, strict=False)) / sum(len(r) for r, _ in pairs)


EXERCISES = (SHIFT_RIGHT, ENCODE, DECODE, GREEDY, SCHEDULED_INPUTS, EDIT_DISTANCE, ERROR_RATE)
