"""The judge as nbgrader configuration: small classes that nbgrader calls at its own places.

Nothing of nbgrader is changed: the exporter takes a submission in, ``Judge`` stands where nbgrader would execute the
notebook, ``SaveHints`` writes the named mistakes where feedback shows comments.
"""

from __future__ import annotations

import atexit
import os
import sys
import warnings
from functools import cache
from pathlib import Path

import nbformat
from nbconvert.exporters import NotebookExporter
from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import NbGraderPreprocessor
from sqlalchemy.exc import SAWarning
from traitlets import Bool
from traitlets.config import Config

from autograder import show
from autograder.build import nbgrader_config
from autograder.exercise import CourseError, Verdict
from autograder.grading import grade_notebook, secret_seeds
from autograder.intake import rebuild_file
from autograder.ledger import Ledger, regrade_key
from autograder.respond import ForkServer

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
        "nbgrader.preprocessors.AssignLatePenalties",
        "nbgrader.preprocessors.CheckCellMetadata",
        NoteRecorded,
    ]


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
            notebook = rebuild_file(path, released, assignment)
        else:
            notebook = nbformat.read(path, as_version=4)
        return self.from_notebook_node(notebook, resources=resources, **options)


class Judge(NbGraderPreprocessor):
    """Put the verdict on every exercise into the outputs of its check cell, in the form from which nbgrader scores."""

    sandbox = Bool(True, help="Shut student code in. Without it, any submission can read and write what you can.").tag(
        config=True
    )

    def preprocess(self, nb, resources):
        chapter, student = resources["nbgrader"]["assignment"], resources["nbgrader"]["student"]
        root = Path(CourseDirectory(config=self.config).root)
        secret, key = read_secret(root), regrade_key(nb, chapter)
        seeds = secret_seeds(secret, student, nb)
        server = server_for(chapter, self.sandbox)
        verdicts = {verdict.exercise: verdict for verdict in grade_notebook(nb, chapter, seeds, server)}
        Ledger(root).judged(student, chapter, key, list(verdicts.values()), self.sandbox)
        resources["unrolled"], resources["regrade_key"] = verdicts, key
        nb.metadata["unrolled"] = {
            "sandbox": self.sandbox,
            "verdicts": {v.exercise: v.label for v in verdicts.values()},
        }
        for cell in nb.cells:
            grade_id = cell.metadata.get("nbgrader", {}).get("grade_id", "")
            if grade_id.startswith("check-"):
                cell.outputs = score_outputs(verdicts[grade_id.removeprefix("check-")])
        return nb, resources


def score_outputs(verdict: Verdict) -> list:
    """The reasons on stdout and exactly one result: a plain decimal."""
    return [
        nbformat.v4.new_output("stream", name="stdout", text=show.text(verdict, hints=3) + "\n"),
        nbformat.v4.new_output(
            "execute_result", data={"text/plain": show.number(verdict.points)}, execution_count=None
        ),
    ]


class SaveHints(NbGraderPreprocessor):
    """Write each verdict as the automatic comment of its solution cell; must stand after SaveAutoGrades."""

    def preprocess(self, nb, resources):
        where = resources["nbgrader"]
        with Gradebook(where["db_url"]) as gradebook:
            for verdict in resources["unrolled"].values():
                comment = gradebook.find_comment(
                    verdict.exercise, where["notebook"], where["assignment"], where["student"]
                )
                comment.auto_comment = comment_text(verdict)
            gradebook.db.commit()
        return nb, resources


class NoteRecorded(NbGraderPreprocessor):
    """Note in the verdict log that the gradebook has this submission; must stand last."""

    def preprocess(self, nb, resources):
        where, root = resources["nbgrader"], Path(CourseDirectory(config=self.config).root)
        Ledger(root).recorded(where["student"], where["assignment"], resources["regrade_key"])
        return nb, resources


def comment_text(verdict: Verdict) -> str:
    """The comment that a student reads beside the cell."""
    return "\n\n".join([show.headline(verdict), *([verdict.message] if verdict.message else []), *verdict.hints])


def read_secret(root: Path) -> bytes:
    """The course's secret; CourseError where there is none."""
    path = root / SECRET
    if not path.exists():
        raise CourseError(f"{path} is missing; make the course directory with `autograder init`.")
    return path.read_bytes()


@cache
def server_for(chapter: str, sandbox: bool) -> ForkServer:
    """One fork server per chapter and process, ended when the process ends."""
    server = ForkServer(chapter, sandbox)
    atexit.register(server.close)
    return server
