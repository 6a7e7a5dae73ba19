"""From results.json to the page docs/bench.md and its figures."""

from __future__ import annotations

import importlib
import json
import re
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from harness import RESULTS

from unrolled.plotting import STYLE

DOCS = Path(__file__).parents[2] / "docs"
INTRO = """# Speed and growth

Ratios, not seconds: whatever is compared ran side by side in one run on one thread; where a part does not say
otherwise, in turns in one process, and what is shown are medians of processor time. A ratio below 1 means that ours is
faster. The page is made from `tests/bench/results.json` by `make bench`; `make bench GROUP=library` measures one part
again, and a run that was stopped goes on where it was.
"""
BUSY = """**The machine was busy with other work while this was measured.** Processor time leaves out the waiting, but
not what others push out of the caches: what lies near a goal may fall on either side of it when measured again."""


def write_page(docs: Path = DOCS, results: Path = RESULTS) -> Path:
    """Write docs/bench.md and its figures; give its path."""
    rows = json.loads(results.read_text())
    parts = [INTRO]
    with plt.rc_context(STYLE):
        for group in dict.fromkeys(one["group"] for one in rows):
            mine = [one for one in rows if one["group"] == group]
            parts.append(section(group, mine, figures(group, mine, docs)))
    path = docs / "bench.md"
    path.write_text("\n".join(parts), "utf8")
    return path


def section(group: str, rows: list[dict], pictures: list[tuple[str, str, int]]) -> str:
    module = importlib.import_module(f"group_{group}")
    lines = [f"## {module.TITLE}", "", module.TEXT, ""]
    for machine in machines(rows):
        lines += [f"Measured on: {machine}.", ""]
    if any("busy" in one["machine"] for one in rows):
        lines += [BUSY, ""]
    for name, alt, width in pictures:
        lines += [f'<img src="{name}" alt="{alt}" class="chart" width="{width}">', ""]
    lines += [*summary(rows), "", f":::{{admonition}} All {len(rows)} measurements", ":class: dropdown", ""]
    lines += ["| what | ours | peer | unit | ratio | goal | verdict |", "|---|---:|---:|---|---:|---:|---|"]
    lines += [*(line(one) for one in rows), ":::", ""]
    return "\n".join([*lines, *getattr(module, "after", lambda rows: [])(rows)])


def machines(rows: list[dict]) -> list[str]:
    """What the rows say of their machine; where only its load differs, once, from the lowest to the highest."""
    loads: dict[str, list[float]] = {}
    for one in rows:
        quiet = one["machine"].replace("busy with other work, ", "")
        load = re.search(r"load ([\d.]+)", quiet)
        loads.setdefault(quiet.replace(load[0], "load {}"), []).append(float(load[1]))
    spans = {text: sorted({min(found), max(found)}) for text, found in loads.items()}
    return [text.format(" to ".join(f"{load:.1f}" for load in span)) for text, span in spans.items()]


def line(one: dict) -> str:
    goal = "–" if one["goal"] is None else f"≤ {one['goal']:g}"
    holds = {None: "", True: "holds", False: "**missed**"}[one["holds"]]
    numbers = f"{one['ours']:.3g} | {one['peer']:.3g} | {one['unit']} | {one['ratio']:.2f}"
    return f"| {one['name']} | {numbers} | {goal} | {holds} |"


def summary(rows: list[dict]) -> list[str]:
    """How many goals hold; of those that do not, by how much they are missed, and why."""
    with_goal = [one for one in rows if one["goal"] is not None]
    missed = [one for one in with_goal if not one["holds"]]
    lines = []
    for part in dict.fromkeys(one.get("part", "") for one in with_goal):
        held = [one["holds"] for one in with_goal if one.get("part", "") == part]
        lines.append(f"Of {len(held)} goals{f' for the {part}' * bool(part)} {sum(held)} hold.")
    if missed:
        lines += ["", "These do not:", ""]
    for why in dict.fromkeys(one["why"] for one in missed):
        alike = [
            f"{one['name']} ({100 * (one['ratio'] / one['goal'] - 1):.0f} % over)"
            for one in missed
            if one["why"] == why
        ]
        lines.append(f"- {'; '.join(alike)}. Why: {why}.")
    return lines


def figures(group: str, rows: list[dict], docs: Path) -> list[tuple[str, str, int]]:
    """Draw what the module of a group draws of its rows, if anything: (file, alternative text, width) of each."""
    draw = getattr(importlib.import_module(f"group_{group}"), "figures", lambda rows: [])
    made = []
    for name, alt, figure in draw(rows):
        file = f"bench_{group}_{name}.svg"
        figure.savefig(docs / file, metadata={"Date": None})
        plt.close(figure)
        made.append((file, alt, round(75 * figure.get_size_inches()[0])))
    return made
