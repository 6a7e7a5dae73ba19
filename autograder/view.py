"""What student code may see while it is graded: a copy of the course without the answers of this chapter."""

from __future__ import annotations

import ast
import shutil
from pathlib import Path

import unrolled
from autograder.exercises import chapter_exercises, chapter_modules, chapters_revisited
from autograder.source import tree_of

HERE = Path(__file__).resolve().parent
FAST = Path(unrolled.__file__).parent / "fast"
SHARED = ("answer.py", "probe.py", "sandbox.py", "values.py")
GRADER = '''"""While grading there is no fallback and no check: an answer stands for itself."""


def exercise(function):
    return function


def check(*functions, **options):
    return None
'''


def make_view(chapter: str, folder: Path) -> Path:
    """Write the view of one chapter into ``folder``: redacted library, probes, and the answering side."""
    graded = graded_from(chapter)
    library = Path(unrolled.__file__).parent
    for path in library.rglob("*.py"):
        if FAST in path.parents:
            continue  # the fast path computes what chapters ask for
        target = folder / "unrolled" / path.relative_to(library)
        target.parent.mkdir(parents=True, exist_ok=True)
        module = ".".join(("unrolled", *path.relative_to(library).with_suffix("").parts))
        target.write_text(redact(path.read_text("utf8"), graded.get(module, set())), "utf8")
    package = folder / "autograder"
    (package / "probes").mkdir(parents=True)
    (package / "__init__.py").write_text(GRADER, "utf8")
    for name in SHARED:
        shutil.copy(HERE / name, package / name)
    (package / "probes" / "__init__.py").touch()
    for module in {exercise.probe_module for exercise in chapter_exercises(chapter)}:
        shutil.copy(module.__file__, package / "probes")
    return folder


def graded_from(chapter: str) -> dict[str, set[str]]:
    """Library module -> names of the functions that this chapter or a later one asks for; all, where it revisits."""
    graded: dict[str, set[str]] = {}
    for name, module in chapter_modules().items():
        if name >= chapter or chapters_revisited(chapter):
            for exercise in module.EXERCISES:
                for function in exercise.references:
                    graded.setdefault(function.__module__, set()).add(function.__name__)
    return graded


def redact(source: str, names: set[str]) -> str:
    """The source with the bodies of the named functions replaced by one that raises; docstrings stay."""
    lines = source.splitlines()
    for node in reversed(tree_of(source).body):
        if isinstance(node, ast.FunctionDef) and node.name in names:
            first = node.body[0]
            documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
            begin = first.end_lineno if documented else first.lineno - 1
            lines[begin : node.end_lineno] = [f'    raise NotImplementedError("{node.name} is graded here: write it")']
    return "\n".join(lines) + "\n"
