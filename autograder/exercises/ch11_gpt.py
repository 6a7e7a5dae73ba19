"""The exercises of chapter 11 and the mistakes that the judge knows by name."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import torch
import torch.nn.functional as F

from autograder.exercise import Exercise
from autograder.probes import ch11_gpt as probes
from unrolled import bpe, gpt, triples
from unrolled.gpt import Windows
from unrolled.masks import causal_mask
from unrolled.normalisation import layer_norm
from unrolled.self_attention import multi_head_attention

SETUP_NAMES = frozenset(
    {
        "Counter",
        "EncoderLayerParams",
        "GPTConfig",
        "Windows",
        "causal_mask",
        "layer_norm",
        "multi_head_attention",
        "pairwise",
    }
)


# ---- 11.1 windows ----

WINDOWS = Exercise(
    number="11.1",
    references=(gpt.windows,),
    probe_module=probes,
    points=3,
    minutes=20,
    difficulty=2,
)
_PARTS = "Read what the task says about the two parts: how many tokens does a window with T inputs take?"


@WINDOWS.misconception(
    "The labels are the inputs themselves",
    fails=WINDOWS.all_but(),
    hints=(
        "Your labels y are equal to x.",
        "A model that is asked for the token it has just read learns to copy, and its loss goes to 0 at once. The "
        "label of a token is the one after it.",
        "Read the equation: what stands in the brackets of y?",
    ),
)
def windows__label_is_input(ids, T, stride, split):
    parts = []
    for first, end in ((0, split), (split, len(ids))):
        start = torch.arange(first, end - T, stride)
        place = start[:, None] + torch.arange(T)
        parts.append(Windows(ids[place], ids[place], start))
    return tuple(parts)


@WINDOWS.misconception(
    "Inputs and labels are exchanged",
    fails=WINDOWS.all_but(),
    hints=(
        "Your x holds what y should hold, and y what x should.",
        "The shift goes the wrong way: what is to be said stands one place before what is read, so the model has "
        "read it already.",
        "Read the equation: which of the two is one place later?",
    ),
)
def windows__exchanged(ids, T, stride, split):
    parts = []
    for first, end in ((0, split), (split, len(ids))):
        start = torch.arange(first, end - T, stride)
        place = start[:, None] + torch.arange(T)
        parts.append(Windows(ids[place + 1], ids[place], start))
    return tuple(parts)


@WINDOWS.misconception(
    "The labels are two places ahead",
    fails=WINDOWS.all_but(),
    hints=(
        "Your labels y skip a token: they hold the one after the next.",
        "The shift was made twice, for instance once in the text and once in the window.",
        "Read the equation: what stands in the brackets of y?",
    ),
)
def windows__label_two_ahead(ids, T, stride, split):
    parts = []
    for first, end in ((0, split), (split, len(ids))):
        start = torch.arange(first, end - T - 1, stride)
        place = start[:, None] + torch.arange(T)
        parts.append(Windows(ids[place], ids[place + 2], start))
    return tuple(parts)


@WINDOWS.misconception(
    "The last label of each window is its own first token",
    fails=WINDOWS.all_but(),
    hints=(
        "Your labels are right but for the last of each window, which is the window's first token.",
        "The labels were made by turning the window round (roll), so its beginning came in at the end. The last "
        "label is a token that the window itself does not hold.",
        "Read the equation for y at t = T - 1.",
    ),
)
def windows__label_rolled(ids, T, stride, split):
    parts = []
    for first, end in ((0, split), (split, len(ids))):
        start = torch.arange(first, end - T, stride)
        place = start[:, None] + torch.arange(T)
        parts.append(Windows(ids[place], ids[place].roll(-1, dims=1), start))
    return tuple(parts)


@WINDOWS.misconception(
    "Inputs and labels share T tokens: each row has only T - 1",
    fails=WINDOWS.all_but(),
    hints=(
        "Your x and y have T - 1 columns.",
        "T tokens were cut out and then shifted against each other, which loses one. A window with T inputs takes T "
        "+ 1 tokens.",
        "Read what the task says about the length of a window.",
    ),
)
def windows__labels_one_short(ids, T, stride, split):
    parts = []
    for first, end in ((0, split), (split, len(ids))):
        start = torch.arange(first, end - T + 1, stride)
        place = start[:, None] + torch.arange(T - 1)
        parts.append(Windows(ids[place], ids[place + 1], start))
    return tuple(parts)


@WINDOWS.misconception(
    "There is one label for each window, not one for each token",
    fails=WINDOWS.all_but(),
    hints=(
        "Your y has one token for each window; T are asked for.",
        "Only the token after the window is kept. A causal model says something after every token, and learns from "
        "all T at once.",
        "Read the equation: over which indices does y run?",
    ),
)
def windows__next_token_only(ids, T, stride, split):
    parts = []
    for first, end in ((0, split), (split, len(ids))):
        start = torch.arange(first, end - T, stride)
        place = start[:, None] + torch.arange(T)
        parts.append(Windows(ids[place], ids[start + T], start))
    return tuple(parts)


@WINDOWS.misconception(
    "The last window is filled up with zeros",
    fails=WINDOWS.all_but("gaps"),
    hints=(
        "At the end of each part you have one more window, and its last tokens are zeros that the text does not hold.",
        "What is left over does not fill a window. It is dropped: an invented token would be learned like any other.",
        "Read what the task says about what is left at the end of a part.",
    ),
)
def windows__partial_padded(ids, T, stride, split):
    parts = []
    for first, end in ((0, split), (split, len(ids))):
        start = torch.arange(first, end - 1, stride)
        padded = torch.cat([ids[first:end], ids.new_zeros(T)])
        place = start[:, None] - first + torch.arange(T)
        parts.append(Windows(padded[place], padded[place + 1], start))
    return tuple(parts)


@WINDOWS.misconception(
    "The last window is moved back until it fits",
    fails=WINDOWS.all_but("every", "fits"),
    hints=(
        "Your last window does not start at a multiple of the stride after the first of its part.",
        "What is left over was made a whole window by starting it earlier. Then its tokens count twice; here they "
        "are dropped.",
        "Read the equation for s_k.",
    ),
)
def windows__partial_moved_back(ids, T, stride, split):
    parts = []
    for first, end in ((0, split), (split, len(ids))):
        start = torch.arange(first, end - T, stride)
        if start[-1] < end - T - 1:
            start = torch.cat([start, torch.tensor([end - T - 1])])
        place = start[:, None] + torch.arange(T)
        parts.append(Windows(ids[place], ids[place + 1], start))
    return tuple(parts)


@WINDOWS.misconception(
    "The last window that fits is lost",
    fails=WINDOWS.all_but("overlap", "touch", "gaps", "one_missing", "untouched"),
    hints=(
        "When the last window and its labels just fit, you leave it out.",
        "The bound of the starts is one too small: the last window may start at T + 1 tokens before the end of its "
        "part.",
        "Count by hand: how many windows with T = 3 fit into 4 tokens?",
    ),
)
def windows__last_lost(ids, T, stride, split):
    parts = []
    for first, end in ((0, split), (split, len(ids))):
        start = torch.arange(first, end - T - 1, stride)
        place = start[:, None] + torch.arange(T)
        parts.append(Windows(ids[place], ids[place + 1], start))
    return tuple(parts)


@WINDOWS.misconception(
    "The number of windows is one too small",
    fails=WINDOWS.all_but("every", "one_missing"),
    hints=(
        "In most parts you have one window too few, the last one.",
        "(n - T) // stride counts the steps between the windows, not the windows: the first one is forgotten. A window "
        "takes T + 1 of the n tokens, so there are (n - T - 1) // stride + 1.",
        "Count by hand: how many windows with T = 3 and stride 2 fit into 6 tokens?",
    ),
)
def windows__counted_one_less(ids, T, stride, split):
    parts = []
    for first, end in ((0, split), (split, len(ids))):
        start = first + stride * torch.arange((end - first - T) // stride)
        place = start[:, None] + torch.arange(T)
        parts.append(Windows(ids[place], ids[place + 1], start))
    return tuple(parts)


@WINDOWS.misconception(
    "The labels are the ids plus 1",
    fails=WINDOWS.all_but(),
    hints=(
        "Your inputs are right. Your labels are no tokens of the text.",
        "1 was added to the ids, not to the places: ids[place + 1], not ids[place] + 1.",
        "Read the equation for y.",
    ),
)
def windows__ids_plus_one(ids, T, stride, split):
    parts = []
    for first, end in ((0, split), (split, len(ids))):
        start = torch.arange(first, end - T, stride)
        x = ids[start[:, None] + torch.arange(T)]
        parts.append(Windows(x, x + 1, start))
    return tuple(parts)


@WINDOWS.misconception(
    "The stride is one too large",
    fails=WINDOWS.all_but(),
    hints=(
        "Your second window starts one token too late, the third two.",
        "The next window was started one further, perhaps to step over the label. The stride is given; the last "
        "label of a window may well be the first token of the next.",
        "Read the equation for s_k.",
    ),
)
def windows__stride_plus_one(ids, T, stride, split):
    parts = []
    for first, end in ((0, split), (split, len(ids))):
        start = torch.arange(first, end - T, stride + 1)
        place = start[:, None] + torch.arange(T)
        parts.append(Windows(ids[place], ids[place + 1], start))
    return tuple(parts)


@WINDOWS.misconception(
    "The stride is ignored: windows stand side by side",
    fails=WINDOWS.all_but("touch"),
    hints=(
        "Your windows start at multiples of T, whatever stride is.",
        "With stride = T you are right. The argument says how far the next window starts after this one.",
        "Read the equation for s_k.",
    ),
)
def windows__stride_is_T(ids, T, stride, split):
    parts = []
    for first, end in ((0, split), (split, len(ids))):
        start = torch.arange(first, end - T, T)
        place = start[:, None] + torch.arange(T)
        parts.append(Windows(ids[place], ids[place + 1], start))
    return tuple(parts)


@WINDOWS.misconception(
    "The stride is taken as the gap between two windows",
    fails=WINDOWS.all_but(),
    hints=(
        "Your windows are too far apart: the next one starts stride tokens after this one has ended.",
        "The stride is counted from start to start, not from end to start.",
        "Read the equation for s_k.",
    ),
)
def windows__stride_between(ids, T, stride, split):
    parts = []
    for first, end in ((0, split), (split, len(ids))):
        start = torch.arange(first, end - T, T + stride)
        place = start[:, None] + torch.arange(T)
        parts.append(Windows(ids[place], ids[place + 1], start))
    return tuple(parts)


@WINDOWS.misconception(
    "A window starts at every token",
    fails=WINDOWS.all_but("every"),
    hints=(
        "You have more windows than the stride allows: one at every token.",
        "With stride = 1 you are right. The argument says how far the next window starts after this one.",
        "Read the equation for s_k.",
    ),
)
def windows__every_token(ids, T, stride, split):
    parts = []
    for first, end in ((0, split), (split, len(ids))):
        start = torch.arange(first, end - T)
        place = start[:, None] + torch.arange(T)
        parts.append(Windows(ids[place], ids[place + 1], start))
    return tuple(parts)


@WINDOWS.misconception(
    "The last label of the training part belongs to the validation part",
    fails=WINDOWS.all_but("overlap", "touch", "gaps", "fits", "untouched"),
    hints=(
        "When T tokens are left before split you have one window more, and its last label is the first token for "
        "validation.",
        "Only the inputs were kept on their side. A label is learned from too: a window takes T + 1 tokens of its "
        "part.",
        _PARTS,
    ),
)
def windows__label_over_the_border(ids, T, stride, split):
    parts = []
    for first, end in ((0, min(split + 1, len(ids))), (split, len(ids))):
        start = torch.arange(first, end - T, stride)
        place = start[:, None] + torch.arange(T)
        parts.append(Windows(ids[place], ids[place + 1], start))
    return tuple(parts)


@WINDOWS.misconception(
    "Windows that start before split reach over it",
    fails=WINDOWS.all_but(),
    hints=(
        "Your last training windows hold tokens of the validation part.",
        "The windows were sorted by where they start. A model that has trained on these tokens has seen part of its "
        "examination.",
        "Read what the task says about the two parts: a window lies whole in one of them.",
    ),
)
def windows__starts_are_split(ids, T, stride, split):
    start = torch.arange(0, len(ids) - T, stride)
    place = start[:, None] + torch.arange(T)
    x, y, train = ids[place], ids[place + 1], start < split
    return Windows(x[train], y[train], start[train]), Windows(x[~train], y[~train], start[~train])


@WINDOWS.misconception(
    "The validation windows go on in the step of the training windows",
    fails=WINDOWS.all_but("every"),
    hints=(
        "No window reaches over split, but your first validation window does not start at split.",
        "All windows were cut from one grid, and those that reach over split thrown away. The validation part is cut "
        "by itself, from its first token on.",
        "Read what the task says about s_0.",
    ),
)
def windows__straddling_dropped(ids, T, stride, split):
    start = torch.arange(0, len(ids) - T, stride)
    place = start[:, None] + torch.arange(T)
    x, y, train, validation = ids[place], ids[place + 1], start + T < split, start >= split
    return Windows(x[train], y[train], start[train]), Windows(x[validation], y[validation], start[validation])


@WINDOWS.misconception(
    "The training windows run over the whole text",
    fails=WINDOWS.all_but(),
    hints=(
        "Your training windows go on behind split.",
        "split was used for the validation part only. What the model has trained on says nothing about other texts.",
        "Read what the task says about the two parts.",
    ),
)
def windows__train_is_everything(ids, T, stride, split):
    parts = []
    for first, end in ((0, len(ids)), (split, len(ids))):
        start = torch.arange(first, end - T, stride)
        place = start[:, None] + torch.arange(T)
        parts.append(Windows(ids[place], ids[place + 1], start))
    return tuple(parts)


@WINDOWS.misconception(
    "The windows are shared out, not the text",
    fails=WINDOWS.all_but(),
    hints=(
        "Windows of your training part overlap with windows for validation.",
        "First the whole text was cut, then the windows were divided, in the proportion of the parts. With a stride "
        "below T neighbours hold the same tokens. Divide the text first.",
        "Read what the task says about the two parts.",
    ),
)
def windows__share_of_windows(ids, T, stride, split):
    start = torch.arange(0, len(ids) - T, stride)
    place = start[:, None] + torch.arange(T)
    x, y = ids[place], ids[place + 1]
    n = len(start) * split // len(ids)
    return Windows(x[:n], y[:n], start[:n]), Windows(x[n:], y[n:], start[n:])


@WINDOWS.misconception(
    "The validation windows begin before split",
    fails=WINDOWS.all_but(),
    hints=(
        "Your first validation window starts with tokens of the training part.",
        "Validation was begun T tokens early, so that its first label has a full context. But these windows' labels "
        "have been trained on.",
        "Read what the task says about s_0: the first place of the part.",
    ),
)
def windows__reaches_back(ids, T, stride, split):
    parts = []
    for first, end in ((0, split), (split - T, len(ids))):
        start = torch.arange(first, end - T, stride)
        place = start[:, None] + torch.arange(T)
        parts.append(Windows(ids[place], ids[place + 1], start))
    return tuple(parts)


@WINDOWS.misconception(
    "The places of the validation windows are counted from split",
    fails=WINDOWS.all_but(),
    hints=(
        "Windows and labels are right; the places of those for validation begin at 0 again.",
        "start was counted within the part. It is a place in ids: so one can see that the parts do not overlap.",
        "Read what the task says about start.",
    ),
)
def windows__start_in_the_part(ids, T, stride, split):
    parts = []
    for first, end in ((0, split), (split, len(ids))):
        start = torch.arange(first, end - T, stride)
        place = start[:, None] + torch.arange(T)
        parts.append(Windows(ids[place], ids[place + 1], start - first))
    return tuple(parts)


@WINDOWS.misconception(
    "Training and validation are exchanged",
    fails=WINDOWS.all_but(),
    hints=(
        "Your first result holds the windows behind split.",
        "The training part is ids[:split], and comes first.",
        "Read what the task returns.",
    ),
)
def windows__parts_exchanged(ids, T, stride, split):
    parts = []
    for first, end in ((0, split), (split, len(ids))):
        start = torch.arange(first, end - T, stride)
        place = start[:, None] + torch.arange(T)
        parts.append(Windows(ids[place], ids[place + 1], start))
    return parts[1], parts[0]


# ---- 11.2 gpt_block ----

_ATTENTION = "Build the block of multi_head_attention and layer_norm: torch's own layers are what it is compared with."
GPT_BLOCK = Exercise(
    number="11.2",
    references=(gpt.gpt_block,),
    probe_module=probes,
    points=3,
    minutes=20,
    difficulty=2,
    forbidden=dict.fromkeys(
        ("MultiheadAttention", "Transformer", "TransformerDecoderLayer", "TransformerEncoderLayer"), _ATTENTION
    ),
)
_BLOCK = "Read the first equation: what stands on both sides of each plus sign?"
_MASK = "Read what the task says about SelfAttention: to which steps does step t attend?"


@GPT_BLOCK.convention(
    "GELU is computed by its formula with tanh, as in GPT-2; it differs from the other in the fourth digit"
)
def gpt_block__tanh(x, params, n_heads, drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    z = layer_norm(x, *params.norm_1)
    found, weights = multi_head_attention(z, z, params.attention, n_heads, causal_mask(x.shape[1]))
    a = x + drop(found)
    W_1, b_1, W_2, b_2 = params.feed_forward
    hidden = F.gelu(layer_norm(a, *params.norm_2) @ W_1.T + b_1, approximate="tanh")
    return a + drop(hidden @ W_2.T + b_2), weights


@GPT_BLOCK.convention("the norms come after the sums, as in the first GPT and in COMET")
def gpt_block__post_norm(x, params, n_heads, drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    found, weights = multi_head_attention(x, x, params.attention, n_heads, causal_mask(x.shape[1]))
    a = layer_norm(x + drop(found), *params.norm_1)
    W_1, b_1, W_2, b_2 = params.feed_forward
    hidden = F.gelu(a @ W_1.T + b_1)
    return layer_norm(a + drop(hidden @ W_2.T + b_2), *params.norm_2), weights


@GPT_BLOCK.convention(
    "the norms come after the sums, as in the first GPT and in COMET, and GELU is computed by its formula with tanh, "
    "as there"
)
def gpt_block__post_norm_tanh(x, params, n_heads, drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    found, weights = multi_head_attention(x, x, params.attention, n_heads, causal_mask(x.shape[1]))
    a = layer_norm(x + drop(found), *params.norm_1)
    W_1, b_1, W_2, b_2 = params.feed_forward
    hidden = F.gelu(a @ W_1.T + b_1, approximate="tanh")
    return layer_norm(a + drop(hidden @ W_2.T + b_2), *params.norm_2), weights


@GPT_BLOCK.misconception(
    "There is no causal mask",
    fails=GPT_BLOCK.all_but("step"),
    hints=(
        "Your first steps depend on later ones: change a later token, and what is said before it changes.",
        "The attention has no mask. Every step then sees the token that it is to say, and the loss falls without "
        "anything being learned.",
        _MASK,
    ),
)
def gpt_block__no_mask(x, params, n_heads, drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    z = layer_norm(x, *params.norm_1)
    found, weights = multi_head_attention(z, z, params.attention, n_heads)
    a = x + drop(found)
    W_1, b_1, W_2, b_2 = params.feed_forward
    hidden = F.gelu(layer_norm(a, *params.norm_2) @ W_1.T + b_1)
    return a + drop(hidden @ W_2.T + b_2), weights


@GPT_BLOCK.misconception(
    "There is no causal mask (GELU by tanh)",
    fails=GPT_BLOCK.all_but(),
    hints=(
        "GELU by its formula with tanh is accepted, but your first steps depend on later ones.",
        "The attention has no mask. Every step then sees the token that it is to say, and the loss falls without "
        "anything being learned.",
        _MASK,
    ),
)
def gpt_block__no_mask_tanh(x, params, n_heads, drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    z = layer_norm(x, *params.norm_1)
    found, weights = multi_head_attention(z, z, params.attention, n_heads)
    a = x + drop(found)
    W_1, b_1, W_2, b_2 = params.feed_forward
    hidden = F.gelu(layer_norm(a, *params.norm_2) @ W_1.T + b_1, approximate="tanh")
    return a + drop(hidden @ W_2.T + b_2), weights


@GPT_BLOCK.misconception(
    "There is no causal mask (norms after the sums)",
    fails=GPT_BLOCK.all_but(),
    hints=(
        "Norms after the sums are accepted, but your first steps depend on later ones.",
        "The attention has no mask. Every step then sees the token that it is to say, and the loss falls without "
        "anything being learned.",
        _MASK,
    ),
)
def gpt_block__no_mask_post(x, params, n_heads, drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    found, weights = multi_head_attention(x, x, params.attention, n_heads)
    a = layer_norm(x + drop(found), *params.norm_1)
    W_1, b_1, W_2, b_2 = params.feed_forward
    hidden = F.gelu(a @ W_1.T + b_1)
    return layer_norm(a + drop(hidden @ W_2.T + b_2), *params.norm_2), weights


@GPT_BLOCK.misconception(
    "There is no causal mask (norms after the sums, GELU by tanh)",
    fails=GPT_BLOCK.all_but(),
    hints=(
        "Norms after the sums and GELU with tanh are accepted, but your first steps depend on later ones.",
        "The attention has no mask. Every step then sees the token that it is to say, and the loss falls without "
        "anything being learned.",
        _MASK,
    ),
)
def gpt_block__no_mask_post_tanh(x, params, n_heads, drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    found, weights = multi_head_attention(x, x, params.attention, n_heads)
    a = layer_norm(x + drop(found), *params.norm_1)
    W_1, b_1, W_2, b_2 = params.feed_forward
    hidden = F.gelu(a @ W_1.T + b_1, approximate="tanh")
    return layer_norm(a + drop(hidden @ W_2.T + b_2), *params.norm_2), weights


@GPT_BLOCK.misconception(
    "Every step looks at what comes after it",
    fails=GPT_BLOCK.all_but("step"),
    hints=(
        "Your last step attends to itself alone; your first one to all.",
        "The mask is turned round: True means may attend, and here the upper triangle is True.",
        _MASK,
    ),
)
def gpt_block__looks_ahead(x, params, n_heads, drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    z = layer_norm(x, *params.norm_1)
    found, weights = multi_head_attention(z, z, params.attention, n_heads, causal_mask(x.shape[1]).T)
    a = x + drop(found)
    W_1, b_1, W_2, b_2 = params.feed_forward
    hidden = F.gelu(layer_norm(a, *params.norm_2) @ W_1.T + b_1)
    return a + drop(hidden @ W_2.T + b_2), weights


@GPT_BLOCK.misconception(
    "The mask is inverted: only the future is seen",
    fails=GPT_BLOCK.all_but(),
    hints=(
        "Your weights are 0 where they should be positive, and positive where they should be 0.",
        "In torch's own layers True often means: may not. Here True means: may attend.",
        _MASK,
    ),
)
def gpt_block__mask_inverted(x, params, n_heads, drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    z = layer_norm(x, *params.norm_1)
    found, weights = multi_head_attention(z, z, params.attention, n_heads, ~causal_mask(x.shape[1]))
    a = x + drop(found)
    W_1, b_1, W_2, b_2 = params.feed_forward
    hidden = F.gelu(layer_norm(a, *params.norm_2) @ W_1.T + b_1)
    return a + drop(hidden @ W_2.T + b_2), weights


@GPT_BLOCK.misconception(
    "A step does not attend to itself",
    fails=GPT_BLOCK.all_but(),
    hints=(
        "The diagonal of your weights is 0, and the first step finds nothing at all.",
        "The mask leaves out j = t. The token at step t has been read; it is the next one that is to be said.",
        _MASK,
    ),
)
def gpt_block__not_itself(x, params, n_heads, drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    z = layer_norm(x, *params.norm_1)
    found, weights = multi_head_attention(
        z, z, params.attention, n_heads, torch.ones(2 * x.shape[1:2], dtype=torch.bool).tril(-1)
    )
    a = x + drop(found)
    W_1, b_1, W_2, b_2 = params.feed_forward
    hidden = F.gelu(layer_norm(a, *params.norm_2) @ W_1.T + b_1)
    return a + drop(hidden @ W_2.T + b_2), weights


@GPT_BLOCK.misconception(
    "The normalised x is carried on, not x",
    fails=GPT_BLOCK.all_but(),
    hints=(
        "With every part of the block dropped, your x does not come through as it was.",
        "The norm has overwritten x, and the attention was added to the normalised vector. What is carried from "
        "block to block is never normalised: only what the two parts read is.",
        _BLOCK,
    ),
)
def gpt_block__residual_normalised(x, params, n_heads, drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    z = layer_norm(x, *params.norm_1)
    found, weights = multi_head_attention(z, z, params.attention, n_heads, causal_mask(x.shape[1]))
    a = z + drop(found)
    W_1, b_1, W_2, b_2 = params.feed_forward
    hidden = F.gelu(layer_norm(a, *params.norm_2) @ W_1.T + b_1)
    return a + drop(hidden @ W_2.T + b_2), weights


@GPT_BLOCK.misconception(
    "The normalised x is carried on, not x (GELU by tanh)",
    fails=GPT_BLOCK.all_but(),
    hints=(
        "GELU by its formula with tanh is accepted. But the attention is added to the normalised x.",
        "The norm has overwritten x. What is carried from block to block is never normalised: only what the two "
        "parts read is.",
        _BLOCK,
    ),
)
def gpt_block__residual_normalised_tanh(x, params, n_heads, drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    z = layer_norm(x, *params.norm_1)
    found, weights = multi_head_attention(z, z, params.attention, n_heads, causal_mask(x.shape[1]))
    a = z + drop(found)
    W_1, b_1, W_2, b_2 = params.feed_forward
    hidden = F.gelu(layer_norm(a, *params.norm_2) @ W_1.T + b_1, approximate="tanh")
    return a + drop(hidden @ W_2.T + b_2), weights


@GPT_BLOCK.misconception(
    "Both sums carry on the normalised vectors",
    fails=GPT_BLOCK.all_but(),
    hints=(
        "With every part of the block dropped, what comes through is normalised twice.",
        "Both norms have overwritten what they read, and the results were added to that. What is carried from block "
        "to block is never normalised.",
        _BLOCK,
    ),
)
def gpt_block__both_residuals_normalised(x, params, n_heads, drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    z = layer_norm(x, *params.norm_1)
    found, weights = multi_head_attention(z, z, params.attention, n_heads, causal_mask(x.shape[1]))
    a = z + drop(found)
    W_1, b_1, W_2, b_2 = params.feed_forward
    n = layer_norm(a, *params.norm_2)
    hidden = F.gelu(n @ W_1.T + b_1)
    return n + drop(hidden @ W_2.T + b_2), weights


@GPT_BLOCK.misconception(
    "The second sum carries on the normalised a",
    fails=GPT_BLOCK.all_but(),
    hints=(
        "The first half of your block is right. In the second, the result is added to the normalised a.",
        "The second norm has overwritten a. Only what the feed-forward network reads is normalised.",
        _BLOCK,
    ),
)
def gpt_block__second_residual_normalised(x, params, n_heads, drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    z = layer_norm(x, *params.norm_1)
    found, weights = multi_head_attention(z, z, params.attention, n_heads, causal_mask(x.shape[1]))
    a = x + drop(found)
    W_1, b_1, W_2, b_2 = params.feed_forward
    n = layer_norm(a, *params.norm_2)
    hidden = F.gelu(n @ W_1.T + b_1)
    return n + drop(hidden @ W_2.T + b_2), weights


@GPT_BLOCK.misconception(
    "One norm does for both halves",
    fails=GPT_BLOCK.all_but(),
    hints=(
        "Your result does not depend on norm_2.",
        "norm_1 was used twice. Each half has a norm of its own.",
        "Read the first equation: which norm belongs to which half?",
    ),
)
def gpt_block__one_norm(x, params, n_heads, drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    z = layer_norm(x, *params.norm_1)
    found, weights = multi_head_attention(z, z, params.attention, n_heads, causal_mask(x.shape[1]))
    a = x + drop(found)
    W_1, b_1, W_2, b_2 = params.feed_forward
    hidden = F.gelu(layer_norm(a, *params.norm_1) @ W_1.T + b_1)
    return a + drop(hidden @ W_2.T + b_2), weights


@GPT_BLOCK.misconception(
    "One norm does for both halves (GELU by tanh)",
    fails=GPT_BLOCK.all_but(),
    hints=(
        "GELU by its formula with tanh is accepted. But your result does not depend on norm_2.",
        "norm_1 was used twice. Each half has a norm of its own.",
        "Read the first equation: which norm belongs to which half?",
    ),
)
def gpt_block__one_norm_tanh(x, params, n_heads, drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    z = layer_norm(x, *params.norm_1)
    found, weights = multi_head_attention(z, z, params.attention, n_heads, causal_mask(x.shape[1]))
    a = x + drop(found)
    W_1, b_1, W_2, b_2 = params.feed_forward
    hidden = F.gelu(layer_norm(a, *params.norm_1) @ W_1.T + b_1, approximate="tanh")
    return a + drop(hidden @ W_2.T + b_2), weights


@GPT_BLOCK.misconception(
    "One norm does for both halves (norms after the sums)",
    fails=GPT_BLOCK.all_but(),
    hints=(
        "Norms after the sums are accepted. But your result does not depend on norm_2.",
        "norm_1 was used twice. Each half has a norm of its own.",
        "Read the first equation: which norm belongs to which half?",
    ),
)
def gpt_block__one_norm_post(x, params, n_heads, drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    found, weights = multi_head_attention(x, x, params.attention, n_heads, causal_mask(x.shape[1]))
    a = layer_norm(x + drop(found), *params.norm_1)
    W_1, b_1, W_2, b_2 = params.feed_forward
    hidden = F.gelu(a @ W_1.T + b_1)
    return layer_norm(a + drop(hidden @ W_2.T + b_2), *params.norm_1), weights


@GPT_BLOCK.misconception(
    "The block normalises once, at its beginning",
    fails=GPT_BLOCK.all_but(),
    hints=(
        "Your feed-forward network reads what has not been normalised.",
        "There is only one norm, before the attention. The second half has one too.",
        "Read the first equation: which norm belongs to which half?",
    ),
)
def gpt_block__norm_once(x, params, n_heads, drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    z = layer_norm(x, *params.norm_1)
    found, weights = multi_head_attention(z, z, params.attention, n_heads, causal_mask(x.shape[1]))
    a = x + drop(found)
    W_1, b_1, W_2, b_2 = params.feed_forward
    hidden = F.gelu(a @ W_1.T + b_1)
    return a + drop(hidden @ W_2.T + b_2), weights


@GPT_BLOCK.misconception(
    "The attention reads x as it is",
    fails=GPT_BLOCK.all_but(),
    hints=(
        "Your attention weights are off from the first step on; norm_1 is not used.",
        "The first norm is missing. In this block the attention reads the normalised x.",
        "Read the first equation: which norm belongs to which half?",
    ),
)
def gpt_block__first_norm_missing(x, params, n_heads, drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    z = x
    found, weights = multi_head_attention(z, z, params.attention, n_heads, causal_mask(x.shape[1]))
    a = x + drop(found)
    W_1, b_1, W_2, b_2 = params.feed_forward
    hidden = F.gelu(layer_norm(a, *params.norm_2) @ W_1.T + b_1)
    return a + drop(hidden @ W_2.T + b_2), weights


@GPT_BLOCK.misconception(
    "The two norms are exchanged",
    fails=GPT_BLOCK.all_but(),
    hints=(
        "Your result is right if both norms are the same.",
        "norm_2 stands before the attention and norm_1 before the network.",
        "Read the first equation: which norm belongs to which half?",
    ),
)
def gpt_block__norms_exchanged(x, params, n_heads, drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    z = layer_norm(x, *params.norm_2)
    found, weights = multi_head_attention(z, z, params.attention, n_heads, causal_mask(x.shape[1]))
    a = x + drop(found)
    W_1, b_1, W_2, b_2 = params.feed_forward
    hidden = F.gelu(layer_norm(a, *params.norm_1) @ W_1.T + b_1)
    return a + drop(hidden @ W_2.T + b_2), weights


@GPT_BLOCK.misconception(
    "Only the queries are normalised",
    fails=GPT_BLOCK.all_but(),
    hints=(
        "Your attention compares normalised queries with keys that are not.",
        "The sequence was given to the attention in two forms. It looks things up in itself: both arguments are the "
        "normalised x.",
        "Read what the task says about SelfAttention.",
    ),
)
def gpt_block__keys_not_normalised(x, params, n_heads, drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    z = layer_norm(x, *params.norm_1)
    found, weights = multi_head_attention(z, x, params.attention, n_heads, causal_mask(x.shape[1]))
    a = x + drop(found)
    W_1, b_1, W_2, b_2 = params.feed_forward
    hidden = F.gelu(layer_norm(a, *params.norm_2) @ W_1.T + b_1)
    return a + drop(hidden @ W_2.T + b_2), weights


@GPT_BLOCK.misconception(
    "The network has ReLU, not GELU",
    fails=GPT_BLOCK.all_but(),
    hints=(
        "Your hidden units are cut off at zero; small negative numbers should come through a little.",
        "This is the feed-forward network of chapter 9. GPT has GELU in the place of max(0, ·).",
        "Read the second equation.",
    ),
)
def gpt_block__relu(x, params, n_heads, drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    z = layer_norm(x, *params.norm_1)
    found, weights = multi_head_attention(z, z, params.attention, n_heads, causal_mask(x.shape[1]))
    a = x + drop(found)
    W_1, b_1, W_2, b_2 = params.feed_forward
    hidden = torch.relu(layer_norm(a, *params.norm_2) @ W_1.T + b_1)
    return a + drop(hidden @ W_2.T + b_2), weights


@GPT_BLOCK.misconception(
    "The network has ReLU, not GELU (norms after the sums)",
    fails=GPT_BLOCK.all_but(),
    hints=(
        "Norms after the sums are accepted. But your hidden units are cut off at zero.",
        "This is the layer of chapter 9 with a mask. GPT has GELU in the place of max(0, ·).",
        "Read the second equation.",
    ),
)
def gpt_block__relu_post(x, params, n_heads, drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    found, weights = multi_head_attention(x, x, params.attention, n_heads, causal_mask(x.shape[1]))
    a = layer_norm(x + drop(found), *params.norm_1)
    W_1, b_1, W_2, b_2 = params.feed_forward
    hidden = torch.relu(a @ W_1.T + b_1)
    return layer_norm(a + drop(hidden @ W_2.T + b_2), *params.norm_2), weights


@GPT_BLOCK.misconception(
    "GELU is approximated by a sigmoid",
    fails=GPT_BLOCK.all_but(),
    hints=(
        "Your hidden units are off by one or two percent.",
        "u times the sigmoid of 1.702 u is a rough approximation. The exact one, or the formula with tanh, is asked "
        "for.",
        "Read the second equation.",
    ),
)
def gpt_block__quick_gelu(x, params, n_heads, drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    z = layer_norm(x, *params.norm_1)
    found, weights = multi_head_attention(z, z, params.attention, n_heads, causal_mask(x.shape[1]))
    a = x + drop(found)
    W_1, b_1, W_2, b_2 = params.feed_forward
    hidden = layer_norm(a, *params.norm_2) @ W_1.T + b_1
    hidden = hidden * torch.sigmoid(1.702 * hidden)
    return a + drop(hidden @ W_2.T + b_2), weights


@GPT_BLOCK.misconception(
    "The network has no activation",
    fails=GPT_BLOCK.all_but(),
    hints=(
        "Your network is one linear map: twice the input gives twice the output.",
        "GELU was forgotten. Without it the two matrices could be multiplied into one.",
        "Read the second equation.",
    ),
)
def gpt_block__linear(x, params, n_heads, drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    z = layer_norm(x, *params.norm_1)
    found, weights = multi_head_attention(z, z, params.attention, n_heads, causal_mask(x.shape[1]))
    a = x + drop(found)
    W_1, b_1, W_2, b_2 = params.feed_forward
    hidden = layer_norm(a, *params.norm_2) @ W_1.T + b_1
    return a + drop(hidden @ W_2.T + b_2), weights


@GPT_BLOCK.misconception(
    "GELU stands also behind the network",
    fails=GPT_BLOCK.all_but(),
    hints=(
        "What your network adds is never much below zero.",
        "GELU was applied to the result of W_2 too. It belongs between the two matrices.",
        "Read the second equation.",
    ),
)
def gpt_block__gelu_twice(x, params, n_heads, drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    z = layer_norm(x, *params.norm_1)
    found, weights = multi_head_attention(z, z, params.attention, n_heads, causal_mask(x.shape[1]))
    a = x + drop(found)
    W_1, b_1, W_2, b_2 = params.feed_forward
    hidden = F.gelu(layer_norm(a, *params.norm_2) @ W_1.T + b_1)
    return a + drop(F.gelu(hidden @ W_2.T + b_2)), weights


@GPT_BLOCK.misconception(
    "The network has no biases",
    fails=GPT_BLOCK.all_but(),
    hints=(
        "Your result does not depend on b_1 and b_2.",
        "Only the two matrices were used.",
        "Read the second equation.",
    ),
)
def gpt_block__biases_forgotten(x, params, n_heads, drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    z = layer_norm(x, *params.norm_1)
    found, weights = multi_head_attention(z, z, params.attention, n_heads, causal_mask(x.shape[1]))
    a = x + drop(found)
    W_1, _, W_2, _ = params.feed_forward
    hidden = F.gelu(layer_norm(a, *params.norm_2) @ W_1.T)
    return a + drop(hidden @ W_2.T), weights


@GPT_BLOCK.misconception(
    "Nothing is added: the block replaces x",
    fails=GPT_BLOCK.all_but(),
    hints=(
        "With every part of the block dropped, nothing of x comes through.",
        "Both sums are missing. A deep stack without them hardly learns.",
        _BLOCK,
    ),
)
def gpt_block__no_residuals(x, params, n_heads, drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    z = layer_norm(x, *params.norm_1)
    found, weights = multi_head_attention(z, z, params.attention, n_heads, causal_mask(x.shape[1]))
    a = drop(found)
    W_1, b_1, W_2, b_2 = params.feed_forward
    hidden = F.gelu(layer_norm(a, *params.norm_2) @ W_1.T + b_1)
    return drop(hidden @ W_2.T + b_2), weights


@GPT_BLOCK.misconception(
    "What the attention finds replaces x",
    fails=GPT_BLOCK.all_but(),
    hints=(
        "Your second half is right; in the first, x is lost.",
        "The result of the attention is to be added to x.",
        _BLOCK,
    ),
)
def gpt_block__first_sum_missing(x, params, n_heads, drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    z = layer_norm(x, *params.norm_1)
    found, weights = multi_head_attention(z, z, params.attention, n_heads, causal_mask(x.shape[1]))
    a = drop(found)
    W_1, b_1, W_2, b_2 = params.feed_forward
    hidden = F.gelu(layer_norm(a, *params.norm_2) @ W_1.T + b_1)
    return a + drop(hidden @ W_2.T + b_2), weights


@GPT_BLOCK.misconception(
    "What the network gives replaces a",
    fails=GPT_BLOCK.all_but(),
    hints=(
        "Your first half is right; in the second, a is lost.",
        "The result of the network is to be added to a.",
        _BLOCK,
    ),
)
def gpt_block__second_sum_missing(x, params, n_heads, drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    z = layer_norm(x, *params.norm_1)
    found, weights = multi_head_attention(z, z, params.attention, n_heads, causal_mask(x.shape[1]))
    a = x + drop(found)
    W_1, b_1, W_2, b_2 = params.feed_forward
    hidden = F.gelu(layer_norm(a, *params.norm_2) @ W_1.T + b_1)
    return drop(hidden @ W_2.T + b_2), weights


@GPT_BLOCK.misconception(
    "The network's result is added to x, not to a",
    fails=GPT_BLOCK.all_but(),
    hints=(
        "What the attention has found is read by the network and then lost.",
        "The second sum has x on its left. It carries on a, in which the attention is contained.",
        _BLOCK,
    ),
)
def gpt_block__second_sum_from_x(x, params, n_heads, drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    z = layer_norm(x, *params.norm_1)
    found, weights = multi_head_attention(z, z, params.attention, n_heads, causal_mask(x.shape[1]))
    a = x + drop(found)
    W_1, b_1, W_2, b_2 = params.feed_forward
    hidden = F.gelu(layer_norm(a, *params.norm_2) @ W_1.T + b_1)
    return x + drop(hidden @ W_2.T + b_2), weights


@GPT_BLOCK.misconception(
    "Both halves read x: the network does not see what the attention has found",
    fails=GPT_BLOCK.all_but(),
    hints=(
        "Your network reads the normalised x; it should read the normalised a.",
        "The two halves stand side by side and not one after the other, as in some later models. In GPT the network "
        "thinks about what the attention has found.",
        "Read the first equation: what does FFN read?",
    ),
)
def gpt_block__parallel(x, params, n_heads, drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    z = layer_norm(x, *params.norm_1)
    found, weights = multi_head_attention(z, z, params.attention, n_heads, causal_mask(x.shape[1]))
    a = x + drop(found)
    W_1, b_1, W_2, b_2 = params.feed_forward
    hidden = F.gelu(layer_norm(x, *params.norm_2) @ W_1.T + b_1)
    return a + drop(hidden @ W_2.T + b_2), weights


@GPT_BLOCK.misconception(
    "Only what the network gives is dropped",
    fails=GPT_BLOCK.all_but("batch", "step", "later", "heads", "gradients", "untouched"),
    hints=(
        "Without dropout you are right; with it, what the attention finds is added whole.",
        "drop stands twice in the equation.",
        "Read the first equation: what is dropped?",
    ),
)
def gpt_block__drop_once(x, params, n_heads, drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    z = layer_norm(x, *params.norm_1)
    found, weights = multi_head_attention(z, z, params.attention, n_heads, causal_mask(x.shape[1]))
    a = x + found
    W_1, b_1, W_2, b_2 = params.feed_forward
    hidden = F.gelu(layer_norm(a, *params.norm_2) @ W_1.T + b_1)
    return a + drop(hidden @ W_2.T + b_2), weights


@GPT_BLOCK.misconception(
    "Only what the attention finds is dropped",
    fails=GPT_BLOCK.all_but("batch", "step", "later", "heads", "gradients", "untouched"),
    hints=(
        "Without dropout you are right; with it, what the network gives is added whole.",
        "drop stands twice in the equation.",
        "Read the first equation: what is dropped?",
    ),
)
def gpt_block__drop_attention_only(x, params, n_heads, drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    z = layer_norm(x, *params.norm_1)
    found, weights = multi_head_attention(z, z, params.attention, n_heads, causal_mask(x.shape[1]))
    a = x + drop(found)
    W_1, b_1, W_2, b_2 = params.feed_forward
    hidden = F.gelu(layer_norm(a, *params.norm_2) @ W_1.T + b_1)
    return a + hidden @ W_2.T + b_2, weights


@GPT_BLOCK.misconception(
    "Nothing is dropped",
    fails=GPT_BLOCK.all_but("batch", "step", "later", "heads", "gradients", "untouched"),
    hints=(
        "Without dropout you are right; with it, nothing changes.",
        "The argument drop is not used.",
        "Read the first equation: what is dropped?",
    ),
)
def gpt_block__drop_ignored(x, params, n_heads, drop=None):
    z = layer_norm(x, *params.norm_1)
    found, weights = multi_head_attention(z, z, params.attention, n_heads, causal_mask(x.shape[1]))
    a = x + found
    W_1, b_1, W_2, b_2 = params.feed_forward
    hidden = F.gelu(layer_norm(a, *params.norm_2) @ W_1.T + b_1)
    return a + hidden @ W_2.T + b_2, weights


@GPT_BLOCK.misconception(
    "The sum is dropped, not what is added",
    fails=GPT_BLOCK.all_but("batch", "step", "later", "heads", "gradients", "untouched"),
    hints=(
        "Without dropout you are right; with it, parts of x are lost.",
        "drop was applied after the addition. What is carried on stays whole; only what is new is dropped.",
        "Read the first equation: what is dropped?",
    ),
)
def gpt_block__sum_dropped(x, params, n_heads, drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    z = layer_norm(x, *params.norm_1)
    found, weights = multi_head_attention(z, z, params.attention, n_heads, causal_mask(x.shape[1]))
    a = drop(x + found)
    W_1, b_1, W_2, b_2 = params.feed_forward
    hidden = F.gelu(layer_norm(a, *params.norm_2) @ W_1.T + b_1)
    return drop(a + hidden @ W_2.T + b_2), weights


@GPT_BLOCK.misconception(
    "The result is normalised once more",
    fails=GPT_BLOCK.all_but(),
    hints=(
        "Your result has, before g and b, mean 0 and variance 1 in every vector.",
        "A third norm stands at the end. What is carried from block to block is not normalised; the last norm comes "
        "after the last block.",
        _BLOCK,
    ),
)
def gpt_block__output_normalised(x, params, n_heads, drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    z = layer_norm(x, *params.norm_1)
    found, weights = multi_head_attention(z, z, params.attention, n_heads, causal_mask(x.shape[1]))
    a = x + drop(found)
    W_1, b_1, W_2, b_2 = params.feed_forward
    hidden = F.gelu(layer_norm(a, *params.norm_2) @ W_1.T + b_1)
    return layer_norm(a + drop(hidden @ W_2.T + b_2), *params.norm_2), weights


@GPT_BLOCK.misconception(
    "x is multiplied by the root of D",
    fails=GPT_BLOCK.all_but(),
    hints=(
        "Your block adds the right things to an x that is too large.",
        "The root of D belongs to the embedding of chapter 9, before the first block. Here x is added as it is.",
        "Read the equation: what is x multiplied by?",
    ),
)
def gpt_block__scaled(x, params, n_heads, drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    x = x * x.shape[-1] ** 0.5
    z = layer_norm(x, *params.norm_1)
    found, weights = multi_head_attention(z, z, params.attention, n_heads, causal_mask(x.shape[1]))
    a = x + drop(found)
    W_1, b_1, W_2, b_2 = params.feed_forward
    hidden = F.gelu(layer_norm(a, *params.norm_2) @ W_1.T + b_1)
    return a + drop(hidden @ W_2.T + b_2), weights


@GPT_BLOCK.misconception(
    "The weights of the attention are not returned",
    fails=GPT_BLOCK.all_but("gradients"),
    hints=(
        "You return one tensor; two are asked for.",
        "The weights show who has looked at whom; the chapter's pictures need them.",
        "Read what the task returns.",
    ),
)
def gpt_block__no_weights(x, params, n_heads, drop=None):
    if drop is None:
        drop = torch.nn.Identity()
    z = layer_norm(x, *params.norm_1)
    found, _ = multi_head_attention(z, z, params.attention, n_heads, causal_mask(x.shape[1]))
    a = x + drop(found)
    W_1, b_1, W_2, b_2 = params.feed_forward
    hidden = F.gelu(layer_norm(a, *params.norm_2) @ W_1.T + b_1)
    return a + drop(hidden @ W_2.T + b_2)


# ---- 11.3 bpe_train ----

BPE_TRAIN = Exercise(
    number="11.3",
    references=(bpe.bpe_train,),
    probe_module=probes,
    points=4,
    minutes=30,
    difficulty=3,
)
_TIES = "Read what the task says about equally frequent pairs."
_JOINED = "Read what the task says about how a pair is joined, with the example aaa."
_COUNTED = "Read the equation: what is summed, and over what?"


@BPE_TRAIN.misconception(
    "The first pair is taken, not the most frequent one",
    fails=BPE_TRAIN.all_but(),
    hints=(
        "Your first pair is that of the first two letters of the first word.",
        "The pairs were counted, but the counts were not compared.",
        _COUNTED,
    ),
)
def bpe_train__first_seen(words, n):
    pieces = {word: list(word) for word in words}
    merges = []
    while len(merges) < n:
        counts = Counter()
        for word, symbols in pieces.items():
            for pair in pairwise(symbols):
                counts[pair] += words[word]
        if not counts:
            break
        best = next(iter(counts))
        merges.append(best)
        for symbols in pieces.values():
            i = 0
            while i < len(symbols) - 1:
                if (symbols[i], symbols[i + 1]) == best:
                    symbols[i : i + 2] = ["".join(best)]
                i += 1
    return merges


@BPE_TRAIN.misconception(
    "The alphabetically first pair is taken, not the most frequent one",
    fails=BPE_TRAIN.all_but(),
    hints=(
        "Your first pair is the smallest in the alphabet, however rare it is.",
        "The alphabet decides only between pairs that are equally frequent.",
        _TIES,
    ),
)
def bpe_train__alphabetical(words, n):
    pieces = {word: list(word) for word in words}
    merges = []
    while len(merges) < n:
        counts = Counter()
        for word, symbols in pieces.items():
            for pair in pairwise(symbols):
                counts[pair] += words[word]
        if not counts:
            break
        best = min(counts)
        merges.append(best)
        for symbols in pieces.values():
            i = 0
            while i < len(symbols) - 1:
                if (symbols[i], symbols[i + 1]) == best:
                    symbols[i : i + 2] = ["".join(best)]
                i += 1
    return merges


@BPE_TRAIN.misconception(
    "The rarest pair is taken",
    fails=BPE_TRAIN.all_but(),
    hints=(
        "Your first pair is among the rarest.",
        "The sign is turned round: the most frequent pair is asked for.",
        _COUNTED,
    ),
)
def bpe_train__least_frequent(words, n):
    pieces = {word: list(word) for word in words}
    merges = []
    while len(merges) < n:
        counts = Counter()
        for word, symbols in pieces.items():
            for pair in pairwise(symbols):
                counts[pair] += words[word]
        if not counts:
            break
        best = min(counts, key=lambda pair: (counts[pair], pair))
        merges.append(best)
        for symbols in pieces.values():
            i = 0
            while i < len(symbols) - 1:
                if (symbols[i], symbols[i + 1]) == best:
                    symbols[i : i + 2] = ["".join(best)]
                i += 1
    return merges


@BPE_TRAIN.misconception(
    "Of equally frequent pairs the first one seen is taken",
    fails=BPE_TRAIN.all_but("words", "twice", "rows", "parts", "borders", "exhausted", "untouched"),
    hints=(
        "Where no two pairs are equally frequent you are right.",
        "max, or most_common, keeps the first of equals in the order of the words. Here the alphabet decides.",
        _TIES,
    ),
)
def bpe_train__tie_first_seen(words, n):
    pieces = {word: list(word) for word in words}
    merges = []
    while len(merges) < n:
        counts = Counter()
        for word, symbols in pieces.items():
            for pair in pairwise(symbols):
                counts[pair] += words[word]
        if not counts:
            break
        best = max(counts, key=counts.get)
        merges.append(best)
        for symbols in pieces.values():
            i = 0
            while i < len(symbols) - 1:
                if (symbols[i], symbols[i + 1]) == best:
                    symbols[i : i + 2] = ["".join(best)]
                i += 1
    return merges


@BPE_TRAIN.misconception(
    "Of equally frequent pairs the alphabetically last is taken",
    fails=BPE_TRAIN.all_but("words", "twice", "rows", "parts", "borders", "exhausted", "untouched"),
    hints=(
        "Where no two pairs are equally frequent you are right.",
        "max over (count, pair) prefers the larger pair. The smaller one is asked for.",
        _TIES,
    ),
)
def bpe_train__tie_last(words, n):
    pieces = {word: list(word) for word in words}
    merges = []
    while len(merges) < n:
        counts = Counter()
        for word, symbols in pieces.items():
            for pair in pairwise(symbols):
                counts[pair] += words[word]
        if not counts:
            break
        best = max(counts, key=lambda pair: (counts[pair], pair))
        merges.append(best)
        for symbols in pieces.values():
            i = 0
            while i < len(symbols) - 1:
                if (symbols[i], symbols[i + 1]) == best:
                    symbols[i : i + 2] = ["".join(best)]
                i += 1
    return merges


@BPE_TRAIN.misconception(
    "Equally frequent pairs are compared by what they give",
    fails=BPE_TRAIN.all_but("words", "twice", "rows", "parts", "borders", "exhausted", "untouched"),
    hints=(
        "You are right but for pairs like (ab, c) and (a, bd): the strings abc and abd were compared, not the pairs.",
        "Python compares two tuples by their first parts, and by the second only if those are equal.",
        _TIES,
    ),
)
def bpe_train__tie_joined(words, n):
    pieces = {word: list(word) for word in words}
    merges = []
    while len(merges) < n:
        counts = Counter()
        for word, symbols in pieces.items():
            for pair in pairwise(symbols):
                counts[pair] += words[word]
        if not counts:
            break
        best = min(counts, key=lambda pair: (-counts[pair], "".join(pair)))
        merges.append(best)
        for symbols in pieces.values():
            i = 0
            while i < len(symbols) - 1:
                if (symbols[i], symbols[i + 1]) == best:
                    symbols[i : i + 2] = ["".join(best)]
                i += 1
    return merges


@BPE_TRAIN.misconception(
    "Every word counts once",
    fails=BPE_TRAIN.all_but(),
    hints=(
        "How often a word occurs makes no difference to your pairs.",
        "Each word was counted once. A pair in a word that occurs a thousand times stands at a thousand places.",
        _COUNTED,
    ),
)
def bpe_train__counts_ignored(words, n):
    pieces = {word: list(word) for word in words}
    merges = []
    while len(merges) < n:
        counts = Counter()
        for symbols in pieces.values():
            for pair in pairwise(symbols):
                counts[pair] += 1
        if not counts:
            break
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        merges.append(best)
        for symbols in pieces.values():
            i = 0
            while i < len(symbols) - 1:
                if (symbols[i], symbols[i + 1]) == best:
                    symbols[i : i + 2] = ["".join(best)]
                i += 1
    return merges


@BPE_TRAIN.misconception(
    "A pair counts once in each word",
    fails=BPE_TRAIN.all_but("words", "ties", "parts", "borders", "exhausted", "untouched"),
    hints=(
        "You are right for words that hold no pair twice.",
        "The pairs of a word were put into a set. Each place counts.",
        _COUNTED,
    ),
)
def bpe_train__once_per_word(words, n):
    pieces = {word: list(word) for word in words}
    merges = []
    while len(merges) < n:
        counts = Counter()
        for word, symbols in pieces.items():
            for pair in set(pairwise(symbols)):
                counts[pair] += words[word]
        if not counts:
            break
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        merges.append(best)
        for symbols in pieces.values():
            i = 0
            while i < len(symbols) - 1:
                if (symbols[i], symbols[i + 1]) == best:
                    symbols[i : i + 2] = ["".join(best)]
                i += 1
    return merges


@BPE_TRAIN.misconception(
    "In aaa the pair is counted once",
    fails=BPE_TRAIN.all_but("words", "twice", "ties", "parts", "borders", "exhausted", "untouched"),
    hints=(
        "You are right but for letters that stand three times in a row.",
        "Places that overlap were counted once, as they are joined. In the equation every i counts.",
        _COUNTED,
    ),
)
def bpe_train__places_do_not_overlap(words, n):
    pieces = {word: list(word) for word in words}
    merges = []
    while len(merges) < n:
        counts = Counter()
        for word, symbols in pieces.items():
            last = -1
            for i, pair in enumerate(pairwise(symbols)):
                if i == last + 1 and i > 0 and pair == (symbols[i - 1], symbols[i]):
                    continue
                last = i
                counts[pair] += words[word]
        if not counts:
            break
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        merges.append(best)
        for symbols in pieces.values():
            i = 0
            while i < len(symbols) - 1:
                if (symbols[i], symbols[i + 1]) == best:
                    symbols[i : i + 2] = ["".join(best)]
                i += 1
    return merges


@BPE_TRAIN.misconception(
    "Symbols of different words are joined",
    fails=BPE_TRAIN.all_but(),
    hints=(
        "Among your pairs are letters that stand together only where one word ends and the next begins.",
        "The words were strung together into one long text. Each word is cut into pairs by itself.",
        "Read what the task says about symbols of different words.",
    ),
)
def bpe_train__across_words(words, n):
    symbols = [letter for word, count in words.items() for letter in word * count]
    merges = []
    while len(merges) < n and len(symbols) > 1:
        counts = Counter(pairwise(symbols))
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        merges.append(best)
        joined, i = [], 0
        while i < len(symbols):
            if tuple(symbols[i : i + 2]) == best:
                joined.append("".join(best))
                i += 2
            else:
                joined.append(symbols[i])
                i += 1
        symbols = joined
    return merges


@BPE_TRAIN.misconception(
    "In aaa the pair is joined twice: aa, aa",
    fails=BPE_TRAIN.all_but("words", "twice", "ties", "parts", "borders", "exhausted", "untouched"),
    hints=(
        "You are right until a letter stands three times in a row; from then on there are letters that the words do "
        "not have.",
        "Every place was joined, also those that share a letter. After a pair has been joined, go on behind it.",
        _JOINED,
    ),
)
def bpe_train__overlapping(words, n):
    pieces = {word: list(word) for word in words}
    merges = []
    while len(merges) < n:
        counts = Counter()
        for word, symbols in pieces.items():
            for pair in pairwise(symbols):
                counts[pair] += words[word]
        if not counts:
            break
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        merges.append(best)
        for word, symbols in pieces.items():
            hits = [pair == best for pair in pairwise(symbols)] + [False]
            after = [False, *hits[:-1]]
            pieces[word] = [
                "".join(best) if hit else symbol
                for symbol, hit, used in zip(symbols, hits, after, strict=True)
                if hit or not used
            ]
    return merges


@BPE_TRAIN.misconception(
    "Pairs are joined from right to left",
    fails=BPE_TRAIN.all_but("words", "twice", "ties", "parts", "borders", "exhausted", "untouched"),
    hints=(
        "You are right until a letter stands three times in a row: aaa gives a, aa.",
        "The places were gone through backwards. From the left, aaa gives aa, a.",
        _JOINED,
    ),
)
def bpe_train__from_the_right(words, n):
    pieces = {word: list(word) for word in words}
    merges = []
    while len(merges) < n:
        counts = Counter()
        for word, symbols in pieces.items():
            for pair in pairwise(symbols):
                counts[pair] += words[word]
        if not counts:
            break
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        merges.append(best)
        for symbols in pieces.values():
            i = len(symbols) - 2
            while i >= 0:
                if tuple(symbols[i : i + 2]) == best:
                    symbols[i : i + 2] = ["".join(best)]
                    i -= 1
                i -= 1
    return merges


@BPE_TRAIN.misconception(
    "In each word the pair is joined at one place only",
    fails=BPE_TRAIN.all_but("words", "ties", "parts", "borders", "exhausted", "untouched"),
    hints=(
        "You are right for words that hold no pair twice.",
        "After the first place in a word the search stopped. The pair is joined wherever it stands.",
        _JOINED,
    ),
)
def bpe_train__first_place_only(words, n):
    pieces = {word: list(word) for word in words}
    merges = []
    while len(merges) < n:
        counts = Counter()
        for word, symbols in pieces.items():
            for pair in pairwise(symbols):
                counts[pair] += words[word]
        if not counts:
            break
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        merges.append(best)
        for symbols in pieces.values():
            i = 0
            while i < len(symbols) - 1:
                if (symbols[i], symbols[i + 1]) == best:
                    symbols[i : i + 2] = ["".join(best)]
                    break
                i += 1
    return merges


@BPE_TRAIN.misconception(
    "Symbols are joined by replacing text: parts of symbols are taken for symbols",
    fails=BPE_TRAIN.all_but("words", "twice", "rows", "borders", "exhausted", "untouched"),
    hints=(
        "Your first pairs are right. Later, pairs are joined that are only the end of one symbol and the beginning "
        "of the next.",
        "The symbols stand in a text with spaces between them, and a b was replaced by ab everywhere: also in xa b, "
        "where xa is one symbol. Compare whole symbols.",
        _JOINED,
    ),
)
def bpe_train__text_replaced(words, n):
    pieces = {word: " ".join(word) for word in words}
    merges = []
    while len(merges) < n:
        counts = Counter()
        for word, spelled in pieces.items():
            for pair in pairwise(spelled.split()):
                counts[pair] += words[word]
        if not counts:
            break
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        merges.append(best)
        pieces = {word: spelled.replace(" ".join(best), "".join(best)) for word, spelled in pieces.items()}
    return merges


@BPE_TRAIN.misconception(
    "The last symbol of a word is lost",
    fails=BPE_TRAIN.all_but(),
    hints=(
        "Your first pair is right; then words end too early.",
        "When the words were written anew, the loop ran over pairs, and a last symbol without a partner was left out.",
        _JOINED,
    ),
)
def bpe_train__last_symbol_lost(words, n):
    pieces = {word: list(word) for word in words}
    merges = []
    while len(merges) < n:
        counts = Counter()
        for word, symbols in pieces.items():
            for pair in pairwise(symbols):
                counts[pair] += words[word]
        if not counts:
            break
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        merges.append(best)
        for word, symbols in pieces.items():
            joined, i = [], 0
            while i < len(symbols) - 1:
                if (symbols[i], symbols[i + 1]) == best:
                    joined.append("".join(best))
                    i += 2
                else:
                    joined.append(symbols[i])
                    i += 1
            pieces[word] = joined
    return merges


@BPE_TRAIN.misconception(
    "The pairs are counted only at the beginning",
    fails=BPE_TRAIN.all_but(),
    hints=(
        "Your pairs are all of single letters.",
        "The n most frequent pairs of letters were taken. After each joining there are new symbols, and the pairs "
        "must be counted anew.",
        "Read what the task says about what happens after a pair was joined.",
    ),
)
def bpe_train__counted_once(words, n):
    counts = Counter()
    for word, count in words.items():
        for pair in pairwise(word):
            counts[pair] += count
    return sorted(counts, key=lambda pair: (-counts[pair], pair))[:n]


@BPE_TRAIN.misconception(
    "The best pair is never joined",
    fails=BPE_TRAIN.all_but(),
    hints=(
        "Your first pair is right, and it comes n times.",
        "The words are still as they were: the pair has to become one symbol before the next count.",
        _JOINED,
    ),
)
def bpe_train__not_joined(words, n):
    pieces = {word: list(word) for word in words}
    merges = []
    while len(merges) < n:
        counts = Counter()
        for word, symbols in pieces.items():
            for pair in pairwise(symbols):
                counts[pair] += words[word]
        if not counts:
            break
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        merges.append(best)
    return merges


@BPE_TRAIN.misconception(
    "The new symbols are returned, not the pairs",
    fails=BPE_TRAIN.all_but(),
    hints=(
        "Your list holds strings; it should hold pairs of strings.",
        "abc alone does not say whether a and bc or ab and c were joined. The encoder needs the pairs.",
        "Read what the task returns.",
    ),
)
def bpe_train__symbols_returned(words, n):
    pieces = {word: list(word) for word in words}
    merges = []
    while len(merges) < n:
        counts = Counter()
        for word, symbols in pieces.items():
            for pair in pairwise(symbols):
                counts[pair] += words[word]
        if not counts:
            break
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        merges.append(best)
        for symbols in pieces.values():
            i = 0
            while i < len(symbols) - 1:
                if (symbols[i], symbols[i + 1]) == best:
                    symbols[i : i + 2] = ["".join(best)]
                i += 1
    return ["".join(pair) for pair in merges]


@BPE_TRAIN.misconception(
    "n is taken as the size of the vocabulary, letters included",
    fails=BPE_TRAIN.all_but("exhausted"),
    hints=(
        "Your pairs are right, but there are too few: as many are missing as there are different letters.",
        "The letters were counted among the n. Here n is the number of pairs.",
        "Read what the task says about n.",
    ),
)
def bpe_train__vocabulary_of_n(words, n):
    pieces = {word: list(word) for word in words}
    merges = []
    while len(merges) + len(set("".join(words))) < n:
        counts = Counter()
        for word, symbols in pieces.items():
            for pair in pairwise(symbols):
                counts[pair] += words[word]
        if not counts:
            break
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        merges.append(best)
        for symbols in pieces.values():
            i = 0
            while i < len(symbols) - 1:
                if (symbols[i], symbols[i + 1]) == best:
                    symbols[i : i + 2] = ["".join(best)]
                i += 1
    return merges


@BPE_TRAIN.misconception(
    "Pairs that stand at one place only are not joined",
    fails=BPE_TRAIN.all_but("words", "twice", "ties", "rows", "parts", "borders", "untouched"),
    hints=(
        "Your pairs are right, but you stop when the best pair has a count of 1.",
        "Many programs leave pairs alone that occur once. Here the end comes when no pair is left.",
        "Read what the task returns if there are fewer than n pairs.",
    ),
)
def bpe_train__rare_left_alone(words, n):
    pieces = {word: list(word) for word in words}
    merges = []
    while len(merges) < n:
        counts = Counter()
        for word, symbols in pieces.items():
            for pair in pairwise(symbols):
                counts[pair] += words[word]
        if not counts or max(counts.values()) < 2:
            break
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        merges.append(best)
        for symbols in pieces.values():
            i = 0
            while i < len(symbols) - 1:
                if (symbols[i], symbols[i + 1]) == best:
                    symbols[i : i + 2] = ["".join(best)]
                i += 1
    return merges


@BPE_TRAIN.misconception(
    "Every word gets a mark at its end",
    fails=BPE_TRAIN.all_but(),
    hints=(
        "Among your pairs are some with a sign that no word holds.",
        "A mark for the end of the word was added, as the first programs did. Here the symbols are the characters of "
        "the word and nothing else; GPT-2 marks the space before a word.",
        "Read what the task says about the symbols of a word at first.",
    ),
)
def bpe_train__end_mark(words, n):
    pieces = {word: [*word, "</w>"] for word in words}
    merges = []
    while len(merges) < n:
        counts = Counter()
        for word, symbols in pieces.items():
            for pair in pairwise(symbols):
                counts[pair] += words[word]
        if not counts:
            break
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        merges.append(best)
        for symbols in pieces.values():
            i = 0
            while i < len(symbols) - 1:
                if (symbols[i], symbols[i + 1]) == best:
                    symbols[i : i + 2] = ["".join(best)]
                i += 1
    return merges


@BPE_TRAIN.misconception(
    "One pair too many",
    fails=BPE_TRAIN.all_but("ties", "exhausted"),
    hints=(
        "Your list is right, but it has one pair more than asked for.",
        "The loop runs n + 1 times.",
        "Read what the task says about n.",
    ),
)
def bpe_train__one_too_many(words, n):
    pieces = {word: list(word) for word in words}
    merges = []
    while len(merges) <= n:
        counts = Counter()
        for word, symbols in pieces.items():
            for pair in pairwise(symbols):
                counts[pair] += words[word]
        if not counts:
            break
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        merges.append(best)
        for symbols in pieces.values():
            i = 0
            while i < len(symbols) - 1:
                if (symbols[i], symbols[i + 1]) == best:
                    symbols[i : i + 2] = ["".join(best)]
                i += 1
    return merges


# ---- 11.4 bpe_encode ----

BPE_ENCODE = Exercise(
    number="11.4",
    references=(bpe.bpe_encode,),
    probe_module=probes,
    points=3,
    minutes=20,
    difficulty=2,
)
_RANK = "Read what the task says about which pair is joined next."


@BPE_ENCODE.misconception(
    "The longest known piece is cut off from the left",
    fails=BPE_ENCODE.all_but("rows", "whole"),
    hints=(
        "Your pieces are all known, but they are not those that the merges lead to.",
        "The longest symbol that fits was taken each time, as WordPiece does. Here the order in which pairs were "
        "learned decides.",
        _RANK,
    ),
)
def bpe_encode__longest_match(word, merges):
    known = {"".join(pair) for pair in merges}
    symbols, i = [], 0
    while i < len(word):
        j = len(word)
        while j > i + 1 and word[i:j] not in known:
            j -= 1
        symbols.append(word[i:j])
        i = j
    return symbols


@BPE_ENCODE.misconception(
    "The fewest pieces are looked for",
    fails=BPE_ENCODE.all_but("whole"),
    hints=(
        "You often have fewer pieces than the merges lead to.",
        "All ways to cut the word into known symbols were compared. Byte-pair encoding does not look for the best "
        "way; it repeats what was learned, in its order.",
        _RANK,
    ),
)
def bpe_encode__fewest_pieces(word, merges):
    known = {"".join(pair) for pair in merges}
    best = [[]]
    for j in range(1, len(word) + 1):
        ways = [best[i] + [word[i:j]] for i in range(j) if j == i + 1 or word[i:j] in known]
        best.append(min(ways, key=len))
    return best[-1]


@BPE_ENCODE.misconception(
    "The leftmost pair is joined first, whatever its rank",
    fails=BPE_ENCODE.all_but("rows", "whole"),
    hints=(
        "Your pieces are right as long as no two possible pairs overlap.",
        "The word was gone through from the left, and the first pair that is among the merges was joined. A pair "
        "that was learned earlier goes first, wherever it stands.",
        _RANK,
    ),
)
def bpe_encode__text_order(word, merges):
    symbols, i = list(word), 0
    while i < len(symbols) - 1:
        if (symbols[i], symbols[i + 1]) in merges:
            symbols[i : i + 2] = [symbols[i] + symbols[i + 1]]
            i = 0
        else:
            i += 1
    return symbols


@BPE_ENCODE.misconception(
    "The pair that was learned last is joined first",
    fails=BPE_ENCODE.all_but("whole"),
    hints=(
        "Your pieces are right as long as no two possible pairs overlap.",
        "The ranks are turned round: the first in the list goes first.",
        _RANK,
    ),
)
def bpe_encode__last_learned_first(word, merges):
    rank = {pair: place for place, pair in enumerate(merges)}
    symbols = list(word)
    while True:
        found = [(-rank[pair], i) for i, pair in enumerate(pairwise(symbols)) if pair in rank]
        if not found:
            return symbols
        _, i = min(found)
        symbols[i : i + 2] = [symbols[i] + symbols[i + 1]]


@BPE_ENCODE.misconception(
    "The word is gone through once",
    fails=BPE_ENCODE.all_but(),
    hints=(
        "Your pieces are at most two characters long.",
        "After one walk from left to right you stop. The joined symbols are neighbours again, and may be joined "
        "further.",
        "Read what the task says about the end: when are no two neighbours among the merges?",
    ),
)
def bpe_encode__one_pass(word, merges):
    symbols, i = list(word), 0
    while i < len(symbols) - 1:
        if (symbols[i], symbols[i + 1]) in merges:
            symbols[i : i + 2] = [symbols[i] + symbols[i + 1]]
        i += 1
    return symbols


@BPE_ENCODE.misconception(
    "Only one pair is joined",
    fails=BPE_ENCODE.all_but(),
    hints=(
        "Your first joining is right; then you stop.",
        "The pair with the lowest rank was joined, and the rest was left. Go on with the new symbols.",
        "Read what the task says about the end.",
    ),
)
def bpe_encode__one_merge(word, merges):
    rank = {pair: place for place, pair in enumerate(merges)}
    symbols = list(word)
    pairs = [pair for pair in pairwise(symbols) if pair in rank]
    if not pairs:
        return symbols
    best, i = min(pairs, key=rank.get), 0
    while i < len(symbols) - 1:
        if (symbols[i], symbols[i + 1]) == best:
            symbols[i : i + 2] = ["".join(best)]
        i += 1
    return symbols


@BPE_ENCODE.misconception(
    "Each pair is joined at one place only",
    fails=BPE_ENCODE.all_but("whole"),
    hints=(
        "You are right for words that hold no pair twice.",
        "After the first place the search for this pair stopped, and it was not taken up again. It is joined "
        "wherever it stands.",
        "Read what the task says about where a pair is joined.",
    ),
)
def bpe_encode__first_place_only(word, merges):
    symbols = list(word)
    for pair in merges:
        i = 0
        while i < len(symbols) - 1:
            if (symbols[i], symbols[i + 1]) == pair:
                symbols[i : i + 2] = ["".join(pair)]
                break
            i += 1
    return symbols


@BPE_ENCODE.misconception(
    "The first pair that the word does not hold ends it all",
    fails=BPE_ENCODE.all_but(),
    hints=(
        "You often return single characters, though pairs further down the list would fit.",
        "The merges were tried in their order, which is right; but one that does not fit is passed over, not the end.",
        "Read what the task says about the end.",
    ),
)
def bpe_encode__stops_at_absent(word, merges):
    symbols = list(word)
    for pair in merges:
        if pair not in set(pairwise(symbols)):
            break
        i = 0
        while i < len(symbols) - 1:
            if (symbols[i], symbols[i + 1]) == pair:
                symbols[i : i + 2] = ["".join(pair)]
            i += 1
    return symbols


@BPE_ENCODE.misconception(
    "A pair is joined from right to left",
    fails=BPE_ENCODE.all_but("words", "learned", "unknown", "whole", "long", "untouched"),
    hints=(
        "You are right but for letters that stand three times in a row: aaa gives a, aa.",
        "The places were gone through backwards.",
        "Read what the task says about where a pair is joined.",
    ),
)
def bpe_encode__from_the_right(word, merges):
    symbols = list(word)
    for pair in merges:
        i = len(symbols) - 2
        while i >= 0:
            if tuple(symbols[i : i + 2]) == pair:
                symbols[i : i + 2] = ["".join(pair)]
                i -= 1
            i -= 1
    return symbols


@BPE_ENCODE.misconception(
    "In aaa the pair is joined twice: aa, aa",
    fails=BPE_ENCODE.all_but("words", "learned", "unknown", "whole", "long", "untouched"),
    hints=(
        "Your pieces, put together, are longer than the word.",
        "Every place was joined, also those that share a letter. After a pair has been joined, go on behind it.",
        "Read what the task returns: joined, the pieces are the word.",
    ),
)
def bpe_encode__overlapping(word, merges):
    symbols = list(word)
    for pair in merges:
        hits = [neighbours == pair for neighbours in pairwise(symbols)] + [False]
        after = [False, *hits[:-1]]
        symbols = [
            "".join(pair) if hit else symbol
            for symbol, hit, used in zip(symbols, hits, after, strict=True)
            if hit or not used
        ]
    return symbols


@BPE_ENCODE.misconception(
    "The last symbol is lost",
    fails=BPE_ENCODE.all_but(),
    hints=(
        "Your pieces, put together, are shorter than the word.",
        "When the symbols were written anew, the loop ran over pairs, and a last symbol without a partner was left "
        "out.",
        "Read what the task returns: joined, the pieces are the word.",
    ),
)
def bpe_encode__last_symbol_lost(word, merges):
    symbols = list(word)
    for pair in merges:
        joined, i = [], 0
        while i < len(symbols) - 1:
            if (symbols[i], symbols[i + 1]) == pair:
                joined.append("".join(pair))
                i += 2
            else:
                joined.append(symbols[i])
                i += 1
        symbols = joined
    return symbols


@BPE_ENCODE.misconception(
    "Symbols are joined by replacing text: parts of symbols are taken for symbols",
    fails=BPE_ENCODE.all_but("whole"),
    hints=(
        "Your pieces are mostly right, but some are joined that are not among the merges.",
        "The symbols stand in a text with spaces between them, and a b was replaced by ab everywhere: also in xa b, "
        "where xa is one symbol. Compare whole symbols.",
        "Read what the task says about neighbours: they are symbols, not letters.",
    ),
)
def bpe_encode__text_replaced(word, merges):
    spelled = " ".join(word)
    for pair in merges:
        spelled = spelled.replace(" ".join(pair), "".join(pair))
    return spelled.split()


@BPE_ENCODE.misconception(
    "Characters that no merge knows are dropped",
    fails=BPE_ENCODE.all_but("words", "rows", "long", "untouched"),
    hints=(
        "Your pieces, put together, are shorter than the word.",
        "Only symbols that occur in the merges were kept. A character that no merge knows is a piece of its own.",
        "Read what the task says about the characters of the word.",
    ),
)
def bpe_encode__unknown_dropped(word, merges):
    letters = {letter for pair in merges for part in pair for letter in part}
    symbols = [letter for letter in word if letter in letters]
    for pair in merges:
        i = 0
        while i < len(symbols) - 1:
            if (symbols[i], symbols[i + 1]) == pair:
                symbols[i : i + 2] = ["".join(pair)]
            i += 1
    return symbols


@BPE_ENCODE.misconception(
    "The pieces are returned as one text",
    fails=BPE_ENCODE.all_but(),
    hints=(
        "You return a string; a list of strings is asked for.",
        "The pieces were put together with spaces between them.",
        "Read what the task returns.",
    ),
)
def bpe_encode__joined_with_spaces(word, merges):
    symbols = list(word)
    for pair in merges:
        i = 0
        while i < len(symbols) - 1:
            if (symbols[i], symbols[i + 1]) == pair:
                symbols[i : i + 2] = ["".join(pair)]
            i += 1
    return " ".join(symbols)


@BPE_ENCODE.misconception(
    "The pair that gives the longest symbol is joined first",
    fails=BPE_ENCODE.all_but("rows", "whole"),
    hints=(
        "Your pieces are right as long as no two possible pairs overlap.",
        "Of the possible pairs the longest one was preferred. It is the one that was learned first.",
        _RANK,
    ),
)
def bpe_encode__length_first(word, merges):
    rank = {pair: place for place, pair in enumerate(merges)}
    symbols = list(word)
    while True:
        found = [(-len("".join(pair)), rank[pair], i) for i, pair in enumerate(pairwise(symbols)) if pair in rank]
        if not found:
            return symbols
        i = min(found)[-1]
        symbols[i : i + 2] = [symbols[i] + symbols[i + 1]]


# ---- 11.5 generate ----

GENERATE = Exercise(
    number="11.5",
    references=(gpt.generate,),
    probe_module=probes,
    points=4,
    minutes=35,
    difficulty=3,
    equivalent={
        "chosen = last.argmax(dim=1) if pick is None else pick(last)": "last has two axes, and the last of them is 1."
    },
)
_FULL = "Read what the task says about more tokens than context: what is read, where does it stand, what is past?"
_ONCE = "Read what the task says about the cache: what does each call read, where, and together with what?"


@GENERATE.misconception(
    "With the cache every new token stands at position 0",
    fails=GENERATE.all_but("plain", "plain_long", "long_beginning", "reads_all"),
    hints=(
        "Without the cache you are right. With it, the positions of the later calls begin at 0 again.",
        "The positions were counted within what is read, and with the cache that is one token. Its place is the "
        "number of tokens before it.",
        _ONCE,
    ),
)
def generate__positions_restart(model, ids, n, context, cache=True, pick=None):
    past = None
    for _ in range(n):
        length = ids.shape[1]
        if past is None or length > context:
            past, read = None, ids[:, -context:]
            positions = torch.arange(read.shape[1])
        else:
            read, positions = ids[:, -1:], torch.tensor([0])
        logits, kv = model(read, positions, past)
        if cache:
            past = kv if past is None else torch.cat([past, kv], dim=1)
        last = logits[:, -1]
        chosen = last.argmax(dim=-1) if pick is None else pick(last)
        ids = torch.cat([ids, chosen[:, None]], dim=1)
    return ids


@GENERATE.misconception(
    "With the cache a new token stands one place too late",
    fails=GENERATE.all_but("plain", "plain_long", "long_beginning", "reads_all"),
    hints=(
        "Without the cache you are right. With it, one position is left out.",
        "The new token was counted twice: the last of length tokens stands at length - 1.",
        _ONCE,
    ),
)
def generate__position_one_late(model, ids, n, context, cache=True, pick=None):
    past = None
    for _ in range(n):
        length = ids.shape[1]
        if past is None or length > context:
            past, read = None, ids[:, -context:]
            positions = torch.arange(read.shape[1])
        else:
            read, positions = ids[:, -1:], torch.tensor([length])
        logits, kv = model(read, positions, past)
        if cache:
            past = kv if past is None else torch.cat([past, kv], dim=1)
        last = logits[:, -1]
        chosen = last.argmax(dim=-1) if pick is None else pick(last)
        ids = torch.cat([ids, chosen[:, None]], dim=1)
    return ids


@GENERATE.misconception(
    "With the cache a new token stands where the last one stood",
    fails=GENERATE.all_but("plain", "plain_long", "long_beginning", "reads_all"),
    hints=(
        "Without the cache you are right. With it, one position comes twice.",
        "The new token has the position of the one before it.",
        _ONCE,
    ),
)
def generate__position_one_early(model, ids, n, context, cache=True, pick=None):
    past = None
    for _ in range(n):
        length = ids.shape[1]
        if past is None or length > context:
            past, read = None, ids[:, -context:]
            positions = torch.arange(read.shape[1])
        else:
            read, positions = ids[:, -1:], torch.tensor([length - 2])
        logits, kv = model(read, positions, past)
        if cache:
            past = kv if past is None else torch.cat([past, kv], dim=1)
        last = logits[:, -1]
        chosen = last.argmax(dim=-1) if pick is None else pick(last)
        ids = torch.cat([ids, chosen[:, None]], dim=1)
    return ids


@GENERATE.misconception(
    "The cache is replaced, not appended to",
    fails=GENERATE.all_but("plain", "plain_long", "long_beginning", "reads_all"),
    hints=(
        "Without the cache you are right. With it, the model sees at each step only the token before.",
        "past was set to the keys and values that the model has just returned. Those are of the new tokens alone; "
        "put them behind the old ones.",
        "Read what the task says about what the model returns.",
    ),
)
def generate__not_appended(model, ids, n, context, cache=True, pick=None):
    past = None
    for _ in range(n):
        length = ids.shape[1]
        if past is None or length > context:
            past, read = None, ids[:, -context:]
            positions = torch.arange(read.shape[1])
        else:
            read, positions = ids[:, -1:], torch.tensor([length - 1])
        logits, kv = model(read, positions, past)
        if cache:
            past = kv
        last = logits[:, -1]
        chosen = last.argmax(dim=-1) if pick is None else pick(last)
        ids = torch.cat([ids, chosen[:, None]], dim=1)
    return ids


@GENERATE.misconception(
    "The cache keeps the beginning and nothing that was written",
    fails=GENERATE.all_but("plain", "plain_long", "long_beginning", "reads_all"),
    hints=(
        "Without the cache you are right. With it, the model does not know what it has written itself, but for the "
        "last token.",
        "past was filled once and never grows. The keys and values of each new token belong behind the old ones.",
        "Read what the task says about past.",
    ),
)
def generate__only_beginning_kept(model, ids, n, context, cache=True, pick=None):
    past = None
    for _ in range(n):
        length = ids.shape[1]
        if past is None or length > context:
            past, read = None, ids[:, -context:]
            positions = torch.arange(read.shape[1])
        else:
            read, positions = ids[:, -1:], torch.tensor([length - 1])
        logits, kv = model(read, positions, past)
        if cache:
            past = kv if past is None else past
        last = logits[:, -1]
        chosen = last.argmax(dim=-1) if pick is None else pick(last)
        ids = torch.cat([ids, chosen[:, None]], dim=1)
    return ids


@GENERATE.misconception(
    "New keys and values are put in front of the old ones",
    fails=GENERATE.all_but(
        "plain", "cached", "plain_long", "cached_long", "long_beginning", "pick", "reads_all", "untouched"
    ),
    hints=(
        "Your tokens are right here, but past is not in the order of the tokens.",
        "The order of the two was exchanged in cat. A model that masks by place would look at the wrong tokens.",
        "Read what the task says about past: in which order?",
    ),
)
def generate__put_in_front(model, ids, n, context, cache=True, pick=None):
    past = None
    for _ in range(n):
        length = ids.shape[1]
        if past is None or length > context:
            past, read = None, ids[:, -context:]
            positions = torch.arange(read.shape[1])
        else:
            read, positions = ids[:, -1:], torch.tensor([length - 1])
        logits, kv = model(read, positions, past)
        if cache:
            past = kv if past is None else torch.cat([kv, past], dim=1)
        last = logits[:, -1]
        chosen = last.argmax(dim=-1) if pick is None else pick(last)
        ids = torch.cat([ids, chosen[:, None]], dim=1)
    return ids


@GENERATE.misconception(
    "All tokens are read again, and the cache is given too",
    fails=GENERATE.all_but("plain", "plain_long", "long_beginning", "reads_all"),
    hints=(
        "Without the cache you are right. With it, the model sees every token several times.",
        "What is read and what is known overlap. With the cache only the new token is read.",
        _ONCE,
    ),
)
def generate__all_read_with_past(model, ids, n, context, cache=True, pick=None):
    past = None
    for _ in range(n):
        if ids.shape[1] > context:
            past = None
        read = ids[:, -context:]
        logits, kv = model(read, torch.arange(read.shape[1]), past)
        if cache:
            past = kv if past is None else torch.cat([past, kv], dim=1)
        last = logits[:, -1]
        chosen = last.argmax(dim=-1) if pick is None else pick(last)
        ids = torch.cat([ids, chosen[:, None]], dim=1)
    return ids


@GENERATE.misconception(
    "The new token is read together with the one before it",
    fails=GENERATE.all_but("plain", "plain_long", "long_beginning", "reads_all"),
    hints=(
        "Without the cache you are right. With it, each call reads two tokens.",
        "The one before the new token has been read, and its keys and values are in past: the model sees it twice.",
        _ONCE,
    ),
)
def generate__last_twice(model, ids, n, context, cache=True, pick=None):
    past = None
    for _ in range(n):
        length = ids.shape[1]
        if past is None or length > context:
            past, read = None, ids[:, -context:]
            positions = torch.arange(read.shape[1])
        else:
            read, positions = ids[:, -2:], torch.tensor([length - 2, length - 1])
        logits, kv = model(read, positions, past)
        if cache:
            past = kv if past is None else torch.cat([past, kv], dim=1)
        last = logits[:, -1]
        chosen = last.argmax(dim=-1) if pick is None else pick(last)
        ids = torch.cat([ids, chosen[:, None]], dim=1)
    return ids


@GENERATE.misconception(
    "The cache is never used",
    fails=GENERATE.all_but(
        "plain", "cached", "plain_long", "cached_long", "long_beginning", "pick", "reads_all", "untouched"
    ),
    hints=(
        "Your tokens are right. But with the cache all is read again in each call.",
        "That is the slow way, whatever cache says: each call costs as much as the whole text.",
        _ONCE,
    ),
)
def generate__cache_unused(model, ids, n, context, cache=True, pick=None):
    for _ in range(n):
        read = ids[:, -context:]
        logits, _ = model(read, torch.arange(read.shape[1]), None)
        last = logits[:, -1]
        chosen = last.argmax(dim=-1) if pick is None else pick(last)
        ids = torch.cat([ids, chosen[:, None]], dim=1)
    return ids


@GENERATE.misconception(
    "The cache is used even if it should not be",
    fails=GENERATE.all_but(
        "plain", "cached", "plain_long", "cached_long", "long_beginning", "pick", "reads_once", "full", "untouched"
    ),
    hints=(
        "Your tokens are right. But without the cache each call reads only one token.",
        "The argument cache is not looked at. It is there so that the two ways can be compared.",
        "Read what the task says about the cache: what happens without it?",
    ),
)
def generate__always_cached(model, ids, n, context, cache=True, pick=None):
    past = None
    for _ in range(n):
        length = ids.shape[1]
        if past is None or length > context:
            past, read = None, ids[:, -context:]
            positions = torch.arange(read.shape[1])
        else:
            read, positions = ids[:, -1:], torch.tensor([length - 1])
        logits, kv = model(read, positions, past)
        past = kv if past is None else torch.cat([past, kv], dim=1)
        last = logits[:, -1]
        chosen = last.argmax(dim=-1) if pick is None else pick(last)
        ids = torch.cat([ids, chosen[:, None]], dim=1)
    return ids


@GENERATE.misconception(
    "Only the last token is read, and nothing of what came before",
    fails=GENERATE.all_but("long_beginning"),
    hints=(
        "After the first call the model sees one token, and no past.",
        "The keys and values that the model returns are thrown away. Without them a single token knows nothing of "
        "the text.",
        _ONCE,
    ),
)
def generate__token_without_past(model, ids, n, context, cache=True, pick=None):
    for step in range(n):
        length = ids.shape[1]
        if step == 0 or length > context:
            read = ids[:, -context:]
            positions = torch.arange(read.shape[1])
        else:
            read, positions = ids[:, -1:], torch.tensor([length - 1])
        logits, _ = model(read, positions, None)
        last = logits[:, -1]
        chosen = last.argmax(dim=-1) if pick is None else pick(last)
        ids = torch.cat([ids, chosen[:, None]], dim=1)
    return ids


@GENERATE.misconception(
    "The context is not cropped",
    fails=GENERATE.all_but("plain", "cached", "pick", "reads_once", "untouched"),
    hints=(
        "You are right as long as all tokens fit. Then the model is given more tokens than it can take in.",
        "context is not looked at. A GPT has no position vector for the token after the last place, and stops with "
        "an error.",
        _FULL,
    ),
)
def generate__not_cropped(model, ids, n, context, cache=True, pick=None):
    past = None
    for _ in range(n):
        length = ids.shape[1]
        if past is None:
            read, positions = ids, torch.arange(length)
        else:
            read, positions = ids[:, -1:], torch.tensor([length - 1])
        logits, kv = model(read, positions, past)
        if cache:
            past = kv if past is None else torch.cat([past, kv], dim=1)
        last = logits[:, -1]
        chosen = last.argmax(dim=-1) if pick is None else pick(last)
        ids = torch.cat([ids, chosen[:, None]], dim=1)
    return ids


@GENERATE.misconception(
    "With the cache, the context is not cropped",
    fails=GENERATE.all_but("plain", "cached", "plain_long", "pick", "reads_once", "reads_all", "untouched"),
    hints=(
        "Without the cache you are right. With it, positions run on beyond the context.",
        "Only the first call looked at context. With every token past grows, until it holds more than the model can "
        "take in.",
        _FULL,
    ),
)
def generate__cached_not_cropped(model, ids, n, context, cache=True, pick=None):
    past = None
    for _ in range(n):
        length = ids.shape[1]
        if past is None:
            past, read = None, ids[:, -context:]
            positions = torch.arange(read.shape[1])
        else:
            read, positions = ids[:, -1:], torch.tensor([length - 1])
        logits, kv = model(read, positions, past)
        if cache:
            past = kv if past is None else torch.cat([past, kv], dim=1)
        last = logits[:, -1]
        chosen = last.argmax(dim=-1) if pick is None else pick(last)
        ids = torch.cat([ids, chosen[:, None]], dim=1)
    return ids


@GENERATE.misconception(
    "A beginning that is longer than the context is read whole",
    fails=GENERATE.all_but(
        "plain", "cached", "plain_long", "cached_long", "pick", "reads_once", "full", "reads_all", "untouched"
    ),
    hints=(
        "You are right for short beginnings. A long one is given to the model whole in the first call.",
        "The context was looked at only after the first token was written. The beginning may be longer than context.",
        _FULL,
    ),
)
def generate__beginning_not_cropped(model, ids, n, context, cache=True, pick=None):
    past = None
    for step in range(n):
        length = ids.shape[1]
        if past is None or length > context:
            past, read = None, ids if step == 0 else ids[:, -context:]
            positions = torch.arange(read.shape[1])
        else:
            read, positions = ids[:, -1:], torch.tensor([length - 1])
        logits, kv = model(read, positions, past)
        if cache:
            past = kv if past is None else torch.cat([past, kv], dim=1)
        last = logits[:, -1]
        chosen = last.argmax(dim=-1) if pick is None else pick(last)
        ids = torch.cat([ids, chosen[:, None]], dim=1)
    return ids


@GENERATE.misconception(
    "The first tokens are kept, not the last",
    fails=GENERATE.all_but("plain", "cached", "pick", "reads_once", "untouched"),
    hints=(
        "You are right as long as all tokens fit. Then the model reads the beginning again and again.",
        "The text was cropped at the wrong end: [:, :context] is its beginning. What is to be continued is its end.",
        _FULL,
    ),
)
def generate__beginning_kept(model, ids, n, context, cache=True, pick=None):
    past = None
    for _ in range(n):
        length = ids.shape[1]
        if past is None or length > context:
            past, read = None, ids[:, :context]
            positions = torch.arange(read.shape[1])
        else:
            read, positions = ids[:, -1:], torch.tensor([length - 1])
        logits, kv = model(read, positions, past)
        if cache:
            past = kv if past is None else torch.cat([past, kv], dim=1)
        last = logits[:, -1]
        chosen = last.argmax(dim=-1) if pick is None else pick(last)
        ids = torch.cat([ids, chosen[:, None]], dim=1)
    return ids


@GENERATE.misconception(
    "When the context is full, the positions run on",
    fails=GENERATE.all_but("plain", "cached", "pick", "reads_once", "untouched"),
    hints=(
        "You read the right tokens. But when there are more than context, their positions are those in the whole text.",
        "The last context tokens stand at the positions 0, 1, …: the model has no others.",
        _FULL,
    ),
)
def generate__positions_run_on(model, ids, n, context, cache=True, pick=None):
    past = None
    for _ in range(n):
        length = ids.shape[1]
        if past is None or length > context:
            past, read = None, ids[:, -context:]
            positions = torch.arange(length - read.shape[1], length)
        else:
            read, positions = ids[:, -1:], torch.tensor([length - 1])
        logits, kv = model(read, positions, past)
        if cache:
            past = kv if past is None else torch.cat([past, kv], dim=1)
        last = logits[:, -1]
        chosen = last.argmax(dim=-1) if pick is None else pick(last)
        ids = torch.cat([ids, chosen[:, None]], dim=1)
    return ids


@GENERATE.misconception(
    "When the context is full, the oldest keys are dropped and the others kept",
    fails=GENERATE.all_but("plain", "cached", "plain_long", "pick", "reads_once", "reads_all", "untouched"),
    hints=(
        "Without the cache you are right. With it, the last tokens differ when the context is full.",
        "The cache was cropped. But its keys and values were made at other positions, and from tokens that are no "
        "longer there; the new token has no place of its own any more.",
        _FULL,
    ),
)
def generate__cache_slides(model, ids, n, context, cache=True, pick=None):
    past = None
    for _ in range(n):
        length = ids.shape[1]
        if past is None:
            read = ids[:, -context:]
            positions = torch.arange(read.shape[1])
        else:
            read, positions = ids[:, -1:], torch.tensor([min(length, context) - 1])
            past = past[:, -(context - 1) :]
        logits, kv = model(read, positions, past)
        if cache:
            past = kv if past is None else torch.cat([past, kv], dim=1)
        last = logits[:, -1]
        chosen = last.argmax(dim=-1) if pick is None else pick(last)
        ids = torch.cat([ids, chosen[:, None]], dim=1)
    return ids


@GENERATE.misconception(
    "When the context is full, the oldest keys are dropped, and the positions run on",
    fails=GENERATE.all_but("plain", "cached", "plain_long", "pick", "reads_once", "reads_all", "untouched"),
    hints=(
        "Without the cache you are right. With it, the model is asked about positions that it does not have.",
        "The cache was cropped and never read anew, and the new token has its place in the whole text. But the keys "
        "were made at other positions, and no position is as high as context.",
        _FULL,
    ),
)
def generate__cache_slides_on(model, ids, n, context, cache=True, pick=None):
    past = None
    for _ in range(n):
        length = ids.shape[1]
        if past is None:
            read = ids[:, -context:]
            positions = torch.arange(read.shape[1])
        else:
            read, positions = ids[:, -1:], torch.tensor([length - 1])
            past = past[:, -(context - 1) :]
        logits, kv = model(read, positions, past)
        if cache:
            past = kv if past is None else torch.cat([past, kv], dim=1)
        last = logits[:, -1]
        chosen = last.argmax(dim=-1) if pick is None else pick(last)
        ids = torch.cat([ids, chosen[:, None]], dim=1)
    return ids


@GENERATE.misconception(
    "When the context is full, all is read anew, but past is kept",
    fails=GENERATE.all_but("plain", "cached", "plain_long", "pick", "reads_once", "reads_all", "untouched"),
    hints=(
        "You read the right tokens at the right places. But past is given too when the context is full.",
        "The old keys and values belong to other positions, and to tokens that are read now anyway.",
        _FULL,
    ),
)
def generate__past_kept_when_full(model, ids, n, context, cache=True, pick=None):
    past = None
    for _ in range(n):
        length = ids.shape[1]
        if past is None or length > context:
            read = ids[:, -context:]
            positions = torch.arange(read.shape[1])
        else:
            read, positions = ids[:, -1:], torch.tensor([length - 1])
        logits, kv = model(read, positions, past)
        if cache:
            past = kv if past is None else torch.cat([past, kv], dim=1)
        last = logits[:, -1]
        chosen = last.argmax(dim=-1) if pick is None else pick(last)
        ids = torch.cat([ids, chosen[:, None]], dim=1)
    return ids


@GENERATE.misconception(
    "The context is taken as full one token too early",
    fails=GENERATE.all_but(
        "plain", "cached", "plain_long", "cached_long", "long_beginning", "pick", "reads_once", "reads_all", "untouched"
    ),
    hints=(
        "Your tokens are right. But when all tokens just fill the context, you read them all again.",
        "With length = context there is still a place for the new token: it is the last one.",
        _FULL,
    ),
)
def generate__cropped_too_early(model, ids, n, context, cache=True, pick=None):
    past = None
    for _ in range(n):
        length = ids.shape[1]
        if past is None or length >= context:
            past, read = None, ids[:, -context:]
            positions = torch.arange(read.shape[1])
        else:
            read, positions = ids[:, -1:], torch.tensor([length - 1])
        logits, kv = model(read, positions, past)
        if cache:
            past = kv if past is None else torch.cat([past, kv], dim=1)
        last = logits[:, -1]
        chosen = last.argmax(dim=-1) if pick is None else pick(last)
        ids = torch.cat([ids, chosen[:, None]], dim=1)
    return ids


@GENERATE.misconception(
    "One token too few is read when the context is full",
    fails=GENERATE.all_but("plain", "cached", "pick", "reads_once", "untouched"),
    hints=(
        "When there are more tokens than context, you read one too few.",
        "A place was kept free for the new token. It is not read in this call; context tokens fit.",
        _FULL,
    ),
)
def generate__one_token_less(model, ids, n, context, cache=True, pick=None):
    past = None
    for _ in range(n):
        length = ids.shape[1]
        if past is None or length > context:
            past, read = None, ids[:, -context:] if length <= context else ids[:, 1 - context :]
            positions = torch.arange(read.shape[1])
        else:
            read, positions = ids[:, -1:], torch.tensor([length - 1])
        logits, kv = model(read, positions, past)
        if cache:
            past = kv if past is None else torch.cat([past, kv], dim=1)
        last = logits[:, -1]
        chosen = last.argmax(dim=-1) if pick is None else pick(last)
        ids = torch.cat([ids, chosen[:, None]], dim=1)
    return ids


@GENERATE.misconception(
    "The scores after the first token are taken",
    fails=GENERATE.all_but(),
    hints=(
        "Your first token does not depend on the whole beginning.",
        "The model returns scores after each token that it has read. What comes next is said after the last.",
        "Read what the task says about what the model returns, and about what it says after the last token.",
    ),
)
def generate__first_logits(model, ids, n, context, cache=True, pick=None):
    past = None
    for _ in range(n):
        length = ids.shape[1]
        if past is None or length > context:
            past, read = None, ids[:, -context:]
            positions = torch.arange(read.shape[1])
        else:
            read, positions = ids[:, -1:], torch.tensor([length - 1])
        logits, kv = model(read, positions, past)
        if cache:
            past = kv if past is None else torch.cat([past, kv], dim=1)
        last = logits[:, 0]
        chosen = last.argmax(dim=-1) if pick is None else pick(last)
        ids = torch.cat([ids, chosen[:, None]], dim=1)
    return ids


@GENERATE.misconception(
    "The scores after the last but one token are taken",
    fails=GENERATE.all_but(),
    hints=(
        "What you write is what should have been said one token earlier.",
        "The last row of scores is about the token after the last. It is not lost: it is the one that is asked for.",
        "Read what the task says about what the model returns, and about what it says after the last token.",
    ),
)
def generate__logits_before_last(model, ids, n, context, cache=True, pick=None):
    past = None
    for _ in range(n):
        length = ids.shape[1]
        if past is None or length > context:
            past, read = None, ids[:, -context:]
            positions = torch.arange(read.shape[1])
        else:
            read, positions = ids[:, -1:], torch.tensor([length - 1])
        logits, kv = model(read, positions, past)
        if cache:
            past = kv if past is None else torch.cat([past, kv], dim=1)
        last = logits[:, max(logits.shape[1] - 2, 0)]
        chosen = last.argmax(dim=-1) if pick is None else pick(last)
        ids = torch.cat([ids, chosen[:, None]], dim=1)
    return ids


@GENERATE.misconception(
    "The scores are looked up at the place in the first call's beginning",
    fails=GENERATE.all_but("cached", "long_beginning", "reads_once", "untouched"),
    hints=(
        "Your first token is right; without the cache, all others come from the same place.",
        "The index was computed once, from the length of the beginning. The last row is meant, however many there are.",
        "Read what the task says about what the model returns, and about what it says after the last token.",
    ),
)
def generate__logits_at_length(model, ids, n, context, cache=True, pick=None):
    past, T = None, ids.shape[1]
    for _ in range(n):
        length = ids.shape[1]
        if past is None or length > context:
            past, read = None, ids[:, -context:]
            positions = torch.arange(read.shape[1])
        else:
            read, positions = ids[:, -1:], torch.tensor([length - 1])
        logits, kv = model(read, positions, past)
        if cache:
            past = kv if past is None else torch.cat([past, kv], dim=1)
        last = logits[:, min(T, logits.shape[1]) - 1]
        chosen = last.argmax(dim=-1) if pick is None else pick(last)
        ids = torch.cat([ids, chosen[:, None]], dim=1)
    return ids


@GENERATE.misconception(
    "pick is ignored",
    fails=GENERATE.all_but(
        "plain", "cached", "plain_long", "cached_long", "long_beginning", "reads_once", "full", "reads_all", "untouched"
    ),
    hints=(
        "You always write the token with the highest score.",
        "The argument pick is not used. It is how one draws from the model.",
        "Read what the task says about pick.",
    ),
)
def generate__pick_ignored(model, ids, n, context, cache=True, pick=None):
    past = None
    for _ in range(n):
        length = ids.shape[1]
        if past is None or length > context:
            past, read = None, ids[:, -context:]
            positions = torch.arange(read.shape[1])
        else:
            read, positions = ids[:, -1:], torch.tensor([length - 1])
        logits, kv = model(read, positions, past)
        if cache:
            past = kv if past is None else torch.cat([past, kv], dim=1)
        last = logits[:, -1]
        chosen = last.argmax(dim=-1)
        ids = torch.cat([ids, chosen[:, None]], dim=1)
    return ids


@GENERATE.misconception(
    "All rows get the token of the first row",
    fails=GENERATE.all_but(),
    hints=(
        "What you write is the same in all rows.",
        "One token was chosen for the whole batch. Each row of scores has its own.",
        "Read what the task says about pick: how many tokens does it choose?",
    ),
)
def generate__first_row_for_all(model, ids, n, context, cache=True, pick=None):
    past = None
    for _ in range(n):
        length = ids.shape[1]
        if past is None or length > context:
            past, read = None, ids[:, -context:]
            positions = torch.arange(read.shape[1])
        else:
            read, positions = ids[:, -1:], torch.tensor([length - 1])
        logits, kv = model(read, positions, past)
        if cache:
            past = kv if past is None else torch.cat([past, kv], dim=1)
        last = logits[:, -1]
        chosen = (last.argmax(dim=-1) if pick is None else pick(last))[:1].expand(len(ids))
        ids = torch.cat([ids, chosen[:, None]], dim=1)
    return ids


@GENERATE.misconception(
    "Only the new tokens are returned",
    fails=GENERATE.all_but(),
    hints=(
        "Your tokens are right, but the beginning is missing.",
        "The beginning belongs to the result.",
        "Read what the task returns.",
    ),
)
def generate__only_new(model, ids, n, context, cache=True, pick=None):
    past, T = None, ids.shape[1]
    for _ in range(n):
        length = ids.shape[1]
        if past is None or length > context:
            past, read = None, ids[:, -context:]
            positions = torch.arange(read.shape[1])
        else:
            read, positions = ids[:, -1:], torch.tensor([length - 1])
        logits, kv = model(read, positions, past)
        if cache:
            past = kv if past is None else torch.cat([past, kv], dim=1)
        last = logits[:, -1]
        chosen = last.argmax(dim=-1) if pick is None else pick(last)
        ids = torch.cat([ids, chosen[:, None]], dim=1)
    return ids[:, T:]


@GENERATE.misconception(
    "Only the last context tokens are returned",
    fails=GENERATE.all_but("plain", "cached", "pick", "reads_once", "untouched"),
    hints=(
        "You are right as long as all tokens fit. Then the beginning of the text is lost.",
        "The text itself was cropped, not only what is read.",
        "Read what the task returns.",
    ),
)
def generate__cropped_result(model, ids, n, context, cache=True, pick=None):
    past = None
    for _ in range(n):
        length = ids.shape[1]
        if past is None or length > context:
            past, read = None, ids[:, -context:]
            positions = torch.arange(read.shape[1])
        else:
            read, positions = ids[:, -1:], torch.tensor([length - 1])
        logits, kv = model(read, positions, past)
        if cache:
            past = kv if past is None else torch.cat([past, kv], dim=1)
        last = logits[:, -1]
        chosen = last.argmax(dim=-1) if pick is None else pick(last)
        ids = torch.cat([ids, chosen[:, None]], dim=1)
    return ids[:, -max(context, n) :]


@GENERATE.misconception(
    "One token too many is written",
    fails=GENERATE.all_but(),
    hints=(
        "Your tokens are right, but there is one too many.",
        "The loop runs n + 1 times.",
        "Read what the task returns.",
    ),
)
def generate__one_token_more(model, ids, n, context, cache=True, pick=None):
    past = None
    for _ in range(n + 1):
        length = ids.shape[1]
        if past is None or length > context:
            past, read = None, ids[:, -context:]
            positions = torch.arange(read.shape[1])
        else:
            read, positions = ids[:, -1:], torch.tensor([length - 1])
        logits, kv = model(read, positions, past)
        if cache:
            past = kv if past is None else torch.cat([past, kv], dim=1)
        last = logits[:, -1]
        chosen = last.argmax(dim=-1) if pick is None else pick(last)
        ids = torch.cat([ids, chosen[:, None]], dim=1)
    return ids


@GENERATE.misconception(
    "n is taken as the length of the result",
    fails=GENERATE.all_but(),
    hints=(
        "You stop when the text has n tokens.",
        "n new tokens are asked for, whatever the beginning's length.",
        "Read what the task returns.",
    ),
)
def generate__up_to_n(model, ids, n, context, cache=True, pick=None):
    past = None
    for _ in range(n - ids.shape[1]):
        length = ids.shape[1]
        if past is None or length > context:
            past, read = None, ids[:, -context:]
            positions = torch.arange(read.shape[1])
        else:
            read, positions = ids[:, -1:], torch.tensor([length - 1])
        logits, kv = model(read, positions, past)
        if cache:
            past = kv if past is None else torch.cat([past, kv], dim=1)
        last = logits[:, -1]
        chosen = last.argmax(dim=-1) if pick is None else pick(last)
        ids = torch.cat([ids, chosen[:, None]], dim=1)
    return ids


@GENERATE.misconception(
    "The model reads the beginning only, and never what was written",
    fails=GENERATE.all_but(),
    hints=(
        "All the tokens you write are the same as the first one.",
        "The model is given the beginning in every call. What it has written has to be read, too.",
        "Read the equation: what does the model read?",
    ),
)
def generate__beginning_repeated(model, ids, n, context, cache=True, pick=None):
    beginning = ids[:, -context:]
    for _ in range(n):
        logits, _ = model(beginning, torch.arange(beginning.shape[1]), None)
        last = logits[:, -1]
        chosen = last.argmax(dim=-1) if pick is None else pick(last)
        ids = torch.cat([ids, chosen[:, None]], dim=1)
    return ids


# ---- 11.6 count_parameters ----

COUNT_PARAMETERS = Exercise(
    number="11.6",
    references=(gpt.count_parameters,),
    probe_module=probes,
    points=2,
    minutes=15,
    difficulty=1,
)
_TERMS = "Go through the equation term by term."


@COUNT_PARAMETERS.misconception(
    "The table of tokens is counted twice",
    fails=COUNT_PARAMETERS.all_but("more"),
    hints=(
        "You have V times D too many.",
        "The output was counted as a matrix of its own. It is the table of token vectors, used a second time.",
        "Read what the task says about the scores of the next token.",
    ),
)
def count_parameters__tied_twice(cfg):
    D, F = cfg.D, cfg.d_ff
    tables = 2 * cfg.V * D + cfg.context * D
    attention = 4 * (D * D + D)
    network = D * F + F + F * D + D
    norms = 2 * 2 * D
    return tables + cfg.layers * (attention + network + norms) + 2 * D


@COUNT_PARAMETERS.misconception(
    "The output has a bias",
    fails=COUNT_PARAMETERS.all_but("more"),
    hints=(
        "You have V too many.",
        "A number for each token was added. The output of GPT-2 is a product with the table and nothing else.",
        "Read what the task says about the scores of the next token.",
    ),
)
def count_parameters__output_bias(cfg):
    D, F = cfg.D, cfg.d_ff
    tables = cfg.V * D + cfg.context * D + cfg.V
    attention = 4 * (D * D + D)
    network = D * F + F + F * D + D
    norms = 2 * 2 * D
    return tables + cfg.layers * (attention + network + norms) + 2 * D


@COUNT_PARAMETERS.misconception(
    "The output is a layer of its own, with a bias",
    fails=COUNT_PARAMETERS.all_but("more"),
    hints=(
        "You have V (D + 1) too many.",
        "The output was counted as a linear layer. It is the table of token vectors, used a second time, without a "
        "bias.",
        "Read what the task says about the scores of the next token.",
    ),
)
def count_parameters__untied_linear(cfg):
    D, F = cfg.D, cfg.d_ff
    tables = 2 * cfg.V * D + cfg.context * D + cfg.V
    attention = 4 * (D * D + D)
    network = D * F + F + F * D + D
    norms = 2 * 2 * D
    return tables + cfg.layers * (attention + network + norms) + 2 * D


@COUNT_PARAMETERS.misconception(
    "The network has one matrix",
    fails=COUNT_PARAMETERS.all_but(),
    hints=(
        "D F is missing in each layer.",
        "The network goes up, from D to F, and down again, from F to D: two matrices.",
        _TERMS,
    ),
)
def count_parameters__one_matrix(cfg):
    D, F = cfg.D, cfg.d_ff
    tables = cfg.V * D + cfg.context * D
    attention = 4 * (D * D + D)
    network = D * F + F + D
    norms = 2 * 2 * D
    return tables + cfg.layers * (attention + network + norms) + 2 * D


@COUNT_PARAMETERS.misconception(
    "The biases are forgotten",
    fails=COUNT_PARAMETERS.all_but(),
    hints=(
        "What is missing grows with D and F, not with their squares.",
        "Every matrix of a block has a bias: four in the attention, two in the network.",
        _TERMS,
    ),
)
def count_parameters__no_biases(cfg):
    D, F = cfg.D, cfg.d_ff
    tables = cfg.V * D + cfg.context * D
    attention = 4 * D * D
    network = 2 * D * F
    norms = 2 * 2 * D
    return tables + cfg.layers * (attention + network + norms) + 2 * D


@COUNT_PARAMETERS.misconception(
    "The biases of the attention are forgotten",
    fails=COUNT_PARAMETERS.all_but(),
    hints=(
        "4 D are missing in each layer.",
        "Queries, keys, values and output each have a bias.",
        _TERMS,
    ),
)
def count_parameters__attention_biases(cfg):
    D, F = cfg.D, cfg.d_ff
    tables = cfg.V * D + cfg.context * D
    attention = 4 * D * D
    network = D * F + F + F * D + D
    norms = 2 * 2 * D
    return tables + cfg.layers * (attention + network + norms) + 2 * D


@COUNT_PARAMETERS.misconception(
    "The biases of the network are forgotten",
    fails=COUNT_PARAMETERS.all_but(),
    hints=(
        "F + D are missing in each layer.",
        "The hidden layer has a bias of F numbers, the output one of D.",
        _TERMS,
    ),
)
def count_parameters__network_biases(cfg):
    D, F = cfg.D, cfg.d_ff
    tables = cfg.V * D + cfg.context * D
    attention = 4 * (D * D + D)
    network = 2 * D * F
    norms = 2 * 2 * D
    return tables + cfg.layers * (attention + network + norms) + 2 * D


@COUNT_PARAMETERS.misconception(
    "12 L D² is taken for everything",
    fails=COUNT_PARAMETERS.all_but(),
    hints=(
        "You are near for large models, and far off for small ones.",
        "12 D² is what the matrices of a block hold if F = 4 D. Tables, biases and norms are missing.",
        _TERMS,
    ),
)
def count_parameters__twelve_l_d_squared(cfg):
    return 12 * cfg.layers * cfg.D**2


@COUNT_PARAMETERS.misconception(
    "The blocks are counted as 12 L D²",
    fails=COUNT_PARAMETERS.all_but(),
    hints=(
        "You are near if the network is four times as wide as the model, and far off otherwise.",
        "12 D² is a rule of thumb: it holds for F = 4 D, and leaves out biases and norms.",
        _TERMS,
    ),
)
def count_parameters__twelve_and_tables(cfg):
    return cfg.V * cfg.D + cfg.context * cfg.D + 12 * cfg.layers * cfg.D**2


@COUNT_PARAMETERS.misconception(
    "The network is taken as four times as wide as the model",
    fails=COUNT_PARAMETERS.all_but("four", "gpt2"),
    hints=(
        "You are right if d_ff = 4 D.",
        "d_ff was not looked at. Four is usual, but here the width is given.",
        _TERMS,
    ),
)
def count_parameters__four_times(cfg):
    D, F = cfg.D, 4 * cfg.D
    tables = cfg.V * D + cfg.context * D
    attention = 4 * (D * D + D)
    network = D * F + F + F * D + D
    norms = 2 * 2 * D
    return tables + cfg.layers * (attention + network + norms) + 2 * D


@COUNT_PARAMETERS.misconception(
    "The attention is counted once for each head",
    fails=COUNT_PARAMETERS.all_but(),
    hints=(
        "Your count grows with the number of heads.",
        "The heads share the width: each works on D / N features, and together they have the same matrices as one.",
        "Read in chapter 8 how the width is cut into heads.",
    ),
)
def count_parameters__heads_multiply(cfg):
    D, F = cfg.D, cfg.d_ff
    tables = cfg.V * D + cfg.context * D
    attention = 4 * cfg.n_heads * (D * D + D)
    network = D * F + F + F * D + D
    norms = 2 * 2 * D
    return tables + cfg.layers * (attention + network + norms) + 2 * D


@COUNT_PARAMETERS.misconception(
    "The matrix behind the heads is forgotten",
    fails=COUNT_PARAMETERS.all_but(),
    hints=(
        "D² + D are missing in each layer.",
        "Besides queries, keys and values there is the matrix W_o that mixes what the heads have found.",
        _TERMS,
    ),
)
def count_parameters__no_output_projection(cfg):
    D, F = cfg.D, cfg.d_ff
    tables = cfg.V * D + cfg.context * D
    attention = 3 * (D * D + D)
    network = D * F + F + F * D + D
    norms = 2 * 2 * D
    return tables + cfg.layers * (attention + network + norms) + 2 * D


@COUNT_PARAMETERS.misconception(
    "The positions are forgotten",
    fails=COUNT_PARAMETERS.all_but(),
    hints=(
        "One more place costs nothing in your count.",
        "GPT learns a vector for every place. Only sines and cosines cost nothing.",
        _TERMS,
    ),
)
def count_parameters__positions_forgotten(cfg):
    D, F = cfg.D, cfg.d_ff
    tables = cfg.V * D
    attention = 4 * (D * D + D)
    network = D * F + F + F * D + D
    norms = 2 * 2 * D
    return tables + cfg.layers * (attention + network + norms) + 2 * D


@COUNT_PARAMETERS.misconception(
    "The table of tokens is forgotten",
    fails=COUNT_PARAMETERS.all_but("more"),
    hints=(
        "V times D are missing.",
        "The tied table is counted once, not zero times.",
        _TERMS,
    ),
)
def count_parameters__tokens_forgotten(cfg):
    D, F = cfg.D, cfg.d_ff
    tables = cfg.context * D
    attention = 4 * (D * D + D)
    network = D * F + F + F * D + D
    norms = 2 * 2 * D
    return tables + cfg.layers * (attention + network + norms) + 2 * D


@COUNT_PARAMETERS.misconception(
    "The last norm is forgotten",
    fails=COUNT_PARAMETERS.all_but("more"),
    hints=(
        "2 D are missing, however many layers there are.",
        "One more norm stands between the last block and the output.",
        _TERMS,
    ),
)
def count_parameters__last_norm(cfg):
    D, F = cfg.D, cfg.d_ff
    tables = cfg.V * D + cfg.context * D
    attention = 4 * (D * D + D)
    network = D * F + F + F * D + D
    norms = 2 * 2 * D
    return tables + cfg.layers * (attention + network + norms)


@COUNT_PARAMETERS.misconception(
    "The norms are forgotten",
    fails=COUNT_PARAMETERS.all_but(),
    hints=(
        "4 D are missing in each layer, and 2 D at the end.",
        "A norm has a scale and a shift for each feature. There are two in each block, and one at the end.",
        _TERMS,
    ),
)
def count_parameters__no_norms(cfg):
    D, F = cfg.D, cfg.d_ff
    tables = cfg.V * D + cfg.context * D
    attention = 4 * (D * D + D)
    network = D * F + F + F * D + D
    norms = 0
    return tables + cfg.layers * (attention + network + norms)


@COUNT_PARAMETERS.misconception(
    "There is one norm in each block",
    fails=COUNT_PARAMETERS.all_but(),
    hints=(
        "2 D are missing in each layer.",
        "Attention and network have a norm each.",
        _TERMS,
    ),
)
def count_parameters__one_norm(cfg):
    D, F = cfg.D, cfg.d_ff
    tables = cfg.V * D + cfg.context * D
    attention = 4 * (D * D + D)
    network = D * F + F + F * D + D
    norms = 2 * D
    return tables + cfg.layers * (attention + network + norms) + 2 * D


@COUNT_PARAMETERS.misconception(
    "The norms have a scale only",
    fails=COUNT_PARAMETERS.all_but(),
    hints=(
        "2 D are missing in each layer, and D at the end.",
        "A norm has a scale g and a shift b.",
        _TERMS,
    ),
)
def count_parameters__norms_without_shift(cfg):
    D, F = cfg.D, cfg.d_ff
    tables = cfg.V * D + cfg.context * D
    attention = 4 * (D * D + D)
    network = D * F + F + F * D + D
    norms = 2 * D
    return tables + cfg.layers * (attention + network + norms) + D


@COUNT_PARAMETERS.misconception(
    "There is one layer",
    fails=COUNT_PARAMETERS.all_but(),
    hints=(
        "Your count does not grow with the number of layers.",
        "Every block has parameters of its own.",
        _TERMS,
    ),
)
def count_parameters__one_layer(cfg):
    D, F = cfg.D, cfg.d_ff
    tables = cfg.V * D + cfg.context * D
    attention = 4 * (D * D + D)
    network = D * F + F + F * D + D
    norms = 2 * 2 * D
    return tables + attention + network + norms + 2 * D


@COUNT_PARAMETERS.misconception(
    "The norms of the blocks are counted once for all layers",
    fails=COUNT_PARAMETERS.all_but(),
    hints=(
        "A layer more costs 4 D too little.",
        "Each block has two norms of its own.",
        _TERMS,
    ),
)
def count_parameters__norms_once(cfg):
    D, F = cfg.D, cfg.d_ff
    tables = cfg.V * D + cfg.context * D
    attention = 4 * (D * D + D)
    network = D * F + F + F * D + D
    norms = 2 * 2 * D
    return tables + cfg.layers * (attention + network) + norms + 2 * D


# ---- 11.7 triple_example ----

TRIPLE_EXAMPLE = Exercise(
    number="11.7",
    references=(triples.triple_example,),
    probe_module=probes,
    points=2,
    minutes=15,
    difficulty=1,
)
_COUNTS = "Read what the task says about m_t: which token is said at step t?"


@TRIPLE_EXAMPLE.misconception(
    "Subject and relation are in the loss",
    fails=TRIPLE_EXAMPLE.all_but(),
    hints=(
        "Your mask is True everywhere.",
        "The model is to complete triples, not to invent subjects: what is given is not learned.",
        _COUNTS,
    ),
)
def triple_example__loss_on_all(s, r, o, eos):
    ids = torch.tensor([*s, *r, *o, eos])
    said = torch.arange(1, len(ids))
    return ids, torch.ones(len(said), dtype=torch.bool)


@TRIPLE_EXAMPLE.misconception(
    "The relation is in the loss",
    fails=TRIPLE_EXAMPLE.all_but(),
    hints=(
        "Your mask is True too early: at the relation.",
        "Subject and relation are both given when the model is asked.",
        _COUNTS,
    ),
)
def triple_example__loss_on_relation(s, r, o, eos):
    ids = torch.tensor([*s, *r, *o, eos])
    said = torch.arange(1, len(ids))
    return ids, said >= len(s)


@TRIPLE_EXAMPLE.misconception(
    "EOS is not in the loss",
    fails=TRIPLE_EXAMPLE.all_but(),
    hints=(
        "Your mask is False at its end.",
        "A model that has never been told where an object ends does not stop. EOS is to be said like a word.",
        _COUNTS,
    ),
)
def triple_example__eos_not_learned(s, r, o, eos):
    ids = torch.tensor([*s, *r, *o, eos])
    said = torch.arange(1, len(ids))
    return ids, (said >= len(s) + len(r)) & (said < len(ids) - 1)


@TRIPLE_EXAMPLE.misconception(
    "Every token equal to EOS is left out of the loss",
    fails=TRIPLE_EXAMPLE.all_but(),
    hints=(
        "Your mask is False wherever EOS is to be said.",
        "Tokens were compared with EOS as if it were a pad. It is to be learned, at its place.",
        _COUNTS,
    ),
)
def triple_example__eos_id_not_learned(s, r, o, eos):
    ids = torch.tensor([*s, *r, *o, eos])
    said = torch.arange(1, len(ids))
    return ids, (said >= len(s) + len(r)) & (ids[1:] != eos)


@TRIPLE_EXAMPLE.misconception(
    "The mask is shifted: the first token of the object is not learned",
    fails=TRIPLE_EXAMPLE.all_but(),
    hints=(
        "Your mask becomes True one step too late.",
        "It was laid on the tokens that are read. At the step that reads the last token of the relation, the first "
        "of the object is said.",
        _COUNTS,
    ),
)
def triple_example__one_late(s, r, o, eos):
    ids = torch.tensor([*s, *r, *o, eos])
    said = torch.arange(1, len(ids))
    return ids, said > len(s) + len(r)


@TRIPLE_EXAMPLE.misconception(
    "The mask is shifted: the last token of the relation is learned",
    fails=TRIPLE_EXAMPLE.all_but(),
    hints=(
        "Your mask becomes True one step too early.",
        "The shift between what is read and what is said was made twice.",
        _COUNTS,
    ),
)
def triple_example__one_early(s, r, o, eos):
    ids = torch.tensor([*s, *r, *o, eos])
    said = torch.arange(1, len(ids))
    return ids, said >= len(s) + len(r) - 1


@TRIPLE_EXAMPLE.misconception(
    "The mask has an entry for each token of ids",
    fails=TRIPLE_EXAMPLE.all_but(),
    hints=(
        "Your mask is one longer than asked for: it begins with an entry for the first token, which nobody says.",
        "The mask was laid on ids. The model says ids[1:]; there is one step less than there are tokens.",
        "Read what the task returns: how long is loss_mask?",
    ),
)
def triple_example__mask_of_tokens(s, r, o, eos):
    ids = torch.tensor([*s, *r, *o, eos])
    place = torch.arange(len(ids))
    return ids, place >= len(s) + len(r)


@TRIPLE_EXAMPLE.misconception(
    "EOS is missing",
    fails=TRIPLE_EXAMPLE.all_but(),
    hints=(
        "Your sequence ends with the object.",
        "Without EOS the model never learns where an object ends.",
        "Read the equation for w.",
    ),
)
def triple_example__eos_missing(s, r, o, eos):
    ids = torch.tensor([*s, *r, *o])
    said = torch.arange(1, len(ids))
    return ids, said >= len(s) + len(r)


@TRIPLE_EXAMPLE.misconception(
    "The relation comes first",
    fails=TRIPLE_EXAMPLE.all_but("said"),
    hints=(
        "Your sequence begins with the relation.",
        "The order is subject, relation, object.",
        "Read the equation for w.",
    ),
)
def triple_example__relation_first(s, r, o, eos):
    ids = torch.tensor([*r, *s, *o, eos])
    said = torch.arange(1, len(ids))
    return ids, said >= len(s) + len(r)


@TRIPLE_EXAMPLE.misconception(
    "The relation is not in the sequence",
    fails=TRIPLE_EXAMPLE.all_but("said"),
    hints=(
        "Your sequence has only subject and object.",
        "Without the relation the model does not know what is asked.",
        "Read the equation for w.",
    ),
)
def triple_example__relation_missing(s, r, o, eos):
    ids = torch.tensor([*s, *o, eos])
    said = torch.arange(1, len(ids))
    return ids, said >= len(s)


@TRIPLE_EXAMPLE.misconception(
    "EOS stands behind every part",
    fails=TRIPLE_EXAMPLE.all_but("said"),
    hints=(
        "Your sequence has EOS three times.",
        "The parts follow each other directly; EOS ends the object only.",
        "Read the equation for w.",
    ),
)
def triple_example__separated(s, r, o, eos):
    ids = torch.tensor([*s, eos, *r, eos, *o, eos])
    said = torch.arange(1, len(ids))
    return ids, said >= len(s) + len(r) + 2


@TRIPLE_EXAMPLE.misconception(
    "EOS stands also at the beginning",
    fails=TRIPLE_EXAMPLE.all_but("said"),
    hints=(
        "Your sequence has a token too many in front.",
        "EOS was used to begin the sequence, too. Here the subject comes first.",
        "Read the equation for w.",
    ),
)
def triple_example__begins_with_eos(s, r, o, eos):
    ids = torch.tensor([eos, *s, *r, *o, eos])
    said = torch.arange(1, len(ids))
    return ids, said >= len(s) + len(r) + 1


@TRIPLE_EXAMPLE.misconception(
    "The mask is inverted",
    fails=TRIPLE_EXAMPLE.all_but(),
    hints=(
        "Your mask is True where nothing is to be learned.",
        "True means: this step counts.",
        _COUNTS,
    ),
)
def triple_example__inverted(s, r, o, eos):
    ids = torch.tensor([*s, *r, *o, eos])
    said = torch.arange(1, len(ids))
    return ids, said < len(s) + len(r)


@TRIPLE_EXAMPLE.misconception(
    "Only EOS is in the loss",
    fails=TRIPLE_EXAMPLE.all_but(),
    hints=(
        "Your mask is True at its last step only.",
        "The tokens of the object are what is to be learned; EOS is but its end.",
        _COUNTS,
    ),
)
def triple_example__only_eos(s, r, o, eos):
    ids = torch.tensor([*s, *r, *o, eos])
    said = torch.arange(1, len(ids))
    return ids, said == len(ids) - 1


@TRIPLE_EXAMPLE.misconception(
    "The mask holds numbers",
    fails=TRIPLE_EXAMPLE.all_but("said"),
    hints=(
        "Your mask has the right zeros and ones, but it is not boolean.",
        "In this course masks are boolean: a mask of numbers that is used as an index picks the elements 0 and 1.",
        "Read what the task returns.",
    ),
)
def triple_example__numbers(s, r, o, eos):
    ids = torch.tensor([*s, *r, *o, eos])
    said = torch.arange(1, len(ids))
    return ids, (said >= len(s) + len(r)).long()


@TRIPLE_EXAMPLE.misconception(
    "The mask holds numbers with a point",
    fails=TRIPLE_EXAMPLE.all_but("said"),
    hints=(
        "Your mask has the right zeros and ones, but it is not boolean.",
        "A mask of 0.0 and 1.0 can be multiplied, but not used to pick steps. In this course masks are boolean.",
        "Read what the task returns.",
    ),
)
def triple_example__floats(s, r, o, eos):
    ids = torch.tensor([*s, *r, *o, eos])
    said = torch.arange(1, len(ids))
    return ids, (said >= len(s) + len(r)) * 1.0


@TRIPLE_EXAMPLE.misconception(
    "The loss stops after the first token of the object",
    fails=TRIPLE_EXAMPLE.all_but(),
    hints=(
        "Your mask is True at one step.",
        "Only the step after the relation was marked. All tokens of the object count, and EOS.",
        _COUNTS,
    ),
)
def triple_example__first_of_object_only(s, r, o, eos):
    ids = torch.tensor([*s, *r, *o, eos])
    said = torch.arange(1, len(ids))
    return ids, said == len(s) + len(r)


EXERCISES = (WINDOWS, GPT_BLOCK, BPE_TRAIN, BPE_ENCODE, GENERATE, COUNT_PARAMETERS, TRIPLE_EXAMPLE)
