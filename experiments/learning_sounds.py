"""From letters to sounds: what our network learns of English pronunciation in a processor second.

The words of the CMU Pronouncing Dictionary, split by ``unrolled.pairs``: 93,995 words to learn from, 11,749 on which
the recipe was chosen, 11,749 for the test, of which 2,000 are looked at. The error: edits per true phoneme in percent,
against the nearest pronunciation that the dictionary has.

Letters and sounds come in the same order, so no decoder is needed: the network is a tagger that may say up to two
sounds, or nothing, at every letter. Which letter says which sound is not known; the loss sums over all possibilities
(connectionist temporal classification, Graves et al. 2006), as the forward algorithm of an HMM does (chapter 3).
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

import torch
import torch.nn.functional as F
from learning import Change, Learner, leave_one_out, step_sizes, train
from torch import Tensor, nn

from unrolled.dropout import Dropout
from unrolled.edit_distance import edit_distance, error_rate
from unrolled.fast import speed_up
from unrolled.gated import GRU
from unrolled.pairs import Pair, pronunciations
from unrolled.text import Vocabulary

TITLE, UNIT = "From letters to sounds", "phoneme error in %"
Batch = tuple[Tensor, Tensor, Tensor]
Around = tuple[tuple[int, int], ...]  # groups: so many letters before, so many after
LETTERS = 27  # 0 is what stands before and after a word
SILENT = 0  # the sound of a letter that is not heard
SLOTS = 2  # sounds that one letter may have: x is K S


@cache
def sample(part: str) -> tuple[Pair, ...]:
    """2,000 words of a part, always the same."""
    return tuple(random.Random(0).sample(pronunciations(part), 2000))


def by_length(pairs: Sequence[Pair]) -> dict[int, list[Pair]]:
    """Words of the same length together: no batch of them needs a pad."""
    groups = defaultdict(list)
    for pair in pairs:
        groups[len(pair[0])].append(pair)
    return dict(groups)


def error(say: Callable[[list[Pair]], list[list[str]]], part: str) -> float:
    """The phoneme error in percent of say(words of one length) -> their sounds."""
    groups = by_length(sample(part)).values()
    pairs = (
        (min(answers, key=lambda answer: edit_distance(answer, sounds)), sounds)
        for group in groups
        for (_, answers), sounds in zip(group, say(group), strict=True)
    )
    return 100 * error_rate([*pairs])


@dataclass(frozen=True)
class Recipe:
    """Our settings, chosen on validation words."""

    E: int = 128  # width of the letters' vectors
    H: int = 128  # width of the state, in each direction
    layers: int = 2
    around: Around = ((1, 0), (0, 1), (1, 1), (2, 0), (0, 2), (2, 2))
    seen: int = 4  # so many times a group of letters must occur to have a vector
    dropout: float = 0.1
    size: int = 64  # words in a batch
    epochs: float = 5
    lr: float = 3e-3
    falling: bool = True  # the step size falls to zero along a line


def letters(group: Sequence[Pair]) -> Tensor:
    """Words of one length as numbers (n, S), 1 for a to 26 for z."""
    return torch.tensor([[ord(letter) - 96 for letter in word] for word, _ in group])


def codes(x: Tensor, around: Around) -> Tensor:
    """x (n, S) -> (n, S, F): a number for each group of letters and the place in it; beyond the word are zeros.

    >>> codes(torch.tensor([[3, 5]]), ((0, 0), (1, 0))).tolist()  # c, e
    [[[6, 7], [10, 173]]]
    """
    S, wide, found = x.shape[1], F.pad(x, (2, 2)), []
    for kind, (left, right) in enumerate(around):
        code = sum(LETTERS ** (right - k) * wide[:, 2 + k : 2 + k + S] for k in range(-left, right + 1))
        found.append(code * len(around) + kind)
    return torch.stack(found, dim=-1)


class Groups:
    """Every letter as a row of ids: its own, then those of the groups of letters around it, 0 for rare ones."""

    def __init__(self, words: Sequence[Tensor], around: Around, seen: int):
        self.around = ((0, 0), *around)
        known, counts = torch.cat([codes(x, self.around).flatten() for x in words]).unique(return_counts=True)
        self.known = known[counts >= seen]

    def __len__(self) -> int:
        return len(self.known) + 1

    def encode(self, x: Tensor) -> Tensor:
        """(n, S) -> (n, S, F)"""
        code = codes(x, self.around)
        ids = torch.searchsorted(self.known, code).clamp(max=len(self.known) - 1)
        return torch.where(self.known[ids] == code, ids + 1, 0)


class SoundTagger(nn.Module):
    """A deep bidirectional GRU over letters: ids (B, S, F) of words of one length -> scores (B, SLOTS · S, V)."""

    def __init__(self, G: int, V: int, recipe: Recipe):
        super().__init__()
        E, H = recipe.E, recipe.H
        self.table, self.drop = nn.Parameter(torch.randn(G, E) * 0.3), Dropout(recipe.dropout)
        widths = [E] + [2 * H] * (recipe.layers - 1)
        self.forth, self.back = (nn.ModuleList(GRU(width, H) for width in widths) for _ in range(2))
        self.output, self.V = nn.Linear(2 * H, SLOTS * V), V

    def forward(self, ids: Tensor) -> Tensor:
        B, S, _ = ids.shape
        x = F.embedding_bag(ids.flatten(0, 1), self.table, mode="sum", padding_idx=0, sparse=True)  # (B * S, E)
        x = self.drop(x).view(B, S, -1)
        for forth, back in zip(self.forth, self.back, strict=True):
            x = self.drop(torch.cat([forth(x), back(x.flip(1)).flip(1)], dim=-1))  # (B, S, 2H)
        return self.output(x).view(B, SLOTS * S, self.V)


def pad(rows: list[Tensor]) -> Tensor:
    return nn.utils.rnn.pad_sequence(rows, batch_first=True)


def spoken(path: list[int]) -> list[int]:
    """What a path says: a sound that goes on is said once, silence not at all.

    >>> spoken([0, 5, 5, 0, 5, 7])
    [5, 5, 7]
    """
    return [y for before, y in zip([SILENT, *path], path, strict=False) if y not in (SILENT, before)]


def learner(recipe: Recipe, seed: int, part: str = "test") -> Learner:
    """Our network in training; part="validation" measures it on the words on which the recipe was chosen."""
    torch.manual_seed(seed)
    known = [*by_length(pronunciations("train")).values()]
    words = [letters(group) for group in known]
    groups = Groups(words, recipe.around, recipe.seen)
    sounds = Vocabulary([answers[0] for group in known for _, answers in group])  # its pad, 0, is the silence
    model = speed_up(SoundTagger(len(groups), len(sounds), recipe))
    table, *rest = model.parameters()
    optimizers = torch.optim.SparseAdam([table]), torch.optim.Adam(rest, fused=True)
    total = round(recipe.epochs * sum(map(len, known)) / recipe.size)

    def batches() -> Iterator[Batch]:
        """Letters (B, S, F), sounds (B, T) and their number (B,), epoch after epoch."""
        rows = [[torch.tensor(sounds.encode(answers[0])) for _, answers in group] for group in known]
        lengths = [torch.tensor([len(row) for row in group]) for group in rows]
        parts = [*zip(map(groups.encode, words), map(pad, rows), lengths, strict=True)]
        while True:
            cut = [(part, rows) for part in parts for rows in torch.randperm(len(part[0])).split(recipe.size)]
            for k in torch.randperm(len(cut)):
                part, rows = cut[k]
                yield tuple(tensor[rows] for tensor in part)

    def losses() -> Iterator[Tensor]:
        for x, y, lengths in batches():
            paths = F.log_softmax(model(x), dim=-1).transpose(0, 1)  # (SLOTS · S, B, V)
            slots = torch.full((len(x),), len(paths))
            yield F.ctc_loss(paths, y, slots, lengths, blank=SILENT, zero_infinity=True)

    @torch.no_grad()
    def say(group: list[Pair]) -> list[list[str]]:
        paths = model(groups.encode(letters(group))).argmax(-1).tolist()
        return [sounds.decode(spoken(path)) for path in paths]

    def look() -> float:
        model.eval()
        wrong = error(say, part)
        model.train()
        return wrong

    step_size = step_sizes(recipe.lr, total // 20, total, recipe.falling)
    return Learner(train(losses(), optimizers, total, step_size, clipped=rest), look, every=total // 25)


CHANGES = {
    "without the groups of letters": Change(
        {"around": ()},
        "What a letter sounds like depends first of all on its neighbours. Groups of two, three and five letters have "
        "vectors of their own: looked up and added, they cost next to nothing, and the recurrent layers need not "
        "find the groups themselves.",
    ),
    "with one layer": Change(
        {"layers": 1},
        "The second layer reads what the first has found on both sides of a letter "
        "([chapter 5](../chapters/05_deep_bidirectional/deep_bidirectional.ipynb)).",
    ),
    "without the falling step size": Change(
        {"falling": False},
        "Large steps learn fast, small ones settle: the step size falls to zero along a line "
        "([chapter 12](../chapters/12_bert_pretraining/bert_pretraining.ipynb)).",
    ),
}


def main() -> None:
    short = replace(Recipe(), epochs=1)
    leave_one_out("learning_sounds", f"{UNIT} after one epoch instead of five", learner, short, CHANGES)


if __name__ == "__main__":
    main()
