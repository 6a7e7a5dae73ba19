"""Outputs are kept only while nothing has changed that a run depends on."""

import nbformat
import pytest

from autograder.course import ROOT, Chapter, chapter
from autograder.kept_outputs import _imported, _modules, remember, reuse

MODULES = {
    "lib/unrolled/__init__.py": "",
    "lib/unrolled/one.py": "def f():\n    from unrolled.two import g\n    return g()\n",
    "lib/unrolled/two.py": "g = int\n",
    "lib/unrolled/other.py": "h = int\n",
    "autograder/__init__.py": "",
    "autograder/exercises/ch00_start.py": "",
    "autograder/probes/ch00_start.py": "",
    "experiments/stored.json": "{}",
    "constraints.txt": "torch==2.13.0\n",
}


@pytest.fixture
def ran(tmp_path):
    """A chapter that was run once, and a notebook of the same code without outputs."""
    for name, text in MODULES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf8")
    made = Chapter("00_start", tmp_path)
    made.student.parent.mkdir(parents=True)
    notebook = _notebook("some text")
    notebook.cells[1].outputs = [nbformat.v4.new_output("stream", text="3\n")]
    notebook.cells[1].execution_count = 1
    nbformat.write(notebook, made.student)
    remember(notebook, made)
    return made


def _notebook(text: str, code: str = "from unrolled.one import f\nprint(f())"):
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(text), nbformat.v4.new_code_cell(code)])


def test_other_text_keeps_the_outputs(ran):
    fresh = _notebook("quite another text")
    assert reuse(fresh, ran)
    assert fresh.cells[1].outputs[0].text == "3\n" and fresh.cells[1].execution_count == 1


def test_other_code_is_run(ran):
    assert not reuse(_notebook("some text", "from unrolled.one import f\nprint(f() + 1)"), ran)


@pytest.mark.parametrize("name", sorted(MODULES.keys() - {"lib/unrolled/other.py"}))
def test_what_the_code_reads_directly_or_through_others_counts(ran, name):
    (ran.root / name).write_text(MODULES[name] + "\n", "utf8")
    assert not reuse(_notebook("some text"), ran)


def test_a_module_that_is_not_imported_does_not_count(ran):
    (ran.root / "lib/unrolled/other.py").write_text("h = float\n", "utf8")
    assert reuse(_notebook("some text"), ran)


def test_outputs_from_elsewhere_are_not_taken(ran):
    other = nbformat.read(ran.student, as_version=4)
    other.cells[1].outputs[0].text = "4\n"
    nbformat.write(other, ran.student)
    assert not reuse(_notebook("some text"), ran)


def test_fresh_runs_it_all_the_same(ran, monkeypatch):
    monkeypatch.setenv("FRESH", "1")
    assert not reuse(_notebook("some text"), ran)


def test_a_real_chapter_depends_on_the_judge_and_on_its_library():
    notebook = nbformat.read(chapter("04_lstm_gru").student, as_version=4)
    names = set().union(*(_imported(cell.source) for cell in notebook.cells if cell.cell_type == "code"))
    found = {path.relative_to(ROOT).as_posix() for path in _modules(ROOT, names)}
    assert {"autograder/student.py", "autograder/judge.py", "lib/unrolled/gated.py"} <= found
    assert "lib/unrolled/bert.py" not in found and "autograder/report.py" not in found
