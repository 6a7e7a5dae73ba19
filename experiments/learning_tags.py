"""Parts of speech of English web texts: what our tagger learns in a processor second.

Universal Dependencies English EWT (Silveira et al. 2014), the split of its makers: 12,544 sentences to learn from,
2,001 on which everything below was chosen, 2,077 on which the error is measured: the share of words with a wrong tag,
of 17 tags, in percent. Words are taken as they are written, with their capitals.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import torch
import torch.nn.functional as F
from learning import Change, Learner, leave_one_out, step_sizes, train
from torch import Tensor, nn

from unrolled.data import downloaded
from unrolled.fast.deep import birnn
from unrolled.gated import GRU, GRUParams
from unrolled.text import Vocabulary, pad_batch
from unrolled.word_labels import NONE, Lexicon

TITLE, UNIT = "Parts of speech", "wrong tags in %"
Sentence = tuple[list[str], list[str]]  # words and tags
FILES = {part: f"ud-english-ewt/en_ewt-ud-{part}.conllu" for part in ("dev", "test")} | {"train": "ud-english-ewt"}


@cache
def sentences(part: str) -> tuple[Sentence, ...]:
    """The sentences of one file, "train", "dev" or "test": words as they are written, with their tags."""
    blocks = downloaded(FILES[part]).read_text(encoding="utf-8").strip().split("\n\n")
    tables = ([line.split("\t") for line in block.splitlines()] for block in blocks)
    rows = ([row for row in table if row[0].isdigit()] for table in tables)  # neither remarks nor 3-4, nor 3.1
    return tuple(([row[1] for row in sentence], [row[3] for row in sentence]) for sentence in rows)


TAGS = ["ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM"]
TAGS += ["PART", "PRON", "PROPN", "PUNCT", "SCONJ", "SYM", "VERB", "X"]


def labels_of(some: Sequence[Sentence]) -> Tensor:
    """The tags as numbers (B, T), NONE at the pads."""
    return pad_batch([[TAGS.index(tag) for tag in tags] for _, tags in some], NONE)[0]


def error(guess: Callable[[Sequence[Sentence]], Tensor], part: str) -> float:
    """The share of words in percent to which guess(sentences) -> (B, T) gives a wrong tag."""
    wrong, words = 0, 0
    some = sorted(sentences(part), key=lambda sentence: len(sentence[0]))
    for k in range(0, len(some), 128):
        labels = labels_of(some[k : k + 128])
        real = labels != NONE
        wrong += int(((guess(some[k : k + 128]) != labels) & real).sum())
        words += int(real.sum())
    return 100 * wrong / words


def lexicon_error(part: str) -> float:
    """Without context: every word gets its most frequent tag, a new word that of a name."""
    lexicon = Lexicon(sentences("train"), context=False, other="PROPN")
    return error(lambda some: pad_batch([[TAGS.index(t) for t in lexicon.tags(w)] for w, _ in some], NONE)[0], part)


@dataclass(frozen=True)
class Recipe:
    """Our settings, chosen on the development sentences."""

    E: int = 128  # width of the word vectors
    H: int = 128  # width of the state, in each direction
    spelling: bool = True  # besides the word, its beginnings, ends and shape have vectors
    rare: float = 0.25  # a word with n occurrences is hidden with probability rare / (rare + n)
    epochs: int = 3
    size: int = 32  # sentences in a batch
    lr: float = 4e-3
    falling: bool = True  # the step size falls to zero along a line
    together: bool = True  # sentences of about the same length share a batch


def shape(word: str) -> str:
    """What kind of signs a word is made of, repetitions left out.

    >>> [shape(word) for word in ("Web", "U.S.", "2.0", "anti-IRA")]
    ['Aa', 'A.A.', '9.9', 'a.A']
    """
    kinds = ("A" if c.isupper() else "a" if c.isalpha() else "9" if c.isdigit() else "." for c in word)
    short = ""
    for kind in kinds:
        short += kind if not short.endswith(kind) else ""
    return short


def spelling(word: str) -> list[str]:
    """The parts of a word that say something about words never seen: shape, ends, beginnings.

    >>> spelling("Webs")
    ['shape Aa', 'end s', 'end bs', 'end ebs', 'end webs', 'start w', 'start we', 'start web']
    """
    low = word.lower()
    ends, starts = [low[-n:] for n in range(1, 5)], [low[:n] for n in range(1, 4)]
    return [f"shape {shape(word)}", *(f"end {end}" for end in ends), *(f"start {start}" for start in starts)]


class Words:
    """Every word as a row of ids: the word itself (1 if it is new), then its parts (0 if they are new).

    What occurs only once, a word in the sentences or a part in the list of words, is as good as new.
    """

    def __init__(self, train: tuple[Sentence, ...], with_parts: bool):
        counts = Counter(word for words, _ in train for word in words)
        self.parts = spelling if with_parts else lambda word: []
        kept = [[word] * 2 for word, n in counts.items() if n > 1]
        self.table = Vocabulary(kept + [list(set(self.parts(word))) for word in counts], min_count=2)
        self.counts = torch.tensor([float(counts[word]) for word in self.table.words])
        self.row = cache(self._row)

    def _row(self, word: str) -> list[int]:
        return [self.table.ids.get(word, 1), *(self.table.ids.get(part, 0) for part in self.parts(word))]

    def encode(self, some: Sequence[Sentence]) -> list[Tensor]:
        """Each sentence as ids (T, F)."""
        return [torch.tensor([self.row(word) for word in words]) for words, _ in some]


def padded(rows: list[Tensor]) -> tuple[Tensor, Tensor]:
    """Sentences as one batch (B, T, F), zeros at the pads, and their lengths (B,)."""
    return nn.utils.rnn.pad_sequence(rows, batch_first=True), torch.tensor([len(row) for row in rows])


class SpellingTagger(nn.Module):
    """Vectors that are sums over a word and its parts, a GRU from each end: ids (B, T, F) -> scores (B, T, Y)."""

    def __init__(self, V: int, E: int, H: int, Y: int):
        super().__init__()
        self.table = nn.Parameter(torch.randn(V, E) * 0.3)
        self.f, self.b = GRU(E, H), GRU(E, H)
        self.output = nn.Linear(2 * H, Y)

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        B, T, _ = ids.shape
        x = F.embedding_bag(ids.flatten(0, 1), self.table, mode="sum", padding_idx=0, sparse=True)  # (B * T, E)
        f, b = (GRUParams(layer.W_x, layer.W_h, layer.b, layer.b_h) for layer in (self.f, self.b))
        h = birnn(x.view(B, T, -1), lengths, f, b)  # (B, T, 2H)
        return self.output(h)


def batches(lengths: Tensor, recipe: Recipe) -> list[Tensor]:
    """The numbers of all sentences in random order, batch by batch; if asked for, lengths alike together."""
    order = torch.randperm(len(lengths))
    if recipe.together:
        noisy = lengths[order] + torch.rand(len(order)) * 2  # not always the same ones together
        order = order[noisy.argsort()]
    parts = order.split(recipe.size)
    return [parts[n] for n in torch.randperm(len(parts))]


def learner(recipe: Recipe, seed: int, part: str = "test") -> Learner:
    """Our tagger in training; part="dev" measures it on the sentences on which the recipe was chosen."""
    torch.manual_seed(seed)
    known = sentences("train")
    words = Words(known, recipe.spelling)
    model = SpellingTagger(len(words.table), recipe.E, recipe.H, len(TAGS))
    table, *rest = model.parameters()
    optimizers = torch.optim.SparseAdam([table]), torch.optim.Adam(rest, fused=True)
    total, hide = recipe.epochs * -(-len(known) // recipe.size), recipe.rare / (recipe.rare + words.counts)

    def losses() -> Iterator[Tensor]:
        rows, tags = words.encode(known), [labels_of([sentence])[0] for sentence in known]
        lengths = torch.tensor([len(row) for row in rows])
        cut: list[Tensor] = []
        while True:
            cut = cut or batches(lengths, recipe)
            some = cut.pop()
            ids, n = padded([rows[k] for k in some])
            labels = nn.utils.rnn.pad_sequence([tags[k] for k in some], batch_first=True, padding_value=NONE)
            word = ids[..., 0]  # (B, T)
            word[(torch.rand(word.shape) < hide[word]) & (word > 0)] = 1
            yield F.cross_entropy(model(ids, n).flatten(0, 1), labels.flatten(), ignore_index=NONE)

    @torch.no_grad()
    def look() -> float:
        return error(lambda some: model(*padded(words.encode(some))).argmax(-1), part)

    step_size = step_sizes(recipe.lr, total // 20, total, recipe.falling)
    return Learner(train(losses(), optimizers, total, step_size, clipped=[]), look, every=total // 24)


CHANGES = {
    "without the spelling": Change(
        {"spelling": False},
        "One word in eleven of the test was never seen in training. Its end, its beginning and its capitals say much "
        "about its part of speech, and a vector for each of them is only looked up and added.",
    ),
    "without hidden words": Change(
        {"rare": 0.0},
        "If rare words are sometimes hidden, the network learns what to do with words that it does not know: the "
        "vector for them is trained, and so are context and spelling.",
    ),
    "without the falling step size": Change(
        {"falling": False},
        "Large steps learn fast, small ones settle: the step size falls to zero along a line "
        "([chapter 12](../chapters/12_bert_pretraining/bert_pretraining.ipynb)).",
    ),
    "without batches of one length": Change(
        {"together": False},
        "Sentences of about the same length leave no pads and no short rows in a batch "
        "([chapter 1](../chapters/01_recurrence/recurrence.ipynb)): the same updates in less time.",
    ),
}


def main() -> None:
    print(f"the most frequent tag of each word: {lexicon_error('test'):.2f}% wrong")
    leave_one_out("learning_tags", UNIT, learner, Recipe(), CHANGES)


if __name__ == "__main__":
    main()
