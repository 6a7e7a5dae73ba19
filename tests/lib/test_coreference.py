"""The small English and French: what is meant, agreement, and which nouns are kept for the test."""

import random

from unrolled.coreference import ANIMALS, NOUNS, OF_ANIMALS, PLACES, PRONOUNS, Sentence, random_sentences, unseen


def test_the_adjective_decides_what_is_meant():
    for sentence in random_sentences(200, random.Random(3), test=False):
        assert sentence.meant == (sentence.animal if sentence.adjective in OF_ANIMALS else sentence.place)
        assert {sentence.meant, sentence.other} == {sentence.animal, sentence.place}
        french = sentence.french()
        assert french[french.index("qu'") + 1] == PRONOUNS[NOUNS[sentence.meant][1]]


def test_pairs_of_nouns_for_the_test_never_occur_in_training():
    for test in (False, True):
        assert all(unseen(s.animal, s.place) is test for s in random_sentences(300, random.Random(1), test))
    met = {(s.animal, s.place) for s in random_sentences(3000, random.Random(0), test=False)}
    assert {animal for animal, _ in met} == set(ANIMALS) and {place for _, place in met} == set(PLACES)


def test_half_of_the_nouns_are_feminine_and_both_orders_occur():
    for nouns in (ANIMALS, PLACES):
        assert [gender for _, gender in nouns.values()].count("f") == len(nouns) / 2
    passive = Sentence("cow", "bridge", "muddy", 2, animal_first=False, time="yesterday")
    assert " ".join(passive.english()) == "yesterday the bridge was not left by the cow because it was too muddy ."
    assert passive.french()[:2] == ["hier", "le"] and passive.french()[-2] == "boueux"
