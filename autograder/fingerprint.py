"""What a verdict depends on, as hashes: so that unchanged work is recognised, and a changed mark can say why.

Of this package only the modules count that the judge imports, on either side of the boundary; a new column in an
export is no reason to grade a class again.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.metadata
from functools import cache
from pathlib import Path

from nbformat import NotebookNode

import unrolled
from autograder.exercises import chapters_revisited
from autograder.source import tree_of

HERE, LIBRARY = Path(__file__).parent, Path(unrolled.__file__).parent
ROOTS = ("intake", "grading", "answer")  # from which the judge imports all the rest
PACKAGES = ("torch", "numpy", "nbgrader")


def regrade_key(notebook: NotebookNode, chapter: str) -> str:
    """One hash of the handed-in sources and of everything on our side; the same key means the same verdicts."""
    digest = hashlib.sha256(course_fingerprint(chapter).encode())
    for name, source in sorted(_answers(notebook).items()):
        digest.update(f"{name}\0{source}\0".encode("utf8", "surrogatepass"))
    digest.update(str(notebook.metadata.get("unrolled", {}).get("refused")).encode())
    return digest.hexdigest()


def course_fingerprint(chapter: str) -> str:
    """One hash of everything on our side that a verdict of this chapter depends on."""
    return _hash("".join(course_parts(chapter).values()).encode())


@cache
def course_parts(chapter: str) -> dict[str, str]:
    """The parts of the course that a verdict of this chapter depends on, each with its hash."""
    names = [f"ch{name}.py" for name in (*chapters_revisited(chapter), chapter)]
    files = {
        "exercises": [HERE / folder / name for name in names for folder in ("exercises", "probes")],
        "library": sorted(LIBRARY.rglob("*.py")),
        "judge": [_file(name) for name in judging_modules()],
    }
    parts = {
        what: _hash(*(part for p in paths for part in (p.name.encode(), p.read_bytes())))
        for what, paths in files.items()
    }
    versions = (f"{name} {importlib.metadata.version(name)}".encode() for name in PACKAGES)
    return parts | {"packages": _hash(*versions)}


def basis(notebook: NotebookNode, chapter: str) -> dict:
    """What stands behind the verdicts on a submission, for the log: the parts of the course, and each answer."""
    answers = {name: _hash(source.encode("utf8", "surrogatepass"))[:12] for name, source in _answers(notebook).items()}
    return {what: digest[:12] for what, digest in course_parts(chapter).items()} | {"answers": answers}


@cache
def judging_modules() -> tuple[str, ...]:
    """The modules of this package that can change a verdict: those that the judge imports, found by reading them."""
    found = list(ROOTS)
    for name in found:  # it grows
        for node in ast.walk(tree_of(_file(name).read_text("utf8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "autograder":
                tail = node.module.split(".")[1:2]
                found += [one for one in tail or [a.name for a in node.names] if one not in found]
    return tuple(sorted(found))


def _file(module: str) -> Path:
    path = HERE / f"{module}.py"
    return path if path.exists() else HERE / module / "__init__.py"


def _answers(notebook: NotebookNode) -> dict[str, str]:
    """The sources that are judged: what the student wrote, and the setup that came with the release."""
    found = {}
    for cell in notebook.cells:
        meta = cell.metadata.get("nbgrader", {})
        if meta.get("solution") or str(meta.get("grade_id", "")).startswith("setup"):
            found[meta["grade_id"]] = cell.source
    return found


def _hash(*parts: bytes) -> str:
    return hashlib.sha256(b"\0".join(parts)).hexdigest()
