"""From what people prefer to a reward, and from a reward to a policy that stays near where it began (chapter 14)."""

from __future__ import annotations

import torch
from torch import Tensor


def bt_loss(r_w: Tensor, r_l: Tensor, mask: Tensor) -> Tensor:
    r"""How surprised a reward model is by the choices people made, as Bradley and Terry see it.

    $$ P(w \succ l) = \sigma(r_w - r_l) $$ (eq-bradley-terry)
    $$ L = -\frac1B \sum_{b=1}^{B} \frac{1}{n_b} \sum_{i\,:\,m_{bi} = 1}
       \log \sigma(r^w_{bi} - r^l_{bi}) $$ (eq-bt-loss)

    A prompt with many answers has many pairs. Each prompt counts the same, however many it has.

    Args:
        r_w: (B, P) rewards of the answers that were preferred, pair by pair; B prompts.
        r_l: (B, P) rewards of the answers that lost.
        mask: (B, P) bool, True = a real pair. n_b of them are real, at least one; what stands at
            the others means nothing.

    Returns:
        A scalar in nats. It is finite, with its gradients, even where σ is rounded to 0.
        Gradients reach r_w and r_l; nothing is changed.

    Built in chapter 14.

    >>> r_w, r_l = torch.tensor([[2.0, 0.0], [5.0, 0.0]]), torch.tensor([[2.0, 0.0], [5.0, 9.0]])
    >>> mask = torch.tensor([[True, True], [True, False]])
    >>> round(bt_loss(r_w, r_l, mask).item(), 4)  # no idea which one is better: log 2
    0.6931
    """
    surprise = -torch.nn.functional.logsigmoid(r_w - r_l)  # eq-bradley-terry: (B, P)
    of_prompt = (mask * surprise).sum(dim=1) / mask.sum(dim=1)  # (B,)
    return of_prompt.mean()  # eq-bt-loss


def pg_loss(lp: Tensor, R: Tensor, beta: float, lp_ref: Tensor, mask: Tensor) -> Tensor:
    r"""A loss whose gradient makes answers with a high reward likelier, and holds the policy back.

    $$ A_b = R_b - \beta \sum_t m_{bt}\, \big(\log \pi(y_{bt}) - \log \pi_\text{ref}(y_{bt})\big)
       $$ (eq-kl-penalty)
    $$ L = -\frac1B \sum_{b=1}^{B} (A_b - \bar A)\, \sum_t m_{bt} \log \pi(y_{bt}), \qquad
       \bar A = \frac1B \sum_b A_b $$ (eq-policy-gradient)

    The answers y were drawn from the policy π. A and its mean are numbers here: no gradient goes
    through them, neither into the reward nor into the reference policy, nor a second time into
    the policy.

    Args:
        lp: (B, T) log π of each token that was drawn.
        R: (B,) the reward of each answer, for instance from a reward model.
        beta: β, what it costs to move away from the reference policy.
        lp_ref: (B, T) log π_ref of the same tokens: the policy as it was at the beginning.
        mask: (B, T) bool, True = a token of the answer, False = a pad; lp and lp_ref mean
            nothing there. Every answer has at least one token.

    Returns:
        A scalar; its value and its gradient are compared. Gradients reach lp and nothing else;
        nothing is changed. (No mean taken off, the mean of R alone, or the mean over the other
        answers are accepted too. Their expected gradients are the same but for a share 1/B: with
        the mean of all answers it is (B - 1)/B times the one without a mean.)

    Built in chapter 14.

    >>> lp = torch.tensor([[-1.0, -1.0], [-1.0, 0.0]], requires_grad=True)
    >>> R, lp_ref = torch.tensor([3.0, 1.0]), torch.tensor([[-1.0, -2.0], [-1.0, 0.0]])
    >>> mask = torch.tensor([[True, True], [True, False]])
    >>> loss = pg_loss(lp, R, 0.5, lp_ref, mask)  # A = 2.5 and 1, their mean 1.75
    >>> loss.item(), torch.autograd.grad(loss, lp)[0].tolist()
    (0.375, [[-0.375, -0.375], [0.375, 0.0]])
    """
    logp, logp_ref = (mask * lp).sum(dim=1), (mask * lp_ref).sum(dim=1)  # (B,)
    A = (R - beta * (logp - logp_ref)).detach()  # eq-kl-penalty
    return -((A - A.mean()) * logp).mean()  # eq-policy-gradient
