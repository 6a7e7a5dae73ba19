"""A button below each section that says "read": static/reading.js keeps the ticks in the reader's browser."""

from __future__ import annotations

from html import escape

from docutils import nodes
from sphinx.application import Sphinx

KINDS = {"chapters/": "Section", "play/": "Page"}
BUTTON = (
    '<p class="tick-line pst-js-only"><button type="button" class="tick" data-tick="{id}" aria-pressed="false"'
    ' aria-label="{kind} read: {title}">{kind} read</button></p>'
)


def sections(doctree: nodes.document, kind: str) -> list[nodes.section]:
    """What a reader ticks off: the sections of a chapter, or a page that is one thing."""
    page = next(doctree.findall(nodes.section))
    parts = [child for child in page.children if isinstance(child, nodes.section) and "references" not in child["ids"]]
    return parts if kind == "Section" else [page]


def add_ticks(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    kind = next((kind for folder, kind in KINDS.items() if docname.startswith(folder)), None)
    if app.builder.format != "html" or kind is None:
        return
    for section in sections(doctree, kind):
        title = escape(section[section.first_child_matching_class(nodes.title)].astext())
        section += nodes.raw("", BUTTON.format(id=section["ids"][0], kind=kind, title=title), format="html")


def setup(app: Sphinx) -> None:
    app.connect("doctree-resolved", add_ticks)
