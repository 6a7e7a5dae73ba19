"""Chapter 11: the same number of updates on windows that stand side by side and on windows that overlap."""

import time

import torch

from unrolled.documents import verse_letters
from unrolled.gpt import GPTConfig, windows
from unrolled.gpt_model import GPT
from unrolled.gpt_training import learn_windows, one_text, text_surprise
from unrolled.measurements import record

SEEDS = [0, 1, 2]
T, LETTERS, STEPS, SIZE = 64, 45_000, 300, 32
STRIDES = [64, 1]
DOCUMENTS, ALPHABET = verse_letters()
CONFIG = GPTConfig(len(ALPHABET), context=T, D=64, n_heads=4, layers=2, d_ff=256)


def measure(stride: int, seed: int) -> dict:
    text, test = one_text(DOCUMENTS["train"])[:LETTERS], one_text(DOCUMENTS["test"])
    train, _ = windows(torch.cat([text, test]), T, stride, len(text))
    torch.manual_seed(seed)
    model = GPT(CONFIG)
    losses = learn_windows(model, train, STEPS, seed=seed, size=SIZE, lr=4e-3)
    unseen = text_surprise(model, test, T, T // 2).double().mean().item()
    return {"windows": len(train.x), "train": sum(losses[-20:]) / 20, "test": unseen}


def main():
    torch.set_num_threads(1)
    since, values = time.time(), {"letters": LETTERS, "steps": STEPS, "passes": STEPS * SIZE * T / LETTERS}
    for stride in STRIDES:
        values[str(stride)] = []
        for seed in SEEDS:
            values[str(stride)].append(measure(stride, seed))
            print(stride, seed, values[str(stride)][-1], round(time.time() - since), flush=True)
    print(record("ch11_strides", SEEDS, values, since).name)


if __name__ == "__main__":
    main()
