"""The boundary: student code answers from behind walls, and nothing it does costs more than its own question."""

import time
from pathlib import Path

import nbformat
import psutil
import pytest

from autograder import respond
from autograder.course import chapter
from autograder.demo import fill
from autograder.exercises import chapter_exercises, find
from autograder.grading import POOL, grade_notebook, graded_cells, open_seeds, pooled_seeds, secret_seeds
from autograder.intake import Refused, read_sources, rebuild, rebuild_submission
from autograder.probe import Question
from autograder.respond import ForkServer, Respondent
from autograder.source import written_cell
from autograder.values import Raised, TimedOut

CHAPTER = chapter("01_recurrence")
RELEASED = nbformat.read(CHAPTER.student, as_version=4)
PERFECT = {e.id: written_cell(e) for e in chapter_exercises(CHAPTER.name)}


@pytest.fixture(scope="module")
def server():
    with ForkServer(CHAPTER.name) as running:
        yield running


def verdicts(server, **answers):
    notebook = fill(RELEASED, PERFECT | answers)
    return {v.exercise: v for v in grade_notebook(notebook, CHAPTER.name, open_seeds, server)}


def asked(server, source, exercise="softmax"):
    """The first observation of a notebook whose answer to ``exercise`` is ``source``."""
    cells = graded_cells(fill(RELEASED, PERFECT | {exercise: source}))
    with Respondent(server, cells) as respondent:
        return next(respondent.ask([Question(find(exercise).probes[0], 1)]))


def spy(expression: str) -> str:
    """An answer that raises with what it found out, so that the message shows it."""
    return f"import os, sys, socket\ndef softmax(o):\n    raise ValueError({expression})"


def test_a_perfect_notebook_gets_everything(server):
    assert {v.kind for v in verdicts(server).values()} == {"correct"}


def test_a_hang_and_a_crash_cost_only_themselves(server):
    hang = "def pad_batch(seqs, pad):\n    while True: pass"
    crash = "import os\ndef softmax(o):\n    os._exit(0)"
    found = verdicts(server, softmax=crash)
    assert found["softmax"].kind == "timeout" and found["softmax"].points == 0
    assert all(v.kind == "correct" for name, v in found.items() if name != "softmax")
    observed = asked(server, hang, "pad_batch")
    assert observed == TimedOut("no answer within 5 s")


def test_a_cell_that_raises_or_exits_leaves_the_others_alone(server):
    found = verdicts(server, softmax="raise SystemExit(0)", rnn_step="import os; os._exit(1)")
    assert found["softmax"].kind == "error" and "SystemExit" in found["softmax"].message
    assert found["rnn_step"].points == 0
    assert found["rnn_forward"].kind == "correct-given"
    assert found["pad_batch"].kind == "correct"


def test_what_the_source_alone_decides(server):
    found = verdicts(
        server,
        softmax="def softmax(o) return o",
        pad_batch="%timeit pass\n" + PERFECT["pad_batch"],
        cross_entropy="def cross_entropy(o, y, pad):\n    return F.cross_entropy(o.mT, y, ignore_index=pad)",
        rnn_step=next(c.source for c in RELEASED.cells if c.id == "rnn_step"),
    )
    assert found["softmax"].kind == "error" and "line 1" in found["softmax"].message
    assert "%" in found["pad_batch"].message
    assert found["cross_entropy"].kind == "shortcut"
    assert found["rnn_step"].kind == "not-attempted"


def test_the_answers_are_not_within_reach(server):
    for module in ("autograder.exercises", "autograder.judge", "autograder.demo", "unrolled.text"):
        source = f"def pad_batch(seqs, pad):\n    import {module} as m\n    return m.pad_batch(seqs, pad)"
        observed = asked(server, source, "pad_batch")
        assert isinstance(observed, Raised)
        assert observed.class_name in {"ModuleNotFoundError", "NotImplementedError"}


def test_behind_the_walls_there_is_little_to_see(server):
    assert asked(server, spy("str(sorted(os.environ))")).message.count("SECRET") == 0
    checkout = str(Path(__file__).parents[2])
    assert "FileNotFoundError" in asked(server, spy(f"os.listdir({checkout!r} + '/autograder')")).class_name
    assert asked(server, spy("str(os.listdir('/proc/1/task'))")).message.startswith("['1'] "), "the first of its world"
    assert asked(server, spy("open('/etc/passwd').read()")).class_name == "FileNotFoundError"


@pytest.mark.parametrize(
    ("expression", "error"),
    [
        ("socket.socket()", "PermissionError"),
        ("open('/x', 'w')", "OSError"),
        ("open(sys.prefix + '/x', 'w')", "OSError"),
        ("open('/tmp/x', 'wb').write(bytes(17 << 20))", "OSError"),
        ("bytearray(4 << 30)", "MemoryError"),
        ("[os.open('/dev/null', 0) for _ in range(100)]", "OSError"),
        ("os.chroot('/tmp')", "PermissionError"),
        ("os.mknod('/tmp/d', 0o60600, 1)", "PermissionError"),
    ],
)
def test_behind_the_walls_there_is_little_to_do(server, expression, error):
    assert asked(server, spy(expression)).class_name == error


def test_nothing_outlives_the_run(server):
    daemon = "import os, time\ndef softmax(o):\n    if os.fork() == 0:\n        os.setsid()\n        time.sleep(1000)"
    asked(server, daemon)
    deadline = time.monotonic() + 10
    while psutil.Process(server.process.pid).children(recursive=True) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert psutil.Process(server.process.pid).children(recursive=True) == []


def test_seeds_follow_from_secret_student_and_sources():
    notebook, exercise = fill(RELEASED, PERFECT), find("softmax")
    seeds = secret_seeds(b"secret", "ada", notebook)(exercise)
    assert seeds == secret_seeds(b"secret", "ada", notebook)(exercise)
    others = [
        secret_seeds(b"other", "ada", notebook)(exercise),
        secret_seeds(b"secret", "bob", notebook)(exercise),
        secret_seeds(b"secret", "ada", fill(RELEASED, {}))(exercise),
        secret_seeds(b"secret", "ada", notebook)(find("rnn_step")),
    ]
    assert len({seeds, *others}) == 5


def test_a_run_asks_few_seeds_and_the_next_run_others():
    notebook, exercise = fill(RELEASED, PERFECT), find("softmax")

    def asked(pool: str) -> list[tuple[int, ...]]:
        return [pooled_seeds(b"secret", pool, f"student {n}", notebook)(exercise) for n in range(200)]

    first, second = asked("run 0"), asked("run 1")
    assert first == asked("run 0") and len(set(map(frozenset, first))) == POOL * (POOL - 1) / 2
    assert len({seed for pair in first for seed in pair}) == POOL
    assert not {seed for pair in first for seed in pair} & {seed for pair in second for seed in pair}


def test_intake_takes_sources_and_nothing_else():
    odd = fill(RELEASED, PERFECT)
    for cell in odd.cells:
        cell.metadata["tags"] = ["skip-execution", "anything"]
        if cell.cell_type == "code":
            cell.outputs = [nbformat.v4.new_output("stream", text="99 of 1 points")]
    odd.cells = [c for c in reversed(odd.cells) if not c.metadata.get("nbgrader", {}).get("grade")]
    pairs = [(c.metadata.nbgrader.grade_id, c.source) for c in odd.cells if "nbgrader" in c.metadata]
    rebuilt, plain = rebuild(RELEASED, pairs, CHAPTER.name), fill(RELEASED, PERFECT)
    assert [(c.id, c.source, c.metadata) for c in rebuilt.cells] == [(c.id, c.source, c.metadata) for c in plain.cells]
    assert all(not c.get("outputs") for c in rebuilt.cells)


def test_of_two_copies_the_written_one_counts():
    stub = next(c.source for c in RELEASED.cells if c.id == "softmax")
    for order in ([PERFECT["softmax"], stub], [stub, PERFECT["softmax"]]):
        rebuilt = rebuild(RELEASED, [("softmax", source) for source in order], CHAPTER.name)
        assert next(c.source for c in rebuilt.cells if c.id == "softmax") == PERFECT["softmax"]


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b'{"cells": 3}', b"\xff\xfe", b'{"cells": [null]}'])
def test_a_file_that_is_no_notebook_is_refused_with_a_sentence(tmp_path, content):
    path = tmp_path / "recurrence.ipynb"
    path.write_bytes(content)
    with pytest.raises(Refused, match=r"recurrence.ipynb is not a readable notebook; open it in JupyterLab"):
        read_sources(path)
    assert "refused" in rebuild_submission(tmp_path, CHAPTER.student, CHAPTER.name).metadata["unrolled"]


def test_a_link_is_refused(tmp_path):
    (tmp_path / "recurrence.ipynb").symlink_to(CHAPTER.solution)
    with pytest.raises(Refused, match="not a link"):
        read_sources(tmp_path / "recurrence.ipynb")


def test_an_endless_loop_leaves_time_for_the_rest(server, monkeypatch):
    monkeypatch.setattr(respond, "SUBMISSION_SECONDS", 30)  # two seeds of seven questions would take 70
    found = verdicts(server, pad_batch="def pad_batch(seqs, pad):\n    while True: pass")
    assert found.pop("pad_batch").kind == "timeout"
    assert {v.kind for v in found.values()} == {"correct"}
