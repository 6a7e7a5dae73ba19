"""Chapter 14: a reward learned from preferences, and policies that chase it on a leash of length 1/beta.

The policy is a table of bigrams of real verses. A reader compares pairs of its lines; a reward with one value per word
is learned from his answers; then one weight per word is trained on that reward. Two controls, without a leash: the
reader's own marks in the place of the reward, and all of the table trained in the place of one weight per word.
"""

import sys
import time

import torch
from torch import Tensor

from unrolled.alignment import bt_loss, pg_loss
from unrolled.measurements import record
from unrolled.preferences import LIKED, BigramPolicy, T, WordReward, ask, reference, spell, taste, vocabulary
from unrolled.training import train

SEEDS = [0, 1, 2]
PAIRS, EPOCHS, LR_REWARD = 10_000, 5, 0.05
BETAS = [0.0, 0.1, 0.3, 1.0, 3.0]
UPDATES, LINES, LR, EVERY, ASKED = 400, 256, 0.05, 20, 500
SHOWN = 4
REF = reference()


def learn_reward(seed: int) -> tuple[WordReward, dict]:
    """A reward from the reader's answers, and how often it agrees with him on new pairs."""
    generator = torch.Generator().manual_seed(seed)
    won, lost = ask(REF.draw(PAIRS, generator), REF.draw(PAIRS, generator), generator)
    reward, pairs = WordReward(len(vocabulary())), torch.ones(PAIRS, 1, dtype=torch.bool)

    def loss(rows: Tensor) -> Tensor:
        return bt_loss(reward(won[rows])[:, None], reward(lost[rows])[:, None], pairs[rows])

    losses = train(reward.parameters(), loss, PAIRS, epochs=EPOCHS, seed=seed, size=500, lr=LR_REWARD)
    reward.requires_grad_(False)
    a, b = REF.draw(4000, generator), REF.draw(4000, generator)
    new_won, new_lost = ask(a, b, generator)
    differ = taste(a) != taste(b)
    order = reward.values.argsort(descending=True)
    found = {
        "loss": losses[-1],
        "agrees": (reward(new_won) > reward(new_lost)).float().mean().item(),
        "knows the taste": ((reward(a) > reward(b)) == (taste(a) > taste(b)))[differ].float().mean().item(),
        "best possible": torch.sigmoid((taste(a) - taste(b)).abs()).mean().item(),
        "correlation": torch.corrcoef(torch.stack([reward(a), taste(a)]))[0, 1].item(),
    }
    found = {name: round(value, 4) for name, value in found.items()}
    found["dearest"] = [vocabulary()[w] for w in order[:14].tolist()]
    found["liked among them"] = sum(word in LIKED for word in found["dearest"])
    return reward, found


@torch.no_grad()
def look(policy: BigramPolicy, reward, generator: torch.Generator) -> dict:
    lines = policy.draw(ASKED, generator)
    kl = (policy.logp(lines) - REF.logp(lines)).sum(dim=1).mean()
    found = {"learned": reward(lines).mean(), "true": taste(lines).mean(), "kl": kl}
    found["different"] = torch.tensor([len(set(line)) for line in lines.tolist()]).float().mean()
    return {name: round(value.item(), 3) for name, value in found.items()}


def improve(reward, chased, beta: float, seed: int, all_of_it: bool = False) -> dict:
    """Train the words of a copy of the reference, or its table, on what is chased; look at it now and then."""
    generator = torch.Generator().manual_seed(1000 + seed)
    policy = BigramPolicy(REF.table)
    optimizer = torch.optim.Adam([policy.table if all_of_it else policy.words], lr=LR)
    every, history = torch.ones(LINES, T, dtype=torch.bool), []
    for done in range(UPDATES + 1):
        if done % EVERY == 0:
            history.append(look(policy, reward, generator))
        lines = policy.draw(LINES, generator)
        loss = pg_loss(policy.logp(lines), chased(lines), beta, REF.logp(lines), every)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    samples = [spell(line) for line in policy.draw(SHOWN, generator)]
    return {**{name: [h[name] for h in history] for name in history[0]}, "samples": samples}


def main():
    torch.set_num_threads(1)
    since, quick = time.time(), len(sys.argv) > 1
    values = {"updates": list(range(0, UPDATES + 1, EVERY)), "betas": BETAS, "reward": [], "runs": {}}
    for seed in SEEDS[: 1 if quick else None]:
        reward, found = learn_reward(seed)
        values["reward"].append(found)
        print(seed, found, round(time.time() - since, 1), flush=True)
        chases = {str(beta): (reward, beta, False) for beta in BETAS}
        chases |= {"reader": (taste, 0.0, False), "table": (reward, 0.0, True)}
        for name, (chased, beta, all_of_it) in chases.items():
            run = improve(reward, chased, beta, seed, all_of_it)
            values["runs"].setdefault(name, []).append(run)
            print(
                name, {k: (v[0], v[len(v) // 2], v[-1]) for k, v in run.items()}, round(time.time() - since), flush=True
            )
    if not quick:
        print(record("ch14_reward", SEEDS, values, since).name)


if __name__ == "__main__":
    main()
