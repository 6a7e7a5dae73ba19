"""What an LMS lets a teacher download, read without unpacking: a zip or a folder as a list of files, and whose each is.

Names in a download were chosen by students. None of them ever becomes a path, and sizes are looked at before anything
is read.
"""

from __future__ import annotations

import lzma
import os
import re
import stat
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from autograder.intake import MAX_FILE, Refused, read_file, shown

MAX_FILES = 50_000  # in one download
MAX_INDEX = 16 * 2**20  # bytes of the list of files in a zip, which is read at once
MAX_NESTED = 50 * 2**20  # bytes of a zip that a student handed in
MAX_NAME = 200  # characters
MAX_ATTEMPTS = 50  # of one student
ENCRYPTED, UTF8 = 0x1, 0x800  # marks of an entry
IGNORED = re.compile(r"__MACOSX|\..*|Thumbs\.db|desktop\.ini")  # what systems leave behind
OTHER_ARCHIVES = (".7z", ".rar", ".tar", ".gz", ".tgz", ".bz2", ".xz")

# "Lovelace Ada_12345_assignsubmission_file_/x.ipynb", or without folders "..._assignsubmission_file_x.ipynb"
MOODLE = re.compile(r"(?P<name>.+?)(?:_(?P<number>\d+))?_assignsubmission_(?P<kind>[a-z]+)(?:_(?P<file>.*))?")
# "lovelaceada_LATE_4711_987_x.ipynb": user and file; with anonymous grading "anon_Xy12z_987_x.ipynb"
CANVAS = re.compile(
    r"(?:(?P<name>(?!LATE_|anon_)\w+?)_)?(?P<late>LATE_)?(?P<number>\d+|anon_[^_]+)_"
    r"(?:(?P<attempt>\d+)_(?P<file>.+)|(?P<typed>text|link)\.html)"
)
# nbgrader's own example, which is Blackboard's: "ps1_ada_attempt_2026-01-30-15-00-00_x.ipynb"
BLACKBOARD = re.compile(r".+_(?P<name>[^_]+)_attempt_(?P<time>\d{4}(?:-\d\d){5})_(?P<file>.+)")
COPY = re.compile(r"(?P<stem>.*?)(?:-(?P<canvas>\d{1,3})| ?\((?P<browser>\d{1,3})\))?(?P<rest>\.[^.]+)", re.DOTALL)


@dataclass(frozen=True)
class Member:
    """One file of a download that has not been read yet."""

    parts: tuple[str, ...]
    written: float  # the time that the archive or the folder notes, which for an LMS is that of the download
    read: Callable[[], bytes] = field(repr=False, compare=False)

    @property
    def shown(self) -> str:
        return "/".join(map(shown, self.parts))

    @property
    def is_zip(self) -> bool:
        return self.parts[-1].lower().endswith(".zip")

    @property
    def may_be_notebook(self) -> bool:
        return ".ipynb" in self.parts[-1].lower()


@dataclass(frozen=True)
class Owner:
    """Whose a file is, as far as the LMS says it in the name."""

    name: str
    file: str  # as the student called it
    lms: str = ""
    number: str = ""  # Canvas: of the user. Moodle: of the participant, another one in every assignment
    attempt: int = 0  # of two, the higher number is newer
    late: bool = False
    time: datetime | None = None


def owner_of(parts: tuple[str, ...]) -> Owner:
    """Read a path as Moodle, Canvas or Blackboard write it, or as STUDENT.ipynb or STUDENT/…; Refused if typed text."""
    first, deeper = parts[0], parts[-1] if len(parts) > 1 else ""
    if found := MOODLE.fullmatch(first):
        if found["kind"] != "file":
            raise Refused(f"{shown(first)} was typed into Moodle and is no file; ask for the notebook itself.")
        return Owner(found["name"], deeper or found["file"] or "", "Moodle", found["number"] or "")
    if found := CANVAS.fullmatch(first):
        if found["typed"]:
            raise Refused(f"{shown(first)} was typed into Canvas and is no file; ask for the notebook itself.")
        name, file = found["name"] or found["number"], deeper or found["file"]
        return Owner(name, file, "Canvas", found["number"], int(found["attempt"][:18]), bool(found["late"]))
    if found := BLACKBOARD.fullmatch(first):
        try:
            moment = datetime.strptime(found["time"], "%Y-%m-%d-%H-%M-%S").replace(tzinfo=UTC)
        except ValueError:
            raise Refused(f"{shown(first)} holds a time that does not exist; correct the name.") from None
        return Owner(found["name"], deeper or found["file"], "Blackboard", time=moment)
    name = parts[0] if len(parts) > 1 else re.split(r"\.(?:ipynb|zip)", parts[0], flags=re.IGNORECASE)[0]
    return Owner(re.sub(r" ?\(\d{1,3}\)$", "", name), parts[-1])  # "ada (1).ipynb" is ada's, downloaded twice


def copy_number(file: str) -> tuple[str, int]:
    """("x.ipynb", 2) for x-2.ipynb, which Canvas makes of a second resubmission, and for a browser's x (2).ipynb."""
    found = COPY.fullmatch(file)
    return (found["stem"] + found["rest"], int(found["canvas"] or found["browser"] or 0)) if found else (file, 0)


def named_by_lms(part: str) -> bool:
    return any(pattern.fullmatch(part) for pattern in (MOODLE, CANVAS, BLACKBOARD))


@contextmanager
def opened(path: Path, refuse: Callable[[str], None]) -> Iterator[list[Member]]:
    """The files of a zip, of a folder, or the one file that is given; refuse is told of each that is left out.

    The first part of each path is the name of the archive or folder. Refused if the whole cannot be read.
    """
    if path.is_symlink() or not path.exists():
        raise Refused(
            f"{shown(path.name)} {'is a link' if path.is_symlink() else 'does not exist'}; give the download."
        )
    if path.is_dir():
        yield list(_in_folder(path, refuse))
    elif not path.is_file():
        raise Refused(f"{shown(path.name)} is neither a file nor a folder; give the download.")
    elif path.name.lower().endswith(OTHER_ARCHIVES):
        raise Refused(f"{shown(path.name)} is no zip; unpack it and give the folder.")
    elif path.suffix.lower() != ".zip":
        yield [Member((path.name,), path.stat().st_mtime, partial(read_file, path))]
    else:
        try:
            file = open(path, "rb")  # noqa: SIM115 (closed below)
        except OSError as error:
            raise Refused(f"{shown(path.name)} cannot be read ({error.strerror}); allow it and try again.") from None
        with file, _zip(file, path.name) as archive:
            yield [replace(one, parts=(path.stem, *one.parts)) for one in _in_zip(archive, path.name, refuse)]


def inside(member: Member, refuse: Callable[[str], None]) -> list[Member]:
    """The notebooks of a zip that a student handed in; each is read when it is asked for, as all others are."""
    with _zip(BytesIO(member.read()), member.shown) as archive:
        found = list(_in_zip(archive, member.shown, refuse))
    for one in found:
        if one.is_zip:
            refuse(f"{member.shown} holds another zip, {one.shown}; hand in the notebook itself.")
    notebooks = [one for one in found if one.may_be_notebook and not one.is_zip]
    if len(notebooks) > MAX_ATTEMPTS:
        raise Refused(f"{member.shown} holds {len(notebooks)} notebooks; hand in one.")
    return [Member((*member.parts, *one.parts), one.written, partial(_read_inside, member, one)) for one in notebooks]


def _read_inside(member: Member, wanted: Member) -> bytes:
    with _zip(BytesIO(member.read()), member.shown) as archive:
        return next(one for one in _in_zip(archive, member.shown, lambda said: None) if one == wanted).read()


@contextmanager
def _zip(file: BinaryIO, name: str) -> Iterator[zipfile.ZipFile]:
    """An open zip whose list of files is short enough to be read; Refused if it is broken."""
    broken = f"{shown(name)} is not a zip that can be read, or a part of it is missing; download it again."
    try:
        end = zipfile._EndRecData(file)  # what ZipFile itself looks at first, before it reads the whole list
        if not end:
            raise Refused(broken)
        if max(end[zipfile._ECD_SIZE], 46 * end[zipfile._ECD_ENTRIES_TOTAL]) > MAX_INDEX:
            raise Refused(f"{shown(name)} lists more files than a class can hand in, or is damaged; download it again.")
        archive = zipfile.ZipFile(file)
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, OverflowError, EOFError):
        raise Refused(broken) from None
    with archive:
        yield archive


def _in_zip(archive: zipfile.ZipFile, name: str, refuse: Callable[[str], None]) -> Iterator[Member]:
    entries = [entry for entry in archive.infolist() if not entry.is_dir()]
    if len(entries) > MAX_FILES:
        raise Refused(f"{shown(name)} holds {len(entries)} files; at most {MAX_FILES} are read.")
    for entry in entries:
        called = _name_of(entry)
        parts = tuple(part for part in called.replace("\\", "/").split("/") if part not in ("", "."))
        if any(IGNORED.fullmatch(part) for part in parts if part != ".."):
            continue
        if problem := _problem(entry, called, parts):
            refuse(f"{shown(called)} in {shown(name)} {problem}.")
        else:
            yield Member(parts, _time_of(entry), partial(_read_entry, archive, entry))


def _name_of(entry: zipfile.ZipInfo) -> str:
    """The name of a file in a zip; many programs write UTF-8 without saying so."""
    if entry.flag_bits & UTF8:
        return entry.filename
    try:
        return entry.filename.encode("cp437").decode("utf8")
    except ValueError:
        return entry.filename


def _problem(entry: zipfile.ZipInfo, name: str, parts: tuple[str, ...]) -> str:
    """What is wrong with a file in a zip, seen before it is read; empty if nothing is."""
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if not parts or ".." in parts or name.startswith(("/", "\\")) or re.match(r"[A-Za-z]:", name):
        return "points out of the archive; it is left out"
    if problem := _absurd(parts):
        return problem
    if kind not in (0, stat.S_IFREG):
        return "is a link or a device and no file; it is left out"
    if entry.flag_bits & ENCRYPTED:
        return "is encrypted; hand it in without a password"
    limit = MAX_NESTED if parts[-1].lower().endswith(".zip") else MAX_FILE
    if max(entry.file_size, entry.compress_size) > limit:
        return f"is larger than {limit // 2**20} MB when it is unpacked; it is left out"
    return ""


def _absurd(parts: tuple[str, ...]) -> str:
    if any(not part.isprintable() or "\ufffd" in part for part in parts):
        return "has a name that cannot be shown; rename it"
    if max(map(len, parts)) > MAX_NAME or len(parts) > 20:
        return f"has a name longer than {MAX_NAME} characters, or lies too deep; rename it"
    return ""


def _read_entry(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    """The bytes of a file; never more than its entry announces, which was looked at before."""
    try:
        with archive.open(entry) as file:
            return file.read(entry.file_size + 1)
    except NotImplementedError:
        raise Refused(f"{shown(entry.filename)} is packed in a way that is not known here; hand it in again.") from None
    except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, OSError, EOFError, RuntimeError, ValueError):
        raise Refused(f"{shown(entry.filename)} is damaged in the archive; download it again.") from None


def _time_of(entry: zipfile.ZipInfo) -> float:
    try:
        return time.mktime((*entry.date_time, 0, 0, -1))
    except (ValueError, OverflowError):
        return 0.0


def _in_folder(folder: Path, refuse: Callable[[str], None]) -> Iterator[Member]:
    count = 0

    def unreadable(error: OSError) -> None:
        refuse(f"{shown(Path(error.filename).name)} cannot be read ({error.strerror}); allow it and try again.")

    for place, folders, files in os.walk(folder, onerror=unreadable):  # follows no link
        for name in [*folders, *files]:
            path = Path(place, name)
            parts = (folder.resolve().name, *path.relative_to(folder).parts)
            status = path.lstat()
            if any(IGNORED.fullmatch(part) for part in parts[1:]) or stat.S_ISDIR(status.st_mode):
                continue
            if count == MAX_FILES:
                raise Refused(
                    f"{shown(folder.name)} holds more than {MAX_FILES} files; give the folder of one download."
                )
            count += 1
            if problem := _absurd(parts[1:]):
                refuse(f"{shown(name)} {problem}.")
            elif not stat.S_ISREG(status.st_mode):
                refuse(f"{shown(name)} is a link or a device and no file; it is left out.")
            elif name.lower().endswith(".zip") and status.st_size > MAX_NESTED:
                refuse(
                    f"{shown(name)} is larger than {MAX_NESTED // 2**20} MB; give it to `autograder collect` itself."
                )
            else:
                yield Member(parts, status.st_mtime, partial(_read_path, path))


def _read_path(path: Path) -> bytes:
    if path.suffix.lower() != ".zip":
        return read_file(path)
    with open(path, "rb") as file:  # its size was looked at; an archive may be larger than a notebook
        return file.read(MAX_NESTED)
