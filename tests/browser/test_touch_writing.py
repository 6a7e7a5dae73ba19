"""Touchable models of chapters 3, 10 and 11: beam search and drawing, beside the library's, by mouse and keyboard."""

import re

import pytest
from playwright.sync_api import expect

from touch_page import RUN, largest_error, status, vectors


def test_beam_finds_what_the_library_finds(visit):
    page = visit("beam", "http")
    for test in vectors(page, "beam"):
        found = page.evaluate(RUN, ["beam", test["input"]])
        kept = [one for one in found["steps"][-1] if one["kept"]]
        assert largest_error([one["logp"] for one in kept], test["logp"]) < 1e-4
        assert found["order"] == test["order"]
        assert "texts" not in test or [" ".join(one["tokens"]) for one in kept] == test["texts"]


def test_beam_by_mouse_and_by_keyboard(visit):
    page = visit("beam")
    width, power = page.get_by_role("slider", name="Width of the beam"), page.get_by_role("slider", name="α")
    following, end = page.get_by_role("button", name="Next step"), page.get_by_role("button", name="To the end")
    assert status(page).startswith("Step 1: 3 kept. The best one dropped is the empty sentence with -2.24")
    expect(page.locator("rect.touch-node")).to_have_count(1 + 5)
    following.click()
    assert "“when nobody” leads" in status(page)
    expect(page.locator("rect.touch-node")).to_have_count(1 + 10)
    end.focus()
    page.keyboard.press("Enter")
    assert "Over after 31 steps: 3 kept, all ended" in status(page) and "certain” wins" in status(page)
    expect(following).to_be_disabled()
    width.focus()
    page.keyboard.press("ArrowRight")
    assert "4 kept, all ended" in status(page) and "the empty sentence wins" in status(page)
    power.focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    assert "α = 0.15 the empty sentence wins" in status(page)
    page.keyboard.press("ArrowRight")
    assert "31 tokens with the end" in status(page)
    assert page.locator(".touch-first td").first.inner_text() == "★ wins"
    page.get_by_role("button", name="Again").click()
    assert status(page).startswith("Nothing is said yet")
    page.get_by_role("slider", name="Steps done").fill("20")
    assert status(page).startswith("Step 20: 4 kept, 1 of them ended")
    page.locator(".touch-hit").first.click()
    assert status(page).startswith("Step 1") and not status(page).startswith("Step 20")


@pytest.mark.parametrize("model", [1, 2])
def test_beam_over_stored_trees(visit, model):
    """Every width that a tree holds, from the first step to the last."""
    page = visit("beam")
    page.get_by_role("combobox", name="Model").select_option(str(model))
    page.get_by_role("button", name="To the end").click()
    best = []
    for k in range(1, page.evaluate("model => touch.data.beam.models[model].widest", model) + 1):
        page.get_by_role("slider", name="Width of the beam").fill(str(k))
        assert f": {k} kept" in status(page)
        expect(page.locator(".touch-beginnings tbody tr")).to_have_count(k + 2)
        best.append(float(re.search(r"log-probability (-[\d.]+)", status(page))[1]))
    assert best == sorted(best)


def test_sampling_computes_what_torch_computes(visit):
    page = visit("sampling", "http")
    for test in vectors(page, "sampling"):
        found = page.evaluate(RUN, ["sampling", test["input"]])
        assert largest_error(found["logits"], test["logits"]) < 1e-4
        assert largest_error(found["probabilities"], test["probabilities"]) < 1e-4
        assert found["written"] == test["written"]


def test_sampling_by_mouse_and_by_keyboard(visit):
    page = visit("sampling")
    sliders = {name: page.get_by_role("slider", name=name) for name in ("Temperature", "Top-k", "Top-p", "Seed")}
    letters = page.evaluate("() => touch.data.sampling.letters.length")
    assert f"All {letters} letters stay" in status(page)
    sliders["Top-k"].focus()
    page.keyboard.press("Home")
    assert f"is drawn with 100 %. 1 of {letters} letters stays" in status(page)
    for _ in range(2):
        page.keyboard.press("ArrowRight")
    assert f"3 of {letters} letters stay" in status(page)
    expect(page.locator(".touch-drawing .touch-minus")).to_have_count(3)
    assert page.locator(".touch-guesses tbody tr").last.inner_text().count("cut") == 5
    sliders["Top-k"].fill(str(letters))
    sliders["Top-p"].fill("0.5")
    model = page.evaluate("() => touch.softmax(touch.data.sampling.tests[1].logits).sort((a, b) => b - a)")
    kept = next(n for n in range(1, letters) if sum(model[:n]) >= 0.5)
    assert f"{kept} of {letters} letters stay" in status(page)
    sliders["Top-p"].fill("1")
    shares = []
    for temperature in ("0.5", "1", "2"):
        sliders["Temperature"].fill(temperature)
        shares.append(float(re.search(r"drawn with ([\d.]+) %", status(page))[1]))
    assert shares == sorted(shares, reverse=True)
    page.get_by_role("textbox", name="Beginning of the text").fill("漢")
    assert status(page).startswith("At the beginning of a verse") and "never seen them: 漢" in status(page)


def test_sampling_writes_the_same_with_the_same_seed(visit):
    page = visit("sampling")
    written, beginning = page.locator(".touch-written"), page.evaluate("() => touch.data.sampling.example")

    def text(button: str) -> str:
        page.evaluate("() => document.querySelector('.touch-said').textContent = ''")
        page.get_by_role("button", name=button).click()
        expect(page.locator(".touch-said")).to_contain_text("240 letters are written", timeout=60_000)
        return written.inner_text()

    page.get_by_role("slider", name="Temperature").fill("0.5")
    first, other = text("Let it write"), text("Next seed")
    assert first.startswith(beginning) and first != other
    page.get_by_role("slider", name="Seed").fill("1")
    assert text("Let it write") == first
    page.get_by_role("slider", name="Top-k").fill("1")
    greedy = text("Let it write")
    assert greedy == text("Next seed") and "100 % of them were the likeliest letter" in status(page)
