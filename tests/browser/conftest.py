"""A browser, and the touchable pages opened in it."""

import os

import pytest
from playwright.sync_api import sync_playwright

from lab import find_browser
from shots import ARGUMENTS, listen, serve
from touch_page import HTML, READY, SHIFTS

SECONDS = 30


@pytest.fixture(scope="session")
def browser_path() -> str:
    """Where the browser is."""
    path = find_browser()
    if path is None:
        message = "no browser: scripts/install_system_packages.sh installs one"
        pytest.fail(message) if os.environ.get("CI") else pytest.skip(message)
    return path


@pytest.fixture(scope="module")
def browser(browser_path):
    assert (HTML / "play").is_dir(), "build the book first: make html"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=ARGUMENTS)
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
            page.wait_for_function(READY)
        return page

    yield go
    for page in opened:
        page.close()
    assert [fault for faults in wrong for fault in faults] == []
