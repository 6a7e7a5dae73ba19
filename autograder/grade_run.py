"""One grading run: take submissions in, judge them on a cluster, record them one by one, and say how far it is."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path

import nbformat
import torch
from tqdm import tqdm

from autograder.changes import Change, changes_since
from autograder.cluster import connect, judge_all
from autograder.course_directory import (
    Mark,
    Ungraded,
    alone,
    handed_in_at,
    load_config,
    marks,
    no_student,
    quoted,
    released_notebook,
    require_course,
    room,
    students,
    timestamp_of,
)
from autograder.exercise import CourseError, Verdict
from autograder.exercises import chapter_exercises
from autograder.feedback import from_data, write_page
from autograder.fingerprint import basis, regrade_key
from autograder.grading import Questions, pooled_seeds, questions_for
from autograder.intake import Unreadable, rebuild_submission
from autograder.ledger import Ledger
from autograder.machine import judge_one
from autograder.nbgrader_plugins import Judge, comment_text, counted, put_verdicts, read_secret
from autograder.record import Recorder

SHORT = {
    "correct": "right", "correct-other-convention": "right", "correct-given": "right", "misconception": "named",
    "not-attempted": "unwritten",
}  # fmt: skip


@dataclass
class GradeRun:
    """What to grade, and how."""

    folder: Path
    chapter: str
    student: str | None = None
    exercise: str | None = None
    everything: bool = False
    sandbox: bool = True
    workers: int = field(default_factory=lambda: min(4, os.cpu_count() or 1))
    scheduler: str | None = None
    changed: list[Change] = field(default_factory=list, init=False)  # marks that are others than before this run
    again: int = field(default=0, init=False)  # submissions that were judged before
    penalties: dict[str, tuple[float, float]] = field(default_factory=dict, init=False)  # before and after, if changed

    def start(self) -> list[Mark]:
        """Grade what is new or changed; the marks of all. Ungraded is raised at the end if some could not be graded."""
        require_course(self.folder)
        if self.scheduler and not self.sandbox:
            raise CourseError(
                "Student code without walls could speak to the scheduler; leave --no-sandbox or --scheduler out."
            )
        self.released_path = released_notebook(self.folder, self.chapter)
        known = [exercise.id for exercise in chapter_exercises(self.chapter)]
        if self.exercise and self.exercise not in known:
            raise CourseError(f"There is no exercise {self.exercise} in {self.chapter}; there are {', '.join(known)}.")
        names = [name for name in students(self.folder, self.chapter) if self.student in (None, name)]
        if not names:
            who = f" by {quoted(self.student)}" if self.student else ""
            where = self.folder / "submitted"
            raise CourseError(f"No submission of {self.chapter}{who} in {where}; collect some first.")
        self.ungraded = {name: reason for name in names if (reason := no_student(name))}
        with room(self.folder), alone(self.folder):
            self._grade([name for name in names if name not in self.ungraded])
            entries = list(self.ledger.entries())
            self.changed, self.again = changes_since(entries, self.begin, self.chapter, self.judge.attempts == "best")
            found = marks(self.folder, self.chapter, [name for name in names if name not in self.ungraded])
        if self.ungraded:
            raise Ungraded(self.ungraded, found)
        return found

    def _grade(self, names: list[str]) -> None:
        self.ledger, self.taken = Ledger(self.folder), {}
        self.config = load_config(self.folder)
        self.judge = Judge(config=self.config)
        self.best = self.ledger.best_points(self.chapter) if self.judge.attempts == "best" else {}
        self.begin = self.ledger.end_of_last_run(self.chapter)
        self.counts: Counter[str] = Counter()
        progress = tqdm(total=len(names), desc=f"grading {self.chapter}", unit="student", disable=None)
        with progress as self.bar, Recorder(self.config, self.folder, self.chapter) as self.recorder:
            tasks = self._tasks(names)
            first = list(islice(tasks, self.workers))
            if not first:
                return
            try:
                for name, verdicts in self._judged(chain(first, tasks), few=len(first) < self.workers):
                    self._record(name, verdicts)
            finally:
                self.ledger.finished(self.chapter)

    def _judged(self, tasks: Iterator, few: bool) -> Iterator[tuple[str, list[Verdict]]]:
        """Verdicts as they come: from the cluster, or from this process where a cluster would not pay."""
        torch.set_num_threads(1)  # the forks keep the other processors busy
        if few and not self.scheduler:
            for name, questions in tasks:
                yield name, judge_one(questions, self.sandbox)
            return
        with connect(self.workers, self.scheduler) as client:
            yield from judge_all(client, tasks, self.sandbox)

    def _tasks(self, names: list[str]) -> Iterator[tuple[str, Questions]]:
        """What is to be judged: everything that is new, changed or asked for again."""
        recorded, pools = self.ledger.recorded_keys(), self.ledger.pools(self.chapter)
        secret = read_secret(self.folder)
        for name in names:
            handed_in = handed_in_at(self.folder, name, self.chapter)
            try:
                notebook = rebuild_submission(handed_in, self.released_path, self.chapter)
            except Unreadable as reason:
                self.ungraded[name] = str(reason)
                self.bar.update()
                continue
            key = regrade_key(notebook, self.chapter)
            graded = self.folder / "autograded" / name / self.chapter / self.released_path.name
            done = recorded.get((name, self.chapter)) == key and graded.exists()
            if done and not self.everything and not self.exercise:
                self._reckon_lateness(name, graded, timestamp_of(handed_in))
                self.bar.update()
                continue
            kept = _verdicts_of(graded) if done and self.exercise else {}
            kept.pop(self.exercise, None)
            self.taken[name] = notebook, key, kept, timestamp_of(handed_in)
            seeds = pooled_seeds(secret, pools(name, key), name, notebook)
            asked = questions_for(notebook, self.chapter, seeds)
            yield name, asked.without(kept)

    def _reckon_lateness(self, name: str, graded: Path, timestamp: str | None) -> None:
        """The penalty of a submission that is not judged again: the due date, an extension, the policy may be new."""
        before = self.recorder.penalty(name)
        if not before and self.recorder.assignment.duedate is None:
            return
        rows = self.recorder.rows(name, timestamp)
        if rows.penalty != before:
            self.penalties[name] = before or 0.0, rows.penalty
            notebook = nbformat.read(graded, as_version=4)
            write_page(self.folder, name, self.chapter, notebook, rows, self.judge.hints)

    def _record(self, name: str, judged: list[Verdict]) -> None:
        """Verdicts to the log, marks to the gradebook, the page for the student; only then is it noted as recorded."""
        notebook, key, kept, timestamp = self.taken.pop(name)
        verdicts = kept | {verdict.exercise: verdict for verdict in judged}
        verdicts = {e.id: verdicts[e.id] for e in chapter_exercises(self.chapter) if e.id in verdicts}
        of, before = basis(notebook, self.chapter), self.recorder.penalty(name)
        self.ledger.judged(name, self.chapter, key, list(verdicts.values()), self.sandbox, of)
        verdicts = counted(verdicts, self.best.get(name, {}))
        put_verdicts(notebook, self.chapter, verdicts, self.sandbox, self.judge.hints)
        comments = {verdict.exercise: comment_text(verdict, self.judge.hints) for verdict in verdicts.values()}
        rows = self.recorder.record(name, notebook, comments, timestamp)
        if before is not None and before != rows.penalty:
            self.penalties[name] = before, rows.penalty
        write_page(self.folder, name, self.chapter, notebook, rows, self.judge.hints)
        self.ledger.recorded(name, self.chapter, key)
        self.counts.update(SHORT.get(verdict.kind, verdict.kind) for verdict in verdicts.values())
        self.bar.set_postfix_str(
            ", ".join(f"{kind} {count}" for kind, count in self.counts.most_common()), refresh=False
        )
        self.bar.update()


def _verdicts_of(graded: Path) -> dict[str, Verdict]:
    kept = nbformat.read(graded, as_version=4).metadata.get("unrolled", {}).get("verdicts", {})
    return {name: from_data(data) for name, data in kept.items()}


def write_feedback(folder: Path, chapter: str, only: str | None = None) -> list[str]:
    """The pages of all graded submissions once more, with what was graded by hand meanwhile; whose they are."""
    require_course(folder)
    config = load_config(folder)
    hints, name = Judge(config=config).hints, released_notebook(folder, chapter).name
    paths = sorted((folder / "autograded").glob(f"*/{chapter}/{name}"))
    written = []
    with Recorder(config, folder, chapter) as recorder:
        for path in tqdm([p for p in paths if only in (None, p.parts[-3])], unit="page", disable=None):
            student = path.parts[-3]
            graded = nbformat.read(path, as_version=4)
            write_page(folder, student, chapter, graded, recorder.rows(student), hints)
            written.append(student)
    if not written:
        raise CourseError(f"Nothing of {chapter} is graded yet; run `autograder grade {chapter}` first.")
    return written
