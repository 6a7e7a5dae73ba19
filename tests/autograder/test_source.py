"""Stubs, answers, names and shortcuts, read from the text alone."""

import ast
import gc
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from autograder.exercises import find
from autograder.source import (
    answer_cell,
    bound_names,
    free_names,
    is_unwritten,
    normal_body,
    renamed_source,
    shortcut,
    stub_cell,
    tree_of,
    without_magics,
)
from autograder.view import make_view, redact

STEP = find("rnn_step")


@pytest.fixture
def other_threads_come_in():
    """Something runs at every collection of garbage, as with dask, so a thread can be interrupted while it parses."""
    interval = sys.getswitchinterval()

    def busy(*_):
        sum(range(200))

    gc.callbacks.append(busy)
    sys.setswitchinterval(1e-5)
    yield
    gc.callbacks.remove(busy)
    sys.setswitchinterval(interval)


def test_threads_may_parse_at_the_same_time(other_threads_come_in):
    """Plain ast.parse of Python 3.11 raises SystemError here within a second."""
    source = "\n".join(f"x{i} = [a + {i} for a in (b * c, d**e, f(g, h=[1, 2, 3]))]" for i in range(60))
    with ThreadPoolExecutor(3) as threads:
        trees = threads.map(lambda _: len(tree_of(source).body), range(300))
        assert set(trees) == {60}


def test_the_stub_is_unwritten_whatever_its_layout():
    stub = stub_cell(STEP)
    assert is_unwritten(stub, STEP)
    assert is_unwritten(stub.replace("    # YOUR CODE HERE\n", "    # mine, soon\n\n"), STEP)
    assert is_unwritten("", STEP)
    assert is_unwritten("# only a remark", STEP)


def test_anything_else_is_an_attempt():
    assert not is_unwritten(answer_cell(STEP), STEP)
    assert not is_unwritten(stub_cell(STEP).replace("raise NotImplementedError()", "pass"), STEP)
    assert not is_unwritten(stub_cell(STEP) + "\n\nrnn_step = None", STEP)
    assert not is_unwritten("def rnn_step(", STEP)


def test_the_answer_cell_keeps_docstring_and_markers_in_order():
    cell = answer_cell(STEP)
    head, rest = cell.split("### BEGIN SOLUTION")
    assert head.startswith("@exercise\ndef rnn_step(") and '"""' in head
    assert rest.rstrip().endswith("### END SOLUTION")
    ast.parse(cell)


def test_free_names_see_annotations_and_calls():
    source = "def f(x: Tensor):\n    y = helper(x)\n    return torch.tanh(y) + math.pi"
    assert free_names(source) == {"Tensor", "helper", "torch", "math"}
    assert bound_names("import a.b, c as d\nfrom e import f as g\nh = i = 1\ndef j(): pass") == {
        "a",
        "d",
        "g",
        "h",
        "i",
        "j",
    }


def test_a_shortcut_is_found_however_it_is_spelled():
    softmax = find("softmax")
    assert shortcut("def softmax(o):\n    return torch.softmax(o, -1)", softmax)
    assert shortcut("def softmax(o):\n    return o.softmax(-1)", softmax)
    assert shortcut("from torch.nn.functional import softmax as s\ndef softmax(o):\n    return s(o, -1)", softmax)
    assert shortcut("def softmax(o):\n    return o.exp() / o.exp().sum(-1, keepdim=True)", softmax) is None
    assert shortcut("def softmax(o):\n    return softmax(o)", softmax) is None


def test_redaction_takes_the_body_and_leaves_the_docstring():
    source = 'def f(x):\n    """Says what."""\n    # a hint\n    return x + 1\n\n\ndef g(x):\n    return f(x)\n'
    redacted = redact(source, {"f"})
    assert "Says what" in redacted and "x + 1" not in redacted and "a hint" not in redacted
    assert "return f(x)" in redacted
    ast.parse(redacted)


def test_the_fast_path_is_not_there_while_a_chapter_is_graded(tmp_path):
    view = make_view("04_lstm_gru", tmp_path / "view")
    assert (view / "unrolled" / "gated.py").exists() and not (view / "unrolled" / "fast").exists()
    for path in (view / "unrolled").rglob("*.py"):
        assert "unrolled.fast" not in path.read_text("utf8"), f"{path.name} needs what is not there"


def test_a_known_mistake_reads_like_a_students_cell():
    known = STEP.misconceptions[0]
    tree = ast.parse(renamed_source(known.implementation))
    assert tree.body[0].name == "rnn_step"
    assert normal_body(tree.body[0])


def test_notebook_commands_become_comments_if_the_rest_is_python():
    body = "def f(x):\n    return x"
    assert without_magics(body + "\n%timeit f(1)\n!ls\nf?") == body + "\n# %timeit f(1)\n# !ls\n# f?"
    assert without_magics("if True:\n    %pwd\n") == "if True:\n    pass  # %pwd\n"
    assert without_magics("%%time\n" + body) == "# %%time\n" + body
    for left in ("%%bash\n" + body, "x = (5\n% 3)", "%pwd\nx = (", 'text = """\n%s\n"""'):
        assert without_magics(left) == left


def test_what_runs_in_threads_parses_one_at_a_time():
    """Judges are threads, and Python 3.11's own parser is not made for them."""
    from autograder import fingerprint

    for name in (*fingerprint.judging_modules(), "fingerprint", "cluster", "grade_run", "ledger", "record"):
        assert name == "source" or "ast.parse(" not in fingerprint._file(name).read_text("utf8"), name
