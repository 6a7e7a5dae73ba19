"""The loop of the book's own parts: the same steps as torch's Adam with clipping and the same step sizes."""

import torch
from torch import nn

from unrolled.optimisation import noam_lr
from unrolled.own_training import learn


def test_the_loop_takes_the_steps_that_torch_takes():
    torch.manual_seed(0)
    ours, x, y = nn.Linear(5, 3).double(), torch.randn(7, 5).double(), torch.randn(7, 3).double()
    theirs = nn.Linear(5, 3).double()
    theirs.load_state_dict(ours.state_dict())
    losses = learn(ours, lambda: (ours(x) - y).square().sum(), updates=20, D=16, warmup=7, clip=0.5)
    optimizer = torch.optim.Adam(theirs.parameters())
    for t in range(1, 21):
        loss = (theirs(x) - y).square().sum()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(theirs.parameters(), 0.5)
        optimizer.param_groups[0]["lr"] = noam_lr(t, 16, 7)
        optimizer.step()
        torch.testing.assert_close(torch.tensor(losses[t - 1]), torch.tensor(loss.item()), rtol=1e-5, atol=0)


def test_what_gets_no_gradient_stays():
    model = nn.ModuleDict({"used": nn.Linear(2, 1), "unused": nn.Linear(2, 1)})
    before = model["unused"].weight.clone()
    learn(model, lambda: model["used"](torch.ones(1, 2)).square().sum(), updates=3, D=4)
    assert torch.equal(model["unused"].weight, before)
