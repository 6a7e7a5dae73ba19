"""The exercises of chapter 14 and the mistakes that the judge knows by name."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F

from autograder.exercise import Exercise
from autograder.probes import ch14_beyond as probes
from unrolled import alignment, vision
from unrolled import contrastive as hidden_frames
from unrolled.vision import patchify

SETUP_NAMES = frozenset({"ViTEmbedParams"})


# ---- 14.1 bt_loss ----

BT_LOSS = Exercise(
    number="14.1",
    references=(alignment.bt_loss,),
    probe_module=probes,
    points=3,
    minutes=15,
    difficulty=2,
)
_CHOICE = "Read the equation of P: which reward stands first, and what is done to their difference?"
_PROMPT = "Read the equation of L: its two sums, and what stands before each."


@BT_LOSS.misconception(
    "The loser is preferred: the difference has the wrong sign",
    fails=BT_LOSS.all_but(),
    hints=(
        "Your loss is low where the answers that lost have the higher reward.",
        "The difference is r_l - r_w. A high reward for the preferred answer must make the choice likely.",
        _CHOICE,
    ),
)
def bt_loss__sign(r_w, r_l, mask):
    surprise = -F.logsigmoid(r_l - r_w)
    return ((mask * surprise).sum(dim=1) / mask.sum(dim=1)).mean()


@BT_LOSS.misconception(
    "The minus before the logarithm is missing",
    fails=BT_LOSS.all_but(),
    hints=(
        "Your loss is negative.",
        "The logarithm of a probability is at most 0. To make it small would make the choices of people unlikely.",
        "Read the equation of L: its sign.",
    ),
)
def bt_loss__no_minus(r_w, r_l, mask):
    logp = F.logsigmoid(r_w - r_l)
    return ((mask * logp).sum(dim=1) / mask.sum(dim=1)).mean()


@BT_LOSS.misconception(
    "The sigmoid is taken twice",
    fails=BT_LOSS.all_but(),
    hints=(
        "Your loss never goes below 0.31, however sure the rewards are.",
        "logsigmoid, and a cross-entropy with logits, take the sigmoid themselves. It was taken before, too.",
        _CHOICE,
    ),
)
def bt_loss__sigmoid_twice(r_w, r_l, mask):
    surprise = -F.logsigmoid(torch.sigmoid(r_w - r_l))
    return ((mask * surprise).sum(dim=1) / mask.sum(dim=1)).mean()


@BT_LOSS.misconception(
    "Each reward goes through a sigmoid before they are compared",
    fails=BT_LOSS.all_but(),
    hints=(
        "Rewards of 5 and of 50 are almost the same to you.",
        "A reward is any number. Squeezed between 0 and 1, two of them differ by at most 1, and P never leaves "
        "0.27 to 0.73.",
        _CHOICE,
    ),
)
def bt_loss__squeezed_rewards(r_w, r_l, mask):
    surprise = -F.logsigmoid(torch.sigmoid(r_w) - torch.sigmoid(r_l))
    return ((mask * surprise).sum(dim=1) / mask.sum(dim=1)).mean()


@BT_LOSS.misconception(
    "The logarithm is missing",
    fails=BT_LOSS.all_but(),
    hints=(
        "Your loss lies between -1 and 0.",
        "The probability itself was taken. A choice that was thought impossible must cost much more than one that was "
        "thought unlikely.",
        "Read the equation of L: what is done to σ?",
    ),
)
def bt_loss__no_logarithm(r_w, r_l, mask):
    p = torch.sigmoid(r_w - r_l)
    return -((mask * p).sum(dim=1) / mask.sum(dim=1)).mean()


@BT_LOSS.misconception(
    "A squared error of the probability",
    fails=BT_LOSS.all_but(),
    hints=(
        "Your loss is never above 1, not even where the model was quite wrong.",
        "(1 - P)² was taken. Where the model is sure and wrong, its gradient is almost 0: it learns nothing there.",
        "Read the equation of L: it is a logarithm.",
    ),
)
def bt_loss__squared_probability(r_w, r_l, mask):
    surprise = (1 - torch.sigmoid(r_w - r_l)).square()
    return ((mask * surprise).sum(dim=1) / mask.sum(dim=1)).mean()


@BT_LOSS.misconception(
    "A squared error of the rewards: 1 for the better answer, 0 for the other",
    fails=BT_LOSS.all_but(),
    hints=(
        "Your loss changes when the same number is added to all rewards.",
        "Nobody said that a good answer has the reward 1. People only say which of two is better: the difference "
        "counts.",
        _CHOICE,
    ),
)
def bt_loss__squared_rewards(r_w, r_l, mask):
    surprise = (r_w - 1).square() + r_l.square()
    return ((mask * surprise).sum(dim=1) / mask.sum(dim=1)).mean()


@BT_LOSS.misconception(
    "Each answer is judged alone: good or bad",
    fails=BT_LOSS.all_but(),
    hints=(
        "Your loss changes when the same number is added to all rewards.",
        "-log σ(r_w) - log σ(-r_l) asks whether an answer is good, not whether it is better than the other.",
        _CHOICE,
    ),
)
def bt_loss__each_alone(r_w, r_l, mask):
    surprise = -F.logsigmoid(r_w) - F.logsigmoid(-r_l)
    return ((mask * surprise).sum(dim=1) / mask.sum(dim=1)).mean()


@BT_LOSS.misconception(
    "The mean over all pairs: prompts with many pairs count more",
    fails=BT_LOSS.all_but("all", "one_pair", "one_prompt", "far_apart"),
    hints=(
        "Where each prompt has as many pairs as the others, or there is only one, you are right.",
        "All pairs were thrown together. First comes the mean over the pairs of a prompt, then that over the prompts.",
        _PROMPT,
    ),
)
def bt_loss__all_pairs(r_w, r_l, mask):
    surprise = -F.logsigmoid(r_w - r_l)
    return (mask * surprise).sum() / mask.sum()


@BT_LOSS.misconception(
    "The mean over the prompts comes first",
    fails=BT_LOSS.all_but("all", "one_pair", "far_apart"),
    hints=(
        "Where all pairs are real you are right.",
        "The first mean ran over axis 0: over the first pairs of all prompts, then the second pairs. Axis 0 is the "
        "prompts, axis 1 their pairs.",
        _PROMPT,
    ),
)
def bt_loss__wrong_axis(r_w, r_l, mask):
    surprise = -F.logsigmoid(r_w - r_l)
    return ((mask * surprise).sum(dim=0) / mask.sum(dim=0)).mean()


@BT_LOSS.misconception(
    "Places that hold no pair are counted",
    fails=BT_LOSS.all_but("all", "one_pair", "far_apart"),
    hints=(
        "Where all pairs are real you are right.",
        "The mask was not used: the mean ran over all places.",
        "Read what the task says about the mask.",
    ),
)
def bt_loss__no_mask(r_w, r_l, mask):
    return -F.logsigmoid(r_w - r_l).mean()


@BT_LOSS.misconception(
    "Divided by the number of places, not of pairs",
    fails=BT_LOSS.all_but("all", "one_pair", "far_apart"),
    hints=(
        "Where all pairs are real you are right. Elsewhere your loss is too low.",
        "Places without a pair were set to 0, and then the mean ran over them, too.",
        "Read the equation of L: n_b, and what the task says of it.",
    ),
)
def bt_loss__divided_by_places(r_w, r_l, mask):
    return -(mask * F.logsigmoid(r_w - r_l)).mean()


@BT_LOSS.misconception(
    "The pairs of a prompt are added up",
    fails=BT_LOSS.all_but("one_pair"),
    hints=(
        "With one pair for each prompt you are right. With more, your loss is too high.",
        "The sum over the pairs was not divided by their number, so a prompt with many pairs counts more.",
        _PROMPT,
    ),
)
def bt_loss__pairs_added(r_w, r_l, mask):
    surprise = -F.logsigmoid(r_w - r_l)
    return (mask * surprise).sum(dim=1).mean()


@BT_LOSS.misconception(
    "The rewards are averaged before they are compared",
    fails=BT_LOSS.all_but("one_pair"),
    hints=(
        "With one pair for each prompt you are right. With more, your loss is too low.",
        "The mean reward of the winners was compared with that of the losers. Each pair is a comparison of its own.",
        "Read the equation of L: does the sum stand inside or outside the logarithm?",
    ),
)
def bt_loss__rewards_averaged(r_w, r_l, mask):
    difference = (mask * (r_w - r_l)).sum(dim=1) / mask.sum(dim=1)
    return -F.logsigmoid(difference).mean()


@BT_LOSS.misconception(
    "Infinite where the probability is rounded to 0",
    fails=("bt_loss_far_apart",),
    hints=(
        "All is right but where the rewards are far apart: there your loss is infinite.",
        "σ(-900) is rounded to 0, and its logarithm is -∞. F.logsigmoid takes both in one and knows that it is -900.",
        "Read what the task says about a σ that is rounded to 0.",
    ),
)
def bt_loss__infinite(r_w, r_l, mask):
    surprise = -torch.log(torch.sigmoid(r_w - r_l))
    return (torch.where(mask, surprise, 0).sum(dim=1) / mask.sum(dim=1)).mean()


@BT_LOSS.misconception(
    "Finite, but only because something small was added",
    fails=("bt_loss_far_apart",),
    hints=(
        "All is right but where the rewards are far apart: there your loss is finite, and far too small.",
        "With 1e-8 inside the logarithm no surprise is above 18.4, and beyond that nothing is learned. F.logsigmoid "
        "needs no such number and knows that log σ(-900) is -900.",
        "Read what the task says about a σ that is rounded to 0.",
    ),
)
def bt_loss__something_added(r_w, r_l, mask):
    surprise = -torch.log(torch.sigmoid(r_w - r_l) + 1e-8)
    return (torch.where(mask, surprise, 0).sum(dim=1) / mask.sum(dim=1)).mean()


@BT_LOSS.misconception(
    "The mask comes before the logarithm",
    fails=BT_LOSS.all_but("all", "one_pair", "far_apart"),
    hints=(
        "Where all pairs are real you are right. Elsewhere your loss is too high.",
        "The difference was set to 0 where there is no pair. But -log σ(0) is log 2, and not 0: every such place adds "
        "that much. The surprise has to be masked.",
        "Read the equation of L: what does the inner sum run over?",
    ),
)
def bt_loss__mask_before_log(r_w, r_l, mask):
    surprise = -F.logsigmoid(mask * (r_w - r_l))
    return (surprise.sum(dim=1) / mask.sum(dim=1)).mean()


# ---- 14.2 pg_loss ----

PG_LOSS = Exercise(
    number="14.2",
    references=(alignment.pg_loss,),
    probe_module=probes,
    points=4,
    minutes=25,
    difficulty=3,
    equivalent={"return -(A * logp).mean()": "to take off no mean is a right convention."},
)
_NUMBERS = "Read what the task says about A: which gradients go through it?"
_PENALTY = "Read the equation of A."
_POLICY = "Read the equation of L."


@PG_LOSS.misconception(
    "The minus is missing: high rewards become unlikely",
    fails=PG_LOSS.all_but(),
    hints=(
        "Your gradient has the wrong sign throughout.",
        "An optimiser makes the loss small. Without the minus it makes answers with a high reward less likely.",
        "Read the equation of L: its sign.",
    ),
)
def pg_loss__no_minus(lp, R, beta, lp_ref, mask):
    logp, logp_ref = (mask * lp).sum(dim=1), (mask * lp_ref).sum(dim=1)
    A = (R - beta * (logp - logp_ref)).detach()
    return ((A - A.mean()) * logp).mean()


@PG_LOSS.misconception(
    "The penalty has the wrong sign: the policy is driven away from the reference",
    fails=PG_LOSS.all_but("free", "at_the_start"),
    hints=(
        "With beta = 0, and as long as the policy is the reference, you are right.",
        "log π - log π_ref is large where the policy has become surer than the reference was. That is taken off the "
        "reward; you add it.",
        "Read the equation of A: the sign before β, and the order of the two terms behind it.",
    ),
)
def pg_loss__penalty_sign(lp, R, beta, lp_ref, mask):
    logp, logp_ref = (mask * lp).sum(dim=1), (mask * lp_ref).sum(dim=1)
    A = (R + beta * (logp - logp_ref)).detach()
    return -((A - A.mean()) * logp).mean()


@PG_LOSS.misconception(
    "No penalty: the reference policy plays no part",
    fails=PG_LOSS.all_but("free", "at_the_start"),
    hints=(
        "With beta = 0, and as long as the policy is the reference, you are right.",
        "β and lp_ref were not used. Nothing holds the policy back.",
        _PENALTY,
    ),
)
def pg_loss__no_penalty(lp, R, beta, lp_ref, mask):
    A = R.detach()
    return -((A - A.mean()) * (mask * lp).sum(dim=1)).mean()


@PG_LOSS.misconception(
    "A gradient goes through the reward",
    fails=("pg_loss_gradients",),
    hints=(
        "Your loss is right. But the reward model gets a gradient, too.",
        "It would learn to praise what the policy does. To the policy a reward is a number: detach it.",
        _NUMBERS,
    ),
)
def pg_loss__reward_learns(lp, R, beta, lp_ref, mask):
    logp, logp_ref = (mask * lp).sum(dim=1), (mask * lp_ref).sum(dim=1)
    A = R - beta * (logp - logp_ref).detach()
    return -((A - A.mean()) * logp).mean()


@PG_LOSS.misconception(
    "The reference policy is not frozen",
    fails=("pg_loss_gradients",),
    hints=(
        "Your loss is right. But the reference policy gets a gradient, too.",
        "It would move along with the policy, and then it holds nothing back. Detach lp_ref.",
        _NUMBERS,
    ),
)
def pg_loss__reference_learns(lp, R, beta, lp_ref, mask):
    logp, logp_ref = (mask * lp).sum(dim=1), (mask * lp_ref).sum(dim=1)
    A = R.detach() - beta * (logp.detach() - logp_ref)
    return -((A - A.mean()) * logp).mean()


@PG_LOSS.misconception(
    "A gradient goes through the penalty a second time into the policy",
    fails=PG_LOSS.all_but("free", "untouched"),
    hints=(
        "The value of your loss is right, its gradient is not; with beta = 0 both are.",
        "log π stands in A, too, and there it is a number like the reward. The gradient of the product went through "
        "both factors.",
        _NUMBERS,
    ),
)
def pg_loss__policy_twice(lp, R, beta, lp_ref, mask):
    logp, logp_ref = (mask * lp).sum(dim=1), (mask * lp_ref).sum(dim=1)
    A = R.detach() - beta * (logp - logp_ref.detach())
    return -((A - A.mean()) * logp).mean()


@PG_LOSS.misconception(
    "Nothing is detached",
    fails=PG_LOSS.all_but("free", "untouched"),
    hints=(
        "The value of your loss is right. Gradients reach the reward model, the reference policy, and the policy "
        "twice.",
        "A is a number that says how good an answer was. Without detach() it is a part of what is learned.",
        _NUMBERS,
    ),
)
def pg_loss__nothing_detached(lp, R, beta, lp_ref, mask):
    logp, logp_ref = (mask * lp).sum(dim=1), (mask * lp_ref).sum(dim=1)
    A = R - beta * (logp - logp_ref)
    return -((A - A.mean()) * logp).mean()


@PG_LOSS.misconception(
    "The penalty stands beside the policy gradient and is differentiated itself",
    fails=PG_LOSS.all_but("free"),
    hints=(
        "With beta = 0 you are right. With more, each answer is pushed down by the same amount.",
        "log π - log π_ref of what was drawn estimates the distance, but its own gradient is that of log π alone, "
        "which is 0 on average and knows nothing of the reference. The penalty belongs to the reward.",
        _PENALTY,
    ),
)
def pg_loss__penalty_beside(lp, R, beta, lp_ref, mask):
    logp, logp_ref = (mask * lp).sum(dim=1), (mask * lp_ref).sum(dim=1)
    A = R.detach()
    return -((A - A.mean()) * logp).mean() + beta * (logp - logp_ref.detach()).mean()


@PG_LOSS.misconception(
    "The penalty stands beside the policy gradient, and both policies get a gradient from it",
    fails=PG_LOSS.all_but("free"),
    hints=(
        "With beta = 0 you are right. With more, each answer is pushed down by the same amount, and the reference "
        "policy is trained, too.",
        "log π - log π_ref of what was drawn estimates the distance, but its own gradient is that of log π alone, "
        "which is 0 on average, and one of log π_ref, which should stand still. The penalty belongs to the reward.",
        _PENALTY,
    ),
)
def pg_loss__penalty_beside_not_detached(lp, R, beta, lp_ref, mask):
    logp, logp_ref = (mask * lp).sum(dim=1), (mask * lp_ref).sum(dim=1)
    A = R.detach()
    return -((A - A.mean()) * logp).mean() + beta * (logp - logp_ref).mean()


@PG_LOSS.misconception(
    "Nothing is detached, and no mean is taken off",
    fails=PG_LOSS.all_but(),
    hints=(
        "To take off no mean is right, and so is the value of your loss. Its gradients also reach the reward model, "
        "the reference policy, and the policy a second time.",
        "A is a number that says how good an answer was. Without detach() it is a part of what is learned.",
        _NUMBERS,
    ),
)
def pg_loss__nothing_detached_no_mean(lp, R, beta, lp_ref, mask):
    logp, logp_ref = (mask * lp).sum(dim=1), (mask * lp_ref).sum(dim=1)
    return -((R - beta * (logp - logp_ref)) * logp).mean()


@PG_LOSS.misconception(
    "Pads count in the penalty",
    fails=PG_LOSS.all_but("one_length", "one_token", "free", "at_the_start"),
    hints=(
        "With beta = 0, and where all answers are of one length, you are right.",
        "The mask was used for the log-probability of an answer and not for its penalty: what stands behind the end of "
        "the answer was added there.",
        "Read the equation of A: what stands before the bracket?",
    ),
)
def pg_loss__pads_in_penalty(lp, R, beta, lp_ref, mask):
    A = (R - beta * (lp - lp_ref).sum(dim=1)).detach()
    return -((A - A.mean()) * (mask * lp).sum(dim=1)).mean()


@PG_LOSS.misconception(
    "The penalty of an answer is a mean over its tokens",
    fails=PG_LOSS.all_but("one_token", "free", "at_the_start"),
    hints=(
        "Answers of one token are right. In longer ones the penalty is too small.",
        "The reward is one for the whole answer. So is the penalty: the log-probability of an answer is the sum over "
        "its tokens.",
        _PENALTY,
    ),
)
def pg_loss__mean_penalty(lp, R, beta, lp_ref, mask):
    logp, drift = (mask * lp).sum(dim=1), (mask * (lp - lp_ref)).sum(dim=1) / mask.sum(dim=1)
    A = (R - beta * drift).detach()
    return -((A - A.mean()) * logp).mean()


@PG_LOSS.misconception(
    "The log-probability of an answer is a mean over its tokens",
    fails=PG_LOSS.all_but("one_token"),
    hints=(
        "Answers of one token are right. The tokens of longer ones get too small a gradient.",
        "The probability of an answer is the product over its tokens, and so its logarithm is the sum. The mean makes "
        "long answers move less.",
        _POLICY,
    ),
)
def pg_loss__mean_logp(lp, R, beta, lp_ref, mask):
    logp, logp_ref = (mask * lp).sum(dim=1), (mask * lp_ref).sum(dim=1)
    A = (R - beta * (logp - logp_ref)).detach()
    return -((A - A.mean()) * logp / mask.sum(dim=1)).mean()


@PG_LOSS.misconception(
    "Both are means over the tokens",
    fails=PG_LOSS.all_but("one_token"),
    hints=(
        "Answers of one token are right.",
        "Penalty and log-probability of an answer are sums over its tokens. You have taken means.",
        "Read both equations: what do the sums over t run over, and is anything divided?",
    ),
)
def pg_loss__means(lp, R, beta, lp_ref, mask):
    n = mask.sum(dim=1)
    logp, logp_ref = (mask * lp).sum(dim=1) / n, (mask * lp_ref).sum(dim=1) / n
    A = (R - beta * (logp - logp_ref)).detach()
    return -((A - A.mean()) * logp).mean()


@PG_LOSS.misconception(
    "Each token pays its own penalty only",
    fails=PG_LOSS.all_but("one_token"),
    hints=(
        "Answers of one token are right, and so is beta = 0 where all have one length.",
        "The reward of the answer and the penalty of a token were mixed. A is one number for an answer: what all its "
        "tokens cost together.",
        _PENALTY,
    ),
)
def pg_loss__token_by_token(lp, R, beta, lp_ref, mask):
    A = (R[:, None] - beta * (lp - lp_ref)).detach()
    mean = (mask * A).sum() / mask.sum()
    return -(mask * (A - mean) * lp).sum(dim=1).mean()


@PG_LOSS.misconception(
    "Pads are counted as tokens",
    fails=PG_LOSS.all_but("one_length", "one_token"),
    hints=(
        "Where all answers are of one length you are right.",
        "The mask was not used: what stands behind the end of an answer was added, too.",
        "Read what the task says about the mask.",
    ),
)
def pg_loss__pads(lp, R, beta, lp_ref, mask):
    logp, logp_ref = lp.sum(dim=1), lp_ref.sum(dim=1)
    A = (R - beta * (logp - logp_ref)).detach()
    return -((A - A.mean()) * logp).mean()


@PG_LOSS.misconception(
    "A is divided by its spread",
    fails=PG_LOSS.all_but(),
    hints=(
        "Your gradients point the right way, and are too small or too large by one factor.",
        "Some programs bring A to a spread of 1. Then rewards of 0.01 and of 100 count the same, and so does any β "
        "when all rewards are equal. It is not asked for.",
        _POLICY,
    ),
)
def pg_loss__spread(lp, R, beta, lp_ref, mask):
    logp, logp_ref = (mask * lp).sum(dim=1), (mask * lp_ref).sum(dim=1)
    A = (R - beta * (logp - logp_ref)).detach()
    return -((A - A.mean()) / A.std() * logp).mean()


@PG_LOSS.misconception(
    "The answers are added up, not averaged",
    fails=PG_LOSS.all_but(),
    hints=(
        "Your loss is too large, by the number of answers.",
        "The sum over the answers was not divided by B. A larger batch would take larger steps.",
        "Read the equation of L: what stands before the first sum?",
    ),
)
def pg_loss__summed(lp, R, beta, lp_ref, mask):
    logp, logp_ref = (mask * lp).sum(dim=1), (mask * lp_ref).sum(dim=1)
    A = (R - beta * (logp - logp_ref)).detach()
    return -((A - A.mean()) * logp).sum()


@PG_LOSS.convention("no mean is taken off A")
def pg_loss__without_baseline(lp, R, beta, lp_ref, mask):
    logp, logp_ref = (mask * lp).sum(dim=1), (mask * lp_ref).sum(dim=1)
    return -((R - beta * (logp - logp_ref)).detach() * logp).mean()


@PG_LOSS.convention("the mean of the rewards alone is taken off")
def pg_loss__reward_baseline(lp, R, beta, lp_ref, mask):
    logp, logp_ref = (mask * lp).sum(dim=1), (mask * lp_ref).sum(dim=1)
    return -((R - R.mean() - beta * (logp - logp_ref)).detach() * logp).mean()


@PG_LOSS.convention("the mean over the other answers is taken off")
def pg_loss__leave_one_out(lp, R, beta, lp_ref, mask):
    logp, logp_ref = (mask * lp).sum(dim=1), (mask * lp_ref).sum(dim=1)
    A = (R - beta * (logp - logp_ref)).detach()
    others = (A.sum() - A) / (len(A) - 1)
    return -((A - others) * logp).mean()


# ---- 14.3 patchify ----

PATCHIFY = Exercise(
    number="14.3",
    references=(vision.patchify,),
    probe_module=probes,
    points=2,
    minutes=15,
    difficulty=2,
)
_GRID = "Read the equation: the second index of x. Which of i and j makes the larger steps?"
_INSIDE = "Read the equation: the third index of x. Which of c, u and v makes the largest steps, which the smallest?"


@PATCHIFY.misconception(
    "The patches come column by column",
    fails=PATCHIFY.all_but("one_row"),
    hints=(
        "Each of your patches is right, but they come in another order; one row of them is right.",
        "Rows and columns of the grid were exchanged: after the first patch comes the one on its right, not the one "
        "below.",
        _GRID,
    ),
)
def patchify__columns_first(img, p):
    B, C, H, W = img.shape
    grid = img.reshape(B, C, H // p, p, W // p, p).permute(0, 4, 2, 1, 3, 5)
    return grid.reshape(B, -1, C * p * p)


@PATCHIFY.misconception(
    "The pixels of a patch come column by column",
    fails=PATCHIFY.all_but("one_pixel"),
    hints=(
        "Your patches come in the right order, but each lies on its side; those of one pixel are right.",
        "Within a patch, u (the row) and v (the column) were exchanged.",
        _INSIDE,
    ),
)
def patchify__pixels_turned(img, p):
    B, C, H, W = img.shape
    grid = img.reshape(B, C, H // p, p, W // p, p).permute(0, 2, 4, 1, 5, 3)
    return grid.reshape(B, -1, C * p * p)


@PATCHIFY.misconception(
    "Height and width are exchanged",
    fails=PATCHIFY.all_but(),
    hints=(
        "You read the picture from top to bottom: the patches, and the pixels within them.",
        "The shape of img is (B, C, H, W): the third axis is the height. Yours is the picture turned over its "
        "diagonal.",
        _GRID,
    ),
)
def patchify__turned(img, p):
    B, C, H, W = img.shape
    grid = img.mT.reshape(B, C, W // p, p, H // p, p).permute(0, 2, 4, 1, 3, 5)
    return grid.reshape(B, -1, C * p * p)


@PATCHIFY.misconception(
    "The patches overlap",
    fails=PATCHIFY.all_but("one_pixel"),
    hints=(
        "You return too many patches; those of one pixel are right.",
        "The window went on by one pixel. It goes on by p: then every pixel stands in one patch only.",
        "Read what the task says about T.",
    ),
)
def patchify__overlapping(img, p):
    windows = img.unfold(2, p, 1).unfold(3, p, 1)
    return windows.permute(0, 2, 3, 1, 4, 5).flatten(1, 2).flatten(2)


@PATCHIFY.misconception(
    "The channels of a pixel stand together",
    fails=PATCHIFY.all_but("one_channel", "one_pixel"),
    hints=(
        "With one channel, and with patches of one pixel, you are right.",
        "Within a patch the channel came last: red, green, blue of the first pixel. Here all of the first channel "
        "comes first.",
        _INSIDE,
    ),
)
def patchify__channels_last(img, p):
    B, C, H, W = img.shape
    grid = img.reshape(B, C, H // p, p, W // p, p).permute(0, 2, 4, 3, 5, 1)
    return grid.reshape(B, -1, C * p * p)


@PATCHIFY.misconception(
    "The channels are interleaved row by row",
    fails=PATCHIFY.all_but("one_channel", "one_pixel"),
    hints=(
        "With one channel, and with patches of one pixel, you are right.",
        "Within a patch came the first row of every channel, then the second row of every channel. Here all rows of "
        "the first channel come first.",
        _INSIDE,
    ),
)
def patchify__rows_interleaved(img, p):
    B, C, H, W = img.shape
    grid = img.reshape(B, C, H // p, p, W // p, p).permute(0, 2, 4, 3, 1, 5)
    return grid.reshape(B, -1, C * p * p)


@PATCHIFY.misconception(
    "Each channel makes patches of its own",
    fails=PATCHIFY.all_but("one_channel"),
    hints=(
        "With one channel you are right. With more you return too many patches, and too short ones.",
        "A patch holds all channels of its square.",
        "Read what the task says about the result: its shape.",
    ),
)
def patchify__channels_apart(img, p):
    B, C, H, W = img.shape
    grid = img.reshape(B, C, H // p, p, W // p, p).permute(0, 1, 2, 4, 3, 5)
    return grid.reshape(B, -1, p * p)


@PATCHIFY.misconception(
    "The numbers are only counted off, not cut out",
    fails=PATCHIFY.all_but(),
    hints=(
        "Your shape is right. Your patches are pieces of single rows of the picture.",
        "reshape leaves the numbers in the order in which they lie in memory: row by row through the whole picture. "
        "The axes must be moved before the last reshape.",
        "Read the equation: in which rows of I do the numbers of one patch lie?",
    ),
)
def patchify__only_reshaped(img, p):
    B, C, H, W = img.shape
    return img.reshape(B, (H // p) * (W // p), C * p * p)


@PATCHIFY.misconception(
    "The channels still stand before the grid",
    fails=PATCHIFY.all_but("one_channel"),
    hints=(
        "With one channel you are right. With more, your shape is right, but a patch holds several squares of one "
        "channel.",
        "The squares were cut out well: (B, C, H/p, W/p, p, p). There the channel comes before the grid. Move it "
        "behind the grid before the last reshape, so that a patch holds all channels of one square.",
        _INSIDE,
    ),
)
def patchify__channels_before_grid(img, p):
    B, C = img.shape[:2]
    return img.unfold(2, p, p).unfold(3, p, p).reshape(B, -1, C * p * p)


@PATCHIFY.misconception(
    "Each patch collects pixels from all over the picture",
    fails=PATCHIFY.all_but("one_pixel"),
    hints=(
        "Your shape is right. Neighbours in your patches are no neighbours in the picture.",
        "The two parts into which an axis is split were exchanged: first comes the number of the patch, then the pixel "
        "in it.",
        "Read the equation: i·p + u. Which of the two makes the larger steps?",
    ),
)
def patchify__scattered(img, p):
    B, C, H, W = img.shape
    grid = img.reshape(B, C, p, H // p, p, W // p).permute(0, 3, 5, 1, 2, 4)
    return grid.reshape(B, -1, C * p * p)


@PATCHIFY.misconception(
    "p is taken for the number of patches in a row",
    fails=PATCHIFY.all_but(),
    hints=(
        "You always return p · p patches, whatever the size of the picture.",
        "p is the side of a patch in pixels, not how many stand side by side.",
        "Read what the task says about p and T.",
    ),
)
def patchify__p_patches(img, p):
    B, C, H, W = img.shape
    grid = img.reshape(B, C, p, H // p, p, W // p).permute(0, 2, 4, 1, 3, 5)
    return grid.reshape(B, p * p, -1)


@PATCHIFY.misconception(
    "The result lies on its side",
    fails=PATCHIFY.all_but(),
    hints=(
        "All numbers are right. Your patches are columns.",
        "F.unfold puts the patches into the last axis. Here each patch is a row, like a token.",
        "Read what the task says about the result: its shape.",
    ),
)
def patchify__transposed(img, p):
    return F.unfold(img, p, stride=p)


@PATCHIFY.misconception(
    "The patches are not written as rows",
    fails=PATCHIFY.all_but(),
    hints=(
        "All numbers are right. Your result has five axes.",
        "Each patch is still a small picture (C, p, p). It is to be one row of numbers.",
        "Read what the task says about the result: its shape.",
    ),
)
def patchify__not_flat(img, p):
    B, C, H, W = img.shape
    grid = img.reshape(B, C, H // p, p, W // p, p).permute(0, 2, 4, 1, 3, 5)
    return grid.flatten(1, 2)


@PATCHIFY.misconception(
    "The grid keeps its rows and columns",
    fails=PATCHIFY.all_but(),
    hints=(
        "All numbers are right. Your result has four axes.",
        "The patches still stand in a grid. An encoder reads a sequence: one axis for all of them, row after row.",
        "Read what the task says about the result: its shape.",
    ),
)
def patchify__grid_kept(img, p):
    B, C, H, W = img.shape
    grid = img.reshape(B, C, H // p, p, W // p, p).permute(0, 2, 4, 1, 3, 5)
    return grid.flatten(3)


# ---- 14.4 vit_embed ----

VIT_EMBED = Exercise(
    number="14.4",
    references=(vision.vit_embed,),
    probe_module=probes,
    points=3,
    minutes=15,
    difficulty=2,
    uses=("patchify",),
)
_PLACES = "Read the equation: which position does [CLS] get, and which the first patch?"
_SUM = "Read the equation: what is added to W x?"


@VIT_EMBED.misconception(
    "[CLS] comes after the positions have been added",
    fails=VIT_EMBED.all_but("no_cls"),
    hints=(
        "Without [CLS] you are right. With it, the first row is cls alone, and every patch has its neighbour's "
        "position.",
        "The patches got the positions from 0 on, and then [CLS] was put in front, with none. Put it in front first.",
        _PLACES,
    ),
)
def vit_embed__cls_after_positions(img, p, params):
    x = patchify(img, p) @ params.W.T + params.b
    if params.cls is None:
        return x + params.positions
    x = x + params.positions[: x.shape[1]]
    return torch.cat([params.cls.expand(len(x), 1, -1), x], dim=1)


@VIT_EMBED.misconception(
    "[CLS] has no position",
    fails=VIT_EMBED.all_but("no_cls"),
    hints=(
        "The patches are right. The first row is cls alone.",
        "[CLS] has a place like all others, the first one, and its vector is added.",
        _PLACES,
    ),
)
def vit_embed__cls_without_position(img, p, params):
    x = patchify(img, p) @ params.W.T + params.b
    if params.cls is None:
        return x + params.positions
    return torch.cat([params.cls.expand(len(x), 1, -1), x + params.positions[1:]], dim=1)


@VIT_EMBED.misconception(
    "The patches come column by column",
    fails=VIT_EMBED.all_but("one_row", "one_patch"),
    hints=(
        "One row of patches is right. With more, the patches have each other's positions.",
        "The picture was cut from top to bottom. The patches come row by row, as patchify makes them.",
        "Read what the task says about x: where do the patches come from?",
    ),
)
def vit_embed__columns_first(img, p, params):
    B, C, H, W = img.shape
    patches = img.reshape(B, C, H // p, p, W // p, p).permute(0, 4, 2, 1, 3, 5).reshape(B, -1, C * p * p)
    x = patches @ params.W.T + params.b
    if params.cls is not None:
        x = torch.cat([params.cls.expand(B, 1, -1), x], dim=1)
    return x + params.positions


@VIT_EMBED.misconception(
    "The numbers of a patch come pixel by pixel",
    fails=VIT_EMBED.all_but("high", "one_patch", "untouched"),
    hints=(
        "With one channel you are right.",
        "The channels of each pixel stand together in your patches, and so meet other columns of W. In patchify all of "
        "the first channel comes first.",
        "Read what the task says about x: where do the patches come from?",
    ),
)
def vit_embed__channels_last(img, p, params):
    B, C, H, W = img.shape
    patches = img.reshape(B, C, H // p, p, W // p, p).permute(0, 2, 4, 3, 5, 1).reshape(B, -1, C * p * p)
    x = patches @ params.W.T + params.b
    if params.cls is not None:
        x = torch.cat([params.cls.expand(B, 1, -1), x], dim=1)
    return x + params.positions


@VIT_EMBED.misconception(
    "[CLS] stands at the end",
    fails=VIT_EMBED.all_but("no_cls"),
    hints=(
        "Without [CLS] you are right. With it, your last row is made of cls.",
        "[CLS] was put behind the patches. It comes first, and so takes position 0.",
        _PLACES,
    ),
)
def vit_embed__cls_last(img, p, params):
    x = patchify(img, p) @ params.W.T + params.b
    if params.cls is not None:
        x = torch.cat([x, params.cls.expand(len(x), 1, -1)], dim=1)
    return x + params.positions


@VIT_EMBED.misconception(
    "[CLS] has the last position",
    fails=VIT_EMBED.all_but("no_cls"),
    hints=(
        "Without [CLS] you are right. With it, the patches have the positions from 0 on.",
        "Row 0 of the table belongs to [CLS], row 1 to the first patch.",
        _PLACES,
    ),
)
def vit_embed__cls_last_position(img, p, params):
    x = patchify(img, p) @ params.W.T + params.b
    if params.cls is None:
        return x + params.positions
    cls = (params.cls + params.positions[-1]).expand(len(x), 1, -1)
    return torch.cat([cls, x + params.positions[:-1]], dim=1)


@VIT_EMBED.misconception(
    "[CLS] is missing",
    fails=VIT_EMBED.all_but("no_cls"),
    hints=(
        "Without [CLS] you are right. With it, your result is one row short.",
        "The vector cls was not used. Where there is one, it stands before the patches.",
        "Read what the task says about the result: its shape.",
    ),
)
def vit_embed__cls_missing(img, p, params):
    x = patchify(img, p) @ params.W.T + params.b
    return x + params.positions[-x.shape[1] :]


@VIT_EMBED.misconception(
    "[CLS] is added to every patch",
    fails=VIT_EMBED.all_but("no_cls"),
    hints=(
        "Without [CLS] you are right. With it, your result is one row short, and each row has cls in it.",
        "[CLS] is a token of its own: it is put before the patches, as one more row.",
        _PLACES,
    ),
)
def vit_embed__cls_summed(img, p, params):
    x = patchify(img, p) @ params.W.T + params.b
    if params.cls is not None:
        x = x + params.cls
    return x + params.positions[-x.shape[1] :]


@VIT_EMBED.misconception(
    "No positions are added",
    fails=VIT_EMBED.all_but(),
    hints=(
        "All patches that look the same are the same to you, wherever they stand.",
        "The table of positions was not used. Attention alone does not know any order.",
        _SUM,
    ),
)
def vit_embed__no_positions(img, p, params):
    x = patchify(img, p) @ params.W.T + params.b
    if params.cls is not None:
        x = torch.cat([params.cls.expand(len(x), 1, -1), x], dim=1)
    return x


@VIT_EMBED.misconception(
    "The positions are multiplied, not added",
    fails=VIT_EMBED.all_but(),
    hints=(
        "Where a position is 0 your result is 0.",
        "Content and place are added, feature by feature.",
        _SUM,
    ),
)
def vit_embed__positions_multiplied(img, p, params):
    x = patchify(img, p) @ params.W.T + params.b
    if params.cls is not None:
        x = torch.cat([params.cls.expand(len(x), 1, -1), x], dim=1)
    return x * params.positions


@VIT_EMBED.misconception(
    "The bias is missing",
    fails=VIT_EMBED.all_but(),
    hints=(
        "[CLS] is right. All patches are off by the same vector.",
        "b is added to W x, for each patch.",
        _SUM,
    ),
)
def vit_embed__no_bias(img, p, params):
    x = patchify(img, p) @ params.W.T
    if params.cls is not None:
        x = torch.cat([params.cls.expand(len(x), 1, -1), x], dim=1)
    return x + params.positions


@VIT_EMBED.misconception(
    "The bias is added to [CLS], too",
    fails=VIT_EMBED.all_but("no_cls"),
    hints=(
        "The patches are right. The first row is off by a vector.",
        "b belongs to the projection of a patch, W x + b. [CLS] is not projected: it gets its position and nothing "
        "else.",
        _SUM,
    ),
)
def vit_embed__bias_on_cls(img, p, params):
    x = patchify(img, p) @ params.W.T
    if params.cls is not None:
        x = torch.cat([params.cls.expand(len(x), 1, -1), x], dim=1)
    return x + params.b + params.positions


@VIT_EMBED.misconception(
    "The patches are multiplied by the root of D",
    fails=VIT_EMBED.all_but(),
    hints=(
        "[CLS] is right. The patches are too large.",
        "The root belongs to the Transformer of chapter 9, where it balances a small table. Here is none.",
        _SUM,
    ),
)
def vit_embed__root(img, p, params):
    x = (patchify(img, p) @ params.W.T + params.b) * math.sqrt(len(params.b))
    if params.cls is not None:
        x = torch.cat([params.cls.expand(len(x), 1, -1), x], dim=1)
    return x + params.positions


@VIT_EMBED.misconception(
    "The sum is normalised, as in BERT",
    fails=VIT_EMBED.all_but(),
    hints=(
        "All your vectors have mean 0 and variance 1.",
        "BERT normalises what its layers read. Here the layers do it themselves: their norm comes before.",
        "Read the equation: nothing follows the sum.",
    ),
)
def vit_embed__normalised(img, p, params):
    x = patchify(img, p) @ params.W.T + params.b
    if params.cls is not None:
        x = torch.cat([params.cls.expand(len(x), 1, -1), x], dim=1)
    x = x + params.positions
    return F.layer_norm(x, x.shape[-1:])


@VIT_EMBED.misconception(
    "A non-linearity follows the projection",
    fails=VIT_EMBED.all_but(),
    hints=(
        "[CLS] is right. Your patches lose all that is negative.",
        "The projection of a patch takes the place of a table of words: it is linear, with no ReLU behind it.",
        _SUM,
    ),
)
def vit_embed__relu(img, p, params):
    x = torch.relu(patchify(img, p) @ params.W.T + params.b)
    if params.cls is not None:
        x = torch.cat([params.cls.expand(len(x), 1, -1), x], dim=1)
    return x + params.positions


# ---- 14.5 contrastive ----

CONTRASTIVE = Exercise(
    number="14.5",
    references=(hidden_frames.contrastive,),
    probe_module=probes,
    points=3,
    minutes=25,
    difficulty=3,
    equivalent={"s = (frames @ c[..., None])[..., -1]": "the axis has one entry, the first and the last."},
)
_WHICH = "Read the equation of L: over which j does the sum run?"
_SCORE = "Read the equation of s."
_HIDDEN = "Read the equation of L: over which t does the sum run, and what stands before it?"


@CONTRASTIVE.misconception(
    "The frame itself counts among the others",
    fails=("contrastive_itself",),
    hints=(
        "Where no frame has drawn itself you are right.",
        "A frame that was drawn as its own opponent is the right answer and a wrong one at once, and nothing can tell "
        "it from itself. Leave it out.",
        _WHICH,
    ),
)
def contrastive__itself_counts(z, c, neg, mask, tau):
    B, T, _ = z.shape
    z, c = F.normalize(z, dim=-1), F.normalize(c, dim=-1)
    own = torch.arange(B * T).view(B, T, 1)
    frames = z.flatten(0, 1)[torch.cat([own, neg], dim=2)]
    s = (frames @ c[..., None])[..., 0] / tau
    return -torch.log_softmax(s, dim=2)[..., 0][mask].mean()


@CONTRASTIVE.misconception(
    "The frame itself gets the score 0, and still counts",
    fails=("contrastive_itself",),
    hints=(
        "Where no frame has drawn itself you are right.",
        "A score of 0 is no score of nothing: exp(0) = 1. What is to be left out of a softmax gets the score -∞.",
        _WHICH,
    ),
)
def contrastive__itself_zero(z, c, neg, mask, tau):
    B, T, _ = z.shape
    z, c = F.normalize(z, dim=-1), F.normalize(c, dim=-1)
    own = torch.arange(B * T).view(B, T, 1)
    frames = z.flatten(0, 1)[torch.cat([own, neg], dim=2)]
    s = (frames @ c[..., None])[..., 0] / tau
    s = s.masked_fill(F.pad(neg == own, (1, 0)), 0)
    return -torch.log_softmax(s, dim=2)[..., 0][mask].mean()


@CONTRASTIVE.misconception(
    "No temperature",
    fails=CONTRASTIVE.all_but("all_hidden"),
    hints=(
        "With the temperature 1 you are right.",
        "A cosine lies between -1 and 1; the softmax of such scores is almost flat. They are divided by τ.",
        "Read the equation of L: what is the exponential taken of?",
    ),
)
def contrastive__no_temperature(z, c, neg, mask, tau):
    B, T, _ = z.shape
    z, c = F.normalize(z, dim=-1), F.normalize(c, dim=-1)
    own = torch.arange(B * T).view(B, T, 1)
    frames = z.flatten(0, 1)[torch.cat([own, neg], dim=2)]
    s = (frames @ c[..., None])[..., 0].masked_fill(F.pad(neg == own, (1, 0)), -math.inf)
    return -torch.log_softmax(s, dim=2)[..., 0][mask].mean()


@CONTRASTIVE.misconception(
    "Multiplied by the temperature",
    fails=CONTRASTIVE.all_but("all_hidden"),
    hints=(
        "With the temperature 1 you are right.",
        "A low temperature makes the softmax sharp: the scores are divided by it.",
        "Read the equation of L: what is the exponential taken of?",
    ),
)
def contrastive__temperature_multiplied(z, c, neg, mask, tau):
    B, T, _ = z.shape
    z, c = F.normalize(z, dim=-1), F.normalize(c, dim=-1)
    own = torch.arange(B * T).view(B, T, 1)
    frames = z.flatten(0, 1)[torch.cat([own, neg], dim=2)]
    s = (frames @ c[..., None])[..., 0] * tau
    s = s.masked_fill(F.pad(neg == own, (1, 0)), -math.inf)
    return -torch.log_softmax(s, dim=2)[..., 0][mask].mean()


@CONTRASTIVE.misconception(
    "All frames of the batch compete",
    fails=CONTRASTIVE.all_but(),
    hints=(
        "Your loss does not depend on neg.",
        "The softmax ran over all frames of the batch. Only the frame itself and those in neg compete.",
        _WHICH,
    ),
)
def contrastive__whole_batch(z, c, neg, mask, tau):
    z, c = F.normalize(z, dim=-1).flatten(0, 1), F.normalize(c, dim=-1).flatten(0, 1)
    s = c @ z.T / tau
    return F.cross_entropy(s[mask.flatten()], torch.arange(len(z))[mask.flatten()])


@CONTRASTIVE.misconception(
    "The softmax runs over the recordings",
    fails=CONTRASTIVE.all_but(),
    hints=(
        "With one recording your loss is 0.",
        "Axis 0 is the batch. The softmax runs over the frame and its M others, which stand in the last axis.",
        "Read the equation of L: the denominator.",
    ),
)
def contrastive__softmax_over_batch(z, c, neg, mask, tau):
    B, T, _ = z.shape
    z, c = F.normalize(z, dim=-1), F.normalize(c, dim=-1)
    own = torch.arange(B * T).view(B, T, 1)
    frames = z.flatten(0, 1)[torch.cat([own, neg], dim=2)]
    s = (frames @ c[..., None])[..., 0] / tau
    s = s.masked_fill(F.pad(neg == own, (1, 0)), -math.inf)
    return -torch.log_softmax(s, dim=0)[..., 0][mask].mean()


@CONTRASTIVE.misconception(
    "Frames that were not hidden are scored, too",
    fails=CONTRASTIVE.all_but("all_hidden"),
    hints=(
        "Where all frames were hidden you are right.",
        "The mean ran over all frames. What the model has seen it need not guess: such frames teach it to copy.",
        _HIDDEN,
    ),
)
def contrastive__unhidden_scored(z, c, neg, mask, tau):
    B, T, _ = z.shape
    z, c = F.normalize(z, dim=-1), F.normalize(c, dim=-1)
    own = torch.arange(B * T).view(B, T, 1)
    frames = z.flatten(0, 1)[torch.cat([own, neg], dim=2)]
    s = (frames @ c[..., None])[..., 0] / tau
    s = s.masked_fill(F.pad(neg == own, (1, 0)), -math.inf)
    return -torch.log_softmax(s, dim=2)[..., 0].mean()


@CONTRASTIVE.misconception(
    "Divided by the number of all frames",
    fails=CONTRASTIVE.all_but("all_hidden"),
    hints=(
        "Where all frames were hidden you are right. Elsewhere your loss is too low.",
        "Only the hidden frames were added up, but the sum was divided by B·T, as if the others had been guessed "
        "without any surprise.",
        _HIDDEN,
    ),
)
def contrastive__divided_by_all(z, c, neg, mask, tau):
    B, T, _ = z.shape
    z, c = F.normalize(z, dim=-1), F.normalize(c, dim=-1)
    own = torch.arange(B * T).view(B, T, 1)
    frames = z.flatten(0, 1)[torch.cat([own, neg], dim=2)]
    s = (frames @ c[..., None])[..., 0] / tau
    s = s.masked_fill(F.pad(neg == own, (1, 0)), -math.inf)
    return -(mask * torch.log_softmax(s, dim=2)[..., 0]).mean()


@CONTRASTIVE.misconception(
    "The mean of the recordings' means",
    fails=CONTRASTIVE.all_but("one_other", "all_hidden"),
    hints=(
        "With one recording, and where all frames were hidden, you are right.",
        "The mean was taken in each recording first. Here every hidden frame counts the same, wherever it is.",
        _HIDDEN,
    ),
)
def contrastive__mean_of_means(z, c, neg, mask, tau):
    B, T, _ = z.shape
    z, c = F.normalize(z, dim=-1), F.normalize(c, dim=-1)
    own = torch.arange(B * T).view(B, T, 1)
    frames = z.flatten(0, 1)[torch.cat([own, neg], dim=2)]
    s = (frames @ c[..., None])[..., 0] / tau
    s = s.masked_fill(F.pad(neg == own, (1, 0)), -math.inf)
    log_p = torch.log_softmax(s, dim=2)[..., 0]
    return -((mask * log_p).sum(dim=1) / mask.sum(dim=1)).mean()


@CONTRASTIVE.misconception(
    "The vectors are not brought to length 1",
    fails=CONTRASTIVE.all_but(),
    hints=(
        "Your loss changes when a vector is made longer.",
        "The score is a cosine. A plain product prefers long vectors, whatever their direction.",
        _SCORE,
    ),
)
def contrastive__plain_product(z, c, neg, mask, tau):
    B, T, _ = z.shape
    own = torch.arange(B * T).view(B, T, 1)
    frames = z.flatten(0, 1)[torch.cat([own, neg], dim=2)]
    s = (frames @ c[..., None])[..., 0] / tau
    s = s.masked_fill(F.pad(neg == own, (1, 0)), -math.inf)
    return -torch.log_softmax(s, dim=2)[..., 0][mask].mean()


@CONTRASTIVE.misconception(
    "The right frame is missing in the denominator",
    fails=CONTRASTIVE.all_but(),
    hints=(
        "Your loss can become negative.",
        "The denominator holds only the others. The frame itself stands there, too: then the fraction is a "
        "probability.",
        "Read the equation of L: the denominator.",
    ),
)
def contrastive__others_only(z, c, neg, mask, tau):
    B, T, _ = z.shape
    z, c = F.normalize(z, dim=-1), F.normalize(c, dim=-1)
    own = torch.arange(B * T).view(B, T, 1)
    frames = z.flatten(0, 1)[torch.cat([own, neg], dim=2)]
    s = (frames @ c[..., None])[..., 0] / tau
    others = s[..., 1:].masked_fill(neg == own, -math.inf)
    return (torch.logsumexp(others, dim=2) - s[..., 0])[mask].mean()


@CONTRASTIVE.misconception(
    "z and c are exchanged",
    fails=CONTRASTIVE.all_but(),
    hints=(
        "Your others are what the model says of other frames.",
        "What the model says of frame t, c_t, is compared with what the frames were: z_t and the z of the others.",
        _SCORE,
    ),
)
def contrastive__exchanged(z, c, neg, mask, tau):
    B, T, _ = z.shape
    z, c = F.normalize(z, dim=-1), F.normalize(c, dim=-1)
    own = torch.arange(B * T).view(B, T, 1)
    frames = c.flatten(0, 1)[torch.cat([own, neg], dim=2)]
    s = (frames @ z[..., None])[..., 0] / tau
    s = s.masked_fill(F.pad(neg == own, (1, 0)), -math.inf)
    return -torch.log_softmax(s, dim=2)[..., 0][mask].mean()


@CONTRASTIVE.misconception(
    "All others are looked up in the same recording",
    fails=CONTRASTIVE.all_but("same", "itself", "one_other", "untouched"),
    hints=(
        "Others from the same recording are right. Those from another one are not.",
        "The numbers in neg were read as steps of the recording itself. They count all frames of the batch: number "
        "b·T + t is step t of recording b.",
        "Read what the task says about the numbers of the frames.",
    ),
)
def contrastive__own_recording(z, c, neg, mask, tau):
    B, T, _ = z.shape
    z, c = F.normalize(z, dim=-1), F.normalize(c, dim=-1)
    steps = torch.cat([torch.arange(T).expand(B, T)[..., None], neg % T], dim=2)
    frames = z[torch.arange(B)[:, None, None], steps]
    s = (frames @ c[..., None])[..., 0] / tau
    own = torch.arange(B * T).view(B, T, 1)
    s = s.masked_fill(F.pad(neg == own, (1, 0)), -math.inf)
    return -torch.log_softmax(s, dim=2)[..., 0][mask].mean()


@CONTRASTIVE.misconception(
    "No gradient reaches z",
    fails=("contrastive_gradients",),
    hints=(
        "Your loss is right, but the gradient of z is 0.",
        "z was detached. The layer that makes z of the frames learns, too.",
        "Read what the task says about gradients.",
    ),
)
def contrastive__z_detached(z, c, neg, mask, tau):
    B, T, _ = z.shape
    z, c = F.normalize(z.detach(), dim=-1), F.normalize(c, dim=-1)
    own = torch.arange(B * T).view(B, T, 1)
    frames = z.flatten(0, 1)[torch.cat([own, neg], dim=2)]
    s = (frames @ c[..., None])[..., 0] / tau
    s = s.masked_fill(F.pad(neg == own, (1, 0)), -math.inf)
    return -torch.log_softmax(s, dim=2)[..., 0][mask].mean()


@CONTRASTIVE.misconception(
    "Not a number where the temperature is low",
    fails=("contrastive_cold",),
    hints=(
        "All is right but at a very low temperature: there your loss is no number.",
        "exp(s/τ) is infinite there, and ∞/∞ is nothing. log_softmax or logsumexp take the largest score off first.",
        "Read what the task says about τ.",
    ),
)
def contrastive__overflow(z, c, neg, mask, tau):
    B, T, _ = z.shape
    z, c = F.normalize(z, dim=-1), F.normalize(c, dim=-1)
    own = torch.arange(B * T).view(B, T, 1)
    frames = z.flatten(0, 1)[torch.cat([own, neg], dim=2)]
    e = torch.exp((frames @ c[..., None])[..., 0] / tau)
    e = e.masked_fill(F.pad(neg == own, (1, 0)), 0)
    return -torch.log(e[..., 0] / e.sum(dim=2))[mask].mean()


EXERCISES = (BT_LOSS, PG_LOSS, PATCHIFY, VIT_EMBED, CONTRASTIVE)
