"""Glossary: in the chapters, the first good place of each term becomes a link whose hover text is the definition.

docs/glossary.md is the only source. A term is a heading of the third level, perhaps a line ``*also: …*`` with other
forms, the definition, and last a link to the section that teaches it. Sources of chapters know nothing of this.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx

from unrolled_book.markdown import plain

PAGE = "docs/glossary"
LINKED = ("chapters/", "play/")
PER_SECTION = 2  # and one in a paragraph: more would be restless
NOT_IN = (nodes.title, nodes.reference, nodes.literal, nodes.math, nodes.table, nodes.caption, nodes.emphasis)
NOT_UNDER = re.compile(r"check yourself|explain it|references|what was learned|exercise", re.IGNORECASE)
ENTRY = re.compile(
    r"^### (?P<name>.+)\n\n(?:\*also: (?P<also>.+)\*\n\n)?(?P<text>.+?)\s*\[(?P<title>[^\]]+)\]\((?P<place>[^)]+)\)$",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Term:
    """One entry; ``place`` is the link to the section that teaches it, as written on the page."""

    name: str
    forms: tuple[str, ...]
    text: str
    place: str

    @property
    def anchor(self) -> str:
        return nodes.make_id(self.name)


def terms(markdown: str) -> list[Term]:
    """The entries of the page, in its order."""
    return [
        Term(
            entry["name"],
            (entry["name"], *(form.strip() for form in (entry["also"] or "").split(",") if form.strip())),
            plain(entry["text"]),
            entry["place"],
        )
        for entry in ENTRY.finditer(markdown)
    ]


def pattern(forms: list[str]) -> re.Pattern:
    """Matches any of the forms as whole words, not joined to others: lower case also with a capital at the beginning,
    lower case and acronyms also with a plural s."""

    def one(form: str) -> str:
        first = f"[{form[0]}{form[0].upper()}]" if form == form.lower() else re.escape(form[0])
        return first + re.escape(form[1:]).replace(r"\ ", r"\s+") + ("s?" if form.islower() or form.isupper() else "")

    longest_first = sorted(forms, key=len, reverse=True)
    return re.compile(rf"(?<![\w/-])(?:{'|'.join(map(one, longest_first))})(?![\w/-])")


class Finder:
    """Which term a piece of text names."""

    def __init__(self, entries: list[Term]) -> None:
        self._patterns = [(term, pattern(list(term.forms))) for term in entries]
        self._any = pattern([form for term in entries for form in term.forms])

    def first(self, text: str, wanted) -> tuple[re.Match, Term] | None:
        """The first match in the text whose term is wanted."""
        for match in self._any.finditer(text):
            term = next(term for term, own in self._patterns if own.fullmatch(match[0]))
            if wanted(term):
                return match, term
        return None


def _section(node: nodes.Node) -> nodes.section | None:
    """The section of the second level that a node stands in; None above the first of them."""
    found = None
    while node is not None and not isinstance(node, nodes.document):
        if isinstance(node, nodes.section) and isinstance(node.parent, nodes.section):
            found = node
        node = node.parent
    return found


def _inside(node: nodes.Node) -> list[nodes.Node]:
    """A node's parents, from the nearest on."""
    found = []
    while node.parent is not None:
        node = node.parent
        found.append(node)
    return found


def _is_prose(text: nodes.Text) -> bool:
    parents = _inside(text)
    return not any(
        isinstance(parent, NOT_IN)
        or "cell_output" in parent.get("classes", ())
        or (isinstance(parent, nodes.section) and NOT_UNDER.match(parent[0].astext()))
        for parent in parents
        if isinstance(parent, nodes.Element)
    )


def link_terms(document: nodes.document, finder: Finder, here: str, address) -> list[str]:
    """Link terms in a page; ``address`` makes the link to an anchor of the glossary. The names that were linked."""
    linked: list[str] = []
    count: dict[int, int] = {}
    for paragraph in list(document.findall(nodes.paragraph)):
        section = _section(paragraph)
        if count.get(id(section), 0) >= PER_SECTION:
            continue
        own = {f"{here}#{s.get('slug', '')}" for s in _inside(paragraph) if isinstance(s, nodes.section)}

        def wanted(term: Term, own=own) -> bool:
            return term.name not in linked and term.place.removeprefix("../").replace(".ipynb", "") not in own

        for text in [t for t in paragraph.findall(nodes.Text) if _is_prose(t)]:
            found = finder.first(text.astext(), wanted)
            if found is None:
                continue
            match, term = found
            link = nodes.reference("", match[0], internal=True, refuri=address(term.anchor), reftitle=term.text)
            link["classes"].append("aid-term")
            before, after = text.astext()[: match.start()], text.astext()[match.end() :]
            text.parent.replace(text, [n for n in (nodes.Text(before), link, nodes.Text(after)) if n.astext()])
            linked.append(term.name)
            count[id(section)] = count.get(id(section), 0) + 1
            break
    return linked


def _read(app: Sphinx, config) -> None:
    config.glossary_source = (Path(app.srcdir) / f"{PAGE}.md").read_text("utf8")


def _link(app: Sphinx, document: nodes.document, docname: str) -> None:
    if not docname.startswith(LINKED):
        return
    page = app.builder.get_relative_uri(docname, PAGE)
    link_terms(document, Finder(terms(app.config.glossary_source)), docname, lambda anchor: f"{page}#{anchor}")


def setup(app: Sphinx) -> None:
    app.add_config_value("glossary_source", "", "html", types=str)
    app.connect("config-inited", _read)
    app.connect("doctree-resolved", _link)
