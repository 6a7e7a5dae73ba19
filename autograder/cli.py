"""The command line: ``autograder COMMAND``. Every mistake of a user ends in one sentence and a non-zero exit."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from autograder.concepts import PARTS
from autograder.exercise import CourseError

HONEST = 40  # submissions, where a number is needed and none is given


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    try:
        return options.run(options)
    except CourseError as error:
        print(f"autograder: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # the reader of our output, for instance `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print("autograder: interrupted; what was finished is kept.", file=sys.stderr)
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="autograder", description="Build, check and grade the chapters of Unrolled.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, run, text: str) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=text, description=text)
        sub.set_defaults(run=run)
        return sub

    sub = command("build", _build, "Make the solution and student notebooks of chapters from their sources.")
    sub.epilog = "Example: autograder build 01_recurrence --check"
    sub.add_argument("chapters", nargs="*", metavar="CHAPTER", help="folder names, e.g. 01_recurrence (default: all)")
    sub.add_argument("--check", action="store_true", help="write and run nothing; fail if a committed file differs")
    sub = command("check", _check, "Judge the answers in a notebook, as grading would.")
    sub.add_argument("notebook", type=Path)
    sub.add_argument("--hints", type=int, default=1, choices=(1, 2, 3), help="how many hints to show (default 1)")
    sub.epilog = "Example: autograder check chapters/01_recurrence/recurrence.ipynb --hints 2"
    sub = command("progress", _progress, "Show what is written in your notebooks, and what is left to do.")
    sub.epilog = "Example: autograder progress ~/my-chapters --check"
    sub.add_argument("folder", nargs="?", type=Path, help="where your notebooks are (default: chapters/ of the course)")
    sub.add_argument("--check", action="store_true", help="judge them too, as `autograder check` does; takes longer")
    sub = command("assemble", _assemble, "Copy your graded cells of chapters 1 to 13 into the capstone's notebook.")
    sub.epilog = "Example: autograder assemble --from ~/my-chapters --into ~/my-chapters/capstone.ipynb"
    sub.add_argument(
        "--from", dest="folder", type=Path, metavar="FOLDER", help="where the notebooks are (default: chapters/)"
    )
    sub.add_argument(
        "--into", type=Path, metavar="NOTEBOOK", help="default: the capstone in chapters/, which is changed in place"
    )
    sub.add_argument(
        "--replace", action="store_true", help="also replace cells of the capstone that you changed by hand"
    )
    sub = command("update", _update, "Put what you wrote into a newer release of the chapters; nothing is lost.")
    sub.epilog = "Example: autograder update ~/my-chapters"
    sub.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="your notebooks, or folders with them")
    sub.add_argument("--release", type=Path, metavar="NOTEBOOK", help="the newer one (default: that of the course)")
    sub = command("init", _init, "Make a course directory for nbgrader and the judge.")
    sub.epilog = "Example: autograder init mycourse"
    sub.add_argument("folder", type=Path, metavar="DIR")
    sub.add_argument("--db-url", metavar="URL", help="a database for the gradebook, e.g. postgresql://me@host/course")
    sub = command(
        "collect", _collect, "Put what was downloaded from Moodle or Canvas into the course directory you are in."
    )
    sub.epilog = "Example: autograder collect 01_recurrence ~/Downloads/submissions.zip --roster class.csv --dry-run"
    sub.add_argument("chapter", metavar="CHAPTER")
    sub.add_argument("downloads", nargs="+", type=Path, metavar="DOWNLOAD", help="zips, folders or notebooks")
    sub.add_argument("--into", type=Path, metavar="DIR", help="where submissions lie (default: submitted)")
    sub.add_argument("--roster", type=Path, metavar="FILE", help="CSV with columns id, first name, last name, lms id")
    sub.add_argument("--times", type=Path, metavar="FILE", help="Moodle's grading worksheet, or CSV with id and time")
    sub.add_argument("--dry-run", action="store_true", help="say what would be done, and do nothing")
    sub = command("grade", _grade, "Grade the submissions of a chapter in the course directory you are in.")
    sub.epilog = "Example: autograder grade 01_recurrence --workers 4"
    sub.add_argument("chapter", metavar="CHAPTER")
    sub.add_argument("--student", help="only this student")
    sub.add_argument("--exercise", help="judge only this exercise again; the other marks stay")
    sub.add_argument("--all", action="store_true", help="grade again what has not changed, too")
    sub.add_argument("--workers", type=_count, metavar="N", help="judges on this machine (default: one per core)")
    sub.add_argument("--scheduler", metavar="ADDRESS", help="a dask scheduler, e.g. tcp://host:8786, in their place")
    sub.add_argument("--json", action="store_true", help="print the marks as JSON")
    sub.add_argument("--no-sandbox", action="store_true", help="run student code without walls (it is recorded)")
    sub = command("feedback", _feedback, "Write the feedback pages again, with what was graded by hand meanwhile.")
    sub.epilog = "Example: autograder feedback 01_recurrence --student ada"
    sub.add_argument("chapter", metavar="CHAPTER")
    sub.add_argument("--student", help="only this student")
    sub = command(
        "report", _report, "Write a report on a graded chapter: marks, mistakes, who needs help, what looks alike."
    )
    sub.epilog = "Example: autograder report 01_recurrence --book https://example.org/unrolled"
    sub.add_argument("chapter", metavar="CHAPTER")
    sub.add_argument(
        "--out", type=Path, metavar="FILE", help="the page (default: reports/CHAPTER.html), JSON beside it"
    )
    sub.add_argument("--book", metavar="ADDRESS", help="address or folder of the built book, for the links to sections")
    sub = command("export", _export, "Write the marks of chapters as a table for nbgrader, Canvas, Moodle, or as JSON.")
    sub.epilog = "Example: autograder export 01_recurrence 02_bptt --format canvas --out canvas.csv"
    sub.add_argument("chapters", nargs="+", metavar="CHAPTER")
    sub.add_argument("--format", required=True, choices=("nbgrader", "canvas", "moodle", "json"))
    sub.add_argument("--out", required=True, type=Path, metavar="FILE")
    sub = command(
        "export-feedback", _export_feedback, "Copy the feedback pages into one folder per student, for upload."
    )
    sub.epilog = "Example: autograder export-feedback 01_recurrence --out upload"
    sub.add_argument("chapters", nargs="+", metavar="CHAPTER")
    sub.add_argument("--out", required=True, type=Path, metavar="DIR", help="a new folder")
    sub = command("grade-demo", _grade_demo, "Grade a made-up class and compare with the expected marks.")
    sub.epilog = "Example: autograder grade-demo 01_recurrence --students 40 --watch"
    sub.add_argument("chapter", nargs="?", default="01_recurrence", metavar="CHAPTER")
    sub.add_argument("--students", type=_count, metavar="N", help="N honest submissions instead of one of each kind")
    sub.add_argument("--watch", action="store_true", help="watch the memory, and look for what is left behind")
    sub.add_argument("--against-nbgrader", action="store_true", help="let stock nbgrader grade the same class too")
    sub.add_argument("--keep", type=Path, metavar="DIR", help="keep the course directory here")
    sub = command("audit", _audit, "Verify the verdict log of the course directory you are in, and print it.")
    sub.epilog = "Example: autograder audit"
    sub = command("soundness", _soundness, "Prove the judge on right variants, known mistakes and mutants.")
    sub.epilog = "Example: autograder soundness 01_recurrence"
    sub.add_argument("chapters", nargs="*", metavar="CHAPTER")
    sub.add_argument("--part", choices=PARTS, help="only the chapters of this part of the book")
    sub.add_argument("--page", type=Path, metavar="FILE", help="write the verdicts as a page of the book")
    sub = command("coverage", _coverage, "Say which concepts of the decks are taught, and which are missing.")
    sub.epilog = "Example: autograder coverage --part II"
    sub.add_argument("--part", choices=PARTS, help="only the chapters of this part of the book")
    sub = command("claims", _claims, "Print the outcome of every claim check of the executed chapters.")
    sub.epilog = "Example: autograder claims --check"
    sub.add_argument("--check", action="store_true", help="fail if one has no value, no deck or too few seeds")
    sub = command("doctor", _doctor, "Say what this machine has, what is missing, and what to do about it.")
    sub.epilog = "Example: autograder doctor ~/my-chapters"
    sub.add_argument("folder", nargs="?", type=Path, help="your notebooks: are they of this release?")
    return parser


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a number; give 1 or more")
    return int(text)


def _build(options) -> int:
    from autograder.build import build, drift, write_pages
    from autograder.course import ROOT, chapter, chapters

    chosen = [chapter(name) for name in options.chapters] or chapters()
    if options.check:
        found = drift(chosen)
        print("\n".join(found) or f"{len(chosen)} chapters agree with their sources.")
        return 1 if found else 0
    for one in chosen:
        print(f"{one.name}: building and running …", flush=True)
        build(one)
    write_pages(ROOT)
    return 0


def _check(options) -> int:
    from autograder import show
    from autograder.own_work import chapter_and_sources, judged

    verdicts = judged(*chapter_and_sources(options.notebook))
    print("\n\n".join(show.text(verdict, options.hints) for verdict in verdicts))
    got, most = sum(v.points for v in verdicts), sum(v.max_points for v in verdicts)
    print(f"\n{show.number(got)} of {show.number(most)} points that are graded automatically.")
    return 0 if got == most else 1


def _progress(options) -> int:
    from rich.console import Console

    from autograder.progress import progress, table

    found = progress(options.folder, options.check)
    Console(width=None if sys.stdout.isatty() else 110).print(table(found))
    if not found.judged:
        print("Nothing was judged: the points are those of what is written. `autograder progress --check` judges it.")
    print("The explanations are graded by a person and are not in the points.")
    for remark in found.remarks:
        print(remark, file=sys.stderr)
    return 0


def _update(options) -> int:
    import nbformat

    from autograder.course import Chapter
    from autograder.own_work import chapter_and_sources
    from autograder.update import notebooks_in, update

    for path in notebooks_in(options.paths):
        chapter, released, _ = chapter_and_sources(path)
        if options.release:
            released = nbformat.read(options.release, as_version=4)
        elif path.resolve() == Chapter(chapter).student.resolve():
            raise CourseError(f"{path} is the course's own; work in a copy of it, or name the newer one by --release.")
        print(update(path, released, chapter))
    return 0


def _assemble(options) -> int:
    from autograder.assemble import assemble

    print(assemble(options.folder, options.into, options.replace))
    return 0


def _init(options) -> int:
    from autograder.course_directory import init_course

    names = init_course(options.folder, db_url=options.db_url)
    print(f"{options.folder}: {', '.join(names)} are released. Put submissions into")
    print(f"  {options.folder}/submitted/STUDENT/CHAPTER/, then: cd {options.folder} && autograder grade CHAPTER")
    return 0


def _collect(options) -> int:
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


def _grade(options) -> int:
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
    if ungraded:
        raise ungraded
    return 0


def _print_marks(marks) -> None:
    from rich.console import Console
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
    Console().print(table)


def _feedback(options) -> int:
    from autograder.grade_run import write_feedback

    written = write_feedback(Path.cwd(), options.chapter, options.student)
    print(f"{len(written)} pages in feedback/; `nbgrader release_feedback {options.chapter}` hands them out.")
    return 0


def _report(options) -> int:
    from autograder.report import write_report

    path, found = write_report(Path.cwd(), options.chapter, options.out, options.book)
    print(
        f"{path} and {path.with_suffix('.json').name}: {found['submissions']} submissions, "
        f"{len(found['misconceptions'])} known mistakes, {len(found['need_help'])} students who need help, "
        f"{len(found['pairs'])} pairs that look alike."
    )
    return 0


def _export(options) -> int:
    from autograder.export import write_export

    for remark in write_export(Path.cwd(), options.chapters, options.format, options.out):
        print(remark, file=sys.stderr)
    print(f"{options.out}: {', '.join(dict.fromkeys(options.chapters))} for {options.format}.")
    return 0


def _export_feedback(options) -> int:
    from autograder.export_feedback import export_feedback

    print(
        f"{export_feedback(Path.cwd(), options.chapters, options.out)} pages in {options.out}, one folder per student."
    )
    return 0


def _grade_demo(options) -> int:
    from autograder.course import chapter
    from autograder.demo import compared, make_demo

    one = chapter(options.chapter)
    count = options.students or (HONEST if options.against_nbgrader else None)
    with tempfile.TemporaryDirectory(prefix="grade-demo-") as temporary:
        folder = options.keep or Path(temporary) / "course"
        made = make_demo(one, folder, count)
        marks, good = _graded_and_watched(folder, one.name) if options.watch else (_graded(folder, one.name), True)
        rows = compared(made, marks)
        wrong = [row for row in rows if not row.agrees]
        _print_demo(wrong if count else rows)
        print(f"{len(made)} submissions, {len(rows)} marks, {len(wrong)} differ from what was expected.")
        if options.against_nbgrader:
            good &= _agrees_with_nbgrader(one, made, rows, Path(temporary) / "stock")
    return 0 if good and not wrong else 1


def _graded(folder: Path, name: str) -> list:
    from autograder.grade_run import GradeRun

    return GradeRun(folder, name).start()


def _graded_and_watched(folder: Path, name: str) -> tuple[list, bool]:
    """The marks that `autograder grade` gives, and whether its memory stayed flat and nothing is left of it."""
    from autograder.course_directory import marks, students
    from autograder.watch import watched

    seen = watched([sys.executable, "-m", "autograder.cli", "grade", name], folder)
    if seen.status:
        raise CourseError(f"`autograder grade {name}` failed: {seen.said.strip()}")
    most = max(megabytes for _, megabytes in seen.memory)
    print(f"{seen.wall:.0f} s, {seen.cpu:.0f} processor seconds")
    print(f"memory: at most {most:.0f} MB, in the last fifth of the run {seen.growth:.2f} times that of the second")
    print("left behind: " + ", ".join(f"{count} {kind}" for kind, count in seen.left.items()))
    return marks(folder, name, students(folder, name)), seen.growth < 1.1 and not any(seen.left.values())


def _print_demo(rows) -> None:
    from rich.console import Console
    from rich.table import Table

    from autograder.show import number

    table = Table("submission", "exercise", "expected", "given", "", "said")
    for row in rows:
        interesting = "." not in row.student or row.student.split(".")[0] == row.exercise
        if interesting or not row.agrees:
            said = row.comment.split("\n\n")
            mark = "=" if row.agrees else "DIFFERS"
            table.add_row(
                row.student, row.exercise, number(row.expected), number(row.given), mark, said[min(1, len(said) - 1)]
            )
    if table.row_count:
        Console(width=200 if not sys.stdout.isatty() else None).print(table)


def _agrees_with_nbgrader(chapter, submissions: list, rows: list, folder: Path) -> bool:
    from autograder.stock import make_stock_course, nbgrader, stock_marks

    print(f"Stock nbgrader grades the same {len(submissions)} submissions, about 4 s each …", flush=True)
    make_stock_course(folder, chapter, submissions)
    nbgrader(folder, "autograde", chapter.name)
    stock = stock_marks(folder, chapter)
    differ = [row for row in rows if abs(stock[row.student, row.exercise] - row.given) > 0.006]
    for row in differ:
        print(f"{row.student}, {row.exercise}: stock nbgrader {stock[row.student, row.exercise]}, ours {row.given}")
    print(f"{len(rows)} marks, {len(differ)} differ from stock nbgrader's.")
    return not differ


def _audit(options) -> int:
    from autograder.course_directory import require_course
    from autograder.ledger import Ledger
    from autograder.show import number

    require_course(Path.cwd())
    entries = list(Ledger(Path.cwd()).entries())
    for entry in entries:
        line = f"{entry['time']}  {entry['event']:8}  {entry['chapter']}"
        if entry["event"] != "finished":
            line += f"  {entry['student']}  {entry['key'][:12]}"
        if entry["event"] == "judged":
            points = sum(result[1] for result in entry["verdicts"].values())
            labels = ", ".join(f"{name} {label}" for name, (label, *_) in entry["verdicts"].items())
            line += f"  {number(points)} points{'' if entry['sandbox'] else ' WITHOUT SANDBOX'}: {labels}"
        print(line)
    print(f"{len(entries)} entries, the chain is unbroken.")
    return 0


def _soundness(options) -> int:
    from autograder.exercises import chapter_modules, load_variants
    from autograder.soundness import soundness
    from autograder.soundness_page import soundness_page

    load_variants()
    proofs = []
    part = [name for name in chapter_modules() if int(name[:2]) in PARTS.get(options.part, range(16))]
    for name in options.chapters or part:
        if name not in chapter_modules():
            raise CourseError(f"There are no exercises of {name}; there are {', '.join(chapter_modules())}.")
        for exercise in chapter_modules()[name].EXERCISES:  # what it revisits was tried in its own chapter
            found = soundness(exercise)
            proofs.append(found)
            print(found.summary(), flush=True)
            for problem in (*found.variants_wrong, *found.mistakes_unnamed, *found.survivors):
                print(f"    {problem}")
    if options.page:
        options.page.write_text(soundness_page(proofs), "utf8")
    return 0 if all(found.sound for found in proofs) else 1


def _claims(options) -> int:
    from autograder.claims_page import VERDICT, claims_of, problem_of
    from autograder.course import chapters

    claims = [(one, claim) for one in chapters() for claim in claims_of(one)]
    for one, claim in claims:
        print(f"{one.name}  {claim['concept']:5} {VERDICT[claim['holds']]:14} {claim['says']}")
    problems = [(one, claim, problem_of(claim)) for one, claim in claims if problem_of(claim)]
    if not options.check:
        return 0
    for one, claim, problem in problems:
        print(f"{one.name}, claim {claim['concept']}: {problem}.")
    print(f"{len(claims)} claim checks, {len(problems)} incomplete.")
    return 1 if problems else 0


def _coverage(options) -> int:
    from autograder.course import chapters
    from autograder.coverage import coverage

    rows = coverage(chapters(), options.part)
    lacking = [row for row in rows if row.missing]
    for row in lacking:
        print(f"{row.concept.id} {row.concept.title}: {'; '.join(row.missing)}.")
    print(f"{len(rows) - len(lacking)}/{len(rows)} concepts")
    return 1 if lacking else 0


def _doctor(options) -> int:
    from autograder.doctor import report

    lines, good = report(options.folder)
    print("\n".join(lines))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
