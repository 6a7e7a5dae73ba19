"""The exercises of chapter 5 and the mistakes that the judge knows by name."""

from __future__ import annotations

import torch

from autograder.exercise import Exercise
from autograder.probes import ch05_deep_bidirectional as probes
from unrolled import deep, pooling, spans
from unrolled.deep import birnn
from unrolled.recurrent import rnn_forward
from unrolled.spans import bio_spans

SETUP_NAMES = frozenset({"RNNParams", "rnn_forward"})
_TORCH = "Build it of rnn_forward: torch's own layers are what it is compared with later."
_LAYERS = dict.fromkeys(("RNN", "RNNCell", "rnn_tanh", "rnn_relu"), _TORCH)


# ---- 5.1 stack ----

STACK = Exercise(
    number="5.1",
    references=(deep.stack,),
    probe_module=probes,
    points=2,
    minutes=10,
    difficulty=1,
    forbidden=_LAYERS,
)


@STACK.misconception(
    "Every layer reads x",
    fails=STACK.all_but("one"),
    hints=(
        "With one layer you are right; with more, what the lower layers compute is thrown away.",
        "Each turn of the loop gives x to the layer. Then the layers stand side by side, not on top of each other.",
        "Read the equation of the stack: what stands where x stood?",
    ),
)
def stack__all_read_x(layers, x):
    for params in layers:
        h = rnn_forward(x, x.new_zeros(len(x), len(params.b)), params)
    return h


@STACK.misconception(
    "All layers share the weights of the first",
    fails=STACK.all_but("one"),
    hints=(
        "With one layer you are right; with more, the parameters of the upper layers make no difference.",
        "Weights are shared along time, not along depth: each layer has its own.",
        "Read the equation of the stack: which letters carry the number of the layer?",
    ),
)
def stack__shared_weights(layers, x):
    h = x
    for _ in layers:
        params = layers[0]
        h = rnn_forward(h, h.new_zeros(len(h), len(params.b)), params)
    return h


@STACK.misconception(
    "Only the last state is passed on",
    fails=STACK.all_but("one_step"),
    hints=(
        "Your output has one step instead of T.",
        "The last state was cut out of what a layer returns. The layer above reads a sequence: all states.",
        "Read the equation of the stack: it holds for every t.",
    ),
)
def stack__last_step_only(layers, x):
    h = x
    for params in layers:
        h = rnn_forward(h, h.new_zeros(len(h), len(params.b)), params)[:, -1:]
    return h


@STACK.misconception(
    "The last state is repeated as the input of the next layer",
    fails=STACK.all_but("one", "one_step"),
    hints=(
        "With one layer you are right; with more, the upper layers read the same vector at every step.",
        "The last state of a layer was spread over all steps: the first word then sees the last one.",
        "Read the equation of the stack: layer l at step t reads layer l - 1 at step t.",
    ),
)
def stack__last_step_repeated(layers, x):
    h = rnn_forward(x, x.new_zeros(len(x), len(layers[0].b)), layers[0])
    for params in layers[1:]:
        h = rnn_forward(h[:, -1:].expand_as(h), h.new_zeros(len(h), len(params.b)), params)
    return h


@STACK.misconception(
    "Only the first layer is run",
    fails=STACK.all_but("one"),
    hints=(
        "With one layer you are right; with more, the output is that of the first.",
        "The function returns before the loop has ended.",
        "Read what the task says about the result: the states of the top layer.",
    ),
)
def stack__first_layer_only(layers, x):
    for params in layers:
        return rnn_forward(x, x.new_zeros(len(x), len(params.b)), params)


@STACK.misconception(
    "The layers are taken from the top down",
    fails=STACK.all_but("one"),
    hints=(
        "With one layer you are right; with more, x goes into the wrong end.",
        "The list was turned round. Its first entry is the lowest layer, which reads x.",
        "Read what the task says about layers.",
    ),
)
def stack__top_down(layers, x):
    h = x
    for params in reversed(layers):
        h = rnn_forward(h, h.new_zeros(len(h), len(params.b)), params)
    return h


@STACK.misconception(
    "A layer starts from the last state of the layer below",
    fails=STACK.all_but("one"),
    hints=(
        "With one layer you are right; with more, the first step of an upper layer already knows the end of the text.",
        "The last state below was handed on as h0. Each layer has a memory of its own, and it starts empty.",
        "Read the equation of the stack: what is the state at step 0?",
    ),
)
def stack__state_handed_up(layers, x):
    h, h0 = x, x.new_zeros(len(x), len(layers[0].b))
    for params in layers:
        h = rnn_forward(h, h0, params)
        h0 = h[:, -1]
    return h


@STACK.misconception(
    "What a layer reads is added to what it says",
    fails=STACK.all_but(),
    hints=(
        "Your output is the layer's state plus its input.",
        "That is a residual connection, which later chapters add. Here a layer hands on its states alone.",
        "Read the equation of the stack.",
    ),
)
def stack__residual(layers, x):
    h = x
    for params in layers:
        h = h + rnn_forward(h, h.new_zeros(len(h), len(params.b)), params)
    return h


@STACK.misconception(
    "The states of all layers are returned side by side",
    fails=STACK.all_but("one"),
    hints=(
        "With one layer you are right; with more, your output is too wide.",
        "All layers were collected. The lower ones are heard through the top one.",
        "Read what the task says about the result: the states of the top layer.",
    ),
)
def stack__all_layers(layers, x):
    h, collected = x, []
    for params in layers:
        h = rnn_forward(h, h.new_zeros(len(h), len(params.b)), params)
        collected.append(h)
    return torch.cat(collected, dim=-1)


@STACK.misconception(
    "The states of all layers are returned in a list",
    fails=STACK.all_but(),
    hints=(
        "You return a list with an entry for each layer; one tensor is asked for.",
        "All layers were collected. The lower ones are heard through the top one: return its states alone.",
        "Read what the task says about the result: the states of the top layer.",
    ),
)
def stack__list_of_layers(layers, x):
    h, collected = x, []
    for params in layers:
        h = rnn_forward(h, h.new_zeros(len(h), len(params.b)), params)
        collected.append(h)
    return collected


@STACK.misconception(
    "The first state has torch's default number type",
    fails=("stack_dtype",),
    hints=(
        "Your states are right, but only where x has the number type that torch takes by default.",
        "torch.zeros(B, H) makes float32 unless told otherwise, and x may be float64: the two do not multiply. "
        "x.new_zeros(B, H) takes the number type of x.",
        "Read what the task says about the dtype of the result.",
    ),
)
def stack__default_dtype(layers, x):
    h = x
    for params in layers:
        h = rnn_forward(h, torch.zeros(len(h), len(params.b)), params)
    return h


@STACK.misconception(
    "Only the last state of the top layer is returned",
    fails=STACK.all_but(),
    hints=(
        "Your output has no axis of time.",
        "The last step was picked. A tagger needs the states of all steps.",
        "Read what the task says about the shape of the result.",
    ),
)
def stack__last_state(layers, x):
    h = x
    for params in layers:
        h = rnn_forward(h, h.new_zeros(len(h), len(params.b)), params)
    return h[:, -1]


@STACK.misconception(
    "Batch and time are exchanged",
    fails=STACK.all_but("one_step"),
    hints=(
        "Your network runs along the rows of the batch instead of along time.",
        "x is batch first here, as rnn_forward takes it: it needs no transposing.",
        "Read what the task says about the shape of x.",
    ),
)
def stack__time_first(layers, x):
    h = x.transpose(0, 1)
    for params in layers:
        h = rnn_forward(h, h.new_zeros(len(h), len(params.b)), params)
    return h.transpose(0, 1)


# ---- 5.2 birnn ----

BIRNN = Exercise(
    number="5.2",
    references=(deep.birnn,),
    probe_module=probes,
    points=4,
    minutes=30,
    difficulty=3,
    forbidden=_LAYERS,
)


@BIRNN.misconception(
    "The backward states are not turned back",
    fails=BIRNN.all_but(),
    hints=(
        "Your forward half is right. The backward half is right too, but in the order in which b has read.",
        "What b says of the last word stands beside the first. Turn its states round again before you join them.",
        "Read what the task says about the result: at every step, both states of that step.",
    ),
)
def birnn__not_turned_back(x, lengths, f, b):
    t, n, row = torch.arange(x.shape[1]), lengths[:, None], torch.arange(len(x))[:, None]
    real = t < n
    turned = torch.where(real, n - 1 - t, t)
    h_f = rnn_forward(x, x.new_zeros(len(x), len(f.b)), f)
    h_b = rnn_forward(x[row, turned], x.new_zeros(len(x), len(b.b)), b)
    return torch.cat([h_f, h_b], dim=-1) * real[..., None]


@BIRNN.misconception(
    "The backward network reads the pads first",
    fails=BIRNN.all_but("full"),
    hints=(
        "Rows of full length are right. In shorter ones the backward half depends on what stands in the pads.",
        "Turning the whole row round brings its pads to the front: b has a state from them when the last word comes.",
        "Read the equation: the backward state is zero at n + 1, behind the last *real* step.",
    ),
)
def birnn__pads_first(x, lengths, f, b):
    real = torch.arange(x.shape[1]) < lengths[:, None]
    h_f = rnn_forward(x, x.new_zeros(len(x), len(f.b)), f)
    h_b = rnn_forward(x.flip(1), x.new_zeros(len(x), len(b.b)), b).flip(1)
    return torch.cat([h_f, h_b], dim=-1) * real[..., None]


@BIRNN.misconception(
    "The lengths are not used at all",
    fails=BIRNN.all_but("full"),
    hints=(
        "Rows of full length are right. In shorter ones there are states at the pads, and b has read them first.",
        "The pads are no words. The backward network starts at the last real step of each row, and what stands at the "
        "pads in the end is zero.",
        "Read what the task says about lengths.",
    ),
)
def birnn__lengths_ignored(x, lengths, f, b):
    h_f = rnn_forward(x, x.new_zeros(len(x), len(f.b)), f)
    h_b = rnn_forward(x.flip(1), x.new_zeros(len(x), len(b.b)), b).flip(1)
    return torch.cat([h_f, h_b], dim=-1)


@BIRNN.misconception(
    "The pads are blanked, and then read first",
    fails=BIRNN.all_but("full"),
    hints=(
        "The pads no longer matter, but in rows with pads the backward half is still not right.",
        "A zero is an input too: with a bias b has a state when the last word comes. Begin at the last word instead.",
        "Read the equation: the backward state is zero at n + 1, behind the last *real* step.",
    ),
)
def birnn__pads_blanked(x, lengths, f, b):
    real = (torch.arange(x.shape[1]) < lengths[:, None])[..., None]
    x = x * real
    h_f = rnn_forward(x, x.new_zeros(len(x), len(f.b)), f)
    h_b = rnn_forward(x.flip(1), x.new_zeros(len(x), len(b.b)), b).flip(1)
    return torch.cat([h_f, h_b], dim=-1) * real


@BIRNN.misconception(
    "Each row is turned by its own length, but turned back over the whole width",
    fails=BIRNN.all_but("full"),
    hints=(
        "Rows of full length are right. In shorter ones the backward states stand at the wrong steps.",
        "After the reading the row still has its pads at the right. Flipping all T steps moves them to the left: turn "
        "the real steps only, as before.",
        "Read the example in the task, second row.",
    ),
)
def birnn__turned_back_with_pads(x, lengths, f, b):
    t, n, row = torch.arange(x.shape[1]), lengths[:, None], torch.arange(len(x))[:, None]
    real = t < n
    turned = torch.where(real, n - 1 - t, t)
    h_f = rnn_forward(x, x.new_zeros(len(x), len(f.b)), f)
    h_b = rnn_forward(x[row, turned], x.new_zeros(len(x), len(b.b)), b).flip(1)
    return torch.cat([h_f, h_b], dim=-1) * real[..., None]


@BIRNN.misconception(
    "The pads keep the states that ran on into them",
    fails=BIRNN.all_but("full"),
    hints=(
        "All real steps are right, but the pads are not zero.",
        "Both networks go on to the end of the rectangle. What they say there has to be wiped out.",
        "Read what the task says about the result: at the pads zeros.",
    ),
)
def birnn__pads_kept(x, lengths, f, b):
    t, n, row = torch.arange(x.shape[1]), lengths[:, None], torch.arange(len(x))[:, None]
    turned = torch.where(t < n, n - 1 - t, t)
    h_f = rnn_forward(x, x.new_zeros(len(x), len(f.b)), f)
    h_b = rnn_forward(x[row, turned], x.new_zeros(len(x), len(b.b)), b)[row, turned]
    return torch.cat([h_f, h_b], dim=-1)


@BIRNN.misconception(
    "The two states are added",
    fails=BIRNN.all_but(),
    hints=(
        "Side by side, not added: the two widths may even differ.",
        "Added up, nobody can tell any more what came from the left and what from the right. Put them side by side.",
        "Read the equation: what does the sign between the two states mean?",
    ),
)
def birnn__summed(x, lengths, f, b):
    t, n, row = torch.arange(x.shape[1]), lengths[:, None], torch.arange(len(x))[:, None]
    real = t < n
    turned = torch.where(real, n - 1 - t, t)
    h_f = rnn_forward(x, x.new_zeros(len(x), len(f.b)), f)
    h_b = rnn_forward(x[row, turned], x.new_zeros(len(x), len(b.b)), b)[row, turned]
    return (h_f + h_b) * real[..., None]


@BIRNN.misconception(
    "Both directions use the weights of f",
    fails=BIRNN.all_but(),
    hints=(
        "Your forward half is right; the parameters b make no difference.",
        "The two readers are two networks: what is useful on the left is something else than on the right.",
        "Read what the task says about f and b.",
    ),
)
def birnn__one_set_of_weights(x, lengths, f, b):
    t, n, row = torch.arange(x.shape[1]), lengths[:, None], torch.arange(len(x))[:, None]
    real = t < n
    turned = torch.where(real, n - 1 - t, t)
    h_f = rnn_forward(x, x.new_zeros(len(x), len(f.b)), f)
    h_b = rnn_forward(x[row, turned], x.new_zeros(len(x), len(f.b)), f)[row, turned]
    return torch.cat([h_f, h_b], dim=-1) * real[..., None]


@BIRNN.misconception(
    "The batch is turned round, not time",
    fails=BIRNN.all_but(),
    hints=(
        "Your backward half knows nothing of what comes later: it reads forward.",
        "Axis 0 holds the rows, axis 1 the time. The rows were turned round, read forward and turned back.",
        "Read what the task says about the shape of x.",
    ),
)
def birnn__batch_turned(x, lengths, f, b):
    real = torch.arange(x.shape[1]) < lengths[:, None]
    h_f = rnn_forward(x, x.new_zeros(len(x), len(f.b)), f)
    h_b = rnn_forward(x.flip(0), x.new_zeros(len(x), len(b.b)), b)
    return torch.cat([h_f, h_b.flip(0)], dim=-1) * real[..., None]


@BIRNN.misconception(
    "The batch is turned round, and not turned back",
    fails=BIRNN.all_but(),
    hints=(
        "Your backward half belongs to another row of the batch.",
        "Axis 0 holds the rows, axis 1 the time. The first row now carries states of the last.",
        "Read what the task says about the shape of x.",
    ),
)
def birnn__batch_turned_once(x, lengths, f, b):
    real = torch.arange(x.shape[1]) < lengths[:, None]
    h_f = rnn_forward(x, x.new_zeros(len(x), len(f.b)), f)
    h_b = rnn_forward(x.flip(0), x.new_zeros(len(x), len(b.b)), b)
    return torch.cat([h_f, h_b], dim=-1) * real[..., None]


@BIRNN.misconception(
    "The backward half comes first",
    fails=BIRNN.all_but(),
    hints=(
        "All states are right, but the two halves have changed places.",
        "Who reads your output takes the left half for the forward states, as torch has them.",
        "Read what the task says about the result: first f, then b.",
    ),
)
def birnn__backward_first(x, lengths, f, b):
    t, n, row = torch.arange(x.shape[1]), lengths[:, None], torch.arange(len(x))[:, None]
    real = t < n
    turned = torch.where(real, n - 1 - t, t)
    h_f = rnn_forward(x, x.new_zeros(len(x), len(f.b)), f)
    h_b = rnn_forward(x[row, turned], x.new_zeros(len(x), len(b.b)), b)[row, turned]
    return torch.cat([h_b, h_f], dim=-1) * real[..., None]


@BIRNN.misconception(
    "The backward network reads the forward states instead of x",
    fails=BIRNN.all_but(),
    hints=(
        "Your forward half is right; the backward half has not seen x itself.",
        "b was put on top of f. In one layer both read the same words; stacking is the next exercise.",
        "Read the equation: what do both steps take as input?",
    ),
)
def birnn__reads_forward_states(x, lengths, f, b):
    t, n, row = torch.arange(x.shape[1]), lengths[:, None], torch.arange(len(x))[:, None]
    real = t < n
    turned = torch.where(real, n - 1 - t, t)
    h_f = rnn_forward(x, x.new_zeros(len(x), len(f.b)), f)
    h_b = rnn_forward(h_f[row, turned], x.new_zeros(len(x), len(b.b)), b)[row, turned]
    return torch.cat([h_f, h_b], dim=-1) * real[..., None]


@BIRNN.misconception(
    "The first states have torch's default number type",
    fails=("birnn_dtype",),
    hints=(
        "Your states are right, but only where x has the number type that torch takes by default.",
        "torch.zeros(B, H) makes float32 unless told otherwise, and x may be float64: the two do not multiply. "
        "x.new_zeros(B, H) takes the number type of x.",
        "Read what the task says about the dtype of the result.",
    ),
)
def birnn__default_dtype(x, lengths, f, b):
    t, n, row = torch.arange(x.shape[1]), lengths[:, None], torch.arange(len(x))[:, None]
    real = t < n
    turned = torch.where(real, n - 1 - t, t)
    h_f = rnn_forward(x, torch.zeros(len(x), len(f.b)), f)
    h_b = rnn_forward(x[row, turned], torch.zeros(len(x), len(b.b)), b)[row, turned]
    return torch.cat([h_f, h_b], dim=-1) * real[..., None]


@BIRNN.misconception(
    "The result is cut to the longest row",
    fails=("birnn_all_short",),
    hints=(
        "All is right but for a batch whose longest row is shorter than the rectangle: there steps are missing.",
        "The result was padded to the longest length only. It is to have as many steps as x.",
        "Read what the task says about the shape of the result, and about lengths: perhaps none is T.",
    ),
)
def birnn__cut_to_longest(x, lengths, f, b):
    x = x[:, : int(lengths.max())]
    t, n, row = torch.arange(x.shape[1]), lengths[:, None], torch.arange(len(x))[:, None]
    real = t < n
    turned = torch.where(real, n - 1 - t, t)
    h_f = rnn_forward(x, x.new_zeros(len(x), len(f.b)), f)
    h_b = rnn_forward(x[row, turned], x.new_zeros(len(x), len(b.b)), b)[row, turned]
    return torch.cat([h_f, h_b], dim=-1) * real[..., None]


@BIRNN.misconception(
    "Each row is turned round one step too far",
    fails=BIRNN.all_but(),
    hints=(
        "Your backward network reads the pad behind the last word first, and never the first word; in a full row there "
        "is no pad, hence the error.",
        "Steps are counted from 0: what stands at t goes to n - 1 - t, not to n - t.",
        "Read the example in the task, second row, and count from 0.",
    ),
)
def birnn__one_too_far(x, lengths, f, b):
    t, n, row = torch.arange(x.shape[1]), lengths[:, None], torch.arange(len(x))[:, None]
    real = t < n
    turned = torch.where(real, n - t, t)
    h_f = rnn_forward(x, x.new_zeros(len(x), len(f.b)), f)
    h_b = rnn_forward(x[row, turned], x.new_zeros(len(x), len(b.b)), b)[row, turned]
    return torch.cat([h_f, h_b], dim=-1) * real[..., None]


# ---- 5.3 deep_birnn ----

DEEP_BIRNN = Exercise(
    number="5.3",
    references=(deep.deep_birnn,),
    probe_module=probes,
    points=2,
    minutes=10,
    difficulty=1,
    uses=("birnn",),
    forbidden=_LAYERS,
)


@DEEP_BIRNN.misconception(
    "Two separate towers, one for each direction",
    fails=DEEP_BIRNN.all_but("one"),
    hints=(
        "With one layer you are right; above it the widths do not fit.",
        "Your forward layers read only the forward states below, the backward layers only the backward ones. Then the "
        "two never meet before the top. Each layer is to read both.",
        "Read the equation: what does birnn return, and how much of it does the next layer read?",
    ),
)
def deep_birnn__towers(x, lengths, layers):
    h_f = h_b = x
    for f, b in layers:
        h_f = birnn(h_f, lengths, f, b)[..., : len(f.b)]
        h_b = birnn(h_b, lengths, f, b)[..., len(f.b) :]
    return torch.cat([h_f, h_b], dim=-1)


@DEEP_BIRNN.misconception(
    "Two separate towers, with the weights cut to fit",
    fails=DEEP_BIRNN.all_but("one"),
    hints=(
        "With one layer you are right; above it half of each W_xh makes no difference.",
        "Your forward layers read only the forward states below, the backward layers only the backward ones, and W_xh "
        "was cut in two for that. Each layer is to read both directions with all of its W_xh.",
        "Read the equation: what does birnn return, and how much of it does the next layer read?",
    ),
)
def deep_birnn__towers_cut(x, lengths, layers):
    (f, b), *upper = layers
    h_f, h_b = birnn(x, lengths, f, b).split([len(f.b), len(b.b)], dim=-1)
    for f, b in upper:
        H = h_f.shape[-1]
        f, b = f._replace(W_xh=f.W_xh[:, :H]), b._replace(W_xh=b.W_xh[:, H:])
        h_f = birnn(h_f, lengths, f, f)[..., : len(f.b)]
        h_b = birnn(h_b, lengths, b, b)[..., len(b.b) :]
    return torch.cat([h_f, h_b], dim=-1)


@DEEP_BIRNN.misconception(
    "The states of all layers are returned side by side",
    fails=DEEP_BIRNN.all_but("one"),
    hints=(
        "With one layer you are right; with more, your output is too wide.",
        "All layers were collected. Only the top one feeds the output; the lower ones are heard through it.",
        "Read what the task says about the result: the states of the top layer.",
    ),
)
def deep_birnn__all_layers(x, lengths, layers):
    h, collected = x, []
    for f, b in layers:
        h = birnn(h, lengths, f, b)
        collected.append(h)
    return torch.cat(collected, dim=-1)


@DEEP_BIRNN.misconception(
    "The states of all layers are added up",
    fails=DEEP_BIRNN.all_but("one"),
    hints=(
        "With one layer you are right; with more, lower layers are mixed into the output.",
        "All layers were summed. Only the top one feeds the output; the lower ones are heard through it.",
        "Read what the task says about the result: the states of the top layer.",
    ),
)
def deep_birnn__all_layers_added(x, lengths, layers):
    h, total = x, 0
    for f, b in layers:
        h = birnn(h, lengths, f, b)
        total = total + h
    return total


@DEEP_BIRNN.misconception(
    "Between the layers the backward states are not turned back",
    fails=DEEP_BIRNN.all_but("one"),
    hints=(
        "With one layer you are right; with more, the upper layers read words that do not belong together.",
        "Beside the forward state of the first word stands the backward state of the last. Both halves must be in "
        "reading order before the next layer reads them, not only at the end.",
        "Read what birnn returns: both states of the *same* step.",
    ),
)
def deep_birnn__not_aligned_between(x, lengths, layers):
    t, n, row = torch.arange(x.shape[1]), lengths[:, None], torch.arange(len(x))[:, None]
    turned = torch.where(t < n, n - 1 - t, t)
    h = birnn(x, lengths, *layers[0])
    for i in range(1, len(layers)):
        H = len(layers[i - 1][0].b)
        h = birnn(torch.cat([h[..., :H], h[row, turned][..., H:]], dim=-1), lengths, *layers[i])
    return h


@DEEP_BIRNN.misconception(
    "Every layer reads x",
    fails=DEEP_BIRNN.all_but("one"),
    hints=(
        "With one layer you are right; with more, what the lower layers compute is thrown away.",
        "Each turn of the loop gives x to the layer. Hand on what the layer below has said.",
        "Read the equation: what stands in the brackets of birnn?",
    ),
)
def deep_birnn__all_read_x(x, lengths, layers):
    for f, b in layers:
        h = birnn(x, lengths, f, b)
    return h


@DEEP_BIRNN.misconception(
    "All layers share the weights of the first",
    fails=DEEP_BIRNN.all_but("one"),
    hints=(
        "With one layer you are right; with more, the parameters of the upper layers make no difference.",
        "Weights are shared along time, not along depth: each layer has its own pair.",
        "Read what the task says about layers.",
    ),
)
def deep_birnn__shared_weights(x, lengths, layers):
    h = x
    for _ in layers:
        h = birnn(h, lengths, *layers[0])
    return h


@DEEP_BIRNN.misconception(
    "Only the first layer is run",
    fails=DEEP_BIRNN.all_but("one"),
    hints=(
        "With one layer you are right; with more, the output is that of the first.",
        "The function returns before the loop has ended.",
        "Read what the task says about the result: the states of the top layer.",
    ),
)
def deep_birnn__first_layer_only(x, lengths, layers):
    for f, b in layers:
        return birnn(x, lengths, f, b)


@DEEP_BIRNN.misconception(
    "The layers are taken from the top down",
    fails=DEEP_BIRNN.all_but("one"),
    hints=(
        "With one layer you are right; with more, x goes into the wrong end.",
        "The list was turned round. Its first pair is the lowest layer, which reads x.",
        "Read what the task says about layers.",
    ),
)
def deep_birnn__top_down(x, lengths, layers):
    h = x
    for f, b in layers[::-1]:
        h = birnn(h, lengths, f, b)
    return h


@DEEP_BIRNN.misconception(
    "Above the first layer the lengths are forgotten",
    fails=DEEP_BIRNN.all_but("one"),
    hints=(
        "With one layer you are right; with more, rows with pads are not.",
        "The pads hold zeros now, but a zero is still an input: the backward network must not read it. Every layer "
        "needs the lengths.",
        "Read the equation: birnn takes the lengths in every layer.",
    ),
)
def deep_birnn__lengths_forgotten(x, lengths, layers):
    h = birnn(x, lengths, *layers[0])
    for f, b in layers[1:]:
        h = birnn(h, torch.full_like(lengths, x.shape[1]), f, b)
    return h


@DEEP_BIRNN.misconception(
    "The two directions have changed places",
    fails=DEEP_BIRNN.all_but(),
    hints=(
        "The network that should read forward reads backward, and the other way round.",
        "In each pair f comes first, then b; you take them in the other order.",
        "Read what the task says about layers: pairs (f, b).",
    ),
)
def deep_birnn__directions_exchanged(x, lengths, layers):
    h = x
    for f, b in layers:
        h = birnn(h, lengths, b, f)
    return h


@DEEP_BIRNN.misconception(
    "The upper layers read the forward half only",
    fails=DEEP_BIRNN.all_but("one"),
    hints=(
        "With one layer you are right; above it the widths do not fit.",
        "The backward states of the lower layers are cut off before the next layer reads. Each layer is to read both "
        "directions.",
        "Read the equation: what does birnn return, and how much of it does the next layer read?",
    ),
)
def deep_birnn__forward_half_only(x, lengths, layers):
    h = birnn(x, lengths, *layers[0])
    for i in range(1, len(layers)):
        H = len(layers[i - 1][0].b)
        h = birnn(h[..., :H], lengths, *layers[i])
    return h


@DEEP_BIRNN.misconception(
    "The two directions are added before the next layer reads them",
    fails=DEEP_BIRNN.all_but("one"),
    hints=(
        "With one layer you are right; above it the widths do not fit.",
        "Your upper layers read the sum of both directions. They are to read the two side by side.",
        "Read what the task says about W_xh above the first layer.",
    ),
)
def deep_birnn__added_between(x, lengths, layers):
    h = birnn(x, lengths, *layers[0])
    for i in range(1, len(layers)):
        H = len(layers[i - 1][0].b)
        h = birnn(h[..., :H] + h[..., H:], lengths, *layers[i])
    return h


# ---- 5.4 bi_summary ----

BI_SUMMARY = Exercise(
    number="5.4",
    references=(pooling.bi_summary,),
    probe_module=probes,
    points=2,
    minutes=10,
    difficulty=2,
    equivalent={
        "return torch.cat([last[:, :H2 // 2], first[:, H2 // 2:]], dim=1)": "of two axes the last is axis 1.",
    },
)


@BI_SUMMARY.convention("the backward half comes first")
def bi_summary__backward_first(out, lengths):
    H = out.shape[2] // 2
    return torch.cat([out[:, 0, H:], out[torch.arange(len(out)), lengths - 1, :H]], dim=1)


@BI_SUMMARY.misconception(
    "The last column of the batch is taken for both",
    fails=BI_SUMMARY.all_but(),
    hints=(
        "In short rows your summary comes from the pads, and its backward half has read next to nothing.",
        "out[:, -1] is the end of the rectangle, not of the row; and the backward reader *begins* at the end.",
        "Read the equation: which step of each direction is meant?",
    ),
)
def bi_summary__last_column(out, lengths):
    return out[:, -1]


@BI_SUMMARY.misconception(
    "The lengths are ignored: the forward half comes from the last column",
    fails=BI_SUMMARY.all_but("full"),
    hints=(
        "The backward half is right, and so are rows of full length.",
        "In a short row the last column is a pad. The forward reader stops at the last real step of each row.",
        "Read what the task says about lengths.",
    ),
)
def bi_summary__lengths_ignored(out, lengths):
    H = out.shape[2] // 2
    return torch.cat([out[:, -1, :H], out[:, 0, H:]], dim=1)


@BI_SUMMARY.misconception(
    "The last real step is taken for both",
    fails=BI_SUMMARY.all_but("one_step"),
    hints=(
        "The forward half is right. The backward half knows one word only: the last.",
        "At the last real step the backward reader has only begun. It has read everything at the *first* step.",
        "Read the equation: which step of each direction is meant?",
    ),
)
def bi_summary__last_for_both(out, lengths):
    return out[torch.arange(len(out)), lengths - 1]


@BI_SUMMARY.misconception(
    "The first step is taken for both",
    fails=BI_SUMMARY.all_but("one_step"),
    hints=(
        "The backward half is right. The forward half knows one word only: the first.",
        "At the first step the forward reader has only begun. It has read everything at the last real step.",
        "Read the equation: which step of each direction is meant?",
    ),
)
def bi_summary__first_for_both(out, lengths):
    return out[:, 0]


@BI_SUMMARY.misconception(
    "Each reader is asked where it begins",
    fails=BI_SUMMARY.all_but("one_step"),
    hints=(
        "Each half of your summary knows one word: the forward half the first, the backward half the last.",
        "The two steps have changed places. A reader knows everything where it *ends*.",
        "Read the equation: which step of each direction is meant?",
    ),
)
def bi_summary__where_they_begin(out, lengths):
    H = out.shape[2] // 2
    return torch.cat([out[:, 0, :H], out[torch.arange(len(out)), lengths - 1, H:]], dim=1)


@BI_SUMMARY.misconception(
    "The length is used as an index: one step too far",
    fails=BI_SUMMARY.all_but(),
    hints=(
        "Your forward half comes from the pad behind the last word; in a full row there is none, hence the error.",
        "Steps are counted from 0, so a row of n steps ends at place n - 1.",
        "Read the equation, and count from 0.",
    ),
)
def bi_summary__one_too_far(out, lengths):
    H = out.shape[2] // 2
    return torch.cat([out[torch.arange(len(out)), lengths, :H], out[:, 0, H:]], dim=1)


@BI_SUMMARY.misconception(
    "The longest row's end is taken for all rows",
    fails=BI_SUMMARY.all_but("full", "one_step"),
    hints=(
        "The longest row is right; the others give a pad.",
        "One number was used for the whole batch. Each row has its own end.",
        "Read what the task says about lengths: one for each row.",
    ),
)
def bi_summary__longest_for_all(out, lengths):
    H = out.shape[2] // 2
    return torch.cat([out[:, lengths.max() - 1, :H], out[:, 0, H:]], dim=1)


@BI_SUMMARY.misconception(
    "The two halves are added",
    fails=BI_SUMMARY.all_but(),
    hints=(
        "Your summary is as wide as one direction.",
        "Both ends were found and then summed. Put them side by side.",
        "Read what the task says about the shape of the result.",
    ),
)
def bi_summary__added(out, lengths):
    H = out.shape[2] // 2
    return out[torch.arange(len(out)), lengths - 1, :H] + out[:, 0, H:]


@BI_SUMMARY.misconception(
    "Even and odd features are taken for the two directions",
    fails=BI_SUMMARY.all_but(),
    hints=(
        "Your two ends are right, but each mixes both directions.",
        "The directions stand in two halves, all of forward and then all of backward: not in turn.",
        "Read what the task says about out: forward half first.",
    ),
)
def bi_summary__even_and_odd(out, lengths):
    return torch.cat([out[torch.arange(len(out)), lengths - 1, ::2], out[:, 0, 1::2]], dim=1)


# ---- 5.5 masked_mean ----

MASKED_MEAN = Exercise(
    number="5.5",
    references=(pooling.masked_mean,),
    probe_module=probes,
    points=2,
    minutes=10,
    difficulty=1,
)


@MASKED_MEAN.misconception(
    "The sum is divided by T",
    fails=MASKED_MEAN.all_but("full"),
    hints=(
        "Rows without pads are right; the more pads, the smaller your mean.",
        "The pads are left out of the sum, but counted in the divisor. Divide by the number of real steps of the row.",
        "Read the equation: what stands below the line?",
    ),
)
def masked_mean__by_T(h, mask):
    return (h * mask[..., None]).mean(dim=1)


@MASKED_MEAN.misconception(
    "The pads are included",
    fails=MASKED_MEAN.all_but("full"),
    hints=(
        "Rows without pads are right; the mask makes no difference.",
        "A plain mean takes all T steps, pads as well.",
        "Read the equation: what does m do?",
    ),
)
def masked_mean__pads_included(h, mask):
    return h.mean(dim=1)


@MASKED_MEAN.misconception(
    "The pads are in the sum, but not counted",
    fails=MASKED_MEAN.all_but("full"),
    hints=(
        "Rows without pads are right; the more pads, the further off.",
        "The divisor is right. The sum still has all T steps in it: multiply by the mask first.",
        "Read the equation: what stands above the line?",
    ),
)
def masked_mean__pads_in_sum(h, mask):
    return h.sum(dim=1) / mask.sum(dim=1, keepdim=True).clamp(min=1)


@MASKED_MEAN.misconception(
    "The mean runs over the features",
    fails=MASKED_MEAN.all_but(),
    hints=(
        "Your result has one number for each step instead of one for each feature.",
        "The last axis holds the features, axis 1 the time. Time is to go.",
        "Read what the task says about the shape of the result.",
    ),
)
def masked_mean__over_features(h, mask):
    return (h * mask[..., None]).sum(dim=-1) / mask.sum(dim=1, keepdim=True).clamp(min=1)


@MASKED_MEAN.misconception(
    "An empty row gives 0/0",
    fails=("masked_mean_empty_row", "masked_mean_gradients"),
    hints=(
        "All is right but for a row without a real step: there you have NaN.",
        "Nothing divided by nothing. One such row makes the loss of the whole batch NaN.",
        "Read the equation: what stands below the line, and why is there a 1?",
    ),
)
def masked_mean__nan(h, mask):
    return (h * mask[..., None]).sum(dim=1) / mask.sum(dim=1, keepdim=True)


@MASKED_MEAN.misconception(
    "Row by row, and an empty row gives NaN",
    fails=("masked_mean_empty_row", "masked_mean_gradients"),
    hints=(
        "All is right but for a row without a real step: there you have NaN.",
        "The mean of no vectors is 0/0. One such row makes the loss of the whole batch NaN.",
        "Read the equation: what stands below the line, and why is there a 1?",
    ),
)
def masked_mean__nan_row_by_row(h, mask):
    return torch.stack([row[real].mean(dim=0) for row, real in zip(h, mask, strict=True)])


@MASKED_MEAN.misconception(
    "The real steps are taken to be the first ones",
    fails=("masked_mean_anywhere",),
    hints=(
        "Rows with their pads at the right are right; where the real steps stand elsewhere, you take others.",
        "The mask was only counted, and then the first n steps were taken. It also says which ones are real.",
        "Read what the task says about mask: they need not be the first ones.",
    ),
)
def masked_mean__first_steps(h, mask):
    n = mask.sum(dim=1, keepdim=True)
    first = torch.arange(h.shape[1]) < n
    return (h * first[..., None]).sum(dim=1) / n.clamp(min=1)


@MASKED_MEAN.misconception(
    "The NaN of an empty row is replaced too late",
    fails=("masked_mean_gradients",),
    hints=(
        "All values are right, but the gradient of an empty row is NaN.",
        "0/0 was computed first and overwritten afterwards. The gradient still passes through the division. Make the "
        "divisor 1 before you divide.",
        "Read the equation: what stands below the line, and why is there a 1?",
    ),
)
def masked_mean__nan_replaced(h, mask):
    return torch.nan_to_num((h * mask[..., None]).sum(dim=1) / mask.sum(dim=1, keepdim=True))


@MASKED_MEAN.misconception(
    "1 is added to every count",
    fails=MASKED_MEAN.all_but(),
    hints=(
        "All your means are a bit too small, those of short rows most.",
        "Adding 1 to the divisor avoids 0/0, but changes all other rows too. Only a count of 0 is to become 1.",
        "Read the equation: what stands below the line?",
    ),
)
def masked_mean__plus_one(h, mask):
    return (h * mask[..., None]).sum(dim=1) / (mask.sum(dim=1, keepdim=True) + 1)


@MASKED_MEAN.misconception(
    "The sum of each row is divided by the steps of the whole batch",
    fails=MASKED_MEAN.all_but(),
    hints=(
        "All your means are too small by far.",
        "mask.sum() counts the real steps of all rows together. Each row has its own number.",
        "Read the equation: the sum below the line runs over t only.",
    ),
)
def masked_mean__batch_count(h, mask):
    return (h * mask[..., None]).sum(dim=1) / mask.sum().clamp(min=1)


@MASKED_MEAN.misconception(
    "One mean for the whole batch",
    fails=MASKED_MEAN.all_but(),
    hints=(
        "Your result has no axis for the rows.",
        "h[mask] makes one long list of all real steps, and the rows are lost in it. Sum over axis 1 instead.",
        "Read what the task says about the result: one mean for each row.",
    ),
)
def masked_mean__one_for_all(h, mask):
    return h[mask].mean(dim=0)


@MASKED_MEAN.misconception(
    "The mask is the wrong way round",
    fails=MASKED_MEAN.all_but(),
    hints=(
        "Your means are taken over the pads.",
        "True marks the real steps here; you keep the others.",
        "Read what the task says about mask.",
    ),
)
def masked_mean__inverted(h, mask):
    return (h * ~mask[..., None]).sum(dim=1) / (~mask).sum(dim=1, keepdim=True).clamp(min=1)


@MASKED_MEAN.misconception(
    "The sum is not divided",
    fails=MASKED_MEAN.all_but(),
    hints=(
        "Rows of one step are right; the longer the row, the larger your numbers.",
        "This is the sum. A mean does not grow with the length.",
        "Read the equation: what stands below the line?",
    ),
)
def masked_mean__sum(h, mask):
    return (h * mask[..., None]).sum(dim=1)


@MASKED_MEAN.misconception(
    "The caller's pads are overwritten",
    fails=("masked_mean_gradients", "masked_mean_untouched"),
    hints=(
        "Your means are right, but h has changed after the call.",
        "Assigning to h[~mask] writes into the caller's tensor, and autograd refuses it. Multiply by the mask instead.",
        "Read what the task says: nothing is changed.",
    ),
)
def masked_mean__in_place(h, mask):
    h[~mask] = 0
    return h.sum(dim=1) / mask.sum(dim=1, keepdim=True).clamp(min=1)


# ---- 5.6 bio_spans ----

BIO_SPANS = Exercise(
    number="5.6",
    references=(spans.bio_spans,),
    probe_module=probes,
    points=2,
    minutes=20,
    difficulty=2,
)


@BIO_SPANS.misconception(
    "An I that continues nothing is dropped",
    fails=("bio_spans_no_begin", "bio_spans_other_type"),
    hints=(
        "Well-formed rows are right. Where an I has no span before it, you leave it out.",
        "Other conventions do that. Here such an I begins a span: the network meant something.",
        "Read what the task says about an I-X that has no span of type X to continue.",
    ),
)
def bio_spans__dropped(tags):
    found, open_kind = [], None
    for t, tag in enumerate(tags):
        if tag[0] == "B":
            found.append((tag[2:], t, t + 1))
            open_kind = tag[2:]
        elif tag[0] == "I" and tag[2:] == open_kind:
            kind, start, _ = found.pop()
            found.append((kind, start, t + 1))
        else:
            open_kind = None
    return found


@BIO_SPANS.misconception(
    "Spans side by side are merged",
    fails=("bio_spans_side_by_side",),
    hints=(
        "Spans with a gap between them are right. Two of the same type that touch become one.",
        "A B was read as if it were an I. It begins a new span even inside another: that is what B is for.",
        "Read what the task says about where a span ends.",
    ),
)
def bio_spans__merged(tags):
    found, before = [], "O"
    for t, tag in enumerate(tags):
        if tag != "O":
            start = found.pop()[1] if before != "O" and before[2:] == tag[2:] else t
            found.append((tag[2:], start, t + 1))
        before = tag
    return found


@BIO_SPANS.misconception(
    "The end is the last word of the span, not the one behind it",
    fails=BIO_SPANS.all_but(),
    hints=(
        "All your ends are one too small.",
        "You give the last word that belongs to the span. Here the end is the place behind it, as in a slice.",
        "Read what the task says about words[start:end].",
    ),
)
def bio_spans__end_inclusive(tags):
    found, before = [], "O"
    for t, tag in enumerate(tags):
        if tag[0] == "I" and before != "O" and tag[2:] == before[2:]:
            found[-1] = (*found[-1][:2], t)
        elif tag != "O":
            found.append((tag[2:], t, t))
        before = tag
    return found


@BIO_SPANS.misconception(
    "A span that reaches the end of the row is lost",
    fails=("bio_spans_at_the_end",),
    hints=(
        "A span is found when something comes after it, and lost at the end of the row.",
        "You note a span down when you see that it is over. After the loop one may still be open.",
        "Read what the task says about where a span ends: ... or with the row.",
    ),
)
def bio_spans__last_lost(tags):
    found, start, before = [], None, "O"
    for t, tag in enumerate(tags):
        goes_on = tag[0] == "I" and before != "O" and tag[2:] == before[2:]
        if before != "O" and not goes_on:
            found.append((before[2:], start, t))
        if not goes_on:
            start = t
        before = tag
    return found


@BIO_SPANS.misconception(
    "The type of an I is not looked at",
    fails=("bio_spans_other_type",),
    hints=(
        "An I of another type continues your span.",
        "Two types cannot be one span. Compare the type with that of the span that is open.",
        "Read what the task says about the next tag of another type.",
    ),
)
def bio_spans__type_ignored(tags):
    found, before = [], "O"
    for t, tag in enumerate(tags):
        if tag[0] == "I" and before != "O":
            kind, start, _ = found.pop()
            found.append((kind, start, t + 1))
        elif tag != "O":
            found.append((tag[2:], t, t + 1))
        before = tag
    return found


@BIO_SPANS.misconception(
    "O does not close a span",
    fails=("bio_spans_no_begin",),
    hints=(
        "An I after an O is added to a span that was over.",
        "After O nothing is open. Your span reaches across the gap.",
        "Read what the task says about where a span ends: ... the next O.",
    ),
)
def bio_spans__across_O(tags):
    found = []
    for t, tag in enumerate(tags):
        if tag[0] == "I" and found and found[-1][0] == tag[2:]:
            kind, start, _ = found.pop()
            found.append((kind, start, t + 1))
        elif tag != "O":
            found.append((tag[2:], t, t + 1))
    return found


@BIO_SPANS.misconception(
    "Every word is a span of its own",
    fails=BIO_SPANS.all_but(),
    hints=(
        "All your spans have one word.",
        "An I continues the span before it: it moves the end, and adds no span.",
        "Read the first example in the task.",
    ),
)
def bio_spans__word_by_word(tags):
    return [(tag[2:], t, t + 1) for t, tag in enumerate(tags) if tag != "O"]


@BIO_SPANS.misconception(
    "The letter of a plain tag is taken for its type",
    fails=("bio_spans_plain",),
    hints=(
        "Tags with a type are right. Plain B and I become types of their own, so that no I continues a B.",
        "A plain tag has nothing behind its letter: its type is empty.",
        "Read what the task says about plain B and I.",
    ),
)
def bio_spans__letter_as_type(tags):
    found, before = [], "O"
    for t, tag in enumerate(tags):
        kind = tag.split("-")[-1]
        if tag[0] == "I" and before != "O" and kind == before.split("-")[-1]:
            found[-1] = (kind, found[-1][1], t + 1)
        elif tag != "O":
            found.append((kind, t, t + 1))
        before = tag
    return found


@BIO_SPANS.misconception(
    "Places are counted from 1",
    fails=BIO_SPANS.all_but(),
    hints=(
        "All your spans stand one word too far to the right.",
        "The first word has place 0, as everywhere in Python.",
        "Read the examples in the task.",
    ),
)
def bio_spans__from_one(tags):
    found, before = [], "O"
    for t, tag in enumerate(tags):
        if tag[0] == "I" and before != "O" and tag[2:] == before[2:]:
            found[-1] = (*found[-1][:2], t + 2)
        elif tag != "O":
            found.append((tag[2:], t + 1, t + 2))
        before = tag
    return found


@BIO_SPANS.misconception(
    "The prefix stays on the type",
    fails=BIO_SPANS.all_but(),
    hints=(
        "Your places are right, but the types still carry their B or I.",
        "The type is what follows the hyphen.",
        "Read what the task says about the result, and its examples.",
    ),
)
def bio_spans__prefix_kept(tags):
    found, before = [], "O"
    for t, tag in enumerate(tags):
        if tag[0] == "I" and before != "O" and tag[2:] == before[2:]:
            found[-1] = (*found[-1][:2], t + 1)
        elif tag != "O":
            found.append((tag, t, t + 1))
        before = tag
    return found


@BIO_SPANS.misconception(
    "The span's length is given instead of its end",
    fails=BIO_SPANS.all_but(),
    hints=(
        "Types and starts are right; the third number is not the end.",
        "You count the words of the span. The end is a place: start plus that number.",
        "Read what the task says about words[start:end].",
    ),
)
def bio_spans__length(tags):
    found, before = [], "O"
    for t, tag in enumerate(tags):
        if tag[0] == "I" and before != "O" and tag[2:] == before[2:]:
            found[-1] = (tag[2:], found[-1][1], t + 1 - found[-1][1])
        elif tag != "O":
            found.append((tag[2:], t, 1))
        before = tag
    return found


@BIO_SPANS.misconception(
    "The parts of a span are in another order",
    fails=BIO_SPANS.all_but(),
    hints=(
        "Your spans are right, but written as (start, end, type).",
        "Who reads them expects the type first.",
        "Read what the task says about the result.",
    ),
)
def bio_spans__type_last(tags):
    found, before = [], "O"
    for t, tag in enumerate(tags):
        if tag[0] == "I" and before != "O" and tag[2:] == before[2:]:
            found[-1] = (found[-1][0], t + 1, tag[2:])
        elif tag != "O":
            found.append((t, t + 1, tag[2:]))
        before = tag
    return found


# ---- 5.7 span_f1 ----

SPAN_F1 = Exercise(
    number="5.7",
    references=(spans.span_f1,),
    probe_module=probes,
    points=2,
    minutes=15,
    difficulty=2,
    uses=("bio_spans",),
    equivalent={
        "for right, guess in zip(gold, predicted, strict=False):": "both sides have as many rows.",
    },
    not_applicable={
        "0/0 raises": "an exception alone is never named; the property that is asked says it.",
    },
)


@SPAN_F1.misconception(
    "The share of words with the right tag",
    fails=SPAN_F1.all_but("perfect"),
    hints=(
        "Your number is high even where nothing is found.",
        "Most words are O, and agreeing on them is easy. Count spans, not words.",
        "Read what the task says about a hit.",
    ),
)
def span_f1__token_accuracy(gold, predicted):
    pairs = [pair for rows in zip(gold, predicted, strict=True) for pair in zip(*rows, strict=True)]
    return sum(a == b for a, b in pairs) / len(pairs)


@SPAN_F1.misconception(
    "O counts as well",
    fails=SPAN_F1.all_but("perfect"),
    hints=(
        "Your number is too high, and 1 where there is nothing to find.",
        "The words outside of all spans are counted as found. O is the absence of a span.",
        "Read what the task says about a hit.",
    ),
)
def span_f1__counts_O(gold, predicted):
    hits = total = 0
    for right, guess in zip(gold, predicted, strict=True):
        wanted, found = (
            set(bio_spans(row)) | {("O", t, t + 1) for t, tag in enumerate(row) if tag == "O"} for row in (right, guess)
        )
        hits += len(wanted & found)
        total += len(wanted) + len(found)
    return 2 * hits / total if total else 0.0


@SPAN_F1.misconception(
    "The mean of the rows' F1 values",
    fails=SPAN_F1.all_but("perfect"),
    hints=(
        "A row with one span weighs as much as a row with ten.",
        "F1 was computed row by row and averaged. Count hits and spans over all rows first, and divide once.",
        "Read what the task says about the micro average.",
    ),
)
def span_f1__mean_of_rows(gold, predicted):
    values = []
    for right, guess in zip(gold, predicted, strict=True):
        wanted, found = set(bio_spans(right)), set(bio_spans(guess))
        total = len(wanted) + len(found)
        values.append(2 * len(wanted & found) / total if total else 0.0)
    return sum(values) / len(values)


@SPAN_F1.misconception(
    "The mean of the types' F1 values",
    fails=SPAN_F1.all_but("perfect", "nothing"),
    hints=(
        "A rare type weighs as much as a frequent one.",
        "F1 was computed type by type and averaged: the macro average. Here all types are counted together.",
        "Read what the task says about the micro average.",
    ),
)
def span_f1__mean_of_types(gold, predicted):
    wanted = {(i, *span) for i, row in enumerate(gold) for span in bio_spans(row)}
    found = {(i, *span) for i, row in enumerate(predicted) for span in bio_spans(row)}
    values = []
    for kind in {span[1] for span in wanted | found}:
        right, guess = ({span for span in spans if span[1] == kind} for spans in (wanted, found))
        values.append(2 * len(right & guess) / (len(right) + len(guess)))
    return sum(values) / len(values) if values else 0.0


@SPAN_F1.misconception(
    "A span that is found in part counts as a hit",
    fails=("span_f1_mixed", "span_f1_in_part"),
    hints=(
        "Your number is too high where a span is found with a wrong boundary.",
        "An overlap is not enough: one word too many or too few, and the span is another one.",
        "Read what the task says about a hit: same start, same end.",
    ),
)
def span_f1__in_part(gold, predicted):
    hits = total = 0
    for right, guess in zip(gold, predicted, strict=True):
        wanted, found = bio_spans(right), bio_spans(guess)
        for kind, start, end in found:
            hits += any(kind == k and start < e and s < end for k, s, e in wanted)
        total += len(wanted) + len(found)
    return 2 * hits / total if total else 0.0


@SPAN_F1.misconception(
    "The types are not compared",
    fails=("span_f1_mixed", "span_f1_other_type"),
    hints=(
        "Your number is too high where the place is right and the type is wrong.",
        "Start and end agree, but a person is not a place.",
        "Read what the task says about a hit: same type.",
    ),
)
def span_f1__type_ignored(gold, predicted):
    hits = total = 0
    for right, guess in zip(gold, predicted, strict=True):
        wanted, found = ({span[1:] for span in bio_spans(row)} for row in (right, guess))
        hits += len(wanted & found)
        total += len(wanted) + len(found)
    return 2 * hits / total if total else 0.0


@SPAN_F1.misconception(
    "It is forgotten which row a span stands in",
    fails=("span_f1_mixed", "span_f1_own_row"),
    hints=(
        "A span that is found in another row counts as a hit, and equal spans of several rows count once.",
        "The spans of all rows were thrown into one set. Places are places in a row: compare row by row.",
        "Read what the task says about a hit: of the same row.",
    ),
)
def span_f1__rows_forgotten(gold, predicted):
    wanted, found = ({span for row in rows for span in bio_spans(row)} for rows in (gold, predicted))
    total = len(wanted) + len(found)
    return 2 * len(wanted & found) / total if total else 0.0


@SPAN_F1.misconception(
    "Precision only",
    fails=SPAN_F1.all_but("perfect", "in_part", "other_type", "own_row", "nothing"),
    hints=(
        "What is missed costs you nothing.",
        "This is the share of the found spans that are right. A tagger that finds one sure span would get 1.",
        "Read the equation: F1 needs R too.",
    ),
)
def span_f1__precision(gold, predicted):
    hits = total = 0
    for right, guess in zip(gold, predicted, strict=True):
        hits += len(set(bio_spans(right)) & set(bio_spans(guess)))
        total += len(bio_spans(guess))
    return hits / total if total else 0.0


@SPAN_F1.misconception(
    "Recall only",
    fails=SPAN_F1.all_but("perfect", "in_part", "other_type", "own_row", "nothing"),
    hints=(
        "What is invented costs you nothing.",
        "This is the share of the right spans that were found. A tagger that finds everything everywhere would get 1.",
        "Read the equation: F1 needs P too.",
    ),
)
def span_f1__recall(gold, predicted):
    hits = total = 0
    for right, guess in zip(gold, predicted, strict=True):
        hits += len(set(bio_spans(right)) & set(bio_spans(guess)))
        total += len(bio_spans(right))
    return hits / total if total else 0.0


@SPAN_F1.misconception(
    "The plain mean of precision and recall",
    fails=SPAN_F1.all_but("perfect", "in_part", "other_type", "own_row", "nothing"),
    hints=(
        "Where P and R are equal you are right; where they differ, your number is too high.",
        "F1 is their harmonic mean: it is small as soon as one of them is.",
        "Read the equation of F1.",
    ),
)
def span_f1__plain_mean(gold, predicted):
    hits = n_gold = n_predicted = 0
    for right, guess in zip(gold, predicted, strict=True):
        wanted, found = set(bio_spans(right)), set(bio_spans(guess))
        hits, n_gold, n_predicted = hits + len(wanted & found), n_gold + len(wanted), n_predicted + len(found)
    return (hits / max(n_gold, 1) + hits / max(n_predicted, 1)) / 2


@SPAN_F1.misconception(
    "The 2 is missing",
    fails=SPAN_F1.all_but(),
    hints=(
        "All your values are half of what they should be, even where everything is found.",
        "Below the line a span that was found counts twice, once on either side. So it must above.",
        "Read the equation of F1: what stands above the line?",
    ),
)
def span_f1__no_two(gold, predicted):
    hits = total = 0
    for right, guess in zip(gold, predicted, strict=True):
        wanted, found = set(bio_spans(right)), set(bio_spans(guess))
        hits += len(wanted & found)
        total += len(wanted) + len(found)
    return hits / total if total else 0.0


@SPAN_F1.misconception(
    "F1 of words instead of spans",
    fails=SPAN_F1.all_but("perfect", "nothing"),
    hints=(
        "A long span weighs more than a short one, and one that is found in part counts in part.",
        "The words inside of spans were counted. A span is one thing: found, or not found.",
        "Read what the task says about a hit.",
    ),
)
def span_f1__words(gold, predicted):
    hits = total = 0
    for right, guess in zip(gold, predicted, strict=True):
        hits += sum(a == b != "O" for a, b in zip(right, guess, strict=True))
        total += sum(a != "O" for a in right) + sum(b != "O" for b in guess)
    return 2 * hits / total if total else 0.0


@SPAN_F1.misconception(
    "Nothing to find and nothing found gives 1",
    fails=("span_f1_nothing",),
    hints=(
        "All is right but for rows without a span on either side.",
        "There nothing was wrong, but nothing was found either: 0/0 is a matter of agreement, and here it is 0.",
        "Read what the task says about the result if there is no span at all.",
    ),
)
def span_f1__one_for_nothing(gold, predicted):
    hits = total = 0
    for right, guess in zip(gold, predicted, strict=True):
        wanted, found = set(bio_spans(right)), set(bio_spans(guess))
        hits += len(wanted & found)
        total += len(wanted) + len(found)
    return 2 * hits / total if total else 1.0


EXERCISES = (STACK, BIRNN, DEEP_BIRNN, BI_SUMMARY, MASKED_MEAN, BIO_SPANS, SPAN_F1)
