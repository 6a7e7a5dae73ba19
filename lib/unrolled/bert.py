"""BERT in functions: the sum of three embeddings, and how many numbers the whole model has (chapter 12)."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from unrolled.normalisation import layer_norm

EPS = 1e-12  # of every layer normalisation in BERT


class BertEmbedParams(NamedTuple):
    """The tables that BERT's input is looked up in, and the normalisation of their sum."""

    tokens: Tensor  # (V, D)
    segments: Tensor  # (2, D) first sentence, second sentence
    positions: Tensor  # (L, D) learned, for at most L steps
    g: Tensor  # (D,) scale of the normalisation
    b: Tensor  # (D,) its shift


def bert_embed(ids: Tensor, segments: Tensor, params: BertEmbedParams) -> Tensor:
    r"""What a token is, which sentence it stands in, and where: three vectors, added.

    $$ h_{bt} = \mathrm{LN}\big(E^\text{tok}[x_{bt}] + E^\text{seg}[s_{bt}] + E^\text{pos}[t]\big),
       \qquad \varepsilon = 10^{-12} $$ (eq-bert-embed)

    Args:
        ids: (B, T) int64, the tokens x.
        segments: (B, T) int64, 0 or 1: the sentence s.
        params: tokens (V, D), segments (2, D), positions (L, D), and g (D,), b (D,) of the
            ``layer_norm``. T is at most L; the first step is t = 0.

    Returns:
        (B, T, D). Gradients reach all five parameters; nothing is changed.

    Built in chapter 12.

    >>> tables = torch.tensor([[5.0, 0.0], [1.0, 2.0]]), torch.zeros(2, 2), torch.zeros(9, 2)
    >>> params = BertEmbedParams(*tables, g=torch.tensor([1.0, 10.0]), b=torch.tensor([0.0, 100.0]))
    >>> bert_embed(torch.tensor([[0, 1]]), torch.tensor([[0, 0]]), params).tolist()
    [[[1.0, 90.0], [-1.0, 110.0]]]
    """
    t = torch.arange(ids.shape[1])  # (T,)
    x = params.tokens[ids] + params.segments[segments] + params.positions[t]  # (B, T, D)
    return layer_norm(x, params.g, params.b, EPS)  # eq-bert-embed


def bert_parameters(V: int, D: int, layers: int, d_ff: int, longest: int = 512) -> dict[str, int]:
    """How many parameters BERT has, part by part. The number of heads plays no part: they share the width.

    Returns:
        "embeddings", "layers", "pooler", "heads": the MLM head without its decoder, which is the table of tokens, but
        with a bias for each token, and the NSP head.

    >>> large = bert_parameters(V=30_522, D=1024, layers=24, d_ff=4096)
    >>> large["embeddings"] + large["layers"], large["pooler"], large["heads"]
    (334092288, 1049600, 1084220)
    """
    norm = 2 * D
    attention, network = 4 * (D * D + D), (D * d_ff + d_ff) + (d_ff * D + D)
    return {
        "embeddings": (V + 2 + longest) * D + norm,
        "layers": layers * (attention + network + 2 * norm),
        "pooler": D * D + D,
        "heads": (D * D + D + norm + V) + (2 * D + 2),
    }
