"""Citations: a link to the page of references shows on hover and focus what it cites.

The page has one paragraph per work, below a target ``(ref-name)=``; a chapter writes ``[Elman 1990](#ref-elman1990)``.
"""

from __future__ import annotations

import re
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx

from unrolled_book.markdown import plain

PAGE = "docs/references"
ENTRY = re.compile(r"^\((ref-[\w-]+)\)=\n(.+?)(?=\n\s*\n|\Z)", re.MULTILINE | re.DOTALL)


def references(markdown: str) -> dict[str, str]:
    """Target -> the plain words of its paragraph."""
    return {target: plain(text) for target, text in ENTRY.findall(markdown)}


def _read(app: Sphinx, config) -> None:
    config.citation_texts = references((Path(app.srcdir) / f"{PAGE}.md").read_text("utf8"))


def _hover(app: Sphinx, document: nodes.document, docname: str) -> None:
    if docname == PAGE:
        return
    for link in document.findall(nodes.reference):
        target = link.get("refuri", "").rpartition("#")[2]
        if target in app.config.citation_texts:
            link["reftitle"] = app.config.citation_texts[target]
            link["classes"].append("aid-cite")


def setup(app: Sphinx) -> None:
    app.add_config_value("citation_texts", {}, "html", types=dict)  # "html": all pages are written anew when it changes
    app.connect("config-inited", _read)
    app.connect("doctree-resolved", _hover)
