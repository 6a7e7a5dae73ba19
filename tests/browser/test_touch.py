"""The touchable models in a real browser: PyTorch's numbers, mouse and keyboard, from http and from a file, without
scripts, dark, and on a phone."""

import os
import re

import pytest
from playwright.sync_api import expect, sync_playwright

from lab import find_browser
from shots import ARGUMENTS, ROOT, listen, serve

HTML = ROOT / "_build" / "html"
NAMES = sorted(path.stem for path in (ROOT / "play").glob("*.md"))
SECONDS = 30
RUN = "([name, input]) => touch.models[name].compute(touch.data[name], input)"
SHIFTS = """window.shifts = 0;
new PerformanceObserver(list => list.getEntries().forEach(entry => { window.shifts += entry.value; }))
    .observe({type: 'layout-shift', buffered: true});"""
OVER = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture(scope="module")
def browser():
    path = find_browser()
    if path is None:
        message = "no browser: scripts/install_system_packages.sh installs one"
        pytest.fail(message) if os.environ.get("CI") else pytest.skip(message)
    assert (HTML / "play").is_dir(), "build the book first: make html"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def addresses():
    server, address = serve(HTML)
    yield {"http": address, "file": HTML.as_uri()}
    server.shutdown()
    server.server_close()


@pytest.fixture
def visit(browser, addresses):
    """Opens a page of play/; at the end nothing may have gone wrong in it."""
    opened, wrong = [], []

    def go(name: str, way: str = "file", scripts: bool = True, **options):
        options = {"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce"} | options
        page = browser.new_page(java_script_enabled=scripts, **options)
        opened.append(page)
        page.set_default_timeout(SECONDS * 1000)
        wrong.append(listen(page, addresses[way]))
        page.on("console", lambda message: wrong[-1].append(message.text) if message.type == "error" else None)
        if scripts:  # without them the browser gives up those it had begun to fetch
            page.on("requestfailed", lambda request: wrong[-1].append(f"failed: {request.url}"))
            page.add_init_script(SHIFTS)
        page.goto(f"{addresses[way]}/play/{name}.html", wait_until="load")
        if scripts:
            page.wait_for_selector(".touch-live .touch-said:not(:empty)")
        return page

    yield go
    for page in opened:
        page.close()
    assert [fault for faults in wrong for fault in faults] == []


def largest_error(ours, theirs) -> float:
    """The largest difference of two nested lists of numbers; their shapes must agree."""
    if isinstance(theirs, list):
        assert len(ours) == len(theirs)
        return max((largest_error(a, b) for a, b in zip(ours, theirs, strict=True)), default=0.0)
    return abs(ours - theirs)


def vectors(page, name: str) -> list[dict]:
    found = page.evaluate("name => touch.data[name].tests", name)
    assert len(found) >= 2
    return found


def status(page) -> str:
    return page.locator(".touch-said").inner_text().replace("−", "-").replace("\u00a0", " ")


def test_every_model_has_its_files():
    for name in NAMES:
        for file in (f"{name}.js", f"data/{name}.js", f"pictures/{name}.svg"):
            assert (HTML / "touch" / file).is_file(), file
    assert all(path.stat().st_size <= 200_000 for path in (HTML / "touch").rglob("*.js"))


def test_only_these_pages_load_the_models():
    pages = [path for path in HTML.rglob("*.html") if "touch/touch.js" in path.read_text("utf8")]
    assert sorted(path.relative_to(HTML).as_posix() for path in pages) == [f"play/{name}.html" for name in NAMES]
    assert not list((HTML / "_static").rglob("touch*"))


@pytest.mark.parametrize("way", ["http", "file"])
@pytest.mark.parametrize("name", NAMES)
def test_a_page_comes_up_without_a_jump(visit, name, way):
    page = visit(name, way)
    expect(page.locator(".touch img")).to_have_count(0)
    page.wait_for_timeout(300)
    assert page.evaluate("window.shifts") < 0.05
    assert page.evaluate(OVER) == 0


@pytest.mark.parametrize("name", NAMES)
def test_controls_have_names(visit, name):
    """Every control by its accessible name, and words for what the drawing shows."""
    page = visit(name)
    for control in page.locator(".touch :is(input, select, button, [role=button])").all():
        assert control.evaluate("e => (e.labels?.length ? e.labels[0] : e).textContent").strip()
    for drawing in page.locator(".touch svg:not([aria-hidden])").all():
        assert drawing.get_attribute("role") == "img" and len(drawing.get_attribute("aria-label")) > 20
    expect(page.locator(".touch [aria-live=polite]")).to_have_count(1)


@pytest.mark.parametrize("name", NAMES)
def test_focus_is_visible_and_leaves_again(visit, name):
    page = visit(name)
    page.evaluate("() => { const h = document.querySelector('h1'); h.tabIndex = -1; h.focus(); }")
    inside = 0
    for _ in range(80):
        page.keyboard.press("Tab")
        where = page.evaluate("() => Boolean(document.activeElement.closest('.touch'))")
        if where:
            inside += 1
            width = page.evaluate("() => parseFloat(getComputedStyle(document.activeElement).outlineWidth)")
            assert width >= 2
        elif inside:
            break
    else:
        pytest.fail("the focus does not leave the model")
    assert inside >= 2


@pytest.mark.parametrize("name", NAMES)
def test_without_scripts_the_picture_is_there(visit, name):
    page = visit(name, scripts=False)
    picture = page.locator(".touch img")
    expect(picture).to_be_visible()
    box = picture.bounding_box()
    assert box["width"] > 300 and box["height"] > 120
    assert len(picture.get_attribute("alt")) > 40
    expect(page.locator(".touch p")).to_be_visible()


@pytest.mark.parametrize("name", NAMES)
def test_dark_and_phone(visit, name):
    colour = "() => getComputedStyle(document.querySelector('.touch svg text')).fill"
    light, dark = (visit(name, color_scheme=scheme).evaluate(colour) for scheme in ("light", "dark"))
    assert light != dark
    page = visit(name, viewport={"width": 360, "height": 740}, color_scheme="dark")
    assert page.evaluate(OVER) == 0
    for control in page.locator(".touch :is(button, select, input[type=text], input[type=range]):visible").all():
        box = control.bounding_box()
        assert box["height"] >= 24 and box["x"] >= 0 and box["x"] + box["width"] <= 361


# ---- one model each ----
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
    page.get_by_role("combobox", name="Look at").select_option("unit 5")
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
