"""Predict, then reveal: where the text asks for a guess, the output that answers it is folded."""

from __future__ import annotations

import re

from docutils import nodes
from sphinx.application import Sphinx

ASKS = re.compile(r"\b(guess|guesses|predict|before you (look|run))\b", re.IGNORECASE)
OPEN = '<details class="reveal"><summary>Your guess first. Then see what came out</summary>'
REACH = 3  # the answer stands at most so many blocks below the question


def asks_for_a_guess(node: nodes.Node) -> bool:
    """The convention of the chapters: the words that ask are set in bold."""
    return isinstance(node, nodes.paragraph) and any(ASKS.search(bold.astext()) for bold in node.findall(nodes.strong))


def answer_to(question: nodes.Node) -> nodes.container | None:
    """The output of the next cell below the question that has one."""
    place = question.parent.index(question) + 1
    for block in question.parent.children[place : place + REACH]:
        for part in block.children if isinstance(block, nodes.container) and "cell" in block["classes"] else ():
            if isinstance(part, nodes.container) and "cell_output" in part["classes"]:
                return part
    return None


def fold_answers(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    if app.builder.format != "html":
        return
    for question in filter(asks_for_a_guess, list(doctree.findall(nodes.paragraph))):
        answer = answer_to(question)
        if answer is not None and "revealed" not in answer["classes"]:
            answer["classes"].append("revealed")
            answer.insert(0, nodes.raw("", OPEN, format="html"))
            answer += nodes.raw("", "</details>", format="html")


def setup(app: Sphinx) -> None:
    app.connect("doctree-resolved", fold_answers)
