"""From an empty answer to a right recurrence in JupyterLab, tried as a new user would, with three mistakes."""

import shutil
import textwrap

import pytest
from playwright.sync_api import expect, sync_playwright

from lab import CHAPTERS, Notebook, new_page, serving

CHAPTER = CHAPTERS / "01_recurrence" / "recurrence.ipynb"
STUB = "    # YOUR CODE HERE\n    raise NotImplementedError()"
RIGHT = {
    "rnn_step": "return params.phi(x @ params.W_xh.T + h @ params.W_hh.T + params.b)",
    "rnn_forward": """
        h, states = h0, []
        for t in range(x.shape[1]):
            h = rnn_step(x[:, t], h, params)
            states.append(h)
        return torch.stack(states, dim=1)
        """,
}
MISTAKES = [
    (
        "rnn_step",
        "return params.phi(x @ params.W_hh.T + h @ params.W_xh.T + params.b)",
        "W_xh and W_hh are swapped.",
    ),
    (
        "rnn_step",
        "return params.phi(x @ params.W_xh.T + h @ params.W_hh.T)",
        "The bias is left out.",
    ),
    (
        "rnn_forward",
        "return torch.stack([rnn_step(x[:, t], h0, params) for t in range(x.shape[1])], dim=1)",
        "The state is not carried: every step starts from h0.",
    ),
]


class Student:
    """Writes answers into the notebook and runs the checks below them."""

    def __init__(self, notebook: Notebook):
        self.notebook = notebook
        self.given = {name: notebook.source(notebook.find(f"def {name}(")) for name in RIGHT}
        for text in ("from autograder import check, exercise", "from unrolled.recurrent import RNNParams"):
            expect(notebook.run(notebook.find(text))).to_have_text("")

    def answers(self, name: str, body: str | None):
        """Write a function, or leave it as it is given out, and run it."""
        source = self.given[name]
        assert STUB in source
        if body is not None:
            source = source.replace(STUB, textwrap.indent(textwrap.dedent(body).strip(), "    "))
        index = self.notebook.find(f"def {name}(")
        self.notebook.write(index, source)
        return self.notebook.run(index)

    def checks(self, name: str):
        return self.notebook.run(self.notebook.find(f"check({name})"))


@pytest.fixture(scope="module")
def student(browser_path, tmp_path_factory):
    folder, home = tmp_path_factory.mktemp("chapter"), tmp_path_factory.mktemp("home")
    shutil.copy(CHAPTER, folder)
    with serving(folder, home) as (address, token), sync_playwright() as playwright:
        page, wrong = new_page(playwright, browser_path, address)
        yield Student(Notebook(page, address, token, CHAPTER.name))
        page.context.browser.close()
    assert wrong == []


@pytest.mark.parametrize("name", RIGHT)
def test_a_function_that_is_not_written_yet(student, name):
    expect(student.answers(name, None)).to_contain_text(f"{name} is not written yet: the book's own version stands in")
    expect(student.checks(name)).to_contain_text(f"○ {name}: not written yet — 0 of 2 points")


@pytest.mark.parametrize(("name", "body", "title"), MISTAKES, ids=[title for _, _, title in MISTAKES])
def test_a_mistake_is_named(student, name, body, title):
    student.answers("rnn_step", RIGHT["rnn_step"])
    student.answers(name, body)
    shown = student.checks(name)
    expect(shown).to_contain_text(f"✗ {name}: a mistake I know")
    expect(shown.locator("p", has_text=title)).to_be_visible()
    expect(shown.locator("details[open]")).to_contain_text("Hint 1")  # the other hints are folded
    expect(shown).to_contain_text("Hint 2")


def test_right_answers(student):
    for name, body in RIGHT.items():
        expect(student.answers(name, body)).to_have_text("")
        expect(student.checks(name)).to_contain_text(f"✓ {name}: right — 2 of 2 points")
