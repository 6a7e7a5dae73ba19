"""Long measurements are made once by a script in experiments/ and kept as JSON; the chapters read them here."""

from __future__ import annotations

import json
import platform
import time
from pathlib import Path

import torch

FOLDER = Path(__file__).parents[2] / "experiments"


def stored(name: str) -> dict:
    """The values that ``experiments/<name>.py`` measured."""
    path = FOLDER / f"{name}.json"
    if not path.exists():
        raise FileNotFoundError(
            f"No measurement {name}: run `python experiments/{name}.py`, or look into experiments/ for its name."
        )
    return json.loads(path.read_text())["values"]


def record(name: str, seeds: list[int], values: dict, since: float) -> Path:
    """Write the values with their seeds, versions and the seconds since ``since`` (from time.time())."""
    about = {"python": platform.python_version(), "torch": torch.__version__.split("+")[0]}
    document = {"seeds": seeds, "versions": about, "seconds": round(time.time() - since), "values": values}
    path = FOLDER / f"{name}.json"
    path.write_text(json.dumps(document, indent=1) + "\n")
    return path
