"""How a verdict looks: the same table as HTML in a notebook and as text in a terminal."""

from __future__ import annotations

import textwrap
from html import escape

from autograder.exercise import Property, Verdict
from autograder.picture import as_svg, as_text

MARK = {"correct": "✓", "correct-other-convention": "✓", "correct-given": "✓", "not-attempted": "○"}
CLAIM = {
    "correct": "right",
    "correct-other-convention": "right, in another convention",
    "correct-given": "right, given the functions it uses",
    "misconception": "a mistake I know",
    "wrong": "not right yet",
    "error": "raises an error",
    "timeout": "no answer in time",
    "shortcut": "a shortcut",
    "not-attempted": "not written yet",
    "refused": "refused",
}


COLOUR = {"✓": "var(--unrolled-good, #2e8b57)", "✗": "var(--unrolled-bad, #c8501e)", "○": "inherit"}


def _worth_comparing(verdict: Verdict) -> bool:
    """Where every property failed by the same error, the message has said it already."""
    return verdict.kind not in {"error", "timeout"} and any(item.expected or item.got for item in verdict.properties)


def _pictured(verdict: Verdict) -> Property | None:
    """One picture is enough: of the first property where only a part is wrong, else of the first that has one."""
    pictures = [item for item in verdict.properties if item.picture] if _worth_comparing(verdict) else []
    return next((item for item in pictures if item.picture.partly), next(iter(pictures), None))


def _mark(verdict: Verdict, item: Property) -> str:
    return "○" if verdict.kind == "not-attempted" else "✓" if item.passed else "✗"


def number(points: float) -> str:
    """Points without trailing zeros: 2, 1.5, 0.67."""
    return f"{points:.2f}".rstrip("0").rstrip(".")


def headline(verdict: Verdict) -> str:
    """One line: mark, exercise, what it is, points."""
    points = f" — {number(verdict.points)} of {number(verdict.max_points)} points" if verdict.max_points else ""
    return f"{MARK.get(verdict.kind, '✗')} {verdict.exercise}: {CLAIM[verdict.kind]}{points}"


def text(verdict: Verdict, hints: int = 1, notes: tuple[str, ...] = ()) -> str:
    """The verdict for a terminal."""
    lines = [headline(verdict)]
    if verdict.message and verdict.kind != "correct":
        lines.append(_wrapped(verdict.message))
    pictured = _pictured(verdict)
    for item in verdict.properties:
        mark = _mark(verdict, item)
        lines.append(f"  {mark} {item.title}")
        if (item.expected or item.got) and _worth_comparing(verdict):
            note = f"  ({item.note})" if item.note else ""
            lines.append(f"      expected {item.expected}, got {item.got}{note}")
            if item is pictured and item.picture.partly:
                lines += ["      where it differs (█):", textwrap.indent(as_text(item.picture), "        ")]
    for level, hint in enumerate(verdict.hints[:hints], 1):
        lines.append(_wrapped(f"Hint {level}: {hint}"))
    if len(verdict.hints) > hints:
        lines.append(f"  For the next hint: check({verdict.exercise}, hints={hints + 1})")
    lines += [_wrapped(f"Note: {note}") for note in notes]
    return "\n".join(lines)


def _wrapped(sentence: str) -> str:
    return textwrap.fill(sentence, 88, initial_indent="  ", subsequent_indent="    ")


def html(verdict: Verdict, hints: int = 1, notes: tuple[str, ...] = ()) -> str:
    """The verdict for a notebook: a small table, the named mistake, and hints that unfold."""
    state = "full" if verdict.full else "open" if verdict.kind == "not-attempted" else "failed"
    parts = [f'<div class="unrolled-check unrolled-{state}"><p><strong>{escape(headline(verdict))}</strong></p>']
    if verdict.message and verdict.kind != "correct":
        parts.append(f'<p class="unrolled-message">{escape(verdict.message)}</p>')
    if verdict.properties:
        parts.append(_table(verdict))
    pictured = _pictured(verdict)
    if pictured:
        parts.append(f'<p class="unrolled-picture"><small>{escape(pictured.title)}</small><br>')
        parts.append(f"{as_svg(pictured.picture)}</p>")
    for level, hint in enumerate(verdict.hints, 1):
        opened = " open" if level <= hints else ""
        parts.append(f"<details{opened}><summary>Hint {level}</summary><p>{escape(hint)}</p></details>")
    parts += [f'<p class="unrolled-note">{escape(note)}</p>' for note in notes]
    return "".join(parts) + "</div>"


def _table(verdict: Verdict) -> str:
    compared = _worth_comparing(verdict)
    head = "<th></th>" + "".join(
        f'<th style="text-align:left">{word}</th>' for word in ("property", *(("expected", "got") if compared else ()))
    )
    rows = []
    for item in verdict.properties:
        mark = _mark(verdict, item)
        note = f"<br><small>{escape(item.note)}</small>" if item.note and compared else ""
        cells = [escape(item.title) + note, *((escape(item.expected), escape(item.got)) if compared else ())]
        row = f'<td style="color:{COLOUR[mark]}">{mark}</td>'
        rows.append("<tr>" + row + "".join(f'<td style="text-align:left">{cell}</td>' for cell in cells) + "</tr>")
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
