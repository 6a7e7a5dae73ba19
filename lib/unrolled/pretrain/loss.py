"""What BERT is trained to do: find the hidden words, and tell whether the second sentence follows the first."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from unrolled.bert_model import BertForPretraining
from unrolled.masked_words import mlm_loss
from unrolled.pretrain.rows import Batch


class PretrainingLoss(nn.Module):
    """The two losses of a batch, as sums, so that parts of a batch can be added up.

    The scores of all words are computed only where a word was hidden: one place in seven.
    """

    def __init__(self, model: BertForPretraining):
        super().__init__()
        self.model = model

    def forward(self, batch: Batch) -> tuple[Tensor, Tensor, Tensor]:
        """The summed surprise at the hidden words and at the second sentences, and what was right: (2,) counts."""
        out = self.model.bert(batch.ids, batch.segments, batch.mask)
        words = self.model.word_scores(out.states[batch.chosen])  # (n, V)
        labels = batch.labels[batch.chosen]  # (n,)
        n = labels.numel()
        hidden = mlm_loss(words[None], labels[None], torch.ones(1, n, device=words.device)) * n
        second = self.model.follows(out.pooled)  # (B, 2)
        following = F.cross_entropy(second, batch.follows, reduction="sum")
        right = (words.argmax(-1) == labels).sum(), (second.argmax(-1) == batch.follows).sum()
        return hidden, following, torch.stack(right).detach()
