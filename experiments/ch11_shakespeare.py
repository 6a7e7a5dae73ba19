"""Chapter 11: does a network of ours beat counting on tinyshakespeare, and after how many processor seconds?

Kneser-Ney of orders 1 to 7, an LSTM and a GPT, all trained on the first nine tenths; nats per character on the whole
last tenth. At the end each network shares its vote with the 7-gram, as in chapter 3.
"""

import time
from collections.abc import Callable, Iterator

import numpy as np
import torch
import torch.nn.functional as F
from learning import step_sizes
from learning_shakespeare import V, adam, recurrent_losses, streams, texts
from torch import Tensor, nn

from unrolled.fast import speed_up
from unrolled.gpt import GPTConfig
from unrolled.gpt_model import GPT
from unrolled.gpt_training import text_surprise
from unrolled.language_model import LanguageModel
from unrolled.measurements import record
from unrolled.ngram import KneserNey

SEEDS = {"LSTM, 384 units": [0, 1, 2], "GPT, 4 blocks": [0]}  # the GPT takes longer
LOOKS = 12
SHARES = [tenths / 10 for tenths in range(11)]  # of the network, in the mixture


class DroppedLanguageModel(LanguageModel):
    """A language model whose states lose some features, in training, before they are used for the guess."""

    def __init__(self, V: int, H: int, E: int, dropout: float):
        super().__init__(V, H, "lstm", E)
        self.drop = nn.Dropout(dropout)

    def forward(self, ids: Tensor, state=None) -> tuple:
        h, state = self.rnn(self.embedding(ids), state)  # (B, T, H)
        return self.output(self.drop(h)), state


def whole_text(text: Tensor, B: int, T: int) -> Iterator[tuple[Tensor, Tensor, bool]]:
    """Cut a text into B streams and read them side by side, T characters at a time, again and again.

    Yields:
        x, y: (B, T) what is read, and the character after each; every row goes on where it ended the time before.
        first: whether the streams begin (anew).

    >>> for x, y, first in [batch for batch, _ in zip(whole_text(torch.arange(9), B=2, T=2), range(3))]:
    ...     print(x.tolist(), first)
    [[0, 1], [4, 5]] True
    [[2, 3], [6, 7]] False
    [[0, 1], [4, 5]] True
    """
    L = (len(text) - 1) // B // T * T  # characters of a stream
    x, y = text[: B * L].view(B, L), text[1 : B * L + 1].view(B, L)
    while True:
        for t in range(0, L, T):
            yield x[:, t : t + T], y[:, t : t + T], t == 0


def lstm(seed: int) -> tuple:
    """The network, the losses of its batches, its scores (B, T, V), context, stride; updates, largest step size."""
    model = DroppedLanguageModel(V, 384, 48, dropout=0.2)
    losses = recurrent_losses(model, whole_text(texts()[0], B=16, T=64))
    return model, losses, lambda ids: model(ids)[0], 576, 512, 5000, 7e-3


def gpt(seed: int) -> tuple:
    """The same for a GPT."""
    model = speed_up(GPT(GPTConfig(V, context=128, D=128, n_heads=4, layers=4, d_ff=512), dropout=0.05))
    batches = streams(texts()[0], 8, 128, 1, torch.Generator().manual_seed(seed))
    losses = (F.cross_entropy(model(x).flatten(0, 1), y.flatten()) for x, y, _ in batches)
    return model, losses, model, 128, 64, 7000, 3e-3


MODELS: dict[str, Callable[[int], tuple]] = {"LSTM, 384 units": lstm, "GPT, 4 blocks": gpt}


def mixed(network: np.ndarray, counts: np.ndarray) -> list[float]:
    """Nats per character of share * network + (1 - share) * 7-gram, for all SHARES, from the nats of each."""
    return [float(-np.log(s * np.exp(-network) + (1 - s) * np.exp(-counts)).mean()) for s in SHARES]


def measure(name: str, seed: int, counts: np.ndarray) -> dict:
    torch.manual_seed(seed)
    model, losses, scores, context, stride, updates, peak = MODELS[name](seed)
    run = {"seconds": [], "nats": [], "parameters": sum(weight.numel() for weight in model.parameters())}
    learning = adam(model, losses, updates, step_sizes(peak, 100, updates))
    spent = 0.0
    for look in range(LOOKS):
        start = time.process_time()
        for _ in range(updates * look // LOOKS, updates * (look + 1) // LOOKS):
            next(learning)
        spent += time.process_time() - start
        model.eval()
        network = text_surprise(scores, texts()[1], context, stride).double().numpy()
        model.train()
        run["seconds"].append(round(spent, 1))
        run["nats"].append(round(float(network.mean()), 4))
        print(name, seed, run["seconds"][-1], run["nats"][-1], flush=True)
    return run | {"mixed": mixed(network, counts)}


def counted() -> tuple[dict, np.ndarray]:
    """Kneser-Ney of orders 1 to 7: nats and processor seconds, and the nats of the 7-gram at each character."""
    values, (train_ids, test_ids) = {"nats": [], "seconds": []}, (ids.tolist() for ids in texts())
    for n in range(1, 8):
        start = time.process_time()
        model = KneserNey(n, V).fit([train_ids])
        values["seconds"].append(round(time.process_time() - start, 2))
        nats = model.surprise([test_ids])
        values["nats"].append(float(nats.mean()))
    return values, nats


def main() -> None:
    torch.set_num_threads(1)
    since = time.time()
    values = {"characters": sum(map(len, texts())), "seeds": SEEDS}
    values["KN"], counts = counted()
    print(values, flush=True)
    for name, seeds in SEEDS.items():
        values[name] = [measure(name, seed, counts[1:]) for seed in seeds]
        print(record("ch11_shakespeare", sorted(set().union(*SEEDS.values())), values, since).name, flush=True)


if __name__ == "__main__":
    main()
