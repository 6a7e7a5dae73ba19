"""The capstone: a package assembled from the chapters, judged with the whole library redacted."""

import ast

import nbformat
import pytest

from autograder.assemble import assemble, capstone
from autograder.cli import main
from autograder.course import Chapter
from autograder.demo import fill
from autograder.exercise import CourseError
from autograder.exercises import all_exercises, chapter_exercises, chapters_revisited, find, revisited, setup_names
from autograder.grading import grade_notebook, open_seeds
from autograder.leaks import leaks_in
from autograder.own_work import released_edition
from autograder.respond import ForkServer
from autograder.source import stub_cell, written_cell
from autograder.student import check
from autograder.view import make_view

CHAPTER = capstone()
RELEASED = nbformat.read(CHAPTER.student, as_version=4)
EXERCISES = chapter_exercises(CHAPTER.name)
AGAIN = revisited(CHAPTER.name)
PERFECT = {exercise.id: written_cell(exercise) for exercise in EXERCISES}


def source_of(notebook, grade_id: str) -> str:
    return next(c.source for c in notebook.cells if c.metadata.get("nbgrader", {}).get("grade_id") == grade_id)


@pytest.fixture
def mine(tmp_path):
    """A folder with a student's notebooks, small ones: the graded cells only, all right; and a fresh capstone."""
    for name in chapters_revisited(CHAPTER.name):
        cells = []
        for exercise in (e for e in AGAIN if e.probe_module.__name__.endswith(f"ch{name}")):
            cell = nbformat.v4.new_code_cell(PERFECT[exercise.id])
            cell.metadata.nbgrader = {"grade_id": exercise.id, "solution": True}
            cells.append(cell)
        one = Chapter(name, tmp_path)
        one.student.parent.mkdir(parents=True)
        nbformat.write(nbformat.v4.new_notebook(cells=cells), one.student)
    nbformat.write(RELEASED, tmp_path / "capstone.ipynb")
    return tmp_path


def rewritten(folder, exercise: str, source: str) -> None:
    """Change one cell of a student's notebook."""
    for path in folder.rglob("*.ipynb"):
        notebook = nbformat.read(path, as_version=4)
        if any(c.metadata.get("nbgrader", {}).get("grade_id") == exercise for c in notebook.cells):
            nbformat.write(fill(notebook, {exercise: source}), path)


# ---------------------------------------------------------------- what the capstone asks


def test_it_asks_for_every_graded_function_of_chapters_1_to_13():
    wanted = {e.id for e in all_exercises().values() if 1 <= int(e.number.split(".")[0]) <= 13}
    assert {e.id for e in AGAIN} == wanted
    graded = {c.metadata.nbgrader.grade_id for c in RELEASED.cells if c.metadata.get("nbgrader", {}).get("solution")}
    assert wanted | {"name_the_bug"} <= graded
    points = {c.id: c.metadata.nbgrader.points for c in RELEASED.cells if c.id.startswith("check-")}
    assert points == {f"check-{e.id}": e.points for e in EXERCISES}
    assert 35 <= sum(e.points for e in AGAIN) <= 50 and find("name_the_bug").points == 10


def test_what_is_asked_again_is_the_same_exercise_for_fewer_points():
    for exercise in AGAIN:
        first = find(exercise.id)
        assert exercise.points == pytest.approx(first.points / 5) and exercise.probes == first.probes
        assert exercise.misconceptions is first.misconceptions and set(first.uses) <= set(exercise.uses)
    assert "multi_head_attention" in find("encoder_layer", CHAPTER.name).uses
    assert not setup_names(CHAPTER.name) & set(all_exercises())


def test_the_view_holds_no_reference(tmp_path):
    view = make_view(CHAPTER.name, tmp_path / "view")
    graded = {name for exercise in all_exercises().values() for name in exercise.functions}
    texts = [(path.name, path.read_text("utf8")) for path in view.rglob("*.py")]
    assert [found for found in leaks_in(texts) if found.split(": ")[1] in graded] == []
    bodies = {}
    for path in (view / "unrolled").rglob("*.py"):
        for node in ast.parse(path.read_text("utf8")).body:
            if isinstance(node, ast.FunctionDef):
                module = ".".join(path.relative_to(view).with_suffix("").parts)
                bodies[module, node.name] = ast.unparse(node.body[-1])
    for exercise in all_exercises().values():
        for reference in exercise.references:
            assert "is graded here: write it" in bodies[reference.__module__, reference.__name__]
    probes = {path.stem for path in (view / "autograder" / "probes").glob("ch*.py")}
    assert probes == {f"ch{name}" for name in (*chapters_revisited(CHAPTER.name), CHAPTER.name)}
    assert not list(view.rglob("exercises"))


def test_check_counts_what_it_counts_here():
    softmax = find("softmax").references[0]
    assert check(softmax).verdict.max_points == 2
    assert check(softmax, chapter=15).verdict.points == pytest.approx(0.4)
    assert "check takes a function of an exercise" in repr(check(softmax, chapter=14)), "chapter 14 does not ask for it"


# ---------------------------------------------------------------- judged


@pytest.fixture(scope="module")
def server():
    with ForkServer(CHAPTER.name) as running:
        yield running


def verdicts(server, answers):
    found = grade_notebook(fill(RELEASED, answers), CHAPTER.name, open_seeds, server)
    return {verdict.exercise: verdict for verdict in found}


def test_a_right_package_gets_everything(server, mine):
    done = assemble(mine / "chapters", mine / "capstone.ipynb")
    assert len(done.placed) == len(AGAIN) and not done.missing and not done.remarks
    notebook = nbformat.read(mine / "capstone.ipynb", as_version=4)
    notebook = fill(notebook, {"name_the_bug": PERFECT["name_the_bug"]})
    found = grade_notebook(notebook, CHAPTER.name, open_seeds, server)
    assert [verdict.exercise for verdict in found] == [exercise.id for exercise in EXERCISES]
    assert {verdict.exercise: verdict.label for verdict in found if verdict.label != "correct"} == {}


def test_three_mistakes_cost_exactly_three_answers(server):
    wrong = {name: find(name).misconceptions[0] for name in ("gru_step", "multi_head_attention", "name_the_bug")}
    answers = {name: written_cell(find(name), known.implementation) for name, known in wrong.items()}
    found = verdicts(server, PERFECT | answers)
    for name, known in wrong.items():
        assert found[name].label == f"misconception:{known.id}" and found[name].points < found[name].max_points
    assert all(verdict.full for name, verdict in found.items() if name not in wrong)
    assert found["encoder_layer"].message == "Right, given a right multi_head_attention."
    assert found["encode"].kind == "correct-given", "the library's loop over gru_step runs with the answer"
    assert {name for name, v in found.items() if v.kind == "correct-given"} <= {
        *(e.id for e in AGAIN if {"gru_step", "multi_head_attention"} & set(e.uses))
    }


def test_the_library_gives_nothing_away(server):
    imported = {e.id: "\n".join(f"from {f.__module__} import {f.__name__}" for f in e.references) for e in EXERCISES}
    found = verdicts(server, imported)
    assert {name: v.points for name, v in found.items() if v.points} == {}


# ---------------------------------------------------------------- assembled


def test_what_was_not_written_is_named_and_the_rest_is_placed(mine):
    rewritten(mine / "chapters", "softmax", stub_cell(find("softmax")))
    (mine / "chapters" / "04_lstm_gru" / "lstm_gru.ipynb").unlink()
    rewritten(mine / "chapters", "bleu", "def my_bleu(hyps, refs):\n    return 0")
    (mine / "chapters" / "05_deep_bidirectional" / "deep_bidirectional.ipynb").write_text("{")
    done = assemble(mine / "chapters", mine / "capstone.ipynb")
    said = "\n".join(done.remarks)
    assert "01_recurrence: not written yet: softmax." in said
    assert f"04_lstm_gru: there is no lstm_gru.ipynb in {mine / 'chapters'}." in said
    assert "05_deep_bidirectional: deep_bidirectional.ipynb is not a readable notebook" in said
    assert "bleu: its cell does not define bleu; it defines my_bleu. Not placed." in said
    lost = {e.id for e in AGAIN if e.number.split(".")[0] in {"4", "5"}} | {"softmax", "bleu"}
    assert set(done.missing) == lost and set(done.placed) == {e.id for e in AGAIN} - lost
    assert "softmax" in str(done) and len(str(done).splitlines()) == 1 + len(done.remarks)


def test_what_was_changed_by_hand_is_kept_and_said(mine):
    target = mine / "capstone.ipynb"
    assemble(mine / "chapters", target)
    by_hand = PERFECT["softmax"] + "\n# mine"
    nbformat.write(fill(nbformat.read(target, as_version=4), {"softmax": by_hand}), target)
    newer = PERFECT["rnn_step"] + "\n# newer"
    rewritten(mine / "chapters", "rnn_step", newer)
    done = assemble(mine / "chapters", target)
    assert done.placed == ["rnn_step"], "a cell that was assembled and not touched follows its chapter"
    assert done.remarks == ["softmax: changed here by hand, kept; --replace takes the chapter's answer."]
    notebook = nbformat.read(target, as_version=4)
    assert source_of(notebook, "softmax") == by_hand and source_of(notebook, "rnn_step") == newer
    done = assemble(mine / "chapters", target, replace=True)
    assert done.remarks == ["softmax: what was changed here by hand has been replaced."]
    assert source_of(nbformat.read(target, as_version=4), "softmax") == PERFECT["softmax"]
    before = target.read_bytes()
    assert not assemble(mine / "chapters", target).placed and target.read_bytes() == before


def test_names_that_two_cells_fight_about_are_named(mine):
    helper = "def helper(x):\n    return {}\n\n\n"
    rewritten(mine / "chapters", "rnn_step", helper.format("x") + PERFECT["rnn_step"])
    rewritten(mine / "chapters", "lstm_step", helper.format("2 * x") + PERFECT["lstm_step"])
    rewritten(mine / "chapters", "gru_step", "import re\n\n\n" + PERFECT["gru_step"])
    rewritten(mine / "chapters", "pad_batch", "import re\n\n\n" + PERFECT["pad_batch"])
    rewritten(mine / "chapters", "perplexity", "from unrolled.losses import softmax\n" + PERFECT["perplexity"])
    rewritten(mine / "chapters", "bleu", "def greedy(x):\n    return x\n\n\n" + PERFECT["bleu"])
    done = assemble(mine / "chapters", mine / "capstone.ipynb")
    assert len(done.placed) == len(AGAIN)
    assert set(done.remarks) == {
        "lstm_step and rnn_step: both define helper, not alike; rename one of them.",
        "perplexity: imports softmax from the library, where it is missing in grading; delete the line.",
        "bleu: defines greedy too, which is the answer of another cell; rename it.",
    }


def test_the_target_survives_whatever_happens(mine, monkeypatch):
    target = mine / "capstone.ipynb"
    before = target.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("autograder.build.nbformat.write", full)
    with pytest.raises(OSError):
        assemble(mine / "chapters", target)
    assert target.read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--into", "nowhere.ipynb"], "nowhere.ipynb does not exist; give the notebook of 15_capstone"),
        (["--into", "{chapter}"], "has no cell for"),
        (["--into", "{broken}"], "is not a readable notebook; give the one of 15_capstone"),
        (["--from", "nowhere", "--into", "{target}"], "nowhere is not a folder"),
    ],
)
def test_every_mistake_ends_in_one_sentence(mine, capsys, arguments, sentence):
    (mine / "broken.ipynb").write_text("[]")
    places = {
        "chapter": mine / "chapters" / "01_recurrence" / "recurrence.ipynb",
        "broken": mine / "broken.ipynb",
        "target": mine / "capstone.ipynb",
    }
    assert main(["assemble", *(text.format(**places) for text in arguments)]) == 1
    said = capsys.readouterr().err
    assert said.startswith("autograder: ") and sentence in said and said.count("\n") == 1


def test_the_command_says_what_it_did(mine, capsys):
    assert main(["assemble", "--from", str(mine / "chapters"), "--into", str(mine / "capstone.ipynb")]) == 0
    said = capsys.readouterr().out
    assert said == f"{mine / 'capstone.ipynb'}: {len(AGAIN)} answers are in it, {len(AGAIN)} of them new; 0 missing.\n"
    with pytest.raises(SystemExit):
        main(["assemble", "--help"])
    assert "Example: autograder assemble --from" in capsys.readouterr().out


def test_a_notebook_is_known_by_its_cells(tmp_path):
    for name in ("01_recurrence", CHAPTER.name):
        ids = {exercise.id for exercise in chapter_exercises(name)}
        assert released_edition(tmp_path / "any.ipynb", ids)[0] == name
    with pytest.raises(CourseError):
        released_edition(tmp_path / "any.ipynb", {"nothing"})


def test_released_cells_are_stubs():
    for exercise in AGAIN:
        assert source_of(RELEASED, exercise.id) == stub_cell(exercise)
    collapsed = [c for c in RELEASED.cells if c.metadata.get("jp-MarkdownHeadingCollapsed")]
    assert len(collapsed) == len(chapters_revisited(CHAPTER.name))
