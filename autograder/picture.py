"""Two small grids side by side, what was expected and what came, with the entries that differ marked."""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape

import numpy as np

from autograder.values import ATOL, RTOL, difference

ROWS, COLUMNS = 8, 14
CELL = 12
WARM, COLD, PLAIN = (200, 80, 30), (50, 100, 170), (245, 245, 245)


@dataclass(frozen=True)
class Picture:
    """A window on two arrays, flattened to rows; ``wrong`` tells for each entry whether it differs."""

    name: str
    expected: tuple[tuple[float | None, ...], ...]  # None: not a finite number
    got: tuple[tuple[float | None, ...], ...]
    wrong: tuple[tuple[bool, ...], ...]

    @property
    def partly(self) -> bool:
        """True if some entries are right: then the pattern tells something."""
        return not all(map(all, self.wrong))


def picture_of(expected, got, rtol: float = RTOL) -> Picture | None:
    """The first arrays of two observations that have one shape and differ; None if there is nothing to look at."""
    if not (isinstance(expected, dict) and isinstance(got, dict)):
        return None
    for name, value in expected.items():
        for left, right in _pairs(value, got.get(name)):
            if left.shape == right.shape and left.size > 3 and difference(left, right, rtol):
                return _window(name, _grid(left), _grid(right), rtol)
    return None


def _pairs(expected, got):
    if isinstance(expected, tuple) and isinstance(got, tuple):
        for left, right in zip(expected, got, strict=False):
            yield from _pairs(left, right)
    elif isinstance(expected, np.ndarray) and isinstance(got, np.ndarray) and "c" not in expected.dtype.kind:
        yield expected, got


def _grid(array: np.ndarray) -> np.ndarray:
    return array.real.astype(float).reshape(-1, array.shape[-1])


def _window(name: str, expected: np.ndarray, got: np.ndarray, rtol: float) -> Picture:
    with np.errstate(invalid="ignore", over="ignore"):
        wrong = ~np.isclose(got, expected, rtol=rtol, atol=ATOL if rtol <= RTOL else rtol, equal_nan=True)
    row, column = (int(axis[0]) if len(axis) else 0 for axis in np.nonzero(wrong))
    top = max(0, min(row - 1, len(wrong) - ROWS))
    left = max(0, min(column - 1, wrong.shape[1] - COLUMNS))
    part = np.s_[top : top + ROWS, left : left + COLUMNS]
    numbers = ([[v if math.isfinite(v) else None for v in row] for row in g[part].tolist()] for g in (expected, got))
    return Picture(name, *(tuple(map(tuple, rows)) for rows in (*numbers, wrong[part].tolist())))


def as_text(picture: Picture) -> str:
    """The map of differences for a terminal: a dot is right, a block is wrong."""
    return "\n".join("".join("█" if wrong else "·" for wrong in row) for row in picture.wrong)


def as_svg(picture: Picture) -> str:
    """Both grids with one scale of colours; what differs has a frame."""
    top = max((abs(v) for grid in (picture.expected, picture.got) for row in grid for v in row if v), default=1)
    width, height = len(picture.wrong[0]) * CELL, len(picture.wrong) * CELL
    frames = picture.wrong if picture.partly else None  # a frame around everything says nothing
    parts = [_cells(picture.expected, None, 0, top), _cells(picture.got, frames, width + 2 * CELL, top)]
    count = f"{sum(map(sum, picture.wrong))} of the entries shown differ" if frames else "all entries shown differ"
    label = escape(f"{picture.name}: expected left, got right; {count}{', with a frame' if frames else ''}")
    total, deep = 2 * width + 2 * CELL, height + 16
    captions = "".join(
        f'<text x="{x}" y="{height + 13}" font-size="11" fill="currentColor">{word}</text>'
        for x, word in ((0, "expected"), (width + 2 * CELL, "got"))
    )
    return (
        f'<svg role="img" aria-label="{label}" width="{total}" height="{deep}" viewBox="-1 -1 {total + 2} {deep + 2}">'
        f"<title>{label}</title>{''.join(parts)}{captions}</svg>"
    )


def _cells(grid, wrong, offset: int, top: float) -> str:
    out = []
    for i, row in enumerate(grid):
        for j, value in enumerate(row):
            frame = ' stroke="#111" stroke-width="1.5"' if wrong and wrong[i][j] else ""
            place = f'x="{offset + j * CELL}" y="{i * CELL}" width="{CELL - 1}" height="{CELL - 1}"'
            out.append(f'<rect {place} fill="{"#777" if value is None else _colour(value / top)}"{frame}/>')
    return "".join(out)


def _colour(share: float) -> str:
    """Cold below zero, warm above, pale at zero."""
    end = WARM if share > 0 else COLD
    mixed = (round(p + (e - p) * abs(share)) for p, e in zip(PLAIN, end, strict=True))
    return "#" + "".join(f"{channel:02x}" for channel in mixed)
