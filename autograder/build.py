"""From one source to both editions: slug.md + library + registry -> solutions/ -> nbgrader -> chapters/.

Each step is one small function from notebook to notebook; ``build`` writes, ``drift`` only compares.
"""

from __future__ import annotations

import ast
import logging
import os
import re
import shutil
import tempfile
from pathlib import Path

import jupytext
import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode
from nbgrader.converters import GenerateAssignment
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

from autograder.claims_page import claims_page
from autograder.course import Chapter, chapters
from autograder.coverage import concepts_page
from autograder.equations_page import equations_page
from autograder.exercise import CourseError, Exercise
from autograder.exercises import (
    chapter_exercises,
    chapter_modules,
    chapter_of,
    chapters_revisited,
    revisited,
    revisited_setup,
    setup_names,
)
from autograder.kept_outputs import remember, reuse
from autograder.quiz import with_questions
from autograder.setup_cell import SETUP
from autograder.source import answer_cell, bound_names, free_names, function_source

NBGRADER_SCHEMA = 3
LABEL = re.compile(r"\beq-[a-z0-9-]+")
PAGES = {"claims.md": claims_page, "concepts.md": concepts_page, "equations.md": equations_page}


def build(chapter: Chapter) -> bool:
    """Write both editions of a chapter; the student edition carries the outputs of a run from top to bottom.

    Returns whether it was run: while nothing has changed that could change its outputs, they are kept.
    """
    solution = instructor_edition(chapter)
    student = student_edition(chapter, solution)
    kept = reuse(student, chapter)
    if not kept:
        run(student, chapter.student.parent)
    write(solution, chapter.solution)
    write(student, chapter.student)
    if not kept:
        remember(student, chapter)
    return not kept


def drift(which: list[Chapter]) -> list[str]:
    """What differs between the committed files and a rebuild, one sentence each; nothing is executed."""
    found = []
    for chapter in which:
        solution = instructor_edition(chapter)
        for path, fresh in ((chapter.solution, solution), (chapter.student, student_edition(chapter, solution))):
            found += _compare(chapter.shown(path), path, fresh)
    for root in {chapter.root for chapter in which}:
        for name, make in PAGES.items():
            page = root / "docs" / name
            if not page.exists() or page.read_text("utf8") != make(chapters(root)):
                found.append(f"docs/{name}: differs from what the executed chapters give; run `make chapters`.")
    return found


def write_pages(root: Path) -> None:
    """Make the pages that are collected from the executed chapters."""
    for name, make in PAGES.items():
        (root / "docs" / name).write_text(make(chapters(root)), "utf8")


# ---------------------------------------------------------------- the instructor edition


def instructor_edition(chapter: Chapter) -> NotebookNode:
    """The source with every exercise cell replaced by answer, check and known mistakes, and nbgrader's metadata."""
    source = jupytext.read(chapter.source, fmt="md:myst")
    exercises = {exercise.id: exercise for exercise in chapter_exercises(chapter.name)}
    _check_source(chapter, source, exercises)
    cells: list[NotebookNode] = []
    for position, cell in enumerate(source.cells, 1):
        tags = cell.metadata.get("tags", [])
        if "exercise" in tags:
            cells += _exercise_cells(_exercise_of(chapter, cell, position, exercises))
        elif "answer" in tags:
            cells.append(_answer(chapter, cell, position))
        elif "revisit" in tags:
            cells += [cell, *_revisited_cells(chapter)]
        elif "setup" in tags or "question" in tags:
            kind = "setup" if "setup" in tags else "question"
            cells.append(_locked(cell, f"{kind}-{position}"))
        else:
            cells += [cell, *_caption(cell)]
    notebook = nbformat.v4.new_notebook(cells=with_questions(chapter, cells))
    notebook.metadata = NotebookNode(
        kernelspec={"display_name": "Python 3", "language": "python", "name": "python3"},
        language_info={"name": "python"},
    )
    return _with_ids(notebook, chapter)


def _caption(cell: NotebookNode) -> list[NotebookNode]:
    """The caption of a figure as a cell of its own, for JupyterLab; the book sets it itself and drops the cell."""
    caption = cell.metadata.get("mystnb", {}).get("figure", {}).get("caption")
    return [nbformat.v4.new_markdown_cell(f"*{caption}*", metadata={"tags": ["remove-cell"]})] if caption else []


def _revisited_cells(chapter: Chapter) -> list[NotebookNode]:
    """The exercises of earlier chapters once more: what they need, then a folded section for each chapter.

    JupyterLab opens a section by a click on its heading. The book shows the headings only.
    """
    setup = nbformat.v4.new_code_cell(revisited_setup(chapter.name), metadata={"tags": ["remove-cell"]})
    cells = [_locked(setup, "setup-revisited")]
    for name in chapters_revisited(chapter.name):
        inside = [exercise for exercise in revisited(chapter.name) if chapter_of(exercise) == name]
        cells.append(_revisited_heading(Chapter(name, chapter.root), inside))
        for exercise in inside:
            cells += _exercise_cells(exercise, f", chapter={int(chapter.name[:2])}", "remove-cell")
    return cells


def _revisited_heading(earlier: Chapter, exercises: list[Exercise]) -> NotebookNode:
    title = earlier.source.read_text("utf8") if earlier.source.exists() else f"# {earlier.name}"
    title = re.search(r"^# (.*)$", title, re.MULTILINE)[1]
    names = " · ".join(f"`{name}`" for exercise in exercises for name in exercise.functions)
    points = sum(exercise.points for exercise in exercises)
    cell = nbformat.v4.new_markdown_cell(f"### From {title}\n\n{names} ({points:g} points)")
    cell.metadata["jp-MarkdownHeadingCollapsed"] = True
    return cell


def _exercise_cells(exercise: Exercise, option: str = "", *tags: str) -> list[NotebookNode]:
    """The cell to be written, its check with an option, and the known mistakes; the first two with tags."""
    answer = nbformat.v4.new_code_cell(answer_cell(exercise))
    answer.metadata.nbgrader = _nbgrader(exercise.id, solution=True)
    check = nbformat.v4.new_code_cell(f"check({', '.join(exercise.functions)}{option})")
    check.metadata.nbgrader = _nbgrader(f"check-{exercise.id}", grade=True, locked=True, points=exercise.points)
    mistakes = nbformat.v4.new_markdown_cell(_known_mistakes(exercise))
    mistakes.metadata.tags = ["instructor"]
    for cell in (answer, check) if tags else ():
        cell.metadata.tags = list(tags)
    return [answer, check, mistakes]


def _known_mistakes(exercise: Exercise) -> str:
    lines = [f"**Known mistakes of exercise {exercise.number}** (instructor edition only)", ""]
    for known in exercise.misconceptions:
        lines.append(f"- `{known.id}`: {known.title} {' '.join(known.hints)}")
        lines += ["", *(f"      {line}" for line in function_source(known.implementation).splitlines()), ""]
    lines += [f"- right, in another convention: {convention.title}" for convention in exercise.conventions]
    return "\n".join(lines).rstrip()


def _answer(chapter: Chapter, cell: NotebookNode, position: int) -> NotebookNode:
    grade_id, points = cell.metadata.get("grade_id"), cell.metadata.get("points")
    if not grade_id or points is None:
        raise CourseError(f"{_at(chapter, position)}: an answer cell needs grade_id and points in its metadata.")
    new = nbformat.v4.new_markdown_cell(cell.source)
    new.metadata.nbgrader = _nbgrader(grade_id, grade=True, solution=True, points=points)
    return new


def _locked(cell: NotebookNode, grade_id: str) -> NotebookNode:
    cell.metadata.nbgrader = _nbgrader(grade_id, locked=True)
    return cell


def _nbgrader(grade_id: str, grade=False, solution=False, locked=False, points=None) -> dict:
    meta = {
        "grade": grade,
        "grade_id": grade_id,
        "locked": locked,
        "schema_version": NBGRADER_SCHEMA,
        "solution": solution,
        "task": False,
    }
    return meta | ({"points": points} if points is not None else {})


def _with_ids(notebook: NotebookNode, chapter: Chapter) -> NotebookNode:
    """Stable cell ids: the grade_id where there is one, otherwise chapter and counter."""
    seen: set[str] = set()
    for count, cell in enumerate(notebook.cells, 1):
        cell.id = cell.metadata.get("nbgrader", {}).get("grade_id") or f"{chapter.name}-{count:03d}"
        if cell.id in seen:
            raise CourseError(f"{chapter.shown(chapter.source)}: the id {cell.id} stands on two cells; rename one.")
        seen.add(cell.id)
    return notebook


# ---------------------------------------------------------------- what a source must hold


def _check_source(chapter: Chapter, source: NotebookNode, exercises: dict[str, Exercise]) -> None:
    code = [(i, cell) for i, cell in enumerate(source.cells, 1) if cell.cell_type == "code"]
    if not code or "setup" not in code[0][1].metadata.get("tags", []) or code[0][1].source != SETUP:
        raise CourseError(f"{_at(chapter, code[0][0] if code else 1)}: the first code cell must be the setup cell.")
    known = _setup_names(chapter, code)
    revisits = [exercise.id for exercise in revisited(chapter.name)]
    text = "\n".join(cell.source for cell in source.cells if cell.cell_type == "markdown")
    placed: list[str] = []
    if any("revisit" in cell.metadata.get("tags", []) for cell in source.cells):
        placed += revisits
        for exercise in revisited(chapter.name):
            _check_names(chapter, exercise, known)
    for position, cell in code:
        if "exercise" in cell.metadata.get("tags", []):
            exercise = _exercise_of(chapter, cell, position, exercises)
            if exercise.id in placed:
                raise CourseError(f"{_at(chapter, position)}: exercise {exercise.id} stands here twice; remove one.")
            placed.append(exercise.id)
            _check_exercise(chapter, exercise, known, text)
    missing = [e.id for e in exercises.values() if e.points > 0 and e.id not in placed]
    if missing:
        raise CourseError(f"{chapter.shown(chapter.source)}: no cell for the exercise {missing[0]}; add one.")
    _check_labels(chapter, text, [exercises[name] for name in placed if name not in revisits])


def _setup_names(chapter: Chapter, code: list[tuple[int, NotebookNode]]) -> set[str]:
    extra: set[str] = set()
    for _, cell in code[1:]:
        if "setup" in cell.metadata.get("tags", []):
            extra |= bound_names(cell.source)
    module = chapter_modules().get(chapter.name)
    declared = set(module.SETUP_NAMES) if module else set()
    if extra != declared:
        both = f"{sorted(extra)} in {chapter.shown(chapter.source)}, {sorted(declared)} in SETUP_NAMES"
        raise CourseError(f"{chapter.name}: the setup cells bind other names than the registry declares: {both}.")
    return setup_names(chapter.name) | bound_names(SETUP)


def _exercise_of(chapter: Chapter, cell: NotebookNode, position: int, exercises: dict[str, Exercise]) -> Exercise:
    tree = ast.parse(cell.source)
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    if len(imports) != 1 or len(tree.body) != 1 or not (imports[0].module or "").startswith("unrolled"):
        raise CourseError(f"{_at(chapter, position)}: an exercise cell is one line, `from unrolled.x import f`.")
    names = [alias.name for alias in imports[0].names]
    exercise = exercises.get(names[0])
    if exercise is None or list(exercise.functions) != names:
        raise CourseError(
            f"{_at(chapter, position)}: {', '.join(names)} is no exercise of this chapter; "
            f"the registry has {', '.join(exercises) or 'none'}."
        )
    if exercise.references[0].__module__ != imports[0].module:
        raise CourseError(
            f"{_at(chapter, position)}: {names[0]} comes from {exercise.references[0].__module__}, "
            f"not from {imports[0].module}."
        )
    return exercise


def _check_names(chapter: Chapter, exercise: Exercise, known: set[str]) -> None:
    where = f"{chapter.shown(chapter.source)}, exercise {exercise.number}"
    for reference in exercise.references:
        unknown = free_names(function_source(reference)) - known - set(exercise.uses) - set(exercise.functions)
        if unknown:
            raise CourseError(
                f"{where}: {reference.__name__} needs {', '.join(sorted(unknown))}, which neither a setup cell "
                "nor an exercise that it uses provides."
            )


def _check_exercise(chapter: Chapter, exercise: Exercise, known: set[str], text: str) -> None:
    _check_names(chapter, exercise, known)
    where = f"{chapter.shown(chapter.source)}, exercise {exercise.number}"
    stars = "●" * exercise.difficulty + "○" * (3 - exercise.difficulty)
    plural = "point" if exercise.points == 1 else "points"
    line = f"*{exercise.points:g} {plural} · {exercise.minutes} minutes · {stars}*"
    heading = re.search(rf"^#+ Exercise {re.escape(exercise.number)} .*\n+(.*)$", text, re.MULTILINE)
    if heading is None or heading.group(1).strip() != line:
        raise CourseError(f"{where}: the heading `Exercise {exercise.number} — …` must be followed by the line {line}")


def _check_labels(chapter: Chapter, text: str, exercises: list[Exercise]) -> None:
    defined = re.findall(r"\$\$\s*\((eq-[a-z0-9-]+)\)", text)
    twice = {label for label in defined if defined.count(label) > 1}
    if twice:
        raise CourseError(f"{chapter.shown(chapter.source)}: the label {min(twice)} stands on two equations.")
    for exercise in exercises:
        for reference in exercise.references:
            for label in LABEL.findall(function_source(reference)):
                if label not in defined:
                    raise CourseError(
                        f"{chapter.shown(chapter.source)}: {reference.__name__} refers to {label}, "
                        "but no equation of the chapter carries that label."
                    )


def _at(chapter: Chapter, position: int) -> str:
    return f"{chapter.shown(chapter.source)}, cell {position}"


# ---------------------------------------------------------------- the student edition


def nbgrader_config(root: Path) -> Config:
    """The part of nbgrader's configuration that makes student editions."""
    config = Config()
    config.CourseDirectory.root = str(root)
    config.ClearSolutions.code_stub = {"python": "# YOUR CODE HERE\nraise NotImplementedError()"}
    config.ClearSolutions.begin_solution_delimeter = "BEGIN SOLUTION"
    config.ClearSolutions.end_solution_delimeter = "END SOLUTION"
    config.GenerateAssignment.preprocessors = [
        "autograder.nbgrader_plugins.DropInstructorCells",
        *(
            f"nbgrader.preprocessors.{name}"
            for name in (
                "LockCells",
                "ClearSolutions",
                "ClearOutput",
                "CheckCellMetadata",
                "ComputeChecksums",
                "SaveCells",
                "ClearHiddenTests",
                "ClearMarkScheme",
                "ComputeChecksums",
                "CheckCellMetadata",
            )
        ),
    ]
    return config


def student_edition(chapter: Chapter, solution: NotebookNode) -> NotebookNode:
    """What nbgrader's generate_assignment makes of the instructor edition, in a course directory of its own."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        write(solution, root / "source" / chapter.name / f"{chapter.slug}.ipynb")
        config = nbgrader_config(root)
        config.CourseDirectory.assignment_id = chapter.name
        config.GenerateAssignment.no_database = True
        config.GenerateAssignment.preprocessors.remove("nbgrader.preprocessors.SaveCells")
        converter = GenerateAssignment(coursedir=CourseDirectory(config=config), config=config)
        converter.log = logging.getLogger("unrolled.build")
        converter.log.setLevel(logging.ERROR)
        converter.start()
        released = root / "release" / chapter.name / f"{chapter.slug}.ipynb"
        return nbformat.read(released, as_version=4)


def run(notebook: NotebookNode, folder: Path, timeout: int = 600) -> None:
    """Execute a notebook in place, in its own folder, with one thread."""
    before = {name: os.environ.get(name) for name in ("OMP_NUM_THREADS", "PYTHONHASHSEED")}
    os.environ.update(OMP_NUM_THREADS="1", PYTHONHASHSEED="0")
    try:
        client = NotebookClient(
            notebook, timeout=timeout, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
        )
        client.execute()
    except CellExecutionError as error:
        failed = next(c for c in notebook.cells if any(o.output_type == "error" for o in c.get("outputs", [])))
        raise CourseError(f"{folder.name}, cell {failed.id} raised {error.ename}: {error.evalue}") from None
    finally:
        for name, value in before.items():
            os.environ.pop(name, None) if value is None else os.environ.update({name: value})
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
    notebook.metadata.language_info = {"name": "python"}


def write(notebook: NotebookNode, path: Path) -> None:
    """Write a notebook next to its final place, then move it there."""
    nbformat.validate(notebook)
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    nbformat.write(notebook, partial)
    shutil.move(partial, path)


# ---------------------------------------------------------------- drift


def _compare(name: str, path: Path, fresh: NotebookNode) -> list[str]:
    if not path.exists():
        return [f"{name}: is missing; run `make chapters`."]
    committed = nbformat.read(path, as_version=4)
    if [c.id for c in committed.cells] != [c.id for c in fresh.cells]:
        old, new = {c.id for c in committed.cells}, {c.id for c in fresh.cells}
        first = min(old ^ new, default="order of cells")
        return [f"{name}, cell {first}: cells were added, removed or moved; run `make chapters`."]
    found = []
    for old, new in zip(committed.cells, fresh.cells, strict=True):
        parts = [part for part in ("cell_type", "source", "metadata") if old[part] != new[part]]
        if parts:
            what = " and ".join(parts)
            found.append(f"{name}, cell {new.id}: other {what} than a rebuild gives; run `make chapters`.")
    return found
