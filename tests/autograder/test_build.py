"""The build: byte-identical, honest about drift, and one clear sentence for every bad source."""

import types

import nbformat
import pytest

from autograder.build import drift, instructor_edition, student_edition, write
from autograder.course import Chapter, chapter, chapters
from autograder.exercise import CourseError, Exercise
from autograder.probe import probe
from unrolled import recurrent

MINI = """\
---
jupytext: {text_representation: {extension: .md, format_name: myst, format_version: 0.13}}
kernelspec: {display_name: Python 3, language: python, name: python3}
---

# A chapter

```{code-cell} ipython3
:tags: [setup]

SETUP
```

$$ m_t = k m_{t-1} + (1 - k) x_t $$ (eq-leaky-average)

### Exercise 0.1 — A leaky average

*0 points · 5 minutes · ●○○*

```{code-cell} ipython3
:tags: [exercise]

from unrolled.recurrent import leaky_average
```

+++ {"tags": ["question"]}

Why?

+++ {"tags": ["answer"], "grade_id": "explain-why", "points": 3}

Because.

+++ {"tags": ["instructor"]}

One point for each reason.
"""


@pytest.fixture
def mini(tmp_path):
    """A one-exercise chapter in a root of its own; call it with replacements to spoil the source."""
    from autograder.setup_cell import SETUP

    def make(*changes: tuple[str, str]) -> Chapter:
        text = MINI.replace("SETUP", SETUP)
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        made = Chapter("00_start", tmp_path)
        made.source.parent.mkdir(parents=True, exist_ok=True)
        made.source.write_text(text, "utf8")
        return made

    return make


def test_both_editions_hold_what_they_should(mini):
    solution = instructor_edition(mini())
    student = student_edition(mini(), solution)
    by_id = {cell.id: cell for cell in student.cells}
    assert "### BEGIN SOLUTION" in next(cell for cell in solution.cells if cell.id == "leaky_average").source
    assert "raise NotImplementedError()" in by_id["leaky_average"].source
    assert "BEGIN SOLUTION" not in nbformat.writes(student)
    assert by_id["check-leaky_average"].source == "check(leaky_average)"
    assert by_id["explain-why"].metadata.nbgrader.points == 3
    assert "Because" not in by_id["explain-why"].source
    assert not any("instructor" in cell.metadata.get("tags", []) for cell in student.cells)
    assert "One point for each reason" in nbformat.writes(solution)


def test_two_builds_are_byte_identical(mini, tmp_path):
    one = mini()
    for name in ("first.ipynb", "second.ipynb"):
        write(student_edition(one, instructor_edition(one)), tmp_path / name)
    assert (tmp_path / "first.ipynb").read_bytes() == (tmp_path / "second.ipynb").read_bytes()


def test_drift_names_file_and_cell(mini, tmp_path):
    one = mini()
    (tmp_path / "docs").mkdir()
    solution = instructor_edition(one)
    write(solution, one.solution)
    student = student_edition(one, solution)
    student.cells[3].source += "\n# by hand"
    write(student, one.student)
    found = [line for line in drift([one]) if not line.startswith("docs/")]
    where = f"chapters/00_start/start.ipynb, cell {student.cells[3].id}"
    assert found == [f"{where}: other source than a rebuild gives; run `make chapters`."]
    one.solution.unlink()
    assert any(line.startswith("solutions/00_start/start.ipynb: is missing") for line in drift([one]))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (("import leaky_average", "import leaky_mean"), "leaky_mean is no exercise of this chapter"),
        (("unrolled.recurrent import leaky", "unrolled.text import leaky"), "comes from unrolled.recurrent"),
        (("from unrolled.recurrent import", "import"), "an exercise cell is one line"),
        (("(eq-leaky-average)", ""), "no equation of the chapter carries that label"),
        (("$$ (eq-leaky-average)", "$$ (eq-leaky-average)\n\n$$ 1 $$ (eq-leaky-average)"), "stands on two equations"),
        (("5 minutes", "50 minutes"), "must be followed by the line *0 points · 5 minutes · ●○○*"),
        (('"points": 3', '"size": 3'), "needs grade_id and points"),
        (("import math\n", "import maths\n"), "the first code cell must be the setup cell"),
        (('"grade_id": "explain-why"', '"grade_id": "leaky_average"'), "stands on two cells"),
        (("+++ {\"tags\": [\"question\"]}", "```{code-cell} ipython3\n:tags: [exercise]\n\n"
          "from unrolled.recurrent import leaky_average\n```\n"), "stands here twice"),
        (("# A chapter\n", "```{code-cell} ipython3\n:tags: [setup]\n\nx = 1\n```\n"), "setup cell"),
    ],
)  # fmt: skip
def test_a_bad_source_gets_one_clear_sentence(mini, change, sentence):
    with pytest.raises(CourseError) as raised:
        instructor_edition(mini(change))
    assert sentence in str(raised.value)
    assert "start.md" in str(raised.value) or "00_start" in str(raised.value)


def test_an_exercise_needs_probes_and_points():
    with pytest.raises(CourseError, match="no probe with a weight"):
        Exercise("9.9", (recurrent.rnn_step,), types.ModuleType("empty"), points=1, minutes=1, difficulty=1)
    asked = types.ModuleType("asked")
    asked.values = probe("rnn_step", "values")(lambda rnn_step, rng: {})
    with pytest.raises(CourseError, match="points are missing"):
        Exercise("9.9", (recurrent.rnn_step,), asked, points=None, minutes=1, difficulty=1)


def test_the_committed_chapters_agree_with_their_sources():
    assert drift(chapters()) == []


def test_an_unknown_chapter_is_named_with_the_known_ones():
    with pytest.raises(CourseError, match="There is no chapter 99_x; there are 00_start"):
        chapter("99_x")


def test_building_leaves_the_source_alone(mini):
    one = mini()
    before = one.source.read_bytes()
    write(student_edition(one, instructor_edition(one)), one.student)
    assert one.source.read_bytes() == before
