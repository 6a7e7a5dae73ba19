"""One answer in another hand: other names, comments and layout, and the disguises of somebody who copies.

What the answer computes stays the same. The words come from a list, so that a class is the same in every run.
"""

from __future__ import annotations

import ast
import builtins
from random import Random

from autograder.source import tree_of

WORDS = (  # noqa: SIM905 (a list of these would be a page long)
    "total part piece left right step state past item row col acc res tmp val cur prev out buf block size width count"
    " idx pos lo hi mix gate seen kept base shift rate scale form level mark note plan rest side top unit view wave"
    " first second third fourth inner outer whole share start stop turn way load path point room term word zone"
).split()
REMARKS = (
    "see the formula", "checked by hand", "one step at a time", "shapes first", "this took a while", "as in the text",
    "works", "careful with the axes", "TODO: shorter?", "now the rest",
)  # fmt: skip


def by_another_hand(source: str, chooser: Random) -> str:
    """The same answer with other local names, other comments and, every second time, without its docstring."""
    source = _with_other_names(source, chooser)
    if chooser.random() < 0.5:
        source = _without_docstrings(source)
    return _with_remarks(source, chooser)


def copied(source: str, chooser: Random) -> str:
    """What somebody hands in who copied: as by another hand, and neighbours that do not need each other exchanged."""
    return by_another_hand(_reordered(source), chooser)


def _with_other_names(source: str, chooser: Random) -> str:
    tree = tree_of(source)
    taken = _all_names(tree)
    free = [word for word in WORDS if word not in taken]
    names = dict(zip(sorted(_chosen_names(tree)), chooser.sample(free, len(free)), strict=False))
    places = [
        (node.lineno, node.col_offset, name)
        for node in ast.walk(tree)
        if (name := getattr(node, "id", None) or (node.arg if isinstance(node, ast.arg) else None)) in names
    ]
    lines = [line.encode() for line in source.split("\n")]  # the tree counts bytes
    for number, column, name in sorted(places, reverse=True):
        line = lines[number - 1]
        lines[number - 1] = line[:column] + names[name].encode() + line[column + len(name.encode()) :]
    return b"\n".join(lines).decode()


def _all_names(tree: ast.Module) -> set[str]:
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return names | {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)} | set(dir(builtins))


def _chosen_names(tree: ast.Module) -> set[str]:
    """The names that a student may choose: not those of parameters and functions, by which others call."""
    chosen, fixed = set(), {word.arg for word in ast.walk(tree) if isinstance(word, ast.keyword)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            chosen.add(node.id)
        if isinstance(node, ast.FunctionDef):
            fixed |= {node.name} | {argument.arg for argument in ast.walk(node.args) if isinstance(argument, ast.arg)}
        if isinstance(node, ast.Global | ast.Nonlocal):
            fixed |= set(node.names)
        if isinstance(node, ast.JoinedStr):
            return set()  # its inner places are not those of the source
    return chosen - fixed


def _without_docstrings(source: str) -> str:
    lines = source.split("\n")
    for node in ast.walk(tree_of(source)):
        if isinstance(node, ast.FunctionDef) and ast.get_docstring(node) is not None and len(node.body) > 1:
            lines[node.body[0].lineno - 1 : node.body[0].end_lineno] = [None] * (
                node.body[0].end_lineno - node.body[0].lineno + 1
            )
    return "\n".join(line for line in lines if line is not None)


def _with_remarks(source: str, chooser: Random) -> str:
    """Comments and empty lines between statements, where they cannot change anything."""
    lines = source.split("\n")
    statements = [node for node in ast.walk(tree_of(source)) if isinstance(node, ast.stmt) and node.col_offset]
    for node in sorted(statements, key=lambda node: -node.lineno):
        indent, chance = " " * node.col_offset, chooser.random()
        if lines[node.lineno - 1][: node.col_offset].strip():
            continue  # it does not begin its line
        if chance < 0.15:
            lines.insert(node.lineno - 1, f"{indent}# {chooser.choice(REMARKS)}")
        elif chance < 0.25:
            lines.insert(node.lineno - 1, "")
    return "\n".join(lines)


def _reordered(source: str) -> str:
    """Exchange the first two neighbouring one-line assignments of each function that do not need each other."""
    lines = source.split("\n")
    for function in tree_of(source).body:
        for one, two in zip(getattr(function, "body", []), getattr(function, "body", [])[1:], strict=False):
            if _is_one_line(one) and _is_one_line(two) and two.lineno == one.lineno + 1 and _independent(one, two):
                lines[one.lineno - 1], lines[two.lineno - 1] = lines[two.lineno - 1], lines[one.lineno - 1]
                break
    return "\n".join(lines)


def _is_one_line(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign) and node.lineno == node.end_lineno


def _independent(one: ast.stmt, two: ast.stmt) -> bool:
    used = [{n.id for n in ast.walk(node) if isinstance(n, ast.Name)} for node in (one, two)]
    set_by = [
        {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        for node in (one, two)
    ]
    return not (set_by[0] & used[1] or set_by[1] & used[0])
