"""Recordings as padded batches of frames (chapter 5)."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from unrolled.classifiers import Batch


def frames_batch(recordings: list[tuple[list[list[float]], int]]) -> tuple[Batch, Tensor]:
    """Recordings of any length as one rectangle.

    Args:
        recordings: pairs (frames, speaker), as ``unrolled.data.spoken_vowels`` returns them.

    Returns:
        batch: frames (B, T, 12) with zeros at the pads, lengths (B,), mask (B, T).
        speakers: (B,)

    >>> (frames, lengths, mask), speakers = frames_batch([([[1.0], [2.0]], 3), ([[5.0]], 0)])
    >>> frames[..., 0].tolist(), lengths.tolist(), speakers.tolist()
    ([[1.0, 2.0], [5.0, 0.0]], [2, 1], [3, 0])
    """
    frames = pad_sequence([torch.tensor(frames) for frames, _ in recordings], batch_first=True)  # (B, T, 12)
    lengths = torch.tensor([len(frames) for frames, _ in recordings])
    mask = torch.arange(frames.shape[1]) < lengths[:, None]  # (B, T)
    return (frames, lengths, mask), torch.tensor([speaker for _, speaker in recordings])
