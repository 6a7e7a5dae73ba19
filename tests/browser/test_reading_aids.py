"""Hover texts and the notation card in a real browser: mouse, keyboard, without scripts, from a file, on a phone."""

import json

import pytest
import yaml
from playwright.sync_api import expect

from book import HTML, ROOT, listen

CHAPTER = "chapters/04_lstm_gru/lstm_gru.html"


@pytest.fixture
def read(offline, addresses):
    """Opens a page of the book from the disk; at the end nothing may have gone wrong in it."""
    opened, wrong = [], []

    def go(name: str, width: int = 1280, **options):
        page = offline.new_page(viewport={"width": width, "height": 900}, **options)
        opened.append(page)
        wrong.append(listen(page, addresses["file"]))
        page.goto(f"{addresses['file']}/{name}", wait_until="load")
        return page

    yield go
    for page in opened:
        page.close()
    assert [fault for faults in wrong for fault in faults] == []


def inside(page, selector: str) -> bool:
    box, width = page.locator(selector).bounding_box(), page.viewport_size["width"]
    return box["x"] >= 0 and box["x"] + box["width"] <= width


@pytest.mark.parametrize("kind", ["aid-term", "aid-cite"])
@pytest.mark.parametrize("width", [1280, 390])
def test_a_hover_text_shows_for_mouse_and_keyboard_and_goes_away(read, kind, width):
    page = read(CHAPTER, width)
    link, tip = page.locator(f"a.{kind}").first, page.locator("#aid-tip")
    expect(tip).to_be_hidden()
    link.hover()
    expect(tip).to_be_visible()
    assert inside(page, "#aid-tip") and len(tip.inner_text()) > 20
    assert link.get_attribute("aria-describedby") == "aid-tip"
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()
    link.focus()
    expect(tip).to_be_visible()
    page.keyboard.press("Tab")
    expect(link).not_to_have_attribute("aria-describedby", "aid-tip")


def test_a_term_leads_to_its_entry(read):
    page = read(CHAPTER)
    link = page.locator("a.aid-term").first
    said = link.get_attribute("data-tip")
    link.click()
    page.wait_for_url("**/docs/glossary.html#*")
    entry = page.locator(f"section#{page.url.split('#')[1]}")
    expect(entry).to_be_in_viewport()
    assert said in entry.inner_text()


def test_without_scripts_links_keep_their_titles_and_the_card_opens(read):
    page = read(CHAPTER, java_script_enabled=False)
    assert len(page.locator("a.aid-term").first.get_attribute("title")) > 20
    page.click("button[popovertarget=notation-card] >> nth=0")
    expect(page.locator("#notation-card")).to_be_visible()


@pytest.mark.parametrize("name", [CHAPTER, "docs/data.html", "play/beam.html", "intro.html"])
@pytest.mark.parametrize("width", [1280, 390])
def test_the_notation_card_is_at_hand_by_keyboard(read, name, width):
    page = read(name, width)
    card = page.locator("#notation-card")
    expect(card).to_be_hidden()
    page.locator(".aid-notation-button").focus()
    page.keyboard.press("Enter")
    expect(card).to_be_visible()
    assert inside(page, "#notation-card")
    for words in ("batch: sequences side by side", "Masks are boolean", "input to hidden"):
        assert words in card.inner_text()
    page.keyboard.press("Escape")
    expect(card).to_be_hidden()


def test_the_map_leads_to_chapters_and_parts(read):
    page = read("intro.html")
    assert page.locator("svg.aid-map a").count() == 18
    page.locator("svg.aid-map a", has_text="The Transformer").click()
    page.wait_for_url("**/chapters/09_transformer/transformer.html")


def test_a_footnote_stands_in_the_margin_beside_its_line(read):
    page = read(CHAPTER)
    note, text = page.locator("span.sidenote").first, page.locator("article.bd-article").first
    assert note.bounding_box()["x"] > text.bounding_box()["x"] + text.bounding_box()["width"] - 40
    called = page.locator("label.margin-toggle").first.bounding_box()["y"]
    assert abs(note.bounding_box()["y"] - called) < 60
    narrow = read(CHAPTER, 390)
    expect(narrow.locator("span.sidenote").first).to_be_visible()
    assert inside(narrow, "span.sidenote >> nth=0")


def test_equations_carry_chapter_and_number_and_are_found_by_name(read, browser, addresses):
    page = read("docs/equations.html")
    page.get_by_role("link", name="(4.1)").click()
    page.wait_for_url("**/lstm_gru.html#equation-eq-lstm-gates")
    assert page.locator("#equation-eq-lstm-gates .eqno").inner_text().startswith("(4.1)")
    for words in ("LSTM forget gate equation", "eq-lstm-gates"):
        found = browser.new_page()
        found.goto(f"{addresses['http']}/search.html?q={words.replace(' ', '+')}")
        expect(found.locator("#search-results a[href*='docs/equations.html']").first).to_be_visible()
        expect(found.locator("#search-results a[href*='lstm_gru.html']").first).to_be_visible()
        found.close()


def test_the_download_is_the_student_edition(read):
    page = read(CHAPTER)
    with page.context.expect_page() as opened:
        page.locator("a.btn-download-source-button").evaluate("link => link.click()")
    opened.value.wait_for_load_state()
    assert opened.value.url.endswith("/lstm_gru.ipynb")
    notebook = json.loads(opened.value.locator("body").inner_text())
    assert notebook["nbformat"] == 4 and "raise NotImplementedError" in opened.value.locator("body").inner_text()


def test_no_service_is_named_while_the_book_has_no_address():
    assert yaml.safe_load((ROOT / "_config.yml").read_text("utf8"))["repository"]["url"] == ""
    text = (HTML / CHAPTER).read_text("utf8")
    assert "mybinder" not in text and "colab" not in text and "fa-rocket" not in text
