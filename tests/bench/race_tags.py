"""Parts of speech against the tagger of the tutorials: word vectors, a BiLSTM, a linear layer.

The peer is the network with which introductions to sequence tagging begin, in its plainest form: one LSTM that reads
from both ends, no dropout, no vectors that were learned elsewhere, batches of 32 sentences in random order. Word
vectors of 100, 128 states in each direction, weights that start with a spread of 0.1, words that occur once as unknown,
Adam with its usual step size, and the weights of the epoch, of ten, that was best on the development sentences are
those of B. Trevett's tutorial on the same treebank (pytorch-pos-tagging, "BiLSTM for PoS Tagging"). That one has a
second layer, dropout, batches of 128 and words in lower case, begins with published vectors, and states 88.3% of right
tags on the test sentences; this one is better.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
import torch.nn.functional as F
from learning import Learner, train
from learning_tags import TAGS, UNIT, Recipe, error, learner, sentences
from race import Race
from torch import Tensor, nn

from unrolled.text import Vocabulary, pad_batch
from unrolled.word_labels import NONE

EPOCHS = 5  # of ten, the one with the fewest errors on the development sentences (seed 0: 8.4%, 8.5% after ten)


class TutorialTagger(nn.Module):
    """Words -> vectors -> BiLSTM -> scores: ids (B, T) -> (B, T, Y); it reads pads like words (packing took longer)."""

    def __init__(self, V: int, Y: int, E: int = 100, H: int = 128):
        super().__init__()
        self.embedding = nn.Embedding(V, E, padding_idx=0)
        self.lstm = nn.LSTM(E, H, bidirectional=True, batch_first=True)
        self.output = nn.Linear(2 * H, Y)
        for weights in self.parameters():
            nn.init.normal_(weights, std=0.1)
        nn.init.zeros_(self.embedding.weight[0])  # the pad

    def forward(self, ids: Tensor) -> Tensor:
        return self.output(self.lstm(self.embedding(ids))[0])


def tutorial(seed: int, part: str = "test") -> Learner:
    torch.manual_seed(seed)
    known = sentences("train")
    vocabulary = Vocabulary([words for words, _ in known], min_count=2)
    model = TutorialTagger(len(vocabulary), len(TAGS))
    optimizer = torch.optim.Adam(model.parameters())

    def losses() -> Iterator[Tensor]:
        rows = [vocabulary.encode(words) for words, _ in known]
        tags = [[TAGS.index(tag) for tag in tags] for _, tags in known]
        while True:
            for some in torch.randperm(len(known)).split(32):
                ids, _, _ = pad_batch([rows[k] for k in some], 0)
                labels, _, _ = pad_batch([tags[k] for k in some], NONE)
                yield F.cross_entropy(model(ids).flatten(0, 1), labels.flatten(), ignore_index=NONE)

    @torch.no_grad()
    def look() -> float:
        return error(lambda some: model(pad_batch([vocabulary.encode(w) for w, _ in some], 0)[0]).argmax(-1), part)

    updates = train(losses(), [optimizer], EPOCHS * -(-len(known) // 32), lambda done: 1e-3, clipped=[])
    return Learner(updates, look, every=98)


RACES = [
    Race(
        name="tags against a tutorial BiLSTM",
        unit=UNIT,
        peer_name="BiLSTM of the tutorials",
        ours=lambda seed: learner(Recipe(), seed),
        peer=tutorial,
        why="",
    )
]
