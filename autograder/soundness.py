"""Can a wrong answer get full marks? Right variants, known mistakes and machine-made mutants of every reference.

A mutant is the reference with one small change from a fixed list: an operator, a constant, a dropped term. Each must
lose marks, unless the exercise lists it in ``equivalent`` with the reason why it computes the same.
"""

from __future__ import annotations

import ast
import copy
import importlib
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from autograder.exercise import Exercise, Verdict
from autograder.judge import judge_functions
from autograder.source import function_source

MOST = 60
MODULES = {"torch", "F", "nn", "np", "math", "plt"}
SECONDS = 5
SWAPPED = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.MatMult: ast.Mult, ast.Pow: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip
RENAMED = {
    "amax": "amin", "max": "min", "min": "max", "sum": "mean", "mean": "sum", "exp": "exp2", "log": "log2",
    "zeros": "ones", "ones": "zeros", "tanh": "sigmoid", "sigmoid": "tanh", "stack": "cat", "cat": "stack",
    "argmax": "argmin", "tril": "triu", "cumsum": "cumprod", "prod": "sum", "logsumexp": "amax",
}  # fmt: skip


@dataclass
class Soundness:
    """The outcome for one exercise."""

    exercise: Exercise
    right: dict[str, Verdict] = field(default_factory=dict)  # name of the function -> verdict
    known: dict[str, Verdict] = field(default_factory=dict)  # name of the wrong function -> verdict
    mutants: int = 0
    caught: int = 0
    survivors: list[str] = field(default_factory=list)

    @property
    def variants_wrong(self) -> list[str]:
        return [name for name, verdict in self.right.items() if not verdict.full]

    @property
    def mistakes_unnamed(self) -> list[str]:
        """Known mistakes that are not named as themselves, or lose nothing, with what they were taken for."""
        wrong = ((name, v) for name, v in self.known.items() if v.full or v.detail != name.split("__")[1])
        return [f"{name} taken for {verdict.label}" for name, verdict in wrong]

    @property
    def sound(self) -> bool:
        return not (self.variants_wrong or self.mistakes_unnamed or self.survivors)

    def summary(self) -> str:
        right, named = len(self.right) - len(self.variants_wrong), len(self.known) - len(self.mistakes_unnamed)
        return (
            f"{self.exercise.number} {self.exercise.id}: right {right}/{len(self.right)}, "
            f"named {named}/{len(self.known)}, mutants caught {self.caught}/{self.mutants}"
        )


def soundness(exercise: Exercise) -> Soundness:
    """Judge everything that is known or can be made of an exercise."""
    found = Soundness(exercise)
    conventions = [convention.implementation for convention in exercise.conventions]
    for variant in (*exercise.references, *exercise.variants, *conventions):
        found.right[variant.__name__] = judge_functions(exercise, exercise.with_one(variant))
    for known in exercise.misconceptions:
        found.known[known.implementation.__name__] = judge_functions(exercise, exercise.with_one(known.implementation))
    for description, function in mutants(exercise):
        found.mutants += 1
        verdict = _judge_in_time(exercise, function)
        if verdict is None or not verdict.full:
            found.caught += 1
        elif description not in exercise.equivalent:
            found.survivors.append(description)
    return found


def mutants(exercise: Exercise) -> Iterator[tuple[str, Callable]]:
    """At most 60 mutants of the references, spread evenly over all that the list of changes gives."""
    made = [(reference, *mutant) for reference in exercise.references for mutant in _changes(reference)]
    step = max(1, -(-len(made) // MOST))
    for reference, description, tree in made[::step]:
        namespace = dict(vars(importlib.import_module(reference.__module__)))
        exec(compile(ast.fix_missing_locations(tree), "<mutant>", "exec"), namespace)
        yield description, namespace[reference.__name__]


def _changes(reference: Callable) -> Iterator[tuple[str, ast.Module]]:
    """(the changed line, changed tree) for every place of the body and every change that fits it."""
    original = ast.parse(function_source(reference))
    body = original.body[0].body
    skip = {id(node) for node in ast.walk(body[0])} if isinstance(body[0], ast.Expr) else set()
    for statement in body:
        for place, node in enumerate(ast.walk(statement)):
            if id(node) in skip:
                continue
            for replacement in _replacements(node):
                tree = copy.deepcopy(original)
                twin = tree.body[0].body[body.index(statement)]
                _put(tree, list(ast.walk(twin))[place], replacement)
                twin = tree.body[0].body[body.index(statement)]
                yield _changed_line(statement, twin), tree


def _changed_line(statement: ast.stmt, twin: ast.stmt) -> str:
    """The first line in which two versions of a statement differ, as the second has it."""
    pairs = zip(ast.unparse(statement).splitlines(), ast.unparse(twin).splitlines(), strict=False)
    return next((new.strip() for old, new in pairs if old != new), ast.unparse(twin))


def _replacements(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.BinOp):
        if type(node.op) in SWAPPED:
            yield ast.BinOp(node.left, SWAPPED[type(node.op)](), node.right)
        yield node.left
        yield node.right
    elif isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPPED:
        yield ast.Compare(node.left, [SWAPPED[type(node.ops[0])]()], node.comparators)
    elif isinstance(node, ast.UnaryOp):
        yield node.operand
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        yield ast.Constant(node.value + 1)
        yield ast.Constant(node.value - 1)
    elif isinstance(node, ast.Attribute) and node.attr in RENAMED:
        yield ast.Attribute(node.value, RENAMED[node.attr], node.ctx)
    elif isinstance(node, ast.Attribute) and node.attr in {"T", "mT"}:
        yield node.value
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not _is_module(node.func.value):
        yield node.func.value
    elif isinstance(node, ast.Tuple) and isinstance(node.ctx, ast.Load) and len(node.elts) > 1:
        yield ast.Tuple([*node.elts[1:], node.elts[0]], node.ctx)


def _is_module(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in MODULES


def _put(tree: ast.AST, target: ast.AST, replacement: ast.AST) -> None:
    """Replace ``target`` by a copy of ``replacement`` wherever it hangs in the tree."""
    new = copy.deepcopy(replacement)
    for parent in ast.walk(tree):
        for name, value in ast.iter_fields(parent):
            if value is target:
                setattr(parent, name, new)
            elif isinstance(value, list):
                setattr(parent, name, [new if item is target else item for item in value])


class _TooLong(BaseException):
    """Raised in a mutant that does not come to an end. A probe that asks it catches exceptions, but not this."""


def _judge_in_time(exercise: Exercise, function: Callable) -> Verdict | None:
    """The verdict, or None if the mutant does not come to an end."""

    def stop(*_):
        raise _TooLong

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS)
    try:
        return judge_functions(exercise, exercise.with_one(function))
    except _TooLong:
        return None
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
