"""What the commands for students do."""

from __future__ import annotations

import sys

from autograder.errors import CourseError


def lab(options) -> int:
    from autograder.lab import lab

    return lab(options.folder, [word for word in options.options if word != "--"])


def check(options) -> int:
    from autograder import show
    from autograder.own_work import chapter_and_sources, judged

    verdicts = judged(*chapter_and_sources(options.notebook))
    print("\n\n".join(show.text(verdict, options.hints) for verdict in verdicts))
    got, most = sum(v.points for v in verdicts), sum(v.max_points for v in verdicts)
    print(f"\n{show.number(got)} of {show.number(most)} points that are graded automatically.")
    return 0 if got == most else 1


def progress(options) -> int:
    from rich.console import Console

    from autograder.progress import progress, table

    found = progress(options.folder, options.check)
    Console(width=None if sys.stdout.isatty() else 110).print(table(found))
    if not found.judged:
        print("Nothing was judged: the points are those of what is written. `autograder progress --check` judges it.")
    print("The explanations are graded by a person and are not in the points.")
    for remark in found.remarks:
        print(remark, file=sys.stderr)
    return 0


def update(options) -> int:
    import nbformat

    from autograder.course import Chapter
    from autograder.own_work import chapter_and_sources
    from autograder.update import notebooks_in, update

    for path in notebooks_in(options.paths):
        chapter, released, _ = chapter_and_sources(path)
        if options.release:
            released = nbformat.read(options.release, as_version=4)
        elif path.resolve() == Chapter(chapter).student.resolve():
            raise CourseError(f"{path} is the course's own; work in a copy of it, or name the newer one by --release.")
        print(update(path, released, chapter))
    return 0


def assemble(options) -> int:
    from autograder.assemble import assemble

    print(assemble(options.folder, options.into, options.replace))
    return 0


def submit(options) -> int:
    from autograder import show
    from autograder.own_work import judged
    from autograder.submit import submit

    out, packed = submit(options.what, options.out)
    print(f"{out} is ready to be handed in. In it:")
    for one in packed:
        print(one)
        if options.check:
            verdicts = judged(one.chapter, one.released, one.sources)
            print("\n".join(f"    {show.headline(verdict)}" for verdict in verdicts))
    if not options.check:
        print("Nothing was judged; --check does that, as `autograder check` would.")
    return 0
