"""Where things are: the checkout that holds chapters/, solutions/ and lib/."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from autograder.errors import CourseError

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Chapter:
    """One chapter: ``name`` is its folder (01_recurrence), ``slug`` the file name in it (recurrence)."""

    name: str
    root: Path = ROOT

    @property
    def slug(self) -> str:
        return self.name.split("_", 1)[1]

    @property
    def source(self) -> Path:
        return self.root / "chapters" / self.name / f"{self.slug}.md"

    @property
    def student(self) -> Path:
        return self.source.with_suffix(".ipynb")

    @property
    def solution(self) -> Path:
        return self.root / "solutions" / self.name / f"{self.slug}.ipynb"

    def shown(self, path: Path) -> str:
        return path.relative_to(self.root).as_posix()


def chapters(root: Path = ROOT) -> list[Chapter]:
    """All chapters that have a source, in order."""
    found = [Chapter(path.parent.name, root) for path in (root / "chapters").glob("[0-9][0-9]_*/*.md")]
    return sorted((c for c in found if c.source.exists()), key=lambda chapter: chapter.name)


def chapter(name: str, root: Path = ROOT) -> Chapter:
    """One chapter by its folder name; CourseError if there is none."""
    known = chapters(root)
    for found in known:
        if found.name == name.rstrip("/").rsplit("/", 1)[-1]:
            return found
    raise CourseError(f"There is no chapter {name}; there are {', '.join(c.name for c in known)}.")
