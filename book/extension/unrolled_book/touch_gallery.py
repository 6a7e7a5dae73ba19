"""Small pictures of the touchable models, each a link to its page."""

from __future__ import annotations

from html import escape

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

FOLDER = "play/"


class touch_gallery(nodes.General, nodes.Element):
    """Where the pictures stand; ``part`` is the number of a part, or None for all."""


def models(app: Sphinx) -> list[str]:
    """The documents of the models, in the order of the book."""
    inside = app.env.toctree_includes.get(app.config.root_doc, [])
    return [name for name in inside if name.startswith(FOLDER)]


def models_of_part(app: Sphinx, part: int) -> list[str]:
    """Those that follow the page of a part and precede that of the next."""
    inside = app.env.toctree_includes.get(app.config.root_doc, [])
    begin = inside.index(f"docs/part{part}")
    end = next((k for k in range(begin + 1, len(inside)) if inside[k].startswith("docs/")), len(inside))
    return [name for name in inside[begin:end] if name.startswith(FOLDER)]


def _draw(writer, node: touch_gallery) -> None:
    builder, env = writer.builder, writer.builder.env
    here = builder.current_docname
    up = "../" * here.count("/")
    found = models(builder.app) if node["part"] is None else models_of_part(builder.app, node["part"])
    cards = []
    for name in found:
        title = env.titles[name].astext().removeprefix("Touch it: ")
        cards.append(
            f'<li><a href="{builder.get_relative_uri(here, name)}">'
            f'<img src="{up}touch/pictures/{name.removeprefix(FOLDER)}.svg" alt="" width="640" height="330">'
            f"<span>{escape(title[0].upper() + title[1:])}</span></a></li>"
        )
    writer.body.append(f'<ul class="aid-gallery">{"".join(cards)}</ul>')
    raise nodes.SkipNode


class TouchGallery(SphinxDirective):
    """``{touch-gallery}``, or ``{touch-gallery} 2`` for those of part II."""

    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        return [touch_gallery(part=int(self.arguments[0]) if self.arguments else None)]


def setup(app: Sphinx) -> None:
    app.add_node(touch_gallery, html=(_draw, None))
    app.add_directive("touch-gallery", TouchGallery)
