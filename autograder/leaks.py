"""Does an answer show through? Finds the bodies of references and known mistakes in any text that readers get."""

from __future__ import annotations

import ast
import html
import json
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from autograder.exercises import all_exercises
from autograder.source import function_source, parse

TEXTS = {".md", ".txt", ".json", ".js", ".py"}
OTHERS = ("mathjax", "vendor", "locales")  # folders of a built book with nothing of ours in them


@cache
def secrets() -> dict[str, set[str]]:
    """Name -> the forms in which the body of a graded reference or known mistake could stand in a text.

    Bodies of one short statement say too little to tell an answer from a coincidence.
    """
    found = {}
    for exercise in all_exercises().values():
        functions = [*exercise.references, *(known.implementation for known in exercise.misconceptions)]
        for function in functions if exercise.points else ():
            source = function_source(function)
            body = _body(source)
            if len(body) >= 2 or len("".join(map(ast.unparse, body))) >= 60:
                written = "\n".join(source.splitlines()[body[0].lineno - 1 :])
                found[function.__name__] = {_squeeze(written), _squeeze("\n".join(map(ast.unparse, body)))}
    return found


def _body(source: str) -> list[ast.stmt]:
    body = ast.parse(source).body[0].body
    documented = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
    return body[1:] if documented else body


def leaks_in(texts: Iterable[tuple[str, str]]) -> list[str]:
    """``place: name`` for every secret whose statements stand, in order and together, in a text."""
    known, found = secrets(), []
    for place, text in texts:
        tree = parse(text)
        plain = {_squeeze(text), _squeeze(ast.unparse(tree)) if tree else ""}
        found += [f"{place}: {name}" for name, forms in known.items() if any(f in p for f in forms for p in plain)]
    return found


def _squeeze(text: str) -> str:
    """Without comments, white space and quotes' style: what remains of code however it is laid out."""
    return re.sub(r"\s+", "", re.sub(r"#[^\n]*", "", text)).replace('"', "'")


def texts_of_book(folder: Path) -> Iterator[tuple[str, str]]:
    """Every text of a built book: code blocks and whole text of pages, sources, search index, scripts and weights."""
    for path in sorted(folder.rglob("*")):
        if path.suffix == ".html":
            page = path.read_text("utf8")
            for block in re.findall(r"<pre[^>]*>(.*?)</pre>", page, re.DOTALL):
                yield path.name, plain_text(block)
            yield path.name, plain_text(page)
        elif path.suffix == ".ipynb":
            yield from texts_of_notebook(path)
        elif path.suffix in TEXTS and not set(OTHERS) & set(path.parts):
            yield path.name, path.read_text("utf8")


def texts_of_notebook(path: Path) -> Iterator[tuple[str, str]]:
    """Every cell and every text in the outputs of a notebook."""
    for cell in json.loads(path.read_text("utf8"))["cells"]:
        place = f"{path.name}, cell {cell.get('id')}"
        yield place, "".join(cell["source"])
        for output in cell.get("outputs", []):
            yield place, "".join(output.get("text", []))
            for data in output.get("data", {}).values():
                yield place, "".join(data) if isinstance(data, list) else str(data)


def plain_text(markup: str) -> str:
    """What a reader sees of HTML: without tags and entities."""
    return html.unescape(re.sub(r"<[^>]+>", "", markup))
