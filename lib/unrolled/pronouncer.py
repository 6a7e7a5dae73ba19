"""A trained encoder–decoder that others have published, run by our own gru_step: letters to phonemes (chapter 6).

The weights come with the package g2p-en (K. Park and J. Kim, Apache-2.0); the package itself is not imported.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import torch
from torch import Tensor, nn

from unrolled.data import package_folder
from unrolled.gated import gru_forward, gru_step
from unrolled.gates_and_torch import from_torch_gru
from unrolled.seq2seq import greedy

LETTERS = ["<pad>", "<unk>", "</s>", *"abcdefghijklmnopqrstuvwxyz"]
VOWELS = {"AA", "AE", "AH", "AO", "AW", "AY", "EH", "ER", "EY", "IH", "IY", "OW", "OY", "UH", "UW"}
CONSONANTS = [*"BDFGKLMNPRSTVWYZ", "CH", "DH", "HH", "JH", "NG", "SH", "TH", "ZH"]
# one vowel also stands there without a digit
PHONEMES = ["<pad>", "<unk>", "<s>", "</s>", *sorted([v + s for v in VOWELS for s in "012"] + [*CONSONANTS, "UW"])]
PAD, BOS, EOS = 0, 2, 3


class Pronouncer:
    """Reads a word letter by letter with one GRU, writes its phonemes with another; a digit marks the stress."""

    def __init__(self):
        path = package_folder("g2p_en", "g2p-en") / "checkpoint20.npz"
        with np.load(path, allow_pickle=False) as file:
            self.weights = {name: torch.from_numpy(file[name]) for name in file.files}
        self.reader, self.writer = (from_torch_gru(self.module(side)) for side in ("enc", "dec"))

    def module(self, side: str) -> nn.GRU:
        """One of the two GRUs, "enc" or "dec", as torch's own layer."""
        gru = nn.GRU(256, 256, batch_first=True)
        names = [f"{side}_{kind}" for kind in ("w_ih", "w_hh", "b_ih", "b_hh")]
        gru.load_state_dict({key: self.weights[n] for key, n in zip(gru.state_dict(), names, strict=True)})
        return gru.requires_grad_(False)

    def embed(self, word: str) -> Tensor:
        """The letters and the end symbol as vectors (1, n + 1, 256)."""
        ids = [LETTERS.index(letter) if letter in LETTERS else 1 for letter in word.lower()]
        return self.weights["enc_emb"][[*ids, LETTERS.index("</s>")]][None]

    def read(self, word: str) -> Tensor:
        """The states (1, n + 1, 256) while it reads; the last one is the context."""
        return gru_forward(self.embed(word), torch.zeros(1, 256), self.reader, reset="after")

    def step(self, y: Tensor, h: Tensor, c: Tensor) -> tuple[Tensor, Tensor]:
        """One step of writing; the context was only the first state, so c is not used."""
        h = gru_step(self.weights["dec_emb"][y], h, self.writer, reset="after")
        return h @ self.weights["fc_w"].T + self.weights["fc_b"], h

    def pronounce(self, word: str, max_len: int = 40) -> list[str]:
        c = self.read(word)[:, -1]  # (1, 256)
        ids = greedy(self.step, c, c, BOS, EOS, PAD, max_len)[0].tolist()
        return [PHONEMES[y] for y in ids if y != EOS]


@cache
def pronouncer() -> Pronouncer:
    """The published weights, read once.

    >>> pronouncer().pronounce("hello")
    ['HH', 'EH1', 'L', 'OW0']
    """
    return Pronouncer()
