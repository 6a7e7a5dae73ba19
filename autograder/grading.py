"""From a rebuilt notebook to verdicts: which cells run, which seeds are asked, what depends on what."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable

from nbformat import NotebookNode

from autograder.exercise import Exercise, Verdict
from autograder.exercises import chapter_exercises, find
from autograder.judge import CHECK_SEEDS, better, judge, not_attempted, shortcut_verdict
from autograder.respond import ForkServer, Respondent
from autograder.source import function_source, is_unwritten, parse, shortcut

SeedsFor = Callable[[Exercise], tuple[int, ...]]


def secret_seeds(secret: bytes, student: str, notebook: NotebookNode) -> SeedsFor:
    """Two seeds per exercise that follow from the secret, the student and what was handed in."""
    attempt = hashlib.sha256("\0".join(source for _, source in graded_cells(notebook)).encode()).hexdigest()

    def seeds(exercise: Exercise) -> tuple[int, ...]:
        digest = hmac.new(secret, f"{student}\0{exercise.id}\0{attempt}".encode(), hashlib.sha256).digest()
        return tuple(int.from_bytes(digest[i : i + 6], "big") for i in (0, 6))

    return seeds


def open_seeds(exercise: Exercise) -> tuple[int, ...]:
    """The seeds of ``check``: the same for everybody."""
    return CHECK_SEEDS


def graded_cells(notebook: NotebookNode) -> list[tuple[str, str]]:
    """(grade_id, source) of the cells that run in grading: setup and solution code, in order."""
    found = []
    for cell in notebook.cells:
        meta = cell.metadata.get("nbgrader", {})
        runs = meta.get("solution") or str(meta.get("grade_id", "")).startswith("setup")
        if cell.cell_type == "code" and runs:
            found.append((meta["grade_id"], cell.source))
    return found


def grade_notebook(notebook: NotebookNode, chapter: str, seeds: SeedsFor, server: ForkServer) -> list[Verdict]:
    """One verdict per exercise of the chapter that the notebook holds, in order."""
    cells = graded_cells(notebook)
    sources = dict(cells)
    exercises = [exercise for exercise in chapter_exercises(chapter) if exercise.id in sources]
    refused = notebook.metadata.get("unrolled", {}).get("refused")
    if refused:
        return [Verdict(exercise.id, "refused", 0, exercise.points, message=refused) for exercise in exercises]
    verdicts: dict[str, Verdict] = {}
    with Respondent(server, cells) as respondent:
        for exercise in exercises:
            verdict = _without_running(exercise, sources[exercise.id])
            if verdict is None:
                verdict = judge(exercise, respondent.ask, seeds(exercise))
                verdict = _given_the_used(exercise, verdict, verdicts, cells, seeds, server)
            verdicts[exercise.id] = verdict
    return list(verdicts.values())


def _without_running(exercise: Exercise, source: str) -> Verdict | None:
    """The verdicts that the source alone decides."""
    if is_unwritten(source, exercise):
        return not_attempted(exercise)
    if parse(source) is None:
        return Verdict(exercise.id, "error", 0, exercise.points, message=_syntax_error(source))
    sentence = shortcut(source, exercise)
    return shortcut_verdict(exercise, sentence) if sentence else None


def _syntax_error(source: str) -> str:
    try:
        compile(source, "<cell>", "exec", dont_inherit=True)
    except SyntaxError as error:
        magic = "%" in (error.text or "")[:2] or "!" in (error.text or "")[:2]
        advice = " Notebook commands that begin with % or ! do not belong into a graded cell." if magic else ""
        return f"The cell is not Python: {error.msg} (line {error.lineno}).{advice}"
    except (ValueError, RecursionError, MemoryError) as error:
        return f"The cell cannot be read: {type(error).__name__}."
    return "The cell cannot be read."


def _given_the_used(exercise, verdict, verdicts, cells, seeds, server) -> Verdict:
    """An answer that fails while a function it uses is not plainly right is asked again with the reference of that."""
    verdict_on = {name: verdicts.get(find(name).id) for name in exercise.uses}
    shaky = tuple(name for name, used in verdict_on.items() if used is None or used.kind != "correct")
    if verdict.full or not shaky:
        return verdict
    given = {name: function_source(find(name).functions[name]) for name in shaky}
    with Respondent(server, cells, given) as respondent:
        return better(verdict, judge(exercise, respondent.ask, seeds(exercise)), shaky)
