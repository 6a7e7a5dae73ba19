"""Chapter 7: captions with attention over the places of a picture. Does the focus rove to the digit that is named?"""

import random
import time

import numpy as np
import torch

from unrolled.attention import BilinearScore
from unrolled.captions import NAMES, PictureLanguage, PlacedMapReader, scenes
from unrolled.measurements import record
from unrolled.seq2seq import shift_right
from unrolled.translation import learn_pairs, scores, translate
from unrolled.translators import BOS, AttentionSeq2Seq, ImageReader, MapReader, Seq2Seq

SEEDS = [0, 1, 2]
UPDATES, C, H = 700, 32, 64
LEARN = scenes(6000, "train", random.Random(0), "mnist")
TEST = scenes(600, "test", random.Random(1), "mnist")
LANGUAGE = PictureLanguage(LEARN)


def build(name: str) -> torch.nn.Module:
    if name == "one vector":
        return Seq2Seq(ImageReader(16 * 16, 128), len(LANGUAGE.target), E=16, H=H)
    reader = {"map": MapReader, "map with places": PlacedMapReader}[name](C)
    return AttentionSeq2Seq(reader, BilinearScore(H, C), len(LANGUAGE.target), E=16, H=H)


def quarters(image: torch.Tensor) -> list[tuple[int, int]]:
    """Rows and columns of the quarters with a digit, in the order in which the caption names them."""
    return [(i, j) for i in range(2) for j in range(2) if image[8 * i : 8 * i + 8, 8 * j : 8 * j + 8].sum() > 0]


def focus(model: AttentionSeq2Seq) -> dict[str, float]:
    """Right words given: the weight on the quarter of the digit that is named, and on that of the other digit."""
    own, other = [], []
    for scene in TEST[:300]:
        images, heights, y = LANGUAGE.batch([scene])
        looks = model.look(images, heights, shift_right(y, BOS)[0])[0].view(-1, 2, 2, 2, 2).sum(dim=(2, 4))  # (T, 2, 2)
        named = [k for k, word in enumerate(scene[1][0]) if word in NAMES]
        places = quarters(scene[0])
        for k, place in zip(named, places, strict=True):
            own.append(looks[k][place].item())
            other += [looks[k][p].item() for p in places if p != place]
    return {"on its digit": float(np.mean(own)), "on the other digit": float(np.mean(other))}


def measure(name: str, seed: int) -> dict:
    torch.manual_seed(seed)
    model = build(name)
    begin = time.process_time()
    learn_pairs(model, LEARN, LANGUAGE, updates=UPDATES, seed=seed, lr=4e-3)
    seconds = time.process_time() - begin
    found = {**scores(TEST, translate(model, TEST, LANGUAGE)), "cpu seconds": round(seconds, 1)}
    found["weights"] = sum(p.numel() for p in model.parameters())
    return found | (focus(model) if name != "one vector" else {})


def main():
    torch.set_num_threads(1)
    since, values = time.time(), {}
    for name in ("one vector", "map", "map with places"):
        values[name] = [measure(name, seed) for seed in SEEDS]
        print(name, values[name], flush=True)
    print(record("ch07_captions", SEEDS, values, since).name)


if __name__ == "__main__":
    main()
