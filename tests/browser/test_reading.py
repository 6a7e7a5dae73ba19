"""What helps a reader, in a real browser, from http and from disk: quiz, guesses, ticks, keys, search, no scripts."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from book import HTML, listen_closely, pages

CHAPTER, NEXT = "chapters/04_lstm_gru/lstm_gru.html", "chapters/05_deep_bidirectional/deep_bidirectional.html"
CHAPTERS = [name for name in pages() if name.startswith("chapters/")]
FULL = """const keep = Storage.prototype.setItem;
Storage.prototype.setItem = function (key, value) {
    if (key === 'unrolled-read') throw new DOMException('no', 'QuotaExceededError');
    keep.call(this, key, value);
};"""
SHOWN = "all => all.filter(e => e.checkVisibility()).map(e => e.textContent.trim())"


@pytest.fixture(params=["http", "file"])
def read(request, browser, offline, addresses):
    """Opens pages in one reader's browser, with one memory; at the end nothing may have gone wrong in them."""
    context = (browser if request.param == "http" else offline).new_context(reduced_motion="reduce")
    wrong = []

    def go(name: str, page=None):
        page = page or context.new_page()
        wrong.append(listen_closely(page, addresses[request.param]))
        page.goto(f"{addresses[request.param]}/{name}")
        return page

    go.way, go.context = request.param, context
    yield go
    context.close()
    assert [fault for faults in wrong for fault in faults] == []


def options(page):
    """The options of the quizzes of a chapter, right and wrong."""
    return page.locator("details:not(.reveal, .hide, .toggle-details):has(> summary)")


def test_quiz_right_and_wrong(read):
    page = read(CHAPTER)
    right = options(page).filter(has_text="It stays exactly as it is").first
    wrong = options(page).filter(has_text="It is erased").first
    for option, words in ((wrong, "No. In spite of its name"), (right, "Right: the cell is copied")):
        assert not option.evaluate(
            "e => [...e.childNodes].some(n => n.nodeName !== 'SUMMARY' && n.checkVisibility?.())"
        )
        option.locator("summary").focus()
        page.keyboard.press("Enter")
        expect(option).to_have_attribute("open", "")
        expect(option).to_contain_text(words)


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_guess_comes_before_its_answer(name, browser, addresses):
    page = browser.new_page()
    page.goto(f"{addresses['file']}/{name}", wait_until="domcontentloaded")
    folded = page.locator("details.reveal")
    assert folded.count() >= 1
    first = folded.first
    assert first.locator("> :not(summary)").evaluate_all(SHOWN) == []
    first.locator("> summary").focus()
    page.keyboard.press("Enter")
    assert first.locator("> :not(summary)").evaluate_all(SHOWN) != []
    page.close()


def test_ticks_survive_a_reload(read):
    page = read(CHAPTER)
    ticks = page.get_by_role("button", name="Section read: ")
    assert ticks.count() >= 10
    first = page.get_by_role("button", name="Section read: Erase, write, read")
    expect(first).to_have_attribute("aria-pressed", "false")
    first.focus()
    page.keyboard.press("Space")
    ticks.nth(3).click()
    page.reload()
    expect(first).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#pst-page-toc-nav a.is-read")).to_have_count(2)
    expect(page.locator("#pst-page-toc-nav a[href='#erase-write-read']")).to_have_class(
        "reference internal nav-link is-read"
    )
    other = read(NEXT)
    link = other.locator(".bd-docs-nav a", has_text="4 · LSTM and GRU")
    expect(link).to_have_attribute("data-read", f"2/{ticks.count()}")
    ticks.evaluate_all("all => all.filter(tick => tick.ariaPressed === 'false').forEach(tick => tick.click())")
    expect(link).to_have_class("reference internal is-read")  # the other tab hears of it
    first.click()
    expect(first).to_have_attribute("aria-pressed", "false")
    page.reload()
    expect(first).to_have_attribute("aria-pressed", "false")


def test_a_browser_that_keeps_nothing(read):
    read.context.add_init_script(FULL)
    page = read("play/unroll.html")
    tick = page.get_by_role("button", name="Page read: ")
    tick.click()
    expect(tick).to_have_attribute("aria-pressed", "true")
    page.reload()
    expect(tick).to_have_attribute("aria-pressed", "false")


def test_arrows_turn_the_page(read):
    page = read(CHAPTER)
    expect(page.locator(".extra_footer")).to_contain_text("The keys ← and → turn the page.")
    for key, title in (("ArrowRight", "5 · Deep"), ("ArrowLeft", "4 · LSTM")):
        page.keyboard.press(key)
        expect(page.locator("article h1")).to_contain_text(title)
        page.wait_for_function("() => document.readyState === 'complete'")


def test_arrows_do_not_turn_the_page_while_they_move_something(read):
    page = read("play/unroll.html")
    page.wait_for_selector(".touch-live .touch-said:not(:empty)")
    page.locator(".touch input").first.focus()
    for place in (".touch input[type=range]", ".touch [tabindex='0']", ".touch select"):
        for part in page.locator(place).all()[:1]:
            part.focus()
            page.keyboard.press("ArrowRight")
    page.wait_for_timeout(200)
    assert page.url.endswith("play/unroll.html")


def test_search(read):
    """From http each find comes with the words around it; a page from disk may not read other files: titles only."""
    page = read("search.html?q=peephole")
    finds = page.locator("#search-results ul.search li")
    expect(finds.first).to_be_visible()
    expect(page.locator("#search-results")).to_contain_text("4 · LSTM and GRU")
    if read.way == "http":
        expect(page.locator("#search-results .context").first).to_contain_text("peephole", ignore_case=True)
    else:
        expect(page.locator("#search-results .context")).to_have_count(0)
    finds.locator("a").first.click()
    expect(page.locator("article h1")).to_be_visible()


@pytest.mark.parametrize("name", [CHAPTER, "intro.html", "docs/claims.html"])
def test_a_page_is_readable_without_scripts(name, offline):
    page = offline.new_page(java_script_enabled=False)
    page.goto(f"{HTML.as_uri()}/{name}")
    expect(page.locator("article h1")).to_be_visible()
    assert page.locator("main p:visible").count() > 5
    expect(page.locator(".bd-docs-nav a", has_text="9 · The Transformer")).to_be_visible()
    expect(page.locator(".tick").filter(visible=True)).to_have_count(0)  # what needs scripts does not show
    if name == CHAPTER:
        expect(page.locator("figure img").filter(visible=True).first).to_be_visible()
        option = options(page).first
        option.locator("summary").click()
        expect(option).to_have_attribute("open", "")
    page.close()
