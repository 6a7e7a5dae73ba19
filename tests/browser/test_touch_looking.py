"""Touchable models of chapters 1, 2, 4 and 7 to 9: PyTorch's numbers in the page, by mouse and by keyboard."""

import re

import pytest
from playwright.sync_api import expect

from touch_page import RUN, largest_error, status, vectors


def test_unroll_computes_what_torch_computes(visit):
    page = visit("unroll", "http")
    for test in vectors(page, "unroll"):
        found = page.evaluate(RUN, ["unroll", test["input"]])
        assert largest_error(found["states"][1:], test["states"]) < 1e-4
        assert largest_error(found["probabilities"], test["probabilities"]) < 1e-4


def test_unroll_by_mouse_and_by_keyboard(visit):
    page = visit("unroll")
    test = vectors(page, "unroll")[0]
    assert "state is all zeros" in status(page)
    page.get_by_role("button", name="Step").click()
    assert status(page).startswith("Step 1 of 11, word “the”")
    page.get_by_role("button", name="Read to the end").click()
    shown = [float(n) for n in re.findall(r"-?\d\.\d\d", status(page))]
    assert largest_error(shown, [*test["states"][-1], test["probabilities"][-1][0]]) <= 0.005 + 1e-4
    slider = page.get_by_role("slider", name="Words read")
    slider.focus()
    for _ in range(3):
        page.keyboard.press("ArrowLeft")
    assert status(page).startswith("Step 8 of 11, word “then”")
    page.get_by_role("textbox", name="Sentence").fill("a real zebra treat")
    page.keyboard.press("Tab")
    assert "left out: zebra" in status(page)
    page.locator(".touch-hit").nth(3).click()
    assert status(page).startswith("Step 3 of 3, word “treat”")
    page.get_by_role("combobox", name="Unit in the table").select_option("unit 5")
    numbers = [float(cell.replace("−", "-")) for cell in page.locator(".touch tbody td").all_inner_texts()]
    assert abs(sum(numbers[:3]) - numbers[3]) < 0.02
    page.get_by_role("textbox", name="Sentence").fill("")
    assert "Write some words" in status(page)


def test_radius_computes_what_torch_computes(visit):
    page = visit("radius", "http")
    for test in vectors(page, "radius"):
        lengths = page.evaluate(RUN, ["radius", test["input"]])["lengths"]
        assert len(lengths) == len(test["lengths"])
        for ours, theirs in zip(lengths, test["lengths"], strict=True):
            assert abs(ours - theirs) < 1e-4 * max(theirs, 1e-30)  # relative: they span many powers of ten


def test_radius_by_keyboard_and_mouse(visit):
    page = visit("radius")
    radius = page.get_by_role("slider", name="Spectral radius")
    assert status(page).startswith("ρ = 0.90") and "vanished" in status(page)
    radius.focus()
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    assert status(page).startswith("ρ = 1.10")
    page.keyboard.press("End")
    assert status(page).startswith("ρ = 3.00")
    page.get_by_role("combobox", name="Matrix").select_option("orthogonal (a rotation)")
    radius.fill("1")
    assert "1.00 without" in status(page)
    box = page.get_by_role("slider", name="Steps back").bounding_box()
    page.mouse.click(box["x"] + 2, box["y"] + box["height"] / 2)
    assert "5 steps back" in status(page)


@pytest.mark.parametrize("file", ["gates", "gates_gru"])
def test_gates_compute_what_torch_computes(visit, file):
    page = visit("gates", "http")
    page.get_by_role("radio", name="GRU").check()
    page.wait_for_function("() => touch.data.gates_gru")
    for test in vectors(page, file):
        found = page.evaluate(
            "([file, input]) => touch.models.gates.compute(touch.data[file], input)", [file, test["input"]]
        )
        for part, values in test["last"].items():
            assert largest_error(found[-1][part], values) < 1e-4, part
            means = [sum(step[part]) / len(step[part]) for step in found]
            assert largest_error(means, test["means"][part]) < 1e-4
        assert largest_error(found[-1]["next"], test["next"]) < 1e-4


def test_gates_over_a_sentence_that_is_typed(visit):
    page = visit("gates")
    entry = page.get_by_role("textbox", name="Write something")
    entry.fill("")
    assert "Write a sentence" in status(page)
    entry.press_sequentially("In the beginning 漢")
    assert "never seen them: 漢" in status(page) and "Letter 17 of 17, space" in status(page)
    read = page.get_by_role("slider", name="Letters read")
    read.focus()
    page.keyboard.press("Home")
    assert "Letter 1 of 17, “I”" in status(page)
    test = next(test for test in vectors(page, "gates") if test["input"]["text"].startswith("In the beginning "))
    for letters in range(2, 17):
        page.keyboard.press("ArrowRight")
        shown = [float(n) for n in re.findall(r"(?:keep|write|read) (\d\.\d\d)", status(page))]
        assert largest_error(shown, [test["means"][gate][letters - 1] for gate in "fio"]) <= 0.005 + 1e-4
    page.locator(".touch-hit").nth(2).click()
    assert "Letter 3 of 17, space" in status(page)
    page.get_by_role("radio", name="GRU").check()
    expect(page.locator(".touch-said")).to_contain_text("update")
    page.get_by_role("combobox", name="Show").select_option("r: reset")


def test_attention_computes_what_torch_computes(visit):
    page = visit("attention", "http")
    page.get_by_role("combobox", name="Network").select_option("digits")
    page.wait_for_function("() => touch.data.attention_digits")
    run = "([file, input]) => touch.models.attention.compute(touch.data[file], input)"
    for file in ("attention", "attention_digits"):
        for test in vectors(page, file):
            found = page.evaluate(run, [file, test["input"]])
            assert largest_error(found["weights"], test["weights"]) < 1e-4
            for part in ("roles", "logits"):
                if part in test:
                    assert largest_error(found[part], test[part]) < 1e-4


def test_attention_by_mouse_and_by_keyboard(visit):
    page = visit("attention")
    page.get_by_role("combobox", name="Network").select_option("latin")
    page.get_by_role("combobox", name="Sentence").select_option("monstrat puella semper puerum patri")
    assert status(page).startswith("“monstrat” looks at “puella” 0.99")
    page.locator(".touch-words label").nth(2).hover()
    assert status(page).startswith("“semper” looks at")
    page.locator(".touch-words input").nth(2).focus()
    page.keyboard.press("ArrowUp")
    assert status(page).startswith("“puella” looks at")
    page.keyboard.press("ArrowUp")
    page.get_by_role("checkbox", name="close the future").focus()
    page.keyboard.press("Space")
    assert status(page).startswith("“monstrat” looks at “monstrat” 1.00")
    page.get_by_role("textbox", name="Or write your own").fill("zebra puella puero")
    assert "No verb" in status(page)
    page.get_by_role("textbox", name="Or write your own").fill("")
    assert "Write some" in status(page)
    page.get_by_role("combobox", name="Network").select_option("digits")
    expect(page.locator(".touch-said")).to_contain_text("It says")
    page.get_by_role("checkbox", name="close the future").uncheck()
    page.get_by_role("textbox", name="Or write your own").fill("70269")
    assert "5 of 5 right" in status(page)
    page.get_by_role("checkbox", name="close the pads").uncheck()
    assert "0 of 5 right" in status(page)


@pytest.mark.parametrize("source", ["verses", "letters", "transformer"])
def test_attention_over_pairs(visit, source):
    """Every pair of a trained translator, and of the Transformer every part, layer and head."""
    page = visit("attention")
    page.get_by_role("combobox", name="Network").select_option(source)
    for entry, pair in enumerate(page.evaluate("name => touch.data.attention[name]", source)):
        page.get_by_role("combobox", name="Sentence").select_option(str(entry))
        assert page.locator(".touch-words label").all_inner_texts() == pair["written"]
        if source == "transformer":
            for part in ("encoder", "decoder", "cross"):
                page.get_by_role("combobox", name="Part").select_option(part)
                page.get_by_role("combobox", name="Layer").select_option("1")
                page.get_by_role("combobox", name="Head").select_option("3")
                top = max(pair[part][1][3][0])
                assert f" {top:.2f}" in status(page)
        else:
            assert f"{max(pair['weights'][0]):.2f}" in status(page)


def test_bugs_one_after_the_other(visit):
    page = visit("bugs")
    programs = page.evaluate("() => touch.data.bugs.programs")
    assert len(programs) == 7
    expect(page.locator(".touch table")).to_be_hidden()
    page.get_by_role("button", name="Run the probes").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".touch table")).to_be_visible()
    for name, program in programs.items():
        page.get_by_role("radio", name=name).check()
        verdicts = page.locator(".touch-probes td:last-child").all_inner_texts()
        assert len(verdicts) == 4
        assert all("holds" in verdict for verdict in verdicts) == (name == "correct")
        if name != "correct":
            assert program["says"] in page.locator(".touch-probes").inner_text()
            assert "fails" in verdicts[-1]
    page.get_by_role("radio", name="correct").focus()
    page.keyboard.press("ArrowDown")
    assert status(page).startswith(f"“{list(programs)[1]}”")
    page.get_by_role("combobox", name="Weights of").select_option("head 3")


def test_bugs_end_where_the_chapter_says(visit):
    """The run of the page is one seed of the chapter's measurement, looked at on some of its verses."""
    page = visit("bugs")
    for name, program in page.evaluate("() => touch.data.bugs.programs").items():
        stored = program["stored"]["future there"][0]
        assert abs(program["there"][-1] - stored) < 0.15, name
