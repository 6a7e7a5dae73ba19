"""People at the hub: each logs in with a browser of their own and works in their own JupyterLab."""

from __future__ import annotations

import json
import re
from pathlib import Path

from playwright.sync_api import Browser, expect

from book import listen
from lab import SECONDS_PER_STEP, Notebook

HUB = "http://127.0.0.1:8000"
SECONDS_TO_SPAWN = 120
INSERT = "() => jupyterapp.commands.execute('notebook:insert-cell-below')"
LISTS = {"Fetch": "released", "Submit": "fetched", "Fetch Feedback": "submitted"}


class Person:
    """Somebody who has logged in at the hub; ``wrong`` fills with whatever goes wrong on their page."""

    def __init__(self, browser: Browser, name: str, password: str, shots: Path):
        self.name, self.home, self.shots = name, f"{HUB}/user/{name}/", shots
        self.page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
        self.page.set_default_timeout(1000 * SECONDS_PER_STEP)
        self.wrong = listen(self.page, HUB)
        self.page.goto(HUB)
        self.page.get_by_label("Username").fill(name)
        self.page.get_by_label("Password").fill(password)
        self.shoot("log-in")
        self.page.get_by_role("button", name="Sign in").click()
        self.page.wait_for_url(f"{self.home}**", timeout=1000 * SECONDS_TO_SPAWN)

    def shoot(self, step: str) -> None:
        self.page.screenshot(path=self.shots / f"{self.name}-{step}.png")

    def menu(self) -> list[str]:
        """The entries of nbgrader's menu."""
        self.page.get_by_text("Nbgrader", exact=True).click()
        entries = self.page.locator(".lm-Menu-content .lm-Menu-itemLabel:visible")
        entries.first.wait_for()
        found = [text for text in entries.all_inner_texts() if text]
        self.page.keyboard.press("Escape")
        return found

    def assignments(self) -> None:
        """Open nbgrader's assignment list, as it is now."""
        self.page.goto(f"{self.home}lab?reset")
        self.page.get_by_text("Nbgrader", exact=True).click()
        self.page.get_by_text("Assignment List", exact=True).click()
        expect(self.page.locator("#submitted_assignments_list_loading")).to_be_hidden()

    def press(self, button: str, chapter: str) -> None:
        """Click a button of the assignment list; it is done when the list is there again."""
        row = self.page.locator(f"#{LISTS[button]}_assignments_list .list_item", has_text=chapter).first
        with self.page.expect_response(re.compile("/assignments/(fetch|submit)")):
            row.get_by_role("button", name=button, exact=True).click()
        expect(self.page.get_by_text("etching...")).to_have_count(0)
        expect(self.page.get_by_text("submitting...")).to_have_count(0)

    def notebook(self, path: str) -> Notebook:
        return Notebook(self.page, self.home, "", path)

    def runs(self, notebook: Notebook, source: str):
        """What a new cell prints, as JSON: code of this person, in their own kernel, as their Unix user."""
        last = self.page.evaluate("() => jupyterapp.shell.currentWidget.content.widgets.length") - 1
        notebook.show(last)
        self.page.evaluate(INSERT)
        notebook.write(last + 1, source)
        shown = notebook.run(last + 1)
        return json.loads(shown.locator("pre").inner_text())
