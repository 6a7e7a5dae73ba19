"""A picture as a sequence: patches are tokens, and the encoder of chapter 9 reads them (chapter 14)."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from unrolled.dropout import Dropout
from unrolled.transformer_model import EncoderLayer, Norm


def patchify(img: Tensor, p: int) -> Tensor:
    r"""Cut pictures into squares, and write each square as one row of numbers.

    $$ x_{b,\; i \frac{W}{p} + j,\; c p^2 + u p + v} = I_{b,\; c,\; i p + u,\; j p + v}
       $$ (eq-patchify)

    for the patch in row i and column j of the grid, the channel c, and row u and column v of the
    patch. So the patches come row by row, as one reads; within a patch the first channel comes
    first, row by row, then the next one.

    Args:
        img: (B, C, H, W) pictures; p divides H and W, which need not be equal.
        p: side of a patch in pixels. Patches do not overlap.

    Returns:
        (B, T, C·p²) with T = (H/p)·(W/p). Gradients reach img; nothing is changed.

    Built in chapter 14.

    >>> img = torch.arange(8.0).view(1, 1, 2, 4)  # 0 1 2 3 above 4 5 6 7
    >>> patchify(img, 2).tolist()
    [[[0.0, 1.0, 4.0, 5.0], [2.0, 3.0, 6.0, 7.0]]]
    """
    B, C, H, W = img.shape
    grid = img.reshape(B, C, H // p, p, W // p, p)
    patches = grid.permute(0, 2, 4, 1, 3, 5)  # (B, H/p, W/p, C, p, p)
    return patches.flatten(1, 2).flatten(2)  # eq-patchify: (B, T, C·p²)


class ViTEmbedParams(NamedTuple):
    """What turns patches into the input of an encoder; rows of W are outputs, as torch stores them."""

    W: Tensor  # (D, C·p²)
    b: Tensor  # (D,)
    positions: Tensor  # (1 + T, D) learned; (T, D) without [CLS]
    cls: Tensor | None  # (D,) the vector of [CLS], or None: there is none


def vit_embed(img: Tensor, p: int, params: ViTEmbedParams) -> Tensor:
    r"""Pictures as the sequences that an encoder reads: [CLS] first, then one vector per patch.

    $$ h_0 = \text{cls} + E^\text{pos}_0, \qquad
       h_{t} = W x_{t} + b + E^\text{pos}_{t}, \quad t = 1 \dots T $$ (eq-vit-embed)

    with x_1 … x_T the patches of your ``patchify``.

    Args:
        img: (B, C, H, W) pictures.
        p: side of a patch.
        params: W (D, C·p²), b (D,), positions (1 + T, D), cls (D,). Models that average over
            the patches have no [CLS]: there cls is None, positions is (T, D), its row 0 belongs
            to the first patch, and only the T patches are returned.

    Returns:
        (B, 1 + T, D), or (B, T, D) without [CLS]. Gradients reach img and the parameters;
        nothing is changed.

    Built in chapter 14.

    >>> img = torch.tensor([[[[1.0, 2.0, 3.0]]]])  # three patches of one pixel
    >>> positions = torch.tensor([[0.1], [0.2], [0.3], [0.4]])
    >>> W, b, cls = torch.tensor([[10.0]]), torch.zeros(1), torch.tensor([7.0])
    >>> vit_embed(img, 1, ViTEmbedParams(W, b, positions, cls))[0, :, 0]
    tensor([ 7.1000, 10.2000, 20.3000, 30.4000])
    """
    x = patchify(img, p) @ params.W.T + params.b  # (B, T, D)
    if params.cls is not None:
        cls = params.cls.expand(len(x), 1, -1)  # (B, 1, D)
        x = torch.cat([cls, x], dim=1)  # (B, 1 + T, D)
    return x + params.positions  # eq-vit-embed


class ViT(nn.Module):
    """A classifier of pictures: patches, encoder layers with the norm before, one state that decides.

    Args:
        size: (H, W) of all pictures.
        p: side of a patch; it divides both.
        C: number of channels.
        D: width of the model.
        n_heads: number of heads; it divides D.
        layers: number of layers.
        d_ff: width of the hidden layer in the feed-forward networks.
        classes: number of classes.
        positions: False: the model does not know where a patch was.
        pool: "cls": the state of [CLS] decides; "mean": there is no [CLS], and the mean of all states decides.
        dropout: the probability that a feature is dropped, after the embedding and after each sub-layer.

    >>> model = ViT(size=(6, 4), p=2, C=1, D=8, n_heads=2, layers=3, d_ff=16, classes=5)
    >>> img = torch.randn(7, 1, 6, 4)
    >>> model(img).shape, len(model.look(img)), model.look(img)[0].shape
    (torch.Size([7, 5]), 3, torch.Size([7, 2, 7, 7]))
    """

    def __init__(
        self,
        size: tuple[int, int],
        p: int,
        C: int,
        D: int,
        n_heads: int,
        layers: int,
        d_ff: int,
        classes: int,
        *,
        positions: bool = True,
        pool: str = "cls",
        dropout: float = 0.0,
    ):
        super().__init__()
        if any(side % p for side in size):
            raise ValueError(f"Patches of {p} by {p} pixels do not fill a picture of {size[0]} by {size[1]}.")
        if pool not in ("cls", "mean"):
            raise ValueError(f'pool is "cls" or "mean", not {pool!r}.')
        self.p, self.patch = p, nn.Linear(C * p * p, D)
        self.cls = nn.Parameter(0.02 * torch.randn(D)) if pool == "cls" else None
        T = (size[0] // p) * (size[1] // p)
        places = T + (pool == "cls")
        if positions:
            self.positions = nn.Parameter(0.02 * torch.randn(places, D))
        else:
            self.register_buffer("positions", torch.zeros(places, D), persistent=False)
        self.layers = nn.ModuleList(EncoderLayer(D, n_heads, d_ff, "pre", dropout) for _ in range(layers))
        self.last, self.drop, self.head = Norm(D), Dropout(dropout), nn.Linear(D, classes)

    @property
    def params(self) -> ViTEmbedParams:
        return ViTEmbedParams(self.patch.weight, self.patch.bias, self.positions, self.cls)

    def encode(self, img: Tensor) -> tuple[Tensor, list[Tensor]]:
        """Pictures (B, C, H, W) -> states (B, 1 + T, D), or (B, T, D), and the weights of every layer."""
        x, weights = self.drop(vit_embed(img, self.p, self.params)), []
        for layer in self.layers:
            x, found = layer(x)
            weights.append(found)
        return self.last(x), weights

    def forward(self, img: Tensor) -> Tensor:
        """Pictures (B, C, H, W) -> scores of the classes (B, classes)."""
        states, _ = self.encode(img)
        return self.head(states.mean(dim=1) if self.cls is None else states[:, 0])

    def look(self, img: Tensor) -> list[Tensor]:
        """The weights of every layer, each (B, N, 1 + T, 1 + T): row = who looks, column 0 = [CLS]."""
        return self.encode(img)[1]
