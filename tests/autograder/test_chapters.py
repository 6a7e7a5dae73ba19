"""What every chapter must be: short cells, labels on both sides, numbers from a run, figures with alt text."""

import ast
import inspect
import json
import re
import statistics
from pathlib import Path

import jupytext
import nbformat
import pytest

from autograder.course import chapters
from autograder.exercises import all_exercises, chapter_of

ROOT = Path(__file__).parents[2]
LABEL = re.compile(r"\beq-[a-z0-9-]+")
NUMBER = re.compile(r"(?<![\w.^{-])\d*\.\d+(?![\w.]|\})")
each_chapter = pytest.mark.parametrize("chapter", chapters(), ids=lambda c: c.name)


def source_of(chapter):
    return jupytext.read(chapter.source, fmt="md:myst")


def code_lines(source: str) -> int:
    """Lines of code in a cell; docstrings and blank lines do not count."""
    lines = {n for n, line in enumerate(source.splitlines(), 1) if line.strip()}
    for node in ast.walk(ast.parse(source)):
        body = getattr(node, "body", None)
        if (
            isinstance(body, list)
            and body
            and isinstance(body[0], ast.Expr)
            and isinstance(body[0].value, ast.Constant)
        ):
            lines -= set(range(body[0].lineno, body[0].end_lineno + 1))
    return len(lines)


@each_chapter
def test_cells_and_source_are_short(chapter):
    assert sum(bool(line.strip()) for line in chapter.source.read_text("utf8").splitlines()) <= 600
    sizes = [code_lines(cell.source) for cell in source_of(chapter).cells if cell.cell_type == "code"]
    assert statistics.median(sizes) <= 8
    assert max(sizes) <= 40


@each_chapter
def test_code_fits_the_page(chapter):
    long = [
        line
        for cell in source_of(chapter).cells
        if cell.cell_type == "code"
        for line in cell.source.splitlines()
        if len(line) > 104
    ]
    assert long == []


def labels_ahead() -> set[str]:
    """The labels of exercises that have landed before their chapter."""
    written = {chapter.name for chapter in chapters()}
    ahead = [f for e in all_exercises().values() if chapter_of(e) not in written for f in e.references]
    return {label for function in ahead for label in LABEL.findall(inspect.getsource(function))}


def test_every_equation_label_stands_on_both_sides():
    taught = [
        label
        for chapter in chapters()
        for cell in source_of(chapter).cells
        if cell.cell_type == "markdown"
        for label in re.findall(r"\$\$\s*\((eq-[a-z0-9-]+)\)", cell.source)
    ]
    library = {path: path.read_text("utf8") for path in (ROOT / "lib").rglob("*.py")}
    commented = {label for text in library.values() for c in re.findall(r"#.*", text) for label in LABEL.findall(c)}
    assert sorted(taught) == sorted(set(taught)), "a label stands on two equations"
    assert set(taught) == commented - labels_ahead()
    assert {label for text in library.values() for label in LABEL.findall(text)} == commented


def numbers_in(text: str) -> set[float]:
    return {float(found) for found in re.findall(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e-?\d+)?", text)}


def known_numbers(chapter) -> set[float]:
    """Every number in the outputs and the code of the executed chapter, and in the stored experiments."""
    found: set[float] = set()
    for cell in nbformat.read(chapter.student, as_version=4).cells:
        if cell.cell_type == "code":
            found |= numbers_in(cell.source)
            for output in cell.outputs:
                data = output.get("data", {})
                found |= numbers_in(output.get("text", "") + "".join(data.get("text/plain", "")))
    for path in (ROOT / "experiments").glob(f"ch{chapter.name[:2]}_*.json"):
        if not path.stem.endswith(("_explorer", "_tree")):  # thousands of numbers: among them is every one
            found |= set(leaves(json.loads(path.read_text("utf8"))))
    return found


def leaves(tree):
    """All numbers of a measurement, and the mean of each list of them: that is what prose quotes."""
    if isinstance(tree, (int, float)):
        yield float(tree)
    elif isinstance(tree, dict):
        for value in tree.values():
            yield from leaves(value)
    elif isinstance(tree, list):
        for value in tree:
            yield from leaves(value)
        numbers = [value for value in tree if isinstance(value, (int, float))]
        if numbers:
            yield statistics.fmean(numbers)


@each_chapter
def test_decimal_numbers_in_prose_come_from_a_run(chapter):
    known = known_numbers(chapter)
    for cell in source_of(chapter).cells:
        if cell.cell_type != "markdown" or {"answer", "instructor"} & set(cell.metadata.get("tags", [])):
            continue
        prose = re.sub(r"\$\$.*?\$\$|\$[^$]*\$|`[^`]*`|```.*?```|\]\([^)]*\)", " ", cell.source, flags=re.DOTALL)
        prose = re.sub(r"(figure|exercise|CC BY) ?\d+\.\d+", " ", prose, flags=re.IGNORECASE)
        for quoted in NUMBER.findall(prose):
            digits = len(quoted.split(".")[1])
            scaled = {round(value * scale, digits) for value in known for scale in (1, 100)}
            assert float(quoted) in scaled, f"{quoted} is neither printed nor stored: …{cell.source[:60]}…"


@each_chapter
def test_every_figure_has_alt_text(chapter):
    for cell in nbformat.read(chapter.student, as_version=4).cells:
        if any("image/svg+xml" in o.get("data", {}) for o in cell.get("outputs", [])):
            alt = cell.metadata.get("mystnb", {}).get("image", {}).get("alt", "")
            assert len(alt) > 30, f"cell {cell.id} shows a figure without alt text"


@each_chapter
def test_student_editions_ran_from_top_to_bottom(chapter):
    cells = [c for c in nbformat.read(chapter.student, as_version=4).cells if c.cell_type == "code"]
    assert [c.execution_count for c in cells] == list(range(1, len(cells) + 1))
    assert not any(o.output_type == "error" for c in cells for o in c.outputs)
    assert not any(o.get("name") == "stderr" for c in cells for o in c.outputs)


@pytest.mark.parametrize("chapter", [c for c in chapters() if c.name != "00_start"], ids=lambda c: c.name)
def test_a_chapter_has_its_parts(chapter):
    cells = source_of(chapter).cells
    tags = [tag for cell in cells for tag in cell.metadata.get("tags", [])]
    assert tags.count("question") == tags.count("answer") == 1 and tags.count("instructor") >= 1
    text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    assert text.count("<details>") >= 4, "a quiz"
    assert "](#ref-" in text, "references"
    assert sum("claim(" in cell.source for cell in cells if cell.cell_type == "code") >= 5


@each_chapter
def test_no_cell_ends_in_a_semicolon(chapter):
    """nbval runs cells without history, and IPython then shows the value all the same."""
    ends = [cell.source for cell in source_of(chapter).cells if cell.cell_type == "code" and cell.source.endswith(";")]
    assert ends == []


@each_chapter
def test_quiz_options_are_plain_html(chapter):
    """A line that begins with an HTML tag is left as it is: <i>, <sub> and <code> do what $, * and ` do elsewhere."""
    quiz = [line for line in chapter.source.read_text("utf8").splitlines() if line.startswith("<details>")]
    assert [line for line in quiz if re.search(r"`|\*\S|\$\S", line)] == []
