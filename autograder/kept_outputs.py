"""A chapter is not run again while nothing that made its outputs has changed.

That is its code cells, the modules of the library and of the judge that they import, directly or through others, the
stored measurements, and the pinned packages. The fingerprint of these is noted in ``.stamps/`` after a run; the outputs
themselves lie in the student edition.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
from functools import cache
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from autograder.course import Chapter
from autograder.exercises import chapters_revisited

PACKAGES = {"unrolled": "lib/unrolled", "autograder": "autograder"}
READ = ("experiments/*.json", "constraints.txt", "requirements-data.txt")
READ_BY = {"lib/unrolled/book_paragraphs.py": "chapters/*/*.md"}  # modules that read files of the repository


def reuse(notebook: NotebookNode, chapter: Chapter) -> bool:
    """Take the outputs of the student edition that lies there, if they are still what a run would give."""
    stamp = _stamp(chapter)
    if os.environ.get("FRESH") or not stamp.exists() or not chapter.student.exists():
        return False
    ran = nbformat.read(chapter.student, as_version=4)
    now, before = _code(notebook), _code(ran)
    if [cell.source for cell in now] != [cell.source for cell in before]:
        return False
    if stamp.read_text("utf8") != json.dumps([fingerprint(notebook, chapter), _outputs(before)]):
        return False
    for new, old in zip(now, before, strict=True):
        new.outputs, new.execution_count = old.outputs, old.execution_count
    return True


def remember(notebook: NotebookNode, chapter: Chapter) -> None:
    """Note what the outputs of a notebook, which was just run, were made from."""
    stamp = _stamp(chapter)
    stamp.parent.mkdir(exist_ok=True)
    stamp.write_text(json.dumps([fingerprint(notebook, chapter), _outputs(_code(notebook))]), "utf8")


def fingerprint(notebook: NotebookNode, chapter: Chapter) -> str:
    """One hash of the code and of every file that the code reads when it runs."""
    sources, root = [cell.source for cell in _code(notebook)], chapter.root
    asked = [f"import autograder.{kind}.ch{name}" for kind in ("exercises", "probes") for name in _judged(chapter)]
    files = _modules(root, set().union(*map(_imported, sources + asked)))
    read = [*READ, *(pattern for module, pattern in READ_BY.items() if root / module in files)]
    files |= {path for pattern in read for path in root.glob(pattern)}
    digest = hashlib.sha256(json.dumps(sources).encode())
    for path in sorted(files):
        digest.update(str(path.relative_to(root)).encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _judged(chapter: Chapter) -> list[str]:
    """The chapters whose exercises ``check`` judges in this one."""
    return [chapter.name, *chapters_revisited(chapter.name)]


def _stamp(chapter: Chapter) -> Path:
    return chapter.root / ".stamps" / f"outputs-{chapter.name}"


def _code(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def _outputs(cells: list[NotebookNode]) -> str:
    """A hash of the outputs, so that another edition with the same code is not taken for the one that was run."""
    return hashlib.sha256(json.dumps([cell.outputs for cell in cells], sort_keys=True).encode()).hexdigest()


def _modules(root: Path, names: set[str]) -> set[Path]:
    """The files of the modules of our two packages with these names, and of all modules that those import."""
    found, waiting = {}, set(names)
    while waiting:
        name = waiting.pop()
        path = _file(root, name)
        if name not in found and path is not None:
            found[name] = path
            waiting |= _imported_by(path, path.stat().st_mtime_ns)
    return set(found.values())


def _file(root: Path, name: str) -> Path | None:
    package, _, rest = name.partition(".")
    if package not in PACKAGES:
        return None
    base = root / PACKAGES[package] / rest.replace(".", "/")
    return next((path for path in (base.with_suffix(".py"), base / "__init__.py") if path.is_file()), None)


@cache
def _imported_by(path: Path, _changed: int) -> frozenset[str]:
    return frozenset(_imported(path.read_text("utf8")))


def _imported(source: str) -> set[str]:
    """Every module that a source may import, at the top or inside a function, and the packages around it."""
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    parts = [name.split(".") for name in names]
    return {".".join(words[:count]) for words in parts for count in range(1, len(words) + 1)}
