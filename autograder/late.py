"""What a late submission costs, and who may be late: the policy of a course, as plugins of nbgrader.

An extension is an entry of the verdict log, so that it can be granted before anything is handed in and the audit shows
it; grading writes it to nbgrader's gradebook.
"""

from __future__ import annotations

import math
from datetime import timedelta
from pathlib import Path

from nbgrader.api import Gradebook, SubmittedAssignment
from nbgrader.coursedir import CourseDirectory
from nbgrader.plugins import LateSubmissionPlugin
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Float

from autograder.ledger import Ledger

DAY = 24 * 60 * 60


class LatePenalty(LateSubmissionPlugin):
    """So many percent of the points reached for each day begun. With 0, nbgrader's own ``penalty_method`` counts."""

    percent_per_day = Float(0, min=0, max=100, help="Percent of the points reached that each day begun costs.").tag(
        config=True
    )
    most_percent = Float(100, min=0, max=100, help="The most that lateness costs, in percent of the points.").tag(
        config=True
    )
    grace_minutes = Float(0, min=0, help="So many minutes after the due date cost nothing.").tag(config=True)

    def late_submission_penalty(self, student_id, score, total_seconds_late):
        if not self.percent_per_day:
            return super().late_submission_penalty(student_id, score, total_seconds_late)
        days = math.ceil(max(0.0, total_seconds_late - 60 * self.grace_minutes) / DAY)
        return round(score * min(days * self.percent_per_day, self.most_percent) / 100, 2)


class ApplyExtension(NbGraderPreprocessor):
    """Write a student's extension into the gradebook; must stand before AssignLatePenalties."""

    def preprocess(self, nb, resources):
        where, root = resources["nbgrader"], Path(CourseDirectory(config=self.config).root)
        with Gradebook(where["db_url"]) as gradebook:
            submission = gradebook.find_submission(where["assignment"], where["student"])
            extend(submission, Ledger(root).extensions(where["assignment"]).get(where["student"]))
            gradebook.db.commit()
        return nb, resources


def extend(submission: SubmittedAssignment, days: float | None) -> None:
    """Give a submission the extension that the log holds; one that was given by nbgrader's own means stays."""
    if days is not None:
        submission.extension = timedelta(days=days) if days else None
