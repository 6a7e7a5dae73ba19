"""Is a new triple plausible? A rule that looks it up in all of WordNet, near and far (chapter 11)."""

from __future__ import annotations

from collections import defaultdict

from unrolled.knowledge import Triple, wordnet_senses

FAR = 3  # so many "is a" links may lie between a word and what it is said to be


class Judge:
    """Says of a triple of words whether WordNet has it, whether it follows from what WordNet has, or neither.

    A word stands for all senses that it names. (s, r, o) is "listed" if WordNet links a sense of s to a sense of o by
    r. It is "plausible" if it is not listed, but

    - r is "is a", and o is found above s, at most three links up: a jackdaw is a crow, which is a corvine bird, which
      is an oscine;
    - r is "is like", and o is like s the other way round, or like something that s is like;
    - r is any other relation, and something that is at most three links above s has it with o: what a vehicle has,
      a lorry has.

    Args:
        names: the word for each sense.
        links: (sense, relation, sense).

    >>> names = {"1": "jackdaw", "2": "crow", "3": "bird", "4": "wing", "5": "stone"}
    >>> judge = Judge(names, [("1", "is a", "2"), ("2", "is a", "3"), ("3", "has part", "4")])
    >>> [judge(("jackdaw", *rest)) for rest in (("is a", "crow"), ("has part", "wing"), ("is a", "stone"))]
    ['listed', 'plausible', 'neither']
    """

    def __init__(self, names: dict[str, str], links: list[Triple]):
        self.senses: dict[str, list[str]] = defaultdict(list)
        for sense, word in names.items():
            self.senses[word].append(sense)
        self.names = names
        self.linked: dict[tuple[str, str], list[str]] = defaultdict(list)
        for source, relation, target in links:
            self.linked[source, relation].append(target)
            if relation == "is like":
                self.linked[target, "is likened by"].append(source)

    @classmethod
    def wordnet(cls) -> Judge:
        """The rule over all of WordNet, the test subjects included."""
        return cls(*wordnet_senses())

    def above(self, word: str, links: int) -> list[set[str]]:
        """The senses that lie 0, 1, …, ``links`` "is a" links above a word."""
        levels = [set(self.senses.get(word, ()))]
        for _ in range(links):
            levels.append({up for sense in levels[-1] for up in self.linked.get((sense, "is a"), ())})
        return levels

    def words(self, senses: set[str], relation: str) -> set[str]:
        """What these senses are linked to, as words."""
        return {self.names[target] for sense in senses for target in self.linked.get((sense, relation), ())}

    def __call__(self, triple: Triple) -> str:
        s, r, o = triple
        levels = self.above(s, FAR)
        if o in self.words(levels[0], r):
            return "listed"
        if r == "is a":
            follows = {self.names[sense] for level in levels[1:] for sense in level}
        elif r == "is like":
            heads = {head for sense in levels[0] for head in self.linked.get((sense, r), ())}
            follows = self.words(levels[0], "is likened by") | self.words(heads, r) | self.words(heads, "is likened by")
            follows.discard(s)
        else:
            follows = set().union(*(self.words(level, r) for level in levels[1:]))
        return "plausible" if o in follows else "neither"
