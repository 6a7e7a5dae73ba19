"""The judge as nbgrader configuration: small classes that nbgrader calls at its own places.

Nothing of nbgrader is changed: the exporter takes a submission in, ``Judge`` stands where nbgrader would execute the
notebook, ``SaveHints`` writes the named mistakes where feedback shows comments.
"""

from __future__ import annotations

import os
import sys
import warnings
from dataclasses import replace
from pathlib import Path

import nbformat
from nbconvert.exporters import NotebookExporter
from nbformat import NotebookNode
from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import NbGraderPreprocessor
from sqlalchemy.exc import SAWarning
from traitlets import Bool, Enum, Int
from traitlets.config import Config

from autograder import show
from autograder.build import nbgrader_config
from autograder.exercise import CourseError, Verdict
from autograder.feedback import as_data
from autograder.fingerprint import basis, regrade_key
from autograder.formgrader import FeedbackExporter, ShowRubric
from autograder.grading import questions_for, secret_seeds
from autograder.intake import rebuild_submission
from autograder.late import ApplyExtension, LatePenalty
from autograder.ledger import Ledger
from autograder.machine import judge_one

SECRET = ".judge-secret"


def configure(config: Config, root: str | Path) -> None:
    """Make a course directory's nbgrader grade with the judge."""
    _find_programs()
    warnings.filterwarnings("ignore", category=SAWarning)  # of nbgrader's own session handling, about every submission
    config.merge(nbgrader_config(Path(root)))
    config.CourseDirectory.course_id = "unrolled"
    config.Autograde.exporter_class = SubmissionExporter
    config.Autograde.sanitize_preprocessors = ["nbgrader.preprocessors.OverwriteCells"]
    config.Autograde.autograde_preprocessors = [
        Judge,
        "nbgrader.preprocessors.SaveAutoGrades",
        SaveHints,
        ApplyExtension,
        "nbgrader.preprocessors.AssignLatePenalties",
        "nbgrader.preprocessors.CheckCellMetadata",
        NoteRecorded,
    ]
    config.AssignLatePenalties.plugin_class = LatePenalty
    config.GenerateFeedback.exporter_class = FeedbackExporter
    config.GenerateFeedback.preprocessors = []
    config.HTMLExporter.preprocessors = [ShowRubric]


def _find_programs() -> None:
    """nbgrader starts ``alembic`` by name; find it also where the environment was not activated."""
    here, path = str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)
    if here not in path.split(os.pathsep):
        os.environ["PATH"] = here + os.pathsep + path


class DropInstructorCells(NbGraderPreprocessor):
    """Drop the cells tagged ``instructor``: nbgrader clears regions, it never drops cells."""

    def preprocess(self, nb, resources):
        nb.cells = [cell for cell in nb.cells if "instructor" not in cell.metadata.get("tags", [])]
        return nb, resources


class SubmissionExporter(NotebookExporter):
    """Read a submitted notebook by rebuilding it from the released one."""

    def from_filename(self, filename, resources=None, **options):
        course = CourseDirectory(config=self.config)
        path, submitted = Path(filename), Path(course.format_path(course.submitted_directory, ".", "."))
        if path.is_relative_to(submitted):
            assignment = resources["nbgrader"]["assignment"]
            released = Path(course.format_path(course.release_directory, ".", assignment)) / path.name
            if not released.exists():
                raise CourseError(f"{released} is missing; run `nbgrader generate_assignment {assignment}` first.")
            notebook = rebuild_submission(path.parent, released, assignment)
        else:
            notebook = nbformat.read(path, as_version=4)
        return self.from_notebook_node(notebook, resources=resources, **options)


class Judge(NbGraderPreprocessor):
    """Put the verdict on every exercise into the outputs of its check cell, in the form from which nbgrader scores."""

    sandbox = Bool(True, help="Shut student code in. Without it, any submission can read and write what you can.").tag(
        config=True
    )
    hints = Int(3, min=0, max=3, help="How many of the three hints to a named mistake feedback shows.").tag(config=True)
    attempts = Enum(
        ("last", "best"), "last", help="Which attempt counts when a student hands in again: the last, or the best."
    ).tag(config=True)

    def preprocess(self, nb, resources):
        chapter, student = resources["nbgrader"]["assignment"], resources["nbgrader"]["student"]
        root = Path(CourseDirectory(config=self.config).root)
        key, ledger = regrade_key(nb, chapter), Ledger(root)
        questions = questions_for(nb, chapter, secret_seeds(read_secret(root), student, nb))
        verdicts = {verdict.exercise: verdict for verdict in judge_one(questions, self.sandbox)}
        earlier = ledger.best_points(chapter).get(student, {}) if self.attempts == "best" else {}
        ledger.judged(student, chapter, key, list(verdicts.values()), self.sandbox, basis(nb, chapter))
        verdicts = counted(verdicts, earlier)
        resources["unrolled"], resources["regrade_key"], resources["hints"] = verdicts, key, self.hints
        return put_verdicts(nb, chapter, verdicts, self.sandbox, self.hints), resources


def counted(verdicts: dict[str, Verdict], earlier: dict[str, float]) -> dict[str, Verdict]:
    """The verdicts with the points that count: those of an earlier attempt where it deserved more."""
    return {
        name: replace(verdict, points=earlier[name], message=f"{verdict.message} (An earlier attempt counts.)".strip())
        if earlier.get(name, 0) > verdict.points
        else verdict
        for name, verdict in verdicts.items()
    }


def put_verdicts(nb: NotebookNode, chapter: str, verdicts: dict[str, Verdict], sandbox: bool, hints: int):
    """The notebook with the verdicts in its metadata and in the outputs of its check cells."""
    kept = {"chapter": chapter, "sandbox": sandbox, "verdicts": {v.exercise: as_data(v) for v in verdicts.values()}}
    nb.metadata["unrolled"] = nb.metadata.get("unrolled", {}) | kept
    for cell in nb.cells:
        grade_id = cell.metadata.get("nbgrader", {}).get("grade_id", "")
        if grade_id.startswith("check-"):
            cell.outputs = score_outputs(verdicts[grade_id.removeprefix("check-")], hints)
    return nb


def score_outputs(verdict: Verdict, hints: int) -> list[NotebookNode]:
    """The reasons on stdout and exactly one result: a plain decimal."""
    said = NotebookNode(output_type="stream", name="stdout", text=show.text(verdict, hints) + "\n")
    data = NotebookNode({"text/plain": show.number(verdict.points)})
    return [said, NotebookNode(output_type="execute_result", data=data, metadata=NotebookNode(), execution_count=None)]


class SaveHints(NbGraderPreprocessor):
    """Write each verdict as the automatic comment of its solution cell; must stand after SaveAutoGrades."""

    def preprocess(self, nb, resources):
        where = resources["nbgrader"]
        with Gradebook(where["db_url"]) as gradebook:
            for verdict in resources["unrolled"].values():
                comment = gradebook.find_comment(
                    verdict.exercise, where["notebook"], where["assignment"], where["student"]
                )
                comment.auto_comment = comment_text(verdict, resources["hints"])
            gradebook.db.commit()
        return nb, resources


class NoteRecorded(NbGraderPreprocessor):
    """Note in the verdict log that the gradebook has this submission; must stand last."""

    def preprocess(self, nb, resources):
        where, root = resources["nbgrader"], Path(CourseDirectory(config=self.config).root)
        Ledger(root).recorded(where["student"], where["assignment"], resources["regrade_key"])
        return nb, resources


def comment_text(verdict: Verdict, hints: int) -> str:
    """The comment that a student reads beside the cell."""
    said = [show.headline(verdict), *([verdict.message] if verdict.message else []), *verdict.hints[:hints]]
    return "\n\n".join(said)


def read_secret(root: Path) -> bytes:
    """The course's secret; CourseError where there is none."""
    path = root / SECRET
    if not path.exists():
        raise CourseError(f"{path} is missing; make the course directory with `autograder init`.")
    return path.read_bytes()
