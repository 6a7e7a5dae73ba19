"""Which marks changed when submissions were judged again, and why: read from the verdict log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

WHY = {
    "exercises": "the exercises changed",
    "library": "the library changed",
    "judge": "the judge changed",
    "packages": "the packages changed",
}


@dataclass(frozen=True)
class Change:
    """One exercise of one student, before and after: the label of the verdict and the points."""

    student: str
    chapter: str
    exercise: str
    before: tuple[str, float]
    after: tuple[str, float]
    why: str
    time: str


def changes(entries: Iterable[dict], best: bool = False) -> Iterator[Change]:
    """Every change between one judgement of a submission and the next. ``best``: the best attempt counts."""
    last: dict[tuple[str, str], dict] = {}
    for entry in _judgements(entries, best):
        whose = entry["student"], entry["chapter"]
        yield from _compared(last[whose], entry) if whose in last else ()
        last[whose] = entry


def changes_since(entries: list[dict], start: int, chapter: str, best: bool = False) -> tuple[list[Change], int]:
    """What differs between the last judgement before a place in the log and the last one after it.

    Returns:
        the changes, and how many submissions were judged a second time.
    """
    before: dict[str, dict] = {}
    after: dict[str, dict] = {}
    for entry in _judgements(entries, best):
        if entry["chapter"] == chapter:
            (before if entry["place"] < start else after)[entry["student"]] = entry
    again = sorted(before.keys() & after.keys())
    return [change for student in again for change in _compared(before[student], after[student])], len(again)


def _judgements(entries: Iterable[dict], best: bool) -> Iterator[dict]:
    """The judgements in the log, each with its place in it and with the points that count."""
    most: dict[tuple[str, str, str], float] = {}
    for place, entry in enumerate(entries):
        if entry["event"] != "judged":
            continue
        verdicts = {}
        for name, (label, points, _) in entry["verdicts"].items():
            whose = entry["student"], entry["chapter"], name
            most[whose] = max(points, most.get(whose, 0)) if best else points
            verdicts[name] = label, most[whose]
        yield entry | {"place": place, "verdicts": verdicts}


def _compared(old: dict, new: dict) -> list[Change]:
    """The exercises whose verdict or points differ between two judgements of a submission."""
    found = []
    for name, now in new["verdicts"].items():
        was = old["verdicts"].get(name)
        if was and was != now:
            found.append(Change(new["student"], new["chapter"], name, was, now, _why(name, old, new), new["time"]))
    return found


def _why(exercise: str, old: dict, new: dict) -> str:
    """The reason, as far as the log tells it."""
    before, after = old.get("of"), new.get("of")
    if not before or not after:
        return "not known: the log is from before reasons were kept"
    reasons = [sentence for part, sentence in WHY.items() if before.get(part) != after.get(part)]
    if before["answers"].get(exercise) != after["answers"].get(exercise):
        reasons.insert(0, "the answer changed")
    elif before["answers"] != after["answers"]:
        reasons.insert(0, "another cell of the submission changed")
    if old["sandbox"] != new["sandbox"]:
        reasons.append("without walls" if old["sandbox"] else "behind walls now")
    return ", ".join(reasons) or "nothing but the questions: look at this answer"


def summary(found: list[Change]) -> str:
    """One sentence about many changes."""
    reasons = Counter(change.why for change in found)
    said = "; ".join(f"{count} because {why}" for why, count in reasons.most_common())
    people = len({change.student for change in found})
    return f"{len(found)} verdicts of {people} student{'s' if people > 1 else ''} changed: {said}."
