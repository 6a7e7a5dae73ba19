"""nbgrader's formgrader: press what stands in a row, read what it answers."""

from __future__ import annotations

from playwright.sync_api import FrameLocator, Page, expect

SECONDS_TO_GRADE = 60


class Formgrader:
    """The dashboard of an instructor, on a page of its own or in a frame."""

    def __init__(self, place: Page | FrameLocator):
        self.place = place

    def row(self, name: str):
        return self.place.locator("tbody tr", has_text=name)

    def press(self, name: str, column: str) -> str:
        """Click the link in one column of a row; what the dialogue of success then says."""
        self.row(name).locator(f"td.{column} a").click()
        dialogue = self.place.locator(".modal.in")
        expect(dialogue).to_be_visible(timeout=1000 * SECONDS_TO_GRADE)
        said = dialogue.locator(".modal-body").inner_text()
        expect(dialogue.locator(".modal-title"), said).to_have_text("Success")
        dialogue.locator(".modal-footer button").click()
        expect(self.place.locator(".modal, .modal-backdrop")).to_have_count(0)
        return said

    def submissions_of(self, chapter: str) -> None:
        """Go to the page of all submissions of a chapter."""
        self.row(chapter).locator("td.num-submissions a").click()
        self.place.locator("td.student-id").first.wait_for()

    def chapters(self) -> None:
        """Go back to the page of all chapters."""
        self.place.get_by_role("link", name="Manage Assignments").first.click()
        self.place.locator("td.release").first.wait_for()
