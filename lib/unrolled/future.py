"""Does a language model look at what comes later? The same prediction with and without the rest of the text."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from unrolled.documents import BOS

PLACES = (8, 16, 24, 32, 40, 48)
REST = 15  # so many ids follow the last place


def _surprise(logits: Tensor, targets: Tensor) -> Tensor:
    return -logits.log_softmax(-1).gather(-1, targets[:, None])[:, 0]  # (B,)


@torch.no_grad()
def surprise_beside_future(
    model: nn.Module, documents: list[list[int]], places: Sequence[int] = PLACES, rest: int = REST
) -> tuple[float, float]:
    """The mean surprise at some places of documents, once with all later ids in the input and once without them.

    For a model that reads from the left both are the same.

    Args:
        model: (B, T) ids -> scores (B, T, V) and something else.
        documents: lists of ids; those in which ``rest`` ids follow the last place are used, cut to equal length.
        places: the numbers of the ids to be predicted, counted from 0.
        rest: how many ids stand behind the last place.

    Returns:
        with the later ids there, and with the text ending right before the id to be predicted.

    >>> from unrolled.language_model import LanguageModel
    >>> _ = torch.manual_seed(0)
    >>> there, hidden = surprise_beside_future(LanguageModel(5, 3, "rnn"), [[1, 2, 4, 3]] * 2, [1, 2], rest=1)
    >>> abs(there - hidden) < 1e-6
    True
    """
    T = max(places) + 1 + rest
    ids = torch.tensor([[BOS, *document[:T]] for document in documents if len(document) >= T])  # (B, T + 1)
    whole = model(ids[:, :-1])[0]  # (B, T, V)
    there = [_surprise(whole[:, t], ids[:, t + 1]) for t in places]
    hidden = [_surprise(model(ids[:, : t + 1])[0][:, -1], ids[:, t + 1]) for t in places]
    return torch.cat(there).mean().item(), torch.cat(hidden).mean().item()
