"""The made-up class of the classroom demo: what it claims of itself holds, and its checks can fail."""

import io
import json
from collections import Counter
from random import Random

import nbformat
import pytest
from rich.console import Console

from autograder import similarity
from autograder.classroom import checks
from autograder.classroom.hands import by_another_hand, copied
from autograder.classroom.loop import Loop
from autograder.classroom.originals import PAIRS, SHARED
from autograder.classroom.recipes import RECIPES
from autograder.classroom.students import CHAPTERS, LOST, RIGHT, STUDENTS, Answer, make_chapter, make_class
from autograder.course import chapter
from autograder.exercise import CourseError
from autograder.exercises import chapter_exercises, find
from autograder.export import FORMATS
from autograder.judge import CHECK_SEEDS, judge_functions
from autograder.report_class import ClassWork, _names
from autograder.report_marks import ChapterMarks, HandedIn, Person, Score
from autograder.report_numbers import report_of
from autograder.setup_cell import SETUP
from autograder.similarity import tokens_of

ORIGINALS = [original for one in CHAPTERS for original in (*PAIRS[one], SHARED[one])]


@pytest.fixture(scope="module")
def classes():
    return make_class()


def judged(name, source):
    exercise = find(name)
    namespace = dict(exercise.references[0].__globals__)
    exec(SETUP, namespace)
    namespace["exercise"] = lambda function: function
    exec(source, namespace)
    return judge_functions(exercise, {name: namespace[name] for name in exercise.functions}, CHECK_SEEDS)


@pytest.mark.parametrize("name", RECIPES)
def test_every_way_of_a_recipe_is_right(name):
    recipe = RECIPES[name]
    for number in range(max(map(len, recipe.steps))):
        chooser = Random(number)
        chooser.choice = lambda ways, number=number: ways[number % len(ways)]
        source = recipe.written_by(chooser)
        assert judged(name, source).label == "correct", source


@pytest.mark.parametrize("original", ORIGINALS, ids=lambda original: original.exercise)
def test_an_original_and_its_copy_are_worth_what_the_class_says(original):
    label = f"misconception:{original.mistake}" if original.mistake else "correct"
    copy = copied(original.source, Random(5))
    assert judged(original.exercise, original.source).label == judged(original.exercise, copy).label == label


def test_another_hand_changes_names_and_remarks_and_nothing_that_counts():
    for original in ORIGINALS:
        other = by_another_hand(original.source, Random(1))
        assert other != original.source
        assert [word for word, _ in tokens_of(other)] == [word for word, _ in tokens_of(original.source)]
    source = "def f(a, b=1):\n    total = g(total=a)\n    c = [x + b for x in total]\n    return c"
    other = by_another_hand(source, Random(1))
    assert "def f(a, b=1)" in other and "g(total=a)" in other and " x " not in other


def test_sixty_students_make_every_known_mistake_and_the_planted_one_most_often(classes):
    assert list(classes) == list(CHAPTERS)
    for made in classes.values():
        assert len(made.works) == STUDENTS == len({work.student.id for work in made.works})
        counts = made.mistakes()
        assert counts.keys() == made.known()
        for exercise in chapter_exercises(made.chapter):
            ranked = Counter({known: n for (name, known), n in counts.items() if name == exercise.id}).most_common(2)
            assert ranked[0][0] == made.top[exercise.id] and ranked[0][1] > ranked[1][1]
        kinds = Counter(work.file for work in made.works)
        assert all(kinds[kind] == 1 for kind in LOST) and kinds["cells deleted"] == 2
        assert sum(work.hours > 24 * work.extension for work in made.works) >= 5
        assert sum(len(work.attempts) > 1 for work in made.works) == 9


def test_the_class_is_the_same_in_every_run(classes):
    again = make_class()
    assert [work.attempts for work in again[CHAPTERS[1]].works] == [
        work.attempts for work in classes[CHAPTERS[1]].works
    ]


def report_on(made):
    """The report as it would be if the judge gave exactly what is true."""
    labels, sources, handed_in = {}, {}, {}
    for work in made.works:
        if work.readable:
            marks, who = work.marks(), work.student.id
            said = {
                RIGHT: "correct",
                "another convention": "correct-other-convention:x",
                "not-attempted": "not-attempted",
            }
            labels[who] = {name: said.get(a.label, f"misconception:{a.label}") for name, a in marks.items()}
            sources[who] = {name: answer.source or "" for name, answer in marks.items()}
            scores = {f"check-{name}": Score(answer.points, find(name).points) for name, answer in marks.items()}
            handed_in[who] = HandedIn(who, work.times[-1].replace(tzinfo=None), scores=scores)
    people = {who: Person(who) for who in labels}
    marks = ChapterMarks(made.chapter, None, 14.0, [], people, handed_in)
    names = _names(nbformat.read(chapter(made.chapter).student, as_version=4), made.chapter)
    return report_of(ClassWork(marks, "A title", {}, labels, sources, names=names))


@pytest.mark.parametrize("name", CHAPTERS)
@pytest.mark.parametrize("seed", [1, 3])
def test_who_copied_is_listed_and_nobody_else(name, seed):
    made = make_chapter(name, seed)
    assert {tuple(row["students"]) for row in report_on(made)["pairs"]} == made.pairs


def test_rare_lines_in_common_make_no_copy(monkeypatch):
    made = make_chapter("01_recurrence", 2)
    assert {tuple(row["students"]) for row in report_on(made)["pairs"]} == made.pairs
    monkeypatch.setattr(similarity, "OF_ALL", 0)
    assert len(report_on(made)["pairs"]) > len(made.pairs), "two who wrote two rare lines would be accused"


def test_two_with_the_same_known_mistake_are_not_accused(classes):
    made = classes["02_bptt"]
    known = next(w for w in made.works if w.readable and w.marks()["bptt"].label == "W_turned")
    other = next(w for w in made.works if w.readable and w.marks()["bptt"].label == RIGHT)
    answer = known.attempts[-1]["bptt"]
    other.attempts[-1]["bptt"] = Answer(by_another_hand(answer.source, Random(3)), answer.points, answer.label)
    assert {tuple(row["students"]) for row in report_on(made)["pairs"]} == made.pairs


def test_a_wrong_report_is_noticed(classes, tmp_path):
    made = classes["01_recurrence"]
    report = report_on(made)
    page = tmp_path / "01_recurrence.html"

    def check(check, markup=""):
        page.write_text(f"<p>fine</p>{markup}")
        page.with_suffix(".json").write_text(json.dumps(report))
        return check(made, tmp_path)

    assert check(checks.reported) == [] == check(checks.accused)
    assert "holds <script>" in check(checks.reported, "<script>1</script>")[0]
    assert "the attribute onload" in check(checks.reported, "<p onload='x'>")[0]
    assert "the attribute src" in check(checks.reported, "<img src='//example.org/x.png'>")[0]
    report["misconceptions"][0]["count"] -= 1
    assert len(check(checks.reported)) == 1
    pair = report["pairs"].pop()
    assert "are not listed" in check(checks.accused)[0]
    report["pairs"] += [pair, {"students": ["student-01", "student-02"]}]
    assert "student-01 and student-02 did not copy" in check(checks.accused)[0]


@pytest.mark.parametrize("form", FORMATS)
def test_a_wrong_mark_in_an_export_is_noticed(classes, tmp_path, form):
    chapters = []
    for made in classes.values():
        people = {w.student.id: Person(w.student.id) for w in made.works}
        handed_in = {
            w.student.id: HandedIn(w.student.id, penalty=checks.penalty(w), scores={"a": Score(w.raw(), 20)})
            for w in made.works
            if w.arrives
        }
        chapters.append(ChapterMarks(made.chapter, None, 17.0, [], people, handed_in))
    table = tmp_path / "table"
    table.write_text(FORMATS[form](chapters))
    assert checks.exported(classes, {form: table}) == []
    someone = next(iter(chapters[1].handed_in.values()))
    someone.scores["a"] = Score(someone.scores["a"].score + 0.25, 20)
    table.write_text(FORMATS[form](chapters))
    (wrong,) = checks.exported(classes, {form: table})
    assert someone.student in wrong and chapters[1].chapter in wrong


def test_lateness_costs_by_the_day_begun_after_the_extension(classes):
    late = next(work for work in classes["02_bptt"].works if work.hours > 0)
    late.hours, late.extension = 30.0, 0.0
    assert checks.penalty(late) == round(late.raw() * 0.2, 2)
    late.extension = 1.0
    assert checks.penalty(late) == round(late.raw() * 0.1, 2)
    late.extension = 2.0
    assert checks.penalty(late) == 0


def test_a_command_that_fails_ends_the_demo_in_one_sentence(tmp_path):
    loop = Loop(tmp_path, Console(file=io.StringIO()))
    loop.phases.append(type("Phase", (), {"commands": 0})())
    with pytest.raises(
        CourseError, match=r"`autograder audit` in .* ended with 1: autograder: .* not a course directory"
    ):
        loop._run(tmp_path, "autograder", "audit")
