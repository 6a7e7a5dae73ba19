"""The pictures that stand in for the touchable models where there are no scripts, from the same numbers.

    python experiments/touch_pictures.py [NAME ...]

reads book/touch/data/NAME.js and writes book/touch/pictures/NAME.svg.
"""

import json
import sys

import matplotlib.pyplot as plt
import numpy as np
import torch
from matplotlib.colors import LinearSegmentedColormap
from touch_weights import FOLDER

from unrolled import plotting
from unrolled.beam_tree import beam_steps, draw_beam
from unrolled.bert_input import Special
from unrolled.masked_words import mlm_mask
from unrolled.recurrent import RNNParams
from unrolled.sampling import next_token_probs

SIZE = (7.2, 3.7)
SIGNED = LinearSegmentedColormap.from_list("signed", ["#1f6f8b", "#ffffff", "#b3401e"])


def numbers(name: str) -> dict:
    """What touch_weights.py wrote."""
    text = (FOLDER / f"{name}.js").read_text("utf8")
    return json.loads(text[text.index("{") : text.rindex(")")])


def unroll(data: dict):
    test = data["tests"][0]
    fig, (top, bottom) = plt.subplots(2, 1, figsize=SIZE, sharex=True, height_ratios=(1, 2))
    places = range(len(test["input"]))
    top.bar(places, [p[0] for p in test["probabilities"]], color=plotting.COLOURS["rnn"], width=0.6)
    top.set(ylim=(0, 1), ylabel="“negative”", yticks=(0, 0.5, 1))
    bottom.imshow(np.transpose(test["states"]), cmap=SIGNED, vmin=-1, vmax=1, aspect="auto")
    bottom.set(xticks=places, xticklabels=test["input"], ylabel="units", yticks=[])
    bottom.grid(False)
    return fig


def radius(data: dict):
    from touch_recurrent import gradient_lengths

    torch.set_default_dtype(torch.float64)
    fig, ax = plt.subplots(figsize=SIZE)
    W_xh, W, b, start = (torch.tensor(data[name]) for name in ("W_xh", "random", "b", "start"))
    x = torch.eye(W_xh.shape[1])[torch.tensor(data["text"])[None, :51]]
    shades = plt.get_cmap("viridis")
    for i, rho in enumerate((0.5, 0.9, 1.0, 1.5, 3.0)):
        for phi, line in ((torch.tanh, "-"), (lambda a: a, "--")):
            h0 = torch.zeros(1, len(b), requires_grad=True)
            lengths = gradient_lengths(h0, x, RNNParams(W_xh, rho * W, b, phi), start)
            ax.plot(lengths, line, color=shades(i / 5), label=f"ρ = {rho}" if line == "-" else None)
    ax.set(yscale="log", ylim=(1e-12, 1e8), xlabel="steps back", ylabel="length of the gradient")
    ax.legend(ncols=5, loc="upper center", fontsize="small", handlelength=1.2, columnspacing=1)
    return fig


def gates(data: dict):
    test = data["tests"][0]
    fig, ax = plt.subplots(figsize=SIZE)
    places, text = range(len(test["input"]["text"])), test["input"]["text"].replace(" ", "␣")
    for (name, title), marker in zip({"f": "keep", "i": "write", "o": "read"}.items(), "osD", strict=True):
        ax.plot(places, test["means"][name], marker=marker, markersize=3.5, label=title)
    ax.set(xticks=places, xticklabels=list(text), ylim=(0, 1), ylabel="mean of the gate over all units")
    ax.legend(ncols=3)
    return fig


def attention(data: dict):
    test = data["tests"][0]
    words, (heads,) = test["input"]["tokens"], test["weights"]
    fig, axes = plt.subplots(1, len(heads), figsize=SIZE, sharey=True)
    for n, ax in enumerate(axes):
        plotting.attention_map(np.array(heads[n]), words, words, f"head {n + 1}", ax)
        ax.label_outer()
    return fig


def bugs(data: dict):
    fig, axes = plt.subplots(1, 2, figsize=SIZE, sharey=True)
    lines = ["-", "--", ":", "-.", (0, (5, 1)), (0, (1, 1)), (0, (3, 1, 1, 1))]
    for (name, run), line in zip(data["programs"].items(), lines, strict=True):
        for ax, key in zip(axes, ("there", "hidden"), strict=True):
            ax.plot(data["steps"], np.maximum(run[key], 1e-3), linestyle=line, label=name)
    for ax, title in zip(axes, ("as validated", "with the future hidden"), strict=True):
        ax.set(xscale="log", yscale="log", xlabel="training steps", title=title)
    axes[0].set_ylabel("nats per letter")
    axes[0].legend(fontsize="x-small", handlelength=3)
    return fig


def beam(data: dict):
    model = data["models"][1]
    fig, ax = plt.subplots(figsize=SIZE)
    draw_beam(beam_steps(model["next"], model["end"], k=3, steps=8), ax)
    return fig


def sampling(data: dict):
    logits = torch.tensor(next(test["logits"] for test in data["tests"] if test["input"]["text"] == data["example"]))
    order = logits.argsort(descending=True)[:12]
    fig, axes = plt.subplots(1, 3, figsize=SIZE, sharey=True)
    model = next_token_probs(logits)[order]
    for ax, (title, settings) in zip(axes, PANELS.items(), strict=True):
        ax.bar(range(12), next_token_probs(logits, **settings)[order], color=plotting.COLOURS["transformer"])
        ax.bar(range(12), model, width=0.9, fill=False, edgecolor="#333333")
        ax.set(title=title, xticks=range(12), xticklabels=[data["letters"][i].replace(" ", "␣") for i in order])
        ax.grid(False, axis="x")
    axes[0].set_ylabel("probability of the next letter")
    return fig


def blank(data: dict):
    test, words = data["tests"][0], data["words"]
    fig, (left, right) = plt.subplots(1, 2, figsize=SIZE)
    p = torch.tensor(test["probabilities"][0])
    best = p.argsort(descending=True)[:6].tolist()
    left.barh(range(6), p[best], color=plotting.COLOURS["transformer"])
    left.set(yticks=range(6), yticklabels=[words[i] for i in best], xlim=(0, 1), xlabel="probability at [MASK]")
    layer, head = data["off"]
    looks = test["weights"][layer][head][test["places"][0]]
    right.barh(range(len(looks)), looks, color=plotting.COLOURS["attention"])
    tokens = [words[i] for i in test["input"]["ids"]]
    right.set(yticks=range(len(looks)), yticklabels=tokens, xlim=(0, 1), xlabel="weight of one head, from [MASK]")
    for ax in (left, right):
        ax.invert_yaxis()
        ax.grid(False, axis="y")
    return fig


def masking(data: dict):
    """The shares of four fates over 2,000 rows, drawn anew."""
    generator, special = torch.Generator().manual_seed(1), Special(**data["special"])
    rows = torch.tensor(data["rows"])
    x = rows[torch.randint(0, len(rows), (2000,), generator=generator)]  # (2000, T)
    u = torch.rand(2, *x.shape, generator=generator)
    chosen = mlm_mask(x, u, x, special, data["rate"])[2]  # (2000, T)
    fates = {"becomes [MASK]": u[1] < 0.8, "random word": (u[1] >= 0.8) & (u[1] < 0.9), "kept": u[1] >= 0.9}
    fig, ax = plt.subplots(figsize=SIZE)
    seen, words = chosen.sum(1).cumsum(0), (x > special.mask).sum(1).cumsum(0)
    for (name, fate), line in zip(fates.items(), ("-", ":", "-."), strict=True):
        ax.plot(range(1, 2001), (chosen & fate).sum(1).cumsum(0) / seen, line, label=name)
    ax.plot(range(1, 2001), seen / words, "--", label="chosen, of all words")
    for rate in (0.1, 0.15, 0.8):
        ax.axhline(rate, color="#888888", linewidth=0.6)
    ax.set(
        xscale="log",
        xlim=(1, 2000),
        ylim=(0, 1),
        yticks=(0, 0.1, 0.15, 0.5, 0.8, 1),
        xlabel="rows drawn",
        ylabel="share",
    )
    ax.legend(ncols=2)
    return fig


PANELS = {"τ = 0.5": {"temperature": 0.5}, "top-k = 3": {"top_k": 3}, "τ = 2": {"temperature": 2.0}}
PICTURES = {
    "unroll": unroll,
    "radius": radius,
    "gates": gates,
    "attention": attention,
    "bugs": bugs,
    "beam": beam,
    "sampling": sampling,
    "blank": blank,
    "masking": masking,
}


def main():
    plotting.begin(seed=0)
    folder = FOLDER.parent / "pictures"
    folder.mkdir(exist_ok=True)
    for name in sys.argv[1:] or PICTURES:
        fig = PICTURES[name](numbers(name))
        fig.savefig(folder / f"{name}.svg", metadata={"Date": None})
        plt.close(fig)
        torch.set_default_dtype(torch.float32)


if __name__ == "__main__":
    main()
