"""The Transformer of chapter 9 as a network: layers with parameters, a stack that reads, a stack that writes.

``Transformer`` is a translator like those of ``unrolled.translators``: it has forward, start and step.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from unrolled.dropout import Dropout
from unrolled.masks import make_masks
from unrolled.normalisation import layer_norm
from unrolled.positions import embed, sinusoidal_positions
from unrolled.self_attention import MultiHeadAttention
from unrolled.transformer import (
    DecoderLayerParams,
    EncoderLayerParams,
    FeedForwardParams,
    NormParams,
    decoder_layer,
    encoder_layer,
)
from unrolled.translators import PAD, Memory


class Norm(nn.Module):
    """A layer with the parameters of ``layer_norm``: at first g = 1 and b = 0."""

    def __init__(self, D: int):
        super().__init__()
        self.g, self.b = nn.Parameter(torch.ones(D)), nn.Parameter(torch.zeros(D))

    @property
    def params(self) -> NormParams:
        return NormParams(self.g, self.b)

    def forward(self, x: Tensor) -> Tensor:
        return layer_norm(x, self.g, self.b)


class _Layer(nn.Module):
    """What the layers of encoder and decoder share: a feed-forward network, dropout, the side of the norm."""

    def __init__(self, D: int, n_heads: int, d_ff: int, norm: str, dropout: float):
        super().__init__()
        if norm not in ("pre", "post"):
            raise ValueError(f'norm is "pre" or "post", not {norm!r}.')
        self.n_heads, self.norm, self.drop = n_heads, norm, Dropout(dropout)
        self.wide, self.back = nn.Linear(D, d_ff), nn.Linear(d_ff, D)

    @property
    def feed_forward(self) -> FeedForwardParams:
        return FeedForwardParams(self.wide.weight, self.wide.bias, self.back.weight, self.back.bias)


class EncoderLayer(_Layer):
    """A layer with the parameters of ``encoder_layer``."""

    def __init__(self, D: int, n_heads: int, d_ff: int, norm: str = "pre", dropout: float = 0.0):
        super().__init__(D, n_heads, d_ff, norm, dropout)
        self.attention, self.norm_1, self.norm_2 = MultiHeadAttention(D, n_heads), Norm(D), Norm(D)

    @property
    def params(self) -> EncoderLayerParams:
        return EncoderLayerParams(self.attention.params, self.feed_forward, self.norm_1.params, self.norm_2.params)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        return encoder_layer(x, self.params, self.n_heads, mask, self.norm, self.drop)


class DecoderLayer(_Layer):
    """A layer with the parameters of ``decoder_layer``."""

    def __init__(self, D: int, n_heads: int, d_ff: int, norm: str = "pre", dropout: float = 0.0):
        super().__init__(D, n_heads, d_ff, norm, dropout)
        self.self_attention, self.cross_attention = MultiHeadAttention(D, n_heads), MultiHeadAttention(D, n_heads)
        self.norm_1, self.norm_2, self.norm_3 = Norm(D), Norm(D), Norm(D)

    @property
    def params(self) -> DecoderLayerParams:
        attentions = self.self_attention.params, self.cross_attention.params
        norms = self.norm_1.params, self.norm_2.params, self.norm_3.params
        return DecoderLayerParams(*attentions, self.feed_forward, *norms)

    def forward(
        self, y: Tensor, memory: Tensor, tgt_mask: Tensor | None = None, src_mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        return decoder_layer(y, memory, self.params, self.n_heads, tgt_mask, src_mask, self.norm, self.drop)


class _Stack(nn.Module):
    """Tokens become vectors with a place; layers follow; with pre-norm a last normalisation brings the sum to size."""

    def __init__(
        self,
        layer: type[_Layer],
        V: int,
        D: int,
        n_heads: int,
        layers: int,
        d_ff: int,
        norm: str = "pre",
        positions: str | None = "sinusoidal",
        dropout: float = 0.0,
        longest: int = 512,
    ):
        super().__init__()
        self.tokens = nn.Parameter(torch.randn(V, D) / D**0.5)  # times √D in embed: a spread of 1
        if positions == "learned":
            self.positions = nn.Parameter(torch.randn(longest, D))
        elif positions in ("sinusoidal", None):
            waves = sinusoidal_positions(longest, D) if positions else torch.zeros(longest, D)
            self.register_buffer("positions", waves, persistent=False)
        else:
            raise ValueError(f'positions are "sinusoidal", "learned" or None, not {positions!r}.')
        self.drop = Dropout(dropout)
        self.layers = nn.ModuleList(layer(D, n_heads, d_ff, norm, dropout) for _ in range(layers))
        self.last = Norm(D) if norm == "pre" else nn.Identity()

    def embed(self, ids: Tensor) -> Tensor:
        """ids (B, T) -> (B, T, D)."""
        if ids.shape[1] > len(self.positions):
            raise ValueError(f"{ids.shape[1]} steps, but there are positions for only {len(self.positions)}.")
        return self.drop(embed(ids, self.tokens, self.positions))


class TransformerEncoder(_Stack):
    """A stack of encoder layers on tokens.

    Args:
        V: size of the vocabulary.
        D: width of the model, even.
        n_heads: number of heads; it divides D.
        layers: number of layers.
        d_ff: width of the hidden layer in the feed-forward networks.
        norm: "pre" or "post".
        positions: "sinusoidal", "learned" or None (the model does not know where a token stands).
        dropout: the probability that a feature is dropped, after the embedding and after each sub-layer.
        longest: the most steps.

    >>> encoder = TransformerEncoder(V=7, D=6, n_heads=3, layers=2, d_ff=12)
    >>> states, weights = encoder(torch.tensor([[1, 2, 4, 5]]))
    >>> states.shape, [w.shape for w in weights]
    (torch.Size([1, 4, 6]), [torch.Size([1, 3, 4, 4]), torch.Size([1, 3, 4, 4])])
    """

    def __init__(self, V: int, D: int, n_heads: int, layers: int, d_ff: int, **options):
        super().__init__(EncoderLayer, V, D, n_heads, layers, d_ff, **options)

    def forward(self, ids: Tensor, mask: Tensor | None = None) -> tuple[Tensor, list[Tensor]]:
        """ids (B, S), mask True = may attend -> states (B, S, D), and the weights (B, N, S, S) of each layer."""
        x, seen = self.embed(ids), []
        for layer in self.layers:
            x, weights = layer(x, mask)
            seen.append(weights)
        return self.last(x), seen


class TransformerDecoder(_Stack):
    """A stack of decoder layers on tokens, with the arguments of ``TransformerEncoder``."""

    def __init__(self, V: int, D: int, n_heads: int, layers: int, d_ff: int, **options):
        super().__init__(DecoderLayer, V, D, n_heads, layers, d_ff, **options)

    def forward(
        self, ids: Tensor, memory: Tensor, tgt_mask: Tensor | None = None, src_mask: Tensor | None = None
    ) -> tuple[Tensor, list[Tensor], list[Tensor]]:
        """ids (B, T), memory (B, S, D) -> states (B, T, D), and per layer the weights (B, N, T, T), (B, N, T, S)."""
        y, own, cross = self.embed(ids), [], []
        for layer in self.layers:
            y, self_weights, cross_weights = layer(y, memory, tgt_mask, src_mask)
            own.append(self_weights)
            cross.append(cross_weights)
        return self.last(y), own, cross


class Transformer(nn.Module):
    """A translator without recurrence: an encoder reads, a decoder writes.

    Args:
        V_src: size of the source vocabulary.
        V_tgt: size of the target vocabulary.
        D, n_heads, layers, d_ff: as in ``TransformerEncoder``, for encoder and decoder alike.
        options: norm, positions, dropout, longest.

    >>> model = Transformer(V_src=9, V_tgt=7, D=8, n_heads=2, layers=1, d_ff=16)
    >>> src, lengths, y_in = torch.tensor([[4, 5, 8], [6, 0, 0]]), torch.tensor([3, 1]), torch.tensor([[2, 5], [2, 4]])
    >>> model(src, lengths, y_in).shape
    torch.Size([2, 2, 7])
    """

    def __init__(self, V_src: int, V_tgt: int, D: int, n_heads: int, layers: int, d_ff: int, **options):
        super().__init__()
        self.encoder = TransformerEncoder(V_src, D, n_heads, layers, d_ff, **options)
        self.decoder = TransformerDecoder(V_tgt, D, n_heads, layers, d_ff, **options)
        self.output = nn.Linear(D, V_tgt)

    def run(self, src: Tensor, y_in: Tensor) -> tuple[Tensor, dict[str, list[Tensor]]]:
        """Scores (B, T, V) for the tokens after those of y_in (B, T), and who looked at whom in every layer."""
        src_mask, tgt_mask = make_masks(src, y_in, PAD)
        memory, weights = self.encoder(src, src_mask)
        states, own, cross = self.decoder(y_in, memory, tgt_mask, src_mask)
        return self.output(states), {"encoder": weights, "decoder": own, "cross": cross}

    def forward(self, src: Tensor, lengths: Tensor, y_in: Tensor) -> Tensor:
        return self.run(src, y_in)[0]

    def start(self, src: Tensor, lengths: Tensor) -> tuple[Tensor, Memory]:
        """No state but the tokens written so far: at first none, (B, 0)."""
        real = src != PAD  # (B, S)
        return src[:, :0], Memory(self.encoder(src, real[:, None, None, :])[0], real)

    def step(self, y: Tensor, written: Tensor, memory: Memory) -> tuple[Tensor, Tensor]:
        """The decoder reads all that has been written once more; only the last step is new."""
        written = torch.cat([written, y[:, None]], dim=1)  # (B, t)
        src_mask, tgt_mask = memory.mask[:, None, None, :], make_masks(written, written, PAD)[1]
        states = self.decoder(written, memory.h, tgt_mask, src_mask)[0]
        return self.output(states[:, -1]), written

    @torch.no_grad()
    def look(self, src: Tensor, lengths: Tensor, y_in: Tensor) -> dict[str, list[Tensor]]:
        """Who looks at whom: "encoder", "decoder" and "cross", each the weights (B, N, ·, ·) of every layer."""
        return self.run(src, y_in)[1]
