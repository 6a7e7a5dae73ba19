"""Chapter 4: seconds per forward and backward pass of RNN, LSTM and GRU, in torch's kernels and in our own steps."""

import time

import torch

from unrolled.gated import GRU, LSTM
from unrolled.measurements import record
from unrolled.readers import milliseconds, recurrent_layer
from unrolled.recurrent import RNN

SEEDS = [0, 1, 2]  # three rounds; each takes the fastest of five passes
E = 64
WIDTHS = [64, 256]
OURS = {"rnn": RNN, "lstm": LSTM, "gru": GRU}


def main():
    torch.set_num_threads(1)
    since, values = time.time(), {}
    for H in WIDTHS:
        makers = {"torch": lambda kind, H=H: recurrent_layer(kind, E, H), "ours": lambda kind, H=H: OURS[kind](E, H)}
        values[str(H)] = {
            where: {kind: [milliseconds(make(kind)) for _ in SEEDS] for kind in OURS} for where, make in makers.items()
        }
        print(H, values[str(H)], flush=True)
    print(record("ch04_speed", SEEDS, values, since).name)


if __name__ == "__main__":
    main()
