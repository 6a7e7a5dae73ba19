"""Printed lines: sentences wrap on a narrow page, columns keep their places and scroll.

Lines are columns if somewhere between two words there is more than one space.
"""

from __future__ import annotations

import re

from docutils import nodes
from sphinx.application import Sphinx

GAP = re.compile(r"\S {2,}\S|^ +\S", re.MULTILINE)


def has_columns(text: str) -> bool:
    """
    >>> has_columns("rnn_step is not written yet: the book's own version stands in."), has_columns("mean  0.1")
    (False, True)
    """
    return GAP.search(text.expandtabs()) is not None


def _mark(app: Sphinx, document: nodes.document, docname: str) -> None:
    for output in document.findall(lambda node: isinstance(node, nodes.container) and "cell_output" in node["classes"]):
        for block in output.findall(nodes.literal_block):
            if not has_columns(block.astext()):
                block["classes"].append("aid-sentences")


def setup(app: Sphinx) -> None:
    app.connect("doctree-resolved", _mark)
