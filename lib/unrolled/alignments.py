"""Greek verses, English verses, and who translates whom word by word: alignments made by hand (chapter 7).

How well a guess agrees with them is measured by the alignment error rate. Credits: docs/data.md.
"""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from collections.abc import Set
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from unrolled.data import SPLIT, package_folder
from unrolled.pairs import Pair, Tokens

Link = tuple[int, int]  # place in the English verse, place in the Greek verse


@dataclass(frozen=True)
class AlignedVerse:
    """One verse in both languages, and the links between its words."""

    greek: Tokens  # lemmas: the forms under which a dictionary has the words
    english: Tokens  # words in lower case, without punctuation
    links: frozenset[Link]

    @property
    def pair(self) -> Pair:
        """As source and answer for a translator."""
        return self.greek, [self.english]


def _table(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


@cache
def _verses() -> tuple[AlignedVerse, ...]:
    """All verses with words in both languages; links from one verse into another are left out."""
    folder = package_folder("bible_alignments", "bible-alignments").parent / "data"
    greek, english, places = defaultdict(list), defaultdict(list), {}
    for row in _table(folder / "sources" / "SBLGNT.tsv"):
        verse = row["id"][1:9]  # n40001001001: book 40, chapter 1, verse 1, word 1
        places[row["id"]] = verse, len(greek[verse])
        greek[verse].append(row["lemma"])
    for row in _table(folder / "eng" / "targets" / "BSB" / "nt_BSB.tsv"):
        if row["exclude"] != "y":  # punctuation
            verse = row["source_verse"]
            places[row["id"]] = verse, len(english[verse])
            english[verse].append(row["text"].lower())
    links = defaultdict(set)
    path = folder / "eng" / "alignments" / "BSB" / "SBLGNT-BSB-manual.json"
    for group in json.loads(path.read_text(encoding="utf-8"))["records"]:
        for (verse, i), (other, j) in ((places[t], places[s]) for t in group["target"] for s in group["source"]):
            if verse == other:
                links[verse].add((i, j))
    return tuple(AlignedVerse(greek[v], english[v], frozenset(links[v])) for v in greek if v in english)


def aligned_verses(part: str, longest: int) -> list[AlignedVerse]:
    """Verses of the New Testament, Greek and English, with links set by hand (115,008 groups in the whole book).

    Args:
        part: "train", "validation" or "test"; by the last digit of the verse's number among those kept.
        longest: words on each side; with 24 there are 4,208 verses to learn from and 525 for the test.
    """
    kept = [v for v in _verses() if max(len(v.greek), len(v.english)) <= longest and v.links]
    return [verse for n, verse in enumerate(kept) if n % 10 in SPLIT[part]]


def alignment_error_rate(guessed: Set[tuple], gold: Set[tuple]) -> float:
    r"""The share of links on which a guess and the gold do not agree; 0 is perfect, 1 has nothing in common.

    $$ \mathrm{AER} = 1 - \frac{2\,|A \cap G|}{|A| + |G|} $$

    (Och and Ney 2003 tell sure from possible links; here all links are sure ones.) Over several verses the number of
    the verse is part of each link.

    >>> alignment_error_rate({(0, 0), (1, 1)}, {(0, 0), (1, 2), (2, 2), (3, 3)})
    0.6666666666666667
    """
    return 1 - 2 * len(guessed & gold) / (len(guessed) + len(gold))
