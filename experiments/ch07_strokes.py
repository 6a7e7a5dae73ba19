"""Chapter 7: one recurrent network writes with a pen, and reads the text through a soft window. Where is the window?"""

import random
import time

import numpy as np
import torch

from unrolled.measurements import record
from unrolled.strokes import PenWriter, learn_to_write, page, pen, texts

SEEDS = [0, 1, 2]
UPDATES = 600
LENGTHS = [3, 6, 12, 24]  # letters; training has 3 to 6
SHOWN = ["violet", "moment"]


@torch.no_grad()
def on_the_letter(model: PenWriter, n: int) -> tuple[float, float]:
    """Right moves given: the share of moves during which the window is highest on the letter that is drawn; and the
    same for a window that goes through the text at an even pace."""
    found, even, rng = [], [], random.Random(n)
    for text in texts(50, n, n, rng):
        spelled, moves, _ = page([text], rng)
        letters = pen(text)[1]
        found.append((model(spelled, moves)[1][0].argmax(1) == letters).double().mean().item())
        pace = torch.arange(len(letters)) * n // len(letters)
        even.append((pace == letters).double().mean().item())
    return float(np.mean(found)), float(np.mean(even))


def alone(model: PenWriter, n: int) -> float:
    """The share of texts that it writes alone, pen up and down where it should be; it may stop a move early or late."""
    right = []
    for text in texts(50, n, n, random.Random(n)):
        true, own = pen(text)[0][:, 2], model.write(text)[0][:, 2]
        both = min(len(true), len(own))
        right.append(abs(len(own) - len(true)) <= 1 and bool((own[:both] == true[:both]).all()))
    return float(np.mean(right))


def drawing(model: PenWriter, text: str) -> dict:
    moves, window = model.write(text)
    return {"moves": np.round(moves.double(), 3).tolist(), "window": np.round(window.double(), 3).tolist()}


def measure(seed: int) -> dict:
    torch.manual_seed(seed)
    model = PenWriter()
    begin = time.process_time()
    losses = learn_to_write(model, UPDATES, seed)
    seconds = time.process_time() - begin
    window = [on_the_letter(model, n) for n in LENGTHS]
    return {
        "on the letter": [found for found, _ in window],
        "even pace": [even for _, even in window],
        "alone": [alone(model, n) for n in LENGTHS],
        "loss": sum(losses[-50:]) / 50,
        "weights": sum(p.numel() for p in model.parameters()),
        "cpu seconds": round(seconds, 1),
        "shown": {text: drawing(model, text) for text in SHOWN},
    }


def main():
    torch.set_num_threads(1)
    since, values = time.time(), {"lengths": LENGTHS, "seen": [3, 6], "runs": []}
    for seed in SEEDS:
        values["runs"].append(measure(seed))
        print({k: v for k, v in values["runs"][-1].items() if k != "shown"}, flush=True)
    print(record("ch07_strokes", SEEDS, values, since).name)


if __name__ == "__main__":
    main()
