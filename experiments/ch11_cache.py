"""Chapter 11: how long it takes to write, with and without the keys and values of what has been read."""

import time

import torch

from unrolled.gpt import GPTConfig, generate
from unrolled.gpt_model import GPT
from unrolled.measurements import record

SEEDS = [0, 1, 2]
LENGTHS = [16, 32, 64, 128, 256, 512]
CONFIG = GPTConfig(V=68, context=512, D=96, n_heads=4, layers=3, d_ff=384)


def measure(seed: int) -> dict:
    torch.manual_seed(seed)
    model, run = GPT(CONFIG), {"cached": [], "plain": [], "same": []}
    begin = torch.randint(CONFIG.V, (1, 1))
    generate(model.read, begin, 8, CONFIG.context)  # to warm up
    for n in LENGTHS:
        texts = []
        for way, cache in (("cached", True), ("plain", False)):
            start = time.process_time()
            texts.append(generate(model.read, begin, n - 1, CONFIG.context, cache))
            run[way].append(round(time.process_time() - start, 4))
        run["same"].append(torch.equal(*texts))
    return run


def main():
    torch.set_num_threads(1)
    since, values = time.time(), {"lengths": LENGTHS, "runs": []}
    for seed in SEEDS:
        values["runs"].append(measure(seed))
        print(values["runs"][-1], round(time.time() - since), flush=True)
    print(record("ch11_cache", SEEDS, values, since).name)


if __name__ == "__main__":
    main()
