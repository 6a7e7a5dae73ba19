"""Numbers of equations: chapter.number, for instance (4.2), the same after a change in any other chapter.

Sphinx counts within a page. The chapter's number stands in its title, as everywhere in this book.
"""

from __future__ import annotations

import re

from docutils import nodes
from sphinx.application import Sphinx

CHAPTER = re.compile(r"(\d+) · ")


def chapter_number(document: nodes.document) -> int | None:
    """The number that the title of a page begins with, if any."""
    title = next(document.findall(nodes.title), None)
    found = CHAPTER.match(title.astext()) if title is not None else None
    return int(found[1]) if found else None


def _number(app: Sphinx, document: nodes.document) -> None:
    chapter = chapter_number(document)
    if chapter is None:
        return
    equations = app.env.get_domain("math").equations
    for block in document.findall(nodes.math_block):
        if block.get("number"):
            block["number"] = f"{chapter}.{block['number']}"
            equations[block["label"]] = (app.env.docname, block["number"])


def setup(app: Sphinx) -> None:
    app.connect("doctree-read", _number)
