"""Chapter 4: trained on a^n b^n up to n = 12, how far can a network count, and what does one unit do?"""

import time

import torch

from unrolled.gated import lstm_forward
from unrolled.gates_and_torch import from_torch_lstm
from unrolled.measurements import record
from unrolled.memory_tasks import anbn, counts_right, learn_counting
from unrolled.readers import Reader

SEEDS = [0, 1, 2, 3, 4]
LONGEST, SHOWN = 60, 20


def reach(model: Reader) -> int:
    """The largest n such that a^1 b^1 to a^n b^n are all right."""
    wrong = (n for n in range(1, LONGEST + 1) if not counts_right(model, n))
    return next(wrong, LONGEST + 1) - 1


@torch.no_grad()
def counter(model: Reader, kind: str) -> list[float]:
    """The unit that moves most while 20 a's are read, over the whole word: of the cell of an LSTM, else the state."""
    e = model.embedding(torch.tensor([anbn(SHOWN)]))
    zero = torch.zeros(1, model.layer.hidden_size)
    memory = lstm_forward(e, zero, zero, from_torch_lstm(model.layer))[1] if kind == "lstm" else model.layer(e)[0]
    moved = (memory[0, SHOWN] - memory[0, 1]).abs()
    return [round(value, 4) for value in memory[0, :, moved.argmax()].tolist()]


def main():
    torch.set_num_threads(1)
    since, values = time.time(), {}
    for kind in ("lstm", "gru", "rnn"):
        models = [learn_counting(kind, seed) for seed in SEEDS]
        values[kind] = {"reach": [reach(m) for m in models], "unit": [counter(m, kind) for m in models]}
        print(kind, values[kind]["reach"], round(time.time() - since), flush=True)
    print(record("ch04_counting", SEEDS, values, since).name)


if __name__ == "__main__":
    main()
