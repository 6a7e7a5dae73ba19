"""Learning per minute: our recipes against well-known ones, on the same data and split, by processor seconds."""

from __future__ import annotations

import importlib
from statistics import mean

from charts import learning_curves
from harness import Case, machine, row
from race import Race, at_half, both_sides, forget, until

from unrolled.measurements import stored

TITLE = "Learning per minute"
TEXT = """What is reached on unseen data, against the processor seconds of training on one thread. The peers train with
the settings that they publish, written again with torch's own modules; ours are networks of this book, with the same
data, the same split and the same score. Two questions for each pair, *worst of our three seeds* against the peer: what
is our error after **half** of the peer's time (goal: no larger than the peer's at its end), and after how many seconds
do we reach the peer's error (goal: half of its time)? Scores for which more is better are turned round: 100 - BLEU,
wrong tags in percent. The looks at the unseen data are not counted on either
side. Two runs at a time, each on a core of its own: so a load of 2 is ours.

**Look for** the place where our curves (three, one for each seed) cross the dashed line, the peer's error at its
end. The dotted line is half of the peer's time."""
__all__ = ["TEXT", "TITLE", "after", "cases", "figures", "forget"]  # what bench.py and page.py take
MODULES = ("shakespeare", "time_machine", "names", "french", "tags", "sounds")


def races() -> dict[str, tuple[str, Race]]:
    """All races by their names, each with its module."""
    found = {}
    for name in MODULES:
        module = importlib.import_module(f"race_{name}")
        found |= {race.name: (module.__name__, race) for race in module.RACES}
    return found


def cases() -> list[Case]:
    return [
        Case(name, lambda race=race, module=module: rows_of(race, both_sides(module, race.name)))
        for name, (module, race) in races().items()
    ]


def rows_of(race: Race, curves: dict[str, list[dict]]) -> list[dict]:
    """What the curves of a race say: error at half the time, and the seconds to the peer's error if all got there."""
    (peer,), ours = curves["peer"], curves["ours"]
    end, seconds = peer["error"][-1], peer["seconds"][-1]
    kept = {side: [thinned(curve) for curve in found] for side, found in curves.items()}
    about = machine(max(curve["load"] for found in curves.values() for curve in found), own=2)
    drawn = {"curves": kept, "peer_name": race.peer_name, "error_unit": race.unit}
    more = {"why": race.why, "machine": about}
    if seconds == 0:  # the peer comes trained
        worst = max(curve["error"][-1] for curve in ours)
        return [row(f"{race.name}: error at the end", worst, end, 1.0, race.unit, **more, **drawn)]
    half = max(at_half(curve, seconds / 2) for curve in ours)
    rows = [row(f"{race.name}: error at half the time", half, end, 1.0, race.unit, **more, **drawn)]
    reached = [until(curve, end) for curve in ours]
    if None not in reached:
        rows.append(row(f"{race.name}: seconds to the same error", max(reached), seconds, 0.5, "s", **more))
    return rows


def thinned(curve: dict, most: int = 24) -> dict:
    """At most so many looks, the last one among them."""
    n = len(curve["seconds"])
    keep = sorted({round(k * (n - 1) / (most - 1)) for k in range(most)}) if n > most else range(n)
    return {key: [curve[key][k] for k in keep] for key in ("seconds", "error")}


def figures(rows: list[dict]) -> list[tuple]:
    drawn = [one for one in rows if "curves" in one]
    said = "; ".join(f"{one['name']} {one['ours']:.3g}, {one['peer_name']} {one['peer']:.3g}" for one in drawn)
    about = f"Error against processor seconds of training, a panel for each pair, ours with three seeds; {said}."
    return [("curves", about, learning_curves(drawn))]


def ends(runs: list[dict], key: str) -> list[float]:
    """The last value of each run."""
    return [run[key][-1] for run in runs]


def against(errors: list[float], whole: list[float]) -> str:
    """Whether the errors without an idea are larger than those with it: only if all of them are."""
    if min(errors) > max(whole):
        return "larger"
    return "smaller" if max(errors) < min(whole) else "not told apart"


def after(rows: list[dict]) -> list[str]:
    """What each idea of our recipes is worth: the recipe without it."""
    lines = ["### What each idea is worth", ""]
    lines += [
        "Each recipe was trained again with one of its ideas left out, three seeds each. Shown are the mean error at",
        "the end, with the lowest and the highest, and the mean processor seconds of the training; the recipe as it is",
        "stands first. An error counts as larger or smaller if all three are. The settings were compared on other",
        "data; but for Shakespeare and French a first look at the data measured here prompted one change each, as",
        "their scripts say.",
        "Nothing was changed after this table: an idea that turns out to be worth nothing, or less, is still listed.",
        "Some recipes are shortened for it, and what an idea is worth in the whole training may differ. Read error and",
        "seconds together: an idea that saves half of the time at the same error is worth its place, too.",
        "",
    ]
    for name in MODULES:
        script = importlib.import_module(f"learning_{name}")
        found = stored(f"learning_{name}")
        lines += [f"**{script.TITLE}** ({found['unit']}; `experiments/learning_{name}.py`)", ""]
        lines += ["| recipe | error | seconds | its error is |", "|---|---:|---:|---|"]
        whole = ends(next(iter(found["runs"].values())), "error")
        for what, runs in found["runs"].items():
            errors, seconds = ends(runs, "error"), ends(runs, "seconds")
            shown = f"{mean(errors):.4g} ({min(errors):.4g} to {max(errors):.4g}) | {mean(seconds):.0f}"
            lines.append(f"| {what} | {shown} | {against(errors, whole) if what in script.CHANGES else ''} |")
        lines += ["", *(f"- *{what[0].upper()}{what[1:]}.* {change.why}" for what, change in script.CHANGES.items())]
        lines.append("")
    return lines
