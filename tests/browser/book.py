"""The built book for a browser: where it lies, which pages it has, and a list of everything that goes wrong in one."""

from __future__ import annotations

import functools
import http.server
import shutil
import threading
from pathlib import Path

import yaml
from playwright.sync_api import Page

ROOT = Path(__file__).resolve().parents[2]
HTML = ROOT / "_build" / "html"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = [
    "--no-sandbox",  # needed where the tests run as root, as in a container
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
NETWORK_OFF = "--host-resolver-rules=MAP * ~NOTFOUND"  # no name and no number leads anywhere, this machine included
MATHS_IS_SET = "() => window.MathJax?.startup?.promise.then(() => null)"
OVER = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
SHIFTS = """window.shifts = 0;
new PerformanceObserver(list => list.getEntries().forEach(entry => { window.shifts += entry.value; }))
    .observe({type: 'layout-shift', buffered: true});"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    """A file server that does not write to the terminal."""

    def log_message(self, *args):
        pass


def serve(folder: Path) -> tuple[http.server.ThreadingHTTPServer, str]:
    """Serve a folder on a free port of this machine only; the server and its address."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, f"http://127.0.0.1:{server.server_port}"


def find_browser() -> str | None:
    """The first browser of this machine that the tests can drive."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


def pages() -> list[str]:
    """Every page of the table of contents, in its order."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text("utf8"))
    return [f"{name.removesuffix('.ipynb')}.html" for name in _files(toc)]


def _files(node):
    """The files of a table of contents, however its parts are nested."""
    if isinstance(node, dict):
        yield from (node[key] for key in ("root", "file") if key in node)
        node = [value for value in node.values() if isinstance(value, list)]
    for child in node if isinstance(node, list) else ():
        yield from _files(child)


def listen(page: Page, address: str) -> list[str]:
    """A list that fills with what goes wrong while the page lives, whatever it shows."""
    wrong: list[str] = []
    inside = (address, "data:", "blob:")
    page.on("request", lambda r: None if r.url.startswith(inside) else wrong.append(f"asks another host: {r.url}"))
    page.on("response", lambda r: wrong.append(f"{r.status}: {r.url}") if r.status >= 400 else None)
    page.on("pageerror", lambda error: wrong.append(f"script error: {error}"))
    return wrong


def listen_closely(page: Page, address: str) -> list[str]:
    """The same for a page of the book, where no request may fail and nothing may be reported on the console."""
    wrong = listen(page, address)
    left = "net::ERR_ABORTED"  # the browser gave it up itself, because the page was left meanwhile; nothing is missing
    page.on("requestfailed", lambda r: None if r.failure == left else wrong.append(f"failed: {r.url}, {r.failure}"))
    page.on("console", lambda message: wrong.append(f"console: {message.text}") if message.type == "error" else None)
    return wrong
