"""The page a student gets back: every exercise with its verdict, its picture and as many hints as are allowed.

It is made from the graded notebook and the gradebook, so comments and points given by hand are in it. Nothing on the
page comes from the student's outputs, and all text is escaped: there is no script and no answer in it.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from jinja2 import Environment
from markupsafe import Markup
from nbformat import NotebookNode

from autograder import show
from autograder.course import Chapter
from autograder.exercise import Property, Verdict
from autograder.intake import Refused, Unreadable, read_file
from autograder.picture import Picture
from autograder.record import SECRET, TIMESTAMP, Rows, write_whole

MAX_NOTE = 10_000  # bytes
PAGE = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True).from_string("""\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<title>{{ chapter }}: feedback for {{ student }}</title>
<style>
:root { color-scheme: light dark; --unrolled-good: #2e8b57; --unrolled-bad: #c8501e; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 52rem; margin: 2rem auto; padding: 0 1rem; }
section { border-top: 1px solid #8886; padding: .5rem 0 1rem; }
table { border-collapse: collapse; font-size: .9rem; display: block; overflow-x: auto; }
td, th { padding: .2rem .6rem; vertical-align: top; text-align: left; }
pre { background: #8881; padding: .7rem; overflow-x: auto; font-size: .85rem; white-space: pre-wrap; }
.sum { font-size: 1.3rem; }
.hand { border-left: 4px solid #69c; padding-left: .8rem; white-space: pre-wrap; }
svg rect { stroke-linejoin: round; }
.soft { opacity: .75; }
@media (prefers-color-scheme: dark) { :root { --unrolled-good: #5fb585; --unrolled-bad: #ee8a5c; } }
@media (max-width: 42rem) {
  body { margin-top: 1rem; } table, tbody, tr { display: block; } thead, th { display: none; }
  tr { padding: .25rem 0; } td { display: inline; padding: 0 .3rem 0 0; }
  td:nth-child(n+3):not(:empty) { display: block; padding-left: 1.4rem; }
  td:nth-child(3):not(:empty)::before { content: "expected: "; font-weight: 600; }
  td:nth-child(4):not(:empty)::before { content: "got: "; font-weight: 600; }
}
@media print {
  :root { color-scheme: light; } body { font-size: 10.5pt; max-width: none; margin: 0; padding: 0; }
  tr, pre { break-inside: avoid; } details::details-content { content-visibility: visible; display: block; }
}
</style>
</head>
<body>
<h1>{{ title or chapter }}</h1>
<p class="soft">Feedback for {{ student }} on {{ chapter }}</p>
<p class="sum"><strong>{{ points }} of {{ most }} points</strong>{% if penalty %} (late: −{{ penalty }}){% endif %}
{%- if waiting %} · {{ waiting }} not graded yet{% endif %}</p>
{% if refused %}<p>{{ refused }}</p>{% endif %}
{% for part in parts %}
<section>
{{ part.verdict }}
{% if part.hand is not none %}
<p><strong>{{ part.title }}: {{ part.hand }} of {{ part.most }} points</strong></p>
{% endif %}
{% if part.comment %}<p class="hand">{{ part.comment }}</p>{% endif %}
<details><summary>What you handed in</summary><pre>{{ part.source }}</pre></details>
</section>
{% endfor %}
</body>
</html>
""")


def as_data(verdict: Verdict) -> dict:
    """A verdict as plain data, to be kept in the graded notebook."""
    return vars(verdict) | {"properties": [_property_as_data(found) for found in verdict.properties]}


def _property_as_data(found: Property) -> dict:
    return vars(found) | {"picture": vars(found.picture) if found.picture else None}


def from_data(data: dict) -> Verdict:
    """The way back."""
    properties = []
    for item in data["properties"]:
        picture = item.get("picture")
        if picture:
            rows = {name: tuple(map(tuple, picture[name])) for name in ("expected", "got", "wrong")}
            item = item | {"picture": Picture(picture["name"], **rows)}
        properties.append(Property(**item))
    lists = {name: tuple(data[name]) for name in ("hints", "given")}
    return Verdict(**data | lists | {"properties": tuple(properties)})


def write_page(folder: Path, student: str, chapter: str, graded: NotebookNode, rows: Rows, hints: int) -> None:
    """Put the page where nbgrader's release_feedback looks for it."""
    path = folder / "feedback" / student / chapter / f"{Chapter(chapter).slug}.html"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, page(student, graded, rows, hints))
    for name in (TIMESTAMP, SECRET):  # release_feedback wants both
        with suppress(Refused, Unreadable):
            note = read_file(folder / "submitted" / student / chapter / name)[:MAX_NOTE]
            write_whole(path.with_name(name), note.decode("utf8", "replace"))


def page(student: str, graded: NotebookNode, rows: Rows, hints: int) -> str:
    """The feedback on one submission.

    Args:
        student: whose it is.
        graded: the notebook with the verdicts in its metadata, as grading leaves it.
        rows: what the gradebook holds.
        hints: how many of the three hints to a named mistake are shown.
    """
    kept = graded.metadata.get("unrolled", {})
    verdicts = {name: from_data(data) for name, data in kept.get("verdicts", {}).items()}
    parts = []
    for cell in graded.cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id", "")
        if not cell.metadata.get("nbgrader", {}).get("solution"):
            continue
        verdict = verdicts.get(name)
        score, most, by_hand, waits = rows.grades[f"check-{name}" if verdict else name]
        if kept.get("refused") and not by_hand and not rows.comments.get(name):
            continue  # the one sentence says it, and the cell is not the student's
        parts.append(
            {
                "verdict": Markup(show.html(_with_hints(verdict, hints), hints)) if verdict else "",
                "title": "Graded by hand" if verdict else name.replace("-", " "),
                "hand": None if verdict and not by_hand else "—" if waits else show.number(score),
                "most": show.number(most),
                "comment": rows.comments.get(name, ""),
                "source": cell.source,
            }
        )
    return PAGE.render(
        title=_title(graded),
        chapter=kept.get("chapter", ""),
        student=student,
        points=show.number(sum(score for score, *_ in rows.grades.values()) - rows.penalty),
        most=show.number(sum(most for _, most, *_ in rows.grades.values())),
        penalty=show.number(rows.penalty) if rows.penalty else "",
        waiting=sum(waits for *_, waits in rows.grades.values()),
        refused=kept.get("refused", ""),
        parts=parts,
    )


def _title(graded: NotebookNode) -> str:
    """The chapter's own heading; it is from the released notebook, not from the student's."""
    text = next((cell.source for cell in graded.cells if cell.cell_type == "markdown"), "")
    return text.split("\n", 1)[0].removeprefix("# ") if text.startswith("# ") else ""


def _with_hints(verdict: Verdict, hints: int) -> Verdict:
    return replace(verdict, hints=verdict.hints[:hints])
