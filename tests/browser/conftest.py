"""Browsers, the built book in two ways, and the touchable pages opened in it."""

import os

import pytest
from playwright.sync_api import sync_playwright

from book import ARGUMENTS, HTML, NETWORK_OFF, SHIFTS, find_browser, listen, listen_closely, serve
from touch_page import READY

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
def launch(browser_path):
    """Starts browsers, and ends them."""
    assert (HTML / "play").is_dir(), "build the book first: make html"
    with sync_playwright() as playwright:
        started = []

        def go(*more: str):
            started.append(playwright.chromium.launch(executable_path=browser_path, args=[*ARGUMENTS, *more]))
            return started[-1]

        yield go
        for browser in started:
            browser.close()


@pytest.fixture(scope="module")
def browser(launch):
    """A browser that reaches this machine."""
    return launch()


@pytest.fixture(scope="module")
def offline(launch):
    """A browser that reaches nothing but the disk."""
    return launch(NETWORK_OFF)


@pytest.fixture(scope="module")
def addresses():
    server, address = serve(HTML)
    yield {"http": address, "file": HTML.as_uri()}
    server.shutdown()
    server.server_close()


@pytest.fixture
def visit(browser, offline, addresses):
    """Opens a page of play/; at the end nothing may have gone wrong in it."""
    opened, wrong = [], []

    def go(name: str, way: str = "file", scripts: bool = True, **options):
        options = {"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce"} | options
        page = {"http": browser, "file": offline}[way].new_page(java_script_enabled=scripts, **options)
        opened.append(page)
        page.set_default_timeout(SECONDS * 1000)
        # without scripts the browser gives up those it had begun to fetch
        wrong.append((listen_closely if scripts else listen)(page, addresses[way]))
        if scripts:
            page.add_init_script(SHIFTS)
        page.goto(f"{addresses[way]}/play/{name}.html", wait_until="load")
        if scripts:
            page.wait_for_function(READY)
        return page

    yield go
    for page in opened:
        page.close()
    assert [fault for faults in wrong for fault in faults] == []
