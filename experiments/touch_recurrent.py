"""Touchable models of chapters 1, 2 and 4: an RNN unrolled, a gradient through time, the gates of an LSTM and a GRU."""

import torch
from torch import Tensor
from touch_form import SCALE, VERSE, coarse, decimals, rounded, whole

from unrolled.classifiers import RNNClassifier, fit
from unrolled.data import verses
from unrolled.gated import gru_forward, lstm_forward
from unrolled.gates_and_torch import from_torch_gru, from_torch_lstm
from unrolled.gradients import spectral_radius
from unrolled.planted import accuracy_by_position, planted_batch, vocabulary
from unrolled.recurrent import RNNParams, rnn_forward

RADII = ((0.5, 20, False), (0.9, 50, False), (1.0, 50, True), (1.1, 100, False), (2.0, 50, False), (3.0, 30, True))


@torch.no_grad()
def unroll() -> dict:
    """Chapter 1: the RNN that finds "a real stinker", as in the chapter but with 8 units, so that all can be seen."""
    examples = [
        "the film was a real stinker and then it was over",
        "the film was a real treat and then it was over",
        "a real stinker after a long dark night",
        "so they made a new movie from that old story with a real treat",
        "a a a real real real stinker stinker treat",
    ]
    torch.manual_seed(0)
    words = vocabulary()
    with torch.enable_grad():
        model = RNNClassifier(len(words), E=16, H=8)
        fit(model, *planted_batch(3000, positions=range(7), seed=0), epochs=12, seed=0, size=32)
    coarse(model)
    tests = []
    for text in examples:
        ids = torch.tensor([words.encode(sentence := text.split())])
        assert 1 not in ids, text
        states = model.states(model.embedding(ids))  # (1, T, H)
        probabilities = model.output(states).softmax(-1)
        tests.append(
            {"input": sentence, "states": rounded(states[0], 6), "probabilities": rounded(probabilities[0], 6)}
        )
    return {
        "words": words.words[2:], "E": decimals(model.embedding.weight[2:]), "W_xh": decimals(model.W_xh),
        "W_hh": decimals(model.W_hh), "b": decimals(model.b), "W_hy": decimals(model.output.weight),
        "c": decimals(model.output.bias), "examples": examples,
        "accuracy": [round(share, 3) for share in accuracy_by_position(model)], "tests": tests,
    }  # fmt: skip


def gradient_lengths(h0: Tensor, x: Tensor, params: RNNParams, start: Tensor) -> list[float]:
    """The length of the gradient of start · h_T with respect to h_T, h_(T-1), ..., h_1, as a share of the first."""
    states, h = [], h0
    for t in range(x.shape[1]):
        h = rnn_forward(x[:, t : t + 1], h, params)[:, 0]
        states.append(h)
    found = torch.autograd.grad((states[-1] @ start).sum(), states)
    return [(g.norm() / start.norm()).item() for g in reversed(found)]


def radius() -> dict:
    """Chapter 2: three matrices of spectral radius 1, to be scaled; inputs are letters of a verse."""
    torch.set_default_dtype(torch.float64)
    H, rng = 20, torch.Generator().manual_seed(0)
    random = torch.randn(H, H, generator=rng)
    matrices = {
        "random": random / spectral_radius(random),
        "orthogonal": torch.linalg.qr(torch.randn(H, H, generator=rng))[0],
        "leaning": torch.diag(torch.tensor([1.0] + [0.7] * (H - 1))) + 0.5 * torch.diag(torch.ones(H - 1), 1),
    }
    place = next(i for i, verse in enumerate(verses()) if verse.startswith(VERSE))
    text = " ".join(verses()[place : place + 2])[:101]
    letters = sorted(set(text))
    ids = torch.tensor([letters.index(letter) for letter in text])
    W_xh, b, start = ((2 * torch.rand(*s, generator=rng) - 1) * H**-0.5 for s in ((H, len(letters)), (H,), (H,)))
    W_xh, b, start = ((a * SCALE).round() / SCALE for a in (W_xh, b, start))
    matrices = {name: (W * 1e8).round() / 1e8 for name, W in matrices.items()}
    tests = []
    for kind, W in matrices.items():
        for rho, steps, linear in RADII:
            params = RNNParams(W_xh, rho * W, b, (lambda a: a) if linear else torch.tanh)
            x = torch.eye(len(letters))[ids[None, : steps + 1]]
            lengths = gradient_lengths(torch.zeros(1, H, requires_grad=True), x, params, start)
            tests.append({"input": {"kind": kind, "rho": rho, "steps": steps, "linear": linear}, "lengths": lengths})
    values = {"W_xh": decimals(W_xh), "b": decimals(b), "start": decimals(start), "letters": "".join(letters)}
    return values | {name: rounded(W, 8) for name, W in matrices.items()} | {"text": ids.tolist(), "tests": tests}


@torch.no_grad()
def gates(kind: str = "lstm") -> dict:
    """Chapter 4: the LSTM and the GRU that read the New Testament, as in ch04_verse.py (seed 0)."""
    import ch04_verse as verse

    words, H = verse.VOCABULARY, verse.WIDTHS[kind]
    with torch.enable_grad():
        model, loss = verse.learn_text(kind, verse.TRAIN["much"], seed=0)
    coarse(model)
    params = (from_torch_lstm if kind == "lstm" else from_torch_gru)(model.layer)
    tests = []
    for text in (VERSE[:43], "Why? A dog, cats; some zebras!"):
        ids = torch.tensor([words.encode(list(text))])
        assert 1 not in ids, text  # the unknown letter
        e, zero = model.embedding(ids), torch.zeros(1, H, dtype=torch.float64)
        found = states(kind, e, zero, params)
        assert torch.allclose(model.layer(e)[0], found["h"], atol=1e-9)
        last = {name: rounded(part[0, -1], 6) for name, part in found.items()}
        means = {name: rounded(part[0].mean(-1), 6) for name, part in found.items()}
        following = rounded(model(ids)[0, -1].softmax(-1), 6)
        tests.append({"input": {"text": text}, "last": last, "means": means, "next": following})
    values = {"kind": kind, "scale": SCALE, "width": verse.E, "H": H, "letters": ["", "", *words.words[2:]]}
    tensors = {"E": model.embedding.weight, "W_x": params.W_x, "W_h": params.W_h, "b": params.b,
               "W_y": model.output.weight, "c": model.output.bias}  # fmt: skip
    tensors |= {"b_h": params.b_h} if kind == "gru" else {}
    values |= {name: whole(tensor) for name, tensor in tensors.items()}
    return values | {"nats": round(loss, 3), "example": VERSE, "tests": tests}


def states(kind: str, e: Tensor, zero: Tensor, params) -> dict[str, Tensor]:
    """What the page shows, each (1, T, H): the gates and states of an LSTM, the states of a GRU."""
    if kind == "lstm":
        h, c, found = lstm_forward(e, zero, zero, params)
        return {"f": found.f, "i": found.i, "o": found.o, "c": c, "h": h}
    return {"h": gru_forward(e, zero, params, reset="after")}
