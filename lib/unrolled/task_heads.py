"""One layer on top of BERT for each kind of task: a label for the text, for every token, or a span (chapter 13)."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from unrolled.bert_model import start_small
from unrolled.dropout import Dropout, dropout
from unrolled.pooling import masked_mean


class HeadParams(NamedTuple):
    """The layer that fine-tuning adds for Y classes."""

    W: Tensor  # (Y, D)
    b: Tensor  # (Y,)


def classification_head(
    h: Tensor,
    mask: Tensor,
    params: HeadParams,
    pool: str,
    p: float,
    train: bool,
    u: Tensor,
) -> Tensor:
    r"""A score for each class: one vector for the whole text, dropout, one layer.

    $$ o = W\, \mathrm{dropout}(s) + b, \qquad s = \begin{cases} h_0 & \text{pool "cls"} \\
       \dfrac{\sum_t m_t h_t}{\sum_t m_t} & \text{pool "mean"} \end{cases}
       $$ (eq-classification-head)

    Args:
        h: (B, T, D) the states of the last layer; what stands at the pads is any finite number.
        mask: (B, T) bool, True where there is no pad. Every row begins with [CLS], which is
            real; pads stand behind the text.
        params: W (Y, D) and b (Y,).
        pool: "cls": the state of [CLS]; "mean": the mean over all real steps, [CLS] and [SEP]
            among them.
        p: the probability that a feature of s is dropped in training; ``dropout`` of chapter 9.
        train: True in training. Otherwise nothing is dropped and nothing is scaled.
        u: (B, D) random numbers, at least 0 and below 1: a feature is dropped where u < p.

    Returns:
        (B, Y) scores, as ``F.cross_entropy`` takes them. Gradients reach h, W and b; nothing is
        changed. (To drop where u is at least 1 - p is as likely, and accepted too.)

    Built in chapter 13.

    >>> h = torch.tensor([[[1.0, 0.0], [3.0, 2.0], [9.0, 9.0]]])
    >>> mask, u = torch.tensor([[True, True, False]]), torch.rand(1, 2)
    >>> params = HeadParams(torch.tensor([[1.0, 10.0], [0.0, 0.0]]), torch.tensor([0.0, 5.0]))
    >>> classification_head(h, mask, params, "cls", 0.1, False, u).tolist()
    [[1.0, 5.0]]
    >>> classification_head(h, mask, params, "mean", 0.1, False, u).tolist()
    [[12.0, 5.0]]
    """
    s = h[:, 0] if pool == "cls" else masked_mean(h, mask)  # (B, D)
    return dropout(s, p, train, u) @ params.W.T + params.b  # eq-classification-head


class SentenceHead(nn.Module):
    """A layer with the parameters of ``classification_head``; ``train()`` and ``eval()`` switch its dropout.

    Args:
        D: width of the encoder.
        classes: how many labels there are.
        pool: "cls" or "mean".
        p: the probability that a feature is dropped in training.

    >>> head = SentenceHead(D=12, classes=5)
    >>> head(torch.randn(2, 7, 12), torch.ones(2, 7, dtype=torch.bool)).shape
    torch.Size([2, 5])
    """

    def __init__(self, D: int, classes: int, pool: str = "cls", p: float = 0.1):
        super().__init__()
        self.layer, self.pool, self.p = nn.Linear(D, classes), pool, p
        start_small(self.layer)

    def forward(self, h: Tensor, mask: Tensor) -> Tensor:
        """States (B, T, D), mask (B, T) -> scores (B, Y)."""
        params, u = HeadParams(self.layer.weight, self.layer.bias), torch.rand(len(h), h.shape[-1])
        return classification_head(h, mask, params, self.pool, self.p, self.training, u)


class TokenHead(nn.Module):
    """Scores at every token: for Y tags, or, with Y = 2, for "the answer starts here" and "it ends here".

    >>> head = TokenHead(D=12, classes=2)
    >>> start, end = head(torch.randn(3, 7, 12)).unbind(-1)
    >>> start.shape
    torch.Size([3, 7])
    """

    def __init__(self, D: int, classes: int, p: float = 0.1):
        super().__init__()
        self.drop, self.layer = Dropout(p), nn.Linear(D, classes)
        start_small(self.layer)

    def forward(self, h: Tensor, mask: Tensor | None = None) -> Tensor:
        """States (B, T, D) -> scores (B, T, Y). The mask is not needed: every token is scored for itself."""
        return self.layer(self.drop(h))
