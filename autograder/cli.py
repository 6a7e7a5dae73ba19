"""The command line: ``autograder COMMAND``. Every mistake of a user ends in one sentence and a non-zero exit."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from autograder import commands_course, commands_instructor, commands_student
from autograder.concepts import PARTS
from autograder.errors import CourseError


def main(arguments: list[str] | None = None) -> int:
    options = make_parser().parse_args(arguments)
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


def make_parser() -> argparse.ArgumentParser:
    """All commands with their options."""
    parser = argparse.ArgumentParser(prog="autograder", description="Build, check and grade the chapters of Unrolled.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, run, text: str) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=text, description=text)
        sub.set_defaults(run=run)
        return sub

    sub = command(
        "build", commands_course.build, "Make the solution and student notebooks of chapters from their sources."
    )
    sub.epilog = "Example: autograder build 01_recurrence --check"
    sub.add_argument("chapters", nargs="*", metavar="CHAPTER", help="folder names, e.g. 01_recurrence (default: all)")
    sub.add_argument("--check", action="store_true", help="write and run nothing; fail if a committed file differs")
    sub = command("lab", commands_student.lab, "Open JupyterLab on the chapters, or on a course directory.")
    sub.epilog = "Example: autograder lab ~/my-chapters"
    sub.add_argument("folder", nargs="?", type=Path, help="your notebooks (default: chapters/), or a course directory")
    sub.add_argument("options", nargs=argparse.REMAINDER, metavar="...", help="options of `jupyter lab`, after --")
    sub = command("check", commands_student.check, "Judge the answers in a notebook, as grading would.")
    sub.add_argument("notebook", type=Path)
    sub.add_argument("--hints", type=int, default=1, choices=(1, 2, 3), help="how many hints to show (default 1)")
    sub.epilog = "Example: autograder check chapters/01_recurrence/recurrence.ipynb --hints 2"
    sub = command(
        "progress", commands_student.progress, "Show what is written in your notebooks, and what is left to do."
    )
    sub.epilog = "Example: autograder progress ~/my-chapters --check"
    sub.add_argument("folder", nargs="?", type=Path, help="where your notebooks are (default: chapters/ of the course)")
    sub.add_argument("--check", action="store_true", help="judge them too, as `autograder check` does; takes longer")
    sub = command(
        "assemble",
        commands_student.assemble,
        "Copy your graded cells of chapters 1 to 13 into the capstone's notebook.",
    )
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
    sub = command("submit", commands_student.submit, "Make a zip of your notebooks that is ready to be handed in.")
    sub.epilog = "Example: autograder submit 01_recurrence --out ada.zip --check"
    sub.add_argument("what", nargs="+", metavar="CHAPTER|NOTEBOOK", help="a chapter of chapters/, or your notebook")
    sub.add_argument("--out", type=Path, metavar="FILE", help="the zip (default: CHAPTER.zip, or submission.zip)")
    sub.add_argument("--check", action="store_true", help="judge what is in it, too; else nothing is run")
    sub = command(
        "update", commands_student.update, "Put what you wrote into a newer release of the chapters; nothing is lost."
    )
    sub.epilog = "Example: autograder update ~/my-chapters"
    sub.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="your notebooks, or folders with them")
    sub.add_argument("--release", type=Path, metavar="NOTEBOOK", help="the newer one (default: that of the course)")
    sub = command("init", commands_instructor.init, "Make a course directory for nbgrader and the judge.")
    sub.epilog = "Example: autograder init mycourse"
    sub.add_argument("folder", type=Path, metavar="DIR")
    sub.add_argument("--db-url", metavar="URL", help="a database for the gradebook, e.g. postgresql://me@host/course")
    sub = command(
        "collect",
        commands_instructor.collect,
        "Put what was downloaded from Moodle or Canvas into the course directory you are in.",
    )
    sub.epilog = "Example: autograder collect 01_recurrence ~/Downloads/submissions.zip --roster class.csv --dry-run"
    sub.add_argument("chapter", metavar="CHAPTER")
    sub.add_argument("downloads", nargs="+", type=Path, metavar="DOWNLOAD", help="zips, folders or notebooks")
    sub.add_argument("--into", type=Path, metavar="DIR", help="where submissions lie (default: submitted)")
    sub.add_argument("--roster", type=Path, metavar="FILE", help="CSV with columns id, first name, last name, lms id")
    sub.add_argument("--times", type=Path, metavar="FILE", help="Moodle's grading worksheet, or CSV with id and time")
    sub.add_argument("--dry-run", action="store_true", help="say what would be done, and do nothing")
    sub = command(
        "grade", commands_instructor.grade, "Grade the submissions of a chapter in the course directory you are in."
    )
    sub.epilog = "Example: autograder grade 01_recurrence --workers 4"
    sub.add_argument("chapter", metavar="CHAPTER")
    sub.add_argument("--student", help="only this student")
    sub.add_argument("--exercise", help="judge only this exercise again; the other marks stay")
    sub.add_argument("--all", action="store_true", help="grade again what has not changed, too")
    sub.add_argument("--workers", type=_count, metavar="N", help="judges on this machine (default: one per core)")
    sub.add_argument("--scheduler", metavar="ADDRESS", help="a dask scheduler, e.g. tcp://host:8786, in their place")
    sub.add_argument("--json", action="store_true", help="print the marks as JSON")
    sub.add_argument("--no-sandbox", action="store_true", help="run student code without walls (it is recorded)")
    sub = command("extend", commands_instructor.extend, "Let students hand in later; without names, say who may.")
    sub.epilog = "Example: autograder extend 01_recurrence ada bob --days 2"
    sub.add_argument("chapter", metavar="CHAPTER")
    sub.add_argument("students", nargs="*", metavar="STUDENT")
    sub.add_argument("--days", type=_days, metavar="N", help="after the due date; 0.5 is half a day, 0 ends it")
    sub = command(
        "feedback",
        commands_instructor.feedback,
        "Write the feedback pages again, with what was graded by hand meanwhile.",
    )
    sub.epilog = "Example: autograder feedback 01_recurrence --student ada"
    sub.add_argument("chapter", metavar="CHAPTER")
    sub.add_argument("--student", help="only this student")
    sub = command(
        "report",
        commands_instructor.report,
        "Write a report on a graded chapter: marks, mistakes, who needs help, what looks alike.",
    )
    sub.epilog = "Example: autograder report 01_recurrence --book https://example.org/unrolled"
    sub.add_argument("chapter", metavar="CHAPTER")
    sub.add_argument(
        "--out", type=Path, metavar="FILE", help="the page (default: reports/CHAPTER.html), JSON beside it"
    )
    sub.add_argument("--book", metavar="ADDRESS", help="address or folder of the built book, for the links to sections")
    sub = command(
        "export",
        commands_instructor.export,
        "Write the marks of chapters as a table for nbgrader, Canvas, Moodle, or as JSON.",
    )
    sub.epilog = "Example: autograder export 01_recurrence 02_bptt --format canvas --out canvas.csv"
    sub.add_argument("chapters", nargs="+", metavar="CHAPTER")
    sub.add_argument("--format", required=True, choices=("nbgrader", "canvas", "moodle", "json"))
    sub.add_argument("--out", required=True, type=Path, metavar="FILE")
    sub = command(
        "export-feedback",
        commands_instructor.export_feedback,
        "Copy the feedback pages into one folder per student, for upload.",
    )
    sub.epilog = "Example: autograder export-feedback 01_recurrence --out upload"
    sub.add_argument("chapters", nargs="+", metavar="CHAPTER")
    sub.add_argument("--out", required=True, type=Path, metavar="DIR", help="a new folder")
    sub = command(
        "grade-demo", commands_course.grade_demo, "Grade a made-up class and compare with the expected marks."
    )
    sub.epilog = "Example: autograder grade-demo 01_recurrence --students 40 --watch"
    sub.add_argument("chapter", nargs="?", default="01_recurrence", metavar="CHAPTER")
    sub.add_argument("--students", type=_count, metavar="N", help="N honest submissions instead of one of each kind")
    sub.add_argument("--watch", action="store_true", help="watch the memory, and look for what is left behind")
    sub.add_argument("--against-nbgrader", action="store_true", help="let stock nbgrader grade the same class too")
    sub.add_argument("--keep", type=Path, metavar="DIR", help="keep the course directory here")
    sub = command(
        "classroom-demo",
        commands_course.classroom_demo,
        "Take a made-up class of 60 through the whole loop by the documented commands, and compare with the truth.",
    )
    sub.epilog = "Example: autograder classroom-demo --keep ~/demo"
    sub.add_argument("--keep", type=Path, metavar="DIR", help="keep the course directory and all files here")
    sub = command(
        "audit", commands_instructor.audit, "Verify the verdict log of the course directory you are in, and print it."
    )
    sub.epilog = "Example: autograder audit --changes"
    sub.add_argument("--changes", action="store_true", help="only who got another verdict than before, and why")
    sub = command(
        "soundness", commands_course.soundness, "Prove the judge on right variants, known mistakes and mutants."
    )
    sub.epilog = "Example: autograder soundness 01_recurrence"
    sub.add_argument("chapters", nargs="*", metavar="CHAPTER")
    sub.add_argument("--part", choices=PARTS, help="only the chapters of this part of the book")
    sub.add_argument("--page", type=Path, metavar="FILE", help="write the verdicts as a page of the book")
    sub = command(
        "coverage", commands_course.coverage, "Say which concepts of the decks are taught, and which are missing."
    )
    sub.epilog = "Example: autograder coverage --part II"
    sub.add_argument("--part", choices=PARTS, help="only the chapters of this part of the book")
    sub = command("claims", commands_course.claims, "Print the outcome of every claim check of the executed chapters.")
    sub.epilog = "Example: autograder claims --check"
    sub.add_argument("--check", action="store_true", help="fail if one has no value, no deck or too few seeds")
    sub = command(
        "doctor", commands_course.doctor, "Say what this machine has, what is missing, and what to do about it."
    )
    sub.epilog = "Example: autograder doctor ~/my-chapters"
    sub.add_argument("folder", nargs="?", type=Path, help="your notebooks: are they of this release?")
    sub = command("completion", commands_course.completion, "Print what a shell needs to complete this command by Tab.")
    sub.epilog = "Example: autograder completion bash"
    sub.add_argument("shell", choices=("bash", "zsh"))
    return parser


def _days(text: str) -> float:
    try:
        days = float(text)
    except ValueError:
        days = -1
    if not 0 <= days <= 365:
        raise argparse.ArgumentTypeError(f"{text} is no number of days; give one from 0 to 365")
    return days


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a number; give 1 or more")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
