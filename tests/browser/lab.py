"""A notebook in JupyterLab, driven with the keyboard: for tests that try the course as a new user would.

``serving`` runs JupyterLab on a folder as the course opens it, on a free loopback port, with a token.
``Notebook`` opens a notebook there, writes into its cells, runs them and reads what appears below them.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from book import ARGUMENTS, ROOT, listen

CHAPTERS = ROOT / "chapters"
SECONDS_TO_START = 90  # formgrader reads the configuration of the course, which imports torch
SECONDS_TO_STOP = 5
SECONDS_PER_STEP = 30
SECONDS_PER_NOTEBOOK = 80
CELLS = "jupyterapp.shell.currentWidget.content"  # a cell that is far from the screen is not on the page
FIND = f"""text => {CELLS}.widgets.findIndex(
    cell => cell.model.type === 'code' && cell.model.sharedModel.getSource().includes(text))"""
SHOW = f"""async index => {{
    {CELLS}.activeCellIndex = index;
    await {CELLS}.scrollToItem(index, 'center');
}}"""
SOURCE = f"index => {CELLS}.widgets[index].model.sharedModel.getSource()"
PROMPT = f"index => {CELLS}.widgets[index].prompt"  # a number, or * while the cell runs
FINISHED = f"([index, before]) => /^[0-9]+$/.test(({PROMPT})(index)) && ({PROMPT})(index) !== before"
IDLE = "() => jupyterapp.shell.currentWidget?.sessionContext?.session?.kernel?.status === 'idle'"


def new_page(playwright, browser_path: str, address: str):
    """An empty page, and a list that fills with everything that goes wrong while it lives."""
    milliseconds = SECONDS_PER_STEP * 1000
    browser = playwright.chromium.launch(executable_path=browser_path, args=ARGUMENTS, timeout=milliseconds)
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(milliseconds)
    return page, listen(page, address)


@contextlib.contextmanager
def serving(folder: Path, home: Path) -> Iterator[tuple[str, str]]:
    """Run ``autograder lab`` on a folder; its address and its token. It keeps all files of its own in ``home``."""
    own = {
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "JUPYTERLAB_SETTINGS_DIR": "settings",
        "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
        "IPYTHONDIR": "ipython",
    }
    token = secrets.token_hex(16)
    environment = os.environ | {name: str(home / sub) for name, sub in own.items()} | {"JUPYTER_TOKEN": token}
    options = ["--no-browser", "--allow-root", "--ServerApp.ip=127.0.0.1", "--ServerApp.port=0"]
    options += ["--LabApp.expose_app_in_browser=True"]
    command = [sys.executable, "-m", "autograder.cli", "lab", folder, "--"]
    with (home / "log").open("wb") as log:
        server = subprocess.Popen([*command, *options], env=environment, stdout=log, stderr=log)
        try:
            yield _address(server, home), token
        finally:
            server.terminate()  # it ends its kernels first
            try:
                server.wait(SECONDS_TO_STOP)
            except subprocess.TimeoutExpired:
                server.kill()  # a kernel ends by itself when its server is gone
                server.wait(SECONDS_TO_STOP)


def _address(server: subprocess.Popen, home: Path) -> str:
    """Where the server listens, as soon as it says so."""
    note = home / "runtime" / f"jpserver-{server.pid}.json"
    end = time.monotonic() + SECONDS_TO_START
    while server.poll() is None and time.monotonic() < end:
        with contextlib.suppress(OSError, ValueError):  # not there yet, or half written
            return json.loads(note.read_text())["url"]
        time.sleep(0.1)
    raise RuntimeError(f"JupyterLab did not start: {(home / 'log').read_text()[-2000:]}")


class Notebook:
    """One notebook, open in a page of the browser, without the outputs that were stored in it."""

    def __init__(self, page, address: str, token: str, name: str):
        self.page = page
        self.end = time.monotonic() + SECONDS_PER_NOTEBOOK
        page.goto(f"{address}lab/tree/{name}?token={token}")
        page.wait_for_selector(".jp-Notebook .jp-Cell")
        page.wait_for_function(IDLE)
        page.evaluate("() => jupyterapp.commands.execute('notebook:clear-all-cell-outputs')")

    def find(self, text: str) -> int:
        """The index of the first code cell whose source holds the text."""
        index = self.page.evaluate(FIND, text)
        assert index >= 0, f"no code cell holds {text!r}"
        return index

    def show(self, index: int):
        """Scroll to a cell and select it; the cell on the page."""
        left = self.end - time.monotonic()
        assert left > 0, f"the notebook was not done after {SECONDS_PER_NOTEBOOK} s"
        self.page.set_default_timeout(1000 * min(left, SECONDS_PER_STEP))
        self.page.evaluate(SHOW, index)
        return self.page.locator(".jp-Notebook .jp-Cell.jp-mod-active")

    def source(self, index: int) -> str:
        return self.page.evaluate(SOURCE, index)

    def write(self, index: int, source: str) -> None:
        """Replace what stands in a cell, as with select all and paste."""
        self.show(index).locator(".cm-content").click()
        self.page.keyboard.press("ControlOrMeta+a")
        self.page.keyboard.insert_text(source)
        assert self.source(index) == source

    def run(self, index: int):
        """Run a cell to its end; what the page shows below it."""
        cell = self.show(index)
        before = self.page.evaluate(PROMPT, index)
        cell.locator(".jp-InputPrompt").click()
        self.page.keyboard.press("Control+Enter")
        self.page.wait_for_function(FINISHED, arg=[index, before])
        return cell.locator(".jp-Cell-outputArea")
