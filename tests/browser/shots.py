"""Photograph every page of the book in light, dark and phone width; complain about what a reader would.

Serves _build/html on a free loopback port, writes shots/<page>.<view>.png, and fails when a page asks another host,
misses a file, reports an error, or scrolls sideways on a phone. Run it with ``python tests/browser/shots.py``.
"""

from __future__ import annotations

import argparse
import functools
import http.server
import os
import shutil
import sys
import threading
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).resolve().parents[2]
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = [
    "--no-sandbox",  # needed where the tests run as root, as in a container
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
VIEWS = {"light": (1280, "light"), "dark": (1280, "dark"), "phone": (390, "light")}
SECONDS_PER_PAGE = 30
SECONDS_IN_ALL = 900


class Quiet(http.server.SimpleHTTPRequestHandler):
    """A file server that does not write to the terminal."""

    def log_message(self, *args):
        pass


def serve(folder: Path) -> tuple[http.server.ThreadingHTTPServer, str]:
    """Serve a folder on a free port of this machine only; the server and its address."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, f"http://127.0.0.1:{server.server_port}"


def pages(book: Path) -> list[str]:
    """The pages of the book, without the search page, the index and Sphinx's own folders."""
    found = (path.relative_to(book).as_posix() for path in sorted(book.rglob("*.html")))
    return [
        page
        for page in found
        if not page.startswith("_") and page not in ("index.html", "search.html", "genindex.html")
    ]


def listen(page: Page, address: str) -> list[str]:
    """A list that fills with everything that goes wrong while the page lives."""
    wrong: list[str] = []
    inside = (address, "data:", "blob:")
    page.on("request", lambda r: None if r.url.startswith(inside) else wrong.append(f"asks another host: {r.url}"))
    page.on("response", lambda r: wrong.append(f"{r.status}: {r.url}") if r.status >= 400 else None)
    page.on("pageerror", lambda error: wrong.append(f"script error: {error}"))
    return wrong


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
    page.evaluate("() => window.MathJax?.startup?.promise")
    page.evaluate("() => document.fonts.ready.then(() => null)")
    file = folder / f"{name.removesuffix('.html').replace('/', '-')}.{view}.png"
    page.screenshot(path=file, full_page=True, animations="disabled")
    if view == "phone":
        over = page.evaluate("() => document.documentElement.scrollWidth - document.documentElement.clientWidth")
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
    parser.add_argument("--book", type=Path, default=ROOT / "_build" / "html")
    parser.add_argument("--out", type=Path, default=ROOT / "shots")
    arguments = parser.parse_args()
    browser_path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser_path is None:
        print(f"MISSING: none of {', '.join(BROWSERS)}; scripts/install_system_packages.sh installs one.")
        return 1 if os.environ.get("CI") else 0
    names = pages(arguments.book) if arguments.book.is_dir() else []
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
