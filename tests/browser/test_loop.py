"""The whole loop by clicking: an instructor in formgrader, a student in JupyterLab, tokens and XSRF as they are.

Release, fetch, work, validate, submit, collect, grade, grade by hand, feedback, fetch feedback; then the same class is
graded by typing, and both must agree.
"""

import contextlib
import getpass
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import expect, sync_playwright
from short_course import CHAPTER, make_course

from autograder.course_directory import marks
from autograder.demo import fill
from autograder.exercises import find
from autograder.report_marks import read_marks
from autograder.source import written_cell
from book import ROOT
from lab import CELLS, Notebook, new_page, serving

ME = getpass.getuser()
FILE = f"{CHAPTER.slug}.ipynb"
KNOWN = find("softmax").misconceptions[0]
ANSWERS = {"pad_batch": written_cell(find("pad_batch")), "softmax": written_cell(find("softmax"), KNOWN.implementation)}
EXPLANATION = "Because the weights of $W_{xh}$ are shared, and the last state is read."
STUDENTS_CONFIG = """\
c = get_config()
c.CourseDirectory.course_id = "unrolled"
c.Exchange.root = {exchange!r}
"""
ANSWER_CELL = f"""id => {CELLS}.widgets.findIndex(
    cell => cell.model.sharedModel.getMetadata('nbgrader')?.grade_id === id && cell.model.type === 'markdown')"""


def run(folder: Path, *words: str, status: int = 0) -> str:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | {"PATH": path, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == status, done.stderr
    return done.stdout


def photograph(page, name: str) -> None:
    (ROOT / "shots").mkdir(exist_ok=True)
    page.screenshot(path=ROOT / "shots" / f"classroom-{name}.png", animations="disabled")


def menu(page) -> list[str]:
    """Open nbgrader's menu; what it offers."""
    page.locator(".lm-MenuBar-itemLabel", has_text="Nbgrader").click()
    page.wait_for_selector(".lm-Menu-itemLabel")
    return [text for text in page.locator(".lm-Menu-itemLabel").all_inner_texts() if text]


class Instructor:
    """Clicks in formgrader, which stands in a frame of JupyterLab."""

    def __init__(self, page, address: str, token: str):
        self.page = page
        page.goto(f"{address}lab?token={token}")
        page.wait_for_selector(".jp-Launcher")
        self.menu = menu(page)
        page.locator(".lm-Menu-itemLabel", has_text=re.compile(r"^Formgrader$")).click()
        self.frame = page.frame_locator("iframe[src*='formgrader']")
        self.row = self.frame.locator("tr", has_text=CHAPTER.name)

    def click(self, picture: str, row=None) -> None:
        """Click a picture in the row of the chapter, and away the box that says that it is done."""
        (row or self.row).locator(f".glyphicon-{picture}").click()
        box = self.frame.locator(".modal.in")
        expect(box.locator(".modal-title")).to_have_text("Success", timeout=60_000)
        box.locator(".modal-footer button").click()
        expect(box).to_have_count(0)

    def go(self, *links: str) -> None:
        for link in links:
            self.frame.get_by_role("link", name=link, exact=True).first.click()

    def grade(self, student: str) -> None:
        self.click("flash", self.frame.locator("tr", has_text=student))

    def answered(self, method: str, kind: str):
        """Wait until formgrader's server has answered a question about grades or comments."""
        return self.page.expect_response(lambda r: f"/api/{kind}" in r.url and r.request.method == method)

    def grade_by_hand(self, number: int, points: str, comment: str) -> tuple[str, int]:
        """Give points for an explanation; all that the page says, and how many formulas are set on it."""
        self.go("Manual Grading", CHAPTER.name, CHAPTER.slug)
        with self.answered("GET", "grades"), self.answered("GET", "comments"):
            self.go(f"Submission #{number}")
        for kind, box, text in (("grade", "", points), ("comment", "-comment", comment)):
            field = self.frame.locator(f"#explain-position{box}")
            with self.answered("PUT", kind):
                field.fill(text)
                field.blur()
        self.frame.locator("body").evaluate("() => MathJax.startup.promise")
        self.frame.locator("#explain-position").scroll_into_view_if_needed()
        photograph(self.page, f"by-hand-{number}")
        return self.frame.locator("body").inner_text(), self.frame.locator("mjx-container").count()


class Student:
    """Clicks in the list of assignments, and works in the notebook."""

    def __init__(self, page, address: str, token: str):
        self.page, self.address, self.token = page, address, token
        page.goto(f"{address}lab?token={token}")
        page.wait_for_selector(".jp-Launcher")
        self.menu = menu(page)
        photograph(page, "student-menu")
        page.keyboard.press("Escape")

    def in_list(self, button: str):
        """Open the list of assignments afresh and click a button in it."""
        self.page.goto(f"{self.address}lab?token={self.token}&reset")
        self.page.wait_for_selector(".jp-Launcher")
        menu(self.page)
        self.page.locator(".lm-Menu-itemLabel", has_text="Assignment List").click()
        self.page.get_by_role("button", name=button, exact=True).click()

    def work(self) -> str:
        """Write the answers, save, and click Validate; what the box says."""
        notebook = Notebook(self.page, self.address, self.token, f"{CHAPTER.name}/{FILE}")
        for name, source in ANSWERS.items():
            notebook.write(notebook.find(f"def {name}("), source)
        notebook.show(self.page.evaluate(ANSWER_CELL, "explain-position"))
        self.page.keyboard.press("Enter")
        self.page.keyboard.press("ControlOrMeta+a")
        self.page.keyboard.insert_text(EXPLANATION)
        self.page.keyboard.press("ControlOrMeta+s")
        self.page.wait_for_function("() => !jupyterapp.shell.currentWidget.context.model.dirty")
        self.page.get_by_role("button", name="Validate", exact=True).click()
        box = self.page.locator("#validation-message")
        box.wait_for(timeout=90_000)
        photograph(self.page, "validate")
        return box.inner_text()


@pytest.fixture(scope="module")
def loop(browser_path, tmp_path_factory):
    """All clicks, one after the other; what was seen on the way."""
    root = tmp_path_factory.mktemp("classroom")
    course, exchange = make_course(root), root / "exchange"
    exchange.mkdir()
    exchange.chmod(0o777)
    with (course / "nbgrader_config.py").open("a") as file:
        file.write(f"c.Exchange.root = {str(exchange)!r}\n")
    homes = {name: root / f"{name}-home" for name in ("instructor", "student")}
    for home in homes.values():
        (home / "config").mkdir(parents=True)
    mine = root / "student"
    mine.mkdir()
    (homes["student"] / "config" / "nbgrader_config.py").write_text(STUDENTS_CONFIG.format(exchange=str(exchange)))
    released = nbformat.read(course / "release" / CHAPTER.name / FILE, as_version=4)
    place = course / "submitted" / "zz-second" / CHAPTER.name  # collected from an LMS
    place.mkdir(parents=True)
    nbformat.write(fill(released, {name: written_cell(find(name)) for name in ANSWERS}), place / FILE)
    seen = {"course": course, "mine": mine}
    with contextlib.ExitStack() as stack:
        ours = stack.enter_context(serving(course, homes["instructor"]))
        theirs = stack.enter_context(serving(mine, homes["student"]))
        playwright = stack.enter_context(sync_playwright())
        pages = [new_page(playwright, browser_path, address) for address, _ in (ours, theirs)]
        for page, _ in pages:
            stack.callback(page.context.browser.close)
        instructor, student = Instructor(pages[0][0], *ours), Student(pages[1][0], *theirs)
        for picture in ("education", "cloud-upload"):
            instructor.click(picture)
        student.in_list("Fetch")
        expect(student.page.get_by_role("button", name="Submit", exact=True)).to_be_visible()
        seen["validated"] = student.work()
        seen["checked"] = run(mine, "autograder", "check", f"{CHAPTER.name}/{FILE}", status=1)
        student.in_list("Submit")
        expect(student.page.locator("#submitted_assignments_list")).to_contain_text(CHAPTER.name)
        photograph(student.page, "assignments")
        instructor.click("cloud-download")
        photograph(instructor.page, "formgrader")
        instructor.row.locator(".num-submissions a").click()
        for name in (ME, "zz-second"):
            instructor.grade(name)
        photograph(instructor.page, "submissions")
        seen["by hand"] = [instructor.grade_by_hand(n, "2.5", "Say which weights.") for n in (1, 2)]
        instructor.go("Manual Grading", "Manage Assignments")
        instructor.click("comment")
        instructor.row.locator(".num-submissions a").click()
        instructor.click("envelope", instructor.frame.locator("tr", has_text=ME))  # the other has no exchange
        student.in_list("Fetch Feedback")
        student.page.wait_for_timeout(1000)
        seen["menus"] = {"instructor": instructor.menu, "student": student.menu}
        seen["wrong"] = [sentence for _, wrong in pages for sentence in wrong]
    return seen


def test_no_page_asks_another_host_or_reports_an_error(loop):
    assert loop["wrong"] == []


def test_students_have_no_panels_of_the_instructor(loop):
    assert loop["menus"]["student"] == ["Assignment List"]
    assert {"Formgrader", "Assignment List"} <= set(loop["menus"]["instructor"])


def test_validate_and_check_name_the_same_mistake(loop):
    said = next(part for part in loop["checked"].split("\n\n") if part.startswith("✗ softmax"))
    assert KNOWN.title in said
    assert " ".join(said.split()) in " ".join(loop["validated"].split())
    assert "pad_batch" not in loop["validated"], "what is right is no complaint"


def test_the_rubric_stands_beside_the_explanation_and_no_name_does(loop):
    for text, _ in loop["by hand"]:
        assert "Rubric (3 points)" in text and "The book's own answer" in text
        assert not re.search(rf"\b({re.escape(ME)}|zz-second)\b", text)
    (formulas,) = [count for text, count in loop["by hand"] if "the last state is read" in text]
    assert formulas == 1


def test_the_student_gets_the_page_with_the_mistake_the_points_and_the_comment(loop):
    (page,) = (loop["mine"] / CHAPTER.name / "feedback").glob(f"*/{CHAPTER.slug}.html")
    text = page.read_text("utf8")
    assert KNOWN.title in text and "Say which weights." in text and "2.5 of 3 points" in text
    assert "Rubric" not in text and "<script" not in text
    assert text == (loop["course"] / "feedback" / ME / CHAPTER.name / f"{CHAPTER.slug}.html").read_text("utf8")


def test_typing_gives_the_same_marks_as_clicking(loop, tmp_path):
    typed = Path(shutil.copytree(loop["course"], tmp_path / "course"))
    for name in ("autograded", "feedback", "gradebook.db", "verdicts.log"):
        path = typed / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    run(typed, "nbgrader", "generate_assignment", CHAPTER.name, "--force")
    run(typed, "autograder", "grade", CHAPTER.name)
    people = sorted([ME, "zz-second"])
    clicked = marks(loop["course"], CHAPTER.name, people)
    assert marks(typed, CHAPTER.name, people) == clicked
    run(typed, "nbgrader", "release_feedback", CHAPTER.name, "--student", ME)
    assert [mark.points for mark in clicked if mark.student == "zz-second"] == [2, 2]


def test_the_export_holds_points_by_hand(loop):
    out = loop["course"] / "marks.csv"
    run(loop["course"], "autograder", "export", CHAPTER.name, "--format", "moodle", "--out", str(out))
    (found,) = read_marks(loop["course"], [CHAPTER.name])
    assert found.handed_in["zz-second"].points == 6.5
    assert re.search(r'"zz-second".*,6\.5', out.read_text("utf8"))
