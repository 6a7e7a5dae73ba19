"""The form in which the touchable models are stored: whole ten-thousandths and short decimals."""

import json
from pathlib import Path

import torch
from torch import Tensor, nn

CHAPTERS = Path(__file__).parents[1] / "chapters"
SCALE = 10_000
VERSE = "In the beginning was the Word, and the Word was with God, and the Word was God."


def rounded(values: Tensor, digits: int) -> list:
    """A tensor as nested lists of short decimals."""
    if values.dim() == 0:
        return round(values.item(), digits)
    return [rounded(part, digits) for part in values]


def coarse(model: nn.Module) -> nn.Module:
    """The same network with parameters that are whole ten-thousandths, in double precision."""
    model.double()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_((parameter * SCALE).round() / SCALE)
    return model


def whole(values: Tensor) -> list[int]:
    """A tensor of ten-thousandths as one flat list of integers."""
    return (values.detach().double() * SCALE).round().long().flatten().tolist()


def decimals(values: Tensor) -> list:
    return rounded(values.detach(), 4)


def cells(slug: str) -> list[dict]:
    """The cells of an executed chapter."""
    return json.loads((CHAPTERS / slug / f"{slug[3:]}.ipynb").read_text("utf8"))["cells"]
