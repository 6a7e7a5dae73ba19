"""What formgrader shows and makes: the rubric beside an explanation, formulas without the internet, our feedback pages.

All of it is configuration of nbgrader's own exporters. The rubric is added to the page that a person grades on; it is
neither in the released notebook nor in the graded one, so no student gets it.
"""

from __future__ import annotations

import os
import sysconfig
from functools import cache
from pathlib import Path

import nbformat
from jinja2 import DictLoader
from nbconvert.exporters import Exporter, TemplateExporter
from nbformat import NotebookNode
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import default

from autograder.feedback import page
from autograder.intake import grade_id, is_answer
from autograder.record import Recorder

MATHJAX = Path(sysconfig.get_path("purelib"), "sphinx-mathjax-offline", "static", "mathjax", "tex-svg.js")
FORMULAS = """\
{%- macro mathjax(url="") -%}{% raw %}
<script>
window.MathJax = {tex: {inlineMath: [['$', '$'], ['\\\\(', '\\\\)']], processEscapes: true, tags: 'ams'}};
</script>
<script>SOURCE</script>
<script>
// formgrader waits for the older MathJax before it moves to the first answer
if (window.MathJax?.startup)
  MathJax.Hub = {Startup: {signal: {Interest: heard => MathJax.startup.promise.then(() => heard('End'))}}};
</script>
{% endraw %}{%- endmacro -%}
"""


@cache
def formulas() -> DictLoader:
    """In place of nbconvert's template, which asks a server of strangers: MathJax from the packages of the course."""
    source = MATHJAX.read_text("utf8") if MATHJAX.exists() else ""
    return DictLoader({"mathjax.html.j2": FORMULAS.replace("SOURCE", source)})


class ShowRubric(NbGraderPreprocessor):
    """Put the rubric and the book's own answer below each explanation, on the page of formgrader and nowhere else.

    The exporter, its parent, gets the template for formulas here: no configuration can give it one.
    """

    def __init__(self, **options):
        super().__init__(**options)
        if isinstance(self.parent, TemplateExporter):
            self.parent.extra_loaders = [formulas()]

    def preprocess(self, nb, resources):
        if "submission_id" not in resources:  # nbconvert and nbgrader use the same exporter for other pages
            return nb, resources
        course = CourseDirectory(config=self.config)
        chapter, notebook = resources["assignment_id"], resources["notebook_id"]
        source = Path(course.format_path(course.source_directory, ".", chapter), f"{notebook}.ipynb")
        notes = rubrics(source, source.stat().st_mtime_ns) if source.exists() else {}
        cells = []
        for cell in nb.cells:
            cells.append(cell)
            if grade_id(cell) in notes:
                cells.append(nbformat.v4.new_markdown_cell(notes[grade_id(cell)]))
        nb.cells = cells
        return nb, resources


@cache
def rubrics(source: Path, changed: int) -> dict[str, str]:
    """What a grader should see below each answer that a person grades, by its id, from the instructor edition."""
    found, answer = {}, None
    for cell in nbformat.read(source, as_version=4).cells:
        if cell.cell_type == "markdown" and is_answer(cell):
            answer = cell
        elif answer is not None and _is_rubric(cell):
            found[grade_id(answer)] = f"{cell.source}\n\n**The book's own answer.** {answer.source}"
    return found


def _is_rubric(cell: NotebookNode) -> bool:
    return "instructor" in cell.metadata.get("tags", []) and cell.source.startswith("**Rubric")


class FeedbackExporter(Exporter):
    """nbgrader's generate_feedback, and so formgrader's button, write the same page as ``autograder feedback``."""

    @default("file_extension")
    def _file_extension_default(self):
        return ".html"

    def from_filename(self, filename, resources=None, **options):
        from autograder.nbgrader_plugins import Judge

        where, root = resources["nbgrader"], Path(CourseDirectory(config=self.config).root)
        with Recorder(self.config, root, where["assignment"]) as recorder:
            rows = recorder.rows(where["student"])
        graded = nbformat.read(os.fspath(filename), as_version=4)
        resources["output_extension"] = self.file_extension
        return page(where["student"], graded, rows, Judge(config=self.config).hints), resources
