"""Measure and write tests/bench/results.json and the page docs/bench.md: ``make bench``, ``make bench GROUP=growth``.

A run can be stopped with Ctrl-C and goes on where it was; ``--again`` begins from the start. ``--page`` only writes the
page from the results that are there.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import time

import torch
from harness import HERE, RESULTS, CannotMeasure, measure, merge
from page import write_page
from tqdm import tqdm

GROUPS = (
    "library",
    "learning",
    "growth",
    "scale",
)  # each is a module group_NAME beside this file; the page shows them in this order


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Ratios measured side by side, as JSON and as a page of the book.")
    parser.add_argument("--group", default="", help=f"one of {', '.join(GROUPS)}; all, if left out")
    parser.add_argument("--again", action="store_true", help="forget what a stopped run has measured")
    parser.add_argument("--page", action="store_true", help="only write the page")
    options = parser.parse_args(arguments)
    if options.group and options.group not in GROUPS:
        print(f"bench: there is no group {options.group!r}; take one of {', '.join(GROUPS)}", file=sys.stderr)
        return 2
    torch.set_num_threads(1)
    if not options.page:
        for group in [options.group] if options.group else GROUPS:
            try:
                run(group, options.again)
            except KeyboardInterrupt:
                print(f"\nbench: stopped; `make bench GROUP={group}` goes on from here", file=sys.stderr)
                return 130
            except CannotMeasure as problem:
                print(f"bench: {group} could not be measured: {problem}", file=sys.stderr)
                return 1
    if not RESULTS.exists():
        print(f"bench: {RESULTS.name} does not exist yet; run `make bench`", file=sys.stderr)
        return 2
    print(f"bench: wrote {write_page().name}, made from {RESULTS.name}")
    return 0


def run(group: str, again: bool) -> None:
    """Measure one group, with a line for every row."""
    module, partial = importlib.import_module(f"group_{group}"), HERE / f".partial-{group}.json"
    cases = module.cases()

    def forget() -> None:
        partial.unlink(missing_ok=True)
        getattr(module, "forget", lambda: None)()

    if again:
        forget()
    rows, start = [], time.monotonic()
    measured = tqdm(measure(group, cases, partial), total=len(cases), desc=group, unit="case", disable=None)
    for number, (_, found) in enumerate(measured, 1):
        rows += found
        for one in found:
            said = "" if one["goal"] is None else f"  goal {one['goal']:.2f}: {'holds' if one['holds'] else 'MISSED'}"
            numbers = f"{one['ours']:10.3f} {one['peer']:10.3f} {one['unit']:10} ratio {one['ratio']:6.2f}"
            tqdm.write(f"[{number}/{len(cases)}] {one['name']:55} {numbers}{said}")
    merge(group, rows, GROUPS)
    forget()
    print(f"bench: {group} took {time.monotonic() - start:.0f} s", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
