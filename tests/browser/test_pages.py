"""Every page of the table of contents in a real browser, from http and from disk with the network off."""

from __future__ import annotations

import contextlib
import re
from functools import cache
from urllib.parse import unquote, urldefrag

import pytest
from axe_playwright_python.sync_playwright import Axe
from bs4 import BeautifulSoup
from playwright.sync_api import Error

from book import HTML, MATHS_IS_SET, OVER, listen_closely, pages

WIDE, PHONES = {"width": 1280, "height": 900}, (390, 360)
NOT_ON_PAPER = ".bd-sidebar-primary, .bd-sidebar-secondary, .bd-header-article, .prev-next-footer, .copybtn, .tick"
STILL = "*, *::before, *::after { transition: none !important; animation: none !important; }"
THIN = """() => {  // thousands of coloured words and formulas, but few kinds: some of each are enough
    const seen = new Set();
    for (const word of document.querySelectorAll('pre span')) {
        const kind = word.className + ' in ' + word.closest('[class^=cell_], [class*=highlight-]')?.className;
        if (seen.has(kind)) word.replaceWith(...word.childNodes); else seen.add(kind);
    }
    document.querySelectorAll('pre').forEach(box => box.normalize());
    [...document.querySelectorAll('mjx-container')].slice(5).forEach(formula => formula.remove());
}"""
AXE = {"resultTypes": ["violations"], "preload": False}
COLOURS = {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}}
REACHABLE = """() => ![...document.querySelectorAll('pre')].some(
    box => box.checkVisibility() && box.scrollWidth > box.clientWidth && box.tabIndex < 0)"""
ACCEPTED = {}  # rule -> why a violation of it cannot be mended


@pytest.fixture(scope="module")
def tabs(browser, offline, addresses):
    """One tab for each way to read the book, used for all pages in turn, with the faults of the page it shows."""
    found = {}
    for way, source in (("http", browser), ("file", offline)):
        tab = source.new_page(viewport=WIDE, reduced_motion="reduce")
        found[way] = (tab, listen_closely(tab, addresses[way]))
    yield found
    for tab, _ in found.values():
        tab.close()


@pytest.fixture(scope="module")
def opened(request, tabs, addresses):
    """A page, opened once for all tests of it."""
    way, name = request.param
    tab, wrong = tabs[way]
    tab.set_viewport_size(WIDE)
    wrong.clear()
    tab.goto(f"{addresses[way]}/{name}")
    tab.evaluate(MATHS_IS_SET)
    tab.evaluate("() => document.fonts.ready.then(() => null)")
    return tab, wrong


def each(*ways: str):
    cases = [(way, name) for way in ways for name in pages()]
    return pytest.mark.parametrize("opened", cases, indirect=True, ids=[f"{way}-{name}" for way, name in cases])


def test_the_toc_and_the_built_pages_are_the_same():
    built = {path.relative_to(HTML).as_posix() for path in HTML.rglob("*.html")}
    own = {page for page in built if not page.startswith("_")} - {"index.html", "search.html", "genindex.html"}
    assert own == set(pages()) and len(own) > 30


def test_the_network_is_off(browser, offline, addresses):
    """What the pages below prove from disk, they prove without any other machine, and without this one's ports."""
    page = offline.new_page()
    for address in (addresses["http"], "https://example.org"):
        with pytest.raises(Error, match="ERR_NAME_NOT_RESOLVED"):
            page.goto(address)
    page.close()


@each("http", "file")
def test_a_page_comes_up_whole(opened):
    page, wrong = opened
    assert page.locator("article h1").count() == 1 and page.locator("main").inner_text().strip()
    assert page.locator("mjx-merror").count() == 0, "an equation does not parse"
    assert page.locator("main img").evaluate_all("all => all.filter(i => i.complete && !i.naturalWidth).length") == 0
    assert wrong == []


@each("http")
def test_axe_finds_no_serious_fault(opened):
    """All rules in light; in dark those that depend on colours."""
    page, _ = opened
    page.set_viewport_size(WIDE)
    page.wait_for_function(REACHABLE)
    page.add_style_tag(content=STILL)
    page.evaluate(THIN)
    for theme, options in (("light", AXE), ("dark", AXE | COLOURS)):
        page.evaluate("theme => { document.documentElement.dataset.theme = theme; }", theme)
        found = Axe().run(page, options=options).response["violations"]
        serious = {
            f"{fault['id']}: {node['html'][:120]} {[check['message'] for check in node['any']][:1]}"
            for fault in found
            if fault["impact"] in ("serious", "critical") and fault["id"] not in ACCEPTED
            for node in fault["nodes"]
        }
        assert serious == set(), theme


@each("file")
def test_a_page_fits_a_phone(opened):
    page, _ = opened
    for width in PHONES:
        page.set_viewport_size({"width": width, "height": 800})
        with contextlib.suppress(Error):  # drawings follow a change of width a moment later
            page.wait_for_function(f"() => ({OVER})() <= 0", timeout=3000)
        assert page.evaluate(OVER) <= 0, f"scrolls sideways at {width} px"


@each("file")
def test_a_page_on_paper_is_the_text_alone(opened):
    page, _ = opened
    page.emulate_media(media="print")
    try:
        assert page.locator(NOT_ON_PAPER).evaluate_all("all => all.filter(e => e.checkVisibility()).length") == 0
        colour = page.evaluate("() => getComputedStyle(document.querySelector('main')).color")
        assert max(map(int, re.findall(r"\d+", colour)[:3])) < 90, "dark letters, whatever the screen shows"
    finally:
        page.emulate_media(media="screen")


@cache
def soup(path):
    return BeautifulSoup(path.read_bytes(), "lxml")


@cache
def anchors(path) -> set[str]:
    return {tag["id"] for tag in soup(path).find_all(id=True)}


@pytest.mark.parametrize("name", pages())
def test_links_lead_somewhere(name):
    """Every link, picture and script of the book itself: the file is there, and so is the place in it."""
    page = HTML / name
    dead = set()
    for tag in soup(page).find_all(["a", "img", "script", "link"]):
        address = tag.get("href") or tag.get("src") or ""
        if re.match(r"[a-z]+:", address) or not address:
            continue
        file, anchor = urldefrag(address)
        target = (page.parent / unquote(file.split("?")[0])).resolve() if file else page
        if not target.is_file() or (anchor and target.suffix == ".html" and unquote(anchor) not in anchors(target)):
            dead.add(address)
    assert dead == set()
