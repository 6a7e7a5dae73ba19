"""Extractive question answering: where in the text does the answer start, and where does it end? (chapter 13)"""

from __future__ import annotations

import re
from collections.abc import Sequence

import torch
from torch import Tensor

from unrolled.bert_data import Rows
from unrolled.bert_input import build_input
from unrolled.piece_labels import pieces_of_words
from unrolled.wordpiece import WordPiece


def span_loss(start: Tensor, end: Tensor, spans: Tensor, allowed: Tensor) -> Tensor:
    r"""How surprised the model is by where the answers start and where they end.

    $$ L = -\frac{1}{2B} \sum_b \big( \log p^\text{start}_b[i_b]
       + \log p^\text{end}_b[j_b] \big), \qquad
       p_b[t] = \frac{\exp(o_{bt})}{\sum_{t' \in A_b} \exp(o_{bt'})} $$ (eq-span-loss)

    The softmax runs over the steps $A_b$ in which an answer may stand, and no others.

    Args:
        start: (B, T) scores o for "the answer starts here", of any size.
        end: (B, T) scores for "the answer ends here".
        spans: (B, 2) int64: the first step i and the last step j of the right answer.
        allowed: (B, T) bool, True in A: the text. False at the question, special tokens, pads.

    Returns:
        A scalar. Gradients reach start and end and are zero where no answer may stand; nothing
        is changed.

    Built in chapter 13.

    >>> start, end = torch.zeros(1, 5), torch.tensor([[9.0, 0.0, 0.0, 0.0, 9.0]])
    >>> allowed = torch.tensor([[False, True, True, True, False]])
    >>> round(span_loss(start, end, torch.tensor([[1, 2]]), allowed).item(), 4)  # log 3
    1.0986
    """
    b = torch.arange(len(start))  # (B,)
    log_start = torch.log_softmax(start.masked_fill(~allowed, -torch.inf), dim=1)  # (B, T)
    log_end = torch.log_softmax(end.masked_fill(~allowed, -torch.inf), dim=1)  # (B, T)
    return -(log_start[b, spans[:, 0]] + log_end[b, spans[:, 1]]).mean() / 2  # eq-span-loss


def best_span(start: Tensor, end: Tensor, allowed: Tensor, longest: int) -> Tensor:
    r"""The answer with the highest score among all that could be one.

    $$ (i, j) = \arg\max_{i, j \in A,\; i \le j < i + \ell}
       \; o^\text{start}_i + o^\text{end}_j $$ (eq-best-span)

    Args:
        start: (B, T) scores for "the answer starts here".
        end: (B, T) scores for "the answer ends here".
        allowed: (B, T) bool, True in A: one stretch of steps in each row, the text.
        longest: the most steps ℓ that an answer may have, at least 1.

    Returns:
        (B, 2) int64: the first and the last step of the answer in each row. Nothing is changed.

    Built in chapter 13.

    >>> start, end = torch.tensor([[0.0, 1.0, 0.0, 5.0]]), torch.tensor([[0.0, 4.0, 0.0, 1.0]])
    >>> everywhere = torch.ones(1, 4, dtype=torch.bool)
    >>> best_span(start, end, everywhere, longest=3).tolist()  # 5 + 1; 5 + 4 ends too early
    [[3, 3]]
    >>> best_span(start, end, torch.tensor([[True, True, True, False]]), longest=3).tolist()
    [[1, 1]]
    """
    T = start.shape[1]
    fits = torch.ones(T, T, dtype=torch.bool).triu().tril(longest - 1)  # (T, T) i <= j < i + ℓ
    fits = fits & allowed[:, :, None] & allowed[:, None, :]  # (B, T, T)
    scores = start[:, :, None] + end[:, None, :]  # (B, T, T)
    best = scores.masked_fill(~fits, -torch.inf).flatten(1).argmax(dim=1)  # (B,) eq-best-span
    return torch.stack([best // T, best % T], dim=1)  # (B, 2)


def answer_rows(
    examples: Sequence[tuple[str, str, int, int]], T: int, tokenizer: WordPiece
) -> tuple[Rows, Tensor, Tensor]:
    """Questions and texts as rows for BERT, with the steps at which the answers stand.

    Args:
        examples: (question, text, start, end): text[start:end] is the answer.
        T: the most tokens of a row; an example whose answer does not fit raises ValueError.
        tokenizer: cuts words into pieces.

    Returns:
        rows: [CLS] question [SEP] text [SEP]; ``follows`` means nothing.
        allowed: (B, T) bool, True at the text.
        spans: (B, 2) the first and the last step of each answer.

    >>> tokenizer = WordPiece(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "who", "ada", "met", "him", "."])
    >>> rows, allowed, spans = answer_rows([("Who met him", "Ada met him.", 0, 3)], 16, tokenizer)
    >>> rows.ids.tolist(), spans.tolist(), allowed[0].nonzero().flatten().tolist()
    ([[2, 5, 7, 8, 3, 6, 7, 8, 9, 3]], [[5, 5]], [5, 6, 7, 8])
    """
    made, spans = [], []
    for question, text, start, end in examples:
        words = list(re.finditer(r"\w+|[^\w\s]", text))
        pieces, owners = pieces_of_words([word.group() for word in words], tokenizer)
        ids, segments, mask = build_input(tokenizer.encode(question), pieces, T, tokenizer.special)
        begin, kept = int((segments == 1).nonzero()[0]), int(segments.sum()) - 1  # without the last [SEP]
        inside = [words[n].end() > start and words[n].start() < end for n in owners]
        first, last = inside.index(True), len(inside) - 1 - inside[::-1].index(True)
        if last >= kept:
            raise ValueError(f"The answer {text[start:end]!r} does not fit into {T} steps.")
        made.append((ids, segments, mask, (torch.arange(T) >= begin) & (torch.arange(T) < begin + kept)))
        spans.append([begin + first, begin + last])
    ids, segments, mask, allowed = (torch.stack(part) for part in zip(*made, strict=True))
    rows = Rows(ids, segments, mask, torch.zeros(len(made)).long()).take(torch.arange(len(made)))
    return rows, allowed[:, : rows.ids.shape[1]], torch.tensor(spans)
