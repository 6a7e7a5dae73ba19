"""A vector for a sentence: near to those that mean the same, so that a text can be searched by meaning (chapter 13)."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from unrolled.bert_data import single_rows
from unrolled.minilm import Encoder
from unrolled.pooling import masked_mean


def sentence_embedding(h: Tensor, mask: Tensor) -> Tensor:
    r"""The mean of the states of a sentence, made one long.

    $$ e = \frac{\bar h}{\lVert \bar h \rVert}, \qquad
       \bar h = \frac{\sum_t m_t h_t}{\sum_t m_t} $$ (eq-sentence-embedding)

    So that $e_a \cdot e_b$ is the cosine of the angle between the means of two sentences.

    Args:
        h: (B, T, D) the states of the last layer; what stands at the pads is any finite number.
        mask: (B, T) bool, True where there is no pad; at least one in each row. [CLS] and [SEP]
            are real: the model was trained with the mean over them and all words.

    Returns:
        (B, D) vectors of length 1. Gradients reach h; nothing is changed.

    Built in chapter 13.

    >>> h = torch.tensor([[[6.0, 0.0], [0.0, 8.0], [9.0, 9.0]]])
    >>> sentence_embedding(h, torch.tensor([[True, True, False]]))
    tensor([[0.6000, 0.8000]])
    """
    mean = masked_mean(h, mask)  # (B, D)
    return mean / mean.norm(dim=1, keepdim=True)  # eq-sentence-embedding


@torch.no_grad()
def embed_texts(encoder: Encoder, texts: Sequence[str], T: int = 128, size: int = 32) -> Tensor:
    """A unit vector for each text (n, D); texts of about the same length are read together."""
    rows = single_rows([encoder.tokenizer.encode(text) for text in texts], T, encoder.tokenizer.special)
    vectors = torch.empty(len(texts), encoder.model.pooler.in_features)
    for places in rows.mask.sum(dim=1).argsort(stable=True).split(size):
        part = rows.take(places)
        vectors[places] = sentence_embedding(encoder.model(part.ids, part.segments, part.mask).states, part.mask)
    return vectors


def similarity(encoder: Encoder, first: Sequence[str], second: Sequence[str]) -> Tensor:
    """The cosine between every text of one list and every text of another: (m, n), at most 1."""
    return embed_texts(encoder, first) @ embed_texts(encoder, second).T  # (m, D) @ (D, n) -> (m, n)


def search(encoder: Encoder, query: str, vectors: Tensor, k: int = 3) -> list[tuple[int, float]]:
    """The k texts that are nearest to a query, best first: their numbers and the cosines.

    Args:
        encoder: reads the query.
        query: words or a question, not necessarily words of the texts.
        vectors: (n, D) of the texts, as ``embed_texts`` returns them; they are made once, for all queries.
        k: how many; at most n.
    """
    cosines = vectors @ embed_texts(encoder, [query])[0]  # (n, D) @ (D,) -> (n,)
    best = cosines.topk(min(k, len(vectors)))
    return [(int(i), round(float(c), 4)) for c, i in zip(best.values, best.indices, strict=True)]
