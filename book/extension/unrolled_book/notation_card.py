"""The notation card: shapes, masks and names, one key press away on every page.

Its only source are the tables of chapter 0, of which it takes the columns "what" and "here". The panel is a native
popover, so it opens, closes and takes the keyboard without a script.
"""

from __future__ import annotations

import re
from html import escape
from pathlib import Path

from sphinx.application import Sphinx

from unrolled_book.math_html import math_html

CHAPTER = "chapters/00_start/start"
SECTION = re.compile(r"^## Notation\n(.+?)^## ", re.MULTILINE | re.DOTALL)
TABLE = re.compile(r"(?:^\*\*(?P<title>[^*\n]+)\*\*(?P<where>.*)\n\n)?^\|(?P<rows>(?:.+\n)+)", re.MULTILINE)


def inline(text: str) -> str:
    """One table cell or sentence as HTML: formulas, code, emphasis."""
    parts = re.split(r"(\$[^$]+\$|`[^`]+`|\*[^*]+\*)", text)
    return "".join(_piece(part) for part in parts)


def _piece(part: str) -> str:
    if part.startswith("$"):
        return f'<span class="aid-math">{math_html(part[1:-1])}</span>'
    if part.startswith("`"):
        return f"<code>{escape(part[1:-1])}</code>"
    return f"<em>{escape(part[1:-1])}</em>" if part.startswith("*") else escape(part)


def _cells(rows: str) -> list[list[str]]:
    lines = [[cell.strip() for cell in row.strip("|\n ").split("|")] for row in rows.splitlines()]
    return [lines[0], *lines[2:]]


def _table(title: str, rows: list[tuple[str, str]]) -> str:
    lines = "".join(f'<tr><th scope="row">{inline(left)}</th><td>{inline(right)}</td></tr>' for left, right in rows)
    return f"<table><caption>{inline(title)}</caption><tbody>{lines}</tbody></table>"


def card(markdown: str) -> str:
    """The inside of the panel, from the source of chapter 0."""
    section = SECTION.search(markdown)[1]
    tables = []
    for found in TABLE.finditer(section):
        head, *rows = _cells("|" + found["rows"])
        if head[0] == "letter":  # two columns of pairs, side by side
            pairs = [tuple(row[k : k + 2]) for k in range(0, len(head), 2) for row in rows]
            tables.append(_table("Shapes", pairs))
        else:
            tables.append(_table(found["title"] + found["where"], [(row[1], row[0]) for row in rows]))
    sentences = re.findall(r"^(?:Masks are|Vectors are) .+$", section, re.MULTILINE)
    return "".join([tables[0], *(f"<p>{inline(s)}</p>" for s in sentences), *tables[1:]])


def _read(app: Sphinx, config) -> None:
    config.notation_card = card((Path(app.srcdir) / f"{CHAPTER}.md").read_text("utf8"))


def _context(app: Sphinx, pagename: str, templatename: str, context: dict, doctree) -> None:
    context["notation_card"] = app.config.notation_card
    context["notation_address"] = context["pathto"](CHAPTER).rstrip("#") + "#notation"  # of the page itself it is "#"


def setup(app: Sphinx) -> None:
    app.add_config_value("notation_card", "", "html", types=str)
    app.connect("config-inited", _read)
    app.connect("html-page-context", _context)
