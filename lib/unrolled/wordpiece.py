"""Word pieces: the tokens of BERT, how a text is cut into them, and how they are learned (chapter 12)."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

from unrolled.bert_input import Special

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")  # in the order of ``Special``
MOST_LETTERS = 100  # of a word; longer ones are unknown
CHINESE = (
    (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F), (0x2B920, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F),
)  # fmt: skip


def wordpiece_encode(word: str, vocab: dict[str, int] | set[str], unk: str = "[UNK]") -> list[str]:
    r"""Cut a word into pieces of the vocabulary, from the left, always the longest that fits.

    The first piece begins at letter $i_1 = 0$. Piece $k$ begins at $i_k$ and ends before

    $$ i_{k+1} = \max \{\, j > i_k : \text{piece}(i_k, j) \in V \,\}, \qquad
       \text{piece}(i, j) = \begin{cases} w_0 \dots w_{j-1} & \text{if } i = 0 \\
       \text{\#\#}\, w_i \dots w_{j-1} & \text{if } i > 0 \end{cases} $$ (eq-wordpiece)

    until the end of the word is reached. A piece that continues a word is written with two
    marks, "##", in the vocabulary and in the result: "##s" ends a word, "s" begins one.

    Args:
        word: the letters w, without spaces.
        vocab: the pieces V; ``piece in vocab`` says whether there is one.
        unk: stands for a word that cannot be cut.

    Returns:
        The pieces in order. If at some place no piece fits, the whole word is unknown: the
        result is [unk], even if its beginning could be cut. An empty word has no pieces.

    Built in chapter 12.

    >>> vocab = {"un", "afford", "##afford", "##able", "##a", "##ble"}
    >>> wordpiece_encode("unaffordable", vocab)
    ['un', '##afford', '##able']
    >>> wordpiece_encode("unreadable", vocab)
    ['[UNK]']
    """
    pieces, i = [], 0
    while i < len(word):
        mark = "##" if i > 0 else ""
        j = len(word)
        while j > i and mark + word[i:j] not in vocab:
            j -= 1  # eq-wordpiece: the longest that is there
        if j == i:
            return [unk]
        pieces.append(mark + word[i:j])
        i = j
    return pieces


def basic_tokens(text: str) -> list[str]:
    """Cut a text into words and single marks, as BERT does for its models without capitals.

    Control characters vanish; letters become small and lose their accents; every punctuation mark and every Chinese
    character stands alone; white space separates. What is what is Python's table of Unicode, which is newer than that
    of the library ``tokenizers``: some hundred rare marks that have been added since 2015 are treated differently.

    >>> basic_tokens("Élan,\\tvia San\\u200bJosé — 東京!")
    ['elan', ',', 'via', 'sanjose', '—', '東', '京', '!']
    """
    clean = "".join(map(_cleaned, text))
    letters = (c for c in unicodedata.normalize("NFD", clean) if unicodedata.category(c) != "Mn")
    small = "".join(c.lower() for c in letters)  # letter by letter: at the end of a word, too, Σ becomes σ
    return "".join(f" {c} " if _is_punctuation(c) else c for c in small).split()


def _cleaned(c: str) -> str:
    """A character as it is; a space for white space; nothing for a control character; spaces around Chinese ones."""
    if c in "\t\n\r" or unicodedata.category(c) == "Zs":
        return " "
    if c == "\ufffd" or unicodedata.category(c) in ("Cc", "Cf", "Co", "Cs"):
        return ""
    return f" {c} " if any(low <= ord(c) <= high for low, high in CHINESE) else c


def _is_punctuation(c: str) -> bool:
    """Whatever Unicode calls punctuation, and all marks of ASCII, "$" and "+" among them."""
    return unicodedata.category(c).startswith("P") or ("!" <= c <= "~" and not c.isalnum())


class WordPiece:
    """Text to ids and back.

    Args:
        pieces: the vocabulary in the order of its ids, the five special tokens among them.

    >>> tokenizer = WordPiece([*SPECIAL, "the", "flight", "##s", "were"])
    >>> tokenizer.tokens("The flights [MASK] full")
    ['the', 'flight', '##s', '[MASK]', '[UNK]']
    >>> ids = tokenizer.encode("The flights were")
    >>> ids, tokenizer.decode(ids)
    ([5, 6, 7, 8], 'the flights were')
    """

    def __init__(self, pieces: Iterable[str]):
        self.pieces = list(pieces)
        self.ids = {piece: i for i, piece in enumerate(self.pieces)}
        self.special = Special(*(self.ids[name] for name in SPECIAL))
        self._known: dict[str, list[str]] = {}  # words that have been cut already

    @classmethod
    def from_file(cls, path: str | Path) -> WordPiece:
        """The vocabulary of a published model: one piece per line."""
        return cls(Path(path).read_text(encoding="utf-8").splitlines())

    def __len__(self) -> int:
        return len(self.pieces)

    def tokens(self, text: str) -> list[str]:
        """The pieces of a text. The names of special tokens in it, such as [MASK], stand for these tokens."""
        found: list[str] = []
        for part in re.split(r"(\[(?:PAD|UNK|CLS|SEP|MASK)\])", text):
            found += [part] if part in SPECIAL else [p for word in basic_tokens(part) for p in self._cut(word)]
        return found

    def _cut(self, word: str) -> list[str]:
        if word not in self._known:
            self._known[word] = wordpiece_encode(word, self.ids) if len(word) <= MOST_LETTERS else ["[UNK]"]
        return self._known[word]

    def encode(self, text: str) -> list[int]:
        return [self.ids[piece] for piece in self.tokens(text)]

    def decode(self, ids: Iterable[int]) -> str:
        """The pieces with spaces between words; what the cutting has lost, capitals for instance, stays lost."""
        return " ".join(self.pieces[int(i)] for i in ids).replace(" ##", "")


def train_wordpiece(counts: dict[str, int], size: int, score: str = "ratio", min_count: int = 2) -> list[str]:
    """Learn word pieces: begin with single letters, and join the best pair of neighbours, again and again.

    Args:
        counts: how often each word (of ``basic_tokens``) occurs.
        size: how many pieces to learn, the five special tokens and the letters included; fewer if there is nothing
            left to join.
        score: what makes a pair ab good. "ratio": count(ab) / (count(a) count(b)), how much more often the two meet
            than by chance (up to a constant, the logarithm of it is what one joined pair adds to the log-likelihood
            of a text whose pieces are drawn one by one). "frequency": count(ab), as in byte-pair encoding; so does
            the trainer of the library ``tokenizers``.
        min_count: a pair that is seen less often is not joined: with "ratio" two letters that are seen only once, and
            together, would be the best of all.

    Returns:
        The pieces, in the order in which they were found. Ties go to the pair that comes first in the alphabet.

    >>> counts = {"low": 5, "lower": 2, "newest": 6, "widest": 3}
    >>> train_wordpiece(counts, size=19, score="frequency")[16:]
    ['##es', '##est', '##ow']
    >>> train_wordpiece(counts, size=19)[16:]
    ['##id', 'wid', 'lo']
    """
    if score not in ("ratio", "frequency"):
        raise ValueError(f'score is "ratio" or "frequency", not {score!r}.')
    words = [([word[0], *(f"##{c}" for c in word[1:])], n) for word, n in sorted(counts.items())]
    single, pairs, where = Counter(), Counter(), defaultdict(set)  # where: numbers of the words that hold a pair

    def count(place: int, sign: int) -> None:
        pieces, n = words[place]
        for piece in pieces:
            single[piece] += sign * n
        for pair in pairwise(pieces):
            pairs[pair] += sign * n
            where[pair].add(place)

    def goodness(pair: tuple[str, str]) -> float:
        return pairs[pair] / (single[pair[0]] * single[pair[1]]) if score == "ratio" else pairs[pair]

    for place in range(len(words)):
        count(place, +1)
    vocab = dict.fromkeys([*SPECIAL, *sorted(single)])
    while len(vocab) < size:
        found = [(-goodness(pair), pair) for pair, n in pairs.items() if n >= min_count]
        if not found:
            break
        a, b = min(found)[1]
        for place in where.pop((a, b)):
            count(place, -1)
            words[place] = (_joined(words[place][0], a, b), words[place][1])
            count(place, +1)
        del pairs[a, b]
        vocab[a + b[2:]] = None
    return list(vocab)


def _joined(pieces: list[str], a: str, b: str) -> list[str]:
    """Every a that is followed by b becomes one piece, from the left.

    >>> _joined(["a", "##a", "##a", "##b"], "##a", "##a"), _joined(["x", "##a", "##a", "##a"], "##a", "##a")
    (['a', '##aa', '##b'], ['x', '##aa', '##a'])
    """
    joined, i = [], 0
    while i < len(pieces):
        if pieces[i : i + 2] == [a, b]:
            joined.append(a + b[2:])
            i += 2
        else:
            joined.append(pieces[i])
            i += 1
    return joined
