"""From what an LMS lets a teacher download to submitted/STUDENT/CHAPTER/: nothing is lost, nothing overwritten unsaid.

A student's newest attempt counts. What it takes the place of is kept beside it under another name, and a submission
that is graded already gives way only to one that is newer.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections import Counter, defaultdict
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from nbgrader.utils import parse_utc

from autograder.course_directory import (
    alone,
    no_student,
    quoted,
    released_notebook,
    require_course,
    room,
    timestamp_of,
)
from autograder.download import MAX_ATTEMPTS, Member, Owner, copy_number, inside, named_by_lms, opened, owner_of
from autograder.exercises import chapter_exercises
from autograder.intake import Refused, Unreadable, find_notebook, read_file, read_sources, shown
from autograder.record import TIMESTAMP
from autograder.roster import Roster, is_id, made_id, squeezed

NOTE = ".collected.json"  # beside a notebook: where it came from
EARLIER = ".earlier-"  # not the ending of a notebook, so nbgrader does not grade it
MAX_TOTAL = 4 * 2**30  # bytes that one run writes
BLIND = "participant"  # what Moodle calls everybody where grading is blind


@dataclass
class Collected:
    """What was done with a download, in words."""

    placed: dict[str, str] = field(default_factory=dict)  # student -> what was done
    remarks: list[str] = field(default_factory=list)  # worth knowing
    problems: list[str] = field(default_factory=list)  # what has no place


@dataclass(frozen=True)
class Candidate:
    """One file that may be somebody's submission."""

    owner: Owner
    member: Member
    position: int  # in the order in which the downloads were named

    @property
    def shown(self) -> str:
        return self.member.shown


@dataclass
class Collection:
    """One run: a chapter of a course directory, and what is known of the class."""

    course: Path
    chapter: str
    into: Path | None = None
    roster: Roster | None = None
    times: dict[str, datetime] = field(default_factory=dict)
    dry_run: bool = False
    done: Collected = field(default_factory=Collected)

    def start(self, downloads: list[Path]) -> Collected:
        """Place what the downloads hold. What cannot be read or placed is said, the rest goes on."""
        require_course(self.course)
        self.name = released_notebook(self.course, self.chapter).name
        self.into = self.course / (self.into or "submitted")
        self.room_left = MAX_TOTAL
        with ExitStack() as open_files, room(self.course):
            if not self.dry_run:
                open_files.enter_context(alone(self.course))
            stage = Path(open_files.enter_context(tempfile.TemporaryDirectory(prefix="collect-")))
            found = self._candidates(downloads, open_files)
            for student, candidates in sorted(self._by_student(found).items()):
                try:
                    self._place(student, candidates, stage)
                except Refused as reason:
                    self.done.problems.append(f"{quoted(student)}: {reason}")
                except OSError as error:
                    if not isinstance(error, PermissionError):
                        raise
                    place = self.into / student
                    self.done.problems.append(f"{quoted(student)}: {place} may not be written; allow it and try again.")
        return self.done

    # Whose is what

    def _candidates(self, downloads: list[Path], open_files: ExitStack) -> list[Candidate]:
        """Every file that may be a submission, with the owner that its name tells; zips of students are looked into."""
        found: list[Candidate] = []
        self.loose_times: dict[str, datetime] = {}
        for position, path in enumerate(downloads):
            try:
                members = open_files.enter_context(opened(path, self.done.problems.append))
                if not members:
                    raise Refused(f"{shown(path.name)} holds no file; is it the right download?")
                found += self._in_one(unwrapped(members, self._is_person), position)
            except Refused as reason:
                self.done.problems.append(str(reason))
        return found

    def _is_person(self, name: str, children: set[str]) -> bool:
        """True if a folder is what one student handed in: it holds the chapter's notebook, or is known by its name."""
        own = any(copy_number(child.lower())[0] == self.name.lower() for child in children)
        known = self.roster is not None and name in self.roster.by_id
        return own or known or self.chapter in children

    def _in_one(self, members: list[Member], position: int) -> list[Candidate]:
        found, others = [], defaultdict(list)
        for member in members:
            try:
                owner = owner_of(member.parts)
                if not owner.lms and len(member.parts) > 2 and self._is_other_chapter(member.parts[1]):
                    continue  # a whole tree of submissions: this chapter only
                if member.is_zip:
                    files = list(inside(member, self.done.problems.append))
                    if any(named_by_lms(file.parts[-1]) for file in files):
                        raise Refused(f"{member.shown} looks like a download of its own; give it to collect itself.")
                    if not files:
                        raise Refused(f"{member.shown} holds no notebook; hand in the notebook itself.")
                    found += [Candidate(replace(owner, file=file.parts[-1]), file, position) for file in files]
                elif member.may_be_notebook:
                    found.append(Candidate(owner, member, position))
                elif member.parts[-1] == TIMESTAMP and not owner.lms and len(member.parts) > 1:
                    self._note_time(owner.name, member)
                else:
                    others[owner.lms, owner.number, owner.name].append(member)
            except Refused as reason:
                self.done.problems.append(str(reason))
        have = {(one.owner.lms, one.owner.number, one.owner.name) for one in found}
        for key, files in others.items():
            for member in files:
                if key in have:
                    self.done.remarks.append(f"{member.shown} is no notebook; it is left out.")
                else:
                    self.done.problems.append(f"{member.shown} is no notebook, and there is none beside it.")
        return found

    def _is_other_chapter(self, folder: str) -> bool:
        return folder != self.chapter and (self.course / "release" / folder).is_dir()

    def _note_time(self, name: str, member: Member) -> None:
        """A time that nbgrader itself has noted beside a submission."""
        text = member.read().decode("utf8", "replace").strip()
        try:
            self.loose_times[name] = parse_utc(text).replace(tzinfo=UTC)
        except (ValueError, OverflowError, TypeError, AttributeError):
            self.done.remarks.append(f"{member.shown} holds no time that can be read; it is left out.")

    def _by_student(self, found: list[Candidate]) -> dict[str, list[Candidate]]:
        """student id -> what he or she handed in. Two people of one name are told apart by the number of the LMS."""
        numbers: dict[tuple[str, str], set[str]] = defaultdict(set)
        for one in found:
            numbers[one.owner.lms, squeezed(one.owner.name)].add(one.owner.number)
        alike = Counter(lms for lms, _ in numbers)  # different names in each LMS
        students: dict[str, list[Candidate]] = defaultdict(list)
        for one in found:
            owner = one.owner
            name = squeezed(owner.name)
            shared = len(numbers[owner.lms, name]) > 1
            blind = name == BLIND or (shared and alike[owner.lms] == 1)
            try:
                if self.roster:
                    students[self.roster.find(owner, blind=blind)].append(one)
                    continue
                name = owner.name if not owner.lms and is_id(owner.name) else made_id(owner.name)
                if (shared or blind) and owner.number:
                    name = f"{name}-{made_id(owner.number)}"
                if reason := no_student(name):
                    raise Refused(f"{shown(name)} cannot be an id: {reason}")
                students[name].append(one)
            except Refused as reason:
                self.done.problems.append(f"{one.shown}: {reason}")
        self._warn_of_shared(numbers)
        return students

    def _warn_of_shared(self, numbers: dict[tuple[str, str], set[str]]) -> None:
        for (lms, name), several in numbers.items():
            if len(several) > 1 and lms and not self.roster:
                said = f"{len(several)} people are called {shown(name)} in {lms}, so their ids end in its numbers"
                again = "; in Moodle these differ in every assignment" if lms == "Moodle" else ""
                self.done.remarks.append(f"{said}{again}: a --roster is better.")

    # Which one counts, and where it goes

    def _place(self, student: str, candidates: list[Candidate], stage: Path) -> None:
        """Put the newest attempt of a student into its place, or say why not."""
        shutil.rmtree(stage / "one", ignore_errors=True)
        read: list[tuple[Candidate, Path, str]] = []  # with what is wrong with it
        if len(candidates) > MAX_ATTEMPTS:
            said = f"of {len(candidates)} files only the newest {MAX_ATTEMPTS} were looked at"
            self.done.remarks.append(f"{quoted(student)}: {said}.")
        for number, one in enumerate(self._newest_first(student, candidates)[:MAX_ATTEMPTS]):
            path = stage / "one" / str(number) / "notebook.ipynb"
            try:
                data = one.member.read()
            except (Refused, Unreadable) as reason:
                self.done.problems.append(f"{quoted(student)}: {reason}")
                continue
            if any(data == other.read_bytes() for _, other, _ in read):
                continue  # the same file twice
            path.parent.mkdir(parents=True)
            path.write_bytes(data)
            read.append((one, path, self._fault(path)))
        if not read:
            return
        chosen = next((entry for entry in read if not entry[2]), read[0])
        one, path, fault = chosen
        for other, _, wrong in read:
            if other is not one:
                why = wrong or "the newest attempt counts"
                self.done.remarks.append(f"{quoted(student)}: {one.shown} counts, not {other.shown}: {why}.")
        if fault:
            self.done.remarks.append(f"{quoted(student)}: {one.shown} {fault}; grading will say so.")
        self._put(student, one, path)

    def _newest_first(self, student: str, candidates: list[Candidate]) -> list[Candidate]:
        """By the time of handing in if all have one; else by Canvas' number, the copy's number, the file's time."""
        times = {one: self._time(student, one) for one in candidates}
        timed, numbered = all(times.values()), all(one.owner.attempt for one in candidates)

        def age(one: Candidate) -> tuple:
            moment = times[one].timestamp() if timed else 0
            attempt = one.owner.attempt if numbered else 0
            copy = copy_number(one.owner.file)[1]
            last = (copy, one.member.written) if one.owner.lms else (one.member.written, copy)
            return moment, attempt, *last, one.position

        return sorted(candidates, key=age, reverse=True)

    def _fault(self, path: Path) -> str:
        """What is wrong with a file as a submission of this chapter; empty if nothing is."""
        try:
            cells = {name for name, _ in read_sources(path)}
        except Refused:
            return "is not a readable notebook"
        graded = {exercise.id for exercise in chapter_exercises(self.chapter)}
        return "" if graded & cells else f"holds no exercise of {self.chapter}"

    def _time(self, student: str, one: Candidate) -> datetime | None:
        """When it was handed in, if anything says so. The times in an archive do not: they are of the download."""
        given = self.times.get(one.owner.number or student) or self.times.get(student)
        return given or one.owner.time or (None if one.owner.lms else self.loose_times.get(one.owner.name))

    def _put(self, student: str, one: Candidate, new: Path) -> None:
        """Compare with what is there, keep that under another name if it has to go, and write the new one."""
        folder = self.into / student / self.chapter
        for place in (folder.parent, folder):
            if place.is_symlink() or (place.exists() and not place.is_dir()):
                raise Refused(f"{place} is not a folder; move it away and collect again.")
        moment = self._time(student, one)
        old = self._there(folder)
        if old is not None:
            self._require_same_person(folder, one.owner)
            if _bytes_of(old) == new.read_bytes():
                self._add_time(student, one, folder, moment)
                return
            if verdict := self._keeps(student, folder, old, one, moment):
                self.done.placed[student] = f"kept: {verdict} ({one.shown})"
                return
        self.room_left -= new.stat().st_size
        if self.room_left < 0:
            raise Refused(f"this run has written {MAX_TOTAL // 2**30} GB; collect {one.shown} by itself.")
        if moment is None:
            self._warn_of_late(student, one)
        kept = ""
        if not self.dry_run:
            folder.mkdir(parents=True, exist_ok=True)
        if old is not None:
            kept = self._set_aside(folder, old)
        if not self.dry_run:
            _write(folder / self.name, new.read_bytes(), one.member.written)
            note = {"file": one.shown, "lms": one.owner.lms, "number": one.owner.number}
            _write(folder / NOTE, (json.dumps(note, ensure_ascii=False) + "\n").encode())
            if moment:
                _write(folder / TIMESTAMP, _as_text(moment).encode())
        when = f", handed in {_as_text(moment)}" if moment else ""
        word = f"replaced, the old one is {kept}" if kept else "new"
        self.done.placed[student] = f"{word}: {one.shown}{when}"

    def _warn_of_late(self, student: str, one: Candidate) -> None:
        if one.owner.late:
            place = f"{self.into.name}/{student}/{self.chapter}/{TIMESTAMP}"
            late = "Canvas says LATE but gives no time, so it does not count as late"
            self.done.remarks.append(f"{quoted(student)}: {late}; write one to {place}, or give --times.")

    def _is_graded(self, student: str) -> bool:
        return (self.course / "autograded" / student / self.chapter / self.name).exists()

    def _there(self, folder: Path) -> Path | None:
        """The notebook that would be graded at present, if there is one."""
        try:
            return find_notebook(folder, self.name) if folder.is_dir() else None
        except Refused:
            return None

    def _require_same_person(self, folder: Path, owner: Owner) -> None:
        """Without a roster, one name and two numbers in the same LMS are two people."""
        try:
            note = json.loads((folder / NOTE).read_text("utf8"))
            lms, number = note["lms"], note["number"]
        except (OSError, ValueError, KeyError, TypeError):
            return
        if not self.roster and owner.number and lms == owner.lms and number and number != owner.number:
            said = (
                f"the file that is there came from number {shown(str(number))} of {lms}, this one from {owner.number}"
            )
            raise Refused(f"{said}; are these two people? Give a --roster.")

    def _keeps(self, student: str, folder: Path, old: Path, one: Candidate, moment: datetime | None) -> str:
        """Why what is there stays; empty if the new one takes its place."""
        graded = self._is_graded(student)
        noted = timestamp_of(folder)
        before = parse_utc(noted).replace(tzinfo=UTC) if noted else None
        if bool(moment) != bool(before):
            if not graded:
                return ""
            return f"it is graded, and nothing says that the other is newer; remove {old.name} to take the other"
        new_time, old_time = (moment, one.member.written), (before, old.stat().st_mtime)
        if new_time < old_time if moment else new_time[1] < old_time[1]:
            return "the other is older"
        if graded and new_time == old_time:
            return f"it is graded, and the other is not newer; remove {old.name} to take the other"
        return ""

    def _add_time(self, student: str, one: Candidate, folder: Path, moment: datetime | None) -> None:
        """The file is there already; perhaps its time was not."""
        known = timestamp_of(folder)
        if moment is None and not known:
            self._warn_of_late(student, one)
        if moment is None or (known and parse_utc(known).replace(tzinfo=UTC) == moment):
            self.done.placed[student] = "unchanged"
            return
        if not self.dry_run:
            _write(folder / TIMESTAMP, _as_text(moment).encode())
        was = f" (was {known})" if known else ""
        self.done.placed[student] = f"unchanged, handed in {_as_text(moment)}{was}"
        if self._is_graded(student):
            again = f"`autograder grade {self.chapter} --all --student {student}` grades it by the new one"
            self.done.remarks.append(f"{quoted(student)}: the time has changed; {again}.")

    def _set_aside(self, folder: Path, old: Path) -> str:
        """Keep what is replaced, and its time, under a free name."""
        count = 1
        while (kept := old.with_name(f"{old.name}{EARLIER}{count}")).exists():
            count += 1
        if not self.dry_run:
            os.replace(old, kept)
            if (folder / TIMESTAMP).exists():
                os.replace(folder / TIMESTAMP, folder / f"{TIMESTAMP}{EARLIER}{count}")
        return kept.name


def unwrapped(members: list[Member], is_person) -> list[Member]:
    """The files without the folders around the whole download: its own name, and one like submitted/."""
    top = members[0].parts[0]
    first = True
    while len({member.parts[0] for member in members}) == 1 and all(len(member.parts) > 1 for member in members):
        name, children = members[0].parts[0], {member.parts[1] for member in members}
        around = first or len(children) > 1 or name.lower() in (top.lower(), "submitted", "submissions")
        if named_by_lms(name) or is_person(name, children) or not around:
            break
        members, first = [replace(member, parts=member.parts[1:]) for member in members], False
    return members


def _bytes_of(path: Path) -> bytes | None:
    """What is in a file; None for what is no file of a bearable size."""
    try:
        return read_file(path)
    except Refused:
        return None


def _as_text(moment: datetime) -> str:
    """A time as nbgrader writes it to timestamp.txt."""
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _write(path: Path, data: bytes, written: float | None = None) -> None:
    """Write a file next to its place, then move it there; with the time that the download notes."""
    partial = path.with_name(f".{path.name}.partial")
    partial.unlink(missing_ok=True)
    partial.write_bytes(data)
    if written:
        os.utime(partial, (written, written))
    os.replace(partial, path)
