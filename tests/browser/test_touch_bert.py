"""Touchable models of chapter 12: the tiny BERT beside PyTorch's, and the throws that hide words."""

import math

from playwright.sync_api import expect

from touch_page import RUN, largest_error, status, vectors

THROWS = """([seed, rows]) => {
    const data = touch.data.masking, dice = touch.models.masking.dice(data, seed);
    for (let n = 0; n < rows; n += 1) dice.count(dice.draw());
    return dice.totals;
}"""


def test_bert_computes_what_torch_computes(visit):
    page = visit("blank", "http")
    for test in vectors(page, "blank"):
        found = page.evaluate(RUN, ["blank", test["input"]])
        asked = [found["probabilities"][place] for place in test["places"]]
        assert largest_error(asked, test["probabilities"]) < 1e-4
        if "weights" in test:
            assert largest_error(found["weights"], test["weights"]) < 1e-4


def test_blank_by_mouse(visit):
    part = visit("blank").locator("[data-touch=blank]")
    words = part.locator(".touch-line-of-words button")
    assert status(part).startswith("At the hidden word 7 it says “were” 99.3 %")
    assert "looks most at “flights” 0.97" in status(part)
    part.get_by_role("checkbox", name="switch this head off").check()
    assert "“was” 26.2 %" in status(part) and "is switched off" in status(part)
    part.get_by_role("combobox", name="Attention of").select_option("mean of all heads")
    expect(part.get_by_role("checkbox")).to_be_disabled()
    assert status(part).startswith("At the hidden word 7 it says “were” 99.3 %")
    words.nth(1).click()
    assert words.all_inner_texts()[:2] == ["the", "[MASK]"]
    assert status(part).startswith("At the hidden word 2 it says")
    words.nth(6).click()
    assert status(part).startswith("Word 7, “were”, is visible")
    part.get_by_role("combobox", name="Look at word").select_option("1")
    assert status(part).startswith("At the hidden word 2")
    part.get_by_role("combobox", name="Example").select_option("5")
    assert status(part).startswith("Word 7, “was”, is visible; there it says “were” 94.5 %")


def test_blank_over_words_that_are_typed(visit):
    part = visit("blank").locator("[data-touch=blank]")
    words, entry = part.locator(".touch-line-of-words button"), part.get_by_role("textbox")
    entry.fill("The zebra ___ full")
    assert words.all_inner_texts() == ["the", "zebra", "[MASK]", "full"]
    assert "Not among its 38 words, read as [UNK]: zebra." in status(part)
    entry.fill("the pilots were late")
    words.nth(1).focus()
    part.page.keyboard.press("Enter")
    expect(words.nth(1)).to_have_attribute("aria-pressed", "true")
    assert words.nth(1).evaluate("button => button === document.activeElement")
    assert status(part).startswith("At the hidden word 2 it says")
    part.page.keyboard.press("Tab")
    part.page.keyboard.press("Space")
    assert words.all_inner_texts() == ["the", "[MASK]", "[MASK]", "late"]
    entry.fill(" ".join(["the"] * 20))
    assert "Only the first 14 words are read" in status(part)
    entry.fill("")
    assert status(part) == "Write some of its 38 words."
    expect(words).to_have_count(0)


def test_masking_hides_what_the_library_hides(visit):
    page = visit("blank", "http")
    for test in vectors(page, "masking"):
        found = page.evaluate(RUN, ["masking", test["input"]])
        assert found["masked"] == test["masked"] and found["chosen"] == test["chosen"]
        said = page.evaluate(RUN, ["blank", {"ids": found["masked"]}])["probabilities"]
        right = [said[t][i] for t, i in enumerate(test["input"]["ids"]) if test["chosen"][t]]
        assert largest_error(right, test["right"]) < 1e-4


def test_masking_keeps_to_its_rates(visit):
    """No special token is ever chosen; shares lie within six standard deviations; a seed repeats itself."""
    page = visit("blank")
    totals = [page.evaluate(THROWS, [seed, 5000]) for seed in (1, 2, 3)]
    assert totals[0] == page.evaluate(THROWS, [1, 5000]) != totals[1]
    for found in totals:
        assert found["special"] > 20_000 and found["specialChosen"] == 0
        assert found["chosen"] == found["[MASK]"] + found["random"] + found["kept"]
        for part, whole, rate in (("chosen", "words", 0.15), ("[MASK]", "chosen", 0.8), ("random", "chosen", 0.1)):
            spread = math.sqrt(rate * (1 - rate) / found[whole])
            assert abs(found[part] / found[whole] - rate) < 6 * spread


def test_masking_step_by_step(visit):
    part = visit("blank").locator("[data-touch=masking]")
    step, counts = part.get_by_role("button", name="Step"), part.locator("tbody td:nth-child(2)")
    assert status(part).startswith("A row is drawn")
    step.click()
    assert status(part).startswith("Chosen: ")
    step.focus()
    part.page.keyboard.press("Enter")
    assert "becomes “[MASK]”. 1 row so far" in status(part)
    part.page.keyboard.press("Enter")
    assert "Loss of this row" in status(part)
    step.click()
    assert status(part).startswith("A row is drawn")
    part.get_by_role("button", name="1,000 rows").click()
    assert "1,001 rows so far" in status(part)
    seen = [int(count.replace(",", "")) for count in counts.all_inner_texts()]
    assert seen[0] == sum(seen[1:4]) > 900 and seen[4] == 0
    part.get_by_role("button", name="Again").click()
    assert counts.all_inner_texts() == ["0"] * 6
    part.get_by_role("button", name="100 rows", exact=True).click()
    first = counts.all_inner_texts()
    part.get_by_role("slider", name="Seed").fill("6")
    part.get_by_role("button", name="100 rows", exact=True).click()
    assert counts.all_inner_texts() != first
    part.get_by_role("slider", name="Seed").fill("5")
    part.get_by_role("button", name="100 rows", exact=True).click()
    assert counts.all_inner_texts() == first
