"""The touchable pages in a real browser: from http and from a file, by keyboard, without scripts, dark, on a phone."""

import itertools

import pytest
from playwright.sync_api import expect

from book import HTML, OVER
from touch_page import MODELS


def test_every_model_has_its_files():
    for name in itertools.chain(*MODELS.values()):
        for file in (f"{name}.js", f"data/{name}.js", f"pictures/{name}.svg"):
            assert (HTML / "touch" / file).is_file(), file
    assert all(path.stat().st_size <= 200_000 for path in (HTML / "touch").rglob("*.js"))


def test_only_these_pages_load_the_models():
    pages = [path for path in HTML.rglob("*.html") if "touch/touch.js" in path.read_text("utf8")]
    assert sorted(path.relative_to(HTML).as_posix() for path in pages) == [f"play/{name}.html" for name in MODELS]
    assert not list((HTML / "_static").rglob("touch*"))


@pytest.mark.parametrize("way", ["http", "file"])
@pytest.mark.parametrize("name", MODELS)
def test_a_page_comes_up_without_a_jump(visit, name, way):
    page = visit(name, way)
    expect(page.locator(".touch img")).to_have_count(0)
    page.wait_for_timeout(300)
    assert page.evaluate("window.shifts") < 0.05
    assert page.evaluate(OVER) == 0


@pytest.mark.parametrize("name", MODELS)
def test_controls_have_names(visit, name):
    """Every control by its accessible name, and words for what the drawing shows."""
    page = visit(name)
    for control in page.locator(".touch :is(input, select, button, [role=button])").all():
        assert control.evaluate("e => (e.labels?.length ? e.labels[0] : e).textContent").strip()
    for drawing in page.locator(".touch svg:not([aria-hidden])").all():
        assert drawing.get_attribute("role") == "img" and len(drawing.get_attribute("aria-label")) > 20
    for place in page.locator(".touch").all():
        expect(place.locator("[aria-live=polite]")).to_have_count(1)


@pytest.mark.parametrize("name", MODELS)
def test_focus_is_visible_and_leaves_again(visit, name):
    page = visit(name)
    page.evaluate("() => { const h = document.querySelector('article h1'); h.tabIndex = -1; h.focus(); }")
    inside = dict.fromkeys(MODELS[name], 0)
    for _ in range(120):
        page.keyboard.press("Tab")
        where = page.evaluate("() => document.activeElement.closest('.touch')?.dataset.touch")
        if where:
            inside[where] += 1
            width = page.evaluate("() => parseFloat(getComputedStyle(document.activeElement).outlineWidth)")
            assert width >= 2
        elif all(inside.values()):
            break
    else:
        pytest.fail("the focus does not leave the models")
    assert min(inside.values()) >= 2


@pytest.mark.parametrize("name", MODELS)
def test_without_scripts_the_picture_is_there(visit, name):
    page = visit(name, scripts=False)
    expect(page.locator(".touch img")).to_have_count(len(MODELS[name]))
    for place in page.locator(".touch").all():
        picture = place.locator("img")
        expect(picture).to_be_visible()
        box = picture.bounding_box()
        assert box["width"] > 300 and box["height"] > 120
        assert len(picture.get_attribute("alt")) > 40
        expect(place.locator("p")).to_be_visible()


@pytest.mark.parametrize("name", MODELS)
def test_dark_and_phone(visit, name):
    colour = "() => getComputedStyle(document.querySelector('.touch svg text')).fill"
    light, dark = (visit(name, color_scheme=scheme).evaluate(colour) for scheme in ("light", "dark"))
    assert light != dark
    page = visit(name, viewport={"width": 360, "height": 740}, color_scheme="dark")
    assert page.evaluate(OVER) == 0
    for control in page.locator(".touch :is(button, select, input[type=text], input[type=range]):visible").all():
        box = control.bounding_box()
        assert box["height"] >= 24 and box["x"] >= 0 and box["x"] + box["width"] <= 361
