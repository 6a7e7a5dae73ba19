"""Downloads of an LMS: whose is what, which attempt counts, what is refused; nothing is lost and nothing escapes."""

import io
import json
import os
import random
import shutil
import stat
import time
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import nbformat
import pytest

from autograder import collect as module
from autograder import download
from autograder.cli import main
from autograder.collect import EARLIER, Collection
from autograder.course import Chapter
from autograder.course_directory import init_course, timestamp_of
from autograder.download import owner_of
from autograder.exercise import CourseError
from autograder.intake import MAX_FILE
from autograder.roster import Owner, Person, Roster, made_id, parsed_time, read_roster, read_times

CHAPTER = Chapter("01_recurrence")
SLUG = "recurrence.ipynb"
RELEASED = nbformat.read(CHAPTER.student, as_version=4)
MOODLE = "Lovelace Ada_12345_assignsubmission_file_"


def notebook(mark="", chapter=RELEASED):
    """A submission that can be told from others."""
    made = nbformat.from_dict(json.loads(json.dumps(chapter)))
    made.cells = [cell for cell in made.cells if cell.metadata.get("nbgrader", {}).get("solution")]
    made.metadata["mark"] = mark
    return nbformat.writes(made).encode()


def zipped(path, files, when=(2026, 11, 1, 12, 0, 0)):
    """A zip of name -> bytes (or (bytes, ZipInfo changes)), made in the order given."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files if isinstance(files, list) else files.items():
            entry = zipfile.ZipInfo(name, when)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    return path


@pytest.fixture(scope="module")
def empty_course(tmp_path_factory):
    folder = tmp_path_factory.mktemp("collected") / "course"
    init_course(folder, [CHAPTER])
    return folder


@pytest.fixture
def course(empty_course, tmp_path):
    return Path(shutil.copytree(empty_course, tmp_path / "course"))


@pytest.fixture
def run(course):
    def collected(*downloads, **options):
        return Collection(course, CHAPTER.name, **options).start(list(downloads))

    return collected


def mark_of(course, student):
    path = course / "submitted" / student / CHAPTER.name / SLUG
    return nbformat.read(path, as_version=4).metadata["mark"] if path.exists() else None


def everything(folder):
    return {
        path.relative_to(folder).as_posix(): (path.read_bytes(), path.stat().st_mtime)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


# Whose is what


@pytest.mark.parametrize(
    ("path", "owner"),
    [
        (f"{MOODLE}/recurrence.ipynb", Owner("Lovelace Ada", "recurrence.ipynb", "Moodle", "12345")),
        (f"{MOODLE[:-1]}/sub/x.ipynb", Owner("Lovelace Ada", "x.ipynb", "Moodle", "12345")),
        (f"{MOODLE}my_work.ipynb", Owner("Lovelace Ada", "my_work.ipynb", "Moodle", "12345")),
        ("Default group_assignsubmission_file_/x.ipynb", Owner("Default group", "x.ipynb", "Moodle")),
        ("lovelaceada_4711_987_x.ipynb", Owner("lovelaceada", "x.ipynb", "Canvas", "4711", 987)),
        ("lovelaceada_LATE_4711_987_x_1-2.ipynb", Owner("lovelaceada", "x_1-2.ipynb", "Canvas", "4711", 987, True)),
        ("o_neil_4711_987_12_x.ipynb", Owner("o_neil", "12_x.ipynb", "Canvas", "4711", 987)),
        ("anon_12345_987_x.ipynb", Owner("anon_12345", "x.ipynb", "Canvas", "anon_12345", 987)),
        ("LATE_anon_aB3_987_x.ipynb", Owner("anon_aB3", "x.ipynb", "Canvas", "anon_aB3", 987, True)),
        ("ada.ipynb", Owner("ada", "ada.ipynb")),
        ("ada.zip", Owner("ada", "ada.zip")),
        ("ada (1).ipynb", Owner("ada", "ada (1).ipynb")),
        ("ada/hw_1_2_final.ipynb", Owner("ada", "hw_1_2_final.ipynb")),
        (
            "ps1_ada_attempt_2026-01-30-15-00-00_x.ipynb",
            Owner("ada", "x.ipynb", "Blackboard", time=datetime(2026, 1, 30, 15, tzinfo=UTC)),
        ),
    ],
)
def test_names_are_read_as_the_lms_writes_them(path, owner):
    assert owner_of(tuple(path.split("/"))) == owner


@pytest.mark.parametrize(
    "files, students",
    [
        ({f"{MOODLE}/x.ipynb": "m", "Özil M_7_assignsubmission_file_/y.ipynb": "o"}, {"lovelace-ada", "özil-m"}),
        ({f"{MOODLE}x.ipynb": "m", "Hopper G_9_assignsubmission_file_x.ipynb": "g"}, {"lovelace-ada", "hopper-g"}),
        ({"lovelaceada_1_2_x.ipynb": "c", "hoppergrace_3_4_x.ipynb": "d"}, {"lovelaceada", "hoppergrace"}),
        ({"ada.ipynb": "a", "bob.ipynb": "b"}, {"ada", "bob"}),
        ({"ada/recurrence.ipynb": "a", "bob/whatever.ipynb": "b"}, {"ada", "bob"}),
        ({"class/ada.ipynb": "a", "class/bob.ipynb": "b", "__MACOSX/class/._ada.ipynb": "x"}, {"ada", "bob"}),
        ({"submitted/ada/01_recurrence/recurrence.ipynb": "a"}, {"ada"}),
        ({"ada/recurrence.ipynb": "a"}, {"ada"}),
        ({"ada/01_recurrence/recurrence.ipynb": "a", "ada/.ipynb_checkpoints/x.ipynb": "z"}, {"ada"}),
        ({"Ada L!/recurrence.ipynb": "a", "bob\\recurrence.ipynb": "b"}, {"ada-l", "bob"}),
    ],
)  # fmt: skip
@pytest.mark.parametrize("form", ["zip", "folder"])
def test_layouts(run, course, tmp_path, files, students, form):
    path = zipped(tmp_path / "download.zip", {name: notebook(mark) for name, mark in files.items()})
    if form == "folder":
        if any("\\" in name for name in files):
            pytest.skip("such a name only comes in a zip")
        zipfile.ZipFile(path).extractall(tmp_path / "download")
        path = tmp_path / "download"
    done = run(path)
    assert done.problems == [] and set(done.placed) == students
    assert {mark_of(course, student) for student in students} == set(files.values()) - {"x", "z"}
    assert {folder.name for folder in (course / "submitted").iterdir()} == students


def test_names_in_utf8_that_do_not_say_so(run, tmp_path):
    path = zipped(tmp_path / "c.zip", {"özilmesut_1_2_x.ipynb": notebook()})
    data = bytearray(path.read_bytes())
    data[data.index(b"PK\x03\x04") + 7] &= 0xF7
    data[data.index(b"PK\x01\x02") + 9] &= 0xF7
    path.write_bytes(data)
    assert set(run(path).placed) == {"özilmesut"}


def test_a_zip_or_a_notebook_of_one_student(run, course, tmp_path):
    (tmp_path / "bob.ipynb").write_bytes(notebook("b"))
    one = zipped(tmp_path / "lovelaceada_4711_987_hw.zip", {SLUG: notebook("c")})
    assert run(zipped(tmp_path / "ada.zip", {SLUG: notebook("a")}), tmp_path / "bob.ipynb", one).problems == []
    assert [mark_of(course, name) for name in ("ada", "bob", "lovelaceada")] == ["a", "b", "c"]


def test_zips_that_students_handed_in_one_level_only(run, course, tmp_path):
    inner, twice = io.BytesIO(), io.BytesIO()
    zipped(inner, {"work/recurrence.ipynb": notebook("inner"), "data.csv": b"1"})
    zipped(twice, {"again.zip": inner.getvalue()})
    files = {f"{MOODLE}/hw.zip": inner.getvalue(), "x_3_assignsubmission_file_/hw.zip": twice.getvalue()}
    done = run(zipped(tmp_path / "m.zip", files))
    assert mark_of(course, "lovelace-ada") == "inner" and list(done.placed) == ["lovelace-ada"]
    assert any("holds another zip" in said for said in done.problems)
    assert any("holds no notebook" in said for said in done.problems)


def test_other_files_are_named_not_lost_in_silence(run, tmp_path):
    files = {
        f"{MOODLE}/recurrence.ipynb": notebook(), f"{MOODLE}/figure.png": b"png", "bob_1_2_report.pdf": b"%PDF",
        "eve_5_text.html": b"typed", "Kim_8_assignsubmission_onlinetext/onlinetext.html": b"typed",
    }  # fmt: skip
    done = run(zipped(tmp_path / "m.zip", files))
    assert [said for said in done.remarks if "figure.png is no notebook" in said]
    said = "\n".join(done.problems)
    assert "report.pdf is no notebook, and there is none" in said
    assert "typed into Canvas" in said and "typed into Moodle" in said and len(done.problems) == 3


# Which attempt counts


def test_the_newest_attempt_counts_and_the_others_are_named(run, course, tmp_path):
    files = {"adal_1_900_recurrence-1.ipynb": notebook("new"), "adal_1_80_recurrence.ipynb": notebook("old")}
    done = run(zipped(tmp_path / "c.zip", files))
    assert mark_of(course, "adal") == "new" and done.problems == []
    assert any("not adal_1_80_recurrence.ipynb: the newest attempt counts" in said for said in done.remarks)


def test_of_a_moodle_folder_the_later_copy_counts(run, course, tmp_path):
    names = ["recurrence (2).ipynb", "recurrence.ipynb", "recurrence (1).ipynb"]
    run(zipped(tmp_path / "m.zip", {f"{MOODLE}/{name}": notebook(name) for name in names}))
    assert mark_of(course, "lovelace-ada") == "recurrence (2).ipynb"


def test_the_notebook_of_the_chapter_counts_whatever_else_is_there(run, course, tmp_path):
    other = nbformat.writes(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1")]))
    files = {"adal_1_3_notes.ipynb": other, "adal_1_2_recurrence.ipynb": notebook("it"), "adal_1_4_bad.ipynb": b"{"}
    done = run(zipped(tmp_path / "c.zip", files))
    assert mark_of(course, "adal") == "it" and len(done.remarks) == 2
    assert any("holds no exercise" in said for said in done.remarks)


def test_an_unreadable_only_submission_is_placed_so_that_grading_says_why(run, course, tmp_path):
    done = run(zipped(tmp_path / "c.zip", {"adal_1_4_bad.ipynb": b"{"}))
    assert (course / "submitted" / "adal" / CHAPTER.name / SLUG).read_bytes() == b"{"
    assert any("is not a readable notebook; grading will say so" in said for said in done.remarks)


def test_the_same_twice_is_said_once(run, tmp_path):
    archive = zipped(tmp_path / "c.zip", {"adal_1_4_x.ipynb": notebook()})
    assert run(archive, shutil.copy(archive, tmp_path / "d.zip") and tmp_path / "d.zip").remarks == []
    assert run(archive).placed == {"adal": "unchanged"}


# What is there already


def later(path, mark, year=2026, name="adal_1_2_recurrence.ipynb"):
    return zipped(path, {name: notebook(mark)}, (year, 1, 1, 0, 0, 0))


def test_a_newer_download_replaces_and_keeps(run, course, tmp_path):
    run(later(tmp_path / "a.zip", "first", 2026))
    done = run(later(tmp_path / "b.zip", "second", 2027))
    folder = course / "submitted" / "adal" / CHAPTER.name
    assert mark_of(course, "adal") == "second" and done.placed["adal"].startswith("replaced, the old one is")
    assert nbformat.reads((folder / f"{SLUG}{EARLIER}1").read_text(), 4).metadata["mark"] == "first"
    done = run(tmp_path / "a.zip")
    assert mark_of(course, "adal") == "second" and "the other is older" in done.placed["adal"]
    assert len(list(folder.iterdir())) == 3


@pytest.mark.parametrize(("year", "counts"), [(2027, "second"), (2026, "first"), (2025, "first")])
def test_what_is_graded_gives_way_only_to_what_is_newer(run, course, tmp_path, year, counts):
    run(later(tmp_path / "a.zip", "first", 2026))
    graded = course / "autograded" / "adal" / CHAPTER.name / SLUG
    graded.parent.mkdir(parents=True)
    graded.touch()
    done = run(later(tmp_path / "b.zip", "second", year))
    assert mark_of(course, "adal") == counts
    assert done.placed["adal"].startswith("kept" if counts == "first" else "replaced")


def test_graded_with_a_time_does_not_give_way_to_one_without(run, course, tmp_path):
    run(later(tmp_path / "a.zip", "first"), times={"1": datetime(2026, 1, 1, tzinfo=UTC)})
    graded = course / "autograded" / "adal" / CHAPTER.name / SLUG
    graded.parent.mkdir(parents=True)
    graded.touch()
    assert "nothing says that the other is newer" in run(later(tmp_path / "b.zip", "second", 2030)).placed["adal"]
    done = run(tmp_path / "b.zip", times={"1": datetime(2026, 1, 2, tzinfo=UTC)})
    assert mark_of(course, "adal") == "second" and "replaced" in done.placed["adal"]
    folder = course / "submitted" / "adal" / CHAPTER.name
    assert timestamp_of(folder) == "2026-01-02 00:00:00 UTC"
    assert (folder / f"timestamp.txt{EARLIER}1").read_text() == "2026-01-01 00:00:00 UTC"


def test_an_older_download_does_not_win_by_the_time_of_the_newer(run, course, tmp_path):
    times = {"1": datetime(2026, 11, 2, tzinfo=UTC)}  # of the student, not of the file
    run(later(tmp_path / "b.zip", "second", 2027), times=times)
    assert "the other is older" in run(later(tmp_path / "a.zip", "first", 2026), times=times).placed["adal"]
    assert mark_of(course, "adal") == "second"


def test_submissions_may_lie_on_another_disk(run, course, tmp_path):
    (course / "submitted").rmdir()
    (tmp_path / "disk").mkdir()
    (course / "submitted").symlink_to(tmp_path / "disk")
    assert run(later(tmp_path / "a.zip", "first")).problems == [] and mark_of(course, "adal") == "first"


def test_a_dry_run_says_the_same_and_changes_nothing(run, course, tmp_path):
    run(later(tmp_path / "a.zip", "first"))
    before = everything(course)
    files = {"adal_1_2_recurrence.ipynb": notebook("2"), "eve_3_4_x.ipynb": notebook()}
    second = zipped(tmp_path / "b.zip", files, (2027, 1, 1, 0, 0, 0))
    said = run(second, dry_run=True)
    assert everything(course) == before and "replaced" in said.placed["adal"] and "new" in said.placed["eve"]
    assert run(second) == said


def test_links_in_the_course_directory_are_not_followed(run, course, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (course / "submitted" / "adal").symlink_to(tmp_path / "elsewhere")
    done = run(later(tmp_path / "a.zip", "first"))
    assert "is not a folder" in done.problems[0] and not list((tmp_path / "elsewhere").iterdir())


# Times


def test_lateness_needs_a_time(run, course, tmp_path):
    archive = zipped(tmp_path / "c.zip", {"adal_LATE_1_2_x.ipynb": notebook(), "eve_3_4_x.ipynb": notebook("e")})
    done = run(archive)
    folder = course / "submitted" / "adal" / CHAPTER.name
    assert timestamp_of(folder) is None and len(done.remarks) == 1
    assert (
        "LATE but gives no time" in done.remarks[0] and "submitted/adal/01_recurrence/timestamp.txt" in done.remarks[0]
    )
    done = run(archive, times={"1": datetime(2026, 11, 2, 3, 4, 5, tzinfo=UTC)})
    assert timestamp_of(folder) == "2026-11-02 03:04:05 UTC" and done.remarks == []
    assert done.placed["adal"] == "unchanged, handed in 2026-11-02 03:04:05 UTC"


def test_a_time_that_changes_after_grading_is_said(run, course, tmp_path):
    archive = zipped(tmp_path / "c.zip", {"adal_LATE_1_2_x.ipynb": notebook()})
    run(archive)
    graded = course / "autograded" / "adal" / CHAPTER.name / SLUG
    graded.parent.mkdir(parents=True)
    graded.touch()
    (course / "submitted" / "adal" / CHAPTER.name / "timestamp.txt").write_text("2026-11-01 00:00:00 UTC")
    assert run(archive).remarks == []  # somebody wrote it there: all is known
    done = run(archive, times={"adal": datetime(2026, 11, 2, tzinfo=UTC)})
    assert "(was 2026-11-01 00:00:00 UTC)" in done.placed["adal"]
    assert "`autograder grade 01_recurrence --all --student adal`" in done.remarks[0]


def test_times_in_names_and_beside_notebooks(run, course, tmp_path):
    name = "ps1_{}_attempt_2026-01-{}-15-00-00_recurrence.ipynb"
    files = {name.format("ada", "30"): notebook("new"), name.format("ada", "02"): notebook("old")}
    run(zipped(tmp_path / "b.zip", files))
    assert mark_of(course, "ada") == "new"
    assert timestamp_of(course / "submitted" / "ada" / CHAPTER.name) == "2026-01-30 15:00:00 UTC"
    files = {
        "bob/01_recurrence/recurrence.ipynb": notebook(),
        "bob/01_recurrence/timestamp.txt": b"2026-02-03 04:05:06 UTC",
    }
    run(zipped(tmp_path / "p.zip", files | {"eve/recurrence.ipynb": notebook(), "eve/timestamp.txt": b"soon"}))
    assert timestamp_of(course / "submitted" / "bob" / CHAPTER.name) == "2026-02-03 04:05:06 UTC"
    assert timestamp_of(course / "submitted" / "eve" / CHAPTER.name) is None


def test_moodles_grading_worksheet(tmp_path, monkeypatch):
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    try:
        table = tmp_path / "Grades.csv"
        head = "\ufeffIdentifier,Full name,Email address,Status,Grade,Last modified (submission),Feedback comments\n"
        row = '"Participant {}","Ada Lovelace",a@b.org,"Submitted","","{}",""\n'
        table.write_text(head + row.format(12345, "Tuesday, 17 November 2026, 11:42 PM") + row.format(9, "-"), "utf8")
        assert read_times(table) == {"12345": datetime(2026, 11, 17, 22, 42, tzinfo=UTC)}
    finally:
        monkeypatch.undo()
        time.tzset()


def test_times_with_a_zone():
    assert parsed_time("2026-01-02 03:04:05 UTC", "") == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert parsed_time("2026-01-02T03:04:05+02:00", "") == datetime(2026, 1, 2, 1, 4, 5, tzinfo=UTC)


# Rosters


ADA, GRACE = Person("al1", "Ada", "Lovelace", "4711"), Person("gh2", "Grace", "Hopper", "12")
TWIN = Person("al3", "Ada", "Lovelace", "4712")


@pytest.mark.parametrize(
    ("owner", "found"),
    [
        (Owner("Lovelace Ada", "", "Moodle", "99"), "al1"),
        (Owner("Ada Lovelace", "", "Moodle", "12"), "al1"),  # 12 is Grace's id, but only a participant here
        (Owner("lovelaceada", "", "Canvas", "1"), "al1"),
        (Owner("loveada", "", "Canvas", "4711"), "al1"),  # a name that changed
        (Owner("gh2", ""), "gh2"),
        (Owner("4711", ""), "al1"),
        (Owner("Grace Hopper", ""), "gh2"),
        (Owner("Nobody At All", "", "Moodle", "12"), None),
        (Owner("mallory", ""), None),
    ],
)
def test_who_is_who(owner, found):
    roster = Roster([ADA, GRACE])
    if found:
        assert roster.find(owner) == found
    else:
        with pytest.raises(module.Refused, match="is not in the roster"):
            roster.find(owner)


def test_two_of_one_name_need_the_number():
    roster = Roster([ADA, TWIN])
    assert roster.find(Owner("Ada Lovelace", "", "Moodle", "4712")) == "al3"
    with pytest.raises(module.Refused, match="may be al1 or al3; write 7 as the lms id"):
        roster.find(Owner("Ada Lovelace", "", "Moodle", "7"))


def test_a_roster_maps_and_strangers_are_named(run, course, tmp_path):
    table = tmp_path / "class.csv"
    table.write_text("id;first name;last name;lms id\nal1;Ada;Lovelace;4711\ngh2;Grace;Hopper;12\n", "utf8")
    files = {"lovelaceada_4711_1_x.ipynb": notebook("a"), "hoppergrace_12_2_x.ipynb": notebook("g")}
    done = run(zipped(tmp_path / "c.zip", files | {"eve_5_6_x.ipynb": notebook()}), roster=read_roster(table))
    assert mark_of(course, "al1") == "a" and mark_of(course, "gh2") == "g" and len(done.placed) == 2
    assert done.problems == ["eve_5_6_x.ipynb: eve (5) is not in the roster; add a row and collect again."]


def test_blind_grading_goes_by_number(run, course, tmp_path):
    files = {f"Participant_{number}_assignsubmission_file_/x.ipynb": notebook(number) for number in ("4711", "12")}
    archive = zipped(tmp_path / "m.zip", files)
    assert set(run(archive, roster=Roster([ADA, GRACE])).placed) == {"al1", "gh2"}
    assert set(run(archive).placed) == {"participant-4711", "participant-12"}


def test_two_people_of_one_name_are_kept_apart(run, course, tmp_path):
    name = "Kim Jo_{}_assignsubmission_file_/x.ipynb"
    files = {name.format(1): notebook("1"), name.format(2): notebook("2"), f"{MOODLE}/x.ipynb": notebook("a")}
    done = run(zipped(tmp_path / "m.zip", files))
    assert set(done.placed) == {"kim-jo-1", "kim-jo-2", "lovelace-ada"} and "2 people are called" in done.remarks[0]
    run(zipped(tmp_path / "a.zip", {"lovelaceada_1_2_x.ipynb": notebook("1")}))
    done = run(zipped(tmp_path / "b.zip", {"lovelaceada_7_9_x.ipynb": notebook("7")}))
    assert "are these two people?" in done.problems[0] and mark_of(course, "lovelaceada") == "1"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("name,lms id\na,1\n", "has no column id"),
        ("id,lms id\na,1\nb,1\n", "line 3: lms id 1 stands in line 2 too"),
        ("id\na\na\n", "line 3: id a stands in line 2 too"),
        ("id,first name\n,Ada\n", "line 2: there is no id"),
        ("id\n../evil\n", "is no valid id"),
        ("id\n", "lists nobody"),
        ("", "has no column id"),
        ('id,first name\na,"x\n', "is no CSV"),
        (b"id\n\xff\xfe\n", "is not in UTF-8"),
        (None, "cannot be read"),
    ],
)
def test_bad_rosters_are_one_sentence(course, tmp_path, monkeypatch, capsys, text, says):
    monkeypatch.chdir(course)
    table = tmp_path / "class.csv"
    if text is not None:
        table.write_bytes(text if isinstance(text, bytes) else text.encode())
    assert main(["collect", CHAPTER.name, str(tmp_path), "--roster", str(table)]) == 1
    error = capsys.readouterr().err
    assert says in error and error.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("id,time\na,soon\n", "line 2: soon is no time"),
        ("id\na\n", "has no column time"),
        ("id,time\na,\n", "holds no time"),
    ],
)
def test_bad_times_are_one_sentence(tmp_path, text, says):
    table = tmp_path / "times.csv"
    table.write_text(text)
    with pytest.raises(CourseError, match=says):
        read_times(table)


def test_ids_made_of_names():
    assert [made_id(name) for name in ("Ada Lovelace", "O'Neil, Ann-Marie", "José", "a/../b")] == [
        "ada-lovelace", "o-neil-ann-marie", "josé", "a-b",
    ]  # fmt: skip
    assert made_id("Jose\u0301") == made_id("José")


# Hostile and broken


def with_good(path, evil):
    """A zip with one good submission behind what is wrong."""
    return zipped(path, [*evil, ("bob_1_2_recurrence.ipynb", notebook("good"))])


def entry(name, mode=0, flags=0):
    made = zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0))
    made.external_attr = mode << 16
    made.flag_bits |= flags
    return made


def test_zip_slip_links_and_absurd_names_are_refused_and_the_others_go_on(run, course, tmp_path):
    path = tmp_path / "evil.zip"
    names = [
        "../../escaped.ipynb", "/etc/absolute.ipynb", "C:\\temp\\drive.ipynb", "ada/../../up.ipynb",
        "..\\..\\backslash.ipynb", "x" * 300 + ".ipynb", "bell\a.ipynb", "turn\u202eover.ipynb",
        "/".join("d" * 30) + "/deep.ipynb",
    ]  # fmt: skip
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(entry(name), notebook())
        archive.writestr(entry("eve_1_2_link.ipynb", stat.S_IFLNK | 0o777), "/etc/passwd")
        archive.writestr(entry("eve_1_2_pipe.ipynb", stat.S_IFIFO | 0o666), "")
        archive.writestr("bob_1_2_recurrence.ipynb", notebook("good"))
    before = set(tmp_path.rglob("*"))
    done = run(path)
    assert list(done.placed) == ["bob"] and len(done.problems) == len(names) + 2
    assert all(said.count("\n") == 0 and said.isprintable() and len(said) < 300 for said in done.problems)
    new = {made.relative_to(course).parts[0] for made in set(tmp_path.rglob("*")) - before}
    assert new <= {"submitted", ".judge-lock"} and os.listdir(course / "submitted") == ["bob"]


def test_bombs_are_seen_before_they_are_read(run, course, tmp_path, monkeypatch):
    bomb = b" " * (MAX_FILE + 1)
    reads = []
    real = download._read_entry
    monkeypatch.setattr(download, "_read_entry", lambda a, e: (reads.append(e.filename), real(a, e))[1])
    done = run(with_good(tmp_path / "bomb.zip", [("eve_1_2_bomb.ipynb", bomb)]))
    assert "larger than 20 MB" in done.problems[0] and list(done.placed) == ["bob"]
    assert reads == ["bob_1_2_recurrence.ipynb"]
    inner = io.BytesIO()
    zipped(inner, {"bomb.ipynb": bomb})
    done = run(with_good(tmp_path / "nested.zip", [("eve_1_2_hw.zip", inner.getvalue())]))
    assert any("larger than 20 MB" in said for said in done.problems) and list(done.placed) == ["bob"]


def test_an_entry_that_lies_about_its_size_is_damaged(run, tmp_path):
    path = zipped(tmp_path / "lie.zip", {"eve_1_2_x.ipynb": b" " * 10**6})
    data = bytearray(path.read_bytes())
    for signature, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        at = data.index(signature) + offset
        data[at : at + 4] = (1000).to_bytes(4, "little")
    path.write_bytes(data)
    assert "is damaged" in run(path).problems[0]


def test_too_many_files_and_too_long_a_list(run, tmp_path, monkeypatch):
    path = zipped(tmp_path / "many.zip", {f"s{number}.ipynb": b"{" for number in range(30)})
    monkeypatch.setattr(download, "MAX_FILES", 20)
    assert "holds 30 files" in run(path).problems[0]
    monkeypatch.setattr(download, "MAX_INDEX", 1000)
    monkeypatch.setattr(zipfile, "ZipFile", None)  # is not even opened
    assert "lists more files than a class" in run(path).problems[0]


def test_a_flood_ends_before_the_disk_does(run, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MAX_TOTAL", len(notebook("1")) + 10)
    done = run(zipped(tmp_path / "flood.zip", {"a.ipynb": notebook("1"), "b.ipynb": notebook("2")}))
    assert set(done.placed) == {"a"} and "collect b.ipynb by itself" in done.problems[0]


def test_many_attempts_of_one_student(run, course, tmp_path):
    inner = io.BytesIO()
    zipped(inner, {f"{number}.ipynb": b"{" for number in range(60)})
    files = {f"ada_1_{number}_x.ipynb": notebook(str(number)) for number in range(10, 70)}
    done = run(zipped(tmp_path / "c.zip", files | {"eve_2_9_hw.zip": inner.getvalue()}))
    assert mark_of(course, "ada") == "69" and set(done.placed) == {"ada"}
    assert "of 60 files only the newest 50" in done.remarks[0] and "holds 60 notebooks; hand in one" in done.problems[0]


def test_encrypted_files(run, tmp_path):
    path = with_good(tmp_path / "secret.zip", [("eve_1_2_x.ipynb", notebook())])
    data = bytearray(path.read_bytes())
    data[data.index(b"PK\x03\x04") + 6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(data)
    done = run(path)
    assert "is encrypted; hand it in without a password" in done.problems[0] and set(done.placed) == {"bob"}


def test_unknown_compression(run, tmp_path):
    path = with_good(tmp_path / "odd.zip", [("eve_1_2_x.ipynb", notebook())])
    data = bytearray(path.read_bytes())
    data[data.index(b"PK\x03\x04") + 8] = 99
    data[data.index(b"PK\x01\x02") + 10] = 99
    path.write_bytes(data)
    done = run(path)
    assert "packed in a way that is not known" in done.problems[0] and set(done.placed) == {"bob"}


@pytest.mark.parametrize("how", ["cut", "text", "empty", "middle", "end"])
def test_broken_archives_are_one_sentence_and_the_next_one_is_read(run, tmp_path, how):
    path = zipped(tmp_path / "broken.zip", {"eve_1_2_x.ipynb": os.urandom(5000)})
    data = path.read_bytes()
    path.write_bytes(
        {
            "cut": data[: len(data) // 2],
            "text": b"<html>Please log in</html>",
            "empty": b"",
            "middle": data[:1000] + bytes(100) + data[1100:],
            "end": data[:-10] + b"\xff" * 10,
        }[how]
    )
    done = run(path, zipped(tmp_path / "good.zip", {"bob_1_2_x.ipynb": notebook()}))
    assert "bob" in done.placed and len(done.problems) == 1 and "again" in done.problems[0]


@pytest.mark.parametrize("name", ["a.7z", "a.rar", "a.tar.gz"])
def test_other_archives(run, tmp_path, name):
    (tmp_path / name).write_bytes(b"x")
    assert "is no zip; unpack it" in run(tmp_path / name).problems[0]


def test_links_pipes_and_nothing_in_folders(run, course, tmp_path):
    folder = tmp_path / "download"
    (folder / "bob").mkdir(parents=True)
    (folder / "bob" / SLUG).write_bytes(notebook("good"))
    (folder / "eve").symlink_to("/etc")
    (folder / "eve.ipynb").symlink_to(course / ".judge-secret")
    os.mkfifo(folder / "pipe.ipynb")
    (tmp_path / "nothing").mkdir()
    done = run(folder, tmp_path / "nothing", tmp_path / "missing.zip", folder / "eve")
    assert set(done.placed) == {"bob"}
    said = "\n".join(done.problems)
    assert said.count("is a link or a device") == 3 and "holds no file" in said
    assert "does not exist" in said and "is a link; give" in said and len(done.problems) == 6


def test_random_damage_never_ends_in_a_traceback(run, course, tmp_path):
    chooser = random.Random(0)
    inner = io.BytesIO()
    zipped(inner, {SLUG: notebook()})
    files = {"bob_1_2_x.ipynb": notebook()[:3000], f"{MOODLE}/x.zip": inner.getvalue()[:4000], "é/x.ipynb": b"{"}
    data = zipped(tmp_path / "x.zip", files).read_bytes()
    for number in range(100):
        bad = bytearray(data)
        tail = max(0, len(bad) - 400)
        for _ in range(chooser.randrange(1, 6)):
            bad[chooser.randrange(tail if number % 2 else 0, len(bad))] = chooser.randrange(256)
        (tmp_path / "x.zip").write_bytes(bad)
        done = run(tmp_path / "x.zip", dry_run=True)
        assert all("\n" not in said for said in (*done.problems, *done.remarks))
    assert os.listdir(course / "submitted") == []


# The command


def test_the_command(course, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(course)
    archive = zipped(tmp_path / "c.zip", {"adal_1_2_x.ipynb": notebook("a"), "bob_3_4_r.pdf": b"%PDF"})
    assert main(["collect", CHAPTER.name, str(archive), "--dry-run"]) == 1
    said = capsys.readouterr()
    assert "adal  new: adal_1_2_x.ipynb" in said.out and "Nothing was written: 1 new, 0 replaced" in said.out
    assert "r.pdf is no notebook" in said.err and mark_of(course, "adal") is None
    assert main(["collect", CHAPTER.name, str(archive), "--into", "elsewhere"]) == 1
    assert (course / "elsewhere" / "adal" / CHAPTER.name / SLUG).exists() and mark_of(course, "adal") is None


@pytest.mark.parametrize(
    ("arguments", "says"), [(["99_no"], "There is no chapter 99_no"), (None, "not a course directory")]
)
def test_wrong_places_are_one_sentence(course, tmp_path, monkeypatch, capsys, arguments, says):
    monkeypatch.chdir(course if arguments else tmp_path)
    assert main(["collect", *(arguments or [CHAPTER.name]), str(tmp_path)]) == 1
    error = capsys.readouterr().err
    assert says in error and error.count("\n") == 1


def test_help_has_an_example(capsys):
    with pytest.raises(SystemExit):
        main(["collect", "--help"])
    assert "Example: autograder collect" in capsys.readouterr().out
