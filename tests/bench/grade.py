"""What a submission costs: stock nbgrader, otter-grader and ours grade the same class side by side (make bench-grade).

The class is honest: all is right but for one known mistake each. The checks are the same, and so are the marks, which
is asserted. The peers get a notebook without text and without demonstrations, because ours runs none. nbgrader and
ours write gradebook and feedback HTML; otter writes its results only. Ours has its sandbox on.
Processor seconds are those of all processes of a command, forks included.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import nbformat
import numpy as np

from autograder.course import chapter
from autograder.course_directory import marks, students
from autograder.demo import make_demo
from autograder.exercises import chapter_exercises
from autograder.stock import make_stock_course, nbgrader_program, stock_marks, stock_notebook, write_otter_tests
from autograder.watch import Watched, watched

CHAPTER = chapter("01_recurrence")
PEERS, OURS = (10, 40), (10, 40, 160)
HERE = Path(__file__).parent
OTTER = """
import sys
from pathlib import Path
from otter.api import grade_submission
for path in sorted(Path("submissions").iterdir()):
    total = grade_submission(str(path), "autograder.zip", quiet=True).total
    (Path("results") / f"{path.stem}.txt").write_text(str(total))
"""


def main() -> int:
    costs: dict[str, dict[int, tuple[float, float]]] = {}
    with tempfile.TemporaryDirectory(prefix="bench-grade-") as temporary:
        place = Path(temporary)
        otter = install_otter(place / "otter-packages")
        for count in OURS:
            made = make_demo(CHAPTER, place / f"ours-{count}", count)
            for workers in (1, 2):
                command = [sys.executable, "-m", "autograder.cli", "grade", CHAPTER.name, "--all"]
                seen = run([*command, "--workers", str(workers)], place / f"ours-{count}")
                costs.setdefault(f"ours, {workers} worker{'s' * (workers > 1)}", {})[count] = seen.cpu, seen.wall
            given = points_of(place / f"ours-{count}")
            if count in PEERS:
                stock = place / f"stock-{count}"
                make_stock_course(stock, CHAPTER, made)
                graded = [run(nbgrader_program(c, CHAPTER.name), stock) for c in ("autograde", "generate_feedback")]
                costs.setdefault("nbgrader", {})[count] = sum(s.cpu for s in graded), sum(s.wall for s in graded)
                assert given == total(stock_marks(stock, CHAPTER)), "nbgrader gives other marks"
                seen = run_otter(place / f"otter-{count}", made, otter)
                costs.setdefault("otter", {})[count] = seen.cpu, seen.wall
                assert given == otter_points(place / f"otter-{count}"), "otter gives other marks"
    report(costs)
    return 0


def run(command: list[str], folder: Path) -> Watched:
    print(f"  {folder.name}: {' '.join(command[2:6])}", file=sys.stderr, flush=True)
    seen = watched(command, folder)
    assert seen.status == 0, seen.said
    return seen


def points_of(folder: Path) -> dict[str, float]:
    given = marks(folder, CHAPTER.name, students(folder, CHAPTER.name))
    return total({(mark.student, mark.exercise): mark.points for mark in given})


def total(by_exercise: dict[tuple[str, str], float | None]) -> dict[str, float]:
    """The points of each student, rounded as a report would."""
    names = {student for student, _ in by_exercise}
    return {n: round(sum(p or 0 for (s, _), p in by_exercise.items() if s == n), 1) for n in sorted(names)}


def install_otter(folder: Path) -> Path:
    requirements = HERE / "requirements-otter.txt"
    command = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps"]
    subprocess.run([*command, "--target", str(folder), "-r", str(requirements)], check=True, stderr=subprocess.DEVNULL)
    return folder


def run_otter(folder: Path, submissions: list, packages: Path) -> Watched:
    for name in ("submissions", "results", "tests"):
        (folder / name).mkdir(parents=True)
    write_otter_tests(folder / "tests", chapter_exercises(CHAPTER.name), CHAPTER.name)
    with zipfile.ZipFile(folder / "autograder.zip", "w") as archive:
        archive.writestr("otter_config.json", "{}")
        for path in (folder / "tests").iterdir():
            archive.write(path, f"tests/{path.name}")
    for submission in submissions:
        notebook = stock_notebook(submission.content, CHAPTER.name)
        notebook.cells = [c for c in notebook.cells if not c.metadata.nbgrader.grade_id.startswith("check-")]
        nbformat.write(notebook, folder / "submissions" / f"{submission.student}.ipynb")
    os.environ["PYTHONPATH"] = str(packages)
    try:
        return run([sys.executable, "-c", OTTER], folder)
    finally:
        del os.environ["PYTHONPATH"]


def otter_points(folder: Path) -> dict[str, float]:
    return {p.stem: round(float(p.read_text()), 1) for p in sorted((folder / "results").iterdir())}


def fit(costs: dict[int, tuple[float, float]]) -> tuple[np.ndarray, np.ndarray]:
    """(fixed, per submission), each for processor and wall seconds: the straight line through the class sizes."""
    line = np.polyfit(list(costs), np.array(list(costs.values())), 1)
    return line[1], line[0]


def report(costs: dict[str, dict[int, tuple[float, float]]]) -> None:
    print(f"{'':16}{'fixed cpu':>10}{'wall':>7}{'each cpu':>10}{'wall':>7}   seconds by class size, cpu/wall")
    for name, by_size in costs.items():
        (fixed_cpu, fixed_wall), (cpu, wall) = fit(by_size)
        sizes = ", ".join(f"{n}: {c:.1f}/{w:.1f}" for n, (c, w) in by_size.items())
        print(f"{name:16}{fixed_cpu:10.1f}{fixed_wall:7.1f}{cpu:10.3f}{wall:7.3f}   {sizes}")
    ours = costs["ours, 2 workers"]
    spread = np.array([np.array(ours[n]) / (fit(ours)[0] + n * fit(ours)[1]) for n in OURS])
    print(f"ours is linear in the class size within {100 * abs(spread - 1).max():.0f} %")
    for name in ("nbgrader", "otter"):
        for workers in ("ours, 1 worker", "ours, 2 workers"):
            cpu, wall = np.array(costs[name][40]) / costs[workers][40]
            print(f"a class of 40 with all fixed costs, {name}/{workers}: cpu {cpu:.1f} wall {wall:.1f}")
    ratios = {name: fit(costs[name])[1] / fit(ours)[1] for name in ("nbgrader", "otter")}
    said = (f"{name}/ours: cpu {cpu:.1f} wall {wall:.1f}" for name, (cpu, wall) in ratios.items())
    print(" · ".join(said))


if __name__ == "__main__":
    sys.exit(main())
