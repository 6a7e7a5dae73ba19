"""A text to be learned, and configurations for it."""

import random
from pathlib import Path

import pytest
from launching import TINY


@pytest.fixture(scope="module")
def text(tmp_path_factory) -> Path:
    """Documents about one animal each: the second sentence tells which, so both tasks can be learned."""
    draw, lines = random.Random(0), []
    for _ in range(80):
        animal, place = draw.choice(["cat", "dog", "horse", "owl"]), draw.choice(["barn", "house", "forest"])
        for _ in range(draw.randint(1, 5)):
            lines.append(f"The {animal} {draw.choice(['sleeps', 'waits', 'sings'])} in the {place}.")
        lines.append("")
    path = tmp_path_factory.mktemp("text") / "animals.txt"
    path.write_text("\n".join(lines))
    return path


@pytest.fixture
def config(text, tmp_path):
    def write(dropout=0.0, steps=12, micro=15, precision="float32") -> Path:
        path = tmp_path / f"{dropout}-{steps}-{micro}-{precision}.toml"
        said = {"text": str(text), "dropout": dropout, "steps": steps, "micro": micro, "precision": precision}
        path.write_text(TINY.format(**said))
        return path

    return write
