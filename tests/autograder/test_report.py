"""The report on a class: planted mistakes and copies are found, independent right answers are not accused."""

import json
import random
import re
from datetime import datetime, timedelta
from itertools import combinations

import nbformat
import numpy as np
import pytest

from autograder import similarity
from autograder.classroom.hands import by_another_hand
from autograder.cli import main
from autograder.course import chapter
from autograder.course_directory import init_course, load_config
from autograder.demo import fill
from autograder.exercise import Property, Verdict
from autograder.exercises import chapter_exercises
from autograder.ledger import Ledger
from autograder.nbgrader_plugins import put_verdicts
from autograder.record import Recorder
from autograder.report import as_json, write_report
from autograder.report_class import ClassWork, known_forms, read_class
from autograder.report_marks import ChapterMarks, HandedIn, Person, Score
from autograder.report_numbers import report_of
from autograder.report_page import page
from autograder.setup_cell import SETUP
from autograder.similarity import similar_pairs, tokens_of
from autograder.source import bound_names, written_cell

CHAPTER = chapter("01_recurrence")
EXERCISES = {exercise.id: exercise for exercise in chapter_exercises(CHAPTER.name)}
KEPT = frozenset(bound_names(SETUP)) | frozenset(EXERCISES)
TAGS = {
    *("html", "head", "meta", "title", "style", "body", "main", "article", "div", "span", "h1", "h2", "h3", "p", "ul"),
    *("ol", "li", "strong", "em", "a", "code", "pre", "mark", "details", "summary", "table", "thead", "tbody", "tr"),
    *("th", "td", "svg", "desc", "rect", "text", "line"),
}
OWN = """\
def rnn_forward(x, h0, params):
    collected, state, weights = [], h0, (params.W_xh.clone(), params.W_hh.clone())
    for moment in reversed(range(x.shape[1] - 1, -1, -1)):
        drive = x.select(1, moment).matmul(weights[0].t()).add(params.b)
        memory = state.matmul(weights[1].t())
        state = params.phi(torch.stack([drive, memory]).sum(dim=0))
        collected = collected + [state.reshape(1, *state.shape)]
    everything = torch.cat(collected, dim=0).permute(1, 0, 2).contiguous()
    return everything, everything.select(1, -1)
"""
COPY = '''\
def rnn_forward(x, h0, params):
    """My own work."""
    out, h, W = (
        [],
        h0,
        (params.W_xh.clone(), params.W_hh.clone()),
    )  # weights
    for t in reversed(range(x.shape[1] - 1, -1, -1)):
        a = x.select(1, t).matmul(W[0].t()).add(params.b)
        m = h.matmul(W[1].t()); print(t)
        h = params.phi(torch.stack([a, m]).sum(dim=0))
        out = out + [h.reshape(1, *h.shape)]
    hs = torch.cat(out, dim=0).permute(1, 0, 2).contiguous()
    return hs, hs.select(1, -1)
'''


def class_of(labels, sources=None, times=None, due=None):
    """A class as data: student -> exercise -> label; right answers get all points, others a quarter or none."""
    handed_in = {}
    for student, found in labels.items():
        scores = {f"check-{name}": Score(_points(name, label), EXERCISES[name].points) for name, label in found.items()}
        handed_in[student] = HandedIn(student, (times or {}).get(student), scores=scores)
    cells = [f"check-{name}" for name in EXERCISES]
    people = {student: Person(student) for student in labels}
    marks = ChapterMarks(CHAPTER.name, due, sum(e.points for e in EXERCISES.values()), cells, people, handed_in)
    return ClassWork(marks, "1 · A title", {}, labels, sources or {s: {} for s in labels}, names=KEPT)


def _points(name, label):
    kind = label.partition(":")[0]
    return EXERCISES[name].points * {"correct": 1, "misconception": 0.25}.get(kind, 0)


def everything(label, **others):
    return dict.fromkeys(EXERCISES, label) | others


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A course directory with five graded submissions; the judge is not asked."""
    folder = tmp_path_factory.mktemp("graded") / "course"
    init_course(folder, [CHAPTER])
    record_class(folder, {
        "ada": everything("correct"),
        "bob": everything("correct", rnn_step="misconception:swapped_weights"),
        "cyd <script>alert(1)</script>": everything("correct", rnn_step="misconception:swapped_weights"),
        "=dan": everything("not-attempted"),
        "eve": everything("refused"),
    })  # fmt: skip
    return folder


def record_class(folder, labels):
    released = nbformat.read(folder / "release" / CHAPTER.name / f"{CHAPTER.slug}.ipynb", as_version=4)
    ledger, sources = Ledger(folder), {"ada": OWN, "bob": COPY}
    with Recorder(load_config(folder), folder, CHAPTER.name) as recorder:
        for day, (student, found) in enumerate(labels.items(), 1):
            answer = {"rnn_forward": sources[student]} if student in sources else {}
            graded = fill(released, {n: written_cell(e) for n, e in EXERCISES.items()} | answer)
            verdicts = {name: _verdict(name, label) for name, label in found.items()}
            put_verdicts(graded, CHAPTER.name, verdicts, True, 3)
            recorder.record(student, graded, {}, f"2026-11-{day:02d} 12:00:00 UTC")
            ledger.judged(student, CHAPTER.name, f"key of {student}", list(verdicts.values()), sandbox=True)
            ledger.recorded(student, CHAPTER.name, f"key of {student}")


def _verdict(name, label):
    kind, _, detail = label.partition(":")
    failed = () if kind == "correct" else (Property("p", "the sizes", False, 1.0),)
    return Verdict(name, kind, _points(name, label), EXERCISES[name].points, failed, detail)


# ---- what a class got wrong ----


def test_planted_misconceptions_are_counted_with_what_to_teach_again():
    first, second = EXERCISES["rnn_step"].misconceptions[:2]
    labels = {f"s{n:02d}": everything("correct") for n in range(20)}
    for n in range(7):
        labels[f"s{n:02d}"]["rnn_step"] = f"misconception:{first.id}"
    for n in range(7, 10):
        labels[f"s{n:02d}"]["rnn_step"] = f"misconception:{second.id}"
    labels["s19"]["rnn_step"] = "not-attempted"
    found = report_of(class_of(labels))["misconceptions"]
    assert [(row["id"], row["count"]) for row in found] == [(first.id, 7), (second.id, 3)]
    assert found[0]["share"] == 7 / 19, "of those who wrote it"
    assert found[0]["hints"] == list(first.hints) and found[0]["students"] == [f"s{n:02d}" for n in range(7)]


def test_a_mistake_that_the_course_has_forgotten_is_listed_under_its_id():
    found = report_of(class_of({"a": everything("correct", softmax="misconception:of_old")}))["misconceptions"]
    assert found[0]["name"] == "of_old" and found[0]["hints"] == []


def test_difficulty_and_discrimination_are_what_the_page_says():
    chooser = random.Random(0)
    labels = {
        f"s{n}": {name: chooser.choice(["correct", "wrong", "misconception:x"]) for name in EXERCISES}
        for n in range(50)
    }
    rows = {row["id"]: row for row in report_of(class_of(labels))["exercises"]}
    table = np.array([[_points(name, label) for name, label in found.items()] for found in labels.values()])
    for column, (name, exercise) in enumerate(EXERCISES.items()):
        others = table.sum(axis=1) - table[:, column]
        assert rows[name]["discrimination"] == pytest.approx(np.corrcoef(table[:, column], others)[0, 1])
        assert rows[name]["difficulty"] == pytest.approx(table[:, column].mean() / exercise.points)
        assert rows[name]["pass_rate"] == sum(found[name] == "correct" for found in labels.values()) / 50


def test_refused_files_and_answers_that_wait_do_not_count_as_failed():
    work = class_of({"a": everything("correct"), "b": everything("refused"), "c": everything("correct")})
    work.marks.handed_in["c"].scores["check-softmax"] = Score(0, 2, waits=True)
    found = report_of(work)
    assert {row["pass_rate"] for row in found["exercises"]} == {1.0}
    assert {row["id"]: row["answers"] for row in found["exercises"]}["softmax"] == 1
    assert found["marks"]["all_points"] == 2 and found["waiting"] == 1 and found["refused"] == 1


def test_who_needs_help_and_why():
    labels = {
        "fine": everything("correct"),
        "weak": everything("wrong", softmax="correct", pad_batch="misconception:mask_inverted"),
        "idle": everything("not-attempted"),
        "broken": everything("refused"),
    }
    found = {row["student"]: row for row in report_of(class_of(labels))["need_help"]}
    assert set(found) == {"weak", "idle", "broken"}
    assert found["weak"]["mistakes"] == ["pad_batch: The mask is inverted"]
    assert "7 of 7 exercises not written" in found["idle"]["reasons"]
    assert found["broken"]["reasons"] == ["the file cannot be read"]


@pytest.mark.parametrize(("step", "unit", "bars"), [("minutes", "hour", 2), ("days", "day", 40), ("weeks", "week", 40)])
def test_the_time_course(step, unit, bars):
    start = datetime(2026, 11, 2, 8)
    times = {f"s{n}": start + timedelta(**{step: n}) for n in range(40)}
    times["s0"] = start if unit != "hour" else start + timedelta(minutes=90)
    labels = {student: everything("correct") for student in (*times, "timeless")}
    found = report_of(class_of(labels, times=times, due=start + timedelta(**{step: 35})))["times"]
    assert found["unit"] == unit and len(found["bars"]) == bars and found["without"] == 1
    assert sum(bar["count"] + bar["late"] for bar in found["bars"]) == 40
    assert found["late"] == 4 + (unit == "hour")


def test_a_time_that_is_centuries_off_makes_no_thousand_bars():
    times = {"a": datetime(1970, 1, 1), "b": datetime(2999, 1, 1)}
    found = report_of(class_of({s: everything("correct") for s in times}, times=times))
    assert len(found["times"]["bars"]) <= 62
    assert "<rect" in page(found)


# ---- what looks alike ----


def test_names_comments_docstrings_and_layout_do_not_count():
    plain = [word for word, _ in tokens_of("def f(a, b):\n    return torch.cat([a, b], dim=1)", KEPT)]
    other = 'def f(x, y):\n    """Said."""\n    # so\n    return torch.cat(\n        [x,   y], dim=1,\n    )'
    assert [word for word, _ in tokens_of(other, KEPT)] == plain
    changed = "def f(a, b):\n    return torch.cat([a, b], dim=0)"
    assert [word for word, _ in tokens_of(changed, KEPT)] != plain
    assert tokens_of('"""unclosed', KEPT) and tokens_of("(((", KEPT) and tokens_of("", KEPT) == []


def test_a_planted_copy_is_found_in_the_right_lines():
    exercise, chooser = EXERCISES["rnn_forward"], random.Random(1)
    known = known_forms(exercise, CHAPTER.name)
    answers = {f"s{n:02d}": by_another_hand(known[1 + n % (len(known) - 1)], chooser) for n in range(30)}
    (pair,) = similar_pairs(answers | {"ada": OWN, "bob": COPY}, known, KEPT)
    assert {pair.first, pair.second} == {"ada", "bob"} and pair.alike > 0.8
    marked = {COPY.split("\n")[line].strip() for line in pair.second_lines}
    assert "h = params.phi(torch.stack([a, m]).sum(dim=0))" in marked and '"""My own work."""' not in marked


def test_what_three_share_and_what_is_short_is_nobodys_copy():
    known = known_forms(EXERCISES["rnn_forward"], CHAPTER.name)
    assert similar_pairs({"a": OWN, "b": COPY}, known, KEPT)
    assert not similar_pairs({"a": OWN, "b": COPY, "c": OWN + "# mine"}, known, KEPT)
    assert not similar_pairs({"a": OWN, "b": OWN, "c": OWN}, known, KEPT)


def test_a_short_answer_is_nobodys_copy(monkeypatch):
    short = """\
def softmax(o):
    weights = [float(entry) ** 3 % 7 for entry in o.flatten().tolist()]
    return torch.as_tensor(weights).view_as(o)"""
    known = known_forms(EXERCISES["softmax"], CHAPTER.name)
    assert len(tokens_of(short)) > 30 and not similar_pairs({"a": short, "b": short}, known, KEPT)
    monkeypatch.setattr(similarity, "FEWEST_TOKENS", 20)
    assert similar_pairs({"a": short, "b": short}, known, KEPT), "it is the length that decides"


@pytest.mark.parametrize("name", ["01_recurrence", "04_lstm_gru", "09_transformer"])
def test_sixty_independent_right_answers_accuse_nobody(name):
    chooser = random.Random(2)
    for exercise in chapter_exercises(name):
        known = known_forms(exercise, name)
        answers = {f"s{n:02d}": by_another_hand(chooser.choice(known[1:]), chooser) for n in range(60)}
        assert similar_pairs(answers, known, KEPT) == [], exercise.id
        a_stub_only = similar_pairs(answers, known[:1], KEPT)  # even where the course knows none of the forms
        assert len(a_stub_only) <= sum(count == 2 for count in _times_used(answers).values()), exercise.id


def test_two_who_find_the_same_known_form_are_not_accused():
    chooser, accused = random.Random(6), 0
    for exercise in EXERCISES.values():
        known = known_forms(exercise, CHAPTER.name)
        answers = {f"{n}{who}": by_another_hand(form, chooser) for n, form in enumerate(known[1:]) for who in "ab"}
        answers |= {
            f"{name} again": f"{source}\n\n\nassert {exercise.id} is not None" for name, source in answers.items()
        }
        twice = {name: source for name, source in answers.items() if name.endswith("a") or name.endswith("b again")}
        assert similar_pairs(twice, known, KEPT) == [], exercise.id
        accused += len(similar_pairs(twice, known[:1], KEPT))
    assert accused > 10, "they would be, if the course did not know these forms"


def _times_used(answers):
    forms = [tuple(word for word, _ in tokens_of(source, KEPT)) for source in answers.values()]
    return {form: forms.count(form) for form in forms}


@pytest.mark.parametrize("name", ["01_recurrence", "04_lstm_gru", "09_transformer"])
def test_two_right_forms_that_the_course_does_not_know_are_not_alike(name, monkeypatch):
    monkeypatch.setattr(similarity, "ALIKE", 1 / 3)  # far below what is listed
    for exercise in chapter_exercises(name):
        stub, reference, *forms = known_forms(exercise, name)
        for one, two in combinations(forms, 2):
            others = [form for form in forms if form not in (one, two)]
            assert similar_pairs({"a": one, "b": two}, [stub, reference, *others], KEPT) == []


@pytest.mark.parametrize("name", ["01_recurrence", "04_lstm_gru", "09_transformer"])
def test_most_copies_of_a_form_that_the_course_does_not_know_are_found(name):
    found, chooser = [], random.Random(3)
    for exercise in chapter_exercises(name):
        stub, reference, *forms = known_forms(exercise, name)
        for form in forms:
            others = [other for other in forms if other != form]
            pairs = similar_pairs({"a": form, "b": by_another_hand(form, chooser)}, [stub, reference, *others], KEPT)
            if len(tokens_of(form)) - len(tokens_of(stub)) >= 60:
                found.append(bool(pairs))
    assert np.mean(found) > 0.9, found


def test_two_thousand_answers_are_not_compared_pair_by_pair(monkeypatch):
    chooser, compared = random.Random(4), []
    known = known_forms(EXERCISES["rnn_forward"], CHAPTER.name)
    lines = [f"    a = x.select({n}, {n + 1}).matmul(h0).{word}()" for n in range(40) for word in ("t", "exp", "tanh")]
    answers = {
        f"s{n:04d}": "def rnn_forward(x, h0, params):\n" + "\n".join(chooser.sample(lines, 8)) + "\n    return a"
        for n in range(2000)
    }
    meet = np.intersect1d
    monkeypatch.setattr(np, "intersect1d", lambda *both, **how: compared.append(1) or meet(*both, **how))
    (pair,) = similar_pairs(answers | {"ada": OWN, "bob": COPY}, known, KEPT)
    assert {pair.first, pair.second} == {"ada", "bob"}
    assert len(compared) < 2000, "of two million pairs"


def test_a_report_on_two_thousand():
    chooser = random.Random(5)
    known = {name: known_forms(exercise, CHAPTER.name) for name, exercise in EXERCISES.items()}
    mistakes = {name: [m.id for m in exercise.misconceptions] for name, exercise in EXERCISES.items()}
    labels, sources = {}, {}
    for n in range(2000):
        labels[f"s{n:04d}"] = {
            name: chooser.choice(["correct", "correct", "wrong", f"misconception:{chooser.choice(mistakes[name])}"])
            for name in EXERCISES
        }
        sources[f"s{n:04d}"] = {name: chooser.choice(known[name]) + f"  # {n % 50}" for name in EXERCISES}
    sources["s0007"]["rnn_forward"], sources["s1234"]["rnn_forward"] = OWN, COPY
    found = report_of(class_of(labels, sources))
    assert [row["students"] for row in found["pairs"]] == [["s0007", "s1234"]]
    assert sum(found["marks"]["bins"]) == found["submissions"] == 2000
    assert len(page(found)) < 2_000_000


# ---- the page ----


def test_one_submission_is_enough():
    found = report_of(class_of({"ada": everything("correct")}, {"ada": {"rnn_forward": OWN}}))
    assert found["exercises"][0]["discrimination"] is None and found["pairs"] == [] == found["need_help"]
    assert "<strong>1</strong> submission<" in page(found)
    json.loads(as_json(found))


def test_nothing_from_students_is_markup_and_nothing_is_asked_from_outside():
    evil = "</pre></script><script>alert(1)</script><img src=x onerror=alert(2)>\"'&"
    names = [f"{evil}{n}" for n in range(3)]
    labels = {name: everything("wrong") for name in names}
    labels[names[2]] = everything("not-attempted")
    sources = {name: {"rnn_forward": OWN + f"# {evil}"} for name in names}
    work = class_of(labels, sources, {names[0]: datetime(2026, 1, 1)})
    work.ungraded, work.title = [evil], evil
    work.marks.people[evil] = Person(evil)
    work.failed = {names[0]: {"softmax": [evil]}}
    found = report_of(work, "https://example.org/book")
    text = page(found)
    assert found["pairs"] and text.count("alert(1)") > 6
    assert not re.search(r"<(script|img|link|iframe|object|image|use)\b", text)
    assert set(re.findall(r"<([a-z0-9]+)", text)) <= TAGS
    assert "url(" not in text and "@import" not in text
    assert [address for address in re.findall(r'(?:href|src)="([^"]*)', text) if "example.org" not in address] == []


def test_every_chart_can_be_read_aloud():
    times = {"a": datetime(2026, 1, 1), "b": datetime(2026, 1, 3)}
    text = page(report_of(class_of({s: everything("correct", softmax="wrong") for s in times}, times=times)))
    charts = re.findall(r'<svg class="chart".*?</svg>', text, re.DOTALL)
    assert len(charts) == 3
    for chart in charts:
        assert 'role="img"' in chart and re.search(r'aria-label="[^"]+\d', chart)
        assert re.search("<title>.+?</title><desc>.*\\d.*?</desc>", chart)
    assert 'aria-label="What the judge said, by exercise. 1.1 pad_batch: right 2;' in text


def test_the_report_of_a_course_directory(course, monkeypatch, capsys):
    monkeypatch.chdir(course)
    assert main(["report", CHAPTER.name, "--book", "https://example.org/book"]) == 0
    assert "5 submissions, 1 known mistakes, 2 students who need help" in capsys.readouterr().out
    found = json.loads((course / "reports" / f"{CHAPTER.name}.json").read_text("utf8"))
    (mistake,) = found["misconceptions"]
    assert mistake["count"] == 2 and mistake["section"] == "A memory that is carried along"
    assert mistake["link"] == (
        "https://example.org/book/chapters/01_recurrence/recurrence.html#a-memory-that-is-carried-along"
    )
    assert mistake["title"] == "Exercise 1.3 — One step" and len(mistake["hints"]) == 3
    assert [row["students"] for row in found["pairs"]] == [["ada", "bob"]]
    assert found["pairs"][0]["exercises"][0]["sources"]["bob"].startswith(COPY.split("\n")[0])
    assert found["refused"] == 1 and found["times"]["unit"] == "day" and len(found["times"]["bars"]) == 5
    assert {row["student"] for row in found["need_help"]} == {"=dan", "eve"}
    text = (course / "reports" / f"{CHAPTER.name}.html").read_text("utf8")
    assert mistake["link"] in text and "A hint, not a verdict." in text and "<script" not in text
    assert (course / "reports" / f"{CHAPTER.name}.html").stat().st_mode & 0o077 == 0


def test_what_is_handed_in_but_not_graded_is_named(course):
    (course / "submitted" / "late <b>" / CHAPTER.name).mkdir(parents=True)
    assert read_class(course, CHAPTER.name).ungraded == ["late <b>"]


def test_a_changed_log_is_noticed(course, tmp_path, monkeypatch, capsys):
    log = Ledger(course).path
    before = log.read_bytes()
    log.write_bytes(before.replace(b"swapped_weights", b"other_weights", 1))
    monkeypatch.chdir(course)
    assert main(["report", CHAPTER.name]) == 1
    assert "the chain is broken" in capsys.readouterr().err
    log.write_bytes(before)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["report", "99_nothing"], "There is no chapter 99_nothing"),
        (["report", "../01_recurrence"], "There is no chapter"),
        (["report", "01_recurrence", "--book", "nowhere"], "neither an address"),
        (["report", "01_recurrence", "--book", "javascript:alert(1)"], "neither an address"),
        (["report", "01_recurrence", "--out", "report.txt"], "does not end in .html"),
        (["report", "01_recurrence", "--out", "no/such/folder/r.html"], "cannot be written"),
    ],
)
def test_bad_input_gets_one_sentence(course, monkeypatch, capsys, arguments, said):
    monkeypatch.chdir(course)
    assert main(arguments) == 1
    error = capsys.readouterr().err
    assert said in error and error.count("\n") == 1


def test_a_folder_that_is_no_course_and_a_chapter_that_is_not_graded(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["report", CHAPTER.name]) == 1
    assert "is not a course directory" in capsys.readouterr().err
    init_course(tmp_path / "new", [CHAPTER])
    monkeypatch.chdir(tmp_path / "new")
    assert main(["report", CHAPTER.name]) == 1
    assert "is graded yet; run `autograder grade" in capsys.readouterr().err


def test_help_shows_an_example(capsys):
    for command in ("report", "export", "export-feedback"):
        with pytest.raises(SystemExit) as end:
            main([command, "--help"])
        assert end.value.code == 0 and f"Example: autograder {command} " in capsys.readouterr().out


def test_where_the_page_goes_can_be_said(course, tmp_path):
    path, _ = write_report(course, CHAPTER.name, tmp_path / "r.html")
    assert path.exists() and (tmp_path / "r.json").exists()
