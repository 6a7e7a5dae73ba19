"""Claim checks: what a lecture says, what we measured, over how many seeds, and whether it holds."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from html import escape

MIMETYPE = "application/vnd.unrolled.claim+json"
VERDICTS = {"yes": "✔ holds", "no": "✘ does not hold", "partly": "◐ holds in part"}


@dataclass(frozen=True)
class Claim:
    """One checked claim; a notebook shows it as a small table and keeps its data for the page that collects all."""

    concept: str
    deck: str
    says: str
    measured: str
    seeds: int  # 0 = nothing random about it: the same every time
    holds: str

    def rows(self) -> list[tuple[str, str]]:
        seeds = {0: "none needed (exact)", 1: "1 seed"}.get(self.seeds, f"{self.seeds} seeds")
        return [
            (f"Claim {self.concept}, deck {self.deck}", self.says),
            ("Measured", self.measured),
            ("Over", seeds),
            ("Verdict", VERDICTS[self.holds]),
        ]

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict:
        return {"text/plain": str(self), "text/html": self._repr_html_(), MIMETYPE: asdict(self)}

    def _repr_html_(self) -> str:
        cells = "".join(
            f'<tr><th scope="row" style="text-align:left;white-space:nowrap">{escape(name)}</th>'
            f'<td style="text-align:left">{escape(text)}</td></tr>'
            for name, text in self.rows()
        )
        return f'<table class="claim claim-{self.holds}">{cells}</table>'

    def __str__(self) -> str:
        return "\n".join(f"{name}: {text}" for name, text in self.rows())


def claim(concept: str, *, deck: str, says: str, measured: str, seeds: int, holds: str) -> Claim:
    """Check one claim of a lecture; as the last expression of a cell it is shown as a table.

    Args:
        concept: its number in the syllabus, for instance "C02".
        deck: the lecture, for instance "000".
        says: the claim, in our words or in quotation marks.
        measured: what came out here.
        seeds: over how many random seeds; 0 if nothing about it is random.
        holds: "yes", "no" or "partly".

    >>> print(claim("C08", deck="004", says="three matrices", measured="W_xh, W_hh, V", seeds=0, holds="yes"))
    Claim C08, deck 004: three matrices
    Measured: W_xh, W_hh, V
    Over: none needed (exact)
    Verdict: ✔ holds
    """
    if holds not in VERDICTS:
        raise ValueError(f"holds must be one of {', '.join(VERDICTS)}, not {holds!r}")
    return Claim(concept, deck, says, measured, seeds, holds)
