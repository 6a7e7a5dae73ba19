"""The exercises of chapter 2 and the mistakes that the judge knows by name."""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F

from autograder.exercise import Exercise
from autograder.probes import ch02_bptt as probes
from unrolled import gradients
from unrolled.gradients import RNNGrads, rnn_step_backward
from unrolled.losses import cross_entropy, softmax
from unrolled.recurrent import RNNParams, rnn_forward, rnn_step

SETUP_NAMES = frozenset({"RNNGrads", "RNNParams", "cross_entropy", "rnn_forward", "rnn_step", "softmax"})

_BY_HAND = "This exercise is to write the gradient yourself; autograd serves afterwards, to check it."
AUTOGRAD = dict.fromkeys(("autograd", "backward", "jacobian", "jacrev", "jacfwd", "vjp", "jvp"), _BY_HAND)


# ---- 2.1 numerical_grad ----

NUMERICAL_GRAD = Exercise(
    number="2.1",
    references=(gradients.numerical_grad,),
    probe_module=probes,
    points=2,
    minutes=15,
    difficulty=1,
    forbidden=AUTOGRAD,
    not_applicable={
        "eps too small for the precision": "eps is an argument; the chapter shows what happens when it is too small.",
    },
)


@NUMERICAL_GRAD.misconception(
    "Forward differences: x is moved up, never down",
    fails=NUMERICAL_GRAD.all_but("products"),
    hints=(
        "For a straight line you would be right; for curved functions you are off by an amount that grows with eps.",
        "You compare f after a step up with f at x itself. The error of that is of the order of eps; a step up against "
        "a step down has an error of the order of eps squared.",
        "Read the equation of the central difference: at which two points is f asked?",
    ),
)
def numerical_grad__forward_difference(f, x, eps):
    grad = torch.zeros_like(x)
    for i in range(x.numel()):
        step = torch.zeros(x.numel())
        step[i] = eps
        grad = grad + (f(x + step.reshape(x.shape)) - f(x)) / eps * step.reshape(x.shape) / eps
    return grad


@NUMERICAL_GRAD.misconception(
    "Backward differences: x is moved down, never up",
    fails=NUMERICAL_GRAD.all_but("products"),
    hints=(
        "For a straight line you would be right; for curved functions you are off by an amount that grows with eps.",
        "You compare f at x with f after a step down. A step up against a step down is far more exact.",
        "Read the equation of the central difference: at which two points is f asked?",
    ),
)
def numerical_grad__backward_difference(f, x, eps):
    grad = torch.zeros_like(x)
    for i in range(x.numel()):
        step = torch.zeros(x.numel())
        step[i] = eps
        grad = grad + (f(x) - f(x - step.reshape(x.shape))) / eps * step.reshape(x.shape) / eps
    return grad


@NUMERICAL_GRAD.misconception(
    "The difference is divided by eps instead of 2 eps",
    fails=NUMERICAL_GRAD.all_but(),
    hints=(
        "Every entry of your gradient is twice what it should be.",
        "From one step below x to one step above it, the way is two steps long.",
        "Read the equation of the central difference: what stands below the line?",
    ),
)
def numerical_grad__divided_by_eps(f, x, eps):
    grad = torch.zeros_like(x)
    for i in range(x.numel()):
        step = torch.zeros(x.numel())
        step[i] = eps
        step = step.reshape(x.shape)
        grad = grad + (f(x + step) - f(x - step)) / eps * step / eps
    return grad


@NUMERICAL_GRAD.misconception(
    "The difference is halved and then multiplied by eps",
    fails=NUMERICAL_GRAD.all_but(),
    hints=(
        "Your gradient shrinks with the square of eps; for small eps it is nearly zero.",
        "a / 2 * eps is read from the left: first divide by 2, then multiply by eps. A bracket is missing.",
        "Read the equation of the central difference: all of 2 eps stands below the line.",
    ),
)
def numerical_grad__bracket_missing(f, x, eps):
    grad = torch.zeros_like(x)
    for i in range(x.numel()):
        step = torch.zeros(x.numel())
        step[i] = eps
        step = step.reshape(x.shape)
        grad = grad + (f(x + step) - f(x - step)) / 2 * eps * step / eps
    return grad


@NUMERICAL_GRAD.misconception(
    "x is not restored: after its turn an entry stays one step lower",
    fails=NUMERICAL_GRAD.all_but("large_eps", "three_axes"),
    hints=(
        "After the call the caller's x is not what it was, and from the second entry on your gradient is taken "
        "elsewhere.",
        "An entry is moved up, then down by two steps, and stays there. Move it back before the next one has its turn, "
        "or work on a copy.",
        "Read what the task says about x: after the call it is what it was before.",
    ),
)
def numerical_grad__x_not_restored(f, x, eps):
    grad = torch.zeros_like(x)
    for index in np.ndindex(*x.shape):
        x[index] += eps
        up = f(x)
        x[index] -= 2 * eps
        grad[index] = (up - f(x)) / (2 * eps)
    return grad


@NUMERICAL_GRAD.misconception(
    "All entries are moved at once",
    fails=NUMERICAL_GRAD.all_but(),
    hints=(
        "All entries of your gradient are the same number.",
        "You move the whole of x up and down. That gives one slope, the sum of all entries of the gradient.",
        "Read the equation of the central difference: e_i is 1 at one place and 0 elsewhere.",
    ),
)
def numerical_grad__all_at_once(f, x, eps):
    return torch.ones_like(x) * (f(x + eps) - f(x - eps)) / (2 * eps)


@NUMERICAL_GRAD.misconception(
    "The sign is turned round",
    fails=NUMERICAL_GRAD.all_but(),
    hints=(
        "Your gradient has the right size everywhere and the wrong sign.",
        "You subtract the value above from the value below.",
        "Read the equation of the central difference: which of the two values comes first?",
    ),
)
def numerical_grad__sign(f, x, eps):
    grad = torch.zeros_like(x)
    for i in range(x.numel()):
        step = torch.zeros(x.numel())
        step[i] = eps
        step = step.reshape(x.shape)
        grad = grad + (f(x - step) - f(x + step)) / (2 * eps) * step / eps
    return grad


@NUMERICAL_GRAD.misconception(
    "The gradient comes back as one row instead of in x's shape",
    fails=("numerical_grad_matrix", "numerical_grad_three_axes", "numerical_grad_untouched"),
    hints=(
        "Your numbers are right, but for a matrix they come back as a vector.",
        "The entries are counted through from 0 to the last, and the result keeps that form.",
        "Read what the task says about the result: a tensor of x's shape.",
    ),
)
def numerical_grad__flat(f, x, eps):
    slopes = []
    for i in range(x.numel()):
        step = torch.zeros(x.numel())
        step[i] = eps
        step = step.reshape(x.shape)
        slopes.append((f(x + step) - f(x - step)) / (2 * eps))
    return torch.tensor(slopes)


@NUMERICAL_GRAD.misconception(
    "The steps go into a flat copy of x, which f never sees",
    fails=("numerical_grad_untouched",),
    hints=(
        "You are right until x is a transposed view; there your gradient is zero.",
        "reshape and flatten give a view of x where they can and a copy where they must. The copy is moved, f gets x.",
        "Read what the task says about x: it may be a transposed view.",
    ),
)
def numerical_grad__flat_copy(f, x, eps):
    grad, flat = torch.zeros(x.numel()), x.reshape(-1)
    for i in range(x.numel()):
        old = flat[i].item()
        flat[i] = old + eps
        up = f(x)
        flat[i] = old - eps
        grad[i] = (up - f(x)) / (2 * eps)
        flat[i] = old
    return grad.reshape(x.shape)


@NUMERICAL_GRAD.misconception(
    "view is used where the memory is not contiguous: a transposed view raises an error",
    fails=("numerical_grad_untouched",),
    hints=(
        "You are right until x is a transposed view; there torch says that a view is not possible.",
        "view only renames what lies in memory one after another. A transposed x does not lie so, and zeros_like(x) "
        "copies its order in memory along with its shape. reshape copies where it must.",
        "Read what the task says about x: it may be a transposed view.",
    ),
)
def numerical_grad__view(f, x, eps):
    grad = torch.zeros_like(x)
    flat = grad.view(-1)
    for i in range(x.numel()):
        step = torch.zeros(x.numel())
        step[i] = eps
        step = step.reshape(x.shape)
        flat[i] = (f(x + step) - f(x - step)) / (2 * eps)
    return grad


# ---- 2.2 rnn_step_backward ----

RNN_STEP_BACKWARD = Exercise(
    number="2.2",
    references=(gradients.rnn_step_backward,),
    probe_module=probes,
    points=2,
    minutes=20,
    difficulty=2,
    forbidden=AUTOGRAD,
    not_applicable={
        "the derivative of another nonlinearity": "the task fixes phi = tanh, so that 1 - h * h is its derivative.",
    },
)


@RNN_STEP_BACKWARD.misconception(
    "The derivative of tanh is taken as 1 - h instead of 1 - h * h",
    fails=RNN_STEP_BACKWARD.all_but(),
    hints=(
        "All five gradients are wrong; where h is near 0 or 1 they are nearly right.",
        "The square is missing in the derivative of tanh. Without it a negative h would make the slope larger than 1.",
        "Read the first equation of the step backwards.",
    ),
)
def rnn_step_backward__one_minus_h(dh, h, h_prev, x, params):
    da = dh * (1 - h)
    return da @ params.W_xh, da @ params.W_hh, da.T @ x, da.T @ h_prev, da.sum(dim=0)


@RNN_STEP_BACKWARD.misconception(
    "The derivative of the sigmoid, h (1 - h), stands in for that of tanh",
    fails=RNN_STEP_BACKWARD.all_but(),
    hints=(
        "All five gradients are wrong; where h is near 0 yours are near 0 as well.",
        "h (1 - h) is the slope of the sigmoid. This recurrence uses tanh, which is steepest at 0.",
        "Read the first equation of the step backwards.",
    ),
)
def rnn_step_backward__sigmoid_slope(dh, h, h_prev, x, params):
    da = dh * h * (1 - h)
    return da @ params.W_xh, da @ params.W_hh, da.T @ x, da.T @ h_prev, da.sum(dim=0)


@RNN_STEP_BACKWARD.misconception(
    "tanh is applied to h once more before the derivative is taken",
    fails=RNN_STEP_BACKWARD.all_but(),
    hints=(
        "All five gradients are a little too large.",
        "1 - tanh(a)^2 is right with a, the sum inside the step. h is already tanh(a).",
        "Read what the task says about h: it is what the forward step returned.",
    ),
)
def rnn_step_backward__tanh_twice(dh, h, h_prev, x, params):
    da = dh * (1 - torch.tanh(h) ** 2)
    return da @ params.W_xh, da @ params.W_hh, da.T @ x, da.T @ h_prev, da.sum(dim=0)


@RNN_STEP_BACKWARD.misconception(
    "The derivative of tanh is left out",
    fails=RNN_STEP_BACKWARD.all_but(),
    hints=(
        "All five gradients are too large, as if the step were linear.",
        "The gradient of h is used where the gradient of a, the sum inside tanh, is needed.",
        "Read the first equation of the step backwards.",
    ),
)
def rnn_step_backward__no_tanh(dh, h, h_prev, x, params):
    return dh @ params.W_xh, dh @ params.W_hh, dh.T @ x, dh.T @ h_prev, dh.sum(dim=0)


@RNN_STEP_BACKWARD.misconception(
    "The derivative of tanh is left out on the way to x and to the old state",
    fails=RNN_STEP_BACKWARD.all_but("matrices", "bias"),
    hints=(
        "The gradients of the parameters are right, those of x and of the old state are too large.",
        "These two start from the gradient of h. Everything that stands inside tanh gets its gradient through tanh.",
        "Read the equations of the step backwards: which delta stands on the right of each?",
    ),
)
def rnn_step_backward__inputs_without_tanh(dh, h, h_prev, x, params):
    da = dh * (1 - h * h)
    return dh @ params.W_xh, dh @ params.W_hh, da.T @ x, da.T @ h_prev, da.sum(dim=0)


@RNN_STEP_BACKWARD.misconception(
    "The gradient of the old state goes through W_hh the wrong way round",
    fails=RNN_STEP_BACKWARD.all_but("input", "matrices", "bias"),
    hints=(
        "Four gradients are right, that of the old state is not, although its shape is.",
        "Forward, the rows of W_hh belong to the new state. Backward, they must be summed over. As W_hh is square, "
        "nothing but the values tells.",
        "Read the equation for the old state: it has a transposed W_hh for column vectors. What is that for rows?",
    ),
)
def rnn_step_backward__W_hh_turned(dh, h, h_prev, x, params):
    da = dh * (1 - h * h)
    return da @ params.W_xh, da @ params.W_hh.T, da.T @ x, da.T @ h_prev, da.sum(dim=0)


@RNN_STEP_BACKWARD.misconception(
    "The gradient of W_hh is transposed",
    fails=RNN_STEP_BACKWARD.all_but("old_state", "input", "bias"),
    hints=(
        "Four gradients are right; that of W_hh has rows and columns exchanged.",
        "Entry (i, j) of W_hh leads from old unit j to new unit i. Its gradient pairs da[i] with h_prev[j].",
        "Read the equation for W_hh: which of the two vectors stands on the left?",
    ),
)
def rnn_step_backward__dW_hh_turned(dh, h, h_prev, x, params):
    da = dh * (1 - h * h)
    return da @ params.W_xh, da @ params.W_hh, da.T @ x, h_prev.T @ da, da.sum(dim=0)


@RNN_STEP_BACKWARD.misconception(
    "The gradients of both matrices are transposed",
    fails=RNN_STEP_BACKWARD.all_but("old_state", "input", "bias"),
    hints=(
        "dx, dh_prev and db are right; the gradients of the matrices have rows and columns exchanged.",
        "Entry (i, j) of a weight matrix leads from j to i, so its gradient pairs da[i] with what came from j.",
        "Read the equations for W_xh and W_hh, and the shapes that the task gives.",
    ),
)
def rnn_step_backward__both_turned(dh, h, h_prev, x, params):
    da = dh * (1 - h * h)
    return da @ params.W_xh, da @ params.W_hh, x.T @ da, h_prev.T @ da, da.sum(dim=0)


@RNN_STEP_BACKWARD.misconception(
    "The gradient of W_hh is taken with the new state instead of the old one",
    fails=RNN_STEP_BACKWARD.all_but("old_state", "input", "bias"),
    hints=(
        "Four gradients are right, that of W_hh is not.",
        "W_hh was multiplied by the state that went into the step. You pair its gradient with the one that came out.",
        "Read the equation for W_hh: which h stands in it?",
    ),
)
def rnn_step_backward__new_state(dh, h, h_prev, x, params):
    da = dh * (1 - h * h)
    return da @ params.W_xh, da @ params.W_hh, da.T @ x, da.T @ h, da.sum(dim=0)


@RNN_STEP_BACKWARD.misconception(
    "The gradient of the bias is not summed over the batch",
    fails=("rnn_step_backward_bias", "rnn_step_backward_batch_of_one", "rnn_step_backward_untouched"),
    hints=(
        "Your db has one row per sequence; b has no batch axis.",
        "The same b was added in every row, so every row has its say in the gradient: they are added up.",
        "Read what the task says about the gradients of the parameters.",
    ),
)
def rnn_step_backward__bias_not_summed(dh, h, h_prev, x, params):
    da = dh * (1 - h * h)
    return da @ params.W_xh, da @ params.W_hh, da.T @ x, da.T @ h_prev, da


@RNN_STEP_BACKWARD.misconception(
    "The gradient of the bias is summed over the units instead of over the batch",
    fails=("rnn_step_backward_bias", "rnn_step_backward_batch_of_one", "rnn_step_backward_untouched"),
    hints=(
        "Your db has as many entries as there are sequences; it should have one per unit.",
        "The sum runs along the wrong axis. b has one entry per unit, so the units must remain.",
        "Read what the task says about the shape of db.",
    ),
)
def rnn_step_backward__bias_over_units(dh, h, h_prev, x, params):
    da = dh * (1 - h * h)
    return da @ params.W_xh, da @ params.W_hh, da.T @ x, da.T @ h_prev, da.sum(dim=1)


@RNN_STEP_BACKWARD.misconception(
    "The gradient of the bias is the mean over the batch instead of the sum",
    fails=("rnn_step_backward_bias", "rnn_step_backward_untouched"),
    hints=(
        "With one sequence you are right; with three your db is a third of what it should be.",
        "Whether the loss is a mean is already contained in dh. Here every row is simply added.",
        "Read what the task says about the gradients of the parameters.",
    ),
)
def rnn_step_backward__bias_mean(dh, h, h_prev, x, params):
    da = dh * (1 - h * h)
    return da @ params.W_xh, da @ params.W_hh, da.T @ x, da.T @ h_prev, da.mean(dim=0)


@RNN_STEP_BACKWARD.misconception(
    "dh is changed by the call",
    fails=("rnn_step_backward_untouched",),
    hints=(
        "Your gradients are right, but after the call the caller's dh has been multiplied by the derivative of tanh.",
        "*= works in place, on the caller's tensor.",
        "Read what the task says at its end: nothing that was passed in is changed.",
    ),
)
def rnn_step_backward__in_place(dh, h, h_prev, x, params):
    dh *= 1 - h * h
    return dh @ params.W_xh, dh @ params.W_hh, dh.T @ x, dh.T @ h_prev, dh.sum(dim=0)


@RNN_STEP_BACKWARD.misconception(
    "The gradients of all parameters are means over the batch instead of sums",
    fails=("rnn_step_backward_matrices", "rnn_step_backward_bias", "rnn_step_backward_untouched"),
    hints=(
        "With one sequence you are right; with three your dW_xh, dW_hh and db are a third of what they should be.",
        "Whether the loss is a mean is already contained in dh. Here every row is simply added.",
        "Read what the task says about the gradients of the parameters.",
    ),
)
def rnn_step_backward__means(dh, h, h_prev, x, params):
    da, B = dh * (1 - h * h), len(dh)
    return da @ params.W_xh, da @ params.W_hh, da.T @ x / B, da.T @ h_prev / B, da.mean(dim=0)


@RNN_STEP_BACKWARD.misconception(
    "The gradients of the input and of the old state are returned in each other's place",
    fails=RNN_STEP_BACKWARD.all_but("matrices", "bias"),
    hints=(
        "What you return first is the gradient of the old state, what you return second is that of the input.",
        "All five are computed; the first two have changed places.",
        "Read what the task says about the order of the returned values.",
    ),
)
def rnn_step_backward__inputs_exchanged(dh, h, h_prev, x, params):
    da = dh * (1 - h * h)
    return da @ params.W_hh, da @ params.W_xh, da.T @ x, da.T @ h_prev, da.sum(dim=0)


# ---- 2.3 bptt ----

BPTT = Exercise(
    number="2.3",
    references=(gradients.bptt,),
    probe_module=probes,
    points=3,
    minutes=35,
    difficulty=3,
    uses=("rnn_step_backward",),
    forbidden=AUTOGRAD,
    equivalent={
        "loss = cross_entropy(logits, y, pad=-2)": "no id is -2 either.",
        "grads = [total + share for total, share in zip(grads, step, strict=False)]": "both lists have three items.",
        "return (loss, RNNGrads(*grads, dW_hy, do.sum(dim=(1, 0))))": "the order of the axes in a sum is free.",
    },
    not_applicable={
        "pads counted in the loss": "the task has no pads.",
        "a first state other than zero": "the task fixes h_0 = 0.",
    },
)


@BPTT.convention("loss and gradients are sums over batch and time instead of means")
def bptt__sum(x, y, params, W_hy, c):
    B, T, _ = x.shape
    h0 = torch.zeros(B, len(params.b))
    hs = rnn_forward(x, h0, params)
    logits = c + hs @ W_hy.T
    loss = B * T * cross_entropy(logits, y, -1)
    do = softmax(logits) - F.one_hot(y, len(c))
    grads, dh = [0, 0, 0], 0
    for t in reversed(range(T)):
        h_prev = hs[:, t - 1] if t > 0 else h0
        _, dh, *step = rnn_step_backward(do[:, t] @ W_hy + dh, hs[:, t], h_prev, x[:, t], params)
        grads = [total + share for total, share in zip(grads, step, strict=True)]
    return loss, RNNGrads(*grads, torch.einsum("btv,bth->vh", do, hs), do.sum(dim=(0, 1)))


@BPTT.convention("loss and gradients are summed over time and averaged over the batch")
def bptt__sum_over_time(x, y, params, W_hy, c):
    B, T, _ = x.shape
    h0 = torch.zeros(B, len(params.b))
    hs = rnn_forward(x, h0, params)
    logits = c + hs @ W_hy.T
    loss = T * cross_entropy(logits, y, -1)
    do = (softmax(logits) - F.one_hot(y, len(c))) / B
    grads, dh = [0, 0, 0], 0
    for t in reversed(range(T)):
        h_prev = hs[:, t - 1] if t > 0 else h0
        _, dh, *step = rnn_step_backward(do[:, t] @ W_hy + dh, hs[:, t], h_prev, x[:, t], params)
        grads = [total + share for total, share in zip(grads, step, strict=True)]
    return loss, RNNGrads(*grads, torch.einsum("btv,bth->vh", do, hs), do.sum(dim=(0, 1)))


@BPTT.misconception(
    "The gradients are overwritten at every step: those of the first step remain",
    fails=("bptt_recurrent", "bptt_input", "bptt_long", "bptt_untouched"),
    hints=(
        "With one step you are right; with more, your gradient of W_hh is zero.",
        "The loop assigns where it should add. It ends with the first step, whose old state is zero.",
        "Read the sentence below the equation of BPTT: each step adds its share.",
    ),
)
def bptt__overwritten(x, y, params, W_hy, c):
    B, T, _ = x.shape
    h0 = torch.zeros(B, len(params.b))
    hs = rnn_forward(x, h0, params)
    logits = c + hs @ W_hy.T
    do = (softmax(logits) - F.one_hot(y, len(c))) / (B * T)
    dh = 0
    for t in reversed(range(T)):
        h_prev = hs[:, t - 1] if t > 0 else h0
        _, dh, *grads = rnn_step_backward(do[:, t] @ W_hy + dh, hs[:, t], h_prev, x[:, t], params)
    return cross_entropy(logits, y, -1), RNNGrads(*grads, torch.einsum("btv,bth->vh", do, hs), do.sum(dim=(0, 1)))


@BPTT.misconception(
    "The recurrent gradients come from the last step only",
    fails=("bptt_recurrent", "bptt_input", "bptt_long", "bptt_untouched"),
    hints=(
        "With one step you are right; with more, your recurrent gradients know only the last one.",
        "The same weights were used at every step, so each step has a share in their gradient.",
        "Read the sentence below the equation of BPTT: each step adds its share.",
    ),
)
def bptt__last_step_only(x, y, params, W_hy, c):
    B, T, _ = x.shape
    h0 = torch.zeros(B, len(params.b))
    hs = rnn_forward(x, h0, params)
    logits = c + hs @ W_hy.T
    do = (softmax(logits) - F.one_hot(y, len(c))) / (B * T)
    h_prev = hs[:, -2] if T > 1 else h0
    _, _, *grads = rnn_step_backward(do[:, -1] @ W_hy, hs[:, -1], h_prev, x[:, -1], params)
    return cross_entropy(logits, y, -1), RNNGrads(*grads, torch.einsum("btv,bth->vh", do, hs), do.sum(dim=(0, 1)))


@BPTT.misconception(
    "Only the loss of the last step is sent back",
    fails=("bptt_recurrent", "bptt_input", "bptt_long", "bptt_untouched"),
    hints=(
        "With one step you are right; with more, the losses of all steps but the last are missing from the recurrent "
        "gradients.",
        "Every position has a loss of its own, and each joins the gradient on its way back.",
        "Read the equation of BPTT: the gradient of h_t is a sum of two terms at every t.",
    ),
)
def bptt__last_loss_only(x, y, params, W_hy, c):
    B, T, _ = x.shape
    h0 = torch.zeros(B, len(params.b))
    hs = rnn_forward(x, h0, params)
    logits = c + hs @ W_hy.T
    do = (softmax(logits) - F.one_hot(y, len(c))) / (B * T)
    grads, dh = [0, 0, 0], do[:, -1] @ W_hy
    for t in reversed(range(T)):
        h_prev = hs[:, t - 1] if t > 0 else h0
        _, dh, *step = rnn_step_backward(dh, hs[:, t], h_prev, x[:, t], params)
        grads = [total + share for total, share in zip(grads, step, strict=True)]
    return cross_entropy(logits, y, -1), RNNGrads(*grads, torch.einsum("btv,bth->vh", do, hs), do.sum(dim=(0, 1)))


@BPTT.misconception(
    "Nothing comes back from the step after: each loss is sent through one step only",
    fails=("bptt_recurrent", "bptt_input", "bptt_long", "bptt_untouched"),
    hints=(
        "With one step you are right; with more, an early state feels its own loss but not the later ones.",
        "h_t influences the loss at t and, through h_{t+1}, all later losses. The second path is missing.",
        "Read the equation of BPTT: the gradient of h_t is a sum of two terms.",
    ),
)
def bptt__no_way_back(x, y, params, W_hy, c):
    B, T, _ = x.shape
    h0 = torch.zeros(B, len(params.b))
    hs = rnn_forward(x, h0, params)
    logits = c + hs @ W_hy.T
    do = (softmax(logits) - F.one_hot(y, len(c))) / (B * T)
    grads = [0, 0, 0]
    for t in reversed(range(T)):
        h_prev = hs[:, t - 1] if t > 0 else h0
        _, _, *step = rnn_step_backward(do[:, t] @ W_hy, hs[:, t], h_prev, x[:, t], params)
        grads = [total + share for total, share in zip(grads, step, strict=True)]
    return cross_entropy(logits, y, -1), RNNGrads(*grads, torch.einsum("btv,bth->vh", do, hs), do.sum(dim=(0, 1)))


@BPTT.misconception(
    "What comes back from the step after has not gone through W_hh",
    fails=("bptt_recurrent", "bptt_input", "bptt_long", "bptt_untouched"),
    hints=(
        "With one step you are right; with more, the gradient that travels back is not changed by the weights.",
        "The gradient of a_{t+1} is added to that of h_t as it is. Between the two lies the product with W_hh.",
        "Read the equation of BPTT: what stands in front of the delta of step t + 1?",
    ),
)
def bptt__not_through_W(x, y, params, W_hy, c):
    B, T, _ = x.shape
    h0 = torch.zeros(B, len(params.b))
    hs = rnn_forward(x, h0, params)
    logits = c + hs @ W_hy.T
    do = (softmax(logits) - F.one_hot(y, len(c))) / (B * T)
    dW_xh, dW_hh, db, da = 0, 0, 0, 0
    for t in reversed(range(T)):
        h_prev = hs[:, t - 1] if t > 0 else h0
        da = (do[:, t] @ W_hy + da) * (1 - hs[:, t] ** 2)
        dW_xh, dW_hh, db = dW_xh + da.T @ x[:, t], dW_hh + da.T @ h_prev, db + da.sum(0)
    return cross_entropy(logits, y, -1), RNNGrads(
        dW_xh, dW_hh, db, torch.einsum("btv,bth->vh", do, hs), do.sum(dim=(0, 1))
    )


@BPTT.misconception(
    "What comes back from the step after goes through W_hh the wrong way round",
    fails=("bptt_recurrent", "bptt_input", "bptt_long", "bptt_untouched"),
    hints=(
        "With one step you are right; with more, the gradient that travels back is mixed up among the units.",
        "For column vectors the gradient goes back through the transposed matrix; for rows, as here, through the "
        "matrix itself. You have turned it once too often.",
        "Read the equation of BPTT, which is written for column vectors, and your answer to exercise 2.2.",
    ),
)
def bptt__W_turned(x, y, params, W_hy, c):
    B, T, _ = x.shape
    h0 = torch.zeros(B, len(params.b))
    hs = rnn_forward(x, h0, params)
    logits = c + hs @ W_hy.T
    do = (softmax(logits) - F.one_hot(y, len(c))) / (B * T)
    dW_xh, dW_hh, db, dh = 0, 0, 0, 0
    for t in reversed(range(T)):
        h_prev = hs[:, t - 1] if t > 0 else h0
        da = (do[:, t] @ W_hy + dh) * (1 - hs[:, t] ** 2)
        dW_xh, dW_hh, db = dW_xh + da.T @ x[:, t], dW_hh + da.T @ h_prev, db + da.sum(0)
        dh = da @ params.W_hh.T
    return cross_entropy(logits, y, -1), RNNGrads(
        dW_xh, dW_hh, db, torch.einsum("btv,bth->vh", do, hs), do.sum(dim=(0, 1))
    )


@BPTT.misconception(
    "The loop runs forwards in time",
    fails=("bptt_recurrent", "bptt_input", "bptt_long", "bptt_untouched"),
    hints=(
        "With one step you are right; with more, the gradient of an early loss is sent to later states.",
        "A loss can only change by what came before it. So the gradient of the last step must be there first.",
        "Read the task: backward, from t = T down to 1.",
    ),
)
def bptt__forwards(x, y, params, W_hy, c):
    B, T, _ = x.shape
    h0 = torch.zeros(B, len(params.b))
    hs = rnn_forward(x, h0, params)
    logits = c + hs @ W_hy.T
    do = (softmax(logits) - F.one_hot(y, len(c))) / (B * T)
    grads, dh = [0, 0, 0], 0
    for t in range(T):
        h_prev = hs[:, t - 1] if t > 0 else h0
        _, dh, *step = rnn_step_backward(do[:, t] @ W_hy + dh, hs[:, t], h_prev, x[:, t], params)
        grads = [total + share for total, share in zip(grads, step, strict=True)]
    return cross_entropy(logits, y, -1), RNNGrads(*grads, torch.einsum("btv,bth->vh", do, hs), do.sum(dim=(0, 1)))


@BPTT.misconception(
    "At the first step the old state is read from the end of the sequence",
    fails=("bptt_recurrent", "bptt_one_step", "bptt_long", "bptt_untouched"),
    hints=(
        "Your gradients are right but for that of W_hh.",
        "At the first step the index t - 1 is -1, and that is the last state, without an error. The old state of the "
        "first step is zero.",
        "Read the task at t = 1: which state went into the first step?",
    ),
)
def bptt__wraps_around(x, y, params, W_hy, c):
    B, T, _ = x.shape
    hs = rnn_forward(x, torch.zeros(B, len(params.b)), params)
    logits = c + hs @ W_hy.T
    do = (softmax(logits) - F.one_hot(y, len(c))) / (B * T)
    grads, dh = [0, 0, 0], 0
    for t in reversed(range(T)):
        _, dh, *step = rnn_step_backward(do[:, t] @ W_hy + dh, hs[:, t], hs[:, t - 1], x[:, t], params)
        grads = [total + share for total, share in zip(grads, step, strict=True)]
    return cross_entropy(logits, y, -1), RNNGrads(*grads, torch.einsum("btv,bth->vh", do, hs), do.sum(dim=(0, 1)))


@BPTT.misconception(
    "The first step is left out of the loop",
    fails=BPTT.all_but("output_layer", "recurrent"),
    hints=(
        "Your gradient of W_hh is right, those of W_xh and b lack the share of the first step.",
        "The loop stops before the first step, perhaps because there is no state before it. There is: zero. And the "
        "first input has a gradient too.",
        "Read the task: backward, from t = T down to 1.",
    ),
)
def bptt__first_step_left_out(x, y, params, W_hy, c):
    B, T, _ = x.shape
    hs = rnn_forward(x, torch.zeros(B, len(params.b)), params)
    logits = c + hs @ W_hy.T
    do = (softmax(logits) - F.one_hot(y, len(c))) / (B * T)
    grads, dh = [torch.zeros_like(p) for p in params[:3]], 0
    for t in range(T - 1, 0, -1):
        _, dh, *step = rnn_step_backward(do[:, t] @ W_hy + dh, hs[:, t], hs[:, t - 1], x[:, t], params)
        grads = [total + share for total, share in zip(grads, step, strict=True)]
    return cross_entropy(logits, y, -1), RNNGrads(*grads, torch.einsum("btv,bth->vh", do, hs), do.sum(dim=(0, 1)))


@BPTT.misconception(
    "The right answer is not subtracted from the probabilities",
    fails=BPTT.all_but(),
    hints=(
        "Your loss is right, but your gradients are the same whatever y is.",
        "The gradient of a score is the probability minus 1 at the right id, and the probability elsewhere. The "
        "one-hot vector is missing.",
        "Read the first equation of BPTT.",
    ),
)
def bptt__no_one_hot(x, y, params, W_hy, c):
    B, T, _ = x.shape
    h0 = torch.zeros(B, len(params.b))
    hs = rnn_forward(x, h0, params)
    logits = c + hs @ W_hy.T
    do = softmax(logits) / (B * T)
    grads, dh = [0, 0, 0], 0
    for t in reversed(range(T)):
        h_prev = hs[:, t - 1] if t > 0 else h0
        _, dh, *step = rnn_step_backward(do[:, t] @ W_hy + dh, hs[:, t], h_prev, x[:, t], params)
        grads = [total + share for total, share in zip(grads, step, strict=True)]
    return cross_entropy(logits, y, -1), RNNGrads(*grads, torch.einsum("btv,bth->vh", do, hs), do.sum(dim=(0, 1)))


@BPTT.misconception(
    "The loss is a mean, but the gradients are those of the sum",
    fails=BPTT.all_but(),
    hints=(
        "Your loss is right; all gradients are too large by the same factor, the number of positions.",
        "Loss and gradients do not belong together: one is divided by B·T, the others are not.",
        "Read the first equation of BPTT: what stands below the line?",
    ),
)
def bptt__gradients_of_the_sum(x, y, params, W_hy, c):
    B, T, _ = x.shape
    h0 = torch.zeros(B, len(params.b))
    hs = rnn_forward(x, h0, params)
    logits = c + hs @ W_hy.T
    do = softmax(logits) - F.one_hot(y, len(c))
    grads, dh = [0, 0, 0], 0
    for t in reversed(range(T)):
        h_prev = hs[:, t - 1] if t > 0 else h0
        _, dh, *step = rnn_step_backward(do[:, t] @ W_hy + dh, hs[:, t], h_prev, x[:, t], params)
        grads = [total + share for total, share in zip(grads, step, strict=True)]
    return cross_entropy(logits, y, -1), RNNGrads(*grads, torch.einsum("btv,bth->vh", do, hs), do.sum(dim=(0, 1)))


@BPTT.misconception(
    "The sign of the gradient is turned round: right minus said",
    fails=BPTT.all_but(),
    hints=(
        "Your loss is right; all gradients have the right size and the wrong sign.",
        "You subtract the probabilities from the one-hot vector. With this gradient every step would go uphill.",
        "Read the first equation of BPTT: what you said minus what was right.",
    ),
)
def bptt__sign(x, y, params, W_hy, c):
    B, T, _ = x.shape
    h0 = torch.zeros(B, len(params.b))
    hs = rnn_forward(x, h0, params)
    logits = c + hs @ W_hy.T
    do = (F.one_hot(y, len(c)) - softmax(logits)) / (B * T)
    grads, dh = [0, 0, 0], 0
    for t in reversed(range(T)):
        h_prev = hs[:, t - 1] if t > 0 else h0
        _, dh, *step = rnn_step_backward(do[:, t] @ W_hy + dh, hs[:, t], h_prev, x[:, t], params)
        grads = [total + share for total, share in zip(grads, step, strict=True)]
    return cross_entropy(logits, y, -1), RNNGrads(*grads, torch.einsum("btv,bth->vh", do, hs), do.sum(dim=(0, 1)))


@BPTT.misconception(
    "The gradient of W_hh is taken with the new state of each step instead of the old one",
    fails=BPTT.all_but("output_layer", "input"),
    hints=(
        "Your gradients are right but for that of W_hh.",
        "hs[:, t] is the state that came out of step t. Into it went the state before, and into the first step zero.",
        "Read the equation for W_hh in one step backwards: which h stands in it?",
    ),
)
def bptt__new_state(x, y, params, W_hy, c):
    B, T, _ = x.shape
    h0 = torch.zeros(B, len(params.b))
    hs = rnn_forward(x, h0, params)
    logits = c + hs @ W_hy.T
    do = (softmax(logits) - F.one_hot(y, len(c))) / (B * T)
    grads, dh = [0, 0, 0], 0
    for t in reversed(range(T)):
        _, dh, *step = rnn_step_backward(do[:, t] @ W_hy + dh, hs[:, t], hs[:, t], x[:, t], params)
        grads = [total + share for total, share in zip(grads, step, strict=True)]
    return cross_entropy(logits, y, -1), RNNGrads(*grads, torch.einsum("btv,bth->vh", do, hs), do.sum(dim=(0, 1)))


@BPTT.misconception(
    "The loss is a mean over all positions, the gradients are divided by the number of steps only",
    fails=BPTT.all_but("long"),
    hints=(
        "With one sequence you are right; with three all gradients are three times too large.",
        "There are B·T positions, T in each of B sequences. Your gradients are divided by T alone.",
        "Read the first equation of BPTT: what stands below the line?",
    ),
)
def bptt__divided_by_T(x, y, params, W_hy, c):
    B, T, _ = x.shape
    h0 = torch.zeros(B, len(params.b))
    hs = rnn_forward(x, h0, params)
    logits = c + hs @ W_hy.T
    do = (softmax(logits) - F.one_hot(y, len(c))) / T
    grads, dh = [0, 0, 0], 0
    for t in reversed(range(T)):
        h_prev = hs[:, t - 1] if t > 0 else h0
        _, dh, *step = rnn_step_backward(do[:, t] @ W_hy + dh, hs[:, t], h_prev, x[:, t], params)
        grads = [total + share for total, share in zip(grads, step, strict=True)]
    return cross_entropy(logits, y, -1), RNNGrads(*grads, torch.einsum("btv,bth->vh", do, hs), do.sum(dim=(0, 1)))


@BPTT.misconception(
    "The loss is a mean over all positions, the gradients are divided by the number of sequences only",
    fails=BPTT.all_but("one_step"),
    hints=(
        "With one step you are right; with five all gradients are five times too large.",
        "There are B·T positions, T in each of B sequences. Your gradients are divided by B alone.",
        "Read the first equation of BPTT: what stands below the line?",
    ),
)
def bptt__divided_by_B(x, y, params, W_hy, c):
    B, T, _ = x.shape
    h0 = torch.zeros(B, len(params.b))
    hs = rnn_forward(x, h0, params)
    logits = c + hs @ W_hy.T
    do = (softmax(logits) - F.one_hot(y, len(c))) / B
    grads, dh = [0, 0, 0], 0
    for t in reversed(range(T)):
        h_prev = hs[:, t - 1] if t > 0 else h0
        _, dh, *step = rnn_step_backward(do[:, t] @ W_hy + dh, hs[:, t], h_prev, x[:, t], params)
        grads = [total + share for total, share in zip(grads, step, strict=True)]
    return cross_entropy(logits, y, -1), RNNGrads(*grads, torch.einsum("btv,bth->vh", do, hs), do.sum(dim=(0, 1)))


@BPTT.misconception(
    "The loss leaves out the positions whose right id is 0",
    fails=BPTT.all_but("recurrent", "input"),
    hints=(
        "Your gradients are right, your loss is not.",
        "cross_entropy leaves out what is equal to pad. With pad=0 that is every position whose right id is 0, and "
        "here 0 is an id like any other.",
        "Read what the task says about y: there are no pads.",
    ),
)
def bptt__pad_zero(x, y, params, W_hy, c):
    B, T, _ = x.shape
    h0 = torch.zeros(B, len(params.b))
    hs = rnn_forward(x, h0, params)
    logits = c + hs @ W_hy.T
    do = (softmax(logits) - F.one_hot(y, len(c))) / (B * T)
    grads, dh = [0, 0, 0], 0
    for t in reversed(range(T)):
        h_prev = hs[:, t - 1] if t > 0 else h0
        _, dh, *step = rnn_step_backward(do[:, t] @ W_hy + dh, hs[:, t], h_prev, x[:, t], params)
        grads = [total + share for total, share in zip(grads, step, strict=True)]
    return cross_entropy(logits, y, 0), RNNGrads(*grads, torch.einsum("btv,bth->vh", do, hs), do.sum(dim=(0, 1)))


# ---- 2.4 jacobian_product ----

JACOBIAN_PRODUCT = Exercise(
    number="2.4",
    references=(gradients.jacobian_product,),
    probe_module=probes,
    points=2,
    minutes=15,
    difficulty=2,
    forbidden=AUTOGRAD,
)


@JACOBIAN_PRODUCT.misconception(
    "The factors are multiplied in the wrong order",
    fails=("jacobian_product_values", "jacobian_product_chained", "jacobian_product_untouched"),
    hints=(
        "With one factor you are right, with several only at zero states, where all factors are equal.",
        "Each new factor is put on the right. The change of h_1 meets J_2 first, so J_2 stands at the right end and "
        "later factors go to the left.",
        "Read the equation of the product: in which order do the indices stand?",
    ),
)
def jacobian_product__wrong_order(W, hs):
    J = torch.eye(len(W))
    for h in hs[1:]:
        J = J @ (torch.diag(1 - h**2) @ W)
    return J


@JACOBIAN_PRODUCT.misconception(
    "The derivative of tanh is left out",
    fails=(
        "jacobian_product_values",
        "jacobian_product_two_states",
        "jacobian_product_chained",
        "jacobian_product_untouched",
    ),
    hints=(
        "At zero states you are right; elsewhere you ignore what the states are.",
        "You return a power of W. That is the linear RNN; in ours each factor is damped by the slope of tanh.",
        "Read the equation of the product: what stands in front of W?",
    ),
)
def jacobian_product__linear(W, hs):
    return torch.linalg.matrix_power(W, len(hs) - 1)


@JACOBIAN_PRODUCT.misconception(
    "One factor too many: T instead of T - 1",
    fails=JACOBIAN_PRODUCT.all_but(),
    hints=(
        "With one state you return a factor where the identity is asked for.",
        "The loop begins with h_1. Between T states there are only T - 1 steps, and the first leads to h_2.",
        "Read the equation of the product: which index is the smallest?",
    ),
)
def jacobian_product__one_too_many(W, hs):
    J = torch.eye(len(W))
    for h in hs:
        J = torch.diag(1 - h**2) @ W @ J
    return J


@JACOBIAN_PRODUCT.misconception(
    "One factor too few: the last step is missing",
    fails=JACOBIAN_PRODUCT.all_but("one_state"),
    hints=(
        "With two states you return the identity, as if nothing had happened between them.",
        "The loop leaves out h_T. The last factor is the one that leads to h_T.",
        "Read the equation of the product: which index is the largest?",
    ),
)
def jacobian_product__one_too_few(W, hs):
    J = torch.eye(len(W))
    for h in hs[1:-1]:
        J = torch.diag(1 - h**2) @ W @ J
    return J


@JACOBIAN_PRODUCT.misconception(
    "The derivative of tanh is taken at the old states",
    fails=(
        "jacobian_product_values",
        "jacobian_product_two_states",
        "jacobian_product_chained",
        "jacobian_product_untouched",
    ),
    hints=(
        "You have the right number of factors, but they belong to h_1 to h_{T-1} instead of h_2 to h_T.",
        "The slope of tanh is that at the new state: h_t = tanh(a_t) has the slope 1 - h_t * h_t.",
        "Read the equation of one factor: which index does the state in it have?",
    ),
)
def jacobian_product__old_states(W, hs):
    J = torch.eye(len(W))
    for h in hs[:-1]:
        J = torch.diag(1 - h**2) @ W @ J
    return J


@JACOBIAN_PRODUCT.misconception(
    "The derivative of tanh stands on the wrong side of W",
    fails=(
        "jacobian_product_values",
        "jacobian_product_two_states",
        "jacobian_product_chained",
        "jacobian_product_untouched",
    ),
    hints=(
        "At zero states you are right; elsewhere the columns of W are scaled where the rows should be.",
        "A change goes through W first and through tanh afterwards, so the diagonal matrix stands on the left. "
        "Multiplying W by a vector with * scales its columns.",
        "Read the equation of one factor: which side of W does the diagonal matrix stand on?",
    ),
)
def jacobian_product__columns_scaled(W, hs):
    J = torch.eye(len(W))
    for h in hs[1:]:
        J = W * (1 - h**2) @ J
    return J


@JACOBIAN_PRODUCT.misconception(
    "The result is transposed",
    fails=JACOBIAN_PRODUCT.all_but("one_state"),
    hints=(
        "Your product holds the right numbers with rows and columns exchanged.",
        "This is the matrix that carries gradients backwards as columns. Asked for is the derivative itself: row i "
        "belongs to h_T[i], column j to h_1[j].",
        "Read what the task says about rows and columns of the result.",
    ),
)
def jacobian_product__transposed(W, hs):
    J = torch.eye(len(W))
    for h in hs[1:]:
        J = J @ (torch.diag(1 - h**2) @ W).T
    return J


@JACOBIAN_PRODUCT.misconception(
    "W is transposed in every factor",
    fails=JACOBIAN_PRODUCT.all_but("one_state"),
    hints=(
        "Even at zero states your product is not a power of W, but of W turned round.",
        "W[i, j] leads from unit j to unit i, just as J[i, j] should. Nothing has to be turned.",
        "Read the equation of one factor.",
    ),
)
def jacobian_product__W_transposed(W, hs):
    J = torch.eye(len(W))
    for h in hs[1:]:
        J = torch.diag(1 - h**2) @ W.T @ J
    return J


@JACOBIAN_PRODUCT.misconception(
    "The derivative of tanh is taken as 1 - h instead of 1 - h * h",
    fails=(
        "jacobian_product_values",
        "jacobian_product_two_states",
        "jacobian_product_chained",
        "jacobian_product_untouched",
    ),
    hints=(
        "At zero states you are right; at negative states your factors are larger than W.",
        "The square is missing in the derivative of tanh.",
        "Read the equation of one factor.",
    ),
)
def jacobian_product__one_minus_h(W, hs):
    J = torch.eye(len(W))
    for h in hs[1:]:
        J = torch.diag(1 - h) @ W @ J
    return J


@JACOBIAN_PRODUCT.misconception(
    "The factors are multiplied entry by entry",
    fails=JACOBIAN_PRODUCT.all_but("one_state", "two_states"),
    hints=(
        "With one factor you are right; with more, each entry is multiplied by the entry at the same place.",
        "* multiplies entry by entry; the chain rule needs the matrix product @.",
        "Read the equation of the product: it is a product of matrices.",
    ),
)
def jacobian_product__entry_by_entry(W, hs):
    J = torch.eye(len(W)) if len(hs) == 1 else torch.ones_like(W)
    for h in hs[1:]:
        J = torch.diag(1 - h**2) @ W * J
    return J


# ---- 2.5 clip_global_norm ----

_CLIP = "This exercise is to write the clipping yourself."

CLIP_GLOBAL_NORM = Exercise(
    number="2.5",
    references=(gradients.clip_global_norm,),
    probe_module=probes,
    points=2,
    minutes=15,
    difficulty=1,
    forbidden={"clip_grad_norm_": _CLIP, "clip_grad_norm": _CLIP, "clip_grads_with_norm_": _CLIP},
)


@CLIP_GLOBAL_NORM.misconception(
    "Each gradient is clipped by itself",
    fails=("clip_global_norm_long", "clip_global_norm_between", "clip_global_norm_none", "clip_global_norm_untouched"),
    hints=(
        "Long gradients come out with one and the same length each, and together they are still longer than c.",
        "Every tensor is compared with c on its own. That changes the direction of the step; the common length is "
        "what counts.",
        "Read the equation of clipping: there is one n for all k.",
    ),
)
def clip_global_norm__per_tensor(grads, c):
    norm = torch.sqrt(sum((g * g).sum() for g in grads if g is not None))
    return tuple(None if g is None else g * (c / g.norm()).clamp(max=1) for g in grads), norm


@CLIP_GLOBAL_NORM.misconception(
    "The entries are clamped to the range from -c to c",
    fails=(
        "clip_global_norm_long",
        "clip_global_norm_between",
        "clip_global_norm_none",
        "clip_global_norm_zero",
        "clip_global_norm_untouched",
    ),
    hints=(
        "Small entries come back as they were, large ones are all c or -c.",
        "Each entry is cut by itself. That changes the direction of the step; clipping by the norm keeps it.",
        "Read the equation of clipping: every gradient is multiplied by one number.",
    ),
)
def clip_global_norm__clamped(grads, c):
    norm = torch.sqrt(sum((g * g).sum() for g in grads if g is not None))
    return tuple(None if g is None else g.clamp(-c, c) for g in grads), norm


@CLIP_GLOBAL_NORM.misconception(
    "Short gradients are made longer",
    fails=("clip_global_norm_short", "clip_global_norm_zero"),
    hints=(
        "Your gradients always come back with the length c, even if they were shorter.",
        "The factor c / n is used whether it is below 1 or not. Clipping shortens; it never lengthens. And for n = 0 "
        "it gives nan.",
        "Read the equation of clipping: what is the minimum for?",
    ),
)
def clip_global_norm__lengthens(grads, c):
    norm = torch.sqrt(sum((g * g).sum() for g in grads if g is not None))
    return tuple(None if g is None else g * (c / norm) for g in grads), norm


@CLIP_GLOBAL_NORM.misconception(
    "Short gradients are made longer (and a small number in the denominator hides the nan at zero)",
    fails=("clip_global_norm_short",),
    hints=(
        "Your gradients always come back with the length c, even if they were shorter.",
        "The factor c / n is used whether it is below 1 or not. Clipping shortens; it never lengthens.",
        "Read the equation of clipping: what is the minimum for?",
    ),
)
def clip_global_norm__lengthens_safely(grads, c):
    norm = torch.sqrt(sum((g * g).sum() for g in grads if g is not None))
    return tuple(None if g is None else g * (c / (norm + 1e-8)) for g in grads), norm


@CLIP_GLOBAL_NORM.misconception(
    "A None among the gradients makes the function fail",
    fails=("clip_global_norm_none",),
    hints=(
        "You are right as long as every parameter has a gradient; with a None among them your function raises.",
        "A parameter that the loss does not depend on has no gradient, and torch says None. It has no length.",
        "Read what the task says about grads: what does None stand for?",
    ),
)
def clip_global_norm__fails_at_none(grads, c):
    norm = torch.sqrt(sum((g * g).sum() for g in grads))
    return tuple(g * (c / norm).clamp(max=1) for g in grads), norm


@CLIP_GLOBAL_NORM.misconception(
    "None is left out of the result",
    fails=("clip_global_norm_none",),
    hints=(
        "With a None among the gradients you return one entry less; all after it belong to the wrong parameter.",
        "The gradients without None are clipped and returned. The caller pairs them with parameters by their place.",
        "Read what the task says about clipped: as many entries as grads, in the same order.",
    ),
)
def clip_global_norm__none_dropped(grads, c):
    grads = [g for g in grads if g is not None]
    norm = torch.sqrt(sum((g * g).sum() for g in grads))
    return tuple(g * (c / norm).clamp(max=1) for g in grads), norm


@CLIP_GLOBAL_NORM.misconception(
    "None becomes zero",
    fails=("clip_global_norm_none",),
    hints=(
        "Where a parameter had no gradient, you return a zero.",
        "A zero is a gradient: an optimiser with momentum moves the parameter all the same. None says: leave it alone.",
        "Read what the task says about clipped: None stays None.",
    ),
)
def clip_global_norm__none_to_zero(grads, c):
    norm = torch.sqrt(sum((g * g).sum() for g in grads if g is not None))
    return tuple(torch.zeros(()) if g is None else g * (c / norm).clamp(max=1) for g in grads), norm


@CLIP_GLOBAL_NORM.misconception(
    "The square root is missing",
    fails=CLIP_GLOBAL_NORM.all_but(),
    hints=(
        "Your norm is the square of the length, and long gradients come out far too short.",
        "The sum of squares is the length squared; c is a length.",
        "Read the equation of clipping: what stands around the sum?",
    ),
)
def clip_global_norm__squared(grads, c):
    norm = sum((g * g).sum() for g in grads if g is not None)
    return tuple(None if g is None else g * (c / norm).clamp(max=1) for g in grads), norm


@CLIP_GLOBAL_NORM.misconception(
    "The lengths are added instead of their squares",
    fails=CLIP_GLOBAL_NORM.all_but("zero"),
    hints=(
        "Your norm is too large, and long gradients come out too short.",
        "The length of two vectors put together follows Pythagoras: squares are added, then the root is taken.",
        "Read the equation of clipping: what is summed?",
    ),
)
def clip_global_norm__lengths_added(grads, c):
    norm = sum(g.norm() for g in grads if g is not None)
    return tuple(None if g is None else g * (c / norm).clamp(max=1) for g in grads), norm


@CLIP_GLOBAL_NORM.misconception(
    "Long gradients are brought to length 1 instead of c",
    fails=CLIP_GLOBAL_NORM.all_but("short"),
    hints=(
        "Your clipped gradients have the length 1, whatever c is.",
        "They are divided by their length; the c above the line is missing.",
        "Read the equation of clipping: what stands above the line?",
    ),
)
def clip_global_norm__to_length_one(grads, c):
    norm = torch.sqrt(sum((g * g).sum() for g in grads if g is not None))
    scale = 1 / norm if norm > c else 1
    return tuple(None if g is None else g * scale for g in grads), norm


@CLIP_GLOBAL_NORM.misconception(
    "The norm is that of the clipped gradients",
    fails=CLIP_GLOBAL_NORM.all_but("short"),
    hints=(
        "Your gradients are right, but the norm that you return is never above c.",
        "It is measured after the clipping. To see an explosion one needs the length from before.",
        "Read what the task says about norm.",
    ),
)
def clip_global_norm__norm_after(grads, c):
    norm = torch.sqrt(sum((g * g).sum() for g in grads if g is not None))
    scale = (c / norm).clamp(max=1)
    return tuple(None if g is None else g * scale for g in grads), norm * scale


@CLIP_GLOBAL_NORM.misconception(
    "The caller's gradients are changed",
    fails=("clip_global_norm_untouched",),
    hints=(
        "Your result is right, but after the call the caller's gradients are clipped as well.",
        "*= and mul_ work in place. torch's own function does so on purpose; this one returns new tensors.",
        "Read what the task says at its end: the tensors in grads are not changed.",
    ),
)
def clip_global_norm__in_place(grads, c):
    norm = torch.sqrt(sum((g * g).sum() for g in grads if g is not None))
    for g in grads:
        if g is not None:
            g *= (c / norm).clamp(max=1)
    return tuple(grads), norm


# ---- 2.6 truncated_bptt ----

TRUNCATED_BPTT = Exercise(
    number="2.6",
    references=(gradients.truncated_bptt,),
    probe_module=probes,
    points=2,
    minutes=25,
    difficulty=3,
    equivalent={
        "losses.append(loss)": "the numbers are the same; it only keeps the graph of the chunk alive.",
    },
    not_applicable={
        "weights updated inside the function": "it returns gradients; the step with them is the caller's.",
    },
)


@TRUNCATED_BPTT.misconception(
    "The state is not detached: one backward pass runs through all chunks",
    fails=TRUNCATED_BPTT.all_but("forward", "one_chunk"),
    hints=(
        "Losses and state are right; your gradients are those of BPTT over the whole sequence.",
        "The state that goes into a chunk still knows how it was made, so a loss reaches back into earlier chunks. "
        "Memory then grows with the length of the text.",
        "Read the equation of truncated BPTT: what happens to the state between two chunks?",
    ),
)
def truncated_bptt__not_detached(chunks, h0, params, chunk_loss):
    h, losses = h0, []
    for x, y in chunks:
        hs = rnn_forward(x, h, params)
        losses.append(chunk_loss(hs, y))
        h = hs[:, -1]
    grads = torch.autograd.grad(sum(losses), params[:3])
    return torch.stack(losses).detach(), grads, h.detach()


@TRUNCATED_BPTT.misconception(
    "The state is not detached: the second backward pass fails",
    fails=TRUNCATED_BPTT.all_but("one_chunk"),
    hints=(
        "With one chunk you are right; with two, torch says that it was asked to go backward a second time.",
        "The state that goes into the second chunk still hangs on the graph of the first, which is freed after its "
        "backward pass. retain_graph=True would silence the message, not mend the mistake.",
        "Read the equation of truncated BPTT: what happens to the state between two chunks?",
    ),
)
def truncated_bptt__second_backward(chunks, h0, params, chunk_loss):
    h, losses, grads = h0, [], [torch.zeros_like(p) for p in params[:3]]
    for x, y in chunks:
        hs = rnn_forward(x, h, params)
        loss = chunk_loss(hs, y)
        grads = [total + g for total, g in zip(grads, torch.autograd.grad(loss, params[:3]), strict=True)]
        losses.append(loss.detach())
        h = hs[:, -1]
    return torch.stack(losses), tuple(grads), h.detach()


@TRUNCATED_BPTT.misconception(
    "Every chunk starts from zero",
    fails=TRUNCATED_BPTT.all_but(),
    hints=(
        "Your losses are those of chunks that know nothing of each other, nor of h0.",
        "Only the gradient is to be cut. The state goes on: its values, without its history.",
        "Read the equation of truncated BPTT: which state does chunk k + 1 start from?",
    ),
)
def truncated_bptt__reset_to_zero(chunks, h0, params, chunk_loss):
    losses, grads = [], [torch.zeros_like(p) for p in params[:3]]
    for x, y in chunks:
        hs = rnn_forward(x, torch.zeros_like(h0), params)
        loss = chunk_loss(hs, y)
        grads = [total + g for total, g in zip(grads, torch.autograd.grad(loss, params[:3]), strict=True)]
        losses.append(loss.detach())
    return torch.stack(losses), tuple(grads), hs[:, -1].detach()


@TRUNCATED_BPTT.misconception(
    "Every chunk starts from h0",
    fails=TRUNCATED_BPTT.all_but("one_chunk"),
    hints=(
        "Your first loss is right, the others are those of chunks that come first.",
        "The name that holds the state is never assigned again in the loop.",
        "Read the equation of truncated BPTT: which state does chunk k + 1 start from?",
    ),
)
def truncated_bptt__reset_to_h0(chunks, h0, params, chunk_loss):
    losses, grads = [], [torch.zeros_like(p) for p in params[:3]]
    for x, y in chunks:
        hs = rnn_forward(x, h0, params)
        loss = chunk_loss(hs, y)
        grads = [total + g for total, g in zip(grads, torch.autograd.grad(loss, params[:3]), strict=True)]
        losses.append(loss.detach())
    return torch.stack(losses), tuple(grads), hs[:, -1].detach()


@TRUNCATED_BPTT.misconception(
    "The state is detached at every step",
    fails=TRUNCATED_BPTT.all_but("forward", "single_steps"),
    hints=(
        "Losses and state are right; in your gradients each loss reaches one step back and no further.",
        "The cut belongs between two chunks. Inside a chunk the gradient must pass from step to step.",
        "Read what the task says about grads: back to the start of its own chunk.",
    ),
)
def truncated_bptt__detached_at_every_step(chunks, h0, params, chunk_loss):
    h, losses, grads = h0, [], [torch.zeros_like(p) for p in params[:3]]
    for x, y in chunks:
        hs = []
        for t in range(x.shape[1]):
            h = rnn_step(x[:, t], h.detach(), params)
            hs.append(h)
        loss = chunk_loss(torch.stack(hs, dim=1), y)
        grads = [total + g for total, g in zip(grads, torch.autograd.grad(loss, params[:3]), strict=True)]
        losses.append(loss.detach())
    return torch.stack(losses), tuple(grads), h.detach()


@TRUNCATED_BPTT.misconception(
    "Only the gradients of the last chunk are returned",
    fails=TRUNCATED_BPTT.all_but("forward", "one_chunk"),
    hints=(
        "Losses and state are right; your gradients are those of the last chunk.",
        "Each chunk overwrites what the one before has found.",
        "Read the equation of truncated BPTT: g is a sum over the chunks.",
    ),
)
def truncated_bptt__last_chunk_only(chunks, h0, params, chunk_loss):
    h, losses = h0, []
    for x, y in chunks:
        hs = rnn_forward(x, h.detach(), params)
        loss = chunk_loss(hs, y)
        grads = torch.autograd.grad(loss, params[:3])
        losses.append(loss.detach())
        h = hs[:, -1]
    return torch.stack(losses), grads, h.detach()


@TRUNCATED_BPTT.misconception(
    "The gradients are averaged over the chunks",
    fails=TRUNCATED_BPTT.all_but("forward", "one_chunk"),
    hints=(
        "With one chunk you are right; with three your gradients are a third of what they should be.",
        "The sum is divided by the number of chunks.",
        "Read the equation of truncated BPTT: g is a sum over the chunks.",
    ),
)
def truncated_bptt__averaged(chunks, h0, params, chunk_loss):
    h, losses = h0, []
    for x, y in chunks:
        hs = rnn_forward(x, h.detach(), params)
        losses.append(chunk_loss(hs, y))
        h = hs[:, -1]
    return torch.stack(losses).detach(), torch.autograd.grad(sum(losses) / len(losses), params[:3]), h.detach()


@TRUNCATED_BPTT.misconception(
    "Gradients of an earlier call are still in .grad and are counted again",
    fails=("truncated_bptt_twice",),
    hints=(
        "The first call is right; a second call with the same parameters returns twice as much.",
        "backward() adds to what .grad already holds. Empty it first, or ask for the gradients with "
        "torch.autograd.grad, which leaves .grad alone.",
        "Read what the task says about .grad.",
    ),
)
def truncated_bptt__old_gradients(chunks, h0, params, chunk_loss):
    h, losses = h0, []
    for x, y in chunks:
        hs = rnn_forward(x, h.detach(), params)
        loss = chunk_loss(hs, y)
        loss.backward()
        losses.append(loss.detach())
        h = hs[:, -1]
    return torch.stack(losses), tuple(p.grad for p in params[:3]), h.detach()


@TRUNCATED_BPTT.misconception(
    "The last state still has its history",
    fails=("truncated_bptt_twice",),
    hints=(
        "All values are right, but the state that you return still hangs on the graph of the last chunk.",
        "The states between chunks are detached, the one after the last chunk is not. Whoever goes on from it would "
        "run into the graph that is already gone.",
        "Read what the task says about h: without a history.",
    ),
)
def truncated_bptt__history_kept(chunks, h0, params, chunk_loss):
    h, losses, grads = h0, [], [torch.zeros_like(p) for p in params[:3]]
    for x, y in chunks:
        hs = rnn_forward(x, h.detach(), params)
        loss = chunk_loss(hs, y)
        grads = [
            total + g for total, g in zip(grads, torch.autograd.grad(loss, params[:3], retain_graph=True), strict=True)
        ]
        losses.append(loss.detach())
        h = hs[:, -1]
    return torch.stack(losses), tuple(grads), h


@TRUNCATED_BPTT.misconception(
    "The first state of a chunk is carried on instead of the last",
    fails=TRUNCATED_BPTT.all_but("single_steps"),
    hints=(
        "The first loss is right; later chunks start from the wrong state.",
        "hs[:, 0] is the state after the first step of the chunk. The next chunk goes on from where this one ended.",
        "Read the equation of truncated BPTT: which index does the state have that is carried on?",
    ),
)
def truncated_bptt__first_state_carried(chunks, h0, params, chunk_loss):
    h, losses, grads = h0, [], [torch.zeros_like(p) for p in params[:3]]
    for x, y in chunks:
        hs = rnn_forward(x, h.detach(), params)
        loss = chunk_loss(hs, y)
        grads = [total + g for total, g in zip(grads, torch.autograd.grad(loss, params[:3]), strict=True)]
        losses.append(loss.detach())
        h = hs[:, 0]
    return torch.stack(losses), tuple(grads), h.detach()


@TRUNCATED_BPTT.misconception(
    "The state is never detached, and retain_graph silences torch",
    fails=TRUNCATED_BPTT.all_but("forward", "one_chunk"),
    hints=(
        "Losses and state are right; your gradients reach back through all chunks, and so would those of whoever goes "
        "on from your h.",
        "torch complained that a graph was gone, and retain_graph=True kept it. The graph should have been gone: "
        "between two chunks the state is to forget how it was made.",
        "Read the equation of truncated BPTT: what happens to the state between two chunks?",
    ),
)
def truncated_bptt__graph_retained(chunks, h0, params, chunk_loss):
    h, losses, totals = h0, [], [0, 0, 0]
    for x, y in chunks:
        hs = rnn_forward(x, h, params)
        loss = chunk_loss(hs, y)
        found = torch.autograd.grad(loss, params[:3], retain_graph=True)
        totals = [total + g for total, g in zip(totals, found, strict=True)]
        losses.append(loss.detach())
        h = hs[:, -1]
    return torch.stack(losses), tuple(totals), h


@TRUNCATED_BPTT.misconception(
    "The nonlinearity is always tanh",
    fails=("truncated_bptt_phi",),
    hints=(
        "With tanh you are right; with another nonlinearity you compute tanh all the same.",
        "params holds four things, and phi is one of them. It was lost when the three weights were taken out.",
        "Read the example of the task: its phi is not tanh.",
    ),
)
def truncated_bptt__tanh_always(chunks, h0, params, chunk_loss):
    h, losses, grads = h0, [], [torch.zeros_like(p) for p in params[:3]]
    for x, y in chunks:
        hs = rnn_forward(x, h.detach(), RNNParams(*params[:3]))
        loss = chunk_loss(hs, y)
        grads = [total + g for total, g in zip(grads, torch.autograd.grad(loss, params[:3]), strict=True)]
        losses.append(loss.detach())
        h = hs[:, -1]
    return torch.stack(losses), tuple(grads), h.detach()


# ---- 2.7 spectral_radius ----

SPECTRAL_RADIUS = Exercise(
    number="2.7",
    references=(gradients.spectral_radius,),
    probe_module=probes,
    points=1,
    minutes=5,
    difficulty=1,
)


@SPECTRAL_RADIUS.misconception(
    "The largest singular value is returned",
    fails=SPECTRAL_RADIUS.all_but(),
    hints=(
        "Your number is too large; for a triangular matrix with small diagonal it is far too large.",
        "The largest singular value says how much W can stretch a vector in one step. The spectral radius says what "
        "remains per step after many. For normal matrices the two are equal, in general they are not.",
        "Read the equation of the spectral radius: eigenvalues.",
    ),
)
def spectral_radius__singular_value(W):
    return torch.linalg.matrix_norm(W, ord=2)


@SPECTRAL_RADIUS.misconception(
    "Only the real parts count, and the largest of them is returned",
    fails=(
        "spectral_radius_complex",
        "spectral_radius_negative",
        "spectral_radius_triangular",
        "spectral_radius_random",
    ),
    hints=(
        "Where the largest eigenvalue is negative or complex, your number is too small.",
        "A negative eigenvalue of -3 grows as fast as one of 3, and a complex pair grows by its distance from zero.",
        "Read the equation of the spectral radius: what do the bars mean for a complex number?",
    ),
)
def spectral_radius__largest_real_part(W):
    return torch.linalg.eigvals(W).real.max()


@SPECTRAL_RADIUS.misconception(
    "Only the real parts count, and the largest of their absolute values is returned",
    fails=("spectral_radius_complex", "spectral_radius_random"),
    hints=(
        "With real eigenvalues you are right; with a complex pair at the edge your number is too small.",
        "Taking the real part throws away how far a complex eigenvalue lies from zero. It turns and grows at once.",
        "Read the equation of the spectral radius: what do the bars mean for a complex number?",
    ),
)
def spectral_radius__real_parts(W):
    return torch.linalg.eigvals(W).real.abs().max()


@SPECTRAL_RADIUS.misconception(
    "The Frobenius norm is returned",
    fails=SPECTRAL_RADIUS.all_but(),
    hints=(
        "Your number is much too large: it contains all entries of W.",
        "The root of the sum of all squares is a size of W, but it does not say what repeated multiplication does.",
        "Read the equation of the spectral radius: eigenvalues.",
    ),
)
def spectral_radius__frobenius(W):
    return torch.linalg.norm(W)


@SPECTRAL_RADIUS.misconception(
    "W is taken for a symmetric matrix",
    fails=SPECTRAL_RADIUS.all_but("triangular"),
    hints=(
        "Your number would be right for a symmetric W.",
        "eigvalsh and eigh read one triangle of the matrix and mirror it. A recurrent matrix is not symmetric.",
        "Read what the task says about W.",
    ),
)
def spectral_radius__symmetric(W):
    return torch.linalg.eigvalsh(W).abs().max()


@SPECTRAL_RADIUS.misconception(
    "The eigenvalue itself is returned instead of its absolute value",
    fails=SPECTRAL_RADIUS.all_but(),
    hints=(
        "You found the right eigenvalue, but you return it with its sign, or as a complex number.",
        "A radius is a distance from zero, so it is real and never negative.",
        "Read the equation of the spectral radius: what stands around the eigenvalue?",
    ),
)
def spectral_radius__eigenvalue_itself(W):
    eigenvalues = torch.linalg.eigvals(W)
    return eigenvalues[eigenvalues.abs().argmax()]


@SPECTRAL_RADIUS.misconception(
    "The largest entry of W is returned",
    fails=SPECTRAL_RADIUS.all_but(),
    hints=(
        "Your number is an entry of W.",
        "The absolute values of the entries were taken, not those of the eigenvalues.",
        "Read the equation of the spectral radius: eigenvalues.",
    ),
)
def spectral_radius__largest_entry(W):
    return W.abs().max()


EXERCISES = (
    NUMERICAL_GRAD,
    RNN_STEP_BACKWARD,
    BPTT,
    JACOBIAN_PRODUCT,
    CLIP_GLOBAL_NORM,
    TRUNCATED_BPTT,
    SPECTRAL_RADIUS,
)
