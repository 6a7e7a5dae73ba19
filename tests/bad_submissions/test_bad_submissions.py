"""Files that no student should hand in, and some do. None may gain, lose or block a mark.

All of them are handed in to one class, with honest students among them, and graded in one run. What can be read gets
the marks that its answers deserve; what cannot gets one sentence that says what to do.
"""

import gzip
import io
import json
import os
import re
import resource
import socket
import time
import zipfile
from collections.abc import Callable
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path

import pytest
from classroom import CHAPTER, FILE, FULL, SOFTMAX, STUB, copy_course, honest_class, notebook, place, run

from autograder.cli import main
from autograder.course import chapter
from autograder.course_directory import Mark, marks, refusals

CASES: dict[str, "Case"] = {}
SOLUTION = CHAPTER.solution
SECONDS, MEGABYTES = 400, 2000  # for the whole class, on a busy machine
UNREADABLE = f"{FILE} is not a readable notebook; open it in JupyterLab"
NOT_A_FILE = f"{FILE} is not a regular file; hand in the notebook itself"


@dataclass(frozen=True)
class Case:
    """How a submission comes about, the points it deserves, and what its student is told."""

    hand_in: Callable[[Path, str], None]  # course directory, student
    points: dict[str, float]
    told: str = ""


def file_of(student: str, told: str = "", **points: float):
    """A case that is the content of the file: the function makes it (bytes or JSON data) of an honest notebook.

    Without points, the file is refused if something is told, and gets full marks if not.
    """
    deserved = FULL | points if points or not told else dict.fromkeys(FULL, 0)

    def add(make: Callable[[dict], bytes | dict]):
        def hand_in(course: Path, student: str) -> None:
            place(course, student, make(notebook(course)))

        CASES[student] = Case(hand_in, deserved, told)
        return make

    return add


def folder_of(student: str, told: str = ""):
    """A case that is more than the content of a file: the function gets the folder, and an honest notebook."""

    def add(make: Callable[[Path, dict], None]):
        def hand_in(course: Path, student: str) -> None:
            make(place(course, student, None), notebook(course))

        CASES[student] = Case(hand_in, dict.fromkeys(FULL, 0) if told else FULL, told)
        return make

    return add


def student(name: str, told: str = ""):
    """A case that is the name of its student; what is told here is told to the instructor, and nothing is graded."""
    CASES[name] = Case(lambda course, name: place(course, name, notebook(course)), {} if told else FULL, told)


def solutions(nb: dict) -> list[dict]:
    return [cell for cell in nb["cells"] if cell["metadata"].get("nbgrader", {}).get("solution")]


def cell_of(nb: dict, grade_id: str) -> dict:
    return next(cell for cell in nb["cells"] if cell["metadata"]["nbgrader"]["grade_id"] == grade_id)


def with_softmax(nb: dict, source: object) -> dict:
    cell_of(nb, "softmax")["source"] = source
    return nb


def text_of(nb: dict) -> str:
    return json.dumps(nb, ensure_ascii=False)


# ---------------------------------------------------------------- bytes

ODD_BUT_READABLE = {
    "byte order mark": lambda nb: text_of(nb).encode("utf-8-sig"),
    "utf-16": lambda nb: text_of(nb).encode("utf-16"),
    "utf-16 unmarked": lambda nb: text_of(nb).encode("utf-16-le"),
    "utf-32": lambda nb: text_of(nb).encode("utf-32"),
    "latin-1": lambda nb: text_of(with_softmax(nb, "# Größe\n" + SOFTMAX)).encode("latin-1", "replace"),
    "windows lines": lambda nb: json.dumps(nb, indent=1).replace("\n", "\r\n").encode(),
    "nul at the end": lambda nb: json.dumps(nb).encode() + bytes(4096),
    "raw control characters": lambda nb: (
        json.dumps(with_softmax(nb, "# a\x07b\n" + SOFTMAX)).replace("\\u0007", "\x07").replace("\\n", "\n").encode()
    ),
    "duplicate keys": lambda nb: json.dumps(nb).replace('{"cells"', '{"cells": [], "cells"', 1).encode(),
    "not a number": lambda nb: json.dumps(nb | {"x": [float("nan"), float("inf")]}).encode(),
    "huge integer": lambda nb: json.dumps(nb).replace('"nbformat": 4', f'"nbformat": {"4" * 10_000}').encode(),
}
for name, make in ODD_BUT_READABLE.items():
    file_of(name)(make)

NO_NOTEBOOK = {
    "empty": b"",
    "white space": b" \n\t\r\n",
    "nothing but nul": bytes(5000),
    "prose": b"Dear teacher, my notebook is attached.",
    "python": SOFTMAX.encode(),
    "random bytes": bytes(range(256)) * 20,
    "list": b"[]",
    "string": b'"cells"',
    "number": b"4",
    "null": b"null",
    "no cells": b'{"metadata": {}, "nbformat": 4, "nbformat_minor": 5}',
    "cells null": b'{"cells": null}',
    "cells a string": b'{"cells": "softmax"}',
    "cells an object": b'{"cells": {"softmax": 1}}',
    "cells of nulls": b'{"cells": [null, null]}',
    "worksheets null": b'{"worksheets": [null], "nbformat": 3}',
    "deep": b'{"cells": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "deep and open": b'{"a":' * 100_000,
}
for name, content in NO_NOTEBOOK.items():
    file_of(name, UNREADABLE)(lambda nb, content=content: content)
file_of("truncated", UNREADABLE)(lambda nb: json.dumps(nb).encode()[:-200])
file_of("twice in one file", UNREADABLE)(lambda nb: json.dumps(nb).encode() * 2)
file_of("deep output", UNREADABLE)(
    lambda nb: json.dumps(nb).replace('"outputs": []', '"outputs": ' + "[" * 100_000 + "]" * 100_000).encode()
)
file_of("gzip", f"{FILE} is a gzip archive; unpack it")(lambda nb: gzip.compress(json.dumps(nb).encode()))
file_of("web page", f"{FILE} is a web page; in JupyterLab choose File, Download")(
    lambda nb: b"<!DOCTYPE html>\n<html><body>recurrence</body></html>"
)
file_of("no exercise", f"{FILE} holds no exercise of {CHAPTER.name}")(lambda nb: nb | {"cells": []})
file_of("another chapter", f"{FILE} holds no exercise of {CHAPTER.name}")(
    lambda nb: chapter("02_bptt").student.read_bytes()
)


@file_of("zip under the name", f"{FILE} is a zip archive; unpack it")
def zip_under_the_name(nb):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(FILE, json.dumps(nb))
    return buffer.getvalue()


@file_of("git conflict", f"{FILE} holds the conflict markers of git (<<<<<<<); settle the conflict")
def git_conflict(nb):
    lines = json.dumps(nb, indent=1).splitlines()
    conflict = ["<<<<<<< HEAD", lines[5], "=======", lines[5], ">>>>>>> mine"]
    return "\n".join(lines[:5] + conflict + lines[6:]).encode()


# ---------------------------------------------------------------- the form of the notebook


@file_of("nbformat 3")
def nbformat_3(nb):
    cells = [{**cell, "input": cell["source"], "language": "python"} for cell in nb["cells"]]
    cells = [{key: value for key, value in cell.items() if key not in ("source", "id")} for cell in cells]
    return {"metadata": {}, "nbformat": 3, "nbformat_minor": 0, "worksheets": [{"cells": cells, "metadata": {}}]}


file_of("nbformat 99")(lambda nb: nb | {"nbformat": 99})
file_of("nbformat four")(lambda nb: nb | {"nbformat": "four", "nbformat_minor": None})
file_of("top metadata null")(lambda nb: nb | {"metadata": None})
file_of("null among the cells")(lambda nb: nb | {"cells": [None, *nb["cells"], 3, "x", []]})
file_of("duplicated cells")(lambda nb: nb | {"cells": nb["cells"] * 2})
file_of("reordered cells")(lambda nb: nb | {"cells": nb["cells"][::-1]})
file_of("only the answers")(lambda nb: nb | {"cells": solutions(nb)})
file_of("deleted answer", "not written yet", softmax=0)(
    lambda nb: nb | {"cells": [cell for cell in nb["cells"] if cell["id"] != "softmax"]}
)
file_of("untouched", "not written yet", pad_batch=2, softmax=0)(lambda nb: with_softmax(nb, STUB))
file_of("twenty thousand cells")(lambda nb: nb | {"cells": nb["cells"] + [solutions(nb)[-1] | {"id": "x"}] * 20_000})


@file_of("copies with the stub last")
def copies_with_the_stub_last(nb):
    return nb | {"cells": [*nb["cells"], cell_of(nb, "softmax") | {"source": STUB}]}


@file_of("twenty thousand copies")
def twenty_thousand_copies(nb):
    stubs = [cell_of(nb, "softmax") | {"source": f"{STUB}\n# {i}"} for i in range(5_000)]
    return nb | {"cells": nb["cells"] + [cell_of(nb, "softmax")] * 15_000 + stubs}


@file_of("unknown ids")
def unknown_ids(nb):
    unknown = {"cell_type": "code", "id": "tanh", "source": "raise SystemExit"}
    return nb | {"cells": [unknown | {"metadata": {"nbgrader": {"grade_id": "tanh", "solution": True}}}, *nb["cells"]]}


def every_cell(**changes):
    """Each cell with these entries replaced, or left out where the value is ``...``."""

    def make(nb: dict) -> dict:
        cells = [{**cell, **changes} for cell in nb["cells"]]
        return nb | {"cells": [{k: v for k, v in cell.items() if v is not ...} for cell in cells]}

    return make


NO_EXERCISE = f"{FILE} holds no exercise of {CHAPTER.name}; hand in the notebook of this chapter"
file_of("metadata null")(every_cell(metadata=None))
file_of("metadata missing")(every_cell(metadata=...))
file_of("metadata a list")(every_cell(metadata=["nbgrader"]))
file_of("metadata a string")(every_cell(metadata="nbgrader"))
file_of("nbgrader null")(every_cell(metadata={"nbgrader": None}))
file_of("grade_id a number")(every_cell(metadata={"nbgrader": {"grade_id": 7}}))
file_of("grade_id a list")(every_cell(metadata={"nbgrader": {"grade_id": ["softmax"]}}))
file_of("cell ids missing")(every_cell(id=...))
file_of("cell ids all the same")(every_cell(id="pad_batch"))
file_of("cell ids null")(every_cell(id=None))
file_of("neither id nor metadata", NO_EXERCISE)(every_cell(id=..., metadata=...))
file_of("cell type null")(every_cell(cell_type=None))
file_of("cell type raw")(every_cell(cell_type="raw"))
file_of("outputs null")(every_cell(outputs=None, execution_count="seven"))
file_of("outputs of nonsense")(every_cell(outputs=[None, 3, {"output_type": [], "data": 1}]))
file_of("large output")(every_cell(outputs=[{"output_type": "stream", "text": "x" * 2_000_000}]))
file_of("attachments of nonsense")(every_cell(attachments=[1], extra={"a": [None]}))

# ---------------------------------------------------------------- sources

LINES = SOFTMAX.splitlines(keepends=True)
SOURCES = {
    "source of lines": LINES,
    "source with windows lines": SOFTMAX.replace("\n", "\r\n"),
    "source with old lines": SOFTMAX.replace("\n", "\r"),
    "source with tabs": SOFTMAX.replace("    ", "\t"),
    "source with a form feed": "\f\n" + SOFTMAX,
    "lone surrogate": "# \ud800\n" + SOFTMAX,
    "surrogates the wrong way round": SOFTMAX + "\n'\ude00\ud83d'",
    "emoji": "# 🙂 é ẹ́ א\n" + SOFTMAX,
    "line magic": "%matplotlib inline\n" + SOFTMAX,
    "cell magic time": "%%time\n" + SOFTMAX,
    "shell line": "!pip install torch\n" + SOFTMAX + "\n!ls",
    "question mark": SOFTMAX + "\nsoftmax?\n?softmax",
    "magic within": SOFTMAX + "\nif True:\n    %timeit softmax(torch.ones(3))",
    "input after it": SOFTMAX + "\nname = input('Your name? ')",
    "plot after it": SOFTMAX + "\nplt.plot([1, 2])\nplt.show()",
    "error after it": SOFTMAX + "\nassert softmax is None, 'never'",
}
for name, source in SOURCES.items():
    file_of(name)(lambda nb, source=source: with_softmax(nb, source))

WRONG_SOURCES = {
    "source null": (None, "not written yet"),
    "source a number": (3, "the source of this cell is not text"),
    "source an object": ({"a": SOFTMAX}, "the source of this cell is not text"),
    "source of lines and a null": ([*LINES, None], "the source of this cell is not text"),
    "source too long": (SOFTMAX + "\n#" + "x" * 100_000, "this cell is longer than 100,000 characters; shorten it"),
    "nul in a source": (SOFTMAX + "\n'\0'", "The cell is not Python: source code string cannot contain null bytes."),
    "syntax error": ("def softmax(o) return o", "The cell is not Python"),
    "tabs and spaces mixed": ("def softmax(o):\n\tx = o\n        return x", "The cell is not Python"),
    "unclosed bracket": (SOFTMAX + "\nprint((((", "The cell is not Python"),
    "indented": ("    " + SOFTMAX, "The cell is not Python"),
    "conflict in a cell": ("<<<<<<< HEAD\n" + SOFTMAX + "\n=======\n>>>>>>> mine", "The cell is not Python"),
    "shell cell": ("%%bash\n" + SOFTMAX, "begin with % or ! do not belong into a graded cell"),
    "deep brackets": (SOFTMAX + "\nx = " + "(" * 5000 + ")" * 5000, "The cell"),
    "deep minus": (SOFTMAX + "\nx = " + "-" * 50_000 + "1", "The cell"),
    "input within": ("def softmax(o):\n    return input()", "EOFError"),
    "input before it": ("input()\n" + SOFTMAX, "EOFError"),
    "other name": (SOFTMAX.replace("def softmax", "def soft_max").replace("@exercise\n", ""), "softmax is not defined"),
    "return outside": (SOFTMAX + "\nreturn", "'return' outside function"),
    "star import": ("from unrolled.losses import *", "softmax"),
}
for name, (source, told) in WRONG_SOURCES.items():
    file_of(name, told, softmax=0)(lambda nb, source=source: with_softmax(nb, source))


@file_of("surrogate in a text answer")
def surrogate_in_a_text_answer(nb):
    cell_of(nb, "explain-position")["source"] = "the order \udfff <script>alert(1)</script>"
    return nb


# ---------------------------------------------------------------- files and folders


@folder_of("link to the solution", NOT_A_FILE)
def link_to_the_solution(folder, nb):
    (folder / FILE).symlink_to(SOLUTION)


@folder_of("dangling link", NOT_A_FILE)
def dangling_link(folder, nb):
    (folder / FILE).symlink_to("nowhere.ipynb")


@folder_of("link to itself", NOT_A_FILE)
def link_to_itself(folder, nb):
    (folder / FILE).symlink_to(FILE)


@folder_of("link to a device", NOT_A_FILE)
def link_to_a_device(folder, nb):
    (folder / FILE).symlink_to("/dev/zero")


@folder_of("pipe", NOT_A_FILE)
def pipe(folder, nb):
    os.mkfifo(folder / FILE)


@folder_of("socket", NOT_A_FILE)
def unix_socket(folder, nb):
    here = os.getcwd()
    os.chdir(folder)  # the address of a socket is short
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(FILE)
    os.chdir(here)


@folder_of("directory", NOT_A_FILE)
def directory(folder, nb):
    (folder / FILE).mkdir()
    (folder / FILE / FILE).write_text(json.dumps(nb))


@folder_of("unreadable", f"{FILE} may not be read; allow others to read it")
def unreadable(folder, nb):
    (folder / FILE).write_text(json.dumps(nb))
    (folder / FILE).chmod(0)


@folder_of("unreadable folder", f"{CHAPTER.name} may not be read; allow others to read the folder")
def unreadable_folder(folder, nb):
    (folder / FILE).write_text(json.dumps(nb))
    folder.chmod(0)


@folder_of("unreadable student", f"{CHAPTER.name} may not be read; allow others to read the folder")
def unreadable_student(folder, nb):
    (folder / FILE).write_text(json.dumps(nb))
    folder.parent.chmod(0)


@folder_of("200 MB", f"{FILE} is larger than 20 MB; clear the outputs")
def large(folder, nb):
    with open(folder / FILE, "wb") as file:
        file.write(json.dumps(nb).encode())
        file.truncate(200 * 2**20)


@folder_of("many small objects", UNREADABLE)
def many_small_objects(folder, nb):
    (folder / FILE).write_bytes(b'{"cells": [' + b"{}," * (19 * 2**20 // 3) + b"{]}")


RENAMED = {
    "renamed by a browser": f"{CHAPTER.slug} (1).ipynb",
    "renamed by hand": "my homework.ipynb",
    "renamed in capitals": FILE.upper(),
    "renamed as text": f"{FILE}.txt",
    "renamed with script": "<img src=x onerror=alert(1)>.ipynb",
    "renamed with a new line": "a\nb.ipynb",
    "renamed in bytes": os.fsdecode(b"\xff\xfe.ipynb"),
}
for name, file_name in RENAMED.items():
    folder_of(name)(lambda folder, nb, file_name=file_name: (folder / file_name).write_text(json.dumps(nb)))


@folder_of("renamed with script and broken", "is not a readable notebook; open it in JupyterLab")
def renamed_with_script_and_broken(folder, nb):
    (folder / "<img src=x onerror=alert(1)>.ipynb").write_text("{")


@folder_of("in a folder of its own")
def in_a_folder_of_its_own(folder, nb):
    for name in ("homework", "__MACOSX", ".ipynb_checkpoints"):
        (folder / name).mkdir()
        (folder / name / FILE).write_text(json.dumps(nb) if name == "homework" else "{")


@folder_of("two and none of the name", f"There are 2 notebooks and none is called {FILE}; hand in one, under this name")
def two_and_none_of_the_name(folder, nb):
    for name in ("one.ipynb", "two.ipynb"):
        (folder / name).write_text(json.dumps(nb))


@folder_of("one too many")
def one_too_many(folder, nb):
    (folder / FILE).write_text(json.dumps(nb))
    (folder / "draft.ipynb").write_text("{")


@folder_of("nothing", f"There is no {FILE} in the submission; hand in the notebook itself, under this name")
def nothing(folder, nb):
    pass


@folder_of("a zip", f"There is no {FILE} in the submission (there is homework.zip); hand in the notebook itself")
def a_zip(folder, nb):
    with zipfile.ZipFile(folder / "homework.zip", "w") as archive:
        archive.writestr(FILE, json.dumps(nb))


@folder_of("only a checkpoint", f"There is no {FILE} in the submission")
def only_a_checkpoint(folder, nb):
    (folder / ".ipynb_checkpoints").mkdir()
    (folder / ".ipynb_checkpoints" / f"{CHAPTER.slug}-checkpoint.ipynb").write_text(json.dumps(nb))


@folder_of("a file for a folder", f"{CHAPTER.name} is not a folder; hand in a folder of this name with {FILE} in it")
def a_file_for_a_folder(folder, nb):
    folder.rmdir()
    folder.write_text(json.dumps(nb))


@folder_of("folder of another", f"{CHAPTER.name} is a link; hand in the notebook itself")
def folder_of_another(folder, nb):
    folder.rmdir()
    folder.symlink_to(f"../0 first/{CHAPTER.name}")


@folder_of("linked student", "linked student is a link; hand in the notebook itself")
def linked_student(folder, nb):
    folder.rmdir()
    folder.parent.rmdir()
    folder.parent.symlink_to("0 first")


@folder_of("files beside it")
def files_beside_it(folder, nb):
    (folder / FILE).write_text(json.dumps(nb))
    (folder / "secret").symlink_to("/etc/passwd")
    (folder / "torch.py").write_text("raise SystemExit")
    (folder / "closed.txt").write_text("x")
    (folder / "closed.txt").chmod(0)
    os.mkfifo(folder / "pipe.txt")
    with open(folder / "large.bin", "wb") as file:
        file.truncate(2**40)


TIMESTAMPS = {"timestamp of nonsense": b"yesterday, I think", "timestamp of bytes": b"\xff\xfe"}
for name, stamp in (TIMESTAMPS | {"timestamp too early": b"0001-01-01 00:00:00 UTC"}).items():

    @folder_of(name)
    def timestamp(folder, nb, stamp=stamp):
        (folder / FILE).write_text(json.dumps(nb))
        (folder / "timestamp.txt").write_bytes(stamp)


@folder_of("timestamp a pipe")
def timestamp_a_pipe(folder, nb):
    (folder / FILE).write_text(json.dumps(nb))
    os.mkfifo(folder / "timestamp.txt")


# ---------------------------------------------------------------- names of students

for name in ("Ada", "ada", "Zo\u00eb", "Zoe\u0308", "דוד", "李雷", "o'brien", "--help", "\\", "é" * 120):
    student(name)
for name in ("*", "[a]", "{student_id}", "%s", "[red]x", "a,b", "=1+1", "'; DROP TABLE student; --"):
    student(name)
CANNOT_BE_SHOWN = "the name holds characters that cannot be shown; rename the folder and grade again."
for name in ("new\nline", "tab\there", "\u202egnp.exe", "zero\u200bwidth", os.fsdecode(b"bytes \xff"), "esc\x1b[2J"):
    student(name, CANNOT_BE_SHOWN)
student("x" * 200, "the name is longer than 128 characters; rename the folder")
student(".hidden", "the name begins with a dot, or begins or ends with a space; rename the folder")
student("space after ", "the name begins with a dot, or begins or ends with a space; rename the folder")

NOT_GRADED = [name for name, case in CASES.items() if not case.points]

# ---------------------------------------------------------------- the class


@dataclass(frozen=True)
class Graded:
    """The class after grading: what the command said, and the marks in the gradebook."""

    course: Path
    done: object
    seconds: float
    megabytes: float
    marks: dict[str, list[Mark]]
    before: list[tuple]

    def points(self, student: str) -> dict[str, float]:
        return {mark.exercise: mark.points for mark in self.marks[student]}

    def comments(self, student: str) -> str:
        return "\n".join(mark.comment for mark in self.marks[student])


@pytest.fixture(scope="module")
def honest(blank_course, tmp_path_factory):
    """A class of honest students alone, graded."""
    course = copy_course(blank_course, tmp_path_factory.mktemp("honest") / "course")
    deserved = honest_class(course)
    with chdir(course):
        assert main(["grade", CHAPTER.name]) == 0
    return {name: marks(course, CHAPTER.name, [name]) for name in deserved}, deserved


@pytest.fixture(scope="module")
def graded(blank_course, tmp_path_factory):
    """The same class with every bad submission in it, graded by one command."""
    course = copy_course(blank_course, tmp_path_factory.mktemp("bad") / "course")
    honest_class(course)
    for name, case in CASES.items():
        case.hand_in(course, name)
    before, start = inventory(course / "submitted"), time.monotonic()
    done = run(course, "autograder", "grade", CHAPTER.name)
    seconds = time.monotonic() - start
    people = [name for name in os.listdir(course / "submitted") if name not in NOT_GRADED]
    found = {name: [] for name in people}
    for mark in marks(course, CHAPTER.name, people):
        found[mark.student].append(mark)
    largest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return Graded(course, done, seconds, largest, found, before)


def inventory(folder: Path) -> list[tuple]:
    """Every file below a folder: what it is, how large, when changed, where it leads."""
    found = []
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        leads = os.readlink(path) if path.is_symlink() else ""
        found.append((str(path.relative_to(folder)), status.st_mode, status.st_size, status.st_mtime_ns, leads))
    return found


@pytest.mark.case
@pytest.mark.parametrize("name", CASES, ids=ascii)
def test_a_bad_submission_gets_what_it_deserves(graded, name):
    case = CASES[name]
    if not case.points:
        shown = ascii(name) if not name.isprintable() or name != name.strip() else name
        line = next(line for line in graded.done.stderr.splitlines() if line.strip().startswith(shown[:50]))
        assert case.told in line
        assert name not in os.listdir(graded.course / "autograded")
        return
    assert graded.points(name) == case.points, graded.comments(name)
    told = graded.comments(name)
    assert case.told in told, told
    assert "Traceback" not in told and 'File "' not in told
    refused = refusals(graded.marks[name]).get(name)
    if case.told and not any(case.points.values()):
        assert refused and is_one_sentence(refused), refused
        assert f"{name}: {refused}" in graded.done.stdout
    else:
        assert refused is None, refused


def is_one_sentence(text: str) -> bool:
    return bool(re.fullmatch(r"[A-Z0-9?a-z][^\n]{20,200}\.", text)) and ". " not in text.replace(". ipynb", "")


def test_there_are_enough():
    assert len(CASES) >= 40


def test_the_others_are_graded_as_if_nothing_had_happened(graded, honest):
    alone, deserved = honest
    for name, points in deserved.items():
        assert graded.points(name) == points
        assert graded.marks[name] == alone[name]


def test_the_exit_status_and_one_sentence_each_tell_what_was_not_graded(graded):
    assert graded.done.returncode == 1
    lines = graded.done.stderr.splitlines()
    assert lines[0] == f"autograder: {len(NOT_GRADED)} submissions were not graded, all others are:"
    assert len(lines) == 1 + len(NOT_GRADED)
    assert "Traceback" not in graded.done.stdout


def test_nothing_that_was_handed_in_is_lost_or_changed(graded):
    assert inventory(graded.course / "submitted") == graded.before


def test_nothing_that_was_handed_in_besides_the_notebook_goes_on(graded):
    assert os.listdir(graded.course / "autograded" / "files beside it" / CHAPTER.name) == [FILE]


def test_time_and_memory_are_bounded(graded):
    assert graded.seconds < SECONDS
    assert graded.megabytes < MEGABYTES


def test_what_is_done_is_not_done_again(graded):
    log = graded.course / "verdicts.log"
    size = log.stat().st_size
    done = run(graded.course, "autograder", "grade", CHAPTER.name)
    assert (done.returncode, done.stderr) == (1, graded.done.stderr)
    assert log.stat().st_size == size
    assert done.stdout == graded.done.stdout


def test_feedback_can_be_made_and_runs_no_script(graded):
    done = run(graded.course, "nbgrader", "generate_feedback", CHAPTER.name, "--student=renamed with script and broken")
    assert done.returncode == 0, done.stderr
    page = graded.course / "feedback" / "renamed with script and broken" / CHAPTER.name / f"{CHAPTER.slug}.html"
    assert "is not a readable notebook" in page.read_text("utf8") and "<img src=x" not in page.read_text("utf8")
