"""From letters to sounds against g2p-en, a GRU encoder-decoder whose weights are published.

The peer is g2p-en (K. Park and J. Kim 2019) with a GRU of 256 that reads and a GRU of 256 that writes, run by
``unrolled.pronouncer``. How long it was trained is not published, so it stands here without a single update, as a mark
to be reached: its phoneme error on the same 2,000 words. It learned from the whole dictionary, these words among them;
ours has never seen them.
"""

from __future__ import annotations

from ch06_g2p import said
from learning import Learner
from learning_sounds import UNIT, Recipe, error, learner
from race import Race


def published(seed: int) -> Learner:
    """The weights as they are; there is nothing random about them."""
    return Learner(iter(()), lambda: error(lambda group: said(["".join(word) for word, _ in group]), "test"), every=1)


RACES = [
    Race(
        name="sounds against g2p-en",
        unit=UNIT,
        peer_name="g2p-en, as published",
        ours=lambda seed: learner(Recipe(), seed),
        peer=published,
        why="the peer has seen the words of the test in its training",
    )
]
