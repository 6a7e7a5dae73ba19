"""The report on a class: one HTML page that needs no network and no script, and its numbers as JSON beside it."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from urllib.parse import urlsplit

from autograder.course import ROOT
from autograder.course_directory import quoted, require_course
from autograder.exercise import CourseError
from autograder.report_class import read_class
from autograder.report_numbers import report_of
from autograder.report_page import page


def write_report(folder: Path, chapter: str, out: Path | None = None, book: str | None = None) -> tuple[Path, dict]:
    """Write the page and its JSON; where the page lies, and the numbers.

    Args:
        folder: the course directory.
        chapter: which chapter.
        out: where the page goes; reports/CHAPTER.html if None.
        book: address or folder of the built book, for the links; the checkout's own book, where it is built, if None.
    """
    require_course(folder)
    path = out or folder / "reports" / f"{chapter}.html"
    if path.suffix != ".html":
        raise CourseError(
            f"{path} does not end in .html; the numbers go into a file of the same name that ends in .json."
        )
    address = _book_address(book)
    numbers = report_of(read_class(folder, chapter), address)
    try:
        if out is None:
            path.parent.mkdir(exist_ok=True)
        for target, text in ((path, page(numbers)), (path.with_suffix(".json"), as_json(numbers))):
            write_private(target, text)
    except OSError as error:
        raise CourseError(f"{path} cannot be written: {error.strerror or error}.") from None
    return path, numbers


def as_json(numbers: dict) -> str:
    return json.dumps(numbers, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def write_private(path: Path, text: str) -> None:
    """Write a file beside its place, then move it there; only its owner may read it, since it names students."""
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    partial = path.with_name(f".{path.name}.partial")
    partial.unlink(missing_ok=True)
    handle = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "w", encoding="utf8", newline="") as file:
            file.write(text)
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def _book_address(book: str | None) -> str | None:
    """Where the pages of the book stand, as an address."""
    if book and urlsplit(book).scheme in ("http", "https") and urlsplit(book).netloc:
        return book
    folder = Path(book) if book else ROOT / "_build" / "html"
    if (folder / "chapters").is_dir():
        return folder.resolve().as_uri()
    if book:
        raise CourseError(f"{quoted(book)} is neither an address (https://…) nor the folder of a built book.")
    return None
