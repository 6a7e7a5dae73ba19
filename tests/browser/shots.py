"""Photograph every page of the book in light, dark and phone width; complain about what a reader would.

Serves _build/html on a free loopback port, writes shots/<page>.<view>.png, and fails when a page asks another host,
misses a file, reports an error, or scrolls sideways on a phone. Run it with ``python tests/browser/shots.py``.
"""

from __future__ import annotations

import argparse
import os
import sys
import threading
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from book import ARGUMENTS, BROWSERS, HTML, MATHS_IS_SET, OVER, ROOT, find_browser, listen, pages, serve

VIEWS = {"light": (1280, "light"), "dark": (1280, "dark"), "phone": (390, "light")}
SECONDS_PER_PAGE = 30
SECONDS_IN_ALL = 900


def widest(page: Page) -> str:
    """The elements that stick out on the right, for the message."""
    return page.evaluate(
        """() => [...document.querySelectorAll('main *')]
            .filter(e => e.getBoundingClientRect().right > innerWidth + 1).slice(0, 3)
            .map(e => e.tagName.toLowerCase() + (e.className ? '.' + String(e.className).split(' ').join('.') : ''))
            .join(', ')"""
    )


def photograph(browser, address: str, name: str, view: str, folder: Path) -> list[str]:
    """Write one picture; return what is wrong with the page."""
    width, scheme = VIEWS[view]
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce")
    page.set_default_timeout(SECONDS_PER_PAGE * 1000)
    wrong = listen(page, address)
    page.goto(f"{address}/{name}", wait_until="load")
    page.evaluate(MATHS_IS_SET)
    page.evaluate("() => document.fonts.ready.then(() => null)")
    file = folder / f"{name.removesuffix('.html').replace('/', '-')}.{view}.png"
    page.screenshot(path=file, full_page=True, animations="disabled")
    if view == "phone":
        over = page.evaluate(OVER)
        if over > 0:
            wrong.append(f"scrolls sideways by {over} px: {widest(page)}")
    if page.locator("mjx-merror").count():
        wrong.append("an equation does not parse")
    page.close()
    return [f"{name} ({view}): {fault}" for fault in dict.fromkeys(wrong)]


def stop() -> None:
    """End this process even if the browser hangs; the browser ends with it."""
    print(f"No end after {SECONDS_IN_ALL} s.", file=sys.stderr, flush=True)
    os._exit(3)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--book", type=Path, default=HTML)
    parser.add_argument("--out", type=Path, default=ROOT / "shots")
    arguments = parser.parse_args()
    browser_path = find_browser()
    if browser_path is None:
        print(f"MISSING: none of {', '.join(BROWSERS)}; scripts/install_system_packages.sh installs one.")
        return 1 if os.environ.get("CI") else 0
    names = [name for name in pages() if (arguments.book / name).is_file()]
    if not names:
        print(f"No pages in {arguments.book}: run `make html` first.")
        return 2
    arguments.out.mkdir(parents=True, exist_ok=True)
    clock = threading.Timer(SECONDS_IN_ALL, stop)
    clock.daemon = True
    clock.start()
    server, address = serve(arguments.book)
    faults = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=ARGUMENTS)
        for name in names:
            for view in VIEWS:
                faults += photograph(browser, address, name, view, arguments.out)
        browser.close()
    server.shutdown()
    clock.cancel()
    print(*faults, f"{len(names)} pages in {len(VIEWS)} views, {len(faults)} faults", sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
