"""The page of the book that shows how the judge was tried: every answer we know, and what it said of it."""

from __future__ import annotations

from autograder.soundness import Soundness


def soundness_page(proofs: list[Soundness]) -> str:
    """The Markdown of docs/soundness.md."""
    right, known = sum(len(p.right) for p in proofs), sum(len(p.known) for p in proofs)
    mutants, listed = sum(p.mutants for p in proofs), sum(len(p.exercise.equivalent) for p in proofs)
    lines = [
        "# The judge on trial",
        "",
        "A judge that names mistakes must not be mistaken itself. For every exercise it was given right answers in",
        "several styles, every wrong answer that has a name, and machine-made mutants of the reference: one operator,",
        "constant, axis or term changed. A right answer must get full marks, a known mistake must lose marks and be",
        "called by its own name, a mutant must lose marks unless it is listed as computing the same.",
        "The page is made by `make soundness`, and the tests compare it with a fresh trial.",
        "",
        f"In all: {right:,} right answers with full marks, {known:,} known mistakes, {mutants:,} mutants, of which",
        f"{listed:,} compute the same as the reference and are listed with the reason.",
        "",
    ]
    return "\n".join(lines) + "\n" + "\n".join(section(proof) for proof in proofs)


def section(proof: Soundness) -> str:
    """One exercise: a row for each answer, a column for each property (● holds, ○ fails)."""
    exercise = proof.exercise
    columns = [f"p{number}" for number in range(1, len(exercise.credited) + 1)]
    named = len(proof.known) - len(proof.mistakes_unnamed)
    lines = [
        f"## {exercise.number} {exercise.id}",
        "",
        f"Right answers with full marks: {len(proof.right) - len(proof.variants_wrong)} of {len(proof.right)}. "
        f"Known mistakes named as themselves: {named} of {len(proof.known)}. "
        f"Mutants caught: {proof.caught} of {proof.mutants}.",
        "",
        "<details>",
        "<summary>Every answer, and what was said of it</summary>",
        "",
        *(f"- {column}: {probe.title}" for column, probe in zip(columns, exercise.credited, strict=True)),
        "",
        f"| answer | {' | '.join(columns)} | verdict |",
        f"|---|{'---|' * len(columns)}---|",
    ]
    titles = {known.implementation.__name__: known.title for known in exercise.misconceptions}
    for name, verdict in proof.right.items():
        lines.append(_row(f"`{name}`", verdict, "right" if verdict.full else verdict.label))
    for name, verdict in proof.known.items():
        lines.append(_row(titles[name], verdict, f"`{verdict.detail}`"))
    lines += ["", "</details>", ""]
    if exercise.equivalent:  # the sentences only: the lines themselves would give the answer away
        lines += ["Mutants that compute the same, because:", ""]
        lines += [f"- {reason.rstrip('.')}." for reason in exercise.equivalent.values()]
    return "\n".join(lines).rstrip() + "\n"


def _row(answer: str, verdict, said: str) -> str:
    marks = " | ".join("●" if p.passed else "○" for p in verdict.properties)
    return f"| {answer.replace('|', chr(92) + '|')} | {marks} | {said} |"
