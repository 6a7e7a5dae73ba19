"""The exercises of chapter 4 and the mistakes that the judge knows by name."""

from __future__ import annotations

import torch
from torch import Tensor

from autograder.exercise import Exercise
from autograder.probes import ch04_lstm_gru as probes
from unrolled import gated, gates_and_torch
from unrolled.gated import GRUParams, TorchLSTM

SETUP_NAMES = frozenset({"Gates", "GRUParams", "LSTMParams", "Peepholes", "TorchLSTM"})
_WHOLE_LSTM = "Write the step itself: torch's own LSTM is what it is compared with later."
_WHOLE_GRU = "Write the step itself: torch's own GRU is what it is compared with later."


# ---- 4.1 lstm_step ----

LSTM_STEP = Exercise(
    number="4.1",
    references=(gated.lstm_step,),
    probe_module=probes,
    points=3,
    minutes=20,
    difficulty=2,
    forbidden={"LSTMCell": _WHOLE_LSTM, "LSTM": _WHOLE_LSTM, "lstm_cell": _WHOLE_LSTM},
    equivalent={"f, g, i, o = a.chunk(4, dim=1)": "of two axes the last is axis 1."},
    not_applicable={
        "transposed weights": "4H rows never fit in place of E or H columns, so the product raises at any size.",
        "peephole connections": "the step is given no peephole weights; they come in exercise 4.2.",
    },
)


@LSTM_STEP.misconception(
    "Forget gate and input gate are swapped",
    fails=LSTM_STEP.all_but(),
    hints=(
        "Both gates are there, but the old cell is scaled by the wrong one.",
        "What erases must multiply the old cell, what writes must multiply the new content. Yours do the opposite.",
        "Read the equation of the cell: which gate stands before the old cell?",
    ),
)
def lstm_step__i_and_f_swapped(x, h, c, params):
    f, g, i, o = (x @ params.W_x.T + h @ params.W_h.T + params.b).chunk(4, dim=-1)
    c = torch.sigmoid(i) * c + torch.sigmoid(f) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c


@LSTM_STEP.misconception(
    "The input gate is missing",
    fails=LSTM_STEP.all_but(),
    hints=(
        "New content always enters your cell at full strength.",
        "The cell adds g itself. Without the gate the network cannot ignore an input.",
        "Read the equation of the cell: the second term is a product.",
    ),
)
def lstm_step__no_input_gate(x, h, c, params):
    f, g, _, o = (x @ params.W_x.T + h @ params.W_h.T + params.b).chunk(4, dim=-1)
    c = torch.sigmoid(f) * c + torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c


@LSTM_STEP.misconception(
    "The new content passes through a sigmoid",
    fails=LSTM_STEP.all_but(),
    hints=(
        "Nothing negative is ever written into your cell.",
        "g is content, not a gate: it goes through tanh, between -1 and 1, so that a cell can be lowered as well.",
        "Read the equation of the gates: which of the four has a tanh?",
    ),
)
def lstm_step__sigmoid_on_g(x, h, c, params):
    f, g, i, o = torch.sigmoid(x @ params.W_x.T + h @ params.W_h.T + params.b).chunk(4, dim=-1)
    c = f * c + i * g
    return o * torch.tanh(c), c


@LSTM_STEP.misconception(
    "The gates pass through tanh",
    fails=LSTM_STEP.all_but(),
    hints=(
        "Some of your gates are negative: they turn the sign of what they let through.",
        "A gate is a share between 0 (shut) and 1 (open); that is what the sigmoid gives.",
        "Read the equation of the gates: which three have a sigmoid?",
    ),
)
def lstm_step__tanh_on_gates(x, h, c, params):
    f, g, i, o = torch.tanh(x @ params.W_x.T + h @ params.W_h.T + params.b).chunk(4, dim=-1)
    c = f * c + i * g
    return o * torch.tanh(c), c


@LSTM_STEP.misconception(
    "The output gate passes through tanh",
    fails=LSTM_STEP.all_but("cell"),
    hints=(
        "Your cell is right, your state is not: some of its signs are turned.",
        "The output gate is a share between 0 and 1. Only the content has a tanh.",
        "Read the equation of the gates: which three have a sigmoid?",
    ),
)
def lstm_step__tanh_on_o(x, h, c, params):
    f, g, i, o = (x @ params.W_x.T + h @ params.W_h.T + params.b).chunk(4, dim=-1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.tanh(o) * torch.tanh(c), c


@LSTM_STEP.misconception(
    "The state is read from the cell without tanh",
    fails=LSTM_STEP.all_but("cell"),
    hints=(
        "Your cell is right; your state is too large where the cell is large.",
        "A cell may grow beyond 1 while it counts. What the network shows of it is squashed first.",
        "Read the equation of the state: what stands around the cell?",
    ),
)
def lstm_step__no_tanh_on_cell(x, h, c, params):
    f, g, i, o = (x @ params.W_x.T + h @ params.W_h.T + params.b).chunk(4, dim=-1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * c, c


@LSTM_STEP.misconception(
    "The squashed cell is kept as the new cell",
    fails=LSTM_STEP.all_but("state"),
    hints=(
        "Your state is right after one step, your cell is not: it never leaves the range of tanh.",
        "tanh belongs to the reading. If it is applied to the memory itself, the memory fades at every step.",
        "Read the equations of cell and state: in which of them is the tanh?",
    ),
)
def lstm_step__squashed_cell_kept(x, h, c, params):
    f, g, i, o = (x @ params.W_x.T + h @ params.W_h.T + params.b).chunk(4, dim=-1)
    c = torch.tanh(torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g))
    return torch.sigmoid(o) * c, c


@LSTM_STEP.misconception(
    "The output gate reads the new state instead of the old one",
    fails=LSTM_STEP.all_but("cell"),
    hints=(
        "Your cell is right, your state is not.",
        "All four blocks read the same old h. Your output gate reads what has just been made of the new cell.",
        "Read the equation of the gates: on its right every h has the index t - 1.",
    ),
)
def lstm_step__o_reads_new_h(x, h, c, params):
    f, g, i, _ = (x @ params.W_x.T + h @ params.W_h.T + params.b).chunk(4, dim=-1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    o = (x @ params.W_x.T + torch.tanh(c) @ params.W_h.T + params.b).chunk(4, dim=-1)[3]
    return torch.sigmoid(o) * torch.tanh(c), c


@LSTM_STEP.misconception(
    "The state is read from the old cell",
    fails=LSTM_STEP.all_but("cell"),
    hints=(
        "Your cell is right, but your state does not know yet what was written in this step.",
        "Read after writing: the state shows the new cell.",
        "Read the equation of the state: the index of the cell.",
    ),
)
def lstm_step__reads_old_cell(x, h, c, params):
    f, g, i, o = (x @ params.W_x.T + h @ params.W_h.T + params.b).chunk(4, dim=-1)
    new = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), new


@LSTM_STEP.misconception(
    "The blocks are taken in torch's order i, f, g, o",
    fails=LSTM_STEP.all_but(),
    hints=(
        "All shapes fit, all four functions are there, and the values are wrong.",
        "The rows of the parameters are named f, g, i, o here. torch has i, f, g, o, and exercise 4.4 is about that.",
        "Read what the task says about the order of the blocks.",
    ),
)
def lstm_step__torch_order(x, h, c, params):
    i, f, g, o = (x @ params.W_x.T + h @ params.W_h.T + params.b).chunk(4, dim=-1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c


@LSTM_STEP.misconception(
    "The blocks are taken in the order f, i, g, o",
    fails=LSTM_STEP.all_but(),
    hints=(
        "All shapes fit, all four functions are there, and the values are wrong.",
        "The second block is the content g, the third is the input gate. Yours are exchanged.",
        "Read what the task says about the order of the blocks.",
    ),
)
def lstm_step__order_f_i_g_o(x, h, c, params):
    f, i, g, o = (x @ params.W_x.T + h @ params.W_h.T + params.b).chunk(4, dim=-1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c


@LSTM_STEP.misconception(
    "An open forget gate erases: the old cell is multiplied by 1 - f",
    fails=LSTM_STEP.all_but("empty_memory"),
    hints=(
        "From an empty memory you are right; otherwise you keep what should go and lose what should stay.",
        "In spite of its name the forget gate says how much is *kept*: 1 keeps all, 0 erases all.",
        "Read the equation of the cell: what multiplies the old cell?",
    ),
)
def lstm_step__forgets_where_open(x, h, c, params):
    f, g, i, o = (x @ params.W_x.T + h @ params.W_h.T + params.b).chunk(4, dim=-1)
    c = (1 - torch.sigmoid(f)) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c


@LSTM_STEP.misconception(
    "The bias is left out",
    fails=LSTM_STEP.all_but("empty_memory"),
    hints=(
        "With b = 0 you are right, with any other bias you are not.",
        "Deck 003 writes its gates without biases; here they are a part of params, and one of them decides how far "
        "the network can remember.",
        "Read the equation of the gates: the sum has three terms.",
    ),
)
def lstm_step__bias_dropped(x, h, c, params):
    f, g, i, o = (x @ params.W_x.T + h @ params.W_h.T).chunk(4, dim=-1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c


@LSTM_STEP.misconception(
    "The cell is returned before the state",
    fails=LSTM_STEP.all_but(),
    hints=(
        "What you return first is the cell, what you return second is the state.",
        "Both have the same shape, so nothing raises; the next step then takes one for the other.",
        "Read what the task says about the order of the returned values.",
    ),
)
def lstm_step__returns_c_first(x, h, c, params):
    f, g, i, o = (x @ params.W_x.T + h @ params.W_h.T + params.b).chunk(4, dim=-1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return c, torch.sigmoid(o) * torch.tanh(c)


@LSTM_STEP.misconception(
    "The caller's cell is changed",
    fails=("lstm_step_gradients", "lstm_step_untouched"),
    hints=(
        "Your result is right, but after the call the caller's c holds the new cell.",
        "*= and += work in place, on the caller's tensor, and the gradient needs the old cell.",
        "Read what the task says about its arguments: none of them is changed.",
    ),
)
def lstm_step__changes_c(x, h, c, params):
    f, g, i, o = (x @ params.W_x.T + h @ params.W_h.T + params.b).chunk(4, dim=-1)
    c *= torch.sigmoid(f)
    c += torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c


@LSTM_STEP.misconception(
    "The blocks are taken in the order f, i, o, g, in which the equation lists them",
    fails=LSTM_STEP.all_but(),
    hints=(
        "All shapes fit, all four functions are there, and the values are wrong.",
        "The equation names the three gates first because they share a function. The rows of the parameters stand in "
        "another order: f, g, i, o.",
        "Read what the task says about the order of the blocks.",
    ),
)
def lstm_step__order_f_i_o_g(x, h, c, params):
    f, i, o, g = (x @ params.W_x.T + h @ params.W_h.T + params.b).chunk(4, dim=-1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c


@LSTM_STEP.misconception(
    "The blocks are interleaved: four rows for each unit",
    fails=LSTM_STEP.all_but(),
    hints=(
        "All shapes fit and all values are wrong: each gate takes every fourth row.",
        "The first H rows are f of all units, the next H rows are g of all units, and so on. Yours are cut as if the "
        "four rows of one unit stood together.",
        "Read what the task says about the rows: four blocks of H.",
    ),
)
def lstm_step__interleaved(x, h, c, params):
    a = x @ params.W_x.T + h @ params.W_h.T + params.b
    f, g, i, o = a[:, 0::4], a[:, 1::4], a[:, 2::4], a[:, 3::4]
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c


# ---- 4.2 peephole_lstm_step ----

PEEPHOLE_LSTM_STEP = Exercise(
    number="4.2",
    references=(gated.peephole_lstm_step,),
    probe_module=probes,
    points=2,
    minutes=15,
    difficulty=2,
    equivalent={
        "f, g, i, o = (x @ params.W_x.T + h @ params.W_h.T + params.b).chunk(4, dim=1)": "of two axes the last is 1.",
    },
    not_applicable={
        "a full matrix as peephole": "the three peepholes are vectors, so there is no matrix to multiply with.",
    },
)


@PEEPHOLE_LSTM_STEP.misconception(
    "The output gate looks at the old cell",
    fails=PEEPHOLE_LSTM_STEP.all_but("cell", "no_peepholes"),
    hints=(
        "Your cell is right, your state is not.",
        "When the output gate decides, the new cell is there already, and that is what it looks at. The line is "
        "missing from the slide of deck 001, which makes the old cell an easy guess.",
        "Read the equation of the peepholes: the index of the cell in the third gate.",
    ),
)
def peephole_lstm_step__o_sees_old_cell(x, h, c, params, peepholes):
    f, g, i, o = (x @ params.W_x.T + h @ params.W_h.T + params.b).chunk(4, dim=-1)
    f, i = torch.sigmoid(f + peepholes.w_cf * c), torch.sigmoid(i + peepholes.w_ci * c)
    o = torch.sigmoid(o + peepholes.w_co * c)
    c = f * c + i * torch.tanh(g)
    return o * torch.tanh(c), c


@PEEPHOLE_LSTM_STEP.misconception(
    "A peephole gives one number for all units: the product is summed",
    fails=PEEPHOLE_LSTM_STEP.all_but("no_peepholes"),
    hints=(
        "With peepholes of zero you are right; otherwise all units of a gate are shifted by the same number.",
        "w @ c multiplies and sums over the units. Each unit is to look at its own cell only: multiply, do not sum.",
        "Read the equation of the peepholes: the sign between w and c.",
    ),
)
def peephole_lstm_step__summed(x, h, c, params, peepholes):
    f, g, i, o = (x @ params.W_x.T + h @ params.W_h.T + params.b).chunk(4, dim=-1)
    f = torch.sigmoid(f + (c @ peepholes.w_cf)[:, None])
    i = torch.sigmoid(i + (c @ peepholes.w_ci)[:, None])
    c = f * c + i * torch.tanh(g)
    o = torch.sigmoid(o + (c @ peepholes.w_co)[:, None])
    return o * torch.tanh(c), c


@PEEPHOLE_LSTM_STEP.misconception(
    "The new content has a peephole too",
    fails=PEEPHOLE_LSTM_STEP.all_but("empty_cell", "no_peepholes"),
    hints=(
        "With an empty cell you are right; otherwise what you write depends on the cell twice.",
        "Peepholes are for the three gates. The content g sees x and h only.",
        "Read the equation of the peepholes: which gates occur in it?",
    ),
)
def peephole_lstm_step__peephole_on_g_too(x, h, c, params, peepholes):
    f, g, i, o = (x @ params.W_x.T + h @ params.W_h.T + params.b).chunk(4, dim=-1)
    f, i = torch.sigmoid(f + peepholes.w_cf * c), torch.sigmoid(i + peepholes.w_ci * c)
    c = f * c + i * torch.tanh(g + peepholes.w_ci * c)
    o = torch.sigmoid(o + peepholes.w_co * c)
    return o * torch.tanh(c), c


@PEEPHOLE_LSTM_STEP.misconception(
    "The new content has the peephole of the input gate",
    fails=PEEPHOLE_LSTM_STEP.all_but("empty_cell", "no_peepholes"),
    hints=(
        "With an empty cell you are right; otherwise your input gate is blind and your content is not.",
        "The blocks stand in the order f, g, i, o, the peepholes in the order f, i, o: the second of each differ.",
        "Read the equation of the peepholes: which gates occur in it?",
    ),
)
def peephole_lstm_step__peephole_on_g_instead(x, h, c, params, peepholes):
    f, g, i, o = (x @ params.W_x.T + h @ params.W_h.T + params.b).chunk(4, dim=-1)
    f = torch.sigmoid(f + peepholes.w_cf * c)
    c = f * c + torch.sigmoid(i) * torch.tanh(g + peepholes.w_ci * c)
    o = torch.sigmoid(o + peepholes.w_co * c)
    return o * torch.tanh(c), c


@PEEPHOLE_LSTM_STEP.misconception(
    "The forget gate has no peephole",
    fails=PEEPHOLE_LSTM_STEP.all_but("empty_cell", "no_peepholes"),
    hints=(
        "With an empty cell you are right; otherwise the old cell is scaled by a gate that cannot see it.",
        "w_cf is not used.",
        "Read the equation of the peepholes: all three gates have one.",
    ),
)
def peephole_lstm_step__f_blind(x, h, c, params, peepholes):
    f, g, i, o = (x @ params.W_x.T + h @ params.W_h.T + params.b).chunk(4, dim=-1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i + peepholes.w_ci * c) * torch.tanh(g)
    o = torch.sigmoid(o + peepholes.w_co * c)
    return o * torch.tanh(c), c


@PEEPHOLE_LSTM_STEP.misconception(
    "The input gate has no peephole",
    fails=PEEPHOLE_LSTM_STEP.all_but("empty_cell", "no_peepholes"),
    hints=(
        "With an empty cell you are right; otherwise what is written is scaled by a gate that cannot see the cell.",
        "w_ci is not used.",
        "Read the equation of the peepholes: all three gates have one.",
    ),
)
def peephole_lstm_step__i_blind(x, h, c, params, peepholes):
    f, g, i, o = (x @ params.W_x.T + h @ params.W_h.T + params.b).chunk(4, dim=-1)
    c = torch.sigmoid(f + peepholes.w_cf * c) * c + torch.sigmoid(i) * torch.tanh(g)
    o = torch.sigmoid(o + peepholes.w_co * c)
    return o * torch.tanh(c), c


@PEEPHOLE_LSTM_STEP.misconception(
    "The output gate has no peephole",
    fails=PEEPHOLE_LSTM_STEP.all_but("cell", "no_peepholes"),
    hints=(
        "Your cell is right, your state is not: it is read through a gate that cannot see the cell.",
        "w_co is not used. The slide of deck 001 leaves this line out; the equation here has it.",
        "Read the equation of the peepholes: all three gates have one.",
    ),
)
def peephole_lstm_step__o_blind(x, h, c, params, peepholes):
    f, g, i, o = (x @ params.W_x.T + h @ params.W_h.T + params.b).chunk(4, dim=-1)
    f, i = torch.sigmoid(f + peepholes.w_cf * c), torch.sigmoid(i + peepholes.w_ci * c)
    c = f * c + i * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c


@PEEPHOLE_LSTM_STEP.misconception(
    "The peepholes of forget and input gate are swapped",
    fails=PEEPHOLE_LSTM_STEP.all_but("empty_cell", "no_peepholes"),
    hints=(
        "With an empty cell you are right; otherwise both gates look through the other's peephole.",
        "w_cf leads from the cell to f, w_ci from the cell to i: the letters name source and target.",
        "Read the equation of the peepholes: the indices of w.",
    ),
)
def peephole_lstm_step__swapped(x, h, c, params, peepholes):
    f, g, i, o = (x @ params.W_x.T + h @ params.W_h.T + params.b).chunk(4, dim=-1)
    f, i = torch.sigmoid(f + peepholes.w_ci * c), torch.sigmoid(i + peepholes.w_cf * c)
    c = f * c + i * torch.tanh(g)
    o = torch.sigmoid(o + peepholes.w_co * c)
    return o * torch.tanh(c), c


@PEEPHOLE_LSTM_STEP.misconception(
    "What the gates see of the cell is added after the sigmoid",
    fails=PEEPHOLE_LSTM_STEP.all_but("no_peepholes"),
    hints=(
        "Some of your gates lie outside 0 and 1.",
        "A bracket closes too early: input, state, bias and peephole are added first, then the sigmoid is applied.",
        "Read the equation of the peepholes: how far does the bracket reach?",
    ),
)
def peephole_lstm_step__after_the_sigmoid(x, h, c, params, peepholes):
    f, g, i, o = (x @ params.W_x.T + h @ params.W_h.T + params.b).chunk(4, dim=-1)
    f, i = torch.sigmoid(f) + peepholes.w_cf * c, torch.sigmoid(i) + peepholes.w_ci * c
    c = f * c + i * torch.tanh(g)
    o = torch.sigmoid(o) + peepholes.w_co * c
    return o * torch.tanh(c), c


@PEEPHOLE_LSTM_STEP.misconception(
    "The input gate looks at the cell after erasing",
    fails=PEEPHOLE_LSTM_STEP.all_but("empty_cell", "no_peepholes"),
    hints=(
        "With an empty cell you are right; otherwise your input gate sees less than the forget gate saw.",
        "c was overwritten by f * c before the input gate looked. Both look at the cell of the step before.",
        "Read the equation of the peepholes: the index of the cell in the second gate.",
    ),
)
def peephole_lstm_step__i_sees_erased_cell(x, h, c, params, peepholes):
    f, g, i, o = (x @ params.W_x.T + h @ params.W_h.T + params.b).chunk(4, dim=-1)
    c = torch.sigmoid(f + peepholes.w_cf * c) * c
    c = c + torch.sigmoid(i + peepholes.w_ci * c) * torch.tanh(g)
    o = torch.sigmoid(o + peepholes.w_co * c)
    return o * torch.tanh(c), c


# ---- 4.3 gru_step ----

GRU_STEP = Exercise(
    number="4.3",
    references=(gated.gru_step,),
    probe_module=probes,
    points=3,
    minutes=20,
    difficulty=3,
    forbidden={"GRUCell": _WHOLE_GRU, "GRU": _WHOLE_GRU, "gru_cell": _WHOLE_GRU},
    equivalent={"U_x, R_x, N_x = (x @ params.W_x.T + params.b).chunk(3, dim=1)": "of two axes the last is axis 1."},
    not_applicable={
        "a cell state is kept beside h": "the step is given no cell and returns one tensor.",
        "transposed weights": "3H rows never fit in place of E or H columns; a single block of W_h is listed.",
    },
)


@GRU_STEP.convention(
    "u is the share that is kept, as in Cho et al. 2014 and in torch (their u is 1 - u of deck 002). Further down the "
    "page u is the share of the new: exchange u and 1 - u before you go on"
)
def gru_step__u_keeps(x, h, params, reset="before"):
    U_x, R_x, N_x = (x @ params.W_x.T + params.b).chunk(3, dim=-1)
    W_u, W_r, W_n = params.W_h.chunk(3)
    u, r = torch.sigmoid(U_x + h @ W_u.T), torch.sigmoid(R_x + h @ W_r.T)
    from_h = (r * h) @ W_n.T if reset == "before" else r * (h @ W_n.T + params.b_h)
    return u * h + (1 - u) * torch.tanh(N_x + from_h)


@GRU_STEP.misconception(
    "The reset gate is not applied",
    fails=GRU_STEP.all_but("from_zero"),
    hints=(
        "From a zero state you are right; otherwise the candidate remembers more than it may.",
        "r is never used: the candidate always reads the whole old state.",
        "Read the equation of the candidate: what stands beside the old state?",
    ),
)
def gru_step__no_reset(x, h, params, reset="before"):
    U_x, _, N_x = (x @ params.W_x.T + params.b).chunk(3, dim=-1)
    W_u, _, W_n = params.W_h.chunk(3)
    u = torch.sigmoid(U_x + h @ W_u.T)
    from_h = h @ W_n.T if reset == "before" else h @ W_n.T + params.b_h
    return (1 - u) * h + u * torch.tanh(N_x + from_h)


@GRU_STEP.misconception(
    "The gates r and u are swapped",
    fails=GRU_STEP.all_but(),
    hints=(
        "All shapes fit and both gates are there, but the values are wrong, even from a zero state.",
        "The first block is u, the second r, as in deck 002. torch has them the other way round.",
        "Read what the task says about the order of the blocks.",
    ),
)
def gru_step__r_and_u_swapped(x, h, params, reset="before"):
    R_x, U_x, N_x = (x @ params.W_x.T + params.b).chunk(3, dim=-1)
    W_r, W_u, W_n = params.W_h.chunk(3)
    u, r = torch.sigmoid(U_x + h @ W_u.T), torch.sigmoid(R_x + h @ W_r.T)
    from_h = (r * h) @ W_n.T if reset == "before" else r * (h @ W_n.T + params.b_h)
    return (1 - u) * h + u * torch.tanh(N_x + from_h)


@GRU_STEP.misconception(
    "The gates r and u are swapped, and u keeps",
    fails=GRU_STEP.all_but(),
    hints=(
        "All shapes fit and both gates are there, but the values are wrong, even from a zero state.",
        "This is torch's GRU throughout: blocks r, z, n, and a z that keeps. The sign of the gate would be accepted; "
        "the order of the blocks is a fact about params.",
        "Read what the task says about the order of the blocks.",
    ),
)
def gru_step__torch_throughout(x, h, params, reset="before"):
    R_x, U_x, N_x = (x @ params.W_x.T + params.b).chunk(3, dim=-1)
    W_r, W_u, W_n = params.W_h.chunk(3)
    u, r = torch.sigmoid(U_x + h @ W_u.T), torch.sigmoid(R_x + h @ W_r.T)
    from_h = (r * h) @ W_n.T if reset == "before" else r * (h @ W_n.T + params.b_h)
    return u * h + (1 - u) * torch.tanh(N_x + from_h)


@GRU_STEP.misconception(
    "The candidate is made from a state that is half new",
    fails=GRU_STEP.all_but("from_zero"),
    hints=(
        "From a zero state you are right; otherwise your candidate has lost a part of the past.",
        "h was overwritten by (1 - u) * h before the candidate read it. All gates and the candidate read the old h.",
        "Read the equation of the candidate: the index of h.",
    ),
)
def gru_step__candidate_from_new_h(x, h, params, reset="before"):
    U_x, R_x, N_x = (x @ params.W_x.T + params.b).chunk(3, dim=-1)
    W_u, W_r, W_n = params.W_h.chunk(3)
    u, r = torch.sigmoid(U_x + h @ W_u.T), torch.sigmoid(R_x + h @ W_r.T)
    h = (1 - u) * h
    from_h = (r * h) @ W_n.T if reset == "before" else r * (h @ W_n.T + params.b_h)
    return h + u * torch.tanh(N_x + from_h)


@GRU_STEP.misconception(
    "The reset comes before the matrix, whatever reset says",
    fails=("gru_step_after", "gru_step_three_steps", "gru_step_gradients_after"),
    hints=(
        'With reset="before" you are right; with "after" you compute the same again.',
        "W(r * h) and r * (W h) are different models, not two names of one: a matrix mixes the units, a gate does not.",
        "Read the two equations of the candidate, and use the argument reset.",
    ),
)
def gru_step__always_before(x, h, params, reset="before"):
    U_x, R_x, N_x = (x @ params.W_x.T + params.b).chunk(3, dim=-1)
    W_u, W_r, W_n = params.W_h.chunk(3)
    u, r = torch.sigmoid(U_x + h @ W_u.T), torch.sigmoid(R_x + h @ W_r.T)
    return (1 - u) * h + u * torch.tanh(N_x + (r * h) @ W_n.T)


@GRU_STEP.misconception(
    "The reset comes after the matrix, whatever reset says",
    fails=("gru_step_before", "gru_step_three_steps", "gru_step_gradients", "gru_step_untouched"),
    hints=(
        'With reset="after" you are right; with "before", which is the default, you compute the same again.',
        "W(r * h) and r * (W h) are different models, not two names of one: a matrix mixes the units, a gate does not.",
        "Read the two equations of the candidate, and use the argument reset.",
    ),
)
def gru_step__always_after(x, h, params, reset="before"):
    U_x, R_x, N_x = (x @ params.W_x.T + params.b).chunk(3, dim=-1)
    W_u, W_r, W_n = params.W_h.chunk(3)
    u, r = torch.sigmoid(U_x + h @ W_u.T), torch.sigmoid(R_x + h @ W_r.T)
    return (1 - u) * h + u * torch.tanh(N_x + r * (h @ W_n.T + params.b_h))


@GRU_STEP.misconception(
    "The second bias of the candidate is not reset",
    fails=("gru_step_after", "gru_step_three_steps", "gru_step_gradients_after"),
    hints=(
        'With reset="before" you are right; with "after" every candidate is off where r is not 1.',
        "b' stands inside the bracket that r multiplies. Outside, it would be an ordinary bias, and one would do.",
        "Read the equation of the candidate with the reset after the matrix: how far does the bracket reach?",
    ),
)
def gru_step__b_h_outside(x, h, params, reset="before"):
    U_x, R_x, N_x = (x @ params.W_x.T + params.b).chunk(3, dim=-1)
    W_u, W_r, W_n = params.W_h.chunk(3)
    u, r = torch.sigmoid(U_x + h @ W_u.T), torch.sigmoid(R_x + h @ W_r.T)
    from_h = (r * h) @ W_n.T if reset == "before" else r * (h @ W_n.T) + params.b_h
    return (1 - u) * h + u * torch.tanh(N_x + from_h)


@GRU_STEP.misconception(
    "The second bias of the candidate is left out",
    fails=("gru_step_after", "gru_step_three_steps", "gru_step_gradients_after"),
    hints=(
        'With reset="before" you are right; with "after" a bias is missing.',
        "params.b_h is not used.",
        "Read the equation of the candidate with the reset after the matrix: it has two biases.",
    ),
)
def gru_step__b_h_dropped(x, h, params, reset="before"):
    U_x, R_x, N_x = (x @ params.W_x.T + params.b).chunk(3, dim=-1)
    W_u, W_r, W_n = params.W_h.chunk(3)
    u, r = torch.sigmoid(U_x + h @ W_u.T), torch.sigmoid(R_x + h @ W_r.T)
    from_h = (r * h) @ W_n.T if reset == "before" else r * (h @ W_n.T)
    return (1 - u) * h + u * torch.tanh(N_x + from_h)


@GRU_STEP.misconception(
    "The reset gate scales the kept state as well",
    fails=GRU_STEP.all_but("from_zero"),
    hints=(
        "From a zero state you are right; otherwise less is kept than 1 - u says.",
        "r decides what the *candidate* may see. What is kept of the old state is u's business alone.",
        "Read the equation of the new state: r does not occur in it.",
    ),
)
def gru_step__reset_on_the_kept(x, h, params, reset="before"):
    U_x, R_x, N_x = (x @ params.W_x.T + params.b).chunk(3, dim=-1)
    W_u, W_r, W_n = params.W_h.chunk(3)
    u, r = torch.sigmoid(U_x + h @ W_u.T), torch.sigmoid(R_x + h @ W_r.T)
    from_h = (r * h) @ W_n.T if reset == "before" else r * (h @ W_n.T + params.b_h)
    return (1 - u) * r * h + u * torch.tanh(N_x + from_h)


@GRU_STEP.misconception(
    "The old state is kept whole: 1 - u is missing",
    fails=GRU_STEP.all_but("from_zero"),
    hints=(
        "From a zero state you are right; otherwise your states grow from step to step.",
        "Old and new are mixed: what u gives to the new content it must take from the old.",
        "Read the equation of the new state: both terms have a factor.",
    ),
)
def gru_step__nothing_let_go(x, h, params, reset="before"):
    U_x, R_x, N_x = (x @ params.W_x.T + params.b).chunk(3, dim=-1)
    W_u, W_r, W_n = params.W_h.chunk(3)
    u, r = torch.sigmoid(U_x + h @ W_u.T), torch.sigmoid(R_x + h @ W_r.T)
    from_h = (r * h) @ W_n.T if reset == "before" else r * (h @ W_n.T + params.b_h)
    return h + u * torch.tanh(N_x + from_h)


@GRU_STEP.misconception(
    "The candidate passes through a sigmoid",
    fails=GRU_STEP.all_but(),
    hints=(
        "Your candidate is never negative, so your states drift upwards.",
        "The candidate is content, not a gate: it goes through tanh.",
        "Read the equation of the candidate: which function stands around the sum?",
    ),
)
def gru_step__sigmoid_candidate(x, h, params, reset="before"):
    U_x, R_x, N_x = (x @ params.W_x.T + params.b).chunk(3, dim=-1)
    W_u, W_r, W_n = params.W_h.chunk(3)
    u, r = torch.sigmoid(U_x + h @ W_u.T), torch.sigmoid(R_x + h @ W_r.T)
    from_h = (r * h) @ W_n.T if reset == "before" else r * (h @ W_n.T + params.b_h)
    return (1 - u) * h + u * torch.sigmoid(N_x + from_h)


@GRU_STEP.misconception(
    "The bias is left out",
    fails=GRU_STEP.all_but("from_zero"),
    hints=(
        "With b = 0 you are right, with any other bias you are not.",
        "params.b is not used, in the gates as in the candidate.",
        "Read the equations of gates and candidate: each sum ends in a bias.",
    ),
)
def gru_step__bias_dropped(x, h, params, reset="before"):
    U_x, R_x, N_x = (x @ params.W_x.T).chunk(3, dim=-1)
    W_u, W_r, W_n = params.W_h.chunk(3)
    u, r = torch.sigmoid(U_x + h @ W_u.T), torch.sigmoid(R_x + h @ W_r.T)
    from_h = (r * h) @ W_n.T if reset == "before" else r * (h @ W_n.T + params.b_h)
    return (1 - u) * h + u * torch.tanh(N_x + from_h)


@GRU_STEP.misconception(
    "The candidate's block of W_h is transposed",
    fails=GRU_STEP.all_but("from_zero"),
    hints=(
        "From a zero state you are right; otherwise the candidate is wrong, although all shapes fit.",
        "Cut out of W_h, the block of the candidate is square, so forgetting to turn it raises no error.",
        "Read the equation of the candidate, which is written for column vectors.",
    ),
)
def gru_step__candidate_transposed(x, h, params, reset="before"):
    U_x, R_x, N_x = (x @ params.W_x.T + params.b).chunk(3, dim=-1)
    W_u, W_r, W_n = params.W_h.chunk(3)
    u, r = torch.sigmoid(U_x + h @ W_u.T), torch.sigmoid(R_x + h @ W_r.T)
    from_h = (r * h) @ W_n if reset == "before" else r * (h @ W_n + params.b_h)
    return (1 - u) * h + u * torch.tanh(N_x + from_h)


@GRU_STEP.misconception(
    "The first bias of the candidate is reset too",
    fails=("gru_step_after", "gru_step_three_steps", "gru_step_gradients_after"),
    hints=(
        'With reset="before" you are right; with "after" every candidate is off where r is not 1.',
        "Both biases of the candidate stand inside the bracket that r multiplies. Only the second one, b', belongs "
        "there; the third block of b is added beside it.",
        "Read the equation of the candidate with the reset after the matrix: where does the bracket open?",
    ),
)
def gru_step__both_biases_reset(x, h, params, reset="before"):
    U_x, R_x, N_x = (x @ params.W_x.T).chunk(3, dim=-1)
    W_u, W_r, W_n = params.W_h.chunk(3)
    b_u, b_r, b_n = params.b.chunk(3)
    u, r = torch.sigmoid(U_x + h @ W_u.T + b_u), torch.sigmoid(R_x + h @ W_r.T + b_r)
    from_h = (r * h) @ W_n.T + b_n if reset == "before" else r * (h @ W_n.T + b_n + params.b_h)
    return (1 - u) * h + u * torch.tanh(N_x + from_h)


@GRU_STEP.misconception(
    "The two biases of the candidate are exchanged",
    fails=GRU_STEP.all_but("from_zero"),
    hints=(
        "Without biases you are right; otherwise your candidate has the wrong one in each place.",
        "The names mislead: params.b_h is the b' of the equation, the one inside the bracket. The candidate's first "
        "bias is the third block of params.b.",
        "Read what the task says about params: which of them is b'?",
    ),
)
def gru_step__biases_exchanged(x, h, params, reset="before"):
    U_x, R_x, N_x = (x @ params.W_x.T).chunk(3, dim=-1)
    W_u, W_r, W_n = params.W_h.chunk(3)
    b_u, b_r, b_n = params.b.chunk(3)
    u, r = torch.sigmoid(U_x + h @ W_u.T + b_u), torch.sigmoid(R_x + h @ W_r.T + b_r)
    from_h = (r * h) @ W_n.T if reset == "before" else r * (h @ W_n.T + b_n)
    return (1 - u) * h + u * torch.tanh(N_x + params.b_h + from_h)


# ---- 4.4 to_torch_lstm, from_torch_gru ----

TO_TORCH_LSTM = Exercise(
    number="4.4",
    references=(gates_and_torch.to_torch_lstm, gates_and_torch.from_torch_gru),
    probe_module=probes,
    points=2,
    minutes=20,
    difficulty=2,
    not_applicable={
        "the whole matrix is transposed": "torch refuses (E, 4H) for (4H, E); a block of W_h can be turned.",
    },
)
_LSTM_ALL = ("to_torch_lstm_weights", "to_torch_lstm_bias", "to_torch_lstm_output")
_GRU_ALL = ("to_torch_lstm_gru_weights", "to_torch_lstm_gru_biases", "to_torch_lstm_gru_untouched")


@TO_TORCH_LSTM.misconception(
    "LSTM: the blocks are copied in our order",
    fails=_LSTM_ALL,
    hints=(
        "Every number of ours is in your tensors, but not where torch looks for it.",
        "Ours stand in the order f, g, i, o; torch reads i, f, g, o. All blocks have one shape, so nothing raises.",
        "Read what the task says about the two orders.",
    ),
)
def to_torch_lstm__our_order(params):
    return TorchLSTM(*params, torch.zeros_like(params.b))


@TO_TORCH_LSTM.misconception(
    "LSTM: the blocks are brought into the order i, f, o, g",
    fails=_LSTM_ALL,
    hints=(
        "Your first two blocks are right, the last two are exchanged.",
        "torch's order is i, f, g, o: the content comes third, the output gate last.",
        "Read what the task says about torch's order.",
    ),
)
def to_torch_lstm__order_i_f_o_g(params):
    weight_ih, weight_hh, bias_ih = (torch.cat([i, f, o, g]) for f, g, i, o in (ours.chunk(4) for ours in params))
    return TorchLSTM(weight_ih, weight_hh, bias_ih, torch.zeros_like(bias_ih))


@TO_TORCH_LSTM.misconception(
    "LSTM: our bias is copied into both of torch's",
    fails=("to_torch_lstm_bias", "to_torch_lstm_output"),
    hints=(
        "Your weights are right; in effect your bias is twice ours.",
        "torch adds its two biases. One of them must be zero, or both must share ours.",
        "Read what the task says about the two biases.",
    ),
)
def to_torch_lstm__bias_doubled(params):
    weight_ih, weight_hh, bias = (torch.cat([i, f, g, o]) for f, g, i, o in (ours.chunk(4) for ours in params))
    return TorchLSTM(weight_ih, weight_hh, bias, bias)


@TO_TORCH_LSTM.misconception(
    "LSTM: the blocks of the bias are copied in our order",
    fails=("to_torch_lstm_bias", "to_torch_lstm_output"),
    hints=(
        "Your matrices are right; your bias has its numbers at the wrong gates.",
        "The bias has the same four blocks as the matrices, and they have to be moved in the same way.",
        "Read what the task says about the two orders: they hold for all tensors.",
    ),
)
def to_torch_lstm__bias_in_our_order(params):
    weight_ih, weight_hh = (torch.cat([i, f, g, o]) for f, g, i, o in (ours.chunk(4) for ours in params[:2]))
    return TorchLSTM(weight_ih, weight_hh, params.b, torch.zeros_like(params.b))


@TO_TORCH_LSTM.misconception(
    "LSTM: each block of W_h is transposed",
    fails=("to_torch_lstm_weights", "to_torch_lstm_output"),
    hints=(
        "Your weight_hh has the right blocks, each with rows and columns exchanged.",
        "A block of W_h is square, so its shape tells nothing. torch stores it as we do: rows belong to the target.",
        "Read the shapes that the task gives: nothing has to be turned.",
    ),
)
def to_torch_lstm__blocks_transposed(params):
    weight_ih, bias_ih = (torch.cat([i, f, g, o]) for f, g, i, o in (params.W_x.chunk(4), params.b.chunk(4)))
    f, g, i, o = params.W_h.chunk(4)
    return TorchLSTM(weight_ih, torch.cat([i.T, f.T, g.T, o.T]), bias_ih, torch.zeros_like(bias_ih))


@TO_TORCH_LSTM.misconception(
    "GRU: the sign of the update gate is not turned",
    fails=_GRU_ALL,
    hints=(
        "The blocks of r and of the candidate are right; that of u has the opposite sign.",
        "torch's z is the share that is kept, our u the share that is new: u = 1 - z. For a sigmoid that means: turn "
        "the sign of everything inside.",
        "Read the equation of torch's GRU: what is 1 - sigma(a)?",
    ),
)
def from_torch_gru__sign_not_turned(module):
    (xr, xz, xn), (hr, hz, hn) = module.weight_ih_l0.chunk(3), module.weight_hh_l0.chunk(3)
    (br, bz, bn), (cr, cz, cn) = module.bias_ih_l0.chunk(3), module.bias_hh_l0.chunk(3)
    return GRUParams(torch.cat([xz, xr, xn]), torch.cat([hz, hr, hn]), torch.cat([bz + cz, br + cr, bn]), cn)


@TO_TORCH_LSTM.misconception(
    "GRU: the sign of the update gate is turned in the weights, not in the bias",
    fails=("to_torch_lstm_gru_biases", "to_torch_lstm_gru_untouched"),
    hints=(
        "Your matrices are right; the first block of your b has the opposite sign.",
        "1 - sigma(a) = sigma(-a) turns all of a: the bias as well as the products.",
        "Read the equation of torch's GRU: what is a?",
    ),
)
def from_torch_gru__bias_sign_not_turned(module):
    (xr, xz, xn), (hr, hz, hn) = module.weight_ih_l0.chunk(3), module.weight_hh_l0.chunk(3)
    (br, bz, bn), (cr, cz, cn) = module.bias_ih_l0.chunk(3), module.bias_hh_l0.chunk(3)
    return GRUParams(torch.cat([-xz, xr, xn]), torch.cat([-hz, hr, hn]), torch.cat([bz + cz, br + cr, bn]), cn)


@TO_TORCH_LSTM.misconception(
    "GRU: the blocks stay in torch's order",
    fails=_GRU_ALL,
    hints=(
        "Your first block is torch's r, your second is torch's z.",
        "torch stores r, z, n; ours are u, r, candidate. The sign of z was turned, its place was not changed.",
        "Read what the task says about the two orders.",
    ),
)
def from_torch_gru__torch_order(module):
    (xr, xz, xn), (hr, hz, hn) = module.weight_ih_l0.chunk(3), module.weight_hh_l0.chunk(3)
    (br, bz, bn), (cr, cz, cn) = module.bias_ih_l0.chunk(3), module.bias_hh_l0.chunk(3)
    return GRUParams(torch.cat([xr, -xz, xn]), torch.cat([hr, -hz, hn]), torch.cat([br + cr, -(bz + cz), bn]), cn)


@TO_TORCH_LSTM.misconception(
    "GRU: both biases of the candidate are added into b",
    fails=("to_torch_lstm_gru_biases", "to_torch_lstm_gru_untouched"),
    hints=(
        "Your matrices are right; the last block of your b contains b_hn, and b_h does too or is zero.",
        "For the gates the two biases act as one. In the candidate the reset stands between them: b_hn is multiplied "
        "by r, b_in is not.",
        "Read torch's candidate in the task: where is b_hn?",
    ),
)
def from_torch_gru__biases_added(module):
    (xr, xz, xn), (hr, hz, hn) = module.weight_ih_l0.chunk(3), module.weight_hh_l0.chunk(3)
    br, bz, bn = (module.bias_ih_l0 + module.bias_hh_l0).chunk(3)
    b = torch.cat([-bz, br, bn])
    return GRUParams(torch.cat([-xz, xr, xn]), torch.cat([-hz, hr, hn]), b, torch.zeros_like(bn))


@TO_TORCH_LSTM.misconception(
    "GRU: the second bias of the candidate counts twice",
    fails=("to_torch_lstm_gru_biases", "to_torch_lstm_gru_untouched"),
    hints=(
        "Your b_h is right, but the last block of your b contains it as well.",
        "The two biases were added for all three blocks. In the candidate they must stay apart.",
        "Read torch's candidate in the task: where is b_hn?",
    ),
)
def from_torch_gru__bias_doubled(module):
    (xr, xz, xn), (hr, hz, hn) = module.weight_ih_l0.chunk(3), module.weight_hh_l0.chunk(3)
    br, bz, bn = (module.bias_ih_l0 + module.bias_hh_l0).chunk(3)
    b_h = module.bias_hh_l0.chunk(3)[2]
    return GRUParams(torch.cat([-xz, xr, xn]), torch.cat([-hz, hr, hn]), torch.cat([-bz, br, bn]), b_h)


@TO_TORCH_LSTM.misconception(
    "GRU: each block of W_h is transposed",
    fails=("to_torch_lstm_gru_weights", "to_torch_lstm_gru_untouched"),
    hints=(
        "Your W_h has the right blocks, each with rows and columns exchanged.",
        "A block of W_h is square, so its shape tells nothing. torch stores it as we do: rows belong to the target.",
        "Read the shapes that the task gives: nothing has to be turned.",
    ),
)
def from_torch_gru__blocks_transposed(module):
    (xr, xz, xn), (hr, hz, hn) = module.weight_ih_l0.chunk(3), module.weight_hh_l0.chunk(3)
    (br, bz, bn), (cr, cz, cn) = module.bias_ih_l0.chunk(3), module.bias_hh_l0.chunk(3)
    W_h = torch.cat([-hz.T, hr.T, hn.T])
    return GRUParams(torch.cat([-xz, xr, xn]), W_h, torch.cat([-(bz + cz), br + cr, bn]), cn)


@TO_TORCH_LSTM.misconception(
    "LSTM: the blocks are moved the wrong way, from torch's order to ours",
    fails=_LSTM_ALL,
    hints=(
        "Your last block is right, the first three have changed places, but not to where torch looks for them.",
        "You cut our tensors as i, f, g, o and put them together as f, g, i, o. That is the way from torch to us.",
        "Read what the task says about params: which order do they come in?",
    ),
)
def to_torch_lstm__way_back(params):
    weight_ih, weight_hh, bias_ih = (torch.cat([f, g, i, o]) for i, f, g, o in (ours.chunk(4) for ours in params))
    return TorchLSTM(weight_ih, weight_hh, bias_ih, torch.zeros_like(bias_ih))


@TO_TORCH_LSTM.misconception(
    "GRU: the update gate's weights are subtracted from 1",
    fails=_GRU_ALL,
    hints=(
        "The blocks of r and of the candidate are right; that of u is 1 minus torch's numbers.",
        "u = 1 - z holds for the gates, after the sigmoid. Inside it, 1 - sigma(a) = sigma(-a): the weights only turn "
        "their sign.",
        "Read the equation of torch's GRU: what is 1 - sigma(a)?",
    ),
)
def from_torch_gru__one_minus(module):
    (xr, xz, xn), (hr, hz, hn) = module.weight_ih_l0.chunk(3), module.weight_hh_l0.chunk(3)
    (br, bz, bn), (cr, cz, cn) = module.bias_ih_l0.chunk(3), module.bias_hh_l0.chunk(3)
    b = torch.cat([1 - (bz + cz), br + cr, bn])
    return GRUParams(torch.cat([1 - xz, xr, xn]), torch.cat([1 - hz, hr, hn]), b, cn)


# ---- 4.5 init_forget_bias ----

INIT_FORGET_BIAS = Exercise(
    number="4.5",
    references=(gates_and_torch.init_forget_bias,),
    probe_module=probes,
    points=1,
    minutes=10,
    difficulty=1,
    equivalent={"bias_ih[H:2 * H], bias_hh[H:2 * H] = (0, b)": "torch adds the two, so either may hold b."},
    not_applicable={
        "only the first of several layers": "the function is given the tensors of one layer.",
    },
)


@INIT_FORGET_BIAS.misconception(
    "The bias of the input gate is set",
    fails=INIT_FORGET_BIAS.all_but(),
    hints=(
        "The first quarter of your bias is b; the forget gate still has the one it had.",
        "torch's first block is i. The forget gate is the second.",
        "Read what the task says about the order of the blocks.",
    ),
)
def init_forget_bias__input_gate(weights, b):
    H = weights.weight_hh.shape[1]
    weight_ih, weight_hh, bias_ih, bias_hh = (tensor.detach().clone() for tensor in weights)
    bias_ih[:H], bias_hh[:H] = b, 0
    return TorchLSTM(weight_ih, weight_hh, bias_ih, bias_hh)


@INIT_FORGET_BIAS.misconception(
    "The bias of the content is set",
    fails=INIT_FORGET_BIAS.all_but(),
    hints=(
        "The third quarter of your bias is b; the forget gate still has the one it had.",
        "torch's third block is g. The forget gate is the second.",
        "Read what the task says about the order of the blocks.",
    ),
)
def init_forget_bias__content(weights, b):
    H = weights.weight_hh.shape[1]
    weight_ih, weight_hh, bias_ih, bias_hh = (tensor.detach().clone() for tensor in weights)
    bias_ih[2 * H : 3 * H], bias_hh[2 * H : 3 * H] = b, 0
    return TorchLSTM(weight_ih, weight_hh, bias_ih, bias_hh)


@INIT_FORGET_BIAS.misconception(
    "Both biases are set to b, so that the gate starts at 2b",
    fails=INIT_FORGET_BIAS.all_but(),
    hints=(
        "In effect your forget bias is twice b.",
        "torch adds its two biases. If both are b, the gate sees 2b.",
        "Read what the task says about b: in effect.",
    ),
)
def init_forget_bias__both(weights, b):
    H = weights.weight_hh.shape[1]
    weight_ih, weight_hh, bias_ih, bias_hh = (tensor.detach().clone() for tensor in weights)
    bias_ih[H : 2 * H] = bias_hh[H : 2 * H] = b
    return TorchLSTM(weight_ih, weight_hh, bias_ih, bias_hh)


@INIT_FORGET_BIAS.misconception(
    "One bias is set to b, the other keeps its random start",
    fails=INIT_FORGET_BIAS.all_but("others"),
    hints=(
        "In effect your forget bias is near b, but every unit has another one.",
        "torch adds its two biases, and bias_hh has not been touched.",
        "Read what the task says about b: in effect.",
    ),
)
def init_forget_bias__other_left(weights, b):
    H = weights.weight_hh.shape[1]
    weight_ih, weight_hh, bias_ih, bias_hh = (tensor.detach().clone() for tensor in weights)
    bias_ih[H : 2 * H] = b
    return TorchLSTM(weight_ih, weight_hh, bias_ih, bias_hh)


@INIT_FORGET_BIAS.misconception(
    "The state's bias is set to b, the input's keeps its random start",
    fails=INIT_FORGET_BIAS.all_but("others"),
    hints=(
        "In effect your forget bias is near b, but every unit has another one.",
        "torch adds its two biases, and bias_ih has not been touched.",
        "Read what the task says about b: in effect.",
    ),
)
def init_forget_bias__input_left(weights, b):
    H = weights.weight_hh.shape[1]
    weight_ih, weight_hh, bias_ih, bias_hh = (tensor.detach().clone() for tensor in weights)
    bias_hh[H : 2 * H] = b
    return TorchLSTM(weight_ih, weight_hh, bias_ih, bias_hh)


@INIT_FORGET_BIAS.misconception(
    "The biases of all gates are set",
    fails=("init_forget_bias_others", "init_forget_bias_output"),
    hints=(
        "All four quarters of your bias are b.",
        "An open forget gate keeps. Open input and output gates do the opposite: they let everything in and out.",
        "Read what the task says: nothing but the forget biases differs.",
    ),
)
def init_forget_bias__all_gates(weights, b):
    weight_ih, weight_hh, bias_ih, bias_hh = (tensor.detach().clone() for tensor in weights)
    return TorchLSTM(weight_ih, weight_hh, torch.full_like(bias_ih, b), torch.zeros_like(bias_hh))


@INIT_FORGET_BIAS.misconception(
    "The biases of the other gates are set to zero",
    fails=("init_forget_bias_others", "init_forget_bias_output"),
    hints=(
        "Your forget bias is right; those of the other gates have been wiped out.",
        "A whole bias was set to zero before the forget block was written. Write to the block only.",
        "Read what the task says: nothing but the forget biases differs.",
    ),
)
def init_forget_bias__others_zeroed(weights, b):
    H = weights.weight_hh.shape[1]
    weight_ih, weight_hh, bias_ih, bias_hh = (tensor.detach().clone() for tensor in weights)
    bias_ih, bias_hh = torch.zeros_like(bias_ih), torch.zeros_like(bias_hh)
    bias_ih[H : 2 * H] = b
    return TorchLSTM(weight_ih, weight_hh, bias_ih, bias_hh)


@INIT_FORGET_BIAS.misconception(
    "The weights of the forget gate are set to zero as well",
    fails=("init_forget_bias_output", "init_forget_bias_untouched"),
    hints=(
        "Your biases are right, but the forget gate no longer sees input and state.",
        "The matrices' forget rows were wiped out. The bias moves the start; the weights make the gate dynamic.",
        "Read what the task says: nothing but the forget biases differs.",
    ),
)
def init_forget_bias__weights_zeroed(weights, b):
    H = weights.weight_hh.shape[1]
    weight_ih, weight_hh, bias_ih, bias_hh = (tensor.detach().clone() for tensor in weights)
    weight_ih[H : 2 * H] = weight_hh[H : 2 * H] = bias_hh[H : 2 * H] = 0
    bias_ih[H : 2 * H] = b
    return TorchLSTM(weight_ih, weight_hh, bias_ih, bias_hh)


@INIT_FORGET_BIAS.misconception(
    "All weights are set to zero as well",
    fails=("init_forget_bias_output", "init_forget_bias_untouched"),
    hints=(
        "Your biases are right, but the network no longer sees anything.",
        "The matrices were made anew, as zeros. Only the bias is to change.",
        "Read what the task says: nothing but the forget biases differs.",
    ),
)
def init_forget_bias__all_weights_zeroed(weights, b):
    H = weights.weight_hh.shape[1]
    weight_ih, weight_hh, bias_ih, bias_hh = (tensor.detach().clone() for tensor in weights)
    bias_ih[H : 2 * H], bias_hh[H : 2 * H] = b, 0
    return TorchLSTM(torch.zeros_like(weight_ih), torch.zeros_like(weight_hh), bias_ih, bias_hh)


@INIT_FORGET_BIAS.misconception(
    "b is added to the old bias",
    fails=INIT_FORGET_BIAS.all_but("others"),
    hints=(
        "Your forget biases are those of before, plus b; called twice, they go on growing.",
        "The gate is to start *at* b, whatever stood there.",
        "Read what the task says about b: in effect.",
    ),
)
def init_forget_bias__added(weights, b):
    H = weights.weight_hh.shape[1]
    weight_ih, weight_hh, bias_ih, bias_hh = (tensor.detach().clone() for tensor in weights)
    bias_ih[H : 2 * H] += b
    return TorchLSTM(weight_ih, weight_hh, bias_ih, bias_hh)


@INIT_FORGET_BIAS.misconception(
    "The caller's biases are changed",
    fails=("init_forget_bias_untouched",),
    hints=(
        "Your result is right, but the tensors that were passed in have changed too.",
        "A slice of a tensor is a view of it: assigning to it writes into the caller's memory. Copy first.",
        "Read what the task says about weights: not changed.",
    ),
)
def init_forget_bias__in_place(weights, b):
    H = weights.weight_hh.shape[1]
    weights.bias_ih[H : 2 * H], weights.bias_hh[H : 2 * H] = b, 0
    return weights


# ---- 4.6 direct_cell_gradient ----

DIRECT_CELL_GRADIENT = Exercise(
    number="4.6",
    references=(gates_and_torch.direct_cell_gradient,),
    probe_module=probes,
    points=2,
    minutes=15,
    difficulty=2,
    not_applicable={
        "the detour through the gates is included": "the function is given the gates' values, not the weights that "
        "the detour needs.",
    },
)


@DIRECT_CELL_GRADIENT.misconception(
    "The gates are summed, not multiplied",
    fails=DIRECT_CELL_GRADIENT.all_but(),
    hints=(
        "Your gradients grow with the distance, beyond 1.",
        "Each step scales what passes through it. Steps one after another multiply.",
        "Read the equation of the carousel: which sign is that?",
    ),
)
def direct_cell_gradient__summed(gates):
    after = torch.cat([gates.f[:, 1:], torch.ones_like(gates.f[:, :1])], dim=1)
    return after.flip(1).cumsum(1).flip(1)


@DIRECT_CELL_GRADIENT.misconception(
    "The input gate is a factor too",
    fails=DIRECT_CELL_GRADIENT.all_but(),
    hints=(
        "Your gradients shrink too fast.",
        "i scales what is *written* in a step. The old cell passes by it: in the equation of the cell only f "
        "multiplies it.",
        "Read the equation of the cell, and differentiate it with respect to the old cell.",
    ),
)
def direct_cell_gradient__input_gate_too(gates):
    factor = gates.f * gates.i
    after = torch.cat([factor[:, 1:], torch.ones_like(factor[:, :1])], dim=1)
    return after.flip(1).cumprod(1).flip(1)


@DIRECT_CELL_GRADIENT.misconception(
    "The output gate is a factor too",
    fails=DIRECT_CELL_GRADIENT.all_but(),
    hints=(
        "Your gradients shrink too fast.",
        "o scales what is *read*. The cell itself goes on unread: that is why it is kept apart from h.",
        "Read the equation of the cell, and differentiate it with respect to the old cell.",
    ),
)
def direct_cell_gradient__output_gate_too(gates):
    factor = gates.f * gates.o
    after = torch.cat([factor[:, 1:], torch.ones_like(factor[:, :1])], dim=1)
    return after.flip(1).cumprod(1).flip(1)


@DIRECT_CELL_GRADIENT.misconception(
    "One factor too many: the gate of step k itself is included",
    fails=DIRECT_CELL_GRADIENT.all_but(),
    hints=(
        "Your last gradient is not 1, although nothing lies between the last cell and itself.",
        "The gate of step k has acted before the cell of step k is there. The product starts one step later.",
        "Read the equation of the carousel: where does t start?",
    ),
)
def direct_cell_gradient__one_too_many(gates):
    return gates.f.flip(1).cumprod(1).flip(1)


@DIRECT_CELL_GRADIENT.misconception(
    "One factor too few: the gate of the next step is left out",
    fails=DIRECT_CELL_GRADIENT.all_but(),
    hints=(
        "Your last two gradients are 1.",
        "From the cell of step k to that of step k + 1 the gate of step k + 1 is passed; yours starts at k + 2.",
        "Read the equation of the carousel: where does t start?",
    ),
)
def direct_cell_gradient__one_too_few(gates):
    ones = torch.ones_like(gates.f[:, :2])
    after = torch.cat([gates.f[:, 2:], ones], dim=1)[:, : gates.f.shape[1]]
    return after.flip(1).cumprod(1).flip(1)


@DIRECT_CELL_GRADIENT.misconception(
    "The product runs from the first step to step k",
    fails=DIRECT_CELL_GRADIENT.all_but(),
    hints=(
        "Your gradients are large at the beginning and small at the end.",
        "That is how much of the *first* cell is left at step k. Asked is how much of cell k arrives at the end.",
        "Read the equation of the carousel: from where to where does t run?",
    ),
)
def direct_cell_gradient__from_the_start(gates):
    return gates.f.cumprod(dim=1)


@DIRECT_CELL_GRADIENT.misconception(
    "The product runs over the units, not over time",
    fails=DIRECT_CELL_GRADIENT.all_but(),
    hints=(
        "Your gradients become smaller from unit to unit, and do not depend on the steps after k.",
        "The last axis holds the units, which do not meet on this path. Time is axis 1.",
        "Read what the task says about the shape of the gates.",
    ),
)
def direct_cell_gradient__over_units(gates):
    after = torch.cat([gates.f[:, :, 1:], torch.ones_like(gates.f[:, :, :1])], dim=2)
    return after.flip(2).cumprod(2).flip(2)


@DIRECT_CELL_GRADIENT.misconception(
    "The result is in reverse order",
    fails=DIRECT_CELL_GRADIENT.all_but(),
    hints=(
        "Your first gradient is 1 and the last is the smallest: the order of time is turned round.",
        "The products were taken from the end, which is right, and not turned back.",
        "Read what the task says about place k.",
    ),
)
def direct_cell_gradient__reversed(gates):
    after = torch.cat([gates.f[:, 1:], torch.ones_like(gates.f[:, :1])], dim=1)
    return after.flip(1).cumprod(1)


@DIRECT_CELL_GRADIENT.misconception(
    "One product is divided by another, which is 0 / 0 after a gate that is shut",
    fails=("direct_cell_gradient_shut",),
    hints=(
        "You are right until a gate is quite shut; from there on your gradients are nan.",
        "The product of all gates, divided by that up to step k (or the same with logarithms), has 0 / 0 at every step "
        "after a gate of 0. Multiply from the end instead: then nothing has to be taken back.",
        "Read the equation of the carousel: only the gates after step k occur in it.",
    ),
)
def direct_cell_gradient__divided(gates):
    products = gates.f.cumprod(dim=1)
    return products[:, -1:] / products


# ---- 4.7 detach_state ----

DETACH_STATE = Exercise(
    number="4.7",
    references=(gates_and_torch.detach_state,),
    probe_module=probes,
    points=1,
    minutes=10,
    difficulty=1,
    not_applicable={
        "returned as it is, against copied with its history": "both carry the same values and the same gradients, so "
        "they are one mistake here: the history is not cut.",
    },
)


@DETACH_STATE.misconception(
    "h is cut, c is not",
    fails=("detach_state_lstm", "detach_state_layers", "detach_state_loss_before"),
    hints=(
        "A tensor alone is right; of a pair the second still leads back into the past.",
        "An LSTM has two memories, and c is the longer one. Through it the graph of all earlier chunks stays alive.",
        "Read what the task says about tuples: every part of them.",
    ),
)
def detach_state__c_left(state):
    if isinstance(state, Tensor):
        return state.detach()
    pairs = [state] if isinstance(state[0], Tensor) else state
    cut = tuple((h.detach(), c) for h, c in pairs)
    return cut[0] if isinstance(state[0], Tensor) else cut


@DETACH_STATE.misconception(
    "c is cut, h is not",
    fails=("detach_state_lstm", "detach_state_layers", "detach_state_loss_before"),
    hints=(
        "A tensor alone is right; of a pair the first still leads back into the past.",
        "Both parts of an LSTM's state have a history. Cut both.",
        "Read what the task says about tuples: every part of them.",
    ),
)
def detach_state__h_left(state):
    if isinstance(state, Tensor):
        return state.detach()
    pairs = [state] if isinstance(state[0], Tensor) else state
    cut = tuple((h, c.detach()) for h, c in pairs)
    return cut[0] if isinstance(state[0], Tensor) else cut


@DETACH_STATE.misconception(
    "The state is reset to zero",
    fails=DETACH_STATE.all_but(),
    hints=(
        "Nothing flows back, but your values are all zero: the network has forgotten what it read.",
        "Between chunks of one text the *gradient* ends, not the memory.",
        "Read the first line of the task: the values go on.",
    ),
)
def detach_state__reset(state):
    if isinstance(state, Tensor):
        return torch.zeros_like(state)
    return tuple(torch.zeros_like(p) if isinstance(p, Tensor) else tuple(map(torch.zeros_like, p)) for p in state)


@DETACH_STATE.misconception(
    "The history is not cut: the state is copied or returned with its gradient",
    fails=DETACH_STATE.all_but(),
    hints=(
        "Your values are right, but gradients still flow through them into earlier chunks.",
        "clone copies the numbers and keeps the history, and so does returning the state itself. The graph grows with "
        "every chunk until the memory is full.",
        "Read what the task says about gradients.",
    ),
)
def detach_state__history_kept(state):
    if isinstance(state, Tensor):
        return state.clone()
    return tuple(p.clone() if isinstance(p, Tensor) else tuple(q.clone() for q in p) for p in state)


@DETACH_STATE.misconception(
    "The caller's own tensors are cut",
    fails=("detach_state_loss_before",),
    hints=(
        "Your state is right, but the last chunk can no longer be differentiated through it.",
        "detach_ and requires_grad_(False) work in place: they cut the caller's tensor, which its loss still needs.",
        "Read what the task says about state: it is not changed.",
    ),
)
def detach_state__in_place(state):
    if isinstance(state, Tensor):
        return state.detach_()
    return tuple(p.detach_() if isinstance(p, Tensor) else tuple(q.detach_() for q in p) for p in state)


@DETACH_STATE.misconception(
    "Only the first layer's state is cut",
    fails=("detach_state_layers",),
    hints=(
        "One state is right; of several layers only the first is cut.",
        "A state may be a list of states, one for each layer. Go through all of them.",
        "Read what the task says about arrangements: to any depth.",
    ),
)
def detach_state__first_layer_only(state):
    if isinstance(state, Tensor):
        return state.detach()
    if isinstance(state[0], Tensor):
        return tuple(part.detach() for part in state)
    return (tuple(part.detach() for part in state[0]), *state[1:])


@DETACH_STATE.misconception(
    "Only one level is cut: a state inside a state raises an error",
    fails=("detach_state_layers",),
    hints=(
        "A tensor and a pair (h, c) are right; with one pair per layer you call detach on a tuple.",
        "A part of the state may itself be a tuple or a list of states. Treat it as you treat the whole.",
        "Read what the task says about arrangements: to any depth.",
    ),
)
def detach_state__one_level(state):
    if isinstance(state, Tensor):
        return state.detach()
    return tuple(part.detach() for part in state)


@DETACH_STATE.misconception(
    "h is cut, c is not, and a state inside a state raises an error",
    fails=("detach_state_lstm", "detach_state_layers", "detach_state_loss_before"),
    hints=(
        "A tensor alone is right; of a pair the second still leads back into the past, and pairs of pairs raise.",
        "An LSTM has two memories, and c is the longer one: cut both. And a part of the state may itself be a tuple.",
        "Read what the task says about tuples: every part of them, to any depth.",
    ),
)
def detach_state__c_left_one_level(state):
    if isinstance(state, Tensor):
        return state.detach()
    h, c = state
    return h.detach(), c


@DETACH_STATE.misconception(
    "The parts are stacked into one tensor",
    fails=("detach_state_lstm", "detach_state_layers", "detach_state_loss_before"),
    hints=(
        "Nothing flows back and the numbers are right, but a pair comes back as one tensor.",
        "torch.stack works only as long as all parts have one shape, and an nn.LSTM asks for a pair. Keep the parts "
        "apart.",
        "Read what the task says about the result: in the same arrangement.",
    ),
)
def detach_state__stacked(state):
    if isinstance(state, Tensor):
        return state.detach()
    parts = [part if isinstance(part, Tensor) else torch.stack(list(part)) for part in state]
    return torch.stack([part.detach() for part in parts])


EXERCISES = (
    LSTM_STEP,
    PEEPHOLE_LSTM_STEP,
    GRU_STEP,
    TO_TORCH_LSTM,
    INIT_FORGET_BIAS,
    DIRECT_CELL_GRADIENT,
    DETACH_STATE,
)
