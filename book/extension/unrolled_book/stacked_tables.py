"""Wide tables of sentences in the back matter: on a phone each row becomes a block whose cells say their column.

The names of the columns are put into the cells here and shown by aids.css on narrow pages only.
"""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx

PAGES = ("docs/claims", "docs/concepts", "docs/data", "docs/errata")


def label_cells(table: nodes.table) -> None:
    """Begin each cell, but those of the first two columns, with the name of its column."""
    heads = [entry.astext() for entry in next(table.findall(nodes.thead)).findall(nodes.entry)]
    table["classes"].append("aid-stack")
    for row in next(table.findall(nodes.tbody)).findall(nodes.row):
        for head, entry in list(zip(heads, row.children, strict=True))[2:]:
            first = next(entry.findall(nodes.paragraph), None)
            if head and first is not None:
                first.insert(0, nodes.inline("", f"{head}: ", classes=["aid-label"]))


def _stack(app: Sphinx, document: nodes.document, docname: str) -> None:
    if docname in PAGES:
        for table in document.findall(nodes.table):
            label_cells(table)


def setup(app: Sphinx) -> None:
    app.connect("doctree-resolved", _stack)
