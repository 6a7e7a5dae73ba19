"""What the commands for authors and for looking after the course do."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from autograder.concepts import PARTS
from autograder.errors import CourseError

HONEST = 40  # submissions, where a number is needed and none is given


def build(options) -> int:
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    from autograder.build import build, drift, write_pages
    from autograder.course import ROOT, chapter, chapters

    chosen = [chapter(name) for name in options.chapters] or chapters()
    if options.check:
        found = drift(chosen)
        print("\n".join(found) or f"{len(chosen)} chapters agree with their sources.")
        return 1 if found else 0
    with ProcessPoolExecutor(min(len(chosen), os.cpu_count() or 1), get_context("spawn")) as pool:
        for one, ran in zip(chosen, pool.map(build, chosen), strict=True):
            print(f"{one.name}: {'run and written' if ran else 'written, with the outputs it has'}", flush=True)
    write_pages(ROOT)
    return 0


def grade_demo(options) -> int:
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


def classroom_demo(options) -> int:
    from autograder.classroom.loop import Loop

    with tempfile.TemporaryDirectory(prefix="classroom-demo-") as temporary:
        folder = options.keep or Path(temporary) / "demo"
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise CourseError(f"{folder} is not an empty folder; give the name of a new one.")
        return 0 if Loop(folder.resolve()).start() else 1


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


def soundness(options) -> int:
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


def claims(options) -> int:
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


def coverage(options) -> int:
    from autograder.course import chapters
    from autograder.coverage import coverage

    rows = coverage(chapters(), options.part)
    lacking = [row for row in rows if row.missing]
    for row in lacking:
        print(f"{row.concept.id} {row.concept.title}: {'; '.join(row.missing)}.")
    print(f"{len(rows) - len(lacking)}/{len(rows)} concepts")
    return 1 if lacking else 0


def doctor(options) -> int:
    from autograder.doctor import report

    lines, good = report(options.folder)
    print("\n".join(lines))
    return 0 if good else 1


def completion(options) -> int:
    from autograder.completion import script

    print(script(options.shell))
    return 0
