"""What does "it" refer to? A small English with its French, in which "it" has to be resolved (chapter 10).

"The dog did not cross the street because it was too tired" is about the dog, with "wide" it is about the street. French
nouns have a gender, and pronoun and adjective follow it: il, elle. Who is meant depends on the last word alone.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from unrolled.pairs import Pair

ANIMALS = {  # English: French, gender
    "dog": ("chien", "m"), "cat": ("chat", "m"), "horse": ("cheval", "m"), "wolf": ("loup", "m"),
    "pig": ("cochon", "m"), "fox": ("renard", "m"), "cow": ("vache", "f"), "goat": ("chèvre", "f"),
    "mouse": ("souris", "f"), "turtle": ("tortue", "f"), "hen": ("poule", "f"), "frog": ("grenouille", "f"),
}  # fmt: skip
PLACES = {
    "bridge": ("pont", "m"), "river": ("fleuve", "m"), "field": ("champ", "m"), "path": ("chemin", "m"),
    "stream": ("ruisseau", "m"), "garden": ("jardin", "m"), "street": ("rue", "f"), "road": ("route", "f"),
    "square": ("place", "f"), "forest": ("forêt", "f"), "beach": ("plage", "f"), "meadow": ("prairie", "f"),
}  # fmt: skip
OF_ANIMALS = {  # English: masculine, feminine
    "tired": ("fatigué", "fatiguée"), "hungry": ("affamé", "affamée"), "sick": ("malade", "malade"),
    "lazy": ("paresseux", "paresseuse"), "nervous": ("nerveux", "nerveuse"), "shy": ("timide", "timide"),
}  # fmt: skip
OF_PLACES = {
    "wide": ("large", "large"), "long": ("long", "longue"), "dark": ("sombre", "sombre"),
    "muddy": ("boueux", "boueuse"), "crowded": ("bondé", "bondée"), "flooded": ("inondé", "inondée"),
}  # fmt: skip
VERBS = {"cross": "traversé", "visit": "visité", "leave": "quitté", "enter": "pénétré"}
PASSIVE = ("crossed", "visited", "left", "entered")
TIMES = {"": "", "yesterday": "hier", "today": "aujourd'hui", "then": "puis"}
NOUNS = {**ANIMALS, **PLACES}
ARTICLES = {"m": "le", "f": "la"}
PRONOUNS = {"m": "il", "f": "elle"}


@dataclass(frozen=True)
class Sentence:
    """An animal, a place, an adjective that belongs to one of them; who comes first; and a time."""

    animal: str
    place: str
    adjective: str
    verb: int  # its number
    animal_first: bool = True
    time: str = ""

    @property
    def meant(self) -> str:
        """The noun that "it" stands for."""
        return self.animal if self.adjective in OF_ANIMALS else self.place

    @property
    def other(self) -> str:
        return self.place if self.adjective in OF_ANIMALS else self.animal

    @property
    def decides(self) -> bool:
        """Do the two nouns differ in gender? Otherwise the pronoun is the same for both."""
        return NOUNS[self.animal][1] != NOUNS[self.place][1]

    def english(self) -> list[str]:
        """
        >>> " ".join(Sentence("dog", "street", "wide", 0).english())
        'the dog did not cross the street because it was too wide .'
        """
        if self.animal_first:
            told = f"the {self.animal} did not {list(VERBS)[self.verb]} the {self.place}"
        else:
            told = f"the {self.place} was not {PASSIVE[self.verb]} by the {self.animal}"
        return f"{self.time} {told} because it was too {self.adjective} .".split()

    def french(self) -> list[str]:
        """
        >>> " ".join(Sentence("dog", "street", "wide", 0).french())
        "le chien n' a pas traversé la rue parce qu' elle était trop large ."
        >>> " ".join(Sentence("dog", "street", "tired", 0, animal_first=False).french())
        "la rue n' a pas été traversée par le chien parce qu' il était trop fatigué ."
        """
        animal, place = (f"{ARTICLES[g]} {word}" for word, g in (ANIMALS[self.animal], PLACES[self.place]))
        verb, ending = list(VERBS.values())[self.verb], "e" if PLACES[self.place][1] == "f" else ""
        told = f"{animal} n' a pas {verb} {place}"
        if not self.animal_first:
            told = f"{place} n' a pas été {verb}{ending} par {animal}"
        gender = NOUNS[self.meant][1]
        adjective = {**OF_ANIMALS, **OF_PLACES}[self.adjective]["mf".index(gender)]
        return f"{TIMES[self.time]} {told} parce qu' {PRONOUNS[gender]} était trop {adjective} .".split()

    def pair(self) -> Pair:
        return self.english(), [self.french()]


def unseen(animal: str, place: str) -> bool:
    """Is this pair of nouns kept for the test? One in four is.

    >>> sum(unseen(a, p) for a in ANIMALS for p in PLACES)
    36
    """
    return (list(ANIMALS).index(animal) + list(PLACES).index(place)) % 4 == 0


def random_sentences(n: int, rng: random.Random, test: bool) -> list[Sentence]:
    """n sentences with pairs of nouns for training, or with pairs that are kept for the test."""
    found: list[Sentence] = []
    adjectives, nouns = [*OF_ANIMALS, *OF_PLACES], (list(ANIMALS), list(PLACES))
    while len(found) < n:
        animal, place = map(rng.choice, nouns)
        if unseen(animal, place) is test:
            order, time = rng.random() < 0.5, rng.choice(list(TIMES))
            found.append(Sentence(animal, place, rng.choice(adjectives), rng.randrange(len(VERBS)), order, time))
    return found
