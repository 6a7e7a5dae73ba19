"""Chapters are light, and stand still while their mathematics arrives late.

The budget is what a usual server transfers, which is compressed text. The server of the tests does not compress, so
each file that a page asks for is compressed here, except fonts and pixels, which are so already.
"""

import gzip
import time
from functools import cache

import pytest

from book import HTML, MATHS_IS_SET, SHIFTS, pages

CHAPTERS = [name for name in pages() if name.startswith("chapters/")]
BUDGET = 1_500_000
GOOD = 0.1  # what web vitals call a good cumulative layout shift
SECONDS_LATE = 0.5
SECTIONS = "all => all.map(section => section.id)"


@cache
def transferred(file: str) -> int:
    data = (HTML / file).read_bytes()
    return len(data) if file.endswith((".woff", ".woff2", ".png")) else len(gzip.compress(data, 6))


@pytest.fixture(scope="module")
def tab(browser):
    page = browser.new_page()
    page.add_init_script(SHIFTS)
    page.route("**/mathjax/*.js", lambda route: (time.sleep(SECONDS_LATE), route.continue_()))
    yield page
    page.close()


def jump(tab, address: str, width: int) -> float:
    """How far a page has moved under its reader, from the first paint until a while after the mathematics is set."""
    tab.set_viewport_size({"width": width, "height": 900})
    tab.goto("about:blank")
    tab.goto(address)
    tab.evaluate(MATHS_IS_SET)
    tab.wait_for_timeout(150)
    return tab.evaluate("window.shifts")


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_chapter_is_light_and_stands_still(tab, addresses, name):
    asked = set()
    remember = lambda request: asked.add(request.url)  # noqa: E731
    tab.on("request", remember)
    moved = {"at the top": jump(tab, f"{addresses['http']}/{name}", 1280)}
    tab.remove_listener("request", remember)
    files = {url.removeprefix(addresses["http"] + "/").split("?")[0] for url in asked if url.startswith("http")}
    assert {name, "_static/mathjax/tex-chtml.js", "searchindex.js"} <= files
    assert sum(map(transferred, files)) <= BUDGET
    sections = tab.locator("main section section[id]").evaluate_all(SECTIONS)
    middle = sections[len(sections) // 2]
    moved["in the middle, on a phone"] = jump(tab, f"{addresses['http']}/{name}#{middle}", 390)
    assert {place: value for place, value in moved.items() if value >= GOOD} == {}
