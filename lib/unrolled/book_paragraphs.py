"""The book's own prose, paragraph by paragraph: a text to be searched (chapter 13)."""

from __future__ import annotations

import re

from unrolled.measurements import FOLDER

CHAPTERS = FOLDER.parent / "chapters"
NOT_PROSE = re.compile(r"^---\n.*?^---$|^```.*?^```$|\$\$.*?\$\$(?: \(eq-[a-z0-9-]+\))?", re.DOTALL | re.MULTILINE)
MARKS = {r"\[([^\]]*)\]\([^)]*\)": r"\1", r"\$([^$]*)\$": r"\1", r"[*`]": "", r"\s+": " "}  # links, formulas, emphasis


def prose(source: str, least: int = 15) -> list[str]:
    """The paragraphs of a chapter's source with at least so many words, without headings, code, equations, marks
    and pointers to the touchable pages.

    >>> source = "# Title\\n\\n+++\\n\\nA *beam* is [wide](#ref-x).\\n\\n```python\\nx = 1\\n```\\n\\n$$ y $$\\n"
    >>> prose(source, least=3)
    ['A beam is wide.']
    """
    found = []
    for block in NOT_PROSE.sub("", source).split("\n\n"):
        text = block.strip()
        if re.match(r"#|\+\+\+|<|\||\*\d|\*\*\d|\*\*Touch it|- |>", text):
            continue
        for mark, plain in MARKS.items():
            text = re.sub(mark, plain, text)
        if len(text.split()) >= least:
            found.append(text.strip())
    return found


def book_paragraphs(last: int = 12) -> list[tuple[int, str]]:
    """The paragraphs of the chapters up to number ``last``, each with the number of its chapter, in reading order."""
    sources = sorted(CHAPTERS.glob("[0-9][0-9]_*/*.md"))
    numbered = [(int(path.parent.name[:2]), path.read_text(encoding="utf-8")) for path in sources]
    return [(number, text) for number, source in numbered if number <= last for text in prose(source)]
