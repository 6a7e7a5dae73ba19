"""How much each word of a text weighs in a classifier's verdict, by its place in the text (chapter 5)."""

from __future__ import annotations

import torch
from torch import nn

from unrolled.classifiers import Batch

PLACES = 15


def influence_by_place(model: nn.Module, batch: Batch) -> list[float]:
    """The share of the first, second, ... fifteenth part of a text in the gradient of the verdict; the mean over texts.

    Only texts of at least fifteen words count. The verdict is the difference of the two scores; a word's influence is
    the length of the gradient with respect to its vector.

    Args:
        model: a SequenceClassifier for two labels.
        batch: texts as ids (B, T), lengths (B,), mask (B, T).

    Returns:
        Fifteen shares that sum to 1, from the beginning of the text to its end.
    """
    ids, lengths, mask = (part[batch[1] >= PLACES] for part in batch)
    vectors = []

    def keep(_, __, out):
        vectors.append(out.detach().requires_grad_())
        return vectors[-1]

    hook = model.encoder.embedding.register_forward_hook(keep)
    scores = model(ids, lengths, mask)  # (B, 2)
    hook.remove()
    (slope,) = torch.autograd.grad((scores[:, 1] - scores[:, 0]).sum(), vectors)
    weight = slope.norm(dim=-1)  # (B, T), zero at the pads
    share = weight / weight.sum(1, keepdim=True)
    place = (torch.arange(ids.shape[1]) * PLACES // lengths[:, None]).clamp(max=PLACES - 1)  # (B, T)
    words_in = torch.zeros(len(ids), PLACES).scatter_add(1, place, mask.float())  # (B, 15): at least one in each
    per_word = torch.zeros(len(ids), PLACES).scatter_add(1, place, share) / words_in
    return (per_word / per_word.sum(1, keepdim=True)).mean(0).tolist()
