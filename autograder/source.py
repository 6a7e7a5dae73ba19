"""Questions about source text that are answered without running it: stubs, answers, names, shortcuts."""

from __future__ import annotations

import ast
import builtins
import dis
import inspect
import re
import textwrap
import unicodedata
from collections.abc import Callable
from functools import lru_cache
from threading import Lock

from autograder.exercise import Exercise

STUB_BODY = "raise NotImplementedError()"
BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
ONE_AT_A_TIME = Lock()  # Python 3.11 counts the depth of a tree for all threads together, and stops at a wrong count


def tree_of(source: str) -> ast.Module:
    """The syntax tree; SyntaxError and its kin where there is none. For all threads, which ``ast.parse`` is not."""
    with ONE_AT_A_TIME:
        return ast.parse(source)


def function_source(function: Callable) -> str:
    """The source of a function without its decorators, dedented."""
    text = textwrap.dedent(inspect.getsource(function))
    node = tree_of(text).body[0]
    return "\n".join(text.splitlines()[node.lineno - 1 :])


def renamed_source(implementation: Callable) -> str:
    """The source of ``rnn_step__variant`` under the name ``rnn_step``, as a student would write it in a cell."""
    name = implementation.__name__
    return function_source(implementation).replace(f"def {name}(", f"def {name.split('__')[0]}(", 1)


def written_cell(exercise: Exercise, implementation: Callable | None = None) -> str:
    """A cell as a student would hand it in: the references, one of them replaced by ``implementation``."""
    functions = exercise.with_one(implementation or exercise.references[0])
    return "\n\n\n".join(_alone(function, exercise.functions[name]) for name, function in functions.items())


def _alone(function: Callable, reference: Callable) -> str:
    """A function as it can stand in a cell; a known mistake that calls the reference brings it along."""
    name, source = reference.__name__, renamed_source(function)
    calls = (node.func for node in ast.walk(tree_of(source)) if isinstance(node, ast.Call))
    if function is reference or all(getattr(called, "id", "") != name for called in calls):
        return f"@exercise\n{source}"
    right = function_source(reference).replace(f"def {name}(", f"def right_{name}(", 1)
    return f"{right}\n\n\n@exercise\n" + re.sub(rf"(?<!def )\b{name}\(", f"right_{name}(", source)


def answer_cell(exercise: Exercise) -> str:
    """The solution cell: signature, docstring, and the body between nbgrader's markers, for each function."""
    return "\n\n\n".join("@exercise\n" + _with_markers(reference) for reference in exercise.references)


def stub_cell(exercise: Exercise) -> str:
    """The released cell, as nbgrader makes it of the answer cell."""
    stubs = []
    for reference in exercise.references:
        head, _ = _split(reference)
        stubs.append(f"@exercise\n{head}\n    # YOUR CODE HERE\n    {STUB_BODY}")
    return "\n\n\n".join(stubs)


def _split(reference: Callable) -> tuple[str, str]:
    """The source of a function, cut below its docstring."""
    lines = function_source(reference).splitlines()
    first = tree_of("\n".join(lines)).body[0].body[0]
    return "\n".join(lines[: first.end_lineno]), "\n".join(lines[first.end_lineno :])


def _with_markers(reference: Callable) -> str:
    head, body = _split(reference)
    return f"{head}\n    {BEGIN}\n{body.rstrip()}\n    {END}"


@lru_cache(maxsize=4)  # several questions are asked about one cell
def parse(source: str) -> ast.Module | None:
    """The syntax tree, which nobody may change, or None where there is none."""
    try:
        return tree_of(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def syntax_error(source: str) -> str:
    """Why a cell is not Python, in a sentence; empty if it is."""
    if parse(source) is not None:
        return ""
    try:
        compile(source, "<cell>", "exec", dont_inherit=True)
    except SyntaxError as error:
        magic = "%" in (error.text or "")[:2] or "!" in (error.text or "")[:2]
        advice = " Notebook commands that begin with % or ! do not belong into a graded cell." if magic else ""
        line = f" (line {error.lineno})" if error.lineno else ""
        return f"The cell is not Python: {error.msg}{line}.{advice}"
    except (ValueError, RecursionError, MemoryError) as error:
        return f"The cell cannot be read: {str(error) or type(error).__name__}."
    return "The cell cannot be read."


def without_magics(source: str) -> str:
    """The cell with its notebook commands (lines that begin with %, ! or ?) as comments, if that makes it Python.

    JupyterLab runs such a cell, so ``check`` has called it right; the commands themselves have no part in the answer.
    """
    if parse(source) is not None or (source.lstrip().startswith("%%") and not _KEEPS_PYTHON.match(source)):
        return source
    plain = _COMMAND.sub(lambda line: (f"{line[1]}pass  # " if line[1] else "# ") + line[2], source)
    return plain if parse(plain) is not None else source


_COMMAND = re.compile(r"^([ \t]*)([%!?].*|[\w.]+\?\??\s*)$", re.MULTILINE)
_KEEPS_PYTHON = re.compile(r"\s*%%(time|capture)\b")  # of the commands for a whole cell, those that run it as it is


def normal_body(function: ast.FunctionDef) -> str:
    """A function's body as a string that ignores docstring, comments, layout and annotations."""
    body = function.body
    if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        body = body[1:]
    return "\n".join(ast.dump(statement) for statement in body)


_STUB = normal_body(tree_of(f"def stub():\n    {STUB_BODY}").body[0])


def functions_in(source: str) -> dict[str, ast.FunctionDef]:
    """The functions defined at the top level of a cell, by name; the last one of a name counts."""
    tree = parse(source)
    return {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)} if tree else {}


def is_unwritten(source: str, exercise: Exercise) -> bool:
    """True if the cell is the released stub (or blank): no function of the exercise has another body."""
    tree = parse(source)
    if tree is None:
        return False
    if not tree.body:
        return True
    defined = functions_in(source)
    only_stubs = all(len(node.body) <= 2 and normal_body(node) == _STUB for node in defined.values())
    return only_stubs and len(defined) == len(tree.body) and set(defined) <= set(exercise.functions)


def shortcut(source: str, exercise: Exercise) -> str | None:
    """The sentence for a call that the exercise asks the student to write, if the cell uses one."""
    plain = unicodedata.normalize("NFKC", source)  # as Python reads names
    tree = parse(source) if any(name in plain for name in exercise.forbidden) else None
    for node in ast.walk(tree) if tree else ():
        names = []
        if isinstance(node, ast.Attribute):
            names = [node.attr]
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names = [alias.name.rsplit(".", 1)[-1] for alias in node.names]
        elif isinstance(node, ast.Name) and node.id not in exercise.functions:
            names = [node.id]
        for name in names:
            if name in exercise.forbidden:
                return exercise.forbidden[name]
    return None


def bound_names(source: str) -> set[str]:
    """The names that a cell binds at its top level."""
    names: set[str] = set()
    for node in tree_of(source).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
        else:
            names |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return names


def free_names(source: str) -> set[str]:
    """The global names that a cell reads and neither binds nor finds among the builtins."""
    code = compile(source, "<cell>", "exec", dont_inherit=True)
    read: set[str] = set()
    pending = [code]
    while pending:
        current = pending.pop()
        pending += [constant for constant in current.co_consts if inspect.iscode(constant)]
        read |= {op.argval for op in dis.get_instructions(current) if op.opname in {"LOAD_GLOBAL", "LOAD_NAME"}}
    return read - bound_names(source) - set(dir(builtins))
