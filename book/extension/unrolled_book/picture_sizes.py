"""Every picture says how large it will be, so that nothing moves when it arrives."""

from __future__ import annotations

import re
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx

PIXELS = {"": 1.0, "px": 1.0, "pt": 4 / 3}
STYLE = r'style="width: (\d+)px; height: (\d+)px;"'
LENGTH = r'="([\d.]+)(px|pt|)"'


def svg_size(path: Path) -> tuple[int, int] | None:
    """Width and height of an SVG file in CSS pixels, if its first tag states both."""
    with path.open(encoding="utf8") as file:
        head = re.search(r"<svg\b[^>]*>", file.read(4000))
    lengths = [re.search(rf"\s{side}{LENGTH}", head[0]) for side in ("width", "height")] if head else [None]
    return tuple(round(float(found[1]) * PIXELS[found[2]]) for found in lengths) if all(lengths) else None


def set_sizes(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Write the size of each SVG picture into its tag; the style sheet still makes it smaller on a narrow page."""
    for image in doctree.findall(nodes.image):
        path = Path(app.srcdir) / image["uri"]
        size = svg_size(path) if path.suffix == ".svg" and path.is_file() and "width" not in image else None
        if size:
            image["width"], image["height"] = map(str, size)


def as_attributes(app: Sphinx, page: str, template: str, context: dict, doctree: nodes.document | None) -> None:
    """Docutils writes sizes as styles; from attributes a browser knows the shape even where the width is another."""
    if "body" in context:
        context["body"] = re.sub(STYLE, r'width="\1" height="\2"', context["body"])


def setup(app: Sphinx) -> None:
    app.connect("doctree-resolved", set_sizes)
    app.connect("html-page-context", as_attributes)
