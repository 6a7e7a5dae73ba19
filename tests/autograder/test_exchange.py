"""Collecting from an exchange in which strangers write: owners count, links and other people's files do not."""

import getpass
import logging
import os

import pytest
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

from autograder.exchange import SECRET, CollectFromOwners, Folder

ME, CHAPTER = getpass.getuser(), "01_recurrence"
EARLY, LATE = "2026-01-01 10:00:00.000000 UTC", "2026-01-02 10:00:00.000000 UTC"


class Exchange:
    """An exchange with one course, and a course directory into which it is collected."""

    def __init__(self, folder):
        self.folder, self.inbound = folder, folder / "exchange" / "unrolled" / "inbound"
        self.inbound.mkdir(parents=True)
        (folder / "exchange").chmod(0o777)
        self.said = []

    def hand_in(self, name: str, time: str, notebook: str = "{}"):
        folder = self.inbound / f"{name}+{CHAPTER}+{time}+random"
        folder.mkdir()
        for file, text in (("recurrence.ipynb", notebook), ("timestamp.txt", time), (SECRET, "secret")):
            (folder / file).write_text(text)
        return folder

    def collect(self):
        """The folder of all that is collected."""
        config = Config()
        config.CourseDirectory = Config(root=str(self.folder), course_id="unrolled", assignment_id=CHAPTER)
        config.Exchange.root = str(self.folder / "exchange")
        collect = CollectFromOwners(coursedir=CourseDirectory(config=config), config=config)
        collect.log = logging.Logger("collect")
        collect.log.addHandler(logging.NullHandler())
        collect.log.warning = lambda text, *words: self.said.append(text % words)
        collect.start()
        return self.folder / "submitted"


@pytest.fixture
def exchange(tmp_path):
    return Exchange(tmp_path)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_submission_is_collected_with_its_time_and_its_secret(exchange):
    exchange.hand_in(ME, EARLY, "older")
    exchange.hand_in(ME, LATE, "newer")
    taken = exchange.collect() / ME / CHAPTER
    assert names(taken) == ["recurrence.ipynb", SECRET, "timestamp.txt"]
    assert (taken / "recurrence.ipynb").read_text() == "newer"
    assert exchange.said == []


def test_the_owner_counts_and_not_the_name(exchange):
    exchange.hand_in("somebody-else", EARLY)
    submitted = exchange.collect()
    assert names(submitted) == [ME]
    assert f"claims to be of somebody-else, but {ME} owns it" in exchange.said[0]


def test_what_is_no_submission_keeps_nobody_else_from_being_collected(exchange):
    exchange.hand_in(ME, EARLY)
    (exchange.inbound / f"{ME}+{CHAPTER}+no time+at all").mkdir()
    (exchange.inbound / f"{ME}+{CHAPTER}+").mkdir()
    submitted = exchange.collect()
    assert names(submitted) == [ME] and names(submitted / ME / CHAPTER)
    assert [line.endswith("is no submission; it is left where it is.") for line in exchange.said] == [True, True]


def test_links_pipes_folders_and_other_files_are_left_out(exchange, tmp_path):
    secret = tmp_path / "marks.db"
    secret.write_text("marks")
    folder = exchange.hand_in(ME, EARLY)
    (folder / "leak.html").symlink_to(secret)
    (folder / "leak.ipynb").symlink_to(secret)
    os.mkfifo(folder / "pipe.ipynb")
    (folder / "folder.ipynb").mkdir()
    (folder / "program.py").write_text("")
    assert names(exchange.collect() / ME / CHAPTER) == ["recurrence.ipynb", SECRET, "timestamp.txt"]
    assert [line.split(" in ")[0] for line in exchange.said] == ["folder.ipynb", "leak.ipynb", "pipe.ipynb"]


def test_a_link_in_place_of_the_folder_is_not_followed(exchange, tmp_path):
    other = tmp_path / "source"
    other.mkdir()
    (other / "recurrence.ipynb").write_text("solutions")
    (exchange.inbound / f"{ME}+{CHAPTER}+{EARLY}+random").symlink_to(other)
    submitted = exchange.collect()
    assert not (submitted / ME / CHAPTER / "recurrence.ipynb").exists()
    assert "is not a folder" in exchange.said[-1]


def test_a_file_of_somebody_else_is_left_out(exchange):
    folder = Folder(exchange.hand_in(ME, EARLY))
    assert folder.read("timestamp.txt", 1000) == EARLY.encode()
    assert folder.read("timestamp.txt", 10) is None  # too large
    folder.owner += 1  # as if the folder were somebody else's
    assert folder.read("timestamp.txt", 1000) is None
    folder.close()
