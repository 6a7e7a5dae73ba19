"""What a student sees: the stand-in, the table, hints, notes; in a notebook, in a terminal, under Validate."""

import os
import re
import time
from dataclasses import replace

import jupytext
import pytest
from IPython.testing.globalipapp import start_ipython

from autograder.course import chapter, chapters
from autograder.exercises import all_exercises, chapter_of, find
from autograder.setup_cell import SETUP
from autograder.source import stub_cell, written_cell
from autograder.student import CheckFailed

WRITTEN = {one.name for one in chapters()}
EXERCISES = [e for e in all_exercises().values() if chapter_of(e) in WRITTEN]  # some land before their chapter


@pytest.fixture(scope="module")
def shell():
    found = start_ipython()
    for cell in ("%matplotlib agg", SETUP, "from unrolled.recurrent import RNNParams"):
        assert found.run_cell(cell).success
    return found


def said(report) -> str:
    """The text of a report on one line."""
    return " ".join(repr(report).split())


def with_setup_of(shell, exercise):
    """Run the extra setup cells of the exercise's chapter."""
    source = jupytext.read(chapter(chapter_of(exercise)).source, fmt="md:myst")
    for cell in source.cells:
        if "setup" in cell.metadata.get("tags", []) and cell.source != SETUP:
            shell.run_cell(cell.source).raise_error()


def run(shell, *cells):
    """Run cells as a notebook would; the value of the last one."""
    for cell in cells:
        result = shell.run_cell(cell)
        result.raise_error()
    return result.result


def test_a_stub_falls_back_to_the_reference_and_says_so_once(shell, capsys):
    run(shell, stub_cell(find("softmax")))
    said = capsys.readouterr().out
    assert said.count("softmax is not written yet") == 1
    assert run(shell, "softmax(torch.zeros(1, 2)).tolist()") == [[0.5, 0.5]]
    report = run(shell, "check(softmax)")
    assert report.verdict.kind == "not-attempted"
    assert "○" in repr(report) and "✗" not in repr(report)


def test_a_right_answer_is_told_so(shell):
    answer = (
        "@exercise\ndef softmax(o):\n    e = (o - o.amax(-1)[..., None]).exp()\n    return e / e.sum(-1)[..., None]"
    )
    report = run(shell, answer, "check(softmax)")
    assert report.verdict.kind == "correct"
    assert repr(report).startswith("✓ softmax: right — 2 of 2 points")


def test_a_known_mistake_is_named_and_hints_come_on_demand(shell):
    known = find("rnn_step").misconceptions[0]
    cell = written_cell(find("rnn_step"), known.implementation)
    first = run(shell, cell, "check(rnn_step)")
    assert known.title.rstrip(".") in repr(first)
    assert "Hint 1" in repr(first) and "Hint 2" not in repr(first)
    assert "check(rnn_step, hints=2)" in repr(first)
    assert known.hints[2] in repr(run(shell, "check(rnn_step, hints=3)"))
    page = first._repr_html_()
    assert page.count("<details") == 3 and page.count("<details open") == 1
    assert "<script" not in page


def test_given_functions_are_taken_into_account(shell):
    spoiled = "@exercise\ndef rnn_step(x, h, params):\n    return x @ params.W_xh.T"
    forward = (
        "@exercise\ndef rnn_forward(x, h0, params):\n    h, out = h0, []\n    for t in range(x.shape[1]):\n"
        "        h = rnn_step(x[:, t], h, params)\n        out.append(h)\n    return torch.stack(out, 1)"
    )
    report = run(shell, spoiled, forward, "check(rnn_forward)")
    assert report.verdict.kind == "correct-given"
    assert run(shell, "rnn_step.__code__.co_firstlineno") > 0, "the student's own function is back in its place"
    assert run(shell, "rnn_step(torch.ones(1, 1), None, RNNParams(*[torch.ones(1, 1)] * 3)).item()") == 1


def test_a_name_from_another_cell_is_noticed(shell):
    answer = "@exercise\ndef softmax(o):\n    return my_helper(o)"
    helper = "def my_helper(o):\n    e = (o - o.amax(-1, True)).exp()\n    return e / e.sum(-1, True)"
    report = run(shell, helper, answer, "check(softmax)")
    assert report.verdict.kind == "correct"
    assert "my_helper" in said(report) and "move the definition into the graded cell" in said(report)
    together = run(shell, helper + "\n\n\n" + answer, "check(softmax)")
    assert "my_helper" not in repr(together)


def test_shortcuts_and_strange_arguments_get_a_sentence(shell):
    report = run(shell, "@exercise\ndef softmax(o):\n    return torch.softmax(o, -1)", "check(softmax)")
    assert report.verdict.kind == "shortcut" and report.verdict.points == 0
    assert "check(rnn_step)" in repr(run(shell, "check(3)"))
    assert "check(rnn_step)" in repr(run(shell, "check()"))
    assert "did you mean rnn_step" in said(run(shell, "def rnn_stepp(): pass", "check(rnn_stepp)"))


def test_an_error_shows_the_students_message_and_no_traceback(shell):
    report = run(shell, "@exercise\ndef rnn_step(x, h, params):\n    return x @ h", "check(rnn_step)")
    assert report.verdict.kind == "error"
    assert "RuntimeError" in repr(report)
    assert "Traceback" not in repr(report) and "autograder/" not in repr(report)


def test_validate_raises_with_the_same_table(shell, monkeypatch):
    run(shell, "@exercise\ndef rnn_step(x, h, params):\n    return x @ params.W_xh.T")
    seen = repr(run(shell, "check(rnn_step)"))
    monkeypatch.setitem(os.environ, "NBGRADER_VALIDATING", "1")
    result = shell.run_cell("check(rnn_step)")
    assert isinstance(result.error_in_exec, CheckFailed)
    assert str(result.error_in_exec) == seen


def test_no_report_shows_the_source_of_an_answer(shell):
    from autograder.leaks import leaks_in

    for exercise in EXERCISES:
        with_setup_of(shell, exercise)
        for known in exercise.misconceptions[:1]:
            cell = written_cell(exercise, known.implementation)
            report = run(shell, cell, f"check({', '.join(exercise.functions)}, hints=3)")
            text = re.sub(r"<[^>]+>", "", report._repr_html_())
            assert leaks_in([("report", text), ("report", repr(report))]) == []


def test_a_check_takes_less_than_a_second(shell):
    for exercise in EXERCISES:
        known = exercise.misconceptions[-1]
        with_setup_of(shell, exercise)
        run(shell, written_cell(exercise, known.implementation))
        start = time.process_time()
        report = run(shell, f"check({', '.join(exercise.functions)})")
        assert time.process_time() - start < 1, exercise.id
        assert report.verdict.detail == known.id


def test_an_endless_loop_ends_with_a_sentence(shell, monkeypatch):
    from autograder.probes import ch01_recurrence as probes

    quick = replace(probes.softmax_values, seconds=0.3)
    monkeypatch.setattr(probes, "softmax_values", quick)
    report = run(shell, "@exercise\ndef softmax(o):\n    while True: pass", "check(softmax)")
    assert report.verdict.kind == "timeout"
    assert "does a loop never end?" in said(report)


def test_a_missing_return_and_a_failing_line_are_pointed_out(shell):
    nothing = run(shell, "@exercise\ndef softmax(o):\n    e = o.exp()\n    e / e.sum()", "check(softmax)")
    assert "returns nothing: is a `return` missing" in said(nothing)
    failing = run(shell, "@exercise\ndef softmax(o):\n    e = o.exp()\n    return e @ o.foo", "check(softmax)")
    assert "(line 4 of the cell)" in said(failing)
    assert said(failing).count("foo") == 1


def test_validate_takes_a_right_answer_without_output(shell, monkeypatch):
    monkeypatch.setitem(os.environ, "NBGRADER_VALIDATING", "1")
    right = "@exercise\ndef softmax(o):\n    e = (o - o.amax(-1)[..., None]).exp()\n    return e / e.sum(-1)[..., None]"
    assert run(shell, right, "check(softmax)") is None
