"""The map of the course as a picture with links, on the cover page.

Which chapter needs which is read from the cell of chapter 0 that draws the same map; the colours are CSS variables,
so that the picture is light or dark with the page.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from html import escape
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

CHAPTER_0 = Path("chapters") / "00_start" / "start.md"
COLUMNS = {"write": 0, "middle": 1, "read": 2}
BOX_WIDTH, BOX_HEIGHT, ACROSS, DOWN, EDGE = 170, 42, 184, 68, 3
PARTS = ("I · Recurrence", "II · Attention", "III · Pretraining")


@dataclass(frozen=True)
class Stop:
    """A chapter on the map; ``needs`` are the numbers of the chapters it builds on."""

    number: int
    title: str
    column: int
    row: int
    needs: tuple[int, ...]

    @property
    def part(self) -> int:
        return (self.number - 1) // 5

    @property
    def left(self) -> int:
        return EDGE + self.column * ACROSS

    @property
    def top(self) -> int:
        return EDGE + self.row * DOWN


def stops(markdown: str) -> list[Stop]:
    """The chapters on the map, from the dictionary ``chapters`` in the source of chapter 0."""
    table = re.search(r"^chapters = (\{.+?^\})", markdown, re.MULTILINE | re.DOTALL)[1]
    tree = ast.parse(table, mode="eval")

    class Columns(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.Constant:
            return ast.Constant(COLUMNS[node.id])

    rows = ast.literal_eval(Columns().visit(tree))
    return [Stop(n, title, column, row, tuple(needs)) for n, (title, column, row, needs) in rows.items()]


def svg(chapters: list[Stop], link, part_link) -> str:
    """The picture; ``link`` and ``part_link`` give the address of a chapter and of a part by number, from 1."""
    by_number = {stop.number: stop for stop in chapters}
    width = 2 * EDGE + 2 * ACROSS + BOX_WIDTH
    height = 2 * EDGE + max(stop.row for stop in chapters) * DOWN + BOX_HEIGHT
    paths = [_arrow(by_number[needed], stop) for stop in chapters for needed in stop.needs]
    boxes = [
        f'<a class="aid-part-{stop.part + 1}" href="{escape(link(stop.number))}">'
        f'<rect x="{stop.left}" y="{stop.top}" width="{BOX_WIDTH}" height="{BOX_HEIGHT}" rx="7"/>'
        f'<text x="{stop.left + BOX_WIDTH / 2:g}" y="{stop.top + 26}"><tspan class="aid-number">{stop.number}</tspan>'
        f' <tspan dx="3">{escape(stop.title)}</tspan></text></a>'
        for stop in sorted(chapters, key=lambda stop: stop.number)
    ]
    labels = [
        f'<a class="aid-map-part aid-part-{k + 1}" href="{escape(part_link(k + 1))}">'
        f'<text x="{EDGE}" y="{EDGE + 20 + 27 * k}">{name}</text></a>'
        for k, name in enumerate(PARTS)
    ]
    return (
        f'<svg class="aid-map" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'aria-labelledby="aid-map-title"><title id="aid-map-title">Map of the course: an arrow leads from a chapter '
        'to each chapter that builds on it</title><defs><marker id="aid-head" viewBox="0 0 8 8" refX="7" refY="4" '
        'markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z"/></marker></defs>'
        f'<g class="aid-arrows">{"".join(paths)}</g>{"".join(labels)}{"".join(boxes)}</svg>'
    )


def _arrow(source: Stop, target: Stop) -> str:
    x1, y1 = source.left + BOX_WIDTH / 2, source.top + BOX_HEIGHT
    x2, y2 = target.left + BOX_WIDTH / 2, target.top - 1
    bend = (y2 - y1) / 2
    line = f"M{x1:g} {y1:g}C{x1:g} {y1 + bend:g} {x2:g} {y2 - bend:g} {x2:g} {y2:g}"
    return f'<path d="{line}" marker-end="url(#aid-head)"/>'


class course_map(nodes.General, nodes.Element):
    """Where the map stands; drawn when the page is written, since only then addresses are known."""


def chapter_documents(app: Sphinx) -> dict[int, str]:
    """Number -> document name of the chapters in the book."""
    found = (re.match(r"chapters/(\d\d)_", name) for name in app.env.all_docs)
    return {int(match[1]): match.string for match in found if match}


def _draw(writer, node: course_map) -> None:
    builder = writer.builder
    documents = chapter_documents(builder.app)

    def address(document: str) -> str:
        return builder.get_relative_uri(builder.current_docname, document)

    writer.body.append(
        svg(
            stops((Path(builder.srcdir) / CHAPTER_0).read_text("utf8")),
            lambda number: address(documents[number]),
            lambda part: address(f"docs/part{part}"),
        )
    )
    raise nodes.SkipNode


class CourseMap(SphinxDirective):
    """``{course-map}``"""

    def run(self) -> list[nodes.Node]:
        self.env.note_dependency(str(Path(self.env.srcdir) / CHAPTER_0))
        return [course_map()]


def setup(app: Sphinx) -> None:
    app.add_node(course_map, html=(_draw, None))
    app.add_directive("course-map", CourseMap)
