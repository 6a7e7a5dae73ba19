"""Adam against torch's over many steps; the warm-up of the Transformer."""

import pytest
import torch
from agreement import assert_close
from torch import nn

from unrolled.optimisation import adam_step, noam_lr


@pytest.mark.parametrize("options", [{}, {"lr": 0.1, "beta_1": 0.5, "beta_2": 0.9, "eps": 0.01}])
def test_thirty_steps_equal_torchs(double, options):
    p, gradients = torch.randn(5, 3), torch.randn(30, 5, 3)
    gradients[:, 0] = 0  # an entry that never gets a gradient stays where it is
    theirs = nn.Parameter(p.clone())
    betas = options.get("beta_1", 0.9), options.get("beta_2", 0.999)
    optimizer = torch.optim.Adam([theirs], options.get("lr", 1e-3), betas, options.get("eps", 1e-8))
    m = v = torch.zeros_like(p)
    for t, g in enumerate(gradients, start=1):
        p, m, v = adam_step(p, g, m, v, t, **options)
        theirs.grad = g.clone()
        optimizer.step()
        assert_close(p, theirs.detach())
    state = optimizer.state[theirs]
    assert_close(m, state["exp_avg"])
    assert_close(v, state["exp_avg_sq"])


def test_the_first_step_does_not_depend_on_the_size_of_the_gradient(double):
    zero, g = torch.zeros(4), torch.tensor([1e-3, 1.0, 1e3, -1e6])
    p, _, _ = adam_step(zero, g, zero, zero, t=1, lr=0.1)
    assert_close(p, -0.1 * g.sign(), atol=1e-5)


def test_nothing_is_changed_in_place(double):
    tensors = [torch.rand(3) for _ in range(4)]
    before = [tensor.clone() for tensor in tensors]
    adam_step(*tensors, t=3)
    assert all(torch.equal(one, other) for one, other in zip(tensors, before, strict=True))


def test_the_two_branches_of_the_schedule_meet_at_the_end_of_the_warm_up():
    d, w = 64, 400
    rates = [noam_lr(step, d, w) for step in range(4 * w + 1)]
    assert rates[0] == 0 and max(rates) == rates[w] == pytest.approx((d * w) ** -0.5)
    assert rates[w // 2] == pytest.approx(rates[w] / 2)  # a line
    assert rates[4 * w] == pytest.approx(rates[w] / 2)  # one over a root: four times the steps, half of it


def test_the_papers_base_model():
    assert noam_lr(4000, 512, 4000) == pytest.approx(6.99e-4, rel=1e-3)


def test_torchs_scheduler_takes_it_as_it_is():
    optimizer = torch.optim.Adam([nn.Parameter(torch.zeros(1))], lr=1.0)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: noam_lr(step, 64, 100))
    seen = []
    for _ in range(3):
        seen.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        schedule.step()
    assert seen == pytest.approx([noam_lr(step, 64, 100) for step in range(3)])
