"""The table of a part: its chapters with the question each answers, and what the exercises ask for.

The page writes the questions; exercises, minutes and points are counted in the executed student editions, where the
build wrote them from the registry.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

LINE = re.compile(r"^\*\d+ points? · (\d+) minutes\b", re.MULTILINE)
QUESTION = re.compile(r"(\d+): (.+)")
HEADS = ("chapter", "the question", "tasks", "minutes", "points")


@dataclass(frozen=True)
class Work:
    """What the exercises of a chapter ask for."""

    tasks: int
    minutes: int
    points: float


def work(notebook: Path) -> Work:
    """Counted in a student edition."""
    cells = json.loads(notebook.read_text("utf8"))["cells"]
    texts = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    minutes = [int(found) for text in texts for found in LINE.findall(text)]
    graded = [cell["metadata"].get("nbgrader", {}) for cell in cells]
    return Work(len(minutes), sum(minutes), sum(mark["points"] for mark in graded if mark.get("grade")))


class PartChapters(SphinxDirective):
    """``{part-chapters}`` with lines ``number: question``."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        rows = [self._row(*QUESTION.fullmatch(line.strip()).groups()) for line in self.content if line.strip()]
        group = nodes.tgroup(cols=len(HEADS))
        group += [nodes.colspec(colwidth=width) for width in (4, 8, 2, 2, 2)]
        head = nodes.row("", *(nodes.entry("", nodes.paragraph("", word)) for word in HEADS))
        group += [nodes.thead("", head), nodes.tbody("", *rows)]
        return [nodes.table("", group, classes=["table", "aid-part-table"])]

    def _row(self, number: str, question: str) -> nodes.row:
        folder = next((Path(self.env.srcdir) / "chapters").glob(f"{int(number):02d}_*"))
        notebook = folder / f"{folder.name[3:]}.ipynb"
        self.env.note_dependency(str(notebook))
        asked = work(notebook)
        link = addnodes.pending_xref(
            "",
            nodes.inline("", ""),
            refdomain="std",
            reftype="doc",
            reftarget=f"/chapters/{folder.name}/{folder.name[3:]}",
            refexplicit=False,
            refdoc=self.env.docname,
            refwarn=True,
        )
        figures = (str(asked.tasks), str(asked.minutes), f"{asked.points:.3g}")
        cells = [nodes.paragraph("", "", link), nodes.paragraph("", question)]
        return nodes.row("", *(nodes.entry("", cell) for cell in [*cells, *(nodes.paragraph("", f) for f in figures)]))


def setup(app: Sphinx) -> None:
    app.add_directive("part-chapters", PartChapters)
