"""Chapter 9: how gradients fare before training, along the sequence (against an RNN) and down a stack of layers."""

import time

import torch
from torch import Tensor, nn

from unrolled.measurements import record
from unrolled.transformer_model import EncoderLayer

SEEDS = [0, 1, 2, 3, 4]
D, HEADS, D_FF, B, T = 64, 4, 256, 4, 16
LENGTHS, LAYERS = [5, 10, 20, 40, 80], 24
KINDS = ["post-norm", "pre-norm", "residual without norm", "norm without residual"]


def sizes(gradient: Tensor) -> Tensor:
    """The length of the gradient at each step, averaged over the batch (T,)."""
    return gradient.norm(dim=-1).mean(0)


def along_the_sequence(kind: str, n: int) -> float:
    """The gradient of the last output at the first input, as a share of that at the last input."""
    x = torch.randn(B, n, D, requires_grad=True)
    if kind == "RNN":
        y = nn.RNN(D, D, batch_first=True)(x)[0]
    else:
        y = x
        for _ in range(2):
            y, _ = EncoderLayer(D, HEADS, D_FF, norm="pre")(y)
    direction = torch.randn(B, D)
    (gradient,) = torch.autograd.grad((y[:, -1] * direction).sum(), x)
    found = sizes(gradient)
    return (found[0] / found[-1]).item()


def sublayer(kind: str, layer: EncoderLayer, x: Tensor) -> Tensor:
    """One encoder layer with residual and norm as the kind has them."""
    if kind in ("post-norm", "pre-norm"):
        return layer(x)[0]
    network = nn.Sequential(layer.wide, nn.ReLU(), layer.back)
    if kind == "residual without norm":
        x = x + layer.attention(x, x)[0]
        return x + network(x)
    x = layer.norm_1(layer.attention(x, x)[0])
    return layer.norm_2(network(x))


def down_the_stack(kind: str) -> list[float]:
    """The gradient at the input of each layer, as a share of that at the output of the last."""
    layers = [EncoderLayer(D, HEADS, D_FF, norm="post" if kind == "post-norm" else "pre") for _ in range(LAYERS)]
    for matrix in (p for layer in layers for p in layer.parameters() if p.dim() == 2):
        nn.init.xavier_uniform_(matrix)  # as nn.Transformer begins
    states = [torch.randn(B, T, D, requires_grad=True)]
    for layer in layers:
        states.append(sublayer(kind, layer, states[-1]))
    loss = (states[-1] * torch.randn(B, T, D)).sum()
    gradients = torch.autograd.grad(loss, states)
    last = sizes(gradients[-1]).mean()
    return [(sizes(g).mean() / last).item() for g in gradients]


def main():
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)
    since = time.time()
    values = {"lengths": LENGTHS, "layers": LAYERS, "along the sequence": {}, "down the stack": {}}
    for kind in ("RNN", "Transformer"):
        values["along the sequence"][kind] = []
        for seed in SEEDS:
            torch.manual_seed(seed)
            values["along the sequence"][kind].append([along_the_sequence(kind, n) for n in LENGTHS])
    for kind in KINDS:
        values["down the stack"][kind] = []
        for seed in SEEDS:
            torch.manual_seed(seed)
            values["down the stack"][kind].append(down_the_stack(kind))
        print(kind, [f"{run[0]:.3g}" for run in values["down the stack"][kind]], flush=True)
    print(values["along the sequence"], record("ch09_gradients", SEEDS, values, since).name)


if __name__ == "__main__":
    main()
