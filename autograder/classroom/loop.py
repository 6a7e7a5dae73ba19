"""The whole classroom loop on the made-up class, by the commands that docs/classroom.md shows, one phase after another.

Everything that the class, the instructor and the LMS do is a command or a file; what the code here adds is the
comparison with the truth.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from autograder.classroom import checks
from autograder.classroom.by_hand import formgrader
from autograder.classroom.edition import EXERCISE, older_edition
from autograder.classroom.handing_in import (
    WAYS,
    File,
    explain_cell,
    files_of,
    first_round,
    in_folders,
    read_released,
    second_round,
    write_roster,
)
from autograder.classroom.students import (
    CHAPTERS,
    DUE,
    LATE_PERCENT,
    OTHERWISE_RIGHT,
    RIGHT,
    STUDENTS,
    MadeUp,
    make_class,
)
from autograder.course import Chapter
from autograder.exercise import CourseError

FIXED = CHAPTERS[-1]  # the chapter in which the course had a fault when it was graded first
FORMATS = {"nbgrader": "marks.csv", "canvas": "canvas.csv", "moodle": "moodle.csv", "json": "marks.json"}


@dataclass
class Phase:
    """One step of the loop, and what was found in it."""

    title: str
    seconds: float = 0.0
    commands: int = 0
    checks: list[tuple[str, list[str]]] = field(default_factory=list)  # what must hold, and what is wrong with it


@dataclass
class Loop:
    """One run in a folder of its own: ``course`` is the instructor's, ``inbox`` what comes from students."""

    folder: Path
    console: Console = field(default_factory=lambda: Console(highlight=False, soft_wrap=True))
    phases: list[Phase] = field(default_factory=list)
    classes: dict[str, MadeUp] = field(default_factory=dict)
    files: dict[str, list[File]] = field(default_factory=dict)

    def start(self) -> bool:
        """Run all phases; True if everything holds."""
        self.course, self.inbox = self.folder / "course", self.folder / "inbox"
        for place in (self.folder, self.inbox):
            place.mkdir(parents=True, exist_ok=True)
        steps: list[tuple[str, Callable[[], None]]] = [
            ("make the class", self._make_class),
            ("make the course", self._make_course),
            ("hand in and collect", self._collect),
            ("grade", self._grade),
            ("grade explanations by hand", self._grade_by_hand),
            ("extensions, second attempts, a fix: grade again", self._grade_again),
            ("feedback", self._feedback),
            ("report", self._report),
            ("export", self._export),
            ("audit", self._audit),
        ]
        for number, (title, step) in enumerate(steps, 1):
            self.phases.append(Phase(title))
            self.console.print(f"[bold]{number}/{len(steps)} {title}[/]")
            begin = time.perf_counter()
            with self.console.status(f"{title} …"):
                step()
            self.phases[-1].seconds = time.perf_counter() - begin
        self._summarise()
        return not any(wrong for phase in self.phases for _, wrong in phase.checks)

    # The phases

    def _make_class(self) -> None:
        self.classes = make_class()
        write_roster(self.inbox / "class.csv", [work.student for work in self.classes[CHAPTERS[0]].works])
        for made in self.classes.values():
            missing = [f"{name}: nobody makes {known}." for name, known in made.known() - made.mistakes().keys()]
            self._check(f"{made.chapter}: all {len(made.known())} known mistakes are made", missing)

    def _make_course(self) -> None:
        self._run(self.folder, "autograder", "init", "course")
        with (self.course / "nbgrader_config.py").open("a", encoding="utf8") as config:
            config.write(f"c.LatePenalty.percent_per_day = {LATE_PERCENT}\n")
        self._run(self.course, "nbgrader", "db", "student", "import", "../inbox/class.csv")
        dates = "".join(f"{chapter},{DUE:%Y-%m-%d %H:%M:%S} UTC\n" for chapter in CHAPTERS)
        (self.inbox / "dates.csv").write_text("name,duedate\n" + dates)
        self._run(self.course, "nbgrader", "db", "assignment", "import", "../inbox/dates.csv")
        stranger = read_released(self.course, "00_start")
        for chapter, made in self.classes.items():
            released = read_released(self.course, chapter)
            self.files[chapter] = files_of(made, released, stranger, explain_cell(released))

    def _collect(self) -> None:
        for chapter, files in self.files.items():
            self._collect_one(chapter, "first", first_round(files), lost=1)
            self._check(
                f"{chapter}: the newest attempt of everybody lies in its place",
                checks.placed(self.course, first_round(files)),
            )

    def _collect_one(self, chapter: str, name: str, files: list[File], lost: int = 0) -> list[str]:
        """Collect a round; what the command said. One file has no place in the first, and the status says so."""
        place = self.inbox / chapter / name
        place.mkdir(parents=True)
        said = []
        ways = WAYS[chapter](place, files)
        if WAYS[chapter] is in_folders and name == "first":
            self._submit(chapter, ways[0][0][0])
        for downloads, times in ways:
            given = [os.path.relpath(path, self.course) for path in downloads]
            more = ["--times", os.path.relpath(times, self.course)] if times else []
            given += ["--roster", "../inbox/class.csv", *more]
            said.append(self._run(self.course, "autograder", "collect", chapter, *given, status=min(1, lost)))
            lost = 0
        return said

    def _submit(self, chapter: str, handed_in: Path) -> None:
        """One student checks the notebook, and hands in the zip that ``autograder submit`` makes of it."""
        alone = (work for work in self.classes[chapter].works if not work.file and len(work.attempts) == 1)
        work = next(work for work in alone if work.hours < 0)
        student, name = work.student.id, f"{Chapter(chapter).slug}.ipynb"
        desk = self.inbox / "desk"
        desk.mkdir()
        shutil.move(handed_in / student / chapter / name, desk / name)
        shutil.rmtree(handed_in / student)
        right = all(answer.label in (RIGHT, OTHERWISE_RIGHT) for answer in work.marks().values())
        self._run(desk, "autograder", "check", name, status=0 if right else 1)
        self._run(desk, "autograder", "submit", name, "--out", f"{student}.zip")
        shutil.move(desk / f"{student}.zip", handed_in)

    def _grade(self) -> None:
        older = older_edition(self.folder / "older-edition")
        for chapter, made in self.classes.items():
            if chapter == FIXED:
                self._run(self.course, "autograder", "grade", chapter, "--json", edition=older)
                continue
            said = self._run(self.course, "autograder", "grade", chapter, "--json")
            self._check(f"{chapter}: every mark is the expected one", checks.judged(made, said, 0))

    def _grade_by_hand(self) -> None:
        self.console.print("  [dim]$ autograder lab[/]")
        self.phases[-1].commands += 1
        with formgrader(self.course, self.folder / "server") as person:
            for chapter, made in self.classes.items():
                cell = explain_cell(read_released(self.course, chapter))
                points = {work.student.id: work.by_hand for work in made.works}
                waited = person.grade(chapter, Chapter(chapter).slug, cell, points)
                wrote = {work.student.id for work in made.works if work.explanation}
                odd = [f"{student} is wrongly among them, or missing." for student in wrote ^ set(waited)]
                self._check(f"{chapter}: formgrader showed the {len(wrote)} explanations, and took points", odd)

    def _grade_again(self) -> None:
        for chapter, made in self.classes.items():
            later = [work.student.id for work in made.works if work.extension]
            self._run(self.course, "autograder", "extend", chapter, *later, "--days", "1")
            again = second_round(self.files[chapter])
            said = "".join(self._collect_one(chapter, "second", again))
            self._check(
                f"{chapter}: the {len(again) - 1} later attempts count, an old one that came again does not",
                checks.placed(self.course, self.files[chapter]) + ([] if "kept: " in said else ["Nothing was kept."]),
            )
            if chapter == FIXED:
                self._check(
                    f"{chapter}: grading again says whose marks of {EXERCISE} the fix changed, and that it was the fix",
                    checks.changed(
                        made.otherwise_right(EXERCISE), EXERCISE, self._run(self.course, "autograder", "grade", chapter)
                    ),
                )
            said = self._run(self.course, "autograder", "grade", chapter, "--json")
            self._check(f"{chapter}: every mark is the expected one, again", checks.judged(made, said, 1))

    def _feedback(self) -> None:
        self._run(self.course, "autograder", "feedback", CHAPTERS[0])
        self._run(self.course, "autograder", "export-feedback", *CHAPTERS, "--out", "upload")
        self._check(
            "one folder per student, the right points on each page, no script, no request",
            checks.returned(self.classes, self.course / "upload"),
        )

    def _report(self) -> None:
        self._run_all(["autograder", "report", chapter] for chapter in CHAPTERS)
        for chapter, made in self.classes.items():
            reports = self.course / "reports"
            self._check(
                f"{chapter}: the planted mistake leads in all {len(made.top)} exercises, every count is right",
                checks.reported(made, reports),
            )
            self._check(
                f"{chapter}: the {len(made.pairs)} pairs who copied are listed, and nobody else",
                checks.accused(made, reports),
            )

    def _export(self) -> None:
        export = ["autograder", "export", *CHAPTERS]
        self._run_all([*export, "--format", form, "--out", out] for form, out in FORMATS.items())
        tables = {form: self.course / out for form, out in FORMATS.items()}
        self._check(
            f"{', '.join(FORMATS)}: the marks of all {STUDENTS} students in {len(CHAPTERS)} chapters are the truth",
            checks.exported(self.classes, tables),
        )

    def _audit(self) -> None:
        said = self._run(self.course, "autograder", "audit")
        self._check("the verdict log is unbroken", [] if "the chain is unbroken" in said else [said])

    # How they run

    def _run(self, place: Path, *command: str, status: int = 0, edition: Path | None = None) -> str:
        """Run a command as it is documented; what it printed. CourseError if it ends in another way than expected."""
        begin = time.perf_counter()
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
        environment = {**os.environ, "PATH": path}
        if edition:
            environment["PYTHONPATH"] = f"{edition}{os.pathsep}{edition / 'lib'}"
        program = shutil.which(command[0], path=path)
        if program is None:
            raise CourseError(f"{command[0]} is not installed here; run `make setup`.")
        done = subprocess.run(
            [program, *command[1:]],
            cwd=place,
            env=environment,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
        )
        self.phases[-1].commands += 1
        seconds = time.perf_counter() - begin
        shown = " ".join(command if len(command) < 12 else (*command[:8], "…", *command[-2:]))
        self.console.print(f"  [dim]$ {escape(shown)}  {seconds:.1f} s[/]")
        if done.returncode != status:
            last = (done.stderr.strip() or done.stdout.strip()).splitlines()[-3:]
            raise CourseError(f"`{shown}` in {place} ended with {done.returncode}: {' '.join(last)}")
        return done.stdout

    def _run_all(self, commands: Iterable[list[str]]) -> None:
        """Commands that only read the gradebook, two at a time."""
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda command: self._run(self.course, *command), commands))

    def _check(self, title: str, wrong: list[str]) -> None:
        self.phases[-1].checks.append((title, wrong))
        self.console.print(f"  {'[red]✗' if wrong else '[green]✓'}[/] {escape(title)}")
        for sentence in wrong[:5]:
            self.console.print(f"      {escape(sentence[:300])}")
        if len(wrong) > 5:
            self.console.print(f"      and {len(wrong) - 5} more")

    def _summarise(self) -> None:
        table = Table("phase", "commands", "seconds", "checks that hold")
        for phase in self.phases:
            good = sum(not wrong for _, wrong in phase.checks)
            holds = f"{good} of {len(phase.checks)}" if phase.checks else ""
            table.add_row(phase.title, str(phase.commands or ""), f"{phase.seconds:.0f}", holds)
        held = [not wrong for phase in self.phases for _, wrong in phase.checks]
        commands, seconds = (sum(getattr(phase, what) for phase in self.phases) for what in ("commands", "seconds"))
        table.add_section()
        table.add_row("all", str(commands), f"{seconds:.0f}", f"{sum(held)} of {len(held)}")
        self.console.print(table)
