"""docs/hub.md word for word: two students and an instructor at a hub, from release to feedback, and apart."""

import json
import os
import re
import secrets
import shutil

import pytest
from playwright.sync_api import expect, sync_playwright

from book import ARGUMENTS, ROOT
from formgrader import Formgrader
from hub_intruder import CHAPTER, EXCHANGE, FORBIDDEN, NOTEBOOK
from hub_machine import INSTALLED, machine
from hub_people import Person
from test_lab import MISTAKES, RIGHT, Student

PAGE = (ROOT / "docs" / "hub.md").read_text("utf8")
PEOPLE = ("instructor1", "student1", "student2")
MISTAKE = MISTAKES[0]
INTRUDER = f"%run {INSTALLED}/tests/browser/hub_intruder.py"
FOR_THE_KEYBOARD = """mkdir -p /etc/jupyter
echo '{"LabApp": {"expose_app_in_browser": true}}' > /etc/jupyter/jupyter_server_config.json"""
SHOTS = ROOT / "shots" / "hub"
SECONDS_TO_VALIDATE = 90


def commands(heading: str, number: int = 0) -> str:
    """A block of commands below a heading of the page."""
    section = PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return re.findall(r"```sh\n(.*?)```", section, re.DOTALL)[number]


@pytest.fixture(scope="module")
def root():
    """Where something that the hub needs is missing: one sentence, and a failure under CI."""
    missing = None
    if os.geteuid() != 0:
        missing = "the hub starts servers as other users: run the tests as root"
    elif shutil.which("configurable-http-proxy") is None:
        missing = "no configurable-http-proxy: scripts/install_system_packages.sh installs it"
    if missing:
        pytest.fail(missing) if os.environ.get("CI") else pytest.skip(missing)


class Hub:
    """The machine, and the people who are logged in."""

    def __init__(self, computer, browser):
        self.computer, self.browser, self.people = computer, browser, {}
        self.passwords = {name: secrets.token_urlsafe(12) for name in PEOPLE}

    def __getattr__(self, name: str) -> Person:
        if name not in self.people:
            self.people[name] = Person(self.browser, name, self.passwords[name], SHOTS)
        return self.people[name]


@pytest.fixture(scope="module")
def hub(root, browser_path, tmp_path_factory):
    folder = tmp_path_factory.mktemp("hub")
    SHOTS.mkdir(parents=True, exist_ok=True)
    with machine() as computer, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=computer.browser(browser_path, folder), args=ARGUMENTS)
        hub = Hub(computer, browser)
        computer.run(commands("Set up, once"))
        people = commands("People").splitlines()
        computer.run("\n".join(line for line in people if not line.startswith("passwd ")))
        asked = [line.removeprefix("passwd ") for line in people if line.startswith("passwd ")]
        assert asked == list(PEOPLE)
        computer.run("chpasswd", "".join(f"{name}:{hub.passwords[name]}\n" for name in asked))
        computer.run(FOR_THE_KEYBOARD)
        log = SHOTS / "log"
        server = computer.start(commands("Start"), log)
        computer.run(commands("People", 1))
        yield hub
        browser.close()
        assert server.poll() is None, log.read_text()[-3000:]
    assert {name: person.wrong for name, person in hub.people.items()} == {name: [] for name in hub.people}


def test_the_service_starts_what_is_tested():
    assert f"ExecStart={commands('Start').splitlines()[1]}\n" in PAGE


def test_the_instructor_can_build_walls(hub):
    assert "namespaces (for grading): the sandbox works" in hub.computer.run(commands("Does the judge's sandbox work?"))


def test_the_instructor_releases_a_chapter(hub):
    formgrader = Formgrader(hub.instructor1.page)  # where the hub has led the instructor
    formgrader.press(CHAPTER, "release")
    expect(formgrader.row(CHAPTER).locator(".status")).to_have_text("released")
    hub.instructor1.shoot("released")


def works(person: Person, answers: dict[str, str]) -> Student:
    """Fetch the chapter, write answers and run the checks below them."""
    person.assignments()
    person.press("Fetch", CHAPTER)
    person.shoot("fetched")
    student = Student(person.notebook(NOTEBOOK))
    for name, body in answers.items():
        student.answers(name, body)
    return student


def hands_in(person: Person) -> None:
    person.page.keyboard.press("ControlOrMeta+s")
    expect(person.page.locator(".jp-mod-dirty")).to_have_count(0)
    person.assignments()
    person.press("Submit", CHAPTER)
    expect(person.page.locator("#submitted_assignments_list .list_item", has_text=CHAPTER).first).to_be_visible()
    person.shoot("submitted")


def test_a_student_works_and_hands_in(hub):
    person = hub.student1
    assert person.menu() == ["Assignment List"]
    student = works(person, RIGHT)
    for name in RIGHT:
        expect(student.checks(name)).to_contain_text(f"✓ {name}: right — 2 of 2 points")
    person.shoot("checked")
    hands_in(person)


def test_another_student_makes_a_mistake_and_is_told(hub):
    person = hub.student2
    name, body, title = MISTAKE
    student = works(person, RIGHT | {name: body})
    expect(student.checks(name)).to_contain_text(title)
    person.page.locator(".validate-button").click()
    results = person.page.locator(".jp-Dialog", has_text="Validation Results")
    expect(results).to_contain_text(title, timeout=1000 * SECONDS_TO_VALIDATE)
    person.shoot("validated")
    results.get_by_role("button", name="OK").click()


def looks(hub) -> dict:
    """What student2 gets to see of others, as the Unix user student2, in a notebook of their own."""
    server = hub.computer.run("pgrep -u student1 -f jupyterhub-singleuser").split()[0]
    settings = hub.computer.run(f"cat /proc/{server}/environ").split("\0")
    address = next(line for line in settings if line.startswith("JUPYTERHUB_SERVICE_URL=")).split("=")[1]
    command = f"{INTRUDER} look {address.removesuffix('/user/student1/')} {server}"
    return hub.student2.runs(hub.student2.notebook(NOTEBOOK), command)


def test_nobody_can_look_at_somebody_else(hub):
    hub.computer.run("\n".join(f"test -e {path}" for path in FORBIDDEN))
    assert hub.computer.run(f"ls {EXCHANGE}/inbound").startswith(f"student1+{CHAPTER}+")
    found = looks(hub)
    assert found["who"] == "student2" and found["own"] == 200
    assert set(found["read"].values()) == {"PermissionError"} and len(found["read"]) == len(FORBIDDEN) + 1
    assert found["moved"] == "PermissionError"
    assert set(found["asked"]) <= {302, 403} and len(found["asked"]) == 16  # led to the log-in, or refused


def test_kernels_listen_in_the_home_folder_only(hub):
    running = hub.computer.run("cat /home/student1/.local/share/jupyter/runtime/kernel-*.json")
    assert json.loads(running)["transport"] == "ipc"


def test_the_instructor_grades_and_sends_feedback(hub):
    hub.student2.runs(hub.student2.notebook(NOTEBOOK), f"{INTRUDER} forge")
    hands_in(hub.student2)
    formgrader = Formgrader(hub.instructor1.page)
    said = formgrader.press(CHAPTER, "collect")
    assert "claims to be of student1, but student2 owns it" in said and "is no submission" in said
    expect(formgrader.row(CHAPTER).locator(".num-submissions")).to_have_text("2")
    formgrader.submissions_of(CHAPTER)
    for student in ("student1", "student2"):
        formgrader.press(student, "autograde")
    hub.instructor1.shoot("graded")
    for student, points in (("student1", 4), ("student2", 2)):
        expect(formgrader.row(student).locator(".score")).to_have_text(re.compile(f"^{points} / "))
    formgrader.chapters()
    formgrader.press(CHAPTER, "generate-feedback")
    formgrader.press(CHAPTER, "release-feedback")


@pytest.mark.parametrize(("name", "sentence"), [("student1", "rnn_step: right"), ("student2", MISTAKE[2])])
def test_the_students_read_their_feedback(hub, name, sentence):
    person = getattr(hub, name)
    person.assignments()
    person.press("Fetch Feedback", CHAPTER)
    person.page.get_by_text("(view feedback)").first.click()
    person.page.locator(".jp-DirListing-item", has_text="recurrence.html").dblclick()
    page = person.page.frame_locator(".jp-HTMLViewer iframe")
    expect(page.get_by_text(sentence).first).to_be_visible()
    person.shoot("feedback")


def test_nobody_can_list_the_feedback(hub):
    assert len(hub.computer.run(f"ls {EXCHANGE}/feedback").split()) == 2
    assert looks(hub)["feedback"] == "PermissionError"
