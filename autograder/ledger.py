"""The verdict log of a course: append-only, one line per event, each line chained to the one before by its hash.

A verdict is on disk here before it goes into the gradebook, and a second line says that the gradebook has it. So a
grader that is killed at any point finds out what is left to do, and a changed line is noticed.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from autograder.exercise import CourseError, Verdict

NAME = "verdicts.log"
START = "0" * 64
TAIL = 2**20  # far more than the longest line


@dataclass(frozen=True)
class Ledger:
    """The log in a course directory."""

    root: Path

    @property
    def path(self) -> Path:
        return self.root / NAME

    def judged(
        self, student: str, chapter: str, key: str, verdicts: list[Verdict], sandbox: bool, of: dict | None = None
    ) -> None:
        """Put verdicts on disk, before the gradebook hears of them; ``of`` is what they depend on."""
        results = {v.exercise: [v.label, v.points, v.max_points] for v in verdicts}
        self._append(
            event="judged", student=student, chapter=chapter, key=key, sandbox=sandbox, verdicts=results, of=of or {}
        )

    def recorded(self, student: str, chapter: str, key: str) -> None:
        """Note that the gradebook holds the verdicts of this key."""
        self._append(event="recorded", student=student, chapter=chapter, key=key)

    def extended(self, student: str, chapter: str, days: float) -> None:
        """Note that a student may hand in so many days later; 0 takes it back."""
        self._append(event="extended", student=student, chapter=chapter, days=days)

    def extensions(self, chapter: str) -> dict[str, float]:
        """student -> days, as they were granted last."""
        granted = (e for e in self.entries() if e["event"] == "extended" and e["chapter"] == chapter)
        return {entry["student"]: entry["days"] for entry in granted}

    def finished(self, chapter: str) -> None:
        """Note the end of a grading run: what it has recorded may be shown from now on."""
        self._append(event="finished", chapter=chapter)

    def end_of_last_run(self, chapter: str) -> int:
        """How many entries stand up to the end of the last run; what a killed run left comes after it."""
        places = [
            place for place, e in enumerate(self.entries(), 1) if (e["event"], e["chapter"]) == ("finished", chapter)
        ]
        return places[-1] if places else 0

    def pools(self, chapter: str) -> Callable[[str, str], str]:
        """(student, key) -> a name that is new after every finished run, and after every attempt of the student."""
        runs, attempts = 0, {}
        for entry in self.entries():
            if entry["chapter"] == chapter and entry["event"] == "finished":
                runs += 1
            if entry["chapter"] == chapter and entry["event"] == "judged":
                attempts.setdefault(entry["student"], set()).add(entry["key"])
        return lambda student, key: f"run {runs}, attempt {len(attempts.get(student, set()) - {key})}"

    def recorded_keys(self) -> dict[tuple[str, str], str]:
        """(student, chapter) -> the key of what the gradebook took last."""
        entries = (entry for entry in self.entries() if entry["event"] == "recorded")
        return {(entry["student"], entry["chapter"]): entry["key"] for entry in entries}

    def best_points(self, chapter: str) -> dict[str, dict[str, float]]:
        """student -> exercise -> the most points that any attempt was judged to deserve."""
        best: dict[str, dict[str, float]] = {}
        for entry in self.entries():
            if entry["event"] == "judged" and entry["chapter"] == chapter:
                theirs = best.setdefault(entry["student"], {})
                for exercise, (_, points, _) in entry["verdicts"].items():
                    theirs[exercise] = max(points, theirs.get(exercise, 0))
        return best

    def entries(self) -> Iterator[dict]:
        """All events in order; CourseError at the first line that does not continue the chain."""
        previous = START
        for number, line in enumerate(self._lines(), 1):
            try:
                entry = json.loads(line)
                found = entry.pop("hash")
            except (ValueError, KeyError, TypeError, AttributeError):
                raise CourseError(f"{self.path}, line {number}: not an entry of the verdict log.") from None
            if entry.get("previous") != previous or found != _digest(entry):
                raise CourseError(f"{self.path}, line {number}: the chain is broken here; this line was changed.")
            previous = found
            yield entry

    def _lines(self) -> list[bytes]:
        """The complete lines; one that a kill cut off does not count."""
        return self.path.read_bytes().split(b"\n")[:-1] if self.path.exists() else []

    def _append(self, **entry) -> None:
        with os.fdopen(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600), "r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)  # one writer at a time
            start = max(0, file.seek(0, os.SEEK_END) - TAIL)
            file.seek(start)
            data = file.read()
            complete = data.rfind(b"\n") + 1  # what follows was cut off by a kill
            lines = data[:complete].splitlines()
            previous = json.loads(lines[-1])["hash"] if lines else START
            file.truncate(start + complete)
            file.seek(start + complete)
            entry |= {"time": datetime.now(UTC).isoformat(timespec="seconds"), "previous": previous}
            file.write(json.dumps(entry | {"hash": _digest(entry)}, sort_keys=True).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())


def _digest(entry: dict) -> str:
    return hashlib.sha256(json.dumps(entry, sort_keys=True).encode()).hexdigest()
