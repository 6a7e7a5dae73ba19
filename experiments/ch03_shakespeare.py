"""Chapter 3: Kneser-Ney and an LSTM on the text that many tutorials use (tinyshakespeare; downloaded, not ours)."""

import time

import torch

from unrolled.data import downloaded
from unrolled.documents import learn
from unrolled.language_model import LanguageModel
from unrolled.measurements import record
from unrolled.ngram import KneserNey
from unrolled.text import Vocabulary

SEEDS = [0, 1, 2]
TEXT = downloaded("tinyshakespeare").read_text(encoding="utf-8")
VOCABULARY = Vocabulary([list(TEXT)])
V = len(VOCABULARY)
IDS = VOCABULARY.encode(list(TEXT))
TRAIN, TEST = IDS[: 9 * len(IDS) // 10], IDS[9 * len(IDS) // 10 :]  # the usual split: the last tenth is for the test
PIECE, LEAD = 200, 56


@torch.no_grad()
def test_loss(model) -> float:
    """Nats per character; the network reads 56 characters before those that count, so that it is never without."""
    starts = range(0, len(TEST) - PIECE - LEAD, PIECE)
    pieces = torch.tensor([TEST[k : k + LEAD + PIECE] for k in starts])
    log_p = model(pieces[:, :-1])[0].log_softmax(-1)
    return -log_p.gather(-1, pieces[:, 1:, None])[:, LEAD - 1 :].mean().item()


def measure(seed: int) -> dict:
    torch.manual_seed(seed)
    model = LanguageModel(V, 128, "lstm", 32)
    pieces = [TRAIN[k : k + PIECE] for k in range(0, len(TRAIN), PIECE)]
    look = lambda: round(test_loss(model), 4)  # noqa: E731
    curve = learn(model, pieces, epochs=2, seed=seed, size=16, lr=1e-2, look=look)
    return {"seconds": [s for s, _ in curve], "nats": [n for _, n in curve]}


def main():
    torch.set_num_threads(1)
    since = time.time()
    values = {"characters": len(TEXT), "KN": [KneserNey(n, V).fit([TRAIN]).loss([TEST]) for n in range(1, 8)]}
    print(values, flush=True)
    values["LSTM, 128 units"] = []
    for seed in SEEDS:
        values["LSTM, 128 units"].append(measure(seed))
        print(values["LSTM, 128 units"][-1], round(time.time() - since), flush=True)
    print(record("ch03_shakespeare", SEEDS, values, since).name)


if __name__ == "__main__":
    main()
