"""From a rebuilt notebook to verdicts: which cells run, which seeds are asked, what depends on what."""

from __future__ import annotations

import hashlib
import hmac
import random
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from nbformat import NotebookNode

from autograder.exercise import Exercise, Verdict
from autograder.exercises import chapter_exercises, find
from autograder.judge import CHECK_SEEDS, better, judge, not_attempted, shortcut_verdict
from autograder.respond import Door, Respondent
from autograder.source import function_source, is_unwritten, shortcut, syntax_error

SeedsFor = Callable[[Exercise], tuple[int, ...]]
POOL = 8  # seeds per exercise that one grading run asks


def secret_seeds(secret: bytes, student: str, notebook: NotebookNode) -> SeedsFor:
    """Two seeds per exercise that follow from the secret, the student and what was handed in."""
    attempt = hashlib.sha256("\0".join(source for _, source in graded_cells(notebook)).encode()).hexdigest()

    def seeds(exercise: Exercise) -> tuple[int, ...]:
        digest = _mac(secret, student, exercise.id, attempt)
        return tuple(int.from_bytes(digest[i : i + 6], "big") for i in (0, 6))

    return seeds


def pooled_seeds(secret: bytes, pool: str, student: str, notebook: NotebookNode) -> SeedsFor:
    """As ``secret_seeds``, but two of the few that a run asks at all, so that the references answer each only once.

    ``pool`` names the few. It must be new whenever somebody may have read feedback on the last ones.
    """
    own = secret_seeds(secret, student, notebook)

    def seeds(exercise: Exercise) -> tuple[int, ...]:
        places = random.Random(str(own(exercise))).sample(range(POOL), 2)
        return tuple(int.from_bytes(_mac(secret, pool, exercise.id, str(place))[:6], "big") for place in places)

    return seeds


def _mac(secret: bytes, *words: str) -> bytes:
    return hmac.new(secret, "\0".join(words).encode(), hashlib.sha256).digest()


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


@dataclass(frozen=True)
class Questions:
    """All that judging one submission needs, and nothing of the file it came in; it may travel to another machine."""

    chapter: str
    cells: tuple[tuple[str, str], ...]
    seeds: dict[str, tuple[int, ...]]
    refused: str | None = None

    def without(self, known: Collection[str]) -> Questions:
        """The questions but for the exercises whose verdicts are known already."""
        return replace(self, seeds={name: seeds for name, seeds in self.seeds.items() if name not in known})


def questions_for(notebook: NotebookNode, chapter: str, seeds: SeedsFor) -> Questions:
    """What to ask of a rebuilt notebook."""
    cells = tuple(graded_cells(notebook))
    present = {name for name, _ in cells}
    asked = {exercise.id: seeds(exercise) for exercise in chapter_exercises(chapter) if exercise.id in present}
    return Questions(chapter, cells, asked, notebook.metadata.get("unrolled", {}).get("refused"))


def answer_questions(questions: Questions, server: Door) -> list[Verdict]:
    """One verdict per exercise of the chapter that the notebook holds, in order."""
    exercises = [exercise for exercise in chapter_exercises(questions.chapter) if exercise.id in questions.seeds]
    if questions.refused:
        return [Verdict(e.id, "refused", 0, e.points, message=questions.refused) for e in exercises]
    sources = dict(questions.cells)
    verdicts: dict[str, Verdict] = {}
    with Respondent(server, list(questions.cells)) as respondent:
        for exercise in exercises:
            verdict = _without_running(exercise, sources[exercise.id])
            if verdict is None:
                verdict = judge(exercise, respondent.ask, questions.seeds[exercise.id])
                verdict = _given_the_used(exercise, verdict, verdicts, questions, server)
            verdicts[exercise.id] = verdict
    return list(verdicts.values())


def grade_notebook(notebook: NotebookNode, chapter: str, seeds: SeedsFor, server: Door) -> list[Verdict]:
    """The verdicts on a rebuilt notebook."""
    return answer_questions(questions_for(notebook, chapter, seeds), server)


def _without_running(exercise: Exercise, source: str) -> Verdict | None:
    """The verdicts that the source alone decides."""
    if is_unwritten(source, exercise):
        return not_attempted(exercise)
    wrong = syntax_error(source)
    if wrong:
        return Verdict(exercise.id, "error", 0, exercise.points, message=wrong)
    sentence = shortcut(source, exercise)
    return shortcut_verdict(exercise, sentence) if sentence else None


def _given_the_used(exercise, verdict, verdicts, questions: Questions, server: Door) -> Verdict:
    """An answer that fails while a function it uses is not plainly right is asked again with the reference of that."""
    verdict_on = {name: verdicts.get(find(name).id) for name in exercise.uses}
    shaky = tuple(name for name, used in verdict_on.items() if used is None or used.kind != "correct")
    if verdict.full or not shaky:
        return verdict
    given = {name: function_source(find(name).functions[name]) for name in _with_what_they_use(shaky, questions)}
    with Respondent(server, list(questions.cells), given) as respondent:
        return better(verdict, judge(exercise, respondent.ask, questions.seeds[exercise.id]), shaky)


def _with_what_they_use(names: tuple[str, ...], questions: Questions) -> list[str]:
    """Functions, and those that their references call, and so on."""
    found = list(names)
    for name in found:  # it grows
        found += [used for used in find(name, questions.chapter).uses if used not in found]
    return found
