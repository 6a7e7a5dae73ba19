"""Chapter 2: two copies of a text differ in one letter; how far apart are the states of an RNN n letters later?"""

import time

import torch
from torch import Tensor

from unrolled.data import verses
from unrolled.gradients import spectral_radius
from unrolled.measurements import record
from unrolled.recurrent import RNNParams, rnn_forward

SEEDS = [0, 1, 2, 3, 4]
RADII = [0.5, 0.9, 1.0, 1.1, 1.5, 2.0]
H, PLACES, BEFORE, AFTER = 100, 20, 100, 200  # letters read before the change, and after it
SPREAD = 0.2  # of the letters' vectors
EVERY = 4  # of the distances, each fourth is kept


def both_runs(rho: float, seed: int) -> tuple[Tensor, Tensor]:
    """The states (PLACES, letters, H) of a random network at random places of the text, without and with the change."""
    text = " ".join(verses()[23_145:])
    letters = sorted(set(text))
    rng = torch.Generator().manual_seed(seed)
    E = SPREAD * torch.randn(len(letters), H, generator=rng, dtype=torch.float64)
    W = torch.randn(H, H, generator=rng, dtype=torch.float64)
    eye, zero = torch.eye(H, dtype=torch.float64), torch.zeros(H, dtype=torch.float64)
    params = RNNParams(eye, rho * W / spectral_radius(W), zero)
    places = torch.randint(len(text) - BEFORE - AFTER - 1, (PLACES,), generator=rng).tolist()
    ids = torch.tensor([[letters.index(a) for a in text[p : p + BEFORE + AFTER + 1]] for p in places])
    other = ids.clone()
    e, o = letters.index("e"), letters.index("o")
    other[:, BEFORE] = torch.where(ids[:, BEFORE] == e, o, e)
    first, second = (rnn_forward(E[i], zero.expand(PLACES, H), params) for i in (ids, other))
    return first, second


def measure(rho: float, seed: int) -> list[float]:
    """The mean distance of the two states at the changed letter and 4, 8, ... 200 letters after it."""
    first, second = both_runs(rho, seed)
    apart = (first - second).norm(dim=-1).mean(0)[BEFORE::EVERY]
    return [float(f"{distance:.3g}") for distance in apart]


def measure_texts(rho: float, seed: int) -> float:
    """The mean distance of the states in different texts: each place against the next, 100 letters after the change."""
    states = both_runs(rho, seed)[0][:, BEFORE + 100]
    return float(f"{(states - states.roll(1, dims=0)).norm(dim=-1).mean():.3g}")


def main():
    torch.set_num_threads(1)
    since = time.time()
    values = {str(rho): [measure(rho, seed) for seed in SEEDS] for rho in RADII}
    for rho, runs in values.items():
        print(rho, [f"{run[100 // EVERY]:.1e}" for run in runs])
    values["different texts"] = {str(rho): [measure_texts(rho, seed) for seed in SEEDS] for rho in RADII}
    print(values["different texts"])
    print(record("ch02_letter", SEEDS, values, since).name)


if __name__ == "__main__":
    main()
