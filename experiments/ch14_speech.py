"""Chapter 14: frames of speech are hidden and told from others; then a few labels: who speaks?

Pretraining sees the frames of the 270 training recordings and no label. Its negatives come from the same recording, as
in wav2vec 2.0, or from all recordings of the batch. Step sizes, updates and C were fixed after one trial with another
seed on a fifth of the training recordings (``ch14_speech.py try``); the test recordings are looked at once.
"""

import sys
import time

import torch
import torch.nn.functional as F
from sklearn.linear_model import LogisticRegression
from torch import Tensor, nn

from unrolled.contrastive import SpeechEncoder, contrastive, draw_negatives, hide_spans
from unrolled.data import spoken_vowels
from unrolled.measurements import record
from unrolled.speech import frames_batch
from unrolled.training import train

SEEDS = [0, 1, 2]
LABELS = [1, 2, 5, 10, 30]  # of each of the nine speakers
D, HEADS, LAYERS, D_FF = 48, 4, 2, 96
RATE, SPAN, M, TAU = 0.2, 3, 20, 0.2
EPOCHS, SIZE, LR = 120, 54, 2e-3
TUNED, LR_TUNED = 150, 1e-3  # updates with labels


def read(part: str) -> tuple[Tensor, Tensor, Tensor]:
    (frames, _, real), speakers = frames_batch(spoken_vowels(part))
    return frames, real, speakers


PARTS = {part: read(part) for part in ("train", "test")}
if sys.argv[1:] == ["try"]:  # nothing is tried on the test recordings
    SEEDS, LABELS, away = [9], [1, 2, 5, 10, 24], torch.arange(270) % 5 == 0
    whole = PARTS["train"]
    PARTS = {"train": tuple(x[~away] for x in whole), "test": tuple(x[away] for x in whole)}
ALL = PARTS["train"][0][PARTS["train"][1]]  # every frame of the training recordings
for part, (frames, real, speakers) in PARTS.items():
    PARTS[part] = ((frames - ALL.mean(0)) / ALL.std(0) * real[..., None], real, speakers)


def encoder(seed: int) -> SpeechEncoder:
    torch.manual_seed(seed)
    return SpeechEncoder(12, D, HEADS, LAYERS, D_FF, longest=32, dropout=0.1)


def pretrain(seed: int, same: bool) -> tuple[SpeechEncoder, dict]:
    model, rng = encoder(seed), torch.Generator().manual_seed(100 + seed)
    frames, real, _ = PARTS["train"]

    def loss(rows: Tensor) -> Tensor:
        hidden = hide_spans(real[rows], RATE, SPAN, rng)
        neg = draw_negatives(real[rows], M, rng, same)
        z, c = model(frames[rows], real[rows], hidden)
        return contrastive(z, c, neg, hidden, TAU)

    losses = train(model.parameters(), loss, len(frames), epochs=EPOCHS, seed=seed, size=SIZE, lr=LR)
    return model, {"first loss": round(losses[0], 3), "last loss": round(sum(losses[-25:]) / 25, 3)}


def mean_state(model: SpeechEncoder, frames: Tensor, real: Tensor) -> Tensor:
    _, c = model(frames, real)
    return (c * real[..., None]).sum(1) / real.sum(1, keepdim=True)  # (B, D)


def labelled(n: int, seed: int) -> Tensor:
    """The numbers of n training recordings of each speaker."""
    order = torch.randperm(len(PARTS["train"][2]), generator=torch.Generator().manual_seed(seed))
    speakers = PARTS["train"][2][order]
    return torch.cat([order[speakers == speaker][:n] for speaker in range(9)])


def linear(features: dict[str, Tensor], rows: Tensor) -> float:
    """A linear classifier on frozen features, learned from the labelled recordings, asked about the test."""
    x, y = features["train"][rows], PARTS["train"][2][rows]
    mean, spread = features["train"].mean(0), features["train"].std(0)  # of all frames: no label is needed for that
    found = LogisticRegression(C=1.0, max_iter=2000).fit(((x - mean) / spread).numpy(), y.numpy())
    return round(found.score(((features["test"] - mean) / spread).numpy(), PARTS["test"][2].numpy()), 4)


def frozen(model: SpeechEncoder, rows: Tensor) -> float:
    model.eval()
    with torch.no_grad():
        return linear({part: mean_state(model, frames, real) for part, (frames, real, _) in PARTS.items()}, rows)


def mean_frame(rows: Tensor) -> float:
    """Without any network: the mean frame of each recording."""
    return linear({part: frames.sum(1) / real.sum(1, keepdim=True) for part, (frames, real, _) in PARTS.items()}, rows)


def tuned(model: SpeechEncoder, rows: Tensor, seed: int) -> float:
    """Train all weights and a linear layer on the labelled recordings."""
    torch.manual_seed(seed)
    frames, real, speakers = (part[rows] for part in PARTS["train"])
    head, size = nn.Linear(D, 9), min(len(rows), 54)
    model.train()
    train(
        [*model.parameters(), *head.parameters()],
        lambda b: F.cross_entropy(head(mean_state(model, frames[b], real[b])), speakers[b]),
        len(rows), epochs=TUNED // -(-len(rows) // size), seed=seed, size=size, lr=LR_TUNED,
    )  # fmt: skip
    model.eval()
    with torch.no_grad():
        frames, real, speakers = PARTS["test"]
        return round((head(mean_state(model, frames, real)).argmax(1) == speakers).double().mean().item(), 4)


def measure(seed: int) -> dict:
    found = {name: [] for name in ("mean frame", "untrained, frozen", "from scratch")}
    pretrained = {}
    for same in (True, False):
        name = "same recording" if same else "all recordings"
        pretrained[name], found[f"loss, {name}"] = pretrain(seed, same)
        found[f"{name}, frozen"], found[f"{name}, tuned"] = [], []
    for n in LABELS:
        rows = labelled(n, seed)
        found["mean frame"].append(mean_frame(rows))
        found["untrained, frozen"].append(frozen(encoder(seed), rows))
        found["from scratch"].append(tuned(encoder(seed), rows, seed))
        for name, model in pretrained.items():
            found[f"{name}, frozen"].append(frozen(model, rows))
            copy = encoder(seed)
            copy.load_state_dict(model.state_dict())
            found[f"{name}, tuned"].append(tuned(copy, rows, seed))
    return found


def main():
    torch.set_num_threads(1)
    since = time.time()
    chance = max((PARTS["test"][2] == speaker).double().mean().item() for speaker in range(9))
    values = {"labels": LABELS, "most frequent speaker": round(chance, 4), "chance": 1 / 9, "runs": []}
    for seed in SEEDS:
        values["runs"].append(measure(seed))
        print(seed, values["runs"][-1], round(time.time() - since), flush=True)
    if len(sys.argv) == 1:
        print(record("ch14_speech", SEEDS, values, since).name)


if __name__ == "__main__":
    main()
