"""Chapter 4: RNN, LSTM and GRU of equal size as character models of real verses, on little and on much text."""

import time

import torch
from torch import Tensor, nn

from unrolled.data import verses
from unrolled.gated import lstm_forward
from unrolled.gates_and_torch import from_torch_lstm
from unrolled.measurements import record
from unrolled.readers import Reader
from unrolled.text import Vocabulary

SEEDS = [0, 1, 2]
WIDTHS = {"rnn": 143, "lstm": 64, "gru": 76}  # about 25,000 recurrent weights each
E, T, B, STEPS = 32, 100, 32, 300
FORGET = [1, 3]  # forget biases, beside torch's own start around 0
TEXT = "\n".join(verses()[23_145:])  # the New Testament
VOCABULARY = Vocabulary([list(TEXT)])
IDS = torch.tensor(VOCABULARY.encode(list(TEXT)))
TEST = IDS[-60_000:]
TRAIN = {"little": IDS[:40_000], "much": IDS[:-60_000]}


def windows(ids: Tensor, starts: Tensor) -> Tensor:
    """(B, T + 1) pieces of the text."""
    return ids[starts[:, None] + torch.arange(T + 1)]


def loss_on(model: Reader, batch: Tensor) -> Tensor:
    return nn.functional.cross_entropy(model(batch[:, :-1]).flatten(0, 1), batch[:, 1:].flatten())


@torch.no_grad()
def test_loss(model: Reader) -> float:
    return loss_on(model, windows(TEST, torch.arange(0, len(TEST) - T - 1, 2 * T))).item()


def learn_text(kind: str, ids: Tensor, seed: int, keep: float | None = None) -> tuple[Reader, float]:
    """A trained reader and its lowest test loss in nats per character, looked at every 50 steps."""
    torch.manual_seed(seed)
    model, best = Reader(kind, len(VOCABULARY), E, WIDTHS[kind], len(VOCABULARY), keep), float("inf")
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for step in range(1, STEPS + 1):
        loss = loss_on(model, windows(ids, torch.randint(0, len(ids) - T - 1, (B,))))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step % 50 == 0:
            best = min(best, test_loss(model))
    return model, best


@torch.no_grad()
def gates_at(model: Reader) -> dict[str, dict[str, float]]:
    """The mean of each gate when a letter is read and when a space is read."""
    batch = windows(TEST, torch.arange(0, 20_000, T))
    e, zero = model.embedding(batch), torch.zeros(len(batch), WIDTHS["lstm"])
    _, _, gates = lstm_forward(e, zero, zero, from_torch_lstm(model.layer))
    space = batch == VOCABULARY.ids[" "]
    return {
        gate: {"space": getattr(gates, gate)[space].mean().item(), "letter": getattr(gates, gate)[~space].mean().item()}
        for gate in ("f", "i", "o")
    }


def main():
    torch.set_num_threads(1)
    since, values = time.time(), {}
    for size, ids in TRAIN.items():
        values[size] = {}
        for kind in WIDTHS:
            runs = [learn_text(kind, ids, seed) for seed in SEEDS]
            values[size][kind] = [best for _, best in runs]
            print(size, kind, values[size][kind], round(time.time() - since), flush=True)
            if (size, kind) == ("much", "lstm"):
                values["gates"] = [gates_at(model) for model, _ in runs]
    values["forget bias"] = {
        str(bias): [learn_text("lstm", TRAIN["much"], seed, bias)[1] for seed in SEEDS] for bias in FORGET
    }
    print(values["forget bias"], round(time.time() - since), flush=True)
    print(record("ch04_verse", SEEDS, values, since).name)


if __name__ == "__main__":
    main()
