"""Marks for other programs: what comes out can be read in again, and no spreadsheet runs it."""

import csv
import io
import json
import random
import re

import pytest
from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory
from nbgrader.plugins import CsvExportPlugin
from test_report import CHAPTER, everything, record_class

from autograder.cli import main
from autograder.course_directory import init_course, load_config
from autograder.export import FORMATS, SEPARATORS, as_csv, plain, safe
from autograder.report_marks import ChapterMarks, HandedIn, Person, Score, read_marks

EVIL = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "'=1", "''-x", "a;=1", "a,-b", "＝1", "\n@", 'q"u', "", "-"]


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    folder = tmp_path_factory.mktemp("exported") / "course"
    init_course(folder, [CHAPTER])
    record_class(
        folder, {"ada": everything("correct"), "bob": everything("wrong", softmax="correct"), "-c": everything("wrong")}
    )
    with _gradebook(folder) as gradebook:
        gradebook.update_or_create_student(
            "ada", first_name="=HYPERLINK(1)", last_name="Lovelace, of", email="a@b.org", lms_user_id="4711"
        )
        gradebook.update_or_create_student("nobody", first_name="No", last_name="Body")
        grade = gradebook.find_grade("explain-position", CHAPTER.slug, CHAPTER.name, "ada")
        grade.manual_score, grade.needs_manual_grade = 2.5, False
        gradebook.find_submission_notebook(CHAPTER.slug, CHAPTER.name, "bob").late_submission_penalty = 0.5
        gradebook.db.commit()
    return folder


def _gradebook(folder):
    where = CourseDirectory(config=load_config(folder))
    return Gradebook(where.db_url, where.course_id)


def rows_of(text):
    return list(csv.reader(io.StringIO(text)))


def a_class(*people):
    """One chapter of 10 points in which everybody got 7.5 minus a penalty of 1."""
    score = {"check-a": Score(5.0, 6), "by-hand": Score(2.5, 4)}
    handed_in = {person.id: HandedIn(person.id, penalty=1.0, scores=score) for person in people}
    return ChapterMarks("01_recurrence", None, 10.0, list(score), {p.id: p for p in people}, handed_in)


def test_what_is_made_safe_comes_back():
    chooser = random.Random(0)
    letters = "=+-@'\t\r\n;, aä\"\0＝"
    for text in [*EVIL, *("".join(chooser.choices(letters, k=chooser.randrange(9))) for _ in range(5000))]:
        assert plain(safe(text)) == text
        for part in re.split(f"[{SEPARATORS}]", safe(text)):
            assert not part.startswith(("=", "+", "-", "@", "＝", "\0")), repr(text)
        assert not safe(text).startswith(("\t", "\r", "\n"))
    assert [safe(text) for text in ("Ada", "o'Neil", "a-b", "1 = 1", "x@y.org")] == [
        "Ada",
        "o'Neil",
        "a-b",
        "1 = 1",
        "x@y.org",
    ]


@pytest.mark.parametrize("form", ["nbgrader", "canvas", "moodle"])
def test_the_round_trip_of_hostile_names(form):
    people = [Person(text or "empty", text, text[::-1], f"{text}@x", text) for text in EVIL]
    text = FORMATS[form]([a_class(*people)])
    head, *rows = [[plain(cell) for cell in row] for row in rows_of(text)]
    rows = rows[1:] if form == "canvas" else rows
    who = head.index({"nbgrader": "student_id", "canvas": "SIS Login ID", "moodle": "Username"}[form])
    score = head.index({"nbgrader": "score", "canvas": "01_recurrence", "moodle": "01_recurrence (Real)"}[form])
    assert [row[who] for row in rows] == [person.id for person in people]
    assert {float(row[score]) for row in rows} == {6.5}
    for cell in (cell for row in rows_of(text) for cell in row):
        assert not cell.startswith(("=", "+", "-", "@", "\t", "\r"))


def test_numbers_are_numbers_and_text_is_text():
    assert as_csv([["-1", -1.0, 'a"b']]) == '"\'-1",-1.0,"a""b"\r\n'


def test_ours_and_nbgraders_own_export_agree(course, tmp_path):
    with _gradebook(course) as gradebook:
        student = gradebook.find_student("ada")
        student.last_name, name = "Lovelace", student.last_name  # nbgrader itself does not quote a comma
        CsvExportPlugin(to=str(tmp_path / "theirs.csv")).export(gradebook)
        student.last_name = name
    written = io.StringIO((tmp_path / "theirs.csv").read_text("utf8"))
    theirs = {row["student_id"]: row for row in csv.DictReader(written)}
    ours = {plain(row["student_id"]): row for row in csv.DictReader(io.StringIO(exported(course, "nbgrader")))}
    assert ours.keys() == theirs.keys() == {"ada", "bob", "-c", "nobody"}
    for name, row in ours.items():
        assert list(row) == list(theirs[name])
        for column in ("raw_score", "late_submission_penalty", "score", "max_score"):
            assert float(row[column]) == float(theirs[name][column])
        assert row["timestamp"] == theirs[name]["timestamp"] and row["assignment"] == CHAPTER.name
    assert float(ours["ada"]["score"]) == 16.5 and float(ours["bob"]["score"]) == 1.5


def exported(course, form):
    return FORMATS[form](read_marks(course, [CHAPTER.name]))


def test_canvas(course):
    head, most, *rows = rows_of(exported(course, "canvas"))
    assert head == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", CHAPTER.name]
    assert most == ["    Points Possible", "", "", "", "", "17.0"]
    found = {plain(row[3]): row for row in rows}
    assert found["ada"] == ["Lovelace, of, =HYPERLINK(1)", "4711", "", "ada", "", "16.5"]
    assert found["nobody"] == ["Body, No", "", "", "nobody", "", ""]


def test_moodle(course):
    head, *rows = rows_of(exported(course, "moodle"))
    assert head == ["First name", "Last name", "ID number", "Username", "Email address", f"{CHAPTER.name} (Real)"]
    assert rows[1] == ["'=HYPERLINK(1)", "Lovelace, of", "4711", "ada", "a@b.org", "16.5"]


def test_json_holds_every_mark_as_it_is(course):
    (found,) = json.loads(exported(course, "json"))
    students = {row["id"]: row for row in found["students"]}
    assert students["ada"]["first_name"] == "=HYPERLINK(1)" and students["ada"]["score"] == 16.5
    assert students["ada"]["exercises"]["explain-position"] == {"score": 2.5, "most": 3, "waits": False}
    assert students["nobody"]["handed_in"] is False and "score" not in students["nobody"]


def test_several_chapters_stand_side_by_side():
    first, second = a_class(Person("a"), Person("b")), a_class(Person("a"), Person("b"))
    second.chapter = "02_bptt"
    del second.handed_in["b"]
    assert rows_of(FORMATS["canvas"]([first, second]))[3][-2:] == ["6.5", ""]
    assert len(rows_of(FORMATS["nbgrader"]([first, second]))) == 5
    assert [chapter["chapter"] for chapter in json.loads(FORMATS["json"]([first, second]))] == [
        "01_recurrence",
        "02_bptt",
    ]


@pytest.mark.parametrize("form", FORMATS)
def test_the_command(course, tmp_path, monkeypatch, capsys, form):
    monkeypatch.chdir(course)
    assert main(["export", CHAPTER.name, CHAPTER.name, "--format", form, "--out", str(tmp_path / "marks")]) == 0
    said = capsys.readouterr()
    assert CHAPTER.name in said.out and ("apostrophe" in said.err) == (form != "json")
    assert "\ufeff" not in (tmp_path / "marks").read_bytes().decode("utf8")
    assert (tmp_path / "marks").stat().st_mode & 0o077 == 0
    assert [path.name for path in tmp_path.iterdir()] == ["marks"]


def test_feedback_in_one_folder_per_student(course, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(course)
    assert main(["export-feedback", CHAPTER.name, "--out", str(tmp_path / "upload")]) == 0
    assert "3 pages" in capsys.readouterr().out
    found = sorted(path.relative_to(tmp_path / "upload").as_posix() for path in (tmp_path / "upload").rglob("*.html"))
    assert found == [f"{student}/{CHAPTER.name}.html" for student in ("-c", "ada", "bob")]
    for path in (tmp_path / "upload").rglob("*.html"):
        text = path.read_text("utf8")
        assert "<script" not in text and not re.search(r'(?:src|href)="(?!#|data:)', text)
    assert "2.5 of 3 points" in (tmp_path / "upload" / "ada" / f"{CHAPTER.name}.html").read_text("utf8")
    assert main(["export-feedback", CHAPTER.name, "--out", str(tmp_path / "upload")]) == 1
    assert "is not an empty folder" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["export", "99_no", "--format", "json", "--out", "x"], "There is no chapter 99_no"),
        (["export", "01_recurrence", "--format", "json", "--out", "no/such/x"], "cannot be written: No such file"),
        (["export", "01_recurrence", "--format", "json", "--out", "."], "cannot be written"),
        (["export-feedback", "99_no", "--out", "new"], "There is no chapter 99_no"),
        (["export-feedback", "01_recurrence", "--out", "gradebook.db"], "is not an empty folder"),
    ],
)
def test_bad_input_gets_one_sentence(course, monkeypatch, capsys, arguments, said):
    monkeypatch.chdir(course)
    assert main(arguments) == 1
    error = capsys.readouterr().err
    assert said in error and error.strip().count("\n") == 0
    assert not list(course.glob(".*.partial"))


def test_a_format_that_does_not_exist_and_no_course(tmp_path, monkeypatch, capsys):
    with pytest.raises(SystemExit) as end:
        main(["export", CHAPTER.name, "--format", "excel", "--out", "x"])
    assert end.value.code == 2 and "invalid choice" in capsys.readouterr().err
    monkeypatch.chdir(tmp_path)
    assert main(["export", CHAPTER.name, "--format", "json", "--out", "x"]) == 1
    assert "is not a course directory" in capsys.readouterr().err
