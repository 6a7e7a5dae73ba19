"""How far is it? A line for whatever takes more than a moment, in a notebook and in a terminal."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from tqdm import tqdm

PATIENCE = 3.0  # seconds before anything is said


class Progress:
    """Counts steps; after a few seconds it tells how many are done and how many seconds are left.

    >>> with Progress(3) as progress:
    ...     for _ in range(3):
    ...         progress.step()
    >>> progress.done
    3
    """

    def __init__(self, total: int, unit: str = "step"):
        self.total, self.unit, self.done = total, unit, 0
        self.begin = self.said = time.monotonic()
        self.line = None
        self.bar = None if _in_notebook() else tqdm(total=total, unit=unit, disable=None, leave=False)

    def step(self) -> None:
        """One more is done."""
        self.done += 1
        if self.bar is not None:
            self.bar.update()
            return
        now = time.monotonic()
        if now - self.begin > PATIENCE and now - self.said > 0.5:
            left = (now - self.begin) / self.done * (self.total - self.done)
            self._say(f"{self.done} of {self.total} {self.unit}s, {left:.0f} s left")
            self.said = now

    def _say(self, text: str) -> None:
        from IPython.display import display

        message = {"text/plain": text}
        if self.line is None:
            self.line = display(message, raw=True, display_id=True)
        else:
            self.line.update(message, raw=True)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_) -> None:
        if self.bar is not None:
            self.bar.close()
        elif self.line is not None:
            self._say(f"{self.done} {self.unit}s in {time.monotonic() - self.begin:.0f} s")


def with_progress(items: Sequence, unit: str = "step") -> Iterator:
    """The items one by one, with a line that tells how many are done.

    >>> list(with_progress(range(3)))
    [0, 1, 2]
    """
    with Progress(len(items), unit) as progress:
        for item in items:
            yield item
            progress.step()


def _in_notebook() -> bool:
    try:
        from IPython import get_ipython
    except ImportError:
        return False
    return hasattr(get_ipython(), "kernel")
