"""What the commands for instructors do, in the course directory they are in."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import asdict
from pathlib import Path

from autograder.errors import CourseError


def init(options) -> int:
    from autograder.course_directory import init_course

    names = init_course(options.folder, db_url=options.db_url)
    print(f"{options.folder}: {', '.join(names)} are released. Put submissions into")
    print(f"  {options.folder}/submitted/STUDENT/CHAPTER/, then: cd {options.folder} && autograder grade CHAPTER")
    return 0


def collect(options) -> int:
    from autograder.collect import Collection
    from autograder.roster import read_roster, read_times

    done = Collection(
        Path.cwd(),
        options.chapter,
        into=options.into,
        roster=read_roster(options.roster) if options.roster else None,
        times=read_times(options.times) if options.times else {},
        dry_run=options.dry_run,
    ).start(options.downloads)
    for student, what in done.placed.items():
        print(f"{student}  {what}")
    for sentence in (*done.remarks, *done.problems):
        print(sentence, file=sys.stderr)
    words = [re.match(r"\w+", what)[0] for what in done.placed.values()]
    counts = ", ".join(f"{words.count(word)} {word}" for word in ("new", "replaced", "unchanged", "kept"))
    print(f"{'Nothing was written: ' if options.dry_run else ''}{counts}, {len(done.problems)} without a place.")
    return 1 if done.problems else 0


def grade(options) -> int:
    from autograder.course_directory import Ungraded, refusals
    from autograder.grade_run import GradeRun

    run = GradeRun(
        Path.cwd(),
        options.chapter,
        student=options.student,
        exercise=options.exercise,
        everything=options.all,
        sandbox=not options.no_sandbox,
        scheduler=options.scheduler,
        **({"workers": options.workers} if options.workers else {}),
    )
    ungraded = None
    try:
        marks = run.start()
    except Ungraded as error:
        ungraded, marks = error, error.marks
    if options.json:
        print(json.dumps([asdict(mark) for mark in marks], ensure_ascii=False, indent=1))
    else:
        _print_marks(marks)
        for student, reason in refusals(marks).items():
            print(f"{student}: {reason}")
        _print_changes(run)
    if ungraded:
        raise ungraded
    return 0


def _console():
    """The terminal; a file or a pipe gets long lines instead of cut words."""
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else 200)


def _print_marks(marks) -> None:
    from rich.markup import escape
    from rich.table import Table

    from autograder.show import number

    exercises = list(dict.fromkeys(mark.exercise for mark in marks))
    table = Table("student", *exercises, "sum")
    rows: dict[str, dict[str, float]] = {}
    for mark in marks:
        rows.setdefault(mark.student, {})[mark.exercise] = mark.points
    for student, row in rows.items():
        table.add_row(escape(student), *(number(row[name]) for name in exercises), number(sum(row.values())))
    _console().print(table)


def _print_changes(run) -> None:
    """Who has another mark than before this run, and why."""
    from autograder.changes import summary
    from autograder.show import number

    if run.changed:
        _print_table(run.changed)
        print(summary(run.changed))
    elif run.again:
        print(f"{run.again} submissions were judged again; no verdict changed.")
    for student, (before, after) in sorted(run.penalties.items()):
        print(f"{student}: the late penalty is {number(after)} now, it was {number(before)}.")


def _print_table(changes) -> None:
    from rich.markup import escape
    from rich.table import Table

    from autograder.show import number

    table = Table("student", "exercise", "before", "now", "why")
    for one in changes:
        old, new = (f"{number(points)}  {escape(label)}" for label, points in (one.before, one.after))
        table.add_row(escape(one.student), one.exercise, old, new, one.why)
    _console().print(table)


def extend(options) -> int:
    from autograder.extensions import amount, grant, granted

    if options.students and options.days is None:
        raise CourseError(f"Say how much later {options.students[0]} may hand in: --days 2, or --days 0 to end it.")
    if options.students:
        print("\n".join(grant(Path.cwd(), options.chapter, options.students, options.days)))
        return 0
    found = granted(Path.cwd(), options.chapter)
    for student, days in sorted(found.items()):
        print(f"{student}  {amount(days)}")
    print(f"{len(found)} extensions for {options.chapter}.")
    return 0


def feedback(options) -> int:
    from autograder.grade_run import write_feedback

    written = write_feedback(Path.cwd(), options.chapter, options.student)
    print(f"{len(written)} pages in feedback/; `nbgrader release_feedback {options.chapter}` hands them out.")
    return 0


def report(options) -> int:
    from autograder.report import write_report

    path, found = write_report(Path.cwd(), options.chapter, options.out, options.book)
    print(
        f"{path} and {path.with_suffix('.json').name}: {found['submissions']} submissions, "
        f"{len(found['misconceptions'])} known mistakes, {len(found['need_help'])} students who need help, "
        f"{len(found['pairs'])} pairs that look alike."
    )
    return 0


def export(options) -> int:
    from autograder.export import write_export

    for remark in write_export(Path.cwd(), options.chapters, options.format, options.out):
        print(remark, file=sys.stderr)
    print(f"{options.out}: {', '.join(dict.fromkeys(options.chapters))} for {options.format}.")
    return 0


def export_feedback(options) -> int:
    from autograder.export_feedback import export_feedback

    print(
        f"{export_feedback(Path.cwd(), options.chapters, options.out)} pages in {options.out}, one folder per student."
    )
    return 0


def audit(options) -> int:
    from autograder.changes import changes, summary
    from autograder.course_directory import require_course
    from autograder.ledger import Ledger

    require_course(Path.cwd())
    entries = list(Ledger(Path.cwd()).entries())
    if options.changes:
        found = list(changes(entries))
        _print_table(found)
        print(summary(found) if found else "No verdict has changed.")
    else:
        for entry in entries:
            print(_event(entry))
    print(f"{len(entries)} entries, the chain is unbroken.")
    return 0


def _event(entry: dict) -> str:
    """One entry of the log as a line."""
    from autograder.show import number

    line = f"{entry['time']}  {entry['event']:8}  {entry['chapter']}"
    if entry["event"] == "finished":
        return line
    if entry["event"] == "extended":
        return f"{line}  {entry['student']}  by {number(entry['days'])} days"
    line += f"  {entry['student']}  {entry['key'][:12]}"
    if entry["event"] == "judged":
        points = sum(result[1] for result in entry["verdicts"].values())
        labels = ", ".join(f"{name} {label}" for name, (label, *_) in entry["verdicts"].items())
        line += f"  {number(points)} points{'' if entry['sandbox'] else ' WITHOUT SANDBOX'}: {labels}"
    return line
