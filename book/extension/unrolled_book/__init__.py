"""What the book adds to Sphinx: reading aids that plain Jupyter does not need.

Chapters stay plain Markdown. Each module here has one idea and is an extension of its own;
docs/decisions/reading-aids.md says why they live in the build.
"""

from __future__ import annotations

from pathlib import Path

from sphinx.application import Sphinx

HERE = Path(__file__).parent
AIDS = (
    "citations",
    "course_map",
    "equation_numbers",
    "glossary",
    "launch",
    "notation_card",
    "outputs",
    "parts",
    "picture_sizes",
    "reveal",
    "stacked_tables",
    "ticks",
    "touch_gallery",
)


def setup(app: Sphinx) -> dict:
    for aid in AIDS:
        app.setup_extension(f"unrolled_book.{aid}")
    app.connect("config-inited", _own_files)
    for style in ("aids.css", "reading.css"):
        app.add_css_file(style)
    app.add_css_file("print.css", media="print")
    for script in ("tips.js", "reading.js"):
        app.add_js_file(script, loading_method="defer")
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def _own_files(app: Sphinx, config) -> None:
    config.html_static_path.append(str(HERE / "static"))
    config.templates_path.append(str(HERE / "templates"))
