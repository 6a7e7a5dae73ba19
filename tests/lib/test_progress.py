"""Progress says nothing about short work, and how long it will take about long work."""

import sys
import types

import pytest

from unrolled import progress as module
from unrolled.progress import Progress, with_progress


@pytest.fixture
def notebook(monkeypatch):
    """What a notebook would show: the texts of one line, in the order in which they replaced each other."""
    shown = []

    class Line:
        def update(self, message, raw):
            shown.append(message["text/plain"])

    def display(message, raw, display_id):
        shown.append(message["text/plain"])
        return Line()

    monkeypatch.setattr(module, "_in_notebook", lambda: True)
    monkeypatch.setitem(sys.modules, "IPython.display", types.SimpleNamespace(display=display))
    clock = iter(range(1000))
    monkeypatch.setattr(module.time, "monotonic", lambda: next(clock))
    return shown


def test_long_work_in_a_notebook_tells_how_much_is_left(notebook):
    with Progress(10) as progress:
        for _ in range(10):
            progress.step()
    assert notebook[0] == "4 of 10 steps, 6 s left"
    assert notebook[-1] == "10 steps in 11 s" and len(notebook) == 8


def test_short_work_is_silent(notebook):
    assert list(with_progress("ab", unit="letter")) == ["a", "b"]
    assert notebook == []


def test_an_error_ends_the_line(notebook):
    with pytest.raises(KeyboardInterrupt), Progress(10) as progress:
        for _ in range(6):
            progress.step()
        raise KeyboardInterrupt
    assert notebook[-1].startswith("6 steps in")


def test_without_a_terminal_nothing_is_printed(capsys):
    assert list(with_progress(range(5))) == list(range(5))
    assert capsys.readouterr() == ("", "")
