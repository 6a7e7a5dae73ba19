"""The touchable pages and the chapters point at each other, section by section."""

import re
from pathlib import Path

import pytest
from mdit_py_plugins.anchors.index import slugify

from autograder.course import chapters

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "play").glob("*.md"))


def sections_with(source: str, link: str) -> list[set[str]]:
    """For each place where a link stands, the anchors of the section and the subsection around it."""
    found, around = [], ["", ""]
    for line in source.splitlines():
        if heading := re.match(r"(##|###) (.+)", line):
            level = len(heading[1]) - 2
            around[level:] = [slugify(heading[2]), *[""] * (1 - level)]
        if link in line:
            found.append({anchor for anchor in around if anchor})
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_and_its_sections_link_to_each_other(page):
    back: dict[str, set[str]] = {}
    for path, anchor in re.findall(r"\(\.\./(chapters/[^)#]+)\.ipynb#([^)]+)\)", page.read_text("utf8")):
        back.setdefault(path, set()).add(anchor)
    linked = {}
    for chapter in chapters():
        if places := sections_with(chapter.source.read_text("utf8"), f"](../../play/{page.name})"):
            linked[chapter.source.relative_to(ROOT).with_suffix("").as_posix()] = places
    assert linked and set(linked) == set(back)
    for path, places in linked.items():
        headings = re.findall(r"^##+ (.+)$", (ROOT / f"{path}.md").read_text("utf8"), re.MULTILINE)
        assert back[path] <= {slugify(heading) for heading in headings}
        for around in places:
            assert around & back[path], f"{path}: {around} is not linked from {page.name}"
