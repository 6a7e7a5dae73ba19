"""The numbers of a report, as plain data: the page is made from them, and they stand beside it as JSON."""

from __future__ import annotations

from collections import Counter, defaultdict
from datetime import UTC, datetime, timedelta

import numpy as np

from autograder.exercise import FULL_MARKS, Exercise
from autograder.exercises import chapter_exercises
from autograder.report_class import ClassWork, known_forms, known_mistakes
from autograder.similarity import similar_pairs

BINS = 10
FEWEST = 10  # submissions: with fewer a correlation is an accident
HELP_BELOW = 0.5  # of the points that are graded so far
KINDS = {
    "right": FULL_MARKS,
    "known mistake": {"misconception"},
    "other mistake": {"wrong", "shortcut"},
    "error or timeout": {"error", "timeout"},
    "not written": {"not-attempted"},
    "file refused": {"refused"},
}
RULES = {
    "share": "Points in the gradebook (by hand where a person gave them, less what is taken off for lateness) "
    "over the points that are graded so far; an answer that waits for a person counts on neither side.",
    "pass": "The share of readable submissions with all points of the exercise.",
    "difficulty": "The mean share of its points that the exercise gave: 1 is easy, 0 is hard.",
    "discrimination": "The corrected item-total correlation: Pearson's correlation of the points of the exercise with "
    "the sum of the points of all others. Near 0, the exercise does not tell strong from weak. "
    f"Not given for fewer than {FEWEST} submissions, or where all got the same.",
    "help": f"Less than {HELP_BELOW:.0%} of the points that are graded so far, or at least half of the exercises not "
    "written, or a file that cannot be read.",
    "pairs": "Comments, docstrings, layout and chosen names are removed. Runs of six tokens count if they stand "
    "neither in the released stub, nor in a right form or a mistake that the course knows, nor in a form that three "
    "or more students share, nor in more than 1 % of the answers (at least two). Listed are pairs of at least 40 "
    "tokens each and 20 runs of their own, of which they have 60 % in common, where this is a third of all that both "
    "wrote and neither answer is so close to a third one.",
}


def report_of(work: ClassWork, book: str | None = None) -> dict:
    """All numbers of the report; ``book`` is the address under which the book's pages stand."""
    marks = work.marks
    readable = [student for student in marks.handed_in if student not in set(work.refused)]
    exercises = chapter_exercises(marks.chapter)
    return {
        "chapter": marks.chapter,
        "title": work.title,
        "made": datetime.now(UTC).isoformat(timespec="minutes"),
        "submissions": len(marks.handed_in),
        "refused": len(work.refused),
        "ungraded": work.ungraded,
        "waiting": sum(score.waits for found in marks.handed_in.values() for score in found.scores.values()),
        "handed_in_nothing": [name for name in marks.people if name not in marks.handed_in],
        "rules": RULES,
        "marks": _distribution(work),
        "exercises": _items(work, exercises, readable, book),
        "misconceptions": _misconceptions(work, exercises, book),
        "times": _times(work),
        "need_help": _need_help(work, exercises),
        "pairs": _pairs(work, exercises),
    }


def _distribution(work: ClassWork) -> dict:
    shares = np.array([found.share for found in work.marks.handed_in.values()])
    places = np.clip((shares * BINS + 1e-9).astype(int), 0, BINS - 1)
    low, middle, high = np.quantile(shares, (0.25, 0.5, 0.75))
    return {
        "bins": np.bincount(places, minlength=BINS).tolist(),
        "mean": float(shares.mean()),
        "quartiles": [float(low), float(middle), float(high)],
        "most": work.marks.most,
        "all_points": int((shares > 1 - 1e-9).sum()),
    }


def _items(work: ClassWork, exercises: tuple[Exercise, ...], readable: list[str], book: str | None) -> list[dict]:
    """One row per graded cell, in the order of the chapter."""
    cells = [f"check-{e.id}" for e in exercises] + [c for c in work.marks.cells if not c.startswith("check-")]
    cells = [cell for cell in cells if cell in work.marks.cells]
    scores = np.full((len(readable), len(cells)), np.nan)
    for row, student in enumerate(readable):
        for column, cell in enumerate(cells):
            found = work.marks.handed_in[student].scores.get(cell)
            if found and not found.waits:
                scores[row, column] = found.score
    most = {cell: score.most for found in work.marks.handed_in.values() for cell, score in found.scores.items()}
    return [_item(work, exercises, scores, column, cell, most.get(cell, 0), book) for column, cell in enumerate(cells)]


def _item(work: ClassWork, exercises, scores: np.ndarray, column: int, cell: str, most: float, book) -> dict:
    name = cell.removeprefix("check-")
    exercise = next((e for e in exercises if e.id == name), None)
    graded = ~np.isnan(scores[:, column])
    mine, others = scores[graded, column], np.nansum(np.delete(scores[graded], column, axis=1), axis=1)
    labels = Counter(_group(found[name]) for found in work.labels.values() if name in found)
    failed = Counter(title for found in work.failed.values() for title in found.get(name, ()))
    return {
        "id": name,
        "number": exercise.number if exercise else "",
        "by_hand": exercise is None,
        "points": most,
        "meant": exercise.difficulty if exercise else None,  # how hard its author thinks it is, 1 to 3
        "answers": int(graded.sum()),
        "pass_rate": float((mine >= most - 1e-9).mean()) if len(mine) else None,
        "difficulty": float(mine.mean() / most) if len(mine) and most else None,
        "discrimination": _correlation(mine, others),
        "kinds": {group: labels[group] for group in KINDS},
        "failed_properties": failed.most_common(3),
        **_where(work, name, book),
    }


def _group(label: str) -> str:
    kind = label.partition(":")[0]
    return next((group for group, kinds in KINDS.items() if kind in kinds), "other mistake")


def _correlation(mine: np.ndarray, others: np.ndarray) -> float | None:
    if len(mine) < FEWEST or np.ptp(mine) < 1e-9 or np.ptp(others) < 1e-9:
        return None
    return float(np.corrcoef(mine, others)[0, 1])


def _where(work: ClassWork, name: str, book: str | None) -> dict:
    place = work.places.get(name)
    link = f"{book.rstrip('/')}/{place.page}" if book and place else None
    return {"title": place.title if place else name, "section": place.section if place else "", "link": link}


def _misconceptions(work: ClassWork, exercises: tuple[Exercise, ...], book: str | None) -> list[dict]:
    """Every known mistake that somebody made, the most frequent first."""
    who: dict[tuple[str, str], list[str]] = defaultdict(list)
    written: Counter[str] = Counter()
    chosen = {exercise.id for exercise in exercises}
    for student, found in work.labels.items():
        for name, label in found.items():
            kind, _, detail = label.partition(":")
            written[name] += kind not in ("not-attempted", "refused")
            if kind == "misconception" and name in chosen:
                who[name, detail].append(student)
    known = {(e.id, one.id): (e.number, one) for e in exercises for one in e.misconceptions}
    rows = []
    for (name, detail), names in who.items():
        number, one = known.get((name, detail), ("", None))
        rows.append(
            {
                "exercise": name,
                "number": number,
                "id": detail,
                "name": one.title if one else detail,
                "hints": list(one.hints) if one else [],
                "count": len(names),
                "share": len(names) / written[name],
                "students": sorted(names),
                **_where(work, name, book),
            }
        )
    order = [exercise.id for exercise in exercises]
    return sorted(rows, key=lambda row: (-row["count"], order.index(row["exercise"]), row["id"]))


def _times(work: ClassWork) -> dict:
    """How many were handed in when, by hour, day or week."""
    marks = work.marks
    timed = {student: found.time for student, found in marks.handed_in.items() if found.time}
    without = len(marks.handed_in) - len(timed)
    due = marks.due.isoformat(timespec="minutes") if marks.due else None
    if not timed:
        return {"unit": None, "bars": [], "without": without, "due": due, "late": 0}
    first, last = min(timed.values()), max(timed.values())
    unit, step = next(
        (unit, step)
        for unit, step in (("hour", timedelta(hours=1)), ("day", timedelta(days=1)), ("week", timedelta(weeks=1)))
        if (last - first) / step <= 48 or unit == "week"
    )
    start = first.replace(minute=0, second=0, microsecond=0, **({} if unit == "hour" else {"hour": 0}))
    if unit == "week":
        start -= timedelta(days=start.weekday())
        step *= max(1, int((last - start) / step) // 60 + 1)  # a time that is years off must not make thousands of bars
    bars = [
        {"from": (start + step * place).isoformat(timespec="minutes"), "count": 0, "late": 0}
        for place in range(int((last - start) / step) + 1)
    ]
    for student, time in timed.items():
        bar = bars[int((time - start) / step)]
        bar["late" if marks.late(student) else "count"] += 1
    return {"unit": unit, "bars": bars, "without": without, "due": due, "late": sum(bar["late"] for bar in bars)}


def _need_help(work: ClassWork, exercises: tuple[Exercise, ...]) -> list[dict]:
    titles = {(e.id, one.id): one.title for e in exercises for one in e.misconceptions}
    rows, refused = [], set(work.refused)
    for student, found in work.marks.handed_in.items():
        labels = work.labels.get(student, {})
        open_ones = [name for name, label in labels.items() if label == "not-attempted"]
        reasons = []
        if student in refused:
            reasons.append("the file cannot be read")
        elif found.graded and found.share < HELP_BELOW:
            reasons.append(f"{found.share:.0%} of the points")
        if labels and len(open_ones) * 2 >= len(labels):
            reasons.append(f"{len(open_ones)} of {len(labels)} exercises not written")
        if reasons:
            parts = (label.partition(":") for label in labels.values())
            mistakes = [
                f"{name}: {titles.get((name, detail), detail)}"
                for name, (kind, _, detail) in zip(labels, parts, strict=True)
                if kind == "misconception"
            ]
            rows.append({"student": student, "share": found.share, "reasons": reasons, "mistakes": mistakes})
    return sorted(rows, key=lambda row: (row["share"], row["student"]))


def _pairs(work: ClassWork, exercises: tuple[Exercise, ...]) -> list[dict]:
    """Pairs of students, those that are alike in most exercises first."""
    together: dict[tuple[str, str], list[dict]] = defaultdict(list)
    for exercise in exercises:
        answers = {
            student: found[exercise.id]
            for student, found in work.sources.items()
            if exercise.id in found and work.labels[student].get(exercise.id) not in ("not-attempted", "refused", None)
        }
        known = known_forms(exercise, work.marks.chapter) + known_mistakes(exercise)
        for pair in similar_pairs(answers, known, work.names):
            together[tuple(sorted((pair.first, pair.second)))].append(
                {
                    "exercise": exercise.id,
                    "number": exercise.number,
                    "alike": pair.alike,
                    "runs": pair.runs,
                    "sources": {pair.first: answers[pair.first], pair.second: answers[pair.second]},
                    "lines": {pair.first: list(pair.first_lines), pair.second: list(pair.second_lines)},
                }
            )
    rows = [{"students": list(names), "exercises": found} for names, found in together.items()]
    return sorted(rows, key=lambda row: (-len(row["exercises"]), -sum(e["runs"] for e in row["exercises"])))
