"""Print chapters of the built book as PDF with this machine's Chromium, one file each, into _build/pdf.

``make pdf`` prints all of them, ``make pdf CHAPTERS="04_lstm_gru 07_attention"`` some. What is newer than its page is
kept, so a run that was interrupted goes on where it stopped.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from book import ARGUMENTS, BROWSERS, HTML, MATHS_IS_SET, NETWORK_OFF, ROOT, find_browser, pages

FOOT = """<style>
  div { display: flex; justify-content: space-between; width: 100%; padding: 0 16mm; font: 8pt sans-serif; }
</style>
<div><span>Unrolled · CC BY 4.0</span><span><b class="pageNumber"></b> / <b class="totalPages"></b></span></div>"""
SECONDS_PER_CHAPTER = 120


def chapter_pages() -> dict[str, Path]:
    """The chapters by the name of their folder, and their pages."""
    return {Path(name).parent.name: HTML / name for name in pages() if name.startswith("chapters/")}


def print_page(browser: Browser, page: Path, file: Path) -> None:
    """One page of the book as PDF: all mathematics set, all pictures there, nothing folded."""
    tab = browser.new_page()
    tab.set_default_timeout(SECONDS_PER_CHAPTER * 1000)
    tab.goto(page.as_uri())
    tab.evaluate(MATHS_IS_SET)
    tab.evaluate("() => document.querySelectorAll('main details').forEach(folded => { folded.open = true; })")
    tab.evaluate("() => Promise.all([...document.images].map(picture => picture.decode().catch(() => null)))")
    half = file.with_suffix(".part")
    tab.pdf(
        path=half,
        prefer_css_page_size=True,
        print_background=True,
        tagged=True,
        outline=True,
        display_header_footer=True,
        header_template="<span></span>",
        footer_template=FOOT,
    )
    half.replace(file)
    tab.close()


def main() -> int:
    known = chapter_pages()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("chapters", nargs="*", metavar="NN_slug", help="all of them if none is named")
    parser.add_argument("--out", type=Path, default=ROOT / "_build" / "pdf")
    arguments = parser.parse_args()
    wanted = arguments.chapters or list(known)
    browser_path = find_browser()
    if unknown := [name for name in wanted if name not in known]:
        print(f"pdf: there is no chapter {unknown[0]}; the chapters are {', '.join(known)}", file=sys.stderr)
    elif browser_path is None:
        print(
            f"pdf: none of {', '.join(BROWSERS)} is here; run `make system`",
            file=sys.stderr,
        )
    elif missing := [name for name in wanted if not known[name].is_file()]:
        print(f"pdf: {known[missing[0]]} is missing; run `make html` first", file=sys.stderr)
    else:
        arguments.out.mkdir(parents=True, exist_ok=True)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=browser_path, args=[*ARGUMENTS, NETWORK_OFF])
            for number, name in enumerate(wanted, 1):
                file = arguments.out / f"{name}.pdf"
                fresh = file.is_file() and file.stat().st_mtime > known[name].stat().st_mtime
                if not fresh:
                    print_page(browser, known[name], file)
                size = file.stat().st_size / 1e6
                print(f"{number}/{len(wanted)} {file} {size:.1f} MB{' (kept)' if fresh else ''}", flush=True)
            browser.close()
        return 0
    return 2


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
