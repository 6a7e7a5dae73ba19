"""Where not the file is bad but the moment: a full disk, a file that is still being written, two graders at once."""

import errno
import json
import os
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest
from classroom import CHAPTER, FILE, FULL, STUB, copy_course, honest_class, notebook, place, run

from autograder.cli import main
from autograder.course_directory import marks
from autograder.exercise import CourseError
from autograder.intake import Refused, read_sources
from autograder.ledger import Ledger

ROOT = Path(__file__).parents[2]
FULL_DISK = "or the temporary files is full; make room and grade again: what was recorded is kept.\n"
pytestmark = pytest.mark.case


def points(course: Path, *students: str) -> dict[str, dict[str, float]]:
    found = marks(course, CHAPTER.name, list(students))
    return {name: {mark.exercise: mark.points for mark in found if mark.student == name} for name in students}


@pytest.fixture
def grade(course, monkeypatch, capsys):
    """``autograder grade`` in the course directory: its exit status and what it says on stderr."""

    def command(folder: Path = course, *options: str) -> tuple[int, str]:
        monkeypatch.chdir(folder)
        status = main(["grade", CHAPTER.name, *options])
        return status, capsys.readouterr().err

    return command


# ---------------------------------------------------------------- a full disk


@pytest.fixture
def small_disk(tmp_path):
    """A file system of its own that can be filled without harm."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=32m", "tmpfs", place], capture_output=True)
    if mounted.returncode:
        pytest.skip("only root can mount a small disk; the tests below fill one on paper")
    yield place
    os.chdir(tmp_path)
    subprocess.run(["umount", "-l", place], check=True)


@pytest.mark.parametrize("free", [0, 8, 24])
def test_a_full_disk_is_said_in_one_sentence_and_the_next_run_finishes(course, small_disk, grade, free):
    course = copy_course(course, small_disk / "course")
    deserved = honest_class(course)
    ballast = small_disk / "ballast"
    with open(ballast, "wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(4096))
    os.truncate(ballast, ballast.stat().st_size - free * 1024)
    status, said = grade(course)
    assert status == 1
    assert said.endswith(FULL_DISK) and said.count("\n") == 1, said
    ballast.unlink()
    assert grade(course)[0] == 0
    assert points(course, *deserved) == deserved
    assert list(Ledger(course).entries())


@pytest.mark.parametrize("entries", [0, 3])
def test_no_room_for_a_verdict(course, grade, monkeypatch, entries):
    deserved = honest_class(course)
    real, left = Ledger._append, iter(range(entries))

    def append(*args, **kwargs):
        if next(left, None) is None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(*args, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "_append", append)
        status, said = grade()
    assert (status, said.count("\n")) == (1, 1) and said.endswith(FULL_DISK), said
    assert grade()[0] == 0
    assert points(course, *deserved) == deserved


# ---------------------------------------------------------------- a file that changes


def test_a_file_that_changes_while_it_is_read_is_read_whole_or_not_at_all(course):
    path = place(course, "ada", notebook(course)) / FILE
    whole = read_sources(path)
    old, new = path.read_bytes(), json.dumps(notebook(course, softmax=STUB) | {"x": "y" * 2**20}).encode()
    fresh = [(name, STUB if name == "softmax" else source) for name, source in whole]
    stop, seen = threading.Event(), set()

    def write():
        while not stop.is_set():
            for content in (old, new):
                path.write_bytes(content)
                stop.wait(0.05)  # at rest for a while: some readings must succeed

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(40):
            try:
                found = read_sources(path)
                assert found in (whole, fresh)
                seen.add("read")
            except CourseError as error:
                assert str(error) == f"{path} changes while it is read; grade again when it is complete."
                seen.add("told")
            except Refused as error:  # between two writes, and not changing just now
                assert "is not a readable notebook" in str(error)
    finally:
        stop.set()
        writer.join()
    assert seen
    path.write_bytes(old)
    assert read_sources(path) == whole


def test_a_file_that_never_comes_to_rest_is_left_for_the_next_run(course, grade, monkeypatch):
    place(course, "ada", notebook(course))
    restless = place(course, "bob", notebook(course)) / FILE
    real, inode = os.fstat, restless.stat().st_ino

    def fstat(descriptor):
        status = real(descriptor)
        if status.st_ino == inode:
            os.utime(restless)  # somebody is writing
        return status

    with monkeypatch.context() as patch:
        patch.setattr(os, "fstat", fstat)
        status, said = grade()
    assert status == 1
    assert said.splitlines()[0] == "autograder: One submission was not graded, all others are:"
    assert said.splitlines()[1].endswith("changes while it is read; grade again when it is complete.")
    assert points(course, "ada") == {"ada": FULL}
    assert grade() == (0, "")
    assert points(course, "ada", "bob") == {"ada": FULL, "bob": FULL}


def test_a_better_file_replaces_a_refused_one(course, grade):
    path = place(course, "ada", b"{") / FILE
    assert grade() == (0, "")
    assert points(course, "ada") == {"ada": dict.fromkeys(FULL, 0)}
    path.write_text(json.dumps(notebook(course)))
    assert grade() == (0, "")
    assert points(course, "ada") == {"ada": FULL}


# ---------------------------------------------------------------- two graders


def test_of_two_graders_at_once_one_grades_and_the_other_says_so(course, grade):
    deserved = honest_class(course) | {f"ada {i}": FULL for i in range(8)}
    for i in range(8):
        place(course, f"ada {i}", notebook(course))
    program = Path(sys.executable).parent / "autograder"
    first = subprocess.Popen([program, "grade", CHAPTER.name], cwd=course, stdout=subprocess.DEVNULL)
    while not (course / "verdicts.log").exists():
        assert first.poll() is None
        time.sleep(0.001)
    status, said = grade()
    assert status == 1
    assert said == f"autograder: Another grading run is at work in {course}; grade again when it has ended.\n"
    assert first.wait(timeout=300) == 0
    assert points(course, *deserved) == deserved
    events = [entry["event"] for entry in Ledger(course).entries()]
    assert sorted(events) == sorted([*["judged", "recorded"] * len(deserved), "finished"])


# ---------------------------------------------------------------- names on the command line


@pytest.mark.parametrize("name", ["../x", "..", "/etc", "new\nline", "x" * 300, "*"], ids=ascii)
def test_a_student_that_does_not_exist_is_said_in_one_sentence(course, grade, name):
    place(course, "ada", notebook(course))
    status, said = grade(course, "--student", name)
    assert status == 1
    assert said.startswith("autograder: No submission of 01_recurrence by ") and said.count("\n") == 1
    assert not (course / "autograded").exists()


@pytest.mark.parametrize("name", ["../x", "recurrence", "*", "new\nline", ""], ids=ascii)
def test_a_chapter_that_does_not_exist_is_said_in_one_sentence(course, monkeypatch, capsys, name):
    monkeypatch.chdir(course)
    assert main(["grade", name]) == 1
    said = capsys.readouterr().err
    assert said.startswith("autograder: There is no chapter ") and said.endswith("; there are 01_recurrence.\n")
    assert said.count("\n") == 1


# ---------------------------------------------------------------- what nbgrader refuses before the judge is asked

REFUSED_BY_NBGRADER = {
    "a folder without a notebook": lambda folder, content: (folder / "homework.zip").write_bytes(b"PK"),
    "a notebook under another name": lambda folder, content: (folder / "my.ipynb").write_text(content),
    "a file where the folder should be": lambda folder, content: (folder.rmdir(), folder.write_text(content)),
    "a folder that may not be read": lambda folder, content: folder.chmod(0),
    "a file beside the notebook that cannot be copied": lambda folder, content: (
        (folder / FILE).write_text(content),
        os.mkfifo(folder / "pipe"),
    ),
    "a `timestamp.txt` that holds no time": lambda folder, content: (
        (folder / FILE).write_text(content),
        (folder / "timestamp.txt").write_text("yesterday"),
    ),
    "a student's name with square brackets": lambda folder, content: (
        (folder / FILE).write_text(content),
        folder.parent.rename(folder.parent.with_name("[ada]")),
    ),
}


def test_the_list_of_what_nbgrader_refuses_itself_is_true(course):
    deserved = honest_class(course)
    content = json.dumps(notebook(course))
    for number, hand_in in enumerate(REFUSED_BY_NBGRADER.values()):
        hand_in(place(course, f"c{number}", None), content)
    taken = {"byte order mark": b"\xef\xbb\xbf" + content.encode(), "truncated": content[:-9].encode()}
    for name, data in taken.items():
        place(course, name, data)
    os.mkfifo(place(course, "pipe", None) / FILE)
    place(course, "zy new\nline", notebook(course))
    done = run(course, "nbgrader", "autograde", CHAPTER.name)
    assert done.returncode != 0 and "Could not match" in done.stderr, "the whole run ends at the new line"
    assert deserved.pop("zz last")
    graded = {path.parent.parent.name for path in course.glob(f"autograded/*/{CHAPTER.name}/{FILE}")}
    assert graded == {*deserved, *taken, "pipe"}
    assert points(course, *deserved, "byte order mark") == deserved | {"byte order mark": FULL}
    page = (ROOT / "docs" / "judge.md").read_text("utf8")
    for title in (*REFUSED_BY_NBGRADER, "a student's name with a line break"):
        assert f"| {title} |" in page
